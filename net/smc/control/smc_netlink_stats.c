// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a namespace in netlink messages: by their names, and in the terms of deployed tools.
 * A tool that resets its display subtracts what it has read before, so no counter may decrease, but
 * for the two that say how much memory is in use.
 */
#include <net/genetlink.h>

#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "control/smc_netlink_msg.h"
#include "control/smc_netlink_stats.h"

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

/**
 * smc_netlink_put_counter() - add the next counter, by its name
 * @skb: the message
 * @cb: the dump
 * @at: its position
 *
 * Context: Process context.
 * Return: as smc_netlink_visit.
 */
int smc_netlink_put_counter(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
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
	if (smc_netlink_put_uint(skb, SMC_NLA_STATS_T_RX_RMB_USAGE, rmbs) ||
	    smc_netlink_put_uint(skb, SMC_NLA_STATS_T_TX_RMB_USAGE, sends))
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

/**
 * smc_netlink_put_stats() - add all counters as deployed tools have them
 * @skb: the message
 * @cb: the dump
 * @at: its position
 *
 * Context: Process context.
 * Return: as smc_netlink_visit.
 */
int smc_netlink_put_stats(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
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

/**
 * smc_netlink_put_fback() - add the next side and reason that made connections TCP
 * @skb: the message
 * @cb: the dump
 * @at: its position
 *
 * The first message of a dump also has the sums.
 *
 * Context: Process context.
 * Return: as smc_netlink_visit.
 */
int smc_netlink_put_fback(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
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
