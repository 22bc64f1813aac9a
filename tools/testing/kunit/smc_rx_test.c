// SPDX-License-Identifier: GPL-2.0
/* The receive path: a reader without the connection's lock, and messages that come meanwhile. */
#include "smc_kunit.h"
#include "../../../net/smc/group/smc_carrier.h"
#include "smc_kunit_sock.h"

#include <net/busy_poll.h>

#include "../../../net/smc/group/smc_cdc.h"
#include "../../../net/smc/group/smc_core.h"
#include "../../../net/smc/group/smc_link.h"
#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/sock/smc_tx.h"

/* no traces */
#define SMC_TRACE_H

static bool trace_smc_rx_recvmsg_enabled(void)
{
	return false;
}

static void trace_smc_rx_recvmsg(const struct sock *sk, size_t len, const char *name)
{
}

/* Pushes of the reader. */
static unsigned int rx_nr_pushes;

#define smc_tx_push(...)	((void)rx_nr_pushes++)
#define smc_tx_poll(...)	((void)0)

/* The places of a message: behind the end of the data, in the copy, before and after the store. */
enum rx_place { RX_LOADED, RX_COPY, RX_COPIED, RX_STORED, RX_NR_PLACES };

/* Places to be passed before. */
static unsigned int rx_skip;

static void rx_pass(void)
{
	if (rx_skip)
		rx_skip--;
	else
		kunit_run_other_cpu();
}

static u64 rx_load(const u64 *pos)
{
	u64 value = READ_ONCE(*pos);

	rx_pass();
	return value;
}

#undef smp_load_acquire
#undef smp_store_mb
#define smc_buf_read(...) (rx_pass(), smc_buf_read(__VA_ARGS__))
#define smp_load_acquire rx_load
/* the other CPU is this one */
#define smp_store_mb(var, value) do { rx_pass(); WRITE_ONCE(var, value); rx_pass(); } while (0)

#include "../../../net/smc/sock/smc_rx.c"

#define RX_ELEMENT	SZ_16K

struct rx_case {
	struct tcp_sock tp;
	struct smc_sock smc;
	struct smc_conn conn;
	struct smc_link link;
	struct smc_link_group lgr;
	struct smc_buf buf;
	u8 element[RX_ELEMENT];
};

static u32 rx_told;

static void rx_event(struct smc_conn *conn, u32 events)
{
	rx_told |= events;
}

static const struct smc_conn_ops rx_ops = { .event = rx_event };

static struct proto rx_proto = SMC_KUNIT_PROTO("smc_rx_test");

/* The connection of the case. */
static struct smc_conn *rx_conn;

static void rx_free(void *lgr)
{
	xa_destroy(&((struct smc_link_group *)lgr)->conns);
}

/* A connection with @have bytes to read, of which the peer knows. */
static struct smc_conn *rx_new(struct kunit *test, u32 have)
{
	struct rx_case *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct smc_conn *conn;
	struct sock *sk;

	KUNIT_ASSERT_NOT_NULL(test, c);
	sk = (struct sock *)&c->tp;
	sock_net_set(sk, &init_net);
	smc_kunit_init(sk, &rx_proto);
	smc_kunit_hang(&c->smc, sk);
	conn = &c->conn;
	c->smc.phase = SMC_PHASE_SMC;
	c->smc.conn = conn;
	c->link.lgr = &c->lgr;
	c->link.num = 1;
	c->lgr.ext = SMC_LLC_EXT_IMMEDIATE;
	xa_init_flags(&c->lgr.conns, XA_FLAGS_ALLOC1);
	KUNIT_ASSERT_EQ(test, xa_err(xa_store(&c->lgr.conns, 7, conn, GFP_KERNEL)), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, rx_free, &c->lgr), 0);
	spin_lock_init(&conn->lock);
	conn->sk = sk;
	conn->ops = &rx_ops;
	conn->carrier = &smc_carrier_rdma;
	conn->token = 7;
	conn->phase = SMC_CONN_OPEN;
	conn->rmbe.buf = &c->buf;
	conn->rmbe.cpu = c->element;
	conn->rmbe.size = RX_ELEMENT;
	rcu_assign_pointer(conn->link, &c->link);
	smc_cdc_ctl_init(&conn->ctl, 0, RX_ELEMENT, RX_ELEMENT, RX_ELEMENT);
	__set_bit(1, conn->rx_links);
	conn->ctl.rx_link_num = 1;
	conn->ctl.rx_prod = have;
	rx_conn = conn;
	rx_nr_pushes = 0;
	rx_told = 0;
	rx_skip = 0;
	kunit_other_cpu = NULL;
	return conn;
}

