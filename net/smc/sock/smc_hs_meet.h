/* SPDX-License-Identifier: GPL-2.0 */
/* Both ends on this host: the rows that share memory in place of a link. */
#ifndef SMC_HS_MEET_H
#define SMC_HS_MEET_H

#include "sock/smc_hs_types.h"

/* Rows of the table. */
enum smc_hs_outcome smc_hs_server_meet(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_server_last(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_late_last(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_client_meet(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_late_meet(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_client_join(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_late_join(struct smc_hs *hs);
void smc_hs_undo_meet(struct smc_hs *hs);

#endif /* SMC_HS_MEET_H */
