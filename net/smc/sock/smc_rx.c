// SPDX-License-Identifier: GPL-2.0
/*
 * The receive path.
 *
 * Operation:
 *   The peer has written into our element; the cursors say how much of it is
 *   data. It is copied to the application, then the consumer cursor moves, and
 *   where that is due the peer is told (smc_tx_push() knows).
 *
 * Ownership:
 *   What lies between the consumer and the producer cursor belongs to the
 *   reader, who holds the socket lock; the peer writes elsewhere only. It is an
 *   enemy all the same: bytes may change while they are copied, and nothing
 *   here depends on what they are, but for the eye catcher.
 */
#include <linux/sched/signal.h>
#include <linux/tcp.h>
#include <linux/wait.h>
#include <net/busy_poll.h>

#include "smc_compat.h"
#include "group/smc_core.h"
#include "rdma/smc_net.h"
#include "sock/smc_rx.h"
#include "observe/smc_trace.h"
#include "sock/smc_tx.h"

/* One receive call on its way. */
struct rx_call {
	struct smc_sock *smc;
	struct smc_conn *conn;
	struct msghdr *msg;
	int flags;
	long timeo;
	size_t copied;
	u32 peeked;	/* bytes looked at and left where they are */
	bool saw_aside;	/* same, of a byte set aside */
	bool has_spun;	/* the time of SO_BUSY_POLL is over */
	bool is_held;	/* it has slept, and has references on @smc and @conn */
};

/* What a receive call finds. */
struct rx_view {
	u32 len;	/* bytes it may take now */
	bool is_aside;	/* before them, an urgent byte that is in line again */
	bool is_end;	/* the mark ends this call */
	bool is_eof;	/* nothing comes after these bytes */
};

static bool rx_is_inline(const struct smc_conn *conn)
{
	return sock_flag(conn->sk, SOCK_URGINLINE);
}

/* A byte was set aside, and then SO_OOBINLINE was set. */
static bool rx_has_aside(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return smc_urg_is_out_of_line(conn->ctl.rx_urg) && rx_is_inline(conn);
}

/*
 * How far the next read goes, as with TCP. In front of a mark it ends there. At the mark
 *   - a call that has bytes already ends;
 *   - one that has none goes on, if the urgent byte is in line, or is so again after it
 *     was set aside;
 *   - else a reader has stepped over it by now (rx_step_over_mark()), and one who only
 *     looks sees nothing.
 */
static void rx_look_mark(struct rx_call *call, struct rx_view *view)
{
	struct smc_conn *conn = call->conn;
	struct smc_cdc_ctl *ctl = &conn->ctl;

	lockdep_assert_held(&conn->lock);
	view->len = smc_cdc_read_limit(ctl, call->peeked);
	view->is_aside = !call->saw_aside && !call->peeked && rx_has_aside(conn);
	if (call->saw_aside || !smc_cdc_is_at_mark(ctl, call->peeked))
		return;
	if (call->copied)
		view->is_end = true;
	else if (!rx_is_inline(conn) && !smc_urg_is_out_of_line(ctl->rx_urg))
		view->len = 0;
}

static void rx_look(struct rx_call *call, struct rx_view *view)
{
	struct smc_conn *conn = call->conn;
	u8 conn_flags;

	memset(view, 0, sizeof(*view));
	/* Both in one hold: data and D may come in one message. */
	spin_lock_bh(&conn->lock);
	conn_flags = conn->ctl.rx_conn_flags;
	if (smc_conn_may_read(conn))
		rx_look_mark(call, view);
	spin_unlock_bh(&conn->lock);
	/*
	 * An abort is no end of the data: the close machine makes it an error,
	 * perhaps a little later, and that is what the reader is to be told.
	 */
	view->is_eof = !conn->token || (!(conn_flags & SMC_CDC_ABORT) &&
				      conn_flags & (SMC_CDC_DONE | SMC_CDC_CLOSED));
}

/*
 * A read that begins at the mark steps over it, and who did not ask for the
 * byte with MSG_OOB has missed it. The handler of SIGURG may mean to: its signal
 * comes first. All this is as with TCP. 0, or what ends the call.
 */
