// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups: found or formed by peer, with their connections.
 *
 * Operation:
 *   A handshake reserves a place in a group, or forms a group. Other handshakes with the same key
 *   wait on the wait queue of the FORMING group. A reservation becomes a connection
 *   (smc_conn_join()) or is given back.
 *
 * Ownership:
 *   The last reference queues a work item that frees the group, so it may be dropped in any
 *   context. A search finds the group under RCU until then; module and namespace exit wait for the
 *   last group to be freed.
 *
 *   A connection has a reference of its socket. One more, with the reference on the group, belongs
 *   to its rings: they stay while it is a member, a CDC message is in flight, or bytes left behind
 *   may be read. So a completion needs no reference, and finds the connection under RCU, as a
 *   message of the peer does.
 *
 *   Connection and socket hold each other: TCP destroys a sock before the last reference to it
 *   goes, and the socket then drops its connection.
 *
 * Locks:
 *   A connection takes locks of its own group only. A search takes none: it finds groups under RCU
 *   and has the one that it chooses confirm the choice under state_lock. The lock of smc_lgrs
 *   guards what is rare: groups that are formed, which searches for the same key must not do
 *   twice, or freed.
 *   state_lock may be taken with lgr->lock or the lock of smc_lgrs held. Inside is only the lock of
 *   the idle groups. Waiters of a group are woken after it was released. The state is also read
 *   without it.
 *
 * The end of a group may be requested in any context. One work item takes the group down for every
 * reason: it cuts connections off, takes links out and ends their queues. The memory goes with the
 * last reference.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/netns/hash.h>

#include "smc_compat.h"
#include "rdma/smc_event.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "group/smc_link.h"
#include "control/smc_trace.h"

/* Group ids advance in steps that leave room for a link number, LID-05. */
#define SMC_LGR_ID_STEP	256

static DEFINE_HASHTABLE(smc_lgr_hash, 12);	/* under the lock of smc_lgrs, read under RCU */
static DEFINE_XARRAY(smc_lgrs);			/* in order of formation, see lgr_index() */
static u32 smc_lgr_seed;			/* const after init */
static atomic_t smc_lgr_count = ATOMIC_INIT(0);	/* groups that are not freed */
static atomic64_t smc_lgr_last_serial;
static DECLARE_WAIT_QUEUE_HEAD(smc_lgr_freed_waitq);
static struct workqueue_struct *smc_core_wq;
static struct workqueue_struct *smc_patient_wq;

/* Groups by namespace and address of the peer, under the lock of smc_lgrs */
static DEFINE_HASHTABLE(smc_lgr_peers, 10);

/* Active groups without connections, the oldest first */
static DEFINE_SPINLOCK(smc_idle_lock);
static LIST_HEAD(smc_idle_lgrs);

/* What a group counts in the limit of the host, without regions and links */
#define SMC_LGR_BYTES	(sizeof(struct smc_link_group) + sizeof(struct smc_rtokens))

static void smc_lgr_free_work(struct work_struct *work);

static unsigned long lgr_index(u64 serial)
{
	return serial / SMC_LGR_ID_STEP;
}

static void lgr_set_idle(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->state_lock);
	guard(spinlock_bh)(&smc_idle_lock);
	list_add_tail(&lgr->idle_node, &smc_idle_lgrs);
}

/* It has a connection, or gets none any more. */
static void lgr_set_busy(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->state_lock);
	/* only smc_lgr_pop_idle() changes it meanwhile, in the same direction */
	if (list_empty_careful(&lgr->idle_node))
		return;
	guard(spinlock_bh)(&smc_idle_lock);
	list_del_init(&lgr->idle_node);
}

/* The only place where the state of a group changes. */
static bool lgr_set_state_locked(struct smc_link_group *lgr, enum smc_lgr_state state)
{
	lockdep_assert_held(&lgr->state_lock);
	if (!smc_state_lgr_may_move(lgr->state, state))
		return false;
	lgr_set_busy(lgr);
	/* publishes earlier writes; pairs with the acquires in hs_first_contact(), lgr_find() */
	smp_store_release(&lgr->state, state);
	/* before a teardown reads the connections; pairs with the one in smc_lgr_is_down() */
	smp_mb();
	return true;
}

/* @was: receives the old state, may be NULL. Returns false if the move is not legal. */
static bool lgr_set_state(struct smc_link_group *lgr, enum smc_lgr_state state,
			  enum smc_lgr_state *was)
{
	guard(spinlock_bh)(&lgr->state_lock);
	if (was)
		*was = lgr->state;
	return lgr_set_state_locked(lgr, state);
}

/* From FORMING only. @decline: reason of its connection to fall back to TCP; 0 for a reset */
static bool lgr_set_failed(struct smc_link_group *lgr, enum smc_decline decline)
{
	guard(spinlock_bh)(&lgr->state_lock);
	if (lgr->state != SMC_LGR_FORMING)
		return false;
	lgr->fail_decline = decline;
	return lgr_set_state_locked(lgr, SMC_LGR_TERMINATING);
}

/**
 * smc_lgr_is_down() - check whether the end of a group has begun
 * @lgr: the group
 *
 * Context: Any context. A result of false lasts only while conn->lock or lgr->lock blocks the
 *	    teardown.
 * Return: true once it takes no more connections and links.
 */
