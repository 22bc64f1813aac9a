/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The LLC machine of a link group, RFC 7609 3.5.1.5, 3.5.1.6, 3.5.4, 3.5.5 and Appendix C.
 *
 * An event goes in with the time, a bounded list of actions comes out. The caller carries the
 * actions out in order and reports outcomes as further events. Links are named by their index
 * in the link group, which the machine assigns; link numbers are their names on the wire.
 */
#ifndef _SMC_LLC_FLOW_H
#define _SMC_LLC_FLOW_H

#include <linux/types.h>

#include "proto/smc_llc_wire.h"
#include "proto/smc_state.h"

enum smc_llc_flow_limit {
	SMC_LLC_LINKS		= 9,	/* eight and an asymmetric one, AMB-61 */
	SMC_LLC_RNICS		= 8,	/* local RNICs that a group uses */
	SMC_LLC_REQ_GIDS	= 6,	/* in one REQ ADD LINK, a short message */
	SMC_LLC_ACTIONS		= 32,	/* most actions of one event */
	SMC_LLC_MAX_LINKS_MIN	= 2,	/* MAXL-02 */
	SMC_LLC_MAX_LINKS_MAX	= 8,	/* MAXL-01 */
};

#define SMC_LLC_NO_DEADLINE	U64_MAX
/* Longest pause before another attempt to add a link. */
#define SMC_LLC_RETRY_MAX_MS	(3600 * 1000)
/*
 * Attempts within one reply time: one for each local RNIC, in case the peer refuses them all, and a
 * margin for changes meanwhile.
 */
#define SMC_LLC_ATTEMPTS	(SMC_LLC_RNICS + 4)

/**
 * struct smc_llc_timers - durations in milliseconds
 *
 * The settings of the running module; smc_sysctl.h has the defaults.
 *
 * @confirm_link: client, from Confirm to CONFIRM LINK, TMR-03
 * @first_reply: server, for the replies of first contact, TMR-04, TMR-06
 * @add_link: client of the RFC dialect, for ADD LINK on first contact, ERR-27
 * @add_link_deployed: client of the deployed dialect, for ADD LINK on first contact; without
 *	one the group has a single link
 * @reply: for replies outside first contact, TMR-05, TMR-07
 * @delete_link: for the deletion of a single link, and before it for the peer to process what
 *	it received there; a deployed client replies only after its own ADD LINK exchange
 *	has timed out
 * @terminate: for the end of the whole link group, ERR-36, ERR-37
 * @test_link: for the reply to each TEST LINK, TMR-15
 * @rkey_retry: pause before a refused CONFIRM RKEY is retried when no local change of links
 *	explains the refusal, RKEY-12
 * @add_link_retry: pause before the server tries to add a further link, or the client requests
 *	one again, TMR-12, TMR-13; doubled by each refusal, up to an hour; 0 is never
 */
struct smc_llc_timers {
	int confirm_link;
	int first_reply;
	int add_link;
	int add_link_deployed;
	int reply;
	int delete_link;
	int terminate;
	int test_link;
	int rkey_retry;
	int add_link_retry;
};

/* Other exchanges that one exchange may have to wait for. */
#define SMC_LLC_MAX_WAITS	5

/**
 * smc_llc_patience_ms() - longest wait of one exchange for others
 * @timers: durations of the group
 *
 * Each exchange is bounded by its own timers, but a peer may begin one after the other.
 *
 * Context: Any context.
 * Return: milliseconds.
 */
static inline u64 smc_llc_patience_ms(const struct smc_llc_timers *timers)
{
	return (u64)SMC_LLC_MAX_WAITS * (timers->reply + timers->delete_link + timers->rkey_retry);
}

