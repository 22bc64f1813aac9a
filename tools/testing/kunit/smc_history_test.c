// SPDX-License-Identifier: GPL-2.0
/*
 * The record of connections that fell back to TCP, with TCP's own tables over loopback.
 */
#include "smc_kunit.h"
#include <linux/rtnetlink.h>

/* no traces */
#define SMC_TRACE_H
#define trace_smc_fallback(...)	((void)0)

#include "../../../net/smc/sock/smc_history.c"

static int history_net_init(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);

	sn->stats = alloc_percpu(struct smc_stats_cpu);
	return sn->stats ? 0 : -ENOMEM;
}

static void history_net_exit(struct net *net)
{
	free_percpu(smc_net(net)->stats);
	smc_history_exit_net(net);
}

static struct pernet_operations history_net_ops = {
	.init = history_net_init,
	.exit = history_net_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int history_suite_init(struct kunit_suite *suite)
{
	int rc;

	rtnl_lock();
	rc = dev_change_flags(init_net.loopback_dev, init_net.loopback_dev->flags | IFF_UP, NULL);
	rtnl_unlock();
	return rc ?: register_pernet_subsys(&history_net_ops);
}

static void history_suite_exit(struct kunit_suite *suite)
{
	unregister_pernet_subsys(&history_net_ops);
}

/* Both ends of two connections. */
struct history_lab {
	struct socket *near[2];
	struct socket *far[2];
};

static int history_connect(struct history_lab *lab, int i)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct socket *listener;
	int rc;

	rc = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &listener);
	if (rc)
		return rc;
	rc = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &lab->near[i]);
	if (!rc)
		rc = kernel_bind(listener, (struct sockaddr *)&addr, sizeof(addr));
	if (!rc)
		rc = kernel_listen(listener, 1);
	if (!rc)
		rc = min(kernel_getsockname(listener, (struct sockaddr *)&addr), 0);
	if (!rc)
		rc = kernel_connect(lab->near[i], (struct sockaddr *)&addr, sizeof(addr), 0);
	if (!rc)
		rc = kernel_accept(listener, &lab->far[i], 0);
	sock_release(listener);
	return rc;
}

static int history_init(struct kunit *test)
{
	struct history_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	test->priv = lab;
	if (!lab)
		return -ENOMEM;
	return history_connect(lab, 0) ?: history_connect(lab, 1);
}

static void history_exit(struct kunit *test)
{
	struct history_lab *lab = test->priv;
	int i;

	for (i = 0; lab && i < 2; i++) {
		if (lab->near[i])
			sock_release(lab->near[i]);
		if (lab->far[i])
			sock_release(lab->far[i]);
	}
	/* the next case has none */
	smc_history_exit_net(&init_net);
	smc_net(&init_net)->history = NULL;
}

static unsigned int history_count(u32 reason)
{
	struct smc_history_record rec;
	unsigned int pos = 0, nr = 0;

	while (smc_history_next(&init_net, &pos, &rec))
		nr += rec.reason == reason;
	return nr;
}

