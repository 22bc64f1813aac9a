// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC machine with several links in version 2, where ADD LINK announces all RMBs: two
 * machines in a world of RNICs and wires (smc_llc_world.h). smc_llc_group_test.c has what is
 * the same in version 1, and the random schedules.
 */
#include "smc_kunit.h"

#include "smc_llc_world.h"

static struct world *v2_world(struct kunit *test, u8 server_rnics, u8 client_rnics,
			      bool is_agreed)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct w_setup set = {
		.rnics = { server_rnics, client_rnics },
		.max_links = { 2, 2 },
		.is_multi = true,
		.has_v2 = true,
		.is_agreed = is_agreed,
	};

	KUNIT_ASSERT_NOT_NULL(test, w);
	w_init(w, &set);
	return w;
}

static struct world *v2_up(struct kunit *test, u8 server_rnics, u8 client_rnics)
{
	struct world *w = v2_world(test, server_rnics, client_rnics, true);

	w_pump(w);
	KUNIT_ASSERT_EQ(test, w->side[W_SERVER].nr_up, 1);
	KUNIT_ASSERT_EQ(test, w->side[W_CLIENT].nr_up, 1);
	return w;
}

static unsigned int sent(struct world *w, int who, u8 type, bool is_reply)
{
	return w->side[who].sent[is_reply][type];
}

/* No event is pending, and both sides have the same @nr links with all keys. */
static void v2_expect_rest(struct kunit *test, struct world *w, unsigned int nr)
{
	w_pump(w);
	w_check_rest(w);
	KUNIT_EXPECT_TRUE_MSG(test, !w->fault, "line %u: %s", w->line, w->fault ?: "");
	KUNIT_EXPECT_EQ(test, w_nr(&w->side[W_SERVER], SMC_LLC_LINK_ACTIVE), nr);
	KUNIT_EXPECT_EQ(test, w_nr(&w->side[W_CLIENT], SMC_LLC_LINK_ACTIVE), nr);
}

static void v2_say(struct world *w, int to, u8 link, u8 type, bool is_reply)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG, .link = link };

	ev.msg.type = type;
	ev.msg.is_reply = is_reply;
	w_feed(w, to, &ev);
}

/* One link and @nr RMBs on either side, then RNICs appear for a second one. */
static struct world *v2_adding(struct kunit *test, unsigned int nr)
{
	struct world *w = v2_up(test, 1, 1);
	unsigned int i;
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (i = 1; i < nr; i++)
			w_add_rmb(w, who);
		w_pump(w);
		KUNIT_ASSERT_EQ(test, w_nr(&w->side[who], SMC_LLC_LINK_ACTIVE), 1);
	}
	w->side[W_CLIENT].has_rnic[1] = true;
	w->side[W_SERVER].has_rnic[1] = true;
	w_tell_rnics(w, W_CLIENT);
	memset(w->side[W_CLIENT].sent, 0, sizeof(w->side[W_CLIENT].sent));
	memset(w->side[W_SERVER].sent, 0, sizeof(w->side[W_SERVER].sent));
	w_tell_rnics(w, W_SERVER);
	return w;
}

struct v2_row {
	u8 rnics[2];
	unsigned int links;
};

static const struct v2_row v2_rows[] = {
	{ { 1, 1 }, 1 }, { { 1, 2 }, 2 }, { { 2, 1 }, 2 }, { { 2, 2 }, 2 }, { { 4, 3 }, 2 },
};

/* FC-12, protocol.md: with the keys in ADD LINK, CONFIRM LINK comes next */
static void second_link_on_first_contact_sl_13_sl_15_lg_12_lg_13(struct kunit *test)
{
	const struct v2_row *row;
	bool is_agreed = false;
	struct world *w;

	do {
		for (row = v2_rows; row < v2_rows + ARRAY_SIZE(v2_rows); row++) {
			w = v2_world(test, row->rnics[0], row->rnics[1], is_agreed);
			v2_expect_rest(test, w, row->links);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
			KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_ADD_LINK, false),
					sent(w, W_CLIENT, SMC_LLC_ADD_LINK, true));
			KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false),
					row->links);
		}
		is_agreed = !is_agreed;
	} while (is_agreed);
}

