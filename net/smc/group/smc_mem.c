// SPDX-License-Identifier: GPL-2.0
/*
 * What connections pay for.
 *
 * Operation:
 *   Rings come from areas that belong to link groups. A connection pays for its elements
 *   as if it had allocated them: they are charged to the memory of SMC, which has limits
 *   (net.smc.mem), and to the memory control group of the socket. Elements that no
 *   connection has are bounded by net.smc.spare_mem. The means are those of the socket
 *   core: sk_forward_alloc and what raises it. The sock that TCP has keeps the account of
 *   TCP's memory, under its own lock, so the account of the rings is on another one, which
 *   is nothing but this account.
 *
 *   A socket belongs to the control group of the task that made it. A child of
 *   a listener is made by TCP, and belongs to none before accept(). Its connection belongs
 *   to the group of the listener until then, so that a stranger who connects takes no more
 *   than that has to give. accept() gives both to the caller's group together with what
 *   they have, as TCP does.
 *
 *   Kernel threads charge. A group above its mark (memory.high) makes whoever
 *   charges it give back something of his own group first, so meanwhile the
 *   thread stands for the group of the socket.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>

#include "smc_compat.h"
#include "group/smc_mem.h"

/* Pages of all connections; what each CPU has not told yet. */
static atomic_long_t smc_mem_allocated;
static DEFINE_PER_CPU(int, smc_mem_per_cpu_fw_alloc);

/* In pages: nothing to worry about, short, no more. */
long smc_mem_limits[3];

/* Below this a connection is served as long as the last limit holds. */
static int smc_mem_least = INT_MAX;

/* Of the accounts. Nobody makes a sock of it. */
static struct proto smc_mem_proto = {
	.name		  = "SMC",
	.owner		  = THIS_MODULE,
	.memory_allocated = &smc_mem_allocated,
	.per_cpu_fw_alloc = &smc_mem_per_cpu_fw_alloc,
	.sysctl_mem	  = smc_mem_limits,
	.sysctl_rmem	  = &smc_mem_least,
	.sysctl_wmem	  = &smc_mem_least,
};

/**
 * smc_mem_init() - set the limits by the size of this machine
 *
 * At most a quarter of what is there for buffers. /proc/net/protocols tells what is used.
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
 * Context: Process context, module unload. No account is left.
 */
void smc_mem_exit(void)
{
	proto_unregister(&smc_mem_proto);
}

/*
 * So many pages are charged at a time, at least. A group then gives back at once what
 * it has above memory.high, and where memory.max leaves no room the charge is refused.
 * For a smaller piece the kernel would kill one of the group's tasks, though the
 * connection can as well be TCP.
 */
#define SMC_MEM_PIECE	(max_t(int, SMC_MEMCG_BATCH, 1 << PAGE_ALLOC_COSTLY_ORDER) + 1)

/**
 * smc_mem_open() - a connection gets an account
 * @account: zeroed
 * @sk: whose control group pays
 *
 * Context: Process context.
 */
void smc_mem_open(struct smc_account *account, const struct sock *sk)
{
	account->sk.sk_prot = &smc_mem_proto;
	smc_compat_sk_set_memcg(&account->sk, smc_compat_sk_memcg_get(sk));
}

/**
 * smc_mem_close() - a connection pays no more
 * @account: nothing is charged to it
 *
 * Context: Any context but hard interrupt.
 */
void smc_mem_close(struct smc_account *account)
{
	sk_mem_reclaim_final(&account->sk);
	mem_cgroup_put(smc_compat_sk_memcg(&account->sk));
}

/**
 * smc_mem_charge() - a connection takes an element
 * @account: its account
 * @bytes: of the element
 *
 * Nobody is killed for it.
 *
 * Context: Process context, may sleep: the control group may have to give
 *	    something up first, and may be slowed down for having too much. The
 *	    caller sees to it that nobody else uses @account.
 * Return: 0; -ENOMEM if SMC or the control group has no more.
 */
int smc_mem_charge(struct smc_account *account, u32 bytes)
{
	struct sock *sk = &account->sk;
	int more = bytes - sk->sk_forward_alloc;
	struct mem_cgroup *memcg = smc_compat_sk_memcg(sk);
	bool has_room = true;

	if (more > 0) {
		struct mem_cgroup *was = set_active_memcg(memcg);

		if (memcg)
			more = max_t(int, more, SMC_MEM_PIECE * PAGE_SIZE);
		has_room = __sk_mem_schedule(sk, more, SK_MEM_RECV);
		set_active_memcg(was);
	}
	if (!has_room)
		return -ENOMEM;
	sk_mem_charge(sk, bytes);
	/* the rest of the piece goes back */
	sk_mem_reclaim(sk);
	return 0;
}

/**
 * smc_mem_zalloc() - memory that a socket pays for
 * @sk: the socket; a kernel thread may ask in its place
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
 * smc_mem_uncharge() - a connection no longer has an element
 * @account: its account
 * @bytes: as charged
 *
 * Context: Any context but hard interrupt. The caller sees to it that nobody else uses
 *	    @account.
 */
void smc_mem_uncharge(struct smc_account *account, u32 bytes)
{
	sk_mem_uncharge(&account->sk, bytes);
}

/**
 * smc_mem_adopt() - accept() gives a sock to the caller's control group
 * @sk: TCP's sock, or that of an account
 * @used: bytes of what it has been charged that are in use
 *
 * What it has been charged so far is charged to that group, too, even beyond the
 * group's limits, as TCP does it, and no longer to the one it had, if it had one.
 * Where groups do not count the memory of sockets, it has none afterwards.
 *
 * Context: Task that accepts, bottom halves off. The caller sees to it that
 *	    nobody else charges or uncharges @sk.
 */
void smc_mem_adopt(struct sock *sk, u32 used)
{
	struct mem_cgroup *from = smc_compat_sk_memcg(sk);
	struct mem_cgroup *to = smc_compat_memcg_get();
	int bytes = PAGE_ALIGN(sk->sk_forward_alloc + (long)used);

	if (from == to)
		goto put;
	smc_compat_sk_set_memcg(sk, to);
	if (bytes) {
		/* with bottom halves off this does not sleep and goes beyond limits */
		bool has_room = __sk_mem_schedule(sk, bytes, SK_MEM_RECV);

		/* the protocol had counted it before: take that back, and from @from */
		smc_compat_sk_set_memcg(sk, from);
		if (!has_room)
			goto put;
		__sk_mem_reclaim(sk, bytes);
		smc_compat_sk_set_memcg(sk, to);
	}
	/* for its own reference */
	to = from;
put:
	mem_cgroup_put(to);
}
