// SPDX-License-Identifier: GPL-2.0
/* A namespace's struct smc_pernet: its index, counters, and what other files put objects into. */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <net/tcp.h>

#include "rdma/smc_net.h"

unsigned int smc_net_id __read_mostly;

/**
 * smc_net_init() - prepare the containers and locks of a namespace
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

	mutex_init(&sn->change_lock);
	xa_init_flags(&sn->socks, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
	return 0;
}

/**
 * smc_net_prepare() - allocate the counters of a namespace, before its first socket
 * @net: the namespace; without memory it does not count
 *
 * Most namespaces of a host never use SMC.
 *
 * Context: Process context, may sleep.
 */
void smc_net_prepare(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);
	struct smc_stats_cpu __percpu *stats;

	if (READ_ONCE(sn->stats))
		return;
	stats = alloc_percpu_gfp(struct smc_stats_cpu, GFP_KERNEL_ACCOUNT);
	/* pairs with READ_ONCE() of those that count or read */
	if (stats && cmpxchg(&sn->stats, NULL, stats))
		free_percpu(stats);
}

/**
 * smc_net_release() - undo smc_net_prepare(), if it was called
 * @net: the namespace, without sockets and groups
 *
 * Context: Process context, may sleep.
 */
void smc_net_release(struct net *net)
{
	free_percpu(smc_net(net)->stats);
}

/**
 * smc_net_patience_ms() - how long TCP waits for an acknowledgment
 * @net: the namespace
 *
 * For a round trip shorter than the least timeout, as TCP itself computes it from
 * net.ipv4.tcp_retries2: 924.6 s by default.
 *
 * Context: Any context.
 * Return: milliseconds.
 */
unsigned int smc_net_patience_ms(const struct net *net)
{
	u32 rto = jiffies_to_msecs(TCP_RTO_MIN), sum = 0;
	int i;

	for (i = READ_ONCE(net->ipv4.sysctl_tcp_retries2); i >= 0; i--) {
		sum += rto;
		rto = min_t(u32, 2 * rto, jiffies_to_msecs(TCP_RTO_MAX));
	}
	return sum;
}
