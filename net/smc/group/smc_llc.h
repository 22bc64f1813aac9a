/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The LLC engine: runs the state machine of smc_llc_flow.c for each link group.
 *
 * A handshake that forms a group calls smc_llc_init() and smc_llc_start_group() (a
 * client right before it sends Confirm, a server on receiving it), then waits until
 * the group leaves FORMING.
 */
#ifndef _SMC_LLC_H
#define _SMC_LLC_H

#include <linux/types.h>

#include "group/smc_core.h"

int smc_llc_init_module(void);
void smc_llc_exit_module(void);

void smc_llc_init(struct smc_link_group *lgr);
void smc_llc_start_group(struct smc_link_group *lgr, struct smc_link *link);
void smc_llc_declined(struct smc_link_group *lgr);
void smc_llc_tcp_ended(struct smc_link_group *lgr);

void smc_llc_give_up_link(struct smc_link_group *lgr, u8 index);
void smc_llc_end_group(struct smc_link_group *lgr, u32 reason, bool is_orderly);
void smc_llc_end_all(struct net *net);
void smc_llc_await_end(bool is_for_all);
void smc_llc_arm_idle(struct smc_link_group *lgr);
void smc_llc_probe_link(struct smc_link *link);
void smc_llc_probe_group(struct smc_link_group *lgr);

void smc_llc_broken(struct smc_wr *wr, enum smc_wr_fault fault);
void smc_llc_stalled(struct smc_wr *wr, unsigned long quiet);

#endif /* _SMC_LLC_H */
