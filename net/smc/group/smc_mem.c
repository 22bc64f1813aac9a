// SPDX-License-Identifier: GPL-2.0
/*
 * Memory accounting of connections, link groups and links.
 *
 * Operation: a connection is charged for its ring elements before they are allocated, to the
 * memory control group of its socket. The mechanism is the socket core's sk_forward_alloc. The
 * account of TCP's sock is under TCP's lock, so the rings are charged to a second sock, which is
 * nothing but an account. A group and the queues of each link are charged in the same way, the
 * group also for what its regions hold without a connection beyond net.smc.spare_mem. The limit of
 * the host, net.smc.mem, is for whole regions (smc_buf.c).
 *
 * Control groups: a child of a listener belongs to none before accept(), and its connection
 * to the listener's group, so strangers can only use up that group's memory. accept() moves
 * both with their charges to the caller's group, as TCP does. Kernel threads that charge
 * act for the socket's group, because a group above memory.high reclaims from the charging
 * task's own group.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>

#include "smc_compat.h"
#include "rdma/smc_buf.h"
#include "group/smc_mem.h"

/* Pages of all connections, and the part that each CPU has not added yet. */
static atomic_long_t smc_mem_charged;
static DEFINE_PER_CPU(int, smc_mem_per_cpu_fw_alloc);

/* Only control groups limit what connections are charged for. */
static long smc_mem_unlimited[3] = { LONG_MAX, LONG_MAX, LONG_MAX };

/* Of the accounts; no socket is created of it. */
static struct proto smc_mem_account_proto = {
	.name		  = "SMC",
	.owner		  = THIS_MODULE,
	.memory_allocated = &smc_mem_charged,
	.per_cpu_fw_alloc = &smc_mem_per_cpu_fw_alloc,
	.sysctl_mem	  = smc_mem_unlimited,
};

/* Shows whole regions in /proc/net/protocols. */
static struct proto smc_mem_proto = {
	.name		  = "SMC",
	.owner		  = THIS_MODULE,
	.memory_allocated = &smc_buf_pages,
	.per_cpu_fw_alloc = &smc_mem_per_cpu_fw_alloc,
	.sysctl_mem	  = smc_buf_limits,
};

/**
 * smc_mem_init() - set the limits by the size of this machine
 *
 * The maximum is a quarter of the free buffer pages. /proc/net/protocols shows the usage.
 *
 * Context: Process context, module load.
 * Return: 0 or the negative errno of proto_register().
 */
int smc_mem_init(void)
{
	unsigned long limit = max(nr_free_buffer_pages() / 4, 1024UL);

	smc_buf_limits[0] = limit / 2;
	smc_buf_limits[1] = limit / 4 * 3;
	smc_buf_limits[2] = limit;
	return proto_register(&smc_mem_proto, 0);
}

/**
 * smc_mem_exit() - undo smc_mem_init()
 *
 * Context: Process context, module unload. All accounts are closed.
 */
void smc_mem_exit(void)
{
	proto_unregister(&smc_mem_proto);
}

/* A ring of the default size takes at most this part of the memory that is left for SMC, ... */
#define SMC_MEM_SHARE		128

/* ... and this part of what the memory control group may use. */
#define SMC_MEM_GROUP_SHARE	2048

/* The least charge, unless pages are so large that the OOM killer sets it. */
#define SMC_MEM_PIECE	SZ_256K

/*
 * In pages. The kernel would kill a task of a group at memory.max for a charge of up to
 * 1 << PAGE_ALLOC_COSTLY_ORDER pages. A larger one fails, and the connection falls back to TCP.
 * Above memory.high the kernel reclaims at once for more than SMC_MEMCG_BATCH pages, and with a
 * later charge for fewer: that many large pages would need too much room.
 */
static int smc_mem_piece(unsigned int page_shift)
{
	int pages = min_t(int, SMC_MEMCG_BATCH, SMC_MEM_PIECE >> page_shift);

	return max_t(int, pages, 1 << PAGE_ALLOC_COSTLY_ORDER) + 1;
}

/**
 * smc_mem_open() - open an account
 * @account: zeroed
 * @sk: the sock whose control group is charged
 *
 * Context: Process context.
 */
void smc_mem_open(struct smc_account *account, const struct sock *sk)
{
	account->sk.sk_prot = &smc_mem_account_proto;
	smc_compat_sk_set_memcg(&account->sk, smc_compat_sk_memcg_get(sk));
}

/**
 * smc_mem_close() - close an account
 * @account: what is charged to it is uncharged; nothing happens if it is not open
 *
 * Context: Any context but hard interrupt. The caller excludes other users of @account.
 */
void smc_mem_close(struct smc_account *account)
{
	struct sock *sk = &account->sk;

	if (!sk->sk_prot)
		return;
	sk_mem_uncharge(sk, account->charged);
	account->charged = 0;
	sk_mem_reclaim_final(sk);
	mem_cgroup_put(smc_compat_sk_memcg(sk));
	smc_compat_sk_set_memcg(sk, NULL);
	sk->sk_prot = NULL;
}

