/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random schedules for two LLC machines, see smc_llc_world.h. After any order of events both
 * sides are up with the same links and keys, or both have ended. Everything that can be
 * repaired is repaired.
 */
#ifndef _SMC_LLC_CHAOS_H
#define _SMC_LLC_CHAOS_H

#include "smc_llc_world.h"

/* What a schedule may contain besides a random order. */
enum chaos_fault {
	CHAOS_REQUESTS	= 0x01,	/* RMBs, links given up, probes */
	CHAOS_BREAKS	= 0x02,	/* queue pairs, RNICs and paths fail and come back */
	CHAOS_LOSSES	= 0x04,	/* messages vanish or come twice */
	CHAOS_FAILURES	= 0x08,	/* own resources cannot be had */
	CHAOS_ENDS	= 0x10,	/* a side ends the group */
	CHAOS_SLOW	= 0x20,	/* timers fire early and late */
	CHAOS_ALL	= 0x3f,
	CHAOS_DEPLOYED	= 0x40,	/* the client is a deployed one, smc_llc_deployed.h */
	CHAOS_SERVER	= 0x80,	/* with it: the server is */
	CHAOS_MTUS	= 0x100, /* ports change their MTU */
	CHAOS_OLD	= 0x200, /* with CHAOS_DEPLOYED: of Linux 4.17 to 5.7 */
	CHAOS_PEACE	= CHAOS_REQUESTS | CHAOS_DEPLOYED | CHAOS_SERVER | CHAOS_OLD,
};

static u64 chaos_state;

/* A fuzz target chooses by its input. */
#ifndef chaos_roll
static inline u32 chaos_roll(u32 sides)
{
	chaos_state ^= chaos_state << 13;
	chaos_state ^= chaos_state >> 7;
	chaos_state ^= chaos_state << 17;
	return (u32)(chaos_state >> 20) % sides;
}
#endif

#include "smc_llc_deployed.h"

static inline void chaos_request(struct world *w, int who, unsigned int faults)
{
	struct smc_llc_event ev = { .link = chaos_roll(SMC_LLC_LINKS) };

	switch (chaos_roll(8)) {
	case 0 ... 2:
		w_add_rmb(w, who);
		break;
	case 3:
		w_del_rmb(w, who, chaos_roll(W_RMBS));
		break;
	case 4:
		ev.type = w->now & 1 ? SMC_LLC_EV_REQ_TEST_LINK : SMC_LLC_EV_REQ_ROUND_TRIP;
		w_feed(w, who, &ev);
		break;
	case 5:
		w_want_link(w, who);
		break;
	case 6:
		/* Not the last link, nor the last two from both sides. */
		if (w->side[who].flow.phase != SMC_LLC_UP || chaos_roll(3) ||
		    smc_llc_nr_in_use(&w->side[who].flow) < 2 ||
		    (!(faults & ~CHAOS_PEACE) && who == W_SERVER))
			break;
		ev.type = SMC_LLC_EV_REQ_DELETE_LINK;
		ev.terminate.reason = SMC_LLC_DELETE_OPERATOR;
		ev.terminate.is_orderly = chaos_roll(2);
		w_feed(w, who, &ev);
		break;
	default:
		w_request(w, who);
		break;
	}
}

static inline void chaos_break(struct world *w, int who)
{
	u8 rnic = chaos_roll(W_RNICS);

	switch (chaos_roll(8)) {
	case 0:
		w_break(w, who, chaos_roll(SMC_LLC_LINKS), chaos_roll(2));
		break;
	case 1:
		if (chaos_roll(3))
			break;
		if (chaos_roll(2))
			w_rnic_down(w, who, rnic, chaos_roll(4));
		else
			w_rnic_going(w, who, rnic);
		break;
	case 2 ... 4:
		w_rnic_up(w, who, rnic);
		break;
	case 5:
		w->is_cut[chaos_roll(W_RNICS)][chaos_roll(W_RNICS)] = !chaos_roll(4);
		break;
	default:
		w->is_cut[chaos_roll(W_RNICS)][chaos_roll(W_RNICS)] = false;
		break;
	}
}

