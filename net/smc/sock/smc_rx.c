// SPDX-License-Identifier: GPL-2.0
/*
 * The receive path.
 *
 * Operation: the peer writes into our element; the cursors delimit the data. It is copied to the
 * application, the consumer cursor advances, and smc_tx_push() sends an update where one is due.
 *
 * The short way: where conn->attn has none of RX_READS_LONG, smc_rx_recv_short() does so without
 * conn->lock. smc_rx_doze() waits for data before the call takes the socket lock.
 *
 * Ownership: the bytes between consumer and producer cursor belong to the reader, who holds the
 * socket lock. A malicious peer may still change them during the copy: nothing depends on their
 * content but the eye catcher.
 */
#include <linux/sched/signal.h>
#include <linux/tcp.h>
#include <linux/wait.h>
#include <net/busy_poll.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "group/smc_carrier.h"
#include "sock/smc_rx.h"
#include "sock/smc_tx.h"
#include "sock/smc_wake.h"
#include "control/smc_trace.h"

/* One receive call. */
struct rx_call {
	struct smc_sock *smc;
	struct smc_conn *conn;
	struct msghdr *msg;
	int flags;
	long timeo;
	size_t copied;
	u32 peeked;	/* bytes peeked at, still unread */
	bool has_peeked_aside;	/* a byte set aside was peeked at */
	unsigned long spin_start;
	bool has_spun;	/* the time of SO_BUSY_POLL is over */
	bool is_held;	/* slept: holds references on @smc and @conn */
	bool has_more;	/* more was readable than the call had room for */
	bool was_full;	/* the peer could not write before this call */
};

/* What a receive call can take. */
struct rx_view {
	u32 len;	/* readable bytes */
	bool is_aside;	/* preceded by a set-aside urgent byte that is in line again */
	bool is_end;	/* the mark ends this call */
	bool is_eof;	/* no data follows these bytes */
};

static bool rx_is_inline(const struct smc_conn *conn)
{
	return sock_flag(conn->sk, SOCK_URGINLINE);
}

static bool rx_has_aside(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return smc_urg_is_out_of_line(conn->ctl.rx_urg) && rx_is_inline(conn);
}

/*
 * Limit a read by the urgent mark, as with TCP. It ends before the mark. At the mark
 * - a call with data ends;
 * - a call without data continues if the urgent byte is in line, also again after it was set aside;
 * - otherwise a reader has stepped over it (rx_step_over_mark()), and MSG_PEEK gets nothing.
 */
static void rx_view_mark(struct rx_call *call, struct rx_view *view)
{
	struct smc_conn *conn = call->conn;
	struct smc_cdc_ctl *ctl = &conn->ctl;

	lockdep_assert_held(&conn->lock);
	view->len = smc_cdc_read_limit(ctl, call->peeked);
	view->is_aside = !call->has_peeked_aside && !call->peeked && rx_has_aside(conn);
	if (call->has_peeked_aside || !smc_cdc_is_at_mark(ctl, call->peeked))
		return;
	if (call->copied)
		view->is_end = true;
	else if (!rx_is_inline(conn) && !smc_urg_is_out_of_line(ctl->rx_urg))
		view->len = 0;
}

/* An abort is not the end of the data: the close machine reports it as an error, perhaps later. */
static bool rx_is_eof(const struct smc_conn *conn)
{
	u8 conn_flags = READ_ONCE(conn->ctl.rx_conn_flags);

	return !conn->token || (!(conn_flags & SMC_CDC_ABORT) &&
				conn_flags & (SMC_CDC_DONE | SMC_CDC_CLOSED));
}

/*
 * Return: true if there is unread data. Reads the positions without conn->lock: "false" may be out
 * of date, but then the wake-up that follows each message is still to come.
 */
static bool rx_has_data(const struct smc_conn *conn)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;

	return !READ_ONCE(conn->is_purged) &&
	       READ_ONCE(ctl->rx_prod) != READ_ONCE(ctl->rx_cons);
}

