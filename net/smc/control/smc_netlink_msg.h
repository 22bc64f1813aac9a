/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of netlink messages that several dumps have, and their position between two messages. */
#ifndef SMC_NETLINK_MSG_H
#define SMC_NETLINK_MSG_H

#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/smc.h>

#include "rdma/smc_ib.h"

/**
 * struct smc_netlink_cursor - where a dump continues; zero at first
 * @serial: position behind what is completely in the answer; of groups the serial of the last one
 * @part_of: serial of an object that is partly in the answer, or 0
 * @part: next part of that
 */
struct smc_netlink_cursor {
	u64 serial;
	u64 part_of;
	unsigned int part;
};

static_assert(sizeof(struct smc_netlink_cursor) <= sizeof(((struct netlink_callback *)0)->ctx));

static inline struct smc_netlink_cursor *smc_netlink_cursor(struct netlink_callback *cb)
{
	return (struct smc_netlink_cursor *)cb->ctx;
}

/*
 * Adds the next object at position @at of a dump to a message, and moves the position. Returns 1,
 * 0 if there is no further object, or -EMSGSIZE; what it added without 1 is removed.
 */
typedef int smc_netlink_visit(struct sk_buff *skb, struct netlink_callback *cb, u64 *at);

int smc_netlink_dump_each(struct sk_buff *skb, struct netlink_callback *cb,
			  smc_netlink_visit *visit);
void *smc_netlink_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
int smc_netlink_put_uint(struct sk_buff *skb, int type, u64 value);
int smc_netlink_put_padded(struct sk_buff *skb, int type, const u8 *text, unsigned int len);
int smc_netlink_put_gid(struct sk_buff *skb, int type, const u8 gid[16]);
int smc_netlink_put_counts(struct sk_buff *skb, int type, const u64 nr[SMC_IB_NR_COUNTS]);

#endif /* SMC_NETLINK_MSG_H */
