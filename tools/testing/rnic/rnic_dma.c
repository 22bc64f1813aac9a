// SPDX-License-Identifier: GPL-2.0
/*
 * Memory as a device sees it: DMA operations that check.
 *
 * Addresses are made up, above 2^46, and never given twice; a guard page follows each mapping.
 * Each mapped page has a shadow, which is all that the device reads and writes. Syncs copy
 * between the shadow and the memory of the CPU, in the direction that they name. So what is not
 * synced is not seen, and what lies outside of a mapping does not exist.
 *
 * With an IOMMU the device is a PCI function of the machine, and the operations are the kernel's.
 * Each access is translated as the IOMMU does it.
 */
#include <linux/dma-direct.h>
#include <linux/dma-map-ops.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "rnic.h"

/**
 * struct rnic_page - a mapped page
 * @cpu: the page as the CPU sees it
 * @shadow: the page as the device sees it
 * @lo: offset of the first mapped byte
 * @hi: offset after the last one
 * @pins: registrations of MRs that use it
 * @dir: direction of the mapping
 */
struct rnic_page {
	void *cpu;
	void *shadow;
	u32 lo;
	u32 hi;
	int pins;
	enum dma_data_direction dir;
};

static bool is_to_device(enum dma_data_direction dir)
{
	return dir == DMA_TO_DEVICE || dir == DMA_BIDIRECTIONAL;
}

static bool is_from_device(enum dma_data_direction dir)
{
	return dir == DMA_FROM_DEVICE || dir == DMA_BIDIRECTIONAL;
}

static struct rnic_dev *dma_owner(struct device *dev)
{
	return dev_get_drvdata(dev);
}

static void free_page_of(struct rnic_page *page)
{
	free_page((unsigned long)page->shadow);
	kfree(page);
}

static int add_page(struct rnic_dma *dma, unsigned long pfn, struct rnic_page image)
{
	struct rnic_page *page = kmemdup(&image, sizeof(image), GFP_ATOMIC);
	unsigned long flags;
	int rc;

	if (!page)
		return -ENOMEM;
	/* what is not mapped of it cannot be read */
	page->shadow = (void *)__get_free_page(GFP_ATOMIC);
	if (!page->shadow) {
		free_page_of(page);
		return -ENOMEM;
	}
	memcpy(page->shadow + page->lo, page->cpu + page->lo, page->hi - page->lo);
	xa_lock_irqsave(&dma->pages, flags);
	rc = xa_err(__xa_store(&dma->pages, pfn, page, GFP_ATOMIC));
	xa_unlock_irqrestore(&dma->pages, flags);
	if (rc)
		free_page_of(page);
	return rc;
}

static bool remove_page(struct rnic_dev *dev, unsigned long pfn, bool sync)
{
	struct rnic_dma *dma = &dev->dma;
	struct rnic_page *page;
	unsigned long flags;

	spin_lock_irqsave(&dma->lock, flags);
	page = xa_load(&dma->pages, pfn);
	if (page) {
		xa_lock(&dma->pages);
		__xa_erase(&dma->pages, pfn);
		xa_unlock(&dma->pages);
	}
	spin_unlock_irqrestore(&dma->lock, flags);
	if (!page) {
		rnic_violation(dev, "unmap of page %lx, which is not mapped", pfn);
		return false;
	}
	if (page->pins)
		rnic_violation(dev, "unmap of page %lx, which %d MRs use", pfn, page->pins);
	if (sync && is_from_device(page->dir))
		memcpy(page->cpu + page->lo, page->shadow + page->lo, page->hi - page->lo);
	free_page_of(page);
	return true;
}

static unsigned long nr_pages_of(u64 addr, size_t size)
{
	return DIV_ROUND_UP(offset_in_page(addr) + size, PAGE_SIZE);
}