static void a_connection_is_remembered_while_it_lasts(struct kunit *test)
{
	struct history_lab *lab = test->priv;
	struct sock *sk = lab->near[0]->sk;
	struct smc_history_record rec;
	unsigned int pos = 0;

	smc_history_prepare(&init_net);
	smc_history_add(sk, false, SMC_DECLINE_PEERDECL, 0x1234, 0);
	KUNIT_ASSERT_TRUE(test, smc_history_next(&init_net, &pos, &rec));
	KUNIT_EXPECT_EQ(test, rec.msg.id.idiag_cookie[0], (u32)atomic64_read(&sk->sk_cookie));
	KUNIT_EXPECT_NE(test, rec.msg.id.idiag_cookie[0], 0U);
	KUNIT_EXPECT_EQ(test, rec.msg.family, AF_INET);
	KUNIT_EXPECT_EQ(test, rec.msg.id.idiag_src[0], htonl(INADDR_LOOPBACK));
	KUNIT_EXPECT_EQ(test, rec.msg.id.idiag_dst[0], htonl(INADDR_LOOPBACK));
	KUNIT_EXPECT_EQ(test, rec.msg.id.idiag_sport, inet_sk(sk)->inet_sport);
	KUNIT_EXPECT_EQ(test, rec.msg.id.idiag_dport, inet_sk(sk)->inet_dport);
	KUNIT_EXPECT_EQ(test, rec.reason, (u32)SMC_DECLINE_PEERDECL);
	KUNIT_EXPECT_EQ(test, rec.peer_diagnosis, 0x1234U);
	KUNIT_EXPECT_FALSE(test, smc_history_next(&init_net, &pos, &rec));

	/* only TCP knows of it: its file has been closed */
	sock_set_flag(sk, SOCK_DEAD);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 0U);
	sock_reset_flag(sk, SOCK_DEAD);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 1U);
	/* another socket has the same addresses by now */
	atomic64_inc(&sk->sk_cookie);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 0U);
	atomic64_dec(&sk->sk_cookie);
	KUNIT_EXPECT_EQ(test, tcp_abort(sk, ECONNRESET), 0);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 0U);
}

static void one_that_has_ended_hides_no_other(struct kunit *test)
{
	struct history_lab *lab = test->priv;

	smc_history_prepare(&init_net);
	smc_history_add(lab->near[0]->sk, false, SMC_DECLINE_PEERDECL, 0, 0);
	smc_history_add(lab->near[1]->sk, false, SMC_DECLINE_MEM, 0, 0);
	smc_history_add(lab->far[0]->sk, true, SMC_DECLINE_PEERNOSMC, 0, 0);
	KUNIT_EXPECT_EQ(test, tcp_abort(lab->near[1]->sk, ECONNRESET), 0);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 1U);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_MEM), 0U);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERNOSMC), 1U);
}

static void a_namespace_without_a_log_forgets(struct kunit *test)
{
	struct history_lab *lab = test->priv;

	smc_history_add(lab->near[0]->sk, false, SMC_DECLINE_PEERDECL, 0, 0);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 0U);
	smc_history_prepare(&init_net);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 0U);
	smc_history_add(lab->near[0]->sk, false, SMC_DECLINE_PEERDECL, 0, 0);
	/* the next call finds it */
	smc_history_prepare(&init_net);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 1U);
}

static u64 history_counted(bool is_server, enum smc_reason reason)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(smc_net(&init_net)->stats, cpu)->fallback[is_server][reason];
	return sum;
}

static void each_reason_is_counted_at_each_side_with_or_without_a_log(struct kunit *test)
{
	struct history_lab *lab = test->priv;
	u64 client = history_counted(false, SMC_REASON_PEERDECL);
	u64 server = history_counted(true, SMC_REASON_PEERDECL);
	u64 other = history_counted(true, SMC_REASON_OTHER);

	smc_history_add(lab->near[0]->sk, false, SMC_DECLINE_PEERDECL, 0, 0);
	smc_history_prepare(&init_net);
	smc_history_add(lab->near[0]->sk, false, SMC_DECLINE_PEERDECL, 0, 0);
	smc_history_add(lab->far[0]->sk, true, SMC_DECLINE_PEERDECL, 0, 0);
	smc_history_add(lab->far[0]->sk, true, (enum smc_decline)0x12345678, 0, 0);
	KUNIT_EXPECT_EQ(test, history_counted(false, SMC_REASON_PEERDECL), client + 2);
	KUNIT_EXPECT_EQ(test, history_counted(true, SMC_REASON_PEERDECL), server + 1);
	KUNIT_EXPECT_EQ(test, history_counted(true, SMC_REASON_OTHER), other + 1);
}

static void what_has_no_connection_is_not_remembered(struct kunit *test)
{
	struct socket *sock;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &sock), 0);
	smc_history_prepare(&init_net);
	smc_history_add(sock->sk, false, SMC_DECLINE_OPTUNSUPP, 0, 0);
	KUNIT_EXPECT_EQ(test, smc_net(&init_net)->history->nr, 0U);
	sock_release(sock);
}

