// SPDX-License-Identifier: GPL-2.0
/*
 * The exchange that deletes a link, and the end of the group. RFC 7609 3.5.4, 3.5.5.1.3,
 * 3.5.5.1.4, C.7.1.
 *
 * Operation: a link to be deleted is marked: FAILED or, if it works, DELETE_WANTED. The server
 * deletes marked links one by one, each by a DELETE LINK exchange over another link. A client
 * sends a DELETE LINK of its own and waits for the server's request, which it cannot refuse. A
 * working link is cleared before anything is sent about it: its connections pause, and move
 * after the peer's TEST LINK reply or its time limit.
 *
 * Ownership: the server frees a link when the reply has arrived, the client when its reply was
 * sent. A DELETE LINK cannot be taken back, because the client may have freed its end, and a
 * link that is being cleared is not used again. If all other links fail before the reply, the
 * group ends even if the link still works.
 *
 * Errors: a DELETE LINK without reply means that its carrier failed, too; both are deleted over
 * a survivor. Without one the group ends. A DELETE LINK for the whole group overtakes all
 * exchanges and tries one link after the other.
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

	dl = &smc_llc_emit_send(run, carrier, SMC_LLC_DELETE_LINK, false,
				SMC_LLC_SENT_OTHER)->delete_link;
	dl->link_num = lnk->num;
	dl->is_orderly = lnk->is_orderly;
	dl->reason = lnk->reason;
}

/* Server: send the request; some clients need it several times. */
static void send_request(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	flow->config_tries++;
	flow->config_deadline = smc_llc_after(run, flow->params.timers.delete_link /
					      flow->quirks->delete_tries);
	send_delete(run, flow->config_link, flow->config_target);
}

/* Server: request the deletion of a link, DELL-03, DELL-04. */
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

/* Server: start the exchange for a marked link. A working one is cleared first. */
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

	dl = &smc_llc_emit_send(run, link, SMC_LLC_DELETE_LINK, true, cookie)->delete_link;
	dl->link_num = num;
	dl->reason = reason;
	return dl;
}

static void agree(struct smc_llc_run *run, u8 target)
{
	struct smc_llc_link *lnk = &run->flow->link[target];

	smc_llc_link_move(lnk, SMC_LLC_LINK_DELETE_REPLYING);
	reply(run, lnk->notice_link, lnk->num, 0,
	      SMC_LLC_SENT_DELETE_REPLY | (u64)target << SMC_LLC_SENT_SHIFT);
}

/* Client: time limit for clearing a link, so that the reply is in time. */
static int clear_ms(const struct smc_llc_flow *flow)
{
	return (flow->quirks->peer_waits_ms ?: flow->params.timers.delete_link) / 2;
}

/*
 * True if the link failed at the peer, which will not process what was sent there. Deployed
 * peers set the O flag for a failed link as well.
 */
static bool is_failure(const struct smc_llc_flow *flow, const struct smc_llc_delete_link *dl)
{
	return !dl->is_orderly ||
	       (flow->quirks->loses_in_order && dl->reason == SMC_LLC_DELETE_LOST_PATH);
}

static bool is_being_deleted(const struct smc_llc_link *lnk)
{
	return lnk->state == SMC_LLC_LINK_DELETING || lnk->state == SMC_LLC_LINK_DELETE_REPLYING;
}

/* Client: the server deletes a link, DELL-05, DELL-06. */
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
	if (lnk->is_unconfirmed) {
		/*
		 * It was never used, so nothing is cleared. Orderly: unlike a deployed client,
		 * this side sends nothing more about it.
		 */
		reply(run, link, dl->link_num, 0, SMC_LLC_SENT_OTHER)->is_orderly =
			flow->quirks->declines_late;
		smc_llc_link_destroy(run, target, true);
		return;
	}
	/* One exchange at a time: the server has dropped its ADD LINK. */
	if (smc_llc_is_adding(flow))
		smc_llc_add_abandon(run);
	if (smc_llc_is_forming(flow) && !target) {
		reply(run, link, dl->link_num, 0, SMC_LLC_SENT_OTHER);
		smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DELETED, 0);
		return;
	}
	if (is_being_deleted(lnk) && lnk->notice_link == link)
		return;
	if (smc_llc_is_in_use(lnk)) {
		lnk->why = SMC_LLC_WHY_PEER_DELETED;
		lnk->is_orderly = dl->is_orderly;
	}
	smc_llc_link_move(lnk, SMC_LLC_LINK_DELETING);
	lnk->notice_link = link;
	if (smc_llc_nr_in_use(flow))
		smc_llc_link_clear(run, target, clear_ms(flow));
	/* carried by the link itself: the server has no other one, so the group ends */
	if (is_failure(flow, dl) || link == target)
		smc_llc_link_cleared(run, target);
	/* otherwise when it is clear, see continue_cleared() */
	if (lnk->data != SMC_LLC_DATA_CLEARING)
		agree(run, target);
}

