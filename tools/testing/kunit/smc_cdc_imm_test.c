// SPDX-License-Identifier: GPL-2.0
/*
 * Immediate data in place of CDC messages (protocol.md): what it may stand for, what a receiver
 * refuses, and a writer that changes links at random while old queues are processed late.
 */
#include "smc_kunit.h"
#include <linux/prandom.h>

#include "../../../net/smc/proto/smc_cdc_imm.c"

#define IMM_TOKEN	0xabcd0007U
#define IMM_NAME	0xcd07
#define IMM_SIZE	65536U
#define IMM_LINKS	3	/* queues that B has not drained yet */
#define IMM_QUEUE	64

static struct smc_cdc_ctl *ctl_new(struct kunit *test, u32 size)
{
	struct smc_cdc_ctl *ctl = kunit_kzalloc(test, sizeof(*ctl), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctl);
	smc_cdc_ctl_init(ctl, 0, size, size, size);
	ctl->tx_imm_name = smc_imm_name(IMM_TOKEN);
	return ctl;
}

/* A message without news; its cursors are those of the first lap */
static struct smc_cdc_msg plain_msg(const struct smc_cdc_ctl *ctl, u16 seq, u8 link_num)
{
	return (struct smc_cdc_msg){
		.seq = seq,
		.prod.off = ctl->rx_prod,
		.cons.off = ctl->tx_cons,
		.link_num = link_num,
	};
}

/* Build a message with @len bytes of data. */
static void build(struct kunit *test, struct smc_cdc_ctl *ctl, u32 len, struct smc_cdc_msg *msg)
{
	struct smc_xfer x = { .len = len };

	ctl->tx_prep += len;
	KUNIT_ASSERT_EQ(test, smc_cdc_build(ctl, len ? &x : NULL, msg), 0);
}

/* Same with immediate data */
static u32 build_imm(struct smc_cdc_ctl *ctl, u32 len)
{
	ctl->tx_prep += len;
	return smc_cdc_build_imm(ctl, len);
}

/* One that has sent 100 bytes, which the peer has read, and received as many. */
static struct smc_cdc_ctl *ctl_proved(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, IMM_SIZE);
	struct smc_cdc_msg msg;

	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(ctl, 100));
	build(test, ctl, 100, &msg);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(ctl, 100));
	msg.cons = msg.prod;
	msg.link_num = 1;
	KUNIT_ASSERT_EQ(test, smc_cdc_apply(ctl, &msg), (u32)(SMC_EV_DATA | SMC_EV_SPACE));
	ctl->rx_proof = 0;
	return ctl;
}

static void a_name_is_part_of_a_token(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, smc_imm_name(IMM_TOKEN), IMM_NAME);
	KUNIT_EXPECT_EQ(test, smc_imm_index(IMM_NAME), 7);
	KUNIT_EXPECT_EQ(test, smc_imm_name(0xffff00ff), 0xffff);
	/* an index of more than 8 bits has none */
	KUNIT_EXPECT_EQ(test, smc_imm_name(0xabcd0100), 0);
	KUNIT_EXPECT_EQ(test, smc_imm_name(0xabcdff01), 0);
	KUNIT_EXPECT_EQ(test, smc_imm_get_name(0xcd07ffff), IMM_NAME);
	KUNIT_EXPECT_EQ(test, smc_imm_get_step(0xcd07ffff), 0xffffU);
	KUNIT_EXPECT_EQ(test, smc_imm_get_step(0xcd070000), 0x10000U);
}

static void it_takes_a_sequence_number_cdc_03_cdc_07(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_proved(test);

	KUNIT_EXPECT_TRUE(test, smc_cdc_may_use_imm(ctl, 64));
	KUNIT_EXPECT_EQ(test, build_imm(ctl, 64), 0xcd070040U);
	KUNIT_EXPECT_EQ(test, ctl->tx_seq, 2);
	KUNIT_EXPECT_EQ(test, ctl->tx_sent, 164ULL);
	KUNIT_EXPECT_EQ(test, ctl->tx_fin, 0ULL);
	KUNIT_EXPECT_EQ(test, smc_cdc_window(ctl), IMM_SIZE - 64);
}

