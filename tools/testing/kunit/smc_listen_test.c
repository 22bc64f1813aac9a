// SPDX-License-Identifier: GPL-2.0
/*
 * Listening sockets of TCP. TCP's accept queue is faked, and nothing else is below them.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

#include "../../../net/smc/sock/smc_child.h"
#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/sock/smc_hs.h"
#include "../../../net/smc/rdma/smc_ib.h"
#include "../../../net/smc/sock/smc_path.h"
#include "../../../net/smc/group/smc_peer.h"
#include "../../../net/smc/sock/smc_listen.h"
#include "../../../net/smc/sock/smc_listener.h"
#include "../../../net/smc/sock/smc_policy.h"
#include "../../../net/smc/sock/smc_tcp.h"
#include "../../../net/smc/sock/smc_wake.h"

static struct proto listen_proto = SMC_KUNIT_PROTO("smc_listen_test");

/* listen() or a child fails for want of memory */
static bool listen_has_none, listen_child_has_none, listen_hs_has_none;

static struct smc_listener *listen_new_listener(struct sock *sk, work_func_t take)
{
	return listen_has_none ? NULL : smc_listener_new(sk, take);
}

/* TCP's queue, oldest first. Its socks have another struct proto than TCP's. */
#define LISTEN_QUEUE	8

static struct sock *listen_queued[LISTEN_QUEUE];
static unsigned int listen_nr_queued;
static int listen_pop_rc;

static struct sock *listen_pop(const struct proto *prot, struct sock *lsk)
{
	struct sock *sk = listen_queued[0];

	if (listen_pop_rc || !listen_nr_queued)
		return NULL;
	listen_nr_queued--;
	memmove(listen_queued, listen_queued + 1, listen_nr_queued * sizeof(sk));
	sk_acceptq_removed(lsk);
	return sk;
}

static struct sock *listen_take(struct sock *lsk)
{
	sock_owned_by_me(lsk);
	return listen_pop(NULL, lsk);
}

static struct smc_sock *listen_adopt(struct sock *sk)
{
	struct smc_listener *listener = rcu_access_pointer(inet_csk(sk)->icsk_ulp_data);
	struct smc_sock *smc;

	if (listen_child_has_none)
		return NULL;
	smc = kzalloc(sizeof(*smc), GFP_KERNEL);
	if (!smc)
		return NULL;
	smc_listener_forget(listener);
	smc_kunit_hang(smc, sk);
	return smc;
}

/* The socks that were passed on, in order. */
static struct sock *listen_begun[LISTEN_QUEUE], *listen_dropped[LISTEN_QUEUE];
static unsigned int listen_nr_begun, listen_nr_dropped;
static enum smc_decline listen_begun_fallback;

static bool listen_begin_server(struct smc_sock *smc, struct smc_child *child,
				const struct sock *lsk)
{
	sock_owned_by_me(smc->sk);
	if (listen_hs_has_none)
		return false;
	listen_begun[listen_nr_begun++] = smc->sk;
	listen_begun_fallback = smc->fallback;
	smc->child = child;
	return true;
}

/* As TCP does: an agreed child is no longer expected. */
static void listen_drop(struct sock *sk)
{
	listen_dropped[listen_nr_dropped++] = sk;
	rcu_read_lock();
	kfree(smc_sk(sk));
	rcu_read_unlock();
	if (smc_tcp_child_is_agreed(sk))
		smc_listener_forget(rcu_access_pointer(inet_csk(sk)->icsk_ulp_data));
	smc_kunit_take_off(sk);
	sock_put(sk);
}

static unsigned int listen_nr_looked, listen_nr_room;

/* Whether the backlog limit is installed. */
static bool listen_minds;

static void listen_mind_backlog(struct sock *sk, bool is_listening)
{
	listen_minds = is_listening;
}

static void listen_queue(struct smc_sock *smc)
{
	listen_nr_looked++;
}

/* A call may own the sock after some rounds. */
static unsigned int listen_nr_free;

static bool listen_lock(struct sock *sk, enum smc_missed what)
{
	if (!listen_nr_free)
		return false;
	listen_nr_free--;
	lock_sock(sk);
	return what == SMC_MISSED_LISTEN;
}

