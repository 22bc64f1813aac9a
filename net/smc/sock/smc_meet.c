// SPDX-License-Identifier: GPL-2.0
/*
 * How the two ends of a connection on this host find each other.
 *
 * Operation: a client enters itself in a table in TCP's state callback, before TCP sends the
 * acknowledgment that completes the three-way handshake. The server's child is born by that
 * segment, in the same kernel, and marks the entry: so a client knows whether its server is on
 * this host before it sends a byte. The server's handshake makes the memory that both share and
 * links the two ends. The client joins it, and the server waits until connect() has its outcome:
 * with TCP that precedes accept(), and programs rely on it. Either end may leave at any time.
 *
 * Security: an entry is made by this kernel for a socket of this host, and found by the initial
 * sequence numbers of both directions. A relay may give its two connections the same numbers. Then
 * the real client and server find each other, and the relay sees nothing.
 *
 * Locks: smc_meet_lock guards the table and both ends. It is a leaf, and taken in softirq. A state
 * that is found in the table stays valid for the RCU read section, since its socket leaves first.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/log2.h>
#include <linux/once.h>
#include <linux/sizes.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_net.h"
#include "group/smc_pair.h"
#include "sock/smc_meet.h"
#include "sock/smc_sock.h"

/* Bytes of a ring without SO_RCVBUF: both ends need not take turns. */
#define SMC_MEET_RING		SZ_1M

/* Limits of it. */
#define SMC_MEET_MIN_RING	SZ_64K
#define SMC_MEET_MAX_RING	SZ_512M

static DEFINE_SPINLOCK(smc_meet_lock);
static DEFINE_HASHTABLE(smc_meet_table, 8);
/* Clients in it; read without the lock by children, most of which have none to look for. */
static unsigned int smc_meet_nr;

/* The own end reads it without the lock, to see whether it takes part. */
static void meet_set(struct smc_sock *smc, enum smc_meet_state state)
{
	lockdep_assert_held(&smc_meet_lock);
	WRITE_ONCE(smc->meet.state, state);
}

/* Seeded, because a peer chooses its own number and knows the other. */
static u32 meet_hash(const struct smc_meet_key *key)
{
	static u32 seed __read_mostly;

	get_random_once(&seed, sizeof(seed));
	return jhash_2words(key->client_seq, key->server_seq, seed);
}

static struct smc_sock *meet_find_client(const struct smc_meet_key *key)
{
	struct smc_sock *client;

	lockdep_assert_held(&smc_meet_lock);
	hash_for_each_possible(smc_meet_table, client, meet.node, meet_hash(key))
		if (!memcmp(&client->meet.key, key, sizeof(*key)))
			return client;
	return NULL;
}

static void meet_get_key(const struct sock *sk, enum smc_role role, struct smc_meet_key *key)
{
	u32 own = READ_ONCE(tcp_sk(sk)->write_seq);
	u32 peers = READ_ONCE(tcp_sk(sk)->copied_seq);

	key->client_seq = role == SMC_ROLE_CLIENT ? own : peers;
	key->server_seq = role == SMC_ROLE_CLIENT ? peers : own;
}

/* Each end has a say, and may be in a namespace of its own. */
static bool meet_is_allowed(const struct net *client, const struct net *server)
{
	int one = READ_ONCE(smc_net(client)->set.memory);
	int other = READ_ONCE(smc_net(server)->set.memory);

	if (net_eq(client, server))
		return one != SMC_MEMORY_OFF;
	return one == SMC_MEMORY_HOST && other == SMC_MEMORY_HOST;
}

/* The client of a server's key that nobody has taken or refused, and that settings allow. */
static struct smc_sock *meet_find_free(const struct smc_meet_key *key, const struct net *net)
{
	struct smc_sock *client = meet_find_client(key);

	if (!client || (client->meet.state != SMC_MEET_OFFERED &&
			client->meet.state != SMC_MEET_MET) ||
	    !meet_is_allowed(sock_net(client->sk), net))
		return NULL;
	return client;
}

/**
 * smc_meet_ring_size() - bytes of the ring that one end reads
 * @sk: TCP's sock of that end
 *
 * It limits what is unread, and takes no memory by itself. SO_RCVBUF stores twice the requested
 * size.
 *
 * Context: Any context.
 * Return: a power of two.
 */
u32 smc_meet_ring_size(const struct sock *sk)
{
	u32 size = SMC_MEET_RING;

	if (sk->sk_userlocks & SOCK_RCVBUF_LOCK)
		size = READ_ONCE(sk->sk_rcvbuf) / 2;
	return roundup_pow_of_two(clamp_t(u32, size, SMC_MEET_MIN_RING, SMC_MEET_MAX_RING));
}

