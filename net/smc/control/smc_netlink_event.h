/* SPDX-License-Identifier: GPL-2.0 */
/* Events in a multicast group of generic netlink. */
#ifndef SMC_NETLINK_EVENT_H
#define SMC_NETLINK_EVENT_H

struct smc_event;

void smc_netlink_event(const struct smc_event *event);

#endif /* SMC_NETLINK_EVENT_H */
