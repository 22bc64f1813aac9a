// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP option without TCP's help, for kernels without CONFIG_SMC; the bytes are those of
 * proto/smc_tcp_option.c. Linux since 6.18 has CONFIG_SMC only with CONFIG_DIBS.
 *
 * Client: TCP sends each segment by a function of its table for the IP version, and calls another
 * one of it with the SYN-ACK, before it reports the connection. A socket that offers SMC has a
 * copy of the table in which both are ours (smc_tcp.c). So plain TCP sees none of this. The
 * exception is the first SYN from a socket of IPv6 to a mapped address: connect() exchanges the
 * table in the same call. The netfilter hook adds the option to that SYN.
 *
 * Server: conn_request() sees the SYN. The SYN-ACK, its answer, passes a netfilter hook with the
 * request sock as owner. That one remembers whether the SYN-ACK has the option, for retransmits
 * and for the child. With a SYN cookie or Fast Open there is no such owner: the connection is TCP.
 *
 * The hook is there while sockets of SMC exist in the namespace, from the first that needs it on.
 */
#include "sock/smc_option.h"

#ifdef SMC_OWN_OPTION

#include <linux/bpf-cgroup.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "proto/smc_tcp_option.h"
#include "rdma/smc_net.h"
#include "sock/smc_tcp.h"

/* Bits of smc_sock.option, for clients */
enum smc_option_bit {
	SMC_OPTION_OFFERED	= 0x01,
	SMC_OPTION_ANSWERED	= 0x02,	/* the SYN-ACK has it */
	/* the SYN of the peer, without ACK, has an option that TCP does not know */
	SMC_OPTION_CROSSED	= 0x04,
};

/*
 * A mark of request socks: a number of a transmit queue that no device has. TCP initialises the
 * number, copies it where it moves the request to another listener, and has no use for it; the
 * core ignores one that is too large. A pointer would outlive the module.
 */
#define SMC_OPTION_ASKED	(NO_QUEUE_MAPPING - 1)

/* Time between looks for an unneeded hook */
#define SMC_OPTION_HOOK_TIME	(10 * HZ)

/**
 * struct smc_option_net - the netfilter hook of a namespace
 * @net: the namespace; const
 * @is_hooked: there is one; protected by &smc_pernet.change_lock
 * @work: removes it when it is unneeded
 */
struct smc_option_net {
	struct net *net;
	bool is_hooked;
	struct delayed_work work;
};

/* All listeners have the same; NULL before the first. */
static bool (*smc_option_withholds)(const struct sock *sk);

static bool smc_option_find(const struct sk_buff *skb)
{
	return smc_tcp_option_find((const u8 *)tcp_hdr(skb), tcp_hdrlen(skb));
}

/*
 * Insert the option behind the TCP header, which ends the packet: a SYN with data is Fast Open.
 * @net_len: length of the IP header in front of it. Return: false if the packet is unchanged.
 */
static bool smc_option_insert(struct sk_buff *skb, unsigned int net_len)
{
	unsigned int len = net_len + tcp_hdrlen(skb);
	bool is_partial = skb->ip_summed == CHECKSUM_PARTIAL;
	u8 *start;

	if (skb->len != len || skb_is_nonlinear(skb) ||
	    !smc_tcp_option_may_add((const u8 *)tcp_hdr(skb), tcp_hdrlen(skb)) ||
	    skb_cow_head(skb, SMC_TCP_OPTION_ROOM + LL_MAX_HEADER))
		return false;
	start = skb_push(skb, SMC_TCP_OPTION_ROOM);
	memmove(start, start + SMC_TCP_OPTION_ROOM, len);
	skb->transport_header -= SMC_TCP_OPTION_ROOM;
	if (is_partial)
		skb->csum_start -= SMC_TCP_OPTION_ROOM;
	smc_tcp_option_add(start + net_len, is_partial);
	return true;
}

/* The same for a packet with IP header. */
static bool smc_option_insert_ip(struct sk_buff *skb, u8 pf)
{
	if (!smc_option_insert(skb, skb_network_header_len(skb)))
		return false;
	skb->network_header -= SMC_TCP_OPTION_ROOM;
	if (pf == NFPROTO_IPV4) {
		be16_add_cpu(&ip_hdr(skb)->tot_len, SMC_TCP_OPTION_ROOM);
		ip_send_check(ip_hdr(skb));
	} else {
		be16_add_cpu(&ipv6_hdr(skb)->payload_len, SMC_TCP_OPTION_ROOM);
	}
	return true;
}

/* Also the SYN-ACK with which TCP answers a SYN that crosses its own. */
static void smc_option_send_syn(struct sock *sk, struct sk_buff *skb)
{
	struct smc_sock *smc = smc_sk(sk);

	if (!smc || !(smc->option & SMC_OPTION_OFFERED) || smc->is_withdrawn)
		return;
	if (smc_option_insert(skb, 0) && sk->sk_state == TCP_SYN_RECV &&
	    tcp_sk(sk)->rx_opt.saw_unknown)
		smc->option |= SMC_OPTION_CROSSED;
}

