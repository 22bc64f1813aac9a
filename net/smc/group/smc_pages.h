/* SPDX-License-Identifier: GPL-2.0 */
/* Ranges of the stream that are sent from pages in place of the send ring. */
#ifndef SMC_PAGES_H
#define SMC_PAGES_H

#include "group/smc_conn.h"

/* A smaller range is copied. */
#define SMC_PAGES_MIN	8192

/* A contiguous piece of the source of a range; @page is NULL if it is in the ring. */
struct smc_piece {
	struct page *page;
	u32 off;
	u32 len;
};

struct sk_buff *smc_pages_take(struct iov_iter *iter, u32 len, struct ubuf_info *uarg, gfp_t gfp);
void smc_pages_place(struct sk_buff *skb, u64 pos);
u64 smc_pages_begin(const struct sk_buff *skb);
u64 smc_pages_end(const struct sk_buff *skb);
void smc_pages_add(struct smc_conn *conn, struct sk_buff *skb);
void smc_pages_piece(const struct smc_conn *conn, u64 pos, u32 len, struct smc_piece *piece);
void smc_pages_to_ring(struct smc_conn *conn);
void smc_pages_reap(struct smc_conn *conn);

#endif /* SMC_PAGES_H */
