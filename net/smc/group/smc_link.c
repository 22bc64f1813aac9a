// SPDX-License-Identifier: GPL-2.0
/*
 * Links of a group, one queue pair each: created, connected, used, taken down.
 *
 * Ownership:
 *   A link that was ever in use is freed with its group, its queues earlier: a pointer to it is
 *   valid while its holder has a reference on the group. Any other is freed with its queues
 *   (link->is_kept).
 *
 * Locks:
 *   lgr->lock (a mutex) is never held while waiting, nor across verbs. A task that works on the
 *   queues of a link counts itself in link->users. The teardown takes the link out of lgr->links,
 *   which admits no further user, and then waits on lgr->work_waitq for that count.
 */
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "smc_compat.h"
#include "rdma/smc_event.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "rdma/smc_wr_mem.h"
#include "group/smc_core.h"
#include "group/smc_link.h"
#include "control/smc_trace.h"

static const struct smc_wr_ops *smc_link_ops;

/* Keep the queues of a link from being taken down; -ECONNABORTED if too late. */
static int link_enter(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	guard(mutex)(&lgr->lock);
	if (lgr->links[link->index] != link || smc_lgr_is_down(lgr))
		return -ECONNABORTED;
	link->users++;
	return 0;
}

/*
 * Keep the queues of a link from being taken down until smc_link_exit(). Returns NULL if there is
 * none.
 */
struct smc_link *smc_link_enter_at(struct smc_link_group *lgr, unsigned int index)
{
	struct smc_link *link;

	guard(mutex)(&lgr->lock);
	link = lgr->links[index];
	if (link)
		link->users++;
	return link;
}

void smc_link_exit(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	scoped_guard(mutex, &lgr->lock)
		WRITE_ONCE(link->users, link->users - 1);
	/* the link may be freed by now */
	wake_up_all(&lgr->work_waitq);
}

/* A waiter that has moved looks for a slot on its new link. */
static void link_drop_waiters(struct smc_link *link)
{
	struct smc_conn *conn;

	while ((conn = smc_link_pop_waiter(link))) {
		conn->ops->event(conn, SMC_EV_MOVED);
		smc_conn_put(conn);
	}
}

static struct smc_buf *link_next_mapped(struct smc_link *link, const struct list_head *list)
{
	struct smc_link_group *lgr = link->lgr;
	struct smc_buf *buf;

	guard(mutex)(&lgr->lock);
	list_for_each_entry(buf, list, node)
		if (buf->map[link->index].mr)
			return buf;
	return NULL;
}

static void link_unmap_list(struct smc_link *link, const struct list_head *list)
{
	struct smc_buf *buf;

	/* The list does not change while this task maps. */
	while ((buf = link_next_mapped(link, list)))
		smc_buf_unmap(buf, &link->wr, link->index);
}

static bool link_is_mapped(const struct smc_buf *buf)
{
	int i;

	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (buf->map[i].mr)
			return true;
	return false;
}

/* This link may have been the last one where an unused buffer was mapped. */
static void link_free_dropped(struct smc_link_group *lgr)
{
	struct smc_buf *buf, *next;
	LIST_HEAD(unmapped);

	scoped_guard(mutex, &lgr->lock)
		list_for_each_entry_safe(buf, next, &lgr->dropped, node)
			if (!link_is_mapped(buf))
				list_move(&buf->node, &unmapped);
	list_for_each_entry_safe(buf, next, &unmapped, node)
		smc_buf_free(buf);
}

static bool link_try_map(struct smc_link_group *lgr)
{
	guard(mutex)(&lgr->lock);
	if (lgr->is_mapping)
		return false;
	WRITE_ONCE(lgr->is_mapping, true);
	return true;
}

/*
 * Become the only task that maps, unmaps or frees listed buffers, until smc_link_end_map(). The
 * caller waits only for verbs meanwhile.
 */
void smc_link_begin_map(struct smc_link_group *lgr)
{
	/* a wait_event() condition must not sleep, so the mutex is taken outside */
	while (!link_try_map(lgr))
		wait_event(lgr->work_waitq, !READ_ONCE(lgr->is_mapping));
}

void smc_link_end_map(struct smc_link_group *lgr)
{
	scoped_guard(mutex, &lgr->lock) {
		WARN_ON_ONCE(!lgr->is_mapping);
		WRITE_ONCE(lgr->is_mapping, false);
	}
	wake_up_all(&lgr->work_waitq);
}

/*
 * Flush the queues so that connections can leave; all else stays until smc_link_take_down(). The
 * caller has entered the link, and no other task prepares or stops it. A second call does nothing.
 */
