/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/slab.h>

#define vcalloc(n, size)	kcalloc(n, size, GFP_KERNEL)
#define vfree(p)		kfree(p)
