// SPDX-License-Identifier: GPL-2.0
/*
 * LLC messages in and out of the engine.
 *
 * Operation: an event is put into the group's ring in any context and kicks the group's
 * work item, which feeds it to the machine (smc_llc.c). A received message is an event,
 * except TEST LINK, which needs no state and is mostly answered in the completion handler. A
 * message of the machine is posted on a link; its completion comes back as an event.
 *
 * Ownership: a queued or running work item and an armed timer hold a reference on the
 * group each. A message too long for a ring entry has memory of its own, owned by the ring
 * until popped, then by the worker while the event is fed or the machine needs it. Buffers
 * to send a long message are allocated without a lock when a link is created.
 *
 * Flow control: a message may need an answer, so it stays in the ring until its link has slots for
 * that. A completed answer kicks the work item again. Other events overtake such messages, those
 * of one link stay in order.
 *
 * Error handling: events beyond the ring's size, or the share of received messages, are
 * dropped: the links are out of sync. A failed post is reported like a failed completion.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "smc_compat.h"
#include "proto/smc_llc_v2.h"
#include "rdma/smc_mem.h"
#include "group/smc_conn.h"
#include "group/smc_llc_msg.h"
#include "control/smc_trace.h"

/*
 * Slots that must be free for a message: one for its answer and one for a request that may
 * follow. TEST LINK is answered at once only beyond these, because that takes slots meanwhile.
 */
#define LLC_ANSWER_SLOTS	2
#define LLC_TEST_SLOTS		(LLC_ANSWER_SLOTS + 2)

static struct workqueue_struct *llc_wq;

/* Run the worker of a group. Any context, also with lgr->llc.queue_lock held. */
void smc_llc_queue_work(struct smc_link_group *lgr)
{
	/* dropped by the work item */
	smc_lgr_get(lgr);
	if (!queue_work(llc_wq, &lgr->llc.work))
		smc_lgr_put(lgr);
}

/* From the worker itself; replaces an earlier delay. */
void smc_llc_queue_work_in(struct smc_link_group *lgr, unsigned long delay_jiffies)
{
	/* The worker's own reference covers the interval between these two calls. */
	smc_lgr_get(lgr);
	if (mod_delayed_work(llc_wq, &lgr->llc.timer, delay_jiffies))
		smc_lgr_put(lgr);
}

static void llc_timer(struct work_struct *work)
{
	struct smc_llc *llc = container_of(to_delayed_work(work), struct smc_llc, timer);
	struct smc_link_group *lgr = lgr_of(llc);

	smc_llc_queue_work(lgr);
	smc_lgr_put(lgr);
}

/* Takes over @item->more. Kicks the worker even if the ring is full. */
static void llc_queue_push(struct smc_link_group *lgr, const struct smc_llc_item *item)
{
	bool is_rx = item->type == SMC_LLC_EV_MSG;
	struct smc_llc *llc = &lgr->llc;

	guard(spinlock_irqsave)(&llc->queue_lock);
	if (llc->is_closed) {
		kfree(item->more);
		return;
	}
	if (llc->nr == SMC_LLC_QUEUED || (is_rx && llc->nr_rx == SMC_LLC_RX_QUEUED)) {
		llc->is_overrun = true;
		kfree(item->more);
	} else {
		llc->queue[(llc->head + llc->nr) % SMC_LLC_QUEUED] = *item;
		llc->nr++;
		llc->nr_rx += is_rx;
	}
	smc_llc_queue_work(lgr);
}

static struct smc_llc_item *llc_queue_at(struct smc_llc *llc, unsigned int i)
{
	return &llc->queue[(llc->head + i) % SMC_LLC_QUEUED];
}

/*
 * Take the oldest event out of the ring; the caller owns @item->more. Messages of @busy links stay.
 */
bool smc_llc_queue_pop(struct smc_llc *llc, unsigned long busy, struct smc_llc_item *item)
{
	unsigned int i = 0;

	guard(spinlock_irqsave)(&llc->queue_lock);
	while (i < llc->nr && llc_queue_at(llc, i)->type == SMC_LLC_EV_MSG &&
	       busy & BIT(llc_queue_at(llc, i)->link))
		i++;
	if (i == llc->nr)
		return false;
	*item = *llc_queue_at(llc, i);
	/* those that stay, SMC_LLC_RX_QUEUED at most, close the gap */
	for (; i; i--)
		*llc_queue_at(llc, i) = *llc_queue_at(llc, i - 1);
	llc->head = (llc->head + 1) % SMC_LLC_QUEUED;
	llc->nr--;
	llc->nr_rx -= item->type == SMC_LLC_EV_MSG;
	return true;
}

