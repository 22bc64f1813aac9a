/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of a namespace in netlink messages. */
#ifndef SMC_NETLINK_STATS_H
#define SMC_NETLINK_STATS_H

#include <linux/types.h>

struct netlink_callback;
struct sk_buff;

int smc_netlink_put_counter(struct sk_buff *skb, struct netlink_callback *cb, u64 *at);
int smc_netlink_put_stats(struct sk_buff *skb, struct netlink_callback *cb, u64 *at);
int smc_netlink_put_fback(struct sk_buff *skb, struct netlink_callback *cb, u64 *at);

#endif /* SMC_NETLINK_STATS_H */
