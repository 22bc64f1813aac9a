// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC engine: runs the machine of smc_llc_flow.c for each link group.
 *
 * Operation: whatever happens (a message, the completion of a send, a lost
 * queue pair, a wish of this side) is queued in the group's ring and the
 * group's work item is kicked. The work item takes lgr->lock, feeds the events
 * to the machine one by one and carries out what it asks for: it posts
 * messages, notes the peer's keys, tells the group that it is up or at its
 * end, sees to it that connections move, and has work items create, bring up,
 * stop or destroy links. Those run without lgr->lock, for they may take seconds,
 * and report back as events; each link index has one, so what is done about a
 * link is done in order. TEST LINK is the exception: it needs no state and is
 * answered from the completion handler.
 *
 * Ports: one work item follows the RDMA devices and tells the machine of every
 * group that may have several links which ports could carry them now.
 *
 * Ownership: a queued or running work item and an armed timer hold a reference
 * on the group each. Links that were ever in use live as long as their group,
 * whether their queues do or not; lgr->links names those that have queues. A
 * message lives in the ring from its arrival until it is decoded, a long one until
 * its event is over or for as long as the machine has it kept. What is needed to
 * send a long one is got together when a link is created, without a lock. A request
 * for an RKEY exchange lives on the stack of the task that waits for it and is
 * completed exactly once; the machine's timers bound the wait.
 *
 * Error handling: a send that cannot be posted is reported to the machine like
 * one that completed badly. A peer that sends faster than it is answered, or
 * what makes no sense, loses the link. Once the machine is dead the ring is
 * closed and all requests end with -ECONNABORTED. A group that is taken down
 * from below reports its links broken, and the machine dies of that.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "smc_compat.h"
#include "smc_conn.h"
#include "smc_fault.h"
#include "smc_grow.h"
#include "smc_life.h"
#include "smc_link.h"
#include "smc_llc.h"
#include "smc_llc_form.h"
#include "smc_move.h"
#include "smc_net.h"
#include "smc_peer.h"
#include "smc_route.h"
#include "smc_trace.h"

/* The client's side lives a little longer: ending is the server's job. */
#define LLC_CLIENT_IDLE_MS	10000

#define LLC_RKEY_TRIES		5
#define LLC_TEST_LINK_TRIES	3

/* How often a neighbour on the way of a new link is looked for. */
#define LLC_NEIGHBOUR_STEP_MS	20

/* How late a changed setting of the namespace may act on a group that is silent. */
#define LLC_LONGEST_MS		(10 * MSEC_PER_SEC)

/* How long to wait before RMBs whose withdrawal failed are withdrawn again. */
#define LLC_SWEEP_AGAIN_MS	1000

/* Peers that do not answer hold up the end of a namespace, or a reboot, no longer. */
#define LLC_LEAVE_MS		3000

/**
 * struct smc_llc_request - an RKEY exchange that a task waits for
 * @node: in llc->requests until the machine has it
 * @is_delete: DELETE RKEY of @bufs, otherwise CONFIRM RKEY of @bufs[0]
 * @nr_bufs: length of @bufs
 * @bufs: RMBs concerned; borrowed
 * @links: links it named, a mask, under lgr->lock
 * @tries: attempts so far that failed for no change of the links
 * @result: outcome, valid once @done is complete
 * @done: completes exactly once
 */
struct smc_llc_request {
	struct list_head node;
	bool is_delete;
	unsigned int nr_bufs;
	struct smc_buf *bufs[SMC_LLC_DELETE_RKEYS];
	unsigned int links;
	unsigned int tries;
	int result;
	struct completion done;
};

static struct workqueue_struct *llc_wq;

static struct smc_link_group *lgr_of(struct smc_llc *llc)
{
	return container_of(llc, struct smc_link_group, llc);
}

static u64 llc_now(void)
{
	return jiffies64_to_msecs(get_jiffies_64());
}

static struct smc_settings *llc_settings(const struct smc_link_group *lgr)
{
	return &smc_net(lgr->key.net)->set;
}

static void llc_count(const struct smc_link_group *lgr, enum smc_stat id)
{
	smc_stat_inc(lgr->key.net, id);
}

/* The reference is dropped by the work item. */
static void llc_queue(struct smc_link_group *lgr, struct work_struct *work)
{
	smc_lgr_get(lgr);
	if (!queue_work(llc_wq, work))
		smc_lgr_put(lgr);
}

static void llc_push(struct smc_link_group *lgr, const struct smc_llc_item *item)
{
	bool is_rx = item->type == SMC_LLC_EV_MSG;
	struct smc_llc *llc = &lgr->llc;
	unsigned long flags;

	spin_lock_irqsave(&llc->queue_lock, flags);
	if (llc->is_closed) {
		kfree(item->more);
		goto unlock;
	}
	if (llc->nr == SMC_LLC_QUEUED || (is_rx && llc->nr_rx == SMC_LLC_RX_QUEUED)) {
		llc->is_overrun = true;
		kfree(item->more);
	} else {
		llc->queue[(llc->head + llc->nr) % SMC_LLC_QUEUED] = *item;
		llc->nr++;
		llc->nr_rx += is_rx;
	}
	llc_queue(lgr, &llc->work);
unlock:
	spin_unlock_irqrestore(&llc->queue_lock, flags);
}

static bool llc_pop(struct smc_llc *llc, struct smc_llc_item *item)
{
	unsigned long flags;
	bool has_item;

	spin_lock_irqsave(&llc->queue_lock, flags);
	has_item = llc->nr;
	if (has_item) {
		*item = llc->queue[llc->head];
		llc->head = (llc->head + 1) % SMC_LLC_QUEUED;
		llc->nr--;
		llc->nr_rx -= item->type == SMC_LLC_EV_MSG;
	}
	spin_unlock_irqrestore(&llc->queue_lock, flags);
	return has_item;
}

static void llc_report(struct smc_link_group *lgr, enum smc_llc_event_type type, u8 link,
		       bool ok, u64 cookie)
{
	struct smc_llc_item item = {
		.type = type, .link = link, .ok = ok, .cookie = cookie,
	};

	llc_push(lgr, &item);
}

/* A SEND of the machine has completed. */
static void llc_sent(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok)
{
	struct smc_link *link = smc_link_of(wr);

	llc_report(link->lgr, SMC_LLC_EV_SENT, link->index, ok, tag->cookie);
}

/*
 * A path that loses long packets (an MTU hole) or takes no writes must be found
 * while a Decline is still possible: a write as long as the path MTU goes ahead
 * of the client's CONFIRM LINK reply and of the server's ADD LINK request. If
 * it fails so does the message, and that is ERR-22 and ERR-10 at the server.
 */
static void llc_add_probe(struct smc_link_group *lgr, const struct smc_llc_action *act,
			  struct smc_wr_slot *slot)
{
	struct smc_llc_probe *probe = &lgr->llc.probe;
	u64 last = lgr->llc.flow.params.is_server ? SMC_LLC_SENT_ADD_LINK :
						    SMC_LLC_SENT_CONFIRM_LINK;
	struct smc_wr_write *write = &slot->write[0];

	if (!probe->len || act->cookie != last)
		return;
	write->raddr = probe->raddr;
	write->rkey = probe->rkey;
	write->nr_sge = 1;
	write->sge[0].addr = probe->laddr;
	write->sge[0].lkey = probe->lkey;
	write->sge[0].length = probe->len;
	slot->nr_writes = 1;
	/* once only: from now on the element may hold data */
	probe->len = 0;
}

/* One of our RMBs by its key on the link that carries the message, RKEY-20. */
static void llc_pair(const struct smc_llc_action *act, struct smc_buf *buf,
		     struct smc_llc_pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	if (!buf)
		return;
	pair->ref_rkey = smc_buf_rkey(buf, act->link);
	pair->rkey = smc_buf_rkey(buf, act->target);
	pair->vaddr = buf->iova;
}

/* Two RMBs. One that the peer was to forget meanwhile has no keys any more. */
static void llc_fill_pairs(struct smc_link_group *lgr, struct smc_llc_action *act)
{
	struct smc_llc_add_link_cont *cont = &act->msg.add_link_cont;
	struct smc_llc *llc = &lgr->llc;
	unsigned int k;

	for (k = 0; k < min_t(unsigned int, cont->nr_rtokens, SMC_LLC_CONT_PAIRS); k++) {
		if (WARN_ON_ONCE(act->first_rmb + k >= llc->nr_told))
			return;
		llc_pair(act, llc->told[act->first_rmb + k], &cont->pair[k]);
	}
}

/* All RMBs that are left of those that were counted. */
static unsigned int llc_list_pairs(const struct smc_llc *llc, const struct smc_llc_action *act,
				   struct smc_llc_pair *pair)
{
	unsigned int k, nr = 0;

