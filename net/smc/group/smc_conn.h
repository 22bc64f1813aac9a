/* SPDX-License-Identifier: GPL-2.0 */
/* One connection of a link group: its state, its rings and its lock. */
#ifndef SMC_CONN_H
#define SMC_CONN_H

#include <linux/average.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "proto/smc_cdc_wire.h"
#include "proto/smc_ring.h"
#include "rdma/smc_buf.h"

struct smc_clc_accept;
struct smc_conn;
struct smc_link;
struct smc_link_group;

/* Events beyond those of smc_cdc_apply(), from the same number space. */
#define SMC_EV_LINK_LOST	BIT(30)	/* nothing can be sent any more: the group is
					 * gone, or the peer gave its element to another
					 * connection or deleted it (RMB-30)
					 */
#define SMC_EV_TX_DONE		BIT(29)	/* a send completed: ring space, maybe drained */
#define SMC_EV_FINAL_DONE	BIT(28)	/* the CDC with C or A completed */
#define SMC_EV_MOVED		BIT(27)	/* sends use another link: send what is due */
#define SMC_EV_RINGS_FREE	BIT(26)	/* both rings have gone back to conn->lgr */

/* Callbacks of a connection, set once by smc_conn_alloc(). */
struct smc_conn_ops {
	/* In any context but hard interrupt; no lock but perhaps lgr->lock is held. */
	void (*event)(struct smc_conn *conn, u32 events);
};

/**
 * enum smc_conn_phase - what a connection may do; changed by smc_conn_set_phase()
 * @SMC_CONN_SETUP: the handshake owns it: nothing is posted
 * @SMC_CONN_OPEN: forming has ended: data may flow, FC-12
 * @SMC_CONN_LEAVING: nothing is posted until sends in flight have completed, and a link that still
 *		      works is drained; then it moves to another link, FAIL-04, FAIL-19
 * @SMC_CONN_VALIDATING: it has moved; the validation message is due, FAIL-07
 * @SMC_CONN_REPLAYING: validation is posted; what did not complete follows, FAIL-12
 * @SMC_CONN_LEFT: it has left its group
 * @SMC_CONN_NR_PHASES: number of phases
 *
 * Without a link it never posts again: the link, or its element at the peer, is lost.
 */
enum smc_conn_phase {
	SMC_CONN_SETUP,
	SMC_CONN_OPEN,
	SMC_CONN_LEAVING,
	SMC_CONN_VALIDATING,
	SMC_CONN_REPLAYING,
	SMC_CONN_LEFT,
	SMC_CONN_NR_PHASES
};

/* Bits of smc_conn.pending: inputs of the close machine, in its order. */
enum smc_pending {
	SMC_PENDING_FAULT,	/* this side must abort: cursors, loss, eye catcher */
	SMC_PENDING_RESET,	/* the TCP connection was reset */
	SMC_PENDING_SILENCE,	/* the peer was silent for too long */
	SMC_PENDING_LINK_LOST,
	SMC_PENDING_TIMER,
};

DECLARE_EWMA(smc_rtt, 3, 8)
DECLARE_EWMA(smc_rtt_var, 3, 4)

/**
 * struct smc_conn_rtt - round trip of messages, to the peer's RNIC and back, in microseconds
 * @jiffies: start of the last measurement
 * @began_ns: post time of the measured message; 0: none is measured
 * @seq: its number
 * @min: the least so far
 * @mean: moving average; 0 before the first
 * @var: moving average of the deviation
 */
struct smc_conn_rtt {
	unsigned long jiffies;
	u64 began_ns;
	u16 seq;
	u32 min;
	struct ewma_smc_rtt mean;
	struct ewma_smc_rtt_var var;
};

/**
 * struct smc_conn - one connection
 *
 * Lifetime: see smc_core.c. @lock is conn->lock of the lock order: it guards the members after
 * it, and the order of CDC messages on the queue.
 *
 * @refs: one of its socket, one of the rings of a group; others of timers that are armed, work
 *	  items that are queued, waiters and calls that sleep
 * @sk: the socket, with a reference
 * @ops: callbacks; set once
 * @stats: counters of its namespace, or NULL; set when it joins
 * @lgr: the group, with a reference, from smc_conn_join() until the rings are returned
 * @token: our alert token; 0 while it is in no group; written by the handshake, under the socket
 *	   lock, or by @end_work
 * @wait_node: in the waiters of @link, under link->wait_lock; entered under @lock, too
 * @hold_timer: bounds how long messages are held, FAIL-10
 * @rtoken: index in lgr->rtokens, -1 for none; under lgr->lock
 * @peer_index: element there
 * @rmbe: our element, read by us, written by the peer; const until it is returned
 * @sndbuf: our send ring; same
 * @rcu: lookups by token, completions, and lookups by socket without its lock, run under RCU
 * @is_peer_done: argument of smc_conn_leave()
 * @pending: enum smc_pending, atomic bits; not in the socket, whose next connection they do not
 *	     concern
 * @end_work: has it leave its group after its socket has given it up; a reference while queued
 * @lock: spinlock, bottom halves off
 * @link: the link our sends use; RCU, written under @lock; NULL when it, or the element at the
 *	  peer, is lost. Messages of the peer may come on any link of the group, FAIL-17
 * @ctl: positions, flags, sequence numbers
 * @rx_links: numbers of the links on which messages of the peer have come
 * @peer_token: the peer's token for its CDC messages
 * @peer_rkey: of the peer's element on @link
 * @peer_addr: of the peer's element on @link
 * @peer_size: bytes of the peer's element
 * @tx_mark: ctl.tx_fin when the close timer was started
 * @rx_stamp: arrival of the last data, if SO_TIMESTAMP or SO_TIMESTAMPING asks for it
 * @stamps: time stamps due for sent data, smc_errqueue.c; NULL at first
 * @stamp_base: byte of the stream from which SO_TIMESTAMPING counts
 * @tx_pages: ranges of the stream whose bytes are in pages, smc_pages.c, in order; NULL if none
 * @tx_pages_last: the last one; valid with @tx_pages
 * @tx_jiffies: last time the application gave data; written under @lock
 * @ack_jiffies: last completion of our messages; written under @lock
 * @rx_jiffies: last message of the peer; written under @lock
 * @rtt: the round trip of messages
 * @progress_jiffies: last progress of data to send: the first came, or some completed; written
 *		      under @lock
 * @hold_jiffies: when messages that others are held for are given up
 * @tx_inflight: CDC messages posted and not completed; the rings stay meanwhile
 * @tx_cork: data is held back (MSG_MORE, TCP_CORK) until flushed
 * @tx_flush: data is to be sent regardless of what else holds it back
 * @tx_is_timed: TCP_USER_TIMEOUT applies: completions are awaited
 * @phase: what it may do
 * @is_peer_silent: the link was lost because the peer did not answer
 * @is_purged: unread data was dropped: data that comes later must not be read as if nothing were
 *	       missing, ABRT-04
 */
