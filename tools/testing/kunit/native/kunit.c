// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the suites that are linked with it:
 *
 *   PROGRAM [GLOB]	all cases, or those whose SUITE or SUITE.CASE matches
 *
 * Prints what ../init sends of a run in the kernel: one KTAP document per suite, between
 * marks. ../ktap.py judges the result. A report of a sanitizer ends the program, and with
 * it the document.
 */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kunit/test.h>

struct kunit_memory {
	struct kunit_memory *next;
	void *p;
};

static struct kunit_suite *suites;

void kunit_register(struct kunit_suite *suite)
{
	struct kunit_suite **last = &suites;

	while (*last)
		last = &(*last)->next;
	*last = suite;
}

/* Print a line of a diagnosis, unless it is empty. */
void kunit_log(struct kunit *test, const char *fmt, ...)
{
	char line[1024];
	va_list args;
	size_t len;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	len = strcspn(line, "\n");
	if (len)
		printf("    # %s: %.*s\n", test->name, (int)len, line);
}

void kunit_end(struct kunit *test, enum kunit_status status)
{
	test->status = status;
	longjmp(test->end, 1);
}

void kunit_failed(struct kunit *test, enum kunit_kind kind, const char *file, int line,
		  const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	kunit_log(test, "failed at %s:%d: %s", file, line, text);
	test->status = KUNIT_FAILURE;
	if (kind == KUNIT_ASSERT)
		kunit_end(test, KUNIT_FAILURE);
}

size_t kunit_differ_at(const u8 *left, const u8 *right, size_t size)
{
	size_t at = 0;

	while (at < size && left[at] == right[at])
		at++;
	return at;
}

static void *keep(struct kunit *test, void *p)
{
	struct kunit_memory *memory = kmalloc(sizeof(*memory), GFP_KERNEL);

	if (!memory || !p)
		abort();
	*memory = (struct kunit_memory){ .next = test->memory, .p = p };
	test->memory = memory;
	return p;
}

void *kunit_kmalloc(struct kunit *test, size_t size, int gfp)
{
	return keep(test, kmalloc(size, gfp));
}

void *kunit_kcalloc(struct kunit *test, size_t n, size_t size, int gfp)
{
	return keep(test, kcalloc(n, size, gfp));
}

void kunit_kfree(struct kunit *test, const void *p)
{
	struct kunit_memory **at = &test->memory, *memory;

	while (*at && (*at)->p != p)
		at = &(*at)->next;
	memory = *at;
	if (!memory)
		abort();
	*at = memory->next;
	kfree(memory->p);
	kfree(memory);
}

static enum kunit_status run(const struct kunit_case *kase, const void *param)
{
	struct kunit test = { .name = kase->name, .param_value = param };

	if (!setjmp(test.end))
		kase->run_case(&test);
	while (test.memory)
		kunit_kfree(&test, test.memory->p);
	return test.status;
}

static void print_result(const char *indent, enum kunit_status status, unsigned int nr,
			 const char *name)
{
	printf("%s%s %u %s%s\n", indent, status == KUNIT_FAILURE ? "not ok" : "ok", nr, name,
	       status == KUNIT_SKIPPED ? " # SKIP" : "");
}

/* As in the kernel: a failed parameter fails the case, a skipped one does not. */
static enum kunit_status run_params(const struct kunit_case *kase)
{
	enum kunit_status status = KUNIT_SKIPPED, one;
	char desc[KUNIT_PARAM_DESC_SIZE];
	const void *param = NULL;
	unsigned int nr = 0;

	printf("        KTAP version 1\n        # Subtest: %s\n", kase->name);
	while ((param = kase->generate_params(param, desc))) {
		one = run(kase, param);
		print_result("        ", one, ++nr, desc);
		if (one == KUNIT_FAILURE || status == KUNIT_SKIPPED)
			status = one;
	}
	return status;
}

static bool is_wanted(const struct kunit_suite *suite, const struct kunit_case *kase,
		      const char *glob)
{
	char name[256];

	snprintf(name, sizeof(name), "%s.%s", suite->name, kase->name);
	return !glob || !fnmatch(glob, suite->name, 0) || !fnmatch(glob, name, 0);
}

static void run_suite(const struct kunit_suite *suite, const char *glob)
{
	enum kunit_status status, all = KUNIT_SUCCESS;
	unsigned int nr = 0, wanted = 0;
	const struct kunit_case *kase;

	for (kase = suite->test_cases; kase->run_case; kase++)
		wanted += is_wanted(suite, kase, glob);
	if (glob && !wanted)
		return;
	printf("SMC-KUNIT suite %s\nKTAP version 1\n1..1\n", suite->name);
	printf("    KTAP version 1\n    # Subtest: %s\n    1..%u\n", suite->name, wanted);
	for (kase = suite->test_cases; kase->run_case; kase++) {
		if (!is_wanted(suite, kase, glob))
			continue;
		status = kase->generate_params ? run_params(kase) : run(kase, NULL);
		print_result("    ", status, ++nr, kase->name);
		if (status == KUNIT_FAILURE)
			all = status;
	}
	print_result("", all, 1, suite->name);
	printf("SMC-KUNIT suite-end\n");
}

int main(int argc, char **argv)
{
	const struct kunit_suite *suite;

	/* line by line: a sanitizer may end the program */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("SMC-KUNIT begin\n");
	for (suite = suites; suite; suite = suite->next)
		run_suite(suite, argv[1]);
	printf("SMC-KUNIT end\n");
	return 0;
}
