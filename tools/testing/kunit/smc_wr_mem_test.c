// SPDX-License-Identifier: GPL-2.0
/*
 * How slots, receives and their messages lie in memory, by what the device allows.
 */
#include "smc_kunit.h"

#include "../../../net/smc/smc_compat.h"

static unsigned int wrm_nr_mapped, wrm_fails_at;
static size_t wrm_bytes;

/* An address of the device is that of the CPU plus this. */
#define WRM_DMA	BIT_ULL(52)

static u64 wrm_map(struct ib_device *ibdev, void *cpu, size_t size, enum dma_data_direction dir)
{
	if (++wrm_nr_mapped == wrm_fails_at)
		return 0;
	wrm_bytes += size;
	return (uintptr_t)cpu + WRM_DMA;
}

static int wrm_map_error(struct ib_device *ibdev, u64 dma)
{
	return !dma;
}

static void wrm_unmap(struct ib_device *ibdev, u64 dma, size_t size, enum dma_data_direction dir)
{
	wrm_bytes -= size;
}

#define ib_dma_map_single	wrm_map
#define ib_dma_mapping_error	wrm_map_error
#define ib_dma_unmap_single	wrm_unmap

#include "../../../net/smc/rdma/smc_wr_mem.c"

static const struct smc_wr_depth wrm_usual = { .nr_sends = 64, .nr_recvs = 256 };

struct wrm_lab {
	struct ib_device ibdev;
	struct smc_ib_dev dev;
	struct smc_wr wr;
};

static struct smc_wr *wrm_new(struct kunit *test, int recv_sge)
{
	struct wrm_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	struct ib_device_attr *attrs;

	KUNIT_ASSERT_NOT_NULL(test, lab);
	attrs = &lab->ibdev.attrs;
	attrs->max_qp_wr = 4096;
	attrs->max_cqe = 4096;
	attrs->max_send_sge = SMC_CAP_MAX_SGE;
	attrs->max_recv_sge = recv_sge;
	lab->dev.ibdev = &lab->ibdev;
	lab->wr.end.dev = &lab->dev;
	INIT_LIST_HEAD(&lab->wr.free[SMC_WR_DATA]);
	INIT_LIST_HEAD(&lab->wr.free[SMC_WR_CTRL]);
	wrm_nr_mapped = 0;
	wrm_fails_at = 0;
	wrm_bytes = 0;
	return &lab->wr;
}

/* No receive writes where another one does, and each part is mapped. */
static void wrm_check_recvs(struct kunit *test, const struct smc_wr *wr, u32 len)
{
	unsigned int i, k;
	u8 *msg;

	for (i = 0; i < wr->nr_recvs; i++) {
		msg = wr->recvs[i].msg;
		KUNIT_EXPECT_EQ(test, wr->recvs[i].sge[0].addr, (uintptr_t)msg + WRM_DMA);
		KUNIT_EXPECT_EQ(test, wr->recvs[i].sge[0].length, len);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_GE(test, abs(msg - wr->recvs[k].msg), (long)len);
	}
}

static void a_receive_has_two_parts(struct kunit *test)
{
	struct smc_wr *wr = wrm_new(test, 2);

	KUNIT_ASSERT_EQ(test, smc_wr_mem_get(wr, &wrm_usual), 0);
	KUNIT_EXPECT_EQ(test, wr->nr_recvs, 256);
	KUNIT_EXPECT_EQ(test, wr->nr_recv_sge, 2);
	KUNIT_EXPECT_EQ(test, wr->recvs[0].rwr.num_sge, 2);
	KUNIT_EXPECT_EQ(test, wr->recvs[255].sge[1].length,
			SMC_WR_RECV_MAX - SMC_WR_RECV_LEN);
	wrm_check_recvs(test, wr, SMC_WR_RECV_LEN);
	smc_wr_mem_put(wr);
	KUNIT_EXPECT_EQ(test, wrm_bytes, 0);
}

/* erdma: the longest message has to fit the only source of a receive. */
static void one_source_of_a_receive_is_enough(struct kunit *test)
{
	struct smc_wr *wr = wrm_new(test, 1);

	KUNIT_ASSERT_EQ(test, smc_wr_mem_get(wr, &wrm_usual), 0);
	KUNIT_EXPECT_EQ(test, wr->nr_recvs, SMC_WR_WHOLE_RECVS);
	KUNIT_EXPECT_EQ(test, wr->nr_recv_sge, 1);
	KUNIT_EXPECT_EQ(test, wr->recvs[0].rwr.num_sge, 1);
	wrm_check_recvs(test, wr, SMC_WR_RECV_MAX);
	/* all of the last one is memory of the link */
	memset(wr->recvs[wr->nr_recvs - 1].msg, 0x55, SMC_WR_RECV_MAX);
	KUNIT_EXPECT_GE(test, wrm_bytes, (size_t)SMC_WR_WHOLE_RECVS * SMC_WR_RECV_MAX);
	smc_wr_mem_put(wr);
	KUNIT_EXPECT_EQ(test, wrm_bytes, 0);
}

