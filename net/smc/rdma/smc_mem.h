/* SPDX-License-Identifier: GPL-2.0 */
/* Memory: the limit of the host, and what control groups are charged for. */
#ifndef SMC_MEM_H
#define SMC_MEM_H

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <net/sock.h>

/*
 * Charged to the active control group, or to that of the task. At the limit of the group the
 * allocation fails and no task is killed: the connection is TCP.
 */
#define SMC_MEM_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)

/* Charged as well, also above the limit of the group. For small objects. */
#define SMC_MEM_GFP_FORCE	(SMC_MEM_GFP | __GFP_HIGH)

extern atomic_long_t smc_mem_pages;
extern long smc_mem_limits[3];

int smc_mem_init(void);
void smc_mem_exit(void);
bool smc_mem_charge(u64 bytes);
void smc_mem_count(u64 bytes);
void smc_mem_uncharge(u64 bytes);
bool smc_mem_has_room(u64 bytes);
u32 smc_mem_fit(struct mem_cgroup *memcg, u32 bytes);
void smc_mem_adopt(struct sock *sk);

#endif /* SMC_MEM_H */
