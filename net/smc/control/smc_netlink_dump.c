// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of SMC_GEN_NETLINK: a function for each kind of object, which adds the next one. Deployed
 * tools do not initialise what they read, so a device has every attribute, also without a PCI
 * parent. Devices that cannot carry links have a dump of their own, because those tools would show
 * them as usable. Hosts, and connections that became TCP, are like the events that reported them.
 *
 * Link groups are the active ones of the caller's namespace in order of formation. A dump may need
 * several reads: the serial of the last group says where it continues, so groups that come and go
 * meanwhile neither repeat others nor hide them. The links of a group follow it by their place.
 * Deployed tools take links for those of the last group that they have read.
 *
 * A tool that resets its display of counters subtracts what it has read before, so no counter may
 * decrease, but for the two that say how much memory is in use.
 */
#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/smc.h>
#include <linux/utsname.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "smc_compat.h"
#include "rdma/smc_eid.h"
#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "group/smc_llc.h"
#include "group/smc_pair.h"
#include "group/smc_peer.h"
#include "sock/smc_history.h"
#include "sock/smc_policy.h"
#include "control/smc_netlink_dump.h"

#define DUMP_TEXT_MAX	32
#define DUMP_GID_LEN	40	/* eight groups of four digits, and NUL */

/* SMC_NLA_COUNT_* count from 1 in the same order. */
static_assert(SMC_IB_TX_BYTES + 1 == SMC_NLA_COUNT_TX_BYTES);
static_assert(SMC_IB_RETRIES + 1 == SMC_NLA_COUNT_RETRIES);
static_assert(SMC_IB_RX_ERRORS + 1 == SMC_NLA_COUNT_RX_ERRORS);
static_assert(SMC_IB_LEAKS + 1 == SMC_NLA_COUNT_LEAKS);
static_assert(SMC_IB_NR_COUNTS + 1 == SMC_NLA_COUNT_PAD);

static_assert((int)SMC_PEER_FIRST_CONTACT == SMC_PEER_NO_PATH);
static_assert((int)SMC_PEER_HAS_WORKED == SMC_PEER_LOST_PATH);
static_assert((int)SMC_PEER_ROUTED_PATH == SMC_PEER_NO_ROUTE);
static_assert((int)SMC_PEER_CLIENT == SMC_PEER_NO_PROPOSAL);

/**
 * struct dump_cursor - where a dump continues; zero at first
 * @serial: position behind what is completely in the answer; of groups the serial of the last one
 * @part_of: serial of an object that is partly in the answer, or 0
 * @part: next part of that
 */
struct dump_cursor {
	u64 serial;
	u64 part_of;
	unsigned int part;
};

static_assert(sizeof(struct dump_cursor) <= sizeof(((struct netlink_callback *)0)->ctx));

static struct dump_cursor *dump_cursor(struct netlink_callback *cb)
{
	return (struct dump_cursor *)cb->ctx;
}

/*
 * Adds the next object at position @at of a dump to a message, and moves the position. Returns 1,
 * 0 if there is no further object, or -EMSGSIZE; what it added without 1 is removed.
 */
typedef int dump_visit(struct sk_buff *skb, struct netlink_callback *cb, u64 *at);

/* Returns the message for genlmsg_end() or genlmsg_cancel(); NULL if there is no room. */
static void *dump_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	struct genlmsghdr *head;
	struct nlmsghdr *nlh;

	/* the type is the number of the family */
	nlh = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			cb->nlh->nlmsg_type, GENL_HDRLEN, NLM_F_MULTI);
	if (!nlh)
		return NULL;
	head = nlmsg_data(nlh);
	*head = (struct genlmsghdr){ .cmd = cmd, .version = request->version };
	return genlmsg_data(head);
}

