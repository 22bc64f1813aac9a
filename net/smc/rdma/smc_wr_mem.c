// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a link's queues: slots, receives, and the pages with their messages. How many there
 * are follows from the settings and from what the device allows.
 */
#include <linux/slab.h>

#include "smc_compat.h"
#include "rdma/smc_wr.h"
#include "rdma/smc_wr_mem.h"

#define SMC_WR_TX_STRIDE	64	/* between messages in pages, after ... */
#define SMC_WR_TX_LONG		(SMC_WR_CTRL_SLOTS * SMC_WR_LONG_LEN) /* ... the long ones */
#define SMC_WR_MIN_DATA_SLOTS	4
#define SMC_WR_PER_SLOT		(SMC_WR_MAX_WRITES + 1)
#define SMC_WR_DRAIN		1	/* work request behind all others, smc_wr_flush() */

static_assert(SMC_WR_TX_STRIDE >= SMC_WR_MSG_LEN);
/* no message lies in two pages */
static_assert(PAGE_SIZE % SMC_WR_TX_STRIDE == 0 && PAGE_SIZE % SMC_WR_LONG_LEN == 0);
static_assert(SMC_WR_TX_LONG % SMC_WR_TX_STRIDE == 0 && PAGE_SIZE % SMC_WR_RECV_LEN == 0);
static_assert(SMC_WR_RECV_MAX - SMC_WR_RECV_LEN <= PAGE_SIZE);

/* Where the message of a slot lies in the pages of messages. */
static unsigned int smc_wr_tx_offset(unsigned int slot)
{
	if (slot < SMC_WR_CTRL_SLOTS)
		return slot * SMC_WR_LONG_LEN;
	return SMC_WR_TX_LONG + (slot - SMC_WR_CTRL_SLOTS) * SMC_WR_TX_STRIDE;
}

/* Queue sizes that the device supports. */
static int smc_wr_size(struct smc_wr *wr, const struct ib_device_attr *attrs,
		       const struct smc_wr_depth *depth)
{
	int room = min(attrs->max_qp_wr, attrs->max_cqe) - SMC_WR_DRAIN;
	int slots = (room - SMC_WR_REGS) / SMC_WR_PER_SLOT;
	int sends = max_t(int, depth->nr_sends, SMC_WR_MIN_DATA_SLOTS);

	if (attrs->max_send_sge < SMC_WR_MIN_SGE ||
	    attrs->max_recv_sge < SMC_WR_RECV_SGE ||
	    !attrs->max_fast_reg_page_list_len ||
	    slots < SMC_WR_CTRL_SLOTS + SMC_WR_MIN_DATA_SLOTS)
		return -EOPNOTSUPP;
	wr->nr_slots = min(slots, SMC_WR_CTRL_SLOTS + sends);
	wr->nr_recvs = min_t(unsigned int, room, depth->nr_recvs);
	wr->page_tx = SMC_WR_PAGE_RECV +
		      DIV_ROUND_UP(wr->nr_recvs * SMC_WR_RECV_LEN, PAGE_SIZE);
	wr->nr_pages = wr->page_tx + DIV_ROUND_UP(smc_wr_tx_offset(wr->nr_slots), PAGE_SIZE);
	wr->max_sge = min(attrs->max_send_sge, SMC_WR_MAX_SGE);
	wr->max_pages = attrs->max_fast_reg_page_list_len;
	return 0;
}

static int smc_wr_alloc(struct smc_wr *wr)
{
	unsigned int i;

	wr->slots = kvcalloc(wr->nr_slots, sizeof(*wr->slots), GFP_KERNEL);
	wr->recvs = kvcalloc(wr->nr_recvs, sizeof(*wr->recvs), GFP_KERNEL);
	wr->page = kcalloc(wr->nr_pages, sizeof(*wr->page), GFP_KERNEL);
	if (!wr->slots || !wr->recvs || !wr->page)
		return -ENOMEM;
	for (i = 0; i < wr->nr_pages; i++) {
		wr->page[i].cpu = (u8 *)get_zeroed_page(GFP_KERNEL);
		if (!wr->page[i].cpu)
			return -ENOMEM;
	}
	return 0;
}

/* Also after smc_wr_alloc() has failed half way. */
static void smc_wr_free(struct smc_wr *wr)
{
	unsigned int i;

	for (i = 0; wr->page && i < wr->nr_pages; i++)
		free_page((unsigned long)wr->page[i].cpu);
	kfree(wr->page);
	kvfree(wr->recvs);
	kvfree(wr->slots);
}

