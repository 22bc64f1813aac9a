// SPDX-License-Identifier: GPL-2.0
/*
 * LLC codec, RFC 7609 A.3.
 *
 * A message has 44 bytes; unused ones are zero. Reserved fields are written as zero and not
 * checked. The dialect of the link group decides the layout of ADD LINK.
 *
 * Each type has one function for each direction, listed in one table. A protocol version with
 * another layout has its own functions and shares struct smc_llc_msg.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "proto/smc_llc_wire.h"

/* Functions of one message type. */
struct llc_codec {
	/* wire to host; false for a malformed message */
	bool (*get)(const u8 *buf, enum smc_dialect dialect, struct smc_llc_msg *msg);
	/* host to wire, into zeroed bytes; false if @msg cannot be encoded */
	bool (*put)(const struct smc_llc_msg *msg, enum smc_dialect dialect, u8 *buf);
};

static u32 confirm_link_ext(const struct smc_llc_msg *msg)
{
	return msg->is_reply ? SMC_LLC_EXT_AGREED : SMC_LLC_EXT_OFFER;
}

static bool confirm_link_get(const u8 *buf, enum smc_dialect dialect,
			     struct smc_llc_msg *msg)
{
	const struct smc_llc_confirm_link_wire *wire = (const void *)buf;
	struct smc_llc_confirm_link *cl = &msg->confirm_link;

	memcpy(cl->end.mac, wire->mac, sizeof(cl->end.mac));
	memcpy(cl->end.gid, wire->gid, sizeof(cl->end.gid));
	cl->end.qpn = smc_wire_get24(wire->qpn);
	cl->link_num = wire->link_num;
	cl->link_uid = be32_to_cpu(wire->link_user_id);
	cl->max_links = wire->max_links;
	cl->max_conns = wire->max_conns;
	cl->no_eye_catcher = wire->hdr.flags & SMC_LLC_NO_EYE_CATCHER;
	if (be32_to_cpu(wire->ext) == confirm_link_ext(msg))
		cl->ext = wire->ext_mask & SMC_LLC_EXT_ALL;
	return true;
}

static bool confirm_link_put(const struct smc_llc_msg *msg, enum smc_dialect dialect,
			     u8 *buf)
{
	const struct smc_llc_confirm_link *cl = &msg->confirm_link;
	struct smc_llc_confirm_link_wire *wire = (void *)buf;

	memcpy(wire->mac, cl->end.mac, sizeof(wire->mac));
	memcpy(wire->gid, cl->end.gid, sizeof(wire->gid));
	smc_wire_put24(wire->qpn, cl->end.qpn);
	wire->link_num = cl->link_num;
	wire->link_user_id = cpu_to_be32(cl->link_uid);
	wire->max_links = cl->max_links;
	wire->max_conns = cl->max_conns;
	if (cl->no_eye_catcher)
		wire->hdr.flags |= SMC_LLC_NO_EYE_CATCHER;
	if (cl->ext) {
		wire->ext = cpu_to_be32(confirm_link_ext(msg));
		wire->ext_mask = cl->ext;
	}
	return true;
}

/* The fields behind the MAC, which both dialects order alike. */
struct llc_add_link_tail {
	u8 gid[SMC_GID_LEN];
	u8 qpn[3];
	u8 link_num;
	u8 mtu;
	u8 psn[3];
} __packed;

static size_t add_link_tail_at(enum smc_dialect dialect)
{
	BUILD_BUG_ON(offsetof(struct smc_llc_add_link_wire, psn) -
		     offsetof(struct smc_llc_add_link_wire, gid) !=
		     offsetof(struct llc_add_link_tail, psn));
	BUILD_BUG_ON(offsetof(struct smc_llc_add_link_deployed_wire, psn) -
		     offsetof(struct smc_llc_add_link_deployed_wire, gid) !=
		     offsetof(struct llc_add_link_tail, psn));

	if (dialect == SMC_DIALECT_DEPLOYED)
		return offsetof(struct smc_llc_add_link_deployed_wire, gid);
	return offsetof(struct smc_llc_add_link_wire, gid);
}

