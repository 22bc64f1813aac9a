// SPDX-License-Identifier: GPL-2.0
/*
 * CDC codec and connection control block, RFC 7609 Sections 4.3 to 4.7 and A.4.
 *
 * Operation: a received message is checked completely before any of it is applied. Building a
 * message commits it: the caller must post it under the same hold of the connection's lock. A
 * failure to post counts as loss of the link; smc_cdc_replay() then repairs the connection.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#include "proto/smc_cdc_wire.h"

#define SMC_CDC_ENDS	(SMC_CDC_DONE | SMC_CDC_FINAL)

/*
 * Limit of sequence numbers in use but not known to have arrived. A link has far fewer slots; a
 * peer cannot order numbers that are more than 32767 apart.
 */
#define SMC_CDC_AHEAD_MAX	1024

/* Sequence numbers wrap; an equal one is a duplicate (CDC-06, AMB-14). */
static bool smc_cdc_seq_is_newer(u16 seq, u16 than)
{
	return (s16)(seq - than) > 0;
}

/**
 * smc_cdc_decode() - decode a received CDC message
 * @buf: received bytes
 * @len: number of received bytes
 * @msg: receives the message; only written on success
 *
 * RFC 7609 A.4, W19 (CDC-01). smc_cdc_apply() checks the cursors and ignores reserved flags. The
 * bytes behind the flags are reserved; deployed peers do not require them either (protocol.md),
 * but the length byte must be that of the whole message.
 *
 * Context: Any context.
 * Return: 0, or -EBADMSG if the message is too short or has a wrong type or length byte.
 */
int smc_cdc_decode(const void *buf, size_t len, struct smc_cdc_msg *msg)
{
	const struct smc_cdc_wire *w = buf;

	if (len < SMC_CDC_USED_LEN)
		return -EBADMSG;
	if (w->type != SMC_CDC_TYPE || w->length != SMC_CDC_LEN)
		return -EBADMSG;
	msg->seq = be16_to_cpu(w->seq);
	msg->token = be32_to_cpu(w->token);
	msg->prod = smc_cursor_from_wire(&w->prod);
	msg->cons = smc_cursor_from_wire(&w->cons);
	msg->prod_flags = w->prod_flags;
	msg->conn_flags = w->conn_flags;
	msg->link_num = 0;
	return 0;
}

/**
 * smc_cdc_encode() - encode a CDC message, RFC 7609 A.4, W19 (CDC-01)
 * @msg: the message
 * @buf: receives its 44 bytes; reserved bytes are zero
 *
 * Context: Any context.
 */
void smc_cdc_encode(const struct smc_cdc_msg *msg, u8 buf[SMC_CDC_LEN])
{
	struct smc_cdc_wire *w = (struct smc_cdc_wire *)buf;

	memset(w, 0, sizeof(*w));
	w->type = SMC_CDC_TYPE;
	w->length = SMC_CDC_LEN;
	w->seq = cpu_to_be16(msg->seq);
	w->token = cpu_to_be32(msg->token);
	smc_cursor_to_wire(msg->prod, &w->prod);
	smc_cursor_to_wire(msg->cons, &w->cons);
	w->prod_flags = msg->prod_flags;
	w->conn_flags = msg->conn_flags;
}

/**
 * smc_cdc_ctl_init() - set up a control block with empty rings
 * @ctl: the control block
 * @base: start of data in both elements
 * @rx_size: of our element
 * @tx_size: of the peer's element
 * @snd_size: of the send ring
 *
 * RFC 7609 4.3 and 4.7.1 (CUR-03, CUR-04, CDC-03, AMB-15). Sizes: up to SMC_ELEM_SIZE_MAX.
 *
 * Context: Any context, before the first message can arrive.
 */
void smc_cdc_ctl_init(struct smc_cdc_ctl *ctl, u16 base, u32 rx_size, u32 tx_size, u32 snd_size)
{
	memset(ctl, 0, sizeof(*ctl));
	ctl->rx_edge = (struct smc_edge){ .size = rx_size, .base = base };
	ctl->tx_edge = (struct smc_edge){ .base = base };
	ctl->snd_size = snd_size;
	ctl->tx_proof = 1;
	smc_cdc_set_peer_size(ctl, tx_size);
}

/**
 * smc_cdc_set_peer_size() - set the size of the peer's element
 * @ctl: the control block; nothing was sent yet
 * @size: up to SMC_ELEM_SIZE_MAX
 *
 * Context: Any context.
 */
void smc_cdc_set_peer_size(struct smc_cdc_ctl *ctl, u32 size)
{
	ctl->tx_edge.size = size;
	ctl->tx_message = smc_ring_message(ctl->snd_size, smc_edge_space(&ctl->tx_edge));
}

/*
 * Return the bytes by which a received producer cursor advances ours, or -ERANGE if it is
 * impossible. The writer computes its window from the last cursor we sent, so the limit starts
 * there and not at rx_cons (CUR-07, CUR-12).
 */
static int smc_cdc_prod_step(const struct smc_cdc_ctl *ctl,
			     struct smc_cursor prod)
{
	u32 space = smc_edge_space(&ctl->rx_edge);
	u64 pos;

