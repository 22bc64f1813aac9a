/* SPDX-License-Identifier: GPL-2.0 */
/* Stacked network devices, the VLAN of each, their addresses, and the device of a port */
#ifndef SMC_NETDEV_H
#define SMC_NETDEV_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct net;
struct net_device;

#define SMC_NETDEV_LEVELS_MAX	8	/* devices in a stack */

/**
 * struct smc_netdev_level - a network device in a stack
 * @ndev: the device, with a reference
 * @vlan: VLAN of frames between the top device and this one, 0 for none
 * @is_usable: at most one 802.1Q tag, the same on all paths from the top
 */
struct smc_netdev_level {
	struct net_device *ndev;
	u16 vlan;
	bool is_usable;
};

/**
 * struct smc_netdev_stack - a network device and its lower devices, nearest first
 * @level: the devices
 * @nr: number of devices
 * @is_truncated: a device with lower devices did not fit
 */
struct smc_netdev_stack {
	struct smc_netdev_level level[SMC_NETDEV_LEVELS_MAX];
	unsigned int nr;
	bool is_truncated;
};

void smc_netdev_get_stack(struct smc_netdev_stack *stack, struct net_device *top);
void smc_netdev_put_stack(struct smc_netdev_stack *stack);
bool smc_netdev_is_secondary(const struct net_device *ndev, const u8 gid[16]);
bool smc_netdev_is_below(const struct net *net, const struct net_device *lower, u16 vlan);
struct net_device *smc_netdev_of_port(struct ib_device *ibdev, u8 port);
bool smc_netdev_is_active(const struct net_device *ndev);
enum ib_mtu smc_netdev_path_mtu(const struct net_device *ndev);

#endif /* SMC_NETDEV_H */
