// SPDX-License-Identifier: GPL-2.0
/*
 * Memory as the carrier of a connection whose ends are both on this host.
 *
 * Operation:
 *   Each direction has a ring. The writer copies into it and moves the reader's rx_prod, the reader
 *   copies from it. Nothing is posted and nothing completes: what is written has arrived, so
 *   tx_fin is tx_sent. All else (D, C, A, an urgent byte, room) is a CDC message, built and applied
 *   as on a link, without a wire in between.
 *
 * Chunks:
 *   Data is in a list of chunks, each with the position of its first byte. The writer appends one
 *   when the last is full, a larger one for a large write; the reader frees a chunk behind which
 *   there is another. So a connection that is idle has a page in each direction, or the rest of a
 *   large write's chunk, and the size of a ring is a limit alone. The control group of the writer
 *   pays, as for a pipe.
 *
 * Pages:
 *   A large piece that stays in the pages of the writer (smc_pages_take()) takes its place in the
 *   stream. The reader copies it from there.
 *
 * Ownership:
 *   Each end has a reference on the pair until the connection is freed: what a writer leaves behind
 *   can be read when it is gone. pair->end[] is how one end finds the other, until that leaves.
 *
 * Locks:
 *   pair->lock is outside of conn->lock, and taken for messages alone; below it both locks of the
 *   ends nest, the sender's first. Data needs only that of the sender: its holder moves the
 *   reader's rx_prod. The writer appends chunks under its socket lock; the reader takes them out
 *   under its conn->lock.
 */
#include <linux/gfp.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>

#include "smc_compat.h"
#include "proto/smc_ring.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "group/smc_carrier.h"
#include "group/smc_cdc.h"
#include "group/smc_pages.h"
#include "group/smc_pair.h"

/* Pages of a chunk for a large write, if there are so many in a row */
#define PAIR_ORDER	3

/* Bytes from which a write is large */
#define PAIR_LARGE	(2 * PAGE_SIZE)

/* What is published at once of a larger write, so that it is read while the rest is copied */
#define PAIR_MESSAGE	SZ_128K

/**
 * struct smc_chunk - pages with a part of a stream
 * @next: the next one, set once by the writer, which then leaves this one to the reader
 * @from: position of the first byte of @data
 * @size: bytes of @data
 * @order: of the pages
 * @data: bytes whose position a range of other pages has are not used
 */
struct smc_chunk {
	struct smc_chunk *next;
	u64 from;
	u32 size;
	u32 order;
	u8 data[] ____cacheline_aligned;
};

/**
 * struct smc_pipe - the ring of one direction
 * @size: most unread bytes, a power of two
 * @first: where the reader is; NULL before the first byte
 * @last: where the writer is
 * @given: ranges that are in other pages, in order; the writer appends, the reader removes
 */
struct smc_pipe {
	u32 size;
	struct smc_chunk *first;
	struct smc_chunk *last;
	struct sk_buff_head given;
};

/**
 * struct smc_pair - what both ends share
 * @refs: one of each end, and of the handshake
 * @lock: see above
 * @end: the ends by role, RCU
 * @pipe: by role of the reader
 */
struct smc_pair {
	refcount_t refs;
	spinlock_t lock;		/* see above */
	struct smc_conn __rcu *end[2];
	struct smc_pipe pipe[2];
};

static atomic_t pair_tokens;

/* Of the host; what a new module would have to wait for */
static atomic_t pair_count;

static struct smc_pipe *pair_rx(const struct smc_conn *conn)
{
	return &conn->pair->pipe[conn->role];
}

static struct smc_pipe *pair_tx(const struct smc_conn *conn)
{
	return &conn->pair->pipe[!conn->role];
}

/* The other end, or NULL when it has left. Expects an RCU read section. */
static struct smc_conn *pair_peer(const struct smc_conn *conn)
{
	return rcu_dereference(conn->pair->end[!conn->role]);
}

static void pipe_init(struct smc_pipe *pipe, u32 size)
{
	pipe->size = size;
	skb_queue_head_init(&pipe->given);
}

static bool chunk_has(const struct smc_chunk *chunk, u64 pos)
{
	return chunk && pos - chunk->from < chunk->size;
}

