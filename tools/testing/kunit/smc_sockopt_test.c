// SPDX-License-Identifier: GPL-2.0
/*
 * Socket options where SMC does more than TCP. The layers around record their calls, and
 * some cases fake TCP, too.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/sock/smc_close.h"
#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/sock/smc_keepalive.h"
#include "../../../net/smc/sock/smc_tcp.h"
#include "../../../net/smc/sock/smc_tx.h"
#include "../../../net/smc/sock/smc_wake.h"

static unsigned int opt_nr_updated, opt_nr_become, opt_nr_flushed;
static unsigned int opt_nr_readers, opt_nr_writers;
static enum smc_decline opt_become_reason;
static bool opt_is_writable;

/* Replacements of the layers around. */
static void opt_keep_update(struct smc_sock *smc)
{
	opt_nr_updated++;
}

static void opt_become(struct smc_sock *smc, enum smc_decline reason)
{
	opt_nr_become++;
	opt_become_reason = reason;
}

static void opt_flush(struct smc_conn *conn)
{
	opt_nr_flushed++;
}

static void opt_wake_readers(struct sock *sk)
{
	opt_nr_readers++;
}

static void opt_wake_writers(struct sock *sk)
{
	opt_nr_writers++;
}

/* TCP, or the fake in its place. */
static const struct proto *opt_fake_prot;

static const struct proto *opt_tcp_prot(const struct sock *sk)
{
	return opt_fake_prot ?: READ_ONCE(sk->sk_prot);
}

#define smc_close_is_over(...) false
#define smc_keepalive_update opt_keep_update
#define smc_stat_inc(...) ((void)0)
#define smc_tcp_become opt_become
#define smc_tcp_prot opt_tcp_prot
#define smc_tx_flush opt_flush
#define smc_tx_poll(...) ((void)0)
#define smc_tx_is_writable(...) opt_is_writable
#define smc_wake_readers opt_wake_readers
#define smc_wake_writers opt_wake_writers

#include "../../../net/smc/sock/smc_sockopt.c"

#undef smc_tx_flush
#undef smc_tx_is_writable

/* For suites without the function. */
bool smc_tx_is_writable(struct smc_conn *conn)
{
	return false;
}

void smc_tx_flush(struct smc_conn *conn)
{
}

/* A TCP socket with a state, and a connection for when it uses SMC. */
struct opt_lab {
	struct smc_sock smc;
	struct smc_conn conn;
	struct smc_listener listener;	/* never dereferenced */
	struct socket *sock;
};

static void opt_free(void *ctx)
{
	struct opt_lab *lab = ctx;

	lab->sock->sk->sk_state = TCP_CLOSE;
	smc_kunit_take_off(lab->sock->sk);
	sock_release(lab->sock);
}

static struct opt_lab *opt_begin(struct kunit *test)
{
	struct opt_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, lab);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &lab->sock), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, opt_free, lab), 0);
	smc_kunit_hang(&lab->smc, lab->sock->sk);
	lab->conn.sk = lab->smc.sk;
	smc_state_close_init(&lab->smc.close);
	opt_nr_updated = 0;
	opt_nr_become = 0;
	opt_nr_flushed = 0;
	opt_nr_readers = 0;
	opt_nr_writers = 0;
	opt_is_writable = false;
	opt_fake_prot = NULL;
	return lab;
}

/* A socket whose connection uses SMC. */
static struct opt_lab *opt_begin_smc(struct kunit *test)
{
	struct opt_lab *lab = opt_begin(test);

	lab->smc.phase = SMC_PHASE_SMC;
	lab->smc.conn = &lab->conn;
	lab->smc.close.state = SMC_STATE_ACTIVE;
	lab->smc.sk->sk_state = TCP_ESTABLISHED;
	return lab;
}

static int opt_set_int(struct opt_lab *lab, int level, int optname, int val)
{
	return smc_sockopt_set(lab->smc.sk, level, optname, KERNEL_SOCKPTR(&val), sizeof(val));
}

static int opt_fake_answer, opt_nr_asked;

static int fake_setsockopt(struct sock *sk, int level, int optname, sockptr_t optval,
			   unsigned int optlen)
{
	opt_nr_asked++;
	return opt_fake_answer;
}

static const struct proto opt_fake = {
	.setsockopt	= fake_setsockopt,
};

/* The result of SMC when TCP answers @answer to a value. */
static int set_val(struct opt_lab *lab, int level, int optname, int val, int answer)
{
	int rc;

	opt_nr_become = 0;
	opt_nr_asked = 0;
	opt_fake_answer = answer;
	opt_fake_prot = &opt_fake;
	rc = opt_set_int(lab, level, optname, val);
	opt_fake_prot = NULL;
	return rc;
}

