// SPDX-License-Identifier: GPL-2.0
/*
 * Elements of regions and the table of the peer's keys. Devices are faked; those of the machines
 * of tools/testing/vm map and register.
 */
#include "smc_kunit.h"
#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/prandom.h>
#include <rdma/ib_verbs.h>

/* The results of a device and its IOMMU. */
static struct {
	bool needs_sync;
	bool is_coherent;
	bool has_iommu;
	phys_addr_t phys;
	int dereg_rc;
	unsigned int nr_unmapped;
	unsigned int nr_syncs;
} dma_says;

/* What a registration was asked for. */
static struct {
	struct ib_mr mr;
	u32 nr_pages;
	u32 page_size;
	int nr_segments;
} mr_asked;

static bool said_need_sync(struct device *dev, dma_addr_t addr)
{
	return dma_says.needs_sync;
}

static bool said_coherent(struct device *dev)
{
	return dma_says.is_coherent;
}

static struct iommu_domain *said_domain(struct device *dev)
{
	return dma_says.has_iommu ? (struct iommu_domain *)&dma_says : NULL;
}

static phys_addr_t said_phys(struct iommu_domain *domain, dma_addr_t addr)
{
	return dma_says.phys;
}

static int said_dereg(struct ib_mr *mr)
{
	return dma_says.dereg_rc;
}

static int said_map(struct ib_device *ibdev, struct sg_table *sgt, enum dma_data_direction dir,
		    unsigned long attrs)
{
	dma_says.nr_syncs += !(attrs & DMA_ATTR_SKIP_CPU_SYNC);
	sgt->nents = sgt->orig_nents;
	return 0;
}

static void said_unmap(struct ib_device *ibdev, struct sg_table *sgt, enum dma_data_direction dir,
		       unsigned long attrs)
{
	dma_says.nr_syncs += !(attrs & DMA_ATTR_SKIP_CPU_SYNC);
	dma_says.nr_unmapped++;
}

static struct ib_mr *asked_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 nr_pages)
{
	mr_asked.nr_pages = nr_pages;
	return &mr_asked.mr;
}

static int asked_map_mr_sg(struct ib_mr *mr, struct scatterlist *sgl, int nr,
			   unsigned int *off, unsigned int page_size)
{
	struct scatterlist *sg;
	int i;

	mr_asked.page_size = page_size;
	mr_asked.nr_segments = nr;
	mr->length = 0;
	for_each_sg(sgl, sg, nr, i)
		mr->length += sg->length;
	return nr;
}

#define ib_alloc_mr			asked_alloc_mr
#define ib_map_mr_sg			asked_map_mr_sg
#define ib_dereg_mr			said_dereg
#define ib_dma_map_sgtable_attrs	said_map
#define ib_dma_unmap_sgtable_attrs	said_unmap
#define dma_need_sync			said_need_sync
#define dev_is_dma_coherent		said_coherent
#define iommu_get_domain_for_dev	said_domain
#define iommu_iova_to_phys		said_phys

#include "../../../net/smc/rdma/smc_buf.c"

#define KIB		1024
#define PAGES(bytes)	DIV_ROUND_UP(bytes, PAGE_SIZE)
/* The smallest element that has whole pages. */
#define UNIT		max_t(u32, 16 * KIB, PAGE_SIZE)

/* The layer below: open queues register regions that have a key. */
int smc_wr_register(struct smc_wr *wr, struct ib_mr *mr, int access)
{
	if (!test_bit(SMC_WR_IS_OPEN, &wr->flags))
		return -EIO;
	return mr->lkey ? 0 : -ENOMEM;
}

static struct smc_buf_pool *new_pool(struct kunit *test, enum smc_buf_kind kind)
{
	struct smc_buf_pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	smc_buf_pool_init(pool, kind);
	return pool;
}

/* A region in the pool with all of its elements free. */
static struct smc_buf *new_region(struct kunit *test, struct smc_buf_pool *pool,
				  u32 elem_size, u32 max_bytes)
{
	struct smc_buf *buf;

	buf = smc_buf_alloc(pool, elem_size, PAGES(max_bytes), SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, smc_buf_add(pool, buf, NULL), 0);
	smc_buf_set_ready(pool, buf);
	return buf;
}

