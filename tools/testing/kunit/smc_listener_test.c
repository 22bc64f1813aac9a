// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: the steps of their children, and what remains after the socket is closed.
 */
#include "smc_kunit.h"

#include "../../../net/smc/sock/smc_listener.c"

static struct proto listener_proto = {
	.name = "smc_listener_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct inet_connection_sock),
};

static unsigned int listener_nr_woken;
static unsigned int listener_nr_freed;

static void listener_wake(struct sock *sk)
{
	listener_nr_woken++;
}

static void listener_freed(struct sock *sk)
{
	listener_nr_freed++;
}

static void listener_take(struct work_struct *work)
{
	smc_listener_put(container_of(work, struct smc_listener, work));
}

static struct sock *listener_new_sock(struct kunit *test)
{
	struct sock *sk = sk_alloc(&init_net, PF_SMC, GFP_KERNEL, &listener_proto, 1);

	KUNIT_ASSERT_NOT_NULL(test, sk);
	sock_init_data(NULL, sk);
	spin_lock_init(&inet_csk(sk)->icsk_accept_queue.rskq_lock);
	sk->sk_destruct = listener_freed;
	return sk;
}

#define LISTENER_BACKLOG	3

/* A listener with its socket; the case holds a second reference. */
static struct smc_listener *listener_begin(struct kunit *test)
{
	struct sock *sk = listener_new_sock(test);
	struct smc_listener *listener;

	sk->sk_max_ack_backlog = LISTENER_BACKLOG;
	sk->sk_data_ready = listener_wake;
	listener_nr_woken = 0;
	listener_nr_freed = 0;
	listener = smc_listener_new(sk, listener_take);
	KUNIT_ASSERT_NOT_NULL(test, listener);
	refcount_inc(&listener->refs);
	return listener;
}

/* close() of the socket */
static void listener_close(struct smc_listener *listener)
{
	struct sock *sk = listener->sk;

	smc_listener_end(listener);
	smc_listener_put(listener);
	sock_put(sk);
}

static struct smc_child *listener_add(struct kunit *test, struct smc_listener *listener)
{
	struct smc_child *child = smc_listener_add(listener, listener_new_sock(test), jiffies);

	KUNIT_ASSERT_NOT_NULL(test, child);
	return child;
}

static struct sock *listener_next(struct smc_listener *listener)
{
	struct smc_accepted child;

	return smc_listener_next(listener, &child) ? child.sk : NULL;
}

static void expect_nr(struct kunit *test, const struct smc_listener *listener,
		      unsigned int handshake, unsigned int deferred, unsigned int ready)
{
	KUNIT_EXPECT_EQ(test, listener->nr[SMC_CHILD_HANDSHAKE], handshake);
	KUNIT_EXPECT_EQ(test, listener->nr[SMC_CHILD_DEFERRED], deferred);
	KUNIT_EXPECT_EQ(test, listener->nr[SMC_CHILD_READY], ready);
}

static void accept_has_children_in_the_order_in_which_they_are_ready(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);
	struct smc_child *child[3];
	struct sock *sk[3];
	int i;

	for (i = 0; i < 3; i++) {
		child[i] = listener_add(test, listener);
		sk[i] = child[i]->sk;
		smc_listener_count(child[i], 1000);
	}
	expect_nr(test, listener, 3, 0, 0);
	KUNIT_EXPECT_EQ(test, listener->bytes, 3000);
	KUNIT_EXPECT_NULL(test, listener_next(listener));

	/* a child that waits for its first byte has the same charge */
	KUNIT_EXPECT_TRUE(test, smc_listener_defer(child[0]));
	expect_nr(test, listener, 2, 1, 0);
	KUNIT_EXPECT_EQ(test, listener->bytes, 3000);

	KUNIT_EXPECT_TRUE(test, smc_listener_finish(child[2], true));
	KUNIT_EXPECT_TRUE(test, smc_listener_finish(child[0], true));
	expect_nr(test, listener, 1, 0, 2);
	KUNIT_EXPECT_EQ(test, listener->bytes, 1000);
	KUNIT_EXPECT_EQ(test, listener_nr_woken, 2);

	KUNIT_EXPECT_FALSE(test, smc_listener_finish(child[1], false));
	expect_nr(test, listener, 0, 0, 2);
	KUNIT_EXPECT_EQ(test, listener->bytes, 0);
	KUNIT_EXPECT_EQ(test, listener_nr_woken, 2);

	KUNIT_EXPECT_PTR_EQ(test, listener_next(listener), sk[2]);
	KUNIT_EXPECT_PTR_EQ(test, listener_next(listener), sk[0]);
	KUNIT_EXPECT_NULL(test, listener_next(listener));
	expect_nr(test, listener, 0, 0, 0);
	for (i = 0; i < 3; i++)
		sock_put(sk[i]);
	listener_close(listener);
	KUNIT_EXPECT_EQ(test, listener_nr_freed, 4);
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
	smc_listener_put(listener);
}

