/* SPDX-License-Identifier: GPL-2.0 */
/* The rendezvous of both roles, RFC 7609 section 3.5. */
#ifndef SMC_HS_H
#define SMC_HS_H

#include "sock/smc_sock.h"

bool smc_hs_begin_server(struct smc_sock *smc, struct smc_child *child,
			 const struct sock *lsk);
void smc_hs_work(struct work_struct *work);
void smc_hs_pause(struct smc_sock *smc);
void smc_hs_resume(struct smc_sock *smc);

#endif /* SMC_HS_H */
