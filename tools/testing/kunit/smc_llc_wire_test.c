// SPDX-License-Identifier: GPL-2.0
/*
 * LLC codec: messages recorded between deployed hosts, messages laid out by hand after RFC
 * 7609 A.3, all kinds of malformed ones, and noise.
 *
 * A message to decode is always the last thing in its own allocation, so that
 * KASAN sees a read behind it.
 */
#include "smc_kunit.h"
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../../../net/smc/proto/smc_llc_wire.c"
#include "proto/smc_llc_v2.h"

/* The offsets of RFC 7609 Appendix A, and of what deployed peers send. */
SMC_WIRE_AT(smc_llc_hdr_wire, length, 1);
SMC_WIRE_AT(smc_llc_hdr_wire, reason, 2);
SMC_WIRE_AT(smc_llc_hdr_wire, flags, 3);
SMC_WIRE_AT(smc_llc_confirm_link_wire, mac, 4);
SMC_WIRE_AT(smc_llc_confirm_link_wire, gid, 10);
SMC_WIRE_AT(smc_llc_confirm_link_wire, qpn, 26);
SMC_WIRE_AT(smc_llc_confirm_link_wire, link_num, 29);
SMC_WIRE_AT(smc_llc_confirm_link_wire, link_user_id, 30);
SMC_WIRE_AT(smc_llc_confirm_link_wire, max_links, 34);
SMC_WIRE_AT(smc_llc_confirm_link_wire, max_conns, 35);
SMC_WIRE_AT(smc_llc_confirm_link_wire, ext, 36);
SMC_WIRE_AT(smc_llc_confirm_link_wire, ext_mask, 40);
SMC_WIRE_AT(smc_llc_confirm_link_wire, rsvd, 41);
SMC_WIRE_AT(smc_llc_add_link_wire, mac, 4);
SMC_WIRE_AT(smc_llc_add_link_wire, gid, 10);
SMC_WIRE_AT(smc_llc_add_link_wire, qpn, 26);
SMC_WIRE_AT(smc_llc_add_link_wire, link_num, 29);
SMC_WIRE_AT(smc_llc_add_link_wire, mtu, 30);
SMC_WIRE_AT(smc_llc_add_link_wire, psn, 31);
SMC_WIRE_AT(smc_llc_add_link_wire, rsvd, 34);
SMC_WIRE_AT(smc_llc_add_link_deployed_wire, pad, 10);
SMC_WIRE_AT(smc_llc_add_link_deployed_wire, gid, 12);
SMC_WIRE_AT(smc_llc_add_link_deployed_wire, qpn, 28);
SMC_WIRE_AT(smc_llc_add_link_deployed_wire, link_num, 31);
SMC_WIRE_AT(smc_llc_add_link_deployed_wire, mtu, 32);
SMC_WIRE_AT(smc_llc_add_link_deployed_wire, psn, 33);
SMC_WIRE_AT(smc_llc_add_link_deployed_wire, rsvd, 36);
SMC_WIRE_AT(smc_llc_rtoken_pair_wire, rkey, 4);
SMC_WIRE_AT(smc_llc_rtoken_pair_wire, addr, 8);
SMC_WIRE_AT(smc_llc_add_link_cont_wire, link_num, 4);
SMC_WIRE_AT(smc_llc_add_link_cont_wire, nr_rtokens, 5);
SMC_WIRE_AT(smc_llc_add_link_cont_wire, rsvd1, 6);
SMC_WIRE_AT(smc_llc_add_link_cont_wire, pair, 8);
SMC_WIRE_AT(smc_llc_add_link_cont_wire, rsvd2, 40);
SMC_WIRE_AT(smc_llc_add_link_v2_wire, flags, 44);
SMC_WIRE_AT(smc_llc_add_link_v2_wire, gid, 46);
SMC_WIRE_AT(smc_llc_add_link_v2_wire, nr_rtokens, 70);
SMC_WIRE_AT(smc_llc_req_add_link_wire, flags, 3);
SMC_WIRE_AT(smc_llc_req_add_link_wire, nr_gids, 24);
SMC_WIRE_AT(smc_llc_delete_link_wire, link_num, 4);
SMC_WIRE_AT(smc_llc_delete_link_wire, reason, 5);
SMC_WIRE_AT(smc_llc_delete_link_wire, rsvd, 9);
SMC_WIRE_AT(smc_llc_rkey_spec_wire, rkey, 1);
SMC_WIRE_AT(smc_llc_rkey_spec_wire, addr, 5);
SMC_WIRE_AT(smc_llc_confirm_rkey_wire, nr_rtokens, 4);
SMC_WIRE_AT(smc_llc_confirm_rkey_wire, rkey, 5);
SMC_WIRE_AT(smc_llc_confirm_rkey_wire, addr, 9);
SMC_WIRE_AT(smc_llc_confirm_rkey_wire, spec, 17);
SMC_WIRE_AT(smc_llc_confirm_rkey_wire, rsvd, 43);
SMC_WIRE_AT(smc_llc_confirm_rkey_cont_wire, nr_left, 4);
SMC_WIRE_AT(smc_llc_confirm_rkey_cont_wire, spec, 5);
SMC_WIRE_AT(smc_llc_delete_rkey_wire, count, 4);
SMC_WIRE_AT(smc_llc_delete_rkey_wire, error_mask, 5);
SMC_WIRE_AT(smc_llc_delete_rkey_wire, rsvd1, 6);
SMC_WIRE_AT(smc_llc_delete_rkey_wire, rkey, 8);
SMC_WIRE_AT(smc_llc_delete_rkey_wire, rsvd2, 40);
SMC_WIRE_AT(smc_llc_test_link_wire, user_data, 4);
SMC_WIRE_AT(smc_llc_test_link_wire, rsvd, 20);

