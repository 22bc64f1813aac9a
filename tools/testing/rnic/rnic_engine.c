// SPDX-License-Identifier: GPL-2.0
/*
 * The engine: one thread for each device, which executes what an adapter does in hardware.
 *
 * It takes received packets, then lets each QP send, retransmit or flush. All of that happens
 * under the lock of the device, so a QP in the table of the device is alive. Reliability is
 * go-back-N: the receiver accepts packets in order only, the sender returns to the first that
 * is not acknowledged.
 */
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_pack.h>

#include "rnic.h"

enum {
	WINDOW = 64,		/* packets in flight of a QP */
	ACK_EVERY = 16,
	AT_ONCE = 32,		/* packets of a QP before others have their turn */
	OWN_EXPONENT = 16,	/* of adapters that ignore the timeout: 0.27 s */
	NEVER = 1 << 30,
};

/**
 * rnic_kick() - the engine has work
 * @dev: device
 *
 * Context: Any context.
 */
void rnic_kick(struct rnic_dev *dev)
{
	int cpu = get_cpu();

	atomic_set(&dev->kicked, 1);
	/* as a doorbell: waking a thread costs a CPU more than that; if busy, it has yet to wake */
	if (rnic_engine_cpu >= 0 && rnic_engine_cpu != cpu)
		smp_call_function_single_async(rnic_engine_cpu, &dev->doorbell);
	else
		wake_up(&dev->wait);
	put_cpu();
}

static void wake_engine(void *arg)
{
	struct rnic_dev *dev = arg;

	wake_up(&dev->wait);
}

static void qp_event(struct rnic_qp *qp, enum ib_event_type type)
{
	struct ib_event event = { .device = qp->ib.device, .event = type, .element.qp = &qp->ib };
	unsigned long flags;

	if (!qp->ib.event_handler)
		return;
	if (!(qp->dev->profile->habits & RNIC_QP_EVENT_IRQ)) {
		qp->ib.event_handler(&event, qp->ib.qp_context);
		return;
	}
	local_irq_save(flags);
	qp->ib.event_handler(&event, qp->ib.qp_context);
	local_irq_restore(flags);
}

/* Completions */

static const enum ib_wc_opcode wc_opcodes[] = {
	[IB_WR_SEND] = IB_WC_SEND,
	[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IB_WR_REG_MR] = IB_WC_REG_MR,
};

/* Of a failed completion only wr_id and status are valid: the rest is garbage. */
static void spoil(struct ib_wc *wc)
{
	wc->opcode = 0xff;
	wc->wc_flags = 0xff;
	wc->byte_len = 0xdbdbdbdb;
}

/* Complete the oldest send. */
static void complete_send(struct rnic_qp *qp, enum ib_wc_status status)
{
	struct rnic_wqe *wqe = &qp->sq.wqes[qp->sq.done % qp->sq.size];
	struct rnic_cqe cqe = {
		.qp = qp, .end = qp->sq.done + 1, .is_send = true,
		.wc = { .wr_id = wqe->wr_id, .status = status, .qp = &qp->ib },
	};

	qp->sq.done++;
	if (status == IB_WC_SUCCESS && !(wqe->flags & IB_SEND_SIGNALED))
		return;
	if (status == IB_WC_SUCCESS)
		cqe.wc.opcode = wc_opcodes[wqe->op];
	else
		spoil(&cqe.wc);
	rnic_cq_push(to_rnic_cq(qp->ib.send_cq), &cqe, false);
}

static void complete_recv(struct rnic_qp *qp, enum ib_wc_status status,
			  const struct rnic_packet *p)
{
	struct rnic_wqe *wqe = &qp->rq.wqes[qp->rq.done % qp->rq.size];
	struct rnic_cqe cqe = {
		.qp = qp, .end = qp->rq.done + 1,
		.wc = { .wr_id = wqe->wr_id, .status = status, .qp = &qp->ib },
	};

	qp->rq.done++;
	if (status != IB_WC_SUCCESS) {
		spoil(&cqe.wc);
	} else {
		bool is_write = qp->resp.message == RNIC_WRITE;

		cqe.wc.opcode = is_write ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV;
		cqe.wc.wc_flags = is_write ? IB_WC_WITH_IMM : 0;
		cqe.wc.ex.imm_data = p->imm;
		cqe.wc.byte_len = qp->resp.offset;
		cqe.wc.src_qp = qp->path.dest_qpn;
		cqe.wc.port_num = 1;
		rnic_count(qp->dev, RNIC_STAT_RECVS);
	}
	rnic_cq_push(to_rnic_cq(qp->ib.recv_cq), &cqe, p && p->is_solicited);
}

