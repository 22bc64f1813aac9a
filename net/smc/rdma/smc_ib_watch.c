// SPDX-License-Identifier: GPL-2.0
/*
 * Events of RDMA devices and their ports, and the work items that wait for them.
 *
 * A handler may run in any context, so it only queues work items: those of the device's watchers
 * when the device failed or GIDs changed, or a network device of its ports changed (smc_port.c).
 * Each watcher then checks the present state of its own port and GID, so merged events are
 * harmless. Each event also queues the listener's work item, which looks for more ports.
 *
 * Drivers' events about a port are not used: some send none, and the network device tells as much.
 */
#include "smc_compat.h"
#include "rdma/smc_ib.h"

static struct work_struct *smc_ib_listener;

/* Events that may have opened a path. */
static atomic_t smc_ib_nr_changes = ATOMIC_INIT(0);

/**
 * smc_ib_notify_listener() - queue the work item of smc_ib_listen()
 *
 * Context: Any context.
 */
void smc_ib_notify_listener(void)
{
	struct work_struct *work = READ_ONCE(smc_ib_listener);

	if (work)
		schedule_work(work);
}

/**
 * smc_ib_listen() - set the work item that looks for new and lost ports
 * @work: queued after events of any device, and when a device comes or goes; NULL
 *	  removes it, which is allowed only before smc_ib_init() or after smc_ib_exit()
 *
 * Context: Process context.
 */
void smc_ib_listen(struct work_struct *work)
{
	WRITE_ONCE(smc_ib_listener, work);
}

/**
 * smc_ib_recheck() - have all groups look for ports, and failed paths tried again
 *
 * After a device has come, or a change of the configuration or of a port that may have opened a
 * path.
 *
 * Context: Any context.
 */
void smc_ib_recheck(void)
{
	atomic_inc(&smc_ib_nr_changes);
	smc_ib_notify_listener();
}

/**
 * smc_ib_changes() - count of events that may have opened a path (an RNIC, a port, an address)
 *
 * Context: Any context.
 * Return: the count; a caller compares it with an earlier value.
 */
int smc_ib_changes(void)
{
	return atomic_read(&smc_ib_nr_changes);
}

/**
 * smc_ib_wake() - have a local end checked now
 * @watch: entered with smc_ib_start_watch()
 *
 * Context: Any context. Expects the device's lock held.
 */
void smc_ib_wake(struct smc_ib_watch *watch)
{
	lockdep_assert_held(&watch->end->dev->lock);
	/* it may wait for a later check */
	cancel_delayed_work(&watch->work);
	schedule_delayed_work(&watch->work, 0);
}

/**
 * smc_ib_wake_watchers() - have the ends on a device checked
 * @dev: the device
 *
 * Context: Any context. Takes the device's lock.
 */
void smc_ib_wake_watchers(struct smc_ib_dev *dev)
{
	struct smc_ib_watch *watch;

	guard(spinlock_irqsave)(&dev->lock);
	list_for_each_entry(watch, &dev->watches, node)
		smc_ib_wake(watch);
}

/**
 * smc_ib_event() - handle an event of an RDMA device
 * @handler: that of a &struct smc_ib_dev
 * @event: the event
 *
 * Context: Any context. Takes the device's lock.
 */
void smc_ib_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct smc_ib_dev *dev = container_of(handler, struct smc_ib_dev, handler);

	switch (event->event) {
	case IB_EVENT_DEVICE_FATAL:
		WRITE_ONCE(dev->is_dead, true);
		smc_ib_wake_watchers(dev);
		smc_ib_notify_listener();
		break;
	case IB_EVENT_GID_CHANGE:
		/* pairs with atomic_read_acquire() in smc_ib_nr_gids() */
		atomic_inc_return_release(&dev->gid_changes);
		smc_ib_wake_watchers(dev);
		smc_ib_recheck();
		break;
	default:
		break;
	}
}

/**
 * smc_ib_leave() - have all links on a device given up
 * @dev: the device, which searches for ports find no more
 *
 * It works on: links end in order, and connections move to others.
 *
 * Context: Process context. Takes the device's lock.
 */
void smc_ib_leave(struct smc_ib_dev *dev)
{
	scoped_guard(spinlock_irq, &dev->lock)
		WRITE_ONCE(dev->is_leaving, true);
	smc_ib_wake_watchers(dev);
	smc_ib_notify_listener();
}

/**
 * smc_ib_start_watch() - watch a local end
 * @watch: @watch->end and @watch->work are set; owned by the caller
 *
 * Also queues the work item at once, so a change between smc_ib_find() and this call
 * is not lost.
 *
 * Context: Process context. Takes the device's lock.
 * Return: 0, or -ENODEV if the device is being removed or stopped.
 */
int smc_ib_start_watch(struct smc_ib_watch *watch)
{
	struct smc_ib_dev *dev = watch->end->dev;

	guard(spinlock_irqsave)(&dev->lock);
	if (dev->is_leaving)
		return -ENODEV;
	list_add_tail(&watch->node, &dev->watches);
	smc_ib_wake(watch);
	return 0;
}

/**
 * smc_ib_unwatch() - undo smc_ib_start_watch()
 * @watch: entered with smc_ib_start_watch()
 *
 * The work item does not run and is not queued after this returns.
 *
 * Context: Process context, sleeps until the work item has ended; must not be
 *	    called from it. Takes the device's lock.
 */
void smc_ib_unwatch(struct smc_ib_watch *watch)
{
	struct smc_ib_dev *dev = watch->end->dev;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	list_del(&watch->node);
	spin_unlock_irqrestore(&dev->lock, flags);
	cancel_delayed_work_sync(&watch->work);
}
