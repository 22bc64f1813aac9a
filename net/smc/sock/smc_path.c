// SPDX-License-Identifier: GPL-2.0
/*
 * Which RNIC leads to the peer of a TCP connection.
 *
 * A connection maps to the RDMA port of its route, and to the subnets that show whether both ends
 * share a LAN. One that stays on this host may need none (smc_meet.c): where that is possible is
 * decided here, by net.smc.memory and the device of a packet.
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/utsname.h>
#include <net/addrconf.h>
#include <net/dst.h>
#include <net/flow.h>
#include <net/if_inet6.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include <net/rtnetlink.h>
#include <net/sock.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "group/smc_peer.h"
#include "sock/smc_path.h"

#define SMC_PATH_MAX_LANS	8	/* limit of interfaces tried beyond the route's */
#define SMC_PATH_SL_MAX		7

/**
 * smc_path_init_net() - draw the unique part of a namespace's peer ID
 * @net: the namespace
 *
 * Context: Process context.
 */
void smc_path_init_net(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);

	spin_lock_init(&sn->id_lock);
	get_random_bytes(sn->peer_instance, sizeof(sn->peer_instance));
	memset(sn->host, ' ', sizeof(sn->host));
}

/**
 * smc_path_note_host() - take the name of this host from the calling process
 * @net: the namespace, in which it makes a socket
 *
 * A container has a name of its own, in a UTS namespace. Link groups belong to a network namespace
 * and announce one name: that of the process that made a socket last. A kernel thread has none.
 *
 * Context: Process context.
 */
void smc_path_note_host(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);
	const char *name;

	if (current->flags & PF_KTHREAD)
		return;
	name = utsname()->nodename;
	guard(spinlock)(&sn->id_lock);
	memset(sn->host, ' ', sizeof(sn->host));
	memcpy(sn->host, name, strnlen(name, sizeof(sn->host)));
}

/**
 * smc_path_local_host() - the name of this host that peers get
 * @net: the namespace
 * @host: filled, blank padded; blank if only the kernel has made sockets
 *
 * Context: Process context.
 */
void smc_path_local_host(struct net *net, u8 host[SMC_CLC_HOST_LEN])
{
	struct smc_pernet *sn = smc_net(net);

	guard(spinlock)(&sn->id_lock);
	memcpy(host, sn->host, sizeof(sn->host));
}

/**
 * smc_path_peer_addr() - the peer's IP address
 * @tsk: connected TCP socket
 * @peer: filled; an IPv4 address as mapped address
 *
 * Context: Any context.
 */
void smc_path_peer_addr(const struct sock *tsk, struct in6_addr *peer)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (tsk->sk_family == AF_INET6) {
		*peer = tsk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(tsk->sk_daddr, peer);
}

/* Return: true if the segments of this connection are IPv4, PROP-09. */
static bool smc_path_is_ipv4(const struct sock *tsk)
{
	struct in6_addr peer;

	smc_path_peer_addr(tsk, &peer);
	return ipv6_addr_v4mapped(&peer);
}

static void smc_path_own_addr(const struct sock *tsk, struct in6_addr *own)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (!smc_path_is_ipv4(tsk)) {
		*own = tsk->sk_v6_rcv_saddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet_sk(tsk)->inet_saddr, own);
}

/* Return: the device of a route, with a reference, or NULL. */
static struct net_device *smc_path_dst_dev(struct dst_entry *dst)
{
	struct net_device *ndev;

	guard(rcu)();
	ndev = smc_compat_dst_dev(dst);
	dev_hold(ndev);
	return ndev;
}

/* Return: the device this connection sends through, with a reference, or NULL. */
static struct net_device *smc_path_route_dev(struct sock *tsk)
{
	struct dst_entry *dst = sk_dst_get(tsk);
	struct net_device *ndev;

	if (!dst)
		return NULL;
	ndev = smc_path_dst_dev(dst);
	dst_release(dst);
	return ndev;
}

/* The versions of RoCE for links of version 1; @peer is NULL if the order does not matter. */
static enum smc_gid_roce smc_path_roce(struct net *net, const struct in6_addr *peer)
{
	enum smc_gid_roce roce = READ_ONCE(smc_net(net)->set.roce);

