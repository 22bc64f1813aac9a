/* SPDX-License-Identifier: GPL-2.0 */
/* Carries out the actions of the close machine. */
#ifndef SMC_CLOSE_H
#define SMC_CLOSE_H

#include "sock/smc_sock.h"

/* Return: true if the close machine may have an event to process. */
static inline bool smc_close_has_input(const struct smc_conn *conn)
{
	return READ_ONCE(conn->pending) || READ_ONCE(conn->ctl.rx_conn_flags);
}

void smc_close_establish(struct smc_conn *conn);
void smc_close_handle_event(struct smc_conn *conn, enum smc_close_event event);
void smc_close_run(struct smc_conn *conn);
void smc_close_work(struct work_struct *work);
void smc_close_timer(struct timer_list *timer);
void smc_close_leave(struct smc_conn *conn, bool is_peer_done);

bool smc_close_awaits_fin(struct smc_conn *conn);
bool smc_close_is_over(const struct smc_sock *smc);
int smc_close_shutdown(struct smc_sock *smc, int how);
void smc_close_by_app(struct smc_sock *smc, long timeo);
void smc_close_release(struct smc_sock *smc);
int smc_close_dissolve(struct smc_sock *smc);
void smc_close_unlock(struct smc_sock *smc);

#endif /* SMC_CLOSE_H */
