/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connection data control: the CDC message and a connection's control block.
 *
 * "rx" is the direction from the peer: rx_prod is where the peer writes next into our element,
 * rx_cons where we read next. "tx" is the direction to the peer: tx_prep is the end of the data in
 * our send ring, tx_sent where we write next into the peer's element, tx_fin where the data in
 * flight begins, and tx_cons where the peer reads next, as last received.
 *
 * All are positions: free space, readable, unsent bytes and bytes in flight follow from two of them
 * each. The reader may overtake completions, so more than one ring may be in flight. Received
 * cursors become positions here, where an impossible one is found.
 *
 * Locks: the connection's lock protects a control block, but tx_prep and rx_cons, which may advance
 * without it. The caller posts what smc_cdc_build() returned under the same hold, so CDC order
 * equals queue order.
 */
#ifndef _SMC_CDC_WIRE_H
#define _SMC_CDC_WIRE_H

#include <linux/types.h>
#include <asm/barrier.h>

#include "proto/smc_cursor.h"
#include "proto/smc_ring.h"
#include "proto/smc_wire.h"

/* A CDC message in host order; flags as in smc_wire.h */
struct smc_cdc_msg {
	u16			seq;
	u32			token;
	struct smc_cursor	prod;
	struct smc_cursor	cons;
	u8			prod_flags;
	u8			conn_flags;
	u8			link_num;	/* link it came on; not part of the message */
};

/* Results of a received CDC */
enum smc_cdc_event {
	SMC_EV_DATA		= 1 << 0,  /* more bytes to read */
	SMC_EV_SPACE		= 1 << 1,  /* the window opened */
	SMC_EV_BLOCKED		= 1 << 2,  /* B: the peer is blocked */
	SMC_EV_UPDATE_REQ	= 1 << 3,  /* R */
	SMC_EV_URG_PENDING	= 1 << 4,  /* a new urgent byte was announced */
	SMC_EV_URG		= 1 << 5,  /* U: rx_urg_mark has changed */
	SMC_EV_DONE		= 1 << 6,  /* D seen for the first time */
	SMC_EV_CLOSED		= 1 << 7,  /* C seen for the first time */
	SMC_EV_ABORT		= 1 << 8,  /* A seen for the first time */
	SMC_EV_STALE		= 1 << 9,  /* dropped: duplicate, old or too late */
	SMC_EV_VALID		= 1 << 10, /* F, and no message is missing */
	/* Nothing was applied: */
	SMC_EV_HELD		= 1 << 13, /* waits for messages that F found missing */
	/* Nothing was applied; the connection must be aborted: */
	SMC_EV_INVALID		= 1 << 11, /* impossible cursor, CUR-12 */
	SMC_EV_LOST		= 1 << 12, /* F found loss, FAIL-10 */
};

/* Up to an urgent byte, behind it, and one in reserve */
#define SMC_CDC_HELD_MAX	3

/* Links that may fail before the first one's receive queue is drained */
#define SMC_CDC_WAITS_MAX	2

/*
 * A message that a validation expects from a lost link. Its receive queue may be drained after
 * that of the next link. Later messages are held until it arrives.
 */
struct smc_cdc_wait {
	u16			seq_due;	/* SS of the validation */
	u8			nr_held;	/* entries of held */
	struct smc_cdc_msg	held[SMC_CDC_HELD_MAX];
};

/*
 * Position of the marked urgent byte, and whether MSG_OOB still returns it. An announced byte
 * that has not arrived is not a state, see smc_cdc_urg_is_pending().
 */
enum smc_urg_state {
	SMC_URG_NONE,			/* no mark, or the reader has passed it */
	SMC_URG_IN_STREAM,		/* at rx_urg_mark, not read */
	SMC_URG_IN_STREAM_UNREAD,	/* same, and MSG_OOB returns it */
	SMC_URG_OUT_OF_LINE,		/* removed just before rx_cons, nothing read since */
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

/* P without U: an urgent byte is announced and has not arrived, URG-04. */
static inline bool smc_cdc_urg_is_pending(u8 prod_flags)
{
	return (prod_flags & (SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT)) == SMC_CDC_URG_PENDING;
}

struct smc_cdc_ctl {
	/* Seldom written */
	struct smc_edge		rx_edge;	/* our element, read up to rx_cons_sent */
	struct smc_edge		tx_edge;	/* the peer's element, read up to tx_cons */
	u32			snd_size;	/* of the send ring, a power of two; or 0 */
	u32			tx_message;	/* the most that one message with data announces */
	/* once rx_cons_sent is there, the peer knows that a CDC of its link was applied */
	u64			rx_proof;
	/* once tx_cons is there, it is known that a CDC of the link in use was applied */
	u64			tx_proof;

