// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC engine: runs the state machine of smc_llc_flow.c for each link group.
 *
 * Operation: every event is queued in the group's ring, which kicks the group's work item
 * (smc_llc_msg.c). The work item takes lgr->lock, feeds the events to the machine one by
 * one and carries out the resulting actions. It also has idle regions given back
 * (smc_pool.c). Work on links may take seconds: a work item per link index does it in
 * order, without lgr->lock, and reports back as events. One work item follows the devices.
 *
 * Ownership: a queued or running work item holds a reference on the group. A link is
 * freed with its group; lgr->links names the links that have queues.
 *
 * Error handling: a peer that sends nonsense, or faster than it is answered, loses the
 * link. Once the machine is dead the ring is closed and all requests end with
 * -ECONNABORTED. A group that is taken down from below reports its links broken.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/string.h>

#include "smc_compat.h"
#include "proto/smc_llc_v2.h"
#include "rdma/smc_event.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_route.h"
#include "group/smc_core.h"
#include "group/smc_failover.h"
#include "group/smc_link.h"
#include "group/smc_llc.h"
#include "group/smc_llc_msg.h"
#include "group/smc_peer.h"
#include "group/smc_pool.h"
#include "control/smc_trace.h"

/* The client waits longer: ending an idle group is the server's job. */
#define LLC_CLIENT_IDLE_MS	10000

#define LLC_TEST_LINK_TRIES	3

/* Upper bound of the delay until an idle group notices a changed setting. */
#define LLC_MAX_SLEEP_MS	(10 * MSEC_PER_SEC)

/* Bound on waiting for silent peers when a namespace or the module goes away. */
#define LLC_END_ALL_MS		3000

/* polling interval while the neighbour of a new link is resolved */
#define LLC_NEIGHBOUR_STEP_MS	20

/* Ports that reach the peer's RNIC of the first link come first. */
static void llc_sort_ends(struct smc_ib_end *ends, unsigned int nr, const u8 peer_gid[16])
{
	unsigned int i, near = 0;

	for (i = 0; i < nr; i++) {
		if (!smc_ib_end_reaches(&ends[i], peer_gid))
			continue;
		swap(ends[near], ends[i]);
		near++;
	}
}

static unsigned int llc_lan_ends(const struct smc_link_group *lgr, struct smc_ib_end *ends)
{
	unsigned int nr = smc_ib_lan_ends(lgr->key.net, &lgr->llc.lan, ends, SMC_LLC_RNICS);

	llc_sort_ends(ends, nr, lgr->llc.peer_gid);
	return nr;
}

/* Returns the new length. A port with a link is listed with the GID of the link. */
static unsigned int llc_list_port(const struct smc_ib_end *own, struct smc_ib_end *ends,
				  unsigned int nr)
{
	unsigned int k;

	for (k = 0; k < nr; k++) {
		if (ends[k].dev != own->dev || ends[k].port != own->port)
			continue;
		/* the reference is on the device, which is the same */
		ends[k] = *own;
		return nr;
	}
	if (nr == SMC_LLC_RNICS)
		return nr;
	smc_ib_end_copy(&ends[nr], own);
	return nr + 1;
}

/*
 * The ports that may carry links, SMC_LLC_RNICS at most, with a reference each. A port
 * with a link has the GID of that, or a second GID would look like a second RNIC (LG-10).
 * It is listed even where only the link proves that it is on the LAN (no IPv4, link-local
 * GIDs): a server with one RNIC offers it (SL-02).
 */
static unsigned int llc_ports_of(struct smc_link_group *lgr, struct smc_ib_end *ends)
{
	unsigned int k, found, nr;
	int i;

	/* a server that wants no further links offers the RNIC in use */
	nr = lgr->llc.wants_links ? llc_lan_ends(lgr, ends) : 0;
	found = nr;
	scoped_guard(mutex, &lgr->lock)
		for (i = 0; i < SMC_LINKS_MAX; i++)
			if (lgr->links[i])
				nr = llc_list_port(&lgr->links[i]->wr.end, ends, nr);
	/* a failed link may outlive its port */
	for (k = found; k < nr; ) {
		if (!smc_ib_end_is_dead(&ends[k]) && smc_ib_end_is_up(&ends[k])) {
			k++;
			continue;
		}
		smc_ib_end_put(&ends[k]);
		ends[k] = ends[--nr];
	}
	/* that of a link's end is as old as the link */
	for (k = 0; k < nr; k++)
		ends[k].mtu = smc_ib_end_mtu(&ends[k]);
	return nr;
}

/* Returns true if the list changed. Of parallel scans the last begun counts. */
static bool llc_scan_ports(struct smc_link_group *lgr)
{
	struct smc_ib_end ends[SMC_LLC_RNICS];
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_rnics rnics = {};
	bool is_new;
	u32 turn;
	u8 i;

	scoped_guard(spinlock_irqsave, &llc->queue_lock)
		turn = ++llc->nr_scans;
	rnics.count = llc_ports_of(lgr, ends);
	for (i = 0; i < rnics.count; i++) {
		memcpy(rnics.rnic[i].mac, ends[i].mac, sizeof(rnics.rnic[i].mac));
		memcpy(rnics.rnic[i].gid, ends[i].gid.raw, sizeof(rnics.rnic[i].gid));
		rnics.rnic[i].mtu = ends[i].mtu;
		smc_ib_end_put(&ends[i]);
	}
	guard(spinlock_irqsave)(&llc->queue_lock);
	if ((s32)(turn - llc->last_scan) <= 0)
		return false;
	is_new = memcmp(&llc->rnics, &rnics, sizeof(rnics));
	llc->rnics = rnics;
	llc->last_scan = turn;
	return is_new;
}

