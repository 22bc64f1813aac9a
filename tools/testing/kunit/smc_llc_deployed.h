/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A deployed side of a link group, for smc_llc_world.h: a script in place of the machine.
 *
 * It differs from a side of this module in what protocol.md says of deployed peers:
 *
 * - It has one exchange that changes links at a time. A message that arrives during the
 *   exchange goes into a mailbox with room for one. A message that the exchange does not
 *   wait for is dropped. The exchange is given up then, or when its time is over.
 * - It has its own times: 2 s for a message, 5 s for CONFIRM LINK on a new link.
 * - A client that gives up a link that it had accepted declines the offer, with the data
 *   of the offer. It answers a DELETE LINK that arrives in place of CONFIRM LINK first.
 * - A server that gives up a new link says DELETE LINK, or nothing. It does not compare the
 *   link number of an ADD LINK reply.
 * - One ADD LINK or DELETE LINK that arrives during an exchange of its own is put off.
 * - A link that fails is taken down at once and reported in good order.
 * - All RNICs are one LAN. There are never more than three links.
 *
 * A side of Linux 4.17 to 5.7 has version 1 and one link, of number 0:
 *
 * - A server offers a second one without queue pair, number, MTU and PSN, with the MAC and GID
 *   of the first one: in first contact, and in answer to a notice. It takes any rejection.
 * - A client declines each offer, with or without the number.
 * - It knows DELETE LINK for all links only.
 *
 * The state of the world's side holds what the script knows.
 */
#ifndef _SMC_LLC_DEPLOYED_H
#define _SMC_LLC_DEPLOYED_H

#include "smc_llc_world.h"

enum d_limit {
	D_LINKS			= 3,
	D_FIRST_MS		= 4000,
	D_REPLY_MS		= 2000,
	D_CONFIRM_MS		= 5000,
	D_IDLE_MS		= 30000,
	D_DECLINE_MS		= 1000,	/* a Decline may follow what did not come */
};

static void d_idle(struct world *w);
static void ds_idle(struct world *w);

static inline struct w_side *d_side(struct world *w)
{
	return &w->side[w->d.who];
}

static inline struct smc_llc_action d_msg(u8 link, u8 type, bool is_reply)
{
	struct smc_llc_action act = { .type = SMC_LLC_ACT_SEND, .link = link };

	act.msg.type = type;
	act.msg.is_reply = is_reply;
	return act;
}

static inline void d_free(struct world *w, u8 link)
{
	struct w_side *s = d_side(w);

	/* flush what was sent before */
	while (w_transmit(w, w->d.who, link))
		;
	s->up &= ~BIT(link);
	w_qp_free(w, w->d.who, link);
	memset(&s->flow.link[link], 0, sizeof(s->flow.link[link]));
	s->flow.link[link].deadline = SMC_LLC_NO_DEADLINE;
}

/* The end of the group, for any reason. */
static inline void d_die(struct world *w)
{
	struct w_side *s = d_side(w);
	bool was_up = s->flow.phase >= SMC_LLC_UP;
	u8 i;

	if (s->flow.phase == SMC_LLC_DEAD)
		return;
	W_TRACE("%d: the client ends\n", w->d.who);
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (s->qp[i].exists)
			d_free(w, i);
	smc_llc_stop_timers(&s->flow);
	s->flow.config = SMC_LLC_CONFIG_NONE;
	s->flow.config_deadline = SMC_LLC_NO_DEADLINE;
	s->flow.own.is_busy = false;
	s->flow.phase = SMC_LLC_DEAD;
	w_end(w, w->d.who);
	s->nr_terminated = was_up;
	s->nr_failed = !was_up;
	s->fail = SMC_LLC_FAIL_RESET;
}

static inline void d_link_is_up(struct world *w, u8 link)
{
	struct w_side *s = d_side(w);

	s->flow.link[link].state = SMC_LLC_LINK_ACTIVE;
	s->flow.link[link].is_unconfirmed = false;
	if (s->flow.phase != SMC_LLC_UP)
		return;
	s->flow.link[link].deadline = w->now + D_IDLE_MS;
	s->up |= BIT(link);
}

static inline void d_group_up(struct world *w)
{
	struct w_side *s = d_side(w);
	u8 i;

	if (s->flow.phase >= SMC_LLC_UP)
		return;
	s->flow.phase = SMC_LLC_UP;
	s->flow.config_deadline = SMC_LLC_NO_DEADLINE;
	s->nr_up++;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (s->flow.link[i].state == SMC_LLC_LINK_ACTIVE)
			d_link_is_up(w, i);
}

/* The server's exchange is over, with success or not. */
static inline void d_done(struct world *w)
{
	struct w_side *s = d_side(w);

	s->flow.config = SMC_LLC_CONFIG_NONE;
	s->flow.config_deadline = SMC_LLC_NO_DEADLINE;
	w->d.has_mail = false;
	d_group_up(w);
	d_idle(w);
}

/* A second answer to ADD LINK, built from the first. */
static inline void d_decline(struct world *w, u8 link, const struct smc_llc_add_link *offer)
{
	struct smc_llc_action act = d_msg(link, SMC_LLC_ADD_LINK, true);

	act.msg.add_link = *offer;
	act.msg.add_link.nr_pairs = 0;
	act.msg.add_link.is_rejected = true;
	act.msg.add_link.reason = SMC_LLC_ADD_LINK_NO_PATH;
	if (w->d.is_old && chaos_roll(2))
		act.msg.add_link.link_num = 0;
	w_send(w, w->d.who, &act);
}

