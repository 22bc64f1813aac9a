// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: their limits and states, and the posting of requests.
 *
 * A slot of a queue is free again when the completion that covers it has been polled, as in
 * drivers, not when its request was executed.
 */
#include <linux/etherdevice.h>
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_cache.h>

#include "rnic.h"

/* QP numbers are unique in this kernel, so a packet finds its device. */
static atomic_t next_qpn = ATOMIC_INIT(0);

static int inline_capacity(const struct rnic_profile *p, u32 asked)
{
	if (asked > p->max_inline)
		return -EINVAL;
	switch (p->inlines) {
	case RNIC_INLINE_NONE:
		return 0;
	case RNIC_INLINE_AS_ASKED:
		return asked;
	case RNIC_INLINE_ROUNDED:
		return asked ? round_up(asked + 56, 64) - 8 : 0;
	case RNIC_INLINE_POWER_OF_2:
		return asked ? roundup_pow_of_two(asked) : 0;
	case RNIC_INLINE_LIMIT:
		return p->max_inline;
	}
	return -EINVAL;
}

static void free_queue(struct rnic_queue *q)
{
	kvfree(q->wqes);
	kvfree(q->sges);
	vfree(q->data);
}

static int alloc_queue(struct rnic_queue *q, u32 size, u32 nr_sge, u32 nr_inline)
{
	u32 i;

	q->size = size;
	q->wqes = kvcalloc(size, sizeof(*q->wqes), GFP_KERNEL);
	q->sges = kvcalloc(size * nr_sge + 1, sizeof(*q->sges), GFP_KERNEL);
	q->data = vmalloc((size_t)size * nr_inline + 1);
	if (!q->wqes || !q->sges || !q->data) {
		free_queue(q);
		return -ENOMEM;
	}
	for (i = 0; i < size; i++) {
		q->wqes[i].sge = q->sges + i * nr_sge;
		q->wqes[i].data = q->data + i * nr_inline;
	}
	return 0;
}

static int alloc_queues(struct rnic_qp *qp)
{
	int rc = alloc_queue(&qp->sq, qp->cap.max_send_wr, qp->cap.max_send_sge,
			     qp->cap.max_inline_data);

	if (rc)
		return rc;
	rc = alloc_queue(&qp->rq, qp->cap.max_recv_wr, qp->cap.max_recv_sge, 0);
	if (rc)
		free_queue(&qp->sq);
	return rc;
}

static int give_number(struct rnic_qp *qp)
{
	u32 qpn;
	int rc;

	atomic_cmpxchg(&next_qpn, 0, get_random_u32());
	do {
		qpn = atomic_inc_return(&next_qpn) & RNIC_PSN_MASK;
	} while (qpn < 2);
	rc = xa_insert(&qp->dev->qps, qpn, qp, GFP_KERNEL);
	qp->ib.qp_num = qpn;
	return rc;
}

int rnic_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct rnic_dev *dev = to_rnic(ibqp->device);
	const struct rnic_profile *p = dev->profile;
	struct rnic_qp *qp = to_rnic_qp(ibqp);
	struct ib_qp_cap *cap = &attr->cap;
	int inlines = inline_capacity(p, cap->max_inline_data);
	int rc = rnic_verb(dev, &dev->faults.create);

	if (rc)
		return rc;
	if (udata || attr->qp_type != IB_QPT_RC || attr->srq || attr->create_flags)
		return -EOPNOTSUPP;
	if (cap->max_send_sge > p->max_send_sge || cap->max_recv_sge > p->max_recv_sge ||
	    cap->max_send_wr > p->max_wr || cap->max_recv_wr > p->max_wr ||
	    !cap->max_send_wr || !cap->max_recv_wr || inlines < 0)
		return -EINVAL;
	cap->max_inline_data = inlines;
	qp->dev = dev;
	qp->cap = *cap;
	qp->signals_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	spin_lock_init(&qp->lock);
	rc = alloc_queues(qp);
	if (rc)
		return rc;
	rc = give_number(qp);
	if (rc) {
		free_queue(&qp->sq);
		free_queue(&qp->rq);
	}
	return rc;
}

