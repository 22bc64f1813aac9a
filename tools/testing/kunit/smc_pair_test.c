// SPDX-License-Identifier: GPL-2.0
/*
 * Two connections joined in memory: one end gets what the other sends, and no page stays behind.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

#include <linux/bvec.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/tcp.h>

#include "../../../net/smc/rdma/smc_mem.h"
#include "../../../net/smc/rdma/smc_net.h"

/* Behind the look at the chunks a reader looks for ranges: there the other CPU runs. */
static int pair_is_empty(const struct sk_buff_head *list)
{
	kunit_run_other_cpu();
	return skb_queue_empty_lockless(list);
}

#define skb_queue_empty_lockless pair_is_empty

/* no counters */
#define smc_net_stats(...)	NULL

#include "../../../net/smc/group/smc_pair.c"

#define PAIR_RING	(8 * PAGE_SIZE)

struct pair_end {
	struct tcp_sock tp;
	struct smc_conn conn;
	u32 told;	/* events */
	u64 nr_sent;	/* bytes, of which each tells its place */
	u64 nr_read;
};

struct pair_lab {
	struct pair_end end[2];
	struct smc_pair *pair;
	long pages;	/* counted before the case */
	u32 count;	/* of pairs */
	u8 buf[2 * PAIR_RING];
};

static struct proto pair_proto = SMC_KUNIT_PROTO("smc_pair_test");

static struct pair_end *pair_end_of(struct smc_conn *conn)
{
	return container_of(conn, struct pair_end, conn);
}

/* As smc_conn_event(), without an application. */
static void pair_event(struct smc_conn *conn, u32 events)
{
	pair_end_of(conn)->told |= events;
	if (events & (SMC_EV_SPACE | SMC_EV_UPDATE_REQ | SMC_EV_BLOCKED))
		pair_push(conn);
}

static const struct smc_conn_ops pair_ops = { .event = pair_event };

static void pair_new_end(struct pair_lab *lab, enum smc_role role)
{
	struct pair_end *end = &lab->end[role];
	struct smc_conn *conn = &end->conn;
	struct sock *sk = (struct sock *)&end->tp;

	sock_net_set(sk, &init_net);
	smc_kunit_init(sk, &pair_proto);
	sk->sk_allocation = GFP_KERNEL;
	end->tp.notsent_lowat = U32_MAX;
	conn->sk = sk;
	conn->ops = &pair_ops;
	spin_lock_init(&conn->lock);
	refcount_set(&conn->refs, 1);
	smc_pair_join(conn, lab->pair, role);
	scoped_guard(smc_conn, conn)
		smc_conn_set_phase(conn, SMC_CONN_OPEN);
}

static int pair_init(struct kunit *test)
{
	struct pair_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	test->priv = lab;
	if (!lab)
		return -ENOMEM;
	lab->pages = atomic_long_read(&smc_mem_pages);
	lab->count = smc_pair_get_count();
	lab->pair = smc_pair_alloc(PAIR_RING, PAIR_RING);
	if (!lab->pair)
		return -ENOMEM;
	KUNIT_EXPECT_EQ(test, smc_pair_get_count(), lab->count + 1);
	pair_new_end(lab, SMC_ROLE_CLIENT);
	pair_new_end(lab, SMC_ROLE_SERVER);
	return 0;
}

static long pair_nr_pages(const struct pair_lab *lab)
{
	return atomic_long_read(&smc_mem_pages) - lab->pages;
}

/* Both ends leave; then no page is left. */
static void pair_exit(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	int i;

	if (!lab || !lab->pair)
		return;
	for (i = 0; i < 2; i++) {
		struct smc_conn *conn = &lab->end[i].conn;

		if (conn->token)
			pair_leave(conn, true);
		pair_free(conn);
	}
	smc_pair_put(lab->pair);
	KUNIT_EXPECT_EQ(test, pair_nr_pages(lab), 0L);
	KUNIT_EXPECT_EQ(test, smc_pair_get_count(), lab->count);
}