/* recv() the short way. Return: what it returns. Expects the socket lock held. */
static int rx_recv_locked(struct smc_conn *conn, u32 len)
{
	static u8 to[256];
	struct kvec vec = { .iov_base = to, .iov_len = len };
	struct msghdr msg = {};

	iov_iter_kvec(&msg.msg_iter, ITER_DEST, &vec, 1, len);
	return smc_rx_recv_short(conn->sk, &msg, len);
}

static int rx_recv(struct smc_conn *conn, u32 len)
{
	int rc;

	lock_sock(conn->sk);
	rc = rx_recv_locked(conn, len);
	release_sock(conn->sk);
	return rc;
}

/* A message with @len more bytes. */
static void rx_message(struct smc_conn *conn, u32 len, u8 prod_flags)
{
	struct rx_case *c = container_of(conn, struct rx_case, conn);
	struct smc_cdc_ctl *ctl = &conn->ctl;
	struct smc_cdc_msg msg = {
		.token = 7,
		.seq = ctl->rx_seq + 1,
		.prod = smc_edge_cursor(&ctl->rx_edge, ctl->rx_prod + len),
		.cons = smc_edge_cursor(&ctl->tx_edge, ctl->tx_cons),
		.prod_flags = prod_flags,
	};
	u8 wire[SMC_CDC_LEN];

	smc_cdc_encode(&msg, wire);
	local_bh_disable();
	smc_cdc_rx(&c->link.wr, wire, sizeof(wire));
	local_bh_enable();
}

/* The last hundred bytes of the element: a message with B, or immediate data that means it. */
static void rx_other_blocks(void)
{
	rx_message(rx_conn, 100, SMC_CDC_BLOCKED);
}

static void rx_other_fills(void)
{
	struct rx_case *c = container_of(rx_conn, struct rx_case, conn);

	local_bh_disable();
	smc_cdc_rx_imm(&c->link.wr, 7 << 16 | 100);
	local_bh_enable();
}

static void (*rx_other)(void);

static int rx_other_rc;

static void rx_other_reads(void)
{
	rx_other_rc = rx_recv_locked(rx_conn, 50);
}

/* Return: true if a push follows, and sends what was read. */
static bool rx_is_reported(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	return conn->ctl.rx_cons == 50 && smc_cdc_is_needed(&conn->ctl) &&
	       (rx_nr_pushes || rx_told & SMC_EV_BLOCKED);
}

static struct smc_conn *rx_new_nearly_full(struct kunit *test)
{
	return rx_new(test, RX_ELEMENT - 100);
}

/*
 * A reader stores what was read, and looks whether the peer waits; a message says that it does, and
 * looks for what was read. The later look sees both stores.
 */
static void win_08_a_blocked_peer_learns_what_was_read(struct kunit *test)
{
	static void (*const others[])(void) = { rx_other_blocks, rx_other_fills };
	struct smc_conn *conn;
	enum rx_place place;
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		rx_other = others[i];
		/* the reader is done before, and after */
		conn = rx_new_nearly_full(test);
		KUNIT_EXPECT_EQ(test, rx_recv(conn, 50), 50);
		KUNIT_EXPECT_EQ(test, rx_nr_pushes, 0);
		rx_other();
		KUNIT_EXPECT_TRUE(test, rx_is_reported(conn));
		conn = rx_new_nearly_full(test);
		rx_other();
		KUNIT_EXPECT_FALSE(test, rx_told & SMC_EV_BLOCKED);
		KUNIT_EXPECT_EQ(test, rx_recv(conn, 50), 50);
		KUNIT_EXPECT_TRUE(test, rx_is_reported(conn));
		/* the message is between two steps of the reader */
		for (place = RX_LOADED; place < RX_NR_PLACES; place++) {
			conn = rx_new_nearly_full(test);
			rx_skip = place;
			kunit_other_cpu = rx_other;
			KUNIT_EXPECT_EQ(test, rx_recv(conn, 50), 50);
			KUNIT_EXPECT_NULL(test, kunit_other_cpu);
			KUNIT_EXPECT_TRUE_MSG(test, rx_is_reported(conn), "place %d", place);
		}
		/* the reader is between B and the look */
		conn = rx_new_nearly_full(test);
		kunit_other_cpu = rx_other_reads;
		lock_sock(conn->sk);
		rx_other();
		release_sock(conn->sk);
		KUNIT_EXPECT_EQ(test, rx_other_rc, 50);
		KUNIT_EXPECT_TRUE(test, rx_is_reported(conn));
	}
}

