// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive of RFC 7609 Section 4.5.3 and TCP_USER_TIMEOUT: one row for each combination of
 * options and events, and several connections on one link with a counted clock.
 */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_keepalive_plan.c"

struct idle_case {
	const char *what;
	struct smc_keepalive_times want;
	struct smc_keepalive_facts facts;
	struct smc_keepalive_step step;
};

static const struct smc_keepalive_times wants_keepalive = { .idle = 5000, .dead = 3000 };

static const struct idle_case idle_cases[] = {
	{
		"nothing wanted: never looked at",
		.facts = { .conn_active = 90000, .link_active = 90000 },
	}, {
		"KA-01: the connection was active a second ago",
		.want = { .idle = 5000, .dead = 3000 },
		.facts = { .conn_active = 1000, .link_active = 90000 },
		.step = { .wait = 4000 },
	}, {
		"KA-07: another connection of the link was active",
		.want = { .idle = 5000, .dead = 3000 },
		.facts = { .conn_active = 90000, .link_active = 1000 },
		.step = { .wait = 4000 },
	}, {
		"KA-03: both silent, not quite long enough",
		.want = { .idle = 5000, .dead = 3000 },
		.facts = { .conn_active = 4999, .link_active = 90000 },
		.step = { .wait = 1 },
	}, {
		"KA-03: both silent long enough",
		.want = { .idle = 5000, .dead = 3000 },
		.facts = { .conn_active = 5000, .link_active = 5000 },
		.step = { SMC_KEEPALIVE_PROBE, true, 3000 },
	}, {
		"TMR-15: probed, no answer yet",
		.want = { .idle = 5000, .dead = 3000 },
		.facts = { .conn_active = 7000, .link_active = 7000,
			   .is_probing = true, .probed = 2000 },
		.step = { .is_probing = true, .wait = 1000 },
	}, {
		"KA-04: the answer came",
		.want = { .idle = 5000, .dead = 3000 },
		.facts = { .conn_active = 7000, .link_active = 1999,
			   .is_probing = true, .probed = 2000 },
		.step = { .wait = 3001 },
	}, {
		"KA-04: the answer came in the tick of the probe",
		.want = { .idle = 5000, .dead = 3000 },
		.facts = { .conn_active = 8000, .link_active = 3000,
			   .is_probing = true, .probed = 3000 },
		.step = { .wait = 2000 },
	}, {
		"KA-04: answered long ago, and silent again",
		.want = { .idle = 5000, .dead = 3000 },
		.facts = { .conn_active = 20000, .link_active = 6000,
			   .is_probing = true, .probed = 6001 },
		.step = { SMC_KEEPALIVE_PROBE, true, 3000 },
	}, {
		"KA-06: no answer in time",
		.want = { .idle = 5000, .dead = 3000 },
		.facts = { .conn_active = 8000, .link_active = 8000,
			   .is_probing = true, .probed = 3000 },
		.step = { SMC_KEEPALIVE_DEAD, true, 0 },
	}, {
		"no data to send: looked at four times in the limit",
		.want = { .stall = 1000 },
		.facts = { .progress = 90000 },
		.step = { .wait = 250 },
	}, {
		"a tiny limit is no busy loop",
		.want = { .stall = 1 },
		.step = { .wait = 10 },
	}, {
		"data in time",
		.want = { .stall = 1000 },
		.facts = { .has_data = true, .progress = 400 },
		.step = { .wait = 600 },
	}, {
		"data that nobody takes",
		.want = { .stall = 1000 },
		.facts = { .has_data = true, .progress = 1000 },
		.step = { SMC_KEEPALIVE_DEAD, false, 0 },
	}, {
		"the sooner of both counts: keepalive",
		.want = { .idle = 5000, .dead = 3000, .stall = 8000 },
		.facts = { .conn_active = 4500, .link_active = 90000,
			   .has_data = true, .progress = 4500 },
		.step = { .wait = 500 },
	}, {
		"the sooner of both counts: progress",
		.want = { .idle = 5000, .dead = 3000, .stall = 2000 },
		.facts = { .conn_active = 100, .link_active = 90000,
			   .has_data = true, .progress = 1900 },
		.step = { .wait = 100 },
	},
};

