// SPDX-License-Identifier: GPL-2.0
/*
 * The SMC state of a TCP sock.
 *
 * Lifetime: the sock holds one reference until it is plain TCP or destroyed. Each queued work item
 * or timer, and the handshake, hold one more. So do calls of an application; those that move data
 * do only while they sleep (smc_sock_begin_call()). The state, and the module reference of the
 * sock, are released after an RCU grace period: code of the module that found the state under RCU
 * has returned by then.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "group/smc_carrier.h"
#include "sock/smc_sock.h"

/*
 * No owner: the core would put a module reference of the owner, but the state holds it. smc_tcp.c
 * sets the callbacks.
 */
struct tcp_ulp_ops smc_ulp_sock = { .name = "smc" };
struct tcp_ulp_ops smc_ulp_child = { .name = "smc" };

static const struct smc_sock_works *smc_works;
static struct workqueue_struct *smc_hs_wq;
static struct workqueue_struct *smc_grow_wq;
static struct workqueue_struct *smc_close_wq;

/**
 * smc_sock_init() - prepare for sockets
 * @works: work functions of each socket; must stay valid
 *
 * Context: Process context, module load.
 * Return: 0, or -ENOMEM.
 */
int smc_sock_init(const struct smc_sock_works *works)
{
	smc_works = works;
	smc_hs_wq = alloc_workqueue("smc_hs", WQ_UNBOUND, WQ_MAX_ACTIVE);
	/* separate: waits for answers of peers must not delay other handshakes */
	smc_grow_wq = alloc_workqueue("smc_grow", WQ_UNBOUND, WQ_MAX_ACTIVE);
	smc_close_wq = alloc_workqueue("smc_close", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (smc_hs_wq && smc_grow_wq && smc_close_wq)
		return 0;
	smc_sock_exit();
	return -ENOMEM;
}

static void smc_sock_destroy_wq(struct workqueue_struct **wq)
{
	if (*wq)
		destroy_workqueue(*wq);
	*wq = NULL;
}

/**
 * smc_sock_exit() - undo smc_sock_init()
 *
 * Context: Process context, module unload; each state holds a module reference, so none is left.
 */
void smc_sock_exit(void)
{
	smc_sock_destroy_wq(&smc_close_wq);
	smc_sock_destroy_wq(&smc_grow_wq);
	smc_sock_destroy_wq(&smc_hs_wq);
	/* the last smc_sock_free() and conn_free() may still run */
	rcu_barrier();
}

static struct xarray *smc_sock_list(const struct smc_sock *smc)
{
	return &smc_net(sock_net(smc->sk))->socks;
}

/**
 * smc_sock_attach() - give a sock its state
 * @sk: TCP's sock, with a module reference for the state; unpublished, or its lock is held
 * @gfp: allocation flags
 *
 * Context: Process context.
 * Return: the state; NULL without memory.
 */
struct smc_sock *smc_sock_attach(struct sock *sk, gfp_t gfp)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct smc_sock *smc = kzalloc(sizeof(*smc), gfp);

	if (!smc)
		return NULL;
	smc->sk = sk;
	refcount_set(&smc->refs, 1);
	INIT_DELAYED_WORK(&smc->hs_work, smc_works->handshake);
	INIT_WORK(&smc->grow_work, smc_works->handshake_grow);
	smc_state_close_init(&smc->close);
	INIT_WORK(&smc->close_work, smc_works->close);
	timer_setup(&smc->close_timer, smc_works->close_timer, 0);
	timer_setup(&smc->keep_timer, smc_works->keep_timer, 0);
	timer_setup(&smc->tcp_timer, smc_works->tcp_timer, 0);
	smc->limits_handshakes = READ_ONCE(smc_net(sock_net(sk))->set.limit_smc_hs);
	if (xa_alloc_bh(smc_sock_list(smc), &smc->pos, smc, xa_limit_32b, gfp)) {
		kfree(smc);
		return NULL;
	}
	rcu_assign_pointer(icsk->icsk_ulp_data, smc);
	/* pairs with smp_rmb() in smc_sk() */
	smp_store_release(&icsk->icsk_ulp_ops, &smc_ulp_sock);
	return smc;
}

static void smc_sock_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct smc_sock, rcu));
	module_put(THIS_MODULE);
}