/* All different LLC messages of two recorded links. */
static const struct llc_record {
	const char *name;
	u8 bytes[SMC_LLC_LEN];
} llc_records[] = {
	{ "link 1 frame 10", {
		0x01, 0x2c, 0x00, 0x03, 0x52, 0x54, 0x00, 0x00, 0x00, 0x01, 0xfe,
		0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x54, 0x00, 0xff,
		0xfe, 0x00, 0x00, 0x01, 0x00, 0x00, 0x11, 0x01, 0x00, 0x00, 0x01,
		0x01, 0x02,
	} },
	{ "link 1 frame 12", {
		0x01, 0x2c, 0x00, 0x83, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02, 0xfe,
		0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x54, 0x00, 0xff,
		0xfe, 0x00, 0x00, 0x02, 0x00, 0x00, 0x11, 0x01, 0x00, 0x00, 0x01,
		0x01, 0x02,
	} },
	{ "link 1 frame 14", {
		0x02, 0x2c, 0x00, 0x00, 0x52, 0x54, 0x00, 0x00, 0x01, 0x01, 0x00,
		0x00, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x54,
		0x00, 0xff, 0xfe, 0x00, 0x01, 0x01, 0x00, 0x00, 0x11, 0x02, 0x05,
		0x66, 0xc1, 0x34,
	} },
	{ "link 1 frame 16", {
		0x02, 0x2c, 0x00, 0x80, 0x52, 0x54, 0x00, 0x00, 0x01, 0x02, 0x00,
		0x00, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x54,
		0x00, 0xff, 0xfe, 0x00, 0x01, 0x02, 0x00, 0x00, 0x11, 0x02, 0x05,
		0x84, 0x62, 0x79,
	} },
	{ "link 1 frame 18", {
		0x03, 0x2c, 0x00, 0x00, 0x02, 0x01, 0x00, 0x00, 0x00, 0x00, 0x03,
		0xd4, 0x00, 0x00, 0x03, 0x43, 0xff, 0x38, 0x88, 0xa6, 0xc3, 0x6f,
	} },
	{ "link 1 frame 20", {
		0x03, 0x2c, 0x00, 0x80, 0x02, 0x01, 0x00, 0x00, 0x00, 0x00, 0x03,
		0x32, 0x00, 0x00, 0x03, 0xce, 0xff, 0x43, 0x85, 0x3b, 0x45, 0xb1,
	} },
	{ "link 1 frame 60", {
		0x09, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
		0xce,
	} },
	{ "link 1 frame 61", {
		0x09, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
		0x5b,
	} },
	{ "link 1 frame 64", {
		0x09, 0x2c, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
		0x5b,
	} },
	{ "link 1 frame 65", {
		0x09, 0x2c, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
		0xce,
	} },
	{ "link 1 frame 78", {
		0x09, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
		0xd4,
	} },
	{ "link 1 frame 80", {
		0x09, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
		0x32,
	} },
	{ "link 1 frame 81", {
		0x09, 0x2c, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
		0xd4,
	} },
	{ "link 1 frame 84", {
		0x09, 0x2c, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
		0x32,
	} },
	{ "link 1 frame 91", {
		0x06, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x04, 0x5b, 0xff, 0x38,
		0x88, 0xa6, 0xc4, 0x5d, 0x00, 0x00, 0x02, 0x00, 0x00, 0x04, 0xbc,
		0xff, 0x38, 0x88, 0xa6, 0xc4, 0x5d,
	} },
	{ "link 1 frame 93", {
		0x06, 0x2c, 0x00, 0x80, 0x01, 0x00, 0x00, 0x04, 0x5b, 0xff, 0x38,
		0x88, 0xa6, 0xc4, 0x5d, 0x00, 0x00, 0x02, 0x00, 0x00, 0x04, 0xbc,
		0xff, 0x38, 0x88, 0xa6, 0xc4, 0x5d,
	} },
	{ "link 1 frame 97", {
		0x06, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x04, 0xce, 0xff, 0x43,
		0x85, 0x3b, 0x45, 0xc2, 0x00, 0x00, 0x02, 0x00, 0x00, 0x04, 0xe2,
		0xff, 0x43, 0x85, 0x3b, 0x45, 0xc2,
	} },
	{ "link 1 frame 99", {
		0x06, 0x2c, 0x00, 0x80, 0x01, 0x00, 0x00, 0x04, 0xce, 0xff, 0x43,
		0x85, 0x3b, 0x45, 0xc2, 0x00, 0x00, 0x02, 0x00, 0x00, 0x04, 0xe2,
		0xff, 0x43, 0x85, 0x3b, 0x45, 0xc2,
	} },
	{ "link 1 frame 196", {
		0x04, 0x2c, 0x00, 0x20, 0x02, 0x00, 0x01,
	} },
	{ "link 1 frame 200", {
		0x04, 0x2c, 0x00, 0xa0, 0x02, 0x00, 0x10,
	} },
	{ "link 1 frame 202", {
		0x02, 0x2c, 0x00, 0x00, 0x52, 0x54, 0x00, 0x00, 0x01, 0x01, 0x00,
		0x00, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x54,
		0x00, 0xff, 0xfe, 0x00, 0x01, 0x01, 0x00, 0x00, 0x12, 0x03, 0x05,
		0x7d, 0x6b, 0xce,
	} },
	{ "link 1 frame 204", {
		0x02, 0x2c, 0x00, 0x80, 0x52, 0x54, 0x00, 0x00, 0x00, 0x02, 0x00,
		0x00, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x54,
		0x00, 0xff, 0xfe, 0x00, 0x00, 0x02, 0x00, 0x00, 0x12, 0x03, 0x05,
		0x9f, 0x24, 0x07,
	} },
	{ "link 1 frame 206", {
		0x03, 0x2c, 0x00, 0x00, 0x03, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04,
		0x5b, 0x00, 0x00, 0x06, 0xbb, 0xff, 0x38, 0x88, 0xa6, 0xc4, 0x5d,
	} },
	{ "link 1 frame 208", {
		0x03, 0x2c, 0x00, 0x80, 0x03, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04,
		0xce, 0x00, 0x00, 0x06, 0xe9, 0xff, 0x43, 0x85, 0x3b, 0x45, 0xc2,
	} },
	{ "link 2 frame 1", {
		0x01, 0x2c, 0x00, 0x03, 0x52, 0x54, 0x00, 0x00, 0x01, 0x01, 0xfe,
		0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x54, 0x00, 0xff,
		0xfe, 0x00, 0x01, 0x01, 0x00, 0x00, 0x11, 0x02, 0x00, 0x00, 0x01,
		0x02, 0x02,
	} },
	{ "link 2 frame 3", {
		0x01, 0x2c, 0x00, 0x83, 0x52, 0x54, 0x00, 0x00, 0x01, 0x02, 0xfe,
		0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x54, 0x00, 0xff,
		0xfe, 0x00, 0x01, 0x02, 0x00, 0x00, 0x11, 0x02, 0x00, 0x00, 0x01,
		0x02, 0x02,
	} },
	{ "link 2 frame 5", {
		0x06, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x04, 0xbc, 0xff, 0x38,
		0x88, 0xa6, 0xc4, 0x5d, 0x00, 0x00, 0x01, 0x00, 0x00, 0x04, 0x5b,
		0xff, 0x38, 0x88, 0xa6, 0xc4, 0x5d,
	} },
	{ "link 2 frame 7", {
		0x06, 0x2c, 0x00, 0x80, 0x01, 0x00, 0x00, 0x04, 0xbc, 0xff, 0x38,
		0x88, 0xa6, 0xc4, 0x5d, 0x00, 0x00, 0x01, 0x00, 0x00, 0x04, 0x5b,
		0xff, 0x38, 0x88, 0xa6, 0xc4, 0x5d,
	} },
	{ "link 2 frame 9", {
		0x06, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x04, 0xe2, 0xff, 0x43,
		0x85, 0x3b, 0x45, 0xc2, 0x00, 0x00, 0x01, 0x00, 0x00, 0x04, 0xce,
		0xff, 0x43, 0x85, 0x3b, 0x45, 0xc2,
	} },
	{ "link 2 frame 11", {
		0x06, 0x2c, 0x00, 0x80, 0x01, 0x00, 0x00, 0x04, 0xe2, 0xff, 0x43,
		0x85, 0x3b, 0x45, 0xc2, 0x00, 0x00, 0x01, 0x00, 0x00, 0x04, 0xce,
		0xff, 0x43, 0x85, 0x3b, 0x45, 0xc2,
	} },
};

