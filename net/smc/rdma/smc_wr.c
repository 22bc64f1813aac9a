// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of one link.
 *
 * Operation:
 *   A poster takes a slot, fills in a message and up to two RDMA WRITEs and posts it: one
 *   chain, one doorbell, of which only the final SEND is signalled, or the final WRITE if it has
 *   immediate data. Its completion covers the WRITEs before it, gives the slot back and calls
 *   the poster's done function. A short message, which is one WRITE with immediate data, has no
 *   slot: its completion is that of the poster's flow, where messages complete in order.
 *   Receives are posted before the queue pair can receive, and again once their message is
 *   handled.
 *
 * Events:
 *   Each receive causes an event, and its handler also takes the completions of sends. These
 *   cause events of their own only while something waits for one (smc_wr_await()): a request
 *   and its answer are one event at each side. A tick takes what is left. A failed send breaks
 *   the queue pair, which flushes the receives: an event.
 *
 * Ownership:
 *   Between smc_wr_slot_get() and smc_wr_post() a slot belongs to the poster, then to the
 *   queue. What an unfinished work request may name (slot, receive, registration) stays
 *   valid until smc_wr_stop() has returned. A flow is valid while it has a message in flight, and
 *   has left the queues before it is freed.
 *
 * Error handling:
 *   The first error of any kind calls ops->broken, once. A work request in error moves the
 *   queue pair to the error state, which flushes all later ones: each posted slot comes back
 *   through its completion. Of a failed completion only wr_cqe and status are valid. If
 *   nothing completes at all, the stall is first reported as a doubt, by ops->stalled, and after
 *   wr->tick.max_quiet as an error. So is a port without carrier or GID.
 *
 * Order:
 *   RCU orders posts and stop: a poster tests SMC_WR_IS_OPEN and posts inside one read
 *   section; smc_wr_stop() clears the bit and waits for a grace period before it drains.
 *   So posters do not wait for each other here. A caller that needs an order of messages
 *   holds its own lock.
 */
#include <linux/interrupt.h>
#include <linux/slab.h>

#include "smc_compat.h"
#include "proto/smc_wire.h"
#include "rdma/smc_wr.h"
#include "rdma/smc_wr_mem.h"

#define SMC_WR_BUDGET		256	/* completions handled in a row, as the core does */
#define SMC_WR_TICK		(HZ / 10)

#define SMC_WR_MSG_SGE		2	/* a slot's message, and slot->more */
#define SMC_WR_FLUSH_TIMEOUT	(2 * HZ)
#define SMC_WR_FLUSH_STEP_US	100
#define SMC_WR_GID_GRACE	(2 * HZ)
#define SMC_WR_DOUBT_TICKS	3
#define SMC_WR_STALL_MIN	(2 * HZ)	/* the host may be busy */
#define SMC_WR_STALL_HARD	(30 * HZ)	/* an adapter normally finds a fault itself */
#define SMC_WR_STALL_CHECKS	8
#define SMC_WR_STALL_BYTES	32768	/* a path that moves so much per check is only slow */

static_assert(SMC_WR_MSG_SGE <= SMC_WR_MIN_SGE);
static_assert(SMC_WR_MSG_LEN == SMC_LLC_LEN && SMC_WR_MSG_LEN == SMC_CDC_LEN);
static_assert(sizeof(struct smc_llc_add_link_v2_wire) +
	      SMC_LLC_LONG_KEYS * sizeof(struct smc_llc_rtoken_pair_wire) <= SMC_WR_RECV_MAX);

/**
 * smc_wr_report() - report that the queues of a link are no longer usable
 * @wr: the queues
 * @fault: the reason
 *
 * Only the first report calls ops->broken, and none does after smc_wr_stop() has begun.
 *
 * Context: Any context, with any lock of upper layers held that ops->broken does not take.
 */
void smc_wr_report(struct smc_wr *wr, enum smc_wr_fault fault)
{
	/* Pairs with synchronize_rcu() in smc_wr_stop(). */
	guard(rcu)();
	if (!test_and_set_bit(SMC_WR_IS_REPORTED, &wr->flags))
		wr->ops->broken(wr, fault);
}

/**
 * smc_wr_send_failed() - a message did not reach the peer: break the link
 * @wr: the queues
 * @status: of its completion
 *
 * Connections of a silent peer (is_peer_silent) end with ETIMEDOUT.
 *
 * Context: Any context.
 */
void smc_wr_send_failed(struct smc_wr *wr, enum ib_wc_status status)
{
	if (status == IB_WC_RETRY_EXC_ERR)
		WRITE_ONCE(wr->is_peer_silent, true);
	if (status != IB_WC_WR_FLUSH_ERR)
		smc_ib_count_shared(&wr->counts, SMC_IB_TX_ERRORS);
	smc_wr_report(wr, SMC_WR_FAULT_SEND);
}

/**
 * smc_wr_post_failed() - a work request was refused: break the link
 * @wr: the queues
 *
 * A later message must not arrive in place of this one: it would announce bytes that were never
 * written. The poster's lock orders the next post of its connection after this.
 *
 * Context: Any context, under the lock of the poster.
 */
void smc_wr_post_failed(struct smc_wr *wr)
{
	clear_bit(SMC_WR_IS_OPEN, &wr->flags);
	smc_wr_report(wr, SMC_WR_FAULT_POST);
}

/* Ask whether the peer answers on another link; the queues continue. */
static void smc_wr_doubt(struct smc_wr *wr, unsigned long quiet)
{
	/* pairs with synchronize_rcu() in smc_wr_stop() */
	guard(rcu)();
	if (wr->is_patient && !test_bit(SMC_WR_IS_REPORTED, &wr->flags))
		wr->ops->stalled(wr, quiet);
}

/*
 * The port has lost its carrier or the GID. Ports flap, a restart of the host's network removes
 * addresses and adds them again, and TCP survives that. An adapter keeps the GID for the queue pair
 * meanwhile; soft-RoCE does not.
 */
static void smc_wr_check_port(struct smc_wr *wr)
{
	unsigned long grace = smc_ib_end_is_active(&wr->end) ? SMC_WR_GID_GRACE : 0;
	u64 now = get_jiffies_64();

	if (wr->is_patient)
		grace = READ_ONCE(wr->tick.max_quiet) * SMC_WR_TICK;
	if (!wr->down_since)
		wr->down_since = now;
	if (now - wr->down_since >= grace) {
		smc_wr_report(wr, SMC_WR_FAULT_PORT);
		return;
	}
	smc_wr_doubt(wr, now - wr->down_since);
	schedule_delayed_work(&wr->watch.work, SMC_WR_TICK);
}

