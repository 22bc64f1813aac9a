// SPDX-License-Identifier: GPL-2.0
/*
 * Rules that decide whether a connection may use SMC. The first rule of a list that matches
 * decides, so a second one that says the same never does.
 */
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "proto/smc_policy_rule.h"

/* no padding: rules are compared as bytes */
static_assert(sizeof(struct smc_policy_rule) == offsetof(struct smc_policy_rule, id) + sizeof(u32));

/* The bits of byte @i of an address that are in a prefix. */
static u8 policy_byte_mask(unsigned int prefix, unsigned int i)
{
	if (prefix >= 8 * (i + 1))
		return 0xff;
	return prefix <= 8 * i ? 0 : (u8)(0xff << (8 * (i + 1) - prefix));
}

/**
 * smc_policy_rule_mask() - clear the bits of the peer's address beyond the prefix
 * @rule: the rule
 *
 * Context: Any context.
 */
void smc_policy_rule_mask(struct smc_policy_rule *rule)
{
	unsigned int i;

	for (i = 0; i < SMC_POLICY_ADDR_LEN; i++)
		rule->peer[i] &= policy_byte_mask(rule->prefix, i);
}

/**
 * smc_policy_rule_is_same() - check whether two rules say the same
 * @a: one rule, masked
 * @b: the other, masked
 *
 * Context: Any context.
 * Return: true if they differ at most in their ids.
 */
bool smc_policy_rule_is_same(const struct smc_policy_rule *a, const struct smc_policy_rule *b)
{
	return !memcmp(a, b, offsetof(struct smc_policy_rule, id));
}

static bool policy_has_peer(const struct smc_policy_rule *rule, const struct smc_policy_conn *conn)
{
	unsigned int i;

	for (i = 0; 8 * i < rule->prefix; i++)
		if ((rule->peer[i] ^ conn->peer[i]) & policy_byte_mask(rule->prefix, i))
			return false;
	return true;
}

static bool policy_has_cgroup(const struct smc_policy_rule *rule,
			      const struct smc_policy_conn *conn)
{
	unsigned int i;

	for (i = 0; i < conn->nr_cgroups; i++)
		if (conn->cgroup[i] == rule->cgroup)
			return true;
	return !rule->cgroup;
}

/**
 * smc_policy_rule_matches() - check whether a rule is about a connection
 * @rule: the rule, masked
 * @conn: the connection
 *
 * Context: Any context.
 * Return: true if all that the rule names is so.
 */
bool smc_policy_rule_matches(const struct smc_policy_rule *rule,
			     const struct smc_policy_conn *conn)
{
	return rule->sides & conn->side &&
	       conn->port >= rule->port_first && conn->port <= rule->port_last &&
	       (!rule->has_uid || rule->uid == conn->uid) &&
	       policy_has_peer(rule, conn) && policy_has_cgroup(rule, conn);
}
