// SPDX-License-Identifier: GPL-2.0
/*
 * The pool of a group's buffers: regions are added, announced, withdrawn, reclaimed.
 *
 * Operation: one task at a time adds a region: it is listed, mapped and registered on
 * every link, announced to the peer, and only then its elements are handed out. Other
 * tasks that need an element wait, then search again. The work item that gives back idle
 * regions, by time or when memory is short, takes the same turn and waits for the peer
 * (RFC 7609 3.5.5.2.2). To announce or withdraw RMBs a task queues a request and sleeps;
 * the worker of the group feeds one at a time to the machine, which runs the RKEY exchange,
 * and completes it.
 *
 * Ownership: as links come and go, each must see all regions and each region all links.
 * So one task at a time maps (smc_link_begin_map()), and a region is in a list of its
 * group from before it is mapped until after it is unmapped. A request is on the stack of
 * the waiting task and is completed exactly once; the machine's timers bound the wait.
 *
 * Error handling: a request refused because links change is retried with the then
 * current links. RMBs that could not be withdrawn stay and are retried.
 *
 * Locks: the shrinker runs in the middle of allocations, with any lock held. So it takes
 * only the lock of the list of groups, under which nothing allocates.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>

#include "smc_compat.h"
#include "rdma/smc_mem.h"
#include "group/smc_core.h"
#include "group/smc_link.h"
#include "group/smc_llc_msg.h"
#include "group/smc_pool.h"

#define LLC_RKEY_TRIES		5

/* timeouts that a request tolerates while our RNIC is busy: it may take a minute to fail */
#define LLC_RNIC_TURNS		3

/* delay until a failed withdrawal of RMBs is retried */
#define LLC_SWEEP_RETRY_MS	1000

/**
 * smc_pool_begin_grow() - take the turn to add or give back regions
 * @lgr: the group; the caller holds a reference
 *
 * On -EBUSY wait on the waitq of the pool, then search for an element: a new region has several.
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock.
 * Return: 0, then smc_pool_end_grow() is due; -EBUSY; -ECONNABORTED if the group is
 *	   down.
 */
int smc_pool_begin_grow(struct smc_link_group *lgr)
{
	guard(mutex)(&lgr->lock);
	if (smc_lgr_is_down(lgr))
		return -ECONNABORTED;
	if (lgr->is_growing)
		return -EBUSY;
	lgr->is_growing = true;
	return 0;
}

static void lgr_end_grow(struct smc_link_group *lgr)
{
	scoped_guard(mutex, &lgr->lock) {
		WARN_ON_ONCE(!lgr->is_growing);
		WRITE_ONCE(lgr->is_growing, false);
	}
	/* one of each: it takes an element, or the next turn, and then wakes another one */
	wake_up(&lgr->rmbs.waitq);
	wake_up(&lgr->sends.waitq);
}

/* Returns false if it stays mapped on a link, because the RNIC may still use it. */
static bool lgr_unmap_buf(struct smc_link_group *lgr, struct smc_buf *buf)
{
	bool is_unmapped = true;
	struct smc_link *link;
	int i;

	for (i = 0; i < SMC_LINKS_MAX; i++) {
		if (!buf->map[i].mr)
			continue;
		link = smc_link_enter_at(lgr, i);
		if (link && !test_bit(SMC_WR_IS_REPORTED, &link->wr.flags))
			smc_buf_unmap(buf, &link->wr, i);
		else
			is_unmapped = false;
		if (link)
			smc_link_exit(link);
	}
	return is_unmapped;
}

/* The peer does not know the region, or need not; a link that is being added gets no key of it. */
static void llc_forget(struct smc_llc *llc, struct smc_buf *buf)
{
	unsigned int k;

	buf->is_announced = false;
	for (k = 0; k < llc->nr_announced; k++)
		if (llc->announced[k] == buf)
			llc->announced[k] = NULL;
}

/*
 * The region is in no list, or in that of leaving regions. If the group is down, the peer may not
 * have released it, and the worker may still be adding a link.
 */
static void lgr_free_buf(struct smc_link_group *lgr, struct smc_buf *buf)
{
	bool is_unmapped;

	scoped_guard(mutex, &lgr->lock)
		llc_forget(&lgr->llc, buf);
	is_unmapped = lgr_unmap_buf(lgr, buf);
	scoped_guard(mutex, &lgr->lock) {
		list_del_init(&buf->node);
		if (!is_unmapped)
			list_add(&buf->node, &lgr->dropped);
	}
	if (is_unmapped)
		smc_buf_free(buf);
}