bool smc_lgr_is_down(const struct smc_link_group *lgr)
{
	enum smc_lgr_state state;

	/* after the caller's earlier writes; pairs with smp_mb() in lgr_set_state_locked() */
	smp_mb();
	/* pairs with smp_store_release() there: the reason of the end is visible */
	state = smp_load_acquire(&lgr->state);
	return state == SMC_LGR_TERMINATING || state == SMC_LGR_DEAD;
}

/* One reference for being up and one for the caller's reservation. */
static struct smc_link_group *lgr_alloc(const struct smc_lgr_key *key)
{
	struct smc_link_group *lgr;

	if (!smc_mem_charge(SMC_LGR_BYTES))
		return NULL;
	lgr = kvzalloc(sizeof(*lgr), SMC_MEM_GFP);
	if (!lgr)
		goto uncharge;
	lgr->serial = atomic64_add_return(SMC_LGR_ID_STEP, &smc_lgr_last_serial);
	lgr->id = lgr->serial;
	lgr->rtokens = kvzalloc(sizeof(*lgr->rtokens), SMC_MEM_GFP);
	/* its place, which walks do not see yet */
	if (!lgr->rtokens || xa_reserve(&smc_lgrs, lgr_index(lgr->serial), GFP_KERNEL))
		goto free;
	INIT_HLIST_NODE(&lgr->peer_node);
	INIT_LIST_HEAD(&lgr->idle_node);
	INIT_LIST_HEAD(&lgr->all_links);
	INIT_LIST_HEAD(&lgr->dropped);
	INIT_LIST_HEAD(&lgr->leaving);
	refcount_set(&lgr->refs, 2);
	lgr->key = *key;
	memcpy(lgr->peer_name, key->peer_id, sizeof(lgr->peer_name));
	lgr->nr_conns = 1;
	spin_lock_init(&lgr->state_lock);
	lgr->state = SMC_LGR_FORMING;
	atomic_set(&lgr->nr_tokens, get_random_u16());
	xa_init_flags(&lgr->conns, XA_FLAGS_ALLOC1);
	mutex_init(&lgr->lock);
	smc_buf_pool_init(&lgr->rmbs, SMC_BUF_RMB);
	smc_buf_pool_init(&lgr->sends, SMC_BUF_SEND);
	init_waitqueue_head(&lgr->waitq);
	init_waitqueue_head(&lgr->work_waitq);
	INIT_WORK(&lgr->free_work, smc_lgr_free_work);
	return lgr;

free:
	kvfree(lgr->rtokens);
	kvfree(lgr);
uncharge:
	smc_mem_uncharge(SMC_LGR_BYTES);
	return NULL;
}

/* For a group that was never enlisted, or no search finds any more. */
static void lgr_free(struct smc_link_group *lgr)
{
	struct smc_link *link, *next_link;
	struct smc_buf *buf, *next_buf;

	list_for_each_entry_safe(link, next_link, &lgr->all_links, node)
		smc_link_free(link);
	list_for_each_entry_safe(buf, next_buf, &lgr->dropped, node)
		smc_buf_free(buf);
	list_for_each_entry_safe(buf, next_buf, &lgr->leaving, node)
		smc_buf_free(buf);
	smc_buf_pool_free(&lgr->sends);
	smc_buf_pool_free(&lgr->rmbs);
	mem_cgroup_put(lgr->memcg);
	xa_release(&smc_lgrs, lgr_index(lgr->serial));
	xa_destroy(&lgr->conns);
	mutex_destroy(&lgr->lock);
	kvfree(lgr->rtokens);
	kvfree(lgr);
	smc_mem_uncharge(SMC_LGR_BYTES);
}