static const u8 mac_a[] = { 0x02, 0x11, 0x22, 0x33, 0x44, 0x55 };
static const u8 gid_a[] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x00, 0x11, 0x22, 0xff,
			    0xfe, 0x33, 0x44, 0x55 };

static const u8 *copy_of(struct kunit *test, const u8 *bytes)
{
	u8 *buf = kunit_kzalloc(test, SMC_LLC_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf, bytes, SMC_LLC_LEN);
	return buf;
}

static void decode(struct kunit *test, const u8 *bytes, enum smc_dialect dialect,
		   struct smc_llc_msg *msg)
{
	memset(msg, 0xa5, sizeof(*msg));
	KUNIT_ASSERT_EQ(test, smc_llc_decode(copy_of(test, bytes), SMC_LLC_LEN, dialect, msg),
			SMC_LLC_OK);
}

static void expect_bytes(struct kunit *test, const struct smc_llc_msg *msg,
			 enum smc_dialect dialect, const u8 *bytes)
{
	u8 buf[SMC_LLC_LEN];

	memset(buf, 0xa5, sizeof(buf));
	KUNIT_ASSERT_EQ(test, smc_llc_encode(msg, dialect, buf, sizeof(buf)), SMC_LLC_LEN);
	KUNIT_EXPECT_MEMEQ(test, buf, copy_of(test, bytes), SMC_LLC_LEN);
}

static enum smc_llc_verdict verdict_of(struct kunit *test, u8 type, u8 length)
{
	u8 *buf = kunit_kzalloc(test, SMC_LLC_LEN, GFP_KERNEL);
	struct smc_llc_msg msg;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	buf[0] = type;
	buf[1] = length;
	/* The one type that is invalid without a count. */
	if (type == SMC_LLC_DELETE_RKEY)
		buf[4] = 1;
	return smc_llc_decode(buf, SMC_LLC_LEN, SMC_DIALECT_DEPLOYED, &msg);
}

static void records_round_trip_llc_01_llc_02(struct kunit *test)
{
	const struct llc_record *rec = test->param_value;
	struct smc_llc_msg msg;

	decode(test, rec->bytes, SMC_DIALECT_DEPLOYED, &msg);
	expect_bytes(test, &msg, SMC_DIALECT_DEPLOYED, rec->bytes);
}

static void record_name(const struct llc_record *rec, char *desc)
{
	strscpy(desc, rec->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(record, llc_records, record_name);

static void record_confirm_link_maxl_03_lid_02(struct kunit *test)
{
	static const u8 mac[] = { 0x52, 0x54, 0, 0, 0, 1 };
	static const u8 gid[] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0,
				  0x50, 0x54, 0, 0xff, 0xfe, 0, 0, 1 };
	struct smc_llc_msg msg;

	decode(test, llc_records[0].bytes, SMC_DIALECT_DEPLOYED, &msg);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_LLC_CONFIRM_LINK);
	KUNIT_EXPECT_FALSE(test, msg.is_reply);
	KUNIT_EXPECT_MEMEQ(test, msg.confirm_link.end.mac, mac, sizeof(mac));
	KUNIT_EXPECT_MEMEQ(test, msg.confirm_link.end.gid, gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, msg.confirm_link.end.qpn, 0x11);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.link_num, 1);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.link_uid, 0x00000101);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.max_links, 2);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.max_conns, 0);
	KUNIT_EXPECT_TRUE(test, msg.confirm_link.no_eye_catcher);
}

static void record_add_link_addl_17(struct kunit *test)
{
	static const u8 mac[] = { 0x52, 0x54, 0, 0, 1, 1 };
	static const u8 gid[] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0,
				  0x50, 0x54, 0, 0xff, 0xfe, 0, 1, 1 };
	struct smc_llc_msg msg;

	decode(test, llc_records[2].bytes, SMC_DIALECT_DEPLOYED, &msg);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_LLC_ADD_LINK);
	KUNIT_EXPECT_MEMEQ(test, msg.add_link.end.mac, mac, sizeof(mac));
	KUNIT_EXPECT_MEMEQ(test, msg.add_link.end.gid, gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, msg.add_link.end.qpn, 0x11);
	KUNIT_EXPECT_EQ(test, msg.add_link.link_num, 2);
	KUNIT_EXPECT_EQ(test, msg.add_link.end.mtu, SMC_MTU_4096);
	KUNIT_EXPECT_EQ(test, msg.add_link.end.psn, 0x66c134);
	KUNIT_EXPECT_FALSE(test, msg.add_link.is_rejected);
}

