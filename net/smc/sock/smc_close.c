// SPDX-License-Identifier: GPL-2.0
/*
 * Ending a connection, RFC 7609 section 4.8.
 *
 * Operation: everything that ends a connection becomes an event for the pure
 * close machine (smc_state.c). Calls of the application run it directly, news
 * from the peer, from a link or from the timer queue close_work, which runs it.
 * What the peer has said is in the control block; what is nowhere else is a bit of
 * smc_conn.pending. What the machine answers is carried out here, in the order it
 * asks for.
 *
 * Ownership: the machine is the connection's, and from establishment to its final state a
 * user of it. So a closed file does not end the protocol, nor does a socket that has
 * dropped the connection for another one. TCP's sock has no file then, but is not dead as
 * far as TCP is concerned: it goes on like a child that nobody has accepted. Whoever brings
 * the machine to its end closes it, when the socket lock is released.
 */
#include <net/tcp.h>

#include "sock/smc_close.h"
#include "smc_compat.h"
#include "sock/smc_keepalive.h"
#include "group/smc_llc.h"
#include "group/smc_core.h"
#include "rdma/smc_net.h"
#include "sock/smc_errqueue.h"
#include "sock/smc_sock.h"
#include "sock/smc_tcp.h"
#include "observe/smc_trace.h"
#include "sock/smc_tx.h"
#include "sock/smc_wake.h"

/* Room for a chain of events that follow from one another. */
#define SMC_CLOSE_CHAIN	8

/* Is what the application lacks taken back by an abort? RFC 7609 4.8.2, ABRT-08. */
static bool smc_close_purges_unread(const struct smc_conn *conn)
{
	return READ_ONCE(smc_net(sock_net(conn->sk))->set.abort_purges);
}

/*
 * How the TCP connection has ended: was it reset, or did nobody answer its keepalives? What
 * TCP says to a writer is not passed on: nobody writes data on TCP here.
 */
static int smc_close_tcp_errno(const struct smc_conn *conn)
{
	const struct smc_sock *smc = smc_conn_sock(conn);

	return smc && smc->tcp_err != EPIPE ? smc->tcp_err : 0;
}

/*
 * If TCP has been reset: was it by a peer whose A may be under way? Not by an operator of
 * this host, nor by TCP's timers. What the peer wrote before its A comes before it.
 */
static bool smc_close_may_hear_abort(const struct smc_conn *conn)
{
	int tcp_err = smc_close_tcp_errno(conn);

	return rcu_access_pointer(conn->link) && (!tcp_err || tcp_err == ECONNRESET) &&
	       !smc_close_purges_unread(conn);
}

static void smc_close_get_facts(struct smc_conn *conn, struct smc_close_facts *facts)
{
	memset(facts, 0, sizeof(*facts));
	if (!conn->token)
		return;
	facts->has_unread = smc_conn_readable(conn) > 0;
	facts->has_unsent = smc_conn_unsent(conn) > 0;
	facts->has_inflight = smc_conn_has_inflight(conn);
	facts->has_progress = smc_conn_has_progress(conn);
	facts->has_links = !smc_lgr_is_down(conn->lgr);
	facts->is_abort_due = facts->has_links && smc_close_may_hear_abort(conn);
}

/* Nothing is left to send, nor to read unless @keeps_unread. */
static void smc_close_purge(struct smc_conn *conn, bool keeps_unread)
{
	spin_lock_bh(&conn->lock);
	if (!keeps_unread) {
		smc_cdc_consume(&conn->ctl, smc_cdc_readable(&conn->ctl));
		conn->is_purged = true;
	}
	smc_errqueue_discard(conn);
	conn->tx_prep = conn->tx_sent;
	spin_unlock_bh(&conn->lock);
}

/* Can anybody read what a connection has left behind? */
static bool smc_close_has_reader(const struct smc_conn *conn)
{
	const struct smc_sock *smc = smc_conn_sock(conn);

	return smc && !smc->is_released;
}

/**
 * smc_close_leave() - the connection gives its element and membership back
 * @conn: the connection
 * @is_peer_done: as for smc_conn_leave()
 *
 * Harmless when it is in no group. The last one to leave a group starts the
 * group's idle time (TMR-10).
 *
 * Context: Process context. Expects the socket lock held, or a handshake that
 *	    gives up as the caller.
 */
