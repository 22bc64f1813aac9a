// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC machine of a link group, RFC 7609 3.5.1.5, 3.5.1.6, 3.5.4, 3.5.5 and Appendix C:
 * first contact, probes, the end of the group, and the dispatch of events to the other files,
 * see smc_llc_run.h. Nothing here waits, allocates or knows a queue pair.
 *
 * Exchanges: a link group has at most one exchange that changes its links (config), one RKEY
 * exchange of this side (own) and one of the peer (remote). Only the two RKEY directions may
 * overlap (RFC 7609 3.5.5.3). A request at the wrong time becomes pending: a link marked
 * FAILED or DELETE_WANTED, next_add, a DELETE RKEY put off. After each event settle() ends
 * exchanges that lost their link and starts pending ones, the most important first.
 *
 * Links: the group has one link until the owner has reported its RNICs. The server must offer a
 * second link even then, and withdraws it if the peer accepts; a client declines the offer.
 *
 * Error handling: first contact ends in GROUP_UP or GROUP_FAILED, a group that was up in
 * TERMINATE, each exactly once. No action follows.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "proto/smc_llc_add.h"
#include "proto/smc_llc_delete.h"
#include "proto/smc_llc_keys.h"
#include "proto/smc_llc_links.h"

/* Text and kind of each reason. */
static const struct {
	const char		*name;
	enum smc_llc_fault	fault;
} llc_whys[SMC_LLC_WHY_NR] = {
	[SMC_LLC_WHY_NONE] = { "none" },
	[SMC_LLC_WHY_CONFIRM_LINK_TIMEOUT] = { "no CONFIRM LINK in time", SMC_LLC_FAULT_TIMEOUT },
	[SMC_LLC_WHY_CONFIRM_LINK_REPLY_TIMEOUT] = {
		"no CONFIRM LINK reply in time", SMC_LLC_FAULT_TIMEOUT
	},
	[SMC_LLC_WHY_CONFIRM_LINK_SEND] = {
		"CONFIRM LINK could not be sent", SMC_LLC_FAULT_UNREACHED
	},
	[SMC_LLC_WHY_CONFIRM_LINK_DATA] = { "CONFIRM LINK names another link", SMC_LLC_FAULT_BAD },
	[SMC_LLC_WHY_ADD_LINK_TIMEOUT] = { "no ADD LINK in time", SMC_LLC_FAULT_TIMEOUT },
	[SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT] = {
		"no ADD LINK reply in time", SMC_LLC_FAULT_TIMEOUT
	},
	[SMC_LLC_WHY_ADD_LINK_SEND] = { "ADD LINK could not be sent", SMC_LLC_FAULT_UNREACHED },
	[SMC_LLC_WHY_ADD_LINK_CONT_TIMEOUT] = {
		"no ADD LINK CONTINUATION in time", SMC_LLC_FAULT_TIMEOUT
	},
	[SMC_LLC_WHY_ADD_LINK_CONT_DATA] = {
		"ADD LINK CONTINUATION does not go on where it was", SMC_LLC_FAULT_BAD
	},
	[SMC_LLC_WHY_ADD_LINK_KEYS] = { "keys for the new link cannot be stored" },
	[SMC_LLC_WHY_NO_LONGER_NEEDED] = { "link no longer needed" },
	[SMC_LLC_WHY_MTU] = { "MTU of the port has changed" },
	[SMC_LLC_WHY_DELETE_LINK_TIMEOUT] = {
		"no answer to DELETE LINK in time", SMC_LLC_FAULT_TIMEOUT
	},
	[SMC_LLC_WHY_RKEY_TIMEOUT] = { "no RKEY reply in time", SMC_LLC_FAULT_TIMEOUT },
	[SMC_LLC_WHY_TEST_LINK_TIMEOUT] = { "no TEST LINK reply in time", SMC_LLC_FAULT_TIMEOUT },
	[SMC_LLC_WHY_STALLED] = { "only other links move data", SMC_LLC_FAULT_UNREACHED },
	[SMC_LLC_WHY_TEST_LINK_DATA] = { "TEST LINK reply has other data", SMC_LLC_FAULT_BAD },
	[SMC_LLC_WHY_RKEY_MISSING] = {
		"CONFIRM RKEY without a key for the link", SMC_LLC_FAULT_BAD
	},
	[SMC_LLC_WHY_OUT_OF_SYNC] = { "LLC message out of sync", SMC_LLC_FAULT_BAD },
	[SMC_LLC_WHY_SEND_FAILED] = { "LLC message could not be sent", SMC_LLC_FAULT_UNREACHED },
	[SMC_LLC_WHY_LINK_BROKEN] = { "link broken" },
	[SMC_LLC_WHY_PATH] = { "no way to the peer", SMC_LLC_FAULT_UNREACHED },
	[SMC_LLC_WHY_NOT_PREPARED] = { "link could not be brought up" },
	[SMC_LLC_WHY_NO_SPARE] = { "no queue pair for the second link" },
	[SMC_LLC_WHY_PEER_DECLINED] = { "peer declined" },
	[SMC_LLC_WHY_PEER_CLOSED] = { "peer closed TCP before CONFIRM LINK" },
	[SMC_LLC_WHY_PEER_DELETED] = { "deleted by the peer" },
	[SMC_LLC_WHY_DELETED] = { "deleted by this side" },
};