/* Fill the answer with a message for each object. */
static int dump_each(struct sk_buff *skb, struct netlink_callback *cb, dump_visit *visit)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	struct dump_cursor *at = dump_cursor(cb);
	int rc;

	do {
		void *head = dump_begin(skb, cb, request->cmd);
		u64 next = at->serial;

		rc = head ? visit(skb, cb, &next) : -EMSGSIZE;
		if (rc > 0) {
			genl_dump_check_consistent(cb, head);
			genlmsg_end(skb, head);
			at->serial = next;
		} else if (head) {
			genlmsg_cancel(skb, head);
		}
	} while (rc > 0);
	return skb->len ?: rc;
}

/* A number that has four bytes, or eight if it needs them */
static int put_uint(struct sk_buff *skb, int type, u64 value)
{
	if (value <= U32_MAX)
		return nla_put_u32(skb, type, value);
	return nla_put(skb, type, sizeof(value), &value);
}

/* A string of a peer, stored with blanks in place of a NUL. It may have any bytes. */
static int put_padded(struct sk_buff *skb, int type, const u8 *text, unsigned int len)
{
	char copy[DUMP_TEXT_MAX + 1] = {};
	unsigned int i;

	for (i = 0; i < min_t(unsigned int, len, DUMP_TEXT_MAX) && text[i]; i++)
		copy[i] = isascii(text[i]) && isprint(text[i]) ? text[i] : '?';
	return nla_put_string(skb, type, copy);
}

static int put_gid(struct sk_buff *skb, int type, const u8 gid[16])
{
	char text[DUMP_GID_LEN];

	snprintf(text, sizeof(text), "%pI6", gid);
	return nla_put_string(skb, type, text);
}