void smc_close_leave(struct smc_conn *conn, bool is_peer_done)
{
	struct smc_link_group *lgr = conn->lgr;

	lockdep_assert(!smc_state_is_alive(&conn->close) || lockdep_sock_is_held(conn->sk));
	if (!conn->token)
		return;
	smc_lgr_get(lgr);
	if (smc_conn_leave(conn, is_peer_done))
		smc_llc_arm_idle(lgr);
	smc_lgr_put(lgr);
}

static void smc_close_send(struct smc_conn *conn, u32 actions)
{
	u8 flags = 0;

	if (actions & SMC_CLOSE_DO_SEND_D)
		flags |= SMC_CDC_DONE;
	if (actions & SMC_CLOSE_DO_SEND_C)
		flags |= SMC_CDC_CLOSED;
	if (actions & SMC_CLOSE_DO_SEND_A) {
		flags |= SMC_CDC_ABORT;
		smc_stat_inc(sock_net(conn->sk), SMC_STAT_ABORTS_TX);
	}
	if (flags)
		smc_tx_signal(conn, flags);
}

/* SMC has ended, and TCP follows (CLOSE-01): what it has to say is no news any more. */
static void smc_close_tcp(struct smc_conn *conn, u32 actions)
{
	struct smc_sock *smc = smc_conn_sock(conn);

	if (!smc)
		return;
	if (actions & SMC_CLOSE_DO_TCP_RST) {
		smc->tcp_end = SMC_TCP_RESET_DUE;
	} else if (actions & SMC_CLOSE_DO_TCP_FIN) {
		smc->tcp_end = SMC_TCP_ENDED;
		smc_tcp_shutdown(smc->sk, SHUTDOWN_MASK);
	}
}

static void smc_close_wake(struct smc_conn *conn, u32 actions)
{
	if (!smc_conn_sock(conn))
		return;
	if (actions & (SMC_CLOSE_DO_WAKE_READERS | SMC_CLOSE_DO_WAKE_WRITERS))
		smc_wake_state(conn->sk);
	if (actions & SMC_CLOSE_DO_WAKE_WRITERS)
		smc_wake_writers(conn->sk);
}

/* The machine is done with this connection. */
static void smc_close_finish(struct smc_conn *conn)
{
	smc_keepalive_stop(conn);
	smc_conn_disarm(conn, &conn->close_timer);
	/* that of smc_close_establish() */
	smc_conn_put(conn);
}

/* Is there nothing that goes on without a file? */
static bool smc_close_is_settled(const struct smc_sock *smc)
{
	switch (smc->phase) {
	case SMC_PHASE_IDLE:
		return true;
	case SMC_PHASE_SMC:
		return !smc_state_is_alive(&smc->conn->close);
	default:
		return false;
	}
}

/**
 * smc_close_unlock() - release the socket lock, and do what had to wait for that
 * @smc: the socket; the caller does not use it any more, unless its file is open
 *
 * TCP is reset, or closed, if that has become due.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_unlock(struct smc_sock *smc)
{
	bool is_due = smc->tcp_end == SMC_TCP_RESET_DUE;
	struct sock *sk = smc->sk;
	bool is_over;

	sock_owned_by_me(smc->sk);
	if (likely(!is_due && !smc->is_released)) {
		release_sock(sk);
		return;
	}
	is_over = smc->is_released && smc_close_is_settled(smc);
	if (is_due)
		smc->tcp_end = SMC_TCP_ENDED;
	if (is_over) {
		smc->is_released = false;
		smc_tcp_leave(smc);
	}
	release_sock(sk);
	if (is_due)
		tcp_abort(sk, ECONNRESET);
	if (is_over)
		tcp_close(sk, 0);
}

/* What TCP would say of the same end, where that is known better here. */
static int smc_close_errno(const struct smc_conn *conn, enum smc_close_event cause, int err)
{
	if (cause == SMC_CLOSE_LINK_LOST)
		return conn->is_peer_silent ? ETIMEDOUT : err;
	/* the peer's abort may be its answer to the end of TCP, and be seen first */
	if (cause == SMC_CLOSE_RX_RST || cause == SMC_CLOSE_RX_ABORT)
		return smc_close_tcp_errno(conn) ?: err;
	return err;
}

/*
 * To a reader who has the end of the stream already, and lacks nothing before
 * it, an abort is no news; with TCP, too. A writer hears of a broken pipe.
 */
