// SPDX-License-Identifier: GPL-2.0
/*
 * Routes to a peer's GID, from the routes and neighbours of the IP stack. Two network devices
 * send nothing; one of them is that of our RNIC (SEC-02).
 */
#include <linux/etherdevice.h>
#include <linux/fib_rules.h>
#include <linux/icmpv6.h>
#include <linux/inet.h>
#include <linux/neighbour.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/wait.h>
#include <linux/xfrm.h>
#include <net/arp.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "smc_kunit.h"

#include "../../../net/smc/rdma/smc_route.c"
#include "../../../net/smc/sock/smc_path.c"

/**
 * struct route_world - the devices and sockets of a case
 * @dev: the device of our RNIC, unless a case says otherwise, and another one
 * @nl: asks the kernel for addresses, routes and neighbours
 * @ipsec: the same for IPsec
 * @tcp: a TCP socket bound to the other device
 */
struct route_world {
	struct net_device *dev[2];
	struct socket *nl;
	struct socket *ipsec;
	struct socket *tcp;
};

#define ROUTE_MARK	7
#define ROUTE_TABLE	77	/* for packets with that mark */

static struct net_device *route_own;
static struct in6_addr route_asked_for;
static atomic_t route_nr_asked;

bool smc_ib_end_is_at(const struct smc_ib_end *end, const struct net_device *ndev)
{
	return ndev == route_own;
}

int smc_ib_end_ifindex(const struct smc_ib_end *end, const struct net *net)
{
	return route_own->ifindex;
}

struct net *smc_ib_end_net(const struct smc_ib_end *end)
{
	return get_net(dev_net(route_own));
}

/* The only device with a port; if NULL, each one has a port, whose number tells which. */
static struct net_device *route_served;

/* The versions of RoCE of the last search for a port; the number of searches for routed paths. */
static enum smc_gid_roce route_roce;
static unsigned int route_nr_routed;

int smc_ib_find(struct net *net, struct net_device *ndev, const u8 own[16],
		enum smc_gid_roce roce, struct smc_ib_end *end)
{
	route_roce = roce;
	if (route_served && ndev != route_served)
		return -ENODEV;
	memset(end, 0, sizeof(*end));
	end->port = ndev == route_own ? 1 : 2;
	return 0;
}

static bool route_has_device = true;

bool smc_ib_has_device(void)
{
	return route_has_device;
}

/* A device with a port that cannot carry links; with NULL there is one, too. */
static struct net_device *route_unfit;

bool smc_ib_has_unfit(struct net_device *ndev)
{
	return route_unfit && (!ndev || ndev == route_unfit);
}

/* The other cases look up no port. */

int smc_ib_find_routed(struct net *net, struct net_device *ndev, const u8 own[16],
		       enum smc_gid_kind kind, struct smc_ib_end *end)
{
	route_nr_routed++;
	return -ENODEV;
}

void smc_ib_end_copy(struct smc_ib_end *to, const struct smc_ib_end *from)
{
	*to = *from;
}

int smc_ib_local_mac(u8 mac[ETH_ALEN])
{
	return -ENODEV;
}

/* Count the requests for the address of the case. */
static netdev_tx_t route_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	const struct nd_msg *msg;
	struct ipv6hdr *ip;
	__be32 target;

	if (skb->protocol == htons(ETH_P_ARP) && !skb_linearize(skb) && ndev == route_own &&
	    arp_hdr(skb)->ar_op == htons(ARPOP_REQUEST)) {
		/* sender's MAC and IP address and target's MAC address come first */
		memcpy(&target, (u8 *)(arp_hdr(skb) + 1) + 2 * ETH_ALEN + 4, sizeof(target));
		if (ipv6_addr_v4mapped(&route_asked_for) && target == route_asked_for.s6_addr32[3])
			atomic_inc(&route_nr_asked);
	}

	if (skb->protocol == htons(ETH_P_IPV6) && !skb_linearize(skb)) {
		ip = ipv6_hdr(skb);
		msg = (const void *)(ip + 1);
		if (ip->nexthdr == IPPROTO_ICMPV6 && ip->hop_limit == 255 &&
		    msg->icmph.icmp6_type == NDISC_NEIGHBOUR_SOLICITATION &&
		    ndev == route_own && ipv6_addr_equal(&msg->target, &route_asked_for))
			atomic_inc(&route_nr_asked);
	}
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops route_ops = { .ndo_start_xmit = route_xmit };

static void route_dev_setup(struct net_device *ndev)
{
	ether_setup(ndev);
	ndev->netdev_ops = &route_ops;
	ndev->needs_free_netdev = true;
	eth_hw_addr_random(ndev);
}

static void route_addr(struct kunit *test, const char *text, struct in6_addr *addr)
{
	KUNIT_ASSERT_EQ_MSG(test, in6_pton(text, -1, addr->s6_addr, -1, NULL), 1, "%s", text);
}

/* Append an IP address for rtnetlink; returns the family. */
static u8 route_put_addr(struct kunit *test, struct sk_buff *skb, int attr, const char *text)
{
	struct in6_addr addr;

	route_addr(test, text, &addr);
	if (ipv6_addr_v4mapped(&addr)) {
		KUNIT_ASSERT_EQ(test, nla_put_in_addr(skb, attr, addr.s6_addr32[3]), 0);
		return AF_INET;
	}
	KUNIT_ASSERT_EQ(test, nla_put_in6_addr(skb, attr, &addr), 0);
	return AF_INET6;
}

/* A request of type @type with a zeroed header of @size bytes. */
static struct nlmsghdr *route_request(struct kunit *test, struct sk_buff **skb, int type, int size)
{
	struct nlmsghdr *nlh;

	*skb = nlmsg_new(512, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *skb);
	nlh = nlmsg_put(*skb, 0, 0, type, size,
			NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE);
	memset(nlmsg_data(nlh), 0, size);
	return nlh;
}

static void route_ask_by(struct kunit *test, struct socket *nl, struct sk_buff *skb,
			 struct nlmsghdr *nlh)
{
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr err;
	} __packed answer = {};
	/* with a destination the kernel checks our rights, not those of a file */
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec vec;
	int n;

	nlmsg_end(skb, nlh);
	vec.iov_base = skb->data;
	vec.iov_len = skb->len;
	n = kernel_sendmsg(nl, &msg, &vec, 1, skb->len);
	kfree_skb(skb);
	KUNIT_EXPECT_GT(test, n, 0);
	vec.iov_base = &answer;
	vec.iov_len = sizeof(answer);
	n = kernel_recvmsg(nl, &msg, &vec, 1, sizeof(answer), MSG_DONTWAIT);
	KUNIT_EXPECT_GE(test, n, (int)(sizeof(answer.nlh) + sizeof(answer.err.error)));
	KUNIT_EXPECT_EQ(test, answer.nlh.nlmsg_type, NLMSG_ERROR);
	KUNIT_EXPECT_EQ(test, answer.err.error, 0);
}

