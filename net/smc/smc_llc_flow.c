// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC machine of a link group, RFC 7609 3.5.1.5, 3.5.1.6, 3.5.4, 3.5.5
 * and Appendix C.
 *
 * Operation: an event comes in with the time and changes the state; what has
 * to be done about it is appended to a list of actions. Nothing here waits,
 * allocates or knows a queue pair. The caller carries out all actions in
 * order before it feeds the next event, and answers those actions which ask
 * for an outcome by an event.
 *
 * Exchanges: a link group has at most one exchange of this side that changes
 * its links (config), one RKEY exchange of this side (rkey) and one exchange
 * of the peer that needs an answer (remote). The two RKEY directions may
 * overlap, everything else excludes each other (RFC 7609 3.5.5.3); what comes
 * at the wrong time is put off (pending) or refused, as the section says.
 *
 * Links: a link group has one link here. The server offers a second one, as
 * it must, and takes it back should the peer accept; a client declines the
 * offer. State and exchanges are kept per link all the same.
 *
 * Error handling: first contact ends in GROUP_UP or GROUP_FAILED, a link group
 * that was up ends in TERMINATE, each exactly once; nothing comes after that.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "smc_clc_nego.h"
#include "smc_llc_flow.h"

/* One call of smc_llc_flow_event(). */
struct llc_run {
	struct smc_llc_flow *flow;
	struct smc_llc_actions *out;
	u64 now;
};

static const char *const llc_why_names[SMC_LLC_WHY_NR] = {
	[SMC_LLC_WHY_NONE] = "none",
	[SMC_LLC_WHY_CONFIRM_LINK_TIMEOUT] = "no CONFIRM LINK in time",
	[SMC_LLC_WHY_CONFIRM_LINK_REPLY_TIMEOUT] = "no CONFIRM LINK reply in time",
	[SMC_LLC_WHY_CONFIRM_LINK_SEND] = "CONFIRM LINK could not be sent",
	[SMC_LLC_WHY_CONFIRM_LINK_DATA] = "CONFIRM LINK names another link",
	[SMC_LLC_WHY_ADD_LINK_TIMEOUT] = "no ADD LINK in time",
	[SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT] = "no ADD LINK reply in time",
	[SMC_LLC_WHY_ADD_LINK_SEND] = "ADD LINK could not be sent",
	[SMC_LLC_WHY_DELETE_LINK_TIMEOUT] = "no answer to DELETE LINK in time",
	[SMC_LLC_WHY_RKEY_TIMEOUT] = "no RKEY reply in time",
	[SMC_LLC_WHY_TEST_LINK_TIMEOUT] = "no TEST LINK reply in time",
	[SMC_LLC_WHY_TEST_LINK_DATA] = "TEST LINK reply has other data",
	[SMC_LLC_WHY_RKEY_MISSING] = "CONFIRM RKEY without a key for the link",
	[SMC_LLC_WHY_OUT_OF_SYNC] = "LLC message out of sync",
	[SMC_LLC_WHY_SEND_FAILED] = "LLC message could not be sent",
	[SMC_LLC_WHY_LINK_BROKEN] = "link broken",
	[SMC_LLC_WHY_NOT_PREPARED] = "link could not be brought up",
	[SMC_LLC_WHY_NO_SPARE] = "no queue pair for the second link",
	[SMC_LLC_WHY_PEER_DECLINED] = "peer declined",
	[SMC_LLC_WHY_PEER_DELETED] = "deleted by the peer",
	[SMC_LLC_WHY_DELETED] = "deleted by this side",
};

static bool is_forming(const struct smc_llc_flow *flow)
{
	return flow->phase >= SMC_LLC_WAIT_CONFIRM_LINK && flow->phase < SMC_LLC_UP;
}

/* Only now may the peer talk about RMBs and the removal of links. */
static bool is_confirmed_phase(const struct smc_llc_flow *flow)
{
	return flow->phase == SMC_LLC_WAIT_ADD_LINK || flow->phase == SMC_LLC_SECOND_LINK ||
	       flow->phase == SMC_LLC_WAIT_CONFIRM_SENT || flow->phase == SMC_LLC_UP;
}

/* A second link that is offered or taken back carries nothing yet. */
static bool is_on_trial(const struct smc_llc_flow *flow, u8 link)
{
	return flow->config != SMC_LLC_CONFIG_NONE && flow->config_target == link &&
	       flow->config_link != link;
}

static bool end_equals(const struct smc_llc_end *a, const struct smc_llc_end *b)
{
	return a->qpn == b->qpn && !memcmp(a->gid, b->gid, sizeof(a->gid)) &&
	       !memcmp(a->mac, b->mac, sizeof(a->mac));
}

static bool same_rnic(const struct smc_llc_end *a, const struct smc_llc_end *b)
{
	return !memcmp(a->gid, b->gid, sizeof(a->gid)) &&
	       !memcmp(a->mac, b->mac, sizeof(a->mac));
}

static unsigned int nr_active(const struct smc_llc_flow *flow)
{
	unsigned int i, nr = 0;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		nr += flow->link[i].state == SMC_LLC_LINK_ACTIVE;
	return nr;
}

/* Index of a link that can carry a message, or SMC_LLC_LINKS. */
static u8 any_active(const struct smc_llc_flow *flow)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state == SMC_LLC_LINK_ACTIVE)
			break;
	return i;
}

static u8 free_index(const struct smc_llc_flow *flow)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state == SMC_LLC_LINK_FREE)
			break;
	return i;
}

/* Index of the link with this number, or SMC_LLC_LINKS. */
static u8 link_by_num(const struct smc_llc_flow *flow, u8 num)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state != SMC_LLC_LINK_FREE && flow->link[i].num == num)
			break;
	return i;
}

static struct smc_llc_action *ask(struct llc_run *run, enum smc_llc_action_type type,
				  u8 link)
{
	struct smc_llc_action *act;

	/* No event asks for so much; stay inside all the same. */
	act = &run->out->act[min_t(unsigned int, run->out->nr, SMC_LLC_ACTIONS - 1)];
	run->out->nr = min_t(unsigned int, run->out->nr + 1, SMC_LLC_ACTIONS);
	memset(act, 0, sizeof(*act));
	act->type = type;
	act->link = link;
	return act;
}

static struct smc_llc_msg *ask_send(struct llc_run *run, u8 link, u8 type, bool is_reply,
				    enum smc_llc_sent sent)
{
	struct smc_llc_action *act = ask(run, SMC_LLC_ACT_SEND, link);

	act->cookie = sent;
	act->msg.type = type;
	act->msg.is_reply = is_reply;
	return &act->msg;
}

static u64 after(const struct llc_run *run, int ms)
{
	return run->now + max(ms, 0);
}

static void rkey_done(struct llc_run *run, int result)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_action *act;

	act = ask(run, SMC_LLC_ACT_RKEY_DONE, flow->rkey_link);
	act->cookie = flow->rkey_cookie;
	act->result = result;
	flow->rkey_busy = false;
	flow->rkey_deadline = SMC_LLC_NO_DEADLINE;
}

static void config_done(struct llc_run *run)
{
	run->flow->config = SMC_LLC_CONFIG_NONE;
	run->flow->config_deadline = SMC_LLC_NO_DEADLINE;
}

