// SPDX-License-Identifier: GPL-2.0
/*
 * LLC messages of version 2 (protocol.md), and the choice between the two forms.
 *
 * The first 44 bytes are those of version 1 in the deployed dialect except for the header. Its
 * codec handles them; a list may follow.
 *
 * Byte order: deployed peers send the 16-bit length and number of keys in the order of their
 * processor, which is always little endian today. So this side sends that. It accepts either
 * order: the received length shows which one was meant.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "proto/smc_llc_v2.h"

static u16 form_get16(const u8 *p, bool is_big_endian)
{
	return is_big_endian ? p[0] << 8 | p[1] : p[1] << 8 | p[0];
}

/* True if a 16-bit number in either byte order is @want. */
static bool form_matches(const u8 *p, u32 want)
{
	return form_get16(p, false) == want || form_get16(p, true) == want;
}

static void form_put16(u8 *p, u16 value)
{
	p[0] = value;
	p[1] = value >> 8;
}

static bool form_is_v2(const u8 *buf)
{
	return (buf[0] & SMC_LLC_V2_TYPE_MASK) == SMC_LLC_V2_TYPE;
}

/* Lengths of messages with @nr list entries. */
static u32 form_add_link_len(unsigned int nr)
{
	return sizeof(struct smc_llc_add_link_v2_wire) +
	       nr * sizeof(struct smc_llc_rtoken_pair_wire);
}

static u32 form_req_add_link_len(unsigned int nr)
{
	u32 len = sizeof(struct smc_llc_req_add_link_wire) + nr * SMC_GID_LEN;

	return max_t(u32, len, SMC_LLC_LEN);
}

/* A request with up to SMC_LLC_SHORT_RKEYS keys is no longer than other messages. */
static_assert(offsetof(struct smc_llc_delete_rkey_wire, rkey) +
	      SMC_LLC_SHORT_RKEYS * sizeof(__be32) == SMC_LLC_LEN);

static u32 form_delete_rkey_len(unsigned int nr)
{
	u32 len = offsetof(struct smc_llc_delete_rkey_wire, rkey) + nr * sizeof(__be32);

	return max_t(u32, len, SMC_LLC_LEN);
}

static enum smc_llc_verdict form_decode_head(const u8 *buf, struct smc_llc_msg *msg)
{
	struct smc_llc_hdr_wire *hdr;
	u8 head[SMC_LLC_LEN];

	memcpy(head, buf, sizeof(head));
	hdr = (void *)head;
	hdr->type &= ~SMC_LLC_V2_TYPE_MASK;
	hdr->length = SMC_LLC_LEN;
	/* in version 2 this byte belongs to the length, and there is no reason */
	hdr->reason = 0;
	return smc_llc_decode(head, sizeof(head), SMC_DIALECT_DEPLOYED, msg);
}

static enum smc_llc_verdict form_decode_add_link(const u8 *buf, u32 len, struct smc_llc_msg *msg)
{
	const struct smc_llc_add_link_v2_wire *wire = (const void *)buf;
	enum smc_llc_verdict verdict = form_decode_head(buf, msg);
	u32 nr;

	if (verdict != SMC_LLC_OK)
		return verdict;
	if (msg->add_link.is_rejected)
		return len == SMC_LLC_LEN ? SMC_LLC_OK : SMC_LLC_LINK_DOWN;
	if (len < sizeof(*wire))
		return SMC_LLC_LINK_DOWN;
	nr = (len - sizeof(*wire)) / sizeof(struct smc_llc_rtoken_pair_wire);
	if (nr > SMC_LLC_LONG_KEYS || len != form_add_link_len(nr) ||
	    !form_matches(wire->nr_rtokens, nr))
		return SMC_LLC_LINK_DOWN;
	msg->add_link.nr_pairs = nr;
	msg->add_link.is_direct = wire->flags & SMC_LLC_ADD_LINK_DIRECT;
	return SMC_LLC_OK;
}

