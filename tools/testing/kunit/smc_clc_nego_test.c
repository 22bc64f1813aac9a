// SPDX-License-Identifier: GPL-2.0
/*
 * The decisions of the CLC handshake, in the order of their functions.
 */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_clc_nego.c"
#include "smc_kunit_clc.h"

#define NEGO_PEER	{ 0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc }
#define NEGO_MAC	{ 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc }
#define NEGO_GID \
	{ 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0xaa, 0xbb, 0xcc }

static const struct smc_nego_end nego_end = {
	.peer_id = NEGO_PEER,
	.gid = NEGO_GID,
	.mac = NEGO_MAC,
	.qpn = 0x123,
	.psn = 0x654321,
};

/* The result of a Proposal and an Accept of version 1. */
static const struct smc_clc_proposal nego_offers_v1 = { .offers_v1 = true };
static const struct smc_params nego_v1 = { .version = SMC_CLC_V1 };

static const struct smc_nego_rmbe nego_rmbe = {
	.rkey = 0xa0b0,
	.addr = 0x7f0000100000,
	.token = 0xdeadbeef,
	.index = 7,
	.size_code = 2,
};

static void dcln_01_codes_have_the_numbers_of_deployed_tools(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, SMC_DECLINE_MEM, 0x01010000);
	KUNIT_EXPECT_EQ(test, SMC_DECLINE_TIMEOUT_CL, 0x02010000);
	KUNIT_EXPECT_EQ(test, SMC_DECLINE_PEERNOSMC, 0x03010000);
	KUNIT_EXPECT_EQ(test, SMC_DECLINE_NOSMCRDEV, 0x03030002);
	KUNIT_EXPECT_EQ(test, SMC_DECLINE_DIFFPREFIX, 0x03070000);
	KUNIT_EXPECT_EQ(test, SMC_DECLINE_VERSMISMAT, 0x030c0000);
	KUNIT_EXPECT_EQ(test, SMC_DECLINE_SYNCERR, 0x04000000);
	KUNIT_EXPECT_EQ(test, SMC_DECLINE_PEERDECL, 0x05000000);
	KUNIT_EXPECT_EQ(test, SMC_DECLINE_ERR_REGBUF, 0x09990003);
}

static void pid_01_instance_then_mac(struct kunit *test)
{
	static const u8 mac[] = { 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc };
	static const u8 want[] = NEGO_PEER;
	u8 peer_id[SMC_PEER_ID_LEN];

	smc_nego_peer_id(peer_id, 0x1234, mac);
	KUNIT_EXPECT_MEMEQ(test, peer_id, want, sizeof(want));
}

static void acpt_06_size_codes(struct kunit *test)
{
	unsigned int code;

	for (code = 0; code <= 15; code++) {
		u32 bytes = smc_nego_size_bytes(code);

		KUNIT_EXPECT_EQ(test, bytes, 16384U << code);
		KUNIT_EXPECT_EQ(test, smc_nego_size_code(bytes, 15), code);
		KUNIT_EXPECT_EQ(test, smc_nego_size_code(bytes - 1, 15), code);
		if (code < 15)
			KUNIT_EXPECT_EQ(test, smc_nego_size_code(bytes + 1, 15),
					code + 1);
	}
	KUNIT_EXPECT_EQ(test, smc_nego_size_bytes(0), 16 * 1024);
	KUNIT_EXPECT_EQ(test, smc_nego_size_bytes(5), 512 * 1024);
}

static void acpt_06_size_is_capped_for_the_peer(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_nego_size_code(0, 5), 0);
	KUNIT_EXPECT_EQ(test, smc_nego_size_code(1, 5), 0);
	KUNIT_EXPECT_EQ(test, smc_nego_size_code(65536, 5), 2);
	KUNIT_EXPECT_EQ(test, smc_nego_size_code(1 << 20, 5), 5);
	KUNIT_EXPECT_EQ(test, smc_nego_size_code(U32_MAX, 5), 5);
	KUNIT_EXPECT_EQ(test, smc_nego_size_code(U32_MAX, 15), 15);
	KUNIT_EXPECT_EQ(test, smc_nego_size_code(U32_MAX, 0), 0);
}

/* An element has the size that setsockopt() or the system asked for, and little more. */
static void rmb_09_an_element_is_as_large_as_asked(struct kunit *test)
{
	u32 largest = smc_nego_size_bytes(SMC_BSIZE_RFC_MAX);
	u32 bytes, size;

	for (bytes = 1; bytes <= largest; bytes += 509) {
		size = smc_nego_size_bytes(smc_nego_size_code(bytes, SMC_BSIZE_RFC_MAX));
		KUNIT_ASSERT_GE(test, size, bytes);
		KUNIT_ASSERT_TRUE(test, size == 16384 || size / 2 < bytes);
	}
	for (bytes = 16384; bytes <= largest; bytes *= 2) {
		size = smc_nego_size_bytes(smc_nego_size_code(bytes, SMC_BSIZE_RFC_MAX));
		KUNIT_EXPECT_EQ(test, size, bytes);
	}
}

static void acpt_07_mtu_enumeration(struct kunit *test)
{
	unsigned int mtu;

	for (mtu = 0; mtu < 16; mtu++)
		KUNIT_EXPECT_EQ(test, smc_nego_mtu_is_valid(mtu),
				mtu >= 1 && mtu <= 5);
}

static void prop_06_prefix_list_is_truncated(struct kunit *test)
{
	struct smc_nego_subnets subnets = { .is_ipv6 = true };
	u8 addr[16] = { 0x20, 0x01, 0x0d, 0xb8 };
	unsigned int i;

	for (i = 0; i < 12; i++) {
		addr[7] = i;
		smc_nego_add_prefix(&subnets, addr, 64);
		KUNIT_EXPECT_EQ(test, subnets.nr_prefixes, min(i + 1, 8U));
	}
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, subnets.prefix[i].addr[7], i);
}

