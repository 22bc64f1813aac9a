/* SPDX-License-Identifier: GPL-2.0 */
/* State of a listening socket, and of its children until accept(). */
#ifndef SMC_LISTENER_H
#define SMC_LISTENER_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "proto/smc_clc_nego.h"

/* Phases of a child, in order. Only smc_listener_move() changes one. */
enum smc_child_state {
	SMC_CHILD_HANDSHAKE,	/* in its handshake */
	SMC_CHILD_DEFERRED,	/* handshake done; accept() waits for the first byte */
	SMC_CHILD_READY,	/* in the accept queue */
	SMC_CHILD_GONE,		/* off the listener's lists */
};

/**
 * struct smc_listener - the state of a socket that listens
 *
 * The socket holds one reference until it stops listening; each child and the queued work
 * item hold another. It holds a reference on the module, as children in TCP's queue have
 * no other.
 *
 * @refs: references
 * @lock: guards the members up to @work, and children; readers of @nr need no lock
 * @nr_agreed: children in TCP's queue that have agreed on SMC, each with a reference
 * @has_backlog: TCP listens, and children of @ready take places in its backlog
 * @nr_backlog: those that do; with &sock.sk_ack_backlog under the lock of TCP's queue
 * @has_landed: its sock goes on in TCP; set before @sk is cleared
 * @sk: the sock that listens; NULL once it has stopped
 * @pending: children that are not ready, oldest first
 * @ready: children for accept(), oldest first
 * @nr: number of children in each state
 * @bytes: memory of @pending
 * @work: takes children off TCP
 * @rcu: for readers of &smc_sock.listener
 */
struct smc_listener {
	refcount_t refs;
	atomic_t nr_agreed;
	spinlock_t lock;		/* see above */
	bool has_backlog;
	bool has_landed;
	unsigned int nr_backlog;
	struct sock *sk;
	struct list_head pending;
	struct list_head ready;
	unsigned int nr[SMC_CHILD_GONE];
	unsigned long bytes;
	struct work_struct work;
	struct rcu_head rcu;
};

/**
 * struct smc_child - a connection between TCP's accept queue and accept()
 *
 * Belongs to the handshake of the child until it is ready, then to the accept queue.
 *
 * @listener: a reference; const
 * @sk: the child's socket, a reference; const
 * @node: in one of the two lists of @listener
 * @state: written under the lock of @listener
 * @bytes: its part of &smc_listener.bytes
 * @defer_end: end of the wait for the first byte, in jiffies; const
 * @fallback: reason of a fallback; the handshake's until the child is ready
 * @peer_diagnosis: diagnosis of the peer's Decline; same owner
 * @memory_age_ms: as in &struct smc_sock; same owner
 */
struct smc_child {
	struct smc_listener *listener;
	struct sock *sk;
	struct list_head node;
	enum smc_child_state state;
	unsigned long bytes;
	unsigned long defer_end;
	enum smc_decline fallback;
	u32 peer_diagnosis;
	u32 memory_age_ms;
};

/* Result of accept(): a sock with a reference, and the reason if it is on TCP. */
struct smc_accepted {
	struct sock *sk;
	enum smc_decline fallback;
	u32 peer_diagnosis;
	u32 memory_age_ms;
	bool is_last;		/* no other child is ready */
};

/* True if TCP's queue has a child for SMC, or is about to have one. */
static inline bool smc_listener_has_agreed(const struct smc_listener *listener)
{
	return atomic_read(&listener->nr_agreed) > 0;
}

/*
 * True if TCP's queue of @sk has a child without SMC; may be false for a moment while one for SMC
 * enters the backlog or leaves TCP's queue, see smc_listener_wake_plain().
 */
static inline bool smc_listener_has_plain(const struct smc_listener *listener,
					  const struct sock *sk)
{
	unsigned int queued = READ_ONCE(sk->sk_ack_backlog), others;

	/* pairs with the lock of the queue: a child that leaves the backlog meanwhile counts */
	smp_rmb();
	others = max(atomic_read(&listener->nr_agreed), 0);
	return queued > others + READ_ONCE(listener->nr_backlog);
}

/* True if it has no child, ready or not. */
static inline bool smc_listener_is_empty(const struct smc_listener *listener)
{
	return list_empty_careful(&listener->pending) && list_empty_careful(&listener->ready);
}

struct smc_listener *smc_listener_new(struct sock *sk, work_func_t take);
bool smc_listener_expect(struct smc_listener *listener);
void smc_listener_forget(struct smc_listener *listener);
void smc_listener_put(struct smc_listener *listener);
void smc_listener_queue(struct smc_listener *listener, struct workqueue_struct *wq);
struct sock *smc_listener_sock(struct smc_listener *listener);
void smc_listener_leave_backlog(struct smc_listener *listener);
void smc_listener_wake_plain(struct smc_listener *listener, struct sock *sk);
void smc_listener_end(struct smc_listener *listener);

struct smc_child *smc_listener_add(struct smc_listener *listener, struct sock *sk,
				   unsigned long defer_end);
void smc_listener_count(struct smc_child *child, unsigned long bytes);
bool smc_listener_defer(struct smc_child *child);
bool smc_listener_finish(struct smc_child *child, bool is_ready);
bool smc_listener_add_plain(struct smc_listener *listener, struct sock *sk,
			    enum smc_decline reason);
struct sock *smc_listener_evict(struct smc_listener *listener, const struct smc_child *except);
bool smc_listener_next(struct smc_listener *listener, struct smc_accepted *child);

#endif /* SMC_LISTENER_H */
