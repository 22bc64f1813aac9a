/* SPDX-License-Identifier: GPL-2.0 */
/* Settings of a namespace, net.smc. */
#ifndef SMC_SYSCTL_H
#define SMC_SYSCTL_H

struct net;

int smc_sysctl_init_net(struct net *net);
void smc_sysctl_exit_net(struct net *net);

#endif /* SMC_SYSCTL_H */
