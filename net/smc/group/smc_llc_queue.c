// SPDX-License-Identifier: GPL-2.0
/*
 * The event queue of a group's LLC worker.
 *
 * Operation: an event for the machine of a group is put into the group's ring in any
 * context, and the group's work item is kicked. That feeds it to the machine (smc_llc.c).
 *
 * Ownership: a queued or running work item and an armed timer hold a reference on the
 * group each. The ring owns a long message until it is popped.
 *
 * Error handling: events beyond the ring's size, or beyond the share of received
 * messages, are dropped, and the overrun is recorded: the links are out of sync. A
 * closed ring takes nothing.
 */
#include <linux/slab.h>

#include "smc_compat.h"
#include "group/smc_llc_queue.h"

static struct workqueue_struct *llc_wq;

/**
 * smc_llc_queue_work() - run the worker of a group
 * @lgr: the group; the caller has a reference
 *
 * Context: Any context, also with lgr->llc.queue_lock held.
 */
void smc_llc_queue_work(struct smc_link_group *lgr)
{
	/* dropped by the work item */
	smc_lgr_get(lgr);
	if (!queue_work(llc_wq, &lgr->llc.work))
		smc_lgr_put(lgr);
}

/**
 * smc_llc_queue_work_in() - run the worker of a group later
 * @lgr: the group
 * @delay_jiffies: from now; replaces an earlier delay
 *
 * Context: The worker of @lgr.
 */
void smc_llc_queue_work_in(struct smc_link_group *lgr, unsigned long delay_jiffies)
{
	/* The worker's own reference covers the interval between these two calls. */
	smc_lgr_get(lgr);
	if (mod_delayed_work(llc_wq, &lgr->llc.timer, delay_jiffies))
		smc_lgr_put(lgr);
}

static void llc_timer(struct work_struct *work)
{
	struct smc_llc *llc = container_of(to_delayed_work(work), struct smc_llc, timer);
	struct smc_link_group *lgr = lgr_of(llc);

	smc_llc_queue_work(lgr);
	smc_lgr_put(lgr);
}

/**
 * smc_llc_queue_push() - put an event into the ring of a group
 * @lgr: the group
 * @item: the event, copied; @item->more is consumed
 *
 * Kicks the worker even if the ring is full.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_queue_push(struct smc_link_group *lgr, const struct smc_llc_item *item)
{
	bool is_rx = item->type == SMC_LLC_EV_MSG;
	struct smc_llc *llc = &lgr->llc;

	guard(spinlock_irqsave)(&llc->queue_lock);
	if (llc->is_closed) {
		kfree(item->more);
		return;
	}
	if (llc->nr == SMC_LLC_QUEUED || (is_rx && llc->nr_rx == SMC_LLC_RX_QUEUED)) {
		llc->is_overrun = true;
		kfree(item->more);
	} else {
		llc->queue[(llc->head + llc->nr) % SMC_LLC_QUEUED] = *item;
		llc->nr++;
		llc->nr_rx += is_rx;
	}
	smc_llc_queue_work(lgr);
}

/**
 * smc_llc_queue_pop() - take the oldest event out of a ring
 * @llc: the engine
 * @item: receives it; the caller owns @item->more
 *
 * Context: The worker of the group. Takes @llc->queue_lock.
 * Return: false if there is none.
 */
bool smc_llc_queue_pop(struct smc_llc *llc, struct smc_llc_item *item)
{
	guard(spinlock_irqsave)(&llc->queue_lock);
	if (!llc->nr)
		return false;
	*item = llc->queue[llc->head];
	llc->head = (llc->head + 1) % SMC_LLC_QUEUED;
	llc->nr--;
	llc->nr_rx -= item->type == SMC_LLC_EV_MSG;
	return true;
}

/**
 * smc_llc_report() - put an event without a message into the ring of a group
 * @lgr: the group
 * @type: of the event
 * @link: link index
 * @ok: outcome
 * @cookie: see &struct smc_llc_item
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_report(struct smc_link_group *lgr, enum smc_llc_event_type type, u8 link, bool ok,
		    u64 cookie)
{
	struct smc_llc_item item = {
		.type = type, .link = link, .ok = ok, .cookie = cookie,
	};

	smc_llc_queue_push(lgr, &item);
}

/**
 * smc_llc_queue_open() - prepare the queue of a group that is being formed
 * @lgr: the group
 *
 * Context: Process context.
 */
void smc_llc_queue_open(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	INIT_DELAYED_WORK(&llc->timer, llc_timer);
	spin_lock_init(&llc->queue_lock);
}

/**
 * smc_llc_queue_close() - drop all events, refuse new ones, stop the timer
 * @lgr: the group
 *
 * Context: The worker of @lgr. Takes lgr->llc.queue_lock.
 */
void smc_llc_queue_close(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_item item;

	scoped_guard(spinlock_irqsave, &llc->queue_lock)
		llc->is_closed = true;
	while (smc_llc_queue_pop(llc, &item))
		kfree(item.more);
	if (cancel_delayed_work(&llc->timer))
		smc_lgr_put(lgr);
}

/**
 * smc_llc_queue_init() - create the work queue of all groups
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_llc_queue_init(void)
{
	llc_wq = alloc_workqueue("smc_llc", WQ_UNBOUND, 0);
	return llc_wq ? 0 : -ENOMEM;
}

/**
 * smc_llc_queue_exit() - undo smc_llc_queue_init()
 *
 * Every link group is gone; work items that drop the last references may still run.
 *
 * Context: Process context, sleeps.
 */
void smc_llc_queue_exit(void)
{
	destroy_workqueue(llc_wq);
}
