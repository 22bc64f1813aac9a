// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family SMC_PNETID of deployed tools: the table of PNETIDs of the caller's
 * network namespace.
 *
 * An RDMA device belongs to the host. So the owner of a namespace, which with user namespaces can
 * be any user, may add entries of network devices only. Entries of RDMA devices are the host's.
 */
#include <linux/if.h>
#include <linux/module.h>
#include <linux/smc.h>
#include <net/genetlink.h>

#include "rdma/smc_ib.h"
#include "rdma/smc_pnet.h"
#include "control/smc_pnetid.h"

static_assert(SMC_PNET_ID_LEN == SMC_MAX_PNETID_LEN);

/* Placeholders for what an entry does not name: tools read all attributes. */
#define SMC_PNETID_NO_NAME	"n/a"
#define SMC_PNETID_NO_PORT	255

/* Ends an answer. */
#define SMC_PNETID_DONE_LEN	sizeof(int)

static struct genl_family smc_pnetid_family;

static int smc_pnetid_read_id(struct genl_info *info, struct smc_pnet_id *id)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_NAME];

	if (attr && smc_pnet_table_read_id(nla_data(attr), id))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "a PNETID has 1 to 16 letters and digits");
	return -EINVAL;
}

static int smc_pnetid_read_netdev(struct genl_info *info, struct smc_pnet_entry *entry)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_ETHNAME];

	entry->port = 0;
	if (smc_pnet_table_read_device(nla_data(attr), IFNAMSIZ - 1, entry->device))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "a network device has 1 to 15 characters, no blank or '/', '*' only last");
	return -EINVAL;
}

static int smc_pnetid_read_ibdev(struct sk_buff *skb, struct genl_info *info,
				 struct smc_pnet_entry *entry)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_IBNAME];
	const struct nlattr *port = info->attrs[SMC_PNETID_IBPORT];

	entry->port = port ? nla_get_u8(port) : 1;
	if (!entry->port || entry->port > SMC_IB_MAX_PORTS) {
		NL_SET_ERR_MSG_ATTR(info->extack, port, "a port is 1 or 2");
		return -EINVAL;
	}
	if (!smc_pnet_table_read_device(nla_data(attr), SMC_PNET_DEVICE_LEN, entry->device)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "an RDMA device has 1 to 63 characters, no blank or '/', '*' only last");
		return -EINVAL;
	}
	if (!netlink_capable(skb, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "an RDMA device needs CAP_NET_ADMIN of the host");
		return -EPERM;
	}
	return 0;
}

static int smc_pnetid_add(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_pnet_entry entry[2];
	unsigned int nr = 0;
	int rc;

	rc = smc_pnetid_read_id(info, &entry[0].id);
	if (rc)
		return rc;
	entry[1].id = entry[0].id;
	if (info->attrs[SMC_PNETID_ETHNAME])
		rc = smc_pnetid_read_netdev(info, &entry[nr++]);
	if (!rc && info->attrs[SMC_PNETID_IBNAME])
		rc = smc_pnetid_read_ibdev(skb, info, &entry[nr++]);
	if (rc)
		return rc;
	if (!nr) {
		GENL_SET_ERR_MSG(info, "an entry needs a network device or an RDMA device");
		return -EINVAL;
	}
	rc = smc_pnet_add(genl_info_net(info), entry, nr);
	if (rc == -EEXIST)
		GENL_SET_ERR_MSG(info, "the device has a PNETID already");
	else if (rc == -ENOSPC)
		GENL_SET_ERR_MSG(info, "a network namespace has 256 entries at most");
	else if (!rc)
		smc_ib_recheck();
	return rc;
}

static int smc_pnetid_del(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_pnet_id id;
	int rc;

	rc = smc_pnetid_read_id(info, &id);
	if (rc)
		return rc;
	rc = smc_pnet_remove(genl_info_net(info), &id);
	if (rc == -ENOENT)
		GENL_SET_ERR_MSG(info, "no device has this PNETID");
	return rc;
}

static int smc_pnetid_flush(struct sk_buff *skb, struct genl_info *info)
{
	smc_pnet_flush(genl_info_net(info));
	return 0;
}

