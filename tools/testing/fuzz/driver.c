// SPDX-License-Identifier: GPL-2.0
/*
 * TARGET RUNS SEED FILE...: run a target without libFuzzer, first with each FILE as its input,
 * then with RUNS random changes of them. Prints the number of inputs. An input at which the
 * target ends the program is left in ./crash.
 */
#include "fz.h"

extern void __sanitizer_set_death_callback(void (*callback)(void));

#define MOST 2048	/* bytes of an input */

struct input {
	size_t len;
	u8 bytes[MOST];
};

static struct input now, *seeds;
static unsigned int nr_seeds;
static u64 state;

static u32 roll(u32 sides)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (u32)(state >> 20) % sides;
}

static void save(void)
{
	FILE *file = fopen("crash", "wb");

	if (!file)
		return;
	fwrite(now.bytes, 1, now.len, file);
	fclose(file);
	fprintf(stderr, "the input is in ./crash\n");
}

static void change(void)
{
	const struct input *other = &seeds[roll(nr_seeds)];
	size_t at = now.len ? roll(now.len) : 0, n;

	switch (roll(6)) {
	case 0:
		if (now.len)
			now.bytes[at] ^= 1 << roll(8);
		break;
	case 1:
		if (now.len)
			now.bytes[at] = roll(256);
		break;
	case 2:
		if (now.len)
			now.bytes[at] += roll(2) ? 1 : -1;
		break;
	case 3:
		now.len = roll(4) ? now.len : at;
		break;
	case 4:
		for (n = roll(32); n && now.len < MOST; n--)
			now.bytes[now.len++] = roll(256);
		break;
	default:
		/* the end of another seed */
		if (!other->len)
			break;
		n = roll(other->len);
		n = min(other->len - n, MOST - at);
		memcpy(now.bytes + at, other->bytes + other->len - n, n);
		now.len = max(now.len, at + n);
		break;
	}
}

int main(int argc, char **argv)
{
	unsigned long runs = strtoul(argv[1], NULL, 0), i;
	unsigned int k;

	state = strtoul(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ULL + 1;
	__sanitizer_set_death_callback(save);
	nr_seeds = argc - 3;
	seeds = calloc(nr_seeds, sizeof(*seeds));
	FZ_CHECK(nr_seeds && seeds);
	for (i = 0; i < nr_seeds; i++) {
		FILE *file = fopen(argv[3 + i], "rb");

		FZ_CHECK(file);
		seeds[i].len = fread(seeds[i].bytes, 1, MOST, file);
		fclose(file);
		now = seeds[i];
		LLVMFuzzerTestOneInput(now.bytes, now.len);
	}
	for (i = 0; i < runs; i++) {
		now = seeds[roll(nr_seeds)];
		for (k = 1 + roll(8); k; k--)
			change();
		LLVMFuzzerTestOneInput(now.bytes, now.len);
	}
	free(seeds);
	printf("%lu\n", nr_seeds + runs);
	return 0;
}
