// SPDX-License-Identifier: GPL-2.0
/*
 * The links of a group as the carrier of a connection.
 *
 * Operation: the hold of conn->lock that publishes bytes also posts what is due, and so does each
 * other event that may require a message: a completion, a new window, a flag. Each post is one
 * chain: at most two RDMA WRITEs and the CDC.
 *
 * The short way: where nothing is unusual (conn->attn), a message is one WRITE with immediate data.
 *
 * MTU: where the path MTU of a link exceeds that of its port, a message is one packet, smc_port.c.
 *
 * Slots: a slot is taken for a message that is due. Without a slot, or behind others, the
 * connection joins the waiters of its link. Completions, and all that leave conn->lock after a
 * post, serve the waiters in order. No waiter is missed: it serves them once after joining, and
 * taking and freeing a slot use the same lock.
 *
 * Failover: between two links a connection posts nothing; smc_failover.c pushes once it has the new
 * one. Only a good completion frees room, so the send ring still has the data of a replay.
 *
 * Coalescing: while a message is in flight, little data, or data for a small window, waits for its
 * completion, which pushes again. So every delay is bounded (TX-06 to TX-08,
 * smc_ring_is_held_back()).
 *
 * Completions cause events only while something waits for one, see rdma_is_awaited(). Others come
 * with the next receive, or are taken before they are counted (smc_tx_poll()).
 */
#include "smc_compat.h"
#include "group/smc_carrier.h"
#include "group/smc_cdc.h"
#include "group/smc_core.h"
#include "group/smc_link.h"
#include "group/smc_llc.h"
#include "group/smc_pages.h"

/* What the short way of completions cannot serve */
#define RDMA_COMPLETES_LONG (SMC_ATTN_PHASE | SMC_ATTN_END | SMC_ATTN_NOTICE | SMC_ATTN_HELD)

static void rdma_tx_done(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok);
static void rdma_push_unlock(struct smc_conn *conn) __releases(&conn->lock);

/* Return: true if the unsent bytes wait for more data. */
static bool rdma_is_held_back(const struct smc_conn *conn)
{
	struct smc_ring_hold hold = {
		.unsent = smc_cdc_unsent(&conn->ctl),
		.enough = min(conn->ctl.tx_message, conn->ctl.snd_size / 2),
		.most = conn->tx_enough - 1,
		.window = smc_cdc_window(&conn->ctl),
		.peer_ring = smc_edge_space(&conn->ctl.tx_edge),
		.is_inflight = conn->tx_inflight,
		.is_corked = conn->tx_cork,
		.is_urgent = smc_cdc_has_urgent(&conn->ctl),
		.is_flushed = conn->tx_flush,
	};

	lockdep_assert_held(&conn->lock);
	return smc_ring_is_held_back(&hold);
}

/*
 * Decide whether a message may and must be posted now. Fills in the plan; its length is 0 for a
 * message without data, and at most @most, unless that is 0.
 */
static bool rdma_plan(const struct smc_conn *conn, u32 most, struct smc_xfer *x)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;
	bool is_needed;

	lockdep_assert_held(&conn->lock);
	x->len = 0;
	x->nr_parts = 0;
	if (conn->phase == SMC_CONN_VALIDATING || conn->phase == SMC_CONN_REPLAYING)
		return true;
	/* the replay covers all; its completion pushes again */
	if (conn->phase != SMC_CONN_OPEN || ctl->tx_conn_sent & SMC_CDC_FINAL ||
	    smc_cdc_is_far_ahead(ctl))
		return false;
	is_needed = smc_cdc_is_needed(ctl);
	/* any message takes all data along */
	if (smc_cdc_unsent(ctl) && (is_needed || !rdma_is_held_back(conn)))
		smc_cdc_plan(ctl, min(most ?: U32_MAX, ctl->tx_message), x);
	return x->len || is_needed;
}

