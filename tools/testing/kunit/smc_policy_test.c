// SPDX-License-Identifier: GPL-2.0
/*
 * The policy of a namespace: its changes and limits, and how it decides for sockets.
 */
#include <linux/net.h>

#include "smc_kunit.h"

#include "../../../net/smc/sock/smc_policy.c"

static struct pernet_operations policy_net_ops = {
	.init = smc_net_init,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int policy_suite_init(struct kunit_suite *suite)
{
	return register_pernet_subsys(&policy_net_ops);
}

static void policy_suite_exit(struct kunit_suite *suite)
{
	unregister_pernet_subsys(&policy_net_ops);
}

static struct socket *policy_sock;

static int policy_init(struct kunit *test)
{
	smc_net(&init_net)->set.enable = 1;
	return sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &policy_sock);
}

static void policy_exit(struct kunit *test)
{
	sock_release(policy_sock);
	smc_policy_flush(&init_net);
	smc_policy_drain = false;
}

/* A rule for one port, or for all if it is 0. */
static int policy_add(u16 port, enum smc_policy_action action, u32 before)
{
	struct smc_policy_rule rule = {
		.action = action, .sides = SMC_POLICY_BOTH,
		.port_first = port, .port_last = port ?: U16_MAX,
	};

	return smc_policy_add(&init_net, &rule, before);
}

/* The id of the rule at a place. */
static u32 policy_id(struct kunit *test, unsigned int i)
{
	struct smc_policy_rule rule = {};
	u64 hits;

	KUNIT_EXPECT_TRUE(test, smc_policy_get(&init_net, i, &rule, &hits));
	return rule.id;
}

static u64 policy_hits(unsigned int i)
{
	struct smc_policy_rule rule;
	u64 hits = 0;

	smc_policy_get(&init_net, i, &rule, &hits);
	return hits;
}

static void policy_expect_ports(struct kunit *test, const u16 *ports, unsigned int nr)
{
	struct smc_policy_rule rule = {};
	unsigned int i;
	u64 hits;

	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_TRUE(test, smc_policy_get(&init_net, i, &rule, &hits));
		KUNIT_EXPECT_EQ_MSG(test, rule.port_first, ports[i], "place %u", i);
	}
	KUNIT_EXPECT_FALSE(test, smc_policy_get(&init_net, nr, &rule, &hits));
}

static enum smc_decline policy_ask(u16 port)
{
	struct in6_addr peer;

	ipv6_addr_set_v4mapped(htonl(0x0a2b0001), &peer);
	return smc_policy_apply(policy_sock->sk, SMC_POLICY_CONNECT, &peer, port);
}

static void policy_rules_are_in_order(struct kunit *test)
{
	static const u16 ports[] = { 3, 1, 4, 2 };

	policy_expect_ports(test, ports, 0);
	KUNIT_EXPECT_EQ(test, policy_add(1, SMC_POLICY_TCP, 0), 0);
	KUNIT_EXPECT_EQ(test, policy_add(2, SMC_POLICY_TCP, 0), 0);
	KUNIT_EXPECT_EQ(test, policy_add(3, SMC_POLICY_TCP, policy_id(test, 0)), 0);
	KUNIT_EXPECT_EQ(test, policy_add(4, SMC_POLICY_TCP, policy_id(test, 2)), 0);
	policy_expect_ports(test, ports, 4);
	KUNIT_EXPECT_EQ(test, smc_policy_remove(&init_net, policy_id(test, 0)), 0);
	policy_expect_ports(test, ports + 1, 3);
	KUNIT_EXPECT_EQ(test, smc_policy_remove(&init_net, policy_id(test, 2)), 0);
	policy_expect_ports(test, ports + 1, 2);
	smc_policy_flush(&init_net);
	policy_expect_ports(test, ports, 0);
}