static bool listen_has_rnic, listen_is_near;
static enum smc_decline listen_lack = SMC_DECLINE_NOSMCRDEV;

/* What the policy says, and whether TCP answers a SYN. */
static enum smc_decline listen_policy;
static bool listen_has_syn, listen_is_silent;
static unsigned int listen_nr_asked;

static enum smc_decline listen_ask_policy(const struct sock *sk, enum smc_policy_side side,
					  const struct in6_addr *peer, u16 port)
{
	listen_nr_asked++;
	return side == SMC_POLICY_LISTEN ? listen_policy : SMC_DECLINE_NONE;
}

static enum smc_decline listen_peek_policy(const struct sock *sk, enum smc_policy_side side,
					   const struct in6_addr *peer, u16 port, u32 *rule)
{
	return side == SMC_POLICY_LISTEN ? listen_policy : SMC_DECLINE_NONE;
}

static bool listen_get_syn(struct in6_addr *peer)
{
	memset(peer, 0, sizeof(*peer));
	return listen_has_syn;
}

static enum smc_decline listen_recall(struct net *net, enum smc_peer_failure failure,
				      const struct in6_addr *peer, u16 port,
				      struct smc_peer_entry *entry)
{
	return failure == SMC_PEER_CLIENT && listen_is_silent ? SMC_DECLINE_PEERNOSMC :
								SMC_DECLINE_NONE;
}

#define smc_child_drop listen_drop
#define smc_child_drop_all(...) ((void)0)
#define smc_child_make_room(...) ((void)listen_nr_room++)
#define smc_compat_csk_accept listen_pop
#define smc_hs_begin_server listen_begin_server
#define smc_ib_has_device() listen_has_rnic
#define smc_listener_new listen_new_listener
#define smc_path_is_inside(...) listen_is_near
#define smc_path_lack(...) listen_lack
#define smc_peer_recall listen_recall
#define smc_policy_apply listen_ask_policy
#define smc_policy_peek listen_peek_policy
#define smc_sock_lock_work listen_lock
#define smc_sock_queue_listen listen_queue
#define smc_tcp_adopt_child listen_adopt
#define smc_tcp_answer_syns listen_mind_backlog
#define smc_tcp_syn_is_near(...) listen_is_near
#define smc_tcp_syn_peer listen_get_syn
#define smc_tcp_take_child listen_take

#include "../../../net/smc/sock/smc_listen.c"

/* TCP refuses listen() on a socket whose ULP has no clone(). */
static void listen_clone(const struct request_sock *req, struct sock *sk, const gfp_t priority)
{
}

static int listen_suite_init(struct kunit_suite *suite)
{
	smc_ulp_sock.clone = listen_clone;
	return 0;
}

static void listen_suite_exit(struct kunit_suite *suite)
{
	smc_ulp_sock.clone = NULL;
}

/* A TCP socket with a state. */
struct listen_lab {
	struct smc_sock smc;
	struct socket *sock;
	struct sock *children[LISTEN_QUEUE];
	unsigned int nr_children;
};

static int listen_init(struct kunit *test)
{
	struct listen_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	int rc;

	if (!lab)
		return -ENOMEM;
	rc = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &lab->sock);
	if (rc)
		return rc;
	smc_kunit_hang(&lab->smc, lab->sock->sk);
	smc_wake_save(lab->smc.sk);
	listen_has_none = false;
	listen_child_has_none = false;
	listen_hs_has_none = false;
	listen_nr_queued = 0;
	listen_pop_rc = 0;
	listen_nr_free = UINT_MAX;
	listen_nr_begun = 0;
	listen_nr_dropped = 0;
	listen_nr_looked = 0;
	listen_nr_room = 0;
	listen_has_rnic = true;
	listen_is_near = false;
	listen_policy = SMC_DECLINE_NONE;
	listen_has_syn = false;
	listen_is_silent = false;
	listen_minds = false;
	test->priv = lab;
	return 0;
}