static int rx_step_over_mark(struct rx_call *call)
{
	struct smc_conn *conn = call->conn;
	bool is_interrupted, was_set = false;
	bool is_at_mark;

	if (call->copied || call->flags & MSG_PEEK || rx_is_inline(conn))
		return 0;
	spin_lock_bh(&conn->lock);
	is_at_mark = smc_cdc_is_at_mark(&conn->ctl, 0);
	is_interrupted = is_at_mark && signal_pending(current);
	if (is_at_mark && !is_interrupted) {
		was_set = smc_cdc_urg_take_out(&conn->ctl);
		smc_cdc_urg_pass(&conn->ctl);
	}
	spin_unlock_bh(&conn->lock);
	if (was_set)
		smc_tx_push(conn);
	if (!is_interrupted)
		return 0;
	return call->timeo ? sock_intr_errno(call->timeo) : -EAGAIN;
}

static bool rx_has_news(struct rx_call *call)
{
	struct rx_view view;

	rx_look(call, &view);
	return view.len || view.is_aside || view.is_end || view.is_eof;
}

/* What the device has written becomes visible to the CPU. */
static void rx_sync(struct smc_conn *conn, const struct smc_seg *seg)
{
	struct smc_link *link;

	rcu_read_lock();
	link = rcu_dereference(conn->link);
	if (link)
		smc_buf_sync_for_cpu(&conn->rmbe, &link->wr, link->index, seg->off, seg->len);
	rcu_read_unlock();
}

/* Copies @len bytes that are there to the caller; returns how many it was. */
static size_t rx_copy(struct rx_call *call, u32 len)
{
	struct smc_conn *conn = call->conn;
	struct smc_seg seg[SMC_RING_SEGS];
	struct smc_cursor from;
	size_t copied = 0;
	u32 i, nr;

	/*
	 * rx_cons is ours: it moves with the socket locked, or in completion context
	 * where nothing was there to be read (cdc_keep_urgent()).
	 */
	from = smc_cursor_advance(conn->ctl.rx_geom, conn->ctl.rx_cons, call->peeked);
	nr = smc_ring_segs(conn->ctl.rx_geom, from, len, seg);
	for (i = 0; i < nr; i++) {
		size_t n;

		rx_sync(conn, &seg[i]);
		n = copy_to_iter(conn->rmbe.cpu + seg[i].off, seg[i].len, &call->msg->msg_iter);
		copied += n;
		if (n < seg[i].len)
			break;
	}
	return copied;
}

/* The bytes are done with: their place may be written again. TX-09 */
static void rx_consume(struct smc_conn *conn, u32 len)
{
	bool is_due, is_last;

	spin_lock_bh(&conn->lock);
	smc_cdc_consume(&conn->ctl, len);
	if (!rx_is_inline(conn))
		smc_cdc_urg_take_out(&conn->ctl);
	conn->rx_total += len;
	is_due = smc_cdc_is_needed(&conn->ctl, 0);
	is_last = !smc_cdc_readable(&conn->ctl);
	spin_unlock_bh(&conn->lock);
	if (is_last)
		smc_conn_forget_unread(conn);
	sk_peek_offset_bwd(conn->sk, len);
	smc_stat_add(sock_net(conn->sk), SMC_STAT_RX_BYTES, len);
	if (is_due)
		smc_tx_push(conn);
}

/* One round of recvmsg with data at hand: bytes delivered, or why not. */
static ssize_t rx_take(struct rx_call *call, u32 len)
{
	struct smc_conn *conn = call->conn;
	size_t n = len;

	if (!smc_conn_check_eyecatcher(conn)) {
		conn->ops.event(conn, SMC_EV_INVALID);
		return -ECONNRESET;
	}
	if (!(call->flags & MSG_TRUNC))
		n = rx_copy(call, len);
	if (!n)
		return -EFAULT;
	if (call->flags & MSG_PEEK) {
		call->peeked += n;
		sk_peek_offset_fwd(conn->sk, n);
	} else {
		rx_consume(conn, n);
	}
	return n;
}

/* Same for one urgent byte that had left the ring and is in line again. */
static ssize_t rx_take_aside(struct rx_call *call)
{
	struct smc_conn *conn = call->conn;
	u8 byte = READ_ONCE(conn->ctl.rx_urg_byte);

	if (!(call->flags & MSG_TRUNC) && copy_to_iter(&byte, 1, &call->msg->msg_iter) != 1)
		return -EFAULT;
	if (call->flags & MSG_PEEK) {
		call->saw_aside = true;
		return 1;
	}
	spin_lock_bh(&conn->lock);
	smc_cdc_urg_pass(&conn->ctl);
	spin_unlock_bh(&conn->lock);
	return 1;
}

