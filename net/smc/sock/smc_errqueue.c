// SPDX-License-Identifier: GPL-2.0
/*
 * Notices about sent data: MSG_ERRQUEUE. They are queued in the error queue of TCP's sock in TCP's
 * format, and TCP delivers them. They are lost if memory is short or the queue is full.
 *
 * Time stamps (SO_TIMESTAMPING): a send() that requests one is recorded by the position of its last
 * byte. Completion at our RNIC means that the peer's RNIC has acknowledged that byte (TX_ACK).
 * TX_SCHED and TX_SOFTWARE are not given, since the time of transmission is unknown. A notice has
 * no packet (as with OPT_TSONLY). The table of stamps belongs to the connection, is allocated by
 * the first send() that requests one, and is protected by conn->lock.
 *
 * MSG_ZEROCOPY: the notice comes when the last of the call's pages is released, smc_pages.c. Where
 * all of its data was copied the notice comes at once and reports the copy, as TCP's does.
 */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/skbuff.h>

#include "smc_compat.h"
#include "sock/smc_errqueue.h"

/* Limit of pending send() calls with stamps; more share one, as with TCP. */
#define NOTICE_STAMPS	32

struct smc_stamps {
	u64 end[NOTICE_STAMPS];	/* position behind each last byte, oldest first */
	unsigned int nr;
	bool is_reporting;	/* smc_errqueue_report() is running */
	bool has_id;		/* SOF_TIMESTAMPING_OPT_ID, at the last send() */
};

/**
 * smc_errqueue_prepare() - prepare for a send() with time stamps
 * @conn: the connection, open; without memory it has no stamps
 * @tsflags: SOF_TIMESTAMPING_* of the call
 *
 * Context: Process context, may sleep. Expects the socket lock held. Takes conn->lock.
 */
void smc_errqueue_prepare(struct smc_conn *conn, u32 tsflags)
{
	struct smc_stamps *stamps;

	sock_owned_by_me(conn->sk);
	bool wants_id = tsflags & SOF_TIMESTAMPING_OPT_ID;

	if (!(tsflags & SOF_TIMESTAMPING_TX_ACK))
		return;
	/* set once, under the socket lock */
	stamps = conn->stamps ?: kzalloc(sizeof(*stamps), GFP_KERNEL_ACCOUNT);
	if (!stamps)
		return;
	spin_lock_bh(&conn->lock);
	conn->stamps = stamps;
	/* the time of setting the option is unknown: count from the next byte */
	if (wants_id && !stamps->has_id)
		conn->stamp_base = conn->ctl.tx_prep;
	stamps->has_id = wants_id;
	smc_conn_unlock(conn);
}

/**
 * smc_errqueue_request() - request a stamp for the last byte sent so far
 * @conn: the connection, prepared
 * @tsflags: SOF_TIMESTAMPING_* of the call
 *
 * Context: Any context. Expects conn->lock held; smc_errqueue_report() follows without it, if the
 *	 byte may have completed.
 */
void smc_errqueue_request(struct smc_conn *conn, u32 tsflags)
{
	struct smc_stamps *stamps = conn->stamps;

	lockdep_assert_held(&conn->lock);
	if (!(tsflags & SOF_TIMESTAMPING_TX_ACK) || !stamps)
		return;
	if (stamps->nr < NOTICE_STAMPS)
		stamps->nr++;
	stamps->end[stamps->nr - 1] = conn->ctl.tx_prep;
}

/**
 * smc_errqueue_next() - find the next byte that is to get a stamp
 * @conn: the connection
 * @pos: position in its stream
 *
 * Context: Process context. Expects the socket lock held. Takes conn->lock.
 * Return: position behind that byte, which is after @pos; U64_MAX if there is none.
 */
u64 smc_errqueue_next(struct smc_conn *conn, u64 pos)
{
	const struct smc_stamps *stamps = conn->stamps;
	unsigned int i;

	sock_owned_by_me(conn->sk);
	if (!stamps)
		return U64_MAX;
	guard(spinlock_bh)(&conn->lock);
	for (i = 0; i < stamps->nr; i++)
		if (stamps->end[i] > pos)
			return stamps->end[i];
	return U64_MAX;
}

/**
 * smc_errqueue_base() - the byte from which SOF_TIMESTAMPING_OPT_ID counts
 * @conn: the connection
 *
 * Context: Process context. Expects the socket lock held.
 * Return: position in its stream.
 */
