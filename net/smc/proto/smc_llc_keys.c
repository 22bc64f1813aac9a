// SPDX-License-Identifier: GPL-2.0
/*
 * The RKEY exchanges of the LLC machine, RFC 7609 3.5.5.2, 3.5.5.3, A.3.5 to A.3.7.
 *
 * Operation: one exchange of this side and one of the peer may be under way, each on a link
 * that its initiator chose. Surplus tokens of a CONFIRM RKEY follow in CONTINUATIONs, one at a
 * time, each echoed. All are stored together after the last one (AMB-39).
 *
 * A server that changes links refuses CONFIRM RKEY, and the client retries with the new links.
 * RMBs announced before the first message of the change are announced again for the new link. A
 * client never refuses, because the server knows the state of the links.
 *
 * Error handling: a message without reply fails its link. An exchange that loses its link is
 * not replayed; its initiator begins a new one (LLC-14).
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "proto/smc_llc_keys.h"
#include "proto/smc_llc_links.h"

/* While the server creates a queue pair to offer, the client sees no change. */
static bool is_refused(const struct smc_llc_flow *flow)
{
	return flow->params.is_server && flow->quirks->retries_refused &&
	       flow->config != SMC_LLC_CONFIG_NONE && flow->config != SMC_LLC_CONFIG_CREATE;
}

static struct smc_llc_msg *send_reply(struct smc_llc_run *run, u8 link,
				      const struct smc_llc_msg *msg)
{
	struct smc_llc_msg *reply;

	reply = smc_llc_emit_send(run, link, msg->type, true, SMC_LLC_SENT_OTHER);
	*reply = *msg;
	reply->is_reply = true;
	return reply;
}

static bool has_link(const struct smc_llc_rkeys *keys, u8 link)
{
	u8 i;

	for (i = 0; i < keys->count; i++)
		if (keys->rtoken[i].link_num == link)
			return true;
	return false;
}

/* What the tokens of a message are. */
enum collected {
	COLLECTED,
	NAMED_TWICE,	/* a link has two tokens */
	NAMED_NONE,	/* a token is for a link that the group never had */
};

/*
 * Collect tokens that name links by number, each link once. Deleted links are ignored, as the
 * peer may not have seen the deletion; so is a link being added, which deployed peers include.
 */
static enum collected collect(struct smc_llc_flow *flow, const struct smc_llc_rtoken *rtoken,
			      u8 count)
{
	struct smc_llc_rkeys *keys = &flow->remote.keys;
	u8 i, link;

	for (i = 0; i < count; i++) {
		link = smc_llc_link_by_num(flow, rtoken[i].link_num);
		if (link == SMC_LLC_NO_LINK) {
			if (!smc_llc_is_deleted(flow, rtoken[i].link_num))
				return NAMED_NONE;
			continue;
		}
		if (has_link(keys, link))
			return NAMED_TWICE;
		/* Not yet offered, or never in use. */
		if (flow->link[link].is_unconfirmed &&
		    (flow->link[link].state != SMC_LLC_LINK_FORMING ||
		     flow->config == SMC_LLC_CONFIG_CREATE))
			continue;
		keys->rtoken[keys->count] = rtoken[i];
		keys->rtoken[keys->count].link_num = link;
		keys->count++;
	}
	return COLLECTED;
}

/*
 * All tokens arrived. A link without one has failed, ERR-50, unless the peer asked to delete
 * it: it has no token for a link that it has taken down.
 */
static void store(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (flow->link[i].state == SMC_LLC_LINK_ACTIVE &&
		    !has_link(&flow->remote.keys, i))
			smc_llc_link_failed(run, i, SMC_LLC_WHY_RKEY_MISSING,
					    SMC_LLC_DELETE_PROTOCOL);
	/* First contact ended with its only link. */
	if (flow->phase == SMC_LLC_DEAD)
		return;
	flow->remote.state = SMC_LLC_REMOTE_CONFIRM_RKEY;
	flow->remote.deadline = SMC_LLC_NO_DEADLINE;
	smc_llc_emit(run, SMC_LLC_ACT_STORE_RTOKEN, flow->remote.link)->rkeys =
		&flow->remote.keys;
}

/* @more tokens follow: echo and wait, or store what arrived. */
static void continue_confirm(struct smc_llc_run *run, u8 more)
{
	struct smc_llc_remote_rkey *remote = &run->flow->remote;

	remote->left = more;
	if (!more) {
		store(run);
		return;
	}
	send_reply(run, remote->link, &remote->msg);
	remote->state = SMC_LLC_REMOTE_CONFIRM_CONT;
	remote->deadline = smc_llc_after(run, run->flow->params.timers.reply);
}

