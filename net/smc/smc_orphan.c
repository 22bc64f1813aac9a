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
 * file has been closed. When the heir becomes an orphan itself, it stands in the
 * list for those before it as well: one entry for each file.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <asm/syscall.h>

#include "smc_orphan.h"

/*
 * How often to look whether the files of orphans have been closed; at how many
 * that have not, at least; and at how many with the lock held.
 */
#define SMC_ORPHAN_SWEEP	(HZ / 2)
#define SMC_ORPHAN_SWEPT	1024
#define SMC_ORPHAN_PIECE	256

/* So many socks a file may have had before it is closed. */
#define SMC_ORPHAN_OF_A_FILE	256

static DEFINE_SPINLOCK(smc_orphan_lock);	/* guards what follows, heirs, elders */
static LIST_HEAD(smc_orphans);
static unsigned int smc_orphan_nr;		/* length of the list */

static void smc_orphan_sweep(struct work_struct *work);
static DECLARE_DELAYED_WORK(smc_orphan_sweep_work, smc_orphan_sweep);

/* Off the list; smc_orphan_drop() is to follow, without the lock. */
static void smc_orphan_unlist(struct smc_sock *smc, struct list_head *dead)
{
	lockdep_assert_held(&smc_orphan_lock);
	list_move_tail(&smc->late_node, dead);
	smc_orphan_nr--;
	if (smc_sock_is_ours(smc->late_heir))
		smc_sk(smc->late_heir)->late_elder = NULL;
}

/* Those of one file, the youngest first. */
static void smc_orphan_drop_file(struct smc_sock *smc)
{
	struct smc_sock *elder;

	sock_put(smc->late_heir);
	for (; smc; smc = elder) {
		elder = smc->late_elder;
		sock_put(&smc->sk);
	}
}

static void smc_orphan_drop(struct list_head *dead)
{
	struct smc_sock *smc, *next;

	list_for_each_entry_safe(smc, next, dead, late_node) {
		list_del_init(&smc->late_node);
		smc_orphan_drop_file(smc);
	}
}

/*
 * fcntl() has waited for the lock of a sock while that left its file: O_ASYNC is in
 * the file's list, and noted at the orphan alone. What came meanwhile was told
 * nobody, so something is told now.
 */
static void smc_orphan_pass_async(const struct smc_sock *smc)
{
	struct sock *heir = smc->late_heir;
	struct socket_wq *wq;
	bool is_late = false;

	while (smc && !sock_flag(&smc->sk, SOCK_FASYNC))
		smc = smc->late_elder;
	if (!smc || sock_flag(heir, SOCK_FASYNC))
		return;
	rcu_read_lock();
	wq = rcu_dereference(heir->sk_wq);
	if (wq && READ_ONCE(wq->fasync_list)) {
		/* who has the lock may write the same word; there is a next time */
		spin_lock_bh(&heir->sk_lock.slock);
		is_late = !sock_owned_by_user_nocheck(heir);
		if (is_late)
			sock_set_flag(heir, SOCK_FASYNC);
		spin_unlock_bh(&heir->sk_lock.slock);
	}
	if (is_late)
		sk_wake_async(heir, SOCK_WAKE_IO, POLL_IN);
	rcu_read_unlock();
}

/* Charged to @sk, and not for what it has itself: a filter, storage of BPF programs. */
static int smc_orphan_stray_charge(const struct sock *sk)
{
	int bytes = atomic_read(&sk->sk_omem_alloc);
	const struct sk_filter *filter;

#ifdef CONFIG_BPF_SYSCALL
	/* its part of that is not known here */
	if (rcu_access_pointer(sk->sk_bpf_storage))
		return 0;
#endif
	rcu_read_lock();
	filter = rcu_dereference(sk->sk_filter);
	if (filter)
		bytes -= bpf_prog_size(filter->prog->len);
	rcu_read_unlock();
	return bytes;
}

/*
 * sendmsg() charges its control data to the sock that the file has when it begins, and takes
 * the charge from that which the file has when it ends. So what an orphan was charged, or
 * relieved of, is the heir's. Expects that nobody is at the orphan's filter.
 */
