// SPDX-License-Identifier: GPL-2.0
/*
 * Negative cache: hosts whose RDMA path failed, services that decline SMC or that offers do not
 * reach, and clients that send no Proposal. Connections use TCP at once until the entry expires.
 *
 * Hosts:
 *   A blocked UDP port, an MTU hole or a cut path costs a connection seconds of handshake, so one
 *   failure is enough for an entry. A path that has worked may work again soon, and the peer, which
 *   may have restarted, knows more: its entry is shorter and does not apply to the peer's
 *   proposals. An entry for the routed path, whose first hop does not answer, only makes
 *   connections skip that path. A link group that comes up on a path removes the entry.
 *
 *   Where both versions of RoCE are possible, version 1 of SMC-R takes RoCE v1 first, and no
 *   message says which one a side uses. If that first contact fails, the next one uses RoCE v2, and
 *   is not TCP. Both ends see the failure, so both change. If RoCE v2 works, that is remembered
 *   until it fails. If it fails, or nobody tries in the usual time, RoCE v1 is the first again. So
 *   two ends that disagree, because one has restarted, begin with RoCE v1 together when that time
 *   is over.
 *
 * Services:
 *   A service that sends the TCP option and then no CLC message repeats options that it does not
 *   know, or a middlebox does. Each offer would fail connect(), so one failure makes an entry, as
 *   for a host. A server that restarts looks the same: after a connection that used RDMA the entry
 *   is short.
 *
 *   A middlebox may drop or refuse SYNs with an option that it does not know. A connection without
 *   the option proves it: by a later SYN of the same connect(), or by the next connect() after one
 *   that failed. If that one fails as well the service is down, and its failures do not count for
 *   some time.
 *
 *   A Decline costs over a quarter of a TCP connection (tools/bench). A program that opens many
 *   connections in a row must not pay for each, so several Declines in a row make a short entry. A
 *   service is an address and a port, with the socket's choice of path, since a host may have
 *   several. Several hosts may share one address: after a connection that used RDMA, Declines do
 *   not count for some time. Only reasons that apply to the next connection count.
 *
 * Clients:
 *   A middlebox may remove the option from SYN-ACKs. The client is TCP then, and this host waits
 *   for its Proposal. A host that sent none twice in a row gets no option.
 *
 * An entry ends early when a change of the local RNICs may have removed the cause.
 */
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>

#include "smc_compat.h"
#include "rdma/smc_event.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_net.h"
#include "rdma/smc_peer.h"
#include "observe/smc_trace.h"

#define SMC_PEER_SLOTS		512	/* half of them for hosts */

/* documented in Documentation/operations.md */
#define SMC_PEER_HAS_WORKED_DIV	6	/* of peer_memory_ms */
#define SMC_PEER_DECLINES	8	/* of a service, in a row */
#define SMC_PEER_PAUSE_MS	1000	/* without an offer; at most peer_memory_ms */
/* Longer than a pause: the first Decline after it begins the next one. */
#define SMC_PEER_ROW_MS		2000
#define SMC_PEER_TRUST_MS	10000	/* after a connection that used RDMA */

/* The version of RoCE for links of version 1 to a host. */
enum smc_peer_roce {
	SMC_PEER_ROCE_V1,	/* or nothing is known */
	SMC_PEER_ROCE_TRY_V2,	/* RoCE v1 failed a moment ago */
	SMC_PEER_ROCE_V2,	/* RoCE v2 has worked since then */
};

/**
 * struct smc_peer_slot - a host, a service or a client
 * @id: keyed hash of its name; even for hosts only, which so have slots of their own
 * @addr: its address, IPv4 mapped, for people
 * @port: of a service, for people
 * @reason: why the last connection became TCP
 * @diagnosis: code of the service's Decline, if any
 * @changes: smc_ib_changes() at that time
 * @max_age_ms: limit of the entry's age, together with the present peer_memory_ms
 * @since: jiffies of the last failure, or of the last success where @failures is 0
 * @failure: of a host or client; &enum smc_peer_failure
 * @is_suspect: of a service: a SYN with the option had no answer or was refused
 * @roce: of a host: &enum smc_peer_roce, whatever @failures
 * @failures: number in a row; connections use TCP from SMC_PEER_DECLINES on, which a host
 *	      reaches at once
 */
