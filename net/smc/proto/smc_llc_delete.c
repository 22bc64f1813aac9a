// SPDX-License-Identifier: GPL-2.0
/*
 * The exchange that deletes a link, and the end of the whole group, RFC 7609
 * 3.5.4, 3.5.5.1.3, 3.5.5.1.4 and C.7.1.
 *
 * Operation: a link that is to go is marked, LOST if it works no more, LEAVING
 * if it does. The server deletes the marked ones one by one, each by a DELETE
 * LINK exchange over another link. A client tells the server of its own by a
 * DELETE LINK of its own, and waits for the server's request. Only the server
 * decides: whatever a client wants ends in that request, which it cannot refuse.
 *
 * A link that works and is to go is cleared before either side says anything of it:
 * its connections are silent, and move when the peer has answered a TEST LINK there, or
 * has had its time.
 *
 * Ownership: the resources of a link stay until both sides agree: at the server
 * when the reply has come, at the client when its reply has left.
 *
 * A DELETE LINK that has left cannot be taken back, for nobody knows whether the
 * client has freed its end, nor is a link used again that is being cleared. If all other
 * links fail before the reply has come, the group ends, though the link that was to go may
 * still work.
 *
 * Error handling: a DELETE LINK without answer means that the link which carried
 * it has failed as well; both are asked for again on a survivor. Without one
 * the group ends. A DELETE LINK for the whole group goes past all exchanges; it
 * is sent on one link after the other until one takes it.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "proto/smc_llc_add.h"
#include "proto/smc_llc_delete.h"
#include "proto/smc_llc_keys.h"
#include "proto/smc_llc_links.h"

static void send_delete(struct smc_llc_run *run, u8 carrier, u8 target)
{
	const struct smc_llc_link *lnk = &run->flow->link[target];
	struct smc_llc_delete_link *dl;

	dl = &smc_llc_ask_send(run, carrier, SMC_LLC_DELETE_LINK, false,
			       SMC_LLC_SENT_OTHER)->delete_link;
	dl->link_num = lnk->num;
	dl->is_orderly = lnk->is_orderly;
	dl->reason = lnk->reason;
}

/* Server: DELETE LINK of the exchange under way, once or as often as a client needs it. */
static void send_request(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	flow->config_tries++;
	flow->config_deadline = smc_llc_after(run, flow->params.timers.delete_link /
					      flow->quirks->delete_tries);
	send_delete(run, flow->config_link, flow->config_target);
}

/* Server: the client is told of it, DELL-03, DELL-04. */
static void request(struct smc_llc_run *run, u8 target)
{
	struct smc_llc_flow *flow = run->flow;
	u8 carrier = smc_llc_carrier(flow, target);

	if (carrier == SMC_LLC_NO_LINK)
		carrier = target;
	flow->config = SMC_LLC_CONFIG_DELETE_LINK;
	flow->config_link = carrier;
	flow->config_target = target;
	flow->config_tries = 0;
	send_request(run);
}

/* Server: the exchange about one marked link; one that works is cleared first. */
static void begin(struct smc_llc_run *run, u8 target)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[target];

	if (smc_llc_carrier(flow, target) != SMC_LLC_NO_LINK) {
		smc_llc_link_move(lnk, SMC_LLC_LINK_DELETING);
		smc_llc_link_clear(run, target, flow->params.timers.delete_link);
	}
	if (lnk->data == SMC_LLC_DATA_CLEARING) {
		flow->config = SMC_LLC_CONFIG_CLEAR_LINK;
		flow->config_target = target;
	} else {
		request(run, target);
	}
}

static struct smc_llc_delete_link *reply(struct smc_llc_run *run, u8 link, u8 num, u32 reason,
					 u64 cookie)
{
	struct smc_llc_delete_link *dl;

	dl = &smc_llc_ask_send(run, link, SMC_LLC_DELETE_LINK, true, cookie)->delete_link;
	dl->link_num = num;
	dl->reason = reason;
	return dl;
}

/* Client: it agrees that a link is to go. */
static void agree(struct smc_llc_run *run, u8 target)
{
	struct smc_llc_link *lnk = &run->flow->link[target];

	smc_llc_link_move(lnk, SMC_LLC_LINK_AGREED);
	reply(run, lnk->notice_link, lnk->num, 0,
	      SMC_LLC_SENT_DELETE_REPLY | (u64)target << SMC_LLC_SENT_SHIFT);
}

