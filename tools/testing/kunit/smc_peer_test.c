// SPDX-License-Identifier: GPL-2.0
/*
 * The negative cache: hosts whose RDMA path failed, services that decline SMC or that offers do
 * not reach, and clients that send no Proposal.
 */
#include "smc_kunit.h"

/* no traces */
#define SMC_TRACE_H
#define trace_smc_peer_failed(...)	((void)0)

#include "../../../net/smc/rdma/smc_event.h"

static struct smc_event peer_event;

/* the last one */
#define smc_event_send(...)		((void)(peer_event = *(__VA_ARGS__)))

#include "../../../net/smc/group/smc_peer.c"

/* divisible, so that times in jiffies are exact */
#define PEER_MEMORY_MS	64000U
#define PEER_PAUSE_MS	(PEER_MEMORY_MS >> (SMC_PEER_ALL - SMC_PEER_DECLINES))
#define PEER_LOST_MS	(PEER_MEMORY_MS >> (SMC_PEER_ALL - SMC_PEER_LOST))
#define PORT		80

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
	smc_peer_prepare(&init_net);
	return smc_net(&init_net)->peer_memory ? 0 : -ENOMEM;
}

static void peer_exit(struct kunit *test)
{
	smc_peer_exit_net(&init_net);
	smc_net(&init_net)->peer_memory = NULL;
}

/* Moves all entries into the past. */
static void peer_age(unsigned int ms)
{
	struct smc_peer_memory *mem = smc_net(&init_net)->peer_memory;
	unsigned int i;

	for (i = 0; i < SMC_PEER_SLOTS; i++)
		mem->slot[i].since -= msecs_to_jiffies(ms);
}

static enum smc_decline peer_recall_of(enum smc_peer_failure failure, const struct in6_addr *peer,
				       u16 port)
{
	struct smc_peer_entry entry = {};
	enum smc_decline reason = smc_peer_recall(&init_net, failure, peer, port, &entry);

	return !reason == !entry.age_ms ? reason : SMC_DECLINE_INTERR;
}

static enum smc_decline peer_recall(bool is_client)
{
	return peer_recall_of(is_client ? SMC_PEER_HAS_WORKED : SMC_PEER_FIRST_CONTACT, &peer_a, 0);
}

static bool peer_recall_routed(const struct in6_addr *peer)
{
	return peer_recall_of(SMC_PEER_ROUTED_PATH, peer, 0) != SMC_DECLINE_NONE;
}

static bool peer_recall_client(const struct in6_addr *peer)
{
	return peer_recall_of(SMC_PEER_CLIENT, peer, 0) != SMC_DECLINE_NONE;
}

static void peer_remember(enum smc_decline reason, enum smc_peer_failure failure)
{
	smc_peer_failed(&init_net, failure, &peer_a, 0, reason, 0);
}

static void peer_silent(void)
{
	peer_remember(SMC_DECLINE_PEERNOSMC, SMC_PEER_CLIENT);
}

static void peer_proposed(const struct in6_addr *peer)
{
	smc_peer_works(&init_net, SMC_PEER_CLIENT, peer, 0);
}

static void service_fails(enum smc_decline reason, u32 diagnosis, unsigned int times)
{
	while (times--)
		smc_peer_failed(&init_net, SMC_PEER_DECLINED, &peer_a, PORT, reason, diagnosis);
}

static void service_declines(u32 diagnosis, unsigned int times)
{
	service_fails(SMC_DECLINE_PEERDECL, diagnosis, times);
}

static void service_unanswered(void)
{
	smc_peer_failed(&init_net, SMC_PEER_UNANSWERED, &peer_a, PORT, SMC_DECLINE_PEERNOSMC, 0);
}

static void service_refused_at(u16 port)
{
	smc_peer_failed(&init_net, SMC_PEER_REFUSED, &peer_a, port, SMC_DECLINE_PEERNOSMC, 0);
}

static void service_refused(void)
{
	service_refused_at(PORT);
}

static void service_works_on_tcp(bool works)
{
	smc_peer_works_on_tcp(&init_net, &peer_a, PORT, works);
}

static void service_agreed_at(u16 port)
{
	smc_peer_works(&init_net, SMC_PEER_DECLINED, &peer_a, port);
}