static inline void chaos_fault(struct world *w, int who, unsigned int faults)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_TERMINATE };

	if ((faults & CHAOS_MTUS) && !chaos_roll(8)) {
		w_set_mtu(w, who, chaos_roll(W_RNICS), SMC_MTU_1024 + chaos_roll(3));
	} else if ((faults & CHAOS_BREAKS) && !chaos_roll(3)) {
		chaos_break(w, who);
	} else if ((faults & CHAOS_LOSSES) && !chaos_roll(24)) {
		if (chaos_roll(3))
			w->loses[who] = true;
		else
			w->doubles[who] = true;
	} else if ((faults & CHAOS_FAILURES) && !chaos_roll(8)) {
		w->side[who].create_fails = !chaos_roll(3);
		w->side[who].create_hangs = !chaos_roll(4);
		w->side[who].map_fails = !chaos_roll(4);
		w->side[who].prepare_fails = !chaos_roll(4);
		w->side[who].prepare_hangs = !chaos_roll(6);
		w->side[who].store_fails = !chaos_roll(4);
	} else if ((faults & CHAOS_ENDS) && !chaos_roll(150)) {
		ev.terminate.reason = SMC_LLC_DELETE_PROGRAM;
		ev.terminate.is_orderly = true;
		w_feed(w, who, &ev);
	}
}

static inline void chaos_clock(struct world *w, int who, unsigned int faults)
{
	u64 due = smc_llc_flow_deadline(&w->side[who].flow);

	w->now += chaos_roll(20);
	if (!(faults & CHAOS_SLOW) || due == SMC_LLC_NO_DEADLINE || chaos_roll(12))
		return;
	w->now = max(w->now, due);
	w_tick(w, who);
}

/* Of all links, the first one from a random start on that can make a step. */
static inline void chaos_move(struct world *w, int who)
{
	bool (*const moves[])(struct world *, int, u8) = { w_transmit, w_receive, w_complete };
	u8 first = chaos_roll(SMC_LLC_LINKS), i;
	unsigned int kind = chaos_roll(ARRAY_SIZE(moves));

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (moves[kind](w, who, (first + i) % SMC_LLC_LINKS))
			return;
}

/* Keys are stored as soon as they arrive. */
static inline bool chaos_report(struct world *w)
{
	unsigned int i;
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++)
		for (i = 0; i < w->side[who].nr_jobs; i++)
			if (w->side[who].job[i].type == SMC_LLC_EV_RTOKEN_STORED ||
			    w->side[who].job[i].type == SMC_LLC_EV_RTOKENS_DELETED)
				return w_work(w, who, i);
	return false;
}

static inline void chaos_step(struct world *w, unsigned int faults)
{
	int who = chaos_roll(2);

	switch (chaos_roll(16)) {
	case 0 ... 9:
		chaos_move(w, who);
		break;
	case 10 ... 12:
		w_work(w, who, chaos_roll(W_JOBS));
		break;
	case 13:
		if (faults & CHAOS_REQUESTS)
			chaos_request(w, who, faults);
		break;
	case 14:
		chaos_fault(w, who, faults);
		break;
	default:
		chaos_clock(w, who, faults);
		break;
	}
}

/*
 * The number of links in the end, without obstacles. A client with two links does not ask for
 * another one again, and no wire of this kind loses its request.
 */
