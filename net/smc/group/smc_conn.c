// SPDX-License-Identifier: GPL-2.0
/*
 * One connection of a link group.
 *
 * Operation:
 *   A socket's connection joins a group with the rings it was given, learns the peer's element from
 *   Accept or Confirm, is opened when data may flow, and leaves. In between completion handlers
 *   find it by its alert token.
 *
 * Ownership:
 *   A joined connection owns a membership in the group with a reference, its element and its send
 *   ring. The rings are returned when it has left the group, its last write has completed, and what
 *   it left unread was read or dropped.
 *
 * Locks:
 *   Until it is opened, the connection belongs to the handshake, which does not hold the socket
 *   lock. Socket calls do not use it then (is_connecting, or no file yet), except for what
 *   conn->lock guards: see struct smc_conn. tx_prep is written under both locks.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "smc_compat.h"
#include "proto/smc_cdc_imm.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "group/smc_carrier.h"
#include "group/smc_conn.h"
#include "group/smc_core.h"
#include "group/smc_failover.h"
#include "group/smc_pages.h"

/* Ample for a message that waits in the queue of a link that is up. */
#define SMC_CONN_HOLD_TIME	(2 * HZ)

/* First bytes of our elements in the RFC dialect, RMB-12. */
static const u8 smc_conn_eyecatcher[SMC_EYE_CATCHER_LEN] = { 0xe2, 0xd4, 0xc3, 0xd9 };

static void conn_hold_expired(struct timer_list *timer);

/* Bit n of entry m: phase m may be followed by phase n. */
static const u8 conn_moves[SMC_CONN_NR_PHASES] = {
	/* a connection that never sent needs no validation */
	[SMC_CONN_SETUP]	= BIT(SMC_CONN_OPEN) | BIT(SMC_CONN_LEFT),
	[SMC_CONN_OPEN]		= BIT(SMC_CONN_LEAVING) | BIT(SMC_CONN_VALIDATING) |
				  BIT(SMC_CONN_LEFT),
	[SMC_CONN_LEAVING]	= BIT(SMC_CONN_VALIDATING) | BIT(SMC_CONN_LEFT),
	[SMC_CONN_VALIDATING]	= BIT(SMC_CONN_LEAVING) | BIT(SMC_CONN_REPLAYING) |
				  BIT(SMC_CONN_OPEN) | BIT(SMC_CONN_LEFT),
	[SMC_CONN_REPLAYING]	= BIT(SMC_CONN_LEAVING) | BIT(SMC_CONN_VALIDATING) |
				  BIT(SMC_CONN_OPEN) | BIT(SMC_CONN_LEFT),
	[SMC_CONN_LEFT]		= 0,
};

/**
 * smc_conn_set_phase() - change what a connection may do
 * @conn: the connection
 * @phase: the new phase
 *
 * A connection in set-up has nothing to leave its link for: it only changes conn->link.
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

static void conn_free(struct rcu_head *rcu)
{
	struct smc_conn *conn = container_of(rcu, struct smc_conn, rcu);

	WARN_ON_ONCE(conn->rmbe.buf || conn->sndbuf.buf || conn->tx_pages);
	if (conn->carrier->free)
		conn->carrier->free(conn);
	sock_put(conn->sk);
	kfree(conn->stamps);
	kfree(conn);
}

/**
 * smc_conn_put() - drop a reference on a connection
 * @conn: the connection
 *
 * Context: Any context.
 */
void smc_conn_put(struct smc_conn *conn)
{
	if (refcount_dec_and_test(&conn->refs))
		call_rcu(&conn->rcu, conn_free);
}

/* Bytes of the element that may not be zero. A peer that closed has announced all that it wrote. */
static u32 conn_dirty_bytes(const struct smc_conn *conn)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;

	lockdep_assert_held(&conn->lock);
	if ((ctl->rx_conn_flags & SMC_CDC_FINAL) != SMC_CDC_CLOSED)
		return conn->rmbe.size;
	return clamp_t(u64, ctl->rx_edge.base + ctl->rx_prod, SMC_EYE_CATCHER_LEN,
		       conn->rmbe.size);
}

static void conn_release_rings(struct smc_conn *conn, struct smc_link_group *lgr)
{
	lockdep_assert_held(&conn->lock);
	conn->rmbe.dirty = conn_dirty_bytes(conn);
	if (conn->is_peer_done)
		smc_buf_put(&lgr->rmbs, &conn->rmbe);
	else
		smc_buf_lose(&lgr->rmbs, &conn->rmbe);
	smc_buf_put(&lgr->sends, &conn->sndbuf);
}

/**
 * smc_conn_return_rings() - return both rings of a connection when their last use may have ended
 * @conn: the connection; nothing happens unless it has left its group, no write is in flight and
 *	  nothing may be read
 *
 * Context: Any context but hard interrupt. Expects a reference or an RCU read section. Takes
 *	    conn->lock.
 */