/* Privacy extensions or many routers: the prefix in use may be at the end of the list. */
static void prop_06_prefix_of_the_connection_comes_first(struct kunit *test)
{
	struct smc_nego_subnets subnets = {
		.is_ipv6 = true, .own = { 0x20, 0x01, 0x0d, 0xb8, [7] = 10, [15] = 9 },
	};
	u8 addr[16] = { 0x20, 0x01, 0x0d, 0xb8 };
	unsigned int i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < 12; i++) {
			addr[7] = i;
			smc_nego_add_prefix(&subnets, addr, 64);
		}
		KUNIT_ASSERT_EQ(test, subnets.nr_prefixes, 8);
		KUNIT_EXPECT_EQ(test, subnets.prefix[0].addr[7], 10);
		/* the first one comes last, and the last one is left out */
		for (i = 1; i < 8; i++)
			KUNIT_EXPECT_EQ(test, subnets.prefix[i].addr[7], i % 7);
	}
	/* a longer prefix of the same address, and a list that is not full */
	subnets.nr_prefixes = 3;
	addr[7] = 10;
	smc_nego_add_prefix(&subnets, addr, 80);
	KUNIT_EXPECT_EQ(test, subnets.nr_prefixes, 4);
	KUNIT_EXPECT_EQ(test, subnets.prefix[0].len, 80);
	KUNIT_EXPECT_EQ(test, subnets.prefix[1].addr[7], 1);
	KUNIT_EXPECT_EQ(test, subnets.prefix[3].addr[7], 10);
	KUNIT_EXPECT_EQ(test, subnets.prefix[3].len, 64);
}

static void prop_04_prefixes_are_masked_and_named_once(struct kunit *test)
{
	static const u8 want[16] = { 0x20, 0x01, 0x0d, 0xb8, 0xff, 0xe0 };
	struct smc_nego_subnets subnets = { .is_ipv6 = true };
	u8 addr[16];

	memset(addr, 0xff, sizeof(addr));
	memcpy(addr, want, 4);
	smc_nego_add_prefix(&subnets, addr, 43);
	KUNIT_ASSERT_EQ(test, subnets.nr_prefixes, 1);
	KUNIT_EXPECT_EQ(test, subnets.prefix[0].len, 43);
	KUNIT_EXPECT_MEMEQ(test, subnets.prefix[0].addr, want, 16);

	addr[15] = 1;
	smc_nego_add_prefix(&subnets, addr, 43);
	KUNIT_EXPECT_EQ(test, subnets.nr_prefixes, 1);
	/* The same bits with another length are another prefix. */
	smc_nego_add_prefix(&subnets, addr, 128);
	KUNIT_ASSERT_EQ(test, subnets.nr_prefixes, 2);
	KUNIT_EXPECT_MEMEQ(test, subnets.prefix[1].addr, addr, 16);
}

/* Any of them may be the equal one; the last bit counts, also where it is the first of a byte. */
static void prop_06_each_listed_prefix_is_compared(struct kunit *test)
{
	static const u8 len[] = { 33, 39, 40, 57 };
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(len); i++) {
		struct smc_nego_subnets subnets = { .is_ipv6 = true };
		u8 bit = 0x80 >> ((len[i] - 1) % 8), at = (len[i] - 1) / 8;
		u8 addr[16] = { 0x20, 0x01, 0x0d, 0xb8, [8 ... 15] = 0xff };

		for (k = 0; k < 4; k++) {
			addr[at] = k & 1 ? bit : 0;
			smc_nego_add_prefix(&subnets, addr, len[i]);
		}
		KUNIT_ASSERT_EQ(test, subnets.nr_prefixes, 2);
		KUNIT_EXPECT_EQ(test, subnets.prefix[0].addr[at], 0);
		KUNIT_EXPECT_EQ(test, subnets.prefix[1].addr[at], bit);
	}
}

static void prop_04_useless_prefixes_are_left_out(struct kunit *test)
{
	struct smc_nego_subnets subnets = { .is_ipv6 = true };
	u8 addr[16] = { 0xfe, 0x80, [15] = 1 };

	smc_nego_add_prefix(&subnets, addr, 64);
	addr[1] = 0xbf;
	smc_nego_add_prefix(&subnets, addr, 64);
	addr[0] = 0x20;
	smc_nego_add_prefix(&subnets, addr, 0);
	smc_nego_add_prefix(&subnets, addr, 129);
	KUNIT_EXPECT_EQ(test, subnets.nr_prefixes, 0);
	/* Site-local addresses are not link-local. */
	addr[0] = 0xfe;
	addr[1] = 0xc0;
	smc_nego_add_prefix(&subnets, addr, 64);
	KUNIT_EXPECT_EQ(test, subnets.nr_prefixes, 1);
}

static const struct smc_nego_local nego_client = {
	.peer_id = NEGO_PEER,
	.gid = NEGO_GID,
	.mac = NEGO_MAC,
	.subnets = { .ipv4 = 0xc0a80a17, .ipv4_len = 24 },
};

static void prop_02_proposal_names_host_rnic_and_subnet(struct kunit *test)
{
	struct smc_clc_proposal *prop;
	struct smc_clc_msg msg;

	KUNIT_ASSERT_EQ(test, smc_nego_propose(&nego_client, &msg),
			SMC_DECLINE_NONE);
	prop = &msg.proposal;
	KUNIT_EXPECT_EQ(test, msg.type, SMC_CLC_PROPOSAL);
	KUNIT_EXPECT_EQ(test, msg.version, SMC_CLC_V1);
	KUNIT_EXPECT_TRUE(test, prop->offers_v1);
	KUNIT_EXPECT_FALSE(test, prop->offers_v2);
	KUNIT_EXPECT_MEMEQ(test, prop->peer_id, nego_client.peer_id, 8);
	KUNIT_EXPECT_MEMEQ(test, prop->gid, nego_client.gid, 16);
	KUNIT_EXPECT_MEMEQ(test, prop->mac, nego_client.mac, 6);
	/* AMB-07: network number, not the mask */
	KUNIT_EXPECT_EQ(test, prop->subnet, 0xc0a80a00);
	KUNIT_EXPECT_EQ(test, prop->subnet_len, 24);
	KUNIT_EXPECT_EQ(test, prop->nr_prefixes, 0);
}

