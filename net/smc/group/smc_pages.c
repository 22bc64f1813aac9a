// SPDX-License-Identifier: GPL-2.0
/*
 * Sending without a copy: MSG_ZEROCOPY, sendfile(), splice().
 *
 * Operation:
 *   A range of the stream may have its bytes in pages of the application. It takes its place in the
 *   send ring as other data does, so that cursors, windows, limits and failover do not know about
 *   pages; only that part of the ring's memory stays unwritten. smc_cdc.c asks piece by piece where
 *   the bytes of a WRITE are.
 *
 *   Where a page cannot be mapped for the device, and for the replay after failover, the bytes are
 *   copied to their place in the ring. A replay is one message, which would need more pieces than
 *   a WRITE can have.
 *
 * Ownership:
 *   A range is an sk_buff without data: its fragments hold the pages, and it holds the notice of
 *   MSG_ZEROCOPY. It belongs to its connection until the message behind its last byte has
 *   completed. Of a connection that has ended, it stays while a message is in flight: the RNIC may
 *   read the pages.
 */
#include <linux/skbuff.h>
#include <linux/uio.h>

#include "smc_compat.h"
#include "proto/smc_ring.h"
#include "rdma/smc_net.h"
#include "group/smc_pages.h"

/* Pages that are taken at once */
#define PAGES_BATCH	8

/* In skb->cb */
struct pages_range {
	u64 from;	/* position of the first byte in the stream */
	bool is_in_ring;	/* the bytes were copied to the ring */
};

static_assert(sizeof(struct pages_range) <= sizeof_field(struct sk_buff, cb));

static struct pages_range *pages_range(const struct sk_buff *skb)
{
	return (struct pages_range *)skb->cb;
}

/* Position of the first byte of a range */
u64 smc_pages_begin(const struct sk_buff *skb)
{
	return pages_range(skb)->from;
}

/* Position behind a range */
u64 smc_pages_end(const struct sk_buff *skb)
{
	return pages_range(skb)->from + skb->len;
}

/* Give a range of smc_pages_take() its place in the stream. */
void smc_pages_place(struct sk_buff *skb, u64 pos)
{
	*pages_range(skb) = (struct pages_range){ .from = pos };
}

/* Consumes the reference on the page. Pages of a compound page make up one fragment. */
static void pages_append(struct sk_buff *skb, struct page *page, u32 off, u32 len)
{
	struct page *head = compound_head(page);
	int nr = skb_shinfo(skb)->nr_frags;

	off += (page - head) << PAGE_SHIFT;
	if (skb_can_coalesce(skb, nr, head, off)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[nr - 1], len);
		put_page(head);
	} else {
		skb_fill_page_desc(skb, nr, head, off, len);
	}
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

static bool pages_take_some(struct sk_buff *skb, struct iov_iter *iter, u32 len)
{
	unsigned int room = MAX_SKB_FRAGS - skb_shinfo(skb)->nr_frags;
	struct page *pages[PAGES_BATCH];
	ssize_t left;
	size_t off;
	u32 i, n;

	if (!room || !len)
		return false;
	left = iov_iter_get_pages2(iter, pages, len, min_t(u32, room, PAGES_BATCH), &off);
	if (left <= 0)
		return false;
	for (i = 0; left; i++) {
		n = min_t(u32, left, PAGE_SIZE - off);
		pages_append(skb, pages[i], off, n);
		left -= n;
		off = 0;
	}
	return true;
}

/**
 * smc_pages_take() - take references on pages with data to send
 * @iter: the data; advanced by what was taken
 * @len: bytes
 * @uarg: the notice of MSG_ZEROCOPY, gets a reference; or NULL
 * @gfp: for memory
 *
 * Context: Process context, may sleep.
 * Return: a range of up to @len bytes for smc_pages_add(); NULL if the data must be copied.
 */
struct sk_buff *smc_pages_take(struct iov_iter *iter, u32 len, struct ubuf_info *uarg, gfp_t gfp)
{
	struct sk_buff *skb = alloc_skb(0, gfp);

	if (!skb)
		return NULL;
	while (pages_take_some(skb, iter, len - skb->len))
		;
	if (!skb->len) {
		consume_skb(skb);
		return NULL;
	}
	skb_zcopy_set(skb, uarg, NULL);
	return skb;
}

/**
 * smc_pages_add() - append a range to the stream
 * @conn: the connection, its tx_prep not advanced yet
 * @skb: from smc_pages_take(); consumed
 *
 * Context: Process context. Expects conn->lock held.
 */
