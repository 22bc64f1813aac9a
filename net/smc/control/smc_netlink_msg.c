// SPDX-License-Identifier: GPL-2.0
/* Parts of netlink messages that several dumps have. */
#include <linux/ctype.h>
#include <net/genetlink.h>

#include "control/smc_netlink_msg.h"

#define SMC_NETLINK_TEXT_MAX	32
#define SMC_NETLINK_GID_LEN	40	/* eight groups of four digits, and NUL */

/* SMC_NLA_COUNT_* count from 1 in the same order. */
static_assert(SMC_IB_TX_BYTES + 1 == SMC_NLA_COUNT_TX_BYTES);
static_assert(SMC_IB_RETRIES + 1 == SMC_NLA_COUNT_RETRIES);
static_assert(SMC_IB_RX_ERRORS + 1 == SMC_NLA_COUNT_RX_ERRORS);
static_assert(SMC_IB_LEAKS + 1 == SMC_NLA_COUNT_LEAKS);
static_assert(SMC_IB_NR_COUNTS + 1 == SMC_NLA_COUNT_PAD);

/**
 * smc_netlink_begin() - begin a message of a dump
 * @skb: the answer
 * @cb: the dump
 * @cmd: of the message
 *
 * Context: Process context.
 * Return: for genlmsg_end() or genlmsg_cancel(); NULL if there is no room.
 */
void *smc_netlink_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	struct genlmsghdr *head;
	struct nlmsghdr *nlh;

	/* the type is the number of the family */
	nlh = nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			cb->nlh->nlmsg_type, GENL_HDRLEN, NLM_F_MULTI);
	if (!nlh)
		return NULL;
	head = nlmsg_data(nlh);
	*head = (struct genlmsghdr){ .cmd = cmd, .version = request->version };
	return genlmsg_data(head);
}

/**
 * smc_netlink_dump_each() - fill the answer with a message for each object
 * @skb: the answer
 * @cb: the dump
 * @visit: adds the next object
 *
 * Context: Process context.
 * Return: bytes in @skb, 0 at the end, or -EMSGSIZE if not even one message has room.
 */
int smc_netlink_dump_each(struct sk_buff *skb, struct netlink_callback *cb,
			  smc_netlink_visit *visit)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	struct smc_netlink_cursor *at = smc_netlink_cursor(cb);
	int rc;

	do {
		void *head = smc_netlink_begin(skb, cb, request->cmd);
		u64 next = at->serial;

		rc = head ? visit(skb, cb, &next) : -EMSGSIZE;
		if (rc > 0) {
			genl_dump_check_consistent(cb, head);
			genlmsg_end(skb, head);
			at->serial = next;
		} else if (head) {
			genlmsg_cancel(skb, head);
		}
	} while (rc > 0);
	return skb->len ?: rc;
}

/**
 * smc_netlink_put_uint() - add a number that has four bytes, or eight if it needs them
 * @skb: the message
 * @type: of the attribute
 * @value: the number
 *
 * Context: Any context.
 * Return: 0 or -EMSGSIZE.
 */
int smc_netlink_put_uint(struct sk_buff *skb, int type, u64 value)
{
	if (value <= U32_MAX)
		return nla_put_u32(skb, type, value);
	return nla_put(skb, type, sizeof(value), &value);
}

/**
 * smc_netlink_put_padded() - add a string that is stored with blanks in place of a NUL
 * @skb: the message
 * @type: of the attribute
 * @text: from a peer, any bytes; those that cannot be printed become question marks
 * @len: of @text, at most 32
 *
 * Context: Any context.
 * Return: 0 or -EMSGSIZE.
 */
int smc_netlink_put_padded(struct sk_buff *skb, int type, const u8 *text, unsigned int len)
{
	char copy[SMC_NETLINK_TEXT_MAX + 1] = {};
	unsigned int i;

	for (i = 0; i < min_t(unsigned int, len, SMC_NETLINK_TEXT_MAX) && text[i]; i++)
		copy[i] = isascii(text[i]) && isprint(text[i]) ? text[i] : '?';
	return nla_put_string(skb, type, copy);
}

/**
 * smc_netlink_put_gid() - add a GID as a string
 * @skb: the message
 * @type: of the attribute
 * @gid: the GID
 *
 * Context: Any context.
 * Return: 0 or -EMSGSIZE.
 */
int smc_netlink_put_gid(struct sk_buff *skb, int type, const u8 gid[16])
{
	char text[SMC_NETLINK_GID_LEN];

	snprintf(text, sizeof(text), "%pI6", gid);
	return nla_put_string(skb, type, text);
}

/**
 * smc_netlink_put_counts() - add a nest of counters
 * @skb: the message
 * @type: of the nest, whose attributes are &enum smc_count_attr
 * @nr: by &enum smc_ib_count
 *
 * Context: Any context.
 * Return: 0 or -EMSGSIZE.
 */
int smc_netlink_put_counts(struct sk_buff *skb, int type, const u64 nr[SMC_IB_NR_COUNTS])
{
	struct nlattr *nest = nla_nest_start(skb, type);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < SMC_IB_NR_COUNTS; i++)
		if (nla_put_u64_64bit(skb, i + 1, nr[i], SMC_NLA_COUNT_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
