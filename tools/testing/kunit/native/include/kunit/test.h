/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of KUnit that the suites of pure files use; ../../kunit.c runs them. Add more when
 * a suite needs it.
 */
#ifndef NATIVE_KUNIT_TEST_H
#define NATIVE_KUNIT_TEST_H

#include <setjmp.h>

#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#define KUNIT_PARAM_DESC_SIZE	128

enum kunit_status { KUNIT_SUCCESS, KUNIT_FAILURE, KUNIT_SKIPPED };

/* One run of a case. */
struct kunit {
	const void *param_value;
	void *priv;
	enum kunit_status status;
	const char *name;
	struct kunit_memory *memory;	/* newest first */
	jmp_buf end;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;	/* up to one without run_case */
	struct kunit_suite *next;
};

#define KUNIT_CASE(function)		{ .run_case = function, .name = #function }
#define KUNIT_CASE_SLOW(function)	KUNIT_CASE(function)
#define KUNIT_CASE_PARAM(function, params)				\
	{ .run_case = function, .name = #function, .generate_params = params }

/* Suites run in the order in which they were linked. */
#define kunit_test_suite(suite)						\
	static void __attribute__((constructor)) suite##_register(void)	\
	{								\
		kunit_register(&(suite));				\
	}								\
	static_assert(1)

#define KUNIT_PARAMS(prefix, array, describe)				\
	static const void *prefix##_gen_params(const void *prev, char *desc) \
	{								\
		typeof(&(array)[0]) p = prev ? (typeof(p))prev + 1 : (array); \
									\
		if (p == (array) + ARRAY_SIZE(array))			\
			return NULL;					\
		describe;						\
		return p;						\
	}

#define KUNIT_ARRAY_PARAM(prefix, array, get_desc)			\
	KUNIT_PARAMS(prefix, array, get_desc(p, desc))
#define KUNIT_ARRAY_PARAM_DESC(prefix, array, member)			\
	KUNIT_PARAMS(prefix, array, strscpy(desc, p->member, KUNIT_PARAM_DESC_SIZE))

void kunit_register(struct kunit_suite *suite);
void kunit_log(struct kunit *test, const char *fmt, ...) __printf(2, 3);
void __noreturn kunit_end(struct kunit *test, enum kunit_status status);

/* Memory of a case; it is freed when the case ends. */
void *kunit_kmalloc(struct kunit *test, size_t size, int gfp);
void *kunit_kcalloc(struct kunit *test, size_t n, size_t size, int gfp);
void kunit_kfree(struct kunit *test, const void *p);

#define kunit_kzalloc(test, size, gfp)	kunit_kcalloc(test, 1, size, gfp)

#define kunit_info(test, fmt, ...)	kunit_log(test, fmt, ##__VA_ARGS__)
#define kunit_err(test, fmt, ...)	kunit_log(test, fmt, ##__VA_ARGS__)

#define kunit_skip(test, fmt, ...)					\
	do {								\
		kunit_log(test, "SKIP " fmt, ##__VA_ARGS__);		\
		kunit_end(test, KUNIT_SKIPPED);				\
	} while (0)

/* The offset of the first difference between two buffers; @size if they are equal. */
size_t kunit_differ_at(const u8 *left, const u8 *right, size_t size);

/*
 * A failed expectation goes on, a failed assertion does not. The check is one call, and its
 * message another: suites have thousands of them to compile.
 */
enum kunit_kind { KUNIT_EXPECT, KUNIT_ASSERT };

void kunit_failed(struct kunit *test, enum kunit_kind kind, const char *file, int line,
		  const char *fmt, ...) __printf(5, 6);

#define KUNIT_FAILED(kind, test, ...)					\
	kunit_failed(test, KUNIT_##kind, __FILE__, __LINE__, __VA_ARGS__)

#define KUNIT_FAIL(test, ...)	KUNIT_FAILED(EXPECT, test, __VA_ARGS__)

#define KUNIT_BOOL(kind, test, value, is, ...)				\
	do {								\
		bool _value = (value);					\
									\
		if (_value == (is))					\
			break;						\
		__VA_OPT__(kunit_log(test, __VA_ARGS__);)		\
		KUNIT_FAILED(kind, test, "%s is not %s", #value, #is);	\
	} while (0)

#define KUNIT_BINARY(kind, test, left, op, right, ...)			\
	do {								\
		typeof(left) _left = (left);				\
		typeof(right) _right = (right);				\
									\
		if (_left op _right)					\
			break;						\
		__VA_OPT__(kunit_log(test, __VA_ARGS__);)		\
		KUNIT_FAILED(kind, test, "%s " #op " %s: %lld, %lld",	\
			     #left, #right, (long long)_left, (long long)_right); \
	} while (0)

#define KUNIT_POINTER(kind, test, left, op, right, ...)			\
	do {								\
		const void *_left = (left), *_right = (right);		\
									\
		if (_left op _right)					\
			break;						\
		__VA_OPT__(kunit_log(test, __VA_ARGS__);)		\
		KUNIT_FAILED(kind, test, "%s " #op " %s: %p, %p",	\
			     #left, #right, _left, _right);		\
	} while (0)

#define KUNIT_STRING(kind, test, left, op, right, ...)			\
	do {								\
		const char *_left = (left), *_right = (right);		\
									\
		if (strcmp(_left, _right) op 0)				\
			break;						\
		__VA_OPT__(kunit_log(test, __VA_ARGS__);)		\
		KUNIT_FAILED(kind, test, "%s " #op " %s: \"%s\", \"%s\"", \
			     #left, #right, _left, _right);		\
	} while (0)

#define KUNIT_MEMORY(kind, test, left, right, size, ...)		\
	do {								\
		const void *_left = (left), *_right = (right);		\
		size_t _size = (size), _at = kunit_differ_at(_left, _right, _size); \
									\
		if (_at == _size)					\
			break;						\
		__VA_OPT__(kunit_log(test, __VA_ARGS__);)		\
		KUNIT_FAILED(kind, test, "%s == %s: differ at %zu of %zu", \
			     #left, #right, _at, _size);		\
	} while (0)

#define KUNIT_EXPECT_TRUE(t, v)		KUNIT_BOOL(EXPECT, t, v, true)
#define KUNIT_EXPECT_FALSE(t, v)	KUNIT_BOOL(EXPECT, t, v, false)
#define KUNIT_EXPECT_EQ(t, l, r)	KUNIT_BINARY(EXPECT, t, l, ==, r)
#define KUNIT_EXPECT_NE(t, l, r)	KUNIT_BINARY(EXPECT, t, l, !=, r)
#define KUNIT_EXPECT_LT(t, l, r)	KUNIT_BINARY(EXPECT, t, l, <, r)
#define KUNIT_EXPECT_LE(t, l, r)	KUNIT_BINARY(EXPECT, t, l, <=, r)
#define KUNIT_EXPECT_GT(t, l, r)	KUNIT_BINARY(EXPECT, t, l, >, r)
#define KUNIT_EXPECT_GE(t, l, r)	KUNIT_BINARY(EXPECT, t, l, >=, r)
#define KUNIT_EXPECT_NULL(t, p)		KUNIT_POINTER(EXPECT, t, p, ==, NULL)
#define KUNIT_EXPECT_NOT_NULL(t, p)	KUNIT_POINTER(EXPECT, t, p, !=, NULL)
#define KUNIT_EXPECT_PTR_EQ(t, l, r)	KUNIT_POINTER(EXPECT, t, l, ==, r)
#define KUNIT_EXPECT_PTR_NE(t, l, r)	KUNIT_POINTER(EXPECT, t, l, !=, r)
#define KUNIT_EXPECT_STREQ(t, l, r)	KUNIT_STRING(EXPECT, t, l, ==, r)
#define KUNIT_EXPECT_STRNEQ(t, l, r)	KUNIT_STRING(EXPECT, t, l, !=, r)
#define KUNIT_EXPECT_MEMEQ(t, l, r, n)	KUNIT_MEMORY(EXPECT, t, l, r, n)
#define KUNIT_EXPECT_TRUE_MSG(t, v, ...)	KUNIT_BOOL(EXPECT, t, v, true, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(t, v, ...)	KUNIT_BOOL(EXPECT, t, v, false, __VA_ARGS__)
#define KUNIT_EXPECT_EQ_MSG(t, l, r, ...)	KUNIT_BINARY(EXPECT, t, l, ==, r, __VA_ARGS__)
#define KUNIT_EXPECT_NE_MSG(t, l, r, ...)	KUNIT_BINARY(EXPECT, t, l, !=, r, __VA_ARGS__)
#define KUNIT_EXPECT_LT_MSG(t, l, r, ...)	KUNIT_BINARY(EXPECT, t, l, <, r, __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(t, l, r, ...)	KUNIT_BINARY(EXPECT, t, l, <=, r, __VA_ARGS__)
#define KUNIT_EXPECT_GT_MSG(t, l, r, ...)	KUNIT_BINARY(EXPECT, t, l, >, r, __VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(t, l, r, ...)	KUNIT_BINARY(EXPECT, t, l, >=, r, __VA_ARGS__)
#define KUNIT_EXPECT_NULL_MSG(t, p, ...)	KUNIT_POINTER(EXPECT, t, p, ==, NULL, __VA_ARGS__)
#define KUNIT_EXPECT_NOT_NULL_MSG(t, p, ...)	KUNIT_POINTER(EXPECT, t, p, !=, NULL, __VA_ARGS__)
#define KUNIT_EXPECT_PTR_EQ_MSG(t, l, r, ...)	KUNIT_POINTER(EXPECT, t, l, ==, r, __VA_ARGS__)
#define KUNIT_EXPECT_PTR_NE_MSG(t, l, r, ...)	KUNIT_POINTER(EXPECT, t, l, !=, r, __VA_ARGS__)
#define KUNIT_EXPECT_STREQ_MSG(t, l, r, ...)	KUNIT_STRING(EXPECT, t, l, ==, r, __VA_ARGS__)
#define KUNIT_EXPECT_STRNEQ_MSG(t, l, r, ...)	KUNIT_STRING(EXPECT, t, l, !=, r, __VA_ARGS__)
#define KUNIT_EXPECT_MEMEQ_MSG(t, l, r, n, ...)	KUNIT_MEMORY(EXPECT, t, l, r, n, __VA_ARGS__)

#define KUNIT_ASSERT_TRUE(t, v)		KUNIT_BOOL(ASSERT, t, v, true)
#define KUNIT_ASSERT_FALSE(t, v)	KUNIT_BOOL(ASSERT, t, v, false)
#define KUNIT_ASSERT_EQ(t, l, r)	KUNIT_BINARY(ASSERT, t, l, ==, r)
#define KUNIT_ASSERT_NE(t, l, r)	KUNIT_BINARY(ASSERT, t, l, !=, r)
#define KUNIT_ASSERT_LT(t, l, r)	KUNIT_BINARY(ASSERT, t, l, <, r)
#define KUNIT_ASSERT_LE(t, l, r)	KUNIT_BINARY(ASSERT, t, l, <=, r)
#define KUNIT_ASSERT_GT(t, l, r)	KUNIT_BINARY(ASSERT, t, l, >, r)
#define KUNIT_ASSERT_GE(t, l, r)	KUNIT_BINARY(ASSERT, t, l, >=, r)
#define KUNIT_ASSERT_NULL(t, p)		KUNIT_POINTER(ASSERT, t, p, ==, NULL)
#define KUNIT_ASSERT_NOT_NULL(t, p)	KUNIT_POINTER(ASSERT, t, p, !=, NULL)
#define KUNIT_ASSERT_PTR_EQ(t, l, r)	KUNIT_POINTER(ASSERT, t, l, ==, r)
#define KUNIT_ASSERT_PTR_NE(t, l, r)	KUNIT_POINTER(ASSERT, t, l, !=, r)
#define KUNIT_ASSERT_STREQ(t, l, r)	KUNIT_STRING(ASSERT, t, l, ==, r)
#define KUNIT_ASSERT_STRNEQ(t, l, r)	KUNIT_STRING(ASSERT, t, l, !=, r)
#define KUNIT_ASSERT_MEMEQ(t, l, r, n)	KUNIT_MEMORY(ASSERT, t, l, r, n)
#define KUNIT_ASSERT_TRUE_MSG(t, v, ...)	KUNIT_BOOL(ASSERT, t, v, true, __VA_ARGS__)
#define KUNIT_ASSERT_FALSE_MSG(t, v, ...)	KUNIT_BOOL(ASSERT, t, v, false, __VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(t, l, r, ...)	KUNIT_BINARY(ASSERT, t, l, ==, r, __VA_ARGS__)
#define KUNIT_ASSERT_NE_MSG(t, l, r, ...)	KUNIT_BINARY(ASSERT, t, l, !=, r, __VA_ARGS__)
#define KUNIT_ASSERT_LT_MSG(t, l, r, ...)	KUNIT_BINARY(ASSERT, t, l, <, r, __VA_ARGS__)
#define KUNIT_ASSERT_LE_MSG(t, l, r, ...)	KUNIT_BINARY(ASSERT, t, l, <=, r, __VA_ARGS__)
#define KUNIT_ASSERT_GT_MSG(t, l, r, ...)	KUNIT_BINARY(ASSERT, t, l, >, r, __VA_ARGS__)
#define KUNIT_ASSERT_GE_MSG(t, l, r, ...)	KUNIT_BINARY(ASSERT, t, l, >=, r, __VA_ARGS__)
#define KUNIT_ASSERT_NULL_MSG(t, p, ...)	KUNIT_POINTER(ASSERT, t, p, ==, NULL, __VA_ARGS__)
#define KUNIT_ASSERT_NOT_NULL_MSG(t, p, ...)	KUNIT_POINTER(ASSERT, t, p, !=, NULL, __VA_ARGS__)
#define KUNIT_ASSERT_PTR_EQ_MSG(t, l, r, ...)	KUNIT_POINTER(ASSERT, t, l, ==, r, __VA_ARGS__)
#define KUNIT_ASSERT_PTR_NE_MSG(t, l, r, ...)	KUNIT_POINTER(ASSERT, t, l, !=, r, __VA_ARGS__)
#define KUNIT_ASSERT_STREQ_MSG(t, l, r, ...)	KUNIT_STRING(ASSERT, t, l, ==, r, __VA_ARGS__)
#define KUNIT_ASSERT_STRNEQ_MSG(t, l, r, ...)	KUNIT_STRING(ASSERT, t, l, !=, r, __VA_ARGS__)
#define KUNIT_ASSERT_MEMEQ_MSG(t, l, r, n, ...)	KUNIT_MEMORY(ASSERT, t, l, r, n, __VA_ARGS__)

#endif
