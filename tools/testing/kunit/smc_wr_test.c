// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a link's queues, and the faults that end it. The device is faked: it does as much with
 * what is posted as the case says.
 */
#include "smc_kunit.h"

/* other suites have these as fakes */
#define smc_wr_create		wr_create
#define smc_wr_connect		wr_connect
#define smc_wr_activate		wr_activate
#define smc_wr_stop		wr_stop
#define smc_wr_destroy		wr_destroy
#define smc_wr_report		wr_report
#define smc_wr_slot_get		wr_slot_get
#define smc_wr_nr_free		wr_nr_free
#define smc_wr_slot_put		wr_slot_put
#define smc_wr_slot_fill	wr_slot_fill
#define smc_wr_post		wr_post
#define smc_wr_register		wr_register

#include "smc_compat.h"
#include "rdma/smc_wr.h"
#include "rdma/smc_wr_mem.h"

/**
 * struct wr_lab - a device and the queues of a link
 * @ibdev: the device
 * @dev: the same for the module
 * @wr: the queues
 * @slot: their only slot
 * @recv: their only receive
 * @page: with its message
 * @pd: their protection domain
 * @cq: completion queue of receives, of sends
 * @qp: the queue pair
 * @last: the last work request of either queue, if the device has it
 * @short_wr: the last short message, its opcode, length and immediate data
 * @nr_polls: polls of the first queue
 * @nr_due: polls after which all that is posted completes; 0: never
 * @has_message: a message comes before that
 * @refuses_posts: the device takes no work requests
 * @destroy_rc: result of attempts to destroy the queue pair
 * @nr_kept: objects that were not destroyed
 * @nr_messages: received
 * @nr_done: slots given back
 * @nr_reports: times the link was reported
 * @fault: the reason
 * @nr_doubts: times it was doubted
 * @quiet: for the last time, in jiffies
 * @is_active: the port is active
 * @has_gid: and has its GID
 */
struct wr_lab {
	struct ib_device *ibdev;
	struct smc_ib_dev dev;
	struct smc_wr wr;
	struct smc_wr_slot slot;
	struct smc_wr_recv recv;
	u8 page[SMC_WR_RECV_LEN];
	struct ib_pd pd;
	struct ib_cq cq[2];
	struct ib_qp qp;
	struct ib_cqe *last[2];
	struct {
		enum ib_wr_opcode opcode;
		int flags;
		u64 addr;
		u32 len;
		u32 imm;
	} short_wr;
	unsigned int nr_polls;
	unsigned int nr_due;
	bool has_message;
	bool refuses_posts;
	int destroy_rc;
	unsigned int nr_kept;
	unsigned int nr_messages;
	unsigned int nr_done;
	unsigned int nr_reports;
	enum smc_wr_fault fault;
	unsigned int nr_doubts;
	unsigned long quiet;
	bool is_active;
	bool has_gid;
};

static struct wr_lab *wr_lab;

static int wr_destroy_qp(struct ib_qp *qp)
{
	if (!wr_lab->destroy_rc)
		wr_lab->nr_kept--;
	return wr_lab->destroy_rc;
}

static struct ib_cq *wr_create_cq(struct ib_device *ibdev, ib_comp_handler comp,
				  void (*event)(struct ib_event *, void *), void *context,
				  const struct ib_cq_init_attr *attr)
{
	struct ib_cq *cq = &wr_lab->cq[attr->cqe == smc_wr_mem_send_depth(&wr_lab->wr)];

	cq->event_handler = event;
	cq->cq_context = context;
	return cq;
}

static int wr_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask)
{
	return 0;
}

#undef ib_alloc_pd
#undef ib_create_cq
#define ib_alloc_pd(...)		(&wr_lab->pd)
#define ib_create_cq			wr_create_cq
#define ib_create_qp(...)		(&wr_lab->qp)
#define ib_modify_qp			wr_modify_qp
#define ib_destroy_qp(qp)		wr_destroy_qp(qp)
#define ib_destroy_cq(...)		((void)wr_lab->nr_kept--)
#define ib_dealloc_pd(...)		((void)wr_lab->nr_kept--)

