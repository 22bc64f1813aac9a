/* SPDX-License-Identifier: GPL-2.0 */
/* CDC messages: posted behind the writes they announce, and applied on arrival. */
#ifndef SMC_CDC_H
#define SMC_CDC_H

#include "group/smc_conn.h"

/* Bits of smc_conn.attn with which smc_cdc_post_short() must not be called */
#define SMC_CDC_POSTS_LONG (SMC_ATTN_PHASE | SMC_ATTN_END | SMC_ATTN_URG | SMC_ATTN_CORK | \
			    SMC_ATTN_NOTICE | SMC_ATTN_PEER | SMC_ATTN_HELD | SMC_ATTN_MEMORY)

bool smc_cdc_post_short(struct smc_conn *conn, struct smc_link *link);
int smc_cdc_post(struct smc_conn *conn, struct smc_wr_slot *slot, struct smc_xfer *xfer);
int smc_cdc_post_validation(struct smc_conn *conn, struct smc_wr_slot *slot);
int smc_cdc_post_replay(struct smc_conn *conn, struct smc_wr_slot *slot);
void smc_cdc_rx(struct smc_wr *wr, const u8 *msg, u32 len);
void smc_cdc_rx_imm(struct smc_wr *wr, u32 imm);

#endif /* SMC_CDC_H */
