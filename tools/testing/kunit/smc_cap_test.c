// SPDX-License-Identifier: GPL-2.0
/*
 * Devices with the limits of the drivers, and which of them can carry links. The limits are those
 * of Linux 6.12.
 */
#include "smc_kunit.h"

#include "../../../net/smc/smc_compat.h"
#include <linux/dma-mapping.h>
#include <linux/sizes.h>

/**
 * struct cap_device - the limits of a driver
 * @name: of the driver
 * @id: the same for the core
 * @send_sge: sources of a send
 * @recv_sge: of a receive
 * @pages: of a registration
 * @page_sizes: of its pages, a mask
 * @inline_max: inline data that a queue pair takes
 * @is_odd: what the queue pair says that it takes is @inline_said
 * @inline_said: what it says then
 * @err: for a queue pair that asks for more
 */
struct cap_device {
	const char *name;
	enum rdma_driver_id id;
	int send_sge, recv_sge;
	unsigned int pages;
	u64 page_sizes;
	u32 inline_max;
	bool is_odd;
	u32 inline_said;
	int err;
};

#define CAP_ALL_PAGES	(~(u64)(SZ_4K - 1))

static const struct cap_device cap_mlx5 = {
	"mlx5", RDMA_DRIVER_MLX5, 30, 32, 65536, CAP_ALL_PAGES, 512, true, 312, -EINVAL
};

static const struct cap_device cap_mlx4 = {
	"mlx4", RDMA_DRIVER_MLX4, 16, 16, 511, CAP_ALL_PAGES, 512, true, 0, -EINVAL
};

static const struct cap_device cap_bnxt_re = {
	"bnxt_re", RDMA_DRIVER_BNXT_RE, 6, 6, 512, CAP_ALL_PAGES, 96, true, 96, -EINVAL
};

static const struct cap_device cap_irdma = {
	"irdma", RDMA_DRIVER_IRDMA, 13, 13, 262144, SZ_4K | SZ_2M | SZ_1G, 101, false, 0, -EINVAL
};

static const struct cap_device cap_erdma = {
	"erdma", RDMA_DRIVER_ERDMA, 6, 1, 512, CAP_ALL_PAGES, 96, false, 0, -EINVAL
};

/* Says that it has no memory for what is too much. */
static const struct cap_device cap_poor = {
	"poor", RDMA_DRIVER_UNKNOWN, 2, 2, 128, CAP_ALL_PAGES, 43, false, 0, -ENOMEM
};

/* The device of a case */
static struct cap_lab {
	const struct cap_device *device;
	struct ib_device ibdev;
	struct ib_port_data port[3];
	struct ib_pd pd;
	struct ib_qp qp;
	unsigned int nr_tries, nr_refused;
	int err;		/* of each queue pair, if not 0 */
	size_t max_mapping;
	unsigned int max_segment;
} *cap_lab;

static struct ib_qp *cap_create_qp(struct ib_pd *pd, struct ib_qp_init_attr *attr)
{
	const struct cap_device *device = cap_lab->device;

	cap_lab->nr_tries++;
	if (cap_lab->err)
		return ERR_PTR(cap_lab->err);
	if (attr->cap.max_inline_data > device->inline_max ||
	    attr->cap.max_send_sge > (u32)device->send_sge) {
		cap_lab->nr_refused++;
		/* as a driver that has begun to compute */
		memset(&attr->cap, 0, sizeof(attr->cap));
		return ERR_PTR(device->err);
	}
	if (device->is_odd)
		attr->cap.max_inline_data = device->inline_said;
	attr->cap.max_send_sge++;
	return &cap_lab->qp;
}

/* Pages of the kernel, which may be larger than those of a device. */
static unsigned int cap_page_shift = PAGE_SHIFT;

#undef PAGE_SHIFT
#undef PAGE_SIZE
#define PAGE_SHIFT			cap_page_shift
#define PAGE_SIZE			BIT(PAGE_SHIFT)
#define ib_create_qp			cap_create_qp
#define ib_uses_virt_dma(...)		false
#define dma_max_mapping_size(...)	(cap_lab->max_mapping)
#define ib_dma_max_seg_size(...)	(cap_lab->max_segment)