/* Return: true if any unread byte can be taken: there is no urgent mark, and none was peeked at. */
static bool rx_is_plain(const struct rx_call *call)
{
	return READ_ONCE(call->conn->ctl.rx_urg) == SMC_URG_NONE && !call->peeked;
}

static void rx_get_view(struct rx_call *call, struct rx_view *view)
{
	struct smc_conn *conn = call->conn;

	memset(view, 0, sizeof(*view));
	if (rx_is_plain(call) && !rx_has_data(conn) && !rx_is_eof(conn))
		return;
	/* one hold for both: data and D may come in one message */
	spin_lock_bh(&conn->lock);
	view->is_eof = rx_is_eof(conn);
	if (smc_conn_may_read(conn))
		rx_view_mark(call, view);
	spin_unlock_bh(&conn->lock);
}

/*
 * As with TCP, a read that starts at the mark steps over it and loses the byte. The handler of
 * SIGURG may read it first, so the signal interrupts the call. Return: 0, or the errno.
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
	smc_conn_unlock(conn);
	if (was_set)
		smc_tx_push(conn);
	if (!is_interrupted)
		return 0;
	return call->timeo ? sock_intr_errno(call->timeo) : -EAGAIN;
}

static bool rx_is_ready(struct rx_call *call)
{
	struct rx_view view;

	if (rx_is_plain(call))
		return rx_has_data(call->conn) || rx_is_eof(call->conn);
	rx_get_view(call, &view);
	return view.len || view.is_aside || view.is_end || view.is_eof;
}

/* Give the space of the bytes back to the peer, TX-09. */
static void rx_consume(struct smc_conn *conn, u32 len)
{
	bool is_due, is_last;

	if (conn->pair)
		smc_pair_pass(conn, conn->ctl.rx_cons + len);
	spin_lock_bh(&conn->lock);
	smc_cdc_consume(&conn->ctl, len);
	if (!rx_is_inline(conn))
		smc_cdc_urg_take_out(&conn->ctl);
	is_due = smc_cdc_is_needed(&conn->ctl);
	is_last = !smc_cdc_readable(&conn->ctl);
	smc_conn_unlock(conn);
	if (is_last)
		smc_conn_forget_unread(conn);
	sk_peek_offset_bwd(conn->sk, len);
	smc_stats_add(conn->stats, SMC_STAT_RX_BYTES, len);
	if (is_due)
		smc_tx_push(conn);
}

