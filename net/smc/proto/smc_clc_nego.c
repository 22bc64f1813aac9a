// SPDX-License-Identifier: GPL-2.0
/*
 * Decisions of the CLC handshake, RFC 7609 3.5.1 to 3.5.3 and C.1 to C.6; for version 2 those of
 * deployed peers (protocol.md). Callers look up link groups and devices and pass in what they
 * found. Outside this file and the codec, struct smc_params stands for the version.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "proto/smc_clc_nego.h"
#include "proto/smc_gid.h"

static const struct {
	u32 code;
	const char *text;
} nego_reasons[] = {
#define NEGO_REASON(id, code, text) \
	[SMC_REASON_##id] = { code, text },
	SMC_DECLINES(NEGO_REASON)
#undef NEGO_REASON
	[SMC_REASON_OTHER] = { SMC_DECLINE_INTERR | 0xffff, "another reason" },
};

/**
 * smc_nego_reason() - the place of a reason in a table
 * @code: of a fallback, any value
 *
 * Context: Any context.
 * Return: the place, SMC_REASON_OTHER for an unknown code.
 */
enum smc_reason smc_nego_reason(u32 code)
{
	enum smc_reason reason = 0;

	while (reason < SMC_REASON_OTHER && nego_reasons[reason].code != code)
		reason++;
	return reason;
}

/**
 * smc_nego_reason_code() - the inverse of smc_nego_reason()
 * @reason: less than SMC_REASON_NR
 *
 * Context: Any context.
 * Return: the code; one of the class of internal errors for SMC_REASON_OTHER.
 */
u32 smc_nego_reason_code(enum smc_reason reason)
{
	return nego_reasons[reason].code;
}

/**
 * smc_nego_reason_text() - a reason in words
 * @code: any value
 *
 * Context: Any context.
 * Return: a constant string, never NULL.
 */
const char *smc_nego_reason_text(u32 code)
{
	return nego_reasons[smc_nego_reason(code)].text;
}

/**
 * smc_nego_peer_id() - build the peer ID of this host, RFC 7609 A.2.1, PID-01
 * @peer_id: out: the peer ID
 * @instance: differs at each start of the module (PID-02)
 * @mac: MAC address of one of the RNICs, unique in the network
 *
 * Context: Any context.
 */
void smc_nego_peer_id(u8 peer_id[SMC_PEER_ID_LEN], u16 instance,
		      const u8 mac[SMC_MAC_LEN])
{
	peer_id[0] = instance >> 8;
	peer_id[1] = instance;
	memcpy(peer_id + 2, mac, SMC_MAC_LEN);
}

/**
 * smc_nego_size_bytes() - convert a size code to the length of an element
 * @size_code: 0 to 15
 *
 * Context: Any context.
 * Return: bytes, an eye catcher included (AMB-08): 16 KiB * 2^@size_code. ACPT-06, A.2.3.
 */
u32 smc_nego_size_bytes(u8 size_code)
{
	return 1U << (min_t(u8, size_code, SMC_BSIZE_DEPLOYED_MAX) +
		      SMC_BSIZE_LOG2_BASE);
}

/**
 * smc_nego_size_code() - find the smallest element that holds a number of bytes
 * @bytes: wanted length of the element
 * @max_code: largest code that may be used
 *
 * In the RFC dialect @bytes includes the eye catcher: the buffer is 4 bytes smaller than asked
 * for, but the element does not double (RMB-09, AMB-08).
 *
 * Context: Any context.
 * Return: the code, @max_code if none is large enough.
 */
u8 smc_nego_size_code(u32 bytes, u8 max_code)
{
	int code = order_base_2(bytes) - SMC_BSIZE_LOG2_BASE;

	return clamp_t(int, code, SMC_BSIZE_MIN, max_code);
}

/* RFC 7609 A.2.3; ACPT-07. */
bool smc_nego_mtu_is_valid(u8 mtu)
{
	return mtu >= SMC_MTU_256 && mtu <= SMC_MTU_4096;
}

/* All hosts have the same link-local prefix, so it proves no common subnet (AMB-63). */
static bool nego_is_link_local(const u8 addr[16])
{
	return smc_gid_classify(addr) == SMC_GID_LINK_LOCAL;
}

