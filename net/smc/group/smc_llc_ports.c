// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA ports that could carry links of a group. One work item follows the RDMA devices
 * and reports changes to the machine of every group that may have several links.
 */
#include <linux/string.h>

#include "smc_compat.h"
#include "rdma/smc_ib.h"
#include "group/smc_llc_ports.h"
#include "group/smc_llc_msg.h"

/*
 * A port with a link is listed with the GID of the link, even if the scan missed it.
 * Returns the new length.
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
 * smc_llc_ports_of() - list the ports that may carry links of a group
 * @lgr: the group, which may have several
 * @ends: receives them, SMC_LLC_RNICS at most, with a reference each
 *
 * A port with a link is listed with the GID of that, or a second GID would look like a
 * second RNIC (LG-10). It is listed even where only the link proves that it is on the
 * LAN, as without IPv4 and with link-local GIDs: a server with one RNIC offers it (SL-02).
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
	/* a failed link may outlive its port */
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
 * Returns true if the list has changed. Scans may run in parallel and take any time: the
 * one that began last is the most recent.
 */
static bool llc_scan_ports(struct smc_link_group *lgr)
{
	struct smc_ib_end ends[SMC_LLC_RNICS];
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_rnics rnics = {};
	bool is_new;
	u32 turn;
	u8 i;

	scoped_guard(spinlock_irqsave, &llc->queue_lock)
		turn = ++llc->nr_scans;
	rnics.count = smc_llc_ports_of(lgr, ends);
	for (i = 0; i < rnics.count; i++) {
		memcpy(rnics.rnic[i].mac, ends[i].mac, sizeof(rnics.rnic[i].mac));
		memcpy(rnics.rnic[i].gid, ends[i].gid.raw, sizeof(rnics.rnic[i].gid));
		smc_ib_end_put(&ends[i]);
	}
	guard(spinlock_irqsave)(&llc->queue_lock);
	if ((s32)(turn - llc->last_scan) <= 0)
		return false;
	is_new = memcmp(&llc->rnics, &rnics, sizeof(rnics));
	llc->rnics = rnics;
	llc->last_scan = turn;
	return is_new;
}

/**
 * smc_llc_ports_copy() - get the ports found by the last scan
 * @llc: the engine
 * @rnics: receives them
 *
 * Context: Any context. Takes @llc->queue_lock.
 */
void smc_llc_ports_copy(struct smc_llc *llc, struct smc_llc_rnics *rnics)
{
	guard(spinlock_irqsave)(&llc->queue_lock);
	*rnics = llc->rnics;
}

/**
 * smc_llc_ports_follow() - begin to watch ports for a group that may have several links
 * @link: its first link; the caller prevents that it is taken down
 * @peer_gid: GID of its other end
 *
 * From here on changes are reported to the machine. It gets the initial ports by
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
	/* after the release: later changes are seen by smc_llc_ports_update() */
	llc_scan_ports(link->lgr);
}

/**
 * smc_llc_ports_update() - scan the ports and report changes to the machine of a group
 * @lgr: the group
 *
 * After an event of the RDMA devices, and when a link is gone: its port may have
 * another GID, hidden by the link until now.
 *
 * Context: Process context, may sleep. Takes lgr->lock and lgr->llc.queue_lock.
 */
void smc_llc_ports_update(struct smc_link_group *lgr)
{
	/* pairs with smp_store_release() in smc_llc_ports_follow() */
	if (smp_load_acquire(&lgr->llc.wants_links) && !smc_lgr_is_down(lgr) &&
	    llc_scan_ports(lgr))
		smc_llc_report(lgr, SMC_LLC_EV_RNICS, 0, true, 0);
}

static void llc_update_ports(struct smc_link_group *lgr, void *arg)
{
	smc_llc_ports_update(lgr);
}

/* RDMA ports may have come or gone; C.8, ERR-58, ADDL-06. */
static void llc_ports_work(struct work_struct *work)
{
	smc_lgr_for_each(llc_update_ports, NULL);
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