/* One round of recvmsg with data. Return: bytes delivered, or a negative errno. */
static ssize_t rx_take(struct rx_call *call, u32 len)
{
	struct smc_conn *conn = call->conn;
	size_t n = len;

	if (!smc_conn_check_eyecatcher(conn)) {
		conn->ops->event(conn, SMC_EV_INVALID);
		return -ECONNRESET;
	}
	if (!(call->flags & MSG_TRUNC))
		n = conn->carrier->read(conn, conn->ctl.rx_cons + call->peeked, len,
					&call->msg->msg_iter);
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

static ssize_t rx_take_aside(struct rx_call *call)
{
	struct smc_conn *conn = call->conn;
	u8 byte = READ_ONCE(conn->ctl.rx_urg_byte);

	if (!(call->flags & MSG_TRUNC) && copy_to_iter(&byte, 1, &call->msg->msg_iter) != 1)
		return -EFAULT;
	if (call->flags & MSG_PEEK) {
		call->has_peeked_aside = true;
		return 1;
	}
	spin_lock_bh(&conn->lock);
	smc_cdc_urg_pass(&conn->ctl);
	smc_conn_unlock(conn);
	return 1;
}

/* Return: true if there is data, an error or the end of the stream. */
static bool rx_is_over(struct rx_call *call)
{
	return READ_ONCE(call->smc->sk->sk_err) ||
	       READ_ONCE(call->smc->shutdown) & RCV_SHUTDOWN || rx_is_ready(call);
}

static bool rx_has_spun(void *arg)
{
	struct rx_call *call = arg;
	struct sock *sk = call->smc->sk;

	cpu_relax();
	return rx_is_over(call) || !sk_can_busy_loop(sk) ||
	       sk_busy_loop_timeout(sk, call->spin_start);
}

/*
 * SO_BUSY_POLL: handle the completions of the link for a time instead of sleeping, or look whether
 * another task did. Return: true if there is something to read or report.
 */
static bool rx_spin(struct rx_call *call)
{
	struct sock *sk = call->smc->sk;

	if (call->has_spun || !sk_can_busy_loop(sk))
		return false;
	call->has_spun = true;
	call->spin_start = busy_loop_current_time();
	release_sock(sk);
	do {
		smc_tx_poll(call->conn, rx_has_spun, call);
		cond_resched();
	} while (!rx_has_spun(call));
	lock_sock(sk);
	return rx_is_over(call);
}

/* Others may end and drop the connection during a sleep. */
static void rx_hold(struct rx_call *call)
{
	if (call->is_held)
		return;
	call->is_held = true;
	smc_sock_get(call->smc);
	smc_conn_get(call->conn);
}

static void rx_unhold(struct rx_call *call)
{
	if (!call->is_held)
		return;
	smc_conn_put(call->conn);
	smc_sock_put(call->smc);
}

/* Return: true if connect() to AF_UNSPEC dropped the connection, or it landed. */
static bool rx_is_dropped(const struct rx_call *call)
{
	return smc_conn_sock(call->conn) != call->smc;
}

static int rx_end_dropped(const struct rx_call *call)
{
	return call->copied ? 1 : -EPIPE;
}

/*
 * Wait for data. Return: 0 to retry; 1 if the call ends with what it has; an errno if it has none.
 */
static int rx_wait(struct rx_call *call, bool is_eof)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = call->smc->sk;
	wait_queue_head_t *wq = sk_sleep(sk);
	bool has_some = call->copied;
	bool is_over;

	/* an abort after the end of the stream is ignored */
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
	if (rx_is_dropped(call))
		return rx_end_dropped(call);
	if (is_over)
		return 0;

	add_wait_queue(wq, &wait);
	/* pairs with smp_mb() in skwq_has_sleeper(): join the queue, then read the cursors */
	smp_mb();
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	sk_wait_event(sk, &call->timeo, rx_is_over(call), &wait);
	remove_wait_queue(wq, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	return rx_is_dropped(call) ? rx_end_dropped(call) : 0;
}

/*
 * No more data can come before some of the @len bytes are read: the ring is full, or the writer is
 * blocked (B) and sees less than the tenth at which deployed writers resume, or it waits until an
 * urgent byte is passed (URG-07). In memory a writer may wait for half of the ring.
 */
static bool rx_is_stuck(const struct smc_conn *conn, u32 len)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;
	u32 space = smc_edge_space(&ctl->rx_edge);
	u32 window = space - (u32)(READ_ONCE(ctl->rx_prod) - ctl->rx_cons_sent);

	if (smc_urg_is_in_stream(ctl->rx_urg) || len >= space)
		return true;
	if (conn->pair)
		return window < space / 2;
	return ctl->rx_prod_flags & SMC_CDC_BLOCKED && window < space / 10;
}

/* MSG_PEEK frees no space, so it must not wait for data that needs some. */
static bool rx_has_seen_all(struct rx_call *call)
{
	struct smc_conn *conn = call->conn;
	bool is_stuck;

	if (!(call->flags & MSG_PEEK) || !call->copied)
		return false;
	spin_lock_bh(&conn->lock);
	is_stuck = smc_conn_may_read(conn) &&
		   rx_is_stuck(conn, smc_cdc_readable(&conn->ctl));
	spin_unlock_bh(&conn->lock);
	return is_stuck;
}

