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

/**
 * smc_stats_get() - a counter of a namespace
 * @net: the namespace
 * @id: the counter
 *
 * Context: Any context.
 * Return: its value, which never decreases.
 */
u64 smc_stats_get(const struct net *net, enum smc_stat id)
{
	const struct smc_stats_cpu __percpu *stats = READ_ONCE(smc_net(net)->stats);
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		if (stats)
			sum += READ_ONCE(per_cpu_ptr(stats, cpu)->value[id]);
	return sum;
}

/**
 * smc_stats_get_fallback() - connections that became TCP for one reason
 * @net: the namespace
 * @is_server: those of listeners, otherwise those of connect()
 * @reason: the reason
 *
 * Context: Any context.
 * Return: their number, which never decreases.
 */
u64 smc_stats_get_fallback(const struct net *net, bool is_server, enum smc_reason reason)
{
	const struct smc_stats_cpu __percpu *stats = READ_ONCE(smc_net(net)->stats);
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		if (stats)
			sum += READ_ONCE(per_cpu_ptr(stats, cpu)->fallback[is_server][reason]);
	return sum;
}

static int __maybe_unused smc_stats_show(struct seq_file *seq, void *v)
{
	const struct net *net = seq_file_single_net(seq);
	int i;

	for (i = 0; i < SMC_STAT_NR; i++)
		seq_printf(seq, "%s %llu\n", smc_stat_names[i], smc_stats_get(net, i));
	return 0;
}

/**
 * smc_stats_init_net() - create the file of a namespace's counters
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_stats_init_net(struct net *net)
{
	if (!IS_ENABLED(CONFIG_PROC_FS))
		return 0;
	if (!proc_create_net_single("smc_stats", 0444, net->proc_net, smc_stats_show, NULL))
		return -ENOMEM;
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
}
