/* SPDX-License-Identifier: GPL-2.0 */
/* Socks whose file has another sock now. */
#ifndef SMC_ORPHAN_H
#define SMC_ORPHAN_H

#include "smc_sock.h"

bool smc_orphan_may_keep(const struct smc_sock *smc);
void smc_orphan_keep(struct smc_sock *smc, struct sock *heir);
void smc_orphan_depart(struct smc_sock *smc);
void smc_orphan_settle(struct smc_sock *smc, struct socket *sock);
void smc_orphan_exit(void);

#endif /* SMC_ORPHAN_H */
