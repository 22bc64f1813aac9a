/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Plans of transfers from a send ring to the peer's element, and the decisions when to delay data
 * and when to send a window update.
 */
#ifndef _SMC_RING_H
#define _SMC_RING_H

#include <linux/types.h>

#include "proto/smc_cursor.h"

/* A contiguous piece of a ring; off is from the start of the element. */
struct smc_seg {
	u32	off;
	u32	len;
};

/* The ring's end splits a range into at most two pieces. */
#define SMC_RING_SEGS	2

/* One RDMA WRITE: one destination, one or two source pieces */
struct smc_xfer_part {
	u32		off;	/* in the peer's element */
	u32		len;
	u8		nr_src;
	struct smc_seg	src[SMC_RING_SEGS];	/* in the send ring */
};

/* What one CDC announces: len bytes from the position pos on, written by nr_parts RDMA WRITEs */
struct smc_xfer {
	struct smc_xfer_part	part[SMC_RING_SEGS];
	u8			nr_parts;
	u32			len;
	u64			pos;
};

/* Input of smc_ring_is_held_back() */
struct smc_ring_hold {
	u32	unsent;
	u32	enough;		/* this much does not wait: a full message, or half the send ring */
	u32	most;		/* upper limit of held back bytes (autocorking) */
	u32	window;		/* free space in the peer's element */
	u32	peer_ring;	/* capacity of the peer's element */
	bool	is_inflight;	/* a message is in flight */
	bool	is_corked;	/* MSG_MORE or TCP_CORK, timer not expired */
	bool	is_urgent;	/* the data contains an urgent byte */
	bool	is_flushed;	/* flushed by a timer or by the caller */
};

u32 smc_ring_segs(u32 size, u32 base, u32 off, u32 len, struct smc_seg seg[SMC_RING_SEGS]);
u32 smc_ring_message(u32 src, u32 dst);
void smc_ring_plan(u32 size, const struct smc_edge *dst, u64 pos, u32 len, struct smc_xfer *x);
bool smc_ring_is_held_back(const struct smc_ring_hold *h);
bool smc_ring_is_update_due(const struct smc_edge *e, u32 window, u32 gain, bool is_awaited);

#endif /* _SMC_RING_H */