static void llc_ports_copy(struct smc_llc *llc, struct smc_llc_rnics *rnics)
{
	guard(spinlock_irqsave)(&llc->queue_lock);
	*rnics = llc->rnics;
}

/* Begin to watch ports for a group that may have several links; @link is its first. */
static void llc_ports_follow(struct smc_link *link, const u8 peer_gid[SMC_GID_LEN])
{
	struct smc_llc *llc = &link->lgr->llc;

	smc_ib_lan_of(link->lgr->key.net, &link->wr.end, &llc->lan);
	memcpy(llc->peer_gid, peer_gid, sizeof(llc->peer_gid));
	/* pairs with smp_load_acquire() in llc_ports_update() */
	smp_store_release(&llc->wants_links, true);
	/* after the release: later changes are seen by llc_ports_update() */
	llc_scan_ports(link->lgr);
}

/* Also when a link is gone: its port may have another GID, hidden by the link until now. */
static void llc_ports_update(struct smc_link_group *lgr)
{
	/* pairs with smp_store_release() in llc_ports_follow() */
	if (smp_load_acquire(&lgr->llc.wants_links) && !smc_lgr_is_down(lgr) &&
	    llc_scan_ports(lgr))
		smc_llc_report(lgr, SMC_LLC_EV_RNICS, 0, true, 0);
}

static void llc_update_one(struct smc_link_group *lgr, void *unused)
{
	llc_ports_update(lgr);
}

/* RDMA ports may have come or gone; C.8, ERR-58, ADDL-06. A later change queues this again. */
static void llc_ports_work(struct work_struct *work)
{
	smc_lgr_for_each(NULL, llc_update_one, NULL);
}

static DECLARE_WORK(llc_ports, llc_ports_work);

static void llc_ports_init(void)
{
	smc_ib_listen(&llc_ports);
}

static void llc_ports_exit(void)
{
	smc_ib_listen(NULL);
	cancel_work_sync(&llc_ports);
}

/* The outcome is reported as an event, except for SMC_LLC_TODO_STOP. */
static void llc_task_do(struct smc_link_group *lgr, u8 index, enum smc_llc_todo todo)
{
	struct smc_llc_task *task = &lgr->llc.task[index];

	lockdep_assert_held(&lgr->lock);
	task->order.todo |= todo;
	smc_core_queue(lgr, &task->work);
}

static void llc_task_create(struct smc_link_group *lgr, const struct smc_llc_action *act)
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
	llc_task_do(lgr, act->link, SMC_LLC_TODO_CREATE);
}

static void llc_task_prepare(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	lockdep_assert_held(&lgr->lock);
	lgr->llc.task[act->link].order.end = act->end;
	llc_task_do(lgr, act->link, SMC_LLC_TODO_PREPARE);
}

/* The machine chose this port from the ports reported to it. */
static int llc_find_end(struct smc_link_group *lgr, const struct smc_llc_end *wanted,
			struct smc_ib_end *end)
{
	struct smc_ib_end ends[SMC_LLC_RNICS];
	unsigned int i, nr;
	int rc = -ENODEV;

	nr = llc_ports_of(lgr, ends);
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
 * A route leads to the peer's port, or (version 1) a shared subnet. The subnet also
 * decides if the port's interface is in another namespace, whose routes must not be used
 * unless a PNETID admits the port.
 * The wait for a neighbour is short: once resolved, the next attempt succeeds.
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
	if (!lgr->params.is_routed || (!like.oif && !end->is_beside))
		return smc_ib_end_reaches(end, gid) ? 0 : -ENETUNREACH;
	do {
		rc = smc_route_find(lgr->key.net, &like, end, gid, route);
		if (rc == -EAGAIN)
			msleep(LLC_NEIGHBOUR_STEP_MS);
	} while (rc == -EAGAIN && llc_now() < until && !smc_lgr_is_down(lgr));
	return rc;
}

/*
 * Fails early if no path leads from the port to the peer's. After a failure the machine has what is
 * there destroyed.
 */
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
	rc = llc_find_end(lgr, &want->end, &end);
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
	return want->is_bare ? 0 : smc_link_map(link);
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
	llc_ports_update(lgr);
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

static void llc_task_init(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		llc->task[i].lgr = lgr;
		llc->task[i].index = i;
		INIT_WORK(&llc->task[i].work, llc_task_work);
	}
}

/* Publish the machine's link numbers for observers. */
static void llc_show_link(struct smc_link_group *lgr, u8 index)
{
	const struct smc_llc_link *from = &lgr->llc.flow.link[index];
	struct smc_link *to = lgr->links[index];

	if (!to || from->state == SMC_LLC_LINK_FREE)
		return;
	WRITE_ONCE(to->num, from->num);
	WRITE_ONCE(to->uid, from->local_uid);
	WRITE_ONCE(to->peer_uid, from->peer_uid);
}

static void llc_count_fault(struct smc_link_group *lgr, enum smc_llc_why why)
{
	enum smc_llc_fault fault = smc_llc_why_fault(why);

	if (fault == SMC_LLC_FAULT_TIMEOUT)
		llc_count(lgr, SMC_STAT_LLC_TIMEOUT);
	else if (fault == SMC_LLC_FAULT_BAD)
		llc_count(lgr, SMC_STAT_LLC_BAD);
}