static void rmb_02_each_rmb_has_twice_the_elements(struct kunit *test)
{
	static const unsigned int want[] = {
		1, 2, 4, 8, 16, 32, 64, 128, 255, 255
	};
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(want); i++)
		KUNIT_EXPECT_EQ(test, want[i],
				new_region(test, pool, 16 * KIB,
					   256 * 16 * KIB)->nr_elems);
	smc_buf_pool_free(pool);
}

static void rmb_03_sizes_grow_by_themselves(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf *buf;

	new_region(test, pool, 16 * KIB, 512 * KIB);
	new_region(test, pool, 16 * KIB, 512 * KIB);
	buf = new_region(test, pool, 32 * KIB, 512 * KIB);
	KUNIT_EXPECT_EQ(test, buf->nr_elems, 1);
	KUNIT_EXPECT_EQ(test, buf->elem_size, 32 * KIB);
	smc_buf_pool_free(pool);
}

static void a_region_fits_one_registration(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf *buf;
	int i;

	for (i = 0; i < 4; i++) {
		buf = new_region(test, pool, 64 * KIB, 3 * 64 * KIB);
		KUNIT_EXPECT_LE(test, buf->nr_pages, PAGES(3 * 64 * KIB));
	}
	KUNIT_EXPECT_EQ(test, buf->nr_elems, 3);
	smc_buf_pool_free(pool);
}

static void sizes_that_are_none_are_refused(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	static const struct {
		u32 size;
		u32 max_bytes;
		const char *why;
	} rows[] = {
		{ 0, 512 * KIB, "nothing" },
		{ 8 * KIB, 512 * KIB, "smaller than code 0" },
		{ 48 * KIB, 512 * KIB, "not a power of two" },
		{ 1024 * KIB, 512 * KIB, "more than one registration covers" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    PTR_ERR_OR_ZERO(smc_buf_alloc(pool, rows[i].size,
								  PAGES(rows[i].max_bytes), 255)),
				    "%s", rows[i].why);
}

static void addresses_are_aligned_and_apart(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	u64 end = 0;
	int i;

	for (i = 0; i < 5; i++) {
		struct smc_buf *buf = new_region(test, pool, 16 * KIB, 512 * KIB);

		KUNIT_EXPECT_TRUE(test, IS_ALIGNED(buf->iova, PAGE_SIZE));
		KUNIT_EXPECT_NE(test, buf->iova, (u64)(uintptr_t)buf->cpu);
		/* At least one page without a key lies between two regions. */
		KUNIT_EXPECT_GE(test, buf->iova, end + PAGE_SIZE);
		end = buf->iova + smc_buf_size(buf);
	}
	smc_buf_pool_free(pool);
}

static void rmb_10_the_smallest_that_fits(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf_elem elem[4] = {};
	int i;

	new_region(test, pool, 64 * KIB, 64 * KIB);
	new_region(test, pool, 32 * KIB, 32 * KIB);
	new_region(test, pool, 16 * KIB, 16 * KIB);

	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &elem[0]), 0);
	KUNIT_EXPECT_EQ(test, elem[0].size, 16 * KIB);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &elem[1]), 0);
	KUNIT_EXPECT_EQ(test, elem[1].size, 32 * KIB);
	/* A region of four times the size would waste too much. */
	KUNIT_EXPECT_EQ(test, smc_buf_get(pool, 16 * KIB, &elem[2]), -EAGAIN);
	KUNIT_EXPECT_NULL(test, elem[2].buf);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 64 * KIB, &elem[3]), 0);
	KUNIT_EXPECT_EQ(test, smc_buf_get(pool, 128 * KIB, &elem[2]), -EAGAIN);

	for (i = 0; i < ARRAY_SIZE(elem); i++)
		smc_buf_put(pool, &elem[i]);
	smc_buf_pool_free(pool);
}

