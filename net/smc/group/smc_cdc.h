/* SPDX-License-Identifier: GPL-2.0 */
/* CDC messages: posted behind the writes they announce, and applied on arrival. */
#ifndef SMC_CDC_H
#define SMC_CDC_H

#include "group/smc_conn.h"

/* Return true if the socket asks for receive time stamps. */
static inline bool smc_cdc_has_stamps(const struct sock *sk)
{
	return sock_flag(sk, SOCK_RCVTSTAMP) ||
	       READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_RX_SOFTWARE;
}

bool smc_cdc_post_short(struct smc_conn *conn, struct smc_link *link);
int smc_cdc_post(struct smc_conn *conn, struct smc_wr_slot *slot, struct smc_xfer *xfer);
int smc_cdc_post_validation(struct smc_conn *conn, struct smc_wr_slot *slot);
int smc_cdc_post_replay(struct smc_conn *conn, struct smc_wr_slot *slot);
u32 smc_cdc_take_msg(struct smc_conn *conn, const struct smc_cdc_msg *msg, u8 link_num, u32 step);
void smc_cdc_rx(struct smc_wr *wr, const u8 *msg, u32 len);
void smc_cdc_rx_imm(struct smc_wr *wr, u32 imm);

#endif /* SMC_CDC_H */