	for (k = 0; k < llc->nr_told && nr < SMC_LLC_LONG_KEYS; k++)
		if (llc->told[k])
			llc_pair(act, llc->told[k], &pair[nr++]);
	return nr;
}

/* With all our keys. What it is built in was made together with the link. */
static int llc_build_add_link(struct smc_link_group *lgr, const struct smc_llc_action *act,
			      struct smc_wr_slot *slot)
{
	struct smc_llc_long *buf = lgr->llc.long_buf;
	struct smc_llc_more more;
	int rc;

	if (WARN_ON_ONCE(!buf))
		return -EINVAL;
	more.pair = buf->pair;
	more.nr = llc_list_pairs(&lgr->llc, act, buf->pair);
	rc = smc_llc_form_encode(lgr->params.llc_form, &act->msg, &more, lgr->llc.flow.dialect,
				 buf->msg, sizeof(buf->msg));
	return rc < 0 ? rc : smc_wr_slot_fill(slot, buf->msg, rc, &lgr->llc.long_page);
}

static int llc_encode(struct smc_link_group *lgr, const struct smc_llc_action *act,
		      const struct smc_llc_more *more, struct smc_wr_slot *slot)
{
	return smc_llc_form_encode(lgr->params.llc_form, &act->msg, more->nr ? more : NULL,
				   lgr->llc.flow.dialect, slot->msg, slot->room);
}

static int llc_build_msg(struct smc_link_group *lgr, const struct smc_llc_action *act,
			 struct smc_wr_slot *slot)
{
	u8 gid[SMC_LLC_ASKED_GIDS][SMC_GID_LEN];
	struct smc_llc_more more = { .gid = gid };
	int rc;

	if (act->has_pairs)
		return llc_build_add_link(lgr, act, slot);
	if (act->msg.type == SMC_LLC_REQ_ADD_LINK && !act->msg.is_reply)
		more.nr = smc_llc_flow_gids(&lgr->llc.flow, &act->end, gid);
	rc = llc_encode(lgr, act, &more, slot);
	/* a slot that was meant for data has room for one GID, which is all that it takes */
	if (rc == -EMSGSIZE && more.nr > 1) {
		more.nr = 1;
		rc = llc_encode(lgr, act, &more, slot);
	}
	if (rc > 0)
		slot->len = rc;
	return min(rc, 0);
}

/*
 * Answers have LLC's slots, and those alone: they are as many as the peer asks for, and
 * if they took all of data's, connections that wait for one would not be woken. Where
 * many links are lost at a time, one has to tell of all others: more than LLC has slots,
 * never as many as data has, and an answer needs one meanwhile.
 */
static struct smc_wr_slot *llc_slot_get(struct smc_link *link, const struct smc_llc_msg *msg)
{
	bool is_many = msg->type == SMC_LLC_DELETE_LINK && !msg->is_reply;
	struct smc_wr_slot *slot;

	slot = smc_wr_slot_get(&link->wr, is_many ? SMC_WR_DATA : SMC_WR_CTRL);
	if (!slot && !msg->is_reply)
		slot = smc_wr_slot_get(&link->wr, is_many ? SMC_WR_CTRL : SMC_WR_DATA);
	return slot;
}

static int llc_post(struct smc_link *link, const struct smc_llc_action *act)
{
	struct smc_wr_slot *slot;
	int rc;

	slot = llc_slot_get(link, &act->msg);
	if (!slot)
		return -EAGAIN;
	rc = llc_build_msg(link->lgr, act, slot);
	if (rc) {
		/* but for a long message in a slot that was meant for data */
		WARN_ON_ONCE(rc != -EMSGSIZE && rc != -ENOMEM);
		smc_wr_slot_put(slot);
		return rc;
	}
	slot->tag.done = llc_sent;
	slot->tag.cookie = act->cookie;
	llc_add_probe(link->lgr, act, slot);
	trace_smc_llc_tx(link, slot->msg, slot->len);
	return smc_wr_post(slot);
}

static void llc_send(struct smc_link_group *lgr, struct smc_llc_action *act)
{
	struct smc_link *link = lgr->links[act->link];

	if (act->msg.type == SMC_LLC_ADD_LINK_CONT)
		llc_fill_pairs(lgr, act);

	if (!link || llc_post(link, act))
		llc_report(lgr, SMC_LLC_EV_SENT, act->link, false, act->cookie);
	else
		llc_count(lgr, SMC_STAT_LLC_TX);
}

static void llc_forget_keys(struct smc_link_group *lgr, int idx, bool is_new)
{
	if (is_new)
		smc_rtoken_del(lgr->rtokens, idx);
}

/* The peer has a new RMB: its token on every link, or none at all. */
static bool llc_store_rtoken(struct smc_link_group *lgr, const struct smc_llc_rkeys *keys)
{
	const struct smc_llc_rtoken *here = &keys->rtoken[0];
	struct smc_rtokens *rt = lgr->rtokens;
	bool is_new;
	int idx;
	u8 i;

	is_new = smc_rtoken_find(rt, here->link_num, here->rkey, here->vaddr) < 0;
	idx = smc_rtoken_add(rt, here->link_num, here->rkey, here->vaddr);
	if (idx < 0)
		return false;
	for (i = 1; i < keys->count; i++) {
		const struct smc_llc_rtoken *tok = &keys->rtoken[i];

		if (smc_rtoken_set(rt, idx, tok->link_num, tok->rkey, tok->vaddr)) {
			llc_forget_keys(lgr, idx, is_new);
			return false;
		}
	}
	return true;
}

static bool llc_store_pair(struct smc_link_group *lgr, const struct smc_llc_action *act,
			   const struct smc_llc_pair *pair)
{
	int idx = smc_rtoken_find_rkey(lgr->rtokens, act->link, pair->ref_rkey);

	/* One that is not known, or no more, is used by nobody here. */
	return idx < 0 || !smc_rtoken_set(lgr->rtokens, idx, act->target, pair->rkey,
					  pair->vaddr);
}

static void llc_drop_msg(u8 **msg)
{
	kfree(*msg);
	*msg = NULL;
}

/* The message of this event is needed for longer than the event. */
static void llc_keep_msg(struct smc_llc *llc, u8 **kept)
{
	kfree(*kept);
	*kept = llc->msg;
	llc->msg = NULL;
}

/* Those that came with an ADD LINK, which was kept until now. */
static bool llc_store_kept(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_pair pair;
	bool is_good = llc->kept;
	unsigned int k;

	for (k = 0; k < act->msg.add_link.nr_pairs && is_good; k++) {
		smc_llc_form_pair(llc->kept, k, &pair);
		is_good = llc_store_pair(lgr, act, &pair);
	}
	llc_drop_msg(&llc->kept);
	return is_good;
}

/* How the peer's RMBs are reached over a link that is being added, RKEY-22. */
static bool llc_store_pairs(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	const struct smc_llc_add_link_cont *cont = &act->msg.add_link_cont;
	unsigned int k;

	if (act->msg.type == SMC_LLC_ADD_LINK)
		return llc_store_kept(lgr, act);
	for (k = 0; k < min_t(unsigned int, cont->nr_rtokens, SMC_LLC_CONT_PAIRS); k++)
		if (!llc_store_pair(lgr, act, &cont->pair[k]))
			return false;
	return true;
}

/*
 * Connections are cut off from an RMB before the answer says that it may go. Tells
 * of the keys that no RMB has, RKEY-18.
 */
static void llc_delete_rtokens(struct smc_link_group *lgr, const struct smc_llc_action *act,
			       struct smc_llc_event *ev)
{
	const struct smc_llc_delete_rkey *dr = &act->msg.delete_rkey;
	struct smc_llc *llc = &lgr->llc;
	unsigned int i;
	u32 rkey;
	int idx;

	ev->error_mask = 0;
	ev->nr_unknown = 0;
	for (i = 0; i < dr->count && !WARN_ON_ONCE(dr->is_long && !llc->kept_rkeys); i++) {
		rkey = dr->is_long ? smc_llc_form_rkey(llc->kept_rkeys, i) : dr->rkey[i];
		idx = smc_rtoken_find_rkey(lgr->rtokens, act->link, rkey);
		if (idx >= 0) {
			smc_conn_lose_rmb(lgr, idx);
			continue;
		}
		ev->nr_unknown++;
		if (i < SMC_LLC_DELETE_RKEYS)
			ev->error_mask |= 0x80 >> i;
	}
	llc_drop_msg(&llc->kept_rkeys);
}

static void llc_finish(struct smc_llc_request *req, int result)
{
	req->result = result;
	/* The waiter's stack may be gone after this. */
	complete(&req->done);
}

