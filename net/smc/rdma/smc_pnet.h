/* SPDX-License-Identifier: GPL-2.0 */
/* The RDMA port that serves a route. */
#ifndef SMC_PNET_H
#define SMC_PNET_H

#include "proto/smc_clc_nego.h"
#include "rdma/smc_ib.h"

void smc_pnet_init_net(struct net *net);

enum smc_decline smc_pnet_find(struct sock *tsk, struct smc_ib_end *end,
			       struct smc_nego_subnets *subnets);
bool smc_pnet_find_routed(struct sock *tsk, const u8 *peer_gid, struct smc_ib_end *end);
bool smc_pnet_may_be_local(const struct net *net);
bool smc_pnet_may_reach(const struct net *net, const struct in6_addr *peer);
void smc_pnet_name_host(const struct sock *tsk, struct smc_nego_subnets *subnets);
enum smc_decline smc_pnet_find_local(struct sock *tsk, struct smc_ib_end *end,
				     struct smc_nego_subnets *subnets);
enum smc_decline smc_pnet_find_server(struct sock *tsk, const struct smc_clc_proposal *prop,
				      struct smc_ib_end *end, bool *is_near);
bool smc_pnet_needs_ipsec(struct sock *tsk);
void smc_pnet_local_id(struct net *net, const struct smc_ib_end *end, u8 peer_id[8]);

#endif /* SMC_PNET_H */