/* Why a link or the link group ends; smc_llc_why_name() has the texts. */
enum smc_llc_why {
	SMC_LLC_WHY_NONE,
	SMC_LLC_WHY_CONFIRM_LINK_TIMEOUT,
	SMC_LLC_WHY_CONFIRM_LINK_REPLY_TIMEOUT,
	SMC_LLC_WHY_CONFIRM_LINK_SEND,
	SMC_LLC_WHY_CONFIRM_LINK_DATA,
	SMC_LLC_WHY_ADD_LINK_TIMEOUT,
	SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT,
	SMC_LLC_WHY_ADD_LINK_SEND,
	SMC_LLC_WHY_DELETE_LINK_TIMEOUT,
	SMC_LLC_WHY_RKEY_TIMEOUT,
	SMC_LLC_WHY_TEST_LINK_TIMEOUT,
	SMC_LLC_WHY_TEST_LINK_DATA,
	SMC_LLC_WHY_STALLED,
	SMC_LLC_WHY_RKEY_MISSING,
	SMC_LLC_WHY_OUT_OF_SYNC,
	SMC_LLC_WHY_SEND_FAILED,
	SMC_LLC_WHY_LINK_BROKEN,
	SMC_LLC_WHY_PATH,
	SMC_LLC_WHY_NOT_PREPARED,
	SMC_LLC_WHY_NO_SPARE,
	SMC_LLC_WHY_ADD_LINK_CONT_TIMEOUT,
	SMC_LLC_WHY_ADD_LINK_CONT_DATA,
	SMC_LLC_WHY_ADD_LINK_KEYS,
	SMC_LLC_WHY_NO_LONGER_NEEDED,
	SMC_LLC_WHY_MTU,
	SMC_LLC_WHY_PEER_DECLINED,
	SMC_LLC_WHY_PEER_CLOSED,
	SMC_LLC_WHY_PEER_DELETED,
	SMC_LLC_WHY_DELETED,
	SMC_LLC_WHY_NR
};

/* Cause of the end of a link or group. */
enum smc_llc_fault {
	SMC_LLC_FAULT_OTHER,	/* a decision, or a local shortage */
	SMC_LLC_FAULT_TIMEOUT,	/* the peer did not reply in time */
	SMC_LLC_FAULT_UNREACHED, /* a message did not reach the peer */
	SMC_LLC_FAULT_BAD,	/* the peer broke the protocol */
};

enum smc_llc_phase {
	SMC_LLC_IDLE,			/* before START */
	/* first contact */
	SMC_LLC_WAIT_CONFIRM_LINK,	/* client */
	SMC_LLC_PREPARING,		/* both: the first link is brought up */
	SMC_LLC_WAIT_CONFIRM_REPLY,	/* server */
	SMC_LLC_WAIT_ADD_LINK,		/* client */
	SMC_LLC_WAIT_CONFIRM_SENT,	/* client that expects no ADD LINK */
	SMC_LLC_SECOND_LINK,		/* both: attempt at a second link */
	/* data flows */
	SMC_LLC_UP,
	SMC_LLC_TERMINATING,		/* DELETE LINK for all links is under way */
	SMC_LLC_DEAD,			/* no more actions */
};

/* How a failure ends first contact, C.3; smc_llc_commit() only moves forward. */
enum smc_llc_commitment {
	SMC_LLC_COMMIT_NONE,		/* a failure leads to a Decline */
	SMC_LLC_COMMIT_CONFIRM_LINK,	/* CONFIRM LINK was sent: a bad message resets, AMB-04 */
	SMC_LLC_COMMIT_FINAL,		/* point of no return: any failure resets */
};

/* States of a link in the machine; smc_llc_link_move() has the legal moves. */
enum smc_llc_link_state {
	SMC_LLC_LINK_FREE,
	SMC_LLC_LINK_FORMING,		/* carries only CONFIRM LINK */
	SMC_LLC_LINK_ACTIVE,
	SMC_LLC_LINK_DELETE_WANTED,	/* in use like ACTIVE until its deletion can begin */
	SMC_LLC_LINK_FAILED,		/* lost or given up; the peer has yet to agree */
	SMC_LLC_LINK_REPORTED,		/* client: lost, and the server is asked to delete it */
	SMC_LLC_LINK_DELETING,		/* its DELETE LINK exchange is under way */
	SMC_LLC_LINK_DELETE_REPLYING,	/* client: deleting, and the reply is being sent */
	SMC_LLC_LINK_GOING,		/* until LINK_DESTROYED */
	SMC_LLC_LINK_NR_STATES
};

