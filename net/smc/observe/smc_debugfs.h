/* SPDX-License-Identifier: GPL-2.0 */
/* Operator access to link groups and links. */
#ifndef SMC_DEBUGFS_H
#define SMC_DEBUGFS_H

void smc_debugfs_init(void);
void smc_debugfs_exit(void);

#endif /* SMC_DEBUGFS_H */