static void prop_03_golden_bytes(struct kunit *test)
{
	static const u8 want[] = {
		0xe2, 0xd4, 0xc3, 0xd9, 0x01, 0x00, 0x34, 0x10,
		0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
		0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x50, 0x54, 0x00, 0xff, 0xfe, 0xaa, 0xbb, 0xcc,
		0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x00, 0x00,
		0xc0, 0xa8, 0x0a, 0x00, 0x18, 0x00, 0x00, 0x00,
		0xe2, 0xd4, 0xc3, 0xd9,
	};
	struct smc_clc_msg msg;
	u8 buf[188];

	KUNIT_ASSERT_EQ(test, smc_nego_propose(&nego_client, &msg),
			SMC_DECLINE_NONE);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)),
			sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
}

static void prop_04_ipv6_form_has_no_subnet(struct kunit *test)
{
	struct smc_nego_local local = nego_client;
	u8 addr[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 9 };
	struct smc_clc_msg msg;
	u8 buf[188];

	local.subnets.is_ipv6 = true;
	smc_nego_add_prefix(&local.subnets, addr, 64);
	addr[4] = 1;
	smc_nego_add_prefix(&local.subnets, addr, 48);
	KUNIT_ASSERT_EQ(test, smc_nego_propose(&local, &msg), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, msg.proposal.subnet, 0);
	KUNIT_EXPECT_EQ(test, msg.proposal.subnet_len, 0);
	KUNIT_EXPECT_EQ(test, msg.proposal.nr_prefixes, 2);
	KUNIT_EXPECT_EQ(test, msg.proposal.prefix[0].len, 64);
	KUNIT_EXPECT_EQ(test, msg.proposal.prefix[1].len, 48);
	KUNIT_EXPECT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 86);
}

/* The form depends on the addresses of the connection, not on others of the interface. */
static void prop_09_family_of_the_flow_selects_the_form(struct kunit *test)
{
	u8 addr[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 9 };
	struct smc_nego_local local = nego_client;
	struct smc_clc_msg msg;

	smc_nego_add_prefix(&local.subnets, addr, 64);
	KUNIT_ASSERT_EQ(test, smc_nego_propose(&local, &msg), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, msg.proposal.nr_prefixes, 0);
	KUNIT_EXPECT_EQ(test, msg.proposal.subnet_len, 24);
	local.subnets.is_ipv6 = true;
	KUNIT_ASSERT_EQ(test, smc_nego_propose(&local, &msg), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, msg.proposal.nr_prefixes, 1);
	KUNIT_EXPECT_EQ(test, msg.proposal.subnet_len, 0);
}

static void prop_02_no_subnet_no_proposal(struct kunit *test)
{
	struct smc_nego_local local = nego_client;
	struct smc_clc_msg msg;

	local.subnets.ipv4_len = 0;
	KUNIT_EXPECT_EQ(test, smc_nego_propose(&local, &msg),
			SMC_DECLINE_CNFERR);
	local.subnets.ipv4_len = 33;
	KUNIT_EXPECT_EQ(test, smc_nego_propose(&local, &msg),
			SMC_DECLINE_CNFERR);
	local.subnets.ipv4_len = 24;
	local.subnets.is_ipv6 = true;
	KUNIT_EXPECT_EQ(test, smc_nego_propose(&local, &msg),
			SMC_DECLINE_CNFERR);
}

struct nego_subnet_row {
	const char *name;
	u32 subnet;
	u8 subnet_len;
	u32 addr;
	u8 len;
	bool matches;
};

static const struct nego_subnet_row nego_subnet_rows[] = {
	{ "same network", 0xc0a80a00, 24, 0xc0a80a63, 24, true },
	{ "the client sent its address", 0xc0a80a17, 24, 0xc0a80a63, 24, true },
	{ "next network", 0xc0a80a00, 24, 0xc0a80b63, 24, false },
	{ "longer prefix here", 0xc0a80a00, 24, 0xc0a80a63, 25, false },
	{ "shorter prefix here", 0xc0a80a00, 24, 0xc0a80a63, 23, false },
	{ "the literal mask", 0xffffff00, 24, 0xc0a80a63, 24, false },
	{ "host route", 0x0a000001, 32, 0x0a000001, 32, true },
	{ "other host route", 0x0a000001, 32, 0x0a000002, 32, false },
	{ "half the world", 0x80000000, 1, 0xffffffff, 1, true },
	{ "other half", 0x80000000, 1, 0x7fffffff, 1, false },
	{ "no subnet", 0, 0, 0xc0a80a63, 0, false },
	{ "impossible length", 0xc0a80a00, 33, 0xc0a80a00, 33, false },
};

KUNIT_ARRAY_PARAM_DESC(nego_subnet, nego_subnet_rows, name);

static void fc_03_same_ipv4_subnet(struct kunit *test)
{
	const struct nego_subnet_row *row = test->param_value;
	struct smc_clc_proposal prop = {
		.has_subnets = true,
		.subnet = row->subnet,
		.subnet_len = row->subnet_len,
	};

	KUNIT_EXPECT_EQ(test, smc_nego_match_ipv4(&prop, row->addr, row->len),
			row->matches);
	/* Not in the message, or the message of an IPv6 connection */
	prop.nr_prefixes = 1;
	KUNIT_EXPECT_FALSE(test,
			   smc_nego_match_ipv4(&prop, row->addr, row->len));
	prop.nr_prefixes = 0;
	prop.has_subnets = false;
	KUNIT_EXPECT_FALSE(test,
			   smc_nego_match_ipv4(&prop, row->addr, row->len));
}

static void fc_04_any_of_the_ipv6_prefixes(struct kunit *test)
{
	struct smc_clc_proposal prop = { .has_subnets = true };
	u8 addr[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 0x42 };
	unsigned int i;

	for (i = 0; i < 8; i++) {
		prop.prefix[i].len = 60;
		memcpy(prop.prefix[i].addr, addr, 8);
		prop.prefix[i].addr[6] = i;
	}
	prop.nr_prefixes = 8;
	for (i = 0; i < 8; i++) {
		addr[6] = i;
		/* Bits behind the prefix do not count, those in front do. */
		addr[7] = 0x0f;
		KUNIT_EXPECT_TRUE(test, smc_nego_match_ipv6(&prop, addr, 60));
		KUNIT_EXPECT_FALSE(test, smc_nego_match_ipv6(&prop, addr, 61));
		KUNIT_EXPECT_FALSE(test, smc_nego_match_ipv6(&prop, addr, 59));
		addr[7] = 0x10;
		KUNIT_EXPECT_FALSE(test, smc_nego_match_ipv6(&prop, addr, 60));
	}
	addr[6] = 8;
	addr[7] = 0;
	KUNIT_EXPECT_FALSE(test, smc_nego_match_ipv6(&prop, addr, 60));
	/* Only what the count covers */
	addr[6] = 7;
	prop.nr_prefixes = 7;
	KUNIT_EXPECT_FALSE(test, smc_nego_match_ipv6(&prop, addr, 60));
}