struct smc_peer_slot {
	u64 id;
	struct in6_addr addr;
	enum smc_decline reason;
	u32 diagnosis;
	int changes;
	unsigned int max_age_ms;
	unsigned long since;
	__be16 port;
	u8 failure;
	bool is_suspect;
	u8 roce;
	u8 failures;
};

struct smc_peer_memory {
	spinlock_t lock;		/* guards @slot */
	bool has_roce;			/* RoCE v1 has failed once */
	siphash_key_t key;
	struct smc_peer_slot slot[SMC_PEER_SLOTS];
};

/* documented in Documentation/operations.md */
static_assert(sizeof(struct smc_peer_memory) < 34 << 10);

/* Name of a service, with what selects the path to it. */
struct smc_peer_service {
	struct in6_addr to;	/* IPv4 as mapped address */
	struct in6_addr from;	/* of a socket that is bound */
	u32 mark;
	u32 uid;
	s32 ifindex;
	__be16 port;
	u16 tos;
};

/* no padding: all of it is hashed */
static_assert(sizeof(struct smc_peer_service) == 48);

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
	/* pairs with smp_load_acquire() in smc_peer_memory_of() */
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

/* NULL in a namespace that never had a socket of ours. */
static struct smc_peer_memory *smc_peer_memory_of(const struct net *net)
{
	/* pairs with cmpxchg() in smc_peer_prepare() */
	return smp_load_acquire(&smc_net(net)->peer_memory);
}

/* Of another length than the name of a service. */
static u64 smc_peer_client_id(const struct smc_peer_memory *mem, const struct in6_addr *peer)
{
	return siphash(peer, sizeof(*peer), &mem->key) | 1;
}

static u64 smc_peer_host_id(const struct smc_peer_memory *mem, const struct in6_addr *peer)
{
	return siphash(peer, sizeof(*peer), &mem->key) & ~1ULL;
}

