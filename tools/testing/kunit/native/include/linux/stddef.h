/* SPDX-License-Identifier: GPL-2.0 */
#include <stddef.h>

#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define offsetofend(type, member)	(offsetof(type, member) + sizeof_field(type, member))
