// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for rings, and the table of the peer's RMBs.
 *
 * Operation:
 *   smc_buf_get() hands out an element of a region that the peer already knows: this needs
 *   neither a registration nor a message. If there is none, the caller makes a region with
 *   smc_buf_alloc() and smc_buf_add(), which gives it the first element. It then calls
 *   smc_buf_map_link() and smc_buf_register() for each link, and after the peer's
 *   confirmation smc_buf_set_ready(), which makes the region available to all. Each new
 *   region of a size has twice the elements of the last one, so many connections need few
 *   registrations. A region with one element in use stays whole, so elements are taken where the
 *   fewest are free: the other regions fall idle. An idle region goes after a while, for the next
 *   burst of connections should not have to register it again, or when memory is short.
 *
 * Ownership:
 *   The pool owns a region from smc_buf_add() to smc_buf_take_idle(); a region with elements
 *   in use stays in the pool. Only the task that adds or removes links and regions changes
 *   the maps, one such task at a time. The data path reads a map's keys and addresses only
 *   while its link is up.
 *
 * Addresses:
 *   A region's RDMA address is made up here: page aligned, from a random start, with an
 *   unmapped page between regions. It reveals no kernel address and is the same on every link.
 */
#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "smc_compat.h"
#include "rdma/smc_buf.h"
#include "rdma/smc_mem.h"

static_assert(SMC_BUF_MIN_SIZE == SMC_CAP_MIN_REGION);

/*
 * Each use of a ring syncs what it needs, so mapping and unmapping sync nothing. Several links map
 * one region: a bounce copy that is unmapped would overwrite what the CPU has written since.
 */
#define SMC_BUF_MAP_ATTRS	DMA_ATTR_SKIP_CPU_SYNC

/* Does not fit 32 bits, and leaves room before addresses overflow. */
#define SMC_BUF_IOVA_BASE	BIT_ULL(40)

static u64 smc_buf_size(const struct smc_buf *buf)
{
	return (u64)buf->elem_size * buf->nr_elems;
}

/* Includes lost elements, which are of no use. */
static unsigned long smc_buf_unused(const struct smc_buf *buf)
{
	return (unsigned long)(buf->nr_elems - buf->nr_used + buf->nr_lost) * buf->elem_size;
}

static bool smc_buf_is_idle(const struct smc_buf *buf)
{
	return buf->nr_used == buf->nr_lost;
}

/* Negative when a listed region is no longer idle. */
static void smc_buf_count_idle(struct smc_buf_pool *pool, long bytes)
{
	lockdep_assert_held(&pool->lock);
	WRITE_ONCE(pool->idle, pool->idle + bytes);
}

/**
 * smc_buf_pool_init() - initialise an empty pool
 * @pool: filled
 * @kind: of its regions
 *
 * Context: Any context.
 */
void smc_buf_pool_init(struct smc_buf_pool *pool, enum smc_buf_kind kind)
{
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->regions);
	pool->nr_regions = 0;
	pool->idle = 0;
	pool->has_spent = false;
	pool->next_iova = SMC_BUF_IOVA_BASE +
			  ((u64)get_random_u32() << PAGE_SHIFT);
	pool->kind = kind;
	init_waitqueue_head(&pool->waitq);
}

/**
 * smc_buf_pool_free() - free all regions of a pool
 * @pool: no longer in use; its regions are unmapped on all links
 *
 * Context: Process context, may sleep.
 */
void smc_buf_pool_free(struct smc_buf_pool *pool)
{
	struct smc_buf *buf, *next;

	list_for_each_entry_safe(buf, next, &pool->regions, node)
		smc_buf_free(buf);
	INIT_LIST_HEAD(&pool->regions);
	pool->nr_regions = 0;
	pool->idle = 0;
}

/* A region with half its elements lost hands out no more, so it falls idle and is replaced. */
static bool smc_buf_is_spent(const struct smc_buf *buf)
{
	return buf->nr_lost * 2 >= buf->nr_elems;
}

