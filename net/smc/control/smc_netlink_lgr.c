// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups and links in netlink messages: two dumps, parts of events, and the order to end a
 * link.
 *
 * A dump shows the active groups of the caller's namespace in order of formation. It may need
 * several reads: the serial of the last group says where it continues, so groups that come and go
 * meanwhile neither repeat others nor hide them. The links of a group follow it by their place.
 * Deployed tools take links for those of the last group that they have read.
 */
#include <net/genetlink.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "group/smc_llc.h"
#include "control/smc_netlink_lgr.h"
#include "control/smc_netlink_msg.h"

/* Attributes of SMC_NETLINK_END_LINK */
static int lgr_put_host(struct sk_buff *skb, const struct smc_link_group *lgr)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_NLA_LGR_R_V2_COMMON);
	const struct smc_clc_fce *host = &lgr->peer_host;

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_VER, lgr->params.version) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_REL, host->release) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_OS, host->os) ||
	    smc_netlink_put_padded(skb, SMC_NLA_LGR_V2_NEG_EID, lgr->params.eid,
				   sizeof(lgr->params.eid)) ||
	    smc_netlink_put_padded(skb, SMC_NLA_LGR_V2_PEER_HOST, host->host,
				   sizeof(host->host)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int lgr_put_limits(struct sk_buff *skb, const struct smc_link_group *lgr)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_NLA_LGR_R_V2);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_DIRECT, lgr->peer_host.is_direct) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_CONNS, lgr->params.max_conns) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_V2_MAX_LINKS, lgr->params.max_links))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* That of the port of the first link, const once the group looks for further ports. */
static const char *lgr_pnetid(const struct smc_link_group *lgr)
{
	/* pairs with smp_store_release() in llc_ports_follow() */
	return smp_load_acquire(&lgr->llc.wants_links) ? lgr->llc.lan.pnet.text : "";
}

/* The attributes that deployed tools know. */
static int lgr_put_known(struct sk_buff *skb, const struct smc_link_group *lgr)
{
	const struct smc_lgr_key *key = &lgr->key;

	if (nla_put_u32(skb, SMC_NLA_LGR_R_ID, lgr->id) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_ROLE, key->role) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_TYPE, READ_ONCE(lgr->type)) ||
	    nla_put_string(skb, SMC_NLA_LGR_R_PNETID, lgr_pnetid(lgr)) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_VLAN_ID, key->vlan) ||
	    nla_put_u32(skb, SMC_NLA_LGR_R_CONNS_NUM, READ_ONCE(lgr->nr_conns)) ||
	    nla_put_u64_64bit(skb, SMC_NLA_LGR_R_NET_COOKIE, key->net->net_cookie,
			      SMC_NLA_LGR_R_PAD) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_BUF_TYPE, SMC_LGR_BUF_VIRTUAL))
		return -EMSGSIZE;
	/* version 2 has an EID */
	if (!lgr->params.eid[0])
		return 0;
	return lgr_put_host(skb, lgr) ?: lgr_put_limits(skb, lgr);
}

static int lgr_put_more(struct sk_buff *skb, const struct smc_link_group *lgr)
{
	const struct smc_params *params = &lgr->params;

	if (nla_put_u16(skb, SMC_NLA_LGR_R_VLAN, lgr->key.vlan) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_VERSION, params->version) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_RELEASE, params->release) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_DIALECT, params->dialect) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_IMMEDIATE,
		       !!(READ_ONCE(lgr->ext) & SMC_LLC_EXT_IMMEDIATE)) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_CONNS_MAX, params->max_conns) ||
	    nla_put_u8(skb, SMC_NLA_LGR_R_LINKS_MAX, params->max_links) ||
	    nla_put(skb, SMC_NLA_LGR_R_PEER_ID, sizeof(lgr->peer_name), lgr->peer_name) ||
	    nla_put_in6_addr(skb, SMC_NLA_LGR_R_PEER_ADDR, &lgr->key.peer_addr))
		return -EMSGSIZE;
	return 0;
}

