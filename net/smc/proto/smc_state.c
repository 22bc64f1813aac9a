// SPDX-License-Identifier: GPL-2.0
/*
 * The close machine of RFC 7609 Section 4.8 as one table, and the legal moves of links and link
 * groups. D, C and A are PeerDoneWriting, PeerConnectionClosed and PeerConnAbort (AMB-46).
 *
 * Operation: an event is recorded, then the first rule that matches state, event and facts
 * applies. Without a match nothing has to be done.
 *
 * A close or shutdown with data unsent or in flight becomes pending (CLOSE-08) in any state
 * until all is drained. Its timer runs after close() only (CLOSE-23). Progress restarts it: a
 * slow reader gets its data, a peer that stopped reading cannot hold them for ever.
 *
 * LASTWORD (C) and PROCESSABORT (A, or C if the connection broke after it) wait until the last
 * message has completed, which may need a slot or another link first. Only then the connection
 * leaves its group, and TCP sends our FIN (CLOSE-01). In LASTWORD a peer that ended its stream
 * first also sends its FIN first, so that TIME_WAIT is at its side, as on TCP. The timer runs in
 * every state that waits for the peer and not for the application.
 *
 * TCP may end below a connection that works, because a firewall has forgotten it. So the end of
 * TCP alone ends nothing: the peer's A, or the loss of the links, does. If neither comes in time
 * and the peer has answered on the link, the connection continues, and later ends without TCP.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/types.h>

#include "proto/smc_state.h"

/* Facts that struct smc_close_ctl records ... */
enum smc_close_bit {
	SMC_SEEN_APP_CLOSED	= 1 << 0,
	SMC_SEEN_D_PENDING	= 1 << 1,
	SMC_SEEN_C_PENDING	= 1 << 2,
	SMC_SEEN_D_SENT		= 1 << 3,
	SMC_SEEN_C_SENT		= 1 << 4,
	SMC_SEEN_D_RCVD		= 1 << 5,
	SMC_SEEN_C_RCVD		= 1 << 6,
	SMC_SEEN_A_RCVD		= 1 << 7,
	SMC_SEEN_TCP_ENDED	= 1 << 8,	/* TCP was reset, or timed out */
	SMC_SEEN_PATH_LOST	= 1 << 9,	/* no link left: it is over, or complete */
	SMC_SEEN_PEER_FIRST	= 1 << 10,	/* the peer's stream ended before ours */
	SMC_SEEN_TCP_LOST	= 1 << 11,	/* the peer is there without TCP */
	/* ... or that hold for the current event only. */
	SMC_SEEN_UNREAD		= 1 << 16,
	SMC_SEEN_UNSENT		= 1 << 17,
	SMC_SEEN_BUSY		= 1 << 18,	/* unsent or not completed */
	SMC_SEEN_PROGRESS	= 1 << 19,	/* since the timer started */
	SMC_SEEN_ABORT_DUE	= 1 << 20,	/* A may be in flight if TCP has ended */
	SMC_SEEN_IN_USE		= 1 << 21,	/* the peer has sent a message */
	SMC_SEEN_ANSWER		= 1 << 22,	/* so it has since TCP has ended, on its link */
};

/* With any of these the end of TCP needs no further message from the peer. */
#define SMC_SEEN_RST_EXPLAINED \
	(SMC_SEEN_APP_CLOSED | SMC_SEEN_C_RCVD | SMC_SEEN_PATH_LOST | SMC_SEEN_TCP_LOST)

#define SMC_SEEN_MOMENTARY \
	(SMC_SEEN_UNREAD | SMC_SEEN_UNSENT | SMC_SEEN_BUSY | SMC_SEEN_PROGRESS | \
	 SMC_SEEN_ABORT_DUE | SMC_SEEN_IN_USE | SMC_SEEN_ANSWER)

/* Values of smc_close_rule.next other than states. */
enum smc_rule_next {
	SMC_RULE_STAY	= 0,
	SMC_RULE_ABORT	= 31,	/* see smc_state_abort() */
};

/* In one of @states, on one of @events, with all facts in @set and none in @clear. */
struct smc_close_rule {
	u32	states;
	u32	events;
	u32	set;
	u32	clear;
	u32	next;
	u32	actions;
};

#define ST(state)	BIT(SMC_STATE_##state)
#define EV(event)	BIT(SMC_CLOSE_##event)
#define DO(action)	SMC_CLOSE_DO_##action
#define SEEN(bit)	SMC_SEEN_##bit

/* States of a connection that no side has aborted. */
#define ST_OPEN (ST(ACTIVE) | ST(APPCLOSEWAIT1) | ST(APPCLOSEWAIT2) | \
		 ST(PEERCLOSEWAIT1) | ST(PEERCLOSEWAIT2) | \
		 ST(APPFINCLOSEWAIT) | ST(PEERFINCLOSEWAIT))
