// SPDX-License-Identifier: GPL-2.0
/* The TCP option in bytes: found in headers of any peer, added to those of this host. */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_tcp_option.c"

#define GOOD	"\376\006\342\324\303\331"
/* as Linux has them on a SYN: MSS, SACK permitted, time stamps, window scale */
#define USUAL	"\002\004\005\264\004\002\010\012\001\002\003\004\000\000\000\000\001\003\003\007"

struct option_case {
	const char *what;
	u8 bytes[40];
	unsigned int len;
	bool is_there;		/* found */
	bool may_add;
};

static const struct option_case option_cases[] = {
	{ "no options", "", 0, false, true },
	{ "usual ones", USUAL, 20, false, true },
	{ "OPT-01: alone", "\001\001" GOOD, 8, true, false },
	{ "OPT-01: behind others", USUAL "\001\001" GOOD, 28, true, false },
	{ "OPT-01: in front of others", GOOD "\001\001" USUAL, 28, true, false },
	{ "OPT-01: unaligned, at the end", "\001\003\003\007\001\001" GOOD, 12, true, false },
	{ "OPT-11: twice", GOOD GOOD, 12, true, false },
	{ "OPT-11: behind another ExID", "\376\006\342\324\303\330" GOOD, 12, true, false },
	{ "OPT-11: another ExID", "\001\001\376\006\342\324\303\330", 8, false, false },
	{ "OPT-11: other first byte", "\001\001\376\006\343\324\303\331", 8, false, false },
	{ "OPT-11: kind 253", "\001\001\375\006\342\324\303\331", 8, false, true },
	{ "OPT-11: ExID of two bytes", "\376\004\342\324\001\001\001\001", 8, false, false },
	{ "OPT-11: too long", "\376\010\342\324\303\331\001\001", 8, false, false },
	{ "OPT-11: too short", "\376\005\342\324\303\331\001\001", 8, false, false },
	{ "OPT-11: beyond the header", "\001\001\376\012\342\324\303\331", 8, false, false },
	{ "cut behind the ExID's first half", "\001\001\001\001\376\006\342\324", 8, false, false },
	{ "cut behind its length", "\001\001\376\006", 4, false, false },
	{ "cut behind its kind", "\001\001\001\376", 4, false, false },
	{ "behind the end of options", "\000\000" GOOD, 8, false, false },
	{ "behind an option of length 0", "\003\000" GOOD, 8, false, false },
	{ "behind an option of length 1", "\003\001" GOOD, 8, false, false },
	{ "behind an option beyond the header", "\003\011" GOOD, 8, false, false },
	{ "inside another option", "\143\010" GOOD, 8, false, true },
	{ "padded by an end", "\002\004\005\264\000\000\000\000", 8, false, false },
	{ "TCP-MD5",
	  "\001\001\023\022\011\011\011\011\011\011\011\011\011\011\011\011\011\011\011\011",
	  20, false, false },
	{ "TCP-AO",
	  "\035\020\001\001\011\011\011\011\011\011\011\011\011\011\011\011", 16, false, false },
	{ "Fast Open", "\042\002\001\001", 4, false, false },
	{ "Fast Open, its experiment", "\376\004\371\211", 4, false, false },
	{ "32 bytes of options",
	  USUAL "\001\001\001\001\001\001\001\001\001\001\001\001", 32, false, true },
	{ "36 bytes: no room",
	  USUAL "\001\001\001\001\001\001\001\001\001\001\001\001\001\001\001\001",
	  36, false, false },
};

KUNIT_ARRAY_PARAM_DESC(option, option_cases, what);

/* Memory of exactly this length, so that a read beyond it is noticed. */
static u8 *option_header(struct kunit *test, const struct option_case *row, unsigned int room)
{
	u8 *hdr = kunit_kzalloc(test, SMC_TCP_HDR_LEN + row->len + room, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hdr);
	hdr[TCP_HEADER_OFFSET] = (SMC_TCP_HDR_LEN + row->len) / 4 << 4 | 0x0f;
	memcpy(hdr + SMC_TCP_HDR_LEN, row->bytes, row->len);
	return hdr;
}

