/* SPDX-License-Identifier: GPL-2.0 */
/* Listening sockets. */
#ifndef SMC_LISTEN_H
#define SMC_LISTEN_H

#include "smc_sock.h"

/* What accept() takes: a sock with a reference, and why it is TCP, if it is. */
struct smc_accepted {
	struct sock *sk;
	enum smc_decline fallback;
	u32 peer_diagnosis;
	bool is_last;		/* no other one is there to be taken */
};

int smc_listen_begin(struct smc_sock *smc);
void smc_listen_begun(struct smc_sock *smc);
void smc_listen_stop(struct smc_sock *smc);
bool smc_listen_is_ready(const struct smc_listener *listener, const struct sock *sk);
int smc_listen_accept(struct socket *sock, int flags, struct smc_accepted *child);

#endif /* SMC_LISTEN_H */
