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
	SMC_LLC_ASKED_GIDS	= 6,	/* in one REQ ADD LINK, a short message */
	SMC_LLC_ACTIONS		= 32,	/* most actions of one event */
	SMC_LLC_MAX_LINKS_MIN	= 2,	/* MAXL-02 */
	SMC_LLC_MAX_LINKS_MAX	= 8,	/* MAXL-01 */
};

#define SMC_LLC_NO_DEADLINE	U64_MAX
/* Short-lived links in a row that the peer may cause before the machine backs off. */
#define SMC_LLC_BRIEF_LIVES	4
/*
 * Failed attempts within one reply time: one for each local RNIC, in case the peer refuses them
 * all, and a margin for changes meanwhile.
 */
#define SMC_LLC_ATTEMPTS	(SMC_LLC_RNICS + SMC_LLC_BRIEF_LIVES)

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
 *	one again, TMR-12, TMR-13; 0 is never
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
#define SMC_LLC_TURNS	5

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
	return (u64)SMC_LLC_TURNS * (timers->reply + timers->delete_link + timers->rkey_retry);
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
	SMC_LLC_WHY_PEER_DECLINED,
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
	SMC_LLC_IDLE,			/* before SMC_LLC_EV_START */
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
	SMC_LLC_COMMIT_CONFIRM_LINK,	/* CONFIRM LINK is sent: a bad message leads to a reset,
					 * AMB-04
					 */
	SMC_LLC_COMMIT_FINAL,		/* point of no return: any failure leads to a reset */
};

/* States of a link in the machine; smc_llc_link_move() has the legal moves. */
enum smc_llc_link_state {
	SMC_LLC_LINK_FREE,
	SMC_LLC_LINK_FORMING,		/* carries only CONFIRM LINK */
	SMC_LLC_LINK_ACTIVE,
	SMC_LLC_LINK_LEAVING,		/* in use like ACTIVE until its deletion can begin */
	SMC_LLC_LINK_LOST,		/* lost or given up; the peer has yet to agree */
	SMC_LLC_LINK_REPORTED,		/* client: lost, and the server is asked to delete it */
	SMC_LLC_LINK_DELETING,		/* its DELETE LINK exchange is under way */
	SMC_LLC_LINK_AGREED,		/* client: deleting, and the reply is being sent */
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
	SMC_LLC_EV_LINK_BROKEN,		/* its queue pair is unusable; @ok: the local RNIC works,
					 * so the path failed
					 */
	SMC_LLC_EV_LINK_GOING,		/* its RNIC is being removed, but may still work */
	SMC_LLC_EV_DECLINED,		/* Decline arrived on TCP during first contact */
	SMC_LLC_EV_REQ_RKEY,		/* local request: announce or withdraw RMBs; @rkey */
	SMC_LLC_EV_REQ_TEST_LINK,	/* local request: probe @link now; @timer.user_data */
	SMC_LLC_EV_REQ_ROUND_TRIP,	/* local request: report when the peer has processed all
					 * that was sent on @link; @timer.user_data
					 */
	SMC_LLC_EV_REQ_DELETE_LINK,	/* local request: give @link up; @terminate */
	SMC_LLC_EV_REQ_TERMINATE,	/* local request: end the group; @terminate */
};

/**
 * struct smc_llc_start - what CLC agreed on
 * @local: local end of the first link
 * @peer: peer's end of the first link
 */
struct smc_llc_start {
	struct smc_llc_end local;
	struct smc_llc_end peer;
};

/**
 * struct smc_llc_rnic - a local RNIC
 * @mac: MAC address
 * @gid: GID
 */
struct smc_llc_rnic {
	u8 mac[SMC_MAC_LEN];
	u8 gid[SMC_GID_LEN];
};

/**
 * struct smc_llc_rnics - the RNICs that links of a group may use, ADDL-02
 * @count: entries of @rnic
 * @rnic: usable and attached to the LAN of the group, best first; includes those in use
 */
