/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Positions and cursors, RFC 7609 Sections 4.3, 4.7 and A.4; CUR-03 to CUR-12.
 *
 * A position counts the bytes of a stream from its beginning; it never wraps. A cursor, as in
 * messages, is an offset into an element plus the number of wraps, modulo 65536 (CUR-11). Data
 * occupies [base, size) of an element: base is 4 where elements begin with an eye catcher, else 0.
 * The edge of an element turns one into the other, and nothing else knows of cursors.
 */
#ifndef _SMC_CURSOR_H
#define _SMC_CURSOR_H

#include <linux/errno.h>
#include <linux/types.h>
#include <asm/byteorder.h>

#include "proto/smc_wire.h"

/* Every distance fits an int. */
#define SMC_ELEM_SIZE_MAX	0x40000000U

struct smc_cursor {
	u16	wrap;
	u32	off;
};

/*
 * Where the reader of an element is: at or behind @lap, by less than a lap. The writer is at most a
 * lap ahead of the reader, so either position is in this lap or the next one.
 */
struct smc_edge {
	u64	lap;	/* position of the first byte of data of the lap */
	u32	size;	/* of the whole element, a power of two; 0: there is none */
	u16	base;	/* start of data: 0 or SMC_EYE_CATCHER_LEN */
	u16	wrap;	/* number of the lap */
};

/* Capacity in bytes of data, AMB-08 */
static inline u32 smc_edge_space(const struct smc_edge *e)
{
	return e->size - e->base;
}

/* The reader has come to @pos, at most a lap ahead. */
static inline void smc_edge_move(struct smc_edge *e, u64 pos)
{
	if (pos - e->lap < smc_edge_space(e))
		return;
	WRITE_ONCE(e->lap, e->lap + smc_edge_space(e));
	e->wrap++;
}

/* The offset in the element of the byte at @pos, which the reader has not passed */
static inline u32 smc_edge_off(const struct smc_edge *e, u64 pos)
{
	/* a reader may ask while the lap moves: both are right */
	u32 at = pos - READ_ONCE(e->lap);

	return at < smc_edge_space(e) ? e->base + at : at + e->base - smc_edge_space(e);
}

/* The cursor at @pos, which the reader has not passed */
static inline struct smc_cursor smc_edge_cursor(const struct smc_edge *e, u64 pos)
{
	return (struct smc_cursor){
		.wrap = e->wrap + (pos - e->lap >= smc_edge_space(e)),
		.off = smc_edge_off(e, pos),
	};
}

/*
 * What a received cursor means: a position in the lap of the reader, or the one before or behind
 * it. The caller compares it with what is possible; before the first lap it is huge. Return: 0, or
 * -ERANGE for any other cursor.
 */
static inline int smc_edge_pos(const struct smc_edge *e, struct smc_cursor c, u64 *pos)
{
	s16 laps = c.wrap - e->wrap;

	if (c.off < e->base || c.off >= e->size || laps < -1 || laps > 1)
		return -ERANGE;
	*pos = e->lap + (s64)laps * smc_edge_space(e) + c.off - e->base;
	return 0;
}

static inline bool smc_cursor_is_equal(struct smc_cursor a,
				       struct smc_cursor b)
{
	return a.wrap == b.wrap && a.off == b.off;
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