/* Client: how long the peer may take for a link to be clear, so that the reply is in time. */
static int clear_ms(const struct smc_llc_flow *flow)
{
	return (flow->quirks->peer_waits_ms ?: flow->params.timers.delete_link) / 2;
}

/*
 * Has the link failed at the peer? Then nobody there comes to what was said on it. Deployed
 * peers say O of a link that they have taken down as well.
 */
static bool is_failure(const struct smc_llc_flow *flow, const struct smc_llc_delete_link *dl)
{
	return !dl->is_orderly ||
	       (flow->quirks->loses_in_order && dl->reason == SMC_LLC_DELETE_LOST_PATH);
}

/* The server deletes a link; a client cannot refuse, DELL-05, DELL-06. */
static void on_request_of_server(struct smc_llc_run *run, u8 link,
				 const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = smc_llc_link_by_num(flow, dl->link_num);
	struct smc_llc_link *lnk;

	smc_llc_keys_wait(run);
	if (target == SMC_LLC_NO_LINK) {
		/* ERR-49 */
		reply(run, link, dl->link_num, SMC_LLC_DELETE_UNKNOWN_LINK, SMC_LLC_SENT_OTHER);
		return;
	}
	lnk = &flow->link[target];
	if (lnk->is_spare) {
		/*
		 * It never came into use, so its end is no matter. In order: unlike
		 * a deployed client, this one has nothing more to say about it.
		 */
		reply(run, link, dl->link_num, 0, SMC_LLC_SENT_OTHER)->is_orderly =
			flow->quirks->declines_late;
		smc_llc_link_destroy(run, target, true);
		return;
	}
	/* One exchange at a time: the server has given up what it was adding. */
	if (smc_llc_is_adding(flow) && flow->config != SMC_LLC_CONFIG_CONFIRMED)
		smc_llc_add_abandon(run);
	if (smc_llc_is_forming(flow) && !target) {
		reply(run, link, dl->link_num, 0, SMC_LLC_SENT_OTHER);
		smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DELETED, 0);
		return;
	}
	if ((lnk->state == SMC_LLC_LINK_DELETING || lnk->state == SMC_LLC_LINK_AGREED) &&
	    lnk->notice_link == link)
		return;
	if (smc_llc_is_in_use(lnk)) {
		lnk->why = SMC_LLC_WHY_PEER_DELETED;
		lnk->is_orderly = dl->is_orderly;
	}
	smc_llc_link_move(lnk, SMC_LLC_LINK_DELETING);
	lnk->notice_link = link;
	if (smc_llc_nr_in_use(flow))
		smc_llc_link_clear(run, target, clear_ms(flow));
	/* said on the link itself: the server has no other one, so it is the end */
	if (is_failure(flow, dl) || link == target)
		smc_llc_link_cleared(run, target);
	/* otherwise when it is clear, see go_on() */
	if (lnk->data != SMC_LLC_DATA_CLEARING)
		agree(run, target);
}

/* A link that works is to be deleted. It stays in use until then; a later reason counts. */
static void leave(struct smc_llc_link *lnk, bool is_orderly, u32 reason, enum smc_llc_why why)
{
	smc_llc_link_move(lnk, SMC_LLC_LINK_LEAVING);
	lnk->is_orderly = is_orderly;
	lnk->reason = reason;
	lnk->why = why;
}

/*
 * A client wants a link deleted. One that has failed there is given up here at
 * once, for nothing comes through any more (ERR-46, AMB-69); the exchange about
 * it has to wait for its turn. RFC 7609 3.5.5.1.4; DELL-08 to DELL-10, SER-08.
 */