/* Under lgr->lock, because the LLC engine walks the pool under it. */
static void lgr_discard_buf(struct smc_link_group *lgr, struct smc_buf_pool *pool,
			    struct smc_buf *buf, struct smc_buf_elem *elem)
{
	scoped_guard(mutex, &lgr->lock)
		smc_buf_remove(pool, buf, elem);
	lgr_free_buf(lgr, buf);
}

/**
 * smc_pool_drop() - free a region that could not be made ready
 * @lgr: the group; the caller has the turn to grow it
 * @pool: the pool given to smc_pool_add()
 * @buf: gone afterwards
 * @elem: filled by smc_pool_add(), empty afterwards
 *
 * Where a link has failed, the region stays with the group until the queues of that link
 * are gone: a registration may not have completed.
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 */
static void smc_pool_drop(struct smc_link_group *lgr, struct smc_buf_pool *pool,
			  struct smc_buf *buf, struct smc_buf_elem *elem)
{
	WARN_ON_ONCE(!READ_ONCE(lgr->is_growing));
	guard(smc_link_map)(lgr);
	lgr_discard_buf(lgr, pool, buf, elem);
}

/* Move idle regions to lgr->leaving; lgr_drop_leaving() frees them. Returns bytes. */
static unsigned long lgr_take_idle(struct smc_link_group *lgr, struct smc_buf_pool *pool,
				   unsigned long age_jiffies, unsigned long want)
{
	WARN_ON_ONCE(!READ_ONCE(lgr->is_growing));
	guard(smc_link_map)(lgr);
	guard(mutex)(&lgr->lock);
	return smc_buf_take_idle(pool, age_jiffies, want, &lgr->leaving);
}

/* RMBs only if the peer has released them or the group is down. Returns how many. */
static unsigned int lgr_drop_leaving(struct smc_link_group *lgr, enum smc_buf_kind kind)
{
	struct smc_buf *buf, *next;
	unsigned int nr = 0;

	WARN_ON_ONCE(!READ_ONCE(lgr->is_growing));
	guard(smc_link_map)(lgr);
	/* only the task with the turn changes the list */
	list_for_each_entry_safe(buf, next, &lgr->leaving, node) {
		if (buf->kind != kind)
			continue;
		lgr_free_buf(lgr, buf);
		nr++;
	}
	return nr;
}

/* A link that is about to be taken down counts as lost. */
static bool lgr_link_is_lost(const struct smc_link *link)
{
	return test_bit(SMC_WR_IS_REPORTED, &link->wr.flags) ||
	       test_bit(SMC_WR_IS_STOPPED, &link->wr.flags);
}

/* The caller has begun to map. Returns 0 also if the region can do without this link. */
static int lgr_map_on(struct smc_link *link, struct smc_buf *buf)
{
	int rc;

	/* its RNIC may hang in the verb, or be broken */
	if (buf->map[link->index].mr || lgr_link_is_lost(link))
		return 0;
	rc = smc_buf_map_link(buf, &link->wr, link->index);
	/* such RNICs allow one link; this one came up while the group had no region */
	if (rc == -EOPNOTSUPP)
		smc_wr_report(&link->wr, SMC_WR_FAULT_POST);
	return rc && lgr_link_is_lost(link) ? 0 : rc;
}

static int lgr_map_links(struct smc_link_group *lgr, struct smc_buf *buf, bool is_first_turn)
{
	int rc = -ECONNABORTED;
	struct smc_link *link;
	int i;

	for (i = 0; i < SMC_LINKS_MAX; i++) {
		link = smc_link_enter_at(lgr, i);
		if (!link)
			continue;
		rc = 0;
		if (!is_first_turn || READ_ONCE(link->state) == SMC_LINK_ACTIVE)
			rc = lgr_map_on(link, buf);
		smc_link_exit(link);
		if (rc)
			break;
	}
	return rc;
}

/**
 * smc_pool_add() - put a new region into its pool and map it on all links
 * @lgr: the group; the caller has the turn to grow it
 * @pool: rmbs or sends of @lgr
 * @buf: from smc_buf_alloc(); freed on failure
 * @elem: filled on success with the first element
 *
 * Other elements are not handed out before smc_buf_set_ready(). It is listed this early
 * for links that come up meanwhile. If a later step fails, smc_pool_drop() is due.
 * RFC 7609 3.5.5.2 (RKEY-02, RKEY-03).
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if there is no link; -ENOSPC if there are too many
 *	   regions; or what smc_buf_map_link() returns.
 */
