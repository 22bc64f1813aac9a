// SPDX-License-Identifier: GPL-2.0
/* The peer's RMBs and their keys on each link. */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_rtoken.c"

static struct smc_rtokens *rtoken_table(struct kunit *test)
{
	struct smc_rtokens *rt;

	rt = kunit_kzalloc(test, sizeof(*rt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rt);
	return rt;
}

static void rkey_22_an_rmb_has_a_token_on_each_link(struct kunit *test)
{
	struct smc_rtokens *rt = rtoken_table(test);

	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 0x11, 0x1000), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 0x22, 0x2000), 1);
	KUNIT_EXPECT_EQ(test, smc_rtoken_set(rt, 0, 8, 0x22, 0x9000), 0);

	/* One key, two links, two RMBs. */
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 0, 0x22, 0x2000), 1);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 8, 0x22, 0x9000), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find_rkey(rt, 8, 0x22), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find_rkey(rt, 8, 0x11), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find_rkey(rt, 1, 0x22), -ENOENT);
}

static void rkey_01_a_token_is_key_and_address(struct kunit *test)
{
	struct smc_rtokens *rt = rtoken_table(test);

	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 2, 0x11, 0x1000), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 2, 0x11, 0x1000), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 2, 0x11, 0x1001), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 2, 0x12, 0x1000), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 2, 0x11, 0x1001), -EEXIST);
}

static void an_empty_entry_does_not_match_key_0(struct kunit *test)
{
	struct smc_rtokens *rt = rtoken_table(test);

	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 0, 0, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 0, 0, 0), 0);
}

static void a_token_set_again_stays_in_its_place(struct kunit *test)
{
	struct smc_rtokens *rt = rtoken_table(test);

	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 0x11, 0x1000), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 0x22, 0x2000), 1);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 0x11, 0x1000), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_set(rt, 0, 0, 0x11, 0x1000), 0);
	/* neither takes the other's key nor loses its own */
	KUNIT_EXPECT_EQ(test, smc_rtoken_set(rt, 0, 0, 0x22, 0x2000), -EEXIST);
	KUNIT_EXPECT_EQ(test, smc_rtoken_set(rt, 0, 0, 0x33, 0x3000), -EEXIST);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 0, 0x11, 0x1000), 0);
}

static void rmb_01_the_peer_has_255_rmbs(struct kunit *test)
{
	struct smc_rtokens *rt = rtoken_table(test);
	u32 i;

	for (i = 0; i < 255; i++)
		KUNIT_ASSERT_EQ(test, smc_rtoken_add(rt, 0, i, i), i);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 255, 255), -ENOSPC);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 0, 254, 254), 254);

	rt->tok[100].in_use[0] = BIT(7);
	smc_rtoken_del(rt, 100);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find_rkey(rt, 0, 100), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 255, 255), 100);
	KUNIT_EXPECT_FALSE(test, rt->tok[100].in_use[0] & BIT(7));
}

static void with_its_last_link_an_rmb_is_forgotten(struct kunit *test)
{
	struct smc_rtokens *rt = rtoken_table(test);

	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 0x11, 0x1000), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_set(rt, 0, 1, 0x12, 0x1000), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 0x21, 0x2000), 1);
	rt->tok[0].in_use[0] = BIT(1);

	smc_rtoken_del_link(rt, 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find_rkey(rt, 0, 0x11), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 1, 0x12, 0x1000), 0);
	KUNIT_EXPECT_TRUE(test, rt->tok[0].in_use[0] & BIT(1));
	/* the second one is free again, the first one is not */
	KUNIT_EXPECT_EQ(test, smc_rtoken_add(rt, 0, 0x31, 0x3000), 1);
	KUNIT_EXPECT_EQ(test, smc_rtoken_set(rt, 0, 0, 0x13, 0x1000), 0);
}

static void rkey_04_the_keys_of_an_rmb_are_stored_all_or_none(struct kunit *test)
{
	struct smc_llc_rkeys keys = {
		.count = 2, .rtoken = {
			{ .link_num = 0, .rkey = 0x11, .vaddr = 0x1000 },
			{ .link_num = 1, .rkey = 0x12, .vaddr = 0x1000 },
		},
	};
	struct smc_rtokens *rt = rtoken_table(test);

	KUNIT_EXPECT_TRUE(test, smc_rtoken_store(rt, &keys));
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 1, 0x12, 0x1000), 0);
	/* a repetition changes nothing */
	KUNIT_EXPECT_TRUE(test, smc_rtoken_store(rt, &keys));
	/* another RMB has the key on the second link */
	keys.rtoken[0].rkey = 0x21;
	KUNIT_EXPECT_FALSE(test, smc_rtoken_store(rt, &keys));
	KUNIT_EXPECT_EQ(test, smc_rtoken_find_rkey(rt, 0, 0x21), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 0, 0x11, 0x1000), 0);
	/* a known RMB remains when a later key conflicts */
	keys.rtoken[0].rkey = 0x11;
	keys.rtoken[1].rkey = 0x13;
	KUNIT_EXPECT_FALSE(test, smc_rtoken_store(rt, &keys));
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 0, 0x11, 0x1000), 0);
	KUNIT_EXPECT_EQ(test, smc_rtoken_find(rt, 1, 0x12, 0x1000), 0);
}

static struct kunit_case smc_rtoken_cases[] = {
	KUNIT_CASE(rkey_22_an_rmb_has_a_token_on_each_link),
	KUNIT_CASE(rkey_01_a_token_is_key_and_address),
	KUNIT_CASE(an_empty_entry_does_not_match_key_0),
	KUNIT_CASE(a_token_set_again_stays_in_its_place),
	KUNIT_CASE(rmb_01_the_peer_has_255_rmbs),
	KUNIT_CASE(with_its_last_link_an_rmb_is_forgotten),
	KUNIT_CASE(rkey_04_the_keys_of_an_rmb_are_stored_all_or_none),
	{}
};

static struct kunit_suite smc_rtoken_suite = {
	.name = "smc_rtoken",
	.test_cases = smc_rtoken_cases,
};

kunit_test_suite(smc_rtoken_suite);
