/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of the LLC engine that each link group embeds. Only the engine (smc_llc.c
 * and the files named there) reads it.
 */
#ifndef _SMC_LLC_TYPES_H
#define _SMC_LLC_TYPES_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "proto/smc_llc_flow.h"
#include "rdma/smc_buf.h"
#include "rdma/smc_wr.h"

struct smc_llc_request;

enum smc_llc_queue_limit {
	SMC_LLC_RX_QUEUED	= 32,	/* a peer that sends faster is out of sync */
	SMC_LLC_QUEUED		= 128,	/* plus room for events of this side */
};

/**
 * struct smc_llc_item - an event queued for the worker
 * @type: enum smc_llc_event_type
 * @link: link index
 * @ok: outcome
 * @len: length of the received message, may exceed @raw; for EV_MSG
 * @cookie: of a send; reason for EV_REQ_TERMINATE
 * @raw: the received message, not decoded; for EV_MSG
 * @more: a message longer than @raw in full; owned by the ring until decoded
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
 * struct smc_llc_probe - a write of zeros that proves the path before data uses it
 * @raddr: in the peer's element of the first connection, still unused
 * @laddr: source, @len zeros
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
 * struct smc_llc_long - scratch to build a long ADD LINK
 * @pair: its list of keys
 * @msg: the encoded message
 */
struct smc_llc_long {
	struct smc_llc_pair pair[SMC_LLC_LONG_KEYS];
	u8 msg[SMC_WR_RECV_MAX];
};

/* Work on a link that must not run under lgr->lock. */
enum smc_llc_todo {
	SMC_LLC_TODO_CREATE	= 0x01,
	SMC_LLC_TODO_PREPARE	= 0x02,
	SMC_LLC_TODO_STOP	= 0x04,
	SMC_LLC_TODO_DESTROY	= 0x08,	/* overrides all others */
};

/**
 * struct smc_llc_order - pending work on a link
 * @todo: bits of &enum smc_llc_todo
 * @end: RNIC to create the link on, or the peer's end to connect it to
 * @is_bare: map no region on the new link
 * @must_reach: client, create: the offered link ends at @peer_gid
 * @peer_gid: see @must_reach
 * @is_direct: server, create: the existing link crosses no gateway
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
 * struct smc_llc_task - work on one link that may take seconds
 * @work: queued by smc_core_queue()
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

/**
 * struct smc_llc - the LLC engine of a link group
 * @flow: the state machine; under lgr->lock
 * @actions: scratch of the worker; under lgr->lock
 * @start: for SMC_LLC_EV_START; const once that is queued
 * @probe: for the last message of first contact that a Decline may follow; written
 *	before SMC_LLC_EV_START, used once by the worker
 * @work: the worker: feeds queued events to @flow; a work item never runs twice at a
 *	time, so events of a group stay in order
 * @task: creates, prepares, stops and destroys links; by link index
 * @sweep_work: gives idle regions back; on the queue of items that wait for peers
 * @timer: fires at the deadline of @flow
 * @lan: requirements on further ports; const once @wants_links
 * @peer_gid: the peer's GID of the first link; const once @wants_links
 * @wants_links: the group may have several links
 * @rnics: ports that could carry links, from the last scan; under @queue_lock
 * @nr_scans: number of scans begun; under @queue_lock
 * @last_scan: the scan that filled @rnics; under @queue_lock
 * @announced: our RMBs to announce for the link being added: those the peer knew when
 *	the link was created, NULL if deleted since; under lgr->lock
 * @nr_announced: length of @announced
 * @msg: long message of the event being fed to @flow, or NULL; under lgr->lock
 * @kept: ADD LINK whose keys @flow needs later, or NULL; under lgr->lock
 * @kept_rkeys: DELETE RKEY that @flow needs later, or NULL; under lgr->lock
 * @long_buf: scratch, allocated by the first attempt of a version 2 group to add a
 *	link; under lgr->lock
 * @long_page: for the next message longer than its slot; under lgr->lock
 * @swept_at: when @sweep_work was last queued by time or the group came up, in ms; 0
 *	before; under lgr->lock
 * @sweep_retry: some RMBs could not be withdrawn; under lgr->lock
 * @sweep_want: bytes to give back regardless of their idle time
 * @has_new_link: connections are to be spread over the links; under lgr->lock
 * @is_ready: the engine takes events; set shortly after the group is listed
 * @queue_lock: spinlock, irq safe; guards @queue, @head, @nr, @nr_rx, @to_probe,
 *		@to_prove, @stalled, @is_overrun, @is_closed, @requests, @rnics, @nr_scans and
 *		@last_scan
 * @queue: ring of events
 * @head: oldest entry
 * @nr: entries in use
 * @nr_rx: of them received messages
 * @to_probe: links to probe, a mask of indices
 * @to_prove: those that are lost without a reply, even the last one
 * @stalled: links on which nothing completes
 * @is_overrun: @queue was full, or the peer exceeded SMC_LLC_RX_QUEUED
 * @is_closed: events and requests are refused
 * @idle_at: when a group without connections ends, in ms; 0 for never; accessed
 *	     without a lock by READ_ONCE() and WRITE_ONCE()
 * @armed_at: when the worker runs at the latest, in ms; same
 * @is_surplus: end now if there is still no connection; without a lock
 * @requests: queued RKEY requests of this side
 * @current_req: the request that @flow works on; under lgr->lock
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
	u8 peer_gid[SMC_GID_LEN];
	bool wants_links;
	struct smc_llc_rnics rnics;
	u32 nr_scans;
	u32 last_scan;
	struct smc_buf *announced[SMC_BUF_MAX_REGIONS];
	unsigned int nr_announced;
	u8 *msg;
	u8 *kept;
	u8 *kept_rkeys;
	struct smc_llc_long *long_buf;
	u8 *long_page;
	u64 swept_at;
	bool sweep_retry;
	atomic_long_t sweep_want;
	bool has_new_link;
	bool is_ready;
	spinlock_t queue_lock;	/* innermost, except for locks of work queues */
	struct smc_llc_item queue[SMC_LLC_QUEUED];
	unsigned int head;
	unsigned int nr;
	unsigned int nr_rx;
	unsigned long to_probe;
	unsigned long to_prove;
	unsigned long stalled;
	bool is_overrun;
	bool is_closed;
	u64 idle_at;
	u64 armed_at;
	bool is_surplus;
	struct list_head requests;
	struct smc_llc_request *current_req;
};

#endif /* _SMC_LLC_TYPES_H */
