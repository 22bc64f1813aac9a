/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the kernel that pure files and their suites use, in user space: the types of
 * amd64 and the compiler attributes. Headers of the kernel that add nothing include this one.
 */
#ifndef NATIVE_LINUX_TYPES_H
#define NATIVE_LINUX_TYPES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include_next <linux/types.h>

#include <asm/byteorder.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#define U8_MAX		UINT8_MAX
#define U16_MAX		UINT16_MAX
#define U32_MAX		UINT32_MAX
#define U64_MAX		((u64)-1)

#define __packed	__attribute__((__packed__))
#define __aligned(n)	__attribute__((__aligned__(n)))
#define __maybe_unused	__attribute__((__unused__))
#define __printf(a, b)	__attribute__((__format__(printf, a, b)))
#define __noreturn	__attribute__((__noreturn__))
#define fallthrough	__attribute__((__fallthrough__))

#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile typeof(x) *)&(x) = (value))

#endif
