// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options where the core sets those of SOL_SOCKET by itself, as that of
 * Linux 6.1 does, on whatever kernel the suite runs: how they reach the inner
 * socket, and which never do.
 */
#include "smc_kunit.h"

#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/smc_keep.h"
#include "../../../net/smc/smc_sock.h"

#undef SMC_SETS_SOL_SOCKET
#define SMC_SETS_SOL_SOCKET false

#define smc_sock_is_ours(sk) ((sk)->sk_family == PF_SMC)

/* What the floors around would do; there are none here. */
static void opt_keep_update(struct smc_sock *smc)
{
}

static void opt_keep_changed(struct smc_sock *smc, int optname)
{
}

static int opt_keep_own(const struct smc_sock *smc, int optname)
{
	return 0;
}

#define smc_keep_update opt_keep_update
#define smc_keep_changed opt_keep_changed
#define smc_keep_own opt_keep_own

#include "../../../net/smc/smc_opt.c"

bool smc_close_is_over(const struct smc_sock *smc)
{
	return false;
}

bool smc_tx_is_writable(struct smc_conn *conn)
{
	return false;
}

void smc_tx_flush(struct smc_conn *conn)
{
}

void smc_sock_wake_writers(struct smc_sock *smc)
{
}

static int opt_nr_grafted;

void smc_fallback_graft(struct smc_sock *smc, struct socket *sock)
{
	opt_nr_grafted++;
}

static void release_tcp(void *tcp)
{
	sock_release(tcp);
}

/* As smc_create() leaves one, as far as options go. */
static struct smc_sock *new_sock(struct kunit *test)
{
	struct smc_sock *smc = kunit_kzalloc(test, sizeof(*smc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, smc);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &smc->tcp), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, release_tcp, smc->tcp), 0);
	smc->sk.sk_family = PF_SMC;
	smc->sk.sk_state = SMC_STATE_INIT;
	smc->sk.sk_rcvlowat = 1;
	smc->sk.sk_peek_off = -1;
	smc->sk.sk_no_check_tx = smc->tcp->sk->sk_no_check_tx;
	smc_opt_begin(smc);
	return smc;
}

static void api_04_the_inner_socket_gets_what_the_core_has_set(struct kunit *test)
{
	struct smc_sock *smc = new_sock(test);
	struct sock *sk = &smc->sk, *tsk = smc->tcp->sk;
	int rcvbuf = tsk->sk_rcvbuf;

	sk->sk_bound_dev_if = 1;
	sk->sk_mark = 7;
	sk->sk_priority = 5;
	sk->sk_reuse = SK_CAN_REUSE;
	sk->sk_reuseport = 1;
	sk->sk_rcvtimeo = 111;
	sk->sk_sndtimeo = 222;
	sk->sk_max_pacing_rate = 333;
	sk->sk_tsflags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE;
	sk->sk_sndbuf = 54321;
	sk->sk_userlocks = SOCK_SNDBUF_LOCK;
	sock_set_flag(sk, SOCK_KEEPOPEN);
	sock_set_flag(sk, SOCK_RCVTSTAMP);
	sock_set_flag(sk, SOCK_URGINLINE);
	smc_opt_settle(smc);

	KUNIT_EXPECT_EQ(test, tsk->sk_bound_dev_if, 1);
	KUNIT_EXPECT_EQ(test, tsk->sk_mark, 7);
	KUNIT_EXPECT_EQ(test, tsk->sk_priority, 5);
	KUNIT_EXPECT_EQ(test, (int)tsk->sk_reuse, SK_CAN_REUSE);
	KUNIT_EXPECT_TRUE(test, tsk->sk_reuseport);
	KUNIT_EXPECT_EQ(test, tsk->sk_rcvtimeo, 111);
	KUNIT_EXPECT_EQ(test, tsk->sk_sndtimeo, 222);
	KUNIT_EXPECT_EQ(test, tsk->sk_max_pacing_rate, 333);
	KUNIT_EXPECT_EQ(test, tsk->sk_tsflags, sk->sk_tsflags);
	KUNIT_EXPECT_EQ(test, tsk->sk_sndbuf, 54321);
	KUNIT_EXPECT_EQ(test, tsk->sk_rcvbuf, rcvbuf);
	KUNIT_EXPECT_EQ(test, tsk->sk_userlocks & (SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK),
			SOCK_SNDBUF_LOCK);
	KUNIT_EXPECT_TRUE(test, sock_flag(tsk, SOCK_KEEPOPEN));
	KUNIT_EXPECT_TRUE(test, sock_flag(tsk, SOCK_RCVTSTAMP));
	KUNIT_EXPECT_TRUE(test, sock_flag(tsk, SOCK_TIMESTAMP));
	KUNIT_EXPECT_TRUE(test, sock_flag(tsk, SOCK_URGINLINE));

	/* And again, when they are taken back. */
	sk->sk_bound_dev_if = 0;
	sk->sk_mark = 0;
	sk->sk_reuse = 0;
	sk->sk_tsflags = 0;
	sk->sk_userlocks = 0;
	sock_reset_flag(sk, SOCK_URGINLINE);
	smc_opt_settle(smc);
	KUNIT_EXPECT_EQ(test, tsk->sk_bound_dev_if, 0);
	KUNIT_EXPECT_EQ(test, tsk->sk_mark, 0);
	KUNIT_EXPECT_EQ(test, (int)tsk->sk_reuse, 0);
	KUNIT_EXPECT_EQ(test, tsk->sk_tsflags, 0);
	KUNIT_EXPECT_FALSE(test, tsk->sk_userlocks & SOCK_SNDBUF_LOCK);
	KUNIT_EXPECT_FALSE(test, sock_flag(tsk, SOCK_URGINLINE));
}