static int rx_loop(struct rx_call *call, size_t len, size_t target)
{
	struct smc_cdc_ctl *ctl = &call->conn->ctl;
	ssize_t rc = 0;

	/* as with TCP, a call for no bytes waits for data, too */
	for (;;) {
		struct rx_view view;

		if (READ_ONCE(ctl->rx_urg) != SMC_URG_NONE)
			rc = rx_step_over_mark(call);
		if (rc)
			break;
		rx_get_view(call, &view);
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
		call->has_more |= view.len > len;
		call->was_full |= view.len >= smc_edge_space(&ctl->rx_edge);
		if (rc < 0)
			break;
		call->copied += rc;
		rc = 0;
		if (call->copied == len)
			break;
	}
	return call->copied ? call->copied : min_t(ssize_t, rc, 0);
}

static void rx_count(const struct rx_call *call, int rc)
{
	struct smc_stats_cpu __percpu *stats = call->conn->stats;

	smc_stats_add(stats, rc > 0 ? smc_stat_size(SMC_STAT_RX_SIZE_8K, rc) : SMC_STAT_RX_NONE, 1);
	if (call->has_more)
		smc_stats_add(stats, SMC_STAT_RX_SHORT, 1);
	if (call->was_full)
		smc_stats_add(stats, SMC_STAT_RX_FULL, 1);
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
	smc_conn_unlock(conn);
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
 * Report when the last data came, unless the option was set later. Without memory there is no
 * stamp.
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

/* Add the control messages that the application requested. */
static void rx_put_extras(struct smc_conn *conn, struct msghdr *msg, int len)
{
	bool wants_inq = tcp_sk(conn->sk)->recvmsg_inq;
	int inq;

	if (len)
		rx_put_stamps(conn, msg);
	if (!wants_inq && !msg->msg_get_inq)
		return;
	inq = smc_rx_inq(conn);
	/* the end of the stream counts, too */
	if (!inq && READ_ONCE(conn->ctl.rx_conn_flags))
		inq = 1;
	msg->msg_inq = inq;
	if (wants_inq)
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(inq), &inq);
}

static noinline void rx_trace_call(const struct smc_conn *conn, size_t len)
{
	guard(rcu)();
	trace_smc_rx_recvmsg(conn->sk, len, conn->carrier->name(conn));
}

static inline void rx_trace(const struct smc_conn *conn, size_t len)
{
	if (trace_smc_rx_recvmsg_enabled())
		rx_trace_call(conn, len);
}

/* What the short way of receiving cannot serve */
#define RX_READS_LONG	(SMC_ATTN_PHASE | SMC_ATTN_END | SMC_ATTN_URG | SMC_ATTN_MEMORY)

/* Return: true if there may be nothing to read: a look before the one that counts. */
static bool rx_is_empty(const struct sock *sk)
{
	const struct smc_conn *conn;
	const struct smc_sock *smc;

	guard(rcu)();
	smc = smc_sk(sk);
	conn = smc ? READ_ONCE(smc->conn) : NULL;
	return conn && READ_ONCE(conn->ctl.rx_prod) == READ_ONCE(conn->ctl.rx_cons);
}

/* Return: true if there is nothing to read, and nothing else to tell a reader; @attempts is set. */
static bool rx_is_idle(const struct sock *sk, s64 *attempts)
{
	const struct smc_sock *smc;
	const struct smc_conn *conn;

	guard(rcu)();
	smc = smc_sk(sk);
	conn = smc ? READ_ONCE(smc->conn) : NULL;
	if (!conn)
		return false;
	*attempts = READ_ONCE(smc->attempts);
	return READ_ONCE(conn->ctl.rx_prod) == READ_ONCE(conn->ctl.rx_cons) &&
	       smc_sock_is_plain(smc, conn, RX_READS_LONG);
}

/**
 * smc_rx_doze() - wait for a connection to have data, or anything unusual, without the socket lock
 * @sk: the sock, of any kind
 * @timeo: time limit in jiffies; 0: does not wait
 * @attempts: &smc_sock.attempts before a sleep; otherwise not changed
 *
 * A call that has to wait anyway need not take the lock before. It looks again afterwards; the
 * connection may be another one then.
 *
 * Context: Process context, sleeps unless @timeo is 0. Expects the socket lock not held.
 * Return: what is left of @timeo.
 */
