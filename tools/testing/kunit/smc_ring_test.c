// SPDX-License-Identifier: GPL-2.0
/*
 * Transfer plans and the rule for window updates: vectors from RFC 7609 Sections 4.5.1 and
 * 4.7, and a comparison with byte arrays.
 */
#include "smc_kunit.h"
#include <linux/prandom.h>

#include "../../../net/smc/proto/smc_ring.c"
#include "proto/smc_cdc_wire.h"

static const struct smc_edge rfc_edge = { .size = 10000, .base = 4 };

static struct smc_cursor curs(u16 wrap, u32 off)
{
	return (struct smc_cursor){ .wrap = wrap, .off = off };
}

/* The same edge with its reader in lap @wrap */
static struct smc_edge edge_at(struct smc_edge e, u64 wrap)
{
	e.lap = wrap * smc_edge_space(&e);
	e.wrap = wrap;
	return e;
}

/* A writer with a send ring of 64 KiB and the peer's element; all was sent. */
static struct smc_cdc_ctl *writer_new(struct kunit *test, struct smc_cursor prod,
				      struct smc_cursor cons)
{
	struct smc_cdc_ctl *ctl = kunit_kzalloc(test, sizeof(*ctl), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctl);
	smc_cdc_ctl_init(ctl, rfc_edge.base, rfc_edge.size, rfc_edge.size, 65536);
	ctl->tx_edge = edge_at(rfc_edge, cons.wrap);
	KUNIT_ASSERT_EQ(test, smc_edge_pos(&ctl->tx_edge, prod, &ctl->tx_sent), 0);
	KUNIT_ASSERT_EQ(test, smc_edge_pos(&ctl->tx_edge, cons, &ctl->tx_cons), 0);
	ctl->tx_prep = ctl->tx_sent;
	return ctl;
}

static u32 window(struct kunit *test, struct smc_cursor prod, struct smc_cursor cons)
{
	return smc_cdc_window(writer_new(test, prod, cons));
}

/* The plan of @unsent bytes */
static struct smc_xfer plan(struct kunit *test, u32 unsent, struct smc_cursor prod,
			    struct smc_cursor cons, u32 most)
{
	struct smc_cdc_ctl *ctl = writer_new(test, prod, cons);
	struct smc_xfer x;

	ctl->tx_prep += unsent;
	smc_cdc_plan(ctl, most, &x);
	return x;
}

static void segs_none_for_an_empty_range(struct kunit *test)
{
	struct smc_seg seg[SMC_RING_SEGS];

	KUNIT_EXPECT_EQ(test, smc_ring_segs(10000, 4, 4, 0, seg), 0U);
}

static void segs_one_up_to_the_end(struct kunit *test)
{
	struct smc_seg seg[SMC_RING_SEGS];

	KUNIT_EXPECT_EQ(test, smc_ring_segs(10000, 4, 9000, 1000, seg), 1U);
	KUNIT_EXPECT_EQ(test, seg[0].off, 9000U);
	KUNIT_EXPECT_EQ(test, seg[0].len, 1000U);
}

/* Scenario 4: a full ring from 1004 on. */
static void tx_03_segs_split_at_the_end(struct kunit *test)
{
	struct smc_seg seg[SMC_RING_SEGS];

	KUNIT_EXPECT_EQ(test, smc_ring_segs(10000, 4, 1004, 9996, seg), 2U);
	KUNIT_EXPECT_EQ(test, seg[0].off, 1004U);
	KUNIT_EXPECT_EQ(test, seg[0].len, 8996U);
	KUNIT_EXPECT_EQ(test, seg[1].off, 4U);
	KUNIT_EXPECT_EQ(test, seg[1].len, 1000U);
}

static void win_01_window_is_space_less_what_is_used(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, window(test, curs(0, 4), curs(0, 4)), 9996U);
	KUNIT_EXPECT_EQ(test, window(test, curs(0, 1004), curs(0, 4)), 8996U);
	KUNIT_EXPECT_EQ(test, window(test, curs(1, 104), curs(0, 9000)), 8896U);
	KUNIT_EXPECT_EQ(test, window(test, curs(0, 104), curs(65535, 9000)), 8896U);
}

