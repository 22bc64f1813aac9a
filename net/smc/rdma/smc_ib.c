// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices and ports.
 *
 * Operation:
 *   The RDMA core reports each device. Those that can carry links enter a list, the others another
 *   one, which is only shown. A handshake calls smc_ib_find() for the port and GID that serve the
 *   network device of its route. A port serves the devices above its own, and those with the same
 *   PNETID. A link then brings up its queue pair with the smc_ib_qp functions.
 *
 * Ownership:
 *   A struct smc_ib_dev exists from add to remove. The list and each struct smc_ib_end hold a
 *   reference. Removal takes the device out of the list, wakes all watchers and waits for the last
 *   reference. By then queue pairs, regions and domains are gone.
 *
 * Ports:
 *   The state of a port is that of its network device, and so is its MTU. No handshake waits for
 *   the firmware of a device or for RTNL, as a query of the port would. The number of GIDs is
 *   cached, since each change of a table is a device event (smc_ib_watch.c).
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "smc_compat.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_netdev.h"
#include "rdma/smc_pnet.h"

#define SMC_IB_NO_VLAN		0xffff	/* from rdma_read_gid_l2_fields() */
#define SMC_IB_MAX_GIDS		256	/* of a port, the rest is not looked at */
#define SMC_IB_RNR_RETRIES	7	/* no limit: a slow receiver is no fault */
#define SMC_IB_RNR_TIMER	5	/* 0.06 ms */
#define SMC_IB_HOP_LIMIT	1	/* stays in the subnet */

/* Handshakes are readers: they wait only while a device comes or goes. */
static DECLARE_RWSEM(smc_ib_devices_lock);
static LIST_HEAD(smc_ib_devices);
static LIST_HEAD(smc_ib_unfit_devices);
static u64 smc_ib_last_serial;	/* under that lock */

static bool smc_ib_is_usable(const struct smc_ib_dev *dev)
{
	return !READ_ONCE(dev->is_dead) && !READ_ONCE(dev->is_leaving);
}

static void smc_ib_put(struct smc_ib_dev *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		complete(&dev->released);
}

/* Tables are large, and their entries fill from the front. */
static u16 smc_ib_count_gids(struct ib_device *ibdev, u8 port)
{
	int n = min(ibdev->port_data[port].immutable.gid_tbl_len, SMC_IB_MAX_GIDS);
	const struct ib_gid_attr *attr;

	for (; n; n--) {
		attr = rdma_get_gid_attr(ibdev, port, n - 1);
		if (IS_ERR(attr))
			continue;
		rdma_put_gid_attr(attr);
		break;
	}
	return n;
}

/* The number of GIDs of a port to look at; a change while they are counted is not lost. */
static u16 smc_ib_nr_gids(struct smc_ib_dev *dev, u8 port)
{
	/* pairs with the atomic_inc_return_release() in smc_ib_event() */
	int change = atomic_read_acquire(&dev->gid_changes);
	struct smc_ib_gids *cache = &dev->gids[port - 1];
	struct smc_ib_gids now;

	scoped_guard(spinlock_irqsave, &dev->lock) {
		now = *cache;
	}
	if (now.change == change)
		return now.nr;
	now.change = change;
	now.nr = smc_ib_count_gids(dev->ibdev, port);
	scoped_guard(spinlock_irqsave, &dev->lock) {
		*cache = now;
	}
	return now.nr;
}

/**
 * smc_ib_has_device() - check whether the host has a usable RoCE device
 *
 * Context: Any context. Takes no lock: a device may come or go at any time.
 * Return: true if there is at least one.
 */
bool smc_ib_has_device(void)
{
	return !list_empty(&smc_ib_devices);
}

static bool smc_ib_is_in(const struct smc_ib_dev *dev, const struct smc_netdev_stack *stack)
{
	struct net_device *own;
	unsigned int i;
	u8 port;

	for (port = 1; port <= dev->nr_ports; port++) {
		own = smc_netdev_of_port(dev->ibdev, port);
		dev_put(own);
		for (i = 0; own && i < stack->nr; i++)
			if (stack->level[i].ndev == own)
				return true;
	}
	return false;
}

/**
 * smc_ib_has_unfit() - check whether a network device has an RDMA device that cannot carry links
 * @ndev: the network device; the caller holds a reference; NULL for any
 *
 * Context: Process context, may sleep.
 * Return: true if a port of one belongs to @ndev or to a device below it.
 */
bool smc_ib_has_unfit(struct net_device *ndev)
{
	struct smc_netdev_stack stack;
	struct smc_ib_dev *dev;
	bool has_one = false;

	/* the usual case */
	if (list_empty(&smc_ib_unfit_devices) || !ndev)
		return !list_empty(&smc_ib_unfit_devices);
	smc_netdev_get_stack(&stack, ndev);
	scoped_guard(rwsem_read, &smc_ib_devices_lock)
		list_for_each_entry(dev, &smc_ib_unfit_devices, list)
			has_one |= smc_ib_is_in(dev, &stack);
	smc_netdev_put_stack(&stack);
	return has_one;
}

/**
 * smc_ib_next_dev() - walk all devices that can carry links
 * @prev: the last one; NULL for the first
 *
 * Context: RCU read section, in which RTNL may be held.
 * Return: the next one, or NULL.
 */
struct smc_ib_dev *smc_ib_next_dev(struct smc_ib_dev *prev)
{
	return list_next_or_null_rcu(&smc_ib_devices, prev ? &prev->list : &smc_ib_devices,
				     struct smc_ib_dev, list);
}

/**
 * smc_ib_next_vector() - completion vector for the next link's queues
 * @end: local end of the link
 *
 * Context: Any context.
 * Return: the device's vectors in turn.
 */
unsigned int smc_ib_next_vector(const struct smc_ib_end *end)
{
	unsigned int n = atomic_inc_return(&end->dev->next_vector);

	return n % max(end->dev->ibdev->num_comp_vectors, 1);
}