static int smc_close_after_end(struct smc_sock *smc, enum smc_conn_state was,
			       bool has_missed, int err)
{
	bool is_writer = (was == SMC_STATE_ACTIVE || was == SMC_STATE_APPCLOSEWAIT1) &&
			 !(smc->shutdown & SEND_SHUTDOWN);

	if (!(READ_ONCE(smc->conn->ctl.rx_conn_flags) & (SMC_CDC_DONE | SMC_CDC_CLOSED)) ||
	    has_missed)
		return err;
	smc->is_done = true;
	return is_writer && err == ECONNRESET ? EPIPE : err;
}

/* May it be news to a reader? Not what the own application began, or a peer that damages. */
static bool smc_close_is_told(enum smc_close_event cause)
{
	return BIT(cause) & (BIT(SMC_CLOSE_RX_CLOSED) | BIT(SMC_CLOSE_RX_ABORT) |
			     BIT(SMC_CLOSE_RX_RST) | BIT(SMC_CLOSE_SILENCE) |
			     BIT(SMC_CLOSE_LINK_LOST));
}

/*
 * May the application go on to read what was here before? On TCP an error is told behind
 * that, but not the end of what the application or our own judgment of the peer ends.
 */
static bool smc_close_keeps_unread(const struct smc_conn *conn, enum smc_close_event cause)
{
	return smc_close_is_told(cause) && !smc_close_purges_unread(conn);
}

/*
 * The peer has close_timeout_ms to say that it has closed. One that only reads slowly has
 * close_pending_ms, TCP's patience: giving up loses the data still to be sent, and our
 * abort also what it has not read yet. One that has reset TCP has as long for its A as for
 * the answer to a TEST LINK, which would be behind it (smc_llc_probe_group()).
 */
static void smc_close_start_timer(struct smc_conn *conn)
{
	const struct smc_settings *set = &smc_net(sock_net(conn->sk))->set;
	int ms = READ_ONCE(set->close_timeout_ms);

	if (smc_state_is_draining(&conn->close))
		ms = READ_ONCE(set->close_pending_ms);
	if (smc_state_awaits_abort(&conn->close))
		ms = READ_ONCE(set->llc.test_link);
	/* of what it was waiting for before */
	clear_bit(SMC_PENDING_TIMER, &conn->pending);
	smc_conn_mark_progress(conn);
	smc_conn_arm(conn, &conn->close_timer, jiffies + msecs_to_jiffies(ms));
}

/* The application is told, unless its socket has dropped the connection. */
static void smc_close_report(struct smc_conn *conn, const struct smc_close_step *step,
			     enum smc_conn_state was, bool has_missed)
{
	struct smc_sock *smc = smc_conn_sock(conn);
	int err;

	if (!smc)
		return;
	err = smc_close_errno(conn, step->cause, step->sk_err);
	if (smc_close_is_told(step->cause))
		err = smc_close_after_end(smc, was, has_missed, err);
	smc_sock_set_err(smc, err);
	/* pairs with smc_poll(): who sees the end sees how it came */
	smp_wmb();
	WRITE_ONCE(smc->shutdown, SHUTDOWN_MASK);
	smc_wake_error(conn->sk);
}

static u32 smc_close_run_step(struct smc_conn *conn, enum smc_close_event event)
{
	enum smc_conn_state was = conn->close.state;
	struct smc_close_facts facts;
	struct smc_close_step step;
	bool has_missed = false;

	smc_close_get_facts(conn, &facts);
	step = smc_state_close(&conn->close, event, &facts);
	trace_smc_close(conn->sk, event, step.next, step.actions);

	if (step.actions & SMC_CLOSE_DO_PURGE) {
		bool keeps_unread = smc_close_keeps_unread(conn, step.cause);

		has_missed = facts.has_unread && !keeps_unread;
		smc_close_purge(conn, keeps_unread);
	}
	if (step.actions & SMC_CLOSE_DO_REPORT_ERR)
		smc_close_report(conn, &step, was, has_missed);
	smc_close_send(conn, step.actions);
	if (step.actions & SMC_CLOSE_DO_START_TIMER)
		smc_close_start_timer(conn);
	if (step.actions & SMC_CLOSE_DO_STOP_TIMER)
		smc_conn_disarm(conn, &conn->close_timer);
	/*
	 * No abort has come before the reset. Perhaps the peer has lost the links on which
	 * it would tell more, and where ours have nothing in flight they do not notice: its
	 * RNIC may have acknowledged our A just before. Nothing would come for as long as
	 * the timer runs, or until the links are tested the next time.
	 */
	if (event == SMC_CLOSE_RX_RST && step.actions & SMC_CLOSE_DO_START_TIMER)
		smc_llc_probe_group(conn->lgr);
	smc_close_tcp(conn, step.actions);
	smc_close_wake(conn, step.actions);
	if (step.actions & SMC_CLOSE_DO_FREE_RMBE) {
		smc_close_leave(conn, step.is_peer_done);
		if (!smc_close_has_reader(conn))
			smc_conn_forget_unread(conn);
	}
	return step.actions;
}