/**
 * smc_meet_enter() - let a server on this host find a client
 * @smc: the client, connected on TCP, before the first byte and before TCP's acknowledgment
 *
 * Context: TCP's state callback. Takes smc_meet_lock.
 * Return: true if it is in the table until smc_meet_leave(); false if it still is from an earlier
 *	   attempt, or another connection has the same key.
 */
bool smc_meet_enter(struct smc_sock *smc)
{
	const struct sock *sk = smc->sk;
	struct smc_meet *meet = &smc->meet;
	u32 size = smc_meet_ring_size(sk);
	struct smc_meet_key key;

	meet_get_key(sk, SMC_ROLE_CLIENT, &key);
	guard(spinlock_bh)(&smc_meet_lock);
	if (meet->state != SMC_MEET_NONE || meet_find_client(&key))
		return false;
	meet->key = key;
	meet->ring_size = size;
	meet_set(smc, SMC_MEET_OFFERED);
	hash_add(smc_meet_table, &meet->node, meet_hash(&key));
	WRITE_ONCE(smc_meet_nr, smc_meet_nr + 1);
	return true;
}

/* What the other end sees of one that leaves. Return: a pair that the client did not fetch. */
static struct smc_pair *meet_part(struct smc_sock *smc, struct smc_sock *other)
{
	struct smc_sock *client = hlist_unhashed(&smc->meet.node) ? other : smc;
	struct smc_pair *pair;

	lockdep_assert_held(&smc_meet_lock);
	if (other) {
		other->meet.other = NULL;
		if (smc->meet.state != SMC_MEET_JOINED)
			meet_set(other, SMC_MEET_REFUSED);
		else if (smc == client)
			meet_set(other, SMC_MEET_DONE);
	}
	if (!client)
		return NULL;
	pair = client->meet.pair;
	client->meet.pair = NULL;
	return pair;
}

/* Return: true if the other end counts on this one. */
static bool meet_is_bound(const struct smc_meet *meet)
{
	lockdep_assert_held(&smc_meet_lock);
	if (hlist_unhashed(&meet->node))
		return meet->state == SMC_MEET_JOINED || meet->state == SMC_MEET_DONE;
	return meet->state == SMC_MEET_TAKEN || meet->state == SMC_MEET_JOINED;
}

static bool meet_leave(struct smc_sock *smc, bool must_leave)
{
	struct smc_meet *meet = &smc->meet;
	struct smc_sock *other;
	struct smc_pair *pair;

	guard(rcu)();
	scoped_guard(spinlock_bh, &smc_meet_lock) {
		if (!must_leave && meet_is_bound(meet))
			return false;
		other = meet->other;
		pair = meet_part(smc, other);
		if (!hlist_unhashed(&meet->node)) {
			hash_del(&meet->node);
			WRITE_ONCE(smc_meet_nr, smc_meet_nr - 1);
		}
		meet->other = NULL;
		meet_set(smc, SMC_MEET_NONE);
	}
	if (pair)
		smc_pair_put(pair);
	if (other)
		smc_sock_queue(other);
	return true;
}

/**
 * smc_meet_leave() - leave the table, or the client
 * @smc: either end; nothing happens to one that takes no part
 *
 * A server learns that connect() has its outcome, if the client has joined the pair. Before that
 * the end that stays is refused.
 *
 * Context: Process context. Takes smc_meet_lock.
 */
void smc_meet_leave(struct smc_sock *smc)
{
	/* only this end begins to take part */
	if (READ_ONCE(smc->meet.state) != SMC_MEET_NONE)
		meet_leave(smc, true);
}

/**
 * smc_meet_withdraw() - leave, unless the other end counts on this one
 * @smc: either end
 *
 * Context: Process context. Takes smc_meet_lock.
 * Return: true if it left; false for a client that has a pair, and for a server whose client has
 *	   joined that.
 */
bool smc_meet_withdraw(struct smc_sock *smc)
{
	return meet_leave(smc, false);
}

/**
 * smc_meet_get_state() - how far an end is
 * @smc: either end
 *
 * A change by the other end on which this one acts queues the handshake.
 *
 * Context: Process context. Takes smc_meet_lock.
 * Return: the state, which the other end may change at any time.
 */
enum smc_meet_state smc_meet_get_state(struct smc_sock *smc)
{
	/* only this end begins to take part */
	if (READ_ONCE(smc->meet.state) == SMC_MEET_NONE)
		return SMC_MEET_NONE;
	guard(spinlock_bh)(&smc_meet_lock);
	return smc->meet.state;
}

/**
 * smc_meet_birth() - tell a client that its server's child is in this kernel
 * @req: the request of the child
 * @net: its namespace
 *
 * Context: Any context but hard interrupt. Takes smc_meet_lock, unless the table is empty.
 */
