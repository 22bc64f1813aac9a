// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a connection, RFC 7609 section 4.8.
 *
 * Operation: everything that ends a connection is an event of the pure close machine (smc_state.c).
 * Calls of the application run it directly; the peer, links and the timer queue close_work. Input
 * of the peer is in the control block, all other events are bits of smc_conn.pending. The actions
 * that the machine returns are carried out here in its order.
 *
 * Ownership: the connection leaves its group in the machine's final state, and stays until then. So
 * the protocol continues after the file is closed. The sock then has no file, but is not dead for
 * TCP. The task that completes the machine closes it, when the socket lock is released. A socket
 * that connects again gives its connection up, which leaves by itself after both aborts.
 */
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_event.h"
#include "rdma/smc_net.h"
#include "group/smc_carrier.h"
#include "sock/smc_close.h"
#include "sock/smc_errqueue.h"
#include "sock/smc_keepalive.h"
#include "sock/smc_land.h"
#include "sock/smc_sock.h"
#include "sock/smc_tcp.h"
#include "sock/smc_tx.h"
#include "sock/smc_wake.h"
#include "control/smc_trace.h"

/* Limit of a chain of follow-up events. */
#define SMC_CLOSE_CHAIN	8

/* How long our FIN waits for that of a peer that closed first, in jiffies. */
#define SMC_CLOSE_FIN_WAIT	max(HZ / 5, 1)

/*
 * The error that ended TCP: a reset, or a keepalive timeout. EPIPE is not passed on, since there
 * are no writers on TCP.
 */
static int smc_close_tcp_errno(const struct smc_sock *smc)
{
	return smc->tcp_err != EPIPE ? smc->tcp_err : 0;
}

/*
 * Return: true if the A of a peer that ended TCP may be in flight; not so if an operator of this
 * host did. The data of the peer precedes its A.
 */
static bool smc_close_may_get_abort(const struct smc_sock *smc)
{
	return smc_conn_is_carried(smc->conn) && smc->tcp_err != ECONNABORTED;
}

/* Return: true if the peer has sent a message of this connection. */
static bool smc_close_is_in_use(const struct smc_conn *conn)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;

	return READ_ONCE(ctl->rx_prod) || READ_ONCE(ctl->tx_cons) || READ_ONCE(ctl->rx_conn_flags);
}

static void smc_close_get_facts(const struct smc_sock *smc, struct smc_close_facts *facts)
{
	struct smc_conn *conn = smc->conn;

	memset(facts, 0, sizeof(*facts));
	if (!conn->token)
		return;
	facts->has_unread = smc_conn_readable(conn) > 0;
	facts->has_unsent = smc_conn_unsent(conn) > 0;
	facts->has_inflight = smc_conn_has_inflight(conn);
	facts->has_progress = smc_conn_has_progress(conn);
	facts->has_links = conn->carrier->is_up(conn);
	facts->is_abort_due = facts->has_links && smc_close_may_get_abort(smc);
	facts->is_in_use = smc_close_is_in_use(conn);
	facts->has_answer = smc_state_awaits_abort(&smc->close) &&
			    smc_keepalive_has_answer(smc, smc->tcp_end_jiffies);
}

/* Discard unsent data, and unread data unless @keeps_unread. */
static void smc_close_purge(struct smc_conn *conn, bool keeps_unread)
{
	spin_lock_bh(&conn->lock);
	if (!keeps_unread) {
		smc_cdc_consume(&conn->ctl, smc_cdc_readable(&conn->ctl));
		conn->is_purged = true;
	}
	smc_errqueue_discard(conn);
	conn->ctl.tx_prep = conn->ctl.tx_sent;
	smc_conn_unlock(conn);
}

/**
 * smc_close_leave() - return the element and group membership of a connection
 * @conn: the connection, in a group or not; the last one starts the group's idle timer (TMR-10)
 * @is_peer_done: as for smc_conn_leave()
 *
 * Context: Process context. Expects the socket lock held, unless a handshake has failed or the
 *	    socket has given the connection up.
 */
