// SPDX-License-Identifier: GPL-2.0
/*
 * The send path: when a push builds a message, and what completions leave behind. There is always a
 * slot, and posted messages go nowhere.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

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
#define smc_tx_send_short tx_test_send_short
#define smc_tx_doze tx_test_doze
#define smc_tx_is_writable tx_test_is_writable
#define smc_tx_want_room tx_test_want_room
#define smc_tx_push tx_test_push
#define smc_tx_flush tx_test_flush
#define smc_tx_signal tx_test_signal
#define smc_wr_slot_get tx_slot_get
#define smc_wr_slot_put(...) ((void)0)
#define smc_wr_await(wr) ((void)(wr), (void)tx_nr_awaited++)
#define smc_wr_poll(...) true
#define smc_tx_poll tx_test_poll
#define smc_cdc_post tx_fake_post
#define smc_cdc_post_validation tx_fake_validation
#define smc_cdc_post_replay tx_fake_replay

#undef smp_mb
#undef smp_store_mb
/* The places of a completion in a sender: before the end of the data is stored, or after it. */
#define smp_store_mb(var, value)						\
	do { kunit_run_other_cpu(); WRITE_ONCE(var, value); kunit_run_other_cpu(); } while (0)

static u32 tx_drop_count(struct smc_conn *conn, u16 seq, u32 len, bool ok)
{
	kunit_run_other_cpu();
	return smc_conn_tx_done(conn, seq, len, ok);
}

#define smc_conn_tx_done tx_drop_count
/* The places of a sender in a completion: before the count is dropped, or after it. */
#define smp_mb() kunit_run_other_cpu()

#include "../../../net/smc/group/smc_rdma.c"
#include "../../../net/smc/sock/smc_tx.c"

static struct pernet_operations tx_net_ops = {
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
	struct smc_sock smc;
	struct smc_conn conn;
	struct smc_link link;
	struct ib_device ibdev;
	struct ib_qp qp;
	u8 ring[TX_RING];
};

/* A connection on a link with no messages due. */
static struct smc_conn *tx_new(struct kunit *test)
{
	struct tx_case *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct smc_conn *conn;

	KUNIT_ASSERT_NOT_NULL(test, c);
	INIT_LIST_HEAD(&c->link.waiters);
	spin_lock_init(&c->link.wait_lock);
	INIT_LIST_HEAD(&c->link.wr.flows);
	spin_lock_init(&c->link.wr.lock);
	conn = &c->conn;
	conn->sk = (struct sock *)&c->tp;
	conn->carrier = &smc_carrier_rdma;
	conn->tx_freed = &conn->ctl.tx_fin;
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

static struct proto tx_proto = SMC_KUNIT_PROTO("smc_tx_test");

static unsigned int tx_nr_rooms;

static void tx_event(struct smc_conn *conn, u32 events)
{
	tx_nr_rooms += events & SMC_EV_ROOM ? 1 : 0;
}

static const struct smc_conn_ops tx_ops = { .event = tx_event };

static int tx_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			const struct ib_send_wr **bad)
{
	return 0;
}

/* The case whose sender and completion meet. */
static struct smc_conn *tx_conn;

/* A connection with a socket, on a link that takes short messages; one of a byte is in flight. */
static struct smc_conn *tx_new_short(struct kunit *test)
{
	struct smc_conn *conn = tx_new(test);
	struct tx_case *c = container_of(conn, struct tx_case, conn);
	struct smc_wr *wr = &c->link.wr;

	smc_kunit_init(conn->sk, &tx_proto);
	smc_kunit_hang(&c->smc, conn->sk);
	c->smc.phase = SMC_PHASE_SMC;
	c->smc.conn = conn;
	c->tp.notsent_lowat = U32_MAX;
	conn->ops = &tx_ops;
	conn->flow.cqe.done = smc_carrier_rdma.done;
	conn->sndbuf.cpu = c->ring;
	conn->sndbuf.size = TX_RING;
	/* the first bytes go the long way */
	tx_arrived(&conn->ctl, TX_RING, TX_RING);
	conn->ctl.tx_imm_name = 9;
	conn->tx_enough = TX_ELEMENT / 2;
	/* the clock waits for no completion */
	conn->rtt.jiffies = jiffies;
	c->ibdev.ops.post_send = tx_post_send;
	c->qp.device = &c->ibdev;
	wr->qp = &c->qp;
	atomic_set(&wr->credits, SMC_WR_FLIGHT);
	set_bit(SMC_WR_IS_OPEN, &wr->flags);
	/* no tick */
	set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&wr->tick.work.work));
	conn->flow.wr = wr;
	list_add(&conn->flow.node, &wr->flows);
	tx_nr_rooms = 0;
	tx_conn = conn;
	kunit_other_cpu = NULL;
	return conn;
}

