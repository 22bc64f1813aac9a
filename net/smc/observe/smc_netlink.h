/* SPDX-License-Identifier: GPL-2.0 */
/* Generic netlink: configuration by user tools. */
#ifndef SMC_NETLINK_H
#define SMC_NETLINK_H

int smc_netlink_init(void);
void smc_netlink_exit(void);

#endif /* SMC_NETLINK_H */
