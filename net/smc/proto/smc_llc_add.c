// SPDX-License-Identifier: GPL-2.0
/*
 * The exchange that adds a link, RFC 7609 3.5.1.6, 3.5.5.1.1, 3.5.5.1.2,
 * 3.5.5.2.3 and C.7.1: ADD LINK, ADD LINK CONTINUATION, CONFIRM LINK.
 *
 * Operation: the server picks an RNIC, has a queue pair made there and offers
 * it. The client picks one of its own, has its queue pair made and connected,
 * and accepts; or it declines. Then the server's is connected, and both tell
 * each other how their RMBs are reached over the new link: the server asks as
 * often as either side has something to tell, two RMBs at a time. CONFIRM LINK
 * over the new link ends it. The client's own ADD LINK is a notice that makes
 * the server try.
 *
 * Where ADD LINK is long it tells of all RMBs itself, and so does the reply:
 * what the peer has said is kept until the new link is there, and CONFIRM LINK
 * comes next. There the notice is REQ ADD LINK, and is answered (protocol.md).
 *
 * Ownership: the new link belongs to this exchange until it is confirmed. What
 * takes it down is its number in DELETE LINK if the peer may know of it, and
 * DESTROY_LINK alone if it does not.
 *
 * First contact of a server that has no RNIC for a second link, or whose areas cannot
 * be had on it: the client waits for an offer all the same, and gets that of a bare
 * queue pair, which is taken back if it accepts. Where not even that can be had, a
 * deployed client goes on with one link after a while, and any other one is declined
 * (AMB-28).
 *
 * Error handling: if the new link fails it is marked LOST like any other, and
 * smc_llc_delete.c tells the peer. If the carrying link fails the exchange is
 * void at both sides; the server begins anew on another link. In first contact
 * a peer that stops answering on the first link ends it all.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "proto/smc_llc_add.h"
#include "proto/smc_llc_keys.h"
#include "proto/smc_llc_links.h"

/**
 * smc_llc_is_adding() - is a link being added?
 * @flow: the machine
 *
 * Return: true from the beginning of the exchange to its end.
 */
bool smc_llc_is_adding(const struct smc_llc_flow *flow)
{
	return flow->config != SMC_LLC_CONFIG_NONE &&
	       flow->config != SMC_LLC_CONFIG_CLEAR_LINK &&
	       flow->config != SMC_LLC_CONFIG_DELETE_LINK;
}

/**
 * smc_llc_add_may_succeed() - may a link come up that needs no other one any more?
 * @flow: the machine
 *
 * Return: true if there is one that has only to be confirmed.
 */
bool smc_llc_add_may_succeed(const struct smc_llc_flow *flow)
{
	return flow->config == SMC_LLC_CONFIG_CONFIRM &&
	       flow->link[flow->config_target].state == SMC_LLC_LINK_FORMING;
}

static struct smc_llc_link *new_link(const struct smc_llc_run *run)
{
	return &run->flow->link[run->flow->config_target];
}

/* How long either side waits for a message of the other, ms. */
static u32 patience(const struct smc_llc_flow *flow)
{
	return smc_llc_is_forming(flow) ? flow->params.timers.first_reply :
					  flow->params.timers.reply;
}

/* The next message of the peer is waited for. */
static void wait_in(struct smc_llc_run *run, enum smc_llc_config config)
{
	run->flow->config = config;
	run->flow->config_deadline = smc_llc_after(run, patience(run->flow));
}

static void work_in(struct smc_llc_run *run, enum smc_llc_config config)
{
	run->flow->config = config;
	run->flow->config_deadline = SMC_LLC_NO_DEADLINE;
}

/*
 * Work that the peer waits for. If a new RNIC is not ready in time we do without the new
 * link, rather than lose the working one that carries the exchange.
 */
static void work_in_time(struct smc_llc_run *run, enum smc_llc_config config)
{
	u32 ms = patience(run->flow), most = run->flow->quirks->peer_waits_ms;

	if (most)
		ms = min(ms, most);
	run->flow->config = config;
	run->flow->config_deadline = smc_llc_after(run, ms / 4 * 3);
}

/*
 * Server: a queue pair to offer. In first contact the client waits for the offer from its
 * CONFIRM LINK reply on; without one it gives up, or goes on with one link. A link that
 * may come up gets half of that time, a bare one, which may follow it, a quarter. Later
 * nothing depends on the offer, but our own RKEY exchanges wait for this one to end.
 */
