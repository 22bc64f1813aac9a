// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners and their lists of children.
 *
 * A child is pending during its handshake and until its first byte with TCP_DEFER_ACCEPT.
 * Then it is ready, and accept() takes it. Pending children hold a reference and may
 * outlive the listening, which they notice when they finish.
 *
 * Ready children count in TCP's backlog, so TCP limits it, and TCP's dumps show it. Handshakes do
 * not, as half-open connections do not with TCP: silent clients would block all others.
 *
 * Pending children and their handshakes are charged to the listener's control group as TCP charges
 * accepted sockets, beyond the limits: a child that TCP has acknowledged is not refused for want of
 * room.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/inet_connection_sock.h>

#include "smc_compat.h"
#include "rdma/smc_mem.h"
#include "sock/smc_listener.h"

/* Memory limit of a listener's pending children, in bytes, ... */
#define SMC_LISTENER_MAX_BYTES	(64UL << 20)
/* ... or this part of what its control group may use, as a shift. */
#define SMC_LISTENER_SHARE	4
/* Pending children allowed above it: with large rings a few healthy ones exceed it. */
#define SMC_LISTENER_MIN_NR	256

/**
 * smc_listener_new() - create a listener
 * @sk: the socket that begins to listen
 * @take: takes children off TCP; drops the reference of &smc_listener.work
 *
 * Context: Process context, may sleep.
 * Return: the listener with one reference for the caller, or NULL.
 */
struct smc_listener *smc_listener_new(struct sock *sk, work_func_t take)
{
	struct smc_listener *listener = kzalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT);

	if (!listener)
		return NULL;
	__module_get(THIS_MODULE);
	refcount_set(&listener->refs, 1);
	spin_lock_init(&listener->lock);
	listener->sk = sk;
	listener->has_backlog = true;
	INIT_LIST_HEAD(&listener->pending);
	INIT_LIST_HEAD(&listener->ready);
	INIT_WORK(&listener->work, take);
	return listener;
}

static void smc_listener_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct smc_listener, rcu));
	module_put(THIS_MODULE);
}

/**
 * smc_listener_put() - drop a reference
 * @listener: the listener; freed after a grace period if this was the last one
 *
 * Context: Any context but hard interrupt.
 */
void smc_listener_put(struct smc_listener *listener)
{
	if (!refcount_dec_and_test(&listener->refs))
		return;
	WARN_ON_ONCE(listener->sk);
	WARN_ON_ONCE(!list_empty(&listener->pending) || !list_empty(&listener->ready));
	WARN_ON_ONCE(listener->bytes || atomic_read(&listener->nr_agreed));
	call_rcu(&listener->rcu, smc_listener_free);
}

/**
 * smc_listener_expect() - count a new child of TCP that has agreed on SMC
 * @listener: its listener, or NULL
 *
 * Context: Any context but hard interrupt. Expects an RCU read section.
 * Return: true if the child has a reference now, which smc_listener_forget() drops;
 *	   false if the listener has ended.
 */
bool smc_listener_expect(struct smc_listener *listener)
{
	if (!listener || !refcount_inc_not_zero(&listener->refs))
		return false;
	atomic_inc(&listener->nr_agreed);
	return true;
}

/**
 * smc_listener_forget() - uncount such a child when it leaves TCP's queue
 * @listener: its listener
 *
 * Context: Any context but hard interrupt.
 */
void smc_listener_forget(struct smc_listener *listener)
{
	atomic_dec(&listener->nr_agreed);
	smc_listener_put(listener);
}

/**
 * smc_listener_queue() - queue the work item that takes children off TCP
 * @listener: the listener, valid under RCU or a reference; without references its work item has
 *	      taken out all children, and nothing happens
 * @wq: the queue
 *
 * Context: Any context.
 */
void smc_listener_queue(struct smc_listener *listener, struct workqueue_struct *wq)
{
	if (!refcount_inc_not_zero(&listener->refs))
		return;
	if (!queue_work(wq, &listener->work))
		smc_listener_put(listener);
}

/**
 * smc_listener_sock() - get the socket of a listener
 * @listener: the listener
 *
 * Context: Process context.
 * Return: the socket with a reference for the caller; NULL once the listener has ended.
 */
struct sock *smc_listener_sock(struct smc_listener *listener)
{
	struct sock *sk;

	spin_lock(&listener->lock);
	sk = listener->sk;
	if (sk)
		sock_hold(sk);
	spin_unlock(&listener->lock);
	return sk;
}

/* As TCP reports a child: code of the kernel may have replaced the callback. */
static void smc_listener_report(struct sock *sk)
{
	local_bh_disable();
	sk->sk_data_ready(sk);
	local_bh_enable();
}

