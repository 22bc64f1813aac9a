// SPDX-License-Identifier: GPL-2.0
/*
 * Transfer plans and the rule for window updates: vectors from RFC 7609 Sections 4.5.1 and
 * 4.7, and a comparison with byte arrays.
 */
#include "smc_kunit.h"
#include <linux/prandom.h>

#include "../../../net/smc/proto/smc_ring.c"

static const struct smc_geom rfc_geom = { .size = 10000, .base = 4 };

static struct smc_cursor curs(u16 wrap, u32 off)
{
	return (struct smc_cursor){ .wrap = wrap, .off = off };
}

static void segs_none_for_an_empty_range(struct kunit *test)
{
	struct smc_seg seg[SMC_RING_SEGS];

	KUNIT_EXPECT_EQ(test, smc_ring_segs(rfc_geom, curs(0, 4), 0, seg), 0U);
}

static void segs_one_up_to_the_end(struct kunit *test)
{
	struct smc_seg seg[SMC_RING_SEGS];

	KUNIT_EXPECT_EQ(test, smc_ring_segs(rfc_geom, curs(0, 9000), 1000,
					    seg), 1U);
	KUNIT_EXPECT_EQ(test, seg[0].off, 9000U);
	KUNIT_EXPECT_EQ(test, seg[0].len, 1000U);
}

/* Scenario 4: a full ring from 1004 on. */
static void tx_03_segs_split_at_the_end(struct kunit *test)
{
	struct smc_seg seg[SMC_RING_SEGS];

	KUNIT_EXPECT_EQ(test, smc_ring_segs(rfc_geom, curs(1, 1004), 9996,
					    seg), 2U);
	KUNIT_EXPECT_EQ(test, seg[0].off, 1004U);
	KUNIT_EXPECT_EQ(test, seg[0].len, 8996U);
	KUNIT_EXPECT_EQ(test, seg[1].off, 4U);
	KUNIT_EXPECT_EQ(test, seg[1].len, 1000U);
}

static void win_01_window_is_space_less_what_is_used(struct kunit *test)
{
	struct smc_geom g = rfc_geom;

	KUNIT_EXPECT_EQ(test, smc_ring_window(g, curs(0, 4), curs(0, 4)),
			9996U);
	KUNIT_EXPECT_EQ(test, smc_ring_window(g, curs(0, 1004), curs(0, 4)),
			8996U);
	KUNIT_EXPECT_EQ(test, smc_ring_window(g, curs(1, 104), curs(0, 9000)),
			8896U);
	KUNIT_EXPECT_EQ(test, smc_ring_window(g, curs(0, 104), curs(65535,
								    9000)),
			8896U);
}

static void cur_08_full_window_is_no_window(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_ring_window(rfc_geom, curs(2, 1004),
					      curs(1, 1004)), 0U);
}

static void cur_10_equal_wraps_free_the_window(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_ring_window(rfc_geom, curs(2, 1004),
					      curs(2, 1004)), 9996U);
}

static void cur_12_impossible_cursors_give_no_window(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_ring_window(rfc_geom, curs(2, 1004),
					      curs(2, 1005)), 0U);
	KUNIT_EXPECT_EQ(test, smc_ring_window(rfc_geom, curs(2, 1005),
					      curs(1, 1004)), 0U);
}

static void tx_10_plan_one_write(struct kunit *test)
{
	struct smc_geom src = { .size = 65536 };
	struct smc_xfer x;

	smc_ring_plan(src, curs(0, 0), curs(0, 1000), rfc_geom, curs(0, 4),
		      curs(0, 4), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 1000U);
	KUNIT_EXPECT_EQ(test, x.nr_parts, 1);
	KUNIT_EXPECT_EQ(test, x.part[0].off, 4U);
	KUNIT_EXPECT_EQ(test, x.part[0].len, 1000U);
	KUNIT_EXPECT_EQ(test, x.part[0].nr_src, 1);
	KUNIT_EXPECT_EQ(test, x.part[0].src[0].off, 0U);
	KUNIT_EXPECT_EQ(test, x.part[0].src[0].len, 1000U);
}

