// SPDX-License-Identifier: GPL-2.0
/*
 * Cursors: vectors from RFC 7609 Sections 4.7 and A.4, and a comparison with
 * positions that never wrap.
 */
#include "smc_kunit.h"
#include <linux/prandom.h>

#include "proto/smc_cursor.h"

static const struct smc_geom rfc_geom = { .size = 10000, .base = 4 };
static const struct smc_geom deployed_geom = { .size = 16384, .base = 0 };

static struct smc_cursor curs(u16 wrap, u32 off)
{
	return (struct smc_cursor){ .wrap = wrap, .off = off };
}

static void expect_cursor(struct kunit *test, struct smc_cursor c, u16 wrap,
			  u32 off)
{
	KUNIT_EXPECT_EQ(test, c.wrap, wrap);
	KUNIT_EXPECT_EQ(test, c.off, off);
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
	KUNIT_EXPECT_EQ(test, smc_geom_space(rfc_geom), 9996U);
	KUNIT_EXPECT_EQ(test, smc_geom_space(deployed_geom), 16384U);
}

static void cur_04_starts_at_four_wrap_zero(struct kunit *test)
{
	expect_cursor(test, smc_cursor_start(rfc_geom), 0, 4);
	expect_cursor(test, smc_cursor_start(deployed_geom), 0, 0);
}

static void cur_03_wraps_to_four(struct kunit *test)
{
	struct smc_geom g = rfc_geom;

	expect_cursor(test, smc_cursor_advance(g, curs(0, 9998), 1), 0, 9999);
	expect_cursor(test, smc_cursor_advance(g, curs(0, 9999), 1), 1, 4);
	expect_cursor(test, smc_cursor_advance(g, curs(0, 9999), 2), 1, 5);
	expect_cursor(test, smc_cursor_advance(g, curs(0, 4), 9996), 1, 4);
	expect_cursor(test, smc_cursor_advance(g, curs(0, 4), 9995), 0, 9999);
}

static void cur_03_deployed_wraps_to_zero(struct kunit *test)
{
	struct smc_geom g = deployed_geom;

	expect_cursor(test, smc_cursor_advance(g, curs(0, 16383), 1), 1, 0);
	expect_cursor(test, smc_cursor_advance(g, curs(0, 0), 16384), 1, 0);
	expect_cursor(test, smc_cursor_advance(g, curs(3, 1), 16383), 4, 0);
}

static void cur_03_never_holds_eye_catcher_or_length(struct kunit *test)
{
	struct smc_geom g = { .size = 9, .base = 4 };
	struct smc_cursor c = smc_cursor_start(g);
	u32 i, n;

	for (i = 0; i < 1000; i++) {
		n = i % 6;
		c = smc_cursor_advance(g, c, n);
		KUNIT_ASSERT_GE(test, c.off, 4U);
		KUNIT_ASSERT_LT(test, c.off, 9U);
		KUNIT_ASSERT_TRUE(test, smc_cursor_is_valid(g, c));
	}
}

static void cur_05_each_pass_over_the_end_counts(struct kunit *test)
{
	struct smc_cursor c = smc_cursor_start(rfc_geom);
	u32 i;

	for (i = 1; i <= 100; i++) {
		c = smc_cursor_advance(rfc_geom, c, 9996);
		expect_cursor(test, c, i, 4);
	}
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

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_cursor c = curs(1, rows[i].off);

		KUNIT_EXPECT_EQ(test, smc_cursor_is_valid(rfc_geom, c),
				rows[i].rfc);
		KUNIT_EXPECT_EQ(test, smc_cursor_is_valid(deployed_geom, c),
				rows[i].deployed);
	}
}

static void cur_08_equal_offsets_are_empty_or_full(struct kunit *test)
{
	struct smc_geom g = rfc_geom;

	KUNIT_EXPECT_EQ(test, smc_cursor_distance(g, curs(1, 1004),
						  curs(1, 1004)), 0);
	KUNIT_EXPECT_EQ(test, smc_cursor_distance(g, curs(1, 1004),
						  curs(2, 1004)), 9996);
	g = deployed_geom;
	KUNIT_EXPECT_EQ(test, smc_cursor_distance(g, curs(0, 0), curs(1, 0)),
			16384);
}

static void cur_09_lower_offset_with_wrap_ahead(struct kunit *test)
{
	struct smc_geom g = rfc_geom;

	/* 9000..9999 and 4..103 */
	KUNIT_EXPECT_EQ(test, smc_cursor_distance(g, curs(0, 9000),
						  curs(1, 104)), 1100);
	KUNIT_EXPECT_EQ(test, smc_cursor_distance(g, curs(0, 9999),
						  curs(1, 4)), 1);
}

