// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices that cannot carry links.
 *
 * They are not among those of smc_ib.c, so nothing can use them. An operator sees here what they
 * lack, and a connection over the network device of one says so.
 *
 * Ownership: an entry exists from add to remove. Readers hold the list's lock while they look at
 * the device.
 */
#include <linux/list.h>
#include <linux/rwsem.h>
#include <linux/slab.h>

#include "smc_compat.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_netdev.h"
#include "rdma/smc_unfit.h"

/**
 * struct smc_unfit - a device that does not serve
 * @node: in the list, under its lock
 * @ibdev: the device
 * @lack: why not
 * @nr_ports: of its ports, those that are shown
 * @serial: greater than that of all earlier ones
 */
struct smc_unfit {
	struct list_head node;
	struct ib_device *ibdev;
	enum smc_cap_lack lack;
	u8 nr_ports;
	u64 serial;
};

static DECLARE_RWSEM(smc_unfit_lock);
static LIST_HEAD(smc_unfit_devices);
static u64 smc_unfit_last_serial;	/* under that lock */

static struct ib_client smc_unfit_client;

static int smc_unfit_add(struct ib_device *ibdev)
{
	u8 nr_ports = min_t(u32, ibdev->phys_port_cnt, SMC_IB_MAX_PORTS);
	enum smc_cap_lack lack = smc_cap_lack(ibdev, nr_ports);
	struct smc_unfit *unfit;

	if (lack == SMC_CAP_LACKS_NOTHING)
		return -EOPNOTSUPP;
	unfit = kzalloc(sizeof(*unfit), GFP_KERNEL);
	/* the device is not shown */
	if (!unfit)
		return -ENOMEM;
	unfit->ibdev = ibdev;
	unfit->lack = lack;
	unfit->nr_ports = nr_ports;
	ib_set_client_data(ibdev, &smc_unfit_client, unfit);

	guard(rwsem_write)(&smc_unfit_lock);
	unfit->serial = ++smc_unfit_last_serial;
	list_add_tail(&unfit->node, &smc_unfit_devices);
	return 0;
}

static void smc_unfit_remove(struct ib_device *ibdev, void *client_data)
{
	struct smc_unfit *unfit = client_data;

	scoped_guard(rwsem_write, &smc_unfit_lock)
		list_del(&unfit->node);
	kfree(unfit);
}

static struct ib_client smc_unfit_client = {
	.name = "smc_unfit",
	.add = smc_unfit_add,
	.remove = smc_unfit_remove,
	.no_kverbs_req = true,
};

/**
 * smc_unfit_init() - start to track devices that do not serve
 *
 * Context: Process context, module init.
 * Return: 0, -ENOMEM, or what ib_register_client() returns.
 */
int smc_unfit_init(void)
{
	return ib_register_client(&smc_unfit_client);
}

/**
 * smc_unfit_exit() - undo smc_unfit_init()
 *
 * Context: Process context, module exit.
 */
void smc_unfit_exit(void)
{
	ib_unregister_client(&smc_unfit_client);
}

static bool smc_unfit_is_at(const struct smc_unfit *unfit, const struct smc_netdev_stack *stack)
{
	struct net_device *own;
	unsigned int i;
	u8 port;

	for (port = 1; port <= unfit->nr_ports; port++) {
		own = smc_compat_ib_netdev(unfit->ibdev, port);
		dev_put(own);
		for (i = 0; own && i < stack->nr; i++)
			if (stack->level[i].ndev == own)
				return true;
	}
	return false;
}

/**
 * smc_unfit_is_below() - check whether a network device has an RDMA device that does not serve
 * @ndev: the network device; the caller holds a reference; NULL for any
 *
 * Context: Process context, may sleep.
 * Return: true if a port of one belongs to @ndev or to a device below it.
 */
bool smc_unfit_is_below(struct net_device *ndev)
{
	const struct smc_unfit *unfit;
	struct smc_netdev_stack stack;
	bool is_below = false;

	/* the usual case */
	if (list_empty(&smc_unfit_devices) || !ndev)
		return !list_empty(&smc_unfit_devices);
	smc_netdev_get_stack(&stack, ndev);
	scoped_guard(rwsem_read, &smc_unfit_lock)
		list_for_each_entry(unfit, &smc_unfit_devices, node)
			is_below |= smc_unfit_is_at(unfit, &stack);
	smc_netdev_put_stack(&stack);
	return is_below;
}

static void smc_unfit_view(const struct smc_unfit *unfit, const struct net *net,
			   struct smc_ib_view *view)
{
	struct net_device *own;
	u8 port;

	memset(view, 0, sizeof(*view));
	smc_ib_view_names(unfit->ibdev, view);
	view->serial = unfit->serial;
	view->lack = unfit->lack;
	view->nr_ports = unfit->nr_ports;
	for (port = 1; port <= unfit->nr_ports; port++) {
		own = smc_compat_ib_netdev(unfit->ibdev, port);
		if (own && net_eq(dev_net(own), net))
			view->port[port - 1].ifindex = own->ifindex;
		dev_put(own);
	}
}

/**
 * smc_unfit_next_view() - walk the devices of a namespace that do not serve
 * @net: the namespace
 * @after: serial of the last one, 0 at first
 * @view: filled, without the state of ports and without counters
 *
 * Context: Process context, may sleep.
 * Return: false after the last one.
 */
bool smc_unfit_next_view(struct net *net, u64 after, struct smc_ib_view *view)
{
	const struct smc_unfit *unfit;

	guard(rwsem_read)(&smc_unfit_lock);
	list_for_each_entry(unfit, &smc_unfit_devices, node) {
		if (unfit->serial <= after || !rdma_dev_access_netns(unfit->ibdev, net))
			continue;
		smc_unfit_view(unfit, net, view);
		return true;
	}
	return false;
}