/* The device or its port had an event: check the local end. */
static void smc_wr_check_end(struct work_struct *work)
{
	struct smc_wr *wr = container_of(work, struct smc_wr, watch.work.work);

	if (smc_ib_end_is_leaving(&wr->end))
		smc_wr_report(wr, SMC_WR_FAULT_GOING);
	else if (smc_ib_end_is_dead(&wr->end))
		smc_wr_report(wr, SMC_WR_FAULT_DEVICE);
	else if (!smc_ib_end_is_active(&wr->end) || !smc_ib_end_is_up(&wr->end))
		smc_wr_check_port(wr);
	else
		wr->down_since = 0;
}

/* Something is posted or being posted, or the queues are drained. */
static bool smc_wr_is_busy(struct smc_wr *wr)
{
	guard(spinlock_bh)(&wr->lock);
	return atomic_read(&wr->credits) != wr->nr_credits ||
	       wr->nr_free[SMC_WR_DATA] + wr->nr_free[SMC_WR_CTRL] != wr->nr_slots ||
	       !list_empty(&wr->regs) || test_bit(SMC_WR_IS_STOPPED, &wr->flags);
}

/* Return: true if the longest chain has had @limit ticks for each part on its way to its SEND. */
static bool smc_wr_is_quiet(const struct smc_wr *wr, unsigned int limit)
{
	u32 most = atomic_read(&wr->credits) == wr->nr_credits ? 0 : SMC_WR_SHORT_MAX;
	unsigned int i;

	if (wr->tick.nr_quiet <= limit)
		return false;
	for (i = 0; i < wr->nr_slots; i++)
		if (READ_ONCE(wr->slots[i].is_posted))
			most = max(most, READ_ONCE(wr->slots[i].nr_bytes));
	return wr->tick.nr_quiet > limit + most / SMC_WR_STALL_BYTES * limit / SMC_WR_STALL_CHECKS;
}

/*
 * Handles the completions of sends that caused no event: what does not wait for them sees them
 * after a tick. Reports a link on which nothing completes. An RNIC gives up by itself, if its
 * completion queue works. soft-RoCE restarts the timeout with each post, so a trickle of data
 * would keep a dead link up until a ring is full.
 */
static void smc_wr_run_tick(struct work_struct *work)
{
	struct smc_wr *wr = container_of(work, struct smc_wr, tick.work.work);
	u64 nr_done;

	smc_wr_poll(wr, NULL, NULL);
	nr_done = atomic64_read(&wr->counts.nr[SMC_IB_TX_MSGS]);
	if (nr_done != wr->tick.nr_done)
		wr->tick.nr_quiet = 0;
	wr->tick.nr_done = nr_done;
	wr->tick.nr_quiet++;
	if (!smc_wr_is_busy(wr)) {
		/* the next post queues it again */
		wr->tick.nr_quiet = 0;
	} else if (!smc_wr_is_quiet(wr, READ_ONCE(wr->tick.max_quiet))) {
		if (smc_wr_is_quiet(wr, SMC_WR_DOUBT_TICKS))
			smc_wr_doubt(wr, wr->tick.nr_quiet * SMC_WR_TICK);
		schedule_delayed_work(&wr->tick.work, SMC_WR_TICK);
	} else {
		smc_wr_send_failed(wr, IB_WC_RETRY_EXC_ERR);
	}
}

/* Any context. */
static void smc_wr_qp_event(struct ib_event *event, void *context)
{
	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		smc_wr_report(context, SMC_WR_FAULT_QP);
		break;
	default:
		break;
	}
}

/* Any context. Some adapters report a fault of a completion queue to nobody else. */
static void smc_wr_cq_fault(struct ib_event *event, void *context)
{
	smc_wr_report(context, SMC_WR_FAULT_QP);
}

/**
 * smc_wr_slot_get() - take a slot for one message
 * @wr: the queues
 * @class: SMC_WR_DATA or SMC_WR_CTRL. Connections wait for data slots and are woken only by
 *	   the completion of a CDC, so other messages must not take all of them.
 *
 * The poster writes the whole message. There are no WRITEs and no done function.
 *
 * Context: Any context but hard interrupt. Takes wr->lock.
 * Return: the slot, for smc_wr_post() or smc_wr_slot_put(); NULL if there is none or
 *	   the queues are stopped.
 */
struct smc_wr_slot *smc_wr_slot_get(struct smc_wr *wr, enum smc_wr_class class)
{
	struct smc_wr_slot *slot;

	if (test_bit(SMC_WR_IS_STOPPED, &wr->flags))
		return NULL;

	scoped_guard(spinlock_bh, &wr->lock) {
		slot = list_first_entry_or_null(&wr->free[class], struct smc_wr_slot, node);
		if (!slot)
			return NULL;
		list_del(&slot->node);
		wr->nr_free[class]--;
	}
	slot->len = SMC_WR_MSG_LEN;
	memset(&slot->tag, 0, sizeof(slot->tag));
	slot->nr_writes = 0;
	slot->has_imm = false;
	slot->nr_sge = 0;
	return slot;
}

/**
 * smc_wr_nr_free() - count the free slots
 * @wr: the queues
 * @class: as for smc_wr_slot_get()
 *
 * Others may take slots at any time. A slot that is given back later calls its done function after
 * this.
 *
 * Context: Any context but hard interrupt. Takes wr->lock.
 * Return: their number.
 */
unsigned int smc_wr_nr_free(struct smc_wr *wr, enum smc_wr_class class)
{
	guard(spinlock_bh)(&wr->lock);
	return wr->nr_free[class];
}

/**
 * smc_wr_slot_fill() - set the message of a slot, which may be longer than its room
 * @slot: from smc_wr_slot_get()
 * @msg: copied
 * @len: its length
 * @page: from get_zeroed_page(), for the part that does not fit. NULL afterwards if the slot
 *	  took it; freed when the SEND has completed or the slot is given back.
 *
 * Context: Any context but hard interrupt.
 * Return: 0; -EMSGSIZE if it is too long; -ENOMEM if @page cannot be mapped.
 */
int smc_wr_slot_fill(struct smc_wr_slot *slot, const u8 *msg, u32 len, u8 **page)
{
	struct ib_device *ibdev = slot->wr->end.dev->ibdev;
	u32 here = min(len, slot->room);
	u64 dma;

	if (len > slot->room) {
		if (!*page || len - here > PAGE_SIZE)
			return -EMSGSIZE;
		memcpy(*page, msg + here, len - here);
		dma = ib_dma_map_single(ibdev, *page, PAGE_SIZE, DMA_TO_DEVICE);
		if (ib_dma_mapping_error(ibdev, dma))
			return -ENOMEM;
		slot->more = *page;
		slot->more_dma = dma;
		*page = NULL;
	}
	memcpy(slot->msg, msg, here);
	slot->len = len;
	return 0;
}

static void smc_wr_slot_free_page(struct smc_wr_slot *slot)
{
	ib_dma_unmap_single(slot->wr->end.dev->ibdev, slot->more_dma, PAGE_SIZE, DMA_TO_DEVICE);
	free_page((unsigned long)slot->more);
	slot->more = NULL;
}