static u32 nego_mask_ipv4(u8 len)
{
	return len ? ~0U << (32 - len) : 0;
}

static bool nego_same_bits(const u8 *a, const u8 *b, u8 len)
{
	u8 mask = 0xff00 >> (len & 7);

	if (memcmp(a, b, len / 8))
		return false;
	return !(len & 7) || !((a[len / 8] ^ b[len / 8]) & mask);
}

/**
 * smc_nego_add_prefix() - add an IPv6 prefix of the interface
 * @subnets: of the interface
 * @addr: an address of the interface, network order
 * @len: its prefix length
 *
 * Called for each address of the interface. Skips link-local addresses (AMB-63), duplicates, and
 * prefixes beyond the eight of a Proposal (PROP-06). The prefix of @subnets->own comes first and
 * is never skipped: the server most likely shares it.
 *
 * Context: Any context.
 */
void smc_nego_add_prefix(struct smc_nego_subnets *subnets, const u8 addr[16],
			 u8 len)
{
	unsigned int i, nr = min_t(u8, subnets->nr_prefixes, SMC_CLC_PREFIXES_MAX - 1);
	struct smc_clc_prefix *prefix;
	bool is_own;

	if (!len || len > SMC_CLC_PREFIX_BITS_MAX || nego_is_link_local(addr))
		return;
	is_own = nego_same_bits(subnets->own, addr, len);
	if (subnets->nr_prefixes >= SMC_CLC_PREFIXES_MAX && !is_own)
		return;
	for (i = 0; i < subnets->nr_prefixes; i++) {
		prefix = &subnets->prefix[i];
		if (prefix->len == len &&
		    nego_same_bits(prefix->addr, addr, len))
			return;
	}

	prefix = &subnets->prefix[is_own ? 0 : nr];
	if (is_own)
		subnets->prefix[nr] = *prefix;
	subnets->nr_prefixes = nr + 1;
	memset(prefix, 0, sizeof(*prefix));
	memcpy(prefix->addr, addr, len / 8);
	if (len & 7)
		prefix->addr[len / 8] = addr[len / 8] & (0xff00 >> (len & 7));
	prefix->len = len;
}

/* Returns false if there is no subnet to name. */
static bool nego_set_subnets(const struct smc_nego_subnets *subnets,
			     struct smc_clc_proposal *prop)
{
	if (subnets->is_ipv6) {
		prop->nr_prefixes = min_t(u8, subnets->nr_prefixes,
					  SMC_CLC_PREFIXES_MAX);
		memcpy(prop->prefix, subnets->prefix,
		       prop->nr_prefixes * sizeof(prop->prefix[0]));
		return prop->nr_prefixes;
	}
	if (!subnets->ipv4_len || subnets->ipv4_len > SMC_CLC_MASK_BITS_MAX)
		return false;
	prop->subnet = subnets->ipv4 & nego_mask_ipv4(subnets->ipv4_len);
	prop->subnet_len = subnets->ipv4_len;
	return true;
}

/**
 * smc_nego_suits_v2() - check whether version 2 has what the settings ask for
 * @wants_rfc: this host wants the dialect of the RFC
 * @max_links: limit of links in a group
 * @max_conns: limit of connections in a group
 *
 * An EID of the operator means version 2 all the same, within its limits.
 *
 * Context: Any context.
 * Return: true if so.
 */
bool smc_nego_suits_v2(bool wants_rfc, int max_links, int max_conns)
{
	return !wants_rfc && max_links <= SMC_NEGO_V21_MAX_LINKS &&
	       max_conns >= SMC_NEGO_V21_MIN_CONNS;
}

/**
 * smc_nego_propose() - build the client's Proposal
 * @local: this host, the suggested RNIC, the subnets of the interface
 * @msg: out: the Proposal
 *
 * Independent of first or subsequent contact (PROP-01). An IPv4 connection names the interface's
 * network number and prefix length (AMB-07), an IPv6 connection its prefixes. RFC 7609 3.5.1.2,
 * A.2.2, PROP-02 to PROP-04. Version 2, if possible, is offered, too, and determines the layout;
 * both layouts have the peer ID (protocol.md).
 *
 * Context: Any context.
 * Return: SMC_DECLINE_NONE; SMC_DECLINE_CNFERR if nothing can be offered for lack of a subnet.
 */
