// SPDX-License-Identifier: GPL-2.0
/*
 * LLC messages in both dialects and forms, long ones included: round trips of bytes, and of
 * values, which a decoder that loses a field does not survive.
 */
#include "fz.h"

#include "proto/smc_llc_v2.h"

enum { BYTES = 8192 };

/* The lists of a long message, as its owner reads them. */
static bool get_more(const struct smc_llc_msg *msg, const u8 *bytes, struct smc_llc_more *more,
		     struct smc_llc_pair *pair, u32 *rkey)
{
	const struct smc_llc_req_add_link_wire *req = (const void *)bytes;

	memset(more, 0, sizeof(*more));
	if (msg->type == SMC_LLC_ADD_LINK && msg->add_link.nr_pairs) {
		for (; more->nr < msg->add_link.nr_pairs; more->nr++)
			smc_llc_form_pair(bytes, more->nr, &pair[more->nr]);
		more->pair = pair;
	} else if (msg->type == SMC_LLC_DELETE_RKEY && !msg->is_reply &&
		   msg->delete_rkey.count > SMC_LLC_DELETE_RKEYS) {
		for (; more->nr < msg->delete_rkey.count; more->nr++)
			rkey[more->nr] = smc_llc_form_rkey(bytes, more->nr);
		more->rkey = rkey;
	} else if (msg->type == SMC_LLC_REQ_ADD_LINK && !msg->is_reply) {
		more->nr = req->nr_gids;
		more->gid = (const void *)req->gid;
	}
	return more->nr;
}

static bool is_long_form(const u8 *bytes)
{
	return (bytes[0] & SMC_LLC_V2_TYPE_MASK) == SMC_LLC_V2_TYPE;
}

static void check_round_trip(enum smc_llc_form form, enum smc_dialect dialect,
			     const struct smc_llc_msg *msg, const u8 *bytes)
{
	static u8 once[BYTES], twice[BYTES];
	static struct smc_llc_pair pair[256];
	static u32 rkey[256];
	struct smc_llc_more more;
	struct smc_llc_msg again;
	int len;

	len = smc_llc_form_encode(form, msg, get_more(msg, bytes, &more, pair, rkey) ? &more :
				  NULL, dialect, once, sizeof(once));
	FZ_CHECK(len >= SMC_LLC_LEN);
	FZ_CHECK(smc_llc_form_decode(form, once, len, dialect, &again) == SMC_LLC_OK);
	FZ_CHECK(!memcmp(msg, &again, sizeof(again)));
	FZ_CHECK(smc_llc_form_encode(form, &again, get_more(&again, once, &more, pair, rkey) ?
				     &more : NULL, dialect, twice, sizeof(twice)) == len);
	FZ_CHECK(!memcmp(once, twice, len));
	/* no byte of a buffer that is too short is written */
	memset(twice, 0x5a, sizeof(twice));
	FZ_CHECK(smc_llc_form_encode(form, &again, get_more(&again, once, &more, pair, rkey) ?
				     &more : NULL, dialect, twice, len - 1) < 0);
	FZ_CHECK(twice[len - 1] == 0x5a);
}

static void any_end(struct fz_in *in, struct smc_llc_end *end)
{
	fz_take(in, end->mac, sizeof(end->mac));
	fz_take(in, end->gid, sizeof(end->gid));
	end->qpn = fz_u32(in) & 0xffffff;
}

static void any_rtoken(struct fz_in *in, struct smc_llc_rtoken *rtoken, bool is_here)
{
	rtoken->link_num = is_here ? 0 : fz_u8(in);
	rtoken->rkey = fz_u32(in);
	rtoken->vaddr = (u64)fz_u32(in) << 32 | fz_u32(in);
}

