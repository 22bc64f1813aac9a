/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/types.h>

#define DECLARE_BITMAP(name, bits)	\
	unsigned long name[((bits) + 8 * sizeof(long) - 1) / (8 * sizeof(long))]
