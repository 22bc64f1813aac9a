/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of a namespace in netlink messages. */
#ifndef SMC_NETLINK_STATS_H
#define SMC_NETLINK_STATS_H

struct netlink_callback;
struct sk_buff;

int smc_netlink_dump_stats(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_dump_counters(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_dump_fback(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* SMC_NETLINK_STATS_H */