/* queue_xmit() of TCP's table, with the socket lock */
static int smc_option_xmit(struct sock *sk, struct sk_buff *skb, struct flowi *fl)
{
	if (unlikely(tcp_hdr(skb)->syn))
		smc_option_send_syn(sk, skb);
	return smc_option_tcp_af(sk)->queue_xmit(sk, skb, fl);
}

static bool smc_option_is_withheld(const struct sock *listener)
{
	bool (*withholds)(const struct sock *sk) = READ_ONCE(smc_option_withholds);

	return withholds(listener);
}

/* Return: true if @req is made of a SYN with the option, and the SYN-ACK is the first. */
static bool smc_option_answers(const struct request_sock *req)
{
	const struct sk_buff *syn = smc_tcp_answered_syn();

	return syn && tcp_rsk(req)->rcv_isn == ntohl(tcp_hdr(syn)->seq) &&
	       inet_rsk(req)->ir_rmt_port == tcp_hdr(syn)->source && smc_option_find(syn);
}

/*
 * All SYN-ACKs of a request have the option or none has: the client decides by one, the child by
 * the mark. Return: NF_DROP to have this one repeated later.
 */
static unsigned int smc_option_send_answer(struct sk_buff *skb, u8 pf)
{
	struct request_sock *req = inet_reqsk(skb->sk);
	bool was_asked = smc_option_was_asked(req);

	if ((!was_asked && !smc_option_answers(req)) || smc_option_find(skb))
		return NF_ACCEPT;
	/* TCP may have moved the request to a listener without SMC */
	if (!req->rsk_listener || !smc_sk(req->rsk_listener))
		return NF_ACCEPT;
	if (!was_asked && smc_option_is_withheld(req->rsk_listener))
		return NF_ACCEPT;
	if (smc_option_insert_ip(skb, pf)) {
		WRITE_ONCE(req_to_sk(req)->sk_tx_queue_mapping, SMC_OPTION_ASKED);
		return NF_ACCEPT;
	}
	return was_asked ? NF_DROP : NF_ACCEPT;
}

static bool smc_option_is_tcp(const struct sk_buff *skb, u8 pf)
{
	return pf == NFPROTO_IPV4 ? ip_hdr(skb)->protocol == IPPROTO_TCP :
	       ipv6_hdr(skb)->nexthdr == IPPROTO_TCP;
}

/* Every packet that leaves a socket of the namespace; in an RCU read section */
static unsigned int smc_option_hook(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	const struct sock *sk = skb->sk;
	const struct smc_sock *smc;

	if (!sk || !((1 << READ_ONCE(sk->sk_state)) & (TCPF_NEW_SYN_RECV | TCPF_SYN_SENT)) ||
	    !smc_option_is_tcp(skb, state->pf))
		return NF_ACCEPT;
	if (sk->sk_state == TCP_NEW_SYN_RECV)
		return smc_option_send_answer(skb, state->pf);
	smc = smc_sk(sk);
	if (smc && smc->option & SMC_OPTION_OFFERED && !smc->is_withdrawn && tcp_hdr(skb)->syn)
		smc_option_insert_ip(skb, state->pf);
	return NF_ACCEPT;
}

static const struct nf_hook_ops smc_option_hooks[] = {
	{
		.hook = smc_option_hook,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_LOCAL_OUT,
		/* filters and connection tracking see the packet as it leaves */
		.priority = NF_IP_PRI_FIRST,
	}, {
		.hook = smc_option_hook,
		.pf = NFPROTO_IPV6,
		.hooknum = NF_INET_LOCAL_OUT,
		.priority = NF_IP_PRI_FIRST,
	},
};

static void smc_option_unhook(struct work_struct *work)
{
	struct smc_option_net *on = container_of(to_delayed_work(work), struct smc_option_net,
						 work);
	struct smc_pernet *sn = smc_net(on->net);

	mutex_lock(&sn->change_lock);
	if (!xa_empty(&sn->socks)) {
		schedule_delayed_work(&on->work, SMC_OPTION_HOOK_TIME);
	} else if (on->is_hooked) {
		nf_unregister_net_hooks(on->net, smc_option_hooks, ARRAY_SIZE(smc_option_hooks));
		on->is_hooked = false;
	}
	mutex_unlock(&sn->change_lock);
}

static struct smc_option_net *smc_option_new_net(struct net *net)
{
	struct smc_option_net *on = kzalloc(sizeof(*on), GFP_KERNEL_ACCOUNT);

	if (!on)
		return NULL;
	on->net = net;
	INIT_DEFERRABLE_WORK(&on->work, smc_option_unhook);
	return on;
}

/*
 * Without memory there is no option, and connections are TCP. The caller's socket, which is in
 * the list of its namespace, keeps the hook.
 */
static void smc_option_prepare(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);
	struct smc_option_net *on;

	/* without the mutex smc_option_unhook() may see no socket now, and remove the hook next */
	mutex_lock(&sn->change_lock);
	on = sn->option ?: smc_option_new_net(net);
	sn->option = on;
	if (on && !on->is_hooked &&
	    !nf_register_net_hooks(net, smc_option_hooks, ARRAY_SIZE(smc_option_hooks))) {
		on->is_hooked = true;
		schedule_delayed_work(&on->work, SMC_OPTION_HOOK_TIME);
	}
	mutex_unlock(&sn->change_lock);
}

