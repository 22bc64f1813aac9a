/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When does silence of a connection call for a probe, and when is it an end?
 */
#ifndef SMC_IDLE_H
#define SMC_IDLE_H

#include <linux/types.h>

/**
 * struct smc_idle_want - what the application wants; times in ms, 0 is never
 * @idle: probe after so much silence
 * @dead: give up when a probe has no answer for so long
 * @stall: give up when data to send makes no progress for so long
 */
struct smc_idle_want {
	u32 idle;
	u32 dead;
	u32 stall;
};

/**
 * struct smc_idle_facts - how things are; all times are ms ago
 * @conn_active: something came or went on this connection, KA-01
 * @link_active: something came from the peer on the link, KA-02
 * @progress: data of this connection were taken by the application's call,
 *	      or by the peer
 * @has_data: there is data that the peer has not got
 * @is_probing: the last answer was SMC_IDLE_PROBE
 * @probed: that was then
 */
struct smc_idle_facts {
	u32 conn_active;
	u32 link_active;
	u32 progress;
	bool has_data;
	bool is_probing;
	u32 probed;
};

enum smc_idle_verdict {
	SMC_IDLE_WAIT,		/* nothing to do */
	SMC_IDLE_PROBE,		/* send TEST LINK */
	SMC_IDLE_DEAD,		/* the connection is dead: ETIMEDOUT */
};

struct smc_idle_step {
	enum smc_idle_verdict verdict;
	bool is_probing;	/* a probe is out and not answered */
	u32 wait;		/* look again then, ms; 0 for never */
};

struct smc_idle_step smc_idle_look(const struct smc_idle_want *want,
				   const struct smc_idle_facts *facts);

#endif /* SMC_IDLE_H */