/* Byte @pos of the stream of an end */
static u8 pair_pattern(u64 pos)
{
	return pos * 31 + (pos >> 8) * 7 + 5;
}

/* Publish @n bytes that are in the ring, or in pages. Expects the socket lock held. */
static void pair_publish(struct smc_conn *conn, size_t n, u8 flags)
{
	spin_lock_bh(&conn->lock);
	WRITE_ONCE(conn->ctl.tx_prep, conn->ctl.tx_prep + n);
	if (flags & SMC_CDC_URG_PRESENT)
		smc_cdc_mark_urgent(&conn->ctl);
	if (flags || READ_ONCE(conn->attn) & ~SMC_ATTN_PEER)
		pair_push_unlock(conn);
	else
		smc_pair_push_data(conn);
}

/* As send(): as much of @len as there is room for. Return: bytes. */
static size_t pair_write_some(struct pair_lab *lab, struct pair_end *end, u8 *buf, size_t len,
			      u8 flags)
{
	struct smc_conn *conn = &end->conn;
	struct iov_iter iter;
	struct kvec vec;
	size_t n, i;
	u64 freed;

	lock_sock(conn->sk);
	/* pairs with smp_store_release() of smc_cdc_take_cons() */
	freed = smp_load_acquire(conn->tx_freed);
	n = min_t(size_t, len, conn->ctl.snd_size - (u32)(conn->ctl.tx_prep - freed));
	for (i = 0; i < n; i++)
		buf[i] = pair_pattern(end->nr_sent + i);
	vec = (struct kvec){ .iov_base = buf, .iov_len = n };
	iov_iter_kvec(&iter, ITER_SOURCE, &vec, 1, n);
	if (n) {
		n = smc_pair_write(conn, n, &iter);
		end->nr_sent += n;
		pair_publish(conn, n, flags);
	}
	release_sock(conn->sk);
	return n;
}

static size_t pair_put(struct kunit *test, enum smc_role role, size_t len, u8 flags)
{
	struct pair_lab *lab = test->priv;

	return pair_write_some(lab, &lab->end[role], lab->buf, len, flags);
}

/* As recv(). Return: bytes; U32_MAX where one of them is wrong. */
static size_t pair_read_some(struct pair_end *end, const struct pair_end *from, u8 *buf, size_t len)
{
	struct smc_conn *conn = &end->conn;
	struct iov_iter iter;
	struct kvec vec;
	bool is_due;
	size_t n, i;

	lock_sock(conn->sk);
	/* pairs with smp_store_release() of smc_pair_push_data() */
	n = min_t(u64, len, smp_load_acquire(&conn->ctl.rx_prod) - conn->ctl.rx_cons);
	vec = (struct kvec){ .iov_base = buf, .iov_len = n };
	iov_iter_kvec(&iter, ITER_DEST, &vec, 1, n);
	if (n && smc_pair_read(conn, conn->ctl.rx_cons, n, &iter) != n)
		n = U32_MAX;
	for (i = 0; n != U32_MAX && i < n; i++)
		if (buf[i] != pair_pattern(conn->ctl.rx_cons + i))
			n = U32_MAX;
	if (n && n != U32_MAX) {
		smc_pair_pass(conn, conn->ctl.rx_cons + n);
		scoped_guard(smc_conn, conn) {
			smc_cdc_consume(&conn->ctl, n);
			is_due = smc_cdc_is_needed(&conn->ctl);
		}
		end->nr_read += n;
		if (is_due)
			pair_push(conn);
	}
	release_sock(conn->sk);
	return n;
}

static size_t pair_get(struct kunit *test, enum smc_role role, size_t len)
{
	struct pair_lab *lab = test->priv;

	return pair_read_some(&lab->end[role], &lab->end[!role], lab->buf, len);
}

static u32 pair_told(struct kunit *test, enum smc_role role)
{
	struct pair_lab *lab = test->priv;

	return xchg(&lab->end[role].told, 0);
}

