// SPDX-License-Identifier: GPL-2.0
/*
 * Whose the callbacks of an inner TCP socket are: ours, a sockmap's, TCP's.
 */
#include "smc_kunit.h"
#include <linux/kthread.h>
#include <linux/rtnetlink.h>

#include "../../../net/smc/smc_tcp.c"

struct tcp_case {
	struct smc_sock *smc;
	struct sock *sk;
};

static unsigned int nr_queued;
static unsigned long nr_faults;
static unsigned long nr_resets;

/* What the floors around would do with news; they are counted here. */
bool smc_sock_queue(struct smc_sock *smc, struct work_struct *work)
{
	nr_queued++;
	return false;
}

static unsigned int nr_now, nr_later;

void smc_sock_queue_listen(struct smc_sock *smc, unsigned long delay_jiffies)
{
	if (delay_jiffies) {
		nr_later++;
		return;
	}
	nr_queued++;
	nr_now++;
}

void smc_sock_pend(struct smc_sock *smc, enum smc_pending what)
{
	if (what == SMC_PENDING_FAULT)
		WRITE_ONCE(nr_faults, nr_faults + 1);
	if (what == SMC_PENDING_RESET)
		WRITE_ONCE(nr_resets, nr_resets + 1);
}

void smc_sock_wake_sleepers(struct smc_sock *smc)
{
}

void smc_sock_wake_attending(struct smc_sock *smc)
{
}

/* Of our own sock, which nobody waits at. */
static void wake_nobody(struct sock *sk)
{
}

static void sockmap_data_ready(struct sock *sk)
{
}

static int tcp_test_init(struct kunit *test)
{
	struct tcp_case *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	int rc;

	if (!c)
		return -ENOMEM;
	c->smc = kunit_kzalloc(test, sizeof(*c->smc), GFP_KERNEL);
	if (!c->smc || !smc_tcp_sample(PF_INET))
		return -ENOMEM;
	rc = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &c->smc->tcp);
	if (rc)
		return rc;
	c->smc->sk.sk_data_ready = wake_nobody;
	c->sk = c->smc->tcp->sk;
	test->priv = c;
	return 0;
}

static void tcp_test_exit(struct kunit *test)
{
	struct tcp_case *c = test->priv;

	if (c)
		sock_release(c->smc->tcp);
}

static struct sk_psock *join_sockmap(struct kunit *test, struct sock *sk, bool has_program)
{
	struct sk_psock *psock = sk_psock_init(sk, NUMA_NO_NODE);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, psock);
	if (has_program) {
		psock->saved_data_ready = sk->sk_data_ready;
		sk->sk_data_ready = sockmap_data_ready;
	}
	return psock;
}

/* Takes its callback back as sockmaps do. */
static void leave_sockmap(struct sock *sk, struct sk_psock *psock)
{
	if (psock->saved_data_ready)
		sk->sk_data_ready = psock->saved_data_ready;
	sk_psock_put(sk, psock);
}

static void *user_data(struct sock *sk)
{
	return (void *)((uintptr_t)sk->sk_user_data & SK_USER_DATA_PTRMASK);
}

static void expect_plain(struct kunit *test, struct sock *sk)
{
	KUNIT_EXPECT_NULL(test, user_data(sk));
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_state_change, smc_tcp_own.state_change);
	KUNIT_EXPECT_PTR_EQ(test, sk->sk_data_ready, smc_tcp_own.data_ready);
	KUNIT_EXPECT_TRUE(test, !tcp_sk(sk)->smc_hs_congested);
	KUNIT_EXPECT_PTR_EQ(test, inet_csk(sk)->icsk_af_ops, smc_tcp_af[0].own);
}

static void a_socket_that_is_watched_is_refused_to_a_sockmap(struct kunit *test)
{
	struct tcp_case *c = test->priv;

	KUNIT_EXPECT_TRUE(test, smc_tcp_watch(c->smc, SMC_TCP_HANDSHAKE));
	KUNIT_EXPECT_PTR_EQ(test, user_data(c->sk), (void *)c->smc);
	KUNIT_EXPECT_EQ(test, PTR_ERR(sk_psock_init(c->sk, NUMA_NO_NODE)), -EBUSY);
	KUNIT_EXPECT_TRUE(test, smc_tcp_watch(c->smc, SMC_TCP_CARRIER));
	smc_tcp_unwatch(c->smc);
	expect_plain(test, c->sk);
}