/* send() the short way. Return: what it returns. Expects the socket lock held. */
static int tx_send_locked(struct smc_conn *conn, u32 len)
{
	struct tx_case *c = container_of(conn, struct tx_case, conn);
	struct kvec vec = { .iov_base = c->ring, .iov_len = len };
	struct msghdr msg = {};

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	return smc_tx_send_short(conn->sk, &msg, len);
}

static int tx_send(struct smc_conn *conn, u32 len)
{
	int rc;

	lock_sock(conn->sk);
	rc = tx_send_locked(conn, len);
	release_sock(conn->sk);
	return rc;
}

/* The oldest short message completes. */
static void tx_complete(struct smc_conn *conn)
{
	struct ib_wc wc = { .wr_cqe = &conn->flow.cqe };

	local_bh_disable();
	wc.wr_cqe->done(NULL, &wc);
	local_bh_enable();
}

/* Return: true if nothing is left behind once all that is in flight has completed. */
static bool tx_all_goes(struct smc_conn *conn)
{
	kunit_other_cpu = NULL;
	while (conn->tx_inflight)
		tx_complete(conn);
	return !smc_conn_unsent(conn);
}

static void tx_other_completes(void)
{
	tx_complete(tx_conn);
}

static void tx_other_completes_later(void)
{
	kunit_other_cpu = tx_other_completes;
}

static void tx_other_sends(void)
{
	tx_send_locked(tx_conn, 1);
}

static void tx_other_stores(void)
{
	WRITE_ONCE(tx_conn->ctl.tx_prep, tx_conn->ctl.tx_prep + 1);
}

static void tx_other_stores_later(void)
{
	kunit_other_cpu = tx_other_stores;
}

/* A message is in flight, with which the others meet. */
static struct smc_conn *tx_new_flight(struct kunit *test)
{
	struct smc_conn *conn = tx_new_short(test);

	KUNIT_ASSERT_EQ(test, tx_send(conn, 1), 1);
	KUNIT_ASSERT_EQ(test, conn->tx_inflight, 1);
	KUNIT_ASSERT_EQ(test, (u16)(conn->flow.nr_posted - conn->flow.nr_done), 1);
	return conn;
}

/*
 * A sender stores the end of its data, and looks for a message in flight; a completion drops the
 * count, and looks for data. The later look sees both stores.
 */
static void tx_06_data_behind_the_last_completion_goes(struct kunit *test)
{
	struct smc_conn *conn;

	/* the sender is done before, and after */
	conn = tx_new_flight(test);
	KUNIT_EXPECT_EQ(test, tx_send(conn, 1), 1);
	KUNIT_EXPECT_EQ(test, smc_conn_unsent(conn), 1U);
	KUNIT_EXPECT_TRUE(test, conn->is_awaited && tx_nr_awaited);
	tx_complete(conn);
	KUNIT_EXPECT_EQ(test, smc_conn_unsent(conn), 0U);
	KUNIT_EXPECT_TRUE(test, tx_all_goes(conn));
	KUNIT_EXPECT_EQ(test, tx_send(conn, 1), 1);
	KUNIT_EXPECT_EQ(test, smc_conn_unsent(conn), 0U);
	/* the completion is before the end of the data; and between it and the look */
	conn = tx_new_flight(test);
	kunit_other_cpu = tx_other_completes;
	KUNIT_EXPECT_EQ(test, tx_send(conn, 1), 1);
	KUNIT_EXPECT_TRUE(test, tx_all_goes(conn));
	conn = tx_new_flight(test);
	kunit_other_cpu = tx_other_completes_later;
	KUNIT_EXPECT_EQ(test, tx_send(conn, 1), 1);
	KUNIT_EXPECT_TRUE(test, tx_all_goes(conn));
	/* the sender is before the count, without a lock */
	conn = tx_new_flight(test);
	conn->is_awaited = true;
	kunit_other_cpu = tx_other_sends;
	lock_sock(conn->sk);
	tx_complete(conn);
	release_sock(conn->sk);
	KUNIT_EXPECT_EQ(test, conn->ctl.tx_prep, TX_RING + 2);
	KUNIT_EXPECT_TRUE(test, tx_all_goes(conn));
	/* between the count and the look: the sender then finds no message, and waits for a lock */
	conn = tx_new_flight(test);
	kunit_other_cpu = tx_other_stores_later;
	tx_complete(conn);
	KUNIT_EXPECT_EQ(test, smc_conn_unsent(conn), 0U);
	smc_tx_push(conn);
	KUNIT_EXPECT_TRUE(test, tx_all_goes(conn));
}

