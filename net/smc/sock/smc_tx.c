// SPDX-License-Identifier: GPL-2.0
/*
 * The send path.
 *
 * Operation: smc_tx_sendmsg() copies into the ring and publishes the bytes; the carrier of the
 * connection posts what is due (smc_rdma.c), or has delivered it (smc_pair.c). Where the connection
 * has none of TX_SENDS_LONG, smc_tx_send_short() does the same in few steps.
 *
 * MSG_ZEROCOPY, sendfile() and splice(): large pieces stay in the caller's pages, which take their
 * place in the ring.
 *
 * MSG_MORE and TCP_CORK hold back less than a message for at most SMC_TX_CORK_TIME.
 *
 * TCP_NOTSENT_LOWAT limits the unposted bytes in the ring; poll() requires less than half of it, as
 * with TCP. The completion of each post wakes the waiters.
 */
#include <linux/sched/signal.h>
#include <linux/wait.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "group/smc_carrier.h"
#include "group/smc_pages.h"
#include "sock/smc_errqueue.h"
#include "sock/smc_sock.h"
#include "sock/smc_tx.h"
#include "sock/smc_wake.h"
#include "control/smc_trace.h"

/* Time limit for data held back by MSG_MORE and TCP_CORK, as with TCP. */
#define SMC_TX_CORK_TIME	(HZ / 5)

/* Minimum that TCP_NOTSENT_LOWAT admits, like TCP's full packet: a small write is as expensive. */
#define SMC_TX_LOWAT_MIN	4096U

/* What the short ways of sending, and of completions, cannot serve */
#define TX_SENDS_LONG (SMC_ATTN_ALL & ~SMC_ATTN_PEER)

/**
 * smc_tx_push() - post what is due on a connection
 * @conn: the connection; the caller holds a reference
 *
 * Posts data that fits the window, a window update, or a flag. May be called at any time. Without a
 * free slot, the rest is posted when one is freed. RFC 7609 4.5.1, 4.7 (TX-01, TX-06, WIN-02,
 * BLK-04, BLK-06).
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_tx_push(struct smc_conn *conn)
{
	spin_lock_bh(&conn->lock);
	smc_conn_push_unlock(conn);
}

/**
 * smc_tx_poll() - handle the completions of the connection's link now
 * @conn: the connection; the caller holds a reference
 * @is_over: as for smc_wr_poll()
 * @arg: of @is_over
 *
 * Context: Process context or a timer. Expects no spinlock held.
 * Return: false if another task handles them.
 */
bool smc_tx_poll(struct smc_conn *conn, bool (*is_over)(void *arg), void *arg)
{
	return conn->carrier->poll(conn, is_over, arg);
}

/**
 * smc_tx_flush() - send the data held back by TCP_CORK, MSG_MORE or Nagle
 * @conn: the connection; the caller holds a reference
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_tx_flush(struct smc_conn *conn)
{
	spin_lock_bh(&conn->lock);
	conn->tx_cork = false;
	conn->tx_flush = smc_cdc_unsent(&conn->ctl);
	smc_conn_push_unlock(conn);
	/* close() waits for what was in flight before */
	conn->carrier->await(conn);
}

/**
 * smc_tx_signal() - send a flag that ends sending, the connection, or both by abort
 * @conn: the connection; the caller holds a reference
 * @conn_flags: SMC_CDC_DONE, SMC_CDC_CLOSED, SMC_CDC_ABORT
 *
 * Data that the flag ends must be drained before, or is dropped. Nothing is sent after C or A.
 * SMC_EV_FINAL_DONE follows when the message with C or A has completed, SMC_EV_LINK_LOST if it
 * cannot. RFC 7609 4.8, A.4 (CDC-13, CDC-14, CLOSE-09, ABRT-03).
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_tx_signal(struct smc_conn *conn, u8 conn_flags)
{
	spin_lock_bh(&conn->lock);
	smc_cdc_set_conn_flags(&conn->ctl, conn_flags);
	conn->tx_cork = false;
	smc_conn_push_unlock(conn);
}

/* The limit for held back data is over, TMR-18. Drops the timer's reference. */
static void tx_cork_expired(struct timer_list *timer)
{
	struct smc_sock *smc = smc_compat_timer_of(smc, timer, cork_timer);

	smc_tx_flush(smc->conn);
	smc_sock_put(smc);
}

