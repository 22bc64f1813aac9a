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

/**
 * struct smc_clc_prefix - an IPv6 prefix (W4)
 * @addr: the prefix, network order; only the first @len bits count
 * @len: significant bits, 0 to 128
 */
struct smc_clc_prefix {
	u8 addr[16];
	u8 len;
};

/**
 * struct smc_clc_v2_offer - a client's offer of SMC-R version 2
 * @gid: RoCE v2 GID of its RNIC
 * @release: 0 for version 2.0, 1 for 2.1; later ones are valid, too
 * @max_conns: its limit of connections in a link group; from release 1 on
 * @max_links: its limit of links in a link group; from release 1 on
 * @features: mask of optional features; from release 1 on
 * @nr_eids: entries of @eid
 * @eid: names of the host groups it belongs to, blank padded
 */
struct smc_clc_v2_offer {
	u8 gid[SMC_GID_LEN];
	u8 release;
	u8 max_conns;
	u8 max_links;
	u16 features;
	u8 nr_eids;
	u8 eid[SMC_CLC_EIDS_MAX][SMC_EID_LEN];
};

/**
 * struct smc_clc_proposal - a client's offer (W3)
 * @peer_id: the client; zero from deployed clients without @offers_v1
 * @gid: GID of the RNIC that the client prefers
 * @mac: MAC address of the same RNIC
 * @offers_v1: SMC-R version 1 is offered
 * @offers_v2: SMC-R version 2 is offered
 * @v2: the offer of version 2; zero without @offers_v2
 * @has_subnets: the message had the following fields
 * @subnet: IPv4 network number, host order; 0 on an IPv6 connection
 * @subnet_len: significant bits of @subnet, 0 to 32
 * @nr_prefixes: entries in @prefix; 0 on an IPv4 connection
 * @prefix: the IPv6 prefixes of the client's interface
 */
struct smc_clc_proposal {
	u8 peer_id[SMC_PEER_ID_LEN];
	u8 gid[SMC_GID_LEN];
	u8 mac[SMC_MAC_LEN];
	bool offers_v1;
	bool offers_v2;
	bool has_subnets;
	u32 subnet;
	u8 subnet_len;
	u8 nr_prefixes;
	struct smc_clc_prefix prefix[SMC_CLC_PREFIXES_MAX];
	struct smc_clc_v2_offer v2;
};

/**
 * struct smc_clc_fce - first-contact extension of version 2
 * @is_direct: the sender's route to the peer has no gateway
 * @os: its operating system, &enum smc_clc_os or another number
 * @release: of version 2
 * @host: its name, blank padded; any bytes
 * @max_conns: connections in the link group; from release 1 on
 * @max_links: links of the group; from release 1 on
 * @features: mask of optional features; from release 1 on
 */
struct smc_clc_fce {
	bool is_direct;
	u8 os;
	u8 release;
	u8 host[SMC_CLC_HOST_LEN];
	u8 max_conns;
	u8 max_links;
	u16 features;
};

/**
 * struct smc_clc_accept - RDMA data of one side: Accept and Confirm (W5, W6)
 * @peer_id: the sender
 * @gid: GID of the sender's end of the link
 * @mac: MAC address of the same RNIC
 * @qpn: QP number of the sender's end, 24 bits
 * @rkey: of the sender's RMB on this link
 * @rmb_addr: start of the RMB, as RDMA address on this link
 * @rmbe_index: element of the RMB, 1 to 255
 * @token: alert token, part of each CDC message to the sender
 * @psn: first packet sequence number of the sender, 24 bits
 * @size_code: length of the element, 2^(n + 14) bytes, 0 to 15
 * @mtu: path MTU as &enum smc_mtu; any nibble, see smc_nego_mtu_is_valid()
 * @first_contact: Accept: the server creates a link group. Confirm: reserved in the RFC,
 *	repeated by deployed peers; ignored in version 1, in version 2 @fce follows
 * @eid: version 2: the EID of the Proposal that both sides have
 * @fce: version 2, with @first_contact
 * @nr_gids: entries of @gids; a Confirm with @fce
 * @gids: GIDs that the client could use
 */
struct smc_clc_accept {
	u8 peer_id[SMC_PEER_ID_LEN];
	u8 gid[SMC_GID_LEN];
	u8 mac[SMC_MAC_LEN];
	u32 qpn;
	u32 rkey;
	u64 rmb_addr;
	u8 rmbe_index;
	u32 token;
	u32 psn;
	u8 size_code;
	u8 mtu;
	bool first_contact;
	u8 eid[SMC_EID_LEN];
	struct smc_clc_fce fce;
	u8 nr_gids;
	u8 gids[SMC_CLC_GIDS_MAX][SMC_GID_LEN];
};

/**
 * struct smc_clc_decline - why a side prefers TCP (W7)
 * @peer_id: the sender
 * @diagnosis: the sender's own code; for display only (DCLN-05)
 * @out_of_sync: the receiver's link group is stale and has to end (DCLN-04)
 * @os: operating system of a deployed sender, 0 if unknown
 */
struct smc_clc_decline {
	u8 peer_id[SMC_PEER_ID_LEN];
	u32 diagnosis;
	bool out_of_sync;
	u8 os;
};

/**
 * struct smc_clc_msg - any CLC message
 * @type: selects the member of the union
 * @version: version of the layout; 0 if the header has version 0; a Proposal may have more
 *	than 2
 * @proposal: SMC_CLC_PROPOSAL
 * @accept: SMC_CLC_ACCEPT and SMC_CLC_CONFIRM
 * @decline: SMC_CLC_DECLINE
 */
struct smc_clc_msg {
	enum smc_clc_type type;
	u8 version;
	union {
		struct smc_clc_proposal proposal;
		struct smc_clc_accept accept;
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
