// SPDX-License-Identifier: GPL-2.0
/*
 * GIDs as addresses: their kinds, which of them can reach each other, and the choice from a
 * port's table, with and without a route (SEC-02).
 */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_gid.c"

/* A port of the network device "own"; the route may lead to a device above it. */
enum {
	LL_V1, LL, VIP, IPV4, IPV4_V1, GLOBAL, ULA, IPV4_UP, GLOBAL_UP, LL_UP, GID_NR,
};

static const struct {
	u8 gid[SMC_GID_LEN];
	bool is_v1;
	bool is_upper;
	bool is_secondary;
} gid_table[GID_NR] = {
	[LL_V1] = { { 0xfe, 0x80, [15] = 1 }, .is_v1 = true },
	[LL] = { { 0xfe, 0x80, [15] = 1 } },
	[VIP] = { { [10] = 0xff, 0xff, 10, 0, 0, 99 }, .is_secondary = true },
	[IPV4] = { { [10] = 0xff, 0xff, 10, 0, 0, 1 } },
	[IPV4_V1] = { { [10] = 0xff, 0xff, 10, 0, 0, 1 }, .is_v1 = true },
	[GLOBAL] = { { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } },
	[ULA] = { { 0xfd, 0x43, [15] = 1 } },
	[IPV4_UP] = { { [10] = 0xff, 0xff, 10, 1, 0, 1 }, .is_upper = true },
	[GLOBAL_UP] = { { 0x20, 0x01, 0x0d, 0xb8, 1, [15] = 1 }, .is_upper = true },
	[LL_UP] = { { 0xfe, 0x80, [15] = 2 }, .is_upper = true },
};

#define GID_BIT(n)	(1U << (n))
#define GID_ALL		(GID_BIT(GID_NR) - 1)
#define GID_V2		(GID_ALL & ~(GID_BIT(LL_V1) | GID_BIT(IPV4_V1)))

struct gid_case {
	const char *what;
	unsigned int there;	/* entries of the table */
	bool route_is_upper;	/* to the device above the port's */
	u8 kinds;
	enum smc_gid_roce roce;
	bool named_only;
	int named;		/* entry, or GID_NR for none */
	int best;		/* entry, or GID_NR for none */
};