static void on_request_of_client(struct smc_llc_run *run, u8 link,
				 const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = smc_llc_link_by_num(flow, dl->link_num);
	struct smc_llc_link *lnk;

	if (target == SMC_LLC_NO_LINK) {
		/* ERR-48; a client that has deleted the link as well ignores that */
		reply(run, link, dl->link_num, SMC_LLC_DELETE_UNKNOWN_LINK, SMC_LLC_SENT_OTHER);
		return;
	}
	if (flow->config == SMC_LLC_CONFIG_DELETE_LINK && flow->config_target == target)
		return;
	lnk = &flow->link[target];
	if (lnk->data == SMC_LLC_DATA_CLEARING) {
		if (is_failure(flow, dl))
			smc_llc_link_cleared(run, target);
		return;
	}
	if (lnk->is_spare ||
	    (is_failure(flow, dl) && smc_llc_carrier(flow, target) != SMC_LLC_NO_LINK &&
	     flow->phase == SMC_LLC_UP)) {
		smc_llc_link_lost(run, target, SMC_LLC_WHY_PEER_DELETED, dl->reason);
	} else if (smc_llc_is_in_use(lnk)) {
		leave(lnk, dl->is_orderly, dl->reason, SMC_LLC_WHY_PEER_DELETED);
	}
}

/*
 * May the peer have brought about the end of a link, by words or by nonsense? Not where
 * this side decided, or its own RNIC has gone.
 */
static bool is_of_peer(const struct smc_llc_flow *flow, const struct smc_llc_link *lnk)
{
	return lnk->why != SMC_LLC_WHY_DELETED && lnk->why != SMC_LLC_WHY_NO_LONGER_NEEDED &&
	       smc_llc_rnic_place(flow, &lnk->local);
}

/* Has a link that was in use been there for longer than a moment? */
static bool has_lasted(const struct smc_llc_run *run, const struct smc_llc_link *lnk)
{
	return run->now - lnk->up_since >= (u64)max(run->flow->params.timers.reply, 0);
}

/*
 * The end of a link, if it was in use. A peer could have links added and ended as fast as
 * it likes, and each leaves memory in its group. After more than SMC_LLC_BRIEF_LIVES in a
 * row that did not last none is added until the last one would have lasted.
 */
static void note_life(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;
	const struct smc_llc_link *lnk = &flow->link[link];

	if (lnk->is_spare)
		return;
	if (has_lasted(run, lnk)) {
		flow->nr_brief = 0;
		smc_llc_end_turns(flow);
	} else if (!is_of_peer(flow, lnk)) {
		return;
	} else if (flow->nr_brief < SMC_LLC_BRIEF_LIVES) {
		flow->nr_brief++;
	} else {
		flow->backoff_end = lnk->up_since + flow->params.timers.reply;
	}
}

/* Client: both sides know that a link is gone. */
static void destroy_agreed(struct smc_llc_run *run, u8 link)
{
	note_life(run, link);
	smc_llc_link_destroy(run, link, true);
}

/* Server: a link is gone at both sides; @is_orderly: says the client, too. */
static void deleted(struct smc_llc_run *run, u8 target, bool is_orderly)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[target];
	bool was_spare = lnk->is_spare;
	/*
	 * One that fails as soon as it is there is not tried for at once again, nor one
	 * that somebody has just taken down.
	 */
	bool is_urgent = has_lasted(run, lnk) && lnk->reason != SMC_LLC_DELETE_OPERATOR;

	note_life(run, target);
	smc_llc_link_destroy(run, target, true);
	/* what it had accepted a deployed client declines now, and is not done before */
	if (was_spare && !is_orderly && flow->quirks->declines_late)
		flow->add_pause = smc_llc_after(run, flow->params.timers.reply);
	if (was_spare || !flow->has_rnics)
		return;
	/* with a link less the client may have a use for an RNIC that it refused */
	flow->refused = 0;
	if (is_urgent)
		smc_llc_want_link(flow);
	else
		smc_llc_arm_retry(run, true);
}

static void on_reply_of_client(struct smc_llc_run *run, u8 link,
			       const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = smc_llc_link_by_num(flow, dl->link_num);

	if (flow->config != SMC_LLC_CONFIG_DELETE_LINK || link != flow->config_link ||
	    target != flow->config_target) {
		smc_llc_stale(run, link, dl->link_num);
		return;
	}
	/* "Unknown link" is as good as yes. */
	smc_llc_config_done(run);
	if (target != link)
		deleted(run, target, dl->is_orderly);
	else
		smc_llc_link_lost(run, target, SMC_LLC_WHY_PEER_DELETED, dl->reason);
}

