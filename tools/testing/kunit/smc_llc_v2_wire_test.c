// SPDX-License-Identifier: GPL-2.0
/*
 * LLC messages of version 2: recorded ones, long ones laid out by hand, and all kinds of
 * malformed ones.
 *
 * A message to decode is always the last thing in its own allocation, so that
 * KASAN sees a read behind it.
 */
#include "smc_kunit.h"
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../../../net/smc/proto/smc_llc_v2.c"

/* All different LLC messages of a recorded link of version 2.1. */
static const struct form_record {
	const char *name;
	u32 len;
	u8 bytes[88];
	struct smc_llc_msg msg;
	struct smc_llc_pair pair;
} form_records[] = {
	{ "frame 9", 44, {
		0x21, 0x2c, 0x00, 0x03, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x0a, 0x00,
		0x00, 0x01, 0x00, 0x00, 0x11, 0x01, 0x00, 0x00, 0x01, 0x01, 0x02, 0xff,
	}, { .type = SMC_LLC_CONFIRM_LINK, .confirm_link = {
		.end = { .mac = { 0x52, 0x54, 0, 0, 0, 1 },
			 .gid = { [10] = 0xff, 0xff, 10, 0, 0, 1 }, .qpn = 0x11 },
		.link_uid = 0x101, .link_num = 1, .max_links = 2, .max_conns = 255,
		.no_eye_catcher = true } } },
	{ "frame 11", 44, {
		0x21, 0x2c, 0x00, 0x83, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x0a, 0x00,
		0x00, 0x02, 0x00, 0x00, 0x11, 0x01, 0x00, 0x00, 0x01, 0x01, 0x02, 0xff,
	}, { .type = SMC_LLC_CONFIRM_LINK, .is_reply = true, .confirm_link = {
		.end = { .mac = { 0x52, 0x54, 0, 0, 0, 2 },
			 .gid = { [10] = 0xff, 0xff, 10, 0, 0, 2 }, .qpn = 0x11 },
		.link_uid = 0x101, .link_num = 1, .max_links = 2, .max_conns = 255,
		.no_eye_catcher = true } } },
	{ "frame 13, long", 88, {
		0x22, 0x58, 0x00, 0x00, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff,
		0x0a, 0x00, 0x00, 0x01, 0x00, 0x00, 0x12, 0x02, 0x05, 0x07, 0xcf, 0x10,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x0a, 0x00,
		0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
		0x00, 0x00, 0x03, 0xb2, 0x00, 0x00, 0x05, 0x22, 0xff, 0x30, 0xb9, 0xbb,
		0x04, 0x20, 0x00, 0x00,
	}, { .type = SMC_LLC_ADD_LINK, .add_link = {
		.end = { .mac = { 0x52, 0x54, 0, 0, 0, 1 },
			 .gid = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
			 .qpn = 0x12, .mtu = 5, .psn = 0x07cf10 },
		.link_num = 2, .is_direct = true, .nr_pairs = 1 } },
	  { 0x3b2, 0x522, 0xff30b9bb04200000 } },
	{ "frame 15", 44, {
		0x22, 0x2c, 0x00, 0xc0, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff,
		0x0a, 0x00, 0x00, 0x01, 0x00, 0x00, 0x12, 0x02, 0x05, 0x07, 0xcf, 0x10,
	}, { .type = SMC_LLC_ADD_LINK, .is_reply = true, .add_link = {
		.end = { .mac = { 0x52, 0x54, 0, 0, 0, 1 },
			 .gid = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
			 .qpn = 0x12, .mtu = 5, .psn = 0x07cf10 },
		.link_num = 2, .is_rejected = true } } },
	{ "frame 31", 44, {
		0x26, 0x2c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x1e, 0xff, 0x30, 0xb9,
		0xbb, 0x04, 0x22,
	}, { .type = SMC_LLC_CONFIRM_RKEY, .confirm_rkey = {
		.here = { .rkey = 0x61e, .vaddr = 0xff30b9bb04220000 } } } },
	{ "frame 33", 44, {
		0x26, 0x2c, 0x00, 0x80, 0x00, 0x00, 0x00, 0x06, 0x1e, 0xff, 0x30, 0xb9,
		0xbb, 0x04, 0x22,
	}, { .type = SMC_LLC_CONFIRM_RKEY, .is_reply = true, .confirm_rkey = {
		.here = { .rkey = 0x61e, .vaddr = 0xff30b9bb04220000 } } } },
	{ "frame 92", 44, {
		0x29, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x1e,
	}, { .type = SMC_LLC_DELETE_RKEY, .delete_rkey = { .count = 1, .rkey = { 0x61e } } } },
	{ "frame 94", 44, {
		0x29, 0x2c, 0x00, 0x80, 0x01,
	}, { .type = SMC_LLC_DELETE_RKEY, .is_reply = true, .delete_rkey = {
		.count = 1, .is_nameless = true } } },
};