/* Release the children that are left in the lists, as the faked code would. */
static void listen_exit(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_listener *listener;
	unsigned int i;

	if (!lab)
		return;
	listener = rcu_access_pointer(lab->smc.listener);
	if (listener) {
		smc_listener_end(listener);
		smc_listener_put(listener);
	}
	smc_kunit_take_off(lab->smc.sk);
	sock_release(lab->sock);
	for (i = 0; i < lab->nr_children; i++) {
		KUNIT_EXPECT_EQ(test, refcount_read(&lab->children[i]->sk_refcnt), 1);
		sock_put(lab->children[i]);
	}
}

static void listen_start(struct kunit *test, struct listen_lab *lab, int backlog)
{
	lock_sock(lab->smc.sk);
	KUNIT_EXPECT_EQ(test, smc_listen_begin(&lab->smc), 0);
	release_sock(lab->smc.sk);
	KUNIT_EXPECT_EQ(test, kernel_listen(lab->sock, backlog), 0);
	lock_sock(lab->smc.sk);
	smc_listen_begun(&lab->smc);
	release_sock(lab->smc.sk);
	KUNIT_ASSERT_NOT_NULL(test, rcu_access_pointer(lab->smc.listener));
	KUNIT_EXPECT_TRUE(test, listen_minds);
}

/* A connection enters TCP's queue; the case holds another reference on it. */
static struct sock *listen_come(struct kunit *test, bool is_agreed)
{
	struct listen_lab *lab = test->priv;
	struct smc_listener *listener = rcu_access_pointer(lab->smc.listener);
	struct sock *sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, &listen_proto, 1);

	KUNIT_ASSERT_NOT_NULL(test, sk);
	sock_init_data(NULL, sk);
	sock_hold(sk);
	lab->children[lab->nr_children++] = sk;
	if (is_agreed) {
		rcu_read_lock();
		KUNIT_EXPECT_TRUE(test, smc_listener_expect(listener));
		rcu_read_unlock();
		rcu_assign_pointer(inet_csk(sk)->icsk_ulp_data, listener);
		inet_csk(sk)->icsk_ulp_ops = &smc_ulp_child;
	}
	listen_queued[listen_nr_queued++] = sk;
	sk_acceptq_added(lab->smc.sk);
	return sk;
}

/* The handshake of a child succeeds, and it is ready; or it fails. */
static void listen_end_child(struct kunit *test, struct sock *sk, bool is_ready)
{
	struct smc_child *child;
	struct smc_sock *smc;

	lock_sock(sk);
	smc = smc_sk(sk);
	child = smc->child;
	smc_kunit_take_off(sk);
	release_sock(sk);
	kfree(smc);
	KUNIT_EXPECT_EQ(test, smc_listener_finish(child, is_ready), is_ready);
	if (!is_ready)
		sock_put(sk);
}

/* Run the queued work item. */
static void listen_run(struct smc_listener *listener)
{
	refcount_inc(&listener->refs);
	smc_listen_work(&listener->work);
}

/* A non-blocking accept(). */
static int listen_accept(struct listen_lab *lab, struct smc_accepted *child)
{
	memset(child, 0, sizeof(*child));
	return smc_listen_accept(lab->sock, O_NONBLOCK, child);
}

static void listen_that_fails_leaves_no_listener(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_sock *smc = &lab->smc;

	lock_sock(smc->sk);
	listen_has_none = true;
	KUNIT_EXPECT_EQ(test, smc_listen_begin(smc), -ENOBUFS);
	listen_has_none = false;
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(smc->listener));
	/* TCP refuses */
	KUNIT_EXPECT_EQ(test, smc_listen_begin(smc), 0);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(smc->listener));
	smc_listen_begun(smc);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(smc->listener));
	KUNIT_EXPECT_TRUE(test, !tcp_sk(smc->sk)->smc_hs_congested);
	KUNIT_EXPECT_FALSE(test, listen_minds);
	release_sock(smc->sk);
	listen_start(test, lab, 1);
}

/* A second listen() changes TCP's backlog, but not our listener. */
static void a_listener_stays_when_it_listens_once_more(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_listener *listener;

	listen_start(test, lab, 5);
	listener = rcu_access_pointer(lab->smc.listener);
	lab->smc.fallback = SMC_DECLINE_OPTUNSUPP;
	listen_start(test, lab, 9);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(lab->smc.listener), listener);
	KUNIT_EXPECT_EQ(test, lab->smc.sk->sk_max_ack_backlog, 9U);
	/* an option that only TCP knows is not forgotten, either */
	KUNIT_EXPECT_EQ(test, (u32)lab->smc.fallback, (u32)SMC_DECLINE_OPTUNSUPP);
}

