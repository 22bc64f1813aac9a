/* SPDX-License-Identifier: GPL-2.0 */
/* Routes to a peer's RoCE v2 GID. */
#ifndef SMC_ROUTE_H
#define SMC_ROUTE_H

#include <linux/if_ether.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "rdma/smc_ib.h"

struct sock;

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

int smc_route_find(struct net *net, const struct smc_route_rules *rules,
		   const struct smc_ib_end *end, const u8 gid[16], struct smc_route *route);

#endif /* SMC_ROUTE_H */
