// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that connections are charged for, with the accounts of the socket core. Memory
 * control groups need tasks; tools/testing/vm has cases with them.
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

#include "../../../net/smc/group/smc_mem.c"

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

struct mem_case {
	struct sock *sk;	/* TCP's */
	struct smc_account account;
};

/* The pages that connections are charged for. */
static long mem_smc_pages(void)
{
	long pages = atomic_long_read(&smc_mem_charged);
	int cpu;

	for_each_possible_cpu(cpu)
		pages += per_cpu(smc_mem_per_cpu_fw_alloc, cpu);
	return pages;
}

static int mem_test_init(struct kunit *test)
{
	struct mem_case *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	mem_limits[0] = LONG_MAX / 4;
	mem_limits[1] = LONG_MAX / 4;
	mem_limits[2] = LONG_MAX / 4;
	c->sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, &mem_proto, 1);
	if (!c->sk)
		return -ENOMEM;
	sock_init_data(NULL, c->sk);
	smc_mem_open(&c->account, c->sk);
	c->account.sk.sk_prot = &mem_proto;
	test->priv = c;
	return 0;
}

static void mem_test_exit(struct kunit *test)
{
	struct mem_case *c = test->priv;

	if (!c)
		return;
	smc_mem_close(&c->account);
	/* nothing is charged to TCP */
	KUNIT_EXPECT_EQ(test, c->sk->sk_forward_alloc, 0);
	sock_put(c->sk);
}

static struct smc_account *mem_account(struct kunit *test)
{
	struct mem_case *c = test->priv;

	return &c->account;
}

static void rings_are_charged_once_and_given_back(struct kunit *test)
{
	struct smc_account *account = mem_account(test);
	long before = mem_total();

	KUNIT_ASSERT_EQ(test, smc_mem_charge(account, MEM_ELEM), 0);
	KUNIT_EXPECT_EQ(test, mem_total() - before, PAGE_ALIGN(MEM_ELEM));
	KUNIT_ASSERT_EQ(test, smc_mem_charge(account, 3 * MEM_ELEM), 0);
	KUNIT_EXPECT_EQ(test, mem_total() - before, PAGE_ALIGN(3 * MEM_ELEM));
	/* a handshake that waits asks again, also for less */
	KUNIT_ASSERT_EQ(test, smc_mem_charge(account, 3 * MEM_ELEM), 0);
	KUNIT_ASSERT_EQ(test, smc_mem_charge(account, MEM_ELEM), 0);
	KUNIT_EXPECT_EQ(test, mem_total() - before, PAGE_ALIGN(3 * MEM_ELEM));

	smc_mem_close(account);
	KUNIT_EXPECT_EQ(test, mem_total(), before);
	KUNIT_EXPECT_EQ(test, account->sk.sk_forward_alloc, 0);
	smc_mem_close(account);
	KUNIT_EXPECT_EQ(test, mem_total(), before);
}

/* In steps that need not be pages, to more and to less. */
static void memory_that_exists_is_charged_and_given_back(struct kunit *test)
{
	struct smc_account *account = mem_account(test);
	long before = mem_total();

	KUNIT_ASSERT_EQ(test, smc_mem_charge(account, MEM_ELEM), 0);
	local_bh_disable();
	smc_mem_settle(account, 3 * MEM_ELEM + 1);
	KUNIT_EXPECT_EQ(test, account->charged, 3 * MEM_ELEM + 1);
	KUNIT_EXPECT_EQ(test, mem_total() - before, PAGE_ALIGN(3 * MEM_ELEM + 1));
	smc_mem_settle(account, MEM_ELEM);
	KUNIT_EXPECT_EQ(test, account->charged, MEM_ELEM);
	KUNIT_EXPECT_EQ(test, mem_total() - before, PAGE_ALIGN(MEM_ELEM));
	smc_mem_settle(account, MEM_ELEM);
	KUNIT_EXPECT_EQ(test, mem_total() - before, PAGE_ALIGN(MEM_ELEM));
	smc_mem_settle(account, 0);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, mem_total(), before);
	KUNIT_EXPECT_EQ(test, account->sk.sk_forward_alloc, 0);
}

