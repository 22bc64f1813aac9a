/* SPDX-License-Identifier: GPL-2.0 */
/* Listening sockets. */
#ifndef SMC_LISTEN_H
#define SMC_LISTEN_H

#include "sock/smc_sock.h"

int smc_listen_begin(struct smc_sock *smc);
void smc_listen_begun(struct smc_sock *smc);
void smc_listen_stop(struct smc_sock *smc);
bool smc_listen_is_ready(const struct smc_listener *listener, const struct sock *sk);
int smc_listen_accept(struct socket *sock, int flags, struct smc_accepted *child);

#endif /* SMC_LISTEN_H */
