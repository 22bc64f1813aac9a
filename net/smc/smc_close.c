// SPDX-License-Identifier: GPL-2.0
/*
 * Ending a connection, RFC 7609 section 4.8.
 *
 * Operation: everything that ends a connection becomes an event for the pure
 * close machine (smc_state.c). Calls of the application run it directly, news
 * from the peer, from a link or from the timer queue close_work, which runs it.
 * What the peer has said is in the control block; what is nowhere else is a bit of
 * smc_sock.pending. What the machine answers is carried out here, in the order it
 * asks for.
 *
 * Ownership: from establishment to its final state the machine holds one reference
 * on the socket, so a closed file does not end the protocol. The inner TCP socket
 * goes with the later of the two.
 */
#include <net/tcp.h>

#include "smc_compat.h"
#include "smc_close.h"
#include "smc_keep.h"
#include "smc_llc.h"
#include "smc_net.h"
#include "smc_notice.h"
#include "smc_tcp.h"
#include "smc_trace.h"
#include "smc_tx.h"

/* Room for a chain of events that follow from one another. */
#define SMC_CLOSE_CHAIN	8

/* Is what the application lacks taken back by an abort? RFC 7609 4.8.2, ABRT-08. */
static bool smc_close_purges_unread(const struct smc_sock *smc)
{
	return READ_ONCE(smc_net(sock_net(&smc->sk))->set.abort_purges);
}

/*
 * If TCP has been reset: was it by a peer whose A may be under way? Not by an operator of
 * this host, nor by TCP's timers. What the peer wrote before its A comes before it.
 */
static bool smc_close_may_hear_abort(const struct smc_sock *smc)
{
	int tcp_err = smc_tcp_end_errno(smc);

	return rcu_access_pointer(smc->conn->link) && (!tcp_err || tcp_err == ECONNRESET) &&
	       !smc_close_purges_unread(smc);
}

static void smc_close_facts(struct smc_sock *smc, struct smc_close_facts *facts)
{
	struct smc_conn *conn = smc->conn;

	memset(facts, 0, sizeof(*facts));
	if (!conn->token)
		return;
	facts->has_unread = smc_conn_readable(conn) > 0;
	facts->has_unsent = smc_conn_unsent(conn) > 0;
	facts->has_inflight = smc_conn_has_inflight(conn);
	facts->has_progress = smc_conn_has_progress(conn);
	facts->has_links = !smc_lgr_is_down(conn->lgr);
	facts->is_abort_due = facts->has_links && smc_close_may_hear_abort(smc);
}

/* Nothing is left to send, nor to read unless @keeps_unread. */
static void smc_close_purge(struct smc_conn *conn, bool keeps_unread)
{
	spin_lock_bh(&conn->lock);
	if (!keeps_unread) {
		smc_cdc_consume(&conn->ctl, smc_cdc_readable(&conn->ctl));
		conn->is_purged = true;
	}
	smc_notice_forget(conn);
	conn->tx_prep = conn->tx_sent;
	spin_unlock_bh(&conn->lock);
}

/**
 * smc_close_leave() - the connection gives its element and membership back
 * @smc: the socket
 * @is_peer_done: as for smc_conn_leave()
 *
 * Harmless when there is none. The last one to leave a group starts the
 * group's idle time (TMR-10).
 *
 * Context: Process context. Expects the socket lock held, or a handshake that
 * gives up as the caller.
 */
void smc_close_leave(struct smc_sock *smc, bool is_peer_done)
{
	struct smc_link_group *lgr = smc->conn->lgr;

	lockdep_assert(!smc_state_is_alive(&smc->close) || lockdep_sock_is_held(&smc->sk));
	if (!smc->conn->token)
		return;
	smc_lgr_get(lgr);
	if (smc_conn_leave(smc->conn, is_peer_done))
		smc_llc_arm_idle(lgr);
	smc_lgr_put(lgr);
}