/* Data traffic on a link; smc_llc_data_move() has the legal moves. */
enum smc_llc_data {
	SMC_LLC_DATA_NONE,
	SMC_LLC_DATA_UP,		/* from LINK_UP to LINK_DOWN */
	SMC_LLC_DATA_CLEARING,		/* from an orderly LINK_DOWN to LINK_CLEAR */
	SMC_LLC_DATA_NR_STATES
};

/* Kind of a completed send, in the cookie of the action. */
enum smc_llc_sent {
	SMC_LLC_SENT_OTHER,
	SMC_LLC_SENT_CONFIRM_LINK,	/* request at the server, reply at the client */
	SMC_LLC_SENT_ADD_LINK,		/* request at the server, reply at the client */
	SMC_LLC_SENT_DELETE_REPLY,	/* link number above SMC_LLC_SENT_SHIFT */
	SMC_LLC_SENT_DELETE_ALL,
	SMC_LLC_SENT_SHIFT		= 8,
};

enum smc_llc_event_type {
	SMC_LLC_EV_START,		/* server received Confirm, client sent it */
	SMC_LLC_EV_MSG,			/* @msg arrived on @link */
	SMC_LLC_EV_BAD_MSG,		/* the codec returned SMC_LLC_LINK_DOWN */
	SMC_LLC_EV_SENT,		/* the SEND of @cookie completed, @ok or not */
	SMC_LLC_EV_TIMER,		/* the deadline has passed; @timer */
	SMC_LLC_EV_RNICS,		/* RNICs on the LAN of the group; @rnics */
	SMC_LLC_EV_LINK_CREATED,	/* outcome of CREATE_LINK; @created */
	SMC_LLC_EV_LINK_PREPARED,	/* outcome of PREPARE_LINK */
	SMC_LLC_EV_LINK_DESTROYED,	/* outcome of DESTROY_LINK: the index is free */
	SMC_LLC_EV_PAIRS_STORED,	/* outcome of STORE_PAIRS */
	/* These two follow their actions before any other event. */
	SMC_LLC_EV_RTOKEN_STORED,	/* outcome of STORE_RTOKEN */
	SMC_LLC_EV_RTOKENS_DELETED,	/* outcome of DELETE_RTOKENS; @error_mask */
	SMC_LLC_EV_LINK_BROKEN,		/* queue pair unusable; @ok: RNIC works, path failed */
	SMC_LLC_EV_LINK_GOING,		/* its RNIC is being removed, but may still work */
	SMC_LLC_EV_DECLINED,		/* Decline arrived on TCP during first contact */
	SMC_LLC_EV_TCP_ENDED,		/* FIN arrived on TCP during first contact */
	SMC_LLC_EV_REQ_RKEY,		/* local request: announce or withdraw RMBs; @rkey */
	SMC_LLC_EV_LINK_STALLED,	/* nothing completes on @link; @stall */
	SMC_LLC_EV_REQ_TEST_LINK,	/* local request: probe @link now; @timer.user_data;
					 * @ok: the link is lost if no reply comes
					 */
	SMC_LLC_EV_REQ_ROUND_TRIP,	/* local request: ROUND_TRIP on @link; @timer.user_data */
	SMC_LLC_EV_REQ_DELETE_LINK,	/* local request: give @link up; @terminate */
	SMC_LLC_EV_REQ_TERMINATE,	/* local request: end the group; @terminate */
};