/* An operator closed the TCP socket without a call of ours. */
static void a_listener_that_tcp_has_ended_listens_again(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct sock *sk = lab->smc.sk;
	struct smc_listener *listener;
	int round;

	for (round = 0; round < 2; round++) {
		listen_start(test, lab, 1);
		KUNIT_EXPECT_EQ(test, sk->sk_state, TCP_LISTEN);
		/* or children would start with a shutdown */
		KUNIT_EXPECT_EQ(test, sk->sk_shutdown, 0);
		KUNIT_EXPECT_EQ(test, tcp_abort(sk, ECONNABORTED), 0);
		listener = rcu_access_pointer(lab->smc.listener);
		refcount_inc(&listener->refs);
		listen_run(listener);
		KUNIT_EXPECT_NULL(test, rcu_access_pointer(lab->smc.listener));
		KUNIT_EXPECT_TRUE(test, !tcp_sk(sk)->smc_hs_congested);
		KUNIT_EXPECT_FALSE(test, listen_minds);
		/* the work item finds no socket: the next listener is another one */
		listen_run(listener);
		KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
		smc_listener_put(listener);
		KUNIT_EXPECT_EQ(test, sk->sk_state, TCP_CLOSE);
		KUNIT_EXPECT_EQ(test, sk->sk_shutdown, SHUTDOWN_MASK);
	}
	/* or listen() comes before the work item */
	listen_start(test, lab, 1);
	listener = rcu_access_pointer(lab->smc.listener);
	refcount_inc(&listener->refs);
	KUNIT_EXPECT_EQ(test, tcp_abort(sk, ECONNABORTED), 0);
	listen_start(test, lab, 1);
	KUNIT_EXPECT_PTR_NE(test, rcu_access_pointer(lab->smc.listener), listener);
	KUNIT_EXPECT_EQ(test, sk->sk_state, TCP_LISTEN);
	listen_run(listener);
	KUNIT_EXPECT_NOT_NULL(test, rcu_access_pointer(lab->smc.listener));
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
	smc_listener_put(listener);
}

static void opt_02_a_listener_offers_smc_whatever_a_connect_met(struct kunit *test)
{
	static const struct {
		enum smc_decline reason;
		bool stays;
	} rows[] = {
		{ SMC_DECLINE_NONE }, { SMC_DECLINE_NOSMCRDEV }, { SMC_DECLINE_IPSEC },
		/* an option that was set while it was listening before */
		{ SMC_DECLINE_OPTUNSUPP, true },
	};
	struct listen_lab *lab = test->priv;
	struct smc_sock *smc = &lab->smc;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		smc->fallback = rows[i].reason;
		smc->peer_diagnosis = 1;
		tcp_sk(smc->sk)->syn_smc = 0;
		lock_sock(smc->sk);
		KUNIT_EXPECT_EQ(test, smc_listen_begin(smc), 0);
		KUNIT_EXPECT_TRUE(test, tcp_sk(smc->sk)->syn_smc);
		KUNIT_EXPECT_EQ(test, smc_listen_withholds_smc(smc->sk), rows[i].stays);
		KUNIT_EXPECT_EQ(test, smc->fallback != SMC_DECLINE_NONE, rows[i].stays);
		KUNIT_EXPECT_EQ(test, smc->peer_diagnosis, 0U);
		smc_listen_begun(smc);
		release_sock(smc->sk);
	}
}

