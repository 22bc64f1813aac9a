// SPDX-License-Identifier: GPL-2.0
/*
 * Recorded exchanges between two machines with this module: version 1 in both dialects,
 * version 2.1 over IPv4, over IPv6 and through a gateway. A reader that shares no code with
 * the codecs wrote down the meaning of each message. The codecs must decode the same
 * meaning, and encode it to the same bytes.
 */
#include <linux/slab.h>

#include "smc_kunit.h"
#include "smc_kunit_clc.h"

#include "../../../net/smc/proto/smc_cdc_wire.h"
#include "../../../net/smc/proto/smc_clc_wire.h"
#include "../../../net/smc/proto/smc_llc_v2.h"

enum own_codec { OWN_CLC, OWN_LLC, OWN_CDC };

union own_says {
	struct smc_clc_msg clc;
	struct smc_llc_msg llc;
	struct smc_cdc_msg cdc;
};

/**
 * struct own_message - a message and its meaning
 * @name: its number in the exchange, and its type
 * @codec: the codec of the message
 * @len: of @bytes
 * @bytes: as on the wire
 * @says: their meaning
 * @nr_pairs: the number of RMBs in a long ADD LINK
 * @pair: their keys
 */
struct own_message {
	const char *name;
	enum own_codec codec;
	u32 len;
	u8 bytes[192];
	union own_says says;
	u32 nr_pairs;
	struct smc_llc_pair pair[2];
};

struct own_exchange {
	const char *name;
	enum smc_llc_form form;
	enum smc_dialect dialect;
	const struct own_message *msgs;
	unsigned int nr;
};

#include "smc_own_vectors.h"

KUNIT_ARRAY_PARAM_DESC(own_exchange, own_exchanges, name);

/* Decode @len bytes of a message from an allocation of that size. */
static bool own_decode(struct kunit *test, const struct own_message *msg, u32 len,
		       union own_says *says)
{
	const struct own_exchange *ex = test->param_value;
	u8 *copy = kmalloc(max(len, 1U), GFP_KERNEL);
	bool is_good = false;

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, msg->bytes, len);
	memset(says, 0, sizeof(*says));
	switch (msg->codec) {
	case OWN_CLC:
		is_good = smc_clc_decode(copy, len, &says->clc) == SMC_CLC_OK;
		break;
	case OWN_LLC:
		is_good = smc_llc_form_decode(ex->form, copy, len, ex->dialect, &says->llc) ==
			  SMC_LLC_OK;
		break;
	case OWN_CDC:
		is_good = !smc_cdc_decode(copy, len, &says->cdc);
		break;
	}
	kfree(copy);
	return is_good;
}

/* Encode a message; returns its length. */
static int own_encode(struct kunit *test, const struct own_message *msg, u8 *buf, u32 size)
{
	const struct smc_llc_more more = { .nr = msg->nr_pairs, .pair = msg->pair };
	const struct own_exchange *ex = test->param_value;

	switch (msg->codec) {
	case OWN_CLC:
		return smc_kunit_clc_encode(&msg->says.clc, buf, size);
	case OWN_LLC:
		return smc_llc_form_encode(ex->form, &msg->says.llc, more.nr ? &more : NULL,
					   ex->dialect, buf, size);
	case OWN_CDC:
		smc_cdc_encode(&msg->says.cdc, buf);
		return SMC_CDC_LEN;
	}
	return 0;
}

/* Cursors have a gap, which does not count. */
static bool own_is_cdc(const struct smc_cdc_msg *a, const struct smc_cdc_msg *b)
{
	return a->seq == b->seq && a->token == b->token &&
	       smc_cursor_is_equal(a->prod, b->prod) && smc_cursor_is_equal(a->cons, b->cons) &&
	       a->prod_flags == b->prod_flags && a->conn_flags == b->conn_flags;
}

static void clc_06_llc_07_cdc_01_what_we_say_is_read(struct kunit *test)
{
	const struct own_exchange *ex = test->param_value;
	const struct own_message *msg;
	struct smc_llc_pair pair;
	union own_says says;
	u32 i;

	for (msg = ex->msgs; msg < ex->msgs + ex->nr; msg++) {
		KUNIT_ASSERT_TRUE_MSG(test, own_decode(test, msg, msg->len, &says), "%s",
				      msg->name);
		if (msg->codec == OWN_CDC)
			KUNIT_EXPECT_TRUE_MSG(test, own_is_cdc(&says.cdc, &msg->says.cdc), "%s",
					      msg->name);
		else
			KUNIT_EXPECT_MEMEQ_MSG(test, &says, &msg->says, sizeof(says), "%s",
					       msg->name);
		for (i = 0; i < msg->nr_pairs; i++) {
			smc_llc_form_pair(msg->bytes, i, &pair);
			KUNIT_EXPECT_MEMEQ_MSG(test, &pair, &msg->pair[i], sizeof(pair), "%s",
					       msg->name);
		}
	}
}

static void clc_06_llc_07_cdc_01_the_same_is_said(struct kunit *test)
{
	const struct own_exchange *ex = test->param_value;
	const struct own_message *msg;
	u8 buf[256];

	for (msg = ex->msgs; msg < ex->msgs + ex->nr; msg++) {
		memset(buf, 0xa5, sizeof(buf));
		KUNIT_ASSERT_EQ_MSG(test, own_encode(test, msg, buf, sizeof(buf)), (int)msg->len,
				    "%s", msg->name);
		KUNIT_EXPECT_MEMEQ_MSG(test, buf, msg->bytes, msg->len, "%s", msg->name);
		KUNIT_EXPECT_EQ_MSG(test, buf[msg->len], 0xa5, "%s", msg->name);
	}
}

static void err_16_what_we_say_is_not_read_in_part(struct kunit *test)
{
	const struct own_exchange *ex = test->param_value;
	const struct own_message *msg;
	union own_says says;
	u32 len, least;

	for (msg = ex->msgs; msg < ex->msgs + ex->nr; msg++) {
		/* the rest of a CDC is reserved */
		least = msg->codec == OWN_CDC ? SMC_CDC_USED_LEN : msg->len;
		for (len = 0; len < least; len++)
			KUNIT_EXPECT_FALSE_MSG(test, own_decode(test, msg, len, &says),
					       "%s, %u bytes", msg->name, len);
	}
}

static struct kunit_case own_cases[] = {
	KUNIT_CASE_PARAM(clc_06_llc_07_cdc_01_what_we_say_is_read, own_exchange_gen_params),
	KUNIT_CASE_PARAM(clc_06_llc_07_cdc_01_the_same_is_said, own_exchange_gen_params),
	KUNIT_CASE_PARAM(err_16_what_we_say_is_not_read_in_part, own_exchange_gen_params),
	{}
};

static struct kunit_suite smc_own_suite = {
	.name = "smc_own",
	.test_cases = own_cases,
};

kunit_test_suite(smc_own_suite);