static void rmb_13_a_reused_element_is_zero(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf_elem first = {}, second = {};
	struct smc_buf *buf;

	new_region(test, pool, 16 * KIB, 32 * KIB);
	buf = new_region(test, pool, 16 * KIB, 32 * KIB);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &first), 0);
	smc_buf_put(pool, &first);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &first), 0);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &second), 0);
	KUNIT_ASSERT_PTR_EQ(test, second.buf, buf);

	memset(buf->cpu, 0xaa, 32 * KIB);
	smc_buf_put(pool, &second);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &second), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(second.cpu, 0, second.size));
	/* memory beside the element is unchanged */
	KUNIT_EXPECT_NULL(test, memchr_inv(buf->cpu + 16 * KIB, 0xaa, 16 * KIB));

	/* as much as was written, if its user knows that */
	memset(second.cpu, 0xaa, 101);
	second.dirty = 100;
	smc_buf_put(pool, &second);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &second), 0);
	KUNIT_EXPECT_NULL(test, memchr_inv(second.cpu, 0, 100));
	KUNIT_EXPECT_EQ(test, second.cpu[100], 0xaa);

	smc_buf_put(pool, &first);
	smc_buf_put(pool, &second);
	smc_buf_pool_free(pool);
}

static void a_new_region_is_zero(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf *buf = new_region(test, pool, 32 * KIB, 32 * KIB);

	KUNIT_EXPECT_NULL(test, memchr_inv(buf->cpu, 0, 32 * KIB));
	smc_buf_pool_free(pool);
}

static void rkey_05_only_the_adder_before_it_is_ready(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf_elem mine = {}, yours = {};
	struct smc_buf *buf;

	new_region(test, pool, 16 * KIB, 16 * KIB);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &yours), 0);
	buf = smc_buf_alloc(pool, 16 * KIB, PAGES(32 * KIB), SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, buf->nr_elems, 2);
	KUNIT_ASSERT_EQ(test, smc_buf_add(pool, buf, &mine), 0);
	KUNIT_EXPECT_EQ(test, mine.index, 1);
	smc_buf_put(pool, &yours);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &yours), 0);
	KUNIT_EXPECT_PTR_NE(test, yours.buf, buf);
	smc_buf_put(pool, &yours);

	smc_buf_set_ready(pool, buf);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &mine), 0);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &yours), 0);
	KUNIT_EXPECT_PTR_EQ(test, yours.buf, buf);
	KUNIT_EXPECT_EQ(test, yours.index, 2);
	smc_buf_pool_free(pool);
}

static void rmb_01_a_pool_holds_255_rmbs(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf *buf;
	LIST_HEAD(idle);
	int i;

	for (i = 0; i < 255; i++)
		new_region(test, pool, UNIT, UNIT);
	buf = smc_buf_alloc(pool, UNIT, PAGES(UNIT), SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_EXPECT_EQ(test, smc_buf_add(pool, buf, NULL), -ENOSPC);

	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, 1, &idle), UNIT);
	KUNIT_ASSERT_TRUE(test, list_is_singular(&idle));
	smc_buf_free(list_first_entry(&idle, struct smc_buf, node));
	KUNIT_EXPECT_EQ(test, smc_buf_add(pool, buf, NULL), 0);
	KUNIT_EXPECT_EQ(test, pool->nr_regions, 255);
	smc_buf_pool_free(pool);
}

static void rmb_24_an_rmb_in_use_stays(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf_elem elem = {};
	LIST_HEAD(idle);

	new_region(test, pool, 16 * KIB, 16 * KIB);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &elem), 0);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, ULONG_MAX, &idle), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&idle));
	smc_buf_put(pool, &elem);
	smc_buf_pool_free(pool);
}

static void rmb_25_an_idle_rmb_stays_for_some_time(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf *old, *young;
	LIST_HEAD(idle);

	old = new_region(test, pool, 16 * KIB, 16 * KIB);
	young = new_region(test, pool, 32 * KIB, 32 * KIB);
	old->idle_since = jiffies - 100 * HZ;
	young->idle_since = jiffies - 10 * HZ;

	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 50 * HZ, ULONG_MAX, &idle),
			16 * KIB);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&idle));
	KUNIT_EXPECT_PTR_EQ(test, old,
			    list_first_entry(&idle, struct smc_buf, node));
	KUNIT_EXPECT_EQ(test, pool->nr_regions, 1);
	smc_buf_free(old);
	smc_buf_pool_free(pool);
}