/* All of them, though the counts of the sides differ; w_check_rest() checks the keys */
static void all_rmbs_at_once_rkey_20_rkey_21_rkey_22_addl_12(struct kunit *test)
{
	struct world *w = v2_adding(test, 9);
	unsigned int i;

	for (i = 0; i < 2; i++)
		w_add_rmb(w, W_SERVER);
	v2_expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_ADD_LINK, false), 1);
	KUNIT_EXPECT_EQ(test, sent(w, W_CLIENT, SMC_LLC_ADD_LINK, true), 1);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].kept.len, 72 + 16 * 9);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].kept.len, 72 + 16 * 9);
	/* those two were announced for both links */
	for (i = 0; i < 11; i++)
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].rmb[i].state, W_RMB_KNOWN);
}

static void gids_of_req_add_link_addl_06(struct kunit *test)
{
	struct smc_llc_flow *flow = kunit_kzalloc(test, sizeof(*flow), GFP_KERNEL);
	u8 gid[SMC_LLC_REQ_GIDS][SMC_GID_LEN] = {};
	struct smc_llc_end first = { .gid = { 3 } };
	u8 i;

	KUNIT_ASSERT_NOT_NULL(test, flow);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_gids(flow, &first, gid), 1);
	KUNIT_EXPECT_EQ(test, gid[0][0], 3);
	for (i = 0; i < SMC_LLC_RNICS; i++)
		flow->rnics.rnic[i].gid[0] = i + 1;
	flow->rnics.count = 3;
	KUNIT_EXPECT_EQ(test, smc_llc_flow_gids(flow, &first, gid), 3);
	KUNIT_EXPECT_EQ(test, gid[0][0], 3);
	KUNIT_EXPECT_EQ(test, gid[1][0], 1);
	KUNIT_EXPECT_EQ(test, gid[2][0], 2);
	/* no more than fit into a short message */
	flow->rnics.count = SMC_LLC_RNICS;
	KUNIT_EXPECT_EQ(test, smc_llc_flow_gids(flow, &first, gid), SMC_LLC_REQ_GIDS);
	KUNIT_EXPECT_EQ(test, gid[0][0], 3);
	KUNIT_EXPECT_EQ(test, gid[SMC_LLC_REQ_GIDS - 1][0], SMC_LLC_REQ_GIDS);
}

static void client_asks_and_gets_a_link_addl_06_err_59(struct kunit *test)
{
	struct world *w = v2_up(test, 1, 2);

	/* asymmetric; the server gets its second RNIC without an event */
	v2_expect_rest(test, w, 2);
	w->side[W_SERVER].has_rnic[1] = true;
	w_rnics(w, W_SERVER, &w->side[W_SERVER].flow.rnics);
	w_want_link(w, W_CLIENT);
	v2_expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_type(&w->side[W_SERVER].flow),
			SMC_LGR_TYPE_SYMMETRIC);
	KUNIT_EXPECT_EQ(test, sent(w, W_CLIENT, SMC_LLC_REQ_ADD_LINK, false), 1);
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_REQ_ADD_LINK, true), 0);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].flow.req_link, SMC_LLC_NO_LINK);
}

/* protocol.md: a server without a link to offer answers so, without harm */
static void client_asks_without_success_addl_09(struct kunit *test)
{
	struct world *w = v2_up(test, 1, 2);

	v2_expect_rest(test, w, 2);
	w_want_link(w, W_CLIENT);
	v2_expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, sent(w, W_CLIENT, SMC_LLC_REQ_ADD_LINK, false), 1);
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_REQ_ADD_LINK, true), 1);
	/* nor where the queue pair cannot be created */
	w->side[W_SERVER].create_fails = true;
	w->side[W_SERVER].has_rnic[1] = true;
	w_rnics(w, W_SERVER, &w->side[W_SERVER].flow.rnics);
	w_want_link(w, W_CLIENT);
	v2_expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_REQ_ADD_LINK, true), 2);
}

/* Nor while the server still tries to create the queue pair that it would offer. */
static void client_asks_while_none_can_be_made_addl_09(struct kunit *test)
{
	struct world *w = v2_adding(test, 1);

	w->side[W_SERVER].create_fails = true;
	v2_say(w, W_SERVER, 0, SMC_LLC_REQ_ADD_LINK, false);
	v2_expect_rest(test, w, 1);
	/* and one to the client's own request, which was in flight */
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_REQ_ADD_LINK, true), 2);
}