static bool smc_buf_may_serve(const struct smc_buf *buf)
{
	return buf->is_ready && buf->nr_used < buf->nr_elems && !smc_buf_is_spent(buf);
}

static bool smc_buf_fits_better(const struct smc_buf *buf, const struct smc_buf *best)
{
	if (!best || buf->elem_size != best->elem_size)
		return !best || buf->elem_size < best->elem_size;
	return smc_buf_unused(buf) < smc_buf_unused(best);
}

/* Among equal sizes the region with the least unused, so that large ones fall idle. */
static struct smc_buf *smc_buf_best_fit(const struct smc_buf_pool *pool,
					u32 size)
{
	struct smc_buf *best = NULL;
	struct smc_buf *buf;

	lockdep_assert_held(&pool->lock);
	list_for_each_entry(buf, &pool->regions, node) {
		if (!smc_buf_may_serve(buf) ||
		    buf->elem_size < size || buf->elem_size / 2 > size)
			continue;
		if (smc_buf_fits_better(buf, best))
			best = buf;
	}
	return best;
}

/* Returns how many bytes of the element may hold data of an earlier connection. */
static u32 smc_buf_take(struct smc_buf_pool *pool, struct smc_buf *buf,
			struct smc_buf_elem *elem)
{
	unsigned int i = find_first_zero_bit(buf->used, buf->nr_elems);

	if (smc_buf_is_idle(buf))
		smc_buf_count_idle(pool, -smc_buf_size(buf));
	__set_bit(i, buf->used);
	buf->nr_used++;
	elem->buf = buf;
	elem->cpu = buf->cpu + (size_t)i * buf->elem_size;
	elem->size = buf->elem_size;
	elem->dirty = buf->elem_size;
	elem->index = i + 1;
	return buf->dirty[i];
}

/**
 * smc_buf_get() - take a free element
 * @pool: of the kind wanted
 * @size: bytes wanted, at least SMC_BUF_MIN_SIZE
 * @elem: filled on success; smc_buf_put() gives it back
 *
 * Takes the smallest element that is large enough, and at most twice as large as wanted, of the
 * regions that are ready; of these regions, the one with the least unused. An RMBE is all zero
 * (RMB-13); where the region needs syncing, smc_conn_join() makes the zeroes visible to the RNIC.
 * RMB-08, RMB-10.
 *
 * Context: Any context but hard interrupt. Takes pool->lock.
 * Return: 0, or -EAGAIN if a region has to be added first.
 */
int smc_buf_get(struct smc_buf_pool *pool, u32 size, struct smc_buf_elem *elem)
{
	struct smc_buf *buf;
	u32 dirty;

	scoped_guard(spinlock_bh, &pool->lock) {
		buf = smc_buf_best_fit(pool, size);
		if (!buf)
			return -EAGAIN;
		dirty = smc_buf_take(pool, buf, elem);
	}
	if (buf->kind == SMC_BUF_RMB)
		memset(elem->cpu, 0, dirty);
	return 0;
}

static void smc_buf_note_idle(struct smc_buf_pool *pool, struct smc_buf *buf)
{
	if (!smc_buf_is_idle(buf))
		return;
	smc_buf_count_idle(pool, smc_buf_size(buf));
	buf->idle_since = jiffies;
	if (smc_buf_is_spent(buf))
		WRITE_ONCE(pool->has_spent, true);
}

/**
 * smc_buf_put() - give an element back
 * @pool: its pool
 * @elem: empty afterwards; may be empty already. A caller that knows how much of it was
 *	  written sets @elem->dirty before.
 *
 * Both peers are done with it, RMB-27, or the link group ends. Otherwise use smc_buf_lose().
 *
 * Context: Any context but hard interrupt. Takes pool->lock.
 */
