// SPDX-License-Identifier: GPL-2.0
/*
 * Wake-ups of a socket, by TCP's own callbacks.
 *
 * The callbacks of a sock say what TCP's news mean (smc_tcp.c). What SMC has to tell goes to
 * those that TCP's socks come with.
 */
#include "sock/smc_wake.h"

/* What TCP's callbacks are where nobody has put others in their place; the same for all. */
static struct {
	void (*state_change)(struct sock *sk);
	void (*data_ready)(struct sock *sk);
	void (*error_report)(struct sock *sk);
} smc_wake_tcps;

/**
 * smc_wake_save() - learn what a fresh TCP sock comes with
 * @sk: such a sock
 *
 * Context: Process context, module load.
 */
void smc_wake_save(const struct sock *sk)
{
	smc_wake_tcps.state_change = sk->sk_state_change;
	smc_wake_tcps.data_ready = sk->sk_data_ready;
	smc_wake_tcps.error_report = sk->sk_error_report;
}

/**
 * smc_wake_restore() - a sock has TCP's callbacks again
 * @sk: the sock
 *
 * Context: Any context but hard interrupt. Takes sk_callback_lock.
 */
void smc_wake_restore(struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_state_change = smc_wake_tcps.state_change;
	sk->sk_data_ready = smc_wake_tcps.data_ready;
	sk->sk_error_report = smc_wake_tcps.error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_wake_readers() - there is something to be read, or to be accepted
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_readers(struct sock *sk)
{
	smc_wake_tcps.data_ready(sk);
}

/**
 * smc_wake_state() - a socket's state has changed: whoever waits looks again
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_state(struct sock *sk)
{
	smc_wake_tcps.state_change(sk);
}

/**
 * smc_wake_error() - there is an error to be told
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_error(struct sock *sk)
{
	smc_wake_tcps.error_report(sk);
}

/**
 * smc_wake_everybody() - the same, and also for uninterruptible sleepers
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_everybody(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (wq)
		wake_up_all(&wq->wait);
	rcu_read_unlock();
}

/**
 * smc_wake_writers() - the send ring has room
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_writers(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	/* the struct socket stays as long as its wait queue */
	if (wq)
		clear_bit(SOCK_NOSPACE, &container_of(wq, struct socket, wq)->flags);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (wq && wq->fasync_list)
		sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}