/**
 * smc_close_handle_event() - run the close machine
 * @conn: the connection
 * @event: what happened
 *
 * Follow-up events that are true already (nothing left to drain, the last message
 * is there) are run at once. With the final state the machine's reference goes.
 *
 * Context: Process context, may sleep. Expects the socket lock held, which
 * smc_close_unlock() releases. The caller has a reference on the connection, or its
 * socket has.
 */
void smc_close_handle_event(struct smc_conn *conn, enum smc_close_event event)
{
	bool was_over = conn->close.state == SMC_STATE_CLOSED;
	int i;

	sock_owned_by_me(conn->sk);
	/* what TCP_CORK or MSG_MORE holds back is not to delay the end */
	if (event == SMC_CLOSE_APP_CLOSE || event == SMC_CLOSE_APP_SHUT_WR)
		smc_tx_flush(conn);
	for (i = 0; i < SMC_CLOSE_CHAIN; i++) {
		u32 actions = smc_close_run_step(conn, event);

		if (smc_state_awaits_final(&conn->close) && !smc_conn_owes_final(conn))
			event = SMC_CLOSE_FINAL_DONE;
		else if (actions & SMC_CLOSE_DO_WAIT_DRAIN && smc_conn_is_drained(conn))
			event = SMC_CLOSE_TX_DRAINED;
		else
			break;
	}
	if (!was_over && conn->close.state == SMC_STATE_CLOSED)
		smc_close_finish(conn);
}

/**
 * smc_close_establish() - rendezvous is complete, data may flow (CLOSE-06)
 * @conn: the connection, which has been opened
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_establish(struct smc_conn *conn)
{
	sock_owned_by_me(conn->sk);
	/* until smc_close_finish() */
	smc_conn_get(conn);
	smc_close_handle_event(conn, SMC_CLOSE_ESTABLISHED);
	smc_keepalive_update(conn);
	/* what the peer was quick to say */
	if (smc_close_has_input(conn))
		smc_sock_queue_close(conn);
}

/* Has what a close or the end waits for completed? */
static void smc_close_check(struct smc_conn *conn)
{
	if (smc_state_has_seen(&conn->close, SMC_CLOSE_APP_CLOSE) && smc_conn_readable(conn))
		smc_close_handle_event(conn, SMC_CLOSE_RX_DATA);
	if (smc_state_is_draining(&conn->close) && smc_conn_is_drained(conn))
		smc_close_handle_event(conn, SMC_CLOSE_TX_DRAINED);
	if (smc_state_awaits_final(&conn->close) && !smc_conn_owes_final(conn))
		smc_close_handle_event(conn, SMC_CLOSE_FINAL_DONE);
}

/* What the peer has said, and the machine has not heard yet, in the order of meaning. */
static void smc_close_hear(struct smc_conn *conn)
{
	static const struct {
		u8 flag;
		enum smc_close_event event;
	} words[] = {
		{ SMC_CDC_DONE, SMC_CLOSE_RX_DONE },
		{ SMC_CDC_CLOSED, SMC_CLOSE_RX_CLOSED },
		{ SMC_CDC_ABORT, SMC_CLOSE_RX_ABORT },
	};
	u8 said = READ_ONCE(conn->ctl.rx_conn_flags);
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (said & words[i].flag && !smc_state_has_seen(&conn->close, words[i].event))
			smc_close_handle_event(conn, words[i].event);
}

