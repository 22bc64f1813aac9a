// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a link's queues: slots, receives, and the pages with their messages. How many there
 * are follows from the settings and from what the device allows.
 */
#include <linux/slab.h>

#include "smc_compat.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_wr.h"
#include "rdma/smc_wr_mem.h"

#define SMC_WR_TX_STRIDE	64	/* between messages in pages, after ... */
#define SMC_WR_TX_LONG		(SMC_WR_CTRL_SLOTS * SMC_WR_LONG_LEN) /* ... the long ones */
#define SMC_WR_MIN_DATA_SLOTS	4
#define SMC_WR_MIN_SLOTS	(SMC_WR_CTRL_SLOTS + SMC_WR_MIN_DATA_SLOTS)
#define SMC_WR_PER_SLOT		(SMC_WR_MAX_WRITES + 1)
#define SMC_WR_DRAIN		1	/* work request behind all others, smc_wr_flush() */
#define SMC_WR_WHOLE_RECVS	64	/* receives of SMC_WR_RECV_MAX: a peer waits for more */

/* What a driver allocates, by estimate: a queue pair, and for each work request */
#define SMC_WR_QP_BYTES		4096
#define SMC_WR_CQE_BYTES	64
#define SMC_WR_SQE_BYTES(nr_sge) ((192 + (nr_sge) * 16) * 3 / 2)	/* and its own notes */
#define SMC_WR_RQE_BYTES	40

static_assert(SMC_WR_TX_STRIDE >= SMC_WR_MSG_LEN);
/* no message lies in two pages */
static_assert(PAGE_SIZE % SMC_WR_TX_STRIDE == 0 && PAGE_SIZE % SMC_WR_LONG_LEN == 0);
static_assert(SMC_WR_TX_LONG % SMC_WR_TX_STRIDE == 0 && PAGE_SIZE % SMC_WR_RECV_LEN == 0);
static_assert(SMC_WR_RECV_MAX - SMC_WR_RECV_LEN <= PAGE_SIZE);
static_assert(SMC_WR_MIN_SLOTS * SMC_WR_PER_SLOT + SMC_WR_REGS + SMC_WR_DRAIN == SMC_CAP_MIN_DEPTH);

/* Where the message of a slot lies in the pages of messages. */
static unsigned int smc_wr_tx_offset(unsigned int slot)
{
	if (slot < SMC_WR_CTRL_SLOTS)
		return slot * SMC_WR_LONG_LEN;
	return SMC_WR_TX_LONG + (slot - SMC_WR_CTRL_SLOTS) * SMC_WR_TX_STRIDE;
}

static unsigned int smc_wr_nr_tx_pages(unsigned int nr_slots)
{
	return DIV_ROUND_UP(smc_wr_tx_offset(nr_slots), PAGE_SIZE);
}

static u32 smc_wr_send_depth(unsigned int nr_slots, unsigned int nr_credits)
{
	return nr_slots * SMC_WR_PER_SLOT + nr_credits + SMC_WR_REGS + SMC_WR_DRAIN;
}

static int smc_wr_send_room(const struct ib_device_attr *attrs)
{
	return min(attrs->max_qp_wr, attrs->max_cqe) - SMC_WR_DRAIN - SMC_WR_REGS;
}

/* Slots for data: each may need several work requests, and half a credit comes with it. */
static int smc_wr_nr_sends(const struct ib_device_attr *attrs, const struct smc_wr_depth *depth)
{
	int room = smc_wr_send_room(attrs) - SMC_WR_CTRL_SLOTS * SMC_WR_PER_SLOT;

	return max_t(int, min_t(int, depth->nr_sends, room * 2 / (2 * SMC_WR_PER_SLOT + 1)),
		     SMC_WR_MIN_DATA_SLOTS);
}

