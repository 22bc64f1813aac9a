// SPDX-License-Identifier: GPL-2.0
/* Netlink messages that say why a connection would use SMC or TCP. */
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "sock/smc_explain.h"
#include "observe/smc_netlink_explain.h"
#include "observe/smc_netlink_msg.h"

const struct nla_policy smc_netlink_explain_policy[SMC_NLA_EXPLAIN_PEER_PORT + 1] = {
	[SMC_NLA_EXPLAIN_PEER_ADDR]	= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[SMC_NLA_EXPLAIN_PEER_PORT]	= NLA_POLICY_MIN(NLA_U16, 1),
};

static int explain_put_check(struct sk_buff *skb, enum smc_explain_id id,
			     const struct smc_explain_check *check)
{
	struct nlattr *nest = nla_nest_start(skb, id);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_CHECK_OK, check->is_ok) ||
	    nla_put_string(skb, SMC_NLA_CHECK_TEXT, check->text) ||
	    nla_put_u32(skb, SMC_NLA_CHECK_NUMBER, check->number) ||
	    (check->reason && nla_put_u32(skb, SMC_NLA_CHECK_REASON, check->reason)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int explain_put(struct sk_buff *skb, const struct smc_explain *ex)
{
	enum smc_explain_id id;
	struct nlattr *nest;

	if (nla_put_u8(skb, SMC_NLA_EXPLAIN_V1, ex->offers_v1) ||
	    nla_put_u8(skb, SMC_NLA_EXPLAIN_V2, ex->offers_v2))
		return -EMSGSIZE;
	if (ex->reason &&
	    (nla_put_u32(skb, SMC_NLA_EXPLAIN_REASON, ex->reason) ||
	     nla_put_string(skb, SMC_NLA_EXPLAIN_TEXT, smc_nego_reason_text(ex->reason))))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SMC_NLA_EXPLAIN_CHECKS);
	if (!nest)
		return -EMSGSIZE;
	for (id = SMC_EXPLAIN_POLICY; id <= SMC_EXPLAIN_ID_MAX; id++)
		if (ex->check[id].is_known && explain_put_check(skb, id, &ex->check[id]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int explain_put_msg(struct sk_buff *skb, struct netlink_callback *cb,
			   const struct smc_explain *ex)
{
	void *head = smc_netlink_begin(skb, cb, SMC_NETLINK_DUMP_EXPLAIN);

	if (!head)
		return -EMSGSIZE;
	if (explain_put(skb, ex)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

/**
 * smc_netlink_dump_explain() - SMC_NETLINK_DUMP_EXPLAIN: one message
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context, may sleep.
 * Return: bytes in @skb, 0 at the end; -EINVAL without an address; as smc_explain().
 */
int smc_netlink_dump_explain(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_netlink_cursor *at = smc_netlink_cursor(cb);
	struct nlattr *attrs[SMC_NLA_EXPLAIN_PEER_PORT + 1];
	const struct nlattr *port;
	struct smc_explain *ex;
	struct in6_addr peer;
	int rc;

	if (at->part)
		return skb->len;
	rc = nlmsg_parse(cb->nlh, GENL_HDRLEN, attrs, SMC_NLA_EXPLAIN_PEER_PORT,
			 smc_netlink_explain_policy, cb->extack);
	if (rc)
		return rc;
	port = attrs[SMC_NLA_EXPLAIN_PEER_PORT];
	if (!attrs[SMC_NLA_EXPLAIN_PEER_ADDR]) {
		NL_SET_ERR_MSG(cb->extack, "a destination has an address");
		return -EINVAL;
	}
	peer = nla_get_in6_addr(attrs[SMC_NLA_EXPLAIN_PEER_ADDR]);
	ex = kzalloc(sizeof(*ex), GFP_KERNEL_ACCOUNT);
	if (!ex)
		return -ENOMEM;
	rc = smc_explain(sock_net(skb->sk), &peer, port ? nla_get_u16(port) : 0, ex);
	rc = rc ?: explain_put_msg(skb, cb, ex);
	kfree(ex);
	at->part = 1;
	return rc ?: skb->len;
}
