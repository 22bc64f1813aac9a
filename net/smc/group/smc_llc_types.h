/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a link group embeds for its LLC engine. The objects below the engine
 * only hold and never read it; smc_llc.c and the files that it names do.
 */
#ifndef _SMC_LLC_TYPES_H
#define _SMC_LLC_TYPES_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "rdma/smc_buf.h"
#include "proto/smc_llc_flow.h"
#include "rdma/smc_wr.h"

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
 * struct smc_llc_long - where a long ADD LINK is built
 * @pair: its list
 * @msg: itself
 */
struct smc_llc_long {
	struct smc_llc_pair pair[SMC_LLC_LONG_KEYS];
	u8 msg[SMC_WR_RECV_MAX];
};

/* What is to be done about a link without lgr->lock. */
enum smc_llc_todo {
	SMC_LLC_TODO_CREATE	= 0x01,
	SMC_LLC_TODO_PREPARE	= 0x02,
	SMC_LLC_TODO_STOP	= 0x04,
	SMC_LLC_TODO_DESTROY	= 0x08,	/* and nothing else */
};

/**
 * struct smc_llc_order - what is to be done about a link
 * @todo: bits of &enum smc_llc_todo
 * @end: RNIC to create the link on, or the peer's end to connect it to
 * @is_bare: no area is mapped on the link that is created
 * @must_reach: client, to create: the link that the server offers ends at
 *		@peer_gid
 * @peer_gid: see there
 * @is_direct: server, to create: no gateway is on the way of the link that there is
 */
struct smc_llc_order {
	unsigned int todo;
	struct smc_llc_end end;
	bool is_bare;
	bool must_reach;
	u8 peer_gid[SMC_GID_LEN];
	bool is_direct;
};

/**
 * struct smc_llc_task - work on one link that may take long
 * @work: on the queue of the groups
 * @lgr: the group
 * @index: link index
 * @order: under lgr->lock
 */
struct smc_llc_task {
	struct work_struct work;
	struct smc_link_group *lgr;
	u8 index;
	struct smc_llc_order order;
};

static_assert(SMC_LLC_LINKS == SMC_LINKS_MAX);

/**
 * struct smc_llc - the LLC engine of a link group
 * @flow: the machine; under lgr->lock
 * @actions: scratch of the worker; under lgr->lock
 * @probe: for the last message of first contact that may still be followed by
 *	a Decline; written before SMC_LLC_EV_START, used once by the worker
 * @start: for SMC_LLC_EV_START; const once that is queued
 * @work: feeds queued events to @flow; a work item never runs twice at a time,
 *	which makes it the one ordered worker of its link group
 * @task: makes links, brings them up, takes them down; by link index
 * @sweep_work: gives back areas that nobody has used for long, or whose memory
 *	is wanted; on the queue of those that wait for peers, as this does
 * @sweep_want: bytes that are to go back however short they have been unused
 * @timer: fires at the deadline of @flow
 * @lan: what further ports have to be like; const once @wants_links
 * @wants_links: the group may have several links
 * @rnics: ports that could carry links when last looked, under @queue_lock
 * @nr_looks: how often somebody has begun to look, under @queue_lock
 * @last_look: which of them has seen @rnics, under @queue_lock
 * @told: our RMBs that the peer knew when the link that is being added was
 *	  created, and has to be told of again, NULL if forgotten meanwhile;
 *	  under lgr->lock
 * @nr_told: length of @told
 * @msg: the long message of the event that @flow is fed, NULL if it is none;
 *	under lgr->lock
 * @kept: the ADD LINK whose keys @flow wants later, or NULL; under lgr->lock
 * @kept_rkeys: the same, a DELETE RKEY
 * @long_buf: scratch, once a group of version 2 has tried for another link; under
 *	lgr->lock
 * @long_page: for the next message that is longer than its slot; under lgr->lock
 * @swept_at: when @sweep_work was queued by time, in ms, or the group came up; 0
 *	before that; under lgr->lock
 * @sweep_again: some areas could not be withdrawn; under lgr->lock
 * @balance_at: when connections are to be spread over the links, in ms; under lgr->lock
 * @is_ready: the engine can be told something; its group is known a little earlier
 * @queue_lock: spinlock, irq safe; guards @queue, @head, @nr, @nr_rx, @to_probe,
 *		@is_overrun, @is_closed, @requests, @rnics, @nr_looks and @last_look
 * @queue: ring of events
 * @head: oldest entry
 * @nr: entries in use
 * @nr_rx: of them received messages
 * @to_probe: links that are to be probed, a mask of indices
 * @is_overrun: @queue was full, or the peer sent more than SMC_LLC_RX_QUEUED
 * @is_closed: no event or request is taken any more
 * @idle_at: when a group without connections ends, in ms; 0 for never;
 *	     without a lock (READ_ONCE(), WRITE_ONCE())
 * @is_surplus: it ends now, if it still has none; without a lock
 * @requests: RKEY requests of this side, waiting in line
 * @current_req: the one that @flow is working on; under lgr->lock
 */
struct smc_llc {
	struct smc_llc_flow flow;
	struct smc_llc_actions actions;
	struct smc_llc_start start;
	struct smc_llc_probe probe;
	struct work_struct work;
	struct smc_llc_task task[SMC_LLC_LINKS];
	struct work_struct sweep_work;
	struct delayed_work timer;
	struct smc_ib_lan lan;
	bool wants_links;
	struct smc_llc_rnics rnics;
	u32 nr_looks;
	u32 last_look;
	struct smc_buf *told[SMC_BUF_MAX_AREAS];
	unsigned int nr_told;
	u8 *msg;
	u8 *kept;
	u8 *kept_rkeys;
	struct smc_llc_long *long_buf;
	u8 *long_page;
	u64 swept_at;
	bool sweep_again;
	atomic_long_t sweep_want;
	u64 balance_at;
	bool is_ready;
	spinlock_t queue_lock;	/* innermost, but for the locks of work queues */
	struct smc_llc_item queue[SMC_LLC_QUEUED];
	unsigned int head;
	unsigned int nr;
	unsigned int nr_rx;
	unsigned long to_probe;
	bool is_overrun;
	bool is_closed;
	u64 idle_at;
	bool is_surplus;
	struct list_head requests;
	struct smc_llc_request *current_req;
};

#endif /* _SMC_LLC_TYPES_H */