static void record_add_link_cont_rkey_20_addl_13(struct kunit *test)
{
	struct smc_llc_msg msg;

	decode(test, llc_records[5].bytes, SMC_DIALECT_DEPLOYED, &msg);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_LLC_ADD_LINK_CONT);
	KUNIT_EXPECT_TRUE(test, msg.is_reply);
	KUNIT_EXPECT_EQ(test, msg.add_link_cont.link_num, 2);
	KUNIT_EXPECT_EQ(test, msg.add_link_cont.nr_rtokens, 1);
	KUNIT_EXPECT_EQ(test, msg.add_link_cont.pair[0].ref_rkey, 0x332);
	KUNIT_EXPECT_EQ(test, msg.add_link_cont.pair[0].rkey, 0x3ce);
	KUNIT_EXPECT_EQ(test, msg.add_link_cont.pair[0].vaddr, 0xff43853b45b10000ULL);
	KUNIT_EXPECT_EQ(test, msg.add_link_cont.pair[1].rkey, 0);
}

static const u8 confirm_rkey_2_links[SMC_LLC_LEN] = {
	0x06, 0x2c, 0x00, 0x00, 0x01, 0x00, 0x00, 0x04, 0x5b, 0xff, 0x38,
	0x88, 0xa6, 0xc4, 0x5d, 0x00, 0x00, 0x02, 0x00, 0x00, 0x04, 0xbc,
	0xff, 0x38, 0x88, 0xa6, 0xc4, 0x5d,
};

static void record_confirm_rkey_rkey_06(struct kunit *test)
{
	struct smc_llc_msg msg;

	decode(test, confirm_rkey_2_links, SMC_DIALECT_DEPLOYED, &msg);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_LLC_CONFIRM_RKEY);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.nr_rtokens, 1);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.here.rkey, 0x45b);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.here.vaddr, 0xff3888a6c45d0000ULL);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.other[0].link_num, 2);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.other[0].rkey, 0x4bc);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.other[0].vaddr, 0xff3888a6c45d0000ULL);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.other[1].link_num, 0);
}

static void record_delete_rkey_rkey_16(struct kunit *test)
{
	static const u8 bytes[SMC_LLC_LEN] = {
		0x09, 0x2c, 0x00, 0x00,
		0x01, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x04, 0xce,
	};
	struct smc_llc_msg msg;

	decode(test, bytes, SMC_DIALECT_DEPLOYED, &msg);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_LLC_DELETE_RKEY);
	KUNIT_EXPECT_EQ(test, msg.delete_rkey.count, 1);
	KUNIT_EXPECT_EQ(test, msg.delete_rkey.rkey[0], 0x4ce);
	KUNIT_EXPECT_FALSE(test, msg.delete_rkey.is_negative);
}

static void record_delete_link_dell_12(struct kunit *test)
{
	static const u8 bytes[SMC_LLC_LEN] = {
		0x04, 0x2c, 0x00, 0xa0,
		0x02,
		0x00, 0x10,
	};
	struct smc_llc_msg msg;

	decode(test, bytes, SMC_DIALECT_DEPLOYED, &msg);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_LLC_DELETE_LINK);
	KUNIT_EXPECT_TRUE(test, msg.is_reply);
	KUNIT_EXPECT_TRUE(test, msg.delete_link.is_orderly);
	KUNIT_EXPECT_FALSE(test, msg.delete_link.is_all);
	KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 2);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_UNKNOWN_LINK);
}

/* The layout of the RFC, written out by hand from A.3. */
static void rfc_confirm_link_maxl_05(struct kunit *test)
{
	static const u8 bytes[SMC_LLC_LEN] = {
		0x01, 0x2c, 0x00, 0x80,
		0x02, 0x11, 0x22, 0x33, 0x44, 0x55,
		0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11, 0x22,
		0xff, 0xfe, 0x33, 0x44, 0x55,
		0xab, 0xcd, 0xef,
		0x07,
		0x01, 0x02, 0x03, 0x04,
	};
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_LINK, .is_reply = true };
	struct smc_llc_msg back;

	memcpy(msg.confirm_link.end.mac, mac_a, sizeof(mac_a));
	memcpy(msg.confirm_link.end.gid, gid_a, sizeof(gid_a));
	msg.confirm_link.end.qpn = 0xabcdef;
	msg.confirm_link.link_num = 7;
	msg.confirm_link.link_uid = 0x01020304;
	expect_bytes(test, &msg, SMC_DIALECT_RFC, bytes);
	decode(test, bytes, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_MEMEQ(test, &back.confirm_link, &msg.confirm_link, sizeof(msg.confirm_link));
}

