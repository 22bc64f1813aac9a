/* SPDX-License-Identifier: GPL-2.0 */
/* Decides when a silent connection needs a probe, and when it is dead. */
#ifndef SMC_KEEPALIVE_PLAN_H
#define SMC_KEEPALIVE_PLAN_H

#include <linux/types.h>

/* Settings of the application in ms, 0 is never. */
struct smc_keepalive_times {
	u32 idle;	/* silence before a probe */
	u32 dead;	/* time for the reply to a probe */
	u32 stall;	/* time that data to send may make no progress */
};

/* Activity; all times are ms ago. */
struct smc_keepalive_facts {
	u32 conn_active;	/* last message on this connection, either direction, KA-01 */
	u32 link_active;	/* last message from the peer on the link, KA-02 */
	/* last data of this connection accepted from the application or by the peer */
	u32 progress;
	bool has_data;		/* the peer has not received all data */
	bool is_probing;	/* the last verdict was SMC_KEEPALIVE_PROBE */
	u32 probed;		/* time of that verdict */
};

enum smc_keepalive_verdict {
	SMC_KEEPALIVE_WAIT,
	SMC_KEEPALIVE_PROBE,		/* send TEST LINK */
	SMC_KEEPALIVE_DEAD,		/* the connection is dead: ETIMEDOUT */
};

struct smc_keepalive_step {
	enum smc_keepalive_verdict verdict;
	bool is_probing;	/* a reply to a probe is due */
	u32 wait;		/* check again then, ms; 0 for never */
};

struct smc_keepalive_step smc_keepalive_plan(const struct smc_keepalive_times *want,
					     const struct smc_keepalive_facts *facts);

#endif /* SMC_KEEPALIVE_PLAN_H */