static inline void d_give_up(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;

	W_TRACE("%d: gives up link %d\n", w->d.who, flow->link[flow->config_target].num);
	d_free(w, flow->config_target);
	if (flow->link[flow->config_link].state == SMC_LLC_LINK_ACTIVE)
		d_decline(w, flow->config_link, &flow->add.offer);
	d_done(w);
}

/* A message arrived that the exchange does not wait for. */
static inline void d_ignore(struct world *w)
{
	w->d.nr_dropped++;
	if (chaos_roll(2))
		d_give_up(w);
}

static inline void d_wait(struct world *w, enum smc_llc_config config)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;

	flow->config = config;
	flow->config_deadline = w->now + (config == SMC_LLC_CONFIG_CONFIRM ? D_CONFIRM_MS :
									     D_REPLY_MS);
}

/* An RNIC for a link to the offered one, or W_RNICS. */
static inline u8 d_pick(struct world *w, const struct smc_llc_end *offered)
{
	struct w_side *s = d_side(w);
	bool is_used, is_other = true;
	u8 rnic, i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (s->qp[i].exists && smc_llc_same_rnic(&s->flow.link[i].peer, offered))
			is_other = false;
	for (rnic = 0; rnic < W_RNICS; rnic++) {
		is_used = false;
		for (i = 0; i < SMC_LLC_LINKS; i++)
			is_used |= s->qp[i].exists && s->qp[i].rnic == rnic;
		if (s->has_rnic[rnic] && !is_used)
			return rnic;
	}
	for (rnic = 0; rnic < W_RNICS && is_other; rnic++)
		if (s->has_rnic[rnic])
			return rnic;
	return W_RNICS;
}

/* Store the pairs of a long offer. */
static inline void d_store_pairs(struct world *w, u8 link, u8 target, const struct w_bytes *b)
{
	struct smc_llc_action act = { .link = link, .target = target };
	struct w_side *s = d_side(w);
	struct smc_llc_pair pair;
	unsigned int i;

	for (i = 0; i < s->flow.add.offer.nr_pairs; i++) {
		smc_llc_form_pair(b->raw, i, &pair);
		w_store_pair(s, &act, &pair);
	}
}

static inline void d_offer(struct world *w, u8 link, const struct smc_llc_msg *msg,
			   const struct w_bytes *b)
{
	struct smc_llc_action act = d_msg(link, SMC_LLC_ADD_LINK, true);
	u8 target, rnic, i, nr = 0;
	struct w_side *s = d_side(w);
	struct smc_llc_link *lnk;

	if (s->flow.phase == SMC_LLC_WAIT_ADD_LINK)
		s->flow.phase = SMC_LLC_SECOND_LINK;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		nr += s->qp[i].exists;
	rnic = d_pick(w, &msg->add_link.end);
	target = smc_llc_link_in(&s->flow, SMC_LLC_LINK_FREE);
	if (w->d.is_old || rnic == W_RNICS || nr >= D_LINKS || target == SMC_LLC_NO_LINK) {
		d_decline(w, link, &msg->add_link);
		d_done(w);
		return;
	}
	s->flow.add.offer = msg->add_link;
	s->flow.config_link = link;
	s->flow.config_target = target;
	lnk = smc_llc_link_make(&s->flow, target, msg->add_link.link_num);
	lnk->is_unconfirmed = true;
	lnk->peer = msg->add_link.end;
	w_qp_make(w, w->d.who, target, rnic)->peer_qpn = lnk->peer.qpn;
	w_qp_end(w, w->d.who, target, &lnk->local);
	s->flow.add.nr_own = w_freeze(s, target);
	s->flow.add.next_own = 0;
	act.target = target;
	act.has_pairs = s->flow.params.has_long_add_link;
	act.msg.add_link.end = lnk->local;
	act.msg.add_link.link_num = lnk->num;
	d_wait(w, act.has_pairs ? SMC_LLC_CONFIG_CONFIRM : SMC_LLC_CONFIG_ADD_CONT);
	if (act.has_pairs)
		d_store_pairs(w, link, target, b);
	w_send(w, w->d.who, &act);
}

static inline void d_cont(struct world *w, const struct smc_llc_add_link_cont *cont)
{
	struct w_side *s = d_side(w);
	struct smc_llc_action act = d_msg(s->flow.config_link, SMC_LLC_ADD_LINK_CONT, true);
	u8 i, here = min_t(u8, cont->nr_rtokens, SMC_LLC_CONT_PAIRS);

	act.target = s->flow.config_target;
	for (i = 0; i < here; i++)
		w_store_pair(s, &act, &cont->pair[i]);
	act.first_rmb = s->flow.add.next_own;
	act.msg.add_link_cont.link_num = cont->link_num;
	act.msg.add_link_cont.nr_rtokens = s->flow.add.nr_own - s->flow.add.next_own;
	s->flow.add.next_own += min_t(u8, act.msg.add_link_cont.nr_rtokens, SMC_LLC_CONT_PAIRS);
	w_send(w, w->d.who, &act);
	d_wait(w, cont->nr_rtokens > here || s->flow.add.next_own < s->flow.add.nr_own ?
	       SMC_LLC_CONFIG_ADD_CONT : SMC_LLC_CONFIG_CONFIRM);
}

