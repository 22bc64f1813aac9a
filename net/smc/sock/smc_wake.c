// SPDX-License-Identifier: GPL-2.0
/*
 * Wake-ups of a socket.
 *
 * An event of TCP comes by our callbacks (smc_tcp.c), which wake the application where it concerns
 * it. An event of SMC bypasses them and wakes the application as TCP's default callbacks do. If
 * code of the kernel has taken the socket over, as sunrpc does, its callbacks are called, too. They
 * expect what TCP does: no bottom halves and the socket lock. While a call owns the lock they wait
 * for its release.
 */
#include <net/tcp.h>

#include "sock/smc_sock.h"
#include "sock/smc_wake.h"

/* Callbacks of all socks: TCP's default ones, and ours. */
struct smc_wake_calls {
	void (*state_change)(struct sock *sk);
	void (*data_ready)(struct sock *sk);
	void (*error_report)(struct sock *sk);
	void (*write_space)(struct sock *sk);
};

static struct smc_wake_calls smc_wake_tcp, smc_wake_our;

/**
 * smc_wake_save_our() - record our callbacks
 * @sk: a sock that has them
 *
 * Context: Process context, module load.
 */
void smc_wake_save_our(const struct sock *sk)
{
	smc_wake_our = (struct smc_wake_calls){
		.state_change = sk->sk_state_change,
		.data_ready = sk->sk_data_ready,
		.error_report = sk->sk_error_report,
		.write_space = sk->sk_write_space,
	};
}

/**
 * smc_wake_save() - record TCP's default callbacks
 * @sk: a new TCP sock
 *
 * Context: Process context, module load, before smc_wake_save_our().
 */
void smc_wake_save(const struct sock *sk)
{
	smc_wake_save_our(sk);
	smc_wake_tcp = smc_wake_our;
}

/**
 * smc_wake_reset() - give a new child TCP's callbacks in place of those of its listener
 * @sk: the child, unpublished
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_reset(struct sock *sk)
{
	sk->sk_state_change = smc_wake_tcp.state_change;
	sk->sk_data_ready = smc_wake_tcp.data_ready;
	sk->sk_error_report = smc_wake_tcp.error_report;
}

/**
 * smc_wake_restore() - give a sock TCP's callbacks in place of ours
 * @sk: the sock; what code of the kernel has installed stays
 *
 * Context: Any context but hard interrupt. Takes sk_callback_lock.
 */
void smc_wake_restore(struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_state_change == smc_wake_our.state_change)
		sk->sk_state_change = smc_wake_tcp.state_change;
	if (sk->sk_data_ready == smc_wake_our.data_ready)
		sk->sk_data_ready = smc_wake_tcp.data_ready;
	if (sk->sk_error_report == smc_wake_our.error_report)
		sk->sk_error_report = smc_wake_tcp.error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_wake_is_taken() - check whether code of the kernel has taken the socket over
 * @sk: the sock
 *
 * Context: Any context.
 * Return: true if it has callbacks of its own there; it may have saved ours, to restore them.
 */
bool smc_wake_is_taken(const struct sock *sk)
{
	void (*installed)(struct sock *sk) = READ_ONCE(sk->sk_data_ready);

	return installed != smc_wake_our.data_ready && installed != smc_wake_tcp.data_ready;
}

static void smc_wake_foreign(struct sock *sk, void (*installed)(struct sock *sk),
			     void (*our)(struct sock *sk), void (*tcp)(struct sock *sk))
{
	if (installed != our && installed != tcp)
		installed(sk);
}

/**
 * smc_wake_missed() - call what code of the kernel has installed
 * @sk: the sock, possibly plain TCP
 * @missed: bits of enum smc_missed; others are ignored
 *
 * Context: Any context but hard interrupt. Expects the spinlock of the socket lock held.
 */
