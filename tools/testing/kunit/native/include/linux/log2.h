/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NATIVE_LINUX_LOG2_H
#define NATIVE_LINUX_LOG2_H

/* of a u32 */
#define order_base_2(n)	((n) > 1 ? 32 - __builtin_clz((n) - 1) : 0)

#endif /* NATIVE_LINUX_LOG2_H */