static bool add_link_get(const u8 *buf, enum smc_dialect dialect, struct smc_llc_msg *msg)
{
	const struct llc_add_link_tail *tail = (const void *)(buf + add_link_tail_at(dialect));
	const struct smc_llc_add_link_wire *wire = (const void *)buf;
	struct smc_llc_add_link *al = &msg->add_link;

	memcpy(al->end.mac, wire->mac, sizeof(al->end.mac));
	memcpy(al->end.gid, tail->gid, sizeof(al->end.gid));
	al->end.qpn = smc_wire_get24(tail->qpn);
	al->end.mtu = tail->mtu & SMC_LLC_ADD_LINK_MTU_MASK;
	al->end.psn = smc_wire_get24(tail->psn);
	al->link_num = tail->link_num;
	/* Z is valid only in a reply, the reason only with Z. */
	al->is_rejected = msg->is_reply && (wire->hdr.flags & SMC_LLC_ADD_LINK_REJECT);
	if (al->is_rejected)
		al->reason = wire->hdr.reason & SMC_LLC_ADD_LINK_REASON_MASK;
	return true;
}

static bool add_link_put(const struct smc_llc_msg *msg, enum smc_dialect dialect, u8 *buf)
{
	struct llc_add_link_tail *tail = (void *)(buf + add_link_tail_at(dialect));
	struct smc_llc_add_link_wire *wire = (void *)buf;
	const struct smc_llc_add_link *al = &msg->add_link;

	if (al->is_rejected && !msg->is_reply)
		return false;
	memcpy(wire->mac, al->end.mac, sizeof(wire->mac));
	memcpy(tail->gid, al->end.gid, sizeof(tail->gid));
	smc_wire_put24(tail->qpn, al->end.qpn);
	tail->mtu = al->end.mtu & SMC_LLC_ADD_LINK_MTU_MASK;
	smc_wire_put24(tail->psn, al->end.psn);
	tail->link_num = al->link_num;
	if (al->is_rejected) {
		wire->hdr.flags |= SMC_LLC_ADD_LINK_REJECT;
		wire->hdr.reason = al->reason & SMC_LLC_ADD_LINK_REASON_MASK;
	}
	return true;
}

void smc_llc_pair_get(const struct smc_llc_rtoken_pair_wire *wire, struct smc_llc_pair *pair)
{
	pair->ref_rkey = be32_to_cpu(wire->ref_rkey);
	pair->rkey = be32_to_cpu(wire->rkey);
	pair->vaddr = be64_to_cpu(wire->addr);
}

void smc_llc_pair_put(const struct smc_llc_pair *pair, struct smc_llc_rtoken_pair_wire *wire)
{
	wire->ref_rkey = cpu_to_be32(pair->ref_rkey);
	wire->rkey = cpu_to_be32(pair->rkey);
	wire->addr = cpu_to_be64(pair->vaddr);
}

static bool add_link_cont_get(const u8 *buf, enum smc_dialect dialect,
			      struct smc_llc_msg *msg)
{
	const struct smc_llc_add_link_cont_wire *wire = (const void *)buf;
	struct smc_llc_add_link_cont *cont = &msg->add_link_cont;
	unsigned int i;

	cont->link_num = wire->link_num;
	cont->nr_rtokens = wire->nr_rtokens;
	for (i = 0; i < SMC_LLC_CONT_PAIRS && i < cont->nr_rtokens; i++)
		smc_llc_pair_get(&wire->pair[i], &cont->pair[i]);
	return true;
}

static bool add_link_cont_put(const struct smc_llc_msg *msg, enum smc_dialect dialect,
			      u8 *buf)
{
	const struct smc_llc_add_link_cont *cont = &msg->add_link_cont;
	struct smc_llc_add_link_cont_wire *wire = (void *)buf;
	unsigned int i;

	wire->link_num = cont->link_num;
	wire->nr_rtokens = cont->nr_rtokens;
	for (i = 0; i < SMC_LLC_CONT_PAIRS && i < cont->nr_rtokens; i++)
		smc_llc_pair_put(&cont->pair[i], &wire->pair[i]);
	return true;
}