/* The second link is given up: its resources go, its index is free again. */
static void drop_spare(struct llc_run *run, u8 link)
{
	struct smc_llc_link *spare = &run->flow->link[link];

	run->flow->deleted_num = spare->num;
	memset(spare, 0, sizeof(*spare));
	spare->deadline = SMC_LLC_NO_DEADLINE;
	ask(run, SMC_LLC_ACT_DROP_SPARE, link);
}

static void drop_spares(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	/* Still being created: dropped when SPARE_CREATED arrives. */
	if (flow->config == SMC_LLC_CONFIG_SPARE)
		flow->link[flow->config_target].state = SMC_LLC_LINK_FREE;
	else if (is_on_trial(flow, flow->config_target))
		drop_spare(run, flow->config_target);
	config_done(run);
}

static void become_dead(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	unsigned int i;

	if (flow->rkey_busy)
		rkey_done(run, -ECONNABORTED);
	drop_spares(run);
	for (i = 0; i < SMC_LLC_LINKS; i++) {
		flow->link[i].state = SMC_LLC_LINK_FREE;
		flow->link[i].deadline = SMC_LLC_NO_DEADLINE;
	}
	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	flow->retry_deadline = SMC_LLC_NO_DEADLINE;
	flow->rkey_hold = 0;
	flow->remote = SMC_LLC_REMOTE_NONE;
	flow->pending = 0;
	flow->may_decline = false;
	flow->phase = SMC_LLC_DEAD;
}

static void fail_forming(struct llc_run *run, enum smc_llc_fail fail, enum smc_llc_why why,
			 enum smc_decline diagnosis)
{
	struct smc_llc_action *act;

	become_dead(run);
	act = ask(run, SMC_LLC_ACT_GROUP_FAILED, 0);
	act->fail = fail;
	act->why = why;
	if (fail == SMC_LLC_FAIL_DECLINE)
		act->diagnosis = diagnosis;
}

/*
 * A failed send or a failure of our own resources: Decline up to the point of
 * no return, RFC 7609 C.2, C.3 (ERR-09 to ERR-12).
 */
static void fail_local(struct llc_run *run, enum smc_llc_why why, enum smc_decline diagnosis)
{
	fail_forming(run, run->flow->may_decline ? SMC_LLC_FAIL_DECLINE : SMC_LLC_FAIL_RESET,
		     why, diagnosis);
}

static void terminate(struct llc_run *run, enum smc_llc_why why)
{
	become_dead(run);
	ask(run, SMC_LLC_ACT_TERMINATE, 0)->why = why;
}

/*
 * A link of a group that is up has failed. Exchanges on it are not replayed
 * elsewhere (LLC-14); without another link the group ends (KA-06, PEER-03).
 */
static void link_failed(struct llc_run *run, u8 link, enum smc_llc_why why)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->link[link].state == SMC_LLC_LINK_FREE)
		return;
	ask(run, SMC_LLC_ACT_LINK_DOWN, link)->why = why;
	flow->deleted_num = flow->link[link].num;
	flow->link[link].state = SMC_LLC_LINK_FREE;
	flow->link[link].is_probing = false;
	flow->link[link].deadline = SMC_LLC_NO_DEADLINE;
	if (flow->rkey_busy && flow->rkey_link == link)
		rkey_done(run, -ECONNABORTED);
	if (flow->remote_link == link)
		flow->remote = SMC_LLC_REMOTE_NONE;
	if (flow->pending_rkeys_link == link)
		flow->pending &= ~SMC_LLC_PENDING_DELETE_RKEY;
	if (flow->config_link == link)
		drop_spares(run);
	if (!nr_active(flow))
		terminate(run, why);
}

/*
 * The peer said what makes no sense now, ERR-54. While this side has not told
 * the peer that the link works it may still go back to TCP (AMB-04).
 */
static void out_of_sync(struct llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;

	if (is_forming(flow))
		fail_forming(run, flow->is_confirmed || !flow->may_decline ?
			     SMC_LLC_FAIL_RESET : SMC_LLC_FAIL_DECLINE,
			     SMC_LLC_WHY_OUT_OF_SYNC, SMC_DECLINE_ERR_RDYLNK);
	else if (flow->phase == SMC_LLC_UP)
		link_failed(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
}

static void arm_probe(struct llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	u32 idle = run->flow->params.test_link_idle_ms;

	lnk->is_probing = false;
	lnk->deadline = idle ? run->now + idle : SMC_LLC_NO_DEADLINE;
}

static void arm_retry(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->params.is_server && flow->params.timers.add_link_retry > 0)
		flow->retry_deadline = after(run, flow->params.timers.add_link_retry);
}

/* Data may flow: the second link was tried and is settled, FC-12. */
static void group_up(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	flow->phase = SMC_LLC_UP;
	flow->may_decline = false;
	flow->link[0].state = SMC_LLC_LINK_ACTIVE;
	config_done(run);
	arm_probe(run, 0);
	ask(run, SMC_LLC_ACT_GROUP_UP, 0);
}

static void commit_dialect(struct llc_run *run)
{
	ask(run, SMC_LLC_ACT_COMMIT_DIALECT, 0)->dialect = run->flow->dialect;
}

static void send_confirm_link(struct llc_run *run, bool is_reply, bool no_eye_catcher,
			      u8 max_links)
{
	struct smc_llc_link *lnk = &run->flow->link[0];
	struct smc_llc_confirm_link *cl;

	cl = &ask_send(run, 0, SMC_LLC_CONFIRM_LINK, is_reply,
		       SMC_LLC_SENT_CONFIRM_LINK)->confirm_link;
	lnk->local_uid = run->flow->params.link_uid_base | lnk->num;
	cl->end = lnk->local;
	cl->link_uid = lnk->local_uid;
	cl->link_num = lnk->num;
	cl->max_links = max_links;
	cl->max_conns = run->flow->params.max_conns;
	cl->no_eye_catcher = no_eye_catcher;
}

/* An eye catcher where there is none: this side could not read what is sent. */
static bool is_other_dialect(const struct smc_llc_flow *flow,
			     const struct smc_llc_confirm_link *cl)
{
	return flow->params.dialect_is_fixed && !cl->no_eye_catcher;
}

static void negotiate(struct smc_llc_flow *flow, const struct smc_llc_confirm_link *cl)
{
	if (!flow->params.max_links_is_fixed)
		flow->max_links = smc_llc_max_links(flow->params.max_links, cl->max_links);
	if (flow->params.wants_deployed && cl->no_eye_catcher)
		flow->dialect = SMC_DIALECT_DEPLOYED;
	else
		flow->dialect = SMC_DIALECT_RFC;
	flow->link[0].peer_uid = cl->link_uid;
}

/* Ask for a queue pair to offer as a second link, SL-01 to SL-03. */
static void begin_add_link(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = free_index(flow);

	flow->retry_deadline = SMC_LLC_NO_DEADLINE;
	flow->config = SMC_LLC_CONFIG_SPARE;
	flow->config_link = any_active(flow);
	flow->config_target = target;
	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	flow->link[target].num = smc_llc_next_link_num(flow);
	flow->link[target].state = SMC_LLC_LINK_FORMING;
	flow->last_num = flow->link[target].num;
	ask(run, SMC_LLC_ACT_CREATE_SPARE, target);
}