/* What CLC agreed on. */
struct smc_llc_start {
	struct smc_llc_end local;
	struct smc_llc_end peer;
};

/* A local RNIC. */
struct smc_llc_rnic {
	u8 mac[SMC_MAC_LEN];
	u8 gid[SMC_GID_LEN];
	u8 mtu;		/* present path MTU of its port, enum smc_mtu; 0: unknown */
};

/* The RNICs that links of a group may use, ADDL-02. */
struct smc_llc_rnics {
	u8 count;
	/* usable and attached to the LAN of the group, best first; includes those in use */
	struct smc_llc_rnic rnic[SMC_LLC_RNICS];
};

/* Result of the last offer of an RNIC. */
enum smc_llc_offer {
	SMC_LLC_OFFER_OPEN,		/* none yet, under way, or failed */
	SMC_LLC_OFFER_REFUSED,		/* server: by the client, or it has no queue pair */
	SMC_LLC_OFFER_LINKED,		/* a link came up */
};

/* An RNIC of the server as the end of a further link. Both sides keep a list. */
struct smc_llc_candidate {
	struct smc_llc_end end;		/* MAC and GID; all zero if unused */
	enum smc_llc_offer last;
	unsigned int nr_offers;
};

/* RMBs and how links reach them. */
struct smc_llc_rkeys {
	bool is_delete;	/* DELETE RKEY rather than CONFIRM RKEY */
	u8 count;	/* CONFIRM RKEY: one for each active link; DELETE RKEY: one for each RMB */
	/* link_num is a link index here; the first one carries the exchange */
	struct smc_llc_rtoken rtoken[SMC_LLC_LINKS];
};

/* Input of the machine. */
struct smc_llc_event {
	enum smc_llc_event_type type;
	u8 link;			/* index of the link concerned, if any */
	bool ok;
	u64 cookie;			/* of the SEND; for REQ_RKEY returned in RKEY_DONE */
	union {
		struct smc_llc_start start;
		struct smc_llc_msg msg;
		struct smc_llc_rnics rnics;
		struct {
			struct smc_llc_end end;	/* local end of the new link */
			u8 nr_rmbs;	/* local RMBs to announce, those known on other links */
			bool is_direct;	/* see struct smc_llc_add_link */
		} created;		/* with LINK_CREATED */
		struct smc_llc_rkeys rkey;
		struct {
			u8 error_mask;	/* RTOKENS_DELETED: unknown keys, 0x80 is the first */
			u8 nr_unknown;	/* their number */
		};
		struct {
			u64 last_rx;	/* time of the last message on the link, KA-02 */
			u64 other_rx;	/* same of all other links */
			u8 user_data[SMC_LLC_USER_DATA_LEN];	/* random bytes for a probe */
		} timer;		/* with TIMER, REQ_TEST_LINK and REQ_ROUND_TRIP */
		struct {
			u64 since;	/* time of the last completion */
			u64 other_rx;	/* time of the last message on any other link */
			bool is_down;	/* the port has no carrier */
			u8 user_data[SMC_LLC_USER_DATA_LEN];	/* random bytes for probes */
		} stall;		/* with LINK_STALLED */
		struct {
			u32 reason;	/* enum smc_llc_delete_link_reason */
			bool is_orderly;	/* requested, no error, DELL-14 */
		} terminate;		/* with REQ_TERMINATE and REQ_DELETE_LINK */
	};
};

/* How first contact failed. */
enum smc_llc_fail {
	SMC_LLC_FAIL_DECLINE,	/* send Decline, the connection uses TCP */
	SMC_LLC_FAIL_DECLINED,	/* peer sent Decline, the connection uses TCP */
	SMC_LLC_FAIL_RESET,	/* past the point of no return: reset TCP */
};

