// SPDX-License-Identifier: GPL-2.0
/* Memory regions: page lists, their registration, and the translation of keys. */
#include <linux/random.h>
#include <linux/slab.h>

#include "rnic.h"

struct ib_mr *rnic_get_dma_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

struct ib_mr *rnic_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
			       struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

struct ib_mr *rnic_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max)
{
	struct rnic_dev *dev = to_rnic(pd->device);
	u32 most = READ_ONCE(dev->faults.alloc_pages), id;
	int rc = rnic_verb(dev, &dev->faults.alloc);
	struct rnic_mr *mr;

	if (rc)
		return ERR_PTR(rc);
	if (type != IB_MR_TYPE_MEM_REG || !max || max > dev->profile->max_pages)
		return ERR_PTR(-EINVAL);
	if (most && max > most)
		return ERR_PTR(-ENOMEM);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	/* contiguous, as drivers have it */
	mr->pages = kcalloc(max, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages || xa_alloc(&dev->mrs, &id, mr, XA_LIMIT(2, 0xffffff), GFP_KERNEL)) {
		kfree(mr->pages);
		kfree(mr);
		return ERR_PTR(-ENOMEM);
	}
	mr->dev = dev;
	mr->max_pages = max;
	mr->ib.lkey = id << 8 | get_random_u8();
	mr->ib.rkey = mr->ib.lkey;
	return &mr->ib;
}

static int set_page_of(struct ib_mr *ibmr, u64 addr)
{
	struct rnic_mr *mr = to_rnic_mr(ibmr);

	if (mr->nr_pages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->nr_pages++] = addr;
	return 0;
}

int rnic_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct rnic_mr *mr = to_rnic_mr(ibmr);

	if (mr->is_valid) {
		rnic_violation(mr->dev, "new pages for the registered MR %x", ibmr->rkey);
		return -EBUSY;
	}
	mr->nr_pages = 0;
	return ib_sg_to_pages(ibmr, sg, nents, offset, set_page_of);
}

static void pin_all(struct rnic_mr *mr, int by)
{
	u32 i, at;

	for (i = 0; i < mr->nr_pages; i++)
		for (at = 0; at < mr->page_size; at += PAGE_SIZE)
			if (!rnic_dma_pin(mr->dev, mr->pages[i] + at, by) && by > 0)
				rnic_violation(mr->dev, "MR %x has page %llx, not mapped",
					       mr->ib.rkey, mr->pages[i] + at);
}

int rnic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct rnic_mr *mr = to_rnic_mr(ibmr);
	struct rnic_dev *dev = mr->dev;
	int rc = rnic_verb(dev, &dev->faults.dereg);

	if (rc)
		return rc;
	mutex_lock(&dev->lock);
	xa_erase(&dev->mrs, ibmr->rkey >> 8);
	if (mr->is_valid)
		pin_all(mr, -1);
	mutex_unlock(&dev->lock);
	kfree(mr->pages);
	kfree(mr);
	return 0;
}

/**
 * rnic_mr_register() - execute REG_MR
 * @qp: QP that it was posted to
 * @reg: what was posted
 *
 * Context: The engine; expects the lock of the device held.
 * Return: 0, or -EINVAL.
 */
int rnic_mr_register(struct rnic_qp *qp, const struct rnic_reg *reg)
{
	struct rnic_mr *mr = reg->mr;

	lockdep_assert_held(&qp->dev->lock);
	if (mr->dev != qp->dev || mr->ib.pd != qp->ib.pd || reg->key >> 8 != mr->ib.rkey >> 8) {
		rnic_violation(qp->dev, "registration of the foreign MR %x", mr->ib.rkey);
		return -EINVAL;
	}
	if (mr->is_valid || reg->page_size < qp->dev->profile->min_page ||
	    reg->length > (u64)mr->nr_pages * reg->page_size) {
		rnic_violation(qp->dev, "registration of MR %x: %s, %u pages of %u, %llu bytes",
			       reg->key, mr->is_valid ? "twice" : "once", mr->nr_pages,
			       reg->page_size, reg->length);
		return -EINVAL;
	}
	if (reg->access & IB_ACCESS_REMOTE_WRITE && !(reg->access & IB_ACCESS_LOCAL_WRITE)) {
		rnic_violation(qp->dev, "MR %x: remote write without local write", reg->key);
		return -EINVAL;
	}
	mr->iova = reg->iova;
	mr->length = reg->length;
	mr->page_size = reg->page_size;
	mr->access = reg->access;
	mr->is_valid = true;
	pin_all(mr, 1);
	return 0;
}

