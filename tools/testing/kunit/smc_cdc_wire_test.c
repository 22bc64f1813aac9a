// SPDX-License-Identifier: GPL-2.0
/*
 * CDC codec and control block: messages recorded between deployed hosts, the
 * scenarios of RFC 7609 Section 4.7, every rule of Sections 4.3 to 4.6 and
 * A.4, and two machines with real bytes over a scripted wire.
 */
#include "smc_kunit.h"
#include <linux/prandom.h>

#include "../../../net/smc/proto/smc_cdc_wire.c"

/* The offsets of RFC 7609 Appendix A, and of what deployed peers send. */
SMC_WIRE_AT(smc_cursor_wire, wrap, 2);
SMC_WIRE_AT(smc_cursor_wire, off, 4);
SMC_WIRE_AT(smc_cdc_wire, length, 1);
SMC_WIRE_AT(smc_cdc_wire, seq, 2);
SMC_WIRE_AT(smc_cdc_wire, token, 4);
SMC_WIRE_AT(smc_cdc_wire, prod, 8);
SMC_WIRE_AT(smc_cdc_wire, prod.wrap, 10);
SMC_WIRE_AT(smc_cdc_wire, prod.off, 12);
SMC_WIRE_AT(smc_cdc_wire, cons, 16);
SMC_WIRE_AT(smc_cdc_wire, cons.wrap, 18);
SMC_WIRE_AT(smc_cdc_wire, cons.off, 20);
SMC_WIRE_AT(smc_cdc_wire, prod_flags, 24);
SMC_WIRE_AT(smc_cdc_wire, conn_flags, 25);
SMC_WIRE_AT(smc_cdc_wire, rsvd, 26);

static const struct smc_edge rfc_geom = { .size = 10000, .base = 4 };
static const struct smc_edge deployed_geom = { .size = 65536 };

#define B	SMC_CDC_BLOCKED
#define P	SMC_CDC_URG_PENDING
#define U	SMC_CDC_URG_PRESENT
#define R	SMC_CDC_UPDATE_REQ
#define F	SMC_CDC_FAILOVER
#define D	SMC_CDC_DONE
#define C	SMC_CDC_CLOSED
#define A	SMC_CDC_ABORT

/*
 * Recorded: a client sends 13 bytes, gets them back, sends 70000, gets them
 * back, both close. The rest of each message is zero.
 */
static const u8 rec_echo[][SMC_CDC_USED_LEN] = {
	/* frame 23 */
	{ 0xfe, 0x2c, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	  0x00, 0x00 },
	/* frame 27 */
	{ 0xfe, 0x2c, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
	  0x00, 0x00 },
	/* frame 39 */
	{ 0xfe, 0x2c, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x0d,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
	  0x80, 0x00 },
	/* frame 43 */
	{ 0xfe, 0x2c, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x0d,
	  0x00, 0x00 },
	/* frame 45 */
	{ 0xfe, 0x2c, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x11, 0x7d,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
	  0x00, 0x00 },
	/* frame 47 */
	{ 0xfe, 0x2c, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x0d,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x0d,
	  0x80, 0x00 },
	/* frame 53 */
	{ 0xfe, 0x2c, 0x00, 0x04, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x11, 0x7d,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x0d,
	  0x00, 0x00 },
	/* frame 55 */
	{ 0xfe, 0x2c, 0x00, 0x04, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x11, 0x7d,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x11, 0x7d,
	  0x00, 0x00 },
	/* frame 70 */
	{ 0xfe, 0x2c, 0x00, 0x05, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x11, 0x7d,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x11, 0x7d,
	  0x00, 0x40 },
	/* frame 73 */
	{ 0xfe, 0x2c, 0x00, 0x05, 0x00, 0x00, 0x00, 0x01,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x11, 0x7d,
	  0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x11, 0x7d,
	  0x00, 0x40 },
};

/*
 * Recorded: 18 bytes there and back, one urgent byte, 12 bytes, 12 back, half
 * close by the client, close by the server, close by the client.
 */
static const u8 rec_urgent[][SMC_CDC_USED_LEN] = {
	/* frame 14 */
	{ 0xfe, 0x2c, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	  0x00, 0x00 },
	/* frame 19 */
	{ 0xfe, 0x2c, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12,
	  0x00, 0x00 },
	/* frame 22 */
	{ 0xfe, 0x2c, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x13,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12,
	  0x60, 0x00 },
	/* frame 25 */
	{ 0xfe, 0x2c, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x13,
	  0x00, 0x00 },
	/* frame 28 */
	{ 0xfe, 0x2c, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12,
	  0x00, 0x00 },
	/* frame 32 */
	{ 0xfe, 0x2c, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1e,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f,
	  0x00, 0x00 },
	/* frame 35 */
	{ 0xfe, 0x2c, 0x00, 0x04, 0x00, 0x00, 0x00, 0x02,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1e,
	  0x00, 0x80 },
	/* frame 37 */
	{ 0xfe, 0x2c, 0x00, 0x04, 0x00, 0x00, 0x00, 0x02,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1e,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f,
	  0x00, 0x40 },
	/* frame 39 */
	{ 0xfe, 0x2c, 0x00, 0x05, 0x00, 0x00, 0x00, 0x02,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1f,
	  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1e,
	  0x00, 0xc0 },
};

static struct smc_cursor curs(u16 wrap, u32 off)
{
	return (struct smc_cursor){ .wrap = wrap, .off = off };
}

static void expect_cursor(struct kunit *test, struct smc_cursor c, u16 wrap,
			  u32 off)
{
	KUNIT_EXPECT_EQ(test, c.wrap, wrap);
	KUNIT_EXPECT_EQ(test, c.off, off);
}

static void expect_pos(struct kunit *test, const struct smc_edge *e, u64 pos, u16 wrap, u32 off)
{
	expect_cursor(test, smc_edge_cursor(e, pos), wrap, off);
}

/* The position of a cursor in the lap of its number */
static u64 pos_of(const struct smc_edge *e, struct smc_cursor c)
{
	return (u64)c.wrap * smc_edge_space(e) + c.off - e->base;
}

/* A connection's end as a sender */
struct end {
	struct smc_cdc_ctl ctl;
	struct smc_xfer x;	/* the last one that was posted */
	bool is_greedy;		/* its messages announce all that fits the window */
};

struct pair {
	struct end a;
	struct end b;
};

static void ctl_init(struct smc_cdc_ctl *ctl, struct smc_edge geom)
{
	smc_cdc_ctl_init(ctl, geom.base, geom.size, geom.size, 128 * 1024);
}

static struct pair *pair_new(struct kunit *test, struct smc_edge geom)
{
	struct pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	ctl_init(&p->a.ctl, geom);
	ctl_init(&p->b.ctl, geom);
	return p;
}

/* As after a long run: the reader of the element is at @cons. Return its position. */
static u64 set_lap(struct smc_edge *edge, struct smc_cursor cons)
{
	edge->lap = (u64)cons.wrap * smc_edge_space(edge);
	edge->wrap = cons.wrap;
	return pos_of(edge, cons);
}

/* Both ends agree on these cursors for bytes from A to B. */
static void pair_set_cursors(struct pair *p, struct smc_cursor prod,
			     struct smc_cursor cons)
{
	struct smc_cdc_ctl *a = &p->a.ctl, *b = &p->b.ctl;

	a->tx_cons = set_lap(&a->tx_edge, cons);
	a->tx_fin = pos_of(&a->tx_edge, prod);
	a->tx_sent = a->tx_fin;
	a->tx_prep = a->tx_fin;
	b->rx_prod = a->tx_fin;
	b->rx_cons = set_lap(&b->rx_edge, cons);
	b->rx_cons_sent = b->rx_cons;
}

static u32 inflight(const struct smc_cdc_ctl *ctl)
{
	return ctl->tx_sent - ctl->tx_fin;
}

static void prepare(struct end *e, u32 n)
{
	e->ctl.tx_prep += n;
}

/* As the send path: write what fits, build a message if one is needed. */
static bool push(struct kunit *test, struct end *e, struct smc_cdc_msg *msg)
{
	struct smc_xfer x;

	smc_cdc_plan(&e->ctl, e->is_greedy ? U32_MAX : e->ctl.tx_message, &x);
	if (!x.len && !smc_cdc_is_needed(&e->ctl))
		return false;
	KUNIT_ASSERT_EQ(test, smc_cdc_build(&e->ctl, x.len ? &x : NULL, msg),
			0);
	e->x = x;
	return true;
}

/* push() that has to send. The message is encoded and decoded. */
static struct smc_cdc_msg must_push(struct kunit *test, struct end *e)
{
	struct smc_cdc_msg msg = { .token = 1 }, again = { 0 };
	u8 buf[SMC_CDC_LEN];

	KUNIT_ASSERT_TRUE(test, push(test, e, &msg));
	smc_cdc_encode(&msg, buf);
	KUNIT_ASSERT_EQ(test, smc_cdc_decode(buf, sizeof(buf), &again), 0);
	KUNIT_EXPECT_EQ(test, again.token, 1U);
	return again;
}

static void expect_quiet(struct kunit *test, struct end *e)
{
	struct smc_cdc_msg msg;

	KUNIT_EXPECT_FALSE(test, push(test, e, &msg));
}

static u32 send_to(struct kunit *test, struct end *from, struct end *to)
{
	struct smc_cdc_msg msg = must_push(test, from);

	return smc_cdc_apply(&to->ctl, &msg);
}

static void consume(struct kunit *test, struct end *e, u32 n)
{
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(&e->ctl, n), 0);
}

/* A plain message for a block in its first state. */
static struct smc_cdc_msg plain_msg(const struct smc_cdc_ctl *ctl, u16 seq)
{
	return (struct smc_cdc_msg){
		.seq = seq,
		.token = 1,
		.prod = smc_edge_cursor(&ctl->rx_edge, ctl->rx_prod),
		.cons = smc_edge_cursor(&ctl->tx_edge, ctl->tx_cons),
	};
}

static struct smc_cdc_ctl *ctl_new(struct kunit *test, struct smc_edge geom)
{
	struct smc_cdc_ctl *ctl = kunit_kzalloc(test, sizeof(*ctl), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctl);
	/* The memory has been used by another connection. */
	memset(ctl, 0x5a, sizeof(*ctl));
	ctl_init(ctl, geom);
	return ctl;
}

/* The codec. */

static void cdc_01_decode_gives_every_field(struct kunit *test)
{
	u8 buf[SMC_CDC_LEN] = {
		0xfe, 44, 0x12, 0x34, 0xde, 0xad, 0xbe, 0xef,
		0xff, 0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
		0xff, 0xff, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
		0xa5, 0x5a,
	};
	struct smc_cdc_msg msg = { .link_num = 7 };

	memset(buf + 26, 0xff, sizeof(buf) - 26);
	KUNIT_ASSERT_EQ(test, smc_cdc_decode(buf, sizeof(buf), &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.seq, 0x1234);
	KUNIT_EXPECT_EQ(test, msg.token, 0xdeadbeefU);
	expect_cursor(test, msg.prod, 0x0102, 0x03040506);
	expect_cursor(test, msg.cons, 0x1112, 0x13141516);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, 0xa5);
	KUNIT_EXPECT_EQ(test, msg.conn_flags, 0x5a);
	KUNIT_EXPECT_EQ(test, msg.link_num, 0);
}

static void cdc_01_recorded_bytes_survive_the_codec(struct kunit *test)
{
	u32 i, n = ARRAY_SIZE(rec_echo);
	u8 in[SMC_CDC_LEN], out[SMC_CDC_LEN];
	struct smc_cdc_msg msg;

	for (i = 0; i < n + ARRAY_SIZE(rec_urgent); i++) {
		memset(in, 0, sizeof(in));
		memset(out, 0xee, sizeof(out));
		memcpy(in, i < n ? rec_echo[i] : rec_urgent[i - n],
		       SMC_CDC_USED_LEN);
		KUNIT_ASSERT_EQ(test, smc_cdc_decode(in, sizeof(in), &msg), 0);
		smc_cdc_encode(&msg, out);
		KUNIT_EXPECT_MEMEQ(test, in, out, sizeof(in));
	}
}

static void cdc_09_token_is_carried(struct kunit *test)
{
	struct smc_cdc_msg msg;
	u8 buf[SMC_CDC_LEN];

	memcpy(buf, rec_urgent[0], SMC_CDC_USED_LEN);
	KUNIT_ASSERT_EQ(test, smc_cdc_decode(buf, sizeof(buf), &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.token, 2U);
}

static void cdc_01_truncations_are_refused(struct kunit *test)
{
	struct smc_cdc_msg msg = { .seq = 77 };
	size_t len;
	u8 *buf;

	for (len = 0; len <= SMC_CDC_LEN; len++) {
		/* An allocation of its own: KASAN sees reads behind it. */
		buf = kunit_kzalloc(test, max_t(size_t, len, 1), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, buf);
		memcpy(buf, rec_echo[0], min_t(size_t, len, SMC_CDC_USED_LEN));
		KUNIT_EXPECT_EQ(test, smc_cdc_decode(buf, len, &msg),
				len < SMC_CDC_USED_LEN ? -EBADMSG : 0);
		KUNIT_EXPECT_EQ(test, msg.seq, len < SMC_CDC_USED_LEN ? 77 : 1);
	}
}

static void cdc_01_other_types_and_lengths_are_refused(struct kunit *test)
{
	struct smc_cdc_msg msg;
	u8 buf[SMC_CDC_LEN] = { 0 };
	u32 i;

	memcpy(buf, rec_echo[0], SMC_CDC_USED_LEN);
	for (i = 0; i < 256; i++) {
		buf[0] = i;
		KUNIT_EXPECT_EQ(test, smc_cdc_decode(buf, sizeof(buf), &msg),
				i == 0xfe ? 0 : -EBADMSG);
		buf[0] = 0xfe;
		buf[1] = i;
		KUNIT_EXPECT_EQ(test, smc_cdc_decode(buf, sizeof(buf), &msg),
				i == 44 ? 0 : -EBADMSG);
		buf[1] = 44;
	}
}

static void expect_recorded(struct kunit *test, struct end *e, u32 token,
			    const u8 *recorded, struct end *to)
{
	u8 want[SMC_CDC_LEN] = { 0 }, got[SMC_CDC_LEN];
	struct smc_cdc_msg msg = { .token = token };

	memcpy(want, recorded, SMC_CDC_USED_LEN);
	KUNIT_ASSERT_TRUE(test, push(test, e, &msg));
	smc_cdc_encode(&msg, got);
	KUNIT_ASSERT_MEMEQ(test, want, got, sizeof(got));
	KUNIT_ASSERT_FALSE(test, smc_cdc_apply(&to->ctl, &msg) &
				 (SMC_EV_INVALID | SMC_EV_STALE));
}

/* The same calls at our two ends build the recorded messages byte for byte. */
static void cdc_01_builds_the_recorded_echo(struct kunit *test)
{
	struct pair *p = pair_new(test, deployed_geom);
	struct end *c = &p->a, *s = &p->b;

	c->is_greedy = true;
	s->is_greedy = true;
	prepare(c, 13);
	expect_recorded(test, c, 1, rec_echo[0], s);
	consume(test, s, 13);
	expect_quiet(test, s);
	prepare(s, 13);
	expect_recorded(test, s, 1, rec_echo[1], c);
	consume(test, c, 13);
	prepare(c, 70000);
	expect_recorded(test, c, 1, rec_echo[2], s);
	KUNIT_EXPECT_EQ(test, c->x.nr_parts, 2);
	expect_quiet(test, c);
	consume(test, s, 65536);
	expect_recorded(test, s, 1, rec_echo[3], c);
	expect_recorded(test, c, 1, rec_echo[4], s);
	prepare(s, 70000);
	expect_recorded(test, s, 1, rec_echo[5], c);
	consume(test, c, 65536);
	expect_recorded(test, c, 1, rec_echo[6], s);
	consume(test, s, 4464);
	expect_recorded(test, s, 1, rec_echo[7], c);
	consume(test, c, 4464);
	expect_quiet(test, c);
	smc_cdc_set_conn_flags(&c->ctl, C);
	expect_recorded(test, c, 1, rec_echo[8], s);
	smc_cdc_set_conn_flags(&s->ctl, C);
	expect_recorded(test, s, 1, rec_echo[9], c);
	expect_quiet(test, c);
	expect_quiet(test, s);
}

static void urg_03_builds_the_recorded_urgent_byte(struct kunit *test)
{
	struct pair *p = pair_new(test, deployed_geom);
	struct end *c = &p->a, *s = &p->b;

	prepare(c, 18);
	expect_recorded(test, c, 2, rec_urgent[0], s);
	consume(test, s, 18);
	prepare(s, 18);
	expect_recorded(test, s, 2, rec_urgent[1], c);
	consume(test, c, 18);
	prepare(c, 1);
	smc_cdc_mark_urgent(&c->ctl);
	expect_recorded(test, c, 2, rec_urgent[2], s);
	prepare(c, 12);
	expect_quiet(test, c);
	consume(test, s, 1);
	expect_recorded(test, s, 2, rec_urgent[3], c);
	expect_recorded(test, c, 2, rec_urgent[4], s);
	consume(test, s, 12);
	prepare(s, 12);
	expect_recorded(test, s, 2, rec_urgent[5], c);
	consume(test, c, 12);
	smc_cdc_set_conn_flags(&c->ctl, D);
	expect_recorded(test, c, 2, rec_urgent[6], s);
	smc_cdc_set_conn_flags(&s->ctl, C);
	expect_recorded(test, s, 2, rec_urgent[7], c);
	smc_cdc_set_conn_flags(&c->ctl, C);
	expect_recorded(test, c, 2, rec_urgent[8], s);
	expect_quiet(test, c);
}

/* Start and sequence. */

static void cur_04_begins_empty_at_four(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);

	expect_pos(test, &ctl->rx_edge, ctl->rx_prod, 0, 4);
	expect_pos(test, &ctl->rx_edge, ctl->rx_cons, 0, 4);
	expect_pos(test, &ctl->tx_edge, ctl->tx_sent, 0, 4);
	expect_pos(test, &ctl->tx_edge, ctl->tx_cons, 0, 4);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 0U);
	KUNIT_EXPECT_EQ(test, smc_cdc_window(ctl), 9996U);
	KUNIT_EXPECT_EQ(test, inflight(ctl), 0U);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_needed(ctl));
	KUNIT_EXPECT_TRUE(test, smc_cdc_may_write(ctl));
}

