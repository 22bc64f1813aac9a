// SPDX-License-Identifier: GPL-2.0
/*
 * The module that contains the suites. They register themselves (kunit_test_suite), and
 * KUnit runs them when the module is loaded.
 */
#include <linux/module.h>

#include "rdma/smc_ib.h"
#include "smc_kunit.h"

int kunit_changes;
void (*kunit_other_cpu)(void);

/* There are no RNICs here. A suite that depends on changes of RNICs sets the count. */
int smc_ib_changes(void)
{
	return kunit_changes;
}

MODULE_DESCRIPTION("KUnit suites of SMC");
MODULE_LICENSE("GPL");
