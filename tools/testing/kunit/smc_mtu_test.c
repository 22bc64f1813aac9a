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

static struct smc_ib_dev mtu_dev;
static struct smc_wr_slot mtu_slot;
static unsigned int mtu_nr_looks, mtu_nr_woken, mtu_nr_rechecks;
static bool mtu_is_soft;

static struct smc_ib_dev *mtu_next_dev(struct smc_ib_dev *prev)
{
	return prev ? NULL : &mtu_dev;
}

static struct net_device *mtu_netdev(struct ib_device *ibdev, u8 port)
{
	struct net_device *ndev = init_net.loopback_dev;

	dev_hold(ndev);
	return ndev;
}

#define smc_netdev_of_port mtu_netdev
#define smc_ib_next_dev mtu_next_dev
#define smc_ib_recheck() ((void)mtu_nr_rechecks++)
#define smc_ib_wake(...) ((void)mtu_nr_woken++)
#define ib_uses_virt_dma(...) mtu_is_soft
#define smc_wr_await(...) ((void)mtu_nr_looks++)
#define smc_wr_fit(...) ((void)0)

#include "../../../net/smc/rdma/smc_mtu.c"

static int mtu_init(struct kunit *test)
{
	struct smc_wr *wr = kunit_kzalloc(test, sizeof(*wr), GFP_KERNEL);

	if (!wr)
		return -ENOMEM;
	mtu_dev.nr_ports = 1;
	spin_lock_init(&mtu_dev.lock);
	INIT_LIST_HEAD(&mtu_dev.watches);
	wr->end.port = 1;
	wr->slots = &mtu_slot;
	wr->nr_slots = 1;
	set_bit(SMC_WR_IS_OPEN, &wr->flags);
	list_add(&wr->watch.node, &mtu_dev.watches);
	mtu_slot.is_posted = true;
	mtu_slot.nr_bytes = SMC_MTU_SHORT + 1;
	smc_mtu_next_wait = 0;
	mtu_is_soft = true;
	return 0;
}

/* Return: how often a change of MTU looked whether the writes have completed. */
static unsigned int mtu_change(void)
{
	mtu_nr_looks = 0;
	rtnl_lock();
	smc_mtu_prepare(init_net.loopback_dev);
	rtnl_unlock();
	return mtu_nr_looks;
}

static void a_change_does_not_wait_for_short_writes(struct kunit *test)
{
	mtu_slot.nr_bytes = SMC_MTU_SHORT;
	KUNIT_EXPECT_EQ(test, mtu_change(), 0);
	KUNIT_EXPECT_EQ(test, mtu_change(), 0);
	/* and uses up nothing */
	mtu_slot.nr_bytes = SMC_MTU_SHORT + 1;
	KUNIT_EXPECT_GT(test, mtu_change(), 1);
}

/* RTNL belongs to the whole host, and the owner of any namespace may change an MTU. */
static void changes_in_a_row_wait_for_a_limited_time(struct kunit *test)
{
	u64 used = SMC_MTU_SHARE * msecs_to_jiffies(SMC_MTU_WAIT_SOFT_MS);
	unsigned int i;

	for (i = 0; i < SMC_MTU_SAVED_MS / SMC_MTU_WAIT_SOFT_MS; i++)
		KUNIT_EXPECT_GT(test, mtu_change(), 1);
	/* what is saved is used up, or one more time at most */
	mtu_change();
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, mtu_change(), 0);
	/* time has passed */
	smc_mtu_next_wait -= 2 * used;
	KUNIT_EXPECT_GT(test, mtu_change(), 1);
}

/* An adapter that has no answer by then is stopped by pause frames, or has lost its path. */
static void a_change_on_an_adapter_holds_rtnl_for_a_fifth_of_that(struct kunit *test)
{
	unsigned int i;

	mtu_is_soft = false;
	for (i = 0; i < SMC_MTU_SAVED_MS / SMC_MTU_WAIT_SOFT_MS + 3; i++)
		KUNIT_EXPECT_GT(test, mtu_change(), 1);
}

/* Return: how many ends were checked; as often groups looked for ports. */
static unsigned int mtu_notify(struct kunit *test, struct net_device *ndev, unsigned long event)
{
	struct netdev_notifier_info info = { .dev = ndev };

	mtu_nr_woken = 0;
	mtu_nr_rechecks = 0;
	smc_mtu_event(NULL, event, &info);
	KUNIT_EXPECT_EQ(test, mtu_nr_rechecks, mtu_nr_woken);
	return mtu_nr_woken;
}

/* Drivers that send no event of the port. */
static void ends_are_checked_when_the_state_changes(struct kunit *test)
{
	struct net_device *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_EQ(test, mtu_notify(test, init_net.loopback_dev, NETDEV_CHANGE), 1);
	KUNIT_EXPECT_EQ(test, mtu_notify(test, init_net.loopback_dev, NETDEV_DOWN), 1);
	KUNIT_EXPECT_EQ(test, mtu_notify(test, init_net.loopback_dev, NETDEV_UP), 1);
	KUNIT_EXPECT_EQ(test, mtu_notify(test, init_net.loopback_dev, NETDEV_CHANGEMTU), 1);
	KUNIT_EXPECT_EQ(test, mtu_notify(test, init_net.loopback_dev, NETDEV_CHANGENAME), 0);
	KUNIT_EXPECT_EQ(test, mtu_notify(test, other, NETDEV_CHANGE), 0);
}

static struct kunit_case mtu_cases[] = {
	KUNIT_CASE(ends_are_checked_when_the_state_changes),
	KUNIT_CASE(a_change_does_not_wait_for_short_writes),
	KUNIT_CASE(changes_in_a_row_wait_for_a_limited_time),
	KUNIT_CASE(a_change_on_an_adapter_holds_rtnl_for_a_fifth_of_that),
	{}
};

static struct kunit_suite mtu_suite = {
	.name = "smc_mtu",
	.init = mtu_init,
	.test_cases = mtu_cases,
};

kunit_test_suite(mtu_suite);
