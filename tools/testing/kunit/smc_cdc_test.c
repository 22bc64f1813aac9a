// SPDX-License-Identifier: GPL-2.0
/*
 * CDC messages on a link: the references that they hold on their connection. Posted messages
 * go nowhere.
 */
#include "smc_kunit.h"

#include <linux/bvec.h>
#include <linux/sizes.h>

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
	lab->conn = smc_conn_alloc(lab->sk, cdc_event);
	if (!lab->conn)
		return -ENOMEM;
	smc_cdc_ctl_init(&lab->conn->ctl, 0, CDC_ELEMENT, CDC_ELEMENT, CDC_ELEMENT);
	lab->conn->phase = SMC_CONN_OPEN;
	rcu_assign_pointer(lab->conn->link, &lab->link);
	lab->conn->token = 7;
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
	smc_cdc_plan(&conn->ctl, smc_cdc_message(&conn->ctl), &x);
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
	smc_cdc_plan(&conn->ctl, smc_cdc_message(&conn->ctl), &p->x);
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
	smc_cdc_plan(&conn->ctl, smc_cdc_message(&conn->ctl), &x);
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
	{}
};

static struct kunit_suite suite = {
	.name = "smc_cdc",
	.init = cdc_init,
	.exit = cdc_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