static void smc_lgr_free_work(struct work_struct *work)
{
	struct smc_link_group *lgr = container_of(work, struct smc_link_group, free_work);
	struct smc_pernet *sn = smc_net(lgr->key.net);

	xa_lock(&smc_lgrs);
	hash_del_rcu(&lgr->node);
	hash_del(&lgr->peer_node);
	__xa_erase(&smc_lgrs, lgr_index(lgr->serial));
	xa_unlock(&smc_lgrs);
	/* Searches, completion handlers and pushes no longer use links and group. */
	synchronize_rcu();
	lgr_free(lgr);
	/* The namespace may end from here on. */
	atomic_dec(&sn->nr_lgrs);
	atomic_dec(&smc_lgr_count);
	wake_up_all(&smc_lgr_freed_waitq);
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

/* Equal for keys of one peer, as lgr_key_matches() compares. Peers choose their IDs. */
static u32 lgr_hash(const struct smc_lgr_key *key)
{
	u32 seed = smc_lgr_seed + net_hash_mix(key->net) + key->role;

	if (memchr_inv(key->peer_id, 0, sizeof(key->peer_id)))
		return jhash(key->peer_id, sizeof(key->peer_id), seed);
	return jhash(key->peer_gid, sizeof(key->peer_gid), seed);
}

static bool lgr_key_matches(const struct smc_link_group *lgr, const struct smc_lgr_key *key)
{
	const struct smc_lgr_key *own = &lgr->key;

	return net_eq(own->net, key->net) && own->role == key->role &&
	       own->vlan == key->vlan && own->version == key->version &&
	       smc_nego_same_peer(own->peer_id, own->peer_gid, key->peer_id, key->peer_gid);
}

/*
 * True if the link takes the path found for the new connection. An RNIC never changes the next hop
 * of a link, which dies with the address of its GID. Without a route (hop_limit 0) it is direct.
 */
static bool lgr_link_has_path(const struct smc_link *link, const struct smc_ib_end *end,
			      const struct smc_lgr_key *key)
{
	if (memcmp(&link->wr.end.gid, &end->gid, sizeof(end->gid)))
		return false;
	if (!key->hop_limit)
		return true;
	if (!link->peer.hop_limit)
		return key->hop_limit == 1;
	return link->peer.hop_limit == key->hop_limit &&
	       !memcmp(link->peer.hop_mac, key->hop_mac, sizeof(key->hop_mac));
}

/* The peer's end of a link is valid only then. */
static bool link_was_connected(const struct smc_link *link)
{
	/* pairs with smp_store_release() in smc_link_set_state() */
	return smp_load_acquire(&link->state) != SMC_LINK_UNUSED && link->peer.qpn;
}

/*
 * Return true if RDMA works or worked between these ends, and some link is active: the data may
 * take another path than TCP's.
 */
static bool lgr_serves_ends(struct smc_link_group *lgr, const struct smc_ib_end *end,
			    const struct smc_lgr_key *key)
{
	const struct smc_link *link;

	guard(rcu)();
	list_for_each_entry_rcu(link, &lgr->all_links, node)
		/* not the device: another one may have replaced it */
		if (link_was_connected(link) && READ_ONCE(link->is_kept) &&
		    link->wr.end.port == end->port && lgr_link_has_path(link, end, key) &&
		    !memcmp(link->wr.end.mac, end->mac, sizeof(end->mac)) &&
		    smc_nego_same_rnic(link->peer.gid, link->peer.mac,
				       key->peer_gid, key->peer_mac))
			return smc_lgr_pick_link(lgr);
	return false;
}

/* Return true if the FORMING group belongs to the same client, which the new one may wait for. */
static bool lgr_has_same_client(const struct smc_link_group *lgr, const struct smc_lgr_key *key)
{
	const struct smc_lgr_key *own = &lgr->key;

	return smc_nego_same_rnic(own->peer_gid, own->peer_mac, key->peer_gid, key->peer_mac) &&
	       !memcmp(&own->peer_addr, &key->peer_addr, sizeof(own->peer_addr));
}

static bool lgr_is_same_peer(const struct smc_ib_peer *one, const struct smc_ib_peer *two)
{
	return one->qpn == two->qpn && !memcmp(one->gid, two->gid, sizeof(one->gid)) &&
	       !memcmp(one->mac, two->mac, sizeof(one->mac));
}

static bool link_leads_to(const struct smc_link *link, const struct smc_ib_peer *peer)
{
	return link_was_connected(link) && lgr_is_same_peer(&link->peer, peer);
}

/**
 * smc_lgr_link_by_peer() - find the link to a peer's end
 * @lgr: the group; the caller holds a reference
 * @peer: the peer's end, as in Accept or Confirm: QP number, GID and MAC count
 *
 * Prefers a link in use. A link being left counts too: the peer may not know yet, so its messages
 * about that link are still valid. RFC 7609 3.5.2.2, 3.5.2.3 (SC-05, SC-09).
 *
 * Context: Any context.
 * Return: the link, in use (smc_link_is_used()) or being left, valid as long as the reference; NULL
 *	   if there is none.
 */
struct smc_link *smc_lgr_link_by_peer(struct smc_link_group *lgr,
				      const struct smc_ib_peer *peer)
{
	struct smc_link *link, *found = NULL;
	bool is_used = false;
	int i;

	/* pairs with the grace period in smc_link_take_down() */
	guard(rcu)();
	for (i = 0; i < SMC_LINKS_MAX && !is_used; i++) {
		/* pairs with smp_store_release() in link_publish() */
		link = smp_load_acquire(&lgr->links[i]);
		if (!link || !link_leads_to(link, peer))
			continue;
		is_used = smc_link_is_used(link);
		found = link;
	}
	if (found)
		WRITE_ONCE(found->is_kept, true);
	return found;
}

/**
 * smc_link_is_used() - check whether a link is in use, or about to be
 * @link: the link
 *
 * Context: Any context. It may be lost at any time.
 * Return: false if it was never connected, is being left, or gone.
 */
bool smc_link_is_used(const struct smc_link *link)
{
	enum smc_link_state state = READ_ONCE(link->state);

	return state == SMC_LINK_ACTIVE || state == SMC_LINK_ACTIVATING;
}

/* Return true if a link of the group leads or led to that end. */
static bool lgr_had_link(struct smc_link_group *lgr, const struct smc_ib_peer *peer)
{
	const struct smc_link *link;

	guard(rcu)();
	list_for_each_entry_rcu(link, &lgr->all_links, node)
		if (link_leads_to(link, peer))
			return true;
	return false;
}

static unsigned int lgr_max_conns(const struct smc_link_group *lgr)
{
	int own = READ_ONCE(smc_net(lgr->key.net)->set.max_conns_per_lgr);

	return min_not_zero(clamp(own, 1, SMC_NEGO_MAX_CONNS), (int)lgr->params.max_conns);
}

/*
 * Criteria of a search: a group with room on @end (server), or the one with a link to @peer, whose
 * room is the server's business (client, LG-06).
 */
struct lgr_search {
	const struct smc_lgr_key *key;
	const struct smc_ib_end *end;
	const struct smc_ib_peer *peer;
	bool may_be_left;		/* accept a link that is being left */
	bool takes_place;		/* reserve a place in an ACTIVE group */
	struct smc_link *link;		/* found with @peer */
	bool is_forming;		/* the group that was found is */
};

static bool lgr_fits(struct smc_link_group *lgr, enum smc_lgr_state state, struct lgr_search *s)
{
	if (s->peer) {
		s->link = smc_lgr_link_by_peer(lgr, s->peer);
		return s->link && (s->may_be_left || smc_link_is_used(s->link));
	}
	if (state == SMC_LGR_FORMING)
		return lgr_has_same_client(lgr, s->key);
	/* LG-03, SC-03, PID-05 */
	return READ_ONCE(lgr->nr_conns) < lgr_max_conns(lgr) &&
	       lgr_serves_ends(lgr, s->end, s->key);
}

/* Take a reference, and a place if wanted. Return: false if the group has changed meanwhile. */
static bool lgr_take(struct smc_link_group *lgr, const struct lgr_search *s)
{
	guard(spinlock_bh)(&lgr->state_lock);
	if (lgr->state != SMC_LGR_ACTIVE || lgr->is_retired)
		return false;
	if (s->takes_place) {
		if (!s->peer && lgr->nr_conns >= lgr_max_conns(lgr))
			return false;
		lgr_set_busy(lgr);
		WRITE_ONCE(lgr->nr_conns, lgr->nr_conns + 1);
	}
	/* not freed in this state */
	refcount_inc(&lgr->refs);
	return true;
}

/*
 * Find the first ACTIVE group that fits, or else a FORMING one that may. Return it with a
 * reference, an ACTIVE one with a place if wanted.
 */
static struct smc_link_group *lgr_find(struct lgr_search *s)
{
	struct smc_link_group *lgr, *forming = NULL;
	enum smc_lgr_state state;

	guard(rcu)();
	hash_for_each_possible_rcu(smc_lgr_hash, lgr, node, lgr_hash(s->key)) {
		if (READ_ONCE(lgr->is_retired) || !lgr_key_matches(lgr, s->key))
			continue;
		/* pairs with smp_store_release() in lgr_set_state_locked() */
		state = smp_load_acquire(&lgr->state);
		s->is_forming = state == SMC_LGR_FORMING;
		if (state == SMC_LGR_ACTIVE && lgr_fits(lgr, state, s) && lgr_take(lgr, s))
			return lgr;
		if (s->is_forming && !forming && lgr_fits(lgr, state, s))
			forming = lgr;
	}
	s->is_forming = forming && refcount_inc_not_zero(&forming->refs);
	return s->is_forming ? forming : NULL;
}

static u32 lgr_peer_hash(const struct smc_lgr_key *key)
{
	return __ipv6_addr_jhash(&key->peer_addr, smc_lgr_seed ^ net_hash_mix(key->net));
}

static bool lgr_is_with(const struct smc_link_group *lgr, const struct smc_lgr_key *key)
{
	return net_eq(lgr->key.net, key->net) &&
	       ipv6_addr_equal(&lgr->key.peer_addr, &key->peer_addr);
}

/* Count the groups with a peer. One that has ended counts until it is freed. */
static unsigned int lgr_nr_with(const struct smc_lgr_key *key)
{
	struct smc_link_group *lgr;
	unsigned int nr = 0;

	lockdep_assert_held(&smc_lgrs.xa_lock);
	hash_for_each_possible(smc_lgr_peers, lgr, peer_node, lgr_peer_hash(key))
		nr += lgr_is_with(lgr, key);
	return nr;
}

/*
 * Expects the lock of smc_lgrs held, under which there was no other group for the key. Return:
 * false if there are too many groups.
 */
static bool lgr_enlist(struct smc_link_group *lgr)
{
	struct hlist_head *head = &smc_lgr_hash[hash_min(lgr_hash(&lgr->key),
							 HASH_BITS(smc_lgr_hash))];
	struct smc_pernet *sn = smc_net(lgr->key.net);

	lockdep_assert_held(&smc_lgrs.xa_lock);
	if (lgr_nr_with(&lgr->key) >= READ_ONCE(sn->set.max_lgrs_per_peer))
		return false;
	atomic_inc(&sn->nr_lgrs);
	atomic_inc(&smc_lgr_count);
	hash_add(smc_lgr_peers, &lgr->peer_node, lgr_peer_hash(&lgr->key));
	/* earlier groups are filled first */
	hlist_add_tail_rcu(&lgr->node, head);
	/* in its reserved place, which needs no memory */
	__xa_store(&smc_lgrs, lgr_index(lgr->serial), lgr, 0);
	return true;
}

/*
 * Find a group, or else enlist @fresh, at once: two handshakes do not form two groups. NULL if
 * there are too many.
 */
static struct smc_link_group *lgr_find_or_enlist(struct lgr_search *s,
						 struct smc_link_group *fresh)
{
	struct smc_link_group *lgr;

	xa_lock(&smc_lgrs);
	lgr = lgr_find(s);
	if (!lgr && lgr_enlist(fresh))
		lgr = fresh;
	xa_unlock(&smc_lgrs);
	return lgr;
}

/**
 * smc_lgr_reserve() - reserve a place for a connection that a client proposes
 * @key: the peer, with role server
 * @end: the port that serves the connection
 * @is_first: set if a group was formed: this is first contact
 * @forming: receives, with -EAGAIN only, the group to wait for and a reference
 *
 * Finds an active group of that peer with room and a link between the two RNICs, which may be lost
 * if others are active. If there is none, or all are full, and no group is being formed for the
 * same client, forms a (parallel) group. Other handshakes with this key then wait until the caller
 * calls smc_lgr_activate() or smc_lgr_fail(). RFC 7609 3.5.1, 3.5.2.1 (LG-05, LG-06, RMB-19,
 * PID-05, AMB-60).
 *
 * Context: Process context, may sleep, but does not wait for a peer. Expects no lock held.
 * Return: the group, with a reservation that includes a reference, for smc_conn_join() or
 *	   smc_lgr_unreserve(); ERR_PTR(-EAGAIN) to retry once @forming leaves FORMING (wait on its
 *	   waitq); ERR_PTR(-ENOMEM), also at the limit of the host; ERR_PTR(-EDQUOT) with
 *	   net.smc.max_lgrs_per_peer groups with this address.
 */
struct smc_link_group *smc_lgr_reserve(const struct smc_lgr_key *key,
				       const struct smc_ib_end *end, bool *is_first,
				       struct smc_link_group **forming)
{
	struct lgr_search s = { .key = key, .end = end, .takes_place = true };
	struct smc_link_group *lgr, *fresh = NULL;

	lgr = lgr_find(&s);
	if (!lgr) {
		fresh = lgr_alloc(key);
		if (!fresh)
			return ERR_PTR(-ENOMEM);
		lgr = lgr_find_or_enlist(&s, fresh);
	}
	*is_first = lgr == fresh;
	if (fresh && lgr != fresh)
		lgr_free(fresh);
	if (!lgr)
		return ERR_PTR(-EDQUOT);
	if (!s.is_forming)
		return lgr;
	*forming = lgr;
	return ERR_PTR(-EAGAIN);
}

/**
 * smc_lgr_form() - form a group because the Accept announces first contact
 * @key: the peer, with role client
 *
 * RFC 7609 3.5.1.3.
 *
 * Context: Process context, may sleep.
 * Return: the FORMING group, ERR_PTR(-ENOMEM) or ERR_PTR(-EDQUOT), as smc_lgr_reserve().
 */
struct smc_link_group *smc_lgr_form(const struct smc_lgr_key *key)
{
	struct smc_link_group *lgr = lgr_alloc(key);
	bool is_listed;

	if (!lgr)
		return ERR_PTR(-ENOMEM);
	xa_lock(&smc_lgrs);
	is_listed = lgr_enlist(lgr);
	xa_unlock(&smc_lgrs);
	if (is_listed)
		return lgr;
	lgr_free(lgr);
	return ERR_PTR(-EDQUOT);
}

static bool lgr_any_had_link(const struct lgr_search *s)
{
	struct smc_link_group *lgr;

	guard(rcu)();
	hash_for_each_possible_rcu(smc_lgr_hash, lgr, node, lgr_hash(s->key))
		if (READ_ONCE(lgr->state) == SMC_LGR_ACTIVE && !READ_ONCE(lgr->is_retired) &&
		    lgr_key_matches(lgr, s->key) && lgr_had_link(lgr, s->peer))
			return true;
	return false;
}

/**
 * smc_lgr_reserve_link() - reserve a place on the link that a server has named
 * @key: the peer, with role client
 * @peer: the server's end of the link
 * @link: receives the link
 * @forming: as with smc_lgr_reserve()
 *
 * The server may finish first contact earlier, so the group may be FORMING here. If the link is
 * lost here without the server's knowledge, smc_conn_join() finds another link of the group. RFC
 * 7609 3.5.2.2 (SC-05, FAIL-02).
 *
 * Context: Process context.
 * Return: the group as with smc_lgr_reserve(); ERR_PTR(-EAGAIN) as there; ERR_PTR(-ESTALE) if an
 *	   active group had that link and lost it, so the server's message can no longer be
 *	   interpreted; ERR_PTR(-ENOENT) if there is no such link (out of sync).
 */
struct smc_link_group *smc_lgr_reserve_link(const struct smc_lgr_key *key,
					    const struct smc_ib_peer *peer,
					    struct smc_link **link,
					    struct smc_link_group **forming)
{
	struct lgr_search s = { .key = key, .peer = peer, .takes_place = true };
	struct smc_link_group *lgr;

	lgr = lgr_find(&s);
	if (!lgr) {
		s.may_be_left = true;
		lgr = lgr_find(&s);
	}
	if (!lgr)
		return ERR_PTR(lgr_any_had_link(&s) ? -ESTALE : -ENOENT);
	if (s.is_forming) {
		*forming = lgr;
		return ERR_PTR(-EAGAIN);
	}
	*link = s.link;
	return lgr;
}

/**
 * smc_lgr_find_link() - find the group that has a link to a peer's end
 * @key: the peer and our role
 * @peer: the peer's end of the link
 *
 * For a group that a first contact claims to be lost (AMB-06). A link that is being left is no
 * proof: its number may already name a new queue pair.
 *
 * Context: Process context.
 * Return: the group with a reference, but no reservation; NULL if none.
 */
struct smc_link_group *smc_lgr_find_link(const struct smc_lgr_key *key,
					 const struct smc_ib_peer *peer)
{
	struct lgr_search s = { .key = key, .peer = peer };

	return lgr_find(&s);
}

static bool lgr_is_successor(const struct smc_link_group *other, const struct smc_link_group *lgr)
{
	const struct smc_lgr_key *key = &lgr->key;

	if (READ_ONCE(other->state) != SMC_LGR_ACTIVE)
		return false;
	if (ipv6_addr_equal(&other->key.peer_addr, &key->peer_addr))
		return true;
	/*
	 * After a restart a host has a new peer ID and its old MAC address. So do containers that
	 * share an RNIC, but each has its own addresses: only an address of the other family may
	 * belong to the same host.
	 */
	return ipv6_addr_v4mapped(&other->key.peer_addr) != ipv6_addr_v4mapped(&key->peer_addr) &&
	       ether_addr_equal(other->key.peer_mac, key->peer_mac) &&
	       memcmp(other->key.peer_id, key->peer_id, sizeof(key->peer_id));
}

/**
 * smc_lgr_has_successor() - check whether a later group with the same host is active
 * @lgr: the group; the caller holds a reference
 *
 * Context: Process context.
 * Return: true if a later group is with the peer, with the restarted peer at an address of the
 *	   other family, or with the present owner of its address.
 */
bool smc_lgr_has_successor(const struct smc_link_group *lgr)
{
	struct smc_link_group *other = NULL;
	bool has = false;

	while (!has && (other = smc_lgr_next(lgr->key.net, other, lgr->serial)))
		has = lgr_is_successor(other, lgr);
	if (other)
		smc_lgr_put(other);
	return has;
}

/**
 * smc_lgr_drop_conn() - count one connection or reservation less
 * @lgr: the group; the reference of the reservation stays with the caller
 *
 * Context: Any context but hard interrupt. Takes lgr->state_lock.
 * Return: true if that was the last one of an active group: its idle time begins (TMR-10).
 */
bool smc_lgr_drop_conn(struct smc_link_group *lgr)
{
	bool is_idle;

	guard(spinlock_bh)(&lgr->state_lock);
	WRITE_ONCE(lgr->nr_conns, lgr->nr_conns - 1);
	is_idle = !lgr->nr_conns && lgr->state == SMC_LGR_ACTIVE;
	if (is_idle && !lgr->is_retired)
		lgr_set_idle(lgr);
	return is_idle;
}

/**
 * smc_lgr_unreserve() - give back a reservation that did not become a connection
 * @lgr: the group; the reference of the reservation is dropped
 *
 * Context: Any context but hard interrupt. Takes lgr->state_lock.
 * Return: as smc_lgr_drop_conn(). A caller that acts on it needs its own reference.
 */
bool smc_lgr_unreserve(struct smc_link_group *lgr)
{
	bool is_idle = smc_lgr_drop_conn(lgr);

	smc_lgr_put(lgr);
	return is_idle;
}

/**
 * smc_lgr_pop_idle() - get the group that is idle for longest, to end it
 * @key: its namespace and the peer's address count; NULL for any group
 *
 * An idle group costs a queue pair, receives and tables for net.smc.lgr_idle_ms, and a client can
 * cause many by changing its peer ID. LGT-02.
 *
 * Context: Any context but hard interrupt.
 * Return: the group with a reference, no longer in the list; NULL if there is none.
 */
struct smc_link_group *smc_lgr_pop_idle(const struct smc_lgr_key *key)
{
	struct smc_link_group *lgr;

	guard(spinlock_bh)(&smc_idle_lock);
	list_for_each_entry(lgr, &smc_idle_lgrs, idle_node) {
		if (key && !lgr_is_with(lgr, key))
			continue;
		/* leaves the list before its state moves, and so has the reference for being up */
		refcount_inc(&lgr->refs);
		/* pairs with list_empty_careful() in lgr_set_busy(): publishes the reference */
		list_del_init_careful(&lgr->idle_node);
		return lgr;
	}
	return NULL;
}

/**
 * smc_lgr_retire() - admit no further connection, unless there are connections
 * @lgr: the group
 *
 * The caller is about to end an idle group; a handshake that joins it now would fail.
 *
 * Context: Any context but hard interrupt. Takes lgr->state_lock.
 * Return: true if the group is active, empty, and will stay so.
 */
bool smc_lgr_retire(struct smc_link_group *lgr)
{
	guard(spinlock_bh)(&lgr->state_lock);
	if (lgr->nr_conns || lgr->state != SMC_LGR_ACTIVE)
		return false;
	lgr_set_busy(lgr);
	WRITE_ONCE(lgr->is_retired, true);
	return true;
}

/**
 * smc_lgr_shut() - admit no further connection
 * @lgr: the group, whose end is announced to the peer, or which takes no further link
 *
 * RFC 7609 3.5.4 (LGT-04, LGT-05).
 *
 * Context: Any context but hard interrupt. Takes lgr->state_lock.
 */
void smc_lgr_shut(struct smc_link_group *lgr)
{
	guard(spinlock_bh)(&lgr->state_lock);
	lgr_set_busy(lgr);
	WRITE_ONCE(lgr->is_retired, true);
}

/**
 * smc_lgr_pick_link() - pick the active link with the fewest connections, LB-03
 * @lgr: the group; the caller holds a reference
 *
 * Context: Any context.
 * Return: the link, valid as long as the reference; NULL if none is active.
 */
struct smc_link *smc_lgr_pick_link(struct smc_link_group *lgr)
{
	struct smc_link *best = NULL;
	int i;

	/* an active link stays allocated; any other may be freed after a grace period */
	guard(rcu)();
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		/* pairs with smp_store_release() in link_publish() */
		struct smc_link *link = smp_load_acquire(&lgr->links[i]);

		if (link && READ_ONCE(link->state) == SMC_LINK_ACTIVE &&
		    (!best || atomic_read(&link->nr_conns) < atomic_read(&best->nr_conns)))
			best = link;
	}
	return best;
}

