/* SPDX-License-Identifier: GPL-2.0 */
/* Socket options that act beyond TCP. */
#ifndef SMC_SOCKOPT_H
#define SMC_SOCKOPT_H

#include <linux/sockptr.h>

#include "sock/smc_sock.h"

int smc_sockopt_set(struct sock *sk, int level, int optname, sockptr_t optval, unsigned int optlen);
int smc_sockopt_get(struct sock *sk, int level, int optname, char __user *optval,
		    int __user *optlen);
void smc_sockopt_keepalive(struct sock *sk, int is_on);
int smc_sockopt_rcvlowat(struct sock *sk, int val);
u8 smc_sockopt_tcp_state(const struct smc_sock *smc);

#endif /* SMC_SOCKOPT_H */
