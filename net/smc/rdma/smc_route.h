/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way to a peer's RoCE v2 GID, which may lead through a gateway.
 */
#ifndef SMC_ROUTE_H
#define SMC_ROUTE_H

#include <linux/if_ether.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "rdma/smc_ib.h"

/*
 * So long a handshake or a new link waits for a neighbour, where it can do without:
 * handshakes of deployed peers wait meanwhile.
 */
#define SMC_ROUTE_NEIGHBOUR_MS	250

/**
 * struct smc_route - where packets to a GID go first
 * @mac: MAC address of the next hop: the peer's or a gateway's
 * @hop_limit: of the packets
 * @is_direct: the next hop is the peer
 */
struct smc_route {
	u8 mac[ETH_ALEN];
	u8 hop_limit;
	bool is_direct;
};

struct sock;

/**
 * struct smc_route_rules - what decides on a route besides the addresses
 * @oif: number of the interface that packets of the TCP connection leave by, or 0
 * @mark: of its packets
 * @uid: whose they are
 * @bound: the TCP socket where it is bound to an interface, so that IPv6, too, keeps
 *	to @oif; NULL elsewhere
 */
struct smc_route_rules {
	int oif;
	u32 mark;
	kuid_t uid;
	const struct sock *bound;
};

void smc_route_get_rules(struct sock *tsk, struct smc_route_rules *like);
int smc_route_find(struct net *net, const struct smc_route_rules *like,
		   const struct smc_ib_end *end, const u8 gid[16], struct smc_route *route);

#endif /* SMC_ROUTE_H */
