/* SPDX-License-Identifier: GPL-2.0 */
/* The directory of the fault injection points. */
#ifndef SMC_DEBUGFS_H
#define SMC_DEBUGFS_H

void smc_debugfs_init(void);
void smc_debugfs_exit(void);

#endif /* SMC_DEBUGFS_H */