static void route_ask(struct kunit *test, struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct route_world *w = test->priv;

	route_ask_by(test, w->nl, skb, nlh);
}

static void route_add_addr(struct kunit *test, int dev, const char *addr, int len)
{
	struct route_world *w = test->priv;
	struct nlmsghdr *nlh;
	struct ifaddrmsg *ifa;
	struct sk_buff *skb;

	nlh = route_request(test, &skb, RTM_NEWADDR, sizeof(*ifa));
	ifa = nlmsg_data(nlh);
	ifa->ifa_prefixlen = len;
	ifa->ifa_flags = IFA_F_NODAD;
	ifa->ifa_index = w->dev[dev]->ifindex;
	ifa->ifa_family = route_put_addr(test, skb, IFA_LOCAL, addr);
	route_ask(test, skb, nlh);
}

static void route_add_neigh(struct kunit *test, int dev, const char *addr, u8 last)
{
	const u8 mac[ETH_ALEN] = { 2, 0, 0, 0, 0, last };
	struct route_world *w = test->priv;
	struct nlmsghdr *nlh;
	struct sk_buff *skb;
	struct ndmsg *ndm;

	nlh = route_request(test, &skb, RTM_NEWNEIGH, sizeof(*ndm));
	ndm = nlmsg_data(nlh);
	ndm->ndm_ifindex = w->dev[dev]->ifindex;
	ndm->ndm_state = NUD_PERMANENT;
	ndm->ndm_family = route_put_addr(test, skb, NDA_DST, addr);
	KUNIT_ASSERT_EQ(test, nla_put(skb, NDA_LLADDR, sizeof(mac), mac), 0);
	route_ask(test, skb, nlh);
}

/* @via: the gateway; NULL for a black hole */
static void route_add_to(struct kunit *test, int dev, const char *dst, int len, const char *via,
			 u8 table, u32 metric)
{
	struct route_world *w = test->priv;
	struct nlmsghdr *nlh;
	struct sk_buff *skb;
	struct rtmsg *rtm;

	nlh = route_request(test, &skb, RTM_NEWROUTE, sizeof(*rtm));
	rtm = nlmsg_data(nlh);
	rtm->rtm_dst_len = len;
	rtm->rtm_table = table;
	rtm->rtm_protocol = RTPROT_STATIC;
	rtm->rtm_type = via ? RTN_UNICAST : RTN_BLACKHOLE;
	rtm->rtm_family = route_put_addr(test, skb, RTA_DST, dst);
	if (via) {
		route_put_addr(test, skb, RTA_GATEWAY, via);
		KUNIT_ASSERT_EQ(test, nla_put_u32(skb, RTA_OIF, w->dev[dev]->ifindex), 0);
	}
	if (metric)
		KUNIT_ASSERT_EQ(test, nla_put_u32(skb, RTA_PRIORITY, metric), 0);
	route_ask(test, skb, nlh);
}

static void route_add(struct kunit *test, int dev, const char *dst, int len, const char *via)
{
	route_add_to(test, dev, dst, len, via, RT_TABLE_MAIN, 0);
}

/* Packets with the mark use a table of their own; RTM_NEWRULE or RTM_DELRULE */
static void route_rule(struct kunit *test, int type, u8 family)
{
	struct fib_rule_hdr *frh;
	struct nlmsghdr *nlh;
	struct sk_buff *skb;

	nlh = route_request(test, &skb, type, sizeof(*frh));
	frh = nlmsg_data(nlh);
	frh->family = family;
	frh->table = ROUTE_TABLE;
	frh->action = FR_ACT_TO_TBL;
	KUNIT_ASSERT_EQ(test, nla_put_u32(skb, FRA_FWMARK, ROUTE_MARK), 0);
	KUNIT_ASSERT_EQ(test, nla_put_u32(skb, FRA_PRIORITY, 77), 0);
	route_ask(test, skb, nlh);
}

static void route_put_alg(struct kunit *test, struct sk_buff *skb, int attr, const char *name,
			  unsigned int len)
{
	struct {
		struct xfrm_algo alg;
		u8 key[32];
	} a = { .alg.alg_key_len = 8 * len };

	strscpy(a.alg.alg_name, name, sizeof(a.alg.alg_name));
	KUNIT_ASSERT_EQ(test, nla_put(skb, attr, sizeof(a.alg) + len, &a), 0);
}

static const struct xfrm_lifetime_cfg route_for_ever = {
	.soft_byte_limit = XFRM_INF, .hard_byte_limit = XFRM_INF,
	.soft_packet_limit = XFRM_INF, .hard_packet_limit = XFRM_INF,
};

/* An SA between two addresses, in transport mode */
static void route_add_sa(struct kunit *test, __be32 saddr, __be32 daddr)
{
	struct route_world *w = test->priv;
	struct xfrm_usersa_info *sa;
	struct nlmsghdr *nlh;
	struct sk_buff *skb;

	nlh = route_request(test, &skb, XFRM_MSG_NEWSA, sizeof(*sa));
	sa = nlmsg_data(nlh);
	sa->family = AF_INET;
	sa->saddr.a4 = saddr;
	sa->id.daddr.a4 = daddr;
	sa->id.spi = htonl(0x1234);
	sa->id.proto = IPPROTO_ESP;
	sa->lft = route_for_ever;
	sa->mode = XFRM_MODE_TRANSPORT;
	route_put_alg(test, skb, XFRMA_ALG_CRYPT, "cbc(aes)", 16);
	route_put_alg(test, skb, XFRMA_ALG_AUTH, "hmac(sha256)", 32);
	route_ask_by(test, w->ipsec, skb, nlh);
}

