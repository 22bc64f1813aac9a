// SPDX-License-Identifier: GPL-2.0
/*
 * What the files of the LLC machine share.
 *
 * A lost link is only marked here, so any code may lose a link. The end of the event, in
 * smc_llc_flow.c, handles its exchanges, the report to the peer, and the end of the group
 * without links.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "proto/smc_llc_links.h"
#include "proto/smc_llc_run.h"

/* Returns the action, all other members zero. */
struct smc_llc_action *smc_llc_emit(struct smc_llc_run *run, enum smc_llc_action_type type,
				    u8 link)
{
	struct smc_llc_action *act;

	/* No event needs as many; this only protects memory. */
	act = &run->out->act[min_t(unsigned int, run->out->nr, SMC_LLC_ACTIONS - 1)];
	run->out->nr = min_t(unsigned int, run->out->nr + 1, SMC_LLC_ACTIONS);
	memset(act, 0, sizeof(*act));
	act->type = type;
	act->link = link;
	return act;
}

/* Returns the message, all other members zero. SMC_LLC_EV_SENT returns @cookie. */
struct smc_llc_msg *smc_llc_emit_send(struct smc_llc_run *run, u8 link, u8 type, bool is_reply,
				      u64 cookie)
{
	struct smc_llc_action *act = smc_llc_emit(run, SMC_LLC_ACT_SEND, link);

	act->cookie = cookie;
	act->msg.type = type;
	act->msg.is_reply = is_reply;
	return &act->msg;
}

u64 smc_llc_after(const struct smc_llc_run *run, int ms)
{
	return run->now + max(ms, 0);
}

/* True from START until the group is up or has failed. */
bool smc_llc_is_forming(const struct smc_llc_flow *flow)
{
	return flow->phase >= SMC_LLC_WAIT_CONFIRM_LINK && flow->phase < SMC_LLC_UP;
}

/*
 * True while the peer may send messages about RMBs and links: from the CONFIRM LINK reply on the
 * first link until the end of the group begins.
 */
bool smc_llc_is_confirmed(const struct smc_llc_flow *flow)
{
	return flow->phase == SMC_LLC_WAIT_ADD_LINK || flow->phase == SMC_LLC_SECOND_LINK ||
	       flow->phase == SMC_LLC_WAIT_CONFIRM_SENT || flow->phase == SMC_LLC_UP;
}

/*
 * Client: true for a working link that this side gives up. The server may not know yet, and its
 * current exchange there comes first (SER-08, SER-19).
 */
bool smc_llc_is_deleting(const struct smc_llc_flow *flow, u8 link)
{
	return !flow->params.is_server && smc_llc_is_failed(&flow->link[link]) &&
	       flow->link[link].is_orderly;
}

/* True if an exchange on this link cannot go on. */
bool smc_llc_is_unusable(const struct smc_llc_flow *flow, u8 link)
{
	const struct smc_llc_link *lnk = &flow->link[link];

	return lnk->state == SMC_LLC_LINK_FREE || lnk->state == SMC_LLC_LINK_GOING ||
	       (smc_llc_is_failed(lnk) && !smc_llc_is_deleting(flow, link));
}

/* True if no exchange excludes one that changes the links. RFC 7609 3.5.5.3; SER-02, SER-05. */
bool smc_llc_may_begin(const struct smc_llc_flow *flow)
{
	return flow->config == SMC_LLC_CONFIG_NONE && !flow->own.is_busy &&
	       flow->remote.state == SMC_LLC_REMOTE_NONE;
}

/* True if the peer has yet to agree to the end of a link. */
bool smc_llc_is_any_ending(const struct smc_llc_flow *flow)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state >= SMC_LLC_LINK_FAILED &&
		    flow->link[i].state <= SMC_LLC_LINK_DELETE_REPLYING)
			return true;
	return false;
}

/* The first link in this state, or SMC_LLC_NO_LINK. */
u8 smc_llc_link_in(const struct smc_llc_flow *flow, enum smc_llc_link_state state)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state == state)
			return i;
	return SMC_LLC_NO_LINK;
}

