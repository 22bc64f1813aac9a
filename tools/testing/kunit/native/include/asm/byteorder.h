/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NATIVE_ASM_BYTEORDER_H
#define NATIVE_ASM_BYTEORDER_H

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "for little-endian hosts"
#endif

#define cpu_to_be16	__builtin_bswap16
#define cpu_to_be32	__builtin_bswap32
#define cpu_to_be64	__builtin_bswap64
#define be16_to_cpu	__builtin_bswap16
#define be32_to_cpu	__builtin_bswap32
#define be64_to_cpu	__builtin_bswap64

#endif