static void chunk_free(struct smc_chunk *chunk)
{
	smc_mem_uncharge(PAGE_SIZE << chunk->order);
	free_pages((unsigned long)chunk, chunk->order);
}

/* Append a chunk that begins at @pos, for @want bytes or fewer. Return: NULL without memory. */
static struct smc_chunk *pipe_append(struct smc_pipe *pipe, u64 pos, size_t want, gfp_t gfp)
{
	u32 order = want >= PAIR_LARGE ? PAIR_ORDER : 0;
	struct smc_chunk *chunk = NULL, **link;

	gfp |= __GFP_ACCOUNT | __GFP_NOWARN;
	if (order)
		chunk = (void *)__get_free_pages(gfp | __GFP_COMP | __GFP_NORETRY, order);
	if (!chunk) {
		/* as hard as it can without killing a process of the writer's control group */
		order = 0;
		chunk = (void *)__get_free_page(gfp | __GFP_RETRY_MAYFAIL);
	}
	if (!chunk)
		return NULL;
	smc_mem_count(PAGE_SIZE << order);
	*chunk = (struct smc_chunk){
		.from = pos,
		.size = (PAGE_SIZE << order) - sizeof(*chunk),
		.order = order,
	};
	link = pipe->last ? &pipe->last->next : &pipe->first;
	/* pairs with READ_ONCE() of a reader, which may have nothing to read: its fields first */
	smp_store_release(link, chunk);
	pipe->last = chunk;
	return chunk;
}

/* The chunk of a byte that was published, and is not read or just being read */
static struct smc_chunk *pipe_find(const struct smc_pipe *pipe, u64 pos)
{
	struct smc_chunk *chunk = READ_ONCE(pipe->first);

	while (chunk && !chunk_has(chunk, pos))
		chunk = READ_ONCE(chunk->next);
	return chunk;
}

/* Take out the chunks that end at @pos or before, but the last one. Return: a list of them. */
static struct smc_chunk *pipe_drop_chunks(struct smc_pipe *pipe, u64 pos)
{
	struct smc_chunk *gone = NULL, *chunk, *next;

	while ((chunk = READ_ONCE(pipe->first)) && chunk->from + chunk->size <= pos) {
		next = READ_ONCE(chunk->next);
		/* the writer may append to it */
		if (!next)
			break;
		WRITE_ONCE(pipe->first, next);
		chunk->next = gone;
		gone = chunk;
	}
	return gone;
}

static void chunks_free(struct smc_chunk *chunk)
{
	struct smc_chunk *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		chunk_free(chunk);
	}
}

/* Move the ranges that end at @pos or before to @gone, to be freed without a lock. */
static void pipe_drop_given(struct smc_pipe *pipe, u64 pos, struct sk_buff_head *gone)
{
	struct sk_buff *skb;

	if (likely(skb_queue_empty_lockless(&pipe->given)))
		return;
	guard(spinlock_bh)(&pipe->given.lock);
	while ((skb = skb_peek(&pipe->given)) && smc_pages_end(skb) <= pos) {
		__skb_unlink(skb, &pipe->given);
		__skb_queue_tail(gone, skb);
	}
}

static void pipe_end(struct smc_pipe *pipe)
{
	chunks_free(pipe->first);
	skb_queue_purge(&pipe->given);
}

/**
 * smc_pair_write() - copy data to the end of the stream
 * @conn: in memory; there is room for it
 * @len: bytes
 * @from: the data
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: bytes copied: fewer after a fault, or without memory.
 */
size_t smc_pair_write(struct smc_conn *conn, size_t len, struct iov_iter *from)
{
	struct smc_pipe *pipe = pair_tx(conn);
	struct smc_chunk *chunk = pipe->last;
	u64 pos = conn->ctl.tx_prep;
	size_t copied = 0, n, done;

	sock_owned_by_me(conn->sk);
	while (copied < len) {
		if (unlikely(!chunk_has(chunk, pos)))
			chunk = pipe_append(pipe, pos, len - copied, conn->sk->sk_allocation);
		if (unlikely(!chunk))
			break;
		n = min_t(u64, len - copied, chunk->from + chunk->size - pos);
		/* linear pages of our own need no check for hardened usercopy */
		done = _copy_from_iter(chunk->data + (pos - chunk->from), n, from);
		copied += done;
		pos += done;
		if (unlikely(done < n))
			break;
	}
	return copied;
}

