// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC machine with several links: two machines in a world of RNICs and wires
 * (smc_llc_world.h). The rows of RFC 7609 3.5.5.3 and Appendix C come first, one by one;
 * random schedules follow.
 */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_llc_links.h"
#include "../../../net/smc/proto/smc_llc_run.h"
#include "smc_llc_chaos.h"

/* A group that has as many links as its RNICs allow. */
static struct world *world_of(struct kunit *test, u8 server_rnics, u8 client_rnics, u8 max_links,
			      bool is_deployed)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct w_setup set = {
		.rnics = { server_rnics, client_rnics },
		.max_links = { max_links, max_links },
		.is_deployed = { is_deployed, is_deployed },
		.is_multi = true,
	};

	KUNIT_ASSERT_NOT_NULL(test, w);
	w_init(w, &set);
	return w;
}

static struct world *world_up(struct kunit *test, u8 server_rnics, u8 client_rnics, u8 max_links,
			      bool is_deployed)
{
	struct world *w = world_of(test, server_rnics, client_rnics, max_links, is_deployed);

	w_pump(w);
	KUNIT_ASSERT_EQ(test, w->side[W_SERVER].nr_up, 1);
	KUNIT_ASSERT_EQ(test, w->side[W_CLIENT].nr_up, 1);
	return w;
}

static unsigned int links(struct world *w)
{
	return w_nr(&w->side[W_SERVER], SMC_LLC_LINK_ACTIVE);
}

static enum smc_lgr_type class(struct world *w, int who)
{
	return smc_llc_flow_type(&w->side[who].flow);
}

static void expect_no_fault(struct kunit *test, const struct world *w)
{
	KUNIT_EXPECT_TRUE_MSG(test, !w->fault, "line %u: %s", w->line,
			      w->fault ? w->fault : "");
}

/* No event is pending, and both sides have the same @nr links. */
static void expect_rest(struct kunit *test, struct world *w, unsigned int nr)
{
	w_pump(w);
	w_check_rest(w);
	expect_no_fault(test, w);
	KUNIT_EXPECT_EQ(test, links(w), nr);
	KUNIT_EXPECT_EQ(test, w_nr(&w->side[W_CLIENT], SMC_LLC_LINK_ACTIVE), nr);
}

static void expect_over(struct kunit *test, struct world *w, int who, enum smc_llc_why why)
{
	expect_no_fault(test, w);
	KUNIT_EXPECT_EQ(test, w->side[who].nr_terminated, 1);
	KUNIT_EXPECT_EQ(test, w->side[who].why, why);
}

static void give_up(struct world *w, int who, u8 link, bool is_orderly)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_DELETE_LINK, .link = link };

	ev.terminate.reason = SMC_LLC_DELETE_OPERATOR;
	ev.terminate.is_orderly = is_orderly;
	w_feed(w, who, &ev);
}

static void end(struct world *w, int who)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_TERMINATE };

	ev.terminate.reason = SMC_LLC_DELETE_PROGRAM;
	ev.terminate.is_orderly = true;
	w_feed(w, who, &ev);
}

static unsigned int requests(struct world *w, int who, u8 type)
{
	return w->side[who].sent[false][type];
}

static unsigned int replies(struct world *w, int who, u8 type)
{
	return w->side[who].sent[true][type];
}

static unsigned int known(struct world *w, int who)
{
	unsigned int r, nr = 0;

	for (r = 0; r < W_RMBS; r++)
		nr += w->side[who].rmb[r].state == W_RMB_KNOWN;
	return nr;
}

/* Send an unexpected message to @to on one of its links. */
static void say(struct world *w, int to, u8 link, const struct smc_llc_msg *msg)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG, .link = link, .msg = *msg };

	w->is_garbled = true;
	w_feed(w, to, &ev);
}

/*
 * One link, then RNICs for a second one appear: the server starts at once. Returns after the
 * server has sent the first message of type @type.
 */
static struct world *adding(struct kunit *test, u8 type, bool is_deployed)
{
	struct world *w = world_up(test, 1, 1, 2, is_deployed);

	KUNIT_ASSERT_EQ(test, links(w), 1);
	w->side[W_CLIENT].has_rnic[1] = true;
	w_tell_rnics(w, W_CLIENT);
	w_pump(w);
	/* An asymmetric link first, so that first contact is over. */
	KUNIT_ASSERT_EQ(test, links(w), 2);
	w_rnic_up(w, W_SERVER, 1);
	w_pump_until(w, W_SERVER, type, false);
	return w;
}

/* The same, from one link to two. */
static struct world *adding_second(struct kunit *test, u8 type, bool is_deployed)
{
	struct world *w = world_up(test, 1, 1, 2, is_deployed);

	KUNIT_ASSERT_EQ(test, links(w), 1);
	w_rnic_up(w, W_SERVER, 1);
	w_pump_until(w, W_SERVER, type, false);
	return w;
}

struct class_row {
	u8 rnics[2];
	unsigned int links;
	enum smc_lgr_type type[2];
};

static const struct class_row class_rows[] = {
	{ { 1, 1 }, 1, { SMC_LGR_TYPE_SINGLE, SMC_LGR_TYPE_SINGLE } },
	{ { 1, 2 }, 2, { SMC_LGR_TYPE_ASYMMETRIC_LOCAL, SMC_LGR_TYPE_ASYMMETRIC_PEER } },
	{ { 2, 1 }, 2, { SMC_LGR_TYPE_ASYMMETRIC_PEER, SMC_LGR_TYPE_ASYMMETRIC_LOCAL } },
	{ { 2, 2 }, 2, { SMC_LGR_TYPE_SYMMETRIC, SMC_LGR_TYPE_SYMMETRIC } },
	{ { 4, 1 }, 2, { SMC_LGR_TYPE_ASYMMETRIC_PEER, SMC_LGR_TYPE_ASYMMETRIC_LOCAL } },
	{ { 1, 4 }, 2, { SMC_LGR_TYPE_ASYMMETRIC_LOCAL, SMC_LGR_TYPE_ASYMMETRIC_PEER } },
};

static void class_desc(const struct class_row *row, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u RNICs at the server, %u at the client",
		 row->rnics[W_SERVER], row->rnics[W_CLIENT]);
}

KUNIT_ARRAY_PARAM(class, class_rows, class_desc);

static void second_link_sl_07_sl_08_sl_09_sl_10_lg_12_lg_13_lg_14_addl_04(struct kunit *test)
{
	const struct class_row *row = test->param_value;
	int deployed, who;

	for (deployed = 0; deployed < 2; deployed++) {
		struct world *w = world_up(test, row->rnics[0], row->rnics[1], 8, deployed);

		expect_rest(test, w, row->links);
		for (who = W_SERVER; who <= W_CLIENT; who++)
			KUNIT_EXPECT_EQ(test, class(w, who), row->type[who]);
		/* The group gets its best class without an intermediate one. */
		KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 0);
	}
}

static void as_many_links_as_agreed_maxl_09_maxl_10_addl_05(struct kunit *test)
{
	struct world *w;
	u8 nr, max;
	int who;

	for (nr = 2; nr <= W_RNICS; nr++) {
		for (max = 2; max <= SMC_LLC_MAX_LINKS_MAX; max++) {
			for (who = W_SERVER; who <= W_CLIENT; who++) {
				/* one side has spare RNICs */
				w = world_up(test, who == W_SERVER ? nr : W_RNICS,
					     who == W_CLIENT ? nr : W_RNICS, max, true);
				expect_rest(test, w, min(max, nr));
				kunit_kfree(test, w);
			}
		}
	}
}

/*
 * One side has one RNIC, so the group starts with an asymmetric link. It gets more RNICs one
 * by one, and loses them again.
 */
static void many_links_come_and_go_maxl_09_maxl_10_lg_12_lg_16(struct kunit *test)
{
	struct world *w;
	u8 max, nr;
	int who;

	for (max = 5; max <= SMC_LLC_MAX_LINKS_MAX; max++) {
		for (who = W_SERVER; who <= W_CLIENT; who++) {
			w = world_up(test, who == W_SERVER ? 1 : W_RNICS,
				     who == W_CLIENT ? 1 : W_RNICS, max, true);
			expect_rest(test, w, 2);
			KUNIT_EXPECT_EQ(test, smc_llc_nr_symmetric(&w->side[who].flow), 1);
			for (nr = 2; nr <= W_RNICS; nr++) {
				/* without a pause the limit of attempts delays some */
				w_wait(w, w_timers().reply);
				w_rnic_up(w, who, nr - 1);
				expect_rest(test, w, min(max, nr));
				KUNIT_EXPECT_EQ(test, smc_llc_nr_symmetric(&w->side[who].flow),
						min(max, nr));
			}
			for (nr = W_RNICS - 1; nr; nr--) {
				/* a link that lasted is replaced at once */
				w->now += 10000;
				w_rnic_down(w, who, nr, true);
				expect_rest(test, w, nr > 1 ? min(max, nr) : 2);
			}
			KUNIT_EXPECT_EQ(test, smc_llc_nr_symmetric(&w->side[who].flow), 1);
			kunit_kfree(test, w);
		}
	}
}

/* FC-12: data waits for the last message of the second link's exchange. */
static void data_waits_fc_12_sl_13_sl_14_sl_15_sl_17_addl_16(struct kunit *test)
{
	struct world *w = world_of(test, 2, 2, 2, false);

	w_pump_until(w, W_CLIENT, SMC_LLC_CONFIRM_LINK, true);
	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK_CONT, false);
	w_pump_until(w, W_CLIENT, SMC_LLC_ADD_LINK_CONT, true);
	w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 0);
	w_pump_until(w, W_CLIENT, SMC_LLC_CONFIRM_LINK, true);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 0);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 0);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].flow.commitment, SMC_LLC_COMMIT_FINAL);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_ADD_LINK_CONT), 1);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
}

/* The symmetric link is added first, then the asymmetric one is deleted, with its reason. */
static void asymmetric_is_replaced_lg_15_lg_16_addl_06_addl_07_err_58_err_59(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		/* the side with one RNIC gets another */
		struct world *w = world_up(test, who == W_SERVER ? 1 : 2,
					   who == W_SERVER ? 2 : 1, 2, true);

		expect_rest(test, w, 2);
		w_rnic_up(w, who, 1);
		w_pump_until(w, W_SERVER, SMC_LLC_DELETE_LINK, false);
		/* LG-15: three links for a moment, though two are allowed */
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_up, 3);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].down_reason,
				SMC_LLC_DELETE_ASYMMETRIC);
		KUNIT_EXPECT_TRUE(test, w->side[W_SERVER].last_down_orderly);
		expect_rest(test, w, 2);
		KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
		KUNIT_EXPECT_EQ(test, class(w, W_CLIENT), SMC_LGR_TYPE_SYMMETRIC);
		KUNIT_EXPECT_TRUE(test, w->side[W_CLIENT].last_down_orderly);
		KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_ADD_LINK),
				who == W_CLIENT);
		KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_LINK), 0);
	}
}

/* At most two RMBs a message, until both sides have announced all. */
static void rmbs_of_both_sides_rkey_20_rkey_21_addl_12_addl_14_addl_15(struct kunit *test)
{
	static const u8 counts[] = { 1, 2, 3, 4, 5, 9 };
	unsigned int s, c, i;

	for (s = 0; s < ARRAY_SIZE(counts); s++) {
		for (c = 0; c < ARRAY_SIZE(counts); c++) {
			struct world *w = world_up(test, 1, 1, 2, s & 1);
			u8 most = max(counts[s], counts[c]);

			for (i = 1; i < counts[s]; i++)
				w_add_rmb(w, W_SERVER);
			for (i = 1; i < counts[c]; i++)
				w_add_rmb(w, W_CLIENT);
			expect_rest(test, w, 1);
			KUNIT_EXPECT_EQ(test, known(w, W_SERVER), counts[s]);
			w_rnic_up(w, W_SERVER, 1);
			w_rnic_up(w, W_CLIENT, 1);
			expect_rest(test, w, 2);
			/* The first attempt found the client's second RNIC, or did not. */
			KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_ADD_LINK_CONT) %
					((most + 1) / 2), 0);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_ADD_LINK_CONT),
					replies(w, W_CLIENT, SMC_LLC_ADD_LINK_CONT));
			kunit_kfree(test, w);
		}
	}
}

/* One message for up to three links, the next for up to three more, and so on. */
static void rkeys_on_many_links_rkey_03_rkey_04_rkey_08_rkey_09(struct kunit *test)
{
	u8 nr;
	int who;

	for (nr = 2; nr <= W_RNICS; nr++) {
		struct world *w = world_up(test, nr, nr, 8, false);

		expect_rest(test, w, nr);
		for (who = W_SERVER; who <= W_CLIENT; who++) {
			w_add_rmb(w, who);
			expect_rest(test, w, nr);
			KUNIT_EXPECT_EQ(test, w->side[who].rkey_result, 0);
			KUNIT_EXPECT_EQ(test, known(w, who), 2);
			KUNIT_EXPECT_EQ(test, requests(w, who, SMC_LLC_CONFIRM_RKEY_CONT),
					(nr - 1) / 3);
			w_del_rmb(w, who, 1);
			expect_rest(test, w, nr);
			KUNIT_EXPECT_EQ(test, known(w, who), 1);
		}
	}
}

/*
 * The world checks each message: a reply uses the link of its request, and an ADD LINK
 * CONTINUATION uses the link of its ADD LINK.
 */
static void any_link_carries_an_exchange_llc_04_llc_06_addl_11(struct kunit *test)
{
	unsigned int conts;
	int who;
	u8 idx;

	for (idx = 0; idx < 2; idx++) {
		struct world *w = world_up(test, 2, 2, 2, idx);

		w->now += 60000;
		conts = replies(w, W_CLIENT, SMC_LLC_ADD_LINK_CONT);
		w_break(w, W_SERVER, idx, true);
		w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].add_link, !idx);
		expect_rest(test, w, 2);
		KUNIT_EXPECT_GT(test, replies(w, W_CLIENT, SMC_LLC_ADD_LINK_CONT), conts);
		for (who = W_SERVER; who <= W_CLIENT; who++) {
			w_add_rmb(w, who);
			expect_rest(test, w, 2);
			w_del_rmb(w, who, 1);
			expect_rest(test, w, 2);
			KUNIT_EXPECT_EQ(test, replies(w, !who, SMC_LLC_CONFIRM_RKEY), 1);
			KUNIT_EXPECT_EQ(test, replies(w, !who, SMC_LLC_DELETE_RKEY), 1);
		}
	}
}

/* The lab has no nine links, but the machine accepts a count of nine. */
static void rkey_sequence_for_nine_links_rkey_08_rkey_09(struct kunit *test)
{
	static const u8 left[] = { 8, 6, 3 };
	struct world *w = world_up(test, 1, 1, 8, false);
	struct smc_llc_flow *flow = &w->side[W_SERVER].flow;
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_RKEY, .cookie = 5 };
	struct smc_llc_actions *acts = &w->side[W_SERVER].acts;
	unsigned int i, step;
	u8 nr;

	for (nr = 1; nr <= SMC_LLC_LINKS; nr++) {
		for (i = 0; i < SMC_LLC_LINKS; i++) {
			flow->link[i] = flow->link[0];
			flow->link[i].num = 10 + i;
			flow->link[i].state = i < nr ? SMC_LLC_LINK_ACTIVE : SMC_LLC_LINK_FREE;
			ev.rkey.rtoken[i].link_num = i;
			ev.rkey.rtoken[i].rkey = 100 + i;
		}
		ev.type = SMC_LLC_EV_REQ_RKEY;
		ev.link = 0;
		ev.rkey.is_delete = false;
		ev.rkey.count = nr;
		smc_llc_flow_event(flow, &ev, w->now, acts);
		for (step = 0; step < 3; step++) {
			struct smc_llc_event echo = { .type = SMC_LLC_EV_MSG };

			KUNIT_ASSERT_EQ(test, acts->nr, 1);
			if (acts->act[0].type == SMC_LLC_ACT_RKEY_DONE)
				break;
			echo.msg = acts->act[0].msg;
			if (!step)
				KUNIT_EXPECT_EQ(test, echo.msg.confirm_rkey.nr_rtokens, nr - 1);
			else if (nr == SMC_LLC_LINKS)
				KUNIT_EXPECT_EQ(test, echo.msg.confirm_rkey_cont.nr_left,
						left[step]);
			if (step == 1)
				KUNIT_EXPECT_EQ(test,
						echo.msg.confirm_rkey_cont.other[0].link_num, 13);
			echo.msg.is_reply = true;
			smc_llc_flow_event(flow, &echo, w->now, acts);
		}
		KUNIT_ASSERT_EQ(test, acts->act[0].type, SMC_LLC_ACT_RKEY_DONE);
		KUNIT_EXPECT_EQ(test, acts->act[0].result, 0);
		KUNIT_EXPECT_EQ(test, step, nr == 1 ? 1 : 1 + (nr - 1) / 3);
	}
}