/* The only region with elements to hand out. @nr_elems is 2^n. */
static struct smc_buf *new_region_of(struct kunit *test, struct smc_buf_pool *pool,
				     unsigned int nr_elems)
{
	struct smc_buf *buf;

	for (;;) {
		buf = new_region(test, pool, 16 * KIB, 255 * 16 * KIB);
		KUNIT_ASSERT_LE(test, buf->nr_elems, nr_elems);
		if (buf->nr_elems == nr_elems)
			return buf;
		buf->is_ready = false;
	}
}

static void abrt_13_a_lost_element_is_not_given_out_again(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf_elem elem[8] = {}, more = {};
	int i;

	new_region_of(test, pool, 8);
	for (i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &elem[i]), 0);
	smc_buf_lose(pool, &elem[2]);
	KUNIT_EXPECT_NULL(test, elem[2].buf);
	KUNIT_EXPECT_EQ(test, smc_buf_get(pool, 16 * KIB, &more), -EAGAIN);
	smc_buf_put(pool, &elem[5]);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &more), 0);
	KUNIT_EXPECT_EQ(test, more.index, 6);
	smc_buf_put(pool, &more);

	/* With half of its elements lost the region is to become idle. */
	smc_buf_lose(pool, &elem[0]);
	smc_buf_lose(pool, &elem[1]);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &more), 0);
	smc_buf_lose(pool, &more);
	smc_buf_put(pool, &elem[7]);
	KUNIT_EXPECT_EQ(test, smc_buf_get(pool, 16 * KIB, &more), -EAGAIN);
	smc_buf_pool_free(pool);
}

static void rmb_24_lost_elements_do_not_hold_an_rmb(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf_elem lost = {}, used = {};
	unsigned long was_idle;
	struct smc_buf *buf;
	LIST_HEAD(idle);

	buf = new_region_of(test, pool, 4);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &lost), 0);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &used), 0);
	was_idle = pool->idle;
	/* no connection has it any more */
	smc_buf_lose(pool, &lost);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, ULONG_MAX, &idle), 0);
	smc_buf_put(pool, &used);
	KUNIT_EXPECT_EQ(test, pool->idle, was_idle + 64 * KIB);
	/* It stays for a while, as any other region. */
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 600 * HZ, ULONG_MAX, &idle), 0);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, ULONG_MAX, &idle), 64 * KIB);
	smc_buf_free(buf);
	smc_buf_pool_free(pool);
}

/* Otherwise connections that are reset one after another would fill the memory. */
static void abrt_13_a_region_that_is_half_lost_goes_at_once(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf_elem elem[3] = {};
	struct smc_buf *buf;
	LIST_HEAD(idle);
	int i;

	buf = new_region_of(test, pool, 4);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &elem[i]), 0);
	smc_buf_lose(pool, &elem[0]);
	smc_buf_lose(pool, &elem[1]);
	KUNIT_EXPECT_FALSE(test, pool->has_spent);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 600 * HZ, 0, &idle), 0);
	smc_buf_put(pool, &elem[2]);
	KUNIT_EXPECT_TRUE(test, pool->has_spent);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 600 * HZ, 0, &idle), 64 * KIB);
	KUNIT_EXPECT_FALSE(test, pool->has_spent);
	smc_buf_free(buf);
	smc_buf_pool_free(pool);
}

static void a_region_not_ready_is_not_idle(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf *buf;
	LIST_HEAD(idle);

	buf = smc_buf_alloc(pool, 16 * KIB, PAGES(16 * KIB), SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, smc_buf_add(pool, buf, NULL), 0);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, ULONG_MAX, &idle), 0);
	smc_buf_pool_free(pool);
}

static void idle_regions_are_counted(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_SEND);
	struct smc_buf_elem elem[3] = {};
	struct smc_buf *one, *two;
	LIST_HEAD(idle);

	one = new_region(test, pool, 16 * KIB, 512 * KIB);
	two = new_region(test, pool, 16 * KIB, 512 * KIB);
	KUNIT_EXPECT_EQ(test, pool->idle, 48 * KIB);

	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &elem[0]), 0);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &elem[1]), 0);
	KUNIT_EXPECT_PTR_EQ(test, elem[1].buf, two);
	KUNIT_EXPECT_EQ(test, pool->idle, 0);

	smc_buf_put(pool, &elem[0]);
	KUNIT_EXPECT_EQ(test, pool->idle, 16 * KIB);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, ULONG_MAX, &idle), 16 * KIB);
	KUNIT_EXPECT_EQ(test, pool->idle, 0);
	list_del(&one->node);
	smc_buf_free(one);

	smc_buf_put(pool, &elem[1]);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, ULONG_MAX, &idle), 32 * KIB);
	KUNIT_EXPECT_EQ(test, pool->idle, 0);
	smc_buf_free(two);
	smc_buf_pool_free(pool);
}

