// SPDX-License-Identifier: GPL-2.0
/*
 * Which links a group may have, RFC 7609 2.2.1, 2.2.2, 2.2.4.
 *
 * A link is parallel to one that joins the same two RNICs; that is not allowed.
 * It is asymmetric if it shares an RNIC with an older link that is symmetric,
 * the oldest of all being so. At most one is allowed; it counts for no limit and
 * goes when there are two symmetric ones. Both sides see the same links come
 * in the same order, and so the same classes.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "proto/smc_llc_links.h"

/* How an RNIC of this side is used already. */
enum rnic_use {
	RNIC_UNUSED,
	RNIC_ASYMMETRIC,	/* by the asymmetric link only */
	RNIC_SYMMETRIC,
};

/**
 * smc_llc_same_rnic() - are two ends on the same RNIC?
 * @a: one
 * @b: other
 *
 * Return: true if MAC and GID are the same.
 */
bool smc_llc_same_rnic(const struct smc_llc_end *a, const struct smc_llc_end *b)
{
	return !memcmp(a->gid, b->gid, sizeof(a->gid)) && !memcmp(a->mac, b->mac, sizeof(a->mac));
}

static void rnic_end(const struct smc_llc_rnic *rnic, struct smc_llc_end *end)
{
	memset(end, 0, sizeof(*end));
	memcpy(end->mac, rnic->mac, sizeof(end->mac));
	memcpy(end->gid, rnic->gid, sizeof(end->gid));
}

/* Does a link of @links, bits by index, have one of these RNICs? */
static bool shares_rnic(const struct smc_llc_flow *flow, unsigned int links,
			const struct smc_llc_end *local, const struct smc_llc_end *peer)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (links & BIT(i) && (smc_llc_same_rnic(&flow->link[i].local, local) ||
				       smc_llc_same_rnic(&flow->link[i].peer, peer)))
			return true;
	return false;
}

/* Index of the oldest active link that is not in @done, or SMC_LLC_LINKS. */
static u8 oldest_but(const struct smc_llc_flow *flow, unsigned int done)
{
	u8 i, oldest = SMC_LLC_LINKS;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_in_use(&flow->link[i]) && !(done & BIT(i)) &&
		    (oldest == SMC_LLC_LINKS ||
		     (s32)(flow->link[i].age - flow->link[oldest].age) < 0))
			oldest = i;
	return oldest;
}

/* Bit by index of the links that are symmetric: from the oldest on, who shares no RNIC. */
static unsigned int symmetric_links(const struct smc_llc_flow *flow)
{
	unsigned int done = 0, symmetric = 0;
	u8 i;

	while ((i = oldest_but(flow, done)) < SMC_LLC_LINKS) {
		done |= BIT(i);
		if (!shares_rnic(flow, symmetric, &flow->link[i].local, &flow->link[i].peer))
			symmetric |= BIT(i);
	}
	return symmetric;
}

/* Index of the youngest active link that is not symmetric, or SMC_LLC_LINKS. */
static u8 asymmetric_link(const struct smc_llc_flow *flow)
{
	unsigned int symmetric = symmetric_links(flow);
	u8 i, found = SMC_LLC_LINKS;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_in_use(&flow->link[i]) && !(symmetric & BIT(i)) &&
		    (found == SMC_LLC_LINKS ||
		     (s32)(flow->link[i].age - flow->link[found].age) > 0))
			found = i;
	return found;
}

/**
 * smc_llc_nr_in() - how many links are in a state
 * @flow: the machine
 * @state: which
 *
 * Return: the number.
 */
unsigned int smc_llc_nr_in(const struct smc_llc_flow *flow, enum smc_llc_link_state state)
{
	unsigned int i, nr = 0;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		nr += flow->link[i].state == state;
	return nr;
}

/**
 * smc_llc_nr_in_use() - count the links that carry data and exchanges
 * @flow: the machine
 *
 * Return: the number.
 */
unsigned int smc_llc_nr_in_use(const struct smc_llc_flow *flow)
{
	return smc_llc_nr_in(flow, SMC_LLC_LINK_ACTIVE) +
	       smc_llc_nr_in(flow, SMC_LLC_LINK_LEAVING);
}

