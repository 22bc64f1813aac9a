/* SPDX-License-Identifier: GPL-2.0 */
/* CLC codec: messages from bytes to a struct in host order and back. */
#ifndef _SMC_CLC_WIRE_H
#define _SMC_CLC_WIRE_H

#include <linux/types.h>

#include "proto/smc_wire.h"

/*
 * Longest message accepted. Version 1 needs 188 bytes, deployed peers send up to 652; the rest
 * is growth area.
 */
#define SMC_CLC_MSG_MAX_LEN	1024

/**
 * enum smc_clc_verdict - outcome of decoding
 * @SMC_CLC_OK: usable
 * @SMC_CLC_PROTO: no CLC message, or malformed: the TCP connection is terminated without
 *	fallback (RFC 7609 C.6, ERR-15, ERR-16)
 * @SMC_CLC_ENUM: well formed with an unknown value: the answer is a Decline (RFC 7609 C.6,
 *	ERR-17)
 */
enum smc_clc_verdict {
	SMC_CLC_OK,
	SMC_CLC_PROTO,
	SMC_CLC_ENUM,
};

/* An IPv6 prefix (W4). */
struct smc_clc_prefix {
	u8 addr[16];	/* the prefix, network order; only the first @len bits count */
	u8 len;		/* significant bits, 0 to 128 */
};

/* A client's offer of SMC-R version 2. */
struct smc_clc_v2_offer {
	u8 gid[SMC_GID_LEN];	/* RoCE v2 GID of its RNIC */
	u8 release;		/* 0 for version 2.0, 1 for 2.1; later ones are valid, too */
	u8 max_conns;		/* its limit of connections in a link group; from release 1 on */
	u8 max_links;		/* its limit of links in a link group; from release 1 on */
	u16 features;		/* mask of optional features; from release 1 on */
	u8 nr_eids;		/* entries of @eid */
	/* names of the host groups it belongs to, blank padded */
	u8 eid[SMC_CLC_EIDS_MAX][SMC_EID_LEN];
};

/* A client's offer (W3). */
struct smc_clc_proposal {
	/* the client; zero from deployed clients without @offers_v1 */
	u8 peer_id[SMC_PEER_ID_LEN];
	u8 gid[SMC_GID_LEN];		/* GID of the RNIC that the client prefers */
	u8 mac[SMC_MAC_LEN];		/* MAC address of the same RNIC */
	bool offers_v1;			/* SMC-R version 1 is offered */
	bool offers_v2;			/* SMC-R version 2 is offered */
	bool has_subnets;		/* the message had the following fields */
	/* IPv4 network number, host order; 0 on an IPv6 connection */
	u32 subnet;
	u8 subnet_len;			/* significant bits of @subnet, 0 to 32 */
	u8 nr_prefixes;			/* entries in @prefix; 0 on an IPv4 connection */
	/* the IPv6 prefixes of the client's interface */
	struct smc_clc_prefix prefix[SMC_CLC_PREFIXES_MAX];
	struct smc_clc_v2_offer v2;	/* the offer of version 2; zero without @offers_v2 */
};

/* First-contact extension of version 2. */
struct smc_clc_fce {
	bool is_direct;			/* the sender's route to the peer has no gateway */
	/* its operating system, &enum smc_clc_os or another number */
	u8 os;
	u8 release;			/* of version 2 */
	u8 host[SMC_CLC_HOST_LEN];	/* its name, blank padded; any bytes */
	u8 max_conns;			/* connections in the link group; from release 1 on */
	u8 max_links;			/* links of the group; from release 1 on */
	u16 features;			/* mask of optional features; from release 1 on */
};

/* RDMA data of one side: Accept and Confirm (W5, W6). */
struct smc_clc_accept {
	u8 peer_id[SMC_PEER_ID_LEN];	/* the sender */
	u8 gid[SMC_GID_LEN];		/* GID of the sender's end of the link */
	u8 mac[SMC_MAC_LEN];		/* MAC address of the same RNIC */
	u32 qpn;			/* QP number of the sender's end, 24 bits */
	u32 rkey;			/* of the sender's RMB on this link */
	u64 rmb_addr;			/* start of the RMB, as RDMA address on this link */
	u8 rmbe_index;			/* element of the RMB, 1 to 255 */
	u32 token;			/* alert token, part of each CDC message to the sender */
	u32 psn;			/* first packet sequence number of the sender, 24 bits */
	u8 size_code;			/* length of the element, 2^(n + 14) bytes, 0 to 15 */
	/* path MTU as &enum smc_mtu; any nibble, see smc_nego_mtu_is_valid() */
	u8 mtu;
	/*
	 * Accept: the server creates a link group. Confirm: reserved in the RFC, repeated by
	 * deployed peers; ignored in version 1, in version 2 @fce follows
	 */
	bool first_contact;
	/* version 2: the EID of the Proposal that both sides have */
	u8 eid[SMC_EID_LEN];
	struct smc_clc_fce fce;		/* version 2, with @first_contact */
	u8 nr_gids;			/* entries of @gids; a Confirm with @fce */
	u8 gids[SMC_CLC_GIDS_MAX][SMC_GID_LEN];	/* GIDs that the client could use */
};

/* Why a side prefers TCP (W7). */
struct smc_clc_decline {
	u8 peer_id[SMC_PEER_ID_LEN];
	u32 diagnosis;		/* the sender's own code; for display only (DCLN-05) */
	bool out_of_sync;	/* the sender claims to have lost the link group (DCLN-04) */
	u8 os;			/* operating system of a deployed sender, 0 if unknown */
};

/* Any CLC message. */
struct smc_clc_msg {
	enum smc_clc_type type;	/* selects the member of the union */
	/* version of the layout; 0 if the header has version 0; a Proposal may have more than 2 */
	u8 version;
	union {
		struct smc_clc_proposal proposal;
		struct smc_clc_accept accept;	/* SMC_CLC_ACCEPT and SMC_CLC_CONFIRM */
		struct smc_clc_decline decline;
	};
};

enum smc_clc_verdict smc_clc_peek(const u8 hdr[SMC_CLC_HDR_LEN], u16 *len,
				  enum smc_clc_type *type);
enum smc_clc_verdict smc_clc_decode(const u8 *buf, size_t len,
				    struct smc_clc_msg *msg);
bool smc_clc_eid_is_valid(const u8 eid[SMC_EID_LEN]);
size_t smc_clc_encode(const struct smc_clc_msg *msg, u8 buf[SMC_CLC_MSG_MAX_LEN]);

#endif /* _SMC_CLC_WIRE_H */