	if (roce == SMC_GID_V1_FIRST && peer && smc_peer_needs_v2(net, peer))
		return SMC_GID_V2_FIRST;
	return roce;
}

/* The port for a device of a route; -ENODEV or -ENETDOWN. */
static int smc_path_find_port(struct net *net, struct net_device *ndev, const struct in6_addr *own,
			      const struct in6_addr *peer, struct smc_ib_end *end)
{
	if (ndev->flags & IFF_LOOPBACK)
		return -ENODEV;
	return smc_ib_find(net, ndev, own ? own->s6_addr : NULL, smc_path_roce(net, peer), end);
}

/**
 * smc_path_lack() - why no RDMA device serves a network device
 * @ndev: the network device; the caller holds a reference; NULL if none serves the host
 *
 * Context: Process context, may sleep.
 * Return: SMC_DECLINE_UNFIT if there is one that cannot carry links, else SMC_DECLINE_NOSMCRDEV.
 */
enum smc_decline smc_path_lack(struct net_device *ndev)
{
	return smc_ib_has_unfit(ndev) ? SMC_DECLINE_UNFIT : SMC_DECLINE_NOSMCRDEV;
}

static bool smc_path_ipv4_subnet(struct sock *tsk, struct net_device *ndev,
				 struct smc_nego_subnets *subnets)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;
	bool found = false;

	guard(rcu)();
	in_dev = __in_dev_get_rcu(ndev);
	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (!inet_ifa_match(inet_sk(tsk)->inet_saddr, ifa))
			continue;
		subnets->ipv4 = ntohl(ifa->ifa_local);
		subnets->ipv4_len = ifa->ifa_prefixlen;
		found = true;
		/* prefer the entry of the address itself to one of its subnet */
		if (ifa->ifa_local == inet_sk(tsk)->inet_saddr)
			break;
	}
	return found;
}

static bool smc_path_ipv6_prefixes(const struct sock *tsk, struct net_device *ndev,
				   struct smc_nego_subnets *subnets)
{
	const struct inet6_ifaddr *ifa;
	struct inet6_dev *idev;
	struct in6_addr own;

	smc_path_own_addr(tsk, &own);
	memcpy(subnets->own, &own, sizeof(subnets->own));
	guard(rcu)();
	idev = __in6_dev_get(ndev);
	if (!idev)
		return false;
	list_for_each_entry_rcu(ifa, &idev->addr_list, if_list)
		smc_nego_add_prefix(subnets, ifa->addr.s6_addr, ifa->prefix_len);
	return subnets->nr_prefixes > 0;
}

/**
 * smc_path_find() - find the RDMA port and subnets for a connection
 * @tsk: the connected inner TCP socket
 * @end: filled on success; ends with smc_ib_end_put()
 * @subnets: filled for the Proposal of a client, or NULL
 *
 * The port is the one under the device of the route, with its VLAN, or one of the same PNETID;
 * no list of hosts is configured (GEN-01, GEN-09, AMB-68, SEC-01). A loopback route has none.
 *
 * Context: Process context, may sleep.
 * Return: SMC_DECLINE_NONE, SMC_DECLINE_NOSMCRDEV (no device, or not up), SMC_DECLINE_UNFIT (one
 *	that cannot carry links), SMC_DECLINE_CNFERR (no usable subnet on the interface).
 */
enum smc_decline smc_path_find(struct sock *tsk, struct smc_ib_end *end,
			       struct smc_nego_subnets *subnets)
{
	enum smc_decline reason = SMC_DECLINE_NOSMCRDEV;
	struct net_device *ndev = smc_path_route_dev(tsk);
	struct in6_addr own, peer;
	bool found = true;

	if (!ndev)
		return reason;
	smc_path_own_addr(tsk, &own);
	smc_path_peer_addr(tsk, &peer);
	if (smc_path_find_port(sock_net(tsk), ndev, &own, &peer, end)) {
		reason = smc_path_lack(ndev);
		goto out;
	}

