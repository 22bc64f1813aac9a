// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups and links.
 *
 * Operation:
 *   A handshake reserves a place in a group, or forms a new one; other
 *   handshakes with the same key wait for a FORMING group on its wait queue,
 *   with a reference and without a lock. A reservation becomes a connection
 *   (smc_conn_join()) or is given back. One work item takes a group down,
 *   whatever the reason was.
 *
 * Ownership:
 *   A group is freed when its last reference goes, by a work item, so that
 *   references may be dropped in any context. It stays in the list of groups
 *   until then: module and namespace exit wait for the list. Links are freed
 *   with their group, their queues earlier: a pointer to a link is good for as
 *   long as its holder has a reference on the group.
 *
 * Locks:
 *   smc_lgr_list_lock is the innermost of those here: it may be taken with
 *   lgr->lock or conn->lock held, and nothing is taken inside but the lock of
 *   a wait queue. lgr->lock (a mutex) is never held while waiting, nor across
 *   verbs: a task that works on the queues of a link counts itself in
 *   link->users, and the teardown waits for that count on lgr->waitq after it
 *   took the link out of lgr->links, where no further user finds it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "smc_compat.h"
#include "smc_conn.h"
#include "smc_core.h"
#include "smc_net.h"

/* Group ids count in steps that leave room for a link number, LID-05. */
#define SMC_LGR_ID_STEP	256

static LIST_HEAD(smc_lgr_list);
static DEFINE_SPINLOCK(smc_lgr_list_lock);
static DECLARE_WAIT_QUEUE_HEAD(smc_lgr_list_waitq);
static const struct smc_wr_ops *smc_link_ops;
static struct workqueue_struct *smc_core_wq;
static u32 smc_lgr_last_id;	/* under smc_lgr_list_lock */

static void smc_lgr_terminate_work(struct work_struct *work);
static void smc_lgr_free_work(struct work_struct *work);

static bool lgr_move(struct smc_link_group *lgr, enum smc_lgr_state state)
{
	lockdep_assert_held(&smc_lgr_list_lock);
	if (!smc_state_lgr_may_move(lgr->state, state))
		return false;
	WRITE_ONCE(lgr->state, state);
	return true;
}

static bool lgr_set_state(struct smc_link_group *lgr, enum smc_lgr_state state)
{
	unsigned long flags;
	bool moved;

	spin_lock_irqsave(&smc_lgr_list_lock, flags);
	moved = lgr_move(lgr, state);
	spin_unlock_irqrestore(&smc_lgr_list_lock, flags);
	return moved;
}

/**
 * smc_lgr_is_down() - has the end of a group begun
 * @lgr: the group
 *
 * Context: Any context. The answer "no" lasts only while conn->lock or
 *	    lgr->lock keeps the teardown from passing by.
 * Return: true from the moment it takes no more connections and links.
 */
bool smc_lgr_is_down(const struct smc_link_group *lgr)
{
	unsigned long flags;
	bool is_down;

	/* The lock orders this read behind what its caller published. */
	spin_lock_irqsave(&smc_lgr_list_lock, flags);
	is_down = lgr->state == SMC_LGR_TERMINATING || lgr->state == SMC_LGR_DEAD;
	spin_unlock_irqrestore(&smc_lgr_list_lock, flags);
	return is_down;
}

/* One reference for being up and one for the caller's reservation. */
static struct smc_link_group *lgr_alloc(const struct smc_lgr_key *key)
{
	struct smc_link_group *lgr;

	lgr = kvzalloc(sizeof(*lgr), GFP_KERNEL);
	if (!lgr)
		return NULL;
	lgr->rtokens = kvzalloc(sizeof(*lgr->rtokens), GFP_KERNEL);
	if (!lgr->rtokens) {
		kvfree(lgr);
		return NULL;
	}
	INIT_LIST_HEAD(&lgr->node);
	INIT_LIST_HEAD(&lgr->old_links);
	INIT_LIST_HEAD(&lgr->orphans);
	refcount_set(&lgr->refs, 2);
	lgr->key = *key;
	lgr->nr_conns = 1;
	lgr->state = SMC_LGR_FORMING;
	lgr->next_link_num = 1;
	lgr->next_token = get_random_u32();
	xa_init_flags(&lgr->conns, XA_FLAGS_ALLOC1);
	mutex_init(&lgr->lock);
	smc_buf_pool_init(&lgr->rmbs, SMC_BUF_RMB);
	smc_buf_pool_init(&lgr->sends, SMC_BUF_SEND);
	init_waitqueue_head(&lgr->waitq);
	INIT_WORK(&lgr->terminate_work, smc_lgr_terminate_work);
	INIT_WORK(&lgr->free_work, smc_lgr_free_work);
	return lgr;
}

/* Nobody has seen it yet, or nobody sees it any more. */
static void lgr_free(struct smc_link_group *lgr)
{
	struct smc_link *link, *next_link;
	struct smc_buf *buf, *next_buf;

	list_for_each_entry_safe(link, next_link, &lgr->old_links, node)
		kfree(link);
	list_for_each_entry_safe(buf, next_buf, &lgr->orphans, node)
		smc_buf_free(buf);
	smc_buf_pool_free(&lgr->sends);
	smc_buf_pool_free(&lgr->rmbs);
	xa_destroy(&lgr->conns);
	mutex_destroy(&lgr->lock);
	kvfree(lgr->rtokens);
	kvfree(lgr);
}

static void smc_lgr_free_work(struct work_struct *work)
{
	struct smc_link_group *lgr = container_of(work, struct smc_link_group, free_work);

	spin_lock_irq(&smc_lgr_list_lock);
	list_del(&lgr->node);
	spin_unlock_irq(&smc_lgr_list_lock);
	/* Completion handlers and pushes have let go of links and group. */
	synchronize_rcu();
	lgr_free(lgr);
	wake_up_all(&smc_lgr_list_waitq);
}

/**
 * smc_lgr_get() - take a reference on a group
 * @lgr: the group; the caller holds a reference already
 *
 * Context: Any context.
 * Return: @lgr.
 */