/* Where most connections of an old region have ended, it is not filled up again. */
static void elements_are_taken_where_the_fewest_are_free(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf_elem elem[15] = {}, more[2] = {};
	LIST_HEAD(idle);
	int i;

	for (i = 0; i < 4; i++)
		new_region(test, pool, 16 * KIB, 512 * KIB);
	for (i = 0; i < 15; i++)
		KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &elem[i]), 0);
	/* of regions of 1, 2, 4 and 8 elements, all but one of the third, and two of the last */
	for (i = 4; i < 7; i++)
		smc_buf_put(pool, &elem[i]);
	smc_buf_put(pool, &elem[8]);
	smc_buf_put(pool, &elem[14]);
	KUNIT_EXPECT_EQ(test, pool->idle, 0);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, smc_buf_get(pool, 16 * KIB, &more[i]), 0);
		KUNIT_EXPECT_PTR_EQ(test, more[i].buf, elem[7].buf);
	}
	smc_buf_put(pool, &elem[3]);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, ULONG_MAX, &idle), 4 * 16 * KIB);
	smc_buf_free(list_first_entry(&idle, struct smc_buf, node));
	smc_buf_pool_free(pool);
}

/* Whole regions count, with free elements. */
static void the_host_has_a_limit_for_all_regions(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	long before = atomic_long_read(&smc_mem_pages);
	long limit = smc_mem_limits[2];
	struct smc_buf_elem elem = {};
	struct smc_buf *buf;

	smc_mem_limits[2] = before + PAGES(6 * UNIT);
	new_region(test, pool, UNIT, 32 * UNIT);
	KUNIT_ASSERT_EQ(test, smc_buf_get(pool, UNIT, &elem), 0);
	new_region(test, pool, UNIT, 32 * UNIT);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&smc_mem_pages) - before, PAGES(3 * UNIT));
	/* four would be too many */
	buf = new_region(test, pool, UNIT, 32 * UNIT);
	KUNIT_EXPECT_EQ(test, buf->nr_elems, 2);
	buf = new_region(test, pool, UNIT, 32 * UNIT);
	KUNIT_EXPECT_EQ(test, buf->nr_elems, 1);
	buf = smc_buf_alloc(pool, UNIT, PAGES(32 * UNIT), SMC_BUF_MAX_ELEMS);
	KUNIT_EXPECT_PTR_EQ(test, buf, ERR_PTR(-ENOMEM));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&smc_mem_pages) - before, PAGES(6 * UNIT));
	smc_mem_limits[2] = limit;
	smc_buf_put(pool, &elem);
	smc_buf_pool_free(pool);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&smc_mem_pages), before);
}

static void no_more_is_taken_than_wanted(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf *buf, *next;
	LIST_HEAD(idle);

	for (buf = NULL; !buf || buf->nr_elems < 4;)
		buf = new_region(test, pool, 16 * KIB, 512 * KIB);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, 0, &idle), 0);
	/* the largest region, which is the youngest, is enough */
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, 1, &idle), 64 * KIB);
	KUNIT_EXPECT_PTR_EQ(test, list_first_entry(&idle, struct smc_buf, node), buf);
	KUNIT_EXPECT_EQ(test, smc_buf_take_idle(pool, 0, 33 * KIB, &idle), 48 * KIB);
	KUNIT_EXPECT_EQ(test, pool->nr_regions, 0);
	list_for_each_entry_safe(buf, next, &idle, node)
		smc_buf_free(buf);
}

static void a_region_that_failed_leaves_nothing(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf_elem elem = {};
	struct smc_buf *stays, *buf;

	stays = new_region(test, pool, 16 * KIB, 512 * KIB);
	buf = smc_buf_alloc(pool, 64 * KIB, PAGES(512 * KIB), SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, smc_buf_add(pool, buf, &elem), 0);
	smc_buf_remove(pool, buf, &elem);
	KUNIT_EXPECT_NULL(test, elem.buf);
	KUNIT_EXPECT_EQ(test, pool->nr_regions, 1);
	KUNIT_EXPECT_EQ(test, pool->idle, 16 * KIB);
	KUNIT_EXPECT_PTR_EQ(test, smc_buf_next(pool, NULL), stays);
	KUNIT_EXPECT_NULL(test, smc_buf_next(pool, stays));
	smc_buf_free(buf);
	smc_buf_pool_free(pool);
}