void smc_buf_put(struct smc_buf_pool *pool, struct smc_buf_elem *elem)
{
	struct smc_buf *buf = elem->buf;

	if (!buf)
		return;
	guard(spinlock_bh)(&pool->lock);
	if (!WARN_ON_ONCE(!__test_and_clear_bit(elem->index - 1, buf->used))) {
		buf->nr_used--;
		buf->dirty[elem->index - 1] = elem->dirty;
		smc_buf_note_idle(pool, buf);
	}
	memset(elem, 0, sizeof(*elem));
}

/**
 * smc_buf_lose() - retire an element that the peer may still write to
 * @pool: its pool
 * @elem: empty afterwards; may be empty already
 *
 * It is never handed out again. RMB-28 would allow that, but the next connection would read
 * data of the last one (ABRT-13). The peer's access ends only with the registration of the
 * region: smc_buf_take_idle() takes the region once no other element is in use, and at once if
 * half of it is lost, which bounds the memory of aborts.
 *
 * Context: Any context but hard interrupt. Takes pool->lock.
 */
void smc_buf_lose(struct smc_buf_pool *pool, struct smc_buf_elem *elem)
{
	struct smc_buf *buf = elem->buf;

	if (!buf)
		return;
	guard(spinlock_bh)(&pool->lock);
	/* Its bit in @used stays set. */
	buf->nr_lost++;
	smc_buf_note_idle(pool, buf);
	memset(elem, 0, sizeof(*elem));
}

/* Elements of the next region of a size. */
static unsigned int smc_buf_next_count(struct smc_buf_pool *pool, u32 elem_size,
				       u32 max_pages, unsigned int max_elems)
{
	u64 limit = min3(div_u64((u64)max_pages << PAGE_SHIFT, elem_size), (u64)max_elems,
			 (u64)SMC_BUF_MAX_ELEMS);
	unsigned int count = 1;
	struct smc_buf *buf;

	scoped_guard(spinlock_bh, &pool->lock)
		list_for_each_entry(buf, &pool->regions, node)
			if (buf->elem_size == elem_size)
				count = max(count, buf->nr_elems * 2);
	return min_t(u64, count, limit);
}

static void smc_buf_put_memory(void *cpu, u64 size)
{
	vfree(cpu);
	smc_mem_uncharge(size);
}

/* What a control group must have besides a region: TCP does not ask, and its charge could kill. */
#define SMC_BUF_SLACK	SZ_256K

/* Single pages: vmalloc needs no order but 0. */
static void *smc_buf_get_memory(u64 size)
{
	void *cpu = NULL, *slack;

	if (!smc_mem_charge(size))
		return NULL;
	slack = __vmalloc(SMC_BUF_SLACK, SMC_MEM_GFP);
	if (slack)
		cpu = __vmalloc(size, SMC_MEM_GFP | __GFP_ZERO);
	vfree(slack);
	if (!cpu)
		smc_mem_uncharge(size);
	return cpu;
}

static struct page **smc_buf_list_pages(void *cpu, unsigned int n)
{
	struct page **pages;
	unsigned int i;

	pages = kvmalloc_array(n, sizeof(*pages), SMC_MEM_GFP);
	if (!pages)
		return NULL;
	for (i = 0; i < n; i++)
		pages[i] = vmalloc_to_page(cpu + (size_t)i * PAGE_SIZE);
	return pages;
}

static u64 smc_buf_next_iova(struct smc_buf_pool *pool, unsigned int nr_pages)
{
	u64 iova;

	guard(spinlock_bh)(&pool->lock);
	iova = pool->next_iova;
	pool->next_iova += ((u64)nr_pages + 1) << PAGE_SHIFT;
	return iova;
}

/**
 * smc_buf_alloc() - allocate a region for a pool, not yet in it
 * @pool: the pool
 * @elem_size: bytes of an element, 2^(code + 14)
 * @max_pages: the least max_pages of the links it has to be mapped on
 * @max_elems: elements wanted at most, one at least
 *
 * The memory is zeroed, and charged to the active control group. The region has 1, 2, 4, 8 ...
 * elements, twice as many as the largest one of that size in the pool, at most what one
 * registration can cover and at most 255. It has fewer when memory is short, or at the limit of
 * net.smc.mem. RMB-02, RMB-03.
 *
 * Context: Process context, may sleep. Takes pool->lock.
 * Return: the region, owned by the caller until smc_buf_add() or smc_buf_free();
 *	   ERR_PTR(-EINVAL) if a single element is too large for one registration or
 *	   @elem_size is not a size; ERR_PTR(-ENOMEM), also beyond the limit of the host.
 */
