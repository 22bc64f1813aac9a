// SPDX-License-Identifier: GPL-2.0
/*
 * Landing: a connection that nothing carries any more goes on in TCP (protocol.md).
 *
 * Operation:
 *   The TCP connection below is established and idle. When the last link is lost, or memory is to
 *   be given up, the input of the close machine that would end the connection comes here first.
 *   Over RDMA each side then sends one record on TCP with what it has received. A record of the
 *   peer ends our link group, so that the connections of the group land, too. When both are there,
 *   what the peer has not received goes to TCP, and what the application has not read is put into
 *   TCP's receive queue, before what TCP has received. Then the socket is plain TCP.
 *   In memory both ends have the same positions (smc_pair_cut()), so there is no record.
 *
 * Until then calls go on as before: they read the one ring and fill the other. A call that sleeps
 * goes on in TCP (af_smc.c).
 *
 * Time limits: none. TCP repeats the record, and if TCP gives up the connection ends with its
 * error.
 *
 * Ownership: the state exists from the first sign of a landing until the connection is dropped.
 */
#include <net/tcp.h>

#include "smc_compat.h"
#include "proto/smc_land_wire.h"
#include "rdma/smc_net.h"
#include "group/smc_carrier.h"
#include "group/smc_core.h"
#include "sock/smc_clc.h"
#include "sock/smc_close.h"
#include "sock/smc_errqueue.h"
#include "sock/smc_keepalive.h"
#include "sock/smc_land.h"
#include "sock/smc_policy.h"
#include "sock/smc_tcp.h"
#include "sock/smc_wake.h"
#include "control/smc_trace.h"

/* Bytes of one piece: a page with its overhead */
#define LAND_PIECE	SKB_MAX_ORDER(0, 0)

/* Until TCP is asked again that lacked memory */
#define LAND_RETRY	max(HZ / 50, 1)

/**
 * struct smc_land - a landing
 * @own: our record
 * @own_len: its length; 0 until this side has stopped
 * @own_sent: bytes of it that TCP has taken
 * @rx: the peer's record
 * @rx_len: bytes of it that have come
 * @peer: the same, decoded and checked, when it is complete and this side has stopped
 * @pos: position in our stream that TCP has reached, valid with @is_agreed
 * @is_agreed: both sides have stopped
 */
struct smc_land {
	u8 own[SMC_LAND_LEN];
	u8 own_len;
	u8 own_sent;
	u8 rx[SMC_LAND_LEN];
	u8 rx_len;
	bool is_agreed;
	struct smc_land_msg peer;
	u64 pos;
};

/* @conn: open, so that it is in its group */
static bool land_is_offered(const struct smc_conn *conn)
{
	return conn->lgr && READ_ONCE(conn->lgr->ext) & SMC_LLC_EXT_LANDING;
}

/* Return: true if TCP could carry on, and both streams are whole. */
static bool land_is_possible(const struct smc_sock *smc)
{
	const struct smc_conn *conn = smc->conn;
	/* an end in memory may land, and end its stream, before the other one has begun */
	int states = conn->pair ? TCPF_ESTABLISHED | TCPF_CLOSE_WAIT : TCPF_ESTABLISHED;

	return conn->token && smc_state_is_open(&smc->close) && !smc->has_tcp_ended &&
	       1 << inet_sk_state_load(smc->sk) & states && !READ_ONCE(smc->sk->sk_err) &&
	       !READ_ONCE(conn->is_purged) &&
	       !(READ_ONCE(conn->ctl.rx_conn_flags) & SMC_CDC_ABORT) &&
	       !test_bit(SMC_PENDING_FAULT, &conn->pending);
}

static bool land_begin_state(struct smc_sock *smc)
{
	/* sock_diag looks whether there is one */
	if (!smc->land)
		WRITE_ONCE(smc->land, kzalloc(sizeof(*smc->land), GFP_KERNEL_ACCOUNT));
	return smc->land;
}

/* This side has stopped: nothing is posted or applied any more. */
static bool land_stop(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->conn;
	struct smc_land_msg msg;

	if (!land_is_possible(smc) ||
	    !(conn->pair || (land_is_offered(conn) && smc_lgr_is_down(conn->lgr))) ||
	    !land_begin_state(smc))
		return false;
	scoped_guard(spinlock_bh, &conn->lock)
		smc_land_build(&conn->ctl, conn->peer_token, &msg);
	smc_land_encode(&msg, smc->land->own);
	smc->land->own_len = SMC_LAND_LEN;
	smc->land->pos = conn->ctl.tx_sent;
	smc->land->is_agreed = conn->pair;
	/* what the application has asked for is TCP's to watch */
	smc_keepalive_stop(smc);
	trace_smc_land(smc, msg.received, msg.consumed);
	return true;
}