static void a_socket_in_a_sockmap_is_not_watched(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct sk_psock *psock = join_sockmap(test, c->sk, true);

	KUNIT_EXPECT_FALSE(test, smc_tcp_watch(c->smc, SMC_TCP_HANDSHAKE));
	KUNIT_EXPECT_PTR_EQ(test, user_data(c->sk), (void *)psock);
	KUNIT_EXPECT_PTR_EQ(test, c->sk->sk_data_ready, &sockmap_data_ready);
	smc_tcp_unwatch(c->smc);
	leave_sockmap(c->sk, psock);
	expect_plain(test, c->sk);
}

/* Its data have the place, and one flag, of ours; what is in them looks like ours here. */
static void news_of_a_socket_in_a_sockmap_are_not_for_us(struct kunit *test)
{
	struct tcp_case *c = test->priv;

	/* a call that has begun before the socket was ours no more */
	c->sk->sk_state_change = smc_tcp_state_change;
	c->sk->sk_data_ready = smc_tcp_data_ready;
	c->smc->tcp_phase = SMC_TCP_HANDSHAKE;
	nr_queued = 0;
	write_lock_bh(&c->sk->sk_callback_lock);
	__rcu_assign_sk_user_data_with_flags(c->sk, c->smc,
					     SK_USER_DATA_NOCOPY | SK_USER_DATA_PSOCK);
	write_unlock_bh(&c->sk->sk_callback_lock);
	c->sk->sk_state_change(c->sk);
	c->sk->sk_data_ready(c->sk);
	KUNIT_EXPECT_EQ(test, nr_queued, 0);

	write_lock_bh(&c->sk->sk_callback_lock);
	__rcu_assign_sk_user_data_with_flags(c->sk, c->smc, SK_USER_DATA_NOCOPY);
	write_unlock_bh(&c->sk->sk_callback_lock);
	c->sk->sk_state_change(c->sk);
	c->sk->sk_data_ready(c->sk);
	KUNIT_EXPECT_EQ(test, nr_queued, 2);
	smc_tcp_unwatch(c->smc);
}

static void a_sockmap_stays_when_tcp_takes_over(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct sk_psock *psock = join_sockmap(test, c->sk, false);

	smc_tcp_unwatch(c->smc);
	KUNIT_EXPECT_PTR_EQ(test, user_data(c->sk), (void *)psock);
	KUNIT_EXPECT_PTR_EQ(test, c->sk->sk_data_ready, smc_tcp_own.data_ready);
	leave_sockmap(c->sk, psock);
	expect_plain(test, c->sk);
}

static void a_program_of_a_sockmap_stays_when_tcp_takes_over(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct sk_psock *psock = join_sockmap(test, c->sk, true);

	smc_tcp_unwatch(c->smc);
	KUNIT_EXPECT_PTR_EQ(test, user_data(c->sk), (void *)psock);
	KUNIT_EXPECT_PTR_EQ(test, c->sk->sk_data_ready, &sockmap_data_ready);
	leave_sockmap(c->sk, psock);
	expect_plain(test, c->sk);
}

/* Who falls back wakes nobody who was. */
static void opt_10_what_was_told_of_an_attempt_ends_with_it(struct kunit *test)
{
	struct tcp_case *c = test->priv;

	c->smc->was_told = true;
	c->smc->has_missed = true;
	smc_tcp_watch(c->smc, SMC_TCP_CONNECTING);
	KUNIT_EXPECT_FALSE(test, c->smc->was_told);
	KUNIT_EXPECT_FALSE(test, c->smc->has_missed);
	/* the handshake goes on with what the same connect() has told */
	c->smc->was_told = true;
	smc_tcp_watch(c->smc, SMC_TCP_HANDSHAKE);
	KUNIT_EXPECT_TRUE(test, c->smc->was_told);
	smc_tcp_unwatch(c->smc);
}

/* poll() has seen a listener, and since then the file is TCP's. */
static void a_listener_that_has_gone_has_nothing_to_accept(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct socket *tcp = c->smc->tcp;
	bool is_agreed;

	KUNIT_EXPECT_FALSE(test, smc_tcp_peek(c->smc, &is_agreed));
	tcp->sk = NULL;
	KUNIT_EXPECT_FALSE(test, smc_tcp_peek(c->smc, &is_agreed));
	tcp->sk = c->sk;
	c->smc->tcp = NULL;
	KUNIT_EXPECT_FALSE(test, smc_tcp_peek(c->smc, &is_agreed));
	c->smc->tcp = tcp;
}