struct smc_conn {
	refcount_t refs;
	struct sock *sk;
	struct smc_conn_ops ops;
	struct smc_stats_cpu __percpu *stats;
	struct smc_link_group *lgr;
	u32 token;
	struct list_head wait_node;
	int rtoken;
	u8 peer_index;
	struct smc_buf_elem rmbe;
	struct smc_buf_elem sndbuf;
	struct rcu_head rcu;
	struct timer_list hold_timer;
	bool is_peer_done;
	unsigned long pending;
	struct delayed_work end_work;

	spinlock_t lock;		/* conn->lock, see above */
	struct smc_link __rcu *link;
	struct smc_cdc_ctl ctl;
	DECLARE_BITMAP(rx_links, U8_MAX + 1);
	u32 peer_token;
	u32 peer_rkey;
	u64 peer_addr;
	u32 peer_size;
	u64 tx_mark;
	ktime_t rx_stamp;
	struct smc_stamps *stamps;
	u64 stamp_base;
	struct sk_buff *tx_pages;
	struct sk_buff *tx_pages_last;
	unsigned long tx_jiffies;
	unsigned long ack_jiffies;
	unsigned long rx_jiffies;
	struct smc_conn_rtt rtt;
	unsigned long progress_jiffies;
	unsigned long hold_jiffies;
	u16 tx_inflight;
	bool tx_cork;
	bool tx_flush;
	bool tx_is_timed;
	enum smc_conn_phase phase;
	bool is_purged;
	bool is_peer_silent;
};

/* The link that a connection uses, or NULL. */
static inline struct smc_link *smc_conn_link(const struct smc_conn *conn)
{
	return rcu_dereference_protected(conn->link, lockdep_is_held(&conn->lock));
}

/* Return true if there is an element, and its data was not dropped. */
static inline bool smc_conn_may_read(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->ctl.rx_edge.size && !conn->is_purged;
}

struct smc_conn *smc_conn_alloc(struct sock *sk,
				void (*event)(struct smc_conn *conn, u32 events));
int smc_conn_join(struct smc_conn *conn, struct smc_link_group *lgr, struct smc_link *link);
struct smc_link *smc_conn_announced_link(struct smc_conn *conn);
int smc_conn_set_peer(struct smc_conn *conn, struct smc_link *link,
		      const struct smc_clc_accept *peer);
void smc_conn_lose_rmb(struct smc_link_group *lgr, int rtoken);
void smc_conn_open(struct smc_conn *conn);
bool smc_conn_leave(struct smc_conn *conn, bool is_peer_done);
void smc_conn_forget_unread(struct smc_conn *conn);
void smc_conn_time_send(struct smc_conn *conn, u16 seq);
u32 smc_conn_tx_done(struct smc_conn *conn, u16 seq, u32 len, bool ok);
void smc_conn_hold(struct smc_conn *conn);

u32 smc_conn_readable(struct smc_conn *conn);
u32 smc_conn_room(const struct smc_conn *conn);
u32 smc_conn_unacked(struct smc_conn *conn);
u32 smc_conn_unsent(struct smc_conn *conn);
bool smc_conn_is_drained(struct smc_conn *conn);
bool smc_conn_has_inflight(struct smc_conn *conn);
bool smc_conn_owes_final(struct smc_conn *conn);
void smc_conn_mark_progress(struct smc_conn *conn);
bool smc_conn_has_progress(struct smc_conn *conn);
bool smc_conn_check_eyecatcher(struct smc_conn *conn);

/* The caller has a reference or knows that the connection is in its group. */
static inline void smc_conn_get(struct smc_conn *conn)
{
	refcount_inc(&conn->refs);
}

void smc_conn_put(struct smc_conn *conn);
void smc_conn_return_rings(struct smc_conn *conn);
bool smc_conn_set_phase(struct smc_conn *conn, enum smc_conn_phase phase);
struct smc_conn *smc_conn_lookup(struct smc_link_group *lgr, u32 token);
struct smc_conn *smc_conn_lookup_imm(struct smc_link_group *lgr, u16 name);

void smc_conn_set_geometry(struct smc_link_group *lgr, struct smc_conn *conn);
void smc_conn_set_link(struct smc_conn *conn, struct smc_link *link);
void smc_conn_abort(struct smc_conn *conn);

#endif /* SMC_CONN_H */
