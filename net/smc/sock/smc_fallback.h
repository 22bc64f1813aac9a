/* SPDX-License-Identifier: GPL-2.0 */
/* Record of connections that fell back to TCP. */
#ifndef SMC_FALLBACK_H
#define SMC_FALLBACK_H

#include <linux/smc_diag.h>
#include <net/sock.h>

#include "proto/smc_clc_nego.h"

/* Copy of a connection's data, without a reference to it. */
struct smc_fallback_record {
	struct smc_diag_msg msg;	/* see smc_fallback_describe() */
	u32 reason;			/* enum smc_decline */
	u32 peer_diagnosis;
	u64 time_ns;			/* since 1970 */
	u32 memory_age_ms;		/* 0, or for how long the reason had been remembered */
	bool is_server;
};

void smc_fallback_describe(struct sock *sk, struct smc_diag_msg *msg);
void smc_fallback_exit_net(struct net *net);
void smc_fallback_prepare(struct net *net);
void smc_fallback_remember(struct sock *sk, bool is_server, enum smc_decline reason,
			   u32 peer_diagnosis, u32 memory_age_ms);
bool smc_fallback_read(const struct net *net, u64 *serial, struct smc_fallback_record *rec);
bool smc_fallback_next(struct net *net, unsigned int *pos, struct smc_fallback_record *rec);

#endif /* SMC_FALLBACK_H */