/* TCP over loopback: @listener listens, and @far is to be connected. */
struct tcp_pair {
	struct socket *listener;
	struct socket *far;
};

static void tcp_pair_free(void *ctx)
{
	struct tcp_pair *pair = ctx;

	if (pair->far)
		sock_release(pair->far);
	if (pair->listener)
		sock_release(pair->listener);
}

static void tcp_pair_begin(struct kunit *test, struct tcp_pair *pair, bool is_shared)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	memset(pair, 0, sizeof(*pair));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, tcp_pair_free, pair), 0);
	rtnl_lock();
	dev_change_flags(init_net.loopback_dev, init_net.loopback_dev->flags | IFF_UP, NULL);
	rtnl_unlock();
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &pair->listener), 0);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &pair->far), 0);
	pair->listener->sk->sk_reuseport = is_shared;
	KUNIT_ASSERT_EQ(test, kernel_bind(pair->listener, (struct sockaddr *)&addr,
					  sizeof(addr)), 0);
	KUNIT_ASSERT_EQ(test, kernel_listen(pair->listener, 4), 0);
}

static void tcp_pair_connect(struct kunit *test, struct tcp_pair *pair, struct socket *to)
{
	struct sockaddr_in addr;

	KUNIT_ASSERT_GT(test, kernel_getsockname(to, (struct sockaddr *)&addr), 0);
	KUNIT_ASSERT_EQ(test, kernel_connect(pair->far, (struct sockaddr *)&addr,
					     sizeof(addr), 0), 0);
}

/* What loopback carries comes before long; who waits for so long has failed. */
#define tcp_wait_for(cond) ({						\
	unsigned long end = jiffies + 20 * HZ;				\
	bool is_met;							\
									\
	while (!(is_met = (cond)) && time_before(jiffies, end))		\
		schedule_timeout_uninterruptible(1);			\
	is_met;								\
})

/* A connection that carries an SMC one, before anybody looks at it. */
static struct socket *carrier_begin(struct kunit *test, struct tcp_pair *pair)
{
	struct tcp_case *c = test->priv;
	struct socket *near;

	tcp_pair_begin(test, pair, false);
	tcp_pair_connect(test, pair, pair->listener);
	KUNIT_ASSERT_EQ(test, kernel_accept(pair->listener, &near, 0), 0);
	c->smc->tcp = near;
	nr_faults = 0;
	return near;
}

/* TCP does not look at the option where SYNs cross. */
static void opt_08_a_client_counts_what_the_peer_has_offered(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct tcp_sock *tp = tcp_sk(c->sk);
	struct smc_child child;

	inet_sk(c->sk)->inet_dport = htons(1);
	tp->syn_smc = 1;
	KUNIT_EXPECT_FALSE(test, smc_tcp_is_agreed(c->smc));
	tp->rx_opt.smc_ok = 1;
	KUNIT_EXPECT_TRUE(test, smc_tcp_is_agreed(c->smc));
	tp->syn_smc = 0;
	KUNIT_EXPECT_FALSE(test, smc_tcp_is_agreed(c->smc));
	/* at a server the SYN's option is the request's, and TCP has looked at it */
	tp->syn_smc = 1;
	tp->rx_opt.smc_ok = 0;
	c->smc->child = &child;
	KUNIT_EXPECT_TRUE(test, smc_tcp_is_agreed(c->smc));
	inet_sk(c->sk)->inet_dport = 0;
}

static void amb_54_an_urgent_byte_is_payload(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct msghdr msg = { .msg_flags = MSG_OOB | MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = "!", .iov_len = 1 };
	struct socket *unused = c->smc->tcp;
	static struct tcp_pair pair;
	struct socket *near;

	near = carrier_begin(test, &pair);
	smc_tcp_watch(c->smc, SMC_TCP_CARRIER);
	KUNIT_EXPECT_FALSE(test, smc_tcp_has_payload(c->smc));
	KUNIT_EXPECT_EQ(test, kernel_sendmsg(pair.far, &msg, &vec, 1, 1), 1);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(tcp_sk(near->sk)->urg_data) &
					     TCP_URG_VALID));
	/* TCP tells of it before it lets go of its lock */
	KUNIT_EXPECT_TRUE(test, smc_tcp_has_payload(c->smc));
	KUNIT_EXPECT_GT(test, READ_ONCE(nr_faults), 0);
	smc_tcp_unwatch(c->smc);
	c->smc->tcp = unused;
	sock_release(near);
}

