/* SPDX-License-Identifier: GPL-2.0 */
/* PNETIDs of network devices and RDMA ports, a table for each network namespace. */
#ifndef SMC_PNET_H
#define SMC_PNET_H

#include <linux/types.h>

#include "proto/smc_pnet_table.h"

struct ib_device;
struct net;
struct net_device;

#define SMC_PNET_ENTRIES_MAX	256	/* in a namespace */

int smc_pnet_add(struct net *net, const struct smc_pnet_entry *more, unsigned int nr);
int smc_pnet_remove(struct net *net, const struct smc_pnet_id *id);
void smc_pnet_flush(struct net *net);
bool smc_pnet_get(const struct net *net, unsigned int i, struct smc_pnet_entry *entry);
unsigned int smc_pnet_changes(const struct net *net);

void smc_pnet_of_netdev(const struct net *net, const struct net_device *ndev,
			struct smc_pnet_id *id);
void smc_pnet_of_port(const struct net *net, struct ib_device *ibdev, u8 port,
		      struct smc_pnet_id *id);
enum smc_pnet_fit smc_pnet_port_fit(const struct net *net, const struct smc_pnet_id *wanted,
				    struct ib_device *ibdev, u8 port);

#endif /* SMC_PNET_H */