struct smc_link_group *smc_lgr_get(struct smc_link_group *lgr)
{
	refcount_inc(&lgr->refs);
	return lgr;
}

/**
 * smc_lgr_put() - drop a reference on a group
 * @lgr: the group
 *
 * Context: Any context.
 */
void smc_lgr_put(struct smc_link_group *lgr)
{
	if (refcount_dec_and_test(&lgr->refs))
		queue_work(smc_core_wq, &lgr->free_work);
}

static bool lgr_key_matches(const struct smc_link_group *lgr, const struct smc_lgr_key *key)
{
	const struct smc_lgr_key *own = &lgr->key;

	return net_eq(own->net, key->net) && own->role == key->role &&
	       own->vlan == key->vlan &&
	       smc_nego_same_peer(own->peer_id, own->peer_gid, key->peer_id, key->peer_gid);
}

/* Is one of its links up on the port that serves the new connection? LG-03 */
static bool lgr_has_end(const struct smc_link_group *lgr, const struct smc_ib_end *end)
{
	const struct smc_link *link;
	int i;

	for (i = 0; i < SMC_LINKS_MAX; i++) {
		/* pairs with smp_store_release() in link_publish() */
		link = smp_load_acquire(&lgr->links[i]);
		if (link && READ_ONCE(link->state) == SMC_LINK_ACTIVE &&
		    link->wr.end.dev == end->dev && link->wr.end.port == end->port)
			return true;
	}
	return false;
}

/**
 * smc_lgr_link_by_peer() - the link to a peer's end
 * @lgr: the group; the caller holds a reference
 * @peer: the peer's end, as in Accept or Confirm: QP number, GID and MAC count
 *
 * RFC 7609 3.5.2.2, 3.5.2.3 (SC-05, SC-09).
 *
 * Context: Any context.
 * Return: the link, valid as long as the reference; NULL if none is in use.
 */
struct smc_link *smc_lgr_link_by_peer(struct smc_link_group *lgr,
				      const struct smc_ib_peer *peer)
{
	enum smc_link_state state;
	struct smc_link *link;
	int i;

	for (i = 0; i < SMC_LINKS_MAX; i++) {
		/* pairs with smp_store_release() in link_publish() */
		link = smp_load_acquire(&lgr->links[i]);
		if (!link)
			continue;
		/* pairs with smp_store_release() in smc_link_set_state() */
		state = smp_load_acquire(&link->state);
		if ((state == SMC_LINK_ACTIVE || state == SMC_LINK_ACTIVATING) &&
		    link->peer.qpn == peer->qpn &&
		    !memcmp(link->peer.gid, peer->gid, sizeof(peer->gid)) &&
		    !memcmp(link->peer.mac, peer->mac, sizeof(peer->mac)))
			return link;
	}
	return NULL;
}

static unsigned int lgr_max_conns(const struct smc_lgr_key *key)
{
	return clamp(READ_ONCE(smc_net(key->net)->set.max_conns_per_lgr), 1, SMC_NEGO_MAX_CONNS);
}

/*
 * What a search looks for: a group with room on @end (server), or the one with
 * a link to @peer, whose room is the server's business (client, LG-06).
 */
struct lgr_search {
	const struct smc_lgr_key *key;
	const struct smc_ib_end *end;
	const struct smc_ib_peer *peer;
	struct smc_link *link;		/* found with @peer */
};

static bool lgr_fits(struct smc_link_group *lgr, struct lgr_search *s)
{
	if (s->peer) {
		s->link = smc_lgr_link_by_peer(lgr, s->peer);
		return s->link;
	}
	return lgr->nr_conns < lgr_max_conns(s->key) && lgr_has_end(lgr, s->end);
}

/*
 * An ACTIVE group that fits, or a FORMING one that may come to fit. No
 * reference is taken.
 */
static struct smc_link_group *lgr_search(struct lgr_search *s)
{
	struct smc_link_group *lgr, *forming = NULL;

	lockdep_assert_held(&smc_lgr_list_lock);
	list_for_each_entry(lgr, &smc_lgr_list, node) {
		if (lgr->is_retired || !lgr_key_matches(lgr, s->key))
			continue;
		if (lgr->state == SMC_LGR_ACTIVE && lgr_fits(lgr, s))
			return lgr;
		if (lgr->state == SMC_LGR_FORMING && !forming && (!s->peer || lgr_fits(lgr, s)))
			forming = lgr;
	}
	return forming;
}

static void lgr_enlist(struct smc_link_group *lgr)
{
	lockdep_assert_held(&smc_lgr_list_lock);
	smc_lgr_last_id += SMC_LGR_ID_STEP;
	lgr->id = smc_lgr_last_id;
	list_add_tail(&lgr->node, &smc_lgr_list);
}

/*
 * Finds a group and reserves a place in it. One that is FORMING is returned
 * with a reference and no reservation. Where none is found, @fresh (may be
 * NULL) is put in the list.
 */
static struct smc_link_group *lgr_reserve(struct lgr_search *s, struct smc_link_group *fresh,
					  bool *is_forming)
{
	struct smc_link_group *lgr;
	unsigned long flags;

	*is_forming = false;
	spin_lock_irqsave(&smc_lgr_list_lock, flags);
	lgr = lgr_search(s);
	if (lgr) {
		/* Not freed before its state has left FORMING and ACTIVE. */
		refcount_inc(&lgr->refs);
		*is_forming = lgr->state == SMC_LGR_FORMING;
		if (!*is_forming)
			lgr->nr_conns++;
	} else if (fresh) {
		lgr_enlist(fresh);
		lgr = fresh;
	}
	spin_unlock_irqrestore(&smc_lgr_list_lock, flags);
	return lgr;
}

/* Waits until a group has left FORMING: 0, -ETIMEDOUT or -EINTR. */
static int lgr_wait_settled(struct smc_link_group *lgr, unsigned long deadline)
{
	long left = deadline - jiffies;
	long rc;

	rc = wait_event_killable_timeout(lgr->waitq, READ_ONCE(lgr->state) != SMC_LGR_FORMING,
					 max(left, 1L));
	if (rc < 0)
		return -EINTR;
	return rc ? 0 : -ETIMEDOUT;
}

