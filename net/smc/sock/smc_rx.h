/* SPDX-License-Identifier: GPL-2.0 */
/* The receive path. */
#ifndef SMC_RX_H
#define SMC_RX_H

#include "sock/smc_sock.h"

/* With these flags a receive call can go the short way. */
#define SMC_RX_SHORT_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_CMSG_COMPAT)

long smc_rx_doze(struct sock *sk, long timeo, s64 *attempts);
int smc_rx_recv_short(struct sock *sk, struct msghdr *msg, size_t len);
int smc_rx_recvmsg(struct smc_sock *smc, struct msghdr *msg, size_t len, int flags, long timeo);
bool smc_rx_is_readable(struct smc_conn *conn);
bool smc_rx_has_urgent(const struct smc_conn *conn);
bool smc_rx_is_at_mark(struct smc_conn *conn);
u32 smc_rx_inq(struct smc_conn *conn);

#endif /* SMC_RX_H */