u8 smc_llc_link_by_num(const struct smc_llc_flow *flow, u8 num)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state != SMC_LLC_LINK_FREE &&
		    flow->link[i].state != SMC_LLC_LINK_GOING && flow->link[i].num == num)
			return i;
	return SMC_LLC_NO_LINK;
}

/* True for the number of a link that has ended here, which the peer may not know yet. */
bool smc_llc_has_ended(const struct smc_llc_flow *flow, u8 num)
{
	u8 link = smc_llc_link_by_num(flow, num);

	if (link == SMC_LLC_NO_LINK)
		return smc_llc_is_deleted(flow, num);
	return flow->link[link].state != SMC_LLC_LINK_FORMING &&
	       !smc_llc_is_in_use(&flow->link[link]);
}

/*
 * A message of an exchange that is not under way. If the link @num has ended here, the peer's side
 * of the exchange ends later, by timers. Numbers cycle (LID-03), so no current link is meant: the
 * message is counted and ignored. Any other is out of sync. ERR-46, ERR-54.
 */
void smc_llc_stale(struct smc_llc_run *run, u8 link, u8 num)
{
	if (smc_llc_has_ended(run->flow, num))
		smc_llc_emit(run, SMC_LLC_ACT_STALE, link);
	else
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
}

/* A link but @except that can carry an exchange, an ACTIVE one if there is any. LLC-06. */
u8 smc_llc_carrier(const struct smc_llc_flow *flow, u8 except)
{
	u8 i, second = SMC_LLC_NO_LINK;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		if (i == except)
			continue;
		if (flow->link[i].state == SMC_LLC_LINK_ACTIVE)
			return i;
		if (flow->link[i].state == SMC_LLC_LINK_DELETE_WANTED)
			second = i;
	}
	return second;
}

bool smc_llc_end_equals(const struct smc_llc_end *a, const struct smc_llc_end *b)
{
	return a->qpn == b->qpn && smc_llc_same_rnic(a, b);
}

/* Bit n of entry m: state n may follow state m. The end of the group frees all. */
static const u16 llc_link_moves[SMC_LLC_LINK_NR_STATES] = {
	[SMC_LLC_LINK_FREE]	= BIT(SMC_LLC_LINK_FORMING),
	[SMC_LLC_LINK_FORMING]	= BIT(SMC_LLC_LINK_ACTIVE) | BIT(SMC_LLC_LINK_FAILED) |
				  BIT(SMC_LLC_LINK_GOING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_ACTIVE]	= BIT(SMC_LLC_LINK_DELETE_WANTED) | BIT(SMC_LLC_LINK_FAILED) |
				  BIT(SMC_LLC_LINK_DELETING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_DELETE_WANTED]	= BIT(SMC_LLC_LINK_FAILED) | BIT(SMC_LLC_LINK_DELETING) |
				  BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_FAILED]	= BIT(SMC_LLC_LINK_REPORTED) | BIT(SMC_LLC_LINK_DELETING) |
				  BIT(SMC_LLC_LINK_GOING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_REPORTED]	= BIT(SMC_LLC_LINK_DELETING) | BIT(SMC_LLC_LINK_GOING) |
				  BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_DELETING]	= BIT(SMC_LLC_LINK_FAILED) | BIT(SMC_LLC_LINK_DELETE_REPLYING) |
				  BIT(SMC_LLC_LINK_GOING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_DELETE_REPLYING]	= BIT(SMC_LLC_LINK_FAILED) | BIT(SMC_LLC_LINK_DELETING) |
				  BIT(SMC_LLC_LINK_GOING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_GOING]	= BIT(SMC_LLC_LINK_FREE),
};

static const u8 llc_data_moves[SMC_LLC_DATA_NR_STATES] = {
	[SMC_LLC_DATA_NONE]	= BIT(SMC_LLC_DATA_UP),
	[SMC_LLC_DATA_UP]	= BIT(SMC_LLC_DATA_CLEARING) | BIT(SMC_LLC_DATA_NONE),
	[SMC_LLC_DATA_CLEARING]	= BIT(SMC_LLC_DATA_NONE),
};

