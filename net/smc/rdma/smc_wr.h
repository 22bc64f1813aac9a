/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queues of one link: send slots, receives, the completion queues and the RC
 * queue pair itself. Handles bytes and work requests, not messages.
 */
#ifndef SMC_WR_H
#define SMC_WR_H

#include <linux/irq_poll.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "rdma/smc_ib.h"

#define SMC_WR_MSG_LEN		44	/* every CDC and LLC message, LLC-01; but ... */
#define SMC_WR_LONG_LEN		128	/* ... of version 2 in LLC's slots ... */
#define SMC_WR_RECV_MAX		4160	/* ... and this with a page for the rest */
#define SMC_WR_MAX_WRITES	2	/* destination ring wraps once */
#define SMC_WR_MIN_SGE		SMC_CAP_MIN_SGE
#define SMC_WR_MAX_SGE		SMC_CAP_MAX_SGE
#define SMC_WR_RECV_SGE		2	/* a receive, and SMC_WR_PAGE_MORE; if the device can */
#define SMC_WR_CTRL_SLOTS	8	/* for LLC */
#define SMC_WR_FLIGHT		8	/* short messages of one flow in flight, a power of two */
#define SMC_WR_SHORT_MAX	0x10000	/* bytes of a short message */
#define SMC_WR_BATCH		16	/* completions of a queue taken at once */
#define SMC_WR_REGS		4	/* registrations in flight */
#define SMC_WR_RECV_LEN		64	/* the rest of a longer message is in SMC_WR_PAGE_MORE */
#define SMC_WR_PAGE_MORE	0	/* before the pages of receives */
#define SMC_WR_PAGE_RECV	1

struct smc_wr;

enum smc_wr_class { SMC_WR_DATA, SMC_WR_CTRL };

/**
 * struct smc_wr_depth - how many work requests a link has; a small device has less
 * @nr_sends: slots of SMC_WR_DATA; half as many short messages may be in flight besides
 * @nr_recvs: receives
 */
struct smc_wr_depth {
	unsigned int nr_sends;
	unsigned int nr_recvs;
};

enum smc_wr_fault {		/* reason why a link is reported broken */
	SMC_WR_FAULT_SEND,	/* a send or write completed in error, or not at all */
	SMC_WR_FAULT_RECV,	/* a receive completed in error */
	SMC_WR_FAULT_POST,	/* a work request could not be posted */
	SMC_WR_FAULT_QP,	/* the device reported a QP event */
	SMC_WR_FAULT_PORT,	/* the port went down or lost its GID */
	SMC_WR_FAULT_DEVICE,	/* the device died */
	SMC_WR_FAULT_GOING,	/* the device is being removed or stopped, and may still work */
	SMC_WR_FAULT_PROTOCOL,	/* an engine found the peer out of sync (ERR-54) */
};

/**
 * struct smc_wr_ops - callbacks of a link's queues, set once by af_smc.c
 * @rx_cdc: a message with type 0xFE arrived; any length, not checked
 * @rx_llc: any other message arrived
 * @rx_imm: a WRITE with immediate data arrived; not checked, and perhaps not agreed on
 * @broken: the queues are no longer usable; called at most once per @wr
 * @stalled: nothing has completed for @quiet jiffies, or the port lacks carrier or GID; again with
 *	     each tick. May come just after @broken
 *
 * The first three run in completion context (softirq) with no lock held. @broken runs in
 * any context, hard interrupt included, under any lock that the caller of smc_wr_post() or
 * smc_wr_report() holds: it takes no lock of a connection and only queues work. @stalled runs in
 * process context under RCU. None may sleep.
 */
struct smc_wr_ops {
	void (*rx_cdc)(struct smc_wr *wr, const u8 *msg, u32 len);
	void (*rx_llc)(struct smc_wr *wr, const u8 *msg, u32 len);
	void (*rx_imm)(struct smc_wr *wr, u32 imm);
	void (*broken)(struct smc_wr *wr, enum smc_wr_fault fault);
	void (*stalled)(struct smc_wr *wr, unsigned long quiet);
};

