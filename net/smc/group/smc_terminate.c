// SPDX-License-Identifier: GPL-2.0
/*
 * Activation, failure and end of a link group.
 *
 * The end may be requested in any context. One work item takes the group down for every reason: it
 * cuts connections off, takes links out and ends their queues. The memory goes with the last
 * reference.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "rdma/smc_event.h"
#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "group/smc_link.h"
#include "group/smc_terminate.h"
#include "control/smc_trace.h"

/**
 * smc_lgr_activate() - activate a group and its first link after first contact
 * @lgr: the group, FORMING; otherwise nothing happens
 *
 * Wakes handshakes that wait for the group.
 *
 * Context: Process context. Expects lgr->lock held.
 */
void smc_lgr_activate(struct smc_link_group *lgr)
{
	lockdep_assert_held(&lgr->lock);
	if (lgr->type == SMC_LGR_TYPE_NONE)
		lgr->type = SMC_LGR_TYPE_SINGLE;
	if (lgr->links[0])
		smc_link_set_state(lgr->links[0], SMC_LINK_ACTIVE);
	if (!smc_lgr_set_state(lgr, SMC_LGR_ACTIVE, NULL))
		return;
	smc_stat_inc(lgr->key.net, SMC_STAT_LGR_NEW);
	trace_smc_lgr_up(lgr, "");
	smc_event_send(&(struct smc_event){
		.cmd = SMC_NETLINK_EVENT_LGR_UP, .net = lgr->key.net, .lgr = lgr });
	pr_info_ratelimited("link group %08x with peer %8phN is up (%s, %s dialect)\n",
			    lgr->id, lgr->peer_name,
			    lgr->key.role == SMC_ROLE_SERVER ? "server" : "client",
			    smc_llc_dialect_name(lgr->params.dialect));
	wake_up_all(&lgr->waitq);
}

/*
 * Every wait here is short: users of a link are in one verb, and a task that adds a buffer waits
 * for an answer that the LLC engine bounds.
 */
static void smc_lgr_terminate_work(struct work_struct *work)
{
	struct smc_link_group *lgr = container_of(work, struct smc_link_group, terminate_work);
	struct smc_link *links[SMC_LINKS_MAX];
	struct smc_conn *conn;
	unsigned long pos;
	int i;

	mutex_lock(&lgr->lock);
	/* After the change of state a joining connection sees the end of the group. */
	xa_for_each(&lgr->conns, pos, conn)
		smc_lgr_abort_conn(conn);
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		links[i] = lgr->links[i];
		/* Report the end to the LLC engine, which may not have decided it. */
		if (links[i])
			smc_wr_report(&links[i]->wr, SMC_WR_FAULT_PROTOCOL);
		if (links[i])
			smc_link_unpublish(links[i]);
	}
	mutex_unlock(&lgr->lock);

	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (links[i])
			smc_link_take_down(links[i]);
	smc_lgr_set_state(lgr, SMC_LGR_DEAD, NULL);
	wake_up_all(&lgr->waitq);
	smc_lgr_put(lgr);
}

/* Runs once, because the state moved. Drops the reference for being up. */
static void lgr_begin_end(struct smc_link_group *lgr)
{
	wake_up_all(&lgr->waitq);
	wake_up_all(&lgr->rmbs.waitq);
	wake_up_all(&lgr->sends.waitq);
	INIT_WORK(&lgr->terminate_work, smc_lgr_terminate_work);
	smc_core_queue(lgr, &lgr->terminate_work);
	smc_lgr_put(lgr);
}

/**
 * smc_lgr_terminate() - end a group
 * @lgr: the group, in any state; the second call does nothing
 * @why: in words, for operators
 *
 * No search finds it any more. A work item raises SMC_EV_LINK_LOST for its connections, takes the
 * queues down and releases the devices. RFC 7609 3.5.4, 4.8.3 (PEER-03).
 *
 * Context: Any context but hard interrupt.
 */
void smc_lgr_terminate(struct smc_link_group *lgr, const char *why)
{
	enum smc_lgr_state old;

	if (!smc_lgr_set_state(lgr, SMC_LGR_TERMINATING, &old))
		return;
	if (old == SMC_LGR_ACTIVE) {
		smc_stat_inc(lgr->key.net, SMC_STAT_LGR_END);
		trace_smc_lgr_down(lgr, why);
		smc_event_send(&(struct smc_event){
			.cmd = SMC_NETLINK_EVENT_LGR_DOWN, .net = lgr->key.net, .lgr = lgr,
			.text = why });
		pr_info_ratelimited("link group %08x with peer %8phN is gone\n",
				    lgr->id, lgr->peer_name);
	}
	lgr_begin_end(lgr);
}

/**
 * smc_lgr_fail() - end a group whose first contact has failed
 * @lgr: the group; nothing happens unless it is FORMING: an active group may have other users
 * @decline: reason if its connection may still fall back to TCP; 0 if it must be reset
 *
 * The first reason counts. Otherwise as smc_lgr_terminate().
 *
 * Context: Any context.
 */
void smc_lgr_fail(struct smc_link_group *lgr, enum smc_decline decline)
{
	if (smc_lgr_set_failed(lgr, decline))
		lgr_begin_end(lgr);
}

static void lgr_terminate_one(struct smc_link_group *lgr, void *arg)
{
	smc_lgr_terminate(lgr, "the namespace or the module ends");
}

/**
 * smc_lgr_terminate_all() - end groups at once
 * @net: the namespace whose groups, without sockets; NULL for all
 *
 * Context: Process context. smc_lgr_wait_none() waits until they are freed.
 */
void smc_lgr_terminate_all(struct net *net)
{
	smc_lgr_for_each(net, lgr_terminate_one, NULL);
}
