// SPDX-License-Identifier: GPL-2.0
/*
 * The exchange that adds a link: ADD LINK, ADD LINK CONTINUATION, CONFIRM LINK. RFC 7609
 * 3.5.1.6, 3.5.5.1.1, 3.5.5.1.2, 3.5.5.2.3, C.7.1.
 *
 * Operation: the server creates a queue pair and offers it. The client creates and connects its
 * own and accepts, or it declines. The server connects. Both announce the keys of their RMBs on
 * the new link, two at a time; the server requests until neither has more. CONFIRM LINK on the
 * new link is the end. An ADD LINK of the client is a notice that makes the server try. In
 * version 2 a long ADD LINK carries all keys, which are kept until the new link exists, and the
 * notice is REQ ADD LINK, which has a reply (protocol.md).
 * In first contact a client waits for an offer. A server that cannot add a link offers a bare
 * queue pair and deletes it if the client accepts. Without an offer a deployed client times out
 * and continues with one link; any other client is declined (AMB-28). In that dialect a missing
 * message of the exchange costs no side more than the new link.
 *
 * Ownership: the exchange owns the new link until it is confirmed. DELETE LINK removes it if the
 * peer may know it, DESTROY_LINK alone otherwise.
 *
 * Errors: a new link that fails is marked FAILED, see smc_llc_delete.c. If the carrying link
 * fails, both sides drop the exchange and the server retries on another link. A timeout on the
 * first link in first contact fails the group.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "proto/smc_llc_add.h"
#include "proto/smc_llc_keys.h"
#include "proto/smc_llc_links.h"

bool smc_llc_is_adding(const struct smc_llc_flow *flow)
{
	return flow->config != SMC_LLC_CONFIG_NONE &&
	       flow->config != SMC_LLC_CONFIG_CLEAR_LINK &&
	       flow->config != SMC_LLC_CONFIG_DELETE_LINK;
}

/* True if a new link only needs CONFIRM LINK, and no other link. */
bool smc_llc_add_may_succeed(const struct smc_llc_flow *flow)
{
	return flow->config == SMC_LLC_CONFIG_CONFIRM &&
	       flow->link[flow->config_target].state == SMC_LLC_LINK_FORMING;
}

static struct smc_llc_link *new_link(const struct smc_llc_run *run)
{
	return &run->flow->link[run->flow->config_target];
}

/* Time limit for a message of the peer, in ms. */
static u32 reply_ms(const struct smc_llc_flow *flow)
{
	return smc_llc_is_forming(flow) ? flow->params.timers.first_reply :
					  flow->params.timers.reply;
}

static void await_msg(struct smc_llc_run *run, enum smc_llc_config config)
{
	run->flow->config = config;
	run->flow->config_deadline = smc_llc_after(run, reply_ms(run->flow));
}

static void enter_config(struct smc_llc_run *run, enum smc_llc_config config)
{
	run->flow->config = config;
	run->flow->config_deadline = SMC_LLC_NO_DEADLINE;
}

/* Work that the peer waits for. A slow RNIC costs the new link, not the working one. */
static void enter_config_timed(struct smc_llc_run *run, enum smc_llc_config config)
{
	u32 ms = reply_ms(run->flow), most = run->flow->quirks->peer_waits_ms;

	if (most)
		ms = min(ms, most);
	run->flow->config = config;
	run->flow->config_deadline = smc_llc_after(run, ms / 4 * 3);
}

/*
 * Server: create the queue pair to offer. In first contact the client waits for the offer. A
 * usable link gets half of that time, a bare one, which may follow it, a quarter. Later only
 * RKEY exchanges of this side wait for the end of this exchange.
 */
static void create_in_time(struct smc_llc_run *run)
{
	const struct smc_llc_timers *timers = &run->flow->params.timers;
	struct smc_llc_flow *flow = run->flow;
	u32 ms;

	if (smc_llc_is_forming(flow)) {
		ms = flow->quirks->needs_add_link ? timers->add_link : timers->add_link_deployed;
		ms /= new_link(run)->is_bare ? 4 : 2;
	} else {
		ms = reply_ms(flow) / 4 * 3;
	}
	flow->config = SMC_LLC_CONFIG_CREATE;
	flow->config_deadline = smc_llc_after(run, ms);
}

static struct smc_llc_action *create(struct smc_llc_run *run, const struct smc_llc_end *rnic)
{
	struct smc_llc_action *act;

