// SPDX-License-Identifier: GPL-2.0
/*
 * Connections as members of a link group.
 *
 * Ownership:
 *   Each user of a connection has a reference: the handshake, then the membership in the group;
 *   each CDC message in flight; each armed timer; a place among a link's waiters; a reader of bytes
 *   left behind; a lookup. While there is a user, the connection has both rings, which its socket
 *   pays for, and references on the group and the socket. The last user releases all of that in any
 *   context.
 *
 *   The socket points to its connection but is no user, so references form no circle. The struct
 *   stays until the socket has dropped it and there is no user.
 *
 * Locks:
 *   conn->lock guards the account: accept() may change the payer.
 */
#include "smc_compat.h"
#include "group/smc_member.h"
#include "group/smc_mem.h"
#include "rdma/smc_net.h"

#define CONN_ENDS	(BIT(SMC_CONN_DEAD) | BIT(SMC_CONN_UNREAD) | BIT(SMC_CONN_LEFT))
#define CONN_SETTLES	(BIT(SMC_CONN_OPEN) | BIT(SMC_CONN_FINAL))

/* Bit n of entry m: phase m may be followed by phase n. */
static const u16 conn_moves[SMC_CONN_NR_PHASES] = {
	/* a connection that never sent needs no validation */
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
 * smc_conn_set_phase() - change what a connection may do
 * @conn: the connection
 * @phase: the new phase
 *
 * A connection in set-up has nothing to leave its link for, and a dead one does not post on another
 * link: both only change conn->link.
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 * Return: false if it is in @phase or may not enter it: nothing has changed.
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
 * smc_conn_drop() - release a holder of a connection: its socket, or all its users
 * @conn: the connection
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

static void conn_release_rings(struct smc_conn *conn, struct smc_link_group *lgr)
{
	guard(spinlock_bh)(&conn->lock);
	smc_mem_uncharge(&conn->account, conn->rmbe.size + conn->sndbuf.size);
	/* nothing is charged any more */
	if (conn->is_peer_done)
		smc_buf_put(&lgr->rmbs, &conn->rmbe);
	else
		smc_buf_lose(&lgr->rmbs, &conn->rmbe);
	smc_buf_put(&lgr->sends, &conn->sndbuf);
}

/**
 * smc_conn_release() - release what a connection without users owns; only for smc_conn_put()
 * @conn: the connection
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
 * smc_conn_arm() - start or postpone a timer of a connection
 * @conn: the connection
 * @timer: one of its timers; has a reference while it is armed
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
 * smc_conn_disarm() - stop a timer, which may still run
 * @conn: the connection
 * @timer: one of its timers
 *
 * Context: Any context but hard interrupt. The caller has another reference.
 */
void smc_conn_disarm(struct smc_conn *conn, struct timer_list *timer)
{
	if (timer_delete(timer))
		smc_conn_put(conn);
}

/**
 * smc_conn_lookup() - find a connection by its alert token
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
 * @token: position; 0 at first, then not to be changed
 *
 * Connections may come and go during the walk; one that stays is returned once.
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
 * If the peer's element is not known yet, the smallest size stands for it: until then nothing is
 * written there. RFC 7609 4.7.1 (CUR-03, CUR-04).
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
 * smc_lgr_set_link() - set the link that a connection's sends use
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
	/* a TEST LINK on the old link proves nothing about this one */
	if (conn->receipt == SMC_CONN_RECEIPT_ASKED)
		conn->receipt = SMC_CONN_RECEIPT_UNKNOWN;
}

/**
 * smc_lgr_retain_unread() - make unread data readable without a link
 * @conn: the connection; nothing happens if it is on no link
 *
 * The data may be read long after the link, whose device it is synced for, is gone.
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
 * smc_lgr_abort_conn() - cut a connection off from its peer
 * @conn: the connection
 *
 * Nothing is posted afterwards; what is in flight completes. The first call raises
 * SMC_EV_LINK_LOST.
 *
 * Context: Any context but hard interrupt; lgr->lock may be held. Takes conn->lock.
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
 * smc_lgr_commit_dialect() - settle the layout of elements
 * @lgr: the group, FORMING
 * @dialect: agreed on by CONFIRM LINK
 *
 * Called before the message that permits the peer to send is posted: a CDC may arrive from then on.
 * A second call changes nothing.
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
