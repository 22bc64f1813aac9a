// SPDX-License-Identifier: GPL-2.0
/* Plans of transfers in rings of any size: each byte goes where it belongs, and no other. */
#include "fz.h"

#include "proto/smc_ring.h"

enum { MOST = 256 };

static struct smc_geom any_geom(struct fz_in *in)
{
	u32 base = fz_u8(in) & 1 ? SMC_EYE_CATCHER_LEN : 0;

	return (struct smc_geom){ .base = base, .size = base + 1 + fz_u8(in) % (MOST - base) };
}

static struct smc_cursor any_cursor(struct fz_in *in, struct smc_geom geom)
{
	return (struct smc_cursor){ .wrap = fz_u8(in) & 1 ? 0xffff : fz_u8(in),
				    .off = geom.base + fz_u8(in) % smc_geom_space(geom) };
}

/* The plan moves the bytes from @sent on to those from @prod on, one by one. */
static void check_plan(const struct smc_xfer *x, struct smc_geom src, struct smc_cursor sent,
		       struct smc_geom dst, struct smc_cursor prod)
{
	u32 i, k, n, total = 0;

	FZ_CHECK(x->nr_parts <= SMC_RING_SEGS);
	for (i = 0; i < x->nr_parts; i++) {
		const struct smc_xfer_part *part = &x->part[i];
		u32 off = part->off, len = 0;

		FZ_CHECK(part->len && part->nr_src && part->nr_src <= SMC_RING_SEGS);
		for (k = 0; k < part->nr_src; k++) {
			FZ_CHECK(part->src[k].len);
			for (n = 0; n < part->src[k].len; n++) {
				FZ_CHECK(part->src[k].off + n == sent.off);
				FZ_CHECK(off == prod.off);
				sent = smc_cursor_advance(src, sent, 1);
				prod = smc_cursor_advance(dst, prod, 1);
				off++;
			}
			len += part->src[k].len;
		}
		FZ_CHECK(len == part->len);
		total += len;
	}
	FZ_CHECK(total == x->len);
}

static void check_update(struct smc_geom geom, struct smc_cursor prod, struct smc_cursor cons,
			 u32 gain, bool is_awaited)
{
	struct smc_ring_update u = {
		.geom = geom, .prod = prod, .cons = cons, .is_awaited = is_awaited,
		.cons_sent = smc_cursor_retreat(geom, cons, gain),
	};
	u32 window = smc_ring_window(geom, prod, u.cons_sent);

	FZ_CHECK(smc_ring_is_update_due(&u) ==
		 (gain && (is_awaited || (window < geom.size / 2 && gain >= geom.size / 10))));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fz_in in = { data, size };
	struct smc_geom src = any_geom(&in), dst = any_geom(&in);
	struct smc_cursor sent = any_cursor(&in, src), prod = any_cursor(&in, dst), prep, cons;
	u32 unsent = fz_u8(&in) % (smc_geom_space(src) + 1);
	u32 used = fz_u8(&in) % (smc_geom_space(dst) + 1);
	u32 limit = fz_u8(&in) & 1 ? fz_u8(&in) : ~0U, gain;
	struct smc_xfer x;

	prep = smc_cursor_advance(src, sent, unsent);
	cons = smc_cursor_retreat(dst, prod, used);
	FZ_CHECK(smc_cursor_distance(src, sent, prep) == (int)unsent);
	FZ_CHECK(smc_ring_window(dst, prod, cons) == smc_geom_space(dst) - used);
	smc_ring_plan(src, sent, prep, dst, prod, cons, limit, &x);
	FZ_CHECK(x.len == min3(unsent, smc_geom_space(dst) - used, limit));
	check_plan(&x, src, sent, dst, prod);
	gain = fz_u8(&in) % (smc_geom_space(dst) + 1 - used);
	check_update(dst, prod, cons, gain, fz_u8(&in) & 1);

	/* any cursors, as a peer may send them: no plan, or one inside of the rings */
	prod.wrap = fz_u8(&in);
	cons = any_cursor(&in, dst);
	smc_ring_plan(src, sent, prep, dst, prod, cons, limit, &x);
	FZ_CHECK(x.len <= unsent && x.len <= smc_ring_window(dst, prod, cons));
	check_plan(&x, src, sent, dst, prod);
	return 0;
}
