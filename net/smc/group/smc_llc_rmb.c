// SPDX-License-Identifier: GPL-2.0
/*
 * RKEY exchanges: new RMBs are announced to the peer, and RMBs are withdrawn from it.
 *
 * Operation: a task queues a request and sleeps. The worker of the group feeds one at a
 * time to the machine, which runs the exchange, and completes it. For a link that is
 * added all announced RMBs are announced again.
 *
 * Ownership: a request is on the stack of the waiting task and is completed exactly
 * once; the machine's timers bound the wait.
 *
 * Error handling: a request refused because links change is retried with the then
 * current links. When the machine is dead all end with -ECONNABORTED.
 */
#include <linux/completion.h>
#include <linux/jiffies.h>

#include "smc_compat.h"
#include "group/smc_terminate.h"
#include "group/smc_llc_msg.h"
#include "group/smc_llc_rmb.h"

#define LLC_RKEY_TRIES		5

/* timeouts that a request tolerates while this side's own RNIC is busy */
#define LLC_RNIC_TURNS		3

/**
 * struct smc_llc_request - an RKEY exchange that a task waits for
 * @node: in llc->requests until the machine has it
 * @is_delete: DELETE RKEY of @bufs, otherwise CONFIRM RKEY of @bufs[0]
 * @nr_bufs: length of @bufs
 * @bufs: RMBs concerned; borrowed
 * @links: links it named, a mask, under lgr->lock
 * @tries: failed attempts while the links did not change
 * @result: outcome, valid once @done is complete
 * @done: completed exactly once
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

static void llc_finish(struct smc_llc_request *req, int result)
{
	req->result = result;
	/* the waiter's stack may be gone after this */
	complete(&req->done);
}

static unsigned int llc_active_links(const struct smc_llc *llc)
{
	unsigned int mask = 0;
	u8 i;

	for (i = 0; i < SMC_LLC_LINKS; i++)
		if (smc_llc_is_in_use(&llc->flow.link[i]))
			mask |= BIT(i);
	return mask;
}

/* Keep track of the RMBs that the peer knows: they are announced on added links. */
static void llc_note_announced(struct smc_llc *llc, const struct smc_llc_request *req)
{
	unsigned int i, k;

	for (i = 0; i < req->nr_bufs; i++) {
		req->bufs[i]->is_told = !req->is_delete;
		/* Deployed peers accept a deletion while they add a link. */
		for (k = 0; k < llc->nr_announced && req->is_delete; k++)
			if (llc->announced[k] == req->bufs[i])
				llc->announced[k] = NULL;
	}
}

/**
 * smc_llc_rmb_done() - complete or retry the current request
 * @lgr: the group; nothing happens if it has no current request
 * @result: as with SMC_LLC_ACT_RKEY_DONE
 *
 * A request refused for now is queued again at the head: each time the links have
 * changed, and a few times without a change.
 *
 * Context: The worker of @lgr. Expects lgr->lock held. Takes lgr->llc.queue_lock.
 */
void smc_llc_rmb_done(struct smc_link_group *lgr, int result)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req = llc->current_req;

	lockdep_assert_held(&lgr->lock);
	llc->current_req = NULL;
	if (!req)
		return;
	if (!result)
		llc_note_announced(llc, req);
	if (result == -EAGAIN && req->links == llc_active_links(llc))
		req->tries++;
	if (result == -EAGAIN && req->tries < LLC_RKEY_TRIES) {
		guard(spinlock_irqsave)(&llc->queue_lock);
		if (!llc->is_closed) {
			list_add(&req->node, &llc->requests);
			return;
		}
		result = -ECONNABORTED;
	}
	llc_finish(req, result);
}

static void llc_list_announced(struct smc_llc *llc, struct smc_buf_pool *pool)
{
	struct smc_buf *buf = NULL;

	while ((buf = smc_buf_next(pool, buf)))
		if ((buf->is_told || buf->is_ready) &&
		    llc->nr_announced < ARRAY_SIZE(llc->announced))
			llc->announced[llc->nr_announced++] = buf;
}

