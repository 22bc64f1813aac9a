// SPDX-License-Identifier: GPL-2.0
/*
 * Stacks of network devices: the order in which the devices below another are visited, and
 * the VLAN of each (LG-04, SEC-01). The devices are real and idle; a VLAN device is only
 * marked as one.
 */
#include <linux/etherdevice.h>
#include <linux/rtnetlink.h>

#include "smc_kunit.h"
#include "smc_compat.h"

/* The network device of the port. */
static struct net_device *stack_port;

static struct net_device *stack_port_netdev(struct ib_device *ibdev, u32 port)
{
	dev_hold(stack_port);
	return stack_port;
}

#define smc_compat_ib_netdev stack_port_netdev

#include "../../../net/smc/rdma/smc_netdev.c"

#define STACK_DEVS	12

static netdev_tx_t stack_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops stack_ops = { .ndo_start_xmit = stack_xmit };

/* Devices with their VLAN numbers, links from upper to lower devices. */
struct stack_case {
	const char *what;
	u16 vlan[STACK_DEVS];
	bool is_ad;			/* all VLANs are of 802.1ad */
	struct {
		u8 upper, lower;	/* from 1, 0 ends the list */
	} link[STACK_DEVS];
	struct {
		u8 dev;			/* from 1, 0 ends the list */
		u16 vlan;
		bool is_unusable;
	} want[SMC_NETDEV_LEVELS_MAX + 1];
};

static const struct stack_case stack_cases[] = {
	{
		"a device by itself",
		.want = { { 1 } },
	}, {
		"LG-04: a VLAN, and the device below it in that VLAN",
		.vlan = { 10 },
		.link = { { 1, 2 } },
		.want = { { 1, 10 }, { 2, 10 } },
	}, {
		"a VLAN above the device of the route is not its own",
		.vlan = { 0, 10 },
		.link = { { 2, 1 } },
		.want = { { 1 } },
	}, {
		"a bond of two, before both",
		.link = { { 1, 2 }, { 1, 3 } },
		.want = { { 1 }, { 2 }, { 3 } },
	}, {
		"a VLAN of a bond",
		.vlan = { 20 },
		.link = { { 2, 3 }, { 2, 4 }, { 1, 2 } },
		.want = { { 1, 20 }, { 2, 20 }, { 3, 20 }, { 4, 20 } },
	}, {
		"SEC-01: a macvlan above a VLAN, tagged below that only",
		.vlan = { 0, 30 },
		.link = { { 2, 3 }, { 1, 2 } },
		.want = { { 1 }, { 2, 30 }, { 3, 30 } },
	}, {
		"SEC-01: a bridge of a VLAN and another device",
		.vlan = { 0, 40, 0 },
		.link = { { 2, 4 }, { 1, 2 }, { 1, 3 } },
		.want = { { 1 }, { 2, 40 }, { 3 }, { 4, 40 } },
	}, {
		"SEC-01: a bridge of two VLANs of one device: nobody knows which",
		.vlan = { 0, 50, 51 },
		.link = { { 2, 4 }, { 3, 4 }, { 1, 2 }, { 1, 3 } },
		.want = { { 1 }, { 2, 50 }, { 3, 51 }, { 4, 50, true } },
	}, {
		"SEC-01: a bridge of a bond and of a VLAN of it, the bond first",
		.vlan = { 0, 55 },
		.link = { { 2, 3 }, { 3, 4 }, { 3, 5 }, { 1, 3 }, { 1, 2 } },
		.want = { { 1 }, { 3, 0, true }, { 2, 55 }, { 4, 0, true }, { 5, 0, true } },
	}, {
		"SEC-01: a bridge of a bond and of a VLAN of it, the VLAN first",
		.vlan = { 0, 55 },
		.link = { { 1, 2 }, { 1, 3 }, { 2, 3 }, { 3, 4 }, { 3, 5 } },
		.want = { { 1 }, { 2, 55 }, { 3, 0, true }, { 4, 0, true }, { 5, 0, true } },
	}, {
		"SEC-01: what is below is known to be unusable at the second look only",
		.vlan = { 0, 56 },
		.link = { { 2, 3 }, { 4, 5 }, { 3, 4 }, { 1, 4 }, { 1, 2 } },
		.want = { { 1 }, { 4, 0, true }, { 2, 56 }, { 5, 0, true }, { 3, 56 } },
	}, {
		"SEC-01: a VLAN in a VLAN has no port below it",
		.vlan = { 70, 71 },
		.link = { { 2, 3 }, { 1, 2 } },
		.want = { { 1, 70 }, { 2, 71, true }, { 3, 71, true } },
	}, {
		"SEC-01: RoCE has no tags of 802.1ad",
		.vlan = { 80 }, .is_ad = true,
		.link = { { 1, 2 } },
		.want = { { 1, 80, true }, { 2, 80, true } },
	}, {
		"two ways, one answer",
		.link = { { 2, 4 }, { 3, 4 }, { 1, 2 }, { 1, 3 } },
		.want = { { 1 }, { 2 }, { 3 }, { 4 } },
	}, {
		"more than fit: the nearest",
		.link = { { 1, 2 }, { 1, 3 }, { 1, 4 }, { 1, 5 }, { 1, 6 }, { 1, 7 }, { 1, 8 },
			  { 1, 9 }, { 1, 10 } },
		.want = { { 1 }, { 2 }, { 3 }, { 4 }, { 5 }, { 6 }, { 7 }, { 8 } },
	}, {
		"SEC-01: a VLAN that does not fit, of a device that does",
		.vlan = { 0, 90 },
		.link = { { 1, 3 }, { 1, 4 }, { 1, 5 }, { 1, 6 }, { 1, 7 }, { 1, 8 }, { 3, 9 },
			  { 1, 10 }, { 1, 2 }, { 2, 3 } },
		.want = { { 1 }, { 3, 0, true }, { 4 }, { 5 }, { 6 }, { 7 }, { 8 }, { 10 } },
	}, {
		"a device that does not fit, with others below, has none of those that do",
		.link = { { 2, 11 }, { 1, 3 }, { 1, 4 }, { 1, 5 }, { 1, 6 }, { 1, 7 }, { 1, 8 },
			  { 1, 9 }, { 1, 2 } },
		.want = { { 1 }, { 3 }, { 4 }, { 5 }, { 6 }, { 7 }, { 8 }, { 9 } },
	},
};

