/* SPDX-License-Identifier: GPL-2.0 */
/* The keys of the peer's RMBs, from LLC messages. */
#ifndef _SMC_LLC_RTOKEN_H
#define _SMC_LLC_RTOKEN_H

#include "group/smc_core.h"

bool smc_llc_rtoken_store(struct smc_link_group *lgr, const struct smc_llc_rkeys *keys);
bool smc_llc_rtoken_store_pairs(struct smc_link_group *lgr, const struct smc_llc_action *act);
void smc_llc_rtoken_delete(struct smc_link_group *lgr, const struct smc_llc_action *act,
			   struct smc_llc_event *ev);

#endif /* _SMC_LLC_RTOKEN_H */
