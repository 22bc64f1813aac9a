// SPDX-License-Identifier: GPL-2.0
/*
 * How the two ends of a connection detect that they are on one host.
 *
 * Operation: a client whose namespace allows it enters its handshake in a table before it
 * sends the Proposal. The server searches the table by the two initial sequence numbers of
 * the TCP connection and uses the client's RDMA port. Each side stores its Accept or
 * Confirm in the entry, and the other compares. At the end the server waits until
 * connect() has ended: with TCP that precedes accept(), and programs rely on it.
 *
 * Security: messages prove nothing, since peer ID, GID and MAC address are no secret. The
 * entry is created by this kernel for a socket of this host. A relay may give its two
 * connections the same numbers. Then the real client and server find each other, and any
 * change to Accept or Confirm is detected.
 *
 * Locks: smc_same_host_lock guards the table and the variable members of its pairs. It is
 * a leaf and held for no more than a copy. The lock of a pair's wait queue is separate.
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
 * @net: namespace cookies by role; the server's is 0 until it takes the pair
 * @is_over: the client has left
 * @waitq: woken when @is_over is set
 * @is_published: @published is valid, by role
 * @published: Accept of the server and Confirm of the client, by role
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
	bool is_published[2];
	struct smc_clc_accept published[2];
};

/* Seeded, because a peer chooses its own number and knows the other. */
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
 * smc_same_host_get_key() - get the key of a TCP connection
 * @tsk: TCP's sock, connected, before the first byte was sent or read
 * @role: our role
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
 * smc_same_host_offer() - let a server on this host find a client's handshake
 * @key: of the connection
 * @net: the client's namespace
 * @end: the client's RDMA port; borrowed until smc_same_host_leave()
 * @peer_id: of the Proposal, whose GID and MAC address are those of @end
 *
 * Must precede the Proposal.
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

/* True if the Proposal carries the identity of the client that made the entry. */
static bool host_is_proposed(const struct smc_same_host_pair *pair,
			     const struct smc_clc_proposal *prop)
{
	return !memcmp(pair->peer_id, prop->peer_id, sizeof(pair->peer_id)) &&
	       smc_nego_same_rnic(pair->end->gid.raw, pair->end->mac, prop->gid, prop->mac);
}

/**
 * smc_same_host_take() - find the client of a server's handshake on this host
 * @key: of the connection
 * @net: the server's namespace
 * @prop: the received Proposal
 * @end: receives a copy of the client's RDMA port on success; smc_ib_end_put() drops its
 *	 reference
 *
 * A pair is taken once. A port that RDMA does not let @net use does not match.
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
 * smc_same_host_withdraw() - hide a client's handshake and return its port
 * @pair: from smc_same_host_offer(); a second call does nothing
 *
 * Context: Process context. Takes smc_same_host_lock.
 */
void smc_same_host_withdraw(struct smc_same_host_pair *pair)
{
	guard(spinlock)(&smc_same_host_lock);
	hash_del(&pair->node);
}

/**
 * smc_same_host_leave() - drop a handshake's reference on its pair
 * @pair: from smc_same_host_offer() or smc_same_host_take()
 * @role: the caller's; a client is withdrawn, and wakes smc_same_host_waitq()
 *
 * Context: Process context. Takes smc_same_host_lock.
 */
void smc_same_host_leave(struct smc_same_host_pair *pair, enum smc_role role)
{
	if (role == SMC_ROLE_CLIENT) {
		smc_same_host_withdraw(pair);
		WRITE_ONCE(pair->is_over, true);
		/* a later waiter sees is_over */
		wake_up_all(&pair->waitq);
	}
	if (refcount_dec_and_test(&pair->refs))
		kfree(pair);
}

/**
 * smc_same_host_waitq() - get the wait queue of a server that waits for its client
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
 * smc_same_host_is_over() - check whether the client has left
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
 * smc_same_host_publish() - store a message for the comparison by the other end
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
	pair->published[role] = *acc;
	pair->is_published[role] = true;
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
 * smc_same_host_check() - compare a message with the one that the other end published
 * @pair: the pair
 * @role: of the sender
 * @acc: Accept or Confirm, as received
 *
 * Context: Process context. Takes smc_same_host_lock.
 * Return: 0 if they are equal; -ENOENT if no server of this host took the pair; -EBADMSG
 *	   if the other end published a different message or none.
 */
int smc_same_host_check(struct smc_same_host_pair *pair, enum smc_role role,
			const struct smc_clc_accept *acc)
{
	guard(spinlock)(&smc_same_host_lock);
	if (!pair->net[role])
		return -ENOENT;
	return pair->is_published[role] && host_is_same(&pair->published[role], acc) ? 0 : -EBADMSG;
}

/**
 * smc_same_host_net() - get the namespace of one end
 * @pair: the pair, with both ends
 * @role: of that end
 *
 * Context: Any context.
 * Return: its cookie, which is unique and not 0.
 */
u64 smc_same_host_net(const struct smc_same_host_pair *pair, enum smc_role role)
{
	return pair->net[role];
}
