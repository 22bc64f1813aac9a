/* SPDX-License-Identifier: GPL-2.0 */
/* LLC messages on the queues of links. */
#ifndef _SMC_LLC_MSG_H
#define _SMC_LLC_MSG_H

#include "group/smc_core.h"

void smc_llc_rx(struct smc_wr *wr, const u8 *msg, u32 len);
void smc_llc_set_probe(struct smc_link_group *lgr, const struct smc_llc_probe *probe);

/* for the other files of the engine */
void smc_llc_msg_send(struct smc_link_group *lgr, struct smc_llc_action *act);
void smc_llc_msg_keep(struct smc_llc *llc, u8 **kept);
void smc_llc_msg_drop(u8 **msg);
int smc_llc_msg_prepare_long(struct smc_link_group *lgr);
void smc_llc_msg_free_long(struct smc_llc *llc);

#endif /* _SMC_LLC_MSG_H */