/* Each reason is enough, and TCP asks for every SYN. */
static void opt_08_smc_is_offered_as_long_as_there_is_no_reason_not_to(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_sock *smc = &lab->smc;
	struct smc_listener *listener;
	struct sock *sk = smc->sk;

	/* before listen() */
	KUNIT_EXPECT_TRUE(test, smc_listen_withholds_smc(sk));
	listen_start(test, lab, 1);
	KUNIT_EXPECT_PTR_EQ(test, tcp_sk(sk)->smc_hs_congested, &smc_listen_withholds_smc);
	KUNIT_EXPECT_FALSE(test, smc_listen_withholds_smc(sk));
	listen_has_rnic = false;
	KUNIT_EXPECT_TRUE(test, smc_listen_withholds_smc(sk));
	/* a client that may share memory with us needs no RNIC */
	listen_is_near = true;
	KUNIT_EXPECT_FALSE(test, smc_listen_withholds_smc(sk));
	listen_is_near = false;
	listen_has_rnic = true;
	/* an option that only TCP knows */
	smc->fallback = SMC_DECLINE_OPTUNSUPP;
	KUNIT_EXPECT_TRUE(test, smc_listen_withholds_smc(sk));
	smc->fallback = SMC_DECLINE_NONE;

	listener = rcu_access_pointer(smc->listener);
	listener->nr[SMC_CHILD_HANDSHAKE] = SMC_LISTEN_CONGESTED + 1;
	KUNIT_EXPECT_FALSE(test, smc_listen_withholds_smc(sk));
	smc->limits_handshakes = true;
	KUNIT_EXPECT_TRUE(test, smc_listen_withholds_smc(sk));
	listener->nr[SMC_CHILD_HANDSHAKE]--;
	KUNIT_EXPECT_FALSE(test, smc_listen_withholds_smc(sk));
	listener->nr[SMC_CHILD_HANDSHAKE] = 0;

	listen_policy = SMC_DECLINE_POLICY;
	listen_nr_asked = 0;
	KUNIT_EXPECT_FALSE(test, smc_listen_withholds_smc(sk));
	listen_has_syn = true;
	KUNIT_EXPECT_TRUE(test, smc_listen_withholds_smc(sk));
	KUNIT_EXPECT_EQ(test, listen_nr_asked, 1U);
	/* a connection that is TCP anyway is none that the policy decided */
	listen_has_rnic = false;
	KUNIT_EXPECT_TRUE(test, smc_listen_withholds_smc(sk));
	KUNIT_EXPECT_EQ(test, listen_nr_asked, 1U);
	listen_has_rnic = true;
	listen_policy = SMC_DECLINE_NONE;
	KUNIT_EXPECT_FALSE(test, smc_listen_withholds_smc(sk));
	KUNIT_EXPECT_EQ(test, listen_nr_asked, 2U);
	/* a client whose connections bring no Proposal */
	listen_is_silent = true;
	KUNIT_EXPECT_TRUE(test, smc_listen_withholds_smc(sk));
	KUNIT_EXPECT_EQ(test, listen_nr_asked, 2U);
}

/* Handshakes start without accept(), which gets the other children in order. */
static void one_for_smc_between_others_is_taken_at_once(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_listener *listener;
	struct sock *sk[4];
	struct smc_accepted child;
	int i;

	listen_start(test, lab, 8);
	listener = rcu_access_pointer(lab->smc.listener);
	for (i = 0; i < ARRAY_SIZE(sk); i++)
		sk[i] = listen_come(test, i == 1 || i == 2);
	lab->smc.fallback = SMC_DECLINE_OPTUNSUPP;
	listen_run(listener);
	KUNIT_EXPECT_EQ(test, listen_nr_begun, 2U);
	KUNIT_EXPECT_EQ(test, listen_nr_room, 2U);
	KUNIT_EXPECT_PTR_EQ(test, listen_begun[0], sk[1]);
	KUNIT_EXPECT_PTR_EQ(test, listen_begun[1], sk[2]);
	/* a child that was offered SMC gets the change of the listener */
	KUNIT_EXPECT_EQ(test, (u32)listen_begun_fallback, (u32)SMC_DECLINE_OPTUNSUPP);
	/* accept() takes the last one */
	KUNIT_EXPECT_EQ(test, listen_nr_queued, 1U);
	KUNIT_EXPECT_FALSE(test, smc_listener_has_agreed(listener));

	KUNIT_EXPECT_EQ(test, listen_accept(lab, &child), 0);
	KUNIT_EXPECT_PTR_EQ(test, child.sk, sk[0]);
	KUNIT_EXPECT_EQ(test, (u32)child.fallback, (u32)SMC_DECLINE_PEERNOSMC);
	KUNIT_EXPECT_FALSE(test, child.is_last);
	sock_put(child.sk);
	listen_end_child(test, sk[2], true);
	listen_end_child(test, sk[1], false);
	KUNIT_EXPECT_EQ(test, listen_accept(lab, &child), 0);
	KUNIT_EXPECT_PTR_EQ(test, child.sk, sk[2]);
	KUNIT_EXPECT_EQ(test, (u32)child.fallback, (u32)SMC_DECLINE_NONE);
	KUNIT_EXPECT_FALSE(test, child.is_last);
	sock_put(child.sk);
	KUNIT_EXPECT_EQ(test, listen_accept(lab, &child), 0);
	KUNIT_EXPECT_PTR_EQ(test, child.sk, sk[3]);
	KUNIT_EXPECT_EQ(test, (u32)child.fallback, (u32)SMC_DECLINE_PEERNOSMC);
	KUNIT_EXPECT_TRUE(test, child.is_last);
	sock_put(child.sk);
	KUNIT_EXPECT_EQ(test, listen_accept(lab, &child), -EAGAIN);
	KUNIT_EXPECT_EQ(test, listen_nr_dropped, 0U);
}