long smc_rx_doze(struct sock *sk, long timeo, s64 *attempts)
{
	DEFINE_WAIT_FUNC(wait, smc_wake_dozer);
	wait_queue_head_t *wq = sk_sleep(sk);

	if (!timeo || !rx_is_empty(sk) || sk_can_busy_loop(sk) || signal_pending(current))
		return timeo;
	add_wait_queue(wq, &wait);
	/* pairs with smp_mb() in skwq_has_sleeper(): join the queue, then look */
	smp_mb();
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	if (rx_is_idle(sk, attempts))
		timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, timeo);
	remove_wait_queue(wq, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	return timeo;
}

/* An urgent byte was announced during the copy, which may have passed it. */
static void rx_settle(struct smc_conn *conn)
{
	guard(smc_conn)(conn);
	smc_cdc_urg_settle(&conn->ctl);
	if (!rx_is_inline(conn))
		smc_cdc_urg_take_out(&conn->ctl);
}

/**
 * smc_rx_recv_short() - recv() of plain data on a connection on which nothing is unusual
 * @sk: the sock, of any kind
 * @msg: where to copy
 * @len: bytes wanted
 *
 * As smc_rx_recvmsg() where that would not wait.
 *
 * Context: Process context. Expects the socket lock held. Takes conn->lock only if the peer is to
 *	    learn what was read.
 * Return: bytes delivered; 0 to do it the long way: nothing has changed.
 */
int smc_rx_recv_short(struct sock *sk, struct msghdr *msg, size_t len)
{
	const struct smc_sock *smc = smc_sk(sk);
	struct smc_cdc_ctl *ctl;
	struct smc_conn *conn;
	struct smc_stats_cpu __percpu *stats;
	u32 have, want, size, off, first, n;

	sock_owned_by_me(sk);
	conn = smc ? smc->conn : NULL;
	if (unlikely(!conn))
		return 0;
	ctl = &conn->ctl;
	/* pairs with smp_store_release(): the data is there, and the word of what is unusual */
	have = smp_load_acquire(&ctl->rx_prod) - ctl->rx_cons;
	want = min_t(size_t, have, len);
	if (unlikely(!want || !smc_sock_is_plain(smc, conn, RX_READS_LONG) ||
		     READ_ONCE(sk->sk_rcvlowat) > 1 || READ_ONCE(sk->sk_peek_off) >= 0 ||
		     sock_flag(sk, SOCK_RCVTSTAMP) || READ_ONCE(sk->sk_tsflags) ||
		     tcp_sk(sk)->recvmsg_inq || msg->msg_get_inq))
		return 0;
	size = ctl->rx_edge.size;
	if (conn->pair) {
		n = smc_pair_read(conn, ctl->rx_cons, want, &msg->msg_iter);
	} else {
		/* without an eye catcher, which SMC_ATTN_MEMORY reports */
		off = ctl->rx_cons & (size - 1);
		first = min(want, size - off);
		n = smc_buf_read(&conn->rmbe, off, first, &msg->msg_iter);
		if (unlikely(n < want && n == first))
			n += smc_buf_read(&conn->rmbe, 0, want - first, &msg->msg_iter);
	}
	if (unlikely(!n))
		return 0;
	if (conn->pair)
		smc_pair_pass(conn, ctl->rx_cons + n);
	/* pairs with smp_mb() of a message: what was read, then what is awaited */
	smp_store_mb(ctl->rx_cons, ctl->rx_cons + n);
	stats = conn->stats;
	smc_stats_add(stats, SMC_STAT_RX_BYTES, n);
	smc_stats_add(stats, smc_stat_size(SMC_STAT_RX_SIZE_8K, n), 1);
	if (unlikely(have > len))
		smc_stats_add(stats, SMC_STAT_RX_SHORT, 1);
	if (unlikely(have >= size))
		smc_stats_add(stats, SMC_STAT_RX_FULL, 1);
	if (unlikely(READ_ONCE(conn->attn) & SMC_ATTN_URG))
		rx_settle(conn);
	if (unlikely(READ_ONCE(conn->attn) & SMC_ATTN_PEER || smc_cdc_may_owe_update(ctl)))
		smc_tx_push(conn);
	rx_trace(conn, n);
	return n;
}

