/* SPDX-License-Identifier: GPL-2.0 */
/* The send path. */
#ifndef SMC_TX_H
#define SMC_TX_H

#include "sock/smc_sock.h"

int smc_tx_sendmsg(struct smc_sock *smc, struct msghdr *msg, size_t len, long timeo);
long smc_tx_doze(struct sock *sk, long timeo, s64 *attempts);
int smc_tx_send_short(struct sock *sk, struct msghdr *msg, size_t len);
bool smc_tx_is_writable(struct smc_conn *conn);
bool smc_tx_want_room(struct smc_conn *conn);
void smc_tx_push(struct smc_conn *conn);
bool smc_tx_poll(struct smc_conn *conn, bool (*is_over)(void *arg), void *arg);
void smc_tx_flush(struct smc_conn *conn);
void smc_tx_signal(struct smc_conn *conn, u8 conn_flags);

#endif /* SMC_TX_H */
