/* SPDX-License-Identifier: GPL-2.0 */
/* TCP's side of a socket that may use SMC. */
#ifndef SMC_TCP_H
#define SMC_TCP_H

#include "sock/smc_sock.h"

/* Copies of TCP's calls with some functions replaced. */
struct smc_tcp_calls {
	struct proto prot;
	struct proto_ops ops;
};

int smc_tcp_init(void (*take_over)(struct smc_tcp_calls *calls));
int smc_tcp_check(void);
void smc_tcp_exit(void);
void smc_tcp_offer_sockets(void);
void smc_tcp_withdraw_sockets(void);

int smc_tcp_begin(struct sock *sk);
const struct proto *smc_tcp_prot(const struct sock *sk);
const struct proto_ops *smc_tcp_ops(const struct socket *sock);
bool smc_tcp_is_ours(const struct socket *sock);
void smc_tcp_give_ops(struct sock *sk);
void smc_tcp_become(struct smc_sock *smc, enum smc_decline reason);
void smc_tcp_leave(struct smc_sock *smc);

bool smc_tcp_is_agreed(const struct smc_sock *smc);
bool smc_tcp_holds_payload(struct sock *sk);
void smc_tcp_take_err(struct smc_sock *smc);

struct sock *smc_tcp_take_child(struct sock *lsk);
bool smc_tcp_child_is_agreed(const struct sock *sk);
struct smc_sock *smc_tcp_adopt_child(struct sock *sk);
void smc_tcp_watch(struct sock *sk);
void smc_tcp_label(struct sock *sk);
const struct sk_buff *smc_tcp_answered_syn(void);
bool smc_tcp_syn_is_near(const struct net *net);
bool smc_tcp_syn_peer(struct in6_addr *peer);
void smc_tcp_follow_connect(struct smc_sock *smc);
void smc_tcp_answer_syns(struct sock *sk, bool is_listening);
void smc_tcp_shutdown(struct sock *sk, int how);
int smc_tcp_disconnect(struct sock *sk);
void smc_tcp_reset(struct sock *sk);

#endif /* SMC_TCP_H */