/* Mark a working link. It stays in use until it is deleted; a later reason overrides. */
static void mark_wanted(struct smc_llc_link *lnk, bool is_orderly, u32 reason,
			enum smc_llc_why why)
{
	smc_llc_link_move(lnk, SMC_LLC_LINK_DELETE_WANTED);
	lnk->is_orderly = is_orderly;
	lnk->reason = reason;
	lnk->why = why;
}

/*
 * Server: the client asks for the deletion of a link. If it failed there, this side stops using
 * it at once (ERR-46, AMB-69); the exchange has to wait. RFC 7609 3.5.5.1.4; DELL-08 to DELL-10,
 * SER-08.
 */
static void on_request_of_client(struct smc_llc_run *run, u8 link,
				 const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = smc_llc_link_by_num(flow, dl->link_num);
	struct smc_llc_link *lnk;

	if (target == SMC_LLC_NO_LINK) {
		/* ERR-48; a client that has deleted the link ignores the reply */
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
	if (lnk->is_unconfirmed ||
	    (is_failure(flow, dl) && smc_llc_carrier(flow, target) != SMC_LLC_NO_LINK)) {
		smc_llc_link_failed(run, target, SMC_LLC_WHY_PEER_DELETED, dl->reason);
	} else if (smc_llc_is_in_use(lnk)) {
		mark_wanted(lnk, dl->is_orderly, dl->reason, SMC_LLC_WHY_PEER_DELETED);
	}
}

/* True if the link was in use for longer than a reply may take. */
static bool is_lasting(const struct smc_llc_run *run, const struct smc_llc_link *lnk)
{
	return run->now - lnk->up_since >= (u64)max(run->flow->params.timers.reply, 0);
}

/* Both sides have given up a link. After a lasting one each RNIC gets a new chance. */
static void destroy_agreed(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;

	if (!flow->link[link].is_unconfirmed && is_lasting(run, &flow->link[link]))
		memset(flow->candidate, 0, sizeof(flow->candidate));
	smc_llc_link_destroy(run, link, true);
}

/* Server: both sides have given up a link. @is_orderly: the O flag of the client's reply. */
static void deleted(struct smc_llc_run *run, u8 target, bool is_orderly)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[target];
	bool was_unconfirmed = lnk->is_unconfirmed;
	/*
	 * No retry at once for a link that failed right after its start or was taken down by an
	 * operator. A program gives up a link only to have a better one, see smc_llc_outdated().
	 */
	bool is_urgent = lnk->reason == SMC_LLC_DELETE_PROGRAM ||
			 (is_lasting(run, lnk) && lnk->reason != SMC_LLC_DELETE_OPERATOR);

	destroy_agreed(run, target);
	/* a deployed client now declines what it had accepted, and is busy until then */
	if (was_unconfirmed && !is_orderly && flow->quirks->declines_late)
		flow->add_pause = smc_llc_after(run, flow->params.timers.reply);
	if (was_unconfirmed || !flow->has_rnics)
		return;
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
	/* "Unknown link" counts as a positive reply. */
	smc_llc_config_done(run);
	if (target != link)
		deleted(run, target, dl->is_orderly);
	else
		smc_llc_link_failed(run, target, SMC_LLC_WHY_PEER_DELETED, dl->reason);
}

/* Client: the server does not know the link, AMB-64. */
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

