// SPDX-License-Identifier: GPL-2.0
/*
 * Regions on the links of a group.
 *
 * Operation: one task at a time adds a region: it is listed, mapped and registered on
 * every link, announced to the peer, and only then its elements are handed out. Other
 * tasks that need an element wait, then search again. A task that gives regions back
 * takes the same turn.
 *
 * Links may come and go meanwhile. Each must see all regions, and each region all
 * links. So one task at a time maps (smc_link_begin_map()), and a region is in a list
 * of its group from before it is mapped until after it is unmapped.
 */
#include "smc_compat.h"
#include "group/smc_grow.h"
#include "group/smc_link.h"

/**
 * smc_lgr_begin_grow() - take the turn to add or give back regions
 * @lgr: the group; the caller holds a reference
 *
 * If the turn is taken, wait on lgr->waitq, then search for an element again: a new
 * region has several.
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock.
 * Return: 0, then smc_lgr_end_grow() is due; -EBUSY if another task has the turn;
 *	   -ECONNABORTED if the group is down.
 */
int smc_lgr_begin_grow(struct smc_link_group *lgr)
{
	guard(mutex)(&lgr->lock);
	if (smc_lgr_is_down(lgr))
		return -ECONNABORTED;
	if (lgr->is_growing)
		return -EBUSY;
	lgr->is_growing = true;
	return 0;
}

/**
 * smc_lgr_end_grow() - end the turn and wake waiters
 * @lgr: the group
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock.
 */
void smc_lgr_end_grow(struct smc_link_group *lgr)
{
	scoped_guard(mutex, &lgr->lock) {
		WARN_ON_ONCE(!lgr->is_growing);
		WRITE_ONCE(lgr->is_growing, false);
	}
	wake_up_all(&lgr->waitq);
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

/* The region is in no list, or in that of leaving regions. */
static void lgr_free_buf(struct smc_link_group *lgr, struct smc_buf *buf)
{
	bool is_unmapped = lgr_unmap_buf(lgr, buf);

	scoped_guard(mutex, &lgr->lock) {
		list_del_init(&buf->node);
		if (!is_unmapped)
			list_add(&buf->node, &lgr->orphans);
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
 * smc_lgr_drop_buf() - free a region that could not be made ready
 * @lgr: the group; the caller has the turn to grow it
 * @pool: the pool given to smc_lgr_add_buf()
 * @buf: gone afterwards
 * @elem: filled by smc_lgr_add_buf(), empty afterwards
 *
 * Where a link has failed, the region stays with the group until the queues of that link
 * are gone: a registration may not have completed.
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 */
void smc_lgr_drop_buf(struct smc_link_group *lgr, struct smc_buf_pool *pool, struct smc_buf *buf,
		      struct smc_buf_elem *elem)
{
	WARN_ON_ONCE(!READ_ONCE(lgr->is_growing));
	guard(smc_link_map)(lgr);
	lgr_discard_buf(lgr, pool, buf, elem);
}

/**
 * smc_lgr_take_idle() - move idle regions from their pool to lgr->leaving
 * @lgr: the group; the caller has the turn to grow it
 * @pool: rmbs or sends of @lgr
 * @age_jiffies: as with smc_buf_take_idle()
 * @want: as with smc_buf_take_idle()
 *
 * smc_lgr_drop_leaving() frees them.
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: bytes.
 */
unsigned long smc_lgr_take_idle(struct smc_link_group *lgr, struct smc_buf_pool *pool,
				unsigned long age_jiffies, unsigned long want)
{
	WARN_ON_ONCE(!READ_ONCE(lgr->is_growing));
	guard(smc_link_map)(lgr);
	guard(mutex)(&lgr->lock);
	return smc_buf_take_idle(pool, age_jiffies, want, &lgr->leaving);
}

/**
 * smc_lgr_drop_leaving() - free the regions in lgr->leaving
 * @lgr: the group; the caller has the turn to grow it
 * @kind: which; RMBs only if the peer has released them or the group is down
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: number of freed regions.
 */
unsigned int smc_lgr_drop_leaving(struct smc_link_group *lgr, enum smc_buf_kind kind)
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
	/*
	 * RNICs that need copies of a region allow one link per group. This is a second one
	 * that came up while the group had no region.
	 */
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
 * smc_lgr_add_buf() - put a new region into its pool and map it on all links
 * @lgr: the group; the caller has the turn to grow it
 * @pool: rmbs or sends of @lgr
 * @buf: from smc_buf_alloc(); freed on failure
 * @elem: filled on success with the first element
 *
 * Other elements are not handed out before smc_buf_set_ready(). It is listed this early
 * for links that come up meanwhile. If a later step fails, smc_lgr_drop_buf() is due.
 * RFC 7609 3.5.5.2 (RKEY-02, RKEY-03).
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if there is no link; -ENOSPC if there are too many
 *	   regions; or what smc_buf_map_link() returns.
 */
int smc_lgr_add_buf(struct smc_link_group *lgr, struct smc_buf_pool *pool, struct smc_buf *buf,
		    struct smc_buf_elem *elem)
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
 * smc_lgr_register_buf() - register a mapped region on all links of a group
 * @lgr: the group, active; the caller has the turn to grow it
 * @buf: from smc_lgr_add_buf()
 *
 * A failing link is left to the LLC engine if another one works. A working link without
 * the region is an error, because the region would be used there later. On failure
 * smc_lgr_drop_buf() is due.
 *
 * Context: Process context, sleeps. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if there is no link; or what smc_buf_register() returns.
 */
int smc_lgr_register_buf(struct smc_link_group *lgr, struct smc_buf *buf)
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
