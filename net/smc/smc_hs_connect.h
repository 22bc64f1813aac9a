/* SPDX-License-Identifier: GPL-2.0 */
/* A client until TCP has its connection, and the outcome of a handshake. */
#ifndef SMC_HS_CONNECT_H
#define SMC_HS_CONNECT_H

#include "smc_hs_types.h"

int smc_hs_begin_client(struct smc_sock *smc);
int smc_hs_connect_step(struct smc_sock *smc);
void smc_hs_look(struct smc_sock *smc);
void smc_hs_poll(struct smc_sock *smc);
void smc_hs_attend(struct smc_sock *smc);
void smc_hs_unattend(struct smc_sock *smc);
void smc_hs_finish(struct smc_hs *hs);

#endif /* SMC_HS_CONNECT_H */
