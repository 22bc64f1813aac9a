// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the network devices of ports: their state, and writes that fit the MTU meanwhile.
 *
 * Some drivers send no event when a port has lost its carrier or has it back, or is taken down.
 * So the ends at a port are checked whenever its network device changes its state.
 *
 * A queue pair splits writes into packets of its path MTU, which is fixed. Where the port's MTU
 * becomes smaller, such a packet is lost for good, and the queue pair with it. A write of one
 * packet that the port can send always fits. So before a network device changes its MTU, all
 * writes of its port become short, and the change waits until the longer ones have completed.
 * Afterwards a link without a fitting MTU keeps to short writes; the LLC machine replaces it.
 *
 * The wait holds RTNL, which belongs to the caller of the notifier. It is for the RNICs, not for
 * the peer's host, takes a round trip, and ends after SMC_PORT_WAIT_MS on a path that loses
 * packets, or whose packets are stopped by pause frames; only soft-RoCE, which is a busy host, gets
 * more. The owner of a namespace can repeat such changes, so a host waits for one part in
 * SMC_PORT_SHARE of the time, beside a few changes in a row. A change without the wait may cost a
 * link. It cannot go: on a host with one RNIC no other link takes over what a lost packet breaks,
 * and only this link can agree on another one. The event does not name the new MTU.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "smc_compat.h"
#include "rdma/smc_netdev.h"
#include "rdma/smc_port.h"
#include "rdma/smc_wr.h"

#define SMC_PORT_WAIT_MS	100
#define SMC_PORT_WAIT_SOFT_MS	500
#define SMC_PORT_STEP_US	500
#define SMC_PORT_SHARE		20
#define SMC_PORT_SAVED_MS	1000	/* of waiting, not used before */
#define SMC_PORT_SHORT		256	/* fits each MTU of a port */

/* What to do with the queues at a port. */
enum smc_port_step {
	SMC_PORT_LOOK,		/* have their ends checked */
	SMC_PORT_SOFT,		/* nothing: is the port of soft-RoCE? */
	SMC_PORT_SHORTEN,
	SMC_PORT_CHECK,
	SMC_PORT_FIT,
};

/* A message or write that may not fit is posted; its completion will be seen soon. */
static bool smc_port_is_long(struct smc_wr *wr)
{
	unsigned int i;

	if (!test_bit(SMC_WR_IS_OPEN, &wr->flags))
		return false;
	for (i = 0; i < wr->nr_slots; i++)
		if (READ_ONCE(wr->slots[i].is_posted) &&
		    max(READ_ONCE(wr->slots[i].nr_bytes), READ_ONCE(wr->slots[i].len)) >
		    SMC_PORT_SHORT) {
			smc_wr_await(wr);
			return true;
		}
	return false;
}

/* All queues at a port, whose network device is @ndev. Return: as smc_port_do(). */
static bool smc_port_do_port(struct smc_ib_dev *dev, u8 port, const struct net_device *ndev,
			     enum smc_port_step step)
{
	bool is_so = step == SMC_PORT_LOOK;
	struct smc_ib_watch *watch;
	struct smc_wr *wr;

	guard(spinlock_irqsave)(&dev->lock);
	list_for_each_entry(watch, &dev->watches, node) {
		wr = container_of(watch, struct smc_wr, watch);
		if (wr->end.port != port)
			continue;
		if (step == SMC_PORT_SHORTEN)
			WRITE_ONCE(wr->max_write, SMC_PORT_SHORT);
		else if (step == SMC_PORT_CHECK)
			is_so |= smc_port_is_long(wr);
		else if (step == SMC_PORT_LOOK)
			smc_ib_wake(watch);
		else
			smc_wr_fit(wr, smc_netdev_path_mtu(ndev));
	}
	return is_so;
}

