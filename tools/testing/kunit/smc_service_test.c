// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of services that decline every connection.
 */
#include "smc_kunit.h"

#include "../../../net/smc/rdma/smc_service.c"

#define PEER_MEMORY_MS	60000
#define SERVICE		((const struct sockaddr *)&service_addr)

static int service_net_init(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);

	sn->stats = alloc_percpu(struct smc_stats_cpu);
	return sn->stats ? 0 : -ENOMEM;
}

static void service_net_exit(struct net *net)
{
	free_percpu(smc_net(net)->stats);
}

static struct pernet_operations service_net_ops = {
	.init = service_net_init,
	.exit = service_net_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static const struct sockaddr_in service_addr = {
	.sin_family = AF_INET, .sin_port = htons(80), .sin_addr.s_addr = htonl(0x0a000001),
};

static struct inet_sock service_socket;

static u32 service_id(const struct sockaddr_in *service)
{
	return smc_service_id(smc_net(&init_net)->service_memory, &service_socket.sk,
			      (const struct sockaddr *)service);
}

static int service_suite_init(struct kunit_suite *suite)
{
	return register_pernet_subsys(&service_net_ops);
}

static void service_suite_exit(struct kunit_suite *suite)
{
	unregister_pernet_subsys(&service_net_ops);
}

static int service_init(struct kunit *test)
{
	smc_net(&init_net)->set.peer_memory_ms = PEER_MEMORY_MS;
	service_socket.sk.sk_family = AF_INET;
	sock_net_set(&service_socket.sk, &init_net);
	return smc_service_init_net(&init_net);
}

static void service_exit(struct kunit *test)
{
	smc_service_exit_net(&init_net);
}

/* As if all had been so long ago. */
static void service_age(unsigned int ms)
{
	struct smc_service_memory *mem = smc_net(&init_net)->service_memory;
	unsigned int i;

	for (i = 0; i < SMC_SERVICE_SLOTS; i++) {
		mem->slot[i].since -= msecs_to_jiffies(ms);
		mem->slot[i].agreed -= msecs_to_jiffies(ms);
	}
}

static void service_fails(enum smc_decline reason, u32 diagnosis, unsigned int times)
{
	while (times--)
		smc_service_declined(&service_socket.sk, SERVICE, reason, diagnosis);
}

static void service_says(u32 diagnosis, unsigned int times)
{
	service_fails(SMC_DECLINE_PEERDECL, diagnosis, times);
}

static enum smc_decline service_recall_at(const struct sockaddr_in *service)
{
	u32 diagnosis = 0;

	return smc_service_recall(&service_socket.sk, (const struct sockaddr *)service, &diagnosis);
}

static enum smc_decline service_recall(void)
{
	return service_recall_at(&service_addr);
}

/* Another one, in the same slot. */
static struct sockaddr_in service_beside(void)
{
	unsigned int slot = service_id(&service_addr) % SMC_SERVICE_SLOTS;
	struct sockaddr_in other = service_addr;