static void ka_01_ka_02_ka_03_ka_04_ka_07_tmr_15_rows(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(idle_cases); i++) {
		const struct idle_case *c = &idle_cases[i];
		struct smc_keepalive_step step = smc_keepalive_plan(&c->want, &c->facts);

		KUNIT_EXPECT_EQ_MSG(test, step.verdict, c->step.verdict, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, step.is_probing, c->step.is_probing, "%s", c->what);
		KUNIT_EXPECT_EQ_MSG(test, step.wait, c->step.wait, "%s", c->what);
	}
}

/* One link, several connections, a peer that answers or not. */
#define IDLE_CONNS	3

struct idle_link {
	u32 now;
	u32 link_rx;		/* time of the last message from the peer */
	u32 conn_at[IDLE_CONNS];	/* last activity */
	u32 look_at[IDLE_CONNS];	/* when its timer fires */
	bool is_probing[IDLE_CONNS];
	u32 probed_at[IDLE_CONNS];
	unsigned int probes;
	unsigned int dead;
};

static void idle_fire(struct idle_link *l, int i, bool answers)
{
	struct smc_keepalive_facts facts = {
		.conn_active = l->now - l->conn_at[i],
		.link_active = l->now - l->link_rx,
		.is_probing = l->is_probing[i],
		.probed = l->now - l->probed_at[i],
	};
	struct smc_keepalive_step step = smc_keepalive_plan(&wants_keepalive, &facts);

	l->is_probing[i] = step.is_probing;
	l->look_at[i] = step.wait ? l->now + step.wait : U32_MAX;
	if (step.verdict == SMC_KEEPALIVE_DEAD)
		l->dead++;
	if (step.verdict != SMC_KEEPALIVE_PROBE)
		return;
	l->probes++;
	l->probed_at[i] = l->now;
	if (answers)
		l->link_rx = l->now;
}

static void idle_run(struct idle_link *l, u32 until, bool answers, int busy)
{
	int i;

	for (; l->now < until; l->now++) {
		if (busy >= 0 && !(l->now % 1000)) {
			l->conn_at[busy] = l->now;
			l->link_rx = l->now;
		}
		for (i = 0; i < IDLE_CONNS; i++)
			if (l->now >= l->look_at[i])
				idle_fire(l, i, answers);
	}
}

/* Three idle connections share one probe in each interval. */
static void ka_03_one_probe_for_all_connections_of_a_link(struct kunit *test)
{
	struct idle_link l = {};

	idle_run(&l, 60000, true, -1);
	KUNIT_EXPECT_GE(test, l.probes, 11U);
	KUNIT_EXPECT_LE(test, l.probes, 12U);
	KUNIT_EXPECT_EQ(test, l.dead, 0U);
}

static void ka_07_no_probe_while_one_connection_is_busy(struct kunit *test)
{
	struct idle_link l = {};

	idle_run(&l, 60000, true, 1);
	KUNIT_EXPECT_EQ(test, l.probes, 0U);
}

static void ka_06_a_silent_peer_ends_every_connection_in_time(struct kunit *test)
{
	struct idle_link l = {};

	idle_run(&l, 7999, false, -1);
	KUNIT_EXPECT_EQ(test, l.dead, 0U);
	idle_run(&l, 8001, false, -1);
	KUNIT_EXPECT_EQ(test, l.dead, (unsigned int)IDLE_CONNS);
}

static struct kunit_case smc_idle_cases[] = {
	KUNIT_CASE(ka_01_ka_02_ka_03_ka_04_ka_07_tmr_15_rows),
	KUNIT_CASE(ka_03_one_probe_for_all_connections_of_a_link),
	KUNIT_CASE(ka_07_no_probe_while_one_connection_is_busy),
	KUNIT_CASE(ka_06_a_silent_peer_ends_every_connection_in_time),
	{}
};

static struct kunit_suite smc_idle_suite = {
	.name = "smc_keepalive_plan",
	.test_cases = smc_idle_cases,
};

kunit_test_suite(smc_idle_suite);
