/* SPDX-License-Identifier: GPL-2.0 */
/* Memory accounting: what a control group is charged for. */
#ifndef SMC_MEM_H
#define SMC_MEM_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <net/sock.h>

/**
 * struct smc_account - memory account of a connection, a link group or a link
 * @sk: only the accounting members are used
 * @charged: bytes that are charged now
 */
struct smc_account {
	struct sock sk;
	u32 charged;
};

int smc_mem_init(void);
void smc_mem_exit(void);
void smc_mem_open(struct smc_account *account, const struct sock *sk);
void smc_mem_close(struct smc_account *account);
u32 smc_mem_fit(const struct smc_account *account, u32 bytes);
int smc_mem_charge(struct smc_account *account, u32 total);
void *smc_mem_zalloc(const struct sock *sk, size_t size);
void smc_mem_settle(struct smc_account *account, u32 total);
void smc_mem_adopt(struct sock *sk, u32 used);

#endif /* SMC_MEM_H */
