// SPDX-License-Identifier: GPL-2.0
/*
 * SEED NUMBER: random schedules of two LLC machines; see ../schedules.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/kernel.h>

#include "smc_llc_chaos.h"

int main(int argc, char **argv)
{
	/* A group may end, but only a part of all groups. */
	static const struct {
		unsigned int faults;
		unsigned int least;	/* groups up in the end, percent */
	} class[] = {
		{ CHAOS_REQUESTS, 100 },
		{ CHAOS_REQUESTS | CHAOS_BREAKS, 93 },
		{ CHAOS_REQUESTS | CHAOS_BREAKS | CHAOS_SLOW, 75 },
		{ CHAOS_BREAKS | CHAOS_FAILURES, 91 },
		{ CHAOS_ALL & ~CHAOS_LOSSES, 71 },
		{ CHAOS_ALL, 66 },
		{ CHAOS_DEPLOYED | CHAOS_REQUESTS, 100 },
		{ CHAOS_DEPLOYED | CHAOS_REQUESTS | CHAOS_BREAKS, 94 },
		{ CHAOS_DEPLOYED | CHAOS_ALL, 80 },
		{ CHAOS_DEPLOYED | CHAOS_SERVER | CHAOS_REQUESTS, 100 },
		{ CHAOS_DEPLOYED | CHAOS_SERVER | CHAOS_ALL, 78 },
		{ CHAOS_DEPLOYED | CHAOS_OLD | CHAOS_REQUESTS, 100 },
		{ CHAOS_DEPLOYED | CHAOS_OLD | CHAOS_ALL, 75 },
		{ CHAOS_DEPLOYED | CHAOS_OLD | CHAOS_SERVER | CHAOS_REQUESTS, 100 },
		{ CHAOS_DEPLOYED | CHAOS_OLD | CHAOS_SERVER | CHAOS_ALL, 75 },
	};
	enum { NR = ARRAY_SIZE(class), ENOUGH = 1000 };
	unsigned long seed = strtoul(argv[1], NULL, 0), nr = strtoul(argv[2], NULL, 0);
	unsigned long i, bad = 0, bad_nonsense = 0, up = 0, nonsense = 0, links = 0;
	unsigned long of[NR] = {}, up_of[NR] = {};
	unsigned int with, k, few = 0;
	static struct world w;

	for (i = 0; i < nr; i++) {
		k = (seed + i) % NR;
		with = class[k].faults;
		of[k]++;
		if (!chaos_run(&w, seed + i, with, 150) && bad++ < 10)
			printf("seed %lu, faults %x, line %u: %s\n", seed + i, with, w.line,
			       w.fault);
		if (w.side[W_SERVER].flow.phase != SMC_LLC_UP)
			continue;
		up++;
		up_of[k]++;
		links += w_nr(&w.side[W_SERVER], SMC_LLC_LINK_ACTIVE);
	}
	for (i = 0; i < nr / 10; i++) {
		if (!chaos_nonsense(&w, seed + i, 30) && bad_nonsense++ < 10)
			printf("nonsense %lu, line %u: %s\n", seed + i, w.line, w.fault);
		nonsense += w.side[W_SERVER].flow.phase == SMC_LLC_UP;
	}
	for (k = 0; k < NR; k++) {
		printf("faults %02x: %lu of %lu groups up in the end", class[k].faults, up_of[k],
		       of[k]);
		/* A share of few groups means little. */
		if (of[k] >= ENOUGH && up_of[k] * 100 < of[k] * class[k].least) {
			printf(", less than %u%%", class[k].least);
			few++;
		}
		printf("\n");
	}
	printf("%lu groups up in the end, %lu.%02lu links each; %lu survived nonsense\n", up,
	       links / (up + !up), links * 100 / (up + !up) % 100, nonsense);
	/* three counts, for any number of schedules */
	printf("%lu schedules from seed %lu on, %lu with nonsense among the messages\n", nr, seed,
	       nr / 10);
	printf("%d passed, %d failed\n", !bad + !bad_nonsense + !few,
	       !!bad + !!bad_nonsense + !!few);
	return bad || bad_nonsense || few ? 1 : 0;
}
