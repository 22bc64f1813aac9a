// SPDX-License-Identifier: GPL-2.0
/*
 * Events in the multicast group of the family SMC_GEN_NETLINK: groups and links up and down,
 * connections that became TCP, hosts and services that are remembered.
 *
 * Operation: this file listens to tracepoints, so other files need no call for it. An event goes to
 * the namespace where it happened, if somebody listens there. Locks are held, and preemption is off
 * in a probe, so nothing waits for memory: without memory, or with a full receive queue, the event
 * is lost, and netlink reports ENOBUFS to the listener.
 */
#include <linux/ktime.h>
#include <linux/sock_diag.h>
#include <net/genetlink.h>

#include "smc_compat.h"
#include "group/smc_core.h"
#include "rdma/smc_peer.h"
#include "observe/smc_netlink.h"
#include "observe/smc_netlink_event.h"
#include "observe/smc_netlink_lgr.h"
#include "observe/smc_trace.h"

#define EVENT_GROUP	0	/* the only one of the family */

/**
 * struct smc_event - a message under construction
 * @skb: the message
 * @head: of the message
 * @nest: SMC_GEN_EVENT
 */
struct smc_event {
	struct sk_buff *skb;
	void *head;
	struct nlattr *nest;
};

/* Return: false if nobody listens, or memory is short; then nothing is to be sent. */
static bool event_begin(struct smc_event *ev, const struct net *net, u8 cmd)
{
	/* the core does not change the namespace */
	if (!genl_has_listeners(&smc_netlink_family, (struct net *)net, EVENT_GROUP))
		return false;
	ev->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!ev->skb)
		return false;
	ev->head = genlmsg_put(ev->skb, 0, 0, &smc_netlink_family, 0, cmd);
	ev->nest = ev->head ? nla_nest_start(ev->skb, SMC_GEN_EVENT) : NULL;
	if (ev->nest && !nla_put_u64_64bit(ev->skb, SMC_NLA_EVENT_TIME, ktime_get_real_ns(),
					   SMC_NLA_EVENT_PAD))
		return true;
	nlmsg_free(ev->skb);
	return false;
}

/* @rc: not 0 if an attribute had no room; then the event is lost. */
static void event_send(struct smc_event *ev, const struct net *net, int rc)
{
	if (rc) {
		nlmsg_free(ev->skb);
		return;
	}
	genlmsg_end(ev->skb, ev->head);
	genlmsg_multicast_netns(&smc_netlink_family, (struct net *)net, ev->skb, 0, EVENT_GROUP,
				GFP_ATOMIC);
}

static int event_put_text(struct smc_event *ev, const char *text)
{
	return text ? nla_put_string(ev->skb, SMC_NLA_EVENT_TEXT, text) : 0;
}

/* @diagnosis: the peer's, 0 for none */
static int event_put_reason(struct smc_event *ev, u32 reason, u32 diagnosis)
{
	if (nla_put_u32(ev->skb, SMC_NLA_EVENT_REASON, reason) ||
	    event_put_text(ev, smc_nego_reason_text(reason)))
		return -EMSGSIZE;
	return diagnosis ? nla_put_u32(ev->skb, SMC_NLA_EVENT_PEER_DIAGNOSIS, diagnosis) : 0;
}

static void event_send_lgr(struct smc_link_group *lgr, u8 cmd, bool has_links, const char *why)
{
	const struct net *net = lgr->key.net;
	struct smc_event ev;
	int rc;

	if (!event_begin(&ev, net, cmd))
		return;
	rc = event_put_text(&ev, why);
	nla_nest_end(ev.skb, ev.nest);
	event_send(&ev, net, rc ?: smc_netlink_put_lgr(ev.skb, lgr, has_links));
}

static void event_send_link(const struct smc_link *link, u8 cmd, const char *why)
{
	const struct net *net = link->lgr->key.net;
	struct smc_event ev;
	int rc;

	if (!event_begin(&ev, net, cmd))
		return;
	rc = event_put_text(&ev, why);
	nla_nest_end(ev.skb, ev.nest);
	if (!rc)
		rc = smc_netlink_put_lgr(ev.skb, link->lgr, true);
	event_send(&ev, net, rc ?: smc_netlink_put_link(ev.skb, link));
}

/* Expects lgr->lock held. */
static void event_lgr_up(void *data, const struct smc_link_group *lgr, const char *why)
{
	event_send_lgr((struct smc_link_group *)lgr, SMC_NETLINK_EVENT_LGR_UP, true, NULL);
}

/* lgr->lock may be held. */
static void event_lgr_down(void *data, const struct smc_link_group *lgr, const char *why)
{
	event_send_lgr((struct smc_link_group *)lgr, SMC_NETLINK_EVENT_LGR_DOWN, false, why);
}

/* Expects lgr->lock held. */
static void event_link_up(void *data, const struct smc_link *link)
{
	event_send_link(link, SMC_NETLINK_EVENT_LINK_UP, NULL);
}

/* Expects lgr->lock held. The first contact of a link that was never up has an event of its own. */
static void event_link_down(void *data, const struct smc_link *link, int why, const void *where)
{
	if (link->state == SMC_LINK_ACTIVE)
		event_send_link(link, SMC_NETLINK_EVENT_LINK_DOWN, smc_llc_why_name(why));
}