#define ST_ABORTING (ST(PEERABORTWAIT) | ST(PROCESSABORT))
/* Open states in which the peer's D or C, and so all its data, arrived. */
#define ST_COMPLETE (ST(APPCLOSEWAIT1) | ST(APPCLOSEWAIT2) | \
		     ST(PEERCLOSEWAIT2) | ST(APPFINCLOSEWAIT))

/* Open states in which more data may arrive for the application. */
#define ST_RECEIVING (ST(ACTIVE) | ST(PEERCLOSEWAIT1))

/* Local reasons for an abort. */
#define EV_ABORT (EV(APP_ABORT) | EV(FAULT) | EV(SILENCE))

#define DO_WAKE (DO(WAKE_READERS) | DO(WAKE_WRITERS))
/* Report an abort to the application; data in flight are lost (2A). */
#define DO_BREAK (DO(PURGE) | DO(REPORT_ERR) | DO_WAKE)
#define DO_ABORT (DO_BREAK | DO(SEND_A) | DO(TCP_RST) | DO(START_TIMER))
#define DO_LEAVE (DO(STOP_TIMER) | DO(FREE_RMBE))
#define DO_RESET (DO_BREAK | DO(TCP_RST) | DO_LEAVE)

static const struct smc_close_rule smc_close_rules[] = {
	/*
	 * Establishment (2). The handshake wakes the sleepers. Flags that the peer sent meanwhile
	 * take effect now.
	 */
	{ ST(INIT), EV(ESTABLISHED), SEEN(A_RCVD), 0,
	  SMC_STATE_PROCESSABORT, DO_ABORT },
	{ ST(INIT), EV(ESTABLISHED), SEEN(C_RCVD), 0,
	  SMC_STATE_APPCLOSEWAIT1, 0 },
	{ ST(INIT), EV(ESTABLISHED), SEEN(D_RCVD), 0,
	  SMC_STATE_APPCLOSEWAIT1, 0 },
	{ ST(INIT), EV(ESTABLISHED), 0, 0,
	  SMC_STATE_ACTIVE, 0 },
	/* Never connected: there is no peer for a CDC. */
	{ ST(INIT), EV(APP_CLOSE), 0, 0,
	  SMC_STATE_CLOSED, DO_RESET & ~DO(REPORT_ERR) },
	{ ST(INIT), EV_ABORT | EV(RX_RST) | EV(TIMER) | EV(LINK_LOST), 0, 0,
	  SMC_STATE_CLOSED, DO_RESET },

	/*
	 * No path to the peer is left. All that the peer wrote before its D or C is here, and
	 * the application reads it at its own pace, as with TCP (CLOSE-17). The loss is an
	 * error only where the application could still have sent, and only the first time.
	 */
	{ ST(APPCLOSEWAIT1), EV(LINK_LOST), 0,
	  SEEN(APP_CLOSED) | SEEN(C_RCVD) | SEEN(PATH_LOST),
	  SMC_RULE_STAY, DO(REPORT_ERR) | DO_WAKE },
	{ ST_COMPLETE, EV(LINK_LOST), 0, SEEN(APP_CLOSED),
	  SMC_RULE_STAY, DO_WAKE },
	{ ST_OPEN, EV(LINK_LOST), 0, 0,
	  SMC_STATE_CLOSED, DO_RESET },
	/* No message is posted after the loss: PEER-03, without time pressure. */
	{ ST_OPEN, EV(APP_CLOSE), SEEN(PATH_LOST), 0,
	  SMC_STATE_CLOSED, DO_RESET & ~DO(REPORT_ERR) },
	{ ST_OPEN, EV_ABORT, SEEN(PATH_LOST), 0,
	  SMC_STATE_CLOSED, DO_RESET },
	{ ST_OPEN, EV(APP_SHUT_WR), SEEN(PATH_LOST) | SEEN(D_PENDING), 0,
	  SMC_RULE_STAY, DO(WAKE_WRITERS) },
	/* The peer detected the loss, too, or sent this before it. */
	{ ST_OPEN, EV(RX_RST) | EV(RX_ABORT) | EV(RX_CLOSED), SEEN(PATH_LOST), 0,
	  SMC_RULE_STAY, DO_WAKE },
	/*
	 * The end of an abort (1B, 2B). A peer that closed before our A arrived sends only its
	 * C; our A may still be in flight.
	 */
	{ ST(PEERABORTWAIT), EV(RX_ABORT) | EV(RX_CLOSED), 0, 0,
	  SMC_STATE_PROCESSABORT, 0 },
	{ ST(PROCESSABORT), EV(FINAL_DONE), 0, 0,
	  SMC_STATE_CLOSED, DO_LEAVE },
	{ ST_ABORTING, EV(TIMER) | EV(LINK_LOST), 0, 0,
	  SMC_STATE_CLOSED, DO_LEAVE },
	/* The end of a close: our C was delivered, or its delivery no longer matters. */
	{ ST(LASTWORD), EV(FINAL_DONE) | EV(TIMER) | EV(LINK_LOST), 0, 0,
	  SMC_STATE_CLOSED, DO(TCP_FIN) | DO_LEAVE },
	/* Payload on TCP (AMB-54), or the application wants a RST instead of a FIN. */
	{ ST(LASTWORD), EV(FAULT) | EV(APP_ABORT), 0, 0,
	  SMC_STATE_PROCESSABORT, DO(TCP_RST) },

	/* This side aborts (1A), or the peer does (2A): answer with A unless our C was sent. */
	{ ST_OPEN, EV_ABORT | EV(RX_ABORT), 0, 0,
	  SMC_RULE_ABORT, 0 },
	/*
	 * All data before D is here, and TCP would let the application read it. The reset may
	 * mean an abort, which A announces, or the loss of the peer's links, which is detected
	 * soon. If neither arrives in time this side aborts (ABRT-10).
	 */
	{ ST_COMPLETE, EV(RX_RST), SEEN(UNREAD), SEEN(APP_CLOSED) | SEEN(C_RCVD),
	  SMC_RULE_STAY, DO(START_TIMER) },
	/*
	 * Before D the peer's last data and its A may be in flight. A RST often overtakes both;
	 * on a plain TCP connection it cannot overtake data. Or a firewall has forgotten TCP.
	 */
	{ ST_RECEIVING | ST_COMPLETE, EV(RX_RST), SEEN(ABORT_DUE),
	  SEEN(APP_CLOSED) | SEEN(C_RCVD),
	  SMC_RULE_STAY, DO(START_TIMER) },
	/* A peer that never sent anything may have refused the connection (ERR-07). */
	{ ST_RECEIVING | ST_COMPLETE, EV(TIMER),
	  SEEN(TCP_ENDED) | SEEN(ABORT_DUE) | SEEN(IN_USE) | SEEN(ANSWER), SMC_SEEN_RST_EXPLAINED,
	  SMC_RULE_STAY, DO(GO_WITHOUT_TCP) },
	{ ST_RECEIVING | ST_COMPLETE, EV(TIMER), SEEN(TCP_ENDED), SMC_SEEN_RST_EXPLAINED,
	  SMC_RULE_ABORT, 0 },
	/* The timer of the close runs. */
	{ ST_OPEN, EV(RX_RST), SEEN(APP_CLOSED) | SEEN(ABORT_DUE) | SEEN(IN_USE), 0,
	  SMC_RULE_STAY, 0 },
	/*
	 * A deployed peer closes TCP in close(), perhaps before our application has read
	 * everything (protocol.md), so its TCP may send RST later. After C nothing is left to
	 * abort.
	 */
	{ ST_OPEN, EV(RX_RST), 0, SEEN(C_RCVD),
	  SMC_RULE_ABORT, 0 },
	/* Progress extends the time of a pending close. */
	{ ST_OPEN, EV(TIMER), SEEN(C_PENDING) | SEEN(PROGRESS), 0,
	  SMC_RULE_STAY, DO(START_TIMER) },
	/* The peer did not close in time after our C (CLOSE-24). */
	{ ST_OPEN, EV(TIMER), SEEN(APP_CLOSED) | SEEN(C_SENT), 0,
	  SMC_STATE_CLOSED, DO_RESET },
	{ ST_OPEN, EV(TIMER), SEEN(APP_CLOSED), 0,
	  SMC_RULE_ABORT, 0 },
	/*
	 * Data will never be read (3A, AMB-45). RX_DATA may be late: the application may have
	 * read the data before it closed.
	 */
	{ ST_OPEN, EV(APP_CLOSE), SEEN(UNREAD), SEEN(C_SENT),
	  SMC_RULE_ABORT, 0 },
	{ ST_OPEN, EV(RX_DATA), SEEN(UNREAD) | SEEN(APP_CLOSED), 0,
	  SMC_RULE_ABORT, 0 },
	/* The peer closed and will not read unsent data (4A, AMB-43). */
	{ ST_OPEN, EV(RX_CLOSED), SEEN(UNSENT), 0,
	  SMC_RULE_ABORT, 0 },

	/* The application closes and all is drained (3A, 3D, 4C, AMB-42). */
	{ ST(ACTIVE), EV(APP_CLOSE) | EV(TX_DRAINED),
	  SEEN(C_PENDING), SEEN(BUSY),
	  SMC_STATE_PEERCLOSEWAIT1, DO(SEND_C) | DO(START_TIMER) | DO_WAKE },
	{ ST(PEERCLOSEWAIT1) | ST(PEERCLOSEWAIT2),
	  EV(APP_CLOSE) | EV(TX_DRAINED), SEEN(C_PENDING), SEEN(BUSY),
	  SMC_RULE_STAY, DO(SEND_C) | DO(START_TIMER) | DO_WAKE },
	{ ST(APPFINCLOSEWAIT) | ST(APPCLOSEWAIT1) | ST(APPCLOSEWAIT2),
	  EV(APP_CLOSE) | EV(TX_DRAINED),
	  SEEN(C_PENDING) | SEEN(C_RCVD), SEEN(BUSY),
	  SMC_STATE_LASTWORD, DO(SEND_C) | DO(START_TIMER) | DO_WAKE },
	{ ST(APPCLOSEWAIT1) | ST(APPCLOSEWAIT2),
	  EV(APP_CLOSE) | EV(TX_DRAINED), SEEN(C_PENDING), SEEN(BUSY),
	  SMC_STATE_PEERFINCLOSEWAIT, DO(SEND_C) | DO(START_TIMER) | DO_WAKE },
	/* It closes with data unsent or in flight: pending close (3A). */
	{ ST_OPEN, EV(APP_CLOSE) | EV(TX_DRAINED), SEEN(C_PENDING), 0,
	  SMC_RULE_STAY, DO(WAIT_DRAIN) | DO(START_TIMER) | DO_WAKE },

	/* It shuts down writing (3A, 4B). */
	{ ST(ACTIVE), EV(APP_SHUT_WR) | EV(TX_DRAINED),
	  SEEN(D_PENDING), SEEN(BUSY),
	  SMC_STATE_PEERCLOSEWAIT1, DO(SEND_D) | DO(WAKE_WRITERS) },
	{ ST(APPCLOSEWAIT1), EV(APP_SHUT_WR) | EV(TX_DRAINED),
	  SEEN(D_PENDING), SEEN(BUSY),
	  SMC_STATE_APPCLOSEWAIT2, DO(SEND_D) | DO(WAKE_WRITERS) },
	{ ST_OPEN, EV(APP_SHUT_WR) | EV(TX_DRAINED), SEEN(D_PENDING), 0,
	  SMC_RULE_STAY, DO(WAIT_DRAIN) | DO(WAKE_WRITERS) },
	/* It shuts down reading, without a message to the peer (CLOSE-04). */
	{ ST_OPEN, EV(APP_SHUT_RD), 0, 0,
	  SMC_RULE_STAY, DO(WAKE_READERS) },

	/* The peer shuts down writing (3B, 4A) ... */
	{ ST(ACTIVE), EV(RX_DONE), 0, 0,
	  SMC_STATE_APPCLOSEWAIT1, DO(WAKE_READERS) },
	{ ST(PEERCLOSEWAIT1), EV(RX_DONE), 0, 0,
	  SMC_STATE_PEERCLOSEWAIT2, DO(WAKE_READERS) },
	/* ... or has closed (3C, 4A, 4D). */
	{ ST(ACTIVE), EV(RX_CLOSED), 0, 0,
	  SMC_STATE_APPCLOSEWAIT1, DO_WAKE },
	{ ST(APPCLOSEWAIT1) | ST(APPCLOSEWAIT2), EV(RX_CLOSED), 0, 0,
	  SMC_RULE_STAY, DO_WAKE },
	{ ST(PEERCLOSEWAIT1) | ST(PEERCLOSEWAIT2) | ST(PEERFINCLOSEWAIT),
	  EV(RX_CLOSED), SEEN(C_SENT), 0,
	  SMC_STATE_LASTWORD, DO_WAKE },
	{ ST(PEERCLOSEWAIT1) | ST(PEERCLOSEWAIT2), EV(RX_CLOSED), 0, 0,
	  SMC_STATE_APPFINCLOSEWAIT, DO_WAKE },
};