static void smc_orphan_pass_charge(struct sock *sk, struct sock *heir)
{
	int bytes;

	lockdep_assert_held(&smc_orphan_lock);
	bytes = smc_orphan_stray_charge(sk);
	atomic_sub(bytes, &sk->sk_omem_alloc);
	atomic_add(bytes, &heir->sk_omem_alloc);
}

/* The same for all that the file had, some time later. */
static void smc_orphan_pass_charges(struct smc_sock *smc)
{
	struct sock *heir = smc->late_heir;
	struct sock *sk;

	for (; smc; smc = smc->late_elder) {
		sk = &smc->sk;
		if (!atomic_read(&sk->sk_omem_alloc))
			continue;
		/* a setsockopt() that has found it before has the lock; there is a next time */
		spin_lock_bh(&sk->sk_lock.slock);
		if (!sock_owned_by_user_nocheck(sk))
			smc_orphan_pass_charge(sk, heir);
		spin_unlock_bh(&sk->sk_lock.slock);
	}
}

/*
 * A piece of the list, from its head. The heir is dead as soon as the file has
 * been closed. Those that live go to the end of the list, so that many of them
 * hold up nobody. Returns how many they were; @nr_seen counts all.
 */
static unsigned int smc_orphan_sweep_piece(unsigned int *nr_seen)
{
	struct smc_sock *smc, *next;
	unsigned int nr_alive = 0;
	LIST_HEAD(alive);
	LIST_HEAD(dead);
	int n = 0;

	spin_lock(&smc_orphan_lock);
	list_for_each_entry_safe(smc, next, &smc_orphans, late_node) {
		if (n++ == SMC_ORPHAN_PIECE)
			break;
		++*nr_seen;
		if (sock_flag(smc->late_heir, SOCK_DEAD)) {
			smc_orphan_unlist(smc, &dead);
			continue;
		}
		nr_alive++;
		smc_orphan_pass_async(smc);
		smc_orphan_pass_charges(smc);
		list_move_tail(&smc->late_node, &alive);
	}
	list_splice_tail(&alive, &smc_orphans);
	spin_unlock(&smc_orphan_lock);

	smc_orphan_drop(&dead);
	return nr_alive;
}

/*
 * Only those that live cost anything again. A quarter of them is looked at each
 * time, so what is dead waits for two seconds, however many there are.
 */
static void smc_orphan_sweep(struct work_struct *work)
{
	unsigned int nr = READ_ONCE(smc_orphan_nr);
	unsigned int nr_seen = 0;
	unsigned int left = max_t(unsigned int, SMC_ORPHAN_SWEPT, nr / 4);
	unsigned int had;

	do {
		had = nr_seen;
		left -= min(left, smc_orphan_sweep_piece(&nr_seen));
		cond_resched();
		/* others let go of some meanwhile: there may be none left to see */
	} while (left && nr_seen < nr && nr_seen != had);
	if (READ_ONCE(smc_orphan_nr))
		queue_delayed_work(system_unbound_wq, &smc_orphan_sweep_work, SMC_ORPHAN_SWEEP);
}

/**
 * smc_orphan_may_keep() - may the file of a sock get another one
 * @smc: the sock that it has
 *
 * Each that it had costs memory until the file is closed, or somebody finds
 * himself alone with it. A file that somebody else has, too, could have any number.
 *
 * Context: Process context. Expects the socket lock of @smc held.
 * Return: false if it has had too many that could not be let go of.
 */
bool smc_orphan_may_keep(const struct smc_sock *smc)
{
	const struct smc_sock *elder;
	int nr = 0;

	spin_lock(&smc_orphan_lock);
	for (elder = smc->late_elder; elder; elder = elder->late_elder)
		nr++;
	spin_unlock(&smc_orphan_lock);
	return nr < SMC_ORPHAN_OF_A_FILE;
}

/**
 * smc_orphan_keep() - the file is about to have another sock
 * @smc: our sock, which has it; becomes an orphan, and the file's reference on
 *	 it belongs to the list
 * @heir: which is going to have it: TCP's or ours, and nobody knows it yet
 *
 * The caller gives the file to @heir afterwards, and calls smc_orphan_depart() on @smc.
 *
 * Context: Process context. Expects the socket lock of @smc held.
 */