static void begin_delete_link(struct llc_run *run, u8 target, u8 carrier, u32 reason,
			      bool is_orderly)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_delete_link *dl;

	flow->config = SMC_LLC_CONFIG_DELETE_LINK;
	flow->config_link = carrier;
	flow->config_target = target;
	flow->config_deadline = after(run, flow->params.timers.delete_link);
	if (target != carrier)
		flow->link[target].state = SMC_LLC_LINK_DELETING;
	dl = &ask_send(run, carrier, SMC_LLC_DELETE_LINK, false,
		       SMC_LLC_SENT_OTHER)->delete_link;
	dl->link_num = flow->link[target].num;
	dl->is_orderly = is_orderly;
	dl->reason = reason;
}

/* The exchange about the second link is over, one way or the other. */
static void second_link_settled(struct llc_run *run)
{
	config_done(run);
	if (run->flow->phase == SMC_LLC_SECOND_LINK)
		group_up(run);
}

static void on_start(struct llc_run *run, const struct smc_llc_start *start)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[0];

	if (flow->phase != SMC_LLC_IDLE)
		return;
	lnk->state = SMC_LLC_LINK_FORMING;
	lnk->local = start->local;
	lnk->peer = start->peer;
	if (flow->params.is_server) {
		lnk->num = smc_llc_next_link_num(flow);
		flow->last_num = lnk->num;
		flow->phase = SMC_LLC_PREPARING;
		ask(run, SMC_LLC_ACT_PREPARE_LINK, 0);
	} else {
		flow->phase = SMC_LLC_WAIT_CONFIRM_LINK;
		flow->config_deadline = after(run, flow->params.timers.confirm_link);
	}
}

static void on_link_prepared(struct llc_run *run, bool ok)
{
	struct smc_llc_flow *flow = run->flow;
	const struct smc_llc_timers *timers = &flow->params.timers;

	if (flow->phase != SMC_LLC_PREPARING)
		return;
	if (!ok) {
		fail_local(run, SMC_LLC_WHY_NOT_PREPARED, SMC_DECLINE_ERR_RDYLNK);
		return;
	}
	if (flow->params.is_server) {
		send_confirm_link(run, false, flow->params.wants_deployed, flow->params.max_links);
		flow->phase = SMC_LLC_WAIT_CONFIRM_REPLY;
		flow->config_deadline = after(run, timers->first_reply);
		return;
	}
	/* The reply lets the server send, so cursors have to be right before. */
	commit_dialect(run);
	send_confirm_link(run, true, flow->dialect == SMC_DIALECT_DEPLOYED, flow->max_links);
	if (flow->max_links == 1) {
		flow->phase = SMC_LLC_WAIT_CONFIRM_SENT;
		flow->config_deadline = after(run, timers->first_reply);
	} else {
		flow->phase = SMC_LLC_WAIT_ADD_LINK;
		flow->config_deadline = after(run, flow->dialect == SMC_DIALECT_DEPLOYED ?
					      timers->add_link_deployed : timers->add_link);
	}
}

static void on_spare_created(struct llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *spare = &flow->link[ev->link];
	struct smc_llc_add_link *al;

	if (flow->config != SMC_LLC_CONFIG_SPARE || flow->config_target != ev->link) {
		/* The group ended meanwhile. */
		if (ev->ok)
			ask(run, SMC_LLC_ACT_DROP_SPARE, ev->link);
		return;
	}
	if (!ev->ok) {
		spare->state = SMC_LLC_LINK_FREE;
		config_done(run);
		/* A client of the RFC dialect would wait in vain, AMB-28. */
		if (flow->phase == SMC_LLC_SECOND_LINK)
			fail_local(run, SMC_LLC_WHY_NO_SPARE, SMC_DECLINE_MEM);
		else
			arm_retry(run);
		return;
	}
	spare->local = ev->end;
	flow->config = SMC_LLC_CONFIG_ADD_LINK;
	flow->config_deadline = after(run, flow->phase == SMC_LLC_SECOND_LINK ?
				      flow->params.timers.first_reply :
				      flow->params.timers.reply);
	al = &ask_send(run, flow->config_link, SMC_LLC_ADD_LINK, false,
		       SMC_LLC_SENT_ADD_LINK)->add_link;
	al->end = spare->local;
	al->link_num = spare->num;
}

static void on_confirm_link_request(struct llc_run *run, u8 link,
				    const struct smc_llc_confirm_link *cl)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->params.is_server || flow->phase != SMC_LLC_WAIT_CONFIRM_LINK || link) {
		out_of_sync(run, link);
		return;
	}
	if (!end_equals(&cl->end, &flow->link[0].peer)) {
		fail_local(run, SMC_LLC_WHY_CONFIRM_LINK_DATA, SMC_DECLINE_ERR_RDYLNK);
		return;
	}
	if (is_other_dialect(flow, cl)) {
		fail_local(run, SMC_LLC_WHY_CONFIRM_LINK_DATA, SMC_DECLINE_RMBE_EC);
		return;
	}
	flow->link[0].num = cl->link_num;
	negotiate(flow, cl);
	flow->phase = SMC_LLC_PREPARING;
	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	ask(run, SMC_LLC_ACT_PREPARE_LINK, 0);
}

static void on_confirm_link_reply(struct llc_run *run, u8 link,
				  const struct smc_llc_confirm_link *cl)
{
	struct smc_llc_flow *flow = run->flow;

	if (!flow->params.is_server || flow->phase != SMC_LLC_WAIT_CONFIRM_REPLY || link) {
		out_of_sync(run, link);
		return;
	}
	if (!end_equals(&cl->end, &flow->link[0].peer) || cl->link_num != flow->link[0].num) {
		/* AMB-57 */
		fail_local(run, SMC_LLC_WHY_CONFIRM_LINK_DATA, SMC_DECLINE_ERR_RDYLNK);
		return;
	}
	if (is_other_dialect(flow, cl)) {
		fail_local(run, SMC_LLC_WHY_CONFIRM_LINK_DATA, SMC_DECLINE_RMBE_EC);
		return;
	}
	flow->is_confirmed = true;
	flow->link[0].state = SMC_LLC_LINK_ACTIVE;
	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	negotiate(flow, cl);
	/* The client may send once it has ADD LINK, or now if it gets none. */
	commit_dialect(run);
	if (flow->max_links == 1) {
		group_up(run);
		return;
	}
	flow->phase = SMC_LLC_SECOND_LINK;
	begin_add_link(run);
}

static bool may_begin_config(const struct smc_llc_flow *flow)
{
	return flow->phase == SMC_LLC_UP && flow->config == SMC_LLC_CONFIG_NONE &&
	       !flow->rkey_busy && flow->remote == SMC_LLC_REMOTE_NONE;
}

/* Time has passed while the server was busy with its links, AMB-21. */
static void extend_delete_rkey(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->rkey_busy && flow->rkey_msg.type == SMC_LLC_DELETE_RKEY)
		flow->rkey_deadline = after(run, flow->params.timers.reply);
}