/* Data may flow: the attempt at a second link is over, FC-12. */
static void group_up(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 i;

	flow->phase = SMC_LLC_UP;
	smc_llc_commit(flow, SMC_LLC_COMMIT_FINAL);
	smc_llc_config_done(run);
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_in_use(&flow->link[i]))
			smc_llc_link_up(run, i);
	smc_llc_emit(run, SMC_LLC_ACT_GROUP_UP, 0);
}

static void commit_dialect(struct smc_llc_run *run)
{
	struct smc_llc_action *act = smc_llc_emit(run, SMC_LLC_ACT_COMMIT_DIALECT, 0);

	act->dialect = run->flow->dialect;
	act->ext = run->flow->ext;
}

/* An unexpected eye catcher: this side would misread what the peer sends. */
static bool is_other_dialect(const struct smc_llc_flow *flow,
			     const struct smc_llc_confirm_link *cl)
{
	return flow->params.dialect_is_fixed && !cl->no_eye_catcher;
}

static const struct smc_llc_quirks llc_quirks[] = {
	[SMC_DIALECT_RFC] = { .needs_add_link = true, .retries_refused = true, .delete_tries = 1 },
	[SMC_DIALECT_DEPLOYED] = {
		.no_eye_catcher = true, .declines_late = true, .loses_in_order = true,
		.delete_tries = 2, .peer_waits_ms = 2000,
	},
};

/* The dialect affects the machine only through its quirks. */
static void set_dialect(struct smc_llc_flow *flow, enum smc_dialect dialect)
{
	flow->dialect = dialect;
	flow->quirks = &llc_quirks[dialect];
}

static void negotiate(struct smc_llc_flow *flow, const struct smc_llc_confirm_link *cl)
{
	if (!flow->params.max_links_is_fixed)
		flow->max_links = smc_llc_max_links(flow->params.max_links, cl->max_links);
	if (flow->params.wants_deployed && cl->no_eye_catcher)
		set_dialect(flow, SMC_DIALECT_DEPLOYED);
	else
		set_dialect(flow, SMC_DIALECT_RFC);
	flow->ext = flow->params.offers & cl->ext;
	flow->link[0].peer_uid = cl->link_uid;
}

static void on_start(struct smc_llc_run *run, const struct smc_llc_start *start)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk;

	if (flow->phase != SMC_LLC_IDLE)
		return;
	if (flow->params.is_server)
		flow->last_num = smc_llc_next_link_num(flow);
	lnk = smc_llc_link_make(flow, 0, flow->last_num);
	lnk->local = start->local;
	lnk->peer = start->peer;
	if (flow->params.is_server) {
		flow->phase = SMC_LLC_PREPARING;
		smc_llc_emit(run, SMC_LLC_ACT_PREPARE_LINK, 0)->end = lnk->peer;
	} else {
		flow->phase = SMC_LLC_WAIT_CONFIRM_LINK;
		flow->config_deadline = smc_llc_after(run, flow->params.timers.confirm_link);
	}
}

static void on_first_prepared(struct smc_llc_run *run, bool ok)
{
	struct smc_llc_flow *flow = run->flow;
	const struct smc_llc_timers *timers = &flow->params.timers;

	if (flow->phase != SMC_LLC_PREPARING)
		return;
	if (!ok) {
		smc_llc_fail_local(run, SMC_LLC_WHY_NOT_PREPARED, SMC_DECLINE_ERR_RDYLNK);
		return;
	}
	if (flow->params.is_server) {
		smc_llc_send_confirm_link(run, 0, false, flow->params.wants_deployed,
					  flow->params.max_links)->ext =
			flow->params.offers;
		flow->phase = SMC_LLC_WAIT_CONFIRM_REPLY;
		flow->config_deadline = smc_llc_after(run, timers->first_reply);
		return;
	}
	/* The reply lets the server send, so cursors have to be right before it. */
	commit_dialect(run);
	smc_llc_link_move(&flow->link[0], SMC_LLC_LINK_ACTIVE);
	smc_llc_send_confirm_link(run, 0, true, flow->quirks->no_eye_catcher,
				  flow->max_links)->ext = flow->ext;
	if (flow->max_links == 1) {
		flow->phase = SMC_LLC_WAIT_CONFIRM_SENT;
		flow->config_deadline = smc_llc_after(run, timers->first_reply);
	} else {
		flow->phase = SMC_LLC_WAIT_ADD_LINK;
		flow->config_deadline = smc_llc_after(run, flow->quirks->needs_add_link ?
						      timers->add_link :
						      timers->add_link_deployed);
	}
}