/* Our extensions. A copy of the request is no reply, and unknown bits are ignored. */
static void extensions_in_confirm_link(struct kunit *test)
{
	static const u8 offer[] = { 0x5a, 0xe2, 0x93, 0xc7, 0x03, 0, 0, 0 };
	static const u8 agreed[] = { 0xa5, 0x1d, 0x6c, 0x38, 0x03, 0, 0, 0 };
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_LINK }, back;
	u8 bytes[SMC_LLC_LEN];

	msg.confirm_link.ext = SMC_LLC_EXT_ALL;
	smc_llc_encode(&msg, SMC_DIALECT_RFC, bytes, sizeof(bytes));
	KUNIT_EXPECT_MEMEQ(test, bytes + 36, offer, sizeof(offer));
	decode(test, bytes, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_EQ(test, back.confirm_link.ext, SMC_LLC_EXT_ALL);
	bytes[3] |= SMC_LLC_REPLY;
	decode(test, bytes, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_EQ(test, back.confirm_link.ext, 0);

	msg.is_reply = true;
	smc_llc_encode(&msg, SMC_DIALECT_RFC, bytes, sizeof(bytes));
	KUNIT_EXPECT_MEMEQ(test, bytes + 36, agreed, sizeof(agreed));
	bytes[40] = 0xff;
	decode(test, bytes, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_EQ(test, back.confirm_link.ext, SMC_LLC_EXT_ALL);
	bytes[40] = 0xfe;
	decode(test, bytes, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_EQ(test, back.confirm_link.ext, SMC_LLC_EXT_LANDING);
	bytes[40] = 0x01;
	bytes[39] ^= 1;
	decode(test, bytes, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_EQ(test, back.confirm_link.ext, 0);
}

static void fill_add_link(struct smc_llc_msg *msg)
{
	memset(msg, 0, sizeof(*msg));
	msg->type = SMC_LLC_ADD_LINK;
	memcpy(msg->add_link.end.mac, mac_a, sizeof(mac_a));
	memcpy(msg->add_link.end.gid, gid_a, sizeof(gid_a));
	msg->add_link.end.qpn = 0x010203;
	msg->add_link.end.mtu = SMC_MTU_1024;
	msg->add_link.end.psn = 0xfedcba;
	msg->add_link.link_num = 9;
}

/* One message in two layouts: only the dialect tells which one it is. */
static void add_link_both_dialects(struct kunit *test)
{
	static const u8 rfc[SMC_LLC_LEN] = {
		0x02, 0x2c, 0x00, 0x00,
		0x02, 0x11, 0x22, 0x33, 0x44, 0x55,
		0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11, 0x22,
		0xff, 0xfe, 0x33, 0x44, 0x55,
		0x01, 0x02, 0x03,
		0x09,
		0x03,
		0xfe, 0xdc, 0xba,
	};
	static const u8 deployed[SMC_LLC_LEN] = {
		0x02, 0x2c, 0x00, 0x00,
		0x02, 0x11, 0x22, 0x33, 0x44, 0x55,
		0x00, 0x00,
		0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11, 0x22,
		0xff, 0xfe, 0x33, 0x44, 0x55,
		0x01, 0x02, 0x03,
		0x09,
		0x03,
		0xfe, 0xdc, 0xba,
	};
	struct smc_llc_msg msg, back;

	fill_add_link(&msg);
	expect_bytes(test, &msg, SMC_DIALECT_RFC, rfc);
	expect_bytes(test, &msg, SMC_DIALECT_DEPLOYED, deployed);
	decode(test, rfc, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_MEMEQ(test, &back.add_link, &msg.add_link, sizeof(msg.add_link));
	decode(test, deployed, SMC_DIALECT_DEPLOYED, &back);
	KUNIT_EXPECT_MEMEQ(test, &back.add_link, &msg.add_link, sizeof(msg.add_link));
	decode(test, deployed, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_NE(test, back.add_link.link_num, 9);
}

static void add_link_reject_sl_11(struct kunit *test)
{
	static const u8 bytes[SMC_LLC_LEN] = {
		0x02, 0x2c, 0x02, 0xc0,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00,
		0x09,
	};
	struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK, .is_reply = true };
	struct smc_llc_msg back;

	msg.add_link.link_num = 9;
	msg.add_link.is_rejected = true;
	msg.add_link.reason = SMC_LLC_ADD_LINK_BAD_MTU;
	expect_bytes(test, &msg, SMC_DIALECT_DEPLOYED, bytes);
	decode(test, bytes, SMC_DIALECT_DEPLOYED, &back);
	KUNIT_EXPECT_TRUE(test, back.add_link.is_rejected);
	KUNIT_EXPECT_EQ(test, back.add_link.reason, SMC_LLC_ADD_LINK_BAD_MTU);
}

/* Z on a request has no meaning, and neither has the reason without Z. */
static void add_link_z_on_request_is_ignored(struct kunit *test)
{
	static const u8 bytes[SMC_LLC_LEN] = {
		0x02, 0x2c, 0x02, 0x40,
		0x02, 0x11, 0x22, 0x33, 0x44, 0x55,
		0x00, 0x00,
		0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11, 0x22,
		0xff, 0xfe, 0x33, 0x44, 0x55,
		0x01, 0x02, 0x03,
		0x09,
		0x03,
		0xfe, 0xdc, 0xba,
	};
	struct smc_llc_msg msg;

	decode(test, bytes, SMC_DIALECT_DEPLOYED, &msg);
	KUNIT_EXPECT_FALSE(test, msg.add_link.is_rejected);
	KUNIT_EXPECT_EQ(test, msg.add_link.reason, 0);
	KUNIT_EXPECT_EQ(test, msg.add_link.link_num, 9);
}

static void add_link_cont_count_addl_13(struct kunit *test)
{
	static const u8 counts[] = { 0, 1, 2, 3, 4, 255 };
	struct smc_llc_msg msg, back;
	u8 buf[SMC_LLC_LEN];
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		memset(&msg, 0, sizeof(msg));
		msg.type = SMC_LLC_ADD_LINK_CONT;
		msg.add_link_cont.nr_rtokens = counts[i];
		for (n = 0; n < SMC_LLC_CONT_PAIRS; n++)
			msg.add_link_cont.pair[n].rkey = 0x100 + n;
		KUNIT_ASSERT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)),
				SMC_LLC_LEN);
		KUNIT_EXPECT_EQ(test, buf[5], counts[i]);
		KUNIT_ASSERT_EQ(test, smc_llc_decode(buf, sizeof(buf), SMC_DIALECT_RFC, &back),
				SMC_LLC_OK);
		KUNIT_EXPECT_EQ(test, back.add_link_cont.nr_rtokens, counts[i]);
		/* Pairs beyond the count are zero on the wire. */
		buf[5] = SMC_LLC_CONT_PAIRS;
		KUNIT_ASSERT_EQ(test, smc_llc_decode(buf, sizeof(buf), SMC_DIALECT_RFC, &back),
				SMC_LLC_OK);
		KUNIT_EXPECT_EQ(test, back.add_link_cont.pair[0].rkey, counts[i] > 0 ? 0x100 : 0);
		KUNIT_EXPECT_EQ(test, back.add_link_cont.pair[1].rkey, counts[i] > 1 ? 0x101 : 0);
	}
}

static void delete_link_all_dell_13_dell_14(struct kunit *test)
{
	static const u8 bytes[SMC_LLC_LEN] = {
		0x04, 0x2c, 0x00, 0x60,
		0x00,
		0x00, 0x03,
	};
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_LINK };
	struct smc_llc_msg back;

	msg.delete_link.is_all = true;
	msg.delete_link.is_orderly = true;
	msg.delete_link.reason = SMC_LLC_DELETE_PROGRAM;
	/* Other fields are not sent. */
	msg.delete_link.link_num = 5;
	expect_bytes(test, &msg, SMC_DIALECT_RFC, bytes);
	decode(test, bytes, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_TRUE(test, back.delete_link.is_all);
	KUNIT_EXPECT_EQ(test, back.delete_link.link_num, 0);
}

static void delete_link_reasons_dell_12(struct kunit *test)
{
	static const u32 reasons[] = {
		0x00010000, 0x00020000, 0x00030000, 0x00040000, 0x00050000, 0x00100000,
		0xdeadbeef,
	};
	struct smc_llc_msg msg, back;
	u8 buf[SMC_LLC_LEN];
	unsigned int i;

	KUNIT_EXPECT_EQ(test, SMC_LLC_DELETE_LOST_PATH, reasons[0]);
	KUNIT_EXPECT_EQ(test, SMC_LLC_DELETE_OPERATOR, reasons[1]);
	KUNIT_EXPECT_EQ(test, SMC_LLC_DELETE_PROGRAM, reasons[2]);
	KUNIT_EXPECT_EQ(test, SMC_LLC_DELETE_PROTOCOL, reasons[3]);
	KUNIT_EXPECT_EQ(test, SMC_LLC_DELETE_ASYMMETRIC, reasons[4]);
	KUNIT_EXPECT_EQ(test, SMC_LLC_DELETE_UNKNOWN_LINK, reasons[5]);
	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		memset(&msg, 0, sizeof(msg));
		msg.type = SMC_LLC_DELETE_LINK;
		msg.delete_link.reason = reasons[i];
		KUNIT_ASSERT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)),
				SMC_LLC_LEN);
		KUNIT_ASSERT_EQ(test, smc_llc_decode(buf, sizeof(buf), SMC_DIALECT_RFC, &back),
				SMC_LLC_OK);
		KUNIT_EXPECT_EQ(test, back.delete_link.reason, reasons[i]);
	}
}

