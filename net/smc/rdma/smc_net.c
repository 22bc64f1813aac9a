// SPDX-License-Identifier: GPL-2.0
/* Index of a namespace's struct smc_pernet */
#include <linux/cache.h>

#include "rdma/smc_net.h"

unsigned int smc_net_id __read_mostly;