struct smc_buf *smc_buf_alloc(struct smc_buf_pool *pool, u32 elem_size,
			      u32 max_pages, unsigned int max_elems)
{
	struct smc_buf *buf;
	unsigned int count;

	if (elem_size < SMC_BUF_MIN_SIZE || !is_power_of_2(elem_size))
		return ERR_PTR(-EINVAL);
	count = smc_buf_next_count(pool, elem_size, max_pages, max_elems);
	if (!count)
		return ERR_PTR(-EINVAL);
	buf = kzalloc(struct_size(buf, dirty, count), SMC_MEM_GFP);
	if (!buf)
		return ERR_PTR(-ENOMEM);

	buf->kind = pool->kind;
	buf->elem_size = elem_size;
	for (buf->nr_elems = count; buf->nr_elems; buf->nr_elems /= 2) {
		buf->cpu = smc_buf_get_memory(smc_buf_size(buf));
		if (buf->cpu)
			break;
	}
	if (!buf->cpu)
		goto free_buf;
	buf->nr_pages = DIV_ROUND_UP_ULL(smc_buf_size(buf), PAGE_SIZE);
	buf->pages = smc_buf_list_pages(buf->cpu, buf->nr_pages);
	if (!buf->pages)
		goto free_memory;
	buf->iova = smc_buf_next_iova(pool, buf->nr_pages);
	INIT_LIST_HEAD(&buf->node);
	return buf;

free_memory:
	smc_buf_put_memory(buf->cpu, smc_buf_size(buf));
free_buf:
	kfree(buf);
	return ERR_PTR(-ENOMEM);
}

/*
 * Behind an IOMMU dma_need_sync() of some kernels is true for every address, which would
 * prevent a second link, smc_buf_is_split(). So check whether the address leads to the page
 * itself or to a bounce copy.
 */
static bool smc_buf_page_needs_sync(struct device *dev, dma_addr_t addr, struct page *page)
{
	struct iommu_domain *domain;

	if (!dma_need_sync(dev, addr))
		return false;
	if (!dev_is_dma_coherent(dev))
		return true;
	domain = iommu_get_domain_for_dev(dev);
	return !domain || iommu_iova_to_phys(domain, addr) != page_to_phys(page);
}

static bool smc_buf_needs_sync(const struct smc_buf *buf, struct ib_device *ibdev,
			       struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int page = 0;
	u32 off;
	int i;

	if (ib_uses_virt_dma(ibdev))
		return false;
	for_each_sgtable_dma_sg(sgt, sg, i)
		for (off = 0; off < sg_dma_len(sg); off += PAGE_SIZE)
			if (smc_buf_page_needs_sync(ibdev->dma_device, sg_dma_address(sg) + off,
						    buf->pages[page++]))
				return true;
	return false;
}

static int smc_buf_fill_mr(struct smc_buf *buf, struct ib_mr *mr,
			   struct sg_table *sgt, u32 page_size)
{
	int n;

	n = ib_map_mr_sg(mr, sgt->sgl, sgt->nents, NULL, page_size);
	if (n < 0)
		return n;
	if (n != sgt->nents || mr->length != smc_buf_size(buf))
		return -EMSGSIZE;
	mr->iova = buf->iova;
	return 0;
}

/* With bounce copies on several links no copy is known to be the newest: allow one link only. */
static bool smc_buf_is_split(const struct smc_buf *buf, unsigned int link)
{
	unsigned int i;

	for (i = 0; i < SMC_LINKS_MAX; i++)
		if (i != link && buf->map[i].mr &&
		    (buf->map[i].needs_sync || buf->map[link].needs_sync))
			return true;
	return false;
}

