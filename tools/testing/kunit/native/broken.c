// SPDX-License-Identifier: GPL-2.0
/*
 * Cases that fail, and one that passes: ./run checks that each is reported. The cases of the
 * second suite have the names under which sanitizers report them.
 */
#include <limits.h>

#include <kunit/test.h>

/* Compilers cannot optimise it away at -O0. */
static int one = 1;

static void passes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, one, 1);
	KUNIT_EXPECT_MEMEQ_MSG(test, "one", "one", 3, "bytes %d", one);
}

static void expectation_goes_on(struct kunit *test)
{
	KUNIT_EXPECT_EQ_MSG(test, one, 2, "first %d", one);
	KUNIT_EXPECT_TRUE(test, one == 2);
	KUNIT_EXPECT_NULL(test, test);
	KUNIT_EXPECT_STREQ(test, "one", "two");
	KUNIT_EXPECT_MEMEQ(test, "one", "ons", 3);
}

static void assertion_ends_the_case(struct kunit *test)
{
	KUNIT_ASSERT_GT(test, one, 1);
	abort();
}

static const struct {
	const char *name;
	int value;
} rows[] = {
	{ "good", 1 },
	{ "bad", 2 },
	{ "good again", 1 },
};

KUNIT_ARRAY_PARAM_DESC(row, rows, name);

static void parameter(struct kunit *test)
{
	const typeof(rows[0]) *row = test->param_value;

	KUNIT_EXPECT_EQ(test, one, row->value);
}

static void skipped(struct kunit *test)
{
	kunit_skip(test, "not today");
	abort();
}

static struct kunit_case judged_cases[] = {
	KUNIT_CASE(passes),
	KUNIT_CASE(expectation_goes_on),
	KUNIT_CASE(assertion_ends_the_case),
	KUNIT_CASE_PARAM(parameter, row_gen_params),
	KUNIT_CASE(skipped),
	{}
};

static struct kunit_suite judged_suite = {
	.name = "judged",
	.test_cases = judged_cases,
};

kunit_test_suite(judged_suite);

static void heap_buffer_overflow(struct kunit *test)
{
	u8 *p = kunit_kzalloc(test, 4, GFP_KERNEL);

	p[4 * one] = 0;
}

static void heap_use_after_free(struct kunit *test)
{
	u8 *p = kunit_kzalloc(test, 4, GFP_KERNEL);

	kunit_kfree(test, p);
	p[one] = 0;
}

static void stack_buffer_overflow(struct kunit *test)
{
	u8 bytes[4] = {};
	u8 *p = bytes;

	p[4 * one] = 0;
}

static void global_buffer_overflow(struct kunit *test)
{
	const typeof(rows[0]) *row = rows;

	KUNIT_EXPECT_EQ(test, row[3 * one].value, 1);
}

static void out_of_bounds(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rows[3 * one].value, 1);
}

static void shift_exponent(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 1U << (32 * one), 1);
}

static void signed_integer_overflow(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, INT_MAX + one, INT_MIN);
}

/* Several blocks: a stale pointer on the stack may hide one of them from the sanitizer. */
static void memory_leaks(struct kunit *test)
{
	int i;

	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_NOT_NULL(test, kmalloc(4, GFP_KERNEL));
}

/* Reported by MemorySanitizer only. */
static void use_of_uninitialized_value(struct kunit *test)
{
	int values[2];

	values[one] = one;
	KUNIT_EXPECT_EQ(test, values[one - 1], 1);
}

static struct kunit_case ended_cases[] = {
	KUNIT_CASE(heap_buffer_overflow),
	KUNIT_CASE(heap_use_after_free),
	KUNIT_CASE(stack_buffer_overflow),
	KUNIT_CASE(global_buffer_overflow),
	KUNIT_CASE(out_of_bounds),
	KUNIT_CASE(shift_exponent),
	KUNIT_CASE(signed_integer_overflow),
	KUNIT_CASE(memory_leaks),
	KUNIT_CASE(use_of_uninitialized_value),
	{}
};

static struct kunit_suite ended_suite = {
	.name = "ended",
	.test_cases = ended_cases,
};

kunit_test_suite(ended_suite);