/* Take @here tokens of @msg. An exchange with two for one link is void, and gets a refusal. */
static void take_tokens(struct smc_llc_run *run, const struct smc_llc_msg *msg,
			const struct smc_llc_rtoken *rtoken, u8 here, u8 more)
{
	struct smc_llc_remote_rkey *remote = &run->flow->remote;
	enum collected what = collect(run->flow, rtoken, here);

	if (what == NAMED_NONE) {
		smc_llc_out_of_sync(run, remote->link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	remote->msg = *msg;
	if (what == NAMED_TWICE) {
		remote->state = SMC_LLC_REMOTE_CONFIRM_RKEY;
		remote->deadline = SMC_LLC_NO_DEADLINE;
		smc_llc_keys_stored(run, false);
		return;
	}
	continue_confirm(run, more);
}

/*
 * The peer begins an exchange on @link. It restarts after a loss of a link that this side may
 * not have noticed: an unfinished exchange on another link is dropped. The number of links
 * bounds the restarts; returns false beyond that.
 */
static bool drop_unfinished(struct smc_llc_remote_rkey *remote, u8 link)
{
	if (remote->state != SMC_LLC_REMOTE_CONFIRM_CONT || remote->link == link)
		return true;
	if (remote->nr_restarts >= SMC_LLC_LINKS)
		return false;
	remote->nr_restarts++;
	remote->state = SMC_LLC_REMOTE_NONE;
	remote->deadline = SMC_LLC_NO_DEADLINE;
	return true;
}

static bool is_overlapping(const struct smc_llc_remote_rkey *remote, u8 link)
{
	return remote->state != SMC_LLC_REMOTE_NONE && remote->link == link;
}

static void on_confirm_request(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	const struct smc_llc_confirm_rkey *cr = &msg->confirm_rkey;
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_rkeys *keys = &flow->remote.keys;
	u8 here = min_t(u8, cr->nr_rtokens, SMC_LLC_RKEY_SPECS);
	struct smc_llc_msg *reply;

	if (!drop_unfinished(&flow->remote, link) || !smc_llc_is_confirmed(flow) ||
	    is_overlapping(&flow->remote, link)) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	if (is_refused(flow) || flow->remote.state != SMC_LLC_REMOTE_NONE) {
		/* SER-10, SER-15: the peer retries afterwards */
		reply = send_reply(run, link, msg);
		reply->confirm_rkey.is_negative = true;
		reply->confirm_rkey.may_retry = true;
		return;
	}
	memset(keys, 0, sizeof(*keys));
	keys->rtoken[0] = cr->here;
	keys->rtoken[0].link_num = link;
	keys->count = 1;
	if (cr->nr_rtokens >= SMC_LLC_LINKS) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	flow->remote.link = link;
	take_tokens(run, msg, cr->other, here, cr->nr_rtokens - here);
}

static void on_cont_request(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	const struct smc_llc_confirm_rkey_cont *cont = &msg->confirm_rkey_cont;
	struct smc_llc_remote_rkey *remote = &run->flow->remote;
	u8 here = min_t(u8, cont->nr_left, SMC_LLC_RKEY_CONT_SPECS);

	if (remote->state != SMC_LLC_REMOTE_CONFIRM_CONT || remote->link != link ||
	    remote->left != cont->nr_left) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	take_tokens(run, msg, cont->other, here, cont->nr_left - here);
}

static void begin_delete(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_remote_rkey *remote = &run->flow->remote;

	remote->state = SMC_LLC_REMOTE_DELETE_RKEY;
	remote->link = link;
	remote->msg = *msg;
	smc_llc_emit(run, SMC_LLC_ACT_DELETE_RTOKENS, link)->msg = *msg;
}

static void on_delete_request(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_remote_rkey *remote = &run->flow->remote;

	if (!drop_unfinished(remote, link) || !smc_llc_is_confirmed(run->flow) ||
	    is_overlapping(remote, link) ||
	    (remote->is_put_off && remote->put_off_link == link)) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
		return;
	}
	/* the peer restarted here the exchange that was put off on another link */
	remote->is_put_off = false;
	if (msg->delete_rkey.is_long)
		smc_llc_emit(run, SMC_LLC_ACT_KEEP_RKEYS, link);
	if (is_refused(run->flow) || remote->state != SMC_LLC_REMOTE_NONE) {
		/* DELETE RKEY cannot be refused: it waits, AMB-21. */
		remote->is_put_off = true;
		remote->put_off = *msg;
		remote->put_off_link = link;
	} else {
		begin_delete(run, link, msg);
	}
}

/* The owner finished @state: send the reply. NULL if the peer no longer waits for it. */
static struct smc_llc_msg *end_remote(struct smc_llc_run *run, enum smc_llc_remote state)
{
	struct smc_llc_remote_rkey *remote = &run->flow->remote;

	if (remote->state != state)
		return NULL;
	remote->state = SMC_LLC_REMOTE_NONE;
	remote->nr_restarts = 0;
	if (smc_llc_is_unusable(run->flow, remote->link))
		return NULL;
	return send_reply(run, remote->link, &remote->msg);
}

void smc_llc_keys_stored(struct smc_llc_run *run, bool ok)
{
	struct smc_llc_msg *reply = end_remote(run, SMC_LLC_REMOTE_CONFIRM_RKEY);

	if (!reply)
		return;
	if (reply->type == SMC_LLC_CONFIRM_RKEY)
		reply->confirm_rkey.is_negative = !ok;
	else
		reply->confirm_rkey_cont.is_negative = !ok;
}

/* @error_mask and @nr_unknown: keys that were not in the table, ERR-51, RKEY-18. */
void smc_llc_keys_deleted(struct smc_llc_run *run, u8 error_mask, u8 nr_unknown)
{
	struct smc_llc_msg *reply = end_remote(run, SMC_LLC_REMOTE_DELETE_RKEY);

	if (!reply)
		return;
	reply->delete_rkey.is_negative = error_mask || nr_unknown;
	reply->delete_rkey.error_mask = error_mask;
	reply->delete_rkey.nr_unknown = nr_unknown;
}

static bool is_due(const struct smc_llc_flow *flow, u8 link, u8 type)
{
	return flow->own.is_busy && flow->own.link == link && flow->own.msg.type == type;
}

/* The next message of our own CONFIRM RKEY, RKEY-08, RKEY-09, AMB-01. */
static void send_confirm(struct smc_llc_run *run)
{
	struct smc_llc_rkey *own = &run->flow->own;
	const struct smc_llc_rtoken *rtoken = own->keys.rtoken;
	u8 left = own->keys.count - max_t(u8, own->next, 1);
	struct smc_llc_rtoken *other;
	struct smc_llc_msg *msg;
	u8 room;

	if (!own->next) {
		msg = smc_llc_emit_send(run, own->link, SMC_LLC_CONFIRM_RKEY, false,
					SMC_LLC_SENT_OTHER);
		msg->confirm_rkey.nr_rtokens = left;
		msg->confirm_rkey.here.rkey = rtoken[0].rkey;
		msg->confirm_rkey.here.vaddr = rtoken[0].vaddr;
		other = msg->confirm_rkey.other;
		room = SMC_LLC_RKEY_SPECS;
		own->next = 1;
	} else {
		msg = smc_llc_emit_send(run, own->link, SMC_LLC_CONFIRM_RKEY_CONT, false,
					SMC_LLC_SENT_OTHER);
		msg->confirm_rkey_cont.nr_left = left;
		other = msg->confirm_rkey_cont.other;
		room = SMC_LLC_RKEY_CONT_SPECS;
	}
	for (; room && own->next < own->keys.count; room--, own->next++, other++)
		*other = rtoken[own->next];
	own->msg = *msg;
	own->deadline = smc_llc_after(run, run->flow->params.timers.reply);
}

static void advance_confirm(struct smc_llc_run *run)
{
	if (run->flow->own.next < run->flow->own.keys.count)
		send_confirm(run);
	else
		smc_llc_rkey_done(run, 0);
}

static void on_confirm_reply(struct smc_llc_run *run, u8 link,
			     const struct smc_llc_confirm_rkey *cr)
{
	struct smc_llc_rkey *own = &run->flow->own;

	if (!is_due(run->flow, link, SMC_LLC_CONFIRM_RKEY)) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
	} else if (!cr->is_negative && cr->here.rkey == own->msg.confirm_rkey.here.rkey) {
		advance_confirm(run);
	} else if (!cr->is_negative) {
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
	} else if (cr->may_retry) {
		/*
		 * RKEY-12; the peer's change of links is not visible here, so allow it some
		 * time
		 */
		own->hold = smc_llc_after(run, run->flow->params.timers.rkey_retry);
		smc_llc_rkey_done(run, -EAGAIN);
	} else {
		smc_llc_rkey_done(run, -EREMOTEIO);
	}
}

