/* SPDX-License-Identifier: GPL-2.0 */
/* Creation and end of a link and its queue pair, and the connections that wait for its slots. */
#ifndef SMC_LINK_H
#define SMC_LINK_H

#include <linux/cleanup.h>

#include "group/smc_core.h"

void smc_link_init(const struct smc_wr_ops *ops);

struct smc_link *smc_link_create(struct smc_link_group *lgr, const struct smc_ib_end *end);
struct smc_link *smc_link_create_at(struct smc_link_group *lgr, const struct smc_ib_end *end,
				    unsigned int index);
int smc_link_connect(struct smc_link *link, const struct smc_ib_peer *peer);
int smc_link_map(struct smc_link *link);
int smc_link_prepare(struct smc_link *link);
bool smc_link_set_state(struct smc_link *link, enum smc_link_state state);

/* To end a link: take it out of its group, then end its queues; or both at once. */
bool smc_link_unpublish(struct smc_link *link);
void smc_link_stop(struct smc_link *link);
void smc_link_halt(struct smc_link *link);
void smc_link_take_down(struct smc_link *link);
void smc_link_destroy(struct smc_link *link);

struct smc_link *smc_link_enter_at(struct smc_link_group *lgr, unsigned int index);
void smc_link_exit(struct smc_link *link);

void smc_link_begin_map(struct smc_link_group *lgr);
void smc_link_end_map(struct smc_link_group *lgr);
DEFINE_GUARD(smc_link_map, struct smc_link_group *, smc_link_begin_map(_T), smc_link_end_map(_T))

void smc_link_add_waiter(struct smc_link *link, struct smc_conn *conn);
void smc_link_del_waiter(struct smc_link *link, struct smc_conn *conn);
struct smc_conn *smc_link_pop_waiter(struct smc_link *link);

#endif /* SMC_LINK_H */