/* The first range that ends behind @pos, or NULL. The reader alone removes ranges. */
static struct sk_buff *pipe_find_given(struct smc_pipe *pipe, u64 pos)
{
	struct sk_buff *skb;

	if (likely(skb_queue_empty_lockless(&pipe->given)))
		return NULL;
	guard(spinlock_bh)(&pipe->given.lock);
	skb_queue_walk(&pipe->given, skb)
		if (smc_pages_end(skb) > pos)
			return skb;
	return NULL;
}

/* Return: bytes copied: fewer after a fault. */
static size_t pipe_read(struct smc_pipe *pipe, u64 pos, size_t len, struct iov_iter *to)
{
	size_t copied = 0, n, done;

	while (copied < len) {
		struct sk_buff *skb = pipe_find_given(pipe, pos);

		n = len - copied;
		if (likely(!skb || smc_pages_begin(skb) > pos)) {
			const struct smc_chunk *chunk = pipe_find(pipe, pos);

			if (skb)
				n = min_t(u64, n, smc_pages_begin(skb) - pos);
			n = min_t(u64, n, chunk->from + chunk->size - pos);
			done = _copy_to_iter(chunk->data + (pos - chunk->from), n, to);
		} else {
			n = min_t(u64, n, smc_pages_end(skb) - pos);
			done = n;
			if (skb_copy_datagram_iter(skb, pos - smc_pages_begin(skb), to, n))
				done = 0;
		}
		copied += done;
		pos += done;
		if (unlikely(done < n))
			break;
	}
	return copied;
}

/**
 * smc_pair_read() - copy data from the stream
 * @conn: in memory
 * @pos: of the first byte; all are readable
 * @len: bytes
 * @to: where to copy
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: bytes copied: fewer after a fault.
 */
size_t smc_pair_read(struct smc_conn *conn, u64 pos, size_t len, struct iov_iter *to)
{
	sock_owned_by_me(conn->sk);
	return pipe_read(pair_rx(conn), pos, len, to);
}

static size_t pair_recall(struct smc_conn *conn, u64 pos, size_t len, struct iov_iter *to)
{
	sock_owned_by_me(conn->sk);
	return pipe_read(pair_tx(conn), pos, len, to);
}

/**
 * smc_pair_pass() - free what a reader has passed
 * @conn: in memory
 * @pos: where the next byte is read
 *
 * Context: Process context. Expects the socket lock held, unless nobody reads any more. Takes
 *	    conn->lock.
 */
void smc_pair_pass(struct smc_conn *conn, u64 pos)
{
	struct smc_pipe *pipe = pair_rx(conn);
	struct sk_buff_head given;
	struct smc_chunk *gone;

	if (likely(chunk_has(READ_ONCE(pipe->first), pos) &&
		   skb_queue_empty_lockless(&pipe->given)))
		return;
	__skb_queue_head_init(&given);
	scoped_guard(spinlock_bh, &conn->lock) {
		gone = pipe_drop_chunks(pipe, pos);
		pipe_drop_given(pipe, pos, &given);
	}
	chunks_free(gone);
	__skb_queue_purge(&given);
}

static u8 pair_byte(struct smc_conn *conn, u64 pos)
{
	struct smc_pipe *pipe = pair_rx(conn);
	const struct smc_chunk *chunk;
	const struct sk_buff *skb;
	u8 byte = 0;

	lockdep_assert_held(&conn->lock);
	skb = pipe_find_given(pipe, pos);
	if (skb && smc_pages_begin(skb) <= pos) {
		/* reads fragments only, which cannot fail */
		skb_copy_bits(skb, pos - smc_pages_begin(skb), &byte, 1);
		return byte;
	}
	chunk = pipe_find(pipe, pos);
	return READ_ONCE(chunk->data[pos - chunk->from]);
}

static void pair_give(struct smc_conn *conn, struct sk_buff *skb)
{
	lockdep_assert_held(&conn->lock);
	smc_pages_place(skb, conn->ctl.tx_prep);
	skb_queue_tail(&pair_tx(conn)->given, skb);
}

