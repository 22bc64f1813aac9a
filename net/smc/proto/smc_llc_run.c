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

/**
 * smc_llc_ask() - append an action
 * @run: current call
 * @type: type of the action
 * @link: index of the link
 *
 * Return: the action, all other members zero.
 */
struct smc_llc_action *smc_llc_ask(struct smc_llc_run *run, enum smc_llc_action_type type,
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

/**
 * smc_llc_ask_send() - append an action that sends a message
 * @run: current call
 * @link: index of the link that carries it
 * @type: enum smc_llc_type
 * @is_reply: the R flag
 * @cookie: returned by SMC_LLC_EV_SENT
 *
 * Return: the message, all other members zero.
 */
struct smc_llc_msg *smc_llc_ask_send(struct smc_llc_run *run, u8 link, u8 type, bool is_reply,
				     u64 cookie)
{
	struct smc_llc_action *act = smc_llc_ask(run, SMC_LLC_ACT_SEND, link);

	act->cookie = cookie;
	act->msg.type = type;
	act->msg.is_reply = is_reply;
	return &act->msg;
}

/**
 * smc_llc_after() - get a time in the future
 * @run: current call
 * @ms: milliseconds from now; a negative value counts as 0
 *
 * Return: time in ms.
 */
u64 smc_llc_after(const struct smc_llc_run *run, int ms)
{
	return run->now + max(ms, 0);
}

/**
 * smc_llc_is_forming() - check for first contact
 * @flow: LLC machine
 *
 * Return: true from START until the group is up or has failed.
 */
bool smc_llc_is_forming(const struct smc_llc_flow *flow)
{
	return flow->phase >= SMC_LLC_WAIT_CONFIRM_LINK && flow->phase < SMC_LLC_UP;
}

/**
 * smc_llc_is_confirmed() - check that the peer may send messages about RMBs and links
 * @flow: LLC machine
 *
 * Return: true from the CONFIRM LINK reply on the first link until the end of the group begins.
 */
bool smc_llc_is_confirmed(const struct smc_llc_flow *flow)
{
	return flow->phase == SMC_LLC_WAIT_ADD_LINK || flow->phase == SMC_LLC_SECOND_LINK ||
	       flow->phase == SMC_LLC_WAIT_CONFIRM_SENT || flow->phase == SMC_LLC_UP;
}

/**
 * smc_llc_is_departing() - check for a working link that the client gives up
 * @flow: LLC machine
 * @link: index of the link
 *
 * The server may not know yet, and its current exchange there comes first (SER-08, SER-19).
 *
 * Return: true if the link is departing; always false at a server.
 */
bool smc_llc_is_departing(const struct smc_llc_flow *flow, u8 link)
{
	return !flow->params.is_server && smc_llc_is_lost(&flow->link[link]) &&
	       flow->link[link].is_orderly;
}

/**
 * smc_llc_is_dead_end() - check for an exchange without its link
 * @flow: LLC machine
 * @link: index of the link that carried it
 *
 * Return: true if the link is gone, or lost and not departing.
 */
bool smc_llc_is_dead_end(const struct smc_llc_flow *flow, u8 link)
{
	const struct smc_llc_link *lnk = &flow->link[link];

	return lnk->state == SMC_LLC_LINK_FREE || lnk->state == SMC_LLC_LINK_GOING ||
	       (smc_llc_is_lost(lnk) && !smc_llc_is_departing(flow, link));
}

/**
 * smc_llc_may_begin() - check for room for an exchange that changes the links
 * @flow: LLC machine, SMC_LLC_UP or SMC_LLC_SECOND_LINK
 *
 * Return: true if no exchange is under way. RFC 7609 3.5.5.3; SER-02, SER-05.
 */
bool smc_llc_may_begin(const struct smc_llc_flow *flow)
{
	return flow->config == SMC_LLC_CONFIG_NONE && !flow->own.is_busy &&
	       flow->remote.state == SMC_LLC_REMOTE_NONE;
}

/**
 * smc_llc_is_any_ending() - check for a link whose end is not agreed yet
 * @flow: LLC machine
 *
 * Return: true if a link is lost or has a DELETE LINK exchange.
 */
bool smc_llc_is_any_ending(const struct smc_llc_flow *flow)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state >= SMC_LLC_LINK_LOST &&
		    flow->link[i].state <= SMC_LLC_LINK_AGREED)
			return true;
	return false;
}

