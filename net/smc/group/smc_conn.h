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
#include <net/tcp.h>

#include "proto/smc_cdc_wire.h"
#include "proto/smc_ring.h"
#include "rdma/smc_buf.h"

struct smc_carrier;
struct smc_clc_accept;
struct smc_conn;
struct smc_link;
struct smc_link_group;
struct smc_pair;

/* Events beyond those of smc_cdc_apply(), from the same number space. */
#define SMC_EV_LINK_LOST	BIT(30)	/* nothing can be sent any more: the group is
					 * gone, or the peer gave its element to another
					 * connection or deleted it (RMB-30)
					 */
#define SMC_EV_TX_DONE		BIT(29)	/* a send completed: ring space, maybe drained */
#define SMC_EV_FINAL_DONE	BIT(28)	/* the CDC with C or A completed */
#define SMC_EV_MOVED		BIT(27)	/* sends use another link: send what is due */
#define SMC_EV_RINGS_FREE	BIT(26)	/* both rings have gone back to conn->lgr */
#define SMC_EV_ROOM		BIT(25)	/* there is the room in the send ring that was wanted */

/**
 * struct smc_conn_ops - callbacks of connections
 * @event: in any context but hard interrupt; no lock but perhaps lgr->lock is held
 */
struct smc_conn_ops {
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

/*
 * Bits of smc_conn.attn: what is unusual. Where nothing is, the short ways of sending, receiving
 * and completing serve the connection; each has a mask of what it leaves to the long way.
 */
enum smc_attn {
	SMC_ATTN_PHASE	= BIT(0),	/* not SMC_CONN_OPEN */
	SMC_ATTN_END	= BIT(1),	/* D, C or A of either side is there, or is to follow */
	SMC_ATTN_URG	= BIT(2),	/* urgent data of either side */
	SMC_ATTN_CORK	= BIT(3),	/* data is held back, or flushed */
	SMC_ATTN_NOTICE	= BIT(4),	/* stamps, pages or a clock wait for completions */
	SMC_ATTN_PEER	= BIT(5),	/* the peer waits for a consumer cursor */
	SMC_ATTN_HELD	= BIT(6),	/* messages are missing or repeated after failover */
	SMC_ATTN_MEMORY	= BIT(7),	/* elements have eye catchers, or rings are to be synced */
	SMC_ATTN_ALL	= BIT(8) - 1,
};

/* Bits of smc_conn.pending: inputs of the close machine, in its order. */
enum smc_pending {
	SMC_PENDING_FAULT,	/* this side must abort: cursors, loss, eye catcher */
	SMC_PENDING_RESET,	/* the TCP connection was reset */
	SMC_PENDING_SILENCE,	/* the peer was silent for too long */
	SMC_PENDING_PAYLOAD,	/* there are bytes on TCP */
	SMC_PENDING_LINK_LOST,
	SMC_PENDING_TIMER,
};

/* Between measurements of the round trip, in jiffies. */
#define SMC_CONN_RTT_PAUSE	HZ

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
 * Lifetime: see smc_core.c. @lock is conn->lock of the lock order: it guards the order of CDC
 * messages on the queue, and the members that name no other rule, from @link on in this list.
 *
 * @refs: one of its socket, one of the rings of a group; others of timers that are armed, work
 *	  items that are queued, waiters and calls that sleep
 * @sk: the socket, with a reference
 * @ops: callbacks; set once
 * @carrier: what carries its bytes; const once it has joined, as are the next two
 * @pair: the memory that carries them, with a reference; NULL for a link
 * @tx_freed: position up to which the ring that writers fill is free: ctl.tx_fin or ctl.tx_cons
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
 * @attn: set of &enum smc_attn, smc_attn.c; written under @lock, also read without it
 * @flow: its short messages
 * @lock: spinlock, bottom halves off
 * @link: the link our sends use; RCU, written under @lock; NULL when it, or the element at the
 *	  peer, is lost. Messages of the peer may come on any link of the group, FAIL-17
 * @ctl: positions, flags, sequence numbers
 * @rx_links: numbers of the links on which messages of the peer have come
 * @peer_token: the peer's token for its CDC messages
 * @peer_rkey: of the peer's element on @link
 * @peer_addr: of the peer's element on @link
 * @peer_size: bytes of the peer's element
 * @snd_iova: address of the send ring for devices
 * @snd_lkey: of the send ring on @link
 * @tx_enough: so many unsent bytes do not wait for a message in flight; by autocorking_size when
 *	       it was opened
 * @needs_sync: CPU and device accesses to its rings must be synchronised there
 * @tx_mark: ctl.tx_fin when the close timer was started
 * @rx_stamp: arrival of the last data, if SO_TIMESTAMP or SO_TIMESTAMPING asks for it
 * @stamps: time stamps due for sent data, smc_errqueue.c; NULL at first
 * @stamp_base: byte of the stream from which SO_TIMESTAMPING counts
 * @tx_pages: ranges of the stream whose bytes are in pages, smc_pages.c, in order; NULL if none
 * @tx_pages_last: the last one; valid with @tx_pages
 * @tx_jiffies: last time the application gave data; written under the socket lock
 * @ack_jiffies: last completion of our messages; written under @lock
 * @rx_jiffies: last message of the peer; written under @lock, in memory under the peer's
 * @rtt: the round trip of messages
 * @progress_jiffies: last progress of data to send: the first came, or some completed; written
 *		      under the socket lock, or @lock
 * @hold_jiffies: when messages that others are held for are given up
 * @tx_inflight: CDC messages posted and not completed; the rings stay meanwhile
 * @tx_cork: data is held back (MSG_MORE, TCP_CORK) until flushed
 * @tx_flush: data is to be sent regardless of what else holds it back
 * @tx_is_timed: TCP_USER_TIMEOUT applies: completions are awaited
 * @wants_room: somebody waits for room in the send ring
 * @wants_drain: the close machine waits for the end of its data
 * @is_awaited: smc_wr_await() was called for a message that is in flight
 * @phase: what it may do
 * @is_peer_silent: the link was lost because the peer did not answer
 * @role: enum smc_role, which end of @pair it is
 * @is_purged: unread data was dropped: data that comes later must not be read as if nothing were
 *	       missing, ABRT-04
 */
struct smc_conn {
	/* read by each call and each message, seldom written */
	u32 attn;
	u32 token;
	struct sock *sk;
	const struct smc_conn_ops *ops;
	const struct smc_carrier *carrier;
	struct smc_pair *pair;
	const u64 *tx_freed;
	struct smc_stats_cpu __percpu *stats;
	struct smc_link __rcu *link;
	unsigned long pending;
	struct smc_buf_elem rmbe;
	struct smc_buf_elem sndbuf;
	u64 peer_addr;
	u64 snd_iova;
	u32 peer_rkey;
	u32 snd_lkey;
	u32 tx_enough;

