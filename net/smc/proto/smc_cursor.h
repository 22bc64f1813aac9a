/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cursors: positions in a ring of bytes, RFC 7609 Sections 4.3, 4.7 and A.4; CUR-03 to CUR-12.
 *
 * A cursor is an offset into an element plus the number of wraps, modulo 65536 (CUR-11). Data
 * occupies [base, size): base is 4 where elements begin with an eye catcher, else 0. Send rings
 * have base 0. Only the geometry knows the difference.
 */
#ifndef _SMC_CURSOR_H
#define _SMC_CURSOR_H

#include <linux/errno.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "proto/smc_wire.h"

/* Every distance fits an int. */
#define SMC_GEOM_SIZE_MAX	0x40000000U

struct smc_geom {
	u32	size;	/* of the whole element */
	u32	base;	/* start of data: 0 or SMC_EYE_CATCHER_LEN */
};

struct smc_cursor {
	u16	wrap;
	u32	off;
};

/* Capacity in bytes of data, AMB-08 */
static inline u32 smc_geom_space(struct smc_geom g)
{
	return g.size - g.base;
}

static inline struct smc_cursor smc_cursor_start(struct smc_geom g)
{
	return (struct smc_cursor){ .wrap = 0, .off = g.base };
}

static inline bool smc_cursor_is_valid(struct smc_geom g, struct smc_cursor c)
{
	return c.off >= g.base && c.off < g.size;
}

static inline bool smc_cursor_is_equal(struct smc_cursor a,
				       struct smc_cursor b)
{
	return a.wrap == b.wrap && a.off == b.off;
}

/* @c advanced by @n bytes, at most the ring's space */
static inline struct smc_cursor smc_cursor_advance(struct smc_geom g,
						   struct smc_cursor c, u32 n)
{
	if (n < g.size - c.off)
		return (struct smc_cursor){ c.wrap, c.off + n };
	return (struct smc_cursor){ c.wrap + 1, g.base + n - (g.size - c.off) };
}

/* @c moved back by @n bytes, at most the ring's space */
static inline struct smc_cursor smc_cursor_retreat(struct smc_geom g,
						   struct smc_cursor c, u32 n)
{
	if (n <= c.off - g.base)
		return (struct smc_cursor){ c.wrap, c.off - n };
	return (struct smc_cursor){ c.wrap - 1, g.size - (n - (c.off - g.base)) };
}

/*
 * How many bytes @to is ahead of @from: 0 to the ring's space, else -ERANGE. Both cursors must be
 * valid. Equal offsets mean empty or full; the wraps tell which (CUR-08).
 */
static inline int smc_cursor_distance(struct smc_geom g,
				      struct smc_cursor from,
				      struct smc_cursor to)
{
	u16 wraps = to.wrap - from.wrap;

	if (wraps == 0 && to.off >= from.off)
		return to.off - from.off;
	if (wraps == 1 && to.off <= from.off)
		return smc_geom_space(g) - (from.off - to.off);
	return -ERANGE;
}

static inline struct smc_cursor
smc_cursor_from_wire(const struct smc_cursor_wire *w)
{
	return (struct smc_cursor){ be16_to_cpu(w->wrap), be32_to_cpu(w->off) };
}

/* The caller has cleared the message, reserved bytes included. */
static inline void smc_cursor_to_wire(struct smc_cursor c,
				      struct smc_cursor_wire *w)
{
	w->wrap = cpu_to_be16(c.wrap);
	w->off = cpu_to_be32(c.off);
}

#endif /* _SMC_CURSOR_H */