/* Error reported when an event breaks the connection; 0: ECONNRESET. */
static const int smc_close_errs[SMC_CLOSE_NR_EVENTS] = {
	[SMC_CLOSE_FAULT]	= ECONNABORTED,
	[SMC_CLOSE_SILENCE]	= ETIMEDOUT,
	[SMC_CLOSE_LINK_LOST]	= ECONNABORTED,
	[SMC_CLOSE_TIMER]	= ETIMEDOUT,
};

/* Facts that an event records. */
static const u32 smc_close_adds[SMC_CLOSE_NR_EVENTS] = {
	[SMC_CLOSE_APP_CLOSE]	= SEEN(APP_CLOSED),
	[SMC_CLOSE_RX_DONE]	= SEEN(D_RCVD),
	[SMC_CLOSE_RX_CLOSED]	= SEEN(C_RCVD),
	[SMC_CLOSE_RX_ABORT]	= SEEN(A_RCVD),
	[SMC_CLOSE_RX_RST]	= SEEN(TCP_ENDED),
};

static u32 smc_state_remember(const struct smc_close_ctl *ctl,
			      enum smc_close_event event,
			      const struct smc_close_facts *facts)
{
	bool is_open = BIT(ctl->state) & ST_OPEN;
	u32 seen = ctl->seen | smc_close_adds[event];

	if (is_open && event == SMC_CLOSE_APP_CLOSE && !(seen & SEEN(C_SENT)))
		seen = (seen & ~SEEN(D_PENDING)) | SEEN(C_PENDING);
	if (is_open && event == SMC_CLOSE_APP_SHUT_WR &&
	    !(seen & (SEEN(D_SENT) | SEEN(APP_CLOSED))))
		seen |= SEEN(D_PENDING);
	if (facts->has_unread)
		seen |= SEEN(UNREAD);
	if (facts->has_unsent)
		seen |= SEEN(UNSENT) | SEEN(BUSY);
	if (facts->has_inflight)
		seen |= SEEN(BUSY);
	if (facts->has_progress)
		seen |= SEEN(PROGRESS);
	if (facts->is_abort_due)
		seen |= SEEN(ABORT_DUE);
	if (facts->is_in_use)
		seen |= SEEN(IN_USE);
	if (facts->has_answer)
		seen |= SEEN(ANSWER);
	return seen;
}