/**
 * rnic_flush() - complete all requests of a QP as flushed
 * @qp: QP in the state ERR
 *
 * Context: Expects the lock of the device held.
 */
void rnic_flush(struct rnic_qp *qp)
{
	lockdep_assert_held(&qp->dev->lock);
	/* pairs with the release when posting */
	while (qp->sq.done != smp_load_acquire(&qp->sq.head))
		complete_send(qp, IB_WC_WR_FLUSH_ERR);
	/* pairs with the release when posting */
	while (qp->rq.done != smp_load_acquire(&qp->rq.head))
		complete_recv(qp, IB_WC_WR_FLUSH_ERR, NULL);
}

static void fail(struct rnic_qp *qp)
{
	rnic_qp_set_state(qp, IB_QPS_ERR);
	rnic_flush(qp);
}

static void fail_send(struct rnic_qp *qp, enum ib_wc_status status)
{
	complete_send(qp, status);
	fail(qp);
}

/* The sending half */

static unsigned long ack_jiffies(const struct rnic_qp *qp)
{
	u32 factor = qp->dev->profile->ack_factor;
	u32 exponent = factor ? qp->req.timeout : OWN_EXPONENT;

	return nsecs_to_jiffies64((4096ULL << exponent) * (factor ?: 1)) + 2;
}

static void set_timer(struct rnic_qp *qp)
{
	bool is_unlimited = qp->dev->profile->ack_factor && !qp->req.timeout;

	qp->req.deadline = 0;
	if (rnic_psn_diff(qp->req.max, qp->req.una) > 0 && !is_unlimited)
		qp->req.deadline = (jiffies + ack_jiffies(qp)) ?: 1;
}

/* Continue with packet PSN, which is not acknowledged. */
static void seek(struct rnic_qp *qp, u32 psn)
{
	struct rnic_queue *q = &qp->sq;
	u32 at = q->done;

	while (at != q->started && rnic_psn_diff(psn, q->wqes[at % q->size].last_psn) > 0)
		at++;
	q->next = at;
	qp->req.psn = psn;
	qp->req.offset = 0;
	if (at != q->started)
		qp->req.offset = rnic_psn_diff(psn, q->wqes[at % q->size].first_psn) *
				 qp->path.mtu;
}

/* All packets before PSN have arrived. */
static void acknowledged(struct rnic_qp *qp, u32 psn)
{
	struct rnic_queue *q = &qp->sq;

	if (rnic_psn_diff(psn, qp->req.una) <= 0 || rnic_psn_diff(psn, qp->req.max) > 0)
		return;
	qp->req.una = psn;
	qp->req.retries = 0;
	qp->req.rnr_retries = 0;
	while (q->done != q->started &&
	       rnic_psn_diff(psn, q->wqes[q->done % q->size].last_psn) > 0)
		complete_send(qp, IB_WC_SUCCESS);
	if (rnic_psn_diff(psn, qp->req.psn) > 0 || q->next - q->done > q->size)
		seek(qp, psn);
	set_timer(qp);
}

