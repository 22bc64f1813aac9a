// SPDX-License-Identifier: GPL-2.0
/*
 * TCP socks that may use SMC, created by socket() or as children over loopback: their parts,
 * their callbacks, and what remains after a fallback. The layers above are replaced by
 * counters.
 */
#include "smc_kunit.h"

#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/skmsg.h>
#include <net/tcp.h>

#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/sock/smc_history.h"
#include "../../../net/smc/sock/smc_listener.h"
#include "../../../net/smc/sock/smc_option.h"
#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/sock/smc_path.h"
#include "../../../net/smc/group/smc_peer.h"
#include "../../../net/smc/sock/smc_sock.h"
#include "../../../net/smc/sock/smc_wake.h"

/* no traces */
#define SMC_TRACE_H
#define trace_smc_switch_to_fallback(...)	((void)0)
#define trace_smc_handshake(...)		((void)0)

static unsigned int nr_queued, nr_listen, nr_woken, nr_remembered;
static unsigned long nr_payloads, nr_resets;
static enum smc_decline remembered;

static void tcp_queue(struct smc_sock *smc)
{
	WRITE_ONCE(nr_queued, nr_queued + 1);
}

/* A connection whose FIN waits for the peer's */
static bool tcp_awaits_fin;

static void tcp_queue_close(struct smc_conn *conn)
{
	WRITE_ONCE(nr_queued, nr_queued + 1);
}

static void tcp_queue_listen(struct smc_sock *smc)
{
	WRITE_ONCE(nr_listen, nr_listen + 1);
}

static void tcp_pend(struct smc_conn *conn, enum smc_pending what)
{
	if (what == SMC_PENDING_PAYLOAD)
		WRITE_ONCE(nr_payloads, nr_payloads + 1);
	if (what == SMC_PENDING_RESET)
		WRITE_ONCE(nr_resets, nr_resets + 1);
}

static void tcp_remember(struct sock *sk, bool is_server, enum smc_decline reason,
			 u32 peer_diagnosis, u32 memory_age_ms)
{
	nr_remembered++;
	remembered = reason;
}

static void tcp_wake_state(struct sock *sk)
{
	WRITE_ONCE(nr_woken, nr_woken + 1);
	smc_wake_app_state(sk);
}

static void tcp_wake_readers(struct sock *sk)
{
	WRITE_ONCE(nr_woken, nr_woken + 1);
	smc_wake_app_readers(sk);
}

static void tcp_wake_error(struct sock *sk)
{
	WRITE_ONCE(nr_woken, nr_woken + 1);
	smc_wake_app_error(sk);
}

/* A child without a request of TCP */
static bool tcp_is_asked;

/* The table of connections inside this host. */
static enum smc_path_place tcp_place;
static bool tcp_may_enter, tcp_needs_ipsec;
static unsigned int nr_entered, nr_born, nr_delayed;

static bool tcp_enter(struct smc_sock *smc)
{
	WRITE_ONCE(nr_entered, nr_entered + tcp_may_enter);
	return tcp_may_enter;
}

static void tcp_birth(const struct request_sock *req, const struct net *net)
{
	WRITE_ONCE(nr_born, nr_born + 1);
}

static void tcp_queue_delayed(struct smc_sock *smc, unsigned long delay_jiffies)
{
	WRITE_ONCE(nr_delayed, nr_delayed + 1);
}

#define smc_option_was_asked(req)	(tcp_is_asked || smc_option_was_asked(req))
#define smc_net_prepare(...)		((void)0)
#define smc_peer_prepare(...)		((void)0)
#define smc_history_prepare(...)	((void)0)
#define smc_history_add			tcp_remember
#define smc_meet_birth			tcp_birth
#define smc_meet_enter			tcp_enter
#define smc_path_needs_ipsec(...)	tcp_needs_ipsec
#define smc_path_note_host(...)		((void)0)
#define smc_path_sender(...)		tcp_place
#define smc_sock_pend			tcp_pend
#define smc_sock_queue			tcp_queue
#define smc_sock_queue_close		tcp_queue_close
#define smc_sock_queue_delayed		tcp_queue_delayed
#define smc_sock_queue_listen		tcp_queue_listen
#define smc_stat_inc(...)		((void)0)
#define smc_state_awaits_fin(...)	tcp_awaits_fin
#define smc_wake_app_error		tcp_wake_error
#define smc_wake_app_readers		tcp_wake_readers
#define smc_wake_app_state		tcp_wake_state

#include "../../../net/smc/sock/smc_tcp.c"

static void tcp_no_work(struct work_struct *work)
{
}

static const struct smc_sock_works tcp_works = {
	.handshake = tcp_no_work,
	.handshake_grow = tcp_no_work,
	.close = tcp_no_work,
};

static int tcp_net_init(struct net *net)
{
	smc_net(net)->set.limit_smc_hs = 1;
	return smc_net_init(net);
}

static struct pernet_operations tcp_net_ops = {
	.init = tcp_net_init,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

/* The operations of the module; here they stay TCP's. */
static void tcp_take_over(struct smc_tcp_calls *calls)
{
}

static int tcp_suite_init(struct kunit_suite *suite)
{
	int rc;

	rtnl_lock();
	rc = dev_change_flags(init_net.loopback_dev, init_net.loopback_dev->flags | IFF_UP, NULL);
	rtnl_unlock();
	if (rc)
		return rc;
	rc = register_pernet_subsys(&tcp_net_ops);
	if (rc)
		return rc;
	rc = smc_sock_init(&tcp_works);
	if (rc)
		goto out_net;
	rc = smc_tcp_init(tcp_take_over);
	if (rc)
		goto out_sock;
	smc_tcp_offer_sockets();
	return 0;

out_sock:
	smc_sock_exit();
out_net:
	unregister_pernet_subsys(&tcp_net_ops);
	return rc;
}

static void tcp_suite_exit(struct kunit_suite *suite)
{
	smc_tcp_withdraw_sockets();
	smc_tcp_exit();
	smc_sock_exit();
	unregister_pernet_subsys(&tcp_net_ops);
}

/* All sockets of a case. */
struct tcp_lab {
	struct socket *sock[16];
	unsigned int nr_socks;
};

static int tcp_test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct tcp_lab), GFP_KERNEL);
	if (!test->priv)
		return -ENOMEM;
	nr_queued = 0;
	nr_listen = 0;
	nr_woken = 0;
	nr_remembered = 0;
	nr_payloads = 0;
	nr_resets = 0;
	remembered = SMC_DECLINE_NONE;
	return 0;
}

static struct smc_sock *state_of(const struct socket *sock)
{
	struct smc_sock *smc;

