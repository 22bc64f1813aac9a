// SPDX-License-Identifier: GPL-2.0
/* Positions and cursors: vectors from RFC 7609 Sections 4.7 and A.4, and a check by division. */
#include "smc_kunit.h"
#include <linux/bits.h>
#include <linux/prandom.h>

#include "proto/smc_cursor.h"

static const struct smc_edge rfc_edge = { .size = 10000, .base = 4 };
static const struct smc_edge deployed_edge = { .size = 16384, .base = 0 };

static struct smc_cursor curs(u16 wrap, u32 off)
{
	return (struct smc_cursor){ .wrap = wrap, .off = off };
}

static void expect_cursor(struct kunit *test, struct smc_cursor c, u16 wrap, u32 off)
{
	KUNIT_EXPECT_EQ(test, c.wrap, wrap);
	KUNIT_EXPECT_EQ(test, c.off, off);
}

/* The same edge with its reader in lap @nr */
static struct smc_edge edge_at(struct smc_edge e, u64 nr)
{
	e.lap = nr * smc_edge_space(&e);
	e.wrap = nr;
	return e;
}

/* The position of a cursor that has one */
static u64 pos_of(struct kunit *test, struct smc_edge e, struct smc_cursor c)
{
	u64 pos = 0;

	KUNIT_EXPECT_EQ(test, smc_edge_pos(&e, c, &pos), 0);
	return pos;
}

static s64 distance(struct kunit *test, struct smc_edge e, struct smc_cursor from,
		    struct smc_cursor to)
{
	return pos_of(test, e, to) - pos_of(test, e, from);
}

/* The cursor @n bytes behind @from, in whose lap the reader is */
static void expect_advance(struct kunit *test, struct smc_edge e, struct smc_cursor from, s64 n,
			   u16 wrap, u32 off)
{
	e = edge_at(e, from.wrap);
	expect_cursor(test, smc_edge_cursor(&e, pos_of(test, e, from) + n), wrap, off);
}

static void wire_numbers_of_24_bits(struct kunit *test)
{
	u8 p[4] = { 0, 0, 0, 0x5a };

	smc_wire_put24(p, 0xff123456);
	KUNIT_EXPECT_EQ(test, p[0], 0x12);
	KUNIT_EXPECT_EQ(test, p[1], 0x34);
	KUNIT_EXPECT_EQ(test, p[2], 0x56);
	KUNIT_EXPECT_EQ(test, p[3], 0x5a);
	KUNIT_EXPECT_EQ(test, smc_wire_get24(p), 0x123456U);
}

/* AMB-08: the eye catcher is no room for data. */
static void rmb_11_space_leaves_out_the_eye_catcher(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_edge_space(&rfc_edge), 9996U);
	KUNIT_EXPECT_EQ(test, smc_edge_space(&deployed_edge), 16384U);
}

static void cur_04_starts_at_four_wrap_zero(struct kunit *test)
{
	expect_cursor(test, smc_edge_cursor(&rfc_edge, 0), 0, 4);
	expect_cursor(test, smc_edge_cursor(&deployed_edge, 0), 0, 0);
}

static void cur_03_wraps_to_four(struct kunit *test)
{
	struct smc_edge e = rfc_edge;

	expect_advance(test, e, curs(0, 9998), 1, 0, 9999);
	expect_advance(test, e, curs(0, 9999), 1, 1, 4);
	expect_advance(test, e, curs(0, 9999), 2, 1, 5);
	expect_advance(test, e, curs(0, 4), 9996, 1, 4);
	expect_advance(test, e, curs(0, 4), 9995, 0, 9999);
}

static void cur_03_deployed_wraps_to_zero(struct kunit *test)
{
	struct smc_edge e = deployed_edge;

	expect_advance(test, e, curs(0, 16383), 1, 1, 0);
	expect_advance(test, e, curs(0, 0), 16384, 1, 0);
	expect_advance(test, e, curs(3, 1), 16383, 4, 0);
}

static void cur_03_never_holds_eye_catcher_or_length(struct kunit *test)
{
	struct smc_edge e = { .size = 9, .base = 4 };
	struct smc_cursor c;
	u64 pos = 0;
	u32 i;

	for (i = 0; i < 1000; i++) {
		pos += i % 6;
		c = smc_edge_cursor(&e, pos);
		KUNIT_ASSERT_GE(test, c.off, 4U);
		KUNIT_ASSERT_LT(test, c.off, 9U);
		KUNIT_ASSERT_EQ(test, pos_of(test, e, c), pos);
		smc_edge_move(&e, pos);
	}
}