enum smc_decline smc_nego_propose(const struct smc_nego_local *local,
				  struct smc_clc_msg *msg)
{
	struct smc_clc_proposal *prop = &msg->proposal;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_CLC_PROPOSAL;
	msg->version = SMC_CLC_V1;
	memcpy(prop->peer_id, local->peer_id, sizeof(prop->peer_id));
	memcpy(prop->gid, local->gid, sizeof(prop->gid));
	memcpy(prop->mac, local->mac, sizeof(prop->mac));
	prop->offers_v1 = nego_set_subnets(&local->subnets, prop);
	prop->has_subnets = prop->offers_v1;
	if (local->has_v2 && local->v2.nr_eids) {
		msg->version = SMC_CLC_V2;
		prop->offers_v2 = true;
		prop->v2 = local->v2;
	}
	return prop->offers_v1 || prop->offers_v2 ? SMC_DECLINE_NONE : SMC_DECLINE_CNFERR;
}

/**
 * smc_nego_match_ipv4() - check whether an address is in the client's IPv4 subnet
 * @prop: the client's Proposal
 * @addr: an address of the server's interface, host order
 * @len: its prefix length
 *
 * RFC 7609 3.5.1.2, FC-03, AMB-07: same length and same network number.
 *
 * Context: Any context.
 * Return: true if so; false if the Proposal is for IPv6.
 */
bool smc_nego_match_ipv4(const struct smc_clc_proposal *prop, u32 addr, u8 len)
{
	if (!prop->has_subnets || prop->nr_prefixes)
		return false;
	if (!len || len > SMC_CLC_MASK_BITS_MAX || len != prop->subnet_len)
		return false;
	return !((addr ^ prop->subnet) & nego_mask_ipv4(len));
}

/**
 * smc_nego_match_ipv6() - check whether an address is in one of the client's IPv6 subnets
 * @prop: the client's Proposal
 * @addr: an address of the server's interface, network order
 * @len: its prefix length
 *
 * RFC 7609 3.5.1.2, FC-04, AMB-63: same length and same prefix; link-local never matches.
 *
 * Context: Any context.
 * Return: true if so; false if the Proposal is for IPv4.
 */
bool smc_nego_match_ipv6(const struct smc_clc_proposal *prop,
			 const u8 addr[16], u8 len)
{
	unsigned int i;

	if (!len || nego_is_link_local(addr))
		return false;
	for (i = 0; i < prop->nr_prefixes; i++)
		if (prop->prefix[i].len == len &&
		    nego_same_bits(prop->prefix[i].addr, addr, len))
			return true;
	return false;
}

/**
 * smc_nego_settle_dialect() - set the layout of elements
 * @params: of a group that is being formed
 * @dialect: result of the CONFIRM LINK exchange on its first link
 *
 * Context: Any context. The caller serialises. (protocol.md; RMB-12, AMB-35)
 */
void smc_nego_settle_dialect(struct smc_params *params, enum smc_dialect dialect)
{
	bool is_rfc = dialect == SMC_DIALECT_RFC;

	params->dialect = dialect;
	params->elem_base = is_rfc ? SMC_EYE_CATCHER_LEN : 0;
	params->max_size_code = is_rfc ? SMC_BSIZE_RFC_MAX : SMC_BSIZE_DEPLOYED_MAX;
}

static void nego_settle_v1(struct smc_params *params)
{
	memset(params, 0, sizeof(*params));
	params->version = SMC_CLC_V1;
	params->max_links = SMC_NEGO_MAX_LINKS;
	params->max_conns = SMC_NEGO_MAX_CONNS;
	params->llc_form = SMC_LLC_FORM_V1;
	smc_nego_settle_dialect(params, SMC_DIALECT_RFC);
}

/* Release 0 of version 2. Elements stay small until the dialect is committed, as in version 1. */
static void nego_settle_v2(struct smc_params *params, const u8 eid[SMC_EID_LEN])
{
	nego_settle_v1(params);
	params->version = SMC_CLC_V2;
	params->is_routed = true;
	params->has_dialect = true;
	params->llc_form = SMC_LLC_FORM_V2;
	params->max_links = SMC_NEGO_V21_MAX_LINKS;
	memcpy(params->eid, eid, sizeof(params->eid));
}