	if (smc_edge_pos(&ctl->rx_edge, prod, &pos))
		return -ERANGE;
	if (pos - ctl->rx_prod <= space)
		return pos - ctl->rx_cons_sent <= space ? pos - ctl->rx_prod : -ERANGE;
	/*
	 * After a failover a deployed peer restarts at its last completed send. A message without
	 * data may carry that old cursor before the data is repeated (protocol.md). It is not from
	 * before the first byte, where positions are huge.
	 */
	if (ctl->rx_is_replayed && ctl->rx_prod - pos <= min_t(u64, space, ctl->rx_prod))
		return 0;
	return -ERANGE;
}

/* Same for the consumer cursor: it never steps back and never passes tx_sent. */
static int smc_cdc_cons_step(const struct smc_cdc_ctl *ctl,
			     struct smc_cursor cons)
{
	u64 pos;

	if (smc_edge_pos(&ctl->tx_edge, cons, &pos) ||
	    pos - ctl->tx_cons > ctl->tx_sent - ctl->tx_cons)
		return -ERANGE;
	return pos - ctl->tx_cons;
}

/* Return: true if the message is of the present producer position, which it may have set. */
static bool smc_cdc_is_at_prod(const struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg)
{
	return smc_cursor_is_equal(smc_edge_cursor(&ctl->rx_edge, ctl->rx_prod), msg->prod);
}

/* Bit n of entry m: the transition from state m to state n is legal. */
static const u8 smc_cdc_urg_moves[SMC_URG_NR_STATES] = {
	[SMC_URG_NONE]			= BIT(SMC_URG_IN_STREAM),
	[SMC_URG_IN_STREAM]		= BIT(SMC_URG_IN_STREAM_UNREAD) |
					  BIT(SMC_URG_OUT_OF_LINE) | BIT(SMC_URG_NONE),
	[SMC_URG_IN_STREAM_UNREAD]	= BIT(SMC_URG_IN_STREAM) |
					  BIT(SMC_URG_OUT_OF_LINE_UNREAD) | BIT(SMC_URG_NONE),
	[SMC_URG_OUT_OF_LINE]		= BIT(SMC_URG_IN_STREAM) | BIT(SMC_URG_NONE),
	[SMC_URG_OUT_OF_LINE_UNREAD]	= BIT(SMC_URG_OUT_OF_LINE) |
					  BIT(SMC_URG_IN_STREAM) | BIT(SMC_URG_NONE),
};

/* Returns false for an illegal transition. A new mark may replace an unread one (AMB-52). */
static bool smc_cdc_urg_move(struct smc_cdc_ctl *ctl, enum smc_urg_state to)
{
	if (!(smc_cdc_urg_moves[ctl->rx_urg] & BIT(to)))
		return false;
	ctl->rx_urg = to;
	return true;
}

/* U: the byte just before the producer cursor is urgent (URG-05). A repeated mark is ignored. */
static u32 smc_cdc_take_mark(struct smc_cdc_ctl *ctl)
{
	u64 mark = ctl->rx_prod - 1;

	if (smc_urg_is_in_stream(ctl->rx_urg) && mark == ctl->rx_urg_mark)
		return 0;
	ctl->rx_urg_mark = mark;
	smc_cdc_urg_move(ctl, SMC_URG_IN_STREAM);
	return SMC_EV_URG;
}

/*
 * Handle P and U. Each urgent byte is reported once, as early as possible (URG-04): with P if P
 * precedes the byte, otherwise with U.
 */
static u32 smc_cdc_take_urgent(struct smc_cdc_ctl *ctl,
			       const struct smc_cdc_msg *msg)
{
	bool was_pending = smc_cdc_urg_is_pending(ctl->rx_prod_flags);
	bool is_pending = smc_cdc_urg_is_pending(msg->prod_flags);
	/* An outdated cursor would set the mark at a wrong position. */
	bool has_mark = msg->prod_flags & SMC_CDC_URG_PRESENT &&
			smc_cdc_is_at_prod(ctl, msg);
	bool is_read = has_mark && smc_cdc_readable(ctl) == 0;
	u32 events = 0;

	if (has_mark && !is_read)
		events = smc_cdc_take_mark(ctl);
	if (!was_pending && (events || is_pending))
		events |= SMC_EV_URG_PENDING;
	if (!is_read)
		return events;
	/* The byte was read already, but the peer waits for an update (URG-06). */
	ctl->rx_is_update_due = true;
	return events | SMC_EV_UPDATE_REQ;
}

static u32 smc_cdc_take_prod(struct smc_cdc_ctl *ctl,
			     const struct smc_cdc_msg *msg, u32 step)
{
	u32 events = 0;

	if (step) {
		/* a reader without the lock sees what was written before */
		smp_store_release(&ctl->rx_prod, ctl->rx_prod + step);
		events |= SMC_EV_DATA;
	}
	if (ctl->rx_is_replayed && smc_cdc_is_at_prod(ctl, msg))
		ctl->rx_is_replayed = false;
	if (msg->prod_flags & SMC_CDC_BLOCKED)
		events |= SMC_EV_BLOCKED;
	if (msg->prod_flags & SMC_CDC_UPDATE_REQ) {
		ctl->rx_is_update_due = true;
		events |= SMC_EV_UPDATE_REQ;
	}
	events |= smc_cdc_take_urgent(ctl, msg);
	ctl->rx_prod_flags = msg->prod_flags;
	return events;
}

static u32 smc_cdc_take_cons(struct smc_cdc_ctl *ctl, u32 step)
{
	if (!step)
		return 0;
	/* a writer without the lock sees what the reader did before */
	smp_store_release(&ctl->tx_cons, ctl->tx_cons + step);
	smc_edge_move(&ctl->tx_edge, ctl->tx_cons);
	return SMC_EV_SPACE;
}

