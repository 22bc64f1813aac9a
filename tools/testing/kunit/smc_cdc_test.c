// SPDX-License-Identifier: GPL-2.0
/*
 * CDC messages on a link: the references that they hold on their connection, and the short ways.
 * Posted messages go nowhere.
 */
#include "smc_kunit.h"
#include "../../../net/smc/group/smc_carrier.h"

#include <linux/bvec.h>
#include <linux/prandom.h>
#include <linux/sizes.h>

#include "../../../net/smc/proto/smc_cdc_imm.h"
#include "../../../net/smc/group/smc_core.h"
#include "../../../net/smc/group/smc_pages.h"
#include "../../../net/smc/rdma/smc_net.h"

/* no traces, no counters */
#define SMC_TRACE_H
#define trace_smc_cdc_tx(...)	((void)0)
#define trace_smc_cdc_rx(...)	((void)0)
#define trace_smc_imm_tx(...)	((void)0)
#define trace_smc_imm_rx(...)	((void)0)
#define smc_stat_inc(net, ...)	((void)(net))
#define smc_net_stats(net)	((void)(net), (struct smc_stats_cpu __percpu *)NULL)

/* the result of posting */
static int cdc_post_rc;

#define smc_wr_post(...)	cdc_post_rc
#define smc_wr_slot_put(...)	((void)0)
#define smc_wr_report(...)	((void)0)

/* Pages have their own addresses, unless the device cannot map them. */
static int cdc_map_rc;

static int cdc_fake_page(struct smc_wr_slot *slot, struct page *page, u32 off, u32 len)
{
	struct ib_sge sge = { .addr = page_to_phys(page) + off, .length = len };

	if (!cdc_map_rc)
		slot->sge[slot->nr_sge++] = sge;
	return cdc_map_rc;
}

#define smc_wr_slot_add_page cdc_fake_page

/* Immediate data that went the long way. */
static unsigned int cdc_nr_long;

#define smc_cdc_apply_imm(...) (cdc_nr_long++, smc_cdc_apply_imm(__VA_ARGS__))

#undef smp_mb
#define smc_cdc_urg_store(...) (kunit_run_other_cpu(), smc_cdc_urg_store(__VA_ARGS__))
/* The places of a reader: behind an urgent byte, before its mark; and behind B. */
#define smp_mb() kunit_run_other_cpu()

#include "../../../net/smc/group/smc_cdc.c"

/* Bytes of a page that are sent: as many on each kernel, so that the rings are equally large. */
#define CDC_PIECE	SZ_4K
#define CDC_ELEMENT	(4 * CDC_PIECE)

static struct proto cdc_proto = {
	.name = "smc_cdc_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct sock),
};

struct cdc_lab {
	struct smc_link_group lgr;
	struct smc_link link;
	struct smc_conn *conn;
	struct sock *sk;
	u8 wire[SMC_CDC_LEN];
};

static u32 cdc_told;

static void cdc_event(struct smc_conn *conn, u32 events)
{
	cdc_told |= events;
}

static const struct smc_conn_ops cdc_ops = { .event = cdc_event };

/* An open connection on a link with no messages due. */
static int cdc_init(struct kunit *test)
{
	struct cdc_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	test->priv = lab;
	if (!lab)
		return -ENOMEM;
	xa_init_flags(&lab->lgr.conns, XA_FLAGS_ALLOC1);
	lab->link.lgr = &lab->lgr;
	lab->sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, &cdc_proto, 1);
	if (!lab->sk)
		return -ENOMEM;
	sock_init_data(NULL, lab->sk);
	lab->conn = smc_conn_alloc(lab->sk, &cdc_ops, &smc_carrier_rdma);
	if (!lab->conn)
		return -ENOMEM;
	smc_cdc_ctl_init(&lab->conn->ctl, 0, CDC_ELEMENT, CDC_ELEMENT, CDC_ELEMENT);
	lab->conn->phase = SMC_CONN_OPEN;
	rcu_assign_pointer(lab->conn->link, &lab->link);
	lab->conn->token = 7;
	scoped_guard(spinlock_bh, &lab->conn->lock)
		smc_conn_attend(lab->conn);
	cdc_told = 0;
	cdc_post_rc = 0;
	cdc_map_rc = 0;
	return xa_err(xa_store(&lab->lgr.conns, 7, lab->conn, GFP_KERNEL));
}

static void cdc_exit(struct kunit *test)
{
	struct cdc_lab *lab = test->priv;

	if (!lab || !lab->sk)
		return;
	xa_destroy(&lab->lgr.conns);
	if (lab->conn)
		smc_conn_put(lab->conn);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->sk->sk_refcnt), 1);
	sock_put(lab->sk);
}

static int cdc_send(struct cdc_lab *lab, struct smc_wr_slot *slot)
{
	struct smc_xfer none = {};
	int rc;

	slot->wr = &lab->link.wr;
	slot->msg = lab->wire;
	spin_lock_bh(&lab->conn->lock);
	rc = smc_cdc_post(lab->conn, slot, &none);
	spin_unlock_bh(&lab->conn->lock);
	return rc;
}