static void bytes_go_both_ways_round_the_ring(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	int i;

	for (i = 0; i < 100; i++) {
		KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 5000, 0), 5000UL);
		KUNIT_ASSERT_EQ(test, pair_told(test, SMC_ROLE_SERVER), SMC_EV_DATA);
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 9999), 5000UL);
		KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_SERVER, 123, 0), 123UL);
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_CLIENT, 9999), 123UL);
		/* as with TCP on the loopback device, what was written has arrived */
		KUNIT_ASSERT_EQ(test, smc_conn_unacked(&lab->end[0].conn), 0U);
	}
}

static void an_idle_connection_has_a_page_in_each_direction(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	int i;

	KUNIT_EXPECT_EQ(test, pair_nr_pages(lab), 0L);
	for (i = 0; i < 1000; i++) {
		KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 64, 0), 64UL);
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 64), 64UL);
		KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_SERVER, 64, 0), 64UL);
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_CLIENT, 64), 64UL);
		KUNIT_ASSERT_LE(test, pair_nr_pages(lab), 2L);
	}
}

static void a_writer_without_room_is_told_of_half(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_conn *conn = &lab->end[SMC_ROLE_CLIENT].conn;
	size_t n = 0;

	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 2 * PAIR_RING, 0), PAIR_RING);
	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 1, 0), 0UL);
	KUNIT_EXPECT_LE(test, pair_nr_pages(lab), (long)(PAIR_RING >> PAGE_SHIFT) + 8);
	scoped_guard(smc_conn, conn)
		conn->wants_room = true;
	pair_told(test, SMC_ROLE_CLIENT);
	while (!(pair_told(test, SMC_ROLE_CLIENT) & SMC_EV_ROOM)) {
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 512), 512UL);
		n += 512;
		KUNIT_ASSERT_LE(test, n, PAIR_RING);
	}
	KUNIT_EXPECT_GE(test, n, PAIR_RING / 2);
	KUNIT_EXPECT_LE(test, n, PAIR_RING / 4 * 3);
	KUNIT_EXPECT_FALSE(test, conn->wants_room);
	KUNIT_EXPECT_GT(test, pair_put(test, SMC_ROLE_CLIENT, 2 * PAIR_RING, 0), 0UL);
}

/* The writer then knows of enough room to be writable. */
static void a_reader_that_took_all_leaves_room(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_conn *conn = &lab->end[SMC_ROLE_CLIENT].conn;
	struct rnd_state rnd;
	int i;

	prandom_seed_state(&rnd, 48);
	for (i = 0; i < 2000; i++) {
		pair_put(test, SMC_ROLE_CLIENT, prandom_u32_state(&rnd) % PAIR_RING + 1, 0);
		while (pair_get(test, SMC_ROLE_SERVER, prandom_u32_state(&rnd) % PAIR_RING + 1))
			;
		scoped_guard(smc_conn, conn)
			KUNIT_ASSERT_TRUE(test, smc_conn_has_room(conn));
	}
}

/* URG-07: what is behind the mark waits until the reader has passed it. */
static void an_urgent_byte_ends_a_read(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_conn *conn = &lab->end[SMC_ROLE_SERVER].conn;

	sock_set_flag(conn->sk, SOCK_URGINLINE);
	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 10, 0), 10UL);
	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 3, SMC_CDC_URG_PRESENT), 3UL);
	KUNIT_EXPECT_TRUE(test, pair_told(test, SMC_ROLE_SERVER) & SMC_EV_URG_PENDING);
	KUNIT_EXPECT_TRUE(test, conn->attn & SMC_ATTN_URG);
	scoped_guard(smc_conn, conn) {
		KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(&conn->ctl), 12LL);
		KUNIT_EXPECT_EQ(test, conn->ctl.rx_urg_byte, pair_pattern(12));
	}
	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 100, 0), 100UL);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(conn), 13U);
	KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 13), 13UL);
	/* passed: the rest follows at once */
	KUNIT_EXPECT_EQ(test, smc_conn_readable(conn), 100U);
	KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 200), 100UL);
	KUNIT_EXPECT_EQ(test, conn->attn, 0U);
	KUNIT_EXPECT_EQ(test, lab->end[SMC_ROLE_CLIENT].conn.attn, 0U);
}

