/* SPDX-License-Identifier: GPL-2.0 */
/* Rules for the links of a group: classes of links, choice of RNICs, link numbers. */
#ifndef _SMC_LLC_LINKS_H
#define _SMC_LLC_LINKS_H

#include "proto/smc_llc_flow.h"

bool smc_llc_same_rnic(const struct smc_llc_end *a, const struct smc_llc_end *b);
bool smc_llc_is_parallel(const struct smc_llc_flow *flow, const struct smc_llc_end *local,
			 const struct smc_llc_end *peer);
bool smc_llc_is_allowed(const struct smc_llc_flow *flow, const struct smc_llc_end *local,
			const struct smc_llc_end *peer);
unsigned int smc_llc_nr_in(const struct smc_llc_flow *flow, enum smc_llc_link_state state);
unsigned int smc_llc_nr_in_use(const struct smc_llc_flow *flow);
unsigned int smc_llc_nr_symmetric(const struct smc_llc_flow *flow);
u8 smc_llc_superfluous(const struct smc_llc_flow *flow);
u8 smc_llc_outdated(const struct smc_llc_flow *flow);
bool smc_llc_pick_offer(struct smc_llc_flow *flow, struct smc_llc_end *end);
bool smc_llc_pick_answer(struct smc_llc_flow *flow, struct smc_llc_end *end);
bool smc_llc_has_unused_rnic(const struct smc_llc_flow *flow);
bool smc_llc_pick_notice(const struct smc_llc_flow *flow, struct smc_llc_end *end);
struct smc_llc_candidate *smc_llc_candidate(struct smc_llc_flow *flow,
					    const struct smc_llc_end *end);
void smc_llc_count_offer(struct smc_llc_flow *flow, const struct smc_llc_end *end);
void smc_llc_offer_linked(struct smc_llc_flow *flow, const struct smc_llc_end *end);
void smc_llc_readmit_candidates(struct smc_llc_flow *flow);
bool smc_llc_set_rnics(struct smc_llc_flow *flow, const struct smc_llc_rnics *rnics);
bool smc_llc_is_deleted(const struct smc_llc_flow *flow, u8 num);
void smc_llc_set_deleted(struct smc_llc_flow *flow, u8 num, bool is_deleted);

#endif /* _SMC_LLC_LINKS_H */
