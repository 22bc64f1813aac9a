// SPDX-License-Identifier: GPL-2.0
/*
 * Socks whose file has another sock now.
 *
 * Operation: a connection that fell back leaves its file to TCP
 * (smc_fallback.c), one that was dissolved to a new sock of ours (smc_renew.c).
 * Calls through our operations hold a reference on the sock they found
 * (smc_sock_enter()), but the core also reads sock->sk on its own account
 * (getsockopt of SOL_SOCKET, fasync, security modules), and may sleep for as
 * long as a page fault takes. So an orphan stays until no such call can be
 * left: until a task finds itself alone with the file (smc_orphan_settle()),
 * else until the file is closed.
 *
 * Ownership: the file's reference on the orphan keeps it, and the orphan has
 * one on its heir, the sock that the file has now. That is dead as soon as the
 * file has been closed. An heir that becomes an orphan passes on its own.
 */
#include <linux/fdtable.h>
#include <linux/file.h>

#include "smc_orphan.h"

/* How often to look whether the files of orphans have been closed, at how many. */
#define SMC_ORPHAN_SWEEP	(HZ / 2)
#define SMC_ORPHAN_SWEPT	1024

static DEFINE_SPINLOCK(smc_orphan_lock);	/* guards the list, and heirs */
static LIST_HEAD(smc_orphans);

static void smc_orphan_sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(smc_orphan_sweep_work, smc_orphan_sweep);

static void smc_orphan_drop(struct list_head *dead)
{
	struct smc_sock *smc, *next;

	list_for_each_entry_safe(smc, next, dead, late_node) {
		list_del_init(&smc->late_node);
		sock_put(smc->late_heir);
		sock_put(&smc->sk);
	}
}

/*
 * The heir is dead as soon as the file has been closed. Those that live go to
 * the end of the list, so that many of them hold up nobody who falls back.
 */
static void smc_orphan_sweep(struct work_struct *work)
{
	struct smc_sock *smc, *next;
	LIST_HEAD(alive);
	LIST_HEAD(dead);
	bool is_more;
	int n = 0;

	spin_lock(&smc_orphan_lock);
	list_for_each_entry_safe(smc, next, &smc_orphans, late_node) {
		if (n++ == SMC_ORPHAN_SWEPT)
			break;
		list_move_tail(&smc->late_node,
			       sock_flag(smc->late_heir, SOCK_DEAD) ? &dead : &alive);
	}
	list_splice_tail(&alive, &smc_orphans);
	is_more = !list_empty(&smc_orphans);
	spin_unlock(&smc_orphan_lock);

	smc_orphan_drop(&dead);
	if (is_more)
		schedule_delayed_work(&smc_orphan_sweep_work, SMC_ORPHAN_SWEEP);
}

/* @smc leaves the file: those it has inherited from belong to @heir. */
static void smc_orphan_pass_on(struct smc_sock *smc, struct sock *heir)
{
	struct smc_sock *other;

	lockdep_assert_held(&smc_orphan_lock);
	list_for_each_entry(other, &smc_orphans, late_node) {
		if (other->late_heir != &smc->sk)
			continue;
		sock_hold(heir);
		other->late_heir = heir;
		/* the caller has one of its own */
		__sock_put(&smc->sk);
	}
}

/**
 * smc_orphan_keep() - the file has another sock now
 * @smc: our sock, which had it; becomes an orphan, and the file's reference on
 *	 it belongs to the list
 * @heir: which has it: TCP's, or ours and locked or not yet known
 *
 * Context: Process context. Expects the socket lock of @smc held.
 */
void smc_orphan_keep(struct smc_sock *smc, struct sock *heir)
{
	spin_lock(&smc_orphan_lock);
	/* before @smc is dead, which would mean that the file is closed */
	if (smc->is_heir)
		smc_orphan_pass_on(smc, heir);
	if (smc_sock_is_ours(heir))
		smc_sk(heir)->is_heir = true;
	sock_hold(heir);
	smc->late_heir = heir;
	list_add_tail(&smc->late_node, &smc_orphans);
	spin_unlock(&smc_orphan_lock);

	sock_orphan(&smc->sk);
	schedule_delayed_work(&smc_orphan_sweep_work, SMC_ORPHAN_SWEEP);
}

/* Is the file used by nobody but this task's call on it? */
static bool smc_orphan_is_alone(const struct socket *sock)
{
	int refs = 1;

	if (!sock->file || !current->files || current->flags & (PF_IO_WORKER | PF_KTHREAD))
		return false;
	if (atomic_read(&current->files->count) > 1)
		refs++;
	/* after sock->sk was written; pairs with the increment in fget() */
	smp_mb();
	return file_count(sock->file) == refs;
}

/**
 * smc_orphan_settle() - let go of orphans that nobody can be using
 * @smc: an orphan; the caller holds a reference of its own
 * @sock: the application's socket, which has an heir by now
 *
 * For a call that came from a system call on the file. Who began to use the file
 * before the heir was put there counts in its references still; who begins now
 * finds the heir. A task that shares its table of files with others has a
 * reference for each call, one that does not has none, but is the only one to
 * use that table. Workers of io_uring are not looked into.
 *
 * Context: Process context.
 */
void smc_orphan_settle(struct smc_sock *smc, struct socket *sock)
{
	struct smc_sock *other, *next;
	LIST_HEAD(dead);

	if (!smc_orphan_is_alone(sock))
		return;
	spin_lock(&smc_orphan_lock);
	if (!list_empty(&smc->late_node))
		list_move(&smc->late_node, &dead);
	if (smc->is_heir)
		list_for_each_entry_safe(other, next, &smc_orphans, late_node)
			if (other->late_heir == sock->sk)
				list_move(&other->late_node, &dead);
	spin_unlock(&smc_orphan_lock);
	smc_orphan_drop(&dead);
}

/**
 * smc_orphan_exit() - nothing of this is under way any more
 *
 * There is no orphan: each holds the module.
 *
 * Context: Process context, module unload.
 */
void smc_orphan_exit(void)
{
	cancel_delayed_work_sync(&smc_orphan_sweep_work);
}