KUNIT_ARRAY_PARAM_DESC(form_record, form_records, name);

static enum smc_llc_verdict form_decode(const u8 *bytes, u32 len, struct smc_llc_msg *msg)
{
	enum smc_llc_verdict verdict;
	u8 *copy = kmemdup(bytes, len, GFP_KERNEL);

	if (!copy)
		return -1;
	verdict = smc_llc_form_decode(SMC_LLC_FORM_V2, copy, len, SMC_DIALECT_RFC, msg);
	kfree(copy);
	return verdict;
}

static int form_encode(const struct smc_llc_msg *msg, const struct smc_llc_more *more, u8 *buf,
		       u32 size)
{
	return smc_llc_form_encode(SMC_LLC_FORM_V2, msg, more, SMC_DIALECT_RFC, buf, size);
}

static void form_set_len(u8 *bytes, u32 len)
{
	bytes[1] = len;
	bytes[2] = len >> 8;
}

static void llc_07_recorded_message_decodes(struct kunit *test)
{
	const struct form_record *rec = test->param_value;
	struct smc_llc_pair pair;
	struct smc_llc_msg msg;

	KUNIT_ASSERT_EQ(test, form_decode(rec->bytes, rec->len, &msg), SMC_LLC_OK);
	KUNIT_EXPECT_EQ(test, msg.type, rec->msg.type);
	KUNIT_EXPECT_EQ(test, msg.is_reply, rec->msg.is_reply);
	KUNIT_EXPECT_MEMEQ(test, &msg, &rec->msg, sizeof(msg));
	if (!rec->pair.rkey)
		return;
	smc_llc_form_pair(rec->bytes, 0, &pair);
	KUNIT_EXPECT_EQ(test, pair.ref_rkey, rec->pair.ref_rkey);
	KUNIT_EXPECT_EQ(test, pair.rkey, rec->pair.rkey);
	KUNIT_EXPECT_EQ(test, pair.vaddr, rec->pair.vaddr);
}

static void llc_07_recorded_message_encodes_back(struct kunit *test)
{
	const struct form_record *rec = test->param_value;
	const struct smc_llc_more more = { .nr = 1, .pair = &rec->pair };
	u8 buf[96];

	memset(buf, 0xa5, sizeof(buf));
	KUNIT_ASSERT_EQ(test, form_encode(&rec->msg, rec->pair.rkey ? &more : NULL, buf,
					  sizeof(buf)), rec->len);
	KUNIT_EXPECT_MEMEQ(test, buf, rec->bytes, rec->len);
	KUNIT_EXPECT_EQ(test, buf[rec->len], 0xa5);
	KUNIT_EXPECT_EQ(test, form_encode(&rec->msg, rec->pair.rkey ? &more : NULL, buf,
					  rec->len - 1), -EMSGSIZE);
}

