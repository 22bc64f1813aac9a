/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of libc, which the address sanitizer checks. It fills memory that is not cleared.
 */
#ifndef NATIVE_LINUX_SLAB_H
#define NATIVE_LINUX_SLAB_H

#include <stdlib.h>

#include <linux/string.h>
#include <linux/types.h>

#define GFP_KERNEL	0

static inline void *kmalloc(size_t size, int gfp)
{
	return malloc(size);
}

static inline void *kcalloc(size_t n, size_t size, int gfp)
{
	return calloc(n, size);
}

static inline void *kmemdup(const void *from, size_t size, int gfp)
{
	void *copy = kmalloc(size, gfp);

	return copy ? memcpy(copy, from, size) : NULL;
}

static inline void kfree(const void *p)
{
	free((void *)p);
}

#endif
