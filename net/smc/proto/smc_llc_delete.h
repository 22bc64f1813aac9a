/* SPDX-License-Identifier: GPL-2.0 */
/* The exchange that deletes a link, and the one that ends the group. */
#ifndef _SMC_LLC_DELETE_H
#define _SMC_LLC_DELETE_H

#include "proto/smc_llc_run.h"

void smc_llc_delete_msg(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg);
void smc_llc_delete_sent(struct smc_llc_run *run, u8 target);
void smc_llc_delete_timeout(struct smc_llc_run *run);
void smc_llc_delete_timer(struct smc_llc_run *run);
void smc_llc_delete_settle(struct smc_llc_run *run);
void smc_llc_delete_start_next(struct smc_llc_run *run);
void smc_llc_delete_request(struct smc_llc_run *run, const struct smc_llc_event *ev);
void smc_llc_delete_rnic_removed(struct smc_llc_run *run, u8 link);

void smc_llc_end_begin(struct smc_llc_run *run, u8 link, u32 reason, bool is_orderly,
		       enum smc_llc_why why);
void smc_llc_end_over(struct smc_llc_run *run);
void smc_llc_end_settle(struct smc_llc_run *run);

#endif /* _SMC_LLC_DELETE_H */
