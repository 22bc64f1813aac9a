/* SPDX-License-Identifier: GPL-2.0 */
/* Connections change their link. */
#ifndef SMC_MOVE_H
#define SMC_MOVE_H

#include "group/smc_core.h"

void smc_move_init(struct smc_link_group *lgr);
void smc_move_queue(struct smc_link_group *lgr);
void smc_move_hush(struct smc_link *link);
unsigned long smc_move_ask(struct smc_link_group *lgr, unsigned long links);
void smc_move_heard(struct smc_link_group *lgr, u8 index);
int smc_move_aim(struct smc_conn *conn);

#endif /* SMC_MOVE_H */