/* A nest of counters, by &enum smc_ib_count */
static int put_counts(struct sk_buff *skb, int type, const u64 nr[SMC_IB_NR_COUNTS])
{
	struct nlattr *nest = nla_nest_start(skb, type);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < SMC_IB_NR_COUNTS; i++)
		if (nla_put_u64_64bit(skb, i + 1, nr[i], SMC_NLA_COUNT_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int lgr_put_host(struct sk_buff *skb, const struct smc_link_group *lgr)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_NLA_LGR_R_V2_COMMON);
	const struct smc_clc_fce *host = &lgr->peer_host;

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_VER, lgr->params.version) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_REL, host->release) ||
	    nla_put_u8(skb, SMC_NLA_LGR_V2_OS, host->os) ||
	    put_padded(skb, SMC_NLA_LGR_V2_NEG_EID, lgr->params.eid,
		       sizeof(lgr->params.eid)) ||
	    put_padded(skb, SMC_NLA_LGR_V2_PEER_HOST, host->host,
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
	if (put_uint(skb, SMC_NLA_LGR_R_SNDBUF_ALLOC, sends) ||
	    put_uint(skb, SMC_NLA_LGR_R_RMB_ALLOC, rmbs) ||
	    put_uint(skb, SMC_NLA_LGR_R_SNDBUF_USED, sends_used) ||
	    put_uint(skb, SMC_NLA_LGR_R_RMB_USED, rmbs_used))
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
	return put_counts(skb, SMC_NLA_LGR_R_COUNTS, nr);
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
	    put_gid(skb, SMC_NLA_LINK_GID, end->gid.raw) ||
	    put_gid(skb, SMC_NLA_LINK_PEER_GID, link->peer.gid) ||
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
	return put_counts(skb, SMC_NLA_LINK_COUNTS, nr);
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
	void *head = dump_begin(skb, cb, link ? SMC_NETLINK_GET_LINK_SMCR :
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
	struct dump_cursor *at = dump_cursor(cb);
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

	while (!rc && (lgr = smc_lgr_next(net, lgr, dump_cursor(cb)->serial)))
		rc = lgr_put_parts(skb, cb, lgr, nr_parts);
	if (lgr)
		smc_lgr_put(lgr);
	return skb->len ?: rc;
}

static int dump_lgr(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lgr_dump(skb, cb, sock_net(skb->sk), 1);
}

/* Each group, then its links */
static int dump_link(struct sk_buff *skb, struct netlink_callback *cb)
{
	return lgr_dump(skb, cb, sock_net(skb->sk), 1 + SMC_LINKS_MAX);
}

static const char * const stats_names[SMC_STAT_NR] = {
#define SMC_STAT_NAME(id, name) \
	[SMC_STAT_##id] = name,
	SMC_STATS(SMC_STAT_NAME)
#undef SMC_STAT_NAME
};

/* Without counter the attribute is 0: other systems have a case that does not exist here. */
#define STATS_NONE	SMC_STAT_NR

/* Nests, by attribute less one */
static const struct {
	enum smc_stat rmb[SMC_NLA_STATS_RMB_MAX];
} stats_rings[] = {
	/* send rings */
	{ { SMC_STAT_TX_OVER_PEER, SMC_STAT_TX_OVER_RING, SMC_STAT_TX_CLOSED,
	    SMC_STAT_TX_BLOCKED, SMC_STAT_SNDBUF_REUSE, SMC_STAT_SNDBUF_NEW,
	    SMC_STAT_SNDBUF_LESS } },
	/* receive rings */
	{ { STATS_NONE, SMC_STAT_RX_SHORT, SMC_STAT_RX_CLOSED, SMC_STAT_RX_FULL,
	    SMC_STAT_RMBE_REUSE, SMC_STAT_RMB_NEW, SMC_STAT_RMB_LESS } },
};

/* First classes of the histograms, by attribute less one */
static const enum smc_stat stats_sizes[] = {
	SMC_STAT_SNDBUF_SIZE_8K, SMC_STAT_RMB_SIZE_8K, SMC_STAT_TX_SIZE_8K, SMC_STAT_RX_SIZE_8K,
};

static const struct {
	int type;
	enum smc_stat stat;
} stats_singles[] = {
	{ SMC_NLA_STATS_T_CLNT_V1_SUCC, SMC_STAT_CLIENT_SMC_V1 },
	{ SMC_NLA_STATS_T_CLNT_V2_SUCC, SMC_STAT_CLIENT_SMC_V2 },
	{ SMC_NLA_STATS_T_SRV_V1_SUCC, SMC_STAT_SERVER_SMC_V1 },
	{ SMC_NLA_STATS_T_SRV_V2_SUCC, SMC_STAT_SERVER_SMC_V2 },
	{ SMC_NLA_STATS_T_SENDPAGE_CNT, SMC_STAT_TX_SPLICED },
	/* splice() from a socket is a recvmsg() here */
	{ SMC_NLA_STATS_T_SPLICE_CNT, STATS_NONE },
	{ SMC_NLA_STATS_T_CORK_CNT, SMC_STAT_CORK },
	{ SMC_NLA_STATS_T_NDLY_CNT, SMC_STAT_NODELAY },
	{ SMC_NLA_STATS_T_URG_DATA_CNT, SMC_STAT_URGENT },
	{ SMC_NLA_STATS_T_RX_BYTES, SMC_STAT_RX_BYTES },
	{ SMC_NLA_STATS_T_TX_BYTES, SMC_STAT_TX_BYTES },
};

/* A namespace without SMC sockets has no counters. */
static u64 stats_get(const struct net *net, enum smc_stat id)
{
	const struct smc_stats_cpu __percpu *stats = READ_ONCE(smc_net(net)->stats);
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		if (stats)
			sum += READ_ONCE(per_cpu_ptr(stats, cpu)->value[id]);
	return sum;
}

/* Connections that became TCP for one reason */
static u64 stats_get_fallback(const struct net *net, bool is_server, enum smc_reason reason)
{
	const struct smc_stats_cpu __percpu *stats = READ_ONCE(smc_net(net)->stats);
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		if (stats)
			sum += READ_ONCE(per_cpu_ptr(stats, cpu)->fallback[is_server][reason]);
	return sum;
}

/* The next counter, by its name */
static int dump_counter(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_COUNTER);
	unsigned int id = (*at)++;

	if (id >= SMC_STAT_NR)
		return 0;
	if (!nest || nla_put_string(skb, SMC_NLA_COUNTER_NAME, stats_names[id]) ||
	    nla_put_u64_64bit(skb, SMC_NLA_COUNTER_VALUE, stats_get(sock_net(skb->sk), id),
			      SMC_NLA_COUNTER_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 1;
}

static int stats_put(struct sk_buff *skb, int type, u64 value)
{
	return nla_put(skb, type, sizeof(value), &value);
}

static int stats_put_one(struct sk_buff *skb, const struct net *net, int type, enum smc_stat stat)
{
	return stats_put(skb, type, stat == STATS_NONE ? 0 : stats_get(net, stat));
}

/* Adds the classes to @sum. */
static int stats_put_sizes(struct sk_buff *skb, const struct net *net, int type,
			   enum smc_stat first, u64 *sum)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < SMC_STAT_NR_SIZES; i++) {
		u64 value = stats_get(net, first + i);

		*sum += value;
		if (stats_put(skb, SMC_NLA_STATS_PLOAD_8K + i, value))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int stats_put_ring(struct sk_buff *skb, const struct net *net, int type,
			  const enum smc_stat rmb[SMC_NLA_STATS_RMB_MAX])
{
	struct nlattr *nest = nla_nest_start(skb, type);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < SMC_NLA_STATS_RMB_MAX; i++)
		if (stats_put_one(skb, net, i + 1, rmb[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int stats_put_nests(struct sk_buff *skb, const struct net *net)
{
	u64 calls[ARRAY_SIZE(stats_sizes)] = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(stats_sizes); i++)
		if (stats_put_sizes(skb, net, SMC_NLA_STATS_T_TX_RMB_SIZE + i, stats_sizes[i],
				    &calls[i]))
			return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(stats_rings); i++)
		if (stats_put_ring(skb, net, SMC_NLA_STATS_T_TX_RMB_STATS + i, stats_rings[i].rmb))
			return -EMSGSIZE;
	calls[2] += stats_get(net, SMC_STAT_TX_NONE);
	calls[3] += stats_get(net, SMC_STAT_RX_NONE);
	if (stats_put(skb, SMC_NLA_STATS_T_TX_CNT, calls[2]) ||
	    stats_put(skb, SMC_NLA_STATS_T_RX_CNT, calls[3]))
		return -EMSGSIZE;
	return 0;
}

static int stats_put_usage(struct sk_buff *skb, const struct net *net)
{
	u64 unused = 0, sends = 0, rmbs = 0;
	struct smc_link_group *lgr = NULL;

	while ((lgr = smc_lgr_next(net, lgr, 0))) {
		smc_buf_pool_usage(&lgr->sends, &unused, &sends);
		smc_buf_pool_usage(&lgr->rmbs, &unused, &rmbs);
	}
	if (put_uint(skb, SMC_NLA_STATS_T_RX_RMB_USAGE, rmbs) ||
	    put_uint(skb, SMC_NLA_STATS_T_TX_RMB_USAGE, sends))
		return -EMSGSIZE;
	return 0;
}

static int stats_put_tech(struct sk_buff *skb, const struct net *net)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_NLA_STATS_SMCR_TECH);
	int i;

	if (!nest || stats_put_nests(skb, net))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(stats_singles); i++)
		if (stats_put_one(skb, net, stats_singles[i].type, stats_singles[i].stat))
			return -EMSGSIZE;
	if (stats_put_usage(skb, net))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* All counters as deployed tools have them */
static int dump_stats(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_STATS);
	const struct net *net = sock_net(skb->sk);

	if ((*at)++)
		return 0;
	if (!nest || stats_put_tech(skb, net) ||
	    stats_put_one(skb, net, SMC_NLA_STATS_CLNT_HS_ERR_CNT, SMC_STAT_CLIENT_FAILED) ||
	    stats_put_one(skb, net, SMC_NLA_STATS_SRV_HS_ERR_CNT, SMC_STAT_SERVER_FAILED))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 1;
}

static u64 fback_total(const struct net *net, bool is_server)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < SMC_REASON_NR; i++)
		sum += stats_get_fallback(net, is_server, i);
	return sum;
}