/**
 * smc_lgr_reserve() - a place for a connection that a client proposes
 * @key: the peer, with role server
 * @end: the port that serves the connection
 * @timeout_jiffies: bound for waiting
 * @is_first: set if a group was formed: this is first contact
 *
 * Finds an active group of that peer with a link on that port and with room.
 * While there is none but one is being formed, waits for its outcome. Where
 * there is neither, or all are full, forms a (parallel) group and returns at
 * once; everybody else with this key then waits for the caller, who ends that
 * with smc_lgr_activate() or smc_lgr_fail(). RFC 7609 3.5.1, 3.5.2.1 (LG-05,
 * LG-06, RMB-19, AMB-60).
 *
 * Context: Process context, sleeps, killable. Expects no lock held.
 * Return: the group, with a reservation that includes a reference, for
 *	   smc_conn_join() or smc_lgr_unreserve(); ERR_PTR(-EHOSTUNREACH) if the
 *	   group it waited for could not be formed; ERR_PTR(-ETIMEDOUT),
 *	   ERR_PTR(-EINTR) or ERR_PTR(-ENOMEM).
 */
struct smc_link_group *smc_lgr_reserve(const struct smc_lgr_key *key,
				       const struct smc_ib_end *end,
				       long timeout_jiffies, bool *is_first)
{
	struct lgr_search s = { .key = key, .end = end };
	unsigned long deadline = jiffies + timeout_jiffies;
	struct smc_link_group *lgr, *fresh = NULL;
	bool is_forming;
	int rc;

	for (;;) {
		lgr = lgr_reserve(&s, fresh, &is_forming);
		if (lgr && !is_forming)
			break;
		if (!lgr) {
			fresh = lgr_alloc(key);
			if (!fresh)
				return ERR_PTR(-ENOMEM);
			continue;
		}
		rc = lgr_wait_settled(lgr, deadline);
		/* one failed first contact is enough for all who waited for it */
		if (!rc && smc_lgr_is_down(lgr) && lgr->fail_decline != SMC_DECLINE_NONE)
			rc = -EHOSTUNREACH;
		smc_lgr_put(lgr);
		if (rc) {
			lgr = ERR_PTR(rc);
			break;
		}
	}
	*is_first = lgr == fresh;
	if (fresh && lgr != fresh)
		lgr_free(fresh);
	return lgr;
}

/**
 * smc_lgr_form() - form a group on the word of a server
 * @key: the peer, with role client
 *
 * For a client whose Accept says first contact. RFC 7609 3.5.1.3.
 *
 * Context: Process context, may sleep.
 * Return: the FORMING group as with smc_lgr_reserve(), or ERR_PTR(-ENOMEM).
 */
struct smc_link_group *smc_lgr_form(const struct smc_lgr_key *key)
{
	struct smc_link_group *lgr = lgr_alloc(key);

	if (!lgr)
		return ERR_PTR(-ENOMEM);
	spin_lock_irq(&smc_lgr_list_lock);
	lgr_enlist(lgr);
	spin_unlock_irq(&smc_lgr_list_lock);
	return lgr;
}

/**
 * smc_lgr_reserve_link() - a place on the link that a server has named
 * @key: the peer, with role client
 * @peer: the server's end of the link
 * @timeout_jiffies: bound for waiting
 * @link: receives the link
 *
 * Waits while the group with that link is still being formed: the server may
 * be done with first contact before we are. RFC 7609 3.5.2.2 (SC-05).
 *
 * Context: Process context, sleeps, killable. Expects no lock held.
 * Return: the group as with smc_lgr_reserve(); ERR_PTR(-ENOENT) if there is no
 *	   such link (out of sync); ERR_PTR(-ETIMEDOUT); ERR_PTR(-EINTR).
 */
struct smc_link_group *smc_lgr_reserve_link(const struct smc_lgr_key *key,
					    const struct smc_ib_peer *peer,
					    long timeout_jiffies,
					    struct smc_link **link)
{
	struct lgr_search s = { .key = key, .peer = peer };
	unsigned long deadline = jiffies + timeout_jiffies;
	struct smc_link_group *lgr;
	bool is_forming;
	int rc;

	for (;;) {
		lgr = lgr_reserve(&s, NULL, &is_forming);
		if (!lgr)
			return ERR_PTR(-ENOENT);
		if (!is_forming)
			break;
		rc = lgr_wait_settled(lgr, deadline);
		smc_lgr_put(lgr);
		if (rc)
			return ERR_PTR(rc);
	}
	*link = s.link;
	return lgr;
}

/**
 * smc_lgr_find_link() - the group that has a link to a peer's end
 * @key: the peer and our role
 * @peer: the peer's end of the link
 *
 * For a group that a first contact shows to be stale (AMB-06).
 *
 * Context: Process context.
 * Return: the group with a reference, but no reservation; NULL if none.
 */
struct smc_link_group *smc_lgr_find_link(const struct smc_lgr_key *key,
					 const struct smc_ib_peer *peer)
{
	struct lgr_search s = { .key = key, .peer = peer };
	struct smc_link_group *lgr;

	spin_lock_irq(&smc_lgr_list_lock);
	lgr = lgr_search(&s);
	if (lgr)
		refcount_inc(&lgr->refs);
	spin_unlock_irq(&smc_lgr_list_lock);
	return lgr;
}

/**
 * smc_lgr_drop_conn() - one connection or reservation less
 * @lgr: the group; the reference of the reservation stays with the caller
 *
 * Context: Any context.
 * Return: true if that was the last one and the group is up: its idle time
 *	   begins (TMR-10).
 */
bool smc_lgr_drop_conn(struct smc_link_group *lgr)
{
	unsigned long flags;
	bool is_idle;

	spin_lock_irqsave(&smc_lgr_list_lock, flags);
	is_idle = !--lgr->nr_conns && lgr->state == SMC_LGR_ACTIVE;
	spin_unlock_irqrestore(&smc_lgr_list_lock, flags);
	return is_idle;
}

/**
 * smc_lgr_unreserve() - give a reservation back that did not become a connection
 * @lgr: the group; the reference of the reservation is dropped
 *
 * Context: Any context.
 * Return: as smc_lgr_drop_conn(). A caller that acts on it needs a reference
 *	   of its own.
 */
