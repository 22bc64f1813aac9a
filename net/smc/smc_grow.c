// SPDX-License-Identifier: GPL-2.0
/*
 * Areas on the links of a group.
 *
 * Operation:
 *   One task at a time makes an area: it is mapped and registered on every
 *   link, announced to the peer, and only then its elements are handed out.
 *   Others who need an element wait and look again.
 */
#include "smc_grow.h"
#include "smc_link.h"

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
	int rc = 0;

	mutex_lock(&lgr->lock);
	if (smc_lgr_is_down(lgr))
		rc = -ECONNABORTED;
	else if (lgr->is_growing)
		rc = -EBUSY;
	else
		lgr->is_growing = true;
	mutex_unlock(&lgr->lock);
	return rc;
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
		link = smc_link_enter_at(lgr, i);
		if (!link)
			continue;
		rc = smc_buf_map(buf, &link->wr, i);
		smc_link_exit(link);
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
		link = smc_link_enter_at(lgr, i);
		if (!link)
			continue;
		rc = smc_buf_register(buf, &link->wr, i);
		smc_link_exit(link);
		if (rc)
			break;
	}
	return rc;
}