/* Out of line, with nothing before it, the byte leaves the stream where it arrives. */
static void an_urgent_byte_out_of_line_may_end_a_page(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_conn *conn = &lab->end[SMC_ROLE_SERVER].conn;
	int i;

	for (i = 0; i < 20; i++) {
		KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, PAGE_SIZE - 1, 0),
				PAGE_SIZE - 1);
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, PAGE_SIZE), PAGE_SIZE - 1);
		KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 1, SMC_CDC_URG_PRESENT), 1UL);
		scoped_guard(smc_conn, conn)
			KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(&conn->ctl, false),
					pair_pattern((i + 1) * PAGE_SIZE - 1));
		KUNIT_EXPECT_EQ(test, smc_conn_readable(conn), 0U);
		KUNIT_ASSERT_LE(test, pair_nr_pages(lab), 1L);
	}
}

static void corked_data_waits_for_a_flush(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_conn *conn = &lab->end[SMC_ROLE_CLIENT].conn;

	scoped_guard(smc_conn, conn)
		conn->tx_cork = true;
	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 10, 0), 10UL);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(&lab->end[SMC_ROLE_SERVER].conn), 0U);
	spin_lock_bh(&conn->lock);
	conn->tx_cork = false;
	conn->tx_flush = true;
	pair_push_unlock(conn);
	KUNIT_EXPECT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 20), 10UL);
	KUNIT_EXPECT_FALSE(test, conn->tx_flush);
}

static void pair_signal(struct smc_conn *conn, u8 flags)
{
	spin_lock_bh(&conn->lock);
	smc_cdc_set_conn_flags(&conn->ctl, flags);
	pair_push_unlock(conn);
}

/* The end of a stream comes behind its data, and the other direction goes on. */
static void the_end_of_one_direction(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_conn *client = &lab->end[SMC_ROLE_CLIENT].conn;

	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 10, 0), 10UL);
	pair_signal(client, SMC_CDC_DONE);
	KUNIT_EXPECT_TRUE(test, pair_told(test, SMC_ROLE_SERVER) & SMC_EV_DONE);
	KUNIT_EXPECT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 20), 10UL);
	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_SERVER, PAIR_RING, 0), PAIR_RING);
	KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_CLIENT, PAIR_RING), PAIR_RING);
	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_SERVER, PAIR_RING, 0), PAIR_RING);
	KUNIT_EXPECT_FALSE(test, pair_told(test, SMC_ROLE_CLIENT) & SMC_EV_FINAL_DONE);
	pair_signal(client, SMC_CDC_CLOSED);
	KUNIT_EXPECT_TRUE(test, pair_told(test, SMC_ROLE_CLIENT) & SMC_EV_FINAL_DONE);
	KUNIT_EXPECT_TRUE(test, pair_told(test, SMC_ROLE_SERVER) & SMC_EV_CLOSED);
	KUNIT_EXPECT_FALSE(test, smc_conn_owes_final(client));
}

static void an_abort_arrives_at_once(struct kunit *test)
{
	struct pair_lab *lab = test->priv;

	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, PAIR_RING, 0), PAIR_RING);
	pair_signal(&lab->end[SMC_ROLE_CLIENT].conn, SMC_CDC_ABORT);
	KUNIT_EXPECT_TRUE(test, pair_told(test, SMC_ROLE_SERVER) & SMC_EV_ABORT);
	KUNIT_EXPECT_TRUE(test, pair_told(test, SMC_ROLE_CLIENT) & SMC_EV_FINAL_DONE);
}

/* What a writer leaves behind can be read when it is gone, and then its pages go. */
static void the_writer_is_gone(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_conn *client = &lab->end[SMC_ROLE_CLIENT].conn;
	struct smc_conn *server = &lab->end[SMC_ROLE_SERVER].conn;

	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, PAIR_RING, 0), PAIR_RING);
	pair_signal(client, SMC_CDC_CLOSED);
	KUNIT_EXPECT_TRUE(test, pair_is_up(server));
	pair_leave(client, false);
	KUNIT_EXPECT_FALSE(test, pair_is_up(server));
	/* nobody reads this */
	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_SERVER, 100, 0), 100UL);
	KUNIT_EXPECT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 2 * PAIR_RING), PAIR_RING);
	KUNIT_EXPECT_LE(test, pair_nr_pages(lab), 9L);
}

