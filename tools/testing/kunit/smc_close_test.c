// SPDX-License-Identifier: GPL-2.0
/*
 * The socket's side of the close machine: the order in which it hears news, and what it
 * does when. The functions below it return what a case wants, and count their calls.
 */
#include "smc_kunit.h"
#include <net/tcp.h>

/* another suite replaces this one */
#define smc_close_is_over	close_test_is_over

#include "../../../net/smc/smc_close.h"
#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/smc_keep.h"
#include "../../../net/smc/smc_llc.h"
#include "../../../net/smc/smc_net.h"
#include "../../../net/smc/smc_notice.h"
#include "../../../net/smc/smc_tcp.h"
#include "../../../net/smc/smc_tx.h"

/* nobody looks */
#define SMC_TRACE_H

static void trace_smc_close(struct smc_sock *smc, enum smc_close_event event,
			    enum smc_conn_state next, u32 actions)
{
}

/* What the functions below return, and what they were told. */
static struct {
	bool owes_final;
	bool is_busy;
	u32 unread;
	int tcp_err;
	unsigned long told_meanwhile;	/* bits that are set while the machine looks */

	u8 flags;			/* of control blocks, sent */
	unsigned int nr_left;
	unsigned int nr_forgotten;
	bool is_peer_done;
	unsigned int nr_fins;
	unsigned int nr_rsts;
	unsigned int nr_released;
	unsigned int nr_woken;
} now;

static u32 close_readable(struct smc_conn *conn)
{
	smc_sk(conn->sk)->pending |= now.told_meanwhile;
	return now.unread;
}

static bool close_leave(struct smc_conn *conn, bool is_peer_done)
{
	now.nr_left++;
	now.is_peer_done = is_peer_done;
	conn->token = 0;
	return false;
}

static void close_signal(struct smc_conn *conn, u8 flags)
{
	now.flags |= flags;
}

static void close_shutdown(struct smc_sock *smc, int how)
{
	/* CLOSE-01: nothing of ours is under way, and the group was not left before */
	now.nr_fins += !now.owes_final && !now.nr_left;
}

static void close_pend(struct smc_sock *smc, enum smc_pending what)
{
	set_bit(what, &smc->pending);
}

#define smc_conn_readable	close_readable
#define smc_conn_leave		close_leave
#define smc_conn_forget_unread(...)	((void)now.nr_forgotten++)
#define smc_conn_unsent(...)	(0)
#define smc_conn_has_inflight(...)	(now.is_busy)
#define smc_conn_has_progress(...)	(false)
#define smc_conn_mark_progress(...)	((void)0)
#define smc_conn_owes_final(conn)	((conn) && now.owes_final)
#define smc_conn_is_drained(conn)	((conn) && !now.is_busy)
#define smc_notice_forget(...)	((void)0)
#define smc_lgr_get(lgr)	((void)(lgr))
#define smc_lgr_put(lgr)	((void)(lgr))
#define smc_lgr_is_down(...)	(false)
#define smc_llc_arm_idle(...)	((void)0)
#define smc_llc_doubt(...)	((void)0)
#define smc_tx_signal		close_signal
#define smc_tx_flush(...)	((void)0)
#define smc_keep_stop(...)	((void)0)
#define smc_keep_update(...)	((void)0)
#define smc_tcp_end_errno(...)	(now.tcp_err)
#define smc_tcp_reset(...)	((void)now.nr_rsts++)
#define smc_tcp_shutdown	close_shutdown
#define smc_tcp_release(...)	((void)now.nr_released++)
#define smc_sock_unhash(...)	((void)0)
#define smc_sock_trylock(...)	(false)
#define smc_sock_queue(...)	((void)0)
#define smc_sock_pend		close_pend
#define smc_sock_wake_writers(...)	((void)0)

#include "../../../net/smc/smc_close.c"

static int close_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	sn->set.close_timeout_ms = 3600 * 1000;
	sn->set.close_pending_ms = 3600 * 1000;
	sn->set.llc.test_link = 3600 * 1000;
	sn->stats = alloc_percpu(struct smc_stats_cpu);
	return sn->stats ? 0 : -ENOMEM;
}

