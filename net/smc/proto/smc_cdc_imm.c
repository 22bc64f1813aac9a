// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate data in place of a CDC message; the protocol and its reasons are in protocol.md.
 *
 * It announces bytes and nothing else: the sequence number and the producer cursor follow from the
 * message before, the consumer cursor is the one last sent, and B is set if it fills the element.
 */
#include "proto/smc_cdc_imm.h"

/**
 * smc_cdc_may_use_imm() - decide whether immediate data can announce a transfer
 * @ctl: the control block
 * @len: bytes to be written, at most the window and the write limit
 *
 * Not where the message has to say more: P, U, a consumer cursor. Not before the peer is known
 * to have applied a CDC of the link in use.
 *
 * Context: The connection's lock is held until the transfer was posted.
 * Return: true if smc_cdc_build_imm() may take the place of smc_cdc_build().
 */
bool smc_cdc_may_use_imm(const struct smc_cdc_ctl *ctl, u32 len)
{
	return smc_cdc_imm_says_all(ctl, len) && !smc_cdc_has_urgent(ctl) && smc_cdc_may_write(ctl);
}

/**
 * smc_cdc_apply_imm() - apply received immediate data
 * @ctl: the control block of the connection that it names
 * @link_num: number of the link it came on
 * @step: bytes it announces, from smc_imm_get_step()
 *
 * Valid only on the link of the last CDC that was applied: on another one it is late, and a CDC
 * has announced its bytes, or its connection had the same name before.
 *
 * The element is full: B. It may look less full here than to the sender, but then a consumer cursor
 * is under way that ends its wait.
 *
 * Context: The connection's lock is held.
 * Return: As smc_cdc_apply().
 */
u32 smc_cdc_apply_imm(struct smc_cdc_ctl *ctl, u8 link_num, u32 step)
{
	struct smc_cdc_msg msg = {
		.seq = ctl->rx_seq + 1,
		.cons = smc_edge_cursor(&ctl->tx_edge, ctl->tx_cons),
		.link_num = link_num,
	};
	u64 prod = ctl->rx_prod + step;
	u64 used = prod - ctl->rx_cons_sent;

	if (!link_num || link_num != ctl->rx_link_num ||
	    ctl->rx_conn_flags & SMC_CDC_FINAL || ctl->tx_conn_flags & SMC_CDC_ABORT)
		return SMC_EV_STALE;
	if (used > smc_edge_space(&ctl->rx_edge))
		return SMC_EV_INVALID;
	msg.prod = smc_edge_cursor(&ctl->rx_edge, prod);
	if (used == smc_edge_space(&ctl->rx_edge))
		msg.prod_flags = SMC_CDC_BLOCKED;
	return smc_cdc_apply(ctl, &msg);
}