/* A link that comes up meanwhile has to learn of it as well. */
static void rkey_03_a_walk_sees_rmbs_that_are_not_ready(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf *one, *two;

	KUNIT_EXPECT_NULL(test, smc_buf_next(pool, NULL));
	one = new_region(test, pool, 16 * KIB, 512 * KIB);
	two = smc_buf_alloc(pool, 16 * KIB, PAGES(512 * KIB), SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(two));
	KUNIT_ASSERT_EQ(test, smc_buf_add(pool, two, NULL), 0);
	KUNIT_EXPECT_PTR_EQ(test, smc_buf_next(pool, NULL), one);
	KUNIT_EXPECT_PTR_EQ(test, smc_buf_next(pool, one), two);
	KUNIT_EXPECT_NULL(test, smc_buf_next(pool, two));
	smc_buf_pool_free(pool);
}

static void behind_an_iommu_a_copy_differs_from_the_page(struct kunit *test)
{
	struct page *page = ZERO_PAGE(0);

	memset(&dma_says, 0, sizeof(dma_says));
	KUNIT_EXPECT_FALSE(test, smc_buf_page_needs_sync(NULL, 0, page));
	dma_says.needs_sync = true;
	KUNIT_EXPECT_TRUE(test, smc_buf_page_needs_sync(NULL, 0, page));
	dma_says.has_iommu = true;
	dma_says.phys = page_to_phys(page);
	/* the device reads the page, but not the CPU's caches */
	KUNIT_EXPECT_TRUE(test, smc_buf_page_needs_sync(NULL, 0, page));
	dma_says.is_coherent = true;
	KUNIT_EXPECT_FALSE(test, smc_buf_page_needs_sync(NULL, 0, page));
	dma_says.phys += PAGE_SIZE;
	KUNIT_EXPECT_TRUE(test, smc_buf_page_needs_sync(NULL, 0, page));
	dma_says.has_iommu = false;
	dma_says.phys -= PAGE_SIZE;
	KUNIT_EXPECT_TRUE(test, smc_buf_page_needs_sync(NULL, 0, page));
}

/* With two copies of RNIC writes the newer one is unknown. */
static void devices_that_need_copies_get_one_link(struct kunit *test)
{
	struct smc_buf *buf = kunit_kzalloc(test, sizeof(*buf), GFP_KERNEL);
	struct ib_mr *mr = (struct ib_mr *)buf;	/* not read */

	KUNIT_ASSERT_NOT_NULL(test, buf);
	buf->map[0].needs_sync = true;
	KUNIT_EXPECT_FALSE(test, smc_buf_is_split(buf, 0));
	buf->map[0].mr = mr;
	KUNIT_EXPECT_TRUE(test, smc_buf_is_split(buf, 1));
	buf->map[0].needs_sync = false;
	KUNIT_EXPECT_FALSE(test, smc_buf_is_split(buf, 1));
	buf->map[1].needs_sync = true;
	KUNIT_EXPECT_TRUE(test, smc_buf_is_split(buf, 1));
}

static void what_is_not_mapped_has_no_key(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_buf *buf = new_region(test, pool, 16 * KIB, 16 * KIB);

	KUNIT_EXPECT_EQ(test, smc_buf_rkey(buf, 0), 0);
	KUNIT_EXPECT_EQ(test, smc_buf_lkey(buf, SMC_LINKS_MAX - 1), 0);
	KUNIT_EXPECT_EQ(test, smc_buf_register(buf, NULL, 0), -EINVAL);
	smc_buf_pool_free(pool);
}