static unsigned int llc_active_links(const struct smc_llc *llc)
{
	unsigned int mask = 0;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (llc->flow.link[i].state == SMC_LLC_LINK_ACTIVE)
			mask |= BIT(i);
	return mask;
}

/*
 * The peer knows these RMBs now, or has forgotten them: so they are among those
 * that it is told of when a link is added, or not.
 */
static void llc_note_told(struct smc_llc *llc, const struct smc_llc_request *req)
{
	unsigned int i, k;

	for (i = 0; i < req->nr_bufs; i++) {
		req->bufs[i]->is_told = !req->is_delete;
		/* Deployed peers agree to a deletion while they add a link. */
		for (k = 0; k < llc->nr_told && req->is_delete; k++)
			if (llc->told[k] == req->bufs[i])
				llc->told[k] = NULL;
	}
}

/*
 * A request that was refused for now goes back to the head of the line: each
 * time that the links have changed, and a few times besides.
 */
static void llc_rkey_done(struct smc_link_group *lgr, int result)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req = llc->current_req;
	bool is_queued = false;
	unsigned long flags;

	llc->current_req = NULL;
	if (!req)
		return;
	if (!result)
		llc_note_told(llc, req);
	if (result == -EAGAIN && req->links == llc_active_links(llc))
		req->tries++;
	if (result == -EAGAIN && req->tries < LLC_RKEY_TRIES) {
		spin_lock_irqsave(&llc->queue_lock, flags);
		if (!llc->is_closed) {
			list_add(&req->node, &llc->requests);
			is_queued = true;
		}
		spin_unlock_irqrestore(&llc->queue_lock, flags);
		result = -ECONNABORTED;
	}
	if (!is_queued)
		llc_finish(req, result);
}

/* The reference is dropped by the work item. */
static void llc_do(struct smc_link_group *lgr, u8 index, enum smc_llc_todo todo)
{
	struct smc_llc_task *task = &lgr->llc.task[index];

	lockdep_assert_held(&lgr->lock);
	task->order.todo |= todo;
	smc_lgr_get(lgr);
	if (!smc_core_queue(&task->work))
		smc_lgr_put(lgr);
}

static void llc_create(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	struct smc_llc_order *order = &lgr->llc.task[act->link].order;
	const struct smc_llc_flow *flow = &lgr->llc.flow;
	const struct smc_link *carrier = lgr->links[flow->config_link];

	order->end = act->end;
	order->is_bare = act->is_bare;
	order->must_reach = !flow->params.is_server;
	memcpy(order->peer_gid, flow->add.offer.end.gid, sizeof(order->peer_gid));
	/* where the client's end will be a server cannot know */
	order->is_direct = !carrier || carrier->peer.hop_limit <= 1;
	llc_do(lgr, act->link, SMC_LLC_TODO_CREATE);
}

static void llc_prepare(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	lgr->llc.task[act->link].order.end = act->end;
	llc_do(lgr, act->link, SMC_LLC_TODO_PREPARE);
}

static void llc_queue_sweep(struct smc_link_group *lgr)
{
	smc_lgr_get(lgr);
	if (!smc_core_queue_patient(&lgr->llc.sweep_work))
		smc_lgr_put(lgr);
}

static void llc_arm_sweep(struct smc_link_group *lgr, bool again)
{
	lgr->llc.swept_at = llc_now();
	lgr->llc.sweep_again = again;
}

/* The setting is looked up anew each time: it may be changed while a group lives. */
static u64 llc_sweep_due(struct smc_link_group *lgr)
{
	int idle_ms = READ_ONCE(llc_settings(lgr)->rmb_idle_ms);

	if (lgr->llc.sweep_again)
		return lgr->llc.swept_at + LLC_SWEEP_AGAIN_MS;
	if (!lgr->llc.swept_at || idle_ms <= 0)
		return SMC_LLC_NO_DEADLINE;
	return lgr->llc.swept_at + idle_ms;
}

/* Numbers are the machine's alone; observers read them in the link. */
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

static void llc_note_why(struct smc_link_group *lgr, enum smc_llc_why why)
{
	switch (why) {
	case SMC_LLC_WHY_CONFIRM_LINK_TIMEOUT:
	case SMC_LLC_WHY_CONFIRM_LINK_REPLY_TIMEOUT:
	case SMC_LLC_WHY_ADD_LINK_TIMEOUT:
	case SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT:
	case SMC_LLC_WHY_DELETE_LINK_TIMEOUT:
	case SMC_LLC_WHY_RKEY_TIMEOUT:
	case SMC_LLC_WHY_TEST_LINK_TIMEOUT:
		llc_count(lgr, SMC_STAT_LLC_TIMEOUT);
		break;
	case SMC_LLC_WHY_CONFIRM_LINK_DATA:
	case SMC_LLC_WHY_TEST_LINK_DATA:
	case SMC_LLC_WHY_RKEY_MISSING:
	case SMC_LLC_WHY_OUT_OF_SYNC:
		llc_count(lgr, SMC_STAT_LLC_BAD);
		break;
	default:
		break;
	}
}

static void llc_link_up(struct smc_link_group *lgr, u8 index)
{
	struct smc_link *link = lgr->links[index];

	lgr->type = smc_llc_flow_type(&lgr->llc.flow);
	llc_count(lgr, SMC_STAT_LINK_UP);
	llc_show_link(lgr, index);
	lgr->llc.nr_told = 0;
	if (!link)
		return;
	pr_info_ratelimited("link group %08x, link %u is up on %s (%s)\n", lgr->id, link->num,
			    link->wr.dev_name, smc_state_lgr_type_name(lgr->type));
	smc_link_set_state(link, SMC_LINK_ACTIVE);
	/* it may take connections of others, LB-04 */
	lgr->is_uneven = true;
	smc_move_queue(lgr);
}

/*
 * Its connections move. Of a link that is lost nothing more is waited for; one
 * that is given up completes what it carries.
 */
static void llc_link_down(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	struct smc_link *link = lgr->links[act->link];

	llc_count(lgr, SMC_STAT_LINK_DOWN);
	llc_note_why(lgr, act->why);
	pr_info_ratelimited("link group %08x, link %u is down: %s\n", lgr->id,
			    lgr->llc.flow.link[act->link].num, smc_llc_why_name(act->why));
	if (!link)
		return;
	if (act->why == SMC_LLC_WHY_TEST_LINK_TIMEOUT)
		WRITE_ONCE(link->wr.is_peer_silent, true);
	trace_smcr_link_down(link, act->why, (void *)_RET_IP_);
	smc_link_set_state(link, act->is_orderly ? SMC_LINK_DELETING : SMC_LINK_INACTIVE);
	lgr->type = smc_llc_flow_type(&lgr->llc.flow);
	smc_move_queue(lgr);
	if (!act->is_orderly)
		llc_do(lgr, act->link, SMC_LLC_TODO_STOP);
}

static void llc_group_failed(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	enum smc_decline decline = SMC_DECLINE_NONE;

	if (act->fail == SMC_LLC_FAIL_DECLINE)
		decline = act->diagnosis;
	else if (act->fail == SMC_LLC_FAIL_DECLINED)
		decline = SMC_DECLINE_PEERDECL;
	llc_note_why(lgr, act->why);
	pr_info_ratelimited("link group %08x not formed: %s\n", lgr->id,
			    smc_llc_why_name(act->why));
	if (lgr->links[0])
		trace_smcr_link_down(lgr->links[0], act->why, (void *)_RET_IP_);
	smc_lgr_fail(lgr, decline);
}

/*
 * The last path to the peer is lost: who connects now need not find that out anew.
 * Unless it is only this group that has none, whose peer was started anew meanwhile.
 */
static void llc_note_path(struct smc_link_group *lgr, enum smc_llc_why why)
{
	if (READ_ONCE(lgr->state) == SMC_LGR_ACTIVE && smc_llc_why_is_path(why) &&
	    !smc_lgr_has_other(lgr))
		smc_peer_remember(lgr->key.net, &lgr->key.peer_addr, SMC_DECLINE_NOACTLINK,
				  true);
}

/*
 * Carry out one action. Returns true if its outcome is known at once: then
 * @ev holds the event to feed next.
 */