/*
 * Bytes are, also those of a Decline: a deployed server sends one on a connection that
 * we take for established, and goes on with TCP alone (protocol.md).
 */
static void amb_54_a_late_decline_is_payload(struct kunit *test)
{
	static u8 decline[28] = { 0xe2, 0xd4, 0xc3, 0xd9, 4, 0, 28, 0x10 };
	struct tcp_case *c = test->priv;
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = decline, .iov_len = sizeof(decline) };
	struct socket *unused = c->smc->tcp;
	static struct tcp_pair pair;
	struct socket *near;

	near = carrier_begin(test, &pair);
	smc_tcp_watch(c->smc, SMC_TCP_CARRIER);
	KUNIT_EXPECT_FALSE(test, smc_tcp_has_payload(c->smc));
	KUNIT_EXPECT_EQ(test, nr_faults, 0);
	KUNIT_EXPECT_EQ(test, kernel_sendmsg(pair.far, &msg, &vec, 1, sizeof(decline)),
			sizeof(decline));
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(nr_faults)));
	KUNIT_EXPECT_TRUE(test, smc_tcp_has_payload(c->smc));
	smc_tcp_unwatch(c->smc);
	c->smc->tcp = unused;
	sock_release(near);
}

/* Deployed peers send theirs as soon as they close, while SMC data is under way. */
static void close_01_a_fin_of_the_carrier_is_no_news(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct socket *unused = c->smc->tcp;
	static struct tcp_pair pair;
	struct socket *near;

	near = carrier_begin(test, &pair);
	nr_resets = 0;
	smc_tcp_watch(c->smc, SMC_TCP_CARRIER);
	KUNIT_EXPECT_EQ(test, kernel_sock_shutdown(pair.far, SHUT_WR), 0);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(near->sk->sk_state) == TCP_CLOSE_WAIT));
	KUNIT_EXPECT_FALSE(test, smc_tcp_has_payload(c->smc));
	KUNIT_EXPECT_EQ(test, nr_faults + nr_resets, 0);
	/* a reset is */
	tcp_abort(pair.far->sk, ECONNRESET);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(nr_resets)));
	KUNIT_EXPECT_EQ(test, nr_faults, 0);
	smc_tcp_unwatch(c->smc);
	c->smc->tcp = unused;
	sock_release(near);
}

/* Nobody is told of what came before there was a watch: whoever sets it looks himself. */
static void amb_54_a_decline_before_the_watch_is_seen(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = "\xe2", .iov_len = 1 };
	struct socket *unused = c->smc->tcp;
	static struct tcp_pair pair;
	struct socket *near;

	near = carrier_begin(test, &pair);
	KUNIT_EXPECT_EQ(test, kernel_sendmsg(pair.far, &msg, &vec, 1, 1), 1);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(tcp_inq(near->sk) == 1));
	smc_tcp_watch(c->smc, SMC_TCP_CARRIER);
	KUNIT_EXPECT_TRUE(test, smc_tcp_has_payload(c->smc));
	KUNIT_EXPECT_EQ(test, nr_faults, 0);
	smc_tcp_unwatch(c->smc);
	c->smc->tcp = unused;
	sock_release(near);
}

static bool offers_nothing(const struct sock *sk)
{
	return true;
}