/* Returns false, and changes nothing, if the move is illegal. */
bool smc_llc_link_move(struct smc_llc_link *lnk, enum smc_llc_link_state to)
{
	if (!(llc_link_moves[lnk->state] & BIT(to)))
		return false;
	lnk->state = to;
	if (!smc_llc_is_in_use(lnk)) {
		lnk->tries = 0;
		lnk->deadline = SMC_LLC_NO_DEADLINE;
	}
	return true;
}

/* As smc_llc_link_move(). */
bool smc_llc_data_move(struct smc_llc_link *lnk, enum smc_llc_data to)
{
	if (!(llc_data_moves[lnk->data] & BIT(to)))
		return false;
	lnk->data = to;
	return true;
}

/* @num is 0 if not known yet. */
struct smc_llc_link *smc_llc_link_make(struct smc_llc_flow *flow, u8 link, u8 num)
{
	struct smc_llc_link *lnk = &flow->link[link];

	memset(lnk, 0, sizeof(*lnk));
	smc_llc_link_move(lnk, SMC_LLC_LINK_FORMING);
	lnk->num = num;
	lnk->age = flow->next_age++;
	smc_llc_set_deleted(flow, num, false);
	return lnk;
}

/*
 * Stop using a link. The first link of first contact fails the group, any other is marked FAILED.
 * RFC 7609 2.3, C.7.1.
 */
void smc_llc_link_failed(struct smc_llc_run *run, u8 link, enum smc_llc_why why, u32 reason)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[link];
	bool is_last;

	if (smc_llc_is_forming(flow) && !link) {
		smc_llc_fail_local(run, why, SMC_DECLINE_ERR_RDYLNK);
		return;
	}
	smc_llc_link_cleared(run, link);
	/* The client's only link, which carries the reply about itself. */
	is_last = lnk->state == SMC_LLC_LINK_DELETE_REPLYING && lnk->notice_link == link;
	/* A link that the client deletes has stopped working. */
	if (smc_llc_is_failed(lnk))
		lnk->is_orderly = false;
	if (!smc_llc_is_in_use(lnk) && lnk->state != SMC_LLC_LINK_FORMING && !is_last)
		return;
	smc_llc_link_move(lnk, SMC_LLC_LINK_FAILED);
	lnk->why = why;
	lnk->reason = reason;
	lnk->is_orderly = false;
	if (flow->phase == SMC_LLC_UP)
		flow->end_why = why;
}

void smc_llc_link_up(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	if (!smc_llc_data_move(lnk, SMC_LLC_DATA_UP))
		return;
	lnk->up_since = run->now;
	smc_llc_arm_probe(run, link);
	smc_llc_emit(run, SMC_LLC_ACT_LINK_UP, link);
}

/* Stop data on a link. Returns false if there was none. */
static bool stop_data(struct smc_llc_run *run, u8 link, enum smc_llc_data to)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	struct smc_llc_action *act;

	if (lnk->data != SMC_LLC_DATA_UP || !smc_llc_data_move(lnk, to))
		return false;
	if (run->flow->phase == SMC_LLC_UP)
		run->flow->end_why = lnk->why;
	act = smc_llc_emit(run, SMC_LLC_ACT_LINK_DOWN, link);
	act->why = lnk->why;
	act->is_orderly = lnk->is_orderly;
	return true;
}

void smc_llc_link_retire(struct smc_llc_run *run, u8 link)
{
	stop_data(run, link, SMC_LLC_DATA_NONE);
}

void smc_llc_send_test_link(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	struct smc_llc_msg *msg;

	if (lnk->nr_unanswered < U8_MAX)
		lnk->nr_unanswered++;
	msg = smc_llc_emit_send(run, link, SMC_LLC_TEST_LINK, false, SMC_LLC_SENT_OTHER);
	memcpy(msg->test_link.user_data, lnk->probe, sizeof(msg->test_link.user_data));
}

