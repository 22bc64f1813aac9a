/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NATIVE_LINUX_STRING_H
#define NATIVE_LINUX_STRING_H

#include <string.h>

#include <linux/errno.h>
#include <linux/types.h>

static inline ssize_t strscpy(char *dst, const char *src, size_t size)
{
	size_t len = strnlen(src, size);

	if (!size)
		return -E2BIG;
	if (len == size)
		len--;
	memcpy(dst, src, len);
	dst[len] = '\0';
	return src[len] ? -E2BIG : (ssize_t)len;
}

static inline void *memchr_inv(const void *start, int c, size_t size)
{
	const u8 *p = start;

	for (; size; size--, p++)
		if (*p != (u8)c)
			return (void *)p;
	return NULL;
}

#endif
