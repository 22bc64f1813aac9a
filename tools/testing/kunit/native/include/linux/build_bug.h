/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NATIVE_LINUX_BUILD_BUG_H
#define NATIVE_LINUX_BUILD_BUG_H

#define static_assert(cond, ...)	_Static_assert(cond, #cond)
#define BUILD_BUG_ON(cond)		_Static_assert(!(cond), #cond)

#endif
