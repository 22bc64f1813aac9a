// SPDX-License-Identifier: GPL-2.0
/*
 * Policy: which connections of a network namespace may use SMC. The first rule that matches
 * decides; without one a connection may.
 *
 * It is asked before SMC is offered: for connect() before the SYN, for a listener when a SYN has
 * TCP's option. So a connection that must not use SMC is TCP without any cost.
 *
 * A change replaces the whole table, so that it happens at once or not at all, and readers need
 * no lock. Rules with their counters are objects of their own that tables share. A namespace that
 * never had rules has no table.
 *
 * Drain: with the module's parameter "drain" no connection of any namespace may use SMC; with
 * net.smc.enable 0 none of the namespace, or none at all in the first one.
 */
#include <linux/cgroup.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "sock/smc_policy.h"

struct smc_policy_entry {
	struct rcu_head rcu;
	atomic64_t hits;
	struct smc_policy_rule rule;
};

struct smc_policy_table {
	struct rcu_head rcu;
	unsigned int nr;
	struct smc_policy_entry *entry[];
};

static bool smc_policy_drain;
module_param_named(drain, smc_policy_drain, bool, 0644);
MODULE_PARM_DESC(drain, "new connections of all network namespaces use TCP");

static struct smc_policy_table *smc_policy_current(const struct net *net)
{
	const struct smc_pernet *sn = smc_net(net);

	return rcu_dereference_protected(sn->policy, lockdep_is_held(&sn->change_lock));
}

/* Publishes @table, or none if it is NULL. Frees the present one, not its entries. */
static void smc_policy_replace(struct net *net, struct smc_policy_table *table)
{
	struct smc_pernet *sn = smc_net(net);
	struct smc_policy_table *old = smc_policy_current(net);

	rcu_assign_pointer(sn->policy, table);
	WRITE_ONCE(sn->policy_changes, sn->policy_changes + 1);
	if (old)
		kvfree_rcu(old, rcu);
}

static struct smc_policy_table *smc_policy_new_table(unsigned int nr)
{
	struct smc_policy_table *table;

	table = kvmalloc(struct_size(table, entry, nr), GFP_KERNEL_ACCOUNT);
	if (table)
		table->nr = nr;
	return table;
}

/* The place of rule @id; the number of rules if there is none. */
static unsigned int smc_policy_place(const struct smc_policy_table *table, u32 id)
{
	unsigned int i;

	for (i = 0; i < table->nr; i++)
		if (table->entry[i]->rule.id == id)
			break;
	return i;
}

static int smc_policy_check_add(const struct smc_policy_table *table,
				const struct smc_policy_rule *rule, u32 before)
{
	unsigned int i;

	for (i = 0; table && i < table->nr; i++)
		if (smc_policy_rule_is_same(&table->entry[i]->rule, rule))
			return -EEXIST;
	if (before && (!table || smc_policy_place(table, before) == table->nr))
		return -ENOENT;
	return table && table->nr >= SMC_POLICY_RULES_MAX ? -ENOSPC : 0;
}

/* @old, which may be NULL, with @entry at place @at; NULL without memory. */
static struct smc_policy_table *smc_policy_insert(const struct smc_policy_table *old,
						  struct smc_policy_entry *entry, unsigned int at)
{
	unsigned int i, nr = old ? old->nr : 0;
	struct smc_policy_table *table = smc_policy_new_table(nr + 1);

	if (!table)
		return NULL;
	for (i = 0; i < nr; i++)
		table->entry[i + (i >= at)] = old->entry[i];
	table->entry[at] = entry;
	return table;
}

/**
 * smc_policy_add() - add a rule to the policy of a namespace
 * @net: the namespace
 * @rule: the rule, checked and masked; gets its id on success
 * @before: id of the rule that it precedes; 0 to make it the last one
 *
 * It applies to connections that start later.
 *
 * Context: Process context, may sleep.
 * Return: 0; -EEXIST if a rule says the same; -ENOENT without rule @before; -ENOSPC if the
 *	   policy is full; -ENOMEM. Nothing changes on failure.
 */