void smc_wake_missed(struct sock *sk, unsigned int missed)
{
	lockdep_assert_held(&sk->sk_lock.slock);
	if (missed & BIT(SMC_MISSED_STATE))
		smc_wake_foreign(sk, READ_ONCE(sk->sk_state_change), smc_wake_our.state_change,
				 smc_wake_tcp.state_change);
	if (missed & BIT(SMC_MISSED_READERS))
		smc_wake_foreign(sk, READ_ONCE(sk->sk_data_ready), smc_wake_our.data_ready,
				 smc_wake_tcp.data_ready);
	if (missed & BIT(SMC_MISSED_ERROR))
		smc_wake_foreign(sk, READ_ONCE(sk->sk_error_report), smc_wake_our.error_report,
				 smc_wake_tcp.error_report);
	if (missed & BIT(SMC_MISSED_WRITERS))
		smc_wake_foreign(sk, READ_ONCE(sk->sk_write_space), smc_wake_our.write_space,
				 smc_wake_tcp.write_space);
}

static void smc_wake_kernel(struct sock *sk, unsigned int what)
{
	struct smc_sock *smc;

	spin_lock_bh(&sk->sk_lock.slock);
	smc = smc_sk(sk);
	if (!sock_owned_by_user_nocheck(sk))
		smc_wake_missed(sk, what);
	else if (smc)
		smc->missed |= what;
	spin_unlock_bh(&sk->sk_lock.slock);
}

/**
 * smc_wake_app_readers() - wake the application's readers, or accept()
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_app_readers(struct sock *sk)
{
	smc_wake_tcp.data_ready(sk);
}

/**
 * smc_wake_app_state() - wake all interruptible sleepers of the application
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_app_state(struct sock *sk)
{
	smc_wake_tcp.state_change(sk);
}

/**
 * smc_wake_app_error() - report a pending error to the application
 * @sk: the sock
 *
 * Context: Any context but hard interrupt.
 */
void smc_wake_app_error(struct sock *sk)
{
	smc_wake_tcp.error_report(sk);
}

/**
 * smc_wake_readers() - wake readers, or accept()
 * @sk: the sock
 *
 * Context: Any context but hard interrupt. Expects the spinlock of the socket lock not held.
 */
void smc_wake_readers(struct sock *sk)
{
	smc_wake_app_readers(sk);
	if (unlikely(smc_wake_is_taken(sk)))
		smc_wake_kernel(sk, BIT(SMC_MISSED_READERS));
}

/**
 * smc_wake_state() - wake all interruptible sleepers after a change of state
 * @sk: the sock
 *
 * TCP reports the end of a stream by both callbacks.
 *
 * Context: Any context but hard interrupt. Expects the spinlock of the socket lock not held.
 */
void smc_wake_state(struct sock *sk)
{
	smc_wake_app_state(sk);
	if (unlikely(smc_wake_is_taken(sk)))
		smc_wake_kernel(sk, BIT(SMC_MISSED_STATE) | BIT(SMC_MISSED_READERS));
}

/**
 * smc_wake_error() - report a pending error
 * @sk: the sock
 *
 * Context: Any context but hard interrupt. Expects the spinlock of the socket lock not held.
 */
void smc_wake_error(struct sock *sk)
{
	smc_wake_app_error(sk);
	if (unlikely(smc_wake_is_taken(sk)))
		smc_wake_kernel(sk, BIT(SMC_MISSED_ERROR));
}

/**
 * smc_wake_dozer() - the function of a waiter that one event is enough for
 * @wait: its entry, for wait_woken()
 * @mode: of the wake-up, as the next two
 * @sync: if the waker is about to sleep
 * @key: events
 *
 * A waiter that is awake, and not running yet, has left the queue: a stream of small writes then
 * wakes it once.
 *
 * Context: Wake-up, with the lock of the queue held.
 * Return: 1 if the task was asleep, else 0.
 */
int smc_wake_dozer(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key)
{
	int rc = woken_wake_function(wait, mode, sync, key);

	if (rc)
		list_del_init_careful(&wait->entry);
	return rc;
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
 * Context: Any context but hard interrupt. Expects the spinlock of the socket lock not held.
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
	if (unlikely(smc_wake_is_taken(sk)))
		smc_wake_kernel(sk, BIT(SMC_MISSED_WRITERS));
}