static void close_net_exit(struct net *net)
{
	free_percpu(smc_net(net)->stats);
}

static struct pernet_operations close_net_ops = {
	.init = close_net_init,
	.exit = close_net_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_net),
};

static int close_suite_init(struct kunit_suite *suite)
{
	return register_pernet_subsys(&close_net_ops);
}

static void close_suite_exit(struct kunit_suite *suite)
{
	unregister_pernet_subsys(&close_net_ops);
}

static struct proto close_proto = {
	.name = "smc_close_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct smc_sock),
};

static void close_woken(struct sock *sk)
{
	now.nr_woken++;
}

/* A connection that is established. */
static int close_test_init(struct kunit *test)
{
	struct smc_conn *conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);
	struct smc_sock *smc;
	struct sock *sk;

	memset(&now, 0, sizeof(now));
	if (!conn)
		return -ENOMEM;
	sk = sk_alloc(&init_net, PF_SMC, GFP_KERNEL, &close_proto, 1);
	if (!sk)
		return -ENOMEM;
	sock_init_data(NULL, sk);
	sk->sk_state_change = close_woken;
	smc = smc_sk(sk);
	/* only the functions above look at it */
	smc->tcp = kunit_kzalloc(test, sizeof(*smc->tcp), GFP_KERNEL);
	conn->sk = sk;
	conn->lgr = kunit_kzalloc(test, sizeof(*conn->lgr), GFP_KERNEL);
	conn->token = 1;
	conn->rtoken = -1;
	conn->ctl.rx_geom.size = 4096;
	conn->snd_geom.size = 4096;
	spin_lock_init(&conn->lock);
	smc->conn = conn;
	timer_setup(&smc->close_timer, smc_close_timer, 0);
	smc_state_close_init(&smc->close);
	test->priv = smc;
	if (!smc->tcp || !conn->lgr)
		return -ENOMEM;
	lock_sock(sk);
	smc_close_establish(smc);
	release_sock(sk);
	now.nr_woken = 0;
	return 0;
}

static void close_test_exit(struct kunit *test)
{
	struct smc_sock *smc = test->priv;

	if (!smc)
		return;
	sk_stop_timer(&smc->sk, &smc->close_timer);
	sock_put(&smc->sk);
}

static struct smc_sock *close_lock(struct kunit *test)
{
	struct smc_sock *smc = test->priv;

	lock_sock(&smc->sk);
	return smc;
}

static void expect_state(struct kunit *test, enum smc_conn_state state)
{
	struct smc_sock *smc = test->priv;

	KUNIT_EXPECT_STREQ(test, smc_state_conn_name(smc->close.state),
			   smc_state_conn_name(state));
	KUNIT_EXPECT_EQ(test, smc->sk.sk_state, smc_state_shown(state));
}

/* References: the suite's, the machine's while the connection lives, the timer's. */
static void expect_alive(struct kunit *test, bool is_alive, bool has_timer)
{
	struct smc_sock *smc = test->priv;

	KUNIT_EXPECT_EQ(test, smc_state_is_alive(&smc->close), is_alive);
	KUNIT_EXPECT_EQ(test, timer_pending(&smc->close_timer), has_timer);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->sk.sk_refcnt), 1 + is_alive + has_timer);
	KUNIT_EXPECT_EQ(test, now.nr_left, is_alive ? 0 : 1);
}

static void close_says(struct kunit *test, u8 flags)
{
	struct smc_sock *smc = test->priv;

	smc->conn->ctl.rx_conn_flags |= flags;
	smc_close_run(smc);
}

