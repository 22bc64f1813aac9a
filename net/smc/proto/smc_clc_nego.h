/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decisions of the CLC handshake as functions of values: the Proposal, the choice of an offer,
 * the checks of Accept and Confirm, and the code of a Decline.
 */
#ifndef _SMC_CLC_NEGO_H
#define _SMC_CLC_NEGO_H

#include <linux/types.h>

#include "proto/smc_clc_wire.h"
#include "proto/smc_llc_v2.h"

/*
 * Reasons to stay with TCP: the diagnosis of a Decline, and the fallback reason that operators
 * see. The numbers are those of deployed tools; they are never mixed with errnos.
 */
#define SMC_DECLINES(X) \
	X(MEM, 0x01010000, "not enough memory for buffers") \
	X(TIMEOUT_CL, 0x02010000, "CONFIRM LINK did not arrive in time: RDMA packets get lost") \
	X(TIMEOUT_AL, 0x02020000, "ADD LINK did not arrive in time") \
	X(CNFERR, 0x03000000, "the local network configuration is not usable") \
	X(PEERNOSMC, 0x03010000, "the peer does not speak SMC") \
	X(IPSEC, 0x03020000, "the connection is subject to IPsec") \
	X(NOSMCDEV, 0x03030000, "no device for SMC on the way to the peer") \
	X(NOSMCRDEV, 0x03030002, "no RDMA device on the way to the peer") \
	X(NOV2EXT, 0x03030004, "the peer offered version 2 without its extension") \
	X(NOUEID, 0x03030008, "the peer listed no EID that is known here") \
	X(RELEASEERR, 0x03030009, "the peer answered with a release that was not offered") \
	X(MAXCONNERR, 0x0303000a, "no agreement on the number of connections") \
	X(MAXLINKERR, 0x0303000b, "no agreement on the number of links") \
	X(MODEUNSUPP, 0x03040000, "the peer chose a mode that was not offered") \
	X(RMBE_EC, 0x03050000, "the peer uses eye catchers in its buffers") \
	X(OPTUNSUPP, 0x03060000, "a socket option, such as fast open, works with TCP only") \
	X(DIFFPREFIX, 0x03070000, "the peer is in another subnet") \
	X(NOACTLINK, 0x030a0000, "the link group has no active link") \
	X(VERSMISMAT, 0x030c0000, "the versions do not match") \
	X(NOROUTE, 0x030e0000, "no route to the peer's RDMA address") \
	X(NOINDIRECT, 0x030f0000, "one side routes and the other does not") \
	X(POLICY, 0x03f00000, "the policy of the network namespace says TCP") \
	X(DRAIN, 0x03f10000, "the module is being drained, see `smc drain`") \
	X(LGRLIMIT, 0x03f20000, "too many link groups, with this peer or on this host") \
	X(UNFIT, 0x03f30000, "no RDMA device on the way is fit for SMC, see `smc devices`") \
	X(SYNCERR, 0x04000000, "the two sides disagree about their link group") \
	X(PEERDECL, 0x05000000, "the peer declined") \
	X(INTERR, 0x09990000, "internal error") \
	X(ERR_RTOK, 0x09990001, "the peer's buffer key could not be stored") \
	X(ERR_RDYLNK, 0x09990002, "the queue pair could not be connected") \
	X(ERR_REGBUF, 0x09990003, "the buffers could not be registered")

enum smc_decline {
	SMC_DECLINE_NONE	= 0x00000000,
#define SMC_DECLINE_CODE(id, code, ...) SMC_DECLINE_##id = code,
	SMC_DECLINES(SMC_DECLINE_CODE)
#undef SMC_DECLINE_CODE
};

/* The same as places in a table, for counters; all other codes share the last one. */
enum smc_reason {
#define SMC_DECLINE_PLACE(id, ...) SMC_REASON_##id,
	SMC_DECLINES(SMC_DECLINE_PLACE)
#undef SMC_DECLINE_PLACE
	SMC_REASON_OTHER,
	SMC_REASON_NR
};

/* Limits of version 1: connections of a link group; links, spare ones included */
#define SMC_NEGO_MAX_CONNS	255
#define SMC_NEGO_MAX_LINKS	8	/* MAXL-01 */

/* Release number and limits of version 2.1 */
enum smc_nego_v21 {
	SMC_NEGO_RELEASE	= 1,
	SMC_NEGO_V21_MIN_CONNS	= 16,
	SMC_NEGO_V21_MIN_LINKS	= 1,
	SMC_NEGO_V21_MAX_LINKS	= 2,
};

