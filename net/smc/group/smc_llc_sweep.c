// SPDX-License-Identifier: GPL-2.0
/*
 * Idle regions leave their group: after a time, or when memory is short.
 *
 * Operation: a work item gives idle regions back, queued by the worker of the group when
 * it is time, or by a caller that needs memory. It is not the worker itself, because it
 * waits for the peer to release an RMB.
 *
 * Error handling: RMBs that could not be withdrawn from the peer stay and are retried.
 */
#include <linux/jiffies.h>

#include "smc_compat.h"
#include "group/smc_grow.h"
#include "group/smc_llc_msg.h"
#include "group/smc_llc_rmb.h"
#include "group/smc_llc_sweep.h"

/* delay until a failed withdrawal of RMBs is retried */
#define LLC_SWEEP_RETRY_MS	1000

static void llc_arm_sweep(struct smc_link_group *lgr, bool retry)
{
	lgr->llc.swept_at = llc_now();
	lgr->llc.sweep_retry = retry;
}

/**
 * smc_llc_sweep_start() - begin to watch the idle regions of a group that is up
 * @lgr: the group
 *
 * Context: Expects lgr->lock held.
 */
void smc_llc_sweep_start(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->lock);
	llc_arm_sweep(lgr, false);
}

/**
 * smc_llc_sweep_due() - when the worker has to call smc_llc_sweep_check()
 * @lgr: the group
 *
 * Reads the setting each time, since it may change.
 *
 * Context: Expects lgr->lock held.
 * Return: in ms, or SMC_LLC_NO_DEADLINE.
 */
u64 smc_llc_sweep_due(struct smc_link_group *lgr)
{
	int idle_ms = READ_ONCE(llc_settings(lgr)->rmb_idle_ms);

	lockdep_assert_held(&lgr->lock);
	if (lgr->llc.sweep_retry)
		return lgr->llc.swept_at + LLC_SWEEP_RETRY_MS;
	if (!lgr->llc.swept_at || idle_ms <= 0)
		return SMC_LLC_NO_DEADLINE;
	return lgr->llc.swept_at + idle_ms;
}

/**
 * smc_llc_sweep_check() - have idle regions given back if it is time
 * @lgr: the group
 *
 * Context: The worker of @lgr. Expects lgr->lock held.
 */
void smc_llc_sweep_check(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->lock);
	if (llc_now() >= smc_llc_sweep_due(lgr)) {
		llc_arm_sweep(lgr, false);
		smc_core_queue_patient(lgr, &lgr->llc.sweep_work);
	}
}

/* Take regions idle for long enough, then others until @want bytes are taken. */
static unsigned long llc_take_idle(struct smc_link_group *lgr, struct smc_buf_pool *pool,
				   unsigned long want)
{
	int idle_ms = READ_ONCE(llc_settings(lgr)->rmb_idle_ms);
	unsigned long taken = 0;

	if (idle_ms > 0)
		taken = smc_lgr_take_idle(lgr, pool, msecs_to_jiffies(idle_ms), ULONG_MAX);
	if (taken < want)
		taken += smc_lgr_take_idle(lgr, pool, 0, want - taken);
	return taken;
}

static void llc_drop_leaving(struct smc_link_group *lgr, enum smc_buf_kind kind)
{
	smc_stat_add(lgr->key.net, SMC_STAT_AREA_BACK, smc_lgr_drop_leaving(lgr, kind));
}

/*
 * A peer may still write to an RMB that was not withdrawn, so that stays for a retry. If
 * the group has ended its RMBs end as well.
 */
static void llc_give_rmbs_back(struct smc_link_group *lgr)
{
	int rc = smc_llc_rmb_withdraw(lgr, &lgr->leaving);

	if (!rc || smc_lgr_is_down(lgr)) {
		llc_drop_leaving(lgr, SMC_BUF_RMB);
		return;
	}
	scoped_guard(mutex, &lgr->lock)
		llc_arm_sweep(lgr, true);
	smc_llc_queue_work(lgr);
}