/**
 * smc_wr_slot_add_page() - map a page as the next source of a slot's WRITEs
 * @slot: from smc_wr_slot_get(), with less than SMC_WR_MAX_SGE sources
 * @page: stays valid until the slot is given back, which unmaps it
 * @off: first byte, which may be in a later page of a compound page
 * @len: bytes
 *
 * Context: Any context but hard interrupt.
 * Return: 0; -ENOMEM if it cannot be mapped.
 */
int smc_wr_slot_add_page(struct smc_wr_slot *slot, struct page *page, u32 off, u32 len)
{
	struct ib_device *ibdev = slot->wr->end.dev->ibdev;
	struct ib_sge *sge = &slot->sge[slot->nr_sge];

	sge->addr = ib_dma_map_page(ibdev, page, off, len, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, sge->addr))
		return -ENOMEM;
	sge->length = len;
	sge->lkey = slot->wr->pd->local_dma_lkey;
	__set_bit(slot->nr_sge++, &slot->mapped);
	return 0;
}

static void smc_wr_slot_unmap(struct smc_wr_slot *slot)
{
	unsigned int i;

	for_each_set_bit(i, &slot->mapped, SMC_WR_MAX_SGE)
		ib_dma_unmap_page(slot->wr->end.dev->ibdev, slot->sge[i].addr,
				  slot->sge[i].length, DMA_TO_DEVICE);
	slot->mapped = 0;
}

/**
 * smc_wr_slot_put() - give back a slot that was not posted
 * @slot: from smc_wr_slot_get(); invalid afterwards
 *
 * Does not call its done function.
 *
 * Context: Any context but hard interrupt. Takes wr->lock.
 */
void smc_wr_slot_put(struct smc_wr_slot *slot)
{
	struct smc_wr *wr = slot->wr;

	if (unlikely(slot->more))
		smc_wr_slot_free_page(slot);
	if (slot->mapped)
		smc_wr_slot_unmap(slot);
	/* Last in, first out: its cache lines are warm. */
	guard(spinlock_bh)(&wr->lock);
	WRITE_ONCE(slot->is_posted, false);
	list_add(&slot->node, &wr->free[slot->class]);
	wr->nr_free[slot->class]++;
}

/* A posted slot has come back: free it, then call its done function. */
static void smc_wr_slot_finish(struct smc_wr_slot *slot, bool ok)
{
	struct smc_wr_tag tag = slot->tag;
	struct smc_wr *wr = slot->wr;

	smc_wr_slot_put(slot);
	if (tag.done)
		tag.done(wr, &tag, ok);
}

static void smc_wr_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_wr_slot *slot;

	slot = container_of(wc->wr_cqe, struct smc_wr_slot, cqe);
	if (likely(wc->status == IB_WC_SUCCESS)) {
		smc_ib_count(&slot->wr->counts, SMC_IB_TX_MSGS, 1);
		smc_ib_count(&slot->wr->counts, SMC_IB_TX_BYTES, slot->nr_bytes);
		smc_wr_slot_finish(slot, true);
		return;
	}
	smc_wr_send_failed(slot->wr, wc->status);
	smc_wr_slot_finish(slot, false);
}

/* WRITEs are not signalled; some devices complete them when flushed. */
static void smc_wr_write_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_wr_slot *slot;

	slot = container_of(wc->wr_cqe, struct smc_wr_slot, write_cqe);
	if (wc->status != IB_WC_SUCCESS)
		smc_wr_send_failed(slot->wr, wc->status);
}

/* The receive is posted again with the others that were handled with it. */
static void smc_wr_recv_put(struct smc_wr_recv *recv)
{
	struct smc_wr *wr = recv->wr;

	ib_dma_sync_single_for_device(wr->end.dev->ibdev, recv->sge[0].addr,
				      wr->recv_len, DMA_FROM_DEVICE);
	recv->rwr.next = wr->refill;
	wr->refill = &recv->rwr;
}

static int smc_wr_refill(struct smc_wr *wr)
{
	const struct ib_recv_wr *first = wr->refill;

	wr->refill = NULL;
	/* Pairs with synchronize_rcu() in smc_wr_stop(). */
	guard(rcu)();
	if (!first || test_bit(SMC_WR_IS_STOPPED, &wr->flags))
		return 0;
	return ib_post_recv(wr->qp, first, NULL);
}

/* Joins the two parts of a long message. Without memory the message is lost and the link broken. */
static void smc_wr_deliver_parts(struct smc_wr *wr, struct smc_wr_recv *recv, u32 len)
{
	const struct smc_wr_page *more = &wr->page[SMC_WR_PAGE_MORE];
	u8 *msg = kmalloc(len, GFP_ATOMIC);

	if (!msg) {
		smc_wr_report(wr, SMC_WR_FAULT_RECV);
		return;
	}
	ib_dma_sync_single_for_cpu(wr->end.dev->ibdev, more->dma, PAGE_SIZE, DMA_FROM_DEVICE);
	memcpy(msg, recv->msg, SMC_WR_RECV_LEN);
	memcpy(msg + SMC_WR_RECV_LEN, more->cpu, len - SMC_WR_RECV_LEN);
	ib_dma_sync_single_for_device(wr->end.dev->ibdev, more->dma, PAGE_SIZE, DMA_FROM_DEVICE);
	wr->ops->rx_llc(wr, msg, len);
	kfree(msg);
}

static void smc_wr_deliver_long(struct smc_wr *wr, struct smc_wr_recv *recv, u32 len)
{
	if (wr->nr_recv_sge > 1) {
		smc_wr_deliver_parts(wr, recv, len);
		return;
	}
	ib_dma_sync_single_for_cpu(wr->end.dev->ibdev, recv->sge[0].addr, len, DMA_FROM_DEVICE);
	wr->ops->rx_llc(wr, recv->msg, len);
}

static void smc_wr_deliver(struct smc_wr *wr, struct smc_wr_recv *recv, u32 len)
{
	ib_dma_sync_single_for_cpu(wr->end.dev->ibdev, recv->sge[0].addr,
				   SMC_WR_RECV_LEN, DMA_FROM_DEVICE);
	atomic_long_set(&wr->rx_jiffies, jiffies);
	if (len && recv->msg[0] == SMC_CDC_TYPE)
		wr->ops->rx_cdc(wr, recv->msg, min_t(u32, len, SMC_WR_RECV_LEN));
	else if (unlikely(len > SMC_WR_RECV_LEN))
		smc_wr_deliver_long(wr, recv, len);
	else
		wr->ops->rx_llc(wr, recv->msg, len);
}

/* AMB-16 */
static void smc_wr_deliver_imm(struct smc_wr *wr, u32 imm)
{
	atomic_long_set(&wr->rx_jiffies, jiffies);
	wr->ops->rx_imm(wr, imm);
}