u64 smc_errqueue_base(const struct smc_conn *conn)
{
	sock_owned_by_me(conn->sk);
	return conn->stamps && conn->stamps->has_id ? conn->stamp_base : conn->ctl.tx_prep;
}

/**
 * smc_errqueue_discard() - drop pending stamps, as TCP does for discarded data
 * @conn: the connection
 *
 * Context: Any context. Expects conn->lock held.
 */
void smc_errqueue_discard(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->stamps)
		conn->stamps->nr = 0;
}

/* Remove the oldest stamp if its bytes are acknowledged. */
static bool notice_take_due(struct smc_conn *conn, u32 *key)
{
	struct smc_stamps *stamps = conn->stamps;

	lockdep_assert_held(&conn->lock);
	if (!stamps->nr || stamps->end[0] > conn->ctl.tx_fin)
		return false;
	*key = stamps->end[0] - 1 - conn->stamp_base;
	stamps->nr--;
	memmove(stamps->end, stamps->end + 1, stamps->nr * sizeof(stamps->end[0]));
	return true;
}

static void notice_queue_stamp(struct sock *sk, u32 key)
{
	struct sock_exterr_skb *serr;
	struct sk_buff *skb;

	skb = alloc_skb(0, GFP_ATOMIC);
	if (!skb)
		return;
	__net_timestamp(skb);
	serr = SKB_EXT_ERR(skb);
	memset(serr, 0, sizeof(*serr));
	serr->ee.ee_errno = ENOMSG;
	serr->ee.ee_origin = SO_EE_ORIGIN_TIMESTAMPING;
	serr->ee.ee_info = SCM_TSTAMP_ACK;
	if (READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_OPT_ID)
		serr->ee.ee_data = key;
	/* limited by SO_RCVBUF */
	if (sock_queue_err_skb(sk, skb))
		kfree_skb(skb);
}

/**
 * smc_errqueue_report() - queue the time stamps that are due
 * @conn: the connection; the caller holds a reference
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_errqueue_report(struct smc_conn *conn)
{
	u32 key;

	if (!READ_ONCE(conn->stamps))
		return;
	spin_lock_bh(&conn->lock);
	/* one reporter at a time keeps the order; it also finds stamps that become due meanwhile */
	if (!conn->stamps->is_reporting) {
		while (notice_take_due(conn, &key)) {
			conn->stamps->is_reporting = true;
			spin_unlock_bh(&conn->lock);
			notice_queue_stamp(conn->sk, key);
			spin_lock_bh(&conn->lock);
		}
		conn->stamps->is_reporting = false;
	}
	spin_unlock_bh(&conn->lock);
}

/**
 * smc_errqueue_zerocopy_begin() - number a send() with MSG_ZEROCOPY
 * @sk: our sock
 * @msg: the message
 * @len: its bytes
 * @pinned: bytes whose pages may be taken; they count against RLIMIT_MEMLOCK
 * @uarg: filled; NULL if there is nothing to report
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0, to be followed by smc_errqueue_zerocopy_end(); -ENOBUFS with too many notices, or
 *	   locked pages.
 */
int smc_errqueue_zerocopy_begin(struct sock *sk, const struct msghdr *msg, size_t len,
				size_t pinned, struct ubuf_info **uarg)
{
	sock_owned_by_me(sk);
	*uarg = NULL;
	/* a caller with its own notice (io_uring) completes it */
	if (!(msg->msg_flags & MSG_ZEROCOPY) || !len || msg->msg_ubuf ||
	    !sock_flag(sk, SOCK_ZEROCOPY))
		return 0;
	*uarg = smc_compat_zerocopy_alloc(sk, pinned);
	return *uarg ? 0 : -ENOBUFS;
}

/**
 * smc_errqueue_zerocopy_end() - complete a send() with MSG_ZEROCOPY
 * @uarg: from smc_errqueue_zerocopy_begin(), or NULL; consumed
 * @was_sent: some of it was sent; otherwise the number is reused
 * @is_copied: no pages were taken
 *
 * Context: Process context, under the lock of smc_errqueue_zerocopy_begin().
 */
void smc_errqueue_zerocopy_end(struct ubuf_info *uarg, bool was_sent, bool is_copied)
{
	if (!uarg)
		return;
	if (!was_sent) {
		net_zcopy_put_abort(uarg, true);
		return;
	}
	if (is_copied)
		uarg_to_msgzc(uarg)->zerocopy = 0;
	net_zcopy_put(uarg);
}