/* What others have told of is an event of the machine's. */
static void smc_close_feed(struct smc_conn *conn, unsigned long news)
{
	static const enum smc_close_event events[] = {
		[SMC_PENDING_FAULT]	= SMC_CLOSE_FAULT,
		[SMC_PENDING_RESET]	= SMC_CLOSE_RX_RST,
		[SMC_PENDING_SILENCE]	= SMC_CLOSE_SILENCE,
		[SMC_PENDING_LINK_LOST]	= SMC_CLOSE_LINK_LOST,
		[SMC_PENDING_TIMER]	= SMC_CLOSE_TIMER,
	};
	unsigned int bit;

	/* START_TIMER takes back what was told before */
	for_each_set_bit(bit, &news, ARRAY_SIZE(events))
		if (test_and_clear_bit(bit, &conn->pending))
			smc_close_handle_event(conn, events[bit]);
}

/**
 * smc_close_run() - run the close machine on what has happened meanwhile
 * @conn: the connection; the caller has a reference, or its socket has
 *
 * RFC 7609 4.8; the requirements are named where the machine is, in smc_state.c.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_run(struct smc_conn *conn)
{
	unsigned long news = READ_ONCE(conn->pending);
	struct smc_sock *smc;

	sock_owned_by_me(conn->sk);
	/* before rendezvous is complete the news wait, see smc_close_establish() */
	if (!smc_state_is_alive(&conn->close))
		return;
	/*
	 * The loss of the link or the reset of TCP may be told by another task than D and
	 * C. What the last message said is in the control block before that.
	 */
	smp_rmb();
	smc_close_check(conn);
	smc_close_hear(conn);
	smc_close_feed(conn, news);
	/* nobody accepts what ended before it said anything */
	smc = smc_conn_sock(conn);
	if (smc && READ_ONCE(smc->child))
		smc_sock_queue(smc);
}

/**
 * smc_close_work() - the close machine has news
 * @work: &smc_conn.close_work; drops the reference taken when it was queued
 *
 * Context: Process context (work item). Takes the socket lock, but does not wait for
 * a call that has it.
 */
void smc_close_work(struct work_struct *work)
{
	struct smc_conn *conn = container_of(work, struct smc_conn, close_work);
	struct sock *sk = conn->sk;
	struct smc_sock *smc;

	/* closing TCP may drop the last reference but this */
	sock_hold(sk);
	if (smc_sock_lock_close(conn)) {
		smc_close_run(conn);
		smc = smc_sk(sk);
		if (smc)
			smc_close_unlock(smc);
		else
			release_sock(sk);
	}
	smc_conn_put(conn);
	sock_put(sk);
}

/**
 * smc_close_timer() - the peer's part, or our last message, takes too long, CLOSE-23, ABRT-07
 * @timer: &smc_conn.close_timer; drops the reference taken when it was armed
 *
 * Context: Softirq.
 */
void smc_close_timer(struct timer_list *timer)
{
	struct smc_conn *conn = smc_compat_timer_of(conn, timer, close_timer);

	smc_sock_pend(conn, SMC_PENDING_TIMER);
	smc_conn_put(conn);
}

/**
 * smc_close_is_over() - are both sides done with a connection
 * @smc: the socket, on SMC
 *
 * The connection may be there yet, for the peer to be told; TCP's would have ended. RFC
 * 7609 4.8.1 (CLOSE-03, CLOSE-09).
 *
 * Context: Process context. Expects the socket lock held.
 * Return: true if they are.
 */
bool smc_close_is_over(const struct smc_sock *smc)
{
	sock_owned_by_me(smc->sk);
	switch (smc->conn->close.state) {
	case SMC_STATE_PEERCLOSEWAIT2:
	case SMC_STATE_PEERFINCLOSEWAIT:
	case SMC_STATE_APPCLOSEWAIT2:
	case SMC_STATE_APPFINCLOSEWAIT:
		return true;
	case SMC_STATE_APPCLOSEWAIT1:
		/* it was told that nobody reads what it sends */
		return smc->is_done && smc->shutdown == SHUTDOWN_MASK;
	default:
		return false;
	}
}

/**
 * smc_close_shutdown() - shutdown() on a connection that runs on SMC
 * @smc: the socket, on SMC
 * @how: RCV_SHUTDOWN, SEND_SHUTDOWN or both
 *
 * Where both sides are done already TCP's connection has ended and says so; on
 * SMC there is still the peer to be told. CLOSE-03, CLOSE-04, CLOSE-09,
 * CLOSE-19.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0, or -ENOTCONN when there is no connection, or both sides were done.
 */
