/* SPDX-License-Identifier: GPL-2.0 */
/* Carries out what the close machine decides. */
#ifndef SMC_CLOSE_H
#define SMC_CLOSE_H

#include "smc_sock.h"

/* May the machine have something to hear? What the peer said is in the control block. */
static inline bool smc_close_has_news(const struct smc_sock *smc)
{
	const struct smc_conn *conn = READ_ONCE(smc->conn);

	return READ_ONCE(smc->pending) || (conn && READ_ONCE(conn->ctl.rx_conn_flags));
}

void smc_close_establish(struct smc_sock *smc);
void smc_close_event(struct smc_sock *smc, enum smc_close_event event);
bool smc_close_is_over(const struct smc_sock *smc);
int smc_close_shutdown(struct smc_sock *smc, int how);
void smc_close_let_go(struct smc_sock *smc);
void smc_close_release(struct smc_sock *smc);
int smc_close_dissolve(struct smc_sock *smc);
void smc_close_run(struct smc_sock *smc);
void smc_close_work(struct work_struct *work);
void smc_close_timer(struct timer_list *timer);
void smc_close_leave(struct smc_sock *smc, bool is_peer_done);

#endif /* SMC_CLOSE_H */
