/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NATIVE_ASM_BYTEORDER_H
#define NATIVE_ASM_BYTEORDER_H

/* the same swap, or none, in both directions */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define cpu_to_be16	__builtin_bswap16
#define cpu_to_be32	__builtin_bswap32
#define cpu_to_be64	__builtin_bswap64
#else
#define cpu_to_be16(x)	((__be16)(x))
#define cpu_to_be32(x)	((__be32)(x))
#define cpu_to_be64(x)	((__be64)(x))
#endif

#define be16_to_cpu(x)	((u16)cpu_to_be16(x))
#define be32_to_cpu(x)	((u32)cpu_to_be32(x))
#define be64_to_cpu(x)	((u64)cpu_to_be64(x))

#endif
