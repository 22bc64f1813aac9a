// SPDX-License-Identifier: GPL-2.0
/* Carries events up to the wing that reports them, also in kernels without tracepoints. */
#include <linux/rcupdate.h>

#include "rdma/smc_event.h"

static const struct smc_event_ops __rcu *event_ops;

/**
 * smc_event_send() - report an event
 * @event: the event, borrowed
 *
 * Context: Any context but hard interrupt.
 */
void smc_event_send(const struct smc_event *event)
{
	const struct smc_event_ops *ops;

	rcu_read_lock();
	ops = rcu_dereference(event_ops);
	if (ops)
		ops->send(event);
	rcu_read_unlock();
}

/**
 * smc_event_init() - begin to report events
 * @ops: the upcall, static
 *
 * Context: Process context, module load.
 */
void smc_event_init(const struct smc_event_ops *ops)
{
	rcu_assign_pointer(event_ops, ops);
}

/**
 * smc_event_exit() - undo smc_event_init(); no upcall runs afterwards
 *
 * Context: Process context, sleeps.
 */
void smc_event_exit(void)
{
	RCU_INIT_POINTER(event_ops, NULL);
	synchronize_rcu();
}
