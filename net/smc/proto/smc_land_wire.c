// SPDX-License-Identifier: GPL-2.0
/*
 * Codec and checks of the landing record (protocol.md, "Landing").
 *
 * The record has the shape of a CLC message, of a type that CLC does not have, so that a capture
 * shows what it is.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "proto/smc_land_wire.h"

#define LAND_TYPE	0x20
#define LAND_VERSION	0x10

struct land_wire {
	__be32	eye_catcher;
	u8	type;
	__be16	length;
	u8	version;
	__be32	token;
	u8	conn_flags;
	u8	rsvd[3];
	__be64	received;
	__be64	consumed;
	__be64	urgent;
	__be32	trailer;
} __packed;
SMC_WIRE_SIZE(land_wire, SMC_LAND_LEN);

/* What precedes the first field with a value of its own */
#define LAND_HDR_LEN	offsetof(struct land_wire, token)

static const u8 land_hdr[LAND_HDR_LEN] = {
	SMC_EYE_SMCR >> 24, SMC_EYE_SMCR >> 16 & 0xff, SMC_EYE_SMCR >> 8 & 0xff,
	SMC_EYE_SMCR & 0xff, LAND_TYPE, 0, SMC_LAND_LEN, LAND_VERSION,
};

/**
 * smc_land_encode() - encode a record
 * @msg: the record
 * @buf: receives it; reserved bytes are zero
 *
 * Context: Any context.
 */
void smc_land_encode(const struct smc_land_msg *msg, u8 buf[SMC_LAND_LEN])
{
	struct land_wire *w = (struct land_wire *)buf;

	memset(w, 0, sizeof(*w));
	memcpy(w, land_hdr, LAND_HDR_LEN);
	w->token = cpu_to_be32(msg->token);
	w->conn_flags = msg->conn_flags;
	w->received = cpu_to_be64(msg->received);
	w->consumed = cpu_to_be64(msg->consumed);
	w->urgent = cpu_to_be64(msg->urgent);
	w->trailer = cpu_to_be32(SMC_EYE_SMCR);
}

/**
 * smc_land_may_begin() - check whether bytes can be the beginning of a record
 * @buf: the bytes
 * @len: their number
 *
 * Context: Any context.
 * Return: false if not.
 */
bool smc_land_may_begin(const u8 *buf, size_t len)
{
	return !memcmp(buf, land_hdr, min_t(size_t, len, LAND_HDR_LEN));
}

/**
 * smc_land_decode() - decode a record
 * @buf: the record
 * @msg: receives it; only written on success
 *
 * Reserved bytes are not checked. smc_land_check() checks the values.
 *
 * Context: Any context.
 * Return: 0, or -EBADMSG.
 */
int smc_land_decode(const u8 buf[SMC_LAND_LEN], struct smc_land_msg *msg)
{
	const struct land_wire *w = (const struct land_wire *)buf;

	if (!smc_land_may_begin(buf, SMC_LAND_LEN) || be32_to_cpu(w->trailer) != SMC_EYE_SMCR)
		return -EBADMSG;
	msg->token = be32_to_cpu(w->token);
	msg->conn_flags = w->conn_flags;
	msg->received = be64_to_cpu(w->received);
	msg->consumed = be64_to_cpu(w->consumed);
	msg->urgent = be64_to_cpu(w->urgent);
	return 0;
}

/**
 * smc_land_check() - check a received record against what this side knows
 * @ctl: the control block of the connection, which sends and applies nothing more
 * @token: our alert token
 * @msg: the record
 *
 * What was acknowledged to this side has left its ring. So a peer that has not received all of it
 * has lost data, and one that reports more than was sent is at fault. An urgent byte
 * lies in what is still to come, or was announced before.
 *
 * Context: Any context; @ctl does not change meanwhile.
 * Return: 0; -EBADMSG if the connection must be reset.
 */
int smc_land_check(const struct smc_cdc_ctl *ctl, u32 token, const struct smc_land_msg *msg)
{
	if (msg->token != token || msg->conn_flags & ~(SMC_CDC_DONE | SMC_CDC_CLOSED))
		return -EBADMSG;
	if (msg->received < ctl->tx_fin || msg->received > ctl->tx_sent)
		return -EBADMSG;
	if (msg->consumed < ctl->tx_cons || msg->consumed > msg->received)
		return -EBADMSG;
	/* no ring is larger */
	if (msg->urgent > ctl->rx_prod && msg->urgent - ctl->rx_prod > SMC_ELEM_SIZE_MAX)
		return -EBADMSG;
	return 0;
}

/**
 * smc_land_build() - make the record of this side
 * @ctl: as for smc_land_check()
 * @token: the peer's alert token
 * @msg: receives the record
 *
 * Context: Any context.
 */
void smc_land_build(const struct smc_cdc_ctl *ctl, u32 token, struct smc_land_msg *msg)
{
	*msg = (struct smc_land_msg){
		.token = token,
		.conn_flags = ctl->tx_conn_flags & (SMC_CDC_DONE | SMC_CDC_CLOSED),
		.received = ctl->rx_prod,
		.consumed = ctl->rx_cons,
		.urgent = max3(ctl->tx_urg, ctl->tx_urg_last, ctl->tx_urg_sent),
	};
}

/**
 * smc_land_next_mark() - find the next urgent byte that goes over TCP
 * @ctl: the control block
 * @pos: position that TCP has reached
 *
 * Context: Any context.
 * Return: position behind the byte; U64_MAX if none follows.
 */
u64 smc_land_next_mark(const struct smc_cdc_ctl *ctl, u64 pos)
{
	const u64 marks[] = { ctl->tx_urg_sent, ctl->tx_urg, ctl->tx_urg_last };
	u64 next = U64_MAX;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marks); i++)
		if (marks[i] > pos)
			next = min(next, marks[i]);
	return next;
}
