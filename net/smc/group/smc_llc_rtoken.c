// SPDX-License-Identifier: GPL-2.0
/* Keys of the peer's RMBs from LLC messages are stored in the group's table. */
#include "group/smc_conn.h"
#include "proto/smc_llc_v2.h"
#include "group/smc_llc_msg.h"
#include "group/smc_llc_rtoken.h"

/**
 * smc_llc_rtoken_store() - store the keys of a new RMB of the peer
 * @lgr: the group
 * @keys: its token on every link
 *
 * All of them are stored, or none. RKEY-04 to RKEY-13.
 *
 * Context: Expects lgr->lock held.
 * Return: false if the table is full or has a conflicting entry.
 */
bool smc_llc_rtoken_store(struct smc_link_group *lgr, const struct smc_llc_rkeys *keys)
{
	const struct smc_llc_rtoken *here = &keys->rtoken[0];
	struct smc_rtokens *rt = lgr->rtokens;
	bool is_new;
	int idx;
	u8 i;

	lockdep_assert_held(&lgr->lock);
	is_new = smc_rtoken_find(rt, here->link_num, here->rkey, here->vaddr) < 0;
	idx = smc_rtoken_add(rt, here->link_num, here->rkey, here->vaddr);
	if (idx < 0)
		return false;
	for (i = 1; i < keys->count; i++) {
		const struct smc_llc_rtoken *tok = &keys->rtoken[i];

		if (smc_rtoken_set(rt, idx, tok->link_num, tok->rkey, tok->vaddr)) {
			if (is_new)
				smc_rtoken_del(rt, idx);
			return false;
		}
	}
	return true;
}

static bool llc_store_pair(struct smc_link_group *lgr, const struct smc_llc_action *act,
			   const struct smc_llc_pair *pair)
{
	int idx = smc_rtoken_find_rkey(lgr->rtokens, act->link, pair->ref_rkey);

	/* a key that is unknown, or no longer known, has no user here */
	return idx < 0 || !smc_rtoken_set(lgr->rtokens, idx, act->target, pair->rkey,
					  pair->vaddr);
}

/* The pairs of an ADD LINK that was retained. */
static bool llc_store_kept(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_pair pair;
	bool is_good = llc->kept;
	unsigned int k;

	for (k = 0; k < act->msg.add_link.nr_pairs && is_good; k++) {
		smc_llc_form_pair(llc->kept, k, &pair);
		is_good = llc_store_pair(lgr, act, &pair);
	}
	smc_llc_msg_drop(&llc->kept);
	return is_good;
}

/**
 * smc_llc_rtoken_store_pairs() - store the keys of the peer's RMBs on a new link
 * @lgr: the group
 * @act: SMC_LLC_ACT_STORE_PAIRS, with ADD LINK CONTINUATION, or with a retained ADD LINK,
 *	 which is freed
 *
 * RKEY-22.
 *
 * Context: Expects lgr->lock held.
 * Return: false if they are invalid.
 */
bool smc_llc_rtoken_store_pairs(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	const struct smc_llc_add_link_cont *cont = &act->msg.add_link_cont;
	unsigned int k;

	lockdep_assert_held(&lgr->lock);
	if (act->msg.type == SMC_LLC_ADD_LINK)
		return llc_store_kept(lgr, act);
	for (k = 0; k < min_t(unsigned int, cont->nr_rtokens, SMC_LLC_CONT_PAIRS); k++)
		if (!llc_store_pair(lgr, act, &cont->pair[k]))
			return false;
	return true;
}

/**
 * smc_llc_rtoken_delete() - delete RMBs of the peer from the table
 * @lgr: the group
 * @act: SMC_LLC_ACT_DELETE_RTOKENS; a retained DELETE RKEY is freed
 * @ev: receives the mask of unknown keys, RKEY-18
 *
 * Connections lose an RMB before the answer permits the peer to free it.
 *
 * Context: Process context. Expects lgr->lock held.
 */
void smc_llc_rtoken_delete(struct smc_link_group *lgr, const struct smc_llc_action *act,
			   struct smc_llc_event *ev)
{
	const struct smc_llc_delete_rkey *dr = &act->msg.delete_rkey;
	struct smc_llc *llc = &lgr->llc;
	unsigned int i;
	u32 rkey;
	int idx;

	lockdep_assert_held(&lgr->lock);
	ev->error_mask = 0;
	ev->nr_unknown = 0;
	for (i = 0; i < dr->count && !WARN_ON_ONCE(dr->is_long && !llc->kept_rkeys); i++) {
		rkey = dr->is_long ? smc_llc_form_rkey(llc->kept_rkeys, i) : dr->rkey[i];
		idx = smc_rtoken_find_rkey(lgr->rtokens, act->link, rkey);
		if (idx >= 0) {
			smc_conn_lose_rmb(lgr, idx);
			continue;
		}
		ev->nr_unknown++;
		if (i < SMC_LLC_DELETE_RKEYS)
			ev->error_mask |= 0x80 >> i;
	}
	smc_llc_msg_drop(&llc->kept_rkeys);
}