static void llc_link_up(struct smc_link_group *lgr, u8 index)
{
	struct smc_link *link = lgr->links[index];

	lgr->type = smc_llc_flow_type(&lgr->llc.flow);
	llc_count(lgr, SMC_STAT_LINK_UP);
	llc_show_link(lgr, index);
	lgr->llc.nr_announced = 0;
	if (!link)
		return;
	pr_info_ratelimited("link group %08x, link %u is up on %s (%s)\n", lgr->id, link->num,
			    link->wr.dev_name, smc_state_lgr_type_names[lgr->type]);
	smc_link_set_state(link, SMC_LINK_ACTIVE);
	/* a landing needs no patience */
	if (!(READ_ONCE(lgr->ext) & SMC_LLC_EXT_LANDING))
		smc_wr_be_patient(&link->wr, smc_net_patience_ms(lgr->key.net));
	/* it takes over connections, LB-01 */
	lgr->llc.has_new_link = true;
	smc_failover_queue(lgr);
}

/* A link given up in order still completes what is in flight; a lost one is stopped. */
static void llc_link_down(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	struct smc_link *link = lgr->links[act->link];

	llc_count(lgr, SMC_STAT_LINK_DOWN);
	llc_count_fault(lgr, act->why);
	pr_info_ratelimited("link group %08x, link %u is down: %s\n", lgr->id,
			    lgr->llc.flow.link[act->link].num, smc_llc_why_name(act->why));
	if (!link)
		return;
	if (act->why == SMC_LLC_WHY_TEST_LINK_TIMEOUT)
		WRITE_ONCE(link->wr.is_peer_silent, true);
	trace_smcr_link_down(link, act->why, (void *)_RET_IP_);
	/* a first contact that fails has an event of its own */
	if (link->state == SMC_LINK_ACTIVE)
		smc_event_send(&(struct smc_event){
			.cmd = SMC_NETLINK_EVENT_LINK_DOWN, .net = lgr->key.net, .lgr = lgr,
			.link = link, .text = smc_llc_why_name(act->why) });
	smc_link_set_state(link, act->is_orderly ? SMC_LINK_DELETING : SMC_LINK_INACTIVE);
	lgr->type = smc_llc_flow_type(&lgr->llc.flow);
	if (act->is_orderly) {
		smc_failover_quiesce(link);
		return;
	}
	smc_failover_queue(lgr);
	llc_task_do(lgr, act->link, SMC_LLC_TODO_STOP);
}

/* The remaining connections move. */
static void llc_link_clear(struct smc_link_group *lgr, u8 index)
{
	if (lgr->links[index])
		smc_link_set_state(lgr->links[index], SMC_LINK_INACTIVE);
	smc_failover_queue(lgr);
}

static void llc_group_failed(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	enum smc_decline decline = SMC_DECLINE_NONE;

	if (act->fail == SMC_LLC_FAIL_DECLINE)
		decline = act->diagnosis;
	else if (act->fail == SMC_LLC_FAIL_DECLINED)
		decline = SMC_DECLINE_PEERDECL;
	/* written before the state that waiters check */
	lgr->fail_is_path = act->fail == SMC_LLC_FAIL_RESET && smc_llc_why_is_path(act->why);
	llc_count_fault(lgr, act->why);
	pr_info_ratelimited("link group %08x not formed: %s\n", lgr->id,
			    smc_llc_why_name(act->why));
	if (lgr->links[0])
		trace_smcr_link_down(lgr->links[0], act->why, (void *)_RET_IP_);
	smc_lgr_fail(lgr, decline);
}

/* A path of another MTU may work. */
static bool llc_has_outdated(const struct smc_link_group *lgr)
{
	u8 i;

	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (lgr->links[i] && READ_ONCE(lgr->links[i]->wr.max_write))
			return true;
	return false;
}

/* Later connects need not discover again that no path works. */
static void llc_remember_failure(struct smc_link_group *lgr, enum smc_llc_why why)
{
	if (READ_ONCE(lgr->state) == SMC_LGR_ACTIVE && smc_llc_why_is_path(why) &&
	    !llc_has_outdated(lgr) && !smc_lgr_has_successor(lgr))
		smc_peer_failed(lgr->key.net, SMC_PEER_HAS_WORKED, &lgr->key.peer_addr, 0,
				SMC_DECLINE_NOACTLINK, 0);
}