static int smc_pool_add(struct smc_link_group *lgr, struct smc_buf_pool *pool,
			struct smc_buf *buf, struct smc_buf_elem *elem)
{
	int rc;

	WARN_ON_ONCE(!READ_ONCE(lgr->is_growing));
	guard(smc_link_map)(lgr);
	rc = smc_buf_add(pool, buf, elem);
	if (rc) {
		smc_buf_free(buf);
		return rc;
	}
	/* active links first: if only one is possible, it must not be the one being added */
	rc = lgr_map_links(lgr, buf, true) ?: lgr_map_links(lgr, buf, false);
	if (rc)
		lgr_discard_buf(lgr, pool, buf, elem);
	return rc;
}

/* A link that is not up yet registers mapped regions when it comes up. */
static bool lgr_link_is_ready(const struct smc_link *link)
{
	return test_bit(SMC_WR_IS_OPEN, &link->wr.flags) && !lgr_link_is_lost(link);
}

/**
 * smc_pool_register() - register a mapped region on all links of a group
 * @lgr: the group, active; the caller has the turn to grow it
 * @buf: from smc_pool_add()
 *
 * A failing link is left to the LLC engine if another one works. A working link without
 * the region is an error, because the region would be used there later. On failure
 * smc_pool_drop() is due.
 *
 * Context: Process context, sleeps. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if there is no link; or what smc_buf_register() returns.
 */
static int smc_pool_register(struct smc_link_group *lgr, struct smc_buf *buf)
{
	int rc = -ECONNABORTED, missing = 0, err;
	struct smc_link *link;
	bool is_ready, has_one = false;
	int i;

	guard(smc_link_map)(lgr);
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		link = smc_link_enter_at(lgr, i);
		if (!link)
			continue;
		is_ready = lgr_link_is_ready(link);
		err = is_ready ? smc_buf_register(buf, &link->wr, i) : 0;
		if (err)
			rc = err;
		if (is_ready && lgr_link_is_ready(link)) {
			has_one |= !err;
			missing = err ?: missing;
		}
		smc_link_exit(link);
	}
	return has_one ? missing : rc;
}

/**
 * struct smc_llc_request - an RKEY exchange that a task waits for
 * @node: in llc->requests until the machine has it
 * @is_delete: DELETE RKEY of @bufs, otherwise CONFIRM RKEY of @bufs[0]
 * @nr_bufs: length of @bufs
 * @bufs: RMBs concerned; borrowed
 * @links: links it named, a mask, under lgr->lock
 * @tries: failed attempts while the links did not change
 * @result: outcome, valid once @done is complete
 * @done: completed exactly once
 */
struct smc_llc_request {
	struct list_head node;
	bool is_delete;
	unsigned int nr_bufs;
	struct smc_buf *bufs[SMC_LLC_DELETE_RKEYS];
	unsigned int links;
	unsigned int tries;
	int result;
	struct completion done;
};

static void llc_finish(struct smc_llc_request *req, int result)
{
	req->result = result;
	/* the waiter's stack may be gone after this */
	complete(&req->done);
}

static unsigned int llc_active_links(const struct smc_llc *llc)
{
	unsigned int mask = 0;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_in_use(&llc->flow.link[i]))
			mask |= BIT(i);
	return mask;
}

/* Keep track of the RMBs that the peer knows: they are announced on added links. */
static void llc_note_announced(struct smc_llc *llc, const struct smc_llc_request *req)
{
	unsigned int i;

	for (i = 0; i < req->nr_bufs; i++)
		/* Deployed peers accept a deletion while they add a link. */
		if (req->is_delete)
			llc_forget(llc, req->bufs[i]);
		else
			req->bufs[i]->is_announced = true;
}

/**
 * smc_pool_keys_done() - complete or retry the current request
 * @lgr: the group
 * @result: as with SMC_LLC_ACT_RKEY_DONE
 *
 * Retries a refused request each time the links have changed, else LLC_RKEY_TRIES times.
 *
 * Context: The worker of @lgr. Expects lgr->lock held. Takes lgr->llc.queue_lock.
 */
