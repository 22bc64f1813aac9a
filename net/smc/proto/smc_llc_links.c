// SPDX-License-Identifier: GPL-2.0
/*
 * Which links a group may have, RFC 7609 2.2.1, 2.2.2, 2.2.4.
 *
 * Parallel links join the same two RNICs; they are not allowed. The exception is a link that takes
 * the place of another one: the MTU of a queue pair is fixed, so a port whose MTU changes needs new
 * links, and the old link of the only RNIC carries the exchange that adds the new one. The older of
 * the two is deleted next. A link is asymmetric if it
 * shares an RNIC with an older symmetric link. One such link is allowed beyond the limit, until
 * there are two symmetric ones. Both sides see links come up in the same order, so the classes
 * agree.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "proto/smc_llc_links.h"

/* How links of this side use an RNIC. */
enum rnic_use {
	RNIC_UNUSED,
	RNIC_ASYMMETRIC,	/* by the asymmetric link only */
	RNIC_SYMMETRIC,
	RNIC_NR_USES
};

bool smc_llc_same_rnic(const struct smc_llc_end *a, const struct smc_llc_end *b)
{
	return !memcmp(a->gid, b->gid, sizeof(a->gid)) && !memcmp(a->mac, b->mac, sizeof(a->mac));
}

static void rnic_end(const struct smc_llc_rnic *rnic, struct smc_llc_end *end)
{
	memset(end, 0, sizeof(*end));
	memcpy(end->mac, rnic->mac, sizeof(end->mac));
	memcpy(end->gid, rnic->gid, sizeof(end->gid));
	end->mtu = rnic->mtu;
}

/* True if a link of the bit set @links uses one of these RNICs. */
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

/* Index of the oldest link in use that is not in @done, or SMC_LLC_LINKS. */
static u8 oldest_except(const struct smc_llc_flow *flow, unsigned int done)
{
	u8 i, oldest = SMC_LLC_LINKS;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_in_use(&flow->link[i]) && !(done & BIT(i)) &&
		    (oldest == SMC_LLC_LINKS ||
		     (s32)(flow->link[i].age - flow->link[oldest].age) < 0))
			oldest = i;
	return oldest;
}

/* Bit set of the symmetric links: from the oldest on, all that share no RNIC. */
static unsigned int symmetric_links(const struct smc_llc_flow *flow)
{
	unsigned int done = 0, symmetric = 0;
	u8 i;

	while ((i = oldest_except(flow, done)) < SMC_LLC_LINKS) {
		done |= BIT(i);
		if (!shares_rnic(flow, symmetric, &flow->link[i].local, &flow->link[i].peer))
			symmetric |= BIT(i);
	}
	return symmetric;
}

/* Index of the youngest link in use that is not symmetric, or SMC_LLC_LINKS. */
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

unsigned int smc_llc_nr_in(const struct smc_llc_flow *flow, enum smc_llc_link_state state)
{
	unsigned int i, nr = 0;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		nr += flow->link[i].state == state;
	return nr;
}

unsigned int smc_llc_nr_in_use(const struct smc_llc_flow *flow)
{
	return smc_llc_nr_in(flow, SMC_LLC_LINK_ACTIVE) +
	       smc_llc_nr_in(flow, SMC_LLC_LINK_DELETE_WANTED);
}

/* The links that are subject to the limit. LG-15, MAXL-09, MAXL-10. */
unsigned int smc_llc_nr_symmetric(const struct smc_llc_flow *flow)
{
	unsigned int symmetric = symmetric_links(flow), nr = 0;

	for (; symmetric; symmetric &= symmetric - 1)
		nr++;
	return nr;
}

static bool joins_rnics(const struct smc_llc_link *lnk, const struct smc_llc_end *local,
			const struct smc_llc_end *peer)
{
	return smc_llc_is_in_use(lnk) && smc_llc_same_rnic(&lnk->local, local) &&
	       smc_llc_same_rnic(&lnk->peer, peer);
}

/* True if a younger link joins the same RNICs, see smc_llc_is_parallel(). */
static bool is_replaced(const struct smc_llc_flow *flow, const struct smc_llc_link *lnk)
{
	const struct smc_llc_link *other;

	for (other = flow->link; other < flow->link + SMC_LLC_LINKS; other++)
		if (joins_rnics(other, &lnk->local, &lnk->peer) &&
		    (s32)(other->age - lnk->age) > 0)
			return true;
	return false;
}