/* The rings stay until its completion. */
static void a_posted_message_is_counted(struct kunit *test)
{
	struct smc_wr_slot *slot = kunit_kzalloc(test, sizeof(*slot), GFP_KERNEL);
	struct cdc_lab *lab = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_ASSERT_EQ(test, cdc_send(lab, slot), 0);
	KUNIT_EXPECT_PTR_EQ(test, slot->tag.owner, lab->conn);
	KUNIT_EXPECT_EQ(test, lab->conn->tx_inflight, 1);
	/* the link refuses it: there will be no completion */
	cdc_post_rc = -EPIPE;
	KUNIT_EXPECT_EQ(test, cdc_send(lab, slot), -EPIPE);
	KUNIT_EXPECT_EQ(test, lab->conn->tx_inflight, 1);
}

/* All up to @pos has arrived and was read; a lap of the peer's element begins there. */
static void cdc_start_at(struct smc_cdc_ctl *ctl, u64 pos)
{
	ctl->tx_prep = pos;
	ctl->tx_sent = pos;
	ctl->tx_fin = pos;
	ctl->tx_cons = pos;
	ctl->tx_edge.lap = pos;
}

/* Ten bytes around the end of the send ring. */
static void little_data_is_posted_inline(struct kunit *test)
{
	struct smc_wr_slot *slot = kunit_kzalloc(test, sizeof(*slot), GFP_KERNEL);
	struct smc_buf *buf = kunit_kzalloc(test, sizeof(*buf), GFP_KERNEL);
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	struct smc_xfer x;
	u8 ring[1];

	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	slot->wr = &lab->link.wr;
	slot->msg = lab->wire;
	conn->sndbuf.buf = buf;
	conn->sndbuf.cpu = ring;
	lab->link.wr.max_inline = 10;
	lab->link.wr.max_sge = SMC_WR_MIN_SGE;
	cdc_start_at(&conn->ctl, CDC_ELEMENT - 6);
	conn->ctl.tx_prep += 10;
	spin_lock_bh(&conn->lock);
	smc_cdc_plan(&conn->ctl, conn->ctl.tx_message, &x);
	KUNIT_EXPECT_EQ(test, smc_cdc_post(conn, slot, &x), 0);
	spin_unlock_bh(&conn->lock);
	KUNIT_EXPECT_EQ(test, slot->nr_writes, 1);
	KUNIT_EXPECT_TRUE(test, slot->write[0].is_inline);
	KUNIT_EXPECT_EQ(test, slot->write[0].nr_sge, 2);
	KUNIT_EXPECT_EQ(test, slot->write[0].sge[0].addr, (uintptr_t)ring + CDC_ELEMENT - 6);
	KUNIT_EXPECT_EQ(test, slot->write[0].sge[1].addr, (uintptr_t)ring);
	conn->sndbuf.buf = NULL;
}

#define CDC_PAGES	3

/* A connection with bytes in the ring and pages behind them, which reach around its end. */
struct cdc_pages {
	struct page *page[CDC_PAGES];
	struct smc_wr_slot slot;
	struct smc_buf buf;
	struct smc_xfer x;
	u8 *ring;
};

static struct cdc_pages *cdc_pages_new(struct kunit *test, u32 in_ring)
{
	struct cdc_pages *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	struct bio_vec bvec[CDC_PAGES];
	struct iov_iter iter;
	struct sk_buff *skb;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->slot.wr = &lab->link.wr;
	p->slot.msg = lab->wire;
	p->buf.iova = 1 << 20;
	p->ring = kunit_kzalloc(test, CDC_ELEMENT, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p->ring);
	conn->sndbuf = (struct smc_buf_elem){
		.buf = &p->buf, .cpu = p->ring, .size = CDC_ELEMENT, .index = 1,
	};
	cdc_start_at(&conn->ctl, CDC_ELEMENT - in_ring - 100);
	for (i = 0; i < CDC_PAGES; i++) {
		p->page[i] = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, p->page[i]);
		memset(page_address(p->page[i]), 'a' + i, CDC_PIECE);
		bvec[i] = (struct bio_vec){ p->page[i], CDC_PIECE };
	}
	iov_iter_bvec(&iter, ITER_SOURCE, bvec, CDC_PAGES, CDC_PAGES * CDC_PIECE);
	skb = smc_pages_take(&iter, CDC_PAGES * CDC_PIECE, NULL, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	spin_lock_bh(&conn->lock);
	conn->ctl.tx_prep += in_ring;
	smc_pages_add(conn, skb);
	conn->ctl.tx_prep += CDC_PAGES * CDC_PIECE;
	spin_unlock_bh(&conn->lock);
	return p;
}

static void cdc_pages_free(struct kunit *test, struct cdc_pages *p)
{
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	int i;

	RCU_INIT_POINTER(conn->link, NULL);
	conn->tx_inflight = 0;
	smc_pages_reap(conn);
	KUNIT_EXPECT_NULL(test, conn->tx_pages);
	for (i = 0; i < CDC_PAGES; i++) {
		KUNIT_EXPECT_EQ(test, page_count(p->page[i]), 1);
		put_page(p->page[i]);
	}
	conn->sndbuf.buf = NULL;
}

