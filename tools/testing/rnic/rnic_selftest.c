// SPDX-License-Identifier: GPL-2.0
/*
 * Self-test of two devices whose ports are joined: data arrive, each violation is noticed, and
 * those calls of a verb fail that are to fail.
 *
 * A sends to B. Each case runs on connected QPs; one that ends them is followed by a reset.
 */
#include <linux/delay.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "rnic.h"

enum {
	ORDER = 2,
	SIZE = PAGE_SIZE << ORDER,
	NR_SENDS = 8,
	NR_RECVS = 4,
	SEND_CQES = 4,
	RECV_CQES = 16,
	WAIT_MS = 10000,
};

struct end {
	struct rnic_dev *dev;
	const struct ib_gid_attr *gid;
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_qp *qp;
	struct ib_qp_cap cap;
	struct ib_mr *mr;
	struct page *pages;
	u8 *mem;
	struct scatterlist sg;
	bool is_mapped;
};

struct pair {
	struct end a;
	struct end b;
};

static struct device *dma_device_of(const struct end *e)
{
	return e->dev->ib.dma_device;
}

static void ignore_cq(struct ib_cq *cq, void *context)
{
}

/* Poll one completion; its status, or a negative errno. */
static int wait_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	int ms;

	for (ms = 0; ms < WAIT_MS; ms++) {
		if (ib_poll_cq(cq, 1, wc) == 1)
			return wc->status;
		usleep_range(1000, 1500);
	}
	return -ETIMEDOUT;
}

static int post(struct end *e, struct ib_send_wr *wr)
{
	return ib_post_send(e->qp, wr, NULL);
}

static int post_and_wait(struct end *e, struct ib_send_wr *wr)
{
	struct ib_wc wc;
	int rc;

	wr->send_flags |= IB_SEND_SIGNALED;
	rc = post(e, wr);
	return rc ?: wait_wc(e->send_cq, &wc);
}

static struct ib_sge sge_of(const struct end *e, u32 offset, u32 length)
{
	return (struct ib_sge){
		.addr = sg_dma_address(&e->sg) + offset,
		.length = length,
		.lkey = e->pd->local_dma_lkey,
	};
}

/* A WRITE of LENGTH bytes from the memory of A to the same place of B. */
static int write_to(struct pair *t, enum ib_wr_opcode op, u32 offset, u32 length, u32 rkey)
{
	struct ib_sge sge = sge_of(&t->a, offset, length);
	struct ib_rdma_wr wr = {
		.wr = { .opcode = op, .sg_list = &sge, .num_sge = 1,
			.ex.imm_data = cpu_to_be32(0x01020304) },
		.remote_addr = t->b.mr->iova + offset,
		.rkey = rkey,
	};

	return post_and_wait(&t->a, &wr.wr);
}

static int send_from(struct pair *t, dma_addr_t addr, u32 length)
{
	struct ib_sge sge = { addr, length, t->a.pd->local_dma_lkey };
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 };

	return post_and_wait(&t->a, &wr);
}

static void fill(struct pair *t, u8 seed)
{
	u32 i;

	for (i = 0; i < SIZE; i++)
		t->a.mem[i] = seed + i * 7 + (i >> 8);
	memset(t->b.mem, 0, SIZE);
	ib_dma_sync_single_for_device(&t->a.dev->ib, sg_dma_address(&t->a.sg), SIZE,
				      DMA_BIDIRECTIONAL);
	ib_dma_sync_single_for_device(&t->b.dev->ib, sg_dma_address(&t->b.sg), SIZE,
				      DMA_BIDIRECTIONAL);
}

/* B has LENGTH bytes of A at OFFSET, and nothing around them. */
static int compare(struct pair *t, u32 offset, u32 length)
{
	ib_dma_sync_single_for_cpu(&t->b.dev->ib, sg_dma_address(&t->b.sg), SIZE,
				   DMA_BIDIRECTIONAL);
	if (memcmp(t->a.mem + offset, t->b.mem + offset, length) ||
	    memchr_inv(t->b.mem, 0, offset) ||
	    memchr_inv(t->b.mem + offset + length, 0, SIZE - offset - length))
		return -EBADMSG;
	return 0;
}