/* Returns true if the outcome is known at once: @ev is then the event to feed next. */
static bool llc_perform(struct smc_link_group *lgr, struct smc_llc_action *act,
			struct smc_llc_event *ev)
{
	switch (act->type) {
	case SMC_LLC_ACT_SEND:
		llc_show_link(lgr, act->link);
		smc_llc_msg_send(lgr, act);
		return false;
	case SMC_LLC_ACT_COMMIT_DIALECT:
		WRITE_ONCE(lgr->ext, act->ext);
		smc_lgr_commit_dialect(lgr, act->dialect);
		return false;
	case SMC_LLC_ACT_CREATE_LINK:
		llc_task_create(lgr, act);
		return false;
	case SMC_LLC_ACT_PREPARE_LINK:
		llc_task_prepare(lgr, act);
		return false;
	case SMC_LLC_ACT_DESTROY_LINK:
		llc_task_do(lgr, act->link, SMC_LLC_TODO_DESTROY);
		return false;
	case SMC_LLC_ACT_LINK_UP:
		llc_link_up(lgr, act->link);
		return false;
	case SMC_LLC_ACT_ROUND_TRIP:
		if (lgr->links[act->link])
			smc_failover_link_drained(lgr->links[act->link]);
		return false;
	case SMC_LLC_ACT_KEEP_PAIRS:
		smc_llc_msg_keep(&lgr->llc, &lgr->llc.kept);
		return false;
	case SMC_LLC_ACT_KEEP_RKEYS:
		smc_llc_msg_keep(&lgr->llc, &lgr->llc.kept_rkeys);
		return false;
	case SMC_LLC_ACT_STORE_PAIRS:
		ev->ok = smc_llc_rtoken_store_pairs(lgr, act);
		ev->type = SMC_LLC_EV_PAIRS_STORED;
		ev->link = act->target;
		return true;
	case SMC_LLC_ACT_GROUP_UP:
		/* discard an unsent probe: from now on the element carries data */
		lgr->llc.probe.len = 0;
		smc_peer_group_up(lgr->key.net, &lgr->key.peer_addr, lgr->params.is_routed,
				  lgr->links[0] && lgr->links[0]->wr.end.is_v2);
		smc_pool_start_keys(lgr);
		smc_pool_start_sweep(lgr);
		smc_lgr_activate(lgr);
		return false;
	case SMC_LLC_ACT_GROUP_FAILED:
		llc_group_failed(lgr, act);
		return false;
	case SMC_LLC_ACT_STORE_RTOKEN:
		ev->ok = smc_rtoken_store(lgr->rtokens, act->rkeys);
		ev->type = SMC_LLC_EV_RTOKEN_STORED;
		ev->link = act->link;
		return true;
	case SMC_LLC_ACT_DELETE_RTOKENS:
		smc_llc_rtoken_delete(lgr, act, ev);
		ev->type = SMC_LLC_EV_RTOKENS_DELETED;
		ev->link = act->link;
		return true;
	case SMC_LLC_ACT_STALE:
		llc_count(lgr, SMC_STAT_LLC_STALE);
		return false;
	case SMC_LLC_ACT_RKEY_DONE:
		smc_pool_keys_done(lgr, act->result);
		return false;
	case SMC_LLC_ACT_LINK_DOWN:
		llc_link_down(lgr, act);
		return false;
	case SMC_LLC_ACT_LINK_CLEAR:
		llc_link_clear(lgr, act->link);
		return false;
	case SMC_LLC_ACT_TERMINATE:
		llc_remember_failure(lgr, act->why);
		smc_lgr_terminate(lgr, smc_llc_why_name(act->why));
		return false;
	}
	return false;
}

/* Feed one event and all that follow from it at once. */
static void llc_feed(struct smc_link_group *lgr, struct smc_llc_event *ev)
{
	struct smc_llc *llc = &lgr->llc;
	bool is_more;
	unsigned int i;

	lockdep_assert_held(&lgr->lock);
	do {
		smc_llc_flow_event(&llc->flow, ev, llc_now(), &llc->actions);
		is_more = false;
		for (i = 0; i < llc->actions.nr; i++)
			is_more |= llc_perform(lgr, &llc->actions.act[i], ev);
	} while (is_more);
	/* A connection that joined now would be reset. */
	if (llc->flow.phase == SMC_LLC_TERMINATING)
		smc_lgr_shut(lgr);
}

static void llc_feed_plain(struct smc_link_group *lgr, enum smc_llc_event_type type, u8 link)
{
	struct smc_llc_event ev = { .type = type, .link = link };

	llc_feed(lgr, &ev);
}

static void llc_end_of(const struct smc_link *link, struct smc_llc_end *end)
{
	memcpy(end->mac, link->wr.end.mac, sizeof(end->mac));
	memcpy(end->gid, link->wr.end.gid.raw, sizeof(end->gid));
	end->qpn = link->wr.qpn;
	end->psn = link->psn;
	end->mtu = link->wr.end.mtu;
}

/* A report about a link given up meanwhile is stale: the next attempt may have begun. */
static void llc_created(struct smc_link_group *lgr, struct smc_llc_event *ev)
{
	struct smc_link *link = lgr->links[ev->link];
	struct smc_llc *llc = &lgr->llc;

	lockdep_assert_held(&lgr->lock);
	if (llc->flow.config != SMC_LLC_CONFIG_CREATE || llc->flow.config_target != ev->link)
		return;
	if (!link || !link->wr.qp)
		ev->ok = false;
	if (!ev->ok)
		return;
	llc->nr_announced = 0;
	llc_end_of(link, &ev->created.end);
	ev->created.is_direct = link->is_direct;
	ev->created.nr_rmbs = 0;
	/* A bare link has no regions to announce. */
	if (llc->flow.link[ev->link].is_bare)
		return;
	ev->created.nr_rmbs = smc_pool_select(lgr);
}

/* Other faults are of our own port or device, or mean that the peer is out of sync. */
static bool llc_fault_is_path(enum smc_wr_fault fault)
{
	return fault == SMC_WR_FAULT_SEND || fault == SMC_WR_FAULT_RECV ||
	       fault == SMC_WR_FAULT_QP;
}

/* Returns false if the machine needs no event. */
static bool llc_event_of(struct smc_link_group *lgr, const struct smc_llc_item *item,
			 struct smc_llc_event *ev)
{
	memset(ev, 0, sizeof(*ev));
	ev->type = item->type;
	ev->link = item->link;
	ev->ok = item->ok;
	ev->cookie = item->cookie;