static void smc_close_send(struct smc_sock *smc, u32 actions)
{
	u8 flags = 0;

	if (actions & SMC_CLOSE_DO_SEND_D)
		flags |= SMC_CDC_DONE;
	if (actions & SMC_CLOSE_DO_SEND_C)
		flags |= SMC_CDC_CLOSED;
	if (actions & SMC_CLOSE_DO_SEND_A) {
		flags |= SMC_CDC_ABORT;
		smc_stat_inc(sock_net(&smc->sk), SMC_STAT_ABORTS_TX);
	}
	if (flags)
		smc_tx_signal(smc->conn, flags);
}

/* SMC has ended, and TCP follows (CLOSE-01): what it has to say is no news any more. */
static void smc_close_tcp(struct smc_sock *smc, u32 actions)
{
	if (!smc->tcp || !(actions & (SMC_CLOSE_DO_TCP_RST | SMC_CLOSE_DO_TCP_FIN)))
		return;
	WRITE_ONCE(smc->tcp_phase, SMC_TCP_QUIET);
	if (actions & SMC_CLOSE_DO_TCP_RST)
		smc_tcp_reset(smc);
	else
		smc_tcp_shutdown(smc, SHUT_RDWR);
}

static void smc_close_wake(struct smc_sock *smc, u32 actions)
{
	struct sock *sk = &smc->sk;

	if (actions & (SMC_CLOSE_DO_WAKE_READERS | SMC_CLOSE_DO_WAKE_WRITERS))
		sk->sk_state_change(sk);
	if (actions & SMC_CLOSE_DO_WAKE_WRITERS)
		smc_sock_wake_writers(smc);
}

/**
 * smc_close_let_go() - the application and the machine are done with a socket
 * @smc: the socket; it may be closed, or released, by now
 *
 * The inner socket is closed. Unhashed first: sock_diag looks at the inner socket of
 * what it finds.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_let_go(struct smc_sock *smc)
{
	sock_owned_by_me(&smc->sk);
	smc_sock_unhash(smc);
	smc_tcp_release(smc);
}

/* The machine is done with this connection, and perhaps so is the application. */
static void smc_close_finish(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	smc_keep_stop(smc);
	if (sock_flag(sk, SOCK_DEAD))
		smc_close_let_go(smc);
	/* that of smc_close_establish() */
	sock_put(sk);
}

