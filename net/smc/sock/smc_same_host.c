// SPDX-License-Identifier: GPL-2.0
/*
 * How the two ends of a connection find out that they are on one host.
 *
 * Operation:
 *   A client whose namespace allows it enters its handshake in a table before
 *   it sends the Proposal. A server whose namespace allows it looks there when
 *   it has read one. The key is no address but the two sequence numbers with
 *   which the bytes of their TCP connection begin. Who finds the other uses the
 *   very RDMA port that the other has chosen. Later each side notes in the
 *   table's entry what it says in Accept or Confirm, and the other one compares.
 *   With TCP connect() ends before accept() can: programs that do both by one event
 *   loop may count on it. So at the end the server waits for the client.
 *
 * What a liar gains:
 *   Nothing that a peer says makes it a neighbour: peer ID, GID and MAC address
 *   of this host are no secret. The entry is made by this kernel for a socket of
 *   this host. A stranger has none, and the numbers of his own connection with
 *   a server here name none. He who relays two connections, that of a client
 *   and one of his own to a server, may begin both with the same numbers. So
 *   the client's and the server's handshake find each other, and he is out of
 *   it: what he changes in Accept or Confirm is noticed.
 *
 * Ownership:
 *   A pair has one reference for each of its handshakes. The client's local end
 *   is borrowed while the pair is in the table; the server copies it there.
 *
 * Locks:
 *   smc_same_host_lock guards the table and all that changes of its pairs. It is a
 *   leaf and held for no more than a copy. That of a pair's wait queue is another.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/once.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "sock/smc_same_host.h"

static DEFINE_SPINLOCK(smc_same_host_lock);
static DEFINE_HASHTABLE(smc_same_host_table, 8);

/**
 * struct smc_same_host_pair - two handshakes that are ends of one connection
 * @node: in the table, until the client leaves
 * @refs: one for each role that has not left
 * @key: const
 * @end: the client's, valid while listed
 * @peer_id: the client's, const
 * @net: cookie of the namespace, by role; the server's is 0 until it has come
 * @is_over: the client has left
 * @waitq: news of @is_over
 * @is_said: @said is filled, by role
 * @said: Accept of the server and Confirm of the client, by role
 */
struct smc_same_host_pair {
	struct hlist_node node;
	refcount_t refs;
	struct smc_same_host_key key;
	const struct smc_ib_end *end;
	u8 peer_id[SMC_PEER_ID_LEN];
	u64 net[2];
	bool is_over;
	wait_queue_head_t waitq;
	bool is_said[2];
	struct smc_clc_accept said[2];
};

/* A peer chooses its own number and knows the other. */
static u32 host_hash(const struct smc_same_host_key *key)
{
	static u32 seed __read_mostly;

	get_random_once(&seed, sizeof(seed));
	return jhash_2words(key->client_seq, key->server_seq, seed);
}

static struct smc_same_host_pair *host_find(const struct smc_same_host_key *key)
{
	struct smc_same_host_pair *pair;

	lockdep_assert_held(&smc_same_host_lock);
	hash_for_each_possible(smc_same_host_table, pair, node, host_hash(key))
		if (!memcmp(&pair->key, key, sizeof(*key)))
			return pair;
	return NULL;
}

/**
 * smc_same_host_get_key() - the key of a TCP connection
 * @tsk: the inner TCP sock, connected; not a byte was sent or read
 * @role: ours
 * @key: filled
 *
 * Context: Any context.
 */
void smc_same_host_get_key(const struct sock *tsk, enum smc_role role,
			   struct smc_same_host_key *key)
{
	const struct tcp_sock *tp = tcp_sk(tsk);
	u32 own = READ_ONCE(tp->write_seq);
	u32 peers = READ_ONCE(tp->copied_seq);

	key->client_seq = role == SMC_ROLE_CLIENT ? own : peers;
	key->server_seq = role == SMC_ROLE_CLIENT ? peers : own;
}

/**
 * smc_same_host_offer() - let a server of this host find a client's handshake
 * @key: of the connection
 * @net: the client's namespace
 * @end: the client's RDMA port; borrowed until smc_same_host_leave()
 * @peer_id: what the Proposal says; its GID and MAC address are those of @end
 *
 * To be called before the Proposal is sent, so that whoever has read it finds
 * this.
 *
 * Context: Process context, may sleep. Takes smc_same_host_lock.
 * Return: the pair, with a reference that smc_same_host_leave() drops; NULL without
 *	   memory, or where another connection has the same key.
 */
struct smc_same_host_pair *
smc_same_host_offer(const struct smc_same_host_key *key, struct net *net,
		    const struct smc_ib_end *end, const u8 peer_id[8])
{
	struct smc_same_host_pair *pair;

	pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	if (!pair)
		return NULL;
	refcount_set(&pair->refs, 1);
	init_waitqueue_head(&pair->waitq);
	pair->key = *key;
	pair->end = end;
	memcpy(pair->peer_id, peer_id, sizeof(pair->peer_id));
	pair->net[SMC_ROLE_CLIENT] = net->net_cookie;

	guard(spinlock)(&smc_same_host_lock);
	if (host_find(key)) {
		kfree(pair);
		return NULL;
	}
	hash_add(smc_same_host_table, &pair->node, host_hash(key));
	return pair;
}

/* What the Proposal says of its sender is what the sender is. */
static bool host_is_proposed(const struct smc_same_host_pair *pair,
			     const struct smc_clc_proposal *prop)
{
	return !memcmp(pair->peer_id, prop->peer_id, sizeof(pair->peer_id)) &&
	       smc_nego_same_rnic(pair->end->gid.raw, pair->end->mac, prop->gid, prop->mac);
}

