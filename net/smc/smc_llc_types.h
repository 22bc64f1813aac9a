/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a link group embeds for its LLC engine. The objects below the engine
 * only hold and never read it; smc_llc.c does.
 */
#ifndef _SMC_LLC_TYPES_H
#define _SMC_LLC_TYPES_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "smc_llc_flow.h"

struct smc_llc_request;

enum smc_llc_queue_limit {
	SMC_LLC_RX_QUEUED	= 32,	/* a peer that sends faster is out of sync */
	SMC_LLC_QUEUED		= 128,	/* and room for what this side adds */
};

/**
 * struct smc_llc_item - an event on its way to the worker
 * @type: enum smc_llc_event_type
 * @link: link index
 * @ok: outcome
 * @len: bytes that arrived, may exceed what @raw keeps; with EV_MSG
 * @cookie: of a send; reason with EV_REQ_TERMINATE
 * @raw: a received message, still to be decoded; with EV_MSG
 * @more: in place of @raw the whole of a long one; the ring's until it is decoded
 */
struct smc_llc_item {
	enum smc_llc_event_type type;
	u8 link;
	bool ok;
	u32 len;
	u64 cookie;
	u8 raw[SMC_LLC_LEN];
	u8 *more;
};

/**
 * struct smc_llc_probe - a write of zeros that proves the path before data do
 * @raddr: into the peer's element of the first connection, still unused
 * @laddr: zeros, as many
 * @rkey: for @raddr
 * @lkey: for @laddr
 * @len: bytes, the path MTU; 0 for no probe
 */
struct smc_llc_probe {
	u64 raddr;
	u64 laddr;
	u32 rkey;
	u32 lkey;
	u32 len;
};

/**
 * struct smc_llc - the LLC engine of a link group
 * @flow: the machine; under lgr->lock
 * @actions: scratch of the worker; under lgr->lock
 * @probe: for the last message of first contact that may still be followed by
 *	a Decline; written before SMC_LLC_EV_START, used once by the worker
 * @start: for SMC_LLC_EV_START; const once that is queued
 * @work: feeds queued events to @flow; a work item never runs twice at a time,
 *	which makes it the one ordered worker of its link group
 * @prepare_work: brings a link up and registers its buffers
 * @sweep_work: gives back areas that nobody has used for long, or whose memory
 *	is wanted; on the queue of the groups, since it waits for @work
 * @sweep_want: bytes that are to go back however short they have been unused
 * @spare_work: creates and destroys the queue pair of a second link
 * @timer: fires at the deadline of @flow
 * @prepare_link: link index for @prepare_work; const while that is queued
 * @spare_link: link index for @spare_work; under lgr->lock
 * @is_spare_wanted: @spare_work creates, otherwise it destroys; under lgr->lock
 * @sweep_at: when to queue @sweep_work, in ms; 0 for never; under lgr->lock
 * @queue_lock: spinlock, irq safe; guards the fields below but the last
 * @queue: ring of events
 * @head: oldest entry
 * @nr: entries in use
 * @nr_rx: of them received messages
 * @is_overrun: @queue was full, or the peer sent more than SMC_LLC_RX_QUEUED
 * @is_closed: no event or request is taken any more
 * @idle_at: when a group without connections ends, in ms; 0 for never
 * @requests: RKEY requests of this side, waiting in line
 * @current_req: the one that @flow is working on; under lgr->lock
 */
struct smc_llc {
	struct smc_llc_flow flow;
	struct smc_llc_actions actions;
	struct smc_llc_start start;
	struct smc_llc_probe probe;
	struct work_struct work;
	struct work_struct prepare_work;
	struct work_struct spare_work;
	struct work_struct sweep_work;
	struct delayed_work timer;
	u8 prepare_link;
	u8 spare_link;
	bool is_spare_wanted;
	u64 sweep_at;
	atomic_long_t sweep_want;
	spinlock_t queue_lock;	/* innermost, but for the locks of work queues */
	struct smc_llc_item queue[SMC_LLC_QUEUED];
	unsigned int head;
	unsigned int nr;
	unsigned int nr_rx;
	bool is_overrun;
	bool is_closed;
	u64 idle_at;
	struct list_head requests;
	struct smc_llc_request *current_req;
};

#endif /* _SMC_LLC_TYPES_H */
