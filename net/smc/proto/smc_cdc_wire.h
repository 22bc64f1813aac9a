/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connection data control: the CDC message and a connection's control block.
 *
 * "rx" is the direction towards us: rx_prod is where the peer will write next
 * into our element, rx_cons where we read next. "tx" is the direction towards
 * the peer: tx_prod is where we write next into the peer's element, tx_cons
 * where the peer reads next, as far as it told us.
 *
 * Free space and readable bytes are never counted: they follow from two
 * cursors. (Bytes in flight are counted: a reader's cursor may overtake
 * completions, so that more than a whole ring may wait for them.) The send
 * ring's own cursors (what the application prepared, what was written, what
 * completed) belong to the caller, who gives their difference as "unsent". So
 * does the peer's alert token: what builds a message leaves smc_cdc_msg.token
 * alone.
 *
 * A control block is protected by its connection's lock. The caller posts
 * what smc_cdc_build() returned under the same hold, so that CDC order is
 * queue order.
 */
#ifndef _SMC_CDC_WIRE_H
#define _SMC_CDC_WIRE_H

#include <linux/types.h>

#include "proto/smc_cursor.h"
#include "proto/smc_ring.h"
#include "proto/smc_wire.h"

/* A CDC message in host order; flags are those of smc_wire.h. */
struct smc_cdc_msg {
	u16			seq;
	u32			token;
	struct smc_cursor	prod;
	struct smc_cursor	cons;
	u8			prod_flags;
	u8			conn_flags;
};

/* What a received CDC meant. */
enum smc_cdc_event {
	SMC_EV_DATA		= 1 << 0,  /* more bytes to read */
	SMC_EV_SPACE		= 1 << 1,  /* the window opened */
	SMC_EV_BLOCKED		= 1 << 2,  /* B: the peer cannot write on */
	SMC_EV_UPDATE_REQ	= 1 << 3,  /* R */
	SMC_EV_URG_PENDING	= 1 << 4,  /* an urgent byte was heard of first */
	SMC_EV_URG		= 1 << 5,  /* U: rx_urg_mark was set anew */
	SMC_EV_DONE		= 1 << 6,  /* D seen for the first time */
	SMC_EV_CLOSED		= 1 << 7,  /* C seen for the first time */
	SMC_EV_ABORT		= 1 << 8,  /* A seen for the first time */
	SMC_EV_STALE		= 1 << 9,  /* dropped: old, or after A */
	SMC_EV_VALID		= 1 << 10, /* F, and nothing is missing */
	/* Nothing was applied: */
	SMC_EV_HELD		= 1 << 13, /* kept until what F misses is here */
	/* Nothing was applied; the connection must be aborted: */
	SMC_EV_INVALID		= 1 << 11, /* impossible cursor, CUR-12 */
	SMC_EV_LOST		= 1 << 12, /* F found loss, FAIL-10 */
};

/* One up to an urgent byte, one behind it, and one for a peer in a hurry. */
#define SMC_CDC_HELD_MAX	3

/* Links lost one after the other before the queue of the first was worked off. */
#define SMC_CDC_WAITS_MAX	2

/*
 * A message went over a link that is lost, and its receive queue is worked off later
 * than that of the next link. What follows the message is kept until it is here.
 */
struct smc_cdc_wait {
	u16			seq_due;	/* SS of the validation */
	u8			nr_held;	/* entries of held */
	struct smc_cdc_msg	held[SMC_CDC_HELD_MAX];
};

/*
 * Where the marked urgent byte is, and whether MSG_OOB still returns it. A byte that is
 * announced and not here yet has no state of its own, see smc_cdc_urg_is_pending().
 */
enum smc_urg_state {
	SMC_URG_NONE,			/* no mark, or the reader has passed it */
	SMC_URG_IN_STREAM,		/* at rx_urg_mark, not read past */
	SMC_URG_IN_STREAM_UNREAD,	/* same, and MSG_OOB returns it */
	SMC_URG_OUT_OF_LINE,		/* taken out before rx_cons, nothing read since */
	SMC_URG_OUT_OF_LINE_UNREAD,	/* same, and MSG_OOB returns it */
	SMC_URG_NR_STATES
};

static inline bool smc_urg_is_in_stream(enum smc_urg_state state)
{
	return state == SMC_URG_IN_STREAM || state == SMC_URG_IN_STREAM_UNREAD;
}

static inline bool smc_urg_is_out_of_line(enum smc_urg_state state)
{
	return state == SMC_URG_OUT_OF_LINE || state == SMC_URG_OUT_OF_LINE_UNREAD;
}

static inline bool smc_urg_is_unread(enum smc_urg_state state)
{
	return state == SMC_URG_IN_STREAM_UNREAD || state == SMC_URG_OUT_OF_LINE_UNREAD;
}

/* P without U: an urgent byte is announced and not here yet, URG-04. */
static inline bool smc_cdc_urg_is_pending(u8 prod_flags)
{
	return (prod_flags & (SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT)) == SMC_CDC_URG_PENDING;
}

struct smc_cdc_ctl {
	struct smc_geom		rx_geom;	/* our element */
	struct smc_geom		tx_geom;	/* the peer's element */