static void a_listener_outlives_its_socket_while_children_are_under_way(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);
	struct smc_child *child[3];
	struct sock *sk[3];
	int i;

	for (i = 0; i < 3; i++) {
		child[i] = listener_add(test, listener);
		sk[i] = child[i]->sk;
	}
	KUNIT_EXPECT_TRUE(test, smc_listener_defer(child[2]));
	KUNIT_EXPECT_PTR_EQ(test, smc_listener_sock(listener), listener->sk);
	sock_put(listener->sk);
	listener_close(listener);
	/* no child keeps the socket */
	KUNIT_EXPECT_EQ(test, listener_nr_freed, 1);
	KUNIT_EXPECT_NULL(test, smc_listener_sock(listener));
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1 + 3);

	/* they continue, and no accept() is woken for them */
	smc_listener_count(child[0], 1000);
	KUNIT_EXPECT_FALSE(test, smc_listener_finish(child[0], true));
	for (i = 1; i < 3; i++) {
		KUNIT_EXPECT_PTR_EQ(test, smc_listener_evict(listener, NULL), sk[i]);
		sock_put(sk[i]);
	}
	KUNIT_EXPECT_NULL(test, smc_listener_evict(listener, NULL));
	expect_nr(test, listener, 0, 0, 0);
	smc_listener_count(child[1], 1000);
	KUNIT_EXPECT_EQ(test, listener->bytes, 0);
	KUNIT_EXPECT_FALSE(test, smc_listener_defer(child[1]));
	KUNIT_EXPECT_FALSE(test, smc_listener_finish(child[1], true));
	KUNIT_EXPECT_FALSE(test, smc_listener_finish(child[2], true));
	KUNIT_EXPECT_NULL(test, listener_next(listener));
	KUNIT_EXPECT_EQ(test, listener_nr_woken, 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
	smc_listener_put(listener);
	for (i = 0; i < 3; i++)
		sock_put(sk[i]);
	KUNIT_EXPECT_EQ(test, listener_nr_freed, 4);
}

/* A work item that holds its queue until the case releases it. */
static struct completion listener_go_on;

static void listener_hold_up(struct work_struct *work)
{
	wait_for_completion(&listener_go_on);
}

static DECLARE_WORK(listener_holder, listener_hold_up);

static void a_work_item_that_is_queued_has_one_reference(struct kunit *test)
{
	struct workqueue_struct *wq = alloc_ordered_workqueue("smc_listener_test", 0);
	struct smc_listener *listener;

	KUNIT_ASSERT_NOT_NULL(test, wq);
	init_completion(&listener_go_on);
	queue_work(wq, &listener_holder);
	listener = listener_begin(test);
	smc_listener_queue(listener, wq);
	smc_listener_queue(listener, wq);
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 3);
	complete(&listener_go_on);
	destroy_workqueue(wq);
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 2);
	listener_close(listener);
	smc_listener_put(listener);
}