static void cdc_03_sequence_starts_at_one_and_wraps_to_zero(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	KUNIT_ASSERT_EQ(test, smc_cdc_build(ctl, NULL, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.seq, 1);
	ctl->tx_seq = 65534;
	KUNIT_ASSERT_EQ(test, smc_cdc_build(ctl, NULL, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.seq, 65535);
	KUNIT_ASSERT_EQ(test, smc_cdc_build(ctl, NULL, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.seq, 0);
}

static void cdc_07_sequence_counts_messages(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 1);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).seq, 1);
	prepare(&p->a, 5000);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).seq, 2);
	smc_cdc_set_conn_flags(&p->a.ctl, D);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).seq, 3);
}

static void cdc_05_older_is_discarded_newer_is_processed(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 5);

	msg.prod = curs(0, 104);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_DATA);
	msg = plain_msg(ctl, 4);
	msg.prod = curs(0, 204);
	msg.conn_flags = C;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_STALE);
	expect_pos(test, &ctl->rx_edge, ctl->rx_prod, 0, 104);
	KUNIT_EXPECT_EQ(test, ctl->rx_conn_flags, 0);
	msg.seq = 6;
	msg.conn_flags = 0;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_DATA);
	expect_pos(test, &ctl->rx_edge, ctl->rx_prod, 0, 204);
}

static void cdc_06_comparison_wraps_and_drops_equal(struct kunit *test)
{
	static const struct {
		u16 last;
		u16 seq;
		bool is_stale;
	} rows[] = {
		{ 0, 1, false },
		{ 0, 0, true },
		{ 7, 7, true },
		{ 65535, 0, false },
		{ 65535, 1, false },
		{ 0, 65535, true },
		{ 5, 65530, true },
		{ 65530, 5, false },
		{ 0, 32767, false },
		{ 0, 32768, true },
	};
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_cdc_msg msg = plain_msg(ctl, rows[i].seq);

		ctl->rx_seq = rows[i].last;
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_apply(ctl, &msg),
				    rows[i].is_stale ? (u32)SMC_EV_STALE : 0U,
				    "%u after %u", rows[i].seq, rows[i].last);
		KUNIT_EXPECT_EQ(test, ctl->rx_seq,
				rows[i].is_stale ? rows[i].last : rows[i].seq);
	}
}

static void fail_06_sr_is_the_last_processed(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	KUNIT_EXPECT_EQ(test, ctl->rx_seq, 0);
	smc_cdc_apply(ctl, &msg);
	KUNIT_EXPECT_EQ(test, ctl->rx_seq, 1);
	msg.seq = 9;
	smc_cdc_apply(ctl, &msg);
	KUNIT_EXPECT_EQ(test, ctl->rx_seq, 9);
}

/* The effects of a message. */

static void cdc_12_apply_stores_cursors_sequence_and_flags(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 2000);
	must_push(test, &p->a);
	msg = (struct smc_cdc_msg){
		.seq = 3,
		.prod = curs(0, 504),
		.cons = curs(0, 1004),
		.prod_flags = B | R,
		.conn_flags = D,
	};
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->a.ctl, &msg),
			(u32)(SMC_EV_DATA | SMC_EV_SPACE | SMC_EV_BLOCKED |
			      SMC_EV_UPDATE_REQ | SMC_EV_DONE));
	expect_pos(test, &p->a.ctl.rx_edge, p->a.ctl.rx_prod, 0, 504);
	expect_pos(test, &p->a.ctl.tx_edge, p->a.ctl.tx_cons, 0, 1004);
	KUNIT_EXPECT_EQ(test, p->a.ctl.rx_seq, 3);
	KUNIT_EXPECT_EQ(test, p->a.ctl.rx_prod_flags, B | R);
	KUNIT_EXPECT_EQ(test, p->a.ctl.rx_conn_flags, D);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->a.ctl), 500U);
	KUNIT_EXPECT_EQ(test, smc_cdc_window(&p->a.ctl), 8996U);
}

static void cdc_13_each_flag_has_its_event(struct kunit *test)
{
	static const struct {
		u8 prod_flags;
		u8 conn_flags;
		u32 events;
	} rows[] = {
		{ 0, 0, 0 },
		{ B, 0, SMC_EV_BLOCKED },
		{ P, 0, SMC_EV_URG_PENDING },
		{ R, 0, SMC_EV_UPDATE_REQ },
		{ F, 0, SMC_EV_VALID },
		{ 0x07, 0, 0 },
		{ 0, D, SMC_EV_DONE },
		{ 0, C, SMC_EV_CLOSED },
		{ 0, A, SMC_EV_ABORT },
		{ 0, D | C, SMC_EV_DONE | SMC_EV_CLOSED },
		/* ABRT-08: as after a RST, no end of the stream is seen */
		{ 0, D | A, SMC_EV_ABORT },
		{ 0, C | A, SMC_EV_ABORT },
		{ 0, D | C | A, SMC_EV_ABORT },
		{ 0, 0x1f, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
		u16 seq = rows[i].prod_flags & F ? 0 : 1;
		struct smc_cdc_msg msg = plain_msg(ctl, seq);

		msg.prod_flags = rows[i].prod_flags;
		msg.conn_flags = rows[i].conn_flags;
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_apply(ctl, &msg),
				    rows[i].events, "%02x %02x",
				    rows[i].prod_flags, rows[i].conn_flags);
	}
}

/* Callers test for any flag at all: an unknown bit would count as an end. */
static void cdc_13_reserved_flags_are_not_kept(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.conn_flags = 0x1f;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), 0U);
	KUNIT_EXPECT_EQ(test, ctl->rx_conn_flags, 0);
	msg.seq = 2;
	msg.conn_flags = 0x1f | D;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_DONE);
	KUNIT_EXPECT_EQ(test, ctl->rx_conn_flags, D);
	msg.seq = 3;
	msg.conn_flags = 0xff;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_ABORT);
	KUNIT_EXPECT_EQ(test, ctl->rx_conn_flags, D | A);
}

static void cdc_13_a_close_flag_is_an_event_once(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.conn_flags = D;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_DONE);
	msg.seq = 2;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), 0U);
	msg.seq = 3;
	msg.conn_flags = D | C;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_CLOSED);
	KUNIT_EXPECT_EQ(test, ctl->rx_conn_flags, D | C);
}

/* After C only an abort counts. */
static void cdc_14_nothing_counts_after_the_peers_close(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.prod = curs(0, 14);
	msg.conn_flags = C;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg),
			(u32)(SMC_EV_DATA | SMC_EV_CLOSED));
	msg.seq = 2;
	msg.prod = curs(0, 24);
	msg.prod_flags = B | P | U | R;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_STALE);
	msg.prod = curs(7, 0xffffffff);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_STALE);
	expect_pos(test, &ctl->rx_edge, ctl->rx_prod, 0, 14);
	KUNIT_EXPECT_EQ(test, ctl->rx_urg, SMC_URG_NONE);
	/* no message is missing after a failover, either */
	msg.prod_flags = F;
	msg.seq = 3;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_VALID);
	KUNIT_EXPECT_EQ(test, ctl->rx_nr_waits, 0);
	msg.prod_flags = 0;
	msg.conn_flags = A;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_ABORT);
}

static void close_26_bytes_after_done_are_refused(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	/* The last bytes may come with C. */
	msg.prod = curs(0, 14);
	msg.conn_flags = D;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg),
			(u32)(SMC_EV_DATA | SMC_EV_DONE));
	/* The receiver still reads, and sends window updates. */
	ctl->tx_prep = 100;
	ctl->tx_sent = 100;
	msg.seq = 2;
	msg.cons = curs(0, 104);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_SPACE);
	msg.seq = 3;
	msg.prod = curs(0, 15);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_INVALID);
	expect_pos(test, &ctl->rx_edge, ctl->rx_prod, 0, 14);
}

static void abrt_04_nothing_counts_after_the_peers_abort(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	/* An abort counts whatever its cursors are. */
	msg.prod = curs(9, 0xffffffff);
	msg.conn_flags = A;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_ABORT);
	expect_pos(test, &ctl->rx_edge, ctl->rx_prod, 0, 4);
	msg = plain_msg(ctl, 2);
	msg.prod = curs(0, 100);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_STALE);
	expect_pos(test, &ctl->rx_edge, ctl->rx_prod, 0, 4);
}

/* Received data stays readable. Of the peer's messages only its end counts. */
static void abrt_04_nothing_but_the_end_counts_after_our_abort(struct kunit *test)
{
	static const u8 last[] = { A, C };
	struct smc_cdc_msg msg;
	struct smc_cdc_ctl *ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(last); i++) {
		ctl = ctl_new(test, rfc_geom);
		msg = plain_msg(ctl, 1);
		msg.prod = curs(0, 104);
		smc_cdc_apply(ctl, &msg);
		smc_cdc_set_conn_flags(ctl, A);
		msg = plain_msg(ctl, 2);
		msg.prod = curs(0, 204);
		KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_STALE);
		KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 100U);
		msg = plain_msg(ctl, 3);
		msg.conn_flags = last[i];
		KUNIT_EXPECT_TRUE(test, smc_cdc_apply(ctl, &msg) &
					(last[i] == A ? SMC_EV_ABORT : SMC_EV_CLOSED));
		KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 100U);
	}
}

static void cur_01_producer_cursor_is_what_the_writer_says(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 1234);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->a, &p->b), (u32)SMC_EV_DATA);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_prod, 0, 1238);
	KUNIT_EXPECT_EQ(test, p->a.ctl.tx_sent, p->b.ctl.rx_prod);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 1234U);
}

static void cur_02_consumer_cursor_is_what_the_reader_says(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 9996);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 5000);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_cons, 0, 5004);
	expect_pos(test, &p->a.ctl.tx_edge, p->a.ctl.tx_cons, 0, 4);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->b, &p->a), (u32)SMC_EV_SPACE);
	expect_pos(test, &p->a.ctl.tx_edge, p->a.ctl.tx_cons, 0, 5004);
	KUNIT_EXPECT_EQ(test, smc_cdc_window(&p->a.ctl), 5000U);
}

/* AMB-62: the reader counts its own wraps. */
static void cur_06_consumer_wrap_after_a_partial_read(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	pair_set_cursors(p, curs(2, 1004), curs(1, 1004));
	p->b.ctl.rx_prod_flags = B;
	consume(test, &p->b, 100);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->b, &p->a), (u32)SMC_EV_SPACE);
	expect_pos(test, &p->a.ctl.tx_edge, p->a.ctl.tx_cons, 1, 1104);
	consume(test, &p->b, 9896);
	send_to(test, &p->b, &p->a);
	expect_pos(test, &p->a.ctl.tx_edge, p->a.ctl.tx_cons, 2, 1004);
}

static void cur_07_writer_stops_at_the_received_cursor(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 30000);
	send_to(test, &p->a, &p->b);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 9996U);
	consume(test, &p->b, 9996);
	/* The reader has room, but has sent no update yet. */
	KUNIT_EXPECT_FALSE(test, push(test, &p->a, &msg));
}

static void cur_08_full_ring_is_all_readable(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.prod = curs(1, 4);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 9996U);
}

static void cur_09_two_segments_are_readable(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_seg seg[SMC_RING_SEGS];
	u32 off;

	pair_set_cursors(p, curs(3, 9000), curs(3, 9000));
	prepare(&p->a, 1500);
	send_to(test, &p->a, &p->b);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_prod, 4, 504);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 1500U);
	off = smc_edge_off(&p->b.ctl.rx_edge, p->b.ctl.rx_cons);
	KUNIT_ASSERT_EQ(test, smc_ring_segs(10000, 4, off, 1500, seg), 2U);
	KUNIT_EXPECT_EQ(test, seg[0].off, 9000U);
	KUNIT_EXPECT_EQ(test, seg[0].len, 1000U);
	KUNIT_EXPECT_EQ(test, seg[1].off, 4U);
	KUNIT_EXPECT_EQ(test, seg[1].len, 500U);
}

static void cur_10_equal_wrap_tells_of_a_free_window(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg = { .seq = 1, .prod = curs(0, 4) };

	pair_set_cursors(p, curs(2, 1004), curs(1, 1004));
	KUNIT_EXPECT_EQ(test, smc_cdc_window(&p->a.ctl), 0U);
	msg.cons = curs(2, 1004);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->a.ctl, &msg),
			(u32)SMC_EV_SPACE);
	KUNIT_EXPECT_EQ(test, smc_cdc_window(&p->a.ctl), 9996U);
}

static void cur_11_wrap_numbers_overflow_in_both_cursors(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	pair_set_cursors(p, curs(65535, 9000), curs(65535, 9000));
	prepare(&p->a, 9996);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->a, &p->b),
			(u32)(SMC_EV_DATA | SMC_EV_BLOCKED));
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_prod, 0, 9000);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 9996U);
	consume(test, &p->b, 9996);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->b, &p->a), (u32)SMC_EV_SPACE);
	expect_pos(test, &p->a.ctl.tx_edge, p->a.ctl.tx_cons, 0, 9000);
	KUNIT_EXPECT_EQ(test, smc_cdc_window(&p->a.ctl), 9996U);
}

