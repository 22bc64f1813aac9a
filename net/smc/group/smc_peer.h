/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Negative cache: hosts whose RDMA path failed, services that decline SMC or that offers do not
 * reach, and clients that send no Proposal.
 */
#ifndef SMC_PEER_H
#define SMC_PEER_H

#include <linux/in6.h>
#include <linux/types.h>

#include "proto/smc_clc_nego.h"

struct net;

/* What failed. The first four are of a host, and known to user space; others are of a service. */
enum smc_peer_failure {
	SMC_PEER_FIRST_CONTACT,	/* a path that is not known to have worked */
	SMC_PEER_HAS_WORKED,	/* a path that carried a link group */
	SMC_PEER_ROUTED_PATH,	/* only the routed path; another one is in use */
	SMC_PEER_CLIENT,	/* no path: as a client the host sends no Proposal */
	SMC_PEER_DECLINED,	/* it declined, or this side did, for a reason that may last */
	SMC_PEER_UNANSWERED,	/* the TCP option, but no CLC message; or only SYNs without it */
	SMC_PEER_REFUSED,	/* SYNs with the option: it may be the reason */
};

/**
 * struct smc_peer_entry - a host or service to which connections use TCP
 * @addr: address, IPv4 mapped
 * @port: of a service; 0 for a host
 * @failure: &enum smc_peer_failure
 * @reason: why the last connection became TCP
 * @diagnosis: code of the service's Decline, if any
 * @age_ms: time since then, not 0
 * @left_ms: time until it is forgotten
 */
struct smc_peer_entry {
	struct in6_addr addr;
	u16 port;
	u8 failure;
	enum smc_decline reason;
	u32 diagnosis;
	u32 age_ms;
	u32 left_ms;
};

void smc_peer_prepare(struct net *net);
void smc_peer_exit_net(struct net *net);

void smc_peer_failed(struct net *net, enum smc_peer_failure failure, const struct in6_addr *peer,
		     u16 port, enum smc_decline reason, u32 diagnosis);
void smc_peer_works(struct net *net, enum smc_peer_failure failure, const struct in6_addr *peer,
		    u16 port);
void smc_peer_works_on_tcp(struct net *net, const struct in6_addr *peer, u16 port, bool works);
enum smc_decline smc_peer_recall(struct net *net, enum smc_peer_failure failure,
				 const struct in6_addr *peer, u16 port,
				 struct smc_peer_entry *entry);

bool smc_peer_try_v2(struct net *net, const struct in6_addr *peer);
bool smc_peer_needs_v2(struct net *net, const struct in6_addr *peer);
void smc_peer_group_up(struct net *net, const struct in6_addr *peer, bool is_routed, bool is_v2);

bool smc_peer_next(struct net *net, unsigned int *pos, struct smc_peer_entry *entry);
unsigned int smc_peer_clear(struct net *net, const struct in6_addr *addr, u16 port);

#endif /* SMC_PEER_H */