/* TCP's callbacks find it under RCU, perhaps late. */
static void a_listener_without_references_gets_no_work(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);
	bool is_pending;
	int refs;

	listener_close(listener);
	rcu_read_lock();
	smc_listener_put(listener);
	smc_listener_queue(listener, system_unbound_wq);
	is_pending = work_pending(&listener->work);
	refs = refcount_read(&listener->refs);
	rcu_read_unlock();
	KUNIT_EXPECT_FALSE(test, is_pending);
	KUNIT_EXPECT_EQ(test, refs, 0);
}

static const struct {
	unsigned int nr;
	unsigned long bytes;
	unsigned int nr_left;
} room_rows[] = {
	/* a burst, with rings of any size */
	{ 150, 1UL << 20, 150 },
	{ 256, 64UL << 20, 256 },
	/* beyond that the newest replace the oldest */
	{ 600, 1UL << 20, 256 },
	/* children with small rings are bounded by bytes: 64 MiB */
	{ 655, 100UL << 10, 655 },
	{ 700, 100UL << 10, 655 },
};

static void large_rings_leave_room_for_a_burst(struct kunit *test)
{
	unsigned int i, k, nr, nr_evicted, nr_wrong;
	struct smc_listener *listener;
	struct smc_child **child;
	struct sock *sk;

	child = kunit_kcalloc(test, 700, sizeof(*child), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, child);
	for (i = 0; i < ARRAY_SIZE(room_rows); i++) {
		nr = room_rows[i].nr;
		nr_evicted = 0;
		nr_wrong = 0;
		listener = listener_begin(test);
		for (k = 0; k < nr; k++) {
			child[k] = listener_add(test, listener);
			smc_listener_count(child[k], room_rows[i].bytes);
			/* children that wait for their first byte count the same */
			if (k % 2)
				smc_listener_defer(child[k]);
			while ((sk = smc_listener_evict(listener, child[k]))) {
				nr_evicted++;
				sock_put(sk);
			}
		}
		KUNIT_EXPECT_EQ_MSG(test, nr_evicted, nr - room_rows[i].nr_left, "%u", i);
		for (k = 0; k < nr; k++) {
			/* the oldest are gone */
			nr_wrong += (child[k]->state == SMC_CHILD_GONE) !=
				    (k < nr - room_rows[i].nr_left);
			sk = child[k]->sk;
			smc_listener_finish(child[k], false);
			sock_put(sk);
		}
		KUNIT_EXPECT_EQ_MSG(test, nr_wrong, 0, "%u", i);
		KUNIT_EXPECT_EQ(test, listener->bytes, 0);
		expect_nr(test, listener, 0, 0, 0);
		listener_close(listener);
		KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
		smc_listener_put(listener);
	}
}

static void one_that_is_larger_than_the_room_stays(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);
	struct smc_child *child = listener_add(test, listener);
	struct sock *sk = child->sk;

	/* pretend that there are many */
	listener->nr[SMC_CHILD_HANDSHAKE] += 300;
	smc_listener_count(child, 65UL << 20);
	KUNIT_EXPECT_NULL(test, smc_listener_evict(listener, child));
	KUNIT_EXPECT_PTR_EQ(test, smc_listener_evict(listener, NULL), sk);
	sock_put(sk);
	KUNIT_EXPECT_FALSE(test, smc_listener_finish(child, true));
	sock_put(sk);
	listener_close(listener);
	smc_listener_put(listener);
}

/* As smc_tcp_init_child() and the takers of TCP's queue do. */
static void a_child_in_tcps_queue_keeps_its_listener(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);
	struct sock *sk = listener->sk;

	KUNIT_EXPECT_FALSE(test, smc_listener_expect(NULL));
	KUNIT_EXPECT_FALSE(test, smc_listener_has_agreed(listener));
	KUNIT_EXPECT_TRUE(test, smc_listener_expect(listener));
	KUNIT_EXPECT_TRUE(test, smc_listener_expect(listener));
	KUNIT_EXPECT_TRUE(test, smc_listener_has_agreed(listener));
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 2 + 2);

	/* one of them is about to be queued, and one without SMC has arrived */
	sk->sk_ack_backlog = 2;
	KUNIT_EXPECT_FALSE(test, smc_listener_has_plain(listener, sk));
	sk->sk_ack_backlog = 3;
	KUNIT_EXPECT_TRUE(test, smc_listener_has_plain(listener, sk));

	smc_listener_forget(listener);
	KUNIT_EXPECT_TRUE(test, smc_listener_has_agreed(listener));
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 2 + 1);
	listener_close(listener);
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1 + 1);
	smc_listener_forget(listener);
	KUNIT_EXPECT_FALSE(test, smc_listener_has_agreed(listener));
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
	smc_listener_put(listener);
}

