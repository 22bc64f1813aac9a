// SPDX-License-Identifier: GPL-2.0
/*
 * Routes to a peer's RoCE v2 GID.
 *
 * An RNIC needs a MAC address and a hop limit with its queue pair. Both come from the IP stack: the
 * route between the GIDs, and the neighbour it names. It is the route of RoCE's UDP packets, sent
 * as by the owner of the TCP connection: with its interface, mark and user, since routing rules may
 * select by them. A route with IPsec is not used.
 */
#include <linux/etherdevice.h>
#include <net/arp.h>
#include <net/dst.h>
#include <net/flow.h>
#include <net/ip6_fib.h>
#include <net/ip_fib.h>
#include <net/ipv6.h>
#include <net/neighbour.h>
#include <net/route.h>
#include <net/xfrm.h>
#include <rdma/ib_pack.h>

#include "smc_compat.h"
#include "rdma/smc_route.h"

#define SMC_ROUTE_HOP_LIMIT	64	/* through gateways */

/* Return: 0 with the MAC address of a neighbour; -EAGAIN while it is resolved. */
static int smc_route_next_hop(struct dst_entry *dst, const void *daddr, u8 mac[ETH_ALEN])
{
	struct neighbour *n = dst_neigh_lookup(dst, daddr);
	int rc = -EAGAIN;

	if (!n)
		return -EHOSTUNREACH;
	/* neigh_event_send() resolves an unknown neighbour and confirms a stale one */
	if (READ_ONCE(n->nud_state) & NUD_VALID) {
		neigh_ha_snapshot((char *)mac, n, n->dev);
		rc = is_valid_ether_addr(mac) ? 0 : -EHOSTUNREACH;
	}
	neigh_event_send(n, NULL);
	neigh_release(n);
	return rc;
}

/* Fill in @route from @dst if that leads through our RNIC. */
static int smc_route_fill(const struct smc_ib_end *end, struct dst_entry *dst, const void *daddr,
			  bool is_direct, struct smc_route *route)
{
	struct net_device *ndev;
	bool is_ours;
	int rc;

	rcu_read_lock();
	ndev = smc_compat_dst_dev(dst);
	dev_hold(ndev);
	rcu_read_unlock();
	is_ours = smc_ib_end_is_at(end, ndev);
	dev_put(ndev);
	if (!is_ours)
		return -EHOSTUNREACH;
	memset(route, 0, sizeof(*route));
	rc = smc_route_next_hop(dst, daddr, route->mac);
	if (rc)
		return rc;
	route->is_direct = is_direct;
	route->hop_limit = is_direct ? 1 : SMC_ROUTE_HOP_LIMIT;
	return 0;
}

/* ip_route_output_key() treats any address as on-link if there is an interface but no route. */
static bool smc_route_exists_ipv4(struct net *net, const struct flowi4 *wanted)
{
	struct flowi4 fl4 = *wanted;
	struct fib_result res;

	guard(rcu)();
	return !fib_lookup(net, &fl4, &res, 0);
}

static int smc_route_find_ipv4(struct net *net, const struct smc_route_rules *rules,
			       const struct smc_ib_end *end, const struct in6_addr *own,
			       const struct in6_addr *peer, struct smc_route *route)
{
	struct flowi4 fl4 = {
		.saddr = own->s6_addr32[3], .daddr = peer->s6_addr32[3],
		.flowi4_iif = LOOPBACK_IFINDEX, .flowi4_oif = rules->oif,
		.flowi4_mark = rules->mark, .flowi4_uid = rules->uid,
		.flowi4_proto = IPPROTO_UDP, .fl4_dport = htons(ROCE_V2_UDP_DPORT),
	};
	struct rtable *rt;
	int rc;

	if (ipv4_is_zeronet(fl4.daddr) || ipv4_is_multicast(fl4.daddr) ||
	    ipv4_is_lbcast(fl4.daddr) || ipv4_is_loopback(fl4.daddr))
		return -EHOSTUNREACH;
	if (!smc_route_exists_ipv4(net, &fl4))
		return -EHOSTUNREACH;
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return -EHOSTUNREACH;
	rc = -EHOSTUNREACH;
	/* SEC-06 */
	if (rt->rt_type == RTN_UNICAST && !dst_xfrm(&rt->dst))
		rc = smc_route_fill(end, &rt->dst, &fl4.daddr, !rt->rt_uses_gateway, route);
	ip_rt_put(rt);
	return rc;
}