/* P and U end with the next announcement: a later urgent byte needs P again. */
static void it_clears_the_flags_urg_01_urg_09(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_proved(test);
	struct smc_cdc_msg msg, ack = plain_msg(ctl, 2, 1);
	struct smc_xfer x = { .len = 1 };

	ctl->tx_prep++;
	smc_cdc_mark_urgent(ctl);
	KUNIT_ASSERT_EQ(test, smc_cdc_build(ctl, &x, &msg), 0);
	KUNIT_ASSERT_EQ(test, msg.prod_flags, SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT);
	ack.cons = msg.prod;
	smc_cdc_apply(ctl, &ack);
	build_imm(ctl, 10);
	KUNIT_EXPECT_EQ(test, ctl->tx_prod_flags, 0);
	ctl->tx_prep++;
	smc_cdc_open_urgent(ctl);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_needed(ctl));
}

/* What immediate data cannot say needs a message. */
static void more_to_say_needs_a_message(struct kunit *test)
{
	struct smc_cdc_ctl *had = ctl_proved(test), ctl = *had;

	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(&ctl, 0));
	KUNIT_EXPECT_TRUE(test, smc_cdc_may_use_imm(&ctl, 1000));
	build_imm(&ctl, 1000);
	/* P and U, and the wait for the acknowledgment of U */
	ctl.tx_prep += 10;
	smc_cdc_mark_urgent(&ctl);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(&ctl, 5));
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(&ctl, 10));
	/* D */
	ctl = *had;
	smc_cdc_set_conn_flags(&ctl, SMC_CDC_DONE);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(&ctl, 10));
	/* no agreement, or no name */
	ctl = *had;
	ctl.tx_imm_name = 0;
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(&ctl, 10));
}

/* A step of more than 16 bits does not fit, however large the rings are. */
static void a_long_step_needs_a_message(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, 1 << 20);

	ctl->tx_proof = 0;
	KUNIT_EXPECT_TRUE(test, smc_cdc_may_use_imm(ctl, 65536));
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(ctl, 65537));
	KUNIT_EXPECT_EQ(test, build_imm(ctl, 65536), (u32)IMM_NAME << 16);
}

/* A step that fills the element says B: both sides know that the writer waits. */
static void a_full_element_says_blocked_blk_05_win_08(struct kunit *test)
{
	struct smc_cdc_ctl *a = ctl_proved(test), *b = ctl_proved(test);
	struct smc_cdc_ctl *c = ctl_new(test, IMM_SIZE);
	struct smc_cdc_msg msg;

	/* B has 100 bytes of A, which it has read and announced. */
	KUNIT_ASSERT_EQ(test, smc_cdc_consume(b, 100), 0);
	KUNIT_ASSERT_EQ(test, smc_cdc_build(b, NULL, &msg), 0);
	*c = *b;

	KUNIT_ASSERT_TRUE(test, smc_cdc_may_use_imm(a, IMM_SIZE));
	build_imm(a, IMM_SIZE);
	KUNIT_EXPECT_EQ(test, a->tx_prod_flags, SMC_CDC_BLOCKED);
	a->tx_prep++;
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_needed(a));
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(b, 1, IMM_SIZE),
			(u32)(SMC_EV_DATA | SMC_EV_BLOCKED));
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_needed(b));
	smc_cdc_consume(b, 1);
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_needed(b));

	/* A byte less says nothing: the window of one byte is enough. */
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(c, 1, IMM_SIZE - 1), (u32)SMC_EV_DATA);
	smc_cdc_consume(c, 1);
	KUNIT_EXPECT_FALSE(test, smc_cdc_is_needed(c));
}