/* A continuation with a wrong count, or none at all. */
static void bad_continuations_err_47_err_54_amb_39_amb_58(struct kunit *test)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_RKEY };
	struct world *w = world_up(test, 4, 4, 8, false);
	struct smc_llc_flow *flow = &w->side[W_CLIENT].flow;
	int how;

	for (how = 0; how < 2; how++) {
		w = world_up(test, 4, 4, 8, false);
		flow = &w->side[W_CLIENT].flow;
		msg.type = SMC_LLC_CONFIRM_RKEY;
		msg.confirm_rkey.here.rkey = 0x99;
		msg.confirm_rkey.nr_rtokens = 3;
		msg.confirm_rkey.other[0].link_num = flow->link[1].num;
		msg.confirm_rkey.other[1].link_num = flow->link[2].num;
		say(w, W_CLIENT, 0, &msg);
		KUNIT_EXPECT_EQ(test, flow->remote.state, SMC_LLC_REMOTE_CONFIRM_CONT);
		KUNIT_EXPECT_EQ(test, replies(w, W_CLIENT, SMC_LLC_CONFIRM_RKEY), 1);
		if (how) {
			memset(&msg, 0, sizeof(msg));
			msg.type = SMC_LLC_CONFIRM_RKEY_CONT;
			msg.confirm_rkey_cont.nr_left = 2;
			say(w, W_CLIENT, 0, &msg);
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].why, SMC_LLC_WHY_OUT_OF_SYNC);
		} else {
			w->side[W_SERVER].is_frozen = true;
			w_wait(w, w_timers().reply);
			w->side[W_SERVER].is_frozen = false;
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].why, SMC_LLC_WHY_RKEY_TIMEOUT);
		}
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_link_down, 1);
		KUNIT_EXPECT_EQ(test, flow->remote.state, SMC_LLC_REMOTE_NONE);
	}
}

/* A link number is used again only after all others. */
static void numbers_of_lost_links_lid_03(struct kunit *test)
{
	struct world *w = world_up(test, 2, 2, 2, true);
	u8 seen[256] = {};
	unsigned int i, k;

	for (i = 0; i < 600; i++) {
		struct smc_llc_flow *flow = &w->side[W_SERVER].flow;
		u8 num = 0, index = 0;

		for (k = 0; k < SMC_LLC_LINKS; k++)
			if (flow->link[k].state == SMC_LLC_LINK_ACTIVE &&
			    flow->link[k].num != 1) {
				num = flow->link[k].num;
				index = k;
			}
		KUNIT_ASSERT_TRUE(test, num);
		KUNIT_EXPECT_EQ(test, seen[num], i / 254);
		seen[num]++;
		w->now += 6000;
		w_break(w, i & 1, i & 1 ? w->side[W_CLIENT].flow.link[index].num == num ?
			index : 1 : index, true);
		w_pump(w);
		KUNIT_ASSERT_EQ(test, links(w), 2);
	}
	expect_rest(test, w, 2);
}

/* Either side loses either link: the peer is notified, and a new link is added. */
static void link_is_lost_and_replaced_dell_01_dell_03_to_dell_06_dell_10(struct kunit *test)
{
	int deployed, who, idx;

	for (deployed = 0; deployed < 2; deployed++) {
		for (who = W_SERVER; who <= W_CLIENT; who++) {
			for (idx = 0; idx < 2; idx++) {
				struct world *w = world_up(test, 2, 2, 2, deployed);

				w->now += 60000;
				w_break(w, who, idx, true);
				KUNIT_EXPECT_EQ(test, w->side[who].nr_link_down, 1);
				KUNIT_EXPECT_FALSE(test, w->side[who].last_down_orderly);
				/* DELL-04: nothing is freed before the answer */
				KUNIT_EXPECT_EQ(test, w->side[who].nr_destroyed, 0);
				expect_rest(test, w, 2);
				KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_down, 1);
				KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_link_down, 1);
				KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_LINK),
						who == W_CLIENT);
				KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK),
						1);
				KUNIT_EXPECT_EQ(test, w->side[W_SERVER].down_reason,
						SMC_LLC_DELETE_LOST_PATH);
			}
		}
	}
}

static void link_is_given_up_dell_07_dell_08_dell_14_lgt_03(struct kunit *test)
{
	int who, idx;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (idx = 0; idx < 2; idx++) {
			struct world *w = world_up(test, 2, 2, 2, true);

			/* The RNIC is taken out of service, so no new link is added. */
			w->side[who].has_rnic[idx] = false;
			w_tell_rnics(w, who);
			w->side[who].has_rnic[idx] = true;
			give_up(w, who, idx, true);
			w_pump(w);
			KUNIT_EXPECT_TRUE(test, w->side[W_SERVER].last_down_orderly);
			KUNIT_EXPECT_TRUE(test, w->side[W_CLIENT].last_down_orderly);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].down_reason,
					SMC_LLC_DELETE_OPERATOR);
			w_check_rest(w);
			expect_no_fault(test, w);
			/* The loss of the last link ends the group, without a timeout. */
			w = world_up(test, 1, 1, 2, true);
			give_up(w, who, 0, true);
			w_pump(w);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 1);
			expect_no_fault(test, w);
		}
	}
}

/* DELETE LINK as request, notice or reply. */
static unsigned int nr_delete_link(struct world *w, int who)
{
	return requests(w, who, SMC_LLC_DELETE_LINK) + replies(w, who, SMC_LLC_DELETE_LINK);
}

enum clear_end { CLEAR_ANSWERED, CLEAR_LATE, CLEAR_BROKEN, CLEAR_ENDS };

/*
 * @giver gives up a link. @waiter waits until its peer has processed all messages on the link,
 * for @ms at most, or until the link breaks.
 */
static void clears(struct kunit *test, bool deployed, int giver, int waiter, u32 ms,
		   enum clear_end end)
{
	struct world *w = world_up(test, 2, 2, 2, deployed);
	struct w_side *side = &w->side[waiter], *other = &w->side[!waiter];

	w->now += 60000;
	if (giver == waiter)
		other->is_frozen = true;
	give_up(w, giver, 1, true);
	while (!side->clearing && w_step(w))
		;
	other->is_frozen = true;
	w_pump(w);
	KUNIT_EXPECT_EQ(test, side->clearing, BIT(1));
	KUNIT_EXPECT_EQ(test, nr_delete_link(w, waiter), 0);
	w_wait(w, ms - 1);
	KUNIT_EXPECT_EQ(test, side->clearing, BIT(1));
	KUNIT_EXPECT_EQ(test, nr_delete_link(w, waiter), 0);
	switch (end) {
	case CLEAR_ANSWERED:
		other->is_frozen = false;
		w_pump(w);
		break;
	case CLEAR_LATE:
		w_wait(w, 1);
		break;
	default:
		w_break(w, waiter, 1, true);
		break;
	}
	KUNIT_EXPECT_EQ(test, side->clearing, 0);
	KUNIT_EXPECT_GT(test, nr_delete_link(w, waiter), 0);
	other->is_frozen = false;
	w_wait(w, 60000);
	KUNIT_EXPECT_EQ(test, side->nr_link_down, 1);
	expect_rest(test, w, 2);
	kunit_kfree(test, w);
}

/* No DELETE LINK is sent before the connections of the link are quiesced. */
static void link_is_clear_first_fail_10_fail_18_fail_19_dell_05_dell_10(struct kunit *test)
{
	u32 ms = w_timers().delete_link;
	int deployed, end;

	for (deployed = 0; deployed < 2; deployed++) {
		for (end = 0; end < CLEAR_ENDS; end++) {
			clears(test, deployed, W_SERVER, W_SERVER, ms, end);
			clears(test, deployed, W_CLIENT, W_CLIENT, ms, end);
			/* the client gives up the link, and the server waits for it to drain */
			clears(test, deployed, W_CLIENT, W_SERVER, ms, end);
			/* a server waits for the reply meanwhile */
			clears(test, deployed, W_SERVER, W_CLIENT,
			       deployed ? 1000 : ms / 2, end);
		}
	}
}

/* A link that failed at the server is not drained, even if the server reports an orderly end. */
static void deployed_server_loses_a_link_in_order_dell_05_amb_69(struct kunit *test)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_LINK };
	struct world *w = world_up(test, 2, 2, 2, true);

	msg.delete_link.link_num = w->side[W_CLIENT].flow.link[1].num;
	msg.delete_link.is_orderly = true;
	msg.delete_link.reason = SMC_LLC_DELETE_LOST_PATH;
	say(w, W_CLIENT, 0, &msg);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_link_down, 1);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].clearing, 0);
	KUNIT_EXPECT_EQ(test, replies(w, W_CLIENT, SMC_LLC_DELETE_LINK), 1);
}

/* A link that failed at the client, and is reported so, is not drained. */
static void failed_link_is_not_cleared_dell_08_amb_69(struct kunit *test)
{
	struct world *w = world_up(test, 3, 3, 3, true);

	w->now += 60000;
	w->side[W_CLIENT].is_frozen = true;
	give_up(w, W_SERVER, 2, true);
	w_pump(w);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].clearing, BIT(2));
	w->side[W_CLIENT].is_frozen = false;
	w_break(w, W_CLIENT, 2, true);
	w_pump(w);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].clearing, 0);
	expect_rest(test, w, 2);
}

/* RNICs of the server, RNICs of the client, and links; symmetric and asymmetric cases. */
static const u8 late_rows[][3] = { { 2, 2, 2 }, { 3, 3, 3 }, { 2, 1, 2 }, { 1, 2, 2 } };

static void comes_back_later(struct kunit *test, const u8 *row, int who, u8 idx)
{
	struct world *w = world_up(test, row[W_SERVER], row[W_CLIENT], row[2], true);
	unsigned int offers;

	expect_rest(test, w, row[2]);
	/* long enough for a failed link to be replaced at once */
	w->now += 60000;
	give_up(w, who, idx, true);
	offers = requests(w, W_SERVER, SMC_LLC_ADD_LINK);
	expect_rest(test, w, row[2] - 1);
	w_wait(w, w_timers().add_link_retry - 1);
	expect_rest(test, w, row[2] - 1);
	KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_ADD_LINK), offers);
	w_wait(w, 1);
	expect_rest(test, w, row[2]);
	KUNIT_EXPECT_GT(test, requests(w, W_SERVER, SMC_LLC_ADD_LINK), offers);
}

/* A link that the operator took down stays down for a while. */
static void link_given_up_comes_back_later_dell_14_err_57_tmr_12(struct kunit *test)
{
	unsigned int i;
	int who;
	u8 idx;

	for (i = 0; i < ARRAY_SIZE(late_rows); i++)
		for (who = W_SERVER; who <= W_CLIENT; who++)
			for (idx = 0; idx < late_rows[i][2]; idx++)
				comes_back_later(test, late_rows[i], who, idx);
}

/* A link that a deployed client took down carries nothing more, even if reported as orderly. */
static void deployed_client_loses_a_link_in_order_dell_08_amb_69(struct kunit *test)
{
	static const u32 reasons[] = { SMC_LLC_DELETE_LOST_PATH, SMC_LLC_DELETE_OPERATOR };
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_LINK };
	struct w_side *server;
	unsigned int i;
	struct world *w;
	int deployed;

	for (deployed = 0; deployed < 2; deployed++) {
		for (i = 0; i < ARRAY_SIZE(reasons); i++) {
			w = world_up(test, 2, 2, 2, deployed);
			server = &w->side[W_SERVER];
			expect_rest(test, w, 2);
			msg.delete_link.link_num = server->flow.link[1].num;
			msg.delete_link.is_orderly = true;
			msg.delete_link.reason = reasons[i];
			say(w, W_SERVER, 0, &msg);
			KUNIT_EXPECT_EQ(test, server->nr_link_down, 1);
			KUNIT_EXPECT_EQ(test, server->last_down_orderly, !deployed || i);
			expect_rest(test, w, 1);
		}
	}
}

/* Index of a link in use that is not the first, or 0. */
static u8 further_link(const struct w_side *side)
{
	u8 i = SMC_LLC_LINKS - 1;

	while (i && !smc_llc_is_in_use(&side->flow.link[i]))
		i--;
	return i;
}

/* Whatever link @who adds, its peer deletes it and asks for a new one. */
static void end_many(struct kunit *test, struct world *w, int who, int how)
{
	struct w_side *side = &w->side[who];
	unsigned int i, made, ups;
	int peer = !who;

	/* the limit of first contact is over */
	w->now += w_timers().reply;
	ups = side->nr_link_up;
	for (i = 0; i < 10 * SMC_LLC_ATTEMPTS; i++) {
		w->now++;
		if (how && further_link(side))
			w_event(w, who, SMC_LLC_EV_LINK_BROKEN, further_link(side));
		else if (!how && further_link(&w->side[peer]))
			give_up(w, peer, further_link(&w->side[peer]), false);
		w_pump(w);
		w_want_link(w, peer);
		w_pump(w);
	}
	made = side->nr_link_up - ups;
	KUNIT_EXPECT_LE(test, made, SMC_LLC_ATTEMPTS);
	/* the peer may refuse an RNIC each time */
	KUNIT_EXPECT_GE(test, made, SMC_LLC_ATTEMPTS / 2);
	expect_rest(test, w, 1);
	/* what was wanted meanwhile comes afterwards */
	w_wait(w, w_timers().reply);
	expect_rest(test, w, 2);
}

/* A client asks for a link and drops it, again and again: each one in use costs memory. */
static void links_do_not_come_as_fast_as_they_go_err_59_dell_09(struct kunit *test)
{
	int how;

	for (how = 0; how < 4; how++)
		end_many(test, world_up(test, 2, 2, 2, how & 1), W_SERVER, how & 2);
}

/* A client that refused a link for that asks for it later, also with an RNIC in use. */
static void nor_as_fast_as_a_server_ends_them_err_59_dell_05(struct kunit *test)
{
	end_many(test, world_up(test, 2, 2, 2, true), W_CLIENT, 0);
	end_many(test, world_up(test, 2, 1, 2, true), W_CLIENT, 0);
}

/*
 * While a third link is added the operator gives one up. The asymmetric link would have been
 * deleted next, but is the second of two now.
 */
static struct world *asymmetric_behind_another(struct kunit *test)
{
	struct world *w = world_up(test, 2, 1, 2, true);

	KUNIT_ASSERT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_ASYMMETRIC_PEER);
	w_rnic_up(w, W_CLIENT, 1);
	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	/* its RNIC is out of service, so that nothing replaces it */
	w->side[W_SERVER].has_rnic[0] = false;
	w_tell_rnics(w, W_SERVER);
	w->side[W_SERVER].has_rnic[0] = true;
	give_up(w, W_SERVER, 0, true);
	w_pump_until(w, W_SERVER, SMC_LLC_DELETE_LINK, false);
	KUNIT_ASSERT_EQ(test, w->side[W_SERVER].nr_link_up, 3);
	KUNIT_ASSERT_EQ(test, w->side[W_SERVER].down_reason, SMC_LLC_DELETE_OPERATOR);
	return w;
}

static void asymmetric_stays_where_it_is_needed_lg_12_lg_16(struct kunit *test)
{
	struct world *w = asymmetric_behind_another(test);

	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
	KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_ASYMMETRIC_LOCAL);
}

static void asymmetric_is_the_last_to_work_lg_12_lg_16(struct kunit *test)
{
	struct world *w = asymmetric_behind_another(test);

	/* the link that carries the exchange fails as well */
	w->side[W_CLIENT].has_rnic[1] = false;
	w_tell_rnics(w, W_CLIENT);
	w_break(w, W_CLIENT, 2, true);
	w_break(w, W_SERVER, 2, true);
	w_pump(w);
	w_wait(w, 100);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 0);
	expect_no_fault(test, w);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].flow.link[1].state, SMC_LLC_LINK_ACTIVE);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].flow.link[1].state, SMC_LLC_LINK_ACTIVE);
}

/* 3.5.5.3.1 */

static void add_link_crosses_notice_ser_07(struct kunit *test)
{
	struct world *w = adding_second(test, SMC_LLC_ADD_LINK, false);

	w_rnic_up(w, W_CLIENT, 1);
	KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_ADD_LINK), 1);
	expect_rest(test, w, 2);
	/* The request that crossed counts as the answer: no second exchange. */
	KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_ADD_LINK), 2);
	KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
}

