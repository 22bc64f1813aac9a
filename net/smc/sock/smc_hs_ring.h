/* SPDX-License-Identifier: GPL-2.0 */
/* The rings of a connection. */
#ifndef SMC_HS_RING_H
#define SMC_HS_RING_H

#include "sock/smc_hs_types.h"

void smc_hs_grow_work(struct work_struct *work);

/* Rows of the table. */
enum smc_hs_outcome smc_hs_get_sndbuf(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_get_rmbe(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_late_ring(struct smc_hs *hs);

#endif /* SMC_HS_RING_H */