static void policy_a_failure_changes_nothing(struct kunit *test)
{
	static const u16 ports[] = { 1 };
	unsigned int changes;
	u32 id;

	KUNIT_EXPECT_EQ(test, smc_policy_remove(&init_net, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, policy_add(1, SMC_POLICY_TCP, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, policy_add(1, SMC_POLICY_TCP, 0), 0);
	changes = smc_policy_changes(&init_net);
	id = policy_id(test, 0);
	KUNIT_EXPECT_EQ(test, policy_add(1, SMC_POLICY_TCP, 0), -EEXIST);
	KUNIT_EXPECT_EQ(test, policy_add(2, SMC_POLICY_TCP, id + 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_policy_remove(&init_net, id + 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_policy_remove(&init_net, 0), -ENOENT);
	policy_expect_ports(test, ports, 1);
	KUNIT_EXPECT_EQ(test, smc_policy_changes(&init_net), changes);
}

static void policy_an_id_is_never_used_again(struct kunit *test)
{
	u32 id;

	KUNIT_EXPECT_EQ(test, policy_add(1, SMC_POLICY_TCP, 0), 0);
	id = policy_id(test, 0);
	KUNIT_EXPECT_EQ(test, smc_policy_remove(&init_net, id), 0);
	KUNIT_EXPECT_EQ(test, policy_add(1, SMC_POLICY_TCP, 0), 0);
	KUNIT_EXPECT_GT(test, policy_id(test, 0), id);
	id = policy_id(test, 0);
	smc_policy_flush(&init_net);
	KUNIT_EXPECT_EQ(test, policy_add(1, SMC_POLICY_TCP, 0), 0);
	KUNIT_EXPECT_GT(test, policy_id(test, 0), id);
}

static void policy_the_limit_of_rules(struct kunit *test)
{
	unsigned int i;

	for (i = 1; i <= SMC_POLICY_RULES_MAX; i++)
		KUNIT_ASSERT_EQ(test, policy_add(i, SMC_POLICY_TCP, 0), 0);
	KUNIT_EXPECT_EQ(test, policy_add(i, SMC_POLICY_TCP, 0), -ENOSPC);
	KUNIT_EXPECT_EQ(test, smc_policy_remove(&init_net, policy_id(test, 7)), 0);
	KUNIT_EXPECT_EQ(test, policy_add(i, SMC_POLICY_TCP, 0), 0);
}

static void policy_the_first_rule_that_matches_decides(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, policy_add(22, SMC_POLICY_TCP, 0), 0);
	KUNIT_EXPECT_EQ(test, policy_add(23, SMC_POLICY_SMC, 0), 0);
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(24), (u32)SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, policy_add(0, SMC_POLICY_TCP, 0), 0);
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_POLICY);
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(23), (u32)SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(24), (u32)SMC_DECLINE_POLICY);
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(24), (u32)SMC_DECLINE_POLICY);
	KUNIT_EXPECT_EQ(test, policy_hits(0), 1ULL);
	KUNIT_EXPECT_EQ(test, policy_hits(1), 1ULL);
	KUNIT_EXPECT_EQ(test, policy_hits(2), 2ULL);
}

static void policy_counts_survive_changes_and_a_look(struct kunit *test)
{
	struct in6_addr peer = {};
	u32 rule;

	KUNIT_EXPECT_EQ(test, policy_add(22, SMC_POLICY_TCP, 0), 0);
	policy_ask(22);
	KUNIT_EXPECT_EQ(test, policy_add(23, SMC_POLICY_TCP, policy_id(test, 0)), 0);
	KUNIT_EXPECT_EQ(test, policy_hits(1), 1ULL);
	KUNIT_EXPECT_EQ(test, (u32)smc_policy_peek(policy_sock->sk, SMC_POLICY_LISTEN, &peer, 22,
						   &rule), (u32)SMC_DECLINE_POLICY);
	KUNIT_EXPECT_EQ(test, rule, policy_id(test, 1));
	KUNIT_EXPECT_EQ(test, (u32)smc_policy_peek(policy_sock->sk, SMC_POLICY_LISTEN, &peer, 21,
						   &rule), (u32)SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, rule, 0U);
	KUNIT_EXPECT_EQ(test, smc_policy_remove(&init_net, policy_id(test, 0)), 0);
	KUNIT_EXPECT_EQ(test, policy_hits(0), 1ULL);
}