/* A message with an impossible cursor has no effect at all. */
static void cur_12_impossible_cursors_are_refused_whole(struct kunit *test)
{
	static const struct {
		const char *what;
		struct smc_cursor prod;
		struct smc_cursor cons;
	} rows[] = {
		{ "producer in the eye catcher", { 0, 3 }, { 0, 1004 } },
		{ "producer zero", { 1, 0 }, { 0, 1004 } },
		{ "producer at the length", { 0, 10000 }, { 0, 1004 } },
		{ "producer far outside", { 0, 0xffffffff }, { 0, 1004 } },
		{ "producer back", { 0, 103 }, { 0, 1004 } },
		{ "producer back a pass", { 65535, 9000 }, { 0, 1004 } },
		{ "producer before the first byte", { 65535, 9999 }, { 0, 1004 } },
		{ "producer over the reader", { 1, 105 }, { 0, 1004 } },
		{ "producer over what the writer knows", { 1, 30 },
		  { 0, 1004 } },
		{ "producer two passes ahead", { 2, 4 }, { 0, 1004 } },
		{ "consumer in the eye catcher", { 0, 104 }, { 0, 2 } },
		{ "consumer at the length", { 0, 104 }, { 0, 10000 } },
		{ "consumer back", { 0, 104 }, { 0, 503 } },
		{ "consumer ahead of what was written", { 0, 104 },
		  { 0, 2005 } },
		{ "consumer a pass ahead", { 0, 104 }, { 1, 1004 } },
		{ "consumer two passes ahead", { 0, 104 }, { 2, 1004 } },
		{ "consumer before the first byte", { 0, 104 }, { 65535, 9999 } },
	};
	struct smc_cdc_ctl *ctl, *before;
	struct smc_cdc_msg msg;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ctl = ctl_new(test, rfc_geom);
		before = ctl_new(test, rfc_geom);
		/* 100 bytes received, 50 of them read, 20 announced; 2000 sent, 500 acknowledged */
		ctl->rx_prod = 100;
		ctl->rx_cons = 50;
		ctl->rx_cons_sent = 20;
		ctl->tx_sent = 2000;
		ctl->tx_cons = 500;
		*before = *ctl;
		msg = (struct smc_cdc_msg){
			.seq = 1,
			.prod = rows[i].prod,
			.cons = rows[i].cons,
			.prod_flags = B | P | U | R,
			.conn_flags = D | C,
		};
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_apply(ctl, &msg),
				    (u32)SMC_EV_INVALID, "%s", rows[i].what);
		KUNIT_EXPECT_TRUE_MSG(test, !memcmp(ctl, before, sizeof(*ctl)), "%s", rows[i].what);
	}
	/* The same message with valid cursors is accepted. */
	msg.prod = curs(1, 24);
	msg.cons = curs(0, 2004);
	KUNIT_EXPECT_TRUE(test, smc_cdc_apply(ctl, &msg) & SMC_EV_DATA);
}

static void cur_12_deployed_cursor_zero_is_valid(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, deployed_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.prod = curs(1, 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 65536U);
	msg.seq = 2;
	msg.prod = curs(0, 65536);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_INVALID);
}

static void tx_09_consume_advances_and_refuses_too_much(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 100);
	send_to(test, &p->a, &p->b);
	KUNIT_EXPECT_EQ(test, smc_cdc_consume(&p->b.ctl, 101), -ERANGE);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_cons, 0, 4);
	KUNIT_EXPECT_EQ(test, smc_cdc_consume(&p->b.ctl, 100), 0);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_cons, 0, 104);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 0U);
}

/* The messages that are built. */

static void cdc_08_every_message_carries_the_whole_state(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 3000);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 1000);
	prepare(&p->b, 700);
	must_push(test, &p->b);		/* lost */
	smc_cdc_set_conn_flags(&p->b.ctl, D);
	msg = must_push(test, &p->b);
	KUNIT_EXPECT_EQ(test, msg.seq, 2);
	expect_cursor(test, msg.prod, 0, 704);
	expect_cursor(test, msg.cons, 0, 1004);
	KUNIT_EXPECT_EQ(test, msg.conn_flags, D);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->a.ctl, &msg),
			(u32)(SMC_EV_DATA | SMC_EV_SPACE | SMC_EV_DONE));
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->a.ctl), 700U);
}

static void win_07_any_message_carries_the_consumer_cursor(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 100);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 60);
	expect_quiet(test, &p->b);
	prepare(&p->b, 1);
	expect_cursor(test, must_push(test, &p->b).cons, 0, 64);
}

static void win_11_current_and_sent_cursor_are_two(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 6000);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 999);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_cons, 0, 1003);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_cons_sent, 0, 4);
	/* Below a tenth since the last one sent; one more byte makes it. */
	expect_quiet(test, &p->b);
	consume(test, &p->b, 1);
	send_to(test, &p->b, &p->a);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_cons_sent, 0, 1004);
	consume(test, &p->b, 999);
	expect_quiet(test, &p->b);
}

static void cdc_14_nothing_is_built_after_close(struct kunit *test)
{
	static const u8 last[] = { C, A, D | C, C | A };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(last); i++) {
		struct pair *p = pair_new(test, rfc_geom);
		struct smc_cdc_msg msg;

		prepare(&p->b, 9996);
		send_to(test, &p->b, &p->a);
		smc_cdc_set_conn_flags(&p->a.ctl, last[i]);
		KUNIT_EXPECT_EQ(test, must_push(test, &p->a).conn_flags,
				last[i]);
		prepare(&p->a, 10);
		consume(test, &p->a, 9996);
		smc_cdc_mark_urgent(&p->a.ctl);
		expect_quiet(test, &p->a);
		KUNIT_EXPECT_FALSE(test, smc_cdc_may_write(&p->a.ctl));
		KUNIT_EXPECT_EQ(test, smc_cdc_build(&p->a.ctl, NULL, &msg),
				-EPIPE);
		KUNIT_EXPECT_EQ(test, p->a.ctl.tx_seq, 1);
		smc_cdc_set_conn_flags(&p->a.ctl, A);
		KUNIT_EXPECT_EQ(test, p->a.ctl.tx_conn_flags, last[i]);
	}
}

static void abrt_12_no_write_after_abort_was_asked_for(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 10);
	smc_cdc_set_conn_flags(&p->a.ctl, A);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 0U);
	KUNIT_EXPECT_EQ(test, msg.conn_flags, A);
	expect_cursor(test, msg.prod, 0, 4);
}

static void close_26_updates_still_go_out_after_done(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	smc_cdc_set_conn_flags(&p->a.ctl, D);
	send_to(test, &p->a, &p->b);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_write(&p->a.ctl));
	prepare(&p->b, 9996);
	send_to(test, &p->b, &p->a);
	consume(test, &p->a, 9996);
	msg = must_push(test, &p->a);
	expect_cursor(test, msg.cons, 1, 4);
	KUNIT_EXPECT_EQ(test, msg.conn_flags, D);
}

static void close_18_nothing_is_written_to_a_closed_peer(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->b, 9996);
	send_to(test, &p->b, &p->a);
	smc_cdc_set_conn_flags(&p->b.ctl, C);
	KUNIT_EXPECT_TRUE(test, send_to(test, &p->b, &p->a) & SMC_EV_CLOSED);
	prepare(&p->a, 10);
	expect_quiet(test, &p->a);
	/* It does not wait for space any more. */
	consume(test, &p->a, 9996);
	expect_quiet(test, &p->a);
	/* Our own C is still sent, with the cursor. */
	smc_cdc_set_conn_flags(&p->a.ctl, C);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->a, &p->b),
			(u32)(SMC_EV_CLOSED | SMC_EV_SPACE));
	/* It gets no message of a blocked writer, either. */
	p = pair_new(test, rfc_geom);
	pair_set_cursors(p, curs(2, 1004), curs(1, 1004));
	smc_cdc_set_conn_flags(&p->b.ctl, C);
	send_to(test, &p->b, &p->a);
	prepare(&p->a, 1);
	expect_quiet(test, &p->a);
}

static void build_refuses_more_than_may_be_written(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_xfer x = { .len = 9997 };
	struct smc_cdc_msg msg;

	ctl->tx_prep = 9997;
	KUNIT_EXPECT_EQ(test, smc_cdc_build(ctl, &x, &msg), -ERANGE);
	x.len = 11;
	ctl->tx_prep = 10;
	KUNIT_EXPECT_EQ(test, smc_cdc_build(ctl, &x, &msg), -ERANGE);
	smc_cdc_mark_urgent(ctl);
	ctl->tx_prep = 20;
	KUNIT_EXPECT_EQ(test, smc_cdc_build(ctl, &x, &msg), -ERANGE);
	KUNIT_EXPECT_EQ(test, ctl->tx_seq, 0);
	expect_pos(test, &ctl->tx_edge, ctl->tx_sent, 0, 4);
	x.len = 10;
	KUNIT_EXPECT_EQ(test, smc_cdc_build(ctl, &x, &msg), 0);
}

/* Window updates and blocking. */

static void win_02_update_goes_out_below_half_by_a_tenth(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	/* Window seen 5000: not below half. */
	prepare(&p->a, 4996);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 4996);
	expect_quiet(test, &p->b);
	/* One byte more, and it is. */
	prepare(&p->a, 1);
	send_to(test, &p->a, &p->b);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->b, &p->a), (u32)SMC_EV_SPACE);
	expect_quiet(test, &p->b);
	/* The same from there on. */
	prepare(&p->a, 4997);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 999);
	expect_quiet(test, &p->b);
	consume(test, &p->b, 1);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->b, &p->a), (u32)SMC_EV_SPACE);
}

static void win_08_any_byte_is_reported_until_b_is_clear(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 9996);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->a, &p->b),
			(u32)(SMC_EV_DATA | SMC_EV_BLOCKED));
	expect_quiet(test, &p->b);
	consume(test, &p->b, 1);
	send_to(test, &p->b, &p->a);
	consume(test, &p->b, 1);
	send_to(test, &p->b, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_window(&p->a.ctl), 2U);
	/* The next message that leaves room clears it. */
	prepare(&p->a, 1);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->a, &p->b), (u32)SMC_EV_DATA);
	consume(test, &p->b, 1);
	expect_quiet(test, &p->b);
}

static void win_08_b_makes_an_older_update_due(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 900);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 900);
	expect_quiet(test, &p->b);
	prepare(&p->a, 10000);
	send_to(test, &p->a, &p->b);
	/* The peer is blocked by a cursor that is 900 bytes old. */
	KUNIT_EXPECT_EQ(test, send_to(test, &p->b, &p->a), (u32)SMC_EV_SPACE);
	KUNIT_EXPECT_EQ(test, smc_cdc_window(&p->a.ctl), 900U);
}

static void win_09_request_is_answered_at_once_if_stale(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 100);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 10);
	expect_quiet(test, &p->b);
	msg = plain_msg(&p->b.ctl, 2);
	msg.prod_flags = R;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg),
			(u32)SMC_EV_UPDATE_REQ);
	expect_cursor(test, must_push(test, &p->b).cons, 0, 14);
	expect_quiet(test, &p->b);
	/* R is still set: the next byte is announced as well. */
	consume(test, &p->b, 1);
	expect_cursor(test, must_push(test, &p->b).cons, 0, 15);
}

static void win_09_request_waits_for_consumption(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 100);
	send_to(test, &p->a, &p->b);
	msg = plain_msg(&p->b.ctl, 2);
	msg.prod_flags = R;
	smc_cdc_apply(&p->b.ctl, &msg);
	expect_quiet(test, &p->b);
	/* R is cleared before the reader consumes; the request still counts. */
	msg.seq = 3;
	msg.prod_flags = 0;
	smc_cdc_apply(&p->b.ctl, &msg);
	consume(test, &p->b, 1);
	must_push(test, &p->b);
	consume(test, &p->b, 1);
	expect_quiet(test, &p->b);
}

static void win_10_we_never_ask(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 20000);
	KUNIT_EXPECT_FALSE(test, must_push(test, &p->a).prod_flags & R);
	smc_cdc_set_conn_flags(&p->a.ctl, C);
	KUNIT_EXPECT_FALSE(test, must_push(test, &p->a).prod_flags & R);
}

static void blk_01_filling_the_window_sets_b(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 9995);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, 0);
	prepare(&p->a, 2);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, B);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 1U);
}

static void blk_03_full_window_moves_only_the_wrap(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	pair_set_cursors(p, curs(1, 1004), curs(1, 1004));
	prepare(&p->a, 9996);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->a, &p->b),
			(u32)(SMC_EV_DATA | SMC_EV_BLOCKED));
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_prod, 2, 1004);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 9996U);
}

static void blk_05_b_is_cleared_by_the_next_message(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 9996);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 5000);
	send_to(test, &p->b, &p->a);
	/* No data, only D: the writer is not blocked any more. */
	smc_cdc_set_conn_flags(&p->a.ctl, D);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, 0);
}

static void tx_06_bulk_goes_in_messages_of_a_quarter(struct kunit *test)
{
	struct pair *p = pair_new(test, (struct smc_edge){ .size = 131072 });
	u32 i;

	prepare(&p->a, 131072);
	for (i = 0; i < 4; i++) {
		send_to(test, &p->a, &p->b);
		KUNIT_EXPECT_EQ(test, p->a.x.len, 32768U);
	}
	KUNIT_EXPECT_TRUE(test, p->a.ctl.tx_prod_flags & SMC_CDC_BLOCKED);
	/* one quarter read is enough for an update, whose window is used whole */
	consume(test, &p->b, 32768);
	send_to(test, &p->b, &p->a);
	prepare(&p->a, 32768);
	send_to(test, &p->a, &p->b);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 32768U);
	/* a replay has no such limit: one message stands for all that was lost */
	smc_cdc_replay(&p->a.ctl, &p->a.x);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 131072U);
}

static void blk_06_a_blocked_writer_sends_b(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	pair_set_cursors(p, curs(2, 1004), curs(1, 1004));
	expect_quiet(test, &p->a);
	prepare(&p->a, 1);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, B);
	expect_quiet(test, &p->a);
}

/* The scenarios of Section 4.7. */

static void tx_10_scenario_1(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 1000);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.nr_parts, 1);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].off, 4U);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].len, 1000U);
	expect_cursor(test, msg.prod, 0, 1004);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, 0);
	smc_cdc_apply(&p->b.ctl, &msg);
	consume(test, &p->b, 1000);
	expect_quiet(test, &p->b);
}

static void tx_11_scenario_2(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 1000);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 1000);
	prepare(&p->b, 500);
	msg = must_push(test, &p->b);
	KUNIT_EXPECT_EQ(test, p->b.x.part[0].off, 4U);
	KUNIT_EXPECT_EQ(test, p->b.x.part[0].len, 500U);
	expect_cursor(test, msg.prod, 0, 504);
	expect_cursor(test, msg.cons, 0, 1004);
	smc_cdc_apply(&p->a.ctl, &msg);
	consume(test, &p->a, 500);
	expect_quiet(test, &p->a);
}

static void tx_12_scenario_3(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 3000);
	msg = must_push(test, &p->a);
	expect_cursor(test, msg.prod, 0, 3004);
	smc_cdc_apply(&p->b.ctl, &msg);
	consume(test, &p->b, 3000);
	expect_quiet(test, &p->b);
	prepare(&p->a, 4000);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].off, 3004U);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].len, 4000U);
	expect_cursor(test, msg.prod, 0, 7004);
	smc_cdc_apply(&p->b.ctl, &msg);
	consume(test, &p->b, 4000);
	msg = must_push(test, &p->b);
	expect_cursor(test, msg.cons, 0, 7004);
}

static void blk_07_scenario_4(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;
	u16 round;

	pair_set_cursors(p, curs(1, 1004), curs(1, 1004));
	prepare(&p->a, 20000);
	for (round = 2; round <= 3; round++) {
		msg = must_push(test, &p->a);
		KUNIT_ASSERT_EQ(test, p->a.x.nr_parts, 2);
		KUNIT_EXPECT_EQ(test, p->a.x.part[0].off, 1004U);
		KUNIT_EXPECT_EQ(test, p->a.x.part[0].len, 8996U);
		KUNIT_EXPECT_EQ(test, p->a.x.part[1].off, 4U);
		KUNIT_EXPECT_EQ(test, p->a.x.part[1].len, 1000U);
		expect_cursor(test, msg.prod, round, 1004);
		KUNIT_EXPECT_EQ(test, msg.prod_flags, B);
		expect_quiet(test, &p->a);
		smc_cdc_apply(&p->b.ctl, &msg);
		consume(test, &p->b, 9996);
		msg = must_push(test, &p->b);
		expect_cursor(test, msg.cons, round, 1004);
		smc_cdc_apply(&p->a.ctl, &msg);
	}
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.nr_parts, 1);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].off, 1004U);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].len, 8U);
	expect_cursor(test, msg.prod, 3, 1012);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, 0);
}

static void urg_14_scenario_5(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	pair_set_cursors(p, curs(1, 1000), curs(1, 1000));
	prepare(&p->a, 500);
	smc_cdc_mark_urgent(&p->a.ctl);
	prepare(&p->a, 1000);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].off, 1000U);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].len, 500U);
	expect_cursor(test, msg.prod, 1, 1500);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, P | U);
	expect_quiet(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg),
			(u32)(SMC_EV_DATA | SMC_EV_URG_PENDING | SMC_EV_URG));
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_urg_mark, 1, 1499);
	consume(test, &p->b, 500);
	msg = must_push(test, &p->b);
	expect_cursor(test, msg.cons, 1, 1500);
	smc_cdc_apply(&p->a.ctl, &msg);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].off, 1500U);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].len, 1000U);
	expect_cursor(test, msg.prod, 1, 2500);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, 0);
	smc_cdc_apply(&p->b.ctl, &msg);
	consume(test, &p->b, 1000);
	expect_quiet(test, &p->b);
}

