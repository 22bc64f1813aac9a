// SPDX-License-Identifier: GPL-2.0
/*
 * Connections as members of a link group: how long they live, and what a group does
 * with all of them.
 *
 * Ownership:
 *   Whoever uses a connection has a reference: the handshake, and after it the membership
 *   in the group; each CDC message in flight; each armed timer; a place among the waiters
 *   of a link; a reader of bytes that were left behind; who has looked it up. As long as
 *   there is one, the connection has both rings, which its socket pays for, a reference
 *   on the group and one on the socket. The last one gives all of that back, in whatever
 *   context it goes.
 *
 *   The socket points to its connection and is no user of it: between the two there is no
 *   circle of references. The struct stays, for what the socket still tells of it, until
 *   the socket has dropped it and there is no user.
 *
 * Locks:
 *   conn->lock guards the account: what a socket pays for may change hands by accept().
 */
#include "smc_compat.h"
#include "group/smc_member.h"
#include "group/smc_mem.h"
#include "rdma/smc_net.h"

#define CONN_ENDS	(BIT(SMC_CONN_DEAD) | BIT(SMC_CONN_UNREAD) | BIT(SMC_CONN_LEFT))
#define CONN_SETTLES	(BIT(SMC_CONN_OPEN) | BIT(SMC_CONN_FINAL))

/* Bit n of entry m: phase m may be followed by phase n. */
static const u16 conn_moves[SMC_CONN_NR_PHASES] = {
	/* it has said nothing that would have to be validated */
	[SMC_CONN_SETUP]	= BIT(SMC_CONN_OPEN) | BIT(SMC_CONN_DEAD) | BIT(SMC_CONN_LEFT),
	[SMC_CONN_OPEN]		= BIT(SMC_CONN_LEAVING) | BIT(SMC_CONN_VALIDATING) |
				  BIT(SMC_CONN_FINAL) | CONN_ENDS,
	[SMC_CONN_LEAVING]	= BIT(SMC_CONN_VALIDATING) | CONN_ENDS,
	[SMC_CONN_VALIDATING]	= BIT(SMC_CONN_LEAVING) | BIT(SMC_CONN_REPLAYING) |
				  CONN_SETTLES | CONN_ENDS,
	[SMC_CONN_REPLAYING]	= BIT(SMC_CONN_LEAVING) | BIT(SMC_CONN_VALIDATING) |
				  CONN_SETTLES | CONN_ENDS,
	[SMC_CONN_FINAL]	= BIT(SMC_CONN_LEAVING) | BIT(SMC_CONN_VALIDATING) | CONN_ENDS,
	[SMC_CONN_DEAD]		= BIT(SMC_CONN_UNREAD) | BIT(SMC_CONN_LEFT),
	[SMC_CONN_UNREAD]	= BIT(SMC_CONN_LEFT),
	[SMC_CONN_LEFT]		= 0,
};

/**
 * smc_conn_set_phase() - the one way to change what a connection may do
 * @conn: the connection
 * @phase: what it enters
 *
 * One in set-up has nothing to leave its link for, and one that is dead nothing to say on
 * another: both only change it.
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 * Return: false if it is in @phase, or may not enter it: nothing has changed.
 */
bool smc_conn_set_phase(struct smc_conn *conn, enum smc_conn_phase phase)
{
	lockdep_assert_held(&conn->lock);
	if (!(conn_moves[conn->phase] & BIT(phase)))
		return false;
	WRITE_ONCE(conn->phase, phase);
	return true;
}

/**
 * smc_conn_drop() - a socket has no use for its connection any more
 * @conn: the connection, to which the socket does not point any more
 *
 * The last user drops it, too.
 *
 * Context: Any context but hard interrupt.
 */
void smc_conn_drop(struct smc_conn *conn)
{
	if (!refcount_dec_and_test(&conn->holders))
		return;
	WARN_ON_ONCE(conn->rmbe.buf || conn->sndbuf.buf);
	kfree(conn->stamps);
	kfree_rcu(conn, rcu);
}

/* The rings go back: to the account, and to their pools. */
static void conn_release_rings(struct smc_conn *conn, struct smc_link_group *lgr)
{
	guard(spinlock_bh)(&conn->lock);
	smc_mem_uncharge(&conn->account, conn->rmbe.size + conn->sndbuf.size);
	/* nothing is charged from here on */
	if (conn->is_peer_done)
		smc_buf_put(&lgr->rmbs, &conn->rmbe);
	else
		smc_buf_lose(&lgr->rmbs, &conn->rmbe);
	smc_buf_put(&lgr->sends, &conn->sndbuf);
}

/**
 * smc_conn_release() - nobody uses a connection any more
 * @conn: the connection
 *
 * For smc_conn_put() alone.
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_conn_release(struct smc_conn *conn)
{
	struct smc_link_group *lgr = conn->lgr;

	if (lgr) {
		conn_release_rings(conn, lgr);
		conn->ops.event(conn, SMC_EV_RINGS_FREE);
		conn->lgr = NULL;
		smc_lgr_put(lgr);
	}
	smc_mem_close(&conn->account);
	sock_put(conn->sk);
	smc_conn_drop(conn);
}

/**
 * smc_conn_arm() - start a timer of a connection, or put it off
 * @conn: the connection
 * @timer: one of its timers, which has a reference while it is armed
 * @expires: jiffies
 *
 * Context: Any context but hard interrupt. The caller has a reference.
 */
void smc_conn_arm(struct smc_conn *conn, struct timer_list *timer, unsigned long expires)
{
	if (!mod_timer(timer, expires))
		smc_conn_get(conn);
}

/**
 * smc_conn_disarm() - undo smc_conn_arm()
 * @conn: the connection
 * @timer: as above; may run yet
 *
 * Context: Any context but hard interrupt. The caller has another reference.
 */
