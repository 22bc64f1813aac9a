/* SPDX-License-Identifier: GPL-2.0 */
/* One thread: the compiler alone may reorder. */
#ifndef NATIVE_ASM_BARRIER_H
#define NATIVE_ASM_BARRIER_H

#include <linux/types.h>

/* nobody else looks */
#define smp_store_release(p, value)	WRITE_ONCE(*(p), value)
/* the same */
#define smp_load_acquire(p)		READ_ONCE(*(p))

#endif