static void tx_arm_cork(struct smc_sock *smc)
{
	if (!smc->cork_timer.function)
		timer_setup(&smc->cork_timer, tx_cork_expired, 0);
	if (!timer_pending(&smc->cork_timer))
		smc_sock_arm(smc, &smc->cork_timer, jiffies + SMC_TX_CORK_TIME);
}

/* One send call. */
struct tx_call {
	struct smc_sock *smc;
	struct smc_conn *conn;
	struct msghdr *msg;
	long timeo;
	bool is_urgent;
	bool is_held;	/* slept: holds references on @smc and @conn */
	bool may_use_pages;	/* large pieces stay in the caller's pages */
	bool has_pages;	/* such pieces were sent */
	struct ubuf_info *uarg;	/* notice of MSG_ZEROCOPY, or NULL */
	u32 tsflags;	/* of SO_TIMESTAMPING */
};

/*
 * The peer has closed, and nothing was sent since. TCP would take the data and get an RST for it;
 * so it is taken and dropped. Later sends fail, AMB-43.
 */
static bool tx_peer_has_closed(const struct smc_sock *smc)
{
	u8 conn_flags = READ_ONCE(smc->conn->ctl.rx_conn_flags);

	return !smc->sk->sk_err && !(smc->shutdown & SEND_SHUTDOWN) &&
	       (conn_flags & SMC_CDC_FINAL) == SMC_CDC_CLOSED;
}

/* Drop at most a ring full, so that a longer send() continues and gets the error. */
static int tx_drop(struct smc_sock *smc, struct msghdr *msg, size_t len)
{
	if (!len)
		return 0;
	len = min_t(size_t, len, smc->conn->ctl.snd_size);
	iov_iter_advance(&msg->msg_iter, len);
	/* the reader still gets the peer's data and the end of the stream */
	smc->is_done = true;
	smc_sock_set_err(smc, EPIPE);
	/* pairs with smp_rmb() in poll_sock(): the error is visible before the shutdown */
	smp_wmb();
	WRITE_ONCE(smc->shutdown, SHUTDOWN_MASK);
	smc_wake_error(smc->sk);
	return len;
}

/* Return: 0 if data can be sent, else a negative errno. */
static int tx_check(const struct tx_call *call)
{
	const struct smc_sock *smc = call->smc;
	const struct smc_conn *conn = call->conn;

	if (READ_ONCE(smc->sk->sk_err) || READ_ONCE(smc->shutdown) & SEND_SHUTDOWN)
		return -EPIPE;
	/*
	 * After C of the peer, data has no reader, AMB-43. An abort, or the loss of the link, is
	 * left to the close machine: until that runs, the connection exists, as with TCP's backlog.
	 * connect() to AF_UNSPEC may have dropped the connection.
	 */
	if (!conn->token || READ_ONCE(smc->conn) != conn ||
	    READ_ONCE(conn->ctl.rx_conn_flags) & SMC_CDC_CLOSED)
		return -EPIPE;
	return 0;
}

/*
 * Number of bytes that may be copied into the ring now: at most a message, so that the RNIC moves
 * it while the next one is copied.
 */
static u32 tx_room(struct smc_conn *conn)
{
	u32 lowat = smc_conn_lowat(conn);
	u32 room, backlog;

	spin_lock_bh(&conn->lock);
	room = smc_conn_room(conn);
	backlog = smc_conn_backlog(conn);
	spin_unlock_bh(&conn->lock);
	if (backlog >= lowat)
		return 0;
	return min3(room, max(lowat - backlog, SMC_TX_LOWAT_MIN), conn->ctl.tx_message);
}

/**
 * smc_tx_is_writable() - check whether poll() reports the connection as writable
 * @conn: the connection; it is or was open
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: as smc_conn_has_room().
 */
bool smc_tx_is_writable(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	return smc_conn_has_room(conn);
}

/**
 * smc_tx_want_room() - have SMC_EV_ROOM raised once there is room
 * @conn: the connection; the caller holds a reference
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: true if there is room already.
 */
bool smc_tx_want_room(struct smc_conn *conn)
{
	bool has_room;

	scoped_guard(spinlock_bh, &conn->lock) {
		has_room = smc_conn_has_room(conn);
		/* another caller may still wait */
		conn->wants_room |= !has_room;
	}
	if (!has_room && !READ_ONCE(conn->is_awaited))
		conn->carrier->await(conn);
	return has_room;
}