	rcu_read_lock();
	smc = smc_sk(sock->sk);
	rcu_read_unlock();
	return smc;
}

static void tcp_test_exit(struct kunit *test)
{
	struct tcp_lab *lab = test->priv;
	struct smc_sock *smc;
	unsigned int i;

	/* clients first: a listener may have their peers in its queue */
	for (i = lab ? lab->nr_socks : 0; i--;) {
		smc = state_of(lab->sock[i]);
		if (smc)
			smc->conn = NULL;
		/* no TIME_WAIT remains */
		tcp_abort(lab->sock[i]->sk, ECONNRESET);
		sock_release(lab->sock[i]);
	}
}

static struct socket *tcp_keep(struct kunit *test, struct socket *sock)
{
	struct tcp_lab *lab = test->priv;

	KUNIT_ASSERT_LT(test, lab->nr_socks, (unsigned int)ARRAY_SIZE(lab->sock));
	lab->sock[lab->nr_socks++] = sock;
	return sock;
}

/* A socket of TCP or SMC, as socket() creates it. */
static struct socket *tcp_new(struct kunit *test, int protocol)
{
	struct socket *sock;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, protocol, &sock),
			0);
	return tcp_keep(test, sock);
}

/* Loopback is fast; a longer wait is a failure. */
#define tcp_wait_for(cond) ({						\
	unsigned long end = jiffies + 20 * HZ;				\
	bool is_met;							\
									\
	while (!(is_met = (cond)) && time_before(jiffies, end))		\
		schedule_timeout_uninterruptible(1);			\
	is_met;								\
})

static struct socket *tcp_listen(struct kunit *test, int protocol)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct socket *sock = tcp_new(test, protocol);

	KUNIT_ASSERT_EQ(test, kernel_bind(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	KUNIT_ASSERT_EQ(test, kernel_listen(sock, 4), 0);
	return sock;
}

/* Where both have SMC no callback reports the TCP connection, so it does not wait for that. */
static struct socket *tcp_begin(struct kunit *test, struct socket *to, int protocol)
{
	struct socket *sock = tcp_new(test, protocol);
	struct sockaddr_in addr;
	int rc;

	KUNIT_ASSERT_GT(test, kernel_getsockname(to, (struct sockaddr *)&addr), 0);
	rc = kernel_connect(sock, (struct sockaddr *)&addr, sizeof(addr), O_NONBLOCK);
	KUNIT_ASSERT_TRUE(test, !rc || rc == -EINPROGRESS);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(inet_sk_state_load(sock->sk) == TCP_ESTABLISHED));
	return sock;
}

static void expect_plain(struct kunit *test, struct sock *sk)
{
	struct socket *like = tcp_new(test, IPPROTO_TCP);

	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(sk->sk_prot), like->sk->sk_prot);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_prot_creator, like->sk->sk_prot);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_state_change, like->sk->sk_state_change);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_data_ready, like->sk->sk_data_ready);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_error_report, like->sk->sk_error_report);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_write_space, like->sk->sk_write_space);
	KUNIT_EXPECT_TRUE(test, !tcp_sk(sk)->smc_hs_congested);
	KUNIT_EXPECT_NULL(test, inet_csk(sk)->icsk_ulp_ops);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(inet_csk(sk)->icsk_ulp_data));
	KUNIT_EXPECT_FALSE(test, tcp_sk(sk)->syn_smc);
}

static void a_new_sock_is_tcps_and_has_a_state(struct kunit *test)
{
	struct socket *sock, *plain = tcp_new(test, IPPROTO_TCP);
	struct smc_sock *smc;
	struct sock *sk;
	int had;

	/* wait for the states of other cases */
	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_SMC,
					       &sock), 0);
	sk = sock->sk;
	smc = state_of(sock);
	KUNIT_ASSERT_NOT_NULL(test, smc);
	KUNIT_EXPECT_PTR_EQ(test, smc->sk, sk);
	KUNIT_EXPECT_TRUE(test, smc->limits_handshakes);
	KUNIT_EXPECT_TRUE(test, tcp_sk(sk)->syn_smc);
	/* the fields that others see */
	KUNIT_EXPECT_EQ(test, sk->sk_protocol, IPPROTO_TCP);
	KUNIT_EXPECT_EQ(test, sk->sk_family, AF_INET);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_prot_creator, plain->sk->sk_prot);
	/* the operations that replace TCP's */
	KUNIT_EXPECT_PTR_NE(test, sk->sk_prot, plain->sk->sk_prot);
	KUNIT_EXPECT_PTR_EQ(test, smc_tcp_prot(sk), plain->sk->sk_prot);
	KUNIT_EXPECT_PTR_EQ(test, smc_tcp_prot(plain->sk), plain->sk->sk_prot);
	KUNIT_EXPECT_TRUE(test, smc_tcp_is_ours(sock));
	KUNIT_EXPECT_FALSE(test, smc_tcp_is_ours(plain));
	KUNIT_EXPECT_PTR_EQ(test, smc_tcp_ops(sock), plain->ops);
	KUNIT_EXPECT_PTR_EQ(test, smc_tcp_ops(plain), plain->ops);
	/* one for the operations, one for the state */
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had + 2);
	sock_release(sock);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
}

static void gen_06_nothing_of_ours_is_left_on_a_sock_of_tcp(struct kunit *test)
{
	struct socket *sock = tcp_new(test, IPPROTO_SMC);
	struct smc_sock *smc = state_of(sock);
	struct sock *sk = sock->sk;
	int had;

	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	lock_sock(sk);
	smc_sock_get(smc);
	smc_tcp_become(smc, SMC_DECLINE_OPTUNSUPP);
	release_sock(sk);
	KUNIT_EXPECT_EQ(test, (int)smc->phase, SMC_PHASE_TCP);
	KUNIT_EXPECT_EQ(test, (u32)smc->fallback, (u32)SMC_DECLINE_OPTUNSUPP);
	KUNIT_EXPECT_EQ(test, nr_remembered, 1U);
	KUNIT_EXPECT_EQ(test, (u32)remembered, (u32)SMC_DECLINE_OPTUNSUPP);
	smc_sock_put(smc);
	expect_plain(test, sk);
	KUNIT_EXPECT_NULL(test, state_of(sock));
	/* without a file the socket may be about to be released */
	KUNIT_EXPECT_TRUE(test, smc_tcp_is_ours(sock));
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had - 1);
}