/* Return: true if a message is due; @x has a length if data is. */
static bool pair_plan(const struct smc_conn *conn, struct smc_xfer *x)
{
	const struct smc_cdc_ctl *ctl = &conn->ctl;
	bool is_needed, is_corked;

	lockdep_assert_held(&conn->lock);
	x->len = 0;
	if (conn->phase != SMC_CONN_OPEN || ctl->tx_conn_sent & SMC_CDC_FINAL)
		return false;
	is_needed = smc_cdc_is_needed(ctl);
	is_corked = conn->tx_cork && !conn->tx_flush && !smc_cdc_has_urgent(ctl) &&
		    smc_cdc_unsent(ctl) < ctl->tx_message;
	if (smc_cdc_unsent(ctl) && (is_needed || !is_corked))
		smc_cdc_plan(ctl, U32_MAX, x);
	return x->len || is_needed;
}

/* A message was built, and so has arrived. Return: events of the sender. */
static u32 pair_sent(struct smc_conn *conn, u32 len)
{
	u32 events = 0;

	lockdep_assert_held(&conn->lock);
	smc_cdc_done(&conn->ctl, conn->ctl.tx_seq, len);
	if (!smc_cdc_unsent(&conn->ctl))
		conn->tx_flush = false;
	WRITE_ONCE(conn->ack_jiffies, jiffies);
	if (len && (conn->wants_drain || conn->stamps))
		events |= SMC_EV_TX_DONE;
	if (conn->ctl.tx_conn_sent & SMC_CDC_FINAL)
		events |= SMC_EV_FINAL_DONE;
	smc_stats_add(conn->stats, SMC_STAT_MEMORY_BYTES, len);
	return events;
}

/* Apply a message at the reader. Return: its events. */
static u32 pair_take(struct smc_conn *conn, const struct smc_cdc_msg *msg)
{
	u32 events;

	lockdep_assert_held(&conn->lock);
	events = smc_cdc_take_msg(conn, msg, 0, 0);
	if (events & SMC_EV_SPACE)
		conn->progress_jiffies = jiffies;
	if (conn->wants_room && smc_conn_has_room(conn)) {
		conn->wants_room = false;
		events |= SMC_EV_ROOM;
	}
	return events;
}

/* Say what is due. */
static void pair_push(struct smc_conn *conn)
{
	struct smc_pair *pair = conn->pair;
	u32 events = 0, own = 0;
	struct smc_cdc_msg msg = {};
	struct smc_conn *peer;
	struct smc_xfer x;

	guard(rcu)();
	spin_lock_bh(&pair->lock);
	peer = pair_peer(conn);
	spin_lock(&conn->lock);
	while (pair_plan(conn, &x) && !smc_cdc_build(&conn->ctl, &x, &msg)) {
		own |= pair_sent(conn, x.len);
		if (!peer)
			continue;
		spin_lock_nested(&peer->lock, SINGLE_DEPTH_NESTING);
		events |= pair_take(peer, &msg);
		spin_unlock(&peer->lock);
	}
	smc_conn_attend(conn);
	spin_unlock(&conn->lock);
	spin_unlock_bh(&pair->lock);
	if (events)
		peer->ops->event(peer, events);
	if (own)
		conn->ops->event(conn, own);
}

static void pair_push_unlock(struct smc_conn *conn)
	__releases(&conn->lock)
{
	spin_unlock_bh(&conn->lock);
	pair_push(conn);
}

/**
 * smc_pair_push_data() - publish data, as &smc_carrier.push does
 * @conn: in memory; nothing of SMC_ATTN_ALL but SMC_ATTN_PEER was unusual
 *
 * Context: Any context but hard interrupt. Expects conn->lock held, and releases it.
 */
