// SPDX-License-Identifier: GPL-2.0
/*
 * Negative cache: hosts whose RDMA path failed, services that decline SMC or that offers do not
 * reach, and clients that send no Proposal. Connections use TCP at once until the entry expires.
 *
 * An entry counts failures in a row, and its time doubles with each, up to peer_memory_ms. The kind
 * of a failure decides how many it stands for:
 *
 * - A blocked UDP port, an MTU hole or a cut path costs a connection seconds of handshake: all at
 *   once. A path that has worked may work again soon, and the peer, which may have restarted, knows
 *   more: its entry is shorter and does not apply to the peer's proposals.
 * - A service that sends the TCP option and then no CLC message repeats options that it does not
 *   know, or a middlebox does. Each offer would fail connect(): all at once. A server that restarts
 *   looks the same: soon after a connection that used RDMA it is the shortest time, about a second.
 * - A client without a Proposal may be behind a middlebox that removes the option from SYN-ACKs:
 *   all at once the second time.
 * - A Decline costs over a quarter of a TCP connection (tools/bench). Several in a row begin a
 *   pause. Several hosts may share one address: soon after a connection that used RDMA none counts.
 * - A middlebox may drop or refuse SYNs with the option. A connection without it proves that: by a
 *   later SYN of the same connect(), or by the next connect() within that time. If that fails, too,
 *   the service is down, and its refusals do not count for some time.
 *
 * A service is an address and a port: behind a middlebox or a balancer each may be another host.
 * Success, or a change of the local RNICs, ends an entry and its count.
 *
 * RoCE v1 and v2:
 *   Where both versions of RoCE are possible, version 1 of SMC-R takes RoCE v1 first, and no
 *   message says which one a side uses. If that first contact fails, the next one uses RoCE v2, and
 *   is not TCP. Both ends see the failure, so both change. If RoCE v2 works, that is remembered
 *   until it fails. If it fails, or nobody tries in the usual time, RoCE v1 is the first again. So
 *   two ends that disagree, because one has restarted, begin with RoCE v1 together when that time
 *   is over.
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "smc_compat.h"
#include "rdma/smc_event.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_net.h"
#include "group/smc_peer.h"
#include "control/smc_trace.h"

#define SMC_PEER_SLOTS		512	/* half of them for hosts */

/* Numbers of failures, documented in Documentation/operations.md */
#define SMC_PEER_DECLINES	8U	/* the first pause, a 64th of peer_memory_ms */
#define SMC_PEER_LOST		11U	/* an eighth */
#define SMC_PEER_ALL		14U	/* all of it */

#define SMC_PEER_TRUST_MS	10000	/* after a connection that used RDMA */

/* The version of RoCE for links of version 1 to a host. */
enum smc_peer_roce {
	SMC_PEER_ROCE_V1,	/* or nothing is known */
	SMC_PEER_ROCE_TRY_V2,	/* RoCE v1 failed a moment ago */
	SMC_PEER_ROCE_V2,	/* RoCE v2 has worked since then */
};

/* Failures with the same subject share an entry. */
static const struct smc_peer_rule {
	u8 subject;
	u8 failures;	/* at least */
} smc_peer_rules[] = {
	[SMC_PEER_FIRST_CONTACT]	= { SMC_PEER_FIRST_CONTACT, SMC_PEER_ALL },
	[SMC_PEER_HAS_WORKED]		= { SMC_PEER_FIRST_CONTACT, SMC_PEER_LOST },
	[SMC_PEER_ROUTED_PATH]		= { SMC_PEER_ROUTED_PATH, SMC_PEER_ALL },
	[SMC_PEER_CLIENT]		= { SMC_PEER_CLIENT, SMC_PEER_DECLINES - 1 },
	[SMC_PEER_DECLINED]		= { SMC_PEER_DECLINED, 1 },
	[SMC_PEER_UNANSWERED]		= { SMC_PEER_DECLINED, SMC_PEER_ALL },
	[SMC_PEER_REFUSED]		= { SMC_PEER_DECLINED, SMC_PEER_DECLINES },
};

/**
 * struct smc_peer_slot - what is remembered of a host or service
 * @id: keyed hash of its name; even for paths only, which so have slots of their own
 * @addr: its address, IPv4 mapped, for people
 * @reason: why the last connection became TCP
 * @diagnosis: code of the service's Decline, if any
 * @changes: smc_ib_changes() at that time
 * @ms: how long connections use TCP from @since on, together with the present peer_memory_ms; or 0
 * @since: jiffies of the last failure, or of the last success where @failures is 0
 * @port: of a service, for people
 * @failure: the last &enum smc_peer_failure
 * @failures: number in a row
 * @roce: of paths: &enum smc_peer_roce, whatever @failures
 */