	reason = SMC_DECLINE_NONE;
	if (subnets) {
		memset(subnets, 0, sizeof(*subnets));
		subnets->is_ipv6 = !smc_path_is_ipv4(tsk);
		if (subnets->is_ipv6)
			found = smc_path_ipv6_prefixes(tsk, ndev, subnets);
		else
			found = smc_path_ipv4_subnet(tsk, ndev, subnets);
	}
	if (!found) {
		smc_ib_end_put(end);
		reason = SMC_DECLINE_CNFERR;
	}
out:
	dev_put(ndev);
	return reason;
}

/* True if the port of smc_path_find() has the address of TCP: no other GID goes before that. */
static bool smc_path_is_best(const struct smc_ib_end *end, const struct in6_addr *own,
			     enum smc_gid_kind kind, const struct net_device *ndev)
{
	return end && end->dev && end->is_v2 && kind != SMC_GID_LINK_LOCAL &&
	       smc_gid_classify(own->s6_addr) == kind &&
	       !memcmp(end->gid.raw, own->s6_addr, sizeof(end->gid)) &&
	       smc_ib_end_is_at(end, ndev);
}

/**
 * smc_path_find_routed() - find the RDMA port for a path that may cross subnets
 * @tsk: the connected inner TCP socket
 * @peer_gid: at a server, the client's GID; NULL at a client
 * @other: from smc_path_find(), or NULL: where it serves as well there is no second search
 * @end: filled on success; ends with smc_ib_end_put()
 *
 * As smc_path_find(), with a RoCE v2 GID: the connection's own address if that is a GID. A client's
 * GID has the family of that address, since RoCE may take the path of TCP, and deployed servers
 * require an IPv4 GID on an IPv4 connection (protocol.md). A server's has the family of the
 * client's. Not for loopback, nor where net.smc.roce excludes RoCE v2.
 *
 * Context: Process context, may sleep.
 * Return: false if there is none.
 */
bool smc_path_find_routed(struct sock *tsk, const u8 *peer_gid, const struct smc_ib_end *other,
			  struct smc_ib_end *end)
{
	struct net_device *ndev = smc_path_route_dev(tsk);
	enum smc_gid_kind kind;
	struct in6_addr own;
	bool found = false;

	if (!ndev)
		return false;
	smc_path_own_addr(tsk, &own);
	kind = smc_gid_classify(peer_gid ?: own.s6_addr);
	if (smc_path_is_best(other, &own, kind, ndev)) {
		smc_ib_end_copy(end, other);
		found = true;
	} else if (!(ndev->flags & IFF_LOOPBACK) &&
		   smc_path_roce(sock_net(tsk), NULL) != SMC_GID_V1_ONLY) {
		found = !smc_ib_find_routed(sock_net(tsk), ndev, own.s6_addr, kind, end);
	}
	dev_put(ndev);
	return found;
}

/**
 * smc_path_is_direct() - check whether TCP's packets go to the peer without a gateway
 * @tsk: the connected inner TCP socket
 *
 * Context: Any context.
 * Return: true if the route has no gateway.
 */
bool smc_path_is_direct(struct sock *tsk)
{
	struct dst_entry *dst = sk_dst_get(tsk);
	bool is_direct;

	if (!dst)
		return false;
	if (dst->ops->family == AF_INET)
		is_direct = !container_of(dst, struct rtable, dst)->rt_uses_gateway;
	else
		is_direct = !(container_of(dst, struct rt6_info, dst)->rt6i_flags & RTF_GATEWAY);
	dst_release(dst);
	return is_direct;
}

/* Virtual devices that lead to other namespaces of this host; some lead to other hosts as well. */
static bool smc_path_is_virtual(const struct net_device *ndev)
{
	static const char * const kinds[] = {
		"veth", "bridge", "macvlan", "ipvlan", "netkit", "dummy", "tun",
	};
	unsigned int i;

	for (i = 0; ndev->rtnl_link_ops && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(ndev->rtnl_link_ops->kind, kinds[i]))
			return true;
	return false;
}

/* A VRF is away: it has packets of this host and of others. */
static enum smc_path_place smc_path_place_of(const struct net *net, const struct net_device *ndev)
{
	int memory = READ_ONCE(smc_net(net)->set.memory);