/**
 * smc_buf_map_link() - map a region on a link's device
 * @buf: the region
 * @wr: the link's queues
 * @link: the link's index, less than SMC_LINKS_MAX; not mapped there yet
 *
 * Allocates the keys, so that they can be announced to the peer; they work once
 * smc_buf_register() has succeeded. RMB-04, RMB-07, RKEY-02.
 *
 * Context: Process context, may sleep. The caller excludes concurrent map and unmap of @buf.
 * Return: 0; -EEXIST if it is mapped there; -ENOMEM; -EMSGSIZE if the device cannot cover the
 *	   region; -EOPNOTSUPP if it is mapped on another link and a device needs bounce copies;
 *	   or what the verbs return.
 */
int smc_buf_map_link(struct smc_buf *buf, struct smc_wr *wr, unsigned int link)
{
	const struct smc_cap *cap = &wr->end.dev->cap;
	struct ib_device *ibdev = wr->end.dev->ibdev;
	struct smc_buf_map *map = &buf->map[link];
	struct ib_mr *mr;
	int rc;

	if (map->mr)
		return -EEXIST;
	mr = ib_alloc_mr(wr->pd, IB_MR_TYPE_MEM_REG,
			 DIV_ROUND_UP_ULL(smc_buf_size(buf), cap->page_size));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	rc = sg_alloc_table_from_pages_segment(&map->sgt, buf->pages, buf->nr_pages, 0,
					       smc_buf_size(buf), cap->max_segment, GFP_KERNEL);
	if (rc)
		goto dereg;
	/* Both directions: the CPU zeroes what the peer writes to. */
	rc = ib_dma_map_sgtable_attrs(ibdev, &map->sgt, DMA_BIDIRECTIONAL, SMC_BUF_MAP_ATTRS);
	if (rc)
		goto free_table;
	rc = smc_buf_fill_mr(buf, mr, &map->sgt, cap->page_size);
	if (rc)
		goto unmap;

	map->needs_sync = smc_buf_needs_sync(buf, ibdev, &map->sgt);
	if (smc_buf_is_split(buf, link)) {
		rc = -EOPNOTSUPP;
		goto unmap;
	}
	/* for smc_buf_lkey() and smc_buf_rkey(), which run only before the unmap */
	WRITE_ONCE(map->lkey, mr->lkey);
	WRITE_ONCE(map->rkey, mr->rkey);
	map->is_registered = false;
	map->mr = mr;
	return 0;

unmap:
	ib_dma_unmap_sgtable_attrs(ibdev, &map->sgt, DMA_BIDIRECTIONAL, SMC_BUF_MAP_ATTRS);
free_table:
	sg_free_table(&map->sgt);
dereg:
	ib_dereg_mr(mr);
	/* an unmapped region needs no sync */
	memset(map, 0, sizeof(*map));
	return rc;
}

/**
 * smc_buf_register() - register a region on a link
 * @buf: mapped there
 * @wr: the link's queues, active
 * @link: the link's index
 *
 * The peer may only write to an RMB. A send region is for the local device only. Does nothing
 * if the region is registered already.
 *
 * Context: Process context, sleeps up to ten seconds; expects no lock held.
 *	    The caller excludes concurrent map and unmap of @buf.
 * Return: 0; -EINVAL if it is not mapped there; otherwise as smc_wr_register(): the link is
 *	   then at its end, unless nothing was posted.
 */
int smc_buf_register(struct smc_buf *buf, struct smc_wr *wr, unsigned int link)
{
	struct smc_buf_map *map = &buf->map[link];
	int access = IB_ACCESS_LOCAL_WRITE;
	int rc;

	if (!map->mr)
		return -EINVAL;
	if (map->is_registered)
		return 0;
	if (buf->kind == SMC_BUF_RMB)
		access |= IB_ACCESS_REMOTE_WRITE;
	rc = smc_wr_register(wr, map->mr, access);
	if (!rc)
		map->is_registered = true;
	return rc;
}