static int fback_put_totals(struct sk_buff *skb, const struct net *net)
{
	if (stats_put(skb, SMC_NLA_FBACK_STATS_SRV_CNT, fback_total(net, true)) ||
	    stats_put(skb, SMC_NLA_FBACK_STATS_CLNT_CNT, fback_total(net, false)))
		return -EMSGSIZE;
	return 0;
}

static int fback_put_reason(struct sk_buff *skb, bool is_server, enum smc_reason reason, u64 nr)
{
	u32 code = smc_nego_reason_code(reason);

	if (nla_put_u8(skb, SMC_NLA_FBACK_STATS_TYPE, is_server) ||
	    nla_put_u32(skb, SMC_NLA_FBACK_STATS_RSN_CODE, code) ||
	    nla_put_u16(skb, SMC_NLA_FBACK_STATS_RSN_CNT, min_t(u64, nr, U16_MAX)) ||
	    nla_put_u64_64bit(skb, SMC_NLA_FBACK_STATS_RSN_TOTAL, nr,
			      SMC_NLA_FBACK_STATS_PAD) ||
	    nla_put_string(skb, SMC_NLA_FBACK_STATS_RSN_TEXT, smc_nego_reason_text(code)))
		return -EMSGSIZE;
	return 0;
}

/* The next side and reason that made connections TCP; the first message also has the sums */
static int dump_fback(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_FBACK_STATS);
	const struct net *net = sock_net(skb->sk);
	bool is_first = !*at;
	u64 nr = 0;

	while (!nr && *at < 2 * SMC_REASON_NR) {
		nr = stats_get_fallback(net, *at / SMC_REASON_NR, *at % SMC_REASON_NR);
		++*at;
	}
	if (!nr)
		return 0;
	if (!nest || (is_first && fback_put_totals(skb, net)) ||
	    fback_put_reason(skb, (*at - 1) / SMC_REASON_NR, (*at - 1) % SMC_REASON_NR, nr))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 1;
}

