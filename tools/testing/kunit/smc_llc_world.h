/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A world for two LLC machines: RNICs that come and go, queue pairs, wires that can cut,
 * delay, lose and duplicate messages, tables of keys, and a clock that the case moves. It
 * replaces smc_llc.c and the verbs for both sides, and checks each action of the machines.
 *
 * Messages of one link keep their order, as on a reliable connection; nothing else does.
 * They cross as bytes, so a disagreement about the dialect shows.
 *
 * Needs only the pure files and a failed() of its includer. The random runs also run outside
 * of a kernel, a hundred times as many.
 */
#ifndef _SMC_LLC_WORLD_H
#define _SMC_LLC_WORLD_H

#include <linux/errno.h>
#include <linux/string.h>

#include "../../../net/smc/proto/smc_llc_flow.h"
#include "../../../net/smc/proto/smc_llc_v2.h"
#include "../../../net/smc/proto/smc_llc_links.h"
#include "../../../net/smc/proto/smc_llc_run.h"

#define W_QUEUE		24
#define W_RNICS		SMC_LLC_RNICS
#define W_RMBS		12
#define W_JOBS		24
#define W_NO_RMB	0xff
#define W_BYTES		(sizeof(struct smc_llc_add_link_v2_wire) +	\
			 W_RMBS * sizeof(struct smc_llc_rtoken_pair_wire))

enum { W_SERVER, W_CLIENT };

enum w_rmb_state {
	W_RMB_FREE,
	W_RMB_WANTED,		/* to be announced */
	W_RMB_ADDING,
	W_RMB_KNOWN,
	W_RMB_UNWANTED,		/* to be withdrawn */
	W_RMB_DELETING,
};

struct w_bytes {
	u8 raw[W_BYTES];
	u32 len;
	u64 cookie;
};

struct w_fifo {
	unsigned int head;
	unsigned int nr;
	struct w_bytes at[W_QUEUE];
};

/* A queue pair, with its messages in both directions. */
struct w_qp {
	bool exists;
	bool is_bare;
	bool is_broken;
	u8 rnic;
	u8 mtu;			/* of the port when it was made */
	u32 qpn;
	u32 peer_qpn;		/* 0 until connected */
	struct w_fifo tx;
	struct w_fifo rx;
	struct w_fifo cq;	/* raw[0]: success */
};

struct w_rmb {
	enum w_rmb_state state;
	u32 rkey[SMC_LLC_LINKS];
};

/* Keys and addresses that the peer announced, per link; key 0 if none. */
struct w_token {
	bool is_used;
	u32 rkey[SMC_LLC_LINKS];
	u64 vaddr[SMC_LLC_LINKS];
};

struct w_side {
	struct smc_llc_flow flow;
	struct smc_llc_actions acts;
	const struct w_bytes *msg;	/* the message of this event, long ones as a whole */
	struct w_bytes kept;		/* of an ADD LINK: its pairs are needed later */
	struct w_bytes kept_rkeys;	/* the same, a long DELETE RKEY */
	bool has_rnic[W_RNICS];
	bool is_going[W_RNICS];		/* removed, but its links still work */
	u8 mtu[W_RNICS];		/* of the port; 0: 4096 */
	struct w_qp qp[SMC_LLC_LINKS];
	unsigned int up;		/* links that may carry data */
	unsigned int clearing;		/* whose connections are quiesced */
	struct w_rmb rmb[W_RMBS];
	struct w_token token[W_RMBS];
	u8 frozen[SMC_LLC_LINKS][W_RMBS];
	struct smc_llc_event job[W_JOBS];
	unsigned int nr_jobs;
	u64 last_rx[SMC_LLC_LINKS];
	unsigned int asked[SMC_LLC_LINKS][16];	/* requests to be answered, by type */
	u8 add_link;			/* the last ADD LINK exchange is on this link */

	/* The actions that fail. */
	bool create_fails;
	bool create_hangs;	/* creation neither succeeds nor fails */
	bool map_fails;		/* a queue pair can be created, but no RMB mapped on it */
	bool prepare_fails;
	bool prepare_hangs;
	bool store_fails;
	bool tells_none;	/* the LANs of its RNICs are unknown */
	bool is_curt;		/* as deployed clients: no O in a DELETE LINK reply */
	bool is_frozen;		/* processes nothing; its RNICs still work */

	/* The results. */
	unsigned int most_acts;
	unsigned int nr_up;
	unsigned int nr_failed;
	unsigned int nr_terminated;
	unsigned int nr_created;
	unsigned int nr_link_up;
	unsigned int nr_link_down;
	unsigned int nr_destroyed;
	unsigned int nr_round_trips;
	unsigned int nr_stale;
	unsigned int nr_done;
	int rkey_result;
	enum smc_llc_fail fail;
	enum smc_llc_why why;
	bool last_down_orderly;
	bool is_declined_late;
	u32 down_reason;		/* of the last DELETE LINK request sent */
	unsigned int sent[2][16];	/* requests and replies by type */
};

struct world;

/* Replaces the machine of one side. */
typedef void (*w_script)(struct world *w, const struct smc_llc_event *ev);

/* The state of a script, see smc_llc_deployed.h. */
struct w_deployed {
	int who;
	bool is_old;		/* of Linux 4.17 to 5.7 */
	bool has_mail;
	u8 mail_link;
	struct smc_llc_msg mail;
	struct w_bytes mail_bytes;
	u8 deleted;		/* number in the server's last DELETE LINK */
	bool is_put_off;
	u8 put_off_link;
	struct smc_llc_msg put_off;
	struct w_bytes put_off_bytes;
	u8 nr_reports;
	u8 report[SMC_LLC_LINKS];
	unsigned int nr_dropped;
};

struct world {
	struct w_side side[2];
	w_script script;
	struct w_deployed d;
	u64 now;
	u32 next_qpn;
	u32 next_rkey;
	bool is_cut[W_RNICS][W_RNICS];	/* server's RNIC, client's RNIC */
	bool is_apart[W_RNICS][W_RNICS];	/* the same: on different LANs */
	bool loses[2];			/* the next message of that side, silently */
	bool doubles[2];
	bool is_garbled;		/* one side missed a message of the other */
	const char *fault;		/* the first violation */
	unsigned int line;
};

static inline bool w_has_script(const struct world *w, int who)
{
	return w->script && who == w->d.who;
}

#define W_CHECK(w, cond)	w_check(w, cond, #cond, __LINE__)

static inline void w_check(struct world *w, bool is_so, const char *what, unsigned int line)
{
	if (is_so || w->fault)
		return;
	w->fault = what;
	w->line = line;
}