static void cur_05_each_pass_over_the_end_counts(struct kunit *test)
{
	struct smc_edge e = rfc_edge;
	u32 i;

	for (i = 1; i <= 100; i++) {
		expect_cursor(test, smc_edge_cursor(&e, i * 9996), i, 4);
		smc_edge_move(&e, i * 9996);
		KUNIT_EXPECT_EQ(test, e.lap, (u64)i * 9996);
		KUNIT_EXPECT_EQ(test, e.wrap, i);
	}
}

/* The lap is that of the reader. Both positions keep their cursors when it moves. */
static void cur_05_the_lap_moves_with_the_reader(struct kunit *test)
{
	struct smc_edge e = edge_at(rfc_edge, 65535);
	u64 end = e.lap + 9996;

	smc_edge_move(&e, e.lap);
	smc_edge_move(&e, end - 1);
	KUNIT_EXPECT_EQ(test, e.lap, end - 9996);
	KUNIT_EXPECT_EQ(test, e.wrap, 65535);
	expect_cursor(test, smc_edge_cursor(&e, end), 0, 4);
	expect_cursor(test, smc_edge_cursor(&e, end + 9995), 0, 9999);
	smc_edge_move(&e, end);
	KUNIT_EXPECT_EQ(test, e.lap, end);
	KUNIT_EXPECT_EQ(test, e.wrap, 0);
	expect_cursor(test, smc_edge_cursor(&e, end), 0, 4);
	expect_cursor(test, smc_edge_cursor(&e, end + 9995), 0, 9999);
	expect_cursor(test, smc_edge_cursor(&e, end + 9996), 1, 4);
	/* the furthest step of a reader */
	smc_edge_move(&e, end + 9996 + 9995);
	KUNIT_EXPECT_EQ(test, e.lap, end + 9996);
	KUNIT_EXPECT_EQ(test, e.wrap, 1);
}

/* A.4: valid are [base, size). */
static void cur_12_outside_the_element_is_invalid(struct kunit *test)
{
	static const struct {
		u32 off;
		bool rfc;
		bool deployed;
	} rows[] = {
		{ 0, false, true },
		{ 3, false, true },
		{ 4, true, true },
		{ 9999, true, true },
		{ 10000, false, true },
		{ 16383, false, true },
		{ 16384, false, false },
		{ 0xffffffff, false, false },
	};
	u32 i;
	u64 pos;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_cursor c = curs(1, rows[i].off);

		KUNIT_EXPECT_EQ(test, smc_edge_pos(&rfc_edge, c, &pos), rows[i].rfc ? 0 : -ERANGE);
		KUNIT_EXPECT_EQ(test, smc_edge_pos(&deployed_edge, c, &pos),
				rows[i].deployed ? 0 : -ERANGE);
	}
}

static void cur_08_equal_offsets_are_empty_or_full(struct kunit *test)
{
	struct smc_edge e = edge_at(rfc_edge, 1);

	KUNIT_EXPECT_EQ(test, distance(test, e, curs(1, 1004), curs(1, 1004)), 0);
	KUNIT_EXPECT_EQ(test, distance(test, e, curs(1, 1004), curs(2, 1004)), 9996);
	KUNIT_EXPECT_EQ(test, distance(test, deployed_edge, curs(0, 0), curs(1, 0)), 16384);
}

static void cur_09_lower_offset_with_wrap_ahead(struct kunit *test)
{
	/* 9000..9999 and 4..103 */
	KUNIT_EXPECT_EQ(test, distance(test, rfc_edge, curs(0, 9000), curs(1, 104)), 1100);
	KUNIT_EXPECT_EQ(test, distance(test, rfc_edge, curs(0, 9999), curs(1, 4)), 1);
}