	new_link(run)->local = *rnic;
	new_link(run)->is_unconfirmed = true;
	if (run->flow->params.is_server)
		create_in_time(run);
	else
		enter_config_timed(run, SMC_LLC_CONFIG_CREATE);
	act = smc_llc_emit(run, SMC_LLC_ACT_CREATE_LINK, run->flow->config_target);
	memcpy(act->end.mac, rnic->mac, sizeof(act->end.mac));
	memcpy(act->end.gid, rnic->gid, sizeof(act->end.gid));
	return act;
}

/* Server, first contact: create an offer that never becomes a usable link. */
static void create_bare(struct smc_llc_run *run)
{
	new_link(run)->is_bare = true;
	create(run, &run->flow->link[0].local)->is_bare = true;
}

/* Connect to the peer's end, with the smaller of both MTUs, ADDL-17. */
static void prepare(struct smc_llc_run *run, const struct smc_llc_end *peer)
{
	struct smc_llc_link *lnk = new_link(run);
	struct smc_llc_action *act;

	lnk->peer = *peer;
	/* a client keeps the deadline of CREATE: the server has waited since its offer */
	if (run->flow->params.is_server)
		enter_config_timed(run, SMC_LLC_CONFIG_PREPARE);
	run->flow->config = SMC_LLC_CONFIG_PREPARE;
	act = smc_llc_emit(run, SMC_LLC_ACT_PREPARE_LINK, run->flow->config_target);
	act->end = *peer;
	act->end.mtu = min(peer->mtu, lnk->local.mtu);
}

/*
 * Count an attempt. Each costs a queue pair with all RMBs mapped, and a link that was up leaves
 * memory in its group. The peer can cause them: a client by requests and refusals, a server by
 * offers that it deletes, both by ending links. SMC_LLC_ATTEMPTS cause a pause for both roles;
 * what was wanted meanwhile is tried afterwards.
 */
static void note_attempt(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (run->now >= flow->attempts_end) {
		flow->attempts_end = smc_llc_after(run, flow->params.timers.reply);
		flow->nr_attempts = 0;
	}
	if (++flow->nr_attempts >= SMC_LLC_ATTEMPTS)
		flow->backoff_end = max(flow->backoff_end, flow->attempts_end);
}

/* Server: answer a pending REQ ADD LINK: no link is available. */
static void reply_no_link(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->req_link != SMC_LLC_NO_LINK && !smc_llc_is_unusable(flow, flow->req_link))
		smc_llc_emit_send(run, flow->req_link, SMC_LLC_REQ_ADD_LINK, true,
				  SMC_LLC_SENT_OTHER);
	flow->req_link = SMC_LLC_NO_LINK;
}

/* Server: the new link gets a free index and a number that no other link has. */
static void begin_link(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	flow->config_target = smc_llc_link_in(flow, SMC_LLC_LINK_FREE);
	flow->last_num = smc_llc_next_link_num(flow);
	smc_llc_link_make(flow, flow->config_target, flow->last_num);
}

static bool pick_any_offer(struct smc_llc_flow *flow, struct smc_llc_end *rnic)
{
	if (smc_llc_pick_offer(flow, rnic))
		return true;
	/* The client may accept now what it refused before. */
	smc_llc_readmit_candidates(flow);
	return smc_llc_pick_offer(flow, rnic);
}

/*
 * Server: try to add a link; an index is free. A client that asked gets a negative answer if no
 * link can be added. In first contact it gets the offer of a bare queue pair. RFC 7609 3.5.1.6;
 * SL-01 to SL-03, ADDL-05, AMB-28.
 */
void smc_llc_add_begin(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_end rnic;
	bool has_rnic;

	memset(&flow->add, 0, sizeof(flow->add));
	flow->next_add = SMC_LLC_NO_DEADLINE;
	has_rnic = pick_any_offer(flow, &rnic);
	if (!has_rnic && !smc_llc_is_forming(flow)) {
		reply_no_link(run);
		return;
	}
	flow->config_link = smc_llc_carrier(flow, SMC_LLC_NO_LINK);
	note_attempt(run);
	begin_link(run);
	if (has_rnic)
		create(run, &rnic);
	else
		create_bare(run);
}