/**
 * smc_llc_link_in() - find a link in a state
 * @flow: LLC machine
 * @state: the state
 *
 * Return: index of the first, or SMC_LLC_NO_LINK.
 */
u8 smc_llc_link_in(const struct smc_llc_flow *flow, enum smc_llc_link_state state)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state == state)
			return i;
	return SMC_LLC_NO_LINK;
}

/**
 * smc_llc_link_by_num() - find a link by its number
 * @flow: LLC machine
 * @num: link number
 *
 * Return: its index, or SMC_LLC_NO_LINK.
 */
u8 smc_llc_link_by_num(const struct smc_llc_flow *flow, u8 num)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state != SMC_LLC_LINK_FREE &&
		    flow->link[i].state != SMC_LLC_LINK_GOING && flow->link[i].num == num)
			return i;
	return SMC_LLC_NO_LINK;
}

/**
 * smc_llc_has_ended() - check for the number of a link that has ended here
 * @flow: LLC machine
 * @num: link number
 *
 * Return: true if the peer may not know yet that the link has ended.
 */
bool smc_llc_has_ended(const struct smc_llc_flow *flow, u8 num)
{
	u8 link = smc_llc_link_by_num(flow, num);

	if (link == SMC_LLC_NO_LINK)
		return smc_llc_is_gone(flow, num);
	return flow->link[link].state != SMC_LLC_LINK_FORMING &&
	       !smc_llc_is_in_use(&flow->link[link]);
}

/**
 * smc_llc_stale() - handle a message of an exchange that is not under way
 * @run: current call
 * @link: index of the link that carried it
 * @num: number of the link that the exchange is about
 *
 * If that link has ended here, the peer's side of the exchange ends later, by timers. Numbers
 * cycle (LID-03), so no current link is meant: the message is counted and ignored. Any other is
 * out of sync. ERR-46, ERR-54.
 */
void smc_llc_stale(struct smc_llc_run *run, u8 link, u8 num)
{
	if (smc_llc_has_ended(run->flow, num))
		smc_llc_ask(run, SMC_LLC_ACT_STALE, link);
	else
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
}

/**
 * smc_llc_carrier() - find a link that can carry an exchange
 * @flow: LLC machine
 * @except: index of a link to exclude, or SMC_LLC_NO_LINK
 *
 * Return: index of an ACTIVE link if there is one, of a LEAVING one otherwise, or
 * SMC_LLC_NO_LINK. LLC-06.
 */
u8 smc_llc_carrier(const struct smc_llc_flow *flow, u8 except)
{
	u8 i, second = SMC_LLC_NO_LINK;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		if (i == except)
			continue;
		if (flow->link[i].state == SMC_LLC_LINK_ACTIVE)
			return i;
		if (flow->link[i].state == SMC_LLC_LINK_LEAVING)
			second = i;
	}
	return second;
}

/**
 * smc_llc_end_equals() - compare two link ends
 * @a: one end
 * @b: other end
 *
 * Return: true if queue pair, MAC and GID are the same.
 */
bool smc_llc_end_equals(const struct smc_llc_end *a, const struct smc_llc_end *b)
{
	return a->qpn == b->qpn && smc_llc_same_rnic(a, b);
}

