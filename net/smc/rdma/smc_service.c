// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of services that decline every connection. One message each way, for
 * nothing, makes a connection cost a third more than one of TCP, so a program that opens
 * many in a row is not to pay for each: after some that were declined in a row no SMC is
 * offered for a moment, and then it is tried again.
 *
 * A service is an address and a port, as seen by a socket whose way out is chosen as this
 * one's is: a host may have several. Behind one address there may be several hosts, too,
 * and one that agrees is worth the Declines of the others: where a connection has used
 * RDMA lately, nothing counts. Only reasons do that will hold for the next connection;
 * those of a path that failed are smc_peer's.
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

#include "smc_compat.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_net.h"
#include "rdma/smc_service.h"

#define SMC_SERVICE_SLOTS	256

/* Documentation/operations.md says so. */
#define SMC_SERVICE_DECLINES	8	/* in a row */
#define SMC_SERVICE_PAUSE_MS	1000	/* without an offer; at most peer_memory_ms */
/* Longer than a pause: the first one after it goes on counting. */
#define SMC_SERVICE_ROW_MS	2000
#define SMC_SERVICE_TRUST_MS	10000	/* after one that used RDMA */

struct smc_service_slot {
	u32 id;
	enum smc_decline reason;
	u32 diagnosis;
	int news;		/* of RNICs, when it declined */
	unsigned long since;	/* jiffies; the last of them */
	unsigned long agreed;	/* jiffies; the last one that used RDMA, of @has_agreed */
	u8 declines;
	bool has_agreed;
};

struct smc_service_memory {
	spinlock_t lock;		/* guards @slot */
	hsiphash_key_t key;
	struct smc_service_slot slot[SMC_SERVICE_SLOTS];
};

/* Documentation/operations.md says so. */
static_assert(sizeof(struct smc_service_memory) < 13 << 10);

/* What tells one service from another, with what chooses the way there. */
struct smc_service_name {
	struct in6_addr to;	/* IPv4 as mapped address */
	struct in6_addr from;	/* of a socket that is bound */
	u32 mark;
	u32 uid;
	s32 ifindex;
	__be16 port;
	u16 tos;
};

/* nothing in between: all of it is hashed */
static_assert(sizeof(struct smc_service_name) == 48);

/**
 * smc_service_init_net() - prepare the memory of services that decline
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_service_init_net(struct net *net)
{
	struct smc_service_memory *mem = kvzalloc(sizeof(*mem), GFP_KERNEL);

	if (!mem)
		return -ENOMEM;
	spin_lock_init(&mem->lock);
	get_random_bytes(&mem->key, sizeof(mem->key));
	smc_net(net)->service_memory = mem;
	return 0;
}

/**
 * smc_service_exit_net() - undo smc_service_init_net()
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 */
void smc_service_exit_net(struct net *net)
{
	kvfree(smc_net(net)->service_memory);
}

/* The same for the same service, before connect() and after it, and hardly for another. */
static u32 smc_service_id(const struct smc_service_memory *mem, const struct sock *tsk,
			  const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	struct smc_service_name name = {
		.mark = READ_ONCE(tsk->sk_mark),
		.uid = __kuid_val(tsk->sk_uid),
		.ifindex = READ_ONCE(tsk->sk_bound_dev_if),
		.tos = READ_ONCE(inet_sk(tsk)->tos),
	};

	if (addr->sa_family == AF_INET6) {
		name.to = in6->sin6_addr;
		name.port = in6->sin6_port;
		/* as connect() will bind the socket */
		if (ipv6_addr_type(&name.to) & IPV6_ADDR_LINKLOCAL && in6->sin6_scope_id)
			name.ifindex = in6->sin6_scope_id;
	} else {
		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, &name.to);
		name.port = in->sin_port;
	}
	/* not what connect() chooses; other bits there may be written meanwhile */
	if (data_race(tsk->sk_userlocks & SOCK_BINDADDR_LOCK)) {
		ipv6_addr_set_v4mapped(tsk->sk_rcv_saddr, &name.from);
#if IS_ENABLED(CONFIG_IPV6)
		if (tsk->sk_family == AF_INET6)
			name.from = tsk->sk_v6_rcv_saddr;
#endif
	}
	return hsiphash(&name, sizeof(name), &mem->key);
}

static struct smc_service_slot *smc_service_find_slot(struct smc_service_memory *mem, u32 id)
{
	return &mem->slot[id % SMC_SERVICE_SLOTS];
}

/* Will the next connection be declined as well? */
static bool smc_service_is_lasting(enum smc_decline reason, u32 diagnosis)
{
	if (reason != SMC_DECLINE_PEERDECL)
		return reason == SMC_DECLINE_CNFERR || reason == SMC_DECLINE_IPSEC ||
		       reason == SMC_DECLINE_NOSMCRDEV || reason == SMC_DECLINE_DIFFPREFIX;
	switch (diagnosis) {
	case SMC_DECLINE_CNFERR:
	case SMC_DECLINE_IPSEC:
	case SMC_DECLINE_NOSMCDEV ... SMC_DECLINE_NOUEID:
	case SMC_DECLINE_MODEUNSUPP:
	case SMC_DECLINE_OPTUNSUPP:
	case SMC_DECLINE_DIFFPREFIX:
	case SMC_DECLINE_VERSMISMAT:
		return true;
	default:
		return false;
	}
}

