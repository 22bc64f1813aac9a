// SPDX-License-Identifier: GPL-2.0
/*
 * poll(), select() and epoll, and the events of a connection that wake them.
 */
#include <net/busy_poll.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "group/smc_pool.h"
#include "sock/smc_close.h"
#include "sock/smc_errqueue.h"
#include "sock/smc_listen.h"
#include "sock/smc_poll.h"
#include "sock/smc_rx.h"
#include "sock/smc_tx.h"
#include "sock/smc_wake.h"

static __poll_t poll_data(struct smc_sock *smc, struct smc_conn *conn, struct socket *sock)
{
	u8 peer = READ_ONCE(conn->ctl.rx_conn_flags);
	u8 shutdown = READ_ONCE(smc->shutdown);
	__poll_t mask = 0;

	/* an abort is an error, which the close machine raises */
	if (peer && !(peer & SMC_CDC_ABORT))
		shutdown |= RCV_SHUTDOWN;
	if (shutdown == SHUTDOWN_MASK || READ_ONCE(smc->close.state) == SMC_STATE_CLOSED)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (!smc_state_is_usable(&smc->close))
		return mask | (shutdown & SEND_SHUTDOWN ? EPOLLOUT | EPOLLWRNORM : 0);

	if (smc_rx_is_readable(conn))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (smc_rx_has_urgent(conn))
		mask |= EPOLLPRI;
	if (shutdown & SEND_SHUTDOWN || smc_tx_is_writable(conn)) {
		mask |= EPOLLOUT | EPOLLWRNORM;
	} else {
		if (sock_flag(smc->sk, SOCK_FASYNC))
			set_bit(SOCKWQ_ASYNC_NOSPACE, &sock->wq.flags);
		set_bit(SOCK_NOSPACE, &sock->flags);
		if (smc_tx_want_room(conn))
			mask |= EPOLLOUT | EPOLLWRNORM;
	}
	return mask;
}

/*
 * Whether a connected socket is SMC's is still undecided. TCP is asked before the state is read: it
 * may become connected in between, and an early EPOLLOUT makes io_uring call connect() again.
 */
static __poll_t poll_idle(struct smc_sock *smc, struct file *file, struct socket *sock)
{
	const struct smc_listener *listener = rcu_dereference(smc->listener);
	__poll_t mask;

	if (listener && inet_sk_state_load(smc->sk) == TCP_LISTEN)
		return smc_listen_is_ready(listener, smc->sk) ? EPOLLIN | EPOLLRDNORM : 0;
	mask = tcp_poll(file, sock, NULL);
	return (1 << inet_sk_state_load(smc->sk)) & (TCPF_CLOSE | TCPF_SYN_SENT | TCPF_LISTEN) ?
	       mask : 0;
}