/**
 * smc_mem_charge() - charge an account, without the OOM killer
 * @account: the account
 * @total: bytes in all; does nothing if as much is charged already
 *
 * Context: Process context, may sleep for reclaim or throttling of the control group. The
 *	    caller is the only user of @account.
 * Return: 0; -ENOMEM if the control group is at its limit: nothing has changed.
 */
int smc_mem_charge(struct smc_account *account, u32 total)
{
	struct sock *sk = &account->sk;
	struct mem_cgroup *memcg = smc_compat_sk_memcg(sk);
	struct mem_cgroup *was;
	bool has_room;
	int more;

	if (total <= account->charged)
		return 0;
	more = total - account->charged;
	was = set_active_memcg(memcg);
	has_room = __sk_mem_schedule(sk, memcg ? max_t(int, more, smc_mem_piece(PAGE_SHIFT) *
						       PAGE_SIZE) : more, SK_MEM_RECV);
	set_active_memcg(was);
	if (!has_room)
		return -ENOMEM;
	sk_mem_charge(sk, more);
	account->charged = total;
	/* the rest of the piece goes back */
	sk_mem_reclaim(sk);
	return 0;
}

/**
 * smc_mem_fit() - limit the default size of a ring by the memory that there is
 * @account: of the connection
 * @bytes: the setting
 *
 * With many connections, or in a small control group, smaller rings are better than TCP. The
 * regions that SMC has already count up to the pressure mark, the first number of net.smc.mem.
 * The usage of the control group does not count: page cache that it would give up is in it.
 *
 * Context: Any context.
 * Return: @bytes, or less.
 */
u32 smc_mem_fit(const struct smc_account *account, u32 bytes)
{
	u64 left = max(READ_ONCE(smc_buf_limits[0]) - atomic_long_read(&smc_buf_pages), 0L);
	u64 most = smc_compat_memcg_max(smc_compat_sk_memcg(&account->sk));

	/* a group without a limit, or a limit of that kind, may have more pages than fit */
	most = min_t(u64, most, U32_MAX) << PAGE_SHIFT;
	left = min_t(u64, left, U32_MAX) << PAGE_SHIFT;
	return min3((u64)bytes, left / SMC_MEM_SHARE, most / SMC_MEM_GROUP_SHARE);
}

/**
 * smc_mem_zalloc() - allocate memory that is charged to a socket's control group
 * @sk: the socket; the caller may be a kernel thread
 * @size: bytes
 *
 * Context: Process context, may sleep.
 * Return: zeroed memory for kfree(), or NULL.
 */
void *smc_mem_zalloc(const struct sock *sk, size_t size)
{
	struct mem_cgroup *was = set_active_memcg(smc_compat_sk_memcg(sk));
	void *mem = kzalloc(size, GFP_KERNEL_ACCOUNT);

	set_active_memcg(was);
	return mem;
}

/**
 * smc_mem_settle() - charge an account for memory that exists, also beyond the limits
 * @account: the account
 * @total: bytes in all, more or less than before
 *
 * With bottom halves off the core neither sleeps nor refuses. A control group of version 1 that
 * has no room is charged for no more than before.
 *
 * Context: Bottom halves off. The caller is the only user of @account.
 */
void smc_mem_settle(struct smc_account *account, u32 total)
{
	struct sock *sk = &account->sk;
	int more = total - account->charged;

	lockdep_assert_in_softirq();
	if (more <= 0)
		sk_mem_uncharge(sk, -more);
	else if (__sk_mem_schedule(sk, more, SK_MEM_RECV))
		sk_mem_charge(sk, more);
	else
		return;
	account->charged = total;
	/* the rest of a page stays */
	sk_mem_reclaim(sk);
}

/**
 * smc_mem_adopt() - move a sock to the control group of the task that accepts it
 * @sk: TCP's sock, or that of an account; nothing happens if that is closed
 * @used: bytes of its charge that are in use
 *
 * Its charge moves from its old group, if any, to the new one, even beyond the limits, as
 * with TCP. Where groups do not count socket memory it has no group afterwards.
 *
 * Context: Task that accepts, bottom halves off. The caller is the only user of @sk's
 *	    charge.
 */
void smc_mem_adopt(struct sock *sk, u32 used)
{
	int bytes = PAGE_ALIGN(sk->sk_forward_alloc + (long)used);
	struct mem_cgroup *from, *to;

	if (!sk->sk_prot)
		return;
	from = smc_compat_sk_memcg(sk);
	to = smc_compat_memcg_get();
	if (from == to)
		goto put;
	smc_compat_sk_set_memcg(sk, to);
	if (bytes) {
		/* with bottom halves off this does not sleep and ignores limits */
		bool has_room = __sk_mem_schedule(sk, bytes, SK_MEM_RECV);

		/* the protocol has counted it twice now: take that back, and from @from */
		smc_compat_sk_set_memcg(sk, from);
		if (!has_room)
			goto put;
		__sk_mem_reclaim(sk, bytes);
		smc_compat_sk_set_memcg(sk, to);
	}
	/* drop the reference of the old group */
	to = from;
put:
	mem_cgroup_put(to);
}
