/* SPDX-License-Identifier: GPL-2.0 */
/* The exchange that adds a link, of both roles. */
#ifndef _SMC_LLC_ADD_H
#define _SMC_LLC_ADD_H

#include "proto/smc_llc_run.h"

bool smc_llc_is_adding(const struct smc_llc_flow *flow);
bool smc_llc_add_may_succeed(const struct smc_llc_flow *flow);
void smc_llc_add_abandon(struct smc_llc_run *run);
void smc_llc_add_begin(struct smc_llc_run *run);
void smc_llc_add_created(struct smc_llc_run *run, const struct smc_llc_event *ev);
void smc_llc_add_prepared(struct smc_llc_run *run, u8 link, bool ok);
void smc_llc_add_stored(struct smc_llc_run *run, u8 link, bool ok);
void smc_llc_add_msg(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg);
void smc_llc_add_req(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg);
void smc_llc_add_cont(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg);
void smc_llc_add_confirm(struct smc_llc_run *run, u8 link, const struct smc_llc_msg *msg);
void smc_llc_add_confirm_sent(struct smc_llc_run *run, u8 link);
void smc_llc_add_timeout(struct smc_llc_run *run);
void smc_llc_add_settle(struct smc_llc_run *run);
void smc_llc_add_start_next(struct smc_llc_run *run);

#endif /* _SMC_LLC_ADD_H */