static void gen_06_a_file_gets_tcps_operations(struct kunit *test)
{
	struct socket *sock, *plain = tcp_new(test, IPPROTO_TCP);
	struct file *file;
	int had;

	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_SMC,
					       &sock), 0);
	file = sock_alloc_file(sock, 0, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	lock_sock(sock->sk);
	smc_tcp_become(state_of(sock), SMC_DECLINE_OPTUNSUPP);
	KUNIT_EXPECT_PTR_EQ(test, sock->ops, plain->ops);
	release_sock(sock->sk);
	expect_plain(test, sock->sk);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
	fput(file);
}

/* The listener gave its sock back to TCP while it was copied. */
static void a_child_of_a_listener_that_ends_is_plain(struct kunit *test)
{
	struct sock *sk = tcp_new(test, IPPROTO_TCP)->sk;
	int had = module_refcount(THIS_MODULE);

	inet_csk(sk)->icsk_ulp_ops = &smc_ulp_sock;
	smc_tcp_init_child(NULL, sk, GFP_KERNEL);
	expect_plain(test, sk);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
}

static void a_call_holds_the_module(struct kunit *test)
{
	struct socket *sock = tcp_new(test, IPPROTO_SMC);
	struct smc_sock *smc;
	int had;

	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	smc = smc_sock_begin_call(sock->sk);
	KUNIT_EXPECT_PTR_EQ(test, smc, state_of(sock));
	lock_sock(sock->sk);
	smc_tcp_become(smc, SMC_DECLINE_OPTUNSUPP);
	release_sock(sock->sk);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
	smc_sock_end_call(smc);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had - 1);
	/* without a state */
	smc = smc_sock_begin_call(sock->sk);
	KUNIT_EXPECT_NULL(test, smc);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
	smc_sock_end_call(smc);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had - 1);
}

static void a_function_of_tcp_that_is_unknown_is_refused(struct kunit *test)
{
	struct smc_tcp_kind *kind = kzalloc(sizeof(*kind), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, kind);
	*kind = smc_tcp_kinds[0];
	/* nothing is replaced in this suite */
	KUNIT_EXPECT_FALSE(test, smc_tcp_knows_all(kind));
	KUNIT_EXPECT_TRUE(test, smc_tcp_knows("proto", &kind->our.prot, &kind->our.prot, 0, NULL,
					      0));
	kfree(kind);
}

/* accept() records it, when there is a file. */
static void gen_06_a_child_is_remembered_later(struct kunit *test)
{
	struct socket *sock = tcp_new(test, IPPROTO_SMC);
	struct smc_sock *smc = state_of(sock);
	struct smc_child child;

	lock_sock(sock->sk);
	smc_sock_get(smc);
	smc->child = &child;
	smc_tcp_become(smc, SMC_DECLINE_PEERDECL);
	smc->child = NULL;
	release_sock(sock->sk);
	smc_sock_put(smc);
	KUNIT_EXPECT_EQ(test, nr_remembered, 0U);
	expect_plain(test, sock->sk);
}

/* A sockmap would install callbacks of its own. */
static void a_socket_that_may_use_smc_is_refused_to_a_sockmap(struct kunit *test)
{
	struct socket *sock = tcp_new(test, IPPROTO_SMC);
	struct smc_sock *smc = state_of(sock);
	struct sock *sk = sock->sk;
	struct sk_psock *psock;

#ifdef CONFIG_BPF_SYSCALL
	KUNIT_EXPECT_TRUE(test, !sk->sk_prot->psock_update_sk_prot);
#endif
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(sk_psock_init(sk, NUMA_NO_NODE)), -EINVAL);
	lock_sock(sk);
	smc_tcp_become(smc, SMC_DECLINE_OPTUNSUPP);
	release_sock(sk);
	psock = sk_psock_init(sk, NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, psock);
	sk_psock_put(sk, psock);
	expect_plain(test, sk);
}

enum { TOLD = 1, QUEUED = 2, RESET = 4, PAYLOAD = 8 };

static const struct {
	enum smc_phase phase;
	u8 state;
	bool has_ended;		/* the close machine has handled it */
	bool awaits_fin;
	unsigned int on_state;
	unsigned int on_data;
	unsigned int on_error;
} news_rows[] = {
	{ SMC_PHASE_IDLE, TCP_CLOSE, false, false, TOLD, TOLD, TOLD },
	{ SMC_PHASE_IDLE, TCP_SYN_SENT, false, false, TOLD, TOLD, TOLD },
	{ SMC_PHASE_HANDSHAKE, TCP_ESTABLISHED, false, false, QUEUED, QUEUED, QUEUED },
	{ SMC_PHASE_HANDSHAKE, TCP_CLOSE, false, false, QUEUED, QUEUED, QUEUED },
	{ SMC_PHASE_STOPPING, TCP_ESTABLISHED, false, false, QUEUED, QUEUED, QUEUED },
	{ SMC_PHASE_SMC, TCP_ESTABLISHED, false, false, 0, 0, 0 },
	{ SMC_PHASE_SMC, TCP_CLOSE_WAIT, false, false, 0, 0, 0 },
	{ SMC_PHASE_SMC, TCP_CLOSE_WAIT, false, true, QUEUED, 0, 0 },
	{ SMC_PHASE_SMC, TCP_CLOSE, false, false, RESET, 0, 0 },
	{ SMC_PHASE_SMC, TCP_CLOSE, true, false, 0, 0, 0 },
};

static unsigned int what_came(void)
{
	unsigned int came = (nr_woken ? TOLD : 0) | (nr_queued ? QUEUED : 0) |
			    (nr_resets ? RESET : 0) | (nr_payloads ? PAYLOAD : 0);

	nr_woken = 0;
	nr_queued = 0;
	nr_resets = 0;
	nr_payloads = 0;
	return came;
}

static void a_callback_of_tcp_is_handled_by_phase(struct kunit *test)
{
	struct socket *sock = tcp_new(test, IPPROTO_SMC);
	struct smc_sock *smc = state_of(sock);
	struct sock *sk = sock->sk;
	int i;

	lock_sock(sk);
	for (i = 0; i < ARRAY_SIZE(news_rows); i++) {
		smc->phase = news_rows[i].phase;
		smc->has_tcp_ended = news_rows[i].has_ended;
		tcp_awaits_fin = news_rows[i].awaits_fin;
		sk->sk_state = news_rows[i].state;
		sk->sk_state_change(sk);
		KUNIT_EXPECT_EQ_MSG(test, what_came(), news_rows[i].on_state, "state, %d", i);
		sk->sk_data_ready(sk);
		KUNIT_EXPECT_EQ_MSG(test, what_came(), news_rows[i].on_data, "data, %d", i);
		sk->sk_error_report(sk);
		KUNIT_EXPECT_EQ_MSG(test, what_came(), news_rows[i].on_error, "error, %d", i);
	}
	tcp_awaits_fin = false;
	sk->sk_state = TCP_CLOSE;
	smc->phase = SMC_PHASE_IDLE;
	/* a call that started before the fallback */
	smc_tcp_become(smc, SMC_DECLINE_OPTUNSUPP);
	smc_tcp_state_change(sk);
	KUNIT_EXPECT_EQ(test, what_came(), (unsigned int)TOLD);
	smc_tcp_data_ready(sk);
	KUNIT_EXPECT_EQ(test, what_came(), (unsigned int)TOLD);
	smc_tcp_error_report(sk);
	KUNIT_EXPECT_EQ(test, what_came(), (unsigned int)TOLD);
	release_sock(sk);
}

