/* SPDX-License-Identifier: GPL-2.0 */
/* The record by which a connection goes back to TCP (protocol.md, "Landing"). */
#ifndef _SMC_LAND_WIRE_H
#define _SMC_LAND_WIRE_H

#include <linux/types.h>

#include "proto/smc_cdc_wire.h"

#define SMC_LAND_LEN	44

/**
 * struct smc_land_msg - what a side tells when it has stopped its use of all links
 * @token: the receiver's alert token
 * @conn_flags: D, C: this side has ended its stream, or closed; the end itself follows on TCP
 * @received: bytes of the receiver's stream that came in order; the rest is to follow on TCP
 * @consumed: those of them that the application has read
 * @urgent: position behind the last urgent byte of this side's stream, 0 for none
 */
struct smc_land_msg {
	u32 token;
	u8 conn_flags;
	u64 received;
	u64 consumed;
	u64 urgent;
};

void smc_land_encode(const struct smc_land_msg *msg, u8 buf[SMC_LAND_LEN]);
bool smc_land_may_begin(const u8 *buf, size_t len);
int smc_land_decode(const u8 buf[SMC_LAND_LEN], struct smc_land_msg *msg);
int smc_land_check(const struct smc_cdc_ctl *ctl, u32 token, const struct smc_land_msg *msg);
void smc_land_build(const struct smc_cdc_ctl *ctl, u32 token, struct smc_land_msg *msg);
u64 smc_land_next_mark(const struct smc_cdc_ctl *ctl, u64 pos);

#endif /* _SMC_LAND_WIRE_H */
