// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive options of which TCP has other values than the application; a peer that
 * does not answer.
 */
#include "smc_kunit.h"

/* Another suite plays this. */
#define smc_sock_pend	keep_sock_pend

#include "../../../net/smc/smc_keep.c"

void keep_sock_pend(struct smc_sock *smc, enum smc_pending what)
{
	set_bit(what, &smc->pending);
}

#define LONG_SECS	1000

static int keep_test_init(struct kunit *test)
{
	struct smc_sock *smc = kunit_kzalloc(test, sizeof(*smc), GFP_KERNEL);

	if (!smc)
		return -ENOMEM;
	smc->conn = kunit_kzalloc(test, sizeof(*smc->conn), GFP_KERNEL);
	if (!smc->conn)
		return -ENOMEM;
	test->priv = smc;
	return sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &smc->tcp);
}

static void keep_test_exit(struct kunit *test)
{
	struct smc_sock *smc = test->priv;

	if (smc && smc->tcp)
		sock_release(smc->tcp);
}

/* As keep_limit_tcp() leaves it. */
static void keep_limit(struct smc_sock *smc, int idle, int intvl)
{
	struct sock *tsk = smc->tcp->sk;

	smc->keep_idle = idle;
	smc->keep_intvl = intvl;
	tcp_sock_set_keepidle(tsk, idle ? LONG_SECS : 2 * LONG_SECS);
	tcp_sock_set_keepintvl(tsk, intvl ? LONG_SECS : 2 * LONG_SECS);
}

static void ka_10_the_application_knows_its_own_values(struct kunit *test)
{
	struct smc_sock *smc = test->priv;

	keep_limit(smc, 5, 6);
	KUNIT_EXPECT_EQ(test, smc_keep_own(smc, TCP_KEEPIDLE), 5);
	KUNIT_EXPECT_EQ(test, smc_keep_own(smc, TCP_KEEPINTVL), 6);
	KUNIT_EXPECT_EQ(test, smc_keep_own(smc, TCP_KEEPCNT), 0);
}

static void ka_10_tcp_gets_them_back(struct kunit *test)
{
	struct smc_sock *smc = test->priv;
	struct tcp_sock *tp = tcp_sk(smc->tcp->sk);

	keep_limit(smc, 5, 6);
	smc_keep_give_back(smc);
	KUNIT_EXPECT_EQ(test, keepalive_time_when(tp), 5 * HZ);
	KUNIT_EXPECT_EQ(test, keepalive_intvl_when(tp), 6 * HZ);
	KUNIT_EXPECT_EQ(test, smc_keep_own(smc, TCP_KEEPIDLE), 0);
	KUNIT_EXPECT_EQ(test, smc_keep_own(smc, TCP_KEEPINTVL), 0);
}

static void ka_10_what_was_long_enough_stays(struct kunit *test)
{
	struct smc_sock *smc = test->priv;
	struct tcp_sock *tp = tcp_sk(smc->tcp->sk);

	keep_limit(smc, 0, 6);
	smc_keep_give_back(smc);
	KUNIT_EXPECT_EQ(test, keepalive_time_when(tp), 2 * LONG_SECS * HZ);
	KUNIT_EXPECT_EQ(test, keepalive_intvl_when(tp), 6 * HZ);
}

/* A probe was sent, and nothing has come for longer than the application allows. */
static void keep_silent(struct smc_sock *smc, struct smc_link *link)
{
	unsigned long then = jiffies - LONG_SECS * HZ;
	struct smc_conn *conn = smc->conn;

	atomic_long_set(&link->wr.rx_jiffies, then);
	spin_lock_init(&conn->lock);
	RCU_INIT_POINTER(conn->link, link);
	conn->phase = SMC_CONN_OPEN;
	conn->tx_jiffies = then;
	conn->rx_jiffies = then;
	conn->ack_jiffies = then;
	smc->keep_want.idle = 1;
	smc->keep_want.dead = 1;
	smc->is_probing = true;
	smc->probed_link = link;
	smc->probe_jiffies = then + HZ;
	/* the timer's reference, and the suite's */
	refcount_set(&smc->sk.sk_refcnt, 2);
}

static void ka_06_a_silent_peer_is_given_up(struct kunit *test)
{
	struct smc_link *link = kunit_kzalloc(test, sizeof(*link), GFP_KERNEL);
	struct smc_sock *smc = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, link);
	keep_silent(smc, link);
	smc_keep_timer(&smc->keep_timer);
	KUNIT_EXPECT_EQ(test, smc->pending, BIT(SMC_PENDING_SILENCE));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ka_10_the_application_knows_its_own_values),
	KUNIT_CASE(ka_10_tcp_gets_them_back),
	KUNIT_CASE(ka_10_what_was_long_enough_stays),
	KUNIT_CASE(ka_06_a_silent_peer_is_given_up),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_keep",
	.init = keep_test_init,
	.exit = keep_test_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