/* If each message arrives exactly once, no side finds the other one out of sync. */
static inline void w_check_why(struct world *w, enum smc_llc_why why)
{
	/* a deployed server drops a link without a message, and has no key for it then */
	if (why == SMC_LLC_WHY_RKEY_MISSING && w_has_script(w, W_SERVER))
		return;
	W_CHECK(w, w->is_garbled ||
		(why != SMC_LLC_WHY_OUT_OF_SYNC && why != SMC_LLC_WHY_CONFIRM_LINK_DATA &&
		 why != SMC_LLC_WHY_ADD_LINK_CONT_DATA && why != SMC_LLC_WHY_TEST_LINK_DATA &&
		 why != SMC_LLC_WHY_RKEY_MISSING));
}

#ifndef W_TRACE
#define W_TRACE(...) do { } while (0)
#endif

static inline void w_push(struct w_fifo *f, const struct w_bytes *b)
{
	f->at[(f->head + f->nr++) % W_QUEUE] = *b;
}

static inline struct w_bytes w_pop(struct w_fifo *f)
{
	struct w_bytes b = f->at[f->head];

	f->head = (f->head + 1) % W_QUEUE;
	f->nr--;
	return b;
}

static void w_feed(struct world *w, int who, const struct smc_llc_event *ev);

static inline void w_event(struct world *w, int who, enum smc_llc_event_type type, u8 link)
{
	struct smc_llc_event ev = { .type = type, .link = link };

	w_feed(w, who, &ev);
}

static inline void w_job(struct world *w, int who, const struct smc_llc_event *ev)
{
	struct w_side *s = &w->side[who];

	W_CHECK(w, s->nr_jobs < W_JOBS);
	if (s->nr_jobs < W_JOBS)
		s->job[s->nr_jobs++] = *ev;
}

static inline struct smc_llc_event w_take_job(struct w_side *s, unsigned int i)
{
	struct smc_llc_event ev = s->job[i];

	s->nr_jobs--;
	memmove(&s->job[i], &s->job[i + 1], (s->nr_jobs - i) * sizeof(ev));
	return ev;
}

static inline bool w_hangs(const struct w_side *s, unsigned int i)
{
	return (s->create_hangs && s->job[i].type == SMC_LLC_EV_LINK_CREATED) ||
	       (s->prepare_hangs && s->job[i].type == SMC_LLC_EV_LINK_PREPARED);
}

/* Actions on a link are done in order: does this one have to wait? */
static inline bool w_waits(const struct w_side *s, unsigned int i)
{
	unsigned int k;

	for (k = 0; k < i; k++)
		if (s->job[k].link == s->job[i].link &&
		    (s->job[k].type == SMC_LLC_EV_LINK_CREATED ||
		     s->job[k].type == SMC_LLC_EV_LINK_PREPARED))
			return true;
	return w_hangs(s, i);
}

static inline void w_rnic_end(int who, u8 rnic, struct smc_llc_end *end)
{
	memset(end, 0, sizeof(*end));
	end->mac[0] = 0x02;
	end->mac[4] = who;
	end->mac[5] = rnic + 1;
	end->gid[0] = 0xfe;
	end->gid[14] = who;
	end->gid[15] = rnic + 1;
	end->mtu = SMC_MTU_4096;
}

static inline void w_rnics(struct world *w, int who, struct smc_llc_rnics *rnics)
{
	struct smc_llc_end end;
	u8 i;

	memset(rnics, 0, sizeof(*rnics));
	for (i = 0; i < W_RNICS; i++) {
		if (!w->side[who].has_rnic[i] || w->side[who].tells_none)
			continue;
		w_rnic_end(who, i, &end);
		memcpy(rnics->rnic[rnics->count].mac, end.mac, sizeof(end.mac));
		memcpy(rnics->rnic[rnics->count].gid, end.gid, sizeof(end.gid));
		rnics->rnic[rnics->count].mtu = w->side[who].mtu[i] ?: SMC_MTU_4096;
		rnics->count++;
	}
}

static inline void w_tell_rnics(struct world *w, int who)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_RNICS };

	w_rnics(w, who, &ev.rnics);
	w_feed(w, who, &ev);
}

static inline struct w_qp *w_qp_make(struct world *w, int who, u8 link, u8 rnic)
{
	struct w_side *s = &w->side[who];
	struct w_qp *qp = &s->qp[link];
	u8 r;

	W_CHECK(w, !qp->exists);
	memset(qp, 0, sizeof(*qp));
	qp->exists = true;
	qp->rnic = rnic;
	qp->qpn = w->next_qpn++;
	qp->mtu = s->mtu[rnic] ?: SMC_MTU_4096;
	for (r = 0; r < W_RMBS; r++)
		if (s->rmb[r].state != W_RMB_FREE)
			s->rmb[r].rkey[link] = ++w->next_rkey;
	return qp;
}

static inline void w_qp_end(struct world *w, int who, u8 link, struct smc_llc_end *end)
{
	w_rnic_end(who, w->side[who].qp[link].rnic, end);
	end->mtu = w->side[who].qp[link].mtu;
	end->qpn = w->side[who].qp[link].qpn;
	end->psn = 0x1000 + end->qpn;
}

/* Free all of a link. */
static inline void w_qp_free(struct world *w, int who, u8 link)
{
	struct w_side *s = &w->side[who];
	unsigned int i;

	W_CHECK(w, !(s->up & BIT(link)) && !(s->clearing & BIT(link)));
	memset(&s->qp[link], 0, sizeof(s->qp[link]));
	memset(s->asked[link], 0, sizeof(s->asked[link]));
	for (i = 0; i < W_RMBS; i++) {
		s->rmb[i].rkey[link] = 0;
		s->token[i].rkey[link] = 0;
	}
	for (i = 0; i < s->nr_jobs; )
		if (s->job[i].link == link && !w_hangs(s, i) &&
		    s->job[i].type != SMC_LLC_EV_RTOKEN_STORED &&
		    s->job[i].type != SMC_LLC_EV_RTOKENS_DELETED)
			w_take_job(s, i);
		else
			i++;
}

/* The other end of a queue pair, or NULL if there is none. */
static inline struct w_qp *w_peer_qp(struct world *w, int who, const struct w_qp *qp, u8 *link)
{
	struct w_side *peer = &w->side[!who];
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (qp->peer_qpn && peer->qp[i].exists && peer->qp[i].qpn == qp->peer_qpn &&
		    peer->qp[i].peer_qpn == qp->qpn && !peer->qp[i].is_broken) {
			*link = i;
			return &peer->qp[i];
		}
	return NULL;
}

static inline bool w_is_cut(const struct world *w, int who, u8 own, u8 other)
{
	return who == W_SERVER ? w->is_cut[own][other] : w->is_cut[other][own];
}