/* Requirements for the GID of a local end. */
struct smc_ib_criteria {
	const struct net_device *ndev;	/* device of the route */
	struct net_device *own;		/* the port's network device; NULL for any */
	u16 vlan;
	struct smc_gid_criteria gid;
	struct smc_pnet_id pnet;	/* PNETID of the route, or empty */
	u8 fits;			/* set of enum smc_pnet_fit */
};

static bool smc_ib_gid_is_v2(const struct ib_gid_attr *attr)
{
	return attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP;
}

/* Rank of a GID; 0 if it does not fit. */
static unsigned int smc_ib_gid_rank(const struct ib_gid_attr *attr,
				    const struct smc_ib_criteria *crit,
				    u8 mac[ETH_ALEN])
{
	struct smc_gid_facts facts = {
		.gid = attr->gid.raw, .is_v1 = attr->gid_type == IB_GID_TYPE_ROCE,
	};
	u16 vlan = SMC_IB_NO_VLAN;
	struct net_device *ndev;
	bool is_own;

	if (!facts.is_v1 && !smc_ib_gid_is_v2(attr))
		return 0;
	if (rdma_read_gid_l2_fields(attr, &vlan, mac))
		return 0;
	if (vlan == SMC_IB_NO_VLAN ? crit->vlan : vlan != crit->vlan)
		return 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	facts.is_theirs = ndev == crit->ndev;
	is_own = ndev == crit->own ||
		 (!IS_ERR(ndev) && crit->vlan && is_vlan_dev(ndev));
	facts.is_secondary = !IS_ERR(ndev) && smc_netdev_is_secondary(ndev, attr->gid.raw);
	rcu_read_unlock();
	return facts.is_theirs || is_own ? smc_gid_rank(&facts, &crit->gid) : 0;
}

/*
 * Sets GID, MAC, VLAN and type of @end from the best of the first @nr GIDs of its
 * port. Among equals the lowest index wins, so the choice is deterministic.
 */
static int smc_ib_choose_gid(struct ib_device *ibdev, unsigned int nr,
			     const struct smc_ib_criteria *crit,
			     struct smc_ib_end *end)
{
	unsigned int best = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const struct ib_gid_attr *attr;
		unsigned int rank;
		u8 mac[ETH_ALEN];

		attr = rdma_get_gid_attr(ibdev, end->port, i);
		if (IS_ERR(attr))
			continue;
		rank = smc_ib_gid_rank(attr, crit, mac);
		if (rank > best) {
			best = rank;
			end->gid = attr->gid;
			end->is_v2 = smc_ib_gid_is_v2(attr);
			end->vlan = crit->vlan;
			ether_addr_copy(end->mac, mac);
		}
		rdma_put_gid_attr(attr);
	}
	return best ? 0 : -ENODEV;
}

/* -ENODEV unless @port belongs to @crit->own and has a GID that fits; -ENETDOWN if it is down. */
static int smc_ib_try_port(struct smc_ib_dev *dev, u8 port,
			   const struct smc_ib_criteria *crit,
			   struct smc_ib_end *end)
{
	struct ib_device *ibdev = dev->ibdev;
	struct net_device *ndev;

	if (!rdma_protocol_roce(ibdev, port))
		return -ENODEV;
	ndev = smc_netdev_of_port(ibdev, port);
	dev_put(ndev);
	/* the caller holds it */
	if (ndev != crit->own)
		return -ENODEV;
	end->port = port;
	if (!smc_netdev_is_active(ndev))
		return -ENETDOWN;
	end->mtu = smc_netdev_path_mtu(ndev);
	return smc_ib_choose_gid(ibdev, smc_ib_nr_gids(dev, port), crit, end);
}

/* True if the device works and RDMA shares it with @net. */
static bool smc_ib_may_use(const struct smc_ib_dev *dev, const struct net *net)
{
	return smc_ib_is_usable(dev) && rdma_dev_access_netns(dev->ibdev, net);
}

/* Prefer an earlier error to -ENODEV: it is more specific. */
static int smc_ib_better_error(int old, int rc)
{
	return rc == -ENODEV ? old : rc;
}

/*
 * A port found by PNETID alone. The PNETID covers untagged frames. A tag needs an interface of the
 * namespace above the port, in that VLAN: the owner of a namespace can make VLANs of its own.
 */
static int smc_ib_try_beside(struct net *net, struct smc_ib_dev *dev, u8 port,
			     const struct smc_ib_criteria *crit, struct smc_ib_end *end)
{
	struct smc_ib_criteria own = *crit;
	int rc = -ENODEV;

	own.own = smc_netdev_of_port(dev->ibdev, port);
	if (own.own && (!own.vlan || smc_netdev_is_below(net, own.own, own.vlan)))
		rc = smc_ib_try_port(dev, port, &own, end);
	dev_put(own.own);
	return rc;
}

static int smc_ib_try_devices(struct net *net, const struct smc_ib_criteria *crit,
			      struct smc_ib_end *end)
{
	enum smc_pnet_fit fit;
	struct smc_ib_dev *dev;
	int rc = -ENODEV;
	int err;
	u8 port;

	lockdep_assert_held(&smc_ib_devices_lock);
	list_for_each_entry(dev, &smc_ib_devices, list) {
		if (!smc_ib_may_use(dev, net))
			continue;
		for (port = 1; port <= dev->nr_ports; port++) {
			fit = smc_pnet_port_fit(net, &crit->pnet, dev->ibdev, port);
			if (!(crit->fits & SMC_PNET_SET(fit)))
				continue;
			err = crit->own ? smc_ib_try_port(dev, port, crit, end) :
					  smc_ib_try_beside(net, dev, port, crit, end);
			if (!err) {
				refcount_inc(&dev->refs);
				end->dev = dev;
				end->is_beside = !crit->own;
				return 0;
			}
			rc = smc_ib_better_error(rc, err);
		}
	}
	return rc;
}

/* The nearest usable device of a stack that has a PNETID, which goes to @id; or NULL. */
static const struct smc_netdev_level *smc_ib_pnet_level(const struct net *net,
							const struct smc_netdev_stack *stack,
							struct smc_pnet_id *id)
{
	unsigned int i;

