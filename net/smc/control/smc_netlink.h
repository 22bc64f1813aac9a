/* SPDX-License-Identifier: GPL-2.0 */
/* Generic netlink: state for user tools, and their configuration. */
#ifndef SMC_NETLINK_H
#define SMC_NETLINK_H

struct genl_family;

extern struct genl_family smc_netlink_family;

int smc_netlink_init(void);
void smc_netlink_exit(void);

#endif /* SMC_NETLINK_H */
