// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a socket: its references, its transitions, its work items. The sock has no
 * connection; queues and connections are real.
 */
#include "smc_kunit.h"
#include "../../../net/smc/group/smc_carrier.h"
#include "smc_kunit_sock.h"

#include <linux/module.h>

#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/group/smc_core.h"
#include "../../../net/smc/rdma/smc_net.h"

/* A case may expect a warning. */
static unsigned int sock_nr_warned;

static bool sock_warned(bool cond)
{
	sock_nr_warned += cond;
	return cond;
}

#undef WARN_ON_ONCE
#define WARN_ON_ONCE(cond) sock_warned(!!(cond))

/* Steps of walks through the sockets */
static unsigned long sock_nr_steps;

#define xa_find(...)	(sock_nr_steps++, xa_find(__VA_ARGS__))

/* not where other xarrays are made: lockdep would take their locks for one */
#include "../../../net/smc/rdma/smc_net.c"
#include "../../../net/smc/sock/smc_sock.c"
#include "../../../net/smc/sock/smc_wake.c"

static struct proto sock_proto = SMC_KUNIT_PROTO("smc_sock_test");

/* A work item that runs until the case releases it. */
static struct completion sock_begun, sock_go_on;
static unsigned int sock_nr_hs, sock_nr_grow, sock_nr_close, sock_nr_end;

static void sock_hs_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(to_delayed_work(work), struct smc_sock, hs_work);

	WRITE_ONCE(sock_nr_hs, sock_nr_hs + 1);
	complete(&sock_begun);
	wait_for_completion(&sock_go_on);
	smc_sock_put(smc);
}

static void sock_grow_work(struct work_struct *work)
{
	WRITE_ONCE(sock_nr_grow, sock_nr_grow + 1);
	smc_sock_put(container_of(work, struct smc_sock, grow_work));
}

static void sock_close_work(struct work_struct *work)
{
	WRITE_ONCE(sock_nr_close, sock_nr_close + 1);
	smc_sock_put(container_of(work, struct smc_sock, close_work));
}

static void sock_end_work(struct work_struct *work)
{
	WRITE_ONCE(sock_nr_end, sock_nr_end + 1);
	smc_conn_put(container_of(to_delayed_work(work), struct smc_conn, end_work));
}

static void sock_event(struct smc_conn *conn, u32 events)
{
}

static const struct smc_sock_works sock_works = {
	.handshake = sock_hs_work,
	.handshake_grow = sock_grow_work,
	.close = sock_close_work,
	.end = sock_end_work,
	.conn.event = sock_event,
};

static struct pernet_operations sock_net_ops = {
	.init = smc_net_init,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int sock_suite_init(struct kunit_suite *suite)
{
	int rc;

	rc = register_pernet_subsys(&sock_net_ops);
	if (rc)
		return rc;
	rc = smc_sock_init(&sock_works);
	if (rc)
		unregister_pernet_subsys(&sock_net_ops);
	return rc;
}

static void sock_suite_exit(struct kunit_suite *suite)
{
	smc_sock_exit();
	unregister_pernet_subsys(&sock_net_ops);
}

static void sock_flush(void)
{
	complete_all(&sock_go_on);
	flush_workqueue(smc_hs_wq);
	flush_workqueue(smc_grow_wq);
	flush_workqueue(smc_close_wq);
}

static struct smc_sock *sock_attach(struct sock *sk)
{
	struct smc_sock *smc;

	__module_get(THIS_MODULE);
	smc = smc_sock_attach(sk, GFP_KERNEL);
	if (!smc)
		module_put(THIS_MODULE);
	return smc;
}

/* The sock of a case. */
static int sock_init(struct kunit *test)
{
	struct sock *sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, &sock_proto, 1);

