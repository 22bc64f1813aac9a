// SPDX-License-Identifier: GPL-2.0
/*
 * The send path: when a push builds a message. There is always a slot, and posted messages go
 * nowhere.
 */
#include "smc_kunit.h"

#include <linux/tcp.h>

#include "../../../net/smc/group/smc_conn.h"
#include "../../../net/smc/group/smc_link.h"
#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/sock/smc_sock.h"

/* no traces */
#define SMC_TRACE_H

static bool trace_smc_tx_sendmsg_enabled(void)
{
	return false;
}

static void trace_smc_tx_sendmsg(const struct sock *sk, size_t len, const char *name)
{
}

#define TX_RING		(128 * 1024)
#define TX_ELEMENT	(64 * 1024)

/* Counts of posted messages, of waits for completions, and the result of posting. */
static unsigned int tx_nr_built, tx_nr_validated, tx_nr_replayed, tx_nr_awaited;
static int tx_post_rc;

static struct smc_wr_slot tx_slot;

static struct smc_wr_slot *tx_slot_get(struct smc_wr *wr, enum smc_wr_class class)
{
	return &tx_slot;
}

/* As smc_cdc_post(): a number is used up whether the link takes the message or not. */
static int tx_fake_post(struct smc_conn *conn, struct smc_wr_slot *slot,
			struct smc_xfer *xfer)
{
	struct smc_cdc_msg msg = {};
	int rc = smc_cdc_build(&conn->ctl, xfer, &msg);

	if (rc)
		return rc;
	tx_nr_built++;
	conn->tx_inflight += !tx_post_rc;
	return tx_post_rc;
}

static int tx_fake_validation(struct smc_conn *conn, struct smc_wr_slot *slot)
{
	tx_nr_validated++;
	conn->tx_inflight++;
	return 0;
}

static int tx_fake_replay(struct smc_conn *conn, struct smc_wr_slot *slot)
{
	struct smc_cdc_msg msg = {};
	struct smc_xfer x;
	int rc;

	smc_cdc_replay(&conn->ctl, &x);
	tx_nr_replayed++;
	rc = smc_cdc_build(&conn->ctl, NULL, &msg);
	conn->tx_inflight += !rc;
	return rc;
}

/* other suites define some of these names for their fakes */
#define smc_tx_sendmsg tx_test_sendmsg
#define smc_tx_is_writable tx_test_is_writable
#define smc_tx_push tx_test_push
#define smc_tx_flush tx_test_flush
#define smc_tx_signal tx_test_signal
#define smc_wr_slot_get tx_slot_get
#define smc_wr_slot_put(...) ((void)0)
#define smc_wr_await(...) ((void)tx_nr_awaited++)
#define smc_wr_poll(...) true
#define smc_tx_poll tx_test_poll
#define smc_cdc_post tx_fake_post
#define smc_cdc_post_validation tx_fake_validation
#define smc_cdc_post_replay tx_fake_replay

#include "../../../net/smc/sock/smc_tx.c"

static int tx_net_init(struct net *net)
{
	smc_net(net)->set.autocorking_size = TX_ELEMENT;
	return 0;
}

static struct pernet_operations tx_net_ops = {
	.init = tx_net_init,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int tx_suite_init(struct kunit_suite *suite)
{
	return register_pernet_subsys(&tx_net_ops);
}

static void tx_suite_exit(struct kunit_suite *suite)
{
	unregister_pernet_subsys(&tx_net_ops);
}

struct tx_case {
	struct tcp_sock tp;
	struct smc_conn conn;
	struct smc_link link;
};

/* A connection on a link with no messages due. */
static struct smc_conn *tx_new(struct kunit *test)
{
	struct tx_case *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct smc_conn *conn;

	KUNIT_ASSERT_NOT_NULL(test, c);
	INIT_LIST_HEAD(&c->link.waiters);
	spin_lock_init(&c->link.wait_lock);
	conn = &c->conn;
	conn->sk = (struct sock *)&c->tp;
	sock_net_set(conn->sk, &init_net);
	spin_lock_init(&conn->lock);
	smc_cdc_ctl_init(&conn->ctl, 0, TX_ELEMENT, TX_ELEMENT, TX_RING);
	conn->phase = SMC_CONN_OPEN;
	rcu_assign_pointer(conn->link, &c->link);
	tx_nr_built = 0;
	tx_nr_validated = 0;
	tx_nr_replayed = 0;
	tx_nr_awaited = 0;
	tx_post_rc = 0;
	return conn;
}

/* As smc_tx_sendmsg(), with one byte. */
static void tx_send_byte(struct smc_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn->ctl.tx_prep++;
	spin_unlock_bh(&conn->lock);
	smc_tx_push(conn);
}

static void tx_06_little_data_waits_for_what_is_in_flight(struct kunit *test)
{
	struct smc_conn *conn = tx_new(test);
	int i;

	for (i = 0; i < 100; i++)
		tx_send_byte(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_built, 1);
	conn->tx_inflight = 0;
	smc_tx_push(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_built, 2);
	KUNIT_EXPECT_EQ(test, smc_conn_unsent(conn), 0U);
}

/* The path MTU of the link exceeds the MTU of its port: each message is one packet. */
static void tx_01_a_message_fits_the_port(struct kunit *test)
{
	struct smc_conn *conn = tx_new(test);
	struct tx_case *c = container_of(conn, struct tx_case, conn);

	spin_lock_bh(&conn->lock);
	conn->ctl.tx_prep += 16384;
	spin_unlock_bh(&conn->lock);
	c->link.wr.max_write = 1024;
	smc_tx_push(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_built, 1);
	KUNIT_EXPECT_EQ(test, smc_conn_unsent(conn), 16384U - 1024U);
	conn->tx_inflight = 0;
	/* one message takes the rest where the port takes it */
	c->link.wr.max_write = 0;
	smc_tx_push(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_built, 2);
	KUNIT_EXPECT_EQ(test, smc_conn_unsent(conn), 0U);
}

/* A dead link takes no message, so nothing is in flight to wait for. */
static void fail_14_a_push_on_a_dead_link_leaves_numbers_for_the_replay(struct kunit *test)
{
	struct smc_conn *conn = tx_new(test);
	u16 first = conn->ctl.tx_seq;
	unsigned int nr;
	int i;

	tx_post_rc = -EPIPE;
	for (i = 0; i < 40000; i++)
		tx_send_byte(conn);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_far_ahead(&conn->ctl));
	/* the replay must look newer to the peer than all it has seen */
	KUNIT_EXPECT_LT(test, tx_nr_built, 0x7fffU);
	KUNIT_EXPECT_EQ(test, (u16)(conn->ctl.tx_seq - first), (u16)tx_nr_built);

