// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of each peer in netlink messages: sums over its link groups, in both roles.
 *
 * A peer is a peer ID at a TCP address. A dump shows the groups that are active when it begins, so
 * its parts agree with each other. The counters of a group go with the group.
 */
#include <linux/list_sort.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "smc_compat.h"
#include "group/smc_core.h"
#include "observe/smc_netlink_lgr.h"
#include "observe/smc_netlink_msg.h"
#include "observe/smc_netlink_peer.h"

/**
 * struct smc_netlink_peer - sums over groups with one peer
 * @node: in &struct smc_netlink_peers.list
 * @id: its peer ID
 * @addr: its TCP address, IPv4 mapped
 * @host: what it says about itself in version 2
 * @gid: of the first group: the GID of its RNIC
 * @nr_lgrs: groups
 * @nr_links: links that carry data
 * @nr_conns: connections
 * @counts: of all links so far
 */
struct smc_netlink_peer {
	struct list_head node;
	u8 id[8];
	struct in6_addr addr;
	struct smc_clc_fce host;
	u8 gid[16];
	u32 nr_lgrs;
	u32 nr_links;
	u32 nr_conns;
	u64 counts[SMC_IB_NR_COUNTS];
};

/* What a dump has still to show. */
struct smc_netlink_peers {
	struct list_head list;
};

static_assert(sizeof(struct smc_netlink_peers) <= sizeof(((struct netlink_callback *)0)->ctx));

static struct smc_netlink_peers *peers_of(struct netlink_callback *cb)
{
	return (struct smc_netlink_peers *)cb->ctx;
}

static int peers_compare(void *unused, const struct list_head *a, const struct list_head *b)
{
	const struct smc_netlink_peer *x = list_entry(a, struct smc_netlink_peer, node);
	const struct smc_netlink_peer *y = list_entry(b, struct smc_netlink_peer, node);

	return memcmp(&x->addr, &y->addr, sizeof(x->addr)) ?: memcmp(x->id, y->id, sizeof(x->id));
}

/* Groups that are not active have no entry. */
static int peers_add(struct smc_netlink_peers *peers, struct smc_link_group *lgr)
{
	struct smc_netlink_peer *peer;

	if (READ_ONCE(lgr->state) != SMC_LGR_ACTIVE)
		return 0;
	peer = kzalloc(sizeof(*peer), GFP_KERNEL_ACCOUNT);
	if (!peer)
		return -ENOMEM;
	memcpy(peer->id, lgr->peer_name, sizeof(peer->id));
	memcpy(peer->gid, lgr->key.peer_gid, sizeof(peer->gid));
	peer->addr = lgr->key.peer_addr;
	peer->host = lgr->peer_host;
	peer->nr_lgrs = 1;
	peer->nr_conns = READ_ONCE(lgr->nr_conns);
	scoped_guard(mutex, &lgr->lock)
		peer->nr_links = smc_netlink_add_counts(lgr, peer->counts);
	list_add_tail(&peer->node, &peers->list);
	return 0;
}

/* Adds @from to @to and frees it. */
static void peers_merge(struct smc_netlink_peer *to, struct smc_netlink_peer *from)
{
	int i;

	to->nr_lgrs += from->nr_lgrs;
	to->nr_links += from->nr_links;
	to->nr_conns += from->nr_conns;
	for (i = 0; i < SMC_IB_NR_COUNTS; i++)
		to->counts[i] += from->counts[i];
	list_del(&from->node);
	kfree(from);
}

/**
 * smc_netlink_start_peer_stats() - take the sums for SMC_NETLINK_GET_PEER_STATS
 * @cb: the dump
 *
 * Context: Process context, may sleep. Takes lgr->lock.
 * Return: 0 or -ENOMEM.
 */
int smc_netlink_start_peer_stats(struct netlink_callback *cb)
{
	const struct net *net = sock_net(cb->skb->sk);
	struct smc_netlink_peers *peers = peers_of(cb);
	struct smc_netlink_peer *peer, *next;
	struct smc_link_group *lgr = NULL;
	int rc = 0;

	INIT_LIST_HEAD(&peers->list);
	while (!rc && (lgr = smc_lgr_next(net, lgr, 0)))
		rc = peers_add(peers, lgr);
	if (lgr)
		smc_lgr_put(lgr);
	if (rc) {
		smc_netlink_done_peer_stats(cb);
		return rc;
	}
	/* stable: the first group of a peer stays in front */
	list_sort(NULL, &peers->list, peers_compare);
	list_for_each_entry_safe(peer, next, &peers->list, node)
		while (!list_entry_is_head(next, &peers->list, node) &&
		       !peers_compare(NULL, &peer->node, &next->node)) {
			peers_merge(peer, next);
			next = list_next_entry(peer, node);
		}
	return 0;
}

/**
 * smc_netlink_done_peer_stats() - end the dump
 * @cb: the dump
 *
 * Context: Process context.
 * Return: 0.
 */
int smc_netlink_done_peer_stats(struct netlink_callback *cb)
{
	struct smc_netlink_peer *peer, *next;

	list_for_each_entry_safe(peer, next, &peers_of(cb)->list, node)
		kfree(peer);
	INIT_LIST_HEAD(&peers_of(cb)->list);
	return 0;
}

static int peers_put(struct sk_buff *skb, const struct smc_netlink_peer *peer)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_PEER_STATS);

	if (!nest ||
	    nla_put(skb, SMC_NLA_PEER_ID, sizeof(peer->id), peer->id) ||
	    nla_put_in6_addr(skb, SMC_NLA_PEER_ADDR, &peer->addr) ||
	    smc_netlink_put_gid(skb, SMC_NLA_PEER_GID, peer->gid) ||
	    smc_netlink_put_padded(skb, SMC_NLA_PEER_HOST, peer->host.host,
				   sizeof(peer->host.host)) ||
	    nla_put_u32(skb, SMC_NLA_PEER_LGRS, peer->nr_lgrs) ||
	    nla_put_u32(skb, SMC_NLA_PEER_LINKS, peer->nr_links) ||
	    nla_put_u32(skb, SMC_NLA_PEER_CONNS, peer->nr_conns) ||
	    smc_netlink_put_counts(skb, SMC_NLA_PEER_COUNTS, peer->counts))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * smc_netlink_dump_peer_stats() - SMC_NETLINK_GET_PEER_STATS: a message for each peer
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context.
 * Return: bytes in @skb, 0 at the end, or -EMSGSIZE if not even one message has room.
 */
int smc_netlink_dump_peer_stats(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_netlink_peer *peer, *next;
	void *head;

	list_for_each_entry_safe(peer, next, &peers_of(cb)->list, node) {
		head = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_PEER_STATS);
		if (!head)
			return skb->len ?: -EMSGSIZE;
		if (peers_put(skb, peer)) {
			genlmsg_cancel(skb, head);
			return skb->len ?: -EMSGSIZE;
		}
		genlmsg_end(skb, head);
		list_del(&peer->node);
		kfree(peer);
	}
	return skb->len;
}