struct smc_peer_slot {
	u64 id;
	struct in6_addr addr;
	enum smc_decline reason;
	u32 diagnosis;
	int changes;
	unsigned int ms;
	unsigned long since;
	u16 port;
	u8 failure;
	u8 failures;
	u8 roce;
};

struct smc_peer_memory {
	spinlock_t lock;		/* guards @slot */
	bool has_roce;			/* RoCE v1 has failed once */
	siphash_key_t key;
	struct smc_peer_slot slot[SMC_PEER_SLOTS];
};

/* documented in Documentation/operations.md */
static_assert(sizeof(struct smc_peer_memory) < 34 << 10);

/**
 * smc_peer_prepare() - allocate the cache of a namespace, before its first socket
 * @net: the namespace; without memory nothing is remembered
 *
 * Context: Process context, may sleep.
 */
void smc_peer_prepare(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);
	struct smc_peer_memory *mem;

	if (READ_ONCE(sn->peer_memory))
		return;
	mem = kvzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	if (!mem)
		return;
	spin_lock_init(&mem->lock);
	get_random_bytes(&mem->key, sizeof(mem->key));
	/* pairs with smp_load_acquire() in peer_memory_of() */
	if (cmpxchg(&sn->peer_memory, NULL, mem))
		kvfree(mem);
}

/**
 * smc_peer_exit_net() - undo smc_peer_prepare(), if it was called
 * @net: the namespace
 *
 * Context: Process context, may sleep.
 */
void smc_peer_exit_net(struct net *net)
{
	kvfree(smc_net(net)->peer_memory);
}

/* NULL in a namespace that never had a socket of ours. */
static struct smc_peer_memory *peer_memory_of(const struct net *net)
{
	/* pairs with cmpxchg() in smc_peer_prepare() */
	return smp_load_acquire(&smc_net(net)->peer_memory);
}

static u64 peer_id(const struct smc_peer_memory *mem, enum smc_peer_failure failure,
		   const struct in6_addr *peer, u16 port)
{
	u8 subject = smc_peer_rules[failure].subject;
	struct {
		struct in6_addr addr;
		u32 rest;
	} name = { .addr = *peer, .rest = subject << 16 | port };
	u64 id = siphash(&name, sizeof(name), &mem->key);

	return subject == SMC_PEER_FIRST_CONTACT ? id & ~1ULL : id | 1;
}

static struct smc_peer_slot *peer_slot(struct smc_peer_memory *mem, u64 id)
{
	return &mem->slot[id % SMC_PEER_SLOTS];
}

static unsigned int peer_memory_ms(const struct net *net)
{
	return READ_ONCE(smc_net(net)->set.peer_memory_ms);
}

/* Also true after jiffies have wrapped. */
static bool peer_is_ago(unsigned long then, unsigned int ms)
{
	return jiffies - then >= msecs_to_jiffies(ms);
}

/* A lower peer_memory_ms applies to old entries, a higher one does not. */
static bool peer_is_over(const struct net *net, const struct smc_peer_slot *slot)
{
	return !slot->ms || slot->changes != smc_ib_changes() ||
	       peer_is_ago(slot->since, min(slot->ms, peer_memory_ms(net)));
}

static bool peer_is_trusted(const struct smc_peer_slot *slot, u64 id)
{
	return slot->id == id && !slot->failures && !peer_is_ago(slot->since, SMC_PEER_TRUST_MS);
}

static unsigned int peer_pause_ms(const struct net *net, unsigned int failures)
{
	if (failures < SMC_PEER_DECLINES)
		return 0;
	return max(peer_memory_ms(net) >> (SMC_PEER_ALL - failures), 1U);
}

/* The new number of failures in a row, 0 to ignore this one. */
static unsigned int peer_count(const struct net *net, const struct smc_peer_slot *slot, u64 id,
			       enum smc_peer_failure failure)
{
	unsigned int failures = smc_peer_rules[failure].failures;
	bool is_same = slot->id == id && slot->changes == smc_ib_changes();

