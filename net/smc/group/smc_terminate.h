/* SPDX-License-Identifier: GPL-2.0 */
/* Activation and end of a link group. */
#ifndef SMC_TERMINATE_H
#define SMC_TERMINATE_H

#include "group/smc_core.h"

void smc_lgr_activate(struct smc_link_group *lgr);
void smc_lgr_fail(struct smc_link_group *lgr, enum smc_decline decline);
void smc_lgr_terminate(struct smc_link_group *lgr, const char *why);
void smc_lgr_terminate_all(struct net *net);

#endif /* SMC_TERMINATE_H */
