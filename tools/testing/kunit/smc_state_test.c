// SPDX-License-Identifier: GPL-2.0
/*
 * The close machine against RFC 7609 Sections 4.8.1 and 4.8.2: each numbered
 * transition, properties of every step from every state, and two machines
 * whose events happen in every possible order.
 */
#include "smc_kunit.h"
#include <linux/vmalloc.h>

#include "../../../net/smc/proto/smc_state.c"

/*
 * The meaning of a state. The rest of the module keeps the same in sk_shutdown and in the
 * flags of control blocks, which it sets by the actions of the machine.
 */
static bool is_app_closed(const struct smc_close_ctl *ctl)
{
	return ctl->seen & SEEN(APP_CLOSED);
}

/* Not after our own end, pending or done, nor after the peer's C: CLOSE-18, AMB-43. */
static bool may_send(const struct smc_close_ctl *ctl)
{
	return BIT(ctl->state) & (ST(ACTIVE) | ST(APPCLOSEWAIT1)) &&
	       !(ctl->seen & (SEEN(APP_CLOSED) | SEEN(D_PENDING) | SEEN(C_RCVD) | SEEN(PATH_LOST)));
}

/* If not, a reader that has read everything sees the end: CLOSE-11, CLOSE-17. */
static bool may_receive(const struct smc_close_ctl *ctl)
{
	return BIT(ctl->state) & ST_OPEN &&
	       !(ctl->seen & (SEEN(APP_CLOSED) | SEEN(D_RCVD) | SEEN(C_RCVD)));
}

static const struct smc_close_facts idle;
static const struct smc_close_facts unread = { .has_unread = true };
static const struct smc_close_facts unsent = { .has_unsent = true };
static const struct smc_close_facts inflight = { .has_inflight = true };

#define PATH_LEN	4

/* Every state and, where it matters, each path to it. */
enum way {
	PATH_INIT,
	PATH_ACTIVE,
	PATH_PCW1_D,
	PATH_PCW1_C,
	PATH_PCW2_D,
	PATH_PCW2_C,
	PATH_ACW1_D,
	PATH_ACW1_C,
	PATH_ACW2_D,
	PATH_ACW2_C,
	PATH_AFCW,
	PATH_PFCW,
	PATH_PAW,
	PATH_PA,
	PATH_PA_C,
	PATH_LW,
	PATH_LW_LATE,
	/* No link is left, and the application has unread data. */
	PATH_PCW2_LOST,
	PATH_ACW1_D_LOST,
	PATH_ACW1_C_LOST,
	PATH_ACW2_LOST,
	PATH_AFCW_LOST,
	PATH_CLOSED,
	NR_PATHS,
};

#define E(event)	SMC_CLOSE_##event

static const struct {
	enum smc_conn_state state;
	u8 nr_events;
	enum smc_close_event events[PATH_LEN];
} paths[NR_PATHS] = {
	[PATH_INIT]	= { SMC_STATE_INIT, 0 },
	[PATH_ACTIVE]	= { SMC_STATE_ACTIVE, 1, { E(ESTABLISHED) } },
	[PATH_PCW1_D]	= { SMC_STATE_PEERCLOSEWAIT1, 2,
			    { E(ESTABLISHED), E(APP_SHUT_WR) } },
	[PATH_PCW1_C]	= { SMC_STATE_PEERCLOSEWAIT1, 2,
			    { E(ESTABLISHED), E(APP_CLOSE) } },
	[PATH_PCW2_D]	= { SMC_STATE_PEERCLOSEWAIT2, 3,
			    { E(ESTABLISHED), E(APP_SHUT_WR), E(RX_DONE) } },
	[PATH_PCW2_C]	= { SMC_STATE_PEERCLOSEWAIT2, 3,
			    { E(ESTABLISHED), E(APP_CLOSE), E(RX_DONE) } },
	[PATH_ACW1_D]	= { SMC_STATE_APPCLOSEWAIT1, 2,
			    { E(ESTABLISHED), E(RX_DONE) } },
	[PATH_ACW1_C]	= { SMC_STATE_APPCLOSEWAIT1, 2,
			    { E(ESTABLISHED), E(RX_CLOSED) } },
	[PATH_ACW2_D]	= { SMC_STATE_APPCLOSEWAIT2, 3,
			    { E(ESTABLISHED), E(RX_DONE), E(APP_SHUT_WR) } },
	[PATH_ACW2_C]	= { SMC_STATE_APPCLOSEWAIT2, 3,
			    { E(ESTABLISHED), E(RX_CLOSED), E(APP_SHUT_WR) } },
	[PATH_AFCW]	= { SMC_STATE_APPFINCLOSEWAIT, 3,
			    { E(ESTABLISHED), E(APP_SHUT_WR), E(RX_CLOSED) } },
	[PATH_PFCW]	= { SMC_STATE_PEERFINCLOSEWAIT, 3,
			    { E(ESTABLISHED), E(RX_DONE), E(APP_CLOSE) } },
	[PATH_PAW]	= { SMC_STATE_PEERABORTWAIT, 2,
			    { E(ESTABLISHED), E(FAULT) } },
	[PATH_PA]	= { SMC_STATE_PROCESSABORT, 2,
			    { E(ESTABLISHED), E(RX_ABORT) } },
	/* Aborted after our C. */
	[PATH_PA_C]	= { SMC_STATE_PROCESSABORT, 3,
			    { E(ESTABLISHED), E(APP_CLOSE), E(RX_ABORT) } },
	/* Our C came first, or the peer's. */
	[PATH_LW]	= { SMC_STATE_LASTWORD, 3,
			    { E(ESTABLISHED), E(APP_CLOSE), E(RX_CLOSED) } },
	[PATH_LW_LATE]	= { SMC_STATE_LASTWORD, 3,
			    { E(ESTABLISHED), E(RX_CLOSED), E(APP_CLOSE) } },
	[PATH_PCW2_LOST] = { SMC_STATE_PEERCLOSEWAIT2, 4,
			    { E(ESTABLISHED), E(APP_SHUT_WR), E(RX_DONE),
			      E(LINK_LOST) } },
	[PATH_ACW1_D_LOST] = { SMC_STATE_APPCLOSEWAIT1, 3,
			    { E(ESTABLISHED), E(RX_DONE), E(LINK_LOST) } },
	[PATH_ACW1_C_LOST] = { SMC_STATE_APPCLOSEWAIT1, 3,
			    { E(ESTABLISHED), E(RX_CLOSED), E(LINK_LOST) } },
	[PATH_ACW2_LOST] = { SMC_STATE_APPCLOSEWAIT2, 4,
			    { E(ESTABLISHED), E(RX_DONE), E(APP_SHUT_WR),
			      E(LINK_LOST) } },
	[PATH_AFCW_LOST] = { SMC_STATE_APPFINCLOSEWAIT, 4,
			    { E(ESTABLISHED), E(APP_SHUT_WR), E(RX_CLOSED),
			      E(LINK_LOST) } },
	[PATH_CLOSED]	= { SMC_STATE_CLOSED, 4,
			    { E(ESTABLISHED), E(APP_CLOSE), E(RX_CLOSED),
			      E(FINAL_DONE) } },
};

/* The states before our C or A, in which an abort is announced. */
static const enum way before_c[] = {
	PATH_ACTIVE, PATH_PCW1_D, PATH_PCW2_D, PATH_ACW1_D, PATH_ACW1_C,
	PATH_ACW2_D, PATH_ACW2_C, PATH_AFCW,
};

static const enum way after_c[] = { PATH_PCW1_C, PATH_PCW2_C, PATH_PFCW };

static struct smc_close_ctl come_by(struct kunit *test, enum way path)
{
	struct smc_close_ctl ctl;
	u32 i;

	smc_state_close_init(&ctl);
	for (i = 0; i < paths[path].nr_events; i++)
		smc_state_close(&ctl, paths[path].events[i], &idle);
	KUNIT_ASSERT_EQ_MSG(test, ctl.state, paths[path].state, "path %d",
			    path);
	return ctl;
}

/* One step; only the actions in @mask are compared. */
static void expect_step(struct kunit *test, struct smc_close_ctl *ctl,
			enum smc_close_event event,
			const struct smc_close_facts *facts,
			enum smc_conn_state next, u32 actions, u32 mask)
{
	enum smc_conn_state before = ctl->state;
	struct smc_close_step step = smc_state_close(ctl, event, facts);

	KUNIT_EXPECT_EQ_MSG(test, step.next, next, "%s on %s: %s, not %s",
			    smc_state_conn_name(before),
			    smc_state_event_name(event),
			    smc_state_conn_name(step.next),
			    smc_state_conn_name(next));
	KUNIT_EXPECT_EQ(test, ctl->state, next);
	KUNIT_EXPECT_EQ_MSG(test, step.actions & mask, actions,
			    "%s on %s: actions %x", smc_state_conn_name(before),
			    smc_state_event_name(event), step.actions);
}

/* Actions on the wire and on resources, without wake-ups and timers. */
#define MASK	(DO(PURGE) | DO(REPORT_ERR) | DO(SEND_D) | DO(SEND_C) | \
		 DO(SEND_A) | DO(WAIT_DRAIN) | DO(TCP_RST) | DO(TCP_FIN) | \
		 DO(FREE_RMBE))
#define BREAK	(DO(PURGE) | DO(REPORT_ERR))

/* Normal: 4.8.1. */

static void close_05_starts_outside_of_any_transfer(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_INIT);

	KUNIT_EXPECT_FALSE(test, may_send(&ctl));
	KUNIT_EXPECT_FALSE(test, may_receive(&ctl));
	KUNIT_EXPECT_FALSE(test, is_app_closed(&ctl));
	ctl = come_by(test, PATH_CLOSED);
	KUNIT_EXPECT_FALSE(test, may_send(&ctl));
	KUNIT_EXPECT_FALSE(test, may_receive(&ctl));
}

static void close_06_active_when_rendezvous_is_complete(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_INIT);

	expect_step(test, &ctl, E(ESTABLISHED), &idle, SMC_STATE_ACTIVE, 0,
		    MASK);
	KUNIT_EXPECT_TRUE(test, may_send(&ctl));
	KUNIT_EXPECT_TRUE(test, may_receive(&ctl));
}

/* A quick peer may close before our handshake is over. */
static void close_16_flags_before_active_take_effect_then(struct kunit *test)
{
	static const struct {
		enum smc_close_event event;
		enum smc_conn_state next;
		u32 actions;
	} rows[] = {
		{ E(RX_DONE), SMC_STATE_APPCLOSEWAIT1, 0 },
		{ E(RX_CLOSED), SMC_STATE_APPCLOSEWAIT1, 0 },
		{ E(RX_ABORT), SMC_STATE_PROCESSABORT,
		  BREAK | DO(SEND_A) | DO(TCP_RST) },
		{ E(RX_DATA), SMC_STATE_ACTIVE, 0 },
	};
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ctl = come_by(test, PATH_INIT);
		expect_step(test, &ctl, rows[i].event, &unread, SMC_STATE_INIT,
			    0, ~0);
		expect_step(test, &ctl, E(ESTABLISHED), &unread, rows[i].next,
			    rows[i].actions, MASK);
	}
}

static void close_04_shutdown_read_sends_nothing(struct kunit *test)
{
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < NR_PATHS; i++) {
		ctl = come_by(test, i);
		expect_step(test, &ctl, E(APP_SHUT_RD), &unread,
			    paths[i].state, 0, MASK);
	}
}