/* A client says that it has another RNIC, ADDL-06 to ADDL-09. */
static void on_add_link_notice(struct llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;

	if (!is_confirmed_phase(flow)) {
		out_of_sync(run, link);
		return;
	}
	/* Crossed with our own ADD LINK, which is the answer, SER-07. */
	if (flow->config == SMC_LLC_CONFIG_SPARE || flow->config == SMC_LLC_CONFIG_ADD_LINK)
		return;
	if (nr_active(flow) < flow->max_links)
		flow->pending |= SMC_LLC_PENDING_ADD_LINK;
}

/* The same in version 2, where a server that has none says so (linux-abi 4.4). */
static void on_req_add_link(struct llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_flow *flow = run->flow;

	if (msg->is_reply || !flow->params.is_server || !is_confirmed_phase(flow))
		out_of_sync(run, link);
	else if (flow->max_links > 1)
		on_add_link_notice(run, link);
	else
		ask_send(run, link, SMC_LLC_REQ_ADD_LINK, true, SMC_LLC_SENT_OTHER);
}

/*
 * The server offers a second link. There is one link in a group here, so the
 * answer is no; it counts as the end of first contact, SL-06, ERR-11, ERR-44.
 */
static void on_add_link_offer(struct llc_run *run, u8 link,
			      const struct smc_llc_add_link *offer)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_add_link *al;

	if (flow->phase != SMC_LLC_WAIT_ADD_LINK && flow->phase != SMC_LLC_WAIT_CONFIRM_SENT &&
	    flow->phase != SMC_LLC_UP) {
		out_of_sync(run, link);
		return;
	}
	al = &ask_send(run, link, SMC_LLC_ADD_LINK, true, SMC_LLC_SENT_OTHER)->add_link;
	al->link_num = offer->link_num;
	al->is_rejected = true;
	al->reason = smc_nego_mtu_is_valid(offer->end.mtu) ? SMC_LLC_ADD_LINK_NO_PATH :
							     SMC_LLC_ADD_LINK_BAD_MTU;
	extend_delete_rkey(run);
	if (flow->phase == SMC_LLC_WAIT_ADD_LINK)
		group_up(run);
}

static void on_add_link_reply(struct llc_run *run, u8 link,
			      const struct smc_llc_add_link *al)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = flow->config_target;
	bool is_sane;

	if (flow->config != SMC_LLC_CONFIG_ADD_LINK || link != flow->config_link) {
		out_of_sync(run, link);
		return;
	}
	flow->may_decline = false;
	if (al->link_num != flow->link[target].num) {
		out_of_sync(run, link);
		return;
	}
	if (al->is_rejected) {
		drop_spare(run, target);
		second_link_settled(run);
		arm_retry(run);
		return;
	}
	/*
	 * Accepted, but one link is all there is: the offer is taken back, and
	 * data waits until the client knows, SL-17. A link between the same
	 * two RNICs would not have been allowed anyway, ERR-45.
	 */
	is_sane = al->end.qpn && smc_nego_mtu_is_valid(al->end.mtu) &&
		  !(same_rnic(&al->end, &flow->link[link].peer) &&
		    same_rnic(&flow->link[target].local, &flow->link[link].local));
	begin_delete_link(run, target, link,
			  is_sane ? SMC_LLC_DELETE_LOST_PATH : SMC_LLC_DELETE_PROTOCOL, false);
}

static void ask_delete_all(struct llc_run *run, u8 link, u32 reason, bool is_orderly)
{
	struct smc_llc_delete_link *dl;

	dl = &ask_send(run, link, SMC_LLC_DELETE_LINK, false,
		       SMC_LLC_SENT_DELETE_ALL)->delete_link;
	dl->is_all = true;
	dl->is_orderly = is_orderly;
	dl->reason = reason;
}

static void send_delete_all(struct llc_run *run, u32 reason, bool is_orderly)
{
	struct smc_llc_flow *flow = run->flow;

	ask_delete_all(run, any_active(flow), reason, is_orderly);
	flow->phase = SMC_LLC_TERMINATING;
	flow->config_deadline = after(run, flow->params.timers.terminate);
}

/* The peer ends the whole group; this goes past all exchanges, AMB-67. */
static void on_delete_all(struct llc_run *run, u8 link, const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;

	if (is_forming(flow)) {
		if (flow->params.is_server)
			ask_delete_all(run, link, dl->reason, dl->is_orderly);
		fail_forming(run, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DELETED, 0);
		return;
	}
	if (!flow->params.is_server) {
		/* LGT-05, and the answer to a request of our own */
		terminate(run, flow->phase == SMC_LLC_TERMINATING ? flow->end_why :
							SMC_LLC_WHY_PEER_DELETED);
		return;
	}
	/* Crossed with ours, which is the answer. */
	if (flow->phase == SMC_LLC_TERMINATING)
		return;
	flow->end_why = SMC_LLC_WHY_PEER_DELETED;
	send_delete_all(run, dl->reason, dl->is_orderly);
}

static void reply_delete_link(struct llc_run *run, u8 link, u8 num, u32 reason,
			      enum smc_llc_sent sent)
{
	struct smc_llc_delete_link *dl;

	dl = &ask_send(run, link, SMC_LLC_DELETE_LINK, true, sent)->delete_link;
	dl->link_num = num;
	dl->reason = reason;
}

/* The server deletes a link; a client cannot refuse, DELL-05, DELL-06. */
static void on_delete_from_server(struct llc_run *run, u8 link,
				  const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = link_by_num(flow, dl->link_num);

	extend_delete_rkey(run);
	if (target == SMC_LLC_LINKS) {
		/* ERR-49 */
		reply_delete_link(run, link, dl->link_num, SMC_LLC_DELETE_UNKNOWN_LINK,
				  SMC_LLC_SENT_OTHER);
		return;
	}
	if (flow->link[target].state == SMC_LLC_LINK_DELETING)
		return;
	reply_delete_link(run, link, dl->link_num, 0, SMC_LLC_SENT_DELETE_REPLY);
	if (is_forming(flow)) {
		fail_forming(run, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DELETED, 0);
		return;
	}
	flow->link[target].state = SMC_LLC_LINK_DELETING;
	flow->link[target].deadline = SMC_LLC_NO_DEADLINE;
}

/*
 * A client wants a link deleted: only the server does it, by a request of its
 * own, once no other exchange is under way; DELL-08 to DELL-10, SER-08.
 */
static void on_delete_from_client(struct llc_run *run, u8 link,
				  const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = link_by_num(flow, dl->link_num);

	if (target == SMC_LLC_LINKS) {
		/* ERR-48: late talk about a link that is gone, or nonsense */
		if (!flow->deleted_num || dl->link_num != flow->deleted_num)
			reply_delete_link(run, link, dl->link_num, SMC_LLC_DELETE_UNKNOWN_LINK,
					  SMC_LLC_SENT_OTHER);
		return;
	}
	if (flow->config == SMC_LLC_CONFIG_DELETE_LINK && flow->config_target == target)
		return;
	flow->pending_delete = *dl;
	flow->pending |= SMC_LLC_PENDING_DELETE_LINK;
}

