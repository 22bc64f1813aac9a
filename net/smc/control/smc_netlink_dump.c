// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of SMC_GEN_NETLINK: a function for each kind of object, which adds the next one. Deployed
 * tools do not initialise what they read, so a device has every attribute, also without a PCI
 * parent. Devices that cannot carry links have a dump of their own, because those tools would show
 * them as usable. Hosts, and connections that became TCP, are like the events that reported them.
 */
#include <linux/module.h>
#include <linux/utsname.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "rdma/smc_eid.h"
#include "rdma/smc_net.h"
#include "rdma/smc_unfit.h"
#include "group/smc_core.h"
#include "group/smc_peer.h"
#include "sock/smc_history.h"
#include "sock/smc_policy.h"
#include "control/smc_netlink_dump.h"
#include "control/smc_netlink_lgr.h"
#include "control/smc_netlink_msg.h"
#include "control/smc_netlink_stats.h"

static_assert((int)SMC_PEER_FIRST_CONTACT == SMC_PEER_NO_PATH);
static_assert((int)SMC_PEER_HAS_WORKED == SMC_PEER_LOST_PATH);
static_assert((int)SMC_PEER_ROUTED_PATH == SMC_PEER_NO_ROUTE);
static_assert((int)SMC_PEER_CLIENT == SMC_PEER_NO_PROPOSAL);

/* An EID of the host; all namespaces share them. */
static int dump_ueid(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	char text[SMC_EID_LEN + 1] = {};

	if (!smc_eid_get((*at)++, (u8 *)text))
		return 0;
	return nla_put_string(skb, SMC_NLA_EID_TABLE_ENTRY, text) ?: 1;
}

static int sys_put_host(struct sk_buff *skb)
{
	/* of the caller, as peers get it from a program that is started now */
	const char *name = utsname()->nodename;
	char host[SMC_CLC_HOST_LEN + 1] = {};

	memset(host, ' ', SMC_CLC_HOST_LEN);
	memcpy(host, name, strnlen(name, SMC_CLC_HOST_LEN));
	return nla_put_string(skb, SMC_NLA_SYS_LOCAL_HOST, host);
}

/* Built into a kernel, the module has no version of its own. */
static const char *sys_version(void)
{
	const struct module *module = THIS_MODULE;
	const char *text = module ? module->version : NULL;

	return text ?: "";
}

/* What a new module would have to wait for, in all namespaces */
static int sys_put_use(struct sk_buff *skb)
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

static int dump_sys_info(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_SYS_INFO);

	if ((*at)++)
		return 0;
	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_SYS_VER, SMC_CLC_V2) ||
	    nla_put_u8(skb, SMC_NLA_SYS_REL, SMC_NEGO_RELEASE) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_ISM_V2, 0) ||
	    sys_put_host(skb) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_SMCR_V2, 1) ||
	    nla_put_string(skb, SMC_NLA_SYS_MODULE, sys_version()) ||
	    (netlink_capable(cb->skb, CAP_NET_ADMIN) && sys_put_use(skb)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 1;
}

/* Without SMC-D there is no system EID: one empty message. */
static int dump_seid(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	return !(*at)++;
}

static int dump_hs_limitation(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	const struct smc_pernet *sn = smc_net(sock_net(skb->sk));

	if ((*at)++)
		return 0;
	return nla_put_u8(skb, SMC_NLA_HS_LIMITATION_ENABLED,
			  READ_ONCE(sn->set.limit_smc_hs)) ?: 1;
}

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