void smc_close_leave(struct smc_conn *conn, bool is_peer_done)
{
	if (conn->token)
		conn->carrier->leave(conn, is_peer_done);
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

/*
 * TCP has ended below the connection, which tells little: the peer may have reset it, or have lost
 * its links, unnoticed by ours, which have nothing in flight. Or a firewall has forgotten it. Test
 * the links now, instead of at the next periodic test.
 */
static void smc_close_doubt(struct smc_sock *smc)
{
	smc->tcp_end_jiffies = jiffies;
	smc->conn->carrier->probe(smc->conn);
}

/* SMC has ended, and TCP follows (CLOSE-01), or TCP alone. Later events of TCP are ignored. */
static void smc_close_tcp(struct smc_sock *smc, u32 actions)
{
	if (actions & SMC_CLOSE_DO_GO_WITHOUT_TCP) {
		/* a later error is not that of TCP */
		smc->tcp_err = 0;
		smc_stat_inc(sock_net(smc->sk), SMC_STAT_TCP_LOST);
	}
	if (actions & (SMC_CLOSE_DO_TCP_RST | SMC_CLOSE_DO_TCP_FIN))
		smc->has_tcp_ended = true;
	if (actions & SMC_CLOSE_DO_TCP_RST)
		smc_tcp_reset(smc->sk);
	else if (actions & SMC_CLOSE_DO_TCP_FIN)
		smc_tcp_shutdown(smc->sk, SHUTDOWN_MASK);
}

/*
 * Behind the reset of TCP: SO_ERROR is read without a lock and without us, and TCP's own error
 * would then be mistaken for one that was not read.
 */
static void smc_close_wake(struct sock *sk, u32 actions)
{
	if (actions & SMC_CLOSE_DO_REPORT_ERR)
		smc_wake_error(sk);
	if (actions & (SMC_CLOSE_DO_WAKE_READERS | SMC_CLOSE_DO_WAKE_WRITERS))
		smc_wake_state(sk);
	if (actions & SMC_CLOSE_DO_WAKE_WRITERS)
		smc_wake_writers(sk);
}

/* Somebody may keep account. */
static void smc_close_record(struct smc_sock *smc)
{
	/* not twice, and not of a handshake that was given up */
	if (!smc->begin_jiffies)
		return;
	smc_event_send(&(struct smc_event){
		.cmd = SMC_NETLINK_EVENT_CONN_END, .net = sock_net(smc->sk), .sk = smc->sk,
		.is_server = smc->is_server });
	smc->begin_jiffies = 0;
}

/**
 * smc_close_finish() - stop timers and landing of a connection that ends, and record its end
 * @smc: the socket, with a connection
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_finish(struct smc_sock *smc)
{
	sock_owned_by_me(smc->sk);
	smc_keepalive_stop(smc);
	if (smc->cork_timer.function)
		smc_sock_disarm(smc, &smc->cork_timer);
	smc_sock_disarm(smc, &smc->close_timer);
	/* it may have begun, and the connection leaves its group before both sides have stopped */
	smc_land_drop(smc);
	smc_close_record(smc);
}

static bool smc_close_is_settled(const struct smc_sock *smc)
{
	switch (smc->phase) {
	case SMC_PHASE_IDLE:
		return true;
	case SMC_PHASE_SMC:
		return !smc_state_is_alive(&smc->close);
	default:
		return false;
	}
}

/**
 * smc_close_unlock() - release the socket lock, then close TCP where due
 * @smc: the socket; invalid afterwards, unless its file is open
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_unlock(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	if (likely(!smc->is_released) || !smc_close_is_settled(smc)) {
		release_sock(sk);
		return;
	}
	smc->is_released = false;
	smc_tcp_leave(smc);
	release_sock(sk);
	/* no call waits for the lock, as there is no file */
	tcp_close(sk, 0);
}

/* Use TCP's error for the same cause where it is known. */
static int smc_close_errno(const struct smc_sock *smc, enum smc_close_event cause, int err)
{
	if (cause == SMC_CLOSE_LINK_LOST)
		return smc->conn->is_peer_silent ? ETIMEDOUT : err;
	/* the abort may be the peer's answer to the end of TCP, and be seen first */
	if (cause == SMC_CLOSE_RX_RST || cause == SMC_CLOSE_RX_ABORT)
		return smc_close_tcp_errno(smc) ?: err;
	return err;
}