static void urg_15_scenario_6(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	pair_set_cursors(p, curs(2, 1000), curs(1, 1000));
	p->a.ctl.tx_prod_flags = B;
	p->b.ctl.rx_prod_flags = B;
	prepare(&p->a, 500);
	smc_cdc_mark_urgent(&p->a.ctl);
	prepare(&p->a, 1000);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 0U);
	expect_cursor(test, msg.prod, 2, 1000);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, B | P);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg),
			(u32)(SMC_EV_BLOCKED | SMC_EV_URG_PENDING));
	expect_quiet(test, &p->a);
	consume(test, &p->b, 9996);
	msg = must_push(test, &p->b);
	expect_cursor(test, msg.cons, 2, 1000);
	smc_cdc_apply(&p->a.ctl, &msg);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].off, 1000U);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].len, 500U);
	expect_cursor(test, msg.prod, 2, 1500);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, P | U);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg),
			(u32)(SMC_EV_DATA | SMC_EV_URG));
	expect_quiet(test, &p->a);
	consume(test, &p->b, 500);
	msg = must_push(test, &p->b);
	expect_cursor(test, msg.cons, 2, 1500);
	smc_cdc_apply(&p->a.ctl, &msg);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.part[0].off, 1500U);
	expect_cursor(test, msg.prod, 2, 2500);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, 0);
}

/* Urgent data. */

static void urg_01_p_at_once_sendable_or_not(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	/* Sendable: with the data. */
	prepare(&p->a, 5);
	smc_cdc_mark_urgent(&p->a.ctl);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_needed(&p->a.ctl));
	KUNIT_EXPECT_TRUE(test, must_push(test, &p->a).prod_flags & P);
	/* Held back by the mark before it: in a message of its own. */
	prepare(&p->a, 5);
	smc_cdc_mark_urgent(&p->a.ctl);
	p->a.ctl.tx_prod_flags &= ~P;
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 0U);
	expect_quiet(test, &p->a);
}

static void urg_02_u_only_with_the_cursor_behind_the_byte(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 100);
	smc_cdc_mark_urgent(&p->a.ctl);
	prepare(&p->a, 100);
	msg = must_push(test, &p->a);
	expect_cursor(test, msg.prod, 0, 104);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, P | U);
}

static void urg_05_mark_before_cursor_four_is_the_last_byte(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	pair_set_cursors(p, curs(6, 9990), curs(6, 9990));
	prepare(&p->a, 10);
	smc_cdc_mark_urgent(&p->a.ctl);
	KUNIT_EXPECT_TRUE(test, send_to(test, &p->a, &p->b) & SMC_EV_URG);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_prod, 7, 4);
	expect_pos(test, &p->b.ctl.rx_edge, p->b.ctl.rx_urg_mark, 6, 9999);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(&p->b.ctl), 9);
	consume(test, &p->b, 9);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(&p->b.ctl), 0);
	expect_quiet(test, &p->b);
	consume(test, &p->b, 1);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(&p->b.ctl), -ENODATA);
	must_push(test, &p->b);
}

static void urg_05_the_same_mark_twice_is_one_event(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.prod = curs(0, 14);
	msg.prod_flags = P | U;
	KUNIT_EXPECT_TRUE(test, smc_cdc_apply(ctl, &msg) & SMC_EV_URG);
	msg.seq = 2;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), 0U);
	/* A byte that was read past does not come back. */
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 10), 0);
	msg.seq = 3;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_UPDATE_REQ);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(ctl), -ENODATA);
}

/* A peer may send a second mark before the first is read: the last one counts. */
static void urg_05_newer_mark_replaces_an_unread_one(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.prod = curs(0, 14);
	msg.prod_flags = P | U;
	smc_cdc_apply(ctl, &msg);
	msg.seq = 2;
	msg.prod = curs(0, 24);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg),
			(u32)(SMC_EV_DATA | SMC_EV_URG | SMC_EV_URG_PENDING));
	expect_pos(test, &ctl->rx_edge, ctl->rx_urg_mark, 0, 23);
}

/* The byte was read before the peer marked it urgent. */
static void urg_06_a_mark_on_a_byte_already_read_sends_an_update(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 10);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 10);
	expect_quiet(test, &p->b);
	msg = plain_msg(&p->b.ctl, 2);
	msg.prod_flags = U;
	/* The receiver needs the event to check whether an update is due. */
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_UPDATE_REQ);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(&p->b.ctl), -ENODATA);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->b, &p->a), (u32)SMC_EV_SPACE);
}

/* Without any byte there is none before the cursor. */
static void urg_05_mark_without_any_byte_is_none(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.prod_flags = U;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_UPDATE_REQ);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(ctl), -ENODATA);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_needed(ctl));
}

static void urg_06_reading_the_urgent_byte_sends_an_update(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 2);
	smc_cdc_mark_urgent(&p->a.ctl);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 1);
	expect_quiet(test, &p->b);
	consume(test, &p->b, 1);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->b, &p->a), (u32)SMC_EV_SPACE);
	expect_quiet(test, &p->b);
}

static void urg_07_no_write_until_acknowledged(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 20);
	smc_cdc_mark_urgent(&p->a.ctl);
	send_to(test, &p->a, &p->b);
	prepare(&p->a, 10);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_write(&p->a.ctl));
	KUNIT_EXPECT_EQ(test, smc_cdc_write_limit(&p->a.ctl), 0U);
	/* A cursor that does not cover the byte does not end the wait. */
	msg = plain_msg(&p->a.ctl, 1);
	msg.cons = curs(0, 23);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->a.ctl, &msg),
			(u32)SMC_EV_SPACE);
	expect_quiet(test, &p->a);
	msg.seq = 2;
	msg.cons = curs(0, 24);
	smc_cdc_apply(&p->a.ctl, &msg);
	KUNIT_EXPECT_TRUE(test, smc_cdc_may_write(&p->a.ctl));
	KUNIT_EXPECT_EQ(test, smc_cdc_write_limit(&p->a.ctl), 10U);
}

static void urg_09_flags_are_clear_after_the_acknowledgement(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 1);
	smc_cdc_mark_urgent(&p->a.ctl);
	send_to(test, &p->a, &p->b);
	prepare(&p->a, 7);
	consume(test, &p->b, 1);
	send_to(test, &p->b, &p->a);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, 0);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 7U);
}

static void urg_10_closed_window_p_goes_alone(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 9996);
	send_to(test, &p->a, &p->b);
	expect_quiet(test, &p->a);
	prepare(&p->a, 1);
	smc_cdc_mark_urgent(&p->a.ctl);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 0U);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, B | P);
	expect_cursor(test, msg.prod, 1, 4);
	expect_quiet(test, &p->a);
}

static void urg_12_opened_window_p_and_u_without_b(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 9996);
	send_to(test, &p->a, &p->b);
	prepare(&p->a, 1);
	smc_cdc_mark_urgent(&p->a.ctl);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 9996);
	send_to(test, &p->b, &p->a);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P | U);
}

static void urg_13_later_data_follow_the_acknowledgement(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 1);
	smc_cdc_mark_urgent(&p->a.ctl);
	prepare(&p->a, 20000);
	send_to(test, &p->a, &p->b);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 1U);
	expect_quiet(test, &p->a);
	consume(test, &p->b, 1);
	send_to(test, &p->b, &p->a);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, B);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 9996U);
}

static void urg_16_u_waits_for_the_last_urgent_byte(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 15000);
	smc_cdc_mark_urgent(&p->a.ctl);
	KUNIT_EXPECT_EQ(test, send_to(test, &p->a, &p->b),
			(u32)(SMC_EV_DATA | SMC_EV_BLOCKED |
			      SMC_EV_URG_PENDING));
	consume(test, &p->b, 4000);
	send_to(test, &p->b, &p->a);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, B | P);
	consume(test, &p->b, 5996);
	p->b.ctl.rx_prod_flags |= B;
	send_to(test, &p->b, &p->a);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P | U);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 1004U);
}

/* AMB-52 */
static void urg_13_second_mark_waits_behind_the_first(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 10);
	smc_cdc_mark_urgent(&p->a.ctl);
	prepare(&p->a, 10);
	smc_cdc_mark_urgent(&p->a.ctl);
	prepare(&p->a, 5);
	smc_cdc_mark_urgent(&p->a.ctl);
	prepare(&p->a, 3);
	KUNIT_EXPECT_TRUE(test, send_to(test, &p->a, &p->b) & SMC_EV_URG);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 10U);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(&p->b.ctl), 9);
	expect_quiet(test, &p->a);
	consume(test, &p->b, 10);
	send_to(test, &p->b, &p->a);
	KUNIT_EXPECT_TRUE(test, send_to(test, &p->a, &p->b) & SMC_EV_URG);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 15U);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(&p->b.ctl), 14);
	consume(test, &p->b, 15);
	send_to(test, &p->b, &p->a);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, 0);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 3U);
}

/* protocol.md: P without new data announces yet another urgent byte. */
static void urg_02_flags_are_not_repeated_without_data(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->b, 9996);
	send_to(test, &p->b, &p->a);
	prepare(&p->a, 1);
	smc_cdc_mark_urgent(&p->a.ctl);
	send_to(test, &p->a, &p->b);
	consume(test, &p->a, 9996);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, 0);
	expect_quiet(test, &p->a);
}

static void urg_04_each_urgent_byte_is_an_event_once(struct kunit *test)
{
	static const struct {
		u8 flags;
		u32 step;
		u32 events;
		const char *what;
	} rows[] = {
		{ P, 0, SMC_EV_URG_PENDING, "announced" },
		{ P, 5, SMC_EV_DATA, "still on its way" },
		{ P | U, 5, SMC_EV_DATA | SMC_EV_URG, "arrived" },
		{ 0, 0, 0, "nothing" },
		{ P | U, 5, SMC_EV_DATA | SMC_EV_URG | SMC_EV_URG_PENDING,
		  "arrived unannounced" },
		{ P | U, 5, SMC_EV_DATA | SMC_EV_URG | SMC_EV_URG_PENDING,
		  "another one, flags unchanged" },
		{ P, 0, SMC_EV_URG_PENDING, "a third one announced" },
		{ 0, 0, 0, "and withdrawn" },
		{ P, 0, SMC_EV_URG_PENDING, "and announced" },
	};
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_cdc_msg msg = plain_msg(ctl, i + 1);

		msg.prod.off += rows[i].step;
		msg.prod_flags = rows[i].flags;
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_apply(ctl, &msg),
				    rows[i].events, "%s", rows[i].what);
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_urg_is_pending(ctl->rx_prod_flags),
				    rows[i].flags == P, "%s", rows[i].what);
	}
}

/* @before bytes, then an urgent one, which is remembered as 'u'. */
static struct smc_cdc_ctl *urgent_new(struct kunit *test, u32 before,
				      bool is_inline)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.prod.off += before + 1;
	msg.prod_flags = P | U;
	KUNIT_ASSERT_TRUE(test, smc_cdc_apply(ctl, &msg) & SMC_EV_URG);
	smc_cdc_urg_store(ctl, 'u', is_inline);
	return ctl;
}

static void add_bytes(struct kunit *test, struct smc_cdc_ctl *ctl, u32 n)
{
	struct smc_cdc_msg msg = plain_msg(ctl, ctl->rx_seq + 1);

	msg.prod.off += n;
	KUNIT_ASSERT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_DATA);
}

static void api_11_out_of_line_byte_is_read_once(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = urgent_new(test, 3, false);

	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, true), 'u');
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), 'u');
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), -EINVAL);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 4U);
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 3), 0);
	KUNIT_EXPECT_TRUE(test, smc_cdc_urg_take_out(ctl));
	KUNIT_EXPECT_EQ(test, ctl->rx_urg, SMC_URG_OUT_OF_LINE);
}

static void api_11_no_urgent_byte_is_einval_one_due_is_eagain(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), -EINVAL);
	msg.prod_flags = P;
	smc_cdc_apply(ctl, &msg);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), -EAGAIN);
}

static void api_11_a_read_ends_in_front_of_the_mark(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = urgent_new(test, 3, true);

	add_bytes(test, ctl, 10);
	KUNIT_EXPECT_EQ(test, smc_cdc_read_limit(ctl, 0), 3U);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_at_mark(ctl, 0));
	/* A reader with MSG_PEEK stops there, too. */
	KUNIT_EXPECT_EQ(test, smc_cdc_read_limit(ctl, 2), 1U);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_at_mark(ctl, 3));
	KUNIT_EXPECT_EQ(test, smc_cdc_read_limit(ctl, 3), 11U);
	KUNIT_EXPECT_EQ(test, smc_cdc_read_limit(ctl, 14), 0U);
	KUNIT_EXPECT_EQ(test, smc_cdc_read_limit(ctl, 20), 0U);
	/* In line it is the first byte of the next read. */
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 3), 0);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_at_mark(ctl, 0));
	KUNIT_EXPECT_EQ(test, smc_cdc_read_limit(ctl, 0), 11U);
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 1), 0);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_at_mark(ctl, 0));
	KUNIT_EXPECT_EQ(test, ctl->rx_urg, SMC_URG_NONE);
}

static void urg_06_byte_out_of_line_makes_room_at_once(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = urgent_new(test, 0, false);

	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 0U);
	expect_pos(test, &ctl->rx_edge, ctl->rx_cons, 0, 5);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_needed(ctl));
	/* The urgent byte is at the read position. */
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_at_mark(ctl, 0));
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), 'u');
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), -EINVAL);
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 0), 0);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_at_mark(ctl, 0));
	add_bytes(test, ctl, 2);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_at_mark(ctl, 0));
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_at_mark(ctl, 1));
	KUNIT_EXPECT_EQ(test, smc_cdc_read_limit(ctl, 0), 2U);
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 1), 0);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_at_mark(ctl, 0));
}

static void api_11_byte_not_asked_for_is_missed(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = urgent_new(test, 2, false);

	KUNIT_EXPECT_FALSE(test, smc_cdc_urg_take_out(ctl));
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 2), 0);
	KUNIT_EXPECT_TRUE(test, smc_cdc_urg_take_out(ctl));
	KUNIT_EXPECT_FALSE(test, smc_cdc_urg_take_out(ctl));
	KUNIT_EXPECT_EQ(test, ctl->rx_urg, SMC_URG_OUT_OF_LINE_UNREAD);
	add_bytes(test, ctl, 1);
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 1), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), -EINVAL);
}

static void api_11_byte_out_of_line_can_be_read_in_line(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = urgent_new(test, 0, false);

	smc_cdc_urg_pass(ctl);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_at_mark(ctl, 0));
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), -EINVAL);
}

/* Row m, column n: state m may be followed by state n. */
static void urg_05_illegal_moves_are_refused(struct kunit *test)
{
	static const char * const rows[SMC_URG_NR_STATES] = {
		[SMC_URG_NONE]			= " x   ",
		[SMC_URG_IN_STREAM]		= "x xx ",
		[SMC_URG_IN_STREAM_UNREAD]	= "xx  x",
		[SMC_URG_OUT_OF_LINE]		= "xx   ",
		[SMC_URG_OUT_OF_LINE_UNREAD]	= "xx x ",
	};
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	int from, to;

	KUNIT_EXPECT_EQ(test, ctl->rx_urg, SMC_URG_NONE);
	for (from = 0; from < SMC_URG_NR_STATES; from++) {
		for (to = 0; to <= SMC_URG_NR_STATES; to++) {
			bool is_legal = rows[from][to] == 'x';

			ctl->rx_urg = from;
			KUNIT_EXPECT_EQ_MSG(test, smc_cdc_urg_move(ctl, to), is_legal,
					    "%d to %d", from, to);
			KUNIT_EXPECT_EQ_MSG(test, (int)ctl->rx_urg, is_legal ? to : from,
					    "%d to %d", from, to);
		}
	}
}

/* Only a marked byte is stored; that of a newer mark replaces it. */
static void api_11_newer_mark_replaces_a_byte_out_of_line(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = urgent_new(test, 0, false);
	struct smc_cdc_msg msg = plain_msg(ctl, 2);

	msg.prod.off += 3;
	msg.prod_flags = P | U;
	KUNIT_ASSERT_TRUE(test, smc_cdc_apply(ctl, &msg) & SMC_EV_URG);
	smc_cdc_urg_store(ctl, 'v', false);
	KUNIT_EXPECT_EQ(test, ctl->rx_urg, SMC_URG_IN_STREAM_UNREAD);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_at_mark(ctl, 0));
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(ctl), 2);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), 'v');
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(ctl), 2);
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 3), 0);
	KUNIT_EXPECT_EQ(test, ctl->rx_urg, SMC_URG_NONE);
	smc_cdc_urg_store(ctl, 'w', true);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_read(ctl, false), -EINVAL);
}

