/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for rings. A region is a run of equal elements in one registered piece of memory: an
 * RMB (its elements are RMBEs, written by the peer) or a send region (its elements are send
 * rings). Regions are pooled per link group.
 */
#ifndef SMC_BUF_H
#define SMC_BUF_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "proto/smc_rtoken.h"
#include "rdma/smc_wr.h"

#define SMC_BUF_MAX_ELEMS	255	/* RMB-02 */
#define SMC_BUF_MAX_REGIONS	255	/* RMB-01 */
#define SMC_BUF_MIN_SIZE	16384	/* size code 0 */

enum smc_buf_kind { SMC_BUF_RMB, SMC_BUF_SEND };

/**
 * struct smc_buf_map - mapping of a region on one link
 * @mr: NULL when not mapped on this link
 * @sgt: DMA addresses of the region's pages
 * @lkey: local key of @mr
 * @rkey: remote key of @mr
 * @needs_sync: CPU and device accesses must be synchronised
 * @is_registered: REG_MR has completed
 */
struct smc_buf_map {
	struct ib_mr *mr;
	struct sg_table sgt;
	u32 lkey;
	u32 rkey;
	bool needs_sync;
	bool is_registered;
};

/**
 * struct smc_buf - one region
 * @node: in its pool, under the pool's lock
 * @kind: RMB or send region
 * @cpu: CPU address, virtually contiguous
 * @pages: its pages, each of order 0
 * @iova: address announced to the peer and used on every link: chosen by this file, page
 *	  aligned, independent of the location in memory
 * @nr_pages: length of @pages
 * @elem_size: bytes of an element, 2^(code + 14), RMB-03
 * @nr_elems: 1..SMC_BUF_MAX_ELEMS
 * @nr_used: elements handed out, lost ones included
 * @nr_lost: elements of @nr_used that the peer may still write to, smc_buf_lose()
 * @used: bit i for element index i + 1
 * @is_ready: the peer knows it on every link, elements may be handed out
 * @is_announced: announced to the peer and confirmed, or from first contact; under lgr->lock
 * @is_kept: a device may use it for good: smc_buf_free() keeps the memory
 * @idle_since: jiffies when the last element in use was given back or lost
 * @map: by link index
 * @dirty: by element: how many of its first bytes may hold data of an earlier connection
 */
struct smc_buf {
	struct list_head node;
	enum smc_buf_kind kind;
	void *cpu;
	struct page **pages;
	u64 iova;
	unsigned int nr_pages;
	u32 elem_size;
	unsigned int nr_elems;
	unsigned int nr_used;
	unsigned int nr_lost;
	DECLARE_BITMAP(used, SMC_BUF_MAX_ELEMS);
	bool is_ready;
	bool is_announced;
	bool is_kept;
	unsigned long idle_since;
	struct smc_buf_map map[SMC_LINKS_MAX];
	u32 dirty[];
};

/* One element in use. @buf is NULL when there is none. @dirty is for smc_buf_put(). */
struct smc_buf_elem {
	struct smc_buf *buf;
	u8 *cpu;
	u32 size;
	u32 dirty;
	u8 index;			/* 1-based, as on the wire */
};

/**
 * struct smc_buf_pool - the regions of one kind in a link group
 * @lock: guards @regions, the bitmaps and counts of each region, @idle, @has_spent, @next_iova
 * @regions: all regions
 * @nr_regions: length of @regions, at most SMC_BUF_MAX_REGIONS
 * @idle: bytes of regions without an element in use; also read without the lock
 * @has_spent: one of them hands out no more elements; also read without the lock
 * @next_iova: RDMA address of the next region
 * @kind: RMB or send region
 * @waitq: handshakes that wait for an element
 */
struct smc_buf_pool {
	spinlock_t lock;		/* regions, their bitmaps and counts */
	struct list_head regions;
	unsigned int nr_regions;
	unsigned long idle;
	bool has_spent;
	u64 next_iova;
	enum smc_buf_kind kind;
	wait_queue_head_t waitq;
};

void smc_buf_pool_init(struct smc_buf_pool *pool, enum smc_buf_kind kind);
void smc_buf_pool_free(struct smc_buf_pool *pool);

int smc_buf_get(struct smc_buf_pool *pool, u32 size, struct smc_buf_elem *elem);
void smc_buf_put(struct smc_buf_pool *pool, struct smc_buf_elem *elem);
void smc_buf_lose(struct smc_buf_pool *pool, struct smc_buf_elem *elem);

/* ERR_PTR() on failure, never NULL */
struct smc_buf *smc_buf_alloc(struct smc_buf_pool *pool, u32 elem_size, u32 max_pages,
			      unsigned int max_elems);
int smc_buf_map_link(struct smc_buf *buf, struct smc_wr *wr, unsigned int link);
int smc_buf_register(struct smc_buf *buf, struct smc_wr *wr, unsigned int link);
void smc_buf_unmap(struct smc_buf *buf, struct smc_wr *wr, unsigned int link);
int smc_buf_add(struct smc_buf_pool *pool, struct smc_buf *buf, struct smc_buf_elem *elem);
void smc_buf_set_ready(struct smc_buf_pool *pool, struct smc_buf *buf);
void smc_buf_remove(struct smc_buf_pool *pool, struct smc_buf *buf, struct smc_buf_elem *elem);
struct smc_buf *smc_buf_next(struct smc_buf_pool *pool, const struct smc_buf *buf);
void smc_buf_free(struct smc_buf *buf);
void smc_buf_pool_unmap(struct smc_buf_pool *pool, struct smc_wr *wr, unsigned int link);
unsigned long smc_buf_take_idle(struct smc_buf_pool *pool, unsigned long age_jiffies,
				unsigned long want, struct list_head *idle);
void smc_buf_pool_usage(struct smc_buf_pool *pool, u64 *allocated, u64 *used);

/*
 * Copies between an element and an application. The range is checked here: the check of
 * copy_from_iter() would look for the element's vmalloc area, under a lock of all CPUs.
 */
static inline size_t smc_buf_write(const struct smc_buf_elem *elem, u32 off, u32 len,
				   struct iov_iter *from)
{
	if (unlikely((u64)off + len > elem->size))
		return 0;
	return _copy_from_iter(elem->cpu + off, len, from);
}

static inline size_t smc_buf_read(const struct smc_buf_elem *elem, u32 off, u32 len,
				  struct iov_iter *to)
{
	if (unlikely((u64)off + len > elem->size))
		return 0;
	return _copy_to_iter(elem->cpu + off, len, to);
}

u32 smc_buf_rkey(const struct smc_buf *buf, unsigned int link);
u32 smc_buf_lkey(const struct smc_buf *buf, unsigned int link);
u64 smc_buf_elem_iova(const struct smc_buf_elem *elem);
void smc_buf_sync_for_cpu(const struct smc_buf_elem *elem, struct smc_wr *wr,
			  unsigned int link, u32 off, u32 len);
void smc_buf_sync_for_device(const struct smc_buf_elem *elem, struct smc_wr *wr,
			     unsigned int link, u32 off, u32 len);

#endif /* SMC_BUF_H */
