// SPDX-License-Identifier: GPL-2.0
/*
 * Network devices of a route, and their addresses.
 *
 * Stacked devices: a route may use a VLAN, bond, bridge or macvlan, the RDMA port a lower device.
 *
 * RoCE frames need the VLAN tag of the route's IP packets; otherwise they enter a network that
 * the user may have no access to (SEC-01). So each device has the VLAN between it and the top. It
 * is unusable with nested tags, a tag of 802.1ad, or paths with different tags.
 *
 * Ports: the state and the MTU of a RoCE port are those of its network device. Most drivers tell
 * no more than that of a port, and some send no event when it changes.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>

#include "smc_compat.h"
#include "rdma/smc_netdev.h"

static struct smc_netdev_level *smc_stack_find(struct smc_netdev_stack *stack,
					       const struct net_device *ndev)
{
	unsigned int i;

	for (i = 0; i < stack->nr; i++)
		if (stack->level[i].ndev == ndev)
			return &stack->level[i];
	return NULL;
}

/* Add @ndev, reached from above with frames in @vlan. Return false if it became unusable. */
static bool smc_stack_push(struct smc_netdev_stack *stack, struct net_device *ndev, u16 vlan,
			   bool is_usable)
{
	u16 own = is_vlan_dev(ndev) ? vlan_dev_vlan_id(ndev) : 0;
	struct smc_netdev_level *level;
	bool was_usable;

	/* RoCE allows one tag, of 802.1Q */
	if (own && (vlan || vlan_dev_vlan_proto(ndev) != htons(ETH_P_8021Q)))
		is_usable = false;
	if (own)
		vlan = own;
	level = smc_stack_find(stack, ndev);
	if (level) {
		was_usable = level->is_usable;
		level->is_usable = was_usable && is_usable && level->vlan == vlan;
		return level->is_usable == was_usable;
	}
	if (stack->nr == SMC_NETDEV_LEVELS_MAX) {
		stack->is_truncated |= !list_empty(&ndev->adj_list.lower);
		return true;
	}
	dev_hold(ndev);
	stack->level[stack->nr++] = (struct smc_netdev_level){
		.ndev = ndev, .vlan = vlan, .is_usable = is_usable,
	};
	return true;
}

/* Add all lower devices. Return false if one became unusable after its lower devices were added. */
static bool smc_stack_walk(struct smc_netdev_stack *stack)
{
	const struct smc_netdev_level *upper;
	struct net_device *ndev;
	struct list_head *iter;
	bool is_settled = true;
	unsigned int i;

	for (i = 0; i < stack->nr; i++) {
		upper = &stack->level[i];
		iter = &upper->ndev->adj_list.lower;
		while ((ndev = netdev_next_lower_dev_rcu(upper->ndev, &iter)))
			is_settled &= smc_stack_push(stack, ndev, upper->vlan, upper->is_usable);
	}
	return is_settled;
}

/* After truncation an unvisited path may lead to any device with other upper devices. */
static void smc_stack_drop_unsure(struct smc_netdev_stack *stack)
{
	struct net_device *ndev;
	struct list_head *iter;
	unsigned int i;

	for (i = 1; i < stack->nr; i++)
		netdev_for_each_upper_dev_rcu(stack->level[i].ndev, ndev, iter)
			if (!smc_stack_find(stack, ndev))
				stack->level[i].is_usable = false;
}

/**
 * smc_netdev_get_stack() - collect a network device and all lower devices
 * @stack: filled; smc_netdev_put_stack() drops its references
 * @top: the device, referenced by the caller
 *
 * The order is by distance from the top. An upper device may come after a lower one (a bridge
 * over a bond and a VLAN of that bond), so a device may become unusable after its lower devices
 * were added. Then the walk is repeated, at most once per device. LG-04, SEC-01, RFC 7609
 * 3.5.1.1, 5.1.
 *
 * Context: Any context.
 */
void smc_netdev_get_stack(struct smc_netdev_stack *stack, struct net_device *top)
{
	stack->nr = 0;
	stack->is_truncated = false;
	guard(rcu)();
	smc_stack_push(stack, top, 0, true);
	while (!smc_stack_walk(stack))
		;
	if (stack->is_truncated) {
		smc_stack_drop_unsure(stack);
		while (!smc_stack_walk(stack))
			;
	}
}