/* What TCP would say of the same end, where that is known better here. */
static int smc_close_errno(const struct smc_sock *smc, enum smc_close_event cause, int err)
{
	if (cause == SMC_CLOSE_LINK_LOST)
		return smc->conn->is_peer_silent ? ETIMEDOUT : err;
	/* the peer's abort may be its answer to the end of TCP, and be seen first */
	if (cause == SMC_CLOSE_RX_RST || cause == SMC_CLOSE_RX_ABORT)
		return smc_tcp_end_errno(smc) ?: err;
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
			 !(smc->sk.sk_shutdown & SEND_SHUTDOWN);

	if (!(READ_ONCE(smc->conn->ctl.rx_conn_flags) & (SMC_CDC_DONE | SMC_CDC_CLOSED)) ||
	    has_missed)
		return err;
	sock_set_flag(&smc->sk, SOCK_DONE);
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
static bool smc_close_keeps_unread(const struct smc_sock *smc, enum smc_close_event cause)
{
	return smc_close_is_told(cause) && !smc_close_purges_unread(smc);
}

/*
 * The peer has close_timeout_ms to say that it has closed. One that only reads slowly has
 * close_pending_ms, TCP's patience: giving up loses the data still to be sent, and our
 * abort also what it has not read yet. One that has reset TCP has as long for its A as for
 * the answer to a TEST LINK, which would be behind it (smc_llc_doubt()).
 */
static void smc_close_start_timer(struct smc_sock *smc)
{
	const struct smc_settings *set = &smc_net(sock_net(&smc->sk))->set;
	int ms = READ_ONCE(set->close_timeout_ms);

	if (smc_state_is_draining(&smc->close))
		ms = READ_ONCE(set->close_pending_ms);
	if (smc_state_awaits_abort(&smc->close))
		ms = READ_ONCE(set->llc.test_link);
	/* of what it was waiting for before */
	clear_bit(SMC_PENDING_TIMER, &smc->pending);
	smc_conn_mark_progress(smc->conn);
	sk_reset_timer(&smc->sk, &smc->close_timer, jiffies + msecs_to_jiffies(ms));
}

static u32 smc_close_step(struct smc_sock *smc, enum smc_close_event event)
{
	enum smc_conn_state was = smc->close.state;
	struct sock *sk = &smc->sk;
	struct smc_close_facts facts;
	struct smc_close_step step;
	bool has_missed = false;
	int err;

	smc_close_facts(smc, &facts);
	step = smc_state_close(&smc->close, event, &facts);
	trace_smc_close(smc, event, step.next, step.actions);

	if (step.actions & SMC_CLOSE_DO_PURGE) {
		bool keeps_unread = smc_close_keeps_unread(smc, step.cause);

		has_missed = facts.has_unread && !keeps_unread;
		smc_close_purge(smc->conn, keeps_unread);
	}
	if (step.actions & SMC_CLOSE_DO_REPORT_ERR) {
		err = smc_close_errno(smc, step.cause, step.sk_err);
		if (smc_close_is_told(step.cause))
			err = smc_close_after_end(smc, was, has_missed, err);
		WRITE_ONCE(sk->sk_err, err);
		/* pairs with smc_poll(): who sees the end sees how it came */
		smp_wmb();
		WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	}
	WRITE_ONCE(sk->sk_state, smc_state_shown(step.next));
	if (step.actions & SMC_CLOSE_DO_REPORT_ERR)
		sk_error_report(sk);
	smc_close_send(smc, step.actions);
	if (step.actions & SMC_CLOSE_DO_START_TIMER)
		smc_close_start_timer(smc);
	if (step.actions & SMC_CLOSE_DO_STOP_TIMER)
		sk_stop_timer(sk, &smc->close_timer);
	/*
	 * No abort has come before the reset. Perhaps the peer has lost the links on which
	 * it would tell more, and where ours have nothing in flight they do not notice: its
	 * RNIC may have acknowledged our A just before. Nothing would come for as long as
	 * the timer runs, or until the links are tested the next time.
	 */
	if (event == SMC_CLOSE_RX_RST && step.actions & SMC_CLOSE_DO_START_TIMER)
		smc_llc_doubt(smc->conn->lgr);
	smc_close_tcp(smc, step.actions);
	smc_close_wake(smc, step.actions);
	if (step.actions & SMC_CLOSE_DO_FREE_RMBE)
		smc_close_leave(smc, step.is_peer_done);
	return step.actions;
}

/**
 * smc_close_event() - run the close machine
 * @smc: the socket
 * @event: what happened
 *
 * Follow-up events that are true already (nothing left to drain, the last message
 * is there) are run at once. With the final state the machine's reference goes.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_event(struct smc_sock *smc, enum smc_close_event event)
{
	bool was_over = smc->close.state == SMC_STATE_CLOSED;
	struct smc_conn *conn = smc->conn;
	int i;

	sock_owned_by_me(&smc->sk);
	/* what TCP_CORK or MSG_MORE holds back is not to delay the end */
	if (event == SMC_CLOSE_APP_CLOSE || event == SMC_CLOSE_APP_SHUT_WR)
		smc_tx_flush(conn);
	for (i = 0; i < SMC_CLOSE_CHAIN; i++) {
		u32 actions = smc_close_step(smc, event);

		if (smc_state_awaits_final(&smc->close) && !smc_conn_owes_final(conn))
			event = SMC_CLOSE_FINAL_DONE;
		else if (actions & SMC_CLOSE_DO_WAIT_DRAIN && smc_conn_is_drained(conn))
			event = SMC_CLOSE_TX_DRAINED;
		else
			break;
	}
	if (!was_over && smc->close.state == SMC_STATE_CLOSED)
		smc_close_finish(smc);
}

/**
 * smc_close_establish() - rendezvous is complete, data may flow (CLOSE-06)
 * @smc: the socket; its connection has been opened
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_establish(struct smc_sock *smc)
{
	sock_owned_by_me(&smc->sk);
	/* until smc_close_finish() */
	sock_hold(&smc->sk);
	smc_close_event(smc, SMC_CLOSE_ESTABLISHED);
	smc_keep_update(smc);
	/* what the peer was quick to say */
	if (smc_close_has_news(smc))
		smc_sock_queue(smc, &smc->close_work);
}