/*
 * A mask of the links that cannot take more answers now. The completion of an answer kicks the
 * worker. A link that has failed completes all. Expects lgr->lock held.
 */
unsigned long smc_llc_busy_links(const struct smc_link_group *lgr)
{
	unsigned long busy = 0;
	struct smc_link *link;
	u8 i;

	lockdep_assert_held(&lgr->lock);
	for (i = 0; i < SMC_LLC_LINKS; i++) {
		link = lgr->links[i];
		if (link && test_bit(SMC_WR_IS_OPEN, &link->wr.flags) &&
		    smc_wr_nr_free(&link->wr, SMC_WR_CTRL) < LLC_ANSWER_SLOTS)
			busy |= BIT(i);
	}
	return busy;
}

/* Put an event without a message into the ring. Any context. */
void smc_llc_report(struct smc_link_group *lgr, enum smc_llc_event_type type, u8 link, bool ok,
		    u64 cookie)
{
	struct smc_llc_item item = {
		.type = type, .link = link, .ok = ok, .cookie = cookie,
	};

	llc_queue_push(lgr, &item);
}

void smc_llc_queue_open(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	INIT_DELAYED_WORK(&llc->timer, llc_timer);
	spin_lock_init(&llc->queue_lock);
}

/* Drop all events, refuse new ones, stop the timer. From the worker. */
void smc_llc_queue_close(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_item item;

	scoped_guard(spinlock_irqsave, &llc->queue_lock)
		llc->is_closed = true;
	while (smc_llc_queue_pop(llc, 0, &item))
		kfree(item.more);
	if (cancel_delayed_work(&llc->timer))
		smc_lgr_put(lgr);
}

int smc_llc_queue_init(void)
{
	llc_wq = alloc_workqueue("smc_llc", WQ_UNBOUND, 0);
	return llc_wq ? 0 : -ENOMEM;
}

void smc_llc_queue_exit(void)
{
	destroy_workqueue(llc_wq);
}

static void llc_sent(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok)
{
	struct smc_link *link = smc_link_of(wr);

	smc_llc_report(link->lgr, SMC_LLC_EV_SENT, link->index, ok, tag->cookie);
}

/*
 * A path that loses long packets (an MTU hole) or refuses writes must be found while a
 * Decline is possible. So a write of path MTU length goes ahead of the client's CONFIRM
 * LINK reply and of the server's ADD LINK request. If it fails so does the message, which
 * is ERR-22 and ERR-10 at the server.
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
	write->sge = slot->sge;
	write->nr_sge = 1;
	/* a data slot may have carried little data before */
	write->is_inline = false;
	write->sge[0].addr = probe->laddr;
	write->sge[0].lkey = probe->lkey;
	write->sge[0].length = probe->len;
	slot->nr_writes = 1;
	/* only once: from now on the element may hold data */
	probe->len = 0;
}

/* An RMB is named by its key on the link that carries the message, RKEY-20. */
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

/* RMBs deleted meanwhile leave an empty pair. */
static void llc_fill_pairs(struct smc_link_group *lgr, struct smc_llc_action *act)
{
	struct smc_llc_add_link_cont *cont = &act->msg.add_link_cont;
	struct smc_llc *llc = &lgr->llc;
	unsigned int k;

	for (k = 0; k < min_t(unsigned int, cont->nr_rtokens, SMC_LLC_CONT_PAIRS); k++) {
		if (WARN_ON_ONCE(act->first_rmb + k >= llc->nr_announced))
			return;
		llc_pair(act, llc->announced[act->first_rmb + k], &cont->pair[k]);
	}
}

/* RMBs deleted meanwhile are left out. */
static unsigned int llc_list_pairs(const struct smc_llc *llc, const struct smc_llc_action *act,
				   struct smc_llc_pair *pair)
{
	unsigned int k, nr = 0;

	for (k = 0; k < llc->nr_announced && nr < SMC_LLC_LONG_KEYS; k++)
		if (llc->announced[k])
			llc_pair(act, llc->announced[k], &pair[nr++]);
	return nr;
}

/* Carries all our keys. The buffers were allocated when the link was created. */
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
	u8 gid[SMC_LLC_REQ_GIDS][SMC_GID_LEN];
	struct smc_llc_more more = { .gid = gid };
	int rc;

	if (act->has_pairs)
		return llc_build_add_link(lgr, act, slot);
	if (act->msg.type == SMC_LLC_REQ_ADD_LINK && !act->msg.is_reply)
		more.nr = smc_llc_flow_gids(&lgr->llc.flow, &act->end, gid);
	rc = llc_encode(lgr, act, &more, slot);
	/* a data slot has room for one GID, which is sufficient */
	if (rc == -EMSGSIZE && more.nr > 1) {
		more.nr = 1;
		rc = llc_encode(lgr, act, &more, slot);
	}
	if (rc > 0)
		slot->len = rc;
	return min(rc, 0);
}