/*
 * As with TCP, an abort is ignored by a reader that has all data and the end of the stream. A
 * writer gets EPIPE.
 */
static int smc_close_after_end(struct smc_sock *smc, enum smc_conn_state was,
			       bool has_lost_data, int err)
{
	bool is_writer = (was == SMC_STATE_ACTIVE || was == SMC_STATE_APPCLOSEWAIT1) &&
			 !(smc->shutdown & SEND_SHUTDOWN);

	if (!(READ_ONCE(smc->conn->ctl.rx_conn_flags) & (SMC_CDC_DONE | SMC_CDC_CLOSED)) ||
	    has_lost_data)
		return err;
	smc->is_done = true;
	return is_writer && err == ECONNRESET ? EPIPE : err;
}

/*
 * Causes that a reader may learn of, after the data that it has not read, as with TCP; not an
 * abort by the application or after a fault of the peer.
 */
static bool smc_close_is_reported(enum smc_close_event cause)
{
	return BIT(cause) & (BIT(SMC_CLOSE_RX_CLOSED) | BIT(SMC_CLOSE_RX_ABORT) |
			     BIT(SMC_CLOSE_RX_RST) | BIT(SMC_CLOSE_SILENCE) |
			     BIT(SMC_CLOSE_LINK_LOST));
}

/*
 * Arm the timer. The peer has close_timeout_ms to close. A slow reader gets close_pending_ms, TCP's
 * limit, since giving up loses unsent data, and our abort also what the peer has not read. A peer
 * that ended TCP has the time limit of TEST LINK for its A, which would precede the response
 * (smc_llc_probe_group()).
 */
static void smc_close_start_timer(struct smc_sock *smc)
{
	const struct smc_settings *set = &smc_net(sock_net(smc->sk))->set;
	int ms = READ_ONCE(set->close_timeout_ms);

	if (smc_state_is_draining(&smc->close))
		ms = READ_ONCE(set->close_pending_ms);
	if (smc_state_awaits_abort(&smc->close))
		ms = READ_ONCE(set->llc.test_link);
	/* drop an expiry of the previous wait */
	clear_bit(SMC_PENDING_TIMER, &smc->conn->pending);
	smc_conn_mark_progress(smc->conn);
	smc_sock_arm(smc, &smc->close_timer, jiffies + msecs_to_jiffies(ms));
}

/* Set what the application gets. */
static void smc_close_report(struct smc_sock *smc, const struct smc_close_step *step,
			     enum smc_conn_state was, bool has_lost_data)
{
	int err = smc_close_errno(smc, step->cause, step->sk_err);

	if (smc_close_is_reported(step->cause))
		err = smc_close_after_end(smc, was, has_lost_data, err);
	smc_sock_set_err(smc, err);
	/* pairs with smp_rmb() in poll_sock(): the error is visible before the shutdown */
	smp_wmb();
	WRITE_ONCE(smc->shutdown, SHUTDOWN_MASK);
}

static u32 smc_close_run_step(struct smc_sock *smc, enum smc_close_event event)
{
	enum smc_conn_state was = smc->close.state;
	struct smc_conn *conn = smc->conn;
	struct smc_close_facts facts;
	struct smc_close_step step;
	bool has_lost_data = false;

	smc_close_get_facts(smc, &facts);
	step = smc_state_close(&smc->close, event, &facts);
	trace_smc_close(smc->sk, event, step.next, step.actions);

	if (step.actions & SMC_CLOSE_DO_PURGE) {
		bool keeps_unread = smc_close_is_reported(step.cause);

		has_lost_data = facts.has_unread && !keeps_unread;
		smc_close_purge(conn, keeps_unread);
	}
	if (step.actions & SMC_CLOSE_DO_REPORT_ERR)
		smc_close_report(smc, &step, was, has_lost_data);
	smc_close_send(conn, step.actions);
	if (step.actions & SMC_CLOSE_DO_START_TIMER)
		smc_close_start_timer(smc);
	if (step.actions & SMC_CLOSE_DO_STOP_TIMER)
		smc_sock_disarm(smc, &smc->close_timer);
	if (event == SMC_CLOSE_RX_RST && smc_conn_is_carried(conn))
		smc_close_doubt(smc);
	smc_close_tcp(smc, step.actions);
	smc_close_wake(smc->sk, step.actions);
	if (step.actions & SMC_CLOSE_DO_FREE_RMBE) {
		smc_close_leave(conn, step.is_peer_done);
		if (smc->is_released)
			smc_conn_forget_unread(conn);
	}
	return step.actions;
}

