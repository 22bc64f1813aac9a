// SPDX-License-Identifier: GPL-2.0
/*
 * LLC messages, onto and off the queues of links.
 *
 * Operation: what the machine has to say is encoded into a slot of the link and posted;
 * the completion of the send comes back as an event. What arrives goes to the worker
 * as it is. TEST LINK is the exception: it needs no state and is answered from the
 * completion handler.
 *
 * Ownership: a message that is longer than the ring's entries has memory of its own, which
 * is the worker's for as long as the event is fed, or for as long as the machine has it
 * kept. What is needed to send a long one is got together when a link is created,
 * without a lock.
 *
 * Error handling: a send that cannot be posted is reported to the machine like one
 * that completed badly.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "smc_compat.h"
#include "proto/smc_llc_v2.h"
#include "group/smc_llc_msg.h"
#include "group/smc_llc_queue.h"
#include "observe/smc_trace.h"

/* A SEND of the machine has completed. */
static void llc_sent(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok)
{
	struct smc_link *link = smc_link_of(wr);

	smc_llc_report(link->lgr, SMC_LLC_EV_SENT, link->index, ok, tag->cookie);
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
 * Answers use LLC's own slots only: a peer can ask for any number of them, and a
 * completed LLC message wakes no connection that waits for a data slot. Requests may go
 * beyond. DELETE LINK requests try data slots first: when many links are lost at once,
 * one link has to tell of all the others. That may take as many slots as LLC has, and an
 * answer needs one of those meanwhile; data has more.
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

/**
 * smc_llc_msg_send() - say what the machine has to say
 * @lgr: the group
 * @act: SMC_LLC_ACT_SEND; our keys are filled in
 *
 * What comes of it is SMC_LLC_EV_SENT.
 *
 * Context: Process context. Expects lgr->lock held. Takes wr->lock and
 * lgr->llc.queue_lock.
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

/**
 * smc_llc_msg_drop() - a long message is of no more use
 * @msg: where it is, or NULL there; NULL afterwards
 *
 * Context: Any context.
 */
void smc_llc_msg_drop(u8 **msg)
{
	kfree(*msg);
	*msg = NULL;
}

/**
 * smc_llc_msg_keep() - the message of this event is needed for longer than the event
 * @llc: the engine, with the message
 * @kept: where it is kept, in place of what was there
 *
 * Context: The worker of the group.
 */
void smc_llc_msg_keep(struct smc_llc *llc, u8 **kept)
{
	kfree(*kept);
	*kept = llc->msg;
	llc->msg = NULL;
}

/**
 * smc_llc_msg_prepare_long() - get together what a long ADD LINK will need
 * @lgr: the group
 *
 * For it is sent under lgr->lock. Does nothing where there are none. Once the machine is
 * dead nothing is got any more; smc_llc_msg_free_long() gives it back.
 *
 * Context: Process context, may sleep. Takes lgr->lock.
 * Return: 0; -ENOMEM; -ECONNABORTED if the machine is dead.
 */
int smc_llc_msg_prepare_long(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_long *buf;
	int rc = -ENOMEM;
	u8 *page;

	if (!llc->flow.params.has_long_add_link)
		return 0;
	buf = kvmalloc(sizeof(*buf), GFP_KERNEL);
	page = (u8 *)get_zeroed_page(GFP_KERNEL);
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

/**
 * smc_llc_msg_free_long() - no long message is kept, built or sent any more
 * @llc: the engine, whose machine is dead
 *
 * Context: The worker of the group, which has lgr->lock.
 */
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
 * @probe: from where to where; copied
 *
 * Context: Process context.
 */
void smc_llc_set_probe(struct smc_link_group *lgr, const struct smc_llc_probe *probe)
{
	lgr->llc.probe = *probe;
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
 * @len: how many, may be 0
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
	smc_llc_queue_push(link->lgr, &item);
}
