// SPDX-License-Identifier: GPL-2.0
/*
 * Ranges of the stream in pages: where their bytes are, and how long the pages are held.
 */
#include "smc_kunit.h"

#include <linux/bvec.h>
#include <linux/mm.h>

#include "../../../net/smc/rdma/smc_net.h"

/* no counters */
#define smc_stat_add(net, ...)	((void)(net))

#include "../../../net/smc/group/smc_pages.c"

#define PAGES_RING	(8 * PAGE_SIZE)
#define PAGES_MANY	(MAX_SKB_FRAGS + 3)

struct pages_lab {
	struct smc_conn conn;
	struct sock sk;
	struct page *page[PAGES_MANY];
	struct bio_vec bvec[PAGES_MANY];
	struct iov_iter iter;
};

/* A connection whose ring is full of 'r', and separate pages of which each byte tells its page. */
static int pages_init(struct kunit *test)
{
	struct pages_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	struct smc_conn *conn;
	int i;

	test->priv = lab;
	if (!lab)
		return -ENOMEM;
	conn = &lab->conn;
	conn->sk = &lab->sk;
	spin_lock_init(&conn->lock);
	conn->ctl.snd_size = PAGES_RING;
	conn->phase = SMC_CONN_OPEN;
	/* never dereferenced */
	RCU_INIT_POINTER(conn->link, (void *)test);
	conn->sndbuf.cpu = kunit_kmalloc(test, PAGES_RING, GFP_KERNEL);
	if (!conn->sndbuf.cpu)
		return -ENOMEM;
	memset(conn->sndbuf.cpu, 'r', PAGES_RING);
	for (i = 0; i < PAGES_MANY; i++) {
		lab->page[i] = alloc_page(GFP_KERNEL);
		if (!lab->page[i])
			return -ENOMEM;
		memset(page_address(lab->page[i]), 'A' + i, PAGE_SIZE);
	}
	return 0;
}

static void pages_exit(struct kunit *test)
{
	struct pages_lab *lab = test->priv;
	int i;

	if (!lab)
		return;
	for (i = 0; i < PAGES_MANY && lab->page[i]; i++) {
		KUNIT_EXPECT_EQ(test, page_count(lab->page[i]), 1);
		put_page(lab->page[i]);
	}
}

/* @nr of the pages from the first one on, without @skip bytes at the beginning */
static struct sk_buff *pages_of(struct pages_lab *lab, u32 nr, u32 skip)
{
	u32 i;

	for (i = 0; i < nr; i++)
		lab->bvec[i] = (struct bio_vec){ lab->page[i], PAGE_SIZE };
	iov_iter_bvec(&lab->iter, ITER_SOURCE, lab->bvec, nr, nr * PAGE_SIZE);
	iov_iter_advance(&lab->iter, skip);
	return smc_pages_take(&lab->iter, iov_iter_count(&lab->iter), NULL, GFP_KERNEL);
}

/* As tx_publish(), in the ring or in @skb. */
static void pages_publish(struct smc_conn *conn, struct sk_buff *skb, u32 len)
{
	spin_lock_bh(&conn->lock);
	if (skb)
		smc_pages_add(conn, skb);
	conn->ctl.tx_prep += len;
	spin_unlock_bh(&conn->lock);
}

static void pages_complete(struct smc_conn *conn, u32 len)
{
	conn->ctl.tx_fin += len;
	smc_pages_reap(conn);
}

static void pages_end_all(struct smc_conn *conn)
{
	RCU_INIT_POINTER(conn->link, NULL);
	conn->tx_inflight = 0;
	smc_pages_reap(conn);
}

static void a_range_has_as_many_pages_as_fit(struct kunit *test)
{
	struct pages_lab *lab = test->priv;
	struct sk_buff *skb = pages_of(lab, PAGES_MANY, 100);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, skb->len, MAX_SKB_FRAGS * PAGE_SIZE - 100);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->nr_frags, MAX_SKB_FRAGS);
	KUNIT_EXPECT_EQ(test, iov_iter_count(&lab->iter), 3 * PAGE_SIZE);
	consume_skb(skb);
}