static void close_07_close_with_unread_data_is_an_abort(struct kunit *test)
{
	static const struct {
		enum way path;
		enum smc_conn_state next;
	} rows[] = {
		{ PATH_ACTIVE, SMC_STATE_PEERABORTWAIT },
		{ PATH_PCW1_D, SMC_STATE_PEERABORTWAIT },
		{ PATH_PCW2_D, SMC_STATE_PEERABORTWAIT },
		{ PATH_ACW1_D, SMC_STATE_PEERABORTWAIT },
		{ PATH_ACW2_D, SMC_STATE_PEERABORTWAIT },
		/* The peer has closed: it will not answer our A. */
		{ PATH_ACW1_C, SMC_STATE_PROCESSABORT },
		{ PATH_ACW2_C, SMC_STATE_PROCESSABORT },
		{ PATH_AFCW, SMC_STATE_PROCESSABORT },
	};
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ctl = come_by(test, rows[i].path);
		KUNIT_EXPECT_TRUE(test, smc_state_is_open(&ctl));
		expect_step(test, &ctl, E(APP_CLOSE), &unread, rows[i].next,
			    BREAK | DO(SEND_A) | DO(TCP_RST), MASK);
		KUNIT_EXPECT_FALSE(test, smc_state_is_open(&ctl));
	}
}

static void close_07_shutdown_write_leaves_unread_data_alone(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	expect_step(test, &ctl, E(APP_SHUT_WR), &unread,
		    SMC_STATE_PEERCLOSEWAIT1, DO(SEND_D), MASK);
	KUNIT_EXPECT_TRUE(test, may_receive(&ctl));
}

static void close_08_close_waits_for_what_is_under_way(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	expect_step(test, &ctl, E(APP_CLOSE), &unsent, SMC_STATE_ACTIVE,
		    DO(WAIT_DRAIN), MASK);
	KUNIT_EXPECT_TRUE(test, smc_state_is_draining(&ctl));
	KUNIT_EXPECT_TRUE(test, is_app_closed(&ctl));
	KUNIT_EXPECT_FALSE(test, may_send(&ctl));
	/* Written, but not completed. */
	expect_step(test, &ctl, E(TX_DRAINED), &inflight, SMC_STATE_ACTIVE,
		    DO(WAIT_DRAIN), MASK);
	expect_step(test, &ctl, E(TX_DRAINED), &idle, SMC_STATE_PEERCLOSEWAIT1,
		    DO(SEND_C), MASK);
	KUNIT_EXPECT_FALSE(test, smc_state_is_draining(&ctl));
	expect_step(test, &ctl, E(TX_DRAINED), &idle, SMC_STATE_PEERCLOSEWAIT1,
		    0, ~0);
}

static void close_08_shutdown_waits_and_close_takes_over(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	expect_step(test, &ctl, E(APP_SHUT_WR), &inflight, SMC_STATE_ACTIVE,
		    DO(WAIT_DRAIN), MASK);
	KUNIT_EXPECT_FALSE(test, may_send(&ctl));
	KUNIT_EXPECT_TRUE(test, may_receive(&ctl));
	expect_step(test, &ctl, E(APP_CLOSE), &inflight, SMC_STATE_ACTIVE,
		    DO(WAIT_DRAIN), MASK);
	/* One message is enough: C includes D. */
	expect_step(test, &ctl, E(TX_DRAINED), &idle, SMC_STATE_PEERCLOSEWAIT1,
		    DO(SEND_C), MASK);
	KUNIT_EXPECT_FALSE(test, smc_state_is_draining(&ctl));
}

static void close_08_no_flag_without_a_request(struct kunit *test)
{
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < NR_PATHS; i++) {
		ctl = come_by(test, i);
		KUNIT_EXPECT_FALSE(test, smc_state_is_draining(&ctl));
		expect_step(test, &ctl, E(TX_DRAINED), &idle, paths[i].state,
			    0, ~0);
	}
}

static void close_08_an_abort_ends_the_wait_for_data(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	smc_state_close(&ctl, E(APP_SHUT_WR), &unsent);
	KUNIT_EXPECT_TRUE(test, smc_state_is_draining(&ctl));
	smc_state_close(&ctl, E(FAULT), &unsent);
	KUNIT_EXPECT_FALSE(test, smc_state_is_draining(&ctl));
	ctl = come_by(test, PATH_ACTIVE);
	smc_state_close(&ctl, E(APP_CLOSE), &unsent);
	smc_state_close(&ctl, E(RX_ABORT), &unsent);
	KUNIT_EXPECT_FALSE(test, smc_state_is_draining(&ctl));
}

static void close_08_pending_close_follows_the_peers_flags(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	/* The peer's D while we drain: we continue as the passive side. */
	smc_state_close(&ctl, E(APP_CLOSE), &inflight);
	expect_step(test, &ctl, E(RX_DONE), &inflight, SMC_STATE_APPCLOSEWAIT1,
		    0, MASK);
	expect_step(test, &ctl, E(TX_DRAINED), &idle,
		    SMC_STATE_PEERFINCLOSEWAIT, DO(SEND_C), MASK);
	/* The peer's C while completions are pending. */
	ctl = come_by(test, PATH_ACTIVE);
	smc_state_close(&ctl, E(APP_CLOSE), &inflight);
	expect_step(test, &ctl, E(RX_CLOSED), &inflight,
		    SMC_STATE_APPCLOSEWAIT1, 0, MASK);
	expect_step(test, &ctl, E(TX_DRAINED), &idle, SMC_STATE_LASTWORD,
		    DO(SEND_C), MASK);
	/* Shutdown pending. */
	ctl = come_by(test, PATH_ACTIVE);
	smc_state_close(&ctl, E(APP_SHUT_WR), &inflight);
	smc_state_close(&ctl, E(RX_DONE), &inflight);
	expect_step(test, &ctl, E(TX_DRAINED), &idle, SMC_STATE_APPCLOSEWAIT2,
		    DO(SEND_D), MASK);
	/* Close pending after D, when the peer closes. */
	ctl = come_by(test, PATH_PCW1_D);
	smc_state_close(&ctl, E(APP_CLOSE), &inflight);
	expect_step(test, &ctl, E(RX_CLOSED), &inflight,
		    SMC_STATE_APPFINCLOSEWAIT, 0, MASK);
	expect_step(test, &ctl, E(TX_DRAINED), &idle, SMC_STATE_LASTWORD,
		    DO(SEND_C), MASK);
}

/* CLOSE-03: shutdown(both) is the same event as close(). */
static void close_09_close_03_active_close_says_c(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	expect_step(test, &ctl, E(APP_CLOSE), &idle, SMC_STATE_PEERCLOSEWAIT1,
		    DO(SEND_C), MASK);
	KUNIT_EXPECT_FALSE(test, may_receive(&ctl));
	/* close() after shutdown(both) adds nothing. */
	expect_step(test, &ctl, E(APP_CLOSE), &idle, SMC_STATE_PEERCLOSEWAIT1,
		    0, MASK);
	expect_step(test, &ctl, E(APP_SHUT_WR), &idle,
		    SMC_STATE_PEERCLOSEWAIT1, 0, MASK);
}

static void close_09_shutdown_write_says_d(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	expect_step(test, &ctl, E(APP_SHUT_WR), &idle,
		    SMC_STATE_PEERCLOSEWAIT1, DO(SEND_D), MASK);
	expect_step(test, &ctl, E(APP_SHUT_WR), &idle,
		    SMC_STATE_PEERCLOSEWAIT1, 0, MASK);
}

static void close_10_peers_d_leads_to_wait_2(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_PCW1_D);

	expect_step(test, &ctl, E(RX_DONE), &idle, SMC_STATE_PEERCLOSEWAIT2,
		    0, MASK);
	ctl = come_by(test, PATH_PCW1_C);
	expect_step(test, &ctl, E(RX_DONE), &idle, SMC_STATE_PEERCLOSEWAIT2,
		    0, MASK);
}

static void close_11_close_17_readers_wake_and_see_the_end(struct kunit *test)
{
	static const struct {
		enum way path;
		enum smc_close_event event;
	} rows[] = {
		{ PATH_ACTIVE, E(RX_DONE) },
		{ PATH_ACTIVE, E(RX_CLOSED) },
		{ PATH_PCW1_D, E(RX_DONE) },
		{ PATH_PCW1_D, E(RX_CLOSED) },
		{ PATH_PCW2_D, E(RX_CLOSED) },
	};
	struct smc_close_step step;
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ctl = come_by(test, rows[i].path);
		step = smc_state_close(&ctl, rows[i].event, &unread);
		KUNIT_EXPECT_TRUE(test, step.actions & DO(WAKE_READERS));
		KUNIT_EXPECT_FALSE(test, step.actions & DO(PURGE));
		KUNIT_EXPECT_FALSE(test, may_receive(&ctl));
	}
}

static void close_12_both_closed_is_the_end(struct kunit *test)
{
	static const enum way from[] = { PATH_PCW1_C, PATH_PCW2_C };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		/* The wait for the peer becomes that for its RNIC. */
		expect_step(test, &ctl, E(RX_CLOSED), &idle, SMC_STATE_LASTWORD, 0,
			    MASK | DO(START_TIMER) | DO(STOP_TIMER));
		expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED,
			    DO(TCP_FIN) | DO(STOP_TIMER) | DO(FREE_RMBE), ~0);
	}
}

/* C must be acknowledged before TCP ends and the group may end. */
static void close_01_close_02_last_word_before_fin(struct kunit *test)
{
	static const enum way from[] = { PATH_LW, PATH_LW_LATE };
	static const enum smc_close_event ignored[] = {
		E(ESTABLISHED), E(APP_CLOSE), E(APP_SHUT_WR), E(APP_SHUT_RD), E(TX_DRAINED),
		E(RX_DATA), E(RX_DONE), E(RX_CLOSED), E(RX_ABORT), E(SILENCE),
	};
	static const enum smc_close_event ends[] = { E(FINAL_DONE), E(TIMER), E(LINK_LOST) };
	struct smc_close_step step;
	struct smc_close_ctl ctl;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		KUNIT_EXPECT_TRUE(test, smc_state_awaits_final(&ctl));
		for (k = 0; k < ARRAY_SIZE(ignored); k++)
			expect_step(test, &ctl, ignored[k], &idle, SMC_STATE_LASTWORD, 0, ~0);
		/* For the application the connection has ended. */
		KUNIT_EXPECT_TRUE(test, smc_state_is_alive(&ctl));
		KUNIT_EXPECT_FALSE(test, smc_state_is_usable(&ctl));
		KUNIT_EXPECT_EQ(test, smc_state_shown(ctl.state), SMC_STATE_CLOSED);
		for (k = 0; k < ARRAY_SIZE(ends); k++) {
			ctl = come_by(test, from[i]);
			step = smc_state_close(&ctl, ends[k], &idle);
			KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_CLOSED);
			KUNIT_EXPECT_EQ(test, step.actions,
					DO(TCP_FIN) | DO(STOP_TIMER) | DO(FREE_RMBE));
			KUNIT_EXPECT_TRUE(test, step.is_peer_done);
			KUNIT_EXPECT_FALSE(test, smc_state_is_alive(&ctl));
		}
	}
}

/* AMB-54: payload in place of the peer's FIN, or an application that does not want one. */
static void amb_54_last_word_without_fin(struct kunit *test)
{
	static const enum smc_close_event events[] = { E(FAULT), E(APP_ABORT) };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		ctl = come_by(test, PATH_LW);
		expect_step(test, &ctl, events[i], &idle, SMC_STATE_PROCESSABORT,
			    DO(TCP_RST), ~0);
		expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED,
			    DO(STOP_TIMER) | DO(FREE_RMBE), ~0);
	}
	/* A deployed peer's TCP may be gone by then. */
	ctl = come_by(test, PATH_LW_LATE);
	expect_step(test, &ctl, E(RX_RST), &idle, SMC_STATE_LASTWORD, 0, ~0);
	expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED,
		    DO(STOP_TIMER) | DO(FREE_RMBE), ~0);
}

