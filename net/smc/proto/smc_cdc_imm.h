/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Immediate data in place of a CDC message, between two hosts with this module (protocol.md).
 *
 * The upper half of the 32 bits names the receiver's connection, the lower half is the advance of
 * the producer cursor in bytes, 0 for 65536. The name is a part of the alert token; 0 names none.
 */
#ifndef _SMC_CDC_IMM_H
#define _SMC_CDC_IMM_H

#include "proto/smc_cdc_wire.h"

#define SMC_IMM_STEP_MAX	0x10000U

/* A connection's name in immediate data, or 0 if its token has none */
static inline u16 smc_imm_name(u32 token)
{
	return token & 0xff00 ? 0 : (token >> 8 & 0xff00) | (token & 0xff);
}

/* The index of a connection in its table */
static inline u8 smc_imm_index(u16 name)
{
	return name & 0xff;
}

static inline u16 smc_imm_get_name(u32 imm)
{
	return imm >> 16;
}

static inline u32 smc_imm_get_step(u32 imm)
{
	return imm & 0xffff ?: SMC_IMM_STEP_MAX;
}

/*
 * Return: true if immediate data may announce @len bytes where no urgent data and no end is to be
 * sent. The peer must wait for no consumer cursor, and need none to begin with immediate data.
 * Otherwise the message with data takes it along, before it is worth a message of its own (WIN-02).
 */
static inline bool smc_cdc_imm_says_all(const struct smc_cdc_ctl *ctl, u32 len)
{
	u32 read = READ_ONCE(ctl->rx_cons) - ctl->rx_cons_sent;

	if (!ctl->tx_imm_name || ctl->tx_cons < ctl->tx_proof || len - 1 >= SMC_IMM_STEP_MAX)
		return false;
	return !read || (read < ctl->rx_edge.size / 10 && ctl->rx_cons_sent >= ctl->rx_proof &&
			 !smc_cdc_is_update_awaited(ctl));
}

/*
 * Build the next immediate data, in host order, for @len bytes for which smc_cdc_may_use_imm() was
 * true under the same hold of the lock, and commit it. Takes a sequence number. RFC 7609 A.4
 * (BLK-05, CDC-03, CDC-07).
 */
static inline u32 smc_cdc_build_imm(struct smc_cdc_ctl *ctl, u32 len)
{
	ctl->tx_sent += len;
	ctl->tx_seq++;
	ctl->tx_prod_flags = smc_cdc_window(ctl) ? 0 : SMC_CDC_BLOCKED;
	return (u32)ctl->tx_imm_name << 16 | (u16)len;
}

bool smc_cdc_may_use_imm(const struct smc_cdc_ctl *ctl, u32 len);
u32 smc_cdc_apply_imm(struct smc_cdc_ctl *ctl, u8 link_num, u32 step);

#endif /* _SMC_CDC_IMM_H */