#include "../../../net/smc/rdma/smc_cap.c"

static struct cap_lab *cap_add(struct kunit *test, const struct cap_device *device)
{
	struct cap_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	struct ib_device_attr *attrs;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, lab);
	cap_lab = lab;
	lab->device = device;
	lab->max_mapping = SIZE_MAX;
	lab->max_segment = SZ_2G;
	lab->ibdev.port_data = lab->port;
	lab->ibdev.kverbs_provider = true;
	lab->ibdev.ops.driver_id = device->id;
	lab->ibdev.phys_port_cnt = 2;
	for (i = 1; i <= 2; i++)
		lab->port[i].immutable.core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	attrs = &lab->ibdev.attrs;
	attrs->device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS;
	attrs->max_qp_wr = 4096;
	attrs->max_cqe = 65536;
	attrs->max_send_sge = device->send_sge;
	attrs->max_recv_sge = device->recv_sge;
	attrs->max_fast_reg_page_list_len = device->pages;
	attrs->page_size_cap = device->page_sizes;
	lab->pd.device = &lab->ibdev;
	return lab;
}

static void a_device_that_cannot_carry_links_lacks_something(struct kunit *test)
{
	struct cap_lab *lab = cap_add(test, &cap_mlx5);
	struct ib_device_attr *attrs = &lab->ibdev.attrs;
	u32 *flags = &lab->port[1].immutable.core_cap_flags;

#define LACKS(what, why)							\
	KUNIT_EXPECT_EQ_MSG(test, smc_cap_lack(&lab->ibdev, 2), SMC_CAP_LACKS_##what, why)
	LACKS(NOTHING, "one that has all");
	attrs->max_recv_sge = 1;
	LACKS(NOTHING, "one source of a receive");
	attrs->max_recv_sge = 0;
	LACKS(SGE, "none");
	attrs->max_recv_sge = 32;
	attrs->max_send_sge = 1;
	LACKS(SGE, "one source of a send: rings wrap");
	attrs->max_send_sge = 2;
	LACKS(NOTHING, "two");
	attrs->max_qp_wr = 40;
	LACKS(DEPTH, "short queues");
	attrs->max_qp_wr = 41;
	LACKS(NOTHING, "just long enough");
	attrs->max_cqe = 40;
	LACKS(DEPTH, "short completion queues");
	attrs->max_cqe = 41;
	attrs->max_fast_reg_page_list_len = 3;
	LACKS(PAGES, "registers less than the smallest element");
	attrs->max_fast_reg_page_list_len = 4;
	LACKS(NOTHING, "just that");
	lab->ibdev.ops.driver_id = RDMA_DRIVER_OCRDMA;
	LACKS(IOVA, "S7");
	lab->ibdev.ops.driver_id = RDMA_DRIVER_HNS;
	attrs->device_cap_flags = 0;
	LACKS(REG, "hns HIP08");
	lab->ibdev.kverbs_provider = false;
	LACKS(VERBS, "mana");
	flags[0] = 0;
	LACKS(VERBS, "the second port is RoCE, still");
	lab->port[2].immutable.core_cap_flags = RDMA_CORE_PORT_IWARP;
	LACKS(IWARP, "siw");
	lab->port[2].immutable.core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	LACKS(ROCE, "InfiniBand");
	flags[0] = RDMA_CORE_PORT_IBA_ROCE;
	KUNIT_EXPECT_EQ(test, smc_cap_lack(&lab->ibdev, 0), SMC_CAP_LACKS_ROCE);
#undef LACKS
}

static void each_lack_has_a_text_of_its_own(struct kunit *test)
{
	unsigned int i, j;

	KUNIT_EXPECT_STREQ(test, smc_cap_lack_text(SMC_CAP_LACKS_NOTHING), "");
	for (i = 1; i < ARRAY_SIZE(smc_cap_lack_texts); i++)
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, smc_cap_lack_text(i), smc_cap_lack_text(j));
}