/* As with TCP, where the first FIN ends the first stream. */
static void close_01_the_fin_of_the_side_that_ended_first_is_first(struct kunit *test)
{
	static const struct {
		u8 nr;
		enum smc_close_event events[5];
		bool is_awaited;
	} rows[] = {
		{ 2, { E(APP_CLOSE), E(RX_CLOSED) }, false },
		{ 2, { E(RX_CLOSED), E(APP_CLOSE) }, true },
		{ 3, { E(APP_SHUT_WR), E(RX_CLOSED), E(APP_CLOSE) }, false },
		{ 4, { E(APP_SHUT_WR), E(RX_DONE), E(APP_CLOSE), E(RX_CLOSED) }, false },
		{ 3, { E(RX_DONE), E(APP_CLOSE), E(RX_CLOSED) }, true },
		{ 4, { E(RX_DONE), E(APP_SHUT_WR), E(RX_CLOSED), E(APP_CLOSE) }, true },
		{ 4, { E(RX_DONE), E(APP_SHUT_WR), E(APP_CLOSE), E(RX_CLOSED) }, true },
	};
	struct smc_close_ctl ctl;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ctl = come_by(test, PATH_ACTIVE);
		for (k = 0; k < rows[i].nr; k++) {
			KUNIT_EXPECT_FALSE(test, smc_state_awaits_fin(&ctl));
			smc_state_close(&ctl, rows[i].events[k], &idle);
		}
		KUNIT_EXPECT_EQ(test, ctl.state, SMC_STATE_LASTWORD);
		KUNIT_EXPECT_EQ_MSG(test, smc_state_awaits_fin(&ctl), rows[i].is_awaited,
				    "row %u", i);
		smc_state_close(&ctl, E(FINAL_DONE), &idle);
		KUNIT_EXPECT_FALSE(test, smc_state_awaits_fin(&ctl));
	}
	/* it ended while the handshake did */
	smc_state_close_init(&ctl);
	smc_state_close(&ctl, E(RX_CLOSED), &idle);
	smc_state_close(&ctl, E(ESTABLISHED), &idle);
	smc_state_close(&ctl, E(APP_CLOSE), &idle);
	KUNIT_EXPECT_TRUE(test, smc_state_awaits_fin(&ctl));
}

static void close_13_peer_closed_and_we_have_not(struct kunit *test)
{
	static const enum way from[] = { PATH_PCW1_D, PATH_PCW2_D };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		expect_step(test, &ctl, E(RX_CLOSED), &unread,
			    SMC_STATE_APPFINCLOSEWAIT, 0, MASK);
	}
}

static void close_14_late_close_says_c_and_ends(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_AFCW);

	expect_step(test, &ctl, E(APP_CLOSE), &idle, SMC_STATE_LASTWORD,
		    DO(SEND_C) | DO(START_TIMER), MASK | DO(START_TIMER));
}

/* Every sleeping call is woken. */
static void close_11_sleepers_are_woken(struct kunit *test)
{
	static const struct {
		enum way path;
		enum smc_close_event event;
		u32 wakes;
	} rows[] = {
		/* by the handshake: an edge-triggered epoll would report it twice */
		{ PATH_INIT, E(ESTABLISHED), 0 },
		{ PATH_ACTIVE, E(APP_SHUT_RD), DO(WAKE_READERS) },
		{ PATH_ACTIVE, E(APP_SHUT_WR), DO(WAKE_WRITERS) },
		{ PATH_ACW1_D, E(APP_SHUT_WR), DO(WAKE_WRITERS) },
		{ PATH_ACTIVE, E(APP_CLOSE), DO_WAKE },
		{ PATH_PCW1_D, E(APP_CLOSE), DO_WAKE },
		{ PATH_ACW1_D, E(APP_CLOSE), DO_WAKE },
		{ PATH_AFCW, E(APP_CLOSE), DO_WAKE },
		{ PATH_ACTIVE, E(RX_DONE), DO(WAKE_READERS) },
		{ PATH_PCW1_D, E(RX_DONE), DO(WAKE_READERS) },
		{ PATH_ACTIVE, E(RX_CLOSED), DO_WAKE },
		{ PATH_ACW1_D, E(RX_CLOSED), DO_WAKE },
		{ PATH_ACW2_D, E(RX_CLOSED), DO_WAKE },
		{ PATH_PCW1_D, E(RX_CLOSED), DO_WAKE },
		{ PATH_PCW1_C, E(RX_CLOSED), DO_WAKE },
		{ PATH_PFCW, E(RX_CLOSED), DO_WAKE },
		{ PATH_ACTIVE, E(RX_ABORT), DO_WAKE },
		{ PATH_ACTIVE, E(APP_ABORT), DO_WAKE },
		{ PATH_ACTIVE, E(FAULT), DO_WAKE },
		{ PATH_ACTIVE, E(SILENCE), DO_WAKE },
		{ PATH_ACTIVE, E(LINK_LOST), DO_WAKE },
		{ PATH_PCW1_C, E(TIMER), DO_WAKE },
	};
	struct smc_close_step step;
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ctl = come_by(test, rows[i].path);
		step = smc_state_close(&ctl, rows[i].event, &idle);
		KUNIT_EXPECT_EQ_MSG(test, step.actions & DO_WAKE,
				    rows[i].wakes, "row %u", i);
	}
	/* A pending close wakes sleepers, too. */
	ctl = come_by(test, PATH_ACTIVE);
	step = smc_state_close(&ctl, E(APP_CLOSE), &unsent);
	KUNIT_EXPECT_EQ(test, step.actions & DO_WAKE, DO_WAKE);
}

/* RMB-27: with C or A seen the peer writes no more. */
static void close_15_rmb_27_element_is_free_when_the_peer_is_done(struct kunit
								  *test)
{
	static const struct {
		enum way path;
		enum smc_close_event event;
		bool is_peer_done;
	} rows[] = {
		{ PATH_LW, E(FINAL_DONE), true },
		{ PATH_LW_LATE, E(FINAL_DONE), true },
		{ PATH_PA, E(FINAL_DONE), true },
		{ PATH_PA_C, E(FINAL_DONE), true },
		{ PATH_ACTIVE, E(LINK_LOST), true },
		/* RMB-28: freed without an answer of the peer. */
		{ PATH_PCW1_C, E(TIMER), false },
		{ PATH_PCW2_C, E(TIMER), false },
		{ PATH_PFCW, E(TIMER), false },
		{ PATH_PAW, E(TIMER), false },
	};
	struct smc_close_step step;
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ctl = come_by(test, rows[i].path);
		step = smc_state_close(&ctl, rows[i].event, &idle);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_CLOSED);
		KUNIT_EXPECT_TRUE(test, step.actions & DO(FREE_RMBE));
		KUNIT_EXPECT_EQ_MSG(test, step.is_peer_done,
				    rows[i].is_peer_done, "row %u", i);
	}
}

static void close_16_peer_closes_first(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	expect_step(test, &ctl, E(RX_DONE), &unsent, SMC_STATE_APPCLOSEWAIT1,
		    0, MASK);
	KUNIT_EXPECT_TRUE(test, may_send(&ctl));
	ctl = come_by(test, PATH_ACTIVE);
	expect_step(test, &ctl, E(RX_CLOSED), &unread, SMC_STATE_APPCLOSEWAIT1,
		    0, MASK);
	KUNIT_EXPECT_FALSE(test, may_send(&ctl));
}

static void close_18_peer_closes_on_unsent_data(struct kunit *test)
{
	static const enum way from[] = {
		PATH_ACTIVE, PATH_ACW1_D, PATH_PCW1_D,
	};
	struct smc_close_step step;
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		step = smc_state_close(&ctl, E(RX_CLOSED), &unsent);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_PROCESSABORT);
		KUNIT_EXPECT_EQ(test, step.actions & MASK,
				BREAK | DO(SEND_A) | DO(TCP_RST));
		KUNIT_EXPECT_EQ(test, step.sk_err, ECONNRESET);
	}
	/* Data in flight is not unsent data. */
	ctl = come_by(test, PATH_ACTIVE);
	expect_step(test, &ctl, E(RX_CLOSED), &inflight,
		    SMC_STATE_APPCLOSEWAIT1, 0, MASK);
}

static void close_19_passive_side_shuts_down_writing(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACW1_D);

	expect_step(test, &ctl, E(APP_SHUT_WR), &idle, SMC_STATE_APPCLOSEWAIT2,
		    DO(SEND_D), MASK);
	ctl = come_by(test, PATH_ACW1_D);
	expect_step(test, &ctl, E(APP_SHUT_WR), &unsent,
		    SMC_STATE_APPCLOSEWAIT1, DO(WAIT_DRAIN), MASK);
	expect_step(test, &ctl, E(TX_DRAINED), &idle, SMC_STATE_APPCLOSEWAIT2,
		    DO(SEND_D), MASK);
}

static void close_20_passive_close_after_the_peers_c(struct kunit *test)
{
	static const enum way from[] = { PATH_ACW1_C, PATH_ACW2_C };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		expect_step(test, &ctl, E(APP_CLOSE), &idle, SMC_STATE_LASTWORD,
			    DO(SEND_C) | DO(START_TIMER), MASK | DO(START_TIMER));
	}
	/* C came after D. */
	ctl = come_by(test, PATH_ACW2_D);
	expect_step(test, &ctl, E(RX_CLOSED), &idle, SMC_STATE_APPCLOSEWAIT2,
		    0, MASK);
	expect_step(test, &ctl, E(APP_CLOSE), &idle, SMC_STATE_LASTWORD,
		    DO(SEND_C), MASK);
}

static void close_21_passive_close_after_the_peers_d(struct kunit *test)
{
	static const enum way from[] = { PATH_ACW1_D, PATH_ACW2_D };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		expect_step(test, &ctl, E(APP_CLOSE), &idle,
			    SMC_STATE_PEERFINCLOSEWAIT,
			    DO(SEND_C) | DO(START_TIMER),
			    MASK | DO(START_TIMER));
	}
}

static void close_22_peers_c_ends_the_last_wait(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_PFCW);

	expect_step(test, &ctl, E(RX_CLOSED), &idle, SMC_STATE_LASTWORD, 0, MASK);
	expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED,
		    DO(TCP_FIN) | DO(FREE_RMBE), MASK);
}

/* CLOSE-23: a wait for the peer has a timer as soon as the application has closed. */
static void close_23_tmr_16_waits_for_the_peer_are_timed(struct kunit *test)
{
	struct smc_close_step step;
	struct smc_close_ctl ctl;

	ctl = come_by(test, PATH_ACTIVE);
	step = smc_state_close(&ctl, E(APP_CLOSE), &idle);
	KUNIT_EXPECT_TRUE(test, step.actions & DO(START_TIMER));
	ctl = come_by(test, PATH_PCW1_D);
	step = smc_state_close(&ctl, E(APP_CLOSE), &idle);
	KUNIT_EXPECT_TRUE(test, step.actions & DO(START_TIMER));
	ctl = come_by(test, PATH_PCW2_D);
	step = smc_state_close(&ctl, E(APP_CLOSE), &idle);
	KUNIT_EXPECT_TRUE(test, step.actions & DO(START_TIMER));
	/* Half closed, still reading: without a time limit. */
	ctl = come_by(test, PATH_ACTIVE);
	step = smc_state_close(&ctl, E(APP_SHUT_WR), &idle);
	KUNIT_EXPECT_FALSE(test, step.actions & DO(START_TIMER));
	expect_step(test, &ctl, E(TIMER), &idle, SMC_STATE_PEERCLOSEWAIT1, 0,
		    ~0);
}

/* AMB-44 */
static void close_24_timer_after_c_resets_without_a_message(struct kunit *test)
{
	struct smc_close_step step;
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(after_c); i++) {
		ctl = come_by(test, after_c[i]);
		step = smc_state_close(&ctl, E(TIMER), &idle);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_CLOSED);
		KUNIT_EXPECT_EQ(test, step.actions & (MASK | DO(STOP_TIMER)),
				BREAK | DO(TCP_RST) | DO(FREE_RMBE) |
				DO(STOP_TIMER));
		KUNIT_EXPECT_EQ(test, step.sk_err, ETIMEDOUT);
	}
}