	switch (item->type) {
	case SMC_LLC_EV_START:
		/* a client's first data may overtake this worker */
		if (lgr->params.has_dialect)
			smc_lgr_commit_dialect(lgr, SMC_DIALECT_DEPLOYED);
		ev->start = lgr->llc.start;
		return true;
	case SMC_LLC_EV_MSG:
		switch (smc_llc_form_decode(lgr->params.llc_form, item->more ?: item->raw,
					    item->len, lgr->llc.flow.dialect, &ev->msg)) {
		case SMC_LLC_OK:
			return true;
		case SMC_LLC_IGNORE:
			return false;
		case SMC_LLC_LINK_DOWN:
			break;
		}
		ev->type = SMC_LLC_EV_BAD_MSG;
		return true;
	case SMC_LLC_EV_REQ_TERMINATE:
	case SMC_LLC_EV_REQ_DELETE_LINK:
		ev->terminate.reason = item->cookie;
		ev->terminate.is_orderly = item->ok;
		return true;
	case SMC_LLC_EV_LINK_BROKEN:
		if (item->cookie == SMC_WR_FAULT_GOING)
			ev->type = SMC_LLC_EV_LINK_GOING;
		ev->ok = llc_fault_is_path(item->cookie);
		return true;
	case SMC_LLC_EV_RNICS:
		llc_ports_copy(&lgr->llc, &ev->rnics);
		return true;
	case SMC_LLC_EV_LINK_CREATED:
		llc_created(lgr, ev);
		return true;
	default:
		return true;
	}
}

static u64 llc_last_rx(struct smc_link *link, u64 now)
{
	unsigned long ago = jiffies - atomic_long_read(&link->wr.rx_jiffies);

	return now - min_t(u64, now, jiffies_to_msecs(ago));
}

/* Time of the last message on any other link; 0 if there is none. */
static u64 llc_other_rx(struct smc_link_group *lgr, unsigned int except, u64 now)
{
	u64 last = 0;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (i != except && lgr->links[i] && smc_llc_is_in_use(&lgr->llc.flow.link[i]))
			last = max(last, llc_last_rx(lgr->links[i], now));
	return last;
}

static void llc_feed_timer(struct smc_link_group *lgr)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_TIMER };
	u64 now = llc_now();
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		if (i && !smc_llc_is_in_use(&lgr->llc.flow.link[i]))
			continue;
		ev.type = SMC_LLC_EV_TIMER;
		ev.link = i;
		ev.timer.last_rx = lgr->links[i] ? llc_last_rx(lgr->links[i], now) : now;
		ev.timer.other_rx = llc_other_rx(lgr, i, now);
		get_random_bytes(ev.timer.user_data, sizeof(ev.timer.user_data));
		llc_feed(lgr, &ev);
	}
}

/* The ring overflowed: every link is out of sync. */
static void llc_feed_overrun(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	u8 i;

	scoped_guard(spinlock_irqsave, &llc->queue_lock) {
		if (!llc->is_overrun)
			return;
		llc->is_overrun = false;
	}
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (llc->flow.link[i].state != SMC_LLC_LINK_FREE)
			llc_feed_plain(lgr, SMC_LLC_EV_BAD_MSG, i);
}

/* Request TEST LINK on each of @links, with different random bytes on each. */
static void llc_feed_tests(struct smc_link_group *lgr, enum smc_llc_event_type type,
			   unsigned long links, bool must_answer)
{
	struct smc_llc_event ev = {};
	unsigned int i;

	for_each_set_bit(i, &links, SMC_LLC_LINKS) {
		ev.type = type;
		ev.link = i;
		ev.ok = must_answer;
		get_random_bytes(ev.timer.user_data, sizeof(ev.timer.user_data));
		llc_feed(lgr, &ev);
	}
}

static void llc_feed_stalls(struct smc_link_group *lgr, unsigned long links)
{
	struct smc_llc_event ev = {};
	u64 now = llc_now();
	unsigned int i, ago;

	for_each_set_bit(i, &links, SMC_LLC_LINKS) {
		if (!lgr->links[i])
			continue;
		ago = jiffies_to_msecs(READ_ONCE(lgr->links[i]->quiet));
		ev.type = SMC_LLC_EV_LINK_STALLED;
		ev.link = i;
		ev.stall.since = now - min_t(u64, now, ago);
		ev.stall.other_rx = llc_other_rx(lgr, i, now);
		ev.stall.is_down = !smc_ib_end_is_active(&lgr->links[i]->wr.end);
		get_random_bytes(ev.stall.user_data, sizeof(ev.stall.user_data));
		llc_feed(lgr, &ev);
	}
}

/* One probe per link and run. The machine ignores probes that it does not need. */
static void llc_feed_probes(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	unsigned long stalled, links, claims;

	scoped_guard(spinlock_irqsave, &llc->queue_lock) {
		stalled = llc->stalled;
		links = llc->to_probe;
		claims = llc->to_prove;
		llc->stalled = 0;
		llc->to_probe = 0;
		llc->to_prove = 0;
	}
	llc_feed_stalls(lgr, stalled);
	llc_feed_tests(lgr, SMC_LLC_EV_REQ_TEST_LINK, links & ~claims, false);
	llc_feed_tests(lgr, SMC_LLC_EV_REQ_TEST_LINK, claims, true);
}

/* Connections move to a new link once the peer has acknowledged what they sent. */
static void llc_spread(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	unsigned long links = 0;
	unsigned int i;

	llc->has_new_link = false;
	if (llc->flow.phase != SMC_LLC_UP)
		return;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_in_use(&llc->flow.link[i]))
			links |= BIT(i);
	llc_feed_tests(lgr, SMC_LLC_EV_REQ_ROUND_TRIP, smc_failover_spread(lgr, links), false);
}