/**
 * smc_same_host_take() - the client of a server's handshake, if it is on this host
 * @key: of the connection
 * @net: the server's namespace
 * @prop: what was received
 * @end: filled on success with the client's RDMA port; a reference of its own,
 *	 smc_ib_end_put() drops it
 *
 * A pair is taken once. A device that RDMA does not let @net use is none.
 *
 * Context: Process context. Takes smc_same_host_lock.
 * Return: the pair, with a reference that smc_same_host_leave() drops; or NULL.
 */
struct smc_same_host_pair *
smc_same_host_take(const struct smc_same_host_key *key, struct net *net,
		   const struct smc_clc_proposal *prop, struct smc_ib_end *end)
{
	struct smc_same_host_pair *pair;

	guard(spinlock)(&smc_same_host_lock);
	pair = host_find(key);
	if (!pair || pair->net[SMC_ROLE_SERVER] || !host_is_proposed(pair, prop) ||
	    !smc_ib_end_serves(pair->end, net))
		return NULL;
	pair->net[SMC_ROLE_SERVER] = net->net_cookie;
	refcount_inc(&pair->refs);
	smc_ib_end_copy(end, pair->end);
	return pair;
}

/**
 * smc_same_host_withdraw() - nobody shall find a client's handshake any more
 * @pair: from smc_same_host_offer()
 *
 * Its end is not borrowed any longer. A second call does nothing.
 *
 * Context: Process context. Takes smc_same_host_lock.
 */
void smc_same_host_withdraw(struct smc_same_host_pair *pair)
{
	guard(spinlock)(&smc_same_host_lock);
	hash_del(&pair->node);
}

/**
 * smc_same_host_leave() - a handshake has no more use for its pair
 * @pair: from smc_same_host_offer() or smc_same_host_take()
 * @role: the caller's
 *
 * Once the client has left nobody finds it any more; that is news for a server that waits
 * for it (smc_same_host_waitq()).
 *
 * Context: Process context. Takes smc_same_host_lock.
 */
void smc_same_host_leave(struct smc_same_host_pair *pair, enum smc_role role)
{
	if (role == SMC_ROLE_CLIENT) {
		smc_same_host_withdraw(pair);
		WRITE_ONCE(pair->is_over, true);
		/* who is in the queue is told, who comes later sees it */
		wake_up_all(&pair->waitq);
	}
	if (refcount_dec_and_test(&pair->refs))
		kfree(pair);
}

/**
 * smc_same_host_waitq() - where a server waits for the client
 * @pair: from smc_same_host_take()
 *
 * Context: Any context.
 * Return: the wait queue that smc_same_host_leave() of the client wakes.
 */
wait_queue_head_t *smc_same_host_waitq(struct smc_same_host_pair *pair)
{
	return &pair->waitq;
}

/**
 * smc_same_host_is_over() - the client has left
 * @pair: from smc_same_host_take()
 *
 * Context: Any context.
 * Return: true if the client has called smc_same_host_leave().
 */
bool smc_same_host_is_over(const struct smc_same_host_pair *pair)
{
	return READ_ONCE(pair->is_over);
}

/**
 * smc_same_host_publish() - note what is about to be told to the other end
 * @pair: the pair
 * @role: the caller's
 * @acc: its Accept or Confirm, not sent yet
 *
 * Context: Process context. Takes smc_same_host_lock.
 */
void smc_same_host_publish(struct smc_same_host_pair *pair, enum smc_role role,
			   const struct smc_clc_accept *acc)
{
	guard(spinlock)(&smc_same_host_lock);
	pair->said[role] = *acc;
	pair->is_said[role] = true;
}

static bool host_is_same(const struct smc_clc_accept *a, const struct smc_clc_accept *b)
{
	return !memcmp(a->peer_id, b->peer_id, sizeof(a->peer_id)) &&
	       smc_nego_same_rnic(a->gid, a->mac, b->gid, b->mac) &&
	       a->qpn == b->qpn && a->psn == b->psn && a->mtu == b->mtu &&
	       a->rkey == b->rkey && a->rmb_addr == b->rmb_addr &&
	       a->rmbe_index == b->rmbe_index && a->size_code == b->size_code &&
	       a->token == b->token && a->first_contact == b->first_contact;
}

/**
 * smc_same_host_check() - is a message that of the other end on this host
 * @pair: the pair
 * @role: of the sender
 * @acc: Accept or Confirm, as received
 *
 * Context: Process context. Takes smc_same_host_lock.
 * Return: 0 if it is; -ENOENT to a client that no server of this host has
 *	   found; -EBADMSG if the other end said something else, or nothing yet.
 */
int smc_same_host_check(struct smc_same_host_pair *pair, enum smc_role role,
			const struct smc_clc_accept *acc)
{
	guard(spinlock)(&smc_same_host_lock);
	if (!pair->net[role])
		return -ENOENT;
	return pair->is_said[role] && host_is_same(&pair->said[role], acc) ? 0 : -EBADMSG;
}

/**
 * smc_same_host_net() - the namespace of one end
 * @pair: the pair, with both ends
 * @role: whose
 *
 * Context: Any context.
 * Return: its cookie, which no other namespace ever has, and not 0.
 */
u64 smc_same_host_net(const struct smc_same_host_pair *pair, enum smc_role role)
{
	return pair->net[role];
}