/**
 * smc_llc_rmb_start() - mark the RMBs of first contact as known to the peer
 * @lgr: the group
 *
 * The peer knows them from Accept or Confirm. RFC 7609 3.5.5.2 (RKEY-02, AMB-21).
 *
 * Context: The worker of @lgr. Expects lgr->lock held.
 */
void smc_llc_rmb_start(struct smc_link_group *lgr)
{
	struct smc_buf *buf = NULL;

	lockdep_assert_held(&lgr->lock);
	while ((buf = smc_buf_next(&lgr->rmbs, buf)))
		buf->is_told = true;
}

/**
 * smc_llc_rmb_select() - list the RMBs to announce for a new link
 * @lgr: the group; the list is @lgr->llc.announced
 *
 * All RMBs that the peer knows. No CONFIRM RKEY changes that before the link is up or
 * given up (RKEY-15), so the count stays valid. A DELETE RKEY in flight may:
 * smc_llc_rmb_done() then clears its entries.
 *
 * Context: Expects lgr->lock held.
 * Return: how many.
 */
unsigned int smc_llc_rmb_select(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_buf *buf;

	lockdep_assert_held(&lgr->lock);
	llc_list_announced(llc, &lgr->rmbs);
	list_for_each_entry(buf, &lgr->leaving, node)
		if (buf->kind == SMC_BUF_RMB && buf->is_told &&
		    llc->nr_announced < ARRAY_SIZE(llc->announced))
			llc->announced[llc->nr_announced++] = buf;
	return llc->nr_announced;
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
		if (!smc_llc_is_in_use(&flow->link[i]))
			continue;
		for (n = 0; n < req->nr_bufs; n++) {
			rtoken = &rkey->rtoken[rkey->count++];
			rtoken->link_num = i;
			rtoken->rkey = smc_buf_rkey(req->bufs[n], i);
			rtoken->vaddr = req->bufs[n]->iova;
			if (!rtoken->rkey)
				return -ECONNABORTED;
		}
		/* keys to delete are named by one link only, RKEY-16 */
		if (req->is_delete)
			break;
	}
	return rkey->count ? 0 : -ECONNABORTED;
}

static struct smc_llc_request *llc_first_request(struct smc_llc *llc)
{
	struct smc_llc_request *req;

	guard(spinlock_irqsave)(&llc->queue_lock);
	req = list_first_entry_or_null(&llc->requests, struct smc_llc_request, node);
	if (req)
		list_del_init(&req->node);
	return req;
}

/**
 * smc_llc_rmb_next() - take the next request, if the machine accepts one
 * @lgr: the group
 * @rkey: receives it, built from the current links
 *
 * Requests that cannot be built are completed with an error.
 *
 * Context: The worker of @lgr. Expects lgr->lock held. Takes lgr->llc.queue_lock.
 * Return: true if @rkey must be fed to the machine; smc_llc_rmb_done() follows.
 */
bool smc_llc_rmb_next(struct smc_link_group *lgr, struct smc_llc_rkeys *rkey)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req;
	int rc;

	lockdep_assert_held(&lgr->lock);
	if (llc->current_req || !smc_llc_flow_may_request(&llc->flow, llc_now()))
		return false;
	while ((req = llc_first_request(llc))) {
		rc = llc_build(lgr, req, rkey);
		if (!rc) {
			llc->current_req = req;
			return true;
		}
		llc_finish(req, rc);
	}
	return false;
}

/**
 * smc_llc_rmb_close() - end all requests
 * @lgr: the group; its queue is closed, so no request can follow
 *
 * Context: The worker of @lgr. Expects lgr->lock held. Takes lgr->llc.queue_lock.
 */