	for (i = 0; i < stack->nr; i++) {
		if (!stack->level[i].is_usable)
			continue;
		smc_pnet_of_netdev(net, stack->level[i].ndev, id);
		if (smc_pnet_id_is_set(id))
			return &stack->level[i];
	}
	return NULL;
}

static int smc_ib_try_stack(struct net *net, const struct smc_netdev_stack *stack,
			    struct smc_ib_criteria *crit, struct smc_ib_end *end)
{
	int rc = -ENODEV;
	unsigned int i;
	int err;

	for (i = 0; i < stack->nr; i++) {
		if (!stack->level[i].is_usable)
			continue;
		crit->own = stack->level[i].ndev;
		crit->vlan = stack->level[i].vlan;
		err = smc_ib_try_devices(net, crit, end);
		if (!err)
			return 0;
		rc = smc_ib_better_error(rc, err);
	}
	return rc;
}

/*
 * The ports to try, in this order: those with an entry of their own, then others. Of each kind,
 * those below the device of the route go before all others. Without a PNETID only one row applies.
 */
static const struct smc_ib_search {
	u8 fits;	/* set of enum smc_pnet_fit */
	bool is_below;	/* below the device of the route only */
} smc_ib_searches[] = {
	{ SMC_PNET_SET(SMC_PNET_NAMED), true },
	{ SMC_PNET_SET(SMC_PNET_NAMED), false },
	{ SMC_PNET_SET(SMC_PNET_INHERITED) | SMC_PNET_SET(SMC_PNET_OPEN), true },
	{ SMC_PNET_SET(SMC_PNET_INHERITED), false },
};

/* Finds the port that fits @crit best: of @ndev, of a device below it, or of its PNETID. */
static int smc_ib_find_for(struct net *net, struct net_device *ndev, struct smc_ib_criteria *crit,
			   struct smc_ib_end *end)
{
	const struct smc_netdev_level *level;
	struct smc_netdev_stack stack;
	int rc = -ENODEV;
	unsigned int i;
	int err = 1;

	crit->ndev = ndev;
	memset(end, 0, sizeof(*end));
	smc_netdev_get_stack(&stack, ndev);
	level = smc_ib_pnet_level(net, &stack, &crit->pnet);
	down_read(&smc_ib_devices_lock);
	for (i = 0; err && i < ARRAY_SIZE(smc_ib_searches); i++) {
		crit->fits = smc_ib_searches[i].fits;
		if (!level && !(crit->fits & SMC_PNET_SET(SMC_PNET_OPEN)))
			continue;
		if (smc_ib_searches[i].is_below) {
			err = smc_ib_try_stack(net, &stack, crit, end);
		} else {
			crit->own = NULL;
			crit->vlan = level->vlan;
			err = smc_ib_try_devices(net, crit, end);
		}
		rc = err ? smc_ib_better_error(rc, err) : 0;
	}
	up_read(&smc_ib_devices_lock);
	smc_netdev_put_stack(&stack);
	return rc;
}

/**
 * smc_ib_find() - find the RDMA port and GID that serve a network device
 * @net: the caller's namespace
 * @ndev: device of the route; the caller holds a reference
 * @own: local address of the TCP connection, as a GID; NULL if it is not known
 * @roce: versions of RoCE that may be used
 * @end: filled on success, with a reference that smc_ib_end_put() drops;
 *	 undefined otherwise
 *
 * Searches for a port whose own network device is @ndev or one below it in the device stack, the
 * nearest first. If @ndev or one below it has a PNETID in @net, a port with the same one serves as
 * well, wherever its network device is, and a port with another one does not. The port must be
 * active and its device accessible from @net. Its GID must be on @ndev or the port's device, in
 * the VLAN of @ndev's packets on the wire (SEC-01). Among RoCE v2 GIDs IPv4 goes before IPv6, then
 * @own; smc_ib_end_follow() adapts the choice to the peer's. RFC 7609 3.5.1.1, LG-04.
 *
 * Context: Process context, may sleep.
 * Return: 0, -ENODEV if nothing serves @ndev, -ENETDOWN if only an inactive port does.
 */
int smc_ib_find(struct net *net, struct net_device *ndev, const u8 own[16],
		enum smc_gid_roce roce, struct smc_ib_end *end)
{
	struct smc_ib_criteria crit = { .gid.roce = roce, .gid.kinds = SMC_GID_ANY };

	if (own)
		memcpy(crit.gid.gid, own, sizeof(crit.gid.gid));
	return smc_ib_find_for(net, ndev, &crit, end);
}

/**
 * smc_ib_find_routed() - find the RDMA port and GID for a path across subnets
 * @net: the caller's namespace
 * @ndev: device of the route; the caller holds a reference
 * @own: local address of the TCP connection, as a GID
 * @kind: required kind of GID
 * @end: as with smc_ib_find()
 *
 * As smc_ib_find(), but only RoCE v2 GIDs of one kind, the TCP address before
 * others (protocol.md). A link-local GID must be that address.
 *
 * Context: Process context, may sleep.
 * Return: as smc_ib_find().
 */
int smc_ib_find_routed(struct net *net, struct net_device *ndev, const u8 own[16],
		       enum smc_gid_kind kind, struct smc_ib_end *end)
{
	struct smc_ib_criteria crit = {
		.gid.roce = SMC_GID_V2_ONLY, .gid.kinds = SMC_GID_ONE(kind),
		.gid.named_only = kind == SMC_GID_LINK_LOCAL,
	};

	memcpy(crit.gid.gid, own, sizeof(crit.gid.gid));
	return smc_ib_find_for(net, ndev, &crit, end);
}

static bool smc_ib_attr_is_of(const struct ib_gid_attr *attr, const struct smc_ib_end *end)
{
	u16 vlan = SMC_IB_NO_VLAN;

	return !memcmp(&attr->gid, &end->gid, sizeof(end->gid)) &&
	       end->is_v2 == smc_ib_gid_is_v2(attr) &&
	       !rdma_read_gid_l2_fields(attr, &vlan, NULL) &&
	       end->vlan == (vlan == SMC_IB_NO_VLAN ? 0 : vlan);
}

