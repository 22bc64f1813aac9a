// SPDX-License-Identifier: GPL-2.0
/*
 * What a socket is told about the data it has sent.
 *
 * Operation:
 *   Notices wait in the error queue of TCP's sock, as those of TCP do, and look the same, so
 *   TCP hands them out. TCP itself carries no data and has none. There are two kinds.
 *
 *   Time stamps (SO_TIMESTAMPING). A send() that asks for one is remembered by
 *   the position of its last byte in the stream. When the RNIC reports completion
 *   the peer's RNIC has acknowledged that byte (TX_ACK). Nothing tells when it left
 *   this host: the other stamps of TCP (TX_SCHED, TX_SOFTWARE) are not given. There is
 *   no packet to show, so a notice is always without one (as with OPT_TSONLY).
 *
 *   MSG_ZEROCOPY. The payload is copied before send() returns, and that is what
 *   the notice says, at once: TCP does the same wherever it has to copy.
 *
 * Ownership:
 *   The table of stamps belongs to the connection, from the first send() that
 *   wants one on, and goes with its socket. conn->lock guards it.
 *
 * Error handling:
 *   Where memory is short, or nobody reads the notices, they are lost.
 */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/skbuff.h>

#include "smc_compat.h"
#include "sock/smc_errqueue.h"

/* So many send() calls can wait for stamps at a time; more share one, as with TCP. */
#define NOTICE_STAMPS	32

struct smc_stamps {
	u64 end[NOTICE_STAMPS];	/* position behind the last byte of each, oldest first */
	unsigned int nr;
	bool is_telling;	/* somebody is at smc_errqueue_report() */
	bool has_id;		/* SOF_TIMESTAMPING_OPT_ID, at the last send() */
};

/**
 * smc_errqueue_prepare() - a send() may want time stamps
 * @conn: the connection, open
 * @tsflags: SOF_TIMESTAMPING_* that hold for the call
 *
 * Without memory there are none.
 *
 * Context: Process context, may sleep. Expects the socket lock held. Takes
 *	    conn->lock.
 */
void smc_errqueue_prepare(struct smc_conn *conn, u32 tsflags)
{
	struct smc_stamps *stamps;

	sock_owned_by_me(conn->sk);
	bool wants_id = tsflags & SOF_TIMESTAMPING_OPT_ID;

	if (!(tsflags & SOF_TIMESTAMPING_TX_ACK))
		return;
	/* set under the socket lock, once */
	stamps = conn->stamps ?: kzalloc(sizeof(*stamps), GFP_KERNEL_ACCOUNT);
	if (!stamps)
		return;
	spin_lock_bh(&conn->lock);
	conn->stamps = stamps;
	/* nobody tells when the option was set: it counts from the next byte that is sent */
	if (wants_id && !stamps->has_id)
		conn->stamp_base = conn->tx_total;
	stamps->has_id = wants_id;
	spin_unlock_bh(&conn->lock);
}

/**
 * smc_errqueue_request() - what was sent so far ends a send() that wants time stamps
 * @conn: the connection, prepared
 * @tsflags: as above
 *
 * If it may have completed, smc_errqueue_report() is due after @conn->lock has been released.
 *
 * Context: Any context. Expects conn->lock held.
 */
void smc_errqueue_request(struct smc_conn *conn, u32 tsflags)
{
	struct smc_stamps *stamps = conn->stamps;

	lockdep_assert_held(&conn->lock);
	if (!(tsflags & SOF_TIMESTAMPING_TX_ACK) || !stamps)
		return;
	if (stamps->nr < NOTICE_STAMPS)
		stamps->nr++;
	stamps->end[stamps->nr - 1] = conn->tx_total;
}

/**
 * smc_errqueue_discard() - what was sent is thrown away
 * @conn: the connection
 *
 * As with TCP, of which nobody hears what became of an aborted connection's data.
 *
 * Context: Any context. Expects conn->lock held.
 */
void smc_errqueue_discard(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->stamps)
		conn->stamps->nr = 0;
}

/* Takes the oldest out of the table if it is due, which is when all is acknowledged. */
static bool notice_take_due(struct smc_conn *conn, u32 *key)
{
	struct smc_stamps *stamps = conn->stamps;
	u64 acked;

	lockdep_assert_held(&conn->lock);
	acked = conn->tx_total - smc_cursor_distance(conn->snd_geom, conn->tx_fin, conn->tx_prep);
	if (!stamps->nr || stamps->end[0] > acked)
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
	/* as much as fits SO_RCVBUF */
	if (sock_queue_err_skb(sk, skb))
		kfree_skb(skb);
}

/**
 * smc_errqueue_report() - queue the time stamps that have become due
 * @conn: the connection; the caller holds a reference
 *
 * To be called after data has completed, and after smc_errqueue_request().
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_errqueue_report(struct smc_conn *conn)
{
	u32 key;

	if (!READ_ONCE(conn->stamps))
		return;
	spin_lock_bh(&conn->lock);
	/* who is at it sees what has become due meanwhile; two would mix the order */
	if (!conn->stamps->is_telling) {
		while (notice_take_due(conn, &key)) {
			conn->stamps->is_telling = true;
			spin_unlock_bh(&conn->lock);
			notice_queue_stamp(conn->sk, key);
			spin_lock_bh(&conn->lock);
		}
		conn->stamps->is_telling = false;
	}
	spin_unlock_bh(&conn->lock);
}

/**
 * smc_errqueue_zerocopy_begin() - number a send() with MSG_ZEROCOPY
 * @sk: our sock
 * @msg: what is sent
 * @len: bytes of it
 * @uarg: filled; NULL if there is nothing to tell
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0, then smc_errqueue_zerocopy_end() is due; -ENOBUFS if too many
 *	   notices wait to be read.
 */
int smc_errqueue_zerocopy_begin(struct sock *sk, const struct msghdr *msg, size_t len,
				struct ubuf_info **uarg)
{
	sock_owned_by_me(sk);
	*uarg = NULL;
	/* who has a notice of his own (io_uring) completes it himself */
	if (!(msg->msg_flags & MSG_ZEROCOPY) || !len || msg->msg_ubuf ||
	    !sock_flag(sk, SOCK_ZEROCOPY))
		return 0;
	/* no pages are pinned, so none count against RLIMIT_MEMLOCK */
	*uarg = msg_zerocopy_realloc(sk, 0, NULL);
	return *uarg ? 0 : -ENOBUFS;
}

/**
 * smc_errqueue_zerocopy_end() - the payload has been copied
 * @uarg: from smc_errqueue_zerocopy_begin(); may be NULL; gone afterwards
 * @was_sent: some of it has become part of the stream; else its number is free
 *
 * Context: Process context, under the lock of smc_errqueue_zerocopy_begin().
 */
void smc_errqueue_zerocopy_end(struct ubuf_info *uarg, bool was_sent)
{
	if (!uarg)
		return;
	if (!was_sent) {
		net_zcopy_put_abort(uarg, true);
		return;
	}
	uarg_to_msgzc(uarg)->zerocopy = 0;
	net_zcopy_put(uarg);
}