/*
 * Stop data on a link that is to be deleted. Messages pending at the peer must not be overtaken on
 * another link. So the connections pause until it answers a TEST LINK, which follows them all, for
 * @ms at most. A missing reply has no consequence for the link. RFC 7609 4.6.1; FAIL-10, FAIL-18,
 * FAIL-19.
 */
void smc_llc_link_clear(struct smc_llc_run *run, u8 link, int ms)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	bool is_down;

	is_down = stop_data(run, link, lnk->is_orderly ? SMC_LLC_DATA_CLEARING :
							 SMC_LLC_DATA_NONE);
	if (lnk->data != SMC_LLC_DATA_CLEARING)
		return;
	lnk->deadline = smc_llc_after(run, ms);
	/* same data as the last probe, whose reply may be in flight: the last reply counts */
	if (is_down)
		smc_llc_send_test_link(run, link);
}

void smc_llc_link_cleared(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	if (lnk->data != SMC_LLC_DATA_CLEARING)
		return;
	smc_llc_data_move(lnk, SMC_LLC_DATA_NONE);
	lnk->deadline = SMC_LLC_NO_DEADLINE;
	smc_llc_emit(run, SMC_LLC_ACT_LINK_CLEAR, link);
}

/* Drop a received token of a link that ends before the token was stored. */
static void drop_token(struct smc_llc_rkeys *keys, u8 link)
{
	u8 i, nr = 0;

	for (i = 0; i < keys->count; i++)
		if (keys->rtoken[i].link_num != link)
			keys->rtoken[nr++] = keys->rtoken[i];
	keys->count = nr;
}

/* The index is free after LINK_DESTROYED. @is_agreed: the peer knows that the link is gone. */
void smc_llc_link_destroy(struct smc_llc_run *run, u8 link, bool is_agreed)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	if (!smc_llc_link_move(lnk, SMC_LLC_LINK_GOING))
		return;
	smc_llc_link_retire(run, link);
	smc_llc_link_cleared(run, link);
	drop_token(&run->flow->remote.keys, link);
	if (is_agreed)
		smc_llc_set_deleted(run->flow, lnk->num, true);
	*lnk = (struct smc_llc_link){
		.state = SMC_LLC_LINK_GOING, .deadline = SMC_LLC_NO_DEADLINE,
	};
	smc_llc_emit(run, SMC_LLC_ACT_DESTROY_LINK, link);
}

void smc_llc_arm_probe(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	u32 idle = run->flow->params.test_link_idle_ms;

	lnk->tries = 0;
	lnk->must_answer = false;
	lnk->deadline = idle ? run->now + idle : SMC_LLC_NO_DEADLINE;
}

/*
 * Schedule a retry to add a link. After a failure here, retry while symmetric links are missing: no
 * event reports that the cause is gone. After a refusal, a server with one link retries, and a
 * client with an unused RNIC. No side does without SMC_LLC_EV_RNICS. Refusals in a row double the
 * pause: an attempt costs an RNIC several commands, and hosts with one port would make it for ever
 * in each of their groups. RFC 7609 C.8; ERR-56, TMR-12, TMR-13.
 */
void smc_llc_arm_retry(struct smc_llc_run *run, bool has_failed)
{
	struct smc_llc_flow *flow = run->flow;
	u32 ms = flow->params.timers.add_link_retry;
	bool has_use;

	if (!flow->has_rnics)
		return;
	if (has_failed)
		flow->retry_ms = 0;
	if (has_failed && smc_llc_nr_symmetric(flow) < flow->max_links)
		has_use = true;
	else if (flow->params.is_server)
		has_use = smc_llc_nr_in_use(flow) < 2;
	else
		has_use = smc_llc_has_unused_rnic(flow);
	if (ms && has_use && flow->next_add)
		flow->next_add = smc_llc_after(run, max(ms, flow->retry_ms));
}

