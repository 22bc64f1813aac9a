// SPDX-License-Identifier: GPL-2.0
/*
 * Ways to a peer's GID, by the routes and neighbours of the IP stack: two network
 * devices that send nothing, one of which is that of our RNIC (SEC-02).
 */
#include <linux/etherdevice.h>
#include <linux/icmpv6.h>
#include <linux/inet.h>
#include <linux/neighbour.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/wait.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "smc_kunit.h"

#include "../../../net/smc/smc_route.c"

/**
 * struct route_world - what a case has
 * @dev: that of our RNIC, where nothing else is said, and another one
 * @nl: asks the kernel for addresses, routes and neighbours
 */
struct route_world {
	struct net_device *dev[2];
	struct socket *nl;
};

static struct net_device *route_own;
static struct in6_addr route_asked_for;
static atomic_t route_nr_asked;

bool smc_ib_end_is_at(const struct smc_ib_end *end, const struct net_device *ndev)
{
	return ndev == route_own;
}

int smc_ib_end_ifindex(const struct smc_ib_end *end)
{
	return route_own->ifindex;
}

/* Counts neighbour solicitations for the address that a case is about. */
static netdev_tx_t route_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	const struct nd_msg *msg;
	struct ipv6hdr *ip;

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

/* An IP address as rtnetlink has it; returns the family. */
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

/* A request of TYPE with room for a header of SIZE bytes, which is zero. */
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

static void route_ask(struct kunit *test, struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct route_world *w = test->priv;
	struct {
		struct nlmsghdr nlh;
		struct nlmsgerr err;
	} __packed answer = {};
	/* told where it goes, the kernel asks for our rights and for no file's */
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr msg = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec vec;
	int n;

	nlmsg_end(skb, nlh);
	vec.iov_base = skb->data;
	vec.iov_len = skb->len;
	n = kernel_sendmsg(w->nl, &msg, &vec, 1, skb->len);
	kfree_skb(skb);
	KUNIT_EXPECT_GT(test, n, 0);
	vec.iov_base = &answer;
	vec.iov_len = sizeof(answer);
	n = kernel_recvmsg(w->nl, &msg, &vec, 1, sizeof(answer), MSG_DONTWAIT);
	KUNIT_EXPECT_GE(test, n, (int)(sizeof(answer.nlh) + sizeof(answer.err.error)));
	KUNIT_EXPECT_EQ(test, answer.nlh.nlmsg_type, NLMSG_ERROR);
	KUNIT_EXPECT_EQ(test, answer.err.error, 0);
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
static void route_add(struct kunit *test, int dev, const char *dst, int len, const char *via)
{
	struct route_world *w = test->priv;
	struct nlmsghdr *nlh;
	struct sk_buff *skb;
	struct rtmsg *rtm;

	nlh = route_request(test, &skb, RTM_NEWROUTE, sizeof(*rtm));
	rtm = nlmsg_data(nlh);
	rtm->rtm_dst_len = len;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_protocol = RTPROT_STATIC;
	rtm->rtm_type = via ? RTN_UNICAST : RTN_BLACKHOLE;
	rtm->rtm_family = route_put_addr(test, skb, RTA_DST, dst);
	if (via) {
		route_put_addr(test, skb, RTA_GATEWAY, via);
		KUNIT_ASSERT_EQ(test, nla_put_u32(skb, RTA_OIF, w->dev[dev]->ifindex), 0);
	}
	route_ask(test, skb, nlh);
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

static int route_init(struct kunit *test)
{
	struct route_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	int i, rc;

	if (!w)
		return -ENOMEM;
	test->priv = w;
	rc = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &w->nl);
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
	return 0;
}

static void route_exit(struct kunit *test)
{
	struct route_world *w = test->priv;
	int i;

	/* those without a device stay behind with it */
	if (w->dev[1]) {
		route_del(test, "::ffff:10.80.0.0", 24);
		route_del(test, "2001:db8:b::", 64);
	}
	rtnl_lock();
	for (i = 0; i < 2; i++)
		if (w->dev[i])
			unregister_netdevice(w->dev[i]);
	rtnl_unlock();
	if (w->nl)
		sock_release(w->nl);
}

struct route_row {
	const char *what, *own, *peer;
	int rc;
	bool has_gateway;
	u8 mac;		/* last byte of the next hop's */
	int dev;	/* that of our RNIC */
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
};

static int route_find(struct kunit *test, const char *own, const char *peer,
		      struct smc_route *route)
{
	struct smc_ib_end end = { .is_v2 = true };
	struct in6_addr addr;

	route_addr(test, own, &addr);
	memcpy(end.gid.raw, &addr, sizeof(end.gid.raw));
	route_addr(test, peer, &addr);
	memset(route, 0xaa, sizeof(*route));
	return smc_route_find(&init_net, &end, addr.s6_addr, route);
}

static void sec_02_ways(struct kunit *test)
{
	struct route_world *w = test->priv;
	const struct route_row *row;
	struct smc_route route;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(route_rows); i++) {
		row = &route_rows[i];
		route_own = w->dev[row->dev];
		KUNIT_EXPECT_EQ_MSG(test, route_find(test, row->own, row->peer, &route),
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

/* Who is not known is asked, and whoever wants to know comes back. */
static void neighbours_are_asked(struct kunit *test)
{
	struct smc_route route;
	unsigned int i;

	atomic_set(&route_nr_asked, 0);
	route_addr(test, "2001:db8:1::3", &route_asked_for);
	KUNIT_EXPECT_EQ(test, route_find(test, "2001:db8:1::1", "2001:db8:1::3", &route), -EAGAIN);
	for (i = 0; i < 100 && !atomic_read(&route_nr_asked); i++)
		msleep(20);
	KUNIT_EXPECT_GT(test, atomic_read(&route_nr_asked), 0);
	KUNIT_EXPECT_EQ(test, route_find(test, "2001:db8:1::1", "2001:db8:1::3", &route), -EAGAIN);
	route_add_neigh(test, 0, "2001:db8:1::3", 0x33);
	KUNIT_EXPECT_EQ(test, route_find(test, "2001:db8:1::1", "2001:db8:1::3", &route), 0);
	KUNIT_EXPECT_EQ(test, route.mac[5], 0x33);
}

static struct kunit_case smc_route_cases[] = {
	KUNIT_CASE(sec_02_ways),
	KUNIT_CASE(neighbours_are_asked),
	{}
};

static struct kunit_suite smc_route_suite = {
	.name = "smc_route",
	.init = route_init,
	.exit = route_exit,
	.test_cases = smc_route_cases,
};

kunit_test_suite(smc_route_suite);