/* TCP may move them to a listener of somebody else on the same port, and asks nobody. */
static void children_are_born_with_nothing_of_ours(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct socket *unused = c->smc->tcp;
	static struct tcp_pair plain, agreed;
	struct request_sock_queue *queue;
	struct sock *first, *second;

	tcp_pair_begin(test, &plain, true);
	tcp_pair_begin(test, &agreed, false);
	c->smc->tcp = plain.listener;
	queue = &inet_csk(plain.listener->sk)->icsk_accept_queue;
	tcp_sk(plain.listener->sk)->smc_hs_congested = offers_nothing;
	smc_tcp_watch(c->smc, SMC_TCP_LISTENING);
	tcp_pair_connect(test, &plain, plain.listener);
	tcp_pair_connect(test, &agreed, plain.listener);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(plain.listener->sk->sk_ack_backlog == 2));
	first = queue->rskq_accept_head->sk;
	second = queue->rskq_accept_tail->sk;
	expect_plain(test, first);
	expect_plain(test, second);
	tcp_sk(second)->syn_smc = 1;

	smc_tcp_leave_children(c->smc);
	KUNIT_EXPECT_EQ(test, (int)first->sk_state, TCP_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, (int)second->sk_state, TCP_CLOSE);
	KUNIT_EXPECT_EQ(test, smc_tcp_disconnect(c->smc), 0);
	smc_tcp_unwatch(c->smc);
	expect_plain(test, plain.listener->sk);
	c->smc->tcp = unused;
}

/* It was born here, but TCP has moved its request from another listener. */
static void opt_08_a_child_counts_what_its_client_was_offered(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	static struct tcp_pair pair;
	struct request_sock *req;

	tcp_pair_begin(test, &pair, true);
	req = kunit_kzalloc(test, sizeof(struct tcp_request_sock), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, req);
	tcp_sk(c->sk)->syn_smc = 1;
	/* of a SYN cookie, of which TCP itself knows */
	smc_tcp_born(c->sk, req);
	KUNIT_EXPECT_TRUE(test, tcp_sk(c->sk)->syn_smc);
	req->rsk_listener = pair.listener->sk;
	tcp_sk(req->rsk_listener)->syn_smc = 1;
	smc_tcp_born(c->sk, req);
	KUNIT_EXPECT_TRUE(test, tcp_sk(c->sk)->syn_smc);
	tcp_sk(req->rsk_listener)->syn_smc = 0;
	smc_tcp_born(c->sk, req);
	KUNIT_EXPECT_FALSE(test, tcp_sk(c->sk)->syn_smc);
}

static struct sock *acknowledge(struct sock *sk)
{
	void (*opt_child_init)(struct sock *newsk, const struct sock *sk) __maybe_unused = NULL;
	struct request_sock *req = NULL, *req_unhash = NULL;
	struct dst_entry *dst = NULL;
	struct sk_buff *skb = NULL;
	bool *own_req = NULL;
	struct sock *child;

	local_bh_disable();
	child = smc_tcp_syn_recv_sock SMC_SYN_RECV_ARGS;
	local_bh_enable();
	return child;
}

/* A backlog of 4 has five places, as with TCP, whoever takes them. */
static void children_that_are_ready_take_places_of_the_backlog(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct socket *unused = c->smc->tcp;
	static struct tcp_pair pair, late;
	struct smc_listener *listener;
	struct sockaddr_in addr;
	struct sock *sk;

	listener = kunit_kzalloc(test, sizeof(*listener), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, listener);
	listener->nr[SMC_CHILD_READY] = 4;
	RCU_INIT_POINTER(c->smc->listener, listener);

	tcp_pair_begin(test, &pair, true);
	tcp_pair_begin(test, &late, false);
	sk = pair.listener->sk;
	c->smc->tcp = pair.listener;
	smc_tcp_watch(c->smc, SMC_TCP_LISTENING);
	tcp_pair_connect(test, &pair, pair.listener);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(sk->sk_ack_backlog) == 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&sk->sk_drops), 0);

	KUNIT_ASSERT_GT(test, kernel_getsockname(pair.listener, (struct sockaddr *)&addr), 0);
	KUNIT_EXPECT_EQ(test, kernel_connect(late.far, (struct sockaddr *)&addr, sizeof(addr),
					     O_NONBLOCK), -EINPROGRESS);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(atomic_read(&sk->sk_drops)));
	KUNIT_EXPECT_NULL(test, acknowledge(sk));
	/* what TCP looks at when the listener ends */
	KUNIT_EXPECT_EQ(test, sk->sk_ack_backlog, 1);
	WRITE_ONCE(listener->nr[SMC_CHILD_READY], 0);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(READ_ONCE(sk->sk_ack_backlog) == 2));
	KUNIT_EXPECT_EQ(test, smc_tcp_disconnect(c->smc), 0);
	smc_tcp_unwatch(c->smc);
	c->smc->tcp = unused;
}