/* An EID of the host; all namespaces share them. */
static int dump_ueid(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	char text[SMC_EID_LEN + 1] = {};

	if (!smc_eid_get((*at)++, (u8 *)text))
		return 0;
	return nla_put_string(skb, SMC_NLA_EID_TABLE_ENTRY, text) ?: 1;
}

static int sys_put_host(struct sk_buff *skb)
{
	/* of the caller, as peers get it from a program that is started now */
	const char *name = utsname()->nodename;
	char host[SMC_CLC_HOST_LEN + 1] = {};

	memset(host, ' ', SMC_CLC_HOST_LEN);
	memcpy(host, name, strnlen(name, SMC_CLC_HOST_LEN));
	return nla_put_string(skb, SMC_NLA_SYS_LOCAL_HOST, host);
}

/* Built into a kernel, the module has no version of its own. */
static const char *sys_version(void)
{
	const struct module *module = THIS_MODULE;
	const char *text = module ? module->version : NULL;

	return text ?: "";
}

/* What a new module would have to wait for, in all namespaces */
static int sys_put_use(struct sk_buff *skb)
{
	struct smc_link_group *lgr = NULL;
	u32 groups = 0, conns = smc_pair_get_count();

	while ((lgr = smc_lgr_next(NULL, lgr, 0))) {
		groups++;
		conns += READ_ONCE(lgr->nr_conns);
	}
	if (nla_put_u8(skb, SMC_NLA_SYS_DRAIN, smc_policy_is_draining()) ||
	    nla_put_u32(skb, SMC_NLA_SYS_GROUPS, groups) ||
	    nla_put_u32(skb, SMC_NLA_SYS_CONNS, conns))
		return -EMSGSIZE;
	return 0;
}