static void policy_of_the_sockets_user_and_group(struct kunit *test)
{
	struct smc_policy_rule rule = {
		.action = SMC_POLICY_TCP, .sides = SMC_POLICY_BOTH, .port_last = U16_MAX,
		.has_uid = true, .uid = __kuid_val(policy_sock->sk->sk_uid) + 1,
	};
	struct smc_policy_conn conn = {};

	KUNIT_EXPECT_EQ(test, smc_policy_add(&init_net, &rule, 0), 0);
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_NONE);
	rule.uid--;
	KUNIT_EXPECT_EQ(test, smc_policy_add(&init_net, &rule, 0), 0);
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_POLICY);

	smc_policy_flush(&init_net);
	smc_policy_list_cgroups(policy_sock->sk, &conn);
	if (!IS_ENABLED(CONFIG_SOCK_CGROUP_DATA)) {
		KUNIT_EXPECT_EQ(test, conn.nr_cgroups, 0U);
		return;
	}
	KUNIT_ASSERT_GT(test, conn.nr_cgroups, 0U);
	KUNIT_EXPECT_LE(test, conn.nr_cgroups, (unsigned int)SMC_POLICY_DEPTH_MAX);
	/* the root of all */
	KUNIT_EXPECT_EQ(test, conn.cgroup[0], 1ULL);
	rule.has_uid = false;
	rule.uid = 0;
	rule.cgroup = conn.cgroup[conn.nr_cgroups - 1];
	KUNIT_EXPECT_EQ(test, smc_policy_add(&init_net, &rule, 0), 0);
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_POLICY);
}

static void policy_drain_goes_before_all_rules(struct kunit *test)
{
	struct in6_addr peer = {};

	KUNIT_EXPECT_EQ(test, policy_add(0, SMC_POLICY_SMC, 0), 0);
	smc_policy_drain = true;
	KUNIT_EXPECT_TRUE(test, smc_policy_is_draining());
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_DRAIN);
	KUNIT_EXPECT_EQ(test, (u32)smc_policy_peek(policy_sock->sk, SMC_POLICY_LISTEN, &peer, 22,
						   NULL), (u32)SMC_DECLINE_DRAIN);
	KUNIT_EXPECT_EQ(test, policy_hits(0), 0ULL);
	smc_policy_drain = false;
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_NONE);
}

static void policy_of_a_namespace_that_is_off(struct kunit *test)
{
	struct smc_settings *set = &smc_net(&init_net)->set;
	struct in6_addr peer = {};

	KUNIT_EXPECT_EQ(test, policy_add(0, SMC_POLICY_SMC, 0), 0);
	set->enable = 0;
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_POLICY);
	KUNIT_EXPECT_EQ(test, (u32)smc_policy_peek(policy_sock->sk, SMC_POLICY_LISTEN, &peer, 22,
						   NULL), (u32)SMC_DECLINE_POLICY);
	KUNIT_EXPECT_EQ(test, policy_hits(0), 0ULL);
	smc_policy_drain = true;
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_DRAIN);
	smc_policy_drain = false;
	set->enable = 1;
	KUNIT_EXPECT_EQ(test, (u32)policy_ask(22), (u32)SMC_DECLINE_NONE);
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE(policy_of_a_namespace_that_is_off),
	KUNIT_CASE(policy_rules_are_in_order),
	KUNIT_CASE(policy_a_failure_changes_nothing),
	KUNIT_CASE(policy_an_id_is_never_used_again),
	KUNIT_CASE(policy_the_limit_of_rules),
	KUNIT_CASE(policy_the_first_rule_that_matches_decides),
	KUNIT_CASE(policy_counts_survive_changes_and_a_look),
	KUNIT_CASE(policy_of_the_sockets_user_and_group),
	KUNIT_CASE(policy_drain_goes_before_all_rules),
	{}
};

static struct kunit_suite policy_suite = {
	.name = "smc_policy",
	.suite_init = policy_suite_init,
	.suite_exit = policy_suite_exit,
	.init = policy_init,
	.exit = policy_exit,
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);
