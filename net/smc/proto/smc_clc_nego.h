/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the CLC handshake decides, as functions of values: what to propose,
 * whether to take an offer, whether Accept and Confirm fit to what is known,
 * and which code a Decline carries.
 */
#ifndef _SMC_CLC_NEGO_H
#define _SMC_CLC_NEGO_H

#include <linux/types.h>

#include "proto/smc_clc_wire.h"
#include "proto/smc_llc_v2.h"

/*
 * Reasons to stay with TCP: the diagnosis of a Decline we send and the
 * fallback reason shown to the operator. The numbers are those which deployed
 * tools know. Never an errno, never mixed with one; zero is "no reason".
 */
enum smc_decline {
	SMC_DECLINE_NONE	= 0x00000000,
	SMC_DECLINE_MEM		= 0x01010000,
	SMC_DECLINE_TIMEOUT_CL	= 0x02010000,
	SMC_DECLINE_TIMEOUT_AL	= 0x02020000,
	SMC_DECLINE_CNFERR	= 0x03000000,
	SMC_DECLINE_PEERNOSMC	= 0x03010000,
	SMC_DECLINE_IPSEC	= 0x03020000,
	SMC_DECLINE_NOSMCDEV	= 0x03030000,
	SMC_DECLINE_NOSMCRDEV	= 0x03030002,
	SMC_DECLINE_NOV2EXT	= 0x03030004,
	SMC_DECLINE_NOUEID	= 0x03030008,
	SMC_DECLINE_RELEASEERR	= 0x03030009,
	SMC_DECLINE_MAXCONNERR	= 0x0303000a,
	SMC_DECLINE_MAXLINKERR	= 0x0303000b,
	SMC_DECLINE_MODEUNSUPP	= 0x03040000,
	SMC_DECLINE_RMBE_EC	= 0x03050000,
	SMC_DECLINE_OPTUNSUPP	= 0x03060000,
	SMC_DECLINE_DIFFPREFIX	= 0x03070000,
	SMC_DECLINE_NOACTLINK	= 0x030a0000,
	SMC_DECLINE_VERSMISMAT	= 0x030c0000,
	SMC_DECLINE_NOROUTE	= 0x030e0000,
	SMC_DECLINE_NOINDIRECT	= 0x030f0000,
	SMC_DECLINE_SYNCERR	= 0x04000000,
	SMC_DECLINE_PEERDECL	= 0x05000000,
	SMC_DECLINE_INTERR	= 0x09990000,
	SMC_DECLINE_ERR_RTOK	= 0x09990001,
	SMC_DECLINE_ERR_RDYLNK	= 0x09990002,
	SMC_DECLINE_ERR_REGBUF	= 0x09990003,
};

/* Connections in a link group of version 1; links, spare ones included. */
#define SMC_NEGO_MAX_CONNS	255
#define SMC_NEGO_MAX_LINKS	8	/* MAXL-01 */

/* Version 2.1: its number; no side may agree on less or more than this. */
enum smc_nego_v21 {
	SMC_NEGO_RELEASE	= 1,
	SMC_NEGO_V21_MIN_CONNS	= 16,
	SMC_NEGO_V21_MIN_LINKS	= 1,
	SMC_NEGO_V21_MAX_LINKS	= 2,
};

/**
 * struct smc_nego_subnets - subnets of the interface a connection uses
 * @is_ipv6: the TCP segments are IPv6; an IPv4-mapped address is IPv4 (PROP-09)
 * @ipv4: an address of the interface, host order; !@is_ipv6 only
 * @ipv4_len: its prefix length, 1 to 32
 * @own: @is_ipv6 only: local address of the TCP connection; zero if that is no matter
 * @nr_prefixes: entries in @prefix
 * @prefix: @is_ipv6 only: filled by smc_nego_add_prefix()
 */
struct smc_nego_subnets {
	bool is_ipv6;
	u32 ipv4;
	u8 ipv4_len;
	u8 own[16];
	u8 nr_prefixes;
	struct smc_clc_prefix prefix[SMC_CLC_PREFIXES_MAX];
};