static struct rnic_mr *find_mr(struct rnic_qp *qp, u32 key, u64 addr, u32 len, int access)
{
	struct rnic_mr *mr = xa_load(&qp->dev->mrs, key >> 8);

	lockdep_assert_held(&qp->dev->lock);
	if (!mr || !mr->is_valid || mr->ib.rkey != key || mr->ib.pd != qp->ib.pd ||
	    (mr->access & access) != access || addr < mr->iova ||
	    addr - mr->iova > mr->length || len > mr->length - (addr - mr->iova))
		return NULL;
	return mr;
}

static int mr_access(struct rnic_mr *mr, u64 addr, void *buf, u32 len, bool write)
{
	u64 at = addr - (mr->iova & ~(u64)(mr->page_size - 1));
	u32 n;
	int rc;

	for (; len; at += n, buf += n, len -= n) {
		u32 off = at & (mr->page_size - 1);

		n = min(len, mr->page_size - off);
		rc = rnic_dma_access(mr->dev, mr->pages[at / mr->page_size] + off, buf, n, write);
		if (rc)
			return rc;
	}
	return 0;
}

/**
 * rnic_mr_local() - access to memory of the own host
 * @qp: whose request or receive
 * @lkey: local key
 * @addr: address; a DMA address for the local DMA key
 * @buf: what is written, or where to
 * @len: bytes
 * @write: write to the memory
 *
 * Context: The engine; expects the lock of the device held.
 * Return: 0, or a negative errno after a violation.
 */
int rnic_mr_local(struct rnic_qp *qp, u32 lkey, u64 addr, void *buf, u32 len, bool write)
{
	struct rnic_mr *mr;

	if (lkey == RNIC_DMA_LKEY)
		return rnic_dma_access(qp->dev, addr, buf, len, write);
	mr = find_mr(qp, lkey, addr, len, write ? IB_ACCESS_LOCAL_WRITE : 0);
	if (!mr) {
		rnic_violation(qp->dev, "local key %x at %llx, %u bytes", lkey, addr, len);
		return -EACCES;
	}
	return mr_access(mr, addr, buf, len, write);
}

/**
 * rnic_mr_allows() - may the peer of @qp write there
 * @qp: QP
 * @rkey: key
 * @addr: address
 * @len: bytes
 *
 * Context: The engine; expects the lock of the device held.
 */
bool rnic_mr_allows(struct rnic_qp *qp, u32 rkey, u64 addr, u32 len)
{
	return qp->access & IB_ACCESS_REMOTE_WRITE &&
	       find_mr(qp, rkey, addr, len, IB_ACCESS_REMOTE_WRITE);
}

/* Place the pieces of a payload in random order. */
static int place_shuffled(struct rnic_mr *mr, u64 addr, u8 *buf, u32 len)
{
	u8 order[RNIC_MAX_MTU / RNIC_PIECE];
	u32 nr = DIV_ROUND_UP(len, RNIC_PIECE), i, k;
	int rc;

	for (i = 0; i < nr; i++) {
		k = get_random_u32_below(i + 1);
		order[i] = order[k];
		order[k] = i;
	}
	for (i = 0; i < nr; i++) {
		k = order[i] * RNIC_PIECE;
		rc = mr_access(mr, addr + k, buf + k, min_t(u32, RNIC_PIECE, len - k), true);
		if (rc)
			return rc;
	}
	return 0;
}

/**
 * rnic_mr_remote() - place the payload of a WRITE
 * @qp: QP that received it
 * @rkey: key
 * @addr: address
 * @buf: payload
 * @len: bytes, of one packet
 *
 * Context: The engine; expects the lock of the device held.
 * Return: 0; -EACCES if the key does not allow it; -EFAULT after a violation.
 */
int rnic_mr_remote(struct rnic_qp *qp, u32 rkey, u64 addr, void *buf, u32 len)
{
	struct rnic_mr *mr = find_mr(qp, rkey, addr, len, IB_ACCESS_REMOTE_WRITE);
	struct rnic_dev *dev = qp->dev;
	int rc;

	if (!len)
		return 0;
	if (!mr)
		return -EACCES;
	rc = READ_ONCE(dev->faults.shuffle) ? place_shuffled(mr, addr, buf, len) :
					     mr_access(mr, addr, buf, len, true);
	if (!rc && READ_ONCE(dev->faults.twice))
		rc = mr_access(mr, addr, buf, len, true);
	return rc;
}
