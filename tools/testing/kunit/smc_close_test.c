// SPDX-License-Identifier: GPL-2.0
/*
 * The socket's side of the close machine: the order in which it reads events, what it does
 * then, and how TCP ends. The machine, its timer and the sock are real. The functions below
 * them return what a case wants, and count their calls.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

#include "../../../net/smc/sock/smc_close.h"
#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/sock/smc_keepalive.h"
#include "../../../net/smc/group/smc_llc.h"
#include "../../../net/smc/group/smc_carrier.h"
#include "../../../net/smc/group/smc_core.h"
#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/sock/smc_errqueue.h"
#include "../../../net/smc/sock/smc_land.h"
#include "../../../net/smc/sock/smc_tcp.h"
#include "../../../net/smc/sock/smc_tx.h"
#include "../../../net/smc/sock/smc_wake.h"

/* no traces, no counters */
#define SMC_TRACE_H
#define trace_smc_close(...)	((void)0)
#define smc_stat_inc(...)	((void)0)

/* The time limits are long. */
static struct smc_pernet close_net = {
	.set.close_timeout_ms = 3600 * 1000,
	.set.close_pending_ms = 3600 * 1000,
	.set.llc.test_link = 3600 * 1000,
};

/* The results of the functions below, and their arguments. */
static struct {
	bool owes_final;
	bool is_busy;
	bool has_answer;
	u32 unread;
	unsigned long set_meanwhile;	/* bits set while the machine runs */
	unsigned long lands;		/* bits that are part of a landing */

	u8 flags;			/* of control blocks, sent */
	unsigned int nr_left;
	unsigned int nr_forgotten;
	bool is_peer_done;
	unsigned int nr_fins;
	unsigned int nr_resets;
	unsigned int nr_closed, nr_given_up;
	unsigned int nr_disconnected;
	unsigned int nr_woken;
	unsigned int nr_errors;
	unsigned int nr_early;		/* wake-ups before a reset */
	unsigned int nr_hs;
	unsigned int nr_ends;
	unsigned int nr_probes;
	unsigned int nr_land_ends;
} now;

static u32 close_readable(struct smc_conn *conn)
{
	conn->pending |= now.set_meanwhile;
	return now.unread;
}

static void close_leave(struct smc_conn *conn, bool is_peer_done)
{
	now.nr_left++;
	now.is_peer_done = is_peer_done;
	conn->token = 0;
}

static bool close_is_up(const struct smc_conn *conn)
{
	return true;
}

static void close_probe(struct smc_conn *conn)
{
	now.nr_probes++;
}

static const struct smc_carrier close_carrier = {
	.leave = close_leave,
	.is_up = close_is_up,
	.probe = close_probe,
};

static void close_signal(struct smc_conn *conn, u8 flags)
{
	now.flags |= flags;
}

static void close_shutdown(struct sock *sk, int how)
{
	/* CLOSE-01: nothing of ours is in flight, and the connection is still in its group */
	now.nr_fins += !now.owes_final && !now.nr_left;
}

/* Under the lock that decides it: a work item must not wait for the lock again. */
static void close_reset(struct sock *sk)
{
	sock_owned_by_me(sk);
	now.nr_resets += sock_owned_by_user_nocheck(sk);
	now.nr_early += now.nr_woken + now.nr_errors;
}

static void close_tcp(struct sock *sk, long timeout)
{
	now.nr_closed++;
}

static int close_disconnect(struct sock *sk)
{
	now.nr_disconnected++;
	return 0;
}

static bool close_has_answer(const struct smc_sock *smc, unsigned long since)
{
	return now.has_answer;
}

static void close_queue(struct smc_sock *smc)
{
	now.nr_hs++;
}

#define smc_conn_forget_unread(...)	((void)now.nr_forgotten++)
#define smc_conn_has_inflight(...)	(now.is_busy)
#define smc_conn_has_progress(...)	(false)
#define smc_conn_await_drain(conn)	((conn) && !now.is_busy)
#define smc_conn_mark_progress(...)	((void)0)
#define smc_conn_owes_final(conn)	((conn) && now.owes_final)
#define smc_conn_readable		close_readable
#define smc_conn_unsent(...)		(0)
#define smc_keepalive_stop(...)		((void)0)
#define smc_land_takes(smc, what)	((smc) && now.lands & BIT(what))
#define smc_land_run(...)		((void)0)
#define smc_land_drop(...)		((void)now.nr_land_ends++)
#define smc_keepalive_begin(...)	((void)0)
#define smc_keepalive_has_answer	close_has_answer
#define smc_net(...)			(&close_net)
#define smc_errqueue_discard(...)		((void)0)
#define smc_sock_queue			close_queue
#define smc_sock_queue_close(...)	((void)0)
#define smc_sock_queue_end(conn, delay)	((void)(conn), (void)(delay), (void)now.nr_ends++)
#define smc_tcp_disconnect		close_disconnect
#define smc_tcp_leave(...)		((void)now.nr_given_up++)
#define smc_tcp_reset			close_reset
#define smc_tcp_shutdown		close_shutdown
#define smc_tx_flush(...)		((void)0)
#define smc_tx_signal			close_signal
#define smc_wake_error(...)		((void)now.nr_errors++)
#define smc_wake_state(...)		((void)now.nr_woken++)
#define smc_wake_writers(...)		((void)0)
#define tcp_close			close_tcp

