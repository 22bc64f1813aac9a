/* SPDX-License-Identifier: GPL-2.0 */
/* From Documentation/netlink/smc.yaml, by scripts/gen-netlink: do not edit. */

static const struct nla_policy smc_netlink_add_ueid_policy[SMC_NLA_EID_TABLE_ENTRY + 1] = {
	[SMC_NLA_EID_TABLE_ENTRY] = { .type = NLA_NUL_STRING },
};

static const struct nla_policy smc_netlink_remove_ueid_policy[SMC_NLA_EID_TABLE_ENTRY + 1] = {
	[SMC_NLA_EID_TABLE_ENTRY] = { .type = NLA_NUL_STRING },
};

static const struct nla_policy smc_netlink_add_policy_policy[SMC_NLA_POLICY_BEFORE + 1] = {
	[SMC_NLA_POLICY_ACTION] = NLA_POLICY_MAX(NLA_U8, 1),
	[SMC_NLA_POLICY_ROLE] = NLA_POLICY_MAX(NLA_U8, 1),
	[SMC_NLA_POLICY_PORT_FIRST] = { .type = NLA_U16 },
	[SMC_NLA_POLICY_PORT_LAST] = { .type = NLA_U16 },
	[SMC_NLA_POLICY_PEER_ADDR] = NLA_POLICY_EXACT_LEN(16),
	[SMC_NLA_POLICY_PREFIX] = NLA_POLICY_MAX(NLA_U8, 128),
	[SMC_NLA_POLICY_CGROUP] = { .type = NLA_U64 },
	[SMC_NLA_POLICY_UID] = { .type = NLA_U32 },
	[SMC_NLA_POLICY_BEFORE] = { .type = NLA_U32 },
};

static const struct nla_policy smc_netlink_del_policy_policy[SMC_NLA_POLICY_ID + 1] = {
	[SMC_NLA_POLICY_ID] = { .type = NLA_U32 },
};

static const struct nla_policy smc_netlink_forget_peer_policy[SMC_NLA_EVENT_PEER_PORT + 1] = {
	[SMC_NLA_EVENT_PEER_ADDR] = NLA_POLICY_EXACT_LEN(16),
	[SMC_NLA_EVENT_PEER_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
};

static const struct nla_policy smc_netlink_end_link_policy[SMC_NLA_LINK_LGR_ID + 1] = {
	[SMC_NLA_LINK_ID] = { .type = NLA_U8 },
	[SMC_NLA_LINK_LGR_ID] = { .type = NLA_U32 },
};

static const struct nla_policy smc_netlink_stop_dev_policy[SMC_NLA_DEV_IB_NAME + 1] = {
	[SMC_NLA_DEV_IB_NAME] = { .type = NLA_NUL_STRING },
};

static const struct nla_policy smc_netlink_start_dev_policy[SMC_NLA_DEV_IB_NAME + 1] = {
	[SMC_NLA_DEV_IB_NAME] = { .type = NLA_NUL_STRING },
};

static const struct genl_ops smc_netlink_ops[] = {
	{
		.cmd = SMC_NETLINK_GET_SYS_INFO,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_GET_LGR_SMCR,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_GET_LINK_SMCR,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_GET_LGR_SMCD,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_GET_DEV_SMCD,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_GET_DEV_SMCR,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_GET_STATS,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_GET_FBACK_STATS,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_DUMP_UEID,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_ADD_UEID,
		.doit = smc_netlink_add_ueid,
		.flags = GENL_ADMIN_PERM,
		.policy = smc_netlink_add_ueid_policy,
		.maxattr = SMC_NLA_EID_TABLE_ENTRY,
	},
	{
		.cmd = SMC_NETLINK_REMOVE_UEID,
		.doit = smc_netlink_remove_ueid,
		.flags = GENL_ADMIN_PERM,
		.policy = smc_netlink_remove_ueid_policy,
		.maxattr = SMC_NLA_EID_TABLE_ENTRY,
	},
	{
		.cmd = SMC_NETLINK_FLUSH_UEID,
		.doit = smc_netlink_flush_ueid,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = SMC_NETLINK_DUMP_SEID,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_ENABLE_SEID,
		.doit = smc_netlink_enable_seid,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = SMC_NETLINK_DISABLE_SEID,
		.doit = smc_netlink_disable_seid,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = SMC_NETLINK_DUMP_HS_LIMITATION,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_ENABLE_HS_LIMITATION,
		.doit = smc_netlink_enable_hs_limitation,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = SMC_NETLINK_DISABLE_HS_LIMITATION,
		.doit = smc_netlink_disable_hs_limitation,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = SMC_NETLINK_DUMP_POLICY,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_ADD_POLICY,
		.doit = smc_netlink_add_policy,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = smc_netlink_add_policy_policy,
		.maxattr = SMC_NLA_POLICY_BEFORE,
	},
	{
		.cmd = SMC_NETLINK_DEL_POLICY,
		.doit = smc_netlink_del_policy,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = smc_netlink_del_policy_policy,
		.maxattr = SMC_NLA_POLICY_ID,
	},
	{
		.cmd = SMC_NETLINK_FLUSH_POLICY,
		.doit = smc_netlink_flush_policy,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = SMC_NETLINK_DUMP_HISTORY,
		.dumpit = smc_netlink_dump,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = SMC_NETLINK_DUMP_PEERS,
		.dumpit = smc_netlink_dump,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = SMC_NETLINK_FORGET_PEER,
		.doit = smc_netlink_forget_peer,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = smc_netlink_forget_peer_policy,
		.maxattr = SMC_NLA_EVENT_PEER_PORT,
	},
	{
		.cmd = SMC_NETLINK_FLUSH_PEERS,
		.doit = smc_netlink_flush_peers,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = SMC_NETLINK_DUMP_UNFIT,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_DUMP_COUNTERS,
		.dumpit = smc_netlink_dump,
	},
	{
		.cmd = SMC_NETLINK_END_LINK,
		.doit = smc_netlink_end_link,
		.flags = GENL_UNS_ADMIN_PERM,
		.policy = smc_netlink_end_link_policy,
		.maxattr = SMC_NLA_LINK_LGR_ID,
	},
	{
		.cmd = SMC_NETLINK_STOP_DEV,
		.doit = smc_netlink_stop_dev,
		.flags = GENL_ADMIN_PERM,
		.policy = smc_netlink_stop_dev_policy,
		.maxattr = SMC_NLA_DEV_IB_NAME,
	},
	{
		.cmd = SMC_NETLINK_START_DEV,
		.doit = smc_netlink_start_dev,
		.flags = GENL_ADMIN_PERM,
		.policy = smc_netlink_start_dev_policy,
		.maxattr = SMC_NLA_DEV_IB_NAME,
	},
};