/* RoCE packets from @own to @peer; @is_open: use ESP, else drop them */
static void route_add_policy(struct kunit *test, const char *own, const char *peer, bool is_open)
{
	struct xfrm_user_tmpl tmpl = {
		.family = AF_INET, .id.proto = IPPROTO_ESP, .mode = XFRM_MODE_TRANSPORT,
		.aalgos = ~0U, .ealgos = ~0U, .calgos = ~0U,
	};
	struct route_world *w = test->priv;
	struct xfrm_userpolicy_info *pol;
	struct in6_addr saddr, daddr;
	struct nlmsghdr *nlh;
	struct sk_buff *skb;
	bool is_ipv4;

	route_addr(test, own, &saddr);
	route_addr(test, peer, &daddr);
	is_ipv4 = ipv6_addr_v4mapped(&daddr);
	nlh = route_request(test, &skb, XFRM_MSG_NEWPOLICY, sizeof(*pol));
	pol = nlmsg_data(nlh);
	pol->dir = XFRM_POLICY_OUT;
	pol->action = is_open ? XFRM_POLICY_ALLOW : XFRM_POLICY_BLOCK;
	pol->lft = route_for_ever;
	pol->sel.family = is_ipv4 ? AF_INET : AF_INET6;
	pol->sel.prefixlen_s = is_ipv4 ? 32 : 128;
	pol->sel.prefixlen_d = pol->sel.prefixlen_s;
	memcpy(&pol->sel.saddr, is_ipv4 ? &saddr.s6_addr[12] : saddr.s6_addr, is_ipv4 ? 4 : 16);
	memcpy(&pol->sel.daddr, is_ipv4 ? &daddr.s6_addr[12] : daddr.s6_addr, is_ipv4 ? 4 : 16);
	pol->sel.proto = IPPROTO_UDP;
	pol->sel.dport = htons(4791);
	pol->sel.dport_mask = htons(0xffff);
	if (is_open) {
		KUNIT_ASSERT_EQ(test, nla_put(skb, XFRMA_TMPL, sizeof(tmpl), &tmpl), 0);
		route_add_sa(test, saddr.s6_addr32[3], daddr.s6_addr32[3]);
	}
	route_ask_by(test, w->ipsec, skb, nlh);
}

static void route_flush_ipsec(struct kunit *test)
{
	struct route_world *w = test->priv;
	struct nlmsghdr *nlh;
	struct sk_buff *skb;

	nlh = route_request(test, &skb, XFRM_MSG_FLUSHPOLICY, 0);
	route_ask_by(test, w->ipsec, skb, nlh);
	nlh = route_request(test, &skb, XFRM_MSG_FLUSHSA, sizeof(struct xfrm_usersa_flush));
	((struct xfrm_usersa_flush *)nlmsg_data(nlh))->proto = IPPROTO_ESP;
	route_ask_by(test, w->ipsec, skb, nlh);
}

static void route_del(struct kunit *test, const char *dst, int len)
{
	struct nlmsghdr *nlh;
	struct sk_buff *skb;
	struct rtmsg *rtm;

	nlh = route_request(test, &skb, RTM_DELROUTE, sizeof(*rtm));
	rtm = nlmsg_data(nlh);
	rtm->rtm_dst_len = len;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_scope = RT_SCOPE_NOWHERE;
	rtm->rtm_family = route_put_addr(test, skb, RTA_DST, dst);
	route_ask(test, skb, nlh);
}

/* Settings, all 0 */
static struct pernet_operations route_net_ops = {
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int route_init(struct kunit *test)
{
	struct route_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	int i, rc;

	if (!w)
		return -ENOMEM;
	rc = register_pernet_subsys(&route_net_ops);
	if (rc)
		return rc;
	test->priv = w;
	rc = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &w->nl) ?:
	     sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_XFRM, &w->ipsec) ?:
	     sock_create_kern(&init_net, AF_INET6, SOCK_STREAM, IPPROTO_TCP, &w->tcp);
	if (rc)
		return rc;
	rtnl_lock();
	rc = dev_change_flags(init_net.loopback_dev, init_net.loopback_dev->flags | IFF_UP, NULL);
	for (i = 0; !rc && i < 2; i++) {
		w->dev[i] = alloc_netdev(0, "smcroute%d", NET_NAME_ENUM, route_dev_setup);
		if (!w->dev[i]) {
			rc = -ENOMEM;
			break;
		}
		rc = register_netdevice(w->dev[i]);
		if (rc) {
			free_netdev(w->dev[i]);
			w->dev[i] = NULL;
			break;
		}
		rc = dev_open(w->dev[i], NULL);
	}
	rtnl_unlock();
	if (rc)
		return rc;
	route_own = w->dev[0];

	route_add_addr(test, 0, "::ffff:10.77.0.1", 24);
	route_add_addr(test, 0, "2001:db8:1::1", 64);
	route_add_addr(test, 0, "fe80::1", 64);
	route_add_addr(test, 1, "::ffff:10.78.0.1", 24);
	route_add_addr(test, 1, "2001:db8:2::1", 64);
	route_add_addr(test, 1, "fe80::1", 64);
	route_add(test, 0, "::ffff:10.79.0.0", 24, "::ffff:10.77.0.254");
	route_add(test, 0, "::ffff:10.80.0.0", 24, NULL);
	route_add(test, 0, "2001:db8:9::", 64, "2001:db8:1::fe");
	route_add(test, 0, "2001:db8:a::", 64, "fe80::fe");
	route_add(test, 0, "2001:db8:b::", 64, NULL);
	route_add_neigh(test, 0, "::ffff:10.77.0.2", 0x12);
	route_add_neigh(test, 0, "::ffff:10.77.0.254", 0x13);
	route_add_neigh(test, 0, "2001:db8:1::2", 0x14);
	route_add_neigh(test, 0, "2001:db8:1::fe", 0x15);
	route_add_neigh(test, 0, "fe80::fe", 0x16);
	route_add_neigh(test, 0, "fe80::2", 0x17);
	route_add_neigh(test, 1, "fe80::2", 0x27);
	route_add_neigh(test, 1, "2001:db8:2::2", 0x28);
	route_add_neigh(test, 1, "::ffff:10.78.0.2", 0x29);

	/* a second device in the subnet of the first one, and a second default route */
	w->tcp->sk->sk_bound_dev_if = w->dev[1]->ifindex;
	route_add_addr(test, 1, "::ffff:10.77.0.3", 24);
	route_add_neigh(test, 1, "::ffff:10.77.0.2", 0x2a);
	route_add_to(test, 0, "2001:db8:d::", 64, "2001:db8:1::fe", RT_TABLE_MAIN, 10);
	route_add_to(test, 1, "2001:db8:d::", 64, "2001:db8:2::2", RT_TABLE_MAIN, 20);
	/* and a route for a few addresses only */
	route_add_to(test, 1, "::ffff:10.81.0.0", 24, "::ffff:10.78.0.2", ROUTE_TABLE, 0);
	route_add_to(test, 1, "2001:db8:e::", 64, "2001:db8:2::2", ROUTE_TABLE, 0);
	route_rule(test, RTM_NEWRULE, AF_INET);
	route_rule(test, RTM_NEWRULE, AF_INET6);

	route_add_neigh(test, 0, "::ffff:10.77.0.7", 0x18);
	route_add_neigh(test, 0, "::ffff:10.77.0.8", 0x19);
	route_add_neigh(test, 0, "2001:db8:1::7", 0x1a);
	route_add_policy(test, "::ffff:10.77.0.1", "::ffff:10.77.0.7", false);
	route_add_policy(test, "::ffff:10.77.0.1", "::ffff:10.77.0.8", true);
	route_add_policy(test, "2001:db8:1::1", "2001:db8:1::7", false);
	return 0;
}

