// SPDX-License-Identifier: GPL-2.0
/*
 * The send path.
 *
 * Operation:
 *   smc_tx_sendmsg() copies into the send ring and publishes what it copied.
 *   smc_tx_push() makes the peer's view of the connection current: it is called
 *   whenever something may have changed (data copied, data read, a message
 *   arrived or completed, a flag set) and posts what that calls for, if
 *   anything. Each post is one chain: at most two RDMA WRITEs and the CDC.
 *
 * Slots:
 *   A push takes a slot first, then conn->lock; with the lock it sees whether
 *   the slot's link is still the connection's. A connection that finds no slot
 *   queues up at the link, at most once, and whoever frees a slot serves the
 *   queue from its head: a completion, or a push that did not need its slot. A
 *   push that finds others waiting queues up behind them. Nobody is lost: who
 *   queues up tries to serve the queue once more afterwards, and getting and
 *   freeing a slot take the same lock.
 *
 * Another link:
 *   A connection that leaves its link posts nothing until smc_failover.c has put it
 *   on another one and told it so; whatever was to be posted meanwhile is found
 *   by the push that follows. What it may still repeat is in the send ring:
 *   only a good completion frees room there.
 *
 * Coalescing:
 *   While a message is in flight, little data waits for its completion, which
 *   pushes again; so does much data for which the peer has little room. MSG_MORE
 *   and TCP_CORK hold back less than half a ring for at most SMC_TX_CORK_TIME. So
 *   nothing is delayed forever (TX-06 to TX-08, smc_ring_is_held_back()).
 *
 * TCP_NOTSENT_LOWAT:
 *   The ring takes no more than that of what cannot be written to the peer, and
 *   poll() asks for half of it, as with TCP. What is posted has left, so the
 *   completion that each post has wakes who waits for that, too.
 *
 * Error handling:
 *   What completes in error was reported by smc_wr.c; here its reference and
 *   count are taken back, nothing else.
 */
#include <linux/sched/signal.h>
#include <linux/wait.h>
#include <net/tcp.h>

#include "group/smc_cdc.h"
#include "smc_compat.h"
#include "group/smc_link.h"
#include "group/smc_core.h"
#include "rdma/smc_net.h"
#include "sock/smc_errqueue.h"
#include "sock/smc_sock.h"
#include "observe/smc_trace.h"
#include "sock/smc_tx.h"
#include "sock/smc_wake.h"

/* How long MSG_MORE and TCP_CORK may hold data back, as with TCP. */
#define SMC_TX_CORK_TIME	(HZ / 5)

/*
 * Where TCP_NOTSENT_LOWAT lets data be taken, it is so much at least: TCP fills
 * a packet, and here a write of few bytes costs as much as one of many.
 */
#define SMC_TX_LOWAT_LEAST	4096U

static void smc_tx_done(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok);

static u32 tx_unsent(const struct smc_conn *conn)
{
	int len;

	lockdep_assert_held(&conn->lock);
	len = smc_cursor_distance(conn->snd_geom, conn->tx_sent, conn->tx_prep);
	return max(len, 0);
}

/* May more data still come before these bytes are worth a message? */
static bool tx_is_held_back(const struct smc_conn *conn, u32 unsent)
{
	struct smc_ring_hold hold = {
		.unsent = unsent,
		.ring = smc_geom_space(conn->snd_geom),
		.most = READ_ONCE(smc_net(sock_net(conn->sk))->set.autocorking_size),
		.window = smc_cdc_window(&conn->ctl),
		.peer_ring = smc_geom_space(conn->ctl.tx_geom),
		.is_inflight = conn->tx_inflight,
		.is_corked = conn->tx_cork,
		.is_nodelay = tcp_sk(conn->sk)->nonagle & TCP_NAGLE_OFF,
		.is_urgent = conn->ctl.tx_urg_left,
		.is_flushed = conn->tx_flush,
	};

	lockdep_assert_held(&conn->lock);
	return smc_ring_is_held_back(&hold);
}

/*
 * The one answer to "may I, and is there something to post?". Fills in the
 * plan; its length is 0 for a message without data.
 */
