// SPDX-License-Identifier: GPL-2.0
/*
 * Listening sockets.
 *
 * Operation: the inner socket listens. Each connection that TCP has completed
 * and that agreed on SMC becomes a child at once and runs its handshake on its
 * own; accept() only ever takes children whose handshake has ended, so it never
 * waits for one. Connections without the option are plain TCP: accept() takes
 * them from TCP's queue itself, at TCP's cost. But those in front of one for SMC
 * become children with it, for its handshake must not wait for accept(). All
 * together, once they are ready, take places of the backlog. A full backlog lets no
 * further client in (smc_tcp_is_full()); handshakes under way still end in the queue.
 * What handshakes under way cost is bounded in smc_listener.c.
 */
#include <net/tcp.h>

#include "smc_child.h"
#include "smc_compat.h"
#include "smc_hs.h"
#include "smc_ib.h"
#include "smc_listen.h"
#include "smc_listener.h"
#include "smc_mem.h"
#include "smc_net.h"
#include "smc_opt.h"
#include "smc_tcp.h"

/* Memory was short: when to look again for the connections that still wait, ms. */
#define SMC_LISTEN_RETRY_MS	50

/* Handshakes of one listener at a time above which SMC is not offered. */
#define SMC_LISTEN_CONGESTED	128

/* Children that only wait for the first byte of their peer cost no work. */
static bool smc_listen_is_congested(const struct smc_sock *smc)
{
	return READ_ONCE(smc->limits_handshakes) &&
	       smc_sock_nr_children(smc, SMC_CHILD_HANDSHAKE) > SMC_LISTEN_CONGESTED;
}

/*
 * Asked by TCP for each SYN, whose answer carries the option or not. TCP remembers
 * the answer until the connection is there, and the client believes it. So this,
 * and not the mark that says whether TCP knows of the option, is changed while the
 * socket listens: who was offered SMC sends a CLC message, whatever has changed
 * meanwhile. OPT-08.
 */
static bool smc_listen_offers_no_smc(const struct sock *tsk)
{
	const struct smc_sock *smc;
	bool offers_none;

	rcu_read_lock();
	smc = rcu_dereference_sk_user_data(tsk);
	/* without one it has just ceased to listen */
	offers_none = !smc || READ_ONCE(smc->is_eager_tcp) || !smc_ib_has_device() ||
		      smc_listen_is_congested(smc);
	rcu_read_unlock();
	return offers_none;
}

/* Why an earlier connect(), which TCP refused, did not offer SMC does not count any more. */
static void smc_listen_forget(struct smc_sock *smc)
{
	/* set by an option: that stays */
	if (smc->is_tcp_by_option)
		return;
	WRITE_ONCE(smc->is_eager_tcp, false);
	smc->fallback = SMC_DECLINE_NONE;
	smc->peer_diagnosis = 0;
}

/* TCP does not listen. The children are closed that nobody has accepted. */
static void smc_listen_end(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);

	smc_tcp_unwatch(smc);
	smc->sk.sk_state = SMC_STATE_INIT;
	rcu_assign_pointer(smc->listener, NULL);
	smc_listener_end(listener);
	smc_child_drop_all(listener);
	smc_listener_put(listener);
}

/**
 * smc_listen_stop() - the socket listens no more
 * @smc: the socket, listening
 *
 * Children that nobody accepted are closed, handshakes ended.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_listen_stop(struct smc_sock *smc)
{
	smc_tcp_leave_children(smc);
	/*
	 * Not by shutdown(): where TCP does not listen any more (smc_listen_look()), all
	 * children of another listen() would be born shut down.
	 */
	smc_tcp_disconnect(smc);
	/* until then children were born, which have nothing of ours */
	smc_listen_end(smc);
}

/*
 * An operator may have told TCP to listen no more (`ss -K`): so it is here, and a
 * second listen() is as good as the first.
 */
