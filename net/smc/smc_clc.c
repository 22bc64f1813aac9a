// SPDX-License-Identifier: GPL-2.0
/*
 * CLC messages over the inner TCP socket, RFC 7609 3.2 and Appendix A.2.
 *
 * Operation: all reads and writes are non-blocking; waiting is done here, on
 * the socket's wait queue, against one deadline for the whole message. So no
 * option of the socket is touched or obeyed, a peer that sends a byte now and
 * then gains no time, and closing or resetting the socket ends a wait at once.
 *
 * Ownership: the socket and the message are the caller's. While these functions
 * run nobody else may read from the socket.
 *
 * Error handling: an errno means that the TCP connection cannot be used any
 * further, neither for CLC nor for fallback, since part of a message may have
 * been read or written; the caller ends it (RFC 7609 C.5, C.6). A message that
 * deserves a Decline is not an error and comes back as a reason.
 */
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "smc_clc.h"

/* The longest message we build: a Proposal with all its IPv6 prefixes. */
#define CLC_SEND_MAX_LEN (SMC_CLC_PROPOSAL_MIN_LEN +			\
			  SMC_CLC_PREFIXES_MAX *			\
			  sizeof(struct smc_clc_prefix_wire))

/*
 * A fresh connection takes a message at once; only want of memory makes it
 * wait, and memory coming back wakes nobody, hence the slices.
 */
#define CLC_SEND_WAIT	(2 * HZ)
#define CLC_SEND_SLICE	max(HZ / 50, 1)

/*
 * With SO_RCVLOWAT above one, TCP keeps silent about a message that is shorter;
 * then one has to look.
 */
#define CLC_LOWAT_SLICE	max(HZ / 50, 1)

/* Time left until @deadline, 0 when it has passed. */
static long clc_left(unsigned long deadline)
{
	long left = deadline - jiffies;

	return max(left, 0L);
}

static int clc_read_some(struct socket *tcp, u8 *buf, size_t len)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	int ret;

	ret = kernel_recvmsg(tcp, &msg, &vec, 1, len, MSG_DONTWAIT);
	/* The end of the stream, and a socket that was reset before. */
	if (!ret || ret == -ENOTCONN)
		return -ECONNRESET;
	return ret;
}

/* TCP wakes interruptible sleepers only. */
static void clc_wait(struct sock *sk, struct wait_queue_entry *wait,
		     unsigned long deadline)
{
	long timeout = clc_left(deadline);

	if (READ_ONCE(sk->sk_rcvlowat) > 1)
		timeout = min_t(long, timeout, CLC_LOWAT_SLICE);
	wait_woken(wait, TASK_INTERRUPTIBLE, timeout);
}

/* Reads @len bytes, never more, by @deadline. */
static int clc_read(struct socket *tcp, u8 *buf, size_t len,
		    unsigned long deadline)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	wait_queue_head_t *wq = sk_sleep(tcp->sk);
	size_t done = 0;
	int ret = 0;

	add_wait_queue(wq, &wait);
	while (done < len) {
		ret = clc_read_some(tcp, buf + done, len - done);
		if (ret > 0) {
			done += ret;
			ret = 0;
			continue;
		}
		if (ret != -EAGAIN)
			break;
		ret = -EINTR;
		if (signal_pending(current))
			break;
		ret = -ETIMEDOUT;
		if (!clc_left(deadline))
			break;
		clc_wait(tcp->sk, &wait, deadline);
		ret = 0;
	}
	remove_wait_queue(wq, &wait);
	return ret;
}