static bool is_first(const struct smc_llc_flow *flow, u8 link)
{
	return smc_llc_is_forming(flow) && !link;
}

/*
 * Checks that CONFIRM LINK is due in @phase, a phase of one role, and names the first link,
 * ERR-43, AMB-57.
 */
static bool check_first_confirm(struct smc_llc_run *run, const struct smc_llc_confirm_link *cl,
				enum smc_llc_phase phase)
{
	struct smc_llc_flow *flow = run->flow;

	if (flow->phase != phase) {
		smc_llc_out_of_sync(run, 0, SMC_LLC_WHY_OUT_OF_SYNC);
		return false;
	}
	if (!smc_llc_end_equals(&cl->end, &flow->link[0].peer) ||
	    (flow->params.is_server && cl->link_num != flow->link[0].num)) {
		smc_llc_fail_local(run, SMC_LLC_WHY_CONFIRM_LINK_DATA, SMC_DECLINE_ERR_RDYLNK);
		return false;
	}
	if (is_other_dialect(flow, cl)) {
		smc_llc_fail_local(run, SMC_LLC_WHY_CONFIRM_LINK_DATA, SMC_DECLINE_RMBE_EC);
		return false;
	}
	return true;
}

static void on_first_confirm_request(struct smc_llc_run *run,
				     const struct smc_llc_confirm_link *cl)
{
	struct smc_llc_flow *flow = run->flow;

	if (!check_first_confirm(run, cl, SMC_LLC_WAIT_CONFIRM_LINK))
		return;
	flow->link[0].num = cl->link_num;
	negotiate(flow, cl);
	flow->phase = SMC_LLC_PREPARING;
	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	smc_llc_emit(run, SMC_LLC_ACT_PREPARE_LINK, 0)->end = flow->link[0].peer;
}

static void on_first_confirm_reply(struct smc_llc_run *run,
				   const struct smc_llc_confirm_link *cl)
{
	struct smc_llc_flow *flow = run->flow;

	if (!check_first_confirm(run, cl, SMC_LLC_WAIT_CONFIRM_REPLY))
		return;
	smc_llc_commit(flow, SMC_LLC_COMMIT_CONFIRM_LINK);
	smc_llc_link_move(&flow->link[0], SMC_LLC_LINK_ACTIVE);
	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	negotiate(flow, cl);
	/* The client may send after ADD LINK, or now if it gets none. */
	commit_dialect(run);
	if (flow->max_links == 1) {
		group_up(run);
		return;
	}
	flow->phase = SMC_LLC_SECOND_LINK;
	smc_llc_add_begin(run);
}

static void send_probe(struct smc_llc_run *run, u8 link)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	lnk->tries++;
	lnk->deadline = smc_llc_after(run, run->flow->params.timers.test_link);
	smc_llc_send_test_link(run, link);
}

static void begin_probe(struct smc_llc_run *run, u8 link, const u8 *user_data)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	/* A reply to an earlier TEST LINK may still arrive, so all carry the same data. */
	if (!lnk->nr_unanswered)
		memcpy(lnk->probe, user_data, sizeof(lnk->probe));
	send_probe(run, link);
}

static void on_test_link(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_link *lnk = &run->flow->link[link];

	/* smc_llc_form_answer_test_link() answers requests. */
	if (!msg->is_reply)
		return;
	if (!lnk->nr_unanswered) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	if (memcmp(lnk->probe, msg->test_link.user_data, sizeof(lnk->probe))) {
		/* ERR-52 */
		smc_llc_link_failed(run, link, SMC_LLC_WHY_TEST_LINK_DATA,
				    SMC_LLC_DELETE_PROTOCOL);
		return;
	}
	lnk->nr_unanswered--;
	if (lnk->tries)
		smc_llc_arm_probe(run, link);
	if (lnk->wants_round_trip && !lnk->nr_unanswered) {
		lnk->wants_round_trip = false;
		smc_llc_emit(run, SMC_LLC_ACT_ROUND_TRIP, link);
	}
	if (!lnk->nr_unanswered)
		smc_llc_link_cleared(run, link);
}

static void on_req_test_link(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_link *lnk = &run->flow->link[ev->link];

	if (run->flow->phase != SMC_LLC_UP || !smc_llc_is_in_use(lnk))
		return;
	lnk->must_answer |= ev->ok;
	if (!lnk->tries)
		begin_probe(run, ev->link, ev->timer.user_data);
}

