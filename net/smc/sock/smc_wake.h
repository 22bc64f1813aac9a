/* SPDX-License-Identifier: GPL-2.0 */
/* Wake-ups of a socket. */
#ifndef SMC_WAKE_H
#define SMC_WAKE_H

#include <net/sock.h>

void smc_wake_save(const struct sock *sk);
void smc_wake_save_our(const struct sock *sk);
void smc_wake_reset(struct sock *sk);
void smc_wake_restore(struct sock *sk);
bool smc_wake_is_taken(const struct sock *sk);
void smc_wake_missed(struct sock *sk, unsigned int missed);

void smc_wake_app_readers(struct sock *sk);
void smc_wake_app_state(struct sock *sk);
void smc_wake_app_error(struct sock *sk);

void smc_wake_readers(struct sock *sk);
void smc_wake_state(struct sock *sk);
void smc_wake_error(struct sock *sk);
void smc_wake_everybody(struct sock *sk);
void smc_wake_writers(struct sock *sk);

int smc_wake_dozer(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key);

#endif /* SMC_WAKE_H */