bool smc_lgr_unreserve(struct smc_link_group *lgr)
{
	bool is_idle = smc_lgr_drop_conn(lgr);

	smc_lgr_put(lgr);
	return is_idle;
}

/**
 * smc_lgr_retire() - let no further connection in, if there is none
 * @lgr: the group
 *
 * Its owner is about to end an idle group and must not cross a handshake.
 *
 * Context: Any context.
 * Return: true if the group is active, empty, and will stay so.
 */
bool smc_lgr_retire(struct smc_link_group *lgr)
{
	unsigned long flags;
	bool may_end;

	spin_lock_irqsave(&smc_lgr_list_lock, flags);
	may_end = !lgr->nr_conns && lgr->state == SMC_LGR_ACTIVE;
	if (may_end)
		lgr->is_retired = true;
	spin_unlock_irqrestore(&smc_lgr_list_lock, flags);
	return may_end;
}

/**
 * smc_lgr_wait_formed() - wait for the outcome of first contact
 * @lgr: the group
 * @timeout_jiffies: bound for waiting
 *
 * Context: Process context, sleeps, killable. Expects no lock held.
 * Return: 0 if the group is up; -ECONNABORTED if forming failed, see
 *	   lgr->fail_decline; -ETIMEDOUT; -EINTR.
 */
int smc_lgr_wait_formed(struct smc_link_group *lgr, long timeout_jiffies)
{
	int rc = lgr_wait_settled(lgr, jiffies + timeout_jiffies);

	if (rc)
		return rc;
	return smc_lgr_is_down(lgr) ? -ECONNABORTED : 0;
}

/**
 * smc_lgr_next_conn() - walk the connections of a group
 * @lgr: the group
 * @token: where to go on: 0 at first, then left alone
 *
 * Connections may come and go meanwhile; one that stays is seen once.
 *
 * Context: Any context but hard interrupt.
 * Return: a connection with a reference on its socket for the caller; NULL
 *	   after the last one.
 */
struct smc_conn *smc_lgr_next_conn(struct smc_link_group *lgr, unsigned long *token)
{
	struct smc_conn *conn;

	rcu_read_lock();
	do {
		conn = xa_find_after(&lgr->conns, token, ULONG_MAX, XA_PRESENT);
	} while (conn && !refcount_inc_not_zero(&conn->sk->sk_refcnt));
	rcu_read_unlock();
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
	u32 base = lgr->is_deployed ? 0 : SMC_EYE_CATCHER_LEN;
	struct smc_geom rx = { .size = conn->rmbe.size, .base = base };
	struct smc_geom tx = { .size = conn->peer_size ?: SMC_BUF_MIN_SIZE, .base = base };

	lockdep_assert_held(&conn->lock);
	smc_cdc_ctl_init(&conn->ctl, rx, tx);
}

/**
 * smc_lgr_cut_conn() - a connection loses its way to the peer
 * @conn: the connection
 *
 * Nothing is posted for it afterwards; what is in flight completes. The first
 * call tells the socket (SMC_EV_LINK_LOST).
 *
 * Context: Any context but hard interrupt. Takes conn->lock.
 */
void smc_lgr_cut_conn(struct smc_conn *conn)
{
	bool had_link;

	spin_lock_bh(&conn->lock);
	had_link = rcu_access_pointer(conn->link);
	RCU_INIT_POINTER(conn->link, NULL);
	conn->is_dead = true;
	spin_unlock_bh(&conn->lock);
	if (had_link)
		conn->ops.event(conn, SMC_EV_LINK_LOST);
}

/**
 * smc_lgr_commit_dialect() - settle what the elements look like
 * @lgr: the group, FORMING
 * @is_deployed: no eye catchers, elements are all data
 *
 * Called before the message is posted that lets the peer send: from then on a
 * CDC may arrive. A second call changes nothing.
 *
 * Context: Process context. Expects lgr->lock held. Takes conn->lock.
 */
void smc_lgr_commit_dialect(struct smc_link_group *lgr, bool is_deployed)
{
	unsigned long token = 0;
	struct smc_conn *conn;

	lockdep_assert_held(&lgr->lock);
	if (lgr->is_committed)
		return;
	lgr->is_deployed = is_deployed;
	lgr->is_committed = true;
	lgr->params.max_size_code = is_deployed ? SMC_BSIZE_DEPLOYED_MAX : SMC_BSIZE_RFC_MAX;
	while ((conn = smc_lgr_next_conn(lgr, &token))) {
		spin_lock_bh(&conn->lock);
		smc_lgr_set_geometry(lgr, conn);
		spin_unlock_bh(&conn->lock);
		sock_put(conn->sk);
	}
}

/**
 * smc_lgr_activate() - first contact has succeeded
 * @lgr: the group, FORMING; otherwise nothing happens
 *
 * Its first link becomes active, who waits for the group goes on.
 *
 * Context: Process context. Expects lgr->lock held.
 */
void smc_lgr_activate(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->lock);
	if (lgr->links[0])
		smc_link_set_state(lgr->links[0], SMC_LINK_ACTIVE);
	if (lgr->type == SMC_LGR_TYPE_NONE)
		lgr->type = SMC_LGR_TYPE_SINGLE;
	if (!lgr_set_state(lgr, SMC_LGR_ACTIVE))
		return;
	smc_stat_inc(lgr->key.net, SMC_STAT_LGR_NEW);
	pr_info_ratelimited("link group %08x with peer %8phN is up (%s, %s dialect)\n",
			    lgr->id, lgr->key.peer_id,
			    lgr->key.role == SMC_ROLE_SERVER ? "server" : "client",
			    lgr->is_deployed ? "deployed" : "RFC");
	wake_up_all(&lgr->waitq);
}

/**
 * smc_lgr_terminate() - end a group
 * @lgr: the group, in any state; the second call does nothing
 *
 * From here on nobody finds it. A work item tells its connections that their
 * link is lost, takes the queues down and releases the devices; the memory
 * goes with the last reference. RFC 7609 3.5.4, 4.8.3 (PEER-03).
 *
 * Context: Any context.
 */