static void probe_others(struct smc_llc_run *run, u8 link, const u8 *user_data)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (i != link && smc_llc_is_in_use(&run->flow->link[i]) &&
		    !run->flow->link[i].tries)
			begin_probe(run, i, user_data);
}

/*
 * Nothing completes on a link. If the peer answers on another one meanwhile, the link is lost, and
 * its connections move. While it answers nowhere, network or peer are out: TCP would wait, and so
 * do the connections. After an outage of all links one may answer first, hence the pause, to whose
 * end the other one must answer: what came before an outage of all tells nothing. KA-05.
 */
static void on_link_stalled(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_link *lnk = &run->flow->link[ev->link];

	if (run->flow->phase != SMC_LLC_UP || !smc_llc_is_in_use(lnk) ||
	    smc_llc_nr_in_use(run->flow) < 2)
		return;
	if (ev->stall.is_down) {
		smc_llc_link_failed(run, ev->link, SMC_LLC_WHY_LINK_BROKEN,
				    SMC_LLC_DELETE_LOST_PATH);
		return;
	}
	probe_others(run, ev->link, ev->stall.user_data);
	if (ev->stall.other_rx <= ev->stall.since ||
	    ev->stall.other_rx + SMC_LLC_DOUBT_MS <= run->now) {
		lnk->doubted = 0;
		return;
	}
	/* an earlier stall has ended */
	if (lnk->doubted < ev->stall.since)
		lnk->doubted = run->now;
	if (run->now - lnk->doubted >= SMC_LLC_DOUBT_MS)
		smc_llc_link_failed(run, ev->link, SMC_LLC_WHY_STALLED, SMC_LLC_DELETE_LOST_PATH);
}

/*
 * The peer processes a link in order, so its reply covers all that was sent before, also by
 * connections that wait for it: a probe in flight is not enough.
 */
static void on_req_round_trip(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_link *lnk = &run->flow->link[ev->link];

	if (run->flow->phase != SMC_LLC_UP || !smc_llc_is_in_use(lnk))
		return;
	lnk->wants_round_trip = true;
	begin_probe(run, ev->link, ev->timer.user_data);
}

/*
 * True if a message on this link matters. A lost link carries only requests to delete links
 * (ERR-46); a link being deleted still delivers earlier messages.
 */
static bool is_relevant(const struct smc_llc_flow *flow, u8 link, const struct smc_llc_msg *msg)
{
	switch (flow->link[link].state) {
	case SMC_LLC_LINK_FAILED:
	case SMC_LLC_LINK_REPORTED:
		return smc_llc_is_deleting(flow, link) ||
		       (msg->type == SMC_LLC_DELETE_LINK && !msg->is_reply &&
			(flow->params.is_server || msg->delete_link.is_all));
	case SMC_LLC_LINK_DELETING:
	case SMC_LLC_LINK_DELETE_REPLYING:
		return msg->type == SMC_LLC_DELETE_LINK || msg->type == SMC_LLC_CONFIRM_RKEY ||
		       msg->type == SMC_LLC_CONFIRM_RKEY_CONT ||
		       msg->type == SMC_LLC_DELETE_RKEY ||
		       (msg->type == SMC_LLC_TEST_LINK &&
			flow->link[link].data == SMC_LLC_DATA_CLEARING);
	default:
		return true;
	}
}

/* What arrives before a link is connected is not from the peer. */
static bool is_connected(const struct smc_llc_flow *flow, u8 link)
{
	return !flow->link[link].is_unconfirmed || flow->config == SMC_LLC_CONFIG_CONFIRM;
}