static void rdma_account(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	smc_conn_set_phase(conn, SMC_CONN_OPEN);
	if (!smc_cdc_unsent(&conn->ctl))
		conn->tx_flush = false;
}

/*
 * After failover: F first, then one message with all that did not complete, including C or A.
 * Nothing is sent before them. A failed post means a broken link and another failover. FAIL-07,
 * FAIL-12. Return: true if posted.
 */
static bool rdma_resume(struct smc_conn *conn, struct smc_wr_slot *slot)
{
	bool is_posted;

	lockdep_assert_held(&conn->lock);
	if (conn->phase == SMC_CONN_VALIDATING) {
		if (smc_cdc_post_validation(conn, slot))
			return false;
		smc_conn_set_phase(conn, smc_cdc_is_replay_due(&conn->ctl) ? SMC_CONN_REPLAYING :
									     SMC_CONN_OPEN);
		return true;
	}
	is_posted = !smc_cdc_post_replay(conn, slot);
	if (is_posted)
		rdma_account(conn);
	else
		smc_conn_set_phase(conn, SMC_CONN_OPEN);
	return is_posted;
}

static bool rdma_post_one(struct smc_conn *conn, struct smc_wr_slot *slot, struct smc_xfer *x)
{
	slot->tag.done = rdma_tx_done;
	if (conn->phase != SMC_CONN_OPEN)
		return rdma_resume(conn, slot);
	if (smc_cdc_post(conn, slot, x))
		return false;
	rdma_account(conn);
	return true;
}

/* Get a slot of the link. Without one, or behind others, the connection waits for it. */
static struct smc_wr_slot *rdma_get_slot(struct smc_conn *conn, struct smc_link *link)
{
	struct smc_wr_slot *slot = NULL;

	if (list_empty_careful(&link->waiters))
		slot = smc_wr_slot_get(&link->wr, SMC_WR_DATA);
	if (!slot) {
		smc_link_add_waiter(link, conn);
		smc_wr_await(&link->wr);
	}
	return slot;
}

/*
 * Post messages until none is due, or the connection waits for a slot. @slot is for the first one,
 * or NULL; consumed. Expects an RCU read section.
 */
static void rdma_post_due(struct smc_conn *conn, struct smc_wr_slot *slot)
{
	struct smc_link *link = smc_conn_link(conn);
	struct smc_xfer x;

	while (link && rdma_plan(conn, READ_ONCE(link->wr.max_write), &x)) {
		slot = slot ?: rdma_get_slot(conn, link);
		if (!slot || !rdma_post_one(conn, slot, &x))
			return;
		slot = NULL;
		/* a message without data left behind it covers all that was due */
		if (!smc_cdc_unsent(&conn->ctl) && conn->phase == SMC_CONN_OPEN)
			return;
	}
	if (slot)
		smc_wr_slot_put(slot);
}

/*
 * Post data the short way: what is unsent, unless it waits for a message in flight. Return: false
 * if something is left to rdma_post_due().
 */
static __always_inline bool rdma_post_short(struct smc_conn *conn, struct smc_link *link)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;

	while (smc_cdc_unsent(ctl)) {
		if (conn->attn)
			return false;
		if (conn->tx_inflight && smc_cdc_unsent(ctl) < conn->tx_enough)
			return true;
		/* the peer knows that we wait for its reader */
		if (!smc_cdc_window(ctl) && ctl->tx_prod_flags & SMC_CDC_BLOCKED)
			return true;
		if (!smc_cdc_post_short(conn, link))
			return false;
	}
	return true;
}

/* Post with a slot of a link for which the connection waited. Consumes the slot. */
static void rdma_resume_waiter(struct smc_conn *conn, struct smc_link *link,
			       struct smc_wr_slot *slot)
{
	bool has_moved;

	spin_lock_bh(&conn->lock);
	has_moved = smc_conn_link(conn) != link;
	if (!has_moved)
		rdma_post_due(conn, slot);
	smc_conn_unlock(conn);
	if (has_moved) {
		smc_wr_slot_put(slot);
		spin_lock_bh(&conn->lock);
		rdma_push_unlock(conn);
	}
}