	do
		other.sin_addr.s_addr++;
	while (service_id(&other) % SMC_SERVICE_SLOTS != slot);
	return other;
}

static void some_in_a_row_are_a_reason_to_pause(struct kunit *test)
{
	struct sockaddr_in other = service_beside();
	u32 diagnosis = 0;

	service_says(SMC_DECLINE_NOSMCRDEV, SMC_SERVICE_DECLINES - 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_says(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, smc_service_recall(&service_socket.sk, SERVICE, &diagnosis),
			SMC_DECLINE_PEERDECL);
	KUNIT_EXPECT_EQ(test, diagnosis, (u32)SMC_DECLINE_NOSMCRDEV);
	KUNIT_EXPECT_EQ(test, service_recall_at(&other), SMC_DECLINE_NONE);
}

static void one_is_tried_after_the_pause_and_begins_another(struct kunit *test)
{
	service_says(SMC_DECLINE_NOSMCRDEV, SMC_SERVICE_DECLINES);
	service_age(SMC_SERVICE_PAUSE_MS / 2);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
	service_age(SMC_SERVICE_PAUSE_MS / 2);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_says(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
	/* long afterwards it is the first of a new row */
	service_age(SMC_SERVICE_ROW_MS);
	service_says(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

/* Several hosts may be behind one address. */
static void one_that_is_agreed_on_ends_it_and_is_trusted(struct kunit *test)
{
	struct sockaddr_in other = service_beside();

	service_says(SMC_DECLINE_NOSMCRDEV, SMC_SERVICE_DECLINES);
	smc_service_agreed(&service_socket.sk, (const struct sockaddr *)&other);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
	smc_service_agreed(&service_socket.sk, SERVICE);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_says(SMC_DECLINE_NOSMCRDEV, 2 * SMC_SERVICE_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	/* not for ever */
	service_age(SMC_SERVICE_TRUST_MS);
	service_says(SMC_DECLINE_NOSMCRDEV, SMC_SERVICE_DECLINES - 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_says(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
}

static void a_long_time_ago_is_not_now(struct kunit *test)
{
	struct smc_service_memory *mem = smc_net(&init_net)->service_memory;

	service_says(SMC_DECLINE_NOSMCRDEV, SMC_SERVICE_DECLINES);
	/* as if jiffies had gone half round */
	smc_service_find_slot(mem, service_id(&service_addr))->since += LONG_MAX;
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_says(SMC_DECLINE_NOSMCRDEV, SMC_SERVICE_DECLINES - 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

static void what_passes_does_not_count(struct kunit *test)
{
	static const u32 passing[] = {
		SMC_DECLINE_MEM, SMC_DECLINE_TIMEOUT_CL, SMC_DECLINE_RMBE_EC,
		SMC_DECLINE_NOACTLINK, SMC_DECLINE_NOROUTE, SMC_DECLINE_SYNCERR,
		SMC_DECLINE_ERR_REGBUF, 0, U32_MAX,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(passing); i++) {
		service_says(passing[i], SMC_SERVICE_DECLINES);
		/* the same, found out by ourselves; and what this socket wants is its own */
		service_fails(passing[i], 0, SMC_SERVICE_DECLINES);
		service_fails(SMC_DECLINE_OPTUNSUPP, 0, SMC_SERVICE_DECLINES);
		KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	}
	service_says(SMC_DECLINE_OPTUNSUPP, SMC_SERVICE_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
}

static void a_policy_of_ipsec_lasts_whosever_it_is(struct kunit *test)
{
	service_fails(SMC_DECLINE_IPSEC, 0, SMC_SERVICE_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_IPSEC);
	kunit_news++;
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_says(SMC_DECLINE_IPSEC, SMC_SERVICE_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
}

static void news_of_an_rnic_end_it(struct kunit *test)
{
	service_fails(SMC_DECLINE_NOSMCRDEV, 0, SMC_SERVICE_DECLINES);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NOSMCRDEV);
	kunit_news++;
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_says(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

static void it_lasts_no_longer_than_what_failed(struct kunit *test)
{
	service_says(SMC_DECLINE_NOSMCRDEV, SMC_SERVICE_DECLINES);
	smc_net(&init_net)->set.peer_memory_ms = 500;
	service_age(500);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
	service_says(SMC_DECLINE_NOSMCRDEV, 1);
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_PEERDECL);
	smc_net(&init_net)->set.peer_memory_ms = 0;
	KUNIT_EXPECT_EQ(test, service_recall(), SMC_DECLINE_NONE);
}

static u32 service_id_for(const struct inet_sock *inet, const void *addr)
{
	return smc_service_id(smc_net(&init_net)->service_memory, &inet->sk, addr);
}

static void a_service_is_an_address_and_a_port_seen_from_a_socket(struct kunit *test)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(80) };
	struct sockaddr_in in = service_addr;
	struct inet_sock *inet;
	u32 id[12];
	int i, j, n = 0;

	inet = kunit_kzalloc(test, sizeof(*inet), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, inet);
	inet->sk.sk_family = AF_INET;
	id[n++] = service_id_for(inet, &in);
	in.sin_port = htons(81);
	id[n++] = service_id_for(inet, &in);
	in.sin_addr.s_addr = htonl(0x0a000002);
	id[n++] = service_id_for(inet, &in);
	inet->sk.sk_mark = 1;
	id[n++] = service_id_for(inet, &in);
	inet->tos = 4;
	id[n++] = service_id_for(inet, &in);
	inet->sk.sk_uid = KUIDT_INIT(1000);
	id[n++] = service_id_for(inet, &in);
	inet->sk.sk_bound_dev_if = 2;
	id[n++] = service_id_for(inet, &in);
	/* chosen by an earlier connect(), and then by bind() */
	inet->sk.sk_rcv_saddr = htonl(0x0a000003);
	KUNIT_EXPECT_EQ(test, service_id_for(inet, &in), id[n - 1]);
	inet->sk.sk_userlocks = SOCK_BINDADDR_LOCK;
	id[n++] = service_id_for(inet, &in);
	id[n++] = service_id_for(inet, &in6);

	memset(inet, 0, sizeof(*inet));
	inet->sk.sk_family = AF_INET6;
	in6.sin6_addr.s6_addr16[0] = htons(0xfe80);
	id[n++] = service_id_for(inet, &in6);
	in6.sin6_scope_id = 3;
	id[n++] = service_id_for(inet, &in6);
	/* connect() has bound it to that */
	inet->sk.sk_bound_dev_if = 3;
	KUNIT_EXPECT_EQ(test, service_id_for(inet, &in6), id[n - 1]);
	inet->sk.sk_bound_dev_if = 0;
	ipv6_addr_set_v4mapped(service_addr.sin_addr.s_addr, &in6.sin6_addr);
	id[n++] = service_id_for(inet, &in6);
	KUNIT_ASSERT_EQ(test, n, (int)ARRAY_SIZE(id));
	/* the last is the first, as mapped address */
	KUNIT_EXPECT_EQ(test, id[0], id[--n]);
	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, id[i], id[j]);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(some_in_a_row_are_a_reason_to_pause),
	KUNIT_CASE(one_is_tried_after_the_pause_and_begins_another),
	KUNIT_CASE(one_that_is_agreed_on_ends_it_and_is_trusted),
	KUNIT_CASE(a_long_time_ago_is_not_now),
	KUNIT_CASE(what_passes_does_not_count),
	KUNIT_CASE(a_policy_of_ipsec_lasts_whosever_it_is),
	KUNIT_CASE(news_of_an_rnic_end_it),
	KUNIT_CASE(it_lasts_no_longer_than_what_failed),
	KUNIT_CASE(a_service_is_an_address_and_a_port_seen_from_a_socket),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_service",
	.suite_init = service_suite_init,
	.suite_exit = service_suite_exit,
	.init = service_init,
	.exit = service_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
