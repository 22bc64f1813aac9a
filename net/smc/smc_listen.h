/* SPDX-License-Identifier: GPL-2.0 */
/* Listening sockets: children off the TCP accept queue, and accept(). */
#ifndef SMC_LISTEN_H
#define SMC_LISTEN_H

#include "smc_sock.h"

int smc_listen_start(struct smc_sock *smc, int backlog);
void smc_listen_stop(struct smc_sock *smc);
bool smc_listen_is_ready(struct smc_sock *smc);
void smc_listen_go_on(struct smc_sock *smc);
struct smc_sock *smc_listen_wait(struct smc_sock *smc, long timeo, int *err);

#endif /* SMC_LISTEN_H */