#define smc_ib_begin_counts(...)	((void)0)
#define smc_ib_end_counts(...)		((void)0)
#define smc_ib_end_copy(to, from)	(*(to) = *(from))
#define smc_ib_end_put(...)		((void)0)
#define smc_ib_end_is_active(...)	(wr_lab->is_active)
#define smc_ib_end_is_up(...)		(wr_lab->is_active && wr_lab->has_gid)
#define smc_ib_end_is_dead(...)		false
#define smc_ib_end_is_leaving(...)	false
#define smc_ib_end_mtu(end)		((end)->mtu)
#define smc_ib_next_vector(...)		0
#define smc_ib_start_watch(...)		0
#define smc_ib_unwatch(watch)		((void)cancel_delayed_work_sync(&(watch)->work))
#define smc_ib_qp_init(...)		0
#define smc_ib_qp_rtr(...)		0
#define smc_ib_qp_rts(...)		0

#include "../../../net/smc/rdma/smc_wr.c"
#include "../../../net/smc/rdma/smc_wr_reg.c"

static int wr_dev_post_send(struct ib_qp *qp, const struct ib_send_wr *swr,
			    const struct ib_send_wr **bad)
{
	if (wr_lab->refuses_posts)
		return -EIO;
	if (swr->opcode == IB_WR_RDMA_WRITE_WITH_IMM) {
		wr_lab->short_wr.opcode = swr->opcode;
		wr_lab->short_wr.flags = swr->send_flags;
		wr_lab->short_wr.addr = swr->sg_list->addr;
		wr_lab->short_wr.len = swr->sg_list->length;
		wr_lab->short_wr.imm = be32_to_cpu(swr->ex.imm_data);
		return 0;
	}
	wr_lab->last[1] = swr->wr_cqe;
	return 0;
}

static int wr_dev_post_recv(struct ib_qp *qp, const struct ib_recv_wr *rwr,
			    const struct ib_recv_wr **bad)
{
	if (wr_lab->refuses_posts)
		return -EIO;
	wr_lab->last[0] = rwr->wr_cqe;
	return 0;
}

static int wr_dev_poll(struct ib_cq *cq, int nr, struct ib_wc *wc)
{
	unsigned int i = cq - wr_lab->cq, n = 0;

	memset(wc, 0, 2 * sizeof(*wc));
	if (!i && !wr_lab->nr_polls++ && wr_lab->has_message) {
		wc[n].wr_cqe = &wr_lab->recv.cqe;
		wc[n].opcode = IB_WC_RECV;
		wc[n++].byte_len = SMC_WR_MSG_LEN;
	}
	if (!wr_lab->nr_due || wr_lab->nr_polls < wr_lab->nr_due || !wr_lab->last[i])
		return n;
	if (i && wr_lab->slot.is_posted) {
		wc[n].status = IB_WC_WR_FLUSH_ERR;
		wc[n++].wr_cqe = &wr_lab->slot.cqe;
	}
	wc[n].status = IB_WC_WR_FLUSH_ERR;
	wc[n++].wr_cqe = wr_lab->last[i];
	wr_lab->last[i] = NULL;
	return n;
}

static int wr_dev_notify(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	return 0;
}

static void wr_rx(struct smc_wr *wr, const u8 *msg, u32 len)
{
	wr_lab->nr_messages++;
}

static void wr_rx_imm(struct smc_wr *wr, u32 imm)
{
}

static void wr_broken(struct smc_wr *wr, enum smc_wr_fault fault)
{
	wr_lab->nr_reports++;
	wr_lab->fault = fault;
}

static void wr_stalled(struct smc_wr *wr, unsigned long quiet)
{
	wr_lab->nr_doubts++;
	wr_lab->quiet = quiet;
}

static const struct smc_wr_ops wr_ops = {
	.rx_cdc = wr_rx, .rx_llc = wr_rx, .rx_imm = wr_rx_imm, .broken = wr_broken,
	.stalled = wr_stalled,
};

static void wr_done(struct smc_wr *wr, const struct smc_wr_tag *tag, bool ok)
{
	wr_lab->nr_done++;
}