static const struct {
	const char *name;
	int level;
	int optname;
	bool is_early;		/* refused on SMC, TCP is not asked */
	bool is_switch;		/* only where it is enabled */
} opt_of_tcp[] = {
	{ "TCP_FASTOPEN", SOL_TCP, TCP_FASTOPEN, .is_switch = true },
	{ "TCP_FASTOPEN_CONNECT", SOL_TCP, TCP_FASTOPEN_CONNECT,
	  .is_switch = true },
	{ "TCP_FASTOPEN_KEY", SOL_TCP, TCP_FASTOPEN_KEY },
	{ "TCP_FASTOPEN_NO_COOKIE", SOL_TCP, TCP_FASTOPEN_NO_COOKIE,
	  .is_switch = true },
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

/* Also on kernels without these options, where no scenario can set them. */
static void api_04_what_only_tcp_can_do_makes_it_tcp(struct kunit *test)
{
	int i, level, optname;
	struct opt_lab *lab;

	for (i = 0; i < ARRAY_SIZE(opt_of_tcp); i++) {
		level = opt_of_tcp[i].level;
		optname = opt_of_tcp[i].optname;

		lab = opt_begin(test);
		KUNIT_EXPECT_EQ_MSG(test, set_val(lab, level, optname, 1, -EINVAL), -EINVAL,
				    "%s, TCP refuses it", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_become, 0, "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, set_val(lab, level, optname, 0, 0), 0,
				    "%s, off", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_become, !opt_of_tcp[i].is_switch, "%s",
				    opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, set_val(lab, level, optname, 1, 0), 0,
				    "%s, new", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_become, 1, "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, (u32)opt_become_reason, (u32)SMC_DECLINE_OPTUNSUPP,
				    "%s", opt_of_tcp[i].name);

		lab = opt_begin(test);
		lab->smc.sk->sk_state = TCP_LISTEN;
		RCU_INIT_POINTER(lab->smc.listener, &lab->listener);
		KUNIT_EXPECT_EQ_MSG(test, set_val(lab, level, optname, 1, 0), 0,
				    "%s, listening", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_become, 0, "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, (u32)lab->smc.fallback, (u32)SMC_DECLINE_OPTUNSUPP,
				    "%s", opt_of_tcp[i].name);

		lab = opt_begin_smc(test);
		KUNIT_EXPECT_EQ_MSG(test, set_val(lab, level, optname, 1, 0),
				    opt_of_tcp[i].is_early ? -EOPNOTSUPP : 0,
				    "%s, connected", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_asked, (int)!opt_of_tcp[i].is_early,
				    "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_become, 0, "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ(test, (u32)lab->smc.fallback, (u32)SMC_DECLINE_NONE);

		/* connect() is in progress */
		lab = opt_begin(test);
		lab->smc.sk->sk_state = TCP_SYN_SENT;
		KUNIT_EXPECT_EQ_MSG(test, set_val(lab, level, optname, 1, 0),
				    opt_of_tcp[i].is_early ? -EOPNOTSUPP : 0,
				    "%s, connecting", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_become, 0, "%s", opt_of_tcp[i].name);

		/* after the fallback the option goes to TCP */
		lab = opt_begin(test);
		smc_kunit_take_off(lab->smc.sk);
		KUNIT_EXPECT_EQ_MSG(test, set_val(lab, level, optname, 1, 0), 0,
				    "%s, TCP", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_asked, 1, "%s", opt_of_tcp[i].name);
		KUNIT_EXPECT_EQ_MSG(test, opt_nr_become, 0, "%s", opt_of_tcp[i].name);
	}
}

/* kTLS would send data on TCP that belongs to SMC. */
static void api_04_an_upper_protocol_is_refused_until_it_is_tcp(struct kunit *test)
{
	struct opt_lab *lab = opt_begin(test);

	KUNIT_EXPECT_EQ(test, set_val(lab, SOL_TCP, TCP_ULP, 1, 0), -EOPNOTSUPP);
	lab->smc.sk->sk_state = TCP_SYN_SENT;
	KUNIT_EXPECT_EQ(test, set_val(lab, SOL_TCP, TCP_ULP, 1, 0), -EOPNOTSUPP);
	lab = opt_begin_smc(test);
	KUNIT_EXPECT_EQ(test, set_val(lab, SOL_TCP, TCP_ULP, 1, 0), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, opt_nr_asked + opt_nr_become, 0);
	smc_kunit_take_off(lab->smc.sk);
	KUNIT_EXPECT_EQ(test, set_val(lab, SOL_TCP, TCP_ULP, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, opt_nr_asked, 1);
}

/* The name of a state in TCP_INFO: TCP's state after the same events. */
static const struct {
	const char *name;
	enum smc_conn_state state;
	enum smc_phase phase;
	u8 want;
	u8 shutdown;
} opt_states[] = {
	{ "CLC goes on, on an established TCP connection",
	  SMC_STATE_INIT, SMC_PHASE_HANDSHAKE, TCP_SYN_SENT },
	{ "and nobody wants its outcome any more",
	  SMC_STATE_INIT, SMC_PHASE_STOPPING, TCP_SYN_SENT },
	{ "nobody has shut down anything", SMC_STATE_ACTIVE, SMC_PHASE_SMC, TCP_ESTABLISHED },
	{ "nobody will read", SMC_STATE_ACTIVE, SMC_PHASE_SMC, TCP_ESTABLISHED, RCV_SHUTDOWN },
	{ "our end follows what is still to be sent",
	  SMC_STATE_ACTIVE, SMC_PHASE_SMC, TCP_FIN_WAIT1, SEND_SHUTDOWN },
	{ "our end has been sent", SMC_STATE_PEERCLOSEWAIT1, SMC_PHASE_SMC, TCP_FIN_WAIT2 },
	{ "our end, then the peer's; the connection has to be closed",
	  SMC_STATE_PEERCLOSEWAIT2, SMC_PHASE_SMC, TCP_CLOSING },
	{ "our end, then the peer's close()",
	  SMC_STATE_APPFINCLOSEWAIT, SMC_PHASE_SMC, TCP_CLOSING },
	{ "the peer's end has come", SMC_STATE_APPCLOSEWAIT1, SMC_PHASE_SMC, TCP_CLOSE_WAIT },
	{ "the peer's end has come, ours follows what is still to be sent",
	  SMC_STATE_APPCLOSEWAIT1, SMC_PHASE_SMC, TCP_LAST_ACK, SEND_SHUTDOWN },
	{ "the peer's end, then ours", SMC_STATE_APPCLOSEWAIT2, SMC_PHASE_SMC, TCP_LAST_ACK },
	{ "the peer's end, then our close()",
	  SMC_STATE_PEERFINCLOSEWAIT, SMC_PHASE_SMC, TCP_LAST_ACK },
	{ "we have aborted", SMC_STATE_PEERABORTWAIT, SMC_PHASE_SMC, TCP_CLOSE },
	{ "the peer has aborted", SMC_STATE_PROCESSABORT, SMC_PHASE_SMC, TCP_CLOSE },
	{ "it is over", SMC_STATE_CLOSED, SMC_PHASE_SMC, TCP_CLOSE },
};

static void api_04_tcp_info_has_the_state_of_tcp(struct kunit *test)
{
	unsigned long seen = BIT(SMC_STATE_LISTEN);	/* asks TCP itself */
	struct opt_lab *lab = opt_begin_smc(test);
	struct smc_sock *smc = &lab->smc;
	int i;

	for (i = 0; i < ARRAY_SIZE(opt_states); i++) {
		lab->smc.close.state = opt_states[i].state;
		smc->shutdown = opt_states[i].shutdown;
		smc->phase = opt_states[i].phase;
		lock_sock(smc->sk);
		KUNIT_EXPECT_EQ_MSG(test, (int)smc_sockopt_tcp_state(smc),
				    (int)opt_states[i].want, "%s", opt_states[i].name);
		release_sock(smc->sk);
		seen |= BIT(opt_states[i].state);
	}
	for (i = 1; i < BITS_PER_LONG; i++)
		/* states that a socket can have */
		if (strcmp(smc_state_conn_name(i), smc_state_conn_name(0)) &&
		    smc_state_shown(i) == i)
			KUNIT_EXPECT_TRUE_MSG(test, seen & BIT(i), "no row for %s",
					      smc_state_conn_name(i));
}

/* TCP applies its own options. SMC does what follows from them. */
static void api_06_what_tcp_has_taken_acts_on_smc(struct kunit *test)
{
	struct opt_lab *lab = opt_begin_smc(test);
	struct tcp_sock *tp = tcp_sk(lab->smc.sk);

	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_KEEPIDLE, 7), 0);
	KUNIT_EXPECT_EQ(test, tp->keepalive_time, 7 * HZ);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_KEEPINTVL, 8), 0);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_KEEPCNT, 3), 0);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_USER_TIMEOUT, 9), 0);
	KUNIT_EXPECT_EQ(test, opt_nr_updated, 4);
	/* a value that TCP refuses has no effect */
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_KEEPIDLE, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, opt_nr_updated, 4);

	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_CORK, 1), 0);
	KUNIT_EXPECT_EQ(test, opt_nr_flushed, 0);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_CORK, 0), 0);
	KUNIT_EXPECT_EQ(test, opt_nr_flushed, 1);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_NODELAY, 0), 0);
	KUNIT_EXPECT_EQ(test, opt_nr_flushed, 1);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_NODELAY, 1), 0);
	KUNIT_EXPECT_EQ(test, opt_nr_flushed, 2);

	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_NOTSENT_LOWAT, 1000), 0);
	KUNIT_EXPECT_EQ(test, opt_nr_writers, 0);
	opt_is_writable = true;
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_NOTSENT_LOWAT, 2000), 0);
	KUNIT_EXPECT_EQ(test, opt_nr_writers, 1);

	lock_sock(lab->smc.sk);
	smc_sockopt_keepalive(lab->smc.sk, 1);
	KUNIT_EXPECT_TRUE(test, sock_flag(lab->smc.sk, SOCK_KEEPOPEN));
	KUNIT_EXPECT_EQ(test, opt_nr_updated, 5);
	release_sock(lab->smc.sk);
}