static void smc_listen_look(struct smc_sock *smc)
{
	int err;

	if (smc->sk.sk_state != SMC_STATE_LISTEN ||
	    inet_sk_state_load(smc->tcp->sk) != TCP_CLOSE)
		return;
	err = -sock_error(smc->tcp->sk);
	smc_listen_stop(smc);
	smc->sk.sk_shutdown = SHUTDOWN_MASK;
	smc_sock_set_err(smc, err ?: ECONNABORTED);
	smc_sock_wake_all(smc);
}

/* TCP_DEFER_ACCEPT, in jiffies: its value counts so many of TCP's own timeouts. */
static unsigned long smc_listen_patience(const struct sock *tsk)
{
	u8 timeouts = READ_ONCE(inet_csk(tsk)->icsk_accept_queue.rskq_defer_accept);
	unsigned long timeout = TCP_TIMEOUT_INIT, patience = 0;

	while (timeouts--) {
		patience += timeout;
		timeout = min_t(unsigned long, 2 * timeout, TCP_RTO_MAX);
	}
	return patience;
}

/* Take one connection from TCP. Negative errno when there is none to take. */
static int smc_listen_take(struct smc_sock *smc)
{
	struct smc_sock *child;
	int rc = -ENOMEM;

	/* first, for TCP's queue does not take a connection back */
	child = smc_sock_alloc_like(smc);
	if (!child)
		return rc;
	child->child = smc_listener_add(smc_sock_listener(smc), &child->sk,
					jiffies + smc_listen_patience(smc->tcp->sk));
	if (!child->child)
		goto out_sock;
	rc = kernel_accept(smc->tcp, &child->tcp, O_NONBLOCK);
	if (rc)
		goto out_child;
	/* its user till somebody accepts it */
	smc_sock_inherit(&smc->sk, &child->sk);
	smc_tcp_set_owner(child, smc->tcp);
	smc_mem_inherit(&smc->sk, &child->sk);
	smc_opt_inherit(smc, child);
	smc_sock_hash(child);
	smc_hs_begin_server(child);
	return 0;

out_child:
	smc_listener_finish(child->child, false);
	child->child = NULL;
out_sock:
	sock_put(&child->sk);
	return rc;
}

/* Is the next connection in TCP's queue one that has nothing to do with SMC? */
static bool smc_listen_has_plain(struct smc_sock *smc)
{
	bool is_agreed;

	return smc_tcp_peek(smc, &is_agreed) && !is_agreed;
}

/**
 * smc_listen_is_ready() - would accept() find a connection
 * @smc: a socket that listens, with a file
 *
 * Context: Any context but hard interrupt.
 * Return: true if a child is ready, or the next of TCP's is a connection without SMC.
 */
bool smc_listen_is_ready(struct smc_sock *smc)
{
	return smc_sock_nr_children(smc, SMC_CHILD_READY) || smc_listen_has_plain(smc);
}

/**
 * smc_listen_go_on() - accept() has taken one, what about the next
 * @smc: the listening socket
 *
 * The next of TCP's is for another accept(), or for the worker that makes a
 * child of it.
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_listen_go_on(struct smc_sock *smc)
{
	bool is_agreed;

	if (smc->sk.sk_state != SMC_STATE_LISTEN || !smc_tcp_peek(smc, &is_agreed))
		return;
	if (is_agreed) {
		smc_sock_queue_listen(smc, 0);
		return;
	}
	smc->sk.sk_data_ready(&smc->sk);
	smc_tcp_mind_others(smc);
}

/*
 * Makes children of what has agreed on SMC. What there is no memory for stays in TCP's
 * queue, and is asked for again: another connection, or an accept(), need not come.
 */
static void smc_listen_run(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	bool has_some;
	unsigned int nr = 0;
	int rc = 0;

	smc_listen_look(smc);
	if (sk->sk_state == SMC_STATE_LISTEN)
		nr = smc_tcp_nr_to_agreed(smc);
	has_some = nr;
	/*
	 * An aborted connection is not the end of the queue. Nor is a full backlog: TCP has
	 * let no more in than there was room for, and who is in waits for an Accept.
	 */
	for (; nr && (!rc || rc == -ECONNABORTED); nr--)
		rc = smc_listen_take(smc);
	/* those that are left were told of when they came, unless others were in front */
	if (has_some && sk->sk_state == SMC_STATE_LISTEN && smc_listen_has_plain(smc))
		sk->sk_data_ready(sk);
	if (rc && rc != -ECONNABORTED && rc != -EAGAIN)
		smc_sock_queue_listen(smc, msecs_to_jiffies(SMC_LISTEN_RETRY_MS));
}