static int cdc_pages_post(struct cdc_lab *lab, struct cdc_pages *p)
{
	struct smc_conn *conn = lab->conn;
	int rc;

	p->slot.nr_writes = 0;
	p->slot.nr_sge = 0;
	spin_lock_bh(&conn->lock);
	smc_cdc_plan(&conn->ctl, conn->ctl.tx_message, &p->x);
	rc = smc_cdc_post(conn, &p->slot, &p->x);
	spin_unlock_bh(&conn->lock);
	return rc;
}

static void cdc_expect_sge(struct kunit *test, const struct cdc_pages *p, int i, u64 addr, u32 len)
{
	KUNIT_EXPECT_EQ_MSG(test, p->slot.sge[i].addr, addr, "source %d", i);
	KUNIT_EXPECT_EQ_MSG(test, p->slot.sge[i].length, len, "source %d", i);
}

/* The ring's end splits a page, too. What the WRITE has no source for goes into the next one. */
static void a_write_has_as_many_pages_as_the_device_takes(struct kunit *test)
{
	struct cdc_pages *p = cdc_pages_new(test, 50);
	struct cdc_lab *lab = test->priv;
	struct smc_cdc_ctl *ctl = &lab->conn->ctl;
	u64 ring = p->buf.iova;

	lab->link.wr.max_sge = 3;
	KUNIT_ASSERT_EQ(test, cdc_pages_post(lab, p), 0);
	KUNIT_EXPECT_EQ(test, p->slot.nr_writes, 1);
	KUNIT_EXPECT_EQ(test, p->slot.write[0].nr_sge, 3);
	KUNIT_EXPECT_EQ(test, p->x.len, 50U + CDC_PIECE);
	KUNIT_EXPECT_EQ(test, p->slot.tag.len, 50U + CDC_PIECE);
	cdc_expect_sge(test, p, 0, ring + CDC_ELEMENT - 150, 50);
	cdc_expect_sge(test, p, 1, page_to_phys(p->page[0]), 100);
	cdc_expect_sge(test, p, 2, page_to_phys(p->page[0]) + 100, CDC_PIECE - 100);
	KUNIT_EXPECT_EQ(test, smc_edge_off(&ctl->tx_edge, ctl->tx_sent), 50U + CDC_PIECE);

	KUNIT_ASSERT_EQ(test, cdc_pages_post(lab, p), 0);
	KUNIT_EXPECT_EQ(test, p->x.len, 2 * CDC_PIECE);
	KUNIT_EXPECT_EQ(test, p->slot.write[0].nr_sge, 2);
	cdc_expect_sge(test, p, 0, page_to_phys(p->page[1]), CDC_PIECE);
	cdc_expect_sge(test, p, 1, page_to_phys(p->page[2]), CDC_PIECE);
	cdc_pages_free(test, p);
}

/* The peer's element ends in the midst of the second page. */
static void two_writes_share_the_sources_of_a_slot(struct kunit *test)
{
	struct cdc_pages *p = cdc_pages_new(test, 50);
	struct cdc_lab *lab = test->priv;
	struct smc_cdc_ctl *ctl = &lab->conn->ctl;

	lab->link.wr.max_sge = SMC_WR_MAX_SGE;
	ctl->tx_edge.lap -= CDC_ELEMENT - CDC_PIECE - 60;
	KUNIT_ASSERT_EQ(test, cdc_pages_post(lab, p), 0);
	KUNIT_EXPECT_EQ(test, p->x.len, 50 + 3 * CDC_PIECE);
	KUNIT_EXPECT_EQ(test, p->slot.nr_writes, 2);
	KUNIT_EXPECT_EQ(test, p->slot.write[0].nr_sge, 4);
	KUNIT_EXPECT_EQ(test, p->slot.write[1].nr_sge, 2);
	KUNIT_EXPECT_PTR_EQ(test, p->slot.write[1].sge, &p->slot.sge[4]);
	cdc_expect_sge(test, p, 3, page_to_phys(p->page[1]), 10);
	cdc_expect_sge(test, p, 4, page_to_phys(p->page[1]) + 10, CDC_PIECE - 10);
	cdc_expect_sge(test, p, 5, page_to_phys(p->page[2]), CDC_PIECE);
	cdc_pages_free(test, p);
}

static void pages_that_cannot_be_mapped_are_copied(struct kunit *test)
{
	struct cdc_pages *p = cdc_pages_new(test, 0);
	struct cdc_lab *lab = test->priv;
	u64 ring = p->buf.iova;

	lab->link.wr.max_sge = SMC_WR_MAX_SGE;
	cdc_map_rc = -ENOMEM;
	KUNIT_ASSERT_EQ(test, cdc_pages_post(lab, p), 0);
	KUNIT_EXPECT_EQ(test, p->x.len, 3 * CDC_PIECE);
	KUNIT_EXPECT_EQ(test, p->slot.write[0].nr_sge, 2);
	cdc_expect_sge(test, p, 0, ring + CDC_ELEMENT - 100, 100);
	cdc_expect_sge(test, p, 1, ring, 3 * CDC_PIECE - 100);
	KUNIT_EXPECT_EQ(test, p->ring[CDC_ELEMENT - 100], 'a');
	KUNIT_EXPECT_EQ(test, p->ring[CDC_PIECE - 100], 'b');
	cdc_pages_free(test, p);
}

