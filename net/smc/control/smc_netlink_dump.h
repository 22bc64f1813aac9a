/* SPDX-License-Identifier: GPL-2.0 */
/* Dumps of generic netlink. */
#ifndef SMC_NETLINK_DUMP_H
#define SMC_NETLINK_DUMP_H

struct netlink_callback;
struct sk_buff;

int smc_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* SMC_NETLINK_DUMP_H */
