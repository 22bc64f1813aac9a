/* SPDX-License-Identifier: GPL-2.0 */
/* From Documentation/netlink/smc_pnetid.yaml, by scripts/gen-netlink: do not edit. */

static const struct nla_policy smc_pnetid_get_policy[SMC_PNETID_NAME + 1] = {
	[SMC_PNETID_NAME] = { .type = NLA_NUL_STRING },
};

static const struct nla_policy smc_pnetid_add_policy[SMC_PNETID_IBPORT + 1] = {
	[SMC_PNETID_NAME] = { .type = NLA_NUL_STRING },
	[SMC_PNETID_ETHNAME] = { .type = NLA_NUL_STRING },
	[SMC_PNETID_IBNAME] = { .type = NLA_NUL_STRING },
	[SMC_PNETID_IBPORT] = { .type = NLA_U8 },
};

static const struct nla_policy smc_pnetid_del_policy[SMC_PNETID_NAME + 1] = {
	[SMC_PNETID_NAME] = { .type = NLA_NUL_STRING },
};

static const struct genl_ops smc_pnetid_ops[] = {
	{
		.cmd = SMC_PNETID_GET,
		.doit = smc_pnetid_get,
		.dumpit = smc_pnetid_dump,
		.validate = GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP,
		.policy = smc_pnetid_get_policy,
		.maxattr = SMC_PNETID_NAME,
	},
	{
		.cmd = SMC_PNETID_ADD,
		.doit = smc_pnetid_add,
		.flags = GENL_UNS_ADMIN_PERM,
		.validate = GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP,
		.policy = smc_pnetid_add_policy,
		.maxattr = SMC_PNETID_IBPORT,
	},
	{
		.cmd = SMC_PNETID_DEL,
		.doit = smc_pnetid_del,
		.flags = GENL_UNS_ADMIN_PERM,
		.validate = GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP,
		.policy = smc_pnetid_del_policy,
		.maxattr = SMC_PNETID_NAME,
	},
	{
		.cmd = SMC_PNETID_FLUSH,
		.doit = smc_pnetid_flush,
		.flags = GENL_UNS_ADMIN_PERM,
		.validate = GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP,
	},
};