/* One message repeats all, also more pages than a WRITE has sources. */
static void fail_12_a_replay_copies_pages(struct kunit *test)
{
	struct cdc_pages *p = cdc_pages_new(test, 50);
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;

	lab->link.wr.max_sge = SMC_WR_MAX_SGE;
	KUNIT_ASSERT_EQ(test, cdc_pages_post(lab, p), 0);
	lab->link.wr.max_sge = SMC_WR_MIN_SGE;
	p->slot.nr_writes = 0;
	p->slot.nr_sge = 0;
	spin_lock_bh(&conn->lock);
	KUNIT_EXPECT_EQ(test, smc_cdc_post_replay(conn, &p->slot), 0);
	spin_unlock_bh(&conn->lock);
	KUNIT_EXPECT_EQ(test, p->slot.tag.len, 50 + 3 * CDC_PIECE);
	KUNIT_EXPECT_EQ(test, p->slot.write[0].nr_sge, 2);
	cdc_expect_sge(test, p, 0, p->buf.iova + CDC_ELEMENT - 150, 150);
	cdc_expect_sge(test, p, 1, p->buf.iova, 3 * CDC_PIECE - 100);
	KUNIT_EXPECT_EQ(test, p->ring[CDC_ELEMENT - 101], 0);
	KUNIT_EXPECT_EQ(test, p->ring[CDC_ELEMENT - 100], 'a');
	KUNIT_EXPECT_EQ(test, p->ring[3 * CDC_PIECE - 101], 'c');
	cdc_pages_free(test, p);
}

static void cdc_receive_msg(struct cdc_lab *lab, struct smc_cdc_msg *msg)
{
	u8 wire[SMC_CDC_LEN];

	smc_cdc_encode(msg, wire);
	smc_cdc_rx(&lab->link.wr, wire, sizeof(wire));
}

/* A new window without data to send is no reason to push. */
static void a_window_is_an_event_where_data_waits(struct kunit *test)
{
	struct cdc_lab *lab = test->priv;
	struct smc_cdc_ctl *ctl = &lab->conn->ctl;
	struct smc_cdc_msg msg = { .token = 7, .seq = 1 };

	msg.prod = smc_edge_cursor(&ctl->rx_edge, ctl->rx_prod);
	ctl->tx_prep += 2;
	ctl->tx_sent = ctl->tx_prep;
	msg.cons = smc_edge_cursor(&ctl->tx_edge, ctl->tx_cons + 1);
	cdc_receive_msg(lab, &msg);
	KUNIT_EXPECT_EQ(test, cdc_told, 0U);

	ctl->tx_prep++;
	msg.seq++;
	msg.cons = smc_edge_cursor(&ctl->tx_edge, ctl->tx_sent);
	cdc_receive_msg(lab, &msg);
	KUNIT_EXPECT_EQ(test, cdc_told, SMC_EV_SPACE);
}

static void cdc_receive(struct cdc_lab *lab, u32 token)
{
	struct smc_cdc_msg msg = { .token = token, .seq = 1, .conn_flags = SMC_CDC_DONE };

	cdc_receive_msg(lab, &msg);
}

static void cdc_09_a_message_has_one_connection(struct kunit *test)
{
	struct cdc_lab *lab = test->priv;

	cdc_receive(lab, 8);
	KUNIT_EXPECT_EQ(test, cdc_told, 0U);
	cdc_receive(lab, 7);
	KUNIT_EXPECT_TRUE(test, cdc_told & SMC_EV_DONE);
}

/* A link that agreed on immediate data; the first message of the peer has come on it. */
static void cdc_agree(struct cdc_lab *lab)
{
	struct smc_cdc_msg msg = { .token = 7, .seq = 1 };

	lab->lgr.ext = SMC_LLC_EXT_IMMEDIATE;
	lab->link.num = 1;
	cdc_receive_msg(lab, &msg);
}

/* 32 bits of a peer, any of them. */
static void immediate_data_is_checked_cdc_09(struct kunit *test)
{
	struct cdc_lab *lab = test->priv;
	struct smc_wr *wr = &lab->link.wr;
	struct smc_conn *conn = lab->conn;

	/* not agreed on */
	smc_cdc_rx_imm(wr, 7 << 16 | 10);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&conn->ctl), 0U);
	cdc_agree(lab);
	/* no connection, or one that had the index before */
	smc_cdc_rx_imm(wr, 10);
	smc_cdc_rx_imm(wr, 8 << 16 | 10);
	smc_cdc_rx_imm(wr, 0x107 << 16 | 10);
	smc_cdc_rx_imm(wr, 0xffffffff);
	KUNIT_EXPECT_EQ(test, cdc_told, 0U);
	smc_cdc_rx_imm(wr, 7 << 16 | 10);
	KUNIT_EXPECT_EQ(test, cdc_told, SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&conn->ctl), 10U);
	/* another link */
	cdc_told = 0;
	lab->link.num = 2;
	smc_cdc_rx_imm(wr, 7 << 16 | 10);
	KUNIT_EXPECT_EQ(test, cdc_told, SMC_EV_STALE);
	lab->link.num = 1;
	cdc_told = 0;
	smc_cdc_rx_imm(wr, 7 << 16);
	KUNIT_EXPECT_EQ(test, cdc_told, SMC_EV_INVALID);
	cdc_told = 0;
	smc_cdc_rx_imm(wr, 7 << 16 | 0xffff);
	KUNIT_EXPECT_EQ(test, cdc_told, SMC_EV_INVALID);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&conn->ctl), 10U);
}