	if (memory != SMC_MEMORY_OFF && ndev->flags & IFF_LOOPBACK)
		return SMC_PATH_INSIDE;
	return memory == SMC_MEMORY_HOST && smc_path_is_virtual(ndev) ? SMC_PATH_NEARBY :
									SMC_PATH_AWAY;
}

/**
 * smc_path_sender() - check whether the sender of a packet may share memory with us
 * @net: the namespace that received it
 * @skb: the packet, at TCP
 *
 * The device tells more than addresses, which may be translated.
 *
 * Context: Any context.
 * Return: where the sender is; SMC_PATH_AWAY where net.smc.memory excludes it.
 */
enum smc_path_place smc_path_sender(const struct net *net, const struct sk_buff *skb)
{
	const struct net_device *ndev;

	if (READ_ONCE(smc_net(net)->set.memory) == SMC_MEMORY_OFF)
		return SMC_PATH_AWAY;
	guard(rcu)();
	ndev = dev_get_by_index_rcu((struct net *)net, skb->skb_iif);
	return ndev ? smc_path_place_of(net, ndev) : SMC_PATH_AWAY;
}

/**
 * smc_path_is_inside() - check whether a connection may share memory inside its namespace
 * @tsk: the connected inner TCP socket
 *
 * Context: Any context.
 * Return: true if its route is a loopback, and net.smc.memory allows it.
 */
bool smc_path_is_inside(struct sock *tsk)
{
	struct net_device *ndev = smc_path_route_dev(tsk);
	bool is_inside;

	is_inside = ndev && smc_path_place_of(sock_net(tsk), ndev) == SMC_PATH_INSIDE;
	dev_put(ndev);
	return is_inside;
}

/* connect() to the unspecified address goes to this host. */
static bool smc_path_is_loopback(const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return ipv4_is_loopback(addr->s6_addr32[3]) || !addr->s6_addr32[3];
	return ipv6_addr_loopback(addr) || ipv6_addr_any(addr);
}

/* The route of connect(), as tcp_v4_connect() looks it up; or an error pointer. */
static struct dst_entry *smc_path_look_up_ipv4(struct sock *tsk, __be32 peer, __be16 port)
{
	struct flowi4 fl4;
	struct rtable *rt;

	rt = ip_route_connect(&fl4, peer, inet_sk(tsk)->inet_saddr,
			      READ_ONCE(tsk->sk_bound_dev_if), IPPROTO_TCP,
			      inet_sk(tsk)->inet_sport, port, tsk);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

/* The same of tcp_v6_connect(). */
static struct dst_entry *smc_path_look_up_ipv6(struct sock *tsk, const struct sockaddr_in6 *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct flowi6 fl6 = {
		.daddr = addr->sin6_addr, .saddr = tsk->sk_v6_rcv_saddr,
		.flowi6_oif = READ_ONCE(tsk->sk_bound_dev_if),
		.flowi6_mark = READ_ONCE(tsk->sk_mark),
		.flowi6_uid = sock_net_uid(sock_net(tsk), tsk), .flowi6_proto = IPPROTO_TCP,
		.fl6_sport = inet_sk(tsk)->inet_sport, .fl6_dport = addr->sin6_port,
	};

	/* TCP refuses the address */
	if (tsk->sk_family != AF_INET6)
		return ERR_PTR(-EAFNOSUPPORT);
	fl6.flowlabel = ip6_make_flowinfo(inet6_sk(tsk)->tclass, 0);
	if (ipv6_addr_type(&fl6.daddr) & IPV6_ADDR_LINKLOCAL && addr->sin6_scope_id)
		fl6.flowi6_oif = addr->sin6_scope_id;
	security_sk_classify_flow(tsk, flowi6_to_flowi_common(&fl6));
	return smc_compat_route6(sock_net(tsk), tsk, &fl6);
#else
	return ERR_PTR(-EAFNOSUPPORT);
#endif
}

static enum smc_decline smc_path_check_port(struct net *net, struct net_device *ndev)
{
	struct smc_ib_end end;