static void close_24_timer_before_c_sends_a_first(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	smc_state_close(&ctl, E(APP_CLOSE), &unsent);
	expect_step(test, &ctl, E(TIMER), &unsent, SMC_STATE_PEERABORTWAIT,
		    BREAK | DO(SEND_A) | DO(TCP_RST), MASK);
}

static void close_23_pending_close_lasts_as_long_as_there_is_progress(struct kunit *test)
{
	static const struct smc_close_facts moving = {
		.has_unsent = true, .has_inflight = true, .has_progress = true,
	};
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);
	int i;

	/* An application that has not closed has no time limit. */
	expect_step(test, &ctl, E(APP_SHUT_WR), &unsent, SMC_STATE_ACTIVE,
		    DO(WAIT_DRAIN), MASK | DO(START_TIMER));
	expect_step(test, &ctl, E(APP_CLOSE), &unsent, SMC_STATE_ACTIVE,
		    DO(WAIT_DRAIN) | DO(START_TIMER), MASK | DO(START_TIMER));
	for (i = 0; i < 3; i++)
		expect_step(test, &ctl, E(TIMER), &moving, SMC_STATE_ACTIVE,
			    DO(START_TIMER), ~0);
	KUNIT_EXPECT_TRUE(test, smc_state_is_draining(&ctl));
	expect_step(test, &ctl, E(TIMER), &unsent, SMC_STATE_PEERABORTWAIT,
		    BREAK | DO(SEND_A) | DO(TCP_RST) | DO(START_TIMER),
		    MASK | DO(START_TIMER));
	/* After C the peer has to act, and our progress does not count. */
	ctl = come_by(test, PATH_PCW1_C);
	expect_step(test, &ctl, E(TIMER), &moving, SMC_STATE_CLOSED,
		    BREAK | DO(TCP_RST) | DO(FREE_RMBE), MASK);
}

static void close_25_crossing_closes_both_take_path_3(struct kunit *test)
{
	struct smc_close_ctl a = come_by(test, PATH_ACTIVE);
	struct smc_close_ctl b = come_by(test, PATH_ACTIVE);

	smc_state_close(&a, E(APP_CLOSE), &idle);
	smc_state_close(&b, E(APP_CLOSE), &idle);
	expect_step(test, &a, E(RX_CLOSED), &idle, SMC_STATE_LASTWORD, 0, MASK);
	expect_step(test, &b, E(RX_CLOSED), &idle, SMC_STATE_LASTWORD, 0, MASK);
}

static void close_26_data_after_our_d_are_welcome(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_PCW1_D);

	expect_step(test, &ctl, E(RX_DATA), &unread, SMC_STATE_PEERCLOSEWAIT1,
		    0, ~0);
	KUNIT_EXPECT_TRUE(test, may_receive(&ctl));
}

/* AMB-45: data for an application that has closed. */
static void close_24_data_after_our_c_reset_without_a_message(struct kunit
							      *test)
{
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(after_c); i++) {
		ctl = come_by(test, after_c[i]);
		expect_step(test, &ctl, E(RX_DATA), &unread, SMC_STATE_PROCESSABORT,
			    BREAK | DO(TCP_RST), MASK);
		expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED,
			    DO(FREE_RMBE), MASK);
	}
	/* Notice of data that was read before the close is no reason. */
	ctl = come_by(test, PATH_PCW1_C);
	expect_step(test, &ctl, E(RX_DATA), &idle, SMC_STATE_PEERCLOSEWAIT1, 0,
		    ~0);
	/* While the close is pending an A can still be sent. */
	ctl = come_by(test, PATH_ACTIVE);
	smc_state_close(&ctl, E(APP_CLOSE), &inflight);
	expect_step(test, &ctl, E(RX_DATA), &unread, SMC_STATE_PEERABORTWAIT,
		    BREAK | DO(SEND_A) | DO(TCP_RST), MASK);
}

/* AMB-42 */
static void close_09_close_after_shutdown_write_says_c(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_PCW1_D);

	expect_step(test, &ctl, E(APP_CLOSE), &idle, SMC_STATE_PEERCLOSEWAIT1,
		    DO(SEND_C), MASK);
	expect_step(test, &ctl, E(RX_CLOSED), &idle, SMC_STATE_LASTWORD, 0, MASK);
	ctl = come_by(test, PATH_PCW2_D);
	expect_step(test, &ctl, E(APP_CLOSE), &idle, SMC_STATE_PEERCLOSEWAIT2,
		    DO(SEND_C), MASK);
}

/* Abnormal: 4.8.2. */

static void abrt_03_local_abort_before_c_sends_a(struct kunit *test)
{
	static const enum smc_close_event why[] = { E(APP_ABORT), E(FAULT), E(SILENCE) };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(before_c) * ARRAY_SIZE(why); i++) {
		ctl = come_by(test, before_c[i / ARRAY_SIZE(why)]);
		expect_step(test, &ctl, why[i % ARRAY_SIZE(why)], &unsent,
			    ctl.seen & SEEN(C_RCVD) ? SMC_STATE_PROCESSABORT :
						      SMC_STATE_PEERABORTWAIT,
			    BREAK | DO(SEND_A) | DO(TCP_RST) | DO(START_TIMER),
			    MASK | DO(START_TIMER));
	}
}

static void abrt_02_reset_goes_with_the_abort(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);
	struct smc_close_step step;

	step = smc_state_close(&ctl, E(APP_ABORT), &idle);
	KUNIT_EXPECT_TRUE(test, step.actions & DO(TCP_RST));
	KUNIT_EXPECT_TRUE(test, step.actions & DO(SEND_A));
	/* Once is enough. */
	expect_step(test, &ctl, E(RX_ABORT), &idle, SMC_STATE_PROCESSABORT, 0, ~0);
	step = smc_state_close(&ctl, E(FINAL_DONE), &idle);
	KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_CLOSED);
	KUNIT_EXPECT_FALSE(test, step.actions & (DO(TCP_RST) | DO(TCP_FIN)));
}

static void abrt_04_aborting_side_ignores_all_but_the_end(struct kunit *test)
{
	static const enum smc_close_event ignored[] = {
		E(ESTABLISHED), E(APP_CLOSE), E(APP_SHUT_WR), E(APP_SHUT_RD),
		E(TX_DRAINED), E(RX_DATA), E(RX_DONE), E(RX_RST),
		E(APP_ABORT), E(FAULT), E(SILENCE),
	};
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ignored); i++) {
		ctl = come_by(test, PATH_PAW);
		expect_step(test, &ctl, ignored[i], &unread,
			    SMC_STATE_PEERABORTWAIT, 0, ~0);
		KUNIT_EXPECT_FALSE(test, smc_state_is_draining(&ctl));
		ctl = come_by(test, PATH_PA);
		expect_step(test, &ctl, ignored[i], &unread,
			    SMC_STATE_PROCESSABORT, 0, ~0);
	}
}

static void abrt_05_each_abort_has_its_error(struct kunit *test)
{
	static const struct {
		enum smc_close_event event;
		int sk_err;
	} rows[] = {
		{ E(APP_ABORT), ECONNRESET },
		{ E(FAULT), ECONNABORTED },
		{ E(SILENCE), ETIMEDOUT },
		{ E(LINK_LOST), ECONNABORTED },
		{ E(RX_ABORT), ECONNRESET },
		{ E(RX_RST), ECONNRESET },
	};
	struct smc_close_step step;
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ctl = come_by(test, PATH_ACTIVE);
		step = smc_state_close(&ctl, rows[i].event, &idle);
		KUNIT_EXPECT_TRUE(test, step.actions & DO(REPORT_ERR));
		KUNIT_EXPECT_EQ(test, step.sk_err, rows[i].sk_err);
		KUNIT_EXPECT_FALSE(test, may_send(&ctl));
		KUNIT_EXPECT_FALSE(test, may_receive(&ctl));
	}
}

static void abrt_06_peers_a_ends_the_wait(struct kunit *test)
{
	/* Its C as well: it was sent before our A arrived. */
	static const enum smc_close_event words[] = { E(RX_ABORT), E(RX_CLOSED) };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		ctl = come_by(test, PATH_PAW);
		/* The completion of our own A is not enough. */
		KUNIT_EXPECT_FALSE(test, smc_state_awaits_final(&ctl));
		expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_PEERABORTWAIT, 0, ~0);
		expect_step(test, &ctl, words[i], &idle, SMC_STATE_PROCESSABORT, 0, ~0);
		KUNIT_EXPECT_TRUE(test, smc_state_awaits_final(&ctl));
		expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED,
			    DO(FREE_RMBE) | DO(STOP_TIMER), ~0);
	}
}

static void abrt_07_tmr_17_wait_for_a_is_bounded(struct kunit *test)
{
	static const enum way from[] = { PATH_PAW, PATH_PA, PATH_PA_C };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		expect_step(test, &ctl, E(TIMER), &idle, SMC_STATE_CLOSED,
			    DO(FREE_RMBE) | DO(STOP_TIMER), ~0);
	}
}

static void abrt_08_a_peers_abort_is_an_error_and_purges_data(struct kunit *test)
{
	struct smc_close_step step;
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(before_c); i++) {
		ctl = come_by(test, before_c[i]);
		step = smc_state_close(&ctl, E(RX_ABORT), &unread);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_PROCESSABORT);
		KUNIT_EXPECT_EQ(test, step.actions & (BREAK | DO_WAKE),
				BREAK | DO_WAKE);
		KUNIT_EXPECT_EQ(test, step.sk_err, ECONNRESET);
	}
}

static void abrt_09_answer_with_a_then_end(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	expect_step(test, &ctl, E(RX_ABORT), &idle, SMC_STATE_PROCESSABORT,
		    BREAK | DO(SEND_A) | DO(TCP_RST), MASK);
	/* AMB-47: the caller reports any completion the same way. */
	expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED,
		    DO(FREE_RMBE) | DO(STOP_TIMER), ~0);
}

static void abrt_10_reset_of_tcp_starts_the_abort(struct kunit *test)
{
	static const enum way from[] = {
		PATH_ACTIVE, PATH_PCW1_D, PATH_PCW2_D, PATH_ACW1_D,
		PATH_ACW2_D,
	};
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		expect_step(test, &ctl, E(RX_RST), &idle,
			    SMC_STATE_PEERABORTWAIT, BREAK | DO(SEND_A), MASK);
	}
	for (i = 0; i < ARRAY_SIZE(after_c); i++) {
		ctl = come_by(test, after_c[i]);
		expect_step(test, &ctl, E(RX_RST), &idle, SMC_STATE_PROCESSABORT,
			    BREAK, MASK);
	}
}