static void smc_sock_drop(struct smc_sock *smc)
{
	if (!refcount_dec_and_test(&smc->refs))
		return;
	WARN_ON_ONCE(smc->hs || smc->child || smc->conn || smc->meet.state);
	WARN_ON_ONCE(rcu_access_pointer(smc->listener));
	call_rcu(&smc->rcu, smc_sock_free);
}

/**
 * smc_sock_detach() - remove the state from a sock
 * @sk: a sock with a state that is about to be plain TCP or destroyed
 *
 * Context: Any context but hard interrupt. Expects the socket lock held, or the last reference to
 * the sock.
 */
void smc_sock_detach(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct smc_sock *smc = rcu_dereference_protected(icsk->icsk_ulp_data, true);

	xa_erase_bh(smc_sock_list(smc), smc->pos);
	if (smc->conn)
		smc_sock_drop_conn(smc);
	WRITE_ONCE(icsk->icsk_ulp_ops, NULL);
	/* pairs with smp_rmb() in smc_sk(): another ULP may use the slot from here on */
	smp_wmb();
	rcu_assign_pointer(icsk->icsk_ulp_data, NULL);
	smc_sock_drop(smc);
}

/**
 * smc_sock_get() - take a reference on the state and its sock
 * @smc: the state, found under the socket lock, or already referenced
 *
 * Context: Any context.
 */
void smc_sock_get(struct smc_sock *smc)
{
	sock_hold(smc->sk);
	refcount_inc(&smc->refs);
}

/*
 * The same for code that found the state under RCU. Return: false if nobody uses the state any
 * more; its sock may be another socket's by now.
 */
static bool smc_sock_get_used(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	/* memory of socks stays a sock's for the RCU read section */
	if (!refcount_inc_not_zero(&sk->sk_refcnt))
		return false;
	if (refcount_inc_not_zero(&smc->refs))
		return true;
	sock_put(sk);
	return false;
}

/**
 * smc_sock_put() - undo smc_sock_get()
 * @smc: the state
 *
 * Context: Any context but hard interrupt.
 */
void smc_sock_put(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_drop(smc);
	sock_put(sk);
}

/* Calls in the module that do not hold it; a call may end on another CPU than that of its begin. */
DEFINE_PER_CPU(int, smc_sock_calls);

/**
 * smc_sock_begin_call() - hold the module for a call of an application
 * @sk: the sock, which the application's file holds
 *
 * A sock may become plain TCP while its calls sleep, in this module or in TCP, and they return
 * through this module. The state holds the module. Without a state the call holds it. Calls that
 * move data are too frequent for that: guard(smc_entry) counts them, and they hold the state or the
 * module only where they sleep for a peer or go on in TCP.
 *
 * Context: Process context.
 * Return: for smc_sock_end_call(): the state with a reference, or NULL.
 */
struct smc_sock *smc_sock_begin_call(struct sock *sk)
{
	struct smc_sock *smc;

	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc && !refcount_inc_not_zero(&smc->refs))
		smc = NULL;
	rcu_read_unlock();
	if (!smc) {
		this_cpu_inc(smc_sock_calls);
		/* not refused while the module goes, see smc_sock_await_calls() */
		__module_get(THIS_MODULE);
	}
	return smc;
}

/**
 * smc_sock_end_call() - undo smc_sock_begin_call(), at the end of the call
 * @smc: its result; the sock may be gone
 *
 * Context: Process context.
 */
void smc_sock_end_call(struct smc_sock *smc)
{
	if (smc) {
		smc_sock_drop(smc);
		return;
	}
	module_put(THIS_MODULE);
	this_cpu_dec(smc_sock_calls);
}

/**
 * smc_sock_restart_call() - have the task make its system call again
 *
 * For a call that would sleep in TCP from here on, possibly for ever, and so hold the module. It is
 * made again as after a signal without a handler, and finds TCP's function. The caller returns
 * -ERESTARTSYS.
 *
 * Context: Process context, in a call of the socket layer that has had no effect.
 * Return: false if the task is in no system call of its own: the caller goes on in TCP itself.
 */
bool smc_sock_restart_call(void)
{
	if (current->flags & (PF_KTHREAD | PF_IO_WORKER))
		return false;
	/* without a signal the return to user space only looks for restarts then */
	set_thread_flag(TIF_NOTIFY_SIGNAL);
	return true;
}

/* No call begins any more, so a sum that misses an end is only too high. */
static bool smc_sock_has_calls(void)
{
	int cpu, sum = 0;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&smc_sock_calls, cpu));
	return sum;
}