enum smc_llc_action_type {
	SMC_LLC_ACT_SEND,		/* post @msg on @link; report SENT with @cookie */
	SMC_LLC_ACT_COMMIT_DIALECT,	/* @dialect and @ext apply from the next action on */
	SMC_LLC_ACT_CREATE_LINK,	/* RNIC @end, RMBs unless @is_bare; report LINK_CREATED */
	SMC_LLC_ACT_PREPARE_LINK,	/* connect to @end, register; report LINK_PREPARED */
	SMC_LLC_ACT_LINK_UP,		/* @link may carry data */
	SMC_LLC_ACT_ROUND_TRIP,		/* the peer received all sent on @link before the request */
	SMC_LLC_ACT_LINK_DOWN,		/* @link carries no more data: @why, @is_orderly */
	SMC_LLC_ACT_LINK_CLEAR,		/* connections may leave @link, which went down orderly */
	SMC_LLC_ACT_DESTROY_LINK,	/* free @link; report LINK_DESTROYED */
	SMC_LLC_ACT_GROUP_UP,		/* first contact is over, data may flow */
	SMC_LLC_ACT_GROUP_FAILED,	/* first contact failed: @fail, @diagnosis, @why */
	SMC_LLC_ACT_KEEP_PAIRS,		/* store the keys of this ADD LINK, drop earlier ones */
	SMC_LLC_ACT_STORE_PAIRS,	/* @msg.add_link_cont from @link about @target, or the
					 * stored keys, perhaps none; report PAIRS_STORED for
					 * @target, not ok if they were the last and a key in use
					 * is missing
					 */
	SMC_LLC_ACT_STORE_RTOKEN,	/* @rkeys; report RTOKEN_STORED */
	SMC_LLC_ACT_KEEP_RKEYS,		/* as KEEP_PAIRS, for DELETE_RTOKENS */
	SMC_LLC_ACT_DELETE_RTOKENS,	/* @msg.delete_rkey, with the stored keys if it is long;
					 * report RTOKENS_DELETED
					 */
	SMC_LLC_ACT_STALE,		/* a message on @link was ignored: count it */
	SMC_LLC_ACT_RKEY_DONE,		/* request @cookie ended with @result */
	SMC_LLC_ACT_TERMINATE,		/* no link is left: end connections and group */
};

/* Output of the machine. */
struct smc_llc_action {
	enum smc_llc_action_type type;
	u8 link;		/* index of the link concerned */
	/* link being added, with STORE_PAIRS, ADD LINK and its CONTINUATION */
	u8 target;
	/* ADD LINK CONTINUATION: the caller adds its RMBs from this one on */
	u8 first_rmb;
	bool is_bare;		/* CREATE_LINK: a queue pair without RMBs, never prepared */
	bool has_pairs;		/* ADD LINK: the caller adds all its RMBs */
	/* LINK_DOWN: no new requests; LINK_CLEAR follows after those in flight */
	bool is_orderly;
	enum smc_llc_why why;	/* reason, with GROUP_FAILED, LINK_DOWN and TERMINATE */
	enum smc_llc_fail fail;
	enum smc_dialect dialect;
	u8 ext;			/* COMMIT_DIALECT: enum smc_llc_ext that is agreed on */
	/*
	 * RKEY_DONE: 0; -EAGAIN if the peer refused for now or the links changed (build a new
	 * request when smc_llc_flow_may_request() allows it); -EREMOTEIO if it refused (wait
	 * for the next need, RKEY-13); -ECONNABORTED if no link is left; -EBUSY if
	 * smc_llc_flow_may_request() was false; -EINVAL
	 */
	int result;
	u32 diagnosis;		/* of a Decline */
	u64 cookie;		/* enum smc_llc_sent with SEND; the request's with RKEY_DONE */
	/*
	 * CREATE_LINK: MAC and GID of the RNIC; PREPARE_LINK: the peer's end with the MTU of
	 * the path (ADDL-17); REQ ADD LINK: the RNIC that needs a link, see smc_llc_flow_gids()
	 */
	struct smc_llc_end end;
	/* STORE_RTOKEN: link indices, valid until the next event */
	const struct smc_llc_rkeys *rkeys;
	struct smc_llc_msg msg;
};

