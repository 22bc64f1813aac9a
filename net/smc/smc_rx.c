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
#include <linux/wait.h>

#include "smc_compat.h"
#include "smc_net.h"
#include "smc_rx.h"
#include "smc_trace.h"
#include "smc_tx.h"

/* One receive call on its way. */
struct rx_call {
	struct smc_sock *smc;
	struct msghdr *msg;
	int flags;
	long timeo;
	u32 peeked;	/* bytes looked at and left where they are */
};

/* Bytes not yet seen by this call, and whether more may come after them. */
static u32 rx_available(struct rx_call *call, bool *is_eof)
{
	struct smc_conn *conn = &call->smc->conn;
	u32 readable = 0;
	u8 conn_flags;

	/* Both in one hold: data and D may come in one message. */
	spin_lock_bh(&conn->lock);
	conn_flags = conn->ctl.rx_conn_flags;
	if (conn->ctl.rx_geom.size && !conn->is_purged)
		readable = smc_cdc_readable(&conn->ctl);
	spin_unlock_bh(&conn->lock);

	*is_eof = !conn->lgr ||
		  conn_flags & (SMC_CDC_DONE | SMC_CDC_CLOSED | SMC_CDC_ABORT);
	return readable > call->peeked ? readable - call->peeked : 0;
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
	struct smc_conn *conn = &call->smc->conn;
	struct smc_seg seg[SMC_RING_SEGS];
	struct smc_cursor from;
	size_t copied = 0;
	u32 i, nr;

	/* rx_cons is ours: it moves with the socket locked. */
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
	bool is_due;

	spin_lock_bh(&conn->lock);
	smc_cdc_consume(&conn->ctl, len);
	is_due = smc_cdc_is_needed(&conn->ctl, 0);
	spin_unlock_bh(&conn->lock);
	smc_stat_add(sock_net(conn->sk), SMC_STAT_RX_BYTES, len);
	if (is_due)
		smc_tx_push(conn);
}

/* One round of recvmsg with data at hand: bytes delivered, or why not. */
static ssize_t rx_take(struct rx_call *call, u32 len)
{
	struct smc_conn *conn = &call->smc->conn;
	size_t n = len;

	if (!smc_conn_check_eyecatcher(conn)) {
		conn->ops.event(conn, SMC_EV_INVALID);
		return -ECONNRESET;
	}
	if (!(call->flags & MSG_TRUNC))
		n = rx_copy(call, len);
	if (!n)
		return -EFAULT;
	if (call->flags & MSG_PEEK)
		call->peeked += n;
	else
		rx_consume(conn, n);
	return n;
}

/*
 * Nothing is there. Waits for more: 0 to look again; 1 if the call ends with
 * what it has; an errno if it has nothing.
 */
static int rx_wait(struct rx_call *call, bool is_eof, bool has_some)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &call->smc->sk;
	int rc = 0;

	if (sk->sk_err)
		return has_some ? 1 : sock_error(sk);
	if (is_eof || sk->sk_shutdown & RCV_SHUTDOWN)
		return 1;
	if (!call->timeo)
		return has_some ? 1 : -EAGAIN;
	if (signal_pending(current))
		return has_some ? 1 : sock_intr_errno(call->timeo);

	add_wait_queue(sk_sleep(sk), &wait);
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	sk_wait_event(sk, &call->timeo,
		      sk->sk_err || sk->sk_shutdown & RCV_SHUTDOWN ||
		      rx_available(call, &is_eof) || is_eof, &wait);
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	remove_wait_queue(sk_sleep(sk), &wait);
	return rc;
}

static int rx_loop(struct rx_call *call, size_t len, size_t target)
{
	size_t copied = 0;
	ssize_t rc = 0;

	/* As with TCP, a call for no bytes waits for some all the same. */
	for (;;) {
		bool is_eof;
		u32 n = rx_available(call, &is_eof);

		if (n) {
			n = min_t(size_t, n, len - copied);
			rc = n ? rx_take(call, n) : 0;
			if (rc < 0)
				break;
			copied += rc;
			if (copied == len)
				break;
			continue;
		}
		if (copied >= target)
			break;
		rc = rx_wait(call, is_eof, copied);
		if (rc)
			break;
	}
	return copied ? copied : min_t(ssize_t, rc, 0);
}

static void rx_trace(struct smc_sock *smc, size_t len)
{
	struct smc_link *link;

	if (!trace_smc_rx_recvmsg_enabled())
		return;
	rcu_read_lock();
	link = rcu_dereference(smc->conn.link);
	trace_smc_rx_recvmsg(smc, len, link ? link->wr.end.dev->ibdev->name : "");
	rcu_read_unlock();
}

/**
 * smc_rx_recvmsg() - recv() on a connection
 * @smc: the socket; its connection is or was open
 * @msg: where to copy
 * @len: bytes wanted
 * @flags: MSG_PEEK, MSG_WAITALL, MSG_DONTWAIT, MSG_TRUNC
 *
 * Buffered data is delivered before the end of the stream is. SO_RCVLOWAT,
 * blocking, timeout and signals as with TCP. RFC 7609 4.7.1 (TX-09), 4.4.1
 * (RMB-16: the eye catcher is looked at on each access), 4.5.1 (WIN-02),
 * 4.8.1 (CLOSE-17).
 *
 * Context: Process context, sleeps unless MSG_DONTWAIT. Expects the socket lock
 *	    held, which is released while waiting.
 * Return: bytes delivered, 0 at the end of the stream, or if there are none:
 *	   -EAGAIN, -EINTR, -ERESTARTSYS, -EFAULT; the socket's pending error;
 *	   -ECONNRESET if the eye catcher is damaged; -EINVAL for MSG_OOB, since
 *	   urgent data stays in line.
 */
int smc_rx_recvmsg(struct smc_sock *smc, struct msghdr *msg, size_t len, int flags)
{
	struct sock *sk = &smc->sk;
	struct rx_call call = {
		.smc = smc,
		.msg = msg,
		.flags = flags,
		.timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT),
	};

	int rc;

	if (flags & MSG_OOB)
		return -EINVAL;
	rc = rx_loop(&call, len, sock_rcvlowat(sk, flags & MSG_WAITALL, len));
	if (rc > 0)
		rx_trace(smc, rc);
	return rc;
}
