/* SPDX-License-Identifier: GPL-2.0 */
/* Writes that fit the MTU of a port while it changes. */
#ifndef SMC_MTU_H
#define SMC_MTU_H

int smc_mtu_init(void);
void smc_mtu_exit(void);

#endif /* SMC_MTU_H */