static void route_exit(struct kunit *test)
{
	struct route_world *w = test->priv;
	int i;

	if (!w)
		return;
	unregister_pernet_subsys(&route_net_ops);
	/* rules and black holes outlive the devices */
	if (w->dev[1]) {
		route_del(test, "::ffff:10.80.0.0", 24);
		route_del(test, "2001:db8:b::", 64);
		route_rule(test, RTM_DELRULE, AF_INET);
		route_rule(test, RTM_DELRULE, AF_INET6);
		route_flush_ipsec(test);
	}
	rtnl_lock();
	for (i = 0; i < 2; i++)
		if (w->dev[i])
			unregister_netdevice(w->dev[i]);
	rtnl_unlock();
	if (w->nl)
		sock_release(w->nl);
	if (w->ipsec)
		sock_release(w->ipsec);
	if (w->tcp)
		sock_release(w->tcp);
}

struct route_row {
	const char *what, *own, *peer;
	int rc;
	bool has_gateway;
	u8 mac;		/* last byte of the next hop's MAC */
	int dev;	/* that of our RNIC */
	u32 mark;	/* of TCP's packets */
	enum { ROUTE_ANY, ROUTE_USES, ROUTE_BOUND } how;	/* does TCP use that device, too? */
};

static const struct route_row route_rows[] = {
	{ "IPv4 neighbour", "::ffff:10.77.0.1", "::ffff:10.77.0.2", 0, false, 0x12 },
	{ "IPv4 behind a gateway", "::ffff:10.77.0.1", "::ffff:10.79.0.9", 0, true, 0x13 },
	{ "IPv4, black hole", "::ffff:10.77.0.1", "::ffff:10.80.0.9", -EHOSTUNREACH },
	{ "IPv4, no route", "::ffff:10.77.0.1", "::ffff:192.0.2.1", -EHOSTUNREACH },
	{ "IPv4, by another interface", "::ffff:10.77.0.1", "::ffff:10.78.0.2", -EHOSTUNREACH },
	{ "IPv4, ourselves", "::ffff:10.77.0.1", "::ffff:10.77.0.1", -EHOSTUNREACH },
	{ "IPv4, everybody", "::ffff:10.77.0.1", "::ffff:10.77.0.255", -EHOSTUNREACH },
	{ "IPv4, loopback", "::ffff:10.77.0.1", "::ffff:127.0.0.1", -EHOSTUNREACH },
	{ "IPv4, multicast", "::ffff:10.77.0.1", "::ffff:224.0.0.1", -EHOSTUNREACH },
	{ "IPv4, none", "::ffff:10.77.0.1", "::ffff:0.0.0.0", -EHOSTUNREACH },
	{ "IPv6 neighbour", "2001:db8:1::1", "2001:db8:1::2", 0, false, 0x14 },
	{ "IPv6 behind a gateway", "2001:db8:1::1", "2001:db8:9::9", 0, true, 0x15 },
	{ "IPv6 behind a link-local gateway", "2001:db8:1::1", "2001:db8:a::9", 0, true, 0x16 },
	{ "IPv6, black hole", "2001:db8:1::1", "2001:db8:b::9", -EHOSTUNREACH },
	{ "IPv6, no route", "2001:db8:1::1", "2001:db8:c::9", -EHOSTUNREACH },
	{ "IPv6, by another interface", "2001:db8:1::1", "2001:db8:2::2", -EHOSTUNREACH },
	{ "IPv6, ourselves", "2001:db8:1::1", "2001:db8:1::1", -EHOSTUNREACH },
	{ "IPv6, loopback", "2001:db8:1::1", "::1", -EHOSTUNREACH },
	{ "IPv6, multicast", "2001:db8:1::1", "ff02::1", -EHOSTUNREACH },
	{ "IPv6, none", "2001:db8:1::1", "::", -EHOSTUNREACH },
	{ "IPv6, an IPv4 address in it", "2001:db8:1::1", "::10.77.0.2", -EHOSTUNREACH },
	{ "link-local, on one LAN", "fe80::1", "fe80::2", 0, false, 0x17, 0 },
	{ "link-local, on the other LAN", "fe80::1", "fe80::2", 0, false, 0x27, 1 },
	{ "from link-local to another address", "fe80::1", "2001:db8:1::2", -EHOSTUNREACH },
	{ "to link-local from another address", "2001:db8:1::1", "fe80::2", -EHOSTUNREACH },
	{ "from IPv6 to IPv4", "2001:db8:1::1", "::ffff:10.77.0.2", -EHOSTUNREACH },
	{ "from IPv4 to IPv6", "::ffff:10.77.0.1", "2001:db8:1::2", -EHOSTUNREACH },
	{ "IPv4, where TCP goes", "::ffff:10.77.0.1", "::ffff:10.77.0.2", 0, false, 0x12, 0, 0,
	  ROUTE_USES },
	{ "IPv4, where TCP goes, with a gateway", "::ffff:10.77.0.1", "::ffff:10.79.0.9", 0, true,
	  0x13, 0, 0, ROUTE_USES },
	{ "IPv4, the subnet's other interface", "::ffff:10.77.0.3", "::ffff:10.77.0.2",
	  -EHOSTUNREACH, .dev = 1 },
	{ "IPv4, the subnet's other interface, where TCP goes", "::ffff:10.77.0.3",
	  "::ffff:10.77.0.2", 0, false, 0x2a, 1, 0, ROUTE_USES },
	{ "IPv4, TCP's interface, no route", "::ffff:10.77.0.1", "::ffff:192.0.2.1",
	  -EHOSTUNREACH, .how = ROUTE_USES },
	{ "IPv4, TCP's interface, no route that way", "::ffff:10.77.0.1", "::ffff:10.78.0.2",
	  -EHOSTUNREACH, .how = ROUTE_BOUND },
	{ "IPv4, a rule for others", "::ffff:10.78.0.1", "::ffff:10.81.0.9", -EHOSTUNREACH,
	  .dev = 1 },
	{ "IPv4, a rule for the mark", "::ffff:10.78.0.1", "::ffff:10.81.0.9", 0, true, 0x29, 1,
	  ROUTE_MARK, ROUTE_USES },
	{ "IPv6, the best way out", "2001:db8:1::1", "2001:db8:d::9", 0, true, 0x15 },
	{ "IPv6, another way out", "2001:db8:2::1", "2001:db8:d::9", -EHOSTUNREACH, .dev = 1 },
	{ "IPv6, another way out, where TCP is bound to", "2001:db8:2::1", "2001:db8:d::9", 0,
	  true, 0x28, 1, 0, ROUTE_BOUND },
	{ "IPv6, where TCP goes", "2001:db8:1::1", "2001:db8:1::2", 0, false, 0x14, 0, 0,
	  ROUTE_USES },
	{ "IPv6, a rule for others", "2001:db8:2::1", "2001:db8:e::9", -EHOSTUNREACH, .dev = 1 },
	{ "IPv6, a rule for the mark", "2001:db8:2::1", "2001:db8:e::9", 0, true, 0x28, 1,
	  ROUTE_MARK, ROUTE_USES },
	{ "IPv4, kept off by IPsec", "::ffff:10.77.0.1", "::ffff:10.77.0.7", -EHOSTUNREACH },
	{ "IPv4, protected by IPsec", "::ffff:10.77.0.1", "::ffff:10.77.0.8", -EHOSTUNREACH },
	{ "IPv6, kept off by IPsec", "2001:db8:1::1", "2001:db8:1::7", -EHOSTUNREACH },
};