/* TCP has more than one option for these, or none of SOL_SOCKET. */
static void api_04_what_nobody_has_set_stays_that_of_tcp(struct kunit *test)
{
	struct smc_sock *smc = new_sock(test);
	struct sock *tsk = smc->tcp->sk;
	int sndbuf = tsk->sk_sndbuf, rcvbuf = tsk->sk_rcvbuf;

	tsk->sk_priority = 6;	/* IP_TOS */
	smc->sk.sk_sndbuf = 1000;
	smc->sk.sk_rcvbuf = 1000;
	sock_set_flag(tsk, SOCK_RCU_FREE);
	smc_opt_settle(smc);
	KUNIT_EXPECT_EQ(test, tsk->sk_priority, 6);
	KUNIT_EXPECT_EQ(test, tsk->sk_sndbuf, sndbuf);
	KUNIT_EXPECT_EQ(test, tsk->sk_rcvbuf, rcvbuf);
	KUNIT_EXPECT_TRUE(test, sock_flag(tsk, SOCK_RCU_FREE));
	sock_reset_flag(tsk, SOCK_RCU_FREE);
}

/* bind() to a link-local address, TCP, and BPF programs of a control group. */
static void api_04_what_others_set_on_the_inner_socket_stays(struct kunit *test)
{
	struct smc_sock *smc = new_sock(test);
	struct sock *sk = &smc->sk, *tsk = smc->tcp->sk;

	tsk->sk_mark = 7;
	tsk->sk_bound_dev_if = 1;
	tsk->sk_priority = 6;
	tsk->sk_max_pacing_rate = 333;
	tsk->sk_rcvbuf = 54321;
	tsk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	sock_set_flag(tsk, SOCK_KEEPOPEN);
	smc_opt_settle(smc);
	KUNIT_EXPECT_EQ(test, tsk->sk_mark, 7);
	KUNIT_EXPECT_EQ(test, tsk->sk_bound_dev_if, 1);
	KUNIT_EXPECT_EQ(test, tsk->sk_max_pacing_rate, 333);
	KUNIT_EXPECT_EQ(test, tsk->sk_rcvbuf, 54321);
	KUNIT_EXPECT_TRUE(test, tsk->sk_userlocks & SOCK_RCVBUF_LOCK);
	KUNIT_EXPECT_TRUE(test, sock_flag(tsk, SOCK_KEEPOPEN));
	/* as on TCP getsockopt() tells it */
	KUNIT_EXPECT_EQ(test, sk->sk_mark, 7);
	KUNIT_EXPECT_EQ(test, sk->sk_bound_dev_if, 1);
	KUNIT_EXPECT_EQ(test, sk->sk_priority, 6);
	KUNIT_EXPECT_TRUE(test, sock_flag(sk, SOCK_KEEPOPEN));

	/* the application's word is the last, and about what it has set alone */
	sk->sk_mark = 0;
	smc_opt_settle(smc);
	KUNIT_EXPECT_EQ(test, tsk->sk_mark, 0);
	KUNIT_EXPECT_EQ(test, tsk->sk_bound_dev_if, 1);
	sk->sk_bound_dev_if = 0;
	smc_opt_settle(smc);
	KUNIT_EXPECT_EQ(test, tsk->sk_bound_dev_if, 0);

	/* until somebody sets it again */
	tsk->sk_mark = 8;
	smc_opt_settle(smc);
	KUNIT_EXPECT_EQ(test, tsk->sk_mark, 8);
	KUNIT_EXPECT_EQ(test, sk->sk_mark, 8);
}