static void immediate_data_takes_the_place_of_a_message(struct kunit *test)
{
	struct smc_wr_slot *slot = kunit_kzalloc(test, sizeof(*slot), GFP_KERNEL);
	struct smc_buf *buf = kunit_kzalloc(test, sizeof(*buf), GFP_KERNEL);
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	struct smc_xfer x;
	u8 ring[1];

	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	slot->wr = &lab->link.wr;
	conn->sndbuf.buf = buf;
	conn->sndbuf.cpu = ring;
	lab->link.wr.max_inline = 10;
	lab->link.wr.max_sge = SMC_WR_MIN_SGE;
	conn->ctl.tx_imm_name = 9;
	conn->ctl.tx_proof = 0;
	conn->ctl.tx_prep += 10;
	spin_lock_bh(&conn->lock);
	smc_cdc_plan(&conn->ctl, conn->ctl.tx_message, &x);
	KUNIT_EXPECT_EQ(test, smc_cdc_post(conn, slot, &x), 0);
	spin_unlock_bh(&conn->lock);
	KUNIT_EXPECT_TRUE(test, slot->has_imm);
	KUNIT_EXPECT_EQ(test, slot->imm, 9U << 16 | 10);
	KUNIT_EXPECT_EQ(test, slot->nr_writes, 1);
	KUNIT_EXPECT_EQ(test, slot->tag.seq, 1);
	KUNIT_EXPECT_EQ(test, slot->tag.len, 10U);
	KUNIT_EXPECT_EQ(test, conn->ctl.tx_sent, 10);
	conn->sndbuf.buf = NULL;
}

/* Return: a random number below @below. */
static u32 cdc_random(struct rnd_state *rnd, u32 below)
{
	return prandom_u32_state(rnd) % below;
}

#define CDC_NAME	(7 << 16)	/* of the connection in immediate data */

/* Elements so small that each step can be tried. */
static void cdc_small_streams(struct cdc_lab *lab, struct rnd_state *rnd, u16 base)
{
	struct smc_cdc_ctl *ctl = &lab->conn->ctl;
	u64 laps = cdc_random(rnd, 3);
	u32 space;

	smc_cdc_ctl_init(ctl, base, 40 + cdc_random(rnd, 30), 32 << cdc_random(rnd, 3), 64);
	ctl->rx_link_num = 1;
	ctl->rx_seq = 0xffff - cdc_random(rnd, 3);
	ctl->tx_seq = 0xffff - cdc_random(rnd, 3);
	ctl->tx_imm_name = 9;

	space = smc_edge_space(&ctl->rx_edge);
	ctl->rx_edge.lap = laps * space;
	ctl->rx_edge.wrap = 0xffff - cdc_random(rnd, 2);
	ctl->rx_cons_sent = ctl->rx_edge.lap + cdc_random(rnd, space);
	ctl->rx_prod = ctl->rx_cons_sent + cdc_random(rnd, space + 1);
	ctl->rx_cons = ctl->rx_prod - cdc_random(rnd, ctl->rx_prod - ctl->rx_cons_sent + 1);
	ctl->rx_proof = ctl->rx_cons_sent + cdc_random(rnd, 2);

	space = smc_edge_space(&ctl->tx_edge);
	ctl->tx_edge.lap = laps * space;
	ctl->tx_cons = ctl->tx_edge.lap + cdc_random(rnd, space);
	ctl->tx_sent = ctl->tx_cons + cdc_random(rnd, space + 1);
	ctl->tx_fin = ctl->tx_sent;
	ctl->tx_prep = ctl->tx_sent + cdc_random(rnd, ctl->snd_size + 1);
	ctl->tx_proof = ctl->tx_cons + !cdc_random(rnd, 8);
}

/* Return: the events of immediate data. */
static u32 cdc_receive_imm(struct cdc_lab *lab, u32 step)
{
	cdc_told = 0;
	cdc_nr_long = 0;
	local_bh_disable();
	smc_cdc_rx_imm(&lab->link.wr, CDC_NAME | (u16)step);
	local_bh_enable();
	return cdc_told;
}

static void cdc_attend(struct smc_conn *conn)
{
	spin_lock_bh(&conn->lock);
	smc_conn_unlock(conn);
}

