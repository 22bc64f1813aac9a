// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive options; a peer that does not answer.
 */
#include "smc_kunit.h"

#include "../../../net/smc/sock/smc_sock.h"
#include "../../../net/smc/sock/smc_tx.h"

static void keep_sock_pend(struct smc_conn *conn, enum smc_pending what)
{
	set_bit(what, &conn->pending);
}

#define smc_sock_pend	keep_sock_pend
#define smc_tx_push(...)	((void)0)

#include "../../../net/smc/sock/smc_keepalive.c"

#define LONG_SECS	1000

static unsigned int keep_nr_fired;

static void keep_fire(struct timer_list *timer)
{
	struct smc_conn *conn = smc_compat_timer_of(conn, timer, keep_timer);

	WRITE_ONCE(keep_nr_fired, keep_nr_fired + 1);
	smc_conn_put(conn);
}

/* The timer is due soon, or has run already. */
static bool keep_is_armed(struct smc_conn *conn)
{
	return timer_pending(&conn->keep_timer) || READ_ONCE(keep_nr_fired);
}

struct keep_lab {
	struct smc_conn conn;
	struct socket *sock;
};

/* A connection on SMC, and TCP's sock under it. */
static int keep_test_init(struct kunit *test)
{
	struct keep_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	int rc;

	if (!lab)
		return -ENOMEM;
	rc = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &lab->sock);
	if (rc)
		return rc;
	lab->conn.sk = lab->sock->sk;
	spin_lock_init(&lab->conn.lock);
	timer_setup(&lab->conn.keep_timer, keep_fire, 0);
	/* the suite's reference; an armed timer holds another one */
	refcount_set(&lab->conn.refs, 1);
	smc_state_close_init(&lab->conn.close);
	lab->conn.close.state = SMC_STATE_ACTIVE;
	keep_nr_fired = 0;
	test->priv = lab;
	return 0;
}

static void keep_test_exit(struct kunit *test)
{
	struct keep_lab *lab = test->priv;

	if (!lab)
		return;
	lock_sock(lab->conn.sk);
	smc_keepalive_stop(&lab->conn);
	release_sock(lab->conn.sk);
	timer_delete_sync(&lab->conn.keep_timer);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->conn.refs), 1);
	sock_release(lab->sock);
}

/* The connection, with the socket lock held; the case releases it. */
static struct smc_conn *keep_lock(struct kunit *test)
{
	struct keep_lab *lab = test->priv;

	lock_sock(lab->conn.sk);
	return &lab->conn;
}

static void api_06_an_option_counts_from_now_on(struct kunit *test)
{
	struct smc_conn *conn = keep_lock(test);
	struct tcp_sock *tp = tcp_sk(conn->sk);

	tp->keepalive_time = 5 * HZ;
	sock_set_flag(conn->sk, SOCK_KEEPOPEN);
	smc_keepalive_update(conn);
	KUNIT_EXPECT_EQ(test, conn->keep_want.idle, 5U * MSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, keep_is_armed(conn));

	tp->keepalive_time = 7 * HZ;
	smc_keepalive_update(conn);
	KUNIT_EXPECT_EQ(test, conn->keep_want.idle, 7U * MSEC_PER_SEC);

	sock_reset_flag(conn->sk, SOCK_KEEPOPEN);
	smc_keepalive_update(conn);
	KUNIT_EXPECT_EQ(test, conn->keep_want.idle, 0U);
	KUNIT_EXPECT_FALSE(test, timer_pending(&conn->keep_timer));
	release_sock(conn->sk);
}

static void ka_01_an_ended_connection_has_no_timer(struct kunit *test)
{
	struct smc_conn *conn = keep_lock(test);

	sock_set_flag(conn->sk, SOCK_KEEPOPEN);
	smc_keepalive_update(conn);
	KUNIT_EXPECT_TRUE(test, keep_is_armed(conn));
	conn->close.state = SMC_STATE_CLOSED;
	smc_keepalive_stop(conn);
	KUNIT_EXPECT_FALSE(test, timer_pending(&conn->keep_timer));
	smc_keepalive_update(conn);
	KUNIT_EXPECT_FALSE(test, timer_pending(&conn->keep_timer));
	KUNIT_EXPECT_EQ(test, conn->keep_want.idle, 0U);
	release_sock(conn->sk);
}

/* A probe was sent, and the peer has been silent for longer than the application allows. */
static void keep_silent(struct smc_conn *conn, struct smc_link *link)
{
	unsigned long then = jiffies - LONG_SECS * HZ;

	atomic_long_set(&link->wr.rx_jiffies, then);
	RCU_INIT_POINTER(conn->link, link);
	conn->phase = SMC_CONN_OPEN;
	conn->tx_jiffies = then;
	conn->rx_jiffies = then;
	conn->ack_jiffies = then;
	conn->keep_want.idle = 1;
	conn->keep_want.dead = 1;
	conn->probed_link = link;
	conn->probe_jiffies = then + HZ;
	/* the timer's reference */
	refcount_inc(&conn->refs);
}

static void ka_06_a_silent_peer_is_given_up(struct kunit *test)
{
	struct smc_link *link = kunit_kzalloc(test, sizeof(*link), GFP_KERNEL);
	struct smc_conn *conn;

	KUNIT_ASSERT_NOT_NULL(test, link);
	conn = keep_lock(test);
	keep_silent(conn, link);
	smc_keepalive_timer(&conn->keep_timer);
	KUNIT_EXPECT_EQ(test, conn->pending, BIT(SMC_PENDING_SILENCE));
	release_sock(conn->sk);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(api_06_an_option_counts_from_now_on),
	KUNIT_CASE(ka_01_an_ended_connection_has_no_timer),
	KUNIT_CASE(ka_06_a_silent_peer_is_given_up),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_keepalive",
	.init = keep_test_init,
	.exit = keep_test_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
