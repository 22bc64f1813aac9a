// SPDX-License-Identifier: GPL-2.0
/*
 * CLC codec, RFC 7609 A.2 (W3 to W7 in the tables of the tests).
 *
 * Version 1 is complete. What deployed peers send with a header of version 2
 * (Proposal, Decline) is understood as far as version 1 needs it. Accept and
 * Confirm of version 2 begin with the fields of version 1: those are decoded,
 * and the caller sees from the version that the rest is missing.
 */
#include <linux/string.h>

#include "smc_clc_wire.h"

/* Accept and Confirm of version 2: the head of version 1, then at least this. */
#define CLC_ACCEPT_V2_MIN_LEN	108

/* The version 2 extension of a Proposal, and the ISM extension behind it. */
enum clc_v2_ext {
	CLC_V2_EXT_LEN		= 40,
	CLC_V2_EXT_NR_EIDS	= 0,
	CLC_V2_EXT_NR_GIDS	= 1,
	CLC_V2_EXT_ISM_OFFSET	= 6,	/* counted from the byte after it */
	CLC_V2_EID_LEN		= 32,
	CLC_V2_EIDS_MAX		= 8,
	CLC_V2_ISM_LEN		= 48,
	CLC_V2_ISM_GID_LEN	= 10,
	CLC_V2_ISM_GIDS_MAX	= 8,
};

static bool clc_all_zero(const u8 *p, size_t len)
{
	while (len--)
		if (*p++)
			return false;
	return true;
}

static bool clc_is_unicast(const u8 mac[SMC_MAC_LEN])
{
	return !(mac[0] & 1) && !clc_all_zero(mac, SMC_MAC_LEN);
}

static u8 clc_version(const struct smc_clc_hdr_wire *hdr)
{
	return (hdr->flags & SMC_CLC_VERSION_MASK) >> SMC_CLC_VERSION_SHIFT;
}

/*
 * AMB-34: any later version is read as version 1 where the length says so. The
 * longer forms are those of deployed peers and need a header of version 2.
 */
static bool clc_length_fits(u8 type, u8 version, u16 len)
{
	switch (type) {
	case SMC_CLC_PROPOSAL:
		return len >= SMC_CLC_PROPOSAL_MIN_LEN &&
		       len <= SMC_CLC_MSG_MAX_LEN;
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		if (len == SMC_CLC_ACCEPT_LEN)
			return true;
		return version >= SMC_CLC_V2 && len >= CLC_ACCEPT_V2_MIN_LEN &&
		       len <= SMC_CLC_MSG_MAX_LEN;
	case SMC_CLC_DECLINE:
		if (len == SMC_CLC_DECLINE_LEN)
			return true;
		return version >= SMC_CLC_V2 && len == SMC_CLC_DECLINE_V2_LEN;
	default:
		return false;
	}
}

/**
 * smc_clc_peek() - look at the first bytes of a CLC message
 * @hdr: the first SMC_CLC_HDR_LEN bytes received
 * @len: out: length of the whole message, these bytes included
 * @type: out: type of the message
 *
 * Tells a reader how many bytes belong to the message, so that it takes none
 * of those behind it (CLC-11), and refuses what cannot be a CLC message before
 * more is awaited. RFC 7609 A.2, CLC-02, CLC-06.
 *
 * Context: Any context.
 * Return: SMC_CLC_OK with @len between 28 and SMC_CLC_MSG_MAX_LEN, or
 * SMC_CLC_PROTO with nothing written.
 */
enum smc_clc_verdict smc_clc_peek(const u8 hdr[SMC_CLC_HDR_LEN], u16 *len,
				  enum smc_clc_type *type)
{
	const struct smc_clc_hdr_wire *wire = (const void *)hdr;
	u16 total = be16_to_cpu(wire->length);

	if (be32_to_cpu(wire->eye) != SMC_EYE_SMCR)
		return SMC_CLC_PROTO;
	if (!clc_length_fits(wire->type, clc_version(wire), total))
		return SMC_CLC_PROTO;

