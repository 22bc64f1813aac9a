/* SPDX-License-Identifier: GPL-2.0 */
/* Events in a multicast group of generic netlink. */
#ifndef SMC_NETLINK_EVENT_H
#define SMC_NETLINK_EVENT_H

/* Multicast groups of the family */
enum smc_netlink_group {
	SMC_NETLINK_GROUP_EVENTS,
	SMC_NETLINK_GROUP_ENDS,
};

struct smc_event;

void smc_netlink_event(const struct smc_event *event);

#endif /* SMC_NETLINK_EVENT_H */