static void the_oldest_make_room(struct kunit *test)
{
	struct history_lab *lab = test->priv;
	int i;

	smc_history_prepare(&init_net);
	smc_history_add(lab->near[0]->sk, false, SMC_DECLINE_PEERDECL, 0, 0);
	for (i = 1; i < SMC_HISTORY_RECORDS; i++)
		smc_history_add(lab->near[1]->sk, false, SMC_DECLINE_MEM, 0, 0);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 1U);
	smc_history_add(lab->near[1]->sk, false, SMC_DECLINE_MEM, 0, 0);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_PEERDECL), 0U);
	KUNIT_EXPECT_EQ(test, history_count(SMC_DECLINE_MEM), (u32)SMC_HISTORY_RECORDS);
}

/* Unlike sock_diag, and as often as it is asked. */
static void the_log_has_connections_that_are_gone(struct kunit *test)
{
	struct history_lab *lab = test->priv;
	struct smc_history_record rec;
	u64 serial = 0, before = ktime_get_real_ns();
	int i;

	KUNIT_EXPECT_FALSE(test, smc_history_read(&init_net, &serial, &rec));
	smc_history_prepare(&init_net);
	KUNIT_EXPECT_FALSE(test, smc_history_read(&init_net, &serial, &rec));
	smc_history_add(lab->near[0]->sk, false, SMC_DECLINE_PEERDECL, 0, 1234);
	smc_history_add(lab->far[0]->sk, true, SMC_DECLINE_MEM, 0, 0);
	KUNIT_EXPECT_EQ(test, tcp_abort(lab->near[0]->sk, ECONNRESET), 0);
	KUNIT_ASSERT_TRUE(test, smc_history_read(&init_net, &serial, &rec));
	KUNIT_EXPECT_EQ(test, rec.reason, (u32)SMC_DECLINE_PEERDECL);
	KUNIT_EXPECT_EQ(test, rec.memory_age_ms, 1234U);
	KUNIT_EXPECT_FALSE(test, rec.is_server);
	KUNIT_EXPECT_GE(test, rec.time_ns, before);
	KUNIT_ASSERT_TRUE(test, smc_history_read(&init_net, &serial, &rec));
	KUNIT_EXPECT_EQ(test, rec.reason, (u32)SMC_DECLINE_MEM);
	KUNIT_EXPECT_EQ(test, rec.memory_age_ms, 0U);
	KUNIT_EXPECT_TRUE(test, rec.is_server);
	KUNIT_EXPECT_FALSE(test, smc_history_read(&init_net, &serial, &rec));

	/* a reader that is overtaken continues with the oldest one */
	serial = 0;
	for (i = 0; i < SMC_HISTORY_RECORDS; i++)
		smc_history_add(lab->near[1]->sk, false, SMC_DECLINE_MEM, 0, 0);
	KUNIT_ASSERT_TRUE(test, smc_history_read(&init_net, &serial, &rec));
	KUNIT_EXPECT_EQ(test, serial, 3ULL);
	for (i = 1; smc_history_read(&init_net, &serial, &rec); i++)
		KUNIT_EXPECT_FALSE(test, rec.is_server);
	KUNIT_EXPECT_EQ(test, i, SMC_HISTORY_RECORDS);
}

static struct kunit_case history_cases[] = {
	KUNIT_CASE(a_connection_is_remembered_while_it_lasts),
	KUNIT_CASE(one_that_has_ended_hides_no_other),
	KUNIT_CASE(a_namespace_without_a_log_forgets),
	KUNIT_CASE(each_reason_is_counted_at_each_side_with_or_without_a_log),
	KUNIT_CASE(what_has_no_connection_is_not_remembered),
	KUNIT_CASE(the_oldest_make_room),
	KUNIT_CASE(the_log_has_connections_that_are_gone),
	{}
};

static struct kunit_suite history_suite = {
	.name = "smc_history",
	.suite_init = history_suite_init,
	.suite_exit = history_suite_exit,
	.init = history_init,
	.exit = history_exit,
	.test_cases = history_cases,
};

kunit_test_suite(history_suite);