/**
 * smc_land_drop() - end a landing, if there is one
 * @smc: the socket
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_land_drop(struct smc_sock *smc)
{
	sock_owned_by_me(smc->sk);
	kfree(smc->land);
	WRITE_ONCE(smc->land, NULL);
}

/**
 * smc_land_takes() - look whether an input of the close machine is part of a landing
 * @smc: the socket, on SMC
 * @what: the input
 *
 * smc_land_run() follows from the work item of the close machine, which the caller queues.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: true if so; false if the close machine has to handle it.
 */
bool smc_land_takes(struct smc_sock *smc, enum smc_pending what)
{
	sock_owned_by_me(smc->sk);
	switch (what) {
	case SMC_PENDING_LINK_LOST:
		return land_stop(smc);
	case SMC_PENDING_PAYLOAD:
		if (smc->land)
			return true;
		if (smc->conn->pair)
			return READ_ONCE(smc->conn->phase) == SMC_CONN_LEAVING;
		return land_is_possible(smc) && land_is_offered(smc->conn) &&
		       land_begin_state(smc);
	case SMC_PENDING_TIMER:
	case SMC_PENDING_SILENCE:
		return smc->land && smc->land->own_len;
	default:
		/* the end */
		smc_land_drop(smc);
		return false;
	}
}

/* Return: 0, or an errno; -EAGAIN if TCP lacks memory. */
static int land_send_record(struct smc_sock *smc)
{
	struct smc_land *land = smc->land;
	int rc;

	while (land->own_sent < land->own_len) {
		rc = smc_clc_write(smc->sk, land->own + land->own_sent,
				   land->own_len - land->own_sent, 0, 0);
		if (rc <= 0)
			return rc ?: -EAGAIN;
		land->own_sent += rc;
	}
	return 0;
}

/* Return: 0 when the record is complete; -ENODATA while it is not; or another errno. */
static int land_take_record(struct smc_sock *smc)
{
	struct smc_land *land = smc->land;
	int rc;

	while (land->rx_len < SMC_LAND_LEN) {
		rc = smc_clc_read(smc->sk, land->rx + land->rx_len, SMC_LAND_LEN - land->rx_len);
		/* the peer has ended TCP without one */
		if (!rc && READ_ONCE(smc->sk->sk_shutdown) & RCV_SHUTDOWN)
			return -ECONNABORTED;
		if (rc <= 0)
			return rc ?: -ENODATA;
		land->rx_len += rc;
		if (!smc_land_may_begin(land->rx, land->rx_len))
			return -EBADMSG;
	}
	return smc_land_decode(land->rx, &land->peer);
}

/* The peer has all up to that position. */
static void land_acknowledge(struct smc_conn *conn, u64 received)
{
	scoped_guard(smc_conn, conn)
		conn->ctl.tx_fin = received;
	smc_errqueue_report(conn);
}

/* Return: 0 when both sides have stopped; -ENODATA; or an errno, as above. */
static int land_exchange(struct smc_sock *smc)
{
	struct smc_land *land = smc->land;
	struct smc_conn *conn = smc->conn;
	int rc;

	if (land->is_agreed)
		return 0;
	rc = land_send_record(smc);
	if (rc)
		return rc;
	rc = land_take_record(smc);
	if (rc)
		return rc;
	if (!land->own_len) {
		/* SMC_EV_LINK_LOST follows */
		smc_lgr_terminate(conn->lgr, "the peer gives its connections back to TCP");
		return -ENODATA;
	}
	rc = smc_land_check(&conn->ctl, conn->token, &land->peer);
	if (rc)
		return rc;
	land_acknowledge(conn, land->peer.received);
	land->pos = land->peer.received;
	land->is_agreed = true;
	return 0;
}

/* The end of the next piece to send: an urgent byte is one of its own, and a stamp ends one. */
static u64 land_piece_end(struct smc_conn *conn, u64 pos, bool *is_urgent, bool *is_stamped)
{
	u64 mark = smc_land_next_mark(&conn->ctl, pos);
	u64 stamp = smc_errqueue_next(conn, pos);
	u64 end = min3(conn->ctl.tx_prep, pos + LAND_PIECE, stamp);

	*is_urgent = mark == pos + 1;
	if (mark <= end)
		end = *is_urgent ? mark : mark - 1;
	*is_stamped = stamp == end;
	return end;
}