static int dump_dev(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct net *net = sock_net(skb->sk);
	struct smc_ib_view view;
	struct dev_use use = {};

	if (!smc_ib_next_view(net, *at, &view))
		return 0;
	*at = view.serial;
	dev_get_use(net, view.serial, &use);
	return dev_put_all(skb, &view, &use) ?: 1;
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

static int dump_unfit(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct smc_ib_view view;

	if (!smc_unfit_next_view(sock_net(skb->sk), *at, &view))
		return 0;
	*at = view.serial;
	return dev_put_unfit(skb, &view) ?: 1;
}

/* @diagnosis: the peer's, 0 for none. @age_ms: 0 if the reason was found now */
static int memory_put_reason(struct sk_buff *skb, u32 reason, u32 diagnosis, u32 age_ms)
{
	if (nla_put_u32(skb, SMC_NLA_EVENT_REASON, reason) ||
	    nla_put_string(skb, SMC_NLA_EVENT_TEXT, smc_nego_reason_text(reason)) ||
	    (diagnosis && nla_put_u32(skb, SMC_NLA_EVENT_PEER_DIAGNOSIS, diagnosis)))
		return -EMSGSIZE;
	return age_ms ? nla_put_u32(skb, SMC_NLA_EVENT_AGE_MS, age_ms) : 0;
}

static int memory_put_addr(struct sk_buff *skb, int type, u8 family, const __be32 addr[4])
{
	struct in6_addr in6;

	if (family == AF_INET6)
		memcpy(&in6, addr, sizeof(in6));
	else
		ipv6_addr_set_v4mapped(addr[0], &in6);
	return nla_put_in6_addr(skb, type, &in6);
}

static int memory_put_record(struct sk_buff *skb, const struct smc_history_record *rec)
{
	const struct inet_diag_sockid *id = &rec->msg.id;
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_EVENT);

	if (!nest || nla_put_u64_64bit(skb, SMC_NLA_EVENT_TIME, rec->time_ns, SMC_NLA_EVENT_PAD) ||
	    memory_put_reason(skb, rec->reason, rec->peer_diagnosis, rec->memory_age_ms) ||
	    nla_put_u8(skb, SMC_NLA_EVENT_ROLE, rec->is_server) ||
	    memory_put_addr(skb, SMC_NLA_EVENT_ADDR, rec->msg.family, id->idiag_src) ||
	    nla_put_u16(skb, SMC_NLA_EVENT_PORT, ntohs(id->idiag_sport)) ||
	    memory_put_addr(skb, SMC_NLA_EVENT_PEER_ADDR, rec->msg.family, id->idiag_dst) ||
	    nla_put_u16(skb, SMC_NLA_EVENT_PEER_PORT, ntohs(id->idiag_dport)) ||
	    nla_put_u64_64bit(skb, SMC_NLA_EVENT_COOKIE,
			      id->idiag_cookie[0] | (u64)id->idiag_cookie[1] << 32,
			      SMC_NLA_EVENT_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 1;
}

/* A connection that became TCP, also one that is gone */
static int dump_history(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct smc_history_record rec;

	return smc_history_read(sock_net(skb->sk), at, &rec) ? memory_put_record(skb, &rec) : 0;
}

/* A host or service to which connections use TCP */
static int dump_peer(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_EVENT);
	struct smc_peer_entry entry;
	unsigned int next = *at;

	if (!smc_peer_next(sock_net(skb->sk), &next, &entry))
		return 0;
	*at = next;
	if (!nest || memory_put_reason(skb, entry.reason, entry.diagnosis, entry.age_ms) ||
	    nla_put_in6_addr(skb, SMC_NLA_EVENT_PEER_ADDR, &entry.addr) ||
	    nla_put_u32(skb, SMC_NLA_EVENT_MS, entry.left_ms) ||
	    (entry.port ? nla_put_u16(skb, SMC_NLA_EVENT_PEER_PORT, entry.port) :
			  nla_put_u8(skb, SMC_NLA_EVENT_FAILURE, entry.failure)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 1;
}

/* An attribute that a rule does not name is absent. Users are those of the caller's namespace. */
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

static int dump_policy(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	const struct net *net = sock_net(skb->sk);
	struct smc_policy_rule rule;
	u64 hits;

	/* a policy that changes meanwhile is reported; zero means that there is no earlier part */
	cb->seq = smc_policy_changes(net) + 1;
	if (!smc_policy_get(net, (*at)++, &rule, &hits))
		return 0;
	if (nla_put_u32(skb, SMC_NLA_POLICY_ID, rule.id) ||
	    nla_put_u8(skb, SMC_NLA_POLICY_ACTION, rule.action) ||
	    policy_put_match(skb, &rule, sk_user_ns(NETLINK_CB(cb->skb).sk)))
		return -EMSGSIZE;
	return nla_put_u64_64bit(skb, SMC_NLA_POLICY_HITS, hits, SMC_NLA_POLICY_PAD) ?: 1;
}

/* There is nothing of SMC-D. */
static int dump_nothing(struct sk_buff *skb, struct netlink_callback *cb, u64 *at)
{
	return 0;
}

static smc_netlink_visit * const dumps[] = {
	[SMC_NETLINK_GET_SYS_INFO]	 = dump_sys_info,
	[SMC_NETLINK_GET_LGR_SMCD]	 = dump_nothing,
	[SMC_NETLINK_GET_DEV_SMCD]	 = dump_nothing,
	[SMC_NETLINK_GET_DEV_SMCR]	 = dump_dev,
	[SMC_NETLINK_GET_STATS]		 = smc_netlink_put_stats,
	[SMC_NETLINK_GET_FBACK_STATS]	 = smc_netlink_put_fback,
	[SMC_NETLINK_DUMP_UEID]		 = dump_ueid,
	[SMC_NETLINK_DUMP_SEID]		 = dump_seid,
	[SMC_NETLINK_DUMP_HS_LIMITATION] = dump_hs_limitation,
	[SMC_NETLINK_DUMP_POLICY]	 = dump_policy,
	[SMC_NETLINK_DUMP_HISTORY]	 = dump_history,
	[SMC_NETLINK_DUMP_PEERS]	 = dump_peer,
	[SMC_NETLINK_DUMP_UNFIT]	 = dump_unfit,
	[SMC_NETLINK_DUMP_COUNTERS]	 = smc_netlink_put_counter,
};

/**
 * smc_netlink_dump() - answer a dump
 * @skb: the answer
 * @cb: the dump
 *
 * Context: Process context, may sleep. Takes lgr->lock.
 * Return: bytes in @skb, 0 at the end, or -EMSGSIZE if not even one message has room.
 */
int smc_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);

	/* links follow their groups */
	if (request->cmd == SMC_NETLINK_GET_LGR_SMCR)
		return smc_netlink_dump_lgr(skb, cb);
	if (request->cmd == SMC_NETLINK_GET_LINK_SMCR)
		return smc_netlink_dump_link(skb, cb);
	return smc_netlink_dump_each(skb, cb, dumps[request->cmd]);
}