static int smc_pnetid_put(struct sk_buff *skb, const struct smc_pnet_entry *entry)
{
	bool is_port = entry->port;

	if (nla_put_string(skb, SMC_PNETID_NAME, entry->id.text) ||
	    nla_put_string(skb, SMC_PNETID_ETHNAME,
			   is_port ? SMC_PNETID_NO_NAME : entry->device) ||
	    nla_put_string(skb, SMC_PNETID_IBNAME,
			   is_port ? entry->device : SMC_PNETID_NO_NAME) ||
	    nla_put_u8(skb, SMC_PNETID_IBPORT, is_port ? entry->port : SMC_PNETID_NO_PORT))
		return -EMSGSIZE;
	return 0;
}

/* Returns the head of the message, or NULL if it does not fit. */
static void *smc_pnetid_put_msg(struct sk_buff *skb, u32 portid, u32 seq,
				const struct smc_pnet_entry *entry)
{
	void *head = genlmsg_put(skb, portid, seq, &smc_pnetid_family, NLM_F_MULTI,
				 SMC_PNETID_GET);

	if (!head)
		return NULL;
	if (smc_pnetid_put(skb, entry)) {
		genlmsg_cancel(skb, head);
		return NULL;
	}
	genlmsg_end(skb, head);
	return head;
}

/* args[0] is the index of the next entry. A table that changes meanwhile is reported. */
static int smc_pnetid_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct net *net = sock_net(skb->sk);
	struct smc_pnet_entry entry;
	void *head;

	/* zero means that there is no earlier part */
	cb->seq = smc_pnet_changes(net) + 1;
	for (; smc_pnet_get(net, cb->args[0], &entry); cb->args[0]++) {
		head = smc_pnetid_put_msg(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
					  &entry);
		if (!head)
			break;
		genl_dump_check_consistent(cb, head);
	}
	return skb->len;
}

/* Fills one buffer of the answer to a request by name. Returns true if it has the end. */
static bool smc_pnetid_fill(struct sk_buff *skb, struct genl_info *info,
			    const struct smc_pnet_id *id, unsigned int *next)
{
	const struct net *net = genl_info_net(info);
	struct smc_pnet_entry entry;
	struct nlmsghdr *done;

	for (; smc_pnet_get(net, *next, &entry); (*next)++)
		if (smc_pnet_table_same_id(&entry.id, id) &&
		    !smc_pnetid_put_msg(skb, info->snd_portid, info->snd_seq, &entry))
			return false;
	done = nlmsg_put(skb, info->snd_portid, info->snd_seq, NLMSG_DONE, SMC_PNETID_DONE_LEN,
			 NLM_F_MULTI);
	if (!done)
		return false;
	memset(nlmsg_data(done), 0, SMC_PNETID_DONE_LEN);
	return true;
}

/* All entries of a PNETID, as a dump has them, though tools do not ask for a dump. */
static int smc_pnetid_get(struct sk_buff *skb, struct genl_info *info)
{
	unsigned int next = 0;
	struct smc_pnet_id id;
	struct sk_buff *reply;
	bool is_complete;
	int rc;

	rc = smc_pnetid_read_id(info, &id);
	while (!rc) {
		reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL_ACCOUNT);
		if (!reply)
			return -ENOMEM;
		is_complete = smc_pnetid_fill(reply, info, &id, &next);
		rc = genlmsg_reply(reply, info);
		if (is_complete)
			break;
	}
	return rc;
}

/* what calls the functions above */
#include "control/smc_pnetid_ops.h"

static struct genl_family smc_pnetid_family = {
	.name		= SMCR_GENL_FAMILY_NAME,
	.version	= SMCR_GENL_FAMILY_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.parallel_ops	= true,
	.ops		= smc_pnetid_ops,
	.n_ops		= ARRAY_SIZE(smc_pnetid_ops),
	.resv_start_op	= SMC_PNETID_FLUSH + 1,
};

/**
 * smc_pnetid_init() - register the family
 *
 * Context: Process context, module load.
 * Return: 0, or what genl_register_family() returns.
 */
int smc_pnetid_init(void)
{
	return genl_register_family(&smc_pnetid_family);
}

/**
 * smc_pnetid_exit() - undo smc_pnetid_init()
 *
 * Context: Process context, may sleep.
 */
void smc_pnetid_exit(void)
{
	genl_unregister_family(&smc_pnetid_family);
}