static void llc_feed_idle(struct smc_link_group *lgr)
{
	struct smc_llc_event ev = {
		.type = SMC_LLC_EV_REQ_TERMINATE,
		.terminate.reason = SMC_LLC_DELETE_PROGRAM,
		.terminate.is_orderly = true,
	};

	WRITE_ONCE(lgr->llc.idle_at, 0);
	WRITE_ONCE(lgr->llc.is_surplus, false);
	if (smc_lgr_retire(lgr))
		llc_feed(lgr, &ev);
}

static bool llc_feed_request(struct smc_link_group *lgr)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_RKEY };

	if (!smc_pool_next_keys(lgr, &ev.rkey))
		return false;
	llc_feed(lgr, &ev);
	return true;
}

/* The machine is dead: refuse events, end all waits. */
static void llc_close(struct smc_link_group *lgr)
{
	smc_llc_queue_close(lgr);
	smc_llc_msg_free_long(&lgr->llc);
	smc_pool_close_keys(lgr);
}

static void llc_arm_timer(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	u64 now = llc_now();
	u64 idle_at, due;

	/* pairs with smc_llc_arm_idle(): this sees its idle_at, or that queues the worker */
	smp_store_mb(llc->armed_at, SMC_LLC_NO_DEADLINE);
	idle_at = READ_ONCE(llc->idle_at);
	if (llc->flow.phase == SMC_LLC_DEAD)
		return;
	due = smc_llc_flow_deadline(&llc->flow);
	if (idle_at)
		due = min(due, idle_at);
	due = min(due, smc_pool_sweep_due(lgr));
	if (due == SMC_LLC_NO_DEADLINE && !llc->swept_at)
		return;
	due = clamp(due, now, now + LLC_MAX_SLEEP_MS);
	smc_llc_queue_work_in(lgr, msecs_to_jiffies(due - now) + 1);
	WRITE_ONCE(llc->armed_at, due);
}

static void llc_feed_rnics(struct smc_link_group *lgr)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_RNICS };

	if (!lgr->llc.wants_links)
		return;
	llc_ports_copy(&lgr->llc, &ev.rnics);
	llc_feed(lgr, &ev);
}

/*
 * A break before the start was lost on the machine, and is reported only once. The bit
 * is set before the report is queued, so it is visible here.
 */
static void llc_feed_missed(struct smc_link_group *lgr, u8 index)
{
	struct smc_link *link = lgr->links[index];

	if (link && test_bit(SMC_WR_IS_REPORTED, &link->wr.flags))
		llc_feed_plain(lgr, SMC_LLC_EV_LINK_BROKEN, index);
}

/* Answer a TEST LINK for which slots were missing. */
static bool llc_answer(struct smc_link_group *lgr, const struct smc_llc_item *item)
{
	return item->type == SMC_LLC_EV_MSG && lgr->links[item->link] &&
	       smc_llc_answer_test(lgr->links[item->link], item->more ?: item->raw, item->len, 1);
}

static void llc_run(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	u64 idle_at = READ_ONCE(llc->idle_at);
	struct smc_llc_event ev;
	struct smc_llc_item item;

	lockdep_assert_held(&lgr->lock);
	while (smc_llc_queue_pop(llc, smc_llc_busy_links(lgr), &item)) {
		llc->msg = item.more;
		if (!llc_answer(lgr, &item) && llc_event_of(lgr, &item, &ev))
			llc_feed(lgr, &ev);
		smc_llc_msg_drop(&llc->msg);
		if (item.type == SMC_LLC_EV_START) {
			llc_feed_rnics(lgr);
			llc_feed_missed(lgr, item.link);
		}
	}
	llc_feed_overrun(lgr);
	llc_feed_probes(lgr);
	if (llc_now() >= smc_llc_flow_deadline(&llc->flow))
		llc_feed_timer(lgr);
	if (READ_ONCE(llc->is_surplus) || (idle_at && llc_now() >= idle_at))
		llc_feed_idle(lgr);
	smc_pool_sweep(lgr);
	while (llc_feed_request(lgr))
		;
	if (llc->has_new_link)
		llc_spread(lgr);
}

static void llc_feed_all_broken(struct smc_link_group *lgr)
{
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		llc_feed_plain(lgr, SMC_LLC_EV_LINK_BROKEN, i);
}

static void llc_work(struct work_struct *work)
{
	struct smc_llc *llc = container_of(work, struct smc_llc, work);
	struct smc_link_group *lgr = lgr_of(llc);

	mutex_lock(&lgr->lock);
	llc_run(lgr);
	/* Taken down before the machine was started, or by one of the actions above. */
	if (llc->flow.phase != SMC_LLC_DEAD && smc_lgr_is_down(lgr))
		llc_feed_all_broken(lgr);
	if (llc->flow.phase == SMC_LLC_DEAD)
		llc_close(lgr);
	llc_arm_timer(lgr);
	mutex_unlock(&lgr->lock);
	smc_lgr_put(lgr);
}

/**
 * smc_llc_init_module() - set up what all engines share
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_llc_init_module(void)
{
	int rc = smc_llc_queue_init();

	if (rc)
		return rc;
	llc_ports_init();
	return 0;
}

/**
 * smc_llc_exit_module() - undo smc_llc_init_module()
 *
 * All groups are gone; work items that drop the last references may still run.
 *
 * Context: Process context, sleeps.
 */
void smc_llc_exit_module(void)
{
	llc_ports_exit();
	smc_llc_queue_exit();
}

/* Negotiated with the peer, or this side's own limit. */
static u8 llc_max_links(const struct smc_link_group *lgr)
{
	u8 most = lgr->params.max_links;

	return lgr->params.max_links_is_fixed ? most :
	       min_t(u8, READ_ONCE(llc_settings(lgr)->max_links), most);
}