static void slots_are_as_many_as_the_queue_holds(struct kunit *test)
{
	static const struct {
		int max_qp_wr, max_cqe;
		unsigned int nr_sends, nr_slots;
		int nr_credits;
	} rows[] = {
		{ 4096, 4096, 64, 72, 32 },
		{ 4096, 4096, 1, 12, 2 },
		{ 41, 4096, 64, 12, 0 },
		{ 4096, 41, 64, 12, 0 },
		{ 128, 4096, 64, 36, 14 },
		{ 4096, 4096, 2048, 1170, 581 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct smc_wr_depth depth = {
			.nr_sends = rows[i].nr_sends, .nr_recvs = 4096,
		};
		struct smc_wr *wr = wrm_new(test, 2);
		struct ib_device_attr *attrs = &wr->end.dev->ibdev->attrs;

		attrs->max_qp_wr = rows[i].max_qp_wr;
		attrs->max_cqe = rows[i].max_cqe;
		KUNIT_ASSERT_EQ(test, smc_wr_mem_get(wr, &depth), 0);
		KUNIT_EXPECT_EQ(test, wr->nr_slots, rows[i].nr_slots);
		KUNIT_EXPECT_EQ(test, wr->nr_credits, rows[i].nr_credits);
		KUNIT_EXPECT_EQ(test, atomic_read(&wr->credits), rows[i].nr_credits);
		KUNIT_EXPECT_EQ(test, wr->nr_free[SMC_WR_CTRL], SMC_WR_CTRL_SLOTS);
		KUNIT_EXPECT_LE(test, smc_wr_mem_send_depth(wr),
				(u32)min(rows[i].max_qp_wr, rows[i].max_cqe));
		KUNIT_EXPECT_LE(test, smc_wr_mem_recv_depth(wr),
				(u32)min(rows[i].max_qp_wr, rows[i].max_cqe));
		smc_wr_mem_put(wr);
	}
}

static void a_page_that_cannot_be_mapped_leaves_nothing(struct kunit *test)
{
	struct smc_wr *wr = wrm_new(test, 2);

	wrm_fails_at = 3;
	KUNIT_EXPECT_EQ(test, smc_wr_mem_get(wr, &wrm_usual), -ENOMEM);
	KUNIT_EXPECT_EQ(test, wrm_bytes, 0);
}

/* S5: what the queues of a link take on mlx5, as computed from its driver: some 330 KiB. */
static void a_link_costs_what_its_driver_allocates_too(struct kunit *test)
{
	struct smc_wr *wr = wrm_new(test, 2);
	struct ib_device_attr *attrs = &wr->end.dev->ibdev->attrs;
	u32 usual = smc_wr_mem_cost(attrs, &wrm_usual), whole, few;
	const struct smc_wr_depth least = { 2, 2 };

	KUNIT_ASSERT_EQ(test, smc_wr_mem_get(wr, &wrm_usual), 0);
	KUNIT_EXPECT_GT(test, usual, wrm_bytes + 72 * sizeof(struct smc_wr_slot) +
				     256 * sizeof(struct smc_wr_recv));
	smc_wr_mem_put(wr);
	if (PAGE_SIZE == 4096) {
		KUNIT_EXPECT_GT(test, usual, 300U << 10);
		KUNIT_EXPECT_LT(test, usual, 360U << 10);
	}
	attrs->max_recv_sge = 1;
	whole = smc_wr_mem_cost(attrs, &wrm_usual);
	KUNIT_EXPECT_GT(test, whole, SMC_WR_WHOLE_RECVS * SMC_WR_RECV_MAX);
	few = smc_wr_mem_cost(attrs, &least);
	KUNIT_EXPECT_LT(test, few, usual / 3);
	/* fewer sources are shorter work requests */
	attrs->max_send_sge = 2;
	KUNIT_EXPECT_LT(test, smc_wr_mem_cost(attrs, &least), few);
}

static struct kunit_case smc_wr_mem_cases[] = {
	KUNIT_CASE(slots_are_as_many_as_the_queue_holds),
	KUNIT_CASE(a_receive_has_two_parts),
	KUNIT_CASE(one_source_of_a_receive_is_enough),
	KUNIT_CASE(a_page_that_cannot_be_mapped_leaves_nothing),
	KUNIT_CASE(a_link_costs_what_its_driver_allocates_too),
	{}
};

static struct kunit_suite smc_wr_mem_suite = {
	.name = "smc_wr_mem",
	.test_cases = smc_wr_mem_cases,
};

kunit_test_suite(smc_wr_mem_suite);