void smc_conn_return_rings(struct smc_conn *conn)
{
	struct smc_link_group *lgr = conn->lgr;

	scoped_guard(spinlock_bh, &conn->lock) {
		if (conn->phase != SMC_CONN_LEFT || conn->tx_inflight ||
		    smc_conn_may_read(conn) || !conn->rmbe.buf)
			return;
		conn_release_rings(conn, lgr);
	}
	smc_wr_flow_leave(&conn->flow);
	conn->ops->event(conn, SMC_EV_RINGS_FREE);
	conn->lgr = NULL;
	smc_lgr_put(lgr);
	smc_conn_put(conn);
}

/**
 * smc_conn_lookup() - find a connection by its alert token
 * @lgr: the group
 * @token: from a CDC message
 *
 * RFC 7609 1.2, A.4 (CDC-09, RMB-33). A stale token may have the index of a later connection.
 *
 * Context: Any context. Expects an RCU read section, in which the result is valid.
 * Return: the connection; NULL if there is none.
 */
struct smc_conn *smc_conn_lookup(struct smc_link_group *lgr, u32 token)
{
	struct smc_conn *conn = xa_load(&lgr->conns, token & SMC_TOKEN_INDEX);

	return conn && READ_ONCE(conn->token) == token ? conn : NULL;
}

/**
 * smc_conn_lookup_imm() - find a connection by its name in immediate data
 * @lgr: the group
 * @name: any
 *
 * An older connection had the same name only if the peer has closed it, see conn_drop_token().
 *
 * Context: Any context. Expects an RCU read section, in which the result is valid.
 * Return: the connection; NULL if there is none.
 */
struct smc_conn *smc_conn_lookup_imm(struct smc_link_group *lgr, u16 name)
{
	struct smc_conn *conn = xa_load(&lgr->conns, smc_imm_index(name));

	return conn && smc_imm_name(READ_ONCE(conn->token)) == name ? conn : NULL;
}

/**
 * smc_conn_set_geometry() - start a connection's streams in the group's dialect
 * @lgr: the group, its dialect committed
 * @conn: the connection, its element known; nothing was sent or received yet
 *
 * If the peer's element is not known yet, the smallest size stands for it: until then nothing is
 * written there. RFC 7609 4.7.1 (CUR-03, CUR-04).
 *
 * Context: Any context. Expects conn->lock held.
 */
void smc_conn_set_geometry(struct smc_link_group *lgr, struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	smc_cdc_ctl_init(&conn->ctl, lgr->params.elem_base, conn->rmbe.size,
			 conn->peer_size ?: SMC_BUF_MIN_SIZE, conn->sndbuf.size);
	bitmap_zero(conn->rx_links, U8_MAX + 1);
}

/**
 * smc_conn_set_link() - set the link that a connection's sends use
 * @conn: the connection
 * @link: the link, NULL for none
 *
 * Context: Any context. Expects conn->lock held.
 */
void smc_conn_set_link(struct smc_conn *conn, struct smc_link *link)
{
	struct smc_link *had;

	lockdep_assert_held(&conn->lock);
	had = smc_conn_link(conn);
	if (had)
		atomic_dec(&had->nr_conns);
	if (link) {
		atomic_inc(&link->nr_conns);
		conn->snd_iova = smc_buf_elem_iova(&conn->sndbuf);
		conn->snd_lkey = smc_buf_lkey(conn->sndbuf.buf, link->index);
		conn->needs_sync = conn->sndbuf.buf->map[link->index].needs_sync ||
				   conn->rmbe.buf->map[link->index].needs_sync;
	}
	rcu_assign_pointer(conn->link, link);
}

/*
 * Take a connection off its link for good. Nothing is posted or applied afterwards; what is in
 * flight completes. Unread data may be read long after the link, whose device it is synced for, is
 * gone. Returns true if it was on a link.
 */
static bool conn_cut(struct smc_conn *conn)
{
	struct smc_link *link = smc_conn_link(conn);

	lockdep_assert_held(&conn->lock);
	if (!link)
		return false;
	conn->is_peer_silent = READ_ONCE(link->wr.is_peer_silent);
	if (smc_conn_may_read(conn))
		smc_buf_sync_for_cpu(&conn->rmbe, &link->wr, link->index, 0, conn->rmbe.size);
	smc_conn_set_link(conn, NULL);
	return true;
}

/**
 * smc_conn_abort() - cut a connection off from its peer
 * @conn: the connection
 *
 * As conn_cut(). The first call raises SMC_EV_LINK_LOST.
 *
 * Context: Any context but hard interrupt; lgr->lock may be held. Takes conn->lock.
 */
