/* SPDX-License-Identifier: GPL-2.0 */
#define BIT(n)	(1UL << (n))