/* Notices of SMC are in the error queue of the TCP sock. */
static void notices_wake_their_waiters(struct kunit *test)
{
	struct socket *sock = tcp_new(test, IPPROTO_SMC);
	struct smc_sock *smc = state_of(sock);
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);
	struct sock *sk = sock->sk;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	smc->phase = SMC_PHASE_SMC;
	sk->sk_state = TCP_ESTABLISHED;
	KUNIT_EXPECT_EQ(test, sock_queue_err_skb(sk, skb), 0);
	KUNIT_EXPECT_EQ(test, what_came(), (unsigned int)TOLD);
	sk->sk_state = TCP_CLOSE;
	smc->phase = SMC_PHASE_IDLE;
	skb_queue_purge(&sk->sk_error_queue);
}

static const struct {
	int pending;		/* pending in the sock */
	int err;		/* error of SMC, which is pending there, or was */
	int want_pending;
	int want_tcp_err;
} err_rows[] = {
	{ 0, 0, 0, 0 },
	/* the end of TCP is no error of SMC */
	{ ECONNRESET, 0, 0, ECONNRESET },
	{ EPIPE, 0, 0, EPIPE },
	/* SMC's error stays, even if TCP has overwritten it */
	{ ECONNABORTED, ECONNABORTED, ECONNABORTED, 0 },
	{ ECONNRESET, ECONNABORTED, ECONNABORTED, ECONNRESET },
};

static void an_error_of_tcp_is_none_of_smc(struct kunit *test)
{
	struct socket *sock = tcp_new(test, IPPROTO_SMC);
	struct smc_sock *smc = state_of(sock);
	int i;

	lock_sock(sock->sk);
	for (i = 0; i < ARRAY_SIZE(err_rows); i++) {
		smc->err = err_rows[i].err;
		smc->tcp_err = 0;
		sock->sk->sk_err = err_rows[i].pending;
		smc_tcp_take_err(smc);
		KUNIT_EXPECT_EQ_MSG(test, sock->sk->sk_err, err_rows[i].want_pending, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, smc->tcp_err, err_rows[i].want_tcp_err, "%d", i);
	}
	sock->sk->sk_err = 0;
	release_sock(sock->sk);
}

/* TCP ignores the option where SYNs cross. */
static void opt_08_a_client_counts_what_the_peer_has_offered(struct kunit *test)
{
	struct socket *sock = tcp_new(test, IPPROTO_SMC);
	struct smc_sock *smc = state_of(sock);
	struct tcp_sock *tp = tcp_sk(sock->sk);

	inet_sk(sock->sk)->inet_dport = htons(1);
	KUNIT_EXPECT_FALSE(test, smc_tcp_is_agreed(smc));
	tp->rx_opt.smc_ok = 1;
	KUNIT_EXPECT_TRUE(test, smc_tcp_is_agreed(smc));
	tp->syn_smc = 0;
	KUNIT_EXPECT_FALSE(test, smc_tcp_is_agreed(smc));
	tp->syn_smc = 1;
	/* a client without a server */
	inet_sk(sock->sk)->inet_sport = htons(1);
	KUNIT_EXPECT_FALSE(test, smc_tcp_is_agreed(smc));
	sock->sk->sk_daddr = htonl(INADDR_LOOPBACK);
	KUNIT_EXPECT_TRUE(test, smc_tcp_is_agreed(smc));
	sock->sk->sk_daddr = 0;
	inet_sk(sock->sk)->inet_sport = 0;
	inet_sk(sock->sk)->inet_dport = 0;
}

static void opt_08_a_client_is_tcps_where_the_server_has_no_smc(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_TCP), *client;

	client = tcp_begin(test, server, IPPROTO_SMC);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(!state_of(client)));
	expect_plain(test, client->sk);
	KUNIT_EXPECT_EQ(test, (u32)remembered, (u32)SMC_DECLINE_PEERNOSMC);
	KUNIT_EXPECT_EQ(test, nr_queued, 0U);
	KUNIT_EXPECT_GT(test, nr_woken, 0U);
}

static void opt_08_a_client_that_offers_nothing_knows_why(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_TCP), *client;
	struct sockaddr_in addr;

	client = tcp_new(test, IPPROTO_SMC);
	tcp_sk(client->sk)->syn_smc = 0;
	state_of(client)->fallback = SMC_DECLINE_NOSMCRDEV;
	KUNIT_ASSERT_GT(test, kernel_getsockname(server, (struct sockaddr *)&addr), 0);
	/* TCP wakes the waiter */
	KUNIT_EXPECT_EQ(test, kernel_connect(client, (struct sockaddr *)&addr, sizeof(addr), 0),
			0);
	expect_plain(test, client->sk);
	KUNIT_EXPECT_EQ(test, (u32)remembered, (u32)SMC_DECLINE_NOSMCRDEV);
}

static void tcp_take(struct work_struct *work)
{
}

/* The listener that listen() creates for a socket; the case holds a second reference. */
static struct smc_listener *listener_of(struct kunit *test, struct socket *sock)
{
	struct smc_listener *listener = smc_listener_new(sock->sk, tcp_take);

	KUNIT_ASSERT_NOT_NULL(test, listener);
	refcount_inc(&listener->refs);
	rcu_assign_pointer(state_of(sock)->listener, listener);
	return listener;
}

static void listener_end(struct kunit *test, struct socket *sock, struct smc_listener *listener)
{
	smc_listener_end(listener);
	RCU_INIT_POINTER(state_of(sock)->listener, NULL);
	smc_listener_put(listener);
}

static struct sock *listener_pop(struct kunit *test, struct socket *sock)
{
	struct sock *sk;

	lock_sock(sock->sk);
	sk = smc_tcp_take_child(sock->sk);
	release_sock(sock->sk);
	KUNIT_ASSERT_NOT_NULL(test, sk);
	return sk;
}

