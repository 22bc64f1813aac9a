/* SPDX-License-Identifier: GPL-2.0 */
/* By which RDMA port, and over which route, a connection could go. */
#ifndef SMC_HS_WAY_H
#define SMC_HS_WAY_H

#include "smc_hs_types.h"

enum smc_hs_outcome smc_hs_find_end(struct smc_hs *hs);
void smc_hs_leave_pair(struct smc_hs *hs);
void smc_hs_local(struct smc_hs *hs, struct smc_nego_local *local);
void smc_hs_go_routed(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_find_route(struct smc_hs *hs, const struct smc_ib_end *end,
				      const u8 *gid, unsigned long patience);

#endif /* SMC_HS_WAY_H */