/* The same before and after connect(). */
static struct smc_peer_service smc_peer_name_service(const struct sock *tsk,
						     const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	struct smc_peer_service name = {
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
	/* not an address that connect() chose; other bits there may be written meanwhile */
	if (data_race(tsk->sk_userlocks & SOCK_BINDADDR_LOCK)) {
		ipv6_addr_set_v4mapped(tsk->sk_rcv_saddr, &name.from);
#if IS_ENABLED(CONFIG_IPV6)
		if (tsk->sk_family == AF_INET6)
			name.from = tsk->sk_v6_rcv_saddr;
#endif
	}
	return name;
}

static u64 smc_peer_service_id(const struct smc_peer_memory *mem,
			       const struct smc_peer_service *name)
{
	return siphash(name, sizeof(*name), &mem->key) | 1;
}

static struct smc_peer_slot *smc_peer_find_slot(struct smc_peer_memory *mem, u64 id)
{
	return &mem->slot[id % SMC_PEER_SLOTS];
}

/* Also true after jiffies have wrapped. */
static bool smc_peer_is_ago(unsigned long then, unsigned int ms)
{
	return jiffies - then >= msecs_to_jiffies(ms);
}

/* A lower peer_memory_ms applies to old entries, a higher one does not. */
static unsigned int smc_peer_max_age_ms(const struct net *net, const struct smc_peer_slot *slot)
{
	unsigned int age_ms = READ_ONCE(smc_net(net)->set.peer_memory_ms);

	age_ms = min(age_ms, slot->max_age_ms);
	return slot->failure == SMC_PEER_HAS_WORKED ? age_ms / SMC_PEER_HAS_WORKED_DIV : age_ms;
}

static bool smc_peer_is_stale(const struct net *net, const struct smc_peer_slot *slot)
{
	return slot->changes != smc_ib_changes() ||
	       smc_peer_is_ago(slot->since, smc_peer_max_age_ms(net, slot));
}

/* At least 1: what is remembered was not found now. */
static u32 smc_peer_age_ms(const struct smc_peer_slot *slot)
{
	return max(jiffies_to_msecs(jiffies - slot->since), 1U);
}

/* Copies the entry of @id if there is one. */
static bool smc_peer_look_up(struct net *net, struct smc_peer_memory *mem, u64 id,
			     struct smc_peer_slot *copy)
{
	struct smc_peer_slot *slot = smc_peer_find_slot(mem, id);

	/* most connections find no entry: take no lock for them */
	if (data_race(slot->failures) < SMC_PEER_DECLINES)
		return false;
	guard(spinlock_bh)(&mem->lock);
	/* one more failure restores it */
	if (slot->failures == SMC_PEER_DECLINES && smc_peer_is_stale(net, slot))
		slot->failures--;
	*copy = *slot;
	return copy->failures == SMC_PEER_DECLINES && copy->id == id;
}

/* @ms: how long connections to the host use TCP */
static void peer_failed(struct net *net, const struct in6_addr *peer, enum smc_decline reason,
			u32 ms)
{
	smc_stat_inc(net, SMC_STAT_PEER_REMEMBERED);
	trace_smc_peer_failed(net, peer, reason, ms);
	smc_event_send(&(struct smc_event){
		.cmd = SMC_NETLINK_EVENT_PEER, .net = net, .peer = peer, .reason = reason,
		.ms = ms });
}

/* @name: the service of @addr */
static void service_paused(const struct sock *tsk, const struct sockaddr *addr,
			   const struct smc_peer_service *name, enum smc_decline reason,
			   u32 diagnosis, u32 ms)
{
	struct net *net = sock_net(tsk);

	smc_stat_inc(net, SMC_STAT_SERVICE_PAUSED);
	trace_smc_service_paused(tsk, addr, reason, diagnosis, ms);
	smc_event_send(&(struct smc_event){
		.cmd = SMC_NETLINK_EVENT_SERVICE, .net = net, .peer = &name->to,
		.port = name->port, .reason = reason, .diagnosis = diagnosis, .ms = ms });
}

/**
 * smc_peer_remember() - note that the RDMA path to a host failed
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 * @reason: fallback reason of the connections that follow
 * @failure: kind of failure
 *
 * The cache is bounded: a new host may replace another one.
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_remember(struct net *net, const struct in6_addr *peer, enum smc_decline reason,
		       enum smc_peer_failure failure)
{
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	unsigned int age_ms = READ_ONCE(smc_net(net)->set.peer_memory_ms);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem || !age_ms)
		return;
	id = smc_peer_host_id(mem, peer);
	slot = smc_peer_find_slot(mem, id);
	peer_failed(net, peer, reason, failure == SMC_PEER_HAS_WORKED ?
				       age_ms / SMC_PEER_HAS_WORKED_DIV : age_ms);
	guard(spinlock_bh)(&mem->lock);
	*slot = (struct smc_peer_slot){
		.id = id, .addr = *peer, .reason = reason, .changes = smc_ib_changes(),
		.max_age_ms = age_ms, .since = jiffies, .failure = failure,
		.failures = SMC_PEER_DECLINES,
		.roce = slot->id == id && failure != SMC_PEER_FIRST_CONTACT ? slot->roce :
									      SMC_PEER_ROCE_V1,
	};
}

/* Expects the lock held. A trial that nobody made is over after the time of a failure. */
static bool smc_peer_slot_needs_v2(const struct net *net, const struct smc_peer_slot *slot)
{
	return slot->roce == SMC_PEER_ROCE_V2 ||
	       (slot->roce == SMC_PEER_ROCE_TRY_V2 &&
		!smc_peer_is_ago(slot->since, smc_peer_max_age_ms(net, slot)));
}

/**
 * smc_peer_try_v2() - note that a first contact of version 1 failed by its path
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 *
 * Context: Any context but hard interrupt.
 * Return: true if the next one shall use RoCE v2; false if this one did already, or nothing is
 *	remembered in this namespace: then the caller calls smc_peer_remember().
 */
bool smc_peer_try_v2(struct net *net, const struct in6_addr *peer)
{
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	unsigned int age_ms = READ_ONCE(smc_net(net)->set.peer_memory_ms);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem || !age_ms)
		return false;
	id = smc_peer_host_id(mem, peer);
	slot = smc_peer_find_slot(mem, id);
	guard(spinlock_bh)(&mem->lock);
	if (slot->id == id && smc_peer_slot_needs_v2(net, slot))
		return false;
	WRITE_ONCE(mem->has_roce, true);
	*slot = (struct smc_peer_slot){
		.id = id, .addr = *peer, .max_age_ms = age_ms, .since = jiffies,
		.roce = SMC_PEER_ROCE_TRY_V2,
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
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	/* most namespaces have no such host: no hash for them */
	if (!mem || !READ_ONCE(mem->has_roce))
		return false;
	id = smc_peer_host_id(mem, peer);
	slot = smc_peer_find_slot(mem, id);
	guard(spinlock_bh)(&mem->lock);
	return slot->id == id && smc_peer_slot_needs_v2(net, slot);
}

/**
 * smc_peer_forget() - note that an RDMA path to a host works
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 * @is_routed: it is the routed path
 * @is_v2: its links use RoCE v2
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_forget(struct net *net, const struct in6_addr *peer, bool is_routed, bool is_v2)
{
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem)
		return;
	id = smc_peer_host_id(mem, peer);
	slot = smc_peer_find_slot(mem, id);
	/* most hosts have no entry: take no lock for them */
	if (!data_race(slot->failures) && !data_race(slot->roce))
		return;
	guard(spinlock_bh)(&mem->lock);
	if (slot->id != id)
		return;
	if (is_routed || slot->failure != SMC_PEER_ROUTED_PATH)
		slot->failures = 0;
	/* a routed path says nothing about the choice of version 1 */
	if (!is_routed && slot->roce)
		slot->roce = is_v2 ? SMC_PEER_ROCE_V2 : SMC_PEER_ROCE_V1;
}

