// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family SMC_GEN_NETLINK of deployed tools: the state of the module, EIDs, and
 * whether listeners limit handshakes.
 *
 * There is no SMC-D here, so its dumps are empty, and there is no system EID: it is shown as absent
 * and cannot be enabled. Any user may dump what exists, as with sock_diag: groups, links, devices,
 * counters, settings. Addresses that others have talked to before need CAP_NET_ADMIN in the network
 * namespace, as with events of MPTCP. Groups, counters, the limit and the policy are those of the
 * caller's namespace; EIDs are those of the host.
 */
#include <linux/module.h>
#include <linux/smc.h>
#include <linux/utsname.h>
#include <net/genetlink.h>

#include "smc_compat.h"
#include "rdma/smc_eid.h"
#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "sock/smc_policy.h"
#include "observe/smc_netlink.h"
#include "observe/smc_netlink_dev.h"
#include "observe/smc_netlink_lgr.h"
#include "observe/smc_netlink_memory.h"
#include "observe/smc_netlink_msg.h"
#include "observe/smc_netlink_policy.h"
#include "observe/smc_netlink_stats.h"

/* Commands without attributes reject them. */
static const struct nla_policy smc_netlink_no_policy[SMC_NLA_EID_TABLE_MAX + 1] = {
	[SMC_NLA_EID_TABLE_ENTRY] = { .type = NLA_REJECT },
};

static int smc_netlink_put_eid(struct sk_buff *skb, struct netlink_callback *cb,
			       const u8 eid[SMC_EID_LEN])
{
	char text[SMC_EID_LEN + 1] = {};
	void *head = smc_netlink_begin(skb, cb, SMC_NETLINK_DUMP_UEID);

	if (!head)
		return -EMSGSIZE;
	memcpy(text, eid, SMC_EID_LEN);
	if (nla_put_string(skb, SMC_NLA_EID_TABLE_ENTRY, text)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

/* One message for each EID; args[0] is the index of the next one. */
static int smc_netlink_dump_ueid(struct sk_buff *skb, struct netlink_callback *cb)
{
	u8 eid[SMC_EID_LEN];

	while (smc_eid_get(cb->args[0], eid) && !smc_netlink_put_eid(skb, cb, eid))
		cb->args[0]++;
	return skb->len;
}

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

static int smc_netlink_put_host(struct sk_buff *skb)
{
	/* of the caller, as peers get it from a program that is started now */
	const char *name = utsname()->nodename;
	char host[SMC_CLC_HOST_LEN + 1] = {};

	memset(host, ' ', SMC_CLC_HOST_LEN);
	memcpy(host, name, strnlen(name, SMC_CLC_HOST_LEN));
	return nla_put_string(skb, SMC_NLA_SYS_LOCAL_HOST, host);
}

/* Built into a kernel, the module has no version of its own. */
static const char *smc_netlink_version(void)
{
	const struct module *module = THIS_MODULE;
	const char *text = module ? module->version : NULL;

	return text ?: "";
}

/* What a new module would have to wait for, in all namespaces */
static int smc_netlink_put_use(struct sk_buff *skb)
{
	struct smc_link_group *lgr = NULL;
	u32 groups = 0, conns = 0;

	while ((lgr = smc_lgr_next(NULL, lgr, 0))) {
		groups++;
		conns += READ_ONCE(lgr->nr_conns);
	}
	if (nla_put_u8(skb, SMC_NLA_SYS_DRAIN, smc_policy_is_draining()) ||
	    nla_put_u32(skb, SMC_NLA_SYS_GROUPS, groups) ||
	    nla_put_u32(skb, SMC_NLA_SYS_CONNS, conns))
		return -EMSGSIZE;
	return 0;
}

static int smc_netlink_put_sys_info(struct sk_buff *skb, const struct netlink_callback *cb)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_SYS_INFO);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_SYS_VER, SMC_CLC_V2) ||
	    nla_put_u8(skb, SMC_NLA_SYS_REL, SMC_NEGO_RELEASE) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_ISM_V2, 0) ||
	    smc_netlink_put_host(skb) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_SMCR_V2, 1) ||
	    nla_put_string(skb, SMC_NLA_SYS_MODULE, smc_netlink_version()) ||
	    (netlink_capable(cb->skb, CAP_NET_ADMIN) && smc_netlink_put_use(skb)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* There is nothing of SMC-D. */
static int smc_netlink_dump_nothing(struct sk_buff *skb, struct netlink_callback *cb)
{
	return skb->len;
}

/* Exactly one message; for the system EID it is empty. */
static int smc_netlink_dump_one(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct genlmsghdr *req = nlmsg_data(cb->nlh);
	struct net *net = sock_net(skb->sk);
	void *head;

	if (cb->args[0])
		return skb->len;
	head = smc_netlink_begin(skb, cb, req->cmd);
	if (!head)
		return -EMSGSIZE;
	if ((req->cmd == SMC_NETLINK_GET_SYS_INFO && smc_netlink_put_sys_info(skb, cb)) ||
	    (req->cmd == SMC_NETLINK_DUMP_HS_LIMITATION &&
	     nla_put_u8(skb, SMC_NLA_HS_LIMITATION_ENABLED,
			READ_ONCE(smc_net(net)->set.limit_smc_hs)))) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	cb->args[0] = 1;
	return skb->len;
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

static int (* const smc_netlink_dumps[])(struct sk_buff *skb, struct netlink_callback *cb) = {
	[SMC_NETLINK_GET_SYS_INFO]	 = smc_netlink_dump_one,
	[SMC_NETLINK_GET_LGR_SMCR]	 = smc_netlink_dump_lgr,
	[SMC_NETLINK_GET_LINK_SMCR]	 = smc_netlink_dump_link,
	[SMC_NETLINK_GET_LGR_SMCD]	 = smc_netlink_dump_nothing,
	[SMC_NETLINK_GET_DEV_SMCD]	 = smc_netlink_dump_nothing,
	[SMC_NETLINK_GET_DEV_SMCR]	 = smc_netlink_dump_dev,
	[SMC_NETLINK_GET_STATS]		 = smc_netlink_dump_stats,
	[SMC_NETLINK_GET_FBACK_STATS]	 = smc_netlink_dump_fback,
	[SMC_NETLINK_DUMP_COUNTERS]	 = smc_netlink_dump_counters,
	[SMC_NETLINK_DUMP_UEID]		 = smc_netlink_dump_ueid,
	[SMC_NETLINK_DUMP_SEID]		 = smc_netlink_dump_one,
	[SMC_NETLINK_DUMP_HS_LIMITATION] = smc_netlink_dump_one,
	[SMC_NETLINK_DUMP_POLICY]	 = smc_netlink_dump_policy,
	[SMC_NETLINK_DUMP_HISTORY]	 = smc_netlink_dump_history,
	[SMC_NETLINK_DUMP_PEERS]	 = smc_netlink_dump_peers,
	[SMC_NETLINK_DUMP_UNFIT]	 = smc_netlink_dump_unfit,
};

static int smc_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);

	return smc_netlink_dumps[request->cmd](skb, cb);
}

/* what calls the functions above */
#include "observe/smc_netlink_ops.h"

static const struct genl_multicast_group smc_netlink_groups[] = {
	{ .name = SMC_GENL_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN },
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