/* The work item may come later than accept(). */
static void accept_begins_a_handshake_that_it_finds(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_accepted child;
	struct sock *agreed, *plain;

	listen_start(test, lab, 8);
	agreed = listen_come(test, true);
	plain = listen_come(test, false);
	listen_has_rnic = false;
	KUNIT_EXPECT_EQ(test, listen_accept(lab, &child), 0);
	KUNIT_EXPECT_PTR_EQ(test, child.sk, plain);
	KUNIT_EXPECT_EQ(test, (u32)child.fallback, (u32)SMC_DECLINE_NOSMCRDEV);
	KUNIT_EXPECT_EQ(test, listen_nr_begun, 1U);
	sock_put(child.sk);
	listen_end_child(test, agreed, false);

	/* the policy goes before the lack of an RNIC, as for connect() */
	plain = listen_come(test, false);
	listen_policy = SMC_DECLINE_POLICY;
	KUNIT_EXPECT_EQ(test, listen_accept(lab, &child), 0);
	KUNIT_EXPECT_PTR_EQ(test, child.sk, plain);
	KUNIT_EXPECT_EQ(test, (u32)child.fallback, (u32)SMC_DECLINE_POLICY);
	sock_put(child.sk);
}

/* The client is reset at once, and does not wait for an answer to its Proposal. */
static void what_there_is_no_memory_for_is_not_left_in_the_queue(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_listener *listener;
	struct sock *sk;
	unsigned int i;

	listen_start(test, lab, 1);
	listener = rcu_access_pointer(lab->smc.listener);
	/* neither for the state, nor for the handshake */
	for (i = 0; i < 2; i++) {
		sk = listen_come(test, true);
		listen_child_has_none = i == 0;
		listen_hs_has_none = i == 1;
		listen_run(listener);
		KUNIT_EXPECT_EQ(test, listen_nr_queued, 0U);
		KUNIT_EXPECT_EQ(test, listen_nr_begun, 0U);
		KUNIT_EXPECT_EQ(test, listen_nr_dropped, i + 1);
		KUNIT_EXPECT_PTR_EQ(test, listen_dropped[i], sk);
		KUNIT_EXPECT_FALSE(test, sock_owned_by_user_nocheck(sk));
		KUNIT_EXPECT_FALSE(test, smc_listener_has_agreed(listener));
		KUNIT_EXPECT_EQ(test, listener->nr[SMC_CHILD_HANDSHAKE], 0U);
		KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
	}
	/* another task took it first */
	listen_come(test, true);
	listen_pop_rc = -EAGAIN;
	listen_run(listener);
	KUNIT_EXPECT_EQ(test, listen_nr_dropped, 2U);
	listen_pop_rc = 0;
	listen_run(listener);
	KUNIT_EXPECT_EQ(test, listen_nr_dropped, 3U);
}

