/* SPDX-License-Identifier: GPL-2.0 */
/*
 * GIDs of RoCE ports as addresses: their kinds, which pairs can communicate, and which one
 * serves a connection best.
 */
#ifndef SMC_GID_H
#define SMC_GID_H

#include <linux/types.h>

#include "proto/smc_wire.h"

/**
 * enum smc_gid_kind - kind of a GID as an IP address
 * @SMC_GID_LINK_LOCAL: link-local IPv6 address, valid on one LAN
 * @SMC_GID_IPV6: any other IPv6 address
 * @SMC_GID_IPV4: IPv4 address, in its mapped form
 */
enum smc_gid_kind {
	SMC_GID_LINK_LOCAL,
	SMC_GID_IPV6,
	SMC_GID_IPV4,
};

/* Sets of kinds: of one kind, of IPv6, and all. */
#define SMC_GID_ONE(kind)	(1U << (kind))
#define SMC_GID_ANY_IPV6	(SMC_GID_ONE(SMC_GID_LINK_LOCAL) | SMC_GID_ONE(SMC_GID_IPV6))
#define SMC_GID_ANY		(SMC_GID_ANY_IPV6 | SMC_GID_ONE(SMC_GID_IPV4))

/**
 * enum smc_gid_roce - versions of RoCE that may be used, and which goes first
 * @SMC_GID_V1_FIRST: both
 * @SMC_GID_V1_ONLY: only RoCE v1
 * @SMC_GID_V2_ONLY: only RoCE v2
 * @SMC_GID_V2_FIRST: both
 *
 * The first three are the values of net.smc.roce.
 */
enum smc_gid_roce {
	SMC_GID_V1_FIRST,
	SMC_GID_V1_ONLY,
	SMC_GID_V2_ONLY,
	SMC_GID_V2_FIRST,
};

/* Requirements for a GID. */
struct smc_gid_criteria {
	u8 kinds;		/* set of kinds that are usable for RoCE v2 */
	enum smc_gid_roce roce;
	bool named_only;	/* only @gid, on the network device of the route */
	u8 gid[SMC_GID_LEN];	/* preferred GID; zero for none */
};

/* An entry of a port's GID table. */
struct smc_gid_facts {
	const u8 *gid;
	bool is_v1;	/* for RoCE v1, otherwise for v2 */
	bool is_secondary;	/* an address that may move to another host */
	bool is_theirs;	/* of the network device of the route, otherwise of a lower device */
};

enum smc_gid_kind smc_gid_classify(const u8 gid[SMC_GID_LEN]);
unsigned int smc_gid_kinds_like(const u8 gid[SMC_GID_LEN]);
bool smc_gid_is_routable_to(const u8 own[SMC_GID_LEN], const u8 peer[SMC_GID_LEN]);
unsigned int smc_gid_rank(const struct smc_gid_facts *facts, const struct smc_gid_criteria *need);

#endif /* SMC_GID_H */