	*len = total;
	*type = wire->type;
	return SMC_CLC_OK;
}

/* Reads the IP area at @at; *@after is the first byte behind its prefixes. */
static bool clc_decode_subnets(const u8 *buf, size_t at, size_t end,
			       struct smc_clc_proposal *prop, size_t *after)
{
	const struct smc_clc_ip_area_wire *area;
	const struct smc_clc_prefix_wire *prefix;
	unsigned int i;

	if (at > end || end - at < sizeof(*area))
		return false;
	area = (const void *)(buf + at);
	at += sizeof(*area);
	if (area->mask_len > SMC_CLC_MASK_BITS_MAX ||
	    area->nr_prefixes > SMC_CLC_PREFIXES_MAX ||
	    area->nr_prefixes * sizeof(*prefix) > end - at)
		return false;

	prefix = (const void *)(buf + at);
	for (i = 0; i < area->nr_prefixes; i++) {
		if (prefix[i].len > SMC_CLC_PREFIX_BITS_MAX)
			return false;
		memcpy(prop->prefix[i].addr, prefix[i].prefix,
		       sizeof(prop->prefix[i].addr));
		prop->prefix[i].len = prefix[i].len;
	}
	prop->subnet = be32_to_cpu(area->subnet);
	prop->subnet_len = area->mask_len;
	prop->nr_prefixes = area->nr_prefixes;
	prop->has_subnets = true;
	*after = at + area->nr_prefixes * sizeof(*prefix);
	return true;
}

/*
 * The version 2 extension is not used, but a client whose offsets and counts
 * lead out of the message gets the answer to a malformed one.
 */
static bool clc_v2_ext_fits(const u8 *buf, size_t end, u8 path)
{
	const struct smc_clc_growth_deployed_wire *growth;
	size_t at = sizeof(struct smc_clc_proposal_wire);
	size_t ism_offset;
	const u8 *ext;

	if (end - at < sizeof(*growth))
		return false;
	growth = (const void *)(buf + at);
	if (!growth->v2_offset)
		return false;
	at += offsetofend(struct smc_clc_growth_deployed_wire, v2_offset) +
	      be16_to_cpu(growth->v2_offset);
	if (at > end || end - at < CLC_V2_EXT_LEN)
		return false;
	ext = buf + at;
	if (ext[CLC_V2_EXT_NR_EIDS] > CLC_V2_EIDS_MAX ||
	    end - at < CLC_V2_EXT_LEN +
		       ext[CLC_V2_EXT_NR_EIDS] * CLC_V2_EID_LEN)
		return false;
	if (path == SMC_CLC_PATH_R)
		return true;

	ism_offset = (size_t)ext[CLC_V2_EXT_ISM_OFFSET] << 8 |
		     ext[CLC_V2_EXT_ISM_OFFSET + 1];
	if (ext[CLC_V2_EXT_NR_GIDS] > CLC_V2_ISM_GIDS_MAX)
		return false;
	if (!ism_offset)
		return true;
	at += CLC_V2_EXT_ISM_OFFSET + sizeof(__be16) + ism_offset;
	return at <= end &&
	       end - at >= CLC_V2_ISM_LEN +
			   ext[CLC_V2_EXT_NR_GIDS] * CLC_V2_ISM_GID_LEN;
}

/*
 * Deployed peers use the bits which the RFC reserves in byte 7 for the kinds of
 * SMC they offer, in a way that keeps an RFC message valid: SMC-R is 0. So the
 * bits are obeyed in every version; an RFC peer has zeros there (linux-abi 3.8,
 * rows 4 and 5).
 */
static enum smc_clc_verdict clc_decode_proposal(const u8 *buf, size_t len,
						struct smc_clc_msg *msg)
{
	const struct smc_clc_proposal_wire *wire = (const void *)buf;
	struct smc_clc_proposal *prop = &msg->proposal;
	size_t end = len - SMC_CLC_TRL_LEN;
	size_t after = sizeof(*wire);
	u8 path_v1, path_v2;

