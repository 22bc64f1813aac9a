// SPDX-License-Identifier: GPL-2.0
/*
 * The CDC codec and the connection's control block: what a received CDC
 * changes, and what the next one says. RFC 7609 Sections 4.3 to 4.7 and A.4.
 *
 * Operation: a message is checked as a whole against the control block before
 * any of it is applied. Building a message commits it: the caller must post it
 * in the same hold of the connection's lock, and treats a failure to post as
 * the loss of the link, after which smc_cdc_replay() makes up for it.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "proto/smc_cdc_wire.h"

#define SMC_CDC_ENDS	(SMC_CDC_DONE | SMC_CDC_FINAL)

/*
 * Numbers that may be used up and not known to have arrived: many times what a link has
 * slots for, and far less than the 32767 between which a peer can tell the newer.
 */
#define SMC_CDC_AHEAD_MAX	1024

/* Sequence numbers wrap; an equal one is a duplicate (CDC-06, AMB-14). */
static bool smc_cdc_seq_is_newer(u16 seq, u16 than)
{
	return (s16)(seq - than) > 0;
}

/**
 * smc_cdc_decode() - take a received CDC message apart
 * @buf: what the receive completion delivered
 * @len: how many bytes it delivered
 * @msg: receives the message; only written on success
 *
 * RFC 7609 A.4, W19 (CDC-01). Flags are as they came: smc_cdc_apply() ignores
 * reserved bits. Nor are cursors judged here: that needs the connection's
 * geometry, so smc_cdc_apply() does it. The bytes behind the flags are reserved and
 * deployed peers do not insist on them either (protocol.md), but the length
 * byte has to announce the whole message.
 *
 * Context: Any context.
 * Return: 0, or -EBADMSG for a message too short, of another type, or of
 * another announced length.
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
	return 0;
}

/**
 * smc_cdc_encode() - lay out a CDC message
 * @msg: the message
 * @buf: receives its 44 bytes
 *
 * RFC 7609 A.4, W19 (CDC-01); reserved bytes are zero.
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
 * smc_cdc_ctl_init() - begin with empty rings and no message sent or received
 * @ctl: the control block
 * @rx_geom: geometry of our element
 * @tx_geom: geometry of the peer's element
 *
 * RFC 7609 Sections 4.3 and 4.7.1 (CUR-03, CUR-04, CDC-03, AMB-15). Both
 * geometries have room for data, and no more than SMC_GEOM_SIZE_MAX.
 *
 * Context: any; before the first message can arrive.
 */
void smc_cdc_ctl_init(struct smc_cdc_ctl *ctl, struct smc_geom rx_geom,
		      struct smc_geom tx_geom)
{
	memset(ctl, 0, sizeof(*ctl));
	ctl->rx_geom = rx_geom;
	ctl->tx_geom = tx_geom;
	ctl->rx_prod = smc_cursor_start(rx_geom);
	ctl->rx_cons = ctl->rx_prod;
	ctl->rx_cons_sent = ctl->rx_prod;
	ctl->tx_prod = smc_cursor_start(tx_geom);
	ctl->tx_cons = ctl->tx_prod;
}

/*
 * How far a received producer cursor moves ours: bytes, or -ERANGE for one
 * that no honest writer sends. A writer knows no more of our reading than the
 * last cursor we sent, and so may fill the ring from there and not from where
 * we really are (CUR-07, CUR-12).
 */
static int smc_cdc_prod_step(const struct smc_cdc_ctl *ctl,
			     struct smc_cursor prod)
{
	struct smc_geom geom = ctl->rx_geom;
	int step;

	if (!smc_cursor_is_valid(geom, prod))
		return -ERANGE;
	step = smc_cursor_distance(geom, ctl->rx_prod, prod);
	if (step >= 0) {
		if (smc_cursor_distance(geom, ctl->rx_cons_sent, prod) < 0)
			return -ERANGE;
		return step;
	}
	/*
	 * A deployed peer that moved to another link starts over from its last
	 * completed send, and a message without data may say so before the
	 * data were written again (protocol.md). What it says is old news.
	 */
	if (ctl->rx_is_replayed &&
	    smc_cursor_distance(geom, prod, ctl->rx_prod) >= 0)
		return 0;
	return -ERANGE;
}

/* Same for the consumer cursor: never back, never ahead of what we wrote. */
static int smc_cdc_cons_step(const struct smc_cdc_ctl *ctl,
			     struct smc_cursor cons)
{
	struct smc_geom geom = ctl->tx_geom;

	if (!smc_cursor_is_valid(geom, cons))
		return -ERANGE;
	if (smc_cursor_distance(geom, cons, ctl->tx_prod) < 0)
		return -ERANGE;
	return smc_cursor_distance(geom, ctl->tx_cons, cons);
}

/* Bit n of entry m: state m may be followed by state n. */
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

/**
 * smc_cdc_urg_move() - change the state of the urgent byte that was received
 * @ctl: the control block
 * @to: the state it is to enter
 *
 * A mark comes into the stream, also behind one that was not read (AMB-52). Its byte is
 * then remembered for MSG_OOB, may leave the stream, and is passed by the reader.
 *
 * Context: the connection's lock is held.
 * Return: true if it moved; false if that is no legal move, then nothing changed.
 */
