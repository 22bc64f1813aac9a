/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings for connections: areas are added to a group by one task at a time.
 */
#ifndef SMC_GROW_H
#define SMC_GROW_H

#include "smc_core.h"

int smc_lgr_begin_grow(struct smc_link_group *lgr);
void smc_lgr_end_grow(struct smc_link_group *lgr);
int smc_lgr_map_buf(struct smc_link_group *lgr, struct smc_buf *buf);
int smc_lgr_register_buf(struct smc_link_group *lgr, struct smc_buf *buf);
void smc_lgr_drop_buf(struct smc_link_group *lgr, struct smc_buf *buf);

#endif /* SMC_GROW_H */