#include "../../../net/smc/sock/smc_close.c"

struct close_lab {
	struct smc_sock smc;
	struct smc_conn conn;
	struct socket *sock;
};

/* A connection that is established, on a socket with a file. */
static int close_test_init(struct kunit *test)
{
	struct close_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	struct smc_conn *conn;
	int rc;

	memset(&now, 0, sizeof(now));
	if (!lab)
		return -ENOMEM;
	rc = sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &lab->sock);
	if (rc)
		return rc;
	smc_kunit_hang(&lab->smc, lab->sock->sk);
	conn = &lab->conn;
	conn->sk = lab->smc.sk;
	conn->token = 1;
	conn->carrier = &close_carrier;
	conn->rtoken = -1;
	conn->ctl.rx_edge.size = 4096;
	conn->ctl.snd_size = 4096;
	spin_lock_init(&conn->lock);
	/* of the suite */
	refcount_set(&conn->refs, 1);
	timer_setup(&lab->smc.close_timer, smc_close_timer, 0);
	smc_state_close_init(&lab->smc.close);
	lab->smc.conn = conn;
	lab->smc.phase = SMC_PHASE_SMC;
	test->priv = lab;
	lock_sock(conn->sk);
	smc_close_establish(&lab->smc);
	release_sock(conn->sk);
	now.nr_woken = 0;
	return 0;
}

static void close_test_exit(struct kunit *test)
{
	struct close_lab *lab = test->priv;

	if (!lab)
		return;
	smc_sock_disarm(&lab->smc, &lab->smc.close_timer);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->smc.refs), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->conn.refs), 1);
	smc_kunit_take_off(lab->smc.sk);
	/* undo a case that took the file away */
	if (!lab->smc.sk->sk_socket) {
		lab->sock->sk = NULL;
		sock_graft(lab->smc.sk, lab->sock);
	}
	sock_release(lab->sock);
}

/* Start the next row of a case with another connection. */
static struct close_lab *close_renew(struct kunit *test)
{
	close_test_exit(test);
	test->priv = NULL;
	KUNIT_ASSERT_EQ(test, close_test_init(test), 0);
	return test->priv;
}

static struct smc_sock *close_lock(struct kunit *test)
{
	struct close_lab *lab = test->priv;

	lock_sock(lab->smc.sk);
	return &lab->smc;
}

/* close() of the file */
static void close_file(struct smc_sock *smc)
{
	smc_close_by_app(smc, 0);
	smc_close_release(smc);
}

static void expect_state(struct kunit *test, enum smc_conn_state state)
{
	struct close_lab *lab = test->priv;

	KUNIT_EXPECT_STREQ(test, smc_state_conn_name(lab->smc.close.state),
			   smc_state_conn_name(state));
	KUNIT_EXPECT_EQ(test, smc_sock_shown_state(&lab->smc), smc_state_shown(state));
}

/* References: the sock's, the timer's. */
static void expect_alive(struct kunit *test, bool is_alive, bool has_timer)
{
	struct close_lab *lab = test->priv;
	struct smc_sock *smc = &lab->smc;

	KUNIT_EXPECT_EQ(test, smc_state_is_alive(&smc->close), is_alive);
	KUNIT_EXPECT_EQ(test, timer_pending(&smc->close_timer), has_timer);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->refs), 1 + has_timer);
	KUNIT_EXPECT_EQ(test, now.nr_left, is_alive ? 0 : 1);
}

static void close_says(struct kunit *test, u8 flags)
{
	struct close_lab *lab = test->priv;

	lab->conn.ctl.rx_conn_flags |= flags;
	smc_close_run(&lab->smc);
}

static void close_01_close_02_fin_follows_the_last_word(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	expect_alive(test, true, false);
	now.owes_final = true;
	close_file(smc);
	KUNIT_EXPECT_EQ(test, now.flags, SMC_CDC_CLOSED);
	expect_state(test, SMC_STATE_PEERCLOSEWAIT1);
	close_says(test, SMC_CDC_CLOSED);
	expect_state(test, SMC_STATE_LASTWORD);
	expect_alive(test, true, true);
	/* nothing has changed */
	smc_close_run(smc);
	KUNIT_EXPECT_FALSE(test, smc->has_tcp_ended);
	smc_close_unlock(smc);
	KUNIT_EXPECT_EQ(test, now.nr_fins + now.nr_resets + now.nr_closed, 0);
	close_lock(test);
	now.owes_final = false;
	smc_close_run(smc);
	expect_state(test, SMC_STATE_CLOSED);
	expect_alive(test, false, false);
	KUNIT_EXPECT_TRUE(test, now.is_peer_done);
	KUNIT_EXPECT_EQ(test, now.nr_fins, 1);
	KUNIT_EXPECT_TRUE(test, smc->has_tcp_ended);
	smc_close_run(smc);
	expect_alive(test, false, false);
	smc_close_unlock(smc);
	KUNIT_EXPECT_EQ(test, now.nr_resets, 0);
	KUNIT_EXPECT_EQ(test, now.nr_closed, 1);
	KUNIT_EXPECT_EQ(test, now.nr_given_up, 1);
}