/* The reader has left with unread data, which is still its own. */
static void a_reader_without_a_peer(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_conn *server = &lab->end[SMC_ROLE_SERVER].conn;

	KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 1000, 0), 1000UL);
	pair_leave(server, false);
	pair_leave(&lab->end[SMC_ROLE_CLIENT].conn, false);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(server), 1000U);
	KUNIT_EXPECT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 2000), 1000UL);
}

/* Give @len bytes in pages of their own; @pages and @bvec must outlive the read. */
static struct sk_buff *pair_make_pages(struct kunit *test, struct pair_end *end, u32 len)
{
	struct page *page = alloc_pages(GFP_KERNEL | __GFP_COMP, 2);
	struct iov_iter iter;
	struct bio_vec bvec;
	struct sk_buff *skb;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (i = 0; i < len; i++)
		((u8 *)page_address(page))[i + 17] = pair_pattern(end->nr_sent + i);
	bvec_set_page(&bvec, page, len, 17);
	iov_iter_bvec(&iter, ITER_SOURCE, &bvec, 1, len);
	skb = smc_pages_take(&iter, len, NULL, GFP_KERNEL);
	put_page(page);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_EQ(test, skb->len, len);
	return skb;
}

static void pair_put_pages(struct kunit *test, enum smc_role role, u32 len)
{
	struct pair_lab *lab = test->priv;
	struct pair_end *end = &lab->end[role];
	struct sk_buff *skb = pair_make_pages(test, end, len);
	struct smc_conn *conn = &end->conn;

	lock_sock(conn->sk);
	spin_lock_bh(&conn->lock);
	pair_give(conn, skb);
	spin_unlock_bh(&conn->lock);
	end->nr_sent += len;
	pair_publish(conn, len, 0);
	release_sock(conn->sk);
}

/* Pages have their place among other data, are read in pieces, and go with their last byte. */
static void pages_of_the_writer_are_read_in_place(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_pipe *pipe = &lab->pair->pipe[SMC_ROLE_SERVER];
	int i;

	for (i = 0; i < 30; i++) {
		KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 100 + i, 0), 100UL + i);
		pair_put_pages(test, SMC_ROLE_CLIENT, 10000);
		pair_put_pages(test, SMC_ROLE_CLIENT, 9000);
		KUNIT_ASSERT_EQ(test, pair_put(test, SMC_ROLE_CLIENT, 50, 0), 50UL);
		KUNIT_ASSERT_EQ(test, skb_queue_len(&pipe->given), 2U);
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 60), 60UL);
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 5000), 5000UL);
		KUNIT_ASSERT_EQ(test, skb_queue_len(&pipe->given), 2U);
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 5040 + i), 5040UL + i);
		KUNIT_ASSERT_EQ(test, skb_queue_len(&pipe->given), 1U);
		KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 99999), 9050UL);
		KUNIT_ASSERT_EQ(test, skb_queue_len(&pipe->given), 0U);
		KUNIT_ASSERT_LE(test, pair_nr_pages(lab), 1L);
	}
}

/* Left unread they go with the pair. */
static void pages_of_the_writer_left_unread(struct kunit *test)
{
	pair_put_pages(test, SMC_ROLE_CLIENT, 10000);
	KUNIT_ASSERT_EQ(test, pair_get(test, SMC_ROLE_SERVER, 100), 100UL);
}

/* A writer of MSG_ZEROCOPY gets its pages back from a reader that does not want them. */
static void a_reader_that_drops_its_data_frees_pages(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_pipe *pipe = &lab->pair->pipe[SMC_ROLE_SERVER];
	struct smc_conn *server = &lab->end[SMC_ROLE_SERVER].conn;

	pair_put_pages(test, SMC_ROLE_CLIENT, 10000);
	pair_leave(server, true);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&pipe->given), 1U);
	smc_conn_forget_unread(server);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&pipe->given), 0U);
}