/* A RST may overtake data and the A behind them, ABRT-02. */
static void abrt_10_reset_of_tcp_waits_for_the_peers_a(struct kunit *test)
{
	static const struct smc_close_facts due = { .is_abort_due = true };
	static const enum way from[] = { PATH_ACTIVE, PATH_PCW1_D };
	struct smc_close_ctl ctl, reset;
	struct smc_close_step step;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		reset = come_by(test, from[i]);
		KUNIT_EXPECT_FALSE(test, smc_state_awaits_abort(&reset));
		expect_step(test, &reset, E(RX_RST), &due, paths[from[i]].state,
			    DO(START_TIMER), ~0);
		KUNIT_EXPECT_TRUE(test, smc_state_awaits_abort(&reset));
		/* The peer is silent on the link, too: the reset is the reported cause. */
		ctl = reset;
		step = smc_state_close(&ctl, E(SILENCE), &due);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_PEERABORTWAIT);
		KUNIT_EXPECT_EQ(test, step.cause, E(RX_RST));
		KUNIT_EXPECT_EQ(test, step.sk_err, ECONNRESET);
		/* The A arrives: no TCP connection is left to be reset. */
		ctl = reset;
		expect_step(test, &ctl, E(RX_ABORT), &unread, SMC_STATE_PROCESSABORT,
			    BREAK | DO(SEND_A) | DO(START_TIMER), MASK | DO(START_TIMER));
		/* It does not arrive: the reset is the reported cause. */
		ctl = reset;
		step = smc_state_close(&ctl, E(TIMER), &due);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_PEERABORTWAIT);
		KUNIT_EXPECT_EQ(test, step.actions & MASK, BREAK | DO(SEND_A));
		KUNIT_EXPECT_EQ(test, step.cause, E(RX_RST));
		KUNIT_EXPECT_EQ(test, step.sk_err, ECONNRESET);
		/* Another fault keeps its cause. */
		ctl = reset;
		step = smc_state_close(&ctl, E(FAULT), &due);
		KUNIT_EXPECT_EQ(test, step.cause, E(FAULT));
		KUNIT_EXPECT_EQ(test, step.sk_err, ECONNABORTED);
		/* It cannot arrive any more. */
		ctl = reset;
		step = smc_state_close(&ctl, E(LINK_LOST), &due);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_CLOSED);
		KUNIT_EXPECT_EQ(test, step.cause, E(RX_RST));
		KUNIT_EXPECT_TRUE(test, step.actions & DO(STOP_TIMER));
		/* The peer has only closed: the end of the stream, or of the connection. */
		ctl = reset;
		step = smc_state_close(&ctl, E(RX_CLOSED), &idle);
		KUNIT_EXPECT_EQ(test, step.actions & (MASK | DO(STOP_TIMER)), DO(STOP_TIMER));
		/* No reader is left. */
		ctl = reset;
		step = smc_state_close(&ctl, E(APP_CLOSE), &unread);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_PEERABORTWAIT);
		KUNIT_EXPECT_FALSE(test, smc_state_awaits_abort(&ctl));
	}
	/* Nor after close(). */
	ctl = come_by(test, PATH_ACTIVE);
	smc_state_close(&ctl, E(APP_CLOSE), &unsent);
	step = smc_state_close(&ctl, E(RX_RST), &due);
	KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_PEERABORTWAIT);
}

/* protocol.md: its data is complete, the end of its TCP does not matter. */
static void abrt_10_reset_after_the_peers_c_loses_nothing(struct kunit *test)
{
	static const enum way from[] = { PATH_ACW1_C, PATH_ACW2_C, PATH_AFCW };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		expect_step(test, &ctl, E(RX_RST), &unread, paths[from[i]].state,
			    0, ~0);
		/* No TCP connection is left to close. */
		expect_step(test, &ctl, E(APP_CLOSE), &idle, SMC_STATE_LASTWORD,
			    DO(SEND_C), MASK);
		expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED,
			    DO(FREE_RMBE), MASK);
	}
}

/* All data is here and unread: the peer's abort or the loss of its links has priority. */
static void abrt_10_close_17_reset_keeps_what_is_complete(struct kunit *test)
{
	static const enum way from[] = { PATH_PCW2_D, PATH_ACW1_D, PATH_ACW2_D };
	struct smc_close_ctl ctl, reset;
	struct smc_close_step step;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		reset = come_by(test, from[i]);
		expect_step(test, &reset, E(RX_RST), &unread, paths[from[i]].state,
			    DO(START_TIMER), ~0);
		KUNIT_EXPECT_TRUE(test, smc_state_awaits_abort(&reset));
		ctl = reset;
		expect_step(test, &ctl, E(LINK_LOST), &unread, paths[from[i]].state,
			    from[i] == PATH_ACW1_D ? DO(REPORT_ERR) : 0, MASK);
		expect_step(test, &ctl, E(TIMER), &unread, paths[from[i]].state, 0, ~0);
		ctl = reset;
		expect_step(test, &ctl, E(RX_ABORT), &unread, SMC_STATE_PROCESSABORT,
			    BREAK | DO(SEND_A), MASK);
		ctl = reset;
		step = smc_state_close(&ctl, E(TIMER), &unread);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_PEERABORTWAIT);
		KUNIT_EXPECT_EQ(test, step.actions & MASK, BREAK | DO(SEND_A));
		/* the reset is the reported cause, not the timeout */
		KUNIT_EXPECT_EQ(test, step.cause, E(RX_RST));
		KUNIT_EXPECT_EQ(test, step.sk_err, ECONNRESET);
		ctl = reset;
		step = smc_state_close(&ctl, E(RX_CLOSED), &unread);
		KUNIT_EXPECT_EQ(test, step.actions & (MASK | DO(STOP_TIMER)),
				DO(STOP_TIMER));
		expect_step(test, &ctl, E(TIMER), &unread, ctl.state, 0, ~0);
		/* No reader will come. */
		ctl = reset;
		expect_step(test, &ctl, E(APP_CLOSE), &unread, SMC_STATE_PEERABORTWAIT,
			    BREAK | DO(SEND_A), MASK);
	}
}

static const struct smc_close_facts answered = {
	.is_abort_due = true, .is_in_use = true, .has_answer = true,
};

/* The applications close in order; no TCP connection is left to close. */
static void close_without_tcp(struct kunit *test, struct smc_close_ctl *ctl)
{
	struct smc_close_step step = smc_state_close(ctl, E(APP_CLOSE), &idle);

	KUNIT_EXPECT_EQ(test, step.actions & MASK, DO(SEND_C));
	step = smc_state_close(ctl, E(RX_CLOSED), &idle);
	KUNIT_EXPECT_EQ(test, step.actions & MASK, 0U);
	expect_step(test, ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED, DO(FREE_RMBE), MASK);
}

/* A firewall has forgotten TCP, and the peer answers on the link. */
static void abrt_10_the_end_of_tcp_alone_ends_nothing(struct kunit *test)
{
	static const enum way from[] = {
		PATH_ACTIVE, PATH_PCW1_D, PATH_PCW2_D, PATH_ACW1_D, PATH_ACW2_D,
	};
	struct smc_close_ctl ctl, alone;
	struct smc_close_step step;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		alone = come_by(test, from[i]);
		expect_step(test, &alone, E(RX_RST), &answered, paths[from[i]].state,
			    DO(START_TIMER), ~0);
		KUNIT_EXPECT_TRUE(test, smc_state_awaits_abort(&alone));
		KUNIT_EXPECT_FALSE(test, smc_state_has_lost_tcp(&alone));
		expect_step(test, &alone, E(TIMER), &answered, paths[from[i]].state,
			    DO(GO_WITHOUT_TCP), ~0);
		KUNIT_EXPECT_FALSE(test, smc_state_awaits_abort(&alone));
		KUNIT_EXPECT_TRUE(test, smc_state_has_lost_tcp(&alone));
		ctl = alone;
		close_without_tcp(test, &ctl);
		KUNIT_EXPECT_FALSE(test, smc_state_has_lost_tcp(&ctl));
		ctl = alone;
		expect_step(test, &ctl, E(RX_ABORT), &answered, SMC_STATE_PROCESSABORT,
			    BREAK | DO(SEND_A), MASK);
		/* later causes are their own */
		ctl = alone;
		step = smc_state_close(&ctl, E(SILENCE), &answered);
		KUNIT_EXPECT_EQ(test, step.actions & MASK, BREAK | DO(SEND_A));
		KUNIT_EXPECT_EQ(test, step.sk_err, ETIMEDOUT);
		ctl = alone;
		step = smc_state_close(&ctl, E(LINK_LOST), &answered);
		KUNIT_EXPECT_EQ(test, step.cause, E(LINK_LOST));
	}
}

/* ERR-07: a server may have refused the Confirm, or the peer has lost its links, too. */
static void abrt_10_err_07_a_peer_that_is_not_there_ended_tcp(struct kunit *test)
{
	static const struct smc_close_facts rows[] = {
		{ .is_in_use = true, .has_answer = true },
		{ .is_abort_due = true, .has_answer = true },
		{ .is_abort_due = true, .is_in_use = true },
	};
	struct smc_close_ctl ctl;
	struct smc_close_step step;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ctl = come_by(test, PATH_ACTIVE);
		smc_state_close(&ctl, E(RX_RST), &answered);
		step = smc_state_close(&ctl, E(TIMER), &rows[i]);
		KUNIT_EXPECT_EQ_MSG(test, step.next, SMC_STATE_PEERABORTWAIT, "row %u", i);
		KUNIT_EXPECT_EQ(test, step.cause, E(RX_RST));
	}
}

/* What the application has sent arrives; the timer of the close runs. */
static void abrt_10_close_08_the_end_of_tcp_leaves_a_close_alone(struct kunit *test)
{
	static const struct smc_close_facts pending = {
		.has_unsent = true, .is_abort_due = true, .is_in_use = true,
	};
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	smc_state_close(&ctl, E(APP_CLOSE), &pending);
	expect_step(test, &ctl, E(RX_RST), &pending, SMC_STATE_ACTIVE, 0, ~0);
	expect_step(test, &ctl, E(TX_DRAINED), &idle, SMC_STATE_PEERCLOSEWAIT1, DO(SEND_C), MASK);
	expect_step(test, &ctl, E(RX_CLOSED), &idle, SMC_STATE_LASTWORD, 0, MASK);
	expect_step(test, &ctl, E(FINAL_DONE), &idle, SMC_STATE_CLOSED, DO(FREE_RMBE), MASK);
}

static void abrt_11_crossing_aborts(struct kunit *test)
{
	struct smc_close_ctl a = come_by(test, PATH_PAW);
	struct smc_close_ctl b = come_by(test, PATH_PAW);

	expect_step(test, &a, E(RX_ABORT), &idle, SMC_STATE_PROCESSABORT, 0, ~0);
	expect_step(test, &b, E(RX_ABORT), &idle, SMC_STATE_PROCESSABORT, 0, ~0);
}

static void abrt_12_nothing_is_sent_after_c(struct kunit *test)
{
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(after_c); i++) {
		ctl = come_by(test, after_c[i]);
		expect_step(test, &ctl, E(FAULT), &idle, SMC_STATE_PROCESSABORT,
			    BREAK | DO(TCP_RST), MASK);
		ctl = come_by(test, after_c[i]);
		expect_step(test, &ctl, E(RX_ABORT), &idle, SMC_STATE_PROCESSABORT,
			    BREAK | DO(TCP_RST), MASK);
	}
}

/* The peer has sent D or C, and our application has not closed. */
static bool is_complete(enum way path)
{
	switch (path) {
	case PATH_PCW2_D:
	case PATH_ACW1_D:
	case PATH_ACW1_C:
	case PATH_ACW2_D:
	case PATH_ACW2_C:
	case PATH_AFCW:
		return true;
	default:
		return path >= PATH_PCW2_LOST && path <= PATH_AFCW_LOST;
	}
}

static void peer_03_no_link_left_ends_any_state(struct kunit *test)
{
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < NR_PATHS; i++) {
		if (i == PATH_CLOSED || is_complete(i))
			continue;
		ctl = come_by(test, i);
		expect_step(test, &ctl, E(LINK_LOST), &unsent, SMC_STATE_CLOSED,
			    DO(FREE_RMBE), DO(FREE_RMBE) | DO(SEND_D) |
					   DO(SEND_C) | DO(SEND_A));
	}
}

