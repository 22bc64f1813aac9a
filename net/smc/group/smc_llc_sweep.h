/* SPDX-License-Identifier: GPL-2.0 */
/* Idle regions leave their group. */
#ifndef _SMC_LLC_SWEEP_H
#define _SMC_LLC_SWEEP_H

#include "group/smc_core.h"

void smc_llc_sweep_end_grow(struct smc_link_group *lgr);
unsigned long smc_llc_idle_mem(const struct smc_link_group *lgr);
unsigned long smc_llc_reclaim(struct smc_link_group *lgr, unsigned long want);
void smc_llc_trim(struct smc_link_group *lgr);

/* for the engine */
void smc_llc_sweep_init(struct smc_link_group *lgr);
void smc_llc_sweep_start(struct smc_link_group *lgr);
u64 smc_llc_sweep_due(struct smc_link_group *lgr);
void smc_llc_sweep_check(struct smc_link_group *lgr);

#endif /* _SMC_LLC_SWEEP_H */