static int wr_test_init(struct kunit *test)
{
	struct wr_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	struct smc_wr *wr;
	int i;

	if (!lab)
		return -ENOMEM;
	wr_lab = lab;
	wr = &lab->wr;
	lab->ibdev = kunit_kzalloc(test, sizeof(*lab->ibdev), GFP_KERNEL);
	if (!lab->ibdev)
		return -ENOMEM;
	lab->ibdev->ops.post_send = wr_dev_post_send;
	lab->ibdev->ops.post_recv = wr_dev_post_recv;
	lab->ibdev->ops.poll_cq = wr_dev_poll;
	lab->ibdev->ops.req_notify_cq = wr_dev_notify;
	lab->dev.ibdev = lab->ibdev;
	lab->is_active = true;
	lab->has_gid = true;
	lab->qp.device = lab->ibdev;
	for (i = 0; i < 2; i++)
		lab->cq[i].device = lab->ibdev;
	/* a protection domain, two completion queues, a queue pair */
	lab->nr_kept = 4;

	wr->ops = &wr_ops;
	wr->end.dev = &lab->dev;
	wr->end.port = 1;
	wr->pd = &lab->pd;
	wr->recv_cq = &lab->cq[0];
	wr->send_cq = &lab->cq[1];
	wr->qp = &lab->qp;
	spin_lock_init(&wr->lock);
	INIT_LIST_HEAD(&wr->free[SMC_WR_DATA]);
	INIT_LIST_HEAD(&wr->free[SMC_WR_CTRL]);
	INIT_LIST_HEAD(&wr->regs);
	INIT_LIST_HEAD(&wr->flows);
	sema_init(&wr->reg_room, SMC_WR_REGS);
	INIT_DELAYED_WORK(&wr->watch.work, smc_wr_check_end);
	INIT_DELAYED_WORK(&wr->tick.work, smc_wr_run_tick);
	irq_poll_init(&wr->poll, SMC_WR_BUDGET, smc_wr_run_poll);
	set_bit(SMC_WR_IS_OPEN, &wr->flags);

	/* posted, and not completed */
	wr->slots = &lab->slot;
	wr->nr_slots = 1;
	lab->slot.wr = wr;
	lab->slot.class = SMC_WR_DATA;
	lab->slot.cqe.done = smc_wr_send_done;
	lab->slot.tag.done = wr_done;
	lab->slot.is_posted = true;
	lab->recv.wr = wr;
	lab->recv.cqe.done = smc_wr_recv_done;
	lab->recv.msg = lab->page;
	return 0;
}

static void wr_test_exit(struct kunit *test)
{
	if (!wr_lab || !wr_lab->ibdev)
		return;
	cancel_delayed_work_sync(&wr_lab->wr.watch.work);
	cancel_delayed_work_sync(&wr_lab->wr.tick.work);
	wr_lab = NULL;
}

/* Ends the queues, and tells whether that took a bounded time. */
static void wr_end(struct kunit *test)
{
	unsigned long began = jiffies;

	smc_wr_stop(&wr_lab->wr);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, began + 10 * SMC_WR_FLUSH_TIMEOUT));
	KUNIT_EXPECT_EQ(test, wr_lab->nr_done, 1);
	KUNIT_EXPECT_EQ(test, wr_lab->wr.nr_free[SMC_WR_DATA], 1);
	/* nobody handles completions any more, whose work requests may be gone */
	KUNIT_EXPECT_FALSE(test, smc_wr_poll(&wr_lab->wr, NULL, NULL));
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 0);
}

/* A poster of short messages. */
struct wr_poster {
	struct smc_wr_flow flow;
	u16 done[SMC_WR_FLIGHT];
	unsigned int nr_done;
	unsigned int nr_bad;
};

static void wr_short_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct wr_poster *p = container_of(wc->wr_cqe, struct wr_poster, flow.cqe);
	struct smc_wr_flight done = smc_wr_flow_done(&p->flow, wc);

	p->nr_bad += wc->status != IB_WC_SUCCESS;
	p->done[p->nr_done++ % SMC_WR_FLIGHT] = done.seq;
}

static struct wr_poster *wr_poster(struct kunit *test, int nr_credits)
{
	struct wr_poster *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	struct smc_wr *wr = &wr_lab->wr;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->flow.cqe.done = wr_short_done;
	wr->nr_credits = nr_credits;
	atomic_set(&wr->credits, nr_credits);
	return p;
}