/**
 * smc_sock_await_calls() - wait for calls that entered the module unnoticed
 *
 * A task may read a pointer into this module, and then be preempted while the sock becomes plain
 * TCP and the module goes. It does not sleep before it is counted nor after, so a grace period of
 * Tasks RCU covers both. Kernels without preemption of the kernel have RCU in its place. What the
 * counted calls wait for is the socket lock or memory. A call that sleeps longer holds the module.
 *
 * Context: Process context, module unload; no state is left.
 */
void smc_sock_await_calls(void)
{
	synchronize_rcu_tasks();
	while (smc_sock_has_calls())
		msleep(20);
	synchronize_rcu_tasks();
}

/* Bit n of entry m: phase m may be followed by phase n. */
static const u8 smc_phase_moves[SMC_PHASES] = {
	[SMC_PHASE_IDLE]	= BIT(SMC_PHASE_HANDSHAKE) | BIT(SMC_PHASE_TCP),
	[SMC_PHASE_HANDSHAKE]	= BIT(SMC_PHASE_IDLE) | BIT(SMC_PHASE_STOPPING) |
				  BIT(SMC_PHASE_SMC) | BIT(SMC_PHASE_TCP),
	[SMC_PHASE_STOPPING]	= BIT(SMC_PHASE_IDLE),
	[SMC_PHASE_SMC]		= BIT(SMC_PHASE_IDLE) | BIT(SMC_PHASE_TCP),
	[SMC_PHASE_TCP]		= 0,
};

/**
 * smc_sock_set_phase() - change the phase of a socket
 * @smc: the socket
 * @phase: the new phase
 *
 * Context: Any context but hard interrupt. Expects the socket lock held.
 * Return: false if the transition is not allowed; nothing has changed.
 */
bool smc_sock_set_phase(struct smc_sock *smc, enum smc_phase phase)
{
	lockdep_assert(lockdep_sock_is_held(smc->sk));
	if (WARN_ON_ONCE(!(smc_phase_moves[smc->phase] & BIT(phase))))
		return false;
	/* pairs with smp_load_acquire() in poll_sock(): publishes what the phase implies */
	smp_store_release(&smc->phase, phase);
	return true;
}

/**
 * smc_sock_shown_state() - the state that sock_diag shows
 * @smc: the socket
 *
 * Context: Any context. Expects an RCU read section, or the socket lock held.
 * Return: enum smc_conn_state as deployed tools know it.
 */
u8 smc_sock_shown_state(const struct smc_sock *smc)
{
	if (READ_ONCE(smc->phase) == SMC_PHASE_SMC)
		return smc_state_shown(READ_ONCE(smc->close.state));
	return rcu_access_pointer(smc->listener) ? SMC_STATE_LISTEN : SMC_STATE_INIT;
}
EXPORT_SYMBOL_GPL(smc_sock_shown_state);

/**
 * smc_sock_has_lost_tcp() - check whether its connection goes on without TCP, for smc_diag.ko
 * @smc: the socket
 *
 * Context: Any context.
 * Return: true if so.
 */
bool smc_sock_has_lost_tcp(const struct smc_sock *smc)
{
	return smc_state_has_lost_tcp(&smc->close);
}
EXPORT_SYMBOL_GPL(smc_sock_has_lost_tcp);

/**
 * smc_sock_make_conn() - allocate the connection for a handshake
 * @smc: the socket
 *
 * Context: The handshake's work item, may sleep.
 * Return: 0, also if there is one; -ENOMEM.
 */
int smc_sock_make_conn(struct smc_sock *smc)
{
	struct smc_conn *conn;

	if (smc->conn)
		return 0;
	conn = smc_conn_alloc(smc->sk, &smc_works->conn, &smc_carrier_rdma);
	if (!conn)
		return -ENOMEM;
	INIT_DELAYED_WORK(&conn->end_work, smc_works->end);
	/* pairs with READ_ONCE() of readers without the socket lock */
	smp_store_release(&smc->conn, conn);
	return 0;
}

/**
 * smc_sock_drop_conn() - remove the connection from a socket
 * @smc: the socket, with or without a connection, which RCU readers may still use
 *
 * Context: Any context but hard interrupt. Expects the socket lock held, or the handshake's work
 *	item.
 */