static void nego_settle_release(struct smc_params *params, u8 release, u8 max_conns,
				u8 max_links, u16 features)
{
	params->release = release;
	params->max_conns = max_conns;
	params->announced_max_conns = max_conns;
	params->max_links = max_links;
	params->max_links_is_fixed = true;
	params->features = features;
}

static bool nego_has_eid(const struct smc_clc_v2_offer *offer, const u8 eid[SMC_EID_LEN])
{
	unsigned int i;

	for (i = 0; i < offer->nr_eids; i++)
		if (!memcmp(offer->eid[i], eid, SMC_EID_LEN))
			return true;
	return false;
}

/* Returns the first of the client's EIDs that we have, too, or NULL. */
static const u8 *nego_common_eid(const struct smc_clc_v2_offer *theirs,
				 const struct smc_clc_v2_offer *ours)
{
	unsigned int i;

	for (i = 0; i < theirs->nr_eids; i++)
		if (nego_has_eid(ours, theirs->eid[i]))
			return theirs->eid[i];
	return NULL;
}

static enum smc_decline nego_check_limits(u8 max_conns, u8 max_links)
{
	if (max_conns < SMC_NEGO_V21_MIN_CONNS)
		return SMC_DECLINE_MAXCONNERR;
	if (max_links < SMC_NEGO_V21_MIN_LINKS)
		return SMC_DECLINE_MAXLINKERR;
	return SMC_DECLINE_NONE;
}

static enum smc_decline nego_take_v2(const struct smc_clc_v2_offer *theirs,
				     const struct smc_nego_local *local,
				     struct smc_params *params)
{
	const struct smc_clc_v2_offer *ours = &local->v2;
	const u8 *eid = nego_common_eid(theirs, ours);
	u8 release = min(theirs->release, ours->release);
	u8 max_conns = min(theirs->max_conns, ours->max_conns);
	u8 max_links = min(theirs->max_links, ours->max_links);
	enum smc_decline reason;

	if (!eid)
		return SMC_DECLINE_NOUEID;
	if (!local->has_v2 || !smc_gid_is_routable_to(ours->gid, theirs->gid))
		return SMC_DECLINE_NOROUTE;
	nego_settle_v2(params, eid);
	if (!release)
		return SMC_DECLINE_NONE;
	reason = nego_check_limits(max_conns, max_links);
	/* the Confirm will carry the common features, so ours suffice here */
	nego_settle_release(params, release, max_conns, max_links, ours->features);
	return reason;
}

/**
 * smc_nego_routed_gid() - find the GID to which the server needs a route
 * @prop: the client's Proposal
 * @local: this host
 *
 * Context: Any context.
 * Return: a GID in @prop; NULL if no acceptable offer needs a route.
 */
const u8 *smc_nego_routed_gid(const struct smc_clc_proposal *prop,
			      const struct smc_nego_local *local)
{
	if (!local->has_v2 || !prop->offers_v2 || !nego_common_eid(&prop->v2, &local->v2) ||
	    !smc_gid_is_routable_to(local->v2.gid, prop->v2.gid))
		return NULL;
	return prop->v2.gid;
}

/**
 * smc_nego_server() - choose one of the client's offers
 * @prop: the client's Proposal
 * @local: this host; what it would agree to in version 2
 * @shares_subnet: smc_nego_match_ipv4() or _ipv6() is true for the connection's interface
 * @peer_gid: out: GID of the client's RNIC for the chosen offer
 * @params: out: settled values, apart from those of the Confirm
 *
 * Version 2 is preferred, version 1 is tried next. The caller checks local conditions (policy,
 * device, memory). Results are valid on SMC_DECLINE_NONE. RFC 7609 3.5.1.2, C.1, DCLN-08, ERR-04.
 *
 * Context: Any context.
 * Return: SMC_DECLINE_NONE to accept. Otherwise SMC_DECLINE_DIFFPREFIX if version 1 was offered;
 * if only version 2 was, SMC_DECLINE_NOUEID without a common EID, SMC_DECLINE_NOROUTE,
 * SMC_DECLINE_MAXCONNERR or SMC_DECLINE_MAXLINKERR; SMC_DECLINE_PEERNOSMC if neither was.
 */