/*
 * The pause of smc_llc_arm_retry() is over. A server tries RNICs again that the client refused. RFC
 * 7609 C.8; ERR-57, TMR-12.
 */
void smc_llc_retry(struct smc_llc_flow *flow)
{
	u32 ms = max_t(u32, flow->params.timers.add_link_retry, flow->retry_ms);

	flow->retry_ms = min_t(u32, 2 * ms, SMC_LLC_RETRY_MAX_MS);
	flow->next_add = 0;
	smc_llc_readmit_candidates(flow);
}

/*
 * A local RNIC or the links have changed, or the peer asks: an attempt may succeed that did not
 * before. The pauses start over, and a server tries RNICs again that the client refused. ERR-58,
 * ERR-59.
 */
void smc_llc_reset_retry(struct smc_llc_flow *flow)
{
	flow->retry_ms = 0;
	smc_llc_readmit_candidates(flow);
}

/* Try for a further link, after a change. RFC 7609 C.8; ERR-57 to ERR-59. */
void smc_llc_want_link(struct smc_llc_flow *flow)
{
	flow->next_add = 0;
	smc_llc_reset_retry(flow);
}

/*
 * Returns the message, for what only the first link announces. RFC 7609 A.3.1; LID-01, LID-02,
 * LID-04, LID-05, LLC-05.
 */
struct smc_llc_confirm_link *smc_llc_send_confirm_link(struct smc_llc_run *run, u8 link,
						       bool is_reply, bool no_eye_catcher,
						       u8 max_links)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	struct smc_llc_confirm_link *cl;

	cl = &smc_llc_emit_send(run, link, SMC_LLC_CONFIRM_LINK, is_reply,
				SMC_LLC_SENT_CONFIRM_LINK)->confirm_link;
	lnk->local_uid = run->flow->params.link_uid_base | lnk->num;
	cl->end = lnk->local;
	cl->link_uid = lnk->local_uid;
	cl->link_num = lnk->num;
	cl->max_links = max_links;
	cl->max_conns = run->flow->params.max_conns;
	cl->no_eye_catcher = no_eye_catcher;
	return cl;
}

/*
 * Client: start the time limit for the server to delete a link. It restarts when another exchange
 * came first, but not beyond @lnk->notice_end, because the removal of an RNIC may wait for it. RFC
 * 7609 C.7.1; ERR-36, SER-08.
 */
void smc_llc_await_delete(const struct smc_llc_run *run, struct smc_llc_link *lnk)
{
	lnk->deadline = min(smc_llc_after(run, run->flow->params.timers.delete_link),
			    lnk->notice_end);
}

/* Client: restart these limits after another exchange. */
static void restart_notices(struct smc_llc_run *run)
{
	struct smc_llc_link *lnk;

	for (lnk = run->flow->link; lnk < run->flow->link + SMC_LLC_LINKS; lnk++)
		if (lnk->state == SMC_LLC_LINK_REPORTED)
			smc_llc_await_delete(run, lnk);
}

void smc_llc_config_done(struct smc_llc_run *run)
{
	if (run->flow->config != SMC_LLC_CONFIG_NONE)
		restart_notices(run);
	run->flow->config = SMC_LLC_CONFIG_NONE;
	run->flow->config_deadline = SMC_LLC_NO_DEADLINE;
}

void smc_llc_rkey_done(struct smc_llc_run *run, int result)
{
	struct smc_llc_rkey *own = &run->flow->own;
	struct smc_llc_action *act;

	act = smc_llc_emit(run, SMC_LLC_ACT_RKEY_DONE, own->link);
	act->cookie = own->cookie;
	act->result = result;
	own->is_busy = false;
	own->deadline = SMC_LLC_NO_DEADLINE;
}

