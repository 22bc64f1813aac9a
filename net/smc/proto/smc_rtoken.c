// SPDX-License-Identifier: GPL-2.0
/*
 * The peer's RMBs: their keys and addresses on each link, RKEY-22.
 *
 * The caller serialises; the table of a group is under lgr->lock.
 */
#include "proto/smc_llc_flow.h"
#include "proto/smc_rtoken.h"

static_assert(SMC_LLC_LINKS == SMC_LINKS_MAX);

static bool rtoken_has(const struct smc_rtoken *tok, unsigned int link)
{
	return tok->links & BIT(link);
}

/**
 * smc_rtoken_find_rkey() - find the peer's RMB by its key
 * @rt: the table
 * @link: index of the link the key is for
 * @rkey: the key
 *
 * Return: index in the table, or -ENOENT.
 */
int smc_rtoken_find_rkey(const struct smc_rtokens *rt, unsigned int link, u32 rkey)
{
	unsigned int i;

	for (i = 0; i < SMC_RTOKEN_RMBS; i++)
		if (rtoken_has(&rt->tok[i], link) &&
		    rt->tok[i].rkey[link] == rkey)
			return i;
	return -ENOENT;
}

/**
 * smc_rtoken_find() - find the peer's RMB by its key and address
 * @rt: the table
 * @link: index of the link they are for
 * @rkey: the key
 * @vaddr: the address
 *
 * Return: index in the table, or -ENOENT. SC-07, RKEY-24.
 */
int smc_rtoken_find(const struct smc_rtokens *rt, unsigned int link, u32 rkey, u64 vaddr)
{
	int i = smc_rtoken_find_rkey(rt, link, rkey);

	return i < 0 || rt->tok[i].vaddr[link] == vaddr ? i : -ENOENT;
}

/**
 * smc_rtoken_set() - set the key and address of a known RMB on a link
 * @rt: the table
 * @idx: the RMB, from smc_rtoken_add() or a find function
 * @link: index of the link they are for
 * @rkey: the key
 * @vaddr: the address
 *
 * Return: 0, also if they are known already; -EEXIST if the key names another
 *	   RMB on that link, or the RMB has another token there. RKEY-22.
 */
int smc_rtoken_set(struct smc_rtokens *rt, unsigned int idx, unsigned int link, u32 rkey, u64 vaddr)
{
	struct smc_rtoken *tok = &rt->tok[idx];
	int known;

	known = smc_rtoken_find_rkey(rt, link, rkey);
	if (known >= 0)
		return known == idx && tok->vaddr[link] == vaddr ? 0 : -EEXIST;
	if (rtoken_has(tok, link))
		return -EEXIST;
	tok->rkey[link] = rkey;
	tok->vaddr[link] = vaddr;
	tok->links |= BIT(link);
	return 0;
}

/**
 * smc_rtoken_add() - add an RMB that the peer announced
 * @rt: the table
 * @link: index of the link the token is for
 * @rkey: its key there
 * @vaddr: its address there
 *
 * A repeated token keeps its index. smc_rtoken_set() adds the RMB's tokens of other links.
 *
 * Return: index in the table; -EEXIST if the key is in use with another
 *	   address; -ENOSPC if the peer has SMC_RTOKEN_RMBS RMBs (RMB-01).
 */
int smc_rtoken_add(struct smc_rtokens *rt, unsigned int link, u32 rkey, u64 vaddr)
{
	unsigned int i;
	int known;
	int rc;

	known = smc_rtoken_find_rkey(rt, link, rkey);
	if (known >= 0)
		return rt->tok[known].vaddr[link] == vaddr ? known : -EEXIST;
	for (i = 0; i < SMC_RTOKEN_RMBS; i++) {
		if (rt->tok[i].links)
			continue;
		rc = smc_rtoken_set(rt, i, link, rkey, vaddr);
		return rc ? rc : i;
	}
	return -ENOSPC;
}

/**
 * smc_rtoken_is_known() - check whether the peer announced an RMB on a link
 * @rt: the table
 * @idx: the RMB
 * @link: the link's index
 *
 * Return: true if it may be written to there.
 */
bool smc_rtoken_is_known(const struct smc_rtokens *rt, unsigned int idx, unsigned int link)
{
	return rtoken_has(&rt->tok[idx], link);
}

/**
 * smc_rtoken_del() - delete an RMB of the peer on all links
 * @rt: the table
 * @idx: the RMB; free afterwards
 */
void smc_rtoken_del(struct smc_rtokens *rt, unsigned int idx)
{
	memset(&rt->tok[idx], 0, sizeof(rt->tok[idx]));
}

/**
 * smc_rtoken_store() - store the keys of a new RMB of the peer, all or none
 * @rt: the table
 * @keys: its token on every link
 *
 * Context: Any context.
 * Return: false if the table is full or has a conflicting entry. RKEY-04 to RKEY-13.
 */
bool smc_rtoken_store(struct smc_rtokens *rt, const struct smc_llc_rkeys *keys)
{
	const struct smc_llc_rtoken *tok = &keys->rtoken[0];
	bool is_new = smc_rtoken_find(rt, tok->link_num, tok->rkey, tok->vaddr) < 0;
	int idx = smc_rtoken_add(rt, tok->link_num, tok->rkey, tok->vaddr);
	u8 i;

	if (idx < 0)
		return false;
	for (i = 1; i < keys->count; i++) {
		tok = &keys->rtoken[i];
		if (!smc_rtoken_set(rt, idx, tok->link_num, tok->rkey, tok->vaddr))
			continue;
		if (is_new)
			smc_rtoken_del(rt, idx);
		return false;
	}
	return true;
}

/**
 * smc_rtoken_del_link() - delete all tokens of a link that is gone
 * @rt: the table
 * @link: the link's index
 *
 * Also deletes RMBs that are left without a token.
 */
void smc_rtoken_del_link(struct smc_rtokens *rt, unsigned int link)
{
	unsigned int i;

	for (i = 0; i < SMC_RTOKEN_RMBS; i++) {
		struct smc_rtoken *tok = &rt->tok[i];

		if (!rtoken_has(tok, link))
			continue;
		tok->links &= ~BIT(link);
		tok->rkey[link] = 0;
		tok->vaddr[link] = 0;
		if (!tok->links)
			smc_rtoken_del(rt, i);
	}
}