/* The consumer cursor goes along before an update would be due. */
static void a_consumer_cursor_is_not_kept_back_win_02(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_proved(test);
	struct smc_cdc_msg msg = plain_msg(ctl, 2, 1);

	msg.prod.off = 60000;
	smc_cdc_apply(ctl, &msg);
	smc_cdc_consume(ctl, IMM_SIZE / 10 - 1);
	KUNIT_EXPECT_TRUE(test, smc_cdc_may_use_imm(ctl, 10));
	smc_cdc_consume(ctl, 1);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(ctl, 10));
	KUNIT_EXPECT_TRUE(test, smc_cdc_is_needed(ctl));
	KUNIT_EXPECT_EQ(test, smc_cdc_build(ctl, NULL, &msg), 0);
	KUNIT_EXPECT_TRUE(test, smc_cdc_may_use_imm(ctl, 10));
}

/* The peer waits for each byte read: it is worth a message. */
static void a_consumer_cursor_that_is_awaited_needs_a_message_win_08_win_09(struct kunit *test)
{
	static const struct {
		const char *what;
		u8 flags[2];	/* of two messages */
		bool is_answered;	/* between them and the read */
	} rows[] = {
		{ "blocked", { 0, SMC_CDC_BLOCKED } },
		{ "asked for, and answered", { 0, SMC_CDC_UPDATE_REQ }, true },
		{ "asked for, and R is clear again", { SMC_CDC_UPDATE_REQ, 0 } },
	};
	struct smc_cdc_msg msg;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_cdc_ctl *ctl = ctl_proved(test);

		for (k = 0; k < 2; k++) {
			msg = plain_msg(ctl, 2 + k, 1);
			msg.prod.off = 60000;
			msg.prod_flags = rows[i].flags[k];
			smc_cdc_apply(ctl, &msg);
		}
		if (rows[i].is_answered)
			smc_cdc_build(ctl, NULL, &msg);
		KUNIT_EXPECT_TRUE_MSG(test, smc_cdc_may_use_imm(ctl, 10), "%s", rows[i].what);
		smc_cdc_consume(ctl, 1);
		KUNIT_EXPECT_FALSE_MSG(test, smc_cdc_may_use_imm(ctl, 10), "%s", rows[i].what);
	}
}

/* Only a cursor beyond what was received before proves that a CDC of the peer's link came. */
static void a_consumer_cursor_is_not_kept_back_before_it_proves_the_link(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_proved(test);
	struct smc_cdc_msg msg = plain_msg(ctl, 2, 2);

	msg.prod.off = 300;
	smc_cdc_apply(ctl, &msg);
	smc_cdc_consume(ctl, 300);
	KUNIT_ASSERT_EQ(test, smc_cdc_build(ctl, NULL, &msg), 0);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(ctl, 2, 100), (u32)SMC_EV_DATA);
	smc_cdc_consume(ctl, 50);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(ctl, 10));
	KUNIT_ASSERT_EQ(test, smc_cdc_build(ctl, NULL, &msg), 0);
	smc_cdc_consume(ctl, 50);
	KUNIT_EXPECT_TRUE(test, smc_cdc_may_use_imm(ctl, 10));
}

/* After a change of link only data sent there proves that its queue is in use. */
static void a_new_link_needs_a_proof_fail_12(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_proved(test);
	struct smc_cdc_msg msg, ack = plain_msg(ctl, 2, 1);

	build_imm(ctl, 200);
	KUNIT_ASSERT_EQ(test, smc_cdc_build_validation(ctl, &msg), 0);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(ctl, 10));
	/* the reader has what was sent on the old link */
	ack.cons.off = ctl->tx_sent;
	smc_cdc_apply(ctl, &ack);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(ctl, 10));
	build(test, ctl, 50, &msg);
	KUNIT_EXPECT_FALSE(test, smc_cdc_may_use_imm(ctl, 10));
	ack.seq++;
	ack.cons = msg.prod;
	smc_cdc_apply(ctl, &ack);
	KUNIT_EXPECT_TRUE(test, smc_cdc_may_use_imm(ctl, 10));
}