/* Has the connection ended, or is there something to look at? */
static bool rx_is_over(struct rx_call *call)
{
	return READ_ONCE(call->smc->sk->sk_err) ||
	       READ_ONCE(call->smc->shutdown) & RCV_SHUTDOWN || rx_has_news(call);
}

/*
 * SO_BUSY_POLL: does not sleep for so many microseconds, which spares the
 * wake-up. It is the connection that is looked at, not the completion queue:
 * that belongs to the core, whose one handler keeps messages in their order.
 * True if there is something.
 */
static bool rx_spin(struct rx_call *call)
{
	struct sock *sk = call->smc->sk;
	unsigned long start;
	bool is_over;

	if (call->has_spun || !sk_can_busy_loop(sk))
		return false;
	call->has_spun = true;
	start = busy_loop_current_time();
	release_sock(sk);
	do {
		cpu_relax();
		cond_resched();
		is_over = rx_is_over(call);
	} while (!is_over && sk_can_busy_loop(sk) && !sk_busy_loop_timeout(sk, start));
	lock_sock(sk);
	return is_over;
}

/* The call is about to sleep: others may end the connection, and drop it. */
static void rx_hold(struct rx_call *call)
{
	if (call->is_held)
		return;
	call->is_held = true;
	smc_sock_get(call->smc);
	refcount_inc(&call->conn->holders);
}

static void rx_unhold(struct rx_call *call)
{
	if (!call->is_held)
		return;
	smc_conn_drop(call->conn);
	smc_sock_put(call->smc);
}

/* Has connect() to AF_UNSPEC dissolved the connection meanwhile? */
static bool rx_is_left(const struct rx_call *call)
{
	return smc_conn_sock(call->conn) != call->smc;
}

/* What a call ends with whose connection was dissolved. */
static int rx_leave(const struct rx_call *call)
{
	return call->copied ? 1 : -EPIPE;
}

/*
 * Nothing is there. Waits for more: 0 to look again; 1 if the call ends with
 * what it has; an errno if it has nothing.
 */