	test->priv = sk;
	if (!sk)
		return -ENOMEM;
	sock_init_data(NULL, sk);
	init_completion(&sock_begun);
	init_completion(&sock_go_on);
	sock_nr_hs = 0;
	sock_nr_grow = 0;
	sock_nr_close = 0;
	sock_nr_end = 0;
	sock_nr_warned = 0;
	return sock_attach(sk) ? 0 : -ENOMEM;
}

static void sock_exit(struct kunit *test)
{
	struct sock *sk = test->priv;

	if (!sk)
		return;
	sock_flush();
	if (inet_csk(sk)->icsk_ulp_ops)
		smc_sock_detach(sk);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&sk->sk_refcnt), 1);
	sock_put(sk);
	KUNIT_EXPECT_EQ(test, sock_nr_warned, 0U);
}

static struct smc_sock *sock_state(struct kunit *test)
{
	struct sock *sk = test->priv;
	struct smc_sock *smc;

	rcu_read_lock();
	smc = smc_sk(sk);
	rcu_read_unlock();
	return smc;
}

static void a_state_is_found_by_its_tag(struct kunit *test)
{
	struct smc_sock *smc = sock_state(test);
	struct sock *sk = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, smc);
	KUNIT_EXPECT_PTR_EQ(test, smc->sk, sk);
	KUNIT_EXPECT_EQ(test, (int)smc->phase, SMC_PHASE_IDLE);
	/* a child's placeholder is not a state, nor is the data of another ULP */
	inet_csk(sk)->icsk_ulp_ops = &smc_ulp_child;
	KUNIT_EXPECT_NULL(test, sock_state(test));
	inet_csk(sk)->icsk_ulp_ops = NULL;
	KUNIT_EXPECT_NULL(test, sock_state(test));
	inet_csk(sk)->icsk_ulp_ops = &smc_ulp_sock;
}

static void a_state_exists_until_its_last_user_ends(struct kunit *test)
{
	struct smc_sock *smc = sock_state(test);
	struct sock *sk = test->priv;
	int had;

	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	smc_sock_get(smc);
	KUNIT_EXPECT_EQ(test, refcount_read(&sk->sk_refcnt), 2);
	smc_sock_detach(sk);
	KUNIT_EXPECT_NULL(test, sock_state(test));
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(inet_csk(sk)->icsk_ulp_data));
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->refs), 1);
	KUNIT_EXPECT_PTR_EQ(test, smc->sk, sk);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
	smc_sock_put(smc);
	KUNIT_EXPECT_EQ(test, refcount_read(&sk->sk_refcnt), 1);
	/* and the module until a grace period is over */
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had - 1);
	/* the slot is free again */
	KUNIT_EXPECT_NOT_NULL(test, sock_attach(sk));
}

static const struct {
	enum smc_phase from;
	enum smc_phase to;
} sock_moves[] = {
	{ SMC_PHASE_IDLE, SMC_PHASE_HANDSHAKE },
	{ SMC_PHASE_IDLE, SMC_PHASE_TCP },
	{ SMC_PHASE_HANDSHAKE, SMC_PHASE_IDLE },
	{ SMC_PHASE_HANDSHAKE, SMC_PHASE_STOPPING },
	{ SMC_PHASE_HANDSHAKE, SMC_PHASE_SMC },
	{ SMC_PHASE_HANDSHAKE, SMC_PHASE_TCP },
	/* connect() to AF_UNSPEC, or shutdown(), waits for it */
	{ SMC_PHASE_STOPPING, SMC_PHASE_IDLE },
	/* connect() to AF_UNSPEC */
	{ SMC_PHASE_SMC, SMC_PHASE_IDLE },
	/* it landed: both streams were handed over to TCP */
	{ SMC_PHASE_SMC, SMC_PHASE_TCP },
};

