/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices that cannot carry links: nothing uses them, they are shown with the reason. */
#ifndef SMC_UNFIT_H
#define SMC_UNFIT_H

#include <linux/types.h>

struct net;
struct net_device;
struct smc_ib_view;

int smc_unfit_init(void);
void smc_unfit_exit(void);

bool smc_unfit_is_below(struct net_device *ndev);
bool smc_unfit_next_view(struct net *net, u64 after, struct smc_ib_view *view);

#endif /* SMC_UNFIT_H */