static void close_01_close_02_fin_follows_the_last_word(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	expect_alive(test, true, false);
	now.owes_final = true;
	smc_close_release(smc);
	sock_set_flag(&smc->sk, SOCK_DEAD);
	KUNIT_EXPECT_EQ(test, now.flags, SMC_CDC_CLOSED);
	expect_state(test, SMC_STATE_PEERCLOSEWAIT1);
	close_says(test, SMC_CDC_CLOSED);
	expect_state(test, SMC_STATE_LASTWORD);
	expect_alive(test, true, true);
	/* nothing new */
	smc_close_run(smc);
	KUNIT_EXPECT_EQ(test, now.nr_fins + now.nr_rsts + now.nr_released, 0);
	now.owes_final = false;
	smc_close_run(smc);
	expect_state(test, SMC_STATE_CLOSED);
	expect_alive(test, false, false);
	KUNIT_EXPECT_TRUE(test, now.is_peer_done);
	KUNIT_EXPECT_EQ(test, now.nr_fins, 1);
	KUNIT_EXPECT_EQ(test, now.nr_rsts, 0);
	KUNIT_EXPECT_EQ(test, now.nr_released, 1);
	smc_close_run(smc);
	expect_alive(test, false, false);
	release_sock(&smc->sk);
}

static void close_20_a_word_that_is_heard_at_once_waits_for_nothing(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	close_says(test, SMC_CDC_CLOSED);
	expect_state(test, SMC_STATE_APPCLOSEWAIT1);
	smc_close_release(smc);
	expect_state(test, SMC_STATE_CLOSED);
	expect_alive(test, false, false);
	KUNIT_EXPECT_EQ(test, now.nr_fins, 1);
	/* the file is there yet */
	KUNIT_EXPECT_EQ(test, now.nr_released, 0);
	/* but nobody reads on; what is under handshake is not ours */
	KUNIT_EXPECT_EQ(test, now.nr_forgotten, 1);
	smc->is_connecting = true;
	smc_close_release(smc);
	KUNIT_EXPECT_EQ(test, now.nr_forgotten, 1);
	release_sock(&smc->sk);
}

static void close_23_the_last_word_has_its_time(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.owes_final = true;
	close_says(test, SMC_CDC_DONE | SMC_CDC_CLOSED);
	smc_close_release(smc);
	expect_state(test, SMC_STATE_LASTWORD);
	expect_alive(test, true, true);
	set_bit(SMC_PENDING_TIMER, &smc->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_CLOSED);
	expect_alive(test, false, false);
	release_sock(&smc->sk);
}

static void amb_54_payload_makes_a_reset_of_the_fin(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.owes_final = true;
	close_says(test, SMC_CDC_CLOSED);
	smc_close_release(smc);
	set_bit(SMC_PENDING_FAULT, &smc->pending);
	smc_close_run(smc);
	KUNIT_EXPECT_EQ(test, now.nr_rsts, 1);
	expect_alive(test, true, true);
	now.owes_final = false;
	smc_close_run(smc);
	expect_alive(test, false, false);
	KUNIT_EXPECT_EQ(test, now.nr_fins, 0);
	KUNIT_EXPECT_EQ(test, now.nr_rsts, 1);
	KUNIT_EXPECT_EQ(test, smc->sk.sk_err, 0);
	release_sock(&smc->sk);
}

/* D is in the control block before the loss is told, by whichever task. */
static void close_17_what_was_said_before_the_loss_counts(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.unread = 1;
	smc->conn->ctl.rx_conn_flags = SMC_CDC_DONE;
	set_bit(SMC_PENDING_LINK_LOST, &smc->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_APPCLOSEWAIT1);
	KUNIT_EXPECT_FALSE(test, smc->conn->is_purged);
	expect_alive(test, true, false);
	now.unread = 0;
	smc_close_release(smc);
	release_sock(&smc->sk);
}

/* D may have come with a loss that is told while the machine looks. */
static void close_17_a_loss_in_between_waits_for_the_next_look(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	smc_close_event(smc, SMC_CLOSE_APP_SHUT_WR);
	close_says(test, SMC_CDC_DONE);
	smc_close_event(smc, SMC_CLOSE_APP_CLOSE);
	expect_state(test, SMC_STATE_PEERCLOSEWAIT2);
	now.told_meanwhile = BIT(SMC_PENDING_LINK_LOST);
	smc_close_run(smc);
	now.told_meanwhile = 0;
	expect_state(test, SMC_STATE_PEERCLOSEWAIT2);
	KUNIT_EXPECT_EQ(test, smc->pending, BIT(SMC_PENDING_LINK_LOST));
	smc_close_run(smc);
	expect_state(test, SMC_STATE_CLOSED);
	release_sock(&smc->sk);
}

