// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive on the SMC level, RFC 7609 4.5.3, and TCP_USER_TIMEOUT, as a pure
 * decision: from what is wanted and what has happened follows what to do and
 * when to look again.
 *
 * A link is probed for all its connections at once. So a connection that finds
 * that another one has heard from the peer, or has just probed, waits: what it
 * asks for is silence on the connection and on the link (KA-03, KA-07).
 */
#include <linux/minmax.h>

#include "proto/smc_keepalive_plan.h"

/* How often to look for data when there is none, in parts of the time limit. */
#define IDLE_STALL_LOOKS	4
#define IDLE_STALL_LOOK_MIN	10

static void idle_stall(const struct smc_keepalive_times *want,
		       const struct smc_keepalive_facts *facts, struct smc_keepalive_step *step)
{
	if (!want->stall)
		return;
	if (!facts->has_data)
		step->wait = max_t(u32, want->stall / IDLE_STALL_LOOKS, IDLE_STALL_LOOK_MIN);
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
	 * Anything that came since is an answer, KA-04. In the tick of the probe,
	 * too: before it there was silence.
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
 * smc_keepalive_plan() - is it time to probe the peer, or to give it up
 * @want: what the application set
 * @facts: what has happened on connection and link
 *
 * RFC 7609 4.5.3 (KA-01 to KA-04, KA-07, TMR-15).
 *
 * Context: Any context.
 * Return: what to do now and when to look again.
 */
struct smc_keepalive_step smc_keepalive_plan(const struct smc_keepalive_times *want,
					     const struct smc_keepalive_facts *facts)
{
	struct smc_keepalive_step step = { .verdict = SMC_KEEPALIVE_WAIT };

	idle_stall(want, facts, &step);
	if (step.verdict != SMC_KEEPALIVE_DEAD)
		idle_keepalive(want, facts, &step);
	return step;
}