static void create_in_time(struct smc_llc_run *run)
{
	const struct smc_llc_timers *timers = &run->flow->params.timers;
	struct smc_llc_flow *flow = run->flow;
	u32 ms;

	if (smc_llc_is_forming(flow)) {
		ms = flow->quirks->must_offer ? timers->add_link : timers->add_link_deployed;
		ms /= new_link(run)->is_bare ? 4 : 2;
	} else {
		ms = patience(flow) / 4 * 3;
	}
	flow->config = SMC_LLC_CONFIG_CREATE;
	flow->config_deadline = smc_llc_after(run, ms);
}

static struct smc_llc_action *create(struct smc_llc_run *run, const struct smc_llc_end *rnic)
{
	struct smc_llc_action *act;

	new_link(run)->local = *rnic;
	new_link(run)->is_spare = true;
	/* where another RNIC has failed it is CREATE already, and the time of that runs on */
	if (run->flow->config == SMC_LLC_CONFIG_HELD)
		work_in_time(run, SMC_LLC_CONFIG_CREATE);
	else if (run->flow->config == SMC_LLC_CONFIG_NONE || new_link(run)->is_bare)
		create_in_time(run);
	act = smc_llc_ask(run, SMC_LLC_ACT_CREATE_LINK, run->flow->config_target);
	memcpy(act->end.mac, rnic->mac, sizeof(act->end.mac));
	memcpy(act->end.gid, rnic->gid, sizeof(act->end.gid));
	return act;
}

/* Server, first contact: something to offer, that never comes up. */
static void create_bare(struct smc_llc_run *run)
{
	new_link(run)->is_bare = true;
	create(run, &run->flow->link[0].local)->is_bare = true;
}

/* Connect to what the peer has named, with the MTU that both can do, ADDL-17. */
static void prepare(struct smc_llc_run *run, const struct smc_llc_end *peer)
{
	struct smc_llc_link *lnk = new_link(run);
	struct smc_llc_action *act;

	lnk->peer = *peer;
	/* for a client the time of CREATE runs on: the server has waited since its offer */
	if (run->flow->params.is_server)
		work_in_time(run, SMC_LLC_CONFIG_PREPARE);
	run->flow->config = SMC_LLC_CONFIG_PREPARE;
	act = smc_llc_ask(run, SMC_LLC_ACT_PREPARE_LINK, run->flow->config_target);
	act->end = *peer;
	act->end.mtu = min(peer->mtu, lnk->local.mtu);
}

/*
 * An attempt begins, and costs a queue pair on which all RMBs are mapped. A peer decides
 * how many there are: a client by asking and refusing what it is offered, a server by
 * offering and deleting what was accepted. After many in a row none follows for a while,
 * whoever wants it. What is wanted meanwhile is tried for afterwards.
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

/* Server: no link for a client that has asked for one. */
static void say_none(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->is_asked && !smc_llc_is_dead_end(flow, flow->asked_link))
		smc_llc_ask_send(run, flow->asked_link, SMC_LLC_REQ_ADD_LINK, true,
				 SMC_LLC_SENT_OTHER);
	flow->is_asked = false;
}

/* Server: what is offered has a number that no other link has. */
static void begin_link(struct smc_llc_run *run, u8 target)
{
	struct smc_llc_flow *flow = run->flow;

	flow->config_target = target;
	flow->last_num = smc_llc_next_link_num(flow);
	smc_llc_link_make(flow, target, flow->last_num);
}

/* Server: an RNIC to offer, if there is one. */
static bool pick_any_offer(struct smc_llc_flow *flow, struct smc_llc_end *rnic)
{
	if (smc_llc_pick_offer(flow, rnic))
		return true;
	/* Those that the client refused may be of use by now. */
	flow->refused = 0;
	return smc_llc_pick_offer(flow, rnic);
}

/**
 * smc_llc_add_begin() - server: try for another link
 * @run: the call
 *
 * Where none may be added, or no RNIC could carry it, a client that has asked is
 * told so. In first contact it has always asked, so to say: it gets the offer of a bare
 * queue pair. RFC 7609 3.5.1.6; SL-01 to SL-03, ADDL-05, AMB-28.
 */