	if (smc_path_place_of(net, ndev) != SMC_PATH_AWAY)
		return SMC_DECLINE_NONE;
	if (!smc_ib_has_device())
		return smc_path_lack(NULL);
	if (smc_path_find_port(net, ndev, NULL, NULL, &end))
		return smc_path_lack(ndev);
	smc_ib_end_put(&end);
	return SMC_DECLINE_NONE;
}

/**
 * smc_path_reach() - check whether connect() may find an RNIC, or a server on this host
 * @tsk: the socket, not connected
 * @addr: address that connect() sends the SYN to, of either family; checked
 *
 * Without an RNIC on its route a client would decline. A service that repeats TCP options which
 * it does not know would take that Decline for payload. The answer is that of smc_path_find() for
 * the connection, unless its server may share memory with it.
 *
 * Context: Process context, may sleep.
 * Return: SMC_DECLINE_NONE if it may, or the reason why not. Without a route SMC_DECLINE_NONE, so
 *	   that TCP reports the error.
 */
enum smc_decline smc_path_reach(struct sock *tsk, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	bool has_memory = READ_ONCE(smc_net(sock_net(tsk))->set.memory) != SMC_MEMORY_OFF;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	struct net_device *ndev;
	struct dst_entry *dst;
	enum smc_decline reason;
	struct in6_addr peer;

	if (!has_memory && !smc_ib_has_device())
		return smc_path_lack(NULL);
	if (addr->sa_family == AF_INET6)
		peer = in6->sin6_addr;
	else
		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, &peer);
	if (smc_path_is_loopback(&peer))
		return has_memory ? SMC_DECLINE_NONE : SMC_DECLINE_NOSMCRDEV;
	/* the port is at one place in both families */
	dst = ipv6_addr_v4mapped(&peer) ?
		smc_path_look_up_ipv4(tsk, peer.s6_addr32[3], in->sin_port) :
		smc_path_look_up_ipv6(tsk, in6);
	if (IS_ERR(dst))
		return SMC_DECLINE_NONE;
	ndev = smc_path_dst_dev(dst);
	dst_release(dst);
	reason = ndev ? smc_path_check_port(sock_net(tsk), ndev) : SMC_DECLINE_NOSMCRDEV;
	dev_put(ndev);
	return reason;
}

/**
 * struct smc_path_lan - what the addresses of an interface say about a client
 * @is_proposed: the Proposal names one of its subnets
 * @has_client: the client's TCP address is in that subnet
 * @has_server: the client has connected to an address of the interface
 */
struct smc_path_lan {
	bool is_proposed;
	bool has_client;
	bool has_server;
};

static void smc_path_see_ipv4(struct net_device *ndev, const struct sock *tsk,
			      const struct smc_clc_proposal *prop, struct smc_path_lan *lan)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;
	struct in6_addr peer;

	in_dev = __in_dev_get_rcu(ndev);
	if (!in_dev)
		return;
	smc_path_peer_addr(tsk, &peer);
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (ipv6_addr_v4mapped(&peer))
			lan->has_server |= ifa->ifa_local == inet_sk(tsk)->inet_saddr;
		if (!smc_nego_match_ipv4(prop, ntohl(ifa->ifa_local), ifa->ifa_prefixlen))
			continue;
		lan->is_proposed = true;
		if (ipv6_addr_v4mapped(&peer))
			lan->has_client |= inet_ifa_match(peer.s6_addr32[3], ifa);
	}
}

static void smc_path_see_ipv6(struct net_device *ndev, const struct sock *tsk,
			      const struct smc_clc_proposal *prop, struct smc_path_lan *lan)
{
	const struct inet6_ifaddr *ifa;
	struct in6_addr own, peer;
	struct inet6_dev *idev;

	idev = __in6_dev_get(ndev);
	if (!idev)
		return;
	smc_path_own_addr(tsk, &own);
	smc_path_peer_addr(tsk, &peer);
	list_for_each_entry_rcu(ifa, &idev->addr_list, if_list) {
		/* two interfaces may have one link-local address */
		lan->has_server |= ipv6_addr_equal(&ifa->addr, &own) &&
				   !(ipv6_addr_type(&own) & IPV6_ADDR_LINKLOCAL);
		if (!smc_nego_match_ipv6(prop, ifa->addr.s6_addr, ifa->prefix_len))
			continue;
		lan->is_proposed = true;
		lan->has_client |= ipv6_prefix_equal(&ifa->addr, &peer, ifa->prefix_len);
	}
}