/* Client: decline the offer; ends first contact, SL-11, ERR-11. */
static void reject(struct smc_llc_run *run, u8 reason)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_add_link *al;

	al = &smc_llc_emit_send(run, flow->config_link, SMC_LLC_ADD_LINK, true,
				SMC_LLC_SENT_OTHER)->add_link;
	al->link_num = flow->add.offer.link_num;
	al->is_rejected = true;
	al->reason = reason;
	smc_llc_commit(flow, SMC_LLC_COMMIT_FINAL);
	smc_llc_config_done(run);
	smc_llc_keys_wait(run);
}

static void reject_created(struct smc_llc_run *run)
{
	smc_llc_link_destroy(run, run->flow->config_target, true);
	reject(run, SMC_LLC_ADD_LINK_NO_PATH);
}

static void keep_pairs(struct smc_llc_run *run)
{
	if (run->flow->add.offer.nr_pairs)
		smc_llc_emit(run, SMC_LLC_ACT_KEEP_PAIRS, run->flow->config_link);
}

/*
 * Client: accept or decline the offer, RFC 7609 3.5.1.6.1. An offer of servers of Linux 4.17 to
 * 5.7 has zeros for MTU, queue pair and number, which is that of their link (protocol.md).
 */
static void answer_offer(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	const struct smc_llc_add_link *offer = &flow->add.offer;
	u8 target = smc_llc_link_in(flow, SMC_LLC_LINK_FREE);
	struct smc_llc_end rnic;
	bool has_rnic = smc_llc_pick_answer(flow, &rnic);

	smc_llc_count_offer(flow, &offer->end);
	if (!smc_nego_mtu_is_valid(offer->end.mtu)) {
		/* ERR-44 */
		reject(run, SMC_LLC_ADD_LINK_BAD_MTU);
	} else if (!offer->end.qpn || target == SMC_LLC_NO_LINK || !has_rnic ||
		   smc_llc_link_by_num(flow, offer->link_num) != SMC_LLC_NO_LINK ||
		   run->now < flow->backoff_end) {
		reject(run, SMC_LLC_ADD_LINK_NO_PATH);
	} else {
		note_attempt(run);
		flow->config_target = target;
		smc_llc_link_make(flow, target, offer->link_num);
		create(run, &rnic);
	}
}

/* Drop the exchange. The peer will send nothing more about the link. */
void smc_llc_add_abandon(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->config != SMC_LLC_CONFIG_HELD)
		smc_llc_link_destroy(run, flow->config_target, false);
	smc_llc_config_done(run);
}

static void on_offer(struct smc_llc_run *run, u8 link, const struct smc_llc_add_link *al)
{
	struct smc_llc_flow *flow = run->flow;

	if (!smc_llc_is_confirmed(flow)) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	/* The server has dropped its last offer, ERR-29. */
	if (smc_llc_is_adding(flow))
		smc_llc_add_abandon(run);
	/* SER-07: the offer answers a notice of this side. */
	flow->next_add = flow->next_add ?: SMC_LLC_NO_DEADLINE;
	memset(&flow->add, 0, sizeof(flow->add));
	flow->add.offer = *al;
	flow->config_link = link;
	flow->config_target = SMC_LLC_NO_LINK;
	if (flow->phase == SMC_LLC_WAIT_ADD_LINK)
		flow->phase = SMC_LLC_SECOND_LINK;
	if (flow->phase == SMC_LLC_WAIT_CONFIRM_SENT) {
		reject(run, SMC_LLC_ADD_LINK_NO_PATH);
		return;
	}
	keep_pairs(run);
	enter_config(run, SMC_LLC_CONFIG_HELD);
	smc_llc_keys_wait(run);
}

static void on_notice(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;

	if (!smc_llc_is_confirmed(flow)) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	/* A new RNIC of the client may fit what it refused before. */
	smc_llc_reset_retry(flow);
	/* ERR-59, ADDL-06 to ADDL-09; SER-07: crossed with an offer */
	if (!smc_llc_is_adding(flow))
		smc_llc_want_link(flow);
}

static void accepted(struct smc_llc_run *run, const struct smc_llc_add_link *al)
{
	run->flow->add.offer = *al;
	keep_pairs(run);
	prepare(run, &al->end);
}

/* The client declined the offer, SL-12. */
static void on_rejection(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_end rnic;

	smc_llc_candidate(flow, &new_link(run)->local)->last = SMC_LLC_OFFER_REFUSED;
	smc_llc_link_destroy(run, flow->config_target, true);
	smc_llc_arm_retry(run, false);
	if (flow->has_rnics && smc_llc_pick_offer(flow, &rnic))
		flow->next_add = 0;
}

