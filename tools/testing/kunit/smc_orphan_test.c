// SPDX-License-Identifier: GPL-2.0
/*
 * Socks whose file has another one now, on socks that nothing is behind.
 */
#include "smc_kunit.h"
#include <linux/fcntl.h>
#include <net/sock.h>

#include "../../../net/smc/smc_sock.h"

static struct proto orphan_proto = {
	.name = "smc_orphan_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct smc_sock),
};

#define smc_sock_is_ours(sk) ((sk)->sk_prot == &orphan_proto)

#include "../../../net/smc/smc_orphan.c"

static struct smc_sock *orphan_new(struct kunit *test)
{
	struct sock *sk = sk_alloc(&init_net, PF_SMC, GFP_KERNEL, &orphan_proto, 1);

	KUNIT_ASSERT_NOT_NULL(test, sk);
	sock_init_data(NULL, sk);
	INIT_LIST_HEAD(&smc_sk(sk)->late_node);
	return smc_sk(sk);
}

/* The file of @smc, whose reference on it goes along, gets @heir. */
static void orphan_give(struct smc_sock *smc, struct smc_sock *heir)
{
	lock_sock(&smc->sk);
	smc_orphan_keep(smc, &heir->sk);
	smc_orphan_depart(smc);
	release_sock(&smc->sk);
	/* the sweep is called here, and by nobody else */
	cancel_delayed_work_sync(&smc_orphan_sweep_work);
}

static void orphan_close(struct smc_sock *smc)
{
	smc_orphan_depart(smc);
	sock_put(&smc->sk);
}

static void orphan_sweep_once(void)
{
	smc_orphan_sweep(&smc_orphan_sweep_work.work);
	cancel_delayed_work_sync(&smc_orphan_sweep_work);
}

static int orphan_refs(const struct smc_sock *smc)
{
	return refcount_read(&smc->sk.sk_refcnt);
}

static void a_file_has_one_entry(struct kunit *test)
{
	struct smc_sock *had[4], *heir;
	int i;

	had[0] = orphan_new(test);
	for (i = 0; i < ARRAY_SIZE(had); i++) {
		heir = orphan_new(test);
		/* to see it go */
		sock_hold(&had[i]->sk);
		orphan_give(had[i], heir);
		KUNIT_EXPECT_EQ(test, smc_orphan_nr, 1);
		KUNIT_EXPECT_TRUE(test, list_is_singular(&smc_orphans));
		if (i + 1 < ARRAY_SIZE(had))
			had[i + 1] = heir;
	}
	/* those in the middle are nobody's heirs any more */
	for (i = 0; i < ARRAY_SIZE(had); i++)
		KUNIT_EXPECT_EQ(test, orphan_refs(had[i]), 2);
	orphan_sweep_once();
	KUNIT_EXPECT_EQ(test, smc_orphan_nr, 1);

	orphan_close(heir);
	orphan_sweep_once();
	KUNIT_EXPECT_EQ(test, smc_orphan_nr, 0);
	for (i = 0; i < ARRAY_SIZE(had); i++) {
		KUNIT_EXPECT_EQ(test, orphan_refs(had[i]), 1);
		sock_put(&had[i]->sk);
	}
}

static void a_file_has_no_more_than_it_may(struct kunit *test)
{
	struct smc_sock *smc = orphan_new(test), *heir;
	int nr = 0;

	for (; smc_orphan_may_keep(smc) && nr < 1000; nr++) {
		heir = orphan_new(test);
		orphan_give(smc, heir);
		smc = heir;
	}
	KUNIT_EXPECT_EQ(test, nr, SMC_ORPHAN_OF_A_FILE);
	orphan_close(smc);
	orphan_sweep_once();
	KUNIT_EXPECT_TRUE(test, list_empty(&smc_orphans));
}

/* However many they are, and however many live in front of them. */
static void what_is_dead_goes_with_the_next_sweep(struct kunit *test)
{
	struct smc_sock **live = kunit_kcalloc(test, 1000, sizeof(*live), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, live);
	for (i = 0; i < 3000; i++) {
		struct smc_sock *heir = orphan_new(test);

		orphan_give(orphan_new(test), heir);
		if (i < 1000)
			live[i] = heir;
		else
			orphan_close(heir);
	}
	KUNIT_EXPECT_EQ(test, smc_orphan_nr, 3000);
	orphan_sweep_once();
	KUNIT_EXPECT_EQ(test, smc_orphan_nr, 1000);
	for (i = 0; i < 1000; i++)
		orphan_close(live[i]);
	orphan_sweep_once();
	KUNIT_EXPECT_EQ(test, smc_orphan_nr, 0);
}

/* Others let go of theirs while it looks. */
static void a_sweep_ends_when_there_is_nothing_left_to_see(struct kunit *test)
{
	KUNIT_ASSERT_TRUE(test, list_empty(&smc_orphans));
	smc_orphan_nr = 1;
	orphan_sweep_once();
	smc_orphan_nr = 0;
}