/**
 * smc_llc_init() - prepare the engine of a group that is being formed
 * @lgr: the group, not started; its key, id and params are set
 *
 * Context: Process context.
 */
void smc_llc_init(struct smc_link_group *lgr)
{
	const struct smc_settings *set = llc_settings(lgr);
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_params params = {
		.is_server = lgr->key.role == SMC_ROLE_SERVER,
		.wants_deployed = lgr->params.has_dialect || !READ_ONCE(set->dialect),
		.dialect_is_fixed = lgr->params.has_dialect,
		.offers = (READ_ONCE(set->immediate_data) ? SMC_LLC_EXT_IMMEDIATE : 0) |
			  (READ_ONCE(set->landing) ? SMC_LLC_EXT_LANDING : 0),
		.max_links_is_fixed = lgr->params.max_links_is_fixed,
		.max_links = llc_max_links(lgr),
		.has_long_add_link = smc_llc_form_has_long(lgr->params.llc_form),
		.max_conns = lgr->params.announced_max_conns,
		.link_uid_base = lgr->id,
		.test_link_idle_ms = min_t(u64, (u64)READ_ONCE(set->testlink_time) * MSEC_PER_SEC,
					   U32_MAX),
		.test_link_tries = LLC_TEST_LINK_TRIES,
		.is_patient = READ_ONCE(set->rdma_retries) >= SMC_IB_MAX_RETRIES,
		.timers = set->llc,
	};

	smc_llc_flow_init(&llc->flow, &params);
	INIT_WORK(&llc->work, llc_work);
	llc_task_init(lgr);
	smc_failover_init(lgr);
	smc_pool_init_sweep(lgr);
	smc_llc_queue_open(lgr);
	INIT_LIST_HEAD(&llc->requests);
	llc->armed_at = SMC_LLC_NO_DEADLINE;
	/* pairs with smp_load_acquire() in llc_may_end() */
	smp_store_release(&llc->is_ready, true);
}

/**
 * smc_llc_start_group() - begin first contact
 * @lgr: the group, after smc_llc_init()
 * @link: its first link, index 0, connected to the peer in @link->peer
 *
 * A client calls this right before it sends Confirm (CONFIRM LINK may arrive before the
 * send returns), a server when it has checked the Confirm. The outcome is the state after
 * FORMING. RFC 7609 3.5.1.3, 3.5.1.5; FC-08, FC-10, TMR-03.
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock, lgr->llc.queue_lock.
 */
void smc_llc_start_group(struct smc_link_group *lgr, struct smc_link *link)
{
	struct smc_llc_start *start = &lgr->llc.start;

	llc_end_of(link, &start->local);
	memcpy(start->peer.mac, link->peer.mac, sizeof(start->peer.mac));
	memcpy(start->peer.gid, link->peer.gid, sizeof(start->peer.gid));
	start->peer.qpn = link->peer.qpn;
	start->peer.psn = link->peer.psn;
	start->peer.mtu = link->peer.mtu;
	/* An RNIC linked to itself is the only one inside this host. */
	if (llc_max_links(lgr) > 1 &&
	    memcmp(start->local.gid, start->peer.gid, sizeof(start->peer.gid)) &&
	    smc_link_enter_at(lgr, link->index)) {
		llc_ports_follow(link, start->peer.gid);
		smc_link_exit(link);
	}
	smc_llc_report(lgr, SMC_LLC_EV_START, link->index, true, 0);
}

/**
 * smc_llc_declined() - report a Decline that arrived on TCP while the group is formed
 * @lgr: the group
 *
 * Before the point of no return the group fails with SMC_DECLINE_PEERDECL, after it with
 * none: then reset the TCP connection. RFC 7609 C.2, C.3; DCLN-06, ERR-23.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_declined(struct smc_link_group *lgr)
{
	smc_llc_report(lgr, SMC_LLC_EV_DECLINED, 0, true, 0);
}

/**
 * smc_llc_tcp_ended() - report a FIN that arrived on TCP while the group is formed
 * @lgr: the group
 *
 * Without CONFIRM LINK from the server the group fails, and TCP is to be reset: ERR-20 without its
 * timer. Otherwise this has no effect.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_tcp_ended(struct smc_link_group *lgr)
{
	smc_llc_report(lgr, SMC_LLC_EV_TCP_ENDED, 0, true, 0);
}

/**
 * smc_llc_end_group() - end a group by DELETE LINK
 * @lgr: the group
 * @reason: enum smc_llc_delete_link_reason
 * @is_orderly: requested by operator or program rather than caused by an error
 *
 * The group is taken down when that has left (server), when the server has answered
 * (client), or by a timer; it fails if it is still being formed. RFC 7609 3.5.4; LGT-01 to
 * LGT-06, DELL-14.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_end_group(struct smc_link_group *lgr, u32 reason, bool is_orderly)
{
	smc_llc_report(lgr, SMC_LLC_EV_REQ_TERMINATE, 0, is_orderly, reason);
}

/**
 * smc_llc_give_up_link() - give up one link of a group on request of the operator
 * @lgr: the group; the caller holds a reference
 * @index: link index
 *
 * A server sends DELETE LINK, a client requests it from the server. Connections move;
 * what is in flight when the client has answered is sent again on another link.
 * RFC 7609 3.5.5.1.3, 3.5.5.1.4; LGT-03, DELL-01, DELL-14.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_give_up_link(struct smc_link_group *lgr, u8 index)
{
	smc_llc_report(lgr, SMC_LLC_EV_REQ_DELETE_LINK, index, true, SMC_LLC_DELETE_OPERATOR);
}

/* Wait for all groups, or those of namespaces that end, until @until, in jiffies. */
struct llc_ending {
	bool is_for_all;
	unsigned long until;
};