static void err_55_every_truncation_is_refused(struct kunit *test)
{
	const struct form_record *rec = test->param_value;
	struct smc_llc_msg msg;
	u8 buf[100] = {};
	u32 len;

	for (len = 1; len < sizeof(buf); len++) {
		if (len == rec->len) {
			form_set_len(buf, len + 1);
			KUNIT_EXPECT_EQ(test, form_decode(buf, len, &msg), SMC_LLC_LINK_DOWN);
			continue;
		}
		memcpy(buf, rec->bytes, min_t(u32, len, rec->len));
		KUNIT_EXPECT_EQ_MSG(test, form_decode(buf, len, &msg), SMC_LLC_LINK_DOWN,
				    "%u bytes, length unchanged", len);
		form_set_len(buf, len);
		KUNIT_EXPECT_EQ_MSG(test, form_decode(buf, len, &msg), SMC_LLC_LINK_DOWN,
				    "%u bytes", len);
	}
}

static void llc_09_either_byte_order_is_read(struct kunit *test)
{
	const struct form_record *rec = test->param_value;
	struct smc_llc_msg msg;
	u8 buf[88];

	memcpy(buf, rec->bytes, rec->len);
	buf[1] = rec->len >> 8;
	buf[2] = rec->len;
	if (rec->pair.rkey)
		swap(buf[70], buf[71]);
	KUNIT_ASSERT_EQ(test, form_decode(buf, rec->len, &msg), SMC_LLC_OK);
	KUNIT_EXPECT_MEMEQ(test, &msg, &rec->msg, sizeof(msg));
}

/* A group of version 1 has no such type (AMB-48). */
static void err_54_version_1_does_not_know_it(struct kunit *test)
{
	const struct form_record *rec = test->param_value;
	struct smc_llc_msg msg;

	KUNIT_EXPECT_EQ(test, SMC_LLC_LINK_DOWN,
			smc_llc_form_decode(SMC_LLC_FORM_V1, rec->bytes, rec->len,
					    SMC_DIALECT_DEPLOYED, &msg));
}

static void llc_07_version_1_is_as_ever(struct kunit *test)
{
	static const u8 bytes[44] = { 0x07, 0x2c, 0x00, 0x00, 1, 2, 3 };
	struct smc_llc_msg msg;
	u8 buf[44];
	int form;

	for (form = SMC_LLC_FORM_V1; form <= SMC_LLC_FORM_V2; form++) {
		KUNIT_ASSERT_EQ(test, SMC_LLC_OK,
				smc_llc_form_decode(form, bytes, 44, SMC_DIALECT_RFC, &msg));
		KUNIT_EXPECT_EQ(test, msg.type, SMC_LLC_TEST_LINK);
	}
	KUNIT_ASSERT_EQ(test, 44, smc_llc_form_encode(SMC_LLC_FORM_V1, &msg, NULL,
						      SMC_DIALECT_RFC, buf, sizeof(buf)));
	KUNIT_EXPECT_MEMEQ(test, buf, bytes, 44);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			smc_llc_form_encode(SMC_LLC_FORM_V1, &msg, &(struct smc_llc_more){},
					    SMC_DIALECT_RFC, buf, sizeof(buf)));
}