static void service_agreed(void)
{
	service_agreed_at(PORT);
}

static enum smc_decline service_recall_at(u16 port)
{
	return peer_recall_of(SMC_PEER_DECLINED, &peer_a, port);
}

static enum smc_decline service_recall(void)
{
	return service_recall_at(PORT);
}

static struct smc_peer_slot *service_slot(u16 port)
{
	struct smc_peer_memory *mem = smc_net(&init_net)->peer_memory;

	return peer_slot(mem, peer_id(mem, SMC_PEER_DECLINED, &peer_a, port));
}

/* Another service, in the same slot. */
static u16 service_in_same_slot(void)
{
	u16 port = PORT + 1;

	while (service_slot(port) != service_slot(PORT))
		port++;
	return port;
}

/* Its owner may ask, and nothing is remembered. */
static void a_namespace_without_sockets_has_no_memory(struct kunit *test)
{
	struct smc_pernet *sn = smc_net(&init_net);
	struct smc_peer_memory *mem = sn->peer_memory;
	struct smc_peer_entry entry;
	unsigned int pos = 0;

	sn->peer_memory = NULL;
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
	KUNIT_EXPECT_FALSE(test, peer_recall_routed(&peer_a));
	smc_peer_group_up(&init_net, &peer_a, true, true);
	KUNIT_EXPECT_FALSE(test, smc_peer_try_v2(&init_net, &peer_a));
	KUNIT_EXPECT_FALSE(test, smc_peer_needs_v2(&init_net, &peer_a));
	service_declines(SMC_DECLINE_CNFERR, SMC_PEER_DECLINES);
	service_agreed();
	service_unanswered();
	service_refused();
	service_works_on_tcp(true);
	peer_silent();
	peer_proposed(&peer_a);
	KUNIT_EXPECT_FALSE(test, peer_recall_client(&peer_a));
	KUNIT_EXPECT_FALSE(test, smc_peer_next(&init_net, &pos, &entry));
	KUNIT_EXPECT_EQ(test, smc_peer_clear(&init_net, NULL, 0), 0U);
	/* the first socket brings it, the others find it */
	sn->peer_memory = mem;
	smc_peer_prepare(&init_net);
	KUNIT_EXPECT_PTR_EQ(test, sn->peer_memory, mem);
}