static bool llc_perform(struct smc_link_group *lgr, struct smc_llc_action *act,
			struct smc_llc_event *ev)
{
	switch (act->type) {
	case SMC_LLC_ACT_SEND:
		llc_show_link(lgr, act->link);
		llc_send(lgr, act);
		return false;
	case SMC_LLC_ACT_COMMIT_DIALECT:
		smc_lgr_commit_dialect(lgr, act->dialect);
		return false;
	case SMC_LLC_ACT_CREATE_LINK:
		llc_create(lgr, act);
		return false;
	case SMC_LLC_ACT_PREPARE_LINK:
		llc_prepare(lgr, act);
		return false;
	case SMC_LLC_ACT_DESTROY_LINK:
		llc_do(lgr, act->link, SMC_LLC_TODO_DESTROY);
		return false;
	case SMC_LLC_ACT_LINK_UP:
		llc_link_up(lgr, act->link);
		return false;
	case SMC_LLC_ACT_KEEP_PAIRS:
		llc_keep_msg(&lgr->llc, &lgr->llc.kept);
		return false;
	case SMC_LLC_ACT_KEEP_RKEYS:
		llc_keep_msg(&lgr->llc, &lgr->llc.kept_rkeys);
		return false;
	case SMC_LLC_ACT_STORE_PAIRS:
		ev->ok = llc_store_pairs(lgr, act);
		ev->type = SMC_LLC_EV_PAIRS_STORED;
		ev->link = act->target;
		return true;
	case SMC_LLC_ACT_GROUP_UP:
		smc_peer_forget(lgr->key.net, &lgr->key.peer_addr, lgr->params.is_routed);
		llc_arm_sweep(lgr, false);
		smc_lgr_activate(lgr);
		return false;
	case SMC_LLC_ACT_GROUP_FAILED:
		llc_group_failed(lgr, act);
		return false;
	case SMC_LLC_ACT_STORE_RTOKEN:
		ev->ok = llc_store_rtoken(lgr, act->rkeys);
		ev->type = SMC_LLC_EV_RTOKEN_STORED;
		ev->link = act->link;
		return true;
	case SMC_LLC_ACT_DELETE_RTOKENS:
		llc_delete_rtokens(lgr, act, ev);
		ev->type = SMC_LLC_EV_RTOKENS_DELETED;
		ev->link = act->link;
		return true;
	case SMC_LLC_ACT_RKEY_DONE:
		llc_rkey_done(lgr, act->result);
		return false;
	case SMC_LLC_ACT_LINK_DOWN:
		llc_link_down(lgr, act);
		return false;
	case SMC_LLC_ACT_TERMINATE:
		llc_note_path(lgr, act->why);
		smc_lgr_terminate(lgr);
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
	/* Who joined now would be reset. */
	if (llc->flow.phase == SMC_LLC_TERMINATING)
		smc_lgr_shut(lgr);
}

static void llc_feed_plain(struct smc_link_group *lgr, enum smc_llc_event_type type, u8 link)
{
	struct smc_llc_event ev = { .type = type, .link = link };

	llc_feed(lgr, &ev);
}

static void llc_copy_rnics(struct smc_llc *llc, struct smc_llc_rnics *rnics)
{
	unsigned long flags;

	spin_lock_irqsave(&llc->queue_lock, flags);
	*rnics = llc->rnics;
	spin_unlock_irqrestore(&llc->queue_lock, flags);
}

static void llc_end_of(const struct smc_link *link, struct smc_llc_end *end)
{
	memcpy(end->mac, link->wr.end.mac, sizeof(end->mac));
	memcpy(end->gid, link->wr.end.gid.raw, sizeof(end->gid));
	end->qpn = link->wr.qpn;
	end->psn = link->psn;
	end->mtu = link->wr.end.mtu;
}

static void llc_tell_pool(struct smc_llc *llc, struct smc_buf_pool *pool)
{
	struct smc_buf *buf = NULL;

	while ((buf = smc_buf_next(pool, buf)))
		if ((buf->is_told || buf->is_ready) && llc->nr_told < ARRAY_SIZE(llc->told))
			llc->told[llc->nr_told++] = buf;
}

/*
 * The RMBs that the peer knows are those it is told of for the new link. No
 * CONFIRM RKEY changes that before the link is up or given up (RKEY-15). A DELETE
 * RKEY that was under way may: llc_note_told() sees to that. So they are counted
 * once. News of a link that was given up meanwhile is ignored, for the next attempt
 * may have begun.
 */
static void llc_created(struct smc_link_group *lgr, struct smc_llc_event *ev)
{
	struct smc_link *link = lgr->links[ev->link];
	struct smc_llc *llc = &lgr->llc;
	struct smc_buf *buf;

	lockdep_assert_held(&lgr->lock);
	if (llc->flow.config != SMC_LLC_CONFIG_CREATE || llc->flow.config_target != ev->link)
		return;
	if (!link || !link->wr.qp)
		ev->ok = false;
	if (!ev->ok)
		return;
	llc->nr_told = 0;
	llc_end_of(link, &ev->created.end);
	ev->created.is_direct = link->is_direct;
	ev->created.nr_rmbs = 0;
	/* Of a bare link there is nothing to tell. */
	if (llc->flow.link[ev->link].is_bare)
		return;
	llc_tell_pool(llc, &lgr->rmbs);
	list_for_each_entry(buf, &lgr->leaving, node)
		if (buf->kind == SMC_BUF_RMB && buf->is_told &&
		    llc->nr_told < ARRAY_SIZE(llc->told))
			llc->told[llc->nr_told++] = buf;
	ev->created.nr_rmbs = llc->nr_told;
}

/* What the peer's RNIC did not answer, or an RNIC said of what it did. */
static bool llc_is_of_path(enum smc_wr_fault fault)
{
	return fault == SMC_WR_FAULT_SEND || fault == SMC_WR_FAULT_RECV ||
	       fault == SMC_WR_FAULT_QP;
}

/* Returns false if there is nothing to tell the machine. */
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
		/*
		 * A client that waits for no ADD LINK sends data right behind
		 * its CONFIRM LINK reply, which may overtake this worker.
		 */
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
		ev->ok = llc_is_of_path(item->cookie);
		return true;
	case SMC_LLC_EV_RNICS:
		llc_copy_rnics(&lgr->llc, &ev->rnics);
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

static void llc_feed_timer(struct smc_link_group *lgr)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_TIMER };
	u64 now = llc_now();
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++) {
		if (i && lgr->llc.flow.link[i].state != SMC_LLC_LINK_ACTIVE)
			continue;
		ev.type = SMC_LLC_EV_TIMER;
		ev.link = i;
		ev.timer.last_rx = lgr->links[i] ? llc_last_rx(lgr->links[i], now) : now;
		get_random_bytes(ev.timer.user_data, sizeof(ev.timer.user_data));
		llc_feed(lgr, &ev);
	}
}

/* More came in than the ring holds: every link is out of sync. */
static void llc_feed_overrun(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	unsigned long flags;
	bool is_overrun;
	u8 i;

	spin_lock_irqsave(&llc->queue_lock, flags);
	is_overrun = llc->is_overrun;
	llc->is_overrun = false;
	spin_unlock_irqrestore(&llc->queue_lock, flags);
	if (!is_overrun)
		return;
	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (llc->flow.link[i].state != SMC_LLC_LINK_FREE)
			llc_feed_plain(lgr, SMC_LLC_EV_BAD_MSG, i);
}

/* However often it was asked for; what the machine knows better is no news to it. */
static void llc_feed_probes(struct smc_link_group *lgr)
{
	struct smc_llc_event ev = {};
	struct smc_llc *llc = &lgr->llc;
	unsigned long flags, links;
	unsigned int i;

	spin_lock_irqsave(&llc->queue_lock, flags);
	links = llc->to_probe;
	llc->to_probe = 0;
	spin_unlock_irqrestore(&llc->queue_lock, flags);
	for_each_set_bit(i, &links, SMC_LLC_LINKS) {
		ev.type = SMC_LLC_EV_REQ_TEST_LINK;
		ev.link = i;
		get_random_bytes(ev.timer.user_data, sizeof(ev.timer.user_data));
		llc_feed(lgr, &ev);
	}
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

static int llc_build(struct smc_link_group *lgr, struct smc_llc_request *req,
		     struct smc_llc_rkeys *rkey)
{
	const struct smc_llc_flow *flow = &lgr->llc.flow;
	struct smc_llc_rtoken *rtoken;
	unsigned int n;
	u8 i;

	rkey->is_delete = req->is_delete;
	rkey->count = 0;
	req->links = llc_active_links(&lgr->llc);
	for (i = 0; i < SMC_LLC_LINKS; i++) {
		if (flow->link[i].state != SMC_LLC_LINK_ACTIVE)
			continue;
		for (n = 0; n < req->nr_bufs; n++) {
			rtoken = &rkey->rtoken[rkey->count++];
			rtoken->link_num = i;
			rtoken->rkey = smc_buf_rkey(req->bufs[n], i);
			rtoken->vaddr = req->bufs[n]->iova;
			if (!rtoken->rkey)
				return -ECONNABORTED;
		}
		/* Keys to delete are named as on one link only, RKEY-16. */
		if (req->is_delete)
			break;
	}
	return rkey->count ? 0 : -ECONNABORTED;
}

/* Give the machine the next request, built from the links there are now. */
static bool llc_feed_request(struct smc_link_group *lgr)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_RKEY };
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req;
	unsigned long flags;
	int rc;

	if (llc->current_req || !smc_llc_flow_may_request(&llc->flow, llc_now()))
		return false;
	spin_lock_irqsave(&llc->queue_lock, flags);
	req = list_first_entry_or_null(&llc->requests, struct smc_llc_request, node);
	if (req)
		list_del_init(&req->node);
	spin_unlock_irqrestore(&llc->queue_lock, flags);
	if (!req)
		return false;
	rc = llc_build(lgr, req, &ev.rkey);
	if (rc) {
		llc_finish(req, rc);
		return true;
	}
	llc->current_req = req;
	llc_feed(lgr, &ev);
	return true;
}

