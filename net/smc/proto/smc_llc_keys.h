/* SPDX-License-Identifier: GPL-2.0 */
/* The RKEY exchanges of the LLC machine. */
#ifndef _SMC_LLC_KEYS_H
#define _SMC_LLC_KEYS_H

#include "proto/smc_llc_run.h"

void smc_llc_keys_request(struct smc_llc_run *run, const struct smc_llc_event *ev);
void smc_llc_keys_msg(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg);
void smc_llc_keys_stored(struct smc_llc_run *run, bool ok);
void smc_llc_keys_deleted(struct smc_llc_run *run, u8 error_mask, u8 nr_unknown);
void smc_llc_keys_wait(struct smc_llc_run *run);
void smc_llc_keys_timer(struct smc_llc_run *run);
void smc_llc_keys_settle(struct smc_llc_run *run);
void smc_llc_keys_resume(struct smc_llc_run *run);

#endif /* _SMC_LLC_KEYS_H */