struct smc_llc_rnics {
	u8 count;
	struct smc_llc_rnic rnic[SMC_LLC_RNICS];
};

/**
 * struct smc_llc_rkeys - RMBs and how links reach them
 * @is_delete: DELETE RKEY rather than CONFIRM RKEY
 * @count: entries of @rtoken; CONFIRM RKEY: one for each active link; DELETE RKEY: one for each
 *	RMB, at most SMC_LLC_DELETE_RKEYS
 * @rtoken: link_num is a link index here; the link of the first entry carries the exchange
 */
struct smc_llc_rkeys {
	bool is_delete;
	u8 count;
	struct smc_llc_rtoken rtoken[SMC_LLC_LINKS];
};

/**
 * struct smc_llc_event - input of the machine
 * @type: kind of event
 * @link: index of the link concerned, if any
 * @ok: outcome, for events that report one
 * @cookie: of the SEND; for REQ_RKEY returned in RKEY_DONE
 * @start: with START
 * @msg: with MSG
 * @rnics: with RNICS
 * @created: with LINK_CREATED
 * @created.end: local end of the new link
 * @created.nr_rmbs: local RMBs to announce: all that the peer knows on other links
 * @created.is_direct: see struct smc_llc_add_link
 * @rkey: with REQ_RKEY
 * @error_mask: with RTOKENS_DELETED, the unknown keys, 0x80 for the first
 * @nr_unknown: their number
 * @timer: with TIMER, REQ_TEST_LINK and REQ_ROUND_TRIP
 * @timer.last_rx: time of the last message on the link, KA-02
 * @timer.user_data: fresh random bytes for a probe
 * @terminate: with REQ_TERMINATE and REQ_DELETE_LINK
 * @terminate.reason: enum smc_llc_delete_link_reason
 * @terminate.is_orderly: operator or program rather than error, DELL-14
 */
