// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive options; a peer that does not answer; probes of TCP.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/sock/smc_tx.h"

static void keep_sock_pend(struct smc_conn *conn, enum smc_pending what)
{
	set_bit(what, &conn->pending);
}

/* The segments that were sent, and the number of the last one. */
static struct {
	unsigned int nr;
	u32 seq;
} keep_sent;

static void keep_send_ack(struct sock *sk, u32 rcv_nxt)
{
	keep_sent.nr++;
	keep_sent.seq = tcp_sk(sk)->snd_nxt;
}

static struct smc_pernet keep_net;

#define smc_sock_pend	keep_sock_pend
#define smc_tx_push(...)	((void)0)
#define smc_net(...)	(&keep_net)
#undef smc_compat_send_ack
#define smc_compat_send_ack	keep_send_ack

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
	timer_setup(&lab->smc.tcp_timer, smc_keepalive_tcp_timer, 0);
	keep_net.set.tcp_keepalive = LONG_SECS;
	memset(&keep_sent, 0, sizeof(keep_sent));
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

static void ka_08_tcp_is_probed_while_there_is_a_connection(struct kunit *test)
{
	struct smc_sock *smc = keep_lock(test);

	keep_net.set.tcp_keepalive = 0;
	smc_keepalive_begin(smc);
	KUNIT_EXPECT_FALSE(test, timer_pending(&smc->tcp_timer));
	keep_net.set.tcp_keepalive = LONG_SECS;
	/* no firewall is in between */
	smc->conn->pair = (struct smc_pair *)smc;
	smc_keepalive_begin(smc);
	KUNIT_EXPECT_FALSE(test, timer_pending(&smc->tcp_timer));
	smc->conn->pair = NULL;
	smc_keepalive_begin(smc);
	KUNIT_EXPECT_TRUE(test, timer_pending(&smc->tcp_timer));
	KUNIT_EXPECT_FALSE(test, timer_pending(&smc->keep_timer));
	smc_keepalive_stop(smc);
	KUNIT_EXPECT_FALSE(test, timer_pending(&smc->tcp_timer));
	/* it ended before it began */
	smc->close.state = SMC_STATE_CLOSED;
	smc_keepalive_begin(smc);
	KUNIT_EXPECT_FALSE(test, timer_pending(&smc->tcp_timer));
	release_sock(smc->sk);
}

static void keep_fire_tcp(struct smc_sock *smc)
{
	/* the timer's reference */
	smc_sock_get(smc);
	local_bh_disable();
	smc_keepalive_tcp_timer(&smc->tcp_timer);
	local_bh_enable();
}

static void ka_08_a_probe_has_the_number_of_an_acknowledged_byte(struct kunit *test)
{
	static const struct {
		u8 state;
		bool is_probed;
	} rows[] = {
		{ TCP_ESTABLISHED, true },
		{ TCP_CLOSE_WAIT, true },
		{ TCP_FIN_WAIT2, false },
		{ TCP_CLOSE, false },
	};
	struct smc_sock *smc = keep_lock(test);
	u32 seq = tcp_sk(smc->sk)->snd_nxt;
	u32 i;

	release_sock(smc->sk);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		keep_sent.nr = 0;
		smc->sk->sk_state = rows[i].state;
		keep_fire_tcp(smc);
		smc->sk->sk_state = TCP_CLOSE;
		KUNIT_EXPECT_EQ_MSG(test, keep_sent.nr, rows[i].is_probed, "row %u", i);
		KUNIT_EXPECT_EQ(test, timer_pending(&smc->tcp_timer), rows[i].is_probed);
		KUNIT_EXPECT_EQ(test, tcp_sk(smc->sk)->snd_nxt, seq);
		smc_sock_disarm(smc, &smc->tcp_timer);
	}
	KUNIT_EXPECT_EQ(test, keep_sent.seq, seq - 1);
}

static void ka_08_a_probe_waits_for_a_call_that_owns_the_socket(struct kunit *test)
{
	struct smc_sock *smc = keep_lock(test);

	smc->sk->sk_state = TCP_ESTABLISHED;
	keep_fire_tcp(smc);
	KUNIT_EXPECT_EQ(test, keep_sent.nr, 0U);
	KUNIT_EXPECT_TRUE(test, time_before(smc->tcp_timer.expires, jiffies + HZ));
	smc_keepalive_stop(smc);
	smc->sk->sk_state = TCP_CLOSE;
	release_sock(smc->sk);
}

static void abrt_10_an_answer_is_a_message_on_the_link(struct kunit *test)
{
	struct smc_link *link = kunit_kzalloc(test, sizeof(*link), GFP_KERNEL);
	struct keep_lab *lab = test->priv;
	unsigned long now = jiffies;

	KUNIT_ASSERT_NOT_NULL(test, link);
	KUNIT_EXPECT_FALSE(test, smc_keepalive_has_answer(&lab->smc, now));
	RCU_INIT_POINTER(lab->conn.link, link);
	atomic_long_set(&link->wr.rx_jiffies, now - 1);
	KUNIT_EXPECT_FALSE(test, smc_keepalive_has_answer(&lab->smc, now));
	atomic_long_set(&link->wr.rx_jiffies, now);
	KUNIT_EXPECT_TRUE(test, smc_keepalive_has_answer(&lab->smc, now));
	RCU_INIT_POINTER(lab->conn.link, NULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(api_06_an_option_counts_from_now_on),
	KUNIT_CASE(ka_01_an_ended_connection_has_no_timer),
	KUNIT_CASE(ka_06_a_silent_peer_is_given_up),
	KUNIT_CASE(ka_08_tcp_is_probed_while_there_is_a_connection),
	KUNIT_CASE(ka_08_a_probe_has_the_number_of_an_acknowledged_byte),
	KUNIT_CASE(ka_08_a_probe_waits_for_a_call_that_owns_the_socket),
	KUNIT_CASE(abrt_10_an_answer_is_a_message_on_the_link),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_keepalive",
	.init = keep_test_init,
	.exit = keep_test_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