/* TCP has ended, and whether the peer has ended it is still unknown. */
static bool smc_state_awaits_flags(u32 state, u32 seen)
{
	return BIT(state) & (ST_RECEIVING | ST_COMPLETE) && seen & SEEN(TCP_ENDED) &&
	       !(seen & SMC_SEEN_RST_EXPLAINED);
}

static const struct smc_close_rule *
smc_state_find_rule(enum smc_conn_state state, enum smc_close_event event,
		    u32 seen)
{
	const struct smc_close_rule *rule = smc_close_rules;

	for (; rule < smc_close_rules + ARRAY_SIZE(smc_close_rules); rule++)
		if ((rule->states & BIT(state)) &&
		    (rule->events & BIT(event)) &&
		    (seen & rule->set) == rule->set && !(seen & rule->clear))
			return rule;
	return NULL;
}

/*
 * A peer that sent C or A, or has our C (AMB-44), sends no A in reply: only the completion of
 * our last message is pending. Otherwise the peer's A is (1A).
 */
static enum smc_conn_state smc_state_abort(u32 seen)
{
	return seen & (SEEN(C_SENT) | SEEN(C_RCVD) | SEEN(A_RCVD)) ? SMC_STATE_PROCESSABORT :
								     SMC_STATE_PEERABORTWAIT;
}

