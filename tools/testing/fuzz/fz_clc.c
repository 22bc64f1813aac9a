// SPDX-License-Identifier: GPL-2.0
/* CLC messages of all versions: what decodes is encoded, and decodes to the same. */
#include "fz.h"

#include "proto/smc_clc_wire.h"

static void check_decoded(const struct smc_clc_msg *msg)
{
	const struct smc_clc_proposal *prop = &msg->proposal;
	unsigned int i;

	switch (msg->type) {
	case SMC_CLC_PROPOSAL:
		FZ_CHECK(prop->nr_prefixes <= SMC_CLC_PREFIXES_MAX);
		for (i = 0; i < prop->nr_prefixes; i++)
			FZ_CHECK(prop->prefix[i].len <= 128);
		FZ_CHECK(prop->subnet_len <= 32);
		FZ_CHECK(prop->v2.nr_eids <= SMC_CLC_EIDS_MAX);
		break;
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		FZ_CHECK(msg->accept.rmbe_index);
		FZ_CHECK(msg->accept.qpn < 1 << 24 && msg->accept.psn < 1 << 24);
		FZ_CHECK(msg->accept.size_code <= 15);
		FZ_CHECK(msg->accept.nr_gids <= SMC_CLC_GIDS_MAX);
		break;
	default:
		FZ_CHECK(msg->type == SMC_CLC_DECLINE);
	}
}

/*
 * The encoder writes two versions, and Proposals that offer one of them. Other hosts' Proposals
 * may also name subnets without an offer of version 1.
 */
static bool is_encodable(const struct smc_clc_msg *msg)
{
	const struct smc_clc_proposal *prop = &msg->proposal;

	if (msg->version != SMC_CLC_V1 && msg->version != SMC_CLC_V2)
		return false;
	return msg->type != SMC_CLC_PROPOSAL || prop->offers_v1 ||
	       (prop->offers_v2 && !prop->has_subnets);
}

/* decode(encode(@msg)) is @msg, and its bytes are canonical. */
static void check_round_trip(const struct smc_clc_msg *msg)
{
	u8 once[SMC_CLC_MSG_MAX_LEN], twice[SMC_CLC_MSG_MAX_LEN];
	struct smc_clc_msg again;
	enum smc_clc_type type;
	size_t len;
	u16 peek;

	len = smc_clc_encode(msg, once);
	FZ_CHECK(len && len <= sizeof(once));
	FZ_CHECK(smc_clc_peek(once, &peek, &type) == SMC_CLC_OK);
	FZ_CHECK(peek == len && type == msg->type);
	FZ_CHECK(smc_clc_decode(once, len, &again) == SMC_CLC_OK);
	FZ_CHECK(!memcmp(msg, &again, sizeof(again)));
	FZ_CHECK(smc_clc_encode(&again, twice) == len);
	FZ_CHECK(!memcmp(once, twice, sizeof(once)));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fz_in in = { data, size };
	struct smc_clc_msg msg;
	enum smc_clc_type type;
	size_t len, short_len;
	u8 *bytes;
	u16 peek;

	bytes = fz_rest(&in, &len);
	if (len >= SMC_CLC_HDR_LEN && smc_clc_peek(bytes, &peek, &type) == SMC_CLC_OK)
		FZ_CHECK(peek <= SMC_CLC_MSG_MAX_LEN && peek > SMC_CLC_HDR_LEN);
	if (smc_clc_decode(bytes, len, &msg) == SMC_CLC_OK) {
		check_decoded(&msg);
		for (short_len = 0; short_len < len; short_len++)
			FZ_CHECK(smc_clc_decode(bytes, short_len, &msg) != SMC_CLC_OK);
		FZ_CHECK(smc_clc_decode(bytes, len, &msg) == SMC_CLC_OK);
		if (is_encodable(&msg))
			check_round_trip(&msg);
	}
	free(bytes);
	return 0;
}