static int land_send_piece(struct smc_sock *smc, u8 *buf)
{
	struct smc_land *land = smc->land;
	struct smc_conn *conn = smc->conn;
	bool is_urgent, is_stamped;
	struct iov_iter iter;
	struct kvec vec;
	size_t len;
	int rc;

	len = land_piece_end(conn, land->pos, &is_urgent, &is_stamped) - land->pos;
	vec = (struct kvec){ .iov_base = buf, .iov_len = len };
	iov_iter_kvec(&iter, ITER_DEST, &vec, 1, len);
	if (conn->carrier->recall(conn, land->pos, len, &iter) != len)
		return -EFAULT;
	rc = smc_clc_write(smc->sk, buf, len, is_urgent ? MSG_OOB : 0,
			   is_stamped ? SOF_TIMESTAMPING_TX_ACK : 0);
	if (rc <= 0)
		return rc ?: -EAGAIN;
	land->pos += rc;
	return 0;
}

/* Each byte keeps its number, for SOF_TIMESTAMPING_OPT_ID. */
static void land_keep_ids(struct smc_sock *smc)
{
	u32 base = tcp_sk(smc->sk)->write_seq - (u32)smc->land->pos;

	if (READ_ONCE(smc->sk->sk_tsflags) & SOF_TIMESTAMPING_OPT_ID)
		atomic_set(&smc->sk->sk_tskey, base + (u32)smc_errqueue_base(smc->conn));
}

/* Give TCP all that the peer has not received. Return: 0, or an errno; -EAGAIN as above. */
static int land_send_rest(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->conn;
	int rc = 0;
	u8 *buf;

	land_keep_ids(smc);
	if (smc->land->pos == conn->ctl.tx_prep)
		return 0;
	buf = kmalloc(LAND_PIECE, GFP_KERNEL);
	if (!buf)
		return -EAGAIN;
	while (!rc && smc->land->pos != conn->ctl.tx_prep)
		rc = land_send_piece(smc, buf);
	kfree(buf);
	return rc;
}

/* The urgent byte that was set aside is in the stream again, as with TCP. */
static bool land_has_aside(const struct smc_conn *conn)
{
	return smc_urg_is_out_of_line(conn->ctl.rx_urg);
}

static struct sk_buff *land_alloc(struct smc_sock *smc, u32 seq, size_t len)
{
	ktime_t stamp = READ_ONCE(smc->conn->rx_stamp);
	struct sk_buff *skb = alloc_skb(len, GFP_KERNEL);

	if (!skb)
		return NULL;
	if (!sk_rmem_schedule(smc->sk, skb, skb->truesize)) {
		kfree_skb(skb);
		return NULL;
	}
	memset(skb->cb, 0, sizeof(skb->cb));
	TCP_SKB_CB(skb)->seq = seq;
	TCP_SKB_CB(skb)->end_seq = seq + len;
	TCP_SKB_CB(skb)->tcp_flags = TCPHDR_ACK;
	TCP_SKB_CB(skb)->has_rxtstamp = !!stamp;
	skb->tstamp = stamp;
	skb_set_owner_r(skb, smc->sk);
	return skb;
}

/* Copy what was not read into packets of TCP's stream from @seq on. Return: false: no memory. */
static bool land_fill(struct smc_sock *smc, struct sk_buff_head *list, u32 seq)
{
	struct smc_conn *conn = smc->conn;
	u64 pos = READ_ONCE(conn->ctl.rx_cons);
	size_t aside = land_has_aside(conn), len;
	u64 end = READ_ONCE(conn->ctl.rx_prod);
	struct sk_buff *skb;
	struct iov_iter iter;
	struct kvec vec;

	for (; pos != end || aside; pos += len - aside, aside = 0, seq += len) {
		len = min_t(u64, end - pos + aside, LAND_PIECE);
		skb = land_alloc(smc, seq, len);
		if (!skb)
			return false;
		__skb_queue_tail(list, skb);
		vec = (struct kvec){ .iov_base = skb_put(skb, len), .iov_len = len };
		if (aside)
			*(u8 *)vec.iov_base = conn->ctl.rx_urg_byte;
		iov_iter_kvec(&iter, ITER_DEST, &vec, 1, len);
		iov_iter_advance(&iter, aside);
		if (conn->carrier->read(conn, pos, len - aside, &iter) != len - aside)
			return false;
	}
	return true;
}

/* A mark of TCP itself is behind ours. @seq: of the first unread byte; @tail: of TCP's next one */
static void land_move_mark(struct smc_sock *smc, u32 seq, u32 tail)
{
	struct smc_cdc_ctl *ctl = &smc->conn->ctl;
	struct tcp_sock *tp = tcp_sk(smc->sk);
	u64 due = smc->land->peer.urgent;
	u16 data;

	if (tp->urg_data)
		return;
	if (ctl->rx_urg != SMC_URG_NONE) {
		data = smc_urg_is_unread(ctl->rx_urg) ? TCP_URG_VALID | ctl->rx_urg_byte :
							TCP_URG_READ;
		if (!land_has_aside(smc->conn))
			seq += (u32)(ctl->rx_urg_mark - ctl->rx_cons);
	} else if (smc_cdc_urg_is_pending(ctl->rx_prod_flags) && due > ctl->rx_prod) {
		/* SIGURG was sent: TCP need not announce the byte again */
		data = TCP_URG_NOTYET;
		seq = tail + (u32)(due - 1 - ctl->rx_prod);
	} else {
		return;
	}
	WRITE_ONCE(tp->urg_seq, seq);
	WRITE_ONCE(tp->urg_data, data);
	/* TCP looks at each segment while there is a mark */
	tp->pred_flags = 0;
}

