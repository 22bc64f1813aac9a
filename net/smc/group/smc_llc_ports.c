// SPDX-License-Identifier: GPL-2.0
/*
 * Which RDMA ports could carry links of a group.
 *
 * Operation: one work item follows the RDMA devices and tells the machine of every
 * group that may have several links which ports could carry them now.
 */
#include <linux/string.h>

#include "smc_compat.h"
#include "rdma/smc_ib.h"
#include "group/smc_llc_ports.h"
#include "group/smc_llc_queue.h"

/*
 * The port of a link is listed as the link knows it, whether it was found or not.
 * Returns how many there are now.
 */
static unsigned int llc_list_port(const struct smc_ib_end *own, struct smc_ib_end *ends,
				  unsigned int nr)
{
	unsigned int k;

	for (k = 0; k < nr; k++) {
		if (ends[k].dev != own->dev || ends[k].port != own->port)
			continue;
		/* the reference is on the device, which is the same */
		ends[k] = *own;
		return nr;
	}
	if (nr == SMC_LLC_RNICS)
		return nr;
	smc_ib_end_copy(&ends[nr], own);
	return nr + 1;
}

/**
 * smc_llc_ports_of() - the ports that may carry links of a group
 * @lgr: the group, which may have several
 * @ends: receives them, SMC_LLC_RNICS at most, with a reference each
 *
 * As links know them: a port that has one keeps the GID of that, or a second GID
 * would look like a second RNIC (LG-10). It is among them also where nothing but the
 * link shows that it is on the LAN, as without IPv4 and with GIDs that are link-local:
 * it is what a server with one RNIC offers (SL-02).
 *
 * Context: Process context, may sleep. Takes lgr->lock.
 * Return: how many.
 */
unsigned int smc_llc_ports_of(struct smc_link_group *lgr, struct smc_ib_end *ends)
{
	unsigned int k, found, nr;
	int i;

	nr = smc_ib_lan_ends(lgr->key.net, &lgr->llc.lan, ends, SMC_LLC_RNICS);
	found = nr;
	scoped_guard(mutex, &lgr->lock)
		for (i = 0; i < SMC_LINKS_MAX; i++)
			if (lgr->links[i])
				nr = llc_list_port(&lgr->links[i]->wr.end, ends, nr);
	/* A link that has failed may outlive its port. */
	for (k = found; k < nr; ) {
		if (!smc_ib_end_is_dead(&ends[k]) && smc_ib_end_is_up(&ends[k])) {
			k++;
			continue;
		}
		smc_ib_end_put(&ends[k]);
		ends[k] = ends[--nr];
	}
	return nr;
}

/*
 * Returns whether the list is another one than before. Several may look at a time, and
 * reading takes as long as devices let it: who began last has seen all that was news to
 * those before.
 */
static bool llc_look_around(struct smc_link_group *lgr)
{
	struct smc_ib_end ends[SMC_LLC_RNICS];
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_rnics rnics = {};
	bool is_new;
	u32 turn;
	u8 i;

	scoped_guard(spinlock_irqsave, &llc->queue_lock)
		turn = ++llc->nr_looks;
	rnics.count = smc_llc_ports_of(lgr, ends);
	for (i = 0; i < rnics.count; i++) {
		memcpy(rnics.rnic[i].mac, ends[i].mac, sizeof(rnics.rnic[i].mac));
		memcpy(rnics.rnic[i].gid, ends[i].gid.raw, sizeof(rnics.rnic[i].gid));
		smc_ib_end_put(&ends[i]);
	}
	guard(spinlock_irqsave)(&llc->queue_lock);
	if ((s32)(turn - llc->last_look) <= 0)
		return false;
	is_new = memcmp(&llc->rnics, &rnics, sizeof(rnics));
	llc->rnics = rnics;
	llc->last_look = turn;
	return is_new;
}

/**
 * smc_llc_ports_copy() - the ports as the machine knows them
 * @llc: the engine
 * @rnics: receives those that were found last
 *
 * Context: Any context. Takes @llc->queue_lock.
 */
void smc_llc_ports_copy(struct smc_llc *llc, struct smc_llc_rnics *rnics)
{
	guard(spinlock_irqsave)(&llc->queue_lock);
	*rnics = llc->rnics;
}

/**
 * smc_llc_ports_follow() - a group may have several links: begin to look for ports
 * @link: its first link, which the caller keeps from being taken down
 * @peer_gid: where that leads to
 *
 * From here on the machine is told of ports that come and go. Those of now it gets by
 * smc_llc_ports_copy().
 *
 * Context: Process context, may sleep. Takes lgr->lock and lgr->llc.queue_lock.
 */
void smc_llc_ports_follow(struct smc_link *link, const u8 peer_gid[SMC_GID_LEN])
{
	struct smc_llc *llc = &link->lgr->llc;

	smc_ib_lan_of(&link->wr.end, peer_gid, &llc->lan);
	/* pairs with smp_load_acquire() in smc_llc_ports_update() */
	smp_store_release(&llc->wants_links, true);
	/* afterwards: what changes while it looks is for those who look again */
	llc_look_around(link->lgr);
}

/**
 * smc_llc_ports_update() - tell the machine of a group which ports there are, if need be
 * @lgr: the group
 *
 * After news of the RDMA devices, and when a link has gone: its port may have another GID
 * by now, which did not count as long as the link had that of before.
 *
 * Context: Process context, may sleep. Takes lgr->lock and lgr->llc.queue_lock.
 */
void smc_llc_ports_update(struct smc_link_group *lgr)
{
	/* pairs with smp_store_release() in smc_llc_ports_follow() */
	if (smp_load_acquire(&lgr->llc.wants_links) && !smc_lgr_is_down(lgr) &&
	    llc_look_around(lgr))
		smc_llc_report(lgr, SMC_LLC_EV_RNICS, 0, true, 0);
}

static void llc_follow_ports(struct smc_link_group *lgr, void *arg)
{
	smc_llc_ports_update(lgr);
}

/* RDMA ports may have come or gone; C.8, ERR-58, ADDL-06. */
static void llc_ports_work(struct work_struct *work)
{
	smc_lgr_for_each(llc_follow_ports, NULL);
}

static DECLARE_WORK(llc_ports, llc_ports_work);

/**
 * smc_llc_ports_init() - follow the RDMA devices
 *
 * Context: Process context, module load.
 */
void smc_llc_ports_init(void)
{
	smc_ib_listen(&llc_ports);
}

/**
 * smc_llc_ports_exit() - undo smc_llc_ports_init()
 *
 * Context: Process context, sleeps.
 */
void smc_llc_ports_exit(void)
{
	smc_ib_listen(NULL);
	cancel_work_sync(&llc_ports);
}