/* Both rings wrap within the transfer, at different places. */
static void tx_03_plan_two_writes_three_sources(struct kunit *test)
{
	struct smc_geom src = { .size = 8192 };
	struct smc_xfer x;

	smc_ring_plan(src, curs(0, 8000), curs(1, 2000), rfc_geom,
		      curs(0, 9900), curs(0, 9900), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 2192U);
	KUNIT_ASSERT_EQ(test, x.nr_parts, 2);
	KUNIT_EXPECT_EQ(test, x.part[0].off, 9900U);
	KUNIT_EXPECT_EQ(test, x.part[0].len, 100U);
	KUNIT_EXPECT_EQ(test, x.part[0].nr_src, 1);
	KUNIT_EXPECT_EQ(test, x.part[0].src[0].off, 8000U);
	KUNIT_EXPECT_EQ(test, x.part[1].off, 4U);
	KUNIT_EXPECT_EQ(test, x.part[1].len, 2092U);
	KUNIT_ASSERT_EQ(test, x.part[1].nr_src, 2);
	KUNIT_EXPECT_EQ(test, x.part[1].src[0].off, 8100U);
	KUNIT_EXPECT_EQ(test, x.part[1].src[0].len, 92U);
	KUNIT_EXPECT_EQ(test, x.part[1].src[1].off, 0U);
	KUNIT_EXPECT_EQ(test, x.part[1].src[1].len, 2000U);
}

static void tx_03_plan_one_write_two_sources(struct kunit *test)
{
	struct smc_geom src = { .size = 8192 };
	struct smc_xfer x;

	smc_ring_plan(src, curs(0, 8000), curs(1, 200), rfc_geom, curs(0, 4),
		      curs(0, 4), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 392U);
	KUNIT_ASSERT_EQ(test, x.nr_parts, 1);
	KUNIT_ASSERT_EQ(test, x.part[0].nr_src, 2);
	KUNIT_EXPECT_EQ(test, x.part[0].src[0].off, 8000U);
	KUNIT_EXPECT_EQ(test, x.part[0].src[0].len, 192U);
	KUNIT_EXPECT_EQ(test, x.part[0].src[1].off, 0U);
	KUNIT_EXPECT_EQ(test, x.part[0].src[1].len, 200U);
}

static void blk_01_plan_ends_where_the_window_does(struct kunit *test)
{
	struct smc_geom src = { .size = 65536 };
	struct smc_xfer x;

	smc_ring_plan(src, curs(0, 0), curs(0, 20000), rfc_geom, curs(1, 1004),
		      curs(1, 1004), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 9996U);
	smc_ring_plan(src, curs(0, 0), curs(0, 9996), rfc_geom, curs(1, 1004),
		      curs(1, 1004), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 9996U);
	smc_ring_plan(src, curs(0, 0), curs(0, 9995), rfc_geom, curs(1, 1004),
		      curs(1, 1004), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 9995U);
}

static void cur_07_plan_stops_at_the_consumer_cursor(struct kunit *test)
{
	struct smc_geom src = { .size = 65536 };
	struct smc_xfer x;

	smc_ring_plan(src, curs(0, 0), curs(0, 20000), rfc_geom, curs(1, 500),
		      curs(0, 600), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 100U);
	KUNIT_EXPECT_EQ(test, x.part[0].off, 500U);
}

static void plan_is_empty_when_nothing_can_move(struct kunit *test)
{
	struct smc_geom src = { .size = 65536 };
	struct smc_xfer x;

	/* Nothing unsent. */
	smc_ring_plan(src, curs(0, 9), curs(0, 9), rfc_geom, curs(0, 4),
		      curs(0, 4), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 0U);
	KUNIT_EXPECT_EQ(test, x.nr_parts, 0);
	/* No window. */
	smc_ring_plan(src, curs(0, 0), curs(0, 9), rfc_geom, curs(1, 4),
		      curs(0, 4), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 0U);
	/* Not allowed. */
	smc_ring_plan(src, curs(0, 0), curs(0, 9), rfc_geom, curs(0, 4),
		      curs(0, 4), 0, &x);
	KUNIT_EXPECT_EQ(test, x.len, 0U);
	/* An impossible state of the send ring. */
	smc_ring_plan(src, curs(0, 9), curs(0, 8), rfc_geom, curs(0, 4),
		      curs(0, 4), U32_MAX, &x);
	KUNIT_EXPECT_EQ(test, x.len, 0U);
}