static void a_path_that_never_worked_is_not_tried_by_either_side(struct kunit *test)
{
	struct in6_addr other = peer_a;

	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_TIMEOUT_CL);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_TIMEOUT_CL);
	other.s6_addr[15]++;
	KUNIT_EXPECT_EQ(test, peer_recall_of(SMC_PEER_HAS_WORKED, &other, 0), SMC_DECLINE_NONE);
	peer_age(PEER_MEMORY_MS - 1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_TIMEOUT_CL);
	peer_age(1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

/* The peer may have restarted, or have another RNIC now. */
static void a_path_that_has_worked_is_tried_when_the_peer_proposes_and_sooner(struct kunit *test)
{
	peer_remember(SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	peer_age(PEER_LOST_MS - 1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	peer_age(1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);

	/* then first contact fails, too */
	peer_remember(SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_TIMEOUT_CL);
}

static void a_change_of_an_rnic_or_a_group_that_is_up_ends_it(struct kunit *test)
{
	struct in6_addr other = peer_a;

	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	kunit_changes++;
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
	/* the entry is dropped for good */
	kunit_changes--;
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);

	peer_remember(SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	other.s6_addr[15]++;
	smc_peer_group_up(&init_net, &other, true, true);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	smc_peer_group_up(&init_net, &peer_a, false, false);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

/* Another path to the peer may work. */
static void a_routed_path_is_remembered_by_itself(struct kunit *test)
{
	struct in6_addr other = peer_a;

	other.s6_addr[15]++;
	KUNIT_EXPECT_FALSE(test, peer_recall_routed(&peer_a));
	peer_remember(SMC_DECLINE_NOROUTE, SMC_PEER_ROUTED_PATH);
	KUNIT_EXPECT_TRUE(test, peer_recall_routed(&peer_a));
	KUNIT_EXPECT_FALSE(test, peer_recall_routed(&other));
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_NONE);
	/* a group comes up on the other path, and later on this one */
	smc_peer_group_up(&init_net, &peer_a, false, false);
	KUNIT_EXPECT_TRUE(test, peer_recall_routed(&peer_a));
	smc_peer_group_up(&init_net, &peer_a, true, true);
	KUNIT_EXPECT_FALSE(test, peer_recall_routed(&peer_a));

	/* it expires like others */
	peer_remember(SMC_DECLINE_NOROUTE, SMC_PEER_ROUTED_PATH);
	peer_age(PEER_MEMORY_MS - 1000);
	KUNIT_EXPECT_TRUE(test, peer_recall_routed(&peer_a));
	peer_age(1000);
	KUNIT_EXPECT_FALSE(test, peer_recall_routed(&peer_a));

	/* a failure of all paths does not replace it */
	peer_remember(SMC_DECLINE_NOROUTE, SMC_PEER_ROUTED_PATH);
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_TRUE(test, smc_peer_try_v2(&init_net, &peer_a));
	KUNIT_EXPECT_TRUE(test, peer_recall_routed(&peer_a));
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_TIMEOUT_CL);
}

/* Version 1 begins with RoCE v1, and goes on with RoCE v2 before it gives up. */
static void roce_v2_is_tried_when_roce_v1_has_failed(struct kunit *test)
{
	struct in6_addr other = peer_a;

	other.s6_addr[15]++;
	KUNIT_EXPECT_FALSE(test, smc_peer_needs_v2(&init_net, &peer_a));
	KUNIT_EXPECT_TRUE(test, smc_peer_try_v2(&init_net, &peer_a));
	KUNIT_EXPECT_TRUE(test, smc_peer_needs_v2(&init_net, &peer_a));
	KUNIT_EXPECT_FALSE(test, smc_peer_needs_v2(&init_net, &other));
	/* not TCP, and not listed */
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, peer_recall(false), SMC_DECLINE_NONE);

	/* it fails, too: TCP, then RoCE v1 */
	KUNIT_EXPECT_FALSE(test, smc_peer_try_v2(&init_net, &peer_a));
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_TIMEOUT_CL);
	KUNIT_EXPECT_FALSE(test, smc_peer_needs_v2(&init_net, &peer_a));

	/* nobody tries */
	KUNIT_EXPECT_TRUE(test, smc_peer_try_v2(&init_net, &peer_a));
	peer_age(PEER_MEMORY_MS);
	KUNIT_EXPECT_FALSE(test, smc_peer_needs_v2(&init_net, &peer_a));
	/* RoCE v1 works after all */
	KUNIT_EXPECT_TRUE(test, smc_peer_try_v2(&init_net, &peer_a));
	smc_peer_group_up(&init_net, &peer_a, false, false);
	KUNIT_EXPECT_FALSE(test, smc_peer_needs_v2(&init_net, &peer_a));
}

static void roce_v2_that_works_is_remembered_until_it_fails(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, smc_peer_try_v2(&init_net, &peer_a));
	smc_peer_group_up(&init_net, &peer_a, false, true);
	peer_age(100 * PEER_MEMORY_MS);
	kunit_changes++;
	KUNIT_EXPECT_TRUE(test, smc_peer_needs_v2(&init_net, &peer_a));
	/* the path is lost later, as any other */
	peer_remember(SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	KUNIT_EXPECT_TRUE(test, smc_peer_needs_v2(&init_net, &peer_a));
	peer_remember(SMC_DECLINE_NOROUTE, SMC_PEER_ROUTED_PATH);
	KUNIT_EXPECT_TRUE(test, smc_peer_needs_v2(&init_net, &peer_a));
	/* version 2 says nothing about what version 1 uses */
	smc_peer_group_up(&init_net, &peer_a, true, true);
	KUNIT_EXPECT_TRUE(test, smc_peer_needs_v2(&init_net, &peer_a));

	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_FALSE(test, smc_peer_needs_v2(&init_net, &peer_a));
	/* a routed path that works does not make it one that needs RoCE v2 */
	smc_peer_group_up(&init_net, &peer_a, true, true);
	KUNIT_EXPECT_FALSE(test, smc_peer_needs_v2(&init_net, &peer_a));
	KUNIT_EXPECT_TRUE(test, smc_peer_try_v2(&init_net, &peer_a));
	KUNIT_EXPECT_EQ(test, smc_peer_clear(&init_net, &peer_a, 0), 0);
	KUNIT_EXPECT_FALSE(test, smc_peer_needs_v2(&init_net, &peer_a));
}