/* Small messages alternate: soon both sides use immediate data, and not before they may. */
static void a_ping_pong_needs_few_messages(struct kunit *test)
{
	struct smc_cdc_ctl *side[] = { ctl_new(test, IMM_SIZE), ctl_new(test, IMM_SIZE) };
	struct smc_cdc_msg msg;
	u32 i, nr_msgs = 0;

	for (i = 0; i < 200; i++) {
		struct smc_cdc_ctl *from = side[i & 1], *to = side[!(i & 1)];

		if (smc_cdc_may_use_imm(from, 16)) {
			build_imm(from, 16);
			KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(to, 1, 16), (u32)SMC_EV_DATA);
		} else {
			nr_msgs++;
			build(test, from, 16, &msg);
			msg.link_num = 1;
			KUNIT_EXPECT_TRUE(test, smc_cdc_apply(to, &msg) & SMC_EV_DATA);
		}
		KUNIT_EXPECT_EQ(test, smc_cdc_consume(to, 16), 0);
		KUNIT_EXPECT_FALSE(test, smc_cdc_is_needed(to));
	}
	KUNIT_EXPECT_LE(test, nr_msgs, 6U);
}

/* Nothing that a message may change has changed. */
static void expect_unchanged(struct kunit *test, const struct smc_cdc_ctl *ctl,
			     const struct smc_cdc_ctl *had)
{
	KUNIT_EXPECT_EQ(test, ctl->rx_prod, had->rx_prod);
	KUNIT_EXPECT_EQ(test, ctl->rx_cons, had->rx_cons);
	KUNIT_EXPECT_EQ(test, ctl->tx_cons, had->tx_cons);
	KUNIT_EXPECT_EQ(test, ctl->rx_seq, had->rx_seq);
	KUNIT_EXPECT_EQ(test, ctl->rx_link_num, had->rx_link_num);
	KUNIT_EXPECT_EQ(test, ctl->rx_proof, had->rx_proof);
	KUNIT_EXPECT_EQ(test, ctl->tx_proof, had->tx_proof);
	KUNIT_EXPECT_EQ(test, ctl->rx_prod_flags, had->rx_prod_flags);
	KUNIT_EXPECT_EQ(test, ctl->rx_conn_flags, had->rx_conn_flags);
	KUNIT_EXPECT_EQ(test, ctl->rx_is_update_due, had->rx_is_update_due);
	KUNIT_EXPECT_EQ(test, ctl->rx_nr_waits, had->rx_nr_waits);
}

static void a_step_is_checked_cur_12(struct kunit *test)
{
	struct smc_cdc_ctl *had = ctl_proved(test), ctl;
	struct smc_cdc_msg done = plain_msg(had, 2, 1);

	done.conn_flags = SMC_CDC_DONE;
	ctl = *had;
	/* 100 bytes are unread */
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(&ctl, 1, 65437), (u32)SMC_EV_INVALID);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(&ctl, 1, 65536), (u32)SMC_EV_INVALID);
	expect_unchanged(test, &ctl, had);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(&ctl, 1, 65436),
			(u32)(SMC_EV_DATA | SMC_EV_BLOCKED));
	KUNIT_EXPECT_EQ(test, smc_cdc_readable(&ctl), IMM_SIZE);
	KUNIT_EXPECT_EQ(test, ctl.rx_seq, 2);
	/* behind the end of the stream */
	ctl = *had;
	smc_cdc_apply(&ctl, &done);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(&ctl, 1, 1), (u32)SMC_EV_INVALID);
	/* an element smaller than the step */
	smc_cdc_ctl_init(&ctl, 4, 16384, IMM_SIZE, IMM_SIZE);
	ctl.rx_link_num = 1;
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(&ctl, 1, 16381), (u32)SMC_EV_INVALID);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(&ctl, 1, 16380),
			(u32)(SMC_EV_DATA | SMC_EV_BLOCKED));
}