	if (peer_is_trusted(slot, id) && smc_peer_rules[failure].subject == SMC_PEER_DECLINED)
		return failure == SMC_PEER_UNANSWERED ? SMC_PEER_DECLINES : 0;
	/* a suspicion replaces nothing that lasts, and no other failure counts on from one */
	if (failure == SMC_PEER_REFUSED)
		return peer_is_over(net, slot) || slot->failure == failure ? failures : 0;
	/* begun before the pause */
	if (failure == SMC_PEER_DECLINED && is_same && !peer_is_over(net, slot))
		return 0;
	if (!is_same || !slot->failures || slot->failure == SMC_PEER_REFUSED)
		return failures;
	if (failure == SMC_PEER_CLIENT)
		return SMC_PEER_ALL;
	return min(max(slot->failures + 1U, failures), SMC_PEER_ALL);
}

/* True if the next connection would be declined as well. */
static bool peer_is_lasting(enum smc_decline reason, u32 diagnosis)
{
	if (reason != SMC_DECLINE_PEERDECL)
		return reason == SMC_DECLINE_CNFERR || reason == SMC_DECLINE_IPSEC ||
		       reason == SMC_DECLINE_NOSMCRDEV || reason == SMC_DECLINE_DIFFPREFIX ||
		       reason == SMC_DECLINE_UNFIT;
	switch (diagnosis) {
	case SMC_DECLINE_CNFERR:
	case SMC_DECLINE_IPSEC:
	case SMC_DECLINE_NOSMCDEV ... SMC_DECLINE_NOUEID:
	case SMC_DECLINE_MODEUNSUPP:
	case SMC_DECLINE_OPTUNSUPP:
	case SMC_DECLINE_DIFFPREFIX:
	case SMC_DECLINE_VERSMISMAT:
	case SMC_DECLINE_UNFIT:
		return true;
	default:
		return false;
	}
}

static void peer_report(struct net *net, const struct smc_peer_slot *slot)
{
	bool is_service = smc_peer_rules[slot->failure].subject == SMC_PEER_DECLINED;

	smc_stat_inc(net, is_service ? SMC_STAT_SERVICE_PAUSED : SMC_STAT_PEER_REMEMBERED);
	trace_smc_peer_failed(net, &slot->addr, slot->port, slot->reason, slot->diagnosis,
			      slot->ms);
	smc_event_send(&(struct smc_event){
		.cmd = is_service ? SMC_NETLINK_EVENT_SERVICE : SMC_NETLINK_EVENT_PEER,
		.net = net, .peer = &slot->addr, .port = htons(slot->port),
		.reason = slot->reason, .diagnosis = slot->diagnosis, .ms = slot->ms });
}

/**
 * smc_peer_failed() - note a failure
 * @net: the namespace
 * @failure: what failed
 * @peer: the host's IP address, IPv4 mapped
 * @port: of a service, else 0
 * @reason: reason of the connections that follow; SMC_DECLINE_PEERDECL if the peer declined
 * @diagnosis: the peer's code in that case
 *
 * Declines for a reason that will pass do not count. The cache is bounded: a new entry may replace
 * another one.
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_failed(struct net *net, enum smc_peer_failure failure, const struct in6_addr *peer,
		     u16 port, enum smc_decline reason, u32 diagnosis)
{
	struct smc_peer_memory *mem = peer_memory_of(net);
	struct smc_peer_slot new = {
		.addr = *peer, .port = port, .failure = failure, .reason = reason,
		.diagnosis = diagnosis, .changes = smc_ib_changes(), .since = jiffies,
	};
	struct smc_peer_slot *slot;

	if (!mem || !peer_memory_ms(net) ||
	    (failure == SMC_PEER_DECLINED && !peer_is_lasting(reason, diagnosis)))
		return;
	new.id = peer_id(mem, failure, peer, port);
	slot = peer_slot(mem, new.id);
	scoped_guard(spinlock_bh, &mem->lock) {
		new.failures = peer_count(net, slot, new.id, failure);
		if (!new.failures)
			return;
		new.ms = peer_pause_ms(net, new.failures);
		if (slot->id == new.id && failure != SMC_PEER_FIRST_CONTACT)
			new.roce = slot->roce;
		*slot = new;
	}
	if (new.ms && failure != SMC_PEER_REFUSED)
		peer_report(net, &new);
}

/**
 * smc_peer_works() - note that a service uses RDMA, or that a client sent a Proposal
 * @net: the namespace
 * @failure: what did not fail: SMC_PEER_DECLINED or SMC_PEER_CLIENT
 * @peer: the host's IP address, IPv4 mapped
 * @port: of a service, else 0
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_works(struct net *net, enum smc_peer_failure failure, const struct in6_addr *peer,
		    u16 port)
{
	struct smc_peer_memory *mem = peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem)
		return;
	id = peer_id(mem, failure, peer, port);
	slot = peer_slot(mem, id);
	/* most clients have no entry: take no lock for them. Success counts of services only. */
	if (smc_peer_rules[failure].subject != SMC_PEER_DECLINED && data_race(slot->id) != id)
		return;
	guard(spinlock_bh)(&mem->lock);
	/* what is remembered of another one counts more */
	if (slot->id == id || !slot->failures)
		*slot = (struct smc_peer_slot){
			.id = id, .addr = *peer, .port = port, .since = jiffies,
		};
}

