/* SPDX-License-Identifier: GPL-2.0 */
/* Changes of the network devices of ports */
#ifndef SMC_MTU_H
#define SMC_MTU_H

int smc_mtu_init(void);
void smc_mtu_exit(void);

#endif /* SMC_MTU_H */