static inline void d_confirm(struct world *w, u8 link)
{
	struct smc_llc_action act = d_msg(link, SMC_LLC_CONFIRM_LINK, true);
	struct w_side *s = d_side(w);

	act.msg.confirm_link.end = s->flow.link[link].local;
	act.msg.confirm_link.link_num = s->flow.link[link].num;
	act.msg.confirm_link.link_uid = 0x5200 | link;
	act.msg.confirm_link.max_links = 2;
	act.msg.confirm_link.no_eye_catcher = true;
	w_send(w, w->d.who, &act);
	d_link_is_up(w, link);
}

static inline void d_del(struct world *w, u8 link, const struct smc_llc_delete_link *dl)
{
	struct smc_llc_action act = d_msg(link, SMC_LLC_DELETE_LINK, true);
	struct smc_llc_flow *flow = &d_side(w)->flow;
	u8 target = smc_llc_link_by_num(flow, dl->link_num);

	act.msg.delete_link.link_num = dl->link_num;
	if (target == SMC_LLC_NO_LINK)
		act.msg.delete_link.reason = SMC_LLC_DELETE_UNKNOWN_LINK;
	w_send(w, w->d.who, &act);
	/* a link that is being added ends with its exchange */
	if (target == SMC_LLC_NO_LINK || flow->link[target].is_unconfirmed)
		return;
	d_free(w, target);
	if (!smc_llc_nr_in(flow, SMC_LLC_LINK_ACTIVE))
		d_die(w);
}

/* The exchange reads the mailbox. */
static inline void d_look(struct world *w)
{
	const struct smc_llc_msg *mail = &w->d.mail;
	struct smc_llc_flow *flow = &d_side(w)->flow;

	if (!w->d.has_mail || flow->config == SMC_LLC_CONFIG_NONE)
		return;
	w->d.has_mail = false;
	if (flow->config == SMC_LLC_CONFIG_ADD_CONT && mail->type == SMC_LLC_ADD_LINK_CONT &&
	    mail->add_link_cont.link_num == flow->link[flow->config_target].num) {
		d_cont(w, &mail->add_link_cont);
	} else if (flow->config == SMC_LLC_CONFIG_CONFIRM && mail->type == SMC_LLC_CONFIRM_LINK) {
		d_confirm(w, flow->config_target);
		d_done(w);
	} else if (flow->config == SMC_LLC_CONFIG_CONFIRM && mail->type == SMC_LLC_DELETE_LINK) {
		d_del(w, w->d.mail_link, &mail->delete_link);
		if (flow->phase != SMC_LLC_DEAD)
			d_give_up(w);
	} else {
		d_ignore(w);
	}
}

static inline void d_into_mailbox(struct world *w, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_PAIRS_STORED, .link = link };

	if (w->d.has_mail) {
		w->d.nr_dropped++;
		return;
	}
	w->d.has_mail = true;
	w->d.mail = *msg;
	w->d.mail_bytes = *d_side(w)->msg;
	w->d.mail_link = link;
	/* any link will do: the event belongs to none */
	ev.link = SMC_LLC_LINKS - 1;
	w_job(w, w->d.who, &ev);
}

static inline void d_rkey_done(struct world *w, int result)
{
	struct smc_llc_rkey *own = &d_side(w)->flow.own;

	if (!own->is_busy)
		return;
	own->is_busy = false;
	own->deadline = SMC_LLC_NO_DEADLINE;
	w_rkey_done(w, w->d.who, own->cookie, result);
	d_idle(w);
}

static inline void d_rkey_request(struct world *w, const struct smc_llc_event *ev)
{
	const struct smc_llc_rtoken *rtoken = ev->rkey.rtoken;
	struct w_side *s = d_side(w);
	struct smc_llc_action act = d_msg(rtoken[0].link_num, SMC_LLC_CONFIRM_RKEY, false);
	struct smc_llc_confirm_rkey *cr = &act.msg.confirm_rkey;
	u8 i;

	s->flow.own.is_busy = true;
	s->flow.own.cookie = ev->cookie;
	s->flow.own.keys = ev->rkey;
	s->flow.own.deadline = w->now + D_REPLY_MS;
	if (ev->rkey.is_delete) {
		act.msg.type = SMC_LLC_DELETE_RKEY;
		act.msg.delete_rkey.count = 1;
		act.msg.delete_rkey.rkey[0] = rtoken[0].rkey;
	} else {
		cr->here = rtoken[0];
		cr->nr_rtokens = ev->rkey.count - 1;
		for (i = 1; i < ev->rkey.count; i++) {
			cr->other[i - 1] = rtoken[i];
			cr->other[i - 1].link_num = s->flow.link[rtoken[i].link_num].num;
		}
	}
	w_send(w, w->d.who, &act);
}