/* A queue pair enters the error state: sends fail, and there may be a report. */
static inline void w_break(struct world *w, int who, u8 link, bool is_told)
{
	struct w_qp *qp = &w->side[who].qp[link];

	if (!qp->exists || qp->is_broken)
		return;
	W_TRACE("%d: break link %d told %d\n", who, link, is_told);
	qp->is_broken = true;
	while (qp->tx.nr) {
		struct w_bytes b = w_pop(&qp->tx);

		b.raw[0] = false;
		w_push(&qp->cq, &b);
	}
	if (is_told)
		w_event(w, who, SMC_LLC_EV_LINK_BROKEN, link);
}

static inline void w_post(struct world *w, int who, u8 link, const struct w_bytes *b)
{
	struct w_side *s = &w->side[who];
	struct smc_llc_event ev = { .type = SMC_LLC_EV_SENT, .link = link };

	if (s->qp[link].exists && !s->qp[link].is_broken &&
	    s->qp[link].tx.nr + s->qp[link].cq.nr < W_QUEUE) {
		w_push(&s->qp[link].tx, b);
		return;
	}
	ev.cookie = b->cookie;
	w_job(w, who, &ev);
}

/* The address of an RMB for the peer of a link: it differs by link, as with deployed peers. */
static inline u64 w_vaddr(const struct w_side *s, u8 rmb, u8 link)
{
	return 0x100000ULL * (rmb + 1) + 0x1000 * s->flow.link[link].num;
}

static inline int w_find_token(const struct w_side *s, u8 link, u32 rkey)
{
	int i;

	for (i = 0; i < W_RMBS; i++)
		if (s->token[i].is_used && rkey && s->token[i].rkey[link] == rkey)
			return i;
	return -1;
}

static inline bool w_store(struct world *w, int who, const struct smc_llc_rkeys *keys)
{
	struct w_side *s = &w->side[who];
	int at = w_find_token(s, keys->rtoken[0].link_num, keys->rtoken[0].rkey);
	u8 i;

	if (s->store_fails)
		return false;
	for (i = 0; at < 0 && i < W_RMBS; i++)
		if (!s->token[i].is_used)
			at = i;
	if (at < 0)
		return false;
	if (!s->token[at].is_used) {
		memset(&s->token[at], 0, sizeof(s->token[at]));
		s->token[at].is_used = true;
	}
	for (i = 0; i < keys->count; i++) {
		W_CHECK(w, s->qp[keys->rtoken[i].link_num].exists);
		s->token[at].rkey[keys->rtoken[i].link_num] = keys->rtoken[i].rkey;
		s->token[at].vaddr[keys->rtoken[i].link_num] = keys->rtoken[i].vaddr;
	}
	return true;
}

static inline void w_store_pair(struct w_side *s, const struct smc_llc_action *act,
				const struct smc_llc_pair *pair)
{
	int at = w_find_token(s, act->link, pair->ref_rkey);

	if (at < 0)
		return;
	s->token[at].rkey[act->target] = pair->rkey;
	s->token[at].vaddr[act->target] = pair->vaddr;
}

static inline bool w_is_last(const struct smc_llc_msg *msg)
{
	return msg->type == SMC_LLC_ADD_LINK ||
	       msg->add_link_cont.nr_rtokens <= SMC_LLC_CONT_PAIRS;
}

/* The peer's announcements for a new link are over, and lack an RMB that connections may use. */
static inline bool w_lacks_key(struct world *w, int who, const struct smc_llc_action *act)
{
	const struct w_side *s = &w->side[who], *peer = &w->side[!who];
	int token;
	u8 r, at;

	if (!w_is_last(&act->msg) || !w_peer_qp(w, who, &s->qp[act->link], &at))
		return false;
	for (r = 0; r < W_RMBS; r++) {
		token = w_find_token(s, act->link, peer->rmb[r].rkey[at]);
		if (peer->rmb[r].state == W_RMB_KNOWN && token >= 0 &&
		    !s->token[token].rkey[act->target])
			return true;
	}
	return false;
}

static inline void w_store_pairs(struct world *w, int who, const struct smc_llc_action *act)
{
	const struct smc_llc_add_link_cont *cont = &act->msg.add_link_cont;
	struct smc_llc_event ev = {
		.type = SMC_LLC_EV_PAIRS_STORED, .link = act->target, .ok = true,
	};
	struct w_side *s = &w->side[who];
	struct smc_llc_pair pair;
	int i;

	W_CHECK(w, s->qp[act->target].exists);
	if (act->msg.type == SMC_LLC_ADD_LINK) {
		/* the stored message is the one that the machine refers to */
		W_CHECK(w, !act->msg.add_link.nr_pairs ||
			(s->kept.len >= W_BYTES - W_RMBS * sizeof(pair) +
					act->msg.add_link.nr_pairs * sizeof(pair) &&
			 s->kept.raw[31] == act->msg.add_link.link_num));
		for (i = 0; i < act->msg.add_link.nr_pairs; i++) {
			smc_llc_form_pair(s->kept.raw, i, &pair);
			w_store_pair(s, act, &pair);
		}
	} else {
		for (i = 0; i < SMC_LLC_CONT_PAIRS && i < cont->nr_rtokens; i++)
			w_store_pair(s, act, &cont->pair[i]);
	}
	if (s->store_fails || w_lacks_key(w, who, act))
		ev.ok = false;
	w_job(w, who, &ev);
}

static inline void w_delete_tokens(struct world *w, int who, const struct smc_llc_action *act)
{
	struct smc_llc_event ev = {
		.type = SMC_LLC_EV_RTOKENS_DELETED, .link = act->link, .ok = true,
	};
	const struct smc_llc_delete_rkey *dr = &act->msg.delete_rkey;
	struct w_side *s = &w->side[who];
	int i, at;

	for (i = 0; i < dr->count; i++) {
		at = w_find_token(s, act->link, dr->is_long ?
				  smc_llc_form_rkey(s->kept_rkeys.raw, i) : dr->rkey[i]);
		if (at >= 0) {
			s->token[at].is_used = false;
			continue;
		}
		ev.nr_unknown++;
		if (i < SMC_LLC_DELETE_RKEYS)
			ev.error_mask |= 0x80 >> i;
	}
	w_job(w, who, &ev);
}

/* The RMBs that the peer knows, in an order that is fixed while the link is added. */
static inline u8 w_freeze(struct w_side *s, u8 link)
{
	u8 r, nr = 0;

	for (r = 0; r < W_RMBS; r++)
		if (s->rmb[r].state >= W_RMB_KNOWN)
			s->frozen[link][nr++] = r;
	return nr;
}