static struct smc_path_lan smc_path_see(struct net_device *ndev, const struct sock *tsk,
					const struct smc_clc_proposal *prop)
{
	struct smc_path_lan lan = {};

	guard(rcu)();
	if (prop->nr_prefixes)
		smc_path_see_ipv6(ndev, tsk, prop, &lan);
	else
		smc_path_see_ipv4(ndev, tsk, prop, &lan);
	return lan;
}

/*
 * A client may propose any subnet. An interface that TCP does not use serves it only if TCP
 * proves that the client is in that subnet, or reaches an address of that interface. An interface
 * of another VRF is like that of another host.
 */
static bool smc_path_is_other(struct net_device *ndev, const struct sock *tsk, int vrf,
			      const struct smc_clc_proposal *prop)
{
	struct smc_path_lan lan;

	if (!netif_running(ndev) || ndev->flags & IFF_LOOPBACK ||
	    l3mdev_master_ifindex_rcu(ndev) != vrf)
		return false;
	lan = smc_path_see(ndev, tsk, prop);
	return lan.is_proposed && (lan.has_client || lan.has_server);
}

/* Interfaces of the namespace on a LAN of the client, besides @route, with references. */
static unsigned int smc_path_lan_devices(const struct sock *tsk, const struct net_device *route,
					 const struct smc_clc_proposal *prop,
					 struct net_device *found[SMC_PATH_MAX_LANS])
{
	struct net_device *ndev;
	unsigned int nr = 0;
	int vrf;

	guard(rcu)();
	vrf = l3mdev_master_ifindex_rcu(route);
	for_each_netdev_rcu(sock_net(tsk), ndev) {
		if (nr == SMC_PATH_MAX_LANS)
			break;
		if (!smc_path_is_other(ndev, tsk, vrf, prop))
			continue;
		dev_hold(ndev);
		found[nr++] = ndev;
	}
	return nr;
}

static bool smc_path_find_on_lan(const struct sock *tsk, const struct net_device *route,
				 const struct smc_clc_proposal *prop, struct smc_ib_end *end)
{
	struct net_device *ndev[SMC_PATH_MAX_LANS];
	unsigned int i, nr = smc_path_lan_devices(tsk, route, prop, ndev);
	struct in6_addr own, peer;
	bool found = false;

	smc_path_own_addr(tsk, &own);
	smc_path_peer_addr(tsk, &peer);
	for (i = 0; i < nr; i++) {
		found = found || !smc_path_find_port(sock_net(tsk), ndev[i], &own, &peer, end);
		dev_put(ndev[i]);
	}
	return found;
}

/**
 * smc_path_find_server() - find the RDMA port for the answer to a client
 * @tsk: the server's connected inner TCP socket
 * @prop: the client's Proposal
 * @end: filled on success; ends with smc_ib_end_put()
 * @is_near: filled on success: the port is on a LAN of the client's, FC-03, FC-04
 *
 * The port of the route, as smc_path_find(). If another interface of the same VRF is on the
 * client's LAN, its port is preferred (ACPT-03), unless the socket is bound to an interface. The
 * Proposal alone does not prove that: the client's address must be in that subnet, or the server's
 * address must be that interface's.
 *
 * Context: Process context, may sleep.
 * Return: as smc_path_find().
 */
enum smc_decline smc_path_find_server(struct sock *tsk, const struct smc_clc_proposal *prop,
				      struct smc_ib_end *end, bool *is_near)
{
	enum smc_decline reason = smc_path_find(tsk, end, NULL);
	struct net_device *ndev = smc_path_route_dev(tsk);
	struct smc_ib_end other;