/* Two hosts with both versions and a network that carries RoCE v2 only, each with an entry here. */
static const struct in6_addr roce_hosts[2] = {
	{ .s6_addr = { [10] = 0xff, 0xff, 10, 0, 1, 1 } },
	{ .s6_addr = { [10] = 0xff, 0xff, 10, 0, 1, 2 } },
};

/* One connection. Return: true if it is SMC. */
static bool roce_connect(void)
{
	bool is_v2[2];
	int i;

	for (i = 0; i < 2; i++) {
		if (peer_recall_of(i ? SMC_PEER_FIRST_CONTACT : SMC_PEER_HAS_WORKED,
				   &roce_hosts[i], 0))
			return false;
		is_v2[i] = smc_peer_needs_v2(&init_net, &roce_hosts[i]);
	}
	for (i = 0; i < 2; i++) {
		if (is_v2[0] && is_v2[1])
			smc_peer_group_up(&init_net, &roce_hosts[i], false, true);
		else if (!smc_peer_try_v2(&init_net, &roce_hosts[i]))
			smc_peer_failed(&init_net, SMC_PEER_FIRST_CONTACT, &roce_hosts[i], 0,
					SMC_DECLINE_TIMEOUT_CL, 0);
	}
	return is_v2[0] && is_v2[1];
}

static void two_ends_agree_on_a_version_of_roce(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_FALSE(test, roce_connect());
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_TRUE(test, roce_connect());
		peer_age(10 * PEER_MEMORY_MS);
	}
	/* one of them restarts, and the other one has an entry still */
	for (i = 0; i < 2; i++) {
		smc_peer_clear(&init_net, &roce_hosts[i], 0);
		KUNIT_EXPECT_FALSE(test, roce_connect());
		KUNIT_EXPECT_FALSE(test, roce_connect());
		peer_age(PEER_MEMORY_MS);
		KUNIT_EXPECT_FALSE(test, roce_connect());
		KUNIT_EXPECT_TRUE(test, roce_connect());
	}
}