/*
 * Give free slots of a link to its waiters in order. For all that freed a slot or joined the
 * waiters. Expects an RCU read section.
 */
static void rdma_serve(struct smc_link *link)
{
	struct smc_wr_slot *slot;
	struct smc_conn *conn;

	while (!list_empty_careful(&link->waiters)) {
		slot = smc_wr_slot_get(&link->wr, SMC_WR_DATA);
		if (!slot)
			return;
		conn = smc_link_pop_waiter(link);
		if (!conn) {
			smc_wr_slot_put(slot);
			continue;
		}
		rdma_resume_waiter(conn, link, slot);
		smc_conn_put(conn);
	}
}

/*
 * Return: true if data, a writer, the close machine, a clock or a notice waits for the completion
 * of a message.
 */
static bool rdma_is_awaited(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->tx_inflight &&
	       (smc_cdc_unsent(&conn->ctl) || smc_conn_room(conn) < conn->ctl.snd_size / 4 ||
		conn->phase != SMC_CONN_OPEN || conn->ctl.tx_conn_sent ||
		conn->tx_is_timed || conn->rtt.began_ns || conn->stamps || conn->tx_pages);
}

/* Let the completion of the message in flight cause an event, if there is one. */
static void rdma_await(struct smc_conn *conn)
{
	struct smc_link *link;

	guard(rcu)();
	spin_lock_bh(&conn->lock);
	link = smc_conn_link(conn);
	conn->is_awaited = link && conn->tx_inflight;
	spin_unlock_bh(&conn->lock);
	if (link)
		smc_wr_await(&link->wr);
}

/* Post what is due, then release conn->lock. */
static void rdma_push_unlock(struct smc_conn *conn)
	__releases(&conn->lock)
{
	struct smc_link *link;
	bool is_awaited;

	/* before a slot is taken, see smc_cdc_post() */
	rcu_read_lock();
	link = smc_conn_link(conn);
	/* the caller may have changed what is unusual */
	smc_conn_attend(conn);
	if (link)
		rdma_post_short(conn, link);
	rdma_post_due(conn, NULL);
	is_awaited = link && rdma_is_awaited(conn);
	conn->is_awaited |= is_awaited;
	if (link)
		smc_wr_flow_join(&conn->flow, &link->wr);
	/* posting may end what was unusual, and begins nothing */
	if (conn->attn)
		smc_conn_attend(conn);
	spin_unlock_bh(&conn->lock);
	if (is_awaited)
		smc_wr_await(&link->wr);
	if (link)
		rdma_serve(link);
	rcu_read_unlock();
}

/**
 * smc_rdma_push_data() - post data that is due, as &smc_carrier.push does
 * @conn: on which nothing of SMC_ATTN_ALL but SMC_ATTN_PEER is unusual
 *
 * Context: Any context but hard interrupt. Expects conn->lock held, and releases it.
 */
void smc_rdma_push_data(struct smc_conn *conn)
	__releases(&conn->lock)
{
	/* as bottom halves are off, this is an RCU read section */
	struct smc_link *link = smc_conn_link(conn);

	lockdep_assert_held(&conn->lock);
	if (unlikely(!link || !rdma_post_short(conn, link))) {
		rdma_push_unlock(conn);
		return;
	}
	/* nothing but data, a writer or the clock waits for the message */
	if (conn->tx_inflight && !conn->is_awaited &&
	    (smc_cdc_unsent(&conn->ctl) || smc_conn_room(conn) < conn->ctl.snd_size / 4 ||
	     conn->rtt.began_ns)) {
		conn->is_awaited = true;
		smc_wr_await(&link->wr);
	}
	spin_unlock_bh(&conn->lock);
}