/**
 * smc_llc_nr_symmetric() - links that count for the limit
 * @flow: the machine
 *
 * LG-15, MAXL-09, MAXL-10.
 *
 * Return: how many are symmetric.
 */
unsigned int smc_llc_nr_symmetric(const struct smc_llc_flow *flow)
{
	unsigned int symmetric = symmetric_links(flow), nr = 0;

	for (; symmetric; symmetric &= symmetric - 1)
		nr++;
	return nr;
}

/**
 * smc_llc_superfluous() - the asymmetric link, if it is needed no longer
 * @flow: the machine
 *
 * RFC 7609 2.2.1; LG-16.
 *
 * Return: its index, or SMC_LLC_LINKS.
 */
u8 smc_llc_superfluous(const struct smc_llc_flow *flow)
{
	return smc_llc_nr_symmetric(flow) < 2 ? SMC_LLC_LINKS : asymmetric_link(flow);
}

/**
 * smc_llc_is_parallel() - is there a link between these RNICs already?
 * @flow: the machine
 * @local: on an RNIC of this side
 * @peer: on an RNIC of the peer
 *
 * LG-10, ERR-45.
 *
 * Return: true if one is active.
 */
bool smc_llc_is_parallel(const struct smc_llc_flow *flow, const struct smc_llc_end *local,
			 const struct smc_llc_end *peer)
{
	const struct smc_llc_link *lnk;

	for (lnk = flow->link; lnk < flow->link + SMC_LLC_LINKS; lnk++)
		if (smc_llc_is_in_use(lnk) && smc_llc_same_rnic(&lnk->local, local) &&
		    smc_llc_same_rnic(&lnk->peer, peer))
			return true;
	return false;
}

/* Would a link between these RNICs share one with a symmetric link? */
static bool is_asymmetric(const struct smc_llc_flow *flow, const struct smc_llc_end *local,
			  const struct smc_llc_end *peer)
{
	return shares_rnic(flow, symmetric_links(flow), local, peer);
}

/**
 * smc_llc_is_allowed() - may there be a link between these RNICs?
 * @flow: the machine
 * @local: on an RNIC of this side
 * @peer: on an RNIC of the peer
 *
 * An asymmetric link is allowed where it is the only redundancy, a symmetric
 * one up to the limit. RFC 7609 2.2.1, 2.2.2, 3.5.5.1.1; LG-10, LG-14, LG-15,
 * MAXL-09, MAXL-10, ADDL-04.
 *
 * Return: true if so.
 */
bool smc_llc_is_allowed(const struct smc_llc_flow *flow, const struct smc_llc_end *local,
			const struct smc_llc_end *peer)
{
	if (smc_llc_is_parallel(flow, local, peer))
		return false;
	if (is_asymmetric(flow, local, peer))
		return smc_llc_nr_in_use(flow) == 1;
	return smc_llc_nr_symmetric(flow) < flow->max_links;
}

static enum rnic_use rnic_find_use(const struct smc_llc_flow *flow, const struct smc_llc_end *rnic)
{
	unsigned int i, symmetric = symmetric_links(flow);
	enum rnic_use use = RNIC_UNUSED;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		if (!smc_llc_is_in_use(&flow->link[i]) ||
		    !smc_llc_same_rnic(&flow->link[i].local, rnic))
			continue;
		if (symmetric & BIT(i))
			return RNIC_SYMMETRIC;
		use = RNIC_ASYMMETRIC;
	}
	return use;
}

/*
 * Is it the turn of a link that shares an RNIC with the only one? When each RNIC of this
 * side has had its turn in vain: it may be one of the other side that has no path.
 */
static bool is_turn_of_asymmetric(const struct smc_llc_flow *flow, unsigned int turns)
{
	unsigned int all = flow->rnics.count;

	return turns % (all + 1) == all && smc_llc_nr_in_use(flow) == 1;
}

