// SPDX-License-Identifier: GPL-2.0
/*
 * What is shown of a device. A link has counters of its own, which need no lock. Those of a link
 * that is gone remain in the sums of its device.
 */
#include <linux/pci.h>

#include "smc_compat.h"
#include "rdma/smc_ib.h"

/**
 * smc_ib_begin_counts() - make the counters of a link part of those of its device
 * @end: local end of the link
 * @counts: zeroed
 *
 * Context: Process context. Takes the device's lock.
 */
void smc_ib_begin_counts(const struct smc_ib_end *end, struct smc_ib_counts *counts)
{
	struct smc_ib_dev *dev = end->dev;

	counts->port = end->port;
	guard(spinlock_irqsave)(&dev->lock);
	list_add_tail(&counts->node, &dev->links);
}

/**
 * smc_ib_end_counts() - leave the sums to the device
 * @end: local end of the link, which holds its reference
 * @counts: still readable afterwards; nothing counts any more
 *
 * Context: Process context. Takes the device's lock.
 */
void smc_ib_end_counts(const struct smc_ib_end *end, struct smc_ib_counts *counts)
{
	struct smc_ib_dev *dev = end->dev;
	int i;

	guard(spinlock_irqsave)(&dev->lock);
	list_del(&counts->node);
	for (i = 0; i < SMC_IB_NR_COUNTS; i++)
		dev->past[i] += atomic64_read(&counts->nr[i]);
}

static void smc_ib_view_counts(struct smc_ib_dev *dev, struct smc_ib_view *view)
{
	const struct smc_ib_counts *counts;
	int i;

	guard(spinlock_irqsave)(&dev->lock);
	memcpy(view->counts, dev->past, sizeof(view->counts));
	list_for_each_entry(counts, &dev->links, node) {
		view->port[counts->port - 1].nr_links++;
		for (i = 0; i < SMC_IB_NR_COUNTS; i++)
			view->counts[i] += atomic64_read(&counts->nr[i]);
	}
}

/**
 * smc_ib_view_dev() - a device for display, without the state of its ports
 * @dev: the device
 * @view: zeroed
 *
 * Context: Process context. Takes the device's lock.
 */
void smc_ib_view_dev(struct smc_ib_dev *dev, struct smc_ib_view *view)
{
	struct device *parent = dev->ibdev->dev.parent;

	strscpy(view->name, dev_name(&dev->ibdev->dev), sizeof(view->name));
	/* the parent of a soft-RoCE device is its network device, if any */
	if (parent && dev_is_pci(parent)) {
		strscpy(view->bus_name, dev_name(parent), sizeof(view->bus_name));
		view->pci_vendor = to_pci_dev(parent)->vendor;
		view->pci_device = to_pci_dev(parent)->device;
	}
	view->serial = dev->serial;
	view->lack = dev->lack;
	view->nr_ports = dev->nr_ports;
	smc_ib_view_counts(dev, view);
}