static void llc_13_test_link_is_answered_in_its_form(struct kunit *test)
{
	static const u8 v1[44] = { 0x07, 0x2c, 0x00, 0x00, 1, 2, 3 };
	static const u8 v2[44] = { 0x27, 0x2c, 0x00, 0x00, 1, 2, 3 };
	u8 want[44], reply[44], other[44];

	memcpy(want, v2, 44);
	want[3] = 0x80;
	KUNIT_ASSERT_TRUE(test, smc_llc_form_answer_test_link(SMC_LLC_FORM_V2, v2, 44, reply));
	KUNIT_EXPECT_MEMEQ(test, reply, want, 44);
	KUNIT_EXPECT_FALSE(test, smc_llc_form_answer_test_link(SMC_LLC_FORM_V2, want, 44, reply));
	KUNIT_EXPECT_FALSE(test, smc_llc_form_answer_test_link(SMC_LLC_FORM_V2, v2, 43, reply));
	KUNIT_EXPECT_FALSE(test, smc_llc_form_answer_test_link(SMC_LLC_FORM_V2, v2, 0, reply));
	KUNIT_EXPECT_FALSE(test, smc_llc_form_answer_test_link(SMC_LLC_FORM_V1, v2, 44, reply));
	memcpy(other, v2, 44);
	other[0] = 0x26;
	KUNIT_EXPECT_FALSE(test, smc_llc_form_answer_test_link(SMC_LLC_FORM_V2, other, 44, reply));
	memcpy(want, v1, 44);
	want[3] = 0x80;
	KUNIT_ASSERT_TRUE(test, smc_llc_form_answer_test_link(SMC_LLC_FORM_V2, v1, 44, reply));
	KUNIT_EXPECT_MEMEQ(test, reply, want, 44);
	KUNIT_EXPECT_FALSE(test, smc_llc_form_answer_test_link(SMC_LLC_FORM_V1, v1, 43, reply));
	KUNIT_ASSERT_TRUE(test, smc_llc_form_answer_test_link(SMC_LLC_FORM_V1, v1, 44, reply));
	KUNIT_EXPECT_MEMEQ(test, reply, want, 44);
}

/* A buffer for the long messages of all tests, larger than the longest of them. */
static u8 *form_room(struct kunit *test)
{
	u8 *buf = kunit_kzalloc(test, 8192, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	return buf;
}

static void addl_10_add_link_with_any_number_of_keys(struct kunit *test)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK, .add_link = { .link_num = 2 } };
	struct smc_llc_pair *pairs, got;
	struct smc_llc_more more = {};
	u8 *buf = form_room(test);
	struct smc_llc_msg back;
	unsigned int n, i;
	int len;

	pairs = kunit_kcalloc(test, 256, sizeof(*pairs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pairs);
	for (i = 0; i < 256; i++)
		pairs[i] = (struct smc_llc_pair){ i + 1, ~i, (u64)i << 32 };
	more.pair = pairs;
	for (n = 0; n <= 255; n++) {
		more.nr = n;
		len = form_encode(&msg, &more, buf, 8192);
		KUNIT_ASSERT_EQ(test, len, 72 + 16 * n);
		KUNIT_EXPECT_EQ(test, buf[70] | buf[71] << 8, n);
		KUNIT_EXPECT_EQ(test, buf[1] | buf[2] << 8, len);
		KUNIT_ASSERT_EQ(test, form_decode(buf, len, &back), SMC_LLC_OK);
		KUNIT_ASSERT_EQ(test, back.add_link.nr_pairs, n);
		for (i = 0; i < n; i++) {
			smc_llc_form_pair(buf, i, &got);
			KUNIT_ASSERT_EQ(test, got.ref_rkey, i + 1);
			KUNIT_ASSERT_EQ(test, got.rkey, ~i);
			KUNIT_ASSERT_EQ(test, got.vaddr, (u64)i << 32);
		}
	}
	more.nr = 256;
	KUNIT_EXPECT_EQ(test, form_encode(&msg, &more, buf, 8192), -EINVAL);
	memset(buf + 72, 0, 256 * 16);
	buf[0] = SMC_LLC_ADD_LINK | SMC_LLC_V2_TYPE;
	form_set_len(buf, 72 + 16 * 256);
	buf[70] = 0;
	buf[71] = 1;
	KUNIT_EXPECT_EQ(test, form_decode(buf, 72 + 16 * 256, &back), SMC_LLC_LINK_DOWN);
}