int smc_policy_add(struct net *net, struct smc_policy_rule *rule, u32 before)
{
	struct smc_policy_table *old, *table;
	struct smc_policy_entry *entry;
	unsigned int at;
	int rc;

	guard(mutex)(&smc_net(net)->change_lock);
	old = smc_policy_current(net);
	rc = smc_policy_check_add(old, rule, before);
	if (rc)
		return rc;
	entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);
	if (!entry)
		return -ENOMEM;
	entry->rule = *rule;
	/* each change has another number, so ids are not used again */
	entry->rule.id = smc_policy_changes(net) + 1;
	/* no rule has the id 0 */
	at = old ? smc_policy_place(old, before) : 0;
	table = smc_policy_insert(old, entry, at);
	if (!table) {
		kfree(entry);
		return -ENOMEM;
	}
	rule->id = entry->rule.id;
	smc_policy_replace(net, table);
	return 0;
}

/**
 * smc_policy_remove() - remove a rule of a namespace
 * @net: the namespace
 * @id: of the rule
 *
 * Context: Process context, may sleep.
 * Return: 0; -ENOENT if there is no such rule; -ENOMEM.
 */
int smc_policy_remove(struct net *net, u32 id)
{
	struct smc_policy_table *old, *table;
	struct smc_policy_entry *entry;
	unsigned int i, at;

	guard(mutex)(&smc_net(net)->change_lock);
	old = smc_policy_current(net);
	at = old ? smc_policy_place(old, id) : 0;
	if (!old || at == old->nr)
		return -ENOENT;
	table = smc_policy_new_table(old->nr - 1);
	if (!table)
		return -ENOMEM;
	entry = old->entry[at];
	for (i = 0; i < table->nr; i++)
		table->entry[i] = old->entry[i + (i >= at)];
	smc_policy_replace(net, table);
	kfree_rcu(entry, rcu);
	return 0;
}

/**
 * smc_policy_flush() - remove all rules of a namespace
 * @net: the namespace, which may be ending
 *
 * Context: Process context, may sleep.
 */
void smc_policy_flush(struct net *net)
{
	struct smc_policy_table *old;
	unsigned int i;

	guard(mutex)(&smc_net(net)->change_lock);
	old = smc_policy_current(net);
	/* entries before the table, which names them */
	rcu_assign_pointer(smc_net(net)->policy, NULL);
	for (i = 0; old && i < old->nr; i++)
		kfree_rcu(old->entry[i], rcu);
	WRITE_ONCE(smc_net(net)->policy_changes, smc_policy_changes(net) + 1);
	if (old)
		kvfree_rcu(old, rcu);
}

/**
 * smc_policy_get() - read a rule by its place
 * @net: the namespace
 * @i: place, the first rule to be tried has 0
 * @rule: receives it
 * @hits: receives the number of connections for which it decided
 *
 * Context: Any context.
 * Return: false if there is no rule @i.
 */
bool smc_policy_get(const struct net *net, unsigned int i, struct smc_policy_rule *rule,
		    u64 *hits)
{
	const struct smc_policy_table *table;

	guard(rcu)();
	table = rcu_dereference(smc_net(net)->policy);
	if (!table || i >= table->nr)
		return false;
	*rule = table->entry[i]->rule;
	*hits = atomic64_read(&table->entry[i]->hits);
	return true;
}

/**
 * smc_policy_changes() - count of changes of a namespace's policy
 * @net: the namespace
 *
 * Context: Any context.
 * Return: the count; a reader of several rules compares it with an earlier value.
 */
unsigned int smc_policy_changes(const struct net *net)
{
	return READ_ONCE(smc_net(net)->policy_changes);
}

/**
 * smc_policy_is_draining() - check whether the module is to be replaced
 *
 * Context: Any context.
 * Return: true if new connections of all namespaces use TCP.
 */
bool smc_policy_is_draining(void)
{
	return READ_ONCE(smc_policy_drain);
}