static int event_put_own(struct smc_event *ev, const struct sock *sk)
{
	struct in6_addr addr;

	ipv6_addr_set_v4mapped(sk->sk_rcv_saddr, &addr);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		addr = sk->sk_v6_rcv_saddr;
#endif
	if (nla_put_in6_addr(ev->skb, SMC_NLA_EVENT_ADDR, &addr))
		return -EMSGSIZE;
	return nla_put_u16(ev->skb, SMC_NLA_EVENT_PORT, ntohs(inet_sk(sk)->inet_sport));
}

static int event_put_peer(struct smc_event *ev, const struct in6_addr *addr, __be16 port)
{
	if (nla_put_in6_addr(ev->skb, SMC_NLA_EVENT_PEER_ADDR, addr))
		return -EMSGSIZE;
	return port ? nla_put_u16(ev->skb, SMC_NLA_EVENT_PEER_PORT, ntohs(port)) : 0;
}

static int event_put_cookie(struct smc_event *ev, const struct sock *sk)
{
	u32 cookie[2];

	/* the first call for a sock makes its cookie */
	sock_diag_save_cookie((struct sock *)sk, cookie);
	return nla_put_u64_64bit(ev->skb, SMC_NLA_EVENT_COOKIE, cookie[0] | (u64)cookie[1] << 32,
				 SMC_NLA_EVENT_PAD);
}

static void event_tcp(void *data, const struct sock *sk, bool is_server, u32 reason, u32 diagnosis)
{
	const struct net *net = sock_net(sk);
	struct in6_addr peer;
	struct smc_event ev;
	int rc;

	if (!event_begin(&ev, net, SMC_NETLINK_EVENT_TCP))
		return;
	smc_peer_addr(sk, &peer);
	rc = event_put_reason(&ev, reason, diagnosis);
	rc = rc ?: nla_put_u8(ev.skb, SMC_NLA_EVENT_ROLE, is_server);
	rc = rc ?: event_put_own(&ev, sk);
	rc = rc ?: event_put_peer(&ev, &peer, inet_sk(sk)->inet_dport);
	rc = rc ?: event_put_cookie(&ev, sk);
	nla_nest_end(ev.skb, ev.nest);
	event_send(&ev, net, rc);
}

static void event_peer(void *data, const struct net *net, const struct in6_addr *peer, u32 reason,
		       u32 ms)
{
	struct smc_event ev;
	int rc;

	if (!event_begin(&ev, net, SMC_NETLINK_EVENT_PEER))
		return;
	rc = event_put_reason(&ev, reason, 0);
	rc = rc ?: event_put_peer(&ev, peer, 0);
	rc = rc ?: nla_put_u32(ev.skb, SMC_NLA_EVENT_MS, ms);
	nla_nest_end(ev.skb, ev.nest);
	event_send(&ev, net, rc);
}

static void event_service(void *data, const struct sock *sk, const struct sockaddr *addr,
			  u32 reason, u32 diagnosis, u32 ms)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	const struct net *net = sock_net(sk);
	struct in6_addr peer;
	struct smc_event ev;
	int rc;

	if (!event_begin(&ev, net, SMC_NETLINK_EVENT_SERVICE))
		return;
	/* an IPv4 address is shorter */
	if (addr->sa_family == AF_INET)
		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, &peer);
	else
		peer = in6->sin6_addr;
	rc = event_put_reason(&ev, reason, diagnosis);
	/* the port is at one place in both families */
	rc = rc ?: event_put_peer(&ev, &peer, in->sin_port);
	rc = rc ?: nla_put_u32(ev.skb, SMC_NLA_EVENT_MS, ms);
	nla_nest_end(ev.skb, ev.nest);
	event_send(&ev, net, rc);
}

#define EVENT_PROBES(X)			\
	X(smc_lgr_up, event_lgr_up);	\
	X(smc_lgr_down, event_lgr_down); \
	X(smc_link_up, event_link_up);	\
	X(smcr_link_down, event_link_down); \
	X(smc_fallback, event_tcp);	\
	X(smc_peer_failed, event_peer);	\
	X(smc_service_paused, event_service)

static unsigned int event_nr_probes;	/* the first ones of the list are registered */

/**
 * smc_netlink_event_init() - begin to send events
 *
 * A kernel without tracepoints has no events.
 *
 * Context: Process context, module load; the family is registered.
 * Return: 0, or what the tracepoints return.
 */
int smc_netlink_event_init(void)
{
	int rc = 0;

	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		return 0;
#define EVENT_REGISTER(event, probe)				\
	do {							\
		if (!rc)					\
			rc = register_trace_##event(probe, NULL); \
		if (!rc)					\
			event_nr_probes++;			\
	} while (0)
	EVENT_PROBES(EVENT_REGISTER);
#undef EVENT_REGISTER
	if (rc)
		smc_netlink_event_exit();
	return rc;
}

/**
 * smc_netlink_event_exit() - undo smc_netlink_event_init()
 *
 * Context: Process context, sleeps.
 */
void smc_netlink_event_exit(void)
{
#define EVENT_UNREGISTER(event, probe)				\
	do {							\
		if (!event_nr_probes)				\
			break;					\
		unregister_trace_##event(probe, NULL);		\
		event_nr_probes--;				\
	} while (0)
	EVENT_PROBES(EVENT_UNREGISTER);
#undef EVENT_UNREGISTER
	tracepoint_synchronize_unregister();
}