static void add_link_crosses_delete_link_ser_08_amb_69(struct kunit *test)
{
	static const u8 types[] = {
		SMC_LLC_ADD_LINK, SMC_LLC_ADD_LINK_CONT, SMC_LLC_CONFIRM_LINK,
	};
	unsigned int i;
	int orderly, idx;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		for (orderly = 0; orderly < 2; orderly++) {
			/* index 0 carries the exchange, 1 does not */
			for (idx = 0; idx < 2; idx++) {
				struct world *w = adding(test, types[i], orderly);

				give_up(w, W_CLIENT, idx, orderly);
				w_pump(w);
				w_wait(w, 60000);
				expect_rest(test, w, 2);
				KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
				KUNIT_EXPECT_EQ(test, class(w, W_SERVER),
						SMC_LGR_TYPE_SYMMETRIC);
			}
		}
	}
}

/* The end of the group overrides every exchange, from either side. */
static void whole_group_at_any_time_ser_09_ser_14_ser_21_amb_67(struct kunit *test)
{
	static const u8 types[] = {
		SMC_LLC_ADD_LINK, SMC_LLC_ADD_LINK_CONT, SMC_LLC_CONFIRM_LINK,
	};
	struct world *w;
	unsigned int i;
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (i = 0; i < ARRAY_SIZE(types) + 2; i++) {
			if (i < ARRAY_SIZE(types)) {
				w = adding(test, types[i], true);
			} else {
				w = world_up(test, 2, 2, 2, true);
				if (i == ARRAY_SIZE(types)) {
					w_add_rmb(w, !who);
					w_pump_until(w, !who, SMC_LLC_CONFIRM_RKEY, false);
				} else {
					w_break(w, W_SERVER, 1, true);
				}
			}
			end(w, who);
			w_pump(w);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 1);
			expect_no_fault(test, w);
		}
	}
}

/* Rejected, and repeated with the new link among the tokens. */
static void add_link_crosses_confirm_rkey_ser_10_ser_18_rkey_12(struct kunit *test)
{
	static const u8 types[] = {
		SMC_LLC_ADD_LINK, SMC_LLC_ADD_LINK_CONT, SMC_LLC_CONFIRM_LINK,
	};
	int deployed;
	unsigned int i;

	for (deployed = 0; deployed < 2; deployed++) {
		for (i = 0; i < ARRAY_SIZE(types); i++) {
			struct world *w = adding(test, types[i], deployed);

			w_add_rmb(w, W_CLIENT);
			w_request(w, W_CLIENT);
			/* SER-02: only before it has received the server's ADD LINK */
			KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_CONFIRM_RKEY),
					types[i] == SMC_LLC_ADD_LINK);
			w_pump(w);
			w_wait(w, 1000);
			expect_rest(test, w, 2);
			KUNIT_EXPECT_EQ(test, known(w, W_CLIENT), 2);
			/* RFC: rejected and repeated; deployed: accepted as it was */
			if (deployed)
				KUNIT_EXPECT_EQ(test,
						requests(w, W_CLIENT, SMC_LLC_CONFIRM_RKEY), 1);
			else if (types[i] == SMC_LLC_ADD_LINK)
				KUNIT_EXPECT_GE(test,
						requests(w, W_CLIENT, SMC_LLC_CONFIRM_RKEY), 2);
		}
	}
}

/* DELETE RKEY cannot be rejected: it waits, and its timer as well. */
static void add_link_crosses_delete_rkey_amb_21(struct kunit *test)
{
	int deployed;

	for (deployed = 0; deployed < 2; deployed++) {
		struct world *w = world_up(test, 1, 1, 2, deployed);

		w_add_rmb(w, W_CLIENT);
		w_pump(w);
		w_rnic_up(w, W_SERVER, 1);
		w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
		w_del_rmb(w, W_CLIENT, 1);
		w_request(w, W_CLIENT);
		KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_RKEY), 1);
		w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
		KUNIT_EXPECT_EQ(test, replies(w, W_SERVER, SMC_LLC_DELETE_RKEY), deployed);
		expect_rest(test, w, 2);
		KUNIT_EXPECT_EQ(test, replies(w, W_SERVER, SMC_LLC_DELETE_RKEY), 1);
		KUNIT_EXPECT_EQ(test, known(w, W_CLIENT), 1);
	}
}

/*
 * The server has not offered the new link yet. It answers the client's CONFIRM RKEY
 * meanwhile. The client announces its RMBs again for the new link.
 */
static void rkeys_do_not_wait_for_an_offer_ser_10_rkey_15_amb_21(struct kunit *test)
{
	struct world *w;
	int deployed;
	u8 i;

	for (deployed = 0; deployed < 2; deployed++) {
		/* also with so many links that a continuation is needed */
		for (i = 1; i <= 5; i += 4) {
			w = world_up(test, i, W_RNICS, 8, deployed);
			w_add_rmb(w, W_CLIENT);
			w_pump(w);
			w->side[W_SERVER].create_hangs = true;
			w_rnic_up(w, W_SERVER, i);
			w_pump(w);
			KUNIT_ASSERT_EQ(test, w->side[W_SERVER].flow.config,
					SMC_LLC_CONFIG_CREATE);
			w_add_rmb(w, W_CLIENT);
			w_pump(w);
			KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_CONFIRM_RKEY), 2);
			KUNIT_EXPECT_EQ(test, known(w, W_CLIENT), 3);
			w_del_rmb(w, W_CLIENT, 1);
			w_pump(w);
			KUNIT_EXPECT_EQ(test, known(w, W_CLIENT), 2);
			/* one in flight meets the offer */
			w_add_rmb(w, W_CLIENT);
			w_pump_until(w, W_CLIENT, SMC_LLC_CONFIRM_RKEY, false);
			w->side[W_SERVER].create_hangs = false;
			w_wait(w, 1000);
			expect_rest(test, w, i > 1 ? i + 1 : 2);
			KUNIT_EXPECT_EQ(test, known(w, W_CLIENT), 3);
			kunit_kfree(test, w);
		}
	}
}

/* The end of a link does not wait, either: the offer is made later. */
static void deletion_does_not_wait_for_an_offer_ser_08(struct kunit *test)
{
	int who, is_orderly;
	struct world *w;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (is_orderly = 0; is_orderly < 2; is_orderly++) {
			w = world_up(test, 2, 3, 3, false);
			expect_rest(test, w, 2);
			w->side[W_SERVER].create_hangs = true;
			w_rnic_up(w, W_SERVER, 2);
			w_pump(w);
			KUNIT_ASSERT_EQ(test, w->side[W_SERVER].flow.config,
					SMC_LLC_CONFIG_CREATE);
			give_up(w, who, 1, is_orderly);
			w_pump(w);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
			KUNIT_EXPECT_EQ(test, links(w), 1);
			KUNIT_EXPECT_EQ(test, w_nr(&w->side[W_CLIENT], SMC_LLC_LINK_ACTIVE), 1);
			w->side[W_SERVER].create_hangs = false;
			w_wait(w, 1000);
			expect_rest(test, w, 3);
		}
	}
}

/* A server that is slow with each message of an exchange still gets to the next one. */
static void notice_waits_for_an_exchange_ser_08_err_36(struct kunit *test)
{
	struct world *w = world_up(test, 2, 3, 3, false);
	unsigned int i;

	for (i = 0; i < 7; i++) {
		w_add_rmb(w, W_CLIENT);
		w_pump(w);
	}
	w_rnic_up(w, W_SERVER, 2);
	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK_CONT, false);
	give_up(w, W_CLIENT, 1, false);
	KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_LINK), 1);
	for (i = 0; i < 3; i++) {
		w->side[W_SERVER].is_frozen = true;
		w_wait(w, w_timers().reply - 1);
		w->side[W_SERVER].is_frozen = false;
		w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK_CONT, false);
	}
	w_pump_until(w, W_SERVER, SMC_LLC_DELETE_LINK, false);
	/* the next exchange has its full time limit */
	w->side[W_SERVER].is_frozen = true;
	w_wait(w, w_timers().delete_link - 1);
	w->side[W_SERVER].is_frozen = false;
	w_pump(w);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_link_down, 1);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_down, 1);
	w_wait(w, w_timers().add_link_retry);
	expect_rest(test, w, 3);
}

/* A server that sends useless offers instead must not keep a lost link alive. */
static void a_busy_server_deletes_a_lost_link_err_36(struct kunit *test)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK };
	struct world *w = world_up(test, 2, 2, 2, false);
	struct w_side *client = &w->side[W_CLIENT];
	unsigned int had = client->sent[true][SMC_LLC_ADD_LINK];
	struct smc_llc_timers timers = w_timers();
	u64 patience = smc_llc_patience_ms(&timers);
	u64 began = w->now;
	u8 num = 100;

	w->side[W_SERVER].is_frozen = true;
	w_break(w, W_CLIENT, 1, true);
	KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_LINK), 1);
	msg.add_link.end = client->flow.link[0].peer;
	msg.add_link.end.mtu = SMC_MTU_4096 + 1;
	while (!client->nr_terminated && w->now < began + 2 * patience) {
		msg.add_link.link_num = num++;
		client->last_rx[0] = w->now;
		say(w, W_CLIENT, 0, &msg);
		KUNIT_EXPECT_EQ(test, client->sent[true][SMC_LLC_ADD_LINK], ++had);
		w_wait(w, timers.delete_link - 1);
	}
	KUNIT_EXPECT_EQ(test, client->nr_terminated, 1);
	/* each offer may have been legitimate */
	KUNIT_EXPECT_GE(test, w->now - began, patience);
}

/* TEST LINK is answered during any exchange. */
static void test_link_at_any_time_ser_06_ser_11_ser_16(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_TEST_LINK };
	struct world *w[3];
	unsigned int i, had;
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		w[0] = adding(test, SMC_LLC_ADD_LINK_CONT, false);
		w[1] = world_up(test, 3, 3, 3, false);
		w_break(w[1], W_SERVER, 2, true);
		w[2] = world_up(test, 2, 2, 2, false);
		w_add_rmb(w[2], W_SERVER);
		w_pump_until(w[2], W_SERVER, SMC_LLC_CONFIRM_RKEY, false);
		for (i = 0; i < ARRAY_SIZE(w); i++) {
			had = requests(w[i], who, SMC_LLC_TEST_LINK);
			w_feed(w[i], who, &ev);
			KUNIT_EXPECT_EQ(test, requests(w[i], who, SMC_LLC_TEST_LINK), had + 1);
			w_pump(w[i]);
			KUNIT_EXPECT_EQ(test, w[i]->side[who].flow.link[0].tries, 0);
			w_check_rest(w[i]);
			expect_no_fault(test, w[i]);
		}
	}
}

/* 3.5.5.3.2 */

static void delete_link_crosses_notice_ser_12(struct kunit *test)
{
	struct world *w = world_up(test, 2, 2, 2, true);

	w->side[W_SERVER].is_frozen = true;
	w_rnic_down(w, W_CLIENT, 1, true);
	w->side[W_SERVER].is_frozen = false;
	w_pump_until(w, W_SERVER, SMC_LLC_DELETE_LINK, false);
	w_rnic_up(w, W_CLIENT, 1);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
}

/* Another link is given up meanwhile: one exchange after the other. */
static void delete_link_crosses_delete_link_ser_04_ser_13(struct kunit *test)
{
	int orderly, who;

	for (orderly = 0; orderly < 2; orderly++) {
		for (who = W_SERVER; who <= W_CLIENT; who++) {
			struct world *w = world_up(test, 3, 3, 3, true);

			expect_rest(test, w, 3);
			w->now += 60000;
			w_break(w, W_SERVER, 1, true);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
			give_up(w, who, 2, orderly);
			w_step(w);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
			w_pump(w);
			w_wait(w, 60000);
			KUNIT_EXPECT_GE(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 2);
			expect_rest(test, w, 3);
		}
	}
}

/* Both sides give up the same link: one exchange is enough. */
static void both_lose_the_same_link_ser_13_err_48(struct kunit *test)
{
	struct world *w = world_up(test, 2, 2, 2, true);

	w->now += 60000;
	w_break(w, W_CLIENT, 1, true);
	w_break(w, W_SERVER, 1, true);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
	KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_LINK), 1);
	KUNIT_EXPECT_EQ(test, replies(w, W_CLIENT, SMC_LLC_DELETE_LINK), 1);
	KUNIT_EXPECT_EQ(test, replies(w, W_SERVER, SMC_LLC_DELETE_LINK), 0);
}

/* Index 0 carries the RKEY exchange, 1 does not; it is before DELETE LINK or crosses it. */
static void delete_link_meets_confirm_rkey(struct kunit *test, bool deployed, u8 idx, bool crosses)
{
	struct world *w = world_up(test, 2, 2, 2, deployed);

	give_up(w, W_SERVER, idx, true);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].clearing, BIT(idx));
	if (crosses)
		w_pump_until(w, W_SERVER, SMC_LLC_DELETE_LINK, false);
	w_add_rmb(w, W_CLIENT);
	w_request(w, W_CLIENT);
	KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_CONFIRM_RKEY), 1);
	w_pump(w);
	w_wait(w, 60000);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, known(w, W_CLIENT), 2);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].rkey_result, 0);
}

static void delete_link_crosses_confirm_rkey_ser_15_ser_20_amb_20(struct kunit *test)
{
	int deployed, idx;

	for (deployed = 0; deployed < 2; deployed++) {
		for (idx = 0; idx < 2; idx++) {
			delete_link_meets_confirm_rkey(test, deployed, idx, false);
			delete_link_meets_confirm_rkey(test, deployed, idx, true);
		}
	}
}

/* 3.5.5.3.3 */

static void confirm_rkey_crosses_notice_ser_17(struct kunit *test)
{
	struct world *w = world_up(test, 2, 1, 2, true);

	w_add_rmb(w, W_SERVER);
	w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_RKEY, false);
	w_rnic_up(w, W_CLIENT, 1);
	KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_ADD_LINK), 1);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
	KUNIT_EXPECT_EQ(test, known(w, W_SERVER), 2);
}

static void confirm_rkey_crosses_delete_link_ser_19(struct kunit *test)
{
	int orderly, idx;

	for (orderly = 0; orderly < 2; orderly++) {
		for (idx = 0; idx < 2; idx++) {
			struct world *w = world_up(test, 2, 2, 2, true);
			unsigned int nr_done = w->side[W_SERVER].nr_done;

			w_add_rmb(w, W_SERVER);
			w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_RKEY, false);
			give_up(w, W_CLIENT, idx, orderly);
			w_pump(w);
			/* An orderly end lets the exchange finish first, on either link. */
			if (orderly)
				KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_done, nr_done + 1);
			w_wait(w, 60000);
			expect_rest(test, w, 2);
			KUNIT_EXPECT_EQ(test, known(w, W_SERVER), 2);
		}
	}
}

static void rkey_exchanges_of_both_sides_ser_05_ser_22_rkey_14_amb_19(struct kunit *test)
{
	struct world *w = world_up(test, 4, 4, 8, false);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		w_add_rmb(w, W_SERVER);
		w_add_rmb(w, W_CLIENT);
	}
	w_request(w, W_SERVER);
	w_request(w, W_CLIENT);
	expect_rest(test, w, 4);
	KUNIT_EXPECT_EQ(test, known(w, W_SERVER), 4);
	KUNIT_EXPECT_EQ(test, known(w, W_CLIENT), 4);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_done, 3);
}

/* The side that began an exchange repeats it when its link is lost. */
static void exchange_is_repeated_llc_14_fail_15_rkey_05(struct kunit *test)
{
	static const u8 types[] = { SMC_LLC_CONFIRM_RKEY, SMC_LLC_CONFIRM_RKEY_CONT };
	unsigned int i;
	int who, breaker;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		for (who = W_SERVER; who <= W_CLIENT; who++) {
			for (breaker = W_SERVER; breaker <= W_CLIENT; breaker++) {
				struct world *w = world_up(test, 4, 4, 4, false);

				w->now += 60000;
				w_add_rmb(w, who);
				w_pump_until(w, who, types[i], false);
				w_break(w, breaker, 0, true);
				w_pump(w);
				w_wait(w, 1000);
				expect_rest(test, w, 4);
				KUNIT_EXPECT_EQ(test, known(w, who), 2);
				KUNIT_EXPECT_GE(test, w->side[who].nr_done, 2);
			}
		}
	}
}