/* The application sends 15 urgent bytes in pieces, with a mark ahead of them. */
static void urg_16_open_mark_moves_and_holds_one_byte(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 5);
	smc_cdc_open_urgent(&p->a.ctl);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 4U);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, P);
	prepare(&p->a, 9);
	smc_cdc_open_urgent(&p->a.ctl);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 9U);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, P);
	expect_quiet(test, &p->a);
	prepare(&p->a, 1);
	smc_cdc_open_urgent(&p->a.ctl);
	smc_cdc_end_urgent(&p->a.ctl);
	prepare(&p->a, 1);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 2U);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, P | U);
}

static void urg_16_open_mark_that_ends_early_is_the_last_byte(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 5);
	smc_cdc_open_urgent(&p->a.ctl);
	must_push(test, &p->a);
	smc_cdc_end_urgent(&p->a.ctl);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P | U);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 1U);
}

static void urg_01_single_open_byte_is_announced(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 1);
	smc_cdc_open_urgent(&p->a.ctl);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 0U);
	expect_quiet(test, &p->a);
}

/* Another one behind it is complete, and fixes it. */
static void urg_13_complete_mark_behind_an_open_one(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 2);
	smc_cdc_open_urgent(&p->a.ctl);
	prepare(&p->a, 1);
	smc_cdc_mark_urgent(&p->a.ctl);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P | U);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 2U);
	p->a.ctl.tx_urg_sent = 0;
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P | U);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 1U);
}

static void urg_13_open_mark_behind_another_one(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	prepare(&p->a, 3);
	smc_cdc_mark_urgent(&p->a.ctl);
	prepare(&p->a, 3);
	smc_cdc_open_urgent(&p->a.ctl);
	/* The first message carries all of its bytes. */
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P | U);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 3U);
	p->a.ctl.tx_urg_sent = 0;
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 2U);
	prepare(&p->a, 3);
	smc_cdc_open_urgent(&p->a.ctl);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).prod_flags, P);
	KUNIT_EXPECT_EQ(test, p->a.x.len, 3U);
}

/* Completion and change of link. */

static void fail_05_ss_follows_good_completions(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);

	KUNIT_EXPECT_EQ(test, p->a.ctl.tx_seq_done, 0);
	prepare(&p->a, 100);
	must_push(test, &p->a);
	prepare(&p->a, 200);
	must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, inflight(&p->a.ctl), 300U);
	smc_cdc_done(&p->a.ctl, 1, 100);
	KUNIT_EXPECT_EQ(test, p->a.ctl.tx_seq_done, 1);
	KUNIT_EXPECT_EQ(test, inflight(&p->a.ctl), 200U);
	prepare(&p->a, 50);
	KUNIT_EXPECT_EQ(test, smc_cdc_unacked(&p->a.ctl), 250U);
	smc_cdc_done(&p->a.ctl, 2, 200);
	KUNIT_EXPECT_EQ(test, p->a.ctl.tx_seq_done, 2);
	KUNIT_EXPECT_EQ(test, inflight(&p->a.ctl), 0U);
	/* A completion that was counted before changes nothing. */
	smc_cdc_done(&p->a.ctl, 1, 100);
	KUNIT_EXPECT_EQ(test, p->a.ctl.tx_seq_done, 2);
	KUNIT_EXPECT_EQ(test, inflight(&p->a.ctl), 0U);
}

static void fail_07_validation_is_f_and_ss(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;
	u8 want[SMC_CDC_LEN] = { 0xfe, 44, 0, 1, 0, 0, 0, 9 };
	u8 got[SMC_CDC_LEN];

	want[24] = F;
	memset(&msg, 0x5a, sizeof(msg));
	msg.token = 9;
	prepare(&p->a, 100);
	must_push(test, &p->a);
	smc_cdc_set_conn_flags(&p->a.ctl, D);
	must_push(test, &p->a);
	smc_cdc_done(&p->a.ctl, 1, 100);
	KUNIT_ASSERT_EQ(test, smc_cdc_build_validation(&p->a.ctl, &msg), 0);
	smc_cdc_encode(&msg, got);
	KUNIT_EXPECT_MEMEQ(test, got, want, sizeof(got));
}

static void cdc_04_validation_uses_no_sequence_number(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 100);
	send_to(test, &p->a, &p->b);
	smc_cdc_done(&p->a.ctl, 1, 100);
	KUNIT_ASSERT_EQ(test, smc_cdc_build_validation(&p->a.ctl, &msg), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg),
			(u32)SMC_EV_VALID);
	KUNIT_EXPECT_EQ(test, p->b.ctl.rx_seq, 1);
	prepare(&p->a, 1);
	KUNIT_EXPECT_EQ(test, must_push(test, &p->a).seq, 2);
}

static void cdc_14_no_validation_after_close_arrived(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	smc_cdc_set_conn_flags(&p->a.ctl, C);
	must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_build_validation(&p->a.ctl, &msg), 0);
	smc_cdc_done(&p->a.ctl, 1, 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_build_validation(&p->a.ctl, &msg),
			-EPIPE);
}

static void close_02_the_last_word_is_due_until_it_has_arrived(struct kunit *test)
{
	static const u8 last[] = { C, A, D | C };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(last); i++) {
		struct pair *p = pair_new(test, rfc_geom);

		KUNIT_EXPECT_FALSE(test, smc_cdc_is_final_due(&p->a.ctl));
		smc_cdc_set_conn_flags(&p->a.ctl, D);
		must_push(test, &p->a);
		KUNIT_EXPECT_FALSE(test, smc_cdc_is_final_due(&p->a.ctl));
		smc_cdc_set_conn_flags(&p->a.ctl, last[i]);
		KUNIT_EXPECT_TRUE(test, smc_cdc_is_final_due(&p->a.ctl));
		must_push(test, &p->a);
		KUNIT_EXPECT_TRUE(test, smc_cdc_is_final_due(&p->a.ctl));
		smc_cdc_done(&p->a.ctl, 1, 0);
		KUNIT_EXPECT_TRUE(test, smc_cdc_is_final_due(&p->a.ctl));
		smc_cdc_done(&p->a.ctl, 2, 0);
		KUNIT_EXPECT_FALSE(test, smc_cdc_is_final_due(&p->a.ctl));
	}
}

static void fail_09_nothing_is_missing(struct kunit *test)
{
	static const struct {
		u16 sr;
		u16 ss;
	} rows[] = {
		{ 5, 5 }, { 6, 5 }, { 0, 65535 }, { 3, 65530 }, { 0, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
		struct smc_cdc_msg msg = plain_msg(ctl, rows[i].ss);

		ctl->rx_seq = rows[i].sr;
		msg.prod_flags = F;
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_apply(ctl, &msg),
				    (u32)SMC_EV_VALID, "SR %u SS %u",
				    rows[i].sr, rows[i].ss);
		KUNIT_EXPECT_EQ(test, ctl->rx_seq, rows[i].sr);
	}
}

static void fail_10_loss_is_found(struct kunit *test)
{
	static const struct {
		u16 sr;
		u16 ss;
	} rows[] = {
		{ 5, 6 }, { 65535, 0 }, { 65530, 3 }, { 0, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
		struct smc_cdc_msg msg = plain_msg(ctl, rows[i].ss);

		ctl->rx_seq = rows[i].sr;
		msg.prod_flags = F;
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_apply(ctl, &msg),
				    (u32)SMC_EV_HELD, "SR %u SS %u",
				    rows[i].sr, rows[i].ss);
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_give_up(ctl),
				    (u32)SMC_EV_LOST, "SR %u SS %u",
				    rows[i].sr, rows[i].ss);
	}
}

/*
 * The messages before the validation are in the queue of the old link. Messages of the new
 * link wait for them, urgent byte included.
 */
static void fail_10_a_queue_worked_off_late_is_no_loss(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg late[2], msg;
	u32 events;

	prepare(&p->a, 100);
	late[0] = must_push(test, &p->a);
	prepare(&p->a, 50);
	late[1] = must_push(test, &p->a);
	smc_cdc_done(&p->a.ctl, 2, 150);

	KUNIT_ASSERT_EQ(test, smc_cdc_build_validation(&p->a.ctl, &msg), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_HELD);
	prepare(&p->a, 20);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_HELD);
	prepare(&p->a, 7);
	smc_cdc_mark_urgent(&p->a.ctl);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, P | U);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_HELD);
	smc_cdc_set_conn_flags(&p->a.ctl, D);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 0U);

	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &late[0]), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_give_up(&p->b.ctl), (u32)SMC_EV_LOST);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 100U);
	events = smc_cdc_apply(&p->b.ctl, &late[1]);
	KUNIT_EXPECT_EQ(test, events, (u32)(SMC_EV_DATA | SMC_EV_URG_PENDING | SMC_EV_URG |
					    SMC_EV_DONE));
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 177U);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(&p->b.ctl), 176);
	KUNIT_EXPECT_EQ(test, smc_cdc_give_up(&p->b.ctl), 0U);
	/* no trace of them is left */
	KUNIT_EXPECT_EQ(test, p->b.ctl.rx_nr_waits, 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_STALE);
}

/* Deployed peers change links without a validation when one direction has ended. */
static void fail_11_a_move_without_validation_may_be_harmless(struct kunit *test)
{
	struct pair *p = pair_new(test, deployed_geom);
	struct smc_cdc_ctl *ctl = &p->b.ctl;
	struct smc_cdc_msg msg;

	prepare(&p->a, 100);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_moved(ctl, &msg), (u32)SMC_EV_DATA);
	/* nothing is missing */
	prepare(&p->a, 10);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_moved(ctl, &msg), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_FALSE(test, ctl->rx_is_replayed);
	/* a missing message without data is covered by the next one, CDC-08 */
	smc_cdc_set_conn_flags(&p->a.ctl, D);
	msg = must_push(test, &p->a);
	msg.seq++;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_moved(ctl, &msg), (u32)SMC_EV_DONE);
}

/* Data does not pass missing data, which may be in the queue of the old link. */
static void fail_11_a_move_without_validation_waits(struct kunit *test)
{
	struct pair *p = pair_new(test, deployed_geom);
	struct smc_cdc_ctl *ctl = &p->b.ctl;
	struct smc_cdc_msg late, msg;

	prepare(&p->a, 100);
	late = must_push(test, &p->a);
	prepare(&p->a, 10);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_moved(ctl, &msg), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 0U);
	KUNIT_EXPECT_EQ(test, smc_cdc_give_up(ctl), (u32)SMC_EV_LOST);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &late), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 110U);
	KUNIT_EXPECT_EQ(test, ctl->rx_prod_flags, 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_give_up(ctl), 0U);

	/* a validation with nothing missing counts, and an abort needs none */
	prepare(&p->a, 10);
	must_push(test, &p->a);
	smc_cdc_done(&p->a.ctl, 2, 110);
	KUNIT_ASSERT_EQ(test, smc_cdc_build_validation(&p->a.ctl, &msg), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_moved(ctl, &msg), (u32)SMC_EV_VALID);
	smc_cdc_set_conn_flags(&p->a.ctl, A);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_moved(ctl, &msg), (u32)SMC_EV_ABORT);
}

/* A third one behind two that wait is as bad as a third validation. */
static void fail_10_fail_11_a_third_move_with_a_gap_is_a_loss(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 3);

	msg.prod_flags = F;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_HELD);
	msg.seq = 5;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_HELD);
	msg.seq = 8;
	msg.prod_flags = 0;
	msg.prod = curs(0, 104);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_moved(ctl, &msg), (u32)SMC_EV_LOST);
}

/* A message that waits is replaced by a newer one; its request for an update is not. */
static void fail_17_win_09_a_held_request_survives(struct kunit *test)
{
	struct pair *p = pair_new(test, deployed_geom);
	struct smc_cdc_ctl *ctl = &p->b.ctl;
	struct smc_cdc_msg late, msg;

	prepare(&p->a, 100);
	late = must_push(test, &p->a);
	prepare(&p->a, 10);
	msg = must_push(test, &p->a);
	msg.prod_flags |= R;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_moved(ctl, &msg), (u32)SMC_EV_HELD);
	prepare(&p->a, 10);
	msg = must_push(test, &p->a);
	KUNIT_ASSERT_EQ(test, msg.prod_flags, 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &late), (u32)(SMC_EV_DATA | SMC_EV_UPDATE_REQ));
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 120U);
}

/* The first message on another link, with data missing in front of it. */
static void fail_11_abrt_02_an_abort_does_not_wait_for_missing_data(struct kunit *test)
{
	static const u8 flags[] = { A, A | C, C, 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		struct pair *p = pair_new(test, deployed_geom);
		struct smc_cdc_msg msg;
		u32 events;

		prepare(&p->a, 100);
		must_push(test, &p->a);
		prepare(&p->a, 10);
		msg = must_push(test, &p->a);
		msg.conn_flags = flags[i];
		events = smc_cdc_apply_moved(&p->b.ctl, &msg);
		KUNIT_EXPECT_EQ(test, !!(events & SMC_EV_ABORT), !!(flags[i] & A));
		KUNIT_EXPECT_EQ(test, !(events & SMC_EV_HELD), !!(flags[i] & A));
		KUNIT_EXPECT_EQ(test, p->b.ctl.rx_nr_waits, !(flags[i] & A));
		/* nor is anything held after it */
		prepare(&p->a, 10);
		must_push(test, &p->a);
		prepare(&p->a, 10);
		msg = must_push(test, &p->a);
		events = smc_cdc_apply_moved(&p->b.ctl, &msg);
		KUNIT_EXPECT_EQ(test, !(events & SMC_EV_HELD), !!(flags[i] & A));
	}
}

/* Deployed dialect: the mark at the first byte equals a zeroed mark, yet it is news. */
static void urg_05_first_byte_of_the_stream_is_urgent(struct kunit *test)
{
	struct pair *p = pair_new(test, deployed_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 1);
	smc_cdc_mark_urgent(&p->a.ctl);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_TRUE(test, smc_cdc_apply(&p->b.ctl, &msg) & SMC_EV_URG);
	KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(&p->b.ctl), 0);
	/* the same mark again is not */
	msg.seq++;
	KUNIT_EXPECT_FALSE(test, smc_cdc_apply(&p->b.ctl, &msg) & SMC_EV_URG);
}

/* A counts with messages missing: nothing more is expected. */
static void fail_10_an_abort_does_not_wait(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg;

	prepare(&p->a, 100);
	must_push(test, &p->a);
	smc_cdc_done(&p->a.ctl, 1, 100);
	KUNIT_ASSERT_EQ(test, smc_cdc_build_validation(&p->a.ctl, &msg), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_HELD);
	smc_cdc_set_conn_flags(&p->a.ctl, A);
	msg = must_push(test, &p->a);
	/* but it is not the end of a stream with data missing */
	msg.conn_flags |= D;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_ABORT);
	KUNIT_EXPECT_EQ(test, p->b.ctl.rx_conn_flags, A);
	KUNIT_EXPECT_EQ(test, smc_cdc_give_up(&p->b.ctl), 0U);
}

/* Nothing can be missing after C, even if a peer sends C twice. */
static void fail_10_nothing_is_missed_behind_the_last_word(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg validation, first, again;

	smc_cdc_set_conn_flags(&p->a.ctl, C);
	first = must_push(test, &p->a);
	validation = first;
	validation.seq++;
	validation.prod_flags = F;
	validation.conn_flags = 0;
	again = first;
	again.seq += 2;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &validation), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &again), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, smc_cdc_give_up(&p->b.ctl), (u32)SMC_EV_LOST);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &first), (u32)SMC_EV_CLOSED);
	KUNIT_EXPECT_EQ(test, smc_cdc_give_up(&p->b.ctl), 0U);
	/* and what was held behind it is no message that came too late */
	p = pair_new(test, rfc_geom);
	validation.seq = first.seq;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &validation), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &again), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &first), (u32)SMC_EV_CLOSED);
}

