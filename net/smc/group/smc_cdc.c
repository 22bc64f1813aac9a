// SPDX-License-Identifier: GPL-2.0
/*
 * CDC messages on a link.
 *
 * Operation:
 *   A message is posted behind the RDMA WRITEs that it announces, in one chain on one queue pair:
 *   the peer sees it after the data (CDC-10). Between two hosts with this module the last WRITE
 *   has immediate data in its place where that says enough (protocol.md). A received message is
 *   applied in the completion handler, which wakes readers without delay (CDC-02, CDC-11).
 *
 * Ownership:
 *   A posted message counts in conn->tx_inflight, until the done function in its slot, set by the
 *   sender, or that of the connection's flow is called. Meanwhile the connection has its rings.
 *
 * Error handling:
 *   An unreadable message costs the link, because its connection is unknown (ERR-54). A late
 *   message, or one with an unknown token, is counted and dropped. A reason to abort a connection
 *   is an event for its socket. A chain that cannot be posted means a broken link, which smc_wr.c
 *   has reported already.
 */
#include "smc_compat.h"
#include "proto/smc_cdc_imm.h"
#include "rdma/smc_net.h"
#include "group/smc_carrier.h"
#include "group/smc_cdc.h"
#include "group/smc_core.h"
#include "group/smc_link.h"
#include "group/smc_pages.h"
#include "control/smc_trace.h"

/* What the short way of immediate data cannot serve */
#define CDC_APPLIES_LONG (SMC_ATTN_PHASE | SMC_ATTN_END | SMC_ATTN_URG | SMC_ATTN_HELD)

/* Events after which the socket pushes */
#define CDC_EV_PUSH	(SMC_EV_SPACE | SMC_EV_UPDATE_REQ | SMC_EV_BLOCKED)

static void cdc_add_ring(const struct smc_conn *conn, struct smc_wr_slot *slot,
			 const struct smc_wr_write *write, u32 off, u32 len)
{
	const struct smc_buf_elem *ring = &conn->sndbuf;
	struct ib_sge *sge = &slot->sge[slot->nr_sge++];
	struct smc_link *link = smc_link_of(slot->wr);

	sge->length = len;
	sge->lkey = smc_buf_lkey(ring->buf, link->index);
	if (write->is_inline) {
		/* copied while posting, so this is the CPU's address */
		sge->addr = (uintptr_t)ring->cpu + off;
		return;
	}
	sge->addr = smc_buf_elem_iova(ring) + off;
	smc_buf_sync_for_device(ring, &link->wr, link->index, off, len);
}

/* Add the sources of a range of the ring. Returns the number of bytes for which there was room. */
static u32 cdc_add_seg(struct smc_conn *conn, struct smc_wr_slot *slot,
		       struct smc_wr_write *write, const struct smc_seg *seg, u64 pos)
{
	struct smc_piece piece;
	u32 done = 0;

	while (done < seg->len && write->nr_sge < slot->wr->max_sge &&
	       slot->nr_sge < SMC_WR_MAX_SGE) {
		smc_pages_piece(conn, pos + done, seg->len - done, &piece);
		if (!piece.page) {
			cdc_add_ring(conn, slot, write, seg->off + done, piece.len);
		} else if (smc_wr_slot_add_page(slot, piece.page, piece.off, piece.len)) {
			smc_pages_to_ring(conn);
			continue;
		}
		write->nr_sge++;
		done += piece.len;
	}
	return done;
}

static u32 cdc_fill_write(struct smc_conn *conn, struct smc_wr_slot *slot,
			  const struct smc_xfer_part *part, u64 pos)
{
	struct smc_wr_write *write = &slot->write[slot->nr_writes];
	u32 done = 0, n;
	int i;

	write->raddr = conn->peer_addr + part->off;
	write->rkey = conn->peer_rkey;
	write->sge = &slot->sge[slot->nr_sge];
	write->nr_sge = 0;
	write->is_inline = part->len <= slot->wr->max_inline && !conn->tx_pages;
	for (i = 0; i < part->nr_src; i++) {
		n = cdc_add_seg(conn, slot, write, &part->src[i], pos + done);
		done += n;
		if (n < part->src[i].len)
			break;
	}
	return done;
}