/*
 * Completion callback of a SEND. @done runs in completion context, or in smc_wr_stop(), with no
 * lock held and must not sleep. Its tag is a copy that is valid during the call.
 */
struct smc_wr_tag {
	void (*done)(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok);
	void *owner;		/* the poster's, with a reference if needed */
	u64 cookie;
	u32 len;		/* payload bytes the message announced */
	u16 seq;
};

struct smc_wr_write {		/* one RDMA WRITE of a chain */
	u64 raddr;
	u32 rkey;
	u8 nr_sge;
	bool is_inline;	/* at most @max_inline bytes; addresses of the CPU */
	struct ib_sge *sge;	/* of the slot */
};

/**
 * struct smc_wr_slot - one message and the writes it announces
 * @cqe: completion of the SEND; the only signalled request of the chain
 * @write_cqe: of the WRITEs, which complete only in error; the SEND behind them is then flushed
 *	       and gives the slot back
 * @wr: the queues it belongs to
 * @class: which pool it came from
 * @tag: passed to @tag.done after the slot has been given back
 * @msg: the message, in a DMA-mapped page
 * @len: its length; 44 unless the poster sets another
 * @room: its maximum length
 * @msg_dma: DMA address of @msg
 * @more: page with the part of the message behind @room bytes, or NULL
 * @more_dma: DMA address of @more
 * @write: fill the first @nr_writes before smc_wr_post()
 * @nr_writes: RDMA WRITEs ahead of the SEND
 * @has_imm: the last WRITE has immediate data and takes the place of the SEND
 * @imm: that, in host order
 * @nr_bytes: bytes of the WRITEs; valid with @is_posted
 * @is_posted: its SEND has not completed
 * @node: in the free list of its class
 * @nr_sge: number of @sge in use
 * @mapped: bit i: @sge[i] is a mapped page, to be unmapped when the slot is given back
 * @sge: sources of all WRITEs
 */
struct smc_wr_slot {
	struct ib_cqe cqe;
	struct ib_cqe write_cqe;
	struct smc_wr *wr;
	enum smc_wr_class class;
	struct smc_wr_tag tag;
	u8 *msg;
	u32 len;
	u32 room;
	u64 msg_dma;
	u8 *more;
	u64 more_dma;
	struct smc_wr_write write[SMC_WR_MAX_WRITES];
	u8 nr_writes;
	bool has_imm;
	u32 imm;
	u32 nr_bytes;
	bool is_posted;
	struct list_head node;
	u8 nr_sge;
	unsigned long mapped;
	struct ib_sge sge[SMC_WR_MAX_SGE];
};

/* A short message in flight. */
struct smc_wr_flight {
	u32 len;	/* payload bytes */
	u16 seq;	/* the poster's */
};

/**
 * struct smc_wr_flow - the short messages of one poster: WRITEs that announce themselves
 * @cqe: completion of each; its done function is the poster's and begins with smc_wr_flow_done()
 * @wr: the queues that have it in @wr->flows, or NULL; under wr->lock
 * @node: there
 * @nr_posted: messages posted so far; this and the rest under the poster's lock
 * @nr_done: messages that have completed, in the order of posts
 * @flight: those that have not
 *
 * A short message needs no slot: its work request is built on the stack.
 */
struct smc_wr_flow {
	struct ib_cqe cqe;
	struct smc_wr *wr;
	struct list_head node;
	u16 nr_posted;
	u16 nr_done;
	struct smc_wr_flight flight[SMC_WR_FLIGHT];
};

/* A short message to be posted. */
struct smc_wr_short {
	const u8 *cpu;	/* the payload */
	u64 iova;	/* the same for the device */
	u32 lkey;
	u32 len;	/* 1..SMC_WR_SHORT_MAX */
	u64 raddr;
	u32 rkey;
	u32 imm;	/* immediate data in host order */
	u16 seq;
};

/* One receive, and its work request. */
struct smc_wr_recv {
	struct ib_cqe cqe;
	struct smc_wr *wr;
	u8 *msg;
	struct ib_recv_wr rwr;
	struct ib_sge sge[SMC_WR_RECV_SGE];
};

