// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of peers whose RDMA path failed.
 */
#include "smc_kunit.h"

#include "../../../net/smc/rdma/smc_peer.c"

#define PEER_MEMORY_MS	60000

static struct in6_addr peer_a = { .s6_addr = { [10] = 0xff, 0xff, 10, 0, 0, 1 } };

static int peer_net_init(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);

	sn->stats = alloc_percpu(struct smc_stats_cpu);
	return sn->stats ? 0 : -ENOMEM;
}

static void peer_net_exit(struct net *net)
{
	free_percpu(smc_net(net)->stats);
}

static struct pernet_operations peer_net_ops = {
	.init = peer_net_init,
	.exit = peer_net_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int peer_suite_init(struct kunit_suite *suite)
{
	return register_pernet_subsys(&peer_net_ops);
}

static void peer_suite_exit(struct kunit_suite *suite)
{
	unregister_pernet_subsys(&peer_net_ops);
}

static int peer_init(struct kunit *test)
{
	smc_net(&init_net)->set.peer_memory_ms = PEER_MEMORY_MS;
	return smc_peer_init_net(&init_net);
}

static void peer_exit(struct kunit *test)
{
	smc_peer_exit_net(&init_net);
}

/* As if it had been so long ago. */
static void peer_age(unsigned int ms)
{
	struct smc_peer_slot *slot = smc_peer_find_slot(smc_net(&init_net)->peer_memory, &peer_a);

	slot->since -= msecs_to_jiffies(ms);
}

static enum smc_decline peer_recall(bool is_client)
{
	return smc_peer_recall(&init_net, &peer_a, is_client);
}

static void a_path_that_never_worked_is_not_tried_by_either_side(struct kunit *test)
{
	struct in6_addr other = peer_a;

	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_TIMEOUT_CL);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_TIMEOUT_CL);
	other.s6_addr[15]++;
	KUNIT_EXPECT_EQ(test, smc_peer_recall(&init_net, &other, true), SMC_DECLINE_NONE);
	peer_age(PEER_MEMORY_MS - 1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_TIMEOUT_CL);
	peer_age(1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

/* A peer that was started anew, or has another RNIC, knows better. */
static void a_path_that_has_worked_is_tried_when_the_peer_wants_and_sooner(struct kunit *test)
{
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	peer_age(PEER_MEMORY_MS / SMC_PEER_HAS_WORKED_DIV - 1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	peer_age(1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);

	/* then first contact failed, too */
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_TIMEOUT_CL);
}

static void news_of_an_rnic_and_a_group_that_is_up_end_it(struct kunit *test)
{
	struct in6_addr other = peer_a;

	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	kunit_news++;
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
	/* for good */
	kunit_news--;
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);

	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	other.s6_addr[15]++;
	smc_peer_forget(&init_net, &other, true);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	smc_peer_forget(&init_net, &peer_a, false);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

/* Which says nothing of the peer: there is another way. */
static void a_routed_way_is_remembered_by_itself(struct kunit *test)
{
	struct in6_addr other = peer_a;

	other.s6_addr[15]++;
	KUNIT_EXPECT_FALSE(test, smc_peer_recall_routed(&init_net, &peer_a));
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_NOROUTE, SMC_PEER_ROUTED_WAY);
	KUNIT_EXPECT_TRUE(test, smc_peer_recall_routed(&init_net, &peer_a));
	KUNIT_EXPECT_FALSE(test, smc_peer_recall_routed(&init_net, &other));
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_NONE);
	/* a group comes up on the other way, and then on this one */
	smc_peer_forget(&init_net, &peer_a, false);
	KUNIT_EXPECT_TRUE(test, smc_peer_recall_routed(&init_net, &peer_a));
	smc_peer_forget(&init_net, &peer_a, true);
	KUNIT_EXPECT_FALSE(test, smc_peer_recall_routed(&init_net, &peer_a));

	/* it is forgotten like others */
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_NOROUTE, SMC_PEER_ROUTED_WAY);
	peer_age(PEER_MEMORY_MS - 1000);
	KUNIT_EXPECT_TRUE(test, smc_peer_recall_routed(&init_net, &peer_a));
	peer_age(1000);
	KUNIT_EXPECT_FALSE(test, smc_peer_recall_routed(&init_net, &peer_a));

	/* and what is known of the whole peer takes its place */
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_NOROUTE, SMC_PEER_ROUTED_WAY);
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_FALSE(test, smc_peer_recall_routed(&init_net, &peer_a));
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_TIMEOUT_CL);
}

static void with_0_nothing_is_remembered(struct kunit *test)
{
	smc_net(&init_net)->set.peer_memory_ms = 0;
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

static void a_shorter_time_holds_at_once_and_a_longer_one_for_what_follows(struct kunit *test)
{
	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	smc_net(&init_net)->set.peer_memory_ms = 10 * PEER_MEMORY_MS;
	peer_age(PEER_MEMORY_MS);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);

	smc_peer_remember(&init_net, &peer_a, SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	smc_net(&init_net)->set.peer_memory_ms = PEER_MEMORY_MS;
	peer_age(PEER_MEMORY_MS - 1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_TIMEOUT_CL);
	peer_age(1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_path_that_never_worked_is_not_tried_by_either_side),
	KUNIT_CASE(a_path_that_has_worked_is_tried_when_the_peer_wants_and_sooner),
	KUNIT_CASE(news_of_an_rnic_and_a_group_that_is_up_end_it),
	KUNIT_CASE(a_routed_way_is_remembered_by_itself),
	KUNIT_CASE(with_0_nothing_is_remembered),
	KUNIT_CASE(a_shorter_time_holds_at_once_and_a_longer_one_for_what_follows),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_peer",
	.suite_init = peer_suite_init,
	.suite_exit = peer_suite_exit,
	.init = peer_init,
	.exit = peer_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