static int rx_wait(struct rx_call *call, bool is_eof)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = call->smc->sk;
	wait_queue_head_t *wq = sk_sleep(sk);
	bool has_some = call->copied;
	bool is_over;

	/* an abort that came behind the end */
	if (call->smc->is_done)
		return 1;
	if (sk->sk_err)
		return has_some ? 1 : smc_sock_take_err(call->smc);
	if (is_eof || call->smc->shutdown & RCV_SHUTDOWN)
		return 1;
	if (!call->timeo)
		return has_some ? 1 : -EAGAIN;
	if (signal_pending(current))
		return has_some ? 1 : sock_intr_errno(call->timeo);
	rx_hold(call);
	is_over = rx_spin(call);
	if (rx_is_left(call))
		return rx_leave(call);
	if (is_over)
		return 0;

	add_wait_queue(wq, &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	sk_wait_event(sk, &call->timeo, rx_is_over(call), &wait);
	remove_wait_queue(wq, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	return rx_is_left(call) ? rx_leave(call) : 0;
}

/*
 * No more can come before some of the @len bytes that are here are read: the ring is full,
 * or is for all that the writer knows and it has more (B), or it waits for an urgent byte
 * to be passed (URG-07). Deployed writers go on when they know of a tenth.
 */
static bool rx_is_stuck(const struct smc_cdc_ctl *ctl, u32 len)
{
	u32 window = smc_ring_window(ctl->rx_geom, ctl->rx_prod, ctl->rx_cons_sent);
	u32 space = smc_geom_space(ctl->rx_geom);

	return smc_urg_is_in_stream(ctl->rx_urg) || len >= space ||
	       (ctl->rx_prod_flags & SMC_CDC_BLOCKED && window < space / 10);
}

/* Who only looks does not make room for what a call is to wait for. */
static bool rx_has_seen_all(struct rx_call *call)
{
	struct smc_conn *conn = call->conn;
	bool is_stuck;

	if (!(call->flags & MSG_PEEK) || !call->copied)
		return false;
	spin_lock_bh(&conn->lock);
	is_stuck = smc_conn_may_read(conn) &&
		   rx_is_stuck(&conn->ctl, smc_cdc_readable(&conn->ctl));
	spin_unlock_bh(&conn->lock);
	return is_stuck;
}

static int rx_loop(struct rx_call *call, size_t len, size_t target)
{
	struct smc_cdc_ctl *ctl = &call->conn->ctl;
	ssize_t rc = 0;

	/* As with TCP, a call for no bytes waits for some all the same. */
	for (;;) {
		struct rx_view view;

		if (READ_ONCE(ctl->rx_urg) != SMC_URG_NONE)
			rc = rx_step_over_mark(call);
		if (rc)
			break;
		rx_look(call, &view);
		if (view.is_end)
			break;
		if (!view.len && !view.is_aside) {
			if (call->copied >= target || rx_has_seen_all(call))
				break;
			rc = rx_wait(call, view.is_eof);
			if (rc)
				break;
			continue;
		}
		if (call->copied == len)
			break;
		if (view.is_aside)
			rc = rx_take_aside(call);
		else
			rc = rx_take(call, min_t(size_t, view.len, len - call->copied));
		if (rc < 0)
			break;
		call->copied += rc;
		rc = 0;
		if (call->copied == len)
			break;
	}
	return call->copied ? call->copied : min_t(ssize_t, rc, 0);
}

/* recv() with MSG_OOB never waits, as with TCP. */
static int rx_recv_urgent(struct smc_sock *smc, struct msghdr *msg, size_t len, int flags)
{
	struct smc_conn *conn = smc->conn;
	bool is_eof;
	u8 byte;
	int rc;

	if (rx_is_inline(conn))
		return -EINVAL;
	spin_lock_bh(&conn->lock);
	rc = smc_cdc_urg_read(&conn->ctl, flags & MSG_PEEK);
	is_eof = conn->ctl.rx_conn_flags || smc->shutdown & RCV_SHUTDOWN;
	spin_unlock_bh(&conn->lock);
	if (rc == -EAGAIN && is_eof)
		return 0;
	if (rc < 0)
		return rc;

	byte = rc;
	msg->msg_flags |= MSG_OOB;
	if (!len)
		msg->msg_flags |= MSG_TRUNC;
	if (!len || flags & MSG_TRUNC || copy_to_iter(&byte, 1, &msg->msg_iter) == 1)
		return !!len;
	return -EFAULT;
}

/*
 * When the last of the data came, unless the option was set after that. The core puts
 * stamps of packets; without memory for one there is no stamp.
 */
static void rx_put_stamps(const struct smc_conn *conn, struct msghdr *msg)
{
	ktime_t stamp = READ_ONCE(conn->rx_stamp);
	struct sk_buff *skb;

	if (!stamp)
		return;
	skb = alloc_skb(0, GFP_KERNEL);
	if (!skb)
		return;
	skb->tstamp = stamp;
	__sock_recv_timestamp(msg, conn->sk, skb);
	kfree_skb(skb);
}

/* What comes along with @len bytes, for those who asked for it. */
static void rx_put_extras(struct smc_conn *conn, struct msghdr *msg, int len)
{
	bool wants_inq = tcp_sk(conn->sk)->recvmsg_inq;
	int inq;

	if (len)
		rx_put_stamps(conn, msg);
	if (!wants_inq && !msg->msg_get_inq)
		return;
	inq = smc_rx_inq(conn);
	/* There is an end to be read, too. */
	if (!inq && READ_ONCE(conn->ctl.rx_conn_flags))
		inq = 1;
	msg->msg_inq = inq;
	if (wants_inq)
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(inq), &inq);
}

static void rx_trace(const struct smc_conn *conn, size_t len)
{
	struct smc_link *link;

	if (!trace_smc_rx_recvmsg_enabled())
		return;
	rcu_read_lock();
	link = rcu_dereference(conn->link);
	trace_smc_rx_recvmsg(conn->sk, len, link ? link->wr.dev_name : "");
	rcu_read_unlock();
}

