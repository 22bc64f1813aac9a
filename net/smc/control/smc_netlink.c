// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family SMC_GEN_NETLINK of deployed tools, and its requests: EIDs, whether
 * listeners limit handshakes, the policy, what is remembered of hosts, ends of links, devices.
 *
 * There is no SMC-D here, so its dumps are empty, and there is no system EID: it is shown as absent
 * and cannot be enabled. Any user may dump what exists, as with sock_diag: groups, links, devices,
 * counters, settings. Addresses that others have talked to before need CAP_NET_ADMIN in the network
 * namespace, as with events of MPTCP. Groups, counters, the limit and the policy are those of the
 * caller's namespace; EIDs are those of the host.
 */
#include <linux/module.h>
#include <linux/smc.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "smc_compat.h"
#include "rdma/smc_eid.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "group/smc_llc.h"
#include "group/smc_peer.h"
#include "sock/smc_policy.h"
#include "control/smc_netlink.h"
#include "control/smc_netlink_dump.h"
#include "control/smc_netlink_event.h"

/* Commands without attributes reject them. */
static const struct nla_policy smc_netlink_no_policy[SMC_NLA_EID_TABLE_MAX + 1] = {
	[SMC_NLA_EID_TABLE_ENTRY] = { .type = NLA_REJECT },
};

/* All namespaces share the EIDs of the host. */
static int smc_netlink_check_host(struct genl_info *info)
{
	if (net_eq(genl_info_net(info), &init_net))
		return 0;
	GENL_SET_ERR_MSG(info, "EIDs are changed in the initial network namespace");
	return -EPERM;
}

/* Returns the EID, with its final NUL, or an error. */
static const u8 *smc_netlink_read_eid(struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SMC_NLA_EID_TABLE_ENTRY];
	int rc = smc_netlink_check_host(info);

	if (!rc && (!attr || nla_len(attr) != SMC_EID_LEN + 1))
		rc = -EINVAL;
	return rc ? ERR_PTR(rc) : nla_data(attr);
}

static int smc_netlink_add_ueid(struct sk_buff *skb, struct genl_info *info)
{
	const u8 *eid = smc_netlink_read_eid(info);

	return IS_ERR(eid) ? PTR_ERR(eid) : smc_eid_add(eid);
}

static int smc_netlink_remove_ueid(struct sk_buff *skb, struct genl_info *info)
{
	const u8 *eid = smc_netlink_read_eid(info);

	return IS_ERR(eid) ? PTR_ERR(eid) : smc_eid_remove(eid);
}

static int smc_netlink_flush_ueid(struct sk_buff *skb, struct genl_info *info)
{
	int rc = smc_netlink_check_host(info);

	if (!rc)
		smc_eid_flush();
	return rc;
}

static int smc_netlink_enable_seid(struct sk_buff *skb, struct genl_info *info)
{
	return -EOPNOTSUPP;
}

static int smc_netlink_disable_seid(struct sk_buff *skb, struct genl_info *info)
{
	return -EOPNOTSUPP;
}

static int smc_netlink_enable_hs_limitation(struct sk_buff *skb, struct genl_info *info)
{
	WRITE_ONCE(smc_net(genl_info_net(info))->set.limit_smc_hs, true);
	return 0;
}

static int smc_netlink_disable_hs_limitation(struct sk_buff *skb, struct genl_info *info)
{
	WRITE_ONCE(smc_net(genl_info_net(info))->set.limit_smc_hs, false);
	return 0;
}

/* Return: the index of an active link, -ENOENT without it */
static int lgr_find_link(const struct smc_link_group *lgr, u8 num)
{
	int i;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (lgr->links[i] && lgr->links[i]->num == num &&
		    lgr->links[i]->state == SMC_LINK_ACTIVE)
			return i;
	return -ENOENT;
}

static int lgr_end(struct smc_link_group *lgr, const struct nlattr *link)
{
	int i;

	if (!link) {
		smc_llc_end_group(lgr, SMC_LLC_DELETE_OPERATOR, true);
		return 0;
	}
	guard(mutex)(&lgr->lock);
	i = lgr_find_link(lgr, nla_get_u8(link));
	if (i < 0)
		return i;
	smc_llc_give_up_link(lgr, i);
	return 0;
}

/*
 * End a link, or a group with its connections. The peer is notified, and connections of a link
 * move to other links. Nothing waits for them: a client stops the queue once its response to
 * DELETE LINK is sent, and data in flight is sent again on another link, so nothing is lost.
 * Connections of the last link are reset. RFC 7609 3.5.4, 3.5.5.1.3, 3.5.5.1.4 (LGT-03, DELL-01).
 */
static int smc_netlink_end_link(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[SMC_NLA_LINK_LGR_ID];
	struct smc_link_group *lgr = NULL;
	int rc = -ENOENT;

	if (!id) {
		GENL_SET_ERR_MSG(info, "a group has a number");
		return -EINVAL;
	}
	while ((lgr = smc_lgr_next(genl_info_net(info), lgr, 0)))
		if (lgr->id == nla_get_u32(id) && READ_ONCE(lgr->state) == SMC_LGR_ACTIVE)
			break;
	if (lgr) {
		rc = lgr_end(lgr, info->attrs[SMC_NLA_LINK_ID]);
		smc_lgr_put(lgr);
	}
	return rc;
}