/* The lock under which TCP counts. Return: true if TCP's queue has a child without SMC. */
static bool smc_listener_count_backlog(struct smc_listener *listener, struct sock *sk, int nr)
{
	guard(spinlock_bh)(&inet_csk(sk)->icsk_accept_queue.rskq_lock);
	if (nr) {
		WRITE_ONCE(listener->nr_backlog, listener->nr_backlog + nr);
		WRITE_ONCE(sk->sk_ack_backlog, sk->sk_ack_backlog + nr);
	}
	return smc_listener_has_plain(listener, sk);
}

/**
 * smc_listener_wake_plain() - wake accept() for a child without SMC whose event came too early
 * @listener: the listener; a child for SMC has just left TCP's queue, and is not counted any more
 * @sk: its sock
 *
 * Until then TCP's event found one child too few for others.
 *
 * Context: Process context.
 */
void smc_listener_wake_plain(struct smc_listener *listener, struct sock *sk)
{
	if (smc_listener_count_backlog(listener, sk, 0))
		smc_listener_report(sk);
}

/**
 * smc_listener_leave_backlog() - return the places of ready children, before TCP stops listening
 * @listener: the listener; no child takes a place any more
 *
 * TCP empties its queue then, and expects a backlog of 0.
 *
 * Context: Process context.
 */
void smc_listener_leave_backlog(struct smc_listener *listener)
{
	spin_lock(&listener->lock);
	if (listener->nr_backlog)
		smc_listener_count_backlog(listener, listener->sk, -listener->nr_backlog);
	listener->has_backlog = false;
	spin_unlock(&listener->lock);
}

/**
 * smc_listener_end() - end a listener: no child becomes ready any more
 * @listener: the listener; the caller's reference stays
 *
 * The work item takes out the children in the lists.
 *
 * Context: Process context.
 */
void smc_listener_end(struct smc_listener *listener)
{
	smc_listener_leave_backlog(listener);
	spin_lock(&listener->lock);
	WRITE_ONCE(listener->sk, NULL);
	spin_unlock(&listener->lock);
}

/* Count memory that a pending child needs more, or, negative, gives back. */
static void smc_listener_add_bytes(struct smc_child *child, long bytes)
{
	struct smc_listener *listener = child->listener;

	lockdep_assert_held(&listener->lock);
	child->bytes += bytes;
	listener->bytes += bytes;
}

/* The only writer of a child's state, which only advances. Return: true if it changed. */
static bool smc_listener_move(struct smc_child *child, enum smc_child_state to)
{
	struct smc_listener *listener = child->listener;

	lockdep_assert_held(&listener->lock);
	if (to <= child->state)
		return false;
	WRITE_ONCE(listener->nr[child->state], listener->nr[child->state] - 1);
	if (to != SMC_CHILD_GONE)
		WRITE_ONCE(listener->nr[to], listener->nr[to] + 1);
	WRITE_ONCE(child->state, to);
	if (to == SMC_CHILD_DEFERRED)
		return true;
	smc_listener_add_bytes(child, -child->bytes);
	if (to == SMC_CHILD_READY)
		list_move_tail(&child->node, &listener->ready);
	else
		list_del(&child->node);
	return true;
}

/**
 * smc_listener_add() - add a child in its handshake
 * @listener: its listener, which has not ended
 * @sk: the child's socket; a reference is consumed on success
 * @defer_end: see &smc_child.defer_end
 *
 * Context: Process context, may sleep.
 * Return: the child for smc_listener_finish(); NULL without memory.
 */
struct smc_child *smc_listener_add(struct smc_listener *listener, struct sock *sk,
				   unsigned long defer_end)
{
	struct smc_child *child = kzalloc(sizeof(*child), SMC_MEM_GFP_FORCE);

	if (!child)
		return NULL;
	refcount_inc(&listener->refs);
	child->listener = listener;
	child->sk = sk;
	child->defer_end = defer_end;
	spin_lock(&listener->lock);
	list_add_tail(&child->node, &listener->pending);
	WRITE_ONCE(listener->nr[SMC_CHILD_HANDSHAKE], listener->nr[SMC_CHILD_HANDSHAKE] + 1);
	spin_unlock(&listener->lock);
	return child;
}

/**
 * smc_listener_add_plain() - queue a connection without SMC for accept()
 * @listener: its listener
 * @sk: TCP's sock, ahead of one for SMC in TCP's queue; a reference is consumed on success
 * @reason: why it is TCP
 *
 * Context: Process context, may sleep.
 * Return: false without memory, or if the listener has ended.
 */
bool smc_listener_add_plain(struct smc_listener *listener, struct sock *sk,
			    enum smc_decline reason)
{
	struct smc_child *child = smc_listener_add(listener, sk, 0);

	if (!child)
		return false;
	child->fallback = reason;
	return smc_listener_finish(child, true);
}

static void smc_listener_free_child(struct smc_child *child)
{
	smc_listener_put(child->listener);
	kfree(child);
}