/*
 * The ACK timeout: with eight attempts the peer, its host or the network may be out for 4.3 s.
 * Adapters take up to four times as long, and soft-RoCE knows no limit.
 */
#define SMC_WR_ACK_EXPONENT	17

/* A link without completions is lost after this time: host and network may be busy, or out. */
#define SMC_WR_PATIENCE_MS	4000

/**
 * struct smc_wr_reg - a memory registration in flight, smc_wr_reg.c
 * @cqe: its completion
 * @wr: the queues
 * @node: in wr->regs, under wr->lock
 * @refs: one is the waiter's, who may give up before the device answers, one the work request's
 * @done: completes with @status
 * @status: the result
 */
struct smc_wr_reg {
	struct ib_cqe cqe;
	struct smc_wr *wr;
	struct list_head node;
	refcount_t refs;
	struct completion done;
	enum ib_wc_status status;
};

/* A page of messages and its DMA address. */
struct smc_wr_page {
	u8 *cpu;
	u64 dma;
};

/**
 * struct smc_wr_tick - handles completions of sends that are not awaited, and finds a stall
 * @work: runs while something is posted
 * @nr_quiet: consecutive runs without progress
 * @max_quiet: their limit
 * @nr_done: messages that had completed at the last run
 */
struct smc_wr_tick {
	struct delayed_work work;
	unsigned int nr_quiet;
	unsigned int max_quiet;
	u64 nr_done;
};

enum smc_wr_flag {
	SMC_WR_IS_OPEN,			/* posting is allowed: RTS, none failed, not stopped */
	SMC_WR_IS_STOPPED,		/* smc_wr_stop() was called */
	SMC_WR_IS_REPORTED,		/* ops->broken was called, or must not be any more */
	SMC_WR_IS_REFUSED,		/* the device has refused a change of state */
	SMC_WR_IS_AWAITED,		/* completions of sends cause events, see smc_wr_await() */
	SMC_WR_IS_KEPT,			/* the device did not give up the queue pair */
};

/**
 * struct smc_wr - the queues of one link
 * @ops: callbacks
 * @end: local end, with a device reference until smc_wr_destroy()
 * @qpn: number of the queue pair; remains valid for display when that is gone
 * @dev_name: of the device, when the queues were made; remains valid as well
 * @watch: checks the end's port and device after an event
 * @down_since: while the port lacks carrier or GID: since when, in jiffies; else 0. Of @watch
 * @tick: looks after completions that cause no event
 * @counts: what happened on the link
 * @pd: one per link, RMB-06, AMB-18
 * @send_cq: completions of the send queue
 * @recv_cq: completions of the receive queue
 * @poll: handles both, one task at a time
 * @wc: completions in work: receives, sends; of the task that owns @poll
 * @refill: receives to be posted again, chained; of the same task
 * @qp: the RC queue pair; NULL once smc_wr_destroy() has destroyed it, or smc_wr_stop() because
 *	the device refused a change of state or completions are missing
 * @max_inline: bytes the device takes inline, 0 or at least SMC_WR_MSG_LEN
 * @max_sge: sources of one WRITE, SMC_WR_MIN_SGE..SMC_WR_MAX_SGE
 * @max_pages: of one fast registration
 * @credits: short messages that may be posted
 * @nr_credits: their number while none is in flight
 * @lock: wr->lock of the lock order, innermost: @free, @nr_free, @regs, @flows
 * @free: slots by &enum smc_wr_class
 * @nr_free: their numbers
 * @regs: registrations in flight
 * @flows: posters of short messages that have used these queues last
 * @reg_room: counts down from SMC_WR_REGS
 * @flags: bits of &enum smc_wr_flag
 * @slots: all slots
 * @nr_slots: their number
 * @recvs: all receives
 * @nr_recvs: their number
 * @recv_len: bytes of the first part of each: SMC_WR_RECV_LEN, or SMC_WR_RECV_MAX if there is no
 *	      other part
 * @nr_recv_sge: number of parts
 * @page: SMC_WR_PAGE_MORE for the rest of a long message, one for all since a peer sends the next
 *	  one only after the answer to the last (protocol.md); those of the receives; those of
 *	  the slots' messages
 * @nr_pages: their number
 * @page_tx: the first of the last kind
 * @rx_jiffies: when the last message was received, KA-02
 * @is_patient: the device retries as long as it can; set by smc_wr_activate()
 * @is_peer_silent: the peer's RNIC or host no longer answers, KA-05; set once
 * @path_mtu: of the queue pair; set by smc_wr_connect()
 * @max_write: bytes that one packet to the peer may have, smc_port.c; 0 where the port takes
 *	       @path_mtu, so that writes may be of any length
 *
 * Created by smc_wr_create(), ended by smc_wr_stop() and smc_wr_destroy(). Members that
 * name no lock are constant in between.
 */
