// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: their depth counts, and each kind of adapter has its own way to arm
 * them and its own context for the completion handler.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "rnic.h"

static void call_handler(struct rnic_cq *cq)
{
	rnic_count(cq->dev, RNIC_STAT_EVENTS);
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	if (READ_ONCE(cq->dev->faults.spurious))
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void fire_irq(struct irq_work *work)
{
	call_handler(container_of(work, struct rnic_cq, irq));
}

static void fire_tasklet(struct tasklet_struct *t)
{
	struct rnic_cq *cq = from_tasklet(cq, t, tasklet);
	unsigned long flags;

	if (cq->dev->profile->comp == RNIC_COMP_TASKLET) {
		call_handler(cq);
		return;
	}
	local_irq_save(flags);
	call_handler(cq);
	local_irq_restore(flags);
}

static void fire_work(struct work_struct *work)
{
	call_handler(container_of(work, struct rnic_cq, work));
}

static void fire_here(struct rnic_cq *cq)
{
	switch (cq->dev->profile->comp) {
	case RNIC_COMP_HARDIRQ:
		irq_work_queue(&cq->irq);
		break;
	case RNIC_COMP_TASKLET:
	case RNIC_COMP_TASKLET_IRQS_OFF:
		tasklet_schedule(&cq->tasklet);
		break;
	case RNIC_COMP_BH_WORK:
		queue_work(system_bh_wq, &cq->work);
		break;
	}
}

static void fire_remote(void *arg)
{
	struct rnic_cq *cq = arg;

	if (cq->dev->profile->comp == RNIC_COMP_HARDIRQ)
		call_handler(cq);
	else
		fire_here(cq);
}

/**
 * rnic_cq_fire() - cause an event, in the context of the profile
 * @cq: CQ
 *
 * Context: Any context.
 */
void rnic_cq_fire(struct rnic_cq *cq)
{
	int cpu;

	if (READ_ONCE(cq->dev->faults.quiet))
		return;
	cpu = get_cpu();
	/* if it is busy, the handler has yet to be called */
	if (rnic_irq_cpu >= 0 && rnic_irq_cpu != cpu)
		smp_call_function_single_async(rnic_irq_cpu, &cq->remote);
	else
		fire_here(cq);
	put_cpu();
}

/* Show all completions; true if an event is due. */
static bool show(struct rnic_cq *cq)
{
	bool fires = false;

	lockdep_assert_held(&cq->lock);
	for (; cq->shown != cq->head; cq->shown++) {
		const struct ib_wc *wc = &cq->cqes[cq->shown % cq->depth].wc;

		/* until it is shown, vendor_err has: solicited */
		if (cq->armed == 1 || (cq->armed == 2 && (wc->vendor_err || wc->status)))
			fires = true;
	}
	if (fires)
		cq->armed = 0;
	return fires;
}

static enum hrtimer_restart show_late(struct hrtimer *timer)
{
	struct rnic_cq *cq = container_of(timer, struct rnic_cq, timer);
	unsigned long flags;
	bool fires;

	spin_lock_irqsave(&cq->lock, flags);
	fires = show(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	if (fires)
		rnic_cq_fire(cq);
	return HRTIMER_NORESTART;
}

static void overrun(struct rnic_cq *cq)
{
	struct ib_event event = { .device = cq->ib.device, .event = IB_EVENT_CQ_ERR,
				  .element.cq = &cq->ib };

	rnic_violation(cq->dev, "CQ of %u overruns", cq->depth);
	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

/**
 * rnic_cq_push() - complete a request
 * @cq: CQ
 * @cqe: completion
 * @is_solicited: its sender solicited an event
 *
 * Context: The engine, which holds the lock of the device.
 */
void rnic_cq_push(struct rnic_cq *cq, const struct rnic_cqe *cqe, bool is_solicited)
{
	u32 late_us = READ_ONCE(cq->dev->faults.late_us);
	bool fires = false, overruns = false;
	unsigned long flags;

	if (READ_ONCE(cq->dev->faults.dead) ||
	    (cqe->is_send && READ_ONCE(cq->dev->faults.dead_send)))
		return;
	spin_lock_irqsave(&cq->lock, flags);
	if (cq->is_broken) {
		/* nothing is added any more */
	} else if (cq->head - cq->tail == cq->depth) {
		overruns = true;
		cq->is_broken = true;
	} else {
		struct rnic_cqe *at = &cq->cqes[cq->head++ % cq->depth];

		*at = *cqe;
		at->wc.vendor_err = is_solicited;
		if (!late_us)
			fires = show(cq);
		else if (!hrtimer_active(&cq->timer))
			hrtimer_start(&cq->timer,
				      ns_to_ktime(1000ULL * get_random_u32_below(late_us)),
				      HRTIMER_MODE_REL_HARD);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (fires)
		rnic_cq_fire(cq);
	if (overruns)
		overrun(cq);
}

/**
 * rnic_cq_forget() - drop the completions of a QP, as drivers do when they destroy it
 * @cq: CQ
 * @qp: QP
 *
 * Context: Process context.
 */
void rnic_cq_forget(struct rnic_cq *cq, struct rnic_qp *qp)
{
	u32 from, to, gone = 0;
	unsigned long flags;
	bool fires;

	spin_lock_irqsave(&cq->lock, flags);
	fires = show(cq);
	for (from = to = cq->tail; from != cq->head; from++) {
		if (cq->cqes[from % cq->depth].qp == qp)
			gone++;
		else
			cq->cqes[to++ % cq->depth] = cq->cqes[from % cq->depth];
	}
	cq->head -= gone;
	cq->shown = cq->head;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (fires)
		rnic_cq_fire(cq);
}

static void free_wqe(const struct rnic_cqe *cqe)
{
	struct rnic_queue *q = cqe->is_send ? &cqe->qp->sq : &cqe->qp->rq;

	WRITE_ONCE(q->free, cqe->end);
}

int rnic_poll_cq(struct ib_cq *ibcq, int nr, struct ib_wc *wc)
{
	struct rnic_cq *cq = to_rnic_cq(ibcq);
	unsigned long flags;
	int i;

	spin_lock_irqsave(&cq->lock, flags);
	/* after a crash mlx5 makes the completions that are due when it is polled */
	if (READ_ONCE(cq->dev->fatal) == RNIC_FATAL_FLUSHES + 1)
		show(cq);
	for (i = 0; i < nr && cq->tail != cq->shown; i++) {
		const struct rnic_cqe *cqe = &cq->cqes[cq->tail++ % cq->depth];

		wc[i] = cqe->wc;
		wc[i].vendor_err = 0;
		free_wqe(cqe);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

static enum rnic_arm arm_of(struct rnic_cq *cq)
{
	enum rnic_arm arm = cq->dev->profile->arm;

	return arm == RNIC_ARM_RANDOM ? get_random_u32_below(RNIC_ARM_RANDOM) : arm;
}

int rnic_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	bool is_solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	struct rnic_cq *cq = to_rnic_cq(ibcq);
	enum rnic_arm arm = arm_of(cq);
	unsigned long irq_flags;
	bool missed, fires;

	spin_lock_irqsave(&cq->lock, irq_flags);
	missed = cq->shown != cq->tail;
	fires = missed && arm == RNIC_ARM_EVENT;
	if (!missed || arm == RNIC_ARM_REPORTS)
		cq->armed = is_solicited && cq->armed != 1 ? 2 : 1;
	missed &= arm != RNIC_ARM_EVENT && flags & IB_CQ_REPORT_MISSED_EVENTS;
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	if (fires)
		rnic_cq_fire(cq);
	return missed;
}

int rnic_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs)
{
	struct rnic_cq *cq = to_rnic_cq(ibcq);
	int rc;

	cq->dev = to_rnic(ibcq->device);
	rc = rnic_verb(cq->dev, &cq->dev->faults.create);
	if (rc)
		return rc;
	if (attrs)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > 65536 || attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	cq->depth = attr->cqe;
	cq->cqes = kvcalloc(cq->depth, sizeof(*cq->cqes), GFP_KERNEL);
	if (!cq->cqes)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	cq->irq = IRQ_WORK_INIT_HARD(fire_irq);
	INIT_CSD(&cq->remote, fire_remote, cq);
	tasklet_setup(&cq->tasklet, fire_tasklet);
	INIT_WORK(&cq->work, fire_work);
	hrtimer_init(&cq->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	cq->timer.function = show_late;
	ibcq->cqe = cq->depth;
	return 0;
}

static void no_call(void *unused)
{
}

int rnic_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct rnic_cq *cq = to_rnic_cq(ibcq);

	rnic_verb_sleep(cq->dev);
	hrtimer_cancel(&cq->timer);
	/* calls of one CPU are made in order */
	if (rnic_irq_cpu >= 0)
		smp_call_function_single(rnic_irq_cpu, no_call, NULL, 1);
	irq_work_sync(&cq->irq);
	tasklet_kill(&cq->tasklet);
	cancel_work_sync(&cq->work);
	kvfree(cq->cqes);
	return 0;
}
