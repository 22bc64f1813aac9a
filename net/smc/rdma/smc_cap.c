// SPDX-License-Identifier: GPL-2.0
/*
 * What an RDMA device can do.
 *
 * A device that cannot carry links is recognised when it is added, so that no connection has to
 * find out.
 *
 * Registered memory: a region is small enough for the page list of nearly every driver, which some
 * allocate in one piece. Where the kernel copies through bounce buffers, a region is no larger
 * than one of them, because it occupies them as long as it lasts.
 *
 * Queue pairs: a device says how many sources a work request has, and not how much inline data a
 * queue pair takes: that depends on its driver, the sources and the depth. So the first queue pair
 * tries less and less, and the next one begins where it ended.
 */
#include <linux/dma-mapping.h>
#include <linux/sizes.h>
#include <rdma/ib_verbs.h>

#include "smc_compat.h"
#include "rdma/smc_cap.h"

static const char * const smc_cap_lack_texts[] = {
#define SMC_CAP_LACK_TEXT(id, text) \
	[SMC_CAP_LACKS_##id] = text,
	SMC_CAP_LACKS(SMC_CAP_LACK_TEXT)
#undef SMC_CAP_LACK_TEXT
};

/**
 * smc_cap_lack_text() - say why a device does not serve
 * @lack: from smc_cap_lack()
 *
 * Context: Any context.
 * Return: the text, empty for SMC_CAP_LACKS_NOTHING.
 */
const char *smc_cap_lack_text(enum smc_cap_lack lack)
{
	return smc_cap_lack_texts[lack];
}

/* The registration's pages. A driver may take any other size for 4 KiB. */
static u32 smc_cap_page_size(const struct ib_device *ibdev)
{
	return ibdev->attrs.page_size_cap & PAGE_SIZE ? PAGE_SIZE : SZ_4K;
}

static u64 smc_cap_max_bytes(const struct ib_device *ibdev)
{
	return (u64)ibdev->attrs.max_fast_reg_page_list_len * smc_cap_page_size(ibdev);
}

static enum smc_cap_lack smc_cap_protocol_lack(const struct ib_device *ibdev, u8 nr_ports)
{
	enum smc_cap_lack lack = SMC_CAP_LACKS_ROCE;
	u8 port;

	for (port = 1; port <= nr_ports; port++) {
		if (rdma_protocol_roce(ibdev, port))
			return SMC_CAP_LACKS_NOTHING;
		if (rdma_protocol_iwarp(ibdev, port))
			lack = SMC_CAP_LACKS_IWARP;
	}
	return lack;
}

/**
 * smc_cap_lack() - check whether a device can carry links
 * @ibdev: the device
 * @nr_ports: its ports that may be used, the first ones
 *
 * One source of a receive is enough, see smc_wr_mem_get().
 *
 * Context: Any context.
 * Return: SMC_CAP_LACKS_NOTHING if it can, or the first reason why not.
 */
enum smc_cap_lack smc_cap_lack(const struct ib_device *ibdev, u8 nr_ports)
{
	enum smc_cap_lack lack = smc_cap_protocol_lack(ibdev, nr_ports);
	const struct ib_device_attr *attrs = &ibdev->attrs;

	if (lack != SMC_CAP_LACKS_NOTHING)
		return lack;
	if (!ibdev->kverbs_provider)
		return SMC_CAP_LACKS_VERBS;
	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return SMC_CAP_LACKS_REG;
	/* it computes an offset in the first page from the address */
	if (ibdev->ops.driver_id == RDMA_DRIVER_OCRDMA)
		return SMC_CAP_LACKS_IOVA;
	if (attrs->max_send_sge < SMC_CAP_MIN_SGE || attrs->max_recv_sge < 1)
		return SMC_CAP_LACKS_SGE;
	if (min(attrs->max_qp_wr, attrs->max_cqe) < SMC_CAP_MIN_DEPTH)
		return SMC_CAP_LACKS_DEPTH;
	if (smc_cap_max_bytes(ibdev) < max_t(u32, SMC_CAP_MIN_REGION, PAGE_SIZE))
		return SMC_CAP_LACKS_PAGES;
	return SMC_CAP_LACKS_NOTHING;
}

/*
 * Inline data and sources of a send queue, in the order of attempts. Inline data goes first: with
 * few sources MSG_ZEROCOPY and sendfile() copy. 101 bytes are irdma's limit, 96 that of bnxt_re
 * and erdma, 44 the length of a message.
 */
static const struct smc_cap_shape {
	u32 inline_bytes;
	u32 nr_sge;
} smc_cap_shapes[] = {
	{ SMC_CAP_INLINE, SMC_CAP_MAX_SGE },
	{ 96, SMC_CAP_MAX_SGE },
	{ 44, SMC_CAP_MAX_SGE },
	{ 0, SMC_CAP_MAX_SGE },
	{ 44, SMC_CAP_MIN_SGE },
	{ 0, SMC_CAP_MIN_SGE },
};

/* bnxt_re logs an error for each attempt that it refuses. */
static unsigned int smc_cap_first_shape(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id == RDMA_DRIVER_BNXT_RE ? 1 : 0;
}

/* What the kernel maps in one piece, where it may have to copy it to bounce buffers. */
static size_t smc_cap_max_mapping(struct ib_device *ibdev)
{
	return ib_uses_virt_dma(ibdev) ? SIZE_MAX : dma_max_mapping_size(ibdev->dma_device);
}

/**
 * smc_cap_init() - note what a new device allows
 * @cap: filled
 * @ibdev: the device, which lacks nothing
 *
 * Context: Process context.
 */
void smc_cap_init(struct smc_cap *cap, struct ib_device *ibdev)
{
	size_t max_mapping = smc_cap_max_mapping(ibdev);
	u64 max_bytes = smc_cap_max_bytes(ibdev);

	cap->page_size = smc_cap_page_size(ibdev);
	cap->max_pages = min_t(u64, max_bytes >> PAGE_SHIFT, UINT_MAX);
	max_bytes = min3(max_bytes, (u64)SMC_CAP_REGION_PAGES * cap->page_size, (u64)max_mapping);
	cap->region_pages = max_bytes >> PAGE_SHIFT;
	cap->max_segment = ALIGN_DOWN(min_t(size_t, max_mapping, ib_dma_max_seg_size(ibdev)),
				      PAGE_SIZE);
	cap->max_segment = max_t(u32, cap->max_segment, PAGE_SIZE);
	cap->shape = smc_cap_first_shape(ibdev);
}

/* Errors of drivers for what is too much. Others do not depend on it, and some take seconds. */
static bool smc_cap_may_be_limit(int err)
{
	return err == -EINVAL || err == -ENOMEM || err == -EOPNOTSUPP;
}

/**
 * smc_cap_create_qp() - create a queue pair with as much inline data and sources as possible
 * @cap: of the device; remembers what it refuses
 * @pd: protection domain of the queue pair
 * @attr: its depths, receive sources, queues and handler; receives the sources of a send, and the
 *	  inline data that the device takes, which may be more or less than was asked for
 *
 * A shortage of memory may pass, so what was refused for it is tried again for the next one.
 *
 * Context: Process context, may sleep.
 * Return: the queue pair, or what ib_create_qp() returned at last.
 */
struct ib_qp *smc_cap_create_qp(struct smc_cap *cap, struct ib_pd *pd,
				struct ib_qp_init_attr *attr)
{
	const u32 most = min_t(u32, pd->device->attrs.max_send_sge, SMC_CAP_MAX_SGE);
	const struct ib_qp_cap depths = attr->cap;
	const struct smc_cap_shape *shape;
	bool is_short = false;
	struct ib_qp *qp;

	for (shape = &smc_cap_shapes[READ_ONCE(cap->shape)];; shape++) {
		/* drivers change it, also when they refuse */
		attr->cap = depths;
		attr->cap.max_inline_data = shape->inline_bytes;
		attr->cap.max_send_sge = min(shape->nr_sge, most);
		qp = ib_create_qp(pd, attr);
		if (!IS_ERR(qp) || shape == &smc_cap_shapes[ARRAY_SIZE(smc_cap_shapes) - 1] ||
		    !smc_cap_may_be_limit(PTR_ERR(qp)))
			break;
		is_short |= PTR_ERR(qp) == -ENOMEM;
	}
	attr->cap.max_send_sge = min(shape->nr_sge, most);
	if (!IS_ERR(qp) && !is_short)
		WRITE_ONCE(cap->shape, shape - smc_cap_shapes);
	return qp;
}