static void opt_08_a_child_that_has_agreed_is_adopted(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_SMC), *client;
	struct smc_listener *listener = listener_of(test, server);
	struct smc_sock *smc;
	struct sock *sk;
	int had;

	client = tcp_begin(test, server, IPPROTO_SMC);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(server->sk->sk_ack_backlog) == 1));
	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	/* the application sees neither: the handshake and the work item do */
	KUNIT_EXPECT_EQ(test, (int)state_of(client)->phase, SMC_PHASE_HANDSHAKE);
	KUNIT_EXPECT_EQ(test, READ_ONCE(nr_queued), 1U);
	KUNIT_EXPECT_EQ(test, READ_ONCE(nr_listen), 1U);
	KUNIT_EXPECT_EQ(test, READ_ONCE(nr_woken), 0U);
	KUNIT_EXPECT_TRUE(test, smc_listener_has_agreed(listener));
	KUNIT_EXPECT_FALSE(test, smc_listener_has_plain(listener, server->sk));
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 2 + 1);

	sk = listener_pop(test, server);
	KUNIT_EXPECT_TRUE(test, smc_tcp_child_is_agreed(sk));
	/* no event has been reported yet */
	KUNIT_EXPECT_PTR_NE(test, sk->sk_state_change, server->sk->sk_state_change);
	lock_sock(sk);
	KUNIT_EXPECT_NULL(test, smc_sk(sk));
	smc = smc_tcp_adopt_child(sk);
	KUNIT_ASSERT_NOT_NULL(test, smc);
	KUNIT_EXPECT_PTR_EQ(test, smc_sk(sk), smc);
	release_sock(sk);
	KUNIT_EXPECT_EQ(test, (int)smc->phase, SMC_PHASE_HANDSHAKE);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_state_change, server->sk->sk_state_change);
	KUNIT_EXPECT_FALSE(test, smc_listener_has_agreed(listener));
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 2);

	/* as smc_child_drop() ends it */
	tcp_abort(sk, ECONNRESET);
	tcp_close(sk, 0);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had - 1);
	listener_end(test, server, listener);
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1);
	smc_listener_put(listener);
}

/* As tcp_begin(), with our functions in TCP's table as connect() of a socket has it. */
static struct socket *tcp_begin_our(struct kunit *test, struct socket *to)
{
	struct socket *sock = tcp_new(test, IPPROTO_SMC);
	struct sockaddr_in addr;
	int rc;

	lock_sock(sock->sk);
	smc_tcp_follow_connect(state_of(sock));
	release_sock(sock->sk);
	KUNIT_ASSERT_GT(test, kernel_getsockname(to, (struct sockaddr *)&addr), 0);
	rc = kernel_connect(sock, (struct sockaddr *)&addr, sizeof(addr), O_NONBLOCK);
	KUNIT_ASSERT_TRUE(test, !rc || rc == -EINPROGRESS);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(inet_sk_state_load(sock->sk) == TCP_ESTABLISHED));
	return sock;
}

static void a_client_enters_where_its_server_may_be(struct kunit *test)
{
	static const struct {
		enum smc_path_place place;
		bool needs_ipsec;
		bool may_enter;
		bool is_entered;
	} rows[] = {
		{ SMC_PATH_AWAY, false, true, false },
		{ SMC_PATH_INSIDE, false, true, true },
		{ SMC_PATH_INSIDE, true, true, false },
		{ SMC_PATH_INSIDE, false, false, false },
		{ SMC_PATH_NEARBY, false, true, true },
	};
	struct socket *server = tcp_listen(test, IPPROTO_SMC), *client;
	struct smc_listener *listener = listener_of(test, server);
	struct sock *sk;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		nr_entered = 0;
		nr_born = 0;
		nr_delayed = 0;
		nr_queued = 0;
		tcp_place = rows[i].place;
		tcp_needs_ipsec = rows[i].needs_ipsec;
		tcp_may_enter = rows[i].may_enter;
		client = tcp_begin_our(test, server);
		KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(nr_queued) + READ_ONCE(nr_delayed)));
		KUNIT_EXPECT_EQ_MSG(test, nr_entered, rows[i].is_entered, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, nr_delayed, rows[i].is_entered, "%u", i);
		/* without our first byte the acknowledgment is TCP's, some time later */
		KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(server->sk->sk_ack_backlog) == 1));
		KUNIT_EXPECT_EQ(test, nr_born, 1U);
		tcp_abort(client->sk, ECONNRESET);
		sk = listener_pop(test, server);
		tcp_abort(sk, ECONNRESET);
		tcp_close(sk, 0);
	}
	tcp_place = SMC_PATH_AWAY;
	listener_end(test, server, listener);
	smc_listener_put(listener);
}

/* Timeouts of TCP_DEFER_ACCEPT: a minute, longer than any wait here. */
#define TCP_DEFERS	6

/* With TCP_DEFER_ACCEPT such a child waits for its first byte in smc_child.c. */
static void a_child_on_this_host_is_born_by_a_bare_acknowledgment(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_SMC), *client;
	struct smc_listener *listener = listener_of(test, server);
	struct sock *sk;

	WRITE_ONCE(inet_csk(server->sk)->icsk_accept_queue.rskq_defer_accept, TCP_DEFERS);
	lock_sock(server->sk);
	smc_tcp_answer_syns(server->sk, true);
	release_sock(server->sk);
	tcp_place = SMC_PATH_INSIDE;
	tcp_may_enter = true;
	client = tcp_begin_our(test, server);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(server->sk->sk_ack_backlog) == 1));
	tcp_abort(client->sk, ECONNRESET);
	sk = listener_pop(test, server);
	tcp_abort(sk, ECONNRESET);
	tcp_close(sk, 0);
	/* one of another host has to send that byte */
	tcp_place = SMC_PATH_AWAY;
	tcp_begin_our(test, server);
	msleep(2 * jiffies_to_msecs(TCP_DELACK_MAX));
	KUNIT_EXPECT_EQ(test, READ_ONCE(server->sk->sk_ack_backlog), 0);
	listener_end(test, server, listener);
	smc_listener_put(listener);
}

static void an_unaccepted_child_is_dropped_in_time(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_SMC);
	struct smc_listener *listener = listener_of(test, server);
	int had;

	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	tcp_begin(test, server, IPPROTO_SMC);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(server->sk->sk_ack_backlog) == 1));
	/* the client's operations and state, and the child */
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had + 3);
	listener_end(test, server, listener);
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 1 + 1);
	/* TCP does not listen any more */
	lock_sock(server->sk);
	KUNIT_EXPECT_EQ(test, smc_tcp_disconnect(server->sk), 0);
	release_sock(server->sk);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(refcount_read(&listener->refs) == 1));
	KUNIT_EXPECT_FALSE(test, smc_listener_has_agreed(listener));
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had + 2);
	smc_listener_put(listener);
}

