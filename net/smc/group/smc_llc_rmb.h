/* SPDX-License-Identifier: GPL-2.0 */
/* RKEY exchanges: our RMBs are announced to the peer and withdrawn from it. */
#ifndef _SMC_LLC_RMB_H
#define _SMC_LLC_RMB_H

#include "group/smc_core.h"

int smc_llc_rmb_announce(struct smc_link_group *lgr, struct smc_buf *buf);

/* for the other files of the engine */
int smc_llc_rmb_withdraw(struct smc_link_group *lgr, const struct list_head *bufs);
bool smc_llc_rmb_next(struct smc_link_group *lgr, struct smc_llc_rkeys *rkey);
void smc_llc_rmb_done(struct smc_link_group *lgr, int result);
void smc_llc_rmb_start(struct smc_link_group *lgr);
unsigned int smc_llc_rmb_select(struct smc_link_group *lgr);
void smc_llc_rmb_close(struct smc_link_group *lgr);

#endif /* _SMC_LLC_RMB_H */