void smc_pool_keys_done(struct smc_link_group *lgr, int result)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req = llc->current_req;

	lockdep_assert_held(&lgr->lock);
	llc->current_req = NULL;
	if (!req)
		return;
	if (!result)
		llc_note_announced(llc, req);
	if (result == -EAGAIN && req->links == llc_active_links(llc))
		req->tries++;
	if (result == -EAGAIN && req->tries < LLC_RKEY_TRIES) {
		guard(spinlock_irqsave)(&llc->queue_lock);
		if (!llc->is_closed) {
			list_add(&req->node, &llc->requests);
			return;
		}
		result = -ECONNABORTED;
	}
	llc_finish(req, result);
}

static void llc_list_announced(struct smc_llc *llc, struct smc_buf_pool *pool)
{
	struct smc_buf *buf = NULL;

	while ((buf = smc_buf_next(pool, buf)))
		if ((buf->is_announced || buf->is_ready) &&
		    llc->nr_announced < ARRAY_SIZE(llc->announced))
			llc->announced[llc->nr_announced++] = buf;
}

/**
 * smc_pool_start_keys() - mark the RMBs of first contact as known to the peer
 * @lgr: the group
 *
 * The peer knows them from Accept or Confirm. RFC 7609 3.5.5.2 (RKEY-02, AMB-21).
 *
 * Context: The worker of @lgr. Expects lgr->lock held.
 */
void smc_pool_start_keys(struct smc_link_group *lgr)
{
	struct smc_buf *buf = NULL;

	lockdep_assert_held(&lgr->lock);
	while ((buf = smc_buf_next(&lgr->rmbs, buf)))
		buf->is_announced = true;
}

/**
 * smc_pool_select() - list the RMBs that the peer knows in lgr->llc.announced
 * @lgr: the group, about to add a link
 *
 * No CONFIRM RKEY changes the list before the link is up or given up (RKEY-15). A DELETE
 * RKEY in flight may: smc_pool_keys_done() then clears entries.
 *
 * Context: Expects lgr->lock held.
 * Return: how many.
 */
unsigned int smc_pool_select(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_buf *buf;

	lockdep_assert_held(&lgr->lock);
	llc_list_announced(llc, &lgr->rmbs);
	list_for_each_entry(buf, &lgr->leaving, node)
		if (buf->kind == SMC_BUF_RMB && buf->is_announced &&
		    llc->nr_announced < ARRAY_SIZE(llc->announced))
			llc->announced[llc->nr_announced++] = buf;
	return llc->nr_announced;
}

static int llc_build(struct smc_link_group *lgr, struct smc_llc_request *req,
		     struct smc_llc_rkeys *rkey)
{
	const struct smc_llc_flow *flow = &lgr->llc.flow;
	struct smc_llc_rtoken *rtoken;
	unsigned int n;
	u8 i;

	rkey->is_delete = req->is_delete;
	rkey->count = 0;
	req->links = llc_active_links(&lgr->llc);
	for (i = 0; i < SMC_LLC_LINKS; i++) {
		if (!smc_llc_is_in_use(&flow->link[i]))
			continue;
		for (n = 0; n < req->nr_bufs; n++) {
			rtoken = &rkey->rtoken[rkey->count++];
			rtoken->link_num = i;
			rtoken->rkey = smc_buf_rkey(req->bufs[n], i);
			rtoken->vaddr = req->bufs[n]->iova;
			if (!rtoken->rkey)
				return -ECONNABORTED;
		}
		/* keys to delete are named by one link only, RKEY-16 */
		if (req->is_delete)
			break;
	}
	return rkey->count ? 0 : -ECONNABORTED;
}

static struct smc_llc_request *llc_first_request(struct smc_llc *llc)
{
	struct smc_llc_request *req;

	guard(spinlock_irqsave)(&llc->queue_lock);
	req = list_first_entry_or_null(&llc->requests, struct smc_llc_request, node);
	if (req)
		list_del_init(&req->node);
	return req;
}

/**
 * smc_pool_next_keys() - take the next request, if the machine accepts one
 * @lgr: the group
 * @rkey: receives it, built from the current links
 *
 * Requests that cannot be built are completed with an error.
 *
 * Context: The worker of @lgr. Expects lgr->lock held. Takes lgr->llc.queue_lock.
 * Return: true if @rkey must be fed to the machine; smc_pool_keys_done() follows.
 */
bool smc_pool_next_keys(struct smc_link_group *lgr, struct smc_llc_rkeys *rkey)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req;
	int rc;

	lockdep_assert_held(&lgr->lock);
	if (llc->current_req || !smc_llc_flow_may_request(&llc->flow, llc_now()))
		return false;
	while ((req = llc_first_request(llc))) {
		rc = llc_build(lgr, req, rkey);
		if (!rc) {
			llc->current_req = req;
			return true;
		}
		llc_finish(req, rc);
	}
	return false;
}

