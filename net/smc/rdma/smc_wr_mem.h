/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a link's queues */
#ifndef SMC_WR_MEM_H
#define SMC_WR_MEM_H

#include <linux/types.h>

struct ib_device_attr;
struct smc_wr;
struct smc_wr_depth;

u32 smc_wr_mem_cost(const struct ib_device_attr *attrs, const struct smc_wr_depth *depth);
int smc_wr_mem_get(struct smc_wr *wr, const struct smc_wr_depth *depth);
void smc_wr_mem_put(struct smc_wr *wr);
u32 smc_wr_mem_send_depth(const struct smc_wr *wr);
u32 smc_wr_mem_recv_depth(const struct smc_wr *wr);

#endif /* SMC_WR_MEM_H */