void smc_conn_abort(struct smc_conn *conn)
{
	bool had_link;

	scoped_guard(smc_conn, conn)
		had_link = conn_cut(conn);
	if (had_link)
		conn->ops->event(conn, SMC_EV_LINK_LOST);
}

/**
 * smc_conn_alloc() - allocate a connection that is in no group yet
 * @sk: its socket
 * @ops: callbacks
 * @carrier: what will carry it, unless it joins another one
 *
 * Context: Process context, may sleep.
 * Return: the connection, with a reference for the socket; or NULL.
 */
struct smc_conn *smc_conn_alloc(struct sock *sk, const struct smc_conn_ops *ops,
				const struct smc_carrier *carrier)
{
	struct smc_conn *conn = kzalloc(sizeof(*conn), SMC_MEM_GFP);

	if (!conn)
		return NULL;
	refcount_set(&conn->refs, 1);
	sock_hold(sk);
	conn->sk = sk;
	conn->ops = ops;
	conn->carrier = carrier;
	conn->tx_freed = &conn->ctl.tx_fin;
	conn->flow.cqe.done = carrier->done;
	conn->attn = SMC_ATTN_PHASE;
	conn->rtoken = -1;
	timer_setup(&conn->hold_timer, conn_hold_expired, 0);
	spin_lock_init(&conn->lock);
	INIT_LIST_HEAD(&conn->wait_node);
	return conn;
}

/*
 * Take a token that no connection of the group has or had lately, RMB-33: an index that is free
 * below a number that advances.
 */
static int conn_take_token(struct smc_conn *conn, struct smc_link_group *lgr)
{
	u32 index;
	int rc;

	rc = xa_alloc(&lgr->conns, &index, conn, XA_LIMIT(1, SMC_TOKEN_INDEX), GFP_KERNEL);
	if (rc)
		return rc;
	/* pairs with READ_ONCE() in smc_conn_lookup() */
	WRITE_ONCE(conn->token, (u32)atomic_inc_return(&lgr->nr_tokens) << 16 | index);
	return 0;
}

/*
 * A peer that may still send could hit the next connection with this index by immediate data, which
 * names a connection by few bits. So an index with a name stays reserved (protocol.md). Most
 * indexes have none: they do not run out.
 */
static void conn_drop_token(struct smc_conn *conn, struct smc_link_group *lgr, bool is_peer_done)
{
	u32 index = conn->token & SMC_TOKEN_INDEX;

	if (is_peer_done || !smc_imm_name(conn->token) || !(lgr->ext & SMC_LLC_EXT_IMMEDIATE))
		xa_erase(&lgr->conns, index);
	else
		/* in an array that allocates, an index with NULL is not free */
		xa_store(&lgr->conns, index, NULL, GFP_KERNEL);
	WRITE_ONCE(conn->token, 0);
}

/*
 * The eye catcher is written unless the peer is known to expect none; data overwrites it then,
 * RMB-14. It reaches memory before the element is announced: on a device that does not snoop
 * caches, a later write-back would overwrite the peer's data.
 */
static void conn_show_rmbe(struct smc_conn *conn, struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	lockdep_assert_held(&lgr->lock);
	if (!lgr->is_committed || lgr->params.elem_base)
		memcpy(conn->rmbe.cpu, smc_conn_eyecatcher, SMC_EYE_CATCHER_LEN);
	if (conn->rmbe.buf->map[link->index].mr)
		smc_buf_sync_for_device(&conn->rmbe, &link->wr, link->index, 0,
					conn->rmbe.size);
}

static bool conn_link_is_left(const struct smc_link *link)
{
	enum smc_link_state state = READ_ONCE(link->state);

	return state == SMC_LINK_INACTIVE || state == SMC_LINK_DELETING;
}

/* A connection that joins a link being left would not be moved off it. */
static bool conn_may_use(const struct smc_link *link)
{
	return link->lgr->links[link->index] == link && !conn_link_is_left(link);
}

/* The wanted link if it may be used, otherwise another one. */
static struct smc_link *conn_choose(struct smc_link_group *lgr, struct smc_link *link)
{
	lockdep_assert_held(&lgr->lock);
	return link && conn_may_use(link) ? link : smc_lgr_pick_link(lgr);
}

/* Fails if the group's connections are or will be cut off. */
static int conn_attach(struct smc_conn *conn, struct smc_link_group *lgr, struct smc_link *link)
{
	lockdep_assert_held(&lgr->lock);
	guard(smc_conn)(conn);
	/* Either this sees the end of the group, or the teardown sees @conn. */
	if (smc_lgr_is_down(lgr) || !link)
		return -ECONNABORTED;
	if (lgr->is_committed)
		smc_conn_set_geometry(lgr, conn);
	smc_conn_set_link(conn, link);
	return 0;
}