static void fc_04_link_local_never_matches(struct kunit *test)
{
	u8 addr[16] = { 0xfe, 0x80, [15] = 1 };
	struct smc_clc_proposal prop = {
		.has_subnets = true,
		.nr_prefixes = 1,
		.prefix = { { .addr = { 0xfe, 0x80 }, .len = 64 } },
	};

	KUNIT_EXPECT_FALSE(test, smc_nego_match_ipv6(&prop, addr, 64));
	prop.prefix[0].len = 0;
	addr[0] = 0x20;
	KUNIT_EXPECT_FALSE(test, smc_nego_match_ipv6(&prop, addr, 0));
	prop.prefix[0].len = 128;
	memcpy(prop.prefix[0].addr, addr, 16);
	KUNIT_EXPECT_TRUE(test, smc_nego_match_ipv6(&prop, addr, 128));
	addr[15] ^= 1;
	KUNIT_EXPECT_FALSE(test, smc_nego_match_ipv6(&prop, addr, 128));
}

static void dcln_08_server_declines_with_the_reason_err_04(struct kunit *test)
{
	struct smc_clc_proposal prop = { .offers_v1 = true, .gid = NEGO_GID, .mac = NEGO_MAC };
	static const struct smc_nego_local local;
	u8 peer_gid[SMC_GID_LEN];
	struct smc_params params;

	KUNIT_EXPECT_EQ(test, smc_nego_server(&prop, &local, true, peer_gid, &params),
			SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, params.version, SMC_CLC_V1);
	KUNIT_EXPECT_MEMEQ(test, peer_gid, prop.gid, sizeof(prop.gid));
	KUNIT_EXPECT_EQ(test, smc_nego_server(&prop, &local, false, peer_gid, &params),
			SMC_DECLINE_DIFFPREFIX);
	prop.offers_v1 = false;
	KUNIT_EXPECT_EQ(test, smc_nego_server(&prop, &local, true, peer_gid, &params),
			SMC_DECLINE_PEERNOSMC);
}

static void fc_02_pid_05_peer_id_alone_tells(struct kunit *test)
{
	static const u8 gid_a[SMC_GID_LEN] = NEGO_GID;
	static const u8 gid_b[SMC_GID_LEN] = { 0xfe, 0x80, [15] = 1 };
	static const u8 a[] = NEGO_PEER;
	u8 b[] = NEGO_PEER;
	unsigned int i;

	KUNIT_EXPECT_TRUE(test, smc_nego_same_peer(a, gid_a, b, gid_a));
	KUNIT_EXPECT_TRUE(test, smc_nego_same_peer(a, gid_a, b, gid_b));
	for (i = 0; i < sizeof(b); i++) {
		b[i] ^= 0x10;
		KUNIT_EXPECT_FALSE(test, smc_nego_same_peer(a, gid_a, b, gid_a));
		b[i] ^= 0x10;
	}
}

static void pid_06_restarted_peer_is_another_one(struct kunit *test)
{
	static const u8 gid[SMC_GID_LEN] = NEGO_GID;
	static const u8 mac[SMC_MAC_LEN] = NEGO_MAC;
	u8 before[SMC_PEER_ID_LEN], after[SMC_PEER_ID_LEN];

	smc_nego_peer_id(before, 0x00ff, mac);
	smc_nego_peer_id(after, 0x01ff, mac);
	KUNIT_EXPECT_FALSE(test, smc_nego_same_peer(before, gid, after, gid));
}

static void fc_02_gid_tells_peers_without_id(struct kunit *test)
{
	static const u8 gid_a[SMC_GID_LEN] = NEGO_GID;
	static const u8 none[SMC_PEER_ID_LEN];
	u8 gid_b[SMC_GID_LEN] = NEGO_GID;

	KUNIT_EXPECT_TRUE(test, smc_nego_same_peer(none, gid_a, none, gid_b));
	gid_b[15] ^= 1;
	KUNIT_EXPECT_FALSE(test, smc_nego_same_peer(none, gid_a, none, gid_b));
}

/* A host that claims another's peer ID shows its own RNIC, or must guess GID and MAC as well. */
static void pid_05_sc_03_same_rnic(struct kunit *test)
{
	u8 gid_a[SMC_GID_LEN] = { 0xfe, 0x80, [15] = 1 };
	u8 gid_b[SMC_GID_LEN] = { 0xfe, 0x80, [15] = 1 };
	u8 mac_a[SMC_MAC_LEN] = { 0x52, 0x54, 0, 1, 2, 3 };
	u8 mac_b[SMC_MAC_LEN] = { 0x52, 0x54, 0, 1, 2, 3 };
	int i;

	KUNIT_EXPECT_TRUE(test, smc_nego_same_rnic(gid_a, mac_a, gid_b, mac_b));
	for (i = 0; i < SMC_GID_LEN; i++) {
		gid_b[i] ^= 0x80;
		KUNIT_EXPECT_FALSE(test, smc_nego_same_rnic(gid_a, mac_a, gid_b, mac_b));
		gid_b[i] ^= 0x80;
	}
	for (i = 0; i < SMC_MAC_LEN; i++) {
		mac_b[i] ^= 1;
		KUNIT_EXPECT_FALSE(test, smc_nego_same_rnic(gid_a, mac_a, gid_b, mac_b));
		mac_b[i] ^= 1;
	}
	/* a client of version 2 may leave it out */
	memset(mac_b, 0, sizeof(mac_b));
	KUNIT_EXPECT_TRUE(test, smc_nego_same_rnic(gid_a, mac_a, gid_b, mac_b));
	KUNIT_EXPECT_TRUE(test, smc_nego_same_rnic(gid_b, mac_b, gid_a, mac_a));
	gid_b[0] ^= 1;
	KUNIT_EXPECT_FALSE(test, smc_nego_same_rnic(gid_a, mac_a, gid_b, mac_b));
}

