/* SPDX-License-Identifier: GPL-2.0 */
/* The policy of a namespace in netlink messages. */
#ifndef SMC_NETLINK_POLICY_H
#define SMC_NETLINK_POLICY_H

#include <linux/smc.h>
#include <net/genetlink.h>

int smc_netlink_dump_policy(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_add_policy(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_del_policy(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_flush_policy(struct sk_buff *skb, struct genl_info *info);

#endif /* SMC_NETLINK_POLICY_H */
