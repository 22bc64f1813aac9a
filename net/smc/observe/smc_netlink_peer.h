/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of peers in netlink messages. */
#ifndef SMC_NETLINK_PEER_H
#define SMC_NETLINK_PEER_H

struct netlink_callback;
struct sk_buff;

int smc_netlink_start_peer_stats(struct netlink_callback *cb);
int smc_netlink_dump_peer_stats(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_done_peer_stats(struct netlink_callback *cb);

#endif /* SMC_NETLINK_PEER_H */