void smc_sock_drop_conn(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->conn;

	if (!conn)
		return;
	WRITE_ONCE(smc->conn, NULL);
	kfree(smc->land);
	WRITE_ONCE(smc->land, NULL);
	smc_state_close_init(&smc->close);
	smc_conn_put(conn);
}

/* Return: 0 if the state has left its sock, which may be another socket's by now. */
static int smc_sock_visit_one(struct smc_sock *smc, smc_sock_visit visit, void *arg)
{
	struct sock *sk = smc->sk;
	int rc = 0;

	/* memory of socks stays a sock's for the RCU read section */
	if (!refcount_inc_not_zero(&sk->sk_refcnt))
		return 0;
	if (smc_sk(sk) == smc)
		rc = visit(smc, arg);
	sock_put(sk);
	return rc;
}

/**
 * smc_sock_for_each() - visit the sockets of a namespace, for smc_diag.ko
 * @net: the namespace
 * @pos: where to continue, 0 at first; updated
 * @visit: called in an RCU read section, must not sleep; a nonzero value ends the walk, which can
 *	be resumed at the same socket
 * @arg: passed to @visit
 *
 * Sockets may come and go during the walk; one that stays is visited once.
 *
 * Context: Process context, may sleep.
 * Return: 0 when all were visited, or the value of @visit.
 */
int smc_sock_for_each(struct net *net, unsigned long *pos, smc_sock_visit visit, void *arg)
{
	struct smc_sock *smc;
	int rc;

	for (;; (*pos)++) {
		cond_resched();
		guard(rcu)();
		smc = xa_find(&smc_net(net)->socks, pos, ULONG_MAX, XA_PRESENT);
		if (!smc)
			return 0;
		rc = smc_sock_visit_one(smc, visit, arg);
		if (rc)
			return rc;
	}
}
EXPORT_SYMBOL_GPL(smc_sock_for_each);

/**
 * smc_sock_queue() - queue the work item of the handshake now
 * @smc: the socket, valid under RCU or a reference, and referenced until the work function returns;
 *	 nothing happens without users
 *
 * Context: Any context but hard interrupt.
 */
void smc_sock_queue(struct smc_sock *smc)
{
	if (!smc_sock_get_used(smc))
		return;
	/* a pending item has its own reference */
	if (mod_delayed_work(smc_hs_wq, &smc->hs_work, 0))
		smc_sock_put(smc);
}

/**
 * smc_sock_queue_delayed() - queue the work item of the handshake, unless it is pending
 * @smc: the socket, which the caller references or has locked; referenced until the work function
 *	 returns
 * @delay_jiffies: from now; an earlier event is not delayed
 *
 * Context: Any context.
 */
void smc_sock_queue_delayed(struct smc_sock *smc, unsigned long delay_jiffies)
{
	smc_sock_get(smc);
	if (!queue_delayed_work(smc_hs_wq, &smc->hs_work, delay_jiffies))
		smc_sock_put(smc);
}

/**
 * smc_sock_queue_grow() - queue &smc_sock.grow_work, which is not queued
 * @smc: the socket, which the caller references; referenced until the work function returns or is
 *	 cancelled
 *
 * Context: Any context.
 */
void smc_sock_queue_grow(struct smc_sock *smc)
{
	smc_sock_get(smc);
	if (!queue_work(smc_grow_wq, &smc->grow_work))
		smc_sock_put(smc);
}

/**
 * smc_sock_queue_close() - queue the close machine for a connection
 * @conn: the connection, valid under RCU or a reference; nothing happens if its socket has dropped
 *	  it
 *
 * Context: Any context but hard interrupt.
 */
void smc_sock_queue_close(struct smc_conn *conn)
{
	struct smc_sock *smc;

	guard(rcu)();
	smc = smc_conn_sock(conn);
	if (smc && smc_sock_get_used(smc) && !queue_work(smc_close_wq, &smc->close_work))
		smc_sock_put(smc);
}

/**
 * smc_sock_queue_end() - queue the end of a connection that its socket has given up
 * @conn: the connection, valid under RCU or a reference; referenced until the work function returns
 * @delay_jiffies: from now; replaces an earlier one
 *
 * Context: Any context but hard interrupt.
 */
void smc_sock_queue_end(struct smc_conn *conn, unsigned long delay_jiffies)
{
	/* a pending item has its own reference */
	if (refcount_inc_not_zero(&conn->refs) &&
	    mod_delayed_work(smc_close_wq, &conn->end_work, delay_jiffies))
		smc_conn_put(conn);
}

