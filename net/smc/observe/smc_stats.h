/* SPDX-License-Identifier: GPL-2.0 */
/* Shows the counters of a namespace. */
#ifndef SMC_STATS_H
#define SMC_STATS_H

struct net;

int smc_stats_init_net(struct net *net);
void smc_stats_exit_net(struct net *net);

#endif /* SMC_STATS_H */
