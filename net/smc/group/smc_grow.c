// SPDX-License-Identifier: GPL-2.0
/*
 * Areas on the links of a group.
 *
 * Operation:
 *   One task at a time makes an area: it is listed, mapped and registered on
 *   every link, announced to the peer, and only then its elements are handed out.
 *   Others who need an element wait and look again. The one who gives areas back
 *   takes turns with those who make some.
 *
 *   Links may come and go meanwhile: so that each finds all areas, and each area
 *   all links, mapping is done by one at a time (smc_link_begin_map()), and every
 *   area is in a list of its group from before it is mapped until after it was
 *   unmapped.
 */
#include "smc_compat.h"
#include "group/smc_grow.h"
#include "group/smc_link.h"

/**
 * smc_lgr_begin_grow() - ask to be the one who adds an area
 * @lgr: the group; the caller holds a reference
 *
 * One task at a time adds areas. Whoever comes second looks again for an
 * element when lgr->waitq has news: the first one's area has several.
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock.
 * Return: 0, then smc_lgr_end_grow() is due; -EBUSY if somebody else is at it;
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
 * smc_lgr_end_grow() - the area has been added, or could not be
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

/* False if it stays mapped somewhere, for the RNIC may still be at it. */
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

/* In no list but perhaps that of areas which leave. */
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

/* Under lgr->lock, too: by it the LLC engine walks a pool area by area. */
static void lgr_discard_buf(struct smc_link_group *lgr, struct smc_buf_pool *pool,
			    struct smc_buf *buf, struct smc_buf_elem *elem)
{
	scoped_guard(mutex, &lgr->lock)
		smc_buf_remove(pool, buf, elem);
	lgr_free_buf(lgr, buf);
}

/**
 * smc_lgr_drop_buf() - free an area that could not be made ready
 * @lgr: the group, the caller being the one who grows it
 * @pool: where smc_lgr_add_buf() has put it
 * @buf: gone afterwards
 * @elem: what smc_lgr_add_buf() filled, empty afterwards
 *
 * Where a link has failed, the area stays with the group until the queues of
 * that link are gone: a registration may not have completed.
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
 * smc_lgr_take_idle() - areas that nobody uses leave their pool
 * @lgr: the group, the caller being the one who grows it
 * @pool: rmbs or sends of @lgr
 * @age_jiffies: as with smc_buf_take_idle()
 * @want: as with smc_buf_take_idle()
 *
 * They are in lgr->leaving afterwards, for smc_lgr_drop_leaving().
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
 * smc_lgr_drop_leaving() - areas that have left are freed
 * @lgr: the group, the caller being the one who grows it
 * @kind: which; if RMBs, the peer has forgotten them, or the group is down
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: how many areas were freed.
 */
unsigned int smc_lgr_drop_leaving(struct smc_link_group *lgr, enum smc_buf_kind kind)
{
	struct smc_buf *buf, *next;
	unsigned int nr = 0;

	WARN_ON_ONCE(!READ_ONCE(lgr->is_growing));
	guard(smc_link_map)(lgr);
	/* Nobody else adds to the list, or takes from it. */
	list_for_each_entry_safe(buf, next, &lgr->leaving, node) {
		if (buf->kind != kind)
			continue;
		lgr_free_buf(lgr, buf);
		nr++;
	}
	return nr;
}

/* What is about to be taken down does not count. */
static bool lgr_link_is_lost(const struct smc_link *link)
{
	return test_bit(SMC_WR_IS_REPORTED, &link->wr.flags) ||
	       test_bit(SMC_WR_IS_STOPPED, &link->wr.flags);
}

/* The caller is who maps areas. 0 also if the area can do without this link. */
static int lgr_map_on(struct smc_link *link, struct smc_buf *buf)
{
	int rc;

	/* its RNIC may hang in the verb, or be beyond help */
	if (buf->map[link->index].mr || lgr_link_is_lost(link))
		return 0;
	rc = smc_buf_map_link(buf, &link->wr, link->index);
	/*
	 * Where RNICs need copies of an area, a group has one link. This is a second one: it
	 * came up while no area was there to show that.
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
 * smc_lgr_add_buf() - put a new area into its pool, known on all links
 * @lgr: the group, the caller being the one who grows it
 * @pool: rmbs or sends of @lgr
 * @buf: from smc_buf_alloc(); freed on failure
 * @elem: filled on success with the first element
 *
 * Nobody else gets an element before smc_buf_set_ready(). Listed so early, links
 * that come up meanwhile know it as well. When something fails later,
 * smc_lgr_drop_buf() is due. RFC 7609 3.5.5.2 (RKEY-02, RKEY-03).
 *
 * Context: Process context, may sleep. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if there is no link; -ENOSPC if there are too many
 *	   areas; or what smc_buf_map_link() returns.
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
	/* Links in use first: if there can be one only, it is not the one that is being added. */
	rc = lgr_map_links(lgr, buf, true) ?: lgr_map_links(lgr, buf, false);
	if (rc)
		lgr_discard_buf(lgr, pool, buf, elem);
	return rc;
}

/* A link that is not up yet registers what is mapped when it comes up. */
static bool lgr_link_is_ready(const struct smc_link *link)
{
	return test_bit(SMC_WR_IS_OPEN, &link->wr.flags) && !lgr_link_is_lost(link);
}

/**
 * smc_lgr_register_buf() - register a mapped area on all links of a group
 * @lgr: the group, active, the caller being the one who grows it
 * @buf: from smc_lgr_add_buf()
 *
 * One link that fails is the business of the LLC engine, as long as there is
 * another one. A link that works without knowing the area would fail later, when
 * it is used there. On failure smc_lgr_drop_buf() is due.
 *
 * Context: Process context, sleeps. Expects no lock held. Takes lgr->lock.
 * Return: 0; -ECONNABORTED if there is no link; or what smc_buf_register()
 *	   returns.
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
	/*
	 * On some link: fails only if another link that still works lacks it. On none: the
	 * last error, or that there is no link.
	 */
	return has_one ? missing : rc;
}