/*
 * The GID of @end in the port's table, or -EADDRNOTAVAIL. A GID that was removed and added has
 * another place there: queue pairs keep the old one in use.
 */
static const struct ib_gid_attr *smc_ib_end_attr(const struct smc_ib_end *end)
{
	unsigned int i, nr = smc_ib_nr_gids(end->dev, end->port);
	const struct ib_gid_attr *attr;

	for (i = 0; i < nr; i++) {
		attr = rdma_get_gid_attr(end->dev->ibdev, end->port, i);
		if (IS_ERR(attr))
			continue;
		if (smc_ib_attr_is_of(attr, end))
			return attr;
		rdma_put_gid_attr(attr);
	}
	return ERR_PTR(-EADDRNOTAVAIL);
}

/* The network device of a GID, with a reference, or NULL. */
static struct net_device *smc_ib_end_ndev(const struct smc_ib_end *end)
{
	const struct ib_gid_attr *attr = smc_ib_end_attr(end);
	struct net_device *ndev;

	if (IS_ERR(attr))
		return NULL;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(ndev))
		ndev = NULL;
	dev_hold(ndev);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return ndev;
}

static int smc_ib_is_lower(struct net_device *ndev, struct netdev_nested_priv *priv)
{
	return ndev == priv->data;
}

/* The caller is in an RCU read section. */
static bool smc_ib_is_above(struct net_device *ndev, struct net_device *lower)
{
	struct netdev_nested_priv priv = { .data = lower };

	return netdev_walk_all_lower_dev_rcu(ndev, smc_ib_is_lower, &priv);
}

/* True unless one GID is IPv4 and the other IPv6: a RoCE v2 packet has one IP version. */
static bool smc_ib_gids_match(const struct smc_ib_end *end, const u8 peer_gid[16])
{
	return !end->is_v2 ||
	       smc_gid_kinds_like(end->gid.raw) & SMC_GID_ONE(smc_gid_classify(peer_gid));
}

/**
 * smc_ib_end_follow() - change the GID of an end to match the peer's
 * @end: local end; on success perhaps with another GID, else unchanged
 * @peer_gid: the GID the peer has chosen
 *
 * A RoCE v2 packet has one IP version, so both GIDs must be of the same kind. The side that
 * receives the other's GID first adapts: the server, from the Proposal.
 *
 * Context: Process context, may sleep.
 * Return: 0 if the two GIDs match, -EADDRNOTAVAIL if the port has no such GID
 *	   or has lost the present one.
 */
int smc_ib_end_follow(struct smc_ib_end *end, const u8 peer_gid[16])
{
	struct smc_ib_criteria crit = {
		.vlan = end->vlan,
		.gid.roce = SMC_GID_V2_ONLY, .gid.kinds = smc_gid_kinds_like(peer_gid),
	};
	struct smc_ib_end other = *end;
	struct net_device *ndev;
	int rc;

	if (smc_ib_gids_match(end, peer_gid))
		return 0;

	ndev = smc_ib_end_ndev(end);
	if (!ndev)
		return -EADDRNOTAVAIL;
	crit.ndev = ndev;
	crit.own = ndev;
	rc = smc_ib_choose_gid(end->dev->ibdev, smc_ib_nr_gids(end->dev, end->port), &crit,
			       &other);
	dev_put(ndev);
	if (rc)
		return -EADDRNOTAVAIL;
	*end = other;
	return 0;
}

/**
 * smc_ib_end_put() - drop the reference of a local end
 * @end: from smc_ib_find() or smc_ib_end_copy(), or all zero; empty afterwards
 *
 * Context: Any context.
 */
void smc_ib_end_put(struct smc_ib_end *end)
{
	struct smc_ib_dev *dev = end->dev;

	end->dev = NULL;
	if (dev)
		smc_ib_put(dev);
}

/**
 * smc_ib_end_copy() - copy a local end
 * @to: overwritten; holds its own reference afterwards
 * @from: unchanged
 *
 * Context: Any context.
 */
void smc_ib_end_copy(struct smc_ib_end *to, const struct smc_ib_end *from)
{
	*to = *from;
	if (to->dev)
		refcount_inc(&to->dev->refs);
}

/**
 * smc_ib_end_is_at() - check whether a network device serves a local end
 * @end: holds its reference
 * @ndev: the network device
 *
 * Context: Process context, may sleep.
 * Return: true if the end's GID belongs to @ndev or to a device below it.
 */
bool smc_ib_end_is_at(const struct smc_ib_end *end, const struct net_device *ndev)
{
	struct net_device *own = smc_ib_end_ndev(end);
	bool is_at;

	if (!own)
		return false;
	scoped_guard(rcu)
		is_at = own == ndev || smc_ib_is_above((struct net_device *)ndev, own);
	dev_put(own);
	return is_at;
}

/**
 * smc_ib_end_ifindex() - interface index of the network device of a local end's GID
 * @end: holds its reference
 * @net: in which namespace
 *
 * Context: Any context but hard interrupt.
 * Return: the interface index, 0 if the GID is gone or the device is not in @net.
 */
int smc_ib_end_ifindex(const struct smc_ib_end *end, const struct net *net)
{
	struct net_device *ndev = smc_ib_end_ndev(end);
	int ifindex = ndev && net_eq(dev_net(ndev), net) ? ndev->ifindex : 0;

	dev_put(ndev);
	return ifindex;
}

/**
 * smc_ib_end_net() - namespace of the network device of a local end's GID
 * @end: holds its reference
 *
 * Context: Process context, may sleep.
 * Return: the namespace with a reference, or NULL if the GID is gone or the namespace ends.
 */
struct net *smc_ib_end_net(const struct smc_ib_end *end)
{
	struct net_device *ndev = smc_ib_end_ndev(end);
	struct net *net = NULL;