/* An accepted offer of a queue pair without RMBs is withdrawn. */
static void server_without_rmbs_on_two_links_amb_28(struct kunit *test)
{
	struct w_setup set = {
		.rnics = { 2, 2 }, .max_links = { 2, 2 }, .is_multi = true, .has_v2 = true,
	};
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u64 begin;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w_init(w, &set);
	begin = w->now;
	w->side[W_SERVER].map_fails = true;
	v2_expect_rest(test, w, 1);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
	KUNIT_EXPECT_EQ(test, w->now, begin);
	KUNIT_EXPECT_EQ(test, sent(w, W_CLIENT, SMC_LLC_ADD_LINK, true), 1);
	/* the offer has no key of the RMB in use, so the client declines */
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_DELETE_LINK, false), 0);
}

static void req_add_link_crosses_add_link_ser_07(struct kunit *test)
{
	struct world *w = v2_adding(test, 1);

	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	v2_say(w, W_SERVER, 0, SMC_LLC_REQ_ADD_LINK, false);
	v2_expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_ADD_LINK, false), 1);
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_REQ_ADD_LINK, true), 0);
}

/* The link of the request is lost before the answer. */
static void req_add_link_of_a_lost_link_llc_14(struct kunit *test)
{
	struct world *w = v2_up(test, 2, 2);
	u8 type = SMC_LLC_REQ_ADD_LINK;

	v2_say(w, W_SERVER, 1, SMC_LLC_DELETE_RKEY, false);
	KUNIT_ASSERT_EQ(test, w->side[W_SERVER].flow.remote.state, SMC_LLC_REMOTE_DELETE_RKEY);
	v2_say(w, W_SERVER, 1, type, false);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].flow.req_link, 1);
	w->side[W_CLIENT].has_rnic[1] = false;
	w_rnic_down(w, W_SERVER, 1, true);
	w_break(w, W_CLIENT, 1, true);
	w_pump(w);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].flow.req_link, SMC_LLC_NO_LINK);
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, type, true), 0);
	v2_expect_rest(test, w, 1);
}

static void answers_out_of_place_llc_11_err_54(struct kunit *test)
{
	struct world *w = v2_up(test, 2, 2);

	/* to a client it is a late answer at worst */
	v2_say(w, W_CLIENT, 1, SMC_LLC_REQ_ADD_LINK, true);
	v2_expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_link_down, 0);
	/* only a client sends the request, and it gets no answer */
	v2_say(w, W_SERVER, 1, SMC_LLC_REQ_ADD_LINK, true);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_down, 1);
	w = v2_up(test, 2, 2);
	v2_say(w, W_CLIENT, 1, SMC_LLC_REQ_ADD_LINK, false);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_link_down, 1);
	/* continuations of version 1 are errors here */
	w = v2_adding(test, 1);
	w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
	v2_say(w, W_SERVER, 0, SMC_LLC_ADD_LINK_CONT, true);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].flow.link[0].state, SMC_LLC_LINK_FAILED);
}

/* A client that cannot store the keys rejects; the group continues, and tries again. */
static void client_cannot_store_keys_sl_11_sl_12_err_57(struct kunit *test)
{
	struct world *w = v2_adding(test, 3);

	w->side[W_CLIENT].store_fails = true;
	v2_expect_rest(test, w, 1);
	KUNIT_EXPECT_EQ(test, sent(w, W_CLIENT, SMC_LLC_ADD_LINK, true),
			sent(w, W_SERVER, SMC_LLC_ADD_LINK, false));
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false), 0);
	KUNIT_EXPECT_EQ(test, sent(w, W_CLIENT, SMC_LLC_DELETE_LINK, false), 0);
	w->side[W_CLIENT].store_fails = false;
	w_wait(w, 60000);
	v2_expect_rest(test, w, 2);
}

static void server_cannot_store_keys_err_45_err_57(struct kunit *test)
{
	struct world *w = v2_adding(test, 3);

	w->side[W_SERVER].store_fails = true;
	v2_expect_rest(test, w, 1);
	KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_DELETE_LINK, false), 1);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].down_reason, SMC_LLC_DELETE_PROTOCOL);
	w->side[W_SERVER].store_fails = false;
	w_wait(w, 60000);
	v2_expect_rest(test, w, 2);
}

