// SPDX-License-Identifier: GPL-2.0
/*
 * Registration of memory regions by work requests of a link.
 */
#include <linux/slab.h>

#include "smc_compat.h"
#include "rdma/smc_wr.h"

#define SMC_WR_REG_TIMEOUT	(5 * HZ)

/* Its completion, its poster after a failed post, and smc_wr_stop() may race here. */
static void smc_wr_reg_finish(struct smc_wr_reg *reg, enum ib_wc_status status)
{
	scoped_guard(spinlock_bh, &reg->wr->lock) {
		if (list_empty(&reg->node))
			return;
		list_del_init(&reg->node);
	}
	smc_wr_reg_complete(reg, status);
}

static void smc_wr_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_wr_reg *reg;

	reg = container_of(wc->wr_cqe, struct smc_wr_reg, cqe);
	if (wc->status != IB_WC_SUCCESS)
		smc_wr_report(reg->wr, SMC_WR_FAULT_SEND);
	smc_wr_reg_finish(reg, wc->status);
}

static struct smc_wr_reg *smc_wr_reg_new(struct smc_wr *wr)
{
	struct smc_wr_reg *reg;

	reg = kzalloc(sizeof(*reg), GFP_KERNEL);
	if (!reg)
		return NULL;
	reg->cqe.done = smc_wr_reg_done;
	reg->wr = wr;
	refcount_set(&reg->refs, 2);
	init_completion(&reg->done);
	guard(spinlock_bh)(&wr->lock);
	list_add_tail(&reg->node, &wr->regs);
	return reg;
}

static int smc_wr_post_reg(struct smc_wr *wr, struct smc_wr_reg *reg,
			   struct ib_mr *mr, int access)
{
	struct ib_reg_wr rwr = {
		.wr = {
			.wr_cqe = &reg->cqe,
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	int rc;

	/* Pairs with synchronize_rcu() in smc_wr_stop(). */
	guard(rcu)();
	if (!test_bit(SMC_WR_IS_OPEN, &wr->flags))
		return -EPIPE;
	rc = ib_post_send(wr->qp, &rwr.wr, NULL);
	if (!rc)
		smc_wr_await(wr);
	return rc;
}

/**
 * smc_wr_register() - register a memory region on a link
 * @wr: the queues, active
 * @mr: mapped with ib_map_mr_sg(), of this link's protection domain. After -ETIMEDOUT the
 *	device may still use it: deregister it only after smc_wr_stop().
 * @access: IB_ACCESS_* flags
 *
 * Posts REG_MR and waits up to five seconds for its completion. At most SMC_WR_REGS are in
 * flight; further callers wait up to five seconds for their turn. An error moves the queue
 * pair to the error state and is reported as any other, unless nothing was posted: no memory,
 * or no turn in time (also -ETIMEDOUT). RMB-04.
 *
 * Context: Process context, sleeps; expects no lock held. The caller prevents the
 *	    destruction of @wr.
 * Return: 0; -EPIPE if the queues are not active; -ENOMEM; -ETIMEDOUT; -EIO if the device
 *	   refused or the link failed meanwhile; or what ib_post_send() returns.
 */
int smc_wr_register(struct smc_wr *wr, struct ib_mr *mr, int access)
{
	struct smc_wr_reg *reg;
	int rc;

	might_sleep();
	if (down_timeout(&wr->reg_room, SMC_WR_REG_TIMEOUT))
		return -ETIMEDOUT;
	reg = smc_wr_reg_new(wr);
	if (!reg) {
		up(&wr->reg_room);
		return -ENOMEM;
	}

	rc = smc_wr_post_reg(wr, reg, mr, access);
	if (rc) {
		smc_wr_reg_finish(reg, IB_WC_GENERAL_ERR);
		if (rc != -EPIPE)
			smc_wr_report(wr, SMC_WR_FAULT_POST);
	} else if (!wait_for_completion_timeout(&reg->done,
						SMC_WR_REG_TIMEOUT)) {
		smc_wr_report(wr, SMC_WR_FAULT_SEND);
		rc = -ETIMEDOUT;
	} else if (reg->status != IB_WC_SUCCESS) {
		rc = -EIO;
	}
	smc_wr_reg_put(reg);
	return rc;
}
