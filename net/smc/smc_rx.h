/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receive path: copy out, peek, advance the consumer cursor, update the
 * peer's window.
 */
#ifndef SMC_RX_H
#define SMC_RX_H

#include "smc_sock.h"

int smc_rx_recvmsg(struct smc_sock *smc, struct msghdr *msg, size_t len, int flags);

#endif /* SMC_RX_H */