/* Has what a close or the end waits for completed? */
static void smc_close_look(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->conn;

	if (smc_state_has_seen(&smc->close, SMC_CLOSE_APP_CLOSE) && smc_conn_readable(conn))
		smc_close_event(smc, SMC_CLOSE_RX_DATA);
	if (smc_state_is_draining(&smc->close) && smc_conn_is_drained(conn))
		smc_close_event(smc, SMC_CLOSE_TX_DRAINED);
	if (smc_state_awaits_final(&smc->close) && !smc_conn_owes_final(conn))
		smc_close_event(smc, SMC_CLOSE_FINAL_DONE);
}

/* What the peer has said, and the machine has not heard yet, in the order of meaning. */
static void smc_close_hear(struct smc_sock *smc)
{
	static const struct {
		u8 flag;
		enum smc_close_event event;
	} words[] = {
		{ SMC_CDC_DONE, SMC_CLOSE_RX_DONE },
		{ SMC_CDC_CLOSED, SMC_CLOSE_RX_CLOSED },
		{ SMC_CDC_ABORT, SMC_CLOSE_RX_ABORT },
	};
	u8 said = READ_ONCE(smc->conn->ctl.rx_conn_flags);
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (said & words[i].flag && !smc_state_has_seen(&smc->close, words[i].event))
			smc_close_event(smc, words[i].event);
}

/* What others have told of is an event of the machine's. */
static void smc_close_feed(struct smc_sock *smc, unsigned long news)
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
		if (test_and_clear_bit(bit, &smc->pending))
			smc_close_event(smc, events[bit]);
}

/**
 * smc_close_run() - run the close machine on what has happened meanwhile
 * @smc: the socket; the caller holds a reference
 *
 * RFC 7609 4.8; the requirements are named where the machine is, in smc_state.c.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_run(struct smc_sock *smc)
{
	unsigned long news = READ_ONCE(smc->pending);

	sock_owned_by_me(&smc->sk);
	/* before rendezvous is complete the news wait, see smc_close_establish() */
	if (!smc_state_is_alive(&smc->close))
		return;
	/*
	 * The loss of the link or the reset of TCP may be told by another task than D and
	 * C. What the last message said is in the control block before that.
	 */
	smp_rmb();
	smc_close_look(smc);
	smc_close_hear(smc);
	smc_close_feed(smc, news);
	/* nobody accepts what ended before it said anything */
	if (READ_ONCE(smc->child))
		smc_sock_queue(smc, &smc->hs_work);
}

/**
 * smc_close_work() - the close machine has news
 * @work: &smc_sock.close_work; drops the reference taken when it was queued
 *
 * Context: Process context (work item). Takes the socket lock, but does not wait for
 * it.
 */
void smc_close_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, close_work);

	if (smc_sock_trylock(smc, SMC_MISSED_CLOSE)) {
		smc_close_run(smc);
		release_sock(&smc->sk);
	}
	sock_put(&smc->sk);
}

/**
 * smc_close_timer() - the peer's part, or our last message, takes too long, CLOSE-23, ABRT-07
 * @timer: &smc_sock.close_timer; drops the reference taken when it was armed
 *
 * Context: Softirq.
 */
void smc_close_timer(struct timer_list *timer)
{
	struct smc_sock *smc = smc_compat_timer_of(smc, timer, close_timer);

	smc_sock_pend(smc, SMC_PENDING_TIMER);
	sock_put(&smc->sk);
}

/**
 * smc_close_is_over() - are both sides done with a connection
 * @smc: the socket
 *
 * The connection may be there yet, for the peer to be told; TCP's would have ended. RFC
 * 7609 4.8.1 (CLOSE-03, CLOSE-09).
 *
 * Context: Process context. Expects the socket lock held.
 * Return: true if they are.
 */