/* TCP may move children to another listener of the port (SO_REUSEPORT) without notice. */
static void children_without_smc_are_born_with_nothing_of_ours(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_SMC);
	struct smc_listener *listener = listener_of(test, server);
	struct sock *sk;
	int had;

	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	tcp_begin(test, server, IPPROTO_TCP);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(server->sk->sk_ack_backlog) == 1));
	KUNIT_EXPECT_FALSE(test, smc_listener_has_agreed(listener));
	KUNIT_EXPECT_TRUE(test, smc_listener_has_plain(listener, server->sk));
	KUNIT_EXPECT_EQ(test, READ_ONCE(nr_listen), 0U);
	/* accept() is woken */
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(nr_woken)));
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
	sk = listener_pop(test, server);
	KUNIT_EXPECT_FALSE(test, smc_tcp_child_is_agreed(sk));
	expect_plain(test, sk);
	KUNIT_EXPECT_EQ(test, refcount_read(&listener->refs), 2);
	tcp_abort(sk, ECONNRESET);
	tcp_close(sk, 0);
	listener_end(test, server, listener);
	smc_listener_put(listener);
}

static void a_child_of_one_that_listens_no_more_is_tcps(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_SMC);
	struct sock *sk;

	tcp_begin(test, server, IPPROTO_SMC);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(server->sk->sk_ack_backlog) == 1));
	sk = listener_pop(test, server);
	expect_plain(test, sk);
	tcp_abort(sk, ECONNRESET);
	tcp_close(sk, 0);
}

/* TCP copies a listener without its lock. The copy may be half ours and half TCP's. */
static void a_child_of_one_that_leaves_is_tcps(struct kunit *test)
{
	struct sock *sk = tcp_new(test, IPPROTO_TCP)->sk;
	struct proto *our = &smc_tcp_kinds[0].our.prot;
	int had;

	rcu_barrier();
	had = module_refcount(THIS_MODULE);
	tcp_is_asked = true;
	/* the copy had TCP's struct proto, and so no reference on the module */
	inet_csk(sk)->icsk_ulp_ops = &smc_ulp_sock;
	smc_tcp_init_child(NULL, sk, GFP_KERNEL);
	expect_plain(test, sk);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
	/* it had ours */
	__module_get(THIS_MODULE);
	inet_csk(sk)->icsk_ulp_ops = &smc_ulp_sock;
	sk->sk_prot = our;
	sk->sk_prot_creator = our;
	smc_tcp_init_child(NULL, sk, GFP_KERNEL);
	expect_plain(test, sk);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
	tcp_is_asked = false;
}

/* close() of a connecting socket; the SYN-ACK comes before TCP's part of it. */
static void a_socket_that_tcp_closes_begins_no_handshake(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_SMC);
	struct smc_listener *listener = listener_of(test, server);
	struct socket *client = tcp_new(test, IPPROTO_SMC);
	struct sockaddr_in addr;

	KUNIT_ASSERT_GT(test, kernel_getsockname(server, (struct sockaddr *)&addr), 0);
	lock_sock(client->sk);
	smc_tcp_leave(state_of(client));
	release_sock(client->sk);
	KUNIT_EXPECT_EQ(test, kernel_connect(client, (struct sockaddr *)&addr, sizeof(addr), 0),
			0);
	KUNIT_EXPECT_NULL(test, state_of(client));
	KUNIT_EXPECT_EQ(test, READ_ONCE(nr_queued), 0U);
	listener_end(test, server, listener);
	smc_listener_put(listener);
}

/* accept() takes the others, and the counts are right in any order. */
static void one_for_smc_between_others_is_counted(struct kunit *test)
{
	static const int protocols[] = { IPPROTO_TCP, IPPROTO_SMC, IPPROTO_TCP };
	struct socket *server = tcp_listen(test, IPPROTO_SMC);
	struct smc_listener *listener = listener_of(test, server);
	struct sock *sk;
	int i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++) {
		tcp_begin(test, server, protocols[i]);
		KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(server->sk->sk_ack_backlog) ==
						     i + 1));
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&listener->nr_agreed), 1);
	for (i = 0; i < ARRAY_SIZE(protocols); i++) {
		sk = listener_pop(test, server);
		KUNIT_EXPECT_EQ(test, smc_tcp_child_is_agreed(sk), protocols[i] == IPPROTO_SMC);
		tcp_abort(sk, ECONNRESET);
		tcp_close(sk, 0);
	}
	KUNIT_EXPECT_FALSE(test, smc_listener_has_agreed(listener));
	listener_end(test, server, listener);
	smc_listener_put(listener);
}

static void tcp_take_places(struct smc_listener *listener, struct sock *sk, int nr)
{
	guard(spinlock_bh)(&inet_csk(sk)->icsk_accept_queue.rskq_lock);
	listener->nr_backlog += nr;
	WRITE_ONCE(sk->sk_ack_backlog, sk->sk_ack_backlog + nr);
}

/* A backlog of 4 has five places, as with TCP, for plain and SMC children together. */
static void children_that_are_ready_take_places_of_the_backlog(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_SMC), *late;
	struct smc_listener *listener = listener_of(test, server);
	const struct inet_connection_sock_af_ops *af;
	struct sock *sk = server->sk, *child;
	struct sockaddr_in addr;

	af = inet_csk(sk)->icsk_af_ops;
	lock_sock(sk);
	smc_tcp_answer_syns(sk, true);
	release_sock(sk);
	tcp_take_places(listener, sk, 4);
	tcp_begin(test, server, IPPROTO_TCP);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(sk->sk_ack_backlog) == 5));
	KUNIT_EXPECT_EQ(test, atomic_read(&sk->sk_drops), 0);

	late = tcp_new(test, IPPROTO_TCP);
	KUNIT_ASSERT_GT(test, kernel_getsockname(server, (struct sockaddr *)&addr), 0);
	KUNIT_EXPECT_EQ(test, kernel_connect(late, (struct sockaddr *)&addr, sizeof(addr),
					     O_NONBLOCK), -EINPROGRESS);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(atomic_read(&sk->sk_drops)));
	KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, 5U);
	/* the client retries */
	tcp_take_places(listener, sk, -4);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(sk->sk_ack_backlog) == 2));
	/* a child does not inherit the limit */
	child = listener_pop(test, server);
	KUNIT_EXPECT_PTR_EQ(test, inet_csk(child)->icsk_af_ops, af);
	tcp_abort(child, ECONNRESET);
	tcp_close(child, 0);
	listener_end(test, server, listener);
	lock_sock(sk);
	smc_tcp_answer_syns(sk, false);
	release_sock(sk);
	KUNIT_EXPECT_PTR_EQ(test, inet_csk(sk)->icsk_af_ops, af);
	smc_listener_put(listener);
}