static inline void d_confirm_rkey(struct world *w, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_action act = d_msg(link, SMC_LLC_CONFIRM_RKEY, true);
	const struct smc_llc_confirm_rkey *cr = &msg->confirm_rkey;
	struct smc_llc_rkeys keys = { .count = 1 };
	struct w_side *s = d_side(w);
	u8 i, at;

	keys.rtoken[0] = cr->here;
	keys.rtoken[0].link_num = link;
	for (i = 0; i < cr->nr_rtokens && i < SMC_LLC_RKEY_SPECS; i++) {
		at = smc_llc_link_by_num(&s->flow, cr->other[i].link_num);
		if (at == SMC_LLC_NO_LINK)
			continue;
		keys.rtoken[keys.count] = cr->other[i];
		keys.rtoken[keys.count++].link_num = at;
	}
	act.msg = *msg;
	act.msg.is_reply = true;
	act.msg.confirm_rkey.is_negative = !w_store(w, w->d.who, &keys);
	w_send(w, w->d.who, &act);
}

static inline void d_delete_rkey(struct world *w, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_action act = d_msg(link, SMC_LLC_DELETE_RKEY, true);
	struct w_side *s = d_side(w);
	int i, at;

	act.msg = *msg;
	act.msg.is_reply = true;
	for (i = 0; i < msg->delete_rkey.count; i++) {
		at = w_find_token(s, link, msg->delete_rkey.rkey[i]);
		if (at >= 0)
			s->token[at].is_used = false;
		else
			act.msg.delete_rkey.is_negative = true;
	}
	w_send(w, w->d.who, &act);
}

/* One request waits for the end of an RKEY exchange, others are dropped. */
static inline void d_put_off(struct world *w, u8 link, const struct smc_llc_msg *msg,
			     const struct w_bytes *b)
{
	if (w->d.is_put_off) {
		w->d.nr_dropped++;
		return;
	}
	w->d.is_put_off = true;
	w->d.put_off = *msg;
	w->d.put_off_bytes = *b;
	w->d.put_off_link = link;
}

static inline void d_request(struct world *w, u8 link, const struct smc_llc_msg *msg,
			     const struct w_bytes *b)
{
	switch (msg->type) {
	case SMC_LLC_ADD_LINK:
		d_offer(w, link, msg, b);
		break;
	case SMC_LLC_DELETE_LINK:
		d_del(w, link, &msg->delete_link);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		d_confirm_rkey(w, link, msg);
		break;
	case SMC_LLC_DELETE_RKEY:
		d_delete_rkey(w, link, msg);
		break;
	default:
		w->d.nr_dropped++;
		break;
	}
}

/* The answer to an exchange of this side, which may have given up. */
static inline void d_reply(struct world *w, const struct smc_llc_msg *msg)
{
	const struct smc_llc_rkeys *keys = &d_side(w)->flow.own.keys;

	if (msg->type == SMC_LLC_DELETE_RKEY && keys->is_delete)
		d_rkey_done(w, 0);
	else if (msg->type == SMC_LLC_CONFIRM_RKEY && !keys->is_delete &&
		 msg->confirm_rkey.here.rkey == keys->rtoken[0].rkey)
		d_rkey_done(w, msg->confirm_rkey.is_negative ? -EREMOTEIO : 0);
}

static inline void d_receive(struct world *w, u8 link, const struct smc_llc_msg *msg)
{
	struct w_side *s = d_side(w);
	bool is_rkey = msg->type == SMC_LLC_CONFIRM_RKEY || msg->type == SMC_LLC_DELETE_RKEY;

	if (msg->type == SMC_LLC_DELETE_LINK && !msg->is_reply && msg->delete_link.is_all) {
		d_die(w);
	} else if (s->flow.phase == SMC_LLC_TERMINATING) {
		return;
	} else if (msg->is_reply) {
		d_reply(w, msg);
	} else if (s->flow.phase == SMC_LLC_WAIT_CONFIRM_LINK) {
		if (msg->type != SMC_LLC_CONFIRM_LINK)
			return;
		s->flow.dialect = SMC_DIALECT_DEPLOYED;
		s->flow.max_links = 2;
		s->flow.link[0].num = msg->confirm_link.link_num;
		s->flow.phase = SMC_LLC_WAIT_ADD_LINK;
		s->flow.config_deadline = w->now + D_REPLY_MS + D_DECLINE_MS;
		d_confirm(w, 0);
	} else if (s->flow.config != SMC_LLC_CONFIG_NONE) {
		if (is_rkey)
			w->d.nr_dropped++;
		else
			d_into_mailbox(w, link, msg);
	} else if (s->flow.own.is_busy && !is_rkey) {
		d_put_off(w, link, msg, s->msg);
	} else {
		d_request(w, link, msg, s->msg);
	}
}

/* A failed link is taken down at once, and reported to the server later. */
static inline void d_link_down(struct world *w, u8 link)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;

	/* a link that is being added ends when CONFIRM LINK is missing */
	if (flow->link[link].state != SMC_LLC_LINK_ACTIVE)
		return;
	W_TRACE("%d: link %d is down\n", w->d.who, link);
	if (flow->phase != SMC_LLC_UP) {
		if (smc_llc_nr_in(flow, SMC_LLC_LINK_ACTIVE) < 2)
			d_die(w);
		return;
	}
	if (w->d.nr_reports < SMC_LLC_LINKS)
		w->d.report[w->d.nr_reports++] = flow->link[link].num;
	d_free(w, link);
	if (!smc_llc_nr_in(flow, SMC_LLC_LINK_ACTIVE))
		d_die(w);
	else
		d_idle(w);
}

