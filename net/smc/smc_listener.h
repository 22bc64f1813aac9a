/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A listener: what a socket has while it listens, and what a child has until it is accepted.
 */
#ifndef SMC_LISTENER_H
#define SMC_LISTENER_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/sock.h>

/* Phases of a child, in order. Only smc_listener_move() changes one. */
enum smc_child_state {
	SMC_CHILD_HANDSHAKE,	/* the handshake is under way */
	SMC_CHILD_DEFERRED,	/* it has ended; accept() waits for the first byte */
	SMC_CHILD_READY,	/* in the accept queue */
	SMC_CHILD_GONE,		/* off the listener's lists */
};

/**
 * struct smc_listener - the state of a socket that listens
 *
 * The socket holds one reference until it listens no more, each child and the
 * queued work item another.
 *
 * @refs: references
 * @lock: guards all members but @refs and @work, and those of children; readers of
 *	  @nr need no lock
 * @sk: the socket to wake; NULL once it listens no more
 * @pending: children before accept() may have them, oldest first
 * @ready: children for accept(), oldest first
 * @nr: children in each state
 * @bytes: what @pending costs
 * @work: takes children off TCP
 * @rcu: readers of &smc_sock.listener may still look at it
 */
struct smc_listener {
	refcount_t refs;
	spinlock_t lock;		/* see above */
	struct sock *sk;
	struct list_head pending;
	struct list_head ready;
	unsigned int nr[SMC_CHILD_GONE];
	unsigned long bytes;
	struct delayed_work work;
	struct rcu_head rcu;
};

/**
 * struct smc_child - a connection from TCP's accept queue until accept() has it
 *
 * Belongs to the child's socket until it is ready, then to the accept queue.
 *
 * @listener: a reference; const
 * @sk: the child's socket, a reference; const
 * @node: in one of the two lists of @listener
 * @state: written under the lock of @listener
 * @bytes: its part of &smc_listener.bytes
 * @defer_end: until then accept() waits for the first byte, jiffies; const
 */
struct smc_child {
	struct smc_listener *listener;
	struct sock *sk;
	struct list_head node;
	enum smc_child_state state;
	unsigned long bytes;
	unsigned long defer_end;
};

struct smc_listener *smc_listener_new(struct sock *sk, work_func_t take);
void smc_listener_put(struct smc_listener *listener);
void smc_listener_queue(struct smc_listener *listener, struct workqueue_struct *wq,
			unsigned long delay_jiffies);
struct sock *smc_listener_sock(struct smc_listener *listener);
void smc_listener_end(struct smc_listener *listener);

struct smc_child *smc_listener_add(struct smc_listener *listener, struct sock *sk,
				   unsigned long defer_end);
void smc_listener_charge(struct smc_child *child, unsigned long bytes);
bool smc_listener_defer(struct smc_child *child);
bool smc_listener_finish(struct smc_child *child, bool is_ready);
struct sock *smc_listener_evict(struct smc_listener *listener, const struct smc_child *except);
struct sock *smc_listener_next(struct smc_listener *listener);

#endif /* SMC_LISTENER_H */