/*
 * Put what was not read into TCP's receive queue, as if TCP had received it before all that it has.
 * Return: 0; -EAGAIN without memory: nothing has changed.
 */
static int land_move_unread(struct smc_sock *smc)
{
	struct tcp_sock *tp = tcp_sk(smc->sk);
	struct smc_conn *conn = smc->conn;
	u32 tail = tp->copied_seq;
	struct sk_buff_head list;
	struct sk_buff *skb;
	u32 seq, len;

	len = conn->ctl.rx_prod - conn->ctl.rx_cons;
	seq = tail - len - land_has_aside(conn);
	__skb_queue_head_init(&list);
	if (!land_fill(smc, &list, seq)) {
		__skb_queue_purge(&list);
		return -EAGAIN;
	}
	while ((skb = __skb_dequeue_tail(&list)))
		__skb_queue_head(&smc->sk->sk_receive_queue, skb);
	WRITE_ONCE(tp->copied_seq, seq);
	tp->rcvq_space.seq = seq;
	land_move_mark(smc, seq, tail);
	scoped_guard(smc_conn, conn)
		smc_cdc_consume(&conn->ctl, len);
	return 0;
}

/* Calls that sleep go on in TCP; pollers are woken for what TCP would report now. */
static void land_wake(struct sock *sk)
{
	struct socket_wq *wq;

	scoped_guard(rcu) {
		wq = rcu_dereference(sk->sk_wq);
		/* nobody polls for that: it wakes those that wait in a call */
		if (skwq_has_sleeper(wq))
			wake_up_interruptible_poll(&wq->wait, EPOLLMSG);
	}
	/* callbacks of TCP, or of a kernel user, which expect no bottom halves */
	local_bh_disable();
	if (smc_tcp_holds_payload(sk) || sk->sk_shutdown & RCV_SHUTDOWN)
		sk->sk_data_ready(sk);
	if (sk->sk_socket && test_bit(SOCK_NOSPACE, &sk->sk_socket->flags))
		sk->sk_write_space(sk);
	local_bh_enable();
}

/* Nothing is left in the rings. */
static void land_finish(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->conn;
	struct sock *sk = smc->sk;
	u8 shutdown = smc->shutdown;
	int tskey = atomic_read(&sk->sk_tskey);

	if (READ_ONCE(conn->ctl.rx_conn_flags))
		/* reported already; the FIN follows */
		WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
	smc_stat_inc(sock_net(sk), SMC_STAT_LANDED);
	smc_close_finish(smc);
	smc_close_leave(conn, true);
	smc_conn_forget_unread(conn);
	if (shutdown)
		smc_tcp_shutdown(sk, shutdown);
	if (smc->is_released) {
		/* smc_close_unlock() closes TCP */
		smc_sock_set_phase(smc, SMC_PHASE_IDLE);
		return;
	}
	smc_tcp_become(smc, smc_policy_is_draining() ? SMC_DECLINE_DRAIN :
							   SMC_DECLINE_NOACTLINK);
	atomic_set(&sk->sk_tskey, tskey);
	land_wake(sk);
}

/**
 * smc_land_run() - go on with a landing, if there is one
 * @smc: the socket; may be plain TCP afterwards. The caller has a reference
 *
 * Context: The work item of the close machine, may sleep. Expects the socket lock held.
 */
void smc_land_run(struct smc_sock *smc)
{
	int rc;

	sock_owned_by_me(smc->sk);
	if (!smc->land)
		return;
	rc = land_exchange(smc);
	/* smc_child_finish() has this run again */
	if (!rc && READ_ONCE(smc->child))
		return;
	rc = rc ?: land_send_rest(smc) ?: land_move_unread(smc);
	if (!rc)
		land_finish(smc);
	else if (rc == -EAGAIN)
		smc_sock_arm(smc, &smc->close_timer, jiffies + LAND_RETRY);
	else if (rc != -ENODATA && inet_sk_state_load(smc->sk) != TCP_CLOSE)
		/* otherwise TCP's end is reported by its callback */
		smc_sock_pend(smc->conn, SMC_PENDING_FAULT);
}
