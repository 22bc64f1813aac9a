// SPDX-License-Identifier: GPL-2.0
/*
 * The send ring of a connection: small at first, larger while much is sent.
 *
 * Operation: the handshake takes a ring of the least size, unless the application has set
 * SO_SNDBUF. A send() that finds it full asks for one of the full size (net.smc.wmem). Rings
 * change only while empty: until then the larger one waits, and send() finds no space. A
 * connection that sends nothing for a while returns it. So an idle connection has a small send
 * ring, and no send fails or waits for want of a larger one.
 *
 * Ownership: conn->sndbuf is the ring in use, conn->sndbuf_other the one that is not: the larger
 * one while it waits, else the small one, to which the connection returns. Both are elements of the
 * group's pool, charged to the connection. Without a free element a work item adds a region; the
 * connection asks again when its ring is full the next time.
 *
 * Locks: a ring changes under the socket lock, with which send() copies into it, and conn->lock,
 * with which messages are built from it.
 */
#include "smc_compat.h"
#include "group/smc_llc_msg.h"
#include "group/smc_mem.h"
#include "group/smc_pool.h"
#include "group/smc_sndbuf.h"

/* A connection without data for this time returns its larger ring. */
#define SNDBUF_IDLE_MS		5000

/* Between attempts of a connection to get a larger ring. */
#define SNDBUF_PAUSE		(HZ / 50 + 1)

static bool sndbuf_is_waiting(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->sndbuf_other.size > conn->sndbuf.size;
}

static bool sndbuf_is_empty(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return smc_cursor_is_equal(conn->tx_fin, conn->tx_prep);
}

/**
 * smc_sndbuf_space() - get the number of bytes that send() may add now
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 * Return: bytes; 0 while a larger ring waits for the present one to be empty.
 */
u32 smc_sndbuf_space(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (!sndbuf_is_waiting(conn))
		return smc_conn_room(conn);
	return sndbuf_is_empty(conn) ? conn->sndbuf_other.size : 0;
}

/* Rings are empty, so no cursor of the old one is needed. */
static void sndbuf_exchange(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	swap(conn->sndbuf, conn->sndbuf_other);
	conn->snd_geom.size = conn->sndbuf.size;
	conn->tx_prep = smc_cursor_start(conn->snd_geom);
	conn->tx_sent = conn->tx_prep;
	conn->tx_fin = conn->tx_prep;
	conn->tx_mark = conn->tx_prep;
}

/**
 * smc_sndbuf_switch() - use the larger ring if it waits and the present one is empty
 * @conn: the connection
 *
 * Context: Process context. Expects the socket lock held. Takes conn->lock.
 */
void smc_sndbuf_switch(struct smc_conn *conn)
{
	sock_owned_by_me(conn->sk);
	if (conn->sndbuf_other.size <= conn->sndbuf.size)
		return;
	guard(spinlock_bh)(&conn->lock);
	if (sndbuf_is_empty(conn))
		sndbuf_exchange(conn);
}

/* Without a free element, have one added; its region has further ones for other connections. */
static int sndbuf_take(struct smc_conn *conn, struct smc_buf_elem *elem)
{
	struct smc_link_group *lgr = conn->lgr;
	int rc = smc_buf_get(&lgr->sends, conn->sndbuf_most, elem);

	if (rc) {
		WRITE_ONCE(lgr->sndbuf_size, conn->sndbuf_most);
		smc_core_queue_patient(lgr, &lgr->sndbuf_work);
		return rc;
	}
	/* nobody else uses the account: accept() has returned, and the handshake is over */
	rc = smc_mem_charge(&conn->account, elem->size);
	if (rc)
		smc_buf_put(&lgr->sends, elem);
	return rc;
}

/**
 * smc_sndbuf_enlarge() - get a larger ring for a connection whose ring is full
 * @conn: the connection, open
 *
 * The ring in use stays until it is empty: smc_sndbuf_switch(). Does nothing when called often, or
 * without a free one. Data held back has to be flushed then, or the ring is never empty.
 *
 * Context: Process context, may sleep. Expects the socket lock held. Takes conn->lock.
 */