KUNIT_ARRAY_PARAM_DESC(stack, stack_cases, what);

struct stack_devs {
	struct net_device *dev[STACK_DEVS];
};

/* Mark a device as a VLAN, or not: only the tables of 8021q would notice. */
static void stack_set_vlan(struct net_device *ndev, u16 vlan, bool is_ad)
{
	struct vlan_dev_priv *vdev = netdev_priv(ndev);

	vdev->vlan_id = vlan;
	vdev->vlan_proto = htons(is_ad ? ETH_P_8021AD : ETH_P_8021Q);
	if (vlan)
		ndev->priv_flags |= IFF_802_1Q_VLAN;
	else
		ndev->priv_flags &= ~IFF_802_1Q_VLAN;
}

static void stack_remove(void *ctx)
{
	struct stack_devs *devs = ctx;
	int i, k;

	rtnl_lock();
	for (i = 0; i < STACK_DEVS; i++) {
		if (!devs->dev[i])
			continue;
		stack_set_vlan(devs->dev[i], 0, false);
		for (k = 0; k < STACK_DEVS; k++)
			if (devs->dev[k] && netdev_has_upper_dev(devs->dev[k], devs->dev[i]))
				netdev_upper_dev_unlink(devs->dev[k], devs->dev[i]);
	}
	for (i = 0; i < STACK_DEVS; i++)
		if (devs->dev[i])
			unregister_netdevice(devs->dev[i]);
	rtnl_unlock();
}

