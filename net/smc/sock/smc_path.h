/* SPDX-License-Identifier: GPL-2.0 */
/* Which RNIC leads to the peer of a TCP connection. */
#ifndef SMC_PATH_H
#define SMC_PATH_H

#include <linux/types.h>

#include "proto/smc_clc_nego.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_route.h"

struct sk_buff;
struct sock;
struct sockaddr;

/* Where a packet comes from, or goes to, in the order of net.smc.memory. */
enum smc_path_place {
	SMC_PATH_AWAY,		/* another host, as far as this one knows */
	SMC_PATH_INSIDE,	/* the same network namespace */
	SMC_PATH_NEARBY,	/* by a virtual device: maybe another namespace of this host */
};

void smc_path_init_net(struct net *net);
void smc_path_note_host(struct net *net);
void smc_path_local_host(struct net *net, u8 host[SMC_CLC_HOST_LEN]);

void smc_path_peer_addr(const struct sock *tsk, struct in6_addr *peer);
enum smc_decline smc_path_lack(struct net_device *ndev);
enum smc_decline smc_path_find(struct sock *tsk, struct smc_ib_end *end,
			       struct smc_nego_subnets *subnets);
bool smc_path_find_routed(struct sock *tsk, const u8 *peer_gid, const struct smc_ib_end *other,
			  struct smc_ib_end *end);
bool smc_path_is_direct(struct sock *tsk);
enum smc_path_place smc_path_sender(const struct net *net, const struct sk_buff *skb);
bool smc_path_is_inside(struct sock *tsk);
enum smc_decline smc_path_reach(struct sock *tsk, const struct sockaddr *addr);
enum smc_decline smc_path_find_server(struct sock *tsk, const struct smc_clc_proposal *prop,
				      struct smc_ib_end *end, bool *is_near);
bool smc_path_needs_ipsec(struct sock *tsk);
void smc_path_class(const struct sock *tsk, struct smc_ib_class *class);
void smc_path_local_id(struct net *net, const struct smc_ib_end *end, u8 peer_id[8]);
void smc_path_get_rules(struct sock *tsk, struct smc_route_rules *rules);

#endif /* SMC_PATH_H */