void smc_sndbuf_enlarge(struct smc_conn *conn)
{
	struct smc_link_group *lgr = conn->lgr;
	struct smc_buf_elem elem;

	sock_owned_by_me(conn->sk);
	if (conn->sndbuf_other.buf || conn->sndbuf.size >= conn->sndbuf_most ||
	    time_before(jiffies, conn->sndbuf_jiffies))
		return;
	conn->sndbuf_jiffies = jiffies + SNDBUF_PAUSE;
	if (sndbuf_take(conn, &elem))
		return;
	scoped_guard(spinlock_bh, &conn->lock)
		conn->sndbuf_other = elem;
	/* the worker sleeps until something is due */
	if (atomic_inc_return(&lgr->nr_enlarged) == 1)
		smc_llc_queue_work(lgr);
}

static bool sndbuf_is_idle(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->sndbuf_other.buf && sndbuf_is_empty(conn) &&
	       time_after_eq(jiffies, conn->tx_jiffies + msecs_to_jiffies(SNDBUF_IDLE_MS));
}

/* Return to the small ring if the larger one is idle, unless a call may be copying into it. */
static void sndbuf_shrink(struct smc_conn *conn)
{
	struct sock *sk = conn->sk;

	guard(spinlock_bh)(&sk->sk_lock.slock);
	if (sock_owned_by_user(sk))
		return;
	guard(spinlock)(&conn->lock);
	if (!sndbuf_is_idle(conn))
		return;
	if (!sndbuf_is_waiting(conn))
		sndbuf_exchange(conn);
	smc_mem_uncharge(&conn->account, conn->sndbuf_other.size);
	smc_buf_put(&conn->lgr->sends, &conn->sndbuf_other);
	atomic_dec(&conn->lgr->nr_enlarged);
}

/**
 * smc_sndbuf_due() - when the worker has to call smc_sndbuf_sweep()
 * @lgr: the group
 *
 * Context: Expects lgr->lock held.
 * Return: in ms, or SMC_LLC_NO_DEADLINE.
 */
u64 smc_sndbuf_due(const struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->lock);
	if (!atomic_read(&lgr->nr_enlarged))
		return SMC_LLC_NO_DEADLINE;
	return lgr->sndbuf_swept_ms + SNDBUF_IDLE_MS;
}

/**
 * smc_sndbuf_sweep() - return larger rings that are idle, if it is time
 * @lgr: the group
 *
 * Context: The worker of @lgr. Expects lgr->lock held. Takes socket spinlocks and conn->lock.
 */
void smc_sndbuf_sweep(struct smc_link_group *lgr)
{
	struct smc_conn *conn;
	unsigned long pos = 0;

	lockdep_assert_held(&lgr->lock);
	if (llc_now() < smc_sndbuf_due(lgr))
		return;
	lgr->sndbuf_swept_ms = llc_now();
	while ((conn = smc_lgr_next_conn(lgr, &pos))) {
		sndbuf_shrink(conn);
		smc_conn_put(conn);
	}
	smc_pool_trim(lgr);
}

/* A failure needs no report: the connections keep their small rings and ask again. */
static void sndbuf_work(struct work_struct *work)
{
	struct smc_link_group *lgr = container_of(work, struct smc_link_group, sndbuf_work);
	struct smc_buf_elem elem = {};

	/* a task that adds a region of RMBs may wait for the peer */
	if (!smc_pool_begin_grow(lgr)) {
		if (!smc_pool_grow(lgr, &lgr->sends, READ_ONCE(lgr->sndbuf_size), true, &elem))
			smc_buf_put(&lgr->sends, &elem);
		smc_pool_end_grow(lgr);
	}
	smc_lgr_put(lgr);
}

/**
 * smc_sndbuf_init() - prepare a group that is being formed
 * @lgr: the group
 *
 * Context: Process context.
 */
void smc_sndbuf_init(struct smc_link_group *lgr)
{
	INIT_WORK(&lgr->sndbuf_work, sndbuf_work);
}