struct smc_llc_actions {
	unsigned int nr;
	struct smc_llc_action act[SMC_LLC_ACTIONS];
};

/* How the peers of a dialect behave. */
struct smc_llc_quirks {
	bool no_eye_catcher;	/* CONFIRM LINK announces elements without an eye catcher */
	/*
	 * ADD LINK on first contact and the messages that answer it must come (ERR-27 to ERR-30,
	 * ERR-33 to ERR-35); otherwise a missing one costs the new link only (protocol.md)
	 */
	bool needs_add_link;
	bool retries_refused;	/* a refused RMB exchange is retried, not an error (protocol.md) */
	bool declines_late;	/* a client still declines an ADD LINK that was withdrawn */
	bool loses_in_order;	/* a client's DELETE LINK of a failed link is orderly
				 * (protocol.md)
				 */
	/* DELETE LINKs within its time, as busy clients drop some (protocol.md) */
	u8 delete_tries;
	u32 peer_waits_ms;	/* peer's timeout of ADD LINK exchanges (protocol.md); 0: as here */
};

/* Constants of a link group. */
struct smc_llc_params {
	bool is_server;
	bool wants_deployed;		/* this side prefers the deployed dialect */
	bool dialect_is_fixed;		/* version 2: the dialect was committed before START */
	u8 offers;			/* enum smc_llc_ext of this side */
	bool max_links_is_fixed;	/* version 2.1: CLC agreed on @max_links */
	bool has_long_add_link;		/* version 2: no ADD LINK CONTINUATION, but REQ ADD LINK */
	u8 max_links;			/* own limit, 2..8, or the fixed one, 1..8 */
	u8 max_conns;			/* version 2.1: from CLC, for CONFIRM LINK; 0 before */
	u32 link_uid_base;		/* link user ID less link number; low byte 0, LID-05 */
	u32 test_link_idle_ms;		/* silence on a link before it is probed, 0 never */
	u8 test_link_tries;		/* unanswered probes before the link is lost; 0 is 1 */
	bool is_patient;		/* a link that is silent like all others is not lost */
	struct smc_llc_timers timers;
};

/* A link in the machine. */
struct smc_llc_link {
	enum smc_llc_link_state state;
	u8 num;			/* link number; 0 at a client before CONFIRM LINK */
	u32 age;		/* links added before this one */
	bool is_unconfirmed;		/* being added, not yet confirmed */
	bool is_bare;		/* server: only offered, withdrawn on acceptance */
	enum smc_llc_data data;	/* CLEARING ends at @deadline */
	u64 up_since;		/* time of LINK_UP, in ms */
	bool is_orderly;	/* O flag of DELETE LINK, from DELETE_WANTED on; the link works */
	u64 notice_end;		/* client: when REPORTED ends in any case, in ms */
	u8 notice_link;		/* client: link of the report, or of the DELETE LINK reply */
	u32 reason;		/* for DELETE LINK, enum smc_llc_delete_link_reason */
	enum smc_llc_why why;	/* for LINK_DOWN and TERMINATE */
	u64 deadline;		/* of a probe, of CLEARING or of DELETE LINK, in ms */
	/* sends of the current probe; 0: none, at @deadline one may be due */
	u8 tries;
	bool must_answer;	/* the current probe decides even about the last link */
	u64 doubted;		/* when another link answered first in this stall, in ms */
	u8 nr_unanswered;	/* TEST LINK replies with @probe that may still arrive */
	bool wants_round_trip;		/* ROUND_TRIP is due when @nr_unanswered drops to 0 */
	u8 probe[SMC_LLC_USER_DATA_LEN];	/* user data of the TEST LINK */
	u32 local_uid;
	u32 peer_uid;
	struct smc_llc_end local;
	struct smc_llc_end peer;
};