static bool delete_link_get(const u8 *buf, enum smc_dialect dialect,
			    struct smc_llc_msg *msg)
{
	const struct smc_llc_delete_link_wire *wire = (const void *)buf;
	struct smc_llc_delete_link *dl = &msg->delete_link;

	dl->is_all = wire->hdr.flags & SMC_LLC_DELETE_LINK_ALL;
	dl->is_orderly = wire->hdr.flags & SMC_LLC_DELETE_LINK_ORDERLY;
	/* The number is ignored when all links are deleted, DELL-13. */
	dl->link_num = dl->is_all ? 0 : wire->link_num;
	dl->reason = be32_to_cpu(wire->reason);
	return true;
}

static bool delete_link_put(const struct smc_llc_msg *msg, enum smc_dialect dialect,
			    u8 *buf)
{
	const struct smc_llc_delete_link *dl = &msg->delete_link;
	struct smc_llc_delete_link_wire *wire = (void *)buf;

	if (dl->is_all)
		wire->hdr.flags |= SMC_LLC_DELETE_LINK_ALL;
	else
		wire->link_num = dl->link_num;
	if (dl->is_orderly)
		wire->hdr.flags |= SMC_LLC_DELETE_LINK_ORDERLY;
	wire->reason = cpu_to_be32(dl->reason);
	return true;
}

static void rtoken_get(const struct smc_llc_rkey_spec_wire *wire,
		       struct smc_llc_rtoken *rtoken)
{
	rtoken->link_num = wire->link_num;
	rtoken->rkey = be32_to_cpu(wire->rkey);
	rtoken->vaddr = be64_to_cpu(wire->addr);
}

static void rtoken_put(const struct smc_llc_rtoken *rtoken,
		       struct smc_llc_rkey_spec_wire *wire)
{
	wire->link_num = rtoken->link_num;
	wire->rkey = cpu_to_be32(rtoken->rkey);
	wire->addr = cpu_to_be64(rtoken->vaddr);
}

static bool confirm_rkey_get(const u8 *buf, enum smc_dialect dialect,
			     struct smc_llc_msg *msg)
{
	const struct smc_llc_confirm_rkey_wire *wire = (const void *)buf;
	struct smc_llc_confirm_rkey *cr = &msg->confirm_rkey;
	unsigned int i;

	cr->is_negative = msg->is_reply && (wire->hdr.flags & SMC_LLC_RKEY_NEGATIVE);
	cr->may_retry = cr->is_negative && (wire->hdr.flags & SMC_LLC_RKEY_RETRY);
	cr->nr_rtokens = wire->nr_rtokens;
	cr->here.rkey = be32_to_cpu(wire->rkey);
	cr->here.vaddr = be64_to_cpu(wire->addr);
	for (i = 0; i < SMC_LLC_RKEY_SPECS && i < cr->nr_rtokens; i++)
		rtoken_get(&wire->spec[i], &cr->other[i]);
	return true;
}

static bool confirm_rkey_put(const struct smc_llc_msg *msg, enum smc_dialect dialect,
			     u8 *buf)
{
	const struct smc_llc_confirm_rkey *cr = &msg->confirm_rkey;
	struct smc_llc_confirm_rkey_wire *wire = (void *)buf;
	unsigned int i;

	if (!msg->is_reply && (cr->is_negative || cr->may_retry))
		return false;
	if (cr->is_negative)
		wire->hdr.flags |= SMC_LLC_RKEY_NEGATIVE;
	if (cr->may_retry)
		wire->hdr.flags |= SMC_LLC_RKEY_RETRY;
	wire->nr_rtokens = cr->nr_rtokens;
	wire->rkey = cpu_to_be32(cr->here.rkey);
	wire->addr = cpu_to_be64(cr->here.vaddr);
	for (i = 0; i < SMC_LLC_RKEY_SPECS && i < cr->nr_rtokens; i++)
		rtoken_put(&cr->other[i], &wire->spec[i]);
	return true;
}