static void an_urgent_byte_in_pages(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_conn *conn = &lab->end[SMC_ROLE_CLIENT].conn;
	struct sk_buff *skb = pair_make_pages(test, &lab->end[SMC_ROLE_CLIENT], 9000);

	lock_sock(conn->sk);
	spin_lock_bh(&conn->lock);
	pair_give(conn, skb);
	spin_unlock_bh(&conn->lock);
	pair_publish(conn, 9000, SMC_CDC_URG_PRESENT);
	release_sock(conn->sk);
	conn = &lab->end[SMC_ROLE_SERVER].conn;
	scoped_guard(smc_conn, conn)
		KUNIT_EXPECT_EQ(test, conn->ctl.rx_urg_byte, pair_pattern(8999));
}

static struct pair_lab *pair_racing;

/* The client's first bytes come. */
static void pair_append_first(void)
{
	struct pair_lab *lab = pair_racing;
	struct kvec vec = { .iov_base = lab->buf, .iov_len = 100 };
	struct iov_iter iter;

	iov_iter_kvec(&iter, ITER_SOURCE, &vec, 1, 100);
	smc_pair_write(&lab->end[SMC_ROLE_CLIENT].conn, 100, &iter);
}

/* A reader that closes, or has read from pages alone, passes an empty list while it begins. */
static void a_reader_passes_while_the_first_chunk_comes(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct smc_pipe *pipe = &lab->pair->pipe[SMC_ROLE_SERVER];
	struct smc_conn *client = &lab->end[SMC_ROLE_CLIENT].conn;

	pair_racing = lab;
	client->sk->sk_allocation = GFP_ATOMIC;
	lock_sock(client->sk);
	kunit_other_cpu = pair_append_first;
	smc_pair_pass(&lab->end[SMC_ROLE_SERVER].conn, 0);
	release_sock(client->sk);
	KUNIT_EXPECT_NULL(test, kunit_other_cpu);
	KUNIT_ASSERT_NOT_NULL(test, pipe->first);
	KUNIT_EXPECT_PTR_EQ(test, pipe->first, pipe->last);
	KUNIT_EXPECT_EQ(test, pair_nr_pages(lab), 1L);
}

/* Random sizes, ends and marks against a queue of bytes; positions must agree at each step. */
static void random_calls_keep_the_stream(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct rnd_state rnd;
	int i, role;
	size_t n;

	prandom_seed_state(&rnd, 7609);
	for (role = 0; role < 2; role++)
		sock_set_flag(lab->end[role].conn.sk, SOCK_URGINLINE);
	for (i = 0; i < 20000; i++) {
		u32 dice = prandom_u32_state(&rnd);
		u32 len = 1 + (dice >> 8) % (dice & 1 ? 100 : PAIR_RING);

		role = dice >> 1 & 1;
		switch (dice >> 2 & 7) {
		case 0:
			pair_put(test, role, len, SMC_CDC_URG_PRESENT);
			break;
		case 1:
			scoped_guard(smc_conn, &lab->end[role].conn)
				n = smc_conn_room(&lab->end[role].conn);
			if (n >= 12000)
				pair_put_pages(test, role, 8192 + len % 3000);
			break;
		case 2:
		case 3:
			pair_put(test, role, len, 0);
			break;
		default:
			n = pair_get(test, role, len);
			KUNIT_ASSERT_NE(test, n, (size_t)U32_MAX);
		}
		for (role = 0; role < 2; role++) {
			struct pair_end *to = &lab->end[role], *from = &lab->end[!role];

			KUNIT_ASSERT_LE(test, from->nr_sent - to->nr_read, (u64)PAIR_RING);
			KUNIT_ASSERT_EQ(test, from->conn.ctl.tx_sent, to->conn.ctl.rx_prod);
			KUNIT_ASSERT_EQ(test, from->conn.ctl.tx_fin, from->conn.ctl.tx_sent);
		}
	}
	for (role = 0; role < 2; role++) {
		while (lab->end[!role].nr_sent != lab->end[role].nr_read) {
			n = pair_get(test, role, PAIR_RING);
			KUNIT_ASSERT_NE(test, n, (size_t)U32_MAX);
			KUNIT_ASSERT_NE(test, n, 0UL);
		}
	}
}