static enum smc_llc_verdict form_decode_req_add_link(const u8 *buf, u32 len,
						     struct smc_llc_msg *msg)
{
	const struct smc_llc_req_add_link_wire *wire = (const void *)buf;

	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_LLC_REQ_ADD_LINK;
	msg->is_reply = wire->flags & SMC_LLC_REPLY;
	if (msg->is_reply)
		return len == SMC_LLC_LEN ? SMC_LLC_OK : SMC_LLC_LINK_DOWN;
	if (!wire->nr_gids || wire->nr_gids > SMC_LLC_LONG_GIDS ||
	    len != form_req_add_link_len(wire->nr_gids))
		return SMC_LLC_LINK_DOWN;
	return SMC_LLC_OK;
}

static enum smc_llc_verdict form_decode_delete_rkey(const u8 *buf, u32 len,
						    struct smc_llc_msg *msg)
{
	const struct smc_llc_delete_rkey_wire *wire = (const void *)buf;
	struct smc_llc_delete_rkey *dr = &msg->delete_rkey;
	bool is_reply = wire->hdr.flags & SMC_LLC_REPLY;
	unsigned int i;

	/* a reply counts keys but does not list them */
	if (!wire->count || len != (is_reply ? SMC_LLC_LEN : form_delete_rkey_len(wire->count)))
		return SMC_LLC_LINK_DOWN;
	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_LLC_DELETE_RKEY;
	msg->is_reply = is_reply;
	dr->count = wire->count;
	if (is_reply) {
		dr->is_nameless = true;
		dr->is_negative = wire->hdr.flags & SMC_LLC_RKEY_NEGATIVE;
		dr->nr_unknown = wire->error_mask;
		return SMC_LLC_OK;
	}
	dr->is_long = len > SMC_LLC_LEN;
	for (i = 0; i < dr->count && !dr->is_long; i++)
		dr->rkey[i] = smc_llc_form_rkey(buf, i);
	return SMC_LLC_OK;
}

/*
 * True if version 2 has the message. It has no continuations: ADD LINK carries all keys, CONFIRM
 * RKEY all links. Deployed peers comply (protocol.md). The count in a reply is ignored.
 */
static bool form_exists_in_v2(const struct smc_llc_msg *msg)
{
	switch (msg->type) {
	case SMC_LLC_ADD_LINK_CONT:
	case SMC_LLC_CONFIRM_RKEY_CONT:
		return false;
	case SMC_LLC_CONFIRM_RKEY:
		return msg->is_reply || msg->confirm_rkey.nr_rtokens <= SMC_LLC_RKEY_SPECS;
	default:
		return true;
	}
}

static enum smc_llc_verdict form_decode_v2(const u8 *buf, u32 len, struct smc_llc_msg *msg)
{
	if (len < SMC_LLC_LEN || !form_matches(buf + 1, len))
		return SMC_LLC_LINK_DOWN;
	switch (buf[0] & ~SMC_LLC_V2_TYPE_MASK) {
	case SMC_LLC_ADD_LINK:
		return form_decode_add_link(buf, len, msg);
	case SMC_LLC_REQ_ADD_LINK:
		return form_decode_req_add_link(buf, len, msg);
	case SMC_LLC_DELETE_RKEY:
		return form_decode_delete_rkey(buf, len, msg);
	default:
		return len == SMC_LLC_LEN ? form_decode_head(buf, msg) : SMC_LLC_LINK_DOWN;
	}
}

/**
 * smc_llc_form_decode() - decode a received message
 * @form: form of the link group
 * @buf: received bytes, any alignment
 * @len: number of bytes
 * @dialect: dialect of the link group; used in version 1 only
 * @msg: filled on SMC_LLC_OK, undefined otherwise
 *
 * A group of version 2 accepts messages of version 1 as deployed peers do, but none that version
 * 2 cannot answer. A list stays in @buf, within its bounds; smc_llc_form_pair() and
 * smc_llc_form_rkey() read it.
 *
 * Context: Any context.
 * Return: SMC_LLC_OK; SMC_LLC_IGNORE for an unknown type marked optional; SMC_LLC_LINK_DOWN for
 * any other unknown type (AMB-48), a wrong length or an impossible count.
 */
enum smc_llc_verdict smc_llc_form_decode(enum smc_llc_form form, const u8 *buf, u32 len,
					 enum smc_dialect dialect, struct smc_llc_msg *msg)
{
	enum smc_llc_verdict verdict;