static void it_counts_on_the_link_of_the_last_message_only(struct kunit *test)
{
	struct smc_cdc_ctl *ctl = ctl_new(test, IMM_SIZE);

	/* nothing was received yet */
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(ctl, 1, 10), (u32)SMC_EV_STALE);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(ctl, 0, 10), (u32)SMC_EV_STALE);
	ctl = ctl_proved(test);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(ctl, 2, 10), (u32)SMC_EV_STALE);
	KUNIT_EXPECT_EQ(test, ctl->rx_seq, 1);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(ctl, 1, 10), (u32)SMC_EV_DATA);
	/* after our abort the peer's data are nothing */
	smc_cdc_set_conn_flags(ctl, SMC_CDC_ABORT);
	KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(ctl, 1, 10), (u32)SMC_EV_STALE);
}

/* Not even an impossible step counts then. */
static void it_counts_for_nothing_after_the_end_cdc_14_abrt_04(struct kunit *test)
{
	static const struct {
		u8 theirs;
		u8 ours;
		u32 events;
	} rows[] = {
		{ SMC_CDC_CLOSED, 0, SMC_EV_STALE },
		{ SMC_CDC_ABORT, 0, SMC_EV_STALE },
		{ 0, SMC_CDC_ABORT, SMC_EV_STALE },
		{ 0, SMC_CDC_CLOSED, SMC_EV_INVALID },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_cdc_ctl *ctl = ctl_proved(test);
		struct smc_cdc_msg msg = plain_msg(ctl, 2, 1);

		msg.conn_flags = rows[i].theirs;
		smc_cdc_apply(ctl, &msg);
		smc_cdc_set_conn_flags(ctl, rows[i].ours);
		KUNIT_EXPECT_EQ(test, smc_cdc_apply_imm(ctl, 1, IMM_SIZE), rows[i].events);
		KUNIT_EXPECT_EQ(test, smc_cdc_readable(ctl), 100U);
	}
}

/*
 * A writes and changes links; B drains its queues in any order. Each entry knows how far the
 * stream is when it has been applied.
 */
struct imm_entry {
	bool has_imm;
	u16 step;
	struct smc_cdc_msg msg;
	u32 len;
	u64 total;
};

struct imm_queue {
	u8 num;
	u32 head, tail;
	struct imm_entry entry[IMM_QUEUE];
};

struct imm_world {
	struct kunit *test;
	struct rnd_state rnd;
	struct smc_cdc_ctl a, b;
	u64 total;			/* bytes that A has announced */
	u32 inflight;			/* entries of the last queue that have not completed */
	struct imm_queue queue[IMM_LINKS];	/* the last one is in use */
	bool is_seen[256];
	u32 nr_imm, nr_late, nr_blocked;
};

static u32 imm_rnd(struct imm_world *w, u32 below)
{
	return prandom_u32_state(&w->rnd) % below;
}

static struct imm_queue *imm_current(struct imm_world *w)
{
	return &w->queue[IMM_LINKS - 1];
}

static struct imm_entry *imm_add(struct imm_world *w, u32 len)
{
	struct imm_queue *q = imm_current(w);
	struct imm_entry *e = &q->entry[q->tail++];

	KUNIT_ASSERT_LE(w->test, q->tail, (u32)IMM_QUEUE);
	memset(e, 0, sizeof(*e));
	w->total += len;
	e->len = len;
	e->total = w->total;
	w->inflight++;
	return e;
}

static void imm_write(struct imm_world *w)
{
	u32 len = min(1 + imm_rnd(w, 9000), smc_cdc_window(&w->a));
	struct imm_entry *e;

	if (!len || imm_current(w)->tail > IMM_QUEUE - 8)
		return;
	e = imm_add(w, len);
	e->has_imm = smc_cdc_may_use_imm(&w->a, len);
	if (e->has_imm)
		e->step = smc_imm_get_step(build_imm(&w->a, len));
	else
		build(w->test, &w->a, len, &e->msg);
	w->nr_imm += e->has_imm;
}

