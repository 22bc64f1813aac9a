/* SPDX-License-Identifier: GPL-2.0 */
/* SO_KEEPALIVE and TCP_USER_TIMEOUT of a connection on SMC. */
#ifndef SMC_KEEPALIVE_H
#define SMC_KEEPALIVE_H

#include <linux/timer.h>

struct smc_sock;

void smc_keepalive_update(struct smc_sock *smc);
void smc_keepalive_stop(struct smc_sock *smc);
void smc_keepalive_timer(struct timer_list *timer);

#endif /* SMC_KEEPALIVE_H */