/* Stored flags never clear, so store only defined ones. */
static u32 smc_cdc_take_conn_flags(struct smc_cdc_ctl *ctl, u8 conn_flags)
{
	u8 new_flags = conn_flags & SMC_CDC_ENDS & ~ctl->rx_conn_flags;
	u32 events = 0;

	ctl->rx_conn_flags |= new_flags;
	if (new_flags & SMC_CDC_DONE)
		events |= SMC_EV_DONE;
	if (new_flags & SMC_CDC_CLOSED)
		events |= SMC_EV_CLOSED;
	if (new_flags & SMC_CDC_ABORT)
		events |= SMC_EV_ABORT;
	return events;
}

/* Number of missing messages that were sent before @seq */
static u8 smc_cdc_nr_due_before(const struct smc_cdc_ctl *ctl, u16 seq)
{
	u8 n;

	for (n = 0; n < ctl->rx_nr_waits; n++)
		if (!smc_cdc_seq_is_newer(seq, ctl->rx_wait[n].seq_due))
			break;
	return n;
}

/* Number of the last message received without a gap behind the first @n missing ones */
static u16 smc_cdc_newest_behind(const struct smc_cdc_ctl *ctl, u8 n)
{
	const struct smc_cdc_wait *wait;

	if (!n)
		return ctl->rx_seq;
	wait = &ctl->rx_wait[n - 1];
	return wait->nr_held ? wait->held[wait->nr_held - 1].seq : wait->seq_due;
}

/*
 * Process a validation, the first message after a failover (FAIL-07 to FAIL-10). Only SS, its
 * sequence number, counts (CDC-15); it does not advance rx_seq (CDC-04).
 *
 * The message SS names reached our RNIC over the old link, whose queue may be drained later than
 * the new one's. Until it arrives, messages of the new link are held. After several failovers the
 * newest validation may arrive first, so rx_wait is sorted. Overflow is a loss.
 */
static u32 smc_cdc_validate(struct smc_cdc_ctl *ctl, u16 seq)
{
	u8 n;

	/* C is the last message and arrived in order: nothing is missing, CDC-14. */
	if (ctl->rx_conn_flags & SMC_CDC_CLOSED)
		return SMC_EV_VALID;
	n = smc_cdc_nr_due_before(ctl, seq);
	if (!smc_cdc_seq_is_newer(seq, smc_cdc_newest_behind(ctl, n))) {
		if (n)
			return SMC_EV_HELD;
		ctl->rx_is_replayed = true;
		return SMC_EV_VALID;
	}
	/* no message was sent between two failovers */
	if (n < ctl->rx_nr_waits && ctl->rx_wait[n].seq_due == seq)
		return SMC_EV_HELD;
	if (ctl->rx_nr_waits == SMC_CDC_WAITS_MAX)
		return SMC_EV_LOST;
	static_assert(SMC_CDC_WAITS_MAX == 2);
	if (!n)
		ctl->rx_wait[1] = ctl->rx_wait[0];
	ctl->rx_nr_waits++;
	ctl->rx_wait[n].seq_due = seq;
	ctl->rx_wait[n].nr_held = 0;
	return SMC_EV_HELD;
}

/* A message came on another link. What is sent behind it will prove to the peer that it did. */
static void smc_cdc_note_link(struct smc_cdc_ctl *ctl, u8 link_num)
{
	ctl->rx_link_num = link_num;
	ctl->rx_proof = ctl->rx_prod + 1;
}

/* The next CDC reports what was read. */
static void smc_cdc_report_cons(struct smc_cdc_ctl *ctl)
{
	ctl->rx_cons_sent = READ_ONCE(ctl->rx_cons);
	smc_edge_move(&ctl->rx_edge, ctl->rx_cons_sent);
	ctl->rx_is_update_due = false;
}

/* Apply a message without F, completely or not at all. */
static u32 smc_cdc_take(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg)
{
	int prod_step, cons_step;
	u32 events;

	if (!smc_cdc_seq_is_newer(msg->seq, ctl->rx_seq))
		return SMC_EV_STALE;
	/* only A counts, like a RST: the stream ended only if D or C came before it */
	if (msg->conn_flags & SMC_CDC_ABORT)
		return smc_cdc_take_conn_flags(ctl, SMC_CDC_ABORT);
	if (ctl->rx_conn_flags & SMC_CDC_CLOSED)
		return SMC_EV_STALE;
	prod_step = smc_cdc_prod_step(ctl, msg->prod);
	cons_step = smc_cdc_cons_step(ctl, msg->cons);
	if (prod_step < 0 || cons_step < 0)
		return SMC_EV_INVALID;
	/* The end of the stream may have been reported already. */
	if (prod_step && ctl->rx_conn_flags & SMC_CDC_DONE)
		return SMC_EV_INVALID;
	ctl->rx_seq = msg->seq;
	events = smc_cdc_take_cons(ctl, cons_step);
	events |= smc_cdc_take_prod(ctl, msg, prod_step);
	events |= smc_cdc_take_conn_flags(ctl, msg->conn_flags);
	if (msg->link_num != ctl->rx_link_num)
		smc_cdc_note_link(ctl, msg->link_num);
	return events;
}

/*
 * Each message supersedes an earlier one, except for U, which belongs to its own cursor, and R,
 * which persists. So few entries suffice: a writer stops behind an urgent byte until it receives
 * our acknowledgment, which also waits here.
 */
