// SPDX-License-Identifier: GPL-2.0
/* The record of a landing, and two control blocks that land at any moment. */
#include "smc_kunit.h"
#include <linux/prandom.h>

#include "../../../net/smc/proto/smc_land_wire.c"

#define SIZE	4096U
#define TOKEN	0x01020304U
#define FLIGHTS	8
#define URG_STEP 7

static const u8 example[SMC_LAND_LEN] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x20, 0x00, 0x2c, 0x10,
	0x01, 0x02, 0x03, 0x04, 0x80, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x07,
	0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x05,
	0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00,
	0xe2, 0xd4, 0xc3, 0xd9,
};

static const struct smc_land_msg example_msg = {
	.token = TOKEN, .conn_flags = SMC_CDC_DONE, .received = 0x100000007,
	.consumed = 0x100000005, .urgent = 0x200000000,
};

static void the_record_has_its_layout(struct kunit *test)
{
	struct smc_land_msg msg = {};
	u8 buf[SMC_LAND_LEN];

	smc_land_encode(&example_msg, buf);
	KUNIT_EXPECT_MEMEQ(test, buf, example, sizeof(example));
	KUNIT_ASSERT_EQ(test, smc_land_decode(example, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.token, example_msg.token);
	KUNIT_EXPECT_EQ(test, msg.conn_flags, example_msg.conn_flags);
	KUNIT_EXPECT_EQ(test, msg.received, example_msg.received);
	KUNIT_EXPECT_EQ(test, msg.consumed, example_msg.consumed);
	KUNIT_EXPECT_EQ(test, msg.urgent, example_msg.urgent);
}

/* Each byte of the frame counts, from the first one that comes. */
static void other_bytes_are_no_record(struct kunit *test)
{
	struct smc_land_msg msg;
	u8 buf[SMC_LAND_LEN];
	size_t i;

	for (i = 0; i < SMC_LAND_LEN; i++) {
		bool is_frame = i < LAND_HDR_LEN || i >= offsetof(struct land_wire, trailer);

		memcpy(buf, example, sizeof(buf));
		buf[i] ^= 1;
		KUNIT_EXPECT_EQ(test, smc_land_decode(buf, &msg), is_frame ? -EBADMSG : 0);
		KUNIT_EXPECT_EQ(test, smc_land_may_begin(buf, i + 1), i >= LAND_HDR_LEN);
		KUNIT_EXPECT_TRUE(test, smc_land_may_begin(buf, i));
	}
}

/* A sender of 100 bytes, of which 40 are acknowledged; its peer has read 10. */
static void sender_init(struct smc_cdc_ctl *ctl)
{
	smc_cdc_ctl_init(ctl, 0, SIZE, SIZE, SIZE);
	ctl->tx_prep = 120;
	ctl->tx_sent = 100;
	ctl->tx_fin = 40;
	ctl->tx_cons = 10;
	ctl->rx_prod = 1000;
}

static void a_record_must_fit_what_was_acknowledged(struct kunit *test)
{
	static const struct {
		struct smc_land_msg msg;
		int rc;
	} rows[] = {
		{ { TOKEN, 0, 40, 10 }, 0 },
		{ { TOKEN, SMC_CDC_DONE | SMC_CDC_CLOSED, 100, 100 }, 0 },
		{ { TOKEN + 1, 0, 40, 10 }, -EBADMSG },
		{ { TOKEN, SMC_CDC_ABORT, 40, 10 }, -EBADMSG },
		{ { TOKEN, 1, 40, 10 }, -EBADMSG },
		/* lost what it had acknowledged */
		{ { TOKEN, 0, 39, 10 }, -EBADMSG },
		/* more than was sent, also if it is prepared */
		{ { TOKEN, 0, 101, 10 }, -EBADMSG },
		{ { TOKEN, 0, 0x100000028, 10 }, -EBADMSG },
		{ { TOKEN, 0, U64_MAX, 10 }, -EBADMSG },
		/* the reader went back, or ahead of the data */
		{ { TOKEN, 0, 40, 9 }, -EBADMSG },
		{ { TOKEN, 0, 40, 41 }, -EBADMSG },
		{ { TOKEN, 0, 40, U64_MAX }, -EBADMSG },
		/* an urgent byte is old, or within a ring */
		{ { TOKEN, 0, 40, 10, 999 }, 0 },
		{ { TOKEN, 0, 40, 10, 1000 + (u64)SMC_ELEM_SIZE_MAX }, 0 },
		{ { TOKEN, 0, 40, 10, 1001 + (u64)SMC_ELEM_SIZE_MAX }, -EBADMSG },
		{ { TOKEN, 0, 40, 10, U64_MAX }, -EBADMSG },
	};
	struct smc_cdc_ctl ctl;
	size_t i;

	sender_init(&ctl);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, smc_land_check(&ctl, TOKEN, &rows[i].msg), rows[i].rc,
				    "row %zu", i);
}

static void each_urgent_byte_that_did_not_arrive_is_found(struct kunit *test)
{
	struct smc_cdc_ctl ctl;

	sender_init(&ctl);
	KUNIT_EXPECT_EQ(test, smc_land_next_mark(&ctl, 40), U64_MAX);
	ctl.tx_urg_sent = 60;
	ctl.tx_urg = 110;
	ctl.tx_urg_last = 120;
	KUNIT_EXPECT_EQ(test, smc_land_next_mark(&ctl, 40), 60ULL);
	KUNIT_EXPECT_EQ(test, smc_land_next_mark(&ctl, 60), 110ULL);
	KUNIT_EXPECT_EQ(test, smc_land_next_mark(&ctl, 110), 120ULL);
	KUNIT_EXPECT_EQ(test, smc_land_next_mark(&ctl, 120), U64_MAX);
}