/* Data received in good order is read in good order: nothing is purged. */
static void close_17_no_link_left_and_all_data_here(struct kunit *test)
{
	struct smc_close_step step;
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < NR_PATHS; i++) {
		if (!is_complete(i))
			continue;
		ctl = come_by(test, i);
		step = smc_state_close(&ctl, E(LINK_LOST), &unread);
		KUNIT_EXPECT_EQ_MSG(test, step.next, paths[i].state, "path %d", i);
		/* Only a side that may still send gets an error. */
		KUNIT_EXPECT_EQ_MSG(test, step.actions & MASK,
				    i == PATH_ACW1_D ? DO(REPORT_ERR) : 0, "path %d", i);
		KUNIT_EXPECT_EQ(test, step.actions & DO_WAKE, DO_WAKE);
		KUNIT_EXPECT_FALSE(test, may_send(&ctl));
		/* The peer resets TCP on its side. */
		expect_step(test, &ctl, E(RX_RST), &unread, paths[i].state, 0, MASK);
		/* Then the connection ends, without a message. */
		step = smc_state_close(&ctl, E(APP_CLOSE), &unread);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_CLOSED);
		KUNIT_EXPECT_EQ_MSG(test, step.actions & MASK,
				    DO(PURGE) | DO(FREE_RMBE), "path %d", i);
		KUNIT_EXPECT_TRUE(test, step.is_peer_done);
	}
}

/* The application has got the error: further losses, or a shutdown, are no other one. */
static void close_17_loss_is_reported_once(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACW1_D);
	struct smc_close_step step;
	u32 i;

	step = smc_state_close(&ctl, E(LINK_LOST), &unread);
	KUNIT_EXPECT_TRUE(test, step.actions & DO(REPORT_ERR));
	KUNIT_EXPECT_EQ(test, step.sk_err, ECONNABORTED);
	for (i = 0; i < 3; i++) {
		step = smc_state_close(&ctl, E(LINK_LOST), i ? &unread : &unsent);
		KUNIT_EXPECT_EQ(test, step.next, SMC_STATE_APPCLOSEWAIT1);
		KUNIT_EXPECT_EQ(test, step.actions, DO_WAKE);
		KUNIT_EXPECT_EQ(test, step.sk_err, 0);
		smc_state_close(&ctl, E(APP_SHUT_WR), &unsent);
	}
	/* nothing was read meanwhile, and close() loses it */
	expect_step(test, &ctl, E(APP_CLOSE), &unread, SMC_STATE_CLOSED,
		    DO(PURGE) | DO(TCP_RST) | DO(FREE_RMBE), MASK);
}

/* No link leads to the peer's element, but the peer may know of one that leads to ours. */
static void abrt_13_a_group_that_is_up_keeps_the_element(struct kunit *test)
{
	static const struct smc_close_facts cut = { .has_unread = true, .has_links = true };
	struct smc_close_step step;
	struct smc_close_ctl ctl;

	ctl = come_by(test, PATH_ACTIVE);
	step = smc_state_close(&ctl, E(LINK_LOST), &cut);
	KUNIT_EXPECT_TRUE(test, step.actions & DO(FREE_RMBE));
	KUNIT_EXPECT_FALSE(test, step.is_peer_done);
	ctl = come_by(test, PATH_ACW1_D);
	smc_state_close(&ctl, E(LINK_LOST), &cut);
	step = smc_state_close(&ctl, E(APP_CLOSE), &cut);
	KUNIT_EXPECT_TRUE(test, step.actions & DO(FREE_RMBE));
	KUNIT_EXPECT_FALSE(test, step.is_peer_done);
	/* The peer itself has announced that it writes no more. */
	ctl = come_by(test, PATH_ACW1_C);
	smc_state_close(&ctl, E(LINK_LOST), &cut);
	step = smc_state_close(&ctl, E(APP_CLOSE), &cut);
	KUNIT_EXPECT_TRUE(test, step.is_peer_done);
}

/* After close() there is no reader: nothing is kept. */
static void peer_03_no_link_left_ends_a_pending_close(struct kunit *test)
{
	static const enum way from[] = { PATH_ACW1_D, PATH_ACW1_C, PATH_AFCW };
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(from); i++) {
		ctl = come_by(test, from[i]);
		smc_state_close(&ctl, E(APP_CLOSE), &inflight);
		expect_step(test, &ctl, E(LINK_LOST), &inflight, SMC_STATE_CLOSED,
			    BREAK | DO(TCP_RST) | DO(FREE_RMBE), MASK);
	}
}

/* A shutdown whose data never completes holds nothing up. */
static void peer_03_no_link_left_and_then_a_shutdown(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACW1_D_LOST);

	expect_step(test, &ctl, E(APP_SHUT_WR), &unsent, SMC_STATE_APPCLOSEWAIT1,
		    0, MASK);
	KUNIT_EXPECT_FALSE(test, smc_state_is_draining(&ctl));
	expect_step(test, &ctl, E(TX_DRAINED), &idle, SMC_STATE_APPCLOSEWAIT1, 0, ~0);
	/* nor does one that was in progress when the link was lost */
	ctl = come_by(test, PATH_ACW1_D);
	smc_state_close(&ctl, E(APP_SHUT_WR), &unsent);
	smc_state_close(&ctl, E(LINK_LOST), &unsent);
	KUNIT_EXPECT_FALSE(test, smc_state_is_draining(&ctl));
	expect_step(test, &ctl, E(APP_CLOSE), &unsent, SMC_STATE_CLOSED,
		    DO(PURGE) | DO(TCP_RST) | DO(FREE_RMBE), MASK);
}

static void close_05_unfinished_rendezvous_just_ends(struct kunit *test)
{
	static const enum smc_close_event events[] = {
		E(APP_CLOSE), E(APP_ABORT), E(FAULT), E(RX_RST), E(TIMER),
	};
	struct smc_close_ctl ctl;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		ctl = come_by(test, PATH_INIT);
		expect_step(test, &ctl, events[i], &idle, SMC_STATE_CLOSED,
			    DO(FREE_RMBE), DO(FREE_RMBE) | DO(SEND_C) |
					   DO(SEND_A) | DO(WAIT_DRAIN));
	}
}

/* The transitions that Figures 22 and 23 and the text allow. */
static const struct {
	enum smc_conn_state from;
	u32 to;
} legal[] = {
	{ SMC_STATE_INIT, ST(ACTIVE) | ST(APPCLOSEWAIT1) },
	{ SMC_STATE_ACTIVE, ST(PEERCLOSEWAIT1) | ST(APPCLOSEWAIT1) },
	{ SMC_STATE_PEERCLOSEWAIT1,
	  ST(PEERCLOSEWAIT2) | ST(APPFINCLOSEWAIT) | ST(LASTWORD) },
	{ SMC_STATE_PEERCLOSEWAIT2, ST(APPFINCLOSEWAIT) | ST(LASTWORD) },
	{ SMC_STATE_APPCLOSEWAIT1,
	  ST(APPCLOSEWAIT2) | ST(PEERFINCLOSEWAIT) | ST(LASTWORD) },
	{ SMC_STATE_APPCLOSEWAIT2, ST(PEERFINCLOSEWAIT) | ST(LASTWORD) },
	{ SMC_STATE_APPFINCLOSEWAIT, ST(LASTWORD) },
	{ SMC_STATE_PEERFINCLOSEWAIT, ST(LASTWORD) },
	{ SMC_STATE_PEERABORTWAIT, ST(PROCESSABORT) },
	{ SMC_STATE_PROCESSABORT, 0 },
	{ SMC_STATE_LASTWORD, ST(PROCESSABORT) },
};

static bool is_legal(enum smc_conn_state from, enum smc_conn_state to)
{
	u32 i;

	if (to == SMC_STATE_CLOSED)
		return true;
	for (i = 0; i < ARRAY_SIZE(legal); i++)
		if (legal[i].from == from && (legal[i].to & BIT(to)))
			return true;
	return to == SMC_STATE_PROCESSABORT ||
	       (to == SMC_STATE_PEERABORTWAIT && from != SMC_STATE_INIT &&
		from != SMC_STATE_LASTWORD);
}

/* Invariants of every path, on every event, with all facts. */
static void check_step(struct kunit *test, enum way path,
		       enum smc_close_event event, u32 mask)
{
	struct smc_close_facts facts = {
		.has_unread = mask & 1,
		.has_unsent = mask & 2,
		.has_inflight = mask & 4,
		.has_progress = mask & 8,
	};
	struct smc_close_ctl ctl = come_by(test, path);
	enum smc_conn_state from = ctl.state;
	bool sent = (ctl.seen & (SEEN(C_SENT) | SEEN(PATH_LOST))) ||
		    (BIT(from) & (ST_ABORTING | ST(LASTWORD)));
	struct smc_close_step step = smc_state_close(&ctl, event, &facts);
	u32 acts = step.actions;
	bool ok = true;

	ok &= step.next == from || is_legal(from, step.next);
	/* The element is freed exactly when the connection ends. */
	ok &= !!(acts & DO(FREE_RMBE)) ==
	      (step.next != from && step.next == SMC_STATE_CLOSED);
	ok &= !!(acts & DO(REPORT_ERR)) == (step.sk_err > 0);
	/* CDC-14 */
	ok &= !sent || !(acts & (DO(SEND_D) | DO(SEND_C) | DO(SEND_A)));
	ok &= !((acts & DO(SEND_C)) && (acts & DO(SEND_A)));
	/* CLOSE-08: no D or C while data is in flight. */
	ok &= !(mask & 6) || !(acts & (DO(SEND_D) | DO(SEND_C)));
	ok &= !((acts & DO(TCP_RST)) && (acts & DO(TCP_FIN)));
	/* CLOSE-01: FIN comes last, after our C is sent and acknowledged. */
	ok &= !(acts & DO(TCP_FIN)) ||
	      (step.next == SMC_STATE_CLOSED && from == SMC_STATE_LASTWORD);
	ok &= !((acts & DO(START_TIMER)) && (acts & DO(STOP_TIMER)));
	ok &= from != SMC_STATE_CLOSED || (!acts && step.next == from);
	KUNIT_EXPECT_TRUE_MSG(test, ok, "path %d %s facts %x: %s actions %x",
			      path, smc_state_event_name(event), mask,
			      smc_state_conn_name(step.next), acts);
}

static void cdc_14_close_01_every_step_keeps_the_rules(struct kunit *test)
{
	u32 path, event, mask;

	for (path = 0; path < NR_PATHS; path++)
		for (event = 0; event < SMC_CLOSE_NR_EVENTS; event++)
			for (mask = 0; mask < 16; mask++)
				check_step(test, path, event, mask);
}

static void an_event_that_is_none_does_nothing(struct kunit *test)
{
	struct smc_close_ctl ctl = come_by(test, PATH_ACTIVE);

	expect_step(test, &ctl, SMC_CLOSE_NR_EVENTS, &idle, SMC_STATE_ACTIVE,
		    0, ~0);
}

/*
 * Two machines and a wire. All possible next steps of both applications, both devices and the
 * wire are tried in every order, each state once. No timer ever expires: a path that ends
 * without both connections closed shows a lost event. But a timer must be running wherever a
 * silent peer would keep the connection for ever.
 */
enum wire_msg { WIRE_NONE, WIRE_DATA, WIRE_D, WIRE_C, WIRE_A };

#define WIRE_LEN	5

struct side {
	struct smc_close_ctl close;
	u8 wire[WIRE_LEN];	/* posted, not yet delivered to the peer */
	u8 nr_wire;
	u8 to_send;		/* what the application still wants to send */
	u8 is_unread;
	u8 is_unsent;
	u8 nr_inflight;
	u8 may_shut;
	u8 may_close;
	u8 may_abort;
	u8 is_final;		/* C or A was posted */
	u8 is_final_out;	/* and has not completed */
	u8 is_rst_sent;		/* on its way to the peer */
	u8 nr_tcp_ends;
	u8 has_timer;
	u8 may_lose;
	u8 is_lost;		/* knows that no link is left */
	u8 is_deaf;		/* what it posts does not reach the peer */
};

struct world {
	struct side side[2];
};

#define SEARCH_BITS	18
#define SEARCH_STACK	2048