/* LLC-04, ADDL-11: replies use the link of the request, RMBs that of ADD LINK */
static inline void w_check_link(struct world *w, int who, const struct smc_llc_action *act)
{
	struct w_side *s = &w->side[who];
	unsigned int *asked = &s->asked[act->link][act->msg.type & 15];
	/* the first message of a client is a notice and starts no exchange */
	bool begins_with_reply = who == W_CLIENT;

	if (act->msg.is_reply && !w_has_script(w, who)) {
		W_CHECK(w, *asked > 0);
		*asked -= *asked > 0;
	}
	if (act->msg.type == SMC_LLC_ADD_LINK && act->msg.is_reply == begins_with_reply)
		s->add_link = act->link;
	if (act->msg.type == SMC_LLC_ADD_LINK_CONT)
		W_CHECK(w, act->link == s->add_link);
	/* one kind of notice in version 1, another in version 2, which has no continuations */
	W_CHECK(w, act->msg.type != (s->flow.params.has_long_add_link ? SMC_LLC_ADD_LINK_CONT :
								       SMC_LLC_REQ_ADD_LINK));
}

/* SER-02, SER-05: exchanges that change links do not overlap with RKEY exchanges */
static inline void w_check_alone(struct world *w, int who, const struct smc_llc_action *act)
{
	const struct smc_llc_flow *flow = &w->side[who].flow;
	bool is_change = act->msg.type == SMC_LLC_ADD_LINK ||
			 (act->msg.type == SMC_LLC_DELETE_LINK && !act->msg.delete_link.is_all);

	if (who != W_SERVER || w_has_script(w, who) || act->msg.is_reply || !is_change)
		return;
	W_CHECK(w, !flow->own.is_busy);
	/* a request is answered as soon as it is processed */
	W_CHECK(w, flow->remote.state != SMC_LLC_REMOTE_CONFIRM_CONT);
}

/* FAIL-19: no DELETE LINK for a link whose connections are quiesced for it */
static inline void w_check_clear(struct world *w, int who, const struct smc_llc_action *act)
{
	const struct w_side *s = &w->side[who];
	u8 i;

	if (act->msg.type != SMC_LLC_DELETE_LINK || act->msg.delete_link.is_all)
		return;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		W_CHECK(w, !(s->clearing & BIT(i)) ||
			s->flow.link[i].num != act->msg.delete_link.link_num);
}

/* A client's reply is in flight: waits for the link end with it. */
static inline bool w_is_going(const struct smc_llc_flow *flow, u8 link)
{
	return !flow->params.is_server && (flow->link[link].state == SMC_LLC_LINK_DELETING ||
					   flow->link[link].state == SMC_LLC_LINK_DELETE_REPLYING);
}

/* A wait for the peer has a deadline. */
static inline void w_check_deadlines(struct world *w, const struct smc_llc_flow *flow)
{
	const struct smc_llc_remote_rkey *remote = &flow->remote;
	u8 i;

	if (flow->phase >= SMC_LLC_TERMINATING)
		return;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		W_CHECK(w, flow->link[i].data != SMC_LLC_DATA_CLEARING ||
			flow->link[i].deadline != SMC_LLC_NO_DEADLINE);
	switch (flow->config) {
	case SMC_LLC_CONFIG_CLEAR_LINK:
		W_CHECK(w, flow->link[flow->config_target].data == SMC_LLC_DATA_CLEARING ||
			remote->state != SMC_LLC_REMOTE_NONE);
		break;
	case SMC_LLC_CONFIG_CONFIRM:
	case SMC_LLC_CONFIG_CONFIRMED:
		if (w_is_going(flow, flow->config_target))
			break;
		fallthrough;
	case SMC_LLC_CONFIG_ADD_LINK:
	case SMC_LLC_CONFIG_ADD_CONT:
	case SMC_LLC_CONFIG_DELETE_LINK:
		W_CHECK(w, flow->config_deadline != SMC_LLC_NO_DEADLINE);
		break;
	default:
		break;
	}
	if (remote->state == SMC_LLC_REMOTE_CONFIRM_CONT && !w_is_going(flow, remote->link))
		W_CHECK(w, remote->deadline != SMC_LLC_NO_DEADLINE);
}

static inline enum smc_llc_form w_form(const struct w_side *s)
{
	return s->flow.params.has_long_add_link ? SMC_LLC_FORM_V2 : SMC_LLC_FORM_V1;
}

static inline void w_note_asked(struct w_side *s, const struct smc_llc_event *ev)
{
	if (ev->type != SMC_LLC_EV_MSG || ev->msg.is_reply || ev->link >= SMC_LLC_LINKS)
		return;
	s->asked[ev->link][ev->msg.type & 15]++;
}

static inline void w_pair(const struct w_side *s, const struct smc_llc_action *act, u8 i,
			  struct smc_llc_pair *pair)
{
	u8 r = s->frozen[act->target][act->first_rmb + i];

	/* An RMB that was withdrawn meanwhile has no keys any more. */
	pair->ref_rkey = s->rmb[r].rkey[act->link];
	pair->rkey = s->rmb[r].rkey[act->target];
	pair->vaddr = w_vaddr(s, r, act->target);
}

static inline void w_send(struct world *w, int who, const struct smc_llc_action *act)
{
	struct w_side *s = &w->side[who];
	struct smc_llc_msg msg = act->msg;
	struct w_bytes b = { .cookie = act->cookie };
	u8 gid[SMC_LLC_REQ_GIDS][SMC_GID_LEN];
	struct smc_llc_pair pair[W_RMBS];
	struct smc_llc_more more = {};
	int len;
	u8 i;

	if (msg.type == SMC_LLC_ADD_LINK_CONT) {
		W_CHECK(w, s->qp[act->target].exists);
		for (i = 0; i < SMC_LLC_CONT_PAIRS && i < msg.add_link_cont.nr_rtokens; i++)
			w_pair(s, act, i, &msg.add_link_cont.pair[i]);
	}
	if (act->has_pairs) {
		W_CHECK(w, s->qp[act->target].exists && !msg.add_link.is_rejected);
		for (i = 0; i < s->flow.add.nr_own; i++)
			w_pair(s, act, i, &pair[i]);
		more.nr = s->flow.add.nr_own;
		more.pair = pair;
	}
	if (msg.type == SMC_LLC_REQ_ADD_LINK && !msg.is_reply) {
		more.nr = smc_llc_flow_gids(&s->flow, &act->end, gid);
		more.gid = gid;
	}
	W_TRACE("%d: send %u%s on %d (num %d)\n", who, msg.type,
		msg.is_reply ? " reply" : "", act->link, s->flow.link[act->link].num);
	s->sent[msg.is_reply][msg.type & 15]++;
	w_check_link(w, who, act);
	w_check_alone(w, who, act);
	w_check_clear(w, who, act);
	if (msg.is_reply && msg.type == SMC_LLC_DELETE_LINK && s->is_curt)
		msg.delete_link.is_orderly = false;
	if (!msg.is_reply && msg.type == SMC_LLC_DELETE_LINK)
		s->down_reason = msg.delete_link.reason;
	len = smc_llc_form_encode(w_form(s), &msg, more.nr ? &more : NULL, s->flow.dialect, b.raw,
				  sizeof(b.raw));
	W_CHECK(w, len >= SMC_LLC_LEN);
	b.len = len;
	w_post(w, who, act->link, &b);
}