static void send_delete_all(struct smc_llc_run *run, u8 link, u32 reason, bool is_orderly)
{
	struct smc_llc_delete_link *dl;

	dl = &smc_llc_emit_send(run, link, SMC_LLC_DELETE_LINK, false,
				SMC_LLC_SENT_DELETE_ALL)->delete_link;
	dl->is_all = true;
	dl->is_orderly = is_orderly;
	dl->reason = reason;
}

/* The peer ends the whole group; this overtakes all exchanges, AMB-67. */
static void on_delete_all(struct smc_llc_run *run, u8 link, const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;

	if (smc_llc_is_forming(flow)) {
		if (flow->params.is_server)
			send_delete_all(run, link, dl->reason, dl->is_orderly);
		smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DELETED, 0);
		return;
	}
	if (!flow->params.is_server) {
		/* LGT-05; also the answer to a request of this side */
		smc_llc_terminate(run, flow->phase == SMC_LLC_TERMINATING ? flow->end_why :
							SMC_LLC_WHY_PEER_DELETED);
		return;
	}
	/* A request that crossed ours is the answer to it. */
	if (flow->phase == SMC_LLC_UP)
		smc_llc_end_begin(run, link, dl->reason, dl->is_orderly,
				  SMC_LLC_WHY_PEER_DELETED);
}

void smc_llc_delete_msg(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	const struct smc_llc_delete_link *dl = &msg->delete_link;
	struct smc_llc_flow *flow = run->flow;

	if (!msg->is_reply && dl->is_all) {
		on_delete_all(run, link, dl);
		return;
	}
	/* Ignore late messages; DELETE LINK for all needs no reply. */
	if (flow->phase == SMC_LLC_TERMINATING)
		return;
	if (dl->is_all || !smc_llc_is_confirmed(flow))
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
	else if (flow->params.is_server)
		(msg->is_reply ? on_reply_of_client : on_request_of_client)(run, link, dl);
	else
		(msg->is_reply ? on_reply_of_server : on_request_of_server)(run, link, dl);
}

/*
 * Client: the reply about a link was sent, or lost: then the server repeats its request and gets
 * "unknown link".
 */
void smc_llc_delete_sent(struct smc_llc_run *run, u8 target)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->link[target].state != SMC_LLC_LINK_DELETE_REPLYING ||
	    flow->phase == SMC_LLC_TERMINATING)
		return;
	/* The only link: the group ends next. */
	if (flow->link[target].notice_link == target) {
		smc_llc_link_move(&flow->link[target], SMC_LLC_LINK_FAILED);
		flow->link[target].is_orderly = false;
		if (flow->phase == SMC_LLC_UP)
			flow->end_why = SMC_LLC_WHY_PEER_DELETED;
		return;
	}
	destroy_agreed(run, target);
}

/*
 * Server: the reply is overdue. Repeat the request if the client may have dropped it. Otherwise its
 * carrier is lost, too. RFC 7609 C.7.1; ERR-25, ERR-38.
 */
void smc_llc_delete_timeout(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->config_tries < flow->quirks->delete_tries)
		send_request(run);
	else if (smc_llc_is_forming(flow))
		smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_DELETE_LINK_TIMEOUT, 0);
	else
		smc_llc_link_failed(run, flow->config_link, SMC_LLC_WHY_DELETE_LINK_TIMEOUT,
				    SMC_LLC_DELETE_LOST_PATH);
}

/* End the clearing of links whose time limit has passed. */
static void clear_timer(struct smc_llc_run *run)
{
	const struct smc_llc_link *lnk = run->flow->link;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++, lnk++)
		if (run->now >= lnk->deadline)
			smc_llc_link_cleared(run, i);
}

/*
 * If the server does not delete a reported link in time, the link that carried the report is lost,
 * too. ADD LINK exchanges come first (SER-08), up to smc_llc_patience_ms(). RFC 7609 C.7.1; ERR-31,
 * ERR-36.
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
		smc_llc_link_failed(run, lnk->notice_link, SMC_LLC_WHY_DELETE_LINK_TIMEOUT,
				    SMC_LLC_DELETE_LOST_PATH);
	}
}

/* Send what had to wait until a link was clear. */
static void continue_cleared(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 i;

	/* a deployed client may be within a CONFIRM RKEY exchange */
	if (flow->config == SMC_LLC_CONFIG_CLEAR_LINK &&
	    flow->link[flow->config_target].data != SMC_LLC_DATA_CLEARING &&
	    flow->remote.state == SMC_LLC_REMOTE_NONE)
		request(run, flow->config_target);
	for (i = 0; i < SMC_LLC_LINKS && !flow->params.is_server; i++)
		if (flow->link[i].state == SMC_LLC_LINK_DELETING &&
		    flow->link[i].data != SMC_LLC_DATA_CLEARING)
			agree(run, i);
}