static int clc_recv_rest(struct socket *tcp, const u8 hdr[SMC_CLC_HDR_LEN],
			 u16 len, struct smc_clc_msg *msg,
			 unsigned long deadline, enum smc_decline *refused)
{
	u8 *buf;
	int ret;

	buf = kmalloc(len, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	memcpy(buf, hdr, SMC_CLC_HDR_LEN);
	ret = clc_read(tcp, buf + SMC_CLC_HDR_LEN, len - SMC_CLC_HDR_LEN,
		       deadline);
	if (ret)
		goto out_free;

	switch (smc_clc_decode(buf, len, msg)) {
	case SMC_CLC_OK:
		break;
	case SMC_CLC_ENUM:
		/* The one value the codec can see to be unknown (AMB-34). */
		*refused = SMC_DECLINE_VERSMISMAT;
		break;
	case SMC_CLC_PROTO:
		ret = -EPROTO;
		break;
	}
out_free:
	kfree(buf);
	return ret;
}

/**
 * smc_clc_recv() - read one CLC message
 * @tcp: the inner TCP socket, connected
 * @msg: out: the message; on -EPROTO and other errors without meaning
 * @deadline: when to give up, in jiffies; counts for the message as a whole
 * @expected: the types that may come now, SMC_CLC_EXPECT() of each or-ed; with
 *	SMC_CLC_DECLINE among them wherever the peer may decline (DCLN-02)
 * @refused: out: SMC_DECLINE_NONE, or why the message must be answered with a
 *	Decline (ERR-17); then only its type is to be used
 *
 * Takes exactly the bytes of the message; what follows is the application's
 * (CLC-11). Anything that cannot be the beginning of an expected message ends
 * the read at once (CLC-07, ERR-15, ERR-16). RFC 7609 3.2, C.5, C.6, TMR-01.
 *
 * Context: Process context, sleeps; may be called from a work item. Ends early
 * when the socket is shut down or reset from elsewhere.
 * Return: 0; -ETIMEDOUT at @deadline (ERR-14); -ECONNRESET if the peer closed
 * or reset the connection or we shut it down; -EPROTO for a malformed or
 * unexpected message or other data; -EINTR on a signal, which a work item never
 * gets; -ENOMEM; or what TCP reports as the end of the connection, such as
 * -EHOSTUNREACH or -ECONNABORTED.
 */
int smc_clc_recv(struct socket *tcp, struct smc_clc_msg *msg,
		 unsigned long deadline, u8 expected,
		 enum smc_decline *refused)
{
	u8 hdr[SMC_CLC_HDR_LEN];
	enum smc_clc_type type;
	u16 len;
	int ret;

	*refused = SMC_DECLINE_NONE;
	ret = clc_read(tcp, hdr, sizeof(hdr), deadline);
	if (ret)
		return ret;
	if (smc_clc_peek(hdr, &len, &type) != SMC_CLC_OK ||
	    !(expected & SMC_CLC_EXPECT(type)))
		return -EPROTO;
	return clc_recv_rest(tcp, hdr, len, msg, deadline, refused);
}

/*
 * A message must leave now, whatever Nagle's algorithm or a cork set by the
 * application would do to it: the peer waits for it, and nothing follows that
 * would push it out. TCP decides at the end of the call, under the lock that
 * options are set under, so nobody ever sees the borrowed value.
 */
static int clc_write_some(struct sock *sk, const u8 *buf, size_t len)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = (u8 *)buf, .iov_len = len };
	struct tcp_sock *tp = tcp_sk(sk);
	u8 nonagle;
	int ret;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	lock_sock(sk);
	nonagle = tp->nonagle;
	tp->nonagle = TCP_NAGLE_OFF | TCP_NAGLE_PUSH;
	ret = tcp_sendmsg_locked(sk, &msg, len);
	tp->nonagle = nonagle;
	release_sock(sk);
	return ret;
}

/**
 * smc_clc_send() - write one CLC message
 * @tcp: the inner TCP socket, connected
 * @msg: the message, of version 1
 *
 * Returns when TCP has taken the whole message, which normally is at once, and
 * has tried to transmit it. RFC 7609 3.2.
 *
 * Context: Process context, may sleep for up to two seconds where TCP lacks
 * memory. Takes the lock of @tcp's sock.
 * Return: 0; -EINVAL if @msg cannot be encoded; -ENOBUFS if TCP does not take
 * it; -EINTR if the task is being killed; -EPIPE, -ECONNRESET or another error
 * of TCP if the connection is gone.
 */
int smc_clc_send(struct socket *tcp, const struct smc_clc_msg *msg)
{
	unsigned long deadline = jiffies + CLC_SEND_WAIT;
	u8 buf[CLC_SEND_MAX_LEN];
	size_t done = 0;
	size_t len;
	int ret;

	len = smc_clc_encode(msg, buf, sizeof(buf));
	if (!len)
		return -EINVAL;
	while (done < len) {
		ret = clc_write_some(tcp->sk, buf + done, len - done);
		if (ret > 0) {
			done += ret;
			continue;
		}
		if (ret && ret != -EAGAIN)
			return ret;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!clc_left(deadline))
			return -ENOBUFS;
		schedule_timeout_killable(CLC_SEND_SLICE);
	}
	return 0;
}

/**
 * smc_clc_decline() - tell the peer that the connection stays with TCP
 * @tcp: the inner TCP socket, connected
 * @peer_id: this host
 * @code: why, not SMC_DECLINE_NONE
 * @out_of_sync: the peer shall end the link group its Accept named
 *
 * To be sent only in place of a message that is due (CLC-09). Nothing answers
 * it; application data may follow at once (DCLN-03). RFC 7609 A.2.5, C.1.
 *
 * Context: Process context, may sleep as smc_clc_send() does.
 * Return: 0 or an error as from smc_clc_send().
 */
int smc_clc_decline(struct socket *tcp, const u8 peer_id[SMC_PEER_ID_LEN],
		    enum smc_decline code, bool out_of_sync)
{
	struct smc_clc_msg msg;

	smc_nego_build_decline(&msg, peer_id, code, out_of_sync);
	return smc_clc_send(tcp, &msg);
}

/**
 * smc_clc_has_input() - has the peer sent something, or closed
 * @tcp: the inner TCP socket
 *
 * For the LLC part of first contact, in which a Decline may still come
 * (DCLN-06): true means that smc_clc_recv() will not have to wait for the first
 * byte or for an error. Takes nothing from the socket. Who waits for this to
 * become true waits on the socket's wait queue, sk_sleep().
 *
 * Context: Any context in which @tcp stays valid. Takes no lock.
 * Return: true if there are bytes, the end of the stream or an error.
 */
bool smc_clc_has_input(struct socket *tcp)
{
	const struct sock *sk = tcp->sk;
	const struct tcp_sock *tp = tcp_sk(sk);

	return READ_ONCE(tp->rcv_nxt) != READ_ONCE(tp->copied_seq) ||
	       READ_ONCE(sk->sk_err) ||
	       READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN ||
	       inet_sk_state_load(sk) == TCP_CLOSE;
}