void smc_llc_add_begin(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = smc_llc_link_in(flow, SMC_LLC_LINK_FREE);
	struct smc_llc_end rnic;
	bool has_rnic;

	memset(&flow->add, 0, sizeof(flow->add));
	flow->retry_deadline = SMC_LLC_NO_DEADLINE;
	has_rnic = target != SMC_LLC_NO_LINK && pick_any_offer(flow, &rnic);
	if (target == SMC_LLC_NO_LINK || (!has_rnic && !smc_llc_is_forming(flow))) {
		say_none(run);
		return;
	}
	flow->config_link = smc_llc_carrier(flow, SMC_LLC_NO_LINK);
	note_attempt(run);
	begin_link(run, target);
	if (has_rnic)
		create(run, &rnic);
	else
		create_bare(run);
}

/* Client: no, and why; counts as the end of first contact, SL-11, ERR-11. */
static void reject(struct smc_llc_run *run, u8 reason)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_add_link *al;

	al = &smc_llc_ask_send(run, flow->config_link, SMC_LLC_ADD_LINK, true,
			       SMC_LLC_SENT_OTHER)->add_link;
	al->link_num = flow->add.offer.link_num;
	al->is_rejected = true;
	al->reason = reason;
	smc_llc_commit(flow, SMC_LLC_COMMIT_FINAL);
	smc_llc_config_done(run);
	smc_llc_keys_wait(run);
}

/* Client: the offer was of use, and what was made of it is of none. */
static void reject_made(struct smc_llc_run *run)
{
	smc_llc_link_destroy(run, run->flow->config_target, true);
	reject(run, SMC_LLC_ADD_LINK_NO_PATH);
}

/* The peer has told of its RMBs: later, when the new link is there. */
static void keep_pairs(struct smc_llc_run *run)
{
	if (run->flow->add.offer.nr_pairs)
		smc_llc_ask(run, SMC_LLC_ACT_KEEP_PAIRS, run->flow->config_link);
}

/* Client: what to answer to the offer, RFC 7609 3.5.1.6.1. */
static void consider(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	const struct smc_llc_add_link *offer = &flow->add.offer;
	u8 target = smc_llc_link_in(flow, SMC_LLC_LINK_FREE);
	struct smc_llc_end rnic;

	smc_llc_rnic_of_peer(flow, &offer->end);
	flow->is_put_off = false;
	if (!smc_nego_mtu_is_valid(offer->end.mtu)) {
		/* ERR-44 */
		reject(run, SMC_LLC_ADD_LINK_BAD_MTU);
	} else if (!offer->end.qpn || target == SMC_LLC_NO_LINK ||
		   !smc_llc_pick_answer(flow, &rnic)) {
		reject(run, SMC_LLC_ADD_LINK_NO_PATH);
	} else if (run->now < flow->backoff_end) {
		flow->is_put_off = true;
		reject(run, SMC_LLC_ADD_LINK_NO_PATH);
	} else {
		note_attempt(run);
		flow->config_target = target;
		smc_llc_link_make(flow, target, offer->link_num);
		create(run, &rnic);
	}
}

/**
 * smc_llc_add_abandon() - the exchange is void
 * @run: the call
 *
 * The peer has no reason to ask about the link.
 */
void smc_llc_add_abandon(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->config != SMC_LLC_CONFIG_HELD && new_link(run)->is_spare)
		smc_llc_link_destroy(run, flow->config_target, false);
	smc_llc_config_done(run);
}

static void on_offer(struct smc_llc_run *run, u8 link, const struct smc_llc_add_link *al)
{
	struct smc_llc_flow *flow = run->flow;

	if (!smc_llc_is_confirmed(flow) ||
	    smc_llc_link_by_num(flow, al->link_num) != SMC_LLC_NO_LINK) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	/* The server has given up what it offered before, ERR-29. */
	if (smc_llc_is_adding(flow))
		smc_llc_add_abandon(run);
	/* SER-07: this is the answer to a notice of ours. */
	flow->wants_link = false;
	memset(&flow->add, 0, sizeof(flow->add));
	flow->add.offer = *al;
	flow->config_link = link;
	flow->config_target = SMC_LLC_NO_LINK;
	if (flow->phase == SMC_LLC_WAIT_ADD_LINK)
		flow->phase = SMC_LLC_SECOND_LINK;
	if (flow->phase == SMC_LLC_WAIT_CONFIRM_SENT) {
		/* One link was agreed on. */
		reject(run, SMC_LLC_ADD_LINK_NO_PATH);
		return;
	}
	keep_pairs(run);
	work_in(run, SMC_LLC_CONFIG_HELD);
	smc_llc_keys_wait(run);
}