static void on_cont_reply(struct smc_llc_run *run, u8 link,
			  const struct smc_llc_confirm_rkey_cont *cont)
{
	const struct smc_llc_confirm_rkey_cont *sent = &run->flow->own.msg.confirm_rkey_cont;

	if (!is_due(run->flow, link, SMC_LLC_CONFIRM_RKEY_CONT))
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
	else if (cont->is_negative)
		/* The whole exchange is void, AMB-39. */
		smc_llc_rkey_done(run, -EREMOTEIO);
	else if (cont->nr_left != sent->nr_left || cont->other[0].rkey != sent->other[0].rkey)
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
	else
		advance_confirm(run);
}

static void on_delete_reply(struct smc_llc_run *run, u8 link,
			    const struct smc_llc_delete_rkey *dr)
{
	const struct smc_llc_delete_rkey *sent = &run->flow->own.msg.delete_rkey;

	if (!is_due(run->flow, link, SMC_LLC_DELETE_RKEY))
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
	else if (dr->is_negative)
		/* Keys unknown to the peer count as deleted, RKEY-19. */
		smc_llc_rkey_done(run, 0);
	else if (dr->count != sent->count ||
		 (!dr->is_nameless && memcmp(dr->rkey, sent->rkey, sizeof(dr->rkey))))
		smc_llc_out_of_sync(run, link, SMC_LLC_WHY_OUT_OF_SYNC);
	else
		smc_llc_rkey_done(run, 0);
}