static void smc_buf_map_free(struct smc_buf *buf, struct smc_buf_map *map, struct smc_wr *wr)
{
	int rc = ib_dereg_mr(map->mr);

	if (rc) {
		/* the key may still work, so the pages stay mapped and are never freed */
		smc_wr_note_leak(wr, "memory region", rc);
		WRITE_ONCE(buf->is_kept, true);
		return;
	}
	ib_dma_unmap_sgtable_attrs(wr->end.dev->ibdev, &map->sgt, DMA_BIDIRECTIONAL,
				   SMC_BUF_MAP_ATTRS);
	sg_free_table(&map->sgt);
}

/**
 * smc_buf_unmap() - undo smc_buf_map_link() and smc_buf_register()
 * @buf: need not be mapped
 * @wr: the link's queues; stopped, or no work request names the region any more
 * @link: the link's index
 *
 * When it returns, the peer can no longer reach the region over this link. If the device refuses,
 * the region stays mapped there, and its memory is kept for good.
 *
 * Context: Process context, may sleep. The caller excludes concurrent map, unmap and sync of
 *	    @buf there.
 */
void smc_buf_unmap(struct smc_buf *buf, struct smc_wr *wr, unsigned int link)
{
	struct smc_buf_map map = buf->map[link];

	if (!map.mr)
		return;
	memset(&buf->map[link], 0, sizeof(map));
	smc_buf_map_free(buf, &map, wr);
}

/**
 * smc_buf_pool_usage() - memory of a pool, for display
 * @pool: the pool
 * @allocated: bytes of its regions are added
 * @used: bytes of elements handed out are added
 *
 * Context: Any context but hard interrupt. Takes pool->lock.
 */
void smc_buf_pool_usage(struct smc_buf_pool *pool, u64 *allocated, u64 *used)
{
	const struct smc_buf *buf;

	guard(spinlock_bh)(&pool->lock);
	list_for_each_entry(buf, &pool->regions, node) {
		*allocated += (u64)buf->nr_elems * buf->elem_size;
		*used += (u64)buf->nr_used * buf->elem_size;
	}
}

/**
 * smc_buf_pool_unmap() - smc_buf_unmap() for all regions of a pool
 * @pool: the pool
 * @wr: the link's queues, stopped
 * @link: the link's index
 *
 * Context: Process context, may sleep. Takes pool->lock. Regions may come, go
 *	    and change on other links meanwhile.
 */
void smc_buf_pool_unmap(struct smc_buf_pool *pool, struct smc_wr *wr,
			unsigned int link)
{
	struct smc_buf_map map;
	struct smc_buf *buf;

	do {
		map.mr = NULL;
		spin_lock_bh(&pool->lock);
		list_for_each_entry(buf, &pool->regions, node) {
			if (!buf->map[link].mr)
				continue;
			map = buf->map[link];
			memset(&buf->map[link], 0, sizeof(map));
			break;
		}
		spin_unlock_bh(&pool->lock);
		if (map.mr)
			smc_buf_map_free(buf, &map, wr);
	} while (map.mr);
}

/**
 * smc_buf_add() - put a new region into its pool
 * @pool: takes ownership on success
 * @buf: from smc_buf_alloc() for this pool
 * @elem: filled on success with the first element, which is the caller's. NULL leaves all free.
 *
 * Other callers get no element before smc_buf_set_ready(): RKEY-05.
 *
 * Context: Any context but hard interrupt. Takes pool->lock.
 * Return: 0, or -ENOSPC if there are SMC_BUF_MAX_REGIONS already (RMB-01).
 */
int smc_buf_add(struct smc_buf_pool *pool, struct smc_buf *buf,
		struct smc_buf_elem *elem)
{
	guard(spinlock_bh)(&pool->lock);
	if (pool->nr_regions == SMC_BUF_MAX_REGIONS)
		return -ENOSPC;
	list_add_tail(&buf->node, &pool->regions);
	pool->nr_regions++;
	buf->idle_since = jiffies;
	smc_buf_count_idle(pool, smc_buf_size(buf));
	if (elem)
		smc_buf_take(pool, buf, elem);
	return 0;
}