/**
 * struct smc_nego_local - who and where we are, for one connection
 * @peer_id: this host in this network namespace
 * @gid: GID of the RNIC
 * @mac: MAC address of the RNIC
 * @subnets: of the outgoing interface; only a client needs them
 * @has_v2: SMC-R version 2 is possible: there is a RoCE v2 GID, and at a server
 *	the way to the one that the client named has been found
 * @v2: what we offer of it (client), or would agree to (server)
 */
struct smc_nego_local {
	u8 peer_id[SMC_PEER_ID_LEN];
	u8 gid[SMC_GID_LEN];
	u8 mac[SMC_MAC_LEN];
	struct smc_nego_subnets subnets;
	bool has_v2;
	struct smc_clc_v2_offer v2;
};

/**
 * struct smc_nego_end - our end of a link, as named in Accept and Confirm
 * @peer_id: host
 * @gid: GID of the RNIC
 * @mac: MAC address of the RNIC
 * @qpn: QP number
 * @psn: the first packet sequence number we send
 * @is_direct: the way to the peer has no gateway
 * @host: name of this host, blank padded
 */
struct smc_nego_end {
	u8 peer_id[SMC_PEER_ID_LEN];
	u8 gid[SMC_GID_LEN];
	u8 mac[SMC_MAC_LEN];
	u32 qpn;
	u32 psn;
	bool is_direct;
	u8 host[SMC_CLC_HOST_LEN];
};

/**
 * struct smc_nego_rmbe - the element which one side receives in
 * @rkey: of the RMB, on the link named in the same message
 * @addr: start of the RMB
 * @token: alert token of the connection
 * @index: element, 1 to 255
 * @size_code: length of the element, see smc_nego_size_bytes()
 */
struct smc_nego_rmbe {
	u32 rkey;
	u64 addr;
	u32 token;
	u8 index;
	u8 size_code;
};

/**
 * struct smc_params - what CLC has settled for a link group
 * @version: of SMC-R
 * @release: of that version
 * @is_routed: the peers need no subnet in common: RoCE v2 GIDs, the way found
 *	by a route, perhaps through a gateway
 * @mtu: path MTU of the first link, &enum smc_mtu (FC-14)
 * @max_links: agreed on with the peer, or at most, where CONFIRM LINK settles it
 * @max_links_is_fixed: the peer has agreed to @max_links, LLC does not ask again
 * @max_conns: connections the group may carry
 * @told_max_conns: the same as CONFIRM LINK has it, 0 where it has no such field
 * @max_size_code: largest element that we may announce, the RFC's until the dialect
 *	is known
 * @elem_base: where the data of an element begin, behind the eye catcher or at its
 *	beginning; the RFC's until the dialect is known
 * @has_dialect: there is but one dialect, the deployed one
 * @dialect: settled by CONFIRM LINK, the RFC's until then; for codecs and operators
 * @llc_form: of the LLC messages
 * @features: mask both sides know
 * @eid: by which the two belong together; zero in version 1
 * @peer_is_direct: the peer says that its route to us has no gateway
 *
 * Written by the functions below, const for everybody else.
 */
struct smc_params {
	u8 version;
	u8 release;
	bool is_routed;
	u8 mtu;
	u8 max_links;
	bool max_links_is_fixed;
	u8 max_conns;
	u8 told_max_conns;
	u8 max_size_code;
	u8 elem_base;
	bool has_dialect;
	enum smc_dialect dialect;
	enum smc_llc_form llc_form;
	u16 features;
	u8 eid[SMC_EID_LEN];
	bool peer_is_direct;
};

/**
 * struct smc_nego_known - what this side knows about the link in a message
 * @has_link: the far end of a link in use, or one that is being left, has the
 *	peer ID, GID, MAC address and QP number named, in a link group of the right
 *	role and VLAN; the RToken has no part in it (SC-05, RKEY-23)
 * @has_rtoken: that group knows the RMB's rkey and address (RKEY-24)
 * @is_left: the link is being left, or has gone lately, and the group goes on: the
 *	peer could not know better
 * @max_size_code: largest element in that group's dialect: SMC_BSIZE_RFC_MAX
 *	or SMC_BSIZE_DEPLOYED_MAX
 * @peer_id: what the peer has told of itself when that group was formed; zeros if
 *	nothing
 */