/* Continue with clear links, end exchanges without a carrier. */
void smc_llc_delete_settle(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk;
	u8 i;

	continue_cleared(run);
	if (flow->config == SMC_LLC_CONFIG_DELETE_LINK &&
	    smc_llc_is_unusable(flow, flow->config_link)) {
		lnk = &flow->link[flow->config_target];
		if (lnk->state == SMC_LLC_LINK_DELETING)
			smc_llc_link_move(lnk, SMC_LLC_LINK_FAILED);
		smc_llc_config_done(run);
	}
	if (flow->params.is_server)
		return;
	/* A lost link never reports whether a reply was sent. */
	for (i = 0, lnk = flow->link; i < SMC_LLC_LINKS; i++, lnk++)
		if (is_being_deleted(lnk) && smc_llc_is_unusable(flow, lnk->notice_link))
			destroy_agreed(run, i);
}

/* Client: report lost links to the server. */
static void report_lost(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk;
	u8 i, carrier;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		lnk = &flow->link[i];
		if (!smc_llc_is_failed(lnk) || lnk->data == SMC_LLC_DATA_CLEARING ||
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

/* Client: give up links that no exchange needs any more. */
static void give_up_wanted(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		lnk = &flow->link[i];
		if (lnk->state != SMC_LLC_LINK_DELETE_WANTED || has_exchange(flow, i))
			continue;
		if (smc_llc_nr_in_use(flow) < 2) {
			/* LGT-03: it has become the last one. */
			smc_llc_end_begin(run, i, lnk->reason, lnk->is_orderly, lnk->why);
			return;
		}
		smc_llc_link_move(lnk, SMC_LLC_LINK_FAILED);
		smc_llc_link_clear(run, i, flow->params.timers.delete_link);
	}
}

/*
 * Server: marked links do not wait for a slow RNIC. Drop an attempt in CREATE, which the client
 * does not know of, and retry it later.
 */
static void drop_slow_attempt(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->phase != SMC_LLC_UP || flow->config != SMC_LLC_CONFIG_CREATE ||
	    (!smc_llc_nr_in(flow, SMC_LLC_LINK_FAILED) &&
	     !smc_llc_nr_in(flow, SMC_LLC_LINK_DELETE_WANTED)))
		return;
	smc_llc_add_abandon(run);
	smc_llc_want_link(flow);
}

/*
 * Mark a link that works and need not stay, one after the other: the next one waits until another
 * link carries its data. Decided late, because it may be needed again until then. The server alone
 * deletes a link for LG-16, and of those with an outdated MTU what it knows itself.
 */
static void mark_dispensable(struct smc_llc_flow *flow)
{
	u8 i = flow->params.is_server ? smc_llc_superfluous(flow) : SMC_LLC_NO_LINK;
	u8 outdated = smc_llc_outdated(flow);

	if (flow->phase != SMC_LLC_UP || !smc_llc_may_begin(flow) ||
	    smc_llc_is_any_ending(flow) || smc_llc_nr_in(flow, SMC_LLC_LINK_DELETE_WANTED))
		return;
	if (i != SMC_LLC_NO_LINK)
		mark_wanted(&flow->link[i], true, SMC_LLC_DELETE_ASYMMETRIC,
			    SMC_LLC_WHY_NO_LONGER_NEEDED);
	else if (outdated != SMC_LLC_NO_LINK)
		mark_wanted(&flow->link[outdated], true, SMC_LLC_DELETE_PROGRAM,
			    SMC_LLC_WHY_MTU);
}

