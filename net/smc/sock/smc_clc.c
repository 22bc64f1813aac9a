// SPDX-License-Identifier: GPL-2.0
/*
 * CLC messages on TCP's sock, RFC 7609 3.2 and Appendix A.2.
 *
 * Operation: the caller holds the socket lock for each call, and no call waits: neither for
 * the peer nor for memory. So no peer blocks a task here. The caller waits and limits the
 * time, and is the only reader of the socket meanwhile. The options of the socket neither
 * change nor apply.
 *
 * Error handling: after any errno but -EAGAIN and -ENOMSG the TCP connection is unusable for
 * CLC and for fallback, since part of a message may be read or written; the caller ends it (RFC
 * 7609 C.5, C.6). A message that requires a Decline is no error but returns a reason.
 */
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/uio.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "sock/smc_clc.h"

/* Room for the bytes that clc_take() finds. */
struct clc_room {
	u8 *at;
	size_t len;
};

static int clc_take(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset, size_t len)
{
	struct clc_room *room = desc->arg.data;
	int rc;

	len = min(len, room->len);
	rc = skb_copy_bits(skb, offset, room->at, len);
	if (rc)
		return rc;
	room->at += len;
	room->len -= len;
	desc->count = room->len;
	return len;
}

/* Neither a reset nor the end of the stream leaves anything to wait for. */
static bool clc_has_ended(const struct sock *sk)
{
	return sk->sk_err || sk->sk_shutdown & RCV_SHUTDOWN || sock_flag(sk, SOCK_DONE) ||
	       sk->sk_state == TCP_CLOSE;
}

/**
 * smc_clc_read() - take bytes from TCP's queue
 * @sk: TCP's sock
 * @buf: for the bytes
 * @len: how many at most
 *
 * Context: Process context. Expects the lock of @sk held.
 * Return: the number of bytes; 0 if there are none; or a negative errno.
 */
int smc_clc_read(struct sock *sk, u8 *buf, size_t len)
{
	struct clc_room room = { .at = buf, .len = len };
	read_descriptor_t desc = { .count = len, .arg.data = &room };

	return tcp_read_sock(sk, &desc, clc_take);
}

/* Return: the number of bytes, at least 1; or the errno of smc_clc_recv(). */
static int clc_recv(struct sock *sk, u8 *buf, size_t len)
{
	int ret = smc_clc_read(sk, buf, len);

	if (ret)
		return ret;
	if (!clc_has_ended(sk))
		return -EAGAIN;
	return sock_error(sk) ?: -ECONNRESET;
}

/* As clc_recv(), but the bytes stay in TCP's queue. Return: their number. */
static int clc_peek(const struct sock *sk, u8 *buf, size_t len)
{
	u32 seq = tcp_sk(sk)->copied_seq;
	const struct sk_buff *skb;
	size_t done = 0, n;
	u32 offset;

	skb_queue_walk(&sk->sk_receive_queue, skb) {
		offset = seq - TCP_SKB_CB(skb)->seq;
		if (offset >= skb->len)
			continue;
		n = min_t(size_t, len - done, skb->len - offset);
		if (skb_copy_bits(skb, offset, buf + done, n))
			break;
		done += n;
		seq += n;
	}
	return done;
}

/*
 * Compare the beginning of a message byte by byte as it comes; all stay in TCP's queue. @rx: empty,
 * used as a buffer. Return: 0 with a whole header, or the errno of smc_clc_recv().
 */
static int clc_check_begin(struct sock *sk, struct smc_clc_rx *rx, u8 expected)
{
	const struct smc_clc_hdr_wire *hdr = (const void *)rx->bytes;
	const __be32 eye_catcher = cpu_to_be32(SMC_EYE_SMCR);
	size_t n = clc_peek(sk, rx->bytes, SMC_CLC_HDR_LEN);

	if (memcmp(rx->bytes, &eye_catcher, min(n, sizeof(eye_catcher))))
		return -ENOMSG;
	if (n >= offsetofend(struct smc_clc_hdr_wire, type) &&
	    (hdr->type >= BITS_PER_BYTE || !(expected & SMC_CLC_EXPECT(hdr->type))))
		return -EPROTO;
	if (n == SMC_CLC_HDR_LEN)
		return 0;
	return clc_has_ended(sk) ? sock_error(sk) ?: -ECONNRESET : -EAGAIN;
}

/* Read until @rx has @end bytes, never more. */
static int clc_read(struct sock *sk, struct smc_clc_rx *rx, u16 end)
{
	int ret;

	while (rx->done < end) {
		ret = clc_recv(sk, rx->bytes + rx->done, end - rx->done);
		if (ret < 0)
			return ret;
		rx->done += ret;
	}
	return 0;
}

