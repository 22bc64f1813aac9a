// SPDX-License-Identifier: GPL-2.0
/*
 * The policy of the caller's network namespace in netlink messages. An attribute that a rule does
 * not name is absent. Users are those of the caller's user namespace.
 */
#include <net/genetlink.h>
#include <net/sock.h>

#include "sock/smc_policy.h"
#include "observe/smc_netlink_msg.h"
#include "observe/smc_netlink_policy.h"

/* Prefixes longer than the address are refused. */
#define POLICY_PREFIX_MAX	(8 * SMC_POLICY_ADDR_LEN)

/* The policy of requests has these limits. */
static_assert(SMC_POLICY_TCP == 1);
static_assert(POLICY_PREFIX_MAX == 128);

static int policy_put_match(struct sk_buff *skb, const struct smc_policy_rule *rule,
			    struct user_namespace *owner)
{
	uid_t uid = from_kuid_munged(owner, KUIDT_INIT(rule->uid));

	if (rule->sides != SMC_POLICY_BOTH &&
	    nla_put_u8(skb, SMC_NLA_POLICY_ROLE, rule->sides == SMC_POLICY_LISTEN))
		return -EMSGSIZE;
	if ((rule->port_first || rule->port_last != U16_MAX) &&
	    (nla_put_u16(skb, SMC_NLA_POLICY_PORT_FIRST, rule->port_first) ||
	     nla_put_u16(skb, SMC_NLA_POLICY_PORT_LAST, rule->port_last)))
		return -EMSGSIZE;
	if (rule->prefix &&
	    (nla_put(skb, SMC_NLA_POLICY_PEER_ADDR, sizeof(rule->peer), rule->peer) ||
	     nla_put_u8(skb, SMC_NLA_POLICY_PREFIX, rule->prefix)))
		return -EMSGSIZE;
	if (rule->cgroup &&
	    nla_put_u64_64bit(skb, SMC_NLA_POLICY_CGROUP, rule->cgroup, SMC_NLA_POLICY_PAD))
		return -EMSGSIZE;
	return rule->has_uid ? nla_put_u32(skb, SMC_NLA_POLICY_UID, uid) : 0;
}

static int policy_put(struct sk_buff *skb, const struct smc_policy_rule *rule, u64 hits,
		      struct user_namespace *owner)
{
	if (nla_put_u32(skb, SMC_NLA_POLICY_ID, rule->id) ||
	    nla_put_u8(skb, SMC_NLA_POLICY_ACTION, rule->action) ||
	    policy_put_match(skb, rule, owner))
		return -EMSGSIZE;
	return nla_put_u64_64bit(skb, SMC_NLA_POLICY_HITS, hits, SMC_NLA_POLICY_PAD);
}

/**
 * smc_netlink_dump_policy() - SMC_NETLINK_DUMP_POLICY: one message for each rule
 * @skb: the answer
 * @cb: the dump; a policy that changes meanwhile is reported
 *
 * Context: Process context.
 * Return: bytes in @skb, 0 at the end.
 */
int smc_netlink_dump_policy(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_netlink_cursor *at = smc_netlink_cursor(cb);
	const struct net *net = sock_net(skb->sk);
	struct smc_policy_rule rule;
	void *head;
	u64 hits;

	/* zero means that there is no earlier part */
	cb->seq = smc_policy_changes(net) + 1;
	for (; smc_policy_get(net, at->part, &rule, &hits); at->part++) {
		head = smc_netlink_begin(skb, cb, SMC_NETLINK_DUMP_POLICY);
		if (!head)
			break;
		if (policy_put(skb, &rule, hits, sk_user_ns(NETLINK_CB(cb->skb).sk))) {
			genlmsg_cancel(skb, head);
			break;
		}
		genl_dump_check_consistent(cb, head);
		genlmsg_end(skb, head);
	}
	return skb->len;
}

static int policy_read_ports(struct genl_info *info, struct smc_policy_rule *rule)
{
	const struct nlattr *first = info->attrs[SMC_NLA_POLICY_PORT_FIRST];
	const struct nlattr *last = info->attrs[SMC_NLA_POLICY_PORT_LAST];

	rule->port_first = first ? nla_get_u16(first) : 0;
	rule->port_last = last ? nla_get_u16(last) : first ? rule->port_first : U16_MAX;
	if (rule->port_first <= rule->port_last)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, last, "the last port is lower than the first");
	return -EINVAL;
}