/**
 * smc_peer_recall() - check whether the RDMA path to a host failed lately
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 * @is_client: this side would begin; otherwise the peer has proposed, so it expects a path
 * @age_ms: set to the age of the entry, not 0, if there is a reason
 *
 * Context: Any context but hard interrupt.
 * Return: the reason, or SMC_DECLINE_NONE.
 */
enum smc_decline smc_peer_recall(struct net *net, const struct in6_addr *peer, bool is_client,
				 u32 *age_ms)
{
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	struct smc_peer_slot slot;

	if (!mem || !smc_peer_look_up(net, mem, smc_peer_host_id(mem, peer), &slot) ||
	    slot.failure == SMC_PEER_ROUTED_PATH ||
	    (slot.failure == SMC_PEER_HAS_WORKED && !is_client))
		return SMC_DECLINE_NONE;
	*age_ms = smc_peer_age_ms(&slot);
	return slot.reason;
}

/**
 * smc_peer_recall_routed() - check whether the routed path to a host failed lately
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 *
 * Context: Any context but hard interrupt.
 * Return: true if only the routed path failed.
 */
bool smc_peer_recall_routed(struct net *net, const struct in6_addr *peer)
{
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	struct smc_peer_slot slot;

	return mem && smc_peer_look_up(net, mem, smc_peer_host_id(mem, peer), &slot) &&
	       slot.failure == SMC_PEER_ROUTED_PATH;
}

/* True if the next connection would be declined as well. */
static bool smc_peer_is_lasting(enum smc_decline reason, u32 diagnosis)
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

/* Expects the lock held. */
static bool smc_peer_is_trusted(const struct smc_peer_slot *slot, u64 id)
{
	return slot->id == id && !slot->failures &&
	       !smc_peer_is_ago(slot->since, SMC_PEER_TRUST_MS);
}