	path_v1 = (wire->hdr.flags & SMC_CLC_TYPEV1_MASK) >>
		  SMC_CLC_TYPEV1_SHIFT;
	path_v2 = (wire->hdr.flags & SMC_CLC_TYPEV2_MASK) >>
		  SMC_CLC_TYPEV2_SHIFT;
	if (clc_version(&wire->hdr) < SMC_CLC_V2)
		path_v2 = SMC_CLC_PATH_NONE;

	memcpy(prop->peer_id, &wire->peer_id, sizeof(prop->peer_id));
	memcpy(prop->gid, wire->gid, sizeof(prop->gid));
	memcpy(prop->mac, wire->mac, sizeof(prop->mac));
	prop->offers_v1 = path_v1 == SMC_CLC_PATH_R ||
			  path_v1 == SMC_CLC_PATH_BOTH;
	prop->offers_v2 = path_v2 == SMC_CLC_PATH_R ||
			  path_v2 == SMC_CLC_PATH_BOTH;

	/* Without an offer of version 1 there is no IP area either. */
	if (path_v2 == SMC_CLC_PATH_NONE || path_v1 != SMC_CLC_PATH_NONE) {
		size_t at = sizeof(*wire) + be16_to_cpu(wire->ip_area_offset);

		if (!clc_decode_subnets(buf, at, end, prop, &after))
			return SMC_CLC_PROTO;
	}
	if (path_v2 == SMC_CLC_PATH_NONE && after != end)
		return SMC_CLC_PROTO;
	if (path_v2 != SMC_CLC_PATH_NONE && !clc_v2_ext_fits(buf, end, path_v2))
		return SMC_CLC_PROTO;
	if (prop->offers_v1 && (clc_all_zero(prop->gid, sizeof(prop->gid)) ||
				!clc_is_unicast(prop->mac)))
		return SMC_CLC_PROTO;
	return SMC_CLC_OK;
}

static enum smc_clc_verdict clc_decode_accept(const u8 *buf, size_t len,
					      struct smc_clc_msg *msg)
{
	const struct smc_clc_accept_wire *wire = (const void *)buf;
	struct smc_clc_accept *acc = &msg->accept;

	if (len == SMC_CLC_ACCEPT_LEN && msg->version > SMC_CLC_V1)
		msg->version = SMC_CLC_V1;

	memcpy(acc->peer_id, &wire->peer_id, sizeof(acc->peer_id));
	memcpy(acc->gid, wire->gid, sizeof(acc->gid));
	memcpy(acc->mac, wire->mac, sizeof(acc->mac));
	acc->qpn = smc_wire_get24(wire->qpn);
	acc->rkey = be32_to_cpu(wire->rkey);
	acc->rmb_addr = be64_to_cpu(wire->rmb_addr);
	acc->rmbe_index = wire->rmbe_index;
	acc->token = be32_to_cpu(wire->token);
	acc->psn = smc_wire_get24(wire->psn);
	acc->size_code = (wire->size_mtu & SMC_CLC_BSIZE_MASK) >>
			 SMC_CLC_BSIZE_SHIFT;
	acc->mtu = wire->size_mtu & SMC_CLC_MTU_MASK;
	acc->first_contact = wire->hdr.flags & SMC_CLC_FIRST_CONTACT;

	/* Element 0 would make an address in front of the RMB (RMB-02). */
	if (!acc->rmbe_index)
		return SMC_CLC_PROTO;
	if (clc_all_zero(acc->gid, sizeof(acc->gid)) ||
	    !clc_is_unicast(acc->mac))
		return SMC_CLC_PROTO;
	return SMC_CLC_OK;
}