/**
 * smc_llc_pick_offer() - RNIC to offer in ADD LINK
 * @flow: the machine of a server
 * @end: receives MAC and GID
 *
 * One that no link uses; one that only the asymmetric link uses, for a client
 * that has another now; where there is one link only, its own, for a client
 * that has two. None that the client has refused: it may be on a network that the
 * client is not on. They take turns while attempts fail: one whose path is lost, which
 * nothing tells, keeps no other from being tried. RFC 7609 3.5.1.6, 3.5.5.1.1; SL-01,
 * SL-02, ADDL-05, ADDL-07, LG-12.
 *
 * Return: false if there is none, or no link may be added.
 */
bool smc_llc_pick_offer(const struct smc_llc_flow *flow, struct smc_llc_end *end)
{
	bool is_asymmetric_turn = is_turn_of_asymmetric(flow, flow->nr_offered);
	unsigned int cost, best = RNIC_SYMMETRIC + 1;
	struct smc_llc_end rnic;
	enum rnic_use use;
	u8 i, k;

	if (!flow->has_rnics) {
		for (i = 0; i < SMC_LLC_LINKS; i++)
			if (smc_llc_is_in_use(&flow->link[i]))
				break;
		if (i == SMC_LLC_LINKS || flow->add.tried ||
		    smc_llc_nr_in_use(flow) >= flow->max_links)
			return false;
		*end = flow->link[i].local;
		return true;
	}
	if (smc_llc_nr_symmetric(flow) >= flow->max_links)
		return false;
	for (k = 0; k < flow->rnics.count; k++) {
		i = (flow->next_rnic + k) % flow->rnics.count;
		rnic_end(&flow->rnics.rnic[i], &rnic);
		use = rnic_find_use(flow, &rnic);
		cost = is_asymmetric_turn ? RNIC_SYMMETRIC - use : use;
		if (((flow->add.tried | flow->refused) & BIT(i)) || cost >= best ||
		    (use == RNIC_SYMMETRIC && smc_llc_nr_in_use(flow) != 1))
			continue;
		best = cost;
		*end = rnic;
	}
	return best <= RNIC_SYMMETRIC;
}

/**
 * smc_llc_pick_answer() - RNIC to accept an offer with
 * @flow: the machine of a client; the offer is in @flow->add
 * @end: receives MAC and GID
 *
 * The more symmetric the link becomes, and the less used the RNIC is, the
 * better; they take turns as those of the server. RFC 7609 3.5.1.6.1; SL-05 to SL-09,
 * LG-12.
 *
 * Return: false if there is none.
 */
bool smc_llc_pick_answer(const struct smc_llc_flow *flow, struct smc_llc_end *end)
{
	bool is_asymmetric_turn = is_turn_of_asymmetric(flow, flow->nr_rounds);
	const struct smc_llc_end *server = &flow->add.offer.end;
	unsigned int cost, best = UINT_MAX;
	struct smc_llc_end rnic;
	u8 i, k;

	for (k = 0; k < flow->rnics.count; k++) {
		i = (flow->next_rnic + k) % flow->rnics.count;
		rnic_end(&flow->rnics.rnic[i], &rnic);
		if ((flow->add.tried & BIT(i)) || !smc_llc_is_allowed(flow, &rnic, server))
			continue;
		cost = (is_asymmetric(flow, &rnic, server) != is_asymmetric_turn) * 4 +
			rnic_find_use(flow, &rnic);
		if (cost >= best)
			continue;
		best = cost;
		*end = rnic;
	}
	return best != UINT_MAX;
}

/* The least used RNIC, if its use is not above @most. */
static bool pick_rnic(const struct smc_llc_flow *flow, enum rnic_use most,
		      struct smc_llc_end *end)
{
	struct smc_llc_end rnic;
	enum rnic_use use;
	bool is_found = false;
	u8 i;

	for (i = 0; i < flow->rnics.count; i++) {
		rnic_end(&flow->rnics.rnic[i], &rnic);
		use = rnic_find_use(flow, &rnic);
		if (use > most || (is_found && use == most))
			continue;
		most = use;
		*end = rnic;
		is_found = true;
	}
	return is_found;
}