static const struct gid_case gid_cases[] = {
	{ "RoCE v1 before all v2", GID_ALL, false, SMC_GID_ANY, SMC_GID_V1_FIRST, false, GID_NR,
	  LL_V1 },
	{ "RoCE v2 first", GID_ALL, false, SMC_GID_ANY, SMC_GID_V2_FIRST, false, GID_NR, IPV4 },
	{ "RoCE v2 first: the address of TCP", GID_ALL, false, SMC_GID_ANY, SMC_GID_V2_FIRST,
	  false, IPV4, IPV4 },
	{ "RoCE v2 first: there is none", GID_BIT(LL_V1) | GID_BIT(IPV4_V1), false, SMC_GID_ANY,
	  SMC_GID_V2_FIRST, false, IPV4, IPV4_V1 },
	{ "RoCE v2 only", GID_ALL, false, SMC_GID_ANY, SMC_GID_V2_ONLY, false, GID_NR, IPV4 },
	{ "RoCE v1 only", GID_ALL, false, SMC_GID_ANY, SMC_GID_V1_ONLY, false, GID_NR, LL_V1 },
	{ "RoCE v1 only: the address of TCP", GID_ALL, false, SMC_GID_ANY, SMC_GID_V1_ONLY, false,
	  IPV4, IPV4_V1 },
	{ "RoCE v1 only: there is none", GID_V2, false, SMC_GID_ANY, SMC_GID_V1_ONLY, false, IPV4,
	  GID_NR },
	{ "a primary address before one that may move", GID_V2, false, SMC_GID_ANY,
	  SMC_GID_V1_FIRST, false, GID_NR, IPV4 },
	{ "the only IPv4 address may move", GID_V2 & ~GID_BIT(IPV4), false, SMC_GID_ANY,
	  SMC_GID_V1_FIRST, false, GID_NR, VIP },
	{ "the address of TCP, though it may move", GID_V2, false, SMC_GID_ANY, SMC_GID_V1_FIRST,
	  false, VIP, VIP },
	{ "the address of TCP is IPv6", GID_V2, false, SMC_GID_ANY, SMC_GID_V1_FIRST, false, ULA,
	  IPV4 },
	{ "the address of TCP is IPv6, as all are", GID_BIT(LL) | GID_BIT(GLOBAL) | GID_BIT(ULA),
	  false, SMC_GID_ANY, SMC_GID_V1_FIRST, false, ULA, ULA },
	{ "the address of TCP, for RoCE v1", GID_ALL, false, SMC_GID_ANY, SMC_GID_V1_FIRST, false,
	  IPV4, IPV4_V1 },
	{ "the address of TCP is known to RoCE v2 only", GID_ALL, false, SMC_GID_ANY,
	  SMC_GID_V1_FIRST, false, ULA, LL_V1 },
	{ "IPv4 before IPv6 in v2", GID_V2, false, SMC_GID_ANY, SMC_GID_V1_FIRST, false, GID_NR,
	  IPV4 },
	{ "the route's own device before the one below", GID_V2, true, SMC_GID_ANY,
	  SMC_GID_V1_FIRST, false, GID_NR, IPV4_UP },
	{ "IPv6 of the route's device before IPv4 below", GID_V2 & ~GID_BIT(IPV4_UP), true,
	  SMC_GID_ANY, SMC_GID_V1_FIRST, false, GID_NR, GLOBAL_UP },
	{ "the first of equals", GID_V2 & ~(GID_BIT(IPV4) | GID_BIT(VIP)), false, SMC_GID_ANY,
	  SMC_GID_V1_FIRST, false, GID_NR, LL },
	{ "IPv6 for a neighbour of IPv6", GID_ALL, false, SMC_GID_ANY_IPV6, SMC_GID_V2_ONLY, false,
	  GID_NR, LL },
	{ "IPv4 for a neighbour of IPv4", GID_ALL, false, SMC_GID_ONE(SMC_GID_IPV4),
	  SMC_GID_V2_ONLY, false, GID_NR, IPV4 },
	{ "nothing for a neighbour of IPv6", GID_BIT(LL_V1) | GID_BIT(IPV4), false,
	  SMC_GID_ANY_IPV6, SMC_GID_V2_ONLY, false, GID_NR, GID_NR },
	{ "a route of IPv6: no link-local one", GID_ALL, false, SMC_GID_ONE(SMC_GID_IPV6),
	  SMC_GID_V2_ONLY, false, GID_NR, GLOBAL },
	{ "a route of IPv6: the address of TCP", GID_ALL, false, SMC_GID_ONE(SMC_GID_IPV6),
	  SMC_GID_V2_ONLY, false, ULA, ULA },
	{ "a route of IPv6: the address of TCP before the route's own device", GID_ALL, true,
	  SMC_GID_ONE(SMC_GID_IPV6), SMC_GID_V2_ONLY, false, ULA, ULA },
	{ "a route of IPv6: TCP's address is no GID", GID_ALL, true, SMC_GID_ONE(SMC_GID_IPV6),
	  SMC_GID_V2_ONLY, false, LL, GLOBAL_UP },
	{ "a route of IPv6: IPv4 is of no use", GID_BIT(LL) | GID_BIT(IPV4) | GID_BIT(LL_UP),
	  false, SMC_GID_ONE(SMC_GID_IPV6), SMC_GID_V2_ONLY, false, GID_NR, GID_NR },
	{ "a route of IPv4: the address of TCP", GID_ALL, false, SMC_GID_ONE(SMC_GID_IPV4),
	  SMC_GID_V2_ONLY, false, IPV4_UP, IPV4_UP },
	{ "SEC-02: link-local TCP: that address", GID_ALL, false, SMC_GID_ONE(SMC_GID_LINK_LOCAL),
	  SMC_GID_V2_ONLY, true, LL, LL },
	{ "SEC-02: link-local TCP: no other address", GID_ALL & ~GID_BIT(LL), false,
	  SMC_GID_ONE(SMC_GID_LINK_LOCAL), SMC_GID_V2_ONLY, true, LL, GID_NR },
	{ "SEC-02: link-local TCP: not that of a device below", GID_ALL, true,
	  SMC_GID_ONE(SMC_GID_LINK_LOCAL), SMC_GID_V2_ONLY, true, LL, GID_NR },
};

