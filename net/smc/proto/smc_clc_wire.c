// SPDX-License-Identifier: GPL-2.0
/*
 * CLC codec, RFC 7609 A.2 (W3 to W7 in smc_wire.h).
 *
 * Version 1 is the RFC's, version 2 that of deployed peers: a Proposal has an extension with a
 * separate offer, Accept and Confirm continue in place of version 1's trailer, a Decline is
 * longer. SMC-D is neither decoded nor sent, but its extension is bounds checked.
 */
#include <linux/string.h>
#include <asm/byteorder.h>

#include "proto/smc_clc_wire.h"

/* The part of a first-contact extension that every release has. */
#define CLC_FCE_MIN_LEN	offsetof(struct smc_clc_fce_wire, max_conns)

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
 * AMB-34: a later version is read as version 1 if the length matches. The longer forms of
 * deployed peers need a header of version 2.
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
		return version >= SMC_CLC_V2 && len >= SMC_CLC_ACCEPT_V2_LEN &&
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
 * smc_clc_peek() - length and type of a CLC message
 * @hdr: the first SMC_CLC_HDR_LEN bytes received
 * @len: out: length of the whole message, these bytes included
 * @type: out: type of the message
 *
 * The reader receives @len bytes and none beyond (CLC-11). What cannot be a CLC message is
 * refused before more is awaited. RFC 7609 A.2, CLC-02, CLC-06.
 *
 * Context: Any context.
 * Return: SMC_CLC_OK with @len between 28 and SMC_CLC_MSG_MAX_LEN, or SMC_CLC_PROTO with
 * nothing written.
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

/* Decodes the IP area at @at; *@after is the first byte behind its prefixes. */
static bool clc_decode_subnets(const u8 *buf, size_t at, size_t end,
			       struct smc_clc_proposal *prop, size_t *after)
{
	const struct smc_clc_ip_area_wire *area;
	const struct smc_clc_prefix_wire *prefix;
	unsigned int i;

	if (at + sizeof(*area) > end)
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

/**
 * smc_clc_eid_is_valid() - check the name of a group of hosts
 * @eid: SMC_EID_LEN bytes
 *
 * Capital letters, digits, "." and "-", first a letter or digit, padded with blanks.
 *
 * Context: Any context.
 * Return: true if it is valid.
 */
bool smc_clc_eid_is_valid(const u8 eid[SMC_EID_LEN])
{
	unsigned int len = SMC_EID_LEN;
	unsigned int i;

	while (len && eid[len - 1] == ' ')
		len--;
	for (i = 0; i < len; i++) {
		if ((eid[i] >= 'A' && eid[i] <= 'Z') || (eid[i] >= '0' && eid[i] <= '9'))
			continue;
		if (!i || (eid[i] != '.' && eid[i] != '-'))
			return false;
	}
	return len;
}

struct clc_range {
	size_t at;
	size_t end;
};

static bool clc_ranges_overlap(const struct clc_range *a, const struct clc_range *b)
{
	return a->at < b->end && b->at < a->end;
}

/* Behind the version 2 extension, away from the IP area, inside the message. */
static bool clc_ism_ext_fits(const struct smc_clc_v2_ext_wire *ext, size_t end,
			     const struct clc_range *ip, const struct clc_range *v2)
{
	struct clc_range ism;

	if (ext->nr_ism_gids > SMC_CLC_GIDS_MAX)
		return false;
	if (!ext->ism_offset)
		return true;
	ism.at = v2->at + offsetofend(struct smc_clc_v2_ext_wire, ism_offset) +
		 be16_to_cpu(ext->ism_offset);
	ism.end = ism.at + sizeof(struct smc_clc_ism_ext_wire) +
		  ext->nr_ism_gids * sizeof(struct smc_clc_ism_gid_wire);
	return ism.at >= v2->end && ism.end <= end && !clc_ranges_overlap(&ism, ip);
}

static bool clc_get_offer(const struct smc_clc_v2_ext_wire *ext, struct smc_clc_v2_offer *offer)
{
	const u8 (*eid)[SMC_EID_LEN] = (const void *)(ext + 1);
	unsigned int i;

	memcpy(offer->gid, ext->gid, sizeof(offer->gid));
	offer->release = (ext->flags & SMC_CLC_RELEASE_MASK) >> SMC_CLC_RELEASE_SHIFT;
	if (offer->release) {
		offer->max_conns = ext->max_conns;
		offer->max_links = ext->max_links;
		offer->features = be16_to_cpu(ext->features);
	}
	offer->nr_eids = ext->nr_eids;
	for (i = 0; i < offer->nr_eids; i++) {
		if (!smc_clc_eid_is_valid(eid[i]))
			return false;
		memcpy(offer->eid[i], eid[i], sizeof(offer->eid[i]));
	}
	return !clc_all_zero(offer->gid, sizeof(offer->gid));
}

/*
 * The version 2 extension lies behind the growth area. Neither it nor the ISM extension may
 * overlap another part. Bytes between the parts are growth area of later versions.
 */
static bool clc_decode_v2_ext(const u8 *buf, size_t end, const struct clc_range *ip, u8 path,
			      struct smc_clc_proposal *prop)
{
	const struct smc_clc_growth_deployed_wire *growth;
	size_t at = sizeof(struct smc_clc_proposal_wire);
	struct clc_range head = { .at = at, .end = at + sizeof(*growth) };
	const struct smc_clc_v2_ext_wire *ext;
	struct clc_range v2;