/**
 * smc_netdev_put_stack() - drop the references of a stack
 * @stack: from smc_netdev_get_stack(); empty afterwards
 *
 * Context: Any context.
 */
void smc_netdev_put_stack(struct smc_netdev_stack *stack)
{
	while (stack->nr)
		dev_put(stack->level[--stack->nr].ndev);
}

/**
 * smc_netdev_is_below() - check whether a namespace has an interface above a device
 * @net: the namespace
 * @lower: the device, of any namespace
 * @vlan: VLAN in which that interface's frames leave @lower, 0 for none
 *
 * With @vlan 0 the device itself counts. RFC 7609 5.1 (SEC-01).
 *
 * Context: Any context.
 * Return: true if so, with this VLAN.
 */
bool smc_netdev_is_below(const struct net *net, const struct net_device *lower, u16 vlan)
{
	const struct smc_netdev_level *level;
	struct smc_netdev_stack stack;
	struct net_device *ndev;
	bool is_below = false;

	/* common case; avoids a walk over thousands of devices */
	if (!vlan && net_eq(dev_net(lower), net))
		return true;
	guard(rcu)();
	for_each_netdev_rcu(net, ndev) {
		smc_netdev_get_stack(&stack, ndev);
		level = smc_stack_find(&stack, lower);
		is_below = level && level->is_usable && level->vlan == vlan;
		smc_netdev_put_stack(&stack);
		if (is_below)
			break;
	}
	return is_below;
}

/**
 * smc_netdev_is_secondary() - check whether an address of a device may move to another host
 * @ndev: the device
 * @gid: the address, IPv4 mapped
 *
 * A secondary address may, as that of a service does. So may an address without a subnet.
 *
 * Context: Any context. Expects an RCU read section.
 * Return: true if so; false also if the device does not have it.
 */
bool smc_netdev_is_secondary(const struct net_device *ndev, const u8 gid[16])
{
	const struct in6_addr *addr = (const struct in6_addr *)gid;
	const struct inet6_ifaddr *ifa6;
	const struct in_device *in_dev;
	const struct inet6_dev *idev;
	const struct in_ifaddr *ifa;

	if (ipv6_addr_v4mapped(addr)) {
		in_dev = __in_dev_get_rcu(ndev);
		if (!in_dev)
			return false;
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			if (ifa->ifa_local == addr->s6_addr32[3])
				return ifa->ifa_flags & IFA_F_SECONDARY ||
				       ifa->ifa_prefixlen == 32;
		return false;
	}
	idev = __in6_dev_get(ndev);
	if (!idev)
		return false;
	list_for_each_entry_rcu(ifa6, &idev->addr_list, if_list)
		if (ipv6_addr_equal(&ifa6->addr, addr))
			return ifa6->flags & IFA_F_SECONDARY || ifa6->prefix_len == 128;
	return false;
}

/**
 * smc_netdev_of_port() - network device of an RDMA port
 * @ibdev: the RDMA device
 * @port: the port
 *
 * Below a bond that is the bond: it has the GIDs and the carrier. Either the adapter moves the
 * packets of a failed port itself (LAG), or the core moves the GIDs to the port in use.
 *
 * Context: Any context but hard interrupt.
 * Return: the network device with a reference, or NULL.
 */
struct net_device *smc_netdev_of_port(struct ib_device *ibdev, u8 port)
{
	struct net_device *ndev = smc_compat_ib_netdev(ibdev, port);
	struct net_device *bond;

	if (!ndev || !netif_is_bond_slave(ndev))
		return ndev;
	guard(rcu)();
	bond = netdev_master_upper_dev_get_rcu(ndev);
	if (!bond)
		return ndev;
	dev_hold(bond);
	dev_put(ndev);
	return bond;
}

/**
 * smc_netdev_is_active() - check whether a port with this network device is active
 * @ndev: the device; NULL: the port has none
 *
 * Context: Any context.
 * Return: true if so.
 */
bool smc_netdev_is_active(const struct net_device *ndev)
{
	return ndev && netif_running(ndev) && netif_carrier_ok(ndev);
}

/**
 * smc_netdev_path_mtu() - path MTU of a port with this network device
 * @ndev: the device
 *
 * Context: Any context.
 * Return: the largest payload of a RoCE packet.
 */
enum ib_mtu smc_netdev_path_mtu(const struct net_device *ndev)
{
	return iboe_get_mtu(READ_ONCE(ndev->mtu)) ?: IB_MTU_256;
}