static void a_socket_becomes_what_it_may(struct kunit *test)
{
	struct smc_sock *smc = sock_state(test);
	unsigned int from, to, i, nr_refused = 0;
	bool may;

	lock_sock(smc->sk);
	for (from = 0; from < SMC_PHASES; from++) {
		for (to = 0; to < SMC_PHASES; to++) {
			may = false;
			for (i = 0; i < ARRAY_SIZE(sock_moves); i++)
				may |= sock_moves[i].from == from && sock_moves[i].to == to;
			smc->phase = from;
			KUNIT_EXPECT_EQ_MSG(test, smc_sock_set_phase(smc, to), may, "%u to %u",
					    from, to);
			KUNIT_EXPECT_EQ_MSG(test, (unsigned int)smc->phase, may ? to : from,
					    "%u to %u", from, to);
			nr_refused += !may;
		}
	}
	/* each refused transition warns */
	KUNIT_EXPECT_EQ(test, sock_nr_warned, nr_refused);
	sock_nr_warned = 0;
	smc->phase = SMC_PHASE_IDLE;
	release_sock(smc->sk);
}

/* Stop at the nth. */
static int sock_visit(struct smc_sock *smc, void *arg)
{
	unsigned int *left = arg;

	return !(*left)--;
}

static unsigned int sock_count(unsigned long *pos, unsigned int most)
{
	unsigned int left = most;

	return smc_sock_for_each(&init_net, pos, sock_visit, &left) ? most : most - left;
}

static void sock_diag_sees_each_socket_once(struct kunit *test)
{
	struct smc_sock *smc[100];
	unsigned int before, i;
	unsigned long pos = 0;

	before = sock_count(&pos, 1000);
	KUNIT_EXPECT_GE(test, before, 1U);
	for (i = 0; i < ARRAY_SIZE(smc); i++) {
		struct sock *sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, &sock_proto, 1);

		KUNIT_ASSERT_NOT_NULL(test, sk);
		sock_init_data(NULL, sk);
		smc[i] = sock_attach(sk);
		KUNIT_ASSERT_NOT_NULL(test, smc[i]);
	}
	/* a dump continues where its buffer was full, without a look at earlier sockets */
	pos = 0;
	sock_nr_steps = 0;
	for (i = 0; i < before + ARRAY_SIZE(smc); i++)
		KUNIT_EXPECT_EQ(test, sock_count(&pos, 1), 1U);
	KUNIT_EXPECT_EQ(test, sock_count(&pos, 1), 0U);
	/* each is found by the call that returns it, and by the next one that stops there */
	KUNIT_EXPECT_LE(test, sock_nr_steps, 2UL * (before + ARRAY_SIZE(smc)) + 1);
	for (i = 0; i < ARRAY_SIZE(smc); i++) {
		struct sock *sk = smc[i]->sk;

		smc_sock_detach(sk);
		sock_put(sk);
	}
	pos = 0;
	KUNIT_EXPECT_EQ(test, sock_count(&pos, 1000), before);
}

/* One more socket, made and gone: measured for the log. */
static void sock_measure(struct kunit *test, unsigned int nr)
{
	struct sock *sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, &sock_proto, 1);
	unsigned int i, rounds = 50;
	u64 begin;

	KUNIT_ASSERT_NOT_NULL(test, sk);
	sock_init_data(NULL, sk);
	begin = ktime_get_ns();
	for (i = 0; i < rounds && sock_attach(sk); i++)
		smc_sock_detach(sk);
	kunit_info(test, "%u sockets: %llu ns for one more", nr,
		   div_u64(ktime_get_ns() - begin, rounds));
	KUNIT_EXPECT_EQ(test, i, rounds);
	rcu_barrier();
	sock_put(sk);
}

/* Sockets that the end of a dump shows */
#define SOCK_PART	100