/* Return: true if a pause begins. */
static bool smc_peer_count_decline(struct smc_peer_memory *mem,
				   const struct smc_peer_service *name, enum smc_decline reason,
				   u32 diagnosis)
{
	u64 id = smc_peer_service_id(mem, name);
	struct smc_peer_slot *slot = smc_peer_find_slot(mem, id);
	int failures = 0;

	guard(spinlock_bh)(&mem->lock);
	/* it has agreed lately */
	if (smc_peer_is_trusted(slot, id))
		return false;
	if (slot->id == id && !slot->is_suspect && slot->changes == smc_ib_changes() &&
	    !smc_peer_is_ago(slot->since, SMC_PEER_ROW_MS))
		failures = slot->failures;
	failures = min(failures + 1, SMC_PEER_DECLINES);
	*slot = (struct smc_peer_slot){
		.id = id, .addr = name->to, .port = name->port, .reason = reason,
		.diagnosis = diagnosis, .changes = smc_ib_changes(),
		.max_age_ms = SMC_PEER_PAUSE_MS, .since = jiffies, .failures = failures,
	};
	return failures == SMC_PEER_DECLINES;
}

/**
 * smc_peer_declined() - note that a connection to a service became TCP
 * @tsk: connected TCP socket, with its binding
 * @addr: address given to connect(), of either family
 * @reason: the reason; SMC_DECLINE_PEERDECL if the peer has declined
 * @diagnosis: the peer's code in that case
 *
 * The cache is bounded: a new service may replace another one.
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_declined(const struct sock *tsk, const struct sockaddr *addr,
		       enum smc_decline reason, u32 diagnosis)
{
	struct smc_peer_service name = smc_peer_name_service(tsk, addr);
	struct net *net = sock_net(tsk);
	struct smc_peer_memory *mem = smc_peer_memory_of(net);

	/* as where the peer does not know SMC */
	if (!mem || !smc_peer_is_lasting(reason, diagnosis) ||
	    !smc_peer_count_decline(mem, &name, reason, diagnosis))
		return;
	service_paused(tsk, addr, &name, reason, diagnosis,
		       min(SMC_PEER_PAUSE_MS, READ_ONCE(smc_net(net)->set.peer_memory_ms)));
}

/**
 * smc_peer_unanswered() - note that an offer to a service fails or delays connections
 * @tsk: TCP socket, with its binding
 * @addr: address given to connect(), of either family
 *
 * It sent the TCP option and no CLC message, or answered only a SYN without the option. One such
 * connection is enough. The cache is bounded.
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_unanswered(const struct sock *tsk, const struct sockaddr *addr)
{
	struct smc_peer_service name = smc_peer_name_service(tsk, addr);
	struct net *net = sock_net(tsk);
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	int age_ms = READ_ONCE(smc_net(net)->set.peer_memory_ms);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem || !age_ms)
		return;
	id = smc_peer_service_id(mem, &name);
	slot = smc_peer_find_slot(mem, id);
	scoped_guard(spinlock_bh, &mem->lock) {
		if (smc_peer_is_trusted(slot, id))
			age_ms = min(age_ms, SMC_PEER_PAUSE_MS);
		*slot = (struct smc_peer_slot){
			.id = id, .addr = name.to, .port = name.port,
			.reason = SMC_DECLINE_PEERNOSMC, .changes = smc_ib_changes(),
			.max_age_ms = age_ms, .since = jiffies, .failures = SMC_PEER_DECLINES,
		};
	}
	service_paused(tsk, addr, &name, SMC_DECLINE_PEERNOSMC, 0, age_ms);
}

/* Expects the lock held. True if the slot says something that lasts. */
static bool smc_peer_is_taken(const struct net *net, const struct smc_peer_slot *slot, u64 id)
{
	if (smc_peer_is_trusted(slot, id))
		return true;
	return slot->failures && !slot->is_suspect && !smc_peer_is_stale(net, slot) &&
	       (slot->id != id || slot->failures == SMC_PEER_DECLINES);
}