static __always_inline void smc_wr_receive(struct smc_wr *wr, const struct ib_wc *wc)
{
	struct smc_wr_recv *recv = container_of(wc->wr_cqe, struct smc_wr_recv, cqe);

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			smc_ib_count_shared(&wr->counts, SMC_IB_RX_ERRORS);
		smc_wr_report(wr, SMC_WR_FAULT_RECV);
		return;
	}
	smc_ib_count(&wr->counts, SMC_IB_RX_MSGS, 1);
	/* The peer invalidated one of our keys: no RMB is safe now. */
	if (unlikely(wc->wc_flags & IB_WC_WITH_INVALIDATE)) {
		smc_wr_report(wr, SMC_WR_FAULT_PROTOCOL);
		return;
	}
	if (likely(wc->opcode == IB_WC_RECV))
		smc_wr_deliver(wr, recv, min_t(u32, wc->byte_len, SMC_WR_RECV_MAX));
	else if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
		smc_wr_deliver_imm(wr, be32_to_cpu(wc->ex.imm_data));
	smc_wr_recv_put(recv);
}

static void smc_wr_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	smc_wr_receive(container_of(wc->wr_cqe, struct smc_wr_recv, cqe)->wr, wc);
}

static int smc_wr_take(struct ib_cq *cq, struct ib_wc *wc)
{
	return max(ib_poll_cq(cq, SMC_WR_BATCH, wc), 0);
}

static void smc_wr_handle_sends(struct smc_wr *wr, int nr)
{
	struct ib_wc *wc = wr->wc[1];

	for (; nr; nr--, wc++)
		wc->wr_cqe->done(wr->send_cq, wc);
}

static void smc_wr_handle_recvs(struct smc_wr *wr, int nr)
{
	struct ib_wc *wc = wr->wc[0];

	for (; nr; nr--, wc++) {
		/* all but the last one of smc_wr_flush() */
		if (likely(wc->wr_cqe->done == smc_wr_recv_done))
			smc_wr_receive(wr, wc);
		else
			wc->wr_cqe->done(wr->recv_cq, wc);
	}
}

/*
 * Handles completions, of both queues. A message that answers one of ours is handled behind the
 * completion of ours. Expects the caller to own wr->poll. Return: their number, below
 * SMC_WR_BUDGET if there were no more.
 */
static int smc_wr_reap(struct smc_wr *wr)
{
	int nr_recvs, nr_sends, nr = 0;

	do {
		nr_recvs = smc_wr_take(wr->recv_cq, wr->wc[0]);
		nr_sends = smc_wr_take(wr->send_cq, wr->wc[1]);
		smc_wr_handle_sends(wr, nr_sends);
		smc_wr_handle_recvs(wr, nr_recvs);
		if (smc_wr_refill(wr))
			smc_wr_report(wr, SMC_WR_FAULT_POST);
		nr += nr_recvs + nr_sends;
	} while (max(nr_recvs, nr_sends) == SMC_WR_BATCH && nr < SMC_WR_BUDGET);
	return nr;
}

