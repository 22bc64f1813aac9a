/* SPDX-License-Identifier: GPL-2.0 */
/* Children whose handshake is under way: let in, and thrown out. */
#ifndef SMC_HS_ADMIT_H
#define SMC_HS_ADMIT_H

#include "smc_sock.h"

void smc_hs_begin_server(struct smc_sock *listener, struct smc_sock *child);
void smc_hs_drop_handshakes(struct smc_sock *listener);
void smc_hs_charge(struct smc_sock *child, unsigned long bytes);

#endif /* SMC_HS_ADMIT_H */