/* All other work waits for an exchange: a peer that only starts them loses its links. */
static void nothing_but_beginnings_fail_15_rkey_05_err_50(struct kunit *test)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_RKEY };
	struct world *w = world_up(test, 4, 4, 4, false);
	struct smc_llc_link *link = w->side[W_SERVER].flow.link;
	struct smc_llc_confirm_rkey *cr = &msg.confirm_rkey;
	unsigned int i;

	cr->nr_rtokens = 3;
	cr->other[1].link_num = link[2].num;
	/* once for each link that the peer may have lost */
	for (i = 0; i <= SMC_LLC_LINKS; i++) {
		cr->other[0].link_num = link[!(i % 2)].num;
		say(w, W_SERVER, i % 2, &msg);
		KUNIT_EXPECT_EQ(test, replies(w, W_SERVER, SMC_LLC_CONFIRM_RKEY), i + 1);
		KUNIT_EXPECT_EQ(test, (int)link[i % 2].state, SMC_LLC_LINK_ACTIVE);
	}
	cr->other[0].link_num = link[!(i % 2)].num;
	say(w, W_SERVER, i % 2, &msg);
	KUNIT_EXPECT_EQ(test, replies(w, W_SERVER, SMC_LLC_CONFIRM_RKEY), i);
	KUNIT_EXPECT_NE(test, (int)link[i % 2].state, SMC_LLC_LINK_ACTIVE);
}

/* Appendix C.7.1 */

/* First contact continues with one link when both sides know that the second one failed. */
static void second_link_without_confirm_err_25_err_31_err_56_err_57_sl_16_sl_18(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_of(test, 2, 2, 2, who);

		w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK_CONT, false);
		w_pump_until(w, W_CLIENT, SMC_LLC_ADD_LINK_CONT, true);
		w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
		if (who == W_CLIENT)
			w_pump_until(w, W_CLIENT, SMC_LLC_CONFIRM_LINK, true);
		w->loses[who] = true;
		w_pump(w);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 0);
		w_wait(w, w_timers().first_reply);
		KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
		expect_rest(test, w, 1);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
		/* ERR-56, ERR-57: and the server tries again */
		w_wait(w, w_timers().add_link_retry);
		expect_rest(test, w, 2);
	}
}

/* A path that fails silently is tried again, but after the other ones. */
static void rnics_take_turns(struct kunit *test, u8 rnic)
{
	struct w_side *server;
	struct world *w;
	u8 i, k;

	w = world_up(test, 3, 3, 3, true);
	server = &w->side[W_SERVER];
	w_wait(w, w_timers().add_link_retry);
	expect_rest(test, w, 3);
	/* no other attempt to the RNIC of the remaining link: that would be an asymmetric link */
	for (i = 0; i < 3; i++)
		for (k = 0; k < W_RNICS; k++)
			w->is_cut[i][k] = true;
	for (i = 0; i < 3; i++)
		if (server->qp[i].rnic < 2)
			w_event(w, W_SERVER, SMC_LLC_EV_LINK_BROKEN, i);
		else
			w->is_cut[2][w->side[W_CLIENT].qp[i].rnic] = false;
	w_wait(w, 3 * w_timers().add_link_retry);
	KUNIT_EXPECT_EQ(test, links(w), 1);

	/* the path of one pair works again: that of the server's second RNIC */
	w->is_cut[1][rnic] = false;
	w_wait(w, 8 * w_timers().add_link_retry);
	KUNIT_EXPECT_EQ(test, links(w), 2);
	for (k = 0; k < W_RNICS; k++)
		w->is_cut[0][k] = false;
	w_wait(w, 4 * w_timers().add_link_retry);
	expect_rest(test, w, 3);
}

static void rnics_take_turns_while_attempts_fail_err_56_tmr_12(struct kunit *test)
{
	rnics_take_turns(test, 0);
	rnics_take_turns(test, 1);
}

/* RNIC 1 of a side has no path, and no error shows it: the other one makes the second link. */
static void asymmetric_link_where_no_other_has_a_path(struct kunit *test, int who)
{
	struct world *w = world_up(test, 2, 2, 2, true);
	u8 i;

	expect_rest(test, w, 2);
	for (i = 0; i < W_RNICS; i++)
		w->is_cut[who == W_SERVER ? 1 : i][who == W_SERVER ? i : 1] = true;
	w_wait(w, w_timers().reply);
	for (i = 0; i < 2; i++)
		if (w->side[who].qp[i].rnic == 1)
			w_event(w, who, SMC_LLC_EV_LINK_BROKEN, i);
	w_wait(w, 8 * w_timers().add_link_retry);
	KUNIT_EXPECT_EQ(test, links(w), 2);
	KUNIT_EXPECT_EQ(test, class(w, who), SMC_LGR_TYPE_ASYMMETRIC_LOCAL);
	KUNIT_EXPECT_EQ(test, class(w, !who), SMC_LGR_TYPE_ASYMMETRIC_PEER);

	memset(w->is_cut, 0, sizeof(w->is_cut));
	w_wait(w, 4 * w_timers().add_link_retry);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
}

static void one_rnic_without_a_path_lg_12_sl_07_sl_09(struct kunit *test)
{
	asymmetric_link_where_no_other_has_a_path(test, W_SERVER);
	asymmetric_link_where_no_other_has_a_path(test, W_CLIENT);
}

/* Short messages pass, data does not: the next attempt uses another path. */
static void a_path_that_is_lost_with_the_first_data_err_56(struct kunit *test)
{
	struct world *w = world_up(test, 3, 3, 2, true);
	struct w_side *server = &w->side[W_SERVER];
	unsigned int i, used = 0;

	for (i = 0; i < 2; i++) {
		expect_rest(test, w, 2);
		used |= BIT(server->qp[1].rnic);
		w->now += 1000;
		w_event(w, W_SERVER, SMC_LLC_EV_LINK_BROKEN, 1);
		w_wait(w, w_timers().add_link_retry);
	}
	KUNIT_EXPECT_EQ(test, used, BIT(1) | BIT(2));
}

/* An offer counts when it is sent: an attempt may be given up before. */
static void no_turn_without_an_offer_err_56(struct kunit *test)
{
	struct world *w = world_up(test, 3, 3, 2, true);
	struct w_side *server = &w->side[W_SERVER];
	struct smc_llc_end end;

	w_event(w, W_SERVER, SMC_LLC_EV_LINK_BROKEN, 1);
	w_pump(w);
	server->create_hangs = true;
	w_wait(w, w_timers().add_link_retry);
	KUNIT_ASSERT_EQ(test, server->flow.config, SMC_LLC_CONFIG_CREATE);
	w_rnic_end(W_SERVER, 2, &end);
	KUNIT_EXPECT_EQ(test, smc_llc_candidate(&server->flow, &end)->nr_offers, 0);
	server->create_hangs = false;
	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	KUNIT_EXPECT_EQ(test, smc_llc_candidate(&server->flow, &end)->nr_offers, 1);
	expect_rest(test, w, 2);
}

/* All pairs have their turn, also when the server offers some of its RNICs only. */
static void a_round_ends_without_its_first_rnic_err_56(struct kunit *test)
{
	struct smc_llc_flow *flow = kunit_kzalloc(test, sizeof(*flow), GFP_KERNEL);
	struct smc_llc_end end = {}, answer;
	unsigned int i, used[2] = {};

	KUNIT_ASSERT_NOT_NULL(test, flow);
	flow->max_links = 2;
	flow->rnics.count = 3;
	for (i = 0; i < 3; i++)
		flow->rnics.rnic[i].mac[0] = i + 10;
	for (i = 0; i < 6; i++) {
		end.mac[0] = i % 2 + 1;
		flow->add.offer.end = end;
		KUNIT_ASSERT_TRUE(test, smc_llc_pick_answer(flow, &answer));
		smc_llc_candidate(flow, &end)->nr_offers++;
		used[i % 2] |= BIT(answer.mac[0] - 10);
	}
	KUNIT_EXPECT_EQ(test, used[0], 7);
	KUNIT_EXPECT_EQ(test, used[1], 7);
	/* more than a server may have: the counts restart */
	for (i = 0; i <= SMC_LLC_RNICS; i++) {
		end.mac[0] = i + 1;
		smc_llc_candidate(flow, &end)->nr_offers++;
	}
	KUNIT_EXPECT_EQ(test, smc_llc_candidate(flow, &end)->nr_offers, 1);
	end.mac[0] = 1;
	KUNIT_EXPECT_EQ(test, smc_llc_candidate(flow, &end)->nr_offers, 0);
}

/* The path of the second link fails every send: no timer is needed. */
static void second_link_cannot_be_confirmed_sl_16_err_19(struct kunit *test)
{
	struct world *w = world_of(test, 2, 2, 2, false);

	w->is_cut[1][1] = true;
	w_pump(w);
	expect_rest(test, w, 1);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
	KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
	w_wait(w, w_timers().add_link_retry);
	expect_rest(test, w, 1);
	w->is_cut[1][1] = false;
	w_wait(w, w_timers().add_link_retry);
	expect_rest(test, w, 2);
}

static void later_link_without_confirm_err_26_err_32_tmr_12_tmr_13(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_up(test, 1, 1, 2, true);

		w->side[W_CLIENT].has_rnic[1] = true;
		w->side[W_SERVER].has_rnic[1] = true;
		w_tell_rnics(w, W_CLIENT);
		w_tell_rnics(w, W_SERVER);
		w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
		if (who == W_CLIENT)
			w_pump_until(w, W_CLIENT, SMC_LLC_CONFIRM_LINK, true);
		w->loses[who] = true;
		w_pump(w);
		w_wait(w, w_timers().reply);
		expect_rest(test, w, 1);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
		w_wait(w, w_timers().add_link_retry);
		expect_rest(test, w, 2);
	}
}

/* The server tries again for a third link, though it has two. */
static void third_link_fails_err_56_err_57_tmr_12_tmr_13(struct kunit *test)
{
	int who, late;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (late = 0; late < 2; late++) {
			struct world *w = world_up(test, 2, 2, 3, true);

			w->side[who].create_fails = !late;
			w->side[who].prepare_fails = late;
			w_rnic_up(w, W_CLIENT, 2);
			w_pump(w);
			w_rnic_up(w, W_SERVER, 2);
			expect_rest(test, w, 2);
			w_wait(w, w_timers().add_link_retry);
			expect_rest(test, w, 2);
			w->side[who].create_fails = false;
			w->side[who].prepare_fails = false;
			w_wait(w, w_timers().add_link_retry);
			expect_rest(test, w, 3);
		}
	}
}

/* The carrying link counts as failed; if there is another one, it is used next. */
static void no_answer_while_adding_err_29_err_33_err_35(struct kunit *test)
{
	static const struct { int who; u8 type; bool is_reply; enum smc_llc_why why; } rows[] = {
		{ W_CLIENT, SMC_LLC_ADD_LINK, true, SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT },
		{ W_CLIENT, SMC_LLC_ADD_LINK_CONT, true, SMC_LLC_WHY_ADD_LINK_CONT_TIMEOUT },
		{ W_SERVER, SMC_LLC_ADD_LINK_CONT, false, SMC_LLC_WHY_ADD_LINK_CONT_TIMEOUT },
	};
	unsigned int i;
	int nr;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (nr = 1; nr <= 2; nr++) {
			struct world *w = nr == 1 ?
				adding_second(test, SMC_LLC_ADD_LINK, false) :
				adding(test, SMC_LLC_ADD_LINK, false);
			struct w_side *waits;

			if (nr == 1) {
				/* The client needs an RNIC to accept with. */
				w->side[W_CLIENT].has_rnic[1] = true;
				w_tell_rnics(w, W_CLIENT);
			}
			w_pump_until(w, rows[i].who, rows[i].type, rows[i].is_reply);
			w->loses[rows[i].who] = true;
			/* The waiting side sees the loss first. */
			waits = &w->side[!rows[i].who];
			w_pump(w);
			w_wait(w, w_timers().reply);
			if (nr == 1) {
				KUNIT_EXPECT_EQ(test, waits->nr_terminated +
						w->side[rows[i].who].nr_terminated >= 1, true);
				w_wait(w, 60000);
				KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 1);
				KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 1);
				expect_no_fault(test, w);
				continue;
			}
			KUNIT_EXPECT_GE(test, w->side[W_SERVER].nr_link_down, 1);
			w_wait(w, 60000);
			expect_rest(test, w, 2);
			KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
		}
	}
}

/*
 * In the deployed dialect a missing message costs the new link only, in first contact and later.
 * The link is tried again.
 */
static void no_answer_while_adding_deployed_err_56_tmr_12_tmr_13(struct kunit *test)
{
	static const struct { int who; u8 type; bool is_reply; } rows[] = {
		{ W_SERVER, SMC_LLC_ADD_LINK, false },
		{ W_CLIENT, SMC_LLC_ADD_LINK, true },
		{ W_SERVER, SMC_LLC_ADD_LINK_CONT, false },
		{ W_CLIENT, SMC_LLC_ADD_LINK_CONT, true },
	};
	unsigned int i;
	int is_first;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (is_first = 0; is_first < 2; is_first++) {
			struct world *w = is_first ? world_of(test, 2, 2, 2, true) :
						     adding_second(test, SMC_LLC_ADD_LINK, true);

			if (is_first || rows[i].who == W_CLIENT ||
			    rows[i].type != SMC_LLC_ADD_LINK)
				w_pump_until(w, rows[i].who, rows[i].type, rows[i].is_reply);
			w->loses[rows[i].who] = true;
			w_pump(w);
			KUNIT_EXPECT_FALSE(test, w->loses[rows[i].who]);
			w_wait(w, 60000);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 0);
			expect_rest(test, w, 2);
			kunit_kfree(test, w);
		}
	}
}

static void no_answer_in_first_contact_resets_err_28_err_30_err_33_err_34(struct kunit *test)
{
	static const struct { int who; u8 type; bool is_reply; } rows[] = {
		{ W_SERVER, SMC_LLC_ADD_LINK, false },
		{ W_CLIENT, SMC_LLC_ADD_LINK, true },
		{ W_SERVER, SMC_LLC_ADD_LINK_CONT, false },
		{ W_CLIENT, SMC_LLC_ADD_LINK_CONT, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world *w = world_of(test, 2, 2, 2, false);

		w_pump_until(w, rows[i].who, rows[i].type, rows[i].is_reply);
		w->loses[rows[i].who] = true;
		w_pump(w);
		w_wait(w, 60000);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_failed, 1);
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_failed, 1);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].fail, SMC_LLC_FAIL_RESET);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 0);
		expect_no_fault(test, w);
	}
}

/*
 * The server does not answer a client's DELETE LINK. The link that carried it is given up as
 * well, and the client asks for both on the next one.
 */
static void delete_link_of_client_unanswered_err_36(struct kunit *test)
{
	u8 nr;

	for (nr = 2; nr <= 4; nr++) {
		struct world *w = world_up(test, nr, nr, 8, true);

		expect_rest(test, w, nr);
		w->side[W_SERVER].is_frozen = true;
		w_break(w, W_CLIENT, nr - 1, true);
		KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_LINK), 1);
		w_wait(w, w_timers().delete_link);
		if (nr == 2) {
			expect_over(test, w, W_CLIENT, SMC_LLC_WHY_DELETE_LINK_TIMEOUT);
			continue;
		}
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_link_down, 2);
		KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_LINK), 3);
		w->side[W_SERVER].is_frozen = false;
		w_pump(w);
		w_wait(w, 60000);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
		w_check_rest(w);
		expect_no_fault(test, w);
	}
}

static void delete_link_of_server_unanswered_err_38(struct kunit *test)
{
	u8 nr, tries;

	/* a deployed client may have dropped the first one */
	for (nr = 2; nr <= 7; nr++) {
		struct world *w = world_up(test, nr / 2 + 1, nr / 2 + 1, 8, nr & 1);

		expect_rest(test, w, nr / 2 + 1);
		tries = 1 + (nr & 1);
		w->side[W_CLIENT].is_frozen = true;
		w_break(w, W_SERVER, nr / 2, true);
		KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
		w_wait(w, w_timers().delete_link - 1);
		KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), tries);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_down, 1);
		w_wait(w, 1);
		if (nr / 2 + 1 == 2) {
			expect_over(test, w, W_SERVER, SMC_LLC_WHY_DELETE_LINK_TIMEOUT);
			continue;
		}
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_down, 2);
		KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), tries + 1);
		w->side[W_CLIENT].is_frozen = false;
		w_pump(w);
		w_wait(w, 60000);
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 0);
		w_check_rest(w);
		expect_no_fault(test, w);
	}
}

/* The end of the group is announced on one link after the other. */
static void end_is_said_on_every_link_err_36_err_37_lgt_04_lgt_06(struct kunit *test)
{
	struct world *w = world_up(test, 3, 3, 8, true);

	/* a failed send: the next link is used at once */
	w_break(w, W_SERVER, 0, false);
	end(w, W_SERVER);
	w_pump(w);
	KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 2);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 1);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 1);
	expect_no_fault(test, w);

	/* A client waits for an answer on each link. */
	w = world_up(test, 3, 3, 8, true);
	w->side[W_SERVER].is_frozen = true;
	end(w, W_CLIENT);
	w_wait(w, 3 * w_timers().terminate - 1);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 0);
	KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_LINK), 3);
	w_wait(w, 1);
	expect_over(test, w, W_CLIENT, SMC_LLC_WHY_DELETED);
}