/* Return: true if it was posted. */
static bool wr_say(struct wr_poster *p, u16 seq, u32 len)
{
	const struct smc_wr_short msg = {
		.cpu = wr_lab->page, .iova = 0x1000, .len = len, .imm = 0x70000 + seq, .seq = seq,
	};

	guard(rcu)();
	return smc_wr_take_credit(&p->flow, &wr_lab->wr) && !smc_wr_post_short(&p->flow, &msg);
}

static void wr_hear(struct wr_poster *p, enum ib_wc_status status)
{
	struct ib_wc wc = { .wr_cqe = &p->flow.cqe, .status = status };

	wc.wr_cqe->done(&wr_lab->cq[1], &wc);
}

static void a_short_message_needs_a_credit_and_no_slot(struct kunit *test)
{
	struct wr_poster *p = wr_poster(test, 3);
	struct smc_wr *wr = &wr_lab->wr;
	u16 i;

	wr->max_inline = 96;
	KUNIT_EXPECT_FALSE(test, wr_say(p, 1, 10));
	KUNIT_ASSERT_TRUE(test, smc_wr_flow_join(&p->flow, wr));
	KUNIT_ASSERT_TRUE(test, smc_wr_flow_join(&p->flow, wr));
	KUNIT_EXPECT_TRUE(test, wr_say(p, 1, 96));
	KUNIT_EXPECT_TRUE(test, wr_lab->short_wr.flags & IB_SEND_INLINE);
	KUNIT_EXPECT_EQ(test, wr_lab->short_wr.addr, (u64)(uintptr_t)wr_lab->page);
	KUNIT_EXPECT_TRUE(test, wr_say(p, 2, 97));
	KUNIT_EXPECT_FALSE(test, wr_lab->short_wr.flags & IB_SEND_INLINE);
	KUNIT_EXPECT_EQ(test, wr_lab->short_wr.addr, 0x1000ULL);
	KUNIT_EXPECT_EQ(test, wr_lab->short_wr.len, 97U);
	KUNIT_EXPECT_EQ(test, wr_lab->short_wr.imm, 0x70002U);
	KUNIT_EXPECT_TRUE(test, wr_lab->short_wr.flags & IB_SEND_SIGNALED);
	KUNIT_EXPECT_TRUE(test, wr_lab->short_wr.flags & IB_SEND_SOLICITED);
	KUNIT_EXPECT_TRUE(test, wr_say(p, 3, 1));
	/* no credit is left, and none is lost */
	KUNIT_EXPECT_FALSE(test, wr_say(p, 4, 1));
	KUNIT_EXPECT_EQ(test, atomic_read(&wr->credits), 0);
	KUNIT_EXPECT_TRUE(test, smc_wr_is_busy(wr));
	for (i = 0; i < 3; i++)
		wr_hear(p, IB_WC_SUCCESS);
	/* in order */
	KUNIT_EXPECT_EQ(test, p->done[0], 1);
	KUNIT_EXPECT_EQ(test, p->done[2], 3);
	KUNIT_EXPECT_EQ(test, atomic64_read(&wr->counts.nr[SMC_IB_TX_MSGS]), 3);
	KUNIT_EXPECT_EQ(test, atomic64_read(&wr->counts.nr[SMC_IB_TX_BYTES]), 194);
	KUNIT_EXPECT_EQ(test, atomic_read(&wr->credits), 3);
	smc_wr_flow_leave(&p->flow);
	KUNIT_EXPECT_TRUE(test, list_empty(&wr->flows));
	KUNIT_EXPECT_FALSE(test, wr_say(p, 4, 1));
}

static void a_flow_has_few_messages_in_flight(struct kunit *test)
{
	struct wr_poster *p = wr_poster(test, 4 * SMC_WR_FLIGHT);
	u16 i;

	smc_wr_flow_join(&p->flow, &wr_lab->wr);
	/* the counts wrap on the way */
	p->flow.nr_posted = 65530;
	p->flow.nr_done = 65530;
	for (i = 0; i < SMC_WR_FLIGHT; i++)
		KUNIT_EXPECT_TRUE(test, wr_say(p, i, 1));
	KUNIT_EXPECT_FALSE(test, wr_say(p, i, 1));
	for (i = 0; i < SMC_WR_FLIGHT; i++)
		wr_hear(p, IB_WC_SUCCESS);
	for (i = 0; i < SMC_WR_FLIGHT; i++)
		KUNIT_EXPECT_EQ(test, p->done[i], i);
	KUNIT_EXPECT_TRUE(test, wr_say(p, i, 1));
	wr_hear(p, IB_WC_SUCCESS);
	smc_wr_flow_leave(&p->flow);
}

