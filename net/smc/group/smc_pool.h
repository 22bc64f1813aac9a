/* SPDX-License-Identifier: GPL-2.0 */
/* The pool of a group's buffers: regions are added, announced, withdrawn, reclaimed. */
#ifndef _SMC_POOL_H
#define _SMC_POOL_H

#include "group/smc_core.h"

/* a new region: listed and mapped, registered, announced */
int smc_pool_begin_grow(struct smc_link_group *lgr);
int smc_pool_grow(struct smc_link_group *lgr, struct smc_buf_pool *pool, u32 size, bool is_up,
		  struct smc_buf_elem *elem);
void smc_pool_end_grow(struct smc_link_group *lgr);

/* idle regions and groups */
void smc_pool_trim(struct smc_link_group *lgr);
void smc_pool_end_idle(const struct smc_lgr_key *key);
void smc_pool_make_room(unsigned long bytes);
int smc_pool_init(void);
void smc_pool_exit(void);

/* for the engine: RKEY exchanges */
bool smc_pool_next_keys(struct smc_link_group *lgr, struct smc_llc_rkeys *rkey);
void smc_pool_keys_done(struct smc_link_group *lgr, int result);
void smc_pool_start_keys(struct smc_link_group *lgr);
unsigned int smc_pool_select(struct smc_link_group *lgr);
void smc_pool_close_keys(struct smc_link_group *lgr);

/* for the engine: idle regions go by time */
void smc_pool_init_sweep(struct smc_link_group *lgr);
void smc_pool_start_sweep(struct smc_link_group *lgr);
u64 smc_pool_sweep_due(struct smc_link_group *lgr);
void smc_pool_sweep(struct smc_link_group *lgr);

#endif /* _SMC_POOL_H */