/* Give numbers to NR pages and a guard page. Any context. */
static unsigned long give_pages(struct rnic_dev *dev, unsigned long nr)
{
	u32 every = READ_ONCE(dev->faults.map_every);
	struct rnic_dma *dma = &dev->dma;
	unsigned long flags, pfn = 0;

	spin_lock_irqsave(&dma->lock, flags);
	if (!every || ++dma->nr_calls % every) {
		pfn = dma->next;
		dma->next += nr + 1;
		dma->nr_mappings++;
	}
	spin_unlock_irqrestore(&dma->lock, flags);
	return pfn;
}

static void end_mapping(struct rnic_dma *dma)
{
	unsigned long flags;

	spin_lock_irqsave(&dma->lock, flags);
	dma->nr_mappings--;
	spin_unlock_irqrestore(&dma->lock, flags);
}

static int fill_pages(struct rnic_dev *dev, unsigned long pfn, void *cpu, size_t size,
		      enum dma_data_direction dir)
{
	unsigned long nr = nr_pages_of((unsigned long)cpu, size), i;
	u32 off = offset_in_page(cpu);
	int rc;

	for (i = 0; i < nr; i++) {
		struct rnic_page image = {
			.cpu = (void *)PTR_ALIGN_DOWN(cpu, PAGE_SIZE) + i * PAGE_SIZE,
			.lo = i ? 0 : off,
			.hi = min_t(size_t, PAGE_SIZE, off + size - i * PAGE_SIZE),
			.dir = dir,
		};

		rc = add_page(&dev->dma, pfn + i, image);
		if (rc) {
			while (i--)
				remove_page(dev, pfn + i, false);
			return rc;
		}
	}
	return 0;
}

static dma_addr_t map_one(struct rnic_dev *dev, void *cpu, size_t size,
			  enum dma_data_direction dir)
{
	unsigned long pfn = give_pages(dev, nr_pages_of((unsigned long)cpu, size));

	if (!pfn)
		return DMA_MAPPING_ERROR;
	if (fill_pages(dev, pfn, cpu, size, dir)) {
		end_mapping(&dev->dma);
		return DMA_MAPPING_ERROR;
	}
	return ((dma_addr_t)pfn << PAGE_SHIFT) + offset_in_page(cpu);
}

static void unmap_one(struct rnic_dev *dev, dma_addr_t addr, size_t size, unsigned long attrs)
{
	unsigned long nr = nr_pages_of(addr, size), i;
	bool sync = !(attrs & DMA_ATTR_SKIP_CPU_SYNC);

	for (i = 0; i < nr; i++)
		if (!remove_page(dev, (addr >> PAGE_SHIFT) + i, sync))
			return;
	end_mapping(&dev->dma);
}

/* Copy at most to the end of the page; the number of bytes, or 0 after a violation. */
static size_t sync_page(struct rnic_dev *dev, dma_addr_t addr, size_t size,
			enum dma_data_direction dir, bool for_cpu)
{
	u32 off = offset_in_page(addr), len = min_t(size_t, size, PAGE_SIZE - off);
	struct rnic_dma *dma = &dev->dma;
	const char *wrong = NULL;
	struct rnic_page *page;
	unsigned long flags;

	spin_lock_irqsave(&dma->lock, flags);
	page = xa_load(&dma->pages, addr >> PAGE_SHIFT);
	if (!page)
		wrong = "not mapped";
	else if (off < page->lo || off + len > page->hi)
		wrong = "outside of the mapping";
	else if (page->dir != DMA_BIDIRECTIONAL && page->dir != dir)
		wrong = "another direction";
	else if (for_cpu && is_from_device(dir))
		memcpy(page->cpu + off, page->shadow + off, len);
	else if (!for_cpu && is_to_device(dir))
		memcpy(page->shadow + off, page->cpu + off, len);
	spin_unlock_irqrestore(&dma->lock, flags);
	if (!wrong)
		return len;
	rnic_violation(dev, "sync for the %s of %llx, %u bytes: %s", for_cpu ? "CPU" : "device",
		       (u64)addr, len, wrong);
	return 0;
}

static void sync_range(struct rnic_dev *dev, dma_addr_t addr, size_t size,
		       enum dma_data_direction dir, bool for_cpu)
{
	size_t n;