static void plan_respects_the_limit(struct kunit *test)
{
	struct smc_geom src = { .size = 65536 };
	struct smc_xfer x;

	smc_ring_plan(src, curs(0, 0), curs(0, 1000), rfc_geom, curs(0, 4),
		      curs(0, 4), 10, &x);
	KUNIT_EXPECT_EQ(test, x.len, 10U);
}

/*
 * A reader of a 64K buffer without an eye catcher, as in the RFC's examples: the writer has
 * seen a window of @seen bytes, the real window has @real.
 */
static struct smc_ring_update example(u32 seen, u32 real)
{
	struct smc_ring_update u = {
		.geom = { .size = 65536 },
		.prod = curs(5, 1000),
	};

	u.cons_sent = smc_cursor_retreat(u.geom, u.prod, 65536 - seen);
	u.cons = smc_cursor_retreat(u.geom, u.prod, 65536 - real);
	return u;
}

static void win_03_plenty_of_window_needs_no_update(struct kunit *test)
{
	struct smc_ring_update u = example(50 * 1024, 65536);

	KUNIT_EXPECT_FALSE(test, smc_ring_is_update_due(&u));
}

static void win_04_small_gain_needs_no_update(struct kunit *test)
{
	struct smc_ring_update u = example(30 * 1024, 31 * 1024);

	KUNIT_EXPECT_FALSE(test, smc_ring_is_update_due(&u));
}

static void win_05_large_gain_below_half_is_due(struct kunit *test)
{
	struct smc_ring_update u = example(30 * 1024, 65536);

	KUNIT_EXPECT_TRUE(test, smc_ring_is_update_due(&u));
}