/* TCP gives a child the mark of its SYN, or the device that a link-local address needs. */
static void api_04_a_child_keeps_what_tcp_has_given_it(struct kunit *test)
{
	struct smc_sock *listener = new_sock(test), *child = new_sock(test);
	struct sock *from = &listener->sk, *tsk = child->tcp->sk;

	from->sk_mark = 3;
	from->sk_rcvtimeo = 111;
	smc_opt_settle(listener);
	tsk->sk_mark = 7;
	tsk->sk_bound_dev_if = 1;
	smc_opt_inherit(listener, child);
	KUNIT_EXPECT_EQ(test, tsk->sk_mark, 7);
	KUNIT_EXPECT_EQ(test, tsk->sk_bound_dev_if, 1);
	KUNIT_EXPECT_EQ(test, child->sk.sk_mark, 7);
	KUNIT_EXPECT_EQ(test, child->sk.sk_bound_dev_if, 1);
	KUNIT_EXPECT_EQ(test, tsk->sk_rcvtimeo, 111);

	/* set since the listener began to listen: its inner socket does not have it yet */
	child = new_sock(test);
	from->sk_mark = 4;
	smc_opt_inherit(listener, child);
	KUNIT_EXPECT_EQ(test, child->tcp->sk->sk_mark, 4);
	KUNIT_EXPECT_EQ(test, child->sk.sk_mark, 4);
}

/* CLC would wait for too much, lose its place, or end the wrong connection. */
static void api_06_what_would_disturb_clc_is_kept_from_the_inner_socket(struct kunit *test)
{
	struct linger linger = { .l_onoff = 1, .l_linger = 3 };
	struct smc_sock *smc = new_sock(test);
	struct sock *sk = &smc->sk, *tsk = smc->tcp->sk;
	int val = 99, rc;

	KUNIT_EXPECT_EQ(test, smc_opt_set(smc, NULL, SOL_SOCKET, SO_RCVLOWAT,
					  KERNEL_SOCKPTR(&val), sizeof(val)), 0);
	KUNIT_EXPECT_EQ(test, smc_opt_set(smc, NULL, SOL_SOCKET, SO_LINGER,
					  KERNEL_SOCKPTR(&linger), sizeof(linger)), 0);
	/* The TCP of some kernels does not have it. */
	rc = smc->tcp->ops->set_peek_off ? 0 : -EOPNOTSUPP;
	KUNIT_EXPECT_EQ(test, smc_opt_set(smc, NULL, SOL_SOCKET, SO_PEEK_OFF,
					  KERNEL_SOCKPTR(&val), sizeof(val)), rc);
	KUNIT_EXPECT_EQ(test, smc_opt_set(smc, NULL, SOL_SOCKET, SO_PEEK_OFF,
					  KERNEL_SOCKPTR(&val), sizeof(val) - 1), -EINVAL);
	sk->sk_peek_off = 99;
	smc_opt_settle(smc);

	KUNIT_EXPECT_EQ(test, sk->sk_rcvlowat, 99);
	KUNIT_EXPECT_EQ(test, tsk->sk_rcvlowat, 1);
	KUNIT_EXPECT_TRUE(test, sock_flag(sk, SOCK_LINGER));
	KUNIT_EXPECT_FALSE(test, sock_flag(tsk, SOCK_LINGER));
	KUNIT_EXPECT_EQ(test, tsk->sk_peek_off, -1);
}

