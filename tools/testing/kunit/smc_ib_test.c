// SPDX-License-Identifier: GPL-2.0
/*
 * GIDs of a port, and events of its device. Device, network device and table of GIDs are faked.
 */
#include "smc_kunit.h"

/* other suites have these as fakes */
#define smc_ib_changes		ib_changes
#define smc_ib_end_copy		ib_end_copy
#define smc_ib_end_ifindex	ib_end_ifindex
#define smc_ib_end_is_at	ib_end_is_at
#define smc_ib_end_is_dead	ib_end_is_dead
#define smc_ib_end_is_up	ib_end_is_up
#define smc_ib_end_mtu		ib_end_mtu
#define smc_ib_end_net		ib_end_net
#define smc_ib_end_put		ib_end_put
#define smc_ib_end_reaches	ib_end_reaches
#define smc_ib_end_serves	ib_end_serves
#define smc_ib_find		ib_find
#define smc_ib_find_routed	ib_find_routed
#define smc_ib_has_device	ib_has_device
#define smc_ib_has_unfit	ib_has_unfit
#define smc_ib_lan_ends		ib_lan_ends
#define smc_ib_lan_of		ib_lan_of
#define smc_ib_listen		ib_listen
#define smc_ib_local_mac	ib_local_mac

#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>

#include "smc_compat.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_netdev.h"

#define IB_TEST_GIDS	8

/**
 * struct ib_lab - a device with one port
 * @ibdev: the device
 * @dev: the same for the module
 * @port_data: of @ibdev
 * @ndev: the port's network device
 * @gid: its table
 * @has_gid: which entries are valid
 * @nr_held: references on entries
 * @end: a local end with one of the GIDs
 * @watch: of that
 * @nr_checks: times its work item ran
 * @flow_label: of the last queue pair that was connected
 */
struct ib_lab {
	struct ib_device *ibdev;
	struct smc_ib_dev dev;
	struct ib_port_data port_data[2];
	struct net_device *ndev;
	struct ib_gid_attr gid[IB_TEST_GIDS];
	bool has_gid[IB_TEST_GIDS];
	int nr_held;
	struct smc_ib_end end;
	struct smc_ib_watch watch;
	atomic_t nr_checks;
	u32 flow_label;
};

static struct ib_lab *ib_lab;

static struct net_device *ib_netdev(struct ib_device *ibdev, u8 port)
{
	dev_hold(ib_lab->ndev);
	return ib_lab->ndev;
}

static const struct ib_gid_attr *ib_get_attr(struct ib_device *ibdev, u32 port, int index)
{
	if (!ib_lab->has_gid[index])
		return ERR_PTR(-ENODATA);
	ib_lab->nr_held++;
	return &ib_lab->gid[index];
}

static int ib_read_l2(const struct ib_gid_attr *attr, u16 *vlan, u8 *mac)
{
	if (mac)
		eth_zero_addr(mac);
	return 0;
}

static struct net_device ib_upper, ib_other;	/* the first is above the port's */

static void ib_get_stack(struct smc_netdev_stack *stack, struct net_device *top)
{
	stack->nr = 1;
	stack->level[0].ndev = top;
	if (top == &ib_upper)
		stack->level[stack->nr++].ndev = ib_lab->ndev;
}

static void ib_view_dev(struct smc_ib_dev *dev, struct smc_ib_view *view)
{
	view->serial = dev->serial;
	view->lack = dev->lack;
}

static int ib_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	ib_lab->flow_label = rdma_ah_read_grh(&attr->ah_attr)->flow_label;
	return 0;
}

#define ib_modify_qp			ib_modify
#define rdma_destroy_ah_attr(attr)	((void)(attr), (void)ib_lab->nr_held--)
#define ib_set_client_data(...)		((void)0)
#define ib_register_event_handler(...)	((void)0)
#define ib_unregister_event_handler(...)	((void)0)
#define smc_netdev_get_stack		ib_get_stack
#define smc_netdev_put_stack(stack)	((stack)->nr = 0)
#define smc_netdev_of_port		ib_netdev
#define rdma_get_gid_attr		ib_get_attr
#define rdma_put_gid_attr(attr)		((void)(attr), (void)ib_lab->nr_held--)
#define rdma_read_gid_l2_fields		ib_read_l2
#define smc_ib_view_dev			ib_view_dev