/* The timer that has run out is that of the wait which has just ended. */
static void tmr_17_a_wait_begins_with_all_its_time(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	smc_close_event(smc, SMC_CLOSE_APP_CLOSE);
	expect_alive(test, true, true);
	now.owes_final = true;
	smc->conn->ctl.rx_conn_flags = SMC_CDC_ABORT;
	set_bit(SMC_PENDING_TIMER, &smc->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_PROCESSABORT);
	expect_alive(test, true, true);
	now.owes_final = false;
	smc_close_run(smc);
	expect_state(test, SMC_STATE_CLOSED);
	release_sock(&smc->sk);
}

/* By whichever look the completion is found. */
static void close_08_a_close_follows_its_data(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.is_busy = true;
	smc_close_release(smc);
	smc_close_run(smc);
	KUNIT_EXPECT_EQ(test, now.flags, 0);
	expect_state(test, SMC_STATE_ACTIVE);
	expect_alive(test, true, true);
	now.is_busy = false;
	smc_close_run(smc);
	KUNIT_EXPECT_EQ(test, now.flags, SMC_CDC_CLOSED);
	expect_state(test, SMC_STATE_PEERCLOSEWAIT1);
	close_says(test, SMC_CDC_CLOSED);
	expect_alive(test, false, false);
	release_sock(&smc->sk);
}

static void close_11_a_word_is_told_once(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	close_says(test, SMC_CDC_CLOSED);
	KUNIT_EXPECT_EQ(test, now.nr_woken, 1);
	smc_close_run(smc);
	KUNIT_EXPECT_EQ(test, now.nr_woken, 1);
	smc_close_release(smc);
	release_sock(&smc->sk);
}

static void abrt_05_the_error_is_that_of_tcp(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.tcp_err = EHOSTUNREACH;
	set_bit(SMC_PENDING_RESET, &smc->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_PEERABORTWAIT);
	KUNIT_EXPECT_EQ(test, smc->sk.sk_err, EHOSTUNREACH);
	KUNIT_EXPECT_EQ(test, now.flags, SMC_CDC_ABORT);
	close_says(test, SMC_CDC_ABORT);
	expect_alive(test, false, false);
	KUNIT_EXPECT_TRUE(test, now.is_peer_done);
	release_sock(&smc->sk);
}

static void abrt_05_silence_is_a_timeout(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	set_bit(SMC_PENDING_SILENCE, &smc->pending);
	smc_close_run(smc);
	KUNIT_EXPECT_EQ(test, smc->sk.sk_err, ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, now.nr_rsts, 1);
	set_bit(SMC_PENDING_LINK_LOST, &smc->pending);
	smc_close_run(smc);
	expect_alive(test, false, false);
	release_sock(&smc->sk);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(close_01_close_02_fin_follows_the_last_word),
	KUNIT_CASE(close_20_a_word_that_is_heard_at_once_waits_for_nothing),
	KUNIT_CASE(close_23_the_last_word_has_its_time),
	KUNIT_CASE(amb_54_payload_makes_a_reset_of_the_fin),
	KUNIT_CASE(close_17_what_was_said_before_the_loss_counts),
	KUNIT_CASE(close_17_a_loss_in_between_waits_for_the_next_look),
	KUNIT_CASE(tmr_17_a_wait_begins_with_all_its_time),
	KUNIT_CASE(close_08_a_close_follows_its_data),
	KUNIT_CASE(close_11_a_word_is_told_once),
	KUNIT_CASE(abrt_05_the_error_is_that_of_tcp),
	KUNIT_CASE(abrt_05_silence_is_a_timeout),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_close",
	.suite_init = close_suite_init,
	.suite_exit = close_suite_exit,
	.init = close_test_init,
	.exit = close_test_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