/* It has just taken the file over, and the core has read our operations before. */
static void api_06_a_sock_of_tcp_gets_what_is_meant_for_it(struct kunit *test)
{
	struct smc_sock *smc = new_sock(test);
	struct sock *tsk = smc->tcp->sk;

	lock_sock(tsk);
	KUNIT_EXPECT_EQ(test, smc_opt_rcvlowat(tsk, 99), 0);
	release_sock(tsk);
	KUNIT_EXPECT_EQ(test, tsk->sk_rcvlowat, 99);
	KUNIT_EXPECT_EQ(test, smc->sk.sk_rcvlowat, 1);
}

static void api_04_a_child_has_the_options_of_its_listener(struct kunit *test)
{
	struct smc_sock *listener = new_sock(test), *child = new_sock(test);
	struct sock *from = &listener->sk, *to = &child->sk;

	from->sk_rcvtimeo = 111;
	from->sk_rcvlowat = 9;
	from->sk_peek_off = 6;
	from->sk_lingertime = 5 * HZ;
	from->sk_sndbuf = 54321;
	from->sk_userlocks = SOCK_SNDBUF_LOCK;
	sock_set_flag(from, SOCK_LINGER);
	sock_set_flag(from, SOCK_KEEPOPEN);
	sock_set_flag(from, SOCK_DEAD);
	smc_opt_inherit(listener, child);

	KUNIT_EXPECT_EQ(test, to->sk_rcvtimeo, 111);
	KUNIT_EXPECT_EQ(test, to->sk_rcvlowat, 9);
	KUNIT_EXPECT_EQ(test, to->sk_peek_off, 6);
	KUNIT_EXPECT_EQ(test, to->sk_lingertime, 5 * HZ);
	KUNIT_EXPECT_EQ(test, to->sk_sndbuf, 54321);
	KUNIT_EXPECT_TRUE(test, sock_flag(to, SOCK_LINGER));
	KUNIT_EXPECT_TRUE(test, sock_flag(to, SOCK_KEEPOPEN));
	KUNIT_EXPECT_FALSE(test, sock_flag(to, SOCK_DEAD));
	/* What its inner socket has to know it knows. */
	KUNIT_EXPECT_TRUE(test, sock_flag(child->tcp->sk, SOCK_KEEPOPEN));
	KUNIT_EXPECT_EQ(test, child->tcp->sk->sk_sndbuf, 54321);
	KUNIT_EXPECT_EQ(test, child->tcp->sk->sk_peek_off, -1);
}

static int opt_fake_answer, opt_nr_asked;

static int fake_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			   unsigned int optlen)
{
	opt_nr_asked++;
	return opt_fake_answer;
}

static const struct proto_ops opt_fake_ops = {
	.family		= PF_INET,
	.setsockopt	= fake_setsockopt,
};

/* What SMC says when TCP answers ANSWER to a value of 1. */
static int set_one(struct kunit *test, struct smc_sock *smc, int level, int optname, int answer)
{
	const struct proto_ops *ops = smc->tcp->ops;
	int val = 1, rc;

	opt_nr_grafted = 0;
	opt_nr_asked = 0;
	opt_fake_answer = answer;
	smc->tcp->ops = &opt_fake_ops;
	rc = smc_opt_set(smc, NULL, level, optname, KERNEL_SOCKPTR(&val), sizeof(val));
	smc->tcp->ops = ops;
	return rc;
}