	if (ndev) {
		scoped_guard(rcu)
			net = maybe_get_net(dev_net(ndev));
	}
	dev_put(ndev);
	return net;
}

static bool smc_ib_port_is_active(struct ib_device *ibdev, u8 port)
{
	struct net_device *ndev = smc_netdev_of_port(ibdev, port);
	bool is_active = smc_netdev_is_active(ndev);

	dev_put(ndev);
	return is_active;
}

/**
 * smc_ib_end_is_active() - check whether the port of a local end is active
 * @end: holds its reference
 *
 * Context: Any context but hard interrupt.
 * Return: true if so, with or without its GID.
 */
bool smc_ib_end_is_active(const struct smc_ib_end *end)
{
	return smc_ib_port_is_active(end->dev->ibdev, end->port);
}

/**
 * smc_ib_end_is_up() - check whether a local end works
 * @end: holds its reference
 *
 * Context: Any context but hard interrupt.
 * Return: true if the port is active and has the GID.
 */
bool smc_ib_end_is_up(const struct smc_ib_end *end)
{
	const struct ib_gid_attr *attr;

	if (!smc_ib_end_is_active(end))
		return false;
	attr = smc_ib_end_attr(end);
	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

/**
 * smc_ib_end_mtu() - get the present path MTU of a local end's port
 * @end: holds its reference; @end->mtu is that of the time when it was found
 *
 * Context: Any context but hard interrupt.
 * Return: the path MTU; @end->mtu if the port is down.
 */
enum ib_mtu smc_ib_end_mtu(const struct smc_ib_end *end)
{
	struct net_device *ndev = smc_netdev_of_port(end->dev->ibdev, end->port);
	enum ib_mtu mtu = smc_netdev_is_active(ndev) ? smc_netdev_path_mtu(ndev) : end->mtu;

	dev_put(ndev);
	return mtu;
}

/**
 * smc_ib_end_serves() - check whether a namespace may use a local end found for another
 * @end: holds its reference
 * @net: the namespace
 *
 * Context: Any context.
 * Return: true if the device works and RDMA shares it with @net.
 */
bool smc_ib_end_serves(const struct smc_ib_end *end, const struct net *net)
{
	return smc_ib_may_use(end->dev, net);
}

/**
 * smc_ib_end_is_dead() - check whether the device of a local end has failed or gone
 * @end: holds its reference
 *
 * Context: Any context.
 * Return: true if the device reported a fatal error, or is being removed or stopped.
 */
bool smc_ib_end_is_dead(const struct smc_ib_end *end)
{
	return !smc_ib_is_usable(end->dev);
}

/**
 * smc_ib_end_is_leaving() - check whether the device of a local end is being removed or stopped
 * @end: holds its reference
 *
 * The device works until its last reference is dropped, unless it was pulled out.
 * So the peer can still be notified. RFC 7609 3.5.4 (LGT-04).
 *
 * Context: Any context.
 * Return: true if its driver or an operator removes it, or smc_ib_stop() has stopped it.
 */
bool smc_ib_end_is_leaving(const struct smc_ib_end *end)
{
	return READ_ONCE(end->dev->is_leaving);
}

/* True if an IPv6 address of @ndev has @addr, which is not link-local, in its prefix. */
static bool smc_ib_has_prefix_of(struct net_device *ndev, const struct in6_addr *addr)
{
	const struct inet6_ifaddr *ifa;
	struct inet6_dev *idev;

	guard(rcu)();
	idev = __in6_dev_get(ndev);
	if (!idev)
		return false;
	list_for_each_entry_rcu(ifa, &idev->addr_list, if_list)
		if (ifa->prefix_len && ipv6_prefix_equal(&ifa->addr, addr, ifa->prefix_len))
			return true;
	return false;
}

/* Finds the subnet of @ndev that contains @addr; any subnet if @addr is 0. */
static bool smc_ib_find_subnet(struct net_device *ndev, __be32 addr, __be32 *subnet, __be32 *mask)
{
	const struct in_ifaddr *ifa;
	struct in_device *in_dev;

	guard(rcu)();
	in_dev = __in_dev_get_rcu(ndev);
	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (addr && !inet_ifa_match(addr, ifa))
			continue;
		*mask = ifa->ifa_mask;
		*subnet = ifa->ifa_address & ifa->ifa_mask;
		return true;
	}
	return false;
}

/**
 * smc_ib_end_reaches() - check whether a peer can be on the LAN of a local end
 * @end: local end; holds its reference
 * @peer_gid: the peer's GID
 *
 * The peer's GID must be in a subnet of the port, since a link of version 1 is not
 * routed (LG-22). RoCE v1 and link-local GIDs carry no subnet and always pass.
 *
 * Context: Process context.
 * Return: false if it cannot.
 */
bool smc_ib_end_reaches(const struct smc_ib_end *end, const u8 peer_gid[16])
{
	enum smc_gid_kind kind = smc_gid_classify(peer_gid);
	struct net_device *ndev;
	__be32 subnet, mask;
	struct in6_addr peer;
	bool is_there;

	if (!smc_ib_gids_match(end, peer_gid))
		return false;
	if (!end->is_v2 || kind == SMC_GID_LINK_LOCAL)
		return true;
	ndev = smc_ib_end_ndev(end);
	if (!ndev)
		return false;
	memcpy(&peer, peer_gid, sizeof(peer));
	if (kind == SMC_GID_IPV4)
		is_there = smc_ib_find_subnet(ndev, peer.s6_addr32[3], &subnet, &mask);
	else
		is_there = smc_ib_has_prefix_of(ndev, &peer);
	dev_put(ndev);
	return is_there;
}

/* Addresses that carry their subnet go only with others that do. */
static unsigned int smc_ib_lan_kinds(const u8 gid[16])
{
	enum smc_gid_kind kind = smc_gid_classify(gid);

	return kind == SMC_GID_LINK_LOCAL ? SMC_GID_ANY_IPV6 : SMC_GID_ONE(kind);
}