static void one_more_socket_costs_the_same_with_any_number(struct kunit *test)
{
	static const unsigned int crowds[] = { SMC_KUNIT_CROWD / 10, SMC_KUNIT_CROWD };
	struct smc_sock *smc = sock_state(test);
	struct xarray *list = smc_sock_list(smc);
	unsigned int i, nr = 1;
	unsigned long pos;
	u32 id = 0;
	u64 begin;

	for (i = 0; i < ARRAY_SIZE(crowds); i++) {
		/* the one socket of the case stands for all */
		while (nr < crowds[i] && !xa_alloc_bh(list, &id, smc, xa_limit_32b, GFP_KERNEL))
			nr++;
		KUNIT_EXPECT_EQ(test, nr, crowds[i]);
		sock_measure(test, nr);
		/* a dump continues in front of the last ones without a look at others */
		pos = nr - SOCK_PART;
		sock_nr_steps = 0;
		begin = ktime_get_ns();
		KUNIT_EXPECT_EQ(test, sock_count(&pos, nr), SOCK_PART);
		kunit_info(test, "%u sockets: %llu ns for each in a dump", nr,
			   div_u64(ktime_get_ns() - begin, SOCK_PART));
		KUNIT_EXPECT_EQ(test, sock_nr_steps, SOCK_PART + 1UL);
	}
	xa_for_each(list, pos, smc)
		if (pos != smc->pos)
			xa_erase_bh(list, pos);
}

static void a_work_item_that_is_queued_keeps_state_and_sock(struct kunit *test)
{
	struct smc_sock *smc = sock_state(test);
	struct sock *sk = test->priv;

	smc_sock_queue(smc);
	wait_for_completion(&sock_begun);
	smc_sock_queue(smc);
	smc_sock_queue(smc);
	/* one runs, and one is queued */
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->refs), 1 + 2);
	KUNIT_EXPECT_EQ(test, refcount_read(&sk->sk_refcnt), 1 + 2);
	/* a wait for memory does not hold up a handshake, nor the other way round */
	smc_sock_queue_grow(smc);
	flush_workqueue(smc_grow_wq);
	KUNIT_EXPECT_EQ(test, sock_nr_grow, 1U);
	KUNIT_EXPECT_EQ(test, sock_nr_hs, 1U);

	/* an event is not delayed */
	smc_sock_queue_delayed(smc, 1000 * HZ);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->refs), 1 + 2);
	sock_flush();
	KUNIT_EXPECT_EQ(test, sock_nr_hs, 2U);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->refs), 1);

	/* and ends a delay */
	smc_sock_queue_delayed(smc, 1000 * HZ);
	smc_sock_queue_delayed(smc, 2000 * HZ);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->refs), 1 + 1);
	smc_sock_queue(smc);
	sock_flush();
	KUNIT_EXPECT_EQ(test, sock_nr_hs, 3U);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->refs), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&sk->sk_refcnt), 1);
}

/* Code that found the state under RCU may be late. */
static void a_state_without_users_gets_no_work(struct kunit *test)
{
	struct smc_sock *smc = sock_state(test);
	struct sock *sk = test->priv;
	bool is_pending[2];
	int refs, sk_refs;

	complete_all(&sock_go_on);
	rcu_read_lock();
	smc_sock_detach(sk);
	smc_sock_queue(smc);
	is_pending[0] = delayed_work_pending(&smc->hs_work);
	refs = refcount_read(&smc->refs);
	sk_refs = refcount_read(&sk->sk_refcnt);
	/* nor if the sock is gone, or another socket's */
	refcount_set(&sk->sk_refcnt, 0);
	smc_sock_queue(smc);
	is_pending[1] = delayed_work_pending(&smc->hs_work);
	refcount_set(&sk->sk_refcnt, 1);
	rcu_read_unlock();
	KUNIT_EXPECT_FALSE(test, is_pending[0]);
	KUNIT_EXPECT_FALSE(test, is_pending[1]);
	KUNIT_EXPECT_EQ(test, refs, 0);
	KUNIT_EXPECT_EQ(test, sk_refs, 1);
	sock_flush();
	KUNIT_EXPECT_EQ(test, sock_nr_hs, 0U);
}