void smc_lgr_terminate(struct smc_link_group *lgr)
{
	enum smc_lgr_state old;
	unsigned long flags;
	bool moved;

	spin_lock_irqsave(&smc_lgr_list_lock, flags);
	old = lgr->state;
	moved = lgr_move(lgr, SMC_LGR_TERMINATING);
	spin_unlock_irqrestore(&smc_lgr_list_lock, flags);
	if (!moved)
		return;
	if (old == SMC_LGR_ACTIVE) {
		smc_stat_inc(lgr->key.net, SMC_STAT_LGR_END);
		pr_info_ratelimited("link group %08x with peer %8phN is gone\n",
				    lgr->id, lgr->key.peer_id);
	}
	wake_up_all(&lgr->waitq);
	/* The reference for being up goes with it. */
	queue_work(smc_core_wq, &lgr->terminate_work);
}

/**
 * smc_lgr_fail() - first contact has failed
 * @lgr: the group
 * @decline: why, if its connection may still fall back to TCP; 0 if it must be
 *	     reset
 *
 * The first reason counts. Otherwise as smc_lgr_terminate().
 *
 * Context: Any context.
 */
void smc_lgr_fail(struct smc_link_group *lgr, enum smc_decline decline)
{
	unsigned long flags;

	spin_lock_irqsave(&smc_lgr_list_lock, flags);
	if (lgr->state == SMC_LGR_FORMING)
		lgr->fail_decline = decline;
	spin_unlock_irqrestore(&smc_lgr_list_lock, flags);
	smc_lgr_terminate(lgr);
}

static bool link_may_be_used(const struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	lockdep_assert_held(&lgr->lock);
	return lgr->links[link->index] == link && !smc_lgr_is_down(lgr);
}

/* Keeps the queues of a link from being taken down: -ECONNABORTED if too late. */
static int link_enter(struct smc_link *link)
{
	int rc = -ECONNABORTED;

	mutex_lock(&link->lgr->lock);
	if (link_may_be_used(link)) {
		link->users++;
		rc = 0;
	}
	mutex_unlock(&link->lgr->lock);
	return rc;
}

static void link_exit(struct smc_link *link)
{
	mutex_lock(&link->lgr->lock);
	WRITE_ONCE(link->users, link->users - 1);
	mutex_unlock(&link->lgr->lock);
	wake_up_all(&link->lgr->waitq);
}

static void link_drop_waiters(struct smc_link *link)
{
	struct smc_conn *conn;

	while ((conn = smc_link_pop_waiter(link)))
		sock_put(conn->sk);
}

/* An area left over that is still mapped on a link, or NULL. */
static struct smc_buf *link_next_orphan(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;
	struct smc_buf *buf, *found = NULL;

	mutex_lock(&lgr->lock);
	list_for_each_entry(buf, &lgr->orphans, node) {
		if (buf->map[link->index].mr) {
			found = buf;
			break;
		}
	}
	mutex_unlock(&lgr->lock);
	return found;
}

static void link_unmap_orphans(struct smc_link *link)
{
	struct smc_buf *buf;

	/* They live as long as the group. */
	while ((buf = link_next_orphan(link)))
		smc_buf_unmap(buf, &link->wr, link->index);
}

/*
 * Ends the queues of a link that is no longer in lgr->links. No connection
 * uses it, or all have been cut.
 */
static void link_take_down(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	wait_event(lgr->waitq, !READ_ONCE(link->users));
	smc_wr_stop(&link->wr);
	/* An area that is being added may be mapped here and not be listed. */
	wait_event(lgr->waitq, !READ_ONCE(lgr->is_growing));
	/* Whoever found the link under RCU has given its slot back. */
	synchronize_rcu();
	link_drop_waiters(link);
	smc_buf_pool_unmap(&lgr->rmbs, &link->wr, link->index);
	smc_buf_pool_unmap(&lgr->sends, &link->wr, link->index);
	link_unmap_orphans(link);
	smc_wr_destroy(&link->wr);
}

/* Takes a link out of the group; false if somebody else has. */
static bool link_unpublish(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	lockdep_assert_held(&lgr->lock);
	if (lgr->links[link->index] != link)
		return false;
	smc_link_set_state(link, SMC_LINK_INACTIVE);
	WRITE_ONCE(lgr->links[link->index], NULL);
	smc_rtoken_del_link(lgr->rtokens, link->index);
	list_add(&link->node, &lgr->old_links);
	return true;
}

static void lgr_cut_conns(struct smc_link_group *lgr)
{
	unsigned long token = 0;
	struct smc_conn *conn;

	while ((conn = smc_lgr_next_conn(lgr, &token))) {
		smc_lgr_cut_conn(conn);
		sock_put(conn->sk);
	}
}

/*
 * All that can keep it waiting ends soon: users of a link are in one verb, and
 * who adds an area waits for an answer that the LLC engine bounds.
 */
static void smc_lgr_terminate_work(struct work_struct *work)
{
	struct smc_link_group *lgr = container_of(work, struct smc_link_group, terminate_work);
	struct smc_link *links[SMC_LINKS_MAX];
	int i;

	/* After the change of state no connection joins unseen. */
	lgr_cut_conns(lgr);

	mutex_lock(&lgr->lock);
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		links[i] = lgr->links[i];
		/* So the LLC engine hears of an end that it did not decide. */
		if (links[i])
			smc_wr_report(&links[i]->wr, SMC_WR_FAULT_PROTOCOL);
		if (links[i])
			link_unpublish(links[i]);
	}
	mutex_unlock(&lgr->lock);

	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (links[i])
			link_take_down(links[i]);
	lgr_set_state(lgr, SMC_LGR_DEAD);
	wake_up_all(&lgr->waitq);
	smc_lgr_put(lgr);
}

static struct smc_link *link_alloc(struct smc_link_group *lgr)
{
	struct smc_link *link;

	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return NULL;
	link->lgr = lgr;
	link->state = SMC_LINK_UNUSED;
	link->psn = get_random_u32() & 0xffffff;
	spin_lock_init(&link->wait_lock);
	INIT_LIST_HEAD(&link->waiters);
	INIT_LIST_HEAD(&link->node);
	return link;
}