static int policy_read_peer(struct genl_info *info, struct smc_policy_rule *rule)
{
	const struct nlattr *peer = info->attrs[SMC_NLA_POLICY_PEER_ADDR];
	const struct nlattr *prefix = info->attrs[SMC_NLA_POLICY_PREFIX];

	if (!peer && prefix) {
		NL_SET_ERR_MSG_ATTR(info->extack, prefix, "a prefix length needs an address");
		return -EINVAL;
	}
	if (!peer)
		return 0;
	memcpy(rule->peer, nla_data(peer), sizeof(rule->peer));
	rule->prefix = prefix ? nla_get_u8(prefix) : POLICY_PREFIX_MAX;
	smc_policy_rule_mask(rule);
	return 0;
}

static int policy_read_owner(struct sk_buff *skb, struct genl_info *info,
			     struct smc_policy_rule *rule)
{
	const struct nlattr *cgroup = info->attrs[SMC_NLA_POLICY_CGROUP];
	const struct nlattr *attr = info->attrs[SMC_NLA_POLICY_UID];
	kuid_t uid;

	rule->cgroup = cgroup ? nla_get_u64(cgroup) : 0;
	if (!attr)
		return 0;
	uid = make_kuid(sk_user_ns(NETLINK_CB(skb).sk), nla_get_u32(attr));
	if (!uid_valid(uid)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "no such user in this user namespace");
		return -EINVAL;
	}
	rule->has_uid = true;
	rule->uid = __kuid_val(uid);
	return 0;
}

static int policy_read(struct sk_buff *skb, struct genl_info *info, struct smc_policy_rule *rule)
{
	const struct nlattr *action = info->attrs[SMC_NLA_POLICY_ACTION];
	const struct nlattr *role = info->attrs[SMC_NLA_POLICY_ROLE];

	memset(rule, 0, sizeof(*rule));
	if (!action) {
		GENL_SET_ERR_MSG(info, "a rule needs an action");
		return -EINVAL;
	}
	rule->action = nla_get_u8(action);
	rule->sides = SMC_POLICY_BOTH;
	if (role)
		rule->sides = nla_get_u8(role) ? SMC_POLICY_LISTEN : SMC_POLICY_CONNECT;
	return policy_read_ports(info, rule) ?: policy_read_peer(info, rule) ?:
	       policy_read_owner(skb, info, rule);
}

/**
 * smc_netlink_add_policy() - SMC_NETLINK_ADD_POLICY
 * @skb: the request
 * @info: its attributes
 *
 * Context: Process context, may sleep.
 * Return: 0; -EINVAL for what is no rule; as smc_policy_add().
 */
int smc_netlink_add_policy(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *before = info->attrs[SMC_NLA_POLICY_BEFORE];
	struct smc_policy_rule rule;
	int rc;

	rc = policy_read(skb, info, &rule);
	if (rc)
		return rc;
	rc = smc_policy_add(genl_info_net(info), &rule, before ? nla_get_u32(before) : 0);
	if (rc == -EEXIST)
		GENL_SET_ERR_MSG(info, "a rule says the same already");
	else if (rc == -ENOENT)
		GENL_SET_ERR_MSG(info, "there is no rule to precede");
	else if (rc == -ENOSPC)
		GENL_SET_ERR_MSG(info, "a network namespace has 256 rules at most");
	return rc;
}

/**
 * smc_netlink_del_policy() - SMC_NETLINK_DEL_POLICY
 * @skb: the request
 * @info: its attributes
 *
 * Context: Process context, may sleep.
 * Return: 0; -EINVAL without an id; as smc_policy_remove().
 */
int smc_netlink_del_policy(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[SMC_NLA_POLICY_ID];
	int rc;

	if (!id) {
		GENL_SET_ERR_MSG(info, "the rule is named by its id");
		return -EINVAL;
	}
	rc = smc_policy_remove(genl_info_net(info), nla_get_u32(id));
	if (rc == -ENOENT)
		GENL_SET_ERR_MSG(info, "there is no rule with this id");
	return rc;
}

/**
 * smc_netlink_flush_policy() - SMC_NETLINK_FLUSH_POLICY
 * @skb: the request
 * @info: of the request
 *
 * Context: Process context, may sleep.
 * Return: 0.
 */
int smc_netlink_flush_policy(struct sk_buff *skb, struct genl_info *info)
{
	smc_policy_flush(genl_info_net(info));
	return 0;
}