static void on_acceptance(struct smc_llc_run *run, const struct smc_llc_add_link *al)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = new_link(run);
	bool is_valid = al->link_num == lnk->num && al->end.qpn &&
			smc_nego_mtu_is_valid(al->end.mtu) &&
			!smc_llc_is_parallel(flow, &lnk->local, &al->end);
	bool has_failed = is_valid && lnk->state != SMC_LLC_LINK_FORMING;

	if (!is_valid)
		/* ERR-45 */
		smc_llc_link_failed(run, flow->config_target, SMC_LLC_WHY_OUT_OF_SYNC,
				    SMC_LLC_DELETE_PROTOCOL);
	else if (!flow->has_rnics || lnk->is_bare ||
		 !smc_llc_is_allowed(flow, &lnk->local, &al->end))
		/* ADDL-04: bare or not allowed */
		smc_llc_link_failed(run, flow->config_target, SMC_LLC_WHY_NO_LONGER_NEEDED,
				    SMC_LLC_DELETE_LOST_PATH);
	else if (lnk->state == SMC_LLC_LINK_FORMING)
		/* SL-13 */
		accepted(run, al);
	if (lnk->state != SMC_LLC_LINK_FORMING)
		smc_llc_arm_retry(run, has_failed);
}

/* Index of an offered link that the client may have accepted. AMB-40: @num may be 0. */
static u8 accepted_link(const struct smc_llc_flow *flow, u8 num)
{
	u8 i;

	/* nothing is offered yet */
	if (flow->config == SMC_LLC_CONFIG_CREATE)
		return SMC_LLC_NO_LINK;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].is_unconfirmed && (!num || flow->link[i].num == num))
			return i;
	return SMC_LLC_NO_LINK;
}

/*
 * A deployed client finally declines a link that it accepted but that did not come up
 * (protocol.md). It sends nothing more about it, so this replaces the DELETE LINK reply.
 */
static void on_late_rejection(struct smc_llc_run *run, u8 link, u8 num)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = accepted_link(flow, num);

	if (target != SMC_LLC_NO_LINK) {
		smc_llc_emit(run, SMC_LLC_ACT_STALE, link);
		if (flow->config_target == target)
			smc_llc_config_done(run);
		if (flow->link[target].state == SMC_LLC_LINK_FORMING)
			smc_llc_arm_retry(run, true);
		smc_llc_link_destroy(run, target, true);
	} else if (num || flow->add_pause == SMC_LLC_NO_DEADLINE) {
		/* without a number it can only be for the last offer */
		smc_llc_stale(run, link, num ?: flow->last_num);
	}
	flow->add_pause = SMC_LLC_NO_DEADLINE;
}

/*
 * True if an answer is for the offer under way, rather than late. AMB-40: a rejection may lack the
 * number. Deployed servers do not compare it, so another one costs the new link only.
 */
static bool is_for_offer(struct smc_llc_run *run, const struct smc_llc_add_link *al)
{
	if (al->link_num == new_link(run)->num || (!al->link_num && al->is_rejected))
		return true;
	return !run->flow->quirks->needs_add_link &&
	       !smc_llc_has_ended(run->flow, al->link_num);
}

static void on_answer(struct smc_llc_run *run, u8 link, const struct smc_llc_add_link *al)
{
	struct smc_llc_flow *flow = run->flow;
	bool is_awaited = flow->config == SMC_LLC_CONFIG_ADD_LINK && link == flow->config_link &&
			  is_for_offer(run, al);

	if (!is_awaited && al->is_rejected) {
		on_late_rejection(run, link, al->link_num);
		return;
	}
	if (!is_awaited) {
		smc_llc_stale(run, link, al->link_num);
		return;
	}
	smc_llc_commit(flow, SMC_LLC_COMMIT_FINAL);
	smc_llc_config_done(run);
	if (al->is_rejected)
		on_rejection(run);
	else
		on_acceptance(run, al);
}

void smc_llc_add_msg(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	if (run->flow->params.is_server) {
		if (msg->is_reply)
			on_answer(run, link, &msg->add_link);
		else
			on_notice(run, link);
	} else if (msg->is_reply) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
	} else {
		on_offer(run, link, &msg->add_link);
	}
}