static void retry(struct rnic_qp *qp)
{
	rnic_count(qp->dev, RNIC_STAT_RETRIES);
	if (qp->req.retries++ >= qp->req.retry_cnt) {
		rnic_count(qp->dev, RNIC_STAT_RETRY_EXC);
		fail_send(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	seek(qp, qp->req.una);
	set_timer(qp);
}

/* Microseconds that a receiver without receives asks for; IBA table 45. */
static u32 rnr_us(u8 code)
{
	static const u16 hundredths_ms[32] = {
		65535, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
		256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576,
		32768, 49152,
	};

	return hundredths_ms[code & 31] * 10;
}

static void refused_for_now(struct rnic_qp *qp, u8 code)
{
	rnic_count(qp->dev, RNIC_STAT_RCVD_RNR);
	if (qp->req.rnr_retry != 7 && qp->req.rnr_retries++ >= qp->req.rnr_retry) {
		rnic_count(qp->dev, RNIC_STAT_RNR_EXC);
		fail_send(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	seek(qp, qp->req.una);
	qp->req.deadline = 0;
	qp->req.resume = (jiffies + usecs_to_jiffies(rnr_us(code)) + 1) ?: 1;
}

static void on_ack(struct rnic_qp *qp, const struct rnic_packet *p)
{
	if (qp->state != IB_QPS_RTS)
		return;
	if (rnic_psn_diff(p->psn, qp->req.una) < 0 || rnic_psn_diff(p->psn, qp->req.max) >= 0)
		return;
	if ((p->syndrome & RNIC_KIND_MASK) == 0) {
		acknowledged(qp, rnic_psn_add(p->psn, 1));
		return;
	}
	acknowledged(qp, p->psn);
	if ((p->syndrome & RNIC_KIND_MASK) == RNIC_RNR) {
		refused_for_now(qp, p->syndrome & ~RNIC_KIND_MASK);
		return;
	}
	switch (p->syndrome) {
	case RNIC_NAK_SEQUENCE:
		rnic_count(qp->dev, RNIC_STAT_RCVD_SEQ);
		retry(qp);
		break;
	case RNIC_NAK_INVALID:
		fail_send(qp, IB_WC_REM_INV_REQ_ERR);
		break;
	case RNIC_NAK_ACCESS:
		fail_send(qp, IB_WC_REM_ACCESS_ERR);
		break;
	default:
		fail_send(qp, IB_WC_REM_OP_ERR);
	}
}

static u8 opcode_of(const struct rnic_wqe *wqe, bool is_first, bool is_last)
{
	static const u8 opcodes[][4] = {
		/* middle, first, last, only */
		[IB_WR_SEND] = { IB_OPCODE_SEND_MIDDLE, IB_OPCODE_SEND_FIRST,
				 IB_OPCODE_SEND_LAST, IB_OPCODE_SEND_ONLY },
		[IB_WR_RDMA_WRITE] = { IB_OPCODE_RDMA_WRITE_MIDDLE, IB_OPCODE_RDMA_WRITE_FIRST,
				       IB_OPCODE_RDMA_WRITE_LAST, IB_OPCODE_RDMA_WRITE_ONLY },
		[IB_WR_RDMA_WRITE_WITH_IMM] = {
			IB_OPCODE_RDMA_WRITE_MIDDLE, IB_OPCODE_RDMA_WRITE_FIRST,
			IB_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE,
			IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE },
	};

	return opcodes[wqe->op][is_first + 2 * is_last];
}

/* Read SIZE bytes of the payload from OFFSET on. */
static int gather(struct rnic_qp *qp, const struct rnic_wqe *wqe, u32 offset, u8 *buf, u32 size)
{
	u32 n;
	int i, rc;

	if (wqe->flags & IB_SEND_INLINE) {
		memcpy(buf, wqe->data + offset, size);
		return 0;
	}
	for (i = 0; i < wqe->nr_sge && size; i++) {
		const struct ib_sge *sge = &wqe->sge[i];

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		n = min(size, sge->length - offset);
		rc = rnic_mr_local(qp, sge->lkey, sge->addr + offset, buf, n, false);
		if (rc)
			return rc;
		offset = 0;
		buf += n;
		size -= n;
	}
	return 0;
}

static int send_packet(struct rnic_qp *qp, const struct rnic_wqe *wqe)
{
	u32 offset = qp->req.offset, size = min(wqe->length - offset, qp->path.mtu);
	bool is_last = offset + size == wqe->length;
	struct rnic_packet p = {
		.opcode = opcode_of(wqe, !offset, is_last),
		.psn = qp->req.psn,
		.wants_ack = is_last || qp->req.psn % ACK_EVERY == 0,
		.is_solicited = is_last && wqe->flags & IB_SEND_SOLICITED,
		.imm = wqe->imm,
		.raddr = wqe->raddr,
		.rkey = wqe->rkey,
		.length = wqe->length,
		.size = size,
	};
	struct sk_buff *skb = rnic_wire_alloc(qp, &p);
	int rc;

	if (!skb)
		return -ENOMEM;
	rc = gather(qp, wqe, offset, p.payload, size);
	if (rc) {
		kfree_skb(skb);
		return rc;
	}
	rnic_wire_send(qp, skb);
	qp->req.psn = rnic_psn_add(qp->req.psn, 1);
	qp->req.offset += size;
	if (rnic_psn_diff(qp->req.psn, qp->req.max) > 0)
		qp->req.max = qp->req.psn;
	if (is_last) {
		qp->req.offset = 0;
		qp->sq.next++;
	}
	return 0;
}

static void start(struct rnic_qp *qp, struct rnic_wqe *wqe)
{
	u32 nr = wqe->op == IB_WR_REG_MR ? 0 : max(DIV_ROUND_UP(wqe->length, qp->path.mtu), 1U);

	wqe->first_psn = qp->req.psn;
	wqe->last_psn = rnic_psn_add(qp->req.psn, nr - 1);
	qp->sq.started++;
	if (wqe->op == IB_WR_SEND)
		rnic_count(qp->dev, RNIC_STAT_SENDS);
	else if (nr)
		rnic_count(qp->dev, RNIC_STAT_WRITES);
}

/* Execute a part of the next request; false if there is nothing to do now. */
static bool advance(struct rnic_qp *qp)
{
	struct rnic_queue *q = &qp->sq;
	struct rnic_wqe *wqe;
	int rc;

	/* pairs with the release when posting */
	if (q->next == smp_load_acquire(&q->head))
		return false;
	wqe = &q->wqes[q->next % q->size];
	/* a registration waits for what precedes it, as does a request that has failed */
	if ((wqe->op == IB_WR_REG_MR || qp->req.failed) && q->next != q->done)
		return false;
	if (qp->req.failed) {
		fail_send(qp, qp->req.failed);
		return false;
	}
	if (q->next == q->started)
		start(qp, wqe);
	if (wqe->op == IB_WR_REG_MR) {
		rc = rnic_mr_register(qp, &wqe->reg);
		q->next++;
		if (rc)
			fail_send(qp, IB_WC_MW_BIND_ERR);
		else
			complete_send(qp, IB_WC_SUCCESS);
		return !rc;
	}
	if (rnic_psn_diff(qp->req.psn, qp->req.una) >= WINDOW)
		return false;
	rc = send_packet(qp, wqe);
	if (rc == -ENOMEM)
		return false;
	if (rc)
		qp->req.failed = IB_WC_LOC_PROT_ERR;
	else if (!qp->req.deadline)
		set_timer(qp);
	return true;
}

/* The receiving half */

static void answer(struct rnic_qp *qp, u8 syndrome, u32 psn)
{
	struct rnic_packet p = {
		.opcode = IB_OPCODE_ACKNOWLEDGE, .psn = psn, .syndrome = syndrome,
		.msn = qp->resp.msn,
	};
	struct sk_buff *skb = rnic_wire_alloc(qp, &p);

	qp->resp.owes_ack = false;
	if (skb)
		rnic_wire_send(qp, skb);
}

static void refuse(struct rnic_qp *qp, u8 syndrome)
{
	qp->resp.has_refused = true;
	answer(qp, syndrome, qp->resp.psn);
}

/* The peer has done what it must not: both ends fail. */
static void refuse_for_ever(struct rnic_qp *qp, u8 syndrome)
{
	refuse(qp, syndrome);
	fail(qp);
	qp_event(qp, syndrome == RNIC_NAK_ACCESS ? IB_EVENT_QP_ACCESS_ERR : IB_EVENT_QP_REQ_ERR);
}

struct step {
	enum rnic_message message;
	bool is_first;
	bool is_last;
	bool has_imm;
};

static bool step_of(u8 opcode, struct step *s)
{
	static const struct step steps[] = {
		[IB_OPCODE_SEND_FIRST] = { RNIC_SEND, true },
		[IB_OPCODE_SEND_MIDDLE] = { RNIC_SEND },
		[IB_OPCODE_SEND_LAST] = { RNIC_SEND, false, true },
		[IB_OPCODE_SEND_ONLY] = { RNIC_SEND, true, true },
		[IB_OPCODE_RDMA_WRITE_FIRST] = { RNIC_WRITE, true },
		[IB_OPCODE_RDMA_WRITE_MIDDLE] = { RNIC_WRITE },
		[IB_OPCODE_RDMA_WRITE_LAST] = { RNIC_WRITE, false, true },
		[IB_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE] = { RNIC_WRITE, false, true, true },
		[IB_OPCODE_RDMA_WRITE_ONLY] = { RNIC_WRITE, true, true },
		[IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = { RNIC_WRITE, true, true, true },
	};

	if (opcode >= ARRAY_SIZE(steps) || steps[opcode].message == RNIC_NO_MESSAGE)
		return false;
	*s = steps[opcode];
	return true;
}

/* Put the payload of a SEND into the current receive; false if it is too long. */
static bool scatter(struct rnic_qp *qp, const struct rnic_packet *p)
{
	struct rnic_wqe *wqe = &qp->rq.wqes[qp->rq.done % qp->rq.size];
	u32 offset = qp->resp.offset, size = p->size, n;
	u8 *buf = p->payload;
	int i;

	if (offset + size > wqe->length)
		return false;
	for (i = 0; i < wqe->nr_sge && size; i++) {
		struct ib_sge *sge = &wqe->sge[i];

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		n = min(size, sge->length - offset);
		if (rnic_mr_local(qp, sge->lkey, sge->addr + offset, buf, n, true))
			return false;
		offset = 0;
		buf += n;
		size -= n;
	}
	return true;
}

/* Place the payload of a packet that is in sequence; 0 or the syndrome of a refusal. */
static u8 place(struct rnic_qp *qp, const struct rnic_packet *p, const struct step *s)
{
	struct rnic_responder *r = &qp->resp;
	u64 raddr = s->is_first ? p->raddr : r->raddr;
	u32 left = s->is_first ? p->length : r->left;
	u32 rkey = s->is_first ? p->rkey : r->rkey;

	if (s->message == RNIC_SEND) {
		if (!scatter(qp, p)) {
			complete_recv(qp, IB_WC_LOC_LEN_ERR, NULL);
			return RNIC_NAK_INVALID;
		}
		r->offset += p->size;
		return 0;
	}
	if (p->size > left || (s->is_last && p->size != left))
		return RNIC_NAK_INVALID;
	if (s->is_first && left && !rnic_mr_allows(qp, rkey, raddr, left))
		return RNIC_NAK_ACCESS;
	if (rnic_mr_remote(qp, rkey, raddr, p->payload, p->size))
		return RNIC_NAK_ACCESS;
	r->rkey = rkey;
	r->raddr = raddr + p->size;
	r->left = left - p->size;
	r->offset += p->size;
	return 0;
}

static void accept(struct rnic_qp *qp, const struct rnic_packet *p)
{
	struct rnic_responder *r = &qp->resp;
	bool takes_recv;
	struct step s;
	u8 syndrome;

	if (!step_of(p->opcode, &s) || s.is_first == !!r->message ||
	    (!s.is_first && s.message != r->message) ||
	    (!s.is_last && p->size != qp->path.mtu) || p->size > qp->path.mtu) {
		refuse_for_ever(qp, RNIC_NAK_INVALID);
		return;
	}
	takes_recv = s.message == RNIC_SEND ? s.is_first : s.has_imm;
	/* pairs with the release when posting */
	if (takes_recv && qp->rq.done == smp_load_acquire(&qp->rq.head)) {
		rnic_count(qp->dev, RNIC_STAT_SENT_RNR);
		refuse(qp, RNIC_RNR | r->rnr_timer);
		return;
	}
	if (s.is_first)
		r->offset = 0;
	syndrome = place(qp, p, &s);
	if (syndrome) {
		refuse_for_ever(qp, syndrome);
		return;
	}
	r->message = s.message;
	r->psn = rnic_psn_add(r->psn, 1);
	r->has_refused = false;
	r->owes_ack |= p->wants_ack;
	if (!s.is_last)
		return;
	r->msn = rnic_psn_add(r->msn, 1);
	if (s.message == RNIC_SEND || s.has_imm)
		complete_recv(qp, IB_WC_SUCCESS, p);
	r->message = RNIC_NO_MESSAGE;
}

static void on_request(struct rnic_qp *qp, const struct rnic_packet *p)
{
	int diff = rnic_psn_diff(p->psn, qp->resp.psn);

	if (qp->state != IB_QPS_RTR && qp->state != IB_QPS_RTS)
		return;
	if (diff < 0) {
		rnic_count(qp->dev, RNIC_STAT_DUPLICATE);
		qp->resp.owes_ack = true;
	} else if (!diff) {
		accept(qp, p);
	} else if (!qp->resp.has_refused) {
		rnic_count(qp->dev, RNIC_STAT_OUT_OF_SEQ);
		refuse(qp, RNIC_NAK_SEQUENCE);
	}
}

static void receive(struct rnic_dev *dev, struct sk_buff *skb)
{
	struct rnic_packet p = {};
	struct rnic_qp *qp;

	if (!rnic_wire_parse(skb, &p))
		return;
	qp = xa_load(&dev->qps, p.qpn);
	if (!qp || p.type != qp->path.type || memcmp(&p.sgid, &qp->path.dgid, sizeof(p.sgid)) ||
	    memcmp(&p.dgid, &qp->path.sgid, sizeof(p.dgid)))
		return;
	rnic_count(dev, RNIC_STAT_RCVD_PKTS);
	if (p.opcode == IB_OPCODE_ACKNOWLEDGE)
		on_ack(qp, &p);
	else
		on_request(qp, &p);
}

/* The thread */

/* Let a QP do what it can; jiffies until it has more to do. */
static long run_qp(struct rnic_qp *qp)
{
	long wait = NEVER;
	int i;

	if (qp->state == IB_QPS_ERR)
		rnic_flush(qp);
	if (qp->resp.owes_ack && (qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS))
		answer(qp, RNIC_ACK, rnic_psn_add(qp->resp.psn, -1));
	if (qp->state != IB_QPS_RTS)
		return NEVER;
	if (qp->req.resume) {
		wait = qp->req.resume - jiffies;
		if (wait > 0)
			return wait;
		qp->req.resume = 0;
	}
	if (qp->req.deadline && time_after_eq(jiffies, qp->req.deadline))
		retry(qp);
	for (i = 0; qp->state == IB_QPS_RTS && advance(qp); i++)
		if (i == AT_ONCE)
			return 0;
	if (qp->state == IB_QPS_RTS && qp->req.deadline)
		return max_t(long, qp->req.deadline - jiffies, 1);
	return NEVER;
}

static long run_all(struct rnic_dev *dev)
{
	struct sk_buff_head skbs;
	struct sk_buff *skb;
	struct rnic_qp *qp;
	long wait = NEVER;
	unsigned long id;

	__skb_queue_head_init(&skbs);
	spin_lock_bh(&dev->rxq.lock);
	skb_queue_splice_init(&dev->rxq, &skbs);
	spin_unlock_bh(&dev->rxq.lock);
	mutex_lock(&dev->lock);
	while ((skb = __skb_dequeue(&skbs))) {
		if (!READ_ONCE(dev->faults.cut))
			receive(dev, skb);
		kfree_skb(skb);
	}
	xa_for_each(&dev->qps, id, qp)
		wait = min(wait, run_qp(qp));
	mutex_unlock(&dev->lock);
	return wait;
}

static int engine(void *arg)
{
	struct rnic_dev *dev = arg;
	long wait = NEVER;

	while (!kthread_should_stop()) {
		if (wait)
			wait_event_idle_timeout(dev->wait, atomic_read(&dev->kicked) ||
						kthread_should_stop(), wait);
		atomic_set(&dev->kicked, 0);
		/* what is posted or received before the next kick is seen */
		smp_mb();
		wait = run_all(dev);
		cond_resched();
	}
	return 0;
}

/**
 * rnic_engine_start() - start the thread of a device
 * @dev: device
 *
 * Context: Process context.
 * Return: 0, or a negative errno.
 */
int rnic_engine_start(struct rnic_dev *dev)
{
	struct task_struct *task;

	init_waitqueue_head(&dev->wait);
	mutex_init(&dev->lock);
	skb_queue_head_init(&dev->rxq);
	INIT_CSD(&dev->doorbell, wake_engine, dev);
	task = kthread_create(engine, dev, "rnic-%s", dev->netdev->name);
	if (IS_ERR(task))
		return PTR_ERR(task);
	if (rnic_engine_cpu >= 0)
		kthread_bind(task, rnic_engine_cpu);
	wake_up_process(task);
	dev->engine = task;
	return 0;
}

static void no_call(void *unused)
{
}

/**
 * rnic_engine_stop() - stop it, and drop what was received
 * @dev: device
 *
 * Context: Process context.
 */
void rnic_engine_stop(struct rnic_dev *dev)
{
	kthread_stop(dev->engine);
	/* calls of one CPU are made in order */
	if (rnic_engine_cpu >= 0)
		smp_call_function_single(rnic_engine_cpu, no_call, NULL, 1);
	skb_queue_purge(&dev->rxq);
}
