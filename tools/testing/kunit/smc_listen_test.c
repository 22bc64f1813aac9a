// SPDX-License-Identifier: GPL-2.0
/*
 * Listening sockets, with nothing below them but a list of what was called.
 */
#include "smc_kunit.h"

#include "../../../net/smc/smc_child.h"
#include "../../../net/smc/smc_hs.h"
#include "../../../net/smc/smc_ib.h"
#include "../../../net/smc/smc_listener.h"
#include "../../../net/smc/smc_mem.h"
#include "../../../net/smc/smc_opt.h"
#include "../../../net/smc/smc_tcp.h"

static struct proto listen_proto = {
	.name = "smc_listen_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct smc_sock),
};

/* The floors below. What other tasks do while accept() sleeps is done in one of them. */
static struct smc_sock *listen_leaves;

static struct sock *listen_next_child(struct smc_listener *listener);

/* listen() has no memory. */
static bool listen_has_none;

static struct smc_listener *listen_new_listener(struct sock *sk, work_func_t take)
{
	return listen_has_none ? NULL : smc_listener_new(sk, take);
}

static bool listen_tcp_peek(struct smc_sock *smc, bool *is_agreed)
{
	return false;
}

static bool listen_tcp_watch(struct smc_sock *smc, enum smc_tcp_phase phase)
{
	smc->tcp_phase = phase;
	return true;
}

static void listen_tcp_nothing(struct smc_sock *smc)
{
}

static void listen_set_err(struct smc_sock *smc, int err)
{
	smc->sk.sk_err = err;
}

static void listen_tcp_offer(struct smc_sock *smc, bool is_offered)
{
}

/* What TCP's queue has to say of the one connection in it, and how often it was asked. */
static int listen_accept_rc;
static unsigned int listen_nr_accepts;

static int listen_kernel_accept(struct socket *sock, struct socket **newsock, int flags)
{
	listen_nr_accepts++;
	return listen_accept_rc;
}

/* There is memory for so many children. */
static unsigned int listen_nr_children;

static struct smc_sock *listen_sock_alloc(const struct smc_sock *like)
{
	struct sock *sk;

	if (!listen_nr_children)
		return NULL;
	sk = sk_alloc(sock_net(&like->sk), PF_SMC, GFP_KERNEL, &listen_proto, 1);
	if (!sk)
		return NULL;
	listen_nr_children--;
	sock_init_data(NULL, sk);
	return smc_sk(sk);
}

/* Nobody else has it. */
static bool listen_trylock(struct smc_sock *smc, enum smc_missed what)
{
	lock_sock(&smc->sk);
	return what == SMC_MISSED_LISTEN;
}

static unsigned int listen_nr_later;

static void listen_queue(struct smc_sock *smc, unsigned long delay)
{
	listen_nr_later += delay > 0;
}

#define kernel_accept listen_kernel_accept
#define smc_sock_queue_listen listen_queue
#define smc_sock_trylock listen_trylock
#define smc_listener_next listen_next_child
#define smc_listener_new listen_new_listener
#define smc_sock_set_err listen_set_err
#define smc_sock_wake_all listen_tcp_nothing
#define smc_sock_alloc_like listen_sock_alloc
#define smc_child_drop_all(...) ((void)0)
#define smc_sock_inherit(...) ((void)0)
#define smc_sock_hash(...) ((void)0)
#define smc_tcp_peek listen_tcp_peek
#define smc_tcp_mind_others(...) ((void)0)
#define smc_tcp_nr_to_agreed(...) 1
#define smc_tcp_set_owner(...) ((void)0)
#define smc_tcp_watch listen_tcp_watch
#define smc_tcp_unwatch listen_tcp_nothing
#define smc_tcp_leave_children listen_tcp_nothing
#define smc_tcp_offer listen_tcp_offer
#define smc_tcp_disconnect listen_tcp_nothing
#define smc_ib_has_device() true
#define smc_mem_inherit(...) ((void)0)
#define smc_opt_inherit(...) ((void)0)
#define smc_hs_begin_server(...) ((void)0)

#include "../../../net/smc/smc_listen.c"

