// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the policy: what each part of one matches.
 */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_policy_rule.c"

static struct smc_policy_rule policy_all(void)
{
	return (struct smc_policy_rule){ .sides = SMC_POLICY_BOTH, .port_last = U16_MAX };
}

/* A client of user 1000 in the group 7, which is below 3 and 1, to 10.43.0.1 port 5201. */
static struct smc_policy_conn policy_client(void)
{
	return (struct smc_policy_conn){
		.peer = { [10] = 0xff, 0xff, 10, 43, 0, 1 }, .side = SMC_POLICY_CONNECT,
		.port = 5201, .uid = 1000, .cgroup = { 1, 3, 7 }, .nr_cgroups = 3,
	};
}

static void policy_a_rule_without_parts_matches_everything(struct kunit *test)
{
	struct smc_policy_rule rule = policy_all();
	struct smc_policy_conn conn = policy_client();

	KUNIT_EXPECT_TRUE(test, smc_policy_rule_matches(&rule, &conn));
	conn = (struct smc_policy_conn){ .side = SMC_POLICY_LISTEN };
	KUNIT_EXPECT_TRUE(test, smc_policy_rule_matches(&rule, &conn));
	conn.port = U16_MAX;
	conn.uid = U32_MAX;
	KUNIT_EXPECT_TRUE(test, smc_policy_rule_matches(&rule, &conn));
}

static void policy_sides(struct kunit *test)
{
	static const struct {
		u8 sides;
		u8 side;
		bool matches;
	} rows[] = {
		{ SMC_POLICY_CONNECT, SMC_POLICY_CONNECT, true },
		{ SMC_POLICY_CONNECT, SMC_POLICY_LISTEN, false },
		{ SMC_POLICY_LISTEN, SMC_POLICY_LISTEN, true },
		{ SMC_POLICY_LISTEN, SMC_POLICY_CONNECT, false },
		{ SMC_POLICY_BOTH, SMC_POLICY_CONNECT, true },
		{ SMC_POLICY_BOTH, SMC_POLICY_LISTEN, true },
	};
	struct smc_policy_rule rule = policy_all();
	struct smc_policy_conn conn = policy_client();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rule.sides = rows[i].sides;
		conn.side = rows[i].side;
		KUNIT_EXPECT_EQ_MSG(test, smc_policy_rule_matches(&rule, &conn), rows[i].matches,
				    "row %u", i);
	}
}

static void policy_ports(struct kunit *test)
{
	static const struct {
		u16 first, last, port;
		bool matches;
	} rows[] = {
		{ 80, 80, 80, true }, { 80, 80, 79, false }, { 80, 80, 81, false },
		{ 1, 1023, 1, true }, { 1, 1023, 1023, true }, { 1, 1023, 0, false },
		{ 1, 1023, 1024, false }, { 65535, 65535, 65535, true }, { 0, 0, 0, true },
	};
	struct smc_policy_rule rule = policy_all();
	struct smc_policy_conn conn = policy_client();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rule.port_first = rows[i].first;
		rule.port_last = rows[i].last;
		conn.port = rows[i].port;
		KUNIT_EXPECT_EQ_MSG(test, smc_policy_rule_matches(&rule, &conn), rows[i].matches,
				    "row %u", i);
	}
}

/* Of each length the first address, and the one that differs in the last bit that counts */
static void policy_prefixes_of_each_length(struct kunit *test)
{
	struct smc_policy_rule rule = policy_all();
	struct smc_policy_conn conn = policy_client();
	unsigned int bits;

	for (bits = 0; bits <= 128; bits++) {
		memset(rule.peer, 0xff, sizeof(rule.peer));
		rule.prefix = bits;
		smc_policy_rule_mask(&rule);
		memcpy(conn.peer, rule.peer, sizeof(conn.peer));
		KUNIT_EXPECT_TRUE_MSG(test, smc_policy_rule_matches(&rule, &conn), "%u bits", bits);
		if (bits < 128) {
			conn.peer[bits / 8] ^= 0x80 >> bits % 8;
			KUNIT_EXPECT_TRUE_MSG(test, smc_policy_rule_matches(&rule, &conn),
					      "%u bits and one beyond", bits);
		}
		if (!bits)
			continue;
		conn.peer[(bits - 1) / 8] ^= 0x80 >> (bits - 1) % 8;
		KUNIT_EXPECT_FALSE_MSG(test, smc_policy_rule_matches(&rule, &conn),
				       "%u bits, the last one differs", bits);
	}
}

