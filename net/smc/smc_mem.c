// SPDX-License-Identifier: GPL-2.0
/*
 * What sockets pay for.
 *
 * Operation:
 *   Rings come from areas that belong to link groups. Who has an element pays
 *   for it as if he had allocated it: it is charged to the memory of the
 *   protocol, which has limits (net.smc.mem), and to the memory control group
 *   of the socket. What nobody has is nobody's; net.smc.spare_mem bounds it.
 *   The means are those of the socket core: sk_forward_alloc and what raises
 *   it. An element counts as receive or send memory of its socket nowhere
 *   else, since no buffer of the core ever holds a part of it.
 *
 *   A socket belongs to the control group of the task that made it. A child of
 *   a listener is made by a kernel thread: until accept() it belongs to the group
 *   of its listener, so that a stranger who connects takes no more than that has
 *   to give, and accept() gives it to the caller's group together with what it
 *   has, as TCP does.
 *
 *   Kernel threads charge. A group above its mark (memory.high) makes whoever
 *   charges it give back something of his own group first, so meanwhile the
 *   thread stands for the group of the socket.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/swap.h>

#include "smc_compat.h"
#include "smc_mem.h"

/* Pages of all sockets; what each CPU has not told yet. */
atomic_long_t smc_mem_allocated;
DEFINE_PER_CPU(int, smc_mem_per_cpu_fw_alloc);

/* In pages: nothing to worry about, short, no more. */
long smc_mem_limits[3];

/* Below this a socket is served as long as the last limit holds. */
int smc_mem_least = INT_MAX;

/**
 * smc_mem_init() - set the limits by the size of this machine
 *
 * At most a quarter of what is there for buffers.
 *
 * Context: Process context, module load.
 */
void smc_mem_init(void)
{
	unsigned long limit = max(nr_free_buffer_pages() / 4, 1024UL);

	smc_mem_limits[0] = limit / 2;
	smc_mem_limits[1] = limit / 4 * 3;
	smc_mem_limits[2] = limit;
}

/*
 * So many pages are charged at a time, at least. A group then gives back at once what
 * it has above memory.high, and where memory.max leaves no room the charge is refused.
 * For a smaller piece the kernel would kill one of the group's tasks, though the
 * connection can as well be TCP.
 */
#define SMC_MEM_PIECE	(max_t(int, SMC_MEMCG_BATCH, 1 << PAGE_ALLOC_COSTLY_ORDER) + 1)

/**
 * smc_mem_charge() - a socket takes an element
 * @sk: the socket
 * @bytes: of the element
 *
 * Nobody is killed for it.
 *
 * Context: Process context, may sleep: the control group may have to give
 *	    something up first, and may be slowed down for having too much. The
 *	    caller sees to it that nobody else charges or uncharges @sk.
 * Return: 0; -ENOMEM if the protocol or the control group has no more.
 */
int smc_mem_charge(struct sock *sk, u32 bytes)
{
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
 * smc_mem_uncharge() - a socket no longer has an element
 * @sk: the socket
 * @bytes: as charged
 *
 * Context: Any context but hard interrupt. The caller sees to it that nobody
 *	    else charges or uncharges @sk.
 */
void smc_mem_uncharge(struct sock *sk, u32 bytes)
{
	sk_mem_uncharge(sk, bytes);
}

/**
 * smc_mem_inherit() - a child belongs to the control group of its listener
 * @listener: the listening socket; the caller holds a reference
 * @child: new, made by a kernel thread; nothing was charged to it
 *
 * Context: Process context.
 */
void smc_mem_inherit(const struct sock *listener, struct sock *child)
{
	if (!smc_compat_sk_memcg(child))
		smc_compat_sk_set_memcg(child, smc_compat_sk_memcg_get(listener));
}

/**
 * smc_mem_adopt() - accept() gives a socket to the caller's control group
 * @sk: made by a kernel thread; ours, or a TCP socket that came through one
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
	smc_compat_memcg_put(to);
}
