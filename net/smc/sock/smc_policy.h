/* SPDX-License-Identifier: GPL-2.0 */
/* Policy: which connections of a network namespace may use SMC. */
#ifndef SMC_POLICY_H
#define SMC_POLICY_H

#include <linux/in6.h>
#include <linux/types.h>

#include "proto/smc_clc_nego.h"
#include "proto/smc_policy_rule.h"

struct net;
struct sock;

#define SMC_POLICY_RULES_MAX	256	/* in a namespace */

int smc_policy_add(struct net *net, struct smc_policy_rule *rule, u32 before);
int smc_policy_remove(struct net *net, u32 id);
void smc_policy_flush(struct net *net);
bool smc_policy_get(const struct net *net, unsigned int i, struct smc_policy_rule *rule,
		    u64 *hits);
unsigned int smc_policy_changes(const struct net *net);

bool smc_policy_is_draining(void);
enum smc_decline smc_policy_apply(const struct sock *sk, enum smc_policy_side side,
				  const struct in6_addr *peer, u16 port);
enum smc_decline smc_policy_peek(const struct sock *sk, enum smc_policy_side side,
				 const struct in6_addr *peer, u16 port, u32 *rule);

#endif /* SMC_POLICY_H */
