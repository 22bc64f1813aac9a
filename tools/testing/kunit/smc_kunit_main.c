// SPDX-License-Identifier: GPL-2.0
/*
 * What makes a module of the suites. They register themselves
 * (kunit_test_suite), and KUnit runs them when the module is loaded.
 */
#include <linux/module.h>

#include "rdma/smc_ib.h"
#include "smc_kunit.h"

int kunit_news;

/* Of RNICs: there are none here, and what depends on them is told so by its suite. */
int smc_ib_changes(void)
{
	return kunit_news;
}

MODULE_DESCRIPTION("KUnit suites of SMC");
MODULE_LICENSE("GPL");