/* Cases: 0, a negative errno, or the status of a completion */

static int case_write(struct pair *t)
{
	int rc;

	fill(t, 1);
	rc = write_to(t, IB_WR_RDMA_WRITE, 101, 9001, t->b.mr->rkey);
	return rc ?: compare(t, 101, 9001);
}

static int case_write_imm(struct pair *t)
{
	struct ib_wc wc;
	int rc;

	fill(t, 2);
	rc = write_to(t, IB_WR_RDMA_WRITE_WITH_IMM, 4096, 1, t->b.mr->rkey) ?:
	     wait_wc(t->b.recv_cq, &wc);
	if (rc)
		return rc;
	if (wc.opcode != IB_WC_RECV_RDMA_WITH_IMM || !(wc.wc_flags & IB_WC_WITH_IMM) ||
	    wc.ex.imm_data != cpu_to_be32(0x01020304))
		return -EBADMSG;
	return compare(t, 4096, 1);
}

static int case_send(struct pair *t)
{
	struct ib_wc wc;
	int rc;

	fill(t, 3);
	/* the receives have all of the memory */
	rc = send_from(t, sg_dma_address(&t->a.sg), 5000) ?: wait_wc(t->b.recv_cq, &wc);
	if (rc)
		return rc;
	return wc.opcode != IB_WC_RECV || wc.byte_len != 5000 ? -EBADMSG : compare(t, 0, 5000);
}

static int case_unsynced(struct pair *t)
{
	u8 old = 0;
	int rc;

	fill(t, 4);
	old = t->a.mem[64];
	t->a.mem[64]++;
	rc = write_to(t, IB_WR_RDMA_WRITE, 64, 1, t->b.mr->rkey);
	if (rc)
		return rc;
	if (t->b.mem[64])
		return -EBADMSG;
	ib_dma_sync_single_for_cpu(&t->b.dev->ib, sg_dma_address(&t->b.sg), SIZE,
				   DMA_BIDIRECTIONAL);
	return t->b.mem[64] == old ? 0 : -EBADMSG;
}

static int want(int got, int wanted)
{
	return got == wanted ? 0 : got < 0 ? got : -EPROTO;
}

static int case_bad_key(struct pair *t)
{
	return want(write_to(t, IB_WR_RDMA_WRITE, 0, 64, t->b.mr->rkey ^ 1),
		    IB_WC_REM_ACCESS_ERR);
}

static int case_beyond(struct pair *t)
{
	struct ib_sge sge = sge_of(&t->a, 0, 64);
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = t->b.mr->iova + SIZE - 63,
		.rkey = t->b.mr->rkey,
	};

	return want(post_and_wait(&t->a, &wr.wr), IB_WC_REM_ACCESS_ERR);
}

static int case_sync_foreign(struct pair *t)
{
	dma_sync_single_for_cpu(dma_device_of(&t->a), sg_dma_address(&t->a.sg) + SIZE, 64,
				DMA_BIDIRECTIONAL);
	return 0;
}

/* Map memory of A in DIR, send from it to the wire, and unmap it. */
static int send_mapped(struct pair *t, enum dma_data_direction dir, u32 length)
{
	u64 addr = ib_dma_map_single(&t->a.dev->ib, t->a.mem, 64, dir);
	int rc;

	if (ib_dma_mapping_error(&t->a.dev->ib, addr))
		return -ENOMEM;
	rc = want(send_from(t, addr, length), IB_WC_LOC_PROT_ERR);
	ib_dma_unmap_single(&t->a.dev->ib, addr, 64, dir);
	return rc;
}

static int case_read_direction(struct pair *t)
{
	return send_mapped(t, DMA_FROM_DEVICE, 64);
}