/* The group ends on this side: all queue pairs are destroyed. */
static inline void w_end(struct world *w, int who)
{
	struct w_side *s = &w->side[who];
	u8 i;

	W_CHECK(w, s->flow.phase == SMC_LLC_DEAD);
	W_CHECK(w, smc_llc_flow_deadline(&s->flow) == SMC_LLC_NO_DEADLINE);
	s->up = 0;
	s->clearing = 0;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		w_qp_free(w, who, i);
	s->nr_jobs = 0;
}

static inline void w_rkey_done(struct world *w, int who, u64 cookie, int result)
{
	struct w_side *s = &w->side[who], *peer = &w->side[!who];
	struct w_rmb *rmb = &s->rmb[cookie % W_RMBS];
	u8 i, at;

	s->nr_done++;
	s->rkey_result = result;
	W_CHECK(w, rmb->state == W_RMB_ADDING || rmb->state == W_RMB_DELETING);
	if (rmb->state == W_RMB_DELETING) {
		/* RMB-26, RKEY-17: the peer does not know it on any link */
		for (i = 0; i < SMC_LLC_LINKS && !result && peer->flow.phase == SMC_LLC_UP; i++)
			if (w_peer_qp(w, who, &s->qp[i], &at))
				W_CHECK(w, w_find_token(peer, at, rmb->rkey[i]) < 0);
		if (result == -EAGAIN)
			rmb->state = W_RMB_UNWANTED;
		else
			memset(rmb, 0, sizeof(*rmb));
		return;
	}
	if (result == -EAGAIN) {
		rmb->state = W_RMB_WANTED;
	} else if (result) {
		memset(rmb, 0, sizeof(*rmb));
	} else {
		rmb->state = W_RMB_KNOWN;
		/* RKEY-05: known on every link that may carry data */
		for (i = 0; i < SMC_LLC_LINKS && peer->flow.phase == SMC_LLC_UP; i++) {
			if (!(s->up & BIT(i)) || !w_peer_qp(w, who, &s->qp[i], &at) ||
			    !(peer->up & BIT(at)))
				continue;
			W_CHECK(w, w_find_token(peer, at, rmb->rkey[i]) >= 0);
		}
	}
}

static inline void w_perform(struct world *w, int who, const struct smc_llc_action *act)
{
	struct w_side *s = &w->side[who];
	struct smc_llc_event ev = { .link = act->link, .ok = true };
	u8 i;

	/* No action comes after the end. */
	W_CHECK(w, !s->nr_failed && !s->nr_terminated);
	switch (act->type) {
	case SMC_LLC_ACT_SEND:
		w_send(w, who, act);
		break;
	case SMC_LLC_ACT_COMMIT_DIALECT:
		break;
	case SMC_LLC_ACT_CREATE_LINK:
		W_TRACE("%d: create %d on rnic %d\n", who, act->link, act->end.mac[5] - 1);
		ev.type = SMC_LLC_EV_LINK_CREATED;
		ev.created.end = act->end;
		ev.cookie = act->is_bare;
		W_CHECK(w, !s->qp[act->link].exists);
		W_CHECK(w, act->end.mac[4] == who);
		w_job(w, who, &ev);
		break;
	case SMC_LLC_ACT_PREPARE_LINK:
		W_CHECK(w, s->qp[act->link].exists && !s->qp[act->link].is_bare);
		ev.type = SMC_LLC_EV_LINK_PREPARED;
		ev.created.end = act->end;
		w_job(w, who, &ev);
		break;
	case SMC_LLC_ACT_LINK_UP:
		W_TRACE("%d: up %d\n", who, act->link);
		W_CHECK(w, !(s->up & BIT(act->link)));
		W_CHECK(w, s->qp[act->link].exists && s->qp[act->link].peer_qpn);
		s->up |= BIT(act->link);
		s->nr_link_up++;
		break;
	case SMC_LLC_ACT_LINK_DOWN:
		W_TRACE("%d: down %d: %s\n", who, act->link, smc_llc_why_name(act->why));
		W_CHECK(w, s->up & BIT(act->link));
		s->up &= ~BIT(act->link);
		s->nr_link_down++;
		s->why = act->why;
		w_check_why(w, act->why);
		s->last_down_orderly = act->is_orderly;
		/* Without a link for connections the group is at its end. */
		W_CHECK(w, s->up || s->flow.phase == SMC_LLC_DEAD);
		if (act->is_orderly)
			s->clearing |= BIT(act->link);
		else
			w_break(w, who, act->link, false);
		break;
	case SMC_LLC_ACT_LINK_CLEAR:
		W_TRACE("%d: clear %d\n", who, act->link);
		W_CHECK(w, s->clearing & BIT(act->link));
		s->clearing &= ~BIT(act->link);
		break;
	case SMC_LLC_ACT_DESTROY_LINK:
		W_TRACE("%d: destroy %d\n", who, act->link);
		w_qp_free(w, who, act->link);
		s->nr_destroyed++;
		ev.type = SMC_LLC_EV_LINK_DESTROYED;
		w_job(w, who, &ev);
		break;
	case SMC_LLC_ACT_ROUND_TRIP:
		s->nr_round_trips++;
		break;
	case SMC_LLC_ACT_GROUP_UP:
		W_CHECK(w, s->up & BIT(0));
		s->nr_up++;
		break;
	case SMC_LLC_ACT_GROUP_FAILED:
		W_TRACE("%d: failed: %s\n", who, smc_llc_why_name(act->why));
		s->nr_failed++;
		s->fail = act->fail;
		s->why = act->why;
		w_check_why(w, act->why);
		w_end(w, who);
		if (act->fail == SMC_LLC_FAIL_DECLINE) {
			w->side[!who].is_declined_late = w->side[!who].flow.phase >= SMC_LLC_UP;
			w_event(w, !who, SMC_LLC_EV_DECLINED, 0);
		}
		break;
	case SMC_LLC_ACT_KEEP_PAIRS:
		W_CHECK(w, s->msg);
		if (s->msg)
			s->kept = *s->msg;
		break;
	case SMC_LLC_ACT_KEEP_RKEYS:
		W_CHECK(w, s->msg);
		if (s->msg)
			s->kept_rkeys = *s->msg;
		break;
	case SMC_LLC_ACT_STORE_PAIRS:
		w_store_pairs(w, who, act);
		break;
	case SMC_LLC_ACT_STORE_RTOKEN:
		ev.type = SMC_LLC_EV_RTOKEN_STORED;
		ev.ok = w_store(w, who, act->rkeys);
		w_job(w, who, &ev);
		break;
	case SMC_LLC_ACT_DELETE_RTOKENS:
		w_delete_tokens(w, who, act);
		break;
	case SMC_LLC_ACT_STALE:
		s->nr_stale++;
		break;
	case SMC_LLC_ACT_RKEY_DONE:
		w_rkey_done(w, who, act->cookie, act->result);
		break;
	case SMC_LLC_ACT_TERMINATE:
		W_TRACE("%d: terminate: %s\n", who, smc_llc_why_name(act->why));
		s->nr_terminated++;
		s->why = act->why;
		w_check_why(w, act->why);
		for (i = 0; i < W_RMBS; i++)
			W_CHECK(w, s->rmb[i].state != W_RMB_ADDING);
		w_end(w, who);
		break;
	}
}

