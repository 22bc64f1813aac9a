// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC machine with the parameters that version 2 agrees on in advance, and with the
 * messages that only version 2 has.
 */
#include "smc_kunit.h"

#include "../../../net/smc/proto/smc_clc_nego.h"
#include "../../../net/smc/proto/smc_llc_flow.h"

struct v2_llc {
	struct smc_llc_flow flow;
	struct smc_llc_actions out;
	struct smc_llc_event ev;
};

static const struct smc_llc_start v2_start = {
	.local = { .mac = { 2, 0, 0, 0, 0, 1 }, .gid = { 1 }, .qpn = 0x11, .mtu = 5 },
	.peer = { .mac = { 2, 0, 0, 0, 0, 2 }, .gid = { 2 }, .qpn = 0x12, .mtu = 5 },
};

static void v2_feed(struct v2_llc *llc, enum smc_llc_event_type type)
{
	llc->ev.type = type;
	smc_llc_flow_event(&llc->flow, &llc->ev, 1000, &llc->out);
	memset(&llc->ev, 0, sizeof(llc->ev));
}

/* The first action of a type, or NULL. */
static const struct smc_llc_action *v2_action(const struct v2_llc *llc,
					      enum smc_llc_action_type type)
{
	unsigned int i;

	for (i = 0; i < llc->out.nr; i++)
		if (llc->out.act[i].type == type)
			return &llc->out.act[i];
	return NULL;
}

/* The message of this type that the machine sends now; the test fails without one. */
static const struct smc_llc_msg *v2_sent(struct kunit *test, struct v2_llc *llc, u8 type)
{
	const struct smc_llc_action *act = v2_action(llc, SMC_LLC_ACT_SEND);

	KUNIT_ASSERT_NOT_NULL(test, act);
	KUNIT_ASSERT_EQ(test, act->msg.type, type);
	return &act->msg;
}

static struct smc_llc_msg *v2_msg(struct v2_llc *llc, u8 type, bool is_reply)
{
	llc->ev.msg.type = type;
	llc->ev.msg.is_reply = is_reply;
	return &llc->ev.msg;
}

static void v2_confirm_link(struct v2_llc *llc, bool is_reply, u8 num, bool no_eye_catcher)
{
	struct smc_llc_confirm_link *cl;

	cl = &v2_msg(llc, SMC_LLC_CONFIRM_LINK, is_reply)->confirm_link;
	cl->end = v2_start.peer;
	cl->end.psn = 0;
	cl->end.mtu = 0;
	cl->link_num = num;
	cl->max_links = 2;
	cl->max_conns = 100;
	cl->no_eye_catcher = no_eye_catcher;
	v2_feed(llc, SMC_LLC_EV_MSG);
}

static struct v2_llc *v2_begin(struct kunit *test, bool is_server, bool is_fixed)
{
	struct smc_llc_params params = {
		.is_server = is_server, .wants_deployed = true,
		.dialect_is_fixed = is_fixed, .max_links_is_fixed = is_fixed,
		.max_links = is_fixed ? 1 : 2,
		.max_conns = is_fixed ? 100 : 0,
		.timers = { .confirm_link = 8000, .first_reply = 8000, .add_link = 8000,
			    .add_link_deployed = 2000, .reply = 4000, .terminate = 2000 },
	};
	struct v2_llc *llc = kunit_kzalloc(test, sizeof(*llc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, llc);
	smc_llc_flow_init(&llc->flow, &params);
	llc->ev.start = v2_start;
	v2_feed(llc, SMC_LLC_EV_START);
	return llc;
}

static struct v2_llc *v2_server_up(struct kunit *test)
{
	struct v2_llc *llc = v2_begin(test, true, true);
	u8 num;

