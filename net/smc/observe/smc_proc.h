/* SPDX-License-Identifier: GPL-2.0 */
/* /proc/net/smc4 and /proc/net/smc6 */
#ifndef SMC_PROC_H
#define SMC_PROC_H

int smc_proc_init(void);
void smc_proc_exit(void);

#endif /* SMC_PROC_H */