/* Return: false if there is a group, but not one of @net (NULL for all) that stays. */
static bool lgr_try_next(const struct net *net, unsigned long *index, struct smc_link_group **lgr)
{
	guard(rcu)();
	*lgr = xa_find_after(&smc_lgrs, index, ULONG_MAX, XA_PRESENT);
	return !*lgr || ((!net || net_eq((*lgr)->key.net, net)) &&
			 refcount_inc_not_zero(&(*lgr)->refs));
}

/**
 * smc_lgr_next() - walk the groups in order of formation
 * @net: the namespace whose groups, NULL for all
 * @prev: the group that the last call returned; its reference is dropped. NULL to begin, or to
 *	  continue an earlier walk
 * @after: serial of the last group that was handled, 0 for none
 *
 * Groups may come and go during the walk; one that stays is returned once. A walk takes no lock,
 * continues in logarithmic time, and lets other tasks run.
 *
 * Context: Process context, may sleep.
 * Return: a group with a reference; NULL after the last one.
 */
struct smc_link_group *smc_lgr_next(const struct net *net, struct smc_link_group *prev, u64 after)
{
	unsigned long index = lgr_index(max(after, prev ? prev->serial : 0));
	struct smc_link_group *lgr;

	if (prev)
		smc_lgr_put(prev);
	do
		cond_resched();
	while (!lgr_try_next(net, &index, &lgr));
	return lgr;
}