/**
 * smc_rx_recvmsg() - recv() on a connection
 * @smc: the socket; its connection is or was open
 * @msg: where to copy
 * @len: bytes wanted
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_TRUNC, MSG_OOB
 * @timeo: time limit in jiffies; 0: does not wait
 *
 * Buffered data is delivered before the end of the stream. SO_RCVLOWAT, SO_PEEK_OFF, SO_BUSY_POLL,
 * blocking, timeout and signals as with TCP; so is urgent data: a read ends before the mark, and
 * without SO_OOBINLINE that byte is read with MSG_OOB only. Bytes that could not be copied are not
 * consumed. RFC 7609 4.7.1 (TX-09), 4.4.1 (RMB-16: the eye catcher is checked on each access),
 * 4.5.1 (WIN-02), 4.7.5 (URG-06), 4.8.1 (CLOSE-17), Appendix B (API-11). Control messages:
 * SO_TIMESTAMP, SO_TIMESTAMPNS, SO_TIMESTAMPING, TCP_INQ.
 *
 * Context: Process context, sleeps unless @timeo is 0. Expects the socket lock held, which is
 *	 released while waiting.
 * Return: bytes delivered, 0 at the end of the stream, or if there are none: -EAGAIN, -EINTR,
 *	-ERESTARTSYS, -EFAULT; the socket's pending error; -EPIPE if the connection was dropped
 *	meanwhile; -ECONNRESET if the eye catcher is damaged. With MSG_OOB: 1; -EAGAIN if the
 *	urgent byte is announced only; -EINVAL if there is none, it was read, or it is in line;
 *	-EFAULT.
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
	if (flags & MSG_OOB) {
		smc_stat_inc(sock_net(sk), SMC_STAT_URGENT);
		return rx_recv_urgent(smc, msg, len, flags);
	}
	rc = rx_loop(&call, len, sock_rcvlowat(sk, flags & MSG_WAITALL, len));
	rx_count(&call, rc);
	if (rc > 0)
		rx_trace(call.conn, rc);
	if (rc >= 0)
		rx_put_extras(call.conn, msg, rc);
	rx_unhold(&call);
	return rc;
}

/**
 * smc_rx_is_readable() - check whether poll() reports the connection as readable
 * @conn: the connection; it is or was open; the caller holds a reference on its socket
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: true if SO_RCVLOWAT bytes are there, or fewer and no more can come before a read.
 */
bool smc_rx_is_readable(struct smc_conn *conn)
{
	struct smc_cdc_ctl *ctl = &conn->ctl;
	u32 target = sock_rcvlowat(conn->sk, 0, INT_MAX);
	bool is_stuck = false;
	u32 len = 0;

	if (target == 1 && READ_ONCE(ctl->rx_urg) == SMC_URG_NONE)
		return rx_has_data(conn);
	spin_lock_bh(&conn->lock);
	if (smc_conn_may_read(conn)) {
		len = smc_cdc_readable(ctl) + rx_has_aside(conn);
		is_stuck = rx_is_stuck(conn, len);
	}
	spin_unlock_bh(&conn->lock);
	return len && (len >= target || is_stuck);
}

/**
 * smc_rx_has_urgent() - check whether poll() reports urgent data, RFC 7609 4.7.5 (URG-04)
 * @conn: the connection
 *
 * Context: Any context.
 * Return: true from the announcement of the byte until it is read or passed.
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
 * Return: true if the next byte is the urgent one, or follows it where it was set aside.
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
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: bytes; as with TCP, an urgent byte out of line ends the count.
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