	for (; size; addr += n, size -= n) {
		n = sync_page(dev, addr, size, dir, for_cpu);
		if (!n)
			return;
	}
}

static dma_addr_t op_map_page(struct device *dev, struct page *page, unsigned long offset,
			      size_t size, enum dma_data_direction dir, unsigned long attrs)
{
	return map_one(dma_owner(dev), page_address(page) + offset, size, dir);
}

static void op_unmap_page(struct device *dev, dma_addr_t addr, size_t size,
			  enum dma_data_direction dir, unsigned long attrs)
{
	unmap_one(dma_owner(dev), addr, size, attrs);
}

/* True if all entries fit together at the borders of pages, as an IOMMU needs it. */
static bool can_merge(struct scatterlist *sgl, int nents, size_t *total)
{
	struct scatterlist *sg;
	int i;

	*total = 0;
	for_each_sg(sgl, sg, nents, i) {
		if ((i && sg->offset) || (i < nents - 1 && offset_in_page(sg->offset + sg->length)))
			return false;
		*total += sg->length;
	}
	return *total <= UINT_MAX;
}

/* Map all entries to one segment. */
static int map_merged(struct rnic_dev *dev, struct scatterlist *sgl, int nents, size_t total,
		      enum dma_data_direction dir)
{
	unsigned long nr = nr_pages_of(sgl->offset, total), pfn = give_pages(dev, nr), at = pfn;
	struct scatterlist *sg;
	int i;

	if (!pfn)
		return -EIO;
	for_each_sg(sgl, sg, nents, i) {
		if (fill_pages(dev, at, sg_virt(sg), sg->length, dir))
			goto fail;
		at += nr_pages_of(sg->offset, sg->length);
		sg_dma_len(sg) = 0;
	}
	sgl->dma_address = ((dma_addr_t)pfn << PAGE_SHIFT) + offset_in_page(sgl->offset);
	sg_dma_len(sgl) = total;
	return 1;
fail:
	while (at-- > pfn)
		remove_page(dev, at, false);
	end_mapping(&dev->dma);
	return -ENOMEM;
}

static int op_map_sg(struct device *dev, struct scatterlist *sgl, int nents,
		     enum dma_data_direction dir, unsigned long attrs)
{
	struct rnic_dev *rnic = dma_owner(dev);
	struct scatterlist *sg;
	size_t total;
	int i, k;

	if (rnic->profile->habits & RNIC_MERGES && can_merge(sgl, nents, &total))
		return map_merged(rnic, sgl, nents, total, dir);
	for_each_sg(sgl, sg, nents, i) {
		sg->dma_address = map_one(rnic, sg_virt(sg), sg->length, dir);
		if (sg->dma_address == DMA_MAPPING_ERROR)
			goto fail;
		sg_dma_len(sg) = sg->length;
	}
	return nents;
fail:
	for_each_sg(sgl, sg, i, k)
		unmap_one(rnic, sg->dma_address, sg_dma_len(sg), DMA_ATTR_SKIP_CPU_SYNC);
	return -EIO;
}

static void op_unmap_sg(struct device *dev, struct scatterlist *sgl, int nents,
			enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i)
		if (sg_dma_len(sg))
			unmap_one(dma_owner(dev), sg->dma_address, sg_dma_len(sg), attrs);
}

static void op_sync_single_for_cpu(struct device *dev, dma_addr_t addr, size_t size,
				   enum dma_data_direction dir)
{
	sync_range(dma_owner(dev), addr, size, dir, true);
}

static void op_sync_single_for_device(struct device *dev, dma_addr_t addr, size_t size,
				      enum dma_data_direction dir)
{
	sync_range(dma_owner(dev), addr, size, dir, false);
}

static void op_sync_sg_for_cpu(struct device *dev, struct scatterlist *sgl, int nents,
			       enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i)
		sync_range(dma_owner(dev), sg->dma_address, sg_dma_len(sg), dir, true);
}