static bool tx_plan(const struct smc_conn *conn, struct smc_xfer *x)
{
	u32 unsent;
	bool is_due;

	lockdep_assert_held(&conn->lock);
	x->len = 0;
	x->nr_parts = 0;
	if (conn->phase == SMC_CONN_VALIDATING || conn->phase == SMC_CONN_REPLAYING)
		return true;
	/* the replay has all of it, and its completion pushes again */
	if (conn->phase != SMC_CONN_OPEN || smc_cdc_is_far_ahead(&conn->ctl))
		return false;
	unsent = tx_unsent(conn);
	is_due = smc_cdc_is_needed(&conn->ctl, unsent);
	/* A message that leaves anyway takes all data along. */
	if (unsent && (is_due || !tx_is_held_back(conn, unsent)))
		smc_cdc_plan(&conn->ctl, conn->snd_geom, conn->tx_sent, conn->tx_prep, x);
	return x->len || is_due;
}

/* Nothing is owed to the peer because of a move: data may flow, or all has been said. */
static void tx_settle(struct smc_conn *conn)
{
	bool is_final = conn->ctl.tx_conn_sent & SMC_CDC_FINAL;

	smc_conn_set_phase(conn, is_final ? SMC_CONN_FINAL : SMC_CONN_OPEN);
}

static void tx_account(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	conn->tx_inflight++;
	tx_settle(conn);
	if (!tx_unsent(conn))
		conn->tx_flush = false;
}

/*
 * After a move: F first, then, in one message, all that did not complete, be it
 * C or A. Nothing else goes before them. A post that fails means a link that is
 * broken, and another move. FAIL-07, FAIL-12. True if it was posted.
 */
static bool tx_resume(struct smc_conn *conn, struct smc_wr_slot *slot)
{
	bool is_posted;

	lockdep_assert_held(&conn->lock);
	if (conn->phase == SMC_CONN_VALIDATING) {
		if (smc_cdc_post_validation(conn, slot))
			return false;
		conn->tx_inflight++;
		if (smc_cdc_is_replay_due(&conn->ctl))
			smc_conn_set_phase(conn, SMC_CONN_REPLAYING);
		else
			tx_settle(conn);
		return true;
	}
	is_posted = !smc_cdc_post_replay(conn, slot);
	if (is_posted)
		tx_account(conn);
	else
		tx_settle(conn);
	return is_posted;
}

static bool tx_post_one(struct smc_conn *conn, struct smc_wr_slot *slot, struct smc_xfer *x)
{
	if (conn->phase != SMC_CONN_OPEN)
		return tx_resume(conn, slot);
	if (smc_cdc_post(conn, slot, x))
		return false;
	/* The completion waits for conn->lock. */
	tx_account(conn);
	return true;
}

enum tx_outcome {
	TX_IDLE,	/* nothing to send, or nothing may be sent; slot unused */
	TX_MOVED,	/* the connection is on another link; slot unused */
	TX_SENT,	/* one message was posted, and that was all */
	TX_MORE,	/* one message was posted, another one is due */
};

/* Posts at most one message with a slot of @link. The slot is used up. */
static enum tx_outcome tx_post(struct smc_conn *conn, struct smc_link *link,
			       struct smc_wr_slot *slot)
{
	enum tx_outcome outcome = TX_IDLE;
	struct smc_xfer x;

	slot->tag.done = smc_tx_done;
	spin_lock_bh(&conn->lock);
	if (rcu_access_pointer(conn->link) != link) {
		outcome = TX_MOVED;
	} else if (tx_plan(conn, &x)) {
		outcome = TX_SENT;
		if (tx_post_one(conn, slot, &x) && tx_plan(conn, &x))
			outcome = TX_MORE;
	}
	spin_unlock_bh(&conn->lock);
	if (outcome == TX_IDLE || outcome == TX_MOVED)
		smc_wr_slot_put(slot);
	return outcome;
}

/*
 * There is no slot. True if the connection must be looked at again, on another link or,
 * if it has come back meanwhile, on this one: who moved it may have seen it wait here. On
 * one that is stopped whoever moves it away does so.
 */
static bool tx_queue_up(struct smc_conn *conn, struct smc_link *link)
{
	return !smc_link_add_waiter(link, conn) &&
	       (rcu_access_pointer(conn->link) != link ||
		!test_bit(SMC_WR_IS_STOPPED, &link->wr.flags));
}

/*
 * Uses @slot and further ones for @conn until nothing more is due. Where slots
 * run out, it queues up behind all others. True if the connection must be
 * looked at again, on another link or on this one once more.
 */