/* Wait for room, an error or the timeout. A completion that finds SOCK_NOSPACE wakes. */
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
		smc_conn_get(conn);
	}
	smc_stat_inc(sock_net(sk), SMC_STAT_TX_BLOCKED);
	add_wait_queue(wq, &wait);
	while (!rc) {
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		if (sk->sk_socket)
			set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
		/* any room is enough for this call, which is woken when there is more */
		smc_tx_want_room(conn);
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

/* Return: true if the caller permits that its pages are read after the call. */
static bool tx_is_zerocopy(const struct tx_call *call)
{
	const struct msghdr *msg = call->msg;

	if (msg->msg_flags & MSG_SPLICE_PAGES)
		return true;
	return msg->msg_flags & MSG_ZEROCOPY &&
	       (msg->msg_ubuf || sock_flag(call->smc->sk, SOCK_ZEROCOPY));
}

/* Return: true if pages of the call may be sent without a copy. Many small pieces cost more. */
static bool tx_may_use_pages(const struct tx_call *call)
{
	const struct iov_iter *iter = &call->msg->msg_iter;
	size_t len = iov_iter_count(iter);

	if (!tx_is_zerocopy(call) || call->is_urgent || len < SMC_PAGES_MIN ||
	    (!user_backed_iter(iter) && !iov_iter_is_bvec(iter)) ||
	    len / max(iter->nr_segs, 1UL) < SMC_PAGES_MIN / 4)
		return false;
	return call->conn->carrier->takes_pages(call->conn);
}

/* Take pages with up to @len bytes in place of a copy. Return: them, or NULL. */
static struct sk_buff *tx_take_pages(struct tx_call *call, size_t len)
{
	struct sock *sk = call->smc->sk;
	struct sk_buff *skb;

	if (!call->may_use_pages || len < SMC_PAGES_MIN)
		return NULL;
	skb = smc_pages_take(&call->msg->msg_iter, len, call->uarg, sk->sk_allocation);
	if (skb) {
		call->has_pages = true;
		smc_stat_add(sock_net(sk), SMC_STAT_TX_PAGE_BYTES, skb->len);
	}
	return skb;
}

/* Publish bytes, copied or in @skb, as part of the stream, and post what is due. */
static void tx_publish(struct tx_call *call, struct sk_buff *skb, size_t len)
{
	struct smc_conn *conn = call->conn;
	bool is_corked = call->msg->msg_flags & MSG_MORE ||
			 tcp_sk(conn->sk)->nonagle & TCP_NAGLE_CORK;

	WRITE_ONCE(conn->tx_jiffies, jiffies);
	spin_lock_bh(&conn->lock);
	if (!smc_cdc_unacked(&conn->ctl))
		conn->progress_jiffies = jiffies;
	if (skb)
		conn->carrier->give(conn, skb);
	conn->ctl.tx_prep += len;
	conn->tx_cork = is_corked;
	if (call->is_urgent)
		smc_cdc_open_urgent(&conn->ctl);
	/*
	 * Another task's urgent mark cannot move behind these bytes, which wait for the byte before
	 * it: that one becomes urgent, and its call marks another one.
	 */
	if (!call->is_urgent || !msg_data_left(call->msg))
		smc_cdc_end_urgent(&conn->ctl);
	if (!msg_data_left(call->msg))
		smc_errqueue_request(conn, call->tsflags);
	smc_conn_push_unlock(conn);
	if (is_corked)
		tx_arm_cork(call->smc);
}

/* A send() ended early: its last byte is the urgent one, or gets the stamp. */
static void tx_end_early(struct tx_call *call)
{
	struct smc_conn *conn = call->conn;

	spin_lock_bh(&conn->lock);
	if (call->is_urgent)
		smc_cdc_end_urgent(&conn->ctl);
	smc_errqueue_request(conn, call->tsflags);
	smc_conn_push_unlock(conn);
	smc_errqueue_report(conn);
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

static ssize_t tx_send_some(struct tx_call *call)
{
	struct smc_conn *conn = call->conn;
	struct sk_buff *skb;
	size_t room, n;
	int rc;

	rc = tx_check(call);
	if (rc)
		return rc;
	room = tx_room(conn);
	if (!room) {
		/* corked data makes room; what waits for a message goes when that is done */
		if (READ_ONCE(conn->tx_cork))
			smc_tx_flush(conn);
		return tx_wait(call);
	}
	room = min(room, msg_data_left(call->msg));
	skb = tx_take_pages(call, room);
	n = skb ? skb->len : conn->carrier->write(conn, room, &call->msg->msg_iter);
	if (!n)
		return conn->pair && !fault_in_iov_iter_readable(&call->msg->msg_iter, 1) ?
			-ENOMEM : -EFAULT;
	tx_publish(call, skb, n);
	return n;
}

static noinline void tx_trace_call(const struct smc_conn *conn, size_t len)
{
	guard(rcu)();
	trace_smc_tx_sendmsg(conn->sk, len, conn->carrier->name(conn));
}

static inline void tx_trace(const struct smc_conn *conn, size_t len)
{
	if (trace_smc_tx_sendmsg_enabled())
		tx_trace_call(conn, len);
}

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

/* @len: bytes that the caller wanted to send; @rc: result of the call */
static void tx_count(const struct tx_call *call, size_t len, ssize_t rc)
{
	const struct smc_conn *conn = call->conn;

	smc_stats_add(conn->stats,
		      rc > 0 ? smc_stat_size(SMC_STAT_TX_SIZE_8K, len) : SMC_STAT_TX_NONE, 1);
	if (unlikely(len > conn->ctl.snd_size))
		smc_stats_add(conn->stats, SMC_STAT_TX_OVER_RING, 1);
	if (unlikely(len > conn->peer_size))
		smc_stats_add(conn->stats, SMC_STAT_TX_OVER_PEER, 1);
	if (unlikely(call->is_urgent))
		smc_stats_add(conn->stats, SMC_STAT_URGENT, 1);
	if (unlikely(call->msg->msg_flags & MSG_SPLICE_PAGES))
		smc_stats_add(conn->stats, SMC_STAT_TX_SPLICED, 1);
}

/*
 * Return: true if nothing but room keeps a sender from going the short way; then the next room
 * raises SMC_EV_ROOM. @attempts is set.
 */
static bool tx_lacks_room(const struct sock *sk, s64 *attempts)
{
	const struct smc_sock *smc;
	struct smc_conn *conn;

	guard(rcu)();
	smc = smc_sk(sk);
	conn = smc ? READ_ONCE(smc->conn) : NULL;
	if (!conn)
		return false;
	*attempts = READ_ONCE(smc->attempts);
	return smc_sock_is_plain(smc, conn, TX_SENDS_LONG) && !smc_tx_want_room(conn);
}

/**
 * smc_tx_doze() - wait for room in the send ring, or anything unusual, without the socket lock
 * @sk: the sock; smc_tx_send_short() lacked room
 * @timeo: time limit in jiffies; 0: does not wait
 * @attempts: as for smc_rx_doze()
 *
 * As smc_rx_doze().
 *
 * Context: Process context, sleeps unless @timeo is 0. Expects the socket lock not held.
 * Return: what is left of @timeo.
 */
long smc_tx_doze(struct sock *sk, long timeo, s64 *attempts)
{
	DEFINE_WAIT_FUNC(wait, smc_wake_dozer);
	wait_queue_head_t *wq = sk_sleep(sk);

	if (!timeo || signal_pending(current))
		return timeo;
	smc_stat_inc(sock_net(sk), SMC_STAT_TX_BLOCKED);
	add_wait_queue(wq, &wait);
	sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
	set_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	/* pairs with smp_mb() in skwq_has_sleeper(): join the queue, then look */
	smp_mb();
	if (tx_lacks_room(sk, attempts))
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
	remove_wait_queue(wq, &wait);
	return timeo;
}

/**
 * smc_tx_send_short() - send() of plain data on a connection on which nothing is unusual
 * @sk: the sock, of any kind
 * @msg: data and flags
 * @len: bytes to send
 *
 * As smc_tx_sendmsg() where that would take all data at once.
 *
 * Context: Process context. Expects the socket lock held. Takes conn->lock, unless the data waits
 *	    for a message in flight.
 * Return: bytes taken; 0 to do it the long way, or -ENOBUFS if it could go this way with more room:
 *	   nothing has changed.
 */
int smc_tx_send_short(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_cdc_ctl *ctl;
	struct smc_conn *conn;
	u32 room, off, first, n;
	u64 prep;

	sock_owned_by_me(sk);
	conn = smc ? smc->conn : NULL;
	if (unlikely(!conn))
		return 0;
	ctl = &conn->ctl;
	prep = ctl->tx_prep;
	off = prep & (ctl->snd_size - 1);
	/* pairs with smp_store_release() of smc_cdc_take_cons(): what the reader did before */
	room = ctl->snd_size - (u32)(prep - smp_load_acquire(conn->tx_freed));
	/* the first bytes are those of smc_reads_tcp_queue() */
	if (unlikely(!prep || !smc_sock_is_plain(smc, conn, TX_SENDS_LONG) ||
		     READ_ONCE(sk->sk_tsflags) || tcp_sk(sk)->nonagle & TCP_NAGLE_CORK ||
		     smc_conn_lowat(conn) != U32_MAX || msg->msg_controllen ||
		     msg->msg_flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL) || !len ||
		     len > ctl->tx_message))
		return 0;
	if (unlikely(len > room))
		/* more may never be reported at once */
		return len <= ctl->snd_size / 4 ? -ENOBUFS : 0;
	if (conn->pair) {
		n = smc_pair_write(conn, len, &msg->msg_iter);
	} else {
		first = min_t(u32, len, ctl->snd_size - off);
		n = smc_buf_write(&conn->sndbuf, off, first, &msg->msg_iter);
		if (unlikely(n < len && n == first))
			n += smc_buf_write(&conn->sndbuf, 0, len - first, &msg->msg_iter);
	}
	if (unlikely(!n))
		return 0;
	WRITE_ONCE(conn->tx_jiffies, jiffies);
	if (prep == READ_ONCE(ctl->tx_fin))
		WRITE_ONCE(conn->progress_jiffies, jiffies);
	smc_stats_add(conn->stats, smc_stat_size(SMC_STAT_TX_SIZE_8K, len), 1);
	/* pairs with smp_mb() of a completion: the end of the data, then the count */
	smp_store_mb(ctl->tx_prep, prep + n);
	if (READ_ONCE(conn->tx_inflight) &&
	    (u32)(prep + n - READ_ONCE(ctl->tx_sent)) < conn->tx_enough) {
		if (unlikely(!READ_ONCE(conn->is_awaited)))
			conn->carrier->await(conn);
	} else {
		spin_lock_bh(&conn->lock);
		smc_conn_push_data(conn);
	}
	tx_trace(conn, n);
	return n;
}

/**
 * smc_tx_sendmsg() - send() on a connection
 * @smc: the socket, its connection open
 * @msg: data and flags
 * @len: bytes to send
 * @timeo: time limit in jiffies; 0: does not wait
 *
 * Returns when the data is in the send ring (TX-02), or its pages have a place there: large pieces
 * with MSG_ZEROCOPY and SO_ZEROCOPY, of sendfile() and splice(). The notice of MSG_ZEROCOPY follows
 * when the pages are free again, or reports a copy. After a fault during a copy the bytes before it
 * are sent. Blocking, timeout and signals as with TCP. With MSG_OOB the last byte is urgent
 * (URG-01); data behind it waits in the ring until the peer has passed it (URG-08). The first data
 * after the peer closed is taken and dropped, as with TCP, at most a ring full; later sends fail.
 * Stamps of SO_TIMESTAMPING follow.
 *
 * Context: Process context, sleeps unless @timeo is 0. Expects the socket lock held, which is
 *	 released while waiting.
 * Return: bytes taken, or if none: -EAGAIN, -EINTR, -ERESTARTSYS, -EFAULT; -ENOMEM
 *	in memory, as with a pipe; -EINVAL for a control
 *	message that TCP refuses; -ENOBUFS with too many unread notices of MSG_ZEROCOPY or locked
 *	pages; the socket's pending error; -EPIPE (with SIGPIPE unless MSG_NOSIGNAL) after the end
 *	of sending.
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
	call.may_use_pages = tx_may_use_pages(&call);
	rc = smc_errqueue_zerocopy_begin(sk, msg, len, call.may_use_pages ? len : 0, &uarg);
	call.uarg = msg->msg_ubuf ?: uarg;
	if (!rc)
		rc = tx_read_control(&call);
	if (!rc) {
		sk_clear_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		rc = tx_peer_has_closed(smc) ? tx_drop(smc, msg, len) : tx_send_all(&call, len);
	}
	smc_errqueue_zerocopy_end(uarg, rc > 0, !call.has_pages);
	tx_count(&call, len, rc);
	if (rc > 0)
		tx_trace(call.conn, rc);
	/* one that landed goes on in TCP */
	if (rc < 0 && smc->phase != SMC_PHASE_TCP) {
		rc = sk_stream_error(sk, msg->msg_flags, rc);
		smc->err = sk->sk_err;
	}
	if (call.is_held) {
		smc_conn_put(call.conn);
		smc_sock_put(smc);
	}
	return rc;
}
