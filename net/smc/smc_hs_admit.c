// SPDX-License-Identifier: GPL-2.0
/*
 * Children whose handshake is under way: let in, and thrown out.
 *
 * Memory: a listener adds up what its handshakes cost. Above SMC_HS_MAX_BYTES
 * and SMC_HS_MIN_NR the oldest is reset for each that comes, so that peers that say
 * nothing are replaced by those that do.
 */
#include <linux/tcp.h>

#include "smc_child.h"
#include "smc_hs_admit.h"
#include "smc_hs_types.h"
#include "smc_hs_wait.h"
#include "smc_net.h"
#include "smc_tcp.h"

/* Children under way may cost a listener so much, in bytes. */
#define SMC_HS_MAX_BYTES	(64UL << 20)
/* So many there may be at any cost: with large rings a few healthy ones exceed the above. */
#define SMC_HS_MIN_NR		256
/* Of that, what a child costs besides rings and links. */
#define SMC_HS_CHILD_BYTES	(sizeof(struct smc_sock) + sizeof(struct smc_conn) +	\
				 sizeof(struct tcp6_sock) + sizeof(struct socket_alloc) + \
				 sizeof(struct smc_hs))

/*
 * Reset a child that is no longer listed; its work item finds that out and
 * closes it. The lock keeps the inner socket from going with it meanwhile.
 */
static void smc_hs_abandon(struct smc_sock *child)
{
	lock_sock_nested(&child->sk, SINGLE_DEPTH_NESTING);
	smc_tcp_reset(child);
	release_sock(&child->sk);
	smc_sock_queue(child, &child->hs_work);
}

/**
 * smc_hs_charge() - take a child's memory from its listener's, and make room if need be
 * @child: its handshake is under way
 * @bytes: how much more
 *
 * Context: Process context, may sleep. Takes the socket locks of other children.
 */
void smc_hs_charge(struct smc_sock *child, unsigned long bytes)
{
	struct smc_sock *oldest;

	smc_sock_charge_handshake(child, bytes);
	while ((oldest = smc_sock_evict_handshake(child, SMC_HS_MAX_BYTES, SMC_HS_MIN_NR))) {
		smc_stat_inc(sock_net(&child->sk), SMC_STAT_SERVER_DROPPED);
		smc_hs_abandon(oldest);
		sock_put(&oldest->sk);
	}
}

/**
 * smc_hs_begin_server() - a child was taken off the TCP accept queue
 * @listener: its listening socket
 * @child: new, with its inner socket; the caller's reference is consumed
 *
 * Context: Process context, may sleep. Takes the socket lock of @child and those of other
 * children.
 */
void smc_hs_begin_server(struct smc_sock *listener, struct smc_sock *child)
{
	struct net *net = sock_net(&child->sk);
	unsigned long timeout = msecs_to_jiffies(READ_ONCE(smc_net(net)->set.clc_timeout_ms));

	child->is_child = true;
	smc_child_prepare(listener, child);
	child->hs_deadline = jiffies + timeout;
	if (!smc_sock_add_handshake(listener, child)) {
		smc_child_drop(child);
		return;
	}
	sock_hold(&child->sk);
	smc_hs_charge(child, SMC_HS_CHILD_BYTES);
	/* for so long it cannot end, and with it the inner socket */
	lock_sock_nested(&child->sk, SINGLE_DEPTH_NESTING);
	/* armed first: the worker, which may run as soon as we watch, cancels it */
	smc_sock_queue_delayed(child, &child->hs_timer, timeout);
	if (!smc_tcp_watch(child, SMC_TCP_HANDSHAKE)) {
		child->is_eager_tcp = true;
		child->fallback = SMC_DECLINE_OPTUNSUPP;
	}
	/* without the option there is nothing to wait for */
	if (!smc_tcp_is_agreed(child) || child->is_eager_tcp ||
	    smc_hs_tcp_has_news(child->tcp->sk))
		smc_sock_queue(child, &child->hs_work);
	release_sock(&child->sk);
	sock_put(&child->sk);
}

/**
 * smc_hs_drop_handshakes() - end the handshakes of a listener that closes
 * @listener: the socket, no longer listening
 *
 * Each child's worker finds itself unlisted and closes the child.
 *
 * Context: Process context, may sleep.
 */
void smc_hs_drop_handshakes(struct smc_sock *listener)
{
	struct smc_sock *child;

	while ((child = smc_sock_next_handshake(listener))) {
		smc_hs_abandon(child);
		sock_put(&child->sk);
	}
}