/**
 * smc_peer_works_on_tcp() - note what became of a connection without the TCP option
 * @net: the namespace
 * @peer: the service's IP address, IPv4 mapped
 * @port: its port
 * @works: it is connected; or it had no answer or was refused
 *
 * After SMC_PEER_REFUSED it shows whether the option was the reason.
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_works_on_tcp(struct net *net, const struct in6_addr *peer, u16 port, bool works)
{
	struct smc_peer_memory *mem = peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem)
		return;
	id = peer_id(mem, SMC_PEER_REFUSED, peer, port);
	slot = peer_slot(mem, id);
	scoped_guard(spinlock_bh, &mem->lock)
		if (slot->id != id || slot->failure != SMC_PEER_REFUSED || !slot->failures)
			return;
	if (works)
		smc_peer_failed(net, SMC_PEER_UNANSWERED, peer, port, SMC_DECLINE_PEERNOSMC, 0);
	else
		smc_peer_works(net, SMC_PEER_REFUSED, peer, port);
}

/* At least 1 ms old: what is remembered was not found now. */
static void peer_read(const struct net *net, const struct smc_peer_slot *slot,
		      struct smc_peer_entry *entry)
{
	u32 age_ms = max(jiffies_to_msecs(jiffies - slot->since), 1U);
	u32 ms = min(slot->ms, peer_memory_ms(net));

	*entry = (struct smc_peer_entry){
		.addr = slot->addr, .port = slot->port, .failure = slot->failure,
		.reason = slot->reason, .diagnosis = slot->diagnosis, .age_ms = age_ms,
		.left_ms = ms > age_ms ? ms - age_ms : 0,
	};
}

/**
 * smc_peer_recall() - check whether something failed lately
 * @net: the namespace
 * @failure: what; SMC_PEER_HAS_WORKED for any path, SMC_PEER_DECLINED for anything of a service
 * @peer: the host's IP address, IPv4 mapped
 * @port: of a service, else 0
 * @entry: filled if there is a reason
 *
 * A peer that has proposed expects a path, so only SMC_PEER_FIRST_CONTACT counts against it.
 *
 * Context: Any context but hard interrupt.
 * Return: the reason, or SMC_DECLINE_NONE.
 */
enum smc_decline smc_peer_recall(struct net *net, enum smc_peer_failure failure,
				 const struct in6_addr *peer, u16 port,
				 struct smc_peer_entry *entry)
{
	struct smc_peer_memory *mem = peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem)
		return SMC_DECLINE_NONE;
	id = peer_id(mem, failure, peer, port);
	slot = peer_slot(mem, id);
	/* most connections find no entry: take no lock for them */
	if (!data_race(slot->ms))
		return SMC_DECLINE_NONE;
	guard(spinlock_bh)(&mem->lock);
	/* for good, but for the count */
	if (peer_is_over(net, slot))
		slot->ms = 0;
	if (!slot->ms || slot->id != id ||
	    (failure == SMC_PEER_FIRST_CONTACT && slot->failure != failure))
		return SMC_DECLINE_NONE;
	peer_read(net, slot, entry);
	return slot->reason;
}

/* Expects the lock held. A trial that nobody made is over after the time of a failure. */
static bool peer_slot_needs_v2(const struct net *net, const struct smc_peer_slot *slot)
{
	return slot->roce == SMC_PEER_ROCE_V2 ||
	       (slot->roce == SMC_PEER_ROCE_TRY_V2 &&
		!peer_is_ago(slot->since, peer_memory_ms(net)));
}