/* A recorded offer, as it is and through a gateway. */
static void sl_04_add_link_says_whether_the_path_is_direct(struct kunit *test)
{
	const struct form_record *record = &form_records[2];
	struct smc_llc_msg msg;
	u8 bytes[88];

	memcpy(bytes, record->bytes, sizeof(bytes));
	KUNIT_ASSERT_EQ(test, smc_llc_form_decode(SMC_LLC_FORM_V2, bytes, record->len,
						  SMC_DIALECT_DEPLOYED, &msg), SMC_LLC_OK);
	KUNIT_EXPECT_TRUE(test, msg.add_link.is_direct);
	bytes[44] = 0;
	KUNIT_ASSERT_EQ(test, smc_llc_form_decode(SMC_LLC_FORM_V2, bytes, record->len,
						  SMC_DIALECT_DEPLOYED, &msg), SMC_LLC_OK);
	KUNIT_EXPECT_FALSE(test, msg.add_link.is_direct);
}

/* A count must fit the bytes, in either byte order. */
static void err_55_lying_counts_of_keys(struct kunit *test)
{
	const struct form_record *rec = &form_records[2];
	unsigned int count;
	struct smc_llc_msg msg;
	u8 buf[88];

	memcpy(buf, rec->bytes, sizeof(buf));
	for (count = 0; count <= U16_MAX; count += count < 600 ? 1 : 199) {
		bool is_true = count == 1 || count == 0x100;

		buf[70] = count;
		buf[71] = count >> 8;
		KUNIT_ASSERT_EQ_MSG(test, form_decode(buf, sizeof(buf), &msg),
				    is_true ? SMC_LLC_OK : SMC_LLC_LINK_DOWN, "count %u", count);
	}
}

static void addl_10_add_link_request_of_44_bytes_is_refused(struct kunit *test)
{
	struct smc_llc_msg msg;
	u8 buf[44];

	memcpy(buf, form_records[3].bytes, sizeof(buf));
	KUNIT_EXPECT_EQ(test, form_decode(buf, sizeof(buf), &msg), SMC_LLC_OK);
	/* accepted or offered, a message needs the rest */
	buf[3] = 0x80;
	KUNIT_EXPECT_EQ(test, form_decode(buf, sizeof(buf), &msg), SMC_LLC_LINK_DOWN);
	buf[3] = 0x40;
	KUNIT_EXPECT_EQ(test, form_decode(buf, sizeof(buf), &msg), SMC_LLC_LINK_DOWN);
}

static void addl_06_req_add_link(struct kunit *test)
{
	static const u8 want[60] = {
		0x25, 0x3c, 0x00, [24] = 2,
		[28] = 0, [38] = 0xff, 0xff, 10, 0, 0, 1,
		[44] = 0, [54] = 0xff, 0xff, 10, 0, 1, 1,
	};
	static const u8 gids[9][SMC_GID_LEN] = {
		{ [10] = 0xff, 0xff, 10, 0, 0, 1 }, { [10] = 0xff, 0xff, 10, 0, 1, 1 },
	};
	struct smc_llc_msg back, msg = { .type = SMC_LLC_REQ_ADD_LINK };
	struct smc_llc_more more = { .nr = 2, .gid = gids };
	u8 *buf = form_room(test);
	unsigned int n;

	KUNIT_ASSERT_EQ(test, form_encode(&msg, &more, buf, 60), 60);
	KUNIT_EXPECT_MEMEQ(test, buf, want, 60);
	KUNIT_ASSERT_EQ(test, form_decode(want, 60, &back), SMC_LLC_OK);

	for (n = 1; n <= 8; n++) {
		more.nr = n;
		KUNIT_ASSERT_EQ(test, form_encode(&msg, &more, buf, 8192), 28 + 16 * n);
		KUNIT_EXPECT_EQ(test, form_decode(buf, 28 + 16 * n, &back), SMC_LLC_OK);
	}
	more.nr = 9;
	KUNIT_EXPECT_EQ(test, form_encode(&msg, &more, buf, 8192), -EINVAL);
	KUNIT_EXPECT_EQ(test, form_encode(&msg, NULL, buf, 8192), -EINVAL);
	/* counts: none, too many, too few, far too many */
	memcpy(buf, want, 60);
	for (n = 0; n < 256; n++) {
		buf[24] = n;
		KUNIT_EXPECT_EQ_MSG(test, form_decode(buf, 60, &back),
				    n == 2 ? SMC_LLC_OK : SMC_LLC_LINK_DOWN, "count %u", n);
	}
	buf[24] = 9;
	form_set_len(buf, 28 + 16 * 9);
	KUNIT_EXPECT_EQ(test, form_decode(buf, 28 + 16 * 9, &back), SMC_LLC_LINK_DOWN);

	msg.is_reply = true;
	KUNIT_ASSERT_EQ(test, form_encode(&msg, NULL, buf, 44), 44);
	KUNIT_EXPECT_EQ(test, buf[3], 0x80);
	KUNIT_EXPECT_EQ(test, form_decode(buf, 44, &back), SMC_LLC_OK);
	KUNIT_EXPECT_TRUE(test, back.is_reply);
	KUNIT_EXPECT_EQ(test, smc_llc_form_encode(SMC_LLC_FORM_V1, &msg, NULL,
						  SMC_DIALECT_DEPLOYED, buf, 44), -EINVAL);
}