/* Up to three links fit; more need a continuation, AMB-01. */
static void confirm_rkey_tokens_rkey_08(struct kunit *test)
{
	struct smc_llc_msg msg, back;
	u8 buf[SMC_LLC_LEN];
	u8 nr, i;

	for (nr = 0; nr <= 8; nr++) {
		memset(&msg, 0, sizeof(msg));
		msg.type = SMC_LLC_CONFIRM_RKEY;
		msg.confirm_rkey.nr_rtokens = nr;
		msg.confirm_rkey.here.rkey = 0x1000;
		for (i = 0; i < SMC_LLC_RKEY_SPECS; i++) {
			msg.confirm_rkey.other[i].link_num = 2 + i;
			msg.confirm_rkey.other[i].rkey = 0x2000 + i;
			msg.confirm_rkey.other[i].vaddr = 0x3000 + i;
		}
		KUNIT_ASSERT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)),
				SMC_LLC_LEN);
		KUNIT_EXPECT_EQ(test, buf[4], nr);
		KUNIT_EXPECT_EQ(test, buf[17], nr > 0 ? 2 : 0);
		KUNIT_EXPECT_EQ(test, buf[30], nr > 1 ? 3 : 0);
		KUNIT_ASSERT_EQ(test, smc_llc_decode(buf, sizeof(buf), SMC_DIALECT_RFC, &back),
				SMC_LLC_OK);
		KUNIT_EXPECT_EQ(test, back.confirm_rkey.nr_rtokens, nr);
		KUNIT_EXPECT_EQ(test, back.confirm_rkey.other[1].rkey, nr > 1 ? 0x2001 : 0);
	}
}

static void confirm_rkey_flags_rkey_12_rkey_13(struct kunit *test)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_RKEY, .is_reply = true };
	struct smc_llc_msg back;
	u8 buf[SMC_LLC_LEN];

	msg.confirm_rkey.is_negative = true;
	KUNIT_ASSERT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)),
			SMC_LLC_LEN);
	KUNIT_EXPECT_EQ(test, buf[3], 0xa0);
	msg.confirm_rkey.may_retry = true;
	KUNIT_ASSERT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)),
			SMC_LLC_LEN);
	KUNIT_EXPECT_EQ(test, buf[3], 0xb0);
	KUNIT_ASSERT_EQ(test, smc_llc_decode(buf, sizeof(buf), SMC_DIALECT_RFC, &back),
			SMC_LLC_OK);
	KUNIT_EXPECT_TRUE(test, back.confirm_rkey.is_negative);
	KUNIT_EXPECT_TRUE(test, back.confirm_rkey.may_retry);
	/* The same bits on a request have no meaning. */
	buf[3] = 0x30;
	KUNIT_ASSERT_EQ(test, smc_llc_decode(buf, sizeof(buf), SMC_DIALECT_RFC, &back),
			SMC_LLC_OK);
	KUNIT_EXPECT_FALSE(test, back.confirm_rkey.is_negative);
	KUNIT_EXPECT_FALSE(test, back.confirm_rkey.may_retry);
}

/* Eight other links: two in CONFIRM RKEY, then 6 and 3 left; AMB-02. */
static void confirm_rkey_cont_rkey_09(struct kunit *test)
{
	static const u8 bytes[SMC_LLC_LEN] = {
		0x08, 0x2c, 0x00, 0x00,
		0x06,
		0x04,
		0x00, 0x00, 0x01, 0x04,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x04,
		0x05,
		0x00, 0x00, 0x01, 0x05,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x05,
		0x06,
		0x00, 0x00, 0x01, 0x06,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x06,
	};
	static const u8 last[SMC_LLC_LEN] = {
		0x08, 0x2c, 0x00, 0x00,
		0x01,
		0x04, 0x00, 0x00, 0x01, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x10, 0x04,
	};
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_RKEY_CONT };
	u8 i, buf[2 * SMC_LLC_LEN];
	struct smc_llc_msg back;

	msg.confirm_rkey_cont.nr_left = 6;
	for (i = 0; i < SMC_LLC_RKEY_CONT_SPECS; i++) {
		msg.confirm_rkey_cont.other[i].link_num = 4 + i;
		msg.confirm_rkey_cont.other[i].rkey = 0x104 + i;
		msg.confirm_rkey_cont.other[i].vaddr = 0x1004 + i;
	}
	expect_bytes(test, &msg, SMC_DIALECT_RFC, bytes);
	memset(buf, 0xa5, sizeof(buf));
	KUNIT_ASSERT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)), SMC_LLC_LEN);
	KUNIT_EXPECT_EQ(test, buf[SMC_LLC_LEN], 0xa5);
	decode(test, bytes, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_MEMEQ(test, &back.confirm_rkey_cont, &msg.confirm_rkey_cont,
			   sizeof(msg.confirm_rkey_cont));
	/* The last message may be partly filled. */
	msg.confirm_rkey_cont.nr_left = 1;
	expect_bytes(test, &msg, SMC_DIALECT_RFC, last);
}

