/* SPDX-License-Identifier: GPL-2.0 */
/* The policy of a namespace in netlink messages. */
#ifndef SMC_NETLINK_POLICY_H
#define SMC_NETLINK_POLICY_H

#include <linux/smc.h>
#include <net/genetlink.h>

extern const struct nla_policy smc_netlink_policy_add[SMC_NLA_POLICY_MAX + 1];
extern const struct nla_policy smc_netlink_policy_del[SMC_NLA_POLICY_MAX + 1];

int smc_netlink_dump_policy(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_add_policy(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_del_policy(struct sk_buff *skb, struct genl_info *info);
int smc_netlink_flush_policy(struct sk_buff *skb, struct genl_info *info);

#endif /* SMC_NETLINK_POLICY_H */