static void cur_12_backwards_or_more_than_full_is_refused(struct kunit *test)
{
	static const struct {
		struct smc_cursor from;
		struct smc_cursor to;
	} rows[] = {
		{ { 1, 1004 }, { 1, 1003 } },	/* one byte back */
		{ { 1, 1004 }, { 0, 1004 } },	/* one pass back */
		{ { 1, 1004 }, { 0, 9999 } },	/* back over the end */
		{ { 1, 1004 }, { 2, 1005 } },	/* one byte too full */
		{ { 1, 1004 }, { 3, 4 } },	/* two passes ahead */
		{ { 0, 4 }, { 32768, 4 } },
		{ { 0, 4 }, { 65535, 9999 } },	/* behind the very start */
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ(test, smc_cursor_distance(rfc_geom,
							  rows[i].from,
							  rows[i].to), -ERANGE);
}

static void cur_11_wrap_is_modulo_65536(struct kunit *test)
{
	struct smc_geom g = rfc_geom;
	struct smc_cursor c = smc_cursor_advance(g, curs(65535, 9990), 20);

	expect_cursor(test, c, 0, 14);
	KUNIT_EXPECT_EQ(test, smc_cursor_distance(g, curs(65535, 9990), c), 20);
	KUNIT_EXPECT_EQ(test, smc_cursor_distance(g, c, curs(65535, 9990)),
			-ERANGE);
	expect_cursor(test, smc_cursor_retreat(g, c, 20), 65535, 9990);
	KUNIT_EXPECT_EQ(test, smc_cursor_distance(g, curs(65535, 500),
						  curs(0, 500)), 9996);
}

/* The byte before cursor 4 is the last one of the element. */
static void urg_05_one_back_from_four(struct kunit *test)
{
	expect_cursor(test, smc_cursor_retreat(rfc_geom, curs(7, 4), 1),
		      6, 9999);
	expect_cursor(test, smc_cursor_retreat(rfc_geom, curs(7, 5), 1), 7, 4);
	expect_cursor(test, smc_cursor_retreat(deployed_geom, curs(0, 0), 1),
		      65535, 16383);
	expect_cursor(test, smc_cursor_retreat(rfc_geom, curs(7, 4), 9996),
		      6, 4);
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
 * A position that only grows is the model: cursor, distance and order have to
 * agree with it for all sizes, both bases, and across the end of the wrap
 * numbers.
 */
static void cur_11_property_agrees_with_positions(struct kunit *test)
{
	static const struct smc_geom geoms[] = {
		{ 5, 4 }, { 6, 4 }, { 37, 4 }, { 37, 0 }, { 64, 0 }, { 1, 0 },
		{ 16384, 0 }, { 10000, 4 }, { SMC_GEOM_SIZE_MAX, 0 },
		{ SMC_GEOM_SIZE_MAX, 4 },
	};
	struct rnd_state rnd;
	u32 i, k;

	prandom_seed_state(&rnd, 7609);
	for (k = 0; k < ARRAY_SIZE(geoms); k++) {
		struct smc_geom g = geoms[k];
		u64 space = smc_geom_space(g);
		u64 pos = 65530 * space;
		struct smc_cursor c = curs(65530, g.base);

		for (i = 0; i < 2000; i++) {
			u32 n = prandom_u32_state(&rnd) % (space + 1);
			struct smc_cursor next = smc_cursor_advance(g, c, n);
			struct smc_cursor back;
			u64 m = pos + n;
			bool ok;

			ok = next.wrap == (u16)div64_u64(m, space) &&
			     next.off == g.base + m % space &&
			     smc_cursor_distance(g, c, next) == n;
			back = smc_cursor_retreat(g, next, n);
			ok = ok && smc_cursor_is_equal(back, c);
			/* The other way round it is behind, if it moved. */
			ok = ok && smc_cursor_distance(g, next, c) ==
				   (n ? -ERANGE : 0);
			KUNIT_ASSERT_TRUE_MSG(test, ok,
					      "size %u base %u: %u/%u + %u",
					      g.size, g.base, c.wrap, c.off,
					      n);
			c = next;
			pos = m;
		}
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
	KUNIT_CASE(urg_05_one_back_from_four),
	KUNIT_CASE(cur_08_equal_offsets_are_empty_or_full),
	KUNIT_CASE(cur_09_lower_offset_with_wrap_ahead),
	KUNIT_CASE(cur_12_backwards_or_more_than_full_is_refused),
	KUNIT_CASE(cur_11_wrap_is_modulo_65536),
	KUNIT_CASE(cursor_to_and_from_wire),
	KUNIT_CASE(cur_11_property_agrees_with_positions),
	{}
};

static struct kunit_suite smc_cursor_suite = {
	.name = "smc_cursor",
	.test_cases = smc_cursor_cases,
};

kunit_test_suite(smc_cursor_suite);