/* H5: what a driver refuses costs neither sources nor the inline data that it takes. */
static void inline_data_and_sources_fall_separately(struct kunit *test)
{
	static const struct {
		const struct cap_device *device;
		u32 inline_bytes, sge;
		unsigned int nr_refused;
	} rows[] = {
		{ &cap_mlx5, 312, 16, 0 },
		{ &cap_mlx4, 0, 16, 0 },
		/* it would log each refusal */
		{ &cap_bnxt_re, 96, 6, 0 },
		{ &cap_irdma, 96, 13, 1 },
		{ &cap_erdma, 96, 6, 1 },
	};
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cap_lab *lab = cap_add(test, rows[i].device);
		const char *name = rows[i].device->name;
		struct smc_cap cap;

		smc_cap_init(&cap, &lab->ibdev);
		for (k = 0; k < 3; k++) {
			struct ib_qp_init_attr attr = { .cap.max_send_wr = 221 };

			KUNIT_ASSERT_PTR_EQ_MSG(test, smc_cap_create_qp(&cap, &lab->pd, &attr),
						&lab->qp, "%s", name);
			KUNIT_EXPECT_EQ_MSG(test, attr.cap.max_inline_data, rows[i].inline_bytes,
					    "%s", name);
			KUNIT_EXPECT_EQ_MSG(test, attr.cap.max_send_sge, rows[i].sge, "%s", name);
			KUNIT_EXPECT_EQ_MSG(test, attr.cap.max_send_wr, 221, "%s", name);
		}
		/* once per device, not per link */
		KUNIT_EXPECT_EQ_MSG(test, lab->nr_refused, rows[i].nr_refused, "%s", name);
	}
}

/* A shortage may pass. */
static void what_is_refused_for_memory_is_tried_again(struct kunit *test)
{
	struct cap_lab *lab = cap_add(test, &cap_poor);
	struct ib_qp_init_attr attr = {};
	struct smc_cap cap;

	smc_cap_init(&cap, &lab->ibdev);
	KUNIT_EXPECT_PTR_EQ(test, smc_cap_create_qp(&cap, &lab->pd, &attr), &lab->qp);
	KUNIT_EXPECT_EQ(test, attr.cap.max_inline_data, 0);
	KUNIT_EXPECT_EQ(test, attr.cap.max_send_sge, 2);
	lab->device = &cap_mlx5;
	KUNIT_EXPECT_PTR_EQ(test, smc_cap_create_qp(&cap, &lab->pd, &attr), &lab->qp);
	KUNIT_EXPECT_EQ(test, attr.cap.max_inline_data, 312);
}

/* Firmware that does not answer takes seconds for each attempt. */
static void another_error_ends_the_attempts(struct kunit *test)
{
	struct cap_lab *lab = cap_add(test, &cap_mlx5);
	struct ib_qp_init_attr attr = {};
	struct smc_cap cap;

	smc_cap_init(&cap, &lab->ibdev);
	lab->err = -ETIMEDOUT;
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_cap_create_qp(&cap, &lab->pd, &attr)), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, lab->nr_tries, 1);
	lab->err = -EINVAL;
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_cap_create_qp(&cap, &lab->pd, &attr)), -EINVAL);
	KUNIT_EXPECT_EQ(test, lab->nr_tries, 1 + ARRAY_SIZE(smc_cap_shapes));
	/* which proves nothing about any of them */
	lab->err = 0;
	KUNIT_EXPECT_PTR_EQ(test, smc_cap_create_qp(&cap, &lab->pd, &attr), &lab->qp);
	KUNIT_EXPECT_EQ(test, attr.cap.max_inline_data, 312);
}

