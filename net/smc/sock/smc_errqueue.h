/* SPDX-License-Identifier: GPL-2.0 */
/* Notices about sent data: MSG_ERRQUEUE. */
#ifndef SMC_ERRQUEUE_H
#define SMC_ERRQUEUE_H

#include "group/smc_conn.h"

void smc_errqueue_prepare(struct smc_conn *conn, u32 tsflags);
void smc_errqueue_request(struct smc_conn *conn, u32 tsflags);
u64 smc_errqueue_next(struct smc_conn *conn, u64 pos);
u64 smc_errqueue_base(const struct smc_conn *conn);
void smc_errqueue_discard(struct smc_conn *conn);
void smc_errqueue_report(struct smc_conn *conn);

int smc_errqueue_zerocopy_begin(struct sock *sk, const struct msghdr *msg, size_t len,
				size_t pinned, struct ubuf_info **uarg);
void smc_errqueue_zerocopy_end(struct ubuf_info *uarg, bool was_sent, bool is_copied);

#endif /* SMC_ERRQUEUE_H */