/*
 * Make children of what has agreed on SMC. Takes the socket lock, but does not wait for it;
 * drops the reference taken when it was queued.
 */
static void smc_listen_work(struct work_struct *work)
{
	struct smc_listener *listener = container_of(to_delayed_work(work), struct smc_listener,
						     work);
	struct sock *sk = smc_listener_sock(listener);

	if (sk && smc_sock_trylock(smc_sk(sk), SMC_MISSED_LISTEN)) {
		smc_listen_run(smc_sk(sk));
		release_sock(sk);
	}
	if (sk)
		sock_put(sk);
	smc_listener_put(listener);
}

/**
 * smc_listen_start() - listen()
 * @smc: the socket, not connected; or listening already, then only the
 *	 backlog changes
 * @backlog: as given to listen()
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0; -ENOBUFS without memory, or the negative errno of TCP's listen().
 */
int smc_listen_start(struct smc_sock *smc, int backlog)
{
	struct smc_listener *listener;
	struct sock *sk = &smc->sk;
	int rc;

	smc_listen_look(smc);
	if (sk->sk_state == SMC_STATE_LISTEN)
		return kernel_listen(smc->tcp, backlog);
	listener = smc_listener_new(sk, smc_listen_work);
	if (!listener)
		return -ENOBUFS;
	rcu_assign_pointer(smc->listener, listener);
	smc_listen_forget(smc);
	smc_tcp_offer(smc, true);
	tcp_sk(smc->tcp->sk)->smc_hs_congested = smc_listen_offers_no_smc;
	/* a child may come before kernel_listen() returns */
	smc_tcp_watch(smc, SMC_TCP_LISTENING);
	sk->sk_state = SMC_STATE_LISTEN;
	rc = kernel_listen(smc->tcp, backlog);
	if (rc)
		smc_listen_end(smc);
	return rc;
}

/**
 * smc_listen_wait() - the next child for accept()
 * @smc: the listening socket
 * @timeo: how long to sleep, jiffies
 * @err: filled when NULL is returned: 0 if the next connection is a plain one
 *	 in TCP's queue; -EAGAIN, -EINVAL (not listening), or what a signal means
 *
 * Context: Process context, may sleep. Expects the socket lock held; it is
 * released while sleeping.
 * Return: a child with a reference for the caller, or NULL.
 */
struct smc_sock *smc_listen_wait(struct smc_sock *smc, long timeo, int *err)
{
	/* that of the struct socket, which outlives our sock in it */
	wait_queue_head_t *wq = sk_sleep(&smc->sk);
	struct sock *sk = &smc->sk, *child = NULL;
	DEFINE_WAIT(wait);

	for (;;) {
		/* one connection wakes one accept() */
		prepare_to_wait_exclusive(wq, &wait, TASK_INTERRUPTIBLE);
		*err = -EINVAL;
		if (sk->sk_state != SMC_STATE_LISTEN)
			break;
		child = smc_listener_next(smc_sock_listener(smc));
		*err = 0;
		if (!child && smc_listen_has_plain(smc))
			break;
		*err = -EAGAIN;
		if (child || !timeo)
			break;
		*err = sock_intr_errno(timeo);
		if (signal_pending(current))
			break;
		release_sock(sk);
		timeo = schedule_timeout(timeo);
		/* the lock may sleep, which a task on its way to sleep must not */
		finish_wait(wq, &wait);
		lock_sock(sk);
	}
	finish_wait(wq, &wait);
	/* there is room now for what TCP holds back; or the wake-up was not for us */
	if (child || *err)
		smc_listen_go_on(smc);
	return child ? smc_sk(child) : NULL;
}
