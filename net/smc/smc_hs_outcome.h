/* SPDX-License-Identifier: GPL-2.0 */
/* The outcome of a handshake becomes that of connect() or accept(). */
#ifndef SMC_HS_OUTCOME_H
#define SMC_HS_OUTCOME_H

#include "smc_hs_types.h"

void smc_hs_finish(struct smc_hs *hs);
void smc_hs_finish_tcp(struct smc_sock *smc, enum smc_decline reason);
void smc_hs_finish_orphan(struct smc_sock *smc, enum smc_hs_outcome out);

#endif /* SMC_HS_OUTCOME_H */