int rnic_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct rnic_qp *qp = to_rnic_qp(ibqp);
	struct rnic_dev *dev = qp->dev;
	int rc = rnic_verb(dev, &dev->faults.destroy);

	if (rc)
		return rc;
	mutex_lock(&dev->lock);
	xa_erase(&dev->qps, ibqp->qp_num);
	mutex_unlock(&dev->lock);
	rnic_cq_forget(to_rnic_cq(ibqp->send_cq), qp);
	rnic_cq_forget(to_rnic_cq(ibqp->recv_cq), qp);
	free_queue(&qp->sq);
	free_queue(&qp->rq);
	return 0;
}

static void restart_queue(struct rnic_queue *q)
{
	q->head = 0;
	q->free = 0;
	q->done = 0;
	q->next = 0;
	q->started = 0;
}

/**
 * rnic_qp_set_state() - change the state of a QP
 * @qp: QP
 * @state: next one
 *
 * Context: Expects the lock of the device held.
 */
void rnic_qp_set_state(struct rnic_qp *qp, enum ib_qp_state state)
{
	unsigned long flags;

	lockdep_assert_held(&qp->dev->lock);
	spin_lock_irqsave(&qp->lock, flags);
	qp->state = state;
	if (state == IB_QPS_RESET) {
		restart_queue(&qp->sq);
		restart_queue(&qp->rq);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
}

static bool is_gid_of(struct rnic_dev *dev, const union ib_gid *gid, enum ib_gid_type type)
{
	const struct ib_gid_attr *attr = rdma_find_gid(&dev->ib, gid, type, NULL);

	if (IS_ERR(attr))
		return false;
	rdma_put_gid_attr(attr);
	return true;
}

static int set_path(struct rnic_qp *qp, const struct rdma_ah_attr *ah)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(ah);
	struct rnic_path path = qp->path;
	int rc;

	if (is_zero_ether_addr(ah->roce.dmac)) {
		rnic_violation(qp->dev, "QP %u: no MAC address of the peer", qp->ib.qp_num);
		return -EINVAL;
	}
	if (!grh->hop_limit) {
		rnic_violation(qp->dev, "QP %u: hop limit 0", qp->ib.qp_num);
		return -EINVAL;
	}
	rc = rdma_read_gid_l2_fields(grh->sgid_attr, &path.vlan, path.smac);
	if (rc)
		return rc;
	path.sgid = grh->sgid_attr->gid;
	path.type = grh->sgid_attr->gid_type;
	path.dgid = grh->dgid;
	path.hop_limit = grh->hop_limit;
	path.traffic_class = grh->traffic_class;
	path.flow_label = grh->flow_label;
	ether_addr_copy(path.dmac, ah->roce.dmac);
	path.is_own = is_gid_of(qp->dev, &path.dgid, path.type);
	qp->path = path;
	return 0;
}

static void set_send_psn(struct rnic_requester *req, u32 psn)
{
	req->psn = psn;
	req->una = psn;
	req->max = psn;
}

static void set_attributes(struct rnic_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	if (mask & IB_QP_DEST_QPN)
		qp->path.dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_PATH_MTU)
		qp->path.mtu = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_RQ_PSN)
		qp->resp.psn = attr->rq_psn & RNIC_PSN_MASK;
	if (mask & IB_QP_MIN_RNR_TIMER)
		qp->resp.rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_SQ_PSN)
		set_send_psn(&qp->req, attr->sq_psn & RNIC_PSN_MASK);
	if (mask & IB_QP_TIMEOUT)
		qp->req.timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		qp->req.retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		qp->req.rnr_retry = attr->rnr_retry;
}

static int change(struct rnic_qp *qp, struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state cur = qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;
	int rc;

	if (!ib_modify_qp_is_ok(cur, next, IB_QPT_RC, mask)) {
		rnic_violation(qp->dev, "QP %u: from state %d to %d with attributes %x",
			       qp->ib.qp_num, cur, next, mask);
		return -EINVAL;
	}
	if ((mask & IB_QP_PKEY_INDEX && attr->pkey_index) ||
	    (mask & IB_QP_PORT && attr->port_num != 1) ||
	    (mask & (IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MAX_DEST_RD_ATOMIC) &&
	     (attr->max_rd_atomic > 16 || attr->max_dest_rd_atomic > 16)) ||
	    (mask & IB_QP_DEST_QPN && attr->dest_qp_num & ~RNIC_PSN_MASK))
		return -EINVAL;
	if (mask & IB_QP_AV) {
		rc = set_path(qp, &attr->ah_attr);
		if (rc)
			return rc;
	}
	set_attributes(qp, attr, mask);
	if (next == IB_QPS_RESET && cur != next) {
		memset(&qp->req, 0, sizeof(qp->req));
		memset(&qp->resp, 0, sizeof(qp->resp));
		rnic_cq_forget(to_rnic_cq(qp->ib.send_cq), qp);
		rnic_cq_forget(to_rnic_cq(qp->ib.recv_cq), qp);
	}
	rnic_qp_set_state(qp, next);
	return 0;
}