static inline void w_feed(struct world *w, int who, const struct smc_llc_event *ev)
{
	struct w_side *s = &w->side[who];
	struct smc_llc_actions *acts = &s->acts;
	unsigned int i;

	W_TRACE("%d: event %d link %d ok %d\n", who, ev->type, ev->link, ev->ok);
	if (w_has_script(w, who)) {
		w->script(w, ev);
		return;
	}
	w_note_asked(s, ev);
	smc_llc_flow_event(&s->flow, ev, w->now, acts);
	W_CHECK(w, acts->nr < SMC_LLC_ACTIONS);
	s->most_acts = max(s->most_acts, acts->nr);
	w_check_deadlines(w, &s->flow);
	for (i = 0; i < acts->nr; i++)
		w_perform(w, who, &acts->act[i]);
}

/* Another link is wanted, as after a retry timer, and an event arrives. */
static inline void w_want_link(struct world *w, int who)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_SENT, .ok = true };

	if (w->side[who].flow.phase == SMC_LLC_UP)
		smc_llc_want_link(&w->side[who].flow);
	w_feed(w, who, &ev);
}

/* Deliver the oldest message of a link, or lose it. */
static inline bool w_rnic_works(const struct w_side *s, u8 rnic)
{
	return s->has_rnic[rnic] || s->is_going[rnic];
}

static inline bool w_transmit(struct world *w, int who, u8 link)
{
	struct w_qp *qp = &w->side[who].qp[link], *peer;
	struct w_bytes b;
	u8 at;

	if (!qp->tx.nr)
		return false;
	peer = w_peer_qp(w, who, qp, &at);
	if (!peer || w_is_cut(w, who, qp->rnic, peer->rnic) ||
	    !w_rnic_works(&w->side[who], qp->rnic) ||
	    !w_rnic_works(&w->side[!who], peer->rnic) || peer->rx.nr + 2 > W_QUEUE) {
		w_break(w, who, link, false);
		return true;
	}
	b = w_pop(&qp->tx);
	if (!w->loses[who])
		w_push(&peer->rx, &b);
	if (w->doubles[who])
		w_push(&peer->rx, &b);
	w->is_garbled |= w->loses[who] || w->doubles[who];
	w->loses[who] = false;
	w->doubles[who] = false;
	b.raw[0] = true;
	w_push(&qp->cq, &b);
	return true;
}

static inline void w_hear(struct world *w, int who, const struct smc_llc_event *ev,
			  const struct w_bytes *b)
{
	w->side[who].msg = b;
	w_feed(w, who, ev);
	w->side[who].msg = NULL;
}

/* Process a message; TEST LINK is answered at once. */
static inline bool w_receive(struct world *w, int who, u8 link)
{
	struct w_side *s = &w->side[who];
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG, .link = link };
	struct w_bytes b, answer = { .cookie = SMC_LLC_SENT_OTHER };

	if (!s->qp[link].rx.nr || s->is_frozen)
		return false;
	b = w_pop(&s->qp[link].rx);
	s->last_rx[link] = w->now;
	answer.len = SMC_LLC_LEN;
	if (smc_llc_form_answer_test_link(w_form(s), b.raw, b.len, answer.raw)) {
		w_post(w, who, link, &answer);
		return true;
	}
	if (smc_llc_form_decode(w_form(s), b.raw, b.len, s->flow.dialect, &ev.msg) != SMC_LLC_OK)
		ev.type = SMC_LLC_EV_BAD_MSG;
	else
		W_TRACE("%d: rx %u%s on %d\n", who, ev.msg.type,
			ev.msg.is_reply ? " reply" : "", link);
	w_hear(w, who, &ev, &b);
	return true;
}

static inline bool w_complete(struct world *w, int who, u8 link)
{
	struct w_side *s = &w->side[who];
	struct smc_llc_event ev = { .type = SMC_LLC_EV_SENT, .link = link };
	struct w_bytes b;

	if (!s->qp[link].cq.nr || s->is_frozen)
		return false;
	b = w_pop(&s->qp[link].cq);
	ev.ok = b.raw[0];
	ev.cookie = b.cookie;
	w_feed(w, who, &ev);
	return true;
}

/* Whether a client's RNIC and the offered one of the server are on different LANs. */
static inline bool w_is_apart(const struct world *w, int who, u8 rnic)
{
	u8 offered = w->side[who].flow.add.offer.end.mac[5] - 1;

	return who == W_CLIENT && offered < W_RNICS && w->is_apart[offered][rnic];
}

/* Finish one of the actions that the machine started. */
static inline bool w_work(struct world *w, int who, unsigned int which)
{
	struct w_side *s = &w->side[who];
	struct smc_llc_event ev;
	struct smc_llc_end end;
	unsigned int i;

	for (i = 0; i < s->nr_jobs && w_waits(s, (which + i) % s->nr_jobs); i++)
		;
	if (i == s->nr_jobs || s->is_frozen)
		return false;
	ev = w_take_job(s, (which + i) % s->nr_jobs);
	end = ev.created.end;
	if (ev.type == SMC_LLC_EV_LINK_CREATED) {
		ev.ok = !s->create_fails && (ev.cookie || !s->map_fails) && end.mac[5] &&
			s->has_rnic[end.mac[5] - 1] && !w_is_apart(w, who, end.mac[5] - 1);
		if (ev.ok) {
			w_qp_make(w, who, ev.link, end.mac[5] - 1)->is_bare = ev.cookie;
			w_qp_end(w, who, ev.link, &ev.created.end);
			ev.created.nr_rmbs = ev.cookie ? 0 : w_freeze(s, ev.link);
		}
	} else if (ev.type == SMC_LLC_EV_LINK_PREPARED) {
		ev.ok = !s->prepare_fails && s->qp[ev.link].exists &&
			!s->qp[ev.link].is_broken;
		if (ev.ok)
			s->qp[ev.link].peer_qpn = end.qpn;
	} else if (ev.type == SMC_LLC_EV_LINK_DESTROYED && s->qp[ev.link].exists) {
		/* the result came too late */
		w_qp_free(w, who, ev.link);
	}
	w_feed(w, who, &ev);
	return true;
}