static int lgr_put_memory(struct sk_buff *skb, struct smc_link_group *lgr)
{
	u64 sends = 0, sends_used = 0, rmbs = 0, rmbs_used = 0;

	smc_buf_pool_usage(&lgr->sends, &sends, &sends_used);
	smc_buf_pool_usage(&lgr->rmbs, &rmbs, &rmbs_used);
	if (smc_netlink_put_uint(skb, SMC_NLA_LGR_R_SNDBUF_ALLOC, sends) ||
	    smc_netlink_put_uint(skb, SMC_NLA_LGR_R_RMB_ALLOC, rmbs) ||
	    smc_netlink_put_uint(skb, SMC_NLA_LGR_R_SNDBUF_USED, sends_used) ||
	    smc_netlink_put_uint(skb, SMC_NLA_LGR_R_RMB_USED, rmbs_used))
		return -EMSGSIZE;
	return 0;
}

static void link_add_counts(const struct smc_link *link, u64 nr[SMC_IB_NR_COUNTS])
{
	int i;

	for (i = 0; i < SMC_IB_NR_COUNTS; i++)
		nr[i] += atomic64_read(&link->wr.counts.nr[i]);
}

/*
 * Adds the counters of all links of a group so far. A link that carried data stays until the end of
 * its group, so no count is lost. Return: the number of links that carry data.
 */
static unsigned int lgr_add_counts(const struct smc_link_group *lgr, u64 nr[SMC_IB_NR_COUNTS])
{
	const struct smc_link *link;
	unsigned int nr_active = 0;

	lockdep_assert_held(&lgr->lock);
	list_for_each_entry(link, &lgr->all_links, node) {
		nr_active += link->state == SMC_LINK_ACTIVE;
		link_add_counts(link, nr);
	}
	return nr_active;
}

static int lgr_put_links(struct sk_buff *skb, const struct smc_link_group *lgr)
{
	u64 nr[SMC_IB_NR_COUNTS] = {};

	if (nla_put_u8(skb, SMC_NLA_LGR_R_LINKS, lgr_add_counts(lgr, nr)))
		return -EMSGSIZE;
	return smc_netlink_put_counts(skb, SMC_NLA_LGR_R_COUNTS, nr);
}

/**
 * smc_netlink_put_lgr() - add SMC_GEN_LGR_SMCR
 * @skb: the message
 * @lgr: the group, which has been active
 * @has_links: add counters and the number of links
 *
 * Context: Any context but hard interrupt. Expects lgr->lock held, unless @has_links is false.
 * Return: 0 or -EMSGSIZE.
 */