/**
 * smc_ib_lan_of() - requirements for further ports of a link group
 * @net: the namespace of the group
 * @end: local end of its first link; holds its reference
 * @lan: filled
 *
 * Context: Process context.
 */
void smc_ib_lan_of(const struct net *net, const struct smc_ib_end *end, struct smc_ib_lan *lan)
{
	struct net_device *ndev = smc_ib_end_ndev(end);

	memset(lan, 0, sizeof(*lan));
	lan->vlan = end->vlan;
	lan->is_v2 = end->is_v2;
	lan->kinds = smc_ib_lan_kinds(end->gid.raw);
	smc_pnet_of_port(net, end->dev->ibdev, end->port, &lan->pnet);
	if (ndev)
		smc_ib_find_subnet(ndev, 0, &lan->subnet, &lan->mask);
	dev_put(ndev);
}

/*
 * From a RoCE v2 GID that is not link-local the peer can tell whether it has a port in
 * that subnet. For other GIDs the two ports of this host must share a subnet, as the
 * ports of CLC do (3.5.1.2).
 */
static bool smc_ib_is_on_lan(const struct smc_ib_lan *lan, struct net_device *ndev)
{
	__be32 subnet, mask;

	if (lan->is_v2 && !(lan->kinds & SMC_GID_ONE(SMC_GID_LINK_LOCAL)))
		return true;
	return lan->mask && smc_ib_find_subnet(ndev, lan->subnet, &subnet, &mask) &&
	       subnet == lan->subnet && mask == lan->mask;
}

/* The device of a VLAN of a port, or the port's own, with a reference; or NULL. */
static struct net_device *smc_ib_vlan_ndev(struct net_device *own, u16 vlan)
{
	struct net_device *ndev = own;

	guard(rcu)();
	if (own && vlan)
		ndev = __vlan_find_dev_deep_rcu(own, htons(ETH_P_8021Q), vlan);
	dev_hold(ndev);
	return ndev;
}

/*
 * RDMA lets a namespace use all devices of the host, or the ones assigned to it. Neither
 * proves that the namespace is in the network of a port. An interface of the namespace
 * above the port does; so does the PNETID of the port that CLC found, for untagged frames.
 */
static bool smc_ib_may_join(const struct smc_ib_lan *lan, struct net_device *ndev,
			    enum smc_pnet_fit fit, bool is_below)
{
	switch (fit) {
	case SMC_PNET_NAMED:
	case SMC_PNET_INHERITED:
		return is_below || !lan->vlan;
	case SMC_PNET_OPEN:
		return is_below && smc_ib_is_on_lan(lan, ndev);
	case SMC_PNET_OTHER:
		break;
	}
	return false;
}

static int smc_ib_try_lan(struct net *net, struct smc_ib_dev *dev, u8 port,
			  const struct smc_ib_lan *lan, struct smc_ib_end *end)
{
	struct smc_ib_criteria crit = {
		.vlan = lan->vlan, .gid.kinds = lan->kinds,
		.gid.roce = lan->is_v2 ? SMC_GID_V2_ONLY : SMC_GID_V1_ONLY,
	};
	struct net_device *ndev;
	enum smc_pnet_fit fit;
	int rc = -ENODEV;
	bool is_below;

	memset(end, 0, sizeof(*end));
	crit.own = smc_netdev_of_port(dev->ibdev, port);
	ndev = smc_ib_vlan_ndev(crit.own, lan->vlan);
	crit.ndev = ndev;
	fit = smc_pnet_port_fit(net, &lan->pnet, dev->ibdev, port);
	is_below = ndev && smc_netdev_is_below(net, crit.own, lan->vlan);
	end->is_beside = !is_below;
	if (ndev && smc_ib_may_join(lan, ndev, fit, is_below))
		rc = smc_ib_try_port(dev, port, &crit, end);
	dev_put(ndev);
	dev_put(crit.own);
	return rc;
}

/**
 * smc_ib_lan_ends() - find the ports that may carry links of a group
 * @net: the namespace of the group
 * @lan: requirements
 * @ends: filled with a reference each
 * @max: room in @ends
 *
 * @net has a network interface above each of them, in the VLAN, or the same PNETID for it
 * as for the first link's port. RFC 7609 3.5.5.1.1, 5.1 (ADDL-02, SL-01, SL-02, SEC-01).
 *
 * Context: Process context, may sleep.
 * Return: number of entries in @ends.
 */
unsigned int smc_ib_lan_ends(struct net *net, const struct smc_ib_lan *lan,
			     struct smc_ib_end *ends, unsigned int max)
{
	struct smc_ib_end end;
	struct smc_ib_dev *dev;
	unsigned int nr = 0;
	u8 port;

	guard(rwsem_read)(&smc_ib_devices_lock);
	list_for_each_entry(dev, &smc_ib_devices, list) {
		if (!smc_ib_may_use(dev, net))
			continue;
		for (port = 1; port <= dev->nr_ports && nr < max; port++) {
			if (smc_ib_try_lan(net, dev, port, lan, &end))
				continue;
			refcount_inc(&dev->refs);
			end.dev = dev;
			ends[nr++] = end;
		}
	}
	return nr;
}

static void smc_ib_view_port(struct smc_ib_dev *dev, u8 port, const struct net *net,
			     struct smc_ib_port_view *view)
{
	struct net_device *ndev = smc_netdev_of_port(dev->ibdev, port);

	view->ifindex = ndev && net_eq(dev_net(ndev), net) ? ndev->ifindex : 0;
	view->is_active = !dev->lack && smc_netdev_is_active(ndev);
	dev_put(ndev);
	if (!dev->lack)
		smc_pnet_of_port(net, dev->ibdev, port, &view->pnet);
}

static void smc_ib_view(struct smc_ib_dev *dev, const struct net *net, struct smc_ib_view *view)
{
	u8 port;

	memset(view, 0, sizeof(*view));
	smc_ib_view_dev(dev, view);
	/* all belong to the first one where RDMA shares them */
	view->is_own = net_eq(read_pnet(&dev->ibdev->coredev.rdma_net), net);
	for (port = 1; port <= dev->nr_ports; port++)
		smc_ib_view_port(dev, port, net, &view->port[port - 1]);
}