static void rkey_16_delete_rkey_with_any_number_of_keys(struct kunit *test)
{
	struct smc_llc_msg back, msg = { .type = SMC_LLC_DELETE_RKEY };
	struct smc_llc_more more = {};
	u8 *buf = form_room(test);
	unsigned int n, i;
	u32 *rkeys;
	int len;

	rkeys = kunit_kcalloc(test, 256, sizeof(*rkeys), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rkeys);
	for (i = 0; i < 256; i++)
		rkeys[i] = 0x01020304 * (i + 1);
	more.rkey = rkeys;
	for (n = 1; n <= 255; n++) {
		more.nr = n;
		len = form_encode(&msg, &more, buf, 8192);
		KUNIT_ASSERT_EQ(test, len, max(44U, 8 + 4 * n));
		KUNIT_ASSERT_EQ(test, form_decode(buf, len, &back),
				SMC_LLC_OK);
		KUNIT_ASSERT_EQ(test, back.delete_rkey.count, n);
		KUNIT_ASSERT_EQ(test, back.delete_rkey.is_long, len > 44);
		KUNIT_ASSERT_FALSE(test, back.is_reply || back.delete_rkey.is_negative);
		for (i = 0; i < n; i++) {
			KUNIT_ASSERT_EQ(test, smc_llc_form_rkey(buf, i), rkeys[i]);
			if (len == 44)
				KUNIT_ASSERT_EQ(test, back.delete_rkey.rkey[i], rkeys[i]);
		}
		/* one more or one less than the message contains */
		for (i = max(n - 1, 10); i <= n + 1 && i < 256; i++) {
			if (i == n)
				continue;
			buf[4] = i;
			KUNIT_ASSERT_EQ(test, form_decode(buf, len, &back), SMC_LLC_LINK_DOWN);
		}
	}
	more.nr = 256;
	KUNIT_EXPECT_EQ(test, form_encode(&msg, &more, buf, 8192), -EINVAL);
	more.nr = 0;
	KUNIT_EXPECT_EQ(test, form_encode(&msg, &more, buf, 8192), -EINVAL);
	memcpy(buf, form_records[6].bytes, 44);
	buf[4] = 0;
	KUNIT_EXPECT_EQ(test, form_decode(buf, 44, &back), SMC_LLC_LINK_DOWN);
}