/**
 * smc_peer_refused() - note that connect() had no answer to its SYNs, or was refused
 * @tsk: TCP socket, with its binding
 * @addr: address given to connect(), of either family
 * @was_offered: all SYNs had the TCP option
 *
 * The next connection within a second offers nothing, and shows whether the option is the reason.
 * One that failed without it shows that it is not.
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_refused(const struct sock *tsk, const struct sockaddr *addr, bool was_offered)
{
	struct smc_peer_service name = smc_peer_name_service(tsk, addr);
	struct net *net = sock_net(tsk);
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem)
		return;
	id = smc_peer_service_id(mem, &name);
	slot = smc_peer_find_slot(mem, id);
	guard(spinlock_bh)(&mem->lock);
	if (was_offered && !smc_peer_is_taken(net, slot, id))
		*slot = (struct smc_peer_slot){
			.id = id, .addr = name.to, .port = name.port,
			.reason = SMC_DECLINE_PEERNOSMC, .changes = smc_ib_changes(),
			.max_age_ms = SMC_PEER_PAUSE_MS, .since = jiffies, .is_suspect = true,
			.failures = SMC_PEER_DECLINES,
		};
	else if (!was_offered && slot->id == id && slot->is_suspect)
		*slot = (struct smc_peer_slot){
			.id = id, .addr = name.to, .port = name.port, .since = jiffies,
		};
}

/**
 * smc_peer_reached() - note that a connection to a service works without the TCP option
 * @tsk: connected TCP socket, with its binding
 * @addr: address given to connect(), of either family
 *
 * After smc_peer_refused() later connections offer nothing, either.
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_reached(const struct sock *tsk, const struct sockaddr *addr)
{
	struct smc_peer_service name = smc_peer_name_service(tsk, addr);
	struct smc_peer_memory *mem = smc_peer_memory_of(sock_net(tsk));
	const struct smc_peer_slot *slot;
	bool is_suspect;
	u64 id;

	if (!mem)
		return;
	id = smc_peer_service_id(mem, &name);
	slot = smc_peer_find_slot(mem, id);
	scoped_guard(spinlock_bh, &mem->lock)
		is_suspect = slot->id == id && slot->is_suspect;
	if (is_suspect)
		smc_peer_unanswered(tsk, addr);
}

/**
 * smc_peer_agreed() - note that a connection to a service uses RDMA
 * @tsk: connected TCP socket, with its binding
 * @addr: address given to connect(), of either family
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_agreed(const struct sock *tsk, const struct sockaddr *addr)
{
	struct smc_peer_memory *mem = smc_peer_memory_of(sock_net(tsk));
	struct smc_peer_service name = smc_peer_name_service(tsk, addr);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem)
		return;
	id = smc_peer_service_id(mem, &name);
	slot = smc_peer_find_slot(mem, id);
	guard(spinlock_bh)(&mem->lock);
	/* what is remembered of another service counts more */
	if (slot->id == id || !slot->failures)
		*slot = (struct smc_peer_slot){
			.id = id, .addr = name.to, .port = name.port, .since = jiffies,
		};
}

/**
 * smc_peer_recall_service() - check whether a service would decline an offer
 * @tsk: TCP socket that will be connected, with its binding
 * @addr: address for connect(), of either family
 * @diagnosis: set to the peer's code with SMC_DECLINE_PEERDECL
 * @age_ms: set to the age of the entry, not 0, if there is a reason
 *
 * Context: Any context but hard interrupt.
 * Return: the reason, or SMC_DECLINE_NONE.
 */
enum smc_decline smc_peer_recall_service(const struct sock *tsk, const struct sockaddr *addr,
					 u32 *diagnosis, u32 *age_ms)
{
	struct smc_peer_service name = smc_peer_name_service(tsk, addr);
	struct net *net = sock_net(tsk);
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	struct smc_peer_slot slot;

	if (!mem || !smc_peer_look_up(net, mem, smc_peer_service_id(mem, &name), &slot))
		return SMC_DECLINE_NONE;
	*diagnosis = slot.diagnosis;
	*age_ms = smc_peer_age_ms(&slot);
	return slot.reason;
}

