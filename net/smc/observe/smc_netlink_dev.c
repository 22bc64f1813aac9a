// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices in netlink messages. Deployed tools do not initialise what they read, so each
 * message has every attribute, also for a device of software without a PCI parent. Devices that
 * cannot carry links have a dump of their own, because those tools would show them as usable.
 */
#include <net/genetlink.h>

#include "rdma/smc_unfit.h"
#include "group/smc_core.h"
#include "observe/smc_netlink_dev.h"
#include "observe/smc_netlink_msg.h"

/**
 * struct dev_use - what a device is for a namespace
 * @is_critical: the end of the device would reset connections
 * @nr_links: by port number less one: links that carry data
 */
struct dev_use {
	bool is_critical;
	u32 nr_links[SMC_IB_MAX_PORTS];
};

static void dev_add_use(struct smc_link_group *lgr, u64 serial, struct dev_use *use)
{
	const struct smc_link *link;
	bool is_only_one;
	int i;

	guard(mutex)(&lgr->lock);
	is_only_one = READ_ONCE(lgr->state) == SMC_LGR_ACTIVE &&
		      (lgr->type == SMC_LGR_TYPE_SINGLE ||
		       lgr->type == SMC_LGR_TYPE_ASYMMETRIC_LOCAL);
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		link = lgr->links[i];
		if (!link || link->state != SMC_LINK_ACTIVE || link->wr.end.dev->serial != serial)
			continue;
		use->nr_links[link->wr.end.port - 1]++;
		use->is_critical |= is_only_one;
	}
}

static void dev_get_use(const struct net *net, u64 serial, struct dev_use *use)
{
	struct smc_link_group *lgr = NULL;

	while ((lgr = smc_lgr_next(net, lgr, 0)))
		dev_add_use(lgr, serial, use);
}

static int dev_put_port(struct sk_buff *skb, int type, const struct smc_ib_port_view *port,
			u32 nr_links)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_PNET_USR, smc_pnet_id_is_set(&port->pnet)) ||
	    nla_put_string(skb, SMC_NLA_DEV_PORT_PNETID, port->pnet.text) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_NETDEV, port->ifindex) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_STATE, port->is_active) ||
	    nla_put_u8(skb, SMC_NLA_DEV_PORT_VALID, 1) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PORT_LNK_CNT, nr_links))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dev_put_names(struct sk_buff *skb, const struct smc_ib_view *view, bool is_critical)
{
	/* FID and CHID are of s390 */
	if (nla_put_u32(skb, SMC_NLA_DEV_USE_CNT, 0) ||
	    nla_put_u8(skb, SMC_NLA_DEV_IS_CRIT, is_critical) ||
	    nla_put_u32(skb, SMC_NLA_DEV_PCI_FID, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_CHID, 0) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_VENDOR, view->pci_vendor) ||
	    nla_put_u16(skb, SMC_NLA_DEV_PCI_DEVICE, view->pci_device) ||
	    nla_put_string(skb, SMC_NLA_DEV_PCI_ID, view->bus_name) ||
	    nla_put_string(skb, SMC_NLA_DEV_IB_NAME, view->name))
		return -EMSGSIZE;
	return 0;
}

/* What others do with a device, only the namespace sees that has it. */
static int dev_put_all(struct sk_buff *skb, const struct smc_ib_view *view,
		       const struct dev_use *use)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_DEV_SMCR);
	int i;

	if (!nest || dev_put_names(skb, view, use->is_critical))
		return -EMSGSIZE;
	for (i = 0; i < view->nr_ports; i++)
		if (dev_put_port(skb, SMC_NLA_DEV_PORT + i, &view->port[i],
				 view->is_own ? view->port[i].nr_links : use->nr_links[i]))
			return -EMSGSIZE;
	if (view->is_own && smc_netlink_put_counts(skb, SMC_NLA_DEV_COUNTS, view->counts))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dev_put_msg(struct sk_buff *skb, struct netlink_callback *cb, const struct net *net,
		       const struct smc_ib_view *view)
{
	void *head = smc_netlink_begin(skb, cb, SMC_NETLINK_GET_DEV_SMCR);
	struct dev_use use = {};

	if (!head)
		return -EMSGSIZE;
	dev_get_use(net, view->serial, &use);
	if (dev_put_all(skb, view, &use)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

/* A device that nothing can use has no state of its ports and no counters, but interfaces. */
static int dev_put_unfit(struct sk_buff *skb, const struct smc_ib_view *view)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_DEV_SMCR);
	int i;

	if (!nest || dev_put_names(skb, view, false) ||
	    nla_put_string(skb, SMC_NLA_DEV_UNFIT, smc_cap_lack_text(view->lack)))
		return -EMSGSIZE;
	for (i = 0; i < view->nr_ports; i++)
		if (dev_put_port(skb, SMC_NLA_DEV_PORT + i, &view->port[i], 0))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int dev_put_unfit_msg(struct sk_buff *skb, struct netlink_callback *cb,
			     const struct smc_ib_view *view)
{
	void *head = smc_netlink_begin(skb, cb, SMC_NETLINK_DUMP_UNFIT);

	if (!head)
		return -EMSGSIZE;
	if (dev_put_unfit(skb, view)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

/**
 * smc_netlink_dump_unfit() - SMC_NETLINK_DUMP_UNFIT: devices that cannot carry links, and why
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context, may sleep.
 * Return: bytes in @skb, 0 at the end, or -EMSGSIZE if not even one message has room.
 */
int smc_netlink_dump_unfit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_netlink_cursor *at = smc_netlink_cursor(cb);
	struct smc_ib_view view;
	int rc = 0;

	while (!rc && smc_unfit_next_view(sock_net(skb->sk), at->serial, &view)) {
		rc = dev_put_unfit_msg(skb, cb, &view);
		if (!rc)
			at->serial = view.serial;
	}
	return skb->len ?: rc;
}

/**
 * smc_netlink_dump_dev() - SMC_NETLINK_GET_DEV_SMCR: devices that the namespace may use
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context, may sleep.
 * Return: bytes in @skb, 0 at the end, or -EMSGSIZE if not even one message has room.
 */
int smc_netlink_dump_dev(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_netlink_cursor *at = smc_netlink_cursor(cb);
	struct net *net = sock_net(skb->sk);
	struct smc_ib_view view;
	int rc = 0;

	while (!rc && smc_ib_next_view(net, at->serial, &view)) {
		rc = dev_put_msg(skb, cb, net, &view);
		if (!rc)
			at->serial = view.serial;
	}
	return skb->len ?: rc;
}