/**
 * smc_ib_next_view() - walk the devices of a namespace
 * @net: the namespace
 * @is_unfit: those that cannot carry links, whose ports have no state, and stopped ones; not the
 *	      others
 * @after: serial of the last one, 0 at first
 * @view: filled
 *
 * Devices may come and go during the walk; one that stays is returned once.
 *
 * Context: Process context, may sleep.
 * Return: false after the last one.
 */
bool smc_ib_next_view(struct net *net, bool is_unfit, u64 after, struct smc_ib_view *view)
{
	struct list_head *list = is_unfit ? &smc_ib_unfit_devices : &smc_ib_devices;
	struct smc_ib_dev *dev;

	guard(rwsem_read)(&smc_ib_devices_lock);
	/* in order of arrival */
	list_for_each_entry(dev, list, list) {
		if (dev->serial <= after || !rdma_dev_access_netns(dev->ibdev, net))
			continue;
		smc_ib_view(dev, net, view);
		return true;
	}
	return false;
}

static int smc_ib_port_mac(struct smc_ib_dev *dev, u8 port, u8 mac[ETH_ALEN])
{
	struct ib_device *ibdev = dev->ibdev;
	const struct ib_gid_attr *attr;
	int rc;

	if (!rdma_protocol_roce(ibdev, port) || !smc_ib_port_is_active(ibdev, port))
		return -ENODEV;
	attr = rdma_get_gid_attr(ibdev, port, 0);
	if (IS_ERR(attr))
		return -ENODEV;
	rc = rdma_read_gid_l2_fields(attr, NULL, mac);
	rdma_put_gid_attr(attr);
	return rc ? -ENODEV : 0;
}

/**
 * smc_ib_local_mac() - the MAC address for the local peer ID
 * @mac: filled on success with that of the first active port (its GID 0)
 *
 * The result changes with the devices; the caller stores the first one where the
 * peer ID must not change (PID-04).
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ENODEV if no port is active.
 */
int smc_ib_local_mac(u8 mac[ETH_ALEN])
{
	struct smc_ib_dev *dev;
	u8 port;

	guard(rwsem_read)(&smc_ib_devices_lock);
	list_for_each_entry(dev, &smc_ib_devices, list)
		for (port = 1; port <= dev->nr_ports; port++)
			if (!smc_ib_port_mac(dev, port, mac))
				return 0;
	return -ENODEV;
}

static void smc_ib_enlist(struct smc_ib_dev *dev)
{
	lockdep_assert_held_write(&smc_ib_devices_lock);
	dev->serial = ++smc_ib_last_serial;
	list_add_tail_rcu(&dev->list, dev->lack ? &smc_ib_unfit_devices : &smc_ib_devices);
}

/* Moves the device of that name to the other list. Returns NULL if @net has none that may. */
static struct smc_ib_dev *smc_ib_move(struct net *net, const char *name, enum smc_cap_lack from,
				      enum smc_cap_lack to)
{
	struct list_head *list = from ? &smc_ib_unfit_devices : &smc_ib_devices;
	struct smc_ib_dev *dev;

	lockdep_assert_held_write(&smc_ib_devices_lock);
	list_for_each_entry(dev, list, list) {
		if (dev->lack != from || strcmp(dev_name(&dev->ibdev->dev), name) ||
		    !rdma_dev_access_netns(dev->ibdev, net))
			continue;
		list_del_rcu(&dev->list);
		/* a walk by smc_ib_next_dev() would go on in the other list */
		synchronize_rcu();
		dev->lack = to;
		smc_ib_enlist(dev);
		return dev;
	}
	return NULL;
}

/**
 * smc_ib_stop() - take a device out of use
 * @net: a namespace that may use it
 * @name: its name
 *
 * Its links are given up in order, as when it is removed, and no new ones use it. It can be
 * removed at any time; a new one of the same name is in use.
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ENOENT if there is none of that name in use.
 */
int smc_ib_stop(struct net *net, const char *name)
{
	struct smc_ib_dev *dev;

	guard(rwsem_write)(&smc_ib_devices_lock);
	dev = smc_ib_move(net, name, SMC_CAP_LACKS_NOTHING, SMC_CAP_LACKS_OPERATOR);
	if (!dev)
		return -ENOENT;
	smc_ib_leave(dev);
	return 0;
}

/**
 * smc_ib_start() - undo smc_ib_stop()
 * @net: a namespace that may use the device
 * @name: its name
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ENOENT if there is none of that name that was stopped.
 */
int smc_ib_start(struct net *net, const char *name)
{
	struct smc_ib_dev *dev;

	guard(rwsem_write)(&smc_ib_devices_lock);
	dev = smc_ib_move(net, name, SMC_CAP_LACKS_OPERATOR, SMC_CAP_LACKS_NOTHING);
	if (!dev)
		return -ENOENT;
	scoped_guard(spinlock_irq, &dev->lock)
		WRITE_ONCE(dev->is_leaving, false);
	smc_ib_recheck();
	return 0;
}

static struct ib_client smc_ib_client;

static int smc_ib_add(struct ib_device *ibdev)
{
	u8 nr_ports = min_t(u32, ibdev->phys_port_cnt, SMC_IB_MAX_PORTS);
	struct smc_ib_dev *dev;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	/* the allocator logs it, and the core does not report the device again */
	if (!dev)
		return -ENOMEM;
	dev->ibdev = ibdev;
	dev->nr_ports = nr_ports;
	dev->lack = smc_cap_lack(ibdev, nr_ports);
	refcount_set(&dev->refs, 1);
	init_completion(&dev->released);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->watches);
	INIT_LIST_HEAD(&dev->links);
	atomic_set(&dev->next_vector, -1);
	atomic_set(&dev->gid_changes, 1);
	if (!dev->lack)
		smc_cap_init(&dev->cap, ibdev);
	ib_set_client_data(ibdev, &smc_ib_client, dev);

	INIT_IB_EVENT_HANDLER(&dev->handler, ibdev, smc_ib_event);
	ib_register_event_handler(&dev->handler);

	down_write(&smc_ib_devices_lock);
	smc_ib_enlist(dev);
	up_write(&smc_ib_devices_lock);
	smc_ib_recheck();
	return 0;
}