static void a_listener_that_has_gone_gets_no_child(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);

	listener_close(listener);
	/* a reader under RCU finds it until the grace period is over */
	rcu_read_lock();
	smc_listener_put(listener);
	KUNIT_EXPECT_FALSE(test, smc_listener_expect(listener));
	KUNIT_EXPECT_FALSE(test, smc_listener_has_agreed(listener));
	rcu_read_unlock();
}

static void a_listener_keeps_the_module_until_it_is_freed(struct kunit *test)
{
	struct smc_listener *listener;
	int had;

	/* wait for the references of other cases */
	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	listener = listener_begin(test);
	listener_close(listener);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had + 1);
	smc_listener_put(listener);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
}

/* A backlog of 3 has four places, as with TCP, for plain and SMC children together. */
static void children_that_are_ready_take_places_of_the_backlog(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);
	struct smc_child *child[LISTENER_BACKLOG + 1];
	struct sock *sk = listener->sk, *next;
	int i;

	for (i = 0; i < ARRAY_SIZE(child); i++)
		child[i] = listener_add(test, listener);
	/* children in a handshake, or waiting for their first byte, take none */
	smc_listener_defer(child[0]);
	for (i = 0; i < ARRAY_SIZE(child); i++) {
		KUNIT_EXPECT_FALSE(test, sk_acceptq_is_full(sk));
		KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, (u32)i);
		KUNIT_EXPECT_TRUE(test, smc_listener_finish(child[i], true));
		KUNIT_EXPECT_FALSE(test, smc_listener_has_plain(listener, sk));
	}
	KUNIT_EXPECT_TRUE(test, sk_acceptq_is_full(sk));
	KUNIT_EXPECT_EQ(test, listener_nr_woken, (unsigned int)i);
	/* one without SMC in TCP's queue */
	sk_acceptq_added(sk);
	KUNIT_EXPECT_TRUE(test, smc_listener_has_plain(listener, sk));
	smc_listener_wake_plain(listener, sk);
	KUNIT_EXPECT_EQ(test, listener_nr_woken, i + 1U);
	while (i > 1 && (next = listener_next(listener))) {
		sock_put(next);
		KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, (u32)i--);
		KUNIT_EXPECT_TRUE(test, smc_listener_has_plain(listener, sk));
	}
	/* accept() has taken it */
	sk_acceptq_removed(sk);
	KUNIT_EXPECT_FALSE(test, smc_listener_has_plain(listener, sk));
	smc_listener_wake_plain(listener, sk);
	KUNIT_EXPECT_EQ(test, listener_nr_woken, LISTENER_BACKLOG + 2U);
	sock_hold(sk);
	listener_close(listener);
	KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, 0U);
	sock_put(sk);
	next = listener_next(listener);
	KUNIT_ASSERT_NOT_NULL(test, next);
	sock_put(next);
	smc_listener_put(listener);
}

/* Its event came while that one took a place: both are to be accepted. */
static void a_plain_child_beside_one_that_gets_ready_is_noticed(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);
	struct smc_child *child = listener_add(test, listener);
	struct sock *sk = listener->sk, *next;

	sk_acceptq_added(sk);
	KUNIT_EXPECT_TRUE(test, smc_listener_finish(child, true));
	KUNIT_EXPECT_EQ(test, listener_nr_woken, 2U);
	next = listener_next(listener);
	KUNIT_ASSERT_NOT_NULL(test, next);
	sock_put(next);
	sk_acceptq_removed(sk);
	listener_close(listener);
	smc_listener_put(listener);
}