/* The client gets the same offer again, with another number and another count of keys. */
static void v2_offer_again(struct kunit *test, struct world *w, u8 num, u8 nr_pairs)
{
	struct w_bytes b = w->side[W_CLIENT].kept;
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };

	b.raw[31] = num;
	b.raw[70] = nr_pairs;
	b.len = 72 + 16 * nr_pairs;
	b.raw[1] = b.len;
	KUNIT_ASSERT_EQ(test, smc_llc_form_decode(SMC_LLC_FORM_V2, b.raw, b.len,
						  SMC_DIALECT_DEPLOYED, &ev.msg), SMC_LLC_OK);
	w_hear(w, W_CLIENT, &ev, &b);
}

/* The client gets another offer before it is done with this one. */
static void keys_of_the_last_offer_count_err_29(struct kunit *test)
{
	struct world *w = v2_adding(test, 4);
	struct w_side *client = &w->side[W_CLIENT];

	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	while (client->flow.add.offer.nr_pairs != 4)
		KUNIT_ASSERT_TRUE(test, w_step(w));
	KUNIT_EXPECT_EQ(test, client->kept.raw[70], 4);
	v2_offer_again(test, w, 77, 1);
	KUNIT_EXPECT_EQ(test, client->kept.raw[70], 1);
	KUNIT_EXPECT_EQ(test, client->flow.add.offer.nr_pairs, 1);
	KUNIT_EXPECT_EQ(test, client->flow.add.offer.link_num, 77);
	/* an offer without new keys keeps the old ones */
	client->acts.nr = 0;
	v2_offer_again(test, w, client->flow.link[0].num, 0);
	KUNIT_EXPECT_EQ(test, client->kept.raw[70], 1);
}

/* Each message of the exchange is lost once, with or without its link. */
static void any_message_is_lost_err_25_err_29_err_31_llc_14(struct kunit *test)
{
	static const struct {
		int who;
		u8 type;
		bool is_reply;
	} step[] = {
		{ W_SERVER, SMC_LLC_ADD_LINK, false }, { W_CLIENT, SMC_LLC_ADD_LINK, true },
		{ W_SERVER, SMC_LLC_CONFIRM_LINK, false },
		{ W_CLIENT, SMC_LLC_CONFIRM_LINK, true },
	};
	unsigned int i;
	int breaks;

	for (i = 0; i < ARRAY_SIZE(step); i++)
		for (breaks = 0; breaks < 2; breaks++) {
			struct world *w = v2_up(test, 2, 2);
			struct w_side *s;
			u8 link;

			/* an asymmetric link first, so that one link always remains */
			w->now += 60000;
			w_rnic_down(w, W_SERVER, 1, true);
			w_pump(w);
			w_rnic_up(w, W_SERVER, 2);
			s = &w->side[step[i].who];
			w_pump_until(w, step[i].who, step[i].type, step[i].is_reply);
			for (link = 0; link < SMC_LLC_LINKS; link++)
				if (s->qp[link].tx.nr)
					break;
			KUNIT_ASSERT_LT(test, link, SMC_LLC_LINKS);
			if (breaks)
				w_break(w, step[i].who, link, true);
			else
				w->loses[step[i].who] = true;
			w_wait(w, 100000);
			w_check_rest(w);
			KUNIT_EXPECT_TRUE_MSG(test, !w->fault, "step %u, breaks %d: line %u: %s", i,
					      breaks, w->line, w->fault ?: "");
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].flow.phase, SMC_LLC_UP);
			KUNIT_EXPECT_EQ(test, smc_llc_nr_symmetric(&w->side[W_SERVER].flow), 2);
		}
}

/* A deployed client rejects a link at last that it had accepted, after its deletion. */
static void late_reject_is_no_error_lid_03(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	struct world *w = v2_adding(test, 1);

	w->side[W_SERVER].prepare_fails = true;
	v2_expect_rest(test, w, 1);
	KUNIT_ASSERT_EQ(test, sent(w, W_SERVER, SMC_LLC_DELETE_LINK, false), 1);
	ev.msg.type = SMC_LLC_ADD_LINK;
	ev.msg.is_reply = true;
	ev.msg.add_link.is_rejected = true;
	ev.msg.add_link.reason = SMC_LLC_ADD_LINK_NO_PATH;
	ev.msg.add_link.link_num = w->side[W_SERVER].flow.last_num;
	w_feed(w, W_SERVER, &ev);
	v2_expect_rest(test, w, 1);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_down, 0);
	/* also while another link is offered */
	w->side[W_SERVER].prepare_fails = false;
	w_want_link(w, W_SERVER);
	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	w_feed(w, W_SERVER, &ev);
	v2_expect_rest(test, w, 2);
	/* a number that was never used */
	ev.msg.add_link.link_num = 99;
	w_feed(w, W_SERVER, &ev);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_down, 1);
}

