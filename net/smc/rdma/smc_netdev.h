/* SPDX-License-Identifier: GPL-2.0 */
/* Network devices below one another, and the VLAN in which each is reached. */
#ifndef SMC_NETDEV_H
#define SMC_NETDEV_H

#include <linux/types.h>

struct net;
struct net_device;

#define SMC_NETDEV_LEVELS_MAX	8	/* devices looked at, top to bottom */

/**
 * struct smc_netdev_level - a network device that the one at the top rests on
 * @ndev: the device, with a reference
 * @vlan: id of the VLAN in which frames from the top leave it, 0 for none
 * @is_usable: one tag at most says it, the same on every way that leads here
 */
struct smc_netdev_level {
	struct net_device *ndev;
	u16 vlan;
	bool is_usable;
};

/**
 * struct smc_netdev_stack - a network device and what is below it, the nearest first
 * @level: the devices
 * @nr: how many there are
 * @is_cut: one that others are below did not fit
 */
struct smc_netdev_stack {
	struct smc_netdev_level level[SMC_NETDEV_LEVELS_MAX];
	unsigned int nr;
	bool is_cut;
};

void smc_netdev_get_stack(struct smc_netdev_stack *stack, struct net_device *top);
void smc_netdev_put_stack(struct smc_netdev_stack *stack);
bool smc_netdev_is_below(const struct net *net, const struct net_device *lower, u16 vlan);

#endif /* SMC_NETDEV_H */