/* Either there is no such position, or it is behind, or more than a lap ahead. */
static void cur_12_backwards_or_more_than_full_is_refused(struct kunit *test)
{
	static const struct {
		struct smc_cursor from;
		struct smc_cursor to;
		s64 distance;	/* or -ERANGE */
	} rows[] = {
		{ { 1, 1004 }, { 1, 1003 }, -1 },
		{ { 1, 1004 }, { 0, 1004 }, -9996 },
		{ { 1, 1004 }, { 0, 9999 }, -1001 },
		{ { 1, 1004 }, { 2, 1005 }, 9997 },
		{ { 1, 1004 }, { 3, 4 }, -ERANGE },
		{ { 2, 1004 }, { 0, 1004 }, -ERANGE },
		{ { 0, 4 }, { 32767, 4 }, -ERANGE },
		{ { 0, 4 }, { 32768, 4 }, -ERANGE },
		{ { 0, 4 }, { 65534, 9999 }, -ERANGE },
		/* behind the very start: as a position, huge */
		{ { 0, 4 }, { 65535, 9999 }, -1 },
		{ { 0, 4 }, { 65535, 4 }, -9996 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_edge e = edge_at(rfc_edge, rows[i].from.wrap);
		u64 from = pos_of(test, e, rows[i].from), to = 77;
		int rc = smc_edge_pos(&e, rows[i].to, &to);

		KUNIT_EXPECT_EQ(test, rc, rows[i].distance == -ERANGE ? -ERANGE : 0);
		KUNIT_EXPECT_EQ(test, to, rc ? 77 : from + rows[i].distance);
	}
}

static void cur_11_wrap_is_modulo_65536(struct kunit *test)
{
	struct smc_edge e = edge_at(rfc_edge, 65535);

	expect_advance(test, rfc_edge, curs(65535, 9990), 20, 0, 14);
	KUNIT_EXPECT_EQ(test, distance(test, e, curs(65535, 9990), curs(0, 14)), 20);
	KUNIT_EXPECT_EQ(test, distance(test, e, curs(65535, 500), curs(0, 500)), 9996);
	e = edge_at(rfc_edge, 65536);
	KUNIT_EXPECT_EQ(test, distance(test, e, curs(0, 14), curs(65535, 9990)), -20);
	KUNIT_EXPECT_EQ(test, pos_of(test, e, curs(1, 4)), 65537ULL * 9996);
}

/* The byte before cursor 4 is the last one of the element. */
static void urg_05_one_back_from_four(struct kunit *test)
{
	struct smc_edge e = edge_at(rfc_edge, 6);

	expect_cursor(test, smc_edge_cursor(&e, pos_of(test, e, curs(7, 4)) - 1), 6, 9999);
	expect_cursor(test, smc_edge_cursor(&e, pos_of(test, e, curs(7, 5)) - 1), 7, 4);
	expect_cursor(test, smc_edge_cursor(&e, pos_of(test, e, curs(7, 4)) - 9996), 6, 4);
	e = edge_at(deployed_edge, 65535);
	expect_cursor(test, smc_edge_cursor(&e, pos_of(test, e, curs(0, 0)) - 1), 65535, 16383);
}

static void cursor_equality_needs_both(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, smc_cursor_is_equal(curs(1, 2), curs(1, 2)));
	KUNIT_EXPECT_FALSE(test, smc_cursor_is_equal(curs(1, 2), curs(2, 2)));
	KUNIT_EXPECT_FALSE(test, smc_cursor_is_equal(curs(1, 2), curs(1, 3)));
}

static void cursor_to_and_from_wire(struct kunit *test)
{
	struct smc_cursor_wire w = { .rsvd = { 0xaa, 0xbb } };
	const u8 *p = (const u8 *)&w;

	smc_cursor_to_wire(curs(0x1234, 0x56789abc), &w);
	KUNIT_EXPECT_EQ(test, p[2], 0x12);
	KUNIT_EXPECT_EQ(test, p[3], 0x34);
	KUNIT_EXPECT_EQ(test, p[4], 0x56);
	KUNIT_EXPECT_EQ(test, p[7], 0xbc);
	expect_cursor(test, smc_cursor_from_wire(&w), 0x1234, 0x56789abc);
}

/*
 * A reader and a writer at most a lap ahead of it, for all sizes, both bases, and across the end of
 * the wrap numbers: a division gives the cursors, and each one gives its position back.
 */
