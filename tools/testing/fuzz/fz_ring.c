// SPDX-License-Identifier: GPL-2.0
/* Plans of transfers in rings of any size: each byte goes where it belongs, and no other. */
#include "fz.h"

#include "proto/smc_ring.h"

enum { MOST = 256 };

/* An edge whose reader is in one of the first laps, or where their numbers wrap */
static struct smc_edge any_edge(struct fz_in *in)
{
	u32 base = fz_u8(in) & 1 ? SMC_EYE_CATCHER_LEN : 0, how = fz_u8(in);
	struct smc_edge e = { .base = base, .size = base + 1 + fz_u8(in) % (MOST - base) };
	u64 laps = how & 1 ? 0xffff - (how & 2) : how >> 1;

	e.lap = laps * smc_edge_space(&e);
	e.wrap = laps;
	return e;
}

/* The plan moves the bytes from @pos on, one by one. */
static void check_plan(const struct smc_xfer *x, u32 size, const struct smc_edge *dst, u64 pos)
{
	u32 i, k, n, total = 0;

	FZ_CHECK(x->pos == pos && x->nr_parts <= SMC_RING_SEGS);
	for (i = 0; i < x->nr_parts; i++) {
		const struct smc_xfer_part *part = &x->part[i];
		u32 off = part->off, len = 0;

		FZ_CHECK(part->len && part->nr_src && part->nr_src <= SMC_RING_SEGS);
		for (k = 0; k < part->nr_src; k++) {
			FZ_CHECK(part->src[k].len);
			for (n = 0; n < part->src[k].len; n++) {
				FZ_CHECK(part->src[k].off + n == pos % size);
				FZ_CHECK(off == dst->base + pos % smc_edge_space(dst));
				pos++;
				off++;
			}
			len += part->src[k].len;
		}
		FZ_CHECK(len == part->len);
		total += len;
	}
	FZ_CHECK(total == x->len);
}

/* A position and its cursor are one; a cursor from the peer is a position near the reader's. */
static void check_cursors(struct fz_in *in, const struct smc_edge *e, u64 pos)
{
	struct smc_cursor c = smc_edge_cursor(e, pos);
	u32 space = smc_edge_space(e);
	u64 again;

	FZ_CHECK(c.wrap == (u16)(pos / space) && c.off == e->base + pos % space);
	FZ_CHECK(!smc_edge_pos(e, c, &again) && again == pos);
	c = (struct smc_cursor){ .wrap = e->wrap + fz_u8(in) % 8 - 4, .off = fz_u8(in) };
	if (smc_edge_pos(e, c, &again))
		return;
	FZ_CHECK(again - (e->lap - space) < 3ULL * space);
	/* before the beginning of the stream it is huge */
	if (again + space >= space)
		FZ_CHECK(c.wrap == (u16)(again / space) && c.off == e->base + again % space);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fz_in in = { data, size };
	u32 src = 1 << fz_u8(&in) % 9;
	struct smc_edge dst = any_edge(&in);
	u32 space = smc_edge_space(&dst), used = fz_u8(&in) % (space + 1), gain, window;
	u64 cons = dst.lap + fz_u8(&in) % space, prod = cons + used;
	u32 len = min(fz_u8(&in) % (src + 1), space - used);
	bool is_awaited = fz_u8(&in) & 1;
	struct smc_xfer x;

	smc_ring_plan(src, &dst, prod, len, &x);
	FZ_CHECK(x.len == len);
	check_plan(&x, src, &dst, prod);
	check_cursors(&in, &dst, prod);
	/* the reader comes up to the writer: it stays in the lap or begins the next one */
	smc_edge_move(&dst, prod);
	FZ_CHECK(prod - dst.lap < space && dst.lap % space == 0);
	check_cursors(&in, &dst, prod + len);
	gain = fz_u8(&in) % (used + 1);
	window = space - used;
	FZ_CHECK(smc_ring_is_update_due(&dst, window, gain, is_awaited) ==
		 (gain && (is_awaited || (window < dst.size / 2 && gain >= dst.size / 10))));
	return 0;
}
