// SPDX-License-Identifier: GPL-2.0
/*
 * Events in the multicast group of the family SMC_GEN_NETLINK: groups and links up and down,
 * connections that became TCP, hosts and services that are remembered.
 *
 * An event goes to the namespace where it happened, if somebody listens there. Locks are held, so
 * nothing waits for memory: without memory, or with a full receive queue, the event is lost, and
 * netlink reports ENOBUFS to the listener.
 */
#include <linux/cgroup.h>
#include <linux/ktime.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <net/genetlink.h>

#include "smc_compat.h"
#include "group/smc_core.h"
#include "rdma/smc_event.h"
#include "sock/smc_path.h"
#include "sock/smc_sock.h"
#include "control/smc_netlink.h"
#include "control/smc_netlink_event.h"
#include "control/smc_netlink_dump.h"

static int event_put_reason(struct sk_buff *skb, const struct smc_event *event)
{
	const char *text = event->lgr ? event->text : smc_nego_reason_text(event->reason);

	if (!event->lgr && nla_put_u32(skb, SMC_NLA_EVENT_REASON, event->reason))
		return -EMSGSIZE;
	if (text && nla_put_string(skb, SMC_NLA_EVENT_TEXT, text))
		return -EMSGSIZE;
	return event->diagnosis ?
	       nla_put_u32(skb, SMC_NLA_EVENT_PEER_DIAGNOSIS, event->diagnosis) : 0;
}

/* A connection that leaves SMC; the caller of smc_event_send() holds the socket lock. */
static int event_put_record(struct sk_buff *skb, const struct sock *sk)
{
	const struct smc_sock *smc = smc_sk(sk);
	const struct smc_conn *conn = smc->conn;

	if (nla_put_u8(skb, SMC_NLA_EVENT_MODE,
		       conn->pair ? SMC_DIAG_MODE_SMCD : SMC_DIAG_MODE_SMCR) ||
	    nla_put_u64_64bit(skb, SMC_NLA_EVENT_TX_BYTES, READ_ONCE(conn->ctl.tx_sent),
			      SMC_NLA_EVENT_PAD) ||
	    nla_put_u64_64bit(skb, SMC_NLA_EVENT_RX_BYTES, READ_ONCE(conn->ctl.rx_prod),
			      SMC_NLA_EVENT_PAD))
		return -EMSGSIZE;
	return nla_put_u64_64bit(skb, SMC_NLA_EVENT_DURATION_MS,
				 jiffies64_to_msecs(jiffies - smc->begin_jiffies),
				 SMC_NLA_EVENT_PAD);
}

static int event_put_cgroup(struct sk_buff *skb, const struct sock *sk)
{
#ifdef CONFIG_SOCK_CGROUP_DATA
	/* the core does not change the socket */
	struct cgroup *cgroup = sock_cgroup_ptr((struct sock_cgroup_data *)&sk->sk_cgrp_data);

	return nla_put_u64_64bit(skb, SMC_NLA_EVENT_CGROUP, cgroup_id(cgroup), SMC_NLA_EVENT_PAD);
#else
	return 0;
#endif
}

static int event_put_own(struct sk_buff *skb, const struct sock *sk)
{
	struct in6_addr addr;

	ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &addr);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		addr = sk->sk_v6_rcv_saddr;
#endif
	if (nla_put_in6_addr(skb, SMC_NLA_EVENT_ADDR, &addr))
		return -EMSGSIZE;
	return nla_put_u16(skb, SMC_NLA_EVENT_PORT, ntohs(inet_sk(sk)->inet_sport));
}

static int event_put_peer(struct sk_buff *skb, const struct in6_addr *addr, __be16 port)
{
	if (nla_put_in6_addr(skb, SMC_NLA_EVENT_PEER_ADDR, addr))
		return -EMSGSIZE;
	return port ? nla_put_u16(skb, SMC_NLA_EVENT_PEER_PORT, ntohs(port)) : 0;
}

static int event_put_sock(struct sk_buff *skb, struct sock *sk, bool is_server)
{
	struct in6_addr peer;
	u32 cookie[2];

	smc_path_peer_addr(sk, &peer);
	/* the first call for a sock makes its cookie */
	sock_diag_save_cookie(sk, cookie);
	if (nla_put_u8(skb, SMC_NLA_EVENT_ROLE, is_server) ||
	    event_put_own(skb, sk) || event_put_peer(skb, &peer, inet_sk(sk)->inet_dport))
		return -EMSGSIZE;
	return nla_put_u64_64bit(skb, SMC_NLA_EVENT_COOKIE, cookie[0] | (u64)cookie[1] << 32,
				 SMC_NLA_EVENT_PAD);
}

static int event_put_all(struct sk_buff *skb, const struct smc_event *event)
{
	bool has_links = event->cmd != SMC_NETLINK_EVENT_LGR_DOWN;
	bool is_end = event->cmd == SMC_NETLINK_EVENT_CONN_END;
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_EVENT);

	if (!nest ||
	    nla_put_u64_64bit(skb, SMC_NLA_EVENT_TIME, ktime_get_real_ns(), SMC_NLA_EVENT_PAD) ||
	    (is_end ? event_put_record(skb, event->sk) ?: event_put_cgroup(skb, event->sk) :
		      event_put_reason(skb, event)) ||
	    (event->sk && event_put_sock(skb, event->sk, event->is_server)) ||
	    (event->peer && event_put_peer(skb, event->peer, event->port)) ||
	    (event->ms && nla_put_u32(skb, SMC_NLA_EVENT_MS, event->ms)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	if (event->lgr && smc_netlink_put_lgr(skb, event->lgr, has_links))
		return -EMSGSIZE;
	return event->link ? smc_netlink_put_link(skb, event->link) : 0;
}

/**
 * smc_netlink_event() - send an event to its listeners; for smc_event_ops.send
 * @event: the event
 *
 * Context: Any context but hard interrupt. The family is registered.
 */
void smc_netlink_event(const struct smc_event *event)
{
	int group = event->cmd == SMC_NETLINK_EVENT_CONN_END ? SMC_NETLINK_GROUP_ENDS :
							       SMC_NETLINK_GROUP_EVENTS;
	struct sk_buff *skb;
	void *head;

	if (!genl_has_listeners(&smc_netlink_family, event->net, group))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return;
	head = genlmsg_put(skb, 0, 0, &smc_netlink_family, 0, event->cmd);
	if (!head || event_put_all(skb, event)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	genlmsg_multicast_netns(&smc_netlink_family, event->net, skb, 0, group, GFP_ATOMIC);
}