static int case_read_outside(struct pair *t)
{
	return send_mapped(t, DMA_TO_DEVICE, 65);
}

static int case_sync_direction(struct pair *t)
{
	u64 addr = ib_dma_map_single(&t->a.dev->ib, t->a.mem, 64, DMA_TO_DEVICE);

	if (ib_dma_mapping_error(&t->a.dev->ib, addr))
		return -ENOMEM;
	ib_dma_sync_single_for_cpu(&t->a.dev->ib, addr, 64, DMA_FROM_DEVICE);
	ib_dma_unmap_single(&t->a.dev->ib, addr, 64, DMA_TO_DEVICE);
	return 0;
}

static int case_read_unmapped(struct pair *t)
{
	u64 addr = ib_dma_map_single(&t->a.dev->ib, t->a.mem, 64, DMA_TO_DEVICE);

	if (ib_dma_mapping_error(&t->a.dev->ib, addr))
		return -ENOMEM;
	ib_dma_unmap_single(&t->a.dev->ib, addr, 64, DMA_TO_DEVICE);
	return want(send_from(t, addr, 64), IB_WC_LOC_PROT_ERR);
}

static int case_unmap_twice(struct pair *t)
{
	u64 addr = ib_dma_map_single(&t->a.dev->ib, t->a.mem, 64, DMA_TO_DEVICE);

	if (ib_dma_mapping_error(&t->a.dev->ib, addr))
		return -ENOMEM;
	ib_dma_unmap_single(&t->a.dev->ib, addr, 64, DMA_TO_DEVICE);
	ib_dma_unmap_single(&t->a.dev->ib, addr, 64, DMA_TO_DEVICE);
	return 0;
}

static int refused(struct end *e, enum ib_wr_opcode op, int flags, struct ib_sge *sges, int nr)
{
	struct ib_rdma_wr wr = {
		.wr = { .opcode = op, .send_flags = flags, .sg_list = sges, .num_sge = nr },
	};

	return want(post(e, &wr.wr), -EINVAL) == 0 ? 0 : -EPROTO;
}

static int case_too_many_sges(struct pair *t)
{
	struct ib_sge sges[] = { sge_of(&t->a, 0, 8), sge_of(&t->a, 8, 8) };

	return refused(&t->a, IB_WR_SEND, 0, sges, 2);
}

static int case_empty_sge(struct pair *t)
{
	struct ib_sge sge = sge_of(&t->a, 0, 0);

	return refused(&t->a, IB_WR_SEND, 0, &sge, 1);
}

static int case_solicited_write(struct pair *t)
{
	struct ib_sge sge = sge_of(&t->a, 0, 8);

	return refused(&t->a, IB_WR_RDMA_WRITE, IB_SEND_SOLICITED, &sge, 1);
}

static int case_inline_too_long(struct pair *t)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)t->a.mem, .length = t->a.cap.max_inline_data + 1,
	};

	return refused(&t->a, IB_WR_SEND, IB_SEND_INLINE, &sge, 1);
}

static int case_wrong_mask(struct pair *t)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .path_mtu = IB_MTU_1024 };

	return want(ib_modify_qp(t->a.qp, &attr, IB_QP_STATE | IB_QP_PATH_MTU), -EINVAL) ?
	       -EPROTO : 0;
}

/* Post NR short WRITEs; the result of the last. */
static int write_many(struct pair *t, int nr, int flags)
{
	struct ib_sge sge = sge_of(&t->a, 0, 8);
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .send_flags = flags, .sg_list = &sge,
			.num_sge = 1 },
		.remote_addr = t->b.mr->iova,
		.rkey = t->b.mr->rkey,
	};
	int rc = 0;

	while (nr-- && !rc)
		rc = post(&t->a, &wr.wr);
	return rc;
}

static int case_queue_overflow(struct pair *t)
{
	return want(write_many(t, NR_SENDS + 1, 0), -ENOMEM) ? -EPROTO : 0;
}