static void win_02_boundaries_of_half_and_tenth(struct kunit *test)
{
	static const struct {
		u32 seen;
		u32 gain;
		bool is_due;
	} rows[] = {
		{ 32768, 30000, false },	/* half is not below half */
		{ 32767, 30000, true },
		{ 10000, 6552, false },		/* 65536 / 10 = 6553.6 */
		{ 10000, 6553, true },		/* at least ten percent */
		{ 10000, 6554, true },
		{ 0, 6553, true },
		{ 0, 65536, true },
		{ 0, 0, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_ring_update u = example(rows[i].seen,
						   rows[i].seen + rows[i].gain);

		KUNIT_EXPECT_EQ_MSG(test, smc_ring_is_update_due(&u),
				    rows[i].is_due, "seen %u gain %u",
				    rows[i].seen, rows[i].gain);
	}
}

static void win_06_scenario_3_is_due(struct kunit *test)
{
	struct smc_ring_update u = {
		.geom = rfc_geom,
		.prod = curs(0, 7004),
		.cons_sent = curs(0, 4),
		.cons = curs(0, 7004),
	};

	KUNIT_EXPECT_TRUE(test, smc_ring_is_update_due(&u));
	/* With the first 3000 alone it was not due. */
	u.prod = curs(0, 3004);
	u.cons = curs(0, 3004);
	KUNIT_EXPECT_FALSE(test, smc_ring_is_update_due(&u));
}

static void win_08_any_byte_is_due_if_awaited(struct kunit *test)
{
	struct smc_ring_update u = example(0, 1);

	KUNIT_EXPECT_FALSE(test, smc_ring_is_update_due(&u));
	u.is_awaited = true;
	KUNIT_EXPECT_TRUE(test, smc_ring_is_update_due(&u));
	u.cons = u.cons_sent;
	KUNIT_EXPECT_FALSE(test, smc_ring_is_update_due(&u));
}

static void win_08_win_09_urg_06_awaited_overrides_the_rule(struct kunit *test)
{
	struct smc_ring_update u = example(60000, 60001);

	KUNIT_EXPECT_FALSE(test, smc_ring_is_update_due(&u));
	u.is_awaited = true;
	KUNIT_EXPECT_TRUE(test, smc_ring_is_update_due(&u));
	u.cons = u.cons_sent;
	KUNIT_EXPECT_FALSE(test, smc_ring_is_update_due(&u));
}

/*
 * The model: one array is the send ring, one the peer's element; byte n of the stream is a
 * function of n. Each plan is carried out. The element must then hold the stream at the
 * reader's position, with an intact eye catcher, and unread bytes must be unchanged.
 */
struct ring_model {
	struct smc_geom src_geom;
	struct smc_geom dst_geom;
	u8 *src;
	u8 *dst;
	bool *is_unread;
	struct smc_cursor prep, sent, prod, cons;
	u64 nr_prep, nr_sent, nr_read;
};

static u8 stream_byte(u64 n)
{
	return n * 131 + (n >> 8) * 17 + (n >> 16);
}

static void model_init(struct kunit *test, struct ring_model *m,
		       struct smc_geom src, struct smc_geom dst)
{
	m->src_geom = src;
	m->dst_geom = dst;
	m->src = kunit_kzalloc(test, src.size, GFP_KERNEL);
	m->dst = kunit_kzalloc(test, dst.size, GFP_KERNEL);
	m->is_unread = kunit_kzalloc(test, dst.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->src);
	KUNIT_ASSERT_NOT_NULL(test, m->dst);
	KUNIT_ASSERT_NOT_NULL(test, m->is_unread);
	memset(m->dst, 0xee, dst.base);
	m->prep = curs(65530, src.base);
	m->sent = m->prep;
	m->prod = curs(65531, dst.base);
	m->cons = m->prod;
}

static void model_prepare(struct ring_model *m, u32 n)
{
	u32 room = smc_geom_space(m->src_geom) -
		   smc_cursor_distance(m->src_geom, m->sent, m->prep);

	for (n = min(n, room); n; n--) {
		m->src[m->prep.off] = stream_byte(m->nr_prep++);
		m->prep = smc_cursor_advance(m->src_geom, m->prep, 1);
	}
}

static void model_write(struct kunit *test, struct ring_model *m,
			const struct smc_xfer *x)
{
	u32 i, k, n, at, total = 0;

	for (i = 0; i < x->nr_parts; i++) {
		const struct smc_xfer_part *part = &x->part[i];

		KUNIT_ASSERT_GE(test, part->off, m->dst_geom.base);
		KUNIT_ASSERT_LE(test, part->off + part->len, m->dst_geom.size);
		KUNIT_ASSERT_GT(test, part->nr_src, 0);
		at = part->off;
		for (k = 0; k < part->nr_src; k++) {
			KUNIT_ASSERT_LE(test, part->src[k].off +
					part->src[k].len, m->src_geom.size);
			for (n = 0; n < part->src[k].len; n++, at++, total++) {
				KUNIT_ASSERT_FALSE(test, m->is_unread[at]);
				m->is_unread[at] = true;
				m->dst[at] = m->src[part->src[k].off + n];
			}
		}
		KUNIT_ASSERT_EQ(test, at, part->off + part->len);
	}
	KUNIT_ASSERT_EQ(test, total, x->len);
	m->sent = smc_cursor_advance(m->src_geom, m->sent, x->len);
	m->prod = smc_cursor_advance(m->dst_geom, m->prod, x->len);
	m->nr_sent += x->len;
}

static void model_read(struct kunit *test, struct ring_model *m, u32 n)
{
	u32 have = smc_cursor_distance(m->dst_geom, m->cons, m->prod);

	KUNIT_ASSERT_EQ(test, (u64)have, m->nr_sent - m->nr_read);
	for (n = min(n, have); n; n--) {
		KUNIT_ASSERT_TRUE(test, m->is_unread[m->cons.off]);
		KUNIT_ASSERT_EQ(test, m->dst[m->cons.off],
				stream_byte(m->nr_read));
		m->is_unread[m->cons.off] = false;
		m->nr_read++;
		m->cons = smc_cursor_advance(m->dst_geom, m->cons, 1);
	}
}

static void model_run(struct kunit *test, struct smc_geom src,
		      struct smc_geom dst, u32 steps)
{
	struct ring_model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	u32 big = max(src.size, dst.size) + 2;
	struct rnd_state rnd;
	struct smc_xfer x;
	u32 i, unsent;

	KUNIT_ASSERT_NOT_NULL(test, m);
	model_init(test, m, src, dst);
	prandom_seed_state(&rnd, src.size * 65536ULL + dst.size);
	for (i = 0; i < steps; i++) {
		u32 limit = prandom_u32_state(&rnd) % big;
		u32 window = smc_ring_window(dst, m->prod, m->cons);

		model_prepare(m, prandom_u32_state(&rnd) % big);
		if (prandom_u32_state(&rnd) % 4)
			limit = U32_MAX;
		unsent = m->nr_prep - m->nr_sent;
		smc_ring_plan(src, m->sent, m->prep, dst, m->prod, m->cons,
			      limit, &x);
		/* TX-06: as much as the bounds allow, never less. */
		KUNIT_ASSERT_EQ(test, x.len, min3(unsent, window, limit));
		model_write(test, m, &x);
		model_read(test, m, prandom_u32_state(&rnd) % big);
	}
	model_read(test, m, U32_MAX);
	KUNIT_EXPECT_EQ(test, m->nr_read, m->nr_sent);
	/* The ring wrapped often, and so did the wrap numbers. */
	KUNIT_EXPECT_GT(test, m->nr_read, 10ULL * dst.size);
	KUNIT_EXPECT_LT(test, m->prod.wrap, 60000);
	for (i = 0; i < dst.base; i++)
		KUNIT_EXPECT_EQ(test, m->dst[i], 0xee);
}

static void tx_05_tx_06_property_bytes_survive_any_plan(struct kunit *test)
{
	static const struct smc_geom srcs[] = {
		{ 1, 0 }, { 7, 0 }, { 64, 0 }, { 101, 0 },
	};
	static const struct smc_geom dsts[] = {
		{ 5, 4 }, { 37, 4 }, { 37, 0 }, { 64, 0 }, { 64, 4 },
		{ 103, 4 },
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(srcs); i++)
		for (k = 0; k < ARRAY_SIZE(dsts); k++)
			model_run(test, srcs[i], dsts[k],
				  srcs[i].size == 1 ? 4000 : 1500);
}

static void tx_06_a_message_is_a_quarter_of_the_smaller_ring(struct kunit *test)
{
	struct smc_geom small = { .size = 16384, .base = 4 }, medium = { .size = 65536 };
	struct smc_geom large = { .size = 262144, .base = 4 };

	KUNIT_EXPECT_EQ(test, smc_ring_message(large, large), 65535U);
	KUNIT_EXPECT_EQ(test, smc_ring_message(large, medium), 32768U);
	KUNIT_EXPECT_EQ(test, smc_ring_message(medium, large), 32768U);
	/* an event costs more than an overlap gains */
	KUNIT_EXPECT_EQ(test, smc_ring_message(small, large), 32768U);
}

struct hold_row {
	const char *what;
	struct smc_ring_hold h;
	bool is_held;
};

static void run_hold_rows(struct kunit *test, const struct hold_row *row, u32 nr)
{
	for (; nr; nr--, row++) {
		struct smc_ring_hold h = row->h;

		h.enough = 16384;
		h.most = h.most ?: 65536;
		KUNIT_EXPECT_EQ_MSG(test, smc_ring_is_held_back(&h),
				    row->is_held, "%s", row->what);
	}
}

static void tx_06_data_waits_only_for_a_message_in_flight(struct kunit *test)
{
	static const struct hold_row rows[] = {
		{ "one byte on an idle connection", { .unsent = 1 }, false },
		{ "one byte behind a message",
		  { .unsent = 1, .is_inflight = true }, true },
		{ "nearly a full message behind another one",
		  { .unsent = 16383, .is_inflight = true }, true },
		{ "a full message",
		  { .unsent = 16384, .is_inflight = true }, false },
		{ "more than the administrator wants to wait",
		  { .unsent = 101, .most = 100, .is_inflight = true }, false },
		{ "no more than that",
		  { .unsent = 100, .most = 100, .is_inflight = true }, true },
		{ "an urgent byte",
		  { .unsent = 1, .is_inflight = true, .is_urgent = true }, false },
		{ "what must go",
		  { .unsent = 1, .is_inflight = true, .is_flushed = true }, false },
	};

	run_hold_rows(test, rows, ARRAY_SIZE(rows));
}

static void tx_07_corked_data_waits_for_a_message_or_the_timer(struct kunit *test)
{
	static const struct hold_row rows[] = {
		{ "a byte", { .unsent = 1, .is_corked = true }, true },
		{ "nearly a message", { .unsent = 16383, .is_corked = true }, true },
		{ "a message", { .unsent = 16384, .is_corked = true }, false },
		{ "the time is up",
		  { .unsent = 1, .is_corked = true, .is_flushed = true }, false },
		{ "an urgent byte",
		  { .unsent = 1, .is_corked = true, .is_urgent = true }, false },
	};

	run_hold_rows(test, rows, ARRAY_SIZE(rows));
}

static void tx_08_no_data_waits_with_autocorking_off(struct kunit *test)
{
	struct smc_ring_hold hold = { .unsent = 1, .enough = 16384, .is_inflight = true };

	KUNIT_EXPECT_FALSE(test, smc_ring_is_held_back(&hold));
	hold.most = 1;
	KUNIT_EXPECT_TRUE(test, smc_ring_is_held_back(&hold));
}

/* A reader of few bytes at a time opens the window in small steps. */
static void tx_07_win_08_crumbs_wait_for_the_message_in_flight(struct kunit *test)
{
	static const struct hold_row rows[] = {
		{ "a crumb of room for a full ring",
		  { .unsent = 65535, .is_inflight = true, .window = 64,
		    .peer_ring = 65532 }, true },
		{ "whatever has waited",
		  { .unsent = 65535, .is_inflight = true, .window = 64,
		    .peer_ring = 65532, .is_flushed = true }, true },
		{ "less than a tenth",
		  { .unsent = 65535, .is_inflight = true, .window = 6552,
		    .peer_ring = 65532 }, true },
		{ "a tenth",
		  { .unsent = 65535, .is_inflight = true, .window = 6553,
		    .peer_ring = 65532 }, false },
		{ "nothing in flight",
		  { .unsent = 65535, .window = 64, .peer_ring = 65532 }, false },
		{ "room for all there is",
		  { .unsent = 64, .is_inflight = true, .window = 64,
		    .peer_ring = 65532, .is_flushed = true }, false },
		{ "an urgent byte",
		  { .unsent = 65535, .is_inflight = true, .window = 64,
		    .peer_ring = 65532, .is_urgent = true }, false },
	};

	run_hold_rows(test, rows, ARRAY_SIZE(rows));
}

static struct kunit_case smc_ring_cases[] = {
	KUNIT_CASE(segs_none_for_an_empty_range),
	KUNIT_CASE(segs_one_up_to_the_end),
	KUNIT_CASE(tx_03_segs_split_at_the_end),
	KUNIT_CASE(win_01_window_is_space_less_what_is_used),
	KUNIT_CASE(cur_08_full_window_is_no_window),
	KUNIT_CASE(cur_10_equal_wraps_free_the_window),
	KUNIT_CASE(cur_12_impossible_cursors_give_no_window),
	KUNIT_CASE(plan_is_empty_when_nothing_can_move),
	KUNIT_CASE(tx_10_plan_one_write),
	KUNIT_CASE(tx_03_plan_two_writes_three_sources),
	KUNIT_CASE(tx_03_plan_one_write_two_sources),
	KUNIT_CASE(blk_01_plan_ends_where_the_window_does),
	KUNIT_CASE(cur_07_plan_stops_at_the_consumer_cursor),
	KUNIT_CASE(plan_respects_the_limit),
	KUNIT_CASE(tx_06_a_message_is_a_quarter_of_the_smaller_ring),
	KUNIT_CASE(tx_06_data_waits_only_for_a_message_in_flight),
	KUNIT_CASE(tx_07_corked_data_waits_for_a_message_or_the_timer),
	KUNIT_CASE(tx_08_no_data_waits_with_autocorking_off),
	KUNIT_CASE(tx_07_win_08_crumbs_wait_for_the_message_in_flight),
	KUNIT_CASE(win_03_plenty_of_window_needs_no_update),
	KUNIT_CASE(win_04_small_gain_needs_no_update),
	KUNIT_CASE(win_05_large_gain_below_half_is_due),
	KUNIT_CASE(win_02_boundaries_of_half_and_tenth),
	KUNIT_CASE(win_06_scenario_3_is_due),
	KUNIT_CASE(win_08_any_byte_is_due_if_awaited),
	KUNIT_CASE(win_08_win_09_urg_06_awaited_overrides_the_rule),
	KUNIT_CASE(tx_05_tx_06_property_bytes_survive_any_plan),
	{}
};

static struct kunit_suite smc_ring_suite = {
	.name = "smc_ring",
	.test_cases = smc_ring_cases,
};

kunit_test_suite(smc_ring_suite);
