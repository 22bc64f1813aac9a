// SPDX-License-Identifier: GPL-2.0
/* A namespace's struct smc_pernet: its index, and what other files put objects into. */
#include <linux/cache.h>

#include "rdma/smc_net.h"

unsigned int smc_net_id __read_mostly;

/**
 * smc_net_init() - prepare the containers of a namespace
 * @net: a new namespace
 *
 * There is nothing to undo: they are empty when the namespace ends.
 *
 * Context: Process context.
 * Return: 0.
 */
int smc_net_init(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);

	sn->spare.max = &sn->set.spare_mem;
	spin_lock_init(&sn->idle_lock);
	INIT_LIST_HEAD(&sn->idle_lgrs);
	xa_init_flags(&sn->socks, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
	return 0;
}