	if (form == SMC_LLC_FORM_V1)
		return smc_llc_decode(buf, len, dialect, msg);
	verdict = len && form_is_v2(buf) ? form_decode_v2(buf, len, msg) :
					   smc_llc_decode(buf, len, dialect, msg);
	return verdict != SMC_LLC_OK || form_exists_in_v2(msg) ? verdict : SMC_LLC_LINK_DOWN;
}

static int form_encode_add_link(const struct smc_llc_msg *msg, const struct smc_llc_more *more,
				u8 *buf, u32 size)
{
	struct smc_llc_add_link_v2_wire *wire = (void *)buf;
	unsigned int i, nr = more ? more->nr : 0;
	u32 len = form_add_link_len(nr);

	if (nr > SMC_LLC_LONG_KEYS)
		return -EINVAL;
	if (size < len)
		return -EMSGSIZE;
	memset(buf + SMC_LLC_LEN, 0, len - SMC_LLC_LEN);
	if (msg->add_link.is_direct)
		wire->flags = SMC_LLC_ADD_LINK_DIRECT;
	memcpy(wire->gid, msg->add_link.end.gid, sizeof(wire->gid));
	form_put16(wire->nr_rtokens, nr);
	for (i = 0; i < nr; i++)
		smc_llc_pair_put(&more->pair[i], &wire->pair[i]);
	return len;
}

static int form_encode_req_add_link(const struct smc_llc_msg *msg,
				    const struct smc_llc_more *more, u8 *buf, u32 size)
{
	struct smc_llc_req_add_link_wire *wire = (void *)buf;
	unsigned int nr = more ? more->nr : 0;
	u32 len = form_req_add_link_len(nr);

	if (msg->is_reply ? nr : !nr || nr > SMC_LLC_LONG_GIDS)
		return -EINVAL;
	if (size < len)
		return -EMSGSIZE;
	memset(buf, 0, len);
	if (msg->is_reply)
		wire->flags = SMC_LLC_REPLY;
	wire->nr_gids = nr;
	if (nr)
		memcpy(wire->gid, more->gid, nr * SMC_GID_LEN);
	return len;
}

static int form_encode_rkeys(const struct smc_llc_more *more, u8 *buf, u32 size)
{
	struct smc_llc_delete_rkey_wire *wire = (void *)buf;
	u32 len = form_delete_rkey_len(more->nr);
	__be32 rkey;
	unsigned int i;

	if (!more->nr || more->nr > SMC_LLC_LONG_KEYS)
		return -EINVAL;
	if (size < len)
		return -EMSGSIZE;
	memset(buf, 0, len);
	wire->count = more->nr;
	for (i = 0; i < more->nr; i++) {
		rkey = cpu_to_be32(more->rkey[i]);
		memcpy(buf + offsetof(struct smc_llc_delete_rkey_wire, rkey) + i * sizeof(rkey),
		       &rkey, sizeof(rkey));
	}
	return len;
}

/* A reply counts unknown keys but does not list them. */
static int form_encode_delete_reply(const struct smc_llc_delete_rkey *dr, u8 *buf, u32 size)
{
	struct smc_llc_delete_rkey_wire *wire = (void *)buf;

	if (!dr->count)
		return -EINVAL;
	if (size < sizeof(*wire))
		return -EMSGSIZE;
	memset(wire, 0, sizeof(*wire));
	wire->hdr.flags = SMC_LLC_REPLY;
	if (dr->is_negative)
		wire->hdr.flags |= SMC_LLC_RKEY_NEGATIVE;
	wire->count = dr->count;
	wire->error_mask = dr->nr_unknown;
	return sizeof(*wire);
}

static int form_encode_v2(const struct smc_llc_msg *msg, const struct smc_llc_more *more, u8 *buf,
			  u32 size)
{
	int len;

	if (msg->type == SMC_LLC_REQ_ADD_LINK)
		return form_encode_req_add_link(msg, more, buf, size);
	if (!form_exists_in_v2(msg))
		return -EINVAL;
	if (msg->type == SMC_LLC_DELETE_RKEY && msg->is_reply)
		return more ? -EINVAL : form_encode_delete_reply(&msg->delete_rkey, buf, size);
	if (msg->type == SMC_LLC_DELETE_RKEY && more)
		return form_encode_rkeys(more, buf, size);
	len = smc_llc_encode(msg, SMC_DIALECT_DEPLOYED, buf, size);
	if (len < 0)
		return len;
	if (msg->type == SMC_LLC_ADD_LINK && !msg->add_link.is_rejected)
		return form_encode_add_link(msg, more, buf, size);
	return len;
}

