// SPDX-License-Identifier: GPL-2.0
/*
 * PNETIDs of network devices and RDMA ports. The operator fills the table of each network
 * namespace by generic netlink; handshakes and link groups read it.
 *
 * A change replaces the whole table, so that it happens at once or not at all, and readers need
 * no lock. A namespace that never had entries has no table.
 */
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "rdma/smc_netdev.h"
#include "rdma/smc_pnet.h"

struct smc_pnet_table {
	struct rcu_head rcu;
	unsigned int nr;
	struct smc_pnet_entry entry[];
};

static struct smc_pnet_table *smc_pnet_current(const struct net *net)
{
	const struct smc_pernet *sn = smc_net(net);

	return rcu_dereference_protected(sn->pnet, lockdep_is_held(&sn->change_lock));
}

/* A copy of @old, which may be NULL, with room for @more entries; NULL without memory. */
static struct smc_pnet_table *smc_pnet_copy(const struct smc_pnet_table *old, unsigned int more)
{
	unsigned int nr = old ? old->nr : 0;
	struct smc_pnet_table *table;

	table = kvmalloc(struct_size(table, entry, nr + more), GFP_KERNEL_ACCOUNT);
	if (!table)
		return NULL;
	table->nr = nr;
	if (nr)
		memcpy(table->entry, old->entry, flex_array_size(table, entry, nr));
	return table;
}

/* Publishes @table, or none if it is NULL, and frees the present one. */
static void smc_pnet_replace(struct net *net, struct smc_pnet_table *table)
{
	struct smc_pernet *sn = smc_net(net);
	struct smc_pnet_table *old = smc_pnet_current(net);

	rcu_assign_pointer(sn->pnet, table);
	WRITE_ONCE(sn->pnet_changes, sn->pnet_changes + 1);
	if (old)
		kvfree_rcu(old, rcu);
}

/**
 * smc_pnet_add() - add entries to the table of a namespace
 * @net: the namespace
 * @more: the entries, checked
 * @nr: their number
 *
 * Entries of devices that have one already are left out. They apply to handshakes that start
 * later, and to links that groups add later.
 *
 * Context: Process context, may sleep.
 * Return: 0; -EEXIST if all have one already; -ENOSPC if the table is full; -ENOMEM. Nothing
 *	   changes on failure.
 */
int smc_pnet_add(struct net *net, const struct smc_pnet_entry *more, unsigned int nr)
{
	struct smc_pnet_table *table;
	unsigned int i, had;
	int rc = 0;

	guard(mutex)(&smc_net(net)->change_lock);
	table = smc_pnet_copy(smc_pnet_current(net), nr);
	if (!table)
		return -ENOMEM;
	had = table->nr;
	for (i = 0; i < nr; i++)
		if (!smc_pnet_table_has(table->entry, table->nr, &more[i]))
			table->entry[table->nr++] = more[i];
	if (table->nr == had)
		rc = -EEXIST;
	else if (table->nr > SMC_PNET_ENTRIES_MAX)
		rc = -ENOSPC;
	if (rc)
		kvfree(table);
	else
		smc_pnet_replace(net, table);
	return rc;
}

/**
 * smc_pnet_remove() - remove the entries of a PNETID from a namespace
 * @net: the namespace
 * @id: the PNETID
 *
 * Existing links remain.
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOENT if it has no entry; -ENOMEM.
 */
int smc_pnet_remove(struct net *net, const struct smc_pnet_id *id)
{
	struct smc_pnet_table *table;
	unsigned int had;

	guard(mutex)(&smc_net(net)->change_lock);
	table = smc_pnet_copy(smc_pnet_current(net), 0);
	if (!table)
		return -ENOMEM;
	had = table->nr;
	table->nr = smc_pnet_table_remove(table->entry, had, id);
	if (table->nr == had) {
		kvfree(table);
		return -ENOENT;
	}
	smc_pnet_replace(net, table);
	return 0;
}

/**
 * smc_pnet_flush() - remove all entries of a namespace
 * @net: the namespace, which may be ending
 *
 * Context: Process context, may sleep.
 */
void smc_pnet_flush(struct net *net)
{
	guard(mutex)(&smc_net(net)->change_lock);
	smc_pnet_replace(net, NULL);
}

/**
 * smc_pnet_get() - read an entry by its index
 * @net: the namespace
 * @i: index, in the order of addition
 * @entry: receives it
 *
 * Context: Any context.
 * Return: false if the table has no entry @i.
 */