/* A first half of 64 zero bits means no address, loopback, or an embedded IPv4 address. */
static bool smc_route_is_host(const struct in6_addr *addr)
{
	return !ipv6_addr_is_multicast(addr) && (addr->s6_addr32[0] || addr->s6_addr32[1]);
}

static int smc_route_find_ipv6(struct net *net, const struct smc_route_rules *rules,
			       const struct smc_ib_end *end, const struct in6_addr *own,
			       const struct in6_addr *peer, struct smc_route *route)
{
	struct flowi6 fl6 = {
		.saddr = *own, .daddr = *peer, .flowi6_oif = rules->oif,
		.flowi6_mark = rules->mark, .flowi6_uid = rules->uid,
		.flowi6_proto = IPPROTO_UDP, .fl6_dport = htons(ROCE_V2_UDP_DPORT),
	};
	const struct rt6_info *rt;
	struct dst_entry *dst;
	int rc = -EHOSTUNREACH;

	if (!IS_ENABLED(CONFIG_IPV6) || !smc_route_is_host(peer))
		return rc;
	/* every LAN has the same link-local prefix */
	if (smc_gid_classify(end->gid.raw) == SMC_GID_LINK_LOCAL) {
		fl6.flowi6_oif = smc_ib_end_ifindex(end, net);
		if (!fl6.flowi6_oif)
			return rc;
	}
	dst = smc_compat_route6(net, rules->bound, &fl6);
	if (IS_ERR(dst))
		return rc;
	/* SEC-06 */
	if (dst->error || dst_xfrm(dst))
		goto out;
	rt = container_of(dst, struct rt6_info, dst);
	if (!(rt->rt6i_flags & (RTF_REJECT | RTF_LOCAL | RTF_ANYCAST)))
		rc = smc_route_fill(end, dst, peer, !(rt->rt6i_flags & RTF_GATEWAY), route);
out:
	dst_release(dst);
	return rc;
}

static int smc_route_find_in(struct net *net, const struct smc_route_rules *rules,
			     const struct smc_ib_end *end, const u8 gid[16],
			     struct smc_route *route)
{
	struct in6_addr own, peer;

	memcpy(&own, end->gid.raw, sizeof(own));
	memcpy(&peer, gid, sizeof(peer));
	if (smc_gid_classify(gid) == SMC_GID_IPV4)
		return smc_route_find_ipv4(net, rules, end, &own, &peer, route);
	return smc_route_find_ipv6(net, rules, end, &own, &peer, route);
}

/* As root, through the network device of the port, in the namespace of that device. */
static int smc_route_find_beside(const struct smc_ib_end *end, const u8 gid[16],
				 struct smc_route *route)
{
	struct smc_route_rules rules = { .uid = GLOBAL_ROOT_UID };
	struct net *net = smc_ib_end_net(end);
	int rc;

	if (!net)
		return -EHOSTUNREACH;
	rules.oif = smc_ib_end_ifindex(end, net);
	rc = smc_route_find_in(net, &rules, end, gid, route);
	put_net(net);
	return rc;
}

/**
 * smc_route_find() - find the route to a peer's GID
 * @net: the namespace
 * @rules: routing parameters of the TCP connection
 * @end: our end, with a RoCE v2 GID
 * @gid: the peer's; checked
 * @route: filled on success; otherwise its hop_limit is 0, or unchanged
 *
 * After -EAGAIN the caller retries later: the next hop is being resolved. The route must lead
 * through the network device of our GID, the only one that the RNIC can use. For an end that a
 * PNETID admits, @net and @rules do not count, because that device may be elsewhere.
 *
 * Context: Process context.
 * Return: 0; -EAGAIN; -EHOSTUNREACH without such a route.
 */
int smc_route_find(struct net *net, const struct smc_route_rules *rules,
		   const struct smc_ib_end *end, const u8 gid[16], struct smc_route *route)
{
	if (!smc_gid_is_routable_to(end->gid.raw, gid))
		return -EHOSTUNREACH;
	if (end->is_beside)
		return smc_route_find_beside(end, gid, route);
	return smc_route_find_in(net, rules, end, gid, route);
}