bool smc_cdc_urg_move(struct smc_cdc_ctl *ctl, enum smc_urg_state to)
{
	if (to >= SMC_URG_NR_STATES || !(smc_cdc_urg_moves[ctl->rx_urg] & BIT(to)))
		return false;
	ctl->rx_urg = to;
	return true;
}

/*
 * U: the byte in front of the producer cursor is urgent (URG-05). A repeated mark is no
 * news.
 */
static u32 smc_cdc_take_mark(struct smc_cdc_ctl *ctl)
{
	struct smc_cursor mark;

	mark = smc_cursor_retreat(ctl->rx_geom, ctl->rx_prod, 1);
	if (smc_urg_is_in_stream(ctl->rx_urg) && smc_cursor_is_equal(mark, ctl->rx_urg_mark))
		return 0;
	ctl->rx_urg_mark = mark;
	smc_cdc_urg_move(ctl, SMC_URG_IN_STREAM);
	return SMC_EV_URG;
}

/*
 * P and U. The application hears of each urgent byte once, as early as can be
 * (URG-04): with P if that comes ahead of the byte, otherwise with U.
 */
static u32 smc_cdc_take_urgent(struct smc_cdc_ctl *ctl,
			       const struct smc_cdc_msg *msg)
{
	bool was_pending = smc_cdc_urg_is_pending(ctl->rx_prod_flags);
	bool is_pending = smc_cdc_urg_is_pending(msg->prod_flags);
	/* A mark on a cursor that is old news would be in the wrong place. */
	bool has_mark = msg->prod_flags & SMC_CDC_URG_PRESENT &&
			smc_cursor_is_equal(ctl->rx_prod, msg->prod);
	bool is_read = has_mark && smc_cdc_readable(ctl) == 0;
	u32 events = 0;

	if (has_mark && !is_read)
		events = smc_cdc_take_mark(ctl);
	if (!was_pending && (events || is_pending))
		events |= SMC_EV_URG_PENDING;
	if (!is_read)
		return events;
	/* There is no mark to keep, but the peer waits for an update (URG-06). */
	ctl->rx_owes_update = true;
	return events | SMC_EV_UPDATE_REQ;
}

static u32 smc_cdc_take_prod(struct smc_cdc_ctl *ctl,
			     const struct smc_cdc_msg *msg, u32 step)
{
	u32 events = 0;

	if (step) {
		ctl->rx_prod = msg->prod;
		events |= SMC_EV_DATA;
	}
	if (smc_cursor_is_equal(ctl->rx_prod, msg->prod))
		ctl->rx_is_replayed = false;
	if (msg->prod_flags & SMC_CDC_BLOCKED)
		events |= SMC_EV_BLOCKED;
	if (msg->prod_flags & SMC_CDC_UPDATE_REQ) {
		ctl->rx_owes_update = true;
		events |= SMC_EV_UPDATE_REQ;
	}
	events |= smc_cdc_take_urgent(ctl, msg);
	ctl->rx_prod_flags = msg->prod_flags;
	return events;
}

static u32 smc_cdc_take_cons(struct smc_cdc_ctl *ctl, struct smc_cursor cons,
			     u32 step)
{
	if (!step)
		return 0;
	ctl->tx_cons = cons;
	/*
	 * Nothing was written behind the mark, so the mark is acknowledged
	 * when all is (URG-07).
	 */
	if (smc_cursor_is_equal(cons, ctl->tx_prod))
		ctl->tx_urg_hold = false;
	return SMC_EV_SPACE;
}

/* A flag that is kept stays for ever: one that means nothing is not kept. */
static u32 smc_cdc_take_conn_flags(struct smc_cdc_ctl *ctl, u8 conn_flags)
{
	u8 rose = conn_flags & SMC_CDC_ENDS & ~ctl->rx_conn_flags;
	u32 events = 0;

	ctl->rx_conn_flags |= rose;
	if (rose & SMC_CDC_DONE)
		events |= SMC_EV_DONE;
	if (rose & SMC_CDC_CLOSED)
		events |= SMC_EV_CLOSED;
	if (rose & SMC_CDC_ABORT)
		events |= SMC_EV_ABORT;
	return events;
}

/* How many of the messages that are due were sent before @seq. */
static u8 smc_cdc_nr_due_before(const struct smc_cdc_ctl *ctl, u16 seq)
{
	u8 n;

	for (n = 0; n < ctl->rx_nr_waits; n++)
		if (!smc_cdc_seq_is_newer(seq, ctl->rx_wait[n].seq_due))
			break;
	return n;
}

/* The last message that is here without a gap behind the first @n that are due. */
static u16 smc_cdc_newest_behind(const struct smc_cdc_ctl *ctl, u8 n)
{
	const struct smc_cdc_wait *wait;

	if (!n)
		return ctl->rx_seq;
	wait = &ctl->rx_wait[n - 1];
	return wait->nr_held ? wait->held[wait->nr_held - 1].seq : wait->seq_due;
}

/*
 * First message of a moved connection (FAIL-07 to FAIL-10): only its sequence
 * number counts (CDC-15), and it is not one of ours to process (CDC-04).
 *
 * What SS names reached our RNIC over the old link, whose queue may be worked
 * off later than that of the new one. So if it is not here, it is due, and what
 * the new link brings is kept until it comes. The connection may move again
 * meanwhile, and the validation on the newest link be the first to be seen:
 * what is due is kept in order. More of it than there is room for is taken for
 * a loss.
 */