	/* Written by calls, under the socket lock */
	u64			tx_prep;
	u64			rx_cons;

	/* Written by posts */
	u64			tx_sent;
	u64			rx_cons_sent;	/* as last sent to the peer */
	u16			tx_seq;		/* last one used */
	u16			tx_seq_final;	/* number of the CDC with C or A */
	u16			tx_imm_name;	/* of the connection in immediate data, or 0 */
	u8			tx_prod_flags;	/* as last sent */
	u8			tx_conn_flags;	/* D, C, A for the next CDC */
	u8			tx_conn_sent;	/* as last sent */
	bool			tx_urg_is_open;	/* the last mark may still move */
	bool			tx_is_replaying; /* the next CDC is a replay */

	/* Written by completions and received messages */
	u64			tx_fin;
	u64			tx_cons;
	u64			rx_prod;
	u16			tx_seq_done;	/* SS: last successful completion */
	u16			rx_seq;		/* SR: last one processed */
	u8			rx_link_num;	/* link of the last one processed, or 0 */
	u8			rx_prod_flags;	/* of the last one processed */
	u8			rx_conn_flags;	/* D, C, A: all received so far */
	u8			rx_nr_waits;	/* entries of rx_wait */
	bool			rx_is_update_due; /* R, or urgent byte read, since last CDC */
	bool			rx_is_replayed;	/* F received: prod may step back */

	/* Urgent bytes: positions */
	u8			rx_urg_byte;	/* copy of the byte at rx_urg_mark */
	enum smc_urg_state	rx_urg;		/* changed by smc_cdc_urg_move() */
	u64			rx_urg_mark;	/* the urgent byte itself */
	u64			tx_urg;		/* behind the next urgent byte, if not sent */
	u64			tx_urg_last;	/* same of the last one, if behind tx_urg */
	u64			tx_urg_sent;	/* behind the last one sent, see URG-07 */

