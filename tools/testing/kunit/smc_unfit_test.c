// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices that cannot carry links: they are shown with the reason, and found below a network
 * device.
 */
#include "smc_kunit.h"

#include "../../../net/smc/smc_compat.h"
#include "../../../net/smc/rdma/smc_ib.h"
#include "../../../net/smc/rdma/smc_netdev.h"

static enum smc_cap_lack unfit_lack;	/* of the next device */
static void *unfit_data;		/* of the last device */
static struct net_device unfit_ndev[3];	/* the last one is above the first */

static void unfit_set_data(struct ib_device *ibdev, struct ib_client *client, void *data)
{
	unfit_data = data;
}

/* The first device has one port, the other one none. */
static struct net_device *unfit_netdev(struct ib_device *ibdev, u32 port)
{
	return strcmp(ibdev->name, "erdma_0") || port > 1 ? NULL : &unfit_ndev[0];
}

static void unfit_get_stack(struct smc_netdev_stack *stack, struct net_device *top)
{
	stack->nr = 1;
	stack->level[0].ndev = top;
	if (top == &unfit_ndev[2])
		stack->level[stack->nr++].ndev = &unfit_ndev[0];
}

static void unfit_view_names(const struct ib_device *ibdev, struct smc_ib_view *view)
{
	strscpy(view->name, ibdev->name, sizeof(view->name));
}

#define smc_cap_lack(...)	unfit_lack
#define ib_set_client_data	unfit_set_data
#define smc_compat_ib_netdev	unfit_netdev
#define smc_netdev_get_stack	unfit_get_stack
#define smc_netdev_put_stack(stack)	((stack)->nr = 0)
#define smc_ib_view_names	unfit_view_names
#define rdma_dev_access_netns(...)	true
#define dev_put(ndev)		((void)(ndev))

#include "../../../net/smc/rdma/smc_unfit.c"

static struct ib_device *unfit_new(struct kunit *test, const char *name)
{
	struct ib_device *ibdev = kunit_kzalloc(test, sizeof(*ibdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ibdev);
	strscpy(ibdev->name, name, sizeof(ibdev->name));
	ibdev->phys_port_cnt = 3;
	return ibdev;
}

static void a_device_that_lacks_something_is_shown_and_not_used(struct kunit *test)
{
	struct ib_device *ibdev[2] = { unfit_new(test, "erdma_0"), unfit_new(test, "siw0") };
	struct smc_ib_view view;
	void *data[2];
	int i;

	write_pnet(&unfit_ndev[0].nd_net, &init_net);
	unfit_ndev[0].ifindex = 7;
	unfit_lack = SMC_CAP_LACKS_NOTHING;
	KUNIT_EXPECT_EQ(test, smc_unfit_add(ibdev[0]), -EOPNOTSUPP);
	KUNIT_EXPECT_FALSE(test, smc_unfit_next_view(&init_net, 0, &view));
	KUNIT_EXPECT_FALSE(test, smc_unfit_is_below(NULL));
	for (i = 0; i < 2; i++) {
		unfit_lack = i ? SMC_CAP_LACKS_IWARP : SMC_CAP_LACKS_SGE;
		KUNIT_ASSERT_EQ(test, smc_unfit_add(ibdev[i]), 0);
		data[i] = unfit_data;
	}
	KUNIT_ASSERT_TRUE(test, smc_unfit_next_view(&init_net, 0, &view));
	KUNIT_EXPECT_STREQ(test, view.name, "erdma_0");
	KUNIT_EXPECT_EQ(test, view.lack, SMC_CAP_LACKS_SGE);
	KUNIT_EXPECT_EQ(test, view.nr_ports, SMC_IB_MAX_PORTS);
	KUNIT_EXPECT_EQ(test, view.port[0].ifindex, 7);
	KUNIT_EXPECT_EQ(test, view.port[1].ifindex, 0);
	KUNIT_ASSERT_TRUE(test, smc_unfit_next_view(&init_net, view.serial, &view));
	KUNIT_EXPECT_STREQ(test, view.name, "siw0");
	KUNIT_EXPECT_FALSE(test, smc_unfit_next_view(&init_net, view.serial, &view));

	KUNIT_EXPECT_TRUE(test, smc_unfit_is_below(NULL));
	KUNIT_EXPECT_TRUE(test, smc_unfit_is_below(&unfit_ndev[0]));
	KUNIT_EXPECT_FALSE(test, smc_unfit_is_below(&unfit_ndev[1]));
	KUNIT_EXPECT_TRUE(test, smc_unfit_is_below(&unfit_ndev[2]));

	smc_unfit_remove(ibdev[0], data[0]);
	KUNIT_EXPECT_FALSE(test, smc_unfit_is_below(&unfit_ndev[0]));
	KUNIT_ASSERT_TRUE(test, smc_unfit_next_view(&init_net, 0, &view));
	KUNIT_EXPECT_STREQ(test, view.name, "siw0");
	smc_unfit_remove(ibdev[1], data[1]);
	KUNIT_EXPECT_FALSE(test, smc_unfit_is_below(NULL));
}

static struct kunit_case smc_unfit_cases[] = {
	KUNIT_CASE(a_device_that_lacks_something_is_shown_and_not_used),
	{}
};

static struct kunit_suite smc_unfit_suite = {
	.name = "smc_unfit",
	.test_cases = smc_unfit_cases,
};

kunit_test_suite(smc_unfit_suite);