static struct smc_sock *listen_new(struct kunit *test)
{
	struct smc_sock *smc;
	struct socket *tcp;
	struct sock *sk;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &tcp), 0);
	sk = sk_alloc(&init_net, PF_SMC, GFP_KERNEL, &listen_proto, 1);
	if (!sk)
		sock_release(tcp);
	KUNIT_ASSERT_NOT_NULL(test, sk);
	/* the file's own wait queue is as good as any other */
	sock_init_data(NULL, sk);
	RCU_INIT_POINTER(sk->sk_wq, &tcp->wq);
	smc = smc_sk(sk);
	smc->tcp = tcp;
	sk->sk_state = SMC_STATE_INIT;
	return smc;
}

/* listen() was called. */
static struct smc_listener *listen_begin(struct kunit *test, struct smc_sock *smc)
{
	struct smc_listener *listener = smc_listener_new(&smc->sk, smc_listen_work);

	KUNIT_ASSERT_NOT_NULL(test, listener);
	RCU_INIT_POINTER(smc->listener, listener);
	smc->sk.sk_state = SMC_STATE_LISTEN;
	return listener;
}

/* The work item runs, which was queued. */
static void listen_run(struct smc_listener *listener)
{
	refcount_inc(&listener->refs);
	smc_listen_work(&listener->work.work);
}

static void listen_free(struct smc_sock *smc)
{
	struct smc_listener *listener = rcu_access_pointer(smc->listener);

	if (listener) {
		smc_listener_end(listener);
		smc_listener_put(listener);
	}
	sock_release(smc->tcp);
	sock_put(&smc->sk);
}

/* connect() to AF_UNSPEC, and then an option that only TCP has. */
static struct sock *listen_next_child(struct smc_listener *listener)
{
	listen_leaves->sk.sk_state = SMC_STATE_INIT;
	sock_orphan(&listen_leaves->sk);
	return NULL;
}

static void accept_sleeps_on_when_its_sock_leaves_the_file(struct kunit *test)
{
	struct smc_sock *smc = listen_new(test);
	int err = 0;

	listen_begin(test, smc);
	listen_leaves = smc;
	lock_sock(&smc->sk);
	/* woken by the clock, which leaves it in the queue */
	KUNIT_EXPECT_NULL(test, smc_listen_wait(smc, 1, &err));
	KUNIT_EXPECT_EQ(test, err, -EINVAL);
	KUNIT_EXPECT_FALSE(test, wq_has_sleeper(&smc->tcp->wq.wait));
	release_sock(&smc->sk);
	listen_free(smc);
}

static void opt_02_a_listener_offers_smc_whatever_a_connect_met(struct kunit *test)
{
	static const struct {
		enum smc_decline reason;
		bool stays;
	} rows[] = {
		{ SMC_DECLINE_NONE, false },
		{ SMC_DECLINE_NOSMCRDEV, false },
		{ SMC_DECLINE_IPSEC, false },
		/* an option is why */
		{ SMC_DECLINE_OPTUNSUPP, true },
		{ SMC_DECLINE_IPSEC, true },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_sock *smc = listen_new(test);

		smc->fallback = rows[i].reason;
		smc->is_eager_tcp = rows[i].reason != SMC_DECLINE_NONE;
		smc->is_tcp_by_option = rows[i].stays;
		lock_sock(&smc->sk);
		KUNIT_EXPECT_EQ(test, smc_listen_start(smc, 1), 0);
		KUNIT_EXPECT_EQ(test, smc->is_eager_tcp, rows[i].stays);
		KUNIT_EXPECT_EQ(test, smc->fallback, rows[i].stays ? rows[i].reason :
								     SMC_DECLINE_NONE);
		release_sock(&smc->sk);
		listen_free(smc);
	}
}