/* 01010000b: the second and the fourth key are not known. */
static void delete_rkey_mask_rkey_18(struct kunit *test)
{
	static const u8 bytes[SMC_LLC_LEN] = {
		0x09, 0x2c, 0x00, 0xa0,
		0x04,
		0x50,
		0x00, 0x00,
		0x00, 0x00, 0x00, 0x01,
		0x00, 0x00, 0x00, 0x02,
		0x00, 0x00, 0x00, 0x03,
		0x00, 0x00, 0x00, 0x04,
	};
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_RKEY, .is_reply = true };
	struct smc_llc_msg back;
	u8 i;

	msg.delete_rkey.is_negative = true;
	msg.delete_rkey.count = 4;
	msg.delete_rkey.error_mask = 0x50;
	for (i = 0; i < 4; i++)
		msg.delete_rkey.rkey[i] = 1 + i;
	expect_bytes(test, &msg, SMC_DIALECT_RFC, bytes);
	decode(test, bytes, SMC_DIALECT_RFC, &back);
	KUNIT_EXPECT_MEMEQ(test, &back.delete_rkey, &msg.delete_rkey, sizeof(msg.delete_rkey));
}

static void delete_rkey_count_rkey_16(struct kunit *test)
{
	struct smc_llc_msg msg, back;
	u8 buf[SMC_LLC_LEN];
	unsigned int n;

	for (n = 0; n < 256; n++) {
		memset(buf, 0, sizeof(buf));
		buf[0] = SMC_LLC_DELETE_RKEY;
		buf[1] = SMC_LLC_LEN;
		buf[4] = n;
		KUNIT_EXPECT_EQ_MSG(test, smc_llc_decode(buf, sizeof(buf), SMC_DIALECT_RFC, &back),
				    n >= 1 && n <= 8 ? SMC_LLC_OK : SMC_LLC_LINK_DOWN,
				    "count %u", n);
		memset(&msg, 0, sizeof(msg));
		msg.type = SMC_LLC_DELETE_RKEY;
		msg.delete_rkey.count = n;
		KUNIT_EXPECT_EQ_MSG(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)),
				    n >= 1 && n <= 8 ? SMC_LLC_LEN : -EINVAL, "count %u", n);
	}
}

static bool answer_test_link(const u8 *buf, u32 len, u8 *reply)
{
	return smc_llc_form_answer_test_link(SMC_LLC_FORM_V1, buf, len, reply);
}

static void test_link_llc_13(struct kunit *test)
{
	static const u8 bytes[SMC_LLC_LEN] = {
		0x07, 0x2c, 0x00, 0x00,
		0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
		0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
	};
	static const u8 answer[SMC_LLC_LEN] = {
		0x07, 0x2c, 0x00, 0x80,
		0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
		0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
	};
	struct smc_llc_msg msg;
	u8 reply[SMC_LLC_LEN];
	u8 i;

	decode(test, bytes, SMC_DIALECT_RFC, &msg);
	for (i = 0; i < SMC_LLC_USER_DATA_LEN; i++)
		KUNIT_EXPECT_EQ(test, msg.test_link.user_data[i], i);
	KUNIT_ASSERT_TRUE(test, answer_test_link(copy_of(test, bytes), SMC_LLC_LEN, reply));
	KUNIT_EXPECT_MEMEQ(test, reply, answer, SMC_LLC_LEN);
}

/* The answer depends on the request only: no exchange can delay it. */
static void test_link_needs_no_state_ser_06_ser_11_ser_16(struct kunit *test)
{
	u8 buf[SMC_LLC_LEN] = { SMC_LLC_TEST_LINK, SMC_LLC_LEN };
	u8 reply[SMC_LLC_LEN];
	unsigned int type;

	KUNIT_EXPECT_TRUE(test, answer_test_link(buf, sizeof(buf), reply));
	/* Replies, short messages and other types are not answered here. */
	buf[3] = SMC_LLC_REPLY;
	KUNIT_EXPECT_FALSE(test, answer_test_link(buf, sizeof(buf), reply));
	buf[3] = 0;
	KUNIT_EXPECT_FALSE(test, answer_test_link(buf, sizeof(buf) - 1, reply));
	buf[1] = SMC_LLC_LEN - 1;
	KUNIT_EXPECT_FALSE(test, answer_test_link(buf, sizeof(buf), reply));
	buf[1] = SMC_LLC_LEN;
	for (type = 0; type < 256; type++) {
		buf[0] = type;
		KUNIT_EXPECT_EQ(test, answer_test_link(buf, sizeof(buf), reply),
				type == SMC_LLC_TEST_LINK);
	}
}

/* Every possible type, AMB-48. */
static void types_llc_07_llc_08_llc_09_llc_11_err_53_err_55(struct kunit *test)
{
	enum smc_llc_verdict want;
	unsigned int type;

	for (type = 0; type < 256; type++) {
		if ((type >= 1 && type <= 4) || (type >= 6 && type <= 9))
			want = SMC_LLC_OK;
		else if ((type & 0xc0) == 0x80)
			want = SMC_LLC_IGNORE;
		else
			want = SMC_LLC_LINK_DOWN;
		KUNIT_EXPECT_EQ_MSG(test, verdict_of(test, type, SMC_LLC_LEN), want,
				    "type %#x", type);
	}
}

/* The caller handles CDC; here it would be no LLC message. */
static void cdc_is_no_llc_llc_10(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, verdict_of(test, SMC_CDC_TYPE, SMC_LLC_LEN), SMC_LLC_LINK_DOWN);
}

static void length_byte_err_54(struct kunit *test)
{
	unsigned int length;

	for (length = 0; length < 256; length++)
		KUNIT_EXPECT_EQ_MSG(test, verdict_of(test, SMC_LLC_TEST_LINK, length),
				    length == SMC_LLC_LEN ? SMC_LLC_OK : SMC_LLC_LINK_DOWN,
				    "length %u", length);
}

