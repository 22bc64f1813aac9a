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
 *   a listener is made by a kernel thread and belongs to nobody, as in TCP, until
 *   accept() gives it to the caller's group together with what it has.
 */
#include <linux/mm.h>
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

/**
 * smc_mem_charge() - a socket takes an element
 * @sk: the socket
 * @bytes: of the element
 *
 * Context: Process context, may sleep: the control group may have to give
 *	    something up first. The caller sees to it that nobody else charges
 *	    or uncharges @sk.
 * Return: 0; -ENOMEM if the protocol or the control group has no more.
 */
int smc_mem_charge(struct sock *sk, u32 bytes)
{
	int more = bytes - sk->sk_forward_alloc;

	if (more > 0 && !__sk_mem_schedule(sk, more, SK_MEM_RECV))
		return -ENOMEM;
	sk_mem_charge(sk, bytes);
	return 0;
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
 * smc_mem_adopt() - accept() gives a socket to the caller's control group
 * @sk: made by a kernel thread; ours, or a TCP socket that came through one
 * @used: bytes of what it has been charged that are in use
 *
 * What it has been charged so far is charged to the group, too, even beyond the
 * group's limits, as TCP does it. Nothing happens to a socket that has a group
 * already, and where groups do not count the memory of sockets.
 *
 * Context: Task that accepts, bottom halves off. The caller sees to it that
 *	    nobody else charges or uncharges @sk.
 */
void smc_mem_adopt(struct sock *sk, u32 used)
{
	struct mem_cgroup *memcg;
	int bytes;

	if (smc_compat_sk_memcg(sk))
		return;
	memcg = smc_compat_memcg_get();
	if (!memcg)
		return;
	bytes = PAGE_ALIGN(sk->sk_forward_alloc + (long)used);
	smc_compat_sk_set_memcg(sk, memcg);
	if (!bytes)
		return;
	/* with bottom halves off this does not sleep and goes beyond limits */
	if (!__sk_mem_schedule(sk, bytes, SK_MEM_RECV)) {
		smc_compat_sk_set_memcg(sk, NULL);
		smc_compat_memcg_put(memcg);
		return;
	}
	/* the protocol had counted it before: take it from there, and only there */
	smc_compat_sk_set_memcg(sk, NULL);
	__sk_mem_reclaim(sk, bytes);
	smc_compat_sk_set_memcg(sk, memcg);
}