/* A socket keeps its control group, and that keeps those above it. */
static void smc_policy_list_cgroups(const struct sock *sk, struct smc_policy_conn *conn)
{
#ifdef CONFIG_SOCK_CGROUP_DATA
	/* the core does not change the socket */
	struct cgroup *cgroup = sock_cgroup_ptr((struct sock_cgroup_data *)&sk->sk_cgrp_data);

	while (conn->nr_cgroups < SMC_POLICY_DEPTH_MAX && conn->nr_cgroups <= cgroup->level) {
		conn->cgroup[conn->nr_cgroups] =
			cgroup_id(cgroup_ancestor(cgroup, conn->nr_cgroups));
		conn->nr_cgroups++;
	}
#endif
}

/* Expects an RCU read section. Return: the rule that decides, or NULL. */
static struct smc_policy_entry *smc_policy_find(const struct sock *sk, enum smc_policy_side side,
						const struct in6_addr *peer, u16 port)
{
	struct smc_policy_conn conn = { .side = side, .port = port };
	const struct smc_policy_table *table;
	unsigned int i;

	table = rcu_dereference(smc_net(sock_net(sk))->policy);
	if (!table)
		return NULL;
	memcpy(conn.peer, peer, sizeof(conn.peer));
	conn.uid = __kuid_val(READ_ONCE(sk->sk_uid));
	smc_policy_list_cgroups(sk, &conn);
	for (i = 0; i < table->nr; i++)
		if (smc_policy_rule_matches(&table->entry[i]->rule, &conn))
			return table->entry[i];
	return NULL;
}

/* What holds for all connections of a namespace; the first one's setting, also for the others. */
static enum smc_decline smc_policy_of_all(const struct net *net)
{
	if (smc_policy_is_draining())
		return SMC_DECLINE_DRAIN;
	return READ_ONCE(smc_net(net)->set.enable) && READ_ONCE(smc_net(&init_net)->set.enable) ?
	       SMC_DECLINE_NONE : SMC_DECLINE_POLICY;
}

static enum smc_decline smc_policy_decide(const struct smc_policy_entry *entry)
{
	return entry && entry->rule.action == SMC_POLICY_TCP ? SMC_DECLINE_POLICY :
							       SMC_DECLINE_NONE;
}

/**
 * smc_policy_apply() - decide for a connection that begins, and count that
 * @sk: the socket of the client, or the listener
 * @side: which of them
 * @peer: the peer's address, IPv4 mapped
 * @port: port of the service
 *
 * Context: Any context but hard interrupt.
 * Return: SMC_DECLINE_NONE if it may use SMC; SMC_DECLINE_POLICY or SMC_DECLINE_DRAIN.
 */
enum smc_decline smc_policy_apply(const struct sock *sk, enum smc_policy_side side,
				  const struct in6_addr *peer, u16 port)
{
	enum smc_decline reason = smc_policy_of_all(sock_net(sk));
	struct smc_policy_entry *entry;

	if (reason)
		return reason;
	guard(rcu)();
	entry = smc_policy_find(sk, side, peer, port);
	if (entry)
		atomic64_inc(&entry->hits);
	return smc_policy_decide(entry);
}

/**
 * smc_policy_peek() - how smc_policy_apply() would decide
 * @sk: as there
 * @side: as there
 * @peer: as there
 * @port: as there
 * @rule: receives the id of the rule that decides, or 0; may be NULL
 *
 * Context: Any context but hard interrupt.
 * Return: as smc_policy_apply().
 */
enum smc_decline smc_policy_peek(const struct sock *sk, enum smc_policy_side side,
				 const struct in6_addr *peer, u16 port, u32 *rule)
{
	const struct smc_policy_entry *entry;

	guard(rcu)();
	entry = smc_policy_find(sk, side, peer, port);
	if (rule)
		*rule = entry ? entry->rule.id : 0;
	return smc_policy_of_all(sock_net(sk)) ?: smc_policy_decide(entry);
}