static void on_msg(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_flow *flow = run->flow;

	if (!is_relevant(flow, link, msg))
		return;
	if (flow->phase == SMC_LLC_TERMINATING && msg->type != SMC_LLC_DELETE_LINK)
		return;
	if (flow->link[link].is_unconfirmed && msg->type != SMC_LLC_CONFIRM_LINK) {
		if (is_connected(flow, link))
			smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	switch (msg->type) {
	case SMC_LLC_CONFIRM_LINK:
		if (!is_first(flow, link))
			smc_llc_add_confirm(run, link, msg);
		else if (msg->is_reply)
			on_first_confirm_reply(run, &msg->confirm_link);
		else
			on_first_confirm_request(run, &msg->confirm_link);
		break;
	case SMC_LLC_ADD_LINK:
		smc_llc_add_msg(run, link, msg);
		break;
	case SMC_LLC_REQ_ADD_LINK:
		smc_llc_add_req(run, link, msg);
		break;
	case SMC_LLC_ADD_LINK_CONT:
		smc_llc_add_cont(run, link, msg);
		break;
	case SMC_LLC_DELETE_LINK:
		smc_llc_delete_msg(run, link, msg);
		break;
	case SMC_LLC_CONFIRM_RKEY:
	case SMC_LLC_CONFIRM_RKEY_CONT:
	case SMC_LLC_DELETE_RKEY:
		smc_llc_keys_msg(run, link, msg);
		break;
	case SMC_LLC_TEST_LINK:
		on_test_link(run, link, msg);
		break;
	default:
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		break;
	}
}

static void on_send_failed(struct smc_llc_run *run, u8 link, enum smc_llc_sent sent)
{
	struct smc_llc_flow *flow = run->flow;

	/* A failed send is handled like its timeout, ERR-19. */
	if (!is_first(flow, link))
		smc_llc_link_failed(run, link, sent == SMC_LLC_SENT_CONFIRM_LINK ?
				    SMC_LLC_WHY_CONFIRM_LINK_SEND : SMC_LLC_WHY_SEND_FAILED,
				    SMC_LLC_DELETE_LOST_PATH);
	else if (sent == SMC_LLC_SENT_CONFIRM_LINK)
		/* ERR-21, ERR-22 */
		smc_llc_fail_local(run, SMC_LLC_WHY_CONFIRM_LINK_SEND, SMC_DECLINE_TIMEOUT_CL);
	else if (sent == SMC_LLC_SENT_ADD_LINK)
		smc_llc_fail_local(run, SMC_LLC_WHY_ADD_LINK_SEND, SMC_DECLINE_TIMEOUT_AL);
	else
		smc_llc_fail_local(run, SMC_LLC_WHY_SEND_FAILED, SMC_DECLINE_ERR_RDYLNK);
}

static void on_sent(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	enum smc_llc_sent sent = ev->cookie & (BIT(SMC_LLC_SENT_SHIFT) - 1);
	struct smc_llc_flow *flow = run->flow;

	if (!ev->ok)
		on_send_failed(run, ev->link, sent);
	switch (sent) {
	case SMC_LLC_SENT_CONFIRM_LINK:
		if (!is_first(flow, ev->link)) {
			smc_llc_add_confirm_sent(run, ev->link);
			break;
		}
		/* if it was not, first contact has failed */
		smc_llc_commit(flow, SMC_LLC_COMMIT_CONFIRM_LINK);
		if (flow->phase == SMC_LLC_WAIT_CONFIRM_SENT)
			group_up(run);
		break;
	case SMC_LLC_SENT_ADD_LINK:
		/* Points of no return, ERR-10, ERR-11. */
		if (ev->ok)
			smc_llc_commit(flow, SMC_LLC_COMMIT_FINAL);
		break;
	case SMC_LLC_SENT_DELETE_REPLY:
		smc_llc_delete_sent(run, ev->cookie >> SMC_LLC_SENT_SHIFT);
		break;
	case SMC_LLC_SENT_DELETE_ALL:
		/* The server is done, LGT-04; a client waits for the reply. */
		if (ev->ok && flow->params.is_server)
			smc_llc_terminate(run, flow->end_why);
		break;
	default:
		break;
	}
}

static void on_rnics(struct smc_llc_run *run, const struct smc_llc_rnics *rnics)
{
	struct smc_llc_flow *flow = run->flow;
	bool is_new = smc_llc_set_rnics(flow, rnics);

	/* First contact tries a second link anyway; ERR-58, ADDL-06 */
	if (is_new && (flow->has_rnics || flow->phase == SMC_LLC_UP))
		smc_llc_want_link(flow);
	flow->has_rnics = true;
}

static void on_declined(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (!smc_llc_is_forming(flow))
		return;
	/* Both sides ignore Declines from the point where they stop sending them, AMB-04. */
	smc_llc_fail_group(run, flow->commitment < SMC_LLC_COMMIT_FINAL ?
			   SMC_LLC_FAIL_DECLINED : SMC_LLC_FAIL_RESET,
			   SMC_LLC_WHY_PEER_DECLINED, 0);
}

/*
 * A server needs our reply to its CONFIRM LINK before it may close, so this one has given up.
 * Later, or at a server, FIN may have overtaken RDMA messages of the peer (protocol.md).
 */
static void on_tcp_ended(struct smc_llc_run *run)
{
	if (run->flow->phase == SMC_LLC_WAIT_CONFIRM_LINK)
		smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_CLOSED, 0);
}

static void on_req_terminate(struct smc_llc_run *run, u32 reason, bool is_orderly)
{
	struct smc_llc_flow *flow = run->flow;

	if (smc_llc_is_forming(flow))
		smc_llc_fail_local(run, SMC_LLC_WHY_DELETED, SMC_DECLINE_INTERR);
	else if (flow->phase == SMC_LLC_IDLE)
		smc_llc_terminate(run, SMC_LLC_WHY_DELETED);
	else if (flow->phase == SMC_LLC_UP)
		smc_llc_end_begin(run, 0, reason, is_orderly, SMC_LLC_WHY_DELETED);
}

