/* SPDX-License-Identifier: GPL-2.0 */
/* The CLC messages of a handshake. */
#ifndef SMC_HS_MSG_H
#define SMC_HS_MSG_H

#include "smc_hs_types.h"

enum smc_hs_outcome smc_hs_recv(struct smc_hs *hs, enum smc_clc_type type);
enum smc_hs_outcome smc_hs_send(struct smc_hs *hs);
void smc_hs_note_path(const struct smc_hs *hs, enum smc_decline reason);
int smc_hs_say_decline(struct smc_hs *hs);

#endif /* SMC_HS_MSG_H */