/**
 * smc_close_awaits_fin() - check whether our FIN waits for the peer's, and limit the wait
 * @smc: the socket, on SMC
 * @conn: the connection, whose last message has reached the peer; @smc may have dropped it
 *
 * The side that sends the first FIN has TIME_WAIT. On TCP it is the one that closed first, often a
 * server.
 *
 * Context: Any context but hard interrupt. Expects the socket lock held, or an RCU read section.
 *	    Takes conn->lock: either this sees a FIN, or smc_close_run(), called after the FIN, sees
 *	    the completion of that message.
 * Return: true if so. The machine runs again when the FIN has come, or its timer has expired.
 */
bool smc_close_awaits_fin(struct smc_sock *smc, struct smc_conn *conn)
{
	/* a machine that ends takes it, too, before it stops the timer */
	guard(spinlock_bh)(&conn->lock);
	if (READ_ONCE(smc->conn) != conn || !smc_state_awaits_fin(&smc->close) ||
	    inet_sk_state_load(smc->sk) != TCP_ESTABLISHED)
		return false;
	/* an earlier limit stays */
	smc_sock_get(smc);
	if (timer_reduce(&smc->close_timer, jiffies + SMC_CLOSE_FIN_WAIT))
		smc_sock_put(smc);
	return true;
}

static bool smc_close_is_final(struct smc_sock *smc)
{
	return smc_state_awaits_final(&smc->close) && !smc_conn_owes_final(smc->conn) &&
	       !smc_close_awaits_fin(smc, smc->conn);
}

/**
 * smc_close_handle_event() - run the close machine
 * @smc: the socket, with a connection
 * @event: the event
 *
 * Also runs follow-up events that are already true (drained, last message complete).
 *
 * Context: Process context, may sleep. Expects the socket lock held, to be released by
 *	 smc_close_unlock().
 */
void smc_close_handle_event(struct smc_sock *smc, enum smc_close_event event)
{
	bool was_over = smc->close.state == SMC_STATE_CLOSED;
	int i;

	sock_owned_by_me(smc->sk);
	/* TCP_CORK and MSG_MORE must not delay the end */
	if (event == SMC_CLOSE_APP_CLOSE || event == SMC_CLOSE_APP_SHUT_WR)
		smc_tx_flush(smc->conn);
	for (i = 0; i < SMC_CLOSE_CHAIN; i++) {
		u32 actions = smc_close_run_step(smc, event);

		if (smc_close_is_final(smc))
			event = SMC_CLOSE_FINAL_DONE;
		else if (actions & SMC_CLOSE_DO_WAIT_DRAIN && smc_conn_await_drain(smc->conn))
			event = SMC_CLOSE_TX_DRAINED;
		else
			break;
	}
	if (!was_over && smc->close.state == SMC_STATE_CLOSED)
		smc_close_finish(smc);
}

/* True if the close machine may have an event to process. */
static bool smc_close_has_input(const struct smc_conn *conn)
{
	return READ_ONCE(conn->pending) || READ_ONCE(conn->ctl.rx_conn_flags);
}

/**
 * smc_close_establish() - start the close machine when rendezvous is complete (CLOSE-06)
 * @smc: the socket; its connection is open
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_establish(struct smc_sock *smc)
{
	sock_owned_by_me(smc->sk);
	smc_close_handle_event(smc, SMC_CLOSE_ESTABLISHED);
	smc_keepalive_begin(smc);
	/* input that came before */
	if (smc_close_has_input(smc->conn))
		smc_sock_queue_close(smc->conn);
}