/* Facts that the actions of a step record. */
static u32 smc_state_note_actions(u32 seen, u32 actions)
{
	if (actions & DO(SEND_D))
		seen = (seen & ~SEEN(D_PENDING)) | SEEN(D_SENT);
	if (actions & DO(SEND_C))
		seen = (seen & ~SEEN(C_PENDING)) | SEEN(C_SENT);
	if (actions & DO(GO_WITHOUT_TCP))
		seen |= SEEN(TCP_LOST);
	if (actions & DO(PURGE) || seen & SEEN(PATH_LOST))
		seen &= ~(SEEN(D_PENDING) | SEEN(C_PENDING));
	return seen;
}

/**
 * smc_state_close_init() - initialise the close machine of a connection
 * @ctl: state of the close machine
 *
 * RFC 7609 Section 4.8.1 (CLOSE-05, CLOSE-06).
 *
 * Context: Any context.
 */
void smc_state_close_init(struct smc_close_ctl *ctl)
{
	WRITE_ONCE(ctl->state, SMC_STATE_INIT);
	WRITE_ONCE(ctl->seen, 0);
}

/**
 * smc_state_awaits_abort() - check whether the peer's A may follow the end of TCP
 * @ctl: state of the close machine
 *
 * RFC 7609 4.8.2 (ABRT-02, ABRT-10).
 *
 * Context: as for smc_state_close().
 * Return: true if TCP has ended and the peer has sent neither C nor A.
 */
bool smc_state_awaits_abort(const struct smc_close_ctl *ctl)
{
	return smc_state_awaits_flags(ctl->state, ctl->seen);
}

/**
 * smc_state_close() - feed an event to the close machine
 * @ctl: state of the close machine; changed here only
 * @event: the event
 * @facts: state of the data path at this moment
 *
 * RFC 7609 Sections 4.8.1 and 4.8.2, Figures 22 and 23 (CLOSE-01 to CLOSE-26, ABRT-01 to
 * ABRT-13, AMB-41 to AMB-47). A CDC with several flags is several events: data, D, C, A.
 *
 * Context: the owner serialises all calls for one @ctl and carries the actions out in order.
 * Return: the step; no actions and the same state if there is nothing to do.
 */