/* Expects an RCU read section. */
static __poll_t poll_sock(struct smc_sock *smc, struct file *file, struct socket *sock,
			  bool is_spinning)
{
	struct smc_conn *conn;
	__poll_t mask = 0;

	/* pairs with smp_store_release() in smc_sock_set_phase() */
	switch (smp_load_acquire(&smc->phase)) {
	case SMC_PHASE_IDLE:
		return poll_idle(smc, file, sock);
	case SMC_PHASE_SMC:
		conn = READ_ONCE(smc->conn);
		if (!conn)
			break;
		if (is_spinning)
			smc_tx_poll(conn, NULL, NULL);
		mask = poll_data(smc, conn, sock);
		break;
	default:
		break;
	}
	/* last, as in tcp_poll(): an error is set before the state that follows from it */
	smp_rmb();
	if ((READ_ONCE(smc->err) && READ_ONCE(smc->sk->sk_err)) ||
	    !skb_queue_empty_lockless(&smc->sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/**
 * smc_poll() - poll(), select() and epoll
 * @file: the file
 * @sock: its socket
 * @wait: the table of the caller
 *
 * Context: Process context; epoll asks under its locks.
 * Return: the events, as TCP would report them.
 */
__poll_t smc_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	/* net.core.busy_poll */
	bool is_spinning = poll_requested_events(wait) & POLL_BUSY_LOOP &&
			   sk_can_busy_loop(sock->sk);
	struct smc_sock *smc;
	__poll_t mask = 0;

	guard(smc_entry)();
	/* first: a sock that becomes plain TCP wakes only the entries already queued */
	sock_poll_wait(file, sock, wait);
	rcu_read_lock();
	smc = smc_sk(sock->sk);
	if (smc)
		mask = poll_sock(smc, file, sock, is_spinning);
	rcu_read_unlock();
	return smc ? mask : tcp_poll(file, sock, NULL);
}

/* Data and nothing else came. Return: false if more is to be done than to wake readers. */
static bool event_data(struct smc_conn *conn)
{
	struct smc_sock *smc;

	guard(rcu)();
	smc = smc_conn_sock(conn);
	if (unlikely(!smc || READ_ONCE(smc->child) || READ_ONCE(smc->is_released) ||
		     READ_ONCE(smc->shutdown) == SHUTDOWN_MASK))
		return false;
	smc_wake_readers(smc->sk);
	return true;
}

static void event_close(struct smc_sock *smc, struct smc_conn *conn, u32 events)
{
	if (events & (SMC_EV_INVALID | SMC_EV_LOST))
		smc_sock_pend(conn, SMC_PENDING_FAULT);
	if (events & SMC_EV_LINK_LOST)
		smc_sock_pend(conn, SMC_PENDING_LINK_LOST);
	/* the machine reads the details from the connection */
	if (events & (SMC_EV_DONE | SMC_EV_CLOSED | SMC_EV_ABORT) ||
	    (events & SMC_EV_FINAL_DONE && smc_state_awaits_final(&smc->close) &&
	     !smc_close_awaits_fin(smc, conn)) ||
	    (events & SMC_EV_TX_DONE && smc_state_is_draining(&smc->close)))
		smc_sock_queue_close(conn);
}

/* SIGURG precedes the wake-up of a reader. The callback lock protects sk_socket from close(). */
static void event_urgent(struct sock *sk)
{
	read_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_socket)
		sk_send_sigurg(sk);
	read_unlock_bh(&sk->sk_callback_lock);
	smc_wake_readers(sk);
}

/* Forward events to the application. Expects an RCU read section. */
static void event_app(struct smc_sock *smc, struct smc_conn *conn, u32 events)
{
	struct sock *sk = smc->sk;

	/* accept() may wait for this event */
	if (READ_ONCE(smc->child) &&
	    events & (SMC_EV_DATA | SMC_EV_URG_PENDING | SMC_EV_DONE | SMC_EV_CLOSED))
		smc_sock_queue(smc);
	if (events & SMC_EV_URG_PENDING)
		event_urgent(sk);
	if (events & SMC_EV_DATA) {
		if (READ_ONCE(smc->is_released) || READ_ONCE(smc->shutdown) == SHUTDOWN_MASK)
			smc_sock_queue_close(conn);
		smc_wake_readers(sk);
	} else if (events & SMC_EV_URG) {
		/* a reader can now step over the position of an earlier urgent byte */
		smc_wake_readers(sk);
	}
	if (events & SMC_EV_ROOM)
		smc_wake_writers(sk);
	if (!(events & (SMC_EV_DONE | SMC_EV_CLOSED)))
		return;
	/*
	 * Pollers are woken only when connect() has its outcome: io_uring would call connect()
	 * again and take EALREADY for the result. Pairs with the wake-up after the phase change in
	 * smc_hs_finish_client(): either that sees this message, or the new phase is seen here.
	 */
	smp_mb();
	if (READ_ONCE(smc->phase) == SMC_PHASE_SMC)
		smc_wake_state(sk);
	/* as tcp_fin() */
	sk_wake_async(sk, SOCK_WAKE_WAITD,
		      READ_ONCE(smc->shutdown) & SEND_SHUTDOWN ? POLL_HUP : POLL_IN);
}

static noinline void event_long(struct smc_conn *conn, u32 events)
{
	struct smc_sock *smc;

	if (events & SMC_EV_RINGS_FREE)
		smc_pool_trim(conn->lgr);
	if (events & SMC_EV_ABORT)
		smc_stat_inc(sock_net(conn->sk), SMC_STAT_ABORTS_RX);
	if (events & SMC_EV_TX_DONE)
		smc_errqueue_report(conn);
	guard(rcu)();
	smc = smc_conn_sock(conn);
	if (smc)
		event_app(smc, conn, events);
	/* smc_tx_push() decides what a new window, a request or a new link allows */
	if (events & (SMC_EV_SPACE | SMC_EV_UPDATE_REQ | SMC_EV_BLOCKED | SMC_EV_MOVED))
		smc_tx_push(conn);
	if (smc)
		event_close(smc, conn, events);
	else
		smc_close_check_end(conn);
}

/**
 * smc_conn_event() - the event upcall of a connection
 * @conn: the connection
 * @events: set of bits, SMC_EV_...
 *
 * Wakes the application, sends what has become possible, and queues the close machine.
 *
 * Context: Any context but hard interrupt.
 */
void smc_conn_event(struct smc_conn *conn, u32 events)
{
	if (likely(events == SMC_EV_DATA) && event_data(conn))
		return;
	event_long(conn, events);
}
