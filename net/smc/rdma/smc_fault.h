/* SPDX-License-Identifier: GPL-2.0 */
/* Fault injection into verbs */
#ifndef SMC_FAULT_H
#define SMC_FAULT_H

#include <linux/types.h>

struct dentry;

enum smc_fault_point {
	SMC_FAULT_QP,		/* create a QP */
	SMC_FAULT_MODIFY,	/* connect a QP (to RTR), or let it send (to RTS) */
	SMC_FAULT_POST,		/* post a send */
	SMC_FAULT_REG,		/* register a memory region */
	SMC_FAULT_MAP,		/* map a group's memory regions for a new link */
	SMC_FAULT_NR
};

#ifdef CONFIG_FAULT_INJECTION
bool smc_fault_is_due(enum smc_fault_point point);
void smc_fault_init(struct dentry *dir);
#else
static inline bool smc_fault_is_due(enum smc_fault_point point)
{
	return false;
}

static inline void smc_fault_init(struct dentry *dir)
{
}
#endif

#endif /* SMC_FAULT_H */