/* Apply message SEQ, which ends with byte PROD of the stream; return the events. */
static u32 apply_at(struct smc_cdc_ctl *ctl, u16 seq, u32 prod, u8 flags)
{
	struct smc_cdc_msg msg = plain_msg(ctl, seq);

	msg.prod = curs(0, rfc_geom.base + prod);
	msg.prod_flags = flags;
	return smc_cdc_apply(ctl, &msg);
}

/*
 * Message 1 has come on link 1, which also carries 2 and 3. Link 2 follows with 4 and 5, and
 * link 3 with 6. The stream is whole in any order of their queues.
 */
static void fail_10_two_queues_may_be_worked_off_late(struct kunit *test)
{
	static const u8 lengths[3] = { 2, 3, 2 };
	static const struct {
		u16 seq;
		u32 prod;
		u8 flags;
	} queues[3][3] = {
		{ { 2, 20, 0 }, { 3, 30, 0 } },
		{ { 3, 0, F }, { 4, 40, 0 }, { 5, 50, P | U } },
		{ { 5, 0, F }, { 6, 60, 0 } },
	};
	u32 order, k, nr_orders = 0;

	/* 3 to the power of 7: each digit selects the link of the next message */
	for (order = 0; order < 2187; order++) {
		struct smc_cdc_ctl *ctl;
		u32 digits = order;
		u8 at[3] = {};

		for (k = 0; k < 7; k++, digits /= 3)
			at[digits % 3]++;
		if (memcmp(at, lengths, sizeof(at)))
			continue;
		nr_orders++;
		ctl = ctl_new(test, rfc_geom);
		KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 10, 0), (u32)SMC_EV_DATA);
		memset(at, 0, sizeof(at));
		for (k = 0, digits = order; k < 7; k++, digits /= 3) {
			u8 link = digits % 3, n = at[link]++;
			u32 events = apply_at(ctl, queues[link][n].seq, queues[link][n].prod,
					      queues[link][n].flags);

			KUNIT_EXPECT_EQ_MSG(test, events & (SMC_EV_INVALID | SMC_EV_LOST |
							    SMC_EV_STALE), 0U,
					    "order %u, message %u", order, k);
		}
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_readable(ctl), 60U, "order %u", order);
		KUNIT_EXPECT_EQ(test, smc_cdc_urg_distance(ctl), 49);
		KUNIT_EXPECT_EQ(test, smc_cdc_give_up(ctl), 0U);
	}
	KUNIT_EXPECT_EQ(test, nr_orders, 210U);
}

/* One of the two has arrived, and the time limit of the other is over. */
static void fail_10_the_second_of_two_may_be_lost(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);

	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 0, F), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 2, 20, 0), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 3, 0, F), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 4, 40, 0), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 10, 0), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 20U);
	KUNIT_EXPECT_EQ(test, smc_cdc_give_up(ctl), (u32)SMC_EV_LOST);
}

/* Messages without a completion are replayed, perhaps from before the stored ones. */
static void fail_10_what_is_kept_may_be_replayed(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);

	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 0, F), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 2, 40, P | U), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 0, F), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 3, 30, P), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 20, 0) & SMC_EV_INVALID, 0U);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 40U);
	/* and so may the messages after it */
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 4, 35, P) & SMC_EV_INVALID, 0U);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 5, 40, P | U) & SMC_EV_INVALID, 0U);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 6, 39, 0), (u32)SMC_EV_INVALID);
	/* even if none was stored */
	ctl = ctl_new(test, rfc_geom);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 0, F), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 20, 0), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 2, 15, 0), 0U);
}

/* Urgent bytes sent without waiting for our acknowledgment cannot all be stored. */
static void fail_10_a_peer_in_a_hurry_is_refused(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 3);
	int i;

	msg.prod_flags = F;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_HELD);
	for (i = 0; i < SMC_CDC_HELD_MAX; i++) {
		msg = plain_msg(ctl, 4 + i);
		msg.prod = curs(0, 5 + i);
		msg.prod_flags = P | U;
		KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_HELD);
	}
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_STALE);
	msg.seq++;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_INVALID);
	/* a message that only announces one is replaced by the next */
	ctl = ctl_new(test, rfc_geom);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 3, 0, F), (u32)SMC_EV_HELD);
	for (i = 0; i <= SMC_CDC_HELD_MAX; i++)
		KUNIT_EXPECT_EQ(test, apply_at(ctl, 4 + i, 0, P), (u32)SMC_EV_HELD);
	/* a peer that keeps changing links with messages missing has lost data */
	ctl = ctl_new(test, rfc_geom);
	for (i = 0; i < SMC_CDC_WAITS_MAX; i++) {
		KUNIT_EXPECT_EQ(test, apply_at(ctl, 3 + 2 * i, 0, F), (u32)SMC_EV_HELD);
		KUNIT_EXPECT_EQ(test, apply_at(ctl, 3 + 2 * i, 0, F), (u32)SMC_EV_HELD);
	}
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 3 + 2 * i, 0, F), (u32)SMC_EV_LOST);
	/* one whose messages are all here, held behind the first missing one, has not */
	ctl = ctl_new(test, rfc_geom);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 0, F), (u32)SMC_EV_HELD);
	for (i = 2; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, apply_at(ctl, i, 0, 0), (u32)SMC_EV_HELD);
		KUNIT_EXPECT_EQ(test, apply_at(ctl, i, 0, F), (u32)SMC_EV_HELD);
	}
	KUNIT_EXPECT_EQ(test, ctl->rx_nr_waits, 1);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 0, 0), 0U);
	KUNIT_EXPECT_EQ(test, ctl->rx_seq, 9);
	/* nothing counts behind an impossible cursor that was held, CUR-12 */
	ctl = ctl_new(test, rfc_geom);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 0, F), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 2, 10000, P | U), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 3, 30, 0), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, apply_at(ctl, 1, 10, 0), (u32)(SMC_EV_DATA | SMC_EV_INVALID));
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 10U);
}

static void cdc_15_garbage_in_a_validation_is_not_applied(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, rfc_geom);
	struct smc_cdc_ctl *before = ctl_new(test, rfc_geom);
	struct smc_cdc_msg msg = {
		.seq = 0,
		.prod = curs(7, 0xffffffff),
		.cons = curs(9, 1),
		.prod_flags = F | B | P | U | R | 0x07,
		.conn_flags = 0xff,
	};

	/* gaps included */
	memcpy(before, ctl, sizeof(*ctl));
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_VALID);
	before->rx_is_replayed = true;
	KUNIT_EXPECT_MEMEQ(test, ctl, before, sizeof(*ctl));
}

/* Three messages sent; the first completed, the second arrived. */
static void fail_14_replay_merges_what_is_not_done(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg = {};
	struct smc_xfer x;

	prepare(&p->a, 100);
	send_to(test, &p->a, &p->b);
	smc_cdc_done(&p->a.ctl, 1, 100);
	prepare(&p->a, 200);
	send_to(test, &p->a, &p->b);
	prepare(&p->a, 300);
	must_push(test, &p->a);
	prepare(&p->a, 50);

	KUNIT_ASSERT_EQ(test, smc_cdc_build_validation(&p->a.ctl, &msg), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg),
			(u32)SMC_EV_VALID);
	KUNIT_EXPECT_EQ(test, smc_cdc_replay(&p->a.ctl, &x), 500U);
	KUNIT_ASSERT_EQ(test, x.nr_parts, 1);
	KUNIT_EXPECT_EQ(test, x.part[0].off, 104U);
	KUNIT_EXPECT_EQ(test, x.part[0].len, 500U);
	KUNIT_EXPECT_EQ(test, x.part[0].src[0].off, 100U);
	/* The message is needed even without data. */
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_needed(&p->a.ctl));
	KUNIT_ASSERT_EQ(test, smc_cdc_build(&p->a.ctl, NULL, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.seq, 4);
	expect_cursor(test, msg.prod, 0, 604);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg),
			(u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 600U);
	smc_cdc_done(&p->a.ctl, 4, 500);
	KUNIT_EXPECT_EQ(test, inflight(&p->a.ctl), 0U);
	/* New data follows. */
	KUNIT_EXPECT_EQ(test, send_to(test, &p->a, &p->b), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 650U);
}

/* Each message on a dead link uses a number: the replay must still look newer to the peer. */
static void fail_14_a_dead_link_does_not_use_up_the_numbers(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_ctl *a = &p->a.ctl;
	struct smc_cdc_msg msg = {};
	struct smc_xfer x;
	int i;

	prepare(&p->a, 100);
	send_to(test, &p->a, &p->b);
	smc_cdc_done(a, 1, 100);
	prepare(&p->a, 200);
	for (i = 0; i < 40000 && !smc_cdc_is_far_ahead(a); i++)
		KUNIT_ASSERT_EQ(test, smc_cdc_build(a, NULL, &msg), 0);
	/* only after several links have each lost a full queue */
	KUNIT_EXPECT_GT(test, i, 4 * 72);
	KUNIT_EXPECT_EQ(test, i, SMC_CDC_AHEAD_MAX);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_replay_due(a));

	KUNIT_ASSERT_EQ(test, smc_cdc_build_validation(a, &msg), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_VALID);
	KUNIT_EXPECT_EQ(test, smc_cdc_replay(a, &x), 0U);
	KUNIT_ASSERT_EQ(test, smc_cdc_build(a, NULL, &msg), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg) & SMC_EV_STALE, 0U);
	KUNIT_EXPECT_EQ(test, p->b.ctl.rx_seq, a->tx_seq);
	smc_cdc_done(a, msg.seq, 0);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_far_ahead(a));
	KUNIT_EXPECT_EQ(test, send_to(test, &p->a, &p->b), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 300U);
}

static void fail_12_replay_leaves_out_what_was_acknowledged(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_xfer x;

	prepare(&p->a, 9996);
	send_to(test, &p->a, &p->b);
	consume(test, &p->b, 9000);
	send_to(test, &p->b, &p->a);
	/* The completion was lost with the link, but the peer has read the data. */
	KUNIT_EXPECT_EQ(test, smc_cdc_replay(&p->a.ctl, &x), 996U);
	KUNIT_EXPECT_EQ(test, x.part[0].off, 9004U);
	KUNIT_EXPECT_EQ(test, x.part[0].src[0].off, 9000U);
}

/* The element may belong to another connection of the peer by now. */
static void fail_12_nothing_is_written_again_after_the_end(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg = {};
	struct smc_xfer x;

	prepare(&p->a, 100);
	must_push(test, &p->a);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_replay_due(&p->a.ctl));
	smc_cdc_set_conn_flags(&p->b.ctl, C);
	msg = must_push(test, &p->b);
	smc_cdc_apply(&p->a.ctl, &msg);
	KUNIT_EXPECT_EQ(test, smc_cdc_replay(&p->a.ctl, &x), 0U);
	KUNIT_EXPECT_EQ(test, x.nr_parts, 0);

	p = pair_new(test, rfc_geom);
	prepare(&p->a, 100);
	must_push(test, &p->a);
	smc_cdc_set_conn_flags(&p->a.ctl, A);
	must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_replay(&p->a.ctl, &x), 0U);
	/* the flags are sent again */
	KUNIT_ASSERT_EQ(test, smc_cdc_build(&p->a.ctl, NULL, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.conn_flags, A);
	smc_cdc_done(&p->a.ctl, msg.seq, 0);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_replay_due(&p->a.ctl));
}

static void fail_12_replay_says_urgent_and_close_again(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg = {};
	struct smc_xfer x;

	prepare(&p->a, 10);
	smc_cdc_mark_urgent(&p->a.ctl);
	must_push(test, &p->a);
	smc_cdc_set_conn_flags(&p->a.ctl, C);
	must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_build(&p->a.ctl, NULL, &msg), -EPIPE);
	smc_cdc_replay(&p->a.ctl, &x);
	KUNIT_EXPECT_EQ(test, x.len, 10U);
	KUNIT_ASSERT_EQ(test, smc_cdc_build(&p->a.ctl, NULL, &msg), 0);
	KUNIT_EXPECT_EQ(test, msg.prod_flags, P | U);
	KUNIT_EXPECT_EQ(test, msg.conn_flags, C);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg),
			(u32)(SMC_EV_DATA | SMC_EV_URG_PENDING | SMC_EV_URG |
			      SMC_EV_CLOSED));
	KUNIT_EXPECT_EQ(test, smc_cdc_build(&p->a.ctl, NULL, &msg), -EPIPE);
	/* A completed message is not replayed. */
	smc_cdc_done(&p->a.ctl, 3, 10);
	smc_cdc_replay(&p->a.ctl, &x);
	KUNIT_EXPECT_EQ(test, x.len, 0U);
	KUNIT_EXPECT_EQ(test, smc_cdc_build(&p->a.ctl, NULL, &msg), -EPIPE);
}

/* A peer that replays with old numbers (option 1). */
static void fail_13_replayed_old_numbers_are_harmless(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg first, second;

	prepare(&p->a, 100);
	first = must_push(test, &p->a);
	prepare(&p->a, 100);
	second = must_push(test, &p->a);
	smc_cdc_apply(&p->b.ctl, &first);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &first),
			(u32)SMC_EV_STALE);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &second),
			(u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 200U);
}

/*
 * protocol.md: a deployed peer returns to its last completed send with new numbers. A
 * message without data may carry that cursor.
 */
static void fail_13_deployed_peer_steps_back_after_a_move(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, deployed_geom);
	struct smc_cdc_msg msg = plain_msg(ctl, 1);

	msg.prod = curs(0, 1000);
	smc_cdc_apply(ctl, &msg);
	msg.seq = 2;
	msg.prod = curs(0, 3000);
	smc_cdc_apply(ctl, &msg);
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(ctl, 2000), 0);
	/* Without F that is a protocol violation. */
	msg.seq = 3;
	msg.prod = curs(0, 1000);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_INVALID);
	msg.seq = 1;
	msg.prod_flags = F;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_VALID);
	msg.seq = 3;
	msg.prod_flags = 0;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), 0U);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 1000U);
	/* Going back does not mark a byte in front of the newest cursor. */
	msg.seq = 4;
	msg.prod_flags = U;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), 0U);
	/* A cursor that is neither ahead nor behind is impossible as ever, CUR-12. */
	msg.seq = 5;
	msg.prod = curs(2, 1000);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_INVALID);
	msg.prod_flags = 0;
	msg.prod = curs(0, 3500);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 1500U);
	/* The peer has caught up: going back is a violation again. */
	msg.seq = 6;
	msg.prod = curs(0, 3000);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)SMC_EV_INVALID);
}

/* As far back as the peer can be: a whole ring, but not to before its first byte. */
static void fail_13_cur_12_stepping_back_has_an_end(struct kunit *test)
{
	static const struct {
		struct smc_cursor from, to;
		u32 events;
	} rows[] = {
		{ { 0, 104 }, { 0, 4 }, 0 },
		{ { 0, 104 }, { 65535, 9999 }, SMC_EV_INVALID },
		{ { 0, 104 }, { 65535, 104 }, SMC_EV_INVALID },
		{ { 0, 4 }, { 65535, 9999 }, SMC_EV_INVALID },
		{ { 1, 104 }, { 0, 104 }, 0 },
		{ { 1, 104 }, { 0, 103 }, SMC_EV_INVALID },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pair *p = pair_new(test, rfc_geom);
		struct smc_cdc_msg msg;

		pair_set_cursors(p, rows[i].from, rows[i].from);
		p->b.ctl.rx_is_replayed = true;
		msg = plain_msg(&p->b.ctl, 1);
		msg.prod = rows[i].to;
		KUNIT_EXPECT_EQ_MSG(test, smc_cdc_apply(&p->b.ctl, &msg), rows[i].events,
				    "row %u", i);
		KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 0U);
	}
}

/* The first message on a new link may be lost data of the old one. */
static void fail_10_swallowed_message_is_noticed(struct kunit *test)
{
	struct pair *p = pair_new(test, rfc_geom);
	struct smc_cdc_msg msg = {};

	prepare(&p->a, 100);
	must_push(test, &p->a);		/* completed, never processed */
	smc_cdc_done(&p->a.ctl, 1, 100);
	KUNIT_ASSERT_EQ(test, smc_cdc_build_validation(&p->a.ctl, &msg), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg),
			(u32)SMC_EV_HELD);
	/* later data is not read as if nothing were missing */
	prepare(&p->a, 100);
	msg = must_push(test, &p->a);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply(&p->b.ctl, &msg), (u32)SMC_EV_HELD);
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&p->b.ctl), 0U);
	KUNIT_EXPECT_EQ(test, smc_cdc_give_up(&p->b.ctl), (u32)SMC_EV_LOST);
}