static void on_notice(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;

	if (!smc_llc_is_confirmed(flow)) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	/* What the client has refused before its new RNIC came may be of use to that. */
	flow->refused = 0;
	/* ERR-59, ADDL-06 to ADDL-09; crossed with our own: SER-07 */
	if (!smc_llc_is_adding(flow))
		flow->wants_link = true;
}

static void accepted(struct smc_llc_run *run, const struct smc_llc_add_link *al)
{
	run->flow->add.offer = *al;
	keep_pairs(run);
	prepare(run, &al->end);
}

/* The client does not want the link that was offered, SL-12. */
static void on_rejection(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_end rnic;

	/* another one may be on a network that the client is on */
	flow->refused |= smc_llc_rnic_place(flow, &new_link(run)->local);
	smc_llc_link_destroy(run, flow->config_target, true);
	smc_llc_arm_retry(run, false);
	flow->wants_link |= flow->has_rnics && smc_llc_pick_offer(flow, &rnic);
}

/* It takes it, and tells of its end. */
static void on_acceptance(struct smc_llc_run *run, const struct smc_llc_add_link *al)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = new_link(run);
	bool is_sane = al->end.qpn && smc_nego_mtu_is_valid(al->end.mtu) &&
		       !smc_llc_is_parallel(flow, &lnk->local, &al->end);
	bool has_failed = is_sane && lnk->state != SMC_LLC_LINK_FORMING;

	if (!is_sane)
		/* ERR-45 */
		smc_llc_link_lost(run, flow->config_target, SMC_LLC_WHY_OUT_OF_SYNC,
				  SMC_LLC_DELETE_PROTOCOL);
	else if (!flow->has_rnics || lnk->is_bare ||
		 !smc_llc_is_allowed(flow, &lnk->local, &al->end))
		/* ADDL-04: a link that is no use; or one is all there is here */
		smc_llc_link_lost(run, flow->config_target, SMC_LLC_WHY_NO_LONGER_NEEDED,
				  SMC_LLC_DELETE_LOST_PATH);
	else if (lnk->state == SMC_LLC_LINK_FORMING)
		/* SL-13 */
		accepted(run, al);
	if (lnk->state != SMC_LLC_LINK_FORMING)
		smc_llc_arm_retry(run, has_failed);
}

/* The link of an offer that the client may have accepted. AMB-40: @num may be missing. */
static u8 accepted_link(const struct smc_llc_flow *flow, u8 num)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].is_spare && (!num || flow->link[i].num == num) &&
		    !(flow->config == SMC_LLC_CONFIG_CREATE && flow->config_target == i))
			return i;
	return SMC_LLC_NO_LINK;
}

/*
 * A deployed client declines in the end what it had accepted and what did not come up
 * (protocol.md). That is its last message about the link, and it has none any more. So it
 * stands for the DELETE LINK reply, which the client may never send.
 */
static void on_late_rejection(struct smc_llc_run *run, u8 link, u8 num)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = accepted_link(flow, num);

	if (target != SMC_LLC_NO_LINK) {
		smc_llc_ask(run, SMC_LLC_ACT_STALE, link);
		if (flow->config != SMC_LLC_CONFIG_NONE && flow->config_target == target)
			smc_llc_config_done(run);
		if (flow->link[target].state == SMC_LLC_LINK_FORMING)
			smc_llc_arm_retry(run, true);
		smc_llc_link_destroy(run, target, true);
	} else if (num || flow->add_pause == SMC_LLC_NO_DEADLINE) {
		smc_llc_stale(run, link, num);
	}
	flow->add_pause = SMC_LLC_NO_DEADLINE;
}