static int case_cq_overrun(struct pair *t)
{
	int rc = write_many(t, SEND_CQES + 1, IB_SEND_SIGNALED), ms;

	for (ms = 0; ms < WAIT_MS && !rc && !rnic_nr_violations(true); ms++)
		usleep_range(1000, 1500);
	return rc;
}

static int case_unmap_registered(struct pair *t)
{
	ib_dma_unmap_sg(&t->b.dev->ib, &t->b.sg, 1, DMA_BIDIRECTIONAL);
	t->b.is_mapped = false;
	return 0;
}

/* Each makes one call of its verb, and undoes it; a second call of one that failed succeeds. */

static int call_alloc_pd(struct end *e)
{
	struct ib_pd *pd = ib_alloc_pd(&e->dev->ib, 0);

	if (!IS_ERR(pd))
		ib_dealloc_pd(pd);
	return PTR_ERR_OR_ZERO(pd);
}

static int call_create_cq(struct end *e)
{
	struct ib_cq_init_attr attr = { .cqe = 1 };
	struct ib_cq *cq = ib_create_cq(&e->dev->ib, ignore_cq, NULL, NULL, &attr);

	if (!IS_ERR(cq))
		ib_destroy_cq(cq);
	return PTR_ERR_OR_ZERO(cq);
}

static struct ib_qp *create_qp(struct end *e)
{
	struct ib_qp_init_attr attr = {
		.send_cq = e->send_cq, .recv_cq = e->recv_cq,
		.cap = { .max_send_wr = NR_SENDS, .max_recv_wr = NR_RECVS, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
	};
	struct ib_qp *qp = ib_create_qp(e->pd, &attr);

	e->cap = attr.cap;
	return qp;
}

static int call_create_qp(struct end *e)
{
	struct ib_qp *qp = create_qp(e);

	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	return PTR_ERR_OR_ZERO(qp);
}

static int call_destroy_qp(struct end *e)
{
	struct ib_qp *qp = create_qp(e);
	int rc = IS_ERR(qp) ? -EPROTO : ib_destroy_qp(qp);

	if (rc == -EIO)
		ib_destroy_qp(qp);
	return rc;
}

static int qp_init(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int call_modify_qp(struct end *e)
{
	struct ib_qp *qp = create_qp(e);
	int rc = IS_ERR(qp) ? -EPROTO : qp_init(qp);

	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	return rc;
}

static int call_post_recv(struct end *e)
{
	struct ib_qp *qp = create_qp(e);
	struct ib_sge sge = sge_of(e, 0, SIZE);
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
	int rc;

	if (IS_ERR(qp))
		return -EPROTO;
	rc = qp_init(qp) ? -EPROTO : ib_post_recv(qp, &wr, NULL);
	ib_destroy_qp(qp);
	return rc;
}

static int call_post_send(struct end *e)
{
	struct ib_sge sge = sge_of(e, 0, 8);
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 };

	return post_and_wait(e, &wr);
}

static int call_alloc_mr(struct end *e)
{
	struct ib_mr *mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, 1);

	if (!IS_ERR(mr))
		ib_dereg_mr(mr);
	return PTR_ERR_OR_ZERO(mr);
}

static int call_dereg_mr(struct end *e)
{
	struct ib_mr *mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, 1);
	int rc = IS_ERR(mr) ? -EPROTO : ib_dereg_mr(mr);

	if (rc == -EIO)
		ib_dereg_mr(mr);
	return rc;
}

static int register_mr(struct end *e, struct ib_mr *mr)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};

	return post_and_wait(e, &wr.wr);
}

static int call_reg_mr(struct end *e)
{
	struct ib_mr *mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, 1 << ORDER);
	int rc = -EPROTO;

	if (IS_ERR(mr))
		return rc;
	if (ib_map_mr_sg(mr, &e->sg, 1, NULL, PAGE_SIZE) == 1)
		rc = register_mr(e, mr);
	ib_dereg_mr(mr);
	return rc;
}

