/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Peers whose RDMA path failed: whether one is worth another try.
 */
#ifndef SMC_PEER_H
#define SMC_PEER_H

#include <linux/in6.h>

#include "proto/smc_clc_nego.h"

struct net;
struct sock;

enum smc_peer_failure {
	SMC_PEER_FIRST_CONTACT,	/* nothing says that the path has ever worked */
	SMC_PEER_HAS_WORKED,	/* a link group was up */
	SMC_PEER_ROUTED_WAY,	/* only that has failed, and another one is being taken */
};

int smc_peer_init_net(struct net *net);
void smc_peer_exit_net(struct net *net);

void smc_peer_remember(struct net *net, const struct in6_addr *peer, enum smc_decline reason,
		       enum smc_peer_failure failure);
void smc_peer_forget(struct net *net, const struct in6_addr *peer, bool is_routed);
enum smc_decline smc_peer_recall(struct net *net, const struct in6_addr *peer, bool is_client);
bool smc_peer_recall_routed(struct net *net, const struct in6_addr *peer);
void smc_peer_addr(const struct sock *tsk, struct in6_addr *peer);

#endif /* SMC_PEER_H */