static void close_20_a_flag_that_completes_at_once_waits_for_nothing(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	close_says(test, SMC_CDC_CLOSED);
	expect_state(test, SMC_STATE_APPCLOSEWAIT1);
	smc_close_by_app(smc, 0);
	expect_state(test, SMC_STATE_CLOSED);
	expect_alive(test, false, false);
	KUNIT_EXPECT_EQ(test, now.nr_fins, 1);
	/* the file still exists */
	KUNIT_EXPECT_EQ(test, now.nr_forgotten, 0);
	/* nobody reads any more; a handshake is not the close machine's */
	smc_close_release(smc);
	KUNIT_EXPECT_EQ(test, now.nr_forgotten, 1);
	smc->phase = SMC_PHASE_HANDSHAKE;
	smc_close_release(smc);
	KUNIT_EXPECT_EQ(test, now.nr_forgotten, 1);
	smc->phase = SMC_PHASE_SMC;
	smc_close_unlock(smc);
	KUNIT_EXPECT_EQ(test, now.nr_closed, 1);
	KUNIT_EXPECT_EQ(test, now.nr_given_up, 1);
}

static void close_23_the_last_word_has_its_time(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.owes_final = true;
	close_says(test, SMC_CDC_DONE | SMC_CDC_CLOSED);
	close_file(smc);
	expect_state(test, SMC_STATE_LASTWORD);
	expect_alive(test, true, true);
	set_bit(SMC_PENDING_TIMER, &smc->conn->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_CLOSED);
	expect_alive(test, false, false);
	smc_close_unlock(smc);
}

/* A connection whose peer has closed first, and has our C. TCP's state is @tcp_state. */
static struct smc_sock *close_second(struct kunit *test, u8 tcp_state)
{
	struct close_lab *lab = close_renew(test);
	struct smc_sock *smc = close_lock(test);

	/* a sock that was never connected: the suite ends it as it was */
	lab->smc.sk->sk_state = tcp_state;
	close_says(test, SMC_CDC_CLOSED);
	close_file(smc);
	return smc;
}

static void close_01_the_first_fin_is_that_of_the_side_that_closed_first(struct kunit *test)
{
	/* the FIN that comes; a reset, which needs no answer; none */
	static const u8 ends[] = { TCP_CLOSE_WAIT, TCP_CLOSE, TCP_ESTABLISHED };
	struct smc_conn *dropped = kunit_kzalloc(test, sizeof(*dropped), GFP_KERNEL);
	unsigned long expires;
	struct smc_sock *smc;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, dropped);
	spin_lock_init(&dropped->lock);
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		smc = close_second(test, TCP_ESTABLISHED);
		expect_state(test, SMC_STATE_LASTWORD);
		expires = smc->close_timer.expires;
		KUNIT_EXPECT_TRUE(test, time_before_eq(expires, jiffies + HZ / 5));
		/* a later look does not prolong the wait */
		smc_close_run(smc);
		KUNIT_EXPECT_EQ(test, smc->close_timer.expires, expires);
		KUNIT_EXPECT_EQ(test, now.nr_fins, 0);
		/* a late event of the connection before this one */
		KUNIT_EXPECT_FALSE(test, smc_close_awaits_fin(smc, dropped));
		smc->sk->sk_state = ends[i];
		if (ends[i] == TCP_ESTABLISHED)
			set_bit(SMC_PENDING_TIMER, &smc->conn->pending);
		smc_close_run(smc);
		expect_state(test, SMC_STATE_CLOSED);
		KUNIT_EXPECT_EQ(test, now.nr_fins, 1);
		smc->sk->sk_state = TCP_CLOSE;
		smc_close_unlock(smc);
		KUNIT_EXPECT_EQ(test, now.nr_closed, 1);
	}
}

static void close_01_nothing_waits_for_a_fin_that_came_early(struct kunit *test)
{
	struct smc_sock *smc = close_second(test, TCP_CLOSE_WAIT);

	expect_state(test, SMC_STATE_CLOSED);
	KUNIT_EXPECT_EQ(test, now.nr_fins, 1);
	smc->sk->sk_state = TCP_CLOSE;
	smc_close_unlock(smc);
}