/* Bit n of entry m: state n may follow state m. The end of the group frees all. */
static const u16 llc_link_moves[SMC_LLC_LINK_NR_STATES] = {
	[SMC_LLC_LINK_FREE]	= BIT(SMC_LLC_LINK_FORMING),
	[SMC_LLC_LINK_FORMING]	= BIT(SMC_LLC_LINK_ACTIVE) | BIT(SMC_LLC_LINK_LOST) |
				  BIT(SMC_LLC_LINK_GOING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_ACTIVE]	= BIT(SMC_LLC_LINK_LEAVING) | BIT(SMC_LLC_LINK_LOST) |
				  BIT(SMC_LLC_LINK_DELETING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_LEAVING]	= BIT(SMC_LLC_LINK_LOST) | BIT(SMC_LLC_LINK_DELETING) |
				  BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_LOST]	= BIT(SMC_LLC_LINK_REPORTED) | BIT(SMC_LLC_LINK_DELETING) |
				  BIT(SMC_LLC_LINK_GOING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_REPORTED]	= BIT(SMC_LLC_LINK_DELETING) | BIT(SMC_LLC_LINK_GOING) |
				  BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_DELETING]	= BIT(SMC_LLC_LINK_LOST) | BIT(SMC_LLC_LINK_AGREED) |
				  BIT(SMC_LLC_LINK_GOING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_AGREED]	= BIT(SMC_LLC_LINK_LOST) | BIT(SMC_LLC_LINK_DELETING) |
				  BIT(SMC_LLC_LINK_GOING) | BIT(SMC_LLC_LINK_FREE),
	[SMC_LLC_LINK_GOING]	= BIT(SMC_LLC_LINK_FREE),
};

static const u8 llc_data_moves[SMC_LLC_DATA_NR_STATES] = {
	[SMC_LLC_DATA_NONE]	= BIT(SMC_LLC_DATA_UP),
	[SMC_LLC_DATA_UP]	= BIT(SMC_LLC_DATA_CLEARING) | BIT(SMC_LLC_DATA_NONE),
	[SMC_LLC_DATA_CLEARING]	= BIT(SMC_LLC_DATA_NONE),
};

/**
 * smc_llc_link_move() - change the state of a link
 * @lnk: the link
 * @to: new state
 *
 * Return: true if it moved; false if the move is illegal, nothing has changed then.
 */
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

/**
 * smc_llc_data_move() - change what connections do on a link
 * @lnk: the link
 * @to: new state
 *
 * Return: true if it moved; false if the move is illegal, nothing has changed then.
 */
bool smc_llc_data_move(struct smc_llc_link *lnk, enum smc_llc_data to)
{
	if (!(llc_data_moves[lnk->data] & BIT(to)))
		return false;
	lnk->data = to;
	return true;
}

/**
 * smc_llc_link_make() - start a link
 * @flow: LLC machine
 * @link: a free index
 * @num: link number, 0 if not known yet
 *
 * Return: the link, SMC_LLC_LINK_FORMING.
 */
struct smc_llc_link *smc_llc_link_make(struct smc_llc_flow *flow, u8 link, u8 num)
{
	struct smc_llc_link *lnk = &flow->link[link];

	memset(lnk, 0, sizeof(*lnk));
	smc_llc_link_move(lnk, SMC_LLC_LINK_FORMING);
	lnk->num = num;
	lnk->age = flow->next_age++;
	smc_llc_set_gone(flow, num, false);
	return lnk;
}

/**
 * smc_llc_link_lost() - stop using a link
 * @run: current call
 * @link: index of the link
 * @why: for the owner
 * @reason: for the peer, enum smc_llc_delete_link_reason
 *
 * The first link of first contact fails the group, any other is marked LOST. RFC 7609 2.3,
 * C.7.1.
 */