static void smc_close_check(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->conn;

	if (smc_state_has_seen(&smc->close, SMC_CLOSE_APP_CLOSE) && smc_conn_readable(conn))
		smc_close_handle_event(smc, SMC_CLOSE_RX_DATA);
	if (smc_state_is_draining(&smc->close) && smc_conn_await_drain(conn))
		smc_close_handle_event(smc, SMC_CLOSE_TX_DRAINED);
	if (smc_close_is_final(smc))
		smc_close_handle_event(smc, SMC_CLOSE_FINAL_DONE);
}

/* Run the events of the peer's flags that are new, in this order. */
static void smc_close_run_flags(struct smc_sock *smc)
{
	static const struct {
		u8 flag;
		enum smc_close_event event;
	} rows[] = {
		{ SMC_CDC_DONE, SMC_CLOSE_RX_DONE },
		{ SMC_CDC_CLOSED, SMC_CLOSE_RX_CLOSED },
		{ SMC_CDC_ABORT, SMC_CLOSE_RX_ABORT },
	};
	u8 flags = READ_ONCE(smc->conn->ctl.rx_conn_flags);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (flags & rows[i].flag && !smc_state_has_seen(&smc->close, rows[i].event))
			smc_close_handle_event(smc, rows[i].event);
}

static void smc_close_run_pending(struct smc_sock *smc, unsigned long pending)
{
	static const enum smc_close_event events[] = {
		[SMC_PENDING_FAULT]	= SMC_CLOSE_FAULT,
		[SMC_PENDING_RESET]	= SMC_CLOSE_RX_RST,
		[SMC_PENDING_SILENCE]	= SMC_CLOSE_SILENCE,
		/* a protocol error, AMB-54 */
		[SMC_PENDING_PAYLOAD]	= SMC_CLOSE_FAULT,
		[SMC_PENDING_LINK_LOST]	= SMC_CLOSE_LINK_LOST,
		[SMC_PENDING_TIMER]	= SMC_CLOSE_TIMER,
	};
	unsigned int bit;

	/* START_TIMER may clear an earlier timer bit */
	for_each_set_bit(bit, &pending, ARRAY_SIZE(events)) {
		if (!test_and_clear_bit(bit, &smc->conn->pending))
			continue;
		if (smc_land_takes(smc, bit))
			smc_sock_queue_close(smc->conn);
		else
			smc_close_handle_event(smc, events[bit]);
	}
}

/* Run the close machine on all pending events, RFC 7609 4.8. */
static void smc_close_run(struct smc_sock *smc)
{
	unsigned long pending;

	sock_owned_by_me(smc->sk);
	/* events wait for smc_close_establish() */
	if (!smc_state_is_alive(&smc->close))
		return;
	pending = READ_ONCE(smc->conn->pending);
	/*
	 * Pairs with smp_mb__before_atomic() in smc_sock_pend(). Loss of the link and reset of TCP
	 * may come from another task than D and C: flags received before the bit was set must be
	 * seen.
	 */
	smp_rmb();
	smc_close_check(smc);
	smc_close_run_flags(smc);
	smc_close_run_pending(smc, pending);
	/* a connection that ended before any data is not accepted */
	if (READ_ONCE(smc->child))
		smc_sock_queue(smc);
}

/**
 * smc_close_work() - work function of the close machine
 * @work: &smc_sock.close_work; drops the reference taken when it was queued
 *
 * Context: Process context (work item). Takes the socket lock, but does not wait for a call that
 *	 owns it.
 */
void smc_close_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, close_work);

	/* without effect if the state has left its sock */
	if (smc_sock_lock_work(smc->sk, SMC_MISSED_CLOSE)) {
		smc_close_run(smc);
		smc_land_run(smc);
		smc_close_unlock(smc);
	}
	smc_sock_put(smc);
}

/**
 * smc_close_timer() - a wait for the peer or our last message timed out, CLOSE-23, ABRT-07
 * @timer: &smc_sock.close_timer; drops the reference taken when it was armed
 *
 * Context: Softirq.
 */
void smc_close_timer(struct timer_list *timer)
{
	struct smc_sock *smc = smc_compat_timer_of(smc, timer, close_timer);

	smc_sock_pend(smc->conn, SMC_PENDING_TIMER);
	smc_sock_put(smc);
}