	if (clc_ranges_overlap(&head, ip))
		return false;
	static_assert(sizeof(struct smc_clc_proposal_wire) +
		      offsetofend(struct smc_clc_growth_deployed_wire, v2_offset) <=
		      SMC_CLC_PROPOSAL_MIN_LEN);
	growth = (const void *)(buf + at);
	v2.at = at + offsetofend(struct smc_clc_growth_deployed_wire, v2_offset) +
		be16_to_cpu(growth->v2_offset);
	if (v2.at < head.end || v2.at + sizeof(*ext) > end)
		return false;
	ext = (const void *)(buf + v2.at);
	if (ext->nr_eids > SMC_CLC_EIDS_MAX)
		return false;
	v2.end = v2.at + sizeof(*ext) + ext->nr_eids * SMC_EID_LEN;
	if (v2.end > end || clc_ranges_overlap(&v2, ip))
		return false;
	if (path != SMC_CLC_PATH_R && !clc_ism_ext_fits(ext, end, ip, &v2))
		return false;
	return !prop->offers_v2 || clc_get_offer(ext, &prop->v2);
}

/*
 * Deployed peers encode the kinds of SMC they offer in bits of byte 7 that the RFC reserves.
 * Zero is SMC-R, so the bits are decoded in every version (protocol.md).
 */
static enum smc_clc_verdict clc_decode_proposal(const u8 *buf, size_t len,
						struct smc_clc_msg *msg)
{
	const struct smc_clc_proposal_wire *wire = (const void *)buf;
	struct smc_clc_proposal *prop = &msg->proposal;
	size_t end = len - SMC_CLC_TRL_LEN;
	struct clc_range ip = {};
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