/**
 * smc_llc_form_encode() - encode a message
 * @form: form of the link group
 * @msg: the message
 * @more: list of a long message, or NULL
 * @dialect: dialect of the link group; used in version 1 only
 * @buf: receives the bytes, any alignment
 * @size: size of @buf
 *
 * Context: Any context.
 * Return: length of the message in bytes; -EMSGSIZE if @size is too small; -EINVAL if the form
 * has no such message or list, a count is out of range, or a request has a field of replies only.
 * On error @buf is undefined.
 */
int smc_llc_form_encode(enum smc_llc_form form, const struct smc_llc_msg *msg,
			const struct smc_llc_more *more, enum smc_dialect dialect, u8 *buf,
			u32 size)
{
	int len;

	if (form == SMC_LLC_FORM_V1)
		return more ? -EINVAL : smc_llc_encode(msg, dialect, buf, size);
	len = form_encode_v2(msg, more, buf, size);
	if (len > 0) {
		buf[0] = msg->type | SMC_LLC_V2_TYPE;
		form_put16(buf + 1, len);
	}
	return len;
}

/**
 * smc_llc_form_has_long() - check for long messages
 * @form: form of the link group
 *
 * With them ADD LINK carries all RMBs without a CONTINUATION, and a client asks for a link by
 * REQ ADD LINK (protocol.md).
 *
 * Context: Any context.
 * Return: true in version 2.
 */
bool smc_llc_form_has_long(enum smc_llc_form form)
{
	return form == SMC_LLC_FORM_V2;
}

/**
 * smc_llc_form_answer_test_link() - answer a TEST LINK request without delay
 * @form: form of the link group
 * @buf: received bytes
 * @len: number of bytes
 * @reply: receives SMC_LLC_LEN bytes, in the form of the request
 *
 * The reply needs no state, so the completion handler can send it at once, during any exchange.
 * RFC 7609 3.5.5.3, A.3.8; LLC-13, SER-06.
 *
 * Context: Any context.
 * Return: true if @buf is a TEST LINK request and @reply holds its answer; false for anything
 * else, which smc_llc_form_decode() decodes.
 */
bool smc_llc_form_answer_test_link(enum smc_llc_form form, const u8 *buf, u32 len, u8 *reply)
{
	struct smc_llc_msg msg;

	/* the same in both dialects */
	if (smc_llc_form_decode(form, buf, len, SMC_DIALECT_DEPLOYED, &msg) != SMC_LLC_OK ||
	    msg.type != SMC_LLC_TEST_LINK || msg.is_reply)
		return false;
	if (!form_is_v2(buf))
		form = SMC_LLC_FORM_V1;
	msg.is_reply = true;
	return smc_llc_form_encode(form, &msg, NULL, SMC_DIALECT_DEPLOYED, reply,
				   SMC_LLC_LEN) == SMC_LLC_LEN;
}

/**
 * smc_llc_form_pair() - get a key of a long ADD LINK
 * @buf: message accepted by smc_llc_form_decode()
 * @i: place in the list, less than nr_pairs
 * @pair: receives the key
 *
 * Context: Any context.
 */
void smc_llc_form_pair(const u8 *buf, unsigned int i, struct smc_llc_pair *pair)
{
	const struct smc_llc_add_link_v2_wire *wire = (const void *)buf;

	smc_llc_pair_get(&wire->pair[i], pair);
}

/**
 * smc_llc_form_rkey() - get a key of a DELETE RKEY request
 * @buf: message accepted by smc_llc_form_decode()
 * @i: place in the list, less than count
 *
 * Context: Any context.
 * Return: the key.
 */
u32 smc_llc_form_rkey(const u8 *buf, unsigned int i)
{
	__be32 rkey;

	memcpy(&rkey, buf + offsetof(struct smc_llc_delete_rkey_wire, rkey) + i * sizeof(rkey),
	       sizeof(rkey));
	return be32_to_cpu(rkey);
}