/* Random gets and puts: each element has one owner at a time. */
static void rmb_08_no_element_is_given_out_twice(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_SEND);
	struct smc_buf_elem *elem;
	struct rnd_state rnd;
	unsigned int used = 0;
	const int n = 40;		/* more than the 31 there are */
	int i, j, step;

	elem = kunit_kcalloc(test, n, sizeof(*elem), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, elem);
	for (i = 0; i < 5; i++)
		new_region(test, pool, 16 * KIB, 512 * KIB);
	prandom_seed_state(&rnd, 1);

	for (step = 0; step < 20000; step++) {
		i = prandom_u32_state(&rnd) % n;
		if (elem[i].buf) {
			KUNIT_ASSERT_EQ(test, *(int *)elem[i].cpu, i);
			smc_buf_put(pool, &elem[i]);
			used--;
			continue;
		}
		if (smc_buf_get(pool, 16 * KIB, &elem[i])) {
			KUNIT_ASSERT_EQ(test, used, 31);
			continue;
		}
		used++;
		KUNIT_ASSERT_GE(test, elem[i].index, 1);
		KUNIT_ASSERT_LE(test, elem[i].index, elem[i].buf->nr_elems);
		KUNIT_ASSERT_EQ(test, smc_buf_elem_iova(&elem[i]) - elem[i].buf->iova,
				elem[i].cpu - (u8 *)elem[i].buf->cpu);
		for (j = 0; j < n; j++)
			KUNIT_ASSERT_FALSE(test, j != i && elem[j].buf &&
					   elem[j].cpu == elem[i].cpu);
		*(int *)elem[i].cpu = i;
	}

	for (i = 0; i < n; i++)
		smc_buf_put(pool, &elem[i]);
	smc_buf_pool_free(pool);
}

/* A region of the pool's size that is mapped on a link. */
static struct smc_buf *mapped_region(struct kunit *test, struct smc_buf_pool *pool)
{
	static struct ib_mr mr;
	struct smc_buf *buf;

	buf = smc_buf_alloc(pool, UNIT, PAGES(UNIT), SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	buf->map[0].mr = &mr;
	return buf;
}

/* Queues on a device with half the kernel's pages and short segments. */
static struct smc_wr *new_queues(struct kunit *test)
{
	struct smc_ib_dev *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	struct smc_wr *wr = kunit_kzalloc(test, sizeof(*wr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, wr);
	dev->ibdev = kunit_kzalloc(test, sizeof(*dev->ibdev), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, dev->ibdev);
	dev->cap.page_size = PAGE_SIZE / 2;
	dev->cap.max_segment = PAGE_SIZE;
	wr->end.dev = dev;
	return wr;
}

/* H7, H8: the registration has the device's pages, not the kernel's, and no segment is too long. */
static void a_region_is_mapped_in_units_of_the_device(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_wr *wr = new_queues(test);
	struct smc_buf *buf;
	unsigned int i;

	buf = smc_buf_alloc(pool, 4 * UNIT, PAGES(4 * UNIT), 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	/* side by side, they would be one segment */
	for (i = 1; i < buf->nr_pages; i++)
		buf->pages[i] = buf->pages[0] + i;
	KUNIT_EXPECT_EQ(test, smc_buf_map_link(buf, wr, 0), 0);
	KUNIT_EXPECT_EQ(test, mr_asked.page_size, (u32)PAGE_SIZE / 2);
	KUNIT_EXPECT_EQ(test, mr_asked.nr_pages, 2 * PAGES(4 * UNIT));
	KUNIT_EXPECT_EQ(test, mr_asked.nr_segments, (int)PAGES(4 * UNIT));
	smc_buf_unmap(buf, wr, 0);
	smc_buf_free(buf);
}

/* A bounce copy of one link that is unmapped is older than what the CPU has written since. */
static void a_mapping_syncs_nothing(struct kunit *test)
{
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	struct smc_wr *wr = new_queues(test);
	struct smc_buf *buf;

	memset(&dma_says, 0, sizeof(dma_says));
	buf = smc_buf_alloc(pool, UNIT, PAGES(UNIT), 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, smc_buf_map_link(buf, wr, 0), 0);
	KUNIT_EXPECT_EQ(test, smc_buf_map_link(buf, wr, 1), 0);
	smc_buf_unmap(buf, wr, 1);
	/* refused only when it is mapped */
	buf->map[0].needs_sync = true;
	KUNIT_EXPECT_EQ(test, smc_buf_map_link(buf, wr, 1), -EOPNOTSUPP);
	smc_buf_unmap(buf, wr, 0);
	KUNIT_EXPECT_EQ(test, dma_says.nr_unmapped, 3);
	KUNIT_EXPECT_EQ(test, dma_says.nr_syncs, 0);
	smc_buf_free(buf);
}

static void memory_is_kept_with_a_key_that_the_device_keeps(struct kunit *test)
{
	struct smc_wr *wr = kunit_kzalloc(test, sizeof(*wr), GFP_KERNEL);
	struct smc_buf_pool *pool = new_pool(test, SMC_BUF_RMB);
	long pages = atomic_long_read(&smc_mem_pages);
	static struct smc_ib_dev dev;
	struct smc_buf *buf;

	KUNIT_ASSERT_NOT_NULL(test, wr);
	wr->end.dev = &dev;
	dma_says.nr_unmapped = 0;
	buf = mapped_region(test, pool);
	smc_buf_unmap(buf, wr, 0);
	KUNIT_EXPECT_EQ(test, dma_says.nr_unmapped, 1);
	smc_buf_free(buf);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&smc_mem_pages), pages);
	KUNIT_EXPECT_EQ(test, atomic64_read(&wr->counts.nr[SMC_IB_LEAKS]), 0);

