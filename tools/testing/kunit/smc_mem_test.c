// SPDX-License-Identifier: GPL-2.0
/*
 * The limit of the host, and TCP's charge of accepted sockets. Memory control groups need tasks;
 * tools/testing/vm has cases with them.
 */
#include "smc_kunit.h"

#include "../../../net/smc/smc_compat.h"

/* Control groups of a case; the core does not use the pointers while nothing is charged. */
static struct mem_group {
	int refs;
} mem_groups[2];

/* Of the task that accepts, in a case that sets it */
static struct mem_group *mem_task_group;

#define mem_group_of(memcg)	((struct mem_group *)(memcg))

static struct mem_cgroup *mem_get_task_group(void)
{
	if (mem_task_group)
		mem_task_group->refs++;
	return (struct mem_cgroup *)mem_task_group;
}

static void mem_put_group(struct mem_cgroup *memcg)
{
	if (memcg)
		mem_group_of(memcg)->refs--;
}

#define smc_compat_memcg_get	mem_get_task_group
#define mem_cgroup_put		mem_put_group

#include "../../../net/smc/rdma/smc_mem.c"

#define MEM_ELEM	(64 * 1024)

/* A counter of its own: other suites and per-CPU reserves do not change it. */
static atomic_long_t mem_pages;
static DEFINE_PER_CPU(int, mem_rest);
static long mem_limits[3];
static int mem_least = INT_MAX;

static struct proto mem_proto = {
	.name = "smc_mem_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct sock),
	.memory_allocated = &mem_pages,
	.per_cpu_fw_alloc = &mem_rest,
	.sysctl_mem = mem_limits,
	.sysctl_rmem = &mem_least,
	.sysctl_wmem = &mem_least,
};

static long mem_total(void)
{
	long pages = atomic_long_read(&mem_pages);
	int cpu;

	for_each_possible_cpu(cpu)
		pages += per_cpu(mem_rest, cpu);
	return pages << PAGE_SHIFT;
}

static int mem_test_init(struct kunit *test)
{
	struct sock *sk;

	mem_limits[0] = LONG_MAX / 4;
	mem_limits[1] = LONG_MAX / 4;
	mem_limits[2] = LONG_MAX / 4;
	sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, &mem_proto, 1);
	if (!sk)
		return -ENOMEM;
	sock_init_data(NULL, sk);
	test->priv = sk;
	return 0;
}

static void mem_test_exit(struct kunit *test)
{
	if (test->priv)
		sock_put(test->priv);
}

static void the_host_has_a_limit_in_pages(struct kunit *test)
{
	long before = atomic_long_read(&smc_mem_pages), limit = smc_mem_limits[2];

	smc_mem_limits[2] = before + 3;
	KUNIT_EXPECT_TRUE(test, smc_mem_charge(PAGE_SIZE + 1));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&smc_mem_pages), before + 2);
	KUNIT_EXPECT_FALSE(test, smc_mem_charge(2 * PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&smc_mem_pages), before + 2);
	KUNIT_EXPECT_TRUE(test, smc_mem_charge(1));
	KUNIT_EXPECT_FALSE(test, smc_mem_charge(1));
	smc_mem_uncharge(1);
	smc_mem_uncharge(PAGE_SIZE + 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&smc_mem_pages), before);
	smc_mem_limits[2] = limit;
}

static void little_memory_makes_rings_smaller(struct kunit *test)
{
	long low = smc_mem_limits[0];
	long used = atomic_long_read(&smc_mem_pages);

	smc_mem_limits[0] = used + SMC_MEM_SHARE * MEM_ELEM / PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, smc_mem_fit(NULL, 4 * MEM_ELEM), MEM_ELEM);
	KUNIT_EXPECT_EQ(test, smc_mem_fit(NULL, MEM_ELEM / 2), MEM_ELEM / 2);
	/* the least size is up to the caller */
	smc_mem_limits[0] = used;
	KUNIT_EXPECT_EQ(test, smc_mem_fit(NULL, MEM_ELEM), 0);
	smc_mem_limits[0] = max(used - 1, 0L);
	KUNIT_EXPECT_EQ(test, smc_mem_fit(NULL, MEM_ELEM), 0);
	smc_mem_limits[0] = LONG_MAX;
	KUNIT_EXPECT_EQ(test, smc_mem_fit(NULL, 4 * MEM_ELEM), 4 * MEM_ELEM);
	smc_mem_limits[0] = low;
}

/* An accepted socket on a kernel without control groups. */
static void what_is_charged_stays_when_a_sock_changes_hands(struct kunit *test)
{
	struct mem_cgroup *memcg = smc_compat_sk_memcg(test->priv);
	struct sock *sk = test->priv;
	long before = mem_total();

	KUNIT_ASSERT_TRUE(test, __sk_mem_schedule(sk, MEM_ELEM, SK_MEM_RECV));
	local_bh_disable();
	smc_mem_adopt(sk);
	local_bh_enable();
	KUNIT_EXPECT_PTR_EQ(test, smc_compat_sk_memcg(sk), memcg);
	KUNIT_EXPECT_EQ(test, mem_total() - before, PAGE_ALIGN(MEM_ELEM));
	sk_mem_reclaim_final(sk);
	KUNIT_EXPECT_EQ(test, mem_total(), before);
}

#ifdef SMC_HAVE_SK_MEMCG
static void a_sock_moves_with_its_reference(struct kunit *test)
{
	struct sock *sk = test->priv;

	/* nothing is charged: the core does not use the pointers */
	mem_groups[0].refs = 1;
	mem_groups[1].refs = 0;
	smc_compat_sk_set_memcg(sk, (struct mem_cgroup *)&mem_groups[0]);
	mem_task_group = &mem_groups[1];
	local_bh_disable();
	smc_mem_adopt(sk);
	KUNIT_EXPECT_EQ(test, mem_groups[0].refs, 0);
	KUNIT_EXPECT_EQ(test, mem_groups[1].refs, 1);
	KUNIT_EXPECT_PTR_EQ(test, mem_group_of(smc_compat_sk_memcg(sk)), &mem_groups[1]);
	/* to the same group */
	smc_mem_adopt(sk);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, mem_groups[1].refs, 1);
	mem_task_group = NULL;
	smc_compat_sk_set_memcg(sk, NULL);
}
#endif

static void limits_are_in_order_and_leave_most_of_the_memory(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, smc_mem_init(), 0);
	smc_mem_exit();
	KUNIT_EXPECT_GT(test, smc_mem_limits[0], 0);
	KUNIT_EXPECT_LT(test, smc_mem_limits[0], smc_mem_limits[1]);
	KUNIT_EXPECT_LT(test, smc_mem_limits[1], smc_mem_limits[2]);
	KUNIT_EXPECT_LE(test, smc_mem_limits[2], max(totalram_pages() / 4, 1024UL));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(the_host_has_a_limit_in_pages),
	KUNIT_CASE(little_memory_makes_rings_smaller),
	KUNIT_CASE(what_is_charged_stays_when_a_sock_changes_hands),
#ifdef SMC_HAVE_SK_MEMCG
	KUNIT_CASE(a_sock_moves_with_its_reference),
#endif
	KUNIT_CASE(limits_are_in_order_and_leave_most_of_the_memory),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_mem",
	.init = mem_test_init,
	.exit = mem_test_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