static void a_refused_short_message_breaks_the_link(struct kunit *test)
{
	struct wr_poster *p = wr_poster(test, 2);

	smc_wr_flow_join(&p->flow, &wr_lab->wr);
	wr_lab->refuses_posts = true;
	KUNIT_EXPECT_FALSE(test, wr_say(p, 1, 1));
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 1);
	KUNIT_EXPECT_EQ(test, wr_lab->fault, SMC_WR_FAULT_POST);
	KUNIT_EXPECT_EQ(test, atomic_read(&wr_lab->wr.credits), 2);
	KUNIT_EXPECT_EQ(test, p->flow.nr_posted, p->flow.nr_done);
	/* no message may follow that announces bytes which were not written */
	wr_lab->refuses_posts = false;
	KUNIT_EXPECT_FALSE(test, wr_say(p, 2, 1));
	smc_wr_flow_leave(&p->flow);
}

/* Each message in flight completes once, by the device or by the end of the queues. */
static void a_stop_finishes_short_messages_and_takes_out_flows(struct kunit *test)
{
	struct wr_poster *p = wr_poster(test, 4), *idle = wr_poster(test, 4);
	struct smc_wr *wr = &wr_lab->wr;

	smc_wr_flow_join(&p->flow, wr);
	smc_wr_flow_join(&idle->flow, wr);
	KUNIT_EXPECT_TRUE(test, wr_say(p, 1, 1));
	KUNIT_EXPECT_TRUE(test, wr_say(p, 2, 1));
	KUNIT_EXPECT_TRUE(test, wr_say(p, 3, 1));
	wr_hear(p, IB_WC_SUCCESS);
	wr_lab->nr_due = 3;
	wr_end(test);
	KUNIT_EXPECT_EQ(test, p->nr_done, 3U);
	KUNIT_EXPECT_EQ(test, p->nr_bad, 2U);
	KUNIT_EXPECT_EQ(test, p->done[2], 3);
	KUNIT_EXPECT_EQ(test, idle->nr_done, 0U);
	KUNIT_EXPECT_NULL(test, p->flow.wr);
	KUNIT_EXPECT_NULL(test, idle->flow.wr);
	KUNIT_EXPECT_TRUE(test, list_empty(&wr->flows));
	KUNIT_EXPECT_FALSE(test, smc_wr_flow_join(&p->flow, wr));
	smc_wr_flow_leave(&p->flow);
}

/* The device sends no event, as after a crash of its firmware. */
static void a_stop_takes_completions_without_events(struct kunit *test)
{
	wr_lab->has_message = true;
	wr_lab->nr_due = 3;
	wr_end(test);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_messages, 1);
	KUNIT_EXPECT_GE(test, wr_lab->nr_polls, 3);
	/* nothing is left to the device, so the queue pair may stay until smc_wr_destroy() */
	KUNIT_EXPECT_PTR_EQ(test, wr_lab->wr.qp, &wr_lab->qp);
}

static void a_stop_waits_for_a_limited_time(struct kunit *test)
{
	wr_lab->has_message = true;
	wr_end(test);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_messages, 1);
	/* or it could still read what the slot names */
	KUNIT_EXPECT_NULL(test, wr_lab->wr.qp);
}

static void a_stop_takes_messages_of_a_device_that_refuses_posts(struct kunit *test)
{
	wr_lab->has_message = true;
	wr_lab->refuses_posts = true;
	wr_end(test);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_messages, 1);
	KUNIT_EXPECT_NULL(test, wr_lab->wr.qp);
}

static void all_is_freed_that_the_device_gives_up(struct kunit *test)
{
	wr_lab->nr_due = 1;
	wr_end(test);
	wr_lab->wr.slots = NULL;
	smc_wr_destroy(&wr_lab->wr);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_kept, 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&wr_lab->wr.counts.nr[SMC_IB_LEAKS]), 0);
}