	/* Without an offer of version 1 there is no IP area. */
	if (path_v2 == SMC_CLC_PATH_NONE || path_v1 != SMC_CLC_PATH_NONE) {
		ip.at = sizeof(*wire) + be16_to_cpu(wire->ip_area_offset);
		if (!clc_decode_subnets(buf, ip.at, end, prop, &ip.end))
			return SMC_CLC_PROTO;
	}
	if (path_v2 == SMC_CLC_PATH_NONE && ip.end != end)
		return SMC_CLC_PROTO;
	if (path_v2 != SMC_CLC_PATH_NONE && !clc_decode_v2_ext(buf, end, &ip, path_v2, prop))
		return SMC_CLC_PROTO;
	if (prop->offers_v1 && (clc_all_zero(prop->gid, sizeof(prop->gid)) ||
				!clc_is_unicast(prop->mac)))
		return SMC_CLC_PROTO;
	return SMC_CLC_OK;
}

/*
 * A count that exceeds the message is malformed. Release 0 has two layouts before the list, so
 * it cannot be located there.
 */
static bool clc_decode_gids(const u8 *buf, size_t at, size_t end, struct smc_clc_accept *acc)
{
	const struct smc_clc_gid_list_wire *list = (const void *)(buf + at);

	if (at == end)
		return true;
	if (end - at < sizeof(*list) || list->count > SMC_CLC_GIDS_MAX ||
	    end - at - sizeof(*list) < list->count * SMC_GID_LEN)
		return false;
	acc->nr_gids = list->count;
	memcpy(acc->gids, list->gid, list->count * SMC_GID_LEN);
	return true;
}

/* Bytes behind it are ignored: deployed peers rely on positions alone. */
static bool clc_decode_fce(const u8 *buf, size_t at, size_t end, struct smc_clc_msg *msg)
{
	const struct smc_clc_fce_wire *wire = (const void *)(buf + at);
	struct smc_clc_fce *fce = &msg->accept.fce;

	if (end - at < CLC_FCE_MIN_LEN)
		return false;
	fce->is_direct = wire->flags & SMC_CLC_FCE_DIRECT;
	fce->os = wire->os_release >> SMC_CLC_FCE_OS_SHIFT;
	fce->release = wire->os_release & SMC_CLC_FCE_RELEASE_MASK;
	memcpy(fce->host, wire->host, sizeof(fce->host));
	if (!fce->release)
		return true;
	if (end - at < sizeof(*wire))
		return false;
	fce->max_conns = wire->max_conns;
	fce->max_links = wire->max_links;
	fce->features = be16_to_cpu(wire->features);
	if (msg->type != SMC_CLC_CONFIRM)
		return true;
	return clc_decode_gids(buf, at + sizeof(*wire), end, &msg->accept);
}

static bool clc_decode_accept_v2(const u8 *buf, size_t len, struct smc_clc_msg *msg)
{
	size_t at = offsetof(struct smc_clc_accept_wire, trl);
	const struct smc_clc_v2_tail_wire *tail = (const void *)(buf + at);

	memcpy(msg->accept.eid, tail->eid, sizeof(msg->accept.eid));
	if (!msg->accept.first_contact)
		return true;
	return clc_decode_fce(buf, at + sizeof(*tail), len - SMC_CLC_TRL_LEN, msg);
}

static enum smc_clc_verdict clc_decode_accept(const u8 *buf, size_t len,
					      struct smc_clc_msg *msg)
{
	const struct smc_clc_accept_wire *wire = (const void *)buf;
	struct smc_clc_accept *acc = &msg->accept;

	if (msg->version > SMC_CLC_V1)
		msg->version = len == SMC_CLC_ACCEPT_LEN ? SMC_CLC_V1 : SMC_CLC_V2;

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