static inline void d_report(struct world *w, u8 num)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	struct smc_llc_action act = d_msg(smc_llc_carrier(flow, SMC_LLC_NO_LINK),
					  SMC_LLC_DELETE_LINK, false);

	act.msg.delete_link.link_num = num;
	act.msg.delete_link.is_orderly = true;
	act.msg.delete_link.reason = SMC_LLC_DELETE_LOST_PATH;
	w_send(w, w->d.who, &act);
}

/* A new RNIC is available. */
static inline void d_notice(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	struct smc_llc_action act = d_msg(smc_llc_carrier(flow, SMC_LLC_NO_LINK),
					  flow->params.has_long_add_link ?
					  SMC_LLC_REQ_ADD_LINK : SMC_LLC_ADD_LINK, false);

	flow->next_add = SMC_LLC_NO_DEADLINE;
	if (smc_llc_nr_symmetric(flow) > 1 || !flow->rnics.count)
		return;
	memcpy(act.end.mac, flow->rnics.rnic[0].mac, sizeof(act.end.mac));
	memcpy(act.end.gid, flow->rnics.rnic[0].gid, sizeof(act.end.gid));
	if (!flow->params.has_long_add_link)
		act.msg.add_link.end = act.end;
	w_send(w, w->d.who, &act);
}

/* Start the work that was waiting for the exchange to end. */
static void d_idle(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	u8 i, nr = w->d.nr_reports;

	if (flow->phase != SMC_LLC_UP || flow->config != SMC_LLC_CONFIG_NONE ||
	    flow->own.is_busy)
		return;
	if (w->d.who == W_SERVER) {
		ds_idle(w);
		return;
	}
	w->d.nr_reports = 0;
	for (i = 0; i < nr; i++)
		d_report(w, w->d.report[i]);
	if (w->d.is_put_off) {
		w->d.is_put_off = false;
		if (flow->link[w->d.put_off_link].state == SMC_LLC_LINK_ACTIVE)
			d_request(w, w->d.put_off_link, &w->d.put_off, &w->d.put_off_bytes);
	} else if (!flow->next_add) {
		d_notice(w);
	}
}

/* The server's part. It waits for replies as a client does for requests. */

static inline void ds_delete(struct world *w, u8 num, u32 reason, bool is_orderly)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	u8 target = smc_llc_link_by_num(flow, num), link = smc_llc_carrier(flow, target);
	struct smc_llc_action act = d_msg(link, SMC_LLC_DELETE_LINK, false);

	if (link == SMC_LLC_NO_LINK) {
		d_die(w);
		return;
	}
	flow->config_link = link;
	w->d.deleted = num;
	act.msg.delete_link.link_num = num;
	act.msg.delete_link.reason = reason;
	act.msg.delete_link.is_orderly = is_orderly;
	d_wait(w, SMC_LLC_CONFIG_DELETE_LINK);
	w_send(w, w->d.who, &act);
}

/* The reply has arrived, or its time is over. */
static inline void ds_deleted(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	u8 target = smc_llc_link_by_num(flow, w->d.deleted);

	if (target != SMC_LLC_NO_LINK)
		d_free(w, target);
	if (smc_llc_nr_in(flow, SMC_LLC_LINK_ACTIVE) == 1)
		flow->next_add = 0;
	d_done(w);
}

static inline u8 ds_pick(struct world *w)
{
	struct w_side *s = d_side(w);
	bool is_used;
	u8 rnic, i;

	for (rnic = 0; rnic < W_RNICS; rnic++) {
		is_used = false;
		for (i = 0; i < SMC_LLC_LINKS; i++)
			is_used |= s->qp[i].exists && s->qp[i].rnic == rnic;
		if (s->has_rnic[rnic] && !is_used)
			return rnic;
	}
	i = smc_llc_carrier(&s->flow, SMC_LLC_NO_LINK);
	return smc_llc_nr_in(&s->flow, SMC_LLC_LINK_ACTIVE) == 1 &&
	       s->has_rnic[s->qp[i].rnic] ? s->qp[i].rnic : W_RNICS;
}

/* An offer of nothing, which no client may take for one. */
static inline void ds_old_offer(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	u8 link = smc_llc_carrier(flow, SMC_LLC_NO_LINK);
	struct smc_llc_action act = d_msg(link, SMC_LLC_ADD_LINK, false);

	flow->next_add = SMC_LLC_NO_DEADLINE;
	memcpy(act.msg.add_link.end.mac, flow->link[link].local.mac, SMC_MAC_LEN);
	memcpy(act.msg.add_link.end.gid, flow->link[link].local.gid, SMC_GID_LEN);
	d_wait(w, SMC_LLC_CONFIG_ADD_LINK);
	w_send(w, w->d.who, &act);
}