enum smc_decline smc_nego_server(const struct smc_clc_proposal *prop,
				 const struct smc_nego_local *local, bool shares_subnet,
				 u8 peer_gid[SMC_GID_LEN], struct smc_params *params)
{
	enum smc_decline reason = SMC_DECLINE_PEERNOSMC;

	if (prop->offers_v2) {
		memcpy(peer_gid, prop->v2.gid, SMC_GID_LEN);
		reason = nego_take_v2(&prop->v2, local, params);
		if (reason == SMC_DECLINE_NONE)
			return reason;
	}
	if (!prop->offers_v1)
		return reason;
	if (!shares_subnet)
		return SMC_DECLINE_DIFFPREFIX;
	memcpy(peer_gid, prop->gid, SMC_GID_LEN);
	nego_settle_v1(params);
	return SMC_DECLINE_NONE;
}

/**
 * smc_nego_same_peer() - check whether two peers are the same instance of the same host
 * @id_a: a peer ID
 * @gid_a: the GID that came with it
 * @id_b: another peer ID
 * @gid_b: the GID that came with that
 *
 * Only the peer ID counts, instance number included, not IP address or GID (PID-05, PID-06). But
 * deployed clients that offer only version 2 leave it zero; then GIDs decide. RFC 7609 2.2.4,
 * 3.5.1.2, FC-02.
 *
 * Context: Any context.
 * Return: true if so.
 */
bool smc_nego_same_peer(const u8 id_a[SMC_PEER_ID_LEN],
			const u8 gid_a[SMC_GID_LEN],
			const u8 id_b[SMC_PEER_ID_LEN],
			const u8 gid_b[SMC_GID_LEN])
{
	static const u8 none[SMC_PEER_ID_LEN];

	if (memcmp(id_a, id_b, SMC_PEER_ID_LEN))
		return false;
	return memcmp(id_a, none, SMC_PEER_ID_LEN) ||
	       !memcmp(gid_a, gid_b, SMC_GID_LEN);
}

/**
 * smc_nego_same_rnic() - check whether two messages name the same RNIC
 * @gid_a: a GID
 * @mac_a: the MAC address that came with it
 * @gid_b: another GID
 * @mac_b: the MAC address that came with that
 *
 * This does not identify a peer (PID-05). But a different RNIC rules out a link: the RNIC was
 * replaced or added, or the peer ID is false. SC-03, FC-02. Deployed clients that offer only
 * version 2 send no MAC address; a RoCE v2 GID identifies the RNIC without it.
 *
 * Context: Any context.
 * Return: true if the GIDs are equal, and the MAC addresses if both were sent.
 */
bool smc_nego_same_rnic(const u8 gid_a[SMC_GID_LEN], const u8 mac_a[SMC_MAC_LEN],
			const u8 gid_b[SMC_GID_LEN], const u8 mac_b[SMC_MAC_LEN])
{
	static const u8 none[SMC_MAC_LEN];

	if (memcmp(gid_a, gid_b, SMC_GID_LEN))
		return false;
	return !memcmp(mac_a, mac_b, SMC_MAC_LEN) ||
	       !memcmp(mac_a, none, SMC_MAC_LEN) || !memcmp(mac_b, none, SMC_MAC_LEN);
}

static void nego_build_fce(struct smc_clc_fce *fce, const struct smc_nego_end *end,
			   const struct smc_params *params)
{
	fce->is_direct = end->is_direct;
	fce->os = SMC_CLC_OS_LINUX;
	fce->release = params->release;
	memcpy(fce->host, end->host, sizeof(fce->host));
	if (!params->release)
		return;
	fce->max_conns = params->max_conns;
	fce->max_links = params->max_links;
	fce->features = params->features;
}