/**
 * smc_llc_pick_notice() - RNIC that a client has to offer
 * @flow: the machine of a client
 * @end: receives MAC and GID
 *
 * One that no link uses, or that only the asymmetric link does; any, where an offer was
 * refused only for the time it came at. RFC 7609 3.5.5.1.2; ADDL-06, MAXL-09.
 *
 * Return: false if there is none, or no link may be added.
 */
bool smc_llc_pick_notice(const struct smc_llc_flow *flow, struct smc_llc_end *end)
{
	return smc_llc_nr_symmetric(flow) < flow->max_links &&
	       pick_rnic(flow, flow->is_put_off ? RNIC_SYMMETRIC : RNIC_ASYMMETRIC, end);
}

/**
 * smc_llc_unused_rnic() - has this side an RNIC that no link uses?
 * @flow: the machine
 *
 * Return: true if so, and a link may be added.
 */
bool smc_llc_unused_rnic(const struct smc_llc_flow *flow)
{
	struct smc_llc_end end;

	return smc_llc_nr_symmetric(flow) < flow->max_links &&
	       pick_rnic(flow, RNIC_UNUSED, &end);
}

/**
 * smc_llc_rnic_place() - where an RNIC stands in the list of those of this side
 * @flow: the machine
 * @end: its MAC and GID
 *
 * Return: a bit, or 0 if it is not there (any more).
 */
unsigned int smc_llc_rnic_place(const struct smc_llc_flow *flow, const struct smc_llc_end *end)
{
	struct smc_llc_end rnic;
	u8 i;

	for (i = 0; i < flow->rnics.count; i++) {
		rnic_end(&flow->rnics.rnic[i], &rnic);
		if (smc_llc_same_rnic(&rnic, end))
			return BIT(i);
	}
	return 0;
}

/**
 * smc_llc_rnic_offered() - server: a link on an RNIC is offered
 * @flow: the machine
 * @end: its MAC and GID
 *
 * If nothing comes of it, it is the turn of the next RNIC.
 */
void smc_llc_rnic_offered(struct smc_llc_flow *flow, const struct smc_llc_end *end)
{
	unsigned int place = smc_llc_rnic_place(flow, end);

	for (flow->next_rnic = 0; place; place >>= 1)
		flow->next_rnic++;
	flow->nr_offered++;
}

/**
 * smc_llc_rnic_of_peer() - client: the server offers a link to an RNIC of its own
 * @flow: the machine
 * @end: its MAC and GID
 *
 * Those of the server take turns while attempts fail. When it is the first one's
 * again, or that one must be gone, it is the turn of the next RNIC of this side: so all
 * pairs are tried, those of an asymmetric link last.
 */
void smc_llc_rnic_of_peer(struct smc_llc_flow *flow, const struct smc_llc_end *end)
{
	if (flow->nr_round && flow->nr_round < SMC_LLC_RNICS &&
	    !smc_llc_same_rnic(&flow->round, end)) {
		flow->nr_round++;
		return;
	}
	if (flow->nr_round) {
		flow->next_rnic++;
		flow->nr_rounds++;
	}
	flow->round = *end;
	flow->nr_round = 1;
}

/**
 * smc_llc_rnic_has_link() - a link has come up
 * @flow: the machine
 *
 * RNICs go on taking turns, for it may have a path for a short message only, and be lost
 * with the first data.
 */
void smc_llc_rnic_has_link(struct smc_llc_flow *flow)
{
	flow->nr_offered = 0;
	flow->nr_rounds = 0;
}

/**
 * smc_llc_end_turns() - one that had lasted is gone, or there are other RNICs
 * @flow: the machine
 */
void smc_llc_end_turns(struct smc_llc_flow *flow)
{
	smc_llc_rnic_has_link(flow);
	flow->next_rnic = 0;
	flow->nr_round = 0;
}

/**
 * smc_llc_rnic_tried() - no queue pair could be had on an RNIC
 * @flow: the machine
 * @end: its MAC and GID
 *
 * This attempt does without it now.
 */
void smc_llc_rnic_tried(struct smc_llc_flow *flow, const struct smc_llc_end *end)
{
	if (!flow->has_rnics)
		flow->add.tried = 1;
	flow->add.tried |= smc_llc_rnic_place(flow, end);
}

