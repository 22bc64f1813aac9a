/* SPDX-License-Identifier: GPL-2.0 */
/* What a namespace remembers, in netlink messages. */
#ifndef SMC_NETLINK_MEMORY_H
#define SMC_NETLINK_MEMORY_H

#include <linux/smc.h>
#include <net/genetlink.h>

int smc_netlink_dump_history(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_dump_peers(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_forget_peer(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_flush_peers(struct sk_buff *skb, struct genl_info *info);

#endif /* SMC_NETLINK_MEMORY_H */
