// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of peers whose RDMA path failed. A blocked UDP port, an MTU hole or a
 * path that is cut costs a connection some seconds of handshake; those that follow go
 * straight to TCP until the entry has aged.
 *
 * Two kinds of failure, which are not believed for equally long. First contact has
 * failed: nothing says that the path has ever worked, and who tries pays. A path that has
 * worked may do so again soon, and the peer, which may have been started anew, knows
 * more than we do: if it proposes RDMA, it is tried. In either case news of an RNIC of
 * our own may be what was missing, and a group that comes up proves that it works.
 *
 * Where only the routed way has failed, for its first hop does not answer, there may be
 * another one, in the subnet: then connections do not wait for the routed one, and a
 * group that comes up on the other proves nothing of it.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

#include "smc_compat.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_net.h"
#include "rdma/smc_peer.h"

#define SMC_PEER_SLOTS	256

/* Documentation/operations.md says so. */
#define SMC_PEER_HAS_WORKED_DIV	6	/* of peer_memory_ms */

struct smc_peer_slot {
	struct in6_addr addr;		/* IPv4 as mapped address */
	enum smc_decline reason;	/* SMC_DECLINE_NONE: free */
	int news;			/* of RNICs, when it failed */
	unsigned long since;		/* jiffies */
	unsigned int age_ms;		/* peer_memory_ms of then */
	enum smc_peer_failure failure;
};

struct smc_peer_memory {
	spinlock_t lock;		/* guards @slot */
	u32 seed;
	struct smc_peer_slot slot[SMC_PEER_SLOTS];
};

/* Documentation/operations.md says so. */
static_assert(sizeof(struct smc_peer_memory) < 11 << 10);

/**
 * smc_peer_init_net() - prepare the memory of failed peers
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_peer_init_net(struct net *net)
{
	struct smc_peer_memory *mem = kvzalloc(sizeof(*mem), GFP_KERNEL);

	if (!mem)
		return -ENOMEM;
	spin_lock_init(&mem->lock);
	mem->seed = get_random_u32();
	smc_net(net)->peer_memory = mem;
	return 0;
}

/**
 * smc_peer_exit_net() - undo smc_peer_init_net()
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 */
void smc_peer_exit_net(struct net *net)
{
	kvfree(smc_net(net)->peer_memory);
}

static struct smc_peer_slot *smc_peer_find_slot(struct smc_peer_memory *mem,
						const struct in6_addr *peer)
{
	u32 hash = jhash2((const u32 *)peer->s6_addr32, 4, mem->seed);

	return &mem->slot[hash % SMC_PEER_SLOTS];
}

/**
 * smc_peer_remember() - the RDMA path to a peer failed
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 * @reason: what will be the fallback reason of the connections that follow
 * @failure: what has failed
 *
 * The memory is bounded: a newer peer may push an older one out.
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_remember(struct net *net, const struct in6_addr *peer, enum smc_decline reason,
		       enum smc_peer_failure failure)
{
	struct smc_peer_memory *mem = smc_net(net)->peer_memory;
	struct smc_peer_slot *slot = smc_peer_find_slot(mem, peer);
	unsigned int age_ms = READ_ONCE(smc_net(net)->set.peer_memory_ms);

	if (!age_ms)
		return;
	smc_stat_inc(net, SMC_STAT_PEER_REMEMBERED);
	guard(spinlock_bh)(&mem->lock);
	slot->addr = *peer;
	slot->age_ms = age_ms;
	slot->failure = failure;
	slot->news = smc_ib_changes();
	WRITE_ONCE(slot->reason, reason);
	slot->since = jiffies;
}

/**
 * smc_peer_forget() - an RDMA path to a peer works
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 * @is_routed: it is a routed way
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_forget(struct net *net, const struct in6_addr *peer, bool is_routed)
{
	struct smc_peer_memory *mem = smc_net(net)->peer_memory;
	struct smc_peer_slot *slot = smc_peer_find_slot(mem, peer);

	if (READ_ONCE(slot->reason) == SMC_DECLINE_NONE)
		return;
	guard(spinlock_bh)(&mem->lock);
	if (ipv6_addr_equal(&slot->addr, peer) &&
	    (is_routed || slot->failure != SMC_PEER_ROUTED_WAY))
		WRITE_ONCE(slot->reason, SMC_DECLINE_NONE);
}

/* A shorter time holds for what is remembered already, a longer one revives nothing. */
static bool smc_peer_is_stale(const struct net *net, const struct smc_peer_slot *slot)
{
	unsigned int age_ms = READ_ONCE(smc_net(net)->set.peer_memory_ms);

	age_ms = min(age_ms, slot->age_ms);
	if (slot->failure == SMC_PEER_HAS_WORKED)
		age_ms /= SMC_PEER_HAS_WORKED_DIV;
	/* also where it was so long ago that jiffies have wrapped */
	return slot->news != smc_ib_changes() || jiffies - slot->since >= msecs_to_jiffies(age_ms);
}

/* What is remembered of a peer, and still believed. */
static bool smc_peer_look_up(struct net *net, const struct in6_addr *peer,
			     struct smc_peer_slot *copy)
{
	struct smc_peer_memory *mem = smc_net(net)->peer_memory;
	struct smc_peer_slot *slot = smc_peer_find_slot(mem, peer);

	/* that of nearly everybody, for every connection */
	if (READ_ONCE(slot->reason) == SMC_DECLINE_NONE)
		return false;
	guard(spinlock_bh)(&mem->lock);
	if (slot->reason != SMC_DECLINE_NONE && smc_peer_is_stale(net, slot))
		WRITE_ONCE(slot->reason, SMC_DECLINE_NONE);
	*copy = *slot;
	return copy->reason != SMC_DECLINE_NONE && ipv6_addr_equal(&copy->addr, peer);
}

/**
 * smc_peer_recall() - is a peer known not to be reached by RDMA
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 * @is_client: this side would begin; otherwise the peer has, so it must think that
 *	       there is a path
 *
 * Context: Any context but hard interrupt.
 * Return: the reason remembered, or SMC_DECLINE_NONE.
 */
enum smc_decline smc_peer_recall(struct net *net, const struct in6_addr *peer, bool is_client)
{
	struct smc_peer_slot slot;

	if (!smc_peer_look_up(net, peer, &slot) || slot.failure == SMC_PEER_ROUTED_WAY ||
	    (slot.failure == SMC_PEER_HAS_WORKED && !is_client))
		return SMC_DECLINE_NONE;
	return slot.reason;
}

/**
 * smc_peer_recall_routed() - is a peer known not to be reached by the routed way
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 *
 * Context: Any context but hard interrupt.
 * Return: true if that is all that is known of it.
 */
bool smc_peer_recall_routed(struct net *net, const struct in6_addr *peer)
{
	struct smc_peer_slot slot;

	return smc_peer_look_up(net, peer, &slot) && slot.failure == SMC_PEER_ROUTED_WAY;
}

/**
 * smc_peer_addr() - the peer's IP address
 * @tsk: connected TCP socket
 * @peer: filled; an IPv4 address as mapped address
 *
 * Context: Any context.
 */
void smc_peer_addr(const struct sock *tsk, struct in6_addr *peer)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (tsk->sk_family == AF_INET6) {
		*peer = tsk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(tsk->sk_daddr, peer);
}
