// SPDX-License-Identifier: GPL-2.0
/*
 * The table of PNETIDs of a namespace, and the PNETIDs of devices and ports in it. The RDMA
 * device is faked; its network device is the loopback device.
 */
#include <linux/etherdevice.h>

#include "smc_kunit.h"

#include "smc_compat.h"
#include "rdma/smc_netdev.h"

static struct net_device *pnet_port_netdev(struct ib_device *ibdev, u8 port);
static struct net_device *pnet_port_bond(struct ib_device *ibdev, u8 port);

#define smc_compat_ib_netdev(ibdev, port)	pnet_port_netdev(ibdev, port)
#define smc_netdev_of_port(ibdev, port)		pnet_port_bond(ibdev, port)
#include "../../../net/smc/rdma/smc_pnet.c"

/* Neither list nor lock of it is used. */
static struct ib_device *pnet_ibdev;
static struct device pnet_parent = { .init_name = "0000:00:1f.0" };

static struct net_device *pnet_port_netdev(struct ib_device *ibdev, u8 port)
{
	struct net_device *ndev = init_net.loopback_dev;

	dev_hold(ndev);
	return ndev;
}

/* A bond above it, or the same. */
static struct net_device *pnet_bond;

static struct net_device *pnet_port_bond(struct ib_device *ibdev, u8 port)
{
	struct net_device *ndev = pnet_bond ?: init_net.loopback_dev;

	dev_hold(ndev);
	return ndev;
}

static struct pernet_operations pnet_net_ops = {
	.init = smc_net_init,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int pnet_suite_init(struct kunit_suite *suite)
{
	return register_pernet_subsys(&pnet_net_ops);
}

static void pnet_suite_exit(struct kunit_suite *suite)
{
	unregister_pernet_subsys(&pnet_net_ops);
}

static int pnet_init(struct kunit *test)
{
	pnet_ibdev = kunit_kzalloc(test, sizeof(*pnet_ibdev), GFP_KERNEL);
	if (!pnet_ibdev)
		return -ENOMEM;
	strscpy(pnet_ibdev->name, "roce0", sizeof(pnet_ibdev->name));
	return 0;
}

static void pnet_exit(struct kunit *test)
{
	smc_pnet_flush(&init_net);
}

/* An entry of a network device, or of port @port of an RDMA device. */
static struct smc_pnet_entry pnet_entry(const char *id, const char *device, u8 port)
{
	struct smc_pnet_entry entry = { .port = port };

	strscpy(entry.id.text, id, sizeof(entry.id.text));
	strscpy(entry.device, device, sizeof(entry.device));
	return entry;
}

static int pnet_add(const char *id, const char *device, u8 port)
{
	struct smc_pnet_entry entry = pnet_entry(id, device, port);

	return smc_pnet_add(&init_net, &entry, 1);
}

static int pnet_remove(const char *id)
{
	struct smc_pnet_entry entry = pnet_entry(id, "", 0);

	return smc_pnet_remove(&init_net, &entry.id);
}

static unsigned int pnet_count(void)
{
	struct smc_pnet_entry entry;
	unsigned int nr = 0;

	while (smc_pnet_get(&init_net, nr, &entry))
		nr++;
	return nr;
}

static void pnet_entries_in_order(struct kunit *test)
{
	static const char * const devices[] = { "c", "a", "b" };
	struct smc_pnet_entry entry;
	unsigned int i;

	KUNIT_EXPECT_EQ(test, pnet_count(), 0);
	KUNIT_EXPECT_EQ(test, pnet_remove("NET"), -ENOENT);
	for (i = 0; i < ARRAY_SIZE(devices); i++)
		KUNIT_EXPECT_EQ(test, pnet_add("NET", devices[i], 0), 0);
	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		KUNIT_ASSERT_TRUE(test, smc_pnet_get(&init_net, i, &entry));
		KUNIT_EXPECT_STREQ(test, entry.device, devices[i]);
	}
	KUNIT_EXPECT_FALSE(test, smc_pnet_get(&init_net, i, &entry));
}

static void pnet_a_failure_changes_nothing(struct kunit *test)
{
	struct smc_pnet_entry both[2];
	unsigned int changes;
	char name[16];
	unsigned int i;

	KUNIT_EXPECT_EQ(test, pnet_add("NET", "a", 0), 0);
	changes = smc_pnet_changes(&init_net);
	KUNIT_EXPECT_EQ(test, pnet_add("OTHER", "a", 0), -EEXIST);
	KUNIT_EXPECT_EQ(test, pnet_remove("OTHER"), -ENOENT);
	KUNIT_EXPECT_EQ(test, smc_pnet_changes(&init_net), changes);

	/* one of two is new */
	both[0] = pnet_entry("OTHER", "a", 0);
	both[1] = pnet_entry("OTHER", "roce0", 2);
	KUNIT_EXPECT_EQ(test, smc_pnet_add(&init_net, both, 2), 0);
	KUNIT_EXPECT_EQ(test, pnet_count(), 2);
	KUNIT_EXPECT_NE(test, smc_pnet_changes(&init_net), changes);
	KUNIT_EXPECT_EQ(test, smc_pnet_add(&init_net, both, 2), -EEXIST);
	/* the first one has kept its PNETID */
	KUNIT_EXPECT_EQ(test, pnet_remove("OTHER"), 0);
	KUNIT_EXPECT_EQ(test, pnet_count(), 1);

	for (i = 1; i < SMC_PNET_ENTRIES_MAX - 1; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		KUNIT_ASSERT_EQ(test, pnet_add("NET", name, 0), 0);
	}
	both[0] = pnet_entry("NET", "y", 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_add(&init_net, both, 2), -ENOSPC);
	KUNIT_EXPECT_EQ(test, pnet_count(), SMC_PNET_ENTRIES_MAX - 1);
	KUNIT_EXPECT_EQ(test, pnet_add("NET", "y", 0), 0);
	KUNIT_EXPECT_EQ(test, pnet_add("NET", "z", 0), -ENOSPC);
	KUNIT_EXPECT_EQ(test, pnet_add("NET", "y", 0), -EEXIST);
	KUNIT_EXPECT_EQ(test, pnet_remove("NET"), 0);
	KUNIT_EXPECT_EQ(test, pnet_count(), 0);
	KUNIT_EXPECT_EQ(test, pnet_add("NET", "z", 0), 0);
}

