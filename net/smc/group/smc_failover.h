/* SPDX-License-Identifier: GPL-2.0 */
/* Fail-over: connections change their link. */
#ifndef SMC_FAILOVER_H
#define SMC_FAILOVER_H

#include "group/smc_core.h"

void smc_failover_init(struct smc_link_group *lgr);
void smc_failover_queue(struct smc_link_group *lgr);
void smc_failover_quiesce(struct smc_link *link);
unsigned long smc_failover_spread(struct smc_link_group *lgr, unsigned long links);
void smc_failover_link_drained(struct smc_link *link);
int smc_failover_set_target(struct smc_conn *conn);

#endif /* SMC_FAILOVER_H */