void smc_pages_add(struct smc_conn *conn, struct sk_buff *skb)
{
	lockdep_assert_held(&conn->lock);
	smc_pages_place(skb, conn->ctl.tx_prep);
	if (conn->tx_pages)
		conn->tx_pages_last->next = skb;
	else
		WRITE_ONCE(conn->tx_pages, skb);
	conn->tx_pages_last = skb;
}

/* The byte @at of a range */
static void pages_locate(const struct sk_buff *skb, u32 at, struct smc_piece *piece)
{
	const skb_frag_t *frag = skb_shinfo(skb)->frags;

	for (; at >= skb_frag_size(frag); frag++)
		at -= skb_frag_size(frag);
	piece->page = skb_frag_page(frag);
	piece->off = skb_frag_off(frag) + at;
	piece->len = min(piece->len, skb_frag_size(frag) - at);
}

/**
 * smc_pages_piece() - find where the next bytes to write are
 * @conn: the connection
 * @pos: position of the first byte in the stream, not completed
 * @len: number of bytes, at least 1
 * @piece: receives a page, or NULL for the ring; length is that of the piece, at most @len
 *
 * Context: Any context. Expects conn->lock held.
 */
void smc_pages_piece(const struct smc_conn *conn, u64 pos, u32 len, struct smc_piece *piece)
{
	const struct sk_buff *skb;

	lockdep_assert_held(&conn->lock);
	*piece = (struct smc_piece){ .len = len };
	for (skb = conn->tx_pages; skb; skb = skb->next)
		if (smc_pages_end(skb) > pos && !pages_range(skb)->is_in_ring)
			break;
	if (!skb)
		return;
	if (pages_range(skb)->from > pos)
		piece->len = min_t(u64, len, pages_range(skb)->from - pos);
	else
		pages_locate(skb, pos - pages_range(skb)->from, piece);
}

/* What has completed is not needed, and its place in the ring may have other data. */
static void pages_copy(struct smc_conn *conn, struct sk_buff *skb)
{
	u64 from = max(pages_range(skb)->from, conn->ctl.tx_fin);
	u32 at = from - pages_range(skb)->from;
	struct smc_seg seg[SMC_RING_SEGS];
	u32 size = conn->ctl.snd_size;
	u32 i, nr;

	pages_range(skb)->is_in_ring = true;
	if (at >= skb->len)
		return;
	nr = smc_ring_segs(size, 0, from & (size - 1), skb->len - at, seg);
	for (i = 0; i < nr; i++) {
		/* reads fragments only, which cannot fail */
		skb_copy_bits(skb, at, conn->sndbuf.cpu + seg[i].off, seg[i].len);
		at += seg[i].len;
		smc_stat_add(sock_net(conn->sk), SMC_STAT_TX_PAGES_COPIED, seg[i].len);
	}
}

/**
 * smc_pages_to_ring() - copy all that is in pages to its place in the ring
 * @conn: the connection
 *
 * The pages are released later: a message in flight may be reading them.
 *
 * Context: Any context. Expects conn->lock held.
 */
void smc_pages_to_ring(struct smc_conn *conn)
{
	struct sk_buff *skb;

	lockdep_assert_held(&conn->lock);
	for (skb = conn->tx_pages; skb; skb = skb->next)
		if (!pages_range(skb)->is_in_ring)
			pages_copy(conn, skb);
}

/* Take the first range off the list if the RNIC no longer reads it; otherwise NULL. */
static struct sk_buff *pages_take_done(struct smc_conn *conn)
{
	struct sk_buff *skb;
	bool is_over;

	guard(smc_conn)(conn);
	skb = conn->tx_pages;
	is_over = !rcu_access_pointer(conn->link) && !conn->tx_inflight;
	if (!skb || (!is_over && smc_pages_end(skb) > conn->ctl.tx_fin))
		return NULL;
	WRITE_ONCE(conn->tx_pages, skb->next);
	skb_mark_not_on_list(skb);
	return skb;
}

/**
 * smc_pages_reap() - release pages that were sent, or will not be
 * @conn: the connection; the caller holds a reference
 *
 * Reports the notices of MSG_ZEROCOPY that are due.
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_pages_reap(struct smc_conn *conn)
{
	struct sk_buff *skb;

	/* pairs with WRITE_ONCE() above: a range that is added now is not due */
	if (!READ_ONCE(conn->tx_pages))
		return;
	while ((skb = pages_take_done(conn)))
		consume_skb(skb);
}
