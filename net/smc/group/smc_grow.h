/* SPDX-License-Identifier: GPL-2.0 */
/* Regions are added to a group, and given back, by one task at a time. */
#ifndef SMC_GROW_H
#define SMC_GROW_H

#include "group/smc_core.h"

int smc_lgr_begin_grow(struct smc_link_group *lgr);
void smc_lgr_end_grow(struct smc_link_group *lgr);

/* a new region: listed and mapped, registered */
int smc_lgr_add_buf(struct smc_link_group *lgr, struct smc_buf_pool *pool, struct smc_buf *buf,
		    struct smc_buf_elem *elem);
int smc_lgr_register_buf(struct smc_link_group *lgr, struct smc_buf *buf);
void smc_lgr_drop_buf(struct smc_link_group *lgr, struct smc_buf_pool *pool, struct smc_buf *buf,
		      struct smc_buf_elem *elem);

/* idle regions */
unsigned long smc_lgr_take_idle(struct smc_link_group *lgr, struct smc_buf_pool *pool,
				unsigned long age_jiffies, unsigned long want);
unsigned int smc_lgr_drop_leaving(struct smc_link_group *lgr, enum smc_buf_kind kind);

#endif /* SMC_GROW_H */