/**
 * smc_lgr_for_each() - call a function for groups
 * @net: the namespace whose groups, NULL for all
 * @fn: the function; no lock is held, it may sleep
 * @arg: passed on
 *
 * Context: Process context, may sleep.
 */
void smc_lgr_for_each(const struct net *net, void (*fn)(struct smc_link_group *lgr, void *arg),
		      void *arg)
{
	struct smc_link_group *lgr = NULL;

	while ((lgr = smc_lgr_next(net, lgr, 0)))
		fn(lgr, arg);
}

/**
 * smc_lgr_wait_none() - wait until all groups are freed
 * @net: the namespace whose groups, NULL for all; they have been terminated
 *
 * Context: Process context, sleeps.
 */
void smc_lgr_wait_none(struct net *net)
{
	const atomic_t *nr = net ? &smc_net(net)->nr_lgrs : &smc_lgr_count;

	wait_event(smc_lgr_freed_waitq, !atomic_read(nr));
}

static void lgr_queue(struct workqueue_struct *wq, struct smc_link_group *lgr,
		      struct work_struct *work)
{
	smc_lgr_get(lgr);
	if (!queue_work(wq, work))
		smc_lgr_put(lgr);
}

/**
 * smc_core_queue() - queue a work item of a group
 * @lgr: the group; the caller has a reference
 * @work: the item; drops a reference that is taken here. It may wait for another such item of the
 *	  group, but neither for another group nor for the peer
 *
 * Context: Any context.
 */
