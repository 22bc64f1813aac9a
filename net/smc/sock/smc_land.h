/* SPDX-License-Identifier: GPL-2.0 */
/* Landing: a connection that nothing carries any more goes on in TCP. */
#ifndef SMC_LAND_H
#define SMC_LAND_H

#include "sock/smc_sock.h"

bool smc_land_takes(struct smc_sock *smc, enum smc_pending what);
void smc_land_run(struct smc_sock *smc);
void smc_land_drop(struct smc_sock *smc);

#endif /* SMC_LAND_H */