/**
 * smc_clc_recv() - gather one CLC message
 * @sk: TCP's sock, connected
 * @rx: the bytes so far; @rx->done is 0 before the first one, and again when the message
 *	is complete
 * @msg: out: the message if 0 is returned
 * @expected: SMC_CLC_EXPECT() of the types allowed now, or-ed; with SMC_CLC_DECLINE
 *	wherever the peer may decline (DCLN-02)
 * @refused: out: SMC_DECLINE_NONE, or the reason of the Decline that the message requires
 *	(ERR-17); then only the type of @msg is valid
 *
 * Takes exactly the bytes of the message; what follows is the application's (CLC-11).
 * Anything that cannot begin an expected message is refused at its first wrong byte (CLC-07,
 * ERR-15, ERR-16). RFC 7609 3.2, C.5, C.6.
 *
 * Context: Process context. Expects the lock of @sk held.
 * Return: 0; -EAGAIN while bytes are missing; -ECONNRESET if the peer closed or reset the
 * connection or this side shut it down; -ENOMSG for bytes that begin no CLC message, which stay
 * in TCP's queue; -EPROTO for a malformed or unexpected message; or TCP's error at the end of
 * the connection, such as -EHOSTUNREACH or -ECONNABORTED.
 */
int smc_clc_recv(struct sock *sk, struct smc_clc_rx *rx,
		 struct smc_clc_msg *msg, u8 expected,
		 enum smc_decline *refused)
{
	enum smc_clc_type type;
	u16 len;
	int ret;

	sock_owned_by_me(sk);
	*refused = SMC_DECLINE_NONE;
	ret = rx->done ? 0 : clc_check_begin(sk, rx, expected);
	if (!ret)
		ret = clc_read(sk, rx, SMC_CLC_HDR_LEN);
	if (ret)
		return ret;
	if (smc_clc_peek(rx->bytes, &len, &type) != SMC_CLC_OK)
		return -EPROTO;
	ret = clc_read(sk, rx, len);
	if (ret)
		return ret;
	rx->done = 0;

	switch (smc_clc_decode(rx->bytes, len, msg)) {
	case SMC_CLC_OK:
		return 0;
	case SMC_CLC_ENUM:
		/* the only value that the codec can find unknown (AMB-34) */
		*refused = SMC_DECLINE_VERSMISMAT;
		return 0;
	default:
		return -EPROTO;
	}
}

/*
 * TCP without memory uses the struct socket and its wait queue even in a non-blocking call.
 * Children before accept() and closed files have none, so the sock borrows this one.
 */
static struct socket_alloc clc_no_file = {
	.socket.wq.wait = __WAIT_QUEUE_HEAD_INITIALIZER(clc_no_file.socket.wq.wait),
};

static bool clc_lend_file(struct sock *sk)
{
	if (sk->sk_socket)
		return false;
	WRITE_ONCE(sk->sk_socket, &clc_no_file.socket);
	rcu_assign_pointer(sk->sk_wq, &clc_no_file.socket.wq);
	return true;
}

static void clc_take_file_back(struct sock *sk)
{
	RCU_INIT_POINTER(sk->sk_wq, NULL);
	WRITE_ONCE(sk->sk_socket, NULL);
}

/**
 * smc_clc_write() - give bytes to TCP
 * @sk: TCP's sock, connected
 * @buf: the bytes
 * @len: their number
 * @flags: MSG_OOB or 0
 * @tsflags: SOF_TIMESTAMPING_TX_RECORD_MASK: the stamp of the last byte; 0 for a message, which a
 *	     stamp would expose, and keep in TCP's queue
 *
 * They are sent at once despite Nagle's algorithm and TCP_CORK, because the peer waits. The socket
 * lock hides the temporary values.
 *
 * Context: Process context, may sleep. Expects the lock of @sk held.
 * Return: the number of bytes that TCP has taken, or a negative errno.
 */
int smc_clc_write(struct sock *sk, const u8 *buf, size_t len, int flags, u32 tsflags)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | flags };
	struct kvec vec = { .iov_base = (u8 *)buf, .iov_len = len };
	bool is_lent = clc_lend_file(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	u32 had = sk->sk_tsflags;
	u8 nonagle = tp->nonagle;
	int ret;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	tp->nonagle = TCP_NAGLE_OFF | TCP_NAGLE_PUSH;
	WRITE_ONCE(sk->sk_tsflags, (had & ~SOF_TIMESTAMPING_TX_RECORD_MASK) | tsflags);
	ret = tcp_sendmsg_locked(sk, &msg, len);
	WRITE_ONCE(sk->sk_tsflags, had);
	tp->nonagle = nonagle;
	if (is_lent)
		clc_take_file_back(sk);
	return ret;
}