/*
 * Find a link that another one has replaced, or an asymmetric one that is no longer needed. RFC
 * 7609 2.2.1; LG-10, LG-16.
 */
u8 smc_llc_superfluous(const struct smc_llc_flow *flow)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_in_use(&flow->link[i]) && is_replaced(flow, &flow->link[i]))
			return i;
	return smc_llc_nr_symmetric(flow) < 2 ? SMC_LLC_LINKS : asymmetric_link(flow);
}

/* The MTU that a link has at most follows from both ends. */
static u8 path_mtu(const struct smc_llc_end *local, const struct smc_llc_end *peer)
{
	return min(local->mtu, peer->mtu);
}

/*
 * True if a link in use joins these RNICs. One with another MTU does not count: a link between
 * these ends would replace it. LG-10, ERR-45.
 */
bool smc_llc_is_parallel(const struct smc_llc_flow *flow, const struct smc_llc_end *local,
			 const struct smc_llc_end *peer)
{
	const struct smc_llc_link *lnk;
	u8 mtu = path_mtu(local, peer);

	for (lnk = flow->link; lnk < flow->link + SMC_LLC_LINKS; lnk++)
		if (joins_rnics(lnk, local, peer) &&
		    (!mtu || mtu == path_mtu(&lnk->local, &lnk->peer)))
			return true;
	return false;
}

/* True if a link between these RNICs would share one with a symmetric link. */
static bool is_asymmetric(const struct smc_llc_flow *flow, const struct smc_llc_end *local,
			  const struct smc_llc_end *peer)
{
	return shares_rnic(flow, symmetric_links(flow), local, peer);
}

/*
 * A new link may be asymmetric as the only redundancy, symmetric up to the limit. RFC 7609 2.2.1,
 * 2.2.2, 3.5.5.1.1; LG-10, LG-14, LG-15, MAXL-09, MAXL-10, ADDL-04.
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

/* The entry of an RNIC of the server. If it is new and the list is full, all counts restart. */
struct smc_llc_candidate *smc_llc_candidate(struct smc_llc_flow *flow,
					    const struct smc_llc_end *end)
{
	static const struct smc_llc_end unused;
	struct smc_llc_candidate *cand;
	u8 i;

	for (i = 0; i < SMC_LLC_RNICS; i++) {
		cand = &flow->candidate[i];
		if (smc_llc_same_rnic(&cand->end, end))
			return cand;
		if (smc_llc_same_rnic(&cand->end, &unused))
			break;
	}
	if (i == SMC_LLC_RNICS) {
		memset(flow->candidate, 0, sizeof(flow->candidate));
		cand = flow->candidate;
	}
	cand->end = *end;
	return cand;
}

void smc_llc_count_offer(struct smc_llc_flow *flow, const struct smc_llc_end *end)
{
	struct smc_llc_candidate *cand = smc_llc_candidate(flow, end);

	cand->last = SMC_LLC_OFFER_OPEN;
	cand->nr_offers++;
}

/*
 * The last offer gave a link. RNICs with a symmetric link then count as offered as often as any
 * other, so that those without a link come first.
 */
void smc_llc_offer_linked(struct smc_llc_flow *flow, const struct smc_llc_end *end)
{
	struct smc_llc_candidate *cand;
	unsigned int most = 0;
	u8 i;

	smc_llc_candidate(flow, end)->last = SMC_LLC_OFFER_LINKED;
	for (i = 0; i < SMC_LLC_RNICS; i++)
		most = max(most, flow->candidate[i].nr_offers);
	for (i = 0; i < SMC_LLC_RNICS; i++) {
		cand = &flow->candidate[i];
		if (rnic_find_use(flow, &cand->end) == RNIC_SYMMETRIC)
			cand->nr_offers = most;
	}
}

/* Server: offer refused RNICs again. */
void smc_llc_readmit_candidates(struct smc_llc_flow *flow)
{
	u8 i;

	for (i = 0; i < SMC_LLC_RNICS; i++)
		if (flow->candidate[i].last == SMC_LLC_OFFER_REFUSED)
			flow->candidate[i].last = SMC_LLC_OFFER_OPEN;
}

/*
 * The RNIC with the fewest offers comes first, because nothing reports an RNIC without a path.
 * Among equals, an unused one precedes that of the asymmetric link. That of the only link follows a
 * failure of each other one. RFC 7609 3.5.1.6, 3.5.5.1.1; SL-01, SL-02, ADDL-05, ADDL-07, LG-12.
 */