/* `ss -K`: TCP warns about a backlog that is not empty. */
static void an_operator_ends_a_listener_with_children(struct kunit *test)
{
	struct socket *server = tcp_listen(test, IPPROTO_SMC);
	struct smc_listener *listener = listener_of(test, server);
	struct sock *sk = server->sk;

	tcp_take_places(listener, sk, 2);
	KUNIT_EXPECT_EQ(test, sk->sk_prot->diag_destroy(sk, ECONNABORTED), 0);
	KUNIT_EXPECT_EQ(test, (int)sk->sk_state, TCP_CLOSE);
	KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, 0U);
	KUNIT_EXPECT_EQ(test, listener->nr_backlog, 0U);
	listener_end(test, server, listener);
	smc_listener_put(listener);
}

/* It was created here, but TCP has moved its request from another listener. */
static void opt_08_a_child_counts_what_its_client_was_offered(struct kunit *test)
{
	struct socket *other = tcp_new(test, IPPROTO_TCP);
	struct request_sock *req;

	req = kunit_kzalloc(test, sizeof(struct tcp_request_sock), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, req);
	KUNIT_EXPECT_FALSE(test, smc_option_was_asked(req));
	inet_rsk(req)->smc_ok = 1;
	/* of a SYN cookie, which TCP itself records */
	KUNIT_EXPECT_TRUE(test, smc_option_was_asked(req));
	req->rsk_listener = other->sk;
	KUNIT_EXPECT_FALSE(test, smc_option_was_asked(req));
	tcp_sk(other->sk)->syn_smc = 1;
	KUNIT_EXPECT_TRUE(test, smc_option_was_asked(req));
}

/* A TCP connection that carries an SMC one, and its other end. */
struct carrier {
	struct socket *near;
	struct socket *far;
	struct smc_sock *smc;
};

static void carrier_begin(struct kunit *test, struct carrier *c)
{
	struct socket *server = tcp_listen(test, IPPROTO_TCP);

	c->far = tcp_begin(test, server, IPPROTO_TCP);
	KUNIT_ASSERT_EQ(test, kernel_accept(server, &c->near, 0), 0);
	tcp_keep(test, c->near);
	__module_get(THIS_MODULE);
	lock_sock(c->near->sk);
	c->smc = smc_sock_attach(c->near->sk, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c->smc);
	c->smc->phase = SMC_PHASE_SMC;
	release_sock(c->near->sk);
}

static void carrier_watch(struct carrier *c)
{
	lock_sock(c->near->sk);
	smc_tcp_watch(c->near->sk);
	release_sock(c->near->sk);
}

static int carrier_far_says(struct carrier *c, const void *bytes, size_t len, int flags)
{
	struct msghdr msg = { .msg_flags = flags | MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = (void *)bytes, .iov_len = len };

	return kernel_sendmsg(c->far, &msg, &vec, 1, len);
}

static void amb_54_an_urgent_byte_is_payload(struct kunit *test)
{
	struct carrier c;

	carrier_begin(test, &c);
	carrier_watch(&c);
	KUNIT_EXPECT_FALSE(test, smc_tcp_holds_payload(c.near->sk));
	KUNIT_EXPECT_EQ(test, carrier_far_says(&c, "!", 1, MSG_OOB), 1);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(tcp_sk(c.near->sk)->urg_data) &
					     TCP_URG_VALID));
	KUNIT_EXPECT_TRUE(test, smc_tcp_holds_payload(c.near->sk));
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(nr_payloads)));
	KUNIT_EXPECT_EQ(test, nr_woken, 0U);
}

/*
 * Payload counts, even the bytes of a Decline: a deployed server sends one on a connection
 * that we consider established, and continues with TCP (protocol.md).
 */
static void amb_54_a_late_decline_is_payload(struct kunit *test)
{
	static const u8 decline[28] = { 0xe2, 0xd4, 0xc3, 0xd9, 4, 0, 28, 0x10 };
	struct carrier c;

	carrier_begin(test, &c);
	carrier_watch(&c);
	KUNIT_EXPECT_FALSE(test, smc_tcp_holds_payload(c.near->sk));
	KUNIT_EXPECT_EQ(test, nr_payloads, 0UL);
	KUNIT_EXPECT_EQ(test, carrier_far_says(&c, decline, sizeof(decline), 0),
			sizeof(decline));
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(nr_payloads)));
	KUNIT_EXPECT_TRUE(test, smc_tcp_holds_payload(c.near->sk));
	KUNIT_EXPECT_EQ(test, nr_woken, 0U);
}

/* No event is reported from before the watch was set: the caller checks the queue itself. */
static void amb_54_a_decline_before_the_watch_is_seen(struct kunit *test)
{
	struct carrier c;

	carrier_begin(test, &c);
	KUNIT_EXPECT_EQ(test, carrier_far_says(&c, "\xe2", 1, 0), 1);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(tcp_inq(c.near->sk) == 1));
	carrier_watch(&c);
	KUNIT_EXPECT_TRUE(test, smc_tcp_holds_payload(c.near->sk));
	KUNIT_EXPECT_EQ(test, nr_payloads, 0UL);
}

/* Bytes that arrive after the close machine has ended TCP do not count. */
static void amb_54_what_comes_behind_the_end_is_no_payload(struct kunit *test)
{
	struct carrier c;

	carrier_begin(test, &c);
	carrier_watch(&c);
	c.smc->has_tcp_ended = true;
	KUNIT_EXPECT_EQ(test, carrier_far_says(&c, "\xe2", 1, 0), 1);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(tcp_inq(c.near->sk) == 1));
	/* until the call that received them has returned */
	lock_sock(c.near->sk);
	release_sock(c.near->sk);
	KUNIT_EXPECT_EQ(test, nr_payloads, 0UL);
	KUNIT_EXPECT_EQ(test, nr_woken, 0U);
}