/* A call may hold the lock for any time. */
static void a_work_item_does_not_wait_for_a_call(struct kunit *test)
{
	struct smc_sock *smc = sock_state(test);
	struct sock *sk = smc->sk;

	complete_all(&sock_go_on);
	KUNIT_EXPECT_TRUE(test, smc_sock_lock_work(sk, SMC_MISSED_HANDSHAKE));
	KUNIT_EXPECT_TRUE(test, sock_owned_by_user_nocheck(sk));
	KUNIT_EXPECT_EQ(test, smc->missed, 0U);
	/* the lock was held by a call now */
	KUNIT_EXPECT_FALSE(test, smc_sock_lock_work(sk, SMC_MISSED_HANDSHAKE));
	KUNIT_ASSERT_EQ(test, smc_sock_make_conn(smc), 0);
	KUNIT_EXPECT_FALSE(test, smc_sock_lock_work(sk, SMC_MISSED_CLOSE));
	KUNIT_EXPECT_FALSE(test, smc_sock_lock_work(sk, SMC_MISSED_CLOSE));
	KUNIT_EXPECT_EQ(test, sock_nr_hs, 0U);
	KUNIT_EXPECT_EQ(test, sock_nr_close, 0U);
	/* as release_sock() does */
	spin_lock_bh(&sk->sk_lock.slock);
	smc_sock_release_missed(sk);
	spin_unlock_bh(&sk->sk_lock.slock);
	KUNIT_EXPECT_EQ(test, smc->missed, 0U);
	release_sock(sk);
	sock_flush();
	KUNIT_EXPECT_EQ(test, sock_nr_hs, 1U);
	KUNIT_EXPECT_EQ(test, sock_nr_close, 1U);
}

static void a_connection_goes_on_without_its_socket(struct kunit *test)
{
	struct smc_sock *smc = sock_state(test);
	struct sock *sk = smc->sk;
	struct smc_conn *conn;

	complete_all(&sock_go_on);
	KUNIT_ASSERT_EQ(test, smc_sock_make_conn(smc), 0);
	conn = smc->conn;
	KUNIT_EXPECT_EQ(test, smc_sock_make_conn(smc), 0);
	KUNIT_EXPECT_PTR_EQ(test, smc->conn, conn);
	KUNIT_EXPECT_PTR_EQ(test, conn->sk, sk);
	KUNIT_EXPECT_FALSE(test, smc_state_is_alive(&smc->close));
	rcu_read_lock();
	KUNIT_EXPECT_PTR_EQ(test, smc_conn_sock(conn), smc);
	rcu_read_unlock();

	smc_conn_get(conn);
	smc_sock_drop_conn(smc);
	smc_sock_drop_conn(smc);
	KUNIT_EXPECT_NULL(test, smc->conn);
	rcu_read_lock();
	KUNIT_EXPECT_NULL(test, smc_conn_sock(conn));
	rcu_read_unlock();
	/* its events do not concern the next one */
	smc_sock_pend(conn, SMC_PENDING_TIMER);
	KUNIT_EXPECT_EQ(test, conn->pending, BIT(SMC_PENDING_TIMER));
	/* an event makes it end before its time */
	smc_sock_queue_end(conn, 1000 * HZ);
	smc_sock_queue_end(conn, 0);
	flush_workqueue(smc_close_wq);
	KUNIT_EXPECT_EQ(test, sock_nr_close, 0U);
	KUNIT_EXPECT_EQ(test, sock_nr_end, 1U);
	KUNIT_EXPECT_EQ(test, refcount_read(&sk->sk_refcnt), 2);
	smc_conn_put(conn);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&sk->sk_refcnt), 1);
}