/**
 * smc_nego_build_data() - build the server's Accept or the client's Confirm
 * @msg: out: the message
 * @type: SMC_CLC_ACCEPT or SMC_CLC_CONFIRM
 * @end: our end of the link
 * @rmbe: where we receive; must be ready for data (ACPT-04)
 * @mtu: our path MTU, &enum smc_mtu; in a first contact's Confirm that of @params
 * @params: of the chosen offer, or as settled by the Accept
 * @first_contact: the connection creates a link group, perhaps a parallel one (ACPT-02, PG-02)
 *
 * All fields are set on subsequent contact, too (CLC-08). RFC 7609 A.2.3, A.2.4, CFRM-01,
 * CFRM-02. Deployed clients set the first contact flag in a Confirm of version 1. There it is
 * reserved, and we leave it zero (CLC-03). In version 2 it announces the extension.
 *
 * Context: Any context.
 */
void smc_nego_build_data(struct smc_clc_msg *msg, enum smc_clc_type type,
			 const struct smc_nego_end *end, const struct smc_nego_rmbe *rmbe, u8 mtu,
			 const struct smc_params *params, bool first_contact)
{
	struct smc_clc_accept *acc = &msg->accept;

	memset(msg, 0, sizeof(*msg));
	msg->type = type;
	msg->version = params->version;
	memcpy(acc->peer_id, end->peer_id, sizeof(acc->peer_id));
	memcpy(acc->gid, end->gid, sizeof(acc->gid));
	memcpy(acc->mac, end->mac, sizeof(acc->mac));
	acc->qpn = end->qpn;
	acc->rkey = rmbe->rkey;
	acc->rmb_addr = rmbe->addr;
	acc->rmbe_index = rmbe->index;
	acc->token = rmbe->token;
	acc->size_code = rmbe->size_code;
	acc->mtu = mtu;
	acc->psn = end->psn;
	acc->first_contact = first_contact &&
			     (type == SMC_CLC_ACCEPT || params->version != SMC_CLC_V1);
	if (params->version == SMC_CLC_V1)
		return;
	memcpy(acc->eid, params->eid, sizeof(acc->eid));
	if (!first_contact)
		return;
	nego_build_fce(&acc->fce, end, params);
	if (type == SMC_CLC_ACCEPT)
		return;
	/* the GID of this link is the only one */
	acc->nr_gids = 1;
	memcpy(acc->gids[0], end->gid, sizeof(acc->gids[0]));
}

/**
 * smc_nego_build_decline() - build a Decline
 * @msg: out: the message
 * @peer_id: this host
 * @code: the reason
 * @out_of_sync: ask the peer to end the link group that its Accept named
 * @peer_version: of the peer's last message; 0 if there was none
 *
 * The form is that of the peer's version (protocol.md). RFC 7609 A.2.5, DCLN-01, AMB-33.
 *
 * Context: Any context.
 */
void smc_nego_build_decline(struct smc_clc_msg *msg,
			    const u8 peer_id[SMC_PEER_ID_LEN],
			    enum smc_decline code, bool out_of_sync, u8 peer_version)
{
	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_CLC_DECLINE;
	msg->version = clamp_t(u8, peer_version, SMC_CLC_V1, SMC_CLC_V2);
	memcpy(msg->decline.peer_id, peer_id, SMC_PEER_ID_LEN);
	msg->decline.diagnosis = code;
	msg->decline.out_of_sync = out_of_sync;
	msg->decline.os = SMC_CLC_OS_LINUX;
}

/* The server may only lower what we offered. */
static enum smc_decline nego_take_accept_fce(const struct smc_clc_fce *fce,
					     const struct smc_clc_v2_offer *offer,
					     struct smc_params *params)
{
	enum smc_decline reason;

	params->peer_is_direct = fce->is_direct;
	if (fce->release > offer->release)
		return SMC_DECLINE_RELEASEERR;
	if (!fce->release)
		return SMC_DECLINE_NONE;
	reason = nego_check_limits(fce->max_conns, fce->max_links);
	if (reason != SMC_DECLINE_NONE)
		return reason;
	if (fce->max_conns > offer->max_conns)
		return SMC_DECLINE_MAXCONNERR;
	if (fce->max_links > offer->max_links)
		return SMC_DECLINE_MAXLINKERR;
	nego_settle_release(params, fce->release, fce->max_conns, fce->max_links,
			    fce->features & offer->features);
	return SMC_DECLINE_NONE;
}

