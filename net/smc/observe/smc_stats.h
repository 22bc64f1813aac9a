/* SPDX-License-Identifier: GPL-2.0 */
/* Shows the counters of a namespace. */
#ifndef SMC_STATS_H
#define SMC_STATS_H

#include "rdma/smc_net.h"

u64 smc_stats_get(const struct net *net, enum smc_stat id);
u64 smc_stats_get_fallback(const struct net *net, bool is_server, enum smc_reason reason);
int smc_stats_init_net(struct net *net);
void smc_stats_exit_net(struct net *net);

#endif /* SMC_STATS_H */
