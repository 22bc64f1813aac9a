// SPDX-License-Identifier: GPL-2.0
/*
 * Listening sockets.
 *
 * Operation: TCP listens. Each connection that TCP has completed and that agreed on SMC
 * is taken from TCP's queue at once and runs its handshake on its own; accept() only ever
 * gets those whose handshake has ended, so it never waits for one. Connections without the
 * option are plain TCP since their birth (smc_tcp.c): accept() takes them from TCP's queue
 * itself. But those in front of one for SMC are taken out with it, for its handshake must
 * not wait for accept(). How many in TCP's queue are for SMC is counted at their birth, so
 * nobody has to look into the queue. All together, once they are ready, take places of the
 * backlog (smc_listener.c).
 */
#include <net/tcp.h>

#include "sock/smc_child.h"
#include "smc_compat.h"
#include "sock/smc_hs.h"
#include "rdma/smc_ib.h"
#include "sock/smc_listen.h"
#include "group/smc_mem.h"
#include "sock/smc_tcp.h"
#include "sock/smc_wake.h"

/* Handshakes of one listener at a time above which SMC is not offered. */
#define SMC_LISTEN_CONGESTED	128

/* Children that only wait for the first byte of their peer cost no work. */
static bool smc_listen_is_congested(const struct smc_sock *smc,
				    const struct smc_listener *listener)
{
	return READ_ONCE(smc->limits_handshakes) &&
	       READ_ONCE(listener->nr[SMC_CHILD_HANDSHAKE]) > SMC_LISTEN_CONGESTED;
}

/*
 * Asked by TCP for each SYN, whose answer carries the option or not. TCP remembers
 * the answer until the connection is there, and the client believes it. So this,
 * and not the mark that says whether TCP knows of the option, is changed while the
 * socket listens: who was offered SMC sends a CLC message, whatever has changed
 * meanwhile. OPT-08.
 */
static bool smc_listen_offers_no_smc(const struct sock *sk)
{
	const struct smc_listener *listener = NULL;
	const struct smc_sock *smc;
	bool offers_none;

	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc)
		listener = rcu_dereference(smc->listener);
	/* without one it has just ceased to listen */
	offers_none = !listener || READ_ONCE(smc->fallback) != SMC_DECLINE_NONE ||
		      !smc_ib_has_device() || smc_listen_is_congested(smc, listener);
	rcu_read_unlock();
	return offers_none;
}

/* TCP_DEFER_ACCEPT, in jiffies: its value counts so many of TCP's own timeouts. */
static unsigned long smc_listen_patience(const struct sock *sk)
{
	u8 timeouts = READ_ONCE(inet_csk(sk)->icsk_accept_queue.rskq_defer_accept);
	unsigned long timeout = TCP_TIMEOUT_INIT, patience = 0;

	while (timeouts--) {
		patience += timeout;
		timeout = min_t(unsigned long, 2 * timeout, TCP_RTO_MAX);
	}
	return patience;
}

/* A child off TCP's queue that has agreed on SMC. Consumes the reference. */
static void smc_listen_begin_child(struct smc_listener *listener, struct sock *lsk,
				   struct sock *sk)
{
	unsigned long defer_end = jiffies + smc_listen_patience(lsk);
	struct smc_sock *smc = NULL;
	struct smc_child *child;

	lock_sock(sk);
	child = smc_listener_add(listener, sk, defer_end);
	if (child)
		smc = smc_tcp_adopt_child(sk);
	if (!smc) {
		release_sock(sk);
		if (child)
			smc_listener_finish(child, false);
		smc_child_drop(sk);
		return;
	}
	smc->child = child;
	rcu_read_lock();
	/* of an option that has excluded SMC while the listener had offered it */
	if (smc_sk(lsk))
		smc->fallback = smc_sk(lsk)->fallback;
	rcu_read_unlock();
	smc_hs_begin_server(smc);
	smc_child_make_room(listener, NULL);
}

/* Take one from TCP's queue; NULL if there is none. */
static struct sock *smc_listen_pop(struct sock *lsk)
{
	return smc_compat_csk_accept(smc_tcp_prot(lsk), lsk);
}