/* The oldest message in flight completes: B's RNIC has it. */
static void imm_complete(struct imm_world *w)
{
	struct imm_queue *q = imm_current(w);
	struct imm_entry *e;
	u16 seq;

	if (!w->inflight)
		return;
	e = &q->entry[q->tail - w->inflight];
	seq = w->a.tx_seq - (w->inflight - 1);
	w->inflight--;
	if (!(e->msg.prod_flags & SMC_CDC_FAILOVER))
		smc_cdc_done(&w->a, seq, e->len);
}

static u32 imm_apply(struct imm_world *w, struct imm_queue *q, struct imm_entry *e)
{
	if (e->has_imm)
		return smc_cdc_apply_imm(&w->b, q->num, e->step);
	e->msg.link_num = q->num;
	if (w->is_seen[q->num])
		return smc_cdc_apply(&w->b, &e->msg);
	w->is_seen[q->num] = true;
	return smc_cdc_apply_moved(&w->b, &e->msg);
}

static void imm_deliver(struct imm_world *w, struct imm_queue *q)
{
	struct imm_entry *e = &q->entry[q->head];
	u32 events;

	if (q->head == q->tail)
		return;
	q->head++;
	/* what has arrived has completed, or was lost with its link */
	if (q == imm_current(w))
		while (w->inflight > q->tail - q->head)
			imm_complete(w);
	events = imm_apply(w, q, e);
	KUNIT_EXPECT_FALSE(w->test, events & (SMC_EV_INVALID | SMC_EV_LOST));
	w->nr_late += e->has_imm && events & SMC_EV_STALE;
	if (e->has_imm && !(events & SMC_EV_STALE) && !w->b.rx_nr_waits)
		KUNIT_EXPECT_GE(w->test, w->b.rx_prod, e->total);
}

static void imm_read(struct imm_world *w)
{
	struct imm_queue *q = imm_current(w);
	u32 len = smc_cdc_readable(&w->b);
	struct smc_cdc_msg msg = {};

	if (len)
		smc_cdc_consume(&w->b, 1 + imm_rnd(w, len));
	/* a writer that waits hears of any progress */
	if (len && q->head == q->tail && !w->b.rx_nr_waits && !smc_cdc_window(&w->a)) {
		KUNIT_EXPECT_TRUE(w->test, smc_cdc_is_needed(&w->b));
		w->nr_blocked++;
	}
	if (!smc_cdc_is_needed(&w->b) && imm_rnd(w, 4))
		return;
	KUNIT_EXPECT_EQ(w->test, smc_cdc_build(&w->b, NULL, &msg), 0);
	KUNIT_EXPECT_FALSE(w->test, smc_cdc_apply(&w->a, &msg) & SMC_EV_INVALID);
}

static void imm_drain_oldest(struct imm_world *w)
{
	struct imm_queue *q = &w->queue[0];

	while (q->head != q->tail)
		imm_deliver(w, q);
	memmove(&w->queue[0], &w->queue[1], sizeof(*q) * (IMM_LINKS - 1));
}

/* Some messages in flight are lost; the others arrive, perhaps after what the new link carries. */
static void imm_fail_over(struct imm_world *w)
{
	struct imm_queue *q = imm_current(w);
	struct imm_entry *e;
	struct smc_xfer x;
	u8 num = q->num;
	u32 len;

	q->tail -= imm_rnd(w, w->inflight + 1);
	imm_drain_oldest(w);
	w->inflight = 0;
	q = imm_current(w);
	memset(q, 0, sizeof(*q));
	q->num = num % 255 + 1;
	w->is_seen[q->num] = false;
	e = imm_add(w, 0);
	KUNIT_ASSERT_EQ(w->test, smc_cdc_build_validation(&w->a, &e->msg), 0);
	if (!smc_cdc_is_replay_due(&w->a))
		return;
	len = smc_cdc_replay(&w->a, &x);
	KUNIT_EXPECT_FALSE(w->test, smc_cdc_may_use_imm(&w->a, 1));
	e = imm_add(w, 0);
	e->len = len;
	KUNIT_ASSERT_EQ(w->test, smc_cdc_build(&w->a, NULL, &e->msg), 0);
}

