// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC engine: runs the machine of smc_llc_flow.c for each link group.
 *
 * Operation: whatever happens (a message, the completion of a send, a lost
 * queue pair, a wish of this side) is queued in the group's ring and the
 * group's work item is kicked. The work item takes lgr->lock, feeds the events
 * to the machine one by one and carries out what it asks for: it posts
 * messages, notes the peer's keys, tells the group that it is up or at its
 * end, and starts the work items that bring up, create or destroy a link.
 * Those run without lgr->lock, for they may take seconds, and report back as
 * events. TEST LINK is the exception: it needs no state and is answered from
 * the completion handler.
 *
 * Ownership: a queued or running work item and an armed timer hold a reference
 * on the group each. Links live as long as their group, whether their queues
 * do or not; lgr->links names those that have queues. A message lives in the
 * ring from its arrival until it is decoded. A request for an RKEY exchange
 * lives on the stack of the task that waits for it and is completed exactly
 * once; the machine's timers bound the wait.
 *
 * Error handling: a send that cannot be posted is reported to the machine like
 * one that completed badly. A peer that sends faster than it is answered, or
 * what makes no sense, loses the link. Once the machine is dead the ring is
 * closed and all requests end with -ECONNABORTED. A group that is taken down
 * from below reports its links broken, and the machine dies of that.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "smc_compat.h"
#include "smc_conn.h"
#include "smc_grow.h"
#include "smc_life.h"
#include "smc_link.h"
#include "smc_llc.h"
#include "smc_llc_form.h"
#include "smc_net.h"
#include "smc_trace.h"

/* The client's side lives a little longer: ending is the server's job. */
#define LLC_CLIENT_IDLE_MS	10000

#define LLC_RKEY_TRIES		5

/* A timer's length fits in jiffies of any kernel. */
#define LLC_LONGEST_MS		(3600 * MSEC_PER_SEC)

/**
 * struct smc_llc_request - an RKEY exchange that a task waits for
 * @node: in llc->requests until the machine has it
 * @is_delete: DELETE RKEY of @bufs, otherwise CONFIRM RKEY of @bufs[0]
 * @nr_bufs: length of @bufs
 * @bufs: RMBs concerned; borrowed
 * @tries: attempts so far
 * @result: outcome, valid once @done is complete
 * @done: completes exactly once
 */
struct smc_llc_request {
	struct list_head node;
	bool is_delete;
	unsigned int nr_bufs;
	struct smc_buf *bufs[SMC_LLC_DELETE_RKEYS];
	unsigned int tries;
	int result;
	struct completion done;
};

static struct workqueue_struct *llc_wq;

static struct smc_link_group *lgr_of(struct smc_llc *llc)
{
	return container_of(llc, struct smc_link_group, llc);
}

static struct smc_link *link_of(struct smc_wr *wr)
{
	return container_of(wr, struct smc_link, wr);
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
	struct smc_link *link = link_of(wr);

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

static int llc_post(struct smc_link *link, const struct smc_llc_action *act,
		    enum smc_dialect dialect)
{
	struct smc_wr_slot *slot;
	int rc;

