/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The KUnit API of the newest kernel; older kernels get the missing parts here.
 */
#ifndef SMC_KUNIT_H
#define SMC_KUNIT_H

#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/string.h>

#ifndef KUNIT_EXPECT_MEMEQ
#define KUNIT_EXPECT_MEMEQ(test, left, right, size)			\
	KUNIT_EXPECT_EQ(test, memcmp(left, right, size), 0)
#define KUNIT_EXPECT_MEMEQ_MSG(test, left, right, size, ...)		\
	KUNIT_EXPECT_EQ_MSG(test, memcmp(left, right, size), 0, __VA_ARGS__)
#define KUNIT_ASSERT_MEMEQ(test, left, right, size)			\
	KUNIT_ASSERT_EQ(test, memcmp(left, right, size), 0)
#endif

/* Check the offsets of the members of the structs in smc_wire.h. */
#define SMC_WIRE_AT(type, member, offset) \
	static_assert(offsetof(struct type, member) == (offset))

/* The result of smc_ib_changes(). */
extern int kunit_changes;

/* What another CPU does at the next barrier that a suite has made a place for it; NULL: nothing. */
extern void (*kunit_other_cpu)(void);

static inline void kunit_run_other_cpu(void)
{
	void (*run)(void) = kunit_other_cpu;

	kunit_other_cpu = NULL;
	if (run)
		run();
}

/* The same without descriptions. */
#ifndef KUNIT_ARRAY_PARAM_DESC
#define KUNIT_ARRAY_PARAM_DESC(name, array, ...) KUNIT_ARRAY_PARAM(name, array, NULL)
#endif

/* Slow cases and actions came to KUnit at about the same time. */
#ifndef KUNIT_CASE_SLOW
#define KUNIT_CASE_SLOW(test_name) KUNIT_CASE(test_name)

struct smc_kunit_action {
	void (*func)(void *ctx);
	void *ctx;
};

static inline int smc_kunit_action_init(struct kunit_resource *res, void *from)
{
	res->data = kmemdup(from, sizeof(struct smc_kunit_action), GFP_KERNEL);
	return res->data ? 0 : -ENOMEM;
}

static inline void smc_kunit_action_free(struct kunit_resource *res)
{
	struct smc_kunit_action *action = res->data;

	action->func(action->ctx);
	kfree(action);
}

static inline bool smc_kunit_action_is(struct kunit *test, struct kunit_resource *res, void *what)
{
	return res->free == smc_kunit_action_free &&
	       !memcmp(res->data, what, sizeof(struct smc_kunit_action));
}

/* @func(@ctx) runs when the case ends; at once if memory is short. */
static inline int kunit_add_action_or_reset(struct kunit *test, void (*func)(void *ctx),
					    void *ctx)
{
	struct smc_kunit_action action = { .func = func, .ctx = ctx };

	if (kunit_alloc_resource(test, smc_kunit_action_init, smc_kunit_action_free, GFP_KERNEL,
				 &action))
		return 0;
	func(ctx);
	return -ENOMEM;
}

/* Run the action now instead. */
static inline void kunit_release_action(struct kunit *test, void (*func)(void *ctx), void *ctx)
{
	struct smc_kunit_action action = { .func = func, .ctx = ctx };

	kunit_destroy_resource(test, smc_kunit_action_is, &action);
}
#endif

/* Objects in the largest crowd of the cases one_more_*; set by run -n. */
#ifndef SMC_KUNIT_CROWD
#define SMC_KUNIT_CROWD	2000
#endif

#endif /* SMC_KUNIT_H */
