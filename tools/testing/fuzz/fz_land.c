// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a record of a landing: what is accepted lies within what was sent. */
#include "fz.h"

#include "proto/smc_land_wire.h"

static u64 fz_pos(struct fz_in *in)
{
	return (u64)fz_u8(in) << 32 | fz_u32(in);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fz_in in = { data, size };
	u8 buf[SMC_LAND_LEN], again[SMC_LAND_LEN];
	struct smc_cdc_ctl ctl = {};
	struct smc_land_msg msg = {};
	u64 pos, next;

	fz_take(&in, buf, sizeof(buf));
	if (smc_land_decode(buf, &msg)) {
		/* the rest of the input may still be the values of one */
		msg = (struct smc_land_msg){ .conn_flags = fz_u8(&in), .received = fz_pos(&in),
					     .consumed = fz_pos(&in), .urgent = fz_pos(&in) };
		smc_land_encode(&msg, buf);
		FZ_CHECK(!smc_land_decode(buf, &msg));
	}
	smc_land_encode(&msg, again);
	FZ_CHECK(smc_land_may_begin(again, sizeof(again)));
	ctl.tx_cons = fz_pos(&in);
	ctl.tx_fin = ctl.tx_cons + fz_u32(&in);
	ctl.tx_sent = ctl.tx_fin + fz_u32(&in);
	ctl.rx_prod = fz_pos(&in);
	ctl.tx_urg_sent = fz_pos(&in);
	ctl.tx_urg = fz_pos(&in);
	if (!smc_land_check(&ctl, msg.token, &msg)) {
		FZ_CHECK(msg.received >= ctl.tx_fin && msg.received <= ctl.tx_sent);
		FZ_CHECK(msg.consumed >= ctl.tx_cons && msg.consumed <= msg.received);
	}
	pos = fz_pos(&in);
	next = smc_land_next_mark(&ctl, pos);
	FZ_CHECK(next > pos);
	return 0;
}
