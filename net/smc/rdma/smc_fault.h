/* SPDX-License-Identifier: GPL-2.0 */
/* Verbs that fail when a test wants them to. */
#ifndef SMC_FAULT_H
#define SMC_FAULT_H

#include <linux/types.h>

struct dentry;

enum smc_fault_point {
	SMC_FAULT_QP,		/* a queue pair is made */
	SMC_FAULT_MODIFY,	/* a queue pair is connected, or may send from then on */
	SMC_FAULT_POST,		/* a message is posted */
	SMC_FAULT_REG,		/* a memory region is registered */
	SMC_FAULT_MAP,		/* the areas of a group are mapped for a further link */
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