static void cur_08_full_window_is_no_window(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, window(test, curs(2, 1004), curs(1, 1004)), 0U);
}

static void cur_10_equal_wraps_free_the_window(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, window(test, curs(2, 1004), curs(2, 1004)), 9996U);
}

static void tx_10_plan_one_write(struct kunit *test)
{
	struct smc_xfer x;

	smc_ring_plan(65536, &rfc_edge, 0, 1000, &x);
	KUNIT_EXPECT_EQ(test, x.pos, 0ULL);
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
	/* in lap 226, 9900 of the element is 8000 of the send ring */
	struct smc_edge dst = edge_at(rfc_edge, 226);
	u64 pos = dst.lap + 9896;
	struct smc_xfer x;

	smc_ring_plan(8192, &dst, pos, 2192, &x);
	KUNIT_EXPECT_EQ(test, x.pos, pos);
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
	/* lap 1008 begins at 8000 of the send ring */
	struct smc_edge dst = edge_at(rfc_edge, 1008);
	struct smc_xfer x;

	smc_ring_plan(8192, &dst, dst.lap, 392, &x);
	KUNIT_EXPECT_EQ(test, x.len, 392U);
	KUNIT_ASSERT_EQ(test, x.nr_parts, 1);
	KUNIT_EXPECT_EQ(test, x.part[0].off, 4U);
	KUNIT_ASSERT_EQ(test, x.part[0].nr_src, 2);
	KUNIT_EXPECT_EQ(test, x.part[0].src[0].off, 8000U);
	KUNIT_EXPECT_EQ(test, x.part[0].src[0].len, 192U);
	KUNIT_EXPECT_EQ(test, x.part[0].src[1].off, 0U);
	KUNIT_EXPECT_EQ(test, x.part[0].src[1].len, 200U);
}

static void blk_01_plan_ends_where_the_window_does(struct kunit *test)
{
	struct smc_cursor c = curs(1, 1004);

	KUNIT_EXPECT_EQ(test, plan(test, 20000, c, c, U32_MAX).len, 9996U);
	KUNIT_EXPECT_EQ(test, plan(test, 9996, c, c, U32_MAX).len, 9996U);
	KUNIT_EXPECT_EQ(test, plan(test, 9995, c, c, U32_MAX).len, 9995U);
}

static void cur_07_plan_stops_at_the_consumer_cursor(struct kunit *test)
{
	struct smc_xfer x = plan(test, 20000, curs(1, 500), curs(0, 600), U32_MAX);

	KUNIT_EXPECT_EQ(test, x.len, 100U);
	KUNIT_EXPECT_EQ(test, x.part[0].off, 500U);
}

static void plan_is_empty_when_nothing_can_move(struct kunit *test)
{
	/* Nothing unsent. */
	struct smc_xfer x = plan(test, 0, curs(0, 4), curs(0, 4), U32_MAX);

	KUNIT_EXPECT_EQ(test, x.len, 0U);
	KUNIT_EXPECT_EQ(test, x.nr_parts, 0);
	/* No window. */
	KUNIT_EXPECT_EQ(test, plan(test, 9, curs(1, 4), curs(0, 4), U32_MAX).len, 0U);
	/* Not allowed. */
	KUNIT_EXPECT_EQ(test, plan(test, 9, curs(0, 4), curs(0, 4), 0).len, 0U);
}

static void plan_respects_the_limit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, plan(test, 1000, curs(0, 4), curs(0, 4), 10).len, 10U);
}

/*
 * A reader of a 64K buffer without an eye catcher, as in the RFC's examples: the writer has
 * seen a window of @seen bytes, the real window has @real.
 */
static bool is_due(u32 seen, u32 real, bool is_awaited)
{
	static const struct smc_edge e = { .size = 65536 };

	return smc_ring_is_update_due(&e, seen, real - seen, is_awaited);
}

static void win_03_plenty_of_window_needs_no_update(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, is_due(50 * 1024, 65536, false));
}