/* Two have come at the same time, and both calls have found the second to be the newest. */
static void one_for_smc_between_others_is_found(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct socket *unused = c->smc->tcp;
	struct request_sock_queue *queue;
	static struct tcp_pair pair[3];
	struct sock *sk;
	int i;

	for (i = 0; i < ARRAY_SIZE(pair); i++)
		tcp_pair_begin(test, &pair[i], !i);
	sk = pair[0].listener->sk;
	c->smc->tcp = pair[0].listener;
	queue = &inet_csk(sk)->icsk_accept_queue;
	nr_now = 0;
	nr_later = 0;

	tcp_pair_connect(test, &pair[0], pair[0].listener);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(sk->sk_ack_backlog) == 1));
	smc_tcp_mind_others(c->smc);
	KUNIT_EXPECT_EQ(test, nr_later, 0);

	for (i = 1; i < ARRAY_SIZE(pair); i++)
		tcp_pair_connect(test, &pair[i], pair[0].listener);
	KUNIT_ASSERT_TRUE(test, tcp_wait_for(READ_ONCE(sk->sk_ack_backlog) == 3));
	tcp_sk(queue->rskq_accept_head->dl_next->sk)->syn_smc = 1;
	smc_tcp_mind_others(c->smc);
	KUNIT_EXPECT_EQ(test, nr_now, 0);
	KUNIT_EXPECT_EQ(test, nr_later, 1);
	KUNIT_EXPECT_EQ(test, smc_tcp_nr_to_agreed(c->smc), 2);

	tcp_sk(queue->rskq_accept_tail->sk)->syn_smc = 1;
	smc_tcp_mind_others(c->smc);
	KUNIT_EXPECT_EQ(test, nr_now, 1);
	KUNIT_EXPECT_EQ(test, nr_later, 1);
	c->smc->tcp = unused;
}

static int take_file_back(void *arg)
{
	smc_tcp_lend_file(arg, NULL);
	return 0;
}

/* TCP finds the owner of SIGURG through it, under the lock of its socket. */
static void the_file_is_taken_back_when_tcp_does_not_use_it(struct kunit *test)
{
	struct tcp_case *c = test->priv;
	struct task_struct *task;
	struct file file;

	smc_tcp_lend_file(c->smc, &file);
	KUNIT_EXPECT_PTR_EQ(test, c->smc->tcp->file, &file);
	lock_sock(c->sk);
	task = kthread_create(take_file_back, c->smc, "smc_tcp_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(wq_has_sleeper(&c->sk->sk_lock.wq) ||
					     !READ_ONCE(c->smc->tcp->file)));
	KUNIT_EXPECT_PTR_EQ(test, READ_ONCE(c->smc->tcp->file), &file);
	release_sock(c->sk);
	KUNIT_EXPECT_TRUE(test, tcp_wait_for(!READ_ONCE(c->smc->tcp->file)));
	kthread_stop(task);
	put_task_struct(task);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_socket_that_is_watched_is_refused_to_a_sockmap),
	KUNIT_CASE(a_socket_in_a_sockmap_is_not_watched),
	KUNIT_CASE(news_of_a_socket_in_a_sockmap_are_not_for_us),
	KUNIT_CASE(a_sockmap_stays_when_tcp_takes_over),
	KUNIT_CASE(a_program_of_a_sockmap_stays_when_tcp_takes_over),
	KUNIT_CASE(opt_10_what_was_told_of_an_attempt_ends_with_it),
	KUNIT_CASE(a_listener_that_has_gone_has_nothing_to_accept),
	KUNIT_CASE(opt_08_a_client_counts_what_the_peer_has_offered),
	KUNIT_CASE(amb_54_an_urgent_byte_is_payload),
	KUNIT_CASE(amb_54_a_late_decline_is_payload),
	KUNIT_CASE(close_01_a_fin_of_the_carrier_is_no_news),
	KUNIT_CASE(amb_54_a_decline_before_the_watch_is_seen),
	KUNIT_CASE(children_are_born_with_nothing_of_ours),
	KUNIT_CASE(opt_08_a_child_counts_what_its_client_was_offered),
	KUNIT_CASE(children_that_are_ready_take_places_of_the_backlog),
	KUNIT_CASE(one_for_smc_between_others_is_found),
	KUNIT_CASE(the_file_is_taken_back_when_tcp_does_not_use_it),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_tcp",
	.init = tcp_test_init,
	.exit = tcp_test_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