static const struct {
	const char *name;
	int level;
	int optname;
	bool is_early;		/* refused to a connection on SMC, TCP not asked */
} opt_of_tcp[] = {
	{ "TCP_FASTOPEN", SOL_TCP, TCP_FASTOPEN },
	{ "TCP_FASTOPEN_CONNECT", SOL_TCP, TCP_FASTOPEN_CONNECT },
	{ "TCP_FASTOPEN_KEY", SOL_TCP, TCP_FASTOPEN_KEY },
	{ "TCP_FASTOPEN_NO_COOKIE", SOL_TCP, TCP_FASTOPEN_NO_COOKIE },
	{ "TCP_MD5SIG", SOL_TCP, TCP_MD5SIG },
	{ "TCP_MD5SIG_EXT", SOL_TCP, TCP_MD5SIG_EXT },
	{ "TCP_AO_ADD_KEY", SOL_TCP, TCP_AO_ADD_KEY },
	{ "TCP_AO_INFO", SOL_TCP, TCP_AO_INFO },
	{ "TCP_REPAIR", SOL_TCP, TCP_REPAIR, true },
	{ "IP_IPSEC_POLICY", SOL_IP, IP_IPSEC_POLICY, true },
	{ "IP_XFRM_POLICY", SOL_IP, IP_XFRM_POLICY, true },
	{ "IPV6_IPSEC_POLICY", SOL_IPV6, IPV6_IPSEC_POLICY, true },
	{ "IPV6_XFRM_POLICY", SOL_IPV6, IPV6_XFRM_POLICY, true },
};