/*
 * Noise: cursors stay valid after any message, and a refused message changes nothing.
 */
static void cur_12_noise_never_breaks_the_rings(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, (struct smc_edge){ .size = 37, .base = 4 });
	struct smc_cdc_ctl *before = ctl_new(test, ctl->rx_edge);
	u32 i, events, taken = 0, refused = 0, held = 0;
	struct smc_cdc_msg msg, answer;
	struct rnd_state rnd;

	/* the gaps of what is held count, too */
	memset(&msg, 0, sizeof(msg));
	prandom_seed_state(&rnd, 2015);
	for (i = 0; i < 20000; i++) {
		u32 r = prandom_u32_state(&rnd);
		struct smc_cursor prod = smc_edge_cursor(&ctl->rx_edge, ctl->rx_prod);
		struct smc_cursor cons = smc_edge_cursor(&ctl->tx_edge, ctl->tx_cons);
		struct smc_xfer x = { .len = (r >> 27) % 9 };

		msg.seq = ctl->rx_seq + r % 8 - 2;
		msg.prod.wrap = prod.wrap + (r >> 3) % 3 - 1;
		msg.prod.off = (r >> 5) % 40;
		msg.cons.wrap = cons.wrap + (r >> 11) % 3 - 1;
		msg.cons.off = (r >> 13) % 40;
		msg.prod_flags = (r >> 19) & 0xf8;
		*before = *ctl;
		events = smc_cdc_apply(ctl, &msg);
		if (!before->rx_nr_waits &&
		    events & (SMC_EV_INVALID | SMC_EV_LOST | SMC_EV_STALE)) {
			KUNIT_ASSERT_EQ(test, events & (events - 1), 0U);
			KUNIT_ASSERT_TRUE(test, !memcmp(ctl, before, sizeof(*ctl)));
			refused++;
		} else if (events & SMC_EV_HELD) {
			KUNIT_ASSERT_EQ(test, ctl->rx_seq, before->rx_seq);
			held++;
		} else {
			taken++;
		}
		/* The connection would end here; this one starts over. */
		if (ctl->rx_nr_waits && events & (SMC_EV_INVALID | SMC_EV_LOST))
			ctl->rx_nr_waits = 0;
		KUNIT_ASSERT_LE(test, ctl->rx_nr_waits, SMC_CDC_WAITS_MAX);
		KUNIT_ASSERT_LE(test, ctl->rx_prod - ctl->rx_cons_sent, 33ULL);
		KUNIT_ASSERT_LE(test, ctl->rx_prod - ctl->rx_cons, 33ULL);
		KUNIT_ASSERT_LE(test, ctl->tx_sent - ctl->tx_cons, 33ULL);
		KUNIT_ASSERT_LT(test, ctl->rx_cons_sent - ctl->rx_edge.lap, 33ULL);
		KUNIT_ASSERT_LT(test, ctl->tx_cons - ctl->tx_edge.lap, 33ULL);
		if (events & SMC_EV_URG)
			smc_cdc_urg_store(ctl, 0, r & 4);
		if (r & 1)
			smc_cdc_consume(ctl, smc_cdc_read_limit(ctl, 0) / 2);
		if (r & 8)
			smc_cdc_urg_take_out(ctl);
		ctl->tx_prep = ctl->tx_sent + x.len;
		if (r & 2)
			smc_cdc_build(ctl, &x, &answer);
	}
	KUNIT_EXPECT_GT(test, taken, 500U);
	KUNIT_EXPECT_GT(test, refused, 500U);
	KUNIT_EXPECT_GT(test, held, 500U);
	KUNIT_EXPECT_GT(test, ctl->rx_edge.wrap, 10);
	KUNIT_EXPECT_GT(test, ctl->tx_edge.wrap, 10);
}

/*
 * Two machines with real bytes. Byte n of either stream is a function of n. A write is
 * carried out when it is posted, the earliest possible time, and its CDC arrives later. A
 * write to a byte that is not read yet is an error. Completions come later still.
 */
#define SIM_QUEUE	8

struct sim_entry {
	struct smc_cdc_msg msg;
	u32 len;	/* for smc_cdc_done() */
	u64 end;	/* position in the stream behind it */
	u64 mark;	/* with U: position behind the urgent byte */
};

struct sim_end {
	struct smc_cdc_ctl ctl;
	u8 *ring;
	u64 nr_prep, nr_sent, nr_done;
	u64 mark, mark_last;		/* positions behind them, or 0 */
	struct sim_entry q[SIM_QUEUE];	/* posted .. delivered .. completed */
	u32 posted, delivered, completed;
	/* The reader's side. */
	u8 *rmbe;
	bool *is_unread;
	u64 nr_got, nr_seen_mark;
	u32 nr_aside;
	bool is_deployed;		/* it announces reads as deployed peers do */
	u32 nr_updates;
};

struct sim {
	struct kunit *test;
	struct rnd_state rnd;
	struct sim_end end[2];
	bool loses_messages;
	bool is_urgent;
	bool is_out_of_line;
	u32 nr_moves;
};

static u8 sim_byte(u64 n)
{
	return n * 197 + (n >> 8) * 31 + (n >> 16);
}

static u32 sim_random(struct sim *s, u32 below)
{
	return prandom_u32_state(&s->rnd) % below;
}

static void sim_init_end(struct kunit *test, struct sim_end *e, u32 snd, struct smc_edge rx,
			 struct smc_edge tx)
{
	smc_cdc_ctl_init(&e->ctl, rx.base, rx.size, tx.size, snd);
	/* As after a long run: every number is about to wrap. */
	e->ctl.rx_cons_sent = set_lap(&e->ctl.rx_edge, curs(65533, rx.base));
	e->ctl.rx_cons = e->ctl.rx_cons_sent;
	e->ctl.rx_prod = e->ctl.rx_cons_sent;
	e->ctl.tx_cons = set_lap(&e->ctl.tx_edge, curs(65533, tx.base));
	e->ctl.tx_fin = e->ctl.tx_cons;
	e->ctl.tx_sent = e->ctl.tx_cons;
	e->ctl.tx_prep = e->ctl.tx_cons;
	e->ctl.tx_seq = 65500;
	e->ctl.tx_seq_done = 65500;
	e->ctl.rx_seq = 65500;
	e->ring = kunit_kzalloc(test, snd, GFP_KERNEL);
	e->rmbe = kunit_kzalloc(test, rx.size, GFP_KERNEL);
	e->is_unread = kunit_kzalloc(test, rx.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, e->ring);
	KUNIT_ASSERT_NOT_NULL(test, e->rmbe);
	KUNIT_ASSERT_NOT_NULL(test, e->is_unread);
	memset(e->rmbe, 0xee, rx.base);
}

static struct sim *sim_new(struct kunit *test, u32 snd, struct smc_edge one, struct smc_edge two,
			   u64 seed)
{
	struct sim *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	prandom_seed_state(&s->rnd, seed);
	sim_init_end(test, &s->end[0], snd, one, two);
	sim_init_end(test, &s->end[1], snd, two, one);
	return s;
}

static void sim_prepare(struct sim *s, struct sim_end *e, u32 n)
{
	u32 size = e->ctl.snd_size, room = size - (u32)(e->nr_prep - e->nr_done);

	n = min(n, room);
	if (!n)
		return;
	while (n--)
		e->ring[e->ctl.tx_prep++ % size] = sim_byte(e->nr_prep++);
	if (!s->is_urgent || (!e->ctl.tx_urg_is_open && sim_random(s, 8)))
		return;
	if (e->mark && (!e->ctl.tx_urg_is_open || e->mark_last))
		e->mark_last = e->nr_prep;
	else
		e->mark = e->nr_prep;
	/* One piece of an urgent send() or, one in three times, the last. */
	smc_cdc_open_urgent(&e->ctl);
	if (!sim_random(s, 3))
		smc_cdc_end_urgent(&e->ctl);
}

/* Carry out a plan. @again: the bytes may have been written before. */
static void sim_write(struct sim *s, struct sim_end *e, struct sim_end *to,
		      const struct smc_xfer *x, bool again)
{
	u32 i, k, n, at, bad = 0, total = 0;

	for (i = 0; i < x->nr_parts; i++) {
		const struct smc_xfer_part *part = &x->part[i];

		KUNIT_ASSERT_GE(s->test, part->off, to->ctl.rx_edge.base);
		KUNIT_ASSERT_LE(s->test, part->off + part->len, to->ctl.rx_edge.size);
		at = part->off;
		for (k = 0; k < part->nr_src; k++) {
			const u8 *from = e->ring + part->src[k].off;

			for (n = 0; n < part->src[k].len; n++, at++) {
				if (to->is_unread[at])
					bad += !again ||
					       to->rmbe[at] != from[n];
				else if (!again)
					to->is_unread[at] = true;
				to->rmbe[at] = from[n];
			}
			total += part->src[k].len;
		}
		bad += at != part->off + part->len;
	}
	KUNIT_ASSERT_EQ(s->test, bad, 0U);
	KUNIT_ASSERT_EQ(s->test, total, x->len);
}

static struct sim_entry *sim_post(struct sim_end *e,
				  const struct smc_cdc_msg *msg, u32 len)
{
	struct sim_entry *q = &e->q[e->posted++ % SIM_QUEUE];

	*q = (struct sim_entry){ .msg = *msg, .len = len, .end = e->nr_sent };
	if (msg->prod_flags & U) {
		q->mark = e->mark;
		e->mark = e->mark_last;
		e->mark_last = 0;
	}
	return q;
}

/* The rule by which a deployed reader announces reads. */
static bool sim_deployed_is_needed(const struct sim_end *e)
{
	const struct smc_cdc_ctl *ctl = &e->ctl;
	u32 size = ctl->rx_edge.size;
	u32 gain = ctl->rx_cons - ctl->rx_cons_sent;
	u32 window = smc_edge_space(&ctl->rx_edge) - (u32)(ctl->rx_prod - ctl->rx_cons_sent);

	return gain > max(size / 10, 2304U) &&
	       (window <= size / 2 || (ctl->rx_prod_flags & B));
}

static bool sim_push(struct sim *s, u32 who)
{
	struct sim_end *e = &s->end[who], *to = &s->end[!who];
	struct smc_cdc_msg msg = {};
	struct smc_xfer x;
	bool is_needed;

	if (e->posted - e->completed == SIM_QUEUE)
		return false;
	smc_cdc_plan(&e->ctl, e->ctl.tx_message, &x);
	is_needed = e->is_deployed ? sim_deployed_is_needed(e) :
				     smc_cdc_is_needed(&e->ctl);
	if (!x.len && !is_needed)
		return false;
	sim_write(s, e, to, &x, false);
	KUNIT_ASSERT_EQ(s->test, smc_cdc_build(&e->ctl, x.len ? &x : NULL,
					       &msg), 0);
	e->nr_sent += x.len;
	e->nr_updates += !x.len;
	sim_post(e, &msg, x.len);
	/* A message that fills the window carries B, or the reader could not know. */
	KUNIT_ASSERT_EQ(s->test, !!(msg.prod_flags & B),
			!smc_cdc_window(&e->ctl));
	return true;
}

/* The urgent byte has left the ring and can be read out of line. */
static void sim_note_aside(struct sim *s, struct sim_end *e)
{
	struct smc_cdc_ctl *ctl = &e->ctl;
	u32 off = smc_edge_off(&ctl->rx_edge, ctl->rx_urg_mark);

	KUNIT_ASSERT_TRUE(s->test, e->is_unread[off]);
	e->is_unread[off] = false;
	KUNIT_ASSERT_TRUE(s->test, smc_cdc_is_at_mark(ctl, 0));
	KUNIT_ASSERT_EQ(s->test, smc_cdc_urg_read(ctl, e->nr_aside % 2),
			sim_byte(e->nr_got));
	e->nr_got++;
	e->nr_aside++;
}

static void sim_check_mark(struct sim *s, struct sim_end *to,
			   const struct sim_entry *q, u32 events)
{
	s64 mark = smc_cdc_urg_distance(&to->ctl);

	if (!(events & SMC_EV_URG))
		return;
	KUNIT_ASSERT_GE(s->test, mark, 0);
	KUNIT_ASSERT_EQ(s->test, to->nr_got + mark + 1, q->mark);
	KUNIT_ASSERT_GT(s->test, q->mark, to->nr_seen_mark);
	to->nr_seen_mark = q->mark;
	smc_cdc_urg_store(&to->ctl,
			  to->rmbe[smc_edge_off(&to->ctl.rx_edge, to->ctl.rx_urg_mark)],
			  !s->is_out_of_line);
	if (s->is_out_of_line && !mark)
		sim_note_aside(s, to);
}

static bool sim_deliver(struct sim *s, u32 who)
{
	struct sim_end *e = &s->end[who], *to = &s->end[!who];
	struct sim_entry *q;
	u32 events;

	if (e->delivered == e->posted)
		return false;
	q = &e->q[e->delivered++ % SIM_QUEUE];
	/* A later message repeats everything but an urgent mark. */
	if (s->loses_messages && e->delivered != e->posted && !sim_random(s, 3))
		return true;
	events = smc_cdc_apply(&to->ctl, &q->msg);
	KUNIT_ASSERT_FALSE(s->test, events & (SMC_EV_INVALID | SMC_EV_LOST |
					      SMC_EV_STALE));
	KUNIT_ASSERT_EQ(s->test, (u64)smc_cdc_readable(&to->ctl),
			q->end - to->nr_got);
	sim_check_mark(s, to, q, events);
	return true;
}

static bool sim_complete(struct sim *s, u32 who)
{
	struct sim_end *e = &s->end[who];
	struct sim_entry *q;

	if (e->completed == e->delivered)
		return false;
	q = &e->q[e->completed++ % SIM_QUEUE];
	smc_cdc_done(&e->ctl, q->msg.seq, q->len);
	e->nr_done = q->end;
	KUNIT_ASSERT_EQ(s->test, e->ctl.tx_seq_done, q->msg.seq);
	KUNIT_ASSERT_EQ(s->test, (u64)inflight(&e->ctl),
			e->nr_sent - e->nr_done);
	return true;
}

static bool sim_read(struct sim *s, u32 who, u32 n)
{
	struct sim_end *e = &s->end[who];
	u64 end = e->ctl.rx_cons;
	u32 i, off, bad = 0;

	n = min(n, s->is_out_of_line ? smc_cdc_read_limit(&e->ctl, 0) :
					smc_cdc_readable(&e->ctl));
	for (i = 0; i < n; i++) {
		off = smc_edge_off(&e->ctl.rx_edge, end++);
		bad += !e->is_unread[off];
		bad += e->rmbe[off] != sim_byte(e->nr_got + i);
		e->is_unread[off] = false;
	}
	KUNIT_ASSERT_EQ(s->test, bad, 0U);
	KUNIT_ASSERT_EQ(s->test, smc_cdc_consume(&e->ctl, n), 0);
	KUNIT_ASSERT_EQ(s->test, end, e->ctl.rx_cons);
	e->nr_got += n;
	if (s->is_out_of_line && smc_cdc_urg_take_out(&e->ctl))
		sim_note_aside(s, e);
	return n;
}

/*
 * The link fails: posted messages are lost, delivered ones without a completion may have
 * arrived.
 */
static void sim_move(struct sim *s, u32 who)
{
	struct sim_end *e = &s->end[who], *to = &s->end[!who];
	u64 mark = e->ctl.tx_cons < e->ctl.tx_urg_sent ? e->nr_sent : 0;
	struct smc_cdc_msg msg = {};
	struct sim_entry *q;
	struct smc_xfer x;
	u32 len;

	e->completed = e->posted;
	e->delivered = e->posted;
	KUNIT_ASSERT_EQ(s->test, smc_cdc_build_validation(&e->ctl, &msg), 0);
	KUNIT_ASSERT_EQ(s->test, smc_cdc_apply(&to->ctl, &msg),
			(u32)SMC_EV_VALID);
	len = smc_cdc_replay(&e->ctl, &x);
	KUNIT_ASSERT_EQ(s->test, x.len, len);
	KUNIT_ASSERT_LE(s->test, (u64)len, e->nr_sent - e->nr_done);
	sim_write(s, e, to, &x, true);
	KUNIT_ASSERT_EQ(s->test, smc_cdc_build(&e->ctl, NULL, &msg), 0);
	q = &e->q[e->posted++ % SIM_QUEUE];
	*q = (struct sim_entry){
		.msg = msg, .len = len, .end = e->nr_sent, .mark = mark,
	};
	s->nr_moves++;
}