static void imm_step(struct imm_world *w)
{
	switch (imm_rnd(w, 16)) {
	case 0:
		if (!imm_rnd(w, 4))
			imm_fail_over(w);
		return;
	case 1 ... 5:
		imm_write(w);
		return;
	case 6 ... 7:
		imm_complete(w);
		return;
	case 8 ... 12:
		imm_deliver(w, &w->queue[imm_rnd(w, IMM_LINKS)]);
		return;
	default:
		imm_read(w);
	}
}

static void late_queues_add_nothing_twice_fail_10_fail_12_fail_17(struct kunit *test)
{
	struct imm_world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->test = test;
	prandom_seed_state(&w->rnd, 27);
	smc_cdc_ctl_init(&w->a, 0, IMM_SIZE, IMM_SIZE, IMM_SIZE);
	smc_cdc_ctl_init(&w->b, 0, IMM_SIZE, IMM_SIZE, IMM_SIZE);
	w->a.tx_imm_name = IMM_NAME;
	imm_current(w)->num = 1;
	for (i = 0; i < 300000; i++) {
		struct imm_queue *q = imm_current(w);

		imm_step(w);
		/* room for more, once nothing is in flight */
		if (!w->inflight && q->head == q->tail) {
			q->head = 0;
			q->tail = 0;
		}
	}
	for (i = 0; i < IMM_LINKS; i++)
		while (w->queue[i].head != w->queue[i].tail)
			imm_deliver(w, &w->queue[i]);
	KUNIT_EXPECT_EQ(test, w->a.tx_sent, w->b.rx_prod);
	KUNIT_EXPECT_EQ(test, w->a.tx_sent, w->total);
	KUNIT_EXPECT_EQ(test, w->b.rx_nr_waits, 0);
	KUNIT_EXPECT_GT(test, w->nr_imm, 10000U);
	KUNIT_EXPECT_GT(test, w->nr_late, 10U);
	KUNIT_EXPECT_GT(test, w->nr_blocked, 10U);
}

static struct kunit_case smc_cdc_imm_cases[] = {
	KUNIT_CASE(a_name_is_part_of_a_token),
	KUNIT_CASE(it_takes_a_sequence_number_cdc_03_cdc_07),
	KUNIT_CASE(it_clears_the_flags_urg_01_urg_09),
	KUNIT_CASE(more_to_say_needs_a_message),
	KUNIT_CASE(a_long_step_needs_a_message),
	KUNIT_CASE(a_full_element_says_blocked_blk_05_win_08),
	KUNIT_CASE(a_consumer_cursor_is_not_kept_back_win_02),
	KUNIT_CASE(a_consumer_cursor_that_is_awaited_needs_a_message_win_08_win_09),
	KUNIT_CASE(a_consumer_cursor_is_not_kept_back_before_it_proves_the_link),
	KUNIT_CASE(a_new_link_needs_a_proof_fail_12),
	KUNIT_CASE(a_ping_pong_needs_few_messages),
	KUNIT_CASE(a_step_is_checked_cur_12),
	KUNIT_CASE(it_counts_on_the_link_of_the_last_message_only),
	KUNIT_CASE(it_counts_for_nothing_after_the_end_cdc_14_abrt_04),
	KUNIT_CASE(late_queues_add_nothing_twice_fail_10_fail_12_fail_17),
	{}
};

static struct kunit_suite smc_cdc_imm_suite = {
	.name = "smc_cdc_imm",
	.test_cases = smc_cdc_imm_cases,
};

kunit_test_suite(smc_cdc_imm_suite);
