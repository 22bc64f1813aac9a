/* SPDX-License-Identifier: GPL-2.0 */
/* SO_KEEPALIVE and TCP_USER_TIMEOUT of a connection on SMC; keepalive of TCP below it. */
#ifndef SMC_KEEPALIVE_H
#define SMC_KEEPALIVE_H

#include <linux/timer.h>

struct smc_sock;

void smc_keepalive_begin(struct smc_sock *smc);
void smc_keepalive_update(struct smc_sock *smc);
void smc_keepalive_stop(struct smc_sock *smc);
void smc_keepalive_timer(struct timer_list *timer);
void smc_keepalive_tcp_timer(struct timer_list *timer);
bool smc_keepalive_has_answer(const struct smc_sock *smc, unsigned long since);

#endif /* SMC_KEEPALIVE_H */