static void on_answer(struct smc_llc_run *run, u8 link, const struct smc_llc_add_link *al)
{
	struct smc_llc_flow *flow = run->flow;
	/* AMB-40: a rejection may leave the number out */
	bool is_awaited = flow->config == SMC_LLC_CONFIG_ADD_LINK && link == flow->config_link &&
			  (al->link_num == new_link(run)->num ||
			   (!al->link_num && al->is_rejected));

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

/**
 * smc_llc_add_msg() - ADD LINK came in
 * @run: the call
 * @link: index of the link it came on
 * @msg: the message
 */
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

/**
 * smc_llc_add_req() - REQ ADD LINK came in: the notice of version 2
 * @run: the call
 * @link: index of the link it came on
 * @msg: the message
 *
 * A server that has no further link says so (protocol.md); ADD LINK is an
 * answer, too, also one that was on its way. Who hears that there is none asks
 * again when it has an RNIC more, or by and by.
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
	/* as with on_notice() */
	flow->refused = 0;
	/* nothing of it has been said to the client yet, and nothing may come of it */
	if (flow->config == SMC_LLC_CONFIG_CREATE) {
		flow->is_asked = true;
		flow->asked_link = link;
	} else if (!smc_llc_is_adding(flow)) {
		flow->is_asked = true;
		flow->asked_link = link;
		if (flow->max_links > 1)
			flow->wants_link = true;
		else
			say_none(run);
	}
}

static void send_add_link(struct smc_llc_run *run, bool is_reply)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_action *act;

	act = smc_llc_ask(run, SMC_LLC_ACT_SEND, flow->config_link);
	act->cookie = SMC_LLC_SENT_ADD_LINK;
	act->target = flow->config_target;
	act->has_pairs = flow->params.has_long_add_link;
	act->msg.type = SMC_LLC_ADD_LINK;
	act->msg.is_reply = is_reply;
	act->msg.add_link.end = new_link(run)->local;
	act->msg.add_link.link_num = new_link(run)->num;
	act->msg.add_link.is_direct = flow->add.is_direct;
}

/* Server: nothing to offer. A client that relies on an offer waits in vain, AMB-28. */
static void no_offer(struct smc_llc_run *run)
{
	if (smc_llc_is_forming(run->flow) && run->flow->quirks->must_offer)
		smc_llc_fail_local(run, SMC_LLC_WHY_NO_SPARE, SMC_DECLINE_MEM);
	else
		smc_llc_arm_retry(run, true);
}

static void not_created(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = new_link(run);
	struct smc_llc_end rnic;

	smc_llc_rnic_tried(flow, &lnk->local);
	if (!lnk->is_bare && (flow->params.is_server ? smc_llc_pick_offer(flow, &rnic) :
						       smc_llc_pick_answer(flow, &rnic))) {
		create(run, &rnic);
		return;
	}
	if (flow->params.is_server && smc_llc_is_forming(flow) && !lnk->is_bare) {
		create_bare(run);
		return;
	}
	smc_llc_link_move(lnk, SMC_LLC_LINK_FREE);
	lnk->is_spare = false;
	if (!flow->params.is_server) {
		reject(run, SMC_LLC_ADD_LINK_NO_PATH);
		smc_llc_arm_retry(run, true);
		return;
	}
	smc_llc_config_done(run);
	say_none(run);
	no_offer(run);
}

/*
 * An RNIC hangs. The new link is freed when the RNIC has answered; until then its index
 * cannot be used again. The server offers another RNIC next, if it has one.
 */
static void not_created_in_time(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	bool was_bare = new_link(run)->is_bare;
	struct smc_llc_end rnic;
	u8 target;

	if (!flow->params.is_server) {
		reject_made(run);
		smc_llc_arm_retry(run, true);
		return;
	}
	flow->refused |= smc_llc_rnic_place(flow, &new_link(run)->local);
	smc_llc_link_destroy(run, flow->config_target, false);
	target = smc_llc_link_in(flow, SMC_LLC_LINK_FREE);
	if (smc_llc_is_forming(flow) && !was_bare && target != SMC_LLC_NO_LINK) {
		begin_link(run, target);
		create_bare(run);
		return;
	}
	smc_llc_config_done(run);
	flow->wants_link |= flow->has_rnics && smc_llc_pick_offer(flow, &rnic);
	if (!flow->wants_link)
		say_none(run);
	no_offer(run);
}

/**
 * smc_llc_add_created() - there is a queue pair for the new link, or none
 * @run: the call
 * @ev: SMC_LLC_EV_LINK_CREATED
 */
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
	/* SER-05: the client is telling of an RMB, on more links than one message has room for */
	if (flow->remote.state == SMC_LLC_REMOTE_CONFIRM_CONT) {
		smc_llc_add_abandon(run);
		flow->wants_link = true;
		return;
	}
	flow->is_asked = false;
	smc_llc_rnic_offered(flow, &new_link(run)->local);
	send_add_link(run, false);
	wait_in(run, SMC_LLC_CONFIG_ADD_LINK);
}