struct smc_close_step smc_state_close(struct smc_close_ctl *ctl,
				      enum smc_close_event event,
				      const struct smc_close_facts *facts)
{
	bool was_awaiting = smc_state_awaits_flags(ctl->state, ctl->seen);
	struct smc_close_step step = { .next = ctl->state, .cause = event };
	const struct smc_close_rule *rule;
	u32 seen;

	if (event >= SMC_CLOSE_NR_EVENTS)
		return step;
	seen = smc_state_remember(ctl, event, facts);
	rule = smc_state_find_rule(ctl->state, event, seen);
	if (rule && rule->next == SMC_RULE_ABORT) {
		step.next = smc_state_abort(seen);
		step.actions = DO_ABORT;
	} else if (rule) {
		step.actions = rule->actions;
		if (rule->next != SMC_RULE_STAY)
			step.next = rule->next;
	}
	/* after our C nothing is sent, AMB-44 */
	if (seen & SEEN(C_SENT))
		step.actions &= ~DO(SEND_A);
	if (seen & SEEN(TCP_ENDED))
		step.actions &= ~(DO(TCP_RST) | DO(TCP_FIN));
	/* the message did not arrive, or cannot: the end of TCP is the reason */
	if (was_awaiting && BIT(event) & (EV(TIMER) | EV(LINK_LOST) | EV(SILENCE)))
		step.cause = SMC_CLOSE_RX_RST;
	if (step.actions & DO(REPORT_ERR))
		step.sk_err = smc_close_errs[step.cause] ?: ECONNRESET;
	if (event == SMC_CLOSE_LINK_LOST)
		seen |= SEEN(PATH_LOST);
	/* the peer may still reach our element where this side has no link to its element */
	step.is_peer_done = seen & (SEEN(C_RCVD) | SEEN(A_RCVD)) ||
			    (seen & SEEN(PATH_LOST) && !facts->has_links);
	if (was_awaiting && !smc_state_awaits_flags(step.next, seen) &&
	    !(step.actions & DO(START_TIMER)))
		step.actions |= DO(STOP_TIMER);
	if (step.next == SMC_STATE_APPCLOSEWAIT1)
		seen |= SEEN(PEER_FIRST);
	seen = smc_state_note_actions(seen, step.actions);
	WRITE_ONCE(ctl->seen, seen & ~SMC_SEEN_MOMENTARY);
	WRITE_ONCE(ctl->state, step.next);
	return step;
}

/**
 * smc_state_is_alive() - check whether a connection has begun and not ended
 * @ctl: state of the close machine
 *
 * The owner holds the connection meanwhile. Each such state ends by itself, or by the
 * application.
 *
 * Context: Any context.
 * Return: true if so.
 */
bool smc_state_is_alive(const struct smc_close_ctl *ctl)
{
	return BIT(READ_ONCE(ctl->state)) & (ST_OPEN | ST_ABORTING | ST(LASTWORD));
}

/**
 * smc_state_is_usable() - check whether the application has a connection
 * @ctl: state of the close machine
 *
 * An aborted connection counts while the peer may have to be informed.
 *
 * Context: Any context.
 * Return: true if so.
 */
bool smc_state_is_usable(const struct smc_close_ctl *ctl)
{
	return BIT(READ_ONCE(ctl->state)) & (ST_OPEN | ST_ABORTING);
}

/**
 * smc_state_is_open() - check whether a connection has begun and neither ended nor been aborted
 * @ctl: state of the close machine
 *
 * RFC 7609 4.8.1, 4.8.2.
 *
 * Context: Any context.
 * Return: true if so.
 */
bool smc_state_is_open(const struct smc_close_ctl *ctl)
{
	return BIT(READ_ONCE(ctl->state)) & ST_OPEN;
}

/**
 * smc_state_awaits_final() - check whether only our last message is pending
 * @ctl: state of the close machine
 *
 * The owner reports SMC_CLOSE_FINAL_DONE as soon as that message has completed, or never can.
 * RFC 7609 4.8.1, 4.8.2 (CLOSE-02, ABRT-09).
 *
 * Context: Any context. A caller not serialised with smc_state_close() has held conn->lock
 *	 since the completion, as for smc_state_is_draining().
 * Return: true if so.
 */
bool smc_state_awaits_final(const struct smc_close_ctl *ctl)
{
	return BIT(READ_ONCE(ctl->state)) & (ST(LASTWORD) | ST(PROCESSABORT));
}