static void nego_expect_link_data(struct kunit *test,
				  const struct smc_clc_msg *msg)
{
	const struct smc_clc_accept *acc = &msg->accept;

	KUNIT_EXPECT_EQ(test, msg->version, SMC_CLC_V1);
	KUNIT_EXPECT_MEMEQ(test, acc->peer_id, nego_end.peer_id, 8);
	KUNIT_EXPECT_MEMEQ(test, acc->gid, nego_end.gid, 16);
	KUNIT_EXPECT_MEMEQ(test, acc->mac, nego_end.mac, 6);
	KUNIT_EXPECT_EQ(test, acc->qpn, nego_end.qpn);
	KUNIT_EXPECT_EQ(test, acc->rkey, nego_rmbe.rkey);
	KUNIT_EXPECT_EQ(test, acc->rmb_addr, nego_rmbe.addr);
	KUNIT_EXPECT_EQ(test, acc->token, nego_rmbe.token);
	KUNIT_EXPECT_EQ(test, acc->rmbe_index, nego_rmbe.index);
	KUNIT_EXPECT_EQ(test, acc->size_code, nego_rmbe.size_code);
	KUNIT_EXPECT_EQ(test, acc->mtu, SMC_MTU_2048);
	KUNIT_EXPECT_EQ(test, acc->psn, 0x654321);
}

static void acpt_02_accept_says_first_contact(struct kunit *test)
{
	struct smc_clc_msg msg;
	u8 buf[68];

	smc_nego_build_data(&msg, SMC_CLC_ACCEPT, &nego_end, &nego_rmbe, SMC_MTU_2048, &nego_v1,
			    true);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_CLC_ACCEPT);
	KUNIT_EXPECT_TRUE(test, msg.accept.first_contact);
	nego_expect_link_data(test, &msg);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 68);
	KUNIT_EXPECT_EQ(test, buf[7], 0x18);
}

static void sc_02_accept_is_complete_on_subsequent_contact(struct kunit *test)
{
	struct smc_clc_msg msg;
	u8 buf[68];

	smc_nego_build_data(&msg, SMC_CLC_ACCEPT, &nego_end, &nego_rmbe, SMC_MTU_2048, &nego_v1,
			    false);
	KUNIT_EXPECT_FALSE(test, msg.accept.first_contact);
	nego_expect_link_data(test, &msg);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 68);
	KUNIT_EXPECT_EQ(test, buf[7], 0x10);
}

/* RFC 7609 3.5.2.1: the same data in the same places, but for the flag F. */
static void clc_08_first_and_subsequent_contact_look_alike(struct kunit *test)
{
	u8 first[68], next[68], confirm[68];
	struct smc_clc_msg msg;

	smc_nego_build_data(&msg, SMC_CLC_ACCEPT, &nego_end, &nego_rmbe, SMC_MTU_2048, &nego_v1,
			    true);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, first, sizeof(first)), 68);
	smc_nego_build_data(&msg, SMC_CLC_ACCEPT, &nego_end, &nego_rmbe, SMC_MTU_2048, &nego_v1,
			    false);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, next, sizeof(next)), 68);
	smc_nego_build_data(&msg, SMC_CLC_CONFIRM, &nego_end, &nego_rmbe, SMC_MTU_2048, &nego_v1,
			    true);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, confirm, sizeof(confirm)), 68);
	KUNIT_EXPECT_EQ(test, first[7] ^ next[7], 0x08);
	KUNIT_EXPECT_MEMEQ(test, first + 8, next + 8, 60);
	KUNIT_EXPECT_MEMEQ(test, confirm + 8, next + 8, 60);
}

static void acpt_01_golden_bytes(struct kunit *test)
{
	static const u8 want[] = {
		0xe2, 0xd4, 0xc3, 0xd9, 0x02, 0x00, 0x44, 0x18,
		0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
		0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x50, 0x54, 0x00, 0xff, 0xfe, 0xaa, 0xbb, 0xcc,
		0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc, 0x00, 0x01,
		0x23, 0x00, 0x00, 0xa0, 0xb0, 0x07, 0xde, 0xad,
		0xbe, 0xef, 0x24, 0x00, 0x00, 0x00, 0x7f, 0x00,
		0x00, 0x10, 0x00, 0x00, 0x00, 0x65, 0x43, 0x21,
		0xe2, 0xd4, 0xc3, 0xd9,
	};
	struct smc_clc_msg msg;
	u8 buf[68];

	smc_nego_build_data(&msg, SMC_CLC_ACCEPT, &nego_end, &nego_rmbe, SMC_MTU_2048, &nego_v1,
			    true);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 68);
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
}

static void cfrm_01_cfrm_02_confirm_has_data_but_no_flag(struct kunit *test)
{
	struct smc_clc_msg msg;
	u8 buf[68];

	smc_nego_build_data(&msg, SMC_CLC_CONFIRM, &nego_end, &nego_rmbe, SMC_MTU_2048, &nego_v1,
			    true);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_CLC_CONFIRM);
	KUNIT_EXPECT_FALSE(test, msg.accept.first_contact);
	nego_expect_link_data(test, &msg);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 68);
	KUNIT_EXPECT_EQ(test, buf[4], 3);
	KUNIT_EXPECT_EQ(test, buf[7], 0x10);
}

static void dcln_01_golden_bytes(struct kunit *test)
{
	static const u8 peer_id[] = NEGO_PEER;
	static const u8 want[] = {
		0xe2, 0xd4, 0xc3, 0xd9, 0x04, 0x00, 0x1c, 0x18,
		0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
		0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0xe2, 0xd4, 0xc3, 0xd9,
	};
	struct smc_clc_msg msg;
	u8 buf[28];

	smc_nego_build_decline(&msg, peer_id, SMC_DECLINE_SYNCERR, true, 1);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 28);
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
	smc_nego_build_decline(&msg, peer_id, SMC_DECLINE_MEM, false, 1);
	KUNIT_ASSERT_EQ(test, smc_kunit_clc_encode(&msg, buf, sizeof(buf)), 28);
	KUNIT_EXPECT_EQ(test, buf[7], 0x10);
	KUNIT_EXPECT_EQ(test, buf[17], 0x01);
}