/* The peer may have been blocked, or have asked for an update. */
static void the_short_way_of_immediate_data_leaves_the_same(struct kunit *test)
{
	static const u8 flags[] = { 0, SMC_CDC_BLOCKED, SMC_CDC_UPDATE_REQ };
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	struct smc_cdc_ctl *ctl = &conn->ctl;
	struct smc_cdc_ctl had, want;
	unsigned int nr_short = 0;
	struct rnd_state rnd;
	u32 space, left, step, attn;
	int i;

	prandom_seed_state(&rnd, 609);
	lab->lgr.ext = SMC_LLC_EXT_IMMEDIATE;
	lab->link.num = 1;
	for (i = 0; i < 300; i++) {
		cdc_small_streams(lab, &rnd, i % 2 ? SMC_EYE_CATCHER_LEN : 0);
		ctl->rx_prod_flags = flags[cdc_random(&rnd, ARRAY_SIZE(flags))];
		ctl->rx_is_update_due = !cdc_random(&rnd, 3);
		conn->tx_cork = cdc_random(&rnd, 2);
		conn->needs_sync = cdc_random(&rnd, 2);
		memcpy(&had, ctl, sizeof(had));
		space = smc_edge_space(&ctl->rx_edge);
		left = space - (u32)(ctl->rx_prod - ctl->rx_cons_sent);
		for (step = 1; step <= space + 1; step++) {
			memcpy(ctl, &had, sizeof(had));
			memcpy(&want, &had, sizeof(had));
			(smc_cdc_apply_imm)(&want, 1, step);
			cdc_attend(conn);
			cdc_receive_imm(lab, step);
			KUNIT_ASSERT_MEMEQ(test, ctl, &want, sizeof(want));
			attn = conn->attn;
			cdc_attend(conn);
			KUNIT_ASSERT_EQ(test, attn, conn->attn);
			/* the last byte says B, and more is impossible */
			KUNIT_ASSERT_EQ(test, cdc_nr_long, step >= left);
			if (step < left)
				KUNIT_ASSERT_EQ(test, cdc_told, (u32)SMC_EV_DATA);
			else
				KUNIT_ASSERT_EQ(test, !(cdc_told & SMC_EV_DATA), step > left);
			nr_short += step < left;
		}
	}
	KUNIT_EXPECT_GT(test, nr_short, 1000U);
	conn->tx_cork = false;
}

#define CDC_CREDITS	4

/* As before a cause. */
static void cdc_reset(struct cdc_lab *lab, const struct smc_cdc_ctl *had)
{
	struct smc_conn *conn = lab->conn;
	struct smc_wr *wr = &lab->link.wr;

	memcpy(&conn->ctl, had, sizeof(*had));
	conn->rx_stamp = 0;
	rcu_assign_pointer(conn->link, &lab->link);
	list_del_init(&conn->wait_node);
	conn->flow.wr = wr;
	conn->flow.nr_done = conn->flow.nr_posted;
	lab->sk->sk_tsflags = 0;
	sock_reset_flag(lab->sk, SOCK_RCVTSTAMP);
	lab->link.num = 1;
	wr->max_write = 0;
	atomic_set(&wr->credits, CDC_CREDITS);
	set_bit(SMC_WR_IS_OPEN, &wr->flags);
	cdc_attend(conn);
}

static void cdc_expect(struct kunit *test, const char *cause, unsigned int nr_long, u32 told)
{
	struct cdc_lab *lab = test->priv;
	struct smc_cdc_ctl *ctl = &lab->conn->ctl;
	struct smc_cdc_ctl want;

	memcpy(&want, ctl, sizeof(want));
	/* without a link nothing is applied */
	if (rcu_access_pointer(lab->conn->link))
		(smc_cdc_apply_imm)(&want, lab->link.num, 8);
	KUNIT_EXPECT_EQ_MSG(test, cdc_receive_imm(lab, 8), told, "%s", cause);
	KUNIT_EXPECT_EQ_MSG(test, cdc_nr_long, nr_long, "%s", cause);
	KUNIT_EXPECT_MEMEQ_MSG(test, ctl, &want, sizeof(want), "%s", cause);
}

#define CDC_LONG(cause, told)				\
do {							\
	cdc_reset(lab, &had);				\
	cause;						\
	cdc_expect(test, #cause, 1, told);		\
} while (0)

static void each_cause_has_immediate_data_go_the_long_way(struct kunit *test)
{
	unsigned long bit, bits = CDC_APPLIES_LONG;
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	struct smc_cdc_ctl *ctl = &conn->ctl;
	struct smc_cdc_ctl had;

	lab->lgr.ext = SMC_LLC_EXT_IMMEDIATE;
	ctl->rx_link_num = 1;
	ctl->tx_prep++;
	memcpy(&had, ctl, sizeof(had));
	cdc_reset(lab, &had);
	cdc_expect(test, "none", 0, SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, ctl->rx_prod, 8);
	for_each_set_bit(bit, &bits, BITS_PER_LONG)
		CDC_LONG(conn->attn = BIT(bit), SMC_EV_DATA);
	CDC_LONG(lab->link.num = 2, SMC_EV_STALE);
	/* data waits for the window that may come with B */
	CDC_LONG(ctl->rx_prod = CDC_ELEMENT - 8, SMC_EV_DATA | SMC_EV_BLOCKED);
	CDC_LONG(ctl->rx_prod = CDC_ELEMENT - 7, SMC_EV_INVALID);
	CDC_LONG(conn->rx_stamp = 1, SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, conn->rx_stamp, 0);
	CDC_LONG(sock_set_flag(lab->sk, SOCK_RCVTSTAMP), SMC_EV_DATA);
	KUNIT_EXPECT_GT(test, conn->rx_stamp, 0);
	CDC_LONG(lab->sk->sk_tsflags = SOF_TIMESTAMPING_RX_SOFTWARE, SMC_EV_DATA);
	KUNIT_EXPECT_GT(test, conn->rx_stamp, 0);
	cdc_reset(lab, &had);
	RCU_INIT_POINTER(conn->link, NULL);
	cdc_attend(conn);
	cdc_expect(test, "no link", 0, SMC_EV_STALE);
}

/* The device of the link, and what was posted there last. */
static struct {
	unsigned int nr;
	struct ib_rdma_wr wr;
	struct ib_sge sge;
} cdc_posted;

static int cdc_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad)
{
	cdc_posted.nr++;
	cdc_posted.wr = *rdma_wr(wr);
	cdc_posted.sge = *wr->sg_list;
	return 0;
}