/* protocol.md: a count in place of the mask, and no keys */
static void rkey_18_unknown_keys_are_counted(struct kunit *test)
{
	struct smc_llc_msg back, msg = {
		.type = SMC_LLC_DELETE_RKEY, .is_reply = true,
		.delete_rkey = { .is_negative = true, .count = 8, .error_mask = 0xa1,
				 .nr_unknown = 3, .rkey = { 1, 2, 3, 4, 5, 6, 7, 8 } },
	};
	u8 buf[44];

	KUNIT_ASSERT_EQ(test, form_encode(&msg, NULL, buf, 44), 44);
	KUNIT_EXPECT_EQ(test, buf[3], 0xa0);
	KUNIT_EXPECT_EQ(test, buf[4], 8);
	KUNIT_EXPECT_EQ(test, buf[5], 3);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(buf + 6, 0, 38), NULL);
	KUNIT_ASSERT_EQ(test, form_decode(buf, 44, &back), SMC_LLC_OK);
	KUNIT_EXPECT_TRUE(test, back.delete_rkey.is_negative);
	KUNIT_EXPECT_TRUE(test, back.delete_rkey.is_nameless);
	KUNIT_EXPECT_EQ(test, back.delete_rkey.count, 8);
	KUNIT_EXPECT_EQ(test, back.delete_rkey.nr_unknown, 3);
	/* the largest number of keys, none of them known */
	msg.delete_rkey.count = 255;
	msg.delete_rkey.nr_unknown = 255;
	msg.delete_rkey.is_long = true;
	KUNIT_ASSERT_EQ(test, form_encode(&msg, NULL, buf, 44), 44);
	KUNIT_EXPECT_EQ(test, buf[4], 255);
	KUNIT_EXPECT_EQ(test, buf[5], 255);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(buf + 6, 0, 38), NULL);
	KUNIT_ASSERT_EQ(test, form_decode(buf, 44, &back), SMC_LLC_OK);
	KUNIT_EXPECT_TRUE(test, back.delete_rkey.is_negative && back.delete_rkey.is_nameless);
	KUNIT_EXPECT_EQ(test, back.delete_rkey.nr_unknown, 255);
	KUNIT_EXPECT_EQ(test, form_encode(&msg, NULL, buf, 43), -EMSGSIZE);
	msg.delete_rkey.count = 0;
	KUNIT_EXPECT_EQ(test, form_encode(&msg, NULL, buf, 44), -EINVAL);
}

static void err_53_unknown_types(struct kunit *test)
{
	struct smc_llc_msg msg;
	unsigned int type;
	u8 buf[44] = {};

	form_set_len(buf, 44);
	buf[4] = 1;
	for (type = 0x20; type < 0x30; type++) {
		bool is_known = type == 0x21 || type == 0x24 || type == 0x26 || type == 0x27 ||
				type == 0x29;

		buf[0] = type;
		KUNIT_EXPECT_EQ_MSG(test, form_decode(buf, 44, &msg),
				    is_known ? SMC_LLC_OK : SMC_LLC_LINK_DOWN, "type %#x", type);
	}
	/* other versions do not exist, whatever the last message was */
	msg.type = SMC_LLC_ADD_LINK_CONT;
	buf[0] = 0x37;
	KUNIT_EXPECT_EQ(test, form_decode(buf, 44, &msg), SMC_LLC_LINK_DOWN);
	buf[0] = 0x80;
	KUNIT_EXPECT_EQ(test, form_decode(buf, 44, &msg), SMC_LLC_IGNORE);
}

/* Message types that version 2 lacks are neither decoded nor encoded. */
static void err_54_nothing_is_continued(struct kunit *test)
{
	static const u8 types[] = { 0x03, 0x08, 0x23, 0x28 };
	struct smc_llc_msg msg;
	u8 buf[44] = {};
	unsigned int i;
	int is_reply;

	form_set_len(buf, 44);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		for (is_reply = 0; is_reply < 2; is_reply++) {
			buf[0] = types[i];
			buf[3] = is_reply ? SMC_LLC_REPLY : 0;
			KUNIT_EXPECT_EQ_MSG(test, form_decode(buf, 44, &msg), SMC_LLC_LINK_DOWN,
					    "type %#x, flags %#x", buf[0], buf[3]);
			memset(&msg, 0, sizeof(msg));
			msg.type = types[i] & 0x0f;
			msg.is_reply = is_reply;
			KUNIT_EXPECT_EQ(test, form_encode(&msg, NULL, buf + 4, 40), -EINVAL);
		}
	}
	/* a group of version 1 has them */
	buf[0] = 0x08;
	KUNIT_EXPECT_EQ(test, SMC_LLC_OK,
			smc_llc_form_decode(SMC_LLC_FORM_V1, buf, 44, SMC_DIALECT_RFC, &msg));
}