void smc_pair_push_data(struct smc_conn *conn)
	__releases(&conn->lock)
{
	struct smc_cdc_ctl *ctl = &conn->ctl;
	u64 prep = READ_ONCE(ctl->tx_prep);
	struct smc_conn *peer;
	bool is_long;

	lockdep_assert_held(&conn->lock);
	rcu_read_lock();
	peer = pair_peer(conn);
	is_long = conn->attn || !peer || READ_ONCE(peer->rx_stamp) || smc_cdc_has_stamps(peer->sk);
	if (likely(!is_long)) {
		smc_conn_assert_attn(conn);
		smc_stats_add(conn->stats, SMC_STAT_MEMORY_BYTES, prep - ctl->tx_sent);
		ctl->tx_sent = prep;
		WRITE_ONCE(ctl->tx_fin, prep);
		WRITE_ONCE(conn->ack_jiffies, jiffies);
		WRITE_ONCE(peer->rx_jiffies, jiffies);
		/* pairs with smp_load_acquire() of a reader: the data, then its end */
		smp_store_release(&peer->ctl.rx_prod, prep);
	}
	spin_unlock_bh(&conn->lock);
	if (likely(!is_long))
		peer->ops->event(peer, SMC_EV_DATA);
	else
		pair_push(conn);
	rcu_read_unlock();
}

/* Nothing is in flight. */
static void pair_await(struct smc_conn *conn)
{
}

/* There is no queue to look into. */
static bool pair_poll(struct smc_conn *conn, bool (*is_over)(void *arg), void *arg)
{
	return false;
}

static bool pair_takes_pages(const struct smc_conn *conn)
{
	return true;
}

static bool pair_is_up(const struct smc_conn *conn)
{
	return rcu_access_pointer(conn->pair->end[!conn->role]);
}

static void pair_probe(struct smc_conn *conn)
{
}

static void pair_leave(struct smc_conn *conn, bool is_peer_done)
{
	struct smc_pair *pair = conn->pair;

	/* no message is being applied, and none will be */
	scoped_guard(spinlock_bh, &pair->lock)
		RCU_INIT_POINTER(pair->end[conn->role], NULL);
	WRITE_ONCE(conn->token, 0);
	smc_conn_detach(conn);
}

static const char *pair_name(const struct smc_conn *conn)
{
	return "memory";
}

static void pair_free(struct smc_conn *conn)
{
	smc_pair_put(conn->pair);
}

const struct smc_carrier smc_carrier_memory = {
	.push		= pair_push_unlock,
	.await		= pair_await,
	.poll		= pair_poll,
	.write		= smc_pair_write,
	.read		= smc_pair_read,
	.byte		= pair_byte,
	.recall		= pair_recall,
	.give		= pair_give,
	.takes_pages	= pair_takes_pages,
	.is_up		= pair_is_up,
	.probe		= pair_probe,
	.leave		= pair_leave,
	.name		= pair_name,
	.pass		= smc_pair_pass,
	.free		= pair_free,
};

/**
 * smc_pair_alloc() - make the memory for a connection
 * @client_size: most unread bytes of the client; a power of two
 * @server_size: the same of the server
 *
 * No memory is taken for data yet.
 *
 * Context: Process context, may sleep.
 * Return: the pair, with a reference; NULL without memory.
 */
struct smc_pair *smc_pair_alloc(u32 client_size, u32 server_size)
{
	struct smc_pair *pair = NULL;

	if (smc_mem_has_room(2 * PAGE_SIZE))
		pair = kzalloc(sizeof(*pair), SMC_MEM_GFP);
	if (!pair)
		return NULL;
	atomic_inc(&pair_count);
	refcount_set(&pair->refs, 1);
	spin_lock_init(&pair->lock);
	pipe_init(&pair->pipe[SMC_ROLE_CLIENT], client_size);
	pipe_init(&pair->pipe[SMC_ROLE_SERVER], server_size);
	return pair;
}

/**
 * smc_pair_put() - drop a reference on a pair
 * @pair: the pair
 *
 * Context: Any context but hard interrupt.
 */
void smc_pair_put(struct smc_pair *pair)
{
	if (!refcount_dec_and_test(&pair->refs))
		return;
	WARN_ON_ONCE(rcu_access_pointer(pair->end[0]) || rcu_access_pointer(pair->end[1]));
	pipe_end(&pair->pipe[0]);
	pipe_end(&pair->pipe[1]);
	kfree(pair);
	atomic_dec(&pair_count);
}

/**
 * smc_pair_get_count() - count the connections in memory
 *
 * Context: Any context.
 * Return: pairs of all network namespaces, those of handshakes included.
 */
