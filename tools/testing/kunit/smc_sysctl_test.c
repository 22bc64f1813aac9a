// SPDX-License-Identifier: GPL-2.0
/*
 * The defaults of the settings.
 */
#include "smc_kunit.h"
#include <linux/time64.h>

#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/rdma/smc_wr.h"
#include "../../../net/smc/control/smc_sysctl.h"

struct row {
	const char *file;
	const char *member;
	int initial;
	int min;
	int max;
	enum smc_sysctl_owner owner;
};

static const struct row rows[] = {
#define ROW(file, member, initial, min, max, owner) \
	{ file, #member, initial, min, max, SMC_OWNER_##owner },
	SMC_SYSCTLS_OPERATOR(ROW)
	SMC_SYSCTLS_RARE(ROW)
	SMC_SYSCTLS_TEST(ROW)
#undef ROW
};

static const struct row *find(struct kunit *test, const char *member)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].member, member))
			return &rows[i];
	KUNIT_FAIL_AND_ABORT(test, "no setting %s", member);
	return NULL;
}

static int own_min(const struct row *row)
{
	return smc_sysctl_own_min(row->owner, row->initial, row->min);
}

static int own_max(const struct row *row)
{
	return smc_sysctl_own_max(row->owner, row->initial, row->max);
}

static int initial(struct kunit *test, const char *member)
{
	return find(test, member)->initial;
}

/* With autocorking_size and mem. */
static void an_operator_has_few_settings(struct kunit *test)
{
#define ONE(...)	1,
	static const u8 row[] = { SMC_SYSCTLS_OPERATOR(ONE) SMC_SYSCTLS_RARE(ONE) };

	KUNIT_EXPECT_LE(test, 2 + ARRAY_SIZE(row), 23UL);
#undef ONE
}

static void every_default_is_within_its_limits(struct kunit *test)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_GE_MSG(test, rows[i].initial, rows[i].min, "%s", rows[i].file);
		KUNIT_EXPECT_LE_MSG(test, rows[i].initial, rows[i].max, "%s", rows[i].file);
		KUNIT_EXPECT_GE_MSG(test, own_min(&rows[i]), rows[i].min, "%s", rows[i].file);
		KUNIT_EXPECT_LE_MSG(test, own_max(&rows[i]), rows[i].max, "%s", rows[i].file);
		KUNIT_EXPECT_GE_MSG(test, rows[i].initial, own_min(&rows[i]), "%s", rows[i].file);
		KUNIT_EXPECT_LE_MSG(test, rows[i].initial, own_max(&rows[i]), "%s", rows[i].file);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_STRNEQ(test, rows[i].file, rows[k].file);
	}
}

/*
 * Memory and queue pairs of the host, the time for which an RNIC waits, and messages to the peer
 * are not for the owner of a namespace to take more of.
 */
static void what_costs_others_is_not_for_the_owner_of_a_namespace(struct kunit *test)
{
	static const struct {
		const char *member;
		int min;
		int max;
	} limits[] = {
		{ .member = "max_links", .min = 1, .max = 2 },
		/* 0: a dead peer keeps its queue pair for ever */
		{ .member = "testlink_time", .min = 1, .max = 30 },
		{ .member = "rmb_idle_ms", .min = 1, .max = 60000 },
		{ .member = "memory", .min = 0, .max = 1 },
		/* fewer connections in a group make more queue pairs */
		{ .member = "max_conns_per_lgr", .min = 255, .max = 255 },
		{ .member = "llc.add_link_retry", .min = 30000, .max = 3600000 },
		{ .member = "dialect", .min = 0, .max = 1 },
		/* a lossless class is for those whom the site lets in */
		{ .member = "rdma_tos", .min = 0, .max = 0 },
		{ .member = "rdma_sl", .min = 0, .max = 0 },
	};
	const struct row *row;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		row = find(test, limits[i].member);
		KUNIT_EXPECT_EQ_MSG(test, own_min(row), limits[i].min, "%s", row->file);
		KUNIT_EXPECT_EQ_MSG(test, own_max(row), limits[i].max, "%s", row->file);
	}
	KUNIT_EXPECT_EQ(test, own_max(find(test, "rdma_timeout")), initial(test, "rdma_timeout"));
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		/* an RNIC waits for its users */
		if (rows[i].max == SMC_HOUR_MS && strcmp(rows[i].member, "llc.add_link_retry"))
			KUNIT_EXPECT_EQ_MSG(test, own_max(&rows[i]), rows[i].initial, "%s",
					    rows[i].file);
}

