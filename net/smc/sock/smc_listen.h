/* SPDX-License-Identifier: GPL-2.0 */
/* listen() and accept(). */
#ifndef SMC_LISTEN_H
#define SMC_LISTEN_H

#include "sock/smc_sock.h"

int smc_listen(struct socket *sock, int backlog);
int smc_accept(struct socket *sock, struct socket *newsock, int flags, int *is_empty);
void smc_listen_stop(struct smc_sock *smc);
bool smc_listen_land(struct smc_sock *smc);
bool smc_listen_is_ready(const struct smc_listener *listener, const struct sock *sk);

#endif /* SMC_LISTEN_H */