/**
 * smc_llc_set_rnics() - RNICs on the LAN of the group
 * @flow: the machine
 * @rnics: copied, as far as there is room
 *
 * Return: true if there is one that was not there before.
 */
bool smc_llc_set_rnics(struct smc_llc_flow *flow, const struct smc_llc_rnics *rnics)
{
	struct smc_llc_rnics old = flow->rnics;
	bool is_new = false;
	u8 i, k;

	/* their places may be others now */
	flow->refused = 0;
	smc_llc_end_turns(flow);
	flow->rnics = *rnics;
	flow->rnics.count = min_t(u8, rnics->count, SMC_LLC_RNICS);
	for (i = 0; i < flow->rnics.count; i++) {
		for (k = 0; k < old.count; k++)
			if (!memcmp(&old.rnic[k], &rnics->rnic[i], sizeof(old.rnic[k])))
				break;
		is_new |= k == old.count;
	}
	/* nothing that a peer could bring about */
	if (is_new)
		flow->nr_attempts = 0;
	return is_new;
}

/**
 * smc_llc_is_gone() - was this the number of a link that both have deleted?
 * @flow: the machine
 * @num: link number
 *
 * Return: true if so, until another link has it.
 */
bool smc_llc_is_gone(const struct smc_llc_flow *flow, u8 num)
{
	return flow->gone[num / 8] & BIT(num % 8);
}

/**
 * smc_llc_set_gone() - both sides have deleted a link, or use its number again
 * @flow: the machine
 * @num: link number
 * @is_gone: which
 */
void smc_llc_set_gone(struct smc_llc_flow *flow, u8 num, bool is_gone)
{
	if (is_gone)
		flow->gone[num / 8] |= BIT(num % 8);
	else
		flow->gone[num / 8] &= ~BIT(num % 8);
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
	u8 i;

	do {
		num = num == U8_MAX ? 1 : num + 1;
		for (i = 0; i < SMC_LLC_LINKS; i++)
			if (flow->link[i].state != SMC_LLC_LINK_FREE && flow->link[i].num == num)
				break;
	} while (i < SMC_LLC_LINKS);
	return num;
}

/**
 * smc_llc_flow_gids() - the GIDs to tell of in REQ ADD LINK
 * @flow: the machine of a client
 * @first: the RNIC that wants a link
 * @gid: receives up to SMC_LLC_ASKED_GIDS of them, that of @first first
 *
 * Context: Any context. The caller serialises.
 * Return: how many, at least 1.
 */
u8 smc_llc_flow_gids(const struct smc_llc_flow *flow, const struct smc_llc_end *first,
		     u8 gid[][SMC_GID_LEN])
{
	u8 i, nr = 1;

	memcpy(gid[0], first->gid, SMC_GID_LEN);
	for (i = 0; i < flow->rnics.count && nr < SMC_LLC_ASKED_GIDS; i++)
		if (memcmp(flow->rnics.rnic[i].gid, first->gid, SMC_GID_LEN))
			memcpy(gid[nr++], flow->rnics.rnic[i].gid, SMC_GID_LEN);
	return nr;
}

/**
 * smc_llc_flow_type() - class of the group, for operators
 * @flow: the machine
 *
 * Context: Any context. The caller serialises.
 * Return: the class that its active links make, as seen from this side.
 */
enum smc_lgr_type smc_llc_flow_type(const struct smc_llc_flow *flow)
{
	u8 i, odd = asymmetric_link(flow);

	if (!smc_llc_nr_in_use(flow))
		return SMC_LGR_TYPE_NONE;
	if (smc_llc_nr_in_use(flow) == 1)
		return SMC_LGR_TYPE_SINGLE;
	if (smc_llc_nr_symmetric(flow) > 1 || odd == SMC_LLC_LINKS)
		return SMC_LGR_TYPE_SYMMETRIC;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (i != odd && smc_llc_is_in_use(&flow->link[i]) &&
		    smc_llc_same_rnic(&flow->link[i].local, &flow->link[odd].local))
			return SMC_LGR_TYPE_ASYMMETRIC_LOCAL;
	return SMC_LGR_TYPE_ASYMMETRIC_PEER;
}