/* Tell of the next RMBs, RKEY-20, ADDL-11 to ADDL-15. */
static void send_cont(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 left = flow->add.nr_own - flow->add.next_own;
	struct smc_llc_action *act;

	act = smc_llc_ask(run, SMC_LLC_ACT_SEND, flow->config_link);
	act->cookie = SMC_LLC_SENT_OTHER;
	act->target = flow->config_target;
	act->first_rmb = flow->add.next_own;
	act->msg.type = SMC_LLC_ADD_LINK_CONT;
	act->msg.is_reply = !flow->params.is_server;
	act->msg.add_link_cont.link_num = new_link(run)->num;
	act->msg.add_link_cont.nr_rtokens = left;
	flow->add.next_own += min_t(u8, left, SMC_LLC_CONT_PAIRS);
}

/* What came with the peer's ADD LINK can be stored now. */
static void store_kept(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_action *act;

	work_in(run, SMC_LLC_CONFIG_STORE);
	if (!flow->add.offer.nr_pairs) {
		smc_llc_add_stored(run, flow->config_target, true);
		return;
	}
	act = smc_llc_ask(run, SMC_LLC_ACT_STORE_PAIRS, flow->config_link);
	act->target = flow->config_target;
	act->msg.type = SMC_LLC_ADD_LINK;
	act->msg.add_link = flow->add.offer;
}

/**
 * smc_llc_add_prepared() - the new link is connected, or cannot be
 * @run: the call
 * @link: its index
 * @ok: which
 */
void smc_llc_add_prepared(struct smc_llc_run *run, u8 link, bool ok)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->config != SMC_LLC_CONFIG_PREPARE || flow->config_target != link)
		return;
	if (!ok && flow->params.is_server) {
		smc_llc_link_lost(run, link, SMC_LLC_WHY_NOT_PREPARED,
				  SMC_LLC_DELETE_LOST_PATH);
		return;
	}
	if (!ok) {
		reject_made(run);
		smc_llc_arm_retry(run, true);
		return;
	}
	if (flow->params.has_long_add_link) {
		store_kept(run);
		return;
	}
	if (flow->params.is_server)
		send_cont(run);
	else
		send_add_link(run, true);
	wait_in(run, SMC_LLC_CONFIG_ADD_CONT);
}

/*
 * Client: is this about an offer that it has not answered yet? Then a deployed server has
 * taken the answer to its last offer, which came too late, for one to this.
 */
static bool is_premature(const struct smc_llc_flow *flow, u8 num)
{
	return !flow->params.is_server && smc_llc_is_adding(flow) &&
	       flow->config < SMC_LLC_CONFIG_ADD_CONT && num == flow->add.offer.link_num;
}

/**
 * smc_llc_add_cont() - ADD LINK CONTINUATION came in
 * @run: the call
 * @link: index of the link it came on
 * @msg: the message
 *
 * The first one says how many RMBs there are; each later one has to go on from
 * there. RFC 7609 A.3.3, C.7.1; ERR-47, AMB-24.
 */
