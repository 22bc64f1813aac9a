// SPDX-License-Identifier: GPL-2.0
/*
 * Children of a listener until accept() takes them.
 *
 * Operation: with TCP_DEFER_ACCEPT a child waits for the peer's first byte after its
 * handshake. TCP takes the client's CLC message for that byte, so the wait is here, also
 * after a fallback. When its time is over the child is accepted anyway, as with TCP. A
 * child that breaks meanwhile never reaches the application. It stays pending with its
 * charge, takes no place in the backlog, as with TCP, and ends with the listener.
 *
 * Memory: a listener counts the memory of its pending children. Above a limit each new
 * child resets the oldest, so that active peers replace silent ones.
 *
 * Ownership: struct smc_child belongs to the handshake's work item until accept().
 */
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "sock/smc_child.h"
#include "sock/smc_close.h"
#include "sock/smc_listener.h"
#include "sock/smc_rx.h"
#include "sock/smc_tcp.h"

/* Reset a child that is off the pending list; its work item closes it. Consumes a reference. */
static void smc_child_abandon(struct sock *sk)
{
	struct smc_sock *smc;

	tcp_abort(sk, ECONNRESET);
	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc)
		smc_sock_queue(smc);
	rcu_read_unlock();
	sock_put(sk);
}

/**
 * smc_child_make_room() - reset the oldest pending children above the memory limit
 * @listener: their listener; the caller has a reference
 * @except: a child to spare, or NULL
 *
 * Context: Process context, may sleep. Takes the socket locks of children.
 */
void smc_child_make_room(struct smc_listener *listener, const struct smc_child *except)
{
	struct sock *oldest;

	while ((oldest = smc_listener_evict(listener, except))) {
		smc_stat_inc(sock_net(oldest), SMC_STAT_SERVER_DROPPED);
		smc_child_abandon(oldest);
	}
}

/**
 * smc_child_count() - count a child's memory at its listener, and make room if needed
 * @smc: the child, during its handshake
 * @bytes: additional bytes
 *
 * Context: The child's handshake work item, may sleep. Takes the socket locks of other
 * children.
 */
void smc_child_count(struct smc_sock *smc, unsigned long bytes)
{
	smc_listener_count(smc->child, bytes);
	smc_child_make_room(smc->child->listener, smc->child);
}

/* True if the connection ended without data. */
static bool smc_child_is_broken(const struct smc_sock *smc)
{
	if (smc->phase != SMC_PHASE_SMC)
		return inet_sk_state_load(smc->sk) == TCP_CLOSE;
	return smc->err || READ_ONCE(smc->close.state) == SMC_STATE_CLOSED;
}

/* Data or the end of the stream. Data before a reset counts, as with TCP. */
static bool smc_child_has_input(struct smc_sock *smc)
{
	const struct sock *sk = smc->sk;

	if (smc->phase == SMC_PHASE_SMC)
		return smc_conn_readable(smc->conn) || smc_rx_has_urgent(smc->conn) ||
		       READ_ONCE(smc->conn->ctl.rx_conn_flags) & (SMC_CDC_DONE | SMC_CDC_CLOSED);
	return !skb_queue_empty_lockless(&sk->sk_receive_queue) ||
	       (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN && !smc_child_is_broken(smc));
}

/* Hand the child to accept(), or close it. Its work item is done. */
static void smc_child_finish(struct smc_sock *smc, bool is_good)
{
	struct smc_child *child = smc->child;
	struct sock *sk = smc->sk;

	lock_sock(sk);
	if (smc->phase != SMC_PHASE_SMC && is_good) {
		child->fallback = smc->fallback;
		child->peer_diagnosis = smc->peer_diagnosis;
		child->memory_age_ms = smc->memory_age_ms;
		smc_tcp_become(smc, smc->fallback);
	} else if (smc->phase != SMC_PHASE_SMC) {
		smc_sock_set_phase(smc, SMC_PHASE_IDLE);
	}
	/* events must not queue the work item any more */
	WRITE_ONCE(smc->child, NULL);
	/* a landing has waited for that */
	if (smc->land)
		smc_sock_queue_close(smc->conn);
	release_sock(sk);
	if (!smc_listener_finish(child, is_good))
		smc_child_drop(sk);
}

/**
 * smc_child_check() - advance a child that waits for its first byte
 * @smc: the child, after a successful handshake
 *
 * Context: The child's handshake work item, may sleep.
 */
void smc_child_check(struct smc_sock *smc)
{
	long left = smc->child->defer_end - jiffies;

	if (smc_child_has_input(smc))
		smc_child_finish(smc, true);
	else if (READ_ONCE(smc->child->state) == SMC_CHILD_GONE || smc_child_is_broken(smc))
		smc_child_finish(smc, false);
	else if (left <= 0)
		smc_child_finish(smc, true);
	else
		smc_sock_queue_delayed(smc, left);
}

/**
 * smc_child_done() - queue a child for accept() or for its first byte, or close it
 * @smc: the child, on SMC, or in the phase of a handshake with a reason for fallback
 * @is_good: it has a connection
 *
 * Context: The child's handshake work item, may sleep.
 */
void smc_child_done(struct smc_sock *smc, bool is_good)
{
	if (is_good && time_before(jiffies, smc->child->defer_end) &&
	    smc_listener_defer(smc->child))
		smc_child_check(smc);
	else
		smc_child_finish(smc, is_good);
}

/**
 * smc_child_drop() - close a child that accept() will not take
 * @sk: the child, off all lists of its listener; the caller's reference is consumed
 *
 * Context: Process context, may sleep. Takes the child's socket lock.
 */
void smc_child_drop(struct sock *sk)
{
	struct smc_sock *smc;

	lock_sock(sk);
	smc = smc_sk(sk);
	if (smc && smc->phase == SMC_PHASE_SMC) {
		if (smc_state_is_alive(&smc->close))
			smc_close_handle_event(smc, SMC_CLOSE_APP_ABORT);
		smc_close_release(smc);
		smc_close_unlock(smc);
		return;
	}
	release_sock(sk);
	tcp_abort(sk, ECONNRESET);
	tcp_close(sk, 0);
}

/**
 * smc_child_drop_all() - close the children of a listener that has ended
 * @listener: the listener, after smc_listener_end()
 *
 * The work items of pending children close them after a reset.
 *
 * Context: Process context, may sleep. Takes the children's socket locks.
 */
void smc_child_drop_all(struct smc_listener *listener)
{
	struct smc_accepted child;
	struct sock *sk;

	while ((sk = smc_listener_evict(listener, NULL)))
		smc_child_abandon(sk);
	while (smc_listener_next(listener, &child))
		smc_child_drop(child.sk);
}