/* Out of the list, it is not found any more. */
static void smc_ib_remove(struct ib_device *ibdev, void *client_data)
{
	struct smc_ib_dev *dev = client_data;

	down_write(&smc_ib_devices_lock);
	list_del_rcu(&dev->list);
	up_write(&smc_ib_devices_lock);
	ib_unregister_event_handler(&dev->handler);

	smc_ib_leave(dev);
	smc_ib_put(dev);
	wait_for_completion(&dev->released);
	/* smc_ib_next_dev() */
	synchronize_rcu();
	kfree(dev);
}

static struct ib_client smc_ib_client = {
	.name = "smc",
	.add = smc_ib_add,
	.remove = smc_ib_remove,
	.no_kverbs_req = true,
};

/**
 * smc_ib_init() - start to track RDMA devices
 *
 * Context: Process context, module init.
 * Return: 0, -ENOMEM, or what ib_register_client() returns.
 */
int smc_ib_init(void)
{
	return ib_register_client(&smc_ib_client);
}

/**
 * smc_ib_exit() - undo smc_ib_init(), and wait until the last struct smc_ib_end is put
 *
 * Context: Process context, module exit.
 */
void smc_ib_exit(void)
{
	ib_unregister_client(&smc_ib_client);
}

/**
 * smc_ib_qp_init() - move a queue pair from RESET to INIT
 * @qp: the queue pair
 * @end: local end of the link
 *
 * The peer may write, but neither read nor use atomics. RMB-04, FC-05.
 *
 * Context: Process context, may sleep.
 * Return: 0, or what ib_modify_qp() returns.
 */
int smc_ib_qp_init(struct ib_qp *qp, const struct smc_ib_end *end)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = 0,
		.port_num = end->port,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
				       IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

/* Received values must not reach a device unchecked. */
static bool smc_ib_peer_is_valid(const struct smc_ib_peer *peer)
{
	const struct in6_addr *gid = (const struct in6_addr *)peer->gid;

	return is_valid_ether_addr(peer->mac) &&
	       !ipv6_addr_any(gid) && !ipv6_addr_is_multicast(gid) &&
	       peer->qpn && peer->qpn <= 0xffffff &&
	       peer->mtu >= IB_MTU_256 && peer->mtu <= IB_MTU_4096;
}

/**
 * smc_ib_qp_rtr() - move a queue pair from INIT to RTR: connect it to the peer's
 * @qp: the queue pair
 * @end: local end of the link
 * @peer: the peer's end, as received
 * @class: treatment of its packets
 *
 * The path is addressed from @peer alone; no neighbour is resolved here (CLC-12). soft-RoCE passes
 * its packets to the IP stack, which resolves it. By default a hop limit of 1 keeps the link
 * inside the subnet with RoCE v2, too. The path MTU is the smaller of both. FC-07. The flow label,
 * made of both queue pair numbers, spreads links over the paths of a network, and the ports of a
 * bond.
 *
 * Context: Process context, may sleep.
 * Return: 0; -EINVAL if @peer holds invalid values; -ENETUNREACH if the two GIDs do
 *	   not match; -EADDRNOTAVAIL or another error if the local GID is gone; what
 *	   ib_modify_qp() returns.
 */
int smc_ib_qp_rtr(struct ib_qp *qp, const struct smc_ib_end *end,
		  const struct smc_ib_peer *peer, const struct smc_ib_class *class)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = min(end->mtu, peer->mtu),
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn & 0xffffff,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = SMC_IB_RNR_TIMER,
	};
	const struct ib_gid_attr *sgid_attr;
	union ib_gid dgid;
	int rc;

	memcpy(dgid.raw, peer->gid, sizeof(dgid.raw));
	if (!smc_ib_peer_is_valid(peer))
		return -EINVAL;
	if (!smc_ib_gids_match(end, peer->gid))
		return -ENETUNREACH;

	sgid_attr = smc_ib_end_attr(end);
	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);
	attr.ah_attr.type = rdma_ah_find_type(qp->device, end->port);
	rdma_ah_set_port_num(&attr.ah_attr, end->port);
	rdma_ah_set_sl(&attr.ah_attr, class->sl);
	/* From here on ah_attr owns the reference on sgid_attr. */
	rdma_move_grh_sgid_attr(&attr.ah_attr, &dgid, rdma_calc_flow_label(qp->qp_num, peer->qpn),
				peer->hop_limit ?: SMC_IB_HOP_LIMIT, class->traffic_class,
				sgid_attr);
	ether_addr_copy(attr.ah_attr.roce.dmac,
			is_zero_ether_addr(peer->hop_mac) ? peer->mac : peer->hop_mac);

	rc = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			  IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	rdma_destroy_ah_attr(&attr.ah_attr);
	return rc;
}

/**
 * smc_ib_qp_rts() - move a queue pair from RTR to RTS: it can send
 * @qp: the queue pair
 * @psn: the first packet sequence number, as announced to the peer
 * @timeout: local ACK timeout, 4.096 us * 2^timeout
 * @retries: transport retries, at most SMC_IB_MAX_RETRIES, which means no limit on soft-RoCE
 *
 * Context: Process context, may sleep.
 * Return: 0, or what ib_modify_qp() returns.
 */
int smc_ib_qp_rts(struct ib_qp *qp, u32 psn, u8 timeout, u8 retries)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = min_t(u8, timeout, 31),
		.retry_cnt = min_t(u8, retries, SMC_IB_MAX_RETRIES),
		.rnr_retry = SMC_IB_RNR_RETRIES,
		.sq_psn = psn & 0xffffff,
		.max_rd_atomic = 1,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}