static int route_find_like(struct kunit *test, const struct smc_route_rules *like,
			   const char *own, const char *peer, struct smc_route *route)
{
	struct smc_ib_end end = { .is_v2 = true };
	struct in6_addr addr;

	route_addr(test, own, &addr);
	memcpy(end.gid.raw, &addr, sizeof(end.gid.raw));
	route_addr(test, peer, &addr);
	memset(route, 0xaa, sizeof(*route));
	return smc_route_find(&init_net, like, &end, addr.s6_addr, route);
}

static int route_find(struct kunit *test, const char *own, const char *peer,
		      struct smc_route *route)
{
	const struct smc_route_rules like = {};

	return route_find_like(test, &like, own, peer, route);
}

static void sec_02_sec_06_ways(struct kunit *test)
{
	struct route_world *w = test->priv;
	struct smc_route_rules like = {};
	const struct route_row *row;
	struct smc_route route;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(route_rows); i++) {
		row = &route_rows[i];
		route_own = w->dev[row->dev];
		like.mark = row->mark;
		like.oif = row->how == ROUTE_ANY ? 0 : route_own->ifindex;
		w->tcp->sk->sk_bound_dev_if = like.oif;
		like.bound = row->how == ROUTE_BOUND ? w->tcp->sk : NULL;
		KUNIT_EXPECT_EQ_MSG(test, route_find_like(test, &like, row->own, row->peer, &route),
				    row->rc, "%s", row->what);
		if (row->rc)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, route.is_direct, !row->has_gateway, "%s", row->what);
		KUNIT_EXPECT_EQ_MSG(test, route.hop_limit, row->has_gateway ? 64 : 1, "%s",
				    row->what);
		KUNIT_EXPECT_EQ_MSG(test, route.mac[0], 2, "%s", row->what);
		KUNIT_EXPECT_EQ_MSG(test, route.mac[5], row->mac, "%s", row->what);
	}
}

/* The RNIC of a PNETID has routes of its own, whatever TCP's are. */
static void sec_02_routes_of_an_rnic_beside(struct kunit *test)
{
	struct route_world *w = test->priv;
	struct smc_route_rules like = { .oif = w->dev[0]->ifindex, .bound = w->tcp->sk };
	struct smc_ib_end end = { .is_v2 = true };
	struct smc_route route = {};
	struct in6_addr addr;

	w->tcp->sk->sk_bound_dev_if = like.oif;
	route_own = w->dev[1];
	route_addr(test, "::ffff:10.77.0.3", &addr);
	memcpy(end.gid.raw, &addr, sizeof(end.gid.raw));
	route_addr(test, "::ffff:10.77.0.2", &addr);
	KUNIT_EXPECT_EQ(test, smc_route_find(&init_net, &like, &end, addr.s6_addr, &route),
			-EHOSTUNREACH);
	end.is_beside = true;
	KUNIT_EXPECT_EQ(test, smc_route_find(&init_net, &like, &end, addr.s6_addr, &route), 0);
	KUNIT_EXPECT_EQ(test, route.mac[5], 0x2a);
	KUNIT_EXPECT_TRUE(test, route.is_direct);
	route_addr(test, "::ffff:10.80.0.9", &addr);
	KUNIT_EXPECT_EQ(test, smc_route_find(&init_net, &like, &end, addr.s6_addr, &route),
			-EHOSTUNREACH);
}

/* An unknown neighbour is resolved. The caller repeats its request. */
static void route_expect_question(struct kunit *test, const char *own, const char *peer, u8 last)
{
	struct smc_route route;
	unsigned int i;

	atomic_set(&route_nr_asked, 0);
	route_addr(test, peer, &route_asked_for);
	KUNIT_EXPECT_EQ_MSG(test, route_find(test, own, peer, &route), -EAGAIN, "%s", peer);
	KUNIT_EXPECT_EQ_MSG(test, route.hop_limit, 0, "%s", peer);
	for (i = 0; i < 100 && !atomic_read(&route_nr_asked); i++)
		msleep(20);
	KUNIT_EXPECT_GT_MSG(test, atomic_read(&route_nr_asked), 0, "%s", peer);
	KUNIT_EXPECT_EQ_MSG(test, route_find(test, own, peer, &route), -EAGAIN, "%s", peer);
	route_add_neigh(test, 0, peer, last);
	KUNIT_EXPECT_EQ_MSG(test, route_find(test, own, peer, &route), 0, "%s", peer);
	KUNIT_EXPECT_EQ(test, route.mac[5], last);
}

static void neighbours_are_asked(struct kunit *test)
{
	route_expect_question(test, "2001:db8:1::1", "2001:db8:1::3", 0x33);
	route_expect_question(test, "::ffff:10.77.0.1", "::ffff:10.77.0.33", 0x34);
}