static u32 smc_cdc_hold(struct smc_cdc_wait *wait, const struct smc_cdc_msg *msg)
{
	struct smc_cdc_msg *last = NULL;
	u8 update_req = 0;

	if (wait->nr_held)
		last = &wait->held[wait->nr_held - 1];
	if (last && !smc_cdc_seq_is_newer(msg->seq, last->seq))
		return SMC_EV_STALE;
	if (!last || last->prod_flags & SMC_CDC_URG_PRESENT) {
		if (wait->nr_held == SMC_CDC_HELD_MAX)
			return SMC_EV_INVALID;
		last = &wait->held[wait->nr_held++];
	} else {
		update_req = last->prod_flags & SMC_CDC_UPDATE_REQ;
	}
	*last = *msg;
	last->prod_flags |= update_req;
	return SMC_EV_HELD;
}

/* The first missing message has arrived: apply what was held behind it. */
static u32 smc_cdc_release(struct smc_cdc_ctl *ctl)
{
	struct smc_cdc_wait *wait = ctl->rx_wait;
	u32 events = 0;
	u8 i;

	for (i = 0; i < wait->nr_held && !(events & SMC_EV_INVALID); i++) {
		/* a validation may have preceded each one and was not held */
		ctl->rx_is_replayed = true;
		events |= smc_cdc_take(ctl, &wait->held[i]);
	}
	ctl->rx_is_replayed = true;
	ctl->rx_nr_waits--;
	ctl->rx_wait[0] = ctl->rx_wait[1];
	return events & ~SMC_EV_STALE;
}

/**
 * smc_cdc_apply() - apply a received CDC message
 * @ctl: the control block of the connection that the token named
 * @msg: the message
 *
 * RFC 7609 Sections 4.3 to 4.7 and A.4 (CDC-05, CDC-06, CDC-12, CDC-13, CDC-15, CUR-11, CUR-12,
 * URG-05, WIN-08, WIN-09, FAIL-06, FAIL-09, FAIL-10). A message takes effect completely or not at
 * all. Cursors of a message with A are ignored. After C only A is applied (CDC-14). Data after D
 * is invalid (CLOSE-26). Messages may arrive on any link (FAIL-17).
 *
 * If @ctl->rx_nr_waits has increased, a message is missing that the peer's RNIC reported as
 * delivered. The caller must call smc_cdc_give_up() if it does not arrive in time.
 *
 * Context: The connection's lock is held. On SMC_EV_URG the caller must call smc_cdc_urg_store()
 * under the same hold. On SMC_EV_BLOCKED, SMC_EV_UPDATE_REQ and SMC_EV_SPACE it must check
 * smc_cdc_is_needed() and try to write.
 * Return: SMC_EV_ bits, 0 if nothing is new. SMC_EV_INVALID and SMC_EV_LOST require an abort.
 */
u32 smc_cdc_apply(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg)
{
	u32 events;
	u8 n;

	if (ctl->rx_conn_flags & SMC_CDC_ABORT)
		return SMC_EV_STALE;
	/* after our A only the peer's C or A matters: ABRT-04 */
	if (ctl->tx_conn_flags & SMC_CDC_ABORT && !(msg->conn_flags & SMC_CDC_FINAL))
		return SMC_EV_STALE;
	if (msg->prod_flags & SMC_CDC_FAILOVER)
		return smc_cdc_validate(ctl, msg->seq);
	n = smc_cdc_nr_due_before(ctl, msg->seq);
	if (n && !(msg->conn_flags & SMC_CDC_ABORT))
		return smc_cdc_hold(&ctl->rx_wait[n - 1], msg);
	events = smc_cdc_take(ctl, msg);
	while (ctl->rx_nr_waits && !smc_cdc_seq_is_newer(ctl->rx_wait[0].seq_due, ctl->rx_seq))
		events |= smc_cdc_release(ctl);
	return events;
}

/**
 * smc_cdc_apply_moved() - apply the first message that arrived over a link
 * @ctl: the control block of the connection that the token named
 * @msg: the message
 *
 * A peer may move a connection without a validation (FAIL-11). A message with data then counts as
 * one: if earlier messages are missing, so is data (FAIL-10, FAIL-17; RFC 7609 4.6.1). One
 * without data carries all state itself (CDC-08). Deployed peers do this after one direction has
 * ended, and do not repeat lost data (protocol.md).
 *
 * Context: As smc_cdc_apply().
 * Return: As smc_cdc_apply().
 */
u32 smc_cdc_apply_moved(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg)
{
	u16 last = msg->seq - 1;

	if (!(msg->prod_flags & SMC_CDC_FAILOVER) &&
	    !((msg->conn_flags | ctl->rx_conn_flags) & SMC_CDC_ABORT) &&
	    smc_cdc_seq_is_newer(last, ctl->rx_seq) &&
	    !smc_cdc_is_at_prod(ctl, msg) &&
	    smc_cdc_validate(ctl, last) & SMC_EV_LOST)
		return SMC_EV_LOST;
	return smc_cdc_apply(ctl, msg);
}

/**
 * smc_cdc_give_up() - stop waiting for messages that a validation found missing
 * @ctl: the control block
 *
 * Context: The connection's lock is held.
 * Return: 0, or SMC_EV_LOST if a message is still missing (FAIL-10): abort the connection.
 */