void smc_link_stop(struct smc_link *link)
{
	smc_wr_stop(&link->wr);
	/* Each task that found the link under RCU has returned its slot. */
	synchronize_rcu();
	link_drop_waiters(link);
}

/*
 * Stop a link that was taken out of its group. Its users are in one verb: this ends soon. A second
 * call does nothing.
 */
void smc_link_halt(struct smc_link *link)
{
	wait_event(link->lgr->work_waitq, !READ_ONCE(link->users));
	if (!test_bit(SMC_WR_IS_STOPPED, &link->wr.flags))
		smc_link_stop(link);
}

/*
 * End the queues of a link that was taken out of its group, and that no connection uses any more.
 * A task that maps buffers is in one verb: this ends soon.
 */
void smc_link_take_down(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	smc_link_halt(link);
	scoped_guard(smc_link_map, lgr) {
		smc_buf_pool_unmap(&lgr->rmbs, &link->wr, link->index);
		smc_buf_pool_unmap(&lgr->sends, &link->wr, link->index);
		link_unmap_list(link, &lgr->leaving);
		link_unmap_list(link, &lgr->dropped);
		link_free_dropped(lgr);
	}
	smc_wr_destroy(&link->wr);
	smc_mem_uncharge(link->cost);
}

/*
 * Take a link out of its group. Expects lgr->lock held. Returns true if the caller must call
 * smc_link_take_down(), false if another task did this.
 */
bool smc_link_unpublish(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	lockdep_assert_held(&lgr->lock);
	if (lgr->links[link->index] != link)
		return false;
	/* The LLC engine may have set this state before. */
	if (link->state != SMC_LINK_INACTIVE)
		WARN_ON_ONCE(!smc_link_set_state(link, SMC_LINK_INACTIVE));
	WRITE_ONCE(lgr->links[link->index], NULL);
	smc_rtoken_del_link(lgr->rtokens, link->index);
	return true;
}

static struct smc_link *link_alloc(struct smc_link_group *lgr, unsigned int index)
{
	struct smc_link *link;

	link = kzalloc(sizeof(*link), SMC_MEM_GFP);
	if (!link)
		return NULL;
	link->lgr = lgr;
	/* Reports of the queues may come before the link is in its place. */
	link->index = index;
	link->state = SMC_LINK_UNUSED;
	link->psn = get_random_u32() & 0xffffff;
	spin_lock_init(&link->wait_lock);
	INIT_LIST_HEAD(&link->waiters);
	INIT_LIST_HEAD(&link->node);
	return link;
}

/* The group bounds kept links, not those being made or present. */
static bool link_may_be_kept(struct smc_link_group *lgr)
{
	guard(mutex)(&lgr->lock);
	return lgr->nr_kept < SMC_LINKS_KEPT_MAX;
}

static int link_publish(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	guard(mutex)(&lgr->lock);
	if (smc_lgr_is_down(lgr))
		return -ECONNABORTED;
	if (lgr->links[link->index])
		return -EBUSY;
	WRITE_ONCE(lgr->max_pages, min_not_zero(lgr->max_pages, link->wr.max_pages));
	list_add_rcu(&link->node, &lgr->all_links);
	/* pairs with smp_load_acquire() where the array is read */
	smp_store_release(&lgr->links[link->index], link);
	return 0;
}

static struct smc_link *link_create(struct smc_link_group *lgr, const struct smc_ib_end *end,
				    unsigned int index)
{
	const struct smc_settings *set = &smc_net(lgr->key.net)->set;
	const struct smc_wr_depth depth = {
		.nr_sends = READ_ONCE(set->max_send_wr),
		.nr_recvs = READ_ONCE(set->max_recv_wr),
	};
	struct smc_link *link;
	int rc;

	if (!link_may_be_kept(lgr))
		return ERR_PTR(-ENOSPC);
	link = link_alloc(lgr, index);
	if (!link)
		return ERR_PTR(-ENOMEM);
	rc = -ENOMEM;
	link->cost = smc_wr_mem_cost(&end->dev->ibdev->attrs, &depth);
	if (!smc_mem_charge(link->cost))
		goto free;
	rc = smc_wr_create(&link->wr, end, &depth, smc_link_ops);
	if (rc)
		goto uncharge;
	rc = link_publish(link);
	if (rc)
		goto destroy;
	return link;

destroy:
	smc_wr_stop(&link->wr);
	smc_wr_destroy(&link->wr);
uncharge:
	smc_mem_uncharge(link->cost);
free:
	smc_link_free(link);
	return ERR_PTR(rc);
}