/* Client and server: the link that carried the exchange is given up. */
static void no_rkey_reply_err_39_err_40_err_41_err_42(struct kunit *test)
{
	struct smc_llc_event probe = { .type = SMC_LLC_EV_REQ_TEST_LINK };
	int who, what, i;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (what = 0; what < 2; what++) {
			struct world *w = world_up(test, 2, 2, 2, true);

			w->now += 60000;
			if (what) {
				w_feed(w, who, &probe);
			} else {
				w_add_rmb(w, who);
				w_request(w, who);
			}
			w->loses[who] = true;
			w_pump(w);
			/* a probe is repeated twice */
			for (i = 0; what && i < 2; i++) {
				w_wait(w, w_timers().test_link - 1);
				w->loses[who] = true;
				w_wait(w, 1);
				KUNIT_EXPECT_EQ(test, w->side[who].why, 0);
			}
			w_wait(w, what ? w_timers().test_link : w_timers().reply);
			KUNIT_EXPECT_EQ(test, w->side[who].why, what ?
					SMC_LLC_WHY_TEST_LINK_TIMEOUT : SMC_LLC_WHY_RKEY_TIMEOUT);
			w_wait(w, 60000);
			expect_rest(test, w, 2);
			KUNIT_EXPECT_EQ(test, known(w, who), what ? 1 : 2);
		}
	}
}

/* An error of another link does not affect the first one. */
static void confirm_link_with_wrong_data_err_43_amb_57_amb_65(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_of(test, 2, 2, 2, false);
		struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_LINK };

		w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK_CONT, false);
		w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
		w->loses[W_SERVER] = true;
		w_pump(w);
		msg.is_reply = who == W_SERVER;
		msg.confirm_link.end = w->side[!who].flow.link[1].local;
		msg.confirm_link.end.qpn++;
		msg.confirm_link.link_num = w->side[who].flow.link[1].num;
		say(w, who, 1, &msg);
		KUNIT_EXPECT_EQ(test, w->side[who].down_reason, SMC_LLC_DELETE_PROTOCOL);
		expect_rest(test, w, 1);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
	}
}

/* The client must not accept with a parallel link. */
static void parallel_link_is_deleted_err_45_lg_10(struct kunit *test)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK, .is_reply = true };
	struct world *w = world_up(test, 2, 1, 2, true);
	struct smc_llc_flow *flow = &w->side[W_SERVER].flow;

	expect_rest(test, w, 2);
	give_up(w, W_SERVER, 1, true);
	w_pump(w);
	w->side[W_CLIENT].is_frozen = true;
	w_want_link(w, W_SERVER);
	w_pump(w);
	if (flow->config != SMC_LLC_CONFIG_ADD_LINK) {
		w->side[W_CLIENT].is_frozen = false;
		w_pump(w);
		w_break(w, W_SERVER, 1, true);
		w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	}
	KUNIT_ASSERT_EQ(test, flow->config, SMC_LLC_CONFIG_ADD_LINK);
	/* Pretend that the server offered the RNIC that is in use. */
	flow->link[flow->config_target].local = flow->link[flow->config_link].local;
	msg.add_link.end = flow->link[flow->config_link].peer;
	msg.add_link.end.qpn = 0x777;
	msg.add_link.link_num = flow->link[flow->config_target].num;
	say(w, W_SERVER, flow->config_link, &msg);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].down_reason, SMC_LLC_DELETE_PROTOCOL);
	KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_DELETE_LINK);
}

/* Each link of both sides has the MTU. */
static void expect_mtu(struct kunit *test, struct world *w, u8 mtu)
{
	const struct smc_llc_link *lnk;
	int who;
	u8 i;

	for (who = W_SERVER; who <= W_CLIENT; who++)
		for (i = 0; i < SMC_LLC_LINKS; i++) {
			lnk = &w->side[who].flow.link[i];
			if (smc_llc_is_in_use(lnk))
				KUNIT_EXPECT_EQ(test, min(lnk->local.mtu, lnk->peer.mtu), mtu);
		}
}

static unsigned int made(struct world *w, int who)
{
	return w->side[who].nr_link_up;
}

/* The old link carries the exchange that adds the new one. */
static void mtu_of_the_only_rnic_replaces_the_link(struct kunit *test)
{
	int who, k;

	for (k = 0; k < 4; k++) {
		struct world *w = world_up(test, 1, 1, 2, k & 1);

		who = k & 2 ? W_CLIENT : W_SERVER;
		w_set_mtu(w, who, 0, SMC_MTU_1024);
		expect_rest(test, w, 1);
		expect_mtu(test, w, SMC_MTU_1024);
		KUNIT_EXPECT_EQ(test, made(w, who), 2);
		KUNIT_EXPECT_TRUE(test, w->side[who].last_down_orderly);
		/* the other side follows, and the link has that MTU already */
		w_set_mtu(w, !who, 0, SMC_MTU_1024);
		expect_rest(test, w, 1);
		KUNIT_EXPECT_EQ(test, made(w, who), 2);
	}
}

static void greater_mtu_needs_both_ports(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_up(test, 1, 1, 2, true);

		w_set_mtu(w, W_SERVER, 0, SMC_MTU_1024);
		w_set_mtu(w, W_CLIENT, 0, SMC_MTU_1024);
		expect_rest(test, w, 1);
		w_set_mtu(w, who, 0, SMC_MTU_2048);
		expect_rest(test, w, 1);
		expect_mtu(test, w, SMC_MTU_1024);
		KUNIT_EXPECT_EQ(test, made(w, who), 2);
		w_set_mtu(w, !who, 0, SMC_MTU_4096);
		expect_rest(test, w, 1);
		expect_mtu(test, w, SMC_MTU_2048);
		KUNIT_EXPECT_EQ(test, made(w, who), 3);
	}
}

/* Nothing waits for a timer, although the first link has just come up. */
static void mtu_of_one_of_two_rnics_replaces_its_link(struct kunit *test)
{
	int who, k;

	for (k = 0; k < 4; k++) {
		struct world *w = world_up(test, 2, 2, 2, k & 1);

		expect_rest(test, w, 2);
		who = k & 2 ? W_CLIENT : W_SERVER;
		w_set_mtu(w, who, 0, SMC_MTU_1024);
		expect_rest(test, w, 2);
		chaos_check_mtus(w);
		expect_no_fault(test, w);
		KUNIT_EXPECT_EQ(test, class(w, who), SMC_LGR_TYPE_SYMMETRIC);
		KUNIT_EXPECT_EQ(test, made(w, who), 3);
		KUNIT_EXPECT_TRUE(test, w->side[who].last_down_orderly);
	}
}

/* One after the other: at each time a link carries the data. */
static void mtu_of_all_rnics_replaces_all_links(struct kunit *test)
{
	int who;
	u8 r;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_up(test, 2, 2, 2, true);

		expect_rest(test, w, 2);
		for (r = 0; r < 2; r++)
			w->side[who].mtu[r] = SMC_MTU_1024;
		w_tell_rnics(w, who);
		expect_rest(test, w, 2);
		expect_mtu(test, w, SMC_MTU_1024);
		KUNIT_EXPECT_EQ(test, made(w, who), 4);
	}
}

/* Two links of one RNIC, one of them asymmetric. */
static void mtu_of_a_shared_rnic_replaces_both_links(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = who == W_SERVER ? world_up(test, 1, 2, 2, true) :
						    world_up(test, 2, 1, 2, true);

		expect_rest(test, w, 2);
		w_set_mtu(w, who, 0, SMC_MTU_1024);
		expect_rest(test, w, 2);
		expect_mtu(test, w, SMC_MTU_1024);
	}
}

/* The client refuses the offer: the old link goes on. */
static void a_link_that_cannot_be_replaced_stays_until_the_next_try(struct kunit *test)
{
	struct world *w = world_up(test, 1, 1, 2, true);
	struct smc_llc_flow *flow = &w->side[W_SERVER].flow;

	w->side[W_CLIENT].create_fails = true;
	w_set_mtu(w, W_SERVER, 0, SMC_MTU_1024);
	expect_rest(test, w, 1);
	KUNIT_EXPECT_EQ(test, flow->link[0].local.mtu, SMC_MTU_4096);
	KUNIT_EXPECT_EQ(test, made(w, W_SERVER), 1);
	/* the server tries again */
	w->side[W_CLIENT].create_fails = false;
	w_wait(w, w_timers().add_link_retry);
	expect_rest(test, w, 1);
	expect_mtu(test, w, SMC_MTU_1024);
}

/* No exchange has begun or ended, and no link has changed. Padding is undefined. */
static void expect_same_flow(struct kunit *test, const struct smc_llc_flow *a,
			     const struct smc_llc_flow *b)
{
	u8 i;

	KUNIT_EXPECT_EQ(test, a->phase, b->phase);
	KUNIT_EXPECT_EQ(test, a->config, b->config);
	KUNIT_EXPECT_EQ(test, a->own.is_busy, b->own.is_busy);
	KUNIT_EXPECT_EQ(test, a->remote.state, b->remote.state);
	KUNIT_EXPECT_EQ(test, a->remote.is_put_off, b->remote.is_put_off);
	KUNIT_EXPECT_EQ(test, a->req_link, b->req_link);
	KUNIT_EXPECT_EQ(test, a->next_add, b->next_add);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(a), smc_llc_flow_deadline(b));
	for (i = 0; i < SMC_LLC_LINKS; i++) {
		KUNIT_EXPECT_EQ(test, a->link[i].state, b->link[i].state);
		KUNIT_EXPECT_EQ(test, a->link[i].data, b->link[i].data);
		KUNIT_EXPECT_EQ(test, a->link[i].num, b->link[i].num);
		KUNIT_EXPECT_EQ(test, a->link[i].is_orderly, b->link[i].is_orderly);
		KUNIT_EXPECT_EQ(test, a->link[i].why, b->link[i].why);
	}
}

/* No message counts on a link that the client has asked to delete. */
static void commands_on_a_lost_link_err_46(struct kunit *test)
{
	struct smc_llc_msg msgs[] = {
		{ .type = SMC_LLC_ADD_LINK }, { .type = SMC_LLC_CONFIRM_RKEY },
		{ .type = SMC_LLC_DELETE_RKEY }, { .type = SMC_LLC_ADD_LINK_CONT },
		{ .type = SMC_LLC_DELETE_LINK }, { .type = SMC_LLC_CONFIRM_LINK },
	};
	struct world *w = world_up(test, 2, 2, 2, true);
	struct smc_llc_flow *before = kunit_kzalloc(test, sizeof(*before), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, before);
	w_break(w, W_CLIENT, 1, true);
	*before = w->side[W_CLIENT].flow;
	for (i = 0; i < ARRAY_SIZE(msgs); i++) {
		say(w, W_CLIENT, 1, &msgs[i]);
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].acts.nr, 0);
	}
	expect_same_flow(test, before, &w->side[W_CLIENT].flow);
	msgs[0].type = SMC_LLC_DELETE_LINK;
	msgs[0].delete_link.is_all = true;
	say(w, W_CLIENT, 1, &msgs[0]);
	expect_over(test, w, W_CLIENT, SMC_LLC_WHY_PEER_DELETED);
}

/* A side announces no key of its RMB for the new link: then that link is none. */
static void a_link_without_keys_is_given_up_rkey_20_addl_13_err_56(struct kunit *test)
{
	int who, is_first, is_deployed;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (is_first = 0; is_first < 2; is_first++) {
			for (is_deployed = 0; is_deployed < 2; is_deployed++) {
				struct world *w = is_first ?
					world_of(test, 2, 2, 2, is_deployed) :
					adding_second(test, SMC_LLC_ADD_LINK, is_deployed);
				struct smc_llc_flow *flow = &w->side[who].flow;

				if (is_first || who == W_CLIENT)
					w_pump_until(w, who, SMC_LLC_ADD_LINK, who == W_CLIENT);
				KUNIT_ASSERT_EQ(test, flow->add.nr_own, 1);
				flow->add.nr_own = 0;
				w_pump(w);
				KUNIT_EXPECT_EQ(test, links(w), 1);
				KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
				KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
				w_wait(w, 60000);
				expect_rest(test, w, 2);
				kunit_kfree(test, w);
			}
		}
	}
}

/* Continuations with a wrong count. */
static void wrong_counts_while_adding_err_47_amb_24(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_up(test, 1, 1, 2, true);
		struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK_CONT };
		struct smc_llc_flow *flow = &w->side[who].flow;
		unsigned int i;

		for (i = 0; i < 4; i++)
			w_add_rmb(w, W_SERVER);
		w_pump(w);
		w->side[W_CLIENT].has_rnic[1] = true;
		w_tell_rnics(w, W_CLIENT);
		w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK_CONT, false);
		w_pump_until(w, W_CLIENT, SMC_LLC_ADD_LINK_CONT, true);
		if (who == W_SERVER) {
			w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK_CONT, false);
			/* the client had one RMB, none is left */
			msg.is_reply = true;
			msg.add_link_cont.nr_rtokens = 1;
		} else {
			/* the server had five, three are left */
			msg.add_link_cont.nr_rtokens = 4;
		}
		msg.add_link_cont.link_num = flow->link[flow->config_target].num;
		say(w, who, 0, &msg);
		expect_over(test, w, who, SMC_LLC_WHY_ADD_LINK_CONT_DATA);
	}
}

/* No key for a link, or two. */
static void confirm_rkey_with_wrong_links_err_50_rkey_11(struct kunit *test)
{
	struct world *w = world_up(test, 2, 2, 2, true);
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_RKEY };

	msg.confirm_rkey.here.rkey = 0x99;
	say(w, W_CLIENT, 0, &msg);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].why, SMC_LLC_WHY_RKEY_MISSING);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].flow.link[1].state, SMC_LLC_LINK_REPORTED);

	w = world_up(test, 3, 3, 3, true);
	msg.confirm_rkey.nr_rtokens = 2;
	msg.confirm_rkey.other[0].link_num = w->side[W_CLIENT].flow.link[1].num;
	msg.confirm_rkey.other[1].link_num = w->side[W_CLIENT].flow.link[1].num;
	say(w, W_CLIENT, 0, &msg);
	KUNIT_EXPECT_EQ(test, w_nr(&w->side[W_CLIENT], SMC_LLC_LINK_ACTIVE), 3);
	KUNIT_EXPECT_EQ(test, replies(w, W_CLIENT, SMC_LLC_CONFIRM_RKEY), 1);
	KUNIT_EXPECT_LT(test, w_find_token(&w->side[W_CLIENT], 0, 0x99), 0);
}

