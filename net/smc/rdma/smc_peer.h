/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Negative cache: hosts whose RDMA path failed, or that RoCE v1 does not reach, services that
 * decline SMC or that offers do not reach, and clients that send no Proposal.
 */
#ifndef SMC_PEER_H
#define SMC_PEER_H

#include <linux/in6.h>
#include <linux/types.h>

#include "proto/smc_clc_nego.h"

struct net;
struct sock;
struct sockaddr;

enum smc_peer_failure {
	SMC_PEER_FIRST_CONTACT,	/* a path that is not known to have worked */
	SMC_PEER_HAS_WORKED,	/* a path that carried a link group */
	SMC_PEER_ROUTED_PATH,	/* only the routed path; another one is in use */
	SMC_PEER_CLIENT,	/* no path: as a client the host sends no Proposal */
};

/**
 * struct smc_peer_entry - a host or service to which connections use TCP
 * @addr: address, IPv4 mapped
 * @port: of a service; 0 for a host or client
 * @failure: of a host or client: &enum smc_peer_failure
 * @reason: why the last connection became TCP
 * @diagnosis: code of the service's Decline, if any
 * @age_ms: time since then
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

void smc_peer_addr(const struct sock *tsk, struct in6_addr *peer);
void smc_peer_remember(struct net *net, const struct in6_addr *peer, enum smc_decline reason,
		       enum smc_peer_failure failure);
void smc_peer_forget(struct net *net, const struct in6_addr *peer, bool is_routed, bool is_v2);
enum smc_decline smc_peer_recall(struct net *net, const struct in6_addr *peer, bool is_client,
				 u32 *age_ms);
bool smc_peer_recall_routed(struct net *net, const struct in6_addr *peer);
bool smc_peer_try_v2(struct net *net, const struct in6_addr *peer);
bool smc_peer_needs_v2(struct net *net, const struct in6_addr *peer);

void smc_peer_declined(const struct sock *tsk, const struct sockaddr *addr,
		       enum smc_decline reason, u32 diagnosis);
void smc_peer_unanswered(const struct sock *tsk, const struct sockaddr *addr);
void smc_peer_refused(const struct sock *tsk, const struct sockaddr *addr, bool was_offered);
void smc_peer_reached(const struct sock *tsk, const struct sockaddr *addr);
void smc_peer_agreed(const struct sock *tsk, const struct sockaddr *addr);
enum smc_decline smc_peer_recall_service(const struct sock *tsk, const struct sockaddr *addr,
					 u32 *diagnosis, u32 *age_ms);

void smc_peer_silent(struct net *net, const struct in6_addr *peer);
void smc_peer_proposed(struct net *net, const struct in6_addr *peer);
bool smc_peer_recall_client(struct net *net, const struct in6_addr *peer);

bool smc_peer_next(struct net *net, unsigned int *pos, struct smc_peer_entry *entry);
unsigned int smc_peer_clear(struct net *net, const struct in6_addr *addr, u16 port);

#endif /* SMC_PEER_H */