/* The settings of a TCP socket that count. */
static void sec_01_a_path_is_like_that_of_tcp(struct kunit *test)
{
	struct route_world *w = test->priv;
	struct smc_route_rules like;
	struct sock *sk = w->tcp->sk;
	struct rtable *rt;
	struct flowi4 fl4 = { .daddr = htonl(0x0a4d0002), .flowi4_oif = w->dev[1]->ifindex };

	sk->sk_bound_dev_if = 0;
	sk->sk_mark = ROUTE_MARK;
	smc_path_get_rules(sk, &like);
	KUNIT_EXPECT_EQ(test, like.oif, 0);
	KUNIT_EXPECT_EQ(test, like.mark, ROUTE_MARK);
	KUNIT_EXPECT_TRUE(test, uid_eq(like.uid, sk->sk_uid));
	KUNIT_EXPECT_NULL(test, like.bound);
	sk->sk_bound_dev_if = w->dev[1]->ifindex;
	rt = ip_route_output_key(&init_net, &fl4);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rt));
	sk_dst_set(sk, &rt->dst);
	smc_path_get_rules(sk, &like);
	KUNIT_EXPECT_EQ(test, like.oif, w->dev[1]->ifindex);
	KUNIT_EXPECT_PTR_EQ(test, like.bound, sk);
	sk_dst_reset(sk);
}

/**
 * struct lan_row - a client, and the device that serves it
 * @what: in words
 * @peer: its TCP address
 * @own: the address that it connected to
 * @subnet: what it proposes; TCP uses the first device
 * @len: prefix length of that
 * @other: another subnet that it proposes, of the same length, or NULL
 * @port: 1 for the first device, 2 for the second
 * @is_near: the client is on the LAN of that device
 */
struct lan_row {
	const char *what, *peer, *own, *subnet;
	u8 len;
	const char *other;
	u8 port;
	bool is_near;
};

static const struct lan_row lan_rows[] = {
	{ "TCP's own subnet", "::ffff:10.77.0.9", "::ffff:10.77.0.1", "::ffff:10.77.0.0", 24,
	  NULL, 1, true },
	{ "TCP's own subnet, from a virtual address", "::ffff:192.0.2.9", "::ffff:10.77.0.1",
	  "::ffff:10.77.0.0", 24, NULL, 1, true },
	{ "the client's subnet", "::ffff:10.78.0.9", "::ffff:10.77.0.1", "::ffff:10.78.0.0", 24,
	  NULL, 2, true },
	{ "the subnet of the server's address", "::ffff:192.0.2.9", "::ffff:10.78.0.1",
	  "::ffff:10.78.0.0", 24, NULL, 2, true },
	{ "another subnet of the server's interface", "::ffff:192.0.2.9", "::ffff:10.77.0.3",
	  "::ffff:10.78.0.0", 24, NULL, 2, true },
	{ "a stranger's word", "::ffff:10.77.0.9", "::ffff:10.77.0.1", "::ffff:10.78.0.0", 24,
	  NULL, 1, false },
	{ "a stranger's word, from elsewhere", "::ffff:192.0.2.9", "::ffff:10.77.0.1",
	  "::ffff:10.78.0.0", 24, NULL, 1, false },
	{ "another length", "::ffff:10.78.0.9", "::ffff:10.78.0.1", "::ffff:10.78.0.0", 16,
	  NULL, 1, false },
	{ "IPv4 of an IPv6 client, same last bytes", "2001:db8:9::a4e:9", "2001:db8:1::a4e:1",
	  "::ffff:10.78.0.0", 24, NULL, 1, false },
	{ "TCP's own prefix", "2001:db8:1::9", "2001:db8:1::1", "2001:db8:1::", 64, NULL, 1,
	  true },
	{ "the client's prefix", "2001:db8:2::9", "2001:db8:1::1", "2001:db8:2::", 64, NULL, 2,
	  true },
	{ "the client's prefix, the second of two", "2001:db8:2::9", "2001:db8:1::1",
	  "2001:db8:7::", 64, "2001:db8:2::", 2, true },
	{ "the prefix of the server's address", "2001:db8:9::9", "2001:db8:2::1", "2001:db8:2::",
	  64, NULL, 2, true },
	{ "a stranger's word about a prefix", "2001:db8:1::9", "2001:db8:1::1", "2001:db8:2::",
	  64, NULL, 1, false },
	{ "a stranger's word, to a link-local address of both", "2001:db8:9::9", "fe80::1",
	  "2001:db8:2::", 64, NULL, 1, false },
	{ "a stranger's own prefix, and another one", "2001:db8:9::9", "2001:db8:1::1",
	  "2001:db8:9::", 64, "2001:db8:2::", 1, false },
};

/* The server's socket of that client, on the first device. */
static void lan_connect(struct kunit *test, const struct lan_row *row)
{
	struct route_world *w = test->priv;
	struct sock *sk = w->tcp->sk;
	struct in6_addr own;
	struct rtable *rt;
	struct flowi4 fl4 = { .daddr = htonl(0x0a4d0002), .flowi4_oif = w->dev[0]->ifindex };

	route_own = w->dev[0];
	route_addr(test, row->own, &own);
	route_addr(test, row->peer, &sk->sk_v6_daddr);
	sk->sk_v6_rcv_saddr = own;
	inet_sk(sk)->inet_saddr = own.s6_addr32[3];
	sk->sk_bound_dev_if = 0;
	rt = ip_route_output_key(&init_net, &fl4);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rt));
	sk_dst_set(sk, &rt->dst);
}

static void lan_propose(struct kunit *test, const struct lan_row *row,
			struct smc_clc_proposal *prop)
{
	struct in6_addr addr;

	memset(prop, 0, sizeof(*prop));
	prop->has_subnets = true;
	route_addr(test, row->subnet, &addr);
	if (ipv6_addr_v4mapped(&addr)) {
		prop->subnet = ntohl(addr.s6_addr32[3]);
		prop->subnet_len = row->len;
		return;
	}
	memcpy(prop->prefix[prop->nr_prefixes].addr, &addr, sizeof(addr));
	prop->prefix[prop->nr_prefixes++].len = row->len;
	if (!row->other)
		return;
	route_addr(test, row->other, &addr);
	memcpy(prop->prefix[prop->nr_prefixes].addr, &addr, sizeof(addr));
	prop->prefix[prop->nr_prefixes++].len = row->len;
}

