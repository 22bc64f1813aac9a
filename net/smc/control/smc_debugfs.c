// SPDX-License-Identifier: GPL-2.0
/* The directory of the fault injection points. A kernel without debugfs lacks only that. */
#include <linux/debugfs.h>

#include "rdma/smc_fault.h"
#include "control/smc_debugfs.h"

static struct dentry *smc_debugfs_dir;

/**
 * smc_debugfs_init() - create the files
 *
 * Context: Process context, module load.
 */
void smc_debugfs_init(void)
{
	smc_debugfs_dir = debugfs_create_dir("smc", NULL);
	smc_fault_init(smc_debugfs_dir);
}

/**
 * smc_debugfs_exit() - undo smc_debugfs_init()
 *
 * No file operation runs when this returns.
 *
 * Context: Process context, module unload.
 */
void smc_debugfs_exit(void)
{
	debugfs_remove_recursive(smc_debugfs_dir);
}
