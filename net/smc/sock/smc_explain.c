// SPDX-License-Identifier: GPL-2.0
/*
 * Why a connection would use SMC or TCP: the choice of a client, made without a connection.
 *
 * A datagram socket has a route and addresses as soon as it is connected, without any packet. So
 * the functions that decide for a connection decide for it. It belongs to the caller, whose user
 * and control group count.
 */
#include <linux/net.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "smc_compat.h"
#include "rdma/smc_eid.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_net.h"
#include "rdma/smc_path.h"
#include "rdma/smc_peer.h"
#include "rdma/smc_pnet.h"
#include "sock/smc_explain.h"
#include "sock/smc_hs_path.h"
#include "sock/smc_policy.h"
#include "sock/smc_tcp.h"

static __printf(5, 6)
void explain_note(struct smc_explain *ex, enum smc_explain_id id, enum smc_decline reason,
		  u32 number, const char *format, ...)
{
	struct smc_explain_check *check = &ex->check[id];
	va_list values;

	check->is_known = true;
	check->is_ok = reason == SMC_DECLINE_NONE;
	check->reason = reason;
	check->number = number;
	va_start(values, format);
	vsnprintf(check->text, sizeof(check->text), format, values);
	va_end(values);
}

static int explain_address(const struct in6_addr *peer, u16 port, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	/* at one place in both families */
	in->sin_port = htons(port);
	if (ipv6_addr_v4mapped(peer)) {
		in->sin_family = AF_INET;
		in->sin_addr.s_addr = peer->s6_addr32[3];
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_addr = *peer;
	return sizeof(*in6);
}

/* What connect() asks before it sends a SYN, in the same order, of the address that it goes to. */
static enum smc_decline explain_offer(struct smc_explain *ex, struct smc_sock *smc,
				      const struct in6_addr *peer, u16 port,
				      const struct sockaddr *addr)
{
	enum smc_decline reach = smc_path_reach(smc->sk, addr);
	enum smc_decline policy, reason;
	u32 rule;

	policy = smc_policy_peek(smc->sk, SMC_POLICY_CONNECT, peer, port, &rule);
	explain_note(ex, SMC_EXPLAIN_POLICY, policy, rule, "%s",
		     policy == SMC_DECLINE_DRAIN ? "the module is drained" :
		     rule ? "a rule decides" : "no rule matches");
	reason = smc_hs_may_offer(smc, addr, peer);
	if (smc->memory_age_ms)
		explain_note(ex, SMC_EXPLAIN_MEMORY, reason, smc->memory_age_ms,
			     "remembered for %u ms: %s", smc->memory_age_ms,
			     smc_nego_reason_text(smc->peer_diagnosis ?: reason));
	else if (reason == SMC_DECLINE_NONE)
		explain_note(ex, SMC_EXPLAIN_MEMORY, reason, 0, "nothing is remembered");
	explain_note(ex, SMC_EXPLAIN_DEVICES, smc->memory_age_ms ? SMC_DECLINE_NONE : reason, 0,
		     "%s", reach == SMC_DECLINE_UNFIT ? "one that is not fit for SMC" :
		     !smc_ib_has_device() ? "no RDMA device" :
		     reach ? "none on this route" : "this host has RDMA devices");
	return policy != SMC_DECLINE_NONE ? policy : reason;
}

static void explain_route(struct smc_explain *ex, struct sock *sk)
{
	struct dst_entry *dst = sk_dst_get(sk);
	struct net_device *ndev;
	struct smc_pnet_id id;

	rcu_read_lock();
	ndev = dst ? smc_compat_dst_dev(dst) : NULL;
	if (ndev) {
		explain_note(ex, SMC_EXPLAIN_ROUTE, SMC_DECLINE_NONE, ndev->ifindex, "by %s",
			     ndev->name);
		smc_pnet_of_netdev(sock_net(sk), ndev, &id);
		explain_note(ex, SMC_EXPLAIN_PNETID, SMC_DECLINE_NONE, 0, "%s",
			     smc_pnet_id_is_set(&id) ? id.text : "none: the port below counts");
	}
	rcu_read_unlock();
	dst_release(dst);
	explain_note(ex, SMC_EXPLAIN_IPSEC,
		     smc_path_needs_ipsec(sk) ? SMC_DECLINE_IPSEC : SMC_DECLINE_NONE, 0,
		     "of the route");
}

static void explain_end(struct smc_explain *ex, enum smc_explain_id id, enum smc_decline reason,
			struct smc_ib_end *end)
{
	if (reason != SMC_DECLINE_NONE) {
		explain_note(ex, id, reason, 0, "%s", smc_nego_reason_text(reason));
		return;
	}
	explain_note(ex, id, reason, ib_mtu_enum_to_int(end->mtu), "%s port %u, GID %pI6c",
		     end->dev->ibdev->name, end->port, end->gid.raw);
	smc_ib_end_put(end);
}

/* The two ports that a handshake looks for, each by itself */
static void explain_ports(struct smc_explain *ex, struct sock *sk)
{
	struct smc_nego_subnets subnets;
	struct smc_ib_end end = {};
	enum smc_decline reason;
	bool has_default;

	reason = smc_path_find(sk, &end, &subnets);
	has_default = smc_hs_has_default_eid(sock_net(sk), reason == SMC_DECLINE_NONE &&
					     smc_path_is_direct(sk));
	explain_end(ex, SMC_EXPLAIN_PORT_V1, reason, &end);
	memset(&end, 0, sizeof(end));
	if (smc_path_find_routed(sk, NULL, NULL, &end))
		reason = SMC_DECLINE_NONE;
	else if (reason != SMC_DECLINE_UNFIT)
		reason = SMC_DECLINE_NOSMCRDEV;
	explain_end(ex, SMC_EXPLAIN_PORT_V2, reason, &end);
	if (smc_eid_any(has_default))
		explain_note(ex, SMC_EXPLAIN_EID, SMC_DECLINE_NONE, 0, "this host has an EID");
	else
		explain_note(ex, SMC_EXPLAIN_EID, SMC_DECLINE_NOUEID, 0, "this host has no EID");
}

/* The Proposal that a handshake would send */
static int explain_proposal(struct smc_explain *ex, struct smc_sock *smc)
{
	struct smc_hs *hs = kzalloc(sizeof(*hs), GFP_KERNEL);
	struct smc_clc_msg *msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	int rc = -ENOMEM;

	if (hs && msg) {
		rc = 0;
		hs->smc = smc;
		hs->net = sock_net(smc->sk);
		hs->role = SMC_ROLE_CLIENT;
		if (smc_hs_build_proposal(hs, msg) == SMC_HS_GO_ON) {
			ex->offers_v1 = msg->proposal.offers_v1;
			ex->offers_v2 = msg->proposal.offers_v2;
		} else if (ex->reason == SMC_DECLINE_NONE) {
			ex->reason = hs->reason;
		}
		smc_hs_put_port(hs);
	}
	kfree(msg);
	kfree(hs);
	return rc;
}

/* Routing rules may select by the protocol. */
static int explain_connect(struct socket *sock, struct sockaddr_storage *addr, int len)
{
	int rc;

	sock->sk->sk_protocol = IPPROTO_TCP;
	rc = kernel_connect(sock, (SMC_SOCKADDR *)addr, len, 0);
	sock->sk->sk_protocol = IPPROTO_UDP;
	return rc;
}

static int explain_with(struct smc_explain *ex, struct smc_sock *smc, struct socket *sock,
			const struct in6_addr *peer, u16 port)
{
	struct sockaddr_storage addr;
	int len = explain_address(peer, port, &addr);
	struct in6_addr final = *peer;
	int rc;

	smc->sk = sock->sk;
	rc = explain_connect(sock, &addr, len);
	if (!rc) {
		smc_tcp_peer(sock->sk, &addr);
		smc_peer_addr(sock->sk, &final);
		port = ntohs(inet_sk(sock->sk)->inet_dport);
	}
	ex->reason = explain_offer(ex, smc, &final, port, (struct sockaddr *)&addr);
	if (rc) {
		explain_note(ex, SMC_EXPLAIN_ROUTE, SMC_DECLINE_NOROUTE, -rc,
			     "no route: error %d", -rc);
		return 0;
	}
	explain_route(ex, sock->sk);
	explain_ports(ex, sock->sk);
	rc = explain_proposal(ex, smc);
	if (ex->reason != SMC_DECLINE_NONE) {
		ex->offers_v1 = false;
		ex->offers_v2 = false;
	}
	return rc;
}

/**
 * smc_explain() - find out what a connection of the caller would use
 * @net: the namespace
 * @peer: address for connect(), IPv4 mapped
 * @port: port for connect(); 0 if it does not matter, then no service is known
 * @ex: filled
 *
 * Nothing is sent or counted. What the peer answers is unknown.
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOMEM; the negative errno of making a socket of that family.
 */
int smc_explain(struct net *net, const struct in6_addr *peer, u16 port, struct smc_explain *ex)
{
	int family = ipv6_addr_v4mapped(peer) ? PF_INET : PF_INET6;
	struct smc_sock *smc;
	struct socket *sock;
	int rc;

	memset(ex, 0, sizeof(*ex));
	smc = kzalloc(sizeof(*smc), GFP_KERNEL);
	if (!smc)
		return -ENOMEM;
	rc = sock_create_kern(net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (!rc) {
		rc = explain_with(ex, smc, sock, peer, port);
		sock_release(sock);
	}
	kfree(smc);
	return rc;
}