#define CALL(verb, of) { #verb, offsetof(struct rnic_faults, of), call_##verb }
static const struct {
	const char *name;
	size_t offset;
	int (*call)(struct end *e);
} verbs[] = {
	CALL(alloc_pd, create), CALL(create_cq, create), CALL(create_qp, create),
	CALL(modify_qp, modify), CALL(destroy_qp, destroy), CALL(alloc_mr, alloc),
	CALL(dereg_mr, dereg), CALL(post_send, post), CALL(reg_mr, reg), CALL(post_recv, recv),
};

/* Of four calls the third fails. */
static int third_fails(struct end *e, int i, struct rnic_faults *faults)
{
	static const int wanted[] = { 0, 0, -EIO, 0 };
	struct rnic_calls *calls = (void *)faults + verbs[i].offset;
	int k, rc = 0;

	*calls = (struct rnic_calls){ .fail = 1, .skip = 2 };
	for (k = 0; k < ARRAY_SIZE(wanted) && !rc; k++)
		rc = want(verbs[i].call(e), wanted[k]) ? -EPROTO : 0;
	if (!rc && atomic_read(&calls->failed) != 1)
		rc = -EPROTO;
	*calls = (struct rnic_calls){};
	if (rc)
		pr_err("rnic: %s, call %d\n", verbs[i].name, k);
	return rc;
}

static int case_calls_fail(struct pair *t)
{
	int i, rc = 0;

	for (i = 0; i < ARRAY_SIZE(verbs) && !rc; i++)
		rc = third_fails(&t->a, i, &t->a.dev->faults);
	return rc ?: third_fails(&t->a, 0, &rnic_all);
}

/* A device may take the first request of a chain; then it refuses one more. */
static int case_half_a_chain(struct pair *t)
{
	struct ib_sge sge = sge_of(&t->a, 0, 8);
	struct ib_send_wr second = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 };
	struct ib_send_wr first = second;
	const struct ib_send_wr *bad = NULL;
	struct ib_wc wc;
	int rc;

	first.next = &second;
	first.send_flags = IB_SEND_SIGNALED;
	t->a.dev->faults.post = (struct rnic_calls){ .fail = 2, .skip = 1 };
	rc = want(ib_post_send(t->a.qp, &first, &bad), -EIO) || bad != &second ? -EPROTO : 0;
	rc = wait_wc(t->a.send_cq, &wc) ?: rc;
	return rc ?: want(call_post_send(&t->a), -EIO) ?: call_post_send(&t->a);
}

/* What notices a violation, or the lack of a sync. */
enum checks {
	ALWAYS,
	BOUNCE,
	BOUNCE_OR_IOMMU,
};

static const struct {
	const char *name;
	int (*run)(struct pair *t);
	int violations;
	enum checks by;
} cases[] = {
	{ "a WRITE arrives", case_write },
	{ "a WRITE with immediate data arrives", case_write_imm },
	{ "a SEND arrives", case_send },
	{ "what is not synced is not seen", case_unsynced, 0, BOUNCE },
	{ "a wrong key is refused", case_bad_key },
	{ "a WRITE beyond the MR is refused", case_beyond },
	{ "those calls fail that are to fail", case_calls_fail },
	{ "half of a chain is posted", case_half_a_chain },
	{ "sync of another range", case_sync_foreign, 1, BOUNCE },
	{ "sync in another direction", case_sync_direction, 1, BOUNCE },
	{ "read of memory mapped for writing", case_read_direction, 1, BOUNCE },
	{ "read outside of a mapping", case_read_outside, 1, BOUNCE },
	{ "read after unmap", case_read_unmapped, 1, BOUNCE_OR_IOMMU },
	{ "unmap twice", case_unmap_twice, 1, BOUNCE },
	{ "too many SGEs", case_too_many_sges, 1 },
	{ "an empty SGE", case_empty_sge, 1 },
	{ "a solicited WRITE", case_solicited_write, 1 },
	{ "too much inline data", case_inline_too_long, 1 },
	{ "forbidden attributes", case_wrong_mask, 1 },
	{ "more sends than the queue has", case_queue_overflow, 1 },
	{ "overrun of a CQ", case_cq_overrun, 1 },
	{ "unmap of a registered region", case_unmap_registered, 1 << ORDER, BOUNCE },
};

