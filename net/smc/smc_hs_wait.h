/* SPDX-License-Identifier: GPL-2.0 */
/* What a step of a handshake may wait for. */
#ifndef SMC_HS_WAIT_H
#define SMC_HS_WAIT_H

#include "smc_hs_types.h"

unsigned long smc_hs_patience(struct smc_hs *hs);
bool smc_hs_is_late(struct smc_hs *hs, unsigned long patience);
void smc_hs_watch(struct smc_hs *hs, struct smc_link_group *lgr);
bool smc_hs_watch_client(struct smc_hs *hs);
void smc_hs_unwatch(struct smc_hs *hs);
bool smc_hs_is_left(const struct sock *tsk);
bool smc_hs_tcp_has_news(const struct sock *tsk);
void smc_hs_arm_timer(struct smc_hs *hs);

#endif /* SMC_HS_WAIT_H */