/**
 * smc_conn_join() - turn a reservation into a connection
 * @conn: its rmbe and sndbuf are elements of @lgr's pools
 * @lgr: reserved; reservation and reference belong to @conn afterwards
 * @link: the link that is to carry it; if NULL or being left, the one with the fewest connections
 *	  is taken (LB-03)
 *
 * Takes an alert token, writes the eye catcher if needed and syncs the RMBE for the RNIC. CDC
 * messages can reach the connection from here on, once the dialect is committed. RFC 7609 4.4.1
 * (RMB-08, RMB-14, RMB-32, RMB-33).
 *
 * Context: Process context, may sleep. Called by the handshake, which owns the connection until it
 *	    is opened, without the socket lock. Takes lgr->lock and conn->lock.
 * Return: 0; -ENOMEM; -EBUSY if tokens have run out; -ECONNABORTED if the group is going down or
 *	   has no active link. On failure the reservation stays the caller's.
 */
int smc_conn_join(struct smc_conn *conn, struct smc_link_group *lgr, struct smc_link *link)
{
	int rc;

	conn->lgr = lgr;
	conn->stats = smc_net_stats(lgr->key.net);
	rc = conn_take_token(conn, lgr);
	if (rc)
		goto out;

	mutex_lock(&lgr->lock);
	/* chosen and counted under one hold, so that the next join sees the count */
	link = conn_choose(lgr, link);
	rc = conn_attach(conn, lgr, link);
	if (rc) {
		conn_drop_token(conn, lgr, true);
	} else {
		/* until the rings are returned */
		smc_conn_get(conn);
		conn_show_rmbe(conn, link);
	}
	mutex_unlock(&lgr->lock);
out:
	if (rc)
		conn->lgr = NULL;
	return rc;
}

/**
 * smc_conn_announced_link() - choose the link to announce to the peer
 * @conn: joined
 *
 * The link of its sends. If that is being left, the peer knows or will know soon, so another one is
 * chosen: either side may name any active link, RFC 7609 3.5.2.3 (SC-09).
 *
 * Context: Process context. Expects lgr->lock held, with which the link stays published. Takes
 *	    conn->lock.
 * Return: the link; NULL if the group has none any more.
 */
struct smc_link *smc_conn_announced_link(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lgr->lock);
	guard(spinlock_bh)(&conn->lock);
	return conn_choose(conn->lgr, smc_conn_link(conn));
}

/* Another connection that writes to the same element of the peer, or NULL. */
static struct smc_conn *conn_find_rival(struct smc_conn *conn, int rtoken, u8 index)
{
	struct smc_conn *other;
	unsigned long pos;

	lockdep_assert_held(&conn->lgr->lock);
	xa_for_each(&conn->lgr->conns, pos, other)
		if (other != conn && other->rtoken == rtoken && other->peer_index == index)
			return other;
	return NULL;
}

/* Claim an element of the peer; a connection that loses it is returned. */
static struct smc_conn *conn_claim(struct smc_conn *conn, int rtoken, u8 index)
{
	unsigned long *in_use = conn->lgr->rtokens->tok[rtoken].in_use;
	struct smc_conn *rival = NULL;

	lockdep_assert_held(&conn->lgr->lock);
	if (__test_and_set_bit(index, in_use))
		rival = conn_find_rival(conn, rtoken, index);
	if (rival)
		rival->rtoken = -1;
	conn->rtoken = rtoken;
	conn->peer_index = index;
	return rival;
}

/* The peer's RMB: new with first contact, otherwise known, RKEY-24. */
static int conn_find_rmb(struct smc_conn *conn, struct smc_link *link,
			 const struct smc_clc_accept *peer)
{
	struct smc_link_group *lgr = conn->lgr;
	int rtoken;

	lockdep_assert_held(&lgr->lock);
	if (READ_ONCE(lgr->state) == SMC_LGR_FORMING)
		return smc_rtoken_add(lgr->rtokens, link->index, peer->rkey, peer->rmb_addr);
	/* The peer's keys were deleted with the link; another link may have its place. */
	if (lgr->links[link->index] != link)
		return -ENOKEY;
	rtoken = smc_rtoken_find(lgr->rtokens, link->index, peer->rkey, peer->rmb_addr);
	return rtoken < 0 ? -ENOKEY : rtoken;
}

static void conn_store_peer(struct smc_conn *conn, const struct smc_clc_accept *peer, u32 size)
{
	guard(spinlock_bh)(&conn->lock);
	conn->peer_size = size;
	conn->peer_token = peer->token;
	/* The streams have started already if the dialect is known. */
	if (conn->ctl.tx_edge.size)
		smc_cdc_set_peer_size(&conn->ctl, size);
}