static void amb_54_payload_makes_a_reset_of_the_fin(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.owes_final = true;
	close_says(test, SMC_CDC_CLOSED);
	close_file(smc);
	set_bit(SMC_PENDING_FAULT, &smc->conn->pending);
	smc_close_run(smc);
	KUNIT_EXPECT_TRUE(test, smc->has_tcp_ended);
	expect_alive(test, true, true);
	smc_close_unlock(smc);
	KUNIT_EXPECT_EQ(test, now.nr_resets, 1);
	close_lock(test);
	now.owes_final = false;
	smc_close_run(smc);
	expect_alive(test, false, false);
	KUNIT_EXPECT_EQ(test, now.nr_fins, 0);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, 0);
	smc_close_unlock(smc);
	KUNIT_EXPECT_EQ(test, now.nr_resets, 1);
	KUNIT_EXPECT_EQ(test, now.nr_closed, 1);
	KUNIT_EXPECT_EQ(test, now.nr_given_up, 1);
}

/* D is in the control block before the loss is reported, by any task. */
static void close_17_what_was_said_before_the_loss_counts(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.unread = 1;
	smc->conn->ctl.rx_conn_flags = SMC_CDC_DONE;
	set_bit(SMC_PENDING_LINK_LOST, &smc->conn->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_APPCLOSEWAIT1);
	KUNIT_EXPECT_FALSE(test, smc->conn->is_purged);
	expect_alive(test, true, false);
	now.unread = 0;
	close_file(smc);
	smc_close_unlock(smc);
}

/* D may arrive with a loss that is reported during the step. */
static void close_17_a_loss_in_between_waits_for_the_next_look(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	smc_close_handle_event(smc, SMC_CLOSE_APP_SHUT_WR);
	close_says(test, SMC_CDC_DONE);
	smc_close_handle_event(smc, SMC_CLOSE_APP_CLOSE);
	expect_state(test, SMC_STATE_PEERCLOSEWAIT2);
	now.set_meanwhile = BIT(SMC_PENDING_LINK_LOST);
	smc_close_run(smc);
	now.set_meanwhile = 0;
	expect_state(test, SMC_STATE_PEERCLOSEWAIT2);
	KUNIT_EXPECT_EQ(test, smc->conn->pending, BIT(SMC_PENDING_LINK_LOST));
	smc_close_run(smc);
	expect_state(test, SMC_STATE_CLOSED);
	smc_close_unlock(smc);
}

/* The timer that has expired belongs to the wait that has just ended. */
static void tmr_17_a_wait_begins_with_all_its_time(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	smc_close_handle_event(smc, SMC_CLOSE_APP_CLOSE);
	expect_alive(test, true, true);
	now.owes_final = true;
	smc->conn->ctl.rx_conn_flags = SMC_CDC_ABORT;
	set_bit(SMC_PENDING_TIMER, &smc->conn->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_PROCESSABORT);
	expect_alive(test, true, true);
	now.owes_final = false;
	smc_close_run(smc);
	expect_state(test, SMC_STATE_CLOSED);
	smc_close_unlock(smc);
}

/* The completion is found by any step. */
static void close_08_a_close_follows_its_data(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.is_busy = true;
	close_file(smc);
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
	smc_close_unlock(smc);
}

static void close_11_a_flag_is_sent_once(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	close_says(test, SMC_CDC_CLOSED);
	KUNIT_EXPECT_EQ(test, now.nr_woken, 1);
	smc_close_run(smc);
	KUNIT_EXPECT_EQ(test, now.nr_woken, 1);
	close_file(smc);
	smc_close_unlock(smc);
}

static void abrt_05_the_error_is_that_of_tcp(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	smc->tcp_err = EHOSTUNREACH;
	set_bit(SMC_PENDING_RESET, &smc->conn->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_PEERABORTWAIT);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, EHOSTUNREACH);
	KUNIT_EXPECT_EQ(test, now.flags, SMC_CDC_ABORT);
	close_says(test, SMC_CDC_ABORT);
	expect_alive(test, false, false);
	KUNIT_EXPECT_TRUE(test, now.is_peer_done);
	smc_close_unlock(smc);
}

/* A connection on a link, whose peer has sent something; TCP ends. */
static struct smc_sock *close_lose_tcp(struct kunit *test, int tcp_err)
{
	struct smc_sock *smc = close_lock(test);

	rcu_assign_pointer(smc->conn->link, (struct smc_link *)smc->conn);
	smc->conn->ctl.rx_prod = 1;
	smc->tcp_err = tcp_err;
	set_bit(SMC_PENDING_RESET, &smc->conn->pending);
	smc_close_run(smc);
	return smc;
}