/* It says that the server has no such link, AMB-64. */
static void on_reply_of_server(struct smc_llc_run *run, u8 link,
			       const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = smc_llc_link_by_num(flow, dl->link_num);

	if (dl->reason == SMC_LLC_DELETE_UNKNOWN_LINK && target != SMC_LLC_NO_LINK &&
	    flow->link[target].state == SMC_LLC_LINK_REPORTED)
		destroy_agreed(run, target);
	else
		smc_llc_stale(run, link, dl->link_num);
}

static void ask_delete_all(struct smc_llc_run *run, u8 link, u32 reason, bool is_orderly)
{
	struct smc_llc_delete_link *dl;

	dl = &smc_llc_ask_send(run, link, SMC_LLC_DELETE_LINK, false,
			       SMC_LLC_SENT_DELETE_ALL)->delete_link;
	dl->is_all = true;
	dl->is_orderly = is_orderly;
	dl->reason = reason;
}

/* The peer ends the whole group; this goes past all exchanges, AMB-67. */
static void on_delete_all(struct smc_llc_run *run, u8 link, const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;

	if (smc_llc_is_forming(flow)) {
		if (flow->params.is_server)
			ask_delete_all(run, link, dl->reason, dl->is_orderly);
		smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DELETED, 0);
		return;
	}
	if (!flow->params.is_server) {
		/* LGT-05, and the answer to a request of our own */
		smc_llc_terminate(run, flow->phase == SMC_LLC_TERMINATING ? flow->end_why :
							SMC_LLC_WHY_PEER_DELETED);
		return;
	}
	/* Crossed with ours, which is the answer. */
	if (flow->phase == SMC_LLC_UP)
		smc_llc_end_begin(run, link, dl->reason, dl->is_orderly,
				  SMC_LLC_WHY_PEER_DELETED);
}

/**
 * smc_llc_delete_msg() - DELETE LINK came in
 * @run: the call
 * @link: index of the link it came on
 * @msg: the message
 */
void smc_llc_delete_msg(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	const struct smc_llc_delete_link *dl = &msg->delete_link;
	struct smc_llc_flow *flow = run->flow;

	if (!msg->is_reply && dl->is_all) {
		on_delete_all(run, link, dl);
		return;
	}
	/* What comes late is of no interest; nobody answers a whole-group end. */
	if (flow->phase == SMC_LLC_TERMINATING)
		return;
	if (dl->is_all || !smc_llc_is_confirmed(flow))
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
	else if (flow->params.is_server)
		(msg->is_reply ? on_reply_of_client : on_request_of_client)(run, link, dl);
	else
		(msg->is_reply ? on_reply_of_server : on_request_of_server)(run, link, dl);
}

/**
 * smc_llc_delete_sent() - client: the reply about a link has left, or is lost
 * @run: the call
 * @target: index of that link
 *
 * Lost: the server asks again and hears that there is no such link.
 */
void smc_llc_delete_sent(struct smc_llc_run *run, u8 target)
{
	struct smc_llc_flow *flow = run->flow;

	if (target >= SMC_LLC_LINKS || flow->link[target].state != SMC_LLC_LINK_AGREED ||
	    flow->phase == SMC_LLC_TERMINATING)
		return;
	/* The only one: what follows is the end of the group. */
	if (flow->link[target].notice_link == target) {
		smc_llc_link_move(&flow->link[target], SMC_LLC_LINK_LOST);
		flow->link[target].is_orderly = false;
		if (flow->phase == SMC_LLC_UP)
			flow->end_why = SMC_LLC_WHY_PEER_DELETED;
		return;
	}
	destroy_agreed(run, target);
}

/**
 * smc_llc_delete_timeout() - server: the client does not answer DELETE LINK
 * @run: the call
 *
 * The link that carried it is of no use either, unless the client may have dropped the
 * message: then it is sent again first. RFC 7609 C.7.1; ERR-25, ERR-38.
 */
void smc_llc_delete_timeout(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->config_tries < flow->quirks->delete_tries)
		send_request(run);
	else if (smc_llc_is_forming(flow))
		smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_DELETE_LINK_TIMEOUT, 0);
	else
		smc_llc_link_lost(run, flow->config_link, SMC_LLC_WHY_DELETE_LINK_TIMEOUT,
				  SMC_LLC_DELETE_LOST_PATH);
}