/*
 * Answers use LLC's own slots only: a peer can request any number of them, and completed
 * LLC messages wake no connection that waits for a data slot. DELETE LINK requests try data
 * slots first: one link may announce many lost links, and answers need LLC slots meanwhile.
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
		/* expected only for a long message in a data slot */
		WARN_ON_ONCE(rc != -EMSGSIZE && rc != -ENOMEM);
		smc_wr_slot_put(slot);
		return rc;
	}
	slot->tag.done = llc_sent;
	slot->tag.cookie = act->cookie;
	llc_add_probe(link->lgr, act, slot);
	/* a server that has the reply may name the link, however soon it is lost here */
	if (act->msg.type == SMC_LLC_CONFIRM_LINK && act->msg.is_reply)
		WRITE_ONCE(link->is_kept, true);
	trace_smc_llc_tx(link, slot->msg, slot->len);
	rc = smc_wr_post(slot);
	if (!rc)
		smc_wr_await(&link->wr);
	return rc;
}

/*
 * Send a message of the machine; our keys are filled in. SMC_LLC_EV_SENT reports the outcome.
 * Expects lgr->lock held.
 */
void smc_llc_msg_send(struct smc_link_group *lgr, struct smc_llc_action *act)
{
	struct smc_link *link = lgr->links[act->link];

	lockdep_assert_held(&lgr->lock);
	if (act->msg.type == SMC_LLC_ADD_LINK_CONT)
		llc_fill_pairs(lgr, act);

	if (!link || llc_post(link, act))
		smc_llc_report(lgr, SMC_LLC_EV_SENT, act->link, false, act->cookie);
	else
		llc_count(lgr, SMC_STAT_LLC_TX);
}

void smc_llc_msg_drop(u8 **msg)
{
	kfree(*msg);
	*msg = NULL;
}

/* Retain the message of the current event beyond the event, in place of an earlier one. */
void smc_llc_msg_keep(struct smc_llc *llc, u8 **kept)
{
	kfree(*kept);
	*kept = llc->msg;
	llc->msg = NULL;
}

/*
 * Allocate what a long ADD LINK needs, ahead of time: it is sent under lgr->lock. Returns 0,
 * -ENOMEM, or -ECONNABORTED if the machine is dead.
 */
int smc_llc_msg_prepare_long(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_long *buf;
	int rc = -ENOMEM;
	u8 *page;

	if (!llc->flow.params.has_long_add_link)
		return 0;
	buf = kvmalloc(sizeof(*buf), SMC_MEM_GFP);
	page = (u8 *)get_zeroed_page(SMC_MEM_GFP);
	if (buf && page) {
		guard(mutex)(&lgr->lock);
		rc = llc->flow.phase == SMC_LLC_DEAD ? -ECONNABORTED : 0;
		if (!rc) {
			swap(llc->long_buf, buf);
			swap(llc->long_page, page);
		}
	}
	kvfree(buf);
	free_page((unsigned long)page);
	return rc;
}

/* The machine is dead. Called by the worker, which has lgr->lock. */
void smc_llc_msg_free_long(struct smc_llc *llc)
{
	smc_llc_msg_drop(&llc->kept);
	smc_llc_msg_drop(&llc->kept_rkeys);
	kvfree(llc->long_buf);
	llc->long_buf = NULL;
	free_page((unsigned long)llc->long_page);
	llc->long_page = NULL;
}

/**
 * smc_llc_set_probe() - prove the path with a write before it carries data
 * @lgr: the group, after smc_llc_init() and before smc_llc_start_group()
 * @probe: source and destination; copied
 *
 * Context: Process context.
 */
void smc_llc_set_probe(struct smc_link_group *lgr, const struct smc_llc_probe *probe)
{
	lgr->llc.probe = *probe;
}

/* A message that waited for this slot can be taken now. */
static void llc_answered(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok)
{
	struct smc_link_group *lgr = smc_link_of(wr)->lgr;

	guard(spinlock_irqsave)(&lgr->llc.queue_lock);
	if (lgr->llc.nr_rx)
		smc_llc_queue_work(lgr);
}