static void abrt_10_a_connection_goes_on_without_tcp(struct kunit *test)
{
	struct smc_sock *smc = close_lose_tcp(test, ETIMEDOUT);

	expect_state(test, SMC_STATE_ACTIVE);
	expect_alive(test, true, true);
	KUNIT_EXPECT_EQ(test, now.nr_probes, 1);
	now.has_answer = true;
	set_bit(SMC_PENDING_TIMER, &smc->conn->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_ACTIVE);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, 0);
	/* a later abort has its own error */
	close_says(test, SMC_CDC_ABORT);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, ECONNRESET);
	expect_alive(test, false, false);
	smc_close_unlock(smc);
	KUNIT_EXPECT_EQ(test, now.nr_resets, 0);
	smc->sk->sk_err = 0;
}

static void abrt_10_without_an_answer_the_error_is_that_of_tcp(struct kunit *test)
{
	struct smc_sock *smc = close_lose_tcp(test, ETIMEDOUT);

	set_bit(SMC_PENDING_TIMER, &smc->conn->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_PEERABORTWAIT);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, ETIMEDOUT);
	close_says(test, SMC_CDC_ABORT);
	smc_close_unlock(smc);
	smc->sk->sk_err = 0;
}

static void abrt_01_an_operator_ends_a_connection_at_once(struct kunit *test)
{
	struct smc_sock *smc;

	now.has_answer = true;
	smc = close_lose_tcp(test, ECONNABORTED);
	expect_state(test, SMC_STATE_PEERABORTWAIT);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, ECONNABORTED);
	close_says(test, SMC_CDC_ABORT);
	smc_close_unlock(smc);
	smc->sk->sk_err = 0;
}

static void abrt_05_silence_is_a_timeout(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	set_bit(SMC_PENDING_SILENCE, &smc->conn->pending);
	smc_close_run(smc);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, smc->has_tcp_ended);
	set_bit(SMC_PENDING_LINK_LOST, &smc->conn->pending);
	smc_close_run(smc);
	expect_alive(test, false, false);
	smc_close_unlock(smc);
	KUNIT_EXPECT_EQ(test, now.nr_resets, 1);
}

/* The machine does not see what is part of a landing; payload on TCP is a fault otherwise. */
static void what_belongs_to_a_landing_ends_nothing(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);

	now.lands = BIT(SMC_PENDING_LINK_LOST) | BIT(SMC_PENDING_PAYLOAD);
	smc->conn->pending = now.lands;
	smc_close_run(smc);
	expect_state(test, SMC_STATE_ACTIVE);
	KUNIT_EXPECT_EQ(test, smc->conn->pending, 0UL);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, 0);
	now.lands = 0;
	set_bit(SMC_PENDING_PAYLOAD, &smc->conn->pending);
	smc_close_run(smc);
	expect_state(test, SMC_STATE_PEERABORTWAIT);
	KUNIT_EXPECT_EQ(test, smc->sk->sk_err, ECONNABORTED);
	/* a landing that has begun does not outlive the connection in its group */
	KUNIT_EXPECT_EQ(test, now.nr_left + now.nr_land_ends, 0);
	close_says(test, SMC_CDC_ABORT);
	expect_state(test, SMC_STATE_CLOSED);
	KUNIT_EXPECT_EQ(test, now.nr_left, 1);
	KUNIT_EXPECT_EQ(test, now.nr_land_ends, 1);
	close_file(smc);
	smc_close_unlock(smc);
}

static const struct {
	enum smc_phase phase;
	enum smc_conn_state state;
	bool is_released;
	unsigned int nr_closed;
} unlock_rows[] = {
	{ SMC_PHASE_SMC, SMC_STATE_ACTIVE, false, 0 },
	{ SMC_PHASE_SMC, SMC_STATE_CLOSED, false, 0 },
	/* close() does not end the protocol */
	{ SMC_PHASE_SMC, SMC_STATE_PEERCLOSEWAIT1, true, 0 },
	{ SMC_PHASE_SMC, SMC_STATE_LASTWORD, true, 0 },
	/* the last step of the machine closes TCP */
	{ SMC_PHASE_SMC, SMC_STATE_CLOSED, true, 1 },
	/* the handshake does, when it has ended */
	{ SMC_PHASE_HANDSHAKE, SMC_STATE_INIT, true, 0 },
	{ SMC_PHASE_STOPPING, SMC_STATE_INIT, true, 0 },
	{ SMC_PHASE_IDLE, SMC_STATE_INIT, true, 1 },
};

static void close_01_tcp_closes_when_the_lock_is_released(struct kunit *test)
{
	struct close_lab *lab = test->priv;
	int i, round;

	for (i = 0; i < ARRAY_SIZE(unlock_rows); i++) {
		lab->smc.phase = unlock_rows[i].phase;
		lab->smc.close.state = unlock_rows[i].state;
		lab->smc.is_released = unlock_rows[i].is_released;
		now.nr_closed = 0;
		/* once */
		for (round = 0; round < 2; round++) {
			lock_sock(lab->smc.sk);
			smc_close_unlock(&lab->smc);
			KUNIT_EXPECT_EQ_MSG(test, now.nr_closed, unlock_rows[i].nr_closed,
					    "%d", i);
			KUNIT_EXPECT_FALSE(test, sock_owned_by_user_nocheck(lab->smc.sk));
		}
	}
	lab->smc.close.state = SMC_STATE_ACTIVE;
}