void smc_llc_add_cont(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	const struct smc_llc_add_link_cont *cont = &msg->add_link_cont;
	u8 here = min_t(u8, cont->nr_rtokens, SMC_LLC_CONT_PAIRS);
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_add *add = &flow->add;
	struct smc_llc_action *act;

	if (is_premature(flow, cont->link_num)) {
		smc_llc_ask(run, SMC_LLC_ACT_STALE, link);
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
	work_in(run, SMC_LLC_CONFIG_STORE);
	if (!here) {
		smc_llc_add_stored(run, flow->config_target, true);
		return;
	}
	act = smc_llc_ask(run, SMC_LLC_ACT_STORE_PAIRS, link);
	act->target = flow->config_target;
	act->msg = *msg;
}

/* Tell on where there is something left to be told. */
static bool go_on_telling(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_add *add = &flow->add;
	bool has_more;

	/* Asked before the client's answer, counted after it. */
	if (!flow->params.is_server)
		send_cont(run);
	has_more = add->peer_left || add->next_own < add->nr_own;
	if (has_more) {
		if (flow->params.is_server)
			send_cont(run);
		wait_in(run, SMC_LLC_CONFIG_ADD_CONT);
	}
	return has_more;
}

/**
 * smc_llc_add_stored() - the peer's RMBs have their tokens for the new link
 * @run: the call
 * @link: its index
 * @ok: or they could not be stored
 */
void smc_llc_add_stored(struct smc_llc_run *run, u8 link, bool ok)
{
	struct smc_llc_flow *flow = run->flow;
	bool is_long = flow->params.has_long_add_link;

	if (flow->config != SMC_LLC_CONFIG_STORE || flow->config_target != link)
		return;
	if (!ok && is_long && !flow->params.is_server) {
		/* The server has no answer yet. */
		reject_made(run);
		smc_llc_arm_retry(run, true);
		return;
	}
	if (!ok) {
		smc_llc_link_lost(run, link, SMC_LLC_WHY_ADD_LINK_KEYS,
				  SMC_LLC_DELETE_PROTOCOL);
		return;
	}
	if (is_long && !flow->params.is_server)
		send_add_link(run, true);
	else if (!is_long && go_on_telling(run))
		return;
	if (flow->params.is_server)
		smc_llc_send_confirm_link(run, link, false, flow->quirks->no_eye_catcher,
					  flow->max_links);
	wait_in(run, SMC_LLC_CONFIG_CONFIRM);
}

/* The new link is as good as any other, ADDL-16. */
static void added(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[link];

	if (!smc_llc_link_move(lnk, SMC_LLC_LINK_ACTIVE))
		return;
	lnk->is_spare = false;
	/* how many of these there may be, their lives tell: SMC_LLC_BRIEF_LIVES */
	flow->nr_attempts = 0;
	smc_llc_rnic_has_link(flow);
	smc_llc_config_done(run);
	if (flow->phase == SMC_LLC_UP)
		smc_llc_link_up(run, link);
}

/**
 * smc_llc_add_confirm() - CONFIRM LINK came in on a link that is not the first
 * @run: the call
 * @link: its index
 * @msg: the message
 *
 * RFC 7609 3.5.1.6.2, C.7.1; SL-15, ERR-11, ERR-43, AMB-57, AMB-65.
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
		smc_llc_link_lost(run, link, SMC_LLC_WHY_CONFIRM_LINK_DATA,
				  SMC_LLC_DELETE_PROTOCOL);
		return;
	}
	lnk->peer_uid = cl->link_uid;
	if (flow->params.is_server) {
		added(run, link);
		/* Is there an RNIC for one more? */
		if (flow->has_rnics)
			smc_llc_want_link(flow);
		return;
	}
	smc_llc_send_confirm_link(run, link, true, flow->quirks->no_eye_catcher, flow->max_links);
	added(run, link);
	/* SL-16, SL-17: data waits until this has left. */
	if (flow->phase != SMC_LLC_UP)
		wait_in(run, SMC_LLC_CONFIG_CONFIRMED);
}

/**
 * smc_llc_add_confirm_sent() - CONFIRM LINK of a link that is not the first left
 * @run: the call
 * @link: its index
 */
void smc_llc_add_confirm_sent(struct smc_llc_run *run, u8 link)
{
	if (run->flow->config == SMC_LLC_CONFIG_CONFIRMED && run->flow->config_target == link)
		smc_llc_config_done(run);
}

static void carrier_timeout(struct smc_llc_run *run, enum smc_llc_why why)
{
	struct smc_llc_flow *flow = run->flow;

	if (smc_llc_is_forming(flow))
		/* ERR-28, ERR-30, ERR-33, ERR-34 */
		smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, why, 0);
	else
		/* ERR-29, ERR-30, ERR-33, ERR-35 */
		smc_llc_link_lost(run, flow->config_link, why, SMC_LLC_DELETE_LOST_PATH);
}

/**
 * smc_llc_add_timeout() - the peer's part, or one's own, has been waited for too long
 * @run: the call
 *
 * RFC 7609 C.7.1.
 */
