// SPDX-License-Identifier: GPL-2.0
/*
 * Children of a listener until accept() has them.
 *
 * Operation: a child whose handshake has ended goes to the accept queue, or
 * away. With TCP_DEFER_ACCEPT it waits for the first byte of its peer, or for
 * the end of its stream, before that. TCP waits for the same, but takes the
 * client's CLC message for it, so on SMC, and after a fallback, the wait is
 * here. It has the time that the option grants, then the child is accepted
 * anyway, as TCP accepts a client that has acknowledged the connection. One that
 * breaks meanwhile is never seen by the application.
 *
 * Memory: a listener adds up what its pending children cost. Above a bound the
 * oldest is reset for each that comes, so that peers that say nothing are replaced
 * by those that do.
 *
 * Ownership: a child that waits for its first byte stays pending, with what it
 * costs: it takes no place in the backlog, as TCP's does not, it ends with the
 * listener, and it is the first to go where memory is short. struct smc_child
 * belongs to the handshake's work item, which has nothing else to do any more;
 * news of the connection or of TCP queue it, and so does the timer.
 */
#include <net/tcp.h>

#include "smc_child.h"
#include "smc_close.h"
#include "smc_compat.h"
#include "smc_listener.h"
#include "smc_net.h"
#include "smc_rx.h"
#include "smc_tcp.h"

/*
 * Reset a child that is pending no more; its work item finds that out and closes it. The
 * lock keeps the inner socket from going with it meanwhile. Consumes a reference.
 */
static void smc_child_abandon(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
	smc_tcp_reset(smc);
	release_sock(sk);
	smc_sock_queue(smc, &smc->hs_work);
	sock_put(sk);
}

/**
 * smc_child_charge() - a child costs its listener memory, and others make room if need be
 * @smc: the child, its handshake is under way
 * @bytes: how much more
 *
 * Context: Process context, may sleep. Takes the socket locks of other children.
 */
void smc_child_charge(struct smc_sock *smc, unsigned long bytes)
{
	struct smc_child *child = smc->child;
	struct sock *oldest;

	smc_listener_charge(child, bytes);
	while ((oldest = smc_listener_evict(child->listener, child))) {
		smc_stat_inc(sock_net(&smc->sk), SMC_STAT_SERVER_DROPPED);
		smc_child_abandon(oldest);
	}
}

/* Has the connection ended without a word? */
static bool smc_child_is_broken(const struct smc_sock *smc)
{
	if (smc->fallback != SMC_DECLINE_NONE)
		return READ_ONCE(smc->tcp->sk->sk_state) == TCP_CLOSE;
	return READ_ONCE(smc->sk.sk_err) || READ_ONCE(smc->sk.sk_state) == SMC_STATE_CLOSED;
}

/* Data, or the end of them; what came before a reset counts, as with TCP. */
static bool smc_child_has_spoken(struct smc_sock *smc)
{
	const struct sock *tsk = smc->tcp->sk;

	if (smc->fallback == SMC_DECLINE_NONE)
		return smc_conn_readable(smc->conn) || smc_rx_has_urgent(smc->conn) ||
		       READ_ONCE(smc->conn->ctl.rx_conn_flags) & (SMC_CDC_DONE | SMC_CDC_CLOSED);
	return !skb_queue_empty_lockless(&tsk->sk_receive_queue) ||
	       (READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN && !smc_child_is_broken(smc));
}

static void smc_child_finish(struct smc_sock *smc, bool is_good)
{
	struct smc_child *child = smc->child;

	if (cancel_delayed_work(&smc->hs_timer))
		sock_put(&smc->sk);
	if (smc->fallback != SMC_DECLINE_NONE)
		smc_tcp_unwatch(smc);
	/* news have nothing to queue us for any more */
	WRITE_ONCE(smc->child, NULL);
	if (!smc_listener_finish(child, is_good))
		smc_child_drop(smc);
}

/**
 * smc_child_look() - is it time for a child that waits for its first byte
 * @smc: the child, its handshake has ended well
 *
 * Context: The child's handshake work item, may sleep.
 */
void smc_child_look(struct smc_sock *smc)
{
	long left = smc->child->defer_end - jiffies;

	if (smc_child_has_spoken(smc))
		smc_child_finish(smc, true);
	else if (READ_ONCE(smc->child->state) == SMC_CHILD_GONE || smc_child_is_broken(smc))
		smc_child_finish(smc, false);
	else if (left <= 0)
		smc_child_finish(smc, true);
	else
		smc_sock_queue_delayed(smc, &smc->hs_timer, left);
}

/**
 * smc_child_done() - a child's handshake has ended
 * @smc: the child, with SMC, or on TCP with its inner socket still watched
 * @is_good: it has a connection
 *
 * The child goes to accept(), at once or by and by, or away.
 *
 * Context: The child's handshake work item, may sleep.
 */
void smc_child_done(struct smc_sock *smc, bool is_good)
{
	if (is_good && time_before(jiffies, smc->child->defer_end) &&
	    smc_listener_defer(smc->child))
		smc_child_look(smc);
	else
		smc_child_finish(smc, is_good);
}

/**
 * smc_child_drop() - close a child that no accept() will take
 * @smc: the child, off all lists of its listener
 *
 * Consumes the caller's reference.
 *
 * Context: Process context, may sleep. Takes the child's socket lock, perhaps
 * inside the listener's.
 */
void smc_child_drop(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
	sock_set_flag(sk, SOCK_DEAD);
	/* as TCP does to connections that nobody accepted */
	if (smc_state_is_alive(&smc->close))
		smc_close_event(smc, SMC_CLOSE_APP_ABORT);
	else
		smc_tcp_reset(smc);
	smc_close_release(smc);
	if (!smc_state_is_alive(&smc->close))
		smc_close_let_go(smc);
	release_sock(sk);
	sock_put(sk);
}

/**
 * smc_child_drop_all() - the children of a listener that has ended
 * @listener: the listener, after smc_listener_end()
 *
 * Those that are ready are closed here. The work item of each other one finds itself
 * unwanted and closes it.
 *
 * Context: Process context, may sleep. Takes the children's socket locks, perhaps inside
 * that of the socket that has listened.
 */
void smc_child_drop_all(struct smc_listener *listener)
{
	struct sock *sk;

	while ((sk = smc_listener_evict(listener, NULL)))
		smc_child_abandon(sk);
	while ((sk = smc_listener_next(listener)))
		smc_child_drop(smc_sk(sk));
}