/* protocol.md: three links at most. A reply is not checked for that. */
static void rkey_08_confirm_rkey_names_two_other_links(struct kunit *test)
{
	static const u8 types[] = { 0x06, 0x26 };
	struct smc_llc_msg msg;
	unsigned int i, n;
	u8 buf[44] = {};

	form_set_len(buf, 44);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		buf[0] = types[i];
		for (n = 0; n < 256; n++) {
			buf[3] = 0;
			buf[4] = n;
			KUNIT_ASSERT_EQ_MSG(test, form_decode(buf, 44, &msg),
					    n <= 2 ? SMC_LLC_OK : SMC_LLC_LINK_DOWN,
					    "type %#x, count %u", buf[0], n);
			buf[3] = SMC_LLC_REPLY;
			KUNIT_ASSERT_EQ(test, form_decode(buf, 44, &msg), SMC_LLC_OK);
		}
	}
	memset(&msg, 0, sizeof(msg));
	msg.type = SMC_LLC_CONFIRM_RKEY;
	for (n = 0; n < 4; n++) {
		msg.confirm_rkey.nr_rtokens = n;
		KUNIT_EXPECT_EQ(test, form_encode(&msg, NULL, buf, 44), n <= 2 ? 44 : -EINVAL);
	}
}

static void err_54_noise_is_survived(struct kunit *test)
{
	struct smc_llc_msg msg;
	struct rnd_state rnd;
	u8 *buf = form_room(test);
	u32 i, len;

	prandom_seed_state(&rnd, 44);
	for (i = 0; i < 20000; i++) {
		len = 1 + prandom_u32_state(&rnd) % 400;
		prandom_bytes_state(&rnd, buf, len);
		buf[0] = 0x20 | (buf[0] & 0x0f);
		form_set_len(buf, len);
		form_decode(buf, len, &msg);
	}
}

static struct kunit_case smc_llc_form_cases[] = {
	KUNIT_CASE_PARAM(llc_07_recorded_message_decodes, form_record_gen_params),
	KUNIT_CASE_PARAM(llc_07_recorded_message_encodes_back, form_record_gen_params),
	KUNIT_CASE_PARAM(err_55_every_truncation_is_refused, form_record_gen_params),
	KUNIT_CASE_PARAM(llc_09_either_byte_order_is_read, form_record_gen_params),
	KUNIT_CASE_PARAM(err_54_version_1_does_not_know_it, form_record_gen_params),
	KUNIT_CASE(llc_07_version_1_is_as_ever),
	KUNIT_CASE(llc_13_test_link_is_answered_in_its_form),
	KUNIT_CASE(addl_10_add_link_with_any_number_of_keys),
	KUNIT_CASE(sl_04_add_link_says_whether_the_path_is_direct),
	KUNIT_CASE(err_55_lying_counts_of_keys),
	KUNIT_CASE(addl_10_add_link_request_of_44_bytes_is_refused),
	KUNIT_CASE(addl_06_req_add_link),
	KUNIT_CASE(rkey_16_delete_rkey_with_any_number_of_keys),
	KUNIT_CASE(rkey_18_unknown_keys_are_counted),
	KUNIT_CASE(err_53_unknown_types),
	KUNIT_CASE(err_54_nothing_is_continued),
	KUNIT_CASE(rkey_08_confirm_rkey_names_two_other_links),
	KUNIT_CASE(err_54_noise_is_survived),
	{}
};

static struct kunit_suite smc_llc_form_suite = {
	.name = "smc_llc_v2_wire",
	.test_cases = smc_llc_form_cases,
};

kunit_test_suite(smc_llc_form_suite);