/* Set-up */

static int make_memory(struct end *e)
{
	e->pages = alloc_pages(GFP_KERNEL | __GFP_ZERO, ORDER);
	if (!e->pages)
		return -ENOMEM;
	e->mem = page_address(e->pages);
	sg_init_table(&e->sg, 1);
	sg_set_page(&e->sg, e->pages, SIZE, 0);
	e->is_mapped = ib_dma_map_sg(&e->dev->ib, &e->sg, 1, DMA_BIDIRECTIONAL) == 1;
	return e->is_mapped ? 0 : -EIO;
}

static int make_verbs(struct end *e)
{
	struct ib_cq_init_attr send = { .cqe = SEND_CQES }, recv = { .cqe = RECV_CQES };

	e->pd = ib_alloc_pd(&e->dev->ib, 0);
	e->send_cq = ib_create_cq(&e->dev->ib, ignore_cq, NULL, NULL, &send);
	e->recv_cq = ib_create_cq(&e->dev->ib, ignore_cq, NULL, NULL, &recv);
	if (IS_ERR(e->pd) || IS_ERR(e->send_cq) || IS_ERR(e->recv_cq))
		return -ENOMEM;
	e->qp = create_qp(e);
	e->mr = ib_alloc_mr(e->pd, IB_MR_TYPE_MEM_REG, 1 << ORDER);
	if (IS_ERR(e->qp) || IS_ERR(e->mr))
		return -ENOMEM;
	return ib_map_mr_sg(e->mr, &e->sg, 1, NULL, PAGE_SIZE) == 1 ? 0 : -EIO;
}

/* The port has a GID of its link-local address. */
static int find_gid(struct end *e, enum ib_gid_type type)
{
	union ib_gid gid;
	u8 mac[6];

	memcpy(mac, e->dev->netdev->dev_addr, sizeof(mac));
	gid.global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	gid.raw[8] = mac[0] ^ 2;
	gid.raw[9] = mac[1];
	gid.raw[10] = mac[2];
	gid.raw[11] = 0xff;
	gid.raw[12] = 0xfe;
	memcpy(gid.raw + 13, mac + 3, 3);
	e->gid = rdma_find_gid_by_port(&e->dev->ib, &gid, type, 1, e->dev->netdev);
	return PTR_ERR_OR_ZERO(e->gid);
}

static int post_receives(struct end *e)
{
	struct ib_sge sge = sge_of(e, 0, SIZE);
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
	int i, rc = 0;

	for (i = 0; i < NR_RECVS && !rc; i++)
		rc = ib_post_recv(e->qp, &wr, NULL);
	return rc;
}

