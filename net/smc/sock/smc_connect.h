/* SPDX-License-Identifier: GPL-2.0 */
/* connect(). */
#ifndef SMC_CONNECT_H
#define SMC_CONNECT_H

#include "smc_compat.h"
#include "sock/smc_sock.h"

struct smc_sock *smc_connect_wait(struct smc_sock *smc, long *timeo, int *err);
bool smc_connect_stop(struct smc_sock *smc);
bool smc_connect_has_failed(const struct smc_sock *smc);
int smc_connect_tcp(struct sock *sk, SMC_SOCKADDR *addr, int addr_len);
int smc_connect(struct socket *sock, SMC_SOCKADDR *addr, int addr_len, int flags);

#endif /* SMC_CONNECT_H */