/* The long way of a completion: more than data waits for it, or it failed. */
static void rdma_done_long_unlock(struct smc_conn *conn, struct smc_wr *wr, u32 events, bool ok)
	__releases(&conn->lock)
{
	if (!ok) {
		smc_conn_unlock(conn);
	} else {
		rdma_push_unlock(conn);
		/* the connection may have left this link */
		rdma_serve(smc_link_of(wr));
		conn->ops->event(conn, events);
	}
	smc_pages_reap(conn);
	/* otherwise leaving follows, and finds the count */
	if (unlikely(READ_ONCE(conn->phase) == SMC_CONN_LEFT))
		smc_conn_return_rings(conn);
}

/*
 * A message has completed. An error was handled by smc_wr.c, so only the count is dropped, which
 * has kept the connection until now. Bottom halves are off, which is an RCU read section.
 */
static __always_inline void rdma_done_unlock(struct smc_conn *conn, struct smc_wr *wr, u16 seq,
					     u32 len, bool ok)
	__releases(&conn->lock)
{
	u32 events = smc_conn_tx_done(conn, seq, len, ok);

	if (ok && conn->wants_room && smc_conn_has_room(conn)) {
		conn->wants_room = false;
		events |= SMC_EV_ROOM;
	}
	/* pairs with smp_store_mb() of a sender: the count, then the end of the data */
	smp_mb();
	if (unlikely(!ok || conn->attn & RDMA_COMPLETES_LONG)) {
		local_bh_disable();
		rdma_done_long_unlock(conn, wr, events, ok);
		return;
	}
	if (smc_cdc_unsent(&conn->ctl)) {
		local_bh_disable();
		smc_rdma_push_data(conn);
	} else {
		spin_unlock(&conn->lock);
	}
	if (unlikely(!list_empty_careful(&smc_link_of(wr)->waiters)))
		rdma_serve(smc_link_of(wr));
	if (unlikely(events & SMC_EV_ROOM))
		conn->ops->event(conn, SMC_EV_ROOM);
}

/* A message and the writes before it have completed; the slot is already free. */
static void rdma_tx_done(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok)
{
	struct smc_conn *conn = tag->owner;

	/* also called by smc_wr_stop() */
	local_bh_disable();
	spin_lock(&conn->lock);
	rdma_done_unlock(conn, wr, tag->seq, tag->len, ok);
	local_bh_enable();
}

/* The completion of a short message, in completion context. */
static void rdma_short_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_conn *conn = container_of(wc->wr_cqe, struct smc_conn, flow.cqe);
	struct smc_wr_flight done;
	struct smc_wr *wr;

	/* bottom halves are off: an RCU read section */
	spin_lock(&conn->lock);
	wr = conn->flow.wr;
	done = smc_wr_flow_done(&conn->flow, wc);
	rdma_done_unlock(conn, wr, done.seq, done.len, wc->status == IB_WC_SUCCESS);
}

/* Handle the completions of the connection's link now. */
static bool rdma_poll(struct smc_conn *conn, bool (*is_over)(void *arg), void *arg)
{
	struct smc_link *link;

	guard(rcu)();
	link = rcu_dereference(conn->link);
	return link && smc_wr_poll(&link->wr, is_over, arg);
}

static size_t rdma_write(struct smc_conn *conn, size_t len, struct iov_iter *from)
{
	struct smc_seg seg[SMC_RING_SEGS];
	u32 size = conn->ctl.snd_size;
	size_t copied = 0;
	u32 i, nr;

	sock_owned_by_me(conn->sk);
	nr = smc_ring_segs(size, 0, conn->ctl.tx_prep & (size - 1), len, seg);
	for (i = 0; i < nr; i++) {
		size_t n = smc_buf_write(&conn->sndbuf, seg[i].off, seg[i].len, from);

		copied += n;
		if (n < seg[i].len)
			break;
	}
	return copied;
}