/* An offer that arrives before that would be lost. */
static void offer_waits_for_late_reject_err_58(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	struct world *w = v2_adding(test, 1);
	struct smc_llc_flow *flow = &w->side[W_SERVER].flow;
	unsigned int offers;
	int k;

	w->side[W_CLIENT].is_curt = true;
	w->side[W_SERVER].prepare_fails = true;
	v2_expect_rest(test, w, 1);
	w->side[W_SERVER].prepare_fails = false;
	for (k = 0; k < 3; k++) {
		offers = sent(w, W_SERVER, SMC_LLC_ADD_LINK, false);
		w_want_link(w, W_SERVER);
		v2_expect_rest(test, w, 1);
		KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_ADD_LINK, false), offers);
		if (k == 2) {
			/* other clients do not reject late: wait for a limited time only */
			w_wait(w, flow->params.timers.reply);
			break;
		}
		ev.msg.type = SMC_LLC_ADD_LINK;
		ev.msg.is_reply = true;
		ev.msg.add_link.is_rejected = true;
		/* AMB-40 */
		ev.msg.add_link.link_num = k ? 0 : flow->last_num;
		w->side[W_SERVER].prepare_fails = true;
		w_feed(w, W_SERVER, &ev);
		v2_expect_rest(test, w, 1);
		KUNIT_EXPECT_EQ(test, sent(w, W_SERVER, SMC_LLC_ADD_LINK, false), offers + 1);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_down, 0);
		w->side[W_SERVER].prepare_fails = false;
	}
	/* over an asymmetric link, for no other one has come up */
	v2_expect_rest(test, w, 2);
}

/* A client of this module has nothing to reject late, and shows it. */
static void offer_follows_at_once_err_58_fail_18(struct kunit *test)
{
	struct world *w = v2_adding(test, 1);
	u64 begin = w->now;

	w->side[W_SERVER].prepare_fails = true;
	v2_expect_rest(test, w, 1);
	KUNIT_ASSERT_EQ(test, sent(w, W_CLIENT, SMC_LLC_DELETE_LINK, true), 1);
	w->side[W_SERVER].prepare_fails = false;
	w_want_link(w, W_SERVER);
	v2_expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, w->now, begin);
}

/* DELETE RKEY with more keys than version 1 has room for: all known ones are deleted. */
static void long_delete_rkey_rkey_16_rkey_18(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	struct world *w = v2_up(test, 2, 2);
	struct w_side *server = &w->side[W_SERVER];
	struct smc_llc_msg reply;
	u32 rkeys[12] = {};
	struct smc_llc_more more = { .rkey = rkeys };
	struct w_bytes b = {};
	unsigned int i, k;

	for (i = 0; i < 10; i++)
		w_add_rmb(w, W_CLIENT);
	w_pump(w);
	for (i = 0; i < W_RMBS; i++)
		if (w->side[W_CLIENT].rmb[i].state == W_RMB_KNOWN)
			rkeys[more.nr++] = w->side[W_CLIENT].rmb[i].rkey[1];
	KUNIT_ASSERT_EQ(test, more.nr, 11);
	rkeys[more.nr++] = 0xdead;
	/* the first one stays */
	more.rkey++;
	more.nr--;
	ev.link = 1;
	ev.msg.type = SMC_LLC_DELETE_RKEY;
	b.len = smc_llc_form_encode(SMC_LLC_FORM_V2, &ev.msg, &more, SMC_DIALECT_DEPLOYED,
				    b.raw, sizeof(b.raw));
	KUNIT_ASSERT_EQ(test, b.len, 8 + 4 * 11);
	KUNIT_ASSERT_EQ(test, smc_llc_form_decode(SMC_LLC_FORM_V2, b.raw, b.len,
						  SMC_DIALECT_DEPLOYED, &ev.msg), SMC_LLC_OK);
	w_hear(w, W_SERVER, &ev, &b);
	/* the message's buffer is reused before the keys are processed */
	memset(b.raw, 0xff, sizeof(b.raw));
	while (server->nr_jobs)
		w_work(w, W_SERVER, 0);
	for (i = 0, k = 0; i < W_RMBS; i++)
		k += server->token[i].is_used;
	KUNIT_EXPECT_EQ(test, k, 1);
	KUNIT_EXPECT_GE(test, w_find_token(server, 1, rkeys[0]), 0);
	KUNIT_ASSERT_EQ(test, server->qp[1].tx.nr, 1);
	b = server->qp[1].tx.at[server->qp[1].tx.head];
	KUNIT_ASSERT_EQ(test, smc_llc_form_decode(SMC_LLC_FORM_V2, b.raw, b.len,
						  SMC_DIALECT_DEPLOYED, &reply), SMC_LLC_OK);
	KUNIT_EXPECT_TRUE(test, reply.is_reply && reply.delete_rkey.is_negative);
	KUNIT_EXPECT_EQ(test, reply.delete_rkey.count, 11);
	KUNIT_EXPECT_EQ(test, reply.delete_rkey.nr_unknown, 1);
	KUNIT_EXPECT_TRUE_MSG(test, !w->fault, "line %u: %s", w->line, w->fault ?: "");
}