/* The same with the steps in the wrong order: the case above can fail. */
static void tx_06_a_look_before_the_store_leaves_data_behind(struct kunit *test)
{
	struct smc_conn *conn;
	bool is_due;

	conn = tx_new_flight(test);
	is_due = !READ_ONCE(conn->tx_inflight);
	tx_complete(conn);
	tx_other_stores();
	if (is_due)
		smc_tx_push(conn);
	KUNIT_EXPECT_FALSE(test, tx_all_goes(conn));

	conn = tx_new_flight(test);
	is_due = smc_conn_unsent(conn);
	KUNIT_EXPECT_EQ(test, tx_send(conn, 1), 1);
	spin_lock_bh(&conn->lock);
	smc_conn_tx_done(conn, 1, 1, true);
	spin_unlock_bh(&conn->lock);
	if (is_due)
		smc_tx_push(conn);
	KUNIT_EXPECT_FALSE(test, tx_all_goes(conn));
}

/* A quarter of the ring is room. */
static void a_writer_is_told_once_that_there_is_room(struct kunit *test)
{
	struct smc_conn *conn = tx_new_short(test);
	struct smc_cdc_ctl *ctl = &conn->ctl;
	int i;

	conn->tx_enough = 1;
	for (i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, tx_send(conn, TX_RING / 8), TX_RING / 8);
		KUNIT_ASSERT_EQ(test, conn->tx_inflight, i + 1);
		/* the peer has read it */
		ctl->tx_cons = ctl->tx_sent;
		smc_edge_move(&ctl->tx_edge, ctl->tx_cons);
	}
	KUNIT_EXPECT_EQ(test, tx_send(conn, 1), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, tx_send(conn, TX_RING / 4), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, tx_send(conn, TX_RING / 4 + 1), 0);
	KUNIT_EXPECT_FALSE(test, smc_tx_want_room(conn));
	KUNIT_EXPECT_FALSE(test, smc_tx_want_room(conn));
	tx_complete(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_rooms, 0);
	KUNIT_EXPECT_FALSE(test, smc_tx_want_room(conn));
	tx_complete(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_rooms, 1);
	KUNIT_EXPECT_TRUE(test, smc_tx_want_room(conn));
	for (i = 0; i < 6; i++)
		tx_complete(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_rooms, 1);
	KUNIT_EXPECT_FALSE(test, conn->is_awaited);
}

