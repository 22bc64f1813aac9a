// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection into verbs, with CONFIG_FAULT_INJECTION. The debugfs directories fail_qp,
 * fail_modify, fail_post, fail_reg and fail_map below smc select the calls to fail, like those of
 * failslab. A failed call does not reach the device.
 */
#ifdef CONFIG_FAULT_INJECTION

#include <linux/fault-inject.h>

#include "rdma/smc_fault.h"

static struct fault_attr smc_fault_attrs[] = {
	[SMC_FAULT_QP]		= FAULT_ATTR_INITIALIZER,
	[SMC_FAULT_MODIFY]	= FAULT_ATTR_INITIALIZER,
	[SMC_FAULT_POST]	= FAULT_ATTR_INITIALIZER,
	[SMC_FAULT_REG]		= FAULT_ATTR_INITIALIZER,
	[SMC_FAULT_MAP]		= FAULT_ATTR_INITIALIZER,
};

static const char * const smc_fault_names[] = {
	[SMC_FAULT_QP]		= "fail_qp",
	[SMC_FAULT_MODIFY]	= "fail_modify",
	[SMC_FAULT_POST]	= "fail_post",
	[SMC_FAULT_REG]		= "fail_reg",
	[SMC_FAULT_MAP]		= "fail_map",
};

/**
 * smc_fault_is_due() - check whether this call must fail
 * @point: the operation
 *
 * Context: Any context.
 * Return: true if the caller must skip the operation and act as if the device had failed it.
 */
bool smc_fault_is_due(enum smc_fault_point point)
{
	return should_fail(&smc_fault_attrs[point], 1);
}

/**
 * smc_fault_init() - create the debugfs directories
 * @dir: parent directory, which is removed with its contents
 *
 * Context: Process context, module load.
 */
void smc_fault_init(struct dentry *dir)
{
	int i;

	for (i = 0; i < SMC_FAULT_NR; i++)
		fault_create_debugfs_attr(smc_fault_names[i], dir, &smc_fault_attrs[i]);
}

#endif /* CONFIG_FAULT_INJECTION */
