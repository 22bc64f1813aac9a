/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The LLC machine of a link group: what to say and do when a message arrives,
 * a send completes, a timer fires or this side wants something.
 *
 * An event goes in together with the time, a bounded list of actions comes
 * out; the caller carries them out in order and reports their outcome as
 * further events. Links are named by their index in the link group, which the
 * machine assigns; link numbers are the wire's name for them.
 *
 * RFC 7609 sections 3.5.1.5, 3.5.1.6, 3.5.4, 3.5.5 and Appendix C.
 */
#ifndef _SMC_LLC_FLOW_H
#define _SMC_LLC_FLOW_H

#include <linux/types.h>

#include "smc_llc_wire.h"

enum smc_llc_flow_limit {
	SMC_LLC_LINKS		= 9,	/* eight and an asymmetric one, AMB-61 */
	SMC_LLC_ACTIONS		= 12,	/* most that one event can ask for */
	SMC_LLC_MAX_LINKS_MIN	= 2,	/* MAXL-02 */
	SMC_LLC_MAX_LINKS_MAX	= 8,	/* MAXL-01 */
};

#define SMC_LLC_NO_DEADLINE	U64_MAX

/**
 * struct smc_llc_timers - how long to wait, in milliseconds
 *
 * The durations of a running module are settings; smc_sysctl.h has the defaults.
 *
 * @confirm_link: client, from Confirm to CONFIRM LINK, TMR-03
 * @first_reply: server, for the replies of first contact, TMR-04, TMR-06
 * @add_link: client of the RFC dialect, for ADD LINK on first contact, ERR-27
 * @add_link_deployed: same in the deployed dialect, then one link it is
 * @reply: for replies outside first contact, TMR-05, TMR-07
 * @delete_link: for the end of a single link; a deployed client answers only
 *	after its own ADD LINK exchange has timed out
 * @terminate: for the end of the whole link group, ERR-36, ERR-37
 * @test_link: for the TEST LINK reply, TMR-15
 * @rkey_retry: before a CONFIRM RKEY refused for a change that is not visible
 *	here may be repeated, RKEY-12
 * @add_link_retry: server, until the next attempt at a second link, TMR-12;
 *	0 is never
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
	SMC_LLC_WHY_NOT_PREPARED,
	SMC_LLC_WHY_NO_SPARE,
	SMC_LLC_WHY_PEER_DECLINED,
	SMC_LLC_WHY_PEER_DELETED,
	SMC_LLC_WHY_DELETED,
	SMC_LLC_WHY_NR
};

/* Where the link group stands. */
enum smc_llc_phase {
	SMC_LLC_IDLE,			/* before SMC_LLC_EV_START */
	/* first contact */
	SMC_LLC_WAIT_CONFIRM_LINK,	/* client */
	SMC_LLC_PREPARING,		/* both: first link is brought up */
	SMC_LLC_WAIT_CONFIRM_REPLY,	/* server */
	SMC_LLC_WAIT_ADD_LINK,		/* client */
	SMC_LLC_WAIT_CONFIRM_SENT,	/* client that waits for no ADD LINK */
	SMC_LLC_SECOND_LINK,		/* server: attempt at a second link */
	/* data flows */
	SMC_LLC_UP,
	SMC_LLC_TERMINATING,		/* DELETE LINK for all is under way */
	SMC_LLC_DEAD,			/* nothing more comes out */
};

/* A link as the machine sees it. */
enum smc_llc_link_state {
	SMC_LLC_LINK_FREE,
	SMC_LLC_LINK_FORMING,
	SMC_LLC_LINK_ACTIVE,
	SMC_LLC_LINK_DELETING,
};

/* What a completed send was; goes out as the cookie of an action. */
enum smc_llc_sent {
	SMC_LLC_SENT_OTHER,
	SMC_LLC_SENT_CONFIRM_LINK,	/* request at the server, reply at the client */
	SMC_LLC_SENT_ADD_LINK,		/* request */
	SMC_LLC_SENT_DELETE_REPLY,	/* for the last link */
	SMC_LLC_SENT_DELETE_ALL,
};

