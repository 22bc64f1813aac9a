/* SPDX-License-Identifier: GPL-2.0 */
/* Dumps of generic netlink. */
#ifndef SMC_NETLINK_DUMP_H
#define SMC_NETLINK_DUMP_H

#include <linux/types.h>

struct netlink_callback;
struct sk_buff;
struct smc_link;
struct smc_link_group;

int smc_netlink_put_lgr(struct sk_buff *skb, struct smc_link_group *lgr, bool has_links);
int smc_netlink_put_link(struct sk_buff *skb, const struct smc_link *link);
int smc_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* SMC_NETLINK_DUMP_H */
