// SPDX-License-Identifier: GPL-2.0
/*
 * A socket is handed to TCP: a struct socket with a sock of ours that nothing is
 * behind, and an inner TCP socket.
 */
#include "smc_kunit.h"

#include "../../../net/smc/smc_ib.h"
#include "../../../net/smc/smc_net.h"
#include "../../../net/smc/smc_sock.h"
#include "../../../net/smc/smc_tcp.h"

/* nobody looks */
#define SMC_TRACE_H

static void trace_smc_switch_to_fallback(struct smc_sock *smc, struct sock *tsk,
					 enum smc_decline reason)
{
}

/* Those of the inner socket, which smc_tcp_init() has learnt elsewhere. */
static const struct proto_ops *fallback_tcp_ops;

static const struct proto_ops *fallback_ops_of(const struct socket *sock)
{
	return sock->ops->family == PF_SMC ? fallback_tcp_ops : sock->ops;
}

/* other suites have some of these names for what they make up */
#define smc_fallback_next fallback_next
#define smc_fallback_graft fallback_graft
#define smc_fallback_forward fallback_forward
#define smc_sock_unhash(...) ((void)0)
#define smc_sock_leave_file(...) ((void)0)
#define smc_tcp_ops fallback_ops_of
#define smc_ib_has_device() true

#include "../../../net/smc/smc_fallback.c"

static struct proto fallback_proto = {
	.name = "smc_fallback_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct smc_sock),
};

static const struct proto_ops fallback_ours = {
	.family = PF_SMC,
	.owner = THIS_MODULE,
};

static int fallback_net_init(struct net *net)
{
	smc_net(net)->stats = alloc_percpu(struct smc_stats_cpu);
	return smc_net(net)->stats ? 0 : -ENOMEM;
}

static void fallback_net_exit(struct net *net)
{
	smc_fallback_exit_net(net);
	free_percpu(smc_net(net)->stats);
}

static struct pernet_operations fallback_net_ops = {
	.init = fallback_net_init,
	.exit = fallback_net_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_net),
};

static int fallback_suite_init(struct kunit_suite *suite)
{
	return register_pernet_subsys(&fallback_net_ops);
}

static void fallback_suite_exit(struct kunit_suite *suite)
{
	unregister_pernet_subsys(&fallback_net_ops);
}

/* As socket() leaves one. */
static struct smc_sock *fallback_new(struct kunit *test, struct socket **sock)
{
	struct smc_sock *smc;
	struct sock *sk;

	KUNIT_ASSERT_EQ(test, sock_create_lite(PF_INET, SOCK_STREAM, 0, sock), 0);
	/* given back with the operations, or by who closes */
	__module_get(THIS_MODULE);
	(*sock)->ops = &fallback_ours;
	set_bit(SOCK_CUSTOM_SOCKOPT, &(*sock)->flags);
	sk = sk_alloc(&init_net, PF_SMC, GFP_KERNEL, &fallback_proto, 1);
	KUNIT_ASSERT_NOT_NULL(test, sk);
	sock_init_data(*sock, sk);
	smc = smc_sk(sk);
	INIT_LIST_HEAD(&smc->late_node);
	smc->fallback = SMC_DECLINE_OPTUNSUPP;
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &smc->tcp), 0);
	fallback_tcp_ops = smc->tcp->ops;
	return smc;
}

static void fallback_do_graft(struct smc_sock *smc, struct socket *sock)
{
	sock_hold(&smc->sk);
	lock_sock(&smc->sk);
	smc_fallback_graft(smc, sock);
	release_sock(&smc->sk);
}

/* Closes the file, and waits until nobody else has the sock that it had. */
static void fallback_end(struct kunit *test, struct smc_sock *smc, struct socket *sock)
{
	unsigned long end = jiffies + 20 * HZ;

	sock_release(sock);
	while (refcount_read(&smc->sk.sk_refcnt) > 1 && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->sk.sk_refcnt), 1);
	sock_put(&smc->sk);
}