void smc_llc_keys_msg(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg)
{
	if (msg->type == SMC_LLC_CONFIRM_RKEY) {
		if (msg->is_reply)
			on_confirm_reply(run, link, &msg->confirm_rkey);
		else
			on_confirm_request(run, link, msg);
	} else if (msg->type == SMC_LLC_CONFIRM_RKEY_CONT) {
		if (msg->is_reply)
			on_cont_reply(run, link, &msg->confirm_rkey_cont);
		else
			on_cont_request(run, link, msg);
	} else if (msg->is_reply) {
		on_delete_reply(run, link, &msg->delete_rkey);
	} else {
		on_delete_request(run, link, msg);
	}
}

/**
 * smc_llc_flow_may_request() - check whether this side may begin an RKEY exchange
 * @flow: the machine
 * @now: in ms
 *
 * One at a time, none while links change or have to (SER-02, SER-05), and none for a short time
 * after the peer refused one (RKEY-12).
 *
 * Context: Any context. The caller serialises.
 * Return: true if SMC_LLC_EV_REQ_RKEY would begin one.
 */
bool smc_llc_flow_may_request(const struct smc_llc_flow *flow, u64 now)
{
	return flow->phase == SMC_LLC_UP && flow->config == SMC_LLC_CONFIG_NONE &&
	       !smc_llc_is_any_ending(flow) && !smc_llc_nr_in(flow, SMC_LLC_LINK_DELETE_WANTED) &&
	       flow->add_pause == SMC_LLC_NO_DEADLINE && !flow->own.is_busy &&
	       now >= flow->own.hold;
}

static int check_request(const struct smc_llc_flow *flow, const struct smc_llc_rkeys *keys,
			 u64 now)
{
	unsigned int max = keys->is_delete ? SMC_LLC_DELETE_RKEYS : SMC_LLC_LINKS;
	unsigned int i, seen = 0;

	if (flow->phase >= SMC_LLC_TERMINATING)
		return -ECONNABORTED;
	if (!smc_llc_flow_may_request(flow, now))
		return -EBUSY;
	if (!keys->count || keys->count > max)
		return -EINVAL;
	for (i = 0; i < keys->count; i++) {
		if (keys->rtoken[i].link_num >= SMC_LLC_LINKS)
			return -EINVAL;
		if (!smc_llc_is_in_use(&flow->link[keys->rtoken[i].link_num]))
			return -EAGAIN;
		if (!keys->is_delete && (seen & BIT(keys->rtoken[i].link_num)))
			return -EINVAL;
		seen |= BIT(keys->rtoken[i].link_num);
	}
	/* RKEY-03, RKEY-04: on every link, or not at all */
	if (!keys->is_delete && keys->count != smc_llc_nr_in_use(flow))
		return -EAGAIN;
	return 0;
}