/* True if a link carries data and exchanges. */
static inline bool smc_llc_is_in_use(const struct smc_llc_link *lnk)
{
	return lnk->state == SMC_LLC_LINK_ACTIVE || lnk->state == SMC_LLC_LINK_DELETE_WANTED;
}

/* True if a link ends and its DELETE LINK exchange has not begun. */
static inline bool smc_llc_is_failed(const struct smc_llc_link *lnk)
{
	return lnk->state == SMC_LLC_LINK_FAILED || lnk->state == SMC_LLC_LINK_REPORTED;
}

/*
 * The exchange that changes the links, SER-02: ADD LINK to CONFIRM LINK on either side, DELETE
 * LINK on the server. At most one is under way.
 */
enum smc_llc_config {
	SMC_LLC_CONFIG_NONE,
	SMC_LLC_CONFIG_HELD,		/* client: own CONFIRM RKEY comes first */
	SMC_LLC_CONFIG_CREATE,		/* waits for LINK_CREATED */
	SMC_LLC_CONFIG_ADD_LINK,	/* server: waits for the ADD LINK reply */
	SMC_LLC_CONFIG_PREPARE,		/* waits for LINK_PREPARED */
	SMC_LLC_CONFIG_ADD_CONT,	/* waits for ADD LINK CONTINUATION */
	SMC_LLC_CONFIG_STORE,		/* waits for PAIRS_STORED */
	SMC_LLC_CONFIG_CONFIRM,		/* waits for CONFIRM LINK on the new link */
	SMC_LLC_CONFIG_CONFIRMED,	/* client: waits for its reply to be sent */
	SMC_LLC_CONFIG_CLEAR_LINK,	/* server: waits until the link to delete is clear */
	SMC_LLC_CONFIG_DELETE_LINK,	/* server: waits for the DELETE LINK reply */
};

/* State of the one RKEY exchange that the peer began. */
enum smc_llc_remote {
	SMC_LLC_REMOTE_NONE,
	SMC_LLC_REMOTE_CONFIRM_CONT,	/* waits for CONFIRM RKEY CONTINUATION */
	SMC_LLC_REMOTE_CONFIRM_RKEY,	/* waits for RTOKEN_STORED */
	SMC_LLC_REMOTE_DELETE_RKEY,	/* waits for RTOKENS_DELETED */
};

/* The exchange that adds a link. */
struct smc_llc_add {
	struct smc_llc_add_link offer;	/* the peer's request or reply */
	bool is_direct;			/* as announced to the peer */
	u8 nr_own;
	u8 next_own;			/* first local RMB not yet announced */
	u8 peer_left;			/* RMBs that the peer has yet to announce */
	bool has_peer_count;		/* @peer_left is valid */
};

/* The RKEY exchange begun by this side. */
struct smc_llc_rkey {
	bool is_busy;			/* a reply is pending */
	u8 link;			/* link that carries it */
	u64 cookie;
	u64 deadline;			/* in ms */
	u64 hold;			/* no new exchange before this time, in ms */
	u8 next;			/* first token not yet sent */
	struct smc_llc_rkeys keys;	/* as requested, links by number */
	struct smc_llc_msg msg;		/* last message sent */
};

/* The RKEY exchange begun by the peer. */
struct smc_llc_remote_rkey {
	enum smc_llc_remote state;
	u8 link;			/* link that carries it */
	u8 left;			/* tokens still due in CONFIRM RKEY CONTINUATIONs */
	u8 nr_restarts;			/* restarts since the last completed exchange */
	u64 deadline;			/* for the CONTINUATIONs, in ms */
	struct smc_llc_rkeys keys;	/* tokens received so far */
	struct smc_llc_msg msg;		/* the message to answer */
	bool is_put_off;		/* a DELETE RKEY waits for the links to settle, AMB-21 */
	struct smc_llc_msg put_off;	/* that message */
	u8 put_off_link;		/* link it arrived on */
};