static void gen_06_the_struct_socket_becomes_that_of_tcp(struct kunit *test)
{
	struct socket *sock;
	struct smc_sock *smc = fallback_new(test, &sock);
	const struct proto_ops *ops = smc->tcp->ops;
	struct sock *tsk = smc->tcp->sk;

	fallback_do_graft(smc, sock);
	KUNIT_EXPECT_PTR_EQ(test, sock->sk, tsk);
	KUNIT_EXPECT_PTR_EQ(test, tsk->sk_socket, sock);
	KUNIT_EXPECT_PTR_EQ(test, smc_fallback_forward(sock), ops);
	KUNIT_EXPECT_PTR_EQ(test, sock->ops, ops);
	KUNIT_EXPECT_FALSE(test, test_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags));
	KUNIT_EXPECT_TRUE(test, smc->is_grafted);
	KUNIT_EXPECT_TRUE(test, sock_flag(&smc->sk, SOCK_DEAD));
	/* a getsockopt() that has just found it goes on to what it looks for there */
	KUNIT_EXPECT_PTR_EQ(test, smc->sk.sk_socket, sock);
	KUNIT_EXPECT_NULL(test, smc_sock_socket(&smc->sk));
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(smc->sk.sk_wq));
	KUNIT_EXPECT_NULL(test, smc->tcp);
	fallback_end(test, smc, sock);
}

/* The core took our sock before, and TCP's operations after. */
static void api_06_a_late_rcvlowat_keeps_to_the_orphan(struct kunit *test)
{
	struct socket *sock;
	struct smc_sock *smc = fallback_new(test, &sock);
	struct sock *sk = &smc->sk;
	int rcvbuf;

	fallback_do_graft(smc, sock);
	smc_fallback_forward(sock);

	rcvbuf = sk->sk_rcvbuf;
	lock_sock(sk);
	KUNIT_EXPECT_EQ(test, sock->ops->set_rcvlowat(sk, INT_MAX), 0);
	release_sock(sk);
	KUNIT_EXPECT_EQ(test, sk->sk_rcvbuf, rcvbuf);
	fallback_end(test, smc, sock);
}

/*
 * As __sock_release() of Linux 6.1, which looks for the operations twice, with a worker's
 * graft in between: what it drops is what was held.
 */
static void gen_06_a_graft_during_close_leaves_the_counts_of_modules_alone(struct kunit *test)
{
	struct socket *sock;
	struct smc_sock *smc = fallback_new(test, &sock);
	int had = module_refcount(THIS_MODULE);
	struct module *owner = sock->ops->owner;

	fallback_do_graft(smc, sock);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had);
	KUNIT_EXPECT_PTR_EQ(test, sock->ops->owner, owner);
	KUNIT_EXPECT_PTR_EQ(test, sock->ops, &fallback_ours);

	/* as smc_release() */
	smc_tcp_ops(sock)->release(sock);
	sock->ops = NULL;
	module_put(owner);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had - 1);
	fallback_end(test, smc, sock);
}

static void gen_06_one_call_gives_back_what_was_held_for_our_operations(struct kunit *test)
{
	struct socket *sock;
	struct smc_sock *smc = fallback_new(test, &sock);
	const struct proto_ops *ops = smc->tcp->ops;
	int had = module_refcount(THIS_MODULE);

	fallback_do_graft(smc, sock);
	KUNIT_EXPECT_PTR_EQ(test, smc_fallback_forward(sock), ops);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had - 1);
	KUNIT_EXPECT_PTR_EQ(test, smc_fallback_forward(sock), ops);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), had - 1);
	fallback_end(test, smc, sock);
}

static struct kunit_case fallback_cases[] = {
	KUNIT_CASE(gen_06_the_struct_socket_becomes_that_of_tcp),
	KUNIT_CASE(api_06_a_late_rcvlowat_keeps_to_the_orphan),
	KUNIT_CASE(gen_06_a_graft_during_close_leaves_the_counts_of_modules_alone),
	KUNIT_CASE(gen_06_one_call_gives_back_what_was_held_for_our_operations),
	{}
};

static struct kunit_suite fallback_suite = {
	.name = "smc_fallback",
	.suite_init = fallback_suite_init,
	.suite_exit = fallback_suite_exit,
	.test_cases = fallback_cases,
};

kunit_test_suite(fallback_suite);