	llc->ev.ok = true;
	v2_feed(llc, SMC_LLC_EV_LINK_PREPARED);
	num = v2_sent(test, llc, SMC_LLC_CONFIRM_LINK)->confirm_link.link_num;
	v2_confirm_link(llc, true, num, true);
	KUNIT_ASSERT_NOT_NULL(test, v2_action(llc, SMC_LLC_ACT_GROUP_UP));
	return llc;
}

/* protocol.md: where one link was agreed on no side waits for another */
static void fc_12_server_of_one_link_offers_none(struct kunit *test)
{
	struct v2_llc *llc = v2_begin(test, true, true);
	const struct smc_llc_msg *msg;

	llc->ev.ok = true;
	v2_feed(llc, SMC_LLC_EV_LINK_PREPARED);
	msg = v2_sent(test, llc, SMC_LLC_CONFIRM_LINK);
	KUNIT_EXPECT_EQ(test, msg->confirm_link.max_links, 1);
	KUNIT_EXPECT_EQ(test, msg->confirm_link.max_conns, 100);
	KUNIT_EXPECT_TRUE(test, msg->confirm_link.no_eye_catcher);
	v2_confirm_link(llc, true, msg->confirm_link.link_num, true);
	KUNIT_EXPECT_NULL(test, v2_action(llc, SMC_LLC_ACT_SEND));
	KUNIT_EXPECT_NOT_NULL(test, v2_action(llc, SMC_LLC_ACT_GROUP_UP));
	KUNIT_EXPECT_EQ(test, llc->flow.dialect, SMC_DIALECT_DEPLOYED);
}

static void fc_12_client_of_one_link_waits_for_none(struct kunit *test)
{
	struct v2_llc *llc = v2_begin(test, false, true);
	const struct smc_llc_action *act;

	v2_confirm_link(llc, false, 1, true);
	llc->ev.ok = true;
	v2_feed(llc, SMC_LLC_EV_LINK_PREPARED);
	KUNIT_EXPECT_EQ(test, v2_sent(test, llc, SMC_LLC_CONFIRM_LINK)->confirm_link.max_conns,
			100);
	act = v2_action(llc, SMC_LLC_ACT_SEND);
	llc->ev.ok = true;
	llc->ev.cookie = act->cookie;
	v2_feed(llc, SMC_LLC_EV_SENT);
	KUNIT_EXPECT_NOT_NULL(test, v2_action(llc, SMC_LLC_ACT_GROUP_UP));
}

/* protocol.md: there is no version 2 with eye catchers */
static void ec_01_other_dialect_is_declined(struct kunit *test)
{
	struct v2_llc *llc = v2_begin(test, true, true);
	const struct smc_llc_action *act;
	u8 num;

	llc->ev.ok = true;
	v2_feed(llc, SMC_LLC_EV_LINK_PREPARED);
	num = v2_sent(test, llc, SMC_LLC_CONFIRM_LINK)->confirm_link.link_num;
	v2_confirm_link(llc, true, num, false);
	act = v2_action(llc, SMC_LLC_ACT_GROUP_FAILED);
	KUNIT_ASSERT_NOT_NULL(test, act);
	KUNIT_EXPECT_EQ(test, act->fail, SMC_LLC_FAIL_DECLINE);
	KUNIT_EXPECT_EQ(test, act->diagnosis, SMC_DECLINE_RMBE_EC);

	llc = v2_begin(test, false, true);
	v2_confirm_link(llc, false, 1, false);
	act = v2_action(llc, SMC_LLC_ACT_GROUP_FAILED);
	KUNIT_ASSERT_NOT_NULL(test, act);
	KUNIT_EXPECT_EQ(test, act->diagnosis, SMC_DECLINE_RMBE_EC);
}

static void maxl_02_version_1_and_2_0_tell_no_connections(struct kunit *test)
{
	struct v2_llc *llc = v2_begin(test, true, false);

	llc->ev.ok = true;
	v2_feed(llc, SMC_LLC_EV_LINK_PREPARED);
	KUNIT_EXPECT_EQ(test, v2_sent(test, llc, SMC_LLC_CONFIRM_LINK)->confirm_link.max_conns, 0);
}

static void addl_06_req_add_link_is_answered(struct kunit *test)
{
	struct v2_llc *llc = v2_server_up(test);

	v2_msg(llc, SMC_LLC_REQ_ADD_LINK, false);
	v2_feed(llc, SMC_LLC_EV_MSG);
	KUNIT_EXPECT_TRUE(test, v2_sent(test, llc, SMC_LLC_REQ_ADD_LINK)->is_reply);
	KUNIT_EXPECT_NULL(test, v2_action(llc, SMC_LLC_ACT_LINK_DOWN));
	/* a reply without a request */
	v2_msg(llc, SMC_LLC_REQ_ADD_LINK, true);
	v2_feed(llc, SMC_LLC_EV_MSG);
	KUNIT_EXPECT_NOT_NULL(test, v2_action(llc, SMC_LLC_ACT_LINK_DOWN));
}

static void v2_delete_rkey(struct kunit *test, struct v2_llc *llc)
{
	llc->ev.rkey.is_delete = true;
	llc->ev.rkey.count = 1;
	llc->ev.rkey.rtoken[0].rkey = 0x61e;
	v2_feed(llc, SMC_LLC_EV_REQ_RKEY);
	v2_sent(test, llc, SMC_LLC_DELETE_RKEY);
}

/* protocol.md: the reply of version 2 carries no keys */
static void rkey_16_nameless_reply_is_the_reply(struct kunit *test)
{
	struct v2_llc *llc = v2_server_up(test);
	const struct smc_llc_action *act;

	v2_delete_rkey(test, llc);
	v2_msg(llc, SMC_LLC_DELETE_RKEY, true)->delete_rkey.count = 1;
	llc->ev.msg.delete_rkey.is_nameless = true;
	v2_feed(llc, SMC_LLC_EV_MSG);
	act = v2_action(llc, SMC_LLC_ACT_RKEY_DONE);
	KUNIT_ASSERT_NOT_NULL(test, act);
	KUNIT_EXPECT_EQ(test, act->result, 0);
}

static void rkey_16_reply_of_other_keys_is_none(struct kunit *test)
{
	struct v2_llc *llc = v2_server_up(test);

	v2_delete_rkey(test, llc);
	v2_msg(llc, SMC_LLC_DELETE_RKEY, true)->delete_rkey.count = 1;
	v2_feed(llc, SMC_LLC_EV_MSG);
	KUNIT_EXPECT_NOT_NULL(test, v2_action(llc, SMC_LLC_ACT_LINK_DOWN));

	llc = v2_server_up(test);
	v2_delete_rkey(test, llc);
	v2_msg(llc, SMC_LLC_DELETE_RKEY, true)->delete_rkey.count = 2;
	llc->ev.msg.delete_rkey.is_nameless = true;
	v2_feed(llc, SMC_LLC_EV_MSG);
	KUNIT_EXPECT_NOT_NULL(test, v2_action(llc, SMC_LLC_ACT_LINK_DOWN));
}

static struct kunit_case smc_llc_v2_cases[] = {
	KUNIT_CASE(fc_12_server_of_one_link_offers_none),
	KUNIT_CASE(fc_12_client_of_one_link_waits_for_none),
	KUNIT_CASE(ec_01_other_dialect_is_declined),
	KUNIT_CASE(maxl_02_version_1_and_2_0_tell_no_connections),
	KUNIT_CASE(addl_06_req_add_link_is_answered),
	KUNIT_CASE(rkey_16_nameless_reply_is_the_reply),
	KUNIT_CASE(rkey_16_reply_of_other_keys_is_none),
	{}
};

static struct kunit_suite smc_llc_v2_suite = {
	.name = "smc_llc_v2",
	.test_cases = smc_llc_v2_cases,
};

kunit_test_suite(smc_llc_v2_suite);