static inline void chaos_check_redundancy(struct world *w, unsigned int faults)
{
	unsigned int nr[2] = {}, links, most = w->side[W_SERVER].flow.max_links;
	int who;
	u8 i;

	for (who = W_SERVER; who <= W_CLIENT; who++)
		for (i = 0; i < W_RNICS; i++)
			nr[who] += w->side[who].has_rnic[i];
	links = smc_llc_nr_symmetric(&w->side[W_SERVER].flow);
	if (w->d.is_old) {
		W_CHECK(w, w_nr(&w->side[W_SERVER], SMC_LLC_LINK_ACTIVE) == 1);
		return;
	}
	/* a deployed server does not retry by itself */
	if (w->script && w->d.who == W_SERVER)
		return;
	if (w->script) {
		/* it does not prefer the RNIC that makes the link symmetric */
		W_CHECK(w, w_nr(&w->side[W_SERVER], SMC_LLC_LINK_ACTIVE) ==
			1 + (max(nr[0], nr[1]) > 1));
		return;
	}
	if (min(nr[0], nr[1]) > 1) {
		/* LG-13, LG-16: as many as allowed, and no asymmetric one among them */
		W_CHECK(w, links == min(most, min(nr[0], nr[1])) ||
			((faults & CHAOS_LOSSES) && links >= 2));
		W_CHECK(w, links == w_nr(&w->side[W_SERVER], SMC_LLC_LINK_ACTIVE));
	} else if (max(nr[0], nr[1]) > 1) {
		/* LG-12 */
		W_CHECK(w, w_nr(&w->side[W_SERVER], SMC_LLC_LINK_ACTIVE) == 2);
	} else {
		W_CHECK(w, links == 1);
	}
	/* LG-14, MAXL-09, MAXL-10 */
	W_CHECK(w, links <= most);
	W_CHECK(w, w_nr(&w->side[W_SERVER], SMC_LLC_LINK_ACTIVE) <= links + 1);
}

/* Each link has the MTU that both ports allow now. */
static inline void chaos_check_mtus(struct world *w)
{
	const struct w_side *s = w->side;
	const struct w_qp *qp, *peer;
	u8 i, at;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		qp = &s[W_SERVER].qp[i];
		peer = qp->exists ? w_peer_qp(w, W_SERVER, qp, &at) : NULL;
		if (peer)
			W_CHECK(w, min(qp->mtu, peer->mtu) ==
				   min(s[W_SERVER].mtu[qp->rnic] ?: SMC_MTU_4096,
				       s[W_CLIENT].mtu[peer->rnic] ?: SMC_MTU_4096));
	}
}

/* Every second group is of version 2, where CONFIRM RKEY names three links at most. */
static inline void chaos_set_up(struct w_setup *set)
{
	int who;

	set->has_v2 = chaos_roll(2);
	set->is_agreed = set->has_v2 && chaos_roll(2);
	for (who = W_SERVER; who <= W_CLIENT; who++) {
		set->rnics[who] = 1 + chaos_roll(W_RNICS);
		set->max_links[who] = 2 + chaos_roll(set->has_v2 ? 1 : 7);
		set->is_deployed[who] = chaos_roll(2);
	}
}

/* The version 2 form of the same message, with a list where one is allowed. */
static inline void chaos_lengthen(struct w_bytes *b)
{
	unsigned int nr = chaos_roll(4);

	if (b->raw[0] == SMC_LLC_ADD_LINK && !(b->raw[3] & SMC_LLC_ADD_LINK_REJECT)) {
		b->len = sizeof(struct smc_llc_add_link_v2_wire) +
			 nr * sizeof(struct smc_llc_rtoken_pair_wire);
		b->raw[70] = nr;
		b->raw[71] = 0;
	} else if (b->raw[0] == SMC_LLC_REQ_ADD_LINK && !(b->raw[3] & SMC_LLC_REPLY)) {
		b->len = sizeof(struct smc_llc_req_add_link_wire) + ++nr * SMC_GID_LEN;
		b->raw[24] = nr;
	}
	b->raw[0] |= SMC_LLC_V2_TYPE;
	b->raw[1] = b->len;
	b->raw[2] = 0;
}