/**
 * smc_conn_set_peer() - set the element at the peer that the connection writes to
 * @conn: joined
 * @link: the link that @peer names, regardless of the link of our sends (LB-02); it may be being
 *	  left
 * @peer: Accept or Confirm, decoded
 *
 * First contact adds the RMB to the known ones. Later it must be known, on @link and on the present
 * link of our sends. Another connection that uses the same element is cut off (SMC_EV_LINK_LOST)
 * and this one proceeds. RFC 7609 2.1 (AMB-09), 4.4.2 (RMB-29 to RMB-31), RKEY-22, RKEY-24.
 *
 * Context: Process context, may sleep. Called by the handshake, as smc_conn_join(). Takes lgr->lock
 *	    and conn->lock.
 * Return: 0; -ENOKEY if the RMB is not known (out of sync), or @link is gone; -EEXIST if its key is
 *	   known with another address; -ENOSPC if the peer has too many; -EINVAL if index, size or
 *	   address are impossible; -ECONNABORTED if the link is lost.
 */
int smc_conn_set_peer(struct smc_conn *conn, struct smc_link *link,
		      const struct smc_clc_accept *peer)
{
	struct smc_link_group *lgr = conn->lgr;
	u32 size = smc_nego_size_bytes(peer->size_code);
	struct smc_conn *rival = NULL;
	u64 addr, end;
	int rc;

	if (!peer->rmbe_index || size < SMC_BUF_MIN_SIZE || size > SMC_ELEM_SIZE_MAX ||
	    check_add_overflow(peer->rmb_addr, (u64)(peer->rmbe_index - 1) * size, &addr) ||
	    check_add_overflow(addr, (u64)size, &end))
		return -EINVAL;

	mutex_lock(&lgr->lock);
	rc = conn_find_rmb(conn, link, peer);
	if (rc >= 0) {
		rival = conn_claim(conn, rc, peer->rmbe_index);
		conn_store_peer(conn, peer, size);
		/* The connection may have left @link, or lost all links, meanwhile. */
		rc = smc_failover_set_target(conn);
	}
	/* under the same hold, so that fail-over does not move it to another link */
	if (rival) {
		/* the peer may have our C or A before its completion comes */
		if (rcu_access_pointer(rival->link) &&
		    !(READ_ONCE(rival->ctl.tx_conn_sent) & SMC_CDC_FINAL))
			smc_stat_inc(sock_net(conn->sk), SMC_STAT_RMBE_CONFLICT);
		smc_conn_abort(rival);
	}
	mutex_unlock(&lgr->lock);
	return rc;
}

/**
 * smc_conn_open() - permit data to flow
 * @conn: its peer is known and its group is up
 *
 * RFC 7609 3.5.1.6 (FC-12), 4.8.1 (CLOSE-06).
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_conn_open(struct smc_conn *conn)
{
	struct smc_link *link;
	u64 most;

	guard(smc_conn)(conn);
	link = smc_conn_link(conn);
	/* smc_failover_quiesce() skips a connection in set-up */
	if (smc_conn_set_phase(conn, SMC_CONN_OPEN) && link && conn_link_is_left(link))
		smc_conn_set_phase(conn, SMC_CONN_LEAVING);
	most = READ_ONCE(smc_net(sock_net(conn->sk))->set.autocorking_size);
	conn->tx_enough = min_t(u64, min(conn->ctl.tx_message, conn->ctl.snd_size / 2), most + 1);
	if (link && conn->lgr->ext & SMC_LLC_EXT_IMMEDIATE)
		conn->ctl.tx_imm_name = smc_imm_name(conn->peer_token);
	conn->tx_jiffies = jiffies;
	conn->ack_jiffies = jiffies;
	conn->rx_jiffies = jiffies;
	conn->progress_jiffies = jiffies;
}

/* Under one hold: a claim of the element sees both the bit and the connection, or neither. */
static void conn_release_tokens(struct smc_conn *conn, struct smc_link_group *lgr,
				bool is_peer_done)
{
	guard(mutex)(&lgr->lock);
	conn_drop_token(conn, lgr, is_peer_done);
	if (conn->rtoken >= 0)
		__clear_bit(conn->peer_index, lgr->rtokens->tok[conn->rtoken].in_use);
	conn->rtoken = -1;
}

/* The peer has sent C or A and writes no more, CLOSE-15, ABRT-12. */
static bool conn_peer_is_done(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->ctl.rx_conn_flags & SMC_CDC_FINAL;
}

/*
 * A peer that has our C and deletes the element has sent C or will: its CDC comes on another link,
 * and the RNIC keeps no order between links.
 */
static bool conn_peer_has_closed(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return !conn_peer_is_done(conn) &&
	       (conn->ctl.tx_conn_sent & SMC_CDC_FINAL) == SMC_CDC_CLOSED;
}

/*
 * What a peer wrote before it closed may still be read, so the loss is none. Our C or A needs no
 * completion at a peer that has deleted the element.
 */