/*
 * Fill in the WRITEs of a transfer. One from many pages is cut short where a WRITE, or the slot,
 * can have no more sources.
 */
static void cdc_fill_writes(struct smc_conn *conn, struct smc_wr_slot *slot,
			    struct smc_xfer *xfer)
{
	u32 done = 0, n;
	int i;

	for (i = 0; i < xfer->nr_parts; i++) {
		n = cdc_fill_write(conn, slot, &xfer->part[i], xfer->pos + done);
		done += n;
		slot->nr_writes += !!n;
		if (n < xfer->part[i].len)
			break;
	}
	xfer->nr_parts = slot->nr_writes;
	xfer->len = done;
}

static void cdc_count(const struct smc_conn *conn, const struct smc_xfer *xfer, bool has_imm)
{
	smc_stats_add(conn->stats, has_imm ? SMC_STAT_IMM_TX : SMC_STAT_CDC_TX, 1);
	if (!xfer->len) {
		smc_stats_add(conn->stats, SMC_STAT_WINDOW_UPDATES, 1);
		return;
	}
	smc_stats_add(conn->stats, SMC_STAT_RDMA_WRITES, xfer->nr_parts);
	smc_stats_add(conn->stats, SMC_STAT_TX_BYTES, xfer->len);
}

/* Post the writes, which are filled in, with what the slot has: a message or immediate data. */
static int cdc_post(struct smc_conn *conn, struct smc_wr_slot *slot, u16 seq,
		    const struct smc_xfer *xfer)
{
	bool has_imm = slot->has_imm;
	int rc;

	slot->tag.owner = conn;
	slot->tag.len = xfer->len;
	slot->tag.seq = seq;

	rc = smc_wr_post(slot);
	if (rc)
		return rc;
	/* the completion waits for conn->lock */
	conn->tx_inflight++;
	cdc_count(conn, xfer, has_imm);
	return 0;
}

static void cdc_encode(const struct smc_conn *conn, struct smc_wr_slot *slot,
		       struct smc_cdc_msg *msg)
{
	msg->token = conn->peer_token;
	smc_cdc_encode(msg, slot->msg);
	trace_smc_cdc_tx(smc_link_of(slot->wr), slot->msg, SMC_CDC_LEN);
}

/* The peer's ring is full. */
static void cdc_count_closed(const struct smc_conn *conn, struct smc_wr *wr)
{
	smc_stats_add(conn->stats, SMC_STAT_TX_CLOSED, 1);
	smc_ib_count_shared(&wr->counts, SMC_IB_TX_CLOSED);
}

/* Build the next message, or the immediate data that can say as much. */
static int cdc_build(struct smc_conn *conn, struct smc_wr_slot *slot, const struct smc_xfer *xfer)
{
	struct smc_cdc_msg msg = {};
	int rc;

	if (smc_cdc_may_use_imm(&conn->ctl, xfer->len)) {
		slot->imm = smc_cdc_build_imm(&conn->ctl, xfer->len);
		slot->has_imm = true;
		trace_smc_imm_tx(smc_link_of(slot->wr), slot->imm);
	} else {
		rc = smc_cdc_build(&conn->ctl, xfer, &msg);
		if (rc)
			return rc;
		cdc_encode(conn, slot, &msg);
	}
	if (unlikely(conn->ctl.tx_prod_flags & SMC_CDC_BLOCKED))
		cdc_count_closed(conn, slot->wr);
	return 0;
}