static void clc_decode_decline(const u8 *buf, size_t len,
			       struct smc_clc_msg *msg)
{
	const struct smc_clc_decline_v2_wire *wire_v2 = (const void *)buf;
	const struct smc_clc_decline_wire *wire = (const void *)buf;
	struct smc_clc_decline *decl = &msg->decline;

	memcpy(decl->peer_id, &wire->peer_id, sizeof(decl->peer_id));
	decl->diagnosis = be32_to_cpu(wire->diagnosis);
	decl->out_of_sync = wire->hdr.flags & SMC_CLC_OUT_OF_SYNC;
	if (len == SMC_CLC_DECLINE_V2_LEN)
		decl->os = wire_v2->os >> 4;
	else if (msg->version > SMC_CLC_V1)
		msg->version = SMC_CLC_V1;
}

/**
 * smc_clc_decode() - a CLC message from its bytes
 * @buf: the message
 * @len: its length; must be the one that smc_clc_peek() tells
 * @msg: out: the message; holds nothing to rely on if the verdict is
 *	SMC_CLC_PROTO
 *
 * Checks everything that can be wrong with a single message: eye catchers at
 * both ends, type, length, offsets, counts and fields without a legal meaning.
 * Reserved bits are not looked at (CLC-04). Whether values fit to this
 * connection is for the functions of smc_clc_nego.c, among them the MTU, which
 * counts on first contact only (ACPT-08, CFRM-04).
 *
 * A header of version 0 is refused with a Decline (AMB-34), except in a Decline
 * itself, which is never answered. RFC 7609 A.2, C.6.
 *
 * Context: Any context.
 * Return: SMC_CLC_OK; SMC_CLC_PROTO (ERR-15, ERR-16); SMC_CLC_ENUM (ERR-17).
 */
enum smc_clc_verdict smc_clc_decode(const u8 *buf, size_t len,
				    struct smc_clc_msg *msg)
{
	enum smc_clc_verdict verdict = SMC_CLC_OK;
	const struct smc_clc_trl_wire *trl;
	u16 total;

	memset(msg, 0, sizeof(*msg));
	if (len < SMC_CLC_HDR_LEN ||
	    smc_clc_peek(buf, &total, &msg->type) != SMC_CLC_OK || total != len)
		return SMC_CLC_PROTO;
	trl = (const void *)(buf + len - sizeof(*trl));
	if (be32_to_cpu(trl->eye) != SMC_EYE_SMCR)
		return SMC_CLC_PROTO;

	msg->version = clc_version((const void *)buf);
	switch (msg->type) {
	case SMC_CLC_PROPOSAL:
		verdict = clc_decode_proposal(buf, len, msg);
		break;
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		verdict = clc_decode_accept(buf, len, msg);
		break;
	case SMC_CLC_DECLINE:
		clc_decode_decline(buf, len, msg);
		return SMC_CLC_OK;
	}
	if (verdict == SMC_CLC_OK && msg->version < SMC_CLC_V1)
		verdict = SMC_CLC_ENUM;
	return verdict;
}

static size_t clc_encode_proposal(const struct smc_clc_proposal *prop, u8 *buf,
				  size_t size)
{
	struct smc_clc_proposal_wire *wire = (void *)buf;
	struct smc_clc_ip_area_wire *area = (void *)(wire + 1);
	struct smc_clc_prefix_wire *prefix = (void *)(area + 1);
	unsigned int i;
	size_t len;

	if (prop->nr_prefixes > SMC_CLC_PREFIXES_MAX)
		return 0;
	len = SMC_CLC_PROPOSAL_MIN_LEN + prop->nr_prefixes * sizeof(*prefix);
	if (size < len)
		return 0;

	memset(buf, 0, len);
	memcpy(&wire->peer_id, prop->peer_id, sizeof(wire->peer_id));
	memcpy(wire->gid, prop->gid, sizeof(wire->gid));
	memcpy(wire->mac, prop->mac, sizeof(wire->mac));
	area->subnet = cpu_to_be32(prop->subnet);
	area->mask_len = prop->subnet_len;
	area->nr_prefixes = prop->nr_prefixes;
	for (i = 0; i < prop->nr_prefixes; i++) {
		memcpy(prefix[i].prefix, prop->prefix[i].addr,
		       sizeof(prefix[i].prefix));
		prefix[i].len = prop->prefix[i].len;
	}
	return len;
}