static inline void ds_add(struct world *w)
{
	struct smc_llc_action act = d_msg(0, SMC_LLC_ADD_LINK, false);
	struct w_side *s = d_side(w);
	struct smc_llc_flow *flow = &s->flow;
	u8 target = smc_llc_link_in(flow, SMC_LLC_LINK_FREE), rnic = ds_pick(w), i, nr = 0;

	if (w->d.is_old) {
		ds_old_offer(w);
		return;
	}
	flow->next_add = SMC_LLC_NO_DEADLINE;
	act.link = smc_llc_carrier(flow, SMC_LLC_NO_LINK);
	for (i = 0; i < SMC_LLC_LINKS; i++)
		nr += s->qp[i].exists;
	if (rnic == W_RNICS || nr >= D_LINKS || smc_llc_nr_symmetric(flow) > 1) {
		if (flow->req_link != SMC_LLC_NO_LINK) {
			act.msg.type = SMC_LLC_REQ_ADD_LINK;
			act.msg.is_reply = true;
			w_send(w, w->d.who, &act);
		}
		flow->req_link = SMC_LLC_NO_LINK;
		d_group_up(w);
		return;
	}
	flow->req_link = SMC_LLC_NO_LINK;
	flow->config_link = act.link;
	flow->config_target = target;
	flow->last_num = smc_llc_next_link_num(flow);
	smc_llc_link_make(flow, target, flow->last_num)->is_unconfirmed = true;
	w_qp_make(w, w->d.who, target, rnic);
	w_qp_end(w, w->d.who, target, &flow->link[target].local);
	flow->add.nr_own = w_freeze(s, target);
	flow->add.next_own = 0;
	act.target = target;
	act.has_pairs = flow->params.has_long_add_link;
	act.msg.add_link.end = flow->link[target].local;
	act.msg.add_link.link_num = flow->last_num;
	d_wait(w, SMC_LLC_CONFIG_ADD_LINK);
	w_send(w, w->d.who, &act);
}

/* The link does not come up. The client gets a DELETE LINK, or nothing. */
static inline void ds_fail(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	bool is_told = flow->config != SMC_LLC_CONFIG_ADD_LINK && chaos_roll(2);
	u8 num = flow->link[flow->config_target].num;

	if (w->d.is_old) {
		d_done(w);
		return;
	}
	d_free(w, flow->config_target);
	if (is_told)
		ds_delete(w, num, SMC_LLC_DELETE_LOST_PATH, false);
	else
		d_done(w);
}

static inline void ds_send_cont(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	struct smc_llc_action act = d_msg(flow->config_link, SMC_LLC_ADD_LINK_CONT, false);
	struct smc_llc_add_link_cont *cont = &act.msg.add_link_cont;

	act.target = flow->config_target;
	act.first_rmb = flow->add.next_own;
	cont->link_num = flow->link[flow->config_target].num;
	cont->nr_rtokens = flow->add.nr_own - flow->add.next_own;
	flow->add.next_own += min_t(u8, cont->nr_rtokens, SMC_LLC_CONT_PAIRS);
	d_wait(w, SMC_LLC_CONFIG_ADD_CONT);
	w_send(w, w->d.who, &act);
}

static inline void ds_send_confirm(struct world *w, u8 link)
{
	struct smc_llc_action act = d_msg(link, SMC_LLC_CONFIRM_LINK, false);
	struct smc_llc_flow *flow = &d_side(w)->flow;

	act.msg.confirm_link.end = flow->link[link].local;
	act.msg.confirm_link.link_num = flow->link[link].num;
	act.msg.confirm_link.link_uid = 0x5100 | link;
	act.msg.confirm_link.max_links = 2;
	act.msg.confirm_link.no_eye_catcher = true;
	w_send(w, w->d.who, &act);
}

static inline void ds_answer(struct world *w, const struct smc_llc_add_link *al)
{
	struct w_side *s = d_side(w);
	u8 target = s->flow.config_target;

	W_CHECK(w, al->is_rejected || !w->d.is_old);
	if (w->d.is_old) {
		d_done(w);
		return;
	}
	if (al->is_rejected) {
		d_free(w, target);
		d_done(w);
		return;
	}
	s->flow.link[target].peer = al->end;
	s->qp[target].peer_qpn = al->end.qpn;
	if (!s->flow.params.has_long_add_link) {
		ds_send_cont(w);
		return;
	}
	s->flow.add.offer = *al;
	d_store_pairs(w, s->flow.config_link, target, &w->d.mail_bytes);
	ds_send_confirm(w, target);
	d_wait(w, SMC_LLC_CONFIG_CONFIRM);
}

static inline void ds_cont(struct world *w, const struct smc_llc_add_link_cont *cont)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	struct smc_llc_action act = { .link = flow->config_link, .target = flow->config_target };
	u8 i, here = min_t(u8, cont->nr_rtokens, SMC_LLC_CONT_PAIRS);

	for (i = 0; i < here; i++)
		w_store_pair(d_side(w), &act, &cont->pair[i]);
	if (cont->nr_rtokens > here || flow->add.next_own < flow->add.nr_own) {
		ds_send_cont(w);
		return;
	}
	ds_send_confirm(w, flow->config_target);
	d_wait(w, SMC_LLC_CONFIG_CONFIRM);
}

static inline void ds_added(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	u8 odd;

	d_link_is_up(w, flow->config_target);
	odd = smc_llc_superfluous(flow);
	if (odd < SMC_LLC_LINKS)
		ds_delete(w, flow->link[odd].num, SMC_LLC_DELETE_ASYMMETRIC, true);
	else
		d_done(w);
}