/**
 * smc_peer_try_v2() - note that a first contact of version 1 failed by its path
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 *
 * Context: Any context but hard interrupt.
 * Return: true if the next one shall use RoCE v2; false if this one did already, or nothing is
 *	remembered in this namespace: then the caller calls smc_peer_failed().
 */
bool smc_peer_try_v2(struct net *net, const struct in6_addr *peer)
{
	struct smc_peer_memory *mem = peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem || !peer_memory_ms(net))
		return false;
	id = peer_id(mem, SMC_PEER_FIRST_CONTACT, peer, 0);
	slot = peer_slot(mem, id);
	guard(spinlock_bh)(&mem->lock);
	if (slot->id == id && peer_slot_needs_v2(net, slot))
		return false;
	WRITE_ONCE(mem->has_roce, true);
	*slot = (struct smc_peer_slot){
		.id = id, .addr = *peer, .since = jiffies, .roce = SMC_PEER_ROCE_TRY_V2,
	};
	return true;
}

/**
 * smc_peer_needs_v2() - check whether RoCE v1 failed to reach a host
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 *
 * Context: Any context but hard interrupt.
 * Return: true if links of version 1 shall use RoCE v2 where they can.
 */
bool smc_peer_needs_v2(struct net *net, const struct in6_addr *peer)
{
	struct smc_peer_memory *mem = peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	/* most namespaces have no such host: no hash for them */
	if (!mem || !READ_ONCE(mem->has_roce))
		return false;
	id = peer_id(mem, SMC_PEER_FIRST_CONTACT, peer, 0);
	slot = peer_slot(mem, id);
	guard(spinlock_bh)(&mem->lock);
	return slot->id == id && peer_slot_needs_v2(net, slot);
}

/**
 * smc_peer_group_up() - note that an RDMA path to a host works
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 * @is_routed: it is the routed path
 * @is_v2: its links use RoCE v2
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_group_up(struct net *net, const struct in6_addr *peer, bool is_routed, bool is_v2)
{
	struct smc_peer_memory *mem = peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem)
		return;
	if (is_routed)
		smc_peer_works(net, SMC_PEER_ROUTED_PATH, peer, 0);
	id = peer_id(mem, SMC_PEER_FIRST_CONTACT, peer, 0);
	slot = peer_slot(mem, id);
	guard(spinlock_bh)(&mem->lock);
	if (slot->id != id)
		return;
	slot->failures = 0;
	slot->ms = 0;
	/* a routed path says nothing about the choice of version 1 */
	if (!is_routed && slot->roce)
		slot->roce = is_v2 ? SMC_PEER_ROCE_V2 : SMC_PEER_ROCE_V1;
}

/**
 * smc_peer_next() - read the entries for which connections use TCP
 * @net: the namespace
 * @pos: where to continue, 0 at first; updated
 * @entry: filled
 *
 * Context: Any context but hard interrupt.
 * Return: false at the end.
 */
bool smc_peer_next(struct net *net, unsigned int *pos, struct smc_peer_entry *entry)
{
	struct smc_peer_memory *mem = peer_memory_of(net);
	const struct smc_peer_slot *slot;

	if (!mem)
		return false;
	guard(spinlock_bh)(&mem->lock);
	while (*pos < SMC_PEER_SLOTS) {
		slot = &mem->slot[(*pos)++];
		if (peer_is_over(net, slot))
			continue;
		peer_read(net, slot, entry);
		return true;
	}
	return false;
}

/**
 * smc_peer_clear() - remove entries at the user's request
 * @net: the namespace
 * @addr: address of the host, IPv4 mapped; NULL for all
 * @port: of a service on it; 0 for the host and all its services
 *
 * Context: Any context but hard interrupt.
 * Return: the number of removed entries for which connections used TCP.
 */
unsigned int smc_peer_clear(struct net *net, const struct in6_addr *addr, u16 port)
{
	struct smc_peer_memory *mem = peer_memory_of(net);
	unsigned int i, nr = 0;

	if (!mem)
		return 0;
	guard(spinlock_bh)(&mem->lock);
	for (i = 0; i < SMC_PEER_SLOTS; i++) {
		struct smc_peer_slot *slot = &mem->slot[i];

		if ((addr && !ipv6_addr_equal(addr, &slot->addr)) || (port && port != slot->port))
			continue;
		nr += !peer_is_over(net, slot);
		/* an agreement of the past does not count any more, either */
		memset(slot, 0, sizeof(*slot));
	}
	return nr;
}