static void win_04_small_gain_needs_no_update(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, is_due(30 * 1024, 31 * 1024, false));
}

static void win_05_large_gain_below_half_is_due(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, is_due(30 * 1024, 65536, false));
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
	static const struct smc_edge tiny = { .size = 9 };
	u32 i;

	/* a tenth of it is nothing */
	KUNIT_EXPECT_FALSE(test, smc_ring_is_update_due(&tiny, 0, 0, false));
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, is_due(rows[i].seen, rows[i].seen + rows[i].gain, false),
				    rows[i].is_due, "seen %u gain %u",
				    rows[i].seen, rows[i].gain);
}

static void win_06_scenario_3_is_due(struct kunit *test)
{
	/* all of 7000 bytes read, none reported */
	KUNIT_EXPECT_TRUE(test, smc_ring_is_update_due(&rfc_edge, 9996 - 7000, 7000, false));
	/* With the first 3000 alone it was not due. */
	KUNIT_EXPECT_FALSE(test, smc_ring_is_update_due(&rfc_edge, 9996 - 3000, 3000, false));
}

static void win_08_any_byte_is_due_if_awaited(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, is_due(0, 1, false));
	KUNIT_EXPECT_TRUE(test, is_due(0, 1, true));
	KUNIT_EXPECT_FALSE(test, is_due(0, 0, true));
}

static void win_08_win_09_urg_06_awaited_overrides_the_rule(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, is_due(60000, 60001, false));
	KUNIT_EXPECT_TRUE(test, is_due(60000, 60001, true));
	KUNIT_EXPECT_FALSE(test, is_due(60000, 60000, true));
}

/*
 * The model: one array is the send ring, one the peer's element; byte n of the stream is a
 * function of n. Each plan is carried out. The element must then hold the stream at the
 * reader's position, with an intact eye catcher, and unread bytes must be unchanged.
 */
struct ring_model {
	struct smc_cdc_ctl ctl;		/* that of the writer */
	u8 *src;
	u8 *dst;
	bool *is_unread;
};

static u8 stream_byte(u64 n)
{
	return n * 131 + (n >> 8) * 17 + (n >> 16);
}

static void model_init(struct kunit *test, struct ring_model *m, u32 src, struct smc_edge dst)
{
	m->src = kunit_kzalloc(test, src, GFP_KERNEL);
	m->dst = kunit_kzalloc(test, dst.size, GFP_KERNEL);
	m->is_unread = kunit_kzalloc(test, dst.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->src);
	KUNIT_ASSERT_NOT_NULL(test, m->dst);
	KUNIT_ASSERT_NOT_NULL(test, m->is_unread);
	memset(m->dst, 0xee, dst.base);
	smc_cdc_ctl_init(&m->ctl, dst.base, dst.size, dst.size, src);
	m->ctl.tx_edge = edge_at(dst, 65531);
	m->ctl.tx_cons = m->ctl.tx_edge.lap;
	m->ctl.tx_sent = m->ctl.tx_cons;
	m->ctl.tx_prep = m->ctl.tx_cons;
}

static void model_prepare(struct ring_model *m, u32 n)
{
	u32 size = m->ctl.snd_size;

	for (n = min(n, size - smc_cdc_unsent(&m->ctl)); n; n--, m->ctl.tx_prep++)
		m->src[m->ctl.tx_prep % size] = stream_byte(m->ctl.tx_prep);
}