/* The most actions of one event: eight links lost, and the server notified. */
static void actions_are_bounded_err_50(struct kunit *test)
{
	struct world *w = world_up(test, 4, 4, 8, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	struct w_side *client = &w->side[W_CLIENT];
	struct smc_llc_flow *flow = &client->flow;
	u8 i;

	for (i = 1; i < SMC_LLC_LINKS; i++) {
		flow->link[i] = flow->link[0];
		flow->link[i].num = 100 + i;
	}
	ev.msg.type = SMC_LLC_CONFIRM_RKEY;
	ev.msg.confirm_rkey.here.rkey = 0x99;
	smc_llc_flow_event(flow, &ev, w->now, &client->acts);
	KUNIT_EXPECT_EQ(test, w_nr(client, SMC_LLC_LINK_REPORTED), SMC_LLC_LINKS - 1);
	KUNIT_EXPECT_EQ(test, client->acts.nr, 2 * (SMC_LLC_LINKS - 1) + 1);
	KUNIT_EXPECT_LT(test, client->acts.nr, SMC_LLC_ACTIONS);
}

/* Queue pairs that cannot be created or connected: use the other RNIC, or one link. */
static void own_resources_fail_sl_12_sl_18_amb_28(struct kunit *test)
{
	int who, late;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (late = 0; late < 2; late++) {
			struct world *w = world_of(test, 2, 2, 2, true);

			w->side[who].create_fails = !late;
			w->side[who].prepare_fails = late;
			/* The first link of the server is prepared, too. */
			if (late)
				w->side[who].prepare_fails = false;
			if (late && who == W_SERVER)
				w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
			if (late && who == W_CLIENT)
				w_pump_until(w, W_CLIENT, SMC_LLC_CONFIRM_LINK, true);
			w->side[who].prepare_fails = late;
			w_pump(w);
			/* a deployed client waits a while for an offer */
			if (who == W_SERVER && !late)
				w_wait(w, w_timers().add_link_deployed);
			expect_rest(test, w, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
			w->side[who].create_fails = false;
			w->side[who].prepare_fails = false;
			w_wait(w, w_timers().add_link_retry);
			expect_rest(test, w, 2);
		}
	}
}

/* Devices without coherent memory: an RMB can be mapped on one link only. */
static void server_without_rmbs_on_two_links_amb_28_err_56(struct kunit *test)
{
	unsigned int i, deployed;

	for (deployed = 0; deployed < 2; deployed++) {
		for (i = 0; i < ARRAY_SIZE(class_rows); i++) {
			struct world *w = world_of(test, class_rows[i].rnics[W_SERVER],
						   class_rows[i].rnics[W_CLIENT], 2, deployed);
			u64 begin = w->now;

			w->side[W_SERVER].map_fails = true;
			expect_rest(test, w, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
			/* no timer was needed */
			KUNIT_EXPECT_EQ(test, w->now, begin);
			/* a retry does no harm */
			w_wait(w, w_timers().add_link_retry);
			expect_rest(test, w, 1);
			w->side[W_SERVER].map_fails = false;
			w_wait(w, w_timers().add_link_retry + 100);
			expect_rest(test, w, class_rows[i].links);
		}
	}
}

/*
 * Without IPv4 addresses it is unknown which RNICs are on the LAN, perhaps even for the first
 * link. The client still waits for an offer.
 */
static void server_that_knows_no_rnic_sl_01_sl_02_amb_28(struct kunit *test)
{
	unsigned int i, deployed;

	for (deployed = 0; deployed < 2; deployed++) {
		for (i = 0; i < ARRAY_SIZE(class_rows); i++) {
			struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
			struct w_setup set = {
				.rnics = { 1, class_rows[i].rnics[W_CLIENT] },
				.max_links = { 2, 2 },
				.is_deployed = { deployed, deployed },
				.tells_none = { true, i & 1 },
				.is_multi = true,
			};
			u64 begin;

			KUNIT_ASSERT_NOT_NULL(test, w);
			w_init(w, &set);
			begin = w->now;
			expect_rest(test, w, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
			KUNIT_EXPECT_EQ(test, w->now, begin);
			w_wait(w, 2 * w_timers().add_link_retry);
			expect_rest(test, w, 1);
			/* with an address everything is as usual */
			w->side[W_SERVER].tells_none = false;
			w->side[W_CLIENT].tells_none = false;
			w_tell_rnics(w, W_CLIENT);
			w_tell_rnics(w, W_SERVER);
			expect_rest(test, w, class_rows[i].rnics[W_CLIENT] > 1 ? 2 : 1);
			kunit_kfree(test, w);
		}
	}
}

/* A server that wants one link does not repeat an offer that it would not keep. */
static void server_of_one_link_offers_once_sl_01_tmr_12(struct kunit *test)
{
	unsigned int rnics, deployed;

	for (deployed = 0; deployed < 2; deployed++) {
		for (rnics = 1; rnics < 3; rnics++) {
			struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
			struct w_setup set = {
				.rnics = { 2, rnics },
				.max_links = { 2, 2 },
				.is_deployed = { deployed, deployed },
			};

			KUNIT_ASSERT_NOT_NULL(test, w);
			w_init(w, &set);
			/* a client with two accepts the offer, without success */
			w_tell_rnics(w, W_CLIENT);
			expect_rest(test, w, 1);
			w_wait(w, w_timers().add_link_retry - 1);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_ADD_LINK), 1);
			if (rnics == 1) {
				/* a client with a spare RNIC would ask for it */
				w_wait(w, 10 * w_timers().add_link_retry);
				KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_ADD_LINK),
						1);
			}
			w_tell_rnics(w, W_SERVER);
			w_wait(w, 1000);
			expect_rest(test, w, 2);
			kunit_kfree(test, w);
		}
	}
}

/* No queue pair: without a Decline a client of the RFC dialect would time out and reset. */
static void server_without_queue_pairs_amb_28(struct kunit *test)
{
	struct world *w = world_of(test, 2, 2, 2, false);

	w->side[W_SERVER].create_fails = true;
	w_pump(w);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].fail, SMC_LLC_FAIL_DECLINE);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].why, SMC_LLC_WHY_NO_SPARE);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].fail, SMC_LLC_FAIL_DECLINED);
	expect_no_fault(test, w);
}

/* An RNIC that hangs counts as none; its late result is dropped. */
static void server_whose_rnic_hangs_sl_01_amb_28_err_56(struct kunit *test)
{
	struct w_side *server;
	struct world *w;
	int deployed;

	for (deployed = 0; deployed < 2; deployed++) {
		w = world_of(test, 2, 2, 2, deployed);
		server = &w->side[W_SERVER];
		server->create_hangs = true;
		w_pump(w);
		KUNIT_ASSERT_EQ(test, server->flow.config, SMC_LLC_CONFIG_CREATE);
		w_wait(w, deployed ? w_timers().add_link_deployed / 2 : w_timers().add_link / 2);
		/* the server falls back to a bare queue pair on the RNIC of the first link */
		KUNIT_EXPECT_TRUE(test, server->flow.link[2].is_bare);
		server->create_hangs = false;
		expect_rest(test, w, 1);
		KUNIT_EXPECT_EQ(test, server->nr_up, 1);
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
		w_wait(w, w_timers().add_link_retry);
		expect_rest(test, w, 2);
	}
	/* the other RNIC hangs as well: the server declines */
	w = world_of(test, 2, 2, 2, true);
	w->side[W_SERVER].create_hangs = true;
	w_wait(w, w_timers().add_link_deployed);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_up, 1);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_up, 1);
	w = world_of(test, 2, 2, 2, false);
	w->side[W_SERVER].create_hangs = true;
	w_wait(w, w_timers().add_link * 3 / 4);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].fail, SMC_LLC_FAIL_DECLINE);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].why, SMC_LLC_WHY_NO_SPARE);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].fail, SMC_LLC_FAIL_DECLINED);
	expect_no_fault(test, w);
}

/* The group does without it, and uses the next RNIC. */
static void new_rnic_of_server_hangs_err_56_tmr_12(struct kunit *test)
{
	struct world *w = world_up(test, 1, 3, 2, true);
	struct w_side *server = &w->side[W_SERVER];

	expect_rest(test, w, 2);
	server->create_hangs = true;
	w_rnic_up(w, W_SERVER, 1);
	w_pump(w);
	KUNIT_ASSERT_EQ(test, server->flow.config, SMC_LLC_CONFIG_CREATE);
	w_rnic_up(w, W_SERVER, 2);
	w_wait(w, w_timers().reply * 3 / 4);
	/* in place of the first one */
	KUNIT_EXPECT_EQ(test, server->flow.config, SMC_LLC_CONFIG_CREATE);
	KUNIT_EXPECT_EQ(test, server->flow.link[server->flow.config_target].local.mac[5], 3);
	w_wait(w, w_timers().reply * 3 / 4);
	w_add_rmb(w, W_CLIENT);
	w_pump(w);
	KUNIT_EXPECT_EQ(test, known(w, W_CLIENT), 2);
	KUNIT_EXPECT_EQ(test, links(w), 2);
	server->create_hangs = false;
	expect_rest(test, w, 2);
	w_wait(w, w_timers().add_link_retry);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
}

/* Deployed peers wait two seconds, whatever the timers of this side are. */
static void rnic_that_hangs_does_not_cost_the_carrier_err_56(struct kunit *test)
{
	int deployed, who;
	struct world *w;
	u32 ms;

	for (deployed = 0; deployed < 2; deployed++) {
		for (who = W_SERVER; who <= W_CLIENT; who++) {
			ms = deployed ? 2000 : w_timers().reply;
			w = adding_second(test, SMC_LLC_ADD_LINK, deployed);
			w->side[who].create_hangs = true;
			w->side[who].prepare_hangs = true;
			w_wait(w, ms / 4 * 3 - 1);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 0);
			KUNIT_EXPECT_EQ(test, replies(w, W_CLIENT, SMC_LLC_ADD_LINK),
					1 + (who == W_SERVER));
			w_wait(w, 1);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK),
					who == W_SERVER);
			/* a client that rejects is offered the server's first RNIC next */
			KUNIT_EXPECT_EQ(test, replies(w, W_CLIENT, SMC_LLC_ADD_LINK),
					2 + (who == W_CLIENT));
			KUNIT_EXPECT_EQ(test, w->side[!who].flow.config, SMC_LLC_CONFIG_NONE);
			w->side[who].create_hangs = false;
			w->side[who].prepare_hangs = false;
			expect_rest(test, w, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_link_down, 0);
		}
	}
}

/* An RNIC that vanishes takes its links along, and a new one restores them. */
static void rnics_come_and_go_lg_12_lg_13_err_58(struct kunit *test)
{
	struct world *w = world_up(test, 2, 2, 2, true);
	unsigned int i;

	for (i = 0; i < 40; i++) {
		int who = i & 1;
		u8 rnic = (i >> 1) & 1;

		w->now += 10000;
		w_rnic_down(w, who, rnic, true);
		w_pump(w);
		/* LG-12: the other side's two RNICs still make two links. */
		KUNIT_EXPECT_EQ(test, links(w), 2);
		w_rnic_up(w, who, rnic);
		expect_rest(test, w, 2);
		KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
	}
}

/*
 * A client rejects an RNIC, perhaps for being on another network. The server still offers
 * another one, also when the client asks for a link.
 */
static void refused_rnic_is_offered_last_sl_02_sl_12_err_57(struct kunit *test)
{
	struct world *w = world_up(test, 1, 1, 2, false);

	w->side[W_CLIENT].has_rnic[1] = true;
	w->side[W_CLIENT].create_fails = true;
	w_rnic_up(w, W_SERVER, 1);
	w_pump_until(w, W_CLIENT, SMC_LLC_ADD_LINK, true);
	/* the client's abilities have changed since */
	w->side[W_CLIENT].create_fails = false;
	w_tell_rnics(w, W_CLIENT);
	w_pump_until(w, W_CLIENT, SMC_LLC_ADD_LINK, true);
	KUNIT_EXPECT_TRUE(test, smc_llc_same_rnic(&w->side[W_CLIENT].flow.add.offer.end,
						  &w->side[W_CLIENT].flow.link[0].peer));
	w_pump(w);
	/* later its turn comes again: the client's second RNIC meets the server's */
	w_wait(w, 60000);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
}

/* Other RNICs are not delayed: each of them is offered at once. */
static void next_rnic_follows_a_refused_one_sl_12_err_56(struct kunit *test)
{
	struct world *w = world_up(test, 1, 1, 2, false);
	u64 begin = w->now;
	unsigned int i;

	w->side[W_CLIENT].has_rnic[1] = true;
	w->side[W_CLIENT].create_fails = true;
	for (i = 1; i < W_RNICS; i++)
		w->side[W_SERVER].has_rnic[i] = true;
	w_tell_rnics(w, W_SERVER);
	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	w_pump_until(w, W_CLIENT, SMC_LLC_ADD_LINK, true);
	w_pump_until(w, W_CLIENT, SMC_LLC_ADD_LINK, true);
	w->side[W_CLIENT].create_fails = false;
	w_tell_rnics(w, W_CLIENT);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, w->now, begin);
	KUNIT_EXPECT_TRUE(test, smc_llc_same_rnic(&w->side[W_CLIENT].flow.add.offer.end,
						  &w->side[W_CLIENT].flow.link[1].peer));
}

/* Each RNIC is offered once: a client without a use for them gets no endless offers. */
static void each_rnic_is_offered_once_sl_12_err_57(struct kunit *test)
{
	struct world *w = world_up(test, 1, 1, 2, false);
	unsigned int i, before, offers;

	before = requests(w, W_SERVER, SMC_LLC_ADD_LINK);
	w->side[W_CLIENT].create_fails = true;
	w->side[W_CLIENT].has_rnic[1] = true;
	for (i = 1; i < W_RNICS; i++)
		w->side[W_SERVER].has_rnic[i] = true;
	w_tell_rnics(w, W_SERVER);
	expect_rest(test, w, 1);
	offers = requests(w, W_SERVER, SMC_LLC_ADD_LINK) - before;
	KUNIT_EXPECT_EQ(test, offers, W_RNICS);
	w_wait(w, w_timers().add_link_retry + 100);
	expect_rest(test, w, 1);
	KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_ADD_LINK) - before, 2 * offers);
}

/* Two LANs. The RNIC that the client rejects becomes usable before the rejections end. */
static void notice_crosses_the_next_offer_ser_07_err_59(struct kunit *test)
{
	struct world *w = world_of(test, 2, 1, 2, true);

	w->is_apart[0][1] = true;
	w->is_apart[1][0] = true;
	expect_rest(test, w, 1);
	w_want_link(w, W_SERVER);
	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	w_pump_until(w, W_SERVER, SMC_LLC_ADD_LINK, false);
	w_rnic_up(w, W_CLIENT, 1);
	KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_ADD_LINK), 1);
	expect_rest(test, w, 2);
	KUNIT_EXPECT_EQ(test, class(w, W_SERVER), SMC_LGR_TYPE_SYMMETRIC);
}

/* The last link fails while another one awaits CONFIRM LINK. */
static void last_link_dies_while_one_is_added(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_up(test, 1, 1, 2, true);

		w->now += 60000;
		w->side[W_CLIENT].has_rnic[1] = true;
		w->side[W_SERVER].has_rnic[1] = true;
		w_tell_rnics(w, W_CLIENT);
		w_tell_rnics(w, W_SERVER);
		w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
		w_break(w, who, 0, true);
		KUNIT_EXPECT_EQ(test, w->side[who].nr_link_down, 0);
		w_pump(w);
		w_wait(w, 60000);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
		expect_rest(test, w, 2);
	}
}

/*
 * The new link fails while the other side still announces its RMBs. Late messages are
 * ignored, and the first link is not affected.
 */
static void new_link_fails_between_continuations_err_47_fail_01(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_up(test, 1, 1, 2, false);

		w->now += 60000;
		w->side[W_CLIENT].has_rnic[1] = true;
		w->side[W_SERVER].has_rnic[1] = true;
		w_tell_rnics(w, W_CLIENT);
		w_tell_rnics(w, W_SERVER);
		w_pump_until(w, !who, SMC_LLC_ADD_LINK_CONT, who == W_SERVER);
		w_break(w, who, 1, true);
		w_pump(w);
		KUNIT_EXPECT_EQ(test, w->side[who].nr_link_down, 0);
		w_wait(w, 60000);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
		expect_rest(test, w, 2);
	}
}

/* The group ends with its last link, and the peer is notified. */
static void last_rnic_goes_lgt_03_lgt_04(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_up(test, 2, 2, 2, true);

		/* another link continues: the peer is notified of the lost one */
		w_rnic_going(w, who, 0);
		w_pump(w);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
		KUNIT_EXPECT_EQ(test, w->side[!who].nr_link_down, 1);
		w_wait(w, 60000);
		expect_rest(test, w, 2);

		w = world_up(test, 1, 1, 2, true);
		w_rnic_going(w, who, 0);
		w_pump(w);
		expect_over(test, w, who, SMC_LLC_WHY_LINK_BROKEN);
		expect_over(test, w, !who, SMC_LLC_WHY_PEER_DELETED);
	}
}

/* The last RNIC is removed while its replacement awaits CONFIRM LINK. */
static void last_rnic_goes_while_a_link_is_added(struct kunit *test)
{
	int who, other;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_up(test, 1, 1, 2, true);

		w->now += 60000;
		w->side[W_CLIENT].has_rnic[1] = true;
		w->side[W_SERVER].has_rnic[1] = true;
		w_tell_rnics(w, W_CLIENT);
		w_tell_rnics(w, W_SERVER);
		w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
		w_rnic_going(w, who, 0);
		KUNIT_EXPECT_EQ(test, requests(w, who, SMC_LLC_DELETE_LINK), 0);
		w_pump(w);
		w_wait(w, 60000);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 0);
		KUNIT_EXPECT_EQ(test, w->side[who].nr_link_down, 1);
	}

	/* The new link fails: the departing link announces the end of the group after all. */
	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (other = W_SERVER; other <= W_CLIENT; other++) {
			struct world *w = world_up(test, 1, 1, 2, true);

			w->now += 60000;
			w->side[W_CLIENT].has_rnic[1] = true;
			w->side[W_SERVER].has_rnic[1] = true;
			w_tell_rnics(w, W_CLIENT);
			w_tell_rnics(w, W_SERVER);
			w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
			w_rnic_going(w, who, 0);
			w_rnic_down(w, other, 1, true);
			w_pump(w);
			w_wait(w, 30000);
			KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 1);
			KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_terminated, 1);
			KUNIT_EXPECT_EQ(test, w->side[!who].why, SMC_LLC_WHY_PEER_DELETED);
			expect_no_fault(test, w);
		}
	}
}

