// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive options; a peer that does not answer.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

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
	struct smc_sock *smc = smc_compat_timer_of(smc, timer, keep_timer);

	WRITE_ONCE(keep_nr_fired, keep_nr_fired + 1);
	smc_sock_put(smc);
}

/* The timer is due soon, or has run already. */
static bool keep_is_armed(struct smc_sock *smc)
{
	return timer_pending(&smc->keep_timer) || READ_ONCE(keep_nr_fired);
}

struct keep_lab {
	struct smc_sock smc;
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
	smc_kunit_hang(&lab->smc, lab->sock->sk);
	lab->conn.sk = lab->sock->sk;
	spin_lock_init(&lab->conn.lock);
	lab->smc.conn = &lab->conn;
	timer_setup(&lab->smc.keep_timer, keep_fire, 0);
	lab->smc.close.state = SMC_STATE_ACTIVE;
	keep_nr_fired = 0;
	test->priv = lab;
	return 0;
}

static void keep_test_exit(struct kunit *test)
{
	struct keep_lab *lab = test->priv;

	if (!lab)
		return;
	lock_sock(lab->smc.sk);
	smc_keepalive_stop(&lab->smc);
	release_sock(lab->smc.sk);
	timer_delete_sync(&lab->smc.keep_timer);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->smc.refs), 1);
	smc_kunit_take_off(lab->smc.sk);
	sock_release(lab->sock);
}

/* The socket, locked; the case releases it. */
static struct smc_sock *keep_lock(struct kunit *test)
{
	struct keep_lab *lab = test->priv;

	lock_sock(lab->smc.sk);
	return &lab->smc;
}

static void api_06_an_option_counts_from_now_on(struct kunit *test)
{
	struct smc_sock *smc = keep_lock(test);
	struct tcp_sock *tp = tcp_sk(smc->sk);

	tp->keepalive_time = 5 * HZ;
	sock_set_flag(smc->sk, SOCK_KEEPOPEN);
	smc_keepalive_update(smc);
	KUNIT_EXPECT_EQ(test, smc->keep_want.idle, 5U * MSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, keep_is_armed(smc));

	tp->keepalive_time = 7 * HZ;
	smc_keepalive_update(smc);
	KUNIT_EXPECT_EQ(test, smc->keep_want.idle, 7U * MSEC_PER_SEC);

	sock_reset_flag(smc->sk, SOCK_KEEPOPEN);
	smc_keepalive_update(smc);
	KUNIT_EXPECT_EQ(test, smc->keep_want.idle, 0U);
	KUNIT_EXPECT_FALSE(test, timer_pending(&smc->keep_timer));
	release_sock(smc->sk);
}

static void ka_01_an_ended_connection_has_no_timer(struct kunit *test)
{
	struct smc_sock *smc = keep_lock(test);

	sock_set_flag(smc->sk, SOCK_KEEPOPEN);
	smc_keepalive_update(smc);
	KUNIT_EXPECT_TRUE(test, keep_is_armed(smc));
	smc->close.state = SMC_STATE_CLOSED;
	smc_keepalive_stop(smc);
	KUNIT_EXPECT_FALSE(test, timer_pending(&smc->keep_timer));
	smc_keepalive_update(smc);
	KUNIT_EXPECT_FALSE(test, timer_pending(&smc->keep_timer));
	KUNIT_EXPECT_EQ(test, smc->keep_want.idle, 0U);
	release_sock(smc->sk);
}

/* A probe was sent, and the peer has been silent for longer than the application allows. */
static void keep_silent(struct smc_sock *smc, struct smc_link *link)
{
	unsigned long then = jiffies - LONG_SECS * HZ;
	struct smc_conn *conn = smc->conn;

	atomic_long_set(&link->wr.rx_jiffies, then);
	RCU_INIT_POINTER(conn->link, link);
	conn->phase = SMC_CONN_OPEN;
	conn->tx_jiffies = then;
	conn->rx_jiffies = then;
	conn->ack_jiffies = then;
	smc->keep_want.idle = 1;
	smc->keep_want.dead = 1;
	smc->probed_link = link;
	smc->probe_jiffies = then + HZ;
	/* the timer's reference */
	smc_sock_get(smc);
}

static void ka_06_a_silent_peer_is_given_up(struct kunit *test)
{
	struct smc_link *link = kunit_kzalloc(test, sizeof(*link), GFP_KERNEL);
	struct smc_sock *smc;

	KUNIT_ASSERT_NOT_NULL(test, link);
	smc = keep_lock(test);
	keep_silent(smc, link);
	smc_keepalive_timer(&smc->keep_timer);
	KUNIT_EXPECT_EQ(test, smc->conn->pending, BIT(SMC_PENDING_SILENCE));
	release_sock(smc->sk);
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
