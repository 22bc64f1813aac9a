/* SPDX-License-Identifier: GPL-2.0 */
/* Link groups and links in netlink messages. */
#ifndef SMC_NETLINK_LGR_H
#define SMC_NETLINK_LGR_H

#include <linux/smc.h>
#include <net/genetlink.h>

#include "group/smc_core.h"

int smc_netlink_put_lgr(struct sk_buff *skb, struct smc_link_group *lgr, bool has_links);
int smc_netlink_put_link(struct sk_buff *skb, const struct smc_link *link);
int smc_netlink_dump_lgr(struct sk_buff *skb, struct netlink_callback *cb);
int smc_netlink_dump_link(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* SMC_NETLINK_LGR_H */