static bool confirm_rkey_cont_get(const u8 *buf, enum smc_dialect dialect,
				  struct smc_llc_msg *msg)
{
	const struct smc_llc_confirm_rkey_cont_wire *wire = (const void *)buf;
	struct smc_llc_confirm_rkey_cont *cont = &msg->confirm_rkey_cont;
	unsigned int i;

	cont->is_negative = msg->is_reply && (wire->hdr.flags & SMC_LLC_RKEY_NEGATIVE);
	cont->nr_left = wire->nr_left;
	for (i = 0; i < SMC_LLC_RKEY_CONT_SPECS && i < cont->nr_left; i++)
		rtoken_get(&wire->spec[i], &cont->other[i]);
	return true;
}

static bool confirm_rkey_cont_put(const struct smc_llc_msg *msg, enum smc_dialect dialect,
				  u8 *buf)
{
	const struct smc_llc_confirm_rkey_cont *cont = &msg->confirm_rkey_cont;
	struct smc_llc_confirm_rkey_cont_wire *wire = (void *)buf;
	unsigned int i;

	if (!msg->is_reply && cont->is_negative)
		return false;
	if (cont->is_negative)
		wire->hdr.flags |= SMC_LLC_RKEY_NEGATIVE;
	wire->nr_left = cont->nr_left;
	for (i = 0; i < SMC_LLC_RKEY_CONT_SPECS && i < cont->nr_left; i++)
		rtoken_put(&cont->other[i], &wire->spec[i]);
	return true;
}

static bool delete_rkey_get(const u8 *buf, enum smc_dialect dialect,
			    struct smc_llc_msg *msg)
{
	const struct smc_llc_delete_rkey_wire *wire = (const void *)buf;
	struct smc_llc_delete_rkey *dr = &msg->delete_rkey;
	unsigned int i;

	if (!wire->count || wire->count > SMC_LLC_DELETE_RKEYS)
		return false;
	dr->is_negative = msg->is_reply && (wire->hdr.flags & SMC_LLC_RKEY_NEGATIVE);
	dr->count = wire->count;
	if (dr->is_negative)
		dr->error_mask = wire->error_mask;
	for (i = 0; i < dr->count; i++)
		dr->rkey[i] = be32_to_cpu(wire->rkey[i]);
	return true;
}

static bool delete_rkey_put(const struct smc_llc_msg *msg, enum smc_dialect dialect,
			    u8 *buf)
{
	const struct smc_llc_delete_rkey *dr = &msg->delete_rkey;
	struct smc_llc_delete_rkey_wire *wire = (void *)buf;
	unsigned int i;

	if (!dr->count || dr->count > SMC_LLC_DELETE_RKEYS)
		return false;
	if (!msg->is_reply && (dr->is_negative || dr->error_mask))
		return false;
	if (dr->is_negative)
		wire->hdr.flags |= SMC_LLC_RKEY_NEGATIVE;
	wire->count = dr->count;
	wire->error_mask = dr->error_mask;
	for (i = 0; i < dr->count; i++)
		wire->rkey[i] = cpu_to_be32(dr->rkey[i]);
	return true;
}

static bool test_link_get(const u8 *buf, enum smc_dialect dialect, struct smc_llc_msg *msg)
{
	const struct smc_llc_test_link_wire *wire = (const void *)buf;

	memcpy(msg->test_link.user_data, wire->user_data, sizeof(wire->user_data));
	return true;
}

static bool test_link_put(const struct smc_llc_msg *msg, enum smc_dialect dialect, u8 *buf)
{
	struct smc_llc_test_link_wire *wire = (void *)buf;

	memcpy(wire->user_data, msg->test_link.user_data, sizeof(wire->user_data));
	return true;
}