static void model_write(struct kunit *test, struct ring_model *m,
			const struct smc_xfer *x)
{
	u32 i, k, n, at, total = 0;

	KUNIT_ASSERT_EQ(test, x->pos, m->ctl.tx_sent);
	for (i = 0; i < x->nr_parts; i++) {
		const struct smc_xfer_part *part = &x->part[i];

		KUNIT_ASSERT_GE(test, part->off, m->ctl.tx_edge.base);
		KUNIT_ASSERT_LE(test, part->off + part->len, m->ctl.tx_edge.size);
		KUNIT_ASSERT_GT(test, part->nr_src, 0);
		at = part->off;
		for (k = 0; k < part->nr_src; k++) {
			KUNIT_ASSERT_LE(test, part->src[k].off +
					part->src[k].len, m->ctl.snd_size);
			for (n = 0; n < part->src[k].len; n++, at++, total++) {
				KUNIT_ASSERT_FALSE(test, m->is_unread[at]);
				m->is_unread[at] = true;
				m->dst[at] = m->src[part->src[k].off + n];
			}
		}
		KUNIT_ASSERT_EQ(test, at, part->off + part->len);
	}
	KUNIT_ASSERT_EQ(test, total, x->len);
	m->ctl.tx_sent += x->len;
}

/* The reader finds its bytes by a division. */
static void model_read(struct kunit *test, struct ring_model *m, u32 n)
{
	struct smc_edge *e = &m->ctl.tx_edge;
	u64 *cons = &m->ctl.tx_cons;

	for (n = min_t(u64, n, m->ctl.tx_sent - *cons); n; n--, ++*cons) {
		u32 off = e->base + *cons % smc_edge_space(e);

		KUNIT_ASSERT_TRUE(test, m->is_unread[off]);
		KUNIT_ASSERT_EQ(test, m->dst[off], stream_byte(*cons));
		m->is_unread[off] = false;
	}
	smc_edge_move(e, *cons);
}

static void model_run(struct kunit *test, u32 src, struct smc_edge dst, u32 steps)
{
	struct ring_model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	u32 big = max(src, dst.size) + 2;
	struct rnd_state rnd;
	struct smc_xfer x;
	u64 start;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, m);
	model_init(test, m, src, dst);
	start = m->ctl.tx_cons;
	prandom_seed_state(&rnd, src * 65536ULL + dst.size);
	for (i = 0; i < steps; i++) {
		u32 limit = prandom_u32_state(&rnd) % big;

		model_prepare(m, prandom_u32_state(&rnd) % big);
		if (prandom_u32_state(&rnd) % 4)
			limit = U32_MAX;
		smc_cdc_plan(&m->ctl, limit, &x);
		/* TX-06: as much as the bounds allow, never less. */
		KUNIT_ASSERT_EQ(test, x.len, min3(smc_cdc_unsent(&m->ctl),
						  smc_cdc_window(&m->ctl), limit));
		model_write(test, m, &x);
		model_read(test, m, prandom_u32_state(&rnd) % big);
	}
	model_read(test, m, U32_MAX);
	KUNIT_EXPECT_EQ(test, m->ctl.tx_cons, m->ctl.tx_sent);
	/* The ring wrapped often, and so did the wrap numbers. */
	KUNIT_EXPECT_GT(test, m->ctl.tx_cons - start, 10ULL * dst.size);
	KUNIT_EXPECT_LT(test, m->ctl.tx_edge.wrap, 60000);
	for (i = 0; i < dst.base; i++)
		KUNIT_EXPECT_EQ(test, m->dst[i], 0xee);
}

static void tx_05_tx_06_property_bytes_survive_any_plan(struct kunit *test)
{
	static const u32 srcs[] = { 1, 8, 64, 128 };
	static const struct smc_edge dsts[] = {
		{ .size = 5, .base = 4 }, { .size = 37, .base = 4 }, { .size = 37 },
		{ .size = 64 }, { .size = 64, .base = 4 }, { .size = 103, .base = 4 },
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(srcs); i++)
		for (k = 0; k < ARRAY_SIZE(dsts); k++)
			model_run(test, srcs[i], dsts[k], srcs[i] == 1 ? 4000 : 1500);
}

static void tx_06_a_message_is_a_quarter_of_the_smaller_ring(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_ring_message(262140, 262140), 65535U);
	KUNIT_EXPECT_EQ(test, smc_ring_message(262140, 65536), 32768U);
	KUNIT_EXPECT_EQ(test, smc_ring_message(65536, 262140), 32768U);
	/* an event costs more than an overlap gains */
	KUNIT_EXPECT_EQ(test, smc_ring_message(16380, 262140), 32768U);
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