/* H6: a page list of 4 KiB, and of less where the device has no more. */
static void rmb_02_a_region_fits_the_page_list(struct kunit *test)
{
	static const struct {
		const struct cap_device *device;
		u32 max_pages, region_pages;
	} rows[] = {
		{ &cap_mlx5, 65536, 511 },
		{ &cap_mlx4, 511, 511 },
		{ &cap_bnxt_re, 512, 511 },
		{ &cap_poor, 128, 128 },
	};
	struct smc_cap cap;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		smc_cap_init(&cap, &cap_add(test, rows[i].device)->ibdev);
		KUNIT_EXPECT_EQ_MSG(test, cap.max_pages, rows[i].max_pages, "%s",
				    rows[i].device->name);
		KUNIT_EXPECT_EQ_MSG(test, cap.region_pages, rows[i].region_pages, "%s",
				    rows[i].device->name);
		KUNIT_EXPECT_EQ(test, cap.page_size, SZ_4K);
	}
}

/* H8: irdma programs 4 KiB for pages that it does not have. */
static void a_registration_has_pages_that_the_device_has(struct kunit *test)
{
	struct cap_lab *lab = cap_add(test, &cap_irdma);
	struct smc_cap cap;

	cap_page_shift = 16;
	smc_cap_init(&cap, &lab->ibdev);
	KUNIT_EXPECT_EQ(test, cap.page_size, SZ_4K);
	KUNIT_EXPECT_EQ(test, cap.region_pages, 511 / 16);
	KUNIT_EXPECT_EQ(test, cap.max_pages, 262144 / 16);
	lab->ibdev.attrs.page_size_cap = CAP_ALL_PAGES;
	smc_cap_init(&cap, &lab->ibdev);
	KUNIT_EXPECT_EQ(test, cap.page_size, SZ_64K);
	KUNIT_EXPECT_EQ(test, cap.region_pages, 511);
}

/* H7: the software IOTLB copies at most 256 KiB in one piece, and a region occupies it for good. */
static void bounce_buffers_bound_regions_and_segments(struct kunit *test)
{
	struct cap_lab *lab = cap_add(test, &cap_mlx5);
	struct smc_cap cap;

	smc_cap_init(&cap, &lab->ibdev);
	KUNIT_EXPECT_EQ(test, cap.max_segment, SZ_2G);
	lab->max_mapping = SZ_256K - 1;
	smc_cap_init(&cap, &lab->ibdev);
	KUNIT_EXPECT_EQ(test, cap.max_segment, (u32)ALIGN_DOWN(SZ_256K - 1, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, cap.region_pages, (u32)((SZ_256K - 1) / PAGE_SIZE));
	/* a single element may be larger */
	KUNIT_EXPECT_EQ(test, cap.max_pages, 65536);
	lab->max_mapping = SIZE_MAX;
	lab->max_segment = SZ_64K;
	smc_cap_init(&cap, &lab->ibdev);
	KUNIT_EXPECT_EQ(test, cap.max_segment, SZ_64K);
	KUNIT_EXPECT_EQ(test, cap.region_pages, 511);
	lab->max_segment = 512;
	smc_cap_init(&cap, &lab->ibdev);
	KUNIT_EXPECT_EQ(test, cap.max_segment, (u32)PAGE_SIZE);
}

static int cap_init(struct kunit *test)
{
	cap_page_shift = 12;
	return 0;
}

static struct kunit_case smc_cap_cases[] = {
	KUNIT_CASE(each_lack_has_a_text_of_its_own),
	KUNIT_CASE(a_device_that_cannot_carry_links_lacks_something),
	KUNIT_CASE(rmb_02_a_region_fits_the_page_list),
	KUNIT_CASE(a_registration_has_pages_that_the_device_has),
	KUNIT_CASE(bounce_buffers_bound_regions_and_segments),
	KUNIT_CASE(inline_data_and_sources_fall_separately),
	KUNIT_CASE(what_is_refused_for_memory_is_tried_again),
	KUNIT_CASE(another_error_ends_the_attempts),
	{}
};

static struct kunit_suite smc_cap_suite = {
	.name = "smc_cap",
	.init = cap_init,
	.test_cases = smc_cap_cases,
};

kunit_test_suite(smc_cap_suite);