	*is_near = ndev && smc_path_see(ndev, tsk, prop).is_proposed;
	/* smc_hs_meet.c handles connections inside the host */
	if (*is_near || !ndev || ndev->flags & IFF_LOOPBACK || tsk->sk_bound_dev_if)
		goto out;
	if (!smc_path_find_on_lan(tsk, ndev, prop, &other))
		goto out;
	if (reason == SMC_DECLINE_NONE)
		smc_ib_end_put(end);
	*end = other;
	*is_near = true;
	reason = SMC_DECLINE_NONE;
out:
	dev_put(ndev);
	return reason;
}

/**
 * smc_path_needs_ipsec() - check whether packets must be protected and RDMA would bypass that,
 * SEC-06
 * @tsk: the connected inner TCP socket
 *
 * Context: Process context.
 * Return: true if the socket has a policy, or its route leads through IPsec.
 */
bool smc_path_needs_ipsec(struct sock *tsk)
{
#ifdef CONFIG_XFRM
	struct dst_entry *dst = sk_dst_get(tsk);
	bool needs;

	needs = rcu_access_pointer(tsk->sk_policy[0]) ||
		rcu_access_pointer(tsk->sk_policy[1]) ||
		(dst && dst_xfrm(dst));
	dst_release(dst);
	return needs;
#else
	return false;
#endif
}

/**
 * smc_path_class() - how networks are to treat the RDMA packets for a connection
 * @tsk: the connected inner TCP socket
 * @class: filled from the settings, or from IP_TOS and SO_PRIORITY of @tsk
 *
 * Context: Any context.
 */
void smc_path_class(const struct sock *tsk, struct smc_ib_class *class)
{
	const struct smc_settings *set = &smc_net(sock_net(tsk))->set;
	int tos = READ_ONCE(set->rdma_tos), sl = READ_ONCE(set->rdma_sl);

	if (tos < 0)
		tos = READ_ONCE(inet_sk(tsk)->tos);
#if IS_ENABLED(CONFIG_IPV6)
	if (READ_ONCE(set->rdma_tos) < 0 && !smc_path_is_ipv4(tsk))
		tos = READ_ONCE(inet6_sk(tsk)->tclass);
#endif
	if (sl < 0)
		sl = min_t(u32, READ_ONCE(tsk->sk_priority), SMC_PATH_SL_MAX);
	*class = (struct smc_ib_class){ .traffic_class = tos, .sl = sl };
}

/**
 * smc_path_local_id() - this host's peer ID
 * @net: the namespace; each is a stack of its own (AMB-55)
 * @end: a local RNIC port, or NULL for any
 * @peer_id: filled; constant while the module is loaded (PID-04)
 *
 * Two random bytes, then the MAC of a RoCE port (PID-01, PID-02).
 *
 * Context: Process context.
 */
void smc_path_local_id(struct net *net, const struct smc_ib_end *end, u8 peer_id[8])
{
	struct smc_pernet *sn = smc_net(net);
	u8 mac[ETH_ALEN] = {};
	bool has_mac;

	has_mac = !smc_ib_local_mac(mac);
	if (!has_mac && end) {
		ether_addr_copy(mac, end->mac);
		has_mac = true;
	}
	guard(spinlock)(&sn->id_lock);
	if (!sn->has_peer_id) {
		smc_nego_peer_id(sn->peer_id, sn->peer_instance[0] << 8 | sn->peer_instance[1],
				 mac);
		sn->has_peer_id = has_mac;
	}
	memcpy(peer_id, sn->peer_id, sizeof(sn->peer_id));
}

/**
 * smc_path_get_rules() - get the routing parameters of a TCP connection
 * @tsk: the connected TCP socket; borrowed by @rules
 * @rules: filled
 *
 * Context: Process context.
 */
void smc_path_get_rules(struct sock *tsk, struct smc_route_rules *rules)
{
	struct dst_entry *dst = sk_dst_get(tsk);

	memset(rules, 0, sizeof(*rules));
	rules->mark = READ_ONCE(tsk->sk_mark);
	rules->uid = sock_net_uid(sock_net(tsk), tsk);
	if (READ_ONCE(tsk->sk_bound_dev_if))
		rules->bound = tsk;
	if (!dst)
		return;
	scoped_guard(rcu)
		rules->oif = smc_compat_dst_dev(dst)->ifindex;
	dst_release(dst);
}