/*
 * The peer did not answer on the first link, ERR-20, 24, 27. Where it did not even acknowledge our
 * CONFIRM LINK, the send counts as failed: ERR-19, 21, 22.
 */
static void forming_timeout(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	enum smc_llc_why why;

	if (flow->phase == SMC_LLC_WAIT_CONFIRM_LINK) {
		why = SMC_LLC_WHY_CONFIRM_LINK_TIMEOUT;
	} else if (flow->commitment == SMC_LLC_COMMIT_NONE) {
		smc_llc_fail_local(run, SMC_LLC_WHY_CONFIRM_LINK_SEND, SMC_DECLINE_TIMEOUT_CL);
		return;
	} else if (flow->phase == SMC_LLC_WAIT_CONFIRM_REPLY) {
		why = SMC_LLC_WHY_CONFIRM_LINK_REPLY_TIMEOUT;
	} else if (flow->quirks->needs_add_link) {
		why = SMC_LLC_WHY_ADD_LINK_TIMEOUT;
	} else {
		/* protocol.md: a deployed server may send none. */
		group_up(run);
		return;
	}
	smc_llc_fail_group(run, SMC_LLC_FAIL_RESET, why, 0);
}

static void config_timeout(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	if (flow->phase == SMC_LLC_TERMINATING && flow->params.is_server)
		/* ERR-37 */
		smc_llc_terminate(run, flow->end_why);
	else if (flow->phase == SMC_LLC_TERMINATING)
		/* ERR-36 */
		smc_llc_link_failed(run, flow->end_link, flow->end_why, 0);
	else if (smc_llc_is_adding(flow))
		smc_llc_add_timeout(run);
	else if (flow->config == SMC_LLC_CONFIG_DELETE_LINK)
		smc_llc_delete_timeout(run);
	else
		forming_timeout(run);
}

/* True if the peer answers on no other link either, and the connections gain by waiting. */
static bool may_wait(const struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	const struct smc_llc_params *params = &run->flow->params;
	const struct smc_llc_link *lnk = &run->flow->link[ev->link];

	return params->is_patient && !(run->flow->ext & SMC_LLC_EXT_LANDING) &&
	       !lnk->must_answer &&
	       ev->timer.other_rx + lnk->tries * params->timers.test_link <= run->now;
}

/*
 * A link is silent, or a probe has no reply; KA-03, ERR-41, ERR-42. One missing reply proves
 * nothing (KA-05): the peer's RNIC acknowledges a probe while its host is stopped or has no
 * slot for the reply. So the probe is repeated. RNICs that cannot reach each other detect that
 * sooner. If all links are silent, they wait: network or peer may be out for a while.
 */
static void probe_timeout(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_link *lnk = &flow->link[ev->link];
	u32 idle = flow->params.test_link_idle_ms;
	int wait = flow->params.timers.test_link;

	if (lnk->tries && lnk->tries < flow->params.test_link_tries) {
		send_probe(run, ev->link);
	} else if (lnk->tries && may_wait(run, ev)) {
		/* the probes arrive when the peer is back; anything from it is an answer, KA-04 */
		if (ev->timer.last_rx + wait > run->now)
			smc_llc_arm_probe(run, ev->link);
		else
			lnk->deadline = smc_llc_after(run, wait);
	} else if (lnk->tries) {
		smc_llc_link_failed(run, ev->link, SMC_LLC_WHY_TEST_LINK_TIMEOUT,
				    SMC_LLC_DELETE_LOST_PATH);
	} else if (ev->timer.last_rx + idle > run->now) {
		lnk->deadline = ev->timer.last_rx + idle;
	} else {
		begin_probe(run, ev->link, ev->timer.user_data);
	}
}

static void on_timer(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;

	if (run->now >= flow->config_deadline)
		config_timeout(run);
	if (flow->phase >= SMC_LLC_TERMINATING)
		return;
	smc_llc_keys_timer(run);
	smc_llc_delete_timer(run);
	if (smc_llc_is_in_use(&flow->link[ev->link]) &&
	    run->now >= flow->link[ev->link].deadline)
		probe_timeout(run, ev);
	if (run->now >= flow->add_pause)
		flow->add_pause = SMC_LLC_NO_DEADLINE;
	if (flow->backoff_end && run->now >= flow->backoff_end) {
		flow->backoff_end = 0;
		/*
		 * a client requests the link that it refused meanwhile, or that a new RNIC
		 * allows
		 */
		if (!flow->params.is_server)
			flow->next_add = 0;
	}
	/* ERR-57, TMR-13 */
	if (flow->next_add && run->now >= flow->next_add)
		smc_llc_retry(flow);
}