struct search {
	struct kunit *test;
	u64 *seen;		/* hashes; 0 is an empty slot */
	struct world *stack;
	u32 nr_stack;
	u32 nr_worlds;
	u32 nr_ends;
	const char *problem;
};

static void blame(struct search *s, const char *what)
{
	if (!s->problem)
		s->problem = what;
}

static void wire_post(struct search *s, struct side *me, enum wire_msg msg)
{
	if (me->is_final)
		blame(s, "a message after C or A");
	if (me->is_lost)
		blame(s, "a message without a link");
	if (msg == WIRE_C || msg == WIRE_A)
		me->is_final_out = 1;
	if (me->is_deaf)
		return;
	if (me->nr_wire == WIRE_LEN) {
		blame(s, "more messages than the model holds");
		return;
	}
	me->wire[me->nr_wire++] = msg;
	if (msg == WIRE_C || msg == WIRE_A)
		me->is_final = 1;
}

static void check_free(struct search *s, const struct side *peer,
		       const struct smc_close_step *step)
{
	u32 i;

	if (step->next != SMC_STATE_CLOSED)
		blame(s, "element freed before the end");
	if (!step->is_peer_done)
		return;
	if (!peer->is_final && !peer->is_deaf)
		blame(s, "element freed while the peer may write");
	for (i = 0; i < peer->nr_wire; i++)
		if (peer->wire[i] == WIRE_DATA)
			blame(s, "element freed under a write");
}

/*
 * The application waits for nothing: no termination state lasts, CLOSE-23. Neither does a
 * state after an unexplained TCP reset, ABRT-10.
 */
static bool is_bound_to_end(const struct smc_close_ctl *ctl)
{
	return ctl->state != SMC_STATE_CLOSED &&
	       ((ctl->seen & SEEN(APP_CLOSED)) || (BIT(ctl->state) & ST_ABORTING) ||
		smc_state_awaits_flags(ctl->state, ctl->seen));
}

static void happen(struct search *s, struct world *w, u32 who,
		   enum smc_close_event event)
{
	struct side *me = &w->side[who];
	struct smc_close_facts facts = {
		.has_unread = me->is_unread,
		.has_unsent = me->is_unsent,
		.has_inflight = me->nr_inflight > 0,
		.is_abort_due = !me->is_lost,
		.is_in_use = true,
	};
	struct smc_close_step step = smc_state_close(&me->close, event, &facts);

	if (step.actions & DO(PURGE)) {
		if (event == E(LINK_LOST) && me->is_unread && me->may_close &&
		    me->close.seen & (SEEN(D_RCVD) | SEEN(C_RCVD)))
			blame(s, "all had come, and is lost with the link");
		me->is_unread = 0;
		me->is_unsent = 0;
		me->to_send = 0;
	}
	if (step.actions & DO(SEND_D))
		wire_post(s, me, WIRE_D);
	if (step.actions & DO(SEND_C))
		wire_post(s, me, WIRE_C);
	if (step.actions & DO(SEND_A))
		wire_post(s, me, WIRE_A);
	if (step.actions & DO(TCP_RST))
		me->is_rst_sent = 1;
	if (step.actions & DO(TCP_FIN) && me->is_final_out)
		blame(s, "FIN before our C is there");
	if (step.actions & (DO(TCP_RST) | DO(TCP_FIN)))
		if (++me->nr_tcp_ends > 1)
			blame(s, "TCP ended twice");
	if (step.actions & DO(FREE_RMBE))
		check_free(s, &w->side[!who], &step);
	if (step.actions & DO(START_TIMER))
		me->has_timer = 1;
	if (step.actions & DO(STOP_TIMER))
		me->has_timer = 0;
	if (is_bound_to_end(&me->close) != me->has_timer)
		blame(s, "a wait without a timer, or a timer without a wait");
	if (smc_state_awaits_final(&me->close) && !me->is_final_out)
		happen(s, w, who, E(FINAL_DONE));
}

static void deliver(struct search *s, struct world *w, u32 who)
{
	static const enum smc_close_event events[] = {
		[WIRE_DATA] = E(RX_DATA),
		[WIRE_D] = E(RX_DONE),
		[WIRE_C] = E(RX_CLOSED),
		[WIRE_A] = E(RX_ABORT),
	};
	struct side *from = &w->side[!who];
	u8 msg = from->wire[0];

	from->nr_wire--;
	memmove(from->wire, from->wire + 1, from->nr_wire);
	from->wire[from->nr_wire] = WIRE_NONE;
	if (w->side[who].close.state == SMC_STATE_CLOSED)
		return;
	if (msg == WIRE_DATA)
		w->side[who].is_unread = 1;
	happen(s, w, who, events[msg]);
}

/* No message passes any more, in either direction. */
static void lose(struct search *s, struct world *w, u32 who)
{
	u32 i;

	w->side[who].is_lost = 1;
	w->side[who].is_final_out = 0;
	for (i = 0; i < 2; i++) {
		w->side[i].is_deaf = 1;
		w->side[i].nr_wire = 0;
		memset(w->side[i].wire, WIRE_NONE, WIRE_LEN);
	}
	happen(s, w, who, E(LINK_LOST));
}

enum choice {
	CHOOSE_SEND, CHOOSE_WRITE, CHOOSE_COMPLETE, CHOOSE_FINAL,
	CHOOSE_READ, CHOOSE_SHUT, CHOOSE_CLOSE, CHOOSE_ABORT, CHOOSE_DELIVER,
	CHOOSE_LOSE, CHOOSE_RST, NR_CHOICES,
};

static bool may_choose(const struct world *w, u32 who, enum choice choice)
{
	const struct side *me = &w->side[who], *peer = &w->side[!who];
	bool is_up = me->close.state != SMC_STATE_CLOSED;

	switch (choice) {
	case CHOOSE_SEND:
		return me->to_send && !me->is_unsent &&
		       may_send(&me->close);
	case CHOOSE_WRITE:
		return me->is_unsent && !me->is_final && !me->is_lost &&
		       !(me->close.seen & SEEN(C_RCVD));
	case CHOOSE_COMPLETE:
		return me->nr_inflight;
	case CHOOSE_FINAL:
		return me->is_final_out && !me->is_deaf;
	case CHOOSE_READ:
		return me->is_unread && me->may_close;
	case CHOOSE_SHUT:
		return me->may_shut && me->may_close && is_up;
	case CHOOSE_CLOSE:
		return me->may_close;
	case CHOOSE_ABORT:
		return me->may_abort && is_up;
	case CHOOSE_DELIVER:
		return peer->nr_wire;
	case CHOOSE_LOSE:
		return !me->is_lost && (me->may_lose || peer->is_lost);
	case CHOOSE_RST:
		return peer->is_rst_sent == 1;
	default:
		return false;
	}
}

static void choose(struct search *s, struct world *w, u32 who,
		   enum choice choice)
{
	struct side *me = &w->side[who];

	switch (choice) {
	case CHOOSE_SEND:
		me->to_send--;
		me->is_unsent = 1;
		break;
	case CHOOSE_WRITE:
		me->is_unsent = 0;
		me->nr_inflight++;
		wire_post(s, me, WIRE_DATA);
		break;
	case CHOOSE_COMPLETE:
		me->nr_inflight--;
		if (!me->nr_inflight && !me->is_unsent &&
		    smc_state_is_draining(&me->close))
			happen(s, w, who, E(TX_DRAINED));
		break;
	case CHOOSE_FINAL:
		me->is_final_out = 0;
		if (smc_state_awaits_final(&me->close))
			happen(s, w, who, E(FINAL_DONE));
		break;
	case CHOOSE_READ:
		me->is_unread = 0;
		break;
	case CHOOSE_SHUT:
		me->may_shut = 0;
		happen(s, w, who, E(APP_SHUT_WR));
		break;
	case CHOOSE_CLOSE:
		me->may_close = 0;
		me->may_shut = 0;
		me->to_send = 0;
		happen(s, w, who, E(APP_CLOSE));
		break;
	case CHOOSE_ABORT:
		me->may_abort = 0;
		happen(s, w, who, E(APP_ABORT));
		break;
	case CHOOSE_DELIVER:
		deliver(s, w, who);
		break;
	case CHOOSE_LOSE:
		lose(s, w, who);
		break;
	default:
		w->side[!who].is_rst_sent = 2;
		happen(s, w, who, E(RX_RST));
	}
}

static u64 world_hash(const struct world *w)
{
	const u8 *p = (const u8 *)w;
	u64 hash = 0xcbf29ce484222325ULL;
	u32 i;

	for (i = 0; i < sizeof(*w); i++)
		hash = (hash ^ p[i]) * 0x100000001b3ULL;
	return hash ? hash : 1;
}

/* True for a new state. */
static bool search_note(struct search *s, const struct world *w)
{
	u64 hash = world_hash(w);
	u32 mask = (1U << SEARCH_BITS) - 1;
	u32 at = (hash >> 20) & mask;

	if (s->nr_worlds > mask / 4 * 3) {
		blame(s, "more worlds than the table holds");
		return false;
	}
	while (s->seen[at]) {
		if (s->seen[at] == hash)
			return false;
		at = (at + 1) & mask;
	}
	s->seen[at] = hash;
	s->nr_worlds++;
	return true;
}

static void search_expand(struct search *s, const struct world *w)
{
	bool is_end = true;
	u32 who, choice;

	for (who = 0; who < 2; who++) {
		for (choice = 0; choice < NR_CHOICES; choice++) {
			struct world *next = &s->stack[s->nr_stack];

			if (!may_choose(w, who, choice))
				continue;
			is_end = false;
			*next = *w;
			choose(s, next, who, choice);
			if (!search_note(s, next))
				continue;
			if (++s->nr_stack == SEARCH_STACK) {
				blame(s, "stack of the search is too small");
				s->nr_stack--;
			}
		}
	}
	if (!is_end)
		return;
	s->nr_ends++;
	for (who = 0; who < 2; who++)
		if (w->side[who].close.state != SMC_STATE_CLOSED)
			blame(s, "an end at which a connection is not closed");
}

static void search_run(struct kunit *test, const struct side *one,
		       const struct side *two)
{
	struct search s = { .test = test };
	struct world w;

	s.seen = vcalloc(1U << SEARCH_BITS, sizeof(*s.seen));
	s.stack = vcalloc(SEARCH_STACK, sizeof(*s.stack));
	if (!s.seen || !s.stack)
		blame(&s, "no memory");
	memset(&w, 0, sizeof(w));
	w.side[0] = *one;
	w.side[1] = *two;
	if (!s.problem && search_note(&s, &w))
		s.stack[s.nr_stack++] = w;
	while (s.nr_stack && !s.problem) {
		w = s.stack[--s.nr_stack];
		search_expand(&s, &w);
	}
	vfree(s.seen);
	vfree(s.stack);
	if (s.problem)
		kunit_info(test, "%s and %s: %s\n",
			   smc_state_conn_name(w.side[0].close.state),
			   smc_state_conn_name(w.side[1].close.state),
			   s.problem);
	KUNIT_EXPECT_NULL(test, s.problem);
	KUNIT_EXPECT_GT(test, s.nr_worlds, 50U);
	KUNIT_EXPECT_GT(test, s.nr_ends, 0U);
	kunit_info(test, "%u worlds, %u ends\n", s.nr_worlds, s.nr_ends);
}

static struct side side_new(struct kunit *test)
{
	struct side side;

	memset(&side, 0, sizeof(side));
	side.close = come_by(test, PATH_ACTIVE);
	side.may_close = 1;
	return side;
}

static void close_02_pair_closes_in_every_order(struct kunit *test)
{
	struct side one = side_new(test), two = side_new(test);

	one.to_send = 2;
	two.to_send = 1;
	search_run(test, &one, &two);
}