/* Received data stays readable while the socket has a reader. */
static void abrt_08_unread_bytes_stay_for_a_reader(struct kunit *test)
{
	int is_released;

	for (is_released = 0; is_released < 2; is_released++) {
		struct close_lab *lab = close_renew(test);

		now.unread = 1000;
		lab->smc.is_released = is_released;
		lock_sock(lab->smc.sk);
		smc_close_handle_event(&lab->smc, SMC_CLOSE_LINK_LOST);
		KUNIT_EXPECT_EQ(test, now.nr_left, 1);
		KUNIT_EXPECT_EQ(test, now.nr_forgotten, is_released);
		KUNIT_EXPECT_EQ(test, (int)lab->smc.close.state, SMC_STATE_CLOSED);
		/* no timer is armed any more */
		KUNIT_EXPECT_EQ(test, refcount_read(&lab->smc.refs), 1);
		KUNIT_EXPECT_TRUE(test, lab->smc.sk->sk_err);
		KUNIT_EXPECT_EQ(test, lab->smc.shutdown, SHUTDOWN_MASK);
		KUNIT_EXPECT_TRUE(test, lab->smc.has_tcp_ended);
		KUNIT_EXPECT_EQ(test, now.nr_resets, 1);
		/* the application learns of it when TCP is reset, not before */
		KUNIT_EXPECT_EQ(test, now.nr_early, 0);
		KUNIT_EXPECT_EQ(test, now.nr_errors, 1);
		smc_close_unlock(&lab->smc);
		lab->smc.sk->sk_err = 0;
	}
}

static const struct {
	int tcp_err;
	int err;
} rst_rows[] = {
	{ 0, ECONNRESET },
	{ ECONNRESET, ECONNRESET },
	/* TCP's keepalives got no answer, or an operator ended the connection */
	{ ETIMEDOUT, ETIMEDOUT },
	{ ECONNABORTED, ECONNABORTED },
	/* TCP's error for a writer */
	{ EPIPE, ECONNRESET },
};

static void the_end_of_tcp_says_how_it_came(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(rst_rows); i++) {
		struct close_lab *lab = close_renew(test);

		lab->smc.tcp_err = rst_rows[i].tcp_err;
		set_bit(SMC_PENDING_RESET, &lab->conn.pending);
		lock_sock(lab->smc.sk);
		smc_close_run(&lab->smc);
		KUNIT_EXPECT_EQ_MSG(test, lab->smc.sk->sk_err, rst_rows[i].err, "%d", i);
		KUNIT_EXPECT_EQ(test, lab->smc.err, rst_rows[i].err);
		lab->smc.sk->sk_err = 0;
		release_sock(lab->smc.sk);
	}
}

/* TCP must not see a dead sock: it would keep data that no one reads. */
static void a_closed_file_leaves_a_sock_that_goes_on(struct kunit *test)
{
	struct smc_sock *smc = close_lock(test);
	struct sock *sk = smc->sk;

	close_file(smc);
	KUNIT_EXPECT_NULL(test, sk->sk_socket);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(sk->sk_wq));
	KUNIT_EXPECT_FALSE(test, sock_flag(sk, SOCK_DEAD));
	KUNIT_EXPECT_TRUE(test, smc->is_released);
	KUNIT_EXPECT_EQ(test, now.nr_forgotten, 1);
	KUNIT_EXPECT_EQ(test, smc->shutdown, SHUTDOWN_MASK);
	expect_alive(test, true, true);
	smc_close_unlock(smc);
	KUNIT_EXPECT_EQ(test, now.nr_closed, 0);
	KUNIT_EXPECT_EQ(test, now.nr_given_up, 0);
}