/* Values for each message that both forms have. */
static void any_msg(struct fz_in *in, struct smc_llc_msg *msg)
{
	u8 bits = fz_u8(in), i;

	memset(msg, 0, sizeof(*msg));
	msg->is_reply = bits & 1;
	switch (fz_u8(in) % 5) {
	case 0:
		msg->type = SMC_LLC_CONFIRM_LINK;
		any_end(in, &msg->confirm_link.end);
		msg->confirm_link.link_num = fz_u8(in);
		msg->confirm_link.link_uid = fz_u32(in);
		msg->confirm_link.max_links = fz_u8(in);
		break;
	case 1:
		msg->type = SMC_LLC_ADD_LINK;
		any_end(in, &msg->add_link.end);
		msg->add_link.end.psn = fz_u32(in) & 0xffffff;
		msg->add_link.end.mtu = fz_u8(in) & 15;
		msg->add_link.link_num = fz_u8(in);
		msg->add_link.is_rejected = msg->is_reply && bits & 2;
		break;
	case 2:
		msg->type = SMC_LLC_DELETE_LINK;
		msg->delete_link.is_all = bits & 2;
		msg->delete_link.is_orderly = bits & 4;
		msg->delete_link.link_num = bits & 2 ? 0 : fz_u8(in);
		msg->delete_link.reason = fz_u32(in);
		break;
	case 3:
		msg->type = SMC_LLC_CONFIRM_RKEY;
		msg->confirm_rkey.is_negative = msg->is_reply && bits & 2;
		msg->confirm_rkey.may_retry = msg->confirm_rkey.is_negative && bits & 4;
		msg->confirm_rkey.nr_rtokens = fz_u8(in) % (SMC_LLC_RKEY_SPECS + 1);
		any_rtoken(in, &msg->confirm_rkey.here, true);
		for (i = 0; i < msg->confirm_rkey.nr_rtokens; i++)
			any_rtoken(in, &msg->confirm_rkey.other[i], false);
		break;
	default:
		msg->type = SMC_LLC_TEST_LINK;
		fz_take(in, msg->test_link.user_data, sizeof(msg->test_link.user_data));
		break;
	}
}

static void check_values(struct fz_in in, enum smc_llc_form form, enum smc_dialect dialect)
{
	struct smc_llc_msg msg, again = {};
	static u8 bytes[BYTES];
	int len;

	any_msg(&in, &msg);
	len = smc_llc_form_encode(form, &msg, NULL, dialect, bytes, sizeof(bytes));
	FZ_CHECK(len >= SMC_LLC_LEN);
	FZ_CHECK(smc_llc_form_decode(form, bytes, len, dialect, &again) == SMC_LLC_OK);
	FZ_CHECK(!memcmp(&msg, &again, sizeof(msg)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fz_in in = { data, size };
	u8 *bytes, reply[SMC_LLC_LEN], how = fz_u8(&in);
	enum smc_llc_form form = how & 1 ? SMC_LLC_FORM_V2 : SMC_LLC_FORM_V1;
	enum smc_dialect dialect = how & 2 || how & 1 ? SMC_DIALECT_DEPLOYED : SMC_DIALECT_RFC;
	struct smc_llc_msg msg, answer;
	bool is_answered;
	size_t len;

	check_values(in, form, dialect);
	bytes = fz_rest(&in, &len);
	/* padding is compared, too */
	memset(&msg, 0, sizeof(msg));
	is_answered = smc_llc_form_answer_test_link(form, bytes, len, reply);
	if (smc_llc_form_decode(form, bytes, len, dialect, &msg) == SMC_LLC_OK) {
		FZ_CHECK(len >= SMC_LLC_LEN);
		/* either form is read in version 2 */
		check_round_trip(is_long_form(bytes) ? form : SMC_LLC_FORM_V1, dialect, &msg,
				 bytes);
		FZ_CHECK(is_answered == (msg.type == SMC_LLC_TEST_LINK && !msg.is_reply));
	}
	if (is_answered) {
		FZ_CHECK(smc_llc_form_decode(form, reply, sizeof(reply), dialect, &answer) ==
			 SMC_LLC_OK);
		FZ_CHECK(answer.type == SMC_LLC_TEST_LINK && answer.is_reply);
		FZ_CHECK(!memcmp(&answer.test_link, &msg.test_link, sizeof(msg.test_link)));
	}
	free(bytes);
	return 0;
}