static void opt_11_found(struct kunit *test)
{
	const struct option_case *row = test->param_value;
	u8 *hdr = option_header(test, row, 0);

	KUNIT_EXPECT_EQ(test, smc_tcp_option_find(hdr, SMC_TCP_HDR_LEN + row->len), row->is_there);
	KUNIT_EXPECT_EQ(test, smc_tcp_option_may_add(hdr, SMC_TCP_HDR_LEN + row->len),
			row->may_add);
}

/* The sum that RFC 9293 defines, of the segment and its length in the pseudo header. */
static u16 option_sum(const u8 *hdr, unsigned int len)
{
	u32 sum = len;
	unsigned int i;

	for (i = 0; i < len; i += 2)
		sum += hdr[i] << 8 | hdr[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static void opt_01_added(struct kunit *test)
{
	static const char added[] = "\001\001" GOOD;
	const struct option_case *row = test->param_value;
	unsigned int len = SMC_TCP_HDR_LEN + row->len;
	u8 *hdr = option_header(test, row, SMC_TCP_OPTION_ROOM);
	u16 check;

	if (!row->may_add)
		return;
	check = ~option_sum(hdr, len);
	hdr[TCP_HEADER_CHECKSUM] = check >> 8;
	hdr[TCP_HEADER_CHECKSUM + 1] = check & 0xff;
	smc_tcp_option_add(hdr, false);
	KUNIT_EXPECT_MEMEQ(test, hdr + SMC_TCP_HDR_LEN, row->bytes, row->len);
	KUNIT_EXPECT_MEMEQ(test, hdr + len, added, SMC_TCP_OPTION_ROOM);
	KUNIT_EXPECT_EQ(test, hdr[TCP_HEADER_OFFSET], (len + SMC_TCP_OPTION_ROOM) / 4 << 4 | 0x0f);
	KUNIT_EXPECT_EQ(test, option_sum(hdr, len + SMC_TCP_OPTION_ROOM), 0xffff);
	KUNIT_EXPECT_TRUE(test, smc_tcp_option_find(hdr, len + SMC_TCP_OPTION_ROOM));
	KUNIT_EXPECT_FALSE(test, smc_tcp_option_may_add(hdr, len + SMC_TCP_OPTION_ROOM));
}

/* Every value of the field: those around the carry are special. */
static void opt_01_checksum_of_every_value(struct kunit *test)
{
	static const struct option_case row = { .len = 0 };
	u8 *hdr = option_header(test, &row, SMC_TCP_OPTION_ROOM);
	unsigned int value, want, got;
	u16 check;

	for (value = 0; value < 0x10000; value++) {
		memset(hdr, 0, SMC_TCP_HDR_LEN);
		hdr[TCP_HEADER_OFFSET] = SMC_TCP_HDR_LEN / 4 << 4;
		/* any bytes of the segment */
		hdr[4] = value >> 8;
		hdr[5] = value & 0xff;
		check = ~option_sum(hdr, SMC_TCP_HDR_LEN);
		hdr[TCP_HEADER_CHECKSUM] = check >> 8;
		hdr[TCP_HEADER_CHECKSUM + 1] = check & 0xff;
		smc_tcp_option_add(hdr, false);
		KUNIT_ASSERT_EQ_MSG(test,
				    option_sum(hdr, SMC_TCP_HDR_LEN + SMC_TCP_OPTION_ROOM), 0xffff,
				    "value %u", value);

		hdr[TCP_HEADER_OFFSET] = SMC_TCP_HDR_LEN / 4 << 4;
		hdr[TCP_HEADER_CHECKSUM] = value >> 8;
		hdr[TCP_HEADER_CHECKSUM + 1] = value & 0xff;
		smc_tcp_option_add(hdr, true);
		want = value + SMC_TCP_OPTION_ROOM;
		got = hdr[TCP_HEADER_CHECKSUM] << 8 | hdr[TCP_HEADER_CHECKSUM + 1];
		KUNIT_ASSERT_EQ_MSG(test, got, (want & 0xffff) + (want >> 16), "partial %u", value);
	}
}

static struct kunit_case tcp_option_cases[] = {
	KUNIT_CASE_PARAM(opt_11_found, option_gen_params),
	KUNIT_CASE_PARAM(opt_01_added, option_gen_params),
	KUNIT_CASE(opt_01_checksum_of_every_value),
	{}
};

static struct kunit_suite tcp_option_suite = {
	.name = "smc_tcp_option",
	.test_cases = tcp_option_cases,
};

kunit_test_suite(tcp_option_suite);
