/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When does silence of a connection call for a probe, and when is it an end?
 */
#ifndef SMC_KEEPALIVE_PLAN_H
#define SMC_KEEPALIVE_PLAN_H

#include <linux/types.h>

/**
 * struct smc_keepalive_times - what the application wants; times in ms, 0 is never
 * @idle: probe after so much silence
 * @dead: give up when a probe has no answer for so long
 * @stall: give up when data to send makes no progress for so long
 */
struct smc_keepalive_times {
	u32 idle;
	u32 dead;
	u32 stall;
};

/**
 * struct smc_keepalive_facts - how things are; all times are ms ago
 * @conn_active: something came or went on this connection, KA-01
 * @link_active: something came from the peer on the link, KA-02
 * @progress: data of this connection were taken by the application's call,
 *	      or by the peer
 * @has_data: there is data that the peer has not got
 * @is_probing: the last answer was SMC_KEEPALIVE_PROBE
 * @probed: that was then
 */
struct smc_keepalive_facts {
	u32 conn_active;
	u32 link_active;
	u32 progress;
	bool has_data;
	bool is_probing;
	u32 probed;
};

enum smc_keepalive_verdict {
	SMC_KEEPALIVE_WAIT,		/* nothing to do */
	SMC_KEEPALIVE_PROBE,		/* send TEST LINK */
	SMC_KEEPALIVE_DEAD,		/* the connection is dead: ETIMEDOUT */
};

struct smc_keepalive_step {
	enum smc_keepalive_verdict verdict;
	bool is_probing;	/* a probe is out and not answered */
	u32 wait;		/* look again then, ms; 0 for never */
};

struct smc_keepalive_step smc_keepalive_plan(const struct smc_keepalive_times *want,
					     const struct smc_keepalive_facts *facts);

#endif /* SMC_KEEPALIVE_PLAN_H */