/* Have the link take short messages; the connection's rings are somewhere. */
static void cdc_open_link(struct kunit *test)
{
	struct ib_device *ibdev = kunit_kzalloc(test, sizeof(*ibdev), GFP_KERNEL);
	struct ib_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	struct smc_wr *wr = &lab->link.wr;

	KUNIT_ASSERT_NOT_NULL(test, ibdev);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	ibdev->ops.post_send = cdc_post_send;
	qp->device = ibdev;
	wr->qp = qp;
	wr->max_inline = 10;
	atomic_set(&wr->credits, CDC_CREDITS);
	set_bit(SMC_WR_IS_OPEN, &wr->flags);
	/* no tick */
	set_bit(WORK_STRUCT_PENDING_BIT, work_data_bits(&wr->tick.work.work));
	INIT_LIST_HEAD(&lab->link.waiters);
	conn->flow.wr = wr;
	conn->snd_iova = 1 << 20;
	conn->snd_lkey = 11;
	conn->peer_addr = 2 << 20;
	conn->peer_rkey = 12;
	cdc_posted.nr = 0;
}

/* Post the short way. Return: true if a message was posted. Nothing changes otherwise. */
static bool cdc_say(struct kunit *test)
{
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	int inflight = conn->tx_inflight, credits = atomic_read(&lab->link.wr.credits);
	unsigned int nr = cdc_posted.nr;
	struct smc_cdc_ctl had;
	bool is_posted;

	memcpy(&had, &conn->ctl, sizeof(had));
	rcu_read_lock();
	spin_lock_bh(&conn->lock);
	is_posted = smc_cdc_post_short(conn, &lab->link);
	spin_unlock_bh(&conn->lock);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, cdc_posted.nr, nr + is_posted);
	KUNIT_EXPECT_EQ(test, conn->tx_inflight, inflight + is_posted);
	KUNIT_EXPECT_EQ(test, atomic_read(&lab->link.wr.credits), credits - is_posted);
	if (!is_posted)
		KUNIT_EXPECT_MEMEQ(test, &conn->ctl, &had, sizeof(had));
	return is_posted;
}

/* The ends of both rings, the window, the proofs, a consumer cursor that must go along. */
static void a_short_message_is_what_the_plan_says(struct kunit *test)
{
	unsigned int nr_short = 0, nr_long = 0;
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	struct smc_cdc_ctl *ctl = &conn->ctl;
	struct smc_cdc_ctl want;
	struct rnd_state rnd;
	struct smc_xfer x;
	u32 from, unsent, most;
	int i;

	cdc_open_link(test);
	conn->sndbuf.cpu = (u8 *)conn;
	prandom_seed_state(&rnd, 7609);
	for (i = 0; i < 10000; i++) {
		cdc_small_streams(lab, &rnd, 0);
		if (i % 2)
			ctl->rx_cons = ctl->rx_cons_sent;
		unsent = smc_cdc_unsent(ctl);
		if (!unsent)
			continue;
		cdc_attend(conn);
		memcpy(&want, ctl, sizeof(want));
		/* up to the end of either ring */
		most = min3(unsent, want.tx_message,
			    min(want.snd_size - (u32)(want.tx_sent & (want.snd_size - 1)),
				want.tx_edge.size - smc_edge_off(&want.tx_edge, want.tx_sent)));
		smc_cdc_plan(&want, most, &x);
		atomic_set(&lab->link.wr.credits, CDC_CREDITS);
		conn->flow.nr_done = conn->flow.nr_posted;
		if (x.len < most || !smc_cdc_may_use_imm(&want, x.len)) {
			KUNIT_ASSERT_FALSE(test, cdc_say(test));
			nr_long++;
			continue;
		}
		KUNIT_ASSERT_TRUE(test, cdc_say(test));
		nr_short++;
		KUNIT_ASSERT_EQ(test, be32_to_cpu(cdc_posted.wr.wr.ex.imm_data),
				smc_cdc_build_imm(&want, x.len));
		KUNIT_ASSERT_MEMEQ(test, ctl, &want, sizeof(want));
		from = x.part[0].src[0].off;
		KUNIT_ASSERT_EQ(test, cdc_posted.sge.addr,
				x.len <= lab->link.wr.max_inline ?
				(uintptr_t)conn->sndbuf.cpu + from : conn->snd_iova + from);
		KUNIT_ASSERT_EQ(test, cdc_posted.sge.length, x.len);
		KUNIT_ASSERT_EQ(test, cdc_posted.sge.lkey, conn->snd_lkey);
		KUNIT_ASSERT_EQ(test, cdc_posted.wr.remote_addr,
				conn->peer_addr + x.part[0].off);
		KUNIT_ASSERT_EQ(test, cdc_posted.wr.rkey, conn->peer_rkey);
		KUNIT_ASSERT_EQ(test, conn->flow.flight[(u16)(conn->flow.nr_posted - 1) %
							SMC_WR_FLIGHT].seq, want.tx_seq);
		KUNIT_ASSERT_EQ(test, conn->flow.flight[(u16)(conn->flow.nr_posted - 1) %
							SMC_WR_FLIGHT].len, x.len);
	}
	KUNIT_EXPECT_GT(test, nr_short, 300U);
	KUNIT_EXPECT_GT(test, nr_long, 300U);
}

