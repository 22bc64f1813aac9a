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
#include <net/arp.h>
#include <net/flow.h>
#include <net/ipv6.h>
#include <net/neighbour.h>
#include <net/route.h>

#include "smc_compat.h"
#include "smc_route.h"

#define SMC_ROUTE_HOP_LIMIT	64	/* through gateways */

static bool smc_route_is_ipv4(const u8 gid[16])
{
	return ipv6_addr_v4mapped((const struct in6_addr *)gid);
}

static __be32 smc_route_ipv4(const u8 gid[16])
{
	return ((const struct in6_addr *)gid)->s6_addr32[3];
}

/* The MAC address of a neighbour; -EAGAIN while it is not known. */
static int smc_route_next_hop(struct rtable *rt, __be32 daddr, u8 mac[ETH_ALEN])
{
	struct neighbour *n = dst_neigh_lookup(&rt->dst, &daddr);
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
	struct flowi4 fl4 = {};
	struct rtable *rt;
	int rc;

	if (!smc_route_is_ipv4(end->gid.raw) || !smc_route_is_ipv4(gid))
		return -EHOSTUNREACH;
	fl4.saddr = smc_route_ipv4(end->gid.raw);
	fl4.daddr = smc_route_ipv4(gid);
	if (ipv4_is_zeronet(fl4.daddr) || ipv4_is_multicast(fl4.daddr) ||
	    ipv4_is_lbcast(fl4.daddr) || ipv4_is_loopback(fl4.daddr))
		return -EHOSTUNREACH;
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return -EHOSTUNREACH;
	rc = -EHOSTUNREACH;
	if (rt->rt_type == RTN_UNICAST && smc_ib_end_is_at(end, rt->dst.dev)) {
		memset(route, 0, sizeof(*route));
		route->is_direct = !rt->rt_uses_gateway;
		route->hop_limit = route->is_direct ? 1 : SMC_ROUTE_HOP_LIMIT;
		rc = smc_route_next_hop(rt, fl4.daddr, route->mac);
	}
	ip_rt_put(rt);
	return rc;
}