KUNIT_ARRAY_PARAM_DESC(gid, gid_cases, what);

/* As smc_ib.c does it. */
static int gid_best(const struct gid_case *row)
{
	struct smc_gid_criteria wish = {
		.kinds = row->kinds, .roce = row->roce, .named_only = row->named_only,
	};
	unsigned int rank, best_rank = 0;
	int i, best = GID_NR;

	if (row->named != GID_NR)
		memcpy(wish.gid, gid_table[row->named].gid, sizeof(wish.gid));
	for (i = 0; i < GID_NR; i++) {
		struct smc_gid_facts facts = {
			.gid = gid_table[i].gid, .is_v1 = gid_table[i].is_v1,
			.is_theirs = gid_table[i].is_upper == row->route_is_upper,
			.is_secondary = gid_table[i].is_secondary,
		};

		if (!(row->there & GID_BIT(i)))
			continue;
		rank = smc_gid_rank(&facts, &wish);
		if (rank > best_rank) {
			best_rank = rank;
			best = i;
		}
	}
	return best;
}

static void sec_02_the_gid_that_serves_best(struct kunit *test)
{
	const struct gid_case *row = test->param_value;

	KUNIT_EXPECT_EQ(test, gid_best(row), row->best);
}

static void kinds_of_addresses(struct kunit *test)
{
	static const struct {
		u8 gid[SMC_GID_LEN];
		enum smc_gid_kind kind;
	} rows[] = {
		{ { [10] = 0xff, 0xff, 192, 0, 2, 1 }, SMC_GID_IPV4 },
		{ { [10] = 0xff, 0xff }, SMC_GID_IPV4 },
		{ { [12] = 192, 0, 2, 1 }, SMC_GID_IPV6 },
		{ { [9] = 1, 0xff, 0xff, 192, 0, 2, 1 }, SMC_GID_IPV6 },
		{ { 0xfe, 0x80, [15] = 1 }, SMC_GID_LINK_LOCAL },
		{ { 0xfe, 0xbf, [15] = 1 }, SMC_GID_LINK_LOCAL },
		{ { 0xfe, 0xc0, [15] = 1 }, SMC_GID_IPV6 },
		{ { 0xff, 0x80, [15] = 1 }, SMC_GID_IPV6 },
		{ { 0xfd, 0x80, [15] = 1 }, SMC_GID_IPV6 },
		{ { 0x20, 0x01, 0x0d, 0xb8 }, SMC_GID_IPV6 },
	};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ_MSG(test, smc_gid_classify(rows[i].gid), rows[i].kind, "row %u", i);
		for (k = 0; k < ARRAY_SIZE(rows); k++) {
			bool same_version = (rows[i].kind == SMC_GID_IPV4) ==
					    (rows[k].kind == SMC_GID_IPV4);
			unsigned int like = smc_gid_kinds_like(rows[i].gid);

			KUNIT_EXPECT_EQ_MSG(test, !!(like & SMC_GID_ONE(rows[k].kind)),
					    same_version, "rows %u and %u", i, k);
			KUNIT_EXPECT_EQ_MSG(test,
					    smc_gid_is_routable_to(rows[i].gid, rows[k].gid),
					    rows[i].kind == rows[k].kind, "rows %u and %u", i, k);
		}
	}
}

static struct kunit_case smc_gid_cases[] = {
	KUNIT_CASE(kinds_of_addresses),
	KUNIT_CASE_PARAM(sec_02_the_gid_that_serves_best, gid_gen_params),
	{}
};

static struct kunit_suite smc_gid_suite = {
	.name = "smc_gid",
	.test_cases = smc_gid_cases,
};

kunit_test_suite(smc_gid_suite);