u32 smc_cdc_give_up(struct smc_cdc_ctl *ctl)
{
	/* after A or C nothing is missing */
	if (ctl->rx_conn_flags & (SMC_CDC_ABORT | SMC_CDC_CLOSED))
		return 0;
	return ctl->rx_nr_waits ? SMC_EV_LOST : 0;
}

/**
 * smc_cdc_consume() - advance the consumer cursor after a read
 * @ctl: the control block
 * @n: bytes read
 *
 * RFC 7609 Sections 4.7.1 and 4.7.5 (CUR-06, TX-09, WIN-11, URG-06, AMB-62). Reading past the
 * urgent byte makes an update due whatever the window. MSG_OOB then fails, as with TCP.
 *
 * Context: The connection's lock is held. The caller then checks smc_cdc_is_needed().
 * Return: 0, or -ERANGE if fewer bytes are readable; then nothing changed.
 */
int smc_cdc_consume(struct smc_cdc_ctl *ctl, u32 n)
{
	s64 mark = smc_cdc_urg_distance(ctl);
	bool is_mark_passed = mark >= 0 && n > mark;

	if (n > smc_cdc_readable(ctl))
		return -ERANGE;
	ctl->rx_cons += n;
	if (is_mark_passed || (n && smc_urg_is_out_of_line(ctl->rx_urg)))
		smc_cdc_urg_pass(ctl);
	ctl->rx_is_update_due |= is_mark_passed;
	return 0;
}

/**
 * smc_cdc_urg_settle() - look whether a reader has passed a mark that came while it was reading
 * @ctl: the control block, whose rx_cons has advanced without the lock
 *
 * As smc_cdc_consume() would have done it.
 *
 * Context: As smc_cdc_consume().
 */
void smc_cdc_urg_settle(struct smc_cdc_ctl *ctl)
{
	if (!smc_urg_is_in_stream(ctl->rx_urg) || ctl->rx_urg_mark >= ctl->rx_cons)
		return;
	smc_cdc_urg_pass(ctl);
	ctl->rx_is_update_due = true;
}

/* Bytes before the urgent byte, 0 if it is next (SIOCATMARK); -ENODATA without an unread mark. */
s64 smc_cdc_urg_distance(const struct smc_cdc_ctl *ctl)
{
	if (!smc_urg_is_in_stream(ctl->rx_urg))
		return -ENODATA;
	return ctl->rx_urg_mark - ctl->rx_cons;
}

/**
 * smc_cdc_is_at_mark() - check whether the reader is at the urgent byte (SIOCATMARK, API-11)
 * @ctl: the control block
 * @seen: bytes from rx_cons on that the reader has peeked at
 *
 * Context: As smc_cdc_readable().
 * Return: true before an urgent byte, or where one was removed and nothing was read since.
 */
bool smc_cdc_is_at_mark(const struct smc_cdc_ctl *ctl, u32 seen)
{
	if (smc_urg_is_out_of_line(ctl->rx_urg) && !seen)
		return true;
	return smc_cdc_urg_distance(ctl) == seen;
}

/**
 * smc_cdc_read_limit() - limit the bytes of one read
 * @ctl: the control block
 * @seen: bytes from rx_cons on that the reader has peeked at
 *
 * A read stops before the urgent byte, unless it starts there. For a byte out of line the caller
 * has called smc_cdc_urg_take_out() before.
 *
 * Context: As smc_cdc_readable().
 * Return: bytes behind those seen.
 */
u32 smc_cdc_read_limit(const struct smc_cdc_ctl *ctl, u32 seen)
{
	u32 readable = smc_cdc_readable(ctl);
	s64 mark = smc_cdc_urg_distance(ctl);

	if (seen >= readable)
		return 0;
	return mark > seen ? mark - seen : readable - seen;
}

/**
 * smc_cdc_urg_store() - store the urgent byte that SMC_EV_URG reported
 * @ctl: the control block
 * @byte: the byte at rx_urg_mark
 * @is_inline: the byte stays in the stream (SO_OOBINLINE)
 *
 * RFC 7609 Section 4.7.5 (URG-05, URG-06). The copy is safe from the peer. If the byte is out of
 * line and nothing precedes it, it leaves the element at once and the peer may continue: an
 * application that waits for ordinary data would never free its space.
 *
 * Context: The connection's lock is held since smc_cdc_apply(). Then check smc_cdc_is_needed().
 */
void smc_cdc_urg_store(struct smc_cdc_ctl *ctl, u8 byte, bool is_inline)
{
	if (!smc_cdc_urg_move(ctl, SMC_URG_IN_STREAM_UNREAD))
		return;
	ctl->rx_urg_byte = byte;
	if (!is_inline)
		smc_cdc_urg_take_out(ctl);
}

/**
 * smc_cdc_urg_take_out() - take the urgent byte out of the stream for a reader that reached it
 * @ctl: the control block
 *
 * Context: The connection's lock is held. The caller then checks smc_cdc_is_needed().
 * Return: true if the byte left the stream, as processed (URG-06); false if it is not next.
 */
bool smc_cdc_urg_take_out(struct smc_cdc_ctl *ctl)
{
	if (smc_cdc_urg_distance(ctl) != 0)
		return false;
	ctl->rx_cons++;
	ctl->rx_is_update_due = true;
	return smc_cdc_urg_move(ctl, smc_urg_is_unread(ctl->rx_urg) ?
				     SMC_URG_OUT_OF_LINE_UNREAD : SMC_URG_OUT_OF_LINE);
}

