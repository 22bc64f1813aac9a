/* SPDX-License-Identifier: GPL-2.0 */
/* Which RNIC and which route lead to a peer. */
#ifndef SMC_PATH_H
#define SMC_PATH_H

#include <linux/if_ether.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "proto/smc_clc_nego.h"
#include "rdma/smc_ib.h"

struct sock;
struct sockaddr;

/*
 * Limit for a wait for a neighbour in a handshake or for a new link where there is an alternative:
 * handshakes of deployed peers wait meanwhile.
 */
#define SMC_ROUTE_NEIGHBOUR_MS	250

/**
 * struct smc_route - first hop of packets to a GID
 * @mac: MAC address of the next hop: the peer's or a gateway's
 * @hop_limit: hop limit of the packets
 * @is_direct: the next hop is the peer
 */
struct smc_route {
	u8 mac[ETH_ALEN];
	u8 hop_limit;
	bool is_direct;
};

/**
 * struct smc_route_rules - routing parameters besides the addresses
 * @oif: index of the interface that the TCP connection uses, or 0
 * @mark: mark of its packets
 * @uid: its owner
 * @bound: the TCP socket if it is bound to an interface, so that IPv6 respects @oif; else NULL
 */
struct smc_route_rules {
	int oif;
	u32 mark;
	kuid_t uid;
	const struct sock *bound;
};

void smc_path_init_net(struct net *net);
void smc_path_note_host(struct net *net);
void smc_path_local_host(struct net *net, u8 host[SMC_CLC_HOST_LEN]);

enum smc_decline smc_path_lack(struct net_device *ndev);
enum smc_decline smc_path_find(struct sock *tsk, struct smc_ib_end *end,
			       struct smc_nego_subnets *subnets);
bool smc_path_find_routed(struct sock *tsk, const u8 *peer_gid, const struct smc_ib_end *other,
			  struct smc_ib_end *end);
bool smc_path_is_direct(struct sock *tsk);
bool smc_path_may_be_local(const struct net *net);
enum smc_decline smc_path_reach(struct sock *tsk, const struct sockaddr *addr);
void smc_path_name_host(const struct sock *tsk, struct smc_nego_subnets *subnets);
enum smc_decline smc_path_find_local(struct sock *tsk, struct smc_ib_end *end,
				     struct smc_nego_subnets *subnets);
enum smc_decline smc_path_find_server(struct sock *tsk, const struct smc_clc_proposal *prop,
				      struct smc_ib_end *end, bool *is_near);
bool smc_path_needs_ipsec(struct sock *tsk);
void smc_path_class(const struct sock *tsk, struct smc_ib_class *class);
void smc_path_local_id(struct net *net, const struct smc_ib_end *end, u8 peer_id[8]);

void smc_route_get_rules(struct sock *tsk, struct smc_route_rules *rules);
int smc_route_find(struct net *net, const struct smc_route_rules *rules,
		   const struct smc_ib_end *end, const u8 gid[16], struct smc_route *route);

#endif /* SMC_PATH_H */