/*
 * The client gives up one link while the server deletes the other one. The group ends: the
 * link that departs says so, and the reason is not the path.
 */
static void both_sides_give_up_a_link_lgt_03_lgt_05(struct kunit *test)
{
	int deployed;

	for (deployed = 0; deployed < 2; deployed++) {
		struct world *w = world_up(test, 2, 2, 2, deployed);
		struct w_side *client = &w->side[W_CLIENT];

		give_up(w, W_SERVER, 1, true);
		w_pump_until(w, W_SERVER, SMC_LLC_DELETE_LINK, false);
		give_up(w, W_CLIENT, 0, true);
		KUNIT_ASSERT_TRUE(test, smc_llc_is_deleting(&client->flow, 0));
		w_pump(w);
		expect_over(test, w, W_CLIENT, SMC_LLC_WHY_DELETED);
		expect_over(test, w, W_SERVER, SMC_LLC_WHY_PEER_DELETED);
		KUNIT_EXPECT_EQ(test, client->down_reason, SMC_LLC_DELETE_OPERATOR);
		KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_DELETE_LINK), 1);
	}
}

/* The same where the other link fails, at either side, and where the end gets no answer. */
static void last_link_fails_while_one_departs_lgt_05_err_36(struct kunit *test)
{
	int who, is_frozen;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		for (is_frozen = 0; is_frozen < 2; is_frozen++) {
			struct world *w = world_up(test, 2, 2, 2, true);
			struct w_side *client = &w->side[W_CLIENT];

			give_up(w, W_CLIENT, 0, true);
			KUNIT_ASSERT_TRUE(test, smc_llc_is_deleting(&client->flow, 0));
			w->side[W_SERVER].is_frozen = is_frozen;
			w_break(w, W_CLIENT, 1, true);
			KUNIT_EXPECT_EQ(test, client->flow.phase, SMC_LLC_TERMINATING);
			KUNIT_EXPECT_EQ(test, client->flow.end_link, 0);
			if (who == W_CLIENT)
				w_break(w, W_CLIENT, 0, true);
			w_pump(w);
			if (is_frozen)
				w_wait(w, w_timers().terminate);
			expect_over(test, w, W_CLIENT, SMC_LLC_WHY_LINK_BROKEN);
			if (!is_frozen && who == W_SERVER)
				expect_over(test, w, W_SERVER, SMC_LLC_WHY_PEER_DELETED);
		}
	}
}

/* A client that deleted a link announces no key for it. */
static void no_key_for_a_link_to_be_deleted_err_50_dell_08(struct kunit *test)
{
	struct world *w = world_up(test, 2, 2, 2, true);
	struct smc_llc_flow *flow = &w->side[W_SERVER].flow;
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_LINK };

	/* the messages received on it before are still processed */
	w_break(w, W_SERVER, 0, true);
	msg.delete_link.link_num = flow->link[1].num;
	msg.delete_link.is_orderly = true;
	msg.delete_link.reason = SMC_LLC_DELETE_LOST_PATH;
	say(w, W_SERVER, 0, &msg);
	memset(&msg, 0, sizeof(msg));
	msg.type = SMC_LLC_CONFIRM_RKEY;
	msg.confirm_rkey.here.rkey = 0x99;
	say(w, W_SERVER, 0, &msg);
	KUNIT_EXPECT_EQ(test, flow->remote.state, SMC_LLC_REMOTE_CONFIRM_RKEY);
	KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_DELETE_WANTED);
	KUNIT_EXPECT_EQ(test, w->side[W_SERVER].nr_terminated, 0);
}

/* A deployed client declines, with the data of the offer. */
static void decline_late(struct world *w, u8 num)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	struct smc_llc_add_link *al = &ev.msg.add_link;

	ev.msg.type = SMC_LLC_ADD_LINK;
	ev.msg.is_reply = true;
	w_rnic_end(W_SERVER, 1, &al->end);
	al->end.qpn = w->next_qpn - 2;
	al->link_num = num;
	al->is_rejected = true;
	al->reason = SMC_LLC_ADD_LINK_NO_PATH;
	w_feed(w, W_SERVER, &ev);
}

static void answer_late(struct world *w, u8 num)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };

	ev.msg.type = SMC_LLC_DELETE_LINK;
	ev.msg.is_reply = true;
	ev.msg.delete_link.link_num = num;
	ev.msg.delete_link.reason = SMC_LLC_DELETE_UNKNOWN_LINK;
	w_feed(w, W_SERVER, &ev);
}

/*
 * A client with two RNICs loses one. It accepts the next offer with the other one, which
 * is on another network. The server deletes the new link. A deployed client, which waits
 * for ADD LINK CONTINUATION, drops DELETE LINK and declines the offer when it gives up.
 */
static void late_decline_is_the_answer_ser_08_amb_40(struct kunit *test)
{
	unsigned int has_num, is_answered;

	for (has_num = 0; has_num < 2; has_num++) {
		for (is_answered = 0; is_answered < 2; is_answered++) {
			struct world *w = world_up(test, 2, 2, 2, true);
			struct w_side *server = &w->side[W_SERVER];
			u8 num;

			w->now += 60000;
			w_rnic_down(w, W_CLIENT, 1, true);
			server->prepare_fails = true;
			w_pump_until(w, W_CLIENT, SMC_LLC_ADD_LINK, true);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
			w->side[W_CLIENT].is_frozen = true;
			w_pump(w);
			KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 2);
			num = server->flow.last_num;
			w->now += 2000;
			decline_late(w, has_num ? num : 0);
			KUNIT_EXPECT_EQ(test, server->flow.config, SMC_LLC_CONFIG_NONE);
			/* a client that has put off DELETE LINK answers it now */
			if (is_answered)
				answer_late(w, num);
			/* a second time no answer is due */
			decline_late(w, num);
			expect_no_fault(test, w);
			KUNIT_EXPECT_EQ(test, server->nr_terminated, 0);
			KUNIT_EXPECT_EQ(test, links(w), 1);
			KUNIT_EXPECT_EQ(test, server->nr_stale, 2 + is_answered);
			/* a number that no link had */
			w->is_garbled = true;
			decline_late(w, 99);
			KUNIT_EXPECT_EQ(test, server->nr_terminated, 1);
			KUNIT_EXPECT_EQ(test, server->why, SMC_LLC_WHY_OUT_OF_SYNC);
			kunit_kfree(test, w);
		}
	}
}

/* The same where the group is being formed: it comes up with one link. */
static void late_decline_in_first_contact_amb_28_amb_40(struct kunit *test)
{
	struct world *w = world_of(test, 2, 2, 2, true);
	struct w_side *server = &w->side[W_SERVER];

	w_pump_until(w, W_CLIENT, SMC_LLC_ADD_LINK, true);
	w->side[W_CLIENT].is_frozen = true;
	server->prepare_fails = true;
	w_pump(w);
	KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 1);
	KUNIT_EXPECT_EQ(test, server->nr_up, 0);
	decline_late(w, server->flow.last_num);
	expect_no_fault(test, w);
	KUNIT_EXPECT_EQ(test, server->nr_up, 1);
	KUNIT_EXPECT_EQ(test, links(w), 1);
}

/* The client gives up while the server continues with the link. */
static void client_declines_what_is_being_added_err_47(struct kunit *test)
{
	static const u8 until[] = { SMC_LLC_ADD_LINK_CONT, SMC_LLC_CONFIRM_LINK };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(until); i++) {
		struct world *w = adding_second(test, until[i], true);
		struct w_side *server = &w->side[W_SERVER];

		w->side[W_CLIENT].is_frozen = true;
		decline_late(w, server->flow.last_num);
		expect_no_fault(test, w);
		KUNIT_EXPECT_EQ(test, server->nr_terminated, 0);
		KUNIT_EXPECT_EQ(test, links(w), 1);
		KUNIT_EXPECT_EQ(test, w_nr(server, SMC_LLC_LINK_FORMING), 0);
		KUNIT_EXPECT_EQ(test, requests(w, W_SERVER, SMC_LLC_DELETE_LINK), 0);
		/* another offer follows, by the timer */
		KUNIT_EXPECT_NE(test, server->flow.next_add, SMC_LLC_NO_DEADLINE);
		kunit_kfree(test, w);
	}
}

/* The peer guesses the number of a link that was not offered yet. */
static void decline_of_no_offer_err_54(struct kunit *test)
{
	struct world *w = world_up(test, 1, 1, 2, true);
	struct w_side *server = &w->side[W_SERVER];

	server->create_hangs = true;
	w_rnic_up(w, W_SERVER, 1);
	w_pump(w);
	KUNIT_ASSERT_EQ(test, server->flow.config, SMC_LLC_CONFIG_CREATE);
	w->is_garbled = true;
	decline_late(w, server->flow.last_num);
	KUNIT_EXPECT_EQ(test, server->why, SMC_LLC_WHY_OUT_OF_SYNC);
	KUNIT_EXPECT_EQ(test, server->nr_terminated, 1);
}

/* This side starts no RKEY exchange while the client is still busy with the last one. */
static void rkeys_wait_for_late_decline_ser_05(struct kunit *test)
{
	struct world *w = adding_second(test, SMC_LLC_ADD_LINK, true);
	struct w_side *server = &w->side[W_SERVER];

	w->side[W_CLIENT].is_curt = true;
	server->prepare_fails = true;
	w_pump(w);
	KUNIT_EXPECT_EQ(test, replies(w, W_CLIENT, SMC_LLC_DELETE_LINK), 1);
	KUNIT_EXPECT_FALSE(test, smc_llc_flow_may_request(&server->flow, w->now));
	decline_late(w, server->flow.last_num);
	KUNIT_EXPECT_TRUE(test, smc_llc_flow_may_request(&server->flow, w->now));
}

/* CONFIRM LINK on a new link: a request at the server, or a reply at the client. */
static void confirm_link_of_the_wrong_direction_llc_12_err_54(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = adding_second(test, SMC_LLC_CONFIRM_LINK, true);
		struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_LINK };
		struct smc_llc_flow *flow = &w->side[who].flow;

		w->loses[W_SERVER] = true;
		w_pump(w);
		KUNIT_ASSERT_EQ(test, flow->config, SMC_LLC_CONFIG_CONFIRM);
		msg.is_reply = who == W_CLIENT;
		msg.confirm_link.end = flow->link[1].peer;
		msg.confirm_link.link_num = flow->link[1].num;
		say(w, who, 1, &msg);
		KUNIT_EXPECT_NE(test, flow->link[1].state, SMC_LLC_LINK_ACTIVE);
		KUNIT_EXPECT_EQ(test, w->side[who].down_reason, SMC_LLC_DELETE_PROTOCOL);
		expect_rest(test, w, 1);
	}
}

/* Only from the time when a new link is connected a message there is from the peer. */
static void bad_message_on_a_new_link_err_54(struct kunit *test)
{
	struct world *w = adding_second(test, SMC_LLC_ADD_LINK_CONT, true);
	struct smc_llc_flow *flow = &w->side[W_SERVER].flow;

	w_event(w, W_SERVER, SMC_LLC_EV_BAD_MSG, 1);
	KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_FORMING);
	/* the keys of the client are being stored */
	flow->config = SMC_LLC_CONFIG_STORE;
	w_event(w, W_SERVER, SMC_LLC_EV_BAD_MSG, 1);
	KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_FORMING);
	flow->config = SMC_LLC_CONFIG_ADD_CONT;
	w_pump_until(w, W_SERVER, SMC_LLC_CONFIRM_LINK, false);
	w->is_garbled = true;
	w_event(w, W_SERVER, SMC_LLC_EV_BAD_MSG, 1);
	KUNIT_EXPECT_NE(test, flow->link[1].state, SMC_LLC_LINK_FORMING);
	expect_rest(test, w, 1);
}

/* The operator gives up the last link while another one only needs CONFIRM LINK. */
static void last_link_is_given_up_while_one_is_added_lgt_03(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = adding_second(test, SMC_LLC_CONFIRM_LINK, true);

		give_up(w, who, 0, true);
		KUNIT_EXPECT_EQ(test, w->side[who].flow.phase, SMC_LLC_UP);
		KUNIT_EXPECT_EQ(test, w->side[who].flow.link[0].state, SMC_LLC_LINK_DELETE_WANTED);
		w_pump(w);
		w_check_rest(w);
		expect_no_fault(test, w);
		KUNIT_EXPECT_EQ(test, w->side[W_SERVER].flow.phase, SMC_LLC_UP);

		/* without one the group ends */
		w = world_up(test, 1, 1, 2, true);
		give_up(w, who, 0, true);
		KUNIT_EXPECT_EQ(test, w->side[who].flow.phase, SMC_LLC_TERMINATING);
	}
}

/* The end of a link whose RNIC is removed is not in order, whether it is the last one or not. */
static void end_by_a_removed_rnic_has_no_o_lgt_03_dell_14(struct kunit *test)
{
	int who;

	for (who = W_SERVER; who <= W_CLIENT; who++) {
		struct world *w = world_up(test, 1, 1, 2, true);
		struct smc_llc_flow *flow = &w->side[who].flow;

		w_rnic_going(w, who, 0);
		KUNIT_EXPECT_EQ(test, flow->phase, SMC_LLC_TERMINATING);
		KUNIT_EXPECT_FALSE(test, flow->end_is_orderly);
		KUNIT_EXPECT_EQ(test, w->side[who].down_reason, SMC_LLC_DELETE_LOST_PATH);

		w = adding_second(test, SMC_LLC_CONFIRM_LINK, true);
		flow = &w->side[who].flow;
		w_rnic_going(w, who, 0);
		KUNIT_EXPECT_EQ(test, flow->link[0].state, SMC_LLC_LINK_DELETE_WANTED);
		KUNIT_EXPECT_FALSE(test, flow->link[0].is_orderly);
	}
}

/* The queue pair is there while the client is between two messages about an RMB. */
static void offer_waits_for_a_continuation_ser_05(struct kunit *test)
{
	struct world *w = world_up(test, 5, W_RNICS, 8, true);
	struct w_side *server = &w->side[W_SERVER];
	unsigned int left = 1000;

	w_wait(w, w_timers().reply);
	server->create_hangs = true;
	w_rnic_up(w, W_SERVER, 5);
	w_pump(w);
	KUNIT_ASSERT_EQ(test, server->flow.config, SMC_LLC_CONFIG_CREATE);
	w_add_rmb(w, W_CLIENT);
	while (server->flow.remote.state != SMC_LLC_REMOTE_CONFIRM_CONT && w_step(w) && --left)
		;
	KUNIT_ASSERT_EQ(test, server->flow.remote.state, SMC_LLC_REMOTE_CONFIRM_CONT);
	server->create_hangs = false;
	KUNIT_EXPECT_TRUE(test, w_work(w, W_SERVER, 0));
	KUNIT_EXPECT_EQ(test, server->flow.config, SMC_LLC_CONFIG_NONE);
	/* and is made again at once after that */
	expect_rest(test, w, 6);
	KUNIT_EXPECT_EQ(test, known(w, W_CLIENT), 2);
}

static void client_without_a_free_rnic_or_place_addl_06_maxl_09(struct kunit *test)
{
	struct world *w = world_up(test, 2, 2, 3, true);
	struct smc_llc_end end;

	/* all its RNICs have a symmetric link */
	KUNIT_EXPECT_FALSE(test, smc_llc_has_unused_rnic(&w->side[W_CLIENT].flow));
	KUNIT_EXPECT_FALSE(test, smc_llc_pick_notice(&w->side[W_CLIENT].flow, &end));
	/* it has a third one, but the group is at its limit */
	w = world_up(test, 3, 3, 2, true);
	KUNIT_EXPECT_FALSE(test, smc_llc_has_unused_rnic(&w->side[W_CLIENT].flow));
	KUNIT_EXPECT_FALSE(test, smc_llc_pick_notice(&w->side[W_CLIENT].flow, &end));
	w = world_up(test, 2, 3, 3, true);
	KUNIT_EXPECT_TRUE(test, smc_llc_has_unused_rnic(&w->side[W_CLIENT].flow));
	KUNIT_EXPECT_TRUE(test, smc_llc_pick_notice(&w->side[W_CLIENT].flow, &end));
}

