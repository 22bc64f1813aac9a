// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: the limit of the host, and what control groups are charged for.
 *
 * The host: net.smc.mem limits the pages of all regions, link groups and queues of links, whichever
 * control group pays for them.
 *
 * Control groups: memory of handshakes, regions, link groups and the queues of links is allocated
 * with SMC_MEM_GFP, while the control group of a socket is the active one. It is charged to that
 * group until it is freed, also while connections of other groups use it, as page cache is. A child
 * belongs to no group before accept(), so its handshake acts for the group of the listener:
 * strangers can only use up that group's memory. Links that are added later act for the group that
 * paid for the first one.
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/swap.h>

#include "smc_compat.h"
#include "rdma/smc_mem.h"

/* Pages of the host that count. */
atomic_long_t smc_mem_pages;

/* In pages, net.smc.mem: low, unused, and the maximum of smc_mem_pages. */
long smc_mem_limits[3] = { LONG_MAX, LONG_MAX, LONG_MAX };

/* Shows both in /proc/net/protocols. No socket is created of it; the core wants the counter. */
static DEFINE_PER_CPU(int, smc_mem_unused);
static struct proto smc_mem_proto = {
	.name		  = "SMC",
	.owner		  = THIS_MODULE,
	.memory_allocated = &smc_mem_pages,
	.per_cpu_fw_alloc = &smc_mem_unused,
	.sysctl_mem	  = smc_mem_limits,
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

	smc_mem_limits[0] = limit / 2;
	smc_mem_limits[1] = limit / 4 * 3;
	smc_mem_limits[2] = limit;
	return proto_register(&smc_mem_proto, 0);
}

/**
 * smc_mem_exit() - undo smc_mem_init()
 *
 * Context: Process context, module unload. Nothing is charged.
 */
void smc_mem_exit(void)
{
	proto_unregister(&smc_mem_proto);
}

/**
 * smc_mem_charge() - count memory in the limit of the host, before it is allocated
 * @bytes: how much; counts in whole pages
 *
 * Context: Any context.
 * Return: false, without a charge, if the limit does not allow it.
 */
bool smc_mem_charge(u64 bytes)
{
	long pages = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);

	if (atomic_long_add_return(pages, &smc_mem_pages) <= READ_ONCE(smc_mem_limits[2]))
		return true;
	atomic_long_sub(pages, &smc_mem_pages);
	return false;
}

/**
 * smc_mem_count() - count memory of a connection that exists, whatever the limit
 * @bytes: as for smc_mem_charge(), undone in the same way
 *
 * Context: Any context.
 */
void smc_mem_count(u64 bytes)
{
	atomic_long_add(DIV_ROUND_UP_ULL(bytes, PAGE_SIZE), &smc_mem_pages);
}

/**
 * smc_mem_uncharge() - undo smc_mem_charge()
 * @bytes: as there
 *
 * Context: Any context.
 */
void smc_mem_uncharge(u64 bytes)
{
	atomic_long_sub(DIV_ROUND_UP_ULL(bytes, PAGE_SIZE), &smc_mem_pages);
}

/**
 * smc_mem_has_room() - check whether smc_mem_charge() would succeed
 * @bytes: as there
 *
 * Context: Any context.
 * Return: false at the limit of the host.
 */
bool smc_mem_has_room(u64 bytes)
{
	return atomic_long_read(&smc_mem_pages) + (long)DIV_ROUND_UP_ULL(bytes, PAGE_SIZE) <=
	       READ_ONCE(smc_mem_limits[2]);
}

/* A ring of the default size takes at most this part of the memory that is left for SMC, ... */
#define SMC_MEM_SHARE		128

/* ... and this part of what the memory control group may use. */
#define SMC_MEM_GROUP_SHARE	2048

/**
 * smc_mem_fit() - limit the default size of a ring by the memory that there is
 * @memcg: the control group that would pay for it, or NULL
 * @bytes: the setting
 *
 * With many connections, or in a small control group, smaller rings are better than TCP. The
 * regions that SMC has already count up to the pressure mark, the first number of net.smc.mem.
 * The usage of the control group does not count: page cache that it would give up is in it.
 *
 * Context: Any context.
 * Return: @bytes, or less.
 */
u32 smc_mem_fit(struct mem_cgroup *memcg, u32 bytes)
{
	u64 left = max(READ_ONCE(smc_mem_limits[0]) - atomic_long_read(&smc_mem_pages), 0L);
	u64 most = smc_compat_memcg_max(memcg);

	/* a group without a limit, or a limit of that kind, may have more pages than fit */
	most = min_t(u64, most, U32_MAX) << PAGE_SHIFT;
	left = min_t(u64, left, U32_MAX) << PAGE_SHIFT;
	return min3((u64)bytes, left / SMC_MEM_SHARE, most / SMC_MEM_GROUP_SHARE);
}

/**
 * smc_mem_adopt() - move TCP's sock to the control group of the task that accepts it
 * @sk: the sock of a child, whose lock is held
 *
 * Its charge moves from its old group, if any, to the new one, even beyond the limits, as
 * with TCP. Where groups do not count socket memory it has no group afterwards.
 *
 * Context: Task that accepts, bottom halves off.
 */
void smc_mem_adopt(struct sock *sk)
{
	int bytes = PAGE_ALIGN(sk->sk_forward_alloc + (long)atomic_read(&sk->sk_rmem_alloc) +
			       sk->sk_wmem_queued);
	struct mem_cgroup *from = smc_compat_sk_memcg(sk), *to = smc_compat_memcg_get();

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
