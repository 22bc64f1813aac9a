/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an RDMA device can do: whether it serves at all, and the sizes that it allows.
 */
#ifndef SMC_CAP_H
#define SMC_CAP_H

#include <linux/types.h>

struct ib_device;
struct ib_pd;
struct ib_qp;
struct ib_qp_init_attr;

#define SMC_CAP_MIN_SGE		2	/* of a send: the source ring wraps once */
#define SMC_CAP_MAX_SGE		16	/* of a send: pages take one each */
#define SMC_CAP_INLINE		256	/* the most inline data that is of use */
#define SMC_CAP_MIN_DEPTH	41	/* work requests of a send queue with the fewest slots */
#define SMC_CAP_MIN_REGION	16384	/* bytes of the smallest element */
#define SMC_CAP_REGION_PAGES	511	/* of the device, in a region: mlx4 has no more */

/* Why a device cannot carry links, in the order of the checks */
#define SMC_CAP_LACKS(X) \
	X(NOTHING, "") \
	X(IWARP, "it speaks iWARP, not RoCE") \
	X(ROCE, "no port speaks RoCE") \
	X(VERBS, "its driver serves user space only") \
	X(REG, "it cannot register memory by work requests") \
	X(IOVA, "its driver does not support chosen addresses of registered memory") \
	X(SGE, "a work request has too few scatter/gather elements") \
	X(DEPTH, "its queues have too few work requests") \
	X(PAGES, "a memory region has too few pages") \
	X(OPERATOR, "an operator has stopped it")

enum smc_cap_lack {
#define SMC_CAP_LACK_ID(id, ...) SMC_CAP_LACKS_##id,
	SMC_CAP_LACKS(SMC_CAP_LACK_ID)
#undef SMC_CAP_LACK_ID
};

/**
 * struct smc_cap - sizes that a device allows, const but for @shape
 * @page_size: bytes, of the pages in a registration
 * @max_pages: pages of the CPU that one registration covers
 * @region_pages: the same that a region of several elements should have at most
 * @max_segment: bytes that are mapped in one piece
 * @shape: the first row of smc_cap_shapes that it has not refused
 */
struct smc_cap {
	u32 page_size;
	u32 max_pages;
	u32 region_pages;
	u32 max_segment;
	unsigned int shape;
};

enum smc_cap_lack smc_cap_lack(const struct ib_device *ibdev, u8 nr_ports);
const char *smc_cap_lack_text(enum smc_cap_lack lack);
void smc_cap_init(struct smc_cap *cap, struct ib_device *ibdev);
struct ib_qp *smc_cap_create_qp(struct smc_cap *cap, struct ib_pd *pd,
				struct ib_qp_init_attr *attr);

#endif /* SMC_CAP_H */