static size_t clc_encode_accept(const struct smc_clc_accept *acc, u8 *buf,
				size_t size)
{
	struct smc_clc_accept_wire *wire = (void *)buf;

	if (size < sizeof(*wire))
		return 0;

	memset(buf, 0, sizeof(*wire));
	if (acc->first_contact)
		wire->hdr.flags |= SMC_CLC_FIRST_CONTACT;
	memcpy(&wire->peer_id, acc->peer_id, sizeof(wire->peer_id));
	memcpy(wire->gid, acc->gid, sizeof(wire->gid));
	memcpy(wire->mac, acc->mac, sizeof(wire->mac));
	smc_wire_put24(wire->qpn, acc->qpn);
	wire->rkey = cpu_to_be32(acc->rkey);
	wire->rmbe_index = acc->rmbe_index;
	wire->token = cpu_to_be32(acc->token);
	wire->size_mtu = acc->size_code << SMC_CLC_BSIZE_SHIFT |
			 (acc->mtu & SMC_CLC_MTU_MASK);
	wire->rmb_addr = cpu_to_be64(acc->rmb_addr);
	smc_wire_put24(wire->psn, acc->psn);
	return sizeof(*wire);
}

static size_t clc_encode_decline(const struct smc_clc_decline *decl, u8 *buf,
				 size_t size)
{
	struct smc_clc_decline_wire *wire = (void *)buf;

	if (size < sizeof(*wire))
		return 0;

	memset(buf, 0, sizeof(*wire));
	if (decl->out_of_sync)
		wire->hdr.flags |= SMC_CLC_OUT_OF_SYNC;
	memcpy(&wire->peer_id, decl->peer_id, sizeof(wire->peer_id));
	wire->diagnosis = cpu_to_be32(decl->diagnosis);
	return sizeof(*wire);
}

/**
 * smc_clc_encode() - the bytes of a CLC message
 * @msg: the message; its version must be SMC_CLC_V1
 * @buf: where to put them
 * @size: room in @buf; SMC_CLC_MSG_MAX_LEN is always enough
 *
 * Builds the layout of RFC 7609 A.2, no growth area (PROP-05), reserved fields
 * zero (CLC-03). Deployed peers accept it: zero in the bits which are reserved
 * here means SMC-R to them (linux-abi 3.8, rows 4 and 5).
 *
 * Context: Any context.
 * Return: length of the message, or 0 if @size is too small or @msg is not one
 * of version 1 with at most 8 prefixes.
 */
size_t smc_clc_encode(const struct smc_clc_msg *msg, u8 *buf, size_t size)
{
	struct smc_clc_hdr_wire *hdr = (void *)buf;
	struct smc_clc_trl_wire *trl;
	size_t len = 0;

	if (msg->version != SMC_CLC_V1)
		return 0;
	switch (msg->type) {
	case SMC_CLC_PROPOSAL:
		len = clc_encode_proposal(&msg->proposal, buf, size);
		break;
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		len = clc_encode_accept(&msg->accept, buf, size);
		break;
	case SMC_CLC_DECLINE:
		len = clc_encode_decline(&msg->decline, buf, size);
		break;
	}
	if (!len)
		return 0;

	hdr->eye = cpu_to_be32(SMC_EYE_SMCR);
	hdr->type = msg->type;
	hdr->length = cpu_to_be16(len);
	hdr->flags |= msg->version << SMC_CLC_VERSION_SHIFT;
	trl = (void *)(buf + len - sizeof(*trl));
	trl->eye = cpu_to_be32(SMC_EYE_SMCR);
	return len;
}