void smc_core_queue(struct smc_link_group *lgr, struct work_struct *work)
{
	lgr_queue(smc_core_wq, lgr, work);
}

/**
 * smc_core_queue_patient() - queue a work item of a group that waits for the peer
 * @lgr: the group; the caller has a reference
 * @work: the item; drops a reference that is taken here. It may wait for the group's LLC engine
 *
 * Silent peers can occupy all workers of this queue. The engines run on the other one.
 *
 * Context: Any context.
 */
void smc_core_queue_patient(struct smc_link_group *lgr, struct work_struct *work)
{
	lgr_queue(smc_patient_wq, lgr, work);
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
	struct smc_conn *conn;
	unsigned long pos;

	lockdep_assert_held(&lgr->lock);
	if (lgr->is_committed)
		return;
	smc_nego_settle_dialect(&lgr->params, dialect);
	lgr->is_committed = true;
	xa_for_each(&lgr->conns, pos, conn)
		scoped_guard(smc_conn, conn)
			smc_conn_set_geometry(lgr, conn);
}

/**
 * smc_lgr_activate() - activate a group and its first link after first contact
 * @lgr: the group, FORMING; otherwise nothing happens
 *
 * Wakes handshakes that wait for the group.
 *
 * Context: Process context. Expects lgr->lock held.
 */
