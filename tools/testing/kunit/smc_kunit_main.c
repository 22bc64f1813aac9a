// SPDX-License-Identifier: GPL-2.0
/*
 * What makes a module of the suites. They register themselves
 * (kunit_test_suite), and KUnit runs them when the module is loaded.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of SMC");
MODULE_LICENSE("GPL");