/* Asks for an event with the next completion. One that is there already is handled at once. */
static void smc_wr_arm(struct smc_wr *wr, struct ib_cq *cq)
{
	if (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
		irq_poll_sched(&wr->poll);
}

/* After wr->poll was released, which also ignored events. */
static void smc_wr_rearm(struct smc_wr *wr)
{
	/*
	 * Pairs with set_bit() in smc_wr_await() and test_and_set_bit() in irq_poll_sched(): either
	 * that finds wr->poll released by an atomic operation, or the bit is seen here.
	 */
	smp_mb__after_atomic();
	/* A slot taken before the bit was seen set in smc_wr_await() is seen in use here. */
	if (test_bit(SMC_WR_IS_AWAITED, &wr->flags) &&
	    test_and_clear_bit(SMC_WR_IS_AWAITED, &wr->flags) && smc_wr_is_busy(wr))
		set_bit(SMC_WR_IS_AWAITED, &wr->flags);
	smc_wr_arm(wr, wr->recv_cq);
	if (test_bit(SMC_WR_IS_AWAITED, &wr->flags))
		smc_wr_arm(wr, wr->send_cq);
}

static int smc_wr_run_poll(struct irq_poll *poll, int budget)
{
	struct smc_wr *wr = container_of(poll, struct smc_wr, poll);
	int nr = smc_wr_reap(wr);

	if (nr < SMC_WR_BUDGET) {
		irq_poll_complete(poll);
		smc_wr_rearm(wr);
	}
	return nr;
}

/* Any context. */
static void smc_wr_cq_event(struct ib_cq *cq, void *context)
{
	struct smc_wr *wr = context;

	irq_poll_sched(&wr->poll);
}

/**
 * smc_wr_poll() - handle completions now, and until the caller has what it waits for
 * @wr: the queues
 * @is_over: ends it; NULL: once
 * @arg: of @is_over
 *
 * One task handles completions at a time, which keeps their order. Also ends if the CPU has other
 * work.
 *
 * Context: Process context. Expects no lock held that a callback takes. The caller prevents the
 *	 destruction of @wr.
 * Return: false if another task handles them.
 */
bool smc_wr_poll(struct smc_wr *wr, bool (*is_over)(void *arg), void *arg)
{
	/* irq_poll_sched() does nothing meanwhile, and irq_poll_disable() waits */
	if (test_and_set_bit(IRQ_POLL_F_SCHED, &wr->poll.state))
		return false;
	local_bh_disable();
	do
		smc_wr_reap(wr);
	while (is_over && !is_over(arg) && !need_resched() && !local_softirq_pending());
	irq_poll_enable(&wr->poll);
	smc_wr_rearm(wr);
	local_bh_enable();
	return true;
}

/**
 * smc_wr_await() - let completions of sends cause events until all have completed
 * @wr: the queues
 *
 * Without it they are handled with the next receive, or after a tick: most senders need nothing of
 * a completion, and an event each costs as much as the message.
 *
 * Context: Any context but hard interrupt, after what is awaited was posted. The caller prevents
 *	 the destruction of @wr.
 */
void smc_wr_await(struct smc_wr *wr)
{
	/* pairs with test_and_clear_bit() in smc_wr_rearm(): take a slot, then read the bit */
	smp_mb();
	if (test_bit(SMC_WR_IS_AWAITED, &wr->flags))
		return;
	set_bit(SMC_WR_IS_AWAITED, &wr->flags);
	smc_wr_arm(wr, wr->send_cq);
}

/* The chain of one slot as work requests. */
struct smc_wr_chain {
	struct ib_rdma_wr write[SMC_WR_MAX_WRITES];
	struct ib_send_wr send;
	struct ib_sge sge[SMC_WR_MSG_SGE];
};

static void smc_wr_add_more(struct smc_wr_chain *chain, const struct smc_wr_slot *slot)
{
	chain->sge[0].length = slot->room;
	chain->sge[1].addr = slot->more_dma;
	chain->sge[1].length = slot->len - slot->room;
	chain->sge[1].lkey = slot->wr->pd->local_dma_lkey;
	chain->send.num_sge = 2;
}

static struct ib_send_wr *smc_wr_add_send(struct smc_wr_chain *chain, struct smc_wr_slot *slot)
{
	struct ib_send_wr *next = &chain->send;
	struct smc_wr *wr = slot->wr;

	chain->sge[0].length = slot->len;
	memset(next, 0, sizeof(*next));
	next->wr_cqe = &slot->cqe;
	next->sg_list = chain->sge;
	next->num_sge = 1;
	next->opcode = IB_WR_SEND;
	next->send_flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED;
	if (slot->len <= wr->max_inline && likely(!slot->more)) {
		/* Copied while posting, so this is the CPU's address. */
		next->send_flags |= IB_SEND_INLINE;
		chain->sge[0].addr = (uintptr_t)slot->msg;
		chain->sge[0].lkey = 0;
	} else {
		if (unlikely(slot->more))
			smc_wr_add_more(chain, slot);
		chain->sge[0].addr = slot->msg_dma;
		chain->sge[0].lkey = wr->pd->local_dma_lkey;
		ib_dma_sync_single_for_device(wr->end.dev->ibdev,
					      slot->msg_dma, chain->sge[0].length,
					      DMA_TO_DEVICE);
	}
	return next;
}

/* The last WRITE announces itself. */
static void smc_wr_add_imm(struct smc_wr_chain *chain, struct smc_wr_slot *slot)
{
	struct ib_send_wr *last = &chain->write[slot->nr_writes - 1].wr;

	last->wr_cqe = &slot->cqe;
	last->opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	last->send_flags |= IB_SEND_SIGNALED | IB_SEND_SOLICITED;
	last->ex.imm_data = cpu_to_be32(slot->imm);
}

static const struct ib_send_wr *smc_wr_build(struct smc_wr_chain *chain,
					     struct smc_wr_slot *slot)
{
	struct ib_send_wr *next = slot->has_imm ? NULL : smc_wr_add_send(chain, slot);
	int i;

	for (i = slot->nr_writes - 1; i >= 0; i--) {
		struct smc_wr_write *write = &slot->write[i];
		struct ib_rdma_wr *rdma = &chain->write[i];

		memset(rdma, 0, sizeof(*rdma));
		rdma->wr.next = next;
		rdma->wr.wr_cqe = &slot->write_cqe;
		rdma->wr.sg_list = write->sge;
		rdma->wr.num_sge = write->nr_sge;
		rdma->wr.opcode = IB_WR_RDMA_WRITE;
		if (write->is_inline)
			rdma->wr.send_flags = IB_SEND_INLINE;
		rdma->remote_addr = write->raddr;
		rdma->rkey = write->rkey;
		next = &rdma->wr;
	}
	if (slot->has_imm)
		smc_wr_add_imm(chain, slot);
	return next;
}

static u32 smc_wr_nr_bytes(const struct smc_wr_slot *slot)
{
	u32 n = 0;
	int i, k;

	for (i = 0; i < slot->nr_writes; i++)
		for (k = 0; k < slot->write[i].nr_sge; k++)
			n += slot->write[i].sge[k].length;
	return n;
}

/**
 * smc_wr_post() - send a slot's message behind the WRITEs it announces
 * @slot: filled: @slot->msg, the first @slot->nr_writes of @slot->write, and
 *	  @slot->tag. Invalid afterwards, whatever the result. With @slot->has_imm there is no
 *	  message but @slot->imm, and at least one WRITE.
 *
 * The WRITEs reach the peer's memory before the message, since one queue pair keeps their
 * order. On success @slot->tag.done is called exactly once, perhaps before this returns. If
 * the device took only the WRITEs, that is success, too: they still read the slot's memory, so
 * done is called when the queues are drained. On failure done is never called and the slot has
 * been given back. Each refused post breaks the link: ops->broken runs under the caller's
 * locks, unless the queues were not open. RFC 7609 4.7.1 (TX-01), 2.3.
 *
 * Context: Any context but hard interrupt. Takes wr->lock.
 * Return: 0; -EPIPE before smc_wr_activate(), after smc_wr_stop() or after a failed post; or
 *	   what ib_post_send() returns.
 */
int smc_wr_post(struct smc_wr_slot *slot)
{
	const struct ib_send_wr *first, *bad;
	struct smc_wr *wr = slot->wr;
	struct smc_wr_chain chain __uninitialized;
	int rc;

	first = smc_wr_build(&chain, slot);
	bad = first;

	/* Pairs with synchronize_rcu() in smc_wr_stop(). */
	rcu_read_lock();
	if (unlikely(!test_bit(SMC_WR_IS_OPEN, &wr->flags))) {
		rcu_read_unlock();
		smc_wr_slot_put(slot);
		return -EPIPE;
	}
	WRITE_ONCE(slot->nr_bytes, smc_wr_nr_bytes(slot));
	WRITE_ONCE(slot->is_posted, true);
	rc = ib_post_send(wr->qp, first, &bad);
	if (likely(!rc)) {
		if (unlikely(!delayed_work_pending(&wr->tick.work)))
			smc_wr_start_tick(wr);
		rcu_read_unlock();
		return 0;
	}

	/*
	 * The SEND is last, so it was not accepted. If WRITEs before it were, smc_wr_stop()
	 * finishes the slot.
	 */
	if (bad != first)
		rc = 0;
	else
		smc_wr_slot_put(slot);
	rcu_read_unlock();
	smc_wr_post_failed(wr);
	return rc;
}

/**
 * smc_wr_flow_join() - enter a flow into queues on which it is to post
 * @flow: nothing of it is in flight; the caller's lock, which guards it, is held
 * @wr: the queues
 *
 * Context: Any context but hard interrupt. Expects an RCU read section. Takes wr->lock.
 * Return: false if the queues are stopped.
 */
bool smc_wr_flow_join(struct smc_wr_flow *flow, struct smc_wr *wr)
{
	if (flow->wr == wr)
		return true;
	smc_wr_flow_leave(flow);
	guard(spinlock_bh)(&wr->lock);
	if (test_bit(SMC_WR_IS_STOPPED, &wr->flags))
		return false;
	list_add(&flow->node, &wr->flows);
	WRITE_ONCE(flow->wr, wr);
	return true;
}

/* Expects wr->lock held. */
static void smc_wr_flow_del(struct smc_wr_flow *flow)
{
	lockdep_assert_held(&flow->wr->lock);
	list_del(&flow->node);
	WRITE_ONCE(flow->wr, NULL);
}

/**
 * smc_wr_flow_leave() - take a flow out of the queues
 * @flow: nothing of it is in flight, and nothing is posted meanwhile
 *
 * Context: Any context but hard interrupt. Takes wr->lock.
 */
void smc_wr_flow_leave(struct smc_wr_flow *flow)
{
	struct smc_wr *wr;

	/* queues that end take it out themselves, and are freed after a grace period */
	guard(rcu)();
	wr = READ_ONCE(flow->wr);
	if (!wr)
		return;
	guard(spinlock_bh)(&wr->lock);
	if (flow->wr == wr)
		smc_wr_flow_del(flow);
}

/**
 * smc_wr_start_tick() - have completions looked after that cause no event
 * @wr: the queues, with something posted
 *
 * Context: Any context. Expects an RCU read section.
 */
void smc_wr_start_tick(struct smc_wr *wr)
{
	schedule_delayed_work(&wr->tick.work, SMC_WR_TICK);
}

/*
 * As deep as the queue: a flushed queue pair may complete unsignalled requests, too. The core's own
 * completion queues (ib_alloc_cq()) ask for an event with each completion.
 */
static struct ib_cq *smc_wr_create_cq(struct smc_wr *wr, u32 depth, u32 vector)
{
	struct ib_cq_init_attr attr = { .cqe = depth, .comp_vector = vector };

	return ib_create_cq(wr->end.dev->ibdev, smc_wr_cq_event, smc_wr_cq_fault, wr,
			    &attr);
}

static int smc_wr_create_cqs(struct smc_wr *wr)
{
	u32 vector = smc_ib_next_vector(&wr->end);

	wr->send_cq = smc_wr_create_cq(wr, smc_wr_mem_send_depth(wr), vector);
	if (IS_ERR(wr->send_cq))
		return PTR_ERR(wr->send_cq);
	wr->recv_cq = smc_wr_create_cq(wr, smc_wr_mem_recv_depth(wr), vector);
	if (!IS_ERR(wr->recv_cq))
		return 0;
	ib_destroy_cq(wr->send_cq);
	return PTR_ERR(wr->recv_cq);
}

static void smc_wr_destroy_cqs(struct smc_wr *wr)
{
	ib_destroy_cq(wr->recv_cq);
	ib_destroy_cq(wr->send_cq);
}

static int smc_wr_create_qp(struct smc_wr *wr)
{
	struct ib_qp_init_attr attr = {
		.event_handler = smc_wr_qp_event,
		.qp_context = wr,
		.send_cq = wr->send_cq,
		.recv_cq = wr->recv_cq,
		.cap = {
			.max_send_wr = smc_wr_mem_send_depth(wr),
			.max_recv_wr = smc_wr_mem_recv_depth(wr),
			.max_recv_sge = wr->nr_recv_sge,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	wr->qp = smc_cap_create_qp(&wr->end.dev->cap, wr->pd, &attr);
	if (IS_ERR(wr->qp))
		return PTR_ERR(wr->qp);
	wr->qpn = wr->qp->qp_num;
	wr->max_sge = attr.cap.max_send_sge;
	wr->max_inline = attr.cap.max_inline_data;
	if (wr->max_inline < SMC_WR_MSG_LEN)
		wr->max_inline = 0;
	return 0;
}

static void smc_wr_set_handlers(struct smc_wr *wr)
{
	unsigned int i;

	for (i = 0; i < wr->nr_slots; i++) {
		wr->slots[i].cqe.done = smc_wr_send_done;
		wr->slots[i].write_cqe.done = smc_wr_write_done;
	}
	for (i = 0; i < wr->nr_recvs; i++)
		wr->recvs[i].cqe.done = smc_wr_recv_done;
}

static int smc_wr_post_recvs(struct smc_wr *wr)
{
	unsigned int i;

	for (i = 0; i < wr->nr_recvs; i++) {
		wr->recvs[i].sge[0].lkey = wr->pd->local_dma_lkey;
		wr->recvs[i].sge[1].lkey = wr->pd->local_dma_lkey;
		smc_wr_recv_put(&wr->recvs[i]);
	}
	return smc_wr_refill(wr);
}

/* Without success the device may still use what the queue pair names. */
static int smc_wr_destroy_qp(struct smc_wr *wr)
{
	int rc = wr->qp ? ib_destroy_qp(wr->qp) : 0;

	if (!rc)
		wr->qp = NULL;
	return rc;
}

/**
 * smc_wr_note_leak() - count and log an object that the device does not give up
 * @wr: the queues
 * @what: the object
 * @error: the result of the verb
 *
 * Memory that it may use is kept for good.
 *
 * Context: Any context.
 */
void smc_wr_note_leak(struct smc_wr *wr, const char *what, int error)
{
	smc_ib_count_shared(&wr->counts, SMC_IB_LEAKS);
	pr_warn_ratelimited("smc: %s does not give up a %s: error %d\n", wr->dev_name, what, error);
}

/* Frees all that the device gave up. */
static void smc_wr_release(struct smc_wr *wr)
{
	int rc = smc_wr_destroy_qp(wr);

	/* softirqs and readers of RCU may still be asking for events */
	synchronize_rcu();
	if (rc) {
		smc_wr_note_leak(wr, "queue pair", rc);
		/* events of the queue pair find @wr and these functions */
		set_bit(SMC_WR_IS_KEPT, &wr->flags);
		__module_get(THIS_MODULE);
	} else {
		smc_wr_destroy_cqs(wr);
		/* a memory region that could not be deregistered uses it */
		if (!atomic_read(&wr->pd->usecnt))
			ib_dealloc_pd(wr->pd);
		smc_wr_mem_put(wr);
	}
	smc_ib_end_counts(&wr->end, &wr->counts);
	smc_ib_end_put(&wr->end);
}

/**
 * smc_wr_create() - make the queues of a link
 * @wr: overwritten
 * @end: local end; @wr takes a reference of its own
 * @depth: what it should have
 * @ops: callbacks; ops->broken may be called at once
 *
 * The queue pair is in INIT with its receives posted, so no message that arrives from RTR on is
 * lost. It has a protection domain of its own (RMB-06). RFC 7609 3.5.1.2, FC-05.
 *
 * Context: Process context, may sleep.
 * Return: 0, then smc_wr_stop() and smc_wr_destroy() are due; -ENOMEM; -ENODEV if the device is
 *	   being removed; or what the verbs return.
 */
int smc_wr_create(struct smc_wr *wr, const struct smc_ib_end *end,
		  const struct smc_wr_depth *depth, const struct smc_wr_ops *ops)
{
	int rc;

	memset(wr, 0, sizeof(*wr));
	wr->ops = ops;
	wr->watch.end = &wr->end;
	INIT_DELAYED_WORK(&wr->watch.work, smc_wr_check_end);
	INIT_DELAYED_WORK(&wr->tick.work, smc_wr_run_tick);
	irq_poll_init(&wr->poll, SMC_WR_BUDGET, smc_wr_run_poll);
	spin_lock_init(&wr->lock);
	INIT_LIST_HEAD(&wr->free[SMC_WR_DATA]);
	INIT_LIST_HEAD(&wr->free[SMC_WR_CTRL]);
	INIT_LIST_HEAD(&wr->regs);
	INIT_LIST_HEAD(&wr->flows);
	sema_init(&wr->reg_room, SMC_WR_REGS);
	atomic_long_set(&wr->rx_jiffies, jiffies);
	smc_ib_end_copy(&wr->end, end);
	smc_ib_begin_counts(end, &wr->counts);
	strscpy(wr->dev_name, end->dev->ibdev->name, sizeof(wr->dev_name));

	rc = smc_wr_mem_get(wr, depth);
	if (rc)
		goto put_end;
	smc_wr_set_handlers(wr);
	wr->max_pages = end->dev->cap.max_pages;
	wr->pd = ib_alloc_pd(end->dev->ibdev, 0);
	if (IS_ERR(wr->pd)) {
		rc = PTR_ERR(wr->pd);
		goto put_mem;
	}
	rc = smc_wr_create_cqs(wr);
	if (rc)
		goto dealloc_pd;
	rc = smc_wr_create_qp(wr);
	if (rc)
		goto destroy_cqs;
	rc = smc_ib_qp_init(wr->qp, end);
	if (rc)
		goto release;
	rc = smc_ib_start_watch(&wr->watch);
	if (rc)
		goto release;
	rc = smc_wr_post_recvs(wr);
	if (rc)
		goto stop;
	smc_wr_arm(wr, wr->recv_cq);
	return 0;

stop:
	/* The receives already posted must be flushed. */
	smc_wr_stop(wr);
	smc_wr_destroy(wr);
	return rc;
release:
	smc_wr_release(wr);
	return rc;
destroy_cqs:
	smc_wr_destroy_cqs(wr);
dealloc_pd:
	ib_dealloc_pd(wr->pd);
put_mem:
	smc_wr_mem_put(wr);
put_end:
	smc_ib_end_counts(&wr->end, &wr->counts);
	smc_ib_end_put(&wr->end);
	return rc;
}

/**
 * smc_wr_connect() - connect the queues to the peer's: they can receive
 * @wr: from smc_wr_create()
 * @peer: the peer's end, as received; checked here
 * @class: treatment of the packets
 *
 * Context: Process context, may sleep.
 * Return: 0; -EINVAL, -ENETUNREACH, -EADDRNOTAVAIL as smc_ib_qp_rtr(); or what
 *	   ib_modify_qp() returns.
 */
int smc_wr_connect(struct smc_wr *wr, const struct smc_ib_peer *peer,
		   const struct smc_ib_class *class)
{
	int rc;

	WRITE_ONCE(wr->path_mtu, min(wr->end.mtu, peer->mtu));
	rc = smc_ib_qp_rtr(wr->qp, &wr->end, peer, class);
	if (rc)
		set_bit(SMC_WR_IS_REFUSED, &wr->flags);
	return rc;
}

/**
 * smc_wr_fit() - set the length of writes by the present MTU of the port
 * @wr: the queues
 * @mtu: path MTU of the port
 *
 * Context: Any context.
 */
void smc_wr_fit(struct smc_wr *wr, enum ib_mtu mtu)
{
	bool fits = READ_ONCE(wr->path_mtu) <= mtu;

	WRITE_ONCE(wr->max_write, fits ? 0 : ib_mtu_enum_to_int(mtu));
}

static bool smc_wr_is_soft(const struct smc_wr *wr)
{
	return ib_uses_virt_dma(wr->end.dev->ibdev);
}

/*
 * Ticks without progress after which a stall is reported: twice the time of all retries, which may
 * be four times as long on adapters. Those give up by themselves, unless their completions are lost
 * or the peer's host posts no receives.
 */
static unsigned int smc_wr_stall_ticks(const struct smc_wr *wr, u8 timeout, u8 retries)
{
	unsigned long grace = nsecs_to_jiffies64((4096ULL << timeout) * (retries + 1)) * 2;
	bool is_soft = smc_wr_is_soft(wr);

	return max_t(unsigned long, is_soft ? grace : 4 * grace,
		     is_soft ? SMC_WR_STALL_MIN : SMC_WR_STALL_HARD) / SMC_WR_TICK;
}

/**
 * smc_wr_be_patient() - set how long a link may be quiet before it breaks
 * @wr: active
 * @ms: time without a completion, in milliseconds; the port may lack carrier or GID for as long
 *
 * Nothing happens if the device decides, see smc_wr_activate().
 *
 * Context: Any context.
 */
void smc_wr_be_patient(struct smc_wr *wr, unsigned int ms)
{
	if (wr->is_patient)
		WRITE_ONCE(wr->tick.max_quiet, msecs_to_jiffies(ms) / SMC_WR_TICK);
}

/**
 * smc_wr_activate() - allow the queues to send
 * @wr: connected
 * @psn: the packet sequence number announced to the peer
 * @timeout: local ACK timeout, 4.096 us * 2^timeout; 0 for the default of the device
 * @retries: transport retries, 0..SMC_IB_MAX_RETRIES
 *
 * With less than SMC_IB_MAX_RETRIES the device decides when the link is lost, and the link also
 * breaks if nothing completes for a multiple of the time of @timeout and @retries, at least 2 s on
 * soft-RoCE and 30 s on adapters (KA-05). Otherwise the device retries for as long as it can, the
 * link breaks after SMC_WR_PATIENCE_MS, see smc_wr_be_patient(), and ops->stalled is called before.
 *
 * Context: Process context, may sleep.
 * Return: 0; -EPIPE if they were stopped already; or what ib_modify_qp() returns.
 */
int smc_wr_activate(struct smc_wr *wr, u32 psn, u8 timeout, u8 retries)
{
	int rc;

	if (test_bit(SMC_WR_IS_STOPPED, &wr->flags))
		return -EPIPE;
	/* the MTU may have changed since the end was found */
	smc_wr_fit(wr, smc_ib_end_mtu(&wr->end));
	if (!timeout)
		timeout = SMC_WR_ACK_EXPONENT;
	wr->tick.max_quiet = smc_wr_stall_ticks(wr, timeout, retries);
	wr->is_patient = retries >= SMC_IB_MAX_RETRIES;
	if (wr->is_patient)
		smc_wr_be_patient(wr, SMC_WR_PATIENCE_MS);
	rc = smc_ib_qp_rts(wr->qp, psn, timeout, retries);
	set_bit(rc ? SMC_WR_IS_REFUSED : SMC_WR_IS_OPEN, &wr->flags);
	return rc;
}

/**
 * smc_wr_reg_put() - drop a reference of a registration
 * @reg: invalid afterwards
 *
 * Context: Any context.
 */
void smc_wr_reg_put(struct smc_wr_reg *reg)
{
	if (refcount_dec_and_test(&reg->refs))
		kfree(reg);
}

/**
 * smc_wr_reg_complete() - wake the waiter of a registration
 * @reg: the caller has taken it off the list; the reference of the work request is dropped
 * @status: the result
 *
 * Context: Any context but hard interrupt.
 */
void smc_wr_reg_complete(struct smc_wr_reg *reg, enum ib_wc_status status)
{
	reg->status = status;
	up(&reg->wr->reg_room);
	complete(&reg->done);
	smc_wr_reg_put(reg);
}

/* Takes the oldest unfinished one off the list. */
static struct smc_wr_reg *smc_wr_reg_take(struct smc_wr *wr)
{
	struct smc_wr_reg *reg;

	guard(spinlock_bh)(&wr->lock);
	reg = list_first_entry_or_null(&wr->regs, struct smc_wr_reg, node);
	if (reg)
		list_del_init(&reg->node);
	return reg;
}

/* Finishes registrations that will not complete. */
static void smc_wr_finish_regs(struct smc_wr *wr)
{
	struct smc_wr_reg *reg;

	while ((reg = smc_wr_reg_take(wr)))
		smc_wr_reg_complete(reg, IB_WC_WR_FLUSH_ERR);
}

/* Finishes slots that will not complete, or whose SEND was not accepted. */
static void smc_wr_finish_slots(struct smc_wr *wr)
{
	unsigned int i;

	for (i = 0; i < wr->nr_slots; i++)
		if (wr->slots[i].is_posted)
			smc_wr_slot_finish(&wr->slots[i], false);
}

/* The first flow with a message in flight; those without are taken out. */
static struct smc_wr_flow *smc_wr_next_flow(struct smc_wr *wr)
{
	struct smc_wr_flow *flow, *next;

	guard(spinlock_bh)(&wr->lock);
	list_for_each_entry_safe(flow, next, &wr->flows, node) {
		if (flow->nr_posted != flow->nr_done)
			return flow;
		smc_wr_flow_del(flow);
	}
	return NULL;
}

/* Finishes short messages that will not complete, and takes out all flows. */
static void smc_wr_finish_flows(struct smc_wr *wr)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	struct smc_wr_flow *flow;

	guard(rcu)();
	while ((flow = smc_wr_next_flow(wr))) {
		wc.wr_cqe = &flow->cqe;
		local_bh_disable();
		flow->cqe.done(wr->send_cq, &wc);
		local_bh_enable();
	}
}

/* The last work request of a queue. */
struct smc_wr_last {
	struct ib_cqe cqe;
	bool is_done;
};

static void smc_wr_last_done(struct ib_cq *cq, struct ib_wc *wc)
{
	container_of(wc->wr_cqe, struct smc_wr_last, cqe)->is_done = true;
}

/* Handles all completions that are there. The caller owns wr->poll. */
static void smc_wr_reap_all(struct smc_wr *wr)
{
	int nr;

	do {
		local_bh_disable();
		nr = smc_wr_reap(wr);
		local_bh_enable();
	} while (nr >= SMC_WR_BUDGET);
}

/*
 * Ends all that is posted, and handles its completions, so that no message is lost which the peer
 * takes for delivered. Polls: a device that has failed may cause no event. ib_drain_qp() would wait
 * forever if a completion is lost. The caller owns wr->poll for good, so nothing uses the last work
 * requests after that. Return: false if completions are missing.
 */
static bool smc_wr_flush(struct smc_wr *wr)
{
	struct smc_wr_last sent = { .cqe.done = smc_wr_last_done }, received = sent;
	struct ib_rdma_wr swr = { .wr.wr_cqe = &sent.cqe, .wr.opcode = IB_WR_RDMA_WRITE };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_recv_wr rwr = { .wr_cqe = &received.cqe };
	unsigned long until = jiffies + SMC_WR_FLUSH_TIMEOUT;
	bool is_flushing;

	is_flushing = !ib_modify_qp(wr->qp, &attr, IB_QP_STATE) &&
		      !ib_post_send(wr->qp, &swr.wr, NULL) && !ib_post_recv(wr->qp, &rwr, NULL);
	for (;;) {
		smc_wr_reap_all(wr);
		if (sent.is_done && received.is_done)
			return true;
		if (!is_flushing || time_after(jiffies, until))
			return false;
		usleep_range(SMC_WR_FLUSH_STEP_US, 2 * SMC_WR_FLUSH_STEP_US);
	}
}

/**
 * smc_wr_stop() - end all posts and callbacks
 * @wr: from smc_wr_create(), in any state
 *
 * Flushes what is posted. Before it returns it calls the done function of each posted slot
 * with ok = false; no callback runs afterwards. It does not call ops->broken. A second call
 * does nothing.
 *
 * Context: Process context, sleeps for verbs, and 2 s more if the device loses completions.
 *	    Expects no lock held that a callback or a poster takes. The caller excludes a
 *	    concurrent smc_wr_stop() or smc_wr_activate().
 */
void smc_wr_stop(struct smc_wr *wr)
{
	might_sleep();
	if (test_and_set_bit(SMC_WR_IS_STOPPED, &wr->flags))
		return;
	clear_bit(SMC_WR_IS_OPEN, &wr->flags);
	set_bit(SMC_WR_IS_REPORTED, &wr->flags);
	smc_ib_unwatch(&wr->watch);
	/* Posters and reporters that saw the old bits are done when the grace period ends. */
	synchronize_rcu();
	cancel_delayed_work_sync(&wr->tick.work);

	/* waits until no other task handles completions; none does so from here on */
	irq_poll_disable(&wr->poll);
	/* after an allocation failure soft-RoCE does not flush receives any more */
	if (test_bit(SMC_WR_IS_REFUSED, &wr->flags) || !smc_wr_flush(wr))
		/* nothing is used any more after that */
		smc_wr_destroy_qp(wr);
	smc_wr_finish_regs(wr);
	smc_wr_finish_slots(wr);
	smc_wr_finish_flows(wr);
}

/**
 * smc_wr_destroy() - free the queues
 * @wr: stopped; all regions of its protection domain are deregistered, all slots given
 *	back, no caller is in smc_wr_register()
 *
 * The names of the link stay readable: @wr->qpn, @wr->dev_name and all of @wr->end but
 * the device. If the device does not give up the queue pair, SMC_WR_IS_KEPT is set: what that may
 * use is kept for good, and @wr must be, too.
 *
 * Context: Process context, may sleep. Expects no lock held.
 */
void smc_wr_destroy(struct smc_wr *wr)
{
	WARN_ON_ONCE(wr->nr_free[SMC_WR_DATA] + wr->nr_free[SMC_WR_CTRL] !=
		     wr->nr_slots);
	smc_wr_release(wr);
}