/**
 * struct smc_nego_subnets - subnets of the interface that a connection uses
 * @is_ipv6: the TCP segments are IPv6; an IPv4-mapped address is IPv4 (PROP-09)
 * @ipv4: IPv4 only: an address of the interface, host order
 * @ipv4_len: its prefix length, 1 to 32
 * @own: IPv6 only: local address of the TCP connection, or zero
 * @nr_prefixes: entries in @prefix
 * @prefix: IPv6 only: filled by smc_nego_add_prefix()
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
 * struct smc_nego_local - this host as seen by one connection
 * @peer_id: this host in this network namespace
 * @gid: GID of the RNIC
 * @mac: MAC address of the RNIC
 * @subnets: of the outgoing interface; client only
 * @has_v2: version 2 is possible: there is a RoCE v2 GID and, on a server, a path to the client
 * @v2: the client's offer of version 2, or what the server would agree to
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
 * @peer_id: this host
 * @gid: GID of the RNIC
 * @mac: MAC address of the RNIC
 * @qpn: QP number
 * @psn: first packet sequence number that we send
 * @is_direct: the path to the peer has no gateway
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
 * struct smc_nego_rmbe - the element in which one side receives
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
 * @is_routed: RoCE v2: the path follows a route, perhaps through a gateway, not a common subnet
 * @mtu: path MTU of the first link, &enum smc_mtu (FC-14)
 * @max_links: agreed limit, or upper limit if CONFIRM LINK settles it
 * @max_links_is_fixed: CLC has settled @max_links, LLC does not
 * @max_conns: connections the group may carry
 * @announced_max_conns: @max_conns in CONFIRM LINK, 0 if that has no such field
 * @max_size_code: largest element that we may announce; the RFC's until the dialect is known
 * @elem_base: start of data in an element; the RFC's until the dialect is known
 * @has_dialect: the only dialect is the deployed one
 * @dialect: settled by CONFIRM LINK, the RFC's until then; for codecs and operators
 * @llc_form: of the LLC messages
 * @features: mask of the common features
 * @eid: the common EID; zero in version 1
 * @peer_is_direct: the peer's route to us has no gateway
 *
 * Only the functions below write it.
 */
struct smc_params {
	u8 version;
	u8 release;
	bool is_routed;
	u8 mtu;
	u8 max_links;
	bool max_links_is_fixed;
	u8 max_conns;
	u8 announced_max_conns;
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
 * struct smc_nego_known - local state of the link that a message names
 * @has_link: a link in use, or being deleted, has the named peer ID, GID, MAC address and QP
 *	number at its far end, in a group of the right role and VLAN; the RToken does not matter
 *	(SC-05, RKEY-23)
 * @has_rtoken: that group has the RMB's rkey and address (RKEY-24)
 * @is_left: the link is being deleted or gone, the group remains; the peer may not know yet
 * @max_size_code: largest element of that group's dialect: SMC_BSIZE_RFC_MAX or
 *	SMC_BSIZE_DEPLOYED_MAX
 * @peer_id: peer ID received when that group was formed, or zeros
 */
struct smc_nego_known {
	bool has_link;
	bool has_rtoken;
	bool is_left;
	u8 max_size_code;
	u8 peer_id[SMC_PEER_ID_LEN];
};

/**
 * struct smc_nego_accepted - the client's result from an Accept
 * @out_of_sync: set the S bit of the Decline (AMB-33)
 * @params: settled values; on subsequent contact those the Confirm needs
 */
struct smc_nego_accepted {
	bool out_of_sync;
	struct smc_params params;
};

/**
 * struct smc_nego_confirmed - the server's result from a Confirm
 * @must_reset: on failure end the TCP connection and leave the link group; else send a Decline
 * @params: first contact only: settled values
 */
struct smc_nego_confirmed {
	bool must_reset;
	struct smc_params params;
};

enum smc_reason smc_nego_reason(u32 code);
u32 smc_nego_reason_code(enum smc_reason reason);
const char *smc_nego_reason_text(u32 code);

void smc_nego_settle_dialect(struct smc_params *params, enum smc_dialect dialect);
void smc_nego_peer_id(u8 peer_id[SMC_PEER_ID_LEN], u16 instance,
		      const u8 mac[SMC_MAC_LEN]);

u32 smc_nego_size_bytes(u8 size_code);
u8 smc_nego_size_code(u32 bytes, u8 max_code);
bool smc_nego_mtu_is_valid(u8 mtu);

void smc_nego_add_prefix(struct smc_nego_subnets *subnets, const u8 addr[16],
			 u8 len);
bool smc_nego_suits_v2(bool wants_rfc, int max_links, int max_conns);
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