struct smc_wr {
	const struct smc_wr_ops *ops;
	struct smc_ib_end end;
	u32 qpn;
	char dev_name[IB_DEVICE_NAME_MAX];
	struct smc_ib_watch watch;
	u64 down_since;
	struct smc_wr_tick tick;
	struct smc_ib_counts counts;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct irq_poll poll;
	struct ib_wc wc[2][SMC_WR_BATCH];
	struct ib_recv_wr *refill;
	struct ib_qp *qp;
	u32 max_inline;
	u32 max_sge;
	u32 max_pages;
	atomic_t credits;
	int nr_credits;
	spinlock_t lock;		/* @free, @nr_free, @regs, @flows */
	struct list_head free[2];
	unsigned int nr_free[2];
	struct list_head regs;
	struct list_head flows;
	struct semaphore reg_room;
	unsigned long flags;
	struct smc_wr_slot *slots;
	unsigned int nr_slots;
	struct smc_wr_recv *recvs;
	unsigned int nr_recvs;
	u32 recv_len;
	u8 nr_recv_sge;
	struct smc_wr_page *page;
	unsigned int nr_pages;
	unsigned int page_tx;
	atomic_long_t rx_jiffies;
	bool is_patient;
	bool is_peer_silent;
	enum ib_mtu path_mtu;
	u32 max_write;
};

int smc_wr_create(struct smc_wr *wr, const struct smc_ib_end *end,
		  const struct smc_wr_depth *depth, const struct smc_wr_ops *ops);
int smc_wr_connect(struct smc_wr *wr, const struct smc_ib_peer *peer,
		   const struct smc_ib_class *class);
void smc_wr_be_patient(struct smc_wr *wr, unsigned int ms);
int smc_wr_activate(struct smc_wr *wr, u32 psn, u8 timeout, u8 retries);
void smc_wr_fit(struct smc_wr *wr, enum ib_mtu mtu);
void smc_wr_stop(struct smc_wr *wr);
void smc_wr_destroy(struct smc_wr *wr);

struct smc_wr_slot *smc_wr_slot_get(struct smc_wr *wr, enum smc_wr_class class);
unsigned int smc_wr_nr_free(struct smc_wr *wr, enum smc_wr_class class);
int smc_wr_slot_fill(struct smc_wr_slot *slot, const u8 *msg, u32 len, u8 **page);
int smc_wr_slot_add_page(struct smc_wr_slot *slot, struct page *page, u32 off, u32 len);
void smc_wr_slot_put(struct smc_wr_slot *slot);
int smc_wr_post(struct smc_wr_slot *slot);
bool smc_wr_flow_join(struct smc_wr_flow *flow, struct smc_wr *wr);
void smc_wr_flow_leave(struct smc_wr_flow *flow);
void smc_wr_send_failed(struct smc_wr *wr, enum ib_wc_status status);
void smc_wr_post_failed(struct smc_wr *wr);
void smc_wr_start_tick(struct smc_wr *wr);
void smc_wr_await(struct smc_wr *wr);
bool smc_wr_poll(struct smc_wr *wr, bool (*is_over)(void *arg), void *arg);
int smc_wr_register(struct smc_wr *wr, struct ib_mr *mr, int access);
void smc_wr_reg_put(struct smc_wr_reg *reg);
void smc_wr_reg_complete(struct smc_wr_reg *reg, enum ib_wc_status status);
void smc_wr_report(struct smc_wr *wr, enum smc_wr_fault fault);
void smc_wr_note_leak(struct smc_wr *wr, const char *what, int error);