	/* Messages missing after failovers, in the order of sending */
	struct smc_cdc_wait	rx_wait[SMC_CDC_WAITS_MAX];
};

/*
 * Unread bytes in our element, from rx_cons on. RFC 7609 A.4 (CUR-08, CUR-09, BLK-03). A writer on
 * this host moves rx_prod without our lock: what it wrote before is visible.
 */
static inline u32 smc_cdc_readable(const struct smc_cdc_ctl *ctl)
{
	/* pairs with smp_store_release() of the writer */
	return smp_load_acquire(&ctl->rx_prod) - READ_ONCE(ctl->rx_cons);
}

/* Free space in the peer's element. RFC 7609 Section 4.5.1 (WIN-01, CUR-07, CUR-08, CUR-10). */
static inline u32 smc_cdc_window(const struct smc_cdc_ctl *ctl)
{
	return smc_edge_space(&ctl->tx_edge) - (u32)(ctl->tx_sent - ctl->tx_cons);
}

/* Bytes in the send ring that were not written yet */
static inline u32 smc_cdc_unsent(const struct smc_cdc_ctl *ctl)
{
	return READ_ONCE(ctl->tx_prep) - ctl->tx_sent;
}

/* Bytes in the send ring that the peer may not have */
static inline u32 smc_cdc_unacked(const struct smc_cdc_ctl *ctl)
{
	return READ_ONCE(ctl->tx_prep) - ctl->tx_fin;
}

/* Return: true if an urgent byte is to be sent. */
static inline bool smc_cdc_has_urgent(const struct smc_cdc_ctl *ctl)
{
	return ctl->tx_urg > ctl->tx_sent;
}

/* Return: true if a byte is urgent that is not sent, acknowledged, received or read yet. */
static inline bool smc_cdc_is_urgent(const struct smc_cdc_ctl *ctl)
{
	return smc_cdc_has_urgent(ctl) || ctl->tx_cons < ctl->tx_urg_sent ||
	       ctl->rx_urg != SMC_URG_NONE ||
	       ctl->rx_prod_flags & (SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT);
}

/* Return: true if the peer waits for any progress of our reader: WIN-08, WIN-09, URG-06. */
static inline bool smc_cdc_is_update_awaited(const struct smc_cdc_ctl *ctl)
{
	return ctl->rx_is_update_due ||
	       ctl->rx_prod_flags & (SMC_CDC_BLOCKED | SMC_CDC_UPDATE_REQ);
}

/*
 * Return: false if smc_cdc_is_needed() has no reason to send an update that the peer does not
 * await. Also without the connection's lock: then it is asked again.
 */
static inline bool smc_cdc_may_owe_update(const struct smc_cdc_ctl *ctl)
{
	u64 sent = READ_ONCE(ctl->rx_cons_sent);

	return (u32)(READ_ONCE(ctl->rx_cons) - sent) >= ctl->rx_edge.size / 10 &&
	       (u32)(READ_ONCE(ctl->rx_prod) - sent) + ctl->rx_edge.size / 2 >
	       smc_edge_space(&ctl->rx_edge);
}

int smc_cdc_decode(const void *buf, size_t len, struct smc_cdc_msg *msg);
void smc_cdc_encode(const struct smc_cdc_msg *msg, u8 buf[SMC_CDC_LEN]);

/* Receive */
void smc_cdc_ctl_init(struct smc_cdc_ctl *ctl, u16 base, u32 rx_size, u32 tx_size,
		      u32 snd_size);
void smc_cdc_set_peer_size(struct smc_cdc_ctl *ctl, u32 size);
u32 smc_cdc_apply(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg);
u32 smc_cdc_apply_moved(struct smc_cdc_ctl *ctl, const struct smc_cdc_msg *msg);
u32 smc_cdc_give_up(struct smc_cdc_ctl *ctl);
int smc_cdc_consume(struct smc_cdc_ctl *ctl, u32 n);
void smc_cdc_urg_settle(struct smc_cdc_ctl *ctl);

/* Received urgent byte */
s64 smc_cdc_urg_distance(const struct smc_cdc_ctl *ctl);
bool smc_cdc_is_at_mark(const struct smc_cdc_ctl *ctl, u32 seen);
u32 smc_cdc_read_limit(const struct smc_cdc_ctl *ctl, u32 seen);
void smc_cdc_urg_store(struct smc_cdc_ctl *ctl, u8 byte, bool is_inline);
bool smc_cdc_urg_take_out(struct smc_cdc_ctl *ctl);
void smc_cdc_urg_pass(struct smc_cdc_ctl *ctl);
int smc_cdc_urg_read(struct smc_cdc_ctl *ctl, bool is_peek);

/* Send */
bool smc_cdc_may_write(const struct smc_cdc_ctl *ctl);
void smc_cdc_plan(const struct smc_cdc_ctl *ctl, u32 most, struct smc_xfer *x);
bool smc_cdc_is_needed(const struct smc_cdc_ctl *ctl);
void smc_cdc_mark_urgent(struct smc_cdc_ctl *ctl);
void smc_cdc_open_urgent(struct smc_cdc_ctl *ctl);
void smc_cdc_end_urgent(struct smc_cdc_ctl *ctl);
void smc_cdc_set_conn_flags(struct smc_cdc_ctl *ctl, u8 conn_flags);
int smc_cdc_build(struct smc_cdc_ctl *ctl, const struct smc_xfer *x,
		  struct smc_cdc_msg *msg);
void smc_cdc_done(struct smc_cdc_ctl *ctl, u16 seq, u32 len);

/* Failover */
int smc_cdc_build_validation(struct smc_cdc_ctl *ctl, struct smc_cdc_msg *msg);
bool smc_cdc_is_final_due(const struct smc_cdc_ctl *ctl);
bool smc_cdc_is_replay_due(const struct smc_cdc_ctl *ctl);
bool smc_cdc_is_far_ahead(const struct smc_cdc_ctl *ctl);
u32 smc_cdc_replay(struct smc_cdc_ctl *ctl, struct smc_xfer *x);

#endif /* _SMC_CDC_WIRE_H */