/* A message on the way: the peer may get it or not, this side may learn that it did or not. */
struct flight {
	struct smc_cdc_msg msg;
	u32 len;
	bool has_come;
};

struct side {
	struct smc_cdc_ctl ctl;
	struct flight flight[FLIGHTS];
	unsigned int nr;
};

struct world {
	struct side side[2];
	struct rnd_state rnd;
};

static void side_send(struct kunit *test, struct side *s)
{
	struct flight *f = &s->flight[s->nr];
	struct smc_xfer x;

	if (s->nr == FLIGHTS)
		return;
	smc_cdc_plan(&s->ctl, s->ctl.tx_message, &x);
	if (!x.len && !smc_cdc_is_needed(&s->ctl))
		return;
	*f = (struct flight){ .len = x.len };
	KUNIT_ASSERT_EQ(test, smc_cdc_build(&s->ctl, x.len ? &x : NULL, &f->msg), 0);
	s->nr++;
}

/* The oldest message that has not come. */
static void side_deliver(struct kunit *test, struct side *s, struct side *to)
{
	unsigned int i;
	u32 events;

	for (i = 0; i < s->nr && s->flight[i].has_come; i++)
		;
	if (i == s->nr)
		return;
	s->flight[i].has_come = true;
	events = smc_cdc_apply(&to->ctl, &s->flight[i].msg);
	KUNIT_ASSERT_FALSE(test, events & (SMC_EV_INVALID | SMC_EV_LOST));
}

static void side_complete(struct side *s)
{
	if (!s->nr || !s->flight[0].has_come)
		return;
	smc_cdc_done(&s->ctl, s->flight[0].msg.seq, s->flight[0].len);
	s->nr--;
	memmove(s->flight, s->flight + 1, s->nr * sizeof(s->flight[0]));
}

static void side_step(struct kunit *test, struct world *w, int who)
{
	struct side *s = &w->side[who], *peer = &w->side[!who];
	u32 rnd = prandom_u32_state(&w->rnd), n;

	switch (rnd % 6) {
	case 0:
		n = (rnd >> 8) % SIZE;
		n = min(n, SIZE - (u32)(s->ctl.tx_prep - s->ctl.tx_fin));
		s->ctl.tx_prep += n;
		if (n && !(rnd >> 24 & URG_STEP))
			smc_cdc_mark_urgent(&s->ctl);
		break;
	case 1:
		smc_cdc_consume(&s->ctl, (rnd >> 8) % (smc_cdc_readable(&s->ctl) + 1));
		break;
	case 2:
		side_send(test, s);
		break;
	case 3:
	case 4:
		side_deliver(test, s, peer);
		break;
	default:
		side_complete(s);
	}
}

/* What TCP carries begins where the peer's reader ends, and no byte of it has left the ring. */
static void side_land(struct kunit *test, struct side *s, const struct side *peer, u32 seed)
{
	struct smc_land_msg msg, again;
	u8 buf[SMC_LAND_LEN];

	smc_land_build(&peer->ctl, TOKEN, &msg);
	smc_land_encode(&msg, buf);
	KUNIT_ASSERT_EQ(test, smc_land_decode(buf, &again), 0);
	KUNIT_EXPECT_EQ_MSG(test, smc_land_check(&s->ctl, TOKEN, &again), 0, "seed %u", seed);
	KUNIT_EXPECT_EQ(test, again.received, peer->ctl.rx_prod);
	KUNIT_EXPECT_GE(test, again.received, s->ctl.tx_fin);
	KUNIT_EXPECT_LE(test, s->ctl.tx_prep - again.received, (u64)s->ctl.snd_size);
	/* a byte more, or one less than acknowledged, is noticed */
	again.received = s->ctl.tx_sent + 1;
	KUNIT_EXPECT_NE(test, smc_land_check(&s->ctl, TOKEN, &again), 0);
	again.received = s->ctl.tx_fin - 1;
	KUNIT_EXPECT_NE(test, smc_land_check(&s->ctl, TOKEN, &again), 0);
}

/* Messages are lost at any point, on both sides. */
static void two_sides_land_at_any_moment(struct kunit *test)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u32 seed, i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (seed = 1; seed <= 500; seed++) {
		memset(w, 0, sizeof(*w));
		prandom_seed_state(&w->rnd, seed);
		for (i = 0; i < 2; i++)
			smc_cdc_ctl_init(&w->side[i].ctl, 0, SIZE, SIZE, SIZE);
		for (i = prandom_u32_state(&w->rnd) % 400; i; i--)
			side_step(test, w, prandom_u32_state(&w->rnd) & 1);
		side_land(test, &w->side[0], &w->side[1], seed);
		side_land(test, &w->side[1], &w->side[0], seed);
	}
}

static struct kunit_case smc_land_wire_cases[] = {
	KUNIT_CASE(the_record_has_its_layout),
	KUNIT_CASE(other_bytes_are_no_record),
	KUNIT_CASE(a_record_must_fit_what_was_acknowledged),
	KUNIT_CASE(each_urgent_byte_that_did_not_arrive_is_found),
	KUNIT_CASE(two_sides_land_at_any_moment),
	{}
};

static struct kunit_suite smc_land_wire_suite = {
	.name = "smc_land_wire",
	.test_cases = smc_land_wire_cases,
};

kunit_test_suite(smc_land_wire_suite);