/* Return: true if it is not the first in a row. */
static bool smc_peer_count_silence(struct net *net, struct smc_peer_memory *mem,
				   const struct in6_addr *peer, unsigned int age_ms)
{
	u64 id = smc_peer_client_id(mem, peer);
	struct smc_peer_slot *slot = smc_peer_find_slot(mem, id);
	int failures = 1;

	guard(spinlock_bh)(&mem->lock);
	if (slot->id == id && slot->failures && !smc_peer_is_stale(net, slot))
		failures = SMC_PEER_DECLINES;
	*slot = (struct smc_peer_slot){
		.id = id, .addr = *peer, .reason = SMC_DECLINE_PEERNOSMC,
		.changes = smc_ib_changes(), .max_age_ms = age_ms, .since = jiffies,
		.failure = SMC_PEER_CLIENT, .failures = failures,
	};
	return failures == SMC_PEER_DECLINES;
}

/**
 * smc_peer_silent() - note that a client with the TCP option sent no Proposal
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 *
 * It sent nothing, or the bytes of an application. The cache is bounded.
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_silent(struct net *net, const struct in6_addr *peer)
{
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	unsigned int age_ms = READ_ONCE(smc_net(net)->set.peer_memory_ms);

	if (!mem || !age_ms || !smc_peer_count_silence(net, mem, peer, age_ms))
		return;
	peer_failed(net, peer, SMC_DECLINE_PEERNOSMC, age_ms);
}

/**
 * smc_peer_proposed() - note that a client sent a Proposal
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 *
 * Context: Any context but hard interrupt.
 */
void smc_peer_proposed(struct net *net, const struct in6_addr *peer)
{
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	struct smc_peer_slot *slot;
	u64 id;

	if (!mem)
		return;
	id = smc_peer_client_id(mem, peer);
	slot = smc_peer_find_slot(mem, id);
	/* most clients have no entry: take no lock for them */
	if (data_race(slot->id) != id)
		return;
	guard(spinlock_bh)(&mem->lock);
	if (slot->id == id)
		memset(slot, 0, sizeof(*slot));
}

/**
 * smc_peer_recall_client() - check whether a client sends no Proposals
 * @net: the namespace
 * @peer: its IP address, IPv4 mapped
 *
 * Context: Any context but hard interrupt.
 * Return: true if its SYNs are to be answered without the TCP option.
 */
bool smc_peer_recall_client(struct net *net, const struct in6_addr *peer)
{
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	struct smc_peer_slot slot;

	return mem && smc_peer_look_up(net, mem, smc_peer_client_id(mem, peer), &slot);
}

/* Expects the lock held. Return: true if connections use TCP for the entry. */
static bool smc_peer_counts(const struct net *net, const struct smc_peer_slot *slot)
{
	return slot->failures == SMC_PEER_DECLINES && !smc_peer_is_stale(net, slot);
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
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	const struct smc_peer_slot *slot;
	u32 age_ms, max_ms;

	if (!mem)
		return false;
	guard(spinlock_bh)(&mem->lock);
	while (*pos < SMC_PEER_SLOTS) {
		slot = &mem->slot[(*pos)++];
		if (!smc_peer_counts(net, slot))
			continue;
		age_ms = smc_peer_age_ms(slot);
		max_ms = smc_peer_max_age_ms(net, slot);
		*entry = (struct smc_peer_entry){
			.addr = slot->addr, .port = ntohs(slot->port), .failure = slot->failure,
			.reason = slot->reason, .diagnosis = slot->diagnosis, .age_ms = age_ms,
			.left_ms = max_ms > age_ms ? max_ms - age_ms : 0,
		};
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
	struct smc_peer_memory *mem = smc_peer_memory_of(net);
	unsigned int i, nr = 0;

	if (!mem)
		return 0;
	guard(spinlock_bh)(&mem->lock);
	for (i = 0; i < SMC_PEER_SLOTS; i++) {
		struct smc_peer_slot *slot = &mem->slot[i];

		if ((addr && !ipv6_addr_equal(addr, &slot->addr)) ||
		    (port && port != ntohs(slot->port)))
			continue;
		nr += smc_peer_counts(net, slot);
		/* an agreement of the past does not count any more, either */
		memset(slot, 0, sizeof(*slot));
	}
	return nr;
}