/*
 * Makes children of what has agreed on SMC. What comes later tells of itself. An aborted
 * connection is not the end of the queue.
 */
static void smc_listen_run(struct smc_listener *listener, struct sock *lsk)
{
	struct sock *sk;

	while (smc_listener_has_agreed(listener)) {
		sk = smc_listen_pop(lsk);
		if (!sk)
			return;
		if (smc_tcp_child_is_agreed(sk))
			smc_listen_begin_child(listener, lsk, sk);
		else if (!smc_listener_add_plain(listener, sk))
			smc_child_drop(sk);
	}
}

/* TCP does not listen. The work item closes the children that nobody has accepted. */
static void smc_listen_end(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);

	tcp_sk(smc->sk)->smc_hs_congested = NULL;
	smc_tcp_limit_backlog(smc->sk, false);
	smc_listener_end(listener);
	smc_sock_queue_listen(smc);
	rcu_assign_pointer(smc->listener, NULL);
	smc_listener_put(listener);
}

/*
 * Where others listen on the same port (SO_REUSEPORT) TCP may move connections to them when
 * this one is done, and they may be of programs without SMC. So one that has agreed on
 * SMC is reset, for what its client says would be no payload. The lock is released
 * meanwhile.
 */
static void smc_listen_leave_children(struct smc_sock *smc, struct smc_listener *listener)
{
	struct sock *lsk = smc->sk, *sk;

	if (!rcu_access_pointer(lsk->sk_reuseport_cb))
		return;
	release_sock(lsk);
	while (smc_listener_has_agreed(listener)) {
		sk = smc_listen_pop(lsk);
		if (!sk)
			break;
		smc_child_drop(sk);
	}
	lock_sock(lsk);
}

/**
 * smc_listen_stop() - the socket listens no more
 * @smc: the socket, listening
 *
 * Children that nobody accepted are closed, handshakes ended.
 *
 * Context: Process context, may sleep. Expects the socket lock held, which may be released
 * meanwhile.
 */
void smc_listen_stop(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);

	sock_owned_by_me(smc->sk);
	smc_listen_leave_children(smc, listener);
	if (smc_sock_listener(smc) != listener)
		return;
	if (smc->sk->sk_state == TCP_LISTEN)
		smc_tcp_disconnect(smc->sk);
	smc_listen_end(smc);
}

/* The listener's work item; drops the reference taken when it was queued. */
static void smc_listen_work(struct work_struct *work)
{
	struct smc_listener *listener = container_of(work, struct smc_listener, work);
	struct sock *sk = smc_listener_sock(listener);
	struct smc_sock *smc;

	if (!sk) {
		smc_child_drop_all(listener);
		goto out;
	}
	if (smc_sock_lock_work(sk, SMC_MISSED_LISTEN)) {
		smc = smc_sk(sk);
		/* an operator may have told TCP to listen no more (`ss -K`) */
		if (smc && smc_sock_listener(smc) == listener && sk->sk_state == TCP_CLOSE)
			smc_listen_end(smc);
		release_sock(sk);
		smc_listen_run(listener, sk);
	}
	sock_put(sk);
out:
	smc_listener_put(listener);
}

/**
 * smc_listen_begin() - listen() is about to be TCP's
 * @smc: the socket, not connected; or listening already
 *
 * Children may be born as soon as TCP listens.
 *
 * Context: Process context, may sleep. Expects the socket lock held. smc_listen_begun()
 * follows.
 * Return: 0; -ENOBUFS without memory.
 */
int smc_listen_begin(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);
	struct sock *sk = smc->sk;

	sock_owned_by_me(smc->sk);
	if (listener && sk->sk_state == TCP_CLOSE)
		smc_listen_end(smc);
	else if (listener)
		return 0;
	listener = smc_listener_new(sk, smc_listen_work);
	if (!listener)
		return -ENOBUFS;
	/* why an earlier connect(), which TCP refused, did not offer SMC does not count */
	if (smc->fallback != SMC_DECLINE_OPTUNSUPP)
		smc->fallback = SMC_DECLINE_NONE;
	smc->peer_diagnosis = 0;
	tcp_sk(sk)->syn_smc = 1;
	tcp_sk(sk)->smc_hs_congested = smc_listen_offers_no_smc;
	smc_tcp_limit_backlog(sk, true);
	/* of one that was ended by an operator: all children would be born shut down */
	WRITE_ONCE(sk->sk_shutdown, 0);
	rcu_assign_pointer(smc->listener, listener);
	return 0;
}