/* More pages than the OOM killer acts for, and no more memory than that needs. */
static void a_charge_wants_little_room_with_large_pages(struct kunit *test)
{
	unsigned int shift;

	for (shift = 12; shift <= 16; shift++) {
		KUNIT_EXPECT_GT(test, smc_mem_piece(shift), 1 << PAGE_ALLOC_COSTLY_ORDER);
		KUNIT_EXPECT_LE(test, smc_mem_piece(shift) << shift, SZ_1M);
	}
}

static void little_memory_makes_rings_smaller(struct kunit *test)
{
	const struct smc_account *account = mem_account(test);
	long low = smc_buf_limits[0];
	long used = atomic_long_read(&smc_buf_pages);

	smc_buf_limits[0] = used + SMC_MEM_SHARE * MEM_ELEM / PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, smc_mem_fit(account, 4 * MEM_ELEM), MEM_ELEM);
	KUNIT_EXPECT_EQ(test, smc_mem_fit(account, MEM_ELEM / 2), MEM_ELEM / 2);
	/* the least size is up to the caller */
	smc_buf_limits[0] = used;
	KUNIT_EXPECT_EQ(test, smc_mem_fit(account, MEM_ELEM), 0);
	smc_buf_limits[0] = max(used - 1, 0L);
	KUNIT_EXPECT_EQ(test, smc_mem_fit(account, MEM_ELEM), 0);
	smc_buf_limits[0] = LONG_MAX;
	KUNIT_EXPECT_EQ(test, smc_mem_fit(account, 4 * MEM_ELEM), 4 * MEM_ELEM);
	smc_buf_limits[0] = low;
}

static void parts_of_a_page_add_up(struct kunit *test)
{
	struct smc_account *account = mem_account(test);
	long before = mem_total();
	int i;

	for (i = 1; i <= 8; i++)
		KUNIT_ASSERT_EQ(test, smc_mem_charge(account, i * PAGE_SIZE / 4), 0);
	KUNIT_EXPECT_EQ(test, mem_total() - before, 2 * PAGE_SIZE);
	smc_mem_close(account);
	KUNIT_EXPECT_EQ(test, mem_total(), before);
	KUNIT_EXPECT_EQ(test, account->sk.sk_forward_alloc, 0);
}

static void the_largest_rings_do_not_overflow(struct kunit *test)
{
	struct smc_account *account = mem_account(test);
	long before = mem_total();

	/* both of size code 15 */
	KUNIT_ASSERT_EQ(test, smc_mem_charge(account, 1U << 30), 0);
	KUNIT_EXPECT_EQ(test, mem_total() - before, 1L << 30);
	smc_mem_close(account);
	KUNIT_EXPECT_EQ(test, mem_total(), before);
}

static void above_the_limit_nothing_is_charged(struct kunit *test)
{
	long limit = (mem_total() + 4 * MEM_ELEM) >> PAGE_SHIFT;
	struct smc_account *account = mem_account(test);
	long before = mem_total();
	int n;

	/* under pressure, but below the hard limit */
	mem_limits[0] = 0;
	mem_limits[1] = 0;
	mem_limits[2] = limit;
	for (n = 0; n < 64 && !smc_mem_charge(account, (n + 1) * MEM_ELEM); n++)
		;
	/* per-CPU reserves blur the count, by their size at most */
	KUNIT_EXPECT_GE(test, n, 4);
	KUNIT_EXPECT_LT(test, n, 64);
	KUNIT_EXPECT_EQ(test, smc_mem_charge(account, 128 * MEM_ELEM), -ENOMEM);
	KUNIT_EXPECT_EQ(test, mem_total() - before, n * MEM_ELEM);
	KUNIT_EXPECT_EQ(test, account->sk.sk_forward_alloc, 0);
	smc_mem_close(account);
	KUNIT_EXPECT_EQ(test, mem_total(), before);
}

