// SPDX-License-Identifier: GPL-2.0
/*
 * Work on links that may take seconds.
 *
 * Operation: work items create, prepare, stop and destroy links without lgr->lock and
 * report back as events. Each link index has one, so work on a link stays in order.
 *
 * Ownership: a queued or running work item holds a reference on the group. A link is
 * freed with its group; lgr->links names the links that have queues.
 */
#include <linux/delay.h>
#include <linux/string.h>

#include "smc_compat.h"
#include "rdma/smc_fault.h"
#include "group/smc_link.h"
#include "group/smc_llc_msg.h"
#include "group/smc_llc_ports.h"
#include "group/smc_llc_task.h"
#include "rdma/smc_route.h"

/* polling interval while the neighbour of a new link is resolved */
#define LLC_NEIGHBOUR_STEP_MS	20

/**
 * smc_llc_task_do() - queue work on a link
 * @lgr: the group
 * @index: link index
 * @todo: added to the pending work
 *
 * The outcome is reported as an event, except for SMC_LLC_TODO_STOP.
 *
 * Context: Process context. Expects lgr->lock held.
 */
void smc_llc_task_do(struct smc_link_group *lgr, u8 index, enum smc_llc_todo todo)
{
	struct smc_llc_task *task = &lgr->llc.task[index];

	lockdep_assert_held(&lgr->lock);
	task->order.todo |= todo;
	smc_core_queue(lgr, &task->work);
}

/**
 * smc_llc_task_create() - have a link created
 * @lgr: the group
 * @act: SMC_LLC_ACT_CREATE_LINK
 *
 * The outcome is reported as SMC_LLC_EV_LINK_CREATED.
 *
 * Context: Process context. Expects lgr->lock held.
 */
void smc_llc_task_create(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	struct smc_llc_order *order = &lgr->llc.task[act->link].order;
	const struct smc_llc_flow *flow = &lgr->llc.flow;
	const struct smc_link *carrier = lgr->links[flow->config_link];

	lockdep_assert_held(&lgr->lock);
	order->end = act->end;
	order->is_bare = act->is_bare;
	order->must_reach = !flow->params.is_server;
	memcpy(order->peer_gid, flow->add.offer.end.gid, sizeof(order->peer_gid));
	/* a server cannot know yet where the client's end will be */
	order->is_direct = !carrier || carrier->peer.hop_limit <= 1;
	smc_llc_task_do(lgr, act->link, SMC_LLC_TODO_CREATE);
}

/**
 * smc_llc_task_prepare() - have a link connected and made ready to carry data
 * @lgr: the group
 * @act: SMC_LLC_ACT_PREPARE_LINK
 *
 * The outcome is reported as SMC_LLC_EV_LINK_PREPARED.
 *
 * Context: Process context. Expects lgr->lock held.
 */
void smc_llc_task_prepare(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	lockdep_assert_held(&lgr->lock);
	lgr->llc.task[act->link].order.end = act->end;
	smc_llc_task_do(lgr, act->link, SMC_LLC_TODO_PREPARE);
}

/* The machine chose this port from the ports reported to it. */
static int llc_find_end(struct smc_link_group *lgr, const struct smc_llc_end *wanted,
			struct smc_ib_end *end)
{
	struct smc_ib_end ends[SMC_LLC_RNICS];
	unsigned int i, nr;
	int rc = -ENODEV;

	nr = smc_llc_ports_of(lgr, ends);
	for (i = 0; i < nr; i++) {
		if (rc && !memcmp(ends[i].mac, wanted->mac, sizeof(ends[i].mac)) &&
		    !memcmp(ends[i].gid.raw, wanted->gid, sizeof(ends[i].gid.raw))) {
			smc_ib_end_copy(end, &ends[i]);
			rc = 0;
		}
		smc_ib_end_put(&ends[i]);
	}
	return rc;
}

/*
 * The machine of a server without a list of ports offers the RNIC in use, in case the
 * client has another: SL-02.
 */
static int llc_first_end(struct smc_link_group *lgr, struct smc_ib_end *end)
{
	guard(mutex)(&lgr->lock);
	if (!lgr->links[0])
		return -ECONNABORTED;
	smc_ib_end_copy(end, &lgr->links[0]->wr.end);
	return 0;
}

static int llc_map_areas(struct smc_link *link)
{
	/* the fault imitates devices that need copies of memory, see smc_buf_map_link() */
	return smc_fault_is_due(SMC_FAULT_MAP) ? -EOPNOTSUPP : smc_link_map(link);
}

/*
 * Find the path from a port to the peer's: a route, or (version 1) a shared subnet. The
 * subnet also decides if the port's interface is in another namespace, whose routes this
 * group may not use. The wait for a neighbour is short: once resolved, the next attempt
 * succeeds.
 */
static int llc_find_path(struct smc_link_group *lgr, const struct smc_ib_end *end, const u8 *gid,
			 struct smc_route *route)
{
	/* no TCP connection uses this path: route by the port's interface, as root */
	struct smc_route_rules like = { .uid = GLOBAL_ROOT_UID };
	u64 until = llc_now() + SMC_ROUTE_NEIGHBOUR_MS;
	int rc;

