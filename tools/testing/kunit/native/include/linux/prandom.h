/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generator of the kernel (L'Ecuyer's taus113) with the same seed: a random case does
 * the same in both places.
 */
#ifndef NATIVE_LINUX_PRANDOM_H
#define NATIVE_LINUX_PRANDOM_H

#include <linux/minmax.h>
#include <linux/types.h>

struct rnd_state {
	u32 s[4];
};

static inline void prandom_seed_state(struct rnd_state *rnd, u64 seed)
{
	static const u32 least[4] = { 2, 8, 16, 128 };
	u32 i, mixed = seed >> 32 ^ seed << 10 ^ seed;

	for (i = 0; i < 4; i++)
		rnd->s[i] = mixed < least[i] ? mixed + least[i] : mixed;
}

static inline u32 prandom_u32_state(struct rnd_state *rnd)
{
	static const struct { u32 mask, left, up, down; } step[4] = {
		{ -2U, 18, 6, 13 }, { -8U, 2, 2, 27 }, { -16U, 7, 13, 21 }, { -128U, 13, 3, 12 },
	};
	u32 i, *s = rnd->s;

	for (i = 0; i < 4; i++)
		s[i] = (s[i] & step[i].mask) << step[i].left ^
		       (s[i] << step[i].up ^ s[i]) >> step[i].down;
	return s[0] ^ s[1] ^ s[2] ^ s[3];
}

static inline void prandom_bytes_state(struct rnd_state *rnd, void *buf, size_t len)
{
	u8 *p = buf;
	u32 i, word;

	for (i = 0; i < len; i++, word >>= 8) {
		if (i % 4 == 0)
			word = prandom_u32_state(rnd);
		p[i] = word;
	}
}

#endif
