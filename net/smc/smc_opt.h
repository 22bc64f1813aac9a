/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Socket options of every level, while a socket is ours.
 */
#ifndef SMC_OPT_H
#define SMC_OPT_H

#include <linux/sockptr.h>

#include "smc_sock.h"

int smc_opt_set(struct smc_sock *smc, struct socket *sock, int level, int optname,
		sockptr_t optval, unsigned int optlen);
void smc_opt_mirror(struct socket *sock, int optname, sockptr_t optval, unsigned int optlen);
int smc_opt_rcvlowat(struct sock *sk, int val);
void smc_opt_begin(struct smc_sock *smc);
void smc_opt_settle(struct smc_sock *smc);
void smc_opt_keepalive(struct sock *sk, int is_on);
int smc_opt_get(struct smc_sock *smc, int level, int optname, char __user *optval,
		int __user *optlen);
int smc_opt_stay_with_tcp(struct smc_sock *smc, struct socket *sock, enum smc_decline reason);
void smc_opt_inherit(const struct smc_sock *listener, struct smc_sock *child);

#endif /* SMC_OPT_H */