static void on_delete_reply(struct llc_run *run, u8 link,
			    const struct smc_llc_delete_link *dl)
{
	struct smc_llc_flow *flow = run->flow;
	u8 target = flow->config_target;

	if (flow->config != SMC_LLC_CONFIG_DELETE_LINK || link != flow->config_link ||
	    dl->link_num != flow->link[target].num) {
		out_of_sync(run, link);
		return;
	}
	/* "Unknown link" is as good as yes. */
	if (target != link) {
		drop_spare(run, target);
		second_link_settled(run);
		return;
	}
	link_failed(run, target, SMC_LLC_WHY_PEER_DELETED);
}

static void on_delete_link(struct llc_run *run, u8 link, const struct smc_llc_msg *msg)
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
	if (dl->is_all || !is_confirmed_phase(flow))
		out_of_sync(run, link);
	else if (msg->is_reply)
		on_delete_reply(run, link, dl);
	else if (flow->params.is_server)
		on_delete_from_client(run, link, dl);
	else
		on_delete_from_server(run, link, dl);
}

static bool is_rkey_refused(const struct smc_llc_flow *flow)
{
	/*
	 * Deployed peers take a refusal for a failure of the connection and
	 * never refuse themselves (deviation 15 of the deployed dialect).
	 */
	return flow->config != SMC_LLC_CONFIG_NONE && flow->dialect == SMC_DIALECT_RFC;
}

/*
 * Every active link needs its key, ERR-50; a key for a link which the peer
 * has not yet seen go does no harm, one for any other link makes no sense.
 */
static bool rkey_links_are_known(const struct smc_llc_flow *flow, u8 link,
				 const struct smc_llc_confirm_rkey *cr)
{
	u8 i, at;

	if (cr->nr_rtokens > SMC_LLC_RKEY_SPECS)
		return false;
	for (i = 0; i < cr->nr_rtokens; i++) {
		at = link_by_num(flow, cr->other[i].link_num);
		if (at == link)
			return false;
		if (at == SMC_LLC_LINKS &&
		    (!flow->deleted_num || cr->other[i].link_num != flow->deleted_num))
			return false;
	}
	return true;
}

static bool rkey_has_link(const struct smc_llc_confirm_rkey *cr, u8 num)
{
	u8 i;

	for (i = 0; i < cr->nr_rtokens && i < SMC_LLC_RKEY_SPECS; i++)
		if (cr->other[i].link_num == num)
			return true;
	return false;
}

static void on_confirm_rkey_request(struct llc_run *run, u8 link,
				    const struct smc_llc_msg *msg)
{
	const struct smc_llc_confirm_rkey *cr = &msg->confirm_rkey;
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_msg *reply;
	u8 i;

	if (!is_confirmed_phase(flow) || flow->remote != SMC_LLC_REMOTE_NONE) {
		out_of_sync(run, link);
		return;
	}
	if (is_rkey_refused(flow)) {
		/* SER-10, SER-15: the peer starts over afterwards */
		reply = ask_send(run, link, SMC_LLC_CONFIRM_RKEY, true, SMC_LLC_SENT_OTHER);
		*reply = *msg;
		reply->is_reply = true;
		reply->confirm_rkey.is_negative = true;
		reply->confirm_rkey.may_retry = true;
		return;
	}
	if (!rkey_links_are_known(flow, link, cr)) {
		out_of_sync(run, link);
		return;
	}
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (i != link && flow->link[i].state == SMC_LLC_LINK_ACTIVE &&
		    !rkey_has_link(cr, flow->link[i].num))
			link_failed(run, i, SMC_LLC_WHY_RKEY_MISSING);
	flow->remote = SMC_LLC_REMOTE_CONFIRM_RKEY;
	flow->remote_link = link;
	flow->remote_msg = *msg;
	ask(run, SMC_LLC_ACT_STORE_RTOKEN, link)->msg = *msg;
}

static void begin_remote_delete(struct llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_flow *flow = run->flow;

	flow->remote = SMC_LLC_REMOTE_DELETE_RKEY;
	flow->remote_link = link;
	flow->remote_msg = *msg;
	ask(run, SMC_LLC_ACT_DELETE_RTOKENS, link)->msg = *msg;
}

static void on_delete_rkey_request(struct llc_run *run, u8 link,
				   const struct smc_llc_msg *msg)
{
	struct smc_llc_flow *flow = run->flow;

	if (!is_confirmed_phase(flow) || flow->remote != SMC_LLC_REMOTE_NONE ||
	    (flow->pending & SMC_LLC_PENDING_DELETE_RKEY)) {
		out_of_sync(run, link);
	} else if (is_rkey_refused(flow)) {
		/* This message has no way to refuse: it waits, AMB-21. */
		flow->pending |= SMC_LLC_PENDING_DELETE_RKEY;
		flow->pending_rkeys = *msg;
		flow->pending_rkeys_link = link;
	} else {
		begin_remote_delete(run, link, msg);
	}
}

static void on_rtoken_stored(struct llc_run *run, bool ok)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_msg *reply;

	if (flow->remote != SMC_LLC_REMOTE_CONFIRM_RKEY)
		return;
	flow->remote = SMC_LLC_REMOTE_NONE;
	reply = ask_send(run, flow->remote_link, SMC_LLC_CONFIRM_RKEY, true, SMC_LLC_SENT_OTHER);
	*reply = flow->remote_msg;
	reply->is_reply = true;
	reply->confirm_rkey.is_negative = !ok;
}

static void on_rtokens_deleted(struct llc_run *run, u8 error_mask)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_msg *reply;

	if (flow->remote != SMC_LLC_REMOTE_DELETE_RKEY)
		return;
	flow->remote = SMC_LLC_REMOTE_NONE;
	reply = ask_send(run, flow->remote_link, SMC_LLC_DELETE_RKEY, true, SMC_LLC_SENT_OTHER);
	*reply = flow->remote_msg;
	reply->is_reply = true;
	/* ERR-51, RKEY-18 */
	reply->delete_rkey.is_negative = error_mask;
	reply->delete_rkey.error_mask = error_mask;
}

static bool is_rkey_reply_due(const struct smc_llc_flow *flow, u8 link, u8 type)
{
	return flow->rkey_busy && flow->rkey_link == link && flow->rkey_msg.type == type;
}

static void on_confirm_rkey_reply(struct llc_run *run, u8 link,
				  const struct smc_llc_confirm_rkey *cr)
{
	struct smc_llc_flow *flow = run->flow;
	const struct smc_llc_confirm_rkey *sent = &flow->rkey_msg.confirm_rkey;

	if (!is_rkey_reply_due(flow, link, SMC_LLC_CONFIRM_RKEY)) {
		out_of_sync(run, link);
	} else if (!cr->is_negative && cr->here.rkey == sent->here.rkey) {
		rkey_done(run, 0);
	} else if (!cr->is_negative) {
		out_of_sync(run, link);
	} else if (cr->may_retry) {
		/* RKEY-12; a change that we do not see gets time to pass */
		flow->rkey_hold = after(run, flow->params.timers.rkey_retry);
		rkey_done(run, -EAGAIN);
	} else {
		rkey_done(run, -EREMOTEIO);
	}
}