/**
 * smc_state_awaits_fin() - check whether the FIN of the peer is to precede ours
 * @ctl: state of the close machine
 *
 * The owner reports SMC_CLOSE_FINAL_DONE when it has come, too. RFC 7609 4.8.1 (CLOSE-01).
 *
 * Context: as for smc_state_awaits_final().
 * Return: true in LASTWORD if the peer ended its stream before we ended ours.
 */
bool smc_state_awaits_fin(const struct smc_close_ctl *ctl)
{
	return READ_ONCE(ctl->state) == SMC_STATE_LASTWORD &&
	       READ_ONCE(ctl->seen) & SEEN(PEER_FIRST);
}

/**
 * smc_state_has_seen() - check whether an event was recorded
 * @ctl: state of the close machine
 * @event: APP_CLOSE, RX_DONE, RX_CLOSED, RX_ABORT or RX_RST
 *
 * Context: as for smc_state_close().
 * Return: true if so.
 */
bool smc_state_has_seen(const struct smc_close_ctl *ctl, enum smc_close_event event)
{
	return ctl->seen & smc_close_adds[event];
}

/**
 * smc_state_has_lost_tcp() - check whether a connection goes on without its TCP connection
 * @ctl: state of the close machine
 *
 * Context: Any context.
 * Return: true if so.
 */
bool smc_state_has_lost_tcp(const struct smc_close_ctl *ctl)
{
	return smc_state_is_open(ctl) && READ_ONCE(ctl->seen) & SEEN(TCP_LOST);
}

/**
 * smc_state_shown() - translate a state for user space
 * @state: any
 *
 * For the application a connection ends when both sides have closed. The delivery of the last
 * message does not matter to it.
 *
 * Context: Any context.
 * Return: a state that user space knows.
 */
enum smc_conn_state smc_state_shown(enum smc_conn_state state)
{
	return state == SMC_STATE_LASTWORD ? SMC_STATE_CLOSED : state;
}

/**
 * smc_state_is_draining() - check whether a close or shutdown waits for data to complete
 * @ctl: state of the close machine
 *
 * While it does, the owner reports SMC_CLOSE_TX_DRAINED as soon as nothing is unsent or in
 * flight (CLOSE-08).
 *
 * Context: Any context. A caller not serialised with smc_state_close() has held conn->lock
 *	 since the completion. Either it sees the pending close, or smc_conn_await_drain(),
 *	 called after the close became pending, sees the completion.
 * Return: true if so.
 */
bool smc_state_is_draining(const struct smc_close_ctl *ctl)
{
	return READ_ONCE(ctl->seen) & (SEEN(D_PENDING) | SEEN(C_PENDING));
}

/* Same order as the enums they print. */
static const char * const smc_conn_names[] = {
	[SMC_STATE_ACTIVE]		= "ACTIVE",
	[SMC_STATE_INIT]		= "INIT",
	[SMC_STATE_CLOSED]		= "CLOSED",
	[SMC_STATE_LISTEN]		= "LISTEN",
	[SMC_STATE_PEERCLOSEWAIT1]	= "PEERCLOSEWAIT1",
	[SMC_STATE_PEERCLOSEWAIT2]	= "PEERCLOSEWAIT2",
	[SMC_STATE_APPCLOSEWAIT1]	= "APPCLOSEWAIT1",
	[SMC_STATE_APPCLOSEWAIT2]	= "APPCLOSEWAIT2",
	[SMC_STATE_APPFINCLOSEWAIT]	= "APPFINCLOSEWAIT",
	[SMC_STATE_PEERFINCLOSEWAIT]	= "PEERFINCLOSEWAIT",
	[SMC_STATE_PEERABORTWAIT]	= "PEERABORTWAIT",
	[SMC_STATE_PROCESSABORT]	= "PROCESSABORT",
	[SMC_STATE_LASTWORD]		= "LASTWORD",
};

static const char * const smc_event_names[SMC_CLOSE_NR_EVENTS] = {
	[SMC_CLOSE_ESTABLISHED]	= "ESTABLISHED",
	[SMC_CLOSE_APP_CLOSE]	= "APP_CLOSE",
	[SMC_CLOSE_APP_SHUT_WR]	= "APP_SHUT_WR",
	[SMC_CLOSE_APP_SHUT_RD]	= "APP_SHUT_RD",
	[SMC_CLOSE_TX_DRAINED]	= "TX_DRAINED",
	[SMC_CLOSE_RX_DATA]	= "RX_DATA",
	[SMC_CLOSE_RX_DONE]	= "RX_DONE",
	[SMC_CLOSE_RX_CLOSED]	= "RX_CLOSED",
	[SMC_CLOSE_RX_ABORT]	= "RX_ABORT",
	[SMC_CLOSE_RX_RST]	= "RX_RST",
	[SMC_CLOSE_APP_ABORT]	= "APP_ABORT",
	[SMC_CLOSE_FAULT]	= "FAULT",
	[SMC_CLOSE_SILENCE]	= "SILENCE",
	[SMC_CLOSE_LINK_LOST]	= "LINK_LOST",
	[SMC_CLOSE_TIMER]	= "TIMER",
	[SMC_CLOSE_FINAL_DONE]	= "FINAL_DONE",
};