/* A server numbers its links 1 to 255 and begins anew, LID-01, LID-03. */
static void link_number(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	if (lgr->key.role == SMC_ROLE_SERVER) {
		link->num = lgr->next_link_num;
		if (!++lgr->next_link_num)
			lgr->next_link_num = 1;
	}
	link->uid = lgr->id + link->num;
}

static int link_publish(struct smc_link *link, unsigned int index)
{
	struct smc_link_group *lgr = link->lgr;
	int rc = 0;

	mutex_lock(&lgr->lock);
	if (smc_lgr_is_down(lgr)) {
		rc = -ECONNABORTED;
	} else if (index >= SMC_LINKS_MAX || lgr->links[index]) {
		rc = -EBUSY;
	} else {
		link->index = index;
		link_number(link);
		/* pairs with smp_load_acquire() where the array is read */
		smp_store_release(&lgr->links[index], link);
	}
	mutex_unlock(&lgr->lock);
	return rc;
}

/**
 * smc_link_create_at() - make the queues of a link in a given place
 * @lgr: the group; the caller holds a reference
 * @end: local end; the link takes a reference of its own
 * @index: a free place in lgr->links
 *
 * The queue pair is in INIT, the link is SMC_LINK_UNUSED and has, at a server,
 * its link number. It is taken down with its group, or by smc_link_destroy().
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: the link; ERR_PTR(-ENOMEM); ERR_PTR(-ECONNABORTED) if the group is
 *	   down; ERR_PTR(-EBUSY) if the place is taken; or what smc_wr_create()
 *	   returns.
 */
struct smc_link *smc_link_create_at(struct smc_link_group *lgr, const struct smc_ib_end *end,
				    unsigned int index)
{
	struct smc_link *link;
	int rc;

	link = link_alloc(lgr);
	if (!link)
		return ERR_PTR(-ENOMEM);
	rc = smc_wr_create(&link->wr, end, smc_link_ops);
	if (rc)
		goto free;
	rc = link_publish(link, index);
	if (rc)
		goto destroy;
	return link;

destroy:
	smc_wr_stop(&link->wr);
	smc_wr_destroy(&link->wr);
free:
	kfree(link);
	return ERR_PTR(rc);
}

/**
 * smc_link_create() - make the queues of a group's first link
 * @lgr: the group, FORMING
 * @end: local end; the link takes a reference of its own
 *
 * Context: Process context, may sleep. Expects no lock held.
 * Return: as smc_link_create_at().
 */
struct smc_link *smc_link_create(struct smc_link_group *lgr, const struct smc_ib_end *end)
{
	return smc_link_create_at(lgr, end, 0);
}

/**
 * smc_link_connect() - bind a link to the peer's end
 * @link: new
 * @peer: the peer's end, as received
 *
 * The queue pair goes to RTR, the link to SMC_LINK_ACTIVATING. RFC 7609
 * 3.5.1.3, 3.5.1.4.
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if the link is being taken down; or what
 *	   smc_wr_connect() returns.
 */
int smc_link_connect(struct smc_link *link, const struct smc_ib_peer *peer)
{
	struct smc_link_group *lgr = link->lgr;
	int rc;

	rc = link_enter(link);
	if (rc)
		return rc;
	rc = smc_wr_connect(&link->wr, peer);
	if (!rc) {
		mutex_lock(&lgr->lock);
		link->peer = *peer;
		smc_link_set_state(link, SMC_LINK_ACTIVATING);
		mutex_unlock(&lgr->lock);
	}
	link_exit(link);
	return rc;
}

/* An area that is mapped but not registered on a link, or NULL. */
static struct smc_buf *link_next_area(struct smc_link *link, struct smc_buf_pool *pool)
{
	struct smc_buf *buf, *found = NULL;

	spin_lock_bh(&pool->lock);
	list_for_each_entry(buf, &pool->areas, node) {
		const struct smc_buf_map *map = &buf->map[link->index];

		if (map->mr && !map->is_registered) {
			found = buf;
			break;
		}
	}
	spin_unlock_bh(&pool->lock);
	return found;
}

static int link_register_pool(struct smc_link *link, struct smc_buf_pool *pool)
{
	struct smc_buf *buf;
	int rc = 0;

	/* An area that is not registered everywhere is not idle. */
	while (!rc && (buf = link_next_area(link, pool)))
		rc = smc_buf_register(buf, &link->wr, link->index);
	return rc;
}

/**
 * smc_link_prepare() - a link may send, its areas are known to its RNIC
 * @link: connected
 *
 * The queue pair goes to RTS; what is mapped on the link is registered (REG_MR
 * needs RTS). While a group forms nobody else adds areas to it.
 *
 * Context: Process context, sleeps. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if the link is being taken down; or what
 *	   smc_wr_activate() or smc_buf_register() return.
 */
int smc_link_prepare(struct smc_link *link)
{
	const struct smc_settings *set = &smc_net(link->lgr->key.net)->set;
	int rc;

	rc = link_enter(link);
	if (rc)
		return rc;
	rc = smc_wr_activate(&link->wr, link->psn, READ_ONCE(set->rdma_timeout),
			     READ_ONCE(set->rdma_retries));
	if (!rc)
		rc = link_register_pool(link, &link->lgr->rmbs);
	if (!rc)
		rc = link_register_pool(link, &link->lgr->sends);
	link_exit(link);
	return rc;
}

/**
 * smc_link_destroy() - take one link down, its group goes on
 * @link: no connection sends on it any more
 *
 * Harmless if the end of the group has been faster.
 *
 * Context: Process context, sleeps. Expects no lock held. Takes lgr->lock. The
 *	    caller holds a reference on the group.
 */
void smc_link_destroy(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;
	bool is_mine;

	mutex_lock(&lgr->lock);
	is_mine = link_unpublish(link);
	mutex_unlock(&lgr->lock);
	if (is_mine)
		link_take_down(link);
}

/**
 * smc_lgr_pick_link() - the link for a further connection
 * @lgr: the group; the caller holds a reference
 *
 * Active links are taken in turn.
 *
 * Context: Any context.
 * Return: the link, valid as long as the reference; NULL if none is active.
 */
