// SPDX-License-Identifier: GPL-2.0
/*
 * What a change of a port's network device does, and how long one of its MTU waits for writes that
 * never complete. There is one port, whose queues are faked.
 */
#include "smc_kunit.h"
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/rdma/smc_netdev.h"
#include "../../../net/smc/rdma/smc_wr.h"

static struct smc_ib_dev port_dev;
static struct smc_wr_slot port_slot;
static unsigned int port_nr_looks, port_nr_woken, port_nr_rechecks;
static bool port_is_soft;

static struct smc_ib_dev *port_next_dev(struct smc_ib_dev *prev)
{
	return prev ? NULL : &port_dev;
}

static struct net_device *port_netdev(struct ib_device *ibdev, u8 port)
{
	struct net_device *ndev = init_net.loopback_dev;

	dev_hold(ndev);
	return ndev;
}

#define smc_netdev_of_port port_netdev
#define smc_ib_next_dev port_next_dev
#define smc_ib_recheck() ((void)port_nr_rechecks++)
#define smc_ib_wake(...) ((void)port_nr_woken++)
#define ib_uses_virt_dma(...) port_is_soft
#define smc_wr_await(...) ((void)port_nr_looks++)
#define smc_wr_fit(...) ((void)0)

#include "../../../net/smc/rdma/smc_port.c"

static int port_init(struct kunit *test)
{
	struct smc_wr *wr = kunit_kzalloc(test, sizeof(*wr), GFP_KERNEL);

	if (!wr)
		return -ENOMEM;
	port_dev.nr_ports = 1;
	spin_lock_init(&port_dev.lock);
	INIT_LIST_HEAD(&port_dev.watches);
	wr->end.port = 1;
	wr->slots = &port_slot;
	wr->nr_slots = 1;
	set_bit(SMC_WR_IS_OPEN, &wr->flags);
	list_add(&wr->watch.node, &port_dev.watches);
	port_slot.is_posted = true;
	port_slot.nr_bytes = SMC_PORT_SHORT + 1;
	smc_port_next_wait = 0;
	port_is_soft = true;
	return 0;
}

/* Return: how often a change of MTU looked whether the writes have completed. */
static unsigned int port_change(void)
{
	port_nr_looks = 0;
	rtnl_lock();
	smc_port_prepare(init_net.loopback_dev);
	rtnl_unlock();
	return port_nr_looks;
}

static void a_change_does_not_wait_for_short_writes(struct kunit *test)
{
	port_slot.nr_bytes = SMC_PORT_SHORT;
	KUNIT_EXPECT_EQ(test, port_change(), 0);
	KUNIT_EXPECT_EQ(test, port_change(), 0);
	/* and uses up nothing */
	port_slot.nr_bytes = SMC_PORT_SHORT + 1;
	KUNIT_EXPECT_GT(test, port_change(), 1);
}

/* RTNL belongs to the whole host, and the owner of any namespace may change an MTU. */
static void changes_in_a_row_wait_for_a_limited_time(struct kunit *test)
{
	u64 used = SMC_PORT_SHARE * msecs_to_jiffies(SMC_PORT_WAIT_SOFT_MS);
	unsigned int i;

	for (i = 0; i < SMC_PORT_SAVED_MS / SMC_PORT_WAIT_SOFT_MS; i++)
		KUNIT_EXPECT_GT(test, port_change(), 1);
	/* what is saved is used up, or one more time at most */
	port_change();
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, port_change(), 0);
	/* time has passed */
	smc_port_next_wait -= 2 * used;
	KUNIT_EXPECT_GT(test, port_change(), 1);
}

/* An adapter that has no answer by then is stopped by pause frames, or has lost its path. */
static void a_change_on_an_adapter_holds_rtnl_for_a_fifth_of_that(struct kunit *test)
{
	unsigned int i;

	port_is_soft = false;
	for (i = 0; i < SMC_PORT_SAVED_MS / SMC_PORT_WAIT_SOFT_MS + 3; i++)
		KUNIT_EXPECT_GT(test, port_change(), 1);
}

/* Return: how many ends were checked; as often groups looked for ports. */
static unsigned int port_notify(struct kunit *test, struct net_device *ndev, unsigned long event)
{
	struct netdev_notifier_info info = { .dev = ndev };

	port_nr_woken = 0;
	port_nr_rechecks = 0;
	smc_port_event(NULL, event, &info);
	KUNIT_EXPECT_EQ(test, port_nr_rechecks, port_nr_woken);
	return port_nr_woken;
}

/* Drivers that send no event of the port. */
static void ends_are_checked_when_the_state_changes(struct kunit *test)
{
	struct net_device *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_EQ(test, port_notify(test, init_net.loopback_dev, NETDEV_CHANGE), 1);
	KUNIT_EXPECT_EQ(test, port_notify(test, init_net.loopback_dev, NETDEV_DOWN), 1);
	KUNIT_EXPECT_EQ(test, port_notify(test, init_net.loopback_dev, NETDEV_UP), 1);
	KUNIT_EXPECT_EQ(test, port_notify(test, init_net.loopback_dev, NETDEV_CHANGEMTU), 1);
	KUNIT_EXPECT_EQ(test, port_notify(test, init_net.loopback_dev, NETDEV_CHANGENAME), 0);
	KUNIT_EXPECT_EQ(test, port_notify(test, other, NETDEV_CHANGE), 0);
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(ends_are_checked_when_the_state_changes),
	KUNIT_CASE(a_change_does_not_wait_for_short_writes),
	KUNIT_CASE(changes_in_a_row_wait_for_a_limited_time),
	KUNIT_CASE(a_change_on_an_adapter_holds_rtnl_for_a_fifth_of_that),
	{}
};

static struct kunit_suite port_suite = {
	.name = "smc_port",
	.init = port_init,
	.test_cases = port_cases,
};

kunit_test_suite(port_suite);