/* The same with the steps in the wrong order: the case above can fail. */
static void win_08_a_look_before_the_store_leaves_the_peer_blocked(struct kunit *test)
{
	struct smc_conn *conn;
	bool is_due;

	conn = rx_new_nearly_full(test);
	is_due = READ_ONCE(conn->attn) & SMC_ATTN_PEER;
	rx_other_blocks();
	WRITE_ONCE(conn->ctl.rx_cons, 50);
	rx_nr_pushes += is_due;
	KUNIT_EXPECT_FALSE(test, rx_is_reported(conn));

	conn = rx_new_nearly_full(test);
	is_due = conn->ctl.rx_cons != conn->ctl.rx_cons_sent;
	KUNIT_EXPECT_EQ(test, rx_recv(conn, 50), 50);
	rx_other_blocks();
	rx_told = is_due ? SMC_EV_BLOCKED : 0;
	KUNIT_EXPECT_FALSE(test, rx_is_reported(conn));
}

#define RX_URGENT (SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT)

static void rx_other_is_urgent(void)
{
	rx_message(rx_conn, 1, RX_URGENT);
}

/* A hundred bytes, then an urgent one. */
static void urg_05_an_urgent_byte_is_no_data_of_the_short_way(struct kunit *test)
{
	struct smc_conn *conn;

	/* the message comes between the end of the data and the look */
	conn = rx_new(test, 100);
	kunit_other_cpu = rx_other_is_urgent;
	KUNIT_EXPECT_EQ(test, rx_recv(conn, 200), 0);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(conn), 101U);
	KUNIT_EXPECT_EQ(test, rx_recv(conn, 200), 0);
	/* the reader comes when the byte is there, and its mark is not */
	conn = rx_new(test, 100);
	rx_other_rc = -1;
	kunit_other_cpu = rx_other_reads;
	lock_sock(conn->sk);
	rx_other_is_urgent();
	release_sock(conn->sk);
	KUNIT_EXPECT_EQ(test, rx_other_rc, 0);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(conn), 101U);
	/* the message comes while the data before it is copied: the byte is set aside */
	conn = rx_new(test, 100);
	rx_skip = RX_COPY;
	kunit_other_cpu = rx_other_is_urgent;
	KUNIT_EXPECT_EQ(test, rx_recv(conn, 200), 100);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(conn), 0U);
	KUNIT_EXPECT_EQ(test, conn->ctl.rx_urg, SMC_URG_OUT_OF_LINE_UNREAD);
	KUNIT_EXPECT_EQ(test, rx_recv(conn, 200), 0);
}

static void rx_other_marks(void)
{
	rx_message(rx_conn, 0, RX_URGENT);
}

/* The byte precedes its mark, which comes during the copy: it is passed, as with the long way. */
static void urg_06_a_mark_is_passed_that_comes_during_the_copy(struct kunit *test)
{
	struct smc_conn *conn = rx_new(test, 100);

	rx_skip = RX_COPY;
	kunit_other_cpu = rx_other_marks;
	KUNIT_EXPECT_EQ(test, rx_recv(conn, 200), 100);
	KUNIT_EXPECT_EQ(test, conn->ctl.rx_urg, SMC_URG_NONE);
	KUNIT_EXPECT_TRUE(test, conn->ctl.rx_is_update_due);
	KUNIT_EXPECT_GT(test, rx_nr_pushes, 0);
}

/* The stamp is stored behind the end of the data. */
static void the_first_stamped_data_goes_the_long_way(struct kunit *test)
{
	struct smc_conn *conn = rx_new(test, 0);

	sock_set_flag(conn->sk, SOCK_RCVTSTAMP);
	rx_other_rc = -1;
	kunit_other_cpu = rx_other_reads;
	lock_sock(conn->sk);
	rx_other_blocks();
	release_sock(conn->sk);
	KUNIT_EXPECT_EQ(test, rx_other_rc, 0);
	sock_reset_flag(conn->sk, SOCK_RCVTSTAMP);
}

static struct kunit_case rx_cases[] = {
	KUNIT_CASE(urg_06_a_mark_is_passed_that_comes_during_the_copy),
	KUNIT_CASE(the_first_stamped_data_goes_the_long_way),
	KUNIT_CASE(win_08_a_blocked_peer_learns_what_was_read),
	KUNIT_CASE(win_08_a_look_before_the_store_leaves_the_peer_blocked),
	KUNIT_CASE(urg_05_an_urgent_byte_is_no_data_of_the_short_way),
	{}
};

static struct kunit_suite rx_suite = {
	.name = "smc_rx",
	.test_cases = rx_cases,
};

kunit_test_suite(rx_suite);