/*
 * REQ ADD LINK is the notice of version 2. The answer is an offer, even one in flight, or the reply
 * that there is none (protocol.md). After that reply the client asks again when it gets another
 * RNIC or its retry timer expires.
 */
void smc_llc_add_req(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_flow *flow = run->flow;

	if (msg->is_reply == flow->params.is_server || !smc_llc_is_confirmed(flow)) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	if (msg->is_reply)
		return;
	smc_llc_reset_retry(flow);
	/* the client does not know yet of an attempt in CREATE, and it may fail */
	if (flow->config == SMC_LLC_CONFIG_CREATE || !smc_llc_is_adding(flow))
		flow->req_link = link;
	if (smc_llc_is_adding(flow))
		return;
	if (flow->max_links > 1)
		flow->next_add = 0;
	else
		reply_no_link(run);
}

static void send_add_link(struct smc_llc_run *run, bool is_reply)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_action *act;

	act = smc_llc_emit(run, SMC_LLC_ACT_SEND, flow->config_link);
	act->cookie = SMC_LLC_SENT_ADD_LINK;
	act->target = flow->config_target;
	act->has_pairs = flow->params.has_long_add_link;
	act->msg.type = SMC_LLC_ADD_LINK;
	act->msg.is_reply = is_reply;
	act->msg.add_link.end = new_link(run)->local;
	act->msg.add_link.link_num = new_link(run)->num;
	act->msg.add_link.is_direct = flow->add.is_direct;
}

/* Server: nothing to offer. A client that needs an offer would time out, AMB-28. */
static void no_offer(struct smc_llc_run *run)
{
	if (smc_llc_is_forming(run->flow) && run->flow->quirks->needs_add_link)
		smc_llc_fail_local(run, SMC_LLC_WHY_NO_SPARE, SMC_DECLINE_MEM);
	else
		smc_llc_arm_retry(run, true);
}

/*
 * The RNIC failed, or did not answer in time; the index stays taken until it does. A client
 * declines the offer. A server offers a bare queue pair in first contact, and another RNIC next.
 */
static void not_created(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	bool was_bare = new_link(run)->is_bare;
	struct smc_llc_end rnic;

	if (!flow->params.is_server) {
		reject_created(run);
		smc_llc_arm_retry(run, true);
		return;
	}
	smc_llc_candidate(flow, &new_link(run)->local)->last = SMC_LLC_OFFER_REFUSED;
	smc_llc_link_destroy(run, flow->config_target, false);
	if (smc_llc_is_forming(flow) && !was_bare) {
		begin_link(run);
		create_bare(run);
		return;
	}
	smc_llc_config_done(run);
	if (flow->has_rnics && smc_llc_pick_offer(flow, &rnic))
		flow->next_add = 0;
	if (flow->next_add)
		reply_no_link(run);
	no_offer(run);
}

void smc_llc_add_created(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->config != SMC_LLC_CONFIG_CREATE || flow->config_target != ev->link)
		return;
	if (!ev->ok) {
		not_created(run);
		return;
	}
	new_link(run)->local = ev->created.end;
	flow->add.nr_own = ev->created.nr_rmbs;
	flow->add.is_direct = ev->created.is_direct;
	if (!flow->params.is_server) {
		prepare(run, &flow->add.offer.end);
		return;
	}
	/* SER-05: CONFIRM RKEY CONTINUATION of the client comes first */
	if (flow->remote.state == SMC_LLC_REMOTE_CONFIRM_CONT) {
		smc_llc_add_abandon(run);
		smc_llc_want_link(flow);
		return;
	}
	flow->req_link = SMC_LLC_NO_LINK;
	smc_llc_count_offer(flow, &new_link(run)->local);
	send_add_link(run, false);
	await_msg(run, SMC_LLC_CONFIG_ADD_LINK);
}

/* Announce the next RMBs, RKEY-20, ADDL-11 to ADDL-15. */
static void send_cont(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 left = flow->add.nr_own - flow->add.next_own;
	struct smc_llc_action *act;

	act = smc_llc_emit(run, SMC_LLC_ACT_SEND, flow->config_link);
	act->cookie = SMC_LLC_SENT_OTHER;
	act->target = flow->config_target;
	act->first_rmb = flow->add.next_own;
	act->msg.type = SMC_LLC_ADD_LINK_CONT;
	act->msg.is_reply = !flow->params.is_server;
	act->msg.add_link_cont.link_num = new_link(run)->num;
	act->msg.add_link_cont.nr_rtokens = left;
	flow->add.next_own += min_t(u8, left, SMC_LLC_CONT_PAIRS);
}