static void rdma_sync(struct smc_conn *conn, const struct smc_seg *seg)
{
	struct smc_link *link;

	rcu_read_lock();
	link = rcu_dereference(conn->link);
	if (link)
		smc_buf_sync_for_cpu(&conn->rmbe, &link->wr, link->index, seg->off, seg->len);
	rcu_read_unlock();
}

/*
 * rx_cons changes under the socket lock, or in completion context while the ring is empty
 * (cdc_keep_urgent()).
 */
static size_t rdma_read(struct smc_conn *conn, u64 pos, size_t len, struct iov_iter *to)
{
	const struct smc_edge *edge = &conn->ctl.rx_edge;
	struct smc_seg seg[SMC_RING_SEGS];
	size_t copied = 0;
	u32 i, nr;

	sock_owned_by_me(conn->sk);
	nr = smc_ring_segs(edge->size, edge->base, smc_edge_off(edge, pos), len, seg);
	for (i = 0; i < nr; i++) {
		size_t n;

		rdma_sync(conn, &seg[i]);
		n = smc_buf_read(&conn->rmbe, seg[i].off, seg[i].len, to);
		copied += n;
		if (n < seg[i].len)
			break;
	}
	return copied;
}

static u8 rdma_byte(struct smc_conn *conn, u64 pos)
{
	u32 off = smc_edge_off(&conn->ctl.rx_edge, pos);
	const u8 *at = conn->rmbe.cpu + off;
	struct smc_link *link;

	lockdep_assert_held(&conn->lock);
	link = smc_conn_link(conn);
	smc_buf_sync_for_cpu(&conn->rmbe, &link->wr, link->index, off, 1);
	return READ_ONCE(*at);
}

/* The bytes of pages are copied to their place first. */
static size_t rdma_recall(struct smc_conn *conn, u64 pos, size_t len, struct iov_iter *to)
{
	struct smc_seg seg[SMC_RING_SEGS];
	u32 size = conn->ctl.snd_size;
	size_t copied = 0;
	u32 i, nr;

	sock_owned_by_me(conn->sk);
	scoped_guard(spinlock_bh, &conn->lock)
		smc_pages_to_ring(conn);
	nr = smc_ring_segs(size, 0, pos & (size - 1), len, seg);
	for (i = 0; i < nr; i++)
		copied += smc_buf_read(&conn->sndbuf, seg[i].off, seg[i].len, to);
	return copied;
}

/* A device that takes few pieces at a time is not worth it. */
static bool rdma_takes_pages(const struct smc_conn *conn)
{
	const struct smc_link *link;

	guard(rcu)();
	link = rcu_dereference(conn->link);
	return link && link->wr.max_sge > SMC_WR_MIN_SGE;
}

static bool rdma_is_up(const struct smc_conn *conn)
{
	return !smc_lgr_is_down(conn->lgr);
}

static void rdma_probe(struct smc_conn *conn)
{
	smc_llc_probe_group(conn->lgr);
}

/* The last connection starts the group's idle timer, TMR-10. */
static void rdma_leave(struct smc_conn *conn, bool is_peer_done)
{
	struct smc_link_group *lgr = conn->lgr;

	smc_lgr_get(lgr);
	if (smc_conn_leave(conn, is_peer_done))
		smc_llc_arm_idle(lgr);
	smc_lgr_put(lgr);
}

static const char *rdma_name(const struct smc_conn *conn)
{
	const struct smc_link *link = rcu_dereference(conn->link);

	return link ? link->wr.dev_name : "";
}

const struct smc_carrier smc_carrier_rdma = {
	.push		= rdma_push_unlock,
	.await		= rdma_await,
	.poll		= rdma_poll,
	.done		= rdma_short_done,
	.write		= rdma_write,
	.read		= rdma_read,
	.byte		= rdma_byte,
	.recall		= rdma_recall,
	.give		= smc_pages_add,
	.takes_pages	= rdma_takes_pages,
	.is_up		= rdma_is_up,
	.probe		= rdma_probe,
	.leave		= rdma_leave,
	.name		= rdma_name,
};