static void stack_setup(struct net_device *ndev)
{
	ether_setup(ndev);
	ndev->netdev_ops = &stack_ops;
	ndev->needs_free_netdev = true;
	eth_hw_addr_random(ndev);
}

static int stack_add(struct stack_devs *devs, int i)
{
	struct net_device *ndev = alloc_netdev(sizeof(struct vlan_dev_priv), "smcstack%d",
					       NET_NAME_ENUM, stack_setup);

	if (!ndev)
		return -ENOMEM;
	if (register_netdev(ndev)) {
		free_netdev(ndev);
		return -ENODEV;
	}
	devs->dev[i] = ndev;
	return 0;
}

static struct stack_devs *stack_make(struct kunit *test, const struct stack_case *c)
{
	struct stack_devs *devs;
	unsigned int i;

	devs = kunit_kzalloc(test, sizeof(*devs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, devs);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stack_remove, devs), 0);
	for (i = 0; i < STACK_DEVS; i++)
		KUNIT_ASSERT_EQ(test, stack_add(devs, i), 0);
	rtnl_lock();
	for (i = 0; c->link[i].upper; i++)
		KUNIT_EXPECT_EQ(test, netdev_upper_dev_link(devs->dev[c->link[i].lower - 1],
							    devs->dev[c->link[i].upper - 1],
							    NULL), 0);
	for (i = 0; i < STACK_DEVS; i++)
		stack_set_vlan(devs->dev[i], c->vlan[i], c->is_ad);
	rtnl_unlock();
	return devs;
}

static void lg_04_stack(struct kunit *test)
{
	const struct stack_case *c = test->param_value;
	struct stack_devs *devs = stack_make(test, c);
	struct smc_netdev_stack stack;
	unsigned int i;

	smc_netdev_get_stack(&stack, devs->dev[0]);
	for (i = 0; i < stack.nr && c->want[i].dev; i++) {
		KUNIT_EXPECT_PTR_EQ_MSG(test, stack.level[i].ndev,
					devs->dev[c->want[i].dev - 1], "level %u", i);
		KUNIT_EXPECT_EQ_MSG(test, stack.level[i].is_usable, !c->want[i].is_unusable,
				    "level %u", i);
		if (!c->want[i].is_unusable)
			KUNIT_EXPECT_EQ_MSG(test, stack.level[i].vlan, c->want[i].vlan,
					    "level %u", i);
	}
	KUNIT_EXPECT_EQ(test, i, stack.nr);
	KUNIT_EXPECT_EQ(test, c->want[i].dev, 0);
	smc_netdev_put_stack(&stack);
	KUNIT_EXPECT_EQ(test, stack.nr, 0);
}

/* Move a device to a namespace, in the lists only. */
static void stack_move(struct net_device *ndev, struct net *net)
{
	rtnl_lock();
	list_del_rcu(&ndev->dev_list);
	synchronize_net();
	list_add_tail_rcu(&ndev->dev_list, &net->dev_base_head);
	rtnl_unlock();
}