static void api_06_without_a_connection_it_is_tcps_alone(struct kunit *test)
{
	struct opt_lab *lab = opt_begin(test);

	opt_is_writable = true;
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_KEEPIDLE, 7), 0);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_NODELAY, 1), 0);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_NOTSENT_LOWAT, 2000), 0);
	lock_sock(lab->smc.sk);
	smc_sockopt_keepalive(lab->smc.sk, 1);
	release_sock(lab->smc.sk);
	/* a connection that has ended does not count */
	lab = opt_begin_smc(test);
	lab->smc.close.state = SMC_STATE_CLOSED;
	opt_is_writable = true;
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_KEEPIDLE, 7), 0);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_NODELAY, 1), 0);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_TCP, TCP_NOTSENT_LOWAT, 2000), 0);
	KUNIT_EXPECT_EQ(test, opt_nr_flushed + opt_nr_writers + opt_nr_updated, 0);
}

static void api_06_what_is_there_may_be_enough_now(struct kunit *test)
{
	struct opt_lab *lab = opt_begin_smc(test);
	struct sock *sk = lab->smc.sk;

	lock_sock(sk);
	KUNIT_EXPECT_EQ(test, smc_sockopt_rcvlowat(sk, 99), 0);
	KUNIT_EXPECT_EQ(test, sk->sk_rcvlowat, 99);
	KUNIT_EXPECT_EQ(test, opt_nr_readers, 1);
	/* after the fallback, in a call that had found our operations before */
	smc_kunit_take_off(sk);
	KUNIT_EXPECT_EQ(test, smc_sockopt_rcvlowat(sk, 98), 0);
	KUNIT_EXPECT_EQ(test, sk->sk_rcvlowat, 98);
	KUNIT_EXPECT_EQ(test, opt_nr_readers, 1);
	release_sock(sk);
}