/* Nothing else may come that has it looked for again. */
static void what_there_is_no_memory_for_is_not_left_in_the_queue(struct kunit *test)
{
	static const struct {
		unsigned int nr_children;
		int rc;
		unsigned int nr_accepts;
		unsigned int nr_later;
	} rows[] = {
		{ 1, -ENOMEM, 1, 1 },
		{ 1, -ENFILE, 1, 1 },
		/* it stays where it is */
		{ 0, 0, 0, 1 },
		/* another task was first; it has gone */
		{ 1, -EAGAIN, 1, 0 },
		{ 1, -ECONNABORTED, 1, 0 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_sock *smc = listen_new(test);
		struct smc_listener *listener = listen_begin(test, smc);

		listen_nr_children = rows[i].nr_children;
		listen_accept_rc = rows[i].rc;
		listen_nr_accepts = 0;
		listen_nr_later = 0;
		KUNIT_EXPECT_EQ(test, kernel_listen(smc->tcp, 1), 0);
		listen_run(listener);
		KUNIT_EXPECT_EQ(test, listen_nr_accepts, rows[i].nr_accepts);
		KUNIT_EXPECT_EQ(test, listen_nr_later, rows[i].nr_later);
		/* it listens no more, so nobody waits */
		smc->sk.sk_state = SMC_STATE_INIT;
		listen_run(listener);
		KUNIT_EXPECT_EQ(test, listen_nr_accepts, rows[i].nr_accepts);
		KUNIT_EXPECT_EQ(test, listen_nr_later, rows[i].nr_later);
		KUNIT_EXPECT_EQ(test, listen_nr_children, 0);
		listen_free(smc);
	}
}

/* Nothing of ours was asked before: an operator did it. */
static void a_listener_that_tcp_has_ended_listens_again(struct kunit *test)
{
	struct smc_sock *smc = listen_new(test);
	struct smc_listener *listener;
	struct sock *sk = &smc->sk;
	int round;

	for (round = 0; round < 2; round++) {
		lock_sock(sk);
		KUNIT_EXPECT_EQ(test, smc_listen_start(smc, 1), 0);
		KUNIT_EXPECT_EQ(test, sk->sk_state, SMC_STATE_LISTEN);
		KUNIT_EXPECT_EQ(test, smc->tcp->sk->sk_state, TCP_LISTEN);
		release_sock(sk);
		KUNIT_EXPECT_EQ(test, tcp_abort(smc->tcp->sk, ECONNABORTED), 0);
		listener = rcu_access_pointer(smc->listener);
		KUNIT_ASSERT_NOT_NULL(test, listener);
		refcount_inc(&listener->refs);
		listen_run(listener);
		KUNIT_EXPECT_NULL(test, rcu_access_pointer(smc->listener));
		/* queued while it ended, it finds no socket, whose next listener is another */
		listen_run(listener);
		KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
		smc_listener_put(listener);
		KUNIT_EXPECT_EQ(test, sk->sk_state, SMC_STATE_INIT);
		KUNIT_EXPECT_EQ(test, sk->sk_shutdown, SHUTDOWN_MASK);
		KUNIT_EXPECT_EQ(test, sock_error(sk), -ECONNABORTED);
	}
	listen_free(smc);
}

static void listen_that_fails_leaves_no_listener(struct kunit *test)
{
	struct smc_sock *smc = listen_new(test);
	struct socket *tcp = smc->tcp;
	struct sock *sk = &smc->sk;

	lock_sock(sk);
	listen_has_none = true;
	KUNIT_EXPECT_EQ(test, smc_listen_start(smc, 1), -ENOBUFS);
	listen_has_none = false;
	KUNIT_EXPECT_EQ(test, sk->sk_state, SMC_STATE_INIT);
	KUNIT_EXPECT_EQ(test, tcp->sk->sk_state, TCP_CLOSE);
	/* TCP refuses */
	tcp->state = SS_CONNECTED;
	KUNIT_EXPECT_EQ(test, smc_listen_start(smc, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, sk->sk_state, SMC_STATE_INIT);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(smc->listener));
	tcp->state = SS_UNCONNECTED;
	KUNIT_EXPECT_EQ(test, smc_listen_start(smc, 1), 0);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(smc->listener));
	release_sock(sk);
	listen_free(smc);
}

static struct kunit_case listen_cases[] = {
	KUNIT_CASE(listen_that_fails_leaves_no_listener),
	KUNIT_CASE(a_listener_that_tcp_has_ended_listens_again),
	KUNIT_CASE(what_there_is_no_memory_for_is_not_left_in_the_queue),
	KUNIT_CASE(opt_02_a_listener_offers_smc_whatever_a_connect_met),
	KUNIT_CASE(accept_sleeps_on_when_its_sock_leaves_the_file),
	{}
};

static struct kunit_suite listen_suite = {
	.name = "smc_listen",
	.test_cases = listen_cases,
};

kunit_test_suite(listen_suite);