/**
 * smc_buf_set_ready() - allow use of a region that the peer knows on every link
 * @pool: its pool
 * @buf: added
 *
 * Context: Any context but hard interrupt. Takes pool->lock.
 */
void smc_buf_set_ready(struct smc_buf_pool *pool, struct smc_buf *buf)
{
	guard(spinlock_bh)(&pool->lock);
	buf->is_ready = true;
}

/* Uncounts a region; the caller takes it from the list. */
static void smc_buf_delist(struct smc_buf_pool *pool, struct smc_buf *buf)
{
	lockdep_assert_held(&pool->lock);
	if (smc_buf_is_idle(buf))
		smc_buf_count_idle(pool, -smc_buf_size(buf));
	pool->nr_regions--;
}

/**
 * smc_buf_remove() - take a region that could not be made ready out of its pool
 * @pool: its pool
 * @buf: added, not ready; the caller's afterwards
 * @elem: from smc_buf_add(), empty afterwards; may be NULL
 *
 * Context: Any context but hard interrupt. Takes pool->lock.
 */
void smc_buf_remove(struct smc_buf_pool *pool, struct smc_buf *buf, struct smc_buf_elem *elem)
{
	if (elem)
		smc_buf_put(pool, elem);
	guard(spinlock_bh)(&pool->lock);
	smc_buf_delist(pool, buf);
	list_del_init(&buf->node);
}

/**
 * smc_buf_next() - walk the regions of a pool
 * @pool: the pool; no region may leave it meanwhile
 * @buf: the previous one, NULL for the first
 *
 * Context: Any context but hard interrupt. Takes pool->lock.
 * Return: the region after @buf; NULL after the last one.
 */
struct smc_buf *smc_buf_next(struct smc_buf_pool *pool, const struct smc_buf *buf)
{
	const struct list_head *next;

	guard(spinlock_bh)(&pool->lock);
	next = buf ? buf->node.next : pool->regions.next;
	return next == &pool->regions ? NULL : list_entry(next, struct smc_buf, node);
}

/**
 * smc_buf_take_idle() - take unused regions out of a pool
 * @pool: the pool
 * @age_jiffies: how long a region must have been unused, 0 for any
 * @want: bytes that are enough; the youngest and largest regions go first. A region that hands out
 *	  no more goes in any case
 * @idle: they are added to this list by node and are the caller's
 *
 * Takes only regions that are ready; lost elements do not prevent it. For RMBs the caller sends
 * DELETE RKEY and waits for the response before it unmaps and frees them. RMB-24..RMB-26.
 *
 * Context: Any context but hard interrupt. Takes pool->lock.
 * Return: how many bytes were moved.
 */
unsigned long smc_buf_take_idle(struct smc_buf_pool *pool, unsigned long age_jiffies,
				unsigned long want, struct list_head *idle)
{
	struct smc_buf *buf, *next;
	unsigned long taken = 0;

	guard(spinlock_bh)(&pool->lock);
	WRITE_ONCE(pool->has_spent, false);
	list_for_each_entry_safe_reverse(buf, next, &pool->regions, node) {
		if (!buf->is_ready || !smc_buf_is_idle(buf))
			continue;
		if (!smc_buf_is_spent(buf) &&
		    (taken >= want || time_before(jiffies, buf->idle_since + age_jiffies)))
			continue;
		taken += smc_buf_size(buf);
		smc_buf_delist(pool, buf);
		list_move_tail(&buf->node, idle);
	}
	return taken;
}

/**
 * smc_buf_free() - free a region
 * @buf: in no pool, mapped on no link; NULL does nothing
 *
 * Context: Process context, may sleep.
 */