/* The control group is that of the TCP sock; the sock itself is not charged. */
static void an_account_is_one_of_smc(struct kunit *test)
{
	struct mem_case *c = test->priv;
	struct smc_account *account;
	long before = mem_total();

	account = kunit_kzalloc(test, sizeof(*account), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, account);
	KUNIT_ASSERT_EQ(test, smc_mem_init(), 0);
	smc_mem_open(account, c->sk);
	KUNIT_EXPECT_PTR_EQ(test, account->sk.sk_prot, &smc_mem_account_proto);
	KUNIT_EXPECT_PTR_EQ(test, smc_compat_sk_memcg(&account->sk), smc_compat_sk_memcg(c->sk));
	KUNIT_EXPECT_EQ(test, smc_mem_charge(account, MEM_ELEM), 0);
	KUNIT_EXPECT_GE(test, mem_smc_pages(), (long)PAGE_ALIGN(MEM_ELEM) >> PAGE_SHIFT);
	KUNIT_EXPECT_EQ(test, mem_total(), before);
	/* as a handshake that gives up before it has a group */
	smc_mem_close(account);
	KUNIT_EXPECT_EQ(test, account->sk.sk_forward_alloc, 0);
	smc_mem_exit();
}

/* An accepted socket on a kernel without control groups. */
static void what_is_charged_stays_when_an_account_changes_hands(struct kunit *test)
{
	struct smc_account *account = mem_account(test);
	struct mem_case *c = test->priv;
	long before = mem_total();

	KUNIT_ASSERT_EQ(test, smc_mem_charge(account, MEM_ELEM), 0);
	local_bh_disable();
	smc_mem_adopt(&account->sk, MEM_ELEM);
	local_bh_enable();
	KUNIT_EXPECT_PTR_EQ(test, smc_compat_sk_memcg(&account->sk), smc_compat_sk_memcg(c->sk));
	KUNIT_EXPECT_EQ(test, mem_total() - before, PAGE_ALIGN(MEM_ELEM));
	smc_mem_close(account);
	KUNIT_EXPECT_EQ(test, mem_total(), before);
}

#ifdef SMC_HAVE_SK_MEMCG
/* A peer may reset a child between its handshake and accept(). */
static void a_closed_account_is_not_adopted(struct kunit *test)
{
	struct smc_account *account = mem_account(test);
	unsigned int i;

	/* nothing is charged: the account moves with its reference */
	mem_groups[0].refs = 1;
	mem_groups[1].refs = 0;
	smc_compat_sk_set_memcg(&account->sk, (struct mem_cgroup *)&mem_groups[0]);
	mem_task_group = &mem_groups[1];
	local_bh_disable();
	smc_mem_adopt(&account->sk, 0);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, mem_groups[0].refs, 0);
	KUNIT_EXPECT_EQ(test, mem_groups[1].refs, 1);
	KUNIT_EXPECT_PTR_EQ(test, mem_group_of(smc_compat_sk_memcg(&account->sk)),
			    &mem_groups[1]);

	/* the reference goes once, and none comes after it */
	smc_mem_close(account);
	mem_task_group = &mem_groups[0];
	local_bh_disable();
	smc_mem_adopt(&account->sk, 0);
	local_bh_enable();
	smc_mem_close(account);
	mem_task_group = NULL;
	for (i = 0; i < ARRAY_SIZE(mem_groups); i++)
		KUNIT_EXPECT_EQ_MSG(test, mem_groups[i].refs, 0, "group %u", i);
	KUNIT_EXPECT_NULL(test, smc_compat_sk_memcg(&account->sk));
}
#endif

static void limits_are_in_order_and_leave_most_of_the_memory(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, smc_mem_init(), 0);
	smc_mem_exit();
	KUNIT_EXPECT_GT(test, smc_buf_limits[0], 0);
	KUNIT_EXPECT_LT(test, smc_buf_limits[0], smc_buf_limits[1]);
	KUNIT_EXPECT_LT(test, smc_buf_limits[1], smc_buf_limits[2]);
	KUNIT_EXPECT_LE(test, smc_buf_limits[2], max(totalram_pages() / 4, 1024UL));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rings_are_charged_once_and_given_back),
	KUNIT_CASE(memory_that_exists_is_charged_and_given_back),
	KUNIT_CASE(a_charge_wants_little_room_with_large_pages),
	KUNIT_CASE(little_memory_makes_rings_smaller),
	KUNIT_CASE(parts_of_a_page_add_up),
	KUNIT_CASE(the_largest_rings_do_not_overflow),
	KUNIT_CASE(above_the_limit_nothing_is_charged),
	KUNIT_CASE(an_account_is_one_of_smc),
	KUNIT_CASE(what_is_charged_stays_when_an_account_changes_hands),
#ifdef SMC_HAVE_SK_MEMCG
	KUNIT_CASE(a_closed_account_is_not_adopted),
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