struct nego_accept_row {
	const char *name;
	bool first_contact;
	u8 mtu;
	u8 size_code;
	struct smc_nego_known known;
	enum smc_decline decline;
};

static const struct nego_accept_row nego_accept_rows[] = {
	{ "new group", true, 5, 2, {},
	  SMC_DECLINE_NONE },
	{ "new group, the server forgot a link of ours", true, 5, 2,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 15 },
	  SMC_DECLINE_NONE },
	{ "new group, an RMB as before proves nothing", true, 5, 2,
	  { .has_rtoken = true, .max_size_code = 15 },
	  SMC_DECLINE_NONE },
	{ "new group, size of a deployed peer", true, 5, 15, {},
	  SMC_DECLINE_NONE },
	{ "new group, MTU 0", true, 0, 2, {},
	  SMC_DECLINE_MODEUNSUPP },
	{ "new group, MTU 6", true, 6, 2, {},
	  SMC_DECLINE_MODEUNSUPP },
	{ "new group, MTU 15", true, 15, 2, {},
	  SMC_DECLINE_MODEUNSUPP },
	{ "known link", false, 5, 2,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 15 },
	  SMC_DECLINE_NONE },
	{ "known link, MTU does not count", false, 0, 2,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 15 },
	  SMC_DECLINE_NONE },
	{ "unknown link", false, 5, 2,
	  { .has_rtoken = true, .max_size_code = 15 },
	  SMC_DECLINE_SYNCERR },
	{ "nothing known", false, 5, 2, {},
	  SMC_DECLINE_SYNCERR },
	{ "known link, RMB never announced", false, 5, 2,
	  { .has_link = true, .max_size_code = 15 },
	  SMC_DECLINE_SYNCERR },
	{ "link that is being left", false, 5, 2,
	  { .has_link = true, .has_rtoken = true, .is_left = true, .max_size_code = 15 },
	  SMC_DECLINE_NONE },
	{ "link that is being left, RMB announced without it", false, 5, 2,
	  { .has_link = true, .is_left = true, .max_size_code = 15 },
	  SMC_DECLINE_SYNCERR },
	{ "link that has gone lately", false, 5, 2, { .is_left = true },
	  SMC_DECLINE_SYNCERR },
	{ "known link, largest size of the RFC", false, 5, 5,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 5 },
	  SMC_DECLINE_NONE },
	{ "known link, size reserved in the RFC", false, 5, 6,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 5 },
	  SMC_DECLINE_MODEUNSUPP },
	{ "known link, large size of a deployed peer", false, 5, 15,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 15 },
	  SMC_DECLINE_NONE },
};

KUNIT_ARRAY_PARAM_DESC(nego_accept, nego_accept_rows, name);

/* Classification of an Accept: RFC 7609 3.5.1.3, 3.5.2.2, C.4 */
static void fc_06_sc_05_sc_06_accept_is_classified(struct kunit *test)
{
	const struct nego_accept_row *row = test->param_value;
	struct smc_clc_msg msg = {
		.type = SMC_CLC_ACCEPT,
		.version = SMC_CLC_V1,
		.accept = {
			.first_contact = row->first_contact,
			.mtu = row->mtu,
			.size_code = row->size_code,
			.rmbe_index = 1,
		},
	};
	struct smc_nego_accepted result;
	enum smc_decline decline;

	memset(&result, 0xff, sizeof(result));
	decline = smc_nego_classify_accept(&msg, &nego_offers_v1, &row->known, SMC_MTU_4096,
					   &result);
	KUNIT_EXPECT_EQ(test, decline, row->decline);
	/* AMB-33: S = 1 in this case only, unless the server will learn of it by other means */
	KUNIT_EXPECT_EQ(test, result.out_of_sync,
			row->decline == SMC_DECLINE_SYNCERR && !row->known.is_left);
	KUNIT_EXPECT_EQ(test, result.params.version, SMC_CLC_V1);
	KUNIT_EXPECT_EQ(test, result.params.mtu,
			row->first_contact ? min_t(u8, row->mtu, SMC_MTU_4096) : 0);
}

static void err_13_subsequent_contact_without_link(struct kunit *test)
{
	struct smc_nego_known known = { .max_size_code = 15 };
	struct smc_clc_msg msg = { .version = SMC_CLC_V1 };
	struct smc_nego_accepted result;
	enum smc_decline decline;

	decline = smc_nego_classify_accept(&msg, &nego_offers_v1, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_SYNCERR);
	KUNIT_EXPECT_TRUE(test, result.out_of_sync);
}

static void rkey_23_rkey_24_unknown_rmb_is_no_first_contact(struct kunit *test)
{
	struct smc_nego_known known = { .has_link = true, .max_size_code = 15 };
	struct smc_clc_msg msg = { .version = SMC_CLC_V1,
				   .accept = { .mtu = 5 } };
	struct smc_nego_accepted result;
	enum smc_decline decline;

	decline = smc_nego_classify_accept(&msg, &nego_offers_v1, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_SYNCERR);
	KUNIT_EXPECT_TRUE(test, result.out_of_sync);
	known.has_rtoken = true;
	decline = smc_nego_classify_accept(&msg, &nego_offers_v1, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_NONE);
}

static void acpt_08_err_17_mtu_counts_on_first_contact_only(struct kunit *test)
{
	struct smc_nego_known known = { .max_size_code = 15 };
	struct smc_clc_msg msg = { .version = SMC_CLC_V1 };
	struct smc_nego_accepted result;
	enum smc_decline decline;
	unsigned int mtu;

	for (mtu = 0; mtu < 16; mtu++) {
		msg.accept.mtu = mtu;
		msg.accept.first_contact = true;
		known.has_link = false;
		known.has_rtoken = false;
		decline = smc_nego_classify_accept(&msg, &nego_offers_v1, &known, SMC_MTU_4096,
						   &result);
		KUNIT_EXPECT_EQ(test, decline,
				mtu >= 1 && mtu <= 5 ? SMC_DECLINE_NONE : SMC_DECLINE_MODEUNSUPP);
		KUNIT_EXPECT_FALSE(test, result.out_of_sync);

		msg.accept.first_contact = false;
		known.has_link = true;
		known.has_rtoken = true;
		decline = smc_nego_classify_accept(&msg, &nego_offers_v1, &known, SMC_MTU_4096,
						   &result);
		KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_NONE);
	}
}