static int dump_sys_info(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_SYS_INFO);

	if ((*at)++)
		return 0;
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_SYS_VER, SMC_CLC_V2) ||
	    nla_put_u8(skb, SMC_NLA_SYS_REL, SMC_NEGO_RELEASE) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_ISM_V2, 0) ||
	    sys_put_host(skb) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_SMCR_V2, 1) ||
	    nla_put_string(skb, SMC_NLA_SYS_MODULE, sys_version()) ||
	    (netlink_capable(cb->skb, CAP_NET_ADMIN) && sys_put_use(skb)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 1;
}

/* Without SMC-D there is no system EID: one empty message. */
static int dump_seid(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	return !(*at)++;
}

static int dump_hs_limitation(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	const struct smc_pernet *sn = smc_net(sock_net(skb->sk));

	if ((*at)++)
		return 0;
	return nla_put_u8(skb, SMC_NLA_HS_LIMITATION_ENABLED,
			  READ_ONCE(sn->set.limit_smc_hs)) ?: 1;
}

/**
 * struct dev_use - what a device is for a namespace
 * @is_critical: the end of the device would reset connections
 * @nr_links: by port number less one: links that carry data
 */
struct dev_use {
	bool is_critical;
	u32 nr_links[SMC_IB_MAX_PORTS];
};

static void dev_add_use(struct smc_link_group *lgr, u64 serial, struct dev_use *use)
{
	const struct smc_link *link;
	bool is_only_one;
	int i;

	guard(mutex)(&lgr->lock);
	is_only_one = READ_ONCE(lgr->state) == SMC_LGR_ACTIVE &&
		      (lgr->type == SMC_LGR_TYPE_SINGLE ||
		       lgr->type == SMC_LGR_TYPE_ASYMMETRIC_LOCAL);
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		link = lgr->links[i];
		if (!link || link->state != SMC_LINK_ACTIVE || link->wr.end.dev->serial != serial)
			continue;
		use->nr_links[link->wr.end.port - 1]++;
		use->is_critical |= is_only_one;
	}
}

static void dev_get_use(const struct net *net, u64 serial, struct dev_use *use)
{
	struct smc_link_group *lgr = NULL;

	while ((lgr = smc_lgr_next(net, lgr, 0)))
		dev_add_use(lgr, serial, use);
}

static int dev_put_port(struct sk_buff *skb, int type, const struct smc_ib_port_view *port,
			u32 nr_links)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_PNET_USR, smc_pnet_id_is_set(&port->pnet)) ||
	    nla_put_string(skb, SMC_NLA_DEV_PORT_PNETID, port->pnet.text) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_NETDEV, port->ifindex) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_STATE, port->is_active) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_VALID, 1) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_LNK_CNT, nr_links))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dev_put_names(struct sk_buff *skb, const struct smc_ib_view *view, bool is_critical)
{
	/* FID and CHID are of s390 */
	if (nla_put_u32(skb, SMC_NLA_DEV_USE_CNT, 0) ||
	    nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, is_critical) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PCI_FID, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_CHID, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_VENDOR, view->pci_vendor) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_DEVICE, view->pci_device) ||
	    nla_put_string(skb, SMC_NLA_DEV_PCI_ID, view->bus_name) ||
	    nla_put_string(skb, SMC_NLA_DEV_IB_NAME, view->name))
		return -EMSGSIZE;
	return 0;
}