static bool smc_close_peer_is_done(const struct smc_conn *conn)
{
	return READ_ONCE(conn->ctl.rx_conn_flags) & SMC_CDC_FINAL;
}

/**
 * smc_close_check_end() - end a connection without a socket when both aborts have arrived or cannot
 * @conn: the connection, valid under RCU or a reference; its socket has dropped it
 *
 * RFC 7609 4.8.2 (ABRT-03, ABRT-13).
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_close_check_end(struct smc_conn *conn)
{
	if (!smc_conn_owes_final(conn) &&
	    (smc_close_peer_is_done(conn) || !smc_conn_is_carried(conn)))
		smc_sock_queue_end(conn, 0);
}

/**
 * smc_close_end_work() - work function of a connection without a socket, which ends here
 * @work: &smc_conn.end_work; drops the reference taken when it was queued
 *
 * Context: Process context (work item).
 */
void smc_close_end_work(struct work_struct *work)
{
	struct smc_conn *conn = container_of(to_delayed_work(work), struct smc_conn, end_work);

	if (conn->token)
		smc_close_leave(conn, smc_close_peer_is_done(conn) || !conn->carrier->is_up(conn));
	smc_conn_forget_unread(conn);
	smc_conn_put(conn);
}

/**
 * smc_close_give_up() - abort a connection and go on without it
 * @smc: the socket, with a connection that was established
 *
 * The peer gets the abort (ABRT-02), and has close_timeout_ms to answer.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_give_up(struct smc_sock *smc)
{
	const struct smc_settings *set = &smc_net(sock_net(smc->sk))->set;
	struct smc_conn *conn = smc->conn;

	sock_owned_by_me(smc->sk);
	if (smc_state_is_alive(&smc->close))
		smc_close_handle_event(smc, SMC_CLOSE_APP_ABORT);
	smc_close_finish(smc);
	smc_conn_get(conn);
	smc_sock_drop_conn(smc);
	smc_sock_queue_end(conn, msecs_to_jiffies(READ_ONCE(set->close_timeout_ms)));
	/* events before the drop went to the machine */
	smc_close_check_end(conn);
	smc_conn_put(conn);
}

/**
 * smc_close_is_over() - check whether both sides are done with a connection
 * @smc: the socket, on SMC
 *
 * TCP's connection would have ended; on SMC the peer may still need a message. RFC 7609 4.8.1
 * (CLOSE-03, CLOSE-09).
 *
 * Context: Process context. Expects the socket lock held.
 * Return: true if both are done.
 */
bool smc_close_is_over(const struct smc_sock *smc)
{
	sock_owned_by_me(smc->sk);
	switch (smc->close.state) {
	case SMC_STATE_PEERCLOSEWAIT2:
	case SMC_STATE_PEERFINCLOSEWAIT:
	case SMC_STATE_APPCLOSEWAIT2:
	case SMC_STATE_APPFINCLOSEWAIT:
		return true;
	case SMC_STATE_APPCLOSEWAIT1:
		/* the writer got EPIPE after the peer closed */
		return smc->is_done && smc->shutdown == SHUTDOWN_MASK;
	default:
		return false;
	}
}

/**
 * smc_close_shutdown() - shutdown() on a connection
 * @smc: the socket, on SMC
 * @how: RCV_SHUTDOWN, SEND_SHUTDOWN or both
 *
 * If both sides are done, this fails as on TCP, but the peer still gets its message. CLOSE-03,
 * CLOSE-04, CLOSE-09, CLOSE-19.
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
	switch (smc->close.state) {
	case SMC_STATE_CLOSED:
	case SMC_STATE_LASTWORD:
	case SMC_STATE_PEERABORTWAIT:
	case SMC_STATE_PROCESSABORT:
		return -ENOTCONN;
	default:
		break;
	}
	WRITE_ONCE(smc->shutdown, smc->shutdown | how);
	smc_close_handle_event(smc, events[how]);
	smc_wake_state(smc->sk);
	return is_over ? -ENOTCONN : 0;
}

/* SO_LINGER: wait until all data is acknowledged by the peer's RNIC, or for the time limit. */
static void smc_close_linger(struct smc_sock *smc, long timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = smc->sk;
	wait_queue_head_t *wq = sk_sleep(sk);

	add_wait_queue(wq, &wait);
	while (timeo && smc_state_is_draining(&smc->close) && !signal_pending(current))
		sk_wait_event(sk, &timeo, !smc_state_is_draining(&smc->close), &wait);
	remove_wait_queue(wq, &wait);
}