static unsigned int smc_wr_nr_slots(const struct ib_device_attr *attrs,
				    const struct smc_wr_depth *depth)
{
	return SMC_WR_CTRL_SLOTS + smc_wr_nr_sends(attrs, depth);
}

static unsigned int smc_wr_nr_credits(const struct ib_device_attr *attrs,
				      const struct smc_wr_depth *depth)
{
	int slots = smc_wr_nr_slots(attrs, depth) * SMC_WR_PER_SLOT;

	return min(smc_wr_send_room(attrs) - slots, smc_wr_nr_sends(attrs, depth) / 2);
}

/* Where a receive cannot have two sources, each has room for the longest message. */
static bool smc_wr_is_whole(const struct ib_device_attr *attrs)
{
	return attrs->max_recv_sge < SMC_WR_RECV_SGE;
}

static unsigned int smc_wr_nr_recvs(const struct ib_device_attr *attrs,
				    const struct smc_wr_depth *depth)
{
	unsigned int room = min(attrs->max_qp_wr, attrs->max_cqe) - SMC_WR_DRAIN;

	return min3(room, depth->nr_recvs,
		    smc_wr_is_whole(attrs) ? SMC_WR_WHOLE_RECVS : UINT_MAX);
}

static u32 smc_wr_recv_len(const struct ib_device_attr *attrs)
{
	return smc_wr_is_whole(attrs) ? SMC_WR_RECV_MAX : SMC_WR_RECV_LEN;
}

/* Bytes of the pages of receives. */
static unsigned int smc_wr_recv_page(u32 recv_len)
{
	return PAGE_SIZE << get_order(recv_len);
}

static unsigned int smc_wr_nr_recv_pages(u32 recv_len, unsigned int nr_recvs)
{
	return DIV_ROUND_UP(nr_recvs, smc_wr_recv_page(recv_len) / recv_len);
}

static void smc_wr_set_sizes(struct smc_wr *wr, const struct ib_device_attr *attrs,
			     const struct smc_wr_depth *depth)
{
	wr->nr_slots = smc_wr_nr_slots(attrs, depth);
	wr->nr_credits = smc_wr_nr_credits(attrs, depth);
	atomic_set(&wr->credits, wr->nr_credits);
	wr->nr_recvs = smc_wr_nr_recvs(attrs, depth);
	wr->nr_recv_sge = smc_wr_is_whole(attrs) ? 1 : SMC_WR_RECV_SGE;
	wr->recv_len = smc_wr_recv_len(attrs);
	wr->page_tx = SMC_WR_PAGE_RECV + smc_wr_nr_recv_pages(wr->recv_len, wr->nr_recvs);
	wr->nr_pages = wr->page_tx + smc_wr_nr_tx_pages(wr->nr_slots);
}

static unsigned int smc_wr_page_size(const struct smc_wr *wr, unsigned int page)
{
	return page < SMC_WR_PAGE_RECV || page >= wr->page_tx ? PAGE_SIZE :
							       smc_wr_recv_page(wr->recv_len);
}