/* The Accept must match one of our offers. */
static enum smc_decline nego_take_accept(const struct smc_clc_msg *msg,
					 const struct smc_clc_proposal *offer,
					 struct smc_params *params)
{
	const struct smc_clc_accept *acc = &msg->accept;

	if (msg->version == SMC_CLC_V1) {
		nego_settle_v1(params);
		return offer->offers_v1 ? SMC_DECLINE_NONE : SMC_DECLINE_MODEUNSUPP;
	}
	nego_settle_v2(params, acc->eid);
	if (!offer->offers_v2)
		return SMC_DECLINE_MODEUNSUPP;
	if (!nego_has_eid(&offer->v2, acc->eid))
		return SMC_DECLINE_NOUEID;
	if (!acc->first_contact)
		return SMC_DECLINE_NONE;
	/* the server may have misread the kind of our GID */
	if (!smc_gid_is_routable_to(offer->v2.gid, acc->gid))
		return SMC_DECLINE_NOROUTE;
	return nego_take_accept_fce(&acc->fce, &offer->v2, params);
}

/**
 * smc_nego_check_route() - check our route against the server's route
 * @params: as settled by the Accept, on first contact
 * @is_direct: our route to the server's GID has no gateway
 *
 * As deployed clients do (protocol.md): a gateway there requires one here.
 *
 * Context: Any context.
 * Return: SMC_DECLINE_NONE or SMC_DECLINE_NOINDIRECT.
 */
enum smc_decline smc_nego_check_route(const struct smc_params *params, bool is_direct)
{
	if (params->is_routed && !params->peer_is_direct && is_direct)
		return SMC_DECLINE_NOINDIRECT;
	return SMC_DECLINE_NONE;
}

/**
 * smc_nego_classify_accept() - decide how the client proceeds after an Accept
 * @msg: an Accept
 * @offer: our Proposal
 * @known: local state of the link it names
 * @own_mtu: path MTU of our RNIC, &enum smc_mtu
 * @result: out: settled values
 *
 * The server's F flag decides whether to form a new link group. Without F, an unknown link means
 * that the sides are out of sync (ERR-13). So does an unknown RMB (RKEY-24); that alone never
 * makes a first contact (RKEY-23). The S bit then makes the server probe its links. If the link was
 * just lost, only this connection falls back; LLC reports the link. RFC 7609 3.5.1.3, 3.5.2.2,
 * C.4; FC-06, SC-05, SC-06, PG-03, AMB-05, AMB-06, AMB-33.
 *
 * Context: Any context.
 * Return: SMC_DECLINE_NONE to use a new link group or the named link, as the Accept requests;
 * otherwise the code of the Decline.
 */
enum smc_decline smc_nego_classify_accept(const struct smc_clc_msg *msg,
					  const struct smc_clc_proposal *offer,
					  const struct smc_nego_known *known, u8 own_mtu,
					  struct smc_nego_accepted *result)
{
	const struct smc_clc_accept *acc = &msg->accept;
	enum smc_decline reason;

	memset(result, 0, sizeof(*result));
	reason = nego_take_accept(msg, offer, &result->params);
	if (reason != SMC_DECLINE_NONE)
		return reason;
	if (acc->first_contact) {
		result->params.mtu = min(own_mtu, acc->mtu);
		return smc_nego_mtu_is_valid(acc->mtu) ? SMC_DECLINE_NONE :
							 SMC_DECLINE_MODEUNSUPP;
	}
	if (!known->has_link || !known->has_rtoken) {
		result->out_of_sync = !known->is_left;
		return SMC_DECLINE_SYNCERR;
	}
	return acc->size_code <= known->max_size_code ? SMC_DECLINE_NONE : SMC_DECLINE_MODEUNSUPP;
}

/* The client must repeat what was agreed; it may drop features. */
static enum smc_decline nego_take_confirm_fce(const struct smc_clc_fce *fce,
					      struct smc_params *params)
{
	params->peer_is_direct = fce->is_direct;
	if (fce->release != params->release)
		return SMC_DECLINE_RELEASEERR;
	if (!params->release)
		return SMC_DECLINE_NONE;
	if (fce->max_conns != params->max_conns)
		return SMC_DECLINE_MAXCONNERR;
	if (fce->max_links != params->max_links)
		return SMC_DECLINE_MAXLINKERR;
	params->features &= fce->features;
	return SMC_DECLINE_NONE;
}