static void what_a_queue_pair_may_use_is_kept_with_it(struct kunit *test)
{
	wr_lab->nr_due = 1;
	wr_lab->destroy_rc = -EBUSY;
	wr_end(test);
	smc_wr_destroy(&wr_lab->wr);
	KUNIT_EXPECT_TRUE(test, test_bit(SMC_WR_IS_KEPT, &wr_lab->wr.flags));
	module_put(THIS_MODULE);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_kept, 4);
	KUNIT_EXPECT_EQ(test, atomic64_read(&wr_lab->wr.counts.nr[SMC_IB_LEAKS]), 1);
}

/* The memory region is counted by smc_buf.c. */
static void a_protection_domain_is_kept_for_a_memory_region(struct kunit *test)
{
	wr_lab->nr_due = 1;
	atomic_set(&wr_lab->pd.usecnt, 1);
	wr_end(test);
	wr_lab->wr.slots = NULL;
	smc_wr_destroy(&wr_lab->wr);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_kept, 1);
}

static void a_fault_of_a_completion_queue_is_reported(struct kunit *test)
{
	struct ib_event event = { .event = IB_EVENT_CQ_ERR };
	struct ib_cq *cq = wr_lab->cq;
	int i;

	KUNIT_ASSERT_EQ(test, smc_wr_create_cqs(&wr_lab->wr), 0);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_NOT_NULL(test, cq[i].event_handler);
		wr_lab->nr_reports = 0;
		clear_bit(SMC_WR_IS_REPORTED, &wr_lab->wr.flags);
		cq[i].event_handler(&event, cq[i].cq_context);
		KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 1);
		KUNIT_EXPECT_EQ(test, wr_lab->fault, SMC_WR_FAULT_QP);
		cq[i].event_handler(&event, cq[i].cq_context);
		KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 1);
	}
}

/* Receives go on meanwhile, so no TEST LINK notices. */
static void ka_05_sends_that_never_complete_are_reported(struct kunit *test)
{
	struct smc_wr *wr = &wr_lab->wr;
	unsigned int i;

	wr->tick.max_quiet = smc_wr_stall_ticks(wr, 15, 6);
	KUNIT_EXPECT_EQ(test, wr->tick.max_quiet, SMC_WR_STALL_MIN / SMC_WR_TICK);
	/* an adapter, which has addresses of its own */
	wr_lab->ibdev->dma_device = &wr_lab->ibdev->dev;
	wr->tick.max_quiet = smc_wr_stall_ticks(wr, 15, 6);
	KUNIT_ASSERT_EQ(test, wr->tick.max_quiet, SMC_WR_STALL_HARD / SMC_WR_TICK);
	for (i = 0; i <= wr->tick.max_quiet; i++) {
		KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 0);
		cancel_delayed_work_sync(&wr->tick.work);
		smc_wr_run_tick(&wr->tick.work.work);
	}
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 1);
	KUNIT_EXPECT_EQ(test, wr_lab->fault, SMC_WR_FAULT_SEND);
	wr_lab->ibdev->dma_device = NULL;
}

static void wr_tick(unsigned int n)
{
	while (n--) {
		cancel_delayed_work_sync(&wr_lab->wr.tick.work);
		smc_wr_run_tick(&wr_lab->wr.tick.work.work);
	}
}

/* Others may move data meanwhile: the doubt comes early. */
static void ka_05_a_patient_link_is_doubted_and_lost_later(struct kunit *test)
{
	struct smc_wr *wr = &wr_lab->wr;

	smc_wr_be_patient(wr, 60000);
	KUNIT_EXPECT_NE(test, wr->tick.max_quiet, 60000 / 100);
	wr->is_patient = true;
	smc_wr_be_patient(wr, 1000);
	KUNIT_EXPECT_EQ(test, wr->tick.max_quiet, 10U);
	wr_tick(SMC_WR_DOUBT_TICKS);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_doubts, 0U);
	wr_tick(7);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_doubts, 7U);
	KUNIT_EXPECT_EQ(test, wr_lab->quiet, 10UL * SMC_WR_TICK);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 0);
	wr_tick(1);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 1);
	KUNIT_EXPECT_EQ(test, wr_lab->fault, SMC_WR_FAULT_SEND);
	/* no doubt is left */
	wr_tick(1);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_doubts, 7U);
}