static void op_sync_sg_for_device(struct device *dev, struct scatterlist *sgl, int nents,
				  enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, nents, i)
		sync_range(dma_owner(dev), sg->dma_address, sg_dma_len(sg), dir, false);
}

static int op_dma_supported(struct device *dev, u64 mask)
{
	return 1;
}

static const struct dma_map_ops rnic_dma_ops __maybe_unused = {
	.map_page = op_map_page,
	.unmap_page = op_unmap_page,
	.map_sg = op_map_sg,
	.unmap_sg = op_unmap_sg,
	.sync_single_for_cpu = op_sync_single_for_cpu,
	.sync_single_for_device = op_sync_single_for_device,
	.sync_sg_for_cpu = op_sync_sg_for_cpu,
	.sync_sg_for_device = op_sync_sg_for_device,
	.dma_supported = op_dma_supported,
};

/**
 * rnic_dma_init() - no mapping yet
 * @dma: to set up
 */
void rnic_dma_init(struct rnic_dma *dma)
{
	spin_lock_init(&dma->lock);
	xa_init_flags(&dma->pages, XA_FLAGS_LOCK_IRQ);
	dma->next = 1UL << (46 - PAGE_SHIFT);
}

enum {
	/* the teaching device of QEMU, which no driver takes */
	EDU_VENDOR = 0x1234,
	EDU_DEVICE = 0x11e8,
};

static int attach_pci(struct rnic_dev *dev)
{
	struct pci_dev *pci = NULL;

	do {
		pci = pci_get_device(EDU_VENDOR, EDU_DEVICE, pci);
		if (!pci)
			return -ENODEV;
	} while (dma_owner(&pci->dev));
	dev->device = &pci->dev;
	dev->domain = iommu_get_domain_for_dev(dev->device);
	if (dev->domain && dev->domain->type & __IOMMU_DOMAIN_PAGING)
		return 0;
	pci_dev_put(pci);
	return -EOPNOTSUPP;
}

