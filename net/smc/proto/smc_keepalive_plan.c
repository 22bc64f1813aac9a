// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive of SMC, RFC 7609 4.5.3, and TCP_USER_TIMEOUT as a pure decision: whether to probe
 * or give up, and when to check again.
 *
 * A probe of a link serves all its connections. A connection whose link received anything, or
 * was just probed for another connection, waits: only silence on both counts (KA-03, KA-07).
 */
#include <linux/minmax.h>

#include "proto/smc_keepalive_plan.h"

/* Without data the check repeats at this fraction of the time limit, at least 10 ms apart. */
#define STALL_CHECKS		4
#define STALL_CHECK_MIN_MS	10

static void check_stall(const struct smc_keepalive_times *want,
			const struct smc_keepalive_facts *facts, struct smc_keepalive_step *step)
{
	if (!want->stall)
		return;
	if (!facts->has_data)
		step->wait = max_t(u32, want->stall / STALL_CHECKS, STALL_CHECK_MIN_MS);
	else if (facts->progress >= want->stall)
		step->verdict = SMC_KEEPALIVE_DEAD;
	else
		step->wait = want->stall - facts->progress;
}

static void idle_keepalive(const struct smc_keepalive_times *want,
			   const struct smc_keepalive_facts *facts, struct smc_keepalive_step *step)
{
	u32 quiet = min(facts->conn_active, facts->link_active);

	if (!want->idle)
		return;
	/*
	 * Anything received since the probe is an answer, KA-04. So is a message in the same
	 * tick: there was silence before it.
	 */
	step->is_probing = facts->is_probing && facts->link_active > facts->probed;
	if (step->is_probing && facts->probed >= want->dead) {
		step->verdict = SMC_KEEPALIVE_DEAD;
	} else if (step->is_probing) {
		step->wait = min_not_zero(step->wait, want->dead - facts->probed);
	} else if (quiet >= want->idle) {
		step->verdict = SMC_KEEPALIVE_PROBE;
		step->is_probing = true;
		step->wait = min_not_zero(step->wait, want->dead);
	} else {
		step->wait = min_not_zero(step->wait, want->idle - quiet);
	}
}

/**
 * smc_keepalive_plan() - decide whether to probe the peer or to give it up
 * @want: settings of the application
 * @facts: activity of the connection and its link
 *
 * RFC 7609 4.5.3 (KA-01 to KA-04, KA-07, TMR-15).
 *
 * Context: Any context.
 * Return: what to do now, and when to check again.
 */
struct smc_keepalive_step smc_keepalive_plan(const struct smc_keepalive_times *want,
					     const struct smc_keepalive_facts *facts)
{
	struct smc_keepalive_step step = { .verdict = SMC_KEEPALIVE_WAIT };

	check_stall(want, facts, &step);
	if (step.verdict != SMC_KEEPALIVE_DEAD)
		idle_keepalive(want, facts, &step);
	return step;
}