/**
 * smc_pool_close_keys() - end all requests
 * @lgr: the group; its queue is closed, so no request can follow
 *
 * Context: The worker of @lgr. Expects lgr->lock held. Takes lgr->llc.queue_lock.
 */
void smc_pool_close_keys(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req, *next;
	LIST_HEAD(left);

	lockdep_assert_held(&lgr->lock);
	scoped_guard(spinlock_irqsave, &llc->queue_lock)
		list_splice_init(&llc->requests, &left);
	smc_pool_keys_done(lgr, -ECONNABORTED);
	list_for_each_entry_safe(req, next, &left, node)
		llc_finish(req, -ECONNABORTED);
}

static unsigned long llc_max_wait(const struct smc_link_group *lgr)
{
	return msecs_to_jiffies(min_t(u64, smc_llc_patience_ms(&lgr->llc.flow.params.timers),
				      UINT_MAX));
}

/* A peer that keeps offering links prolongs this, hence LLC_RNIC_TURNS. */
static bool llc_rnic_is_busy(struct smc_link_group *lgr)
{
	enum smc_llc_config config;

	guard(mutex)(&lgr->lock);
	config = lgr->llc.flow.config;
	return config == SMC_LLC_CONFIG_CREATE || config == SMC_LLC_CONFIG_PREPARE ||
	       config == SMC_LLC_CONFIG_STORE;
}

/* Queue the request and wait. A peer that never answers loses the group. */
static int llc_request(struct smc_link_group *lgr, struct smc_llc_request *req)
{
	struct smc_llc *llc = &lgr->llc;
	int turns = 0;

	req->tries = 0;
	init_completion(&req->done);
	scoped_guard(spinlock_irqsave, &llc->queue_lock) {
		if (llc->is_closed)
			return -ECONNABORTED;
		list_add_tail(&req->node, &llc->requests);
	}
	smc_llc_queue_work(lgr);
	/* Callers are workers, which get no signals. Not TASK_UNINTERRUPTIBLE: may take minutes. */
	while (wait_for_completion_interruptible_timeout(&req->done, llc_max_wait(lgr)) <= 0) {
		if (turns++ < LLC_RNIC_TURNS && llc_rnic_is_busy(lgr))
			continue;
		smc_lgr_terminate(lgr, "the LLC engine does not answer");
		smc_llc_queue_work(lgr);
		wait_for_completion_state(&req->done, TASK_IDLE);
		break;
	}
	return req->result;
}

/**
 * smc_pool_announce() - announce a new RMB to the peer and wait for the answer
 * @lgr: the group, up
 * @buf: the RMB, mapped and registered on every active link; borrowed
 *
 * One CONFIRM RKEY exchange for all links. RFC 7609 3.5.5.2.1, A.3.5; RKEY-04 to RKEY-13.
 *
 * Context: Process context, sleeps, bounded by the machine's timers. Expects no lock held.
 * Return: 0 once the peer knows it; -EREMOTEIO if the peer refuses; -ECONNABORTED if the
 *	   group has ended meanwhile, or no link can carry it.
 */
static int smc_pool_announce(struct smc_link_group *lgr, struct smc_buf *buf)
{
	struct smc_llc_request req = { .nr_bufs = 1, .bufs = { buf } };
	int rc = llc_request(lgr, &req);

	return rc == -EAGAIN ? -EREMOTEIO : rc;
}

/* A region that each RNIC of the host can register, so that none is excluded from a later link. */
static unsigned int pool_max_elems(u32 elem_size)
{
	u32 pages = SMC_CAP_REGION_PAGES;
	struct smc_ib_dev *dev = NULL;

	guard(rcu)();
	while ((dev = smc_ib_next_dev(dev)))
		pages = min(pages, dev->cap.region_pages);
	return max_t(u64, div_u64((u64)pages << PAGE_SHIFT, elem_size), 1);
}

/* Takes @buf: maps it, and registers it if the group is up. Returns it, or an ERR_PTR. */
static struct smc_buf *pool_try_region(struct smc_link_group *lgr, struct smc_buf_pool *pool,
				       struct smc_buf *buf, bool is_up, struct smc_buf_elem *elem)
{
	int rc = smc_pool_add(lgr, pool, buf, elem);