static bool tx_drain(struct smc_conn *conn, struct smc_link *link, struct smc_wr_slot *slot)
{
	enum tx_outcome outcome = TX_MORE;

	while (slot && outcome == TX_MORE) {
		outcome = tx_post(conn, link, slot);
		slot = NULL;
		if (outcome == TX_MORE)
			slot = smc_wr_slot_get(&link->wr, SMC_WR_DATA);
	}
	if (outcome == TX_MORE)
		return tx_queue_up(conn, link);
	return outcome == TX_MOVED;
}

/*
 * Gives free slots of a link to those who wait for one, in their order.
 * Whoever freed a slot, or queued up, calls this. A waiter that has moved to
 * another link looks for a slot there.
 */
static void tx_serve(struct smc_link *link)
{
	struct smc_wr_slot *slot;
	struct smc_conn *conn;

	while (!list_empty_careful(&link->waiters)) {
		slot = smc_wr_slot_get(&link->wr, SMC_WR_DATA);
		if (!slot)
			return;
		conn = smc_link_pop_waiter(link);
		if (!conn) {
			smc_wr_slot_put(slot);
			continue;
		}
		if (tx_drain(conn, link, slot))
			smc_tx_push(conn);
		smc_conn_put(conn);
	}
}

/**
 * smc_tx_push() - make the peer's view of a connection current
 * @conn: the connection; the caller holds a reference
 *
 * Posts what has become due: data that fits the window, a window update, a
 * flag. Does nothing where nothing is due; may be called at any time. Where
 * the link has no free slot, the rest follows as soon as one is. RFC 7609
 * 4.5.1, 4.7 (TX-01, TX-06, WIN-02, BLK-04, BLK-06).
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_tx_push(struct smc_conn *conn)
{
	struct smc_link *link, *next;
	struct smc_wr_slot *slot;
	bool has_moved;

	rcu_read_lock();
	for (link = rcu_dereference(conn->link); link; link = next) {
		slot = NULL;
		if (list_empty_careful(&link->waiters))
			slot = smc_wr_slot_get(&link->wr, SMC_WR_DATA);
		has_moved = slot ? tx_drain(conn, link, slot) : tx_queue_up(conn, link);
		next = has_moved ? rcu_dereference(conn->link) : NULL;
		tx_serve(link);
	}
	rcu_read_unlock();
}

/*
 * A message and the writes before it have completed. The slot is free again
 * already.
 */
static void smc_tx_done(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok)
{
	struct smc_link *link = smc_link_of(wr);
	struct smc_conn *conn = tag->owner;
	u32 events;

	events = smc_conn_tx_done(conn, tag->seq, tag->len, ok);
	if (ok) {
		smc_errqueue_report(conn);
		conn->ops.event(conn, events);
		smc_tx_push(conn);
		rcu_read_lock();
		tx_serve(link);
		rcu_read_unlock();
	}
	smc_conn_put(conn);
}

/**
 * smc_tx_flush() - send what was held back
 * @conn: the connection; the caller holds a reference
 *
 * For the end of TCP_CORK and of a file, for TCP_NODELAY, and before closing.
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_tx_flush(struct smc_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn->tx_cork = false;
	conn->tx_flush = conn->snd_geom.size && tx_unsent(conn);
	spin_unlock_bh(&conn->lock);
	smc_tx_push(conn);
}

/**
 * smc_tx_signal() - tell the peer that this side is done, has closed or aborts
 * @conn: the connection; the caller holds a reference
 * @conn_flags: SMC_CDC_DONE, SMC_CDC_CLOSED, SMC_CDC_ABORT
 *
 * The caller has seen to it that what the flag ends has drained, or means to
 * drop it. After C or A nothing is sent any more. SMC_EV_FINAL_DONE follows
 * when the message with C or A has completed, SMC_EV_LINK_LOST if it never
 * will. RFC 7609 4.8, A.4 (CDC-13, CDC-14, CLOSE-09, ABRT-03).
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_tx_signal(struct smc_conn *conn, u8 conn_flags)
{
	spin_lock_bh(&conn->lock);
	smc_cdc_set_conn_flags(&conn->ctl, conn_flags);
	conn->tx_cork = false;
	spin_unlock_bh(&conn->lock);
	smc_tx_push(conn);
}

/* Data was held back long enough, TMR-18. Drops the timer's reference. */
static void tx_cork_expired(struct timer_list *timer)
{
	struct smc_conn *conn = smc_compat_timer_of(conn, timer, cork_timer);

	smc_tx_flush(conn);
	smc_conn_put(conn);
}

