/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fuzz targets share. A target is one function, as libFuzzer calls it; driver.c calls it
 * without libFuzzer. It must not keep state from one input to the next.
 */
#ifndef FZ_H
#define FZ_H

#include <stdio.h>
#include <stdlib.h>

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* abort() makes both drivers save the input. */
#define FZ_CHECK(cond)								\
	do {									\
		if (!(cond)) {							\
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__,	\
				__LINE__, #cond);				\
			abort();						\
		}								\
	} while (0)

/* The input as a sequence of choices; zeros follow its end. */
struct fz_in {
	const u8 *at;
	size_t left;
};

static inline void fz_take(struct fz_in *in, void *to, size_t len)
{
	size_t here = min(len, in->left);

	memset(to, 0, len);
	if (here)
		memcpy(to, in->at, here);
	in->at += here;
	in->left -= here;
}

static inline u8 fz_u8(struct fz_in *in)
{
	u8 value;

	fz_take(in, &value, sizeof(value));
	return value;
}

static inline u32 fz_u32(struct fz_in *in)
{
	u32 value = fz_u8(in);

	value = value << 8 | fz_u8(in);
	value = value << 8 | fz_u8(in);
	return value << 8 | fz_u8(in);
}

/* The rest of the input in an allocation of its own: a sanitizer sees reads behind it. */
static inline u8 *fz_rest(struct fz_in *in, size_t *len)
{
	u8 *copy = malloc(in->left ?: 1);

	FZ_CHECK(copy);
	*len = in->left;
	fz_take(in, copy, in->left);
	return copy;
}

#endif /* FZ_H */