/* A call may own the listener between two children, and then the others stay with TCP. */
static void a_call_on_the_listener_delays_its_children_only(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_listener *listener;
	struct sock *sk[2];

	listen_start(test, lab, 4);
	listener = rcu_access_pointer(lab->smc.listener);
	sk[0] = listen_come(test, true);
	sk[1] = listen_come(test, true);
	listen_nr_free = 2;
	listen_run(listener);
	KUNIT_EXPECT_EQ(test, listen_nr_begun, 1U);
	KUNIT_EXPECT_EQ(test, listen_nr_queued, 1U);
	KUNIT_EXPECT_FALSE(test, sock_owned_by_user_nocheck(lab->smc.sk));
	listen_nr_free = UINT_MAX;
	listen_run(listener);
	KUNIT_EXPECT_EQ(test, listen_nr_begun, 2U);
	listen_end_child(test, sk[0], false);
	listen_end_child(test, sk[1], false);
}

/* TCP may move children to another listener of the port (SO_REUSEPORT) without notice. */
static void only_its_listener_gets_a_child_that_has_agreed(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_sock *smc = &lab->smc;
	struct sock *plain, *agreed;

	lab->sock->sk->sk_reuseport = 1;
	listen_start(test, lab, 4);
	KUNIT_ASSERT_NOT_NULL(test, rcu_access_pointer(smc->sk->sk_reuseport_cb));
	agreed = listen_come(test, true);
	plain = listen_come(test, false);
	/* TCP's own queue is empty, and the work item checks it when it ends */
	sk_acceptq_removed(smc->sk);
	lock_sock(smc->sk);
	smc_listen_stop(smc);
	release_sock(smc->sk);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(smc->listener));
	KUNIT_EXPECT_EQ(test, (int)smc->sk->sk_state, TCP_CLOSE);
	KUNIT_EXPECT_EQ(test, listen_nr_looked, 1U);
	KUNIT_EXPECT_EQ(test, listen_nr_dropped, 1U);
	KUNIT_EXPECT_PTR_EQ(test, listen_dropped[0], agreed);
	KUNIT_EXPECT_EQ(test, listen_nr_queued, 1U);
	KUNIT_EXPECT_PTR_EQ(test, listen_queued[0], plain);
	sock_put(plain);
}

/* Another task has ended the listener; there may be a new one by now. */
static void accept_ends_with_its_listener(struct kunit *test)
{
	struct listen_lab *lab = test->priv;
	struct smc_listener *listener;
	struct smc_accepted child;
	long timeo = MAX_SCHEDULE_TIMEOUT;

	KUNIT_EXPECT_EQ(test, listen_accept(lab, &child), -EINVAL);
	listen_start(test, lab, 4);
	listener = rcu_access_pointer(lab->smc.listener);
	refcount_inc(&listener->refs);
	lock_sock(lab->smc.sk);
	smc_listen_stop(&lab->smc);
	release_sock(lab->smc.sk);
	listen_start(test, lab, 4);
	KUNIT_EXPECT_EQ(test, smc_listen_wait(lab->sock, listener, &timeo), -EINVAL);
	KUNIT_EXPECT_FALSE(test, wq_has_sleeper(&lab->sock->wq.wait));
	listen_run(listener);
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
	smc_listener_put(listener);
}

static struct kunit_case listen_cases[] = {
	KUNIT_CASE(listen_that_fails_leaves_no_listener),
	KUNIT_CASE(a_listener_stays_when_it_listens_once_more),
	KUNIT_CASE(a_listener_that_tcp_has_ended_listens_again),
	KUNIT_CASE(opt_02_a_listener_offers_smc_whatever_a_connect_met),
	KUNIT_CASE(opt_08_smc_is_offered_as_long_as_there_is_no_reason_not_to),
	KUNIT_CASE(one_for_smc_between_others_is_taken_at_once),
	KUNIT_CASE(accept_begins_a_handshake_that_it_finds),
	KUNIT_CASE(what_there_is_no_memory_for_is_not_left_in_the_queue),
	KUNIT_CASE(a_call_on_the_listener_delays_its_children_only),
	KUNIT_CASE(only_its_listener_gets_a_child_that_has_agreed),
	KUNIT_CASE(accept_ends_with_its_listener),
	{}
};

static struct kunit_suite listen_suite = {
	.name = "smc_listen",
	.suite_init = listen_suite_init,
	.suite_exit = listen_suite_exit,
	.init = listen_init,
	.exit = listen_exit,
	.test_cases = listen_cases,
};

kunit_test_suite(listen_suite);