static void conn_lose_element(struct smc_conn *conn)
{
	u32 events = 0;

	conn->rtoken = -1;
	scoped_guard(smc_conn, conn) {
		if (conn_peer_has_closed(conn)) {
			conn->ctl.rx_conn_flags |= SMC_CDC_CLOSED;
			events |= SMC_EV_CLOSED;
		}
		if (conn->ctl.tx_conn_flags & SMC_CDC_FINAL)
			events |= SMC_EV_FINAL_DONE;
		if (conn_cut(conn) && !conn_peer_is_done(conn))
			events |= SMC_EV_LINK_LOST;
	}
	if (events & SMC_EV_LINK_LOST)
		smc_stat_inc(sock_net(conn->sk), SMC_STAT_RMBE_CONFLICT);
	if (events)
		conn->ops->event(conn, events);
}

/**
 * smc_conn_lose_rmb() - handle the peer's deletion of an RMB
 * @lgr: the group
 * @rtoken: index of the RMB in lgr->rtokens; free afterwards
 *
 * A peer deletes only an unused RMB (RMB-24). Connections that write there are over for the peer:
 * they drop the index and post nothing more. Unless the peer has closed before, they are cut off
 * (SMC_EV_LINK_LOST) as if their element had a new owner (RMB-30). If our C was sent, the deletion
 * stands for the peer's C (SMC_EV_CLOSED), which may come later on another link.
 *
 * Context: Process context. Expects lgr->lock held: this runs before the response is posted, after
 *	    which the RMB may vanish. Takes conn->lock.
 */
void smc_conn_lose_rmb(struct smc_link_group *lgr, int rtoken)
{
	struct smc_conn *conn;
	unsigned long pos;

	lockdep_assert_held(&lgr->lock);
	xa_for_each(&lgr->conns, pos, conn)
		if (conn->rtoken == rtoken)
			conn_lose_element(conn);
	smc_rtoken_del(lgr->rtokens, rtoken);
}

static void conn_drop_unread(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	if (conn->ctl.rx_edge.size)
		smc_cdc_consume(&conn->ctl, smc_cdc_readable(&conn->ctl));
	conn->is_purged = true;
}

static bool conn_has_unread(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->phase != SMC_CONN_SETUP &&
	       smc_conn_may_read(conn) && smc_cdc_readable(&conn->ctl);
}

/**
 * smc_conn_detach() - post and apply nothing more; unread data remains
 * @conn: the connection, which leaves what carries it
 *
 * Context: Process context. Takes conn->lock.
 */
void smc_conn_detach(struct smc_conn *conn)
{
	guard(smc_conn)(conn);
	if (!conn_has_unread(conn))
		conn_drop_unread(conn);
	conn_cut(conn);
	smc_conn_set_phase(conn, SMC_CONN_LEFT);
}

/**
 * smc_conn_leave() - end a connection's membership in its group
 * @conn: the connection; nothing happens if it is in no group
 * @is_peer_done: the peer has announced that it writes no more, or cannot
 *
 * If @is_peer_done, the element goes back to its pool (RMB-27, CLOSE-02). Otherwise it is not
 * reused before its RMB has been deleted (RMB-28 and CLOSE-24 would allow more, ABRT-13 does not).
 * Does not wait: the rings stay while a write is in flight, and with unread bytes until
 * smc_conn_forget_unread().
 *
 * Context: Process context. Expects the socket lock held, unless the handshake gives up a
 *	    connection that was never opened, or the socket one. Takes lgr->lock and conn->lock.
 * Return: true if this was the last connection of a group that is up: its idle time begins. A
 *	   caller that acts on it needs its own reference on the group.
 */
bool smc_conn_leave(struct smc_conn *conn, bool is_peer_done)
{
	struct smc_link_group *lgr = conn->lgr;
	bool is_last;

	if (!conn->token)
		return false;
	conn_release_tokens(conn, lgr, is_peer_done);
	conn->is_peer_done = is_peer_done;
	smc_conn_detach(conn);
	smc_pages_reap(conn);
	/* A detached connection does not arm it again. */
	if (timer_delete(&conn->hold_timer))
		smc_conn_put(conn);
	is_last = smc_lgr_drop_conn(lgr);
	smc_conn_return_rings(conn);
	return is_last;
}

/**
 * smc_conn_forget_unread() - drop unread data
 * @conn: the connection; has been read to the end, or will not be read
 *
 * Only after smc_conn_leave() left it with a reader; otherwise nothing happens. RFC 7609 4.8.2
 * (ABRT-08, ABRT-13).
 *
 * Context: Process context. Called by the owner, socket or handshake, only. Takes conn->lock.
 */