void smc_lgr_activate(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->lock);
	if (lgr->type == SMC_LGR_TYPE_NONE)
		lgr->type = SMC_LGR_TYPE_SINGLE;
	if (lgr->links[0])
		smc_link_set_state(lgr->links[0], SMC_LINK_ACTIVE);
	if (!lgr_set_state(lgr, SMC_LGR_ACTIVE, NULL))
		return;
	smc_stat_inc(lgr->key.net, SMC_STAT_LGR_NEW);
	trace_smc_lgr_up(lgr, "");
	smc_event_send(&(struct smc_event){
		.cmd = SMC_NETLINK_EVENT_LGR_UP, .net = lgr->key.net, .lgr = lgr });
	pr_info_ratelimited("link group %08x with peer %8phN is up (%s, %s dialect)\n",
			    lgr->id, lgr->peer_name,
			    lgr->key.role == SMC_ROLE_SERVER ? "server" : "client",
			    smc_llc_dialect_name(lgr->params.dialect));
	wake_up_all(&lgr->waitq);
}

/*
 * Every wait here is short: users of a link are in one verb, and a task that adds a buffer waits
 * for an answer that the LLC engine bounds.
 *
 * The queues are flushed before connections are cut off, so that each has what its peer takes for
 * delivered: one that lands reports it. After the change of state a joining connection sees the end
 * of the group.
 */