/* The peer has had its time to come to what was said on a link. */
static void clear_timer(struct smc_llc_run *run)
{
	const struct smc_llc_link *lnk = run->flow->link;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++, lnk++)
		if (lnk->data == SMC_LLC_DATA_CLEARING && run->now >= lnk->deadline)
			smc_llc_link_cleared(run, i);
}

/**
 * smc_llc_delete_timer() - is a link clear, and does the server do what it was asked for?
 * @run: the call
 *
 * If not, the link that carried the notice is of no use either. But the server comes to
 * that when it has added what it is adding, which has timers of its own (SER-08), and may
 * add one after the other only for so long (smc_llc_patience_ms()). RFC 7609 C.7.1;
 * ERR-31, ERR-36.
 */
void smc_llc_delete_timer(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk;

	clear_timer(run);
	for (lnk = flow->link; lnk < flow->link + SMC_LLC_LINKS; lnk++) {
		if (lnk->state != SMC_LLC_LINK_REPORTED || run->now < lnk->deadline)
			continue;
		if (smc_llc_is_adding(flow) && run->now < lnk->notice_end) {
			smc_llc_await_delete(run, lnk);
			continue;
		}
		lnk->deadline = SMC_LLC_NO_DEADLINE;
		if (smc_llc_is_forming(flow)) {
			smc_llc_fail_group(run, SMC_LLC_FAIL_RESET,
					   SMC_LLC_WHY_DELETE_LINK_TIMEOUT, 0);
			return;
		}
		smc_llc_link_lost(run, lnk->notice_link, SMC_LLC_WHY_DELETE_LINK_TIMEOUT,
				  SMC_LLC_DELETE_LOST_PATH);
	}
}

/* What was to be said of links that are clear by now. */
static void go_on(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 i;

	/* a deployed client may be in the middle of what it has to say about an RMB */
	if (flow->config == SMC_LLC_CONFIG_CLEAR_LINK &&
	    flow->link[flow->config_target].data != SMC_LLC_DATA_CLEARING &&
	    flow->remote.state == SMC_LLC_REMOTE_NONE)
		request(run, flow->config_target);
	for (i = 0; i < SMC_LLC_LINKS && !flow->params.is_server; i++)
		if (flow->link[i].state == SMC_LLC_LINK_DELETING &&
		    flow->link[i].data != SMC_LLC_DATA_CLEARING)
			agree(run, i);
}

/**
 * smc_llc_delete_settle() - go on where a link is clear; end what has lost its link
 * @run: the call
 */
void smc_llc_delete_settle(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk;
	u8 i;

	go_on(run);
	if (flow->config == SMC_LLC_CONFIG_DELETE_LINK &&
	    smc_llc_is_dead_end(flow, flow->config_link)) {
		lnk = &flow->link[flow->config_target];
		if (lnk->state == SMC_LLC_LINK_DELETING)
			smc_llc_link_move(lnk, SMC_LLC_LINK_LOST);
		smc_llc_config_done(run);
	}
	if (flow->params.is_server)
		return;
	/* Nobody will say whether a reply has left on a link that is lost. */
	for (i = 0, lnk = flow->link; i < SMC_LLC_LINKS; i++, lnk++)
		if ((lnk->state == SMC_LLC_LINK_DELETING || lnk->state == SMC_LLC_LINK_AGREED) &&
		    lnk->notice_link != i && smc_llc_is_dead_end(flow, lnk->notice_link))
			destroy_agreed(run, i);
}

/* Client: tell the server of the links that are lost here. */
static void notify(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk;
	u8 i, carrier;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		lnk = &flow->link[i];
		if (!smc_llc_is_lost(lnk) || lnk->data == SMC_LLC_DATA_CLEARING ||
		    (lnk->state == SMC_LLC_LINK_REPORTED &&
		     smc_llc_is_in_use(&flow->link[lnk->notice_link])))
			continue;
		carrier = smc_llc_carrier(flow, i);
		if (carrier == SMC_LLC_NO_LINK)
			continue;
		if (smc_llc_link_move(lnk, SMC_LLC_LINK_REPORTED))
			lnk->notice_end = run->now + smc_llc_patience_ms(&flow->params.timers);
		lnk->notice_link = carrier;
		smc_llc_await_delete(run, lnk);
		send_delete(run, carrier, i);
	}
}