static inline void ds_look(struct world *w)
{
	const struct smc_llc_msg *mail = &w->d.mail;
	struct smc_llc_flow *flow = &d_side(w)->flow;

	if (!w->d.has_mail || flow->config == SMC_LLC_CONFIG_NONE)
		return;
	w->d.has_mail = false;
	if (flow->config == SMC_LLC_CONFIG_ADD_LINK && mail->type == SMC_LLC_ADD_LINK)
		ds_answer(w, &mail->add_link);
	else if (flow->config == SMC_LLC_CONFIG_ADD_CONT && mail->type == SMC_LLC_ADD_LINK_CONT)
		ds_cont(w, &mail->add_link_cont);
	else if (flow->config == SMC_LLC_CONFIG_CONFIRM && mail->type == SMC_LLC_CONFIRM_LINK)
		ds_added(w);
	else if (flow->config == SMC_LLC_CONFIG_DELETE_LINK && mail->type == SMC_LLC_DELETE_LINK)
		ds_deleted(w);
	else if (flow->config != SMC_LLC_CONFIG_DELETE_LINK && chaos_roll(2))
		ds_fail(w);
}

static inline void ds_forward(struct world *w, u8 link, const struct smc_llc_delete_link *dl)
{
	struct smc_llc_action act = d_msg(link, SMC_LLC_DELETE_LINK, true);

	if (smc_llc_link_by_num(&d_side(w)->flow, dl->link_num) != SMC_LLC_NO_LINK) {
		ds_delete(w, dl->link_num, dl->reason, dl->is_orderly);
		return;
	}
	act.msg.delete_link.link_num = dl->link_num;
	act.msg.delete_link.reason = SMC_LLC_DELETE_UNKNOWN_LINK;
	w_send(w, w->d.who, &act);
}

static inline void ds_request(struct world *w, u8 link, const struct smc_llc_msg *msg)
{
	if (msg->type == SMC_LLC_DELETE_LINK) {
		ds_forward(w, link, &msg->delete_link);
		return;
	}
	d_side(w)->flow.req_link = msg->type == SMC_LLC_REQ_ADD_LINK ? link : SMC_LLC_NO_LINK;
	ds_add(w);
}

static inline void ds_confirmed(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;

	flow->dialect = SMC_DIALECT_DEPLOYED;
	flow->max_links = 2;
	flow->phase = SMC_LLC_SECOND_LINK;
	flow->config_deadline = SMC_LLC_NO_DEADLINE;
	d_link_is_up(w, 0);
	ds_add(w);
}

static inline void ds_receive(struct world *w, u8 link, const struct smc_llc_msg *msg)
{
	struct w_side *s = d_side(w);
	struct smc_llc_action act = d_msg(link, msg->type, msg->is_reply);

	if (msg->type == SMC_LLC_DELETE_LINK && !msg->is_reply && msg->delete_link.is_all) {
		act.msg = *msg;
		w_send(w, w->d.who, &act);
		d_die(w);
	} else if (s->flow.phase == SMC_LLC_WAIT_CONFIRM_REPLY) {
		if (msg->type == SMC_LLC_CONFIRM_LINK && msg->is_reply)
			ds_confirmed(w);
	} else if (msg->type == SMC_LLC_CONFIRM_RKEY || msg->type == SMC_LLC_DELETE_RKEY) {
		if (msg->is_reply)
			d_reply(w, msg);
		else
			d_request(w, link, msg, s->msg);
	} else if (msg->is_reply) {
		if (s->flow.config != SMC_LLC_CONFIG_NONE && msg->type != SMC_LLC_TEST_LINK)
			d_into_mailbox(w, link, msg);
	} else if (s->flow.config != SMC_LLC_CONFIG_NONE || s->flow.own.is_busy) {
		d_put_off(w, link, msg, s->msg);
	} else {
		ds_request(w, link, msg);
	}
}

static void ds_idle(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;

	if (w->d.nr_reports) {
		ds_delete(w, w->d.report[--w->d.nr_reports], SMC_LLC_DELETE_LOST_PATH, true);
	} else if (w->d.is_put_off) {
		w->d.is_put_off = false;
		if (flow->link[w->d.put_off_link].state == SMC_LLC_LINK_ACTIVE)
			ds_request(w, w->d.put_off_link, &w->d.put_off);
	} else if (!flow->next_add) {
		ds_add(w);
	}
}

static inline void ds_timeout(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;

	if (flow->phase == SMC_LLC_WAIT_CONFIRM_REPLY) {
		d_die(w);
		w_event(w, !w->d.who, SMC_LLC_EV_DECLINED, 0);
	} else if (flow->config == SMC_LLC_CONFIG_DELETE_LINK) {
		ds_deleted(w);
	} else if (flow->config != SMC_LLC_CONFIG_NONE) {
		ds_fail(w);
	}
}