static enum dma_data_direction smc_wr_page_dir(const struct smc_wr *wr, unsigned int page)
{
	return page >= wr->page_tx ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

static void smc_wr_unmap(struct smc_wr *wr, unsigned int nr_pages)
{
	unsigned int i;

	for (i = 0; i < nr_pages; i++)
		ib_dma_unmap_single(wr->end.dev->ibdev, wr->page[i].dma, PAGE_SIZE,
				    smc_wr_page_dir(wr, i));
}

static int smc_wr_map(struct smc_wr *wr)
{
	struct ib_device *ibdev = wr->end.dev->ibdev;
	unsigned int i;

	for (i = 0; i < wr->nr_pages; i++) {
		wr->page[i].dma = ib_dma_map_single(ibdev, wr->page[i].cpu, PAGE_SIZE,
						    smc_wr_page_dir(wr, i));
		if (ib_dma_mapping_error(ibdev, wr->page[i].dma)) {
			smc_wr_unmap(wr, i);
			return -ENOMEM;
		}
	}
	return 0;
}

static void smc_wr_lay_out(struct smc_wr *wr)
{
	unsigned int i;

	for (i = 0; i < wr->nr_slots; i++) {
		struct smc_wr_slot *slot = &wr->slots[i];
		unsigned int off = smc_wr_tx_offset(i);
		const struct smc_wr_page *page = &wr->page[wr->page_tx + off / PAGE_SIZE];

		slot->room = i < SMC_WR_CTRL_SLOTS ? SMC_WR_LONG_LEN : SMC_WR_MSG_LEN;
		slot->wr = wr;
		slot->class = i < SMC_WR_CTRL_SLOTS ? SMC_WR_CTRL : SMC_WR_DATA;
		slot->msg = page->cpu + off % PAGE_SIZE;
		slot->msg_dma = page->dma + off % PAGE_SIZE;
		list_add_tail(&slot->node, &wr->free[slot->class]);
		wr->nr_free[slot->class]++;
	}
	for (i = 0; i < wr->nr_recvs; i++) {
		struct smc_wr_recv *recv = &wr->recvs[i];
		unsigned int off = i * SMC_WR_RECV_LEN;
		const struct smc_wr_page *page = &wr->page[SMC_WR_PAGE_RECV + off / PAGE_SIZE];

		recv->wr = wr;
		recv->msg = page->cpu + off % PAGE_SIZE;
		recv->rwr.wr_cqe = &recv->cqe;
		recv->rwr.sg_list = recv->sge;
		recv->rwr.num_sge = SMC_WR_RECV_SGE;
		recv->sge[0].addr = page->dma + off % PAGE_SIZE;
		recv->sge[0].length = SMC_WR_RECV_LEN;
		recv->sge[1].addr = wr->page[SMC_WR_PAGE_MORE].dma;
		recv->sge[1].length = SMC_WR_RECV_MAX - SMC_WR_RECV_LEN;
	}
}

/**
 * smc_wr_mem_get() - allocate and map what the queues of a link need
 * @wr: zeroed but for its lists, with its local end
 * @depth: what it should have
 *
 * All slots are free. The receives have neither keys nor handlers.
 *
 * Context: Process context, may sleep.
 * Return: 0, then smc_wr_mem_put() is due; -ENOMEM; -EOPNOTSUPP if the device is too small.
 */
int smc_wr_mem_get(struct smc_wr *wr, const struct smc_wr_depth *depth)
{
	int rc = smc_wr_size(wr, &wr->end.dev->ibdev->attrs, depth);

	if (rc)
		return rc;
	rc = smc_wr_alloc(wr) ?: smc_wr_map(wr);
	if (rc) {
		smc_wr_free(wr);
		return rc;
	}
	smc_wr_lay_out(wr);
	return 0;
}

/**
 * smc_wr_mem_put() - undo smc_wr_mem_get()
 * @wr: no queue uses it any more
 *
 * Context: Process context, may sleep.
 */
void smc_wr_mem_put(struct smc_wr *wr)
{
	smc_wr_unmap(wr, wr->nr_pages);
	smc_wr_free(wr);
}

/**
 * smc_wr_mem_send_depth() - work requests that the send queue must hold
 * @wr: from smc_wr_mem_get()
 *
 * Each slot may be posted with all of its WRITEs.
 *
 * Context: Any context.
 * Return: their number.
 */
u32 smc_wr_mem_send_depth(const struct smc_wr *wr)
{
	return wr->nr_slots * SMC_WR_PER_SLOT + SMC_WR_REGS + SMC_WR_DRAIN;
}

/**
 * smc_wr_mem_recv_depth() - work requests that the receive queue must hold
 * @wr: from smc_wr_mem_get()
 *
 * Context: Any context.
 * Return: their number.
 */
u32 smc_wr_mem_recv_depth(const struct smc_wr *wr)
{
	return wr->nr_recvs + SMC_WR_DRAIN;
}
