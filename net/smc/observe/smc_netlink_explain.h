/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink messages that say why a connection would use SMC or TCP. */
#ifndef SMC_NETLINK_EXPLAIN_H
#define SMC_NETLINK_EXPLAIN_H

#include <linux/smc.h>
#include <net/genetlink.h>

extern const struct nla_policy smc_netlink_explain_policy[SMC_NLA_EXPLAIN_PEER_PORT + 1];

int smc_netlink_dump_explain(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* SMC_NETLINK_EXPLAIN_H */