static void store_kept_pairs(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_action *act;

	enter_config(run, SMC_LLC_CONFIG_STORE);
	act = smc_llc_emit(run, SMC_LLC_ACT_STORE_PAIRS, flow->config_link);
	act->target = flow->config_target;
	act->msg.type = SMC_LLC_ADD_LINK;
	act->msg.add_link = flow->add.offer;
}

void smc_llc_add_prepared(struct smc_llc_run *run, u8 link, bool ok)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->config != SMC_LLC_CONFIG_PREPARE || flow->config_target != link)
		return;
	if (!ok) {
		smc_llc_link_failed(run, link, SMC_LLC_WHY_NOT_PREPARED,
				    SMC_LLC_DELETE_LOST_PATH);
		return;
	}
	if (flow->params.has_long_add_link) {
		store_kept_pairs(run);
		return;
	}
	if (flow->params.is_server)
		send_cont(run);
	else
		send_add_link(run, true);
	await_msg(run, SMC_LLC_CONFIG_ADD_CONT);
}

/*
 * Client: true if it has not answered the offer yet. A deployed server took the late answer to
 * its previous offer for the answer to this one.
 */
static bool is_premature(const struct smc_llc_flow *flow, u8 num)
{
	return !flow->params.is_server && smc_llc_is_adding(flow) &&
	       flow->config < SMC_LLC_CONFIG_ADD_CONT && num == flow->add.offer.link_num;
}

/*
 * The first ADD LINK CONTINUATION has the number of RMBs, later ones count down. RFC 7609 A.3.3,
 * C.7.1; ERR-47, AMB-24.
 */
void smc_llc_add_cont(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	const struct smc_llc_add_link_cont *cont = &msg->add_link_cont;
	u8 here = min_t(u8, cont->nr_rtokens, SMC_LLC_CONT_PAIRS);
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_add *add = &flow->add;
	struct smc_llc_action *act;

	if (is_premature(flow, cont->link_num)) {
		smc_llc_emit(run, SMC_LLC_ACT_STALE, link);
		return;
	}
	if (flow->config != SMC_LLC_CONFIG_ADD_CONT || link != flow->config_link ||
	    msg->is_reply != flow->params.is_server || cont->link_num != new_link(run)->num) {
		smc_llc_stale(run, link, cont->link_num);
		return;
	}
	if (add->has_peer_count && cont->nr_rtokens != add->peer_left) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_ADD_LINK_CONT_DATA);
		return;
	}
	add->has_peer_count = true;
	add->peer_left = cont->nr_rtokens - here;
	enter_config(run, SMC_LLC_CONFIG_STORE);
	act = smc_llc_emit(run, SMC_LLC_ACT_STORE_PAIRS, link);
	act->target = flow->config_target;
	act->msg = *msg;
}

/* Send the next CONTINUATION; false if both sides have announced all RMBs. */
static bool send_more_pairs(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_add *add = &flow->add;
	bool has_more;

	/* A client replies before it counts what is left, a server counts first. */
	if (!flow->params.is_server)
		send_cont(run);
	has_more = add->peer_left || add->next_own < add->nr_own;
	if (has_more) {
		if (flow->params.is_server)
			send_cont(run);
		await_msg(run, SMC_LLC_CONFIG_ADD_CONT);
	}
	return has_more;
}

/* @ok: all keys were stored, and none in use is missing after the last ones. */
void smc_llc_add_stored(struct smc_llc_run *run, u8 link, bool ok)
{
	struct smc_llc_flow *flow = run->flow;
	bool is_long = flow->params.has_long_add_link;

	if (flow->config != SMC_LLC_CONFIG_STORE || flow->config_target != link)
		return;
	if (!ok) {
		smc_llc_link_failed(run, link, SMC_LLC_WHY_ADD_LINK_KEYS,
				    SMC_LLC_DELETE_PROTOCOL);
		return;
	}
	if (is_long && !flow->params.is_server)
		send_add_link(run, true);
	else if (!is_long && send_more_pairs(run))
		return;
	if (flow->params.is_server)
		smc_llc_send_confirm_link(run, link, false, flow->quirks->no_eye_catcher,
					  flow->max_links);
	await_msg(run, SMC_LLC_CONFIG_CONFIRM);
}