static void on_delete_rkey_reply(struct llc_run *run, u8 link,
				 const struct smc_llc_delete_rkey *dr)
{
	struct smc_llc_flow *flow = run->flow;
	const struct smc_llc_delete_rkey *sent = &flow->rkey_msg.delete_rkey;

	if (!is_rkey_reply_due(flow, link, SMC_LLC_DELETE_RKEY))
		out_of_sync(run, link);
	else if (dr->is_negative)
		/* Keys that the peer does not know are as deleted, RKEY-19. */
		rkey_done(run, 0);
	else if (dr->count != sent->count ||
		 (!dr->is_nameless && memcmp(dr->rkey, sent->rkey, sizeof(dr->rkey))))
		out_of_sync(run, link);
	else
		rkey_done(run, 0);
}

static void refuse_request(struct llc_run *run, u64 cookie, int result)
{
	struct smc_llc_action *act = ask(run, SMC_LLC_ACT_RKEY_DONE, 0);

	act->cookie = cookie;
	act->result = result;
}

static int check_rkey_req(const struct smc_llc_flow *flow, const struct smc_llc_rkey_req *req,
			  u64 now)
{
	unsigned int max = req->is_delete ? SMC_LLC_DELETE_RKEYS : 1 + SMC_LLC_RKEY_SPECS;
	unsigned int i;

	if (flow->phase >= SMC_LLC_TERMINATING)
		return -ECONNABORTED;
	if (!smc_llc_flow_may_request(flow, now))
		return -EBUSY;
	if (!req->count || req->count > max)
		return -EINVAL;
	for (i = 0; i < req->count; i++) {
		if (req->rtoken[i].link_num >= SMC_LLC_LINKS)
			return -EINVAL;
		if (flow->link[req->rtoken[i].link_num].state != SMC_LLC_LINK_ACTIVE)
			return -ECONNABORTED;
	}
	return 0;
}

static void on_req_rkey(struct llc_run *run, const struct smc_llc_event *ev)
{
	const struct smc_llc_rkey_req *req = &ev->rkey;
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_msg *msg;
	unsigned int i;
	int rc;

	rc = check_rkey_req(flow, req, run->now);
	if (rc) {
		refuse_request(run, ev->cookie, rc);
		return;
	}
	flow->rkey_busy = true;
	flow->rkey_cookie = ev->cookie;
	flow->rkey_link = req->rtoken[0].link_num;
	flow->rkey_deadline = after(run, flow->params.timers.reply);
	msg = ask_send(run, flow->rkey_link,
		       req->is_delete ? SMC_LLC_DELETE_RKEY : SMC_LLC_CONFIRM_RKEY, false,
		       SMC_LLC_SENT_OTHER);
	if (req->is_delete) {
		msg->delete_rkey.count = req->count;
		for (i = 0; i < req->count; i++)
			msg->delete_rkey.rkey[i] = req->rtoken[i].rkey;
	} else {
		msg->confirm_rkey.nr_rtokens = req->count - 1;
		msg->confirm_rkey.here.rkey = req->rtoken[0].rkey;
		msg->confirm_rkey.here.vaddr = req->rtoken[0].vaddr;
		for (i = 1; i < req->count; i++) {
			msg->confirm_rkey.other[i - 1] = req->rtoken[i];
			msg->confirm_rkey.other[i - 1].link_num =
				flow->link[req->rtoken[i].link_num].num;
		}
	}
	flow->rkey_msg = *msg;
}

static void send_probe(struct llc_run *run, u8 link, const u8 *user_data)
{
	struct smc_llc_link *lnk = &run->flow->link[link];
	struct smc_llc_msg *msg;

	memcpy(lnk->probe, user_data, sizeof(lnk->probe));
	lnk->is_probing = true;
	lnk->deadline = after(run, run->flow->params.timers.test_link);
	msg = ask_send(run, link, SMC_LLC_TEST_LINK, false, SMC_LLC_SENT_OTHER);
	memcpy(msg->test_link.user_data, user_data, sizeof(msg->test_link.user_data));
}

static void on_test_link(struct llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	/* Requests are answered where they arrive, smc_llc_answer_test_link(). */
	if (!msg->is_reply)
		return;
	if (!lnk->is_probing)
		out_of_sync(run, link);
	else if (memcmp(lnk->probe, msg->test_link.user_data, sizeof(lnk->probe)))
		link_failed(run, link, SMC_LLC_WHY_TEST_LINK_DATA);
	else
		arm_probe(run, link);
}

static void on_req_test_link(struct llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->phase == SMC_LLC_UP && flow->link[ev->link].state == SMC_LLC_LINK_ACTIVE &&
	    !flow->link[ev->link].is_probing)
		send_probe(run, ev->link, ev->timer.user_data);
}

static void on_msg(struct llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->phase == SMC_LLC_TERMINATING && msg->type != SMC_LLC_DELETE_LINK)
		return;

	switch (msg->type) {
	case SMC_LLC_CONFIRM_LINK:
		if (msg->is_reply)
			on_confirm_link_reply(run, link, &msg->confirm_link);
		else
			on_confirm_link_request(run, link, &msg->confirm_link);
		break;
	case SMC_LLC_ADD_LINK:
		if (msg->is_reply)
			on_add_link_reply(run, link, &msg->add_link);
		else if (flow->params.is_server)
			on_add_link_notice(run, link);
		else
			on_add_link_offer(run, link, &msg->add_link);
		break;
	case SMC_LLC_REQ_ADD_LINK:
		on_req_add_link(run, link, msg);
		break;
	case SMC_LLC_DELETE_LINK:
		on_delete_link(run, link, msg);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		if (msg->is_reply)
			on_confirm_rkey_reply(run, link, &msg->confirm_rkey);
		else
			on_confirm_rkey_request(run, link, msg);
		break;
	case SMC_LLC_DELETE_RKEY:
		if (msg->is_reply)
			on_delete_rkey_reply(run, link, &msg->delete_rkey);
		else
			on_delete_rkey_request(run, link, msg);
		break;
	case SMC_LLC_TEST_LINK:
		on_test_link(run, link, msg);
		break;
	default:
		/*
		 * Continuations belong to links that no peer can have with
		 * this side: none was accepted.
		 */
		out_of_sync(run, link);
		break;
	}
}

static void on_sent_badly(struct llc_run *run, u8 link, enum smc_llc_sent sent)
{
	struct smc_llc_flow *flow = run->flow;

	/* A failed send is handled like its timeout, ERR-19. */
	if (flow->phase == SMC_LLC_TERMINATING) {
		terminate(run, flow->end_why);
	} else if (flow->phase == SMC_LLC_UP) {
		link_failed(run, link, SMC_LLC_WHY_SEND_FAILED);
	} else if (!is_forming(flow)) {
		return;
	} else if (sent == SMC_LLC_SENT_CONFIRM_LINK) {
		/* ERR-21, ERR-22 */
		fail_local(run, SMC_LLC_WHY_CONFIRM_LINK_SEND, SMC_DECLINE_TIMEOUT_CL);
	} else if (sent == SMC_LLC_SENT_ADD_LINK) {
		fail_local(run, SMC_LLC_WHY_ADD_LINK_SEND, SMC_DECLINE_TIMEOUT_AL);
	} else {
		fail_local(run, SMC_LLC_WHY_SEND_FAILED, SMC_DECLINE_ERR_RDYLNK);
	}
}