/* Device 1 is a VLAN above 2 and the port 3; 4 is another port. */
static void sec_01_port_below_an_interface_of_the_namespace(struct kunit *test)
{
	static const struct stack_case c = {
		.vlan = { 10 }, .link = { { 1, 2 }, { 2, 3 } },
	};
	struct stack_devs *devs = stack_make(test, &c);
	struct net_device *port = devs->dev[2], *other = devs->dev[3];
	struct net *net = kunit_kzalloc(test, sizeof(*net), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, net);
	INIT_LIST_HEAD(&net->dev_base_head);
	KUNIT_EXPECT_TRUE(test, smc_netdev_is_below(&init_net, port, 0));
	KUNIT_EXPECT_TRUE(test, smc_netdev_is_below(&init_net, port, 10));
	KUNIT_EXPECT_FALSE(test, smc_netdev_is_below(&init_net, port, 11));
	KUNIT_EXPECT_TRUE(test, smc_netdev_is_below(&init_net, other, 0));
	KUNIT_EXPECT_FALSE(test, smc_netdev_is_below(&init_net, other, 10));

	/* a container without an interface, then with that of the VLAN */
	KUNIT_EXPECT_FALSE(test, smc_netdev_is_below(net, port, 0));
	KUNIT_EXPECT_FALSE(test, smc_netdev_is_below(net, port, 10));
	stack_move(devs->dev[0], net);
	KUNIT_EXPECT_TRUE(test, smc_netdev_is_below(net, port, 10));
	KUNIT_EXPECT_FALSE(test, smc_netdev_is_below(net, port, 0));
	KUNIT_EXPECT_FALSE(test, smc_netdev_is_below(net, other, 0));
	KUNIT_EXPECT_FALSE(test, smc_netdev_is_below(net, other, 10));
	KUNIT_EXPECT_FALSE(test, smc_netdev_is_below(&init_net, port, 10));
	stack_move(devs->dev[0], &init_net);
}

static void stack_expect_port(struct kunit *test, const struct net_device *want, bool is_active)
{
	struct net_device *ndev = smc_netdev_of_port(NULL, 1);

	KUNIT_EXPECT_PTR_EQ(test, ndev, want);
	KUNIT_EXPECT_EQ(test, smc_netdev_is_active(ndev), is_active);
	dev_put(ndev);
}

/* Device 1 is a bond above 2, which is the port's. */
static void a_port_has_the_state_of_its_bond(struct kunit *test)
{
	static const struct stack_case c = {};
	struct stack_devs *devs = stack_make(test, &c);
	struct net_device *bond = devs->dev[0], *port = devs->dev[1];

	stack_port = port;
	stack_expect_port(test, port, false);
	rtnl_lock();
	KUNIT_EXPECT_EQ(test, dev_open(bond, NULL), 0);
	KUNIT_EXPECT_EQ(test, dev_open(port, NULL), 0);
	rtnl_unlock();
	stack_expect_port(test, port, true);
	netif_carrier_off(port);
	stack_expect_port(test, port, false);

	rtnl_lock();
	KUNIT_EXPECT_EQ(test, netdev_master_upper_dev_link(port, bond, NULL, NULL, NULL), 0);
	/* another upper device does not count */
	stack_expect_port(test, port, false);
	port->flags |= IFF_SLAVE;
	port->priv_flags |= IFF_BONDING;
	stack_expect_port(test, bond, true);
	netif_carrier_off(bond);
	stack_expect_port(test, bond, false);
	port->flags &= ~IFF_SLAVE;
	port->priv_flags &= ~IFF_BONDING;
	rtnl_unlock();
	KUNIT_EXPECT_FALSE(test, smc_netdev_is_active(NULL));
}

/* The smallest one is used where no packet fits, as drivers do. */
static void path_mtu_of_a_port(struct kunit *test)
{
	struct net_device *ndev = kunit_kzalloc(test, sizeof(*ndev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ndev);
	ndev->mtu = 1500;
	KUNIT_EXPECT_EQ(test, smc_netdev_path_mtu(ndev), IB_MTU_1024);
	ndev->mtu = 9000;
	KUNIT_EXPECT_EQ(test, smc_netdev_path_mtu(ndev), IB_MTU_4096);
	ndev->mtu = 68;
	KUNIT_EXPECT_EQ(test, smc_netdev_path_mtu(ndev), IB_MTU_256);
}

static struct kunit_case stack_test_cases[] = {
	KUNIT_CASE_PARAM(lg_04_stack, stack_gen_params),
	KUNIT_CASE(sec_01_port_below_an_interface_of_the_namespace),
	KUNIT_CASE(a_port_has_the_state_of_its_bond),
	KUNIT_CASE(path_mtu_of_a_port),
	{}
};

static struct kunit_suite stack_suite = {
	.name = "smc_netdev_stack",
	.test_cases = stack_test_cases,
};

kunit_test_suite(stack_suite);