/* The last link fails while the other one awaits CONFIRM LINK. */
static void last_link_dies_while_one_is_added(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = v2_adding(test, 5);

		w->now += 60000;
		w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
		w_break(w, who, 0, true);
		w_pump(w);
		w_wait(w, 60000);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
		v2_expect_rest(test, w, 2);
	}
}

/* A client asks and rejects again and again; with a new RNIC it gets its link. */
static void asking_is_not_answered_without_end_addl_06_err_59(struct kunit *test)
{
	struct world *w = v2_up(test, 1, 1);
	unsigned int i, offers;

	w->now += w_timers().reply;
	offers = sent(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	for (i = 0; i < 10 * SMC_LLC_ATTEMPTS; i++) {
		w->now++;
		v2_say(w, W_SERVER, 0, SMC_LLC_REQ_ADD_LINK, false);
		w_pump(w);
	}
	offers = sent(w, W_SERVER, SMC_LLC_ADD_LINK, false) - offers;
	KUNIT_EXPECT_LE(test, offers, SMC_LLC_ATTEMPTS);
	KUNIT_EXPECT_GE(test, offers, SMC_LLC_RNICS);
	w_rnic_up(w, W_CLIENT, 1);
	w_pump(w);
	w_wait(w, w_timers().reply);
	v2_expect_rest(test, w, 2);
}

static struct kunit_case v2_group_cases[] = {
	KUNIT_CASE(second_link_on_first_contact_sl_13_sl_15_lg_12_lg_13),
	KUNIT_CASE(all_rmbs_at_once_rkey_20_rkey_21_rkey_22_addl_12),
	KUNIT_CASE(gids_of_req_add_link_addl_06),
	KUNIT_CASE(client_asks_and_gets_a_link_addl_06_err_59),
	KUNIT_CASE(asking_is_not_answered_without_end_addl_06_err_59),
	KUNIT_CASE(client_asks_without_success_addl_09),
	KUNIT_CASE(client_asks_while_none_can_be_made_addl_09),
	KUNIT_CASE(server_without_rmbs_on_two_links_amb_28),
	KUNIT_CASE(req_add_link_crosses_add_link_ser_07),
	KUNIT_CASE(req_add_link_of_a_lost_link_llc_14),
	KUNIT_CASE(answers_out_of_place_llc_11_err_54),
	KUNIT_CASE(client_cannot_store_keys_sl_11_sl_12_err_57),
	KUNIT_CASE(server_cannot_store_keys_err_45_err_57),
	KUNIT_CASE(keys_of_the_last_offer_count_err_29),
	KUNIT_CASE(any_message_is_lost_err_25_err_29_err_31_llc_14),
	KUNIT_CASE(late_reject_is_no_error_lid_03),
	KUNIT_CASE(offer_waits_for_late_reject_err_58),
	KUNIT_CASE(offer_follows_at_once_err_58_fail_18),
	KUNIT_CASE(long_delete_rkey_rkey_16_rkey_18),
	KUNIT_CASE(last_link_dies_while_one_is_added),
	{}
};

static struct kunit_suite v2_group_suite = {
	.name = "smc_llc_v2_group",
	.test_cases = v2_group_cases,
};

kunit_test_suite(v2_group_suite);
