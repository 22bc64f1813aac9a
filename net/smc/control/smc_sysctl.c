// SPDX-License-Identifier: GPL-2.0
/*
 * net.smc: sysctls of struct smc_settings, from the table of smc_sysctl.h.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/sysctl.h>

#include "smc_compat.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "control/smc_sysctl.h"

struct smc_sysctl_row {
	const char *name;
	size_t offset;
	int initial;
	int min;
	int max;
	enum smc_sysctl_owner owner;
	bool is_for_tests;
};

#define SMC_SYSCTL_ROW(file, member, initial, min, max, owner) \
	{ file, offsetof(struct smc_settings, member), initial, min, max, \
	  SMC_OWNER_##owner, false },
#define SMC_SYSCTL_TEST_ROW(file, member, initial, min, max, owner) \
	{ file, offsetof(struct smc_settings, member), initial, min, max, \
	  SMC_OWNER_##owner, true },

static struct smc_sysctl_row smc_sysctl_rows[] = {
	SMC_SYSCTLS_OPERATOR(SMC_SYSCTL_ROW)
	SMC_SYSCTLS_RARE(SMC_SYSCTL_ROW)
	SMC_SYSCTLS_TEST(SMC_SYSCTL_TEST_ROW)
};

static bool test_timers;
module_param(test_timers, bool, 0444);
MODULE_PARM_DESC(test_timers, "net.smc has the timeouts and settings that only tests change");

/* Two entries are not of this form; one of them exists in the first namespace only. */
#define SMC_SYSCTL_NR	(ARRAY_SIZE(smc_sysctl_rows) + 2)

/* As the table says: a smaller range for the owner of the namespace. */
static int smc_sysctl_set(SMC_CTL_TABLE *table, int write, void *buffer, size_t *lenp,
			  loff_t *ppos)
{
	struct smc_sysctl_row *row = container_of(table->extra2, struct smc_sysctl_row, max);
	int min = smc_sysctl_own_min(row->owner, row->initial, row->min);
	int max = smc_sysctl_own_max(row->owner, row->initial, row->max);
	struct ctl_table own = *table;

	if (write && !capable(CAP_NET_ADMIN)) {
		own.extra1 = &min;
		own.extra2 = &max;
	}
	return proc_dointvec_minmax(&own, write, buffer, lenp, ppos);
}

/* Returns the number of entries. */
static unsigned int smc_sysctl_fill(struct net *net, struct ctl_table *table,
				    struct smc_settings *set)
{
	struct ctl_table *file = table;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(smc_sysctl_rows); i++) {
		struct smc_sysctl_row *row = &smc_sysctl_rows[i];
		int *value = (void *)set + row->offset;

		*value = row->initial;
		if (row->is_for_tests && !test_timers)
			continue;
		file->procname = row->name;
		file->data = value;
		file->maxlen = sizeof(*value);
		file->mode = 0644;
		file->proc_handler = smc_sysctl_set;
		file->extra1 = &row->min;
		file->extra2 = &row->max;
		file++;
	}
	set->autocorking_size = 65536;
	file->procname = "autocorking_size";
	file->data = &set->autocorking_size;
	file->maxlen = sizeof(set->autocorking_size);
	file->mode = 0644;
	file->proc_handler = proc_douintvec;
	file++;
	if (net_eq(net, &init_net)) {
		file->procname = "mem";
		file->data = smc_mem_limits;
		file->maxlen = sizeof(smc_mem_limits);
		file->mode = 0644;
		file->proc_handler = proc_doulongvec_minmax;
		file++;
	}
	return file - table;
}

/**
 * smc_sysctl_init_net() - set the defaults of a namespace and create its files
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_sysctl_init_net(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);
	unsigned int nr;

	/* one more entry stays zero, the end mark of older kernels */
	sn->table = kcalloc(SMC_SYSCTL_NR + 1, sizeof(*sn->table), GFP_KERNEL_ACCOUNT);
	if (!sn->table)
		return -ENOMEM;
	nr = smc_sysctl_fill(net, sn->table, &sn->set);
	sn->sysctl = smc_compat_register_net_sysctl(net, "net/smc", sn->table, nr);
	/* without sysctls the defaults stay */
	if (!sn->sysctl && IS_ENABLED(CONFIG_SYSCTL)) {
		kfree(sn->table);
		return -ENOMEM;
	}
	return 0;
}

/**
 * smc_sysctl_exit_net() - undo smc_sysctl_init_net()
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 */
void smc_sysctl_exit_net(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);

	unregister_net_sysctl_table(sn->sysctl);
	kfree(sn->table);
}