static void sim_step(struct sim *s, u32 who, u32 most, u32 move_odds)
{
	switch (sim_random(s, 10)) {
	case 0:
	case 1:
		sim_prepare(s, &s->end[who], sim_random(s, most));
		break;
	case 2:
	case 3:
		sim_push(s, who);
		break;
	case 4:
	case 5:
		sim_deliver(s, who);
		break;
	case 6:
		sim_complete(s, who);
		break;
	case 7:
		sim_read(s, who, 1 + sim_random(s, 3));
		break;
	case 8:
		sim_read(s, who, sim_random(s, most));
		break;
	default:
		if (move_odds && !sim_random(s, move_odds))
			sim_move(s, who);
	}
}

/* Deliver everything: then every byte must have arrived, and no writer waits. */
static void sim_drain(struct sim *s)
{
	bool moved = true;
	u32 who;

	s->loses_messages = false;
	for (who = 0; who < 2; who++)
		smc_cdc_end_urgent(&s->end[who].ctl);
	while (moved) {
		moved = false;
		for (who = 0; who < 2; who++) {
			moved |= sim_push(s, who);
			moved |= sim_deliver(s, who);
			moved |= sim_complete(s, who);
			moved |= sim_read(s, who, U32_MAX);
		}
	}
	for (who = 0; who < 2; who++) {
		struct sim_end *e = &s->end[who];

		KUNIT_ASSERT_EQ(s->test, e->nr_prep, s->end[!who].nr_got);
		KUNIT_ASSERT_EQ(s->test, e->nr_prep, e->nr_done);
		KUNIT_ASSERT_EQ(s->test, e->mark, 0ULL);
		KUNIT_ASSERT_EQ(s->test, e->posted, e->completed);
	}
}

static void sim_run(struct sim *s, u32 steps, u32 most, u32 move_odds)
{
	u32 i, k;

	for (i = 0; i < steps; i++) {
		sim_step(s, sim_random(s, 2), most, move_odds);
		if (i % 500 == 499)
			sim_drain(s);
	}
	sim_drain(s);
	for (i = 0; i < 2; i++) {
		struct sim_end *e = &s->end[i];

		for (k = 0; k < e->ctl.rx_edge.base; k++)
			KUNIT_EXPECT_EQ(s->test, e->rmbe[k], 0xee);
	}
}

struct sim_row {
	u32 snd;
	struct smc_edge one;
	struct smc_edge two;
};

/* Both dialects, odd and even, equal and different, tiny and less tiny. */
static const struct sim_row sim_rows[] = {
	{ 64, { .size = 64 }, { .size = 64 } },
	{ 64, { .size = 64, .base = 4 }, { .size = 64, .base = 4 } },
	{ 32, { .size = 37, .base = 4 }, { .size = 101, .base = 4 } },
	{ 128, { .size = 37 }, { .size = 23 } },
	{ 8, { .size = 200, .base = 4 }, { .size = 9, .base = 4 } },
	{ 256, { .size = 5, .base = 4 }, { .size = 128, .base = 4 } },
	{ 1, { .size = 16 }, { .size = 1 } },
};

struct sim_how {
	bool loses;
	bool is_urgent;
	bool is_out_of_line;
	u32 move_odds;
};

static void sim_run_rows(struct kunit *test, struct sim_how how)
{
	u32 i, moves = 0;

	for (i = 0; i < ARRAY_SIZE(sim_rows); i++) {
		const struct sim_row *row = &sim_rows[i];
		u32 most = max3(row->snd, row->one.size, row->two.size);
		struct sim *s = sim_new(test, row->snd, row->one, row->two, i + 1);

		s->loses_messages = how.loses;
		s->is_urgent = how.is_urgent;
		s->is_out_of_line = how.is_out_of_line;
		sim_run(s, 6000, most, how.move_odds);
		moves += s->nr_moves;
		/* Sequence numbers have wrapped once, rings more often. */
		KUNIT_EXPECT_LT(test, s->end[0].ctl.tx_seq, 65500);
		KUNIT_EXPECT_LT(test, s->end[0].ctl.rx_edge.wrap, 60000);
		KUNIT_EXPECT_LT(test, s->end[1].ctl.rx_edge.wrap, 60000);
		if (how.is_urgent)
			KUNIT_EXPECT_GT(test, s->end[0].nr_seen_mark, 0ULL);
		KUNIT_EXPECT_EQ(test, !!s->end[0].nr_aside, how.is_out_of_line);
	}
	KUNIT_EXPECT_EQ(test, !!moves, !!how.move_odds);
}

static void cur_07_property_streams_survive(struct kunit *test)
{
	sim_run_rows(test, (struct sim_how){});
}

static void cdc_08_property_lost_messages_do_no_harm(struct kunit *test)
{
	sim_run_rows(test, (struct sim_how){ .loses = true });
}

static void urg_02_property_marks_stand_where_they_were_set(struct kunit *test)
{
	sim_run_rows(test, (struct sim_how){ .is_urgent = true });
}

static void api_11_property_urgent_bytes_leave_the_stream(struct kunit *test)
{
	sim_run_rows(test, (struct sim_how){
		.is_urgent = true, .is_out_of_line = true,
	});
}

static void fail_12_property_streams_survive_moves(struct kunit *test)
{
	sim_run_rows(test, (struct sim_how){ .move_odds = 5 });
}

static void fail_14_property_urgent_marks_survive_moves(struct kunit *test)
{
	sim_run_rows(test, (struct sim_how){
		.is_urgent = true, .move_odds = 5,
	});
}

/*
 * protocol.md: a deployed reader does not announce less than a tenth, even to a blocked
 * writer. Ours must not wait for that.
 */
static void blk_04_property_deployed_reader_never_stalls_us(struct kunit *test)
{
	struct smc_edge ring = { .size = 16384 };
	struct sim *s = sim_new(test, 16384, ring, ring, 17);

	s->end[0].is_deployed = true;
	s->end[1].is_deployed = true;
	sim_run(s, 1500, 6000, 0);
	KUNIT_EXPECT_GT(test, s->end[0].nr_got, 100000ULL);
	KUNIT_EXPECT_GT(test, s->end[0].nr_updates, 5U);
}

static struct kunit_case smc_cdc_wire_cases[] = {
	KUNIT_CASE(cdc_01_decode_gives_every_field),
	KUNIT_CASE(cdc_01_recorded_bytes_survive_the_codec),
	KUNIT_CASE(cdc_09_token_is_carried),
	KUNIT_CASE(cdc_01_truncations_are_refused),
	KUNIT_CASE(cdc_01_other_types_and_lengths_are_refused),
	KUNIT_CASE(cdc_01_builds_the_recorded_echo),
	KUNIT_CASE(urg_03_builds_the_recorded_urgent_byte),
	KUNIT_CASE(cur_04_begins_empty_at_four),
	KUNIT_CASE(cdc_03_sequence_starts_at_one_and_wraps_to_zero),
	KUNIT_CASE(cdc_07_sequence_counts_messages),
	KUNIT_CASE(cdc_05_older_is_discarded_newer_is_processed),
	KUNIT_CASE(cdc_06_comparison_wraps_and_drops_equal),
	KUNIT_CASE(fail_06_sr_is_the_last_processed),
	KUNIT_CASE(cdc_12_apply_stores_cursors_sequence_and_flags),
	KUNIT_CASE(cdc_13_each_flag_has_its_event),
	KUNIT_CASE(cdc_13_reserved_flags_are_not_kept),
	KUNIT_CASE(cdc_13_a_close_flag_is_an_event_once),
	KUNIT_CASE(cdc_14_nothing_counts_after_the_peers_close),
	KUNIT_CASE(close_26_bytes_after_done_are_refused),
	KUNIT_CASE(abrt_04_nothing_counts_after_the_peers_abort),
	KUNIT_CASE(abrt_04_nothing_but_the_end_counts_after_our_abort),
	KUNIT_CASE(cur_01_producer_cursor_is_what_the_writer_says),
	KUNIT_CASE(cur_02_consumer_cursor_is_what_the_reader_says),
	KUNIT_CASE(cur_06_consumer_wrap_after_a_partial_read),
	KUNIT_CASE(cur_07_writer_stops_at_the_received_cursor),
	KUNIT_CASE(cur_08_full_ring_is_all_readable),
	KUNIT_CASE(cur_09_two_segments_are_readable),
	KUNIT_CASE(cur_10_equal_wrap_tells_of_a_free_window),
	KUNIT_CASE(cur_11_wrap_numbers_overflow_in_both_cursors),
	KUNIT_CASE(cur_12_impossible_cursors_are_refused_whole),
	KUNIT_CASE(cur_12_deployed_cursor_zero_is_valid),
	KUNIT_CASE(tx_09_consume_advances_and_refuses_too_much),
	KUNIT_CASE(cdc_08_every_message_carries_the_whole_state),
	KUNIT_CASE(win_07_any_message_carries_the_consumer_cursor),
	KUNIT_CASE(win_11_current_and_sent_cursor_are_two),
	KUNIT_CASE(cdc_14_nothing_is_built_after_close),
	KUNIT_CASE(abrt_12_no_write_after_abort_was_asked_for),
	KUNIT_CASE(close_26_updates_still_go_out_after_done),
	KUNIT_CASE(close_18_nothing_is_written_to_a_closed_peer),
	KUNIT_CASE(build_refuses_more_than_may_be_written),
	KUNIT_CASE(win_02_update_goes_out_below_half_by_a_tenth),
	KUNIT_CASE(win_08_any_byte_is_reported_until_b_is_clear),
	KUNIT_CASE(win_08_b_makes_an_older_update_due),
	KUNIT_CASE(win_09_request_is_answered_at_once_if_stale),
	KUNIT_CASE(win_09_request_waits_for_consumption),
	KUNIT_CASE(win_10_we_never_ask),
	KUNIT_CASE(blk_01_filling_the_window_sets_b),
	KUNIT_CASE(blk_03_full_window_moves_only_the_wrap),
	KUNIT_CASE(blk_05_b_is_cleared_by_the_next_message),
	KUNIT_CASE(tx_06_bulk_goes_in_messages_of_a_quarter),
	KUNIT_CASE(blk_06_a_blocked_writer_sends_b),
	KUNIT_CASE(tx_10_scenario_1),
	KUNIT_CASE(tx_11_scenario_2),
	KUNIT_CASE(tx_12_scenario_3),
	KUNIT_CASE(blk_07_scenario_4),
	KUNIT_CASE(urg_14_scenario_5),
	KUNIT_CASE(urg_15_scenario_6),
	KUNIT_CASE(urg_01_p_at_once_sendable_or_not),
	KUNIT_CASE(urg_02_u_only_with_the_cursor_behind_the_byte),
	KUNIT_CASE(urg_05_mark_before_cursor_four_is_the_last_byte),
	KUNIT_CASE(urg_05_the_same_mark_twice_is_one_event),
	KUNIT_CASE(urg_05_newer_mark_replaces_an_unread_one),
	KUNIT_CASE(urg_06_a_mark_on_a_byte_already_read_sends_an_update),
	KUNIT_CASE(urg_05_mark_without_any_byte_is_none),
	KUNIT_CASE(urg_06_reading_the_urgent_byte_sends_an_update),
	KUNIT_CASE(urg_07_no_write_until_acknowledged),
	KUNIT_CASE(urg_09_flags_are_clear_after_the_acknowledgement),
	KUNIT_CASE(urg_10_closed_window_p_goes_alone),
	KUNIT_CASE(urg_12_opened_window_p_and_u_without_b),
	KUNIT_CASE(urg_13_later_data_follow_the_acknowledgement),
	KUNIT_CASE(urg_13_second_mark_waits_behind_the_first),
	KUNIT_CASE(urg_16_u_waits_for_the_last_urgent_byte),
	KUNIT_CASE(urg_02_flags_are_not_repeated_without_data),
	KUNIT_CASE(urg_04_each_urgent_byte_is_an_event_once),
	KUNIT_CASE(api_11_out_of_line_byte_is_read_once),
	KUNIT_CASE(api_11_no_urgent_byte_is_einval_one_due_is_eagain),
	KUNIT_CASE(api_11_a_read_ends_in_front_of_the_mark),
	KUNIT_CASE(urg_06_byte_out_of_line_makes_room_at_once),
	KUNIT_CASE(urg_05_illegal_moves_are_refused),
	KUNIT_CASE(api_11_newer_mark_replaces_a_byte_out_of_line),
	KUNIT_CASE(api_11_byte_not_asked_for_is_missed),
	KUNIT_CASE(api_11_byte_out_of_line_can_be_read_in_line),
	KUNIT_CASE(urg_16_open_mark_moves_and_holds_one_byte),
	KUNIT_CASE(urg_16_open_mark_that_ends_early_is_the_last_byte),
	KUNIT_CASE(urg_01_single_open_byte_is_announced),
	KUNIT_CASE(urg_13_complete_mark_behind_an_open_one),
	KUNIT_CASE(urg_13_open_mark_behind_another_one),
	KUNIT_CASE(fail_05_ss_follows_good_completions),
	KUNIT_CASE(fail_07_validation_is_f_and_ss),
	KUNIT_CASE(cdc_04_validation_uses_no_sequence_number),
	KUNIT_CASE(cdc_14_no_validation_after_close_arrived),
	KUNIT_CASE(close_02_the_last_word_is_due_until_it_has_arrived),
	KUNIT_CASE(fail_09_nothing_is_missing),
	KUNIT_CASE(fail_10_loss_is_found),
	KUNIT_CASE(fail_10_a_queue_worked_off_late_is_no_loss),
	KUNIT_CASE(fail_11_a_move_without_validation_may_be_harmless),
	KUNIT_CASE(fail_11_a_move_without_validation_waits),
	KUNIT_CASE(fail_10_fail_11_a_third_move_with_a_gap_is_a_loss),
	KUNIT_CASE(fail_17_win_09_a_held_request_survives),
	KUNIT_CASE(fail_11_abrt_02_an_abort_does_not_wait_for_missing_data),
	KUNIT_CASE(urg_05_first_byte_of_the_stream_is_urgent),
	KUNIT_CASE(fail_10_an_abort_does_not_wait),
	KUNIT_CASE(fail_10_nothing_is_missed_behind_the_last_word),
	KUNIT_CASE(fail_10_two_queues_may_be_worked_off_late),
	KUNIT_CASE(fail_10_the_second_of_two_may_be_lost),
	KUNIT_CASE(fail_10_what_is_kept_may_be_replayed),
	KUNIT_CASE(fail_10_a_peer_in_a_hurry_is_refused),
	KUNIT_CASE(fail_10_swallowed_message_is_noticed),
	KUNIT_CASE(cdc_15_garbage_in_a_validation_is_not_applied),
	KUNIT_CASE(fail_14_replay_merges_what_is_not_done),
	KUNIT_CASE(fail_14_a_dead_link_does_not_use_up_the_numbers),
	KUNIT_CASE(fail_12_replay_leaves_out_what_was_acknowledged),
	KUNIT_CASE(fail_12_nothing_is_written_again_after_the_end),
	KUNIT_CASE(fail_12_replay_says_urgent_and_close_again),
	KUNIT_CASE(fail_13_replayed_old_numbers_are_harmless),
	KUNIT_CASE(fail_13_deployed_peer_steps_back_after_a_move),
	KUNIT_CASE(fail_13_cur_12_stepping_back_has_an_end),
	KUNIT_CASE(cur_12_noise_never_breaks_the_rings),
	KUNIT_CASE_SLOW(cur_07_property_streams_survive),
	KUNIT_CASE_SLOW(cdc_08_property_lost_messages_do_no_harm),
	KUNIT_CASE_SLOW(urg_02_property_marks_stand_where_they_were_set),
	KUNIT_CASE_SLOW(api_11_property_urgent_bytes_leave_the_stream),
	KUNIT_CASE_SLOW(fail_12_property_streams_survive_moves),
	KUNIT_CASE_SLOW(fail_14_property_urgent_marks_survive_moves),
	KUNIT_CASE_SLOW(blk_04_property_deployed_reader_never_stalls_us),
	{}
};

static struct kunit_suite smc_cdc_wire_suite = {
	.name = "smc_cdc_wire",
	.test_cases = smc_cdc_wire_cases,
};

kunit_test_suite(smc_cdc_wire_suite);