void smc_llc_delete_start_next(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 i;

	mark_dispensable(flow);
	if (!flow->params.is_server) {
		if (flow->phase == SMC_LLC_UP)
			give_up_wanted(run);
		if (flow->phase == SMC_LLC_UP || flow->phase == SMC_LLC_SECOND_LINK)
			report_lost(run);
		return;
	}
	drop_slow_attempt(run);
	if (!smc_llc_may_begin(flow))
		return;
	i = smc_llc_link_in(flow, SMC_LLC_LINK_FAILED);
	if (i != SMC_LLC_NO_LINK) {
		if (smc_llc_carrier(flow, i) != SMC_LLC_NO_LINK)
			begin(run, i);
		return;
	}
	if (flow->phase != SMC_LLC_UP)
		return;
	i = smc_llc_link_in(flow, SMC_LLC_LINK_DELETE_WANTED);
	if (i != SMC_LLC_NO_LINK)
		begin(run, i);
}

/*
 * This side gives up a link; the last one ends the group. RFC 7609 3.5.4, 3.5.5.1.3, 3.5.5.1.4;
 * LGT-03, DELL-01, DELL-07.
 */
void smc_llc_delete_request(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[ev->link];

	if (lnk->state == SMC_LLC_LINK_FORMING || !ev->terminate.is_orderly ||
	    smc_llc_is_forming(flow)) {
		smc_llc_link_failed(run, ev->link, SMC_LLC_WHY_DELETED, ev->terminate.reason);
	} else if (!smc_llc_is_in_use(lnk) || flow->phase != SMC_LLC_UP) {
		return;
	} else if (smc_llc_nr_in_use(flow) < 2 && !smc_llc_add_may_succeed(flow)) {
		smc_llc_end_begin(run, ev->link, ev->terminate.reason, true,
				  SMC_LLC_WHY_DELETED);
	} else {
		mark_wanted(lnk, true, ev->terminate.reason, SMC_LLC_WHY_DELETED);
	}
}

/*
 * A working RNIC that is being removed informs the peer, which would need a timer otherwise. The
 * last link announces the end of the group, unless another link only needs CONFIRM LINK; then it
 * stays until that has come up or failed. RFC 7609 3.5.4; LGT-03, LGT-04.
 */
void smc_llc_delete_rnic_removed(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[link];

	if (flow->phase != SMC_LLC_UP || !smc_llc_is_in_use(lnk) || smc_llc_nr_in_use(flow) > 1) {
		smc_llc_link_failed(run, link, SMC_LLC_WHY_LINK_BROKEN, SMC_LLC_DELETE_LOST_PATH);
	} else if (smc_llc_add_may_succeed(flow)) {
		mark_wanted(lnk, false, SMC_LLC_DELETE_LOST_PATH, SMC_LLC_WHY_LINK_BROKEN);
	} else {
		smc_llc_end_begin(run, link, SMC_LLC_DELETE_LOST_PATH, false,
				  SMC_LLC_WHY_LINK_BROKEN);
	}
}

/* True if a link can carry DELETE LINK for all; one that the client deletes can. */
static bool is_working(const struct smc_llc_flow *flow, u8 link)
{
	return smc_llc_is_in_use(&flow->link[link]) || smc_llc_is_deleting(flow, link);
}

/* Link for the end of the group; one that the client deletes is second choice. */
static u8 end_carrier(const struct smc_llc_flow *flow)
{
	u8 i, link = smc_llc_carrier(flow, SMC_LLC_NO_LINK);

	for (i = 0; i < SMC_LLC_LINKS && link == SMC_LLC_NO_LINK; i++)
		if (smc_llc_is_deleting(flow, i))
			link = i;
	return link;
}

/* End the group over the preferred link. RFC 7609 3.5.4; LGT-04, LGT-06. */
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
	smc_llc_config_done(run);
	smc_llc_stop_timers(flow);
	flow->config_deadline = smc_llc_after(run, flow->params.timers.terminate);
	send_delete_all(run, link, reason, is_orderly);
}

/*
 * No link stays. One that the client deletes announces the end, which saves the server a
 * timeout. RFC 7609 3.5.4; LGT-03, LGT-05.
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

/*
 * Send DELETE LINK for all on another link if its carrier is lost. RFC 7609 C.7.1; ERR-36, ERR-37,
 * AMB-53.
 */
void smc_llc_end_settle(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (!is_working(flow, flow->end_link))
		smc_llc_end_begin(run, flow->end_link, flow->end_reason, flow->end_is_orderly,
				  flow->end_why);
}
