/* SPDX-License-Identifier: GPL-2.0 */
/* What sockets pay for: the protocol's memory and their cgroup's. */
#ifndef SMC_MEM_H
#define SMC_MEM_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <net/sock.h>

/* For struct proto. */
extern atomic_long_t smc_mem_allocated;
DECLARE_PER_CPU(int, smc_mem_per_cpu_fw_alloc);
extern long smc_mem_limits[3];
extern int smc_mem_least;

void smc_mem_init(void);
int smc_mem_charge(struct sock *sk, u32 bytes);
void *smc_mem_zalloc(const struct sock *sk, size_t size);
void smc_mem_uncharge(struct sock *sk, u32 bytes);
void smc_mem_inherit(const struct sock *listener, struct sock *child);
void smc_mem_adopt(struct sock *sk, u32 used);

#endif /* SMC_MEM_H */