/* Deployed peers send their FIN at close(), while SMC data is in flight. */
static void close_01_a_fin_on_tcp_has_no_effect(struct kunit *test)
{
	struct carrier c;

	carrier_begin(test, &c);
	carrier_watch(&c);
	KUNIT_EXPECT_EQ(test, kernel_sock_shutdown(c.far, SHUT_WR), 0);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(c.near->sk->sk_state) == TCP_CLOSE_WAIT));
	KUNIT_EXPECT_FALSE(test, smc_tcp_holds_payload(c.near->sk));
	KUNIT_EXPECT_EQ(test, nr_payloads + nr_resets, 0UL);
	/* a reset counts, but is no error for the application */
	tcp_abort(c.far->sk, ECONNRESET);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(nr_resets)));
	KUNIT_EXPECT_EQ(test, nr_payloads, 0UL);
	lock_sock(c.near->sk);
	KUNIT_EXPECT_NE(test, c.smc->tcp_err, 0);
	KUNIT_EXPECT_EQ(test, c.near->sk->sk_err, 0);
	release_sock(c.near->sk);
	KUNIT_EXPECT_EQ(test, nr_woken, 0U);
}

/* The error is SMC's, and the application can still ask for its address. */
static void close_01_a_reset_of_tcp_leaves_error_and_addresses(struct kunit *test)
{
	struct inet_sock *inet;
	struct carrier c;
	struct sock *sk;
	u8 locks;

	carrier_begin(test, &c);
	carrier_watch(&c);
	sk = c.near->sk;
	inet = inet_sk(sk);
	lock_sock(sk);
	/* as for a client, whose address TCP chose */
	sk->sk_userlocks &= ~SOCK_BINDADDR_LOCK;
	locks = sk->sk_userlocks;
	c.smc->err = ETIMEDOUT;
	sk->sk_err = ETIMEDOUT;
	sk->sk_peek_off = 5;
	c.smc->has_tcp_ended = true;
	smc_tcp_reset(sk);
	KUNIT_EXPECT_EQ(test, (int)sk->sk_state, TCP_CLOSE);
	KUNIT_EXPECT_EQ(test, sk->sk_err, ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, sk->sk_shutdown, SHUTDOWN_MASK);
	KUNIT_EXPECT_EQ(test, (u8)sk->sk_userlocks, locks);
	KUNIT_EXPECT_EQ(test, sk->sk_peek_off, 5);
	KUNIT_EXPECT_EQ(test, ntohl(inet->inet_rcv_saddr), (u32)INADDR_LOOPBACK);
	KUNIT_EXPECT_EQ(test, ntohl(inet->inet_daddr), (u32)INADDR_LOOPBACK);
	KUNIT_EXPECT_EQ(test, inet->inet_sport, inet_sk(c.far->sk)->inet_dport);
	KUNIT_EXPECT_EQ(test, inet->inet_dport, inet_sk(c.far->sk)->inet_sport);
	release_sock(sk);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(c.far->sk->sk_err) == ECONNRESET));
	/* the close machine did it */
	KUNIT_EXPECT_EQ(test, nr_payloads + nr_resets, 0UL);
	KUNIT_EXPECT_EQ(test, nr_woken, 0U);
}

/* With PREEMPT_RT a task that answers a SYN may be preempted by another one on its CPU. */
static void opt_04_only_the_task_that_answers_a_syn_sees_it(struct kunit *test)
{
	const struct sk_buff *syn = (void *)test, *own, *other, *later;

	local_bh_disable();
	this_cpu_write(smc_tcp_answer.syn, syn);
	this_cpu_write(smc_tcp_answer.task, current);
	own = smc_tcp_answered_syn();
	this_cpu_write(smc_tcp_answer.task, &init_task);
	other = smc_tcp_answered_syn();
	this_cpu_write(smc_tcp_answer.task, NULL);
	later = smc_tcp_answered_syn();
	local_bh_enable();
	KUNIT_EXPECT_PTR_EQ(test, own, syn);
	KUNIT_EXPECT_NULL(test, other);
	KUNIT_EXPECT_NULL(test, later);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_new_sock_is_tcps_and_has_a_state),
	KUNIT_CASE(gen_06_nothing_of_ours_is_left_on_a_sock_of_tcp),
	KUNIT_CASE(gen_06_a_file_gets_tcps_operations),
	KUNIT_CASE(a_child_of_a_listener_that_ends_is_plain),
	KUNIT_CASE(a_call_holds_the_module),
	KUNIT_CASE(a_function_of_tcp_that_is_unknown_is_refused),
	KUNIT_CASE(gen_06_a_child_is_remembered_later),
	KUNIT_CASE(a_socket_that_may_use_smc_is_refused_to_a_sockmap),
	KUNIT_CASE(a_callback_of_tcp_is_handled_by_phase),
	KUNIT_CASE(notices_wake_their_waiters),
	KUNIT_CASE(an_error_of_tcp_is_none_of_smc),
	KUNIT_CASE(opt_08_a_client_counts_what_the_peer_has_offered),
	KUNIT_CASE(opt_08_a_client_is_tcps_where_the_server_has_no_smc),
	KUNIT_CASE(opt_08_a_client_that_offers_nothing_knows_why),
	KUNIT_CASE(opt_08_a_child_that_has_agreed_is_adopted),
	KUNIT_CASE(a_client_enters_where_its_server_may_be),
	KUNIT_CASE(a_child_on_this_host_is_born_by_a_bare_acknowledgment),
	KUNIT_CASE(an_unaccepted_child_is_dropped_in_time),
	KUNIT_CASE(children_without_smc_are_born_with_nothing_of_ours),
	KUNIT_CASE(a_child_of_one_that_listens_no_more_is_tcps),
	KUNIT_CASE(a_child_of_one_that_leaves_is_tcps),
	KUNIT_CASE(a_socket_that_tcp_closes_begins_no_handshake),
	KUNIT_CASE(one_for_smc_between_others_is_counted),
	KUNIT_CASE(children_that_are_ready_take_places_of_the_backlog),
	KUNIT_CASE(an_operator_ends_a_listener_with_children),
	KUNIT_CASE(opt_08_a_child_counts_what_its_client_was_offered),
	KUNIT_CASE(amb_54_an_urgent_byte_is_payload),
	KUNIT_CASE(amb_54_a_late_decline_is_payload),
	KUNIT_CASE(amb_54_a_decline_before_the_watch_is_seen),
	KUNIT_CASE(amb_54_what_comes_behind_the_end_is_no_payload),
	KUNIT_CASE(close_01_a_fin_on_tcp_has_no_effect),
	KUNIT_CASE(close_01_a_reset_of_tcp_leaves_error_and_addresses),
	KUNIT_CASE(opt_04_only_the_task_that_answers_a_syn_sees_it),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_tcp",
	.suite_init = tcp_suite_init,
	.suite_exit = tcp_suite_exit,
	.init = tcp_test_init,
	.exit = tcp_test_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