/**
 * smc_clc_prepare() - encode a message that is to be sent
 * @tx: receives it; the message before has been sent or given up
 * @msg: the message, of version 1 or 2
 *
 * RFC 7609 3.2.
 *
 * Context: Any context.
 * Return: 0; -EINVAL if @msg cannot be encoded.
 */
int smc_clc_prepare(struct smc_clc_tx *tx, const struct smc_clc_msg *msg)
{
	tx->done = 0;
	tx->len = smc_clc_encode(msg, tx->bytes);
	return tx->len ? 0 : -EINVAL;
}

/**
 * smc_clc_send() - write what is left of a message
 * @sk: TCP's sock, connected
 * @tx: the message; keeps count of the bytes that TCP has taken
 * @if_quiet: begin with the message only if none of the peer's input is queued
 *
 * On success TCP has taken the whole message and tried to transmit it. RFC 7609 3.2. A
 * Decline may only replace a message that is due (CLC-09). It has no answer; application
 * data may follow at once (DCLN-03). RFC 7609 A.2.5, C.1.
 *
 * Context: Process context, may sleep. Expects the lock of @sk held: input that arrives
 * meanwhile is acknowledged after our bytes.
 * Return: 0; -EAGAIN if TCP lacks memory, whose return nothing reports; -EEXIST if the
 * peer's input is queued; -EPIPE, -ECONNRESET or another error of TCP if the connection is
 * gone.
 */
int smc_clc_send(struct sock *sk, struct smc_clc_tx *tx, bool if_quiet)
{
	int ret;

	sock_owned_by_me(sk);
	if (if_quiet && !tx->done && !skb_queue_empty(&sk->sk_receive_queue))
		return -EEXIST;
	while (smc_clc_is_pending(tx)) {
		ret = smc_clc_write(sk, tx->bytes + tx->done, tx->len - tx->done, 0, 0);
		if (ret <= 0)
			return ret ?: -EAGAIN;
		tx->done += ret;
	}
	return 0;
}

/**
 * smc_clc_is_acked() - check whether the peer has acknowledged all bytes
 * @sk: TCP's sock
 *
 * What the peer sent before its acknowledgment is in the receive queue then.
 *
 * Context: Any context.
 * Return: true if nothing is in flight.
 */
bool smc_clc_is_acked(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return READ_ONCE(tp->snd_una) == READ_ONCE(tp->write_seq);
}

/**
 * smc_clc_take_decline() - take a Decline off the stream, and nothing else
 * @sk: TCP's sock
 * @rx: an empty one, used as a buffer
 * @peer_id: required sender
 *
 * For a time when input may already be the application's.
 *
 * Context: Process context. Expects the lock of @sk held.
 * Return: 0 if a Decline was taken; -ENODATA without input; -EAGAIN if the input may be
 * the beginning of one; -ENOMSG for other input, the end of the stream or an error.
 */
int smc_clc_take_decline(struct sock *sk, struct smc_clc_rx *rx,
			 const u8 peer_id[SMC_PEER_ID_LEN])
{
	const __be32 eye_catcher = cpu_to_be32(SMC_EYE_SMCR);
	struct smc_clc_msg msg;
	enum smc_clc_type type;
	u16 len;
	int n;

	sock_owned_by_me(sk);
	n = clc_peek(sk, rx->bytes, sizeof(rx->bytes));
	if (!n)
		return clc_has_ended(sk) ? -ENOMSG : -ENODATA;
	if (memcmp(rx->bytes, &eye_catcher, min_t(size_t, n, sizeof(eye_catcher))))
		return -ENOMSG;
	if (n < SMC_CLC_HDR_LEN)
		return -EAGAIN;
	if (smc_clc_peek(rx->bytes, &len, &type) != SMC_CLC_OK || type != SMC_CLC_DECLINE)
		return -ENOMSG;
	if (n < len)
		return -EAGAIN;
	if (smc_clc_decode(rx->bytes, len, &msg) != SMC_CLC_OK ||
	    memcmp(msg.decline.peer_id, peer_id, SMC_PEER_ID_LEN))
		return -ENOMSG;
	n = clc_read(sk, rx, len);
	rx->done = 0;
	return n ? -ENOMSG : 0;
}