int rnic_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct rnic_qp *qp = to_rnic_qp(ibqp);
	struct rnic_dev *dev = qp->dev;
	int rc = rnic_verb(dev, &dev->faults.modify);

	if (rc)
		return rc;
	switch (READ_ONCE(dev->fatal) - 1) {
	case RNIC_FATAL_MODIFY_TIMEDOUT:
		return -ETIMEDOUT;
	case RNIC_FATAL_MODIFY_EINVAL:
		return -EINVAL;
	}
	mutex_lock(&dev->lock);
	rc = change(qp, attr, mask);
	mutex_unlock(&dev->lock);
	rnic_kick(dev);
	return rc;
}

int rnic_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init)
{
	struct rnic_qp *qp = to_rnic_qp(ibqp);
	struct rnic_dev *dev = qp->dev;

	mutex_lock(&dev->lock);
	*attr = (struct ib_qp_attr){
		.qp_state = qp->state,
		.cur_qp_state = qp->state,
		.cap = qp->cap,
		.path_mtu = qp->path.mtu ? ib_mtu_int_to_enum(qp->path.mtu) : IB_MTU_256,
		.dest_qp_num = qp->path.dest_qpn,
		.rq_psn = qp->resp.psn,
		.sq_psn = qp->req.psn,
		.qp_access_flags = qp->access,
		.port_num = 1,
		.timeout = qp->req.timeout,
		.retry_cnt = qp->req.retry_cnt,
		.rnr_retry = qp->req.rnr_retry,
		.min_rnr_timer = qp->resp.rnr_timer,
	};
	mutex_unlock(&dev->lock);
	init->cap = qp->cap;
	init->qp_type = IB_QPT_RC;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->sq_sig_type = qp->signals_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	return 0;
}

/* Copy a list of SGEs; its length, or a negative errno after a violation. */
static int copy_sges(struct rnic_qp *qp, struct rnic_wqe *wqe, const struct ib_sge *list, int nr,
		     u32 most)
{
	u64 length = 0;
	int i;

	if (nr > most) {
		rnic_violation(qp->dev, "QP %u: %d SGEs of %u", qp->ib.qp_num, nr, most);
		return -EINVAL;
	}
	for (i = 0; i < nr; i++) {
		/* some adapters take an empty one for 2 GB */
		if (!list[i].length) {
			rnic_violation(qp->dev, "QP %u: an empty SGE", qp->ib.qp_num);
			return -EINVAL;
		}
		wqe->sge[i] = list[i];
		length += list[i].length;
	}
	if (length > 1 << 30)
		return -EINVAL;
	wqe->nr_sge = nr;
	wqe->length = length;
	return 0;
}

static int copy_inline(struct rnic_qp *qp, struct rnic_wqe *wqe)
{
	u32 at = 0;
	int i;

	if (wqe->length > qp->cap.max_inline_data) {
		rnic_violation(qp->dev, "QP %u: %u inline bytes of %u", qp->ib.qp_num, wqe->length,
			       qp->cap.max_inline_data);
		return -EINVAL;
	}
	for (i = 0; i < wqe->nr_sge; i++) {
		memcpy(wqe->data + at, (void *)(uintptr_t)wqe->sge[i].addr, wqe->sge[i].length);
		at += wqe->sge[i].length;
	}
	rnic_count(qp->dev, RNIC_STAT_INLINE);
	return 0;
}

