// SPDX-License-Identifier: GPL-2.0
/* Plans of transfers, RFC 7609 4.7, window updates, 4.5.1, and delayed sending, 4.5.2 */
#include <linux/minmax.h>

#include "proto/smc_ring.h"

/**
 * smc_ring_segs() - split a range of a ring at the ring's end
 * @size: of the ring
 * @base: start of its data
 * @off: start of the range
 * @len: its length, at most the ring's space
 * @seg: receives the pieces in stream order
 *
 * RFC 7609 Section 4.7.4 (TX-03, CUR-09). No piece touches the bytes below the base (TX-05).
 *
 * Context: Any context.
 * Return: the number of pieces, 0 for an empty range.
 */
u32 smc_ring_segs(u32 size, u32 base, u32 off, u32 len, struct smc_seg seg[SMC_RING_SEGS])
{
	u32 first = min(len, size - off);

	if (!len)
		return 0;
	seg[0] = (struct smc_seg){ .off = off, .len = first };
	if (first == len)
		return 1;
	seg[1] = (struct smc_seg){ .off = base, .len = len - first };
	return 2;
}

/* A smaller message costs more events than it gains by overlap. */
#define SMC_RING_MESSAGE_MIN	32768U

/**
 * smc_ring_message() - limit what one message of a bulk transfer announces
 * @src: capacity of the send ring
 * @dst: capacity of the peer's element
 *
 * With a quarter of the smaller ring, the application fills one part, the RNIC moves another and
 * the peer's application reads a third.
 *
 * Context: Any context.
 * Return: bytes: a quarter, but at least 32 KiB.
 */
u32 smc_ring_message(u32 src, u32 dst)
{
	return max(min(src, dst) / 4, SMC_RING_MESSAGE_MIN);
}

/*
 * Plan the RDMA WRITEs of @len bytes from the position @pos on, from the send ring, whose @size is
 * a power of two, to the peer's element. They are in the ring, and inside of the window. The rings'
 * ends split the plan into up to two destinations of up to two sources each. RFC 7609 4.7; TX-03,
 * TX-05, BLK-03.
 */
void smc_ring_plan(u32 size, const struct smc_edge *dst, u64 pos, u32 len, struct smc_xfer *x)
{
	struct smc_seg to[SMC_RING_SEGS];
	u32 i;

	x->pos = pos;
	x->len = len;
	x->nr_parts = smc_ring_segs(dst->size, dst->base, smc_edge_off(dst, pos), len, to);
	for (i = 0; i < x->nr_parts; i++) {
		struct smc_xfer_part *part = &x->part[i];

		part->off = to[i].off;
		part->len = to[i].len;
		part->nr_src = smc_ring_segs(size, 0, pos & (size - 1), part->len, part->src);
		pos += part->len;
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
 * its @window, and the update adds a @gain of at least a tenth of the element (WIN-02 to WIN-06,
 * AMB-13). If it is awaited, since the writer is blocked (WIN-08), requested an update (WIN-09) or
 * sent an urgent byte that was read (URG-06), any gain is due. Deployed writers set B before they
 * wait for space, so they never wait for less than the tenth. RFC 7609 4.5.1.
 */
bool smc_ring_is_update_due(const struct smc_edge *e, u32 window, u32 gain, bool is_awaited)
{
	if (!gain || is_awaited)
		return gain;
	return window < e->size / 2 && gain >= e->size / 10;
}
