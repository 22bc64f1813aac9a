/* SPDX-License-Identifier: GPL-2.0 */
/* Connections as members of a link group. */
#ifndef SMC_MEMBER_H
#define SMC_MEMBER_H

#include "group/smc_conn.h"

void smc_conn_release(struct smc_conn *conn);
void smc_conn_drop(struct smc_conn *conn);

/* The caller has a reference or knows that the connection is in its group. */
static inline void smc_conn_get(struct smc_conn *conn)
{
	refcount_inc(&conn->users);
}

static inline void smc_conn_put(struct smc_conn *conn)
{
	if (refcount_dec_and_test(&conn->users))
		smc_conn_release(conn);
}

bool smc_conn_set_phase(struct smc_conn *conn, enum smc_conn_phase phase);
void smc_conn_arm(struct smc_conn *conn, struct timer_list *timer, unsigned long expires);
void smc_conn_disarm(struct smc_conn *conn, struct timer_list *timer);
struct smc_conn *smc_conn_lookup(struct smc_link_group *lgr, u32 token);

struct smc_conn *smc_lgr_next_conn(struct smc_link_group *lgr, unsigned long *token);
void smc_lgr_set_geometry(struct smc_link_group *lgr, struct smc_conn *conn);
void smc_lgr_set_link(struct smc_conn *conn, struct smc_link *link);
void smc_lgr_retain_unread(struct smc_conn *conn);
void smc_lgr_abort_conn(struct smc_conn *conn);
void smc_lgr_commit_dialect(struct smc_link_group *lgr, enum smc_dialect dialect);

#endif /* SMC_MEMBER_H */