static inline void d_probe(struct world *w, u8 link)
{
	struct smc_llc_action act = d_msg(link, SMC_LLC_TEST_LINK, false);
	struct w_side *s = d_side(w);
	struct smc_llc_link *lnk = &s->flow.link[link];

	if (lnk->state != SMC_LLC_LINK_ACTIVE || w->now < lnk->deadline)
		return;
	if (lnk->tries && s->last_rx[link] + D_REPLY_MS < lnk->deadline) {
		d_link_down(w, link);
		return;
	}
	lnk->tries = 0;
	if (s->last_rx[link] + D_IDLE_MS > w->now) {
		lnk->deadline = s->last_rx[link] + D_IDLE_MS;
		return;
	}
	lnk->tries = 1;
	lnk->deadline = w->now + D_REPLY_MS;
	w_send(w, w->d.who, &act);
}

static inline void d_timer(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	u8 i;

	if (w->now >= flow->own.deadline)
		d_rkey_done(w, -EREMOTEIO);
	if (w->now >= flow->config_deadline) {
		flow->config_deadline = SMC_LLC_NO_DEADLINE;
		if (w->d.who == W_SERVER) {
			ds_timeout(w);
		} else if (flow->phase == SMC_LLC_WAIT_CONFIRM_LINK) {
			d_die(w);
			w_event(w, W_SERVER, SMC_LLC_EV_DECLINED, 0);
		} else if (flow->phase == SMC_LLC_TERMINATING) {
			d_die(w);
		} else if (flow->config != SMC_LLC_CONFIG_NONE) {
			d_give_up(w);
		} else {
			d_group_up(w);
			d_idle(w);
		}
	}
	for (i = 0; i < SMC_LLC_LINKS && flow->phase == SMC_LLC_UP; i++)
		d_probe(w, i);
}

static inline void d_end(struct world *w)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	struct smc_llc_action act = d_msg(smc_llc_carrier(flow, SMC_LLC_NO_LINK),
					  SMC_LLC_DELETE_LINK, false);

	if (flow->phase != SMC_LLC_UP)
		return;
	flow->config = SMC_LLC_CONFIG_NONE;
	flow->phase = SMC_LLC_TERMINATING;
	smc_llc_stop_timers(flow);
	flow->config_deadline = w->now + D_REPLY_MS;
	act.msg.delete_link.is_all = true;
	act.msg.delete_link.is_orderly = true;
	act.msg.delete_link.reason = SMC_LLC_DELETE_PROGRAM;
	w_send(w, w->d.who, &act);
	/* a server waits for no answer */
	if (w->d.who == W_SERVER)
		d_die(w);
}

static inline void d_start(struct world *w, const struct smc_llc_start *start)
{
	struct smc_llc_flow *flow = &d_side(w)->flow;
	struct smc_llc_link *lnk = smc_llc_link_make(flow, 0, 0);
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		flow->link[i].deadline = SMC_LLC_NO_DEADLINE;
	lnk->local = start->local;
	lnk->peer = start->peer;
	flow->phase = SMC_LLC_WAIT_CONFIRM_LINK;
	flow->config_deadline = w->now + D_FIRST_MS;
	if (w->d.who == W_CLIENT)
		return;
	flow->last_num = !w->d.is_old;
	lnk->num = flow->last_num;
	flow->phase = SMC_LLC_WAIT_CONFIRM_REPLY;
	flow->config_deadline = w->now + D_REPLY_MS + D_DECLINE_MS;
	ds_send_confirm(w, 0);
}

/* The event handler of the script, see struct w_setup. */
static void d_event(struct world *w, const struct smc_llc_event *ev)
{
	struct w_side *s = d_side(w);

	if (s->flow.phase == SMC_LLC_DEAD)
		return;
	switch (ev->type) {
	case SMC_LLC_EV_START:
		d_start(w, &ev->start);
		break;
	case SMC_LLC_EV_MSG:
		if (s->flow.link[ev->link].state == SMC_LLC_LINK_FREE)
			break;
		W_CHECK(w, !w->d.is_old || ev->msg.type != SMC_LLC_DELETE_LINK ||
			ev->msg.delete_link.is_all);
		if (w->d.who == W_SERVER)
			ds_receive(w, ev->link, &ev->msg);
		else
			d_receive(w, ev->link, &ev->msg);
		break;
	case SMC_LLC_EV_BAD_MSG:
		W_CHECK(w, 0 && "the server can be understood");
		break;
	case SMC_LLC_EV_PAIRS_STORED:
		if (w->d.who == W_SERVER)
			ds_look(w);
		else
			d_look(w);
		break;
	case SMC_LLC_EV_SENT:
		if (!ev->ok)
			d_link_down(w, ev->link);
		break;
	case SMC_LLC_EV_TIMER:
		d_timer(w);
		break;
	case SMC_LLC_EV_RNICS:
		if (smc_llc_set_rnics(&s->flow, &ev->rnics) && s->flow.phase == SMC_LLC_UP)
			s->flow.next_add = 0;
		d_idle(w);
		break;
	case SMC_LLC_EV_LINK_BROKEN:
	case SMC_LLC_EV_LINK_GOING:
		d_link_down(w, ev->link);
		break;
	case SMC_LLC_EV_DECLINED:
		d_die(w);
		break;
	case SMC_LLC_EV_REQ_RKEY:
		d_rkey_request(w, ev);
		break;
	case SMC_LLC_EV_REQ_TERMINATE:
		d_end(w);
		break;
	default:
		break;
	}
}

#endif /* _SMC_LLC_DEPLOYED_H */