enum smc_llc_event_type {
	SMC_LLC_EV_START,		/* server has Confirm, client has sent it */
	SMC_LLC_EV_MSG,			/* @msg came in on @link */
	SMC_LLC_EV_BAD_MSG,		/* the codec said SMC_LLC_LINK_DOWN */
	SMC_LLC_EV_SENT,		/* a SEND of @cookie completed, @ok or not */
	SMC_LLC_EV_TIMER,		/* the deadline has passed; @timer */
	SMC_LLC_EV_LINK_PREPARED,	/* outcome of PREPARE_LINK */
	SMC_LLC_EV_SPARE_CREATED,	/* outcome of CREATE_SPARE; @end */
	SMC_LLC_EV_RTOKEN_STORED,	/* outcome of STORE_RTOKEN */
	SMC_LLC_EV_RTOKENS_DELETED,	/* outcome of DELETE_RTOKENS; @error_mask */
	SMC_LLC_EV_LINK_BROKEN,		/* its queue pair is of no more use */
	SMC_LLC_EV_DECLINED,		/* Decline arrived on TCP during first contact */
	SMC_LLC_EV_REQ_RKEY,		/* this side: announce or withdraw; @rkey */
	SMC_LLC_EV_REQ_TEST_LINK,	/* this side: probe @link now; @timer.user_data */
	SMC_LLC_EV_REQ_ADD_LINK,	/* this side (server): try for a second link */
	SMC_LLC_EV_REQ_TERMINATE,	/* this side: end the group; @terminate */
};

/**
 * struct smc_llc_start - what CLC agreed on
 * @local: this side of the first link
 * @peer: the other side of the first link
 */
struct smc_llc_start {
	struct smc_llc_end local;
	struct smc_llc_end peer;
};

/**
 * struct smc_llc_rkey_req - wish of this side to change its RMBs
 * @is_delete: DELETE RKEY rather than CONFIRM RKEY
 * @count: entries of @rtoken; CONFIRM RKEY: one for each active link;
 *	DELETE RKEY: one for each RMB, at most SMC_LLC_DELETE_RKEYS
 * @rtoken: link_num is a link index here; the first one's link carries the
 *	exchange
 */
struct smc_llc_rkey_req {
	bool is_delete;
	u8 count;
	struct smc_llc_rtoken rtoken[SMC_LLC_LINKS];
};

/**
 * struct smc_llc_event - something happened
 * @type: what
 * @link: link index it happened on, where it happened on one
 * @ok: outcome, for events that report one
 * @cookie: of the SEND; of the request for REQ_RKEY, given back in RKEY_DONE
 * @start: with START
 * @msg: with MSG
 * @end: with SPARE_CREATED, this side of the new link
 * @rkey: with REQ_RKEY
 * @error_mask: with RTOKENS_DELETED, the keys not known, 0x80 for the first
 * @timer: with TIMER and REQ_TEST_LINK
 * @timer.last_rx: when the link last received anything, KA-02
 * @timer.user_data: fresh random bytes for a probe
 * @terminate: with REQ_TERMINATE
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
		struct smc_llc_end end;
		struct smc_llc_rkey_req rkey;
		u8 error_mask;
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
	SMC_LLC_FAIL_DECLINE,	/* send Decline, connection goes on over TCP */
	SMC_LLC_FAIL_DECLINED,	/* peer sent Decline, connection goes on over TCP */
	SMC_LLC_FAIL_RESET,	/* past the point of no return: reset TCP */
};

enum smc_llc_action_type {
	SMC_LLC_ACT_SEND,		/* post @msg on @link; report SENT with @cookie */
	SMC_LLC_ACT_COMMIT_DIALECT,	/* @dialect holds from before the next action on */
	SMC_LLC_ACT_PREPARE_LINK,	/* to RTS, register buffers; report LINK_PREPARED */
	SMC_LLC_ACT_CREATE_SPARE,	/* queue pair for @link; report SPARE_CREATED */
	SMC_LLC_ACT_DROP_SPARE,		/* and throw it away again */
	SMC_LLC_ACT_GROUP_UP,		/* first contact is over, data may flow */
	SMC_LLC_ACT_GROUP_FAILED,	/* first contact failed: @fail, @diagnosis, @why */
	SMC_LLC_ACT_STORE_RTOKEN,	/* @msg.confirm_rkey; report RTOKEN_STORED */
	SMC_LLC_ACT_DELETE_RTOKENS,	/* @msg.delete_rkey; report RTOKENS_DELETED */
	SMC_LLC_ACT_RKEY_DONE,		/* request @cookie ended with @result */
	SMC_LLC_ACT_LINK_DOWN,		/* @link is of no more use: @why */
	SMC_LLC_ACT_TERMINATE,		/* no link is left: end connections and group */
};