#define PAIR_STREAM	(64UL * PAIR_RING)

struct pair_task {
	struct pair_lab *lab;
	struct completion is_over;
	int err;
};

/* The client's end of a stream, in a task of its own. */
static int pair_write_stream(void *arg)
{
	struct pair_task *task = arg;
	struct pair_end *end = &task->lab->end[SMC_ROLE_CLIENT];
	u8 *buf = kmalloc(PAIR_RING, GFP_KERNEL);
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 1);
	while (buf && end->nr_sent < PAIR_STREAM)
		if (!pair_write_some(task->lab, end, buf,
				     min_t(u64, 1 + prandom_u32_state(&rnd) % 9000,
					   PAIR_STREAM - end->nr_sent), 0))
			cond_resched();
	task->err = buf ? 0 : -ENOMEM;
	kfree(buf);
	complete(&task->is_over);
	return 0;
}

/* Both ends at a time: KCSAN watches the words that they share. */
static void two_tasks_share_a_stream(struct kunit *test)
{
	struct pair_lab *lab = test->priv;
	struct pair_task task = { .lab = lab };
	struct task_struct *writer;
	struct rnd_state rnd;
	u64 got = 0;
	size_t n = 0;

	init_completion(&task.is_over);
	prandom_seed_state(&rnd, 2);
	writer = kthread_run(pair_write_stream, &task, "smc_pair_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(writer));
	while (got < PAIR_STREAM && !task.err && n != U32_MAX) {
		n = pair_get(test, SMC_ROLE_SERVER, 1 + prandom_u32_state(&rnd) % 9000);
		if (n)
			got += n;
		else
			cond_resched();
	}
	/* after a fault the writer would wait for ever */
	lab->end[SMC_ROLE_CLIENT].nr_sent = n == U32_MAX ? PAIR_STREAM :
							   lab->end[SMC_ROLE_CLIENT].nr_sent;
	wait_for_completion(&task.is_over);
	KUNIT_EXPECT_EQ(test, task.err, 0);
	KUNIT_EXPECT_EQ(test, got, (u64)PAIR_STREAM);
}

static struct kunit_case pair_cases[] = {
	KUNIT_CASE(bytes_go_both_ways_round_the_ring),
	KUNIT_CASE(an_idle_connection_has_a_page_in_each_direction),
	KUNIT_CASE(a_writer_without_room_is_told_of_half),
	KUNIT_CASE(a_reader_that_took_all_leaves_room),
	KUNIT_CASE(an_urgent_byte_ends_a_read),
	KUNIT_CASE(an_urgent_byte_out_of_line_may_end_a_page),
	KUNIT_CASE(corked_data_waits_for_a_flush),
	KUNIT_CASE(the_end_of_one_direction),
	KUNIT_CASE(an_abort_arrives_at_once),
	KUNIT_CASE(the_writer_is_gone),
	KUNIT_CASE(a_reader_without_a_peer),
	KUNIT_CASE(pages_of_the_writer_are_read_in_place),
	KUNIT_CASE(pages_of_the_writer_left_unread),
	KUNIT_CASE(a_reader_that_drops_its_data_frees_pages),
	KUNIT_CASE(an_urgent_byte_in_pages),
	KUNIT_CASE(a_reader_passes_while_the_first_chunk_comes),
	KUNIT_CASE(random_calls_keep_the_stream),
	KUNIT_CASE(two_tasks_share_a_stream),
	{}
};

static struct kunit_suite pair_suite = {
	.name = "smc_pair",
	.init = pair_init,
	.exit = pair_exit,
	.test_cases = pair_cases,
};

kunit_test_suite(pair_suite);