static u32 smc_cdc_validate(struct smc_cdc_ctl *ctl, u16 seq)
{
	u8 n;

	/* C was the last word, and has come in its turn: nothing behind it is missed, CDC-14 */
	if (ctl->rx_conn_flags & SMC_CDC_CLOSED)
		return SMC_EV_VALID;
	n = smc_cdc_nr_due_before(ctl, seq);
	if (!smc_cdc_seq_is_newer(seq, smc_cdc_newest_behind(ctl, n))) {
		if (n)
			return SMC_EV_HELD;
		ctl->rx_is_replayed = true;
		return SMC_EV_VALID;
	}
	/* a link that brought nothing lies between the two */
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

/* All of a message but F, or nothing. */
static u32 smc_cdc_take(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg)
{
	int prod_step, cons_step;
	u32 events;

	if (!smc_cdc_seq_is_newer(msg->seq, ctl->rx_seq))
		return SMC_EV_STALE;
	/* one that overtakes what is due says nothing of how the stream ends */
	if (msg->conn_flags & SMC_CDC_ABORT)
		return smc_cdc_take_conn_flags(ctl, ctl->rx_nr_waits ? SMC_CDC_ABORT :
								       msg->conn_flags);
	if (ctl->rx_conn_flags & SMC_CDC_CLOSED)
		return SMC_EV_STALE;
	prod_step = smc_cdc_prod_step(ctl, msg->prod);
	cons_step = smc_cdc_cons_step(ctl, msg->cons);
	if (prod_step < 0 || cons_step < 0)
		return SMC_EV_INVALID;
	/* The application may have been told of the end of the stream. */
	if (prod_step && ctl->rx_conn_flags & SMC_CDC_DONE)
		return SMC_EV_INVALID;
	ctl->rx_seq = msg->seq;
	events = smc_cdc_take_cons(ctl, msg->cons, cons_step);
	events |= smc_cdc_take_prod(ctl, msg, prod_step);
	events |= smc_cdc_take_conn_flags(ctl, msg->conn_flags);
	return events;
}

/*
 * Each message says all that an earlier one did, but for U, which belongs to
 * its own cursor, and R, which is a wish. So few have to be kept: a writer stops
 * behind an urgent byte, and our acknowledgment of that waits here as well.
 */
static u32 smc_cdc_hold(struct smc_cdc_wait *wait, const struct smc_cdc_msg *msg)
{
	struct smc_cdc_msg *last = NULL;
	u8 asked = 0;

	if (wait->nr_held)
		last = &wait->held[wait->nr_held - 1];
	if (last && !smc_cdc_seq_is_newer(msg->seq, last->seq))
		return SMC_EV_STALE;
	if (!last || last->prod_flags & SMC_CDC_URG_PRESENT) {
		if (wait->nr_held == SMC_CDC_HELD_MAX)
			return SMC_EV_INVALID;
		last = &wait->held[wait->nr_held++];
	} else {
		asked = last->prod_flags & SMC_CDC_UPDATE_REQ;
	}
	*last = *msg;
	last->prod_flags |= asked;
	return SMC_EV_HELD;
}

/* What was due first is here: what was kept follows it, up to what is due next. */
static u32 smc_cdc_release(struct smc_cdc_ctl *ctl)
{
	struct smc_cdc_wait *wait = ctl->rx_wait;
	u32 events = 0;
	u8 i;

	for (i = 0; i < wait->nr_held && !(events & SMC_EV_INVALID); i++) {
		/* another validation may have come before each, which was not kept */
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
 * RFC 7609 Sections 4.3 to 4.7 and A.4 (CDC-05, CDC-06, CDC-12, CDC-13,
 * CDC-15, CUR-11, CUR-12, URG-05, WIN-08, WIN-09, FAIL-06, FAIL-09, FAIL-10).
 * All of the message takes effect, or nothing. With A the cursors mean nothing
 * any more and are not looked at. After C only A is heard (CDC-14), and bytes
 * after D are no part of any stream (CLOSE-26).
 *
 * Messages may come on any link (FAIL-17). When @ctl->rx_nr_waits has grown
 * something is due that the peer's RNIC knows to be here: the caller sees to it
 * that smc_cdc_give_up() is called if it has not come after a while.
 *
 * Context: the connection's lock is held. Afterwards, on SMC_EV_URG the caller
 * calls smc_cdc_urg_store() in the same hold; on SMC_EV_BLOCKED,
 * SMC_EV_UPDATE_REQ and SMC_EV_SPACE it asks smc_cdc_is_needed() and tries to
 * write.
 * Return: SMC_EV_ bits, 0 if nothing is new. With SMC_EV_INVALID or SMC_EV_LOST
 * the connection has to be aborted.
 */
u32 smc_cdc_apply(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg)
{
	u32 events;
	u8 n;

	if (ctl->rx_conn_flags & SMC_CDC_ABORT)
		return SMC_EV_STALE;
	/* who has aborted waits for the peer's last word, and for nothing else: ABRT-04 */
	if (ctl->tx_conn_flags & SMC_CDC_ABORT && !(msg->conn_flags & SMC_CDC_FINAL))
		return SMC_EV_STALE;
	if (msg->prod_flags & SMC_CDC_FAILOVER)
		return smc_cdc_validate(ctl, msg->seq);
	n = smc_cdc_nr_due_before(ctl, msg->seq);
	if (n && !(msg->conn_flags & SMC_CDC_ABORT))
		return smc_cdc_hold(&ctl->rx_wait[n - 1], msg);
	events = smc_cdc_take(ctl, msg);
	while (ctl->rx_nr_waits && !(events & SMC_EV_INVALID) &&
	       !smc_cdc_seq_is_newer(ctl->rx_wait[0].seq_due, ctl->rx_seq))
		events |= smc_cdc_release(ctl);
	return events;
}

/**
 * smc_cdc_apply_moved() - apply the first message that came over a link
 * @ctl: the control block of the connection that the token named
 * @msg: the message
 *
 * As smc_cdc_apply(), but a peer that moved the connection and did not say so has its
 * message taken for a validation, too (FAIL-11): where it brings data, what was sent
 * before it has to be here, or data are missing in front of them (FAIL-10, FAIL-17; RFC 7609
 * 4.6.1). Without data nothing can be missing that it does not say itself (CDC-08). Deployed
 * peers move a connection one direction of which has ended like that, and do not send again
 * what was lost (protocol.md).
 *
 * Context: as smc_cdc_apply().
 * Return: as smc_cdc_apply().
 */
u32 smc_cdc_apply_moved(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg)
{
	u16 last = msg->seq - 1;

	if (!(msg->prod_flags & SMC_CDC_FAILOVER) &&
	    !((msg->conn_flags | ctl->rx_conn_flags) & SMC_CDC_ABORT) &&
	    smc_cdc_seq_is_newer(last, ctl->rx_seq) &&
	    !smc_cursor_is_equal(msg->prod, ctl->rx_prod) &&
	    smc_cdc_validate(ctl, last) & SMC_EV_LOST)
		return SMC_EV_LOST;
	return smc_cdc_apply(ctl, msg);
}

/**
 * smc_cdc_give_up() - what a validation found missing has not come
 * @ctl: the control block
 *
 * Context: the connection's lock is held.
 * Return: SMC_EV_LOST if it is still due (FAIL-10), then the connection has to
 * be aborted; otherwise 0.
 */
u32 smc_cdc_give_up(struct smc_cdc_ctl *ctl)
{
	/* behind A and C nothing is missed */
	if (ctl->rx_conn_flags & (SMC_CDC_ABORT | SMC_CDC_CLOSED))
		return 0;
	return ctl->rx_nr_waits ? SMC_EV_LOST : 0;
}

/**
 * smc_cdc_readable() - how many bytes wait in our element
 * @ctl: the control block
 *
 * RFC 7609 A.4 (CUR-08, CUR-09, BLK-03).
 *
 * Context: the connection's lock is held, or the caller is content with a
 * snapshot of its own.
 * Return: bytes, from rx_cons on.
 */
u32 smc_cdc_readable(const struct smc_cdc_ctl *ctl)
{
	int len = smc_cursor_distance(ctl->rx_geom, ctl->rx_cons, ctl->rx_prod);

	return max(len, 0);
}

/**
 * smc_cdc_consume() - the application has taken bytes out of our element
 * @ctl: the control block
 * @n: how many
 *
 * RFC 7609 Sections 4.7.1 and 4.7.5 (CUR-06, TX-09, WIN-11, URG-06, AMB-62).
 * Passing the urgent byte makes an update due whatever the window; who did not
 * ask for it out of line until then has missed it, as with TCP.
 *
 * Context: the connection's lock is held. Afterwards the caller asks
 * smc_cdc_is_needed().
 * Return: 0, or -ERANGE if there are fewer bytes; then nothing changed.
 */
int smc_cdc_consume(struct smc_cdc_ctl *ctl, u32 n)
{
	int mark = smc_cdc_urg_distance(ctl);
	bool is_mark_passed = mark >= 0 && n > mark;

	if (n > smc_cdc_readable(ctl))
		return -ERANGE;
	ctl->rx_cons = smc_cursor_advance(ctl->rx_geom, ctl->rx_cons, n);
	if (is_mark_passed || (n && smc_urg_is_out_of_line(ctl->rx_urg)))
		smc_cdc_urg_pass(ctl);
	ctl->rx_owes_update |= is_mark_passed;
	return 0;
}

/**
 * smc_cdc_urg_distance() - how many bytes are to be read before the urgent one
 * @ctl: the control block
 *
 * 0 says that the next unread byte is the urgent one (SIOCATMARK).
 *
 * Context: as smc_cdc_readable().
 * Return: bytes, or -ENODATA if no urgent byte is in the element or it was
 * read past.
 */
int smc_cdc_urg_distance(const struct smc_cdc_ctl *ctl)
{
	if (!smc_urg_is_in_stream(ctl->rx_urg))
		return -ENODATA;
	return smc_cursor_distance(ctl->rx_geom, ctl->rx_cons,
				   ctl->rx_urg_mark);
}

/**
 * smc_cdc_is_at_mark() - does the reader stand at the urgent byte
 * @ctl: the control block
 * @seen: bytes from rx_cons on that a reader has looked at and left there
 *
 * True before a byte that is in line, and where one was taken out of line and
 * nothing was read since (SIOCATMARK, API-11).
 *
 * Context: as smc_cdc_readable().
 * Return: true if it does.
 */
bool smc_cdc_is_at_mark(const struct smc_cdc_ctl *ctl, u32 seen)
{
	if (smc_urg_is_out_of_line(ctl->rx_urg) && !seen)
		return true;
	return smc_cdc_urg_distance(ctl) == (int)seen;
}

/**
 * smc_cdc_read_limit() - how many bytes one read may take
 * @ctl: the control block
 * @seen: bytes from rx_cons on that the reader has looked at and left there
 *
 * A read ends in front of the urgent byte; one that begins there goes on. The
 * caller has taken the byte out (smc_cdc_urg_take_out()) if it is to be out of
 * line.
 *
 * Context: as smc_cdc_readable().
 * Return: bytes behind those seen.
 */
u32 smc_cdc_read_limit(const struct smc_cdc_ctl *ctl, u32 seen)
{
	u32 readable = smc_cdc_readable(ctl);
	int mark = smc_cdc_urg_distance(ctl);

	if (seen >= readable)
		return 0;
	return mark > (int)seen ? mark - seen : readable - seen;
}

/**
 * smc_cdc_urg_store() - remember the urgent byte that SMC_EV_URG told of
 * @ctl: the control block
 * @byte: what stands at rx_urg_mark
 * @is_inline: it is to stay where it is in the stream (SO_OOBINLINE)
 *
 * RFC 7609 Section 4.7.5 (URG-05, URG-06). From now on the peer cannot change
 * it. Out of line, with nothing to be read in front of it, it leaves the
 * element at once and the peer may go on: an application that only waits for
 * ordinary data would never make room for them.
 *
 * Context: the connection's lock is held since smc_cdc_apply(). Afterwards the
 * caller asks smc_cdc_is_needed().
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
 * smc_cdc_urg_take_out() - take the urgent byte out of the stream
 * @ctl: the control block
 *
 * For a reader that has come up to it and wants it out of line. The byte was
 * remembered, so it counts as processed (URG-06). Nothing happens where the
 * reader is not at the mark.
 *
 * Context: the connection's lock is held. Afterwards the caller asks
 * smc_cdc_is_needed().
 * Return: true if the byte left the stream.
 */
bool smc_cdc_urg_take_out(struct smc_cdc_ctl *ctl)
{
	if (smc_cdc_urg_distance(ctl) != 0)
		return false;
	ctl->rx_cons = smc_cursor_advance(ctl->rx_geom, ctl->rx_cons, 1);
	ctl->rx_owes_update = true;
	return smc_cdc_urg_move(ctl, smc_urg_is_unread(ctl->rx_urg) ?
				     SMC_URG_OUT_OF_LINE_UNREAD : SMC_URG_OUT_OF_LINE);
}

/**
 * smc_cdc_urg_pass() - the reader has passed the urgent byte
 * @ctl: the control block
 *
 * It has read behind it, or read it in line although it was taken out of the
 * stream (SO_OOBINLINE was set since). MSG_OOB no longer returns it.
 *
 * Context: the connection's lock is held.
 */
void smc_cdc_urg_pass(struct smc_cdc_ctl *ctl)
{
	smc_cdc_urg_move(ctl, SMC_URG_NONE);
}

/**
 * smc_cdc_urg_read() - recv() with MSG_OOB
 * @ctl: the control block
 * @is_peek: leave it there
 *
 * A caller that cannot hand the byte on has lost it, as with TCP.
 *
 * Context: the connection's lock is held.
 * Return: the byte; -EAGAIN if it is announced and not here yet (URG-04);
 * -EINVAL if there is none, or it was read (API-11).
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

/**
 * smc_cdc_window() - how many bytes fit into the peer's element
 * @ctl: the control block
 *
 * RFC 7609 Section 4.5.1 (WIN-01).
 *
 * Context: as smc_cdc_readable().
 * Return: bytes.
 */
u32 smc_cdc_window(const struct smc_cdc_ctl *ctl)
{
	return smc_ring_window(ctl->tx_geom, ctl->tx_prod, ctl->tx_cons);
}

/**
 * smc_cdc_may_write() - may data be written to the peer, window aside
 * @ctl: the control block
 *
 * Not while an urgent byte is unacknowledged (URG-07), not after our D, C or
 * A (CDC-14, ABRT-12), and not to a peer that is gone (C or A seen).
 *
 * Context: the connection's lock is held.
 * Return: true if it may.
 */
bool smc_cdc_may_write(const struct smc_cdc_ctl *ctl)
{
	return !ctl->tx_urg_hold && !ctl->tx_conn_flags &&
	       !(ctl->rx_conn_flags & SMC_CDC_FINAL);
}

/**
 * smc_cdc_write_limit() - how much of what is unsent the next CDC may announce
 * @ctl: the control block
 * @unsent: bytes in the send ring that were not written yet
 *
 * A write ends behind an urgent byte, since U says that the producer cursor
 * stands there (URG-02, URG-16). The window is not considered.
 *
 * Context: the connection's lock is held.
 * Return: bytes.
 */
u32 smc_cdc_write_limit(const struct smc_cdc_ctl *ctl, u32 unsent)
{
	u32 limit = ctl->tx_urg_left;

	if (!smc_cdc_may_write(ctl))
		return 0;
	if (!limit)
		return unsent;
	/* The byte in front of a mark that may still move waits for it. */
	if (ctl->tx_urg_is_open && !ctl->tx_urg_last)
		limit--;
	return min(unsent, limit);
}

/**
 * smc_cdc_plan() - plan the next transfer of a connection
 * @ctl: the control block
 * @src: geometry of the send ring
 * @sent: first byte of it not yet written
 * @prep: end of what the application has put there
 * @x: receives the plan; x->len 0 if nothing can be written now
 *
 * smc_ring_plan() with this connection's cursors and limits.
 *
 * Context: the connection's lock is held, and stays so until the plan was
 * posted with smc_cdc_build().
 */
void smc_cdc_plan(const struct smc_cdc_ctl *ctl, struct smc_geom src,
		  struct smc_cursor sent, struct smc_cursor prep,
		  struct smc_xfer *x)
{
	int unsent = smc_cursor_distance(src, sent, prep);

	smc_ring_plan(src, sent, prep, ctl->tx_geom, ctl->tx_prod,
		      ctl->tx_cons, smc_cdc_write_limit(ctl, max(unsent, 0)),
		      x);
}

/* After C or A nothing more is sent for the connection (CDC-14). */
static bool smc_cdc_is_final(const struct smc_cdc_ctl *ctl)
{
	return ctl->tx_conn_sent & SMC_CDC_FINAL;
}

static bool smc_cdc_is_update_due(const struct smc_cdc_ctl *ctl)
{
	struct smc_ring_update u = {
		.geom = ctl->rx_geom,
		.prod = ctl->rx_prod,
		.cons = ctl->rx_cons,
		.cons_sent = ctl->rx_cons_sent,
		.is_awaited = ctl->rx_owes_update ||
			      (ctl->rx_prod_flags & (SMC_CDC_BLOCKED | SMC_CDC_UPDATE_REQ)),
	};

	/* A peer that has closed or aborted writes no more. */
	if (ctl->rx_conn_flags & SMC_CDC_FINAL)
		return false;
	return smc_ring_is_update_due(&u);
}

/**
 * smc_cdc_is_needed() - has a CDC to be sent even if it carries no data
 * @ctl: the control block
 * @unsent: bytes in the send ring that were not written yet
 *
 * RFC 7609 Sections 4.5.1, 4.7.6 and A.4: D, C or A to be told; a window
 * update is due (WIN-02, WIN-08, WIN-09, URG-06); we are blocked and the peer
 * was not told (BLK-06); urgent data is pending, cannot be written now, and
 * the peer was not told (URG-01, URG-10).
 *
 * Context: the connection's lock is held. If data can be written anyway, its
 * CDC says all this: plan first.
 * Return: true if smc_cdc_build() without a transfer should be posted.
 */
bool smc_cdc_is_needed(const struct smc_cdc_ctl *ctl, u32 unsent)
{
	u8 untold = ~ctl->tx_prod_flags;

	if (ctl->tx_is_replaying)
		return true;
	if (smc_cdc_is_final(ctl))
		return false;
	if (ctl->tx_conn_flags & ~ctl->tx_conn_sent)
		return true;
	if (smc_cdc_is_update_due(ctl))
		return true;
	if (!unsent || (ctl->rx_conn_flags & SMC_CDC_FINAL))
		return false;
	if (!smc_cdc_window(ctl) && (untold & SMC_CDC_BLOCKED))
		return true;
	return ctl->tx_urg_left && (untold & SMC_CDC_URG_PENDING) &&
	       (!smc_cdc_window(ctl) || !smc_cdc_write_limit(ctl, unsent));
}

/**
 * smc_cdc_mark_urgent() - the last byte of what is unsent is urgent
 * @ctl: the control block
 * @unsent: bytes in the send ring that were not written yet, the urgent byte
 *	being the last of them; at least 1
 *
 * RFC 7609 Section 4.7.5 (URG-01, URG-08). While an earlier mark is under way
 * the new one waits behind it (AMB-52); of several waiting, the last counts,
 * as with TCP's urgent pointer.
 *
 * Context: the connection's lock is held. Afterwards the caller writes, or
 * asks smc_cdc_is_needed().
 */
void smc_cdc_mark_urgent(struct smc_cdc_ctl *ctl, u32 unsent)
{
	ctl->tx_urg_is_open = false;
	if (ctl->tx_urg_left)
		ctl->tx_urg_last = unsent;
	else
		ctl->tx_urg_left = unsent;
}

/**
 * smc_cdc_open_urgent() - urgent data more of which is still to come
 * @ctl: the control block
 * @unsent: as for smc_cdc_mark_urgent(); 1 or more
 *
 * A send() that does not fit the ring: P is said at once (URG-01), and the
 * mark moves with each piece, so the byte in front of it is not written before
 * smc_cdc_end_urgent(). U comes with the last piece (URG-16).
 *
 * Context: as smc_cdc_mark_urgent().
 */
void smc_cdc_open_urgent(struct smc_cdc_ctl *ctl, u32 unsent)
{
	if (!ctl->tx_urg_is_open)
		smc_cdc_mark_urgent(ctl, unsent);
	else if (ctl->tx_urg_last)
		ctl->tx_urg_last = unsent;
	else
		ctl->tx_urg_left = unsent;
	ctl->tx_urg_is_open = true;
}

/**
 * smc_cdc_end_urgent() - the mark stands where it stands
 * @ctl: the control block
 *
 * Context: as smc_cdc_mark_urgent().
 */
void smc_cdc_end_urgent(struct smc_cdc_ctl *ctl)
{
	ctl->tx_urg_is_open = false;
}

/**
 * smc_cdc_set_conn_flags() - say D, C or A from the next CDC on
 * @ctl: the control block
 * @conn_flags: SMC_CDC_DONE, SMC_CDC_CLOSED, SMC_CDC_ABORT
 *
 * RFC 7609 Section 4.8 (CDC-13). Data is not written after that. A replaces
 * nothing that was said; C or A is the last thing said (CDC-14): after one of
 * them was sent further flags are not taken.
 *
 * Context: the connection's lock is held. Afterwards smc_cdc_is_needed() says
 * yes.
 */
void smc_cdc_set_conn_flags(struct smc_cdc_ctl *ctl, u8 conn_flags)
{
	if (!smc_cdc_is_final(ctl))
		ctl->tx_conn_flags |= conn_flags;
}

/*
 * Account @n written bytes to the urgent marks. True if the next CDC covers a
 * mark. A second mark becomes the next one; it stays behind the hold.
 */
static bool smc_cdc_pass_urgent(struct smc_cdc_ctl *ctl, u32 n)
{
	if (!ctl->tx_urg_left || !n)
		return false;
	if (ctl->tx_urg_last)
		ctl->tx_urg_last -= n;
	ctl->tx_urg_left -= n;
	if (ctl->tx_urg_left)
		return false;
	ctl->tx_urg_left = ctl->tx_urg_last;
	ctl->tx_urg_last = 0;
	ctl->tx_urg_hold = true;
	return true;
}

/*
 * B whenever no space is left: a superset of being blocked, and it obliges the
 * peer to tell of any space (AMB-51, BLK-05).
 *
 * U only in the message whose cursor moved up to the mark: a deployed receiver
 * looks at U together with new data and takes P without new data for the
 * announcement of another urgent byte (protocol.md).
 */
static u8 smc_cdc_prod_flags(const struct smc_cdc_ctl *ctl, bool is_urgent)
{
	u8 flags = 0;

	if (!smc_cdc_window(ctl))
		flags |= SMC_CDC_BLOCKED;
	if (ctl->tx_urg_left || is_urgent)
		flags |= SMC_CDC_URG_PENDING;
	if (is_urgent)
		flags |= SMC_CDC_URG_PRESENT;
	return flags;
}

/**
 * smc_cdc_build() - build the next CDC and commit it
 * @ctl: the control block
 * @x: the transfer it announces, or NULL for none
 * @msg: receives the message, all but its token, which is the caller's
 *
 * RFC 7609 Sections 4.5 to 4.8 and A.4: a sequence number of its own (CDC-03,
 * CDC-07), both cursors as they are (CDC-08, WIN-07), B, P, U (BLK-01, BLK-05,
 * URG-03, URG-09, URG-12), D, C, A (CDC-13). We never ask for updates
 * (WIN-10).
 *
 * Context: the connection's lock is held, and the caller posts the transfer
 * and the message in the same hold.
 * Return: 0; -EPIPE if C or A was sent before (CDC-14); -ERANGE if @x is more
 * than may be written. On error nothing changed.
 */
int smc_cdc_build(struct smc_cdc_ctl *ctl, const struct smc_xfer *x,
		  struct smc_cdc_msg *msg)
{
	bool is_urgent = ctl->tx_is_replaying && ctl->tx_urg_hold;
	u32 len = x ? x->len : 0;

	if (smc_cdc_is_final(ctl) && !ctl->tx_is_replaying)
		return -EPIPE;
	if (len > smc_cdc_window(ctl) || len > smc_cdc_write_limit(ctl, len))
		return -ERANGE;
	ctl->tx_prod = smc_cursor_advance(ctl->tx_geom, ctl->tx_prod, len);
	ctl->tx_inflight += len;
	if (smc_cdc_pass_urgent(ctl, len))
		is_urgent = true;
	ctl->tx_seq++;
	ctl->tx_prod_flags = smc_cdc_prod_flags(ctl, is_urgent);
	ctl->tx_conn_sent = ctl->tx_conn_flags;
	if (smc_cdc_is_final(ctl))
		ctl->tx_seq_final = ctl->tx_seq;
	ctl->rx_cons_sent = ctl->rx_cons;
	ctl->rx_owes_update = false;
	ctl->tx_is_replaying = false;

	msg->seq = ctl->tx_seq;
	msg->prod = ctl->tx_prod;
	msg->cons = ctl->rx_cons;
	msg->prod_flags = ctl->tx_prod_flags;
	msg->conn_flags = ctl->tx_conn_sent;
	return 0;
}

/**
 * smc_cdc_done() - a CDC was completed well
 * @ctl: the control block
 * @seq: its sequence number
 * @len: how many bytes it announced, 0 for none; for one that followed
 *	smc_cdc_replay(), how many were written again
 *
 * RFC 7609 Section 4.6.1 (FAIL-05): SS, and how far the data is known to have
 * reached the peer. Not called for a validation message or for a completion
 * with an error.
 *
 * Context: the connection's lock is held; completions come in queue order.
 */
void smc_cdc_done(struct smc_cdc_ctl *ctl, u16 seq, u32 len)
{
	if (!smc_cdc_seq_is_newer(seq, ctl->tx_seq_done))
		return;
	ctl->tx_seq_done = seq;
	ctl->tx_inflight -= min(len, ctl->tx_inflight);
}

/* Did C or A reach the peer for certain? */
static bool smc_cdc_is_final_done(const struct smc_cdc_ctl *ctl)
{
	return smc_cdc_is_final(ctl) &&
	       !smc_cdc_seq_is_newer(ctl->tx_seq_final, ctl->tx_seq_done);
}

/**
 * smc_cdc_is_final_due() - is C or A to reach the peer, which it has not for certain
 * @ctl: the control block
 *
 * RFC 7609 4.8.1 (CLOSE-02).
 *
 * Context: as smc_cdc_readable().
 * Return: true if it waits to be posted, or was posted and has not completed.
 */
bool smc_cdc_is_final_due(const struct smc_cdc_ctl *ctl)
{
	return ctl->tx_conn_flags & SMC_CDC_FINAL && !smc_cdc_is_final_done(ctl);
}

/**
 * smc_cdc_build_validation() - build the first message after a change of link
 * @ctl: the control block
 * @msg: receives the message, all but its token, which is the caller's
 *
 * RFC 7609 Section 4.6.1 (FAIL-07, CDC-04): F and SS, nothing else; no
 * sequence number is used up. No answer comes (FAIL-08).
 *
 * Context: the connection's lock is held; posted before all else on the new
 * link.
 * Return: 0, or -EPIPE if C or A is known to have reached the peer, so that
 * nothing more may be sent (CDC-14).
 */
int smc_cdc_build_validation(const struct smc_cdc_ctl *ctl,
			     struct smc_cdc_msg *msg)
{
	if (smc_cdc_is_final_done(ctl))
		return -EPIPE;
	msg->seq = ctl->tx_seq_done;
	msg->prod = (struct smc_cursor){ 0 };
	msg->cons = (struct smc_cursor){ 0 };
	msg->prod_flags = SMC_CDC_FAILOVER;
	msg->conn_flags = 0;
	return 0;
}

/**
 * smc_cdc_is_replay_due() - is there anything that is not known to have arrived
 * @ctl: the control block
 *
 * Context: as smc_cdc_replay().
 * Return: true if a message was built of which no good completion was seen.
 */
bool smc_cdc_is_replay_due(const struct smc_cdc_ctl *ctl)
{
	return ctl->tx_seq != ctl->tx_seq_done;
}

/**
 * smc_cdc_is_far_ahead() - are too many messages not known to have arrived
 * @ctl: the control block
 *
 * On a link that is dead and has not been left yet each message uses up a number, and
 * none is in flight that would hold the next one back. The peer, which saw only the
 * numbers before, would take that of the replay for an old one. FAIL-14, CDC-06.
 *
 * Context: as smc_cdc_replay().
 * Return: true if none but a replay may be built until one has completed well.
 */
bool smc_cdc_is_far_ahead(const struct smc_cdc_ctl *ctl)
{
	return (u16)(ctl->tx_seq - ctl->tx_seq_done) >= SMC_CDC_AHEAD_MAX;
}

/**
 * smc_cdc_replay() - plan to write again what is not known to have arrived
 * @ctl: the control block
 * @src: geometry of the send ring
 * @sent: first byte of it not yet written
 * @x: receives the plan
 *
 * RFC 7609 Section 4.6.2, option 2 (FAIL-12, FAIL-14): everything between the
 * last good completion and the producer cursor is written again to where it
 * was written before, and one new CDC, with a number above all earlier ones,
 * says again all that is to be said. No cursor moves back. What the peer has
 * acknowledged by its consumer cursor is not written again, and nothing is once
 * one side has aborted or the peer has closed: its element may be another
 * connection's by now. The plan goes with
 * smc_cdc_build(ctl, NULL, msg), which must follow the validation message.
 *
 * Context: the connection's lock is held until that CDC was posted; all
 * completions of the old link have been seen.
 * Return: how many bytes the plan writes, to be given to smc_cdc_done() when
 * that CDC completes.
 */
u32 smc_cdc_replay(struct smc_cdc_ctl *ctl, struct smc_geom src,
		   struct smc_cursor sent, struct smc_xfer *x)
{
	struct smc_geom dst = ctl->tx_geom;
	u32 unread = smc_geom_space(dst) - smc_cdc_window(ctl);
	u32 len = min(ctl->tx_inflight, unread);

	if (ctl->tx_conn_flags & SMC_CDC_ABORT || ctl->rx_conn_flags & SMC_CDC_FINAL)
		len = 0;
	smc_ring_plan(src, smc_cursor_retreat(src, sent, len), sent, dst,
		      smc_cursor_retreat(dst, ctl->tx_prod, len), ctl->tx_cons,
		      len, x);
	ctl->tx_inflight = len;
	ctl->tx_is_replaying = !smc_cdc_is_final_done(ctl);
	return len;
}
