// SPDX-License-Identifier: GPL-2.0
/*
 * Children of a listener between the end of their handshake and accept().
 *
 * Operation: a child whose handshake has ended goes to the accept queue, or
 * away. With TCP_DEFER_ACCEPT it waits for the first byte of its peer, or for
 * the end of its stream, before that. TCP waits for the same, but takes the
 * client's CLC message for it, so on SMC, and after a fallback, the wait is
 * here. It has the time that the option grants, then the child is accepted
 * anyway, as TCP accepts a client that has acknowledged the connection. One that
 * breaks meanwhile is never seen by the application.
 *
 * Ownership: a child that waits stays in its listener's list of handshakes,
 * with what it costs: it takes no place in the backlog, as TCP's does not, it
 * ends with the listener, and it is the first to go where memory is short. It
 * belongs to the handshake's work item, which has nothing else to do any more;
 * news of the connection or of TCP queue it, and so does the timer.
 */
#include <net/tcp.h>

#include "smc_child.h"
#include "smc_close.h"
#include "smc_compat.h"
#include "smc_tcp.h"

/* What TCP makes of the option's value: so many of its own timeouts. */
static unsigned long smc_child_patience(u8 timeouts)
{
	unsigned long timeout = TCP_TIMEOUT_INIT, patience = 0;

	while (timeouts--) {
		patience += timeout;
		timeout = min_t(unsigned long, 2 * timeout, TCP_RTO_MAX);
	}
	return patience;
}

/**
 * smc_child_prepare() - will accept() wait for this child's first byte
 * @listener: the listening socket
 * @child: new, its handshake has not begun
 *
 * Context: Process context.
 */
void smc_child_prepare(struct smc_sock *listener, struct smc_sock *child)
{
	const struct sock *tsk = listener->tcp->sk;
	u8 timeouts = READ_ONCE(inet_csk(tsk)->icsk_accept_queue.rskq_defer_accept);

	child->is_deferred = timeouts;
	child->defer_end = jiffies + smc_child_patience(timeouts);
}

/* Has the connection ended without a word? */
static bool smc_child_is_broken(const struct smc_sock *child)
{
	if (child->fallback != SMC_DECLINE_NONE)
		return READ_ONCE(child->tcp->sk->sk_state) == TCP_CLOSE;
	return READ_ONCE(child->sk.sk_err) || READ_ONCE(child->sk.sk_state) == SMC_STATE_CLOSED;
}

/* Data, or the end of them; what came before a reset counts, as with TCP. */
static bool smc_child_has_spoken(const struct smc_sock *child)
{
	const struct sock *tsk = child->tcp->sk;

	if (child->fallback == SMC_DECLINE_NONE)
		return READ_ONCE(child->has_spoken);
	return !skb_queue_empty_lockless(&tsk->sk_receive_queue) ||
	       (READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN && !smc_child_is_broken(child));
}

static void smc_child_finish(struct smc_sock *child, bool is_good)
{
	if (cancel_delayed_work(&child->hs_timer))
		sock_put(&child->sk);
	WRITE_ONCE(child->is_deferred, false);
	if (child->fallback != SMC_DECLINE_NONE)
		smc_tcp_unwatch(child);
	if (!smc_sock_end_handshake(child, is_good))
		smc_child_drop(child);
}

/**
 * smc_child_look() - is it time for a child that waits for its first byte
 * @child: its handshake has ended well
 *
 * Context: The child's handshake work item, may sleep.
 */
void smc_child_look(struct smc_sock *child)
{
	long left = child->defer_end - jiffies;

	if (!smc_sock_is_handshaking(child))
		smc_child_finish(child, false);
	else if (smc_child_has_spoken(child))
		smc_child_finish(child, true);
	else if (smc_child_is_broken(child))
		smc_child_finish(child, false);
	else if (left <= 0)
		smc_child_finish(child, true);
	else
		smc_sock_queue_delayed(child, &child->hs_timer, left);
}

/**
 * smc_child_done() - a child's handshake has ended
 * @child: with SMC, or on TCP with its inner socket still watched
 * @is_good: it has a connection
 *
 * The child goes to accept(), at once or by and by, or away.
 *
 * Context: The child's handshake work item, may sleep.
 */
void smc_child_done(struct smc_sock *child, bool is_good)
{
	if (is_good && child->is_deferred) {
		smc_sock_defer_child(child);
		smc_child_look(child);
	} else {
		smc_child_finish(child, is_good);
	}
}

/**
 * smc_child_drop() - close a child that no accept() will take
 * @child: off all queues of its listener
 *
 * Consumes the caller's reference.
 *
 * Context: Process context, may sleep. Takes the child's socket lock, perhaps
 * inside the listener's.
 */
void smc_child_drop(struct smc_sock *child)
{
	struct sock *sk = &child->sk;

	lock_sock_nested(sk, SINGLE_DEPTH_NESTING);
	sock_set_flag(sk, SOCK_DEAD);
	/* as TCP does to connections that nobody accepted */
	if (smc_state_is_alive(&child->close))
		smc_close_event(child, SMC_CLOSE_APP_ABORT);
	else
		smc_tcp_reset(child);
	smc_close_release(child);
	if (!smc_state_is_alive(&child->close))
		smc_close_let_go(child);
	release_sock(sk);
	sock_put(sk);
}