/**
 * smc_listen_begun() - TCP listens, or has refused to
 * @smc: the socket
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_listen_begun(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);
	struct sock *sk = smc->sk;

	sock_owned_by_me(smc->sk);
	if (!listener)
		return;
	if (sk->sk_state != TCP_LISTEN)
		smc_listen_end(smc);
}

/**
 * smc_listen_is_ready() - would accept() find a connection
 * @listener: the listener, kept by RCU or a reference
 * @sk: its sock
 *
 * Context: Any context.
 * Return: true if a child is ready, or there is one of TCP's without SMC.
 */
bool smc_listen_is_ready(const struct smc_listener *listener, const struct sock *sk)
{
	return READ_ONCE(listener->nr[SMC_CHILD_READY]) || smc_listener_has_plain(listener, sk);
}

/* A child for accept(), without waiting. */
static bool smc_listen_next(struct smc_listener *listener, struct sock *lsk,
			    struct smc_accepted *child)
{
	struct sock *sk;

	if (READ_ONCE(listener->nr[SMC_CHILD_READY]) && smc_listener_next(listener, child))
		return true;
	while (READ_ONCE(lsk->sk_ack_backlog)) {
		sk = smc_listen_pop(lsk);
		if (!sk)
			return false;
		if (!smc_tcp_child_is_agreed(sk)) {
			child->sk = sk;
			child->fallback = smc_ib_has_device() ? SMC_DECLINE_PEERNOSMC :
								SMC_DECLINE_NOSMCRDEV;
			child->peer_diagnosis = 0;
			return true;
		}
		smc_listen_begin_child(listener, lsk, sk);
	}
	return false;
}

static int smc_listen_wait(struct socket *sock, struct smc_listener *listener,
			   long *timeo)
{
	wait_queue_head_t *wq = &sock->wq.wait;
	struct sock *sk = sock->sk;
	DEFINE_WAIT(wait);
	int rc = 0;

	for (;;) {
		/* one connection wakes one accept() */
		prepare_to_wait_exclusive(wq, &wait, TASK_INTERRUPTIBLE);
		if (!READ_ONCE(listener->sk) || inet_sk_state_load(sk) != TCP_LISTEN)
			rc = -EINVAL;
		else if (smc_listen_is_ready(listener, sk))
			break;
		else if (!*timeo)
			rc = -EAGAIN;
		else if (signal_pending(current))
			rc = sock_intr_errno(*timeo);
		if (rc)
			break;
		*timeo = schedule_timeout(*timeo);
	}
	finish_wait(wq, &wait);
	return rc;
}

/**
 * smc_listen_accept() - the next child for accept()
 * @sock: the listening socket
 * @flags: O_NONBLOCK
 * @child: receives it
 *
 * Context: Process context, may sleep.
 * Return: 0; -EAGAIN, -EINVAL (not listening), or what a signal means.
 */
int smc_listen_accept(struct socket *sock, int flags, struct smc_accepted *child)
{
	struct sock *sk = sock->sk;
	long timeo = sock_rcvtimeo(sk, flags & O_NONBLOCK);
	struct smc_listener *listener;
	struct smc_sock *smc;
	int rc = 0;

	rcu_read_lock();
	smc = smc_sk(sk);
	listener = smc ? rcu_dereference(smc->listener) : NULL;
	if (listener && !refcount_inc_not_zero(&listener->refs))
		listener = NULL;
	rcu_read_unlock();
	if (!listener)
		return -EINVAL;
	while (!rc && !smc_listen_next(listener, sk, child))
		rc = smc_listen_wait(sock, listener, &timeo);
	child->is_last = !smc_listen_is_ready(listener, sk);
	/* the wake-up was not for us */
	if (rc && !child->is_last)
		smc_wake_readers(sk);
	smc_listener_put(listener);
	return rc;
}