/**
 * smc_cdc_post() - write data to the peer and announce it, or post a message without data
 * @conn: open; its link is the one that @slot belongs to
 * @slot: a free slot with its done function set; consumed in any case
 * @xfer: what to write, planned under the same hold of conn->lock; length 0 for no data. Cut short
 *	  if its pages are too many for one message.
 *
 * Immediate data takes the place of the message where both sides have agreed and nothing is lost.
 * Takes the next sequence number and posts under one hold of the lock, so that CDC order is queue
 * order. On success slot->tag.owner is @conn, and the message counts in conn->tx_inflight. RFC 7609
 * 4.7.1, A.4 (CDC-01, CDC-03, CDC-08, CDC-10, TX-01).
 *
 * Context: Any context but hard interrupt. Expects conn->lock held, and an RCU read section that
 *	    began before the slot was taken.
 * Return: 0; -EPIPE if C or A was sent before, or the link is stopped; -ERANGE if @xfer is more
 *	   than may be written; or what smc_wr_post() returns.
 */
int smc_cdc_post(struct smc_conn *conn, struct smc_wr_slot *slot, struct smc_xfer *xfer)
{
	int rc;

	lockdep_assert_held(&conn->lock);
	cdc_fill_writes(conn, slot, xfer);
	rc = cdc_build(conn, slot, xfer);
	if (rc) {
		smc_wr_slot_put(slot);
		return rc;
	}
	/* The producer position has moved even if the post fails. */
	rc = cdc_post(conn, slot, conn->ctl.tx_seq, xfer);
	if (!rc)
		/* its completion waits for conn->lock */
		smc_conn_time_send(conn, conn->ctl.tx_seq);
	return rc;
}

static_assert(SMC_WR_SHORT_MAX == SMC_IMM_STEP_MAX);

/**
 * smc_cdc_post_short() - post data as one WRITE with immediate data, if that says all
 * @conn: has unsent data, and @conn->attn is 0
 * @link: its link
 *
 * As smc_cdc_post(), without a slot.
 *
 * Context: Any context but hard interrupt. Expects conn->lock held, and an RCU read section.
 * Return: true if it was posted, or has broken the link; false if smc_cdc_post() is to do it.
 */
bool smc_cdc_post_short(struct smc_conn *conn, struct smc_link *link)
{
	struct smc_cdc_ctl *ctl = &conn->ctl;
	/* without an eye catcher, which SMC_ATTN_MEMORY reports */
	u32 to = ctl->tx_sent & (ctl->tx_edge.size - 1);
	u32 from = ctl->tx_sent & (ctl->snd_size - 1);
	/* where a ring ends, so does the message */
	u32 len = min3(smc_cdc_unsent(ctl), ctl->tx_message,
		       min(ctl->snd_size - from, ctl->tx_edge.size - to));
	struct smc_stats_cpu __percpu *stats = conn->stats;
	struct smc_wr_short msg __uninitialized;

	lockdep_assert_held(&conn->lock);
	smc_conn_assert_attn(conn);
	if (len > smc_cdc_window(ctl) || READ_ONCE(link->wr.max_write) ||
	    !smc_cdc_imm_says_all(ctl, len) || !list_empty_careful(&link->waiters) ||
	    !smc_wr_take_credit(&conn->flow, &link->wr))
		return false;
	msg = (struct smc_wr_short){
		.cpu = conn->sndbuf.cpu + from,
		.iova = conn->snd_iova + from,
		.lkey = conn->snd_lkey,
		.len = len,
		.raddr = conn->peer_addr + to,
		.rkey = conn->peer_rkey,
		.imm = smc_cdc_build_imm(ctl, len),
		.seq = ctl->tx_seq,
	};
	trace_smc_imm_tx(link, msg.imm);
	if (unlikely(smc_wr_post_short(&conn->flow, &msg)))
		return true;
	conn->tx_inflight++;
	smc_stats_add(stats, SMC_STAT_IMM_TX, 1);
	smc_stats_add(stats, SMC_STAT_RDMA_WRITES, 1);
	smc_stats_add(stats, SMC_STAT_TX_BYTES, len);
	if (unlikely(ctl->tx_prod_flags & SMC_CDC_BLOCKED))
		cdc_count_closed(conn, &link->wr);
	smc_conn_time_send(conn, ctl->tx_seq);
	return true;
}