static void on_sent(struct llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;
	u8 i;

	if (!ev->ok) {
		on_sent_badly(run, ev->link, ev->cookie);
		return;
	}
	switch (ev->cookie) {
	case SMC_LLC_SENT_CONFIRM_LINK:
		flow->is_confirmed = true;
		if (flow->phase == SMC_LLC_WAIT_CONFIRM_SENT)
			group_up(run);
		break;
	case SMC_LLC_SENT_ADD_LINK:
		/* Point of no return of the server, ERR-10. */
		flow->may_decline = false;
		break;
	case SMC_LLC_SENT_DELETE_REPLY:
		for (i = 0; i < SMC_LLC_LINKS && flow->phase == SMC_LLC_UP; i++)
			if (flow->link[i].state == SMC_LLC_LINK_DELETING)
				link_failed(run, i, SMC_LLC_WHY_PEER_DELETED);
		break;
	case SMC_LLC_SENT_DELETE_ALL:
		/* The server is done now, LGT-04; a client waits for its answer. */
		if (flow->phase == SMC_LLC_TERMINATING && flow->params.is_server)
			terminate(run, flow->end_why);
		break;
	default:
		break;
	}
}

static void on_link_broken(struct llc_run *run, u8 link)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->phase == SMC_LLC_TERMINATING)
		terminate(run, flow->end_why);
	else if (flow->phase == SMC_LLC_UP)
		link_failed(run, link, SMC_LLC_WHY_LINK_BROKEN);
	else if (is_forming(flow))
		fail_local(run, SMC_LLC_WHY_LINK_BROKEN, SMC_DECLINE_ERR_RDYLNK);
}

static void on_declined(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (!is_forming(flow))
		return;
	/* Both sides stop heeding Declines where they stop sending, AMB-04. */
	fail_forming(run, flow->may_decline ? SMC_LLC_FAIL_DECLINED : SMC_LLC_FAIL_RESET,
		     SMC_LLC_WHY_PEER_DECLINED, 0);
}

static void on_req_terminate(struct llc_run *run, u32 reason, bool is_orderly)
{
	struct smc_llc_flow *flow = run->flow;

	if (is_forming(flow)) {
		fail_local(run, SMC_LLC_WHY_DELETED, SMC_DECLINE_INTERR);
	} else if (flow->phase == SMC_LLC_IDLE) {
		terminate(run, SMC_LLC_WHY_DELETED);
	} else if (flow->phase == SMC_LLC_UP) {
		flow->end_why = SMC_LLC_WHY_DELETED;
		if (nr_active(flow))
			send_delete_all(run, reason, is_orderly);
		else
			terminate(run, SMC_LLC_WHY_DELETED);
	}
}

/* Nobody answered in a phase of first contact, ERR-20, 24, 27, 28. */
static void forming_timeout(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	enum smc_llc_why why;

	switch (flow->phase) {
	case SMC_LLC_WAIT_CONFIRM_LINK:
		why = SMC_LLC_WHY_CONFIRM_LINK_TIMEOUT;
		break;
	case SMC_LLC_WAIT_CONFIRM_REPLY:
		why = SMC_LLC_WHY_CONFIRM_LINK_REPLY_TIMEOUT;
		break;
	case SMC_LLC_WAIT_ADD_LINK:
		if (flow->dialect == SMC_DIALECT_DEPLOYED) {
			/* Deviation 11: such a server may send none. */
			group_up(run);
			return;
		}
		why = SMC_LLC_WHY_ADD_LINK_TIMEOUT;
		break;
	case SMC_LLC_SECOND_LINK:
		why = flow->config == SMC_LLC_CONFIG_DELETE_LINK ?
			SMC_LLC_WHY_DELETE_LINK_TIMEOUT :
			SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT;
		break;
	default:
		why = SMC_LLC_WHY_SEND_FAILED;
		break;
	}
	fail_forming(run, SMC_LLC_FAIL_RESET, why, 0);
}

static void config_timeout(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	if (is_forming(flow))
		forming_timeout(run);
	else if (flow->phase == SMC_LLC_TERMINATING)
		/* ERR-36, ERR-37 */
		terminate(run, flow->end_why);
	else if (flow->config == SMC_LLC_CONFIG_ADD_LINK)
		/* ERR-29 */
		link_failed(run, flow->config_link, SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT);
	else if (flow->config == SMC_LLC_CONFIG_DELETE_LINK)
		/* ERR-38 */
		link_failed(run, flow->config_link, SMC_LLC_WHY_DELETE_LINK_TIMEOUT);
}

/* Silence on a link, or no answer to a probe; KA-03, ERR-41, ERR-42. */
static void probe_timeout(struct llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[ev->link];
	u32 idle = flow->params.test_link_idle_ms;

	if (lnk->is_probing)
		link_failed(run, ev->link, SMC_LLC_WHY_TEST_LINK_TIMEOUT);
	else if (ev->timer.last_rx + idle > run->now)
		lnk->deadline = ev->timer.last_rx + idle;
	else
		send_probe(run, ev->link, ev->timer.user_data);
}

static void on_timer(struct llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;

	if (run->now >= flow->config_deadline)
		config_timeout(run);
	/* ERR-39, ERR-40, AMB-58 */
	if (run->now >= flow->rkey_deadline)
		link_failed(run, flow->rkey_link, SMC_LLC_WHY_RKEY_TIMEOUT);
	if (flow->phase == SMC_LLC_UP && run->now >= flow->link[ev->link].deadline)
		probe_timeout(run, ev);
	if (run->now >= flow->rkey_hold)
		flow->rkey_hold = 0;
	if (run->now >= flow->retry_deadline) {
		/* ERR-57 */
		flow->retry_deadline = SMC_LLC_NO_DEADLINE;
		flow->pending |= SMC_LLC_PENDING_ADD_LINK;
	}
}

/* What had to wait for a slot, in the order of its weight. */
static void run_pending(struct llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_delete_link *dl = &flow->pending_delete;
	u8 target;

	if (flow->phase != SMC_LLC_UP)
		return;
	if ((flow->pending & SMC_LLC_PENDING_DELETE_RKEY) &&
	    flow->config == SMC_LLC_CONFIG_NONE && flow->remote == SMC_LLC_REMOTE_NONE) {
		flow->pending &= ~SMC_LLC_PENDING_DELETE_RKEY;
		begin_remote_delete(run, flow->pending_rkeys_link, &flow->pending_rkeys);
	}
	if ((flow->pending & SMC_LLC_PENDING_DELETE_LINK) && may_begin_config(flow)) {
		flow->pending &= ~SMC_LLC_PENDING_DELETE_LINK;
		target = link_by_num(flow, dl->link_num);
		if (target != SMC_LLC_LINKS)
			begin_delete_link(run, target, any_active(flow), dl->reason,
					  dl->is_orderly);
	}
	if ((flow->pending & SMC_LLC_PENDING_ADD_LINK) && may_begin_config(flow)) {
		flow->pending &= ~SMC_LLC_PENDING_ADD_LINK;
		if (nr_active(flow) < flow->max_links)
			begin_add_link(run);
	}
}