static enum smc_decline nego_take_confirm(const struct smc_clc_msg *msg,
					  const struct smc_clc_proposal *prop, bool is_first,
					  struct smc_params *params)
{
	const struct smc_clc_accept *acc = &msg->accept;

	if (msg->version != params->version)
		return SMC_DECLINE_VERSMISMAT;
	if (msg->version == SMC_CLC_V1)
		return SMC_DECLINE_NONE;
	if (memcmp(acc->eid, params->eid, sizeof(acc->eid)))
		return SMC_DECLINE_NOUEID;
	if (!is_first)
		return SMC_DECLINE_NONE;
	if (!acc->first_contact)
		return SMC_DECLINE_NOV2EXT;
	/* the server has found a path to that GID only */
	if (memcmp(acc->gid, prop->v2.gid, sizeof(acc->gid)))
		return SMC_DECLINE_NOROUTE;
	return nego_take_confirm_fce(&acc->fce, params);
}

/*
 * Deployed clients that offer only version 2 send no peer ID in the Proposal. Then the Confirm
 * must come from the peer that formed the group.
 */
static bool nego_is_same_client(const struct smc_clc_accept *acc,
				const struct smc_clc_proposal *prop,
				const struct smc_nego_known *known)
{
	static const u8 none[SMC_PEER_ID_LEN];

	if (prop->offers_v1 || memcmp(prop->peer_id, none, sizeof(none)))
		return !memcmp(acc->peer_id, prop->peer_id, sizeof(acc->peer_id));
	return !known || !memcmp(known->peer_id, none, sizeof(none)) ||
	       !memcmp(acc->peer_id, known->peer_id, sizeof(acc->peer_id));
}

/**
 * smc_nego_check_confirm() - check the client's Confirm
 * @msg: a Confirm
 * @prop: the Proposal of the same client
 * @params: as sent in the Accept
 * @known: local state of the link it names, perhaps another active link than the Accept named
 *	(SC-09); NULL on first contact
 * @own_mtu: path MTU of our RNIC, &enum smc_mtu
 * @result: out: settled values
 *
 * On subsequent contact no Decline may follow the Accept (ERR-07). So an error ends the TCP
 * connection (AMB-56, AMB-35, RKEY-24) and leaves the link group. A wrong peer ID always does: it
 * must be that of the Proposal or, if the Proposal has none, that of the group. The caller checks
 * whether the element is in use (RMB-29). 3.5.2.3, A.2.4, C.1, C.6; SC-10, CFRM-04, ERR-17.
 *
 * Context: Any context.
 * Return: SMC_DECLINE_NONE, or the reason; @result->must_reset then selects between the end of
 * the TCP connection and a Decline.
 */
enum smc_decline smc_nego_check_confirm(const struct smc_clc_msg *msg,
					const struct smc_clc_proposal *prop,
					const struct smc_params *params,
					const struct smc_nego_known *known, u8 own_mtu,
					struct smc_nego_confirmed *result)
{
	const struct smc_clc_accept *acc = &msg->accept;
	enum smc_decline reason;

	result->must_reset = known;
	result->params = *params;
	reason = nego_take_confirm(msg, prop, !known, &result->params);
	if (reason != SMC_DECLINE_NONE)
		return reason;
	if (!nego_is_same_client(acc, prop, known)) {
		result->must_reset = true;
		return SMC_DECLINE_SYNCERR;
	}
	if (!known) {
		result->params.mtu = min(own_mtu, acc->mtu);
		return smc_nego_mtu_is_valid(acc->mtu) ? SMC_DECLINE_NONE :
							 SMC_DECLINE_MODEUNSUPP;
	}
	if (!known->has_link || !known->has_rtoken)
		return SMC_DECLINE_SYNCERR;
	return acc->size_code <= known->max_size_code ? SMC_DECLINE_NONE : SMC_DECLINE_MODEUNSUPP;
}