u32 smc_pair_get_count(void)
{
	return atomic_read(&pair_count);
}

/**
 * smc_pair_join() - make a connection an end of a pair
 * @conn: in set-up, in no group; the handshake's. Data of the other end can reach it from here on
 * @pair: the pair; gets a reference
 * @role: which end, which is free
 *
 * Context: Process context.
 */
void smc_pair_join(struct smc_conn *conn, struct smc_pair *pair, enum smc_role role)
{
	refcount_inc(&pair->refs);
	scoped_guard(smc_conn, conn) {
		conn->carrier = &smc_carrier_memory;
		conn->pair = pair;
		conn->role = role;
		conn->tx_freed = &conn->ctl.tx_cons;
		conn->stats = smc_net_stats(sock_net(conn->sk));
		conn->rmbe.size = pair_rx(conn)->size;
		conn->sndbuf.size = pair_tx(conn)->size;
		conn->peer_size = conn->sndbuf.size;
		smc_cdc_ctl_init(&conn->ctl, 0, conn->rmbe.size, conn->peer_size,
				 conn->sndbuf.size);
		conn->ctl.tx_message = min(conn->peer_size / 2, PAIR_MESSAGE);
		/* messages come on no other link than this */
		__set_bit(0, conn->rx_links);
		WRITE_ONCE(conn->token, atomic_inc_return(&pair_tokens) ?: 1);
	}
	scoped_guard(spinlock_bh, &pair->lock)
		rcu_assign_pointer(pair->end[role], conn);
}

/* Neither end posts or applies anything from here on. */
static void pair_cut_end(struct smc_pair *pair, enum smc_role role, struct smc_conn *conn)
{
	RCU_INIT_POINTER(pair->end[role], NULL);
	smc_conn_set_phase(conn, SMC_CONN_LEAVING);
	smc_conn_attend(conn);
}

/**
 * smc_pair_cut() - end the use of memory by both ends at once, so that each can land
 * @conn: in memory, found under RCU or with a reference
 *
 * What one end has sent the other has received then. Raises SMC_EV_LINK_LOST at both. Nothing
 * happens if an end has left, or is not open yet.
 *
 * Context: Any context but hard interrupt. Takes conn->lock of both.
 * Return: true if it was cut.
 */
bool smc_pair_cut(struct smc_conn *conn)
{
	struct smc_pair *pair = conn->pair;
	struct smc_conn *peer;
	bool is_open;

	guard(rcu)();
	scoped_guard(spinlock_bh, &pair->lock) {
		peer = pair_peer(conn);
		if (!peer || rcu_access_pointer(pair->end[conn->role]) != conn)
			return false;
		spin_lock(&conn->lock);
		spin_lock_nested(&peer->lock, SINGLE_DEPTH_NESTING);
		is_open = conn->phase == SMC_CONN_OPEN && peer->phase == SMC_CONN_OPEN;
		if (is_open) {
			pair_cut_end(pair, conn->role, conn);
			pair_cut_end(pair, !conn->role, peer);
		}
		spin_unlock(&peer->lock);
		spin_unlock(&conn->lock);
	}
	if (!is_open)
		return false;
	conn->ops->event(conn, SMC_EV_LINK_LOST);
	peer->ops->event(peer, SMC_EV_LINK_LOST);
	return true;
}

/**
 * smc_pair_describe() - describe the other end of a connection, for smc_diag.ko
 * @conn: in memory
 * @info: filled; the other end is zero when it has left
 *
 * Context: Any context but hard interrupt. Expects an RCU read section.
 */
void smc_pair_describe(const struct smc_conn *conn, struct smc_diag_pairinfo *info)
{
	const struct smc_conn *peer = pair_peer(conn);

	*info = (struct smc_diag_pairinfo){ .role = conn->role };
	if (!peer)
		return;
	info->peer_token = READ_ONCE(peer->token);
	info->peer_inode = sock_i_ino(peer->sk);
	info->peer_net = sock_net(peer->sk)->net_cookie;
	sock_diag_save_cookie(peer->sk, info->peer_cookie);
}
EXPORT_SYMBOL_GPL(smc_pair_describe);