#include "../../../net/smc/rdma/smc_ib_watch.c"
#include "../../../net/smc/rdma/smc_ib.c"

static void ib_check(struct work_struct *work)
{
	atomic_inc(&ib_lab->nr_checks);
}

static void ib_add_gid(unsigned int i, u8 last)
{
	ib_lab->gid[i].gid.raw[15] = last;
	ib_lab->gid[i].gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	ib_lab->has_gid[i] = true;
}

static void ib_happen(enum ib_event_type type)
{
	struct ib_event event = { .event = type };

	smc_ib_event(&ib_lab->dev.handler, &event);
}

static int ib_test_init(struct kunit *test)
{
	struct ib_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	if (!lab)
		return -ENOMEM;
	ib_lab = lab;
	lab->ibdev = kunit_kzalloc(test, sizeof(*lab->ibdev), GFP_KERNEL);
	if (!lab->ibdev)
		return -ENOMEM;
	lab->port_data[1].immutable.gid_tbl_len = IB_TEST_GIDS;
	lab->ibdev->port_data = lab->port_data;
	lab->ndev = init_net.loopback_dev;
	spin_lock_init(&lab->dev.lock);
	INIT_LIST_HEAD(&lab->dev.watches);
	atomic_set(&lab->dev.gid_changes, 1);
	lab->dev.ibdev = lab->ibdev;
	lab->dev.nr_ports = 1;
	lab->end.dev = &lab->dev;
	lab->end.port = 1;
	lab->end.is_v2 = true;
	lab->end.gid.raw[15] = 7;
	lab->watch.end = &lab->end;
	INIT_DELAYED_WORK(&lab->watch.work, ib_check);
	ib_add_gid(0, 1);
	ib_add_gid(1, 7);
	return 0;
}

static void ib_test_exit(struct kunit *test)
{
	if (!ib_lab)
		return;
	KUNIT_EXPECT_EQ(test, ib_lab->nr_held, 0);
	ib_lab = NULL;
}

/* Queue pairs refer to the old entry, which nothing else sees. */
static void a_gid_may_come_back_at_another_place(struct kunit *test)
{
	rtnl_lock();
	KUNIT_ASSERT_EQ(test, dev_open(ib_lab->ndev, NULL), 0);
	rtnl_unlock();
	KUNIT_EXPECT_TRUE(test, smc_ib_end_is_up(&ib_lab->end));
	ib_lab->has_gid[1] = false;
	ib_happen(IB_EVENT_GID_CHANGE);
	KUNIT_EXPECT_FALSE(test, smc_ib_end_is_up(&ib_lab->end));
	KUNIT_EXPECT_TRUE(test, smc_ib_end_is_active(&ib_lab->end));
	ib_add_gid(4, 7);
	ib_happen(IB_EVENT_GID_CHANGE);
	KUNIT_EXPECT_TRUE(test, smc_ib_end_is_up(&ib_lab->end));
	/* not of another kind */
	ib_lab->gid[4].gid_type = IB_GID_TYPE_ROCE;
	KUNIT_EXPECT_FALSE(test, smc_ib_end_is_up(&ib_lab->end));
	ib_lab->gid[4].gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
	ib_lab->end.vlan = 10;
	KUNIT_EXPECT_FALSE(test, smc_ib_end_is_up(&ib_lab->end));
}

static void ib_expect_checks(struct kunit *test, int nr)
{
	flush_delayed_work(&ib_lab->watch.work);
	KUNIT_EXPECT_EQ(test, atomic_read(&ib_lab->nr_checks), nr);
}