/* A table that others share, as that of kernel threads is. */
static void a_file_that_was_closed_meanwhile_is_not_ones_own(struct kunit *test)
{
	struct socket *sock;
	struct file *file;
	int fd;

	KUNIT_ASSERT_GT(test, atomic_read(&current->files->count), 1);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &sock), 0);
	file = sock_alloc_file(sock, O_CLOEXEC, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	fd = get_unused_fd_flags(O_CLOEXEC);
	KUNIT_ASSERT_GE(test, fd, 0);
	/* the call's own */
	get_file(file);
	fd_install(fd, file);
	KUNIT_EXPECT_TRUE(test, smc_orphan_is_alone(sock, fd));
	/* not what the system call was about */
	KUNIT_EXPECT_FALSE(test, smc_orphan_is_alone(sock, fd + 1));
	KUNIT_EXPECT_FALSE(test, smc_orphan_is_alone(sock, ~0U));

	/* somebody else's */
	get_file(file);
	KUNIT_EXPECT_FALSE(test, smc_orphan_is_alone(sock, fd));
	close_fd(fd);
	KUNIT_EXPECT_EQ(test, file_count(file), 2);
	KUNIT_EXPECT_FALSE(test, smc_orphan_is_alone(sock, fd));
	fput(file);
	fput(file);
}

/* fcntl() was told by the sock that the file had; the file's list is the heir's, too. */
static void o_async_that_came_late_reaches_the_heir(struct kunit *test)
{
	struct smc_sock *smc = orphan_new(test), *heir = orphan_new(test);
	struct smc_sock *late = orphan_new(test);
	struct fasync_struct fasync = { .magic = FASYNC_MAGIC };
	struct socket *sock;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &sock), 0);
	RCU_INIT_POINTER(late->sk.sk_wq, &sock->wq);
	orphan_give(smc, heir);
	orphan_give(heir, late);
	orphan_sweep_once();
	KUNIT_EXPECT_FALSE(test, sock_flag(&late->sk, SOCK_FASYNC));

	sock_set_flag(&smc->sk, SOCK_FASYNC);
	/* switched off again */
	orphan_sweep_once();
	KUNIT_EXPECT_FALSE(test, sock_flag(&late->sk, SOCK_FASYNC));
	rwlock_init(&fasync.fa_lock);
	sock->wq.fasync_list = &fasync;
	/* somebody else is at work on its flags */
	lock_sock(&late->sk);
	orphan_sweep_once();
	KUNIT_EXPECT_FALSE(test, sock_flag(&late->sk, SOCK_FASYNC));
	release_sock(&late->sk);
	orphan_sweep_once();
	KUNIT_EXPECT_TRUE(test, sock_flag(&late->sk, SOCK_FASYNC));

	sock->wq.fasync_list = NULL;
	orphan_close(late);
	orphan_sweep_once();
	KUNIT_EXPECT_TRUE(test, list_empty(&smc_orphans));
	sock_release(sock);
}

static int orphan_charge(const struct smc_sock *smc)
{
	return atomic_read(&smc->sk.sk_omem_alloc);
}

/* sendmsg() with control data began at one sock of the file, and ends at another. */
static void what_calls_have_charged_is_the_heirs(struct kunit *test)
{
	struct smc_sock *smc = orphan_new(test), *heir = orphan_new(test);
	struct smc_sock *late = orphan_new(test);
	struct bpf_prog prog = { .len = 3 };
	struct sk_filter filter = { .prog = &prog };
	int size = bpf_prog_size(prog.len);

	atomic_add(500 + size, &smc->sk.sk_omem_alloc);
	rcu_assign_pointer(smc->sk.sk_filter, &filter);
	orphan_give(smc, heir);
	KUNIT_EXPECT_EQ(test, orphan_charge(smc), size);
	KUNIT_EXPECT_EQ(test, orphan_charge(heir), 500);

	/* found the orphan before, and charges it after */
	atomic_add(70, &smc->sk.sk_omem_alloc);
	orphan_give(heir, late);
	KUNIT_EXPECT_EQ(test, orphan_charge(late), 500);
	/* somebody is about to change the filter */
	lock_sock(&smc->sk);
	orphan_sweep_once();
	KUNIT_EXPECT_EQ(test, orphan_charge(smc), size + 70);
	release_sock(&smc->sk);
	/* and found one in the middle when it ended */
	atomic_sub(30, &heir->sk.sk_omem_alloc);
	orphan_sweep_once();
	KUNIT_EXPECT_EQ(test, orphan_charge(smc), size);
	KUNIT_EXPECT_EQ(test, orphan_charge(heir), 0);
	KUNIT_EXPECT_EQ(test, orphan_charge(late), 540);

	RCU_INIT_POINTER(smc->sk.sk_filter, NULL);
	atomic_set(&smc->sk.sk_omem_alloc, 0);
	atomic_set(&late->sk.sk_omem_alloc, 0);
	orphan_close(late);
	orphan_sweep_once();
	KUNIT_EXPECT_TRUE(test, list_empty(&smc_orphans));
}

static struct kunit_case orphan_cases[] = {
	KUNIT_CASE(a_file_has_one_entry),
	KUNIT_CASE(a_file_has_no_more_than_it_may),
	KUNIT_CASE(what_is_dead_goes_with_the_next_sweep),
	KUNIT_CASE(a_sweep_ends_when_there_is_nothing_left_to_see),
	KUNIT_CASE(a_file_that_was_closed_meanwhile_is_not_ones_own),
	KUNIT_CASE(o_async_that_came_late_reaches_the_heir),
	KUNIT_CASE(what_calls_have_charged_is_the_heirs),
	{}
};

static struct kunit_suite orphan_suite = {
	.name = "smc_orphan",
	.test_cases = orphan_cases,
};

kunit_test_suite(orphan_suite);