void smc_conn_forget_unread(struct smc_conn *conn)
{
	scoped_guard(smc_conn, conn) {
		if (conn->phase != SMC_CONN_LEFT || conn->is_purged)
			return;
		conn_drop_unread(conn);
	}
	if (conn->carrier->pass)
		conn->carrier->pass(conn, conn->ctl.rx_cons);
	smc_conn_return_rings(conn);
}

/**
 * smc_conn_time_begin() - start measuring the round trip of a posted message
 * @conn: the connection
 * @seq: its sequence number
 *
 * See smc_conn_time_send().
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 */
void smc_conn_time_begin(struct smc_conn *conn, u16 seq)
{
	lockdep_assert_held(&conn->lock);
	conn->rtt.jiffies = jiffies;
	conn->rtt.began_ns = ktime_get_ns();
	conn->rtt.seq = seq;
}

/* A failed message is not measured: it may have been retried for long. */
static void conn_time_done(struct smc_conn *conn, u16 seq, bool ok)
{
	struct smc_conn_rtt *rtt = &conn->rtt;
	u32 mean, us;

	if (!rtt->began_ns || rtt->seq != seq)
		return;
	us = clamp_t(u64, div_u64(ktime_get_ns() - rtt->began_ns, NSEC_PER_USEC), 1, U32_MAX);
	rtt->began_ns = 0;
	if (!ok)
		return;
	mean = ewma_smc_rtt_read(&rtt->mean);
	if (mean)
		ewma_smc_rtt_var_add(&rtt->var, max(mean, us) - min(mean, us));
	ewma_smc_rtt_add(&rtt->mean, us);
	if (!rtt->min || us < rtt->min)
		rtt->min = us;
}

/**
 * smc_conn_tx_done() - handle the completion of a CDC
 * @conn: the connection, which posted it
 * @seq: its sequence number
 * @len: bytes it announced
 * @ok: it reached the peer
 *
 * Frees the bytes' place in the send ring (TX-04); bytes that did not reach the peer stay and are
 * written again. RFC 7609 4.6.1.
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 * Return: SMC_EV_TX_DONE, with SMC_EV_FINAL_DONE if it carried C or A.
 */
u32 smc_conn_tx_done(struct smc_conn *conn, u16 seq, u32 len, bool ok)
{
	u32 events = SMC_EV_TX_DONE;

	lockdep_assert_held(&conn->lock);
	if (!--conn->tx_inflight)
		conn->is_awaited = false;
	conn_time_done(conn, seq, ok);
	if (ok) {
		conn->ack_jiffies = jiffies;
		if (len)
			conn->progress_jiffies = jiffies;
		smc_cdc_done(&conn->ctl, seq, len);
	}
	if (ok && conn->ctl.tx_conn_sent & SMC_CDC_FINAL &&
	    seq == conn->ctl.tx_seq_final)
		events |= SMC_EV_FINAL_DONE;
	if (!conn->tx_inflight && conn->phase == SMC_CONN_LEAVING)
		smc_failover_queue(conn->lgr);
	return events;
}

/* What a validation found missing should have come by now. */
static void conn_hold_expired(struct timer_list *timer)
{
	struct smc_conn *conn = smc_compat_timer_of(conn, timer, hold_timer);
	u32 events = 0;

	spin_lock_bh(&conn->lock);
	/* It came, and the timer was armed again for a later message. */
	if (rcu_access_pointer(conn->link) && time_after_eq(jiffies, conn->hold_jiffies))
		events = smc_cdc_give_up(&conn->ctl);
	spin_unlock_bh(&conn->lock);
	if (events) {
		smc_stat_inc(sock_net(conn->sk), SMC_STAT_CDC_BAD);
		conn->ops->event(conn, events);
	}
	smc_conn_put(conn);
}

/**
 * smc_conn_hold() - start the time limit for a missing message
 * @conn: the connection, on a link
 *
 * The peer saw a completion, so our RNIC has the message: it is in the receive queue of another
 * link and will be found soon. Otherwise it was lost between RNIC and memory (SMC_EV_LOST). Each
 * missing message restarts the whole time. RFC 7609 4.6.1 (FAIL-10).
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 */
void smc_conn_hold(struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	/* The timer may be running and wait for the lock. */
	conn->hold_jiffies = jiffies + SMC_CONN_HOLD_TIME;
	/* first: it may expire at once, and drops its reference */
	smc_conn_get(conn);
	if (mod_timer(&conn->hold_timer, conn->hold_jiffies))
		smc_conn_put(conn);
}

/**
 * smc_conn_readable() - get the number of unread bytes
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: bytes; 0 without an element.
 */
u32 smc_conn_readable(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	return smc_conn_may_read(conn) ? smc_cdc_readable(&conn->ctl) : 0;
}

/**
 * smc_conn_room() - get the free space of the send ring
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 * Return: bytes; 0 without a ring.
 */