/* What is held back now leaves in time. */
static void tx_arm_cork(struct smc_conn *conn)
{
	if (!conn->cork_timer.function)
		timer_setup(&conn->cork_timer, tx_cork_expired, 0);
	if (!timer_pending(&conn->cork_timer))
		smc_conn_arm(conn, &conn->cork_timer, jiffies + SMC_TX_CORK_TIME);
}

/* One send call on its way. */
struct tx_call {
	struct smc_sock *smc;
	struct smc_conn *conn;
	struct msghdr *msg;
	long timeo;
	bool is_urgent;
	bool is_held;	/* it has slept, and has references on @smc and @conn */
	u32 tsflags;	/* of SO_TIMESTAMPING */
};

/*
 * The peer has closed, and we have not sent since. TCP would take this data, and learn
 * from the RST that it provokes that nobody reads it; so it is taken and dropped. Later
 * sends fail, AMB-43.
 */
static bool tx_is_in_vain(const struct smc_sock *smc)
{
	u8 conn_flags = READ_ONCE(smc->conn->ctl.rx_conn_flags);

	return !smc->sk->sk_err && !(smc->shutdown & SEND_SHUTDOWN) &&
	       (conn_flags & SMC_CDC_FINAL) == SMC_CDC_CLOSED;
}

/* No more than the ring would have held: who has more to send is to hear of it. */
static int tx_lose(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	if (!len)
		return 0;
	len = min_t(size_t, len, smc->conn->snd_geom.size);
	iov_iter_advance(&msg->msg_iter, len);
	/* what the peer has sent may be read, and has an end all the same */
	smc->is_done = true;
	smc_sock_set_err(smc, EPIPE);
	/* pairs with smc_poll(): who sees the end sees how it came */
	smp_wmb();
	WRITE_ONCE(smc->shutdown, SHUTDOWN_MASK);
	smc_wake_error(smc->sk);
	return len;
}

/* Why nothing can be sent any more; 0 if something can. */
static int tx_check(const struct tx_call *call)
{
	const struct smc_sock *smc = call->smc;
	const struct smc_conn *conn = call->conn;

	if (READ_ONCE(smc->sk->sk_err) || READ_ONCE(smc->shutdown) & SEND_SHUTDOWN)
		return -EPIPE;
	/*
	 * The peer has closed: nobody will read this. AMB-43. Of an abort, or that there
	 * is no link or no element any more, the close machine is about to tell: until then
	 * there is a connection, as there is for TCP before the RST is worked off. Or has
	 * connect() to AF_UNSPEC dissolved it?
	 */
	if (!conn->token || READ_ONCE(smc->conn) != conn ||
	    READ_ONCE(conn->ctl.rx_conn_flags) & SMC_CDC_CLOSED)
		return -EPIPE;
	return 0;
}

static u32 tx_lowat(const struct smc_conn *conn)
{
	return READ_ONCE(tcp_sk(conn->sk)->notsent_lowat) ?:
	       READ_ONCE(sock_net(conn->sk)->ipv4.sysctl_tcp_notsent_lowat);
}

/* Unsent, but for the byte that waits for who sends urgent data to go on. */
static u32 tx_backlog(struct smc_conn *conn)
{
	u32 unsent;

	spin_lock_bh(&conn->lock);
	unsent = tx_unsent(conn);
	if (unsent && conn->ctl.tx_urg_is_open && !conn->ctl.tx_urg_last)
		unsent--;
	spin_unlock_bh(&conn->lock);
	return unsent;
}

/* How much may be copied into the ring now. */
static u32 tx_room(struct smc_conn *conn)
{
	u32 room = smc_conn_writable(conn);
	u32 backlog = tx_backlog(conn);
	u32 lowat = tx_lowat(conn);

	if (backlog >= lowat)
		return 0;
	return min(room, max(lowat - backlog, SMC_TX_LOWAT_LEAST));
}