/* True if no link is left and none can be added. */
static bool is_over(const struct smc_llc_flow *flow)
{
	u8 i;

	if (flow->phase != SMC_LLC_UP || smc_llc_nr_in_use(flow) || smc_llc_add_may_succeed(flow))
		return false;
	/* The client's reply about its only link is sent first. */
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state == SMC_LLC_LINK_DELETE_REPLYING &&
		    flow->link[i].notice_link == i)
			return false;
	return true;
}

/* Lost links give up their data only if another link can take it. */
static void retire_lost(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 i;

	if (!smc_llc_nr_in_use(flow))
		return;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_failed(&flow->link[i]))
			smc_llc_link_retire(run, i);
}

static void settle_once(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (is_over(flow)) {
		smc_llc_end_over(run);
		return;
	}
	if (flow->phase == SMC_LLC_TERMINATING)
		smc_llc_end_settle(run);
	if (flow->phase != SMC_LLC_UP && flow->phase != SMC_LLC_SECOND_LINK)
		return;
	retire_lost(run);
	smc_llc_keys_settle(run);
	smc_llc_delete_settle(run);
	smc_llc_add_settle(run);
	if (flow->phase == SMC_LLC_DEAD)
		return;
	smc_llc_keys_resume(run);
	smc_llc_delete_start_next(run);
	if (flow->phase == SMC_LLC_SECOND_LINK && flow->config == SMC_LLC_CONFIG_NONE &&
	    !smc_llc_nr_in(flow, SMC_LLC_LINK_FAILED) &&
	    !smc_llc_nr_in(flow, SMC_LLC_LINK_REPORTED))
		group_up(run);
	smc_llc_add_start_next(run);
}

/* A change may allow the next one. Each has an action, the end of a phase too. */
static void settle(struct smc_llc_run *run)
{
	unsigned int nr;

	do {
		nr = run->out->nr;
		settle_once(run);
	} while (run->out->nr != nr);
}

/* Late event of a link that was given up, or of one not yet in use. */
static bool is_stray(const struct smc_llc_flow *flow, const struct smc_llc_event *ev)
{
	switch (ev->type) {
	case SMC_LLC_EV_MSG:
	case SMC_LLC_EV_BAD_MSG:
	case SMC_LLC_EV_LINK_BROKEN:
	case SMC_LLC_EV_LINK_GOING:
	case SMC_LLC_EV_REQ_DELETE_LINK:
		return flow->link[ev->link].state == SMC_LLC_LINK_FREE ||
		       flow->link[ev->link].state == SMC_LLC_LINK_GOING;
	default:
		return false;
	}
}

static void dispatch(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_flow *flow = run->flow;

	switch (ev->type) {
	case SMC_LLC_EV_START:
		on_start(run, &ev->start);
		break;
	case SMC_LLC_EV_MSG:
		on_msg(run, ev->link, &ev->msg);
		break;
	case SMC_LLC_EV_BAD_MSG:
		if (flow->phase != SMC_LLC_TERMINATING && is_connected(flow, ev->link))
			smc_llc_out_of_sync(run, ev->link, SMC_LLC_WHY_OUT_OF_SYNC);
		break;
	case SMC_LLC_EV_SENT:
		on_sent(run, ev);
		break;
	case SMC_LLC_EV_TIMER:
		on_timer(run, ev);
		break;
	case SMC_LLC_EV_RNICS:
		on_rnics(run, &ev->rnics);
		break;
	case SMC_LLC_EV_LINK_CREATED:
		smc_llc_add_created(run, ev);
		break;
	case SMC_LLC_EV_LINK_PREPARED:
		if (is_first(flow, ev->link))
			on_first_prepared(run, ev->ok);
		else
			smc_llc_add_prepared(run, ev->link, ev->ok);
		break;
	case SMC_LLC_EV_LINK_DESTROYED:
		if (flow->link[ev->link].state == SMC_LLC_LINK_GOING)
			smc_llc_link_move(&flow->link[ev->link], SMC_LLC_LINK_FREE);
		break;
	case SMC_LLC_EV_PAIRS_STORED:
		smc_llc_add_stored(run, ev->link, ev->ok);
		break;
	case SMC_LLC_EV_RTOKEN_STORED:
		smc_llc_keys_stored(run, ev->ok);
		break;
	case SMC_LLC_EV_RTOKENS_DELETED:
		smc_llc_keys_deleted(run, ev->error_mask, ev->nr_unknown);
		break;
	case SMC_LLC_EV_LINK_BROKEN:
		smc_llc_link_failed(run, ev->link, ev->ok ? SMC_LLC_WHY_PATH :
				    SMC_LLC_WHY_LINK_BROKEN, SMC_LLC_DELETE_LOST_PATH);
		break;
	case SMC_LLC_EV_LINK_GOING:
		smc_llc_delete_rnic_removed(run, ev->link);
		break;
	case SMC_LLC_EV_LINK_STALLED:
		on_link_stalled(run, ev);
		break;
	case SMC_LLC_EV_DECLINED:
		on_declined(run);
		break;
	case SMC_LLC_EV_TCP_ENDED:
		on_tcp_ended(run);
		break;
	case SMC_LLC_EV_REQ_RKEY:
		smc_llc_keys_request(run, ev);
		break;
	case SMC_LLC_EV_REQ_TEST_LINK:
		on_req_test_link(run, ev);
		break;
	case SMC_LLC_EV_REQ_ROUND_TRIP:
		on_req_round_trip(run, ev);
		break;
	case SMC_LLC_EV_REQ_DELETE_LINK:
		smc_llc_delete_request(run, ev);
		break;
	case SMC_LLC_EV_REQ_TERMINATE:
		on_req_terminate(run, ev->terminate.reason, ev->terminate.is_orderly);
		break;
	}
}