/* ADDL-16 */
static void added(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[link];

	if (!smc_llc_link_move(lnk, SMC_LLC_LINK_ACTIVE))
		return;
	lnk->is_unconfirmed = false;
	smc_llc_offer_linked(flow, flow->params.is_server ? &lnk->local : &lnk->peer);
	flow->retry_ms = 0;
	smc_llc_config_done(run);
	if (flow->phase == SMC_LLC_UP)
		smc_llc_link_up(run, link);
}

/*
 * CONFIRM LINK on a link other than the first. RFC 7609 3.5.1.6.2, C.7.1; SL-15, ERR-11, ERR-43,
 * AMB-57, AMB-65.
 */
void smc_llc_add_confirm(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	const struct smc_llc_confirm_link *cl = &msg->confirm_link;
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[link];

	if (flow->config != SMC_LLC_CONFIG_CONFIRM || link != flow->config_target ||
	    msg->is_reply != flow->params.is_server) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	smc_llc_commit(flow, SMC_LLC_COMMIT_FINAL);
	if (!smc_llc_end_equals(&cl->end, &lnk->peer) || cl->link_num != lnk->num) {
		smc_llc_link_failed(run, link, SMC_LLC_WHY_CONFIRM_LINK_DATA,
				    SMC_LLC_DELETE_PROTOCOL);
		return;
	}
	lnk->peer_uid = cl->link_uid;
	if (flow->params.is_server) {
		added(run, link);
		/* There may be an RNIC for one more link. */
		if (flow->has_rnics)
			smc_llc_want_link(flow);
		return;
	}
	smc_llc_send_confirm_link(run, link, true, flow->quirks->no_eye_catcher, flow->max_links);
	added(run, link);
	/* SL-16, SL-17: no data before this reply was sent */
	if (flow->phase != SMC_LLC_UP)
		await_msg(run, SMC_LLC_CONFIG_CONFIRMED);
}

void smc_llc_add_confirm_sent(struct smc_llc_run *run, u8 link)
{
	if (run->flow->config == SMC_LLC_CONFIG_CONFIRMED && run->flow->config_target == link)
		smc_llc_config_done(run);
}

/* Server: the client does not answer the offer; it may still be busy with it. */
static void unanswered(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	smc_llc_config_done(run);
	smc_llc_link_destroy(run, flow->config_target, true);
	smc_llc_arm_retry(run, true);
	flow->add_pause = smc_llc_after(run, flow->params.timers.reply);
}

/* The carrying link works otherwise: its RNIC would have reported a failure. */
static void carrier_timeout(struct smc_llc_run *run, enum smc_llc_why why)
{
	struct smc_llc_flow *flow = run->flow;

	if (smc_llc_is_forming(flow) && flow->commitment < SMC_LLC_COMMIT_FINAL)
		/* it did not even acknowledge our ADD LINK, ERR-10, ERR-11, ERR-19 */
		smc_llc_fail_local(run, SMC_LLC_WHY_ADD_LINK_SEND, SMC_DECLINE_TIMEOUT_AL);
	else if (!flow->quirks->needs_add_link && flow->config == SMC_LLC_CONFIG_ADD_LINK)
		unanswered(run);
	else if (!flow->quirks->needs_add_link)
		/* the peer may have accepted, and has to give the link up as well */
		smc_llc_link_failed(run, flow->config_target, why, SMC_LLC_DELETE_LOST_PATH);
	else if (smc_llc_is_forming(flow))
		/* ERR-28, ERR-30, ERR-33, ERR-34 */
		smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, why, 0);
	else
		/* ERR-29, ERR-30, ERR-33, ERR-35 */
		smc_llc_link_failed(run, flow->config_link, why, SMC_LLC_DELETE_LOST_PATH);
}

