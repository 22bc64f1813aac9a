// SPDX-License-Identifier: GPL-2.0
/*
 * The way to a peer's RoCE v2 GID.
 *
 * An RNIC takes a MAC address and a hop limit with its queue pair and asks
 * nobody else. So both are found here, as the IP stack would: by the route from
 * our GID to the peer's, and the neighbour that this names. A neighbour that is
 * not known is asked for, and the caller comes back.
 *
 * It is the route of RoCE's UDP packets, as the program that owns the TCP connection
 * would send them: by the interface that TCP uses, with its mark and user, for
 * routing rules may ask for those. What IPsec protects has no way past it.
 */
#include <linux/etherdevice.h>
#include <linux/uidgid.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/dst.h>
#include <net/flow.h>
#include <net/ip6_fib.h>
#include <net/ip_fib.h>
#include <net/ipv6.h>
#include <net/ipv6_stubs.h>
#include <net/neighbour.h>
#include <net/route.h>
#include <net/sock.h>
#include <net/xfrm.h>
#include <rdma/ib_pack.h>

#include "smc_compat.h"
#include "rdma/smc_route.h"

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

/* With an interface but without a route IP takes everybody for a neighbour. */
static bool smc_route_exists_ipv4(struct net *net, const struct flowi4 *wanted)
{
	struct flowi4 fl4 = *wanted;
	struct fib_result res;

	guard(rcu)();
	return !fib_lookup(net, &fl4, &res, 0);
}

static int smc_route_find_ipv4(struct net *net, const struct smc_route_rules *like,
			       const struct smc_ib_end *end, const struct in6_addr *own,
			       const struct in6_addr *peer, struct smc_route *route)
{
	struct flowi4 fl4 = {
		.saddr = own->s6_addr32[3], .daddr = peer->s6_addr32[3],
		.flowi4_iif = LOOPBACK_IFINDEX, .flowi4_oif = like->oif,
		.flowi4_mark = like->mark, .flowi4_uid = like->uid,
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
		rc = smc_route_take(end, &rt->dst, &fl4.daddr, !rt->rt_uses_gateway, route);
	ip_rt_put(rt);
	return rc;
}

/* 64 zero bits: no address, loopback, or an IPv4 address in another form. */
static bool smc_route_is_host(const struct in6_addr *addr)
{
	return !ipv6_addr_is_multicast(addr) && (addr->s6_addr32[0] || addr->s6_addr32[1]);
}

static int smc_route_find_ipv6(struct net *net, const struct smc_route_rules *like,
			       const struct smc_ib_end *end, const struct in6_addr *own,
			       const struct in6_addr *peer, struct smc_route *route)
{
	struct flowi6 fl6 = {
		.saddr = *own, .daddr = *peer, .flowi6_oif = like->oif,
		.flowi6_mark = like->mark, .flowi6_uid = like->uid,
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
	dst = ipv6_stub->ipv6_dst_lookup_flow(net, like->bound, &fl6, NULL);
	if (IS_ERR(dst))
		return rc;
	/* SEC-06 */
	if (dst->error || dst_xfrm(dst))
		goto out;
	rt = container_of(dst, struct rt6_info, dst);
	if (!(rt->rt6i_flags & (RTF_REJECT | RTF_LOCAL | RTF_ANYCAST)))
		rc = smc_route_take(end, dst, peer, !(rt->rt6i_flags & RTF_GATEWAY), route);
out:
	dst_release(dst);
	return rc;
}

/**
 * smc_route_get_rules() - by which rules a TCP connection finds its way
 * @tsk: the connected TCP socket; borrowed by @like
 * @like: filled
 *
 * Context: Process context.
 */
void smc_route_get_rules(struct sock *tsk, struct smc_route_rules *like)
{
	struct dst_entry *dst = sk_dst_get(tsk);

	memset(like, 0, sizeof(*like));
	like->mark = READ_ONCE(tsk->sk_mark);
	like->uid = sock_net_uid(sock_net(tsk), tsk);
	if (READ_ONCE(tsk->sk_bound_dev_if))
		like->bound = tsk;
	if (!dst)
		return;
	scoped_guard(rcu)
		like->oif = smc_compat_dst_dev(dst)->ifindex;
	dst_release(dst);
}

/**
 * smc_route_find() - find the way to a peer's GID
 * @net: the namespace
 * @like: how the TCP connection goes
 * @end: our end, with a RoCE v2 GID
 * @gid: the peer's; checked
 * @route: filled on success; otherwise its hop_limit is 0, or what it was
 *
 * Call again after a while where it says -EAGAIN: the next hop has been asked
 * for its MAC address. The route must lead through the network device that our
 * GID is of, for the RNIC has no other way out.
 *
 * Context: Process context.
 * Return: 0; -EAGAIN; -EHOSTUNREACH if there is no such way.
 */
int smc_route_find(struct net *net, const struct smc_route_rules *like,
		   const struct smc_ib_end *end, const u8 gid[16], struct smc_route *route)
{
	struct in6_addr own, peer;

	if (!smc_gid_is_routable_to(end->gid.raw, gid))
		return -EHOSTUNREACH;
	memcpy(&own, end->gid.raw, sizeof(own));
	memcpy(&peer, gid, sizeof(peer));
	if (smc_gid_classify(gid) == SMC_GID_IPV4)
		return smc_route_find_ipv4(net, like, end, &own, &peer, route);
	return smc_route_find_ipv6(net, like, end, &own, &peer, route);
}
