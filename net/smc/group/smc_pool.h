/* SPDX-License-Identifier: GPL-2.0 */
/* The pool of a group's buffers: regions are added, announced, withdrawn, reclaimed. */
#ifndef _SMC_POOL_H
#define _SMC_POOL_H

#include "group/smc_core.h"

/* a new region: listed and mapped, registered, announced */
int smc_lgr_begin_grow(struct smc_link_group *lgr);
int smc_lgr_add_buf(struct smc_link_group *lgr, struct smc_buf_pool *pool, struct smc_buf *buf,
		    struct smc_buf_elem *elem);
int smc_lgr_register_buf(struct smc_link_group *lgr, struct smc_buf *buf);
int smc_llc_rmb_announce(struct smc_link_group *lgr, struct smc_buf *buf);
void smc_lgr_drop_buf(struct smc_link_group *lgr, struct smc_buf_pool *pool, struct smc_buf *buf,
		      struct smc_buf_elem *elem);
void smc_llc_sweep_end_grow(struct smc_link_group *lgr);

/* idle regions */
void smc_llc_trim(struct smc_link_group *lgr);
int smc_shrink_init(void);
void smc_shrink_exit(void);

/* for the engine: RKEY exchanges */
bool smc_llc_rmb_next(struct smc_link_group *lgr, struct smc_llc_rkeys *rkey);
void smc_llc_rmb_done(struct smc_link_group *lgr, int result);
void smc_llc_rmb_start(struct smc_link_group *lgr);
unsigned int smc_llc_rmb_select(struct smc_link_group *lgr);
void smc_llc_rmb_close(struct smc_link_group *lgr);

/* for the engine: idle regions go by time */
void smc_llc_sweep_init(struct smc_link_group *lgr);
void smc_llc_sweep_start(struct smc_link_group *lgr);
u64 smc_llc_sweep_due(struct smc_link_group *lgr);
void smc_llc_sweep_check(struct smc_link_group *lgr);

#endif /* _SMC_POOL_H */