/**
 * smc_cdc_post_validation() - post the first message on a new link
 * @conn: has moved to the link that @slot belongs to, and posted nothing there
 * @slot: as with smc_cdc_post()
 *
 * F and the number of the last message known to have arrived. RFC 7609 4.6.1 (FAIL-07, FAIL-11).
 *
 * Context: as smc_cdc_post().
 * Return: 0; -EPIPE if nothing more is to be sent, or the link is stopped; or what smc_wr_post()
 *	   returns.
 */
int smc_cdc_post_validation(struct smc_conn *conn, struct smc_wr_slot *slot)
{
	struct smc_xfer none = {};
	struct smc_cdc_msg msg;
	int rc;

	lockdep_assert_held(&conn->lock);
	rc = smc_cdc_build_validation(&conn->ctl, &msg);
	if (rc) {
		smc_conn_set_phase(conn, SMC_CONN_OPEN);
		smc_wr_slot_put(slot);
		return rc;
	}
	cdc_encode(conn, slot, &msg);
	return cdc_post(conn, slot, msg.seq, &none);
}

/**
 * smc_cdc_post_replay() - write again what did not complete on the old link
 * @conn: has posted the validation message and nothing else
 * @slot: as with smc_cdc_post()
 *
 * One message with a new number stands for all of them. RFC 7609 4.6.2 (FAIL-12, FAIL-14).
 *
 * Context: as smc_cdc_post().
 * Return: as smc_cdc_post().
 */
int smc_cdc_post_replay(struct smc_conn *conn, struct smc_wr_slot *slot)
{
	struct smc_wr *wr = slot->wr;
	struct smc_cdc_msg msg = {};
	struct smc_xfer x;
	int rc;

	lockdep_assert_held(&conn->lock);
	smc_cdc_replay(&conn->ctl, &x);
	rc = smc_cdc_build(&conn->ctl, NULL, &msg);
	if (rc) {
		smc_wr_slot_put(slot);
		return rc;
	}
	smc_pages_to_ring(conn);
	cdc_fill_writes(conn, slot, &x);
	cdc_encode(conn, slot, &msg);
	rc = cdc_post(conn, slot, msg.seq, &x);
	if (!rc)
		smc_ib_count_shared(&wr->counts, SMC_IB_RETRIES);
	return rc;
}

/*
 * Store the urgent byte before the reader reaches it. Out of line it may be consumed at once, which
 * the peer must then learn. Not if the byte came before its mark: the reader may be copying it.
 */
static u32 cdc_keep_urgent(struct smc_conn *conn, u32 events)
{
	bool stays = sock_flag(conn->sk, SOCK_URGINLINE) || !(events & SMC_EV_DATA);

	lockdep_assert_held(&conn->lock);
	smc_cdc_urg_store(&conn->ctl, conn->carrier->byte(conn, conn->ctl.rx_urg_mark), stays);
	return smc_cdc_is_needed(&conn->ctl) ? SMC_EV_UPDATE_REQ : 0;
}

/* Return true if a new window, or a request of the peer, may have made a message due. */
static bool cdc_is_push_due(const struct smc_conn *conn)
{
	return smc_cdc_unsent(&conn->ctl) || smc_cdc_is_needed(&conn->ctl);
}

/* A late message over a link used before is no move. */
static u32 cdc_take(struct smc_conn *conn, const struct smc_cdc_msg *msg)
{
	lockdep_assert_held(&conn->lock);
	if (__test_and_set_bit(msg->link_num, conn->rx_links))
		return smc_cdc_apply(&conn->ctl, msg);
	return smc_cdc_apply_moved(&conn->ctl, msg);
}

/**
 * smc_cdc_take_msg() - apply a message to its connection
 * @conn: the connection; if it is cut off or in set-up it drops the message
 * @msg: the message, with the number of its link, or NULL for immediate data
 * @link_num: the link of immediate data
 * @step: what immediate data announces
 *
 * RFC 7609 A.4 (CDC-05, CDC-12, CUR-12), 4.6.1 (FAIL-10).
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 * Return: events, to be raised without the lock.
 */