static bool smc_port_do_at(struct smc_ib_dev *dev, u8 port, const struct net_device *ndev,
			   enum smc_port_step step)
{
	if (step == SMC_PORT_SOFT)
		return ib_uses_virt_dma(dev->ibdev);
	return smc_port_do_port(dev, port, ndev, step);
}

/* The ports of @ndev, or all. Return: true if a queue there is busy, or a port is found. */
static bool smc_port_do(const struct net_device *ndev, enum smc_port_step step)
{
	struct smc_ib_dev *dev = NULL;
	struct net_device *own;
	bool is_so = false;
	u8 port;

	guard(rcu)();
	while ((dev = smc_ib_next_dev(dev)))
		for (port = 1; port <= dev->nr_ports; port++) {
			own = smc_netdev_of_port(dev->ibdev, port);
			if (own && (!ndev || own == ndev))
				is_so |= smc_port_do_at(dev, port, own, step);
			dev_put(own);
		}
	return is_so;
}

/* In jiffies; no change waits earlier. Protected by RTNL. */
static u64 smc_port_next_wait;

static void smc_port_wait(const struct net_device *ndev)
{
	unsigned int ms = smc_port_do(ndev, SMC_PORT_SOFT) ? SMC_PORT_WAIT_SOFT_MS :
							     SMC_PORT_WAIT_MS;
	u64 begin = get_jiffies_64(), until = begin + msecs_to_jiffies(ms);
	u64 saved = SMC_PORT_SHARE * msecs_to_jiffies(SMC_PORT_SAVED_MS);

	ASSERT_RTNL();
	if (time_before64(begin, smc_port_next_wait))
		return;
	while (smc_port_do(ndev, SMC_PORT_CHECK) && time_before64(get_jiffies_64(), until))
		usleep_range(SMC_PORT_STEP_US, 2 * SMC_PORT_STEP_US);
	smc_port_next_wait = max(smc_port_next_wait, begin - min(begin, saved)) +
			    SMC_PORT_SHARE * (get_jiffies_64() - begin);
}

static void smc_port_prepare(const struct net_device *ndev)
{
	smc_port_do(ndev, SMC_PORT_SHORTEN);
	/* a write that was planned before is posted by now */
	synchronize_net();
	smc_port_wait(ndev);
}

/* The change has been made, or refused. */
static void smc_port_work(struct work_struct *work)
{
	rtnl_lock();
	smc_port_do(NULL, SMC_PORT_FIT);
	rtnl_unlock();
}

static DECLARE_WORK(smc_port_changed, smc_port_work);

static int smc_port_event(struct notifier_block *nb, unsigned long event, void *info)
{
	const struct net_device *ndev = netdev_notifier_info_to_dev(info);

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_PRECHANGEMTU:
	case NETDEV_CHANGEMTU:
		break;
	default:
		return NOTIFY_DONE;
	}
	if (!smc_port_do(ndev, SMC_PORT_LOOK))
		return NOTIFY_DONE;
	if (event == NETDEV_PRECHANGEMTU) {
		smc_port_prepare(ndev);
		schedule_work(&smc_port_changed);
	} else {
		/* it may open a path as well as close one, and groups replace their links */
		smc_ib_recheck();
	}
	return NOTIFY_DONE;
}

/* Runs last, after the RDMA devices have handled the event. */
static struct notifier_block smc_port_notifier = {
	.notifier_call = smc_port_event,
	.priority = INT_MIN,
};

/**
 * smc_port_init() - follow the state and the MTU of network devices
 *
 * Context: Process context, module init, after smc_ib_init().
 * Return: 0, or what register_netdevice_notifier() returns.
 */
int smc_port_init(void)
{
	return register_netdevice_notifier(&smc_port_notifier);
}

/**
 * smc_port_exit() - undo smc_port_init()
 *
 * Context: Process context, module exit.
 */
void smc_port_exit(void)
{
	unregister_netdevice_notifier(&smc_port_notifier);
	cancel_work_sync(&smc_port_changed);
}