	/* written by each message */
	spinlock_t lock;		/* conn->lock, see above */
	struct smc_cdc_ctl ctl;
	unsigned long tx_jiffies;
	unsigned long ack_jiffies;
	unsigned long rx_jiffies;
	unsigned long progress_jiffies;
	u16 tx_inflight;
	bool is_awaited;
	bool wants_room;
	enum smc_conn_phase phase;
	ktime_t rx_stamp;
	struct smc_conn_rtt rtt;
	struct smc_wr_flow flow;

	/* all else */
	bool needs_sync;
	bool tx_cork;
	bool tx_flush;
	bool tx_is_timed;
	bool wants_drain;
	bool is_purged;
	bool is_peer_silent;
	bool is_peer_done;
	u8 role;
	u8 peer_index;
	int rtoken;
	u32 peer_token;
	u32 peer_size;
	DECLARE_BITMAP(rx_links, U8_MAX + 1);
	u64 tx_mark;
	struct smc_stamps *stamps;
	u64 stamp_base;
	struct sk_buff *tx_pages;
	struct sk_buff *tx_pages_last;
	unsigned long hold_jiffies;
	refcount_t refs;
	struct smc_link_group *lgr;
	struct list_head wait_node;
	struct rcu_head rcu;
	struct timer_list hold_timer;
	struct delayed_work end_work;
};

/* The link that a connection uses, or NULL. */
static inline struct smc_link *smc_conn_link(const struct smc_conn *conn)
{
	return rcu_dereference_protected(conn->link, lockdep_is_held(&conn->lock));
}

/* Return true if it is on a link, or in memory: the peer can be reached. */
static inline bool smc_conn_is_carried(const struct smc_conn *conn)
{
	return conn->pair || rcu_access_pointer(conn->link);
}

/* Return true if there is an element, and its data was not dropped. */
static inline bool smc_conn_may_read(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->ctl.rx_edge.size && !conn->is_purged;
}

void smc_conn_attend(struct smc_conn *conn);
u32 smc_conn_attn_of(const struct smc_conn *conn);

/* Debug kernels check that @attn belongs to the state. Expects conn->lock held. */
static inline void smc_conn_assert_attn(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	lockdep_assert(conn->attn == smc_conn_attn_of(conn));
}

/* Release conn->lock after a change of the state. */
static inline void smc_conn_unlock(struct smc_conn *conn)
	__releases(&conn->lock)
{
	smc_conn_attend(conn);
	spin_unlock_bh(&conn->lock);
}

DEFINE_LOCK_GUARD_1(smc_conn, struct smc_conn, spin_lock_bh(&_T->lock->lock),
		    smc_conn_unlock(_T->lock))

struct smc_conn *smc_conn_alloc(struct sock *sk, const struct smc_conn_ops *ops,
				const struct smc_carrier *carrier);
int smc_conn_join(struct smc_conn *conn, struct smc_link_group *lgr, struct smc_link *link);
struct smc_link *smc_conn_announced_link(struct smc_conn *conn);
int smc_conn_set_peer(struct smc_conn *conn, struct smc_link *link,
		      const struct smc_clc_accept *peer);
void smc_conn_lose_rmb(struct smc_link_group *lgr, int rtoken);
void smc_conn_open(struct smc_conn *conn);
bool smc_conn_leave(struct smc_conn *conn, bool is_peer_done);
void smc_conn_detach(struct smc_conn *conn);
void smc_conn_forget_unread(struct smc_conn *conn);
void smc_conn_time_begin(struct smc_conn *conn, u16 seq);
u32 smc_conn_tx_done(struct smc_conn *conn, u16 seq, u32 len, bool ok);
void smc_conn_hold(struct smc_conn *conn);

u32 smc_conn_readable(struct smc_conn *conn);
u32 smc_conn_room(const struct smc_conn *conn);
u32 smc_conn_backlog(const struct smc_conn *conn);
bool smc_conn_has_room(const struct smc_conn *conn);
u32 smc_conn_unacked(struct smc_conn *conn);
u32 smc_conn_unsent(struct smc_conn *conn);
bool smc_conn_await_drain(struct smc_conn *conn);
bool smc_conn_has_inflight(struct smc_conn *conn);
bool smc_conn_owes_final(struct smc_conn *conn);
void smc_conn_mark_progress(struct smc_conn *conn);
bool smc_conn_has_progress(struct smc_conn *conn);
bool smc_conn_check_eyecatcher(struct smc_conn *conn);

/* The limit of unposted bytes, TCP_NOTSENT_LOWAT. */
static inline u32 smc_conn_lowat(const struct smc_conn *conn)
{
	return READ_ONCE(tcp_sk(conn->sk)->notsent_lowat) ?:
	       READ_ONCE(sock_net(conn->sk)->ipv4.sysctl_tcp_notsent_lowat);
}

/*
 * Start measuring the round trip of a posted message: one at a time, and one in a second. Reading
 * the clock costs, and so does the event of a completion that is awaited (smc_wr_await()). TCP_INFO
 * needs no more. Expects conn->lock held.
 */
static inline void smc_conn_time_send(struct smc_conn *conn, u16 seq)
{
	unsigned long past = jiffies - conn->rtt.jiffies;

	lockdep_assert_held(&conn->lock);
	if (unlikely(!conn->rtt.began_ns && past >= SMC_CONN_RTT_PAUSE))
		smc_conn_time_begin(conn, seq);
}

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