/* None is kept, built or sent any more. */
static void llc_free_long(struct smc_llc *llc)
{
	llc_drop_msg(&llc->kept);
	llc_drop_msg(&llc->kept_rkeys);
	kvfree(llc->long_buf);
	llc->long_buf = NULL;
	free_page((unsigned long)llc->long_page);
	llc->long_page = NULL;
}

/* The machine is dead: nothing is taken any more, nobody waits any more. */
static void llc_close(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req, *next;
	struct smc_llc_item item;
	unsigned long flags;
	LIST_HEAD(left);

	spin_lock_irqsave(&llc->queue_lock, flags);
	llc->is_closed = true;
	list_splice_init(&llc->requests, &left);
	spin_unlock_irqrestore(&llc->queue_lock, flags);
	while (llc_pop(llc, &item))
		kfree(item.more);
	llc_free_long(llc);
	llc_rkey_done(lgr, -ECONNABORTED);
	list_for_each_entry_safe(req, next, &left, node)
		llc_finish(req, -ECONNABORTED);
}

static void llc_arm_timer(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	u64 idle_at = READ_ONCE(llc->idle_at);
	u64 now = llc_now();
	u64 due;

	if (llc->flow.phase == SMC_LLC_DEAD) {
		if (cancel_delayed_work(&llc->timer))
			smc_lgr_put(lgr);
		return;
	}
	due = smc_llc_flow_deadline(&llc->flow);
	if (idle_at)
		due = min(due, idle_at);
	due = min(due, llc_sweep_due(lgr));
	if (due == SMC_LLC_NO_DEADLINE && !llc->swept_at)
		return;
	due = clamp(due, now, now + LLC_LONGEST_MS);
	/* The worker's own reference keeps the group through this. */
	smc_lgr_get(lgr);
	if (mod_delayed_work(llc_wq, &llc->timer, msecs_to_jiffies(due - now) + 1))
		smc_lgr_put(lgr);
}

static void llc_feed_rnics(struct smc_link_group *lgr)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_RNICS };

	if (!lgr->llc.wants_links)
		return;
	llc_copy_rnics(&lgr->llc, &ev.rnics);
	llc_feed(lgr, &ev);
}

/*
 * What broke before the machine was started was not news to it, and is reported
 * only once. The bit is set before the report is queued: if that came before
 * the start, the bit is seen here.
 */
static void llc_feed_missed(struct smc_link_group *lgr, u8 index)
{
	struct smc_link *link = lgr->links[index];

	if (link && test_bit(SMC_WR_IS_REPORTED, &link->wr.flags))
		llc_feed_plain(lgr, SMC_LLC_EV_LINK_BROKEN, index);
}

static void llc_run(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	u64 idle_at = READ_ONCE(llc->idle_at);
	struct smc_llc_event ev;
	struct smc_llc_item item;

	lockdep_assert_held(&lgr->lock);
	while (llc_pop(llc, &item)) {
		llc->msg = item.more;
		if (llc_event_of(lgr, &item, &ev))
			llc_feed(lgr, &ev);
		llc_drop_msg(&llc->msg);
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
	if (llc_now() >= llc_sweep_due(lgr)) {
		llc_arm_sweep(lgr, false);
		llc_queue_sweep(lgr);
	}
	while (llc_feed_request(lgr))
		;
}

static void llc_follow_down(struct smc_link_group *lgr)
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
	/* Taken down before it was started, or by one of the actions above. */
	if (llc->flow.phase != SMC_LLC_DEAD && smc_lgr_is_down(lgr))
		llc_follow_down(lgr);
	if (llc->flow.phase == SMC_LLC_DEAD)
		llc_close(lgr);
	llc_arm_timer(lgr);
	mutex_unlock(&lgr->lock);
	smc_lgr_put(lgr);
}

static void llc_timer(struct work_struct *work)
{
	struct smc_llc *llc = container_of(to_delayed_work(work), struct smc_llc, timer);
	struct smc_link_group *lgr = lgr_of(llc);

	llc_queue(lgr, &llc->work);
	smc_lgr_put(lgr);
}

/*
 * The ports that may carry links, as links know them: a port that has one keeps
 * the GID of that, or a second GID would look like a second RNIC (LG-10).
 */
static unsigned int llc_ports_of(struct smc_link_group *lgr, struct smc_ib_end *ends)
{
	unsigned int k, nr;
	struct smc_link *link;
	int i;

	nr = smc_ib_lan_ends(lgr->key.net, &lgr->llc.lan, ends, SMC_LLC_RNICS);
	mutex_lock(&lgr->lock);
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		link = lgr->links[i];
		/* the reference is on the device, which is the same */
		for (k = 0; link && k < nr; k++)
			if (ends[k].dev == link->wr.end.dev && ends[k].port == link->wr.end.port)
				ends[k] = link->wr.end;
	}
	mutex_unlock(&lgr->lock);
	return nr;
}

/* The port that the machine has chosen from those it was told of. */
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
 * Without RNICS the machine of a server offers the RNIC it has, to see whether
 * the client has another: SL-02.
 */
static int llc_first_end(struct smc_link_group *lgr, struct smc_ib_end *end)
{
	int rc = -ECONNABORTED;

	mutex_lock(&lgr->lock);
	if (lgr->links[0]) {
		smc_ib_end_copy(end, &lgr->links[0]->wr.end);
		rc = 0;
	}
	mutex_unlock(&lgr->lock);
	return rc;
}

/*
 * What a long ADD LINK will need, for it is sent under lgr->lock. After
 * llc_close() nothing is.
 */
static int llc_prepare_long(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_long *buf;
	int rc = -ECONNABORTED;
	u8 *page;

	if (!llc->flow.params.has_long_add_link)
		return 0;
	buf = kvmalloc(sizeof(*buf), GFP_KERNEL);
	page = (u8 *)get_zeroed_page(GFP_KERNEL);
	if (!buf || !page) {
		rc = -ENOMEM;
		goto free;
	}
	mutex_lock(&lgr->lock);
	if (llc->flow.phase != SMC_LLC_DEAD) {
		swap(llc->long_buf, buf);
		swap(llc->long_page, page);
		rc = 0;
	}
	mutex_unlock(&lgr->lock);
free:
	kvfree(buf);
	free_page((unsigned long)page);
	return rc;
}

static int llc_map_areas(struct smc_link *link)
{
	/* as where devices need copies of the CPU's memory, smc_buf_map() */
	return smc_fault_is_due(SMC_FAULT_MAP) ? -EOPNOTSUPP : smc_link_map(link);
}

/*
 * The way from a port to the peer's: a route, or the subnet that the two share. So it
 * is where an interface is another namespace's, whose routes are not for this one. A
 * neighbour is waited for, but not for long: it answers, or will be known next time.
 */
