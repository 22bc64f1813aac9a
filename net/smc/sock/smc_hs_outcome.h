/* SPDX-License-Identifier: GPL-2.0 */
/* The outcome of a handshake becomes the result of connect() or accept(). */
#ifndef SMC_HS_OUTCOME_H
#define SMC_HS_OUTCOME_H

#include "sock/smc_hs_types.h"

void smc_hs_back_to_idle(struct smc_sock *smc);
void smc_hs_finish_failed(struct smc_sock *smc, int err);
void smc_hs_finish(struct smc_hs *hs);

#endif /* SMC_HS_OUTCOME_H */