void smc_conn_disarm(struct smc_conn *conn, struct timer_list *timer)
{
	if (timer_delete(timer))
		smc_conn_put(conn);
}

/**
 * smc_conn_lookup() - the connection that an alert token names
 * @lgr: the group
 * @token: from a CDC message
 *
 * RFC 7609 1.2, A.4 (CDC-09, RMB-33).
 *
 * Context: Any context but hard interrupt.
 * Return: the connection with a reference for the caller; NULL if there is none.
 */
struct smc_conn *smc_conn_lookup(struct smc_link_group *lgr, u32 token)
{
	struct smc_conn *conn;

	guard(rcu)();
	conn = xa_load(&lgr->conns, token);
	if (conn && !refcount_inc_not_zero(&conn->users))
		conn = NULL;
	return conn;
}

/**
 * smc_lgr_next_conn() - walk the connections of a group
 * @lgr: the group
 * @token: where to go on: 0 at first, then left alone
 *
 * Connections may come and go meanwhile; one that stays is seen once.
 *
 * Context: Any context but hard interrupt.
 * Return: a connection with a reference for the caller; NULL after the last one.
 */
struct smc_conn *smc_lgr_next_conn(struct smc_link_group *lgr, unsigned long *token)
{
	struct smc_conn *conn;

	guard(rcu)();
	do {
		conn = xa_find_after(&lgr->conns, token, ULONG_MAX, XA_PRESENT);
	} while (conn && !refcount_inc_not_zero(&conn->users));
	return conn;
}

/**
 * smc_lgr_set_geometry() - start a connection's cursors in the group's dialect
 * @lgr: the group, its dialect committed
 * @conn: the connection, its element known; nothing was sent or received yet
 *
 * Where the peer's element is not known yet, the smallest one stands for it:
 * until it is, nothing is written there, and the peer has nothing to
 * acknowledge. RFC 7609 4.7.1 (CUR-03, CUR-04).
 *
 * Context: Any context. Expects conn->lock held.
 */
void smc_lgr_set_geometry(struct smc_link_group *lgr, struct smc_conn *conn)
{
	u32 base = lgr->params.elem_base;
	struct smc_geom rx = { .size = conn->rmbe.size, .base = base };
	struct smc_geom tx = { .size = conn->peer_size ?: SMC_BUF_MIN_SIZE, .base = base };

	lockdep_assert_held(&conn->lock);
	smc_cdc_ctl_init(&conn->ctl, rx, tx);
	bitmap_zero(conn->rx_links, U8_MAX + 1);
}

/**
 * smc_lgr_set_link() - which link a connection's sends use
 * @conn: the connection
 * @link: the link, NULL for none
 *
 * Context: Any context. Expects conn->lock held.
 */
void smc_lgr_set_link(struct smc_conn *conn, struct smc_link *link)
{
	struct smc_link *had;

	lockdep_assert_held(&conn->lock);
	had = smc_conn_link(conn);
	if (had)
		atomic_dec(&had->nr_conns);
	if (link)
		atomic_inc(&link->nr_conns);
	rcu_assign_pointer(conn->link, link);
	/* that was on the old one */
	if (conn->heard == SMC_CONN_ASKED)
		conn->heard = SMC_CONN_SPOKE;
}

/**
 * smc_lgr_retain_unread() - a connection goes on to be read without a link
 * @conn: the connection; nothing happens if it is on no link
 *
 * What the peer has written may be read for long, and there is no link any more for
 * whose device it could be synced then.
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 */
void smc_lgr_retain_unread(struct smc_conn *conn)
{
	struct smc_link *link = smc_conn_link(conn);

	lockdep_assert_held(&conn->lock);
	if (link)
		smc_buf_sync_for_cpu(&conn->rmbe, &link->wr, link->index, 0, conn->rmbe.size);
}

/**
 * smc_lgr_abort_conn() - a connection loses its way to the peer
 * @conn: the connection
 *
 * Nothing is posted for it afterwards; what is in flight completes. The first
 * call tells the socket (SMC_EV_LINK_LOST).
 *
 * Context: Any context but hard interrupt; lgr->lock may be held. Takes
 *	    conn->lock.
 */
void smc_lgr_abort_conn(struct smc_conn *conn)
{
	struct smc_link *had_link;

	scoped_guard(spinlock_bh, &conn->lock) {
		had_link = smc_conn_link(conn);
		if (had_link) {
			conn->is_peer_silent = READ_ONCE(had_link->wr.is_peer_silent);
			smc_lgr_retain_unread(conn);
		}
		smc_lgr_set_link(conn, NULL);
		smc_conn_set_phase(conn, SMC_CONN_DEAD);
	}
	if (had_link)
		conn->ops.event(conn, SMC_EV_LINK_LOST);
}

/**
 * smc_lgr_commit_dialect() - settle what the elements look like
 * @lgr: the group, FORMING
 * @dialect: agreed on by CONFIRM LINK
 *
 * Called before the message is posted that lets the peer send: from then on a
 * CDC may arrive. A second call changes nothing.
 *
 * Context: Process context. Expects lgr->lock held. Takes conn->lock.
 */
void smc_lgr_commit_dialect(struct smc_link_group *lgr, enum smc_dialect dialect)
{
	unsigned long token = 0;
	struct smc_conn *conn;

	lockdep_assert_held(&lgr->lock);
	if (lgr->is_committed)
		return;
	smc_nego_settle_dialect(&lgr->params, dialect);
	lgr->is_committed = true;
	while ((conn = smc_lgr_next_conn(lgr, &token))) {
		scoped_guard(spinlock_bh, &conn->lock)
			smc_lgr_set_geometry(lgr, conn);
		smc_conn_put(conn);
	}
}