/* Announce a new RMB, or withdraw RMBs. RFC 7609 3.5.5.2; RKEY-04, RKEY-06, RKEY-16. */
void smc_llc_keys_request(struct smc_llc_run *run, const struct smc_llc_event *ev)
{
	struct smc_llc_rkey *own = &run->flow->own;
	struct smc_llc_action *act;
	struct smc_llc_msg *msg;
	unsigned int i;
	int rc;

	rc = check_request(run->flow, &ev->rkey, run->now);
	if (rc) {
		act = smc_llc_emit(run, SMC_LLC_ACT_RKEY_DONE, 0);
		act->cookie = ev->cookie;
		act->result = rc;
		return;
	}
	own->is_busy = true;
	own->cookie = ev->cookie;
	own->keys = ev->rkey;
	own->link = own->keys.rtoken[0].link_num;
	own->next = 0;
	/* By number, because a link may end before the last message is sent. */
	for (i = 0; i < own->keys.count; i++)
		own->keys.rtoken[i].link_num =
			run->flow->link[own->keys.rtoken[i].link_num].num;
	if (!own->keys.is_delete) {
		send_confirm(run);
		return;
	}
	msg = smc_llc_emit_send(run, own->link, SMC_LLC_DELETE_RKEY, false, SMC_LLC_SENT_OTHER);
	msg->delete_rkey.count = own->keys.count;
	for (i = 0; i < own->keys.count; i++)
		msg->delete_rkey.rkey[i] = own->keys.rtoken[i].rkey;
	own->msg = *msg;
	own->deadline = smc_llc_after(run, run->flow->params.timers.reply);
}

/* A server that changes links answers our DELETE RKEY only afterwards, AMB-21. */
void smc_llc_keys_wait(struct smc_llc_run *run)
{
	struct smc_llc_rkey *own = &run->flow->own;

	if (own->is_busy && own->keys.is_delete)
		own->deadline = smc_llc_after(run, run->flow->params.timers.reply);
}

/* An overdue reply fails the link of its exchange. RFC 7609 C.7.1; ERR-39, ERR-40, AMB-58. */
void smc_llc_keys_timer(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;

	if (run->now >= flow->own.hold)
		flow->own.hold = 0;
	if (run->now >= flow->own.deadline) {
		flow->own.deadline = SMC_LLC_NO_DEADLINE;
		/* The exchange that delays the reply has its own timers. */
		if (flow->own.keys.is_delete && flow->config != SMC_LLC_CONFIG_NONE)
			smc_llc_keys_wait(run);
		else
			smc_llc_link_failed(run, flow->own.link, SMC_LLC_WHY_RKEY_TIMEOUT,
					    SMC_LLC_DELETE_LOST_PATH);
	}
	if (run->now >= flow->remote.deadline) {
		flow->remote.deadline = SMC_LLC_NO_DEADLINE;
		smc_llc_link_failed(run, flow->remote.link, SMC_LLC_WHY_RKEY_TIMEOUT,
				    SMC_LLC_DELETE_LOST_PATH);
	}
}

/*
 * End exchanges that lost their link. One that waits for the machine's owner stays until the owner
 * reports.
 */
void smc_llc_keys_settle(struct smc_llc_run *run)
{
	struct smc_llc_flow *flow = run->flow;
	struct smc_llc_remote_rkey *remote = &flow->remote;

	if (flow->own.is_busy && smc_llc_is_unusable(flow, flow->own.link))
		smc_llc_rkey_done(run, -EAGAIN);
	if (remote->state == SMC_LLC_REMOTE_CONFIRM_CONT &&
	    smc_llc_is_unusable(flow, remote->link)) {
		remote->state = SMC_LLC_REMOTE_NONE;
		remote->deadline = SMC_LLC_NO_DEADLINE;
	}
	if (smc_llc_is_unusable(flow, remote->put_off_link))
		remote->is_put_off = false;
}

/* Begin the DELETE RKEY that was put off. */
void smc_llc_keys_resume(struct smc_llc_run *run)
{
	struct smc_llc_remote_rkey *remote = &run->flow->remote;

	if (!remote->is_put_off || remote->state != SMC_LLC_REMOTE_NONE || is_refused(run->flow))
		return;
	remote->is_put_off = false;
	begin_delete(run, remote->put_off_link, &remote->put_off);
}