u32 smc_cdc_take_msg(struct smc_conn *conn, const struct smc_cdc_msg *msg, u8 link_num, u32 step)
{
	u32 events = SMC_EV_STALE;
	u8 nr_waits;

	lockdep_assert_held(&conn->lock);
	/* before the byte can be seen: a reader must not take it for ordinary data */
	if (msg && unlikely(msg->prod_flags & (SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT))) {
		WRITE_ONCE(conn->attn, conn->attn | SMC_ATTN_URG);
		/* pairs with smp_store_mb() of a reader, which may be passing the byte */
		smp_mb();
	}
	nr_waits = conn->ctl.rx_nr_waits;
	if (smc_conn_is_carried(conn) && conn->ctl.rx_edge.size) {
		events = msg ? cdc_take(conn, msg) :
			       smc_cdc_apply_imm(&conn->ctl, link_num, step);
		conn->rx_jiffies = jiffies;
	}
	if (conn->ctl.rx_nr_waits > nr_waits)
		smc_conn_hold(conn);
	if (unlikely(events & SMC_EV_BLOCKED))
		smc_stats_add(conn->stats, SMC_STAT_RX_CLOSED, 1);
	smc_conn_attend(conn);
	if (events & CDC_EV_PUSH) {
		/* pairs with smp_store_mb() of a reader: what is awaited, then what was read */
		smp_mb();
		if (!cdc_is_push_due(conn))
			events &= ~CDC_EV_PUSH;
	}
	if (events & SMC_EV_DATA)
		conn->rx_stamp = smc_cdc_has_stamps(conn->sk) ? ktime_get_real() : 0;
	/* After an abort no reader gets the data. */
	if (events & SMC_EV_URG && !conn->is_purged) {
		events |= cdc_keep_urgent(conn, events);
		smc_conn_attend(conn);
	}
	return events;
}

/* Apply a message, or immediate data if @msg is NULL, of a link. */
static u32 cdc_apply(struct smc_conn *conn, struct smc_link *link, const struct smc_cdc_msg *msg,
		     u32 step)
{
	u32 events;
	u64 had;

	guard(spinlock_bh)(&conn->lock);
	had = conn->ctl.rx_prod;
	events = smc_cdc_take_msg(conn, msg, link->num, step);
	if (unlikely(!(events & SMC_EV_STALE) && conn->ctl.rx_prod_flags & SMC_CDC_BLOCKED))
		smc_ib_count(&link->wr.counts, SMC_IB_RX_CLOSED, 1);
	if (events & SMC_EV_DATA)
		smc_ib_count(&link->wr.counts, SMC_IB_RX_BYTES, conn->ctl.rx_prod - had);
	return events;
}

/*
 * Apply immediate data that announces bytes and nothing else, to a connection on which nothing is
 * unusual. Return: false to do it the long way: nothing has changed.
 */
static bool cdc_apply_short(struct smc_conn *conn, struct smc_link *link, u32 step)
{
	struct smc_cdc_ctl *ctl = &conn->ctl;
	bool is_short;

	/* bottom halves are off */
	spin_lock(&conn->lock);
	/* the last byte of the element says B */
	is_short = !(conn->attn & CDC_APPLIES_LONG) && link->num &&
		   link->num == ctl->rx_link_num &&
		   ctl->rx_prod + step - ctl->rx_cons_sent < smc_edge_space(&ctl->rx_edge) &&
		   !conn->rx_stamp && !smc_cdc_has_stamps(conn->sk);
	if (likely(is_short)) {
		smc_conn_assert_attn(conn);
		ctl->rx_seq++;
		ctl->rx_prod_flags = 0;
		conn->rx_jiffies = jiffies;
		if (unlikely(conn->attn & SMC_ATTN_PEER))
			smc_conn_attend(conn);
		/* pairs with smp_load_acquire() of a reader: the data, then its end */
		smp_store_release(&ctl->rx_prod, ctl->rx_prod + step);
		smc_ib_count(&link->wr.counts, SMC_IB_RX_BYTES, step);
	}
	spin_unlock(&conn->lock);
	return is_short;
}