static void sock_diag_shows_what_deployed_tools_know(struct kunit *test)
{
	struct smc_sock *smc = sock_state(test);
	struct smc_listener listener;

	rcu_read_lock();
	KUNIT_EXPECT_EQ(test, smc_sock_shown_state(smc), SMC_STATE_INIT);
	RCU_INIT_POINTER(smc->listener, &listener);
	KUNIT_EXPECT_EQ(test, smc_sock_shown_state(smc), SMC_STATE_LISTEN);
	RCU_INIT_POINTER(smc->listener, NULL);
	rcu_read_unlock();

	KUNIT_ASSERT_EQ(test, smc_sock_make_conn(smc), 0);
	smc->close.state = SMC_STATE_APPCLOSEWAIT1;
	rcu_read_lock();
	/* nothing is established before the end of the handshake */
	smc->phase = SMC_PHASE_HANDSHAKE;
	KUNIT_EXPECT_EQ(test, smc_sock_shown_state(smc), SMC_STATE_INIT);
	smc->phase = SMC_PHASE_SMC;
	KUNIT_EXPECT_EQ(test, smc_sock_shown_state(smc), SMC_STATE_APPCLOSEWAIT1);
	rcu_read_unlock();
}

static void an_error_is_reported_once(struct kunit *test)
{
	struct smc_sock *smc = sock_state(test);

	lock_sock(smc->sk);
	smc_sock_set_err(smc, ECONNRESET);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, ECONNRESET);
	KUNIT_EXPECT_EQ(test, smc_sock_take_err(smc), -ECONNRESET);
	KUNIT_EXPECT_EQ(test, smc->err, 0);
	KUNIT_EXPECT_EQ(test, smc_sock_take_err(smc), 0);
	release_sock(smc->sk);
}

/* Calls of our callbacks, and of those that a kernel user has installed. */
static unsigned int sock_nr_our, sock_nr_states, sock_nr_data, sock_nr_spaces;

static void sock_our(struct sock *sk)
{
	sock_nr_our++;
}

static void sock_kernel_state(struct sock *sk)
{
	lockdep_assert_held(&sk->sk_lock.slock);
	sock_nr_states++;
}

static void sock_kernel_data(struct sock *sk)
{
	lockdep_assert_held(&sk->sk_lock.slock);
	sock_nr_data++;
}

static void sock_kernel_space(struct sock *sk)
{
	lockdep_assert_held(&sk->sk_lock.slock);
	sock_nr_spaces++;
}

static void sock_wake_begin(struct sock *sk)
{
	smc_wake_save(sk);
	sk->sk_state_change = sock_our;
	sk->sk_data_ready = sock_our;
	sk->sk_error_report = sock_our;
	smc_wake_save_our(sk);
	sock_nr_our = 0;
	sock_nr_states = 0;
	sock_nr_data = 0;
	sock_nr_spaces = 0;
}

/* As nfsd does with a connection. */
static void sock_take(struct sock *sk)
{
	sk->sk_state_change = sock_kernel_state;
	sk->sk_data_ready = sock_kernel_data;
	sk->sk_write_space = sock_kernel_space;
}

static void a_kernel_user_hears_of_each_event(struct kunit *test)
{
	struct sock *sk = test->priv;

	sock_wake_begin(sk);
	KUNIT_EXPECT_FALSE(test, smc_wake_is_taken(sk));
	sock_take(sk);
	KUNIT_EXPECT_TRUE(test, smc_wake_is_taken(sk));
	smc_wake_readers(sk);
	KUNIT_EXPECT_EQ(test, sock_nr_data, 1U);
	smc_wake_writers(sk);
	KUNIT_EXPECT_EQ(test, sock_nr_spaces, 1U);
	/* TCP reports the end of the stream by both */
	smc_wake_state(sk);
	KUNIT_EXPECT_EQ(test, sock_nr_states, 1U);
	KUNIT_EXPECT_EQ(test, sock_nr_data, 2U);
	/* it has not replaced this one */
	smc_wake_error(sk);
	KUNIT_EXPECT_EQ(test, sock_nr_our, 0U);
}

