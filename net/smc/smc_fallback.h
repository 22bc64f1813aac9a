/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What remains known of connections that are TCP.
 */
#ifndef SMC_FALLBACK_H
#define SMC_FALLBACK_H

#include <net/sock.h>

#include "smc_clc_nego.h"

/* One of them. No reference to it. */
struct smc_fallback_record {
	u64 cookie;			/* of the TCP socket */
	struct in6_addr saddr;		/* IPv4 in the first word */
	struct in6_addr daddr;
	__be16 sport;
	__be16 dport;
	u16 family;			/* of the addresses */
	int dif;
	kuid_t uid;
	u64 inode;
	u32 reason;			/* enum smc_decline */
	u32 peer_diagnosis;
};

void smc_fallback_exit_net(struct net *net);
void smc_fallback_prepare(struct net *net);
void smc_fallback_remember(struct sock *sk, enum smc_decline reason, u32 peer_diagnosis);
bool smc_fallback_next(struct net *net, unsigned int *pos, struct smc_fallback_record *rec);

#endif /* SMC_FALLBACK_H */