	dma_says.dereg_rc = -EIO;
	buf = mapped_region(test, pool);
	smc_buf_unmap(buf, wr, 0);
	dma_says.dereg_rc = 0;
	KUNIT_EXPECT_EQ(test, dma_says.nr_unmapped, 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&wr->counts.nr[SMC_IB_LEAKS]), 1);
	/* another link may have this place */
	KUNIT_EXPECT_NULL(test, buf->map[0].mr);
	smc_buf_free(buf);
	KUNIT_ASSERT_EQ(test, atomic_long_read(&smc_mem_pages), pages + PAGES(UNIT));
	/* the device of this case gives it up in the end */
	buf->is_kept = false;
	smc_buf_free(buf);
	smc_buf_pool_free(pool);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rmb_02_each_rmb_has_twice_the_elements),
	KUNIT_CASE(rmb_03_sizes_grow_by_themselves),
	KUNIT_CASE(a_region_fits_one_registration),
	KUNIT_CASE(sizes_that_are_none_are_refused),
	KUNIT_CASE(addresses_are_aligned_and_apart),
	KUNIT_CASE(rmb_10_the_smallest_that_fits),
	KUNIT_CASE(rmb_13_a_reused_element_is_zero),
	KUNIT_CASE(a_new_region_is_zero),
	KUNIT_CASE(rkey_05_only_the_adder_before_it_is_ready),
	KUNIT_CASE(rmb_01_a_pool_holds_255_rmbs),
	KUNIT_CASE(rmb_24_an_rmb_in_use_stays),
	KUNIT_CASE(rmb_25_an_idle_rmb_stays_for_some_time),
	KUNIT_CASE(abrt_13_a_lost_element_is_not_given_out_again),
	KUNIT_CASE(rmb_24_lost_elements_do_not_hold_an_rmb),
	KUNIT_CASE(abrt_13_a_region_that_is_half_lost_goes_at_once),
	KUNIT_CASE(a_region_not_ready_is_not_idle),
	KUNIT_CASE(idle_regions_are_counted),
	KUNIT_CASE(elements_are_taken_where_the_fewest_are_free),
	KUNIT_CASE(the_host_has_a_limit_for_all_regions),
	KUNIT_CASE(no_more_is_taken_than_wanted),
	KUNIT_CASE(a_region_that_failed_leaves_nothing),
	KUNIT_CASE(rkey_03_a_walk_sees_rmbs_that_are_not_ready),
	KUNIT_CASE(devices_that_need_copies_get_one_link),
	KUNIT_CASE(what_is_not_mapped_has_no_key),
	KUNIT_CASE(rmb_08_no_element_is_given_out_twice),
	KUNIT_CASE(behind_an_iommu_a_copy_differs_from_the_page),
	KUNIT_CASE(a_region_is_mapped_in_units_of_the_device),
	KUNIT_CASE(a_mapping_syncs_nothing),
	KUNIT_CASE(memory_is_kept_with_a_key_that_the_device_keeps),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_buf",
	.test_cases = cases,
};

kunit_test_suite(suite);