bool smc_llc_pick_offer(struct smc_llc_flow *flow, struct smc_llc_end *end)
{
	const struct smc_llc_candidate *cand;
	unsigned int cost, best = UINT_MAX;
	struct smc_llc_end rnic;
	enum rnic_use use;
	u8 i;

	if (!flow->has_rnics) {
		i = oldest_except(flow, 0);
		if (i == SMC_LLC_LINKS || smc_llc_nr_in_use(flow) >= flow->max_links)
			return false;
		*end = flow->link[i].local;
		return true;
	}
	if (smc_llc_nr_symmetric(flow) >= flow->max_links)
		return false;
	for (i = 0; i < flow->rnics.count; i++) {
		rnic_end(&flow->rnics.rnic[i], &rnic);
		use = rnic_find_use(flow, &rnic);
		cand = smc_llc_candidate(flow, &rnic);
		cost = (cand->nr_offers + (use == RNIC_SYMMETRIC)) * RNIC_NR_USES + use;
		if (cand->last == SMC_LLC_OFFER_REFUSED || cost >= best ||
		    (use == RNIC_SYMMETRIC && smc_llc_nr_in_use(flow) != 1))
			continue;
		best = cost;
		*end = rnic;
	}
	return best != UINT_MAX;
}

/*
 * Each offer of an RNIC gets the next RNIC of this side, so all pairs have their turn while
 * attempts fail. An asymmetric link comes last, and does not replace one that came up. RFC 7609
 * 3.5.1.6.1; SL-05 to SL-09, LG-12.
 */
bool smc_llc_pick_answer(struct smc_llc_flow *flow, struct smc_llc_end *end)
{
	const struct smc_llc_end *server = &flow->add.offer.end;
	const struct smc_llc_candidate *cand = smc_llc_candidate(flow, server);
	struct smc_llc_end rnic, turn[2 * SMC_LLC_RNICS];
	unsigned int k, nr = 0;
	u8 i;

	/* symmetric links by use of the RNIC, twice; then asymmetric ones */
	for (k = 0; k < 3 * RNIC_NR_USES; k++) {
		bool is_asymmetric_turn = k >= 2 * RNIC_NR_USES;

		if (is_asymmetric_turn && nr && cand->last == SMC_LLC_OFFER_LINKED)
			break;
		for (i = 0; i < flow->rnics.count; i++) {
			rnic_end(&flow->rnics.rnic[i], &rnic);
			if (smc_llc_is_allowed(flow, &rnic, server) &&
			    is_asymmetric(flow, &rnic, server) == is_asymmetric_turn &&
			    rnic_find_use(flow, &rnic) == k % RNIC_NR_USES)
				turn[nr++] = rnic;
		}
	}
	if (nr)
		*end = turn[cand->nr_offers % nr];
	return nr;
}

/* Pick the least used RNIC whose use does not exceed @most. */
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

/*
 * The client announces an RNIC without a symmetric link, or any if the group has one link. RFC 7609
 * 3.5.5.1.2; ADDL-06, MAXL-09.
 */
bool smc_llc_pick_notice(const struct smc_llc_flow *flow, struct smc_llc_end *end)
{
	enum rnic_use most = smc_llc_nr_in_use(flow) == 1 ? RNIC_SYMMETRIC : RNIC_ASYMMETRIC;

	return smc_llc_nr_symmetric(flow) < flow->max_links && pick_rnic(flow, most, end);
}

/* True if an RNIC of this side has no link and a link may be added. */
bool smc_llc_has_unused_rnic(const struct smc_llc_flow *flow)
{
	struct smc_llc_end end;

	return smc_llc_nr_symmetric(flow) < flow->max_links &&
	       pick_rnic(flow, RNIC_UNUSED, &end);
}

/* True if the port of a link has had another MTU since the link was made. */
static bool is_outdated(const struct smc_llc_flow *flow, const struct smc_llc_link *lnk)
{
	struct smc_llc_end rnic;
	u8 i;

	for (i = 0; i < flow->rnics.count; i++) {
		rnic_end(&flow->rnics.rnic[i], &rnic);
		if (smc_llc_same_rnic(&rnic, &lnk->local))
			return rnic.mtu && rnic.mtu != lnk->local.mtu;
	}
	return false;
}

/*
 * Find a link to give up because the MTU of its port has changed. Another link carries the data
 * until one with the new MTU has come up. An only link is not given up but replaced, see
 * smc_llc_is_parallel(). Both sides begin with the same link.
 */
