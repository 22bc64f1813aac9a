// SPDX-License-Identifier: GPL-2.0
/*
 * Which handshakes under way make room for others. The lists of a listener are real, and
 * nothing is below them.
 */
#include "smc_kunit.h"

/* Other suites play these. */
#define smc_sock_for_each		admit_sock_for_each
#define smc_sock_pend			admit_sock_pend
#define smc_sock_queue			admit_sock_queue
#define smc_sock_queue_delayed		admit_sock_queue_delayed
#define smc_sock_queue_within		admit_sock_queue_within
#define smc_sock_wake_attending		admit_sock_wake_attending
#define smc_sock_wake_sleepers		admit_sock_wake_sleepers
#define smc_sock_wake_writers		admit_sock_wake_writers

#include "../../../net/smc/smc_child.h"
#include "../../../net/smc/smc_hs_wait.h"
#include "../../../net/smc/smc_net.h"
#include "../../../net/smc/smc_tcp.h"
#include "../../../net/smc/smc_sock.c"

static struct proto admit_proto = {
	.name = "smc_hs_admit_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct smc_sock),
};

static unsigned int admit_nr_resets;

static void admit_reset(struct smc_sock *child)
{
	admit_nr_resets++;
}

#undef smc_sock_queue
#undef smc_sock_queue_delayed
#define smc_sock_queue(...)		((void)0)
#define smc_sock_queue_delayed(...)	((void)0)
#define smc_child_drop(...)		((void)0)
#define smc_child_prepare(...)		((void)0)
#define smc_hs_tcp_has_news(...)	false
#define smc_tcp_is_agreed(...)		true
#define smc_tcp_reset			admit_reset
#define smc_tcp_watch(...)		true
#define smc_stat_inc(...)		((void)0)

#include "../../../net/smc/smc_hs_admit.c"

static struct smc_sock *admit_new(struct kunit *test)
{
	struct sock *sk = sk_alloc(&init_net, PF_SMC, GFP_KERNEL, &admit_proto, 1);
	struct smc_sock *smc = smc_sk(sk);

	KUNIT_ASSERT_NOT_NULL(test, sk);
	sock_init_data(NULL, sk);
	spin_lock_init(&smc->accept_lock);
	INIT_LIST_HEAD(&smc->accept_q);
	INIT_LIST_HEAD(&smc->handshakes);
	INIT_LIST_HEAD(&smc->queue_node);
	return smc;
}

static const struct {
	unsigned int nr;
	unsigned long bytes;
	unsigned int nr_left;
} admit_rows[] = {
	/* a burst, whatever its rings */
	{ 150, 1UL << 20, 150 },
	{ 256, 64UL << 20, 256 },
	/* more than that replace one another */
	{ 600, 1UL << 20, 256 },
	/* small ones have their bound in bytes: 64 MiB */
	{ 655, 100UL << 10, 655 },
	{ 700, 100UL << 10, 655 },
};

static void large_rings_leave_room_for_a_burst(struct kunit *test)
{
	struct smc_sock *listener, **child;
	unsigned int i, k, nr, nr_wrong;

	child = kunit_kcalloc(test, 700, sizeof(*child), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, child);
	for (i = 0; i < ARRAY_SIZE(admit_rows); i++) {
		nr = admit_rows[i].nr;
		listener = admit_new(test);
		listener->sk.sk_state = SMC_STATE_LISTEN;
		admit_nr_resets = 0;
		nr_wrong = 0;
		for (k = 0; k < nr; k++) {
			child[k] = admit_new(test);
			KUNIT_ASSERT_TRUE(test, smc_sock_add_handshake(listener, child[k]));
			smc_hs_charge(child[k], admit_rows[i].bytes);
		}
		KUNIT_EXPECT_EQ_MSG(test, listener->nr_handshakes, admit_rows[i].nr_left, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, admit_nr_resets, nr - admit_rows[i].nr_left, "%u", i);
		for (k = 0; k < nr; k++) {
			/* the oldest have gone */
			nr_wrong += smc_sock_is_handshaking(child[k]) !=
				    (k >= nr - admit_rows[i].nr_left);
			smc_sock_end_handshake(child[k], false);
			sock_put(&child[k]->sk);
		}
		KUNIT_EXPECT_EQ_MSG(test, nr_wrong, 0, "%u", i);
		KUNIT_EXPECT_EQ(test, listener->hs_bytes, 0);
		sock_put(&listener->sk);
	}
}

static struct kunit_case admit_cases[] = {
	KUNIT_CASE(large_rings_leave_room_for_a_burst),
	{}
};

static struct kunit_suite admit_suite = {
	.name = "smc_hs_admit",
	.test_cases = admit_cases,
};

kunit_test_suite(admit_suite);