/**
 * smc_rx_recvmsg() - recv() on a connection
 * @smc: the socket; its connection is or was open
 * @msg: where to copy
 * @len: bytes wanted
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_TRUNC, MSG_OOB
 * @timeo: jiffies that it may wait; 0: it does not
 *
 * Buffered data is delivered before the end of the stream is. SO_RCVLOWAT,
 * SO_PEEK_OFF, blocking, timeout and signals as with TCP; so is urgent data: a
 * read ends in front of the mark, and unless SO_OOBINLINE is set the byte there
 * is had with MSG_OOB only. What could not be copied is not consumed. RFC 7609
 * 4.7.1 (TX-09), 4.4.1 (RMB-16: the eye catcher is looked at on each access),
 * 4.5.1 (WIN-02), 4.7.5 (URG-06), 4.8.1 (CLOSE-17), Appendix B (API-11).
 * Control messages: SO_TIMESTAMP, SO_TIMESTAMPNS, SO_TIMESTAMPING, TCP_INQ.
 * With SO_BUSY_POLL it does not sleep at once.
 *
 * Context: Process context, sleeps unless @timeo is 0. Expects the socket lock
 *	    held, which is released while waiting.
 * Return: bytes delivered, 0 at the end of the stream, or if there are none:
 *	   -EAGAIN, -EINTR, -ERESTARTSYS, -EFAULT; the socket's pending error;
 *	   -EPIPE if the connection was dissolved meanwhile;
 *	   -ECONNRESET if the eye catcher is damaged. With MSG_OOB: 1; -EAGAIN if
 *	   the urgent byte is under way; -EINVAL if there is none, it was read, or
 *	   it is in line; -EFAULT.
 */
int smc_rx_recvmsg(struct smc_sock *smc, struct msghdr *msg, size_t len, int flags, long timeo)
{
	struct sock *sk = smc->sk;
	struct rx_call call = {
		.smc = smc,
		.conn = smc->conn,
		.msg = msg,
		.flags = flags,
		.timeo = timeo,
		.peeked = max(sk_peek_offset(sk, flags), 0),
	};
	int rc;

	sock_owned_by_me(smc->sk);
	if (flags & MSG_OOB)
		return rx_recv_urgent(smc, msg, len, flags);
	rc = rx_loop(&call, len, sock_rcvlowat(sk, flags & MSG_WAITALL, len));
	if (rc > 0)
		rx_trace(call.conn, rc);
	if (rc >= 0)
		rx_put_extras(call.conn, msg, rc);
	rx_unhold(&call);
	return rc;
}

/**
 * smc_rx_is_readable() - would poll() say that there is data
 * @conn: the connection; it is or was open; the caller holds a reference on its socket
 *
 * At least SO_RCVLOWAT bytes, or fewer where no more can come before some are
 * read.
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: true if it would.
 */
bool smc_rx_is_readable(struct smc_conn *conn)
{
	struct smc_cdc_ctl *ctl = &conn->ctl;
	u32 target = sock_rcvlowat(conn->sk, 0, INT_MAX);
	bool is_stuck = false;
	u32 len = 0;

	spin_lock_bh(&conn->lock);
	if (smc_conn_may_read(conn)) {
		len = smc_cdc_readable(ctl) + rx_has_aside(conn);
		is_stuck = rx_is_stuck(ctl, len);
	}
	spin_unlock_bh(&conn->lock);
	return len && (len >= target || is_stuck);
}

/**
 * smc_rx_has_urgent() - would poll() speak of urgent data
 * @conn: the connection
 *
 * It does from when the peer has announced the byte until it was read or
 * passed. RFC 7609 4.7.5 (URG-04).
 *
 * Context: Any context.
 * Return: true if it would.
 */
bool smc_rx_has_urgent(const struct smc_conn *conn)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;

	return smc_urg_is_unread(READ_ONCE(ctl->rx_urg)) ||
	       smc_cdc_urg_is_pending(READ_ONCE(ctl->rx_prod_flags));
}

/**
 * smc_rx_is_at_mark() - SIOCATMARK
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: true if the reader stands at the urgent byte, or where it was.
 */
bool smc_rx_is_at_mark(struct smc_conn *conn)
{
	bool is_at_mark = false;

	spin_lock_bh(&conn->lock);
	if (smc_conn_may_read(conn))
		is_at_mark = smc_cdc_is_at_mark(&conn->ctl, 0);
	spin_unlock_bh(&conn->lock);
	return is_at_mark;
}

/**
 * smc_rx_inq() - SIOCINQ, alias FIONREAD
 * @conn: the connection
 *
 * As with TCP, an urgent byte out of line ends the count.
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: bytes.
 */
u32 smc_rx_inq(struct smc_conn *conn)
{
	struct smc_cdc_ctl *ctl = &conn->ctl;
	u32 len = 0;

	spin_lock_bh(&conn->lock);
	if (smc_conn_may_read(conn)) {
		if (rx_is_inline(conn))
			len = smc_cdc_readable(ctl) + rx_has_aside(conn);
		else if (!smc_cdc_is_at_mark(ctl, 0))
			len = smc_cdc_read_limit(ctl, 0);
	}
	spin_unlock_bh(&conn->lock);
	return len;
}