/* Also where it was so long ago that jiffies have wrapped. */
static bool smc_service_is_ago(unsigned long then, unsigned int ms)
{
	return jiffies - then >= msecs_to_jiffies(ms);
}

static bool smc_service_is_older(const struct smc_service_slot *slot, unsigned int ms)
{
	return slot->news != smc_ib_changes() || smc_service_is_ago(slot->since, ms);
}

/* Another one has had this slot: what it said is forgotten. */
static void smc_service_claim(struct smc_service_slot *slot, u32 id)
{
	if (slot->id == id)
		return;
	slot->id = id;
	slot->declines = 0;
	slot->has_agreed = false;
}

/**
 * smc_service_declined() - a connection to a service has become TCP
 * @tsk: TCP socket that is connected, with what it is bound to
 * @addr: whereto, as given to connect(); of either family
 * @reason: why; with SMC_DECLINE_PEERDECL it is the peer who has declined
 * @diagnosis: what the peer said then
 *
 * The memory is bounded: a newer service may push an older one out.
 *
 * Context: Any context but hard interrupt.
 */
void smc_service_declined(const struct sock *tsk, const struct sockaddr *addr,
			  enum smc_decline reason, u32 diagnosis)
{
	struct smc_service_memory *mem = smc_net(sock_net(tsk))->service_memory;
	struct smc_service_slot *slot;
	u32 id;

	/* as where the peer does not know SMC */
	if (!smc_service_is_lasting(reason, diagnosis))
		return;
	id = smc_service_id(mem, tsk, addr);
	slot = smc_service_find_slot(mem, id);
	guard(spinlock_bh)(&mem->lock);
	smc_service_claim(slot, id);
	if (slot->has_agreed && smc_service_is_ago(slot->agreed, SMC_SERVICE_TRUST_MS))
		slot->has_agreed = false;
	if (slot->has_agreed || smc_service_is_older(slot, SMC_SERVICE_ROW_MS))
		slot->declines = 0;
	slot->reason = reason;
	slot->diagnosis = diagnosis;
	slot->news = smc_ib_changes();
	slot->since = jiffies;
	slot->declines = min(slot->declines + 1, SMC_SERVICE_DECLINES);
	if (slot->declines == SMC_SERVICE_DECLINES)
		smc_stat_inc(sock_net(tsk), SMC_STAT_SERVICE_PAUSED);
}

/**
 * smc_service_agreed() - a connection to a service uses RDMA
 * @tsk: TCP socket that is connected, with what it is bound to
 * @addr: whereto, as given to connect(); of either family
 *
 * Context: Any context but hard interrupt.
 */
void smc_service_agreed(const struct sock *tsk, const struct sockaddr *addr)
{
	struct smc_service_memory *mem = smc_net(sock_net(tsk))->service_memory;
	u32 id = smc_service_id(mem, tsk, addr);
	struct smc_service_slot *slot = smc_service_find_slot(mem, id);

	guard(spinlock_bh)(&mem->lock);
	/* of a service that has not declined lately nothing is remembered */
	if (slot->id == id) {
		slot->declines = 0;
		slot->has_agreed = true;
		slot->agreed = jiffies;
	}
}

/**
 * smc_service_recall() - is an offer to a service in vain at the moment?
 * @tsk: TCP socket that is to be connected, with what it is bound to
 * @addr: whereto, of either family
 * @diagnosis: receives what the peer said, if it was the peer
 *
 * Context: Any context but hard interrupt.
 * Return: the reason remembered, or SMC_DECLINE_NONE.
 */
enum smc_decline smc_service_recall(const struct sock *tsk, const struct sockaddr *addr,
				    u32 *diagnosis)
{
	const struct smc_pernet *sn = smc_net(sock_net(tsk));
	struct smc_service_memory *mem = sn->service_memory;
	/* the time in which an offer would be declined */
	unsigned int pause_ms = min_t(unsigned int, READ_ONCE(sn->set.peer_memory_ms),
				      SMC_SERVICE_PAUSE_MS);
	u32 id = smc_service_id(mem, tsk, addr);
	const struct smc_service_slot *slot = smc_service_find_slot(mem, id);

	/* those of nearly all services, for every connection */
	if (data_race(slot->declines) < SMC_SERVICE_DECLINES)
		return SMC_DECLINE_NONE;
	guard(spinlock_bh)(&mem->lock);
	if (slot->id != id || slot->declines < SMC_SERVICE_DECLINES ||
	    smc_service_is_older(slot, pause_ms))
		return SMC_DECLINE_NONE;
	*diagnosis = slot->diagnosis;
	return slot->reason;
}