/* A message in a slot is between two that have none. */
static void tx_04_messages_complete_in_the_order_of_posts(struct kunit *test)
{
	struct smc_conn *conn = tx_new_short(test);
	struct tx_case *c = container_of(conn, struct tx_case, conn);
	struct smc_cdc_ctl *ctl = &conn->ctl;
	struct smc_wr_tag tag = { .owner = conn, .seq = 2, .len = 200 };

	conn->tx_enough = 1;
	KUNIT_EXPECT_EQ(test, tx_send(conn, 100), 100);
	c->link.wr.max_write = 200;
	KUNIT_EXPECT_EQ(test, tx_send(conn, 200), 200);
	smc_tx_flush(conn);
	c->link.wr.max_write = 0;
	KUNIT_EXPECT_EQ(test, tx_send(conn, 300), 300);
	KUNIT_EXPECT_EQ(test, tx_send(conn, 400), 400);
	KUNIT_EXPECT_EQ(test, conn->tx_inflight, 4);
	KUNIT_EXPECT_EQ(test, tx_nr_built, 1);
	tx_complete(conn);
	KUNIT_EXPECT_EQ(test, ctl->tx_fin, TX_RING + 100);
	KUNIT_EXPECT_EQ(test, ctl->tx_seq_done, 1);
	rdma_tx_done(&c->link.wr, &tag, true);
	KUNIT_EXPECT_EQ(test, ctl->tx_fin, TX_RING + 300);
	KUNIT_EXPECT_EQ(test, ctl->tx_seq_done, 2);
	tx_complete(conn);
	KUNIT_EXPECT_EQ(test, ctl->tx_fin, TX_RING + 600);
	KUNIT_EXPECT_EQ(test, ctl->tx_seq_done, 3);
	tx_complete(conn);
	KUNIT_EXPECT_EQ(test, ctl->tx_fin, TX_RING + 1000);
	KUNIT_EXPECT_EQ(test, ctl->tx_seq_done, 4);
	KUNIT_EXPECT_EQ(test, conn->tx_inflight, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->link.wr.credits), SMC_WR_FLIGHT);
}

/* Behind a message in flight there is more unsent than a half of TCP_NOTSENT_LOWAT. */
static struct smc_conn *tx_new_backlog(struct kunit *test)
{
	struct smc_conn *conn = tx_new_flight(test);

	tcp_sk(conn->sk)->notsent_lowat = 8192;
	conn->ctl.tx_prep += 5000;
	KUNIT_EXPECT_FALSE(test, smc_tx_want_room(conn));
	/* a message takes it along */
	smc_tx_flush(conn);
	KUNIT_EXPECT_EQ(test, smc_conn_unsent(conn), 0U);
	KUNIT_EXPECT_EQ(test, tx_nr_rooms, 0);
	return conn;
}

/* The second one finds room before the completion that would report it to the first one. */
static void two_writers_want_room(struct kunit *test)
{
	struct smc_conn *conn = tx_new_backlog(test);

	KUNIT_EXPECT_TRUE(test, smc_tx_want_room(conn));
	tx_complete(conn);
	KUNIT_EXPECT_EQ(test, tx_nr_rooms, 1);
}

/* It reports nothing: the next one does. */
static void a_failed_completion_leaves_the_want(struct kunit *test)
{
	struct smc_conn *conn = tx_new_backlog(test);
	struct tx_case *c = container_of(conn, struct tx_case, conn);
	struct smc_wr_tag tag = { .owner = conn, .seq = 2, .len = 5000 };

	rdma_tx_done(&c->link.wr, &tag, false);
	KUNIT_EXPECT_TRUE(test, conn->wants_room || tx_nr_rooms);
}

static struct kunit_case tx_cases[] = {
	KUNIT_CASE(two_writers_want_room),
	KUNIT_CASE(a_failed_completion_leaves_the_want),
	KUNIT_CASE(tx_04_a_completion_is_awaited_where_something_waits),
	KUNIT_CASE(tx_06_little_data_waits_for_what_is_in_flight),
	KUNIT_CASE(tx_01_a_message_fits_the_port),
	KUNIT_CASE(fail_14_a_push_on_a_dead_link_leaves_numbers_for_the_replay),
	KUNIT_CASE(tx_06_data_behind_the_last_completion_goes),
	KUNIT_CASE(tx_06_a_look_before_the_store_leaves_data_behind),
	KUNIT_CASE(a_writer_is_told_once_that_there_is_room),
	KUNIT_CASE(tx_04_messages_complete_in_the_order_of_posts),
	{}
};

static struct kunit_suite tx_suite = {
	.name = "smc_tx",
	.suite_init = tx_suite_init,
	.suite_exit = tx_suite_exit,
	.test_cases = tx_cases,
};

kunit_test_suite(tx_suite);
