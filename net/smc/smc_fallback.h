/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hand a connection to TCP so that it costs and behaves like TCP.
 */
#ifndef SMC_FALLBACK_H
#define SMC_FALLBACK_H

#include "smc_sock.h"

/* What remains known of a connection that fell back. No reference to it. */
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

void smc_fallback_graft(struct smc_sock *smc, struct socket *sock);
const struct proto_ops *smc_fallback_forward(struct socket *sock);
void smc_fallback_accepted(struct smc_sock *listener, struct socket *sock);
void smc_fallback_adopt(struct smc_sock *child, struct socket *sock);
bool smc_fallback_next(struct net *net, unsigned int *pos, struct smc_fallback_record *rec);

#endif /* SMC_FALLBACK_H */