/*
 * Give back send regions at once, RMBs once the peer has released them. Handshakes that
 * want to add a region wait meanwhile. RFC 7609 3.5.5.2.2; RMB-24 to RMB-26, TMR-14.
 */
static void llc_sweep_work(struct work_struct *work)
{
	struct smc_llc *llc = container_of(work, struct smc_llc, sweep_work);
	struct smc_link_group *lgr = lgr_of(llc);
	unsigned long want, taken;

	/* the task that adds a region now queues this again: smc_llc_sweep_end_grow() */
	if (smc_lgr_begin_grow(lgr))
		goto put;
	want = atomic_long_xchg(&llc->sweep_want, 0);
	taken = llc_take_idle(lgr, &lgr->sends, want);
	llc_drop_leaving(lgr, SMC_BUF_SEND);
	llc_take_idle(lgr, &lgr->rmbs, want - min(want, taken));
	/* includes those that could not be withdrawn the last time */
	if (!list_empty(&lgr->leaving))
		llc_give_rmbs_back(lgr);
	smc_lgr_end_grow(lgr);
put:
	smc_lgr_put(lgr);
}

/**
 * smc_llc_sweep_init() - prepare a group that is being formed
 * @lgr: the group
 *
 * Context: Process context.
 */
void smc_llc_sweep_init(struct smc_link_group *lgr)
{
	INIT_WORK(&lgr->llc.sweep_work, llc_sweep_work);
}

/**
 * smc_llc_sweep_end_grow() - end the turn of a task that added a region
 * @lgr: the group
 *
 * Like smc_lgr_end_grow(), but also runs a sweep that was due meanwhile.
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock.
 */
void smc_llc_sweep_end_grow(struct smc_link_group *lgr)
{
	smc_lgr_end_grow(lgr);
	/* sweep_want was set before the sweep was refused */
	if (atomic_long_read(&lgr->llc.sweep_want) || !list_empty(&lgr->leaving))
		smc_core_queue_patient(lgr, &lgr->llc.sweep_work);
}

/**
 * smc_llc_idle_mem() - how much memory a group could give back
 * @lgr: the group
 *
 * Context: Any context.
 * Return: bytes in regions without a connection, less those already requested.
 */
unsigned long smc_llc_idle_mem(const struct smc_link_group *lgr)
{
	unsigned long idle = READ_ONCE(lgr->rmbs.idle) + READ_ONCE(lgr->sends.idle);
	unsigned long wanted;

	/* a forming group has nothing idle, an ending one gives all anyway */
	if (READ_ONCE(lgr->state) != SMC_LGR_ACTIVE)
		return 0;
	wanted = atomic_long_read(&lgr->llc.sweep_want);
	return idle - min(idle, wanted);
}

/**
 * smc_llc_reclaim() - have a group give memory back
 * @lgr: the group
 * @want: minimum in bytes; less if there is not as much
 *
 * A work item does it, since the peer has to release an RMB first (RMB-24, RMB-26).
 * Neither waits nor allocates.
 *
 * Context: Any context.
 * Return: bytes that will follow, 0 if nothing more can.
 */
unsigned long smc_llc_reclaim(struct smc_link_group *lgr, unsigned long want)
{
	want = min(want, smc_llc_idle_mem(lgr));
	if (!want)
		return 0;
	atomic_long_add(want, &lgr->llc.sweep_want);
	smc_core_queue_patient(lgr, &lgr->llc.sweep_work);
	return want;
}

/**
 * smc_llc_trim() - bound the unused rings after a connection gave rings back
 * @lgr: the group
 *
 * If unused rings exceed net.smc.spare_mem, idle regions of this group go. If several
 * connections give back at the same time, only the last may find a region idle.
 *
 * Context: Any context.
 */
void smc_llc_trim(struct smc_link_group *lgr)
{
	unsigned long excess = smc_buf_excess(&smc_net(lgr->key.net)->spare);

	if (excess)
		smc_llc_reclaim(lgr, excess);
}