static void clc_05_accept_of_a_version_not_offered(struct kunit *test)
{
	struct smc_nego_known known = { .has_link = true, .has_rtoken = true,
					.max_size_code = 15 };
	struct smc_clc_msg msg = { .type = SMC_CLC_ACCEPT,
				   .version = SMC_CLC_V2,
				   .accept = { .mtu = 5, .rmbe_index = 1 } };
	struct smc_nego_accepted result;
	enum smc_decline decline;

	decline = smc_nego_classify_accept(&msg, &nego_offers_v1, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_MODEUNSUPP);
	KUNIT_EXPECT_FALSE(test, result.out_of_sync);
}

static void acpt_07_fc_14_mtu_is_the_smaller_one(struct kunit *test)
{
	struct smc_clc_msg msg = { .version = SMC_CLC_V1,
				   .accept = { .first_contact = true,
					       .peer_id = NEGO_PEER } };
	struct smc_clc_proposal prop = { .peer_id = NEGO_PEER };
	struct smc_nego_known known = {};
	struct smc_nego_confirmed confirmed;
	struct smc_nego_accepted accepted;
	u8 own, peer;

	for (own = 1; own <= 5; own++) {
		for (peer = 1; peer <= 5; peer++) {
			msg.accept.mtu = peer;
			smc_nego_classify_accept(&msg, &nego_offers_v1, &known, own, &accepted);
			KUNIT_EXPECT_EQ(test, accepted.params.mtu,
					min(own, peer));
			smc_nego_check_confirm(&msg, &prop, &nego_v1, NULL, own,
					       &confirmed);
			KUNIT_EXPECT_EQ(test, confirmed.params.mtu,
					min(own, peer));
		}
	}
}

static void acpt_06_settled_values_of_version_1(struct kunit *test)
{
	struct smc_clc_msg msg = { .version = SMC_CLC_V1,
				   .accept = { .first_contact = true,
					       .mtu = 4 } };
	struct smc_nego_known known = {};
	struct smc_nego_accepted result;

	smc_nego_classify_accept(&msg, &nego_offers_v1, &known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, result.params.version, 1);
	KUNIT_EXPECT_EQ(test, result.params.max_links, 8);
	KUNIT_EXPECT_EQ(test, result.params.max_conns, 255);
	/* Nothing larger before the peer is known as deployed */
	KUNIT_EXPECT_EQ(test, result.params.max_size_code, 5);
}

struct nego_confirm_row {
	const char *name;
	bool first_contact;
	bool other_peer;
	u8 version;
	u8 mtu;
	u8 size_code;
	struct smc_nego_known known;
	bool must_reset;	/* where it does not fit */
	enum smc_decline decline;
};

static const struct nego_confirm_row nego_confirm_rows[] = {
	{ "new group", true, false, 1, 5, 2, {},
	  false, SMC_DECLINE_NONE },
	{ "new group, size of a deployed peer", true, false, 1, 5, 15, {},
	  false, SMC_DECLINE_NONE },
	{ "new group, MTU 0", true, false, 1, 0, 2, {},
	  false, SMC_DECLINE_MODEUNSUPP },
	{ "new group, MTU 6", true, false, 1, 6, 2, {},
	  false, SMC_DECLINE_MODEUNSUPP },
	{ "new group, other host than in the Proposal", true, true, 1, 5, 2, {},
	  true, SMC_DECLINE_SYNCERR },
	{ "new group, version not accepted", true, false, 2, 5, 2, {},
	  false, SMC_DECLINE_VERSMISMAT },
	{ "known link", false, false, 1, 5, 2,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 15 },
	  false, SMC_DECLINE_NONE },
	{ "known link, MTU does not count", false, false, 1, 0, 2,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 15 },
	  false, SMC_DECLINE_NONE },
	{ "no active link (AMB-56)", false, false, 1, 5, 2,
	  { .has_rtoken = true, .max_size_code = 15 },
	  true, SMC_DECLINE_SYNCERR },
	{ "RMB never announced", false, false, 1, 5, 2,
	  { .has_link = true, .max_size_code = 15 },
	  true, SMC_DECLINE_SYNCERR },
	{ "size reserved in the RFC (AMB-35)", false, false, 1, 5, 6,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 5 },
	  true, SMC_DECLINE_MODEUNSUPP },
	{ "large size of a deployed peer", false, false, 1, 5, 6,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 15 },
	  false, SMC_DECLINE_NONE },
	{ "other host on a known link", false, true, 1, 5, 2,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 15 },
	  true, SMC_DECLINE_SYNCERR },
	{ "known link, version not accepted", false, false, 2, 5, 2,
	  { .has_link = true, .has_rtoken = true, .max_size_code = 15 },
	  true, SMC_DECLINE_VERSMISMAT },
};

KUNIT_ARRAY_PARAM_DESC(nego_confirm, nego_confirm_rows, name);

/* RFC 7609 3.5.2.3, A.2.4, C.1: after the Accept only first contact declines */
static void sc_09_sc_10_confirm_is_checked(struct kunit *test)
{
	const struct nego_confirm_row *row = test->param_value;
	const struct smc_nego_known *known = &row->known;
	struct smc_clc_proposal prop = { .peer_id = NEGO_PEER };
	struct smc_clc_msg msg = {
		.type = SMC_CLC_CONFIRM,
		.version = row->version,
		.accept = {
			.peer_id = NEGO_PEER,
			.mtu = row->mtu,
			.size_code = row->size_code,
			.rmbe_index = 1,
		},
	};
	struct smc_nego_confirmed result;
	enum smc_decline decline;

	if (row->other_peer)
		msg.accept.peer_id[1] ^= 1;
	if (row->first_contact)
		known = NULL;
	memset(&result, 0xff, sizeof(result));
	decline = smc_nego_check_confirm(&msg, &prop, &nego_v1, known, SMC_MTU_4096, &result);
	KUNIT_EXPECT_EQ(test, decline, row->decline);
	if (row->decline != SMC_DECLINE_NONE)
		KUNIT_EXPECT_EQ(test, result.must_reset, row->must_reset);
	else
		KUNIT_EXPECT_EQ(test, result.params.mtu, row->first_contact ? row->mtu : 0);
}