static void a_compound_page_is_one_piece(struct kunit *test)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, 2);
	struct pages_lab *lab = test->priv;
	struct sk_buff *skb;

	KUNIT_ASSERT_NOT_NULL(test, page);
	lab->bvec[0] = (struct bio_vec){ page + 1, 3 * PAGE_SIZE - 20, 10 };
	iov_iter_bvec(&lab->iter, ITER_SOURCE, lab->bvec, 1, 3 * PAGE_SIZE - 20);
	skb = smc_pages_take(&lab->iter, 3 * PAGE_SIZE - 20, NULL, GFP_KERNEL);
	if (skb) {
		KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->nr_frags, 1);
		KUNIT_EXPECT_EQ(test, skb->len, 3 * PAGE_SIZE - 20);
		KUNIT_EXPECT_EQ(test, skb_frag_off(skb_shinfo(skb)->frags), PAGE_SIZE + 10);
		KUNIT_EXPECT_EQ(test, page_count(page), 2);
		consume_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, page_count(page), 1);
	__free_pages(page, 2);
	KUNIT_EXPECT_NOT_NULL(test, skb);
}

static void memory_without_pages_is_not_taken(struct kunit *test)
{
	struct kvec vec = { .iov_base = test, .iov_len = 2 * PAGE_SIZE };
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_SOURCE, &vec, 1, vec.iov_len);
	KUNIT_EXPECT_NULL(test, smc_pages_take(&iter, vec.iov_len, NULL, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, iov_iter_count(&iter), 2 * PAGE_SIZE);
}

struct pages_where {
	u64 pos;
	u32 len;	/* asked for */
	int page;	/* its number; -1 for the ring */
	u32 off;
	u32 got;
};

/* 100 bytes in the ring, two pages but for 30 bytes, 50 bytes in the ring, a page. */
static const struct pages_where pages_map[] = {
	{ 0, 2 * PAGE_SIZE, -1, 0, 100 },
	{ 40, 20, -1, 0, 20 },
	{ 100, 2 * PAGE_SIZE, 0, 30, PAGE_SIZE - 30 },
	{ 100 + 1000, 10, 0, 1030, 10 },
	{ 100 + PAGE_SIZE - 31, 2 * PAGE_SIZE, 0, PAGE_SIZE - 1, 1 },
	{ 100 + PAGE_SIZE - 30, 2 * PAGE_SIZE, 1, 0, PAGE_SIZE },
	{ 100 + 2 * PAGE_SIZE - 30, 2 * PAGE_SIZE, -1, 0, 50 },
	{ 150 + 2 * PAGE_SIZE - 30, 2 * PAGE_SIZE, 0, 0, PAGE_SIZE },
	{ 150 + 3 * PAGE_SIZE - 30, 2 * PAGE_SIZE, -1, 0, 2 * PAGE_SIZE },
};