static bool has_exchange(const struct smc_llc_flow *flow, u8 link)
{
	return (flow->config != SMC_LLC_CONFIG_NONE && flow->config_link == link) ||
	       (flow->own.is_busy && flow->own.link == link) ||
	       (flow->remote.state != SMC_LLC_REMOTE_NONE && flow->remote.link == link);
}

/* Client: what works and is to go, goes when nothing needs it any more. */
static void give_up_leaving(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		lnk = &flow->link[i];
		if (lnk->state != SMC_LLC_LINK_LEAVING || has_exchange(flow, i))
			continue;
		if (smc_llc_nr_in_use(flow) < 2) {
			/* LGT-03: it has become the last one. */
			smc_llc_end_begin(run, i, lnk->reason, lnk->is_orderly, lnk->why);
			return;
		}
		smc_llc_link_move(lnk, SMC_LLC_LINK_LOST);
		smc_llc_link_clear(run, i, flow->params.timers.delete_link);
	}
}

/*
 * Server: links marked LOST or LEAVING do not wait for an RNIC that is slow to create the
 * queue pair to be offered: the client has not heard of that link yet. The attempt is
 * given up, and begun anew afterwards.
 */
static void make_way(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->phase != SMC_LLC_UP || flow->config != SMC_LLC_CONFIG_CREATE ||
	    (!smc_llc_nr_in(flow, SMC_LLC_LINK_LOST) &&
	     !smc_llc_nr_in(flow, SMC_LLC_LINK_LEAVING)))
		return;
	smc_llc_add_abandon(run);
	flow->wants_link = true;
}

/**
 * smc_llc_delete_start_next() - links are marked: have them deleted
 * @run: the call
 */
void smc_llc_delete_start_next(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 i;

	if (!flow->params.is_server) {
		if (flow->phase == SMC_LLC_UP)
			give_up_leaving(run);
		if (flow->phase == SMC_LLC_UP || flow->phase == SMC_LLC_SECOND_LINK)
			notify(run);
		return;
	}
	make_way(run);
	if (!smc_llc_may_begin(flow))
		return;
	i = smc_llc_link_in(flow, SMC_LLC_LINK_LOST);
	if (i != SMC_LLC_NO_LINK) {
		if (smc_llc_carrier(flow, i) != SMC_LLC_NO_LINK)
			begin(run, i);
		return;
	}
	if (flow->phase != SMC_LLC_UP)
		return;
	i = smc_llc_link_in(flow, SMC_LLC_LINK_LEAVING);
	if (i == SMC_LLC_NO_LINK) {
		/* LG-16; not before its turn, for until then it may be needed again */
		i = smc_llc_superfluous(flow);
		if (i == SMC_LLC_LINKS)
			return;
		flow->link[i].is_orderly = true;
		flow->link[i].reason = SMC_LLC_DELETE_ASYMMETRIC;
		flow->link[i].why = SMC_LLC_WHY_NO_LONGER_NEEDED;
	}
	begin(run, i);
}

/**
 * smc_llc_delete_request() - this side gives a link up
 * @run: the call
 * @ev: SMC_LLC_EV_REQ_DELETE_LINK
 *
 * The last one takes the group along. RFC 7609 3.5.4, 3.5.5.1.3, 3.5.5.1.4;
 * LGT-03, DELL-01, DELL-07.
 */
void smc_llc_delete_request(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[ev->link];

	if (lnk->state == SMC_LLC_LINK_FORMING || !ev->terminate.is_orderly ||
	    smc_llc_is_forming(flow)) {
		smc_llc_link_lost(run, ev->link, SMC_LLC_WHY_DELETED, ev->terminate.reason);
	} else if (!smc_llc_is_in_use(lnk) || flow->phase != SMC_LLC_UP) {
		return;
	} else if (smc_llc_nr_in_use(flow) < 2 && !smc_llc_add_may_succeed(flow)) {
		smc_llc_end_begin(run, ev->link, ev->terminate.reason, true,
				  SMC_LLC_WHY_DELETED);
	} else {
		leave(lnk, true, ev->terminate.reason, SMC_LLC_WHY_DELETED);
	}
}

