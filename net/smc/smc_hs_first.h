/* SPDX-License-Identifier: GPL-2.0 */
/* First contact, as a handshake sees it. */
#ifndef SMC_HS_FIRST_H
#define SMC_HS_FIRST_H

#include "smc_hs_types.h"

enum smc_hs_outcome smc_hs_first_link(struct smc_hs *hs);
void smc_hs_start_llc(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_first_contact(struct smc_hs *hs);

#endif /* SMC_HS_FIRST_H */