/**
 * smc_link_create_at() - make the queues of a link in a given place
 * @lgr: the group; the caller holds a reference
 * @end: local end; the link takes a reference of its own
 * @index: a free place in lgr->links, less than SMC_LINKS_MAX
 *
 * The queue pair is in INIT, the link is SMC_LINK_UNUSED; the LLC machine assigns its number later.
 * It is taken down with its group, or by smc_link_destroy().
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: the link; ERR_PTR(-ENOMEM), also at the limit of the host; ERR_PTR(-ENOSPC) if the
 *	   group has had too many; ERR_PTR(-ECONNABORTED) if it is down; ERR_PTR(-EBUSY) if the
 *	   place is taken; or what smc_wr_create() returns.
 */
struct smc_link *smc_link_create_at(struct smc_link_group *lgr, const struct smc_ib_end *end,
				    unsigned int index)
{
	struct mem_cgroup *was = set_active_memcg(lgr->memcg);
	struct smc_link *link = link_create(lgr, end, index);

	set_active_memcg(was);
	return link;
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
	struct smc_link *link = smc_link_create_at(lgr, end, 0);

	/* the handshake holds a pointer from here on */
	if (!IS_ERR(link))
		WRITE_ONCE(link->is_kept, true);
	return link;
}

/**
 * smc_link_connect() - bind a link to the peer's end
 * @link: new
 * @peer: the peer's end, as received
 *
 * The queue pair goes to RTR, the link to SMC_LINK_ACTIVATING. RFC 7609 3.5.1.3, 3.5.1.4.
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if the link is being taken down; or what smc_wr_connect() returns.
 */
int smc_link_connect(struct smc_link *link, const struct smc_ib_peer *peer)
{
	struct smc_link_group *lgr = link->lgr;
	int rc;

	rc = link_enter(link);
	if (rc)
		return rc;
	rc = smc_wr_connect(&link->wr, peer, &lgr->class);
	if (!rc) {
		guard(mutex)(&lgr->lock);
		/* const afterwards, even if the link has been given up meanwhile */
		if (link->state == SMC_LINK_UNUSED)
			link->peer = *peer;
		smc_link_set_state(link, SMC_LINK_ACTIVATING);
	}
	smc_link_exit(link);
	return rc;
}

typedef int (*link_buf_fn)(struct smc_link *link, struct smc_buf *buf);

/* A task that added the buffer may have mapped it on this link already. */
static int link_map_buf(struct smc_link *link, struct smc_buf *buf)
{
	return buf->map[link->index].mr ? 0 : smc_buf_map_link(buf, &link->wr, link->index);
}

static int link_register_buf(struct smc_link *link, struct smc_buf *buf)
{
	return buf->map[link->index].mr ? smc_buf_register(buf, &link->wr, link->index) : 0;
}

static int link_each_in_pool(struct smc_link *link, struct smc_buf_pool *pool, link_buf_fn fn)
{
	struct smc_buf *buf = NULL;
	int rc = 0;

	while (!rc && (buf = smc_buf_next(pool, buf)))
		rc = fn(link, buf);
	return rc;
}

/*
 * All buffers of the group, including leaving ones. The peer has not deleted those yet, gets their
 * keys as well, and may write to them (AMB-21).
 */
static int link_each_buf(struct smc_link *link, link_buf_fn fn)
{
	struct smc_link_group *lgr = link->lgr;
	struct smc_buf *buf;
	int rc;

	guard(smc_link_map)(lgr);
	rc = link_each_in_pool(link, &lgr->rmbs, fn) ?: link_each_in_pool(link, &lgr->sends, fn);
	/* The list changes only within smc_link_map, too. */
	list_for_each_entry(buf, &lgr->leaving, node) {
		if (rc)
			break;
		rc = fn(link, buf);
	}
	return rc;
}

/*
 * Map the buffers of the group on a further link, so that each has a key there. Those mapped since
 * are skipped. On failure the link is to be destroyed. RFC 7609 3.5.5.2.3 (LG-21, RKEY-02,
 * RKEY-20).
 */
int smc_link_map(struct smc_link *link)
{
	int rc = link_enter(link);

	if (rc)
		return rc;
	rc = link_each_buf(link, link_map_buf);
	smc_link_exit(link);
	return rc;
}

/*
 * Move the queue pair of a connected link to RTS and register the mapped buffers: REG_MR needs RTS.
 */