	slot = smc_wr_slot_get(&link->wr, SMC_WR_CTRL);
	if (!slot)
		return -EAGAIN;
	rc = smc_llc_form_encode(link->lgr->params.llc_form, &act->msg, NULL, dialect, slot->msg,
				 slot->room);
	if (rc < 0) {
		/* but for a long message in a slot that was meant for data */
		WARN_ON_ONCE(rc != -EMSGSIZE);
		smc_wr_slot_put(slot);
		return rc;
	}
	slot->len = rc;
	slot->tag.done = llc_sent;
	slot->tag.cookie = act->cookie;
	llc_add_probe(link->lgr, act, slot);
	trace_smc_llc_tx(link, slot->msg, slot->len);
	return smc_wr_post(slot);
}

static void llc_send(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	struct smc_link *link = lgr->links[act->link];

	if (!link || llc_post(link, act, lgr->llc.flow.dialect))
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
	const struct smc_llc_rtoken *here = &keys->rtoken[0], *other;
	bool is_new;
	int idx;
	u8 i;

	is_new = smc_rtoken_find(lgr->rtokens, here->link_num, here->rkey, here->vaddr) < 0;
	idx = smc_rtoken_add(lgr->rtokens, here->link_num, here->rkey, here->vaddr);
	if (idx < 0)
		return false;
	for (i = 1; i < keys->count; i++) {
		other = &keys->rtoken[i];
		if (smc_rtoken_set(lgr->rtokens, idx, other->link_num, other->rkey,
				   other->vaddr)) {
			llc_forget_keys(lgr, idx, is_new);
			return false;
		}
	}
	return true;
}

/*
 * Connections are cut off from an RMB before the answer says that it may go.
 * Returns a mask of the keys that no RMB has, 0x80 for the first, RKEY-18.
 */
static u8 llc_delete_rtokens(struct smc_link_group *lgr, u8 carrier,
			     const struct smc_llc_delete_rkey *dr)
{
	u8 i, mask = 0;
	int idx;

	for (i = 0; i < dr->count; i++) {
		idx = smc_rtoken_find_rkey(lgr->rtokens, carrier, dr->rkey[i]);
		if (idx < 0)
			mask |= 0x80 >> i;
		else
			smc_conn_lose_rmb(lgr, idx);
	}
	return mask;
}

static void llc_finish(struct smc_llc_request *req, int result)
{
	req->result = result;
	/* The waiter's stack may be gone after this. */
	complete(&req->done);
}

/* A request that was refused for now goes back to the head of the line. */
static void llc_rkey_done(struct smc_link_group *lgr, int result)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req = llc->current_req;
	bool is_queued = false;
	unsigned long flags;