/* What others do with a device, only the namespace sees that has it. */
static int dev_put_all(struct sk_buff *skb, const struct smc_ib_view *view,
		       const struct dev_use *use)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_DEV_SMCR);
	int i;

	if (!nest || dev_put_names(skb, view, use->is_critical) ||
	    (view->lack &&
	     nla_put_string(skb, SMC_NLA_DEV_UNFIT, smc_cap_lack_text(view->lack))))
		return -EMSGSIZE;
	for (i = 0; i < view->nr_ports; i++)
		if (dev_put_port(skb, SMC_NLA_DEV_PORT + i, &view->port[i],
				 view->is_own ? view->port[i].nr_links : use->nr_links[i]))
			return -EMSGSIZE;
	if (view->is_own && put_counts(skb, SMC_NLA_DEV_COUNTS, view->counts))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dump_devs(struct sk_buff *skb, bool is_unfit, u64 *at)
{
	struct net *net = sock_net(skb->sk);
	struct smc_ib_view view;
	struct dev_use use = {};

	if (!smc_ib_next_view(net, is_unfit, *at, &view))
		return 0;
	*at = view.serial;
	dev_get_use(net, view.serial, &use);
	return dev_put_all(skb, &view, &use) ?: 1;
}

static int dump_dev(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	return dump_devs(skb, false, at);
}

/* Nothing uses them, or will soon: the links of a stopped one end. */
static int dump_unfit(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	return dump_devs(skb, true, at);
}

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