/* A peer that sends anything on any link: the machine ends the group, or continues. */
static inline bool chaos_nonsense(struct world *w, u64 seed, unsigned int steps)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	struct w_setup set = { .is_multi = true };
	static struct w_bytes b;	/* large for a stack */
	unsigned int step, i;
	int who;

	chaos_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	chaos_set_up(&set);
	w_init(w, &set);
	w->is_garbled = true;
	for (step = chaos_roll(200); step && w_step(w); step--)
		;
	who = chaos_roll(2);
	for (step = 0; step < steps && !w->fault; step++) {
		for (i = 0; i < sizeof(b.raw); i++)
			b.raw[i] = chaos_roll(3) ? 0 : chaos_roll(256);
		b.raw[0] = 1 + chaos_roll(9);
		b.raw[1] = SMC_LLC_LEN;
		b.raw[3] = chaos_roll(16) << 4;
		b.raw[4 + chaos_roll(2)] = chaos_roll(6);
		b.len = SMC_LLC_LEN;
		if (set.has_v2)
			chaos_lengthen(&b);
		ev.link = chaos_roll(3);
		if (smc_llc_form_decode(w_form(&w->side[who]), b.raw, b.len,
					w->side[who].flow.dialect, &ev.msg) == SMC_LLC_OK)
			w_hear(w, who, &ev, &b);
		for (i = chaos_roll(6); i && w_step(w); i--)
			;
	}
	if (!w->fault)
		w_wait(w, 200000);
	if (!w->fault)
		w_check_settled(w);
	return !w->fault;
}

/*
 * One schedule. Returns false after a fault; @w->fault names it.
 */
static inline bool chaos_run(struct world *w, u64 seed, unsigned int faults,
			     unsigned int steps)
{
	struct w_setup set = { .is_multi = true };
	unsigned int step;
	int who;
	u8 i;

	chaos_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (step = 0; step < 4; step++)
		chaos_roll(2);
	chaos_set_up(&set);
	if (faults & CHAOS_DEPLOYED) {
		set.script = d_event;
		set.script_side = faults & CHAOS_SERVER ? W_SERVER : W_CLIENT;
		set.is_deployed[!set.script_side] = true;
		set.max_links[set.script_side] = 2;
	}
	if (faults & CHAOS_OLD) {
		set.is_old = true;
		set.has_v2 = false;
		set.is_agreed = false;
	}
	w_init(w, &set);
	/* Half of the schedules have first contact without faults. */
	if (chaos_roll(2))
		w_pump(w);
	for (step = 0; step < steps && !w->fault; step++) {
		chaos_step(w, faults);
		while (chaos_report(w))
			;
	}

	/* Everything broken is repaired, and time passes. */
	for (who = W_SERVER; who <= W_CLIENT; who++) {
		w->loses[who] = false;
		w->doubles[who] = false;
		w->side[who].create_fails = false;
		w->side[who].create_hangs = false;
		w->side[who].map_fails = false;
		w->side[who].prepare_fails = false;
		w->side[who].prepare_hangs = false;
		w->side[who].store_fails = false;
	}
	memset(w->is_cut, 0, sizeof(w->is_cut));
	for (who = W_SERVER; who <= W_CLIENT && !w->fault; who++)
		for (i = 0; i < set.rnics[who]; i++)
			w_rnic_up(w, who, i);
	if (!w->fault)
		w_wait(w, 150000);
	if (!w->fault)
		w_check_rest(w);
	if (!w->fault && w->side[W_SERVER].flow.phase == SMC_LLC_UP)
		chaos_check_redundancy(w, faults);
	if (!w->fault && (faults & CHAOS_MTUS) && !w->script)
		chaos_check_mtus(w);
	/* Without obstacles nothing fails. */
	if (!w->fault && !(faults & ~CHAOS_PEACE))
		W_CHECK(w, w->side[W_SERVER].flow.phase == SMC_LLC_UP);
	return !w->fault;
}

#endif /* _SMC_LLC_CHAOS_H */