/*
 * The machine. Plain memory: may be zeroed, copied and compared. The owner serialises all calls
 * (under lgr->lock in the module).
 */
struct smc_llc_flow {
	struct smc_llc_params params;	/* const after init */
	enum smc_llc_phase phase;
	enum smc_dialect dialect;	/* RFC until first contact has decided */
	u8 ext;				/* enum smc_llc_ext that both sides offer */
	const struct smc_llc_quirks *quirks;
	u8 max_links;			/* negotiated, MAXL-08 */
	/*
	 * The server's point of no return is the successful completion of its ADD LINK or the
	 * reply to it; the client's is its negative reply, the successful completion of a
	 * positive one, or CONFIRM LINK on the second link; C.3, ERR-10, ERR-11
	 */
	enum smc_llc_commitment commitment;
	bool has_rnics;			/* SMC_LLC_EV_RNICS arrived; a single link before */
	struct smc_llc_rnics rnics;
	u8 last_num;			/* last link number assigned, LID-03 */
	u32 next_age;			/* links added so far */
	/* bit map of deleted link numbers; late messages about them are no error */
	u8 deleted_map[256 / 8];
	struct smc_llc_link link[SMC_LLC_LINKS];

	enum smc_llc_config config;
	u8 config_link;			/* link that carries it */
	u8 config_target;		/* link it adds or deletes */
	u64 config_deadline;		/* in ms */
	u8 config_tries;		/* how often DELETE LINK was sent */
	struct smc_llc_add add;		/* details while a link is added */
	/* restarts when a lasting link ends or the RNICs are reported */
	struct smc_llc_candidate candidate[SMC_LLC_RNICS];
	/* server: link of the REQ ADD LINK to answer by ADD LINK or a refusal, or SMC_LLC_LINKS */
	u8 req_link;
	/*
	 * when a server tries for a further link or a client requests one, in ms; 0: as soon as
	 * exchanges allow it
	 */
	u64 next_add;
	u32 retry_ms;			/* shortest pause after the next refusal */
	/*
	 * server: time of the next ADD LINK, if the peer may still be busy with the last one,
	 * in ms
	 */
	u64 add_pause;
	u8 nr_attempts;			/* to add a link, until @attempts_end */
	u64 attempts_end;		/* when @nr_attempts restarts, in ms */
	u64 backoff_end;		/* @attempts_end after SMC_LLC_ATTEMPTS of them; or 0 */

	struct smc_llc_rkey own;
	struct smc_llc_remote_rkey remote;

	u32 end_reason;			/* for DELETE LINK of the whole group */
	bool end_is_orderly;		/* its O flag */
	u8 end_link;			/* link that carried it */
	enum smc_llc_why end_why;	/* for the final TERMINATE */
};

void smc_llc_flow_init(struct smc_llc_flow *flow, const struct smc_llc_params *params);
void smc_llc_flow_event(struct smc_llc_flow *flow, const struct smc_llc_event *ev,
			u64 now, struct smc_llc_actions *out);
u64 smc_llc_flow_deadline(const struct smc_llc_flow *flow);
bool smc_llc_flow_may_request(const struct smc_llc_flow *flow, u64 now);

u8 smc_llc_max_links(u8 own, u8 peer);
u8 smc_llc_next_link_num(const struct smc_llc_flow *flow);
enum smc_lgr_type smc_llc_flow_type(const struct smc_llc_flow *flow);
u8 smc_llc_flow_gids(const struct smc_llc_flow *flow, const struct smc_llc_end *first,
		     u8 gid[][SMC_GID_LEN]);
const char *smc_llc_why_name(enum smc_llc_why why);
enum smc_llc_fault smc_llc_why_fault(enum smc_llc_why why);
bool smc_llc_why_is_path(enum smc_llc_why why);

#endif /* _SMC_LLC_FLOW_H */