	memset(route, 0, sizeof(*route));
	route->is_direct = true;
	like.oif = smc_ib_end_ifindex(end, lgr->key.net);
	if (!lgr->params.is_routed || !like.oif)
		return smc_ib_end_reaches(end, gid) ? 0 : -ENETUNREACH;
	do {
		rc = smc_route_find(lgr->key.net, &like, end, gid, route);
		if (rc == -EAGAIN)
			msleep(LLC_NEIGHBOUR_STEP_MS);
	} while (rc == -EAGAIN && llc_now() < until && !smc_lgr_is_down(lgr));
	return rc;
}

/* Fails early if no path leads from the port to the peer's. */
static int llc_create_link(struct smc_link_group *lgr, u8 index,
			   const struct smc_llc_order *want)
{
	struct smc_route route;
	struct smc_ib_end end;
	struct smc_link *link;
	int rc;

	rc = smc_llc_msg_prepare_long(lgr);
	if (rc)
		return rc;
	if (lgr->llc.wants_links && !want->is_bare)
		rc = llc_find_end(lgr, &want->end, &end);
	else
		rc = llc_first_end(lgr, &end);
	if (rc)
		return rc;
	route.is_direct = want->is_direct;
	if (want->must_reach)
		rc = llc_find_path(lgr, &end, want->peer_gid, &route);
	if (rc) {
		smc_ib_end_put(&end);
		return rc;
	}
	link = smc_link_create_at(lgr, &end, index);
	smc_ib_end_put(&end);
	if (IS_ERR(link))
		return PTR_ERR(link);
	link->is_direct = route.is_direct;
	rc = want->is_bare ? 0 : llc_map_areas(link);
	if (rc)
		smc_link_destroy(link);
	return rc;
}

/* The first link was connected by the handshake. */
static int llc_connect_link(struct smc_link *link, const struct smc_llc_end *end)
{
	struct smc_ib_peer peer = {
		.qpn = end->qpn, .psn = end->psn, .mtu = (enum ib_mtu)end->mtu,
	};
	struct smc_route route;
	int rc;

	if (READ_ONCE(link->state) != SMC_LINK_UNUSED)
		return 0;
	memcpy(peer.gid, end->gid, sizeof(peer.gid));
	memcpy(peer.mac, end->mac, sizeof(peer.mac));
	rc = llc_find_path(link->lgr, &link->wr.end, peer.gid, &route);
	if (rc)
		return rc;
	memcpy(peer.hop_mac, route.mac, sizeof(peer.hop_mac));
	peer.hop_limit = route.hop_limit;
	return smc_link_connect(link, &peer);
}

static int llc_prepare_link(struct smc_link_group *lgr, u8 index, const struct smc_llc_end *peer)
{
	/* the end of the group also takes links down, and their devices with them */
	struct smc_link *link = smc_link_enter_at(lgr, index);
	int rc;

	if (!link)
		return -ECONNABORTED;
	rc = llc_connect_link(link, peer);
	if (!rc)
		rc = smc_link_prepare(link);
	smc_link_exit(link);
	return rc;
}

static void llc_stop_link(struct smc_link_group *lgr, u8 index)
{
	struct smc_link *link = smc_link_enter_at(lgr, index);

	if (!link)
		return;
	smc_link_stop(link);
	smc_link_exit(link);
}

static void llc_destroy_link(struct smc_link_group *lgr, u8 index)
{
	/* only the work item of this index destroys it */
	struct smc_link *link = READ_ONCE(lgr->links[index]);

	if (!link)
		return;
	smc_link_destroy(link);
	smc_llc_ports_update(lgr);
}

/* A link to destroy needs no other work, and the machine expects no report of it. */
static void llc_task_work(struct work_struct *work)
{
	struct smc_llc_task *task = container_of(work, struct smc_llc_task, work);
	struct smc_link_group *lgr = task->lgr;
	struct smc_llc_order want;
	u8 index = task->index;

	scoped_guard(mutex, &lgr->lock) {
		want = task->order;
		task->order.todo = 0;
	}
	if (want.todo & SMC_LLC_TODO_DESTROY) {
		llc_destroy_link(lgr, index);
		smc_llc_report(lgr, SMC_LLC_EV_LINK_DESTROYED, index, true, 0);
		goto put;
	}
	if (want.todo & SMC_LLC_TODO_STOP)
		llc_stop_link(lgr, index);
	if (want.todo & SMC_LLC_TODO_CREATE)
		smc_llc_report(lgr, SMC_LLC_EV_LINK_CREATED, index,
			       !llc_create_link(lgr, index, &want), 0);
	if (want.todo & SMC_LLC_TODO_PREPARE)
		smc_llc_report(lgr, SMC_LLC_EV_LINK_PREPARED, index,
			       !llc_prepare_link(lgr, index, &want.end), 0);
put:
	smc_lgr_put(lgr);
}

/**
 * smc_llc_task_init() - prepare a group that is being formed
 * @lgr: the group
 *
 * Context: Process context.
 */
void smc_llc_task_init(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		llc->task[i].lgr = lgr;
		llc->task[i].index = i;
		INIT_WORK(&llc->task[i].work, llc_task_work);
	}
}
