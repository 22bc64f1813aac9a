// SPDX-License-Identifier: GPL-2.0
/*
 * Planning of transfers, RFC 7609 Section 4.7, and the rules for window
 * updates, Section 4.5.1, and for holding data back, Section 4.5.2.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "proto/smc_ring.h"

/**
 * smc_ring_segs() - cut a range of a ring at the ring's end
 * @geom: the ring
 * @from: where the range begins, a valid cursor
 * @len: its length, at most the ring's space
 * @seg: receives the pieces in stream order
 *
 * RFC 7609 Section 4.7.4 (TX-03, CUR-09). No piece ever touches the bytes in
 * front of the geometry's base (TX-05).
 *
 * Context: Any context.
 * Return: the number of pieces, 0 for an empty range.
 */
u32 smc_ring_segs(struct smc_geom geom, struct smc_cursor from, u32 len,
		  struct smc_seg seg[SMC_RING_SEGS])
{
	u32 first = min(len, geom.size - from.off);

	if (!len)
		return 0;
	seg[0] = (struct smc_seg){ .off = from.off, .len = first };
	if (first == len)
		return 1;
	seg[1] = (struct smc_seg){ .off = geom.base, .len = len - first };
	return 2;
}

/**
 * smc_ring_window() - how much a writer may put into the peer's element
 * @geom: the element
 * @prod: the writer's producer cursor
 * @cons: the reader's consumer cursor as last received
 *
 * RFC 7609 Section 4.5.1 (WIN-01, CUR-07, CUR-08, CUR-10).
 *
 * Context: Any context.
 * Return: bytes; 0 also for a pair of cursors that no ring can have.
 */
u32 smc_ring_window(struct smc_geom geom, struct smc_cursor prod,
		    struct smc_cursor cons)
{
	int used = smc_cursor_distance(geom, cons, prod);

	return used < 0 ? 0 : smc_geom_space(geom) - used;
}

/**
 * smc_ring_plan() - plan the RDMA WRITEs that one CDC will announce
 * @src: the send ring
 * @sent: first byte of it not yet written
 * @prep: end of what the application has put there
 * @dst: the peer's element
 * @prod: producer cursor
 * @cons: consumer cursor as last received
 * @limit: write no more than this
 * @x: receives the plan
 *
 * As much as all four bounds allow: what is unsent, the window, @limit, and
 * the rings' ends, which make up to two destinations of up to two sources
 * each. Impossible cursors yield an empty plan. RFC 7609 Section 4.7
 * (TX-03, TX-05, TX-06, BLK-01, BLK-03).
 *
 * Context: any; the caller's lock keeps the cursors still until the plan was
 * posted and smc_cdc_build() has advanced them.
 */
void smc_ring_plan(struct smc_geom src, struct smc_cursor sent,
		   struct smc_cursor prep, struct smc_geom dst,
		   struct smc_cursor prod, struct smc_cursor cons, u32 limit,
		   struct smc_xfer *x)
{
	u32 window = smc_ring_window(dst, prod, cons);
	int unsent = smc_cursor_distance(src, sent, prep);
	struct smc_seg to[SMC_RING_SEGS];
	u32 i;

	memset(x, 0, sizeof(*x));
	if (unsent <= 0)
		return;
	x->len = min3((u32)unsent, window, limit);
	x->nr_parts = smc_ring_segs(dst, prod, x->len, to);
	for (i = 0; i < x->nr_parts; i++) {
		struct smc_xfer_part *part = &x->part[i];

		part->off = to[i].off;
		part->len = to[i].len;
		part->nr_src = smc_ring_segs(src, sent, part->len, part->src);
		sent = smc_cursor_advance(src, sent, part->len);
	}
}

/**
 * smc_ring_is_held_back() - may more data still come before this is sent
 * @h: what there is, and what the application wants
 *
 * Up to half a ring waits for the message in flight, whose completion sends it
 * (TX-06: nothing is in flight, nothing waits), unless Nagle is disabled
 * (TX-08). Corked data waits for half a ring or for a timer (TX-07), Nagle or
 * not, as with TCP. More data than the peer has room for waits for the message in
 * flight, too, until it has room for a tenth of its ring, Nagle or not and whatever was
 * flushed: a reader of few bytes at a time would cost a message each. Urgent data waits
 * for nothing.
 *
 * RFC 7609 Section 4.5.2.
 *
 * Context: Any context.
 * Return: true if it waits.
 */
bool smc_ring_is_held_back(const struct smc_ring_hold *h)
{
	if (h->is_urgent)
		return false;
	if (h->is_inflight && h->window < h->unsent && h->window < h->peer_ring / 10)
		return true;
	if (h->is_flushed)
		return false;
	if (h->is_corked)
		return h->unsent < h->ring / 2;
	if (!h->is_inflight || h->is_nodelay)
		return false;
	return h->unsent <= min(h->ring / 2, h->most);
}

/**
 * smc_ring_is_update_due() - does the peer need to hear of our consumer cursor
 * @u: the cursors of our element and what the peer asked for
 *
 * Without a special reason only if the peer sees less than half of the buffer
 * as its window and would see at least a tenth more (WIN-02 to WIN-06; fifty
 * and ten percent of the whole element, AMB-13). A blocked writer (WIN-08), a
 * request (WIN-09) and an urgent byte that was read past (URG-06) are special
 * reasons: then any news is due. A deployed writer too always sets B before it
 * waits for space, so that it never waits below the tenth.
 *
 * RFC 7609 Section 4.5.1.
 *
 * Context: Any context.
 * Return: true if a CDC should be sent only to tell the peer.
 */
bool smc_ring_is_update_due(const struct smc_ring_update *u)
{
	int gain = smc_cursor_distance(u->geom, u->cons_sent, u->cons);
	u32 window;

	if (gain <= 0)
		return false;
	if (u->is_awaited)
		return true;
	window = smc_ring_window(u->geom, u->prod, u->cons_sent);
	return window < u->geom.size / 2 && gain >= u->geom.size / 10;
}