/* Apply and raise events. Arguments as of cdc_apply(). Expects an RCU read section. */
static void cdc_deliver(struct smc_conn *conn, struct smc_link *link,
			const struct smc_cdc_msg *msg, u32 step)
{
	struct smc_stats_cpu __percpu *stats = conn ? conn->stats :
							smc_net_stats(link->lgr->key.net);
	u32 events;

	smc_stats_add(stats, msg ? SMC_STAT_CDC_RX : SMC_STAT_IMM_RX, 1);
	if (unlikely(!conn)) {
		smc_stats_add(stats, SMC_STAT_CDC_NO_CONN, 1);
		return;
	}
	events = cdc_apply(conn, link, msg, step);
	if (unlikely(events & SMC_EV_STALE))
		smc_stats_add(stats, SMC_STAT_CDC_STALE, 1);
	if (unlikely(events & SMC_EV_HELD))
		smc_stats_add(stats, SMC_STAT_CDC_HELD, 1);
	if (unlikely(events & (SMC_EV_INVALID | SMC_EV_LOST)))
		smc_stats_add(stats, SMC_STAT_CDC_BAD, 1);
	if (events)
		conn->ops->event(conn, events);
}

/**
 * smc_cdc_rx() - handle a received CDC message; for smc_wr_ops.rx_cdc
 * @wr: the queues of the link
 * @msg: the message
 * @len: its length, any
 *
 * Applies the message to its connection and raises events for the socket. RFC 7609 A.4 (CDC-02,
 * CDC-05, CDC-09, CDC-11, CDC-12, CUR-12, RMB-33).
 *
 * Context: Completion context (softirq). Takes conn->lock.
 */
void smc_cdc_rx(struct smc_wr *wr, const u8 *msg, u32 len)
{
	struct smc_link *link = smc_link_of(wr);
	struct smc_cdc_msg cdc;

	trace_smc_cdc_rx(link, msg, len);
	if (smc_cdc_decode(msg, len, &cdc)) {
		/*
		 * A connection lost data, but which is unknown. The peer is out of sync (ERR-54).
		 */
		smc_stat_inc(link->lgr->key.net, SMC_STAT_CDC_BAD);
		smc_wr_report(wr, SMC_WR_FAULT_PROTOCOL);
		return;
	}
	cdc.link_num = link->num;
	guard(rcu)();
	cdc_deliver(smc_conn_lookup(link->lgr, cdc.token), link, &cdc, 0);
}

/**
 * smc_cdc_rx_imm() - handle received immediate data; for smc_wr_ops.rx_imm
 * @wr: the queues of the link
 * @imm: the 32 bits, any
 *
 * Ignored if the group did not agree on it (AMB-16). Otherwise as a CDC (protocol.md).
 *
 * Context: Completion context, bottom halves off. Takes conn->lock.
 */
void smc_cdc_rx_imm(struct smc_wr *wr, u32 imm)
{
	struct smc_link *link = smc_link_of(wr);
	struct smc_link_group *lgr = link->lgr;
	struct smc_conn *conn;

	trace_smc_imm_rx(link, imm);
	if (!(READ_ONCE(lgr->ext) & SMC_LLC_EXT_IMMEDIATE))
		return;
	guard(rcu)();
	conn = smc_conn_lookup_imm(lgr, smc_imm_get_name(imm));
	if (likely(conn && cdc_apply_short(conn, link, smc_imm_get_step(imm)))) {
		smc_stats_add(conn->stats, SMC_STAT_IMM_RX, 1);
		conn->ops->event(conn, SMC_EV_DATA);
		return;
	}
	cdc_deliver(conn, link, NULL, smc_imm_get_step(imm));
}