int smc_close_shutdown(struct smc_sock *smc, int how)
{
	static const enum smc_close_event events[] = {
		[RCV_SHUTDOWN]	= SMC_CLOSE_APP_SHUT_RD,
		[SEND_SHUTDOWN]	= SMC_CLOSE_APP_SHUT_WR,
		[SHUTDOWN_MASK]	= SMC_CLOSE_APP_CLOSE,
	};
	bool is_over = smc_close_is_over(smc);

	sock_owned_by_me(smc->sk);
	switch (smc->conn->close.state) {
	case SMC_STATE_CLOSED:
	case SMC_STATE_LASTWORD:
	case SMC_STATE_PEERABORTWAIT:
	case SMC_STATE_PROCESSABORT:
		return -ENOTCONN;
	default:
		break;
	}
	WRITE_ONCE(smc->shutdown, smc->shutdown | how);
	smc_close_handle_event(smc->conn, events[how]);
	smc_wake_state(smc->sk);
	return is_over ? -ENOTCONN : 0;
}

/* SO_LINGER: wait until the peer's RNIC has everything, or time is up. */
static void smc_close_linger(struct smc_sock *smc, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct smc_conn *conn = smc->conn;
	struct sock *sk = smc->sk;
	wait_queue_head_t *wq = sk_sleep(sk);

	add_wait_queue(wq, &wait);
	while (timeo && smc_state_is_draining(&conn->close) && !signal_pending(current))
		sk_wait_event(sk, &timeo, !smc_state_is_draining(&conn->close), &wait);
	remove_wait_queue(wq, &wait);
}

/**
 * smc_close_by_app() - close() on a connection that is there
 * @smc: the socket, on SMC, attached to its file
 * @timeo: how long to linger, jiffies
 *
 * Linger 0 and unread data abort (CLOSE-07); otherwise the rest happens
 * behind the back of the application (CLOSE-08) unless it wants to linger.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_by_app(struct smc_sock *smc, long timeo)
{
	struct smc_conn *conn = smc->conn;
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	if (!smc_state_is_alive(&conn->close))
		return;
	WRITE_ONCE(smc->shutdown, SHUTDOWN_MASK);
	if (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime)
		smc_close_handle_event(conn, SMC_CLOSE_APP_ABORT);
	smc_close_handle_event(conn, SMC_CLOSE_APP_CLOSE);
	if (timeo)
		smc_close_linger(smc, timeo);
}

/**
 * smc_close_release() - no file has the socket any more, or none will ever have it
 * @smc: the socket
 *
 * Not dead for TCP, but without a struct socket, until smc_close_unlock() closes it.
 *
 * Context: Process context, may sleep. Expects the socket lock held, which
 * smc_close_unlock() releases.
 */
void smc_close_release(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	write_lock_bh(&sk->sk_callback_lock);
	sk_set_socket(sk, NULL);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	smc->is_released = true;
	/*
	 * Also of a connection that has ended just now, whatever by: nobody reads on. One
	 * under handshake is the handshake's.
	 */
	if (smc->phase == SMC_PHASE_SMC)
		smc_conn_forget_unread(smc->conn);
}

/**
 * smc_close_dissolve() - connect() to AF_UNSPEC ends what there is
 * @smc: the socket, on SMC, attached to its file
 *
 * TCP resets a connection, and says so, unless both sides have closed before: then
 * there is none any more. On SMC the peer has to be told all the same (ABRT-02), and the
 * connection goes on without the socket.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0, or the negative errno of TCP.
 */
int smc_close_dissolve(struct smc_sock *smc)
{
	bool is_over = smc_close_is_over(smc);
	struct smc_conn *conn = smc->conn;
	struct sock *sk = smc->sk;
	int err = sk->sk_err, rc;

	sock_owned_by_me(smc->sk);
	if (smc_state_is_alive(&conn->close))
		smc_close_handle_event(conn, SMC_CLOSE_APP_ABORT);
	if (!is_over)
		err = sk->sk_err;
	smc_keepalive_restore_tcp(conn);
	smc_conn_forget_unread(conn);
	smc_sock_drop_conn(smc);
	smc->tcp_end = SMC_TCP_UP;
	smc->tcp_err = 0;
	smc->err = 0;
	smc->is_done = false;
	WRITE_ONCE(smc->shutdown, 0);
	smc_sock_set_phase(smc, SMC_PHASE_IDLE);
	rc = smc_tcp_disconnect(sk);
	WRITE_ONCE(sk->sk_err, err);
	return rc;
}