static const struct llc_codec llc_codecs[] = {
	[SMC_LLC_CONFIRM_LINK] = { confirm_link_get, confirm_link_put },
	[SMC_LLC_ADD_LINK] = { add_link_get, add_link_put },
	[SMC_LLC_ADD_LINK_CONT] = { add_link_cont_get, add_link_cont_put },
	[SMC_LLC_DELETE_LINK] = { delete_link_get, delete_link_put },
	[SMC_LLC_CONFIRM_RKEY] = { confirm_rkey_get, confirm_rkey_put },
	[SMC_LLC_TEST_LINK] = { test_link_get, test_link_put },
	[SMC_LLC_CONFIRM_RKEY_CONT] = { confirm_rkey_cont_get, confirm_rkey_cont_put },
	[SMC_LLC_DELETE_RKEY] = { delete_rkey_get, delete_rkey_put },
};

static const struct llc_codec *llc_codec_of(u8 type)
{
	if (type >= ARRAY_SIZE(llc_codecs) || !llc_codecs[type].get)
		return NULL;
	return &llc_codecs[type];
}

/*
 * @dialect matters for ADD LINK only. @msg is filled on SMC_LLC_OK, unused members are zero.
 * SMC_LLC_IGNORE: an unknown type marked optional. SMC_LLC_LINK_DOWN: any other unknown type
 * (AMB-48), a wrong length or an impossible count. The machine checks whether the message fits the
 * state. RFC 7609 A.3, C.7.1; LLC-07 to LLC-11, ERR-53 to ERR-55.
 */
enum smc_llc_verdict smc_llc_decode(const u8 *buf, u32 len, enum smc_dialect dialect,
				    struct smc_llc_msg *msg)
{
	const struct smc_llc_hdr_wire *hdr = (const void *)buf;
	const struct llc_codec *codec;

	if (!len)
		return SMC_LLC_LINK_DOWN;
	if ((hdr->type & SMC_LLC_TYPE_CLASS_MASK) == SMC_LLC_TYPE_MAY_IGNORE)
		return SMC_LLC_IGNORE;
	codec = llc_codec_of(hdr->type);
	if (!codec || len != SMC_LLC_LEN || hdr->length != SMC_LLC_LEN)
		return SMC_LLC_LINK_DOWN;

	memset(msg, 0, sizeof(*msg));
	msg->type = hdr->type;
	msg->is_reply = hdr->flags & SMC_LLC_REPLY;
	return codec->get(buf, dialect, msg) ? SMC_LLC_OK : SMC_LLC_LINK_DOWN;
}

/*
 * Returns the length, always SMC_LLC_LEN; -EMSGSIZE if @size is too small; -EINVAL if the type is
 * unknown, a count is out of range, or a request has a field of replies only. On error @buf is
 * undefined.
 */
int smc_llc_encode(const struct smc_llc_msg *msg, enum smc_dialect dialect, u8 *buf,
		   u32 size)
{
	const struct llc_codec *codec = llc_codec_of(msg->type);
	struct smc_llc_hdr_wire *hdr = (void *)buf;

	if (!codec)
		return -EINVAL;
	if (size < SMC_LLC_LEN)
		return -EMSGSIZE;

	memset(buf, 0, SMC_LLC_LEN);
	hdr->type = msg->type;
	hdr->length = SMC_LLC_LEN;
	if (msg->is_reply)
		hdr->flags = SMC_LLC_REPLY;
	return codec->put(msg, dialect, buf) ? SMC_LLC_LEN : -EINVAL;
}

/**
 * smc_llc_dialect_name() - name of a dialect for the log
 * @dialect: any
 *
 * Context: Any context.
 * Return: a constant string, never NULL.
 */
const char *smc_llc_dialect_name(enum smc_dialect dialect)
{
	return dialect == SMC_DIALECT_DEPLOYED ? "deployed" : "RFC";
}