void smc_llc_link_lost(struct smc_llc_run *run, u8 link, enum smc_llc_why why, u32 reason)
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
	is_last = lnk->state == SMC_LLC_LINK_AGREED && lnk->notice_link == link;
	/* A departing link has stopped working. */
	if (smc_llc_is_lost(lnk))
		lnk->is_orderly = false;
	if (!smc_llc_is_in_use(lnk) && lnk->state != SMC_LLC_LINK_FORMING && !is_last)
		return;
	smc_llc_link_move(lnk, SMC_LLC_LINK_LOST);
	lnk->why = why;
	lnk->reason = reason;
	lnk->is_orderly = false;
	if (flow->phase == SMC_LLC_UP)
		flow->end_why = why;
}

/**
 * smc_llc_link_up() - start data on a link
 * @run: current call
 * @link: index of the link
 */
void smc_llc_link_up(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	if (!smc_llc_data_move(lnk, SMC_LLC_DATA_UP))
		return;
	lnk->up_since = run->now;
	smc_llc_arm_probe(run, link);
	smc_llc_ask(run, SMC_LLC_ACT_LINK_UP, link);
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
	act = smc_llc_ask(run, SMC_LLC_ACT_LINK_DOWN, link);
	act->why = lnk->why;
	act->is_orderly = lnk->is_orderly;
	return true;
}

/**
 * smc_llc_link_retire() - stop data on a link
 * @run: current call
 * @link: index of the link
 */
void smc_llc_link_retire(struct smc_llc_run *run, u8 link)
{
	stop_data(run, link, SMC_LLC_DATA_NONE);
}

/**
 * smc_llc_send_test_link() - send TEST LINK
 * @run: current call
 * @link: index of the link that carries it
 */
void smc_llc_send_test_link(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	struct smc_llc_msg *msg;

	if (lnk->nr_unanswered < U8_MAX)
		lnk->nr_unanswered++;
	msg = smc_llc_ask_send(run, link, SMC_LLC_TEST_LINK, false, SMC_LLC_SENT_OTHER);
	memcpy(msg->test_link.user_data, lnk->probe, sizeof(msg->test_link.user_data));
}

/**
 * smc_llc_link_clear() - stop data on a link that is to be deleted
 * @run: current call
 * @link: index of the link
 * @ms: time limit for the peer
 *
 * Messages pending at the peer must not be overtaken on another link. So the connections pause
 * until it answers a TEST LINK, which follows them all. A missing reply has no consequence for
 * the link. RFC 7609 4.6.1; FAIL-10, FAIL-18, FAIL-19.
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

/**
 * smc_llc_link_cleared() - end the clearing of a link
 * @run: current call
 * @link: index of the link
 */
void smc_llc_link_cleared(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	if (lnk->data != SMC_LLC_DATA_CLEARING)
		return;
	smc_llc_data_move(lnk, SMC_LLC_DATA_NONE);
	lnk->deadline = SMC_LLC_NO_DEADLINE;
	smc_llc_ask(run, SMC_LLC_ACT_LINK_CLEAR, link);
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

/**
 * smc_llc_link_destroy() - free the resources of a link
 * @run: current call
 * @link: index of the link, reusable after LINK_DESTROYED
 * @is_agreed: the peer knows that the link is gone
 */
void smc_llc_link_destroy(struct smc_llc_run *run, u8 link, bool is_agreed)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	if (!smc_llc_link_move(lnk, SMC_LLC_LINK_GOING))
		return;
	smc_llc_link_retire(run, link);
	smc_llc_link_cleared(run, link);
	drop_token(&run->flow->remote.keys, link);
	if (is_agreed)
		smc_llc_set_gone(run->flow, lnk->num, true);
	*lnk = (struct smc_llc_link){
		.state = SMC_LLC_LINK_GOING, .deadline = SMC_LLC_NO_DEADLINE,
	};
	smc_llc_ask(run, SMC_LLC_ACT_DESTROY_LINK, link);
}

/**
 * smc_llc_arm_probe() - start the idle timer of a link
 * @run: current call
 * @link: index of the link
 */