/**
 * smc_option_exit_net() - remove the hook of a namespace
 * @net: the namespace, without sockets
 *
 * Context: Process context, may sleep.
 */
void smc_option_exit_net(struct net *net)
{
	struct smc_option_net *on = smc_net(net)->option;

	if (!on)
		return;
	cancel_delayed_work_sync(&on->work);
	if (on->is_hooked)
		nf_unregister_net_hooks(net, smc_option_hooks, ARRAY_SIZE(smc_option_hooks));
	kfree(on);
}

/**
 * smc_option_take_over() - replace functions of a copy of TCP's table
 * @af: in a struct smc_option_af
 *
 * Context: Any context.
 */
void smc_option_take_over(struct inet_connection_sock_af_ops *af)
{
	af->queue_xmit = smc_option_xmit;
}

/**
 * smc_option_prepare_connect() - prepare for a SYN that only the hook can change
 * @sk: the sock, with a state
 * @addr: the address of the peer, unchecked
 * @addr_len: its length
 *
 * Context: Process context, may sleep. Expects no lock of @sk held.
 */
void smc_option_prepare_connect(const struct sock *sk, const void *addr, int addr_len)
{
	const struct sockaddr_in6 *peer = addr;

	if (sk->sk_family != AF_INET6 || addr_len < (int)sizeof(*peer) ||
	    peer->sin6_family != AF_INET6)
		return;
	/* or a BPF program may choose such an address */
	if (ipv6_addr_v4mapped(&peer->sin6_addr) || BPF_CGROUP_PRE_CONNECT_ENABLED(sk))
		smc_option_prepare(sock_net(sk));
}

/**
 * smc_option_prepare_listen() - prepare for SYN-ACKs
 * @sk: the sock, with a state
 *
 * Context: Process context, may sleep. Expects no lock of @sk held.
 */
void smc_option_prepare_listen(const struct sock *sk)
{
	smc_option_prepare(sock_net(sk));
}

/**
 * smc_option_offer() - choose what the next connect() offers
 * @smc: the socket
 * @offers: true to offer SMC
 *
 * RFC 7609 3.5.1.1; OPT-02.
 *
 * Context: Process context. Expects the socket lock held, or an unpublished sock.
 */
void smc_option_offer(struct smc_sock *smc, bool offers)
{
	smc->option = offers ? SMC_OPTION_OFFERED : 0;
}

/**
 * smc_option_receive_answer() - look for the option on the SYN-ACK to a client
 * @smc: the socket
 * @skb: the SYN-ACK
 *
 * The offer may be withdrawn: then it answers an earlier SYN.
 *
 * Context: Any context. Expects the socket lock held.
 */
void smc_option_receive_answer(struct smc_sock *smc, const struct sk_buff *skb)
{
	sock_owned_by_me(smc->sk);
	if (smc_option_find(skb))
		smc->option |= SMC_OPTION_ANSWERED;
}

/**
 * smc_option_is_agreed() - check whether both sides sent the option
 * @smc: the socket of a client, three-way handshake completed
 *
 * RFC 7609 3.1, 3.5.1.1; OPT-08.
 *
 * Context: Any context.
 * Return: true if both did, or if SYNs have crossed and the peer may have.
 */
bool smc_option_is_agreed(const struct smc_sock *smc)
{
	return smc->option & SMC_OPTION_OFFERED &&
	       smc->option & (SMC_OPTION_ANSWERED | SMC_OPTION_CROSSED);
}

/**
 * smc_option_has_crossed() - check for a peer that may be another client
 * @smc: the socket of a client
 *
 * Nobody shows us the SYN that crosses ours, only that it has an option that TCP does not know.
 * RFC 7609 3.1; OPT-10.
 *
 * Context: Any context.
 * Return: true if its SYN crossed ours. Then no byte of CLC may go there.
 */
bool smc_option_has_crossed(const struct smc_sock *smc)
{
	return smc->option & SMC_OPTION_CROSSED;
}

/**
 * smc_option_listen() - offer SMC to clients that ask for it
 * @sk: the sock; from now on a listener
 * @withholds: called for each SYN with the option, in softirq; true to answer without
 *
 * Context: Process context.
 */
void smc_option_listen(struct sock *sk, bool (*withholds)(const struct sock *sk))
{
	WRITE_ONCE(smc_option_withholds, withholds);
}

/**
 * smc_option_was_asked() - check whether SYN and SYN-ACK had the option
 * @req: a request of a listener of ours
 *
 * RFC 7609 3.1, 3.5.1.1; OPT-08.
 *
 * Context: Any context.
 * Return: true if both had.
 */
bool smc_option_was_asked(const struct request_sock *req)
{
	return READ_ONCE(((const struct sock *)req)->sk_tx_queue_mapping) == SMC_OPTION_ASKED;
}

#endif /* SMC_OWN_OPTION */
