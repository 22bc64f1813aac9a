/* SPDX-License-Identifier: GPL-2.0 */
/* A dissolved connection leaves the application's socket to a new sock. */
#ifndef SMC_RENEW_H
#define SMC_RENEW_H

#include "smc_sock.h"

int smc_renew(struct smc_sock *smc, struct socket *sock, int err);
bool smc_renew_take_handshake(struct smc_sock *smc, struct socket *sock);

#endif /* SMC_RENEW_H */