static void a_kernel_user_is_called_when_the_lock_is_free(struct kunit *test)
{
	struct sock *sk = test->priv;

	sock_wake_begin(sk);
	sock_take(sk);
	lock_sock(sk);
	smc_wake_state(sk);
	smc_wake_readers(sk);
	smc_wake_writers(sk);
	KUNIT_EXPECT_EQ(test, sock_nr_states + sock_nr_data + sock_nr_spaces, 0U);
	/* the release_cb() of our struct proto */
	spin_lock_bh(&sk->sk_lock.slock);
	smc_wake_missed(sk, smc_sock_release_missed(sk));
	smc_wake_missed(sk, smc_sock_release_missed(sk));
	spin_unlock_bh(&sk->sk_lock.slock);
	release_sock(sk);
	KUNIT_EXPECT_EQ(test, sock_nr_states, 1U);
	KUNIT_EXPECT_EQ(test, sock_nr_data, 1U);
	KUNIT_EXPECT_EQ(test, sock_nr_spaces, 1U);
}

static void what_a_kernel_user_installed_stays(struct kunit *test)
{
	struct sock *sk = test->priv;

	sock_wake_begin(sk);
	sk->sk_data_ready = sock_kernel_data;
	smc_wake_restore(sk);
	KUNIT_EXPECT_TRUE(test, sk->sk_data_ready == sock_kernel_data);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_state_change, smc_wake_tcp.state_change);
	KUNIT_EXPECT_TRUE(test, smc_wake_is_taken(sk));
	/* but a child does not inherit it */
	smc_wake_reset(sk);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_data_ready, smc_wake_tcp.data_ready);
	KUNIT_EXPECT_FALSE(test, smc_wake_is_taken(sk));
}

/* Our callbacks report events of TCP; events of SMC bypass them. */
static void smc_wakes_as_tcp_does(struct kunit *test)
{
	struct sock *sk = test->priv;
	void (*tcps)(struct sock *sk) = sk->sk_state_change;
	struct socket *sock;

	sock_wake_begin(sk);
	smc_wake_state(sk);
	smc_wake_readers(sk);
	smc_wake_error(sk);
	KUNIT_EXPECT_EQ(test, sock_nr_our, 0U);
	smc_wake_restore(sk);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_state_change, tcps);

	/* a writer without room is woken once */
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &sock), 0);
	set_bit(SOCK_NOSPACE, &sock->flags);
	smc_wake_writers(sock->sk);
	KUNIT_EXPECT_FALSE(test, test_bit(SOCK_NOSPACE, &sock->flags));
	/* without a file there is no waiter to wake */
	smc_wake_writers(sk);
	smc_wake_everybody(sk);
	sock_release(sock);
}

static struct kunit_case sock_cases[] = {
	KUNIT_CASE(a_state_is_found_by_its_tag),
	KUNIT_CASE(a_state_exists_until_its_last_user_ends),
	KUNIT_CASE(a_socket_becomes_what_it_may),
	KUNIT_CASE(sock_diag_sees_each_socket_once),
	KUNIT_CASE_SLOW(one_more_socket_costs_the_same_with_any_number),
	KUNIT_CASE(a_work_item_that_is_queued_keeps_state_and_sock),
	KUNIT_CASE(a_state_without_users_gets_no_work),
	KUNIT_CASE(a_work_item_does_not_wait_for_a_call),
	KUNIT_CASE(a_connection_goes_on_without_its_socket),
	KUNIT_CASE(sock_diag_shows_what_deployed_tools_know),
	KUNIT_CASE(an_error_is_reported_once),
	KUNIT_CASE(a_kernel_user_hears_of_each_event),
	KUNIT_CASE(a_kernel_user_is_called_when_the_lock_is_free),
	KUNIT_CASE(what_a_kernel_user_installed_stays),
	KUNIT_CASE(smc_wakes_as_tcp_does),
	{}
};

static struct kunit_suite sock_suite = {
	.name = "smc_sock",
	.suite_init = sock_suite_init,
	.suite_exit = sock_suite_exit,
	.init = sock_init,
	.exit = sock_exit,
	.test_cases = sock_cases,
};

kunit_test_suite(sock_suite);