static void close_25_pair_half_closes_in_every_order(struct kunit *test)
{
	struct side one = side_new(test), two = side_new(test);

	one.to_send = 1;
	one.may_shut = 1;
	two.to_send = 1;
	two.may_shut = 1;
	search_run(test, &one, &two);
}

static void abrt_13_pair_aborts_in_every_order(struct kunit *test)
{
	struct side one = side_new(test), two = side_new(test);

	one.may_abort = 1;
	one.may_shut = 1;
	two.to_send = 1;
	search_run(test, &one, &two);
}

static void abrt_11_pair_aborts_from_both_ends(struct kunit *test)
{
	struct side one = side_new(test), two = side_new(test);

	one.may_abort = 1;
	one.to_send = 1;
	two.may_abort = 1;
	two.may_shut = 1;
	search_run(test, &one, &two);
}

static void peer_03_pair_loses_its_link_in_every_order(struct kunit *test)
{
	struct side one = side_new(test), two = side_new(test);

	one.may_lose = 1;
	one.to_send = 1;
	one.may_shut = 1;
	two.to_send = 1;
	two.may_shut = 1;
	search_run(test, &one, &two);
}

/* Names. */

static void names_are_those_of_the_abi(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, SMC_STATE_ACTIVE, 1);
	KUNIT_EXPECT_EQ(test, SMC_STATE_INIT, 2);
	KUNIT_EXPECT_EQ(test, SMC_STATE_CLOSED, 7);
	KUNIT_EXPECT_EQ(test, SMC_STATE_LISTEN, 10);
	KUNIT_EXPECT_EQ(test, SMC_STATE_PEERCLOSEWAIT1, 20);
	KUNIT_EXPECT_EQ(test, SMC_STATE_PROCESSABORT, 27);
	KUNIT_EXPECT_STREQ(test, smc_state_conn_name(SMC_STATE_ACTIVE),
			   "ACTIVE");
	KUNIT_EXPECT_STREQ(test, smc_state_conn_name(SMC_STATE_PROCESSABORT),
			   "PROCESSABORT");
	KUNIT_EXPECT_STREQ(test, smc_state_conn_name(0), "?");
	KUNIT_EXPECT_STREQ(test, smc_state_conn_name(3), "?");
	KUNIT_EXPECT_STREQ(test, smc_state_conn_name(29), "?");
	KUNIT_EXPECT_STREQ(test, smc_state_event_name(E(RX_ABORT)),
			   "RX_ABORT");
	KUNIT_EXPECT_STREQ(test, smc_state_event_name(SMC_CLOSE_NR_EVENTS),
			   "?");
}

static void every_event_and_state_has_a_name(struct kunit *test)
{
	u32 i;

	for (i = 0; i < SMC_CLOSE_NR_EVENTS; i++)
		KUNIT_EXPECT_NE(test, smc_state_event_name(i)[0], '?');
	for (i = 0; i < NR_PATHS; i++)
		KUNIT_EXPECT_NE(test, smc_state_conn_name(paths[i].state)[0],
				'?');
	/* user space knows only the numbers of the ABI */
	for (i = 0; i < NR_PATHS; i++)
		KUNIT_EXPECT_LE(test, smc_state_shown(paths[i].state), SMC_STATE_PROCESSABORT);
	for (i = 0; i < SMC_LINK_NR_STATES; i++)
		KUNIT_EXPECT_NOT_NULL(test, smc_state_link_names[i]);
	for (i = 0; i < SMC_LGR_NR_STATES; i++)
		KUNIT_EXPECT_NOT_NULL(test, smc_state_lgr_names[i]);
	for (i = 0; i < SMC_LGR_NR_TYPES; i++)
		KUNIT_EXPECT_NOT_NULL(test, smc_state_lgr_type_names[i]);
}

/* Links and link groups. */

static void link_moves_forward_only(struct kunit *test)
{
	static const u8 rows[SMC_LINK_NR_STATES][SMC_LINK_NR_STATES] = {
		/* to: unused, inactive, activating, active, deleting */
		[SMC_LINK_UNUSED]	= { 0, 1, 1, 0, 0 },
		[SMC_LINK_INACTIVE]	= { 0, 0, 0, 0, 0 },
		[SMC_LINK_ACTIVATING]	= { 0, 1, 0, 1, 0 },
		[SMC_LINK_ACTIVE]	= { 0, 1, 0, 0, 1 },
		[SMC_LINK_DELETING]	= { 0, 1, 0, 0, 0 },
	};
	u32 from, to;

	for (from = 0; from < SMC_LINK_NR_STATES; from++)
		for (to = 0; to < SMC_LINK_NR_STATES; to++)
			KUNIT_EXPECT_EQ_MSG(test,
					    smc_state_link_may_move(from, to),
					    (bool)rows[from][to], "%u to %u",
					    from, to);
	KUNIT_EXPECT_FALSE(test, smc_state_link_may_move(SMC_LINK_NR_STATES,
							 SMC_LINK_UNUSED));
	KUNIT_EXPECT_FALSE(test, smc_state_link_may_move(SMC_LINK_UNUSED, 33));
}

static void lgr_moves_forward_only(struct kunit *test)
{
	static const u8 rows[SMC_LGR_NR_STATES][SMC_LGR_NR_STATES] = {
		/* to: forming, active, terminating, dead */
		[SMC_LGR_FORMING]	= { 0, 1, 1, 1 },
		[SMC_LGR_ACTIVE]	= { 0, 0, 1, 0 },
		[SMC_LGR_TERMINATING]	= { 0, 0, 0, 1 },
		[SMC_LGR_DEAD]		= { 0, 0, 0, 0 },
	};
	u32 from, to;

	for (from = 0; from < SMC_LGR_NR_STATES; from++)
		for (to = 0; to < SMC_LGR_NR_STATES; to++)
			KUNIT_EXPECT_EQ_MSG(test,
					    smc_state_lgr_may_move(from, to),
					    (bool)rows[from][to], "%u to %u",
					    from, to);
	KUNIT_EXPECT_FALSE(test, smc_state_lgr_may_move(SMC_LGR_NR_STATES,
							SMC_LGR_DEAD));
}

static struct kunit_case smc_state_cases[] = {
	KUNIT_CASE(close_05_starts_outside_of_any_transfer),
	KUNIT_CASE(close_05_unfinished_rendezvous_just_ends),
	KUNIT_CASE(close_06_active_when_rendezvous_is_complete),
	KUNIT_CASE(close_16_flags_before_active_take_effect_then),
	KUNIT_CASE(close_04_shutdown_read_sends_nothing),
	KUNIT_CASE(close_07_close_with_unread_data_is_an_abort),
	KUNIT_CASE(close_07_shutdown_write_leaves_unread_data_alone),
	KUNIT_CASE(close_08_close_waits_for_what_is_under_way),
	KUNIT_CASE(close_08_shutdown_waits_and_close_takes_over),
	KUNIT_CASE(close_08_pending_close_follows_the_peers_flags),
	KUNIT_CASE(close_08_no_flag_without_a_request),
	KUNIT_CASE(close_08_an_abort_ends_the_wait_for_data),
	KUNIT_CASE(close_09_close_03_active_close_says_c),
	KUNIT_CASE(close_09_shutdown_write_says_d),
	KUNIT_CASE(close_09_close_after_shutdown_write_says_c),
	KUNIT_CASE(close_10_peers_d_leads_to_wait_2),
	KUNIT_CASE(close_11_close_17_readers_wake_and_see_the_end),
	KUNIT_CASE(close_11_sleepers_are_woken),
	KUNIT_CASE(close_12_both_closed_is_the_end),
	KUNIT_CASE(close_01_close_02_last_word_before_fin),
	KUNIT_CASE(close_01_the_fin_of_the_side_that_ended_first_is_first),
	KUNIT_CASE(amb_54_last_word_without_fin),
	KUNIT_CASE(close_13_peer_closed_and_we_have_not),
	KUNIT_CASE(close_14_late_close_says_c_and_ends),
	KUNIT_CASE(close_15_rmb_27_element_is_free_when_the_peer_is_done),
	KUNIT_CASE(close_16_peer_closes_first),
	KUNIT_CASE(close_18_peer_closes_on_unsent_data),
	KUNIT_CASE(close_19_passive_side_shuts_down_writing),
	KUNIT_CASE(close_20_passive_close_after_the_peers_c),
	KUNIT_CASE(close_21_passive_close_after_the_peers_d),
	KUNIT_CASE(close_22_peers_c_ends_the_last_wait),
	KUNIT_CASE(close_23_tmr_16_waits_for_the_peer_are_timed),
	KUNIT_CASE(close_24_timer_after_c_resets_without_a_message),
	KUNIT_CASE(close_24_timer_before_c_sends_a_first),
	KUNIT_CASE(close_24_data_after_our_c_reset_without_a_message),
	KUNIT_CASE(close_23_pending_close_lasts_as_long_as_there_is_progress),
	KUNIT_CASE(close_25_crossing_closes_both_take_path_3),
	KUNIT_CASE(close_26_data_after_our_d_are_welcome),
	KUNIT_CASE(abrt_02_reset_goes_with_the_abort),
	KUNIT_CASE(abrt_03_local_abort_before_c_sends_a),
	KUNIT_CASE(abrt_04_aborting_side_ignores_all_but_the_end),
	KUNIT_CASE(abrt_05_each_abort_has_its_error),
	KUNIT_CASE(abrt_06_peers_a_ends_the_wait),
	KUNIT_CASE(abrt_07_tmr_17_wait_for_a_is_bounded),
	KUNIT_CASE(abrt_08_a_peers_abort_is_an_error_and_purges_data),
	KUNIT_CASE(abrt_09_answer_with_a_then_end),
	KUNIT_CASE(abrt_10_reset_of_tcp_starts_the_abort),
	KUNIT_CASE(abrt_10_reset_of_tcp_waits_for_the_peers_a),
	KUNIT_CASE(abrt_10_reset_after_the_peers_c_loses_nothing),
	KUNIT_CASE(abrt_10_close_17_reset_keeps_what_is_complete),
	KUNIT_CASE(abrt_10_the_end_of_tcp_alone_ends_nothing),
	KUNIT_CASE(abrt_10_err_07_a_peer_that_is_not_there_ended_tcp),
	KUNIT_CASE(abrt_10_close_08_the_end_of_tcp_leaves_a_close_alone),
	KUNIT_CASE(abrt_11_crossing_aborts),
	KUNIT_CASE(abrt_12_nothing_is_sent_after_c),
	KUNIT_CASE(abrt_13_a_group_that_is_up_keeps_the_element),
	KUNIT_CASE(peer_03_no_link_left_ends_any_state),
	KUNIT_CASE(peer_03_no_link_left_ends_a_pending_close),
	KUNIT_CASE(peer_03_no_link_left_and_then_a_shutdown),
	KUNIT_CASE(close_17_no_link_left_and_all_data_here),
	KUNIT_CASE(close_17_loss_is_reported_once),
	KUNIT_CASE(an_event_that_is_none_does_nothing),
	KUNIT_CASE(cdc_14_close_01_every_step_keeps_the_rules),
	KUNIT_CASE_SLOW(close_02_pair_closes_in_every_order),
	KUNIT_CASE_SLOW(close_25_pair_half_closes_in_every_order),
	KUNIT_CASE_SLOW(peer_03_pair_loses_its_link_in_every_order),
	KUNIT_CASE_SLOW(abrt_13_pair_aborts_in_every_order),
	KUNIT_CASE_SLOW(abrt_11_pair_aborts_from_both_ends),
	KUNIT_CASE(names_are_those_of_the_abi),
	KUNIT_CASE(every_event_and_state_has_a_name),
	KUNIT_CASE(link_moves_forward_only),
	KUNIT_CASE(lgr_moves_forward_only),
	{}
};

static struct kunit_suite smc_state_suite = {
	.name = "smc_state",
	.test_cases = smc_state_cases,
};

kunit_test_suite(smc_state_suite);