struct smc_llc_event {
	enum smc_llc_event_type type;
	u8 link;
	bool ok;
	u64 cookie;
	union {
		struct smc_llc_start start;
		struct smc_llc_msg msg;
		struct smc_llc_rnics rnics;
		struct {
			struct smc_llc_end end;
			u8 nr_rmbs;
			bool is_direct;
		} created;
		struct smc_llc_rkeys rkey;
		struct {
			u8 error_mask;
			u8 nr_unknown;
		};
		struct {
			u64 last_rx;
			u8 user_data[SMC_LLC_USER_DATA_LEN];
		} timer;
		struct {
			u32 reason;
			bool is_orderly;
		} terminate;
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
	SMC_LLC_ACT_COMMIT_DIALECT,	/* @dialect applies from the next action on */
	SMC_LLC_ACT_CREATE_LINK,	/* queue pair on RNIC @end for @link, RMBs mapped unless
					 * @is_bare; report LINK_CREATED
					 */
	SMC_LLC_ACT_PREPARE_LINK,	/* connect to @end, move to RTS, register buffers; report
					 * LINK_PREPARED
					 */
	SMC_LLC_ACT_LINK_UP,		/* @link may carry data */
	SMC_LLC_ACT_ROUND_TRIP,		/* the peer has received all that was sent on @link before
					 * REQ_ROUND_TRIP
					 */
	SMC_LLC_ACT_LINK_DOWN,		/* @link carries no more data: @why, @is_orderly */
	SMC_LLC_ACT_LINK_CLEAR,		/* connections need not stay on @link any longer, after an
					 * orderly LINK_DOWN
					 */
	SMC_LLC_ACT_DESTROY_LINK,	/* free @link; report LINK_DESTROYED */
	SMC_LLC_ACT_GROUP_UP,		/* first contact is over, data may flow */
	SMC_LLC_ACT_GROUP_FAILED,	/* first contact failed: @fail, @diagnosis, @why */
	SMC_LLC_ACT_KEEP_PAIRS,		/* store the keys of this ADD LINK for later, replacing
					 * earlier ones
					 */
	SMC_LLC_ACT_STORE_PAIRS,	/* @msg.add_link_cont from @link about @target, or the
					 * stored keys; report PAIRS_STORED for @target
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

/**
 * struct smc_llc_action - output of the machine
 * @type: kind of action
 * @link: index of the link concerned
 * @target: index of the link being added, with STORE_PAIRS and with SEND of ADD LINK and ADD
 *	LINK CONTINUATION
 * @first_rmb: with SEND of ADD LINK CONTINUATION: the caller fills in the pairs from this
 *	position on, among the RMBs it counted in LINK_CREATED
 * @is_bare: with CREATE_LINK: a queue pair without mapped RMBs suffices; the link is never
 *	prepared
 * @has_pairs: with SEND of ADD LINK: the caller adds the pairs of all these RMBs
 * @is_orderly: with LINK_DOWN: the link works and requests in flight may complete, but no more
 *	are posted there for a connection; LINK_CLEAR follows
 * @why: reason, with GROUP_FAILED, LINK_DOWN and TERMINATE
 * @fail: with GROUP_FAILED
 * @dialect: with COMMIT_DIALECT
 * @result: with RKEY_DONE: 0; -EAGAIN if the peer refused for now (build a new request when
 *	smc_llc_flow_may_request() allows it) or the links changed: RMBs have to be known on
 *	all of them; -EREMOTEIO if it refused (wait for the next need, RKEY-13);
 *	-ECONNABORTED if no link is left; -EBUSY if smc_llc_flow_may_request() was false;
 *	-EINVAL
 * @diagnosis: with GROUP_FAILED and SMC_LLC_FAIL_DECLINE
 * @cookie: enum smc_llc_sent with SEND; the request's with RKEY_DONE
 * @end: with CREATE_LINK, MAC and GID of the RNIC to use; with PREPARE_LINK, the peer's end
 *	with the MTU of the path (ADDL-17); with SEND of REQ ADD LINK, the RNIC that needs a
 *	link, see smc_llc_flow_gids()
 * @rkeys: with STORE_RTOKEN; link indices, owned by the machine, valid until the next event
 * @msg: with SEND, STORE_PAIRS, DELETE_RTOKENS
 */
struct smc_llc_action {
	enum smc_llc_action_type type;
	u8 link;
	u8 target;
	u8 first_rmb;
	bool is_bare;
	bool has_pairs;
	bool is_orderly;
	enum smc_llc_why why;
	enum smc_llc_fail fail;
	enum smc_dialect dialect;
	int result;
	u32 diagnosis;
	u64 cookie;
	struct smc_llc_end end;
	const struct smc_llc_rkeys *rkeys;
	struct smc_llc_msg msg;
};

struct smc_llc_actions {
	unsigned int nr;
	struct smc_llc_action act[SMC_LLC_ACTIONS];
};

/**
 * struct smc_llc_quirks - how the peers of a dialect behave
 * @no_eye_catcher: CONFIRM LINK announces elements without an eye catcher
 * @must_offer: a client treats a server without an ADD LINK in first contact as silent
 *	(ERR-27; deployed clients do not)
 * @takes_refusal: a peer retries an RMB exchange that was refused for now; others fail the
 *	connection (protocol.md)
 * @declines_late: a client still declines a new link that the server has deleted again
 * @loses_in_order: a client reports a failed link as an orderly deletion, with the reason
 *	(protocol.md)
 * @delete_tries: how often DELETE LINK is sent within its time: a client drops messages while
 *	it is busy with a link that the server gave up (protocol.md)
 * @peer_waits_ms: the peer's timeout for ADD LINK replies and ADD LINK CONTINUATIONs
 *	(protocol.md); 0: the same as the local one
 */
struct smc_llc_quirks {
	bool no_eye_catcher;
	bool must_offer;
	bool takes_refusal;
	bool declines_late;
	bool loses_in_order;
	u8 delete_tries;
	u32 peer_waits_ms;
};

/**
 * struct smc_llc_params - constants of a link group
 * @is_server: role in the link group
 * @wants_deployed: this side prefers the deployed dialect
 * @dialect_is_fixed: only the deployed dialect is possible; the caller committed it before
 *	START (version 2)
 * @max_links_is_fixed: CLC agreed on @max_links already (version 2.1)
 * @has_long_add_link: ADD LINK lists all RMBs, no CONTINUATION follows it, and a client
 *	requests a link by REQ ADD LINK (version 2)
 * @max_links: own limit, 2..8, or the fixed one, 1..8
 * @max_conns: what CLC agreed on, for CONFIRM LINK (version 2.1); 0 before
 * @link_uid_base: low byte 0; link user IDs are this plus the link number, LID-05
 * @test_link_idle_ms: silence on a link before it is probed, 0 never
 * @test_link_tries: unanswered probes in a row after which the link is lost; 0 is 1
 * @timers: durations
 */
struct smc_llc_params {
	bool is_server;
	bool wants_deployed;
	bool dialect_is_fixed;
	bool max_links_is_fixed;
	bool has_long_add_link;
	u8 max_links;
	u8 max_conns;
	u32 link_uid_base;
	u32 test_link_idle_ms;
	u8 test_link_tries;
	struct smc_llc_timers timers;
};

/**
 * struct smc_llc_link - a link in the machine
 * @state: enum smc_llc_link_state
 * @num: link number, valid unless the state is SMC_LLC_LINK_FREE; 0 at a client before
 *	CONFIRM LINK
 * @age: number of links added before this one, orders links by age
 * @is_spare: being added, not yet confirmed
 * @is_bare: server: exists only to be offered, withdrawn if the peer accepts
 * @data: enum smc_llc_data; CLEARING ends at @deadline
 * @up_since: time of LINK_UP, in ms
 * @is_orderly: the O flag of DELETE LINK, from SMC_LLC_LINK_LEAVING on; the link works
 * @notice_end: client: when SMC_LLC_LINK_REPORTED ends in any case, in ms
 * @notice_link: client: link that carried the report, or the reply to the server's DELETE LINK
 * @reason: for DELETE LINK, enum smc_llc_delete_link_reason
 * @why: for LINK_DOWN and TERMINATE
 * @deadline: of a probe, of SMC_LLC_DATA_CLEARING, or of the server's DELETE LINK, in ms
 * @tries: how often the current probe was sent; a reply is due at @deadline. 0: no probe is
 *	under way, and at @deadline the link may need one
 * @nr_unanswered: TEST LINKs with @probe whose reply may still arrive
 * @is_asked: ROUND_TRIP is due when @nr_unanswered drops to 0
 * @probe: user data of the TEST LINK in flight
 * @local_uid: own link user ID, for display
 * @peer_uid: the peer's link user ID, for display
 * @local: local end
 * @peer: peer's end
 */
struct smc_llc_link {
	enum smc_llc_link_state state;
	u8 num;
	u32 age;
	bool is_spare;
	bool is_bare;
	enum smc_llc_data data;
	u64 up_since;
	bool is_orderly;
	u64 notice_end;
	u8 notice_link;
	u32 reason;
	enum smc_llc_why why;
	u64 deadline;
	u8 tries;
	u8 nr_unanswered;
	bool is_asked;
	u8 probe[SMC_LLC_USER_DATA_LEN];
	u32 local_uid;
	u32 peer_uid;
	struct smc_llc_end local;
	struct smc_llc_end peer;
};

/* True if a link carries data and exchanges. */
static inline bool smc_llc_is_in_use(const struct smc_llc_link *lnk)
{
	return lnk->state == SMC_LLC_LINK_ACTIVE || lnk->state == SMC_LLC_LINK_LEAVING;
}

/* True if a link ends and its DELETE LINK exchange has not begun. */
static inline bool smc_llc_is_lost(const struct smc_llc_link *lnk)
{
	return lnk->state == SMC_LLC_LINK_LOST || lnk->state == SMC_LLC_LINK_REPORTED;
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

/**
 * struct smc_llc_add - the exchange that adds a link
 * @offer: the peer's ADD LINK: the server's request, the client's reply
 * @tried: local RNICs that had no queue pair in this attempt, by position in the list
 * @is_direct: as announced to the peer, see SMC_LLC_EV_LINK_CREATED
 * @nr_own: local RMBs
 * @next_own: first local RMB not yet announced
 * @peer_left: RMBs that the peer has yet to announce
 * @has_peer_count: @peer_left is valid
 */
struct smc_llc_add {
	struct smc_llc_add_link offer;
	unsigned int tried;
	bool is_direct;
	u8 nr_own;
	u8 next_own;
	u8 peer_left;
	bool has_peer_count;
};

/**
 * struct smc_llc_rkey - the RKEY exchange begun by this side
 * @is_busy: a reply is pending
 * @link: link that carries it
 * @cookie: of the request
 * @deadline: in ms
 * @hold: no new exchange before this time, in ms
 * @next: first token not yet sent
 * @keys: as requested, links by number
 * @msg: last message sent
 */
struct smc_llc_rkey {
	bool is_busy;
	u8 link;
	u64 cookie;
	u64 deadline;
	u64 hold;
	u8 next;
	struct smc_llc_rkeys keys;
	struct smc_llc_msg msg;
};

/**
 * struct smc_llc_remote_rkey - the RKEY exchange begun by the peer
 * @state: enum smc_llc_remote
 * @link: link that carries it
 * @left: tokens still due in CONFIRM RKEY CONTINUATIONs
 * @nr_anew: restarts since the last completed exchange
 * @deadline: for the CONTINUATIONs, in ms
 * @keys: tokens received so far
 * @msg: the message to answer
 * @is_put_off: a DELETE RKEY waits for the links to settle, AMB-21
 * @put_off: that message
 * @put_off_link: link it arrived on
 */
struct smc_llc_remote_rkey {
	enum smc_llc_remote state;
	u8 link;
	u8 left;
	u8 nr_anew;
	u64 deadline;
	struct smc_llc_rkeys keys;
	struct smc_llc_msg msg;
	bool is_put_off;
	struct smc_llc_msg put_off;
	u8 put_off_link;
};

/**
 * struct smc_llc_flow - the machine
 *
 * Plain memory: may be zeroed, copied and compared. The owner serialises all calls (under
 * lgr->lock in the module).
 *
 * @params: const after init
 * @phase: enum smc_llc_phase
 * @dialect: RFC until first contact has decided
 * @quirks: those of @dialect
 * @max_links: negotiated, MAXL-08
 * @commitment: enum smc_llc_commitment. The server's point of no return is the successful
 *	completion of its ADD LINK or the reply to it; the client's is its negative reply,
 *	the successful completion of a positive one, or CONFIRM LINK on the second link;
 *	C.3, ERR-10, ERR-11
 * @has_rnics: SMC_LLC_EV_RNICS has arrived; the group has a single link before
 * @rnics: of the last SMC_LLC_EV_RNICS
 * @last_num: last link number assigned, LID-03
 * @next_age: links added so far
 * @gone: bit map of link numbers that both sides deleted; late messages about them are no
 *	error
 * @link: by link index
 * @config: exchange that changes the set of links
 * @config_link: link that carries it
 * @config_target: link it adds or deletes
 * @config_deadline: in ms
 * @config_tries: how often DELETE LINK was sent
 * @add: details while a link is added
 * @refused: server: local RNICs that the client refused or that provided no queue pair in
 *	time, by position in the list; others are offered first
 * @next_rnic: position in the list where the search for an RNIC for a new link begins; reset
 *	when a lasting link ends or RNICs are added
 * @nr_offered: server: offers since a link last came up
 * @nr_round: client: offers of the server since @next_rnic moved, 0 before the first one
 * @round: the server's RNIC in the first of these offers
 * @nr_rounds: how often @next_rnic moved since a link last came up
 * @wants_link: a further link is due: the server tries one, the client requests one
 * @is_asked: server: the client waits for ADD LINK or for notice that there is none
 * @asked_link: link that its REQ ADD LINK arrived on
 * @retry_deadline: when @wants_link is set again, in ms
 * @add_pause: server: no ADD LINK before this time, in ms, because the peer may still be busy
 *	with the last one; SMC_LLC_NO_DEADLINE otherwise
 * @nr_brief: links in a row lost right after they came up, perhaps because of the peer; counts
 *	to SMC_LLC_BRIEF_LIVES
 * @nr_attempts: attempts before @attempts_end, since a link last came up
 * @attempts_end: end of the period of @nr_attempts, in ms
 * @backoff_end: no link is added before this time, in ms, after more than SMC_LLC_BRIEF_LIVES
 *	such links in a row or SMC_LLC_ATTEMPTS attempts; 0 otherwise
 * @is_put_off: client: the last offer was refused only because of the back-off
 * @own: RKEY exchange begun here
 * @remote: RKEY exchange begun by the peer
 * @end_reason: for DELETE LINK of the whole group
 * @end_is_orderly: its O flag
 * @end_link: link that carried it
 * @end_why: for the final TERMINATE
 */
struct smc_llc_flow {
	struct smc_llc_params params;
	enum smc_llc_phase phase;
	enum smc_dialect dialect;
	const struct smc_llc_quirks *quirks;
	u8 max_links;
	enum smc_llc_commitment commitment;
	bool has_rnics;
	struct smc_llc_rnics rnics;
	u8 last_num;
	u32 next_age;
	u8 gone[256 / 8];
	struct smc_llc_link link[SMC_LLC_LINKS];

	enum smc_llc_config config;
	u8 config_link;
	u8 config_target;
	u64 config_deadline;
	u8 config_tries;
	struct smc_llc_add add;
	unsigned int refused;
	u8 next_rnic;
	u8 nr_offered;
	u8 nr_round;
	struct smc_llc_end round;
	u8 nr_rounds;
	bool wants_link;
	bool is_asked;
	u8 asked_link;
	u64 retry_deadline;
	u64 add_pause;
	u8 nr_brief;
	u8 nr_attempts;
	u64 attempts_end;
	u64 backoff_end;
	bool is_put_off;

	struct smc_llc_rkey own;
	struct smc_llc_remote_rkey remote;

	u32 end_reason;
	bool end_is_orderly;
	u8 end_link;
	enum smc_llc_why end_why;
};

void smc_llc_flow_init(struct smc_llc_flow *flow, const struct smc_llc_params *params);
void smc_llc_flow_event(struct smc_llc_flow *flow, const struct smc_llc_event *ev,
			u64 now, struct smc_llc_actions *out);
u64 smc_llc_flow_deadline(const struct smc_llc_flow *flow);
bool smc_llc_flow_may_request(const struct smc_llc_flow *flow, u64 now);
bool smc_llc_flow_may_ask(const struct smc_llc_flow *flow, u8 link);

u8 smc_llc_max_links(u8 own, u8 peer);
u8 smc_llc_next_link_num(const struct smc_llc_flow *flow);
enum smc_lgr_type smc_llc_flow_type(const struct smc_llc_flow *flow);
u8 smc_llc_flow_gids(const struct smc_llc_flow *flow, const struct smc_llc_end *first,
		     u8 gid[][SMC_GID_LEN]);
const char *smc_llc_why_name(enum smc_llc_why why);
enum smc_llc_fault smc_llc_why_fault(enum smc_llc_why why);
bool smc_llc_why_is_path(enum smc_llc_why why);

#endif /* _SMC_LLC_FLOW_H */