/**
 * smc_tx_is_writable() - would poll() say that data can be sent
 * @conn: the connection; it is or was open
 *
 * A quarter of the ring is free: often enough to keep it busy, no more. And
 * what is not sent yet is less than half of TCP_NOTSENT_LOWAT.
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: true if it would.
 */
bool smc_tx_is_writable(struct smc_conn *conn)
{
	return smc_conn_writable(conn) >= conn->snd_geom.size / 4 &&
	       2 * (u64)tx_backlog(conn) < tx_lowat(conn);
}

/*
 * Waits until the send ring has room, nothing can be sent any more, or time is
 * up. A completion that finds SOCK_NOSPACE set wakes whoever polls.
 */
static int tx_wait(struct tx_call *call)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct smc_conn *conn = call->conn;
	struct sock *sk = call->smc->sk;
	wait_queue_head_t *wq = sk_sleep(sk);
	int rc = 0;

	if (!call->is_held) {
		call->is_held = true;
		smc_sock_get(call->smc);
		refcount_inc(&conn->holders);
	}
	smc_stat_inc(sock_net(sk), SMC_STAT_TX_BLOCKED);
	add_wait_queue(wq, &wait);
	while (!rc) {
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		if (sk->sk_socket)
			set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		/* Pairs with the lock under which a completion frees space. */
		smp_mb__after_atomic();
		if (tx_check(call) || tx_room(conn))
			break;
		if (!call->timeo)
			rc = -EAGAIN;
		else if (signal_pending(current))
			rc = sock_intr_errno(call->timeo);
		else
			sk_wait_event(sk, &call->timeo, tx_check(call) || tx_room(conn), &wait);
	}
	remove_wait_queue(wq, &wait);
	return rc;
}

/* Copies up to @len bytes to the end of the ring; returns how many it was. */
static size_t tx_copy(struct smc_conn *conn, struct msghdr *msg, size_t len)
{
	struct smc_seg seg[SMC_RING_SEGS];
	size_t copied = 0;
	u32 i, nr;

	/* tx_prep is ours: it moves with the socket locked. */
	nr = smc_ring_segs(conn->snd_geom, conn->tx_prep, len, seg);
	for (i = 0; i < nr; i++) {
		size_t n = copy_from_iter(conn->sndbuf.cpu + seg[i].off, seg[i].len,
					  &msg->msg_iter);

		copied += n;
		if (n < seg[i].len)
			break;
	}
	return copied;
}

/* The bytes now belong to the stream. */
static void tx_publish(struct tx_call *call, size_t len)
{
	struct smc_conn *conn = call->conn;
	bool is_corked = call->msg->msg_flags & MSG_MORE ||
			 tcp_sk(conn->sk)->nonagle & TCP_NAGLE_CORK;

	spin_lock_bh(&conn->lock);
	conn->tx_jiffies = jiffies;
	if (smc_cursor_distance(conn->snd_geom, conn->tx_fin, conn->tx_prep) <= 0)
		conn->progress_jiffies = jiffies;
	conn->tx_prep = smc_cursor_advance(conn->snd_geom, conn->tx_prep, len);
	conn->tx_total += len;
	conn->tx_cork = is_corked;
	if (call->is_urgent)
		smc_cdc_open_urgent(&conn->ctl, tx_unsent(conn));
	/*
	 * The mark of another task's call cannot move behind these bytes, which wait
	 * for the byte in front of it: that one is urgent, and its call marks another.
	 */
	if (!call->is_urgent || !msg_data_left(call->msg))
		smc_cdc_end_urgent(&conn->ctl);
	if (!msg_data_left(call->msg))
		smc_errqueue_request(conn, call->tsflags);
	spin_unlock_bh(&conn->lock);
	if (is_corked)
		tx_arm_cork(conn);
	smc_tx_push(conn);
}

/* A send() ended early: its last byte is the urgent one, or gets the stamp. */
static void tx_end_early(struct tx_call *call)
{
	struct smc_conn *conn = call->conn;

	spin_lock_bh(&conn->lock);
	if (call->is_urgent)
		smc_cdc_end_urgent(&conn->ctl);
	smc_errqueue_request(conn, call->tsflags);
	spin_unlock_bh(&conn->lock);
	smc_errqueue_report(conn);
	if (call->is_urgent)
		smc_tx_push(conn);
}