	/* Element 0 would yield an address in front of the RMB (RMB-02). */
	if (!acc->rmbe_index)
		return SMC_CLC_PROTO;
	if (clc_all_zero(acc->gid, sizeof(acc->gid)) ||
	    !clc_is_unicast(acc->mac))
		return SMC_CLC_PROTO;
	if (len != SMC_CLC_ACCEPT_LEN && !clc_decode_accept_v2(buf, len, msg))
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
		decl->os = wire_v2->os >> SMC_CLC_FCE_OS_SHIFT;
	if (msg->version > SMC_CLC_V1)
		msg->version = len == SMC_CLC_DECLINE_LEN ? SMC_CLC_V1 : SMC_CLC_V2;
}

/**
 * smc_clc_decode() - decode a CLC message
 * @buf: the message
 * @len: its length, as returned by smc_clc_peek()
 * @msg: out: the message; undefined for SMC_CLC_PROTO
 *
 * Checks all that a single message can violate: eye catchers at both ends, type, length,
 * offsets, counts and fields without a legal meaning. Reserved bits are ignored (CLC-04).
 * smc_clc_nego.c checks values against the connection, among them the MTU, which matters on
 * first contact only (ACPT-08, CFRM-04).
 *
 * A header of version 0 is refused with a Decline (AMB-34), except in a Decline itself, which
 * is never answered. RFC 7609 A.2, C.6.
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

/* Returns the bytes written to @buf, which has room for all prefixes. */
static size_t clc_put_subnets(const struct smc_clc_proposal *prop, u8 *buf)
{
	struct smc_clc_ip_area_wire *area = (void *)buf;
	struct smc_clc_prefix_wire *prefix = (void *)(area + 1);
	unsigned int i;

	area->subnet = cpu_to_be32(prop->subnet);
	area->mask_len = prop->subnet_len;
	area->nr_prefixes = prop->nr_prefixes;
	for (i = 0; i < prop->nr_prefixes; i++) {
		memcpy(prefix[i].prefix, prop->prefix[i].addr,
		       sizeof(prefix[i].prefix));
		prefix[i].len = prop->prefix[i].len;
	}
	return sizeof(*area) + prop->nr_prefixes * sizeof(*prefix);
}

static size_t clc_put_v2_ext(const struct smc_clc_v2_offer *offer, u8 *buf)
{
	struct smc_clc_v2_ext_wire *ext = (void *)buf;

	ext->nr_eids = offer->nr_eids;
	ext->flags = offer->release << SMC_CLC_RELEASE_SHIFT;
	memcpy(ext->gid, offer->gid, sizeof(ext->gid));
	ext->max_conns = offer->max_conns;
	ext->max_links = offer->max_links;
	ext->features = cpu_to_be16(offer->features);
	memcpy(ext + 1, offer->eid, offer->nr_eids * SMC_EID_LEN);
	return sizeof(*ext) + offer->nr_eids * SMC_EID_LEN;
}

static size_t clc_encode_proposal(const struct smc_clc_msg *msg, u8 *buf)
{
	const struct smc_clc_proposal *prop = &msg->proposal;
	struct smc_clc_proposal_wire *wire = (void *)buf;
	struct smc_clc_growth_deployed_wire *growth = (void *)(wire + 1);
	size_t at = sizeof(*wire);

	if (prop->nr_prefixes > SMC_CLC_PREFIXES_MAX || prop->v2.nr_eids > SMC_CLC_EIDS_MAX)
		return 0;
	memcpy(&wire->peer_id, prop->peer_id, sizeof(wire->peer_id));
	memcpy(wire->gid, prop->gid, sizeof(wire->gid));
	memcpy(wire->mac, prop->mac, sizeof(wire->mac));
	if (msg->version == SMC_CLC_V1)
		return at + clc_put_subnets(prop, buf + at) + SMC_CLC_TRL_LEN;

	at += sizeof(*growth);
	if (prop->offers_v1) {
		wire->ip_area_offset = cpu_to_be16(sizeof(*growth));
		at += clc_put_subnets(prop, buf + at);
	} else {
		wire->hdr.flags |= SMC_CLC_PATH_NONE << SMC_CLC_TYPEV1_SHIFT;
	}
	if (prop->offers_v2) {
		growth->v2_offset = cpu_to_be16(at - sizeof(*wire) -
						offsetofend(typeof(*growth), v2_offset));
		at += clc_put_v2_ext(&prop->v2, buf + at);
	} else {
		wire->hdr.flags |= SMC_CLC_PATH_NONE << SMC_CLC_TYPEV2_SHIFT;
	}
	return at + SMC_CLC_TRL_LEN;
}

static void clc_put_fce(const struct smc_clc_fce *fce, struct smc_clc_fce_wire *wire)
{
	if (fce->is_direct)
		wire->flags = SMC_CLC_FCE_DIRECT;
	wire->os_release = fce->os << SMC_CLC_FCE_OS_SHIFT |
			   (fce->release & SMC_CLC_FCE_RELEASE_MASK);
	memcpy(wire->host, fce->host, sizeof(wire->host));
	wire->max_conns = fce->max_conns;
	wire->max_links = fce->max_links;
	wire->features = cpu_to_be16(fce->features);
}

/* Returns the bytes written to @buf. */
static size_t clc_put_accept_v2(const struct smc_clc_msg *msg, u8 *buf)
{
	struct smc_clc_v2_tail_wire *tail = (void *)buf;
	struct smc_clc_fce_wire *fce = (void *)(tail + 1);
	struct smc_clc_gid_list_wire *list = (void *)(fce + 1);
	const struct smc_clc_accept *acc = &msg->accept;

	memcpy(tail->eid, acc->eid, sizeof(tail->eid));
	if (!acc->first_contact)
		return sizeof(*tail);
	clc_put_fce(&acc->fce, fce);
	if (msg->type != SMC_CLC_CONFIRM)
		return sizeof(*tail) + sizeof(*fce);
	list->count = acc->nr_gids;
	memcpy(list->gid, acc->gids, acc->nr_gids * SMC_GID_LEN);
	return sizeof(*tail) + sizeof(*fce) + sizeof(*list) + acc->nr_gids * SMC_GID_LEN;
}

static size_t clc_encode_accept(const struct smc_clc_msg *msg, u8 *buf)
{
	const struct smc_clc_accept *acc = &msg->accept;
	struct smc_clc_accept_wire *wire = (void *)buf;

	if (acc->nr_gids > SMC_CLC_GIDS_MAX)
		return 0;
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
	if (msg->version == SMC_CLC_V1)
		return SMC_CLC_ACCEPT_LEN;
	return SMC_CLC_ACCEPT_LEN +
	       clc_put_accept_v2(msg, buf + offsetof(struct smc_clc_accept_wire, trl));
}

static size_t clc_encode_decline(const struct smc_clc_msg *msg, u8 *buf)
{
	const struct smc_clc_decline *decl = &msg->decline;
	struct smc_clc_decline_v2_wire *wire_v2 = (void *)buf;
	struct smc_clc_decline_wire *wire = (void *)buf;

	if (decl->out_of_sync)
		wire->hdr.flags |= SMC_CLC_OUT_OF_SYNC;
	memcpy(&wire->peer_id, decl->peer_id, sizeof(wire->peer_id));
	wire->diagnosis = cpu_to_be32(decl->diagnosis);
	if (msg->version == SMC_CLC_V1)
		return SMC_CLC_DECLINE_LEN;
	wire_v2->os = decl->os << SMC_CLC_FCE_OS_SHIFT;
	return SMC_CLC_DECLINE_V2_LEN;
}

/**
 * smc_clc_encode() - encode a CLC message
 * @msg: the message; its version must be SMC_CLC_V1 or SMC_CLC_V2
 * @buf: receives the message; the rest is zeroed
 *
 * Version 1 has the layout of RFC 7609 A.2, without growth area (PROP-05), reserved fields zero
 * (CLC-03). Deployed peers accept it, because zero means SMC-R in the bits reserved here.
 * Version 2 has the layout of deployed peers, their release 1 (protocol.md).
 *
 * Context: Any context.
 * Return: length of the message, or 0 if @msg has another version or more than 8 prefixes, EIDs
 * or GIDs.
 */
size_t smc_clc_encode(const struct smc_clc_msg *msg, u8 buf[SMC_CLC_MSG_MAX_LEN])
{
	struct smc_clc_hdr_wire *hdr = (void *)buf;
	struct smc_clc_trl_wire *trl;
	size_t len = 0;

	if (msg->version != SMC_CLC_V1 && msg->version != SMC_CLC_V2)
		return 0;
	memset(buf, 0, SMC_CLC_MSG_MAX_LEN);
	switch (msg->type) {
	case SMC_CLC_PROPOSAL:
		len = clc_encode_proposal(msg, buf);
		break;
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		len = clc_encode_accept(msg, buf);
		break;
	case SMC_CLC_DECLINE:
		len = clc_encode_decline(msg, buf);
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