u32 smc_conn_room(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return conn->ctl.snd_size - (u32)(READ_ONCE(conn->ctl.tx_prep) - *conn->tx_freed);
}

/**
 * smc_conn_backlog() - get the unsent bytes, without the last one of an open urgent send
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 * Return: bytes.
 */
u32 smc_conn_backlog(const struct smc_conn *conn)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;
	u32 unsent = smc_cdc_unsent(ctl);

	lockdep_assert_held(&conn->lock);
	if (unsent && ctl->tx_urg_is_open && ctl->tx_urg_last <= ctl->tx_urg)
		unsent--;
	return unsent;
}

/**
 * smc_conn_has_room() - check whether a writer is to be woken
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Expects conn->lock held.
 * Return: true if a quarter of the ring is free, which keeps the ring busy with few wake-ups, and
 *	   unsent data is below half of TCP_NOTSENT_LOWAT. In memory it is half of the ring: nothing
 *	   but the two ends keeps it busy.
 */
bool smc_conn_has_room(const struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return smc_conn_room(conn) >= conn->ctl.snd_size / (conn->pair ? 2 : 4) &&
	       2 * (u64)smc_conn_backlog(conn) < smc_conn_lowat(conn);
}

/**
 * smc_conn_unacked() - get the number of bytes in the send ring whose writes have not completed
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: bytes.
 */
u32 smc_conn_unacked(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	return smc_cdc_unacked(&conn->ctl);
}

/**
 * smc_conn_unsent() - get the number of bytes in the send ring that are not yet written
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: bytes.
 */
u32 smc_conn_unsent(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	return smc_cdc_unsent(&conn->ctl);
}

/**
 * smc_conn_await_drain() - have completions report the end of the data, RFC 7609 4.8.1 (CLOSE-08)
 * @conn: the connection; SMC_EV_TX_DONE follows with each completion
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: true if the message behind the last byte has completed. Messages without data do not
 *	   count: reads may cause further ones at any time.
 */
bool smc_conn_await_drain(struct smc_conn *conn)
{
	guard(smc_conn)(conn);
	conn->wants_drain = true;
	return !smc_cdc_unacked(&conn->ctl);
}

/**
 * smc_conn_has_inflight() - check whether the peer may lack data, RFC 7609 4.8.1 (CLOSE-08)
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: true if a message with data has not completed successfully.
 */
bool smc_conn_has_inflight(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	return conn->ctl.tx_sent != conn->ctl.tx_fin;
}

/**
 * smc_conn_owes_final() - check whether C or A is due to the peer and can be sent
 * @conn: the connection
 *
 * It may wait for a slot of its link, for another link, or for its completion. Without it a
 * deployed peer retains its end as long as the group lives. RFC 7609 4.8.1 (CLOSE-02).
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: true until it has reached the peer, or never can.
 */
bool smc_conn_owes_final(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	return smc_conn_is_carried(conn) && smc_cdc_is_final_due(&conn->ctl);
}

/**
 * smc_conn_mark_progress() - record the completed position for smc_conn_has_progress()
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_conn_mark_progress(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	conn->tx_mark = conn->ctl.tx_fin;
}

/**
 * smc_conn_has_progress() - check whether a write has completed since the mark
 * @conn: the connection
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 * Return: true if so.
 */
bool smc_conn_has_progress(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	return conn->tx_mark != conn->ctl.tx_fin;
}

/**
 * smc_conn_check_eyecatcher() - check that the eye catcher of the element is intact
 * @conn: has its element
 *
 * Elements of the deployed dialect have none and pass. RFC 7609 4.2, 4.4.1 (RMB-16, RMB-17): a
 * damaged one is logged, and the caller resets the connection.
 *
 * Context: Process context. Expects the socket lock held.
 * Return: false if it was overwritten.
 */
bool smc_conn_check_eyecatcher(struct smc_conn *conn)
{
	struct smc_link *link;

	sock_owned_by_me(conn->sk);
	/* The geometry is constant once data has arrived. */
	if (conn->ctl.rx_edge.base != SMC_EYE_CATCHER_LEN)
		return true;
	rcu_read_lock();
	link = rcu_dereference(conn->link);
	if (link)
		smc_buf_sync_for_cpu(&conn->rmbe, &link->wr, link->index, 0, SMC_EYE_CATCHER_LEN);
	rcu_read_unlock();
	if (likely(!memcmp(conn->rmbe.cpu, smc_conn_eyecatcher, SMC_EYE_CATCHER_LEN)))
		return true;

	smc_stat_inc(sock_net(conn->sk), SMC_STAT_EYECATCHER_BAD);
	pr_warn_ratelimited("connection %08x of link group %08x: eye catcher is %4phN, connection reset\n",
			    conn->token, conn->lgr->id, conn->rmbe.cpu);
	return false;
}
