/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NATIVE_LINUX_KERNEL_H
#define NATIVE_LINUX_KERNEL_H

#include <stdio.h>

#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define div64_u64(a, b)	((u64)(a) / (u64)(b))

#endif