/*
 * As on deployed hosts, but the defaults of rings and queues are larger, and links and connections
 * of a group count for version 1, too.
 */
static void names_that_deployed_hosts_know_keep_their_limits(struct kunit *test)
{
	static const struct row deployed[] = {
		{ .file = "wmem", .initial = 262144, .min = 16384, .max = 1073741823 },
		{ .file = "rmem", .initial = 262144, .min = 16384, .max = 1073741823 },
		{ .file = "smcr_max_links_per_lgr", .initial = 2, .min = 1, .max = 8 },
		{ .file = "smcr_max_conns_per_lgr", .initial = 255, .min = 1, .max = 255 },
		{ .file = "limit_smc_hs", .initial = 0, .min = 0, .max = 1 },
		{ .file = "smcr_testlink_time", .initial = 30, .min = 0, .max = INT_MAX },
		{ .file = "smcr_buf_type", .initial = 1, .min = 0, .max = 2 },
		{ .file = "smcr_max_send_wr", .initial = 64, .min = 2, .max = 2048 },
		{ .file = "smcr_max_recv_wr", .initial = 256, .min = 2, .max = 2048 },
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(deployed); i++) {
		for (k = 0; k < ARRAY_SIZE(rows); k++)
			if (!strcmp(rows[k].file, deployed[i].file))
				break;
		KUNIT_ASSERT_LT_MSG(test, k, ARRAY_SIZE(rows), "%s", deployed[i].file);
		KUNIT_EXPECT_EQ_MSG(test, rows[k].initial, deployed[i].initial, "%s",
				    rows[k].file);
		KUNIT_EXPECT_EQ_MSG(test, rows[k].min, deployed[i].min, "%s", rows[k].file);
		KUNIT_EXPECT_EQ_MSG(test, rows[k].max, deployed[i].max, "%s", rows[k].file);
	}
}

/* A link that is not up breaks after SMC_WR_PATIENCE_MS; TCP waits 1, 2, 4 s. */
static void tmr_06_first_contact_outlasts_a_decline(struct kunit *test)
{
	int decline_ms = SMC_WR_PATIENCE_MS + 1000 + 2000 + 4000;

	KUNIT_EXPECT_EQ(test, initial(test, "rdma_retries"), SMC_IB_MAX_RETRIES);
	KUNIT_EXPECT_GE(test, initial(test, "llc.confirm_link"), decline_ms);
	KUNIT_EXPECT_GE(test, initial(test, "llc.first_reply"), decline_ms);
	KUNIT_EXPECT_GE(test, initial(test, "llc.add_link"), decline_ms);
}

/* net.ipv4.tcp_retries2 is 15: ten timeouts of 0.2 to 102.4 s, and six of 120 s. */
static void a_link_waits_as_long_as_tcp(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, READ_ONCE(init_net.ipv4.sysctl_tcp_retries2), 15);
	KUNIT_EXPECT_EQ(test, smc_net_patience_ms(&init_net), 924600U);
}

static void tmr_07_other_replies_may_be_awaited_shorter(struct kunit *test)
{
	KUNIT_EXPECT_LT(test, initial(test, "llc.reply"), initial(test, "llc.first_reply"));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(an_operator_has_few_settings),
	KUNIT_CASE(every_default_is_within_its_limits),
	KUNIT_CASE(what_costs_others_is_not_for_the_owner_of_a_namespace),
	KUNIT_CASE(names_that_deployed_hosts_know_keep_their_limits),
	KUNIT_CASE(tmr_06_first_contact_outlasts_a_decline),
	KUNIT_CASE(a_link_waits_as_long_as_tcp),
	KUNIT_CASE(tmr_07_other_replies_may_be_awaited_shorter),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_sysctl",
	.test_cases = cases,
};

kunit_test_suite(suite);