/* Start the RMB requests that are due. */
static inline void w_request(struct world *w, int who)
{
	struct w_side *s = &w->side[who];
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_RKEY };
	u8 r, i;

	if (s->is_frozen || !smc_llc_flow_may_request(&s->flow, w->now))
		return;
	for (r = 0; r < W_RMBS; r++)
		if (s->rmb[r].state == W_RMB_WANTED || s->rmb[r].state == W_RMB_UNWANTED)
			break;
	if (r == W_RMBS)
		return;
	memset(&ev.rkey, 0, sizeof(ev.rkey));
	ev.cookie = r;
	ev.rkey.is_delete = s->rmb[r].state == W_RMB_UNWANTED;
	for (i = 0; i < SMC_LLC_LINKS; i++) {
		if (!smc_llc_is_in_use(&s->flow.link[i]))
			continue;
		W_CHECK(w, s->rmb[r].rkey[i]);
		ev.rkey.rtoken[ev.rkey.count].link_num = i;
		ev.rkey.rtoken[ev.rkey.count].rkey = s->rmb[r].rkey[i];
		ev.rkey.rtoken[ev.rkey.count].vaddr = w_vaddr(s, r, i);
		ev.rkey.count++;
		if (ev.rkey.is_delete)
			break;
	}
	s->rmb[r].state = ev.rkey.is_delete ? W_RMB_DELETING : W_RMB_ADDING;
	w_feed(w, who, &ev);
}

static inline void w_add_rmb(struct world *w, int who)
{
	struct w_side *s = &w->side[who];
	u8 r, i;

	for (r = 0; r < W_RMBS; r++)
		if (s->rmb[r].state == W_RMB_FREE)
			break;
	if (r == W_RMBS || s->flow.phase != SMC_LLC_UP)
		return;
	memset(&s->rmb[r], 0, sizeof(s->rmb[r]));
	s->rmb[r].state = W_RMB_WANTED;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (s->qp[i].exists)
			s->rmb[r].rkey[i] = ++w->next_rkey;
}

static inline void w_del_rmb(struct world *w, int who, u8 r)
{
	if (w->side[who].rmb[r].state == W_RMB_KNOWN)
		w->side[who].rmb[r].state = W_RMB_UNWANTED;
}

static inline void w_tick(struct world *w, int who)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_TIMER };
	struct w_side *s = &w->side[who];
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		if (i && !smc_llc_is_in_use(&s->flow.link[i]))
			continue;
		ev.link = i;
		ev.timer.last_rx = s->last_rx[i];
		memset(ev.timer.user_data, 0x5a + i, sizeof(ev.timer.user_data));
		w_feed(w, who, &ev);
	}
}

/* One step that is possible without the clock. */
static inline bool w_step(struct world *w)
{
	int who;
	u8 i;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		w_request(w, who);
		if (w_work(w, who, 0))
			return true;
		for (i = 0; i < SMC_LLC_LINKS; i++)
			if (w_complete(w, who, i) || w_transmit(w, who, i) ||
			    w_receive(w, who, i))
				return true;
	}
	return false;
}

/* Run until no step is possible without the clock. */
static inline void w_pump(struct world *w)
{
	unsigned int left = 100000;

	while (w_step(w) && --left)
		;
	W_CHECK(w, left);
}

/* Run until a side has sent a message, which is still in flight then. */
static inline void w_pump_until(struct world *w, int who, u8 type, bool is_reply)
{
	unsigned int before = w->side[who].sent[is_reply][type], left = 100000;

	while (w->side[who].sent[is_reply][type] == before && w_step(w) && --left)
		;
	W_CHECK(w, w->side[who].sent[is_reply][type] != before);
}

/* Let time pass. */
static inline void w_wait(struct world *w, u64 ms)
{
	u64 until = w->now + ms, due[2];
	int who;

	for (;;) {
		w_pump(w);
		for (who = W_SERVER; who <= W_CLIENT; who++)
			due[who] = w->side[who].is_frozen ? SMC_LLC_NO_DEADLINE :
				   smc_llc_flow_deadline(&w->side[who].flow);
		who = due[W_CLIENT] < due[W_SERVER] ? W_CLIENT : W_SERVER;
		if (due[who] > until)
			break;
		w->now = max(w->now, due[who]);
		w_tick(w, who);
		W_CHECK(w, smc_llc_flow_deadline(&w->side[who].flow) > w->now);
		if (w->fault)
			break;
	}
	w->now = until;
}

static inline void w_rnic_down(struct world *w, int who, u8 rnic, bool is_told)
{
	struct w_side *s = &w->side[who];
	u8 i;

	if (!w_rnic_works(s, rnic))
		return;
	s->has_rnic[rnic] = false;
	s->is_going[rnic] = false;
	w_tell_rnics(w, who);
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (s->qp[i].exists && s->qp[i].rnic == rnic)
			w_break(w, who, i, is_told);
}

/* An RNIC is removed in good order: it still works, and reports its removal. */
static inline void w_rnic_going(struct world *w, int who, u8 rnic)
{
	struct w_side *s = &w->side[who];
	u8 i;

	if (!s->has_rnic[rnic])
		return;
	W_TRACE("%d: RNIC %d goes\n", who, rnic);
	s->has_rnic[rnic] = false;
	s->is_going[rnic] = true;
	w_tell_rnics(w, who);
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (s->qp[i].exists && !s->qp[i].is_broken && s->qp[i].rnic == rnic)
			w_event(w, who, SMC_LLC_EV_LINK_GOING, i);
}

static inline void w_rnic_up(struct world *w, int who, u8 rnic)
{
	if (w->side[who].has_rnic[rnic])
		return;
	w->side[who].has_rnic[rnic] = true;
	w->side[who].is_going[rnic] = false;
	w_tell_rnics(w, who);
}

static inline void w_set_mtu(struct world *w, int who, u8 rnic, u8 mtu)
{
	W_TRACE("%d: RNIC %d has MTU %d\n", who, rnic, mtu);
	w->side[who].mtu[rnic] = mtu;
	w_tell_rnics(w, who);
}