static int llc_find_way(struct smc_link_group *lgr, const struct smc_ib_end *end, const u8 *gid,
			struct smc_route *route)
{
	/* no TCP connection goes there: by the port's interface, and as root */
	struct smc_route_like like = { .uid = GLOBAL_ROOT_UID };
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

/* A port without a way to the peer's would be tried in vain. */
static int llc_create_link(struct smc_link_group *lgr, u8 index,
			   const struct smc_llc_order *want)
{
	struct smc_route route;
	struct smc_ib_end end;
	struct smc_link *link;
	int rc;

	rc = llc_prepare_long(lgr);
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
		rc = llc_find_way(lgr, &end, want->peer_gid, &route);
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

static struct smc_link *llc_link_at(struct smc_link_group *lgr, u8 index)
{
	struct smc_link *link;

	mutex_lock(&lgr->lock);
	link = lgr->links[index];
	mutex_unlock(&lgr->lock);
	/* The work item of this index alone destroys it. */
	return link;
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
	rc = llc_find_way(link->lgr, &link->wr.end, peer.gid, &route);
	if (rc)
		return rc;
	memcpy(peer.hop_mac, route.mac, sizeof(peer.hop_mac));
	peer.hop_limit = route.hop_limit;
	return smc_link_connect(link, &peer);
}

static int llc_prepare_link(struct smc_link_group *lgr, u8 index, const struct smc_llc_end *peer)
{
	/* the end of the group takes links down, too, and their devices with them */
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
	struct smc_link *link = llc_link_at(lgr, index);

	if (link)
		smc_link_destroy(link);
}

/*
 * A link that is to be destroyed needs nothing else: the machine does not miss
 * what else was asked for.
 */
static void llc_task_work(struct work_struct *work)
{
	struct smc_llc_task *task = container_of(work, struct smc_llc_task, work);
	struct smc_link_group *lgr = task->lgr;
	struct smc_llc_order want;
	u8 index = task->index;

	mutex_lock(&lgr->lock);
	want = task->order;
	task->order.todo = 0;
	mutex_unlock(&lgr->lock);
	if (want.todo & SMC_LLC_TODO_DESTROY) {
		llc_destroy_link(lgr, index);
		llc_report(lgr, SMC_LLC_EV_LINK_DESTROYED, index, true, 0);
		goto put;
	}
	if (want.todo & SMC_LLC_TODO_STOP)
		llc_stop_link(lgr, index);
	if (want.todo & SMC_LLC_TODO_CREATE)
		llc_report(lgr, SMC_LLC_EV_LINK_CREATED, index,
			   !llc_create_link(lgr, index, &want), 0);
	if (want.todo & SMC_LLC_TODO_PREPARE)
		llc_report(lgr, SMC_LLC_EV_LINK_PREPARED, index,
			   !llc_prepare_link(lgr, index, &want.end), 0);
put:
	smc_lgr_put(lgr);
}

/* Returns whether the list is another one than before. */
static bool llc_look_around(struct smc_link_group *lgr)
{
	struct smc_ib_end ends[SMC_LLC_RNICS];
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_rnics rnics = {};
	unsigned long flags;
	bool is_new;
	u8 i;

	rnics.count = llc_ports_of(lgr, ends);
	for (i = 0; i < rnics.count; i++) {
		memcpy(rnics.rnic[i].mac, ends[i].mac, sizeof(rnics.rnic[i].mac));
		memcpy(rnics.rnic[i].gid, ends[i].gid.raw, sizeof(rnics.rnic[i].gid));
		smc_ib_end_put(&ends[i]);
	}
	spin_lock_irqsave(&llc->queue_lock, flags);
	is_new = memcmp(&llc->rnics, &rnics, sizeof(rnics));
	llc->rnics = rnics;
	spin_unlock_irqrestore(&llc->queue_lock, flags);
	return is_new;
}

static void llc_follow_ports(struct smc_link_group *lgr, void *arg)
{
	/* pairs with smp_store_release() in smc_llc_start() */
	if (smp_load_acquire(&lgr->llc.wants_links) && !smc_lgr_is_down(lgr) &&
	    llc_look_around(lgr))
		llc_report(lgr, SMC_LLC_EV_RNICS, 0, true, 0);
}

/* RDMA ports may have come or gone; C.8, ERR-58, ADDL-06. */
static void llc_ports_work(struct work_struct *work)
{
	smc_lgr_for_each(llc_follow_ports, NULL);
}

static DECLARE_WORK(llc_ports, llc_ports_work);

/*
 * The machine's timers bound each exchange, but a peer that is slow in one way or
 * another may have a request wait for one exchange after the other.
 */
static unsigned long llc_patience(const struct smc_link_group *lgr)
{
	const struct smc_llc_timers *timers = &lgr->llc.flow.params.timers;

	return msecs_to_jiffies(LLC_RKEY_TRIES *
				(timers->reply + timers->delete_link + timers->rkey_retry));
}

/* What a request waits for is this side's own RNIC, which may need a minute to fail. */
static bool llc_is_at_work(struct smc_link_group *lgr)
{
	enum smc_llc_config config;

	mutex_lock(&lgr->lock);
	config = lgr->llc.flow.config;
	mutex_unlock(&lgr->lock);
	return config == SMC_LLC_CONFIG_CREATE || config == SMC_LLC_CONFIG_PREPARE ||
	       config == SMC_LLC_CONFIG_STORE;
}

/* Stand in line and wait. A peer that lets everything wait is none to be linked with. */
static int llc_request(struct smc_link_group *lgr, struct smc_llc_request *req)
{
	struct smc_llc *llc = &lgr->llc;
	unsigned long flags;
	bool is_closed;

	req->tries = 0;
	init_completion(&req->done);
	spin_lock_irqsave(&llc->queue_lock, flags);
	is_closed = llc->is_closed;
	if (!is_closed)
		list_add_tail(&req->node, &llc->requests);
	spin_unlock_irqrestore(&llc->queue_lock, flags);
	if (is_closed)
		return -ECONNABORTED;
	llc_queue(lgr, &llc->work);
	/* By workers, which get no signals. Not TASK_UNINTERRUPTIBLE: it may be minutes. */
	while (wait_for_completion_interruptible_timeout(&req->done, llc_patience(lgr)) <= 0) {
		if (llc_is_at_work(lgr))
			continue;
		smc_lgr_terminate(lgr);
		llc_queue(lgr, &llc->work);
		wait_for_completion_state(&req->done, TASK_IDLE);
		break;
	}
	return req->result;
}

/*
 * Tells the peer of RMBs that will go, and waits until it will not use them any
 * more: DELETE RKEY exchanges of up to eight RMBs each, ended by the machine's
 * timers. Keys unknown to the peer do no harm. -ECONNABORTED if the group has
 * ended meanwhile, or the link that was to say it; -EAGAIN if links change all the
 * time. RFC 7609 3.5.5.2.2, A.3.7; RMB-24, RMB-26, RKEY-16, RKEY-19.
 */
static int llc_withdraw(struct smc_link_group *lgr, const struct list_head *bufs)
{
	struct smc_llc_request req = { .is_delete = true };
	struct smc_buf *buf;
	int rc = 0;

	list_for_each_entry(buf, bufs, node) {
		req.bufs[req.nr_bufs++] = buf;
		if (req.nr_bufs < ARRAY_SIZE(req.bufs) && !list_is_last(&buf->node, bufs))
			continue;
		rc = llc_request(lgr, &req);
		if (rc)
			break;
		req.nr_bufs = 0;
	}
	return rc;
}

/* What is old enough goes, and more of the rest until @want bytes are gone. */
static unsigned long llc_take_idle(struct smc_link_group *lgr, struct smc_buf_pool *pool,
				   unsigned long want)
{
	int idle_ms = READ_ONCE(llc_settings(lgr)->rmb_idle_ms);
	unsigned long taken = 0;

	if (idle_ms > 0)
		taken = smc_lgr_take_idle(lgr, pool, msecs_to_jiffies(idle_ms), ULONG_MAX);
	if (taken < want)
		taken += smc_lgr_take_idle(lgr, pool, 0, want - taken);
	return taken;
}

static void llc_drop_leaving(struct smc_link_group *lgr, enum smc_buf_kind kind)
{
	smc_stat_add(lgr->key.net, SMC_STAT_AREA_BACK, smc_lgr_drop_leaving(lgr, kind));
}

/*
 * What the peer could not be told of it may still write to: so it stays until that has
 * been done. If the group ends instead, so do its RMBs.
 */
static void llc_give_rmbs_back(struct smc_link_group *lgr)
{
	int rc = llc_withdraw(lgr, &lgr->leaving);

	if (!rc || smc_lgr_is_down(lgr)) {
		llc_drop_leaving(lgr, SMC_BUF_RMB);
		return;
	}
	mutex_lock(&lgr->lock);
	llc_arm_sweep(lgr, true);
	mutex_unlock(&lgr->lock);
	llc_queue(lgr, &lgr->llc.work);
}

/*
 * Give areas back that nobody has used for a while, or whose memory is wanted:
 * send areas at once, RMBs after the peer has said that it forgets them.
 * Handshakes that want to add an area wait meanwhile. RFC 7609 3.5.5.2.2;
 * RMB-24 to RMB-26, TMR-14.
 */
static void llc_sweep_work(struct work_struct *work)
{
	struct smc_llc *llc = container_of(work, struct smc_llc, sweep_work);
	struct smc_link_group *lgr = lgr_of(llc);
	unsigned long want, taken;

	/* Who adds an area now has this run once more: smc_llc_end_grow() */
	if (smc_lgr_begin_grow(lgr))
		goto put;
	want = atomic_long_xchg(&llc->sweep_want, 0);
	taken = llc_take_idle(lgr, &lgr->sends, want);
	llc_drop_leaving(lgr, SMC_BUF_SEND);
	llc_take_idle(lgr, &lgr->rmbs, want - min(want, taken));
	/* Those that could not be withdrawn the last time are among them. */
	if (!list_empty(&lgr->leaving))
		llc_give_rmbs_back(lgr);
	smc_lgr_end_grow(lgr);
put:
	smc_lgr_put(lgr);
}

/**
 * smc_llc_init_module() - what all engines share
 *
 * Context: Process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int smc_llc_init_module(void)
{
	llc_wq = alloc_workqueue("smc_llc", WQ_UNBOUND, 0);
	if (!llc_wq)
		return -ENOMEM;
	smc_ib_listen(&llc_ports);
	return 0;
}

/**
 * smc_llc_exit_module() - undo smc_llc_init_module()
 *
 * Every link group is gone; work items that let go of one may still run.
 *
 * Context: Process context, sleeps.
 */
void smc_llc_exit_module(void)
{
	smc_ib_listen(NULL);
	cancel_work_sync(&llc_ports);
	destroy_workqueue(llc_wq);
}

/* Agreed on with the peer, or what this side would have. */
static u8 llc_max_links(const struct smc_link_group *lgr)
{
	u8 most = lgr->params.max_links;

	return lgr->params.max_links_is_fixed ? most :
	       min_t(u8, READ_ONCE(llc_settings(lgr)->max_links), most);
}

/**
 * smc_llc_init() - prepare the engine of a group that is being formed
 * @lgr: the group; its key, id and params are set, and it is not started
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
		.max_links_is_fixed = lgr->params.max_links_is_fixed,
		.max_links = llc_max_links(lgr),
		.has_long_add_link = smc_llc_form_has_long(lgr->params.llc_form),
		.max_conns = lgr->params.told_max_conns,
		.link_uid_base = lgr->id,
		.test_link_idle_ms = READ_ONCE(set->testlink_time) * MSEC_PER_SEC,
		.test_link_tries = LLC_TEST_LINK_TRIES,
		.timers = set->llc,
	};
	u8 i;

	smc_llc_flow_init(&llc->flow, &params);
	INIT_WORK(&llc->work, llc_work);
	for (i = 0; i < SMC_LLC_LINKS; i++) {
		llc->task[i].lgr = lgr;
		llc->task[i].index = i;
		INIT_WORK(&llc->task[i].work, llc_task_work);
	}
	smc_move_init(lgr);
	INIT_WORK(&llc->sweep_work, llc_sweep_work);
	INIT_DELAYED_WORK(&llc->timer, llc_timer);
	spin_lock_init(&llc->queue_lock);
	INIT_LIST_HEAD(&llc->requests);
	llc->current_req = NULL;
	llc->nr_told = 0;
	llc->head = 0;
	llc->nr = 0;
	llc->nr_rx = 0;
	llc->idle_at = 0;
	llc->is_surplus = false;
	llc->swept_at = 0;
	llc->sweep_again = false;
	atomic_long_set(&llc->sweep_want, 0);
	llc->to_probe = 0;
	llc->is_overrun = false;
	llc->is_closed = false;
	/* pairs with smp_load_acquire() in llc_may_end() */
	smp_store_release(&llc->is_ready, true);
}

/**
 * smc_llc_set_probe() - prove the path with a write before it carries data
 * @lgr: the group, after smc_llc_init() and before smc_llc_start()
 * @probe: from where to where; copied
 *
 * Context: Process context.
 */
void smc_llc_set_probe(struct smc_link_group *lgr, const struct smc_llc_probe *probe)
{
	lgr->llc.probe = *probe;
}

/**
 * smc_llc_start() - begin first contact
 * @lgr: the group, after smc_llc_init()
 * @link: its first link, index 0, connected to the peer named in @link->peer
 *
 * A client calls this right before it sends Confirm, for CONFIRM LINK may
 * arrive before the send returns; a server when it has checked the Confirm.
 * What comes of it is the state in which the group leaves FORMING. RFC 7609
 * 3.5.1.3, 3.5.1.5; FC-08, FC-10, TMR-03.
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock and
 * lgr->llc.queue_lock.
 */
void smc_llc_start(struct smc_link_group *lgr, struct smc_link *link)
{
	struct smc_llc_start *start = &lgr->llc.start;
	struct smc_llc *llc = &lgr->llc;

	llc_end_of(link, &start->local);
	memcpy(start->peer.mac, link->peer.mac, sizeof(start->peer.mac));
	memcpy(start->peer.gid, link->peer.gid, sizeof(start->peer.gid));
	start->peer.qpn = link->peer.qpn;
	start->peer.psn = link->peer.psn;
	start->peer.mtu = link->peer.mtu;
	/* An RNIC that talks to itself is the only one inside this host. */
	if (llc_max_links(lgr) > 1 &&
	    memcmp(start->local.gid, start->peer.gid, sizeof(start->peer.gid)) &&
	    smc_link_enter_at(lgr, link->index)) {
		smc_ib_lan_of(&link->wr.end, start->peer.gid, &llc->lan);
		llc_look_around(lgr);
		/* pairs with smp_load_acquire() in llc_follow_ports() */
		smp_store_release(&llc->wants_links, true);
		smc_link_exit(link);
	}
	llc_report(lgr, SMC_LLC_EV_START, link->index, true, 0);
}

/**
 * smc_llc_declined() - a Decline arrived on TCP while the group is formed
 * @lgr: the group
 *
 * Before the point of no return the group fails with SMC_DECLINE_PEERDECL,
 * after it with none: the TCP connection is to be reset. RFC 7609 C.2, C.3;
 * DCLN-06, ERR-23.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_declined(struct smc_link_group *lgr)
{
	llc_report(lgr, SMC_LLC_EV_DECLINED, 0, true, 0);
}

/**
 * smc_llc_announce_rmb() - tell the peer of a new RMB and wait for its answer
 * @lgr: the group, up
 * @buf: the RMB, mapped and registered on every active link; borrowed
 *
 * One CONFIRM RKEY exchange for all links. A peer that refuses because its
 * links are changing is asked again, with the links of then. RFC 7609
 * 3.5.5.2.1, A.3.5; RKEY-04 to RKEY-13.
 *
 * Context: Process context, sleeps; expects no lock held. Ends by the
 * machine's timers.
 * Return: 0 once the peer knows it; -EREMOTEIO if the peer refuses;
 * -ECONNABORTED if the group has ended meanwhile.
 */
int smc_llc_announce_rmb(struct smc_link_group *lgr, struct smc_buf *buf)
{
	struct smc_llc_request req = { .nr_bufs = 1, .bufs = { buf } };
	int rc = llc_request(lgr, &req);

	return rc == -EAGAIN ? -EREMOTEIO : rc;
}

/**
 * smc_llc_end_grow() - smc_lgr_end_grow() for who has added an area
 * @lgr: the group
 *
 * What was asked of the group meanwhile (smc_llc_reclaim()) is seen to now.
 *
 * Context: Process context. Expects no lock held. Takes lgr->lock.
 */
void smc_llc_end_grow(struct smc_link_group *lgr)
{
	smc_lgr_end_grow(lgr);
	/* The sweep that came in vain has left its wish, before it was refused. */
	if (atomic_long_read(&lgr->llc.sweep_want) || !list_empty(&lgr->leaving))
		llc_queue_sweep(lgr);
}

/**
 * smc_llc_end() - end a group by agreement with the peer
 * @lgr: the group
 * @reason: enum smc_llc_delete_link_reason
 * @is_orderly: operator or program wants it, rather than an error
 *
 * DELETE LINK for the whole group is sent; the group is taken down when that
 * has left (server), or when the server has answered (client), or by a timer.
 * A group that is still being formed fails. RFC 7609 3.5.4; LGT-01 to LGT-06,
 * DELL-14.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_end(struct smc_link_group *lgr, u32 reason, bool is_orderly)
{
	llc_report(lgr, SMC_LLC_EV_REQ_TERMINATE, 0, is_orderly, reason);
}

/**
 * smc_llc_delete_link() - give one link of a group up
 * @lgr: the group; the caller holds a reference
 * @index: link index
 *
 * On the word of the operator: the peer is told (a client asks the server to do it),
 * and its connections move. What is on its way when the client has answered is sent
 * again on another link. RFC 7609 3.5.5.1.3, 3.5.5.1.4; LGT-03, DELL-01, DELL-14.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_delete_link(struct smc_link_group *lgr, u8 index)
{
	llc_report(lgr, SMC_LLC_EV_REQ_DELETE_LINK, index, true, SMC_LLC_DELETE_OPERATOR);
}

static bool llc_is_of(const struct smc_link_group *lgr, const struct net *net)
{
	return !net || lgr->key.net == net;
}

/* Who takes leave of which groups, and until when, in jiffies. */
struct llc_leave {
	const struct net *net;
	unsigned long until;
};

/* One that a handshake has just enlisted has no engine yet, nor a link to speak on. */
static bool llc_may_end(const struct smc_link_group *lgr, const struct llc_leave *leave)
{
	/* pairs with smp_store_release() in smc_llc_init() */
	return llc_is_of(lgr, leave->net) && smp_load_acquire(&lgr->llc.is_ready);
}

static void llc_end_one(struct smc_link_group *lgr, void *arg)
{
	const struct llc_leave *leave = arg;

	if (llc_may_end(lgr, leave))
		smc_llc_end(lgr, SMC_LLC_DELETE_OPERATOR, true);
}

static void llc_wait_one(struct smc_link_group *lgr, void *arg)
{
	const struct llc_leave *leave = arg;
	long left = leave->until - jiffies;

	if (llc_may_end(lgr, leave) && left > 0)
		wait_event_timeout(lgr->waitq, smc_lgr_is_down(lgr), left);
}

/**
 * smc_llc_end_all() - take leave of all peers
 * @net: groups of this namespace, NULL for all
 *
 * For a namespace or a module that goes away: peers learn it from DELETE LINK
 * rather than from a link that is silent. Waits until that has left, together
 * three seconds at most: what a namespace has set for its machines does not
 * count, for everybody waits. RFC 7609 4.8.3; PEER-01.
 *
 * Context: Process context, sleeps. Expects no lock held.
 */
void smc_llc_end_all(struct net *net)
{
	struct llc_leave leave = { .net = net };

	smc_lgr_for_each(llc_end_one, &leave);
	leave.until = jiffies + msecs_to_jiffies(LLC_LEAVE_MS);
	smc_lgr_for_each(llc_wait_one, &leave);
}

/**
 * smc_llc_arm_idle() - the last connection has left a group
 * @lgr: the group
 *
 * If no other one has joined when the linger time is over, the group ends. Where
 * more are idle than may be, the one that has been so for longest ends now, also if
 * who was the last to leave that one has yet to come by here. RFC 7609 3.5.4; LGT-01,
 * LGT-02, TMR-10.
 *
 * Context: Process context. Takes smc_lgr_list_lock.
 */
void smc_llc_arm_idle(struct smc_link_group *lgr)
{
	u64 idle_ms = max(READ_ONCE(llc_settings(lgr)->lgr_idle_ms), 0);
	struct smc_link_group *surplus;

	if (lgr->key.role == SMC_ROLE_CLIENT)
		idle_ms += LLC_CLIENT_IDLE_MS;
	WRITE_ONCE(lgr->llc.idle_at, llc_now() + idle_ms);
	llc_queue(lgr, &lgr->llc.work);
	surplus = smc_lgr_surplus(lgr->key.net);
	if (surplus) {
		WRITE_ONCE(surplus->llc.is_surplus, true);
		llc_queue(surplus, &surplus->llc.work);
		smc_lgr_put(surplus);
	}
}

/**
 * smc_llc_idle_mem() - how much memory a group could give back
 * @lgr: the group
 *
 * Context: Any context.
 * Return: bytes in areas without a connection, less what is on its way.
 */
unsigned long smc_llc_idle_mem(const struct smc_link_group *lgr)
{
	unsigned long idle = READ_ONCE(lgr->rmbs.idle) + READ_ONCE(lgr->sends.idle);
	unsigned long wanted;

	/* A group that forms has nothing idle, and one that ends gives all. */
	if (READ_ONCE(lgr->state) != SMC_LGR_ACTIVE)
		return 0;
	wanted = atomic_long_read(&lgr->llc.sweep_want);
	return idle - min(idle, wanted);
}

/**
 * smc_llc_reclaim() - have a group give memory back
 * @lgr: the group
 * @want: bytes, at least; less if there is no more
 *
 * A work item does it, since the peer has to forget an RMB before it goes
 * (RMB-24, RMB-26). Nothing is waited for, nothing allocated.
 *
 * Context: Any context.
 * Return: bytes that will follow, 0 if there is nothing that is not on its way.
 */
unsigned long smc_llc_reclaim(struct smc_link_group *lgr, unsigned long want)
{
	want = min(want, smc_llc_idle_mem(lgr));
	if (!want)
		return 0;
	atomic_long_add(want, &lgr->llc.sweep_want);
	llc_queue_sweep(lgr);
	return want;
}

/**
 * smc_llc_trim() - a connection has given rings back to a group
 * @lgr: the group
 *
 * To be called after each ring: of those that leave at the same time, only the
 * last may see an area idle. Where more rings are unused than may be
 * (net.smc.spare_mem), those of this group go, as far as their areas are idle.
 *
 * Context: Any context.
 */
void smc_llc_trim(struct smc_link_group *lgr)
{
	unsigned long excess = smc_buf_excess(&smc_net(lgr->key.net)->spare);

	if (excess)
		smc_llc_reclaim(lgr, excess);
}

/*
 * Not by the queue: neither strangers nor the timers of all connections of a link,
 * which may go off at once, shall fill it.
 */
static void llc_probe(struct smc_link_group *lgr, unsigned long links)
{
	struct smc_llc *llc = &lgr->llc;
	unsigned long flags;

	spin_lock_irqsave(&llc->queue_lock, flags);
	if (!llc->is_closed) {
		llc->to_probe |= links;
		llc_queue(lgr, &llc->work);
	}
	spin_unlock_irqrestore(&llc->queue_lock, flags);
}

/**
 * smc_llc_test_link() - probe a link now
 * @link: the link; the caller holds a reference on its group
 *
 * For keepalive: no answer, or a wrong one, takes the link down. Does nothing
 * while a probe is on its way. RFC 7609 4.5.3; KA-03 to KA-06.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_test_link(struct smc_link *link)
{
	llc_probe(link->lgr, BIT(link->index));
}

/**
 * smc_llc_doubt() - does the peer still know the links of a group?
 * @lgr: the group; the caller holds a reference
 *
 * For what is said in the peer's name by who need not be it: each active link is
 * probed. A group that the peer has lost ends by that; any other goes on.
 *
 * Context: Any context. Takes lgr->llc.queue_lock.
 */
void smc_llc_doubt(struct smc_link_group *lgr)
{
	llc_probe(lgr, BIT(SMC_LLC_LINKS) - 1);
}

/* A peer that asks faster than slots come back gets no answer. */
static bool llc_answer(struct smc_link *link, const u8 *msg, u32 len)
{
	u8 reply[SMC_LLC_LEN];
	struct smc_wr_slot *slot;

	if (!smc_llc_form_answer_test_link(link->lgr->params.llc_form, msg, len, reply))
		return false;
	slot = smc_wr_slot_get(&link->wr, SMC_WR_CTRL);
	if (!slot)
		return true;
	memcpy(slot->msg, reply, sizeof(reply));
	trace_smc_llc_tx(link, slot->msg, SMC_WR_MSG_LEN);
	if (!smc_wr_post(slot))
		llc_count(link->lgr, SMC_STAT_LLC_TX);
	return true;
}

/**
 * smc_llc_rx() - an LLC message arrived
 * @wr: queues of the link it came on
 * @msg: the bytes; copied
 * @len: how many, at least 1
 *
 * TEST LINK is answered at once (LLC-13), everything else goes to the worker.
 *
 * Context: Completion context. Takes wr->lock or lgr->llc.queue_lock.
 */
void smc_llc_rx(struct smc_wr *wr, const u8 *msg, u32 len)
{
	struct smc_link *link = smc_link_of(wr);
	struct smc_llc_item item = {
		.type = SMC_LLC_EV_MSG, .link = link->index, .len = len,
	};

	llc_count(link->lgr, SMC_STAT_LLC_RX);
	trace_smc_llc_rx(link, msg, len);
	if (llc_answer(link, msg, len))
		return;
	/* without memory it is too short, and so out of sync */
	if (len > sizeof(item.raw))
		item.more = kmemdup(msg, len, GFP_ATOMIC);
	if (len > sizeof(item.raw) && !item.more)
		item.len = sizeof(item.raw);
	memcpy(item.raw, msg, min_t(u32, len, sizeof(item.raw)));
	llc_push(link->lgr, &item);
}

/**
 * smc_llc_broken() - the queues of a link are of no more use
 * @wr: the queues
 * @fault: why
 *
 * Context: Any context, with any lock held but lgr->llc.queue_lock, which it
 * takes.
 */
void smc_llc_broken(struct smc_wr *wr, enum smc_wr_fault fault)
{
	struct smc_link *link = smc_link_of(wr);

	llc_report(link->lgr, SMC_LLC_EV_LINK_BROKEN, link->index, false, fault);
}
