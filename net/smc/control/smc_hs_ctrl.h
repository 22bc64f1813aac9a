/* SPDX-License-Identifier: GPL-2.0 */
/* BPF programs that decide which SYNs and SYN-ACKs have the TCP option. */
#ifndef SMC_HS_CTRL_H
#define SMC_HS_CTRL_H

#include "smc_compat.h"

#ifdef SMC_HS_CTRL
int smc_hs_ctrl_init(void);
void smc_hs_ctrl_exit(void);
#else
static inline int smc_hs_ctrl_init(void)
{
	return 0;
}

static inline void smc_hs_ctrl_exit(void) {}
#endif

#endif /* SMC_HS_CTRL_H */