/* Late news of a link that was given up, or of one that is not in use yet. */
static bool is_stray(const struct smc_llc_flow *flow, const struct smc_llc_event *ev)
{
	switch (ev->type) {
	case SMC_LLC_EV_MSG:
	case SMC_LLC_EV_BAD_MSG:
	case SMC_LLC_EV_SENT:
	case SMC_LLC_EV_LINK_BROKEN:
		return flow->link[ev->link].state == SMC_LLC_LINK_FREE ||
		       is_on_trial(flow, ev->link);
	default:
		return false;
	}
}

/**
 * smc_llc_flow_event() - something happened
 * @flow: the machine
 * @ev: what; only read during the call. TIMER is given once for each active
 *	link, with the time of the last message on it
 * @now: in ms, of any clock that never goes back
 * @out: emptied, then filled with what the caller has to do, in order, before
 *	the next event; at most SMC_LLC_ACTIONS entries
 *
 * RFC 7609 3.5.1.5, 3.5.1.6, 3.5.4, 3.5.5, Appendix C. Events that come after
 * the end are ignored, but for a queue pair created too late: it is dropped.
 *
 * Context: Any context. The caller serialises.
 */
void smc_llc_flow_event(struct smc_llc_flow *flow, const struct smc_llc_event *ev, u64 now,
			struct smc_llc_actions *out)
{
	struct llc_run run = { .flow = flow, .out = out, .now = now };

	out->nr = 0;
	if (ev->link >= SMC_LLC_LINKS || is_stray(flow, ev))
		return;
	switch (ev->type) {
	case SMC_LLC_EV_START:
		on_start(&run, &ev->start);
		break;
	case SMC_LLC_EV_MSG:
		on_msg(&run, ev->link, &ev->msg);
		break;
	case SMC_LLC_EV_BAD_MSG:
		out_of_sync(&run, ev->link);
		break;
	case SMC_LLC_EV_SENT:
		on_sent(&run, ev);
		break;
	case SMC_LLC_EV_TIMER:
		on_timer(&run, ev);
		break;
	case SMC_LLC_EV_LINK_PREPARED:
		on_link_prepared(&run, ev->ok);
		break;
	case SMC_LLC_EV_SPARE_CREATED:
		on_spare_created(&run, ev);
		break;
	case SMC_LLC_EV_RTOKEN_STORED:
		on_rtoken_stored(&run, ev->ok);
		break;
	case SMC_LLC_EV_RTOKENS_DELETED:
		on_rtokens_deleted(&run, ev->error_mask);
		break;
	case SMC_LLC_EV_LINK_BROKEN:
		on_link_broken(&run, ev->link);
		break;
	case SMC_LLC_EV_DECLINED:
		on_declined(&run);
		break;
	case SMC_LLC_EV_REQ_RKEY:
		on_req_rkey(&run, ev);
		break;
	case SMC_LLC_EV_REQ_TEST_LINK:
		on_req_test_link(&run, ev);
		break;
	case SMC_LLC_EV_REQ_ADD_LINK:
		if (flow->params.is_server && flow->phase == SMC_LLC_UP)
			flow->pending |= SMC_LLC_PENDING_ADD_LINK;
		break;
	case SMC_LLC_EV_REQ_TERMINATE:
		on_req_terminate(&run, ev->terminate.reason, ev->terminate.is_orderly);
		break;
	}
	run_pending(&run);
}

/**
 * smc_llc_flow_init() - a machine that has seen nothing yet
 * @flow: written as a whole
 * @params: copied
 *
 * Context: Any context.
 */
void smc_llc_flow_init(struct smc_llc_flow *flow, const struct smc_llc_params *params)
{
	unsigned int i;

	memset(flow, 0, sizeof(*flow));
	flow->params = *params;
	if (!params->max_links_is_fixed)
		flow->params.max_links = clamp_t(u8, params->max_links, SMC_LLC_MAX_LINKS_MIN,
						 SMC_LLC_MAX_LINKS_MAX);
	flow->max_links = flow->params.max_links;
	flow->phase = SMC_LLC_IDLE;
	flow->dialect = SMC_DIALECT_RFC;
	flow->may_decline = true;
	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	flow->rkey_deadline = SMC_LLC_NO_DEADLINE;
	flow->retry_deadline = SMC_LLC_NO_DEADLINE;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		flow->link[i].deadline = SMC_LLC_NO_DEADLINE;
}

/**
 * smc_llc_flow_deadline() - when to come back with SMC_LLC_EV_TIMER
 * @flow: the machine
 *
 * Context: Any context. The caller serialises.
 * Return: time in ms on the caller's clock, or SMC_LLC_NO_DEADLINE.
 */
u64 smc_llc_flow_deadline(const struct smc_llc_flow *flow)
{
	u64 first = min(flow->config_deadline, min(flow->rkey_deadline, flow->retry_deadline));
	unsigned int i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		first = min(first, flow->link[i].deadline);
	if (flow->rkey_hold)
		first = min(first, flow->rkey_hold);
	return first;
}

/**
 * smc_llc_flow_may_request() - is there room for an RKEY exchange of this side?
 * @flow: the machine
 * @now: in ms
 *
 * One at a time, none while links change (SER-02, SER-05), and none for a
 * moment after the peer refused one (RKEY-12).
 *
 * Context: Any context. The caller serialises.
 * Return: true if SMC_LLC_EV_REQ_RKEY would be taken.
 */
bool smc_llc_flow_may_request(const struct smc_llc_flow *flow, u64 now)
{
	return flow->phase == SMC_LLC_UP && flow->config == SMC_LLC_CONFIG_NONE &&
	       !flow->rkey_busy && now >= flow->rkey_hold;
}

/**
 * smc_llc_max_links() - agree on the limit of links
 * @own: limit of this side
 * @peer: limit of the peer, 0 if it gave none
 *
 * RFC 7609 2.2.2, A.3.1; MAXL-01 to MAXL-07, AMB-26.
 *
 * Context: Any context.
 * Return: the smaller one, within 2..8.
 */
u8 smc_llc_max_links(u8 own, u8 peer)
{
	u8 links = peer ? min(own, peer) : own;

	return clamp_t(u8, links, SMC_LLC_MAX_LINKS_MIN, SMC_LLC_MAX_LINKS_MAX);
}

/**
 * smc_llc_next_link_num() - link number for a new link
 * @flow: the machine of a server
 *
 * Numbers go round from 1 to 255, so that one comes back only after all
 * others (LID-03, AMB-27); those of living links are left out.
 *
 * Context: Any context. The caller serialises.
 * Return: 1..255.
 */
u8 smc_llc_next_link_num(const struct smc_llc_flow *flow)
{
	u8 num = flow->last_num;

	do {
		num = num == U8_MAX ? 1 : num + 1;
	} while (link_by_num(flow, num) != SMC_LLC_LINKS);
	return num;
}

/**
 * smc_llc_why_name() - text of a reason
 * @why: any value
 *
 * Context: Any context.
 * Return: a constant string, never NULL.
 */
const char *smc_llc_why_name(enum smc_llc_why why)
{
	return why < ARRAY_SIZE(llc_why_names) ? llc_why_names[why] : "unknown";
}