/**
 * struct smc_llc_action - something to do
 * @type: what
 * @link: link index it concerns
 * @why: reason, with GROUP_FAILED, LINK_DOWN and TERMINATE
 * @fail: with GROUP_FAILED
 * @dialect: with COMMIT_DIALECT
 * @result: with RKEY_DONE: 0; -EAGAIN if the peer refused for now (build the
 *	request anew, smc_llc_flow_may_request() says when); -EREMOTEIO if it
 *	refused (wait for the next need, RKEY-13); -ECONNABORTED if the link is
 *	gone; -EBUSY if smc_llc_flow_may_request() was false; -EINVAL
 * @diagnosis: with GROUP_FAILED and SMC_LLC_FAIL_DECLINE
 * @cookie: enum smc_llc_sent with SEND; the request's with RKEY_DONE
 * @msg: with SEND, STORE_RTOKEN, DELETE_RTOKENS
 */
struct smc_llc_action {
	enum smc_llc_action_type type;
	u8 link;
	enum smc_llc_why why;
	enum smc_llc_fail fail;
	enum smc_dialect dialect;
	int result;
	u32 diagnosis;
	u64 cookie;
	struct smc_llc_msg msg;
};

struct smc_llc_actions {
	unsigned int nr;
	struct smc_llc_action act[SMC_LLC_ACTIONS];
};

/**
 * struct smc_llc_params - fixed for the life of a link group
 * @is_server: role in the link group
 * @wants_deployed: this side would speak the deployed dialect
 * @dialect_is_fixed: the peer speaks the deployed dialect or none; the caller has
 *	committed it before START (version 2)
 * @max_links_is_fixed: CLC agreed on @max_links already (version 2.1)
 * @max_links: own limit, 2..8, or the fixed one, 1..8
 * @max_conns: what CLC agreed on, for CONFIRM LINK (version 2.1); 0 before
 * @link_uid_base: low byte 0; link user IDs are this plus the link number,
 *	LID-05
 * @test_link_idle_ms: silence on a link before it is probed, 0 never
 * @timers: durations
 */
struct smc_llc_params {
	bool is_server;
	bool wants_deployed;
	bool dialect_is_fixed;
	bool max_links_is_fixed;
	u8 max_links;
	u8 max_conns;
	u32 link_uid_base;
	u32 test_link_idle_ms;
	struct smc_llc_timers timers;
};

/**
 * struct smc_llc_link - what the machine knows of a link
 * @state: enum smc_llc_link_state
 * @num: link number, valid unless the state is SMC_LLC_LINK_FREE; 0 at a
 *	client before CONFIRM LINK
 * @is_probing: a TEST LINK reply is due at @deadline; otherwise @deadline is
 *	when to look whether a probe is needed
 * @deadline: in ms
 * @probe: user data of the TEST LINK on its way
 * @local_uid: own link user ID, for display
 * @peer_uid: the peer's link user ID, for display
 * @local: this side
 * @peer: other side
 */
struct smc_llc_link {
	enum smc_llc_link_state state;
	u8 num;
	bool is_probing;
	u64 deadline;
	u8 probe[SMC_LLC_USER_DATA_LEN];
	u32 local_uid;
	u32 peer_uid;
	struct smc_llc_end local;
	struct smc_llc_end peer;
};

/* The one configuration exchange that this side has begun, SER-02. */
enum smc_llc_config {
	SMC_LLC_CONFIG_NONE,
	SMC_LLC_CONFIG_SPARE,		/* server: waits for the queue pair */
	SMC_LLC_CONFIG_ADD_LINK,	/* server: waits for the ADD LINK reply */
	SMC_LLC_CONFIG_DELETE_LINK,	/* server: waits for the DELETE LINK reply */
};