void smc_orphan_keep(struct smc_sock *smc, struct sock *heir)
{
	struct smc_sock *elder;

	sock_hold(heir);
	spin_lock(&smc_orphan_lock);
	/* before @smc is dead, which would mean that the file is closed */
	elder = smc->late_elder;
	if (elder) {
		list_del_init(&elder->late_node);
		smc_orphan_nr--;
		/* the caller has one of its own */
		__sock_put(elder->late_heir);
		elder->late_heir = NULL;
	}
	if (smc_sock_is_ours(heir))
		smc_sk(heir)->late_elder = smc;
	smc->late_heir = heir;
	list_add_tail(&smc->late_node, &smc_orphans);
	smc_orphan_nr++;
	spin_unlock(&smc_orphan_lock);

	queue_delayed_work(system_unbound_wq, &smc_orphan_sweep_work, SMC_ORPHAN_SWEEP);
}

/**
 * smc_orphan_depart() - the file has another sock from now on
 * @smc: the orphan
 *
 * As sock_orphan(), but that the way to the struct socket stays: the core goes it in
 * calls that have found this sock before (getsockopt() and setsockopt() of SOL_SOCKET), and
 * those hold the file. Nobody else may (smc_sock_socket()), for when the file has been closed
 * it leads nowhere.
 *
 * What calls under way have charged to it is the heir's.
 *
 * Context: Process context. Expects the socket lock held. Takes sk_callback_lock.
 */
void smc_orphan_depart(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	if (atomic_read(&sk->sk_omem_alloc)) {
		spin_lock(&smc_orphan_lock);
		/* not if the file has been closed, or has yet another one */
		if (!list_empty(&smc->late_node))
			smc_orphan_pass_charge(sk, smc->late_heir);
		spin_unlock(&smc_orphan_lock);
	}

	write_lock_bh(&sk->sk_callback_lock);
	sock_set_flag(sk, SOCK_DEAD);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
}

/* The number that the task's system call was given for a file, if it was given one. */
static unsigned int smc_orphan_guess_fd(void)
{
	unsigned long args[6];

	syscall_get_arguments(current, task_pt_regs(current), args);
	return args[0];
}

/*
 * Is the file used by nobody but this task's call on it? The reference of the
 * task's table counts, which must be seen there, at @fd: another task that shares
 * the table may have closed the file. A table that is shared gives each call one of its own,
 * one that is not gives none, but no other task can use it. The inode's lock is
 * for who changes the owner, without a reference on the file.
 */
static bool smc_orphan_is_alone(struct socket *sock, unsigned int fd)
{
	struct files_struct *files = current->files;
	bool is_alone;
	int refs = 1;

	if (!inode_trylock(SOCK_INODE(sock)))
		return false;
	spin_lock(&files->file_lock);
	if (atomic_read(&files->count) > 1)
		refs++;
	/* after sock->sk was written; pairs with the increment in fget() */
	smp_mb();
	is_alone = files_lookup_fd_locked(files, fd) == sock->file &&
		   file_count(sock->file) == refs;
	spin_unlock(&files->file_lock);
	inode_unlock(SOCK_INODE(sock));
	return is_alone;
}

/**
 * smc_orphan_settle() - let go of orphans that nobody can be using
 * @smc: an orphan; the caller holds a reference of its own
 * @sock: the application's socket, which has an heir by now
 *
 * For a call that came from a system call on the file. Who began to use the file
 * before the heir was put there counts in its references still; who begins now
 * finds the heir. Workers of io_uring are not looked into.
 *
 * Context: Process context.
 */
void smc_orphan_settle(struct smc_sock *smc, struct socket *sock)
{
	LIST_HEAD(dead);

	if (!sock->file || !current->files || current->flags & (PF_IO_WORKER | PF_KTHREAD) ||
	    !smc_orphan_is_alone(sock, smc_orphan_guess_fd()))
		return;
	spin_lock(&smc_orphan_lock);
	/* not if somebody has settled, or the file has yet another one */
	if (!list_empty(&smc->late_node) && smc->late_heir == sock->sk) {
		smc_orphan_pass_charges(smc);
		smc_orphan_unlist(smc, &dead);
	}
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