/* Prefixes longer than the address are refused. */
#define POLICY_PREFIX_MAX	(8 * SMC_POLICY_ADDR_LEN)

/* The policy of requests has these limits. */
static_assert(SMC_POLICY_TCP == 1);
static_assert(POLICY_PREFIX_MAX == 128);

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

static int smc_netlink_add_policy(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *before = info->attrs[SMC_NLA_POLICY_BEFORE];
	struct smc_policy_rule rule;
	int rc;

	rc = policy_read(skb, info, &rule);
	if (rc)
		return rc;
	rc = smc_policy_add(genl_info_net(info), &rule, before ? nla_get_u32(before) : 0);
	if (!rc)
		nl_set_extack_cookie_u64(info->extack, rule.id);
	else if (rc == -EEXIST)
		GENL_SET_ERR_MSG(info, "a rule says the same already");
	else if (rc == -ENOENT)
		GENL_SET_ERR_MSG(info, "there is no rule to precede");
	else if (rc == -ENOSPC)
		GENL_SET_ERR_MSG(info, "a network namespace has 256 rules at most");
	return rc;
}

static int smc_netlink_del_policy(struct sk_buff *skb, struct genl_info *info)
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

static int smc_netlink_flush_policy(struct sk_buff *skb, struct genl_info *info)
{
	smc_policy_flush(genl_info_net(info));
	return 0;
}

static int smc_netlink_forget_peer(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *addr = info->attrs[SMC_NLA_EVENT_PEER_ADDR];
	const struct nlattr *port = info->attrs[SMC_NLA_EVENT_PEER_PORT];
	struct in6_addr peer;

	if (!addr) {
		GENL_SET_ERR_MSG(info, "a host is named by its address");
		return -EINVAL;
	}
	peer = nla_get_in6_addr(addr);
	if (smc_peer_clear(genl_info_net(info), &peer, port ? nla_get_u16(port) : 0))
		return 0;
	GENL_SET_ERR_MSG(info, "nothing is remembered of that");
	return -ENOENT;
}

static int smc_netlink_flush_peers(struct sk_buff *skb, struct genl_info *info)
{
	smc_peer_clear(genl_info_net(info), NULL, 0);
	return 0;
}

/* Returns NULL after a message if the request names no device. */
static const char *dev_name_of(struct genl_info *info)
{
	const struct nlattr *name = info->attrs[SMC_NLA_DEV_IB_NAME];

	if (!name)
		GENL_SET_ERR_MSG(info, "a device has a name");
	return name ? nla_data(name) : NULL;
}

static int smc_netlink_stop_dev(struct sk_buff *skb, struct genl_info *info)
{
	const char *name = dev_name_of(info);
	int rc = name ? smc_ib_stop(genl_info_net(info), name) : -EINVAL;

	if (rc == -ENOENT)
		GENL_SET_ERR_MSG(info, "no device of that name is in use");
	return rc;
}

static int smc_netlink_start_dev(struct sk_buff *skb, struct genl_info *info)
{
	const char *name = dev_name_of(info);
	int rc = name ? smc_ib_start(genl_info_net(info), name) : -EINVAL;

	if (rc == -ENOENT)
		GENL_SET_ERR_MSG(info, "no device of that name is stopped");
	return rc;
}

/* what calls the functions above */
#include "control/smc_netlink_ops.h"

static const struct genl_multicast_group smc_netlink_groups[] = {
	[SMC_NETLINK_GROUP_EVENTS] = { .name = SMC_GENL_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN },
	[SMC_NETLINK_GROUP_ENDS] = { .name = SMC_GENL_ENDS, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

struct genl_family smc_netlink_family = {
	.name		= SMC_GENL_FAMILY_NAME,
	.version	= SMC_GENL_FAMILY_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.parallel_ops	= true,
	.maxattr	= ARRAY_SIZE(smc_netlink_no_policy) - 1,
	.policy		= smc_netlink_no_policy,
	.ops		= smc_netlink_ops,
	.n_ops		= ARRAY_SIZE(smc_netlink_ops),
	.mcgrps		= smc_netlink_groups,
	.n_mcgrps	= ARRAY_SIZE(smc_netlink_groups),
	.resv_start_op	= SMC_NETLINK_DISABLE_HS_LIMITATION + 1,
};

/**
 * smc_netlink_init() - register the family
 *
 * Context: Process context, module load.
 * Return: 0, or what genl_register_family() returns.
 */
int smc_netlink_init(void)
{
	return genl_register_family(&smc_netlink_family);
}

/**
 * smc_netlink_exit() - undo smc_netlink_init()
 *
 * Context: Process context, may sleep.
 */
void smc_netlink_exit(void)
{
	genl_unregister_family(&smc_netlink_family);
}