	/* From the peer. */
	struct smc_cursor	rx_prod;
	struct smc_cursor	rx_cons;
	struct smc_cursor	rx_cons_sent;	/* as last sent to the peer */
	struct smc_cursor	rx_urg_mark;	/* the urgent byte itself */
	u16			rx_seq;		/* SR: last one processed */
	u8			rx_prod_flags;	/* of the last one processed */
	u8			rx_conn_flags;	/* D, C, A, if ever seen */
	enum smc_urg_state	rx_urg;		/* moved by smc_cdc_urg_move() */
	u8			rx_urg_byte;	/* what stood at rx_urg_mark */
	bool			rx_owes_update;	/* R, or urgent byte passed, no CDC since */
	bool			rx_is_replayed;	/* F seen: prod may step back */

	/* From the peer, over a link that followed another one: in the order of sending. */
	u8			rx_nr_waits;	/* entries of rx_wait */
	struct smc_cdc_wait	rx_wait[SMC_CDC_WAITS_MAX];

	/* To the peer. */
	struct smc_cursor	tx_prod;
	struct smc_cursor	tx_cons;
	u32			tx_inflight;	/* bytes written, not completed */
	u32			tx_urg_left;	/* bytes up to the next mark, or 0 */
	u32			tx_urg_last;	/* same for a later mark, or 0 */
	u16			tx_seq;		/* last one used */
	u16			tx_seq_done;	/* SS: last good completion */
	u16			tx_seq_final;	/* the one with C or A */
	u8			tx_prod_flags;	/* as last sent */
	u8			tx_conn_flags;	/* to be carried from now on */
	u8			tx_conn_sent;	/* as last sent */
	bool			tx_urg_hold;	/* mark not yet acknowledged */
	bool			tx_urg_is_open;	/* the last mark may still move */
	bool			tx_is_replaying; /* the next one repeats all there is to say */
};

/* The codec. */
int smc_cdc_decode(const void *buf, size_t len, struct smc_cdc_msg *msg);
void smc_cdc_encode(const struct smc_cdc_msg *msg, u8 buf[SMC_CDC_LEN]);

/* The control block: receiving. */
void smc_cdc_ctl_init(struct smc_cdc_ctl *ctl, struct smc_geom rx_geom,
		      struct smc_geom tx_geom);
u32 smc_cdc_apply(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg);
u32 smc_cdc_apply_moved(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg);
u32 smc_cdc_give_up(struct smc_cdc_ctl *ctl);
u32 smc_cdc_readable(const struct smc_cdc_ctl *ctl);
int smc_cdc_consume(struct smc_cdc_ctl *ctl, u32 n);

/* The control block: the urgent byte that was received. */
bool smc_cdc_urg_move(struct smc_cdc_ctl *ctl, enum smc_urg_state to);
int smc_cdc_urg_distance(const struct smc_cdc_ctl *ctl);
bool smc_cdc_is_at_mark(const struct smc_cdc_ctl *ctl, u32 seen);
u32 smc_cdc_read_limit(const struct smc_cdc_ctl *ctl, u32 seen);
void smc_cdc_urg_store(struct smc_cdc_ctl *ctl, u8 byte, bool is_inline);
bool smc_cdc_urg_take_out(struct smc_cdc_ctl *ctl);
void smc_cdc_urg_pass(struct smc_cdc_ctl *ctl);
int smc_cdc_urg_read(struct smc_cdc_ctl *ctl, bool is_peek);

/* The control block: sending. */
u32 smc_cdc_window(const struct smc_cdc_ctl *ctl);
bool smc_cdc_may_write(const struct smc_cdc_ctl *ctl);
u32 smc_cdc_write_limit(const struct smc_cdc_ctl *ctl, u32 unsent);
void smc_cdc_plan(const struct smc_cdc_ctl *ctl, struct smc_geom src,
		  struct smc_cursor sent, struct smc_cursor prep,
		  struct smc_xfer *x);
bool smc_cdc_is_needed(const struct smc_cdc_ctl *ctl, u32 unsent);
void smc_cdc_mark_urgent(struct smc_cdc_ctl *ctl, u32 unsent);
void smc_cdc_open_urgent(struct smc_cdc_ctl *ctl, u32 unsent);
void smc_cdc_end_urgent(struct smc_cdc_ctl *ctl);
void smc_cdc_set_conn_flags(struct smc_cdc_ctl *ctl, u8 conn_flags);
int smc_cdc_build(struct smc_cdc_ctl *ctl, const struct smc_xfer *x,
		  struct smc_cdc_msg *msg);
void smc_cdc_done(struct smc_cdc_ctl *ctl, u16 seq, u32 len);

/* The control block: moving to another link. */
int smc_cdc_build_validation(const struct smc_cdc_ctl *ctl,
			     struct smc_cdc_msg *msg);
bool smc_cdc_is_final_due(const struct smc_cdc_ctl *ctl);
bool smc_cdc_is_replay_due(const struct smc_cdc_ctl *ctl);
bool smc_cdc_is_far_ahead(const struct smc_cdc_ctl *ctl);
u32 smc_cdc_replay(struct smc_cdc_ctl *ctl, struct smc_geom src,
		   struct smc_cursor sent, struct smc_xfer *x);

#endif /* _SMC_CDC_WIRE_H */
