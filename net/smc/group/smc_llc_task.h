/* SPDX-License-Identifier: GPL-2.0 */
/* Work on links that may take seconds. */
#ifndef _SMC_LLC_TASK_H
#define _SMC_LLC_TASK_H

#include "group/smc_core.h"

void smc_llc_task_init(struct smc_link_group *lgr);
void smc_llc_task_create(struct smc_link_group *lgr, const struct smc_llc_action *act);
void smc_llc_task_prepare(struct smc_link_group *lgr, const struct smc_llc_action *act);
void smc_llc_task_do(struct smc_link_group *lgr, u8 index, enum smc_llc_todo todo);

#endif /* _SMC_LLC_TASK_H */