static int memory_put_record(struct sk_buff *skb, const struct smc_history_record *rec)
{
	const struct inet_diag_sockid *id = &rec->msg.id;
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_EVENT);

	if (!nest || nla_put_u64_64bit(skb, SMC_NLA_EVENT_TIME, rec->time_ns, SMC_NLA_EVENT_PAD) ||
	    memory_put_reason(skb, rec->reason, rec->peer_diagnosis, rec->memory_age_ms) ||
	    nla_put_u8(skb, SMC_NLA_EVENT_ROLE, rec->is_server) ||
	    memory_put_addr(skb, SMC_NLA_EVENT_ADDR, rec->msg.family, id->idiag_src) ||
	    nla_put_u16(skb, SMC_NLA_EVENT_PORT, ntohs(id->idiag_sport)) ||
	    memory_put_addr(skb, SMC_NLA_EVENT_PEER_ADDR, rec->msg.family, id->idiag_dst) ||
	    nla_put_u16(skb, SMC_NLA_EVENT_PEER_PORT, ntohs(id->idiag_dport)) ||
	    nla_put_u64_64bit(skb, SMC_NLA_EVENT_COOKIE,
			      id->idiag_cookie[0] | (u64)id->idiag_cookie[1] << 32,
			      SMC_NLA_EVENT_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 1;
}

/* A connection that became TCP, also one that is gone */
static int dump_history(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct smc_history_record rec;

	return smc_history_read(sock_net(skb->sk), at, &rec) ? memory_put_record(skb, &rec) : 0;
}

/* A host or service to which connections use TCP */
static int dump_peer(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_EVENT);
	struct smc_peer_entry entry;
	unsigned int next = *at;

	if (!smc_peer_next(sock_net(skb->sk), &next, &entry))
		return 0;
	*at = next;
	if (!nest || memory_put_reason(skb, entry.reason, entry.diagnosis, entry.age_ms) ||
	    nla_put_in6_addr(skb, SMC_NLA_EVENT_PEER_ADDR, &entry.addr) ||
	    nla_put_u32(skb, SMC_NLA_EVENT_MS, entry.left_ms) ||
	    (entry.port ? nla_put_u16(skb, SMC_NLA_EVENT_PEER_PORT, entry.port) :
			  nla_put_u8(skb, SMC_NLA_EVENT_FAILURE, entry.failure)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 1;
}

/* An attribute that a rule does not name is absent. Users are those of the caller's namespace. */
static int policy_put_match(struct sk_buff *skb, const struct smc_policy_rule *rule,
			    struct user_namespace *owner)
{
	uid_t uid = from_kuid_munged(owner, KUIDT_INIT(rule->uid));

	if (rule->sides != SMC_POLICY_BOTH &&
	    nla_put_u8(skb, SMC_NLA_POLICY_ROLE, rule->sides == SMC_POLICY_LISTEN))
		return -EMSGSIZE;
	if ((rule->port_first || rule->port_last != U16_MAX) &&
	    (nla_put_u16(skb, SMC_NLA_POLICY_PORT_FIRST, rule->port_first) ||
	     nla_put_u16(skb, SMC_NLA_POLICY_PORT_LAST, rule->port_last)))
		return -EMSGSIZE;
	if (rule->prefix &&
	    (nla_put(skb, SMC_NLA_POLICY_PEER_ADDR, sizeof(rule->peer), rule->peer) ||
	     nla_put_u8(skb, SMC_NLA_POLICY_PREFIX, rule->prefix)))
		return -EMSGSIZE;
	if (rule->cgroup &&
	    nla_put_u64_64bit(skb, SMC_NLA_POLICY_CGROUP, rule->cgroup, SMC_NLA_POLICY_PAD))
		return -EMSGSIZE;
	return rule->has_uid ? nla_put_u32(skb, SMC_NLA_POLICY_UID, uid) : 0;
}

static int dump_policy(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	const struct net *net = sock_net(skb->sk);
	struct smc_policy_rule rule;
	u64 hits;

	/* a policy that changes meanwhile is reported; zero means that there is no earlier part */
	cb->seq = smc_policy_changes(net) + 1;
	if (!smc_policy_get(net, (*at)++, &rule, &hits))
		return 0;
	if (nla_put_u32(skb, SMC_NLA_POLICY_ID, rule.id) ||
	    nla_put_u8(skb, SMC_NLA_POLICY_ACTION, rule.action) ||
	    policy_put_match(skb, &rule, sk_user_ns(NETLINK_CB(cb->skb).sk)))
		return -EMSGSIZE;
	return nla_put_u64_64bit(skb, SMC_NLA_POLICY_HITS, hits, SMC_NLA_POLICY_PAD) ?: 1;
}

/* There is nothing of SMC-D. */
static int dump_nothing(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	return 0;
}

static dump_visit * const dumps[] = {
	[SMC_NETLINK_GET_SYS_INFO]	 = dump_sys_info,
	[SMC_NETLINK_GET_LGR_SMCD]	 = dump_nothing,
	[SMC_NETLINK_GET_DEV_SMCD]	 = dump_nothing,
	[SMC_NETLINK_GET_DEV_SMCR]	 = dump_dev,
	[SMC_NETLINK_GET_STATS]		 = dump_stats,
	[SMC_NETLINK_GET_FBACK_STATS]	 = dump_fback,
	[SMC_NETLINK_DUMP_UEID]		 = dump_ueid,
	[SMC_NETLINK_DUMP_SEID]		 = dump_seid,
	[SMC_NETLINK_DUMP_HS_LIMITATION] = dump_hs_limitation,
	[SMC_NETLINK_DUMP_POLICY]	 = dump_policy,
	[SMC_NETLINK_DUMP_HISTORY]	 = dump_history,
	[SMC_NETLINK_DUMP_PEERS]	 = dump_peer,
	[SMC_NETLINK_DUMP_UNFIT]	 = dump_unfit,
	[SMC_NETLINK_DUMP_COUNTERS]	 = dump_counter,
};

/**
 * smc_netlink_dump() - answer a dump
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context, may sleep. Takes lgr->lock.
 * Return: bytes in @skb, 0 at the end, or -EMSGSIZE if not even one message has room.
 */
int smc_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);

	/* links follow their groups */
	if (request->cmd == SMC_NETLINK_GET_LGR_SMCR)
		return dump_lgr(skb, cb);
	if (request->cmd == SMC_NETLINK_GET_LINK_SMCR)
		return dump_link(skb, cb);
	return dump_each(skb, cb, dumps[request->cmd]);
}