struct smc_link *smc_lgr_pick_link(struct smc_link_group *lgr)
{
	unsigned int start = READ_ONCE(lgr->nr_conns);
	struct smc_link *active[SMC_LINKS_MAX];
	unsigned int nr = 0;
	int i;

	for (i = 0; i < SMC_LINKS_MAX; i++) {
		/* pairs with smp_store_release() in link_publish() */
		struct smc_link *link = smp_load_acquire(&lgr->links[i]);

		if (link && READ_ONCE(link->state) == SMC_LINK_ACTIVE)
			active[nr++] = link;
	}
	return nr ? active[start % nr] : NULL;
}

/**
 * smc_lgr_link_by_num() - the link that a number on the wire names
 * @lgr: the group; the caller holds a reference
 * @num: link number, LID-01
 *
 * Context: Any context.
 * Return: the link, valid as long as the reference; NULL if there is none.
 */
struct smc_link *smc_lgr_link_by_num(struct smc_link_group *lgr, u8 num)
{
	int i;

	for (i = 0; i < SMC_LINKS_MAX; i++) {
		/* pairs with smp_store_release() in link_publish() */
		struct smc_link *link = smp_load_acquire(&lgr->links[i]);

		if (link && READ_ONCE(link->num) == num)
			return link;
	}
	return NULL;
}

/**
 * smc_link_set_state() - move a link to another state
 * @link: the link
 * @state: the new state
 *
 * Context: Process context. Expects lgr->lock held.
 * Return: true if it moved; false if that is no legal move.
 */
bool smc_link_set_state(struct smc_link *link, enum smc_link_state state)
{
	lockdep_assert_held(&link->lgr->lock);
	if (!smc_state_link_may_move(link->state, state))
		return false;
	/* pairs with smp_load_acquire() in smc_lgr_link_by_peer() */
	smp_store_release(&link->state, state);
	return true;
}

/**
 * smc_link_add_waiter() - a connection waits for a free slot
 * @link: the link
 * @conn: the connection; the queue takes a reference on its socket
 *
 * Nothing happens if it waits already: whoever serves the queue will look at
 * what it has to send after it was taken out. After this the caller must try
 * once more to get a slot for the first in the queue, since the last one may
 * have come back before @conn was seen there.
 *
 * Context: Any context but hard interrupt. Takes link->wait_lock. Expects an
 *	    RCU read section in which @link was found.
 */
void smc_link_add_waiter(struct smc_link *link, struct smc_conn *conn)
{
	bool is_open;

	/* Fully ordered; pairs with test_and_clear_bit() in pop_waiter. */
	if (test_and_set_bit(SMC_CONN_IS_WAITING, &conn->flags))
		return;
	sock_hold(conn->sk);
	spin_lock_bh(&link->wait_lock);
	/* Once stopped, link_drop_waiters() may have been here. */
	is_open = !test_bit(SMC_WR_IS_STOPPED, &link->wr.flags);
	if (is_open)
		list_add_tail(&conn->wait_node, &link->waiters);
	spin_unlock_bh(&link->wait_lock);
	if (!is_open) {
		clear_bit(SMC_CONN_IS_WAITING, &conn->flags);
		sock_put(conn->sk);
	}
}

/**
 * smc_link_pop_waiter() - the connection that has waited longest
 * @link: the link
 *
 * Context: Any context but hard interrupt. Takes link->wait_lock.
 * Return: the connection, no longer waiting, with the queue's reference on its
 *	   socket; NULL if nobody waits.
 */
struct smc_conn *smc_link_pop_waiter(struct smc_link *link)
{
	struct smc_conn *conn;

	spin_lock_bh(&link->wait_lock);
	conn = list_first_entry_or_null(&link->waiters, struct smc_conn, wait_node);
	if (conn)
		list_del_init(&conn->wait_node);
	spin_unlock_bh(&link->wait_lock);
	/*
	 * Fully ordered: who still saw the bit has published what it wants
	 * sent before, and the caller looks at that after.
	 */
	if (conn)
		test_and_clear_bit(SMC_CONN_IS_WAITING, &conn->flags);
	return conn;
}

/**
 * smc_lgr_begin_grow() - ask to be the one who adds an area
 * @lgr: the group; the caller holds a reference
 *
 * One task at a time adds areas. Whoever comes second waits and then looks
 * again for an element: the first one's area has several.
 *
 * Context: Process context, sleeps, killable. Expects no lock held. Takes
 *	    lgr->lock.
 * Return: 0, then smc_lgr_end_grow() is due; -EAGAIN if somebody else has just
 *	   added one: retry smc_buf_get(); -ECONNABORTED if the group is down;
 *	   -EINTR.
 */
int smc_lgr_begin_grow(struct smc_link_group *lgr)
{
	int rc = 0;

	mutex_lock(&lgr->lock);
	if (smc_lgr_is_down(lgr))
		rc = -ECONNABORTED;
	else if (lgr->is_growing)
		rc = -EAGAIN;
	else
		lgr->is_growing = true;
	mutex_unlock(&lgr->lock);
	if (rc != -EAGAIN)
		return rc;

	rc = wait_event_killable(lgr->waitq,
				 !READ_ONCE(lgr->is_growing) || smc_lgr_is_down(lgr));
	if (rc)
		return -EINTR;
	return smc_lgr_is_down(lgr) ? -ECONNABORTED : -EAGAIN;
}

/**
 * smc_lgr_end_grow() - the area has been added, or could not be
 * @lgr: the group
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock.
 */
void smc_lgr_end_grow(struct smc_link_group *lgr)
{
	mutex_lock(&lgr->lock);
	WARN_ON_ONCE(!lgr->is_growing);
	WRITE_ONCE(lgr->is_growing, false);
	mutex_unlock(&lgr->lock);
	wake_up_all(&lgr->waitq);
}

/* The link at an index with its queues kept, or NULL. */
static struct smc_link *lgr_enter_link(struct smc_link_group *lgr, int index)
{
	struct smc_link *link;