static void policy_all_of_ipv4_is_not_ipv6(struct kunit *test)
{
	struct smc_policy_rule rule = policy_all();
	struct smc_policy_conn conn = policy_client();

	rule.peer[10] = 0xff;
	rule.peer[11] = 0xff;
	rule.prefix = 96;
	KUNIT_EXPECT_TRUE(test, smc_policy_rule_matches(&rule, &conn));
	memset(conn.peer, 0, sizeof(conn.peer));
	conn.peer[0] = 0xfd;
	KUNIT_EXPECT_FALSE(test, smc_policy_rule_matches(&rule, &conn));
}

static void policy_users(struct kunit *test)
{
	struct smc_policy_rule rule = policy_all();
	struct smc_policy_conn conn = policy_client();

	rule.has_uid = true;
	KUNIT_EXPECT_FALSE(test, smc_policy_rule_matches(&rule, &conn));
	rule.uid = 1000;
	KUNIT_EXPECT_TRUE(test, smc_policy_rule_matches(&rule, &conn));
	rule.uid = 0;
	conn.uid = 0;
	KUNIT_EXPECT_TRUE(test, smc_policy_rule_matches(&rule, &conn));
}

static void policy_groups_and_those_below(struct kunit *test)
{
	struct smc_policy_rule rule = policy_all();
	struct smc_policy_conn conn = policy_client();
	unsigned int i;

	for (i = 0; i < conn.nr_cgroups; i++) {
		rule.cgroup = conn.cgroup[i];
		KUNIT_EXPECT_TRUE_MSG(test, smc_policy_rule_matches(&rule, &conn), "group %u", i);
	}
	rule.cgroup = 8;
	KUNIT_EXPECT_FALSE(test, smc_policy_rule_matches(&rule, &conn));
	rule.cgroup = 7;
	conn.nr_cgroups = 2;
	KUNIT_EXPECT_FALSE(test, smc_policy_rule_matches(&rule, &conn));
	conn.nr_cgroups = 0;
	KUNIT_EXPECT_FALSE(test, smc_policy_rule_matches(&rule, &conn));
	rule.cgroup = 0;
	KUNIT_EXPECT_TRUE(test, smc_policy_rule_matches(&rule, &conn));
}

static void policy_each_part_must_match(struct kunit *test)
{
	struct smc_policy_rule rule = policy_all(), wrong;
	struct smc_policy_conn conn = policy_client();
	unsigned int i;

	memcpy(rule.peer, conn.peer, sizeof(rule.peer));
	rule.prefix = 128;
	rule.port_first = 5201;
	rule.port_last = 5201;
	rule.has_uid = true;
	rule.uid = 1000;
	rule.cgroup = 3;
	rule.sides = SMC_POLICY_CONNECT;
	KUNIT_EXPECT_TRUE(test, smc_policy_rule_matches(&rule, &conn));
	for (i = 0; i < 5; i++) {
		wrong = rule;
		wrong.peer[15] ^= i == 0;
		wrong.port_last -= i == 1;
		wrong.uid += i == 2;
		wrong.cgroup += i == 3;
		wrong.sides ^= i == 4 ? SMC_POLICY_BOTH : 0;
		KUNIT_EXPECT_FALSE_MSG(test, smc_policy_rule_matches(&wrong, &conn), "part %u", i);
		KUNIT_EXPECT_FALSE_MSG(test, smc_policy_rule_is_same(&wrong, &rule), "part %u", i);
	}
}

static void policy_the_id_is_no_part(struct kunit *test)
{
	struct smc_policy_rule a = policy_all(), b = policy_all();

	a.id = 1;
	b.id = 2;
	KUNIT_EXPECT_TRUE(test, smc_policy_rule_is_same(&a, &b));
	b.action = SMC_POLICY_TCP;
	KUNIT_EXPECT_FALSE(test, smc_policy_rule_is_same(&a, &b));
}

static struct kunit_case policy_rule_cases[] = {
	KUNIT_CASE(policy_a_rule_without_parts_matches_everything),
	KUNIT_CASE(policy_sides),
	KUNIT_CASE(policy_ports),
	KUNIT_CASE(policy_prefixes_of_each_length),
	KUNIT_CASE(policy_all_of_ipv4_is_not_ipv6),
	KUNIT_CASE(policy_users),
	KUNIT_CASE(policy_groups_and_those_below),
	KUNIT_CASE(policy_each_part_must_match),
	KUNIT_CASE(policy_the_id_is_no_part),
	{}
};

static struct kunit_suite policy_rule_suite = {
	.name = "smc_policy_rule",
	.test_cases = policy_rule_cases,
};

kunit_test_suite(policy_rule_suite);