static void a_long_chain_is_not_in_doubt(struct kunit *test)
{
	struct smc_wr *wr = &wr_lab->wr;

	wr->is_patient = true;
	smc_wr_be_patient(wr, 1000);
	wr_lab->slot.is_posted = true;
	wr_lab->slot.nr_bytes = SMC_WR_STALL_CHECKS * SMC_WR_STALL_BYTES;
	wr_tick(2 * SMC_WR_DOUBT_TICKS);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_doubts, 0U);
	wr_tick(20 - 2 * SMC_WR_DOUBT_TICKS);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_doubts, 20U - 2 * SMC_WR_DOUBT_TICKS);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 0);
	wr_tick(1);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 1);
}

static void wr_check(void)
{
	cancel_delayed_work_sync(&wr_lab->wr.watch.work);
	smc_wr_check_end(&wr_lab->wr.watch.work.work);
}

static void a_port_without_carrier_ends_the_link_at_once(struct kunit *test)
{
	wr_check();
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 0);
	wr_lab->is_active = false;
	wr_check();
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 1);
	KUNIT_EXPECT_EQ(test, wr_lab->fault, SMC_WR_FAULT_PORT);
}

static void a_gid_may_be_gone_for_a_while(struct kunit *test)
{
	struct smc_wr *wr = &wr_lab->wr;

	wr_lab->has_gid = false;
	wr_check();
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 0);
	/* no event ends the wait */
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&wr->watch.work));
	wr_lab->has_gid = true;
	wr_check();
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&wr->watch.work));

	/* another time, with another event meanwhile */
	wr_lab->has_gid = false;
	wr_check();
	wr_check();
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 0);
	wr->down_since -= SMC_WR_GID_GRACE;
	wr_check();
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 1);
	KUNIT_EXPECT_EQ(test, wr_lab->fault, SMC_WR_FAULT_PORT);
}

static void a_patient_link_waits_for_its_port(struct kunit *test)
{
	struct smc_wr *wr = &wr_lab->wr;

	wr->is_patient = true;
	smc_wr_be_patient(wr, 60000);
	wr_lab->is_active = false;
	wr_check();
	KUNIT_EXPECT_EQ(test, wr_lab->nr_doubts, 1U);
	/* again soon: other links may answer meanwhile */
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&wr->watch.work));
	wr->down_since -= 59 * HZ;
	wr_check();
	KUNIT_EXPECT_EQ(test, wr_lab->nr_doubts, 2U);
	KUNIT_EXPECT_GE(test, wr_lab->quiet, 59UL * HZ);
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 0);
	wr->down_since -= HZ;
	wr_check();
	KUNIT_EXPECT_EQ(test, wr_lab->nr_reports, 1);
	KUNIT_EXPECT_EQ(test, wr_lab->fault, SMC_WR_FAULT_PORT);
}

static struct kunit_case wr_cases[] = {
	KUNIT_CASE(a_short_message_needs_a_credit_and_no_slot),
	KUNIT_CASE(a_flow_has_few_messages_in_flight),
	KUNIT_CASE(a_refused_short_message_breaks_the_link),
	KUNIT_CASE(a_stop_finishes_short_messages_and_takes_out_flows),
	KUNIT_CASE(a_stop_takes_completions_without_events),
	KUNIT_CASE(a_stop_waits_for_a_limited_time),
	KUNIT_CASE(a_stop_takes_messages_of_a_device_that_refuses_posts),
	KUNIT_CASE(all_is_freed_that_the_device_gives_up),
	KUNIT_CASE(what_a_queue_pair_may_use_is_kept_with_it),
	KUNIT_CASE(a_protection_domain_is_kept_for_a_memory_region),
	KUNIT_CASE(a_fault_of_a_completion_queue_is_reported),
	KUNIT_CASE(ka_05_sends_that_never_complete_are_reported),
	KUNIT_CASE(ka_05_a_patient_link_is_doubted_and_lost_later),
	KUNIT_CASE(a_long_chain_is_not_in_doubt),
	KUNIT_CASE(a_port_without_carrier_ends_the_link_at_once),
	KUNIT_CASE(a_gid_may_be_gone_for_a_while),
	KUNIT_CASE(a_patient_link_waits_for_its_port),
	{}
};

static struct kunit_suite wr_suite = {
	.name = "smc_wr",
	.init = wr_test_init,
	.exit = wr_test_exit,
	.test_cases = wr_cases,
};

kunit_test_suite(wr_suite);