const char * const smc_state_link_names[SMC_LINK_NR_STATES] = {
	[SMC_LINK_UNUSED]	= "UNUSED",
	[SMC_LINK_INACTIVE]	= "INACTIVE",
	[SMC_LINK_ACTIVATING]	= "ACTIVATING",
	[SMC_LINK_ACTIVE]	= "ACTIVE",
	[SMC_LINK_DELETING]	= "DELETING",
};

const char * const smc_state_lgr_names[SMC_LGR_NR_STATES] = {
	[SMC_LGR_FORMING]	= "FORMING",
	[SMC_LGR_ACTIVE]	= "ACTIVE",
	[SMC_LGR_TERMINATING]	= "TERMINATING",
	[SMC_LGR_DEAD]		= "DEAD",
};

const char * const smc_state_lgr_type_names[SMC_LGR_NR_TYPES] = {
	[SMC_LGR_TYPE_NONE]		= "NONE",
	[SMC_LGR_TYPE_SINGLE]		= "SINGLE",
	[SMC_LGR_TYPE_SYMMETRIC]	= "SYMMETRIC",
	[SMC_LGR_TYPE_ASYMMETRIC_PEER]	= "ASYMMETRIC_PEER",
	[SMC_LGR_TYPE_ASYMMETRIC_LOCAL]	= "ASYMMETRIC_LOCAL",
};

static const char *smc_state_name(const char * const *names, u32 nr, u32 value)
{
	return value < nr && names[value] ? names[value] : "?";
}

/**
 * smc_state_conn_name() - name of a connection state
 * @state: any value
 *
 * Context: Any context.
 * Return: a string, "?" for an unknown value.
 */
const char *smc_state_conn_name(enum smc_conn_state state)
{
	return smc_state_name(smc_conn_names, ARRAY_SIZE(smc_conn_names),
			      state);
}

/**
 * smc_state_event_name() - name of an event of the close machine
 * @event: any value
 *
 * Context: Any context.
 * Return: a string, "?" for an unknown value.
 */
const char *smc_state_event_name(enum smc_close_event event)
{
	return smc_state_name(smc_event_names, ARRAY_SIZE(smc_event_names),
			      event);
}

/* Bit n of entry m: state n may follow state m. */
static const u8 smc_link_moves[SMC_LINK_NR_STATES] = {
	[SMC_LINK_UNUSED]	= BIT(SMC_LINK_ACTIVATING) |
				  BIT(SMC_LINK_INACTIVE),
	[SMC_LINK_ACTIVATING]	= BIT(SMC_LINK_ACTIVE) | BIT(SMC_LINK_INACTIVE),
	[SMC_LINK_ACTIVE]	= BIT(SMC_LINK_DELETING) |
				  BIT(SMC_LINK_INACTIVE),
	[SMC_LINK_DELETING]	= BIT(SMC_LINK_INACTIVE),
	[SMC_LINK_INACTIVE]	= 0,
};

static const u8 smc_lgr_moves[SMC_LGR_NR_STATES] = {
	[SMC_LGR_FORMING]	= BIT(SMC_LGR_ACTIVE) |
				  BIT(SMC_LGR_TERMINATING) | BIT(SMC_LGR_DEAD),
	[SMC_LGR_ACTIVE]	= BIT(SMC_LGR_TERMINATING),
	[SMC_LGR_TERMINATING]	= BIT(SMC_LGR_DEAD),
	[SMC_LGR_DEAD]		= 0,
};

/**
 * smc_state_link_may_move() - check whether a link may change its state
 * @from: current state
 * @to: next state
 *
 * A link may be given up at any time, even before it is connected. It never returns: another
 * link with a new queue pair takes its place (LID-03).
 *
 * Context: Any context.
 * Return: true if it may.
 */
bool smc_state_link_may_move(enum smc_link_state from, enum smc_link_state to)
{
	return from < SMC_LINK_NR_STATES && to < SMC_LINK_NR_STATES &&
	       (smc_link_moves[from] & BIT(to));
}

/**
 * smc_state_lgr_may_move() - check whether a link group may change its state
 * @from: current state
 * @to: next state
 *
 * Context: Any context.
 * Return: true if it may.
 */
bool smc_state_lgr_may_move(enum smc_lgr_state from, enum smc_lgr_state to)
{
	return from < SMC_LGR_NR_STATES && to < SMC_LGR_NR_STATES &&
	       (smc_lgr_moves[from] & BIT(to));
}