	llc->current_req = NULL;
	if (!req)
		return;
	if (result == -EAGAIN && ++req->tries < LLC_RKEY_TRIES) {
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

static void llc_prepare(struct smc_link_group *lgr, u8 index)
{
	lgr->llc.prepare_link = index;
	llc_queue(lgr, &lgr->llc.prepare_work);
}

static void llc_spare(struct smc_link_group *lgr, u8 index, bool is_wanted)
{
	lgr->llc.spare_link = index;
	lgr->llc.is_spare_wanted = is_wanted;
	llc_queue(lgr, &lgr->llc.spare_work);
}

/* It waits for the LLC worker, whose queue it must not fill. */
static void llc_queue_sweep(struct smc_link_group *lgr)
{
	smc_lgr_get(lgr);
	if (!smc_core_queue(&lgr->llc.sweep_work))
		smc_lgr_put(lgr);
}

static void llc_arm_sweep(struct smc_link_group *lgr)
{
	int idle_ms = READ_ONCE(llc_settings(lgr)->rmb_idle_ms);

	lgr->llc.sweep_at = idle_ms > 0 ? llc_now() + idle_ms : 0;
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
	smc_link_set_state(link, SMC_LINK_INACTIVE);
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
 * Carry out one action. Returns true if its outcome is known at once: then
 * @ev holds the event to feed next.
 */
static bool llc_perform(struct smc_link_group *lgr, const struct smc_llc_action *act,
			struct smc_llc_event *ev)
{
	switch (act->type) {
	case SMC_LLC_ACT_SEND:
		llc_show_link(lgr, act->link);
		llc_send(lgr, act);
		return false;
	case SMC_LLC_ACT_COMMIT_DIALECT:
		smc_lgr_commit_dialect(lgr, act->dialect == SMC_DIALECT_DEPLOYED);
		return false;
	case SMC_LLC_ACT_PREPARE_LINK:
		llc_prepare(lgr, act->link);
		return false;
	case SMC_LLC_ACT_CREATE_LINK:
		llc_spare(lgr, act->link, true);
		return false;
	case SMC_LLC_ACT_DESTROY_LINK:
		llc_spare(lgr, act->link, false);
		return false;
	case SMC_LLC_ACT_GROUP_UP:
		llc_arm_sweep(lgr);
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
		ev->error_mask = llc_delete_rtokens(lgr, act->link, &act->msg.delete_rkey);
		ev->type = SMC_LLC_EV_RTOKENS_DELETED;
		ev->link = act->link;
		return true;
	case SMC_LLC_ACT_RKEY_DONE:
		llc_rkey_done(lgr, act->result);
		return false;
	case SMC_LLC_ACT_LINK_DOWN:
		llc_link_down(lgr, act);
		return false;
	case SMC_LLC_ACT_LINK_UP:
	case SMC_LLC_ACT_STORE_PAIRS:
		/* There is one link as long as the machine knows of no RNICs. */
		return false;
	case SMC_LLC_ACT_TERMINATE:
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
}

static void llc_feed_plain(struct smc_link_group *lgr, enum smc_llc_event_type type, u8 link)
{
	struct smc_llc_event ev = { .type = type, .link = link };

	llc_feed(lgr, &ev);
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
			smc_lgr_commit_dialect(lgr, true);
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
		case SMC_LLC_TOO_MUCH:
			break;
		}
		ev->type = SMC_LLC_EV_BAD_MSG;
		return true;
	case SMC_LLC_EV_REQ_TEST_LINK:
		get_random_bytes(ev->timer.user_data, sizeof(ev->timer.user_data));
		return true;
	case SMC_LLC_EV_REQ_TERMINATE:
		ev->terminate.reason = item->cookie;
		ev->terminate.is_orderly = item->ok;
		return true;
	case SMC_LLC_EV_LINK_CREATED:
		ev->created.end = lgr->llc.start.local;
		if (lgr->links[item->link]) {
			ev->created.end.qpn = lgr->links[item->link]->wr.qp->qp_num;
			ev->created.end.psn = lgr->links[item->link]->psn;
		} else {
			ev->ok = false;
		}
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

static void llc_feed_idle(struct smc_link_group *lgr)
{
	struct smc_llc_event ev = {
		.type = SMC_LLC_EV_REQ_TERMINATE,
		.terminate.reason = SMC_LLC_DELETE_PROGRAM,
		.terminate.is_orderly = true,
	};

	WRITE_ONCE(lgr->llc.idle_at, 0);
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
	if (llc->sweep_at)
		due = min(due, llc->sweep_at);
	if (due == SMC_LLC_NO_DEADLINE)
		return;
	due = clamp(due, now, now + LLC_LONGEST_MS);
	/* The worker's own reference keeps the group through this. */
	smc_lgr_get(lgr);
	if (mod_delayed_work(llc_wq, &llc->timer, msecs_to_jiffies(due - now) + 1))
		smc_lgr_put(lgr);
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
		if (llc_event_of(lgr, &item, &ev))
			llc_feed(lgr, &ev);
		kfree(item.more);
		if (item.type == SMC_LLC_EV_START)
			llc_feed_missed(lgr, item.link);
	}
	llc_feed_overrun(lgr);
	if (llc_now() >= smc_llc_flow_deadline(&llc->flow))
		llc_feed_timer(lgr);
	if (idle_at && llc_now() >= idle_at)
		llc_feed_idle(lgr);
	if (llc->sweep_at && llc_now() >= llc->sweep_at) {
		llc_arm_sweep(lgr);
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

static void llc_prepare_work(struct work_struct *work)
{
	struct smc_llc *llc = container_of(work, struct smc_llc, prepare_work);
	struct smc_link_group *lgr = lgr_of(llc);
	struct smc_link *link;
	int rc = -ECONNABORTED;

	mutex_lock(&lgr->lock);
	link = lgr->links[llc->prepare_link];
	mutex_unlock(&lgr->lock);
	/* A link lives as long as its group, so this one will not vanish. */
	if (link)
		rc = smc_link_prepare(link);
	llc_report(lgr, SMC_LLC_EV_LINK_PREPARED, llc->prepare_link, !rc, 0);
	smc_lgr_put(lgr);
}

/* Stand in line and wait; the machine's timers bound each exchange. */
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
	/* Idle, for the machine's timers may be set to minutes. */
	wait_for_completion_state(&req->done, TASK_IDLE);
	return req->result;
}

/*
 * Tells the peer of RMBs that will go, and waits until it will not use them any
 * more: DELETE RKEY exchanges of up to eight RMBs each, ended by the machine's
 * timers. Keys unknown to the peer do no harm. -ECONNABORTED if the group has
 * ended meanwhile. RFC 7609 3.5.5.2.2, A.3.7; RMB-24, RMB-26, RKEY-16, RKEY-19.
 */
static int llc_withdraw(struct smc_link_group *lgr, struct list_head *bufs)
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

static void llc_drop_areas(struct smc_link_group *lgr, struct list_head *areas)
{
	struct smc_buf *buf, *next;

	list_for_each_entry_safe(buf, next, areas, node) {
		list_del(&buf->node);
		smc_lgr_drop_buf(lgr, buf);
		llc_count(lgr, SMC_STAT_AREA_BACK);
	}
}

/* What is old enough goes, and more of the rest until @want bytes are gone. */
static unsigned long llc_take_idle(struct smc_link_group *lgr, struct smc_buf_pool *pool,
				   unsigned long want, struct list_head *areas)
{
	int idle_ms = READ_ONCE(llc_settings(lgr)->rmb_idle_ms);
	unsigned long taken = 0;

	if (idle_ms > 0)
		taken = smc_buf_take_idle(pool, msecs_to_jiffies(idle_ms), ULONG_MAX, areas);
	if (taken < want)
		taken += smc_buf_take_idle(pool, 0, want - taken, areas);
	return taken;
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
	unsigned long want = atomic_long_xchg(&llc->sweep_want, 0);
	struct smc_link_group *lgr = lgr_of(llc);
	unsigned long taken;
	LIST_HEAD(areas);

	/* Who adds an area now has use for those that are idle. */
	if (smc_lgr_begin_grow(lgr))
		goto put;
	taken = llc_take_idle(lgr, &lgr->sends, want, &areas);
	llc_drop_areas(lgr, &areas);
	if (llc_take_idle(lgr, &lgr->rmbs, want - min(want, taken), &areas)) {
		/* If the group ends instead, so do its RMBs. */
		llc_withdraw(lgr, &areas);
		llc_drop_areas(lgr, &areas);
	}
	smc_lgr_end_grow(lgr);
put:
	smc_lgr_put(lgr);
}

static int llc_create_spare(struct smc_link_group *lgr, u8 index)
{
	struct smc_ib_end end;
	struct smc_link *link;

	mutex_lock(&lgr->lock);
	link = lgr->links[0];
	if (link)
		smc_ib_end_copy(&end, &link->wr.end);
	mutex_unlock(&lgr->lock);
	if (!link)
		return -ECONNABORTED;
	link = smc_link_create_at(lgr, &end, index);
	smc_ib_end_put(&end);
	return PTR_ERR_OR_ZERO(link);
}

/* Destroy what an earlier attempt has left, then create if that is wanted. */
static void llc_spare_work(struct work_struct *work)
{
	struct smc_llc *llc = container_of(work, struct smc_llc, spare_work);
	struct smc_link_group *lgr = lgr_of(llc);
	struct smc_link *old;
	bool is_wanted;
	u8 index;

	mutex_lock(&lgr->lock);
	index = llc->spare_link;
	is_wanted = llc->is_spare_wanted;
	llc->is_spare_wanted = false;
	old = lgr->links[index];
	mutex_unlock(&lgr->lock);
	if (old)
		smc_link_destroy(old);
	if (is_wanted)
		llc_report(lgr, SMC_LLC_EV_LINK_CREATED, index,
			   !llc_create_spare(lgr, index), 0);
	else
		llc_report(lgr, SMC_LLC_EV_LINK_DESTROYED, index, true, 0);
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
	return llc_wq ? 0 : -ENOMEM;
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
	destroy_workqueue(llc_wq);
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
		.max_links = lgr->params.max_links,
		.max_conns = lgr->params.told_max_conns,
		.link_uid_base = lgr->id,
		.test_link_idle_ms = READ_ONCE(set->testlink_time) * MSEC_PER_SEC,
		.timers = set->llc,
	};

	smc_llc_flow_init(&llc->flow, &params);
	INIT_WORK(&llc->work, llc_work);
	INIT_WORK(&llc->prepare_work, llc_prepare_work);
	INIT_WORK(&llc->spare_work, llc_spare_work);
	INIT_WORK(&llc->sweep_work, llc_sweep_work);
	INIT_DELAYED_WORK(&llc->timer, llc_timer);
	spin_lock_init(&llc->queue_lock);
	INIT_LIST_HEAD(&llc->requests);
	llc->current_req = NULL;
	llc->head = 0;
	llc->nr = 0;
	llc->nr_rx = 0;
	llc->idle_at = 0;
	llc->sweep_at = 0;
	atomic_long_set(&llc->sweep_want, 0);
	llc->is_overrun = false;
	llc->is_closed = false;
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
 * Context: Process context. Takes lgr->llc.queue_lock.
 */
void smc_llc_start(struct smc_link_group *lgr, struct smc_link *link)
{
	struct smc_llc_start *start = &lgr->llc.start;

	memcpy(start->local.mac, link->wr.end.mac, sizeof(start->local.mac));
	memcpy(start->local.gid, link->wr.end.gid.raw, sizeof(start->local.gid));
	start->local.qpn = link->wr.qp->qp_num;
	start->local.psn = link->psn;
	start->local.mtu = link->wr.end.mtu;
	memcpy(start->peer.mac, link->peer.mac, sizeof(start->peer.mac));
	memcpy(start->peer.gid, link->peer.gid, sizeof(start->peer.gid));
	start->peer.qpn = link->peer.qpn;
	start->peer.psn = link->peer.psn;
	start->peer.mtu = link->peer.mtu;
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

static bool llc_is_of(const struct smc_link_group *lgr, const struct net *net)
{
	return !net || lgr->key.net == net;
}

static void llc_end_one(struct smc_link_group *lgr, void *net)
{
	if (llc_is_of(lgr, net))
		smc_llc_end(lgr, SMC_LLC_DELETE_OPERATOR, true);
}

static void llc_wait_one(struct smc_link_group *lgr, void *net)
{
	int ms = READ_ONCE(llc_settings(lgr)->llc.terminate);

	if (llc_is_of(lgr, net))
		wait_event_timeout(lgr->waitq, smc_lgr_is_down(lgr), msecs_to_jiffies(ms) + 1);
}

/**
 * smc_llc_end_all() - take leave of all peers
 * @net: groups of this namespace, NULL for all
 *
 * For a namespace or a module that goes away: peers learn it from DELETE LINK
 * rather than from a link that is silent. Waits until that has left, or for as
 * long as the machine would. RFC 7609 4.8.3; PEER-01.
 *
 * Context: Process context, sleeps. Expects no lock held.
 */
void smc_llc_end_all(struct net *net)
{
	smc_lgr_for_each(llc_end_one, net);
	smc_lgr_for_each(llc_wait_one, net);
}

/**
 * smc_llc_arm_idle() - the last connection has left a group
 * @lgr: the group
 *
 * If no other one has joined when the linger time is over, the group ends.
 * RFC 7609 3.5.4; LGT-01, LGT-02, TMR-10.
 *
 * Context: Process context. Takes lgr->llc.queue_lock.
 */
void smc_llc_arm_idle(struct smc_link_group *lgr)
{
	u64 idle_ms = max(READ_ONCE(llc_settings(lgr)->lgr_idle_ms), 0);
	struct smc_llc *llc = &lgr->llc;

	if (lgr->key.role == SMC_ROLE_CLIENT)
		idle_ms += LLC_CLIENT_IDLE_MS;
	WRITE_ONCE(llc->idle_at, llc_now() + idle_ms);
	llc_queue(lgr, &llc->work);
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
 * @want: bytes, at least so many if there are
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
 * smc_llc_trim() - a connection has left a group
 * @lgr: the group
 *
 * Where more rings are unused than may be (net.smc.spare_mem), those of this
 * group go, as far as their areas are idle.
 *
 * Context: Any context.
 */
void smc_llc_trim(struct smc_link_group *lgr)
{
	unsigned long excess = smc_buf_excess(&smc_net(lgr->key.net)->spare);

	if (excess)
		smc_llc_reclaim(lgr, excess);
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
	llc_report(link->lgr, SMC_LLC_EV_REQ_TEST_LINK, link->index, true, 0);
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
	struct smc_link *link = link_of(wr);
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
	struct smc_link *link = link_of(wr);

	llc_report(link->lgr, SMC_LLC_EV_LINK_BROKEN, link->index, false, fault);
}