static int copy_op(struct rnic_qp *qp, struct rnic_wqe *wqe, const struct ib_send_wr *wr)
{
	const struct ib_reg_wr *reg;

	switch (wr->opcode) {
	case IB_WR_SEND:
		return 0;
	case IB_WR_RDMA_WRITE:
		if (wr->send_flags & IB_SEND_SOLICITED) {
			rnic_violation(qp->dev, "QP %u: a solicited WRITE", qp->ib.qp_num);
			return -EINVAL;
		}
		fallthrough;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->rkey = rdma_wr(wr)->rkey;
		wqe->raddr = rdma_wr(wr)->remote_addr;
		wqe->imm = wr->ex.imm_data;
		return 0;
	case IB_WR_REG_MR:
		reg = reg_wr(wr);
		wqe->reg = (struct rnic_reg){
			.mr = to_rnic_mr(reg->mr),
			.key = reg->key,
			.access = reg->access,
			.iova = reg->mr->iova,
			.length = reg->mr->length,
			.page_size = reg->mr->page_size,
		};
		return wr->send_flags & IB_SEND_INLINE ? -EINVAL : 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int post_one(struct rnic_qp *qp, const struct ib_send_wr *wr)
{
	struct rnic_faults *faults = &qp->dev->faults;
	struct rnic_queue *q = &qp->sq;
	struct rnic_wqe *wqe = &q->wqes[q->head % q->size];
	int rc;

	lockdep_assert_held(&qp->lock);
	if (rnic_fails(qp->dev, wr->opcode == IB_WR_REG_MR ? &faults->reg : &faults->post))
		return -EIO;
	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_ERR && qp->state != IB_QPS_SQE) {
		rnic_violation(qp->dev, "QP %u: send in state %d", qp->ib.qp_num, qp->state);
		return -EINVAL;
	}
	if (q->head - READ_ONCE(q->free) >= q->size) {
		rnic_violation(qp->dev, "QP %u: more sends than %u", qp->ib.qp_num, q->size);
		return -ENOMEM;
	}
	wqe->wr_id = wr->wr_id;
	wqe->op = wr->opcode;
	wqe->flags = wr->send_flags | (qp->signals_all ? IB_SEND_SIGNALED : 0);
	rc = copy_sges(qp, wqe, wr->sg_list, wr->num_sge, qp->cap.max_send_sge);
	if (!rc && wqe->flags & IB_SEND_INLINE)
		rc = copy_inline(qp, wqe);
	if (!rc)
		rc = copy_op(qp, wqe, wr);
	if (!rc)
		/* pairs with the engine's */
		smp_store_release(&q->head, q->head + 1);
	return rc;
}

int rnic_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct rnic_qp *qp = to_rnic_qp(ibqp);
	unsigned long flags;
	int rc = 0;

	spin_lock_irqsave(&qp->lock, flags);
	if (READ_ONCE(qp->dev->fatal) == RNIC_FATAL_POST_EIO + 1)
		rc = -EIO;
	for (; wr && !rc; wr = rc ? wr : wr->next)
		rc = post_one(qp, wr);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (rc)
		*bad = wr;
	rnic_kick(qp->dev);
	return rc;
}

static int post_one_recv(struct rnic_qp *qp, const struct ib_recv_wr *wr)
{
	struct rnic_queue *q = &qp->rq;
	struct rnic_wqe *wqe = &q->wqes[q->head % q->size];
	int rc;

	lockdep_assert_held(&qp->lock);
	if (rnic_fails(qp->dev, &qp->dev->faults.recv))
		return -EIO;
	if (qp->state == IB_QPS_RESET) {
		rnic_violation(qp->dev, "QP %u: receive in state RESET", qp->ib.qp_num);
		return -EINVAL;
	}
	if (q->head - READ_ONCE(q->free) >= q->size) {
		rnic_violation(qp->dev, "QP %u: more receives than %u", qp->ib.qp_num, q->size);
		return -ENOMEM;
	}
	wqe->wr_id = wr->wr_id;
	rc = copy_sges(qp, wqe, wr->sg_list, wr->num_sge, qp->cap.max_recv_sge);
	if (!rc)
		/* pairs with the engine's */
		smp_store_release(&q->head, q->head + 1);
	return rc;
}

int rnic_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct rnic_qp *qp = to_rnic_qp(ibqp);
	unsigned long flags;
	bool is_flushed;
	int rc = 0;

	spin_lock_irqsave(&qp->lock, flags);
	if (READ_ONCE(qp->dev->fatal) == RNIC_FATAL_POST_EIO + 1)
		rc = -EIO;
	for (; wr && !rc; wr = rc ? wr : wr->next)
		rc = post_one_recv(qp, wr);
	is_flushed = qp->state == IB_QPS_ERR;
	spin_unlock_irqrestore(&qp->lock, flags);
	if (rc)
		*bad = wr;
	if (is_flushed)
		rnic_kick(qp->dev);
	return rc;
}