/**
 * smc_wr_take_credit() - make room for a short message
 * @flow: the flow; the caller's lock is held
 * @wr: the queues
 *
 * Context: Any context but hard interrupt. Expects an RCU read section, which pairs with
 *	    synchronize_rcu() in smc_wr_stop() and includes the post.
 * Return: true if smc_wr_post_short() is to follow; false without room, if the flow has not joined
 *	   these queues, or if they are not open.
 */
static inline bool smc_wr_take_credit(const struct smc_wr_flow *flow, struct smc_wr *wr)
{
	if (unlikely(flow->wr != wr || !test_bit(SMC_WR_IS_OPEN, &wr->flags) ||
		     (u16)(flow->nr_posted - flow->nr_done) >= SMC_WR_FLIGHT))
		return false;
	if (likely(atomic_dec_return(&wr->credits) >= 0))
		return true;
	atomic_inc(&wr->credits);
	return false;
}

/**
 * smc_wr_post_short() - post a WRITE that announces itself by immediate data
 * @flow: has a credit from smc_wr_take_credit(), which is used up in any case; the caller's lock is
 *	  held, under which its done function looks at the flow
 * @msg: the message
 *
 * As for smc_wr_post(), on success the done function of @flow->cqe is called exactly once, and a
 * refused post breaks the link.
 *
 * Context: Any context but hard interrupt. Expects the RCU read section of the credit.
 * Return: 0, or what ib_post_send() returns.
 */
static __always_inline int smc_wr_post_short(struct smc_wr_flow *flow,
					     const struct smc_wr_short *msg)
{
	struct smc_wr *wr = flow->wr;
	bool is_inline = msg->len <= wr->max_inline;
	struct ib_sge sge = {
		/* inline data is copied while posting, so this is the CPU's address */
		.addr = is_inline ? (uintptr_t)msg->cpu : msg->iova,
		.length = msg->len,
		.lkey = msg->lkey,
	};
	struct ib_rdma_wr rdma __uninitialized;
	int rc;

	/* one by one: an initialiser clears all of it first */
	rdma.wr.next = NULL;
	rdma.wr.wr_cqe = &flow->cqe;
	rdma.wr.sg_list = &sge;
	rdma.wr.num_sge = 1;
	rdma.wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	rdma.wr.send_flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED |
			     (is_inline ? IB_SEND_INLINE : 0);
	rdma.wr.ex.imm_data = cpu_to_be32(msg->imm);
	rdma.remote_addr = msg->raddr;
	rdma.rkey = msg->rkey;
	flow->flight[flow->nr_posted % SMC_WR_FLIGHT] =
		(struct smc_wr_flight){ .len = msg->len, .seq = msg->seq };
	rc = ib_post_send(wr->qp, &rdma.wr, NULL);
	if (unlikely(rc)) {
		atomic_inc(&wr->credits);
		smc_wr_post_failed(wr);
		return rc;
	}
	flow->nr_posted++;
	if (unlikely(!delayed_work_pending(&wr->tick.work)))
		smc_wr_start_tick(wr);
	return 0;
}

/**
 * smc_wr_flow_done() - account for the completion of a short message
 * @flow: that of the completion; the caller's lock is held
 * @wc: the completion
 *
 * Context: Completion context, or smc_wr_stop().
 * Return: the message, the oldest in flight.
 */
static __always_inline struct smc_wr_flight smc_wr_flow_done(struct smc_wr_flow *flow,
							     const struct ib_wc *wc)
{
	struct smc_wr_flight done = flow->flight[flow->nr_done++ % SMC_WR_FLIGHT];
	struct smc_wr *wr = flow->wr;

	atomic_inc(&wr->credits);
	if (likely(wc->status == IB_WC_SUCCESS)) {
		smc_ib_count(&wr->counts, SMC_IB_TX_MSGS, 1);
		smc_ib_count(&wr->counts, SMC_IB_TX_BYTES, done.len);
	} else {
		smc_wr_send_failed(wr, wc->status);
	}
	return done;
}

#endif /* SMC_WR_H */