/* Control messages are those of TCP. */
static int tx_read_control(struct tx_call *call)
{
	struct sock *sk = call->smc->sk;
	struct sockcm_cookie control;

	sockcm_init(&control, sk);
	if (call->msg->msg_controllen && sock_cmsg_send(sk, call->msg, &control))
		return -EINVAL;
	call->tsflags = control.tsflags;
	smc_errqueue_prepare(call->conn, call->tsflags);
	return 0;
}

/* One round of sendmsg: bytes taken, or why there are none. */
static ssize_t tx_send_some(struct tx_call *call)
{
	struct smc_conn *conn = call->conn;
	size_t room, n;
	int rc;

	rc = tx_check(call);
	if (rc)
		return rc;
	room = tx_room(conn);
	if (!room) {
		/* What is held back makes room once it is sent. */
		smc_tx_flush(conn);
		return tx_wait(call);
	}
	n = tx_copy(conn, call->msg, min(room, msg_data_left(call->msg)));
	if (!n)
		return -EFAULT;
	tx_publish(call, n);
	return n;
}

static void tx_trace(const struct smc_conn *conn, size_t len)
{
	struct smc_link *link;

	if (!trace_smc_tx_sendmsg_enabled())
		return;
	rcu_read_lock();
	link = rcu_dereference(conn->link);
	trace_smc_tx_sendmsg(conn->sk, len, link ? link->wr.dev_name : "");
	rcu_read_unlock();
}

/* All rounds of sendmsg: bytes taken, or why there are none. */
static ssize_t tx_send_all(struct tx_call *call, size_t len)
{
	size_t copied = 0;
	ssize_t rc = 0;

	if (!len)
		rc = tx_check(call);
	while (copied < len) {
		rc = tx_send_some(call);
		if (rc < 0)
			break;
		copied += rc;
	}
	if (copied && copied < len)
		tx_end_early(call);
	return copied ? copied : rc;
}

/**
 * smc_tx_sendmsg() - send() on a connection
 * @smc: the socket, its connection open
 * @msg: data and flags
 * @len: bytes to send
 * @timeo: jiffies that it may wait; 0: it does not
 *
 * Returns as soon as the data is in the send ring (TX-02). After a fault in the
 * middle of a copy the bytes before it are sent. Blocking, timeout and signals
 * as with TCP. With MSG_OOB the last byte is urgent (URG-01); ordinary data may
 * be sent behind it at any time and waits in the ring until the peer has passed
 * it (URG-08). The first data sent after the peer has closed is taken and lost,
 * as with TCP, a ring full at most; what follows fails. With MSG_ZEROCOPY and SO_ZEROCOPY a notice
 * says that the data was copied; what SO_TIMESTAMPING asks for follows.
 *
 * Context: Process context, sleeps unless @timeo is 0. Expects the socket lock
 *	    held, which is released while waiting.
 * Return: bytes taken, or if none: -EAGAIN, -EINTR, -ERESTARTSYS, -EFAULT;
 *	   -EINVAL for a control message that TCP refuses; -ENOBUFS if too many
 *	   notices of MSG_ZEROCOPY wait to be read; the
 *	   socket's pending error; -EPIPE (with SIGPIPE unless MSG_NOSIGNAL) if
 *	   nothing can be sent any more.
 */
int smc_tx_sendmsg(struct smc_sock *smc, struct msghdr *msg, size_t len, long timeo)
{
	struct tx_call call = {
		.smc = smc,
		.conn = smc->conn,
		.msg = msg,
		.timeo = timeo,
		.is_urgent = msg->msg_flags & MSG_OOB,
	};
	struct sock *sk = smc->sk;
	struct ubuf_info *uarg;
	ssize_t rc;

	sock_owned_by_me(smc->sk);
	rc = smc_errqueue_zerocopy_begin(sk, msg, len, &uarg);
	if (!rc)
		rc = tx_read_control(&call);
	if (!rc) {
		sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		rc = tx_is_in_vain(smc) ? tx_lose(smc, msg, len) : tx_send_all(&call, len);
	}
	smc_errqueue_zerocopy_end(uarg, rc > 0);
	if (rc > 0)
		tx_trace(call.conn, rc);
	if (rc < 0) {
		rc = sk_stream_error(sk, msg->msg_flags, rc);
		smc->err = sk->sk_err;
	}
	if (call.is_held) {
		smc_conn_drop(call.conn);
		smc_sock_put(smc);
	}
	return rc;
}
