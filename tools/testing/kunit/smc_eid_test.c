// SPDX-License-Identifier: GPL-2.0
/*
 * The table of EIDs.
 */
#include "smc_kunit.h"

#include "../../../net/smc/rdma/smc_eid.c"

#define EID_A	"A                               "
#define EID_B	"B.B-9                           "

static int eid_init(struct kunit *test)
{
	smc_eid_flush();
	return 0;
}

static void eids_are_listed_in_order(struct kunit *test)
{
	u8 eids[SMC_CLC_EIDS_MAX][SMC_EID_LEN];
	u8 eid[SMC_EID_LEN];

	KUNIT_EXPECT_EQ(test, smc_eid_list(false, eids), 0);
	KUNIT_EXPECT_FALSE(test, smc_eid_any(false));
	KUNIT_EXPECT_TRUE(test, smc_eid_any(true));
	KUNIT_EXPECT_FALSE(test, smc_eid_get(0, eid));
	KUNIT_EXPECT_EQ(test, smc_eid_add(EID_B), 0);
	KUNIT_EXPECT_EQ(test, smc_eid_add(EID_A), 0);
	KUNIT_ASSERT_EQ(test, smc_eid_list(false, eids), 2);
	KUNIT_EXPECT_TRUE(test, smc_eid_any(false));
	KUNIT_EXPECT_MEMEQ(test, eids[0], EID_B, SMC_EID_LEN);
	KUNIT_EXPECT_MEMEQ(test, eids[1], EID_A, SMC_EID_LEN);
	KUNIT_ASSERT_TRUE(test, smc_eid_get(1, eid));
	KUNIT_EXPECT_MEMEQ(test, eid, EID_A, SMC_EID_LEN);
	KUNIT_EXPECT_FALSE(test, smc_eid_get(2, eid));
}

static void what_is_no_eid_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_eid_add("a                               "), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_eid_add("                                "), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_eid_add("A\0                              "), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_eid_add("A..B                            "), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_eid_add("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123.."), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_eid_add("A.B.-.C.                        "), 0);
}

static void table_holds_four(struct kunit *test)
{
	u8 eids[SMC_CLC_EIDS_MAX][SMC_EID_LEN];
	u8 eid[SMC_EID_LEN + 1] = EID_A;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		eid[1] = '0' + i;
		KUNIT_EXPECT_EQ(test, smc_eid_add(eid), 0);
		KUNIT_EXPECT_EQ(test, smc_eid_add(eid), -EEXIST);
	}
	KUNIT_EXPECT_EQ(test, smc_eid_add(EID_B), -ERANGE);
	/* the default EID has its own entry */
	KUNIT_ASSERT_EQ(test, smc_eid_list(true, eids), 5);
	KUNIT_EXPECT_MEMEQ(test, eids[4], SMC_EID_DEFAULT, SMC_EID_LEN);
}

static void removed_from_anywhere(struct kunit *test)
{
	u8 eids[SMC_CLC_EIDS_MAX][SMC_EID_LEN];
	u8 eid[SMC_EID_LEN + 1] = EID_A;
	unsigned int gone, i, n;

	for (gone = 0; gone < 4; gone++) {
		smc_eid_flush();
		for (i = 0; i < 4; i++) {
			eid[1] = '0' + i;
			smc_eid_add(eid);
		}
		eid[1] = '0' + gone;
		KUNIT_EXPECT_EQ(test, smc_eid_remove(eid), 0);
		KUNIT_EXPECT_EQ(test, smc_eid_remove(eid), -ENOENT);
		KUNIT_ASSERT_EQ(test, smc_eid_list(false, eids), 3);
		for (i = 0, n = 0; i < 4; i++)
			if (i != gone)
				KUNIT_EXPECT_EQ(test, eids[n++][1], '0' + i);
	}
}

static void default_eid_is_named_once(struct kunit *test)
{
	u8 eids[SMC_CLC_EIDS_MAX][SMC_EID_LEN];

	KUNIT_ASSERT_EQ(test, smc_eid_list(true, eids), 1);
	KUNIT_EXPECT_TRUE(test, smc_clc_eid_is_valid(eids[0]));
	KUNIT_EXPECT_FALSE(test, smc_eid_is_added(SMC_EID_DEFAULT));
	KUNIT_EXPECT_EQ(test, smc_eid_add(SMC_EID_DEFAULT), 0);
	KUNIT_EXPECT_TRUE(test, smc_eid_is_added(SMC_EID_DEFAULT));
	KUNIT_EXPECT_EQ(test, smc_eid_list(true, eids), 1);
	KUNIT_EXPECT_EQ(test, smc_eid_list(false, eids), 1);
}

static struct kunit_case smc_eid_cases[] = {
	KUNIT_CASE(eids_are_listed_in_order),
	KUNIT_CASE(what_is_no_eid_is_refused),
	KUNIT_CASE(table_holds_four),
	KUNIT_CASE(removed_from_anywhere),
	KUNIT_CASE(default_eid_is_named_once),
	{}
};

static struct kunit_suite smc_eid_suite = {
	.name = "smc_eid",
	.init = eid_init,
	.test_cases = smc_eid_cases,
};

kunit_test_suite(smc_eid_suite);