static void events_have_the_ends_checked(struct kunit *test)
{
	int changes = smc_ib_changes();

	KUNIT_ASSERT_EQ(test, smc_ib_start_watch(&ib_lab->watch), 0);
	ib_expect_checks(test, 1);
	ib_happen(IB_EVENT_GID_CHANGE);
	ib_expect_checks(test, 2);
	KUNIT_EXPECT_EQ(test, smc_ib_changes(), changes + 1);
	/* its network device tells */
	ib_happen(IB_EVENT_PORT_ERR);
	ib_expect_checks(test, 2);
	/* a check that is due later */
	schedule_delayed_work(&ib_lab->watch.work, 1000 * HZ);
	ib_happen(IB_EVENT_DEVICE_FATAL);
	KUNIT_EXPECT_FALSE(test, timer_pending(&ib_lab->watch.work.timer));
	ib_expect_checks(test, 3);
	KUNIT_EXPECT_TRUE(test, smc_ib_end_is_dead(&ib_lab->end));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ib_lab->watch.work));
	schedule_delayed_work(&ib_lab->watch.work, 1000 * HZ);
	smc_ib_unwatch(&ib_lab->watch);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&ib_lab->watch.work));
	ib_lab->dev.is_leaving = true;
	KUNIT_EXPECT_EQ(test, smc_ib_start_watch(&ib_lab->watch), -ENODEV);
}

/* Else a network with several ways uses one of them for all links between two hosts. */
static void each_link_has_a_flow_label(struct kunit *test)
{
	static const struct smc_ib_class class = {};
	struct ib_qp qp = { .device = ib_lab->ibdev, .qp_num = 0x101 };
	struct smc_ib_peer peer = {
		.qpn = 0x201, .mtu = IB_MTU_1024, .mac = { 2, 0, 0, 0, 0, 1 },
	};
	u32 first;

	memcpy(peer.gid, ib_lab->end.gid.raw, sizeof(peer.gid));
	peer.gid[15] = 8;
	ib_lab->end.mtu = IB_MTU_1024;
	KUNIT_ASSERT_EQ(test, smc_ib_qp_rtr(&qp, &ib_lab->end, &peer, &class), 0);
	first = ib_lab->flow_label;
	KUNIT_EXPECT_NE(test, first, 0U);
	peer.qpn++;
	KUNIT_ASSERT_EQ(test, smc_ib_qp_rtr(&qp, &ib_lab->end, &peer, &class), 0);
	KUNIT_EXPECT_NE(test, ib_lab->flow_label, 0U);
	KUNIT_EXPECT_NE(test, ib_lab->flow_label, first);
}

/* Or each connection would find it out, after a Proposal. */
static void a_device_that_lacks_something_is_shown_and_not_used(struct kunit *test)
{
	struct smc_ib_view view;
	struct smc_ib_dev *dev;

	/* it speaks RoCE, and has no limits that suffice */
	ib_lab->port_data[1].immutable.core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	ib_lab->ibdev->phys_port_cnt = 1;
	KUNIT_EXPECT_FALSE(test, smc_ib_has_unfit(NULL));
	KUNIT_ASSERT_EQ(test, smc_ib_add(ib_lab->ibdev), 0);
	KUNIT_EXPECT_FALSE(test, smc_ib_has_device());
	scoped_guard(rcu)
		KUNIT_EXPECT_NULL(test, smc_ib_next_dev(NULL));
	KUNIT_EXPECT_FALSE(test, smc_ib_next_view(&init_net, false, 0, &view));

	KUNIT_ASSERT_TRUE(test, smc_ib_next_view(&init_net, true, 0, &view));
	KUNIT_EXPECT_EQ(test, view.lack, SMC_CAP_LACKS_VERBS);
	KUNIT_EXPECT_EQ(test, view.port[0].ifindex, ib_lab->ndev->ifindex);
	KUNIT_EXPECT_FALSE(test, view.port[0].is_active);
	KUNIT_EXPECT_FALSE(test, smc_ib_next_view(&init_net, true, view.serial, &view));
	KUNIT_EXPECT_TRUE(test, smc_ib_has_unfit(NULL));
	KUNIT_EXPECT_TRUE(test, smc_ib_has_unfit(ib_lab->ndev));
	KUNIT_EXPECT_TRUE(test, smc_ib_has_unfit(&ib_upper));
	KUNIT_EXPECT_FALSE(test, smc_ib_has_unfit(&ib_other));

	dev = list_first_entry(&smc_ib_unfit_devices, struct smc_ib_dev, list);
	smc_ib_remove(ib_lab->ibdev, dev);
	KUNIT_EXPECT_FALSE(test, smc_ib_has_unfit(NULL));
}

