// SPDX-License-Identifier: GPL-2.0
/* Wake-ups of a socket, by TCP's original callbacks; those of the sock are in smc_tcp.c. */
#include "sock/smc_wake.h"

/* TCP's default callbacks, the same for all socks. */
static struct {
	void (*state_change)(struct sock *sk);
	void (*data_ready)(struct sock *sk);
	void (*error_report)(struct sock *sk);
} smc_wake_tcp;

/**
 * smc_wake_save() - record TCP's default callbacks
 * @sk: a new TCP sock
 *
 * Context: Process context, module load.
 */
void smc_wake_save(const struct sock *sk)
{
	smc_wake_tcp.state_change = sk->sk_state_change;
	smc_wake_tcp.data_ready = sk->sk_data_ready;
	smc_wake_tcp.error_report = sk->sk_error_report;
}

/**
 * smc_wake_restore() - give a sock TCP's callbacks
 * @sk: the sock
 *
 * Context: Any context but hard interrupt. Takes sk_callback_lock.
 */
void smc_wake_restore(struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_state_change = smc_wake_tcp.state_change;
	sk->sk_data_ready = smc_wake_tcp.data_ready;
	sk->sk_error_report = smc_wake_tcp.error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_wake_readers() - wake readers, or accept()
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_readers(struct sock *sk)
{
	smc_wake_tcp.data_ready(sk);
}

/**
 * smc_wake_state() - wake all interruptible sleepers after a change of state
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_state(struct sock *sk)
{
	smc_wake_tcp.state_change(sk);
}

/**
 * smc_wake_error() - report a pending error
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_error(struct sock *sk)
{
	smc_wake_tcp.error_report(sk);
}

/**
 * smc_wake_everybody() - wake all sleepers, also uninterruptible ones
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
 * smc_wake_writers() - wake writers, the send ring has room
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_writers(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	/* the wait queue is part of the struct socket */
	if (wq)
		clear_bit(SOCK_NOSPACE, &container_of(wq, struct socket, wq)->flags);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (wq && wq->fasync_list)
		sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}