static void cfrm_04_err_17_mtu_counts_on_first_contact_only(struct kunit *test)
{
	struct smc_nego_known known = { .has_link = true, .has_rtoken = true,
					.max_size_code = 15 };
	struct smc_clc_proposal prop = { .peer_id = NEGO_PEER };
	struct smc_clc_msg msg = { .version = SMC_CLC_V1,
				   .accept = { .peer_id = NEGO_PEER } };
	struct smc_nego_confirmed result;
	enum smc_decline decline;
	unsigned int mtu;

	for (mtu = 0; mtu < 16; mtu++) {
		msg.accept.mtu = mtu;
		decline = smc_nego_check_confirm(&msg, &prop, &nego_v1, NULL, SMC_MTU_4096,
						 &result);
		KUNIT_EXPECT_EQ(test, decline,
				mtu >= 1 && mtu <= 5 ? SMC_DECLINE_NONE : SMC_DECLINE_MODEUNSUPP);
		KUNIT_EXPECT_FALSE(test, result.must_reset);
		decline = smc_nego_check_confirm(&msg, &prop, &nego_v1, &known, SMC_MTU_4096,
						 &result);
		KUNIT_EXPECT_EQ(test, decline, SMC_DECLINE_NONE);
	}
}

static void each_reason_has_a_place_and_words_of_its_own(struct kunit *test)
{
	unsigned int i, k;

	for (i = 0; i < SMC_REASON_NR; i++) {
		u32 code = smc_nego_reason_code(i);

		KUNIT_EXPECT_EQ(test, (unsigned int)smc_nego_reason(code), i);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_STRNEQ(test, smc_nego_reason_text(code),
					    smc_nego_reason_text(smc_nego_reason_code(k)));
	}
	KUNIT_EXPECT_EQ(test, smc_nego_reason(0x12345678), SMC_REASON_OTHER);
	/*
	 * Deployed tools have room for that many on each side. NOSMCDEV is only a peer's, CNFERR
	 * only a client's, NOV2EXT only a server's.
	 */
	static_assert(SMC_REASON_NR - 2 <= 30);
}

static struct kunit_case smc_clc_nego_cases[] = {
	KUNIT_CASE(each_reason_has_a_place_and_words_of_its_own),
	KUNIT_CASE(dcln_01_codes_have_the_numbers_of_deployed_tools),
	KUNIT_CASE(pid_01_instance_then_mac),
	KUNIT_CASE(acpt_06_size_codes),
	KUNIT_CASE(acpt_06_size_is_capped_for_the_peer),
	KUNIT_CASE(rmb_09_an_element_is_as_large_as_asked),
	KUNIT_CASE(acpt_07_mtu_enumeration),
	KUNIT_CASE(prop_06_prefix_list_is_truncated),
	KUNIT_CASE(prop_06_prefix_of_the_connection_comes_first),
	KUNIT_CASE(prop_04_prefixes_are_masked_and_named_once),
	KUNIT_CASE(prop_06_each_listed_prefix_is_compared),
	KUNIT_CASE(prop_04_useless_prefixes_are_left_out),
	KUNIT_CASE(prop_02_proposal_names_host_rnic_and_subnet),
	KUNIT_CASE(prop_03_golden_bytes),
	KUNIT_CASE(prop_04_ipv6_form_has_no_subnet),
	KUNIT_CASE(prop_09_family_of_the_flow_selects_the_form),
	KUNIT_CASE(prop_02_no_subnet_no_proposal),
	KUNIT_CASE_PARAM(fc_03_same_ipv4_subnet, nego_subnet_gen_params),
	KUNIT_CASE(fc_04_any_of_the_ipv6_prefixes),
	KUNIT_CASE(fc_04_link_local_never_matches),
	KUNIT_CASE(dcln_08_server_declines_with_the_reason_err_04),
	KUNIT_CASE(fc_02_pid_05_peer_id_alone_tells),
	KUNIT_CASE(pid_06_restarted_peer_is_another_one),
	KUNIT_CASE(fc_02_gid_tells_peers_without_id),
	KUNIT_CASE(pid_05_sc_03_same_rnic),
	KUNIT_CASE(acpt_02_accept_says_first_contact),
	KUNIT_CASE(clc_08_first_and_subsequent_contact_look_alike),
	KUNIT_CASE(acpt_01_golden_bytes),
	KUNIT_CASE(sc_02_accept_is_complete_on_subsequent_contact),
	KUNIT_CASE(cfrm_01_cfrm_02_confirm_has_data_but_no_flag),
	KUNIT_CASE(dcln_01_golden_bytes),
	KUNIT_CASE_PARAM(fc_06_sc_05_sc_06_accept_is_classified,
			 nego_accept_gen_params),
	KUNIT_CASE(err_13_subsequent_contact_without_link),
	KUNIT_CASE(rkey_23_rkey_24_unknown_rmb_is_no_first_contact),
	KUNIT_CASE(acpt_08_err_17_mtu_counts_on_first_contact_only),
	KUNIT_CASE(clc_05_accept_of_a_version_not_offered),
	KUNIT_CASE(acpt_07_fc_14_mtu_is_the_smaller_one),
	KUNIT_CASE(acpt_06_settled_values_of_version_1),
	KUNIT_CASE_PARAM(sc_09_sc_10_confirm_is_checked,
			 nego_confirm_gen_params),
	KUNIT_CASE(cfrm_04_err_17_mtu_counts_on_first_contact_only),
	{}
};

static struct kunit_suite smc_clc_nego_suite = {
	.name = "smc_clc_nego",
	.test_cases = smc_clc_nego_cases,
};

kunit_test_suite(smc_clc_nego_suite);
