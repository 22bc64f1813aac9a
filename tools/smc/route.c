// SPDX-License-Identifier: GPL-2.0
/*
 * Routes of this host, by rtnetlink, and its IPsec policies.
 */
#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <linux/xfrm.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "check.h"

#define V4_AT 12	/* in a mapped address */

static bool is_v4(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_V4MAPPED(addr);
}

static const void *bytes_of(const struct in6_addr *addr)
{
	return is_v4(addr) ? addr->s6_addr + V4_AT : addr->s6_addr;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	(void)from;
	*(int *)arg = error->error;
	return NL_STOP;
}

/**
 * netlink_ask() - send a request to the kernel and wait for the whole answer
 * @protocol: of netlink
 * @msg: the request, which is freed; NULL for want of memory
 * @visit: called for each message of the answer
 * @arg: for @visit
 *
 * Return: 0; -errno of the kernel, or -EIO without an answer, also of a kernel without @protocol.
 */
int netlink_ask(int protocol, struct nl_msg *msg, int (*visit)(struct nl_msg *msg, void *arg),
		void *arg)
{
	struct nl_sock *sock = nl_socket_alloc();
	int err = -EIO, refused = 0;

	if (sock && msg && !nl_connect(sock, protocol)) {
		nl_socket_disable_auto_ack(sock);
		nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, visit, arg);
		nl_socket_modify_err_cb(sock, NL_CB_CUSTOM, on_error, &refused);
		err = nl_send_auto(sock, msg) < 0 || nl_recvmsgs_default(sock) < 0 ? -EIO : 0;
	}
	nlmsg_free(msg);
	nl_socket_free(sock);
	return refused ? refused : err;
}

static int note_route(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[RTA_MAX + 1];
	struct nlmsghdr *head = nlmsg_hdr(msg);
	const struct rtmsg *rtm = nlmsg_data(head);
	struct route *route = arg;

	if (head->nlmsg_type != RTM_NEWROUTE || nlmsg_parse(head, sizeof(*rtm), tb, RTA_MAX, NULL))
		return NL_SKIP;
	route->is_same_host = rtm->rtm_type == RTN_LOCAL;
	route->has_gateway = tb[RTA_GATEWAY] || tb[RTA_VIA];
	if (tb[RTA_OIF])
		route->interface = nla_get_u32(tb[RTA_OIF]);
	if (tb[RTA_PREFSRC] && rtm->rtm_family == AF_INET) {
		route->local.s6_addr[10] = 0xff;
		route->local.s6_addr[11] = 0xff;
		memcpy(route->local.s6_addr + V4_AT, nla_data(tb[RTA_PREFSRC]), 4);
	} else if (tb[RTA_PREFSRC]) {
		memcpy(&route->local, nla_data(tb[RTA_PREFSRC]), sizeof(route->local));
	}
	return NL_OK;
}

/**
 * route_find() - ask for the route of a TCP connection of this user
 * @peer: its destination, IPv4 mapped
 * @scope: interface of a link-local address, or 0
 * @port: its port, or 0
 * @route: filled
 *
 * Return: 0, or -errno, as for connect().
 */
int route_find(const struct in6_addr *peer, unsigned int scope, uint16_t port, struct route *route)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETROUTE, NLM_F_REQUEST);
	int len = is_v4(peer) ? 4 : 16;
	struct rtmsg rtm = { .rtm_family = is_v4(peer) ? AF_INET : AF_INET6,
			     .rtm_dst_len = 8 * len };
	int err;

	memset(route, 0, sizeof(*route));
	if (msg && (nlmsg_append(msg, &rtm, sizeof(rtm), NLMSG_ALIGNTO) ||
		    nla_put(msg, RTA_DST, len, bytes_of(peer)) ||
		    nla_put_u8(msg, RTA_IP_PROTO, IPPROTO_TCP) ||
		    (scope && nla_put_u32(msg, RTA_OIF, scope)) ||
		    (port && nla_put_u16(msg, RTA_DPORT, htons(port))))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	err = netlink_ask(NETLINK_ROUTE, msg, note_route, route);
	return err ? err : route->interface ? 0 : -ENETUNREACH;
}

struct flow {
	const struct in6_addr *local, *peer;
	uint16_t port;
	bool is_protected;
};

static bool is_in(const struct in6_addr *addr, const xfrm_address_t *net, unsigned int bits)
{
	const uint8_t *a = bytes_of(addr), *b = (const uint8_t *)net;

	if (memcmp(a, b, bits / 8))
		return false;
	return !(bits % 8) || !((a[bits / 8] ^ b[bits / 8]) & (0xff00 >> bits % 8));
}

static int note_policy(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[XFRMA_MAX + 1];
	struct nlmsghdr *head = nlmsg_hdr(msg);
	const struct xfrm_userpolicy_info *info = nlmsg_data(head);
	const struct xfrm_selector *sel = &info->sel;
	struct flow *flow = arg;

	if (head->nlmsg_type != XFRM_MSG_NEWPOLICY || info->dir != XFRM_POLICY_OUT ||
	    nlmsg_parse(head, sizeof(*info), tb, XFRMA_MAX, NULL))
		return NL_SKIP;
	if (sel->family != (is_v4(flow->peer) ? AF_INET : AF_INET6) ||
	    !is_in(flow->peer, &sel->daddr, sel->prefixlen_d) ||
	    !is_in(flow->local, &sel->saddr, sel->prefixlen_s) ||
	    (sel->proto && sel->proto != IPPROTO_TCP) ||
	    (flow->port && (htons(flow->port) ^ sel->dport) & sel->dport_mask))
		return NL_SKIP;
	/* others let packets pass as they are */
	if (info->action == XFRM_POLICY_BLOCK || tb[XFRMA_TMPL])
		flow->is_protected = true;
	return NL_OK;
}

/**
 * route_needs_ipsec() - look for an IPsec policy of a connection
 * @route: its route
 * @peer: its destination
 * @port: its port, or 0
 *
 * Return: 1 if one may protect its packets, 0 if none does, -errno if they are not shown.
 */
int route_needs_ipsec(const struct route *route, const struct in6_addr *peer, uint16_t port)
{
	struct nl_msg *msg = nlmsg_alloc_simple(XFRM_MSG_GETPOLICY, NLM_F_REQUEST | NLM_F_DUMP);
	struct flow flow = { .local = &route->local, .peer = peer, .port = port };
	int err = netlink_ask(NETLINK_XFRM, msg, note_policy, &flow);

	/* a kernel without IPsec has no such socket */
	return err == -EIO ? 0 : err ? err : flow.is_protected;
}