static void a_position_is_in_the_ring_or_in_a_page(struct kunit *test)
{
	struct pages_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;
	struct smc_piece piece;
	int i;

	pages_publish(conn, NULL, 100);
	pages_publish(conn, pages_of(lab, 2, 30), 2 * PAGE_SIZE - 30);
	pages_publish(conn, NULL, 50);
	pages_publish(conn, pages_of(lab, 1, 0), PAGE_SIZE);
	for (i = 0; i < ARRAY_SIZE(pages_map); i++) {
		const struct pages_where *want = &pages_map[i];

		spin_lock_bh(&conn->lock);
		smc_pages_piece(conn, want->pos, want->len, &piece);
		spin_unlock_bh(&conn->lock);
		KUNIT_EXPECT_PTR_EQ_MSG(test, piece.page,
					want->page < 0 ? NULL : lab->page[want->page], "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, piece.off, want->off, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, piece.len, want->got, "row %d", i);
	}
	pages_end_all(conn);
}

/* Two pages around the end of the ring, of which 1000 bytes have completed. */
static void only_what_did_not_complete_is_copied_to_the_ring(struct kunit *test)
{
	struct pages_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;
	u8 *ring = conn->sndbuf.cpu;
	struct smc_piece piece;

	pages_publish(conn, NULL, PAGES_RING - PAGE_SIZE - 500);
	pages_complete(conn, PAGES_RING - PAGE_SIZE - 500);
	pages_publish(conn, pages_of(lab, 2, 0), 2 * PAGE_SIZE);
	pages_complete(conn, 1000);

	spin_lock_bh(&conn->lock);
	smc_pages_to_ring(conn);
	smc_pages_piece(conn, conn->ctl.tx_prep - 2 * PAGE_SIZE + 1000, PAGES_RING, &piece);
	spin_unlock_bh(&conn->lock);
	KUNIT_EXPECT_NULL(test, piece.page);
	KUNIT_EXPECT_EQ(test, piece.len, PAGES_RING);
	ring += PAGES_RING - PAGE_SIZE - 500;
	KUNIT_EXPECT_EQ(test, ring[999], 'r');
	KUNIT_EXPECT_EQ(test, ring[1000], 'A');
	KUNIT_EXPECT_EQ(test, ring[PAGE_SIZE - 1], 'A');
	KUNIT_EXPECT_EQ(test, ring[PAGE_SIZE], 'B');
	KUNIT_EXPECT_EQ(test, ring[PAGE_SIZE + 499], 'B');
	KUNIT_EXPECT_EQ(test, conn->sndbuf.cpu[0], 'B');
	KUNIT_EXPECT_EQ(test, conn->sndbuf.cpu[PAGE_SIZE - 501], 'B');
	KUNIT_EXPECT_EQ(test, conn->sndbuf.cpu[PAGE_SIZE - 500], 'r');
	/* held until it has completed */
	KUNIT_EXPECT_EQ(test, page_count(lab->page[0]), 2);
	pages_complete(conn, 2 * PAGE_SIZE - 1000);
	KUNIT_EXPECT_NULL(test, conn->tx_pages);
}

static void pages_are_held_until_their_last_byte_has_completed(struct kunit *test)
{
	struct pages_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;

	pages_publish(conn, pages_of(lab, 2, 0), 2 * PAGE_SIZE);
	pages_publish(conn, pages_of(lab, 1, 0), PAGE_SIZE);
	pages_complete(conn, 2 * PAGE_SIZE - 1);
	KUNIT_EXPECT_EQ(test, page_count(lab->page[0]), 3);
	KUNIT_EXPECT_EQ(test, page_count(lab->page[1]), 2);
	pages_complete(conn, 1);
	KUNIT_EXPECT_EQ(test, page_count(lab->page[0]), 2);
	KUNIT_EXPECT_EQ(test, page_count(lab->page[1]), 1);
	pages_complete(conn, PAGE_SIZE);
	KUNIT_EXPECT_NULL(test, conn->tx_pages);
}

static void pages_of_a_lost_connection_are_held_while_a_write_is_in_flight(struct kunit *test)
{
	struct pages_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;

	pages_publish(conn, pages_of(lab, 2, 0), 2 * PAGE_SIZE);
	conn->tx_inflight = 1;
	RCU_INIT_POINTER(conn->link, NULL);
	smc_pages_reap(conn);
	KUNIT_EXPECT_EQ(test, page_count(lab->page[0]), 2);
	pages_end_all(conn);
	KUNIT_EXPECT_NULL(test, conn->tx_pages);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_range_has_as_many_pages_as_fit),
	KUNIT_CASE(a_compound_page_is_one_piece),
	KUNIT_CASE(memory_without_pages_is_not_taken),
	KUNIT_CASE(a_position_is_in_the_ring_or_in_a_page),
	KUNIT_CASE(only_what_did_not_complete_is_copied_to_the_ring),
	KUNIT_CASE(pages_are_held_until_their_last_byte_has_completed),
	KUNIT_CASE(pages_of_a_lost_connection_are_held_while_a_write_is_in_flight),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_pages",
	.init = pages_init,
	.exit = pages_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