/**
 * smc_cdc_urg_pass() - drop a mark: the reader has passed it, or read the removed byte in line
 * @ctl: the control block
 *
 * MSG_OOB no longer returns the byte. SO_OOBINLINE may be set after the byte was removed.
 *
 * Context: The connection's lock is held.
 */
void smc_cdc_urg_pass(struct smc_cdc_ctl *ctl)
{
	smc_cdc_urg_move(ctl, SMC_URG_NONE);
}

/**
 * smc_cdc_urg_read() - read the urgent byte for recv() with MSG_OOB
 * @ctl: the control block
 * @is_peek: leave the byte unread; otherwise it is gone even if delivery fails, as with TCP
 *
 * Context: The connection's lock is held.
 * Return: the byte; -EAGAIN if it is announced and has not arrived (URG-04); -EINVAL if there is
 * none or it was read (API-11).
 */
int smc_cdc_urg_read(struct smc_cdc_ctl *ctl, bool is_peek)
{
	if (!smc_urg_is_unread(ctl->rx_urg))
		return smc_cdc_urg_is_pending(ctl->rx_prod_flags) ? -EAGAIN : -EINVAL;
	if (!is_peek)
		smc_cdc_urg_move(ctl, smc_urg_is_in_stream(ctl->rx_urg) ?
				      SMC_URG_IN_STREAM : SMC_URG_OUT_OF_LINE);
	return ctl->rx_urg_byte;
}

/*
 * False while an urgent byte is unacknowledged (URG-07), after our D, C or A (CDC-14, ABRT-12), and
 * after the peer's C or A. The window is another limit.
 */
bool smc_cdc_may_write(const struct smc_cdc_ctl *ctl)
{
	return ctl->tx_cons >= ctl->tx_urg_sent && !ctl->tx_conn_flags &&
	       !(ctl->rx_conn_flags & SMC_CDC_FINAL);
}

/*
 * How many bytes the next CDC may announce, without regard to the window. A write ends behind an
 * urgent byte: U marks the producer cursor's position (URG-02, URG-16).
 */
static u32 smc_cdc_write_limit(const struct smc_cdc_ctl *ctl)
{
	u64 end = READ_ONCE(ctl->tx_prep);

	if (!smc_cdc_may_write(ctl))
		return 0;
	if (smc_cdc_has_urgent(ctl)) {
		end = min(end, ctl->tx_urg);
		/* An open mark may still move: hold its byte back. */
		if (ctl->tx_urg_is_open && ctl->tx_urg_last <= ctl->tx_urg)
			end = min(end, ctl->tx_urg - 1);
	}
	return end - ctl->tx_sent;
}

/**
 * smc_cdc_plan() - plan the next message with data
 * @ctl: the control block
 * @most: limit of its bytes, usually @ctl->tx_message
 * @x: receives the plan; x->len 0 if nothing can be written now
 *
 * The end of the data, the window and urgent bytes bound it, too. TX-06, BLK-01.
 *
 * Context: The connection's lock is held until the plan was posted with smc_cdc_build().
 */
void smc_cdc_plan(const struct smc_cdc_ctl *ctl, u32 most, struct smc_xfer *x)
{
	u32 len = min3(smc_cdc_write_limit(ctl), smc_cdc_window(ctl), most);

	smc_ring_plan(ctl->snd_size, &ctl->tx_edge, ctl->tx_sent, len, x);
}

/* After C or A the connection sends nothing (CDC-14). */
static bool smc_cdc_is_final(const struct smc_cdc_ctl *ctl)
{
	return ctl->tx_conn_sent & SMC_CDC_FINAL;
}

static bool smc_cdc_is_update_due(const struct smc_cdc_ctl *ctl)
{
	u32 unread = READ_ONCE(ctl->rx_prod) - ctl->rx_cons_sent;
	u32 window = smc_edge_space(&ctl->rx_edge) - unread;

	/* A peer that has closed or aborted writes no more. */
	return !(ctl->rx_conn_flags & SMC_CDC_FINAL) &&
	       smc_ring_is_update_due(&ctl->rx_edge, window,
				      READ_ONCE(ctl->rx_cons) - ctl->rx_cons_sent,
				      smc_cdc_is_update_awaited(ctl));
}

/**
 * smc_cdc_is_needed() - check whether a CDC without data must be sent
 * @ctl: the control block
 *
 * Reasons, RFC 7609 Sections 4.5.1, 4.7.6 and A.4: D, C or A was not sent yet; a window update is
 * due (WIN-02, WIN-08, WIN-09, URG-06); we are blocked and B was not sent (BLK-06); urgent data
 * cannot be written now and P was not sent (URG-01, URG-10).
 *
 * Context: The connection's lock is held. Plan first: a CDC with data covers all this.
 * Return: true if smc_cdc_build() without a transfer should be posted.
 */
bool smc_cdc_is_needed(const struct smc_cdc_ctl *ctl)
{
	u8 unsent_flags = ~ctl->tx_prod_flags;

	if (ctl->tx_is_replaying)
		return true;
	if (smc_cdc_is_final(ctl))
		return false;
	if (ctl->tx_conn_flags & ~ctl->tx_conn_sent)
		return true;
	if (smc_cdc_is_update_due(ctl))
		return true;
	if (!smc_cdc_unsent(ctl) || (ctl->rx_conn_flags & SMC_CDC_FINAL))
		return false;
	if (!smc_cdc_window(ctl) && (unsent_flags & SMC_CDC_BLOCKED))
		return true;
	return smc_cdc_has_urgent(ctl) && (unsent_flags & SMC_CDC_URG_PENDING) &&
	       (!smc_cdc_window(ctl) || !smc_cdc_write_limit(ctl));
}