void smc_llc_arm_probe(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	u32 idle = run->flow->params.test_link_idle_ms;

	lnk->tries = 0;
	lnk->deadline = idle ? run->now + idle : SMC_LLC_NO_DEADLINE;
}

/**
 * smc_llc_arm_retry() - schedule a retry to add a link
 * @run: current call
 * @has_failed: true if the attempt failed here; false if the peer declined
 *
 * After a failure, retry while symmetric links are missing: no event reports that the cause is
 * gone. After a refusal, a server with one link retries, and a client with an unused RNIC. No side
 * does without SMC_LLC_EV_RNICS. Refusals in a row double the pause: an attempt costs an RNIC
 * several commands, and hosts with one port would make it for ever in each of their groups. RFC
 * 7609 C.8; ERR-56, TMR-12, TMR-13.
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

/**
 * smc_llc_retry() - try for a further link because the pause of smc_llc_arm_retry() is over
 * @flow: LLC machine
 *
 * A server tries RNICs again that the client refused. RFC 7609 C.8; ERR-57, TMR-12.
 */
void smc_llc_retry(struct smc_llc_flow *flow)
{
	u32 ms = max_t(u32, flow->params.timers.add_link_retry, flow->retry_ms);

	flow->retry_ms = min_t(u32, 2 * ms, SMC_LLC_RETRY_MAX_MS);
	flow->next_add = 0;
	smc_llc_readmit_candidates(flow);
}

/**
 * smc_llc_reset_retry() - note that an attempt may succeed now where it did not before
 * @flow: LLC machine
 *
 * A local RNIC or the links have changed, or the peer asks. The pauses start over, and a server
 * tries RNICs again that the client refused. ERR-58, ERR-59.
 */
void smc_llc_reset_retry(struct smc_llc_flow *flow)
{
	flow->retry_ms = 0;
	smc_llc_readmit_candidates(flow);
}

/**
 * smc_llc_want_link() - try for a further link, after a change
 * @flow: LLC machine
 *
 * RFC 7609 C.8; ERR-57 to ERR-59.
 */
void smc_llc_want_link(struct smc_llc_flow *flow)
{
	flow->next_add = 0;
	smc_llc_reset_retry(flow);
}

/**
 * smc_llc_send_confirm_link() - send CONFIRM LINK
 * @run: current call
 * @link: index of the link to confirm, which carries the message
 * @is_reply: the R flag
 * @no_eye_catcher: as offered or agreed
 * @max_links: as offered or agreed
 *
 * RFC 7609 A.3.1; LID-01, LID-02, LID-04, LID-05, LLC-05.
 *
 * Return: the message, for what only the first link announces.
 */