/* ABRT-02: connect() to AF_UNSPEC. The peer still gets all messages that are due. */
static void a_socket_connects_again_while_its_connection_ends(struct kunit *test)
{
	struct close_lab *lab = test->priv;
	struct smc_sock *smc = &lab->smc;
	struct sock *sk = smc->sk;

	now.owes_final = true;
	smc->tcp_err = EPIPE;
	smc->is_done = true;
	smc->shutdown = RCV_SHUTDOWN;
	/* of the socket */
	smc_conn_get(&lab->conn);
	lock_sock(sk);
	KUNIT_EXPECT_EQ(test, smc_close_dissolve(smc), 0);
	KUNIT_EXPECT_EQ(test, now.flags, SMC_CDC_ABORT);
	KUNIT_EXPECT_NULL(test, smc->conn);
	KUNIT_EXPECT_EQ(test, now.nr_disconnected, 1);
	KUNIT_EXPECT_EQ(test, (int)smc->phase, SMC_PHASE_IDLE);
	KUNIT_EXPECT_FALSE(test, smc->has_tcp_ended);
	KUNIT_EXPECT_EQ(test, smc->err, 0);
	KUNIT_EXPECT_EQ(test, smc->tcp_err, 0);
	KUNIT_EXPECT_FALSE(test, smc->is_done);
	KUNIT_EXPECT_EQ(test, smc->shutdown, 0);
	/* the error of a reset TCP connection */
	KUNIT_EXPECT_EQ(test, sk->sk_err, ECONNRESET);
	sk->sk_err = 0;

	/* the connection goes on, without effect on the socket */
	KUNIT_EXPECT_EQ(test, (int)smc->close.state, SMC_STATE_INIT);
	KUNIT_EXPECT_EQ(test, now.nr_left, 0);
	KUNIT_EXPECT_EQ(test, now.nr_ends, 1);
	smc_close_run(smc);
	smc_close_unlock(smc);
	/* the abort reset TCP */
	KUNIT_EXPECT_EQ(test, now.nr_resets, 1);
}

static const struct smc_sock_works close_works = { .close = smc_close_work };

static void close_release_cb(struct sock *sk)
{
	smc_sock_release_missed(sk);
}

static const struct {
	bool owes_final;
	bool has_link;
	u8 flags;
	bool ends;
} end_rows[] = {
	{ true, true, 0, false },
	{ false, true, 0, false },
	{ true, true, SMC_CDC_ABORT, false },
	{ false, true, SMC_CDC_ABORT, true },
	{ false, true, SMC_CDC_CLOSED, true },
	{ false, false, 0, true },
};

static void abrt_03_a_connection_without_a_socket_ends_after_both_aborts(struct kunit *test)
{
	struct close_lab *lab = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(end_rows); i++) {
		now.nr_ends = 0;
		now.owes_final = end_rows[i].owes_final;
		lab->conn.ctl.rx_conn_flags = end_rows[i].flags;
		/* never dereferenced */
		RCU_INIT_POINTER(lab->conn.link, end_rows[i].has_link ? (void *)test : NULL);
		smc_close_check_end(&lab->conn);
		KUNIT_EXPECT_EQ_MSG(test, now.nr_ends, end_rows[i].ends, "%d", i);
	}
}

static void abrt_13_the_end_tells_whether_the_peer_is_done(struct kunit *test)
{
	static const u8 flags[] = { 0, SMC_CDC_DONE, SMC_CDC_CLOSED, SMC_CDC_ABORT };
	struct close_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;
	int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		conn->token = 1;
		conn->ctl.rx_conn_flags = flags[i];
		smc_conn_get(conn);
		smc_close_end_work(&conn->end_work.work);
		KUNIT_EXPECT_EQ(test, now.nr_left, i + 1);
		KUNIT_EXPECT_EQ(test, now.nr_forgotten, i + 1);
		KUNIT_EXPECT_EQ_MSG(test, now.is_peer_done, i > 1, "%d", i);
	}
	/* it had ended before its socket dropped it, with unread data */
	smc_conn_get(conn);
	smc_close_end_work(&conn->end_work.work);
	KUNIT_EXPECT_EQ(test, now.nr_left, i);
	KUNIT_EXPECT_EQ(test, now.nr_forgotten, i + 1);
}

static void no_event_is_missed_while_a_call_holds_the_lock(struct kunit *test)
{
	struct close_lab *lab = test->priv;
	unsigned long end = jiffies + 20 * HZ;
	struct smc_conn *conn = &lab->conn;
	struct sock *sk = lab->smc.sk;
	struct proto *tcp = sk->sk_prot;
	static struct proto prot;

	KUNIT_ASSERT_EQ(test, smc_sock_init(&close_works), 0);
	prot = *tcp;
	prot.release_cb = close_release_cb;
	sk->sk_prot = &prot;
	INIT_WORK(&lab->smc.close_work, smc_close_work);
	lock_sock(sk);
	smc_sock_pend(conn, SMC_PENDING_LINK_LOST);
	while (!READ_ONCE(lab->smc.missed) && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, lab->smc.missed, BIT(SMC_MISSED_CLOSE));
	release_sock(sk);
	/* run the queued work */
	smc_sock_exit();
	sk->sk_prot = tcp;
	KUNIT_EXPECT_EQ(test, (int)lab->smc.close.state, SMC_STATE_CLOSED);
	sk->sk_err = 0;
}

/* accept() does not return a child that ended before its first message. */
static void a_child_gets_the_end(struct kunit *test)
{
	struct close_lab *lab = test->priv;
	struct smc_child child;

	lock_sock(lab->smc.sk);
	smc_close_run(&lab->smc);
	KUNIT_EXPECT_EQ(test, now.nr_hs, 0);
	lab->smc.child = &child;
	lab->conn.ctl.rx_conn_flags = SMC_CDC_ABORT;
	smc_close_run(&lab->smc);
	KUNIT_EXPECT_EQ(test, now.nr_hs, 1);
	lab->smc.sk->sk_err = 0;
	release_sock(lab->smc.sk);
}

