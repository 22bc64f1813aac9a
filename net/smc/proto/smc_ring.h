/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Planning of transfers from a send ring into the peer's element, and the
 * rules for holding data back and for window updates.
 */
#ifndef _SMC_RING_H
#define _SMC_RING_H

#include <linux/types.h>

#include "proto/smc_cursor.h"

/* A piece of a ring without a wrap in it; off counts from the element. */
struct smc_seg {
	u32	off;
	u32	len;
};

/* A ring's end cuts a contiguous range of cursors into at most two pieces. */
#define SMC_RING_SEGS	2

/* One RDMA WRITE: one destination, gathered from one or two pieces. */
struct smc_xfer_part {
	u32		off;	/* in the peer's element */
	u32		len;
	u8		nr_src;
	struct smc_seg	src[SMC_RING_SEGS];	/* in the send ring */
};

/* What one CDC announces: all of len, written by nr_parts RDMA WRITEs. */
struct smc_xfer {
	struct smc_xfer_part	part[SMC_RING_SEGS];
	u8			nr_parts;
	u32			len;
};

/* What a receiver weighs before it sends a window update of its own. */
struct smc_ring_update {
	struct smc_geom		geom;
	struct smc_cursor	prod;
	struct smc_cursor	cons;
	struct smc_cursor	cons_sent;	/* as the writer knows it */
	bool			is_awaited;	/* peer's B or R, or urgent byte passed */
};

/* What a sender weighs before it sends what little it has. */
struct smc_ring_hold {
	u32	unsent;
	u32	ring;		/* space of the send ring */
	u32	most;		/* never hold back more than this (autocorking) */
	u32	window;		/* what the peer has room for */
	u32	peer_ring;	/* space of its element */
	bool	is_inflight;	/* a message has not completed */
	bool	is_corked;	/* MSG_MORE or TCP_CORK, time not up */
	bool	is_nodelay;	/* TCP_NODELAY */
	bool	is_urgent;	/* an urgent byte is among it */
	bool	is_flushed;	/* it has waited long enough, or must go */
};

u32 smc_ring_segs(struct smc_geom geom, struct smc_cursor from, u32 len,
		  struct smc_seg seg[SMC_RING_SEGS]);
u32 smc_ring_window(struct smc_geom geom, struct smc_cursor prod,
		    struct smc_cursor cons);
void smc_ring_plan(struct smc_geom src, struct smc_cursor sent,
		   struct smc_cursor prep, struct smc_geom dst,
		   struct smc_cursor prod, struct smc_cursor cons, u32 limit,
		   struct smc_xfer *x);
bool smc_ring_is_held_back(const struct smc_ring_hold *h);
bool smc_ring_is_update_due(const struct smc_ring_update *u);

#endif /* _SMC_RING_H */