int smc_link_prepare(struct smc_link *link)
{
	const struct smc_settings *set = &smc_net(link->lgr->key.net)->set;
	int rc;

	rc = link_enter(link);
	if (rc)
		return rc;
	/* before mapping is locked: an RNIC that hangs here delays no other task */
	rc = smc_wr_activate(&link->wr, link->psn, READ_ONCE(set->rdma_timeout),
			     READ_ONCE(set->rdma_retries));
	if (!rc)
		rc = link_each_buf(link, link_register_buf);
	smc_link_exit(link);
	return rc;
}

/*
 * The queues are gone, and each task that found the link before has set is_kept. A group that takes
 * no further link serves the connections that it has; later ones form another group. At a client
 * that is the server's choice.
 */
static void link_forget(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	scoped_guard(mutex, &lgr->lock) {
		if (READ_ONCE(link->is_kept)) {
			if (++lgr->nr_kept == SMC_LINKS_KEPT_MAX &&
			    lgr->key.role == SMC_ROLE_SERVER)
				smc_lgr_shut(lgr);
			return;
		}
		list_del_rcu(&link->node);
	}
	/* searches in lgr->all_links */
	synchronize_rcu();
	smc_link_free(link);
}

/*
 * Take one link down while its group continues. No connection sends on it, no other work is done on
 * it, and the caller has a reference on the group. Nothing happens if the end of the group has
 * taken the link out first. A link that was never in use is freed, so repeated failures leave
 * nothing behind.
 */
void smc_link_destroy(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	scoped_guard(mutex, &lgr->lock)
		if (!smc_link_unpublish(link))
			return;
	smc_link_take_down(link);
	link_forget(link);
}

/* Expects lgr->lock held. Returns false if the move is not legal. */
bool smc_link_set_state(struct smc_link *link, enum smc_link_state state)
{
	lockdep_assert_held(&link->lgr->lock);
	if (!smc_state_link_may_move(link->state, state))
		return false;
	/* pairs with smp_load_acquire() in link_was_connected() */
	smp_store_release(&link->state, state);
	if (state == SMC_LINK_ACTIVE) {
		WRITE_ONCE(link->is_kept, true);
		trace_smc_link_up(link);
		smc_event_send(&(struct smc_event){
			.cmd = SMC_NETLINK_EVENT_LINK_UP, .net = link->lgr->key.net,
			.lgr = link->lgr, .link = link });
	}
	return true;
}

/**
 * smc_link_add_waiter() - make a connection wait for a free slot
 * @link: its link
 * @conn: the connection; the queue takes a reference
 *
 * Nothing happens if it waits already: its data is checked after it is taken out. The caller must
 * then retry to get a slot for the first waiter, since the last slot may have come back before
 * @conn was visible. A stopped link has no more waiters: fail-over pushes on the next one.
 *
 * Context: Any context but hard interrupt. Expects conn->lock held. Takes link->wait_lock.
 */
void smc_link_add_waiter(struct smc_link *link, struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	guard(spinlock_bh)(&link->wait_lock);
	if (!list_empty(&conn->wait_node) || test_bit(SMC_WR_IS_STOPPED, &link->wr.flags))
		return;
	smc_conn_get(conn);
	list_add_tail(&conn->wait_node, &link->waiters);
	smc_ib_count(&link->wr.counts, SMC_IB_SLOT_WAITS, 1);
}

/*
 * Remove a connection that moves from the waiters of the link that it leaves; the caller has a
 * reference and pushes it afterwards. A lost link may stay for long before its queues are stopped
 * and its waiters dropped. Expects conn->lock held.
 */
void smc_link_del_waiter(struct smc_link *link, struct smc_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	scoped_guard(spinlock_bh, &link->wait_lock) {
		if (list_empty(&conn->wait_node))
			return;
		list_del_init(&conn->wait_node);
	}
	smc_conn_put(conn);
}

/**
 * smc_link_pop_waiter() - take out the connection that has waited longest
 * @link: the link
 *
 * Context: Any context but hard interrupt. Takes link->wait_lock.
 * Return: the connection, no longer waiting, with the queue's reference; NULL if there is none.
 */
struct smc_conn *smc_link_pop_waiter(struct smc_link *link)
{
	struct smc_conn *conn;

	scoped_guard(spinlock_bh, &link->wait_lock) {
		conn = list_first_entry_or_null(&link->waiters, struct smc_conn, wait_node);
		if (!conn)
			return NULL;
		list_del_init(&conn->wait_node);
	}
	return conn;
}

/**
 * smc_link_init() - set the callbacks of all links' queues
 * @ops: must stay valid
 *
 * Context: Process context, module load.
 */
void smc_link_init(const struct smc_wr_ops *ops)
{
	smc_link_ops = ops;
}