static void pnet_expect_port(struct kunit *test, u8 port, const char *id)
{
	struct smc_pnet_id found;

	smc_pnet_of_port(&init_net, pnet_ibdev, port, &found);
	KUNIT_EXPECT_STREQ(test, found.text, id);
}

static void pnet_of_netdevs(struct kunit *test)
{
	struct net *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	struct net_device *lo = init_net.loopback_dev;
	struct smc_pnet_id id;

	KUNIT_ASSERT_NOT_NULL(test, other);
	smc_pnet_of_netdev(&init_net, lo, &id);
	KUNIT_EXPECT_FALSE(test, smc_pnet_id_is_set(&id));
	KUNIT_EXPECT_EQ(test, pnet_add("NET", "l*", 0), 0);
	smc_pnet_of_netdev(&init_net, lo, &id);
	KUNIT_EXPECT_STREQ(test, id.text, "NET");
	/* its name means nothing in another namespace */
	smc_pnet_of_netdev(other, lo, &id);
	KUNIT_EXPECT_FALSE(test, smc_pnet_id_is_set(&id));
}

static void pnet_of_ports(struct kunit *test)
{
	pnet_expect_port(test, 1, "");
	KUNIT_EXPECT_EQ(test, pnet_add("NETDEV", "lo", 0), 0);
	pnet_expect_port(test, 1, "NETDEV");
	pnet_expect_port(test, 2, "NETDEV");
	KUNIT_EXPECT_EQ(test, pnet_add("PARENT", "0000:00:*", 2), 0);
	pnet_expect_port(test, 2, "NETDEV");
	pnet_ibdev->dev.parent = &pnet_parent;
	KUNIT_EXPECT_EQ(test, pnet_add("PORT", "roce0", 1), 0);
	pnet_expect_port(test, 1, "PORT");
	pnet_expect_port(test, 2, "PARENT");
	KUNIT_EXPECT_EQ(test, pnet_add("PORT", "roce*", 2), 0);
	pnet_expect_port(test, 2, "PORT");
	/* a device that is renamed */
	strscpy(pnet_ibdev->name, "mlx5_0", sizeof(pnet_ibdev->name));
	pnet_expect_port(test, 1, "NETDEV");
	pnet_expect_port(test, 2, "PARENT");
}

static void pnet_of_a_port_below_a_bond(struct kunit *test)
{
	struct net_device *bond = alloc_netdev(0, "bond0", NET_NAME_ENUM, ether_setup);

	KUNIT_ASSERT_NOT_NULL(test, bond);
	pnet_bond = bond;
	KUNIT_EXPECT_EQ(test, pnet_add("BOND", "bond0", 0), 0);
	pnet_expect_port(test, 1, "BOND");
	/* its own goes first */
	KUNIT_EXPECT_EQ(test, pnet_add("NETDEV", "lo", 0), 0);
	pnet_expect_port(test, 1, "NETDEV");
	pnet_bond = NULL;
	free_netdev(bond);
}

static void pnet_fit_of_ports(struct kunit *test)
{
	static const struct smc_pnet_id net = { "NET" }, none;

	KUNIT_EXPECT_EQ(test, smc_pnet_port_fit(&init_net, &net, pnet_ibdev, 1), SMC_PNET_OPEN);
	KUNIT_EXPECT_EQ(test, pnet_add("NET", "lo", 0), 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_port_fit(&init_net, &net, pnet_ibdev, 1),
			SMC_PNET_INHERITED);
	KUNIT_EXPECT_EQ(test, pnet_add("OTHER", "roce0", 1), 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_port_fit(&init_net, &net, pnet_ibdev, 1), SMC_PNET_OTHER);
	KUNIT_EXPECT_EQ(test, smc_pnet_port_fit(&init_net, &none, pnet_ibdev, 1), SMC_PNET_OPEN);
	KUNIT_EXPECT_EQ(test, pnet_add("NET", "roce0", 2), 0);
	KUNIT_EXPECT_EQ(test, smc_pnet_port_fit(&init_net, &net, pnet_ibdev, 2), SMC_PNET_NAMED);
}

static struct kunit_case smc_pnet_cases[] = {
	KUNIT_CASE(pnet_entries_in_order),
	KUNIT_CASE(pnet_a_failure_changes_nothing),
	KUNIT_CASE(pnet_of_netdevs),
	KUNIT_CASE(pnet_of_ports),
	KUNIT_CASE(pnet_of_a_port_below_a_bond),
	KUNIT_CASE(pnet_fit_of_ports),
	{}
};

static struct kunit_suite smc_pnet_suite = {
	.name = "smc_pnet",
	.suite_init = pnet_suite_init,
	.suite_exit = pnet_suite_exit,
	.init = pnet_init,
	.exit = pnet_exit,
	.test_cases = smc_pnet_cases,
};

kunit_test_suite(smc_pnet_suite);