int smc_netlink_put_lgr(struct sk_buff *skb, struct smc_link_group *lgr, bool has_links)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_LGR_SMCR);

	if (!nest || lgr_put_known(skb, lgr) || lgr_put_memory(skb, lgr) ||
	    lgr_put_more(skb, lgr) || (has_links && lgr_put_links(skb, lgr)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int link_put_known(struct sk_buff *skb, const struct smc_link *link)
{
	const struct smc_ib_end *end = &link->wr.end;

	if (nla_put_u8(skb, SMC_NLA_LINK_ID, link->num) ||
	    nla_put_string(skb, SMC_NLA_LINK_IB_DEV, link->wr.dev_name) ||
	    nla_put_u8(skb, SMC_NLA_LINK_IB_PORT, end->port) ||
	    smc_netlink_put_gid(skb, SMC_NLA_LINK_GID, end->gid.raw) ||
	    smc_netlink_put_gid(skb, SMC_NLA_LINK_PEER_GID, link->peer.gid) ||
	    nla_put_u32(skb, SMC_NLA_LINK_CONN_CNT, atomic_read(&link->nr_conns)) ||
	    nla_put_u32(skb, SMC_NLA_LINK_NET_DEV,
			smc_ib_end_ifindex(end, link->lgr->key.net)) ||
	    nla_put_be32(skb, SMC_NLA_LINK_UID, htonl(link->uid)) ||
	    nla_put_be32(skb, SMC_NLA_LINK_PEER_UID, htonl(link->peer_uid)) ||
	    nla_put_u32(skb, SMC_NLA_LINK_STATE, link->state))
		return -EMSGSIZE;
	return 0;
}

static int link_put_more(struct sk_buff *skb, const struct smc_link *link)
{
	enum ib_mtu mtu = min(link->wr.end.mtu, link->peer.mtu);
	u64 nr[SMC_IB_NR_COUNTS] = {};

	link_add_counts(link, nr);
	if (nla_put_u32(skb, SMC_NLA_LINK_LGR_ID, link->lgr->id) ||
	    nla_put_u32(skb, SMC_NLA_LINK_QPN, link->wr.qpn) ||
	    nla_put_u32(skb, SMC_NLA_LINK_PEER_QPN, link->peer.qpn) ||
	    nla_put_u32(skb, SMC_NLA_LINK_MTU, max(ib_mtu_enum_to_int(mtu), 0)))
		return -EMSGSIZE;
	return smc_netlink_put_counts(skb, SMC_NLA_LINK_COUNTS, nr);
}

/**
 * smc_netlink_put_link() - add SMC_GEN_LINK_SMCR
 * @skb: the message
 * @link: the link, in its group, connected
 *
 * Context: Does not sleep. Expects lgr->lock held.
 * Return: 0 or -EMSGSIZE.
 */
int smc_netlink_put_link(struct sk_buff *skb, const struct smc_link *link)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_LINK_SMCR);

	lockdep_assert_held(&link->lgr->lock);
	if (!nest || link_put_known(skb, link) || link_put_more(skb, link))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* A message with the group, or with @link of it. */
static int lgr_put_msg(struct sk_buff *skb, struct netlink_callback *cb,
		       struct smc_link_group *lgr, const struct smc_link *link)
{
	void *head = smc_netlink_begin(skb, cb, link ? SMC_NETLINK_GET_LINK_SMCR :
							SMC_NETLINK_GET_LGR_SMCR);

	if (!head)
		return -EMSGSIZE;
	if (link ? smc_netlink_put_link(skb, link) : smc_netlink_put_lgr(skb, lgr, true)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

/* Part 0 is the group, part n + 1 the link at place n. */
static int lgr_put_part(struct sk_buff *skb, struct netlink_callback *cb,
			struct smc_link_group *lgr, unsigned int part)
{
	const struct smc_link *link;

	lockdep_assert_held(&lgr->lock);
	if (!part)
		return lgr_put_msg(skb, cb, lgr, NULL);
	link = lgr->links[part - 1];
	return link && smc_link_is_used(link) ? lgr_put_msg(skb, cb, lgr, link) : 0;
}

static int lgr_put_parts(struct sk_buff *skb, struct netlink_callback *cb,
			 struct smc_link_group *lgr, unsigned int nr_parts)
{
	struct smc_netlink_cursor *at = smc_netlink_cursor(cb);
	int rc = 0;

	guard(mutex)(&lgr->lock);
	if (at->part_of != lgr->serial)
		at->part = 0;
	/* the end of a group may have begun between two of its links */
	while (!rc && at->part < nr_parts && READ_ONCE(lgr->state) == SMC_LGR_ACTIVE) {
		rc = lgr_put_part(skb, cb, lgr, at->part);
		if (!rc)
			at->part++;
	}
	if (rc)
		at->part_of = lgr->serial;
	else
		at->serial = lgr->serial;
	return rc;
}

static int lgr_dump(struct sk_buff *skb, struct netlink_callback *cb, const struct net *net,
		    unsigned int nr_parts)
{
	struct smc_link_group *lgr = NULL;
	int rc = 0;

	while (!rc && (lgr = smc_lgr_next(net, lgr, smc_netlink_cursor(cb)->serial)))
		rc = lgr_put_parts(skb, cb, lgr, nr_parts);
	if (lgr)
		smc_lgr_put(lgr);
	return skb->len ?: rc;
}

/**
 * smc_netlink_dump_lgr() - SMC_NETLINK_GET_LGR_SMCR
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context. Takes lgr->lock.
 * Return: bytes in @skb, 0 at the end, or -EMSGSIZE if not even one message has room.
 */
int smc_netlink_dump_lgr(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lgr_dump(skb, cb, sock_net(skb->sk), 1);
}

/**
 * smc_netlink_dump_link() - SMC_NETLINK_GET_LINK_SMCR: each group, then its links
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context. Takes lgr->lock.
 * Return: as smc_netlink_dump_lgr().
 */
int smc_netlink_dump_link(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lgr_dump(skb, cb, sock_net(skb->sk), 1 + SMC_LINKS_MAX);
}