/*
 * The last byte of the data is urgent. A new mark waits until the previous one is written (AMB-52).
 * Of several waiting marks the last counts, as with TCP's urgent pointer. RFC 7609 4.7.5; URG-01,
 * URG-08.
 */
void smc_cdc_mark_urgent(struct smc_cdc_ctl *ctl)
{
	ctl->tx_urg_is_open = false;
	if (smc_cdc_has_urgent(ctl))
		ctl->tx_urg_last = ctl->tx_prep;
	else
		ctl->tx_urg = ctl->tx_prep;
}

/**
 * smc_cdc_open_urgent() - mark urgent data that is not complete yet
 * @ctl: the control block
 *
 * For a send() that does not fit the ring: P is sent at once (URG-01). The mark moves with each
 * piece and is held back until smc_cdc_end_urgent(). U comes with the last piece (URG-16).
 *
 * Context: As smc_cdc_mark_urgent().
 */
void smc_cdc_open_urgent(struct smc_cdc_ctl *ctl)
{
	if (!ctl->tx_urg_is_open)
		smc_cdc_mark_urgent(ctl);
	else if (ctl->tx_urg_last > ctl->tx_urg)
		ctl->tx_urg_last = ctl->tx_prep;
	else
		ctl->tx_urg = ctl->tx_prep;
	ctl->tx_urg_is_open = true;
}

/**
 * smc_cdc_end_urgent() - fix the position of an open mark
 * @ctl: the control block
 *
 * Context: As smc_cdc_mark_urgent().
 */
void smc_cdc_end_urgent(struct smc_cdc_ctl *ctl)
{
	ctl->tx_urg_is_open = false;
}

/**
 * smc_cdc_set_conn_flags() - add D, C or A to the next CDC
 * @ctl: the control block
 * @conn_flags: SMC_CDC_DONE, SMC_CDC_CLOSED, SMC_CDC_ABORT
 *
 * No data follows. Once C or A was sent, flags are ignored. RFC 7609 4.8 (CDC-13, CDC-14).
 *
 * Context: The connection's lock is held. A CDC is needed afterwards.
 */
void smc_cdc_set_conn_flags(struct smc_cdc_ctl *ctl, u8 conn_flags)
{
	if (!smc_cdc_is_final(ctl))
		ctl->tx_conn_flags |= conn_flags;
}

/* @len bytes were written, up to an urgent one at most. Return true if the next CDC covers one. */
static bool smc_cdc_pass_urgent(struct smc_cdc_ctl *ctl, u32 len)
{
	if (!len || ctl->tx_urg != ctl->tx_sent)
		return false;
	ctl->tx_urg_sent = ctl->tx_sent;
	ctl->tx_urg = max(ctl->tx_urg, ctl->tx_urg_last);
	return true;
}

/*
 * B is set whenever the window is empty: the peer then reports any free space (AMB-51, BLK-05). U
 * is set only in the message whose cursor reaches the mark. A deployed receiver expects U with
 * new data, and takes P without new data for another urgent byte (protocol.md).
 */
static u8 smc_cdc_prod_flags(const struct smc_cdc_ctl *ctl, bool is_urgent)
{
	u8 flags = 0;

	if (!smc_cdc_window(ctl))
		flags |= SMC_CDC_BLOCKED;
	if (smc_cdc_has_urgent(ctl) || is_urgent)
		flags |= SMC_CDC_URG_PENDING;
	if (is_urgent)
		flags |= SMC_CDC_URG_PRESENT;
	return flags;
}

/**
 * smc_cdc_build() - build the next CDC and commit it
 * @ctl: the control block
 * @x: the transfer it announces, or NULL
 * @msg: receives the message except its token, which the caller sets
 *
 * RFC 7609 Sections 4.5 to 4.8 and A.4: a new sequence number (CDC-03, CDC-07), the current
 * cursors (CDC-08, WIN-07), B, P, U (BLK-01, BLK-05, URG-03, URG-09, URG-12), D, C, A (CDC-13). R
 * is never set (WIN-10).
 *
 * Context: The connection's lock is held; posting happens under the same hold.
 * Return: 0; -EPIPE if C or A was sent before (CDC-14); -ERANGE if @x is too long, nothing
 * changed.
 */
int smc_cdc_build(struct smc_cdc_ctl *ctl, const struct smc_xfer *x,
		  struct smc_cdc_msg *msg)
{
	bool is_urgent = ctl->tx_is_replaying && ctl->tx_cons < ctl->tx_urg_sent;
	u32 len = x ? x->len : 0;

	if (smc_cdc_is_final(ctl) && !ctl->tx_is_replaying)
		return -EPIPE;
	if (len > smc_cdc_window(ctl) || len > smc_cdc_write_limit(ctl))
		return -ERANGE;
	ctl->tx_sent += len;
	if (smc_cdc_pass_urgent(ctl, len))
		is_urgent = true;
	ctl->tx_seq++;
	ctl->tx_prod_flags = smc_cdc_prod_flags(ctl, is_urgent);
	ctl->tx_conn_sent = ctl->tx_conn_flags;
	if (smc_cdc_is_final(ctl))
		ctl->tx_seq_final = ctl->tx_seq;
	smc_cdc_report_cons(ctl);
	ctl->tx_is_replaying = false;