static int attach_platform(struct rnic_dev *dev)
{
	struct platform_device *pdev;

	pdev = platform_device_register_simple("rnic", PLATFORM_DEVID_AUTO, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	dev->device = &pdev->dev;
	return 0;
}

static int attach_bounce(struct rnic_dev *dev)
{
#ifdef CONFIG_ARCH_HAS_DMA_OPS
	int rc = attach_platform(dev);

	if (!rc)
		set_dma_ops(dev->device, &rnic_dma_ops);
	dev->is_bounce = !rc;
	return rc;
#else
	return -EOPNOTSUPP;
#endif
}

/**
 * rnic_dma_attach() - give @dev a device for its DMA
 * @dev: device
 * @dma: "bounce", operations of the model; "direct", those of the kernel; "iommu", those of the
 *	kernel for a PCI function behind an IOMMU
 *
 * Context: Process context.
 * Return: 0; -EOPNOTSUPP if the kernel allows no operations of a module, or has no IOMMU; -ENODEV
 *	without a PCI function; -EINVAL or another negative errno.
 */
int rnic_dma_attach(struct rnic_dev *dev, const char *dma)
{
	int rc = -EINVAL;

	if (!strcmp(dma, "bounce"))
		rc = attach_bounce(dev);
	else if (!strcmp(dma, "direct"))
		rc = attach_platform(dev);
	else if (!strcmp(dma, "iommu"))
		rc = attach_pci(dev);
	if (rc)
		return rc;
	dev_set_drvdata(dev->device, dev);
	dma_set_max_seg_size(dev->device, UINT_MAX);
	rc = dma_coerce_mask_and_coherent(dev->device, DMA_BIT_MASK(64));
	if (rc)
		rnic_dma_detach(dev);
	return rc;
}

/**
 * rnic_dma_detach() - give back what rnic_dma_attach() took
 * @dev: device
 *
 * Context: Process context.
 */
void rnic_dma_detach(struct rnic_dev *dev)
{
	dev_set_drvdata(dev->device, NULL);
	if (dev->domain)
		pci_dev_put(to_pci_dev(dev->device));
	else
		platform_device_unregister(to_platform_device(dev->device));
}

/**
 * rnic_dma_check_empty() - report mappings that are left, and free them
 * @dev: device that no client uses any more
 */
void rnic_dma_check_empty(struct rnic_dev *dev)
{
	struct rnic_page *page;
	unsigned long pfn;

	if (dev->dma.nr_mappings)
		rnic_violation(dev, "%u mappings are left", dev->dma.nr_mappings);
	xa_for_each(&dev->dma.pages, pfn, page)
		free_page_of(page);
	xa_destroy(&dev->dma.pages);
}

/* Access one page, or what the kernel's own DMA has at ADDR; bytes or a negative errno. */
static int access_page(struct rnic_dev *dev, u64 addr, void *buf, u32 len, bool write)
{
	u32 off = offset_in_page(addr), n = min_t(u32, len, PAGE_SIZE - off);
	struct rnic_dma *dma = &dev->dma;
	const char *wrong = NULL;
	struct rnic_page *page;
	unsigned long flags;

	spin_lock_irqsave(&dma->lock, flags);
	page = xa_load(&dma->pages, addr >> PAGE_SHIFT);
	if (!page)
		wrong = "not mapped";
	else if (off < page->lo || off + n > page->hi)
		wrong = "outside of the mapping";
	else if (write ? !is_from_device(page->dir) : !is_to_device(page->dir))
		wrong = "mapped for another direction";
	else if (write)
		memcpy(page->shadow + off, buf, n);
	else
		memcpy(buf, page->shadow + off, n);
	spin_unlock_irqrestore(&dma->lock, flags);
	if (!wrong)
		return n;
	rnic_violation(dev, "%s of the device at %llx, %u bytes: %s", write ? "write" : "read",
		       addr, n, wrong);
	return -EFAULT;
}

static int access_direct(struct rnic_dev *dev, u64 addr, void *buf, u32 len, bool write)
{
	u32 n = min_t(u32, len, PAGE_SIZE - offset_in_page(addr));
	phys_addr_t phys = dev->domain ? iommu_iova_to_phys(dev->domain, addr) :
					 dma_to_phys(dev->device, addr);

	if (phys < PAGE_SIZE || !pfn_valid(PHYS_PFN(phys))) {
		rnic_violation(dev, "access of the device to %llx, which is no memory", addr);
		return -EFAULT;
	}
	if (write)
		memcpy(phys_to_virt(phys), buf, n);
	else
		memcpy(buf, phys_to_virt(phys), n);
	return n;
}

/**
 * rnic_dma_access() - the device reads or writes memory
 * @dev: device
 * @addr: DMA address
 * @buf: what is written, or where to
 * @len: bytes
 * @write: write to the memory
 *
 * Context: The engine.
 * Return: 0, or -EFAULT after a violation.
 */
int rnic_dma_access(struct rnic_dev *dev, u64 addr, void *buf, u32 len, bool write)
{
	int n;

	for (; len; addr += n, buf += n, len -= n) {
		n = dev->is_bounce ? access_page(dev, addr, buf, len, write) :
				     access_direct(dev, addr, buf, len, write);
		if (n < 0)
			return n;
	}
	return 0;
}

/**
 * rnic_dma_pin() - count that a registered MR uses a page
 * @dev: device
 * @addr: DMA address in the page
 * @by: 1, or -1 when it is registered no longer
 *
 * An unmap of a page in use is a violation.
 *
 * Return: false if the page is not mapped.
 */
bool rnic_dma_pin(struct rnic_dev *dev, u64 addr, int by)
{
	struct rnic_dma *dma = &dev->dma;
	struct rnic_page *page;
	unsigned long flags;

	if (!dev->is_bounce)
		return true;
	spin_lock_irqsave(&dma->lock, flags);
	page = xa_load(&dma->pages, addr >> PAGE_SHIFT);
	if (page)
		page->pins += by;
	spin_unlock_irqrestore(&dma->lock, flags);
	return page;
}