bool smc_pnet_get(const struct net *net, unsigned int i, struct smc_pnet_entry *entry)
{
	const struct smc_pnet_table *table;

	guard(rcu)();
	table = rcu_dereference(smc_net(net)->pnet);
	if (!table || i >= table->nr)
		return false;
	*entry = table->entry[i];
	return true;
}

/**
 * smc_pnet_changes() - count of changes of a namespace's table
 * @net: the namespace
 *
 * Context: Any context.
 * Return: the count; a reader of several entries compares it with an earlier value.
 */
unsigned int smc_pnet_changes(const struct net *net)
{
	return READ_ONCE(smc_net(net)->pnet_changes);
}

/* Fills @id with the PNETID of a device, or leaves it empty. */
static void smc_pnet_lookup(const struct net *net, const char *name, u8 port,
			    struct smc_pnet_id *id)
{
	const struct smc_pnet_entry *entry = NULL;
	const struct smc_pnet_table *table;

	memset(id, 0, sizeof(*id));
	guard(rcu)();
	table = rcu_dereference(smc_net(net)->pnet);
	if (table)
		entry = smc_pnet_table_find(table->entry, table->nr, name, port);
	if (entry)
		*id = entry->id;
}

/**
 * smc_pnet_of_netdev() - PNETID of a network device
 * @net: whose table counts
 * @ndev: the device
 * @id: filled; empty if @ndev is in another namespace or has no entry
 *
 * Context: Any context.
 */
void smc_pnet_of_netdev(const struct net *net, const struct net_device *ndev,
			struct smc_pnet_id *id)
{
	memset(id, 0, sizeof(*id));
	if (net_eq(dev_net(ndev), net))
		smc_pnet_lookup(net, ndev->name, 0, id);
}

/* Drops the reference of @ndev. */
static void smc_pnet_inherit(const struct net *net, struct net_device *ndev,
			     struct smc_pnet_id *id)
{
	if (ndev && !smc_pnet_id_is_set(id))
		smc_pnet_of_netdev(net, ndev, id);
	dev_put(ndev);
}

/* PNETIDs of a port by its own entry, and by that of its network device or the bond above. */
static void smc_pnet_port_ids(const struct net *net, struct ib_device *ibdev, u8 port,
			      struct smc_pnet_id *own, struct smc_pnet_id *inherited)
{
	memset(inherited, 0, sizeof(*inherited));
	smc_pnet_lookup(net, ibdev->name, port, own);
	if (!smc_pnet_id_is_set(own) && ibdev->dev.parent)
		smc_pnet_lookup(net, dev_name(ibdev->dev.parent), port, own);
	if (smc_pnet_id_is_set(own))
		return;
	smc_pnet_inherit(net, smc_compat_ib_netdev(ibdev, port), inherited);
	smc_pnet_inherit(net, smc_netdev_of_port(ibdev, port), inherited);
}

/**
 * smc_pnet_of_port() - PNETID of an RDMA port
 * @net: whose table counts
 * @ibdev: the device; an entry names it or its parent
 * @port: the port
 * @id: filled: that of the port, or else of its network device; empty if both have no entry
 *
 * Context: Process context, may sleep.
 */
void smc_pnet_of_port(const struct net *net, struct ib_device *ibdev, u8 port,
		      struct smc_pnet_id *id)
{
	struct smc_pnet_id inherited;

	smc_pnet_port_ids(net, ibdev, port, id, &inherited);
	if (!smc_pnet_id_is_set(id))
		*id = inherited;
}

/**
 * smc_pnet_port_fit() - relate an RDMA port to the PNETID of a route
 * @net: whose table counts
 * @wanted: PNETID of the route; may be empty
 * @ibdev: the device
 * @port: the port
 *
 * Context: Process context, may sleep.
 * Return: the relation.
 */
enum smc_pnet_fit smc_pnet_port_fit(const struct net *net, const struct smc_pnet_id *wanted,
				    struct ib_device *ibdev, u8 port)
{
	struct smc_pnet_id own, inherited;

	if (!smc_pnet_id_is_set(wanted))
		return SMC_PNET_OPEN;
	smc_pnet_port_ids(net, ibdev, port, &own, &inherited);
	return smc_pnet_table_fit(wanted, &own, &inherited);
}
