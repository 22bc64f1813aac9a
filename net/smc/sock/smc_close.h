/* SPDX-License-Identifier: GPL-2.0 */
/* Carries out the actions of the close machine. */
#ifndef SMC_CLOSE_H
#define SMC_CLOSE_H

#include "sock/smc_sock.h"

void smc_close_establish(struct smc_sock *smc);
void smc_close_handle_event(struct smc_sock *smc, enum smc_close_event event);
void smc_close_work(struct work_struct *work);
void smc_close_check_end(struct smc_conn *conn);
void smc_close_end_work(struct work_struct *work);
void smc_close_timer(struct timer_list *timer);
void smc_close_finish(struct smc_sock *smc);
void smc_close_leave(struct smc_conn *conn, bool is_peer_done);

bool smc_close_awaits_fin(struct smc_sock *smc, struct smc_conn *conn);
bool smc_close_is_over(const struct smc_sock *smc);
int smc_close_shutdown(struct smc_sock *smc, int how);
void smc_close_by_app(struct smc_sock *smc, long timeo);
void smc_close_release(struct smc_sock *smc);
void smc_close_give_up(struct smc_sock *smc);
int smc_close_dissolve(struct smc_sock *smc);
void smc_close_unlock(struct smc_sock *smc);

struct smc_sock *smc_call_lock(struct sock *sk);
struct smc_sock *smc_call_locked(struct sock *sk);
void smc_call_unlock(struct sock *sk);

#endif /* SMC_CLOSE_H */