/**
 * smc_llc_delete_rnic_removed() - the RNIC of a link is being removed
 * @run: the call
 * @link: its index
 *
 * What has not been pulled out can still tell the peer, who would have to find out
 * by timers otherwise: for an idle connection by TEST LINK. So the last link says
 * the end of the group before it goes, unless another one is to be confirmed: then it
 * works until that is in its place, or has failed and the end can be said. RFC 7609
 * 3.5.4; LGT-03, LGT-04.
 */
void smc_llc_delete_rnic_removed(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[link];

	if (flow->phase != SMC_LLC_UP || !smc_llc_is_in_use(lnk) || smc_llc_nr_in_use(flow) > 1) {
		smc_llc_link_lost(run, link, SMC_LLC_WHY_LINK_BROKEN, SMC_LLC_DELETE_LOST_PATH);
	} else if (smc_llc_add_may_succeed(flow)) {
		leave(lnk, false, SMC_LLC_DELETE_LOST_PATH, SMC_LLC_WHY_LINK_BROKEN);
	} else {
		smc_llc_end_begin(run, link, SMC_LLC_DELETE_LOST_PATH, false,
				  SMC_LLC_WHY_LINK_BROKEN);
	}
}

/* Does a link carry what is said of the end? One that is departing does. */
static bool is_working(const struct smc_llc_flow *flow, u8 link)
{
	return smc_llc_is_in_use(&flow->link[link]) || smc_llc_is_departing(flow, link);
}

/* A link for the end of the group, or SMC_LLC_NO_LINK; one that is to stay comes first. */
static u8 end_carrier(const struct smc_llc_flow *flow)
{
	u8 i, link = smc_llc_carrier(flow, SMC_LLC_NO_LINK);

	for (i = 0; i < SMC_LLC_LINKS && link == SMC_LLC_NO_LINK; i++)
		if (smc_llc_is_departing(flow, i))
			link = i;
	return link;
}

/**
 * smc_llc_end_begin() - end the group
 * @run: the call
 * @link: index of the link to say it on, if that works
 * @reason: for the peer, enum smc_llc_delete_link_reason
 * @is_orderly: the same
 * @why: for the owner
 *
 * RFC 7609 3.5.4; LGT-04, LGT-06.
 */
void smc_llc_end_begin(struct smc_llc_run *run, u8 link, u32 reason, bool is_orderly,
		       enum smc_llc_why why)
{
	struct smc_llc_flow *flow = run->flow;

	if (!is_working(flow, link))
		link = end_carrier(flow);
	flow->end_why = why;
	if (link == SMC_LLC_NO_LINK) {
		smc_llc_terminate(run, why);
		return;
	}
	flow->end_reason = reason;
	flow->end_is_orderly = is_orderly;
	flow->end_link = link;
	flow->phase = SMC_LLC_TERMINATING;
	/* Whatever else was under way is of no interest any more. */
	smc_llc_config_done(run);
	smc_llc_stop_timers(flow);
	flow->config_deadline = smc_llc_after(run, flow->params.timers.terminate);
	ask_delete_all(run, link, reason, is_orderly);
}

/**
 * smc_llc_end_over() - no link is left that is to stay
 * @run: the call
 *
 * A link that the client has given up may still work. It says the end of the group, so that
 * the server need not find out by timers. RFC 7609 3.5.4; LGT-03, LGT-05.
 */
void smc_llc_end_over(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 link = end_carrier(flow);

	if (link == SMC_LLC_NO_LINK)
		smc_llc_terminate(run, flow->end_why);
	else
		smc_llc_end_begin(run, link, flow->link[link].reason, true, flow->end_why);
}

/**
 * smc_llc_end_settle() - the link that says the end of the group may be lost
 * @run: the call
 *
 * Another one says it then, until none is left. RFC 7609 C.7.1; ERR-36, ERR-37,
 * AMB-53.
 */
void smc_llc_end_settle(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->phase == SMC_LLC_TERMINATING && !is_working(flow, flow->end_link))
		smc_llc_end_begin(run, flow->end_link, flow->end_reason, flow->end_is_orderly,
				  flow->end_why);
}
