// SPDX-License-Identifier: GPL-2.0
/*
 * Two LLC machines joined by a wire (smc_llc_chaos.h): the input chooses order, losses,
 * duplicates, breaks and failures. In the end both agree, or both have ended.
 */
#include "fz.h"

static u32 fz_roll(u32 sides);
#define chaos_roll(sides) fz_roll(sides)
#include "smc_llc_chaos.h"

static struct fz_in input;

/* The schedule goes on at random when the input is used up: it ends by steps. */
static u32 fz_roll(u32 sides)
{
	if (input.left)
		return fz_u8(&input) % sides;
	chaos_state ^= chaos_state << 13;
	chaos_state ^= chaos_state >> 7;
	chaos_state ^= chaos_state << 17;
	return (u32)(chaos_state >> 20) % sides;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const unsigned int faults[] = {
		CHAOS_REQUESTS, CHAOS_REQUESTS | CHAOS_BREAKS, CHAOS_BREAKS | CHAOS_FAILURES,
		CHAOS_ALL & ~CHAOS_LOSSES, CHAOS_ALL, CHAOS_DEPLOYED | CHAOS_REQUESTS,
		CHAOS_DEPLOYED | CHAOS_ALL, CHAOS_DEPLOYED | CHAOS_SERVER | CHAOS_ALL,
	};
	static struct world w;
	bool is_good;
	u8 how;

	input = (struct fz_in){ data, size };
	how = fz_u8(&input);
	if (how & 8)
		is_good = chaos_nonsense(&w, size, 30);
	else
		is_good = chaos_run(&w, size, faults[how % 8], 150);
	if (!is_good)
		fprintf(stderr, "smc_llc_world.h:%u: %s\n", w.line, w.fault);
	FZ_CHECK(is_good);
	return 0;
}
