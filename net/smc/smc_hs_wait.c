// SPDX-License-Identifier: GPL-2.0
/*
 * What a step of a handshake may wait for: news of TCP, of a link group, or a time.
 *
 * Operation: each of them queues the handshake's work item. That runs the step once more,
 * and that finds out what the news are.
 *
 * Ownership: a handshake that waits for a group holds a reference on it.
 */
#include <net/tcp.h>

#include "smc_hs_wait.h"
#include "smc_net.h"

/*
 * How often to look where nobody says that there is news: with SO_RCVLOWAT set
 * by BPF, TCP keeps silent about a short message; a neighbour is found silently.
 */
#define SMC_HS_SLICE	max(HZ / 50, 1)

/**
 * smc_hs_patience() - how long the peer may take for a message
 * @hs: the handshake
 *
 * Context: Any context.
 * Return: jiffies.
 */
unsigned long smc_hs_patience(struct smc_hs *hs)
{
	return msecs_to_jiffies(READ_ONCE(smc_net(hs->net)->set.clc_timeout_ms));
}

/**
 * smc_hs_is_late() - is time up for this step?
 * @hs: the handshake
 * @patience: what the step had when it began, in jiffies
 *
 * Context: The handshake's work item.
 * Return: true if it is.
 */
bool smc_hs_is_late(struct smc_hs *hs, unsigned long patience)
{
	if (!hs->has_deadline)
		hs->deadline = jiffies + patience;
	hs->has_deadline = true;
	return time_after_eq(jiffies, hs->deadline);
}

static int smc_hs_has_news(struct wait_queue_entry *watch, unsigned int mode, int sync, void *key)
{
	struct smc_hs *hs = container_of(watch, struct smc_hs, watch);

	smc_sock_queue(hs->smc, &hs->smc->hs_work);
	return 0;
}

/**
 * smc_hs_unwatch() - undo smc_hs_watch() or smc_hs_watch_client()
 * @hs: the handshake, which may watch nobody
 *
 * Context: The handshake's work item.
 */
void smc_hs_unwatch(struct smc_hs *hs)
{
	if (hs->watches_client)
		smc_host_unwatch(hs->pair, &hs->watch);
	hs->watches_client = false;
	if (!hs->watched)
		return;
	remove_wait_queue(&hs->watched->waitq, &hs->watch);
	smc_lgr_put(hs->watched);
	hs->watched = NULL;
}

/**
 * smc_hs_watch() - run the step again whenever a group has news
 * @hs: the handshake
 * @lgr: the group, in place of any other one
 *
 * From here to the end of the step.
 *
 * Context: The handshake's work item.
 */
void smc_hs_watch(struct smc_hs *hs, struct smc_link_group *lgr)
{
	if (hs->watched == lgr)
		return;
	smc_hs_unwatch(hs);
	hs->watched = smc_lgr_get(lgr);
	init_waitqueue_func_entry(&hs->watch, smc_hs_has_news);
	add_wait_queue(&lgr->waitq, &hs->watch);
}

/**
 * smc_hs_watch_client() - run the step again when the client on this host is through
 * @hs: the handshake of the server, with a pair; watches no group
 *
 * From here to the end of the step.
 *
 * Context: The handshake's work item.
 * Return: false if the client is through.
 */
bool smc_hs_watch_client(struct smc_hs *hs)
{
	smc_hs_unwatch(hs);
	init_waitqueue_func_entry(&hs->watch, smc_hs_has_news);
	hs->watches_client = true;
	return smc_host_watch(hs->pair, &hs->watch);
}

/**
 * smc_hs_is_left() - has the peer closed or reset TCP?
 * @tsk: the inner socket's sock
 *
 * Of a Decline among what it has said before this tells nothing.
 *
 * Context: Any context.
 * Return: true if so, or if this side has shut TCP down.
 */
bool smc_hs_is_left(const struct sock *tsk)
{
	return READ_ONCE(tsk->sk_err) || READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN;
}

/**
 * smc_hs_tcp_has_news() - has TCP anything to say?
 * @tsk: the inner socket's sock
 *
 * Context: Any context.
 * Return: true if there are bytes, an error or the end of the stream.
 */
bool smc_hs_tcp_has_news(const struct sock *tsk)
{
	return !skb_queue_empty_lockless(&tsk->sk_receive_queue) || smc_hs_is_left(tsk);
}

/**
 * smc_hs_arm_timer() - run the step again when its time is up, or before
 * @hs: the handshake, whose step waits
 *
 * Context: The handshake's work item.
 */
void smc_hs_arm_timer(struct smc_hs *hs)
{
	long left = hs->deadline - jiffies;

	if (!hs->has_deadline)
		return;
	/* an acknowledgment is no news of TCP's, and a sockmap keeps news to itself */
	if (hs->is_declining || hs->is_routing || hs->smc->is_eager_tcp ||
	    READ_ONCE(hs->smc->tcp->sk->sk_rcvlowat) > 1)
		left = min_t(long, left, SMC_HS_SLICE);
	smc_sock_queue_delayed(hs->smc, &hs->smc->hs_timer, max(left, 0L));
}
