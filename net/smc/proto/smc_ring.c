// SPDX-License-Identifier: GPL-2.0
/* Plans of transfers, RFC 7609 4.7, window updates, 4.5.1, and delayed sending, 4.5.2 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "proto/smc_ring.h"

/**
 * smc_ring_segs() - split a range of a ring at the ring's end
 * @geom: the ring
 * @from: start of the range, a valid cursor
 * @len: its length, at most the ring's space
 * @seg: receives the pieces in stream order
 *
 * RFC 7609 Section 4.7.4 (TX-03, CUR-09). No piece touches the bytes below the base (TX-05).
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
 * smc_ring_window() - compute the free space in the peer's element
 * @geom: the element
 * @prod: the writer's producer cursor
 * @cons: the reader's consumer cursor as last received
 *
 * RFC 7609 Section 4.5.1 (WIN-01, CUR-07, CUR-08, CUR-10).
 *
 * Context: Any context.
 * Return: bytes; 0 for an impossible pair of cursors.
 */
u32 smc_ring_window(struct smc_geom geom, struct smc_cursor prod,
		    struct smc_cursor cons)
{
	int used = smc_cursor_distance(geom, cons, prod);

	return used < 0 ? 0 : smc_geom_space(geom) - used;
}

/* A smaller message costs more events than it gains by overlap. */
#define SMC_RING_MESSAGE_MIN	32768U

/**
 * smc_ring_message() - limit what one message of a bulk transfer announces
 * @src: the send ring
 * @dst: the peer's element
 *
 * With a quarter of the smaller ring, the application fills one part, the RNIC moves another and
 * the peer's application reads a third.
 *
 * Context: Any context.
 * Return: bytes: a quarter, but at least 32 KiB.
 */
u32 smc_ring_message(struct smc_geom src, struct smc_geom dst)
{
	return max(min(smc_geom_space(src), smc_geom_space(dst)) / 4, SMC_RING_MESSAGE_MIN);
}

/*
 * Plan the RDMA WRITEs that one CDC announces: from @sent on in the send ring @src, to @prod on in
 * the peer's element @dst. The end of the data @prep, the window up to @cons, and @limit bound the
 * plan. The rings' ends split it into up to two destinations of up to two sources each. Impossible
 * cursors yield an empty plan. The caller holds the cursors' lock until it has posted the plan and
 * smc_cdc_build() has advanced them. RFC 7609 4.7; TX-03, TX-05, TX-06, BLK-01, BLK-03.
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
 * smc_ring_is_held_back() - decide whether data waits before it is sent
 * @h: state of the send ring, the window and the socket options
 *
 * Less than a full message, or than half a small ring, waits for the completion of the message in
 * flight; if none is in flight, it is sent (TX-06). Also with TCP_NODELAY (TX-08): the completion
 * comes from the peer's RNIC and waits for no application, so this is TCP's autocorking and not
 * Nagle's algorithm. Corked data waits for a full message or a timer (TX-07), as with TCP. If the
 * window is smaller than the data and than a tenth of the peer's ring, data waits for the message
 * in flight, even if flushed: otherwise a slow reader would cost one message per few bytes. Urgent
 * data never waits. RFC 7609 Section 4.5.2.
 *
 * Context: Any context.
 * Return: true if the data waits.
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
		return h->unsent < h->enough;
	return h->is_inflight && h->unsent < h->enough && h->unsent <= h->most;
}

/*
 * True if a CDC is due although no data is sent: if the peer sees less than half of the element as
 * its window and the update adds at least a tenth of the element (WIN-02 to WIN-06, AMB-13). If the
 * writer is blocked (WIN-08), requested an update (WIN-09) or sent an urgent byte that was read
 * (URG-06), any progress is due. Deployed writers set B before they wait for space, so they never
 * wait for less than the tenth. RFC 7609 4.5.1.
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