static void truncations_err_54(struct kunit *test)
{
	const struct llc_record *rec = test->param_value;
	const u8 *whole = copy_of(test, rec->bytes);
	struct smc_llc_msg msg;
	unsigned int len;
	u8 *buf;

	for (len = 1; len < SMC_LLC_LEN; len++) {
		buf = kmemdup(whole, len, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		KUNIT_EXPECT_EQ_MSG(test, smc_llc_decode(buf, len, SMC_DIALECT_DEPLOYED, &msg),
				    SMC_LLC_LINK_DOWN, "%u bytes", len);
		kfree(buf);
	}
	KUNIT_EXPECT_EQ(test, smc_llc_decode(whole, 0, SMC_DIALECT_DEPLOYED, &msg),
			SMC_LLC_LINK_DOWN);
	KUNIT_EXPECT_EQ(test, smc_llc_decode(whole, SMC_LLC_LEN + 1, SMC_DIALECT_DEPLOYED, &msg),
			SMC_LLC_LINK_DOWN);
}

/* An optional message may have any length. */
static void short_optional_message_is_ignored_llc_09(struct kunit *test)
{
	struct smc_llc_msg msg;
	u8 *buf = kunit_kzalloc(test, 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	*buf = 0xbf;
	KUNIT_EXPECT_EQ(test, smc_llc_decode(buf, 1, SMC_DIALECT_RFC, &msg), SMC_LLC_IGNORE);
}

/* Reserved bits and bytes are ignored. */
static void reserved_is_ignored(struct kunit *test)
{
	struct smc_llc_msg clean, dirty;
	u8 buf[SMC_LLC_LEN];

	memset(&clean, 0, sizeof(clean));
	clean.type = SMC_LLC_TEST_LINK;
	KUNIT_ASSERT_EQ(test, smc_llc_encode(&clean, SMC_DIALECT_RFC, buf, sizeof(buf)),
			SMC_LLC_LEN);
	buf[2] = 0xff;
	buf[3] |= 0x7f;
	memset(buf + 20, 0xff, 24);
	KUNIT_ASSERT_EQ(test, smc_llc_decode(buf, sizeof(buf), SMC_DIALECT_RFC, &dirty),
			SMC_LLC_OK);
	KUNIT_EXPECT_MEMEQ(test, &dirty, &clean, sizeof(clean));
}

static void encode_refuses(struct kunit *test)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_TEST_LINK };
	u8 buf[SMC_LLC_LEN];
	unsigned int type;

	KUNIT_EXPECT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, SMC_LLC_LEN - 1),
			-EMSGSIZE);
	for (type = 0; type < 256; type++) {
		if ((type >= 1 && type <= 4) || (type >= 6 && type <= 9))
			continue;
		msg.type = type;
		KUNIT_EXPECT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)),
				-EINVAL);
	}
	fill_add_link(&msg);
	msg.add_link.is_rejected = true;
	KUNIT_EXPECT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)), -EINVAL);
	memset(&msg, 0, sizeof(msg));
	msg.type = SMC_LLC_CONFIRM_RKEY;
	msg.confirm_rkey.may_retry = true;
	KUNIT_EXPECT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)), -EINVAL);
	msg.confirm_rkey.may_retry = false;
	msg.confirm_rkey.is_negative = true;
	KUNIT_EXPECT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)), -EINVAL);
	memset(&msg, 0, sizeof(msg));
	msg.type = SMC_LLC_DELETE_RKEY;
	msg.delete_rkey.count = 1;
	msg.delete_rkey.error_mask = 0x80;
	KUNIT_EXPECT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)), -EINVAL);
	msg.delete_rkey.error_mask = 0;
	msg.delete_rkey.is_negative = true;
	KUNIT_EXPECT_EQ(test, smc_llc_encode(&msg, SMC_DIALECT_RFC, buf, sizeof(buf)), -EINVAL);
}

/*
 * Noise: any message that decodes gives the same result after another encoding and decoding.
 */
static void noise_is_stable(struct kunit *test)
{
	struct smc_llc_msg once, twice;
	struct rnd_state rnd;
	u8 buf[SMC_LLC_LEN];
	unsigned int i, ok = 0;
	enum smc_dialect dialect;

	prandom_seed_state(&rnd, 7609);
	for (i = 0; i < 20000; i++) {
		prandom_bytes_state(&rnd, buf, sizeof(buf));
		buf[0] &= 0x0f;
		buf[1] = SMC_LLC_LEN;
		if (i & 1)
			buf[4] &= 0x07;
		dialect = i & 2 ? SMC_DIALECT_RFC : SMC_DIALECT_DEPLOYED;
		if (smc_llc_decode(buf, sizeof(buf), dialect, &once) != SMC_LLC_OK)
			continue;
		ok++;
		KUNIT_ASSERT_EQ(test, smc_llc_encode(&once, dialect, buf, sizeof(buf)),
				SMC_LLC_LEN);
		KUNIT_ASSERT_EQ(test, smc_llc_decode(buf, sizeof(buf), dialect, &twice),
				SMC_LLC_OK);
		KUNIT_ASSERT_MEMEQ(test, &once, &twice, sizeof(once));
	}
	KUNIT_EXPECT_GT(test, ok, 5000);
}

static struct kunit_case llc_wire_cases[] = {
	KUNIT_CASE_PARAM(records_round_trip_llc_01_llc_02, record_gen_params),
	KUNIT_CASE(record_confirm_link_maxl_03_lid_02),
	KUNIT_CASE(record_add_link_addl_17),
	KUNIT_CASE(record_add_link_cont_rkey_20_addl_13),
	KUNIT_CASE(record_delete_link_dell_12),
	KUNIT_CASE(record_confirm_rkey_rkey_06),
	KUNIT_CASE(record_delete_rkey_rkey_16),
	KUNIT_CASE(rfc_confirm_link_maxl_05),
	KUNIT_CASE(extensions_in_confirm_link),
	KUNIT_CASE(add_link_both_dialects),
	KUNIT_CASE(add_link_reject_sl_11),
	KUNIT_CASE(add_link_z_on_request_is_ignored),
	KUNIT_CASE(add_link_cont_count_addl_13),
	KUNIT_CASE(delete_link_all_dell_13_dell_14),
	KUNIT_CASE(delete_link_reasons_dell_12),
	KUNIT_CASE(confirm_rkey_tokens_rkey_08),
	KUNIT_CASE(confirm_rkey_flags_rkey_12_rkey_13),
	KUNIT_CASE(confirm_rkey_cont_rkey_09),
	KUNIT_CASE(delete_rkey_mask_rkey_18),
	KUNIT_CASE(delete_rkey_count_rkey_16),
	KUNIT_CASE(test_link_llc_13),
	KUNIT_CASE(test_link_needs_no_state_ser_06_ser_11_ser_16),
	KUNIT_CASE(types_llc_07_llc_08_llc_09_llc_11_err_53_err_55),
	KUNIT_CASE(cdc_is_no_llc_llc_10),
	KUNIT_CASE(length_byte_err_54),
	KUNIT_CASE_PARAM(truncations_err_54, record_gen_params),
	KUNIT_CASE(short_optional_message_is_ignored_llc_09),
	KUNIT_CASE(reserved_is_ignored),
	KUNIT_CASE(encode_refuses),
	KUNIT_CASE(noise_is_stable),
	{}
};

static struct kunit_suite llc_wire_suite = {
	.name = "smc_llc_wire",
	.test_cases = llc_wire_cases,
};

kunit_test_suite(llc_wire_suite);