void smc_buf_free(struct smc_buf *buf)
{
	unsigned int link;

	if (!buf)
		return;
	/* A leak is better than memory that the device can reach when it is reused. */
	if (READ_ONCE(buf->is_kept))
		return;
	for (link = 0; link < SMC_LINKS_MAX; link++)
		if (WARN_ON_ONCE(buf->map[link].mr))
			return;
	kvfree(buf->pages);
	smc_buf_put_memory(buf->cpu, smc_buf_size(buf));
	kfree(buf);
}

/**
 * smc_buf_rkey() - remote key of a region on a link
 * @buf: the region
 * @link: the link's index
 *
 * Context: Any context.
 * Return: the key, 0 if the region is not mapped there.
 */
u32 smc_buf_rkey(const struct smc_buf *buf, unsigned int link)
{
	return READ_ONCE(buf->map[link].rkey);
}

/**
 * smc_buf_lkey() - local key of a region on a link
 * @buf: the region
 * @link: the link's index
 *
 * Context: Any context.
 * Return: the key, 0 if the region is not mapped there.
 */
u32 smc_buf_lkey(const struct smc_buf *buf, unsigned int link)
{
	return READ_ONCE(buf->map[link].lkey);
}

/**
 * smc_buf_elem_iova() - RDMA address of an element
 * @elem: the element
 *
 * Context: Any context.
 * Return: the address for local work requests (with smc_buf_lkey()). The peer gets the
 *	   region's address, @elem->buf->iova, and the index.
 */
u64 smc_buf_elem_iova(const struct smc_buf_elem *elem)
{
	return elem->buf->iova + (u64)(elem->index - 1) * elem->size;
}

/* Syncs one contiguous piece. */
typedef void (*smc_buf_sync_fn)(struct ib_device *ibdev, u64 addr, size_t size,
				enum dma_data_direction dir);

static void smc_buf_sync(const struct smc_buf_elem *elem, struct smc_wr *wr,
			 unsigned int link, u32 off, u32 len,
			 smc_buf_sync_fn sync)
{
	const struct smc_buf *buf = elem->buf;
	const struct smc_buf_map *map = &buf->map[link];
	struct scatterlist *sg;
	u64 begin, end;
	u64 at = 0;
	int i;

	begin = (u64)(elem->index - 1) * elem->size + off;
	end = begin + len;
	for_each_sgtable_dma_sg(&map->sgt, sg, i) {
		u64 from = max(begin, at);
		u64 to = min(end, at + sg_dma_len(sg));

		if (from < to)
			sync(wr->end.dev->ibdev, sg_dma_address(sg) + from - at,
			     to - from, DMA_BIDIRECTIONAL);
		at += sg_dma_len(sg);
		if (at >= end)
			break;
	}
}

/**
 * smc_buf_sync_for_cpu() - sync before the CPU reads what the device wrote
 * @elem: the element
 * @wr: queues of the link it was written over
 * @link: the link's index
 * @off: first byte in the element
 * @len: bytes; @off + @len is at most @elem->size
 *
 * Context: Any context. The link is up or the caller prevents its unmap.
 */
void smc_buf_sync_for_cpu(const struct smc_buf_elem *elem, struct smc_wr *wr,
			  unsigned int link, u32 off, u32 len)
{
	if (unlikely(elem->buf->map[link].needs_sync))
		smc_buf_sync(elem, wr, link, off, len,
			     ib_dma_sync_single_for_cpu);
}

/**
 * smc_buf_sync_for_device() - sync before the device reads what the CPU wrote
 * @elem: the element
 * @wr: queues of the link it will be read over
 * @link: the link's index
 * @off: first byte in the element
 * @len: bytes; @off + @len is at most @elem->size
 *
 * Also required after zeroing an RMBE, and before the device may write where the CPU has read.
 *
 * Context: Any context. The link is up or the caller prevents its unmap.
 */
void smc_buf_sync_for_device(const struct smc_buf_elem *elem, struct smc_wr *wr,
			     unsigned int link, u32 off, u32 len)
{
	if (unlikely(elem->buf->map[link].needs_sync))
		smc_buf_sync(elem, wr, link, off, len,
			     ib_dma_sync_single_for_device);
}