struct smc_llc_confirm_link *smc_llc_send_confirm_link(struct smc_llc_run *run, u8 link,
						       bool is_reply, bool no_eye_catcher,
						       u8 max_links)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	struct smc_llc_confirm_link *cl;

	cl = &smc_llc_ask_send(run, link, SMC_LLC_CONFIRM_LINK, is_reply,
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

/**
 * smc_llc_await_delete() - client: start the time limit for the server to delete a link
 * @run: current call
 * @lnk: the link, SMC_LLC_LINK_REPORTED
 *
 * It restarts when another exchange came first, but not beyond @lnk->notice_end, because the
 * removal of an RNIC may wait for it. RFC 7609 C.7.1; ERR-36, SER-08.
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

/**
 * smc_llc_config_done() - end the exchange that changes the links
 * @run: current call
 */
void smc_llc_config_done(struct smc_llc_run *run)
{
	if (run->flow->config != SMC_LLC_CONFIG_NONE)
		restart_notices(run);
	run->flow->config = SMC_LLC_CONFIG_NONE;
	run->flow->config_deadline = SMC_LLC_NO_DEADLINE;
}

/**
 * smc_llc_rkey_done() - end the RKEY exchange of this side
 * @run: current call
 * @result: see struct smc_llc_action
 */
void smc_llc_rkey_done(struct smc_llc_run *run, int result)
{
	struct smc_llc_rkey *own = &run->flow->own;
	struct smc_llc_action *act;

	act = smc_llc_ask(run, SMC_LLC_ACT_RKEY_DONE, own->link);
	act->cookie = own->cookie;
	act->result = result;
	own->is_busy = false;
	own->deadline = SMC_LLC_NO_DEADLINE;
}

/**
 * smc_llc_stop_timers() - stop all timers but @flow->config_deadline
 * @flow: LLC machine
 */
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
		if (flow->link[i].is_spare)
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

/**
 * smc_llc_commit() - advance the commitment of first contact
 * @flow: LLC machine
 * @to: new commitment
 *
 * Return: true if it moved; false if it was as far already. RFC 7609 C.3; ERR-10, ERR-11,
 * AMB-04.
 */
bool smc_llc_commit(struct smc_llc_flow *flow, enum smc_llc_commitment to)
{
	if (to <= flow->commitment)
		return false;
	flow->commitment = to;
	return true;
}

/**
 * smc_llc_fail_group() - fail first contact
 * @run: current call
 * @fail: what becomes of the TCP connection
 * @why: for the owner
 * @diagnosis: for the Decline, if there is one
 */
void smc_llc_fail_group(struct smc_llc_run *run, enum smc_llc_fail fail, enum smc_llc_why why,
			enum smc_decline diagnosis)
{
	struct smc_llc_action *act;

	if (run->flow->phase == SMC_LLC_DEAD)
		return;
	become_dead(run, why);
	act = smc_llc_ask(run, SMC_LLC_ACT_GROUP_FAILED, 0);
	act->fail = fail;
	act->why = why;
	if (fail == SMC_LLC_FAIL_DECLINE)
		act->diagnosis = diagnosis;
}

/**
 * smc_llc_fail_local() - fail first contact after a send or a local resource failed
 * @run: current call
 * @why: for the owner
 * @diagnosis: for the Decline
 *
 * Declines up to the point of no return. RFC 7609 C.2, C.3; ERR-09 to ERR-12.
 */
void smc_llc_fail_local(struct smc_llc_run *run, enum smc_llc_why why,
			enum smc_decline diagnosis)
{
	smc_llc_fail_group(run, run->flow->commitment < SMC_LLC_COMMIT_FINAL ?
			   SMC_LLC_FAIL_DECLINE : SMC_LLC_FAIL_RESET, why, diagnosis);
}

/**
 * smc_llc_terminate() - end a group without links
 * @run: current call
 * @why: for the owner
 */
void smc_llc_terminate(struct smc_llc_run *run, enum smc_llc_why why)
{
	if (run->flow->phase == SMC_LLC_DEAD)
		return;
	become_dead(run, why);
	smc_llc_ask(run, SMC_LLC_ACT_TERMINATE, 0)->why = why;
}

/**
 * smc_llc_out_of_sync() - handle a message that is invalid now
 * @run: current call
 * @link: index of the link that carried it
 * @why: for the owner
 *
 * The link counts as down. First contact can fall back to TCP until this side has sent CONFIRM
 * LINK. RFC 7609 C.7.1; ERR-47, ERR-54, AMB-04.
 */
void smc_llc_out_of_sync(struct smc_llc_run *run, u8 link, enum smc_llc_why why)
{
	struct smc_llc_flow *flow = run->flow;

	if (smc_llc_is_forming(flow) && !link)
		smc_llc_fail_group(run, flow->commitment == SMC_LLC_COMMIT_NONE ?
				   SMC_LLC_FAIL_DECLINE : SMC_LLC_FAIL_RESET, why,
				   SMC_DECLINE_ERR_RDYLNK);
	else
		smc_llc_link_lost(run, link, why, SMC_LLC_DELETE_PROTOCOL);
}
