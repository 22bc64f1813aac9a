/* SPDX-License-Identifier: GPL-2.0 */
/* The peer's RMBs: their keys and addresses on each link. */
#ifndef SMC_RTOKEN_H
#define SMC_RTOKEN_H

#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#define SMC_LINKS_MAX		9	/* eight symmetric and one asymmetric, AMB-61 */
#define SMC_RTOKEN_RMBS		255	/* RMB-01 */
#define SMC_RTOKEN_ELEMS	255	/* RMB-02 */

/* One RMB of the peer: its key and address on each link, RKEY-22. */
struct smc_rtoken {
	u64 vaddr[SMC_LINKS_MAX];
	u32 rkey[SMC_LINKS_MAX];
	u16 links;			/* bit per link index with a valid pair */
	DECLARE_BITMAP(in_use, SMC_RTOKEN_ELEMS + 1);	/* by element index */
};

struct smc_llc_rkeys;

struct smc_rtokens {
	struct smc_rtoken tok[SMC_RTOKEN_RMBS];
};

/* documented in Documentation/operations.md */
static_assert(sizeof(struct smc_rtokens) < 40 << 10);

int smc_rtoken_add(struct smc_rtokens *rt, unsigned int link, u32 rkey, u64 vaddr);
int smc_rtoken_set(struct smc_rtokens *rt, unsigned int idx, unsigned int link,
		   u32 rkey, u64 vaddr);
bool smc_rtoken_store(struct smc_rtokens *rt, const struct smc_llc_rkeys *keys);
int smc_rtoken_find(const struct smc_rtokens *rt, unsigned int link, u32 rkey, u64 vaddr);
int smc_rtoken_find_rkey(const struct smc_rtokens *rt, unsigned int link, u32 rkey);
bool smc_rtoken_is_known(const struct smc_rtokens *rt, unsigned int idx, unsigned int link);
void smc_rtoken_del(struct smc_rtokens *rt, unsigned int idx);
void smc_rtoken_del_link(struct smc_rtokens *rt, unsigned int link);

#endif /* SMC_RTOKEN_H */
