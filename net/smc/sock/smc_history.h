/* SPDX-License-Identifier: GPL-2.0 */
/* History of connections that became TCP. */
#ifndef SMC_HISTORY_H
#define SMC_HISTORY_H

#include <linux/smc_diag.h>
#include <net/sock.h>

#include "proto/smc_clc_nego.h"

/* Copy of a connection's data, without a reference to it. */
struct smc_history_record {
	struct smc_diag_msg msg;	/* see smc_history_describe() */
	u32 reason;			/* enum smc_decline */
	u32 peer_diagnosis;
	u64 time_ns;			/* since 1970 */
	u32 memory_age_ms;		/* 0, or for how long the reason had been remembered */
	bool is_server;
};

void smc_history_describe(struct sock *sk, struct smc_diag_msg *msg);
void smc_history_exit_net(struct net *net);
void smc_history_prepare(struct net *net);
void smc_history_add(struct sock *sk, bool is_server, enum smc_decline reason,
		     u32 peer_diagnosis, u32 memory_age_ms);
bool smc_history_read(const struct net *net, u64 *serial, struct smc_history_record *rec);
bool smc_history_next(struct net *net, unsigned int *pos, struct smc_history_record *rec);

#endif /* SMC_HISTORY_H */
