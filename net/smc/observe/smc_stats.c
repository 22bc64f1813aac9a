// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/net/smc_stats: name and value of each counter of the namespace, one a line.
 * Counters are incremented with smc_stat_inc().
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "rdma/smc_net.h"
#include "observe/smc_stats.h"

static const char * const smc_stat_names[SMC_STAT_NR] = {
#define SMC_STAT_NAME(id, name) \
	[SMC_STAT_##id] = name,
	SMC_STATS(SMC_STAT_NAME)
#undef SMC_STAT_NAME
};

static int smc_stats_show(struct seq_file *seq, void *v)
{
	struct smc_pernet *sn = smc_net(seq_file_single_net(seq));
	int cpu, i;

	for (i = 0; i < SMC_STAT_NR; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += per_cpu_ptr(sn->stats, cpu)->value[i];
		seq_printf(seq, "%s %llu\n", smc_stat_names[i], sum);
	}
	return 0;
}

/**
 * smc_stats_init_net() - create the counters of a namespace and their file
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_stats_init_net(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);

	sn->stats = alloc_percpu(struct smc_stats_cpu);
	if (!sn->stats)
		return -ENOMEM;
	if (!proc_create_net_single("smc_stats", 0444, net->proc_net, smc_stats_show, NULL)) {
		free_percpu(sn->stats);
		return -ENOMEM;
	}
	return 0;
}

/**
 * smc_stats_exit_net() - undo smc_stats_init_net()
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 */
void smc_stats_exit_net(struct net *net)
{
	remove_proc_entry("smc_stats", net->proc_net);
	free_percpu(smc_net(net)->stats);
}