/* The one exchange that the peer has begun and this side has to answer. */
enum smc_llc_remote {
	SMC_LLC_REMOTE_NONE,
	SMC_LLC_REMOTE_CONFIRM_RKEY,
	SMC_LLC_REMOTE_DELETE_RKEY,
};

/* Work of the peer or of a timer that has to wait for the slot. */
enum smc_llc_pending {
	SMC_LLC_PENDING_ADD_LINK	= 0x01,
	SMC_LLC_PENDING_DELETE_LINK	= 0x02,
	SMC_LLC_PENDING_DELETE_RKEY	= 0x04,
};

/**
 * struct smc_llc_flow - the machine
 *
 * Plain memory: may be zeroed, copied and compared. The owner serialises all
 * calls (under lgr->lock in the module).
 *
 * @params: const after init
 * @phase: see there
 * @dialect: RFC until first contact has decided
 * @max_links: negotiated, MAXL-08
 * @may_decline: point of no return not reached: the server's is the good
 *	completion of its ADD LINK or the reply to it, the client's its negative
 *	reply; C.3, ERR-10, ERR-11
 * @is_confirmed: own CONFIRM LINK left with good completion, AMB-04
 * @last_num: last link number handed out, LID-03
 * @deleted_num: link the server deleted last: late talk about it is no error
 * @link: by link index
 * @config: exchange begun here that changes the set of links
 * @config_link: link that carries it
 * @config_target: link it adds or deletes
 * @config_deadline: in ms
 * @rkey_busy: an RKEY exchange begun here waits for its reply
 * @rkey_link: link that carries it
 * @rkey_cookie: of the request
 * @rkey_deadline: in ms
 * @rkey_hold: no new RKEY exchange before this time, in ms
 * @rkey_msg: the request as sent
 * @remote: exchange begun by the peer
 * @remote_link: link that carries it
 * @remote_msg: the request to answer
 * @pending: enum smc_llc_pending
 * @pending_delete: DELETE LINK of the client put off
 * @pending_rkeys: DELETE RKEY put off, AMB-21
 * @pending_rkeys_link: link it came on
 * @retry_deadline: next attempt at a second link, in ms
 * @end_reason: for DELETE LINK of the whole group
 * @end_why: for the TERMINATE to come
 */
struct smc_llc_flow {
	struct smc_llc_params params;
	enum smc_llc_phase phase;
	enum smc_dialect dialect;
	u8 max_links;
	bool may_decline;
	bool is_confirmed;
	u8 last_num;
	u8 deleted_num;
	struct smc_llc_link link[SMC_LLC_LINKS];

	enum smc_llc_config config;
	u8 config_link;
	u8 config_target;
	u64 config_deadline;

	bool rkey_busy;
	u8 rkey_link;
	u64 rkey_cookie;
	u64 rkey_deadline;
	u64 rkey_hold;
	struct smc_llc_msg rkey_msg;

	enum smc_llc_remote remote;
	u8 remote_link;
	struct smc_llc_msg remote_msg;

	unsigned int pending;
	struct smc_llc_delete_link pending_delete;
	struct smc_llc_msg pending_rkeys;
	u8 pending_rkeys_link;

	u64 retry_deadline;
	u32 end_reason;
	enum smc_llc_why end_why;
};

void smc_llc_flow_init(struct smc_llc_flow *flow, const struct smc_llc_params *params);
void smc_llc_flow_event(struct smc_llc_flow *flow, const struct smc_llc_event *ev,
			u64 now, struct smc_llc_actions *out);
u64 smc_llc_flow_deadline(const struct smc_llc_flow *flow);
bool smc_llc_flow_may_request(const struct smc_llc_flow *flow, u64 now);

u8 smc_llc_max_links(u8 own, u8 peer);
u8 smc_llc_next_link_num(const struct smc_llc_flow *flow);
const char *smc_llc_why_name(enum smc_llc_why why);

#endif /* _SMC_LLC_FLOW_H */