/* On kernels that were built without them, too: no scenario can set these there. */
static void api_04_what_only_tcp_can_do_makes_it_tcp(struct kunit *test)
{
	struct smc_sock *smc;
	int i, level, optname;

	for (i = 0; i < ARRAY_SIZE(opt_of_tcp); i++) {
		level = opt_of_tcp[i].level;
		optname = opt_of_tcp[i].optname;

		smc = new_sock(test);
		KUNIT_EXPECT_EQ_MSG(test, set_one(test, smc, level, optname, -EINVAL), -EINVAL,
				    "%s, TCP refuses it", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_grafted, 0, "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_FALSE(test, smc->is_eager_tcp);
		KUNIT_EXPECT_EQ_MSG(test, set_one(test, smc, level, optname, 0), 0,
				    "%s, new", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_grafted, 1, "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, (u32)smc->fallback,
				    (u32)(level == SOL_TCP ? SMC_DECLINE_OPTUNSUPP :
							     SMC_DECLINE_IPSEC),
				    "%s", opt_of_tcp[i].name);

		smc = new_sock(test);
		smc->sk.sk_state = SMC_STATE_LISTEN;
		KUNIT_EXPECT_EQ_MSG(test, set_one(test, smc, level, optname, 0), 0,
				    "%s, listening", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_grafted, 0, "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_TRUE_MSG(test, smc->is_eager_tcp, "%s", opt_of_tcp[i].name);

		smc = new_sock(test);
		smc->sk.sk_state = SMC_STATE_ACTIVE;
		KUNIT_EXPECT_EQ_MSG(test, set_one(test, smc, level, optname, 0),
				    opt_of_tcp[i].is_early ? -EOPNOTSUPP : 0,
				    "%s, connected", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_asked, (int)!opt_of_tcp[i].is_early,
				    "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_grafted, 0, "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_FALSE(test, smc->is_eager_tcp);
	}
}

/* What TCP_INFO calls a state: that of TCP where the same has happened. */
static const struct {
	const char *name;
	enum smc_conn_state state;
	bool is_connecting;
	u8 want;
	u8 shutdown;
} opt_states[] = {
	{ "CLC goes on, on an established TCP connection",
	  SMC_STATE_INIT, true, TCP_SYN_SENT },
	{ "nobody has shut down anything", SMC_STATE_ACTIVE, false, TCP_ESTABLISHED },
	{ "nobody will read", SMC_STATE_ACTIVE, false, TCP_ESTABLISHED, RCV_SHUTDOWN },
	{ "our end follows what is still to be sent",
	  SMC_STATE_ACTIVE, false, TCP_FIN_WAIT1, SEND_SHUTDOWN },
	{ "our end has been sent", SMC_STATE_PEERCLOSEWAIT1, false, TCP_FIN_WAIT2 },
	{ "our end, then the peer's; the connection has to be closed",
	  SMC_STATE_PEERCLOSEWAIT2, false, TCP_CLOSING },
	{ "our end, then the peer's close()", SMC_STATE_APPFINCLOSEWAIT, false, TCP_CLOSING },
	{ "the peer's end has come", SMC_STATE_APPCLOSEWAIT1, false, TCP_CLOSE_WAIT },
	{ "the peer's end has come, ours follows what is still to be sent",
	  SMC_STATE_APPCLOSEWAIT1, false, TCP_LAST_ACK, SEND_SHUTDOWN },
	{ "the peer's end, then ours", SMC_STATE_APPCLOSEWAIT2, false, TCP_LAST_ACK },
	{ "the peer's end, then our close()", SMC_STATE_PEERFINCLOSEWAIT, false, TCP_LAST_ACK },
	{ "we have aborted", SMC_STATE_PEERABORTWAIT, false, TCP_CLOSE },
	{ "the peer has aborted", SMC_STATE_PROCESSABORT, false, TCP_CLOSE },
	{ "it is over", SMC_STATE_CLOSED, false, TCP_CLOSE },
};

static void api_04_tcp_info_has_the_state_of_tcp(struct kunit *test)
{
	unsigned long seen = BIT(SMC_STATE_LISTEN);	/* asks TCP itself */
	struct smc_sock *smc = new_sock(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(opt_states); i++) {
		smc->sk.sk_state = opt_states[i].state;
		smc->sk.sk_shutdown = opt_states[i].shutdown;
		smc->is_connecting = opt_states[i].is_connecting;
		KUNIT_EXPECT_EQ_MSG(test, (int)opt_tcp_state(smc), (int)opt_states[i].want,
				    "%s", opt_states[i].name);
		seen |= BIT(opt_states[i].state);
	}
	for (i = 1; i < BITS_PER_LONG; i++)
		/* what a socket can be in */
		if (strcmp(smc_state_conn_name(i), smc_state_conn_name(0)) &&
		    smc_state_shown(i) == i)
			KUNIT_EXPECT_TRUE_MSG(test, seen & BIT(i), "no row for %s",
					      smc_state_conn_name(i));
}

static struct kunit_case smc_opt_cases[] = {
	KUNIT_CASE(api_04_the_inner_socket_gets_what_the_core_has_set),
	KUNIT_CASE(api_04_what_nobody_has_set_stays_that_of_tcp),
	KUNIT_CASE(api_04_what_others_set_on_the_inner_socket_stays),
	KUNIT_CASE(api_04_a_child_keeps_what_tcp_has_given_it),
	KUNIT_CASE(api_06_what_would_disturb_clc_is_kept_from_the_inner_socket),
	KUNIT_CASE(api_06_a_sock_of_tcp_gets_what_is_meant_for_it),
	KUNIT_CASE(api_04_a_child_has_the_options_of_its_listener),
	KUNIT_CASE(api_04_what_only_tcp_can_do_makes_it_tcp),
	KUNIT_CASE(api_04_tcp_info_has_the_state_of_tcp),
	{}
};

static struct kunit_suite smc_opt_suite = {
	.name = "smc_opt",
	.test_cases = smc_opt_cases,
};

kunit_test_suite(smc_opt_suite);