/* TCP expects an empty backlog when it stops, and the socket may listen again before that. */
static void places_are_returned_before_tcp_stops(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);
	struct smc_child *child[3];
	struct sock *sk = listener->sk, *next;
	int i;

	sock_hold(sk);
	for (i = 0; i < ARRAY_SIZE(child); i++)
		child[i] = listener_add(test, listener);
	KUNIT_EXPECT_TRUE(test, smc_listener_finish(child[0], true));
	KUNIT_EXPECT_TRUE(test, smc_listener_finish(child[1], true));
	KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, 2U);
	smc_listener_leave_backlog(listener);
	KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, 0U);
	KUNIT_EXPECT_TRUE(test, smc_listener_finish(child[2], true));
	KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, 0U);
	sk->sk_ack_backlog = 1;
	listener_close(listener);
	while ((next = listener_next(listener)))
		sock_put(next);
	KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, 1U);
	sock_put(sk);
	smc_listener_put(listener);
}

/* It is queued before an SMC child, and accept() returns them in order. */
static void one_without_smc_is_ready_at_once(struct kunit *test)
{
	struct smc_listener *listener = listener_begin(test);
	struct smc_child *child = listener_add(test, listener);
	struct sock *plain = listener_new_sock(test), *sk = child->sk;
	struct smc_accepted next = { .peer_diagnosis = 1 };

	child->fallback = SMC_DECLINE_PEERDECL;
	child->peer_diagnosis = SMC_DECLINE_MEM;
	KUNIT_EXPECT_TRUE(test, smc_listener_add_plain(listener, plain,
						       SMC_DECLINE_PEERNOSMC));
	KUNIT_EXPECT_EQ(test, listener_nr_woken, 1);
	KUNIT_EXPECT_TRUE(test, smc_listener_finish(child, true));
	expect_nr(test, listener, 0, 0, 2);
	KUNIT_EXPECT_TRUE(test, smc_listener_next(listener, &next));
	KUNIT_EXPECT_PTR_EQ(test, next.sk, plain);
	KUNIT_EXPECT_EQ(test, (u32)next.fallback, (u32)SMC_DECLINE_PEERNOSMC);
	KUNIT_EXPECT_EQ(test, next.peer_diagnosis, 0U);
	KUNIT_EXPECT_TRUE(test, smc_listener_next(listener, &next));
	KUNIT_EXPECT_PTR_EQ(test, next.sk, sk);
	KUNIT_EXPECT_EQ(test, (u32)next.fallback, (u32)SMC_DECLINE_PEERDECL);
	KUNIT_EXPECT_EQ(test, next.peer_diagnosis, (u32)SMC_DECLINE_MEM);
	sock_put(sk);

	listener_close(listener);
	KUNIT_EXPECT_FALSE(test, smc_listener_add_plain(listener, plain,
							SMC_DECLINE_PEERNOSMC));
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
	smc_listener_put(listener);
	sock_put(plain);
}

static struct kunit_case listener_cases[] = {
	KUNIT_CASE(accept_has_children_in_the_order_in_which_they_are_ready),
	KUNIT_CASE(a_listener_outlives_its_socket_while_children_are_under_way),
	KUNIT_CASE(a_work_item_that_is_queued_has_one_reference),
	KUNIT_CASE(a_listener_without_references_gets_no_work),
	KUNIT_CASE(large_rings_leave_room_for_a_burst),
	KUNIT_CASE(one_that_is_larger_than_the_room_stays),
	KUNIT_CASE(a_child_in_tcps_queue_keeps_its_listener),
	KUNIT_CASE(a_listener_that_has_gone_gets_no_child),
	KUNIT_CASE(a_listener_keeps_the_module_until_it_is_freed),
	KUNIT_CASE(children_that_are_ready_take_places_of_the_backlog),
	KUNIT_CASE(a_plain_child_beside_one_that_gets_ready_is_noticed),
	KUNIT_CASE(places_are_returned_before_tcp_stops),
	KUNIT_CASE(one_without_smc_is_ready_at_once),
	{}
};

static struct kunit_suite listener_suite = {
	.name = "smc_listener",
	.test_cases = listener_cases,
};

kunit_test_suite(listener_suite);