struct smc_nego_known {
	bool has_link;
	bool has_rtoken;
	bool is_left;
	u8 max_size_code;
	u8 peer_id[SMC_PEER_ID_LEN];
};

/**
 * struct smc_nego_accepted - what the client has made of an Accept
 * @out_of_sync: set the S bit of the Decline (AMB-33)
 * @params: settled values; on subsequent contact what the Confirm needs of them
 */
struct smc_nego_accepted {
	bool out_of_sync;
	struct smc_params params;
};

/**
 * struct smc_nego_confirmed - what the server has made of a Confirm
 * @must_reset: one that does not fit ends the TCP connection, and the link group stays;
 *	otherwise a Decline is possible
 * @params: first contact only: settled values
 */
struct smc_nego_confirmed {
	bool must_reset;
	struct smc_params params;
};

void smc_nego_settle_dialect(struct smc_params *params, enum smc_dialect dialect);
void smc_nego_peer_id(u8 peer_id[SMC_PEER_ID_LEN], u16 instance,
		      const u8 mac[SMC_MAC_LEN]);

u32 smc_nego_size_bytes(u8 size_code);
u8 smc_nego_size_code(u32 bytes, u8 max_code);
bool smc_nego_mtu_is_valid(u8 mtu);

void smc_nego_add_prefix(struct smc_nego_subnets *subnets, const u8 addr[16],
			 u8 len);
void smc_nego_add_host(struct smc_nego_subnets *subnets, const u8 addr[16]);
enum smc_decline smc_nego_propose(const struct smc_nego_local *local,
				  struct smc_clc_msg *msg);

bool smc_nego_match_ipv4(const struct smc_clc_proposal *prop, u32 addr, u8 len);
bool smc_nego_match_ipv6(const struct smc_clc_proposal *prop,
			 const u8 addr[16], u8 len);
const u8 *smc_nego_routed_gid(const struct smc_clc_proposal *prop,
			      const struct smc_nego_local *local);
enum smc_decline smc_nego_server(const struct smc_clc_proposal *prop,
				 const struct smc_nego_local *local, bool shares_subnet,
				 u8 peer_gid[SMC_GID_LEN], struct smc_params *params);

bool smc_nego_same_peer(const u8 id_a[SMC_PEER_ID_LEN],
			const u8 gid_a[SMC_GID_LEN],
			const u8 id_b[SMC_PEER_ID_LEN],
			const u8 gid_b[SMC_GID_LEN]);
bool smc_nego_same_rnic(const u8 gid_a[SMC_GID_LEN], const u8 mac_a[SMC_MAC_LEN],
			const u8 gid_b[SMC_GID_LEN], const u8 mac_b[SMC_MAC_LEN]);

void smc_nego_build_data(struct smc_clc_msg *msg, enum smc_clc_type type,
			 const struct smc_nego_end *end, const struct smc_nego_rmbe *rmbe, u8 mtu,
			 const struct smc_params *params, bool first_contact);
void smc_nego_build_decline(struct smc_clc_msg *msg,
			    const u8 peer_id[SMC_PEER_ID_LEN],
			    enum smc_decline code, bool out_of_sync, u8 peer_version);

enum smc_decline smc_nego_check_route(const struct smc_params *params, bool is_direct);
enum smc_decline smc_nego_classify_accept(const struct smc_clc_msg *msg,
					  const struct smc_clc_proposal *offer,
					  const struct smc_nego_known *known, u8 own_mtu,
					  struct smc_nego_accepted *result);
enum smc_decline smc_nego_check_confirm(const struct smc_clc_msg *msg,
					const struct smc_clc_proposal *prop,
					const struct smc_params *params,
					const struct smc_nego_known *known, u8 own_mtu,
					struct smc_nego_confirmed *result);

#endif /* _SMC_CLC_NEGO_H */