#define CDC_SAYS(want, cause)						\
do {									\
	cdc_reset(lab, &had);						\
	cause;								\
	KUNIT_EXPECT_EQ_MSG(test, cdc_say(test), want, "%s", #cause);	\
} while (0)

/* Ten bytes, for which the window is exactly enough. */
static void each_cause_has_data_go_the_long_way(struct kunit *test)
{
	struct cdc_lab *lab = test->priv;
	struct smc_conn *conn = lab->conn;
	struct smc_wr *wr = &lab->link.wr;
	struct smc_cdc_ctl *ctl = &conn->ctl;
	struct smc_cdc_ctl had;

	cdc_open_link(test);
	ctl->tx_imm_name = 9;
	ctl->tx_cons = 100;
	ctl->tx_sent = CDC_ELEMENT + 90;
	ctl->tx_fin = ctl->tx_sent;
	ctl->tx_prep = CDC_ELEMENT + 100;
	ctl->rx_prod = CDC_ELEMENT;
	memcpy(&had, ctl, sizeof(had));
	cdc_reset(lab, &had);
	KUNIT_EXPECT_TRUE(test, cdc_say(test));
	KUNIT_EXPECT_EQ(test, ctl->tx_prod_flags, SMC_CDC_BLOCKED);
	KUNIT_EXPECT_EQ(test, conn->flow.flight[0].len, 10U);
	KUNIT_EXPECT_EQ(test, conn->flow.flight[0].seq, 1);
	CDC_SAYS(false, ctl->tx_cons--);
	CDC_SAYS(false, ctl->tx_imm_name = 0);
	CDC_SAYS(true, ctl->tx_proof = 100);
	CDC_SAYS(false, ctl->tx_proof = 101);
	/* a cursor goes along if it proves something, or is worth a message */
	CDC_SAYS(true, ctl->rx_cons = CDC_ELEMENT / 10 - 1);
	CDC_SAYS(false, ctl->rx_cons = CDC_ELEMENT / 10);
	CDC_SAYS(false, ctl->rx_cons = 1; ctl->rx_proof = 1);
	CDC_SAYS(false, wr->max_write = 1024);
	CDC_SAYS(false, list_add(&conn->wait_node, &lab->link.waiters));
	CDC_SAYS(false, atomic_set(&wr->credits, 0));
	CDC_SAYS(false, conn->flow.wr = NULL);
	CDC_SAYS(false, clear_bit(SMC_WR_IS_OPEN, &wr->flags));
	CDC_SAYS(false, conn->flow.nr_done -= SMC_WR_FLIGHT);
	CDC_SAYS(true, conn->flow.nr_done -= SMC_WR_FLIGHT - 1);
	cdc_reset(lab, &had);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_posted_message_is_counted),
	KUNIT_CASE(little_data_is_posted_inline),
	KUNIT_CASE(a_write_has_as_many_pages_as_the_device_takes),
	KUNIT_CASE(two_writes_share_the_sources_of_a_slot),
	KUNIT_CASE(pages_that_cannot_be_mapped_are_copied),
	KUNIT_CASE(fail_12_a_replay_copies_pages),
	KUNIT_CASE(a_window_is_an_event_where_data_waits),
	KUNIT_CASE(cdc_09_a_message_has_one_connection),
	KUNIT_CASE(immediate_data_is_checked_cdc_09),
	KUNIT_CASE(immediate_data_takes_the_place_of_a_message),
	KUNIT_CASE(the_short_way_of_immediate_data_leaves_the_same),
	KUNIT_CASE(each_cause_has_immediate_data_go_the_long_way),
	KUNIT_CASE(a_short_message_is_what_the_plan_says),
	KUNIT_CASE(each_cause_has_data_go_the_long_way),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_cdc",
	.init = cdc_init,
	.exit = cdc_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
