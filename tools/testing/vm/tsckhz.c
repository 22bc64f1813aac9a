// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the frequency of the time stamp counter in kHz. An emulated machine
 * sees the counter of its host. A kernel that measures its frequency while the
 * host is busy may be wrong by any factor, and so is the machine's clock then.
 * So the runner measures it here and passes it to the kernel.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

enum { TRIES = 50 };

struct sample {
	double ns;
	double ticks;
};

/* The sample with the shortest time between its two clock reads. */
static struct sample take(void)
{
	struct timespec before, after;
	struct sample best = { 0 };
	double width, least = 1e18;
	unsigned long long ticks;
	int i;

	for (i = 0; i < TRIES; i++) {
		clock_gettime(CLOCK_MONOTONIC, &before);
		ticks = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC, &after);
		width = (after.tv_sec - before.tv_sec) * 1e9 +
			(after.tv_nsec - before.tv_nsec);
		if (width < least) {
			least = width;
			best.ns = before.tv_sec * 1e9 + before.tv_nsec + width / 2;
			best.ticks = ticks;
		}
	}
	return best;
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 200000000 };
	struct sample a, b;

	a = take();
	nanosleep(&pause, NULL);
	b = take();
	printf("%.0f\n", (b.ticks - a.ticks) / (b.ns - a.ns) * 1e6);
	return 0;
}
