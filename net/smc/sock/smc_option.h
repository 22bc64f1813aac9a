/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TCP option on a connection: does a SYN or SYN-ACK offer SMC, did both sides send it, did
 * the SYN of a child ask for it.
 *
 * TCP itself does it where the kernel has CONFIG_SMC, else, and with SMC_OWN_OPTION, smc_option.c.
 */
#ifndef SMC_OPTION_H
#define SMC_OPTION_H

#include <net/tcp.h>

#include "smc_compat.h"
#include "sock/smc_sock.h"

/* TCP's functions for an IP version, const, and a copy with some of ours. */
struct smc_option_af {
	const struct inet_connection_sock_af_ops *tcp;
	struct inet_connection_sock_af_ops our;
};

/* The functions of TCP. @sk: a sock with a copy */
static inline const struct inet_connection_sock_af_ops *smc_option_tcp_af(const struct sock *sk)
{
	return container_of(inet_csk(sk)->icsk_af_ops, struct smc_option_af, our)->tcp;
}

#ifdef SMC_OWN_OPTION

static inline void smc_option_init(void) {}
static inline void smc_option_exit(void) {}
void smc_option_exit_net(struct net *net);

void smc_option_take_over(struct inet_connection_sock_af_ops *af);
void smc_option_prepare_connect(const struct sock *sk, const void *addr, int addr_len);
void smc_option_prepare_listen(const struct sock *sk);

void smc_option_offer(struct smc_sock *smc, bool offers);
void smc_option_receive_answer(struct smc_sock *smc, const struct sk_buff *skb);
bool smc_option_is_agreed(const struct smc_sock *smc);
bool smc_option_has_crossed(const struct smc_sock *smc);
static inline void smc_option_withdraw(struct sock *sk) {}

void smc_option_listen(struct sock *sk, bool (*withholds)(const struct sock *sk));
static inline void smc_option_unlisten(struct sock *sk) {}
bool smc_option_was_asked(const struct request_sock *req);

#else

/* In the order of smc_option.c, which documents them. */
static inline void smc_option_init(void)
{
	static_branch_enable(&tcp_have_smc);
}

static inline void smc_option_exit(void)
{
	static_branch_disable(&tcp_have_smc);
}

static inline void smc_option_exit_net(struct net *net) {}
static inline void smc_option_take_over(struct inet_connection_sock_af_ops *af) {}
static inline void smc_option_prepare_connect(const struct sock *sk, const void *addr,
					      int addr_len) {}
static inline void smc_option_prepare_listen(const struct sock *sk) {}

static inline void smc_option_offer(struct smc_sock *smc, bool offers)
{
	tcp_sk(smc->sk)->syn_smc = offers;
}

/* TCP has looked already. It compares with the present offer, which may be withdrawn. */
static inline void smc_option_receive_answer(struct smc_sock *smc, const struct sk_buff *skb)
{
	struct tcp_sock *tp = tcp_sk(smc->sk);

	if (smc->is_withdrawn && tp->rx_opt.smc_ok)
		tp->syn_smc = 1;
}

/* TCP clears syn_smc when the SYN-ACK lacks the option, but not when two SYNs cross. */
static inline bool smc_option_is_agreed(const struct smc_sock *smc)
{
	return tcp_sk(smc->sk)->syn_smc && tcp_sk(smc->sk)->rx_opt.smc_ok;
}

static inline bool smc_option_has_crossed(const struct smc_sock *smc)
{
	return false;
}

static inline void smc_option_withdraw(struct sock *sk)
{
	tcp_sk(sk)->syn_smc = 0;
}

static inline void smc_option_listen(struct sock *sk, bool (*withholds)(const struct sock *sk))
{
	tcp_sk(sk)->syn_smc = 1;
	tcp_sk(sk)->smc_hs_congested = withholds;
}

static inline void smc_option_unlisten(struct sock *sk)
{
	tcp_sk(sk)->smc_hs_congested = NULL;
}

/* TCP may have moved the request to a listener without SMC */
static inline bool smc_option_was_asked(const struct request_sock *req)
{
	return inet_rsk(req)->smc_ok &&
	       (!req->rsk_listener || tcp_sk(req->rsk_listener)->syn_smc);
}

#endif /* SMC_OWN_OPTION */

#endif /* SMC_OPTION_H */