	if (rc || !is_up)
		return rc ? ERR_PTR(rc) : buf;
	rc = smc_pool_register(lgr, buf);
	if (!rc)
		return buf;
	smc_pool_drop(lgr, pool, buf, elem);
	return ERR_PTR(rc);
}

/* True if an RNIC, its driver or its IOMMU may accept less. */
static bool pool_may_be_too_large(int err)
{
	return err != -ECONNABORTED && err != -EPIPE && err != -ENOSPC && err != -EOPNOTSUPP;
}

/*
 * Returns a region with one element in use. Page lists of drivers and bounce buffers are
 * contiguous, and may be scarce where single pages are not: each attempt has half the elements of
 * the last one.
 */
static struct smc_buf *pool_new_region(struct smc_link_group *lgr, struct smc_buf_pool *pool,
				       u32 size, bool is_up, struct smc_buf_elem *elem)
{
	unsigned int max_elems = pool_max_elems(size);
	struct smc_buf *buf;

	do {
		buf = smc_buf_alloc(pool, size, READ_ONCE(lgr->max_pages), max_elems);
		if (IS_ERR(buf)) {
			if (PTR_ERR(buf) == -ENOMEM)
				smc_pool_make_room(size);
			break;
		}
		max_elems = buf->nr_elems / 2;
		buf = pool_try_region(lgr, pool, buf, is_up, elem);
	} while (IS_ERR(buf) && max_elems && pool_may_be_too_large(PTR_ERR(buf)));
	return buf;
}

/**
 * smc_pool_grow() - add a region to a pool
 * @lgr: the group; the caller has the turn to grow it
 * @pool: rmbs or sends of @lgr
 * @size: of an element
 * @is_up: the group is up: the region is registered and, if it is an RMB, announced
 * @elem: filled on success with the first element
 *
 * At the limit of the host memory is given back for later calls, smc_pool_make_room(). What an RNIC
 * cannot map or register is tried again with half the elements.
 *
 * Context: Process context, sleeps; for an RMB of a group that is up, until the peer has answered.
 *	    Expects no lock held. Takes lgr->lock.
 * Return: 0; or what smc_buf_alloc(), smc_pool_add(), smc_pool_register() and smc_pool_announce()
 *	   return.
 */
int smc_pool_grow(struct smc_link_group *lgr, struct smc_buf_pool *pool, u32 size, bool is_up,
		  struct smc_buf_elem *elem)
{
	struct smc_buf *buf = pool_new_region(lgr, pool, size, is_up, elem);
	int rc = 0;

	if (IS_ERR(buf))
		return PTR_ERR(buf);
	/* RMB-23, RKEY-05, SC-04, SC-08: before Accept or Confirm */
	if (is_up && buf->kind == SMC_BUF_RMB)
		rc = smc_pool_announce(lgr, buf);
	if (rc) {
		smc_pool_drop(lgr, pool, buf, elem);
		return rc;
	}
	/* other handshakes do not find a forming group, so this is not too early there */
	smc_buf_set_ready(pool, buf);
	smc_stat_inc(lgr->key.net,
		     pool->kind == SMC_BUF_RMB ? SMC_STAT_RMB_NEW : SMC_STAT_SNDBUF_NEW);
	return 0;
}

/*
 * DELETE RKEY exchanges of up to eight RMBs each; keys unknown to the peer do no harm.
 * Returns 0 once the peer has released them; -ECONNABORTED if the group or the carrying
 * link has ended; -EAGAIN if links change all the time. RFC 7609 3.5.5.2.2, A.3.7; RMB-24,
 * RMB-26, RKEY-16, RKEY-19.
 */
static int llc_rmb_withdraw(struct smc_link_group *lgr, const struct list_head *bufs)
{
	struct smc_llc_request req = { .is_delete = true };
	struct smc_buf *buf;
	int rc = 0;

	list_for_each_entry(buf, bufs, node) {
		req.bufs[req.nr_bufs++] = buf;
		if (req.nr_bufs < ARRAY_SIZE(req.bufs) && !list_is_last(&buf->node, bufs))
			continue;
		rc = llc_request(lgr, &req);
		if (rc)
			break;
		req.nr_bufs = 0;
	}
	return rc;
}

static void llc_arm_sweep(struct smc_link_group *lgr, bool retry)
{
	lgr->llc.swept_at = llc_now();
	lgr->llc.sweep_retry = retry;
}