static void lan_expect(struct kunit *test, const struct lan_row *row, u8 port, bool is_near)
{
	struct route_world *w = test->priv;
	struct smc_clc_proposal prop;
	struct smc_ib_end end = {};
	bool is_this_near = false;

	lan_propose(test, row, &prop);
	KUNIT_EXPECT_EQ_MSG(test, smc_path_find_server(w->tcp->sk, &prop, &end, &is_this_near),
			    SMC_DECLINE_NONE, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, end.port, port, "%s", row->what);
	KUNIT_EXPECT_EQ_MSG(test, is_this_near, is_near, "%s", row->what);
}

static void acpt_03_another_interface_needs_more_than_a_word(struct kunit *test)
{
	struct route_world *w = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lan_rows); i++) {
		lan_connect(test, &lan_rows[i]);
		lan_expect(test, &lan_rows[i], lan_rows[i].port, lan_rows[i].is_near);
		/* SO_BINDTODEVICE */
		w->tcp->sk->sk_bound_dev_if = w->dev[0]->ifindex;
		lan_expect(test, &lan_rows[i], 1, lan_rows[i].is_near && lan_rows[i].port == 1);
		sk_dst_reset(w->tcp->sk);
	}
}

/* ACPT-03: the master's own flag makes it its VRF. */
static void acpt_03_an_interface_of_another_vrf_is_none(struct kunit *test)
{
	static const struct lan_row row = {
		"a VRF", "::ffff:10.78.0.9", "::ffff:10.78.0.1", "::ffff:10.78.0.0", 24,
	};
	struct route_world *w = test->priv;

	lan_connect(test, &row);
	w->dev[1]->priv_flags |= IFF_L3MDEV_MASTER;
	lan_expect(test, &row, 1, false);
	w->dev[0]->priv_flags |= IFF_L3MDEV_MASTER;
	lan_expect(test, &row, 1, false);
	w->dev[1]->priv_flags &= ~IFF_L3MDEV_MASTER;
	lan_expect(test, &row, 1, false);
	w->dev[0]->priv_flags &= ~IFF_L3MDEV_MASTER;
	lan_expect(test, &row, 2, true);
	sk_dst_reset(w->tcp->sk);
}

/* Why a client does not offer SMC to @to where the device @served has the only port. */
static enum smc_decline route_reach(struct kunit *test, const char *to, int served)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(80) };
	struct route_world *w = test->priv;
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(80) };
	enum smc_decline reach;

	route_served = w->dev[served];
	route_addr(test, to, &in6.sin6_addr);
	if (ipv6_addr_type(&in6.sin6_addr) & IPV6_ADDR_LINKLOCAL)
		in6.sin6_scope_id = w->dev[0]->ifindex;
	reach = smc_path_reach(w->tcp->sk, (struct sockaddr *)&in6);
	if (!ipv6_addr_v4mapped(&in6.sin6_addr))
		return reach;
	in.sin_addr.s_addr = in6.sin6_addr.s6_addr32[3];
	KUNIT_EXPECT_EQ(test, (u32)smc_path_reach(w->tcp->sk, (struct sockaddr *)&in),
			(u32)reach);
	return reach;
}

static bool route_may_reach(struct kunit *test, const char *to, int served)
{
	return route_reach(test, to, served) == SMC_DECLINE_NONE;
}

/* H12: an RDMA device on the way that does not serve is named before anything is sent. */
static void a_device_that_does_not_serve_is_the_reason(struct kunit *test)
{
	static const char * const on_first[] = { "::ffff:10.77.0.2", "2001:db8:1::2" };
	struct route_world *w = test->priv;
	unsigned int i;

	w->tcp->sk->sk_bound_dev_if = 0;
	for (i = 0; i < ARRAY_SIZE(on_first); i++) {
		route_unfit = w->dev[0];
		KUNIT_EXPECT_EQ(test, (u32)route_reach(test, on_first[i], 1),
				(u32)SMC_DECLINE_UNFIT);
		/* one that serves beside it */
		KUNIT_EXPECT_TRUE(test, route_may_reach(test, on_first[i], 0));
		/* elsewhere */
		route_unfit = w->dev[1];
		KUNIT_EXPECT_EQ(test, (u32)route_reach(test, on_first[i], 1),
				(u32)SMC_DECLINE_NOSMCRDEV);
		/* the host has no other */
		route_has_device = false;
		KUNIT_EXPECT_EQ(test, (u32)route_reach(test, on_first[i], 1),
				(u32)SMC_DECLINE_UNFIT);
		route_unfit = NULL;
		KUNIT_EXPECT_EQ(test, (u32)route_reach(test, on_first[i], 1),
				(u32)SMC_DECLINE_NOSMCRDEV);
		route_has_device = true;
	}
	route_served = NULL;
}

/* A service may repeat TCP options: by a device without a port it gets none. */
static void an_offer_needs_a_port_on_the_route(struct kunit *test)
{
	static const char * const on_first[] = {
		"::ffff:10.77.0.2", "::ffff:10.79.0.9", "2001:db8:1::2", "2001:db8:9::9", "fe80::2",
	};
	struct route_world *w = test->priv;
	unsigned int i;

	w->tcp->sk->sk_bound_dev_if = 0;
	for (i = 0; i < ARRAY_SIZE(on_first); i++) {
		KUNIT_EXPECT_TRUE_MSG(test, route_may_reach(test, on_first[i], 0), "%s",
				      on_first[i]);
		KUNIT_EXPECT_FALSE_MSG(test, route_may_reach(test, on_first[i], 1), "%s",
				       on_first[i]);
	}
	KUNIT_EXPECT_TRUE(test, route_may_reach(test, "2001:db8:2::2", 1));
	/* this host has no port, and needs none with memory */
	KUNIT_EXPECT_FALSE(test, route_may_reach(test, "::1", 0));
	KUNIT_EXPECT_FALSE(test, route_may_reach(test, "::ffff:127.0.0.1", 0));
	KUNIT_EXPECT_FALSE(test, route_may_reach(test, "::ffff:10.77.0.1", 0));
	smc_net(&init_net)->set.memory = SMC_MEMORY_NET;
	KUNIT_EXPECT_TRUE(test, route_may_reach(test, "::1", 0));
	KUNIT_EXPECT_TRUE(test, route_may_reach(test, "::ffff:10.77.0.1", 0));
	KUNIT_EXPECT_TRUE(test, route_may_reach(test, "2001:db8:1::1", 0));
	KUNIT_EXPECT_FALSE(test, route_may_reach(test, "::ffff:10.77.0.2", 1));
	smc_net(&init_net)->set.memory = SMC_MEMORY_OFF;
	/* as TCP looks it up: by mark and bound device */
	w->tcp->sk->sk_bound_dev_if = w->dev[1]->ifindex;
	KUNIT_EXPECT_FALSE(test, route_may_reach(test, "2001:db8:2::2", 0));
	w->tcp->sk->sk_bound_dev_if = 0;
	route_served = NULL;
}