bool smc_close_is_over(const struct smc_sock *smc)
{
	sock_owned_by_me(&smc->sk);
	switch (smc->close.state) {
	case SMC_STATE_PEERCLOSEWAIT2:
	case SMC_STATE_PEERFINCLOSEWAIT:
	case SMC_STATE_APPCLOSEWAIT2:
	case SMC_STATE_APPFINCLOSEWAIT:
		return true;
	case SMC_STATE_APPCLOSEWAIT1:
		/* it was told that nobody reads what it sends */
		return sock_flag(&smc->sk, SOCK_DONE) && smc->sk.sk_shutdown == SHUTDOWN_MASK;
	default:
		return false;
	}
}

/**
 * smc_close_shutdown() - shutdown() on a connection that runs on SMC
 * @smc: the socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
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
	bool is_over = smc_close_is_over(smc);
	struct sock *sk = &smc->sk;

	sock_owned_by_me(sk);
	switch (smc->close.state) {
	case SMC_STATE_INIT:
	case SMC_STATE_LISTEN:
	case SMC_STATE_CLOSED:
	case SMC_STATE_LASTWORD:
	case SMC_STATE_PEERABORTWAIT:
	case SMC_STATE_PROCESSABORT:
		return -ENOTCONN;
	default:
		break;
	}

	switch (how) {
	case SHUT_RD:
		sk->sk_shutdown |= RCV_SHUTDOWN;
		smc_close_event(smc, SMC_CLOSE_APP_SHUT_RD);
		break;
	case SHUT_WR:
		sk->sk_shutdown |= SEND_SHUTDOWN;
		smc_close_event(smc, SMC_CLOSE_APP_SHUT_WR);
		break;
	default:
		sk->sk_shutdown |= SHUTDOWN_MASK;
		smc_close_event(smc, SMC_CLOSE_APP_CLOSE);
		break;
	}
	sk->sk_state_change(sk);
	return is_over ? -ENOTCONN : 0;
}

/* SO_LINGER: wait until the peer's RNIC has everything, or time is up. */
static void smc_close_linger(struct smc_sock *smc)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &smc->sk;
	long timeo = sk->sk_lingertime;

	add_wait_queue(sk_sleep(sk), &wait);
	while (timeo && smc_state_is_draining(&smc->close) && !signal_pending(current))
		sk_wait_event(sk, &timeo, !smc_state_is_draining(&smc->close), &wait);
	remove_wait_queue(sk_sleep(sk), &wait);
}

/* The application closes a connection that is there. */
static void smc_close_by_app(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	sk->sk_shutdown = SHUTDOWN_MASK;
	if (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime)
		smc_close_event(smc, SMC_CLOSE_APP_ABORT);
	smc_close_event(smc, SMC_CLOSE_APP_CLOSE);
	if (sk->sk_socket && sock_flag(sk, SOCK_LINGER) && sk->sk_lingertime &&
	    !(current->flags & PF_EXITING))
		smc_close_linger(smc);
}

/**
 * smc_close_release() - close() on a connection that runs or ran on SMC
 * @smc: the socket
 *
 * Linger 0 and unread data abort (CLOSE-07); otherwise the rest happens
 * behind the back of the application (CLOSE-08) unless it wants to linger.
 * Without a file, before accept() or after close(), there is nobody who could.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_release(struct smc_sock *smc)
{
	sock_owned_by_me(&smc->sk);
	if (smc_state_is_alive(&smc->close))
		smc_close_by_app(smc);
	/*
	 * Also of a connection that has ended just now, whatever by: nobody reads on. One
	 * under handshake is the handshake's.
	 */
	if (smc->conn && !smc->is_connecting)
		smc_conn_forget_unread(smc->conn);
}

/**
 * smc_close_dissolve() - connect() to AF_UNSPEC ends what there is
 * @smc: the socket, attached to its file, not connecting
 *
 * TCP resets a connection, and says so, unless both sides have closed before: then
 * there is none any more. On SMC the peer has to be told all the same (ABRT-02).
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: positive errno that is pending afterwards; 0 if there is none.
 */
int smc_close_dissolve(struct smc_sock *smc)
{
	bool is_over = smc_close_is_over(smc);
	struct sock *sk = &smc->sk;
	int err = sk->sk_err;

	sock_owned_by_me(sk);
	if (smc_state_is_alive(&smc->close))
		smc_close_event(smc, SMC_CLOSE_APP_ABORT);
	return is_over ? err : sk->sk_err;
}