/* Links on it end, and nothing finds it, until it is started. */
static void a_stopped_device_is_shown_and_not_used(struct kunit *test)
{
	struct smc_ib_dev *dev = &ib_lab->dev;
	struct smc_ib_view view;

	ib_lab->ibdev->dev.init_name = "rxe0";
	scoped_guard(rwsem_write, &smc_ib_devices_lock)
		smc_ib_enlist(dev);
	KUNIT_ASSERT_EQ(test, smc_ib_start_watch(&ib_lab->watch), 0);
	ib_expect_checks(test, 1);
	KUNIT_EXPECT_EQ(test, smc_ib_start(&init_net, "rxe0"), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_ib_stop(&init_net, "rxe1"), -ENOENT);
	KUNIT_EXPECT_FALSE(test, smc_ib_end_is_leaving(&ib_lab->end));

	KUNIT_ASSERT_EQ(test, smc_ib_stop(&init_net, "rxe0"), 0);
	ib_expect_checks(test, 2);
	KUNIT_EXPECT_TRUE(test, smc_ib_end_is_leaving(&ib_lab->end));
	KUNIT_EXPECT_TRUE(test, smc_ib_end_is_dead(&ib_lab->end));
	KUNIT_EXPECT_FALSE(test, smc_ib_has_device());
	KUNIT_ASSERT_TRUE(test, smc_ib_next_view(&init_net, true, 0, &view));
	KUNIT_EXPECT_EQ(test, view.lack, SMC_CAP_LACKS_OPERATOR);
	KUNIT_EXPECT_EQ(test, smc_ib_stop(&init_net, "rxe0"), -ENOENT);
	smc_ib_unwatch(&ib_lab->watch);
	KUNIT_EXPECT_EQ(test, smc_ib_start_watch(&ib_lab->watch), -ENODEV);

	KUNIT_ASSERT_EQ(test, smc_ib_start(&init_net, "rxe0"), 0);
	KUNIT_EXPECT_TRUE(test, smc_ib_has_device());
	KUNIT_EXPECT_FALSE(test, smc_ib_end_is_dead(&ib_lab->end));
	KUNIT_EXPECT_FALSE(test, smc_ib_next_view(&init_net, true, 0, &view));
	KUNIT_EXPECT_EQ(test, smc_ib_start_watch(&ib_lab->watch), 0);
	smc_ib_unwatch(&ib_lab->watch);
	/* a fatal error is not undone */
	ib_happen(IB_EVENT_DEVICE_FATAL);
	KUNIT_ASSERT_EQ(test, smc_ib_stop(&init_net, "rxe0"), 0);
	KUNIT_ASSERT_EQ(test, smc_ib_start(&init_net, "rxe0"), 0);
	KUNIT_EXPECT_TRUE(test, smc_ib_end_is_dead(&ib_lab->end));
	scoped_guard(rwsem_write, &smc_ib_devices_lock)
		list_del_rcu(&dev->list);
}

static struct kunit_case ib_cases[] = {
	KUNIT_CASE(a_device_that_lacks_something_is_shown_and_not_used),
	KUNIT_CASE(a_stopped_device_is_shown_and_not_used),
	KUNIT_CASE(a_gid_may_come_back_at_another_place),
	KUNIT_CASE(events_have_the_ends_checked),
	KUNIT_CASE(each_link_has_a_flow_label),
	{}
};

static struct kunit_suite ib_suite = {
	.name = "smc_ib",
	.init = ib_test_init,
	.exit = ib_test_exit,
	.test_cases = ib_cases,
};

kunit_test_suite(ib_suite);