static void with_0_nothing_is_remembered(struct kunit *test)
{
	smc_net(&init_net)->set.peer_memory_ms = 0;
	KUNIT_EXPECT_FALSE(test, smc_peer_try_v2(&init_net, &peer_a));
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

static void a_shorter_time_holds_at_once_and_a_longer_one_for_what_follows(struct kunit *test)
{
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	smc_net(&init_net)->set.peer_memory_ms = 10 * PEER_MEMORY_MS;
	peer_age(PEER_MEMORY_MS);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);

	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	smc_net(&init_net)->set.peer_memory_ms = PEER_MEMORY_MS;
	peer_age(PEER_MEMORY_MS - 1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_TIMEOUT_CL);
	peer_age(1000);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

static void declines_in_a_row_begin_a_pause(struct kunit *test)
{
	struct smc_peer_entry entry;

	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES - 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_declines(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, smc_peer_recall(&init_net, SMC_PEER_DECLINED, &peer_a, PORT, &entry),
			SMC_DECLINE_PEERDECL);
	KUNIT_EXPECT_GE(test, entry.age_ms, 1U);
	KUNIT_EXPECT_EQ(test, entry.diagnosis, (u32)SMC_DECLINE_NOSMCRDEV);
	KUNIT_EXPECT_EQ(test, service_recall_at(service_in_same_slot()), SMC_DECLINE_NONE);
}

/* It doubles with each Decline after a pause, up to peer_memory_ms. */
static void pauses_in_a_row_grow(struct kunit *test)
{
	unsigned int ms = PEER_PAUSE_MS, i;

	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES);
	for (i = 0; i < 8; i++) {
		/* connections that had begun before */
		service_declines(SMC_DECLINE_NOSMCRDEV, 3);
		peer_age(ms - PEER_PAUSE_MS / 2);
		KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
		peer_age(PEER_PAUSE_MS / 2);
		KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
		service_declines(SMC_DECLINE_NOSMCRDEV, 1);
		ms = min(2 * ms, PEER_MEMORY_MS);
	}
	KUNIT_EXPECT_EQ(test, ms, PEER_MEMORY_MS);
	/* so do those after losses of a path, unless a group comes up in between */
	peer_remember(SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	peer_remember(SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	peer_age(PEER_LOST_MS);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NOACTLINK);
	smc_peer_group_up(&init_net, &peer_a, false, false);
	peer_remember(SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	peer_age(PEER_LOST_MS);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

/* Several hosts may be behind one address. */
static void a_connection_on_rdma_ends_a_pause_and_is_trusted(struct kunit *test)
{
	u16 other = service_in_same_slot();

	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES);
	service_agreed_at(other);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
	service_agreed();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_declines(SMC_DECLINE_NOSMCRDEV, 2 * SMC_PEER_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	/* for a limited time */
	peer_age(SMC_PEER_TRUST_MS);
	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES - 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_declines(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
}

/* Middleboxes repeat options that they do not know: each offer fails connect(). */
static void a_service_without_an_answer_is_remembered_at_once(struct kunit *test)
{
	struct smc_peer_entry entry;
	unsigned int pos = 0;

	service_unanswered();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	KUNIT_ASSERT_TRUE(test, smc_peer_next(&init_net, &pos, &entry));
	KUNIT_EXPECT_EQ(test, entry.port, 80);
	KUNIT_EXPECT_EQ(test, entry.reason, SMC_DECLINE_PEERNOSMC);
	KUNIT_EXPECT_GT(test, entry.left_ms, PEER_MEMORY_MS - 1000U);
	peer_age(PEER_MEMORY_MS - 1000);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	peer_age(1000);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_unanswered();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	kunit_changes++;
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	smc_net(&init_net)->set.peer_memory_ms = 0;
	service_unanswered();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

/* A server that restarts resets connections, too. */
static void a_service_that_agreed_lately_is_remembered_briefly(struct kunit *test)
{
	u16 other = service_in_same_slot();

	service_agreed();
	service_unanswered();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	/* an agreement of another one does not replace the entry */
	service_agreed_at(other);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	peer_age(PEER_PAUSE_MS);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_agreed();
	peer_age(SMC_PEER_TRUST_MS);
	service_unanswered();
	peer_age(PEER_PAUSE_MS);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
}

/* A middlebox may refuse SYNs with the option, or drop them. */
static void a_refused_offer_is_not_repeated_at_once(struct kunit *test)
{
	service_refused();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	peer_age(PEER_PAUSE_MS);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	/* several connections at once */
	service_refused();
	service_refused();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	/* without the option it works */
	service_works_on_tcp(true);
	peer_age(PEER_MEMORY_MS - 1000);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	/* neither a success nor a failure prolongs it */
	service_works_on_tcp(true);
	service_works_on_tcp(false);
	service_refused();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	peer_age(1000);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	/* a connection without an offer proves nothing by itself */
	service_works_on_tcp(false);
	service_works_on_tcp(true);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

/* It restarts: connections must not stay on TCP for that. */
static void a_service_that_refuses_tcp_too_is_offered_smc(struct kunit *test)
{
	service_refused();
	service_works_on_tcp(false);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_refused();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	peer_age(SMC_PEER_TRUST_MS);
	service_refused();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	/* and one that has used RDMA lately */
	service_agreed();
	service_refused();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

static void a_refusal_does_not_replace_what_lasts(struct kunit *test)
{
	u16 other = service_in_same_slot();

	service_unanswered();
	service_refused_at(other);
	KUNIT_EXPECT_EQ(test, service_recall_at(other), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	peer_age(PEER_MEMORY_MS);
	service_refused_at(other);
	KUNIT_EXPECT_EQ(test, service_recall_at(other), SMC_DECLINE_PEERNOSMC);
	/* one suspicion replaces another; nor does one count as a Decline */
	service_refused();
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
	peer_age(PEER_PAUSE_MS);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES - 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

/* A middlebox may take the option off SYN-ACKs. */
static void a_client_without_proposals_is_remembered(struct kunit *test)
{
	struct in6_addr other = peer_a;
	struct smc_peer_entry entry;
	unsigned int pos = 0;

	other.s6_addr[15]++;
	peer_silent();
	KUNIT_EXPECT_FALSE(test, peer_recall_client(&peer_a));
	KUNIT_EXPECT_FALSE(test, smc_peer_next(&init_net, &pos, &entry));
	/* twice in a row */
	peer_proposed(&peer_a);
	peer_silent();
	KUNIT_EXPECT_FALSE(test, peer_recall_client(&peer_a));
	peer_silent();
	KUNIT_EXPECT_TRUE(test, peer_recall_client(&peer_a));
	KUNIT_EXPECT_FALSE(test, peer_recall_client(&other));
	/* as a server it may be offered SMC */
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	pos = 0;
	KUNIT_ASSERT_TRUE(test, smc_peer_next(&init_net, &pos, &entry));
	KUNIT_EXPECT_EQ(test, entry.failure, SMC_PEER_CLIENT);
	KUNIT_EXPECT_EQ(test, entry.port, 0);
	peer_age(PEER_MEMORY_MS - 1000);
	KUNIT_EXPECT_TRUE(test, peer_recall_client(&peer_a));
	peer_age(1000);
	KUNIT_EXPECT_FALSE(test, peer_recall_client(&peer_a));
	/* still in a row */
	peer_silent();
	KUNIT_EXPECT_TRUE(test, peer_recall_client(&peer_a));
	/* a client that waited longer than others proposes */
	peer_silent();
	peer_proposed(&other);
	KUNIT_EXPECT_TRUE(test, peer_recall_client(&peer_a));
	peer_proposed(&peer_a);
	KUNIT_EXPECT_FALSE(test, peer_recall_client(&peer_a));
	smc_net(&init_net)->set.peer_memory_ms = 0;
	peer_silent();
	peer_silent();
	KUNIT_EXPECT_FALSE(test, peer_recall_client(&peer_a));
}

static void a_long_time_ago_is_not_now(struct kunit *test)
{
	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES);
	/* half of the range of jiffies */
	service_slot(PORT)->since += LONG_MAX;
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_agreed();
	service_slot(PORT)->since += LONG_MAX;
	service_unanswered();
	peer_age(PEER_PAUSE_MS);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERNOSMC);
}

static void reasons_that_pass_do_not_count(struct kunit *test)
{
	static const u32 passing[] = {
		SMC_DECLINE_MEM, SMC_DECLINE_TIMEOUT_CL, SMC_DECLINE_RMBE_EC,
		SMC_DECLINE_NOACTLINK, SMC_DECLINE_NOROUTE, SMC_DECLINE_SYNCERR,
		SMC_DECLINE_ERR_REGBUF, 0, U32_MAX,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(passing); i++) {
		service_declines(passing[i], SMC_PEER_DECLINES);
		/* the same reasons on this side; an option belongs to this socket alone */
		service_fails(passing[i], 0, SMC_PEER_DECLINES);
		service_fails(SMC_DECLINE_OPTUNSUPP, 0, SMC_PEER_DECLINES);
		KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	}
	service_declines(SMC_DECLINE_OPTUNSUPP, SMC_PEER_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
}

static void a_policy_of_ipsec_counts_at_either_side(struct kunit *test)
{
	service_fails(SMC_DECLINE_IPSEC, 0, SMC_PEER_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_IPSEC);
	kunit_changes++;
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_declines(SMC_DECLINE_IPSEC, SMC_PEER_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
}

static void a_change_of_an_rnic_ends_a_pause(struct kunit *test)
{
	service_fails(SMC_DECLINE_NOSMCRDEV, 0, SMC_PEER_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NOSMCRDEV);
	kunit_changes++;
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_declines(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

static void a_pause_is_no_longer_than_peer_memory_ms(struct kunit *test)
{
	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES);
	smc_net(&init_net)->set.peer_memory_ms = 500;
	peer_age(500);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	smc_net(&init_net)->set.peer_memory_ms = PEER_MEMORY_MS;
	service_declines(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
	smc_net(&init_net)->set.peer_memory_ms = 0;
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

static void each_subject_has_an_entry_of_its_own(struct kunit *test)
{
	const struct smc_peer_memory *mem = smc_net(&init_net)->peer_memory;
	struct in6_addr other = peer_a;
	u64 id[6];
	int i, j;

	other.s6_addr[15]++;
	id[0] = peer_id(mem, SMC_PEER_FIRST_CONTACT, &peer_a, 0);
	id[1] = peer_id(mem, SMC_PEER_ROUTED_PATH, &peer_a, 0);
	id[2] = peer_id(mem, SMC_PEER_CLIENT, &peer_a, 0);
	id[3] = peer_id(mem, SMC_PEER_DECLINED, &peer_a, PORT);
	id[4] = peer_id(mem, SMC_PEER_DECLINED, &peer_a, PORT + 1);
	id[5] = peer_id(mem, SMC_PEER_DECLINED, &other, PORT);
	for (i = 0; i < (int)ARRAY_SIZE(id); i++)
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, id[i], id[j]);
	KUNIT_EXPECT_EQ(test, peer_id(mem, SMC_PEER_HAS_WORKED, &peer_a, 0), id[0]);
	KUNIT_EXPECT_EQ(test, peer_id(mem, SMC_PEER_UNANSWERED, &peer_a, PORT), id[3]);
	KUNIT_EXPECT_EQ(test, peer_id(mem, SMC_PEER_REFUSED, &peer_a, PORT), id[3]);
}

static void hosts_and_services_do_not_replace_each_other(struct kunit *test)
{
	struct in6_addr host = peer_a;
	unsigned int i;
	u64 id;

	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	for (i = 0; i < 8 * SMC_PEER_SLOTS; i++)
		smc_peer_failed(&init_net, SMC_PEER_DECLINED, &peer_a, PORT + i,
				SMC_DECLINE_IPSEC, 0);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_TIMEOUT_CL);

	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES);
	id = service_slot(PORT)->id;
	for (i = 0; i < 8 * SMC_PEER_SLOTS; i++) {
		host.s6_addr32[0]++;
		smc_peer_failed(&init_net, SMC_PEER_FIRST_CONTACT, &host, 0,
				SMC_DECLINE_TIMEOUT_CL, 0);
	}
	/* not recalled: on a slow machine the pause may be over */
	KUNIT_EXPECT_EQ(test, service_slot(PORT)->id, id);
	KUNIT_EXPECT_GE(test, service_slot(PORT)->failures, SMC_PEER_DECLINES);
}

static unsigned int peer_list(struct smc_peer_entry entry[4])
{
	unsigned int pos = 0, nr = 0;

	while (nr < 4 && smc_peer_next(&init_net, &pos, &entry[nr]))
		nr++;
	return nr;
}

static void what_connections_use_tcp_for_is_listed(struct kunit *test)
{
	struct smc_peer_entry entry[4];

	KUNIT_EXPECT_EQ(test, peer_list(entry), 0U);
	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES - 1);
	KUNIT_EXPECT_EQ(test, peer_list(entry), 0U);
	service_declines(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_ASSERT_EQ(test, peer_list(entry), 1U);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&entry[0].addr, &peer_a));
	KUNIT_EXPECT_EQ(test, entry[0].port, PORT);
	KUNIT_EXPECT_EQ(test, (u32)entry[0].reason, (u32)SMC_DECLINE_PEERDECL);
	KUNIT_EXPECT_EQ(test, entry[0].diagnosis, (u32)SMC_DECLINE_NOSMCRDEV);
	peer_age(PEER_PAUSE_MS);
	KUNIT_EXPECT_EQ(test, peer_list(entry), 0U);

	KUNIT_EXPECT_EQ(test, peer_event.cmd, SMC_NETLINK_EVENT_SERVICE);
	KUNIT_EXPECT_EQ(test, peer_event.port, htons(PORT));
	KUNIT_EXPECT_EQ(test, peer_event.reason, (u32)SMC_DECLINE_PEERDECL);
	KUNIT_EXPECT_EQ(test, peer_event.diagnosis, (u32)SMC_DECLINE_NOSMCRDEV);
	KUNIT_EXPECT_EQ(test, peer_event.ms, PEER_PAUSE_MS);

	peer_remember(SMC_DECLINE_NOACTLINK, SMC_PEER_HAS_WORKED);
	KUNIT_EXPECT_EQ(test, peer_event.cmd, SMC_NETLINK_EVENT_PEER);
	KUNIT_EXPECT_EQ(test, peer_event.ms, PEER_LOST_MS);
	peer_age(1000);
	KUNIT_ASSERT_EQ(test, peer_list(entry), 1U);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_equal(&entry[0].addr, &peer_a));
	KUNIT_EXPECT_EQ(test, entry[0].port, 0);
	KUNIT_EXPECT_EQ(test, entry[0].failure, SMC_PEER_HAS_WORKED);
	KUNIT_EXPECT_GE(test, entry[0].age_ms, 1000U);
	KUNIT_EXPECT_LE(test, entry[0].age_ms + entry[0].left_ms,
			PEER_LOST_MS);
}

static void entries_are_removed_one_by_one(struct kunit *test)
{
	const struct in6_addr *all = NULL;
	const struct in6_addr host = peer_a;
	struct smc_peer_entry entry[4];

	KUNIT_EXPECT_EQ(test, smc_peer_clear(&init_net, &host, 0), 0U);
	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES);
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, peer_list(entry), 2U);
	KUNIT_EXPECT_EQ(test, smc_peer_clear(&init_net, &host, 1), 0U);
	KUNIT_EXPECT_EQ(test, smc_peer_clear(&init_net, &host, PORT), 1U);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, peer_list(entry), 1U);
	service_declines(SMC_DECLINE_NOSMCRDEV, SMC_PEER_DECLINES);
	/* a host with its services */
	KUNIT_EXPECT_EQ(test, smc_peer_clear(&init_net, &host, 0), 2U);
	KUNIT_EXPECT_EQ(test, peer_list(entry), 0U);
	peer_remember(SMC_DECLINE_TIMEOUT_CL, SMC_PEER_FIRST_CONTACT);
	KUNIT_EXPECT_EQ(test, smc_peer_clear(&init_net, all, 0), 1U);
	KUNIT_EXPECT_EQ(test, peer_recall(true), SMC_DECLINE_NONE);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_namespace_without_sockets_has_no_memory),
	KUNIT_CASE(a_path_that_never_worked_is_not_tried_by_either_side),
	KUNIT_CASE(a_path_that_has_worked_is_tried_when_the_peer_proposes_and_sooner),
	KUNIT_CASE(a_change_of_an_rnic_or_a_group_that_is_up_ends_it),
	KUNIT_CASE(a_routed_path_is_remembered_by_itself),
	KUNIT_CASE(roce_v2_is_tried_when_roce_v1_has_failed),
	KUNIT_CASE(roce_v2_that_works_is_remembered_until_it_fails),
	KUNIT_CASE(two_ends_agree_on_a_version_of_roce),
	KUNIT_CASE(with_0_nothing_is_remembered),
	KUNIT_CASE(a_shorter_time_holds_at_once_and_a_longer_one_for_what_follows),
	KUNIT_CASE(declines_in_a_row_begin_a_pause),
	KUNIT_CASE(pauses_in_a_row_grow),
	KUNIT_CASE(a_connection_on_rdma_ends_a_pause_and_is_trusted),
	KUNIT_CASE(a_service_without_an_answer_is_remembered_at_once),
	KUNIT_CASE(a_service_that_agreed_lately_is_remembered_briefly),
	KUNIT_CASE(a_refused_offer_is_not_repeated_at_once),
	KUNIT_CASE(a_service_that_refuses_tcp_too_is_offered_smc),
	KUNIT_CASE(a_refusal_does_not_replace_what_lasts),
	KUNIT_CASE(a_client_without_proposals_is_remembered),
	KUNIT_CASE(a_long_time_ago_is_not_now),
	KUNIT_CASE(reasons_that_pass_do_not_count),
	KUNIT_CASE(a_policy_of_ipsec_counts_at_either_side),
	KUNIT_CASE(a_change_of_an_rnic_ends_a_pause),
	KUNIT_CASE(a_pause_is_no_longer_than_peer_memory_ms),
	KUNIT_CASE(each_subject_has_an_entry_of_its_own),
	KUNIT_CASE(hosts_and_services_do_not_replace_each_other),
	KUNIT_CASE(what_connections_use_tcp_for_is_listed),
	KUNIT_CASE(entries_are_removed_one_by_one),
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