void smc_llc_rmb_close(struct smc_link_group *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_request *req, *next;
	LIST_HEAD(left);

	lockdep_assert_held(&lgr->lock);
	scoped_guard(spinlock_irqsave, &llc->queue_lock)
		list_splice_init(&llc->requests, &left);
	smc_llc_rmb_done(lgr, -ECONNABORTED);
	list_for_each_entry_safe(req, next, &left, node)
		llc_finish(req, -ECONNABORTED);
}

static unsigned long llc_max_wait(const struct smc_link_group *lgr)
{
	return msecs_to_jiffies(min_t(u64, smc_llc_patience_ms(&lgr->llc.flow.params.timers),
				      UINT_MAX));
}

/*
 * True while a request waits for this side's own RNIC, which may take a minute to fail.
 * A peer that keeps offering links can prolong this, hence LLC_RNIC_TURNS.
 */
static bool llc_rnic_is_busy(struct smc_link_group *lgr)
{
	enum smc_llc_config config;

	guard(mutex)(&lgr->lock);
	config = lgr->llc.flow.config;
	return config == SMC_LLC_CONFIG_CREATE || config == SMC_LLC_CONFIG_PREPARE ||
	       config == SMC_LLC_CONFIG_STORE;
}

/* Queue the request and wait. A peer that never answers loses the group. */
static int llc_request(struct smc_link_group *lgr, struct smc_llc_request *req)
{
	struct smc_llc *llc = &lgr->llc;
	int turns = 0;

	req->tries = 0;
	init_completion(&req->done);
	scoped_guard(spinlock_irqsave, &llc->queue_lock) {
		if (llc->is_closed)
			return -ECONNABORTED;
		list_add_tail(&req->node, &llc->requests);
	}
	smc_llc_queue_work(lgr);
	/*
	 * Not TASK_UNINTERRUPTIBLE, since it may take minutes. Callers are workers, which get no
	 * signals.
	 */
	while (wait_for_completion_interruptible_timeout(&req->done, llc_max_wait(lgr)) <= 0) {
		if (turns++ < LLC_RNIC_TURNS && llc_rnic_is_busy(lgr))
			continue;
		smc_lgr_terminate(lgr);
		smc_llc_queue_work(lgr);
		wait_for_completion_state(&req->done, TASK_IDLE);
		break;
	}
	return req->result;
}

/**
 * smc_llc_rmb_announce() - announce a new RMB to the peer and wait for the answer
 * @lgr: the group, up
 * @buf: the RMB, mapped and registered on every active link; borrowed
 *
 * One CONFIRM RKEY exchange for all links, repeated if the peer refuses because its links
 * are changing. RFC 7609 3.5.5.2.1, A.3.5; RKEY-04 to RKEY-13.
 *
 * Context: Process context, sleeps, bounded by the machine's timers. Expects no lock held.
 * Return: 0 once the peer knows it; -EREMOTEIO if the peer refuses; -ECONNABORTED if the
 * group has ended meanwhile, or no link can carry it.
 */
int smc_llc_rmb_announce(struct smc_link_group *lgr, struct smc_buf *buf)
{
	struct smc_llc_request req = { .nr_bufs = 1, .bufs = { buf } };
	int rc = llc_request(lgr, &req);

	return rc == -EAGAIN ? -EREMOTEIO : rc;
}

/**
 * smc_llc_rmb_withdraw() - withdraw RMBs from the peer and wait for the answer
 * @lgr: the group
 * @bufs: the RMBs; on success the peer no longer uses them
 *
 * DELETE RKEY exchanges of up to eight RMBs each. Keys unknown to the peer do no harm.
 * RFC 7609 3.5.5.2.2, A.3.7; RMB-24, RMB-26, RKEY-16, RKEY-19.
 *
 * Context: Process context, sleeps, bounded by the machine's timers. Expects no lock held.
 * Return: 0; -ECONNABORTED if the group or the link that carried the request has ended
 * meanwhile; -EAGAIN if links change all the time.
 */
int smc_llc_rmb_withdraw(struct smc_link_group *lgr, const struct list_head *bufs)
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