/**
 * smc_llc_flow_event() - feed an event and collect the actions
 * @flow: the machine
 * @ev: the event; only read during the call. TIMER is fed once for each active link, with the
 *      time of the last message on it
 * @now: in ms, of any monotonic clock
 * @out: emptied, then filled with at most SMC_LLC_ACTIONS actions, to be carried out in order
 *       before the next event
 *
 * RFC 7609 3.5.1.5, 3.5.1.6, 3.5.4, 3.5.5, Appendix C. Events after the end are ignored, except
 * that REQ_RKEY gets its RKEY_DONE.
 *
 * Context: Any context. The caller serialises.
 */
void smc_llc_flow_event(struct smc_llc_flow *flow, const struct smc_llc_event *ev, u64 now,
			struct smc_llc_actions *out)
{
	struct smc_llc_run run = { .flow = flow, .out = out, .now = now };

	out->nr = 0;
	if (ev->link >= SMC_LLC_LINKS || is_stray(flow, ev))
		return;
	if (flow->phase == SMC_LLC_DEAD && ev->type != SMC_LLC_EV_REQ_RKEY)
		return;
	dispatch(&run, ev);
	settle(&run);
}

/**
 * smc_llc_flow_init() - initialise the machine
 * @flow: overwritten completely
 * @params: copied
 *
 * Context: Any context.
 */
void smc_llc_flow_init(struct smc_llc_flow *flow, const struct smc_llc_params *params)
{
	memset(flow, 0, sizeof(*flow));
	flow->params = *params;
	if (!params->max_links_is_fixed)
		flow->params.max_links = clamp_t(u8, params->max_links, SMC_LLC_MAX_LINKS_MIN,
						 SMC_LLC_MAX_LINKS_MAX);
	flow->max_links = flow->params.max_links;
	flow->phase = SMC_LLC_IDLE;
	set_dialect(flow, SMC_DIALECT_RFC);
	flow->req_link = SMC_LLC_NO_LINK;
	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	smc_llc_stop_timers(flow);
}

/**
 * smc_llc_flow_deadline() - time of the next SMC_LLC_EV_TIMER
 * @flow: the machine
 *
 * Context: Any context. The caller serialises.
 * Return: time in ms on the caller's clock, or SMC_LLC_NO_DEADLINE.
 */
u64 smc_llc_flow_deadline(const struct smc_llc_flow *flow)
{
	u64 first = min(flow->config_deadline, flow->next_add ?: SMC_LLC_NO_DEADLINE);
	unsigned int i;

	first = min(first, min(flow->own.deadline, flow->remote.deadline));
	first = min(first, flow->add_pause);
	for (i = 0; i < SMC_LLC_LINKS; i++)
		first = min(first, flow->link[i].deadline);
	first = min(first, flow->own.hold ?: SMC_LLC_NO_DEADLINE);
	return min(first, flow->backoff_end ?: SMC_LLC_NO_DEADLINE);
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
	return why < ARRAY_SIZE(llc_whys) ? llc_whys[why].name : "unknown";
}

/**
 * smc_llc_why_fault() - cause behind a reason
 * @why: any value
 *
 * Context: Any context.
 * Return: its kind, SMC_LLC_FAULT_OTHER for an unknown value.
 */
enum smc_llc_fault smc_llc_why_fault(enum smc_llc_why why)
{
	return why < ARRAY_SIZE(llc_whys) ? llc_whys[why].fault : SMC_LLC_FAULT_OTHER;
}

/**
 * smc_llc_why_is_path() - check whether a reason means that the path failed
 * @why: any value
 *
 * Context: Any context.
 * Return: true if a message or reply was lost; false if a side decided, or lacks a resource.
 */
bool smc_llc_why_is_path(enum smc_llc_why why)
{
	enum smc_llc_fault fault = smc_llc_why_fault(why);

	return fault == SMC_LLC_FAULT_TIMEOUT || fault == SMC_LLC_FAULT_UNREACHED;
}