/**
 * smc_pool_start_sweep() - begin to watch the idle regions of a group that is up
 * @lgr: the group
 *
 * Context: Expects lgr->lock held.
 */
void smc_pool_start_sweep(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->lock);
	llc_arm_sweep(lgr, false);
}

/**
 * smc_pool_sweep_due() - when the worker has to call smc_pool_sweep()
 * @lgr: the group
 *
 * Reads the setting each time, since it may change.
 *
 * Context: Expects lgr->lock held.
 * Return: in ms, or SMC_LLC_NO_DEADLINE.
 */
u64 smc_pool_sweep_due(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->lock);
	if (lgr->llc.sweep_retry)
		return lgr->llc.swept_at + LLC_SWEEP_RETRY_MS;
	if (!lgr->llc.swept_at)
		return SMC_LLC_NO_DEADLINE;
	return lgr->llc.swept_at + READ_ONCE(llc_settings(lgr)->rmb_idle_ms);
}

/**
 * smc_pool_sweep() - have idle regions given back if it is time
 * @lgr: the group
 *
 * Context: The worker of @lgr. Expects lgr->lock held.
 */
void smc_pool_sweep(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->lock);
	if (llc_now() >= smc_pool_sweep_due(lgr)) {
		llc_arm_sweep(lgr, false);
		smc_core_queue_patient(lgr, &lgr->llc.sweep_work);
	}
}

/* Take regions idle for long enough, then others until @want bytes are taken. */
static unsigned long llc_take_idle(struct smc_link_group *lgr, struct smc_buf_pool *pool,
				   unsigned long want)
{
	unsigned int idle_ms = READ_ONCE(llc_settings(lgr)->rmb_idle_ms);
	unsigned long taken = lgr_take_idle(lgr, pool, msecs_to_jiffies(idle_ms), ULONG_MAX);

	if (taken < want)
		taken += lgr_take_idle(lgr, pool, 0, want - taken);
	return taken;
}

static void llc_drop_leaving(struct smc_link_group *lgr, enum smc_buf_kind kind)
{
	smc_stat_add(lgr->key.net, SMC_STAT_RMB_FREED, lgr_drop_leaving(lgr, kind));
}

/* A peer may still write to an RMB that was not withdrawn, so that stays for a retry. */
static void llc_give_rmbs_back(struct smc_link_group *lgr)
{
	int rc = llc_rmb_withdraw(lgr, &lgr->leaving);

	if (!rc || smc_lgr_is_down(lgr)) {
		llc_drop_leaving(lgr, SMC_BUF_RMB);
		return;
	}
	scoped_guard(mutex, &lgr->lock)
		llc_arm_sweep(lgr, true);
	smc_llc_queue_work(lgr);
}

/* RFC 7609 3.5.5.2.2; RMB-24 to RMB-26, TMR-14. */
static void llc_sweep_work(struct work_struct *work)
{
	struct smc_llc *llc = container_of(work, struct smc_llc, sweep_work);
	struct smc_link_group *lgr = lgr_of(llc);
	unsigned long want, taken;

	/* the task that adds a region now queues this again: smc_pool_end_grow() */
	if (smc_pool_begin_grow(lgr))
		goto put;
	want = atomic_long_xchg(&llc->sweep_want, 0);
	taken = llc_take_idle(lgr, &lgr->sends, want);
	llc_drop_leaving(lgr, SMC_BUF_SEND);
	llc_take_idle(lgr, &lgr->rmbs, want - min(want, taken));
	/* includes those that could not be withdrawn the last time */
	if (!list_empty(&lgr->leaving))
		llc_give_rmbs_back(lgr);
	lgr_end_grow(lgr);
put:
	smc_lgr_put(lgr);
}

/**
 * smc_pool_init_sweep() - prepare a group that is being formed
 * @lgr: the group
 *
 * Context: Process context.
 */
void smc_pool_init_sweep(struct smc_link_group *lgr)
{
	INIT_WORK(&lgr->llc.sweep_work, llc_sweep_work);
}

/**
 * smc_pool_end_grow() - end the turn to add a region
 * @lgr: the group
 *
 * Wakes waiters and runs a sweep that was refused meanwhile.
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock.
 */
void smc_pool_end_grow(struct smc_link_group *lgr)
{
	lgr_end_grow(lgr);
	/* sweep_want and has_spent were set before the sweep was refused */
	if (atomic_long_read(&lgr->llc.sweep_want) || READ_ONCE(lgr->rmbs.has_spent) ||
	    !list_empty(&lgr->leaving))
		smc_core_queue_patient(lgr, &lgr->llc.sweep_work);
}

