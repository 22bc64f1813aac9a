/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inner TCP socket: made, watched, and let go. It carries the three-way
 * handshake with the SMC option, the CLC messages, and in the end FIN or RST.
 */
#ifndef SMC_TCP_H
#define SMC_TCP_H

#include "smc_sock.h"

int smc_tcp_init(void);
void smc_tcp_exit(void);

int smc_tcp_create(struct smc_sock *smc, struct net *net, int kern);
bool smc_tcp_watch(struct smc_sock *smc, enum smc_tcp_phase phase);
void smc_tcp_unwatch(struct smc_sock *smc);
void smc_tcp_lend_file(struct smc_sock *smc, struct file *file);
struct sock *smc_tcp_give(struct smc_sock *smc, struct socket *sock);
bool smc_tcp_peek(struct smc_sock *smc, bool *is_agreed);
void smc_tcp_mind_others(struct smc_sock *smc);
unsigned int smc_tcp_nr_to_agreed(struct smc_sock *smc);
void smc_tcp_leave_children(struct smc_sock *smc);
int smc_tcp_end_errno(const struct smc_sock *smc);
void smc_tcp_release(struct smc_sock *smc);
void smc_tcp_shutdown(struct smc_sock *smc, int how);
void smc_tcp_reset(struct smc_sock *smc);
int smc_tcp_disconnect(struct smc_sock *smc);
void smc_tcp_offer(struct smc_sock *smc, bool is_offered);
void smc_tcp_set_owner(struct smc_sock *smc, struct socket *owner);
void smc_tcp_adopt(struct smc_sock *smc, struct socket *sock);
bool smc_tcp_is_connected(const struct smc_sock *smc);
bool smc_tcp_is_agreed(struct smc_sock *smc);
bool smc_tcp_has_payload(struct smc_sock *smc);
const struct proto_ops *smc_tcp_ops(const struct socket *sock);

#endif /* SMC_TCP_H */
