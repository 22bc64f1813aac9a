// SPDX-License-Identifier: GPL-2.0
/*
 * net.smc: the settings of struct smc_settings as files, with their defaults
 * and limits in one table. Names that deployed tools know keep their meaning;
 * the others are ours and say their unit.
 */
#include <linux/sysctl.h>

#include "smc_compat.h"
#include "smc_net.h"
#include "smc_sysctl.h"

#define SMC_HOUR_MS	(3600 * 1000)

/*
 * X(file, member, default, minimum, maximum)
 *
 * The waits of first contact (TMR-06) are longer than what the RNIC needs to
 * give up on a write (rdma_timeout, rdma_retries: about a second) and three
 * retransmissions of a Decline.
 */
#define SMC_SYSCTLS(X)							\
	X("wmem", wmem, 65536, 16384, (1 << 30) - 1)			\
	X("rmem", rmem, 65536, 16384, (1 << 30) - 1)			\
	X("dialect", dialect, 0, 0, 1)					\
	X("limit_smc_hs", limit_smc_hs, 0, 0, 1)			\
	X("max_conns_per_lgr", max_conns_per_lgr, 255, 1, 255)		\
	X("smcr_testlink_time", testlink_time, 30, 0, 24 * 3600)	\
	X("clc_timeout_ms", clc_timeout_ms, 6000, 100, SMC_HOUR_MS)	\
	X("lgr_idle_ms", lgr_idle_ms, 600000, 0, SMC_HOUR_MS)		\
	X("close_timeout_ms", close_timeout_ms, 60000, 100, SMC_HOUR_MS) \
	X("peer_memory_ms", peer_memory_ms, 60000, 0, SMC_HOUR_MS)	\
	X("rmb_idle_ms", rmb_idle_ms, 60000, 0, SMC_HOUR_MS)		\
	X("rdma_ack_exponent", rdma_timeout, 15, 1, 24)			\
	X("rdma_retries", rdma_retries, 6, 0, 6)			\
	X("llc_confirm_link_ms", llc.confirm_link, 8000, 100, SMC_HOUR_MS) \
	X("llc_first_reply_ms", llc.first_reply, 8000, 100, SMC_HOUR_MS) \
	X("llc_add_link_ms", llc.add_link, 8000, 100, SMC_HOUR_MS)	\
	X("llc_add_link_deployed_ms", llc.add_link_deployed, 2000, 100, SMC_HOUR_MS) \
	X("llc_reply_ms", llc.reply, 4000, 100, SMC_HOUR_MS)		\
	X("llc_delete_link_ms", llc.delete_link, 8000, 100, SMC_HOUR_MS) \
	X("llc_terminate_ms", llc.terminate, 2000, 100, SMC_HOUR_MS)	\
	X("llc_test_link_ms", llc.test_link, 2000, 100, SMC_HOUR_MS)	\
	X("llc_rkey_retry_ms", llc.rkey_retry, 500, 10, SMC_HOUR_MS)	\
	X("llc_add_link_retry_ms", llc.add_link_retry, 0, 0, SMC_HOUR_MS)

struct smc_sysctl_row {
	const char *name;
	size_t offset;
	int initial;
	int min;
	int max;
};

static struct smc_sysctl_row smc_sysctl_rows[] = {
#define SMC_SYSCTL_ROW(file, member, initial, min, max) \
	{ file, offsetof(struct smc_settings, member), initial, min, max },
	SMC_SYSCTLS(SMC_SYSCTL_ROW)
#undef SMC_SYSCTL_ROW
};

#define SMC_SYSCTL_NR	(ARRAY_SIZE(smc_sysctl_rows) + 1)

static void smc_sysctl_fill(struct ctl_table *table, struct smc_settings *set)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(smc_sysctl_rows); i++) {
		struct smc_sysctl_row *row = &smc_sysctl_rows[i];

		table[i].procname = row->name;
		table[i].data = (void *)set + row->offset;
		table[i].maxlen = sizeof(int);
		table[i].mode = 0644;
		table[i].proc_handler = proc_dointvec_minmax;
		table[i].extra1 = &row->min;
		table[i].extra2 = &row->max;
		*(int *)table[i].data = row->initial;
	}
	set->autocorking_size = 65536;
	table[i].procname = "autocorking_size";
	table[i].data = &set->autocorking_size;
	table[i].maxlen = sizeof(set->autocorking_size);
	table[i].mode = 0644;
	table[i].proc_handler = proc_douintvec;
}

/**
 * smc_sysctl_init_net() - default settings of a namespace, and their files
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_sysctl_init_net(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	/* one more stays zero, which older kernels take for the end */
	sn->table = kcalloc(SMC_SYSCTL_NR + 1, sizeof(*sn->table), GFP_KERNEL);
	if (!sn->table)
		return -ENOMEM;
	smc_sysctl_fill(sn->table, &sn->set);
	sn->sysctl = smc_compat_register_net_sysctl(net, "net/smc", sn->table, SMC_SYSCTL_NR);
	if (!sn->sysctl) {
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
	struct smc_net *sn = smc_net(net);

	unregister_net_sysctl_table(sn->sysctl);
	kfree(sn->table);
}
