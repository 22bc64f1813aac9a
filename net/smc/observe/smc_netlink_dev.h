/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices in netlink messages. */
#ifndef SMC_NETLINK_DEV_H
#define SMC_NETLINK_DEV_H

struct netlink_callback;
struct sk_buff;

int smc_netlink_dump_dev(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_dump_unfit(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* SMC_NETLINK_DEV_H */