/* All but @flow->config_deadline. */
void smc_llc_stop_timers(struct smc_llc_flow *flow)
{
	u8 i;

	flow->own.deadline = SMC_LLC_NO_DEADLINE;
	flow->own.hold = 0;
	flow->remote.deadline = SMC_LLC_NO_DEADLINE;
	flow->next_add = SMC_LLC_NO_DEADLINE;
	flow->add_pause = SMC_LLC_NO_DEADLINE;
	flow->backoff_end = 0;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		flow->link[i].deadline = SMC_LLC_NO_DEADLINE;
}

static void become_dead(struct smc_llc_run *run, enum smc_llc_why why)
{
	struct smc_llc_flow *flow = run->flow;
	u8 i;

	if (flow->own.is_busy)
		smc_llc_rkey_done(run, -ECONNABORTED);
	for (i = 0; i < SMC_LLC_LINKS; i++) {
		/* a link that was lost or given up before keeps its own reason */
		if (flow->link[i].why == SMC_LLC_WHY_NONE)
			flow->link[i].why = why;
		smc_llc_link_retire(run, i);
		/* The owner takes down links in use and drops links being added. */
		if (flow->link[i].is_unconfirmed)
			smc_llc_link_destroy(run, i, false);
		smc_llc_link_move(&flow->link[i], SMC_LLC_LINK_FREE);
	}
	smc_llc_config_done(run);
	smc_llc_stop_timers(flow);
	flow->remote.state = SMC_LLC_REMOTE_NONE;
	flow->remote.is_put_off = false;
	smc_llc_commit(flow, SMC_LLC_COMMIT_FINAL);
	flow->phase = SMC_LLC_DEAD;
}

/* Returns false if it was as far already. RFC 7609 C.3; ERR-10, ERR-11, AMB-04. */
bool smc_llc_commit(struct smc_llc_flow *flow, enum smc_llc_commitment to)
{
	if (to <= flow->commitment)
		return false;
	flow->commitment = to;
	return true;
}

void smc_llc_fail_group(struct smc_llc_run *run, enum smc_llc_fail fail, enum smc_llc_why why,
			enum smc_decline diagnosis)
{
	struct smc_llc_action *act;

	if (run->flow->phase == SMC_LLC_DEAD)
		return;
	become_dead(run, why);
	act = smc_llc_emit(run, SMC_LLC_ACT_GROUP_FAILED, 0);
	act->fail = fail;
	act->why = why;
	if (fail == SMC_LLC_FAIL_DECLINE)
		act->diagnosis = diagnosis;
}

/*
 * A send or a local resource failed in first contact: decline up to the point of no return. RFC
 * 7609 C.2, C.3; ERR-09 to ERR-12.
 */
void smc_llc_fail_local(struct smc_llc_run *run, enum smc_llc_why why,
			enum smc_decline diagnosis)
{
	smc_llc_fail_group(run, run->flow->commitment < SMC_LLC_COMMIT_FINAL ?
			   SMC_LLC_FAIL_DECLINE : SMC_LLC_FAIL_RESET, why, diagnosis);
}

/* End a group without links. */
void smc_llc_terminate(struct smc_llc_run *run, enum smc_llc_why why)
{
	if (run->flow->phase == SMC_LLC_DEAD)
		return;
	become_dead(run, why);
	smc_llc_emit(run, SMC_LLC_ACT_TERMINATE, 0)->why = why;
}

/*
 * A message that is invalid now: the link counts as down. First contact can fall back to TCP until
 * this side has sent CONFIRM LINK. RFC 7609 C.7.1; ERR-47, ERR-54, AMB-04.
 */
void smc_llc_out_of_sync(struct smc_llc_run *run, u8 link, enum smc_llc_why why)
{
	struct smc_llc_flow *flow = run->flow;

	if (smc_llc_is_forming(flow) && !link)
		smc_llc_fail_group(run, flow->commitment == SMC_LLC_COMMIT_NONE ?
				   SMC_LLC_FAIL_DECLINE : SMC_LLC_FAIL_RESET, why,
				   SMC_DECLINE_ERR_RDYLNK);
	else
		smc_llc_link_failed(run, link, why, SMC_LLC_DELETE_PROTOCOL);
}
