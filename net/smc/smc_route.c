// SPDX-License-Identifier: GPL-2.0
/*
 * The way to a peer's RoCE v2 GID.
 *
 * An RNIC takes a MAC address and a hop limit with its queue pair and asks
 * nobody else. So both are found here, as the IP stack would: by the route from
 * our GID to the peer's, and the neighbour that this names. A neighbour that is
 * not known is asked for, and the caller comes back.
 */
#include <linux/etherdevice.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/flow.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/ipv6_stubs.h>
#include <net/neighbour.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "smc_compat.h"
#include "smc_route.h"

#define SMC_ROUTE_HOP_LIMIT	64	/* through gateways */

/* The MAC address of a neighbour; -EAGAIN while it is not known. */
static int smc_route_next_hop(struct dst_entry *dst, const void *daddr, u8 mac[ETH_ALEN])
{
	struct neighbour *n = dst_neigh_lookup(dst, daddr);
	int rc = -EAGAIN;

	if (!n)
		return -EHOSTUNREACH;
	/* it is asked for, or confirmed if that was long ago */
	if (READ_ONCE(n->nud_state) & NUD_VALID) {
		neigh_ha_snapshot((char *)mac, n, n->dev);
		rc = is_valid_ether_addr(mac) ? 0 : -EHOSTUNREACH;
	}
	neigh_event_send(n, NULL);
	neigh_release(n);
	return rc;
}

/* Takes the way that a route leads, if that is through our RNIC. */
static int smc_route_take(const struct smc_ib_end *end, struct dst_entry *dst, const void *daddr,
			  bool is_direct, struct smc_route *route)
{
	struct net_device *ndev;
	bool is_ours;

	rcu_read_lock();
	ndev = smc_compat_dst_dev(dst);
	dev_hold(ndev);
	rcu_read_unlock();
	is_ours = smc_ib_end_is_at(end, ndev);
	dev_put(ndev);
	if (!is_ours)
		return -EHOSTUNREACH;
	memset(route, 0, sizeof(*route));
	route->is_direct = is_direct;
	route->hop_limit = is_direct ? 1 : SMC_ROUTE_HOP_LIMIT;
	return smc_route_next_hop(dst, daddr, route->mac);
}

static int smc_route_find_ipv4(struct net *net, const struct smc_ib_end *end,
			       const struct in6_addr *own, const struct in6_addr *peer,
			       struct smc_route *route)
{
	struct flowi4 fl4 = { .saddr = own->s6_addr32[3], .daddr = peer->s6_addr32[3] };
	struct rtable *rt;
	int rc;

	if (ipv4_is_zeronet(fl4.daddr) || ipv4_is_multicast(fl4.daddr) ||
	    ipv4_is_lbcast(fl4.daddr) || ipv4_is_loopback(fl4.daddr))
		return -EHOSTUNREACH;
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return -EHOSTUNREACH;
	rc = -EHOSTUNREACH;
	if (rt->rt_type == RTN_UNICAST)
		rc = smc_route_take(end, &rt->dst, &fl4.daddr, !rt->rt_uses_gateway, route);
	ip_rt_put(rt);
	return rc;
}

#if IS_ENABLED(CONFIG_IPV6)
/* 64 zero bits: no address, loopback, or an IPv4 address in another form. */
static bool smc_route_is_host(const struct in6_addr *addr)
{
	return !ipv6_addr_is_multicast(addr) && (addr->s6_addr32[0] || addr->s6_addr32[1]);
}

static int smc_route_find_ipv6(struct net *net, const struct smc_ib_end *end,
			       const struct in6_addr *own, const struct in6_addr *peer,
			       struct smc_route *route)
{
	struct flowi6 fl6 = { .saddr = *own, .daddr = *peer };
	const struct rt6_info *rt;
	struct dst_entry *dst;
	int rc = -EHOSTUNREACH;

	if (!smc_route_is_host(peer))
		return rc;
	/* every LAN has the same link-local prefix */
	if (smc_gid_kind(end->gid.raw) == SMC_GID_LINK_LOCAL) {
		fl6.flowi6_oif = smc_ib_end_ifindex(end);
		if (!fl6.flowi6_oif)
			return rc;
	}
	dst = ipv6_stub->ipv6_dst_lookup_flow(net, NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return rc;
	/* what IPsec protects is in no need of a way past it, SEC-06 */
	if (dst->error || dst_xfrm(dst))
		goto out;
	rt = container_of(dst, struct rt6_info, dst);
	if (!(rt->rt6i_flags & (RTF_REJECT | RTF_LOCAL | RTF_ANYCAST)))
		rc = smc_route_take(end, dst, peer, !(rt->rt6i_flags & RTF_GATEWAY), route);
out:
	dst_release(dst);
	return rc;
}
#else
static int smc_route_find_ipv6(struct net *net, const struct smc_ib_end *end,
			       const struct in6_addr *own, const struct in6_addr *peer,
			       struct smc_route *route)
{
	return -EHOSTUNREACH;
}
#endif

/**
 * smc_route_find() - find the way to a peer's GID
 * @net: the namespace
 * @end: our end, with a RoCE v2 GID
 * @gid: the peer's; checked
 * @route: filled on success
 *
 * Call again after a while where it says -EAGAIN: the next hop has been asked
 * for its MAC address. The route must lead through the network device that our
 * GID is of, for the RNIC has no other way out.
 *
 * Context: Process context.
 * Return: 0; -EAGAIN; -EHOSTUNREACH if there is no such way.
 */
int smc_route_find(struct net *net, const struct smc_ib_end *end, const u8 gid[16],
		   struct smc_route *route)
{
	struct in6_addr own, peer;

	if (!smc_gid_is_routable_to(end->gid.raw, gid))
		return -EHOSTUNREACH;
	memcpy(&own, end->gid.raw, sizeof(own));
	memcpy(&peer, gid, sizeof(peer));
	if (smc_gid_kind(gid) == SMC_GID_IPV4)
		return smc_route_find_ipv4(net, end, &own, &peer, route);
	return smc_route_find_ipv6(net, end, &own, &peer, route);
}