static void lgr_terminate_work(struct work_struct *work)
{
	struct smc_link_group *lgr = container_of(work, struct smc_link_group, terminate_work);
	struct smc_link *links[SMC_LINKS_MAX];
	struct smc_conn *conn;
	unsigned long pos;
	int i;

	mutex_lock(&lgr->lock);
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		links[i] = lgr->links[i];
		/* Report the end to the LLC engine, which may not have decided it. */
		if (links[i])
			smc_wr_report(&links[i]->wr, SMC_WR_FAULT_PROTOCOL);
		if (links[i])
			smc_link_unpublish(links[i]);
	}
	mutex_unlock(&lgr->lock);

	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (links[i])
			smc_link_halt(links[i]);
	scoped_guard(mutex, &lgr->lock)
		xa_for_each(&lgr->conns, pos, conn)
			smc_conn_abort(conn);
	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (links[i])
			smc_link_take_down(links[i]);
	lgr_set_state(lgr, SMC_LGR_DEAD, NULL);
	wake_up_all(&lgr->waitq);
	smc_lgr_put(lgr);
}

/* Runs once, because the state moved. Drops the reference for being up. */
static void lgr_begin_end(struct smc_link_group *lgr)
{
	wake_up_all(&lgr->waitq);
	wake_up_all(&lgr->rmbs.waitq);
	wake_up_all(&lgr->sends.waitq);
	INIT_WORK(&lgr->terminate_work, lgr_terminate_work);
	smc_core_queue(lgr, &lgr->terminate_work);
	smc_lgr_put(lgr);
}

/**
 * smc_lgr_terminate() - end a group
 * @lgr: the group, in any state; the second call does nothing
 * @why: in words, for operators
 *
 * No search finds it any more. A work item raises SMC_EV_LINK_LOST for its connections, takes the
 * queues down and releases the devices. RFC 7609 3.5.4, 4.8.3 (PEER-03).
 *
 * Context: Any context but hard interrupt.
 */
void smc_lgr_terminate(struct smc_link_group *lgr, const char *why)
{
	enum smc_lgr_state old;

	if (!lgr_set_state(lgr, SMC_LGR_TERMINATING, &old))
		return;
	if (old == SMC_LGR_ACTIVE) {
		smc_stat_inc(lgr->key.net, SMC_STAT_LGR_END);
		trace_smc_lgr_down(lgr, why);
		smc_event_send(&(struct smc_event){
			.cmd = SMC_NETLINK_EVENT_LGR_DOWN, .net = lgr->key.net, .lgr = lgr,
			.text = why });
		pr_info_ratelimited("link group %08x with peer %8phN is gone\n",
				    lgr->id, lgr->peer_name);
	}
	lgr_begin_end(lgr);
}

/**
 * smc_lgr_fail() - end a group whose first contact has failed
 * @lgr: the group; nothing happens unless it is FORMING: an active group may have other users
 * @decline: reason if its connection may still fall back to TCP; 0 if it must be reset
 *
 * The first reason counts. Otherwise as smc_lgr_terminate().
 *
 * Context: Any context.
 */
void smc_lgr_fail(struct smc_link_group *lgr, enum smc_decline decline)
{
	if (lgr_set_failed(lgr, decline))
		lgr_begin_end(lgr);
}

static void lgr_terminate_one(struct smc_link_group *lgr, void *arg)
{
	smc_lgr_terminate(lgr, "the namespace or the module ends");
}

/**
 * smc_lgr_terminate_all() - end groups at once
 * @net: the namespace whose groups, without sockets; NULL for all
 *
 * Context: Process context. smc_lgr_wait_none() waits until they are freed.
 */
void smc_lgr_terminate_all(struct net *net)
{
	smc_lgr_for_each(net, lgr_terminate_one, NULL);
}

/**
 * smc_core_init() - create the work queues for link groups
 *
 * Context: Process context, module load.
 * Return: 0 or -ENOMEM.
 */
int smc_core_init(void)
{
	smc_lgr_seed = get_random_u32();
	atomic64_set(&smc_lgr_last_serial, get_random_u32() & ~(SMC_LGR_ID_STEP - 1));
	/* Unbound: taking one group down must not wait for another. */
	smc_core_wq = alloc_workqueue("smc_core", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!smc_core_wq)
		return -ENOMEM;
	smc_patient_wq = alloc_workqueue("smc_patient", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (smc_patient_wq)
		return 0;
	destroy_workqueue(smc_core_wq);
	return -ENOMEM;
}

/**
 * smc_core_exit() - undo smc_core_init()
 *
 * Context: Process context, module unload; no group is left.
 */
void smc_core_exit(void)
{
	/* in this order: a patient item may drop the last reference on a group */
	destroy_workqueue(smc_patient_wq);
	destroy_workqueue(smc_core_wq);
}