/* TMR-13: only a client with one symmetric link repeats its notice. */
static void notice_is_repeated_tmr_13(struct kunit *test)
{
	unsigned int nr;

	for (nr = 1; nr <= 2; nr++) {
		struct world *w = world_up(test, nr, 3, 3, true);

		KUNIT_ASSERT_EQ(test, smc_llc_nr_symmetric(&w->side[W_CLIENT].flow), nr);
		w_want_link(w, W_CLIENT);
		KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_ADD_LINK), 1);
		KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].flow.next_add,
				nr == 1 ? w->now + w_timers().add_link_retry :
					  SMC_LLC_NO_DEADLINE);
		w_wait(w, w_timers().add_link_retry);
		KUNIT_EXPECT_EQ(test, requests(w, W_CLIENT, SMC_LLC_ADD_LINK), 3 - nr);
	}
}

/*
 * A third link is accepted, and cannot be used. The server tries again if its own end has
 * failed meanwhile, and not if the acceptance is wrong or for an RNIC that is in use.
 */
static void retry_after_a_useless_acceptance_tmr_12_err_45(struct kunit *test)
{
	enum { FAILED, INVALID, BOTH, NOT_ALLOWED, NR };
	unsigned int how;

	for (how = 0; how < NR; how++) {
		struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK, .is_reply = true };
		struct world *w = world_up(test, 2, 2, 3, true);
		struct smc_llc_flow *flow = &w->side[W_SERVER].flow;
		u8 target;

		w->side[W_CLIENT].has_rnic[2] = true;
		w_tell_rnics(w, W_CLIENT);
		w_pump(w);
		w_wait(w, w_timers().add_link_retry);
		w->side[W_CLIENT].is_frozen = true;
		w_rnic_up(w, W_SERVER, 2);
		w_pump(w);
		KUNIT_ASSERT_EQ(test, flow->config, SMC_LLC_CONFIG_ADD_LINK);
		target = flow->config_target;
		if (how == FAILED || how == BOTH)
			w_event(w, W_SERVER, SMC_LLC_EV_LINK_BROKEN, target);
		w_rnic_end(W_CLIENT, how == NOT_ALLOWED ? 0 : 2, &msg.add_link.end);
		msg.add_link.end.qpn = how == INVALID || how == BOTH ? 0 : 0x777;
		msg.add_link.link_num = flow->link[target].num;
		say(w, W_SERVER, flow->config_link, &msg);
		KUNIT_EXPECT_NE(test, flow->link[target].state, SMC_LLC_LINK_FORMING);
		KUNIT_EXPECT_EQ(test, flow->next_add, how == FAILED ?
				w->now + w_timers().add_link_retry : SMC_LLC_NO_DEADLINE);
	}
}

static void chaos(struct kunit *test, u64 seed, unsigned int runs, unsigned int faults)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (i = 0; i < runs; i++)
		if (!chaos_run(w, seed + i, faults, 150)) {
			KUNIT_FAIL(test, "seed %llu, faults %x, line %u: %s", seed + i, faults,
				   w->line, w->fault);
			return;
		}
}

static void random_order_on_a_good_wire(struct kunit *test)
{
	chaos(test, 1, 300, CHAOS_REQUESTS);
	chaos(test, 1, 300, CHAOS_MTUS);
}

static void random_breaks(struct kunit *test)
{
	chaos(test, 1000, 300, CHAOS_REQUESTS | CHAOS_BREAKS);
}

static void random_breaks_and_failures(struct kunit *test)
{
	chaos(test, 2000, 300, CHAOS_BREAKS | CHAOS_FAILURES | CHAOS_SLOW);
}

static void random_everything(struct kunit *test)
{
	chaos(test, 3000, 600, CHAOS_ALL);
	chaos(test, 3000, 300, CHAOS_ALL | CHAOS_MTUS);
}

/*
 * The answer to the first offer is late. A deployed server takes it as the answer to the
 * second offer, which the client has not answered yet.
 */
static void continuation_before_the_answer_err_29_err_47(struct kunit *test)
{
	struct world *w = adding_second(test, SMC_LLC_ADD_LINK, true);
	struct smc_llc_flow *flow = &w->side[W_CLIENT].flow;
	struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK_CONT };

	w->side[W_CLIENT].create_hangs = true;
	w_pump(w);
	KUNIT_ASSERT_EQ(test, flow->config, SMC_LLC_CONFIG_CREATE);
	msg.add_link_cont.link_num = flow->add.offer.link_num;
	say(w, W_CLIENT, 0, &msg);
	KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_CREATE);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].nr_stale, 1);
	/* another number is out of sync */
	msg.add_link_cont.link_num++;
	say(w, W_CLIENT, 0, &msg);
	KUNIT_EXPECT_EQ(test, w->side[W_CLIENT].why, SMC_LLC_WHY_OUT_OF_SYNC);
}

/* A late message of a deployed peer does not end the group. */
static void random_deployed_server(struct kunit *test)
{
	chaos(test, 5000, 200, CHAOS_DEPLOYED | CHAOS_SERVER | CHAOS_REQUESTS | CHAOS_BREAKS);
	chaos(test, 5000, 400, CHAOS_DEPLOYED | CHAOS_SERVER | CHAOS_ALL);
}

static void random_deployed_client(struct kunit *test)
{
	chaos(test, 4000, 200, CHAOS_DEPLOYED | CHAOS_REQUESTS | CHAOS_FAILURES);
	chaos(test, 4000, 200, CHAOS_DEPLOYED | CHAOS_REQUESTS | CHAOS_BREAKS);
	chaos(test, 4000, 400, CHAOS_DEPLOYED | CHAOS_ALL);
	chaos(test, 4000, 200, CHAOS_DEPLOYED | CHAOS_MTUS);
	chaos(test, 4000, 200, CHAOS_DEPLOYED | CHAOS_SERVER | CHAOS_MTUS);
}

/* Peers of Linux 4.17 to 5.7 have one link, and offers of nothing. */
static void random_old_peer_sl_11_err_44(struct kunit *test)
{
	const unsigned int old = CHAOS_DEPLOYED | CHAOS_OLD;

	chaos(test, 6000, 200, old | CHAOS_REQUESTS);
	chaos(test, 6000, 200, old | CHAOS_ALL | CHAOS_MTUS);
	chaos(test, 6000, 200, old | CHAOS_SERVER | CHAOS_REQUESTS);
	chaos(test, 6000, 200, old | CHAOS_SERVER | CHAOS_ALL | CHAOS_MTUS);
}

static void random_nonsense_llc_11_err_54(struct kunit *test)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	for (i = 0; i < 600; i++)
		if (!chaos_nonsense(w, i, 30)) {
			KUNIT_FAIL(test, "seed %u, line %u: %s", i, w->line, w->fault);
			return;
		}
}

static struct kunit_case llc_group_cases[] = {
	KUNIT_CASE_PARAM(second_link_sl_07_sl_08_sl_09_sl_10_lg_12_lg_13_lg_14_addl_04,
			 class_gen_params),
	KUNIT_CASE(as_many_links_as_agreed_maxl_09_maxl_10_addl_05),
	KUNIT_CASE(many_links_come_and_go_maxl_09_maxl_10_lg_12_lg_16),
	KUNIT_CASE(data_waits_fc_12_sl_13_sl_14_sl_15_sl_17_addl_16),
	KUNIT_CASE(asymmetric_is_replaced_lg_15_lg_16_addl_06_addl_07_err_58_err_59),
	KUNIT_CASE(rmbs_of_both_sides_rkey_20_rkey_21_addl_12_addl_14_addl_15),
	KUNIT_CASE(rkeys_on_many_links_rkey_03_rkey_04_rkey_08_rkey_09),
	KUNIT_CASE(any_link_carries_an_exchange_llc_04_llc_06_addl_11),
	KUNIT_CASE(rkey_sequence_for_nine_links_rkey_08_rkey_09),
	KUNIT_CASE(bad_continuations_err_47_err_54_amb_39_amb_58),
	KUNIT_CASE(numbers_of_lost_links_lid_03),
	KUNIT_CASE(link_is_lost_and_replaced_dell_01_dell_03_to_dell_06_dell_10),
	KUNIT_CASE(link_is_given_up_dell_07_dell_08_dell_14_lgt_03),
	KUNIT_CASE(link_is_clear_first_fail_10_fail_18_fail_19_dell_05_dell_10),
	KUNIT_CASE(deployed_server_loses_a_link_in_order_dell_05_amb_69),
	KUNIT_CASE(failed_link_is_not_cleared_dell_08_amb_69),
	KUNIT_CASE(link_given_up_comes_back_later_dell_14_err_57_tmr_12),
	KUNIT_CASE(deployed_client_loses_a_link_in_order_dell_08_amb_69),
	KUNIT_CASE(rnics_take_turns_while_attempts_fail_err_56_tmr_12),
	KUNIT_CASE(no_turn_without_an_offer_err_56),
	KUNIT_CASE(a_round_ends_without_its_first_rnic_err_56),
	KUNIT_CASE(one_rnic_without_a_path_lg_12_sl_07_sl_09),
	KUNIT_CASE(a_path_that_is_lost_with_the_first_data_err_56),
	KUNIT_CASE(links_do_not_come_as_fast_as_they_go_err_59_dell_09),
	KUNIT_CASE(nor_as_fast_as_a_server_ends_them_err_59_dell_05),
	KUNIT_CASE(asymmetric_stays_where_it_is_needed_lg_12_lg_16),
	KUNIT_CASE(asymmetric_is_the_last_to_work_lg_12_lg_16),
	KUNIT_CASE(add_link_crosses_notice_ser_07),
	KUNIT_CASE(add_link_crosses_delete_link_ser_08_amb_69),
	KUNIT_CASE(whole_group_at_any_time_ser_09_ser_14_ser_21_amb_67),
	KUNIT_CASE(add_link_crosses_confirm_rkey_ser_10_ser_18_rkey_12),
	KUNIT_CASE(add_link_crosses_delete_rkey_amb_21),
	KUNIT_CASE(rkeys_do_not_wait_for_an_offer_ser_10_rkey_15_amb_21),
	KUNIT_CASE(deletion_does_not_wait_for_an_offer_ser_08),
	KUNIT_CASE(notice_waits_for_an_exchange_ser_08_err_36),
	KUNIT_CASE(a_busy_server_deletes_a_lost_link_err_36),
	KUNIT_CASE(test_link_at_any_time_ser_06_ser_11_ser_16),
	KUNIT_CASE(delete_link_crosses_notice_ser_12),
	KUNIT_CASE(delete_link_crosses_delete_link_ser_04_ser_13),
	KUNIT_CASE(both_lose_the_same_link_ser_13_err_48),
	KUNIT_CASE(delete_link_crosses_confirm_rkey_ser_15_ser_20_amb_20),
	KUNIT_CASE(confirm_rkey_crosses_notice_ser_17),
	KUNIT_CASE(confirm_rkey_crosses_delete_link_ser_19),
	KUNIT_CASE(rkey_exchanges_of_both_sides_ser_05_ser_22_rkey_14_amb_19),
	KUNIT_CASE(exchange_is_repeated_llc_14_fail_15_rkey_05),
	KUNIT_CASE(nothing_but_beginnings_fail_15_rkey_05_err_50),
	KUNIT_CASE(second_link_without_confirm_err_25_err_31_err_56_err_57_sl_16_sl_18),
	KUNIT_CASE(second_link_cannot_be_confirmed_sl_16_err_19),
	KUNIT_CASE(later_link_without_confirm_err_26_err_32_tmr_12_tmr_13),
	KUNIT_CASE(third_link_fails_err_56_err_57_tmr_12_tmr_13),
	KUNIT_CASE(no_answer_while_adding_err_29_err_33_err_35),
	KUNIT_CASE(no_answer_while_adding_deployed_err_56_tmr_12_tmr_13),
	KUNIT_CASE(no_answer_in_first_contact_resets_err_28_err_30_err_33_err_34),
	KUNIT_CASE(delete_link_of_client_unanswered_err_36),
	KUNIT_CASE(delete_link_of_server_unanswered_err_38),
	KUNIT_CASE(end_is_said_on_every_link_err_36_err_37_lgt_04_lgt_06),
	KUNIT_CASE(no_rkey_reply_err_39_err_40_err_41_err_42),
	KUNIT_CASE(confirm_link_with_wrong_data_err_43_amb_57_amb_65),
	KUNIT_CASE(parallel_link_is_deleted_err_45_lg_10),
	KUNIT_CASE(mtu_of_the_only_rnic_replaces_the_link),
	KUNIT_CASE(greater_mtu_needs_both_ports),
	KUNIT_CASE(mtu_of_one_of_two_rnics_replaces_its_link),
	KUNIT_CASE(mtu_of_all_rnics_replaces_all_links),
	KUNIT_CASE(mtu_of_a_shared_rnic_replaces_both_links),
	KUNIT_CASE(a_link_that_cannot_be_replaced_stays_until_the_next_try),
	KUNIT_CASE(commands_on_a_lost_link_err_46),
	KUNIT_CASE(a_link_without_keys_is_given_up_rkey_20_addl_13_err_56),
	KUNIT_CASE(wrong_counts_while_adding_err_47_amb_24),
	KUNIT_CASE(confirm_rkey_with_wrong_links_err_50_rkey_11),
	KUNIT_CASE(actions_are_bounded_err_50),
	KUNIT_CASE(own_resources_fail_sl_12_sl_18_amb_28),
	KUNIT_CASE(server_without_rmbs_on_two_links_amb_28_err_56),
	KUNIT_CASE(server_that_knows_no_rnic_sl_01_sl_02_amb_28),
	KUNIT_CASE(server_of_one_link_offers_once_sl_01_tmr_12),
	KUNIT_CASE(server_without_queue_pairs_amb_28),
	KUNIT_CASE(server_whose_rnic_hangs_sl_01_amb_28_err_56),
	KUNIT_CASE(new_rnic_of_server_hangs_err_56_tmr_12),
	KUNIT_CASE(rnic_that_hangs_does_not_cost_the_carrier_err_56),
	KUNIT_CASE(rnics_come_and_go_lg_12_lg_13_err_58),
	KUNIT_CASE(refused_rnic_is_offered_last_sl_02_sl_12_err_57),
	KUNIT_CASE(next_rnic_follows_a_refused_one_sl_12_err_56),
	KUNIT_CASE(each_rnic_is_offered_once_sl_12_err_57),
	KUNIT_CASE(notice_crosses_the_next_offer_ser_07_err_59),
	KUNIT_CASE(last_link_dies_while_one_is_added),
	KUNIT_CASE(last_rnic_goes_lgt_03_lgt_04),
	KUNIT_CASE(last_rnic_goes_while_a_link_is_added),
	KUNIT_CASE(new_link_fails_between_continuations_err_47_fail_01),
	KUNIT_CASE(both_sides_give_up_a_link_lgt_03_lgt_05),
	KUNIT_CASE(last_link_fails_while_one_departs_lgt_05_err_36),
	KUNIT_CASE(no_key_for_a_link_to_be_deleted_err_50_dell_08),
	KUNIT_CASE(late_decline_is_the_answer_ser_08_amb_40),
	KUNIT_CASE(late_decline_in_first_contact_amb_28_amb_40),
	KUNIT_CASE(client_declines_what_is_being_added_err_47),
	KUNIT_CASE(decline_of_no_offer_err_54),
	KUNIT_CASE(rkeys_wait_for_late_decline_ser_05),
	KUNIT_CASE(confirm_link_of_the_wrong_direction_llc_12_err_54),
	KUNIT_CASE(bad_message_on_a_new_link_err_54),
	KUNIT_CASE(last_link_is_given_up_while_one_is_added_lgt_03),
	KUNIT_CASE(end_by_a_removed_rnic_has_no_o_lgt_03_dell_14),
	KUNIT_CASE(offer_waits_for_a_continuation_ser_05),
	KUNIT_CASE(client_without_a_free_rnic_or_place_addl_06_maxl_09),
	KUNIT_CASE(notice_is_repeated_tmr_13),
	KUNIT_CASE(retry_after_a_useless_acceptance_tmr_12_err_45),
	KUNIT_CASE(random_order_on_a_good_wire),
	KUNIT_CASE(random_breaks),
	KUNIT_CASE(random_breaks_and_failures),
	KUNIT_CASE(random_everything),
	KUNIT_CASE(continuation_before_the_answer_err_29_err_47),
	KUNIT_CASE(random_deployed_client),
	KUNIT_CASE(random_deployed_server),
	KUNIT_CASE(random_old_peer_sl_11_err_44),
	KUNIT_CASE(random_nonsense_llc_11_err_54),
	{}
};

static struct kunit_suite llc_group_suite = {
	.name = "smc_llc_group",
	.test_cases = llc_group_cases,
};

kunit_test_suite(llc_group_suite);
