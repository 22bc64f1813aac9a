/* SPDX-License-Identifier: GPL-2.0 */
/* What a socket is told about the data it has sent: MSG_ERRQUEUE. */
#ifndef SMC_NOTICE_H
#define SMC_NOTICE_H

#include "group/smc_conn.h"

void smc_notice_prepare(struct smc_conn *conn, u32 tsflags);
void smc_notice_want(struct smc_conn *conn, u32 tsflags);
void smc_notice_forget(struct smc_conn *conn);
void smc_notice_tell(struct smc_conn *conn);

int smc_notice_zerocopy_begin(struct sock *sk, const struct msghdr *msg, size_t len,
			      struct ubuf_info **uarg);
void smc_notice_zerocopy_end(struct ubuf_info *uarg, bool was_sent);

#endif /* SMC_NOTICE_H */