static void cur_11_property_agrees_with_positions(struct kunit *test)
{
	static const struct smc_edge edges[] = {
		{ .size = 5, .base = 4 }, { .size = 6, .base = 4 }, { .size = 37, .base = 4 },
		{ .size = 37 }, { .size = 64 }, { .size = 1 }, { .size = 16384 },
		{ .size = 10000, .base = 4 }, { .size = SMC_ELEM_SIZE_MAX },
		{ .size = SMC_ELEM_SIZE_MAX, .base = 4 },
	};
	struct rnd_state rnd;
	u32 i, k;

	prandom_seed_state(&rnd, 7609);
	for (k = 0; k < ARRAY_SIZE(edges); k++) {
		struct smc_edge e = edge_at(edges[k], 65530);
		u64 space = smc_edge_space(&e), pos = e.lap;

		for (i = 0; i < 2000; i++) {
			u32 n = prandom_u32_state(&rnd) % (space + 1);
			struct smc_cursor here = smc_edge_cursor(&e, pos);
			struct smc_cursor next = smc_edge_cursor(&e, pos + n);
			u64 lap = div64_u64(pos + n, space), again;
			bool ok;

			ok = next.wrap == (u16)lap &&
			     next.off == e.base + pos + n - lap * space &&
			     next.off == smc_edge_off(&e, pos + n) &&
			     !smc_edge_pos(&e, next, &again) && again == pos + n;
			smc_edge_move(&e, pos + n);
			/* Seen from there, the reader was here. */
			ok = ok && smc_cursor_is_equal(smc_edge_cursor(&e, pos + n), next) &&
			     !smc_edge_pos(&e, here, &again) && again == pos;
			KUNIT_ASSERT_TRUE_MSG(test, ok, "size %u base %u: %u/%u + %u", e.size,
					      e.base, here.wrap, here.off, n);
			pos += n;
		}
		KUNIT_EXPECT_LT(test, e.wrap, 65530);
	}
}

/* The cursors of three laps have positions, each its own; others have none. */
static void cur_12_each_position_has_one_cursor(struct kunit *test)
{
	static const struct smc_edge edges[] = {
		{ .size = 1 }, { .size = 7 }, { .size = 11, .base = 4 },
	};
	static const u64 laps[] = { 0, 1, 65534, 65535, 65536, 65537, 1ULL << 32 };
	u32 i, off;
	int d;

	for (i = 0; i < ARRAY_SIZE(edges) * ARRAY_SIZE(laps); i++) {
		struct smc_edge e = edge_at(edges[i % ARRAY_SIZE(edges)],
					    laps[i / ARRAY_SIZE(edges)]);
		u32 space = smc_edge_space(&e), nr = 0;
		u64 pos, seen = 0;

		for (d = -4; d <= 4; d++) {
			for (off = 0; off < e.size + 2; off++) {
				struct smc_cursor c = curs(e.wrap + d, off);

				if (smc_edge_pos(&e, c, &pos))
					continue;
				nr++;
				if (d >= 0)
					expect_cursor(test, smc_edge_cursor(&e, pos), c.wrap, off);
				pos -= e.lap - space;
				KUNIT_ASSERT_LT(test, pos, 3ULL * space);
				KUNIT_ASSERT_FALSE(test, seen & BIT_ULL(pos));
				seen |= BIT_ULL(pos);
			}
		}
		KUNIT_EXPECT_EQ(test, nr, 3 * space);
	}
}

static struct kunit_case smc_cursor_cases[] = {
	KUNIT_CASE(wire_numbers_of_24_bits),
	KUNIT_CASE(rmb_11_space_leaves_out_the_eye_catcher),
	KUNIT_CASE(cur_04_starts_at_four_wrap_zero),
	KUNIT_CASE(cur_12_outside_the_element_is_invalid),
	KUNIT_CASE(cursor_equality_needs_both),
	KUNIT_CASE(cur_03_wraps_to_four),
	KUNIT_CASE(cur_03_deployed_wraps_to_zero),
	KUNIT_CASE(cur_03_never_holds_eye_catcher_or_length),
	KUNIT_CASE(cur_05_each_pass_over_the_end_counts),
	KUNIT_CASE(cur_05_the_lap_moves_with_the_reader),
	KUNIT_CASE(urg_05_one_back_from_four),
	KUNIT_CASE(cur_08_equal_offsets_are_empty_or_full),
	KUNIT_CASE(cur_09_lower_offset_with_wrap_ahead),
	KUNIT_CASE(cur_12_backwards_or_more_than_full_is_refused),
	KUNIT_CASE(cur_11_wrap_is_modulo_65536),
	KUNIT_CASE(cursor_to_and_from_wire),
	KUNIT_CASE(cur_11_property_agrees_with_positions),
	KUNIT_CASE(cur_12_each_position_has_one_cursor),
	{}
};

static struct kunit_suite smc_cursor_suite = {
	.name = "smc_cursor",
	.test_cases = smc_cursor_cases,
};

kunit_test_suite(smc_cursor_suite);
