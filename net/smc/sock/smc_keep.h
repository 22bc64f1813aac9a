/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SO_KEEPALIVE and TCP_USER_TIMEOUT on a connection that runs on SMC.
 */
#ifndef SMC_KEEP_H
#define SMC_KEEP_H

#include "group/smc_conn.h"

void smc_keep_update(struct smc_conn *conn);
void smc_keep_changed(struct smc_conn *conn, int optname);
int smc_keep_own(const struct smc_conn *conn, int optname);
void smc_keep_give_back(struct smc_conn *conn);
void smc_keep_stop(struct smc_conn *conn);
void smc_keep_timer(struct timer_list *timer);

#endif /* SMC_KEEP_H */
