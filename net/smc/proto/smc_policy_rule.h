/* SPDX-License-Identifier: GPL-2.0 */
/* Rules that decide whether a connection may use SMC, and what they match. */
#ifndef SMC_POLICY_RULE_H
#define SMC_POLICY_RULE_H

#include <linux/types.h>

#define SMC_POLICY_ADDR_LEN	16
#define SMC_POLICY_DEPTH_MAX	32	/* levels of control groups that rules see */

enum smc_policy_action {
	SMC_POLICY_SMC,
	SMC_POLICY_TCP,
};

/* Sides of a connection, as a set */
enum smc_policy_side {
	SMC_POLICY_CONNECT	= 1,
	SMC_POLICY_LISTEN	= 2,
	SMC_POLICY_BOTH		= 3,
};

/**
 * struct smc_policy_rule - one rule; what it does not name matches everything
 * @peer: the peer's address or network, IPv4 as mapped address; bits beyond @prefix are 0
 * @cgroup: id of a control group, also for those below it; 0 for all
 * @uid: owner of the socket, if @has_uid
 * @port_first: port of the service: the peer's for connect(), the local one of a listener
 * @port_last: last port of the range, at least @port_first
 * @prefix: leading bits of @peer that count
 * @sides: of &enum smc_policy_side
 * @action: of &enum smc_policy_action
 * @has_uid: whether @uid counts
 * @id: names the rule; not part of what it says
 */
struct smc_policy_rule {
	u8 peer[SMC_POLICY_ADDR_LEN];
	u64 cgroup;
	u32 uid;
	u16 port_first;
	u16 port_last;
	u8 prefix;
	u8 sides;
	u8 action;
	u8 has_uid;
	u32 id;
};

/**
 * struct smc_policy_conn - a connection as rules see it
 * @peer: the peer's address, IPv4 as mapped address
 * @cgroup: ids of the socket's control group and of those above it, the root's first
 * @nr_cgroups: entries in @cgroup
 * @uid: owner of the socket
 * @port: port of the service
 * @side: SMC_POLICY_CONNECT or SMC_POLICY_LISTEN
 */
struct smc_policy_conn {
	u8 peer[SMC_POLICY_ADDR_LEN];
	u64 cgroup[SMC_POLICY_DEPTH_MAX];
	unsigned int nr_cgroups;
	u32 uid;
	u16 port;
	u8 side;
};

void smc_policy_rule_mask(struct smc_policy_rule *rule);
bool smc_policy_rule_is_same(const struct smc_policy_rule *a, const struct smc_policy_rule *b);
bool smc_policy_rule_matches(const struct smc_policy_rule *rule,
			     const struct smc_policy_conn *conn);

#endif /* SMC_POLICY_RULE_H */