void smc_llc_add_timeout(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	switch (flow->config) {
	case SMC_LLC_CONFIG_CREATE:
		not_created_in_time(run);
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
		smc_llc_link_lost(run, flow->config_target, flow->params.is_server ?
				  SMC_LLC_WHY_CONFIRM_LINK_REPLY_TIMEOUT :
				  SMC_LLC_WHY_CONFIRM_LINK_TIMEOUT,
				  SMC_LLC_DELETE_LOST_PATH);
		break;
	case SMC_LLC_CONFIG_CONFIRMED:
		smc_llc_link_lost(run, flow->config_target, SMC_LLC_WHY_CONFIRM_LINK_SEND,
				  SMC_LLC_DELETE_LOST_PATH);
		break;
	default:
		break;
	}
}

/* The new link has failed, or the server has deleted it. */
static void target_gone(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	bool is_offer = flow->config == SMC_LLC_CONFIG_CREATE ||
			flow->config == SMC_LLC_CONFIG_PREPARE ||
			(flow->config == SMC_LLC_CONFIG_STORE &&
			 flow->params.has_long_add_link);

	/* The client's answer to an offer tells whether it knows the link. */
	if (flow->params.is_server && flow->config == SMC_LLC_CONFIG_ADD_LINK)
		return;
	if (flow->config == SMC_LLC_CONFIG_CREATE && flow->params.is_server) {
		smc_llc_add_abandon(run);
		no_offer(run);
	} else if (is_offer && new_link(run)->is_spare && !flow->params.is_server) {
		reject_made(run);
	}
	if (flow->phase == SMC_LLC_DEAD)
		return;
	smc_llc_config_done(run);
	smc_llc_arm_retry(run, true);
}

/**
 * smc_llc_add_settle() - go on with what waited, end what has lost a link
 * @run: the call
 */
void smc_llc_add_settle(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	bool needs_carrier = flow->config != SMC_LLC_CONFIG_CONFIRM &&
			     flow->config != SMC_LLC_CONFIG_CONFIRMED;

	if (!smc_llc_is_adding(flow))
		return;
	if (needs_carrier && smc_llc_is_dead_end(flow, flow->config_link)) {
		smc_llc_add_abandon(run);
		/* LLC-14: the server is who retries. */
		flow->wants_link |= flow->params.is_server;
	} else if (flow->config == SMC_LLC_CONFIG_HELD) {
		/* SER-18: our own CONFIRM RKEY is answered at once, and first. */
		if (!flow->own.is_busy || flow->own.keys.is_delete)
			consider(run);
	} else if (smc_llc_is_dead_end(flow, flow->config_target)) {
		target_gone(run);
	}
}

static void send_notice(struct smc_llc_run *run, const struct smc_llc_end *rnic)
{
	struct smc_llc_action *act;

	act = smc_llc_ask(run, SMC_LLC_ACT_SEND, smc_llc_carrier(run->flow, SMC_LLC_NO_LINK));
	act->cookie = SMC_LLC_SENT_OTHER;
	if (run->flow->params.has_long_add_link) {
		act->msg.type = SMC_LLC_REQ_ADD_LINK;
		act->end = *rnic;
	} else {
		act->msg.type = SMC_LLC_ADD_LINK;
		act->msg.add_link.end = *rnic;
	}
}

/**
 * smc_llc_add_start_next() - a further link is wanted: try for it
 * @run: the call
 *
 * The server does so itself, the client tells the server that it has an RNIC
 * and waits for nothing. RFC 7609 3.5.5.1; ADDL-01, ADDL-06, ADDL-10, MAXL-09.
 */
void smc_llc_add_start_next(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_end rnic;

	if (!flow->wants_link || flow->phase != SMC_LLC_UP || !smc_llc_may_begin(flow) ||
	    smc_llc_is_any_ending(flow))
		return;
	if (flow->add_pause != SMC_LLC_NO_DEADLINE || flow->backoff_end)
		return;
	/* Until the last one's place is free. */
	if (smc_llc_nr_in(flow, SMC_LLC_LINK_GOING) &&
	    smc_llc_link_in(flow, SMC_LLC_LINK_FREE) == SMC_LLC_NO_LINK)
		return;
	flow->wants_link = false;
	if (flow->params.is_server) {
		smc_llc_add_begin(run);
	} else if (flow->has_rnics && smc_llc_pick_notice(flow, &rnic)) {
		flow->retry_deadline = SMC_LLC_NO_DEADLINE;
		/* Nobody need answer; what is urgent is said again. */
		if (smc_llc_nr_symmetric(flow) < 2)
			smc_llc_arm_retry(run, false);
		send_notice(run, &rnic);
	}
}
