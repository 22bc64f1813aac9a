/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Negative cache: hosts whose RDMA path failed, and services that decline SMC.
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
};

int smc_peer_init_net(struct net *net);
void smc_peer_exit_net(struct net *net);

void smc_peer_addr(const struct sock *tsk, struct in6_addr *peer);
void smc_peer_remember(struct net *net, const struct in6_addr *peer, enum smc_decline reason,
		       enum smc_peer_failure failure);
void smc_peer_forget(struct net *net, const struct in6_addr *peer, bool is_routed);
enum smc_decline smc_peer_recall(struct net *net, const struct in6_addr *peer, bool is_client);
bool smc_peer_recall_routed(struct net *net, const struct in6_addr *peer);

void smc_peer_declined(const struct sock *tsk, const struct sockaddr *addr,
		       enum smc_decline reason, u32 diagnosis);
void smc_peer_agreed(const struct sock *tsk, const struct sockaddr *addr);
enum smc_decline smc_peer_recall_service(const struct sock *tsk, const struct sockaddr *addr,
					 u32 *diagnosis);

#endif /* SMC_PEER_H */