/**
 * smc_listener_count() - count memory of a pending child
 * @child: the child; nothing happens if it is not pending any more
 * @bytes: additional bytes
 *
 * Context: Process context.
 */
void smc_listener_count(struct smc_child *child, unsigned long bytes)
{
	struct smc_listener *listener = child->listener;

	spin_lock(&listener->lock);
	if (child->state < SMC_CHILD_READY)
		smc_listener_add_bytes(child, bytes);
	spin_unlock(&listener->lock);
}

/**
 * smc_listener_defer() - let a child wait for its first byte after its handshake
 * @child: the child; stays pending with its charge
 *
 * Context: Process context.
 * Return: false if it was evicted.
 */
bool smc_listener_defer(struct smc_child *child)
{
	struct smc_listener *listener = child->listener;
	bool has_moved;

	spin_lock(&listener->lock);
	has_moved = smc_listener_move(child, SMC_CHILD_DEFERRED);
	spin_unlock(&listener->lock);
	return has_moved;
}

/**
 * smc_listener_finish() - make a child ready for accept(), or remove it
 * @child: the child; consumed, it belongs to the accept queue or is freed
 * @is_ready: accept() may have it
 *
 * Context: Process context. Expects no lock held.
 * Return: true if the accept queue took the child with the reference on its socket; false
 * if the caller has that reference and must drop the child.
 */
bool smc_listener_finish(struct smc_child *child, bool is_ready)
{
	struct smc_listener *listener = child->listener;
	struct sock *sk = NULL;
	bool has_plain = false;

	spin_lock(&listener->lock);
	if (is_ready && listener->sk && smc_listener_move(child, SMC_CHILD_READY)) {
		sk = listener->sk;
		sock_hold(sk);
		if (listener->has_backlog)
			has_plain = smc_listener_count_backlog(listener, sk, 1);
	} else {
		smc_listener_move(child, SMC_CHILD_GONE);
	}
	spin_unlock(&listener->lock);

	/* accept() may have taken the child by now */
	if (!sk) {
		smc_listener_free_child(child);
		return false;
	}
	smc_listener_report(sk);
	/* the event of a plain child may have taken the place of this one for its own */
	if (has_plain)
		smc_listener_report(sk);
	sock_put(sk);
	return true;
}

/* Strangers get a small part of a small control group. */
static unsigned long smc_listener_max_bytes(const struct sock *sk)
{
	unsigned int shift = PAGE_SHIFT - SMC_LISTENER_SHARE;
	unsigned long pages = smc_compat_memcg_max(smc_compat_sk_memcg(sk));

	return min(pages, SMC_LISTENER_MAX_BYTES >> shift) << shift;
}

/**
 * smc_listener_evict() - take out the oldest pending child if there is no room for it
 * @listener: the listener; one that has ended has no room for any
 * @except: a child to spare, or NULL
 *
 * Context: Process context.
 * Return: the child's socket with a reference for the caller, besides the list's, which the
 *	   child's work item drops; NULL if there is room.
 */
struct sock *smc_listener_evict(struct smc_listener *listener, const struct smc_child *except)
{
	struct smc_child *oldest;
	struct sock *sk = NULL;
	unsigned int nr;

	spin_lock(&listener->lock);
	nr = listener->nr[SMC_CHILD_HANDSHAKE] + listener->nr[SMC_CHILD_DEFERRED];
	oldest = list_first_entry_or_null(&listener->pending, struct smc_child, node);
	if (oldest && oldest != except &&
	    (!listener->sk || (listener->bytes > smc_listener_max_bytes(listener->sk) &&
			       nr > SMC_LISTENER_MIN_NR))) {
		sk = oldest->sk;
		sock_hold(sk);
		smc_listener_move(oldest, SMC_CHILD_GONE);
	}
	spin_unlock(&listener->lock);
	return sk;
}

/**
 * smc_listener_next() - take the oldest child that is ready
 * @listener: the listener
 * @child: receives it, with the queue's reference; @child->is_last is not set
 *
 * Context: Process context.
 * Return: false if there is none.
 */
bool smc_listener_next(struct smc_listener *listener, struct smc_accepted *child)
{
	struct smc_child *oldest;

	spin_lock(&listener->lock);
	oldest = list_first_entry_or_null(&listener->ready, struct smc_child, node);
	if (oldest) {
		smc_listener_move(oldest, SMC_CHILD_GONE);
		if (listener->has_backlog)
			smc_listener_count_backlog(listener, listener->sk, -1);
	}
	spin_unlock(&listener->lock);
	if (!oldest)
		return false;
	child->sk = oldest->sk;
	child->fallback = oldest->fallback;
	child->peer_diagnosis = oldest->peer_diagnosis;
	child->memory_age_ms = oldest->memory_age_ms;
	smc_listener_free_child(oldest);
	return true;
}