/*
 * Bytes in regions without a connection, less those already requested. A region with a connection
 * is registered as a whole, so its unused elements stay.
 */
static unsigned long llc_idle_mem(const struct smc_link_group *lgr)
{
	unsigned long idle = READ_ONCE(lgr->rmbs.idle) + READ_ONCE(lgr->sends.idle);
	unsigned long wanted;

	/* a forming group has nothing idle, an ending one gives all anyway */
	if (READ_ONCE(lgr->state) != SMC_LGR_ACTIVE)
		return 0;
	wanted = atomic_long_read(&lgr->llc.sweep_want);
	return idle - min(idle, wanted);
}

/*
 * Returns the bytes that will follow once the peer has released RMBs (RMB-24, RMB-26), at
 * most @want. Neither waits nor allocates.
 */
static unsigned long llc_reclaim(struct smc_link_group *lgr, unsigned long want)
{
	want = min(want, llc_idle_mem(lgr));
	if (!want)
		return 0;
	atomic_long_add(want, &lgr->llc.sweep_want);
	smc_core_queue_patient(lgr, &lgr->llc.sweep_work);
	return want;
}

/**
 * smc_pool_trim() - free regions that hand out no more, after a connection gave rings back
 * @lgr: the group
 *
 * The peer may still write to half of such a region. It is replaced by another one, so connections
 * that are reset one after another would fill the memory before it is idle for long enough.
 *
 * Context: Any context.
 */
void smc_pool_trim(struct smc_link_group *lgr)
{
	if (READ_ONCE(lgr->rmbs.has_spent))
		smc_core_queue_patient(lgr, &lgr->llc.sweep_work);
}

static struct shrinker *smc_shrinker;

static void shrink_add_idle(struct smc_link_group *lgr, void *arg)
{
	unsigned long *bytes = arg;

	*bytes += llc_idle_mem(lgr);
}

static unsigned long shrink_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long bytes = 0;

	smc_lgr_for_each(NULL, shrink_add_idle, &bytes);
	return bytes >> PAGE_SHIFT ?: SHRINK_EMPTY;
}

static void shrink_reclaim(struct smc_link_group *lgr, void *arg)
{
	unsigned long *left = arg;

	*left -= llc_reclaim(lgr, *left);
}

/**
 * smc_pool_end_idle() - end the group that is idle for longest
 * @key: its namespace and the peer's address count; NULL for any group
 *
 * RFC 7609 3.5.4; LGT-02.
 *
 * Context: Any context but hard interrupt.
 */
void smc_pool_end_idle(const struct smc_lgr_key *key)
{
	struct smc_link_group *lgr = smc_lgr_pop_idle(key);

	if (!lgr)
		return;
	WRITE_ONCE(lgr->llc.is_surplus, true);
	smc_llc_queue_work(lgr);
	smc_lgr_put(lgr);
}

/**
 * smc_pool_make_room() - have memory given back at the limit of the host, for later calls
 * @bytes: how much
 *
 * Idle regions of all groups go, and if there are too few, the group that is idle for longest. At
 * the limit of a control group nobody else has to give.
 *
 * Context: Process context, may sleep.
 */
void smc_pool_make_room(unsigned long bytes)
{
	if (smc_mem_has_room(bytes))
		return;
	smc_lgr_for_each(NULL, shrink_reclaim, &bytes);
	if (bytes)
		smc_pool_end_idle(NULL);
}

static unsigned long shrink_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long want = sc->nr_to_scan << PAGE_SHIFT;
	unsigned long left = want;

	smc_lgr_for_each(NULL, shrink_reclaim, &left);
	return left == want ? SHRINK_STOP : (want - left) >> PAGE_SHIFT;
}

/**
 * smc_pool_init() - register the shrinker
 *
 * Context: Process context, module load.
 * Return: 0 or -ENOMEM.
 */
int smc_pool_init(void)
{
	smc_shrinker = smc_compat_shrinker_add("smc_rings", shrink_count, shrink_scan);
	return smc_shrinker ? 0 : -ENOMEM;
}

/**
 * smc_pool_exit() - unregister the shrinker; it is not running when this returns
 *
 * Context: Process context, module unload.
 */
void smc_pool_exit(void)
{
	smc_compat_shrinker_del(smc_shrinker);
}