/* Any distinct values will do; the real ones are settings. */
static inline struct smc_llc_timers w_timers(void)
{
	return (struct smc_llc_timers) {
		.confirm_link		= 10000,
		.first_reply		= 11000,
		.add_link		= 12000,
		.add_link_deployed	= 2000,
		.reply			= 5000,
		.delete_link		= 9000,
		.terminate		= 3000,
		.test_link		= 4000,
		.rkey_retry		= 100,
		.add_link_retry		= 20000,
	};
}

struct w_setup {
	u8 rnics[2];
	u8 max_links[2];
	bool is_deployed[2];
	bool tells_none[2];
	bool is_multi;
	bool has_v2;
	bool is_agreed;		/* version 2.1: on max_links[W_SERVER] */
	w_script script;
	int script_side;
	bool is_old;		/* the script is that of Linux 4.17 to 5.7 */
};

static inline void w_init(struct world *w, const struct w_setup *set)
{
	int who;
	u8 i;

	memset(w, 0, sizeof(*w));
	w->script = set->script;
	w->d.who = set->script_side;
	w->d.is_old = set->is_old;
	w->now = 1000000;
	w->next_qpn = 0x100;
	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct smc_llc_params params = {
			.is_server = who == W_SERVER,
			.wants_deployed = set->is_deployed[who] || set->has_v2,
			.max_links = set->max_links[set->is_agreed ? W_SERVER : who],
			.dialect_is_fixed = set->has_v2,
			.max_links_is_fixed = set->is_agreed,
			.has_long_add_link = set->has_v2,
			.link_uid_base = 0x4700,
			.test_link_idle_ms = 30000,
			.test_link_tries = 3,
			.timers = w_timers(),
		};

		smc_llc_flow_init(&w->side[who].flow, &params);
		for (i = 0; i < set->rnics[who]; i++)
			w->side[who].has_rnic[i] = true;
		w->side[who].tells_none = set->tells_none[who];
		/* Accept and Confirm announce the RMB of first contact. */
		w->side[who].rmb[0].state = W_RMB_KNOWN;
		w_qp_make(w, who, 0, 0);
		w->side[!who].token[0].is_used = true;
		w->side[!who].token[0].rkey[0] = w->side[who].rmb[0].rkey[0];
		w->side[!who].token[0].vaddr[0] = w_vaddr(&w->side[who], 0, 0);
	}
	for (who = W_CLIENT; who >= W_SERVER; who--) {
		struct smc_llc_event ev = { .type = SMC_LLC_EV_START };

		/* A client's queue pair is connected earlier, a server's here. */
		w->side[who].qp[0].peer_qpn = w->side[!who].qp[0].qpn;
		w_qp_end(w, who, 0, &ev.start.local);
		w_qp_end(w, !who, 0, &ev.start.peer);
		w_feed(w, who, &ev);
		if (set->is_multi)
			w_tell_rnics(w, who);
	}
}

static inline unsigned int w_nr(const struct w_side *s, enum smc_llc_link_state state)
{
	unsigned int i, nr = 0;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		nr += s->flow.link[i].state == state;
	return nr;
}

/* Nothing is in flight, and no wait is active. */
static inline void w_check_settled(struct world *w)
{
	struct w_side *s;
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		s = &w->side[who];
		W_CHECK(w, s->flow.phase == SMC_LLC_UP || s->flow.phase == SMC_LLC_DEAD);
		W_CHECK(w, s->nr_failed + s->nr_terminated == (s->flow.phase == SMC_LLC_DEAD));
		W_CHECK(w, s->nr_up <= 1 && !(s->nr_up && s->nr_failed));
		W_CHECK(w, s->flow.config == SMC_LLC_CONFIG_NONE);
		W_CHECK(w, s->flow.remote.state == SMC_LLC_REMOTE_NONE);
		W_CHECK(w, !s->flow.remote.is_put_off && !s->flow.own.is_busy);
		W_CHECK(w, !s->clearing);
		W_CHECK(w, w_nr(s, SMC_LLC_LINK_FREE) + w_nr(s, SMC_LLC_LINK_ACTIVE) ==
			   SMC_LLC_LINKS);
	}
}

/* The peer knows an RMB on a link by its key and address there; the link's index is AT. */
static inline void w_check_token(struct world *w, int who, u8 rmb, u8 link, u8 at)
{
	const struct w_side *s = &w->side[who], *peer = &w->side[!who];
	int token = w_find_token(peer, at, s->rmb[rmb].rkey[link]);

	W_CHECK(w, token >= 0);
	/* the RMB of first contact was announced before the link had a number */
	if (token >= 0 && (rmb || link))
		W_CHECK(w, peer->token[token].vaddr[at] == w_vaddr(s, rmb, link));
}

/* Both sides are idle and agree. */
static inline void w_check_rest(struct world *w)
{
	struct w_side *server = &w->side[W_SERVER], *client = &w->side[W_CLIENT], *s, *peer;
	bool is_reset;
	int who;
	u8 i, at, r;

	w_check_settled(w);
	is_reset = (server->nr_failed && server->fail == SMC_LLC_FAIL_RESET) ||
		   (client->nr_failed && client->fail == SMC_LLC_FAIL_RESET) ||
		   server->nr_terminated || client->nr_terminated ||
		   server->is_declined_late || client->is_declined_late;
	if (!is_reset)
		W_CHECK(w, server->nr_up == client->nr_up);
	W_CHECK(w, (server->flow.phase == SMC_LLC_DEAD) == (client->flow.phase == SMC_LLC_DEAD));
	if (server->flow.phase != SMC_LLC_UP || client->flow.phase != SMC_LLC_UP)
		return;
	W_CHECK(w, server->flow.dialect == client->flow.dialect);
	W_CHECK(w, server->flow.max_links == client->flow.max_links);
	W_CHECK(w, w_nr(server, SMC_LLC_LINK_ACTIVE) == w_nr(client, SMC_LLC_LINK_ACTIVE));
	for (who = W_SERVER; who <= W_CLIENT; who++) {
		s = &w->side[who];
		peer = &w->side[!who];
		for (i = 0; i < SMC_LLC_LINKS; i++) {
			W_CHECK(w, (s->flow.link[i].state == SMC_LLC_LINK_ACTIVE) ==
				!!(s->up & BIT(i)));
			W_CHECK(w, s->qp[i].exists ==
				(s->flow.link[i].state == SMC_LLC_LINK_ACTIVE));
			if (!(s->up & BIT(i)))
				continue;
			if (!w_peer_qp(w, who, &s->qp[i], &at)) {
				W_CHECK(w, 0 && "a link that ends nowhere");
				return;
			}
			W_CHECK(w, peer->flow.link[at].num == s->flow.link[i].num);
			for (r = 0; r < W_RMBS; r++)
				if (s->rmb[r].state == W_RMB_KNOWN)
					w_check_token(w, who, r, i, at);
		}
	}
}

#endif /* _SMC_LLC_WORLD_H */