static void handshakes_of_a_listener_may_be_limited(struct kunit *test)
{
	struct opt_lab *lab = opt_begin(test);
	char val = 1;

	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_SMC, SMC_LIMIT_HS, 2), 0);
	KUNIT_EXPECT_TRUE(test, lab->smc.limits_handshakes);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_SMC, SMC_LIMIT_HS, 0), 0);
	KUNIT_EXPECT_FALSE(test, lab->smc.limits_handshakes);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_SMC, SMC_LIMIT_HS + 1, 1), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, smc_sockopt_set(lab->smc.sk, SOL_SMC, SMC_LIMIT_HS,
					      KERNEL_SOCKPTR(&val), sizeof(val)), -EINVAL);
	smc_kunit_take_off(lab->smc.sk);
	KUNIT_EXPECT_EQ(test, opt_set_int(lab, SOL_SMC, SMC_LIMIT_HS, 1), -EOPNOTSUPP);
}

static struct kunit_case smc_opt_cases[] = {
	KUNIT_CASE(api_04_what_only_tcp_can_do_makes_it_tcp),
	KUNIT_CASE(api_04_an_upper_protocol_is_refused_until_it_is_tcp),
	KUNIT_CASE(api_04_tcp_info_has_the_state_of_tcp),
	KUNIT_CASE(api_06_what_tcp_has_taken_acts_on_smc),
	KUNIT_CASE(api_06_without_a_connection_it_is_tcps_alone),
	KUNIT_CASE(api_06_what_is_there_may_be_enough_now),
	KUNIT_CASE(handshakes_of_a_listener_may_be_limited),
	{}
};

static struct kunit_suite smc_opt_suite = {
	.name = "smc_sockopt",
	.test_cases = smc_opt_cases,
};

kunit_test_suite(smc_opt_suite);