/**
 * smc_close_by_app() - close() on a connection
 * @smc: the socket, on SMC, attached to its file
 * @timeo: linger time in jiffies
 *
 * Linger time 0 and unread data abort (CLOSE-07). Otherwise the close continues after the call
 * (CLOSE-08), or while it lingers.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_close_by_app(struct smc_sock *smc, long timeo)
{
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	if (!smc_state_is_alive(&smc->close))
		return;
	WRITE_ONCE(smc->shutdown, SHUTDOWN_MASK);
	if (sock_flag(sk, SOCK_LINGER) && !sk->sk_lingertime)
		smc_close_handle_event(smc, SMC_CLOSE_APP_ABORT);
	smc_close_handle_event(smc, SMC_CLOSE_APP_CLOSE);
	if (timeo)
		smc_close_linger(smc, timeo);
}

/**
 * smc_close_release() - detach a socket from its file, until smc_close_unlock() closes TCP
 * @smc: the socket, with or without a file; the sock is not dead for TCP
 *
 * Context: Process context, may sleep. Expects the socket lock held, to be released by
 *	 smc_close_unlock().
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
	 * also for a connection that has just ended; during a handshake the connection is the
	 * handshake's
	 */
	if (smc->phase == SMC_PHASE_SMC)
		smc_conn_forget_unread(smc->conn);
}

/**
 * smc_close_dissolve() - give up the connection for connect() to AF_UNSPEC
 * @smc: the socket, on SMC, attached to its file
 *
 * TCP sets an error, unless both sides had closed. On SMC the peer gets the abort in both cases.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0, or the negative errno of TCP.
 */
int smc_close_dissolve(struct smc_sock *smc)
{
	bool is_over = smc_close_is_over(smc);
	struct sock *sk = smc->sk;
	int err = sk->sk_err, rc;

	sock_owned_by_me(smc->sk);
	smc_close_give_up(smc);
	if (!is_over)
		err = sk->sk_err;
	smc->has_tcp_ended = false;
	smc->tcp_err = 0;
	smc->err = 0;
	smc->is_done = false;
	WRITE_ONCE(smc->shutdown, 0);
	smc_sock_set_phase(smc, SMC_PHASE_IDLE);
	rc = smc_tcp_disconnect(sk);
	WRITE_ONCE(sk->sk_err, err);
	return rc;
}

/**
 * smc_call_lock() - take the socket lock for a call
 * @sk: the sock
 *
 * Context: Process context, may sleep.
 * Return: the state, with the socket lock held; NULL, without it, for a sock that is plain TCP.
 */
struct smc_sock *smc_call_lock(struct sock *sk)
{
	lock_sock(sk);
	return smc_call_locked(sk);
}

/**
 * smc_call_locked() - smc_call_lock() with the lock held
 * @sk: the sock
 *
 * Context: Process context, may sleep. Expects the socket lock held; releases it for plain TCP.
 * Return: as smc_call_lock().
 */
struct smc_sock *smc_call_locked(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	sock_owned_by_me(sk);
	if (!smc) {
		release_sock(sk);
		return NULL;
	}
	/* input of the peer is processed first, as TCP does with its backlog */
	if (smc->phase == SMC_PHASE_SMC && smc_close_has_input(smc->conn))
		smc_close_run(smc);
	return smc;
}

/**
 * smc_call_unlock() - release the socket lock after a call
 * @sk: the sock; after a sleep it may have another state, or none
 *
 * Runs a pending close machine first.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_call_unlock(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	sock_owned_by_me(sk);
	if (!smc) {
		release_sock(sk);
		return;
	}
	if (unlikely(READ_ONCE(smc->missed) & BIT(SMC_MISSED_CLOSE)))
		smc_close_run(smc);
	smc_close_unlock(smc);
}