void smc_meet_birth(const struct request_sock *req, const struct net *net)
{
	struct smc_sock *client;
	struct smc_meet_key key;

	if (!READ_ONCE(smc_meet_nr))
		return;
	key.client_seq = tcp_rsk(req)->rcv_isn + 1;
	key.server_seq = tcp_rsk(req)->snt_isn + 1;
	guard(rcu)();
	scoped_guard(spinlock_bh, &smc_meet_lock) {
		client = meet_find_client(&key);
		if (!client || client->meet.state != SMC_MEET_OFFERED)
			return;
		meet_set(client, meet_is_allowed(sock_net(client->sk), net) ?
				 SMC_MEET_MET : SMC_MEET_REFUSED);
		/* the server's handshake follows */
		if (client->meet.state == SMC_MEET_MET)
			return;
	}
	smc_sock_queue(client);
}

/**
 * smc_meet_expect() - prepare a server's child to meet its client
 * @smc: the child, before the first byte was sent or read
 *
 * Context: Process context. Takes smc_meet_lock, unless the table is empty.
 * Return: true if its client is on this host and waits.
 */
bool smc_meet_expect(struct smc_sock *smc)
{
	meet_get_key(smc->sk, SMC_ROLE_SERVER, &smc->meet.key);
	if (!READ_ONCE(smc_meet_nr))
		return false;
	guard(spinlock_bh)(&smc_meet_lock);
	return meet_find_free(&smc->meet.key, sock_net(smc->sk));
}

/**
 * smc_meet_find() - find the client of a server's child
 * @smc: the child, after smc_meet_expect()
 * @client_size: filled on success: bytes of the ring that the client reads
 *
 * Context: Process context. Takes smc_meet_lock, unless the table is empty.
 * Return: true if it is on this host and waits; it may leave at any time.
 */
bool smc_meet_find(struct smc_sock *smc, u32 *client_size)
{
	const struct smc_sock *client;

	if (!READ_ONCE(smc_meet_nr))
		return false;
	guard(spinlock_bh)(&smc_meet_lock);
	client = meet_find_free(&smc->meet.key, sock_net(smc->sk));
	if (!client)
		return false;
	*client_size = client->meet.ring_size;
	return true;
}

/**
 * smc_meet_refuse() - tell a client on this host that its server does not share memory
 * @smc: the server's child, after smc_meet_find()
 *
 * Context: Process context. Takes smc_meet_lock.
 */
void smc_meet_refuse(struct smc_sock *smc)
{
	struct smc_sock *client;

	guard(rcu)();
	scoped_guard(spinlock_bh, &smc_meet_lock) {
		client = meet_find_free(&smc->meet.key, sock_net(smc->sk));
		if (!client)
			return;
		meet_set(client, SMC_MEET_REFUSED);
	}
	smc_sock_queue(client);
}

/**
 * smc_meet_take() - give a client on this host the memory that it shares with its server
 * @smc: the server's child, after smc_meet_find()
 * @pair: the memory; a reference is consumed on success
 *
 * Context: Process context. Takes smc_meet_lock.
 * Return: false if the client has left.
 */
bool smc_meet_take(struct smc_sock *smc, struct smc_pair *pair)
{
	struct smc_sock *client;

	guard(rcu)();
	scoped_guard(spinlock_bh, &smc_meet_lock) {
		client = meet_find_free(&smc->meet.key, sock_net(smc->sk));
		if (!client)
			return false;
		client->meet.pair = pair;
		client->meet.other = smc;
		meet_set(client, SMC_MEET_TAKEN);
		smc->meet.other = client;
		meet_set(smc, SMC_MEET_TAKEN);
	}
	smc_sock_queue(client);
	return true;
}

/**
 * smc_meet_fetch() - get the memory that a client shares with its server
 * @smc: the client
 *
 * Context: Process context. Takes smc_meet_lock.
 * Return: the pair with a reference for the caller; NULL if the server has left.
 */
struct smc_pair *smc_meet_fetch(struct smc_sock *smc)
{
	struct smc_pair *pair;

	guard(spinlock_bh)(&smc_meet_lock);
	pair = smc->meet.pair;
	smc->meet.pair = NULL;
	return pair;
}

/**
 * smc_meet_confirm() - tell the server that its client has joined the pair
 * @smc: the client, whose connection is open
 *
 * Context: Process context. Takes smc_meet_lock.
 * Return: false if the server has left.
 */
bool smc_meet_confirm(struct smc_sock *smc)
{
	struct smc_sock *server;

	guard(rcu)();
	scoped_guard(spinlock_bh, &smc_meet_lock) {
		server = smc->meet.other;
		if (!server)
			return false;
		/* it goes on when this end leaves */
		meet_set(smc, SMC_MEET_JOINED);
		meet_set(server, SMC_MEET_JOINED);
	}
	return true;
}