/* Between hosts in one subnet the default EID counts. */
static void a_path_of_tcp_is_direct_without_a_gateway(struct kunit *test)
{
	static const struct {
		const char *to;
		bool is_direct;
	} rows[] = {
		{ "10.77.0.2", true }, { "10.79.0.9", false }, { "2001:db8:1::2", true },
		{ "2001:db8:9::9", false }, { "2001:db8:a::9", false },
	};
	struct route_world *w = test->priv;
	struct sock *sk = w->tcp->sk;
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, smc_path_is_direct(sk));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flowi4 fl4 = {};
		struct flowi6 fl6 = {};
		struct dst_entry *dst;

		if (in4_pton(rows[i].to, -1, (u8 *)&fl4.daddr, -1, NULL)) {
			struct rtable *rt = ip_route_output_key(&init_net, &fl4);

			KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(rt), "%s", rows[i].to);
			dst = &rt->dst;
		} else {
			in6_pton(rows[i].to, -1, fl6.daddr.s6_addr, -1, NULL);
			dst = smc_compat_route6(&init_net, NULL, &fl6);
			KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(dst), "%s", rows[i].to);
		}
		sk_dst_set(sk, dst);
		KUNIT_EXPECT_EQ_MSG(test, smc_path_is_direct(sk), rows[i].is_direct, "%s",
				    rows[i].to);
		sk_dst_reset(sk);
	}
}

/* A link group is shared, and each host decides for what it sends. */
static void packets_have_the_class_of_the_settings_or_of_the_socket(struct kunit *test)
{
	struct route_world *w = test->priv;
	struct sock *sk = w->tcp->sk;
	struct smc_settings *set;
	struct smc_ib_class class;

	set = &smc_net(&init_net)->set;
	inet_sk(sk)->tos = 0x68;
	inet6_sk(sk)->tclass = 0x48;
	sk->sk_priority = 3;
	in6_pton("2001:db8:1::2", -1, sk->sk_v6_daddr.s6_addr, -1, NULL);
	smc_path_class(sk, &class);
	KUNIT_EXPECT_EQ(test, class.traffic_class, 0);
	KUNIT_EXPECT_EQ(test, class.sl, 0);
	set->rdma_tos = 255;
	set->rdma_sl = 7;
	smc_path_class(sk, &class);
	KUNIT_EXPECT_EQ(test, class.traffic_class, 255);
	KUNIT_EXPECT_EQ(test, class.sl, 7);
	set->rdma_tos = -1;
	set->rdma_sl = -1;
	smc_path_class(sk, &class);
	KUNIT_EXPECT_EQ(test, class.traffic_class, 0x48);
	KUNIT_EXPECT_EQ(test, class.sl, 3);
	/* by IPv4, also from a socket of IPv6 */
	in6_pton("::ffff:10.77.0.2", -1, sk->sk_v6_daddr.s6_addr, -1, NULL);
	sk->sk_priority = 100;
	smc_path_class(sk, &class);
	KUNIT_EXPECT_EQ(test, class.traffic_class, 0x68);
	KUNIT_EXPECT_EQ(test, class.sl, 7);
	memset(&sk->sk_v6_daddr, 0, sizeof(sk->sk_v6_daddr));
}

/* What a path asks for, by the setting and by what is known of the peer. */
static void a_path_asks_for_the_version_of_roce_that_may_work(struct kunit *test)
{
	static const struct {
		int setting;
		bool needs_v2;
		enum smc_gid_roce roce;
		bool may_route;
	} rows[] = {
		{ 0, false, SMC_GID_V1_FIRST, true },
		{ 1, false, SMC_GID_V1_ONLY, false },
		{ 2, false, SMC_GID_V2_ONLY, true },
		{ 0, true, SMC_GID_V2_FIRST, true },
		{ 1, true, SMC_GID_V1_ONLY, false },
		{ 2, true, SMC_GID_V2_ONLY, true },
	};
	struct flowi4 fl4 = { .daddr = htonl(0x0a4d0002) };
	struct route_world *w = test->priv;
	struct sock *sk = w->tcp->sk;
	struct smc_settings *set;
	struct smc_ib_end end;
	struct rtable *rt;
	unsigned int i;

	set = &smc_net(&init_net)->set;
	set->peer_memory_ms = 60000;
	smc_peer_prepare(&init_net);
	rt = ip_route_output_key(&init_net, &fl4);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rt));
	sk_dst_set(sk, &rt->dst);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		set->roce = rows[i].setting;
		if (rows[i].needs_v2)
			smc_peer_try_v2(&init_net, &sk->sk_v6_daddr);
		KUNIT_EXPECT_EQ_MSG(test, smc_path_find(sk, &end, NULL), SMC_DECLINE_NONE,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, route_roce, rows[i].roce, "row %u", i);
		route_nr_routed = 0;
		smc_path_find_routed(sk, NULL, NULL, &end);
		KUNIT_EXPECT_EQ_MSG(test, route_nr_routed, rows[i].may_route, "row %u", i);
	}
	sk_dst_reset(sk);
	smc_peer_exit_net(&init_net);
}

static struct kunit_case smc_route_cases[] = {
	KUNIT_CASE(acpt_03_another_interface_needs_more_than_a_word),
	KUNIT_CASE(acpt_03_an_interface_of_another_vrf_is_none),
	KUNIT_CASE(an_offer_needs_a_port_on_the_route),
	KUNIT_CASE(a_device_that_does_not_serve_is_the_reason),
	KUNIT_CASE(sec_02_sec_06_ways),
	KUNIT_CASE(sec_02_routes_of_an_rnic_beside),
	KUNIT_CASE(neighbours_are_asked),
	KUNIT_CASE(sec_01_a_path_is_like_that_of_tcp),
	KUNIT_CASE(a_path_of_tcp_is_direct_without_a_gateway),
	KUNIT_CASE(packets_have_the_class_of_the_settings_or_of_the_socket),
	KUNIT_CASE(a_path_asks_for_the_version_of_roce_that_may_work),
	{}
};

static struct kunit_suite smc_route_suite = {
	.name = "smc_path",
	.init = route_init,
	.exit = route_exit,
	.test_cases = smc_route_cases,
};

kunit_test_suite(smc_route_suite);