/* A group that was just listed has no engine yet, nor a link to send on. */
static bool llc_may_end(const struct smc_link_group *lgr)
{
	/* pairs with smp_store_release() in smc_llc_init() */
	return smp_load_acquire(&lgr->llc.is_ready);
}

static void llc_end_one(struct smc_link_group *lgr, void *arg)
{
	if (llc_may_end(lgr))
		smc_llc_end_group(lgr, SMC_LLC_DELETE_OPERATOR, true);
}

/**
 * smc_llc_end_all() - begin to end groups because their namespace or the module goes away
 * @net: groups of this namespace, NULL for all
 *
 * Peers learn it from DELETE LINK rather than from silence. RFC 7609 4.8.3; PEER-01.
 *
 * Context: Process context. Expects no lock held.
 */
void smc_llc_end_all(struct net *net)
{
	smc_lgr_for_each(net, llc_end_one, NULL);
}

static void llc_wait_one(struct smc_link_group *lgr, void *arg)
{
	const struct llc_ending *ending = arg;
	long left = ending->until - jiffies;

	if ((ending->is_for_all || READ_ONCE(smc_net(lgr->key.net)->is_ending)) &&
	    llc_may_end(lgr) && left > 0)
		wait_event_timeout(lgr->waitq, smc_lgr_is_down(lgr), left);
}

/**
 * smc_llc_await_end() - wait for the peers of the groups that smc_llc_end_all() ends
 * @is_for_all: wait for all groups; otherwise for those of namespaces that end
 *
 * Waits LLC_END_ALL_MS in all, whatever the number of namespaces and the timers they have set.
 * RFC 7609 4.8.3; PEER-01.
 *
 * Context: Process context, sleeps. Expects no lock held.
 */
void smc_llc_await_end(bool is_for_all)
{
	struct llc_ending ending = {
		.is_for_all = is_for_all,
		.until = jiffies + msecs_to_jiffies(LLC_END_ALL_MS),
	};

	smc_lgr_for_each(NULL, llc_wait_one, &ending);
}

/**
 * smc_llc_arm_idle() - start the idle time of a group whose last connection left
 * @lgr: the group
 *
 * The group ends unless a connection joins in time. RFC 7609 3.5.4; LGT-01, LGT-02, TMR-10.
 *
 * Context: Process context.
 */
void smc_llc_arm_idle(struct smc_link_group *lgr)
{
	u64 idle_at = llc_now() + max(READ_ONCE(llc_settings(lgr)->lgr_idle_ms), 0);

	if (lgr->key.role == SMC_ROLE_CLIENT)
		idle_at += LLC_CLIENT_IDLE_MS;
	/* pairs with llc_arm_timer() */
	smp_store_mb(lgr->llc.idle_at, idle_at);
	/* otherwise the worker runs in time: a group may fall idle with each connection */
	if (READ_ONCE(lgr->llc.armed_at) > idle_at)
		smc_llc_queue_work(lgr);
}

/* A mask, not events: unauthenticated packets or many keepalive timers must not fill the ring. */
static void llc_mark(struct smc_link_group *lgr, unsigned long *mask, unsigned long links)
{
	struct smc_llc *llc = &lgr->llc;

	guard(spinlock_irqsave)(&llc->queue_lock);
	if (llc->is_closed)
		return;
	*mask |= links;
	smc_llc_queue_work(lgr);
}

/**
 * smc_llc_probe_link() - probe a link now
 * @link: the link; the caller holds a reference on its group
 *
 * For keepalive: a wrong answer takes the link down, and a missing one, unless no other link
 * answers either and the group can wait. Does nothing while a probe is in flight. RFC 7609
 * 4.5.3; KA-03 to KA-06.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_probe_link(struct smc_link *link)
{
	llc_mark(link->lgr, &link->lgr->llc.to_probe, BIT(link->index));
}

/**
 * smc_llc_probe_group() - probe all active links of a group
 * @lgr: the group; the caller holds a reference
 *
 * Checks a claim that is not authenticated or came outside the links: only a group that
 * the peer has lost ends by it.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_probe_group(struct smc_link_group *lgr)
{
	llc_mark(lgr, &lgr->llc.to_prove, BIT(SMC_LLC_LINKS) - 1);
}

/**
 * smc_llc_broken() - report that the queues of a link are unusable
 * @wr: the queues
 * @fault: reason
 *
 * Context: Any context, any lock held but lgr->llc.queue_lock, which it takes.
 */
void smc_llc_broken(struct smc_wr *wr, enum smc_wr_fault fault)
{
	struct smc_link *link = smc_link_of(wr);

	smc_llc_report(link->lgr, SMC_LLC_EV_LINK_BROKEN, link->index, false, fault);
}

/**
 * smc_llc_stalled() - report that nothing completes on a link, or that its port is down
 * @wr: its queues
 * @quiet: for how long, in jiffies
 *
 * The machine decides whether the peer answers elsewhere, so that the connections move.
 *
 * Context: Process context. Takes lgr->llc.queue_lock.
 */
void smc_llc_stalled(struct smc_wr *wr, unsigned long quiet)
{
	struct smc_link *link = smc_link_of(wr);

	WRITE_ONCE(link->quiet, quiet);
	llc_mark(link->lgr, &link->lgr->llc.stalled, BIT(link->index));
}