static int connect(struct end *e, const struct end *peer)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RESET, .port_num = 1,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
		.path_mtu = IB_MTU_1024, .dest_qp_num = peer->qp->qp_num, .rq_psn = 0xfffffe,
		.sq_psn = 0xfffffe, .max_dest_rd_atomic = 1, .max_rd_atomic = 1,
		.min_rnr_timer = 5, .timeout = 17, .retry_cnt = 6, .rnr_retry = 7,
	};
	int rc = ib_modify_qp(e->qp, &attr, IB_QP_STATE);

	attr.qp_state = IB_QPS_INIT;
	rc = rc ?: ib_modify_qp(e->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				IB_QP_ACCESS_FLAGS);
	rc = rc ?: post_receives(e);
	attr.qp_state = IB_QPS_RTR;
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_grh(&attr.ah_attr, NULL, 0, e->gid->index, 1, 0);
	rdma_ah_set_dgid_raw(&attr.ah_attr, (void *)peer->gid->gid.raw);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	memcpy(attr.ah_attr.roce.dmac, peer->dev->netdev->dev_addr, ETH_ALEN);
	rc = rc ?: ib_modify_qp(e->qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
				IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
				IB_QP_MIN_RNR_TIMER);
	attr.qp_state = IB_QPS_RTS;
	return rc ?: ib_modify_qp(e->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
				  IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

static int open_end(struct end *e, struct rnic_dev *dev, enum ib_gid_type type)
{
	e->dev = dev;
	return find_gid(e, type) ?: make_memory(e) ?: make_verbs(e);
}

static void close_end(struct end *e)
{
	if (!IS_ERR_OR_NULL(e->qp))
		ib_destroy_qp(e->qp);
	if (!IS_ERR_OR_NULL(e->mr))
		ib_dereg_mr(e->mr);
	if (!IS_ERR_OR_NULL(e->send_cq))
		ib_destroy_cq(e->send_cq);
	if (!IS_ERR_OR_NULL(e->recv_cq))
		ib_destroy_cq(e->recv_cq);
	if (!IS_ERR_OR_NULL(e->pd))
		ib_dealloc_pd(e->pd);
	if (e->is_mapped)
		ib_dma_unmap_sg(&e->dev->ib, &e->sg, 1, DMA_BIDIRECTIONAL);
	if (e->pages)
		__free_pages(e->pages, ORDER);
	if (!IS_ERR_OR_NULL(e->gid))
		rdma_put_gid_attr(e->gid);
}

static int connect_both(struct pair *t)
{
	return connect(&t->a, &t->b) ?: connect(&t->b, &t->a);
}

static int run_case(struct pair *t, int i)
{
	int rc, n;

	rc = connect_both(t);
	if (rc)
		return rc;
	rnic_expect(true);
	rc = cases[i].run(t);
	n = rnic_nr_violations(true);
	rnic_expect(false);
	if (!rc && n == cases[i].violations)
		return 0;
	pr_err("rnic: self-test failed: %s: result %d, %d violations noticed\n", cases[i].name, rc,
	       n);
	return rc < 0 ? rc : -EPROTO;
}

static bool is_noticed(const struct rnic_dev *dev, enum checks by)
{
	return by == ALWAYS || dev->is_bounce || (by == BOUNCE_OR_IOMMU && dev->domain);
}

/* Run the first NR cases with QPs of a type of GIDs. */
static int run_cases(struct rnic_dev *a, struct rnic_dev *b, enum ib_gid_type type, int nr)
{
	struct pair *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int rc, i, one;

	if (!t)
		return -ENOMEM;
	rc = open_end(&t->a, a, type) ?: open_end(&t->b, b, type) ?: connect_both(t) ?:
	     register_mr(&t->a, t->a.mr) ?: register_mr(&t->b, t->b.mr);
	if (rc) {
		pr_err("rnic: self-test cannot begin: %d\n", rc);
		goto out;
	}
	for (i = 0; i < nr; i++) {
		if (!is_noticed(a, cases[i].by) || !is_noticed(b, cases[i].by))
			continue;
		one = run_case(t, i);
		rc = rc ?: one;
	}
	pr_info("rnic: self-test of %d cases, GIDs of type %d: %d\n", nr, type, rc);
out:
	close_end(&t->a);
	close_end(&t->b);
	kfree(t);
	return rc < 0 || !rc ? rc : -EIO;
}

/**
 * rnic_selftest() - test two devices
 * @a: one
 * @b: the other, whose port is joined to that of @a
 *
 * Context: Process context.
 * Return: 0 if all cases passed, or the error of one that did not, which the log names.
 */
int rnic_selftest(struct rnic_dev *a, struct rnic_dev *b)
{
	int rc = run_cases(a, b, IB_GID_TYPE_ROCE_UDP_ENCAP, ARRAY_SIZE(cases));

	if (rc || !(a->profile->habits & b->profile->habits & RNIC_HAS_V1))
		return rc;
	/* those in which data arrive */
	return run_cases(a, b, IB_GID_TYPE_ROCE, 3);
}