/* Answer a message if it is TEST LINK and @least slots are free. RFC 7609 3.5.5.3; LLC-13. */
bool smc_llc_answer_test(struct smc_link *link, const u8 *msg, u32 len, unsigned int least)
{
	u8 reply[SMC_LLC_LEN];
	struct smc_wr_slot *slot;

	if (!smc_llc_form_answer_test_link(link->lgr->params.llc_form, msg, len, reply) ||
	    smc_wr_nr_free(&link->wr, SMC_WR_CTRL) < least)
		return false;
	slot = smc_wr_slot_get(&link->wr, SMC_WR_CTRL);
	if (!slot)
		return false;
	memcpy(slot->msg, reply, sizeof(reply));
	slot->tag.done = llc_answered;
	trace_smc_llc_tx(link, slot->msg, SMC_WR_MSG_LEN);
	if (!smc_wr_post(slot))
		llc_count(link->lgr, SMC_STAT_LLC_TX);
	return true;
}

/**
 * smc_llc_rx() - answer TEST LINK (LLC-13) if there are slots, queue any other received message
 * @wr: queues of the link
 * @msg: the message; copied
 * @len: its length, may be 0
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
	if (smc_llc_answer_test(link, msg, len, LLC_TEST_SLOTS))
		return;
	/* without memory the message counts as too short, which is out of sync */
	if (len > sizeof(item.raw))
		item.more = kmemdup(msg, len, GFP_ATOMIC);
	if (len > sizeof(item.raw) && !item.more)
		item.len = sizeof(item.raw);
	memcpy(item.raw, msg, min_t(u32, len, sizeof(item.raw)));
	llc_queue_push(link->lgr, &item);
}

static bool llc_store_pair(struct smc_link_group *lgr, const struct smc_llc_action *act,
			   const struct smc_llc_pair *pair)
{
	int idx = smc_rtoken_find_rkey(lgr->rtokens, act->link, pair->ref_rkey);

	/* a key that is unknown, or no longer known, has no user here */
	return idx < 0 || !smc_rtoken_set(lgr->rtokens, idx, act->target, pair->rkey,
					  pair->vaddr);
}

/* The pairs of an ADD LINK that was retained. */
static bool llc_store_kept(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_pair pair;
	bool is_good = llc->kept || !act->msg.add_link.nr_pairs;
	unsigned int k;

	for (k = 0; k < act->msg.add_link.nr_pairs && is_good; k++) {
		smc_llc_form_pair(llc->kept, k, &pair);
		is_good = llc_store_pair(lgr, act, &pair);
	}
	smc_llc_msg_drop(&llc->kept);
	return is_good;
}

/* True if each connection that may still write reaches the peer's element on a link. */
static bool llc_is_redundant(struct smc_link_group *lgr, u8 link)
{
	struct smc_conn *conn;
	unsigned long pos;

	lockdep_assert_held(&lgr->lock);
	xa_for_each(&lgr->conns, pos, conn)
		if (conn->rtoken >= 0 && !smc_rtoken_is_known(lgr->rtokens, conn->rtoken, link) &&
		    !(READ_ONCE(conn->ctl.rx_conn_flags) & SMC_CDC_FINAL))
			return false;
	return true;
}

/*
 * Store keys of the peer's RMBs on a new link, RKEY-22. Expects lgr->lock held. Returns false if
 * they are invalid, or the last ones and an RMB in use has no key: such a link would show
 * redundancy that is not there, as its connections could not move to it. RFC 7609 3.5.5.2.3, A.3.3;
 * RKEY-20, ADDL-13.
 */
bool smc_llc_rtoken_store_pairs(struct smc_link_group *lgr, const struct smc_llc_action *act)
{
	const struct smc_llc_add_link_cont *cont = &act->msg.add_link_cont;
	unsigned int k;

	lockdep_assert_held(&lgr->lock);
	if (act->msg.type == SMC_LLC_ADD_LINK)
		return llc_store_kept(lgr, act) && llc_is_redundant(lgr, act->target);
	for (k = 0; k < min_t(unsigned int, cont->nr_rtokens, SMC_LLC_CONT_PAIRS); k++)
		if (!llc_store_pair(lgr, act, &cont->pair[k]))
			return false;
	return cont->nr_rtokens > SMC_LLC_CONT_PAIRS || llc_is_redundant(lgr, act->target);
}

/*
 * Delete RMBs of the peer from the table; @ev gets the unknown keys, RKEY-18. Connections lose an
 * RMB before the answer permits the peer to free it. Expects lgr->lock held.
 */
void smc_llc_rtoken_delete(struct smc_link_group *lgr, const struct smc_llc_action *act,
			   struct smc_llc_event *ev)
{
	const struct smc_llc_delete_rkey *dr = &act->msg.delete_rkey;
	struct smc_llc *llc = &lgr->llc;
	unsigned int i;
	u32 rkey;
	int idx;

	lockdep_assert_held(&lgr->lock);
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
	smc_llc_msg_drop(&llc->kept_rkeys);
}
