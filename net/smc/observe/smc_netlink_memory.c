// SPDX-License-Identifier: GPL-2.0
/*
 * What a namespace remembers, in netlink messages: connections that became TCP, also those that
 * are gone, and the hosts and services to which connections use TCP. Messages are like the events
 * that reported them.
 */
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "rdma/smc_peer.h"
#include "sock/smc_fallback.h"
#include "observe/smc_netlink_memory.h"
#include "observe/smc_netlink_msg.h"

static_assert((int)SMC_PEER_FIRST_CONTACT == SMC_PEER_NO_PATH);
static_assert((int)SMC_PEER_HAS_WORKED == SMC_PEER_LOST_PATH);
static_assert((int)SMC_PEER_ROUTED_PATH == SMC_PEER_NO_ROUTE);

/* @diagnosis: the peer's, 0 for none. @age_ms: 0 if the reason was found now */
static int memory_put_reason(struct sk_buff *skb, u32 reason, u32 diagnosis, u32 age_ms)
{
	if (nla_put_u32(skb, SMC_NLA_EVENT_REASON, reason) ||
	    nla_put_string(skb, SMC_NLA_EVENT_TEXT, smc_nego_reason_text(reason)) ||
	    (diagnosis && nla_put_u32(skb, SMC_NLA_EVENT_PEER_DIAGNOSIS, diagnosis)))
		return -EMSGSIZE;
	return age_ms ? nla_put_u32(skb, SMC_NLA_EVENT_AGE_MS, age_ms) : 0;
}

static int memory_put_addr(struct sk_buff *skb, int type, u8 family, const __be32 addr[4])
{
	struct in6_addr in6;

	if (family == AF_INET6)
		memcpy(&in6, addr, sizeof(in6));
	else
		ipv6_addr_set_v4mapped(addr[0], &in6);
	return nla_put_in6_addr(skb, type, &in6);
}

static int memory_put_record(struct sk_buff *skb, const void *what)
{
	const struct smc_fallback_record *rec = what;
	const struct inet_diag_sockid *id = &rec->msg.id;

	if (nla_put_u64_64bit(skb, SMC_NLA_EVENT_TIME, rec->time_ns, SMC_NLA_EVENT_PAD) ||
	    memory_put_reason(skb, rec->reason, rec->peer_diagnosis, rec->memory_age_ms) ||
	    nla_put_u8(skb, SMC_NLA_EVENT_ROLE, rec->is_server) ||
	    memory_put_addr(skb, SMC_NLA_EVENT_ADDR, rec->msg.family, id->idiag_src) ||
	    nla_put_u16(skb, SMC_NLA_EVENT_PORT, ntohs(id->idiag_sport)) ||
	    memory_put_addr(skb, SMC_NLA_EVENT_PEER_ADDR, rec->msg.family, id->idiag_dst) ||
	    nla_put_u16(skb, SMC_NLA_EVENT_PEER_PORT, ntohs(id->idiag_dport)))
		return -EMSGSIZE;
	return nla_put_u64_64bit(skb, SMC_NLA_EVENT_COOKIE,
				 id->idiag_cookie[0] | (u64)id->idiag_cookie[1] << 32,
				 SMC_NLA_EVENT_PAD);
}

static int memory_put_peer(struct sk_buff *skb, const void *what)
{
	const struct smc_peer_entry *entry = what;

	if (memory_put_reason(skb, entry->reason, entry->diagnosis, entry->age_ms) ||
	    nla_put_in6_addr(skb, SMC_NLA_EVENT_PEER_ADDR, &entry->addr) ||
	    nla_put_u32(skb, SMC_NLA_EVENT_MS, entry->left_ms))
		return -EMSGSIZE;
	if (entry->port)
		return nla_put_u16(skb, SMC_NLA_EVENT_PEER_PORT, entry->port);
	return nla_put_u8(skb, SMC_NLA_EVENT_FAILURE, entry->failure);
}

/* Return: false without room; then the dump continues with this entry. */
static bool memory_put_msg(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			   int (*put)(struct sk_buff *skb, const void *what), const void *what)
{
	void *head = smc_netlink_begin(skb, cb, cmd);
	struct nlattr *nest;

	if (!head)
		return false;
	nest = nla_nest_start(skb, SMC_GEN_EVENT);
	if (!nest || put(skb, what)) {
		genlmsg_cancel(skb, head);
		return false;
	}
	nla_nest_end(skb, nest);
	genlmsg_end(skb, head);
	return true;
}

/**
 * smc_netlink_dump_history() - SMC_NETLINK_DUMP_HISTORY: one message for each connection
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context.
 * Return: bytes in @skb, 0 at the end.
 */
int smc_netlink_dump_history(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_netlink_cursor *at = smc_netlink_cursor(cb);
	u64 next = at->serial;
	struct smc_fallback_record rec;

	while (smc_fallback_read(sock_net(skb->sk), &next, &rec) &&
	       memory_put_msg(skb, cb, SMC_NETLINK_DUMP_HISTORY, memory_put_record, &rec))
		at->serial = next;
	return skb->len;
}

/**
 * smc_netlink_dump_peers() - SMC_NETLINK_DUMP_PEERS: one message for each host or service
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context.
 * Return: bytes in @skb, 0 at the end.
 */
int smc_netlink_dump_peers(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_netlink_cursor *at = smc_netlink_cursor(cb);
	unsigned int next = at->part;
	struct smc_peer_entry entry;

	while (smc_peer_next(sock_net(skb->sk), &next, &entry) &&
	       memory_put_msg(skb, cb, SMC_NETLINK_DUMP_PEERS, memory_put_peer, &entry))
		at->part = next;
	return skb->len;
}

/**
 * smc_netlink_forget_peer() - SMC_NETLINK_FORGET_PEER
 * @skb: the request
 * @info: its attributes
 *
 * Context: Process context.
 * Return: 0; -EINVAL without an address; -ENOENT if nothing was remembered.
 */
int smc_netlink_forget_peer(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *addr = info->attrs[SMC_NLA_EVENT_PEER_ADDR];
	const struct nlattr *port = info->attrs[SMC_NLA_EVENT_PEER_PORT];
	struct in6_addr peer;

	if (!addr) {
		GENL_SET_ERR_MSG(info, "a host is named by its address");
		return -EINVAL;
	}
	peer = nla_get_in6_addr(addr);
	if (smc_peer_clear(genl_info_net(info), &peer, port ? nla_get_u16(port) : 0))
		return 0;
	GENL_SET_ERR_MSG(info, "nothing is remembered of that");
	return -ENOENT;
}

/**
 * smc_netlink_flush_peers() - SMC_NETLINK_FLUSH_PEERS
 * @skb: the request
 * @info: of the request
 *
 * Context: Process context.
 * Return: 0.
 */
int smc_netlink_flush_peers(struct sk_buff *skb, struct genl_info *info)
{
	smc_peer_clear(genl_info_net(info), NULL, 0);
	return 0;
}