	msg->seq = ctl->tx_seq;
	msg->prod = smc_edge_cursor(&ctl->tx_edge, ctl->tx_sent);
	msg->cons = smc_edge_cursor(&ctl->rx_edge, ctl->rx_cons_sent);
	msg->prod_flags = ctl->tx_prod_flags;
	msg->conn_flags = ctl->tx_conn_sent;
	return 0;
}

/**
 * smc_cdc_done() - update SS and the completed position after a successful completion
 * @ctl: the control block
 * @seq: sequence number of the CDC, not a validation
 * @len: bytes it announced; after smc_cdc_replay(), the bytes that were repeated
 *
 * Context: The connection's lock is held. Completions come in queue order (FAIL-05, RFC 7609
 * 4.6.1).
 */
void smc_cdc_done(struct smc_cdc_ctl *ctl, u16 seq, u32 len)
{
	if (!smc_cdc_seq_is_newer(seq, ctl->tx_seq_done))
		return;
	ctl->tx_seq_done = seq;
	WRITE_ONCE(ctl->tx_fin, ctl->tx_fin + len);
}

/* C or A is known to have reached the peer. */
static bool smc_cdc_is_final_done(const struct smc_cdc_ctl *ctl)
{
	return smc_cdc_is_final(ctl) &&
	       !smc_cdc_seq_is_newer(ctl->tx_seq_final, ctl->tx_seq_done);
}

/**
 * smc_cdc_is_final_due() - check whether C or A is not known to have reached the peer
 * @ctl: the control block
 *
 * Context: As smc_cdc_readable().
 * Return: true if C or A is to be posted or has not completed. RFC 7609 4.8.1 (CLOSE-02).
 */
bool smc_cdc_is_final_due(const struct smc_cdc_ctl *ctl)
{
	return ctl->tx_conn_flags & SMC_CDC_FINAL && !smc_cdc_is_final_done(ctl);
}

/**
 * smc_cdc_build_validation() - build the first message after a failover
 * @ctl: the control block
 * @msg: receives the message except its token, which the caller sets
 *
 * RFC 7609 4.6.1: F and SS only, no new sequence number (FAIL-07, CDC-04), no response (FAIL-08).
 * Only data beyond what was sent before will prove that the peer has applied a CDC of the new link.
 *
 * Context: The connection's lock is held. The message goes first on the new link.
 * Return: 0, or -EPIPE if C or A is known to have reached the peer (CDC-14).
 */
int smc_cdc_build_validation(struct smc_cdc_ctl *ctl, struct smc_cdc_msg *msg)
{
	if (smc_cdc_is_final_done(ctl))
		return -EPIPE;
	ctl->tx_proof = ctl->tx_sent + 1;
	msg->seq = ctl->tx_seq_done;
	msg->prod = (struct smc_cursor){ 0 };
	msg->cons = (struct smc_cursor){ 0 };
	msg->prod_flags = SMC_CDC_FAILOVER;
	msg->conn_flags = 0;
	return 0;
}

/**
 * smc_cdc_is_replay_due() - check for messages that may not have arrived
 * @ctl: the control block
 *
 * Context: As smc_cdc_replay().
 * Return: true if a built message has not completed successfully.
 */
bool smc_cdc_is_replay_due(const struct smc_cdc_ctl *ctl)
{
	return ctl->tx_seq != ctl->tx_seq_done;
}

/**
 * smc_cdc_is_far_ahead() - check for too many messages that may not have arrived
 * @ctl: the control block
 *
 * On a dead link each message takes a number, and no completion slows the sender. Without a limit
 * the peer would take the number of the replay for an old one. FAIL-14, CDC-06.
 *
 * Context: As smc_cdc_replay().
 * Return: true if only a replay may be built until a message has completed.
 */
bool smc_cdc_is_far_ahead(const struct smc_cdc_ctl *ctl)
{
	return (u16)(ctl->tx_seq - ctl->tx_seq_done) >= SMC_CDC_AHEAD_MAX;
}

/**
 * smc_cdc_replay() - plan to repeat the writes that may not have arrived
 * @ctl: the control block
 * @x: receives the plan
 *
 * RFC 7609 Section 4.6.2, option 2 (FAIL-12, FAIL-14). All data between the last successful
 * completion and the producer cursor is written again to the same place. One new CDC with a
 * higher number repeats the whole state. No cursor steps back. Data that the peer's consumer
 * cursor acknowledged is not repeated. After an abort or the peer's close no data is: the element
 * may belong to another connection. smc_cdc_build(ctl, NULL, msg) follows, after the validation.
 *
 * Context: The connection's lock is held until that CDC was posted. The old link is drained.
 * Return: bytes that the plan writes; passed to smc_cdc_done() when that CDC completes.
 */
u32 smc_cdc_replay(struct smc_cdc_ctl *ctl, struct smc_xfer *x)
{
	u32 len = ctl->tx_sent - max(ctl->tx_fin, ctl->tx_cons);

	if (ctl->tx_conn_flags & SMC_CDC_ABORT || ctl->rx_conn_flags & SMC_CDC_FINAL)
		len = 0;
	/* What is not written again has arrived: the peer has consumed it. */
	ctl->tx_fin = ctl->tx_sent - len;
	smc_ring_plan(ctl->snd_size, &ctl->tx_edge, ctl->tx_fin, len, x);
	ctl->tx_is_replaying = !smc_cdc_is_final_done(ctl);
	return len;
}