u8 smc_llc_outdated(const struct smc_llc_flow *flow)
{
	u8 i, found = SMC_LLC_LINKS;

	if (smc_llc_nr_in_use(flow) < 2)
		return SMC_LLC_LINKS;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_in_use(&flow->link[i]) && is_outdated(flow, &flow->link[i]) &&
		    (found == SMC_LLC_LINKS ||
		     (s32)(flow->link[i].age - flow->link[found].age) < 0))
			found = i;
	return found;
}

/* Returns true if an RNIC is new, or its port has another MTU. */
bool smc_llc_set_rnics(struct smc_llc_flow *flow, const struct smc_llc_rnics *rnics)
{
	struct smc_llc_rnics old = flow->rnics;
	bool is_new = false;
	u8 i, k;

	memset(flow->candidate, 0, sizeof(flow->candidate));
	flow->rnics = *rnics;
	flow->rnics.count = min_t(u8, rnics->count, SMC_LLC_RNICS);
	for (i = 0; i < flow->rnics.count; i++) {
		for (k = 0; k < old.count; k++)
			if (!memcmp(&old.rnic[k], &rnics->rnic[i], sizeof(old.rnic[k])))
				break;
		is_new |= k == old.count;
	}
	/* a peer cannot cause this */
	if (is_new)
		flow->nr_attempts = 0;
	return is_new;
}

/* True if both sides have deleted the link of this number, until another link gets it. */
bool smc_llc_is_deleted(const struct smc_llc_flow *flow, u8 num)
{
	return flow->deleted_map[num / 8] & BIT(num % 8);
}

void smc_llc_set_deleted(struct smc_llc_flow *flow, u8 num, bool is_deleted)
{
	if (is_deleted)
		flow->deleted_map[num / 8] |= BIT(num % 8);
	else
		flow->deleted_map[num / 8] &= ~BIT(num % 8);
}

/* RFC 7609 2.2.2, A.3.1; MAXL-01 to MAXL-07, AMB-26. */
u8 smc_llc_max_links(u8 own, u8 peer)
{
	u8 links = peer ? min(own, peer) : own;

	return clamp_t(u8, links, SMC_LLC_MAX_LINKS_MIN, SMC_LLC_MAX_LINKS_MAX);
}

/* Numbers cycle to delay reuse (LID-03, AMB-27), existing ones are skipped. */
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
 * smc_llc_flow_gids() - get the GIDs for REQ ADD LINK
 * @flow: LLC machine of a client
 * @first: the RNIC that wants a link
 * @gid: receives up to SMC_LLC_REQ_GIDS entries, that of @first first
 *
 * Context: Any context. The caller serialises.
 * Return: number of GIDs, at least 1.
 */
u8 smc_llc_flow_gids(const struct smc_llc_flow *flow, const struct smc_llc_end *first,
		     u8 gid[][SMC_GID_LEN])
{
	u8 i, nr = 1;

	memcpy(gid[0], first->gid, SMC_GID_LEN);
	for (i = 0; i < flow->rnics.count && nr < SMC_LLC_REQ_GIDS; i++)
		if (memcmp(flow->rnics.rnic[i].gid, first->gid, SMC_GID_LEN))
			memcpy(gid[nr++], flow->rnics.rnic[i].gid, SMC_GID_LEN);
	return nr;
}

/**
 * smc_llc_flow_type() - class of the group, for operators
 * @flow: LLC machine
 *
 * Context: Any context. The caller serialises.
 * Return: class formed by the links in use, as seen from this side.
 */
enum smc_lgr_type smc_llc_flow_type(const struct smc_llc_flow *flow)
{
	u8 i, odd = asymmetric_link(flow);

	if (!smc_llc_nr_in_use(flow))
		return SMC_LGR_TYPE_NONE;
	if (smc_llc_nr_in_use(flow) == 1)
		return SMC_LGR_TYPE_SINGLE;
	if (smc_llc_nr_symmetric(flow) > 1)
		return SMC_LGR_TYPE_SYMMETRIC;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (i != odd && smc_llc_is_in_use(&flow->link[i]) &&
		    smc_llc_same_rnic(&flow->link[i].local, &flow->link[odd].local))
			return SMC_LGR_TYPE_ASYMMETRIC_LOCAL;
	return SMC_LGR_TYPE_ASYMMETRIC_PEER;
}
