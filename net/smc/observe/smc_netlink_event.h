/* SPDX-License-Identifier: GPL-2.0 */
/* Events in a multicast group of generic netlink. */
#ifndef SMC_NETLINK_EVENT_H
#define SMC_NETLINK_EVENT_H

int smc_netlink_event_init(void);
void smc_netlink_event_exit(void);

#endif /* SMC_NETLINK_EVENT_H */