static const struct {
	enum smc_conn_state state;
	u8 shutdown;
	bool is_done;
	bool is_over;
} over_rows[] = {
	{ SMC_STATE_ACTIVE, SHUTDOWN_MASK, false, false },
	{ SMC_STATE_PEERCLOSEWAIT1, SHUTDOWN_MASK, false, false },
	{ SMC_STATE_PEERCLOSEWAIT2, 0, false, true },
	{ SMC_STATE_PEERFINCLOSEWAIT, 0, false, true },
	{ SMC_STATE_APPCLOSEWAIT2, 0, false, true },
	{ SMC_STATE_APPFINCLOSEWAIT, 0, false, true },
	{ SMC_STATE_APPCLOSEWAIT1, 0, false, false },
	{ SMC_STATE_APPCLOSEWAIT1, SHUTDOWN_MASK, false, false },
	{ SMC_STATE_APPCLOSEWAIT1, SHUTDOWN_MASK, true, true },
	{ SMC_STATE_CLOSED, SHUTDOWN_MASK, true, false },
};

static void close_03_it_is_over_when_both_sides_are_done(struct kunit *test)
{
	struct close_lab *lab = test->priv;
	int i;

	lock_sock(lab->smc.sk);
	for (i = 0; i < ARRAY_SIZE(over_rows); i++) {
		lab->smc.close.state = over_rows[i].state;
		lab->smc.shutdown = over_rows[i].shutdown;
		lab->smc.is_done = over_rows[i].is_done;
		KUNIT_EXPECT_EQ_MSG(test, smc_close_is_over(&lab->smc), over_rows[i].is_over,
				    "%d", i);
	}
	/* a connection that has ended cannot be shut down */
	KUNIT_EXPECT_EQ(test, smc_close_shutdown(&lab->smc, SHUTDOWN_MASK), -ENOTCONN);
	KUNIT_EXPECT_EQ(test, now.nr_woken, 0);
	lab->smc.close.state = SMC_STATE_ACTIVE;
	release_sock(lab->smc.sk);
}

static struct kunit_case close_cases[] = {
	KUNIT_CASE(close_01_close_02_fin_follows_the_last_word),
	KUNIT_CASE(what_belongs_to_a_landing_ends_nothing),
	KUNIT_CASE(close_20_a_flag_that_completes_at_once_waits_for_nothing),
	KUNIT_CASE(close_23_the_last_word_has_its_time),
	KUNIT_CASE(close_01_the_first_fin_is_that_of_the_side_that_closed_first),
	KUNIT_CASE(close_01_nothing_waits_for_a_fin_that_came_early),
	KUNIT_CASE(amb_54_payload_makes_a_reset_of_the_fin),
	KUNIT_CASE(close_17_what_was_said_before_the_loss_counts),
	KUNIT_CASE(close_17_a_loss_in_between_waits_for_the_next_look),
	KUNIT_CASE(tmr_17_a_wait_begins_with_all_its_time),
	KUNIT_CASE(close_08_a_close_follows_its_data),
	KUNIT_CASE(close_11_a_flag_is_sent_once),
	KUNIT_CASE(abrt_05_the_error_is_that_of_tcp),
	KUNIT_CASE(abrt_10_a_connection_goes_on_without_tcp),
	KUNIT_CASE(abrt_10_without_an_answer_the_error_is_that_of_tcp),
	KUNIT_CASE(abrt_01_an_operator_ends_a_connection_at_once),
	KUNIT_CASE(abrt_05_silence_is_a_timeout),
	KUNIT_CASE(close_01_tcp_closes_when_the_lock_is_released),
	KUNIT_CASE(abrt_08_unread_bytes_stay_for_a_reader),
	KUNIT_CASE(the_end_of_tcp_says_how_it_came),
	KUNIT_CASE(a_closed_file_leaves_a_sock_that_goes_on),
	KUNIT_CASE(a_socket_connects_again_while_its_connection_ends),
	KUNIT_CASE(abrt_03_a_connection_without_a_socket_ends_after_both_aborts),
	KUNIT_CASE(abrt_13_the_end_tells_whether_the_peer_is_done),
	KUNIT_CASE(no_event_is_missed_while_a_call_holds_the_lock),
	KUNIT_CASE(a_child_gets_the_end),
	KUNIT_CASE(close_03_it_is_over_when_both_sides_are_done),
	{}
};

static struct kunit_suite close_suite = {
	.name = "smc_close",
	.init = close_test_init,
	.exit = close_test_exit,
	.test_cases = close_cases,
};

kunit_test_suite(close_suite);