static int smc_wr_alloc(struct smc_wr *wr)
{
	unsigned int i;

	wr->slots = kvcalloc(wr->nr_slots, sizeof(*wr->slots), SMC_MEM_GFP);
	wr->recvs = kvcalloc(wr->nr_recvs, sizeof(*wr->recvs), SMC_MEM_GFP);
	wr->page = kcalloc(wr->nr_pages, sizeof(*wr->page), SMC_MEM_GFP);
	if (!wr->slots || !wr->recvs || !wr->page)
		return -ENOMEM;
	for (i = 0; i < wr->nr_pages; i++) {
		wr->page[i].cpu = (u8 *)__get_free_pages(SMC_MEM_GFP | __GFP_ZERO,
							 get_order(smc_wr_page_size(wr, i)));
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
		free_pages((unsigned long)wr->page[i].cpu, get_order(smc_wr_page_size(wr, i)));
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
		ib_dma_unmap_single(wr->end.dev->ibdev, wr->page[i].dma, smc_wr_page_size(wr, i),
				    smc_wr_page_dir(wr, i));
}

static int smc_wr_map(struct smc_wr *wr)
{
	struct ib_device *ibdev = wr->end.dev->ibdev;
	unsigned int i;

	for (i = 0; i < wr->nr_pages; i++) {
		wr->page[i].dma = ib_dma_map_single(ibdev, wr->page[i].cpu, smc_wr_page_size(wr, i),
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
	unsigned int per_page = smc_wr_recv_page(wr->recv_len) / wr->recv_len;
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
		const struct smc_wr_page *page = &wr->page[SMC_WR_PAGE_RECV + i / per_page];
		unsigned int off = i % per_page * wr->recv_len;

		recv->wr = wr;
		recv->msg = page->cpu + off;
		recv->rwr.wr_cqe = &recv->cqe;
		recv->rwr.sg_list = recv->sge;
		recv->rwr.num_sge = wr->nr_recv_sge;
		recv->sge[0].addr = page->dma + off;
		recv->sge[0].length = wr->recv_len;
		recv->sge[1].addr = wr->page[SMC_WR_PAGE_MORE].dma;
		recv->sge[1].length = SMC_WR_RECV_MAX - SMC_WR_RECV_LEN;
	}
}

/**
 * smc_wr_mem_cost() - estimate the memory of a link's queues
 * @attrs: of the device
 * @depth: what the link should have
 *
 * What smc_wr_mem_get() takes is exact, the part of the driver an estimate: it rounds a queue up to
 * a power of two, and the bytes of a work request are those of mlx5.
 *
 * Context: Any context.
 * Return: bytes.
 */
u32 smc_wr_mem_cost(const struct ib_device_attr *attrs, const struct smc_wr_depth *depth)
{
	u32 recv_len = smc_wr_recv_len(attrs), nr_sge = min(attrs->max_send_sge, SMC_CAP_MAX_SGE);
	unsigned int nr_slots = smc_wr_nr_slots(attrs, depth);
	unsigned int nr_recvs = smc_wr_nr_recvs(attrs, depth);

	return SMC_WR_QP_BYTES + nr_slots * sizeof(struct smc_wr_slot) +
	       nr_recvs * sizeof(struct smc_wr_recv) + PAGE_SIZE * smc_wr_nr_tx_pages(nr_slots) +
	       PAGE_SIZE + smc_wr_nr_recv_pages(recv_len, nr_recvs) * smc_wr_recv_page(recv_len) +
	       roundup_pow_of_two(smc_wr_send_depth(nr_slots, smc_wr_nr_credits(attrs, depth))) *
			(SMC_WR_SQE_BYTES(nr_sge) + SMC_WR_CQE_BYTES) +
	       roundup_pow_of_two(nr_recvs + SMC_WR_DRAIN) *
			(SMC_WR_RQE_BYTES + SMC_WR_CQE_BYTES);
}

/**
 * smc_wr_mem_get() - allocate and map what the queues of a link need
 * @wr: zeroed but for its lists, with its local end
 * @depth: what it should have; a small device has less
 *
 * All slots are free. The receives have neither keys nor handlers. With one source, as erdma has
 * it, they are few and large.
 *
 * Context: Process context, may sleep.
 * Return: 0, then smc_wr_mem_put() is due; or -ENOMEM.
 */
int smc_wr_mem_get(struct smc_wr *wr, const struct smc_wr_depth *depth)
{
	int rc;

	smc_wr_set_sizes(wr, &wr->end.dev->ibdev->attrs, depth);
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
 * Each slot may be posted with all of its WRITEs, each credit with one.
 *
 * Context: Any context.
 * Return: their number.
 */
u32 smc_wr_mem_send_depth(const struct smc_wr *wr)
{
	return smc_wr_send_depth(wr->nr_slots, wr->nr_credits);
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