	mutex_lock(&lgr->lock);
	link = lgr->links[index];
	if (link)
		link->users++;
	mutex_unlock(&lgr->lock);
	return link;
}

/* False if it stays mapped somewhere, for the RNIC may still be at it. */
static bool lgr_unmap_buf(struct smc_link_group *lgr, struct smc_buf *buf)
{
	bool is_unmapped = true;
	struct smc_link *link;
	int i;

	for (i = 0; i < SMC_LINKS_MAX; i++) {
		if (!buf->map[i].mr)
			continue;
		link = lgr_enter_link(lgr, i);
		if (link && !test_bit(SMC_WR_IS_REPORTED, &link->wr.flags))
			smc_buf_unmap(buf, &link->wr, i);
		else
			is_unmapped = false;
		if (link)
			link_exit(link);
	}
	return is_unmapped;
}

/**
 * smc_lgr_drop_buf() - free an area that could not be made ready
 * @lgr: the group, the caller being the one who grows it
 * @buf: the caller's, not in its pool, mapped or not; gone afterwards
 *
 * Where a link has failed, the area stays with the group until the queues of
 * that link are gone: a registration may not have completed.
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 */
void smc_lgr_drop_buf(struct smc_link_group *lgr, struct smc_buf *buf)
{
	WARN_ON_ONCE(!READ_ONCE(lgr->is_growing));
	if (lgr_unmap_buf(lgr, buf)) {
		smc_buf_free(buf);
		return;
	}
	mutex_lock(&lgr->lock);
	list_add(&buf->node, &lgr->orphans);
	mutex_unlock(&lgr->lock);
}

/**
 * smc_lgr_map_buf() - make a new area known on all links of a group
 * @lgr: the group, the caller being the one who grows it
 * @buf: the caller's, not yet in its pool
 *
 * On failure smc_lgr_drop_buf() is due. RFC 7609 3.5.5.2 (RKEY-02, RKEY-03).
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if there is no link; or what smc_buf_map() returns.
 */
int smc_lgr_map_buf(struct smc_link_group *lgr, struct smc_buf *buf)
{
	int rc = -ECONNABORTED;
	struct smc_link *link;
	int i;

	WARN_ON_ONCE(!READ_ONCE(lgr->is_growing));
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		link = lgr_enter_link(lgr, i);
		if (!link)
			continue;
		rc = smc_buf_map(buf, &link->wr, i);
		link_exit(link);
		if (rc)
			break;
	}
	return rc;
}

/**
 * smc_lgr_register_buf() - register a mapped area on all links of a group
 * @lgr: the group, active, the caller being the one who grows it
 * @buf: mapped, not yet in its pool
 *
 * On failure smc_lgr_drop_buf() is due.
 *
 * Context: Process context, sleeps. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if there is no link; or what smc_buf_register()
 *	   returns.
 */
int smc_lgr_register_buf(struct smc_link_group *lgr, struct smc_buf *buf)
{
	int rc = -ECONNABORTED;
	struct smc_link *link;
	int i;

	for (i = 0; i < SMC_LINKS_MAX; i++) {
		link = lgr_enter_link(lgr, i);
		if (!link)
			continue;
		rc = smc_buf_register(buf, &link->wr, i);
		link_exit(link);
		if (rc)
			break;
	}
	return rc;
}

/**
 * smc_lgr_for_each() - show all groups to an observer
 * @fn: called for each group; no lock is held, it may sleep
 * @arg: passed on
 *
 * Context: Process context.
 */
void smc_lgr_for_each(void (*fn)(struct smc_link_group *lgr, void *arg), void *arg)
{
	struct smc_link_group *lgr, *prev = NULL;

	do {
		/* A group with a reference keeps its place in the list. */
		spin_lock_irq(&smc_lgr_list_lock);
		lgr = list_prepare_entry(prev, &smc_lgr_list, node);
		list_for_each_entry_continue(lgr, &smc_lgr_list, node)
			if (refcount_inc_not_zero(&lgr->refs))
				break;
		spin_unlock_irq(&smc_lgr_list_lock);
		if (prev)
			smc_lgr_put(prev);
		prev = list_entry_is_head(lgr, &smc_lgr_list, node) ? NULL : lgr;
		if (prev)
			fn(prev, arg);
	} while (prev);
}

static void lgr_terminate_in(struct smc_link_group *lgr, void *net)
{
	if (!net || net_eq(lgr->key.net, net))
		smc_lgr_terminate(lgr);
}

/* Is no group left in @net, or anywhere where @net is NULL? */
static bool lgr_none_in(const struct net *net)
{
	struct smc_link_group *lgr;
	bool is_none = true;

	spin_lock_irq(&smc_lgr_list_lock);
	list_for_each_entry(lgr, &smc_lgr_list, node)
		if (!net || net_eq(lgr->key.net, net))
			is_none = false;
	spin_unlock_irq(&smc_lgr_list_lock);
	return is_none;
}

static void lgr_end_all(struct net *net)
{
	smc_lgr_for_each(lgr_terminate_in, net);
	wait_event(smc_lgr_list_waitq, lgr_none_in(net));
}

/**
 * smc_core_exit_net() - end the groups of a namespace
 * @net: going away, without sockets
 *
 * Context: Process context, sleeps until they are gone.
 */
void smc_core_exit_net(struct net *net)
{
	lgr_end_all(net);
}

/**
 * smc_core_init() - get ready for link groups
 * @ops: what links' queues report; kept
 *
 * Context: Process context, module load.
 * Return: 0 or -ENOMEM.
 */
int smc_core_init(const struct smc_wr_ops *ops)
{
	smc_link_ops = ops;
	smc_lgr_last_id = get_random_u32() & ~(SMC_LGR_ID_STEP - 1);
	/* Taking one group down must not wait for another. */
	smc_core_wq = alloc_workqueue("smc_core", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return smc_core_wq ? 0 : -ENOMEM;
}

/**
 * smc_core_exit() - end all groups and wait until they are gone
 *
 * Context: Process context, module unload; no sockets are left.
 */
void smc_core_exit(void)
{
	lgr_end_all(NULL);
	destroy_workqueue(smc_core_wq);
}