	/* on another link F and the replay are sent all the same, and nothing more */
	tx_post_rc = 0;
	nr = tx_nr_built;
	conn->phase = SMC_CONN_VALIDATING;
	smc_tx_push(conn);
	smc_tx_push(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_validated, 1);
	KUNIT_EXPECT_EQ(test, tx_nr_replayed, 1);
	KUNIT_EXPECT_EQ(test, tx_nr_built, nr);

	/* data that was held back follows when the replay is acknowledged, a message at a time */
	smc_cdc_done(&conn->ctl, conn->ctl.tx_seq, conn->ctl.tx_sent);
	for (i = 0; i < 2; i++) {
		conn->tx_inflight = 0;
		smc_tx_push(conn);
	}
	KUNIT_EXPECT_GT(test, tx_nr_built, nr);
	KUNIT_EXPECT_EQ(test, smc_conn_unsent(conn), 0U);
}

/* Return: true if a push has completions reported. */
static bool tx_awaits(struct smc_conn *conn)
{
	tx_nr_awaited = 0;
	smc_tx_push(conn);
	return tx_nr_awaited;
}

/* The peer has read @len more bytes; @fin of what was sent have completed. */
static void tx_arrived(struct smc_cdc_ctl *ctl, u32 len, u32 fin)
{
	ctl->tx_prep += len;
	ctl->tx_sent = ctl->tx_prep;
	ctl->tx_cons = ctl->tx_prep;
	ctl->tx_edge.lap = ctl->tx_prep;
	ctl->tx_fin += fin;
}

/* An event for each completion would double the events of a request and its answer. */
static void tx_04_a_completion_is_awaited_where_something_waits(struct kunit *test)
{
	struct smc_stamps *stamps = kunit_kzalloc(test, 1, GFP_KERNEL);
	struct smc_conn *conn = tx_new(test);

	tx_send_byte(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_built, 1);
	KUNIT_EXPECT_EQ(test, conn->tx_inflight, 1);
	KUNIT_EXPECT_EQ(test, tx_nr_awaited, 0);

	/* data behind it */
	tx_send_byte(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_built, 1);
	KUNIT_EXPECT_EQ(test, tx_nr_awaited, 1);
	conn->tx_inflight = 0;
	KUNIT_EXPECT_FALSE(test, tx_awaits(conn));
	KUNIT_EXPECT_EQ(test, conn->tx_inflight, 1);

	/* a writer: less than a quarter of the ring is free */
	tx_arrived(&conn->ctl, TX_RING / 4 * 3, smc_cdc_unacked(&conn->ctl));
	KUNIT_EXPECT_FALSE(test, tx_awaits(conn));
	tx_arrived(&conn->ctl, TX_RING / 2 + 1, TX_RING / 2);
	KUNIT_EXPECT_TRUE(test, tx_awaits(conn));
	conn->ctl.tx_fin = conn->ctl.tx_prep;
	KUNIT_EXPECT_FALSE(test, tx_awaits(conn));

	/* TCP_USER_TIMEOUT, TCP_INFO, a time stamp */
	conn->tx_is_timed = true;
	KUNIT_EXPECT_TRUE(test, tx_awaits(conn));
	conn->tx_is_timed = false;
	conn->rtt.began_ns = 1;
	KUNIT_EXPECT_TRUE(test, tx_awaits(conn));
	conn->rtt.began_ns = 0;
	conn->stamps = stamps;
	KUNIT_EXPECT_TRUE(test, tx_awaits(conn));
	conn->stamps = NULL;
	KUNIT_EXPECT_FALSE(test, tx_awaits(conn));

	/* close() and shutdown() */
	tx_nr_awaited = 0;
	smc_tx_flush(conn);
	KUNIT_EXPECT_GT(test, tx_nr_awaited, 0);
	smc_tx_signal(conn, SMC_CDC_DONE);
	KUNIT_EXPECT_TRUE(test, tx_awaits(conn));

	/* nothing is in flight */
	conn->tx_inflight = 0;
	KUNIT_EXPECT_FALSE(test, tx_awaits(conn));
}

static struct kunit_case tx_cases[] = {
	KUNIT_CASE(tx_04_a_completion_is_awaited_where_something_waits),
	KUNIT_CASE(tx_06_little_data_waits_for_what_is_in_flight),
	KUNIT_CASE(tx_01_a_message_fits_the_port),
	KUNIT_CASE(fail_14_a_push_on_a_dead_link_leaves_numbers_for_the_replay),
	{}
};

static struct kunit_suite tx_suite = {
	.name = "smc_tx",
	.suite_init = tx_suite_init,
	.suite_exit = tx_suite_exit,
	.test_cases = tx_cases,
};

kunit_test_suite(tx_suite);