/* RFC 7609 C.7.1. */
void smc_llc_add_timeout(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	switch (flow->config) {
	case SMC_LLC_CONFIG_CREATE:
		not_created(run);
		break;
	case SMC_LLC_CONFIG_PREPARE:
		smc_llc_add_prepared(run, flow->config_target, false);
		break;
	case SMC_LLC_CONFIG_ADD_LINK:
		carrier_timeout(run, SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT);
		break;
	case SMC_LLC_CONFIG_ADD_CONT:
		carrier_timeout(run, SMC_LLC_WHY_ADD_LINK_CONT_TIMEOUT);
		break;
	case SMC_LLC_CONFIG_CONFIRM:
		/* ERR-25, ERR-26, ERR-31, ERR-32 */
		smc_llc_link_failed(run, flow->config_target, flow->params.is_server ?
				    SMC_LLC_WHY_CONFIRM_LINK_REPLY_TIMEOUT :
				    SMC_LLC_WHY_CONFIRM_LINK_TIMEOUT,
				    SMC_LLC_DELETE_LOST_PATH);
		break;
	case SMC_LLC_CONFIG_CONFIRMED:
		smc_llc_link_failed(run, flow->config_target, SMC_LLC_WHY_CONFIRM_LINK_SEND,
				    SMC_LLC_DELETE_LOST_PATH);
		break;
	default:
		break;
	}
}

static void target_gone(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	bool is_offer = flow->config == SMC_LLC_CONFIG_CREATE ||
			flow->config == SMC_LLC_CONFIG_PREPARE ||
			(flow->config == SMC_LLC_CONFIG_STORE &&
			 flow->params.has_long_add_link);

	/* The client's answer will show whether it knows the link. */
	if (flow->config == SMC_LLC_CONFIG_ADD_LINK)
		return;
	if (flow->config == SMC_LLC_CONFIG_CREATE && flow->params.is_server) {
		smc_llc_add_abandon(run);
		no_offer(run);
	} else if (is_offer && new_link(run)->is_unconfirmed && !flow->params.is_server) {
		reject_created(run);
	}
	if (flow->phase == SMC_LLC_DEAD)
		return;
	smc_llc_config_done(run);
	smc_llc_arm_retry(run, true);
}

/* Resume a held offer; end an exchange that lost a link. */
void smc_llc_add_settle(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	bool needs_carrier = flow->config != SMC_LLC_CONFIG_CONFIRM &&
			     flow->config != SMC_LLC_CONFIG_CONFIRMED;

	if (!smc_llc_is_adding(flow))
		return;
	if (needs_carrier && smc_llc_is_unusable(flow, flow->config_link)) {
		smc_llc_add_abandon(run);
		/* LLC-14: only the server retries. */
		if (flow->params.is_server)
			smc_llc_want_link(flow);
	} else if (flow->config == SMC_LLC_CONFIG_HELD) {
		/* SER-18: CONFIRM RKEY of this side completes first. */
		if (!flow->own.is_busy || flow->own.keys.is_delete)
			answer_offer(run);
	} else if (smc_llc_is_unusable(flow, flow->config_target)) {
		target_gone(run);
	}
}

static void send_notice(struct smc_llc_run *run, const struct smc_llc_end *rnic)
{
	struct smc_llc_action *act;

	act = smc_llc_emit(run, SMC_LLC_ACT_SEND, smc_llc_carrier(run->flow, SMC_LLC_NO_LINK));
	act->cookie = SMC_LLC_SENT_OTHER;
	if (run->flow->params.has_long_add_link) {
		act->msg.type = SMC_LLC_REQ_ADD_LINK;
		act->end = *rnic;
	} else {
		act->msg.type = SMC_LLC_ADD_LINK;
		act->msg.add_link.end = *rnic;
	}
}

/*
 * The server starts the exchange if a link is wanted. The client sends a notice that it has an RNIC
 * and does not wait for an answer. RFC 7609 3.5.5.1; ADDL-01, ADDL-06, ADDL-10, MAXL-09.
 */
void smc_llc_add_start_next(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_end rnic;

	if (flow->next_add || !smc_llc_may_begin(flow) || smc_llc_is_any_ending(flow))
		return;
	if (flow->add_pause != SMC_LLC_NO_DEADLINE || flow->backoff_end)
		return;
	/* Wait for the index of a link. */
	if (smc_llc_link_in(flow, SMC_LLC_LINK_FREE) == SMC_LLC_NO_LINK)
		return;
	flow->next_add = SMC_LLC_NO_DEADLINE;
	if (flow->params.is_server) {
		smc_llc_add_begin(run);
	} else if (smc_llc_pick_notice(flow, &rnic)) {
		/* No answer is due, so repeat the notice while redundancy is missing. */
		if (smc_llc_nr_symmetric(flow) < 2)
			smc_llc_arm_retry(run, false);
		send_notice(run, &rnic);
	}
}