/* Start or postpone a timer, which has a reference while it is armed. The caller has one. */
void smc_sock_arm(struct smc_sock *smc, struct timer_list *timer, unsigned long expires)
{
	/* first: the timer may expire at once, and drop its reference */
	smc_sock_get(smc);
	if (mod_timer(timer, expires))
		smc_sock_put(smc);
}

/* Stop a timer, and wait while it runs. The caller has another reference. */
void smc_sock_disarm(struct smc_sock *smc, struct timer_list *timer)
{
	if (timer_delete_sync(timer))
		smc_sock_put(smc);
}

/**
 * smc_sock_pend() - pass an event of a connection to the close machine
 * @conn: the connection, as for smc_sock_queue_close()
 * @what: the event; several of one kind count once
 *
 * Context: Any context but hard interrupt.
 */
void smc_sock_pend(struct smc_conn *conn, enum smc_pending what)
{
	/*
	 * pairs with smp_rmb() in smc_close_run(): earlier input of the peer is visible with the
	 * bit
	 */
	smp_mb__before_atomic();
	set_bit(what, &conn->pending);
	smc_sock_queue_close(conn);
}

/**
 * smc_sock_queue_listen() - queue the transfer of children from TCP's accept queue
 * @smc: a socket, valid under RCU or a reference; nothing happens if it does not listen
 *
 * Context: Any context.
 */
void smc_sock_queue_listen(struct smc_sock *smc)
{
	struct smc_listener *listener;

	rcu_read_lock();
	listener = rcu_dereference(smc->listener);
	if (listener)
		smc_listener_queue(listener, smc_hs_wq);
	rcu_read_unlock();
}

/**
 * smc_sock_lock_work() - take the socket lock for a work item, unless a call owns it
 * @sk: the sock
 * @what: the work item, queued when the call releases the lock, as TCP's timers are; not if
 *	  the sock is plain TCP by now
 *
 * A call may hold the lock over a page fault without a time limit, and a workqueue runs a limited
 * number of items for all sockets. A look followed by lock_sock() would wait for a call that comes
 * between.
 *
 * Context: Process context. Never waits.
 * Return: true if the lock was taken.
 */
bool smc_sock_lock_work(struct sock *sk, enum smc_missed what)
{
	struct smc_sock *smc;
	bool is_free;

	spin_lock_bh(&sk->sk_lock.slock);
	smc = smc_sk(sk);
	is_free = !sock_owned_by_user_nocheck(sk);
	if (is_free)
		sk->sk_lock.owned = 1;
	else if (smc)
		smc->missed |= BIT(what);
	spin_unlock_bh(&sk->sk_lock.slock);
	if (is_free)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return is_free;
}

/**
 * smc_sock_release_missed() - release_cb(): queue the work items that missed the socket lock
 * @sk: the sock, whose lock is about to be released
 *
 * Context: Process context. Expects the spinlock of the socket lock held.
 * Return: bits of enum smc_missed; those of callbacks are left to the caller.
 */
unsigned int smc_sock_release_missed(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	unsigned int missed = smc ? smc->missed : 0;

	if (!missed)
		return 0;
	smc->missed = 0;
	if (missed & BIT(SMC_MISSED_HANDSHAKE))
		smc_sock_queue(smc);
	if (missed & BIT(SMC_MISSED_LISTEN))
		smc_sock_queue_listen(smc);
	if (missed & BIT(SMC_MISSED_CLOSE) && smc->conn)
		smc_sock_queue_close(smc->conn);
	return missed;
}

/**
 * smc_sock_set_err() - set the pending error, before smc_wake_error()
 * @smc: the socket
 * @err: positive errno
 *
 * Context: Any context but hard interrupt. Expects the socket lock held.
 */
void smc_sock_set_err(struct smc_sock *smc, int err)
{
	lockdep_assert(lockdep_sock_is_held(smc->sk));
	smc->err = err;
	WRITE_ONCE(smc->sk->sk_err, err);
}

/**
 * smc_sock_take_err() - take the pending error for the application
 * @smc: the socket
 *
 * Context: Process context. Expects the socket lock held.
 * Return: negative errno; 0 if there is none.
 */
int smc_sock_take_err(struct smc_sock *smc)
{
	sock_owned_by_me(smc->sk);
	smc->err = 0;
	return sock_error(smc->sk);
}
