// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC machine in a lab: a server, a client, a wire that can cut, delay and alter messages,
 * and a clock that the case moves.
 *
 * Messages cross the wire as bytes. Each side encodes and decodes in its own dialect, so a
 * disagreement shows. The test can also play one side: messages to that side stay in its
 * queue, where the case reads them.
 */
#include "smc_kunit.h"
#include <linux/prandom.h>

#include "../../../net/smc/proto/smc_llc_flow.c"

enum { SERVER, CLIENT };

#define LAB_QUEUE	64
#define LAB_LINK_UID	0x4700

struct lab_msg {
	u8 link;
	u64 cookie;
	struct smc_llc_msg msg;
	u8 bytes[SMC_LLC_LEN];
};

/* One side: its machine, its messages and its results. */
struct lab_side {
	struct smc_llc_flow flow;
	struct smc_llc_actions acts;
	struct smc_llc_end end;

	/* Results of actions, to be returned to the machine. */
	struct smc_llc_event todo[LAB_QUEUE];
	unsigned int nr_todo;
	/* Messages in flight to the other side. */
	struct lab_msg out[LAB_QUEUE];
	unsigned int nr_out;

	/* The actions that fail. */
	bool prepare_fails;
	bool spare_fails;
	unsigned int not_created;	/* bit map of links for which it failed */
	bool store_fails;
	bool keeps_results;
	u8 unknown_keys;
	u8 fails_to_send;	/* message type, 0 for none */

	/* The results. */
	unsigned int nr_up;
	unsigned int nr_failed;
	unsigned int nr_terminated;
	unsigned int nr_down;
	unsigned int nr_commits;
	unsigned int nr_created;
	unsigned int nr_dropped;
	unsigned int nr_stored;
	unsigned int nr_deleted;
	unsigned int nr_rkey_done;
	unsigned int nr_round_trips;
	unsigned int nr_declined_late;
	enum smc_llc_fail fail;
	enum smc_llc_why why;
	enum smc_llc_why down_why;
	enum smc_dialect dialect;
	u8 ext;
	u32 diagnosis;
	int rkey_result;
	u64 rkey_cookie;
	u32 stored_rkey;
};

struct lab {
	struct kunit *test;
	struct lab_side side[2];
	bool is_played[2];	/* by the test */
	bool loses[2];		/* messages sent by that side vanish */
	bool tcp_decline[2];	/* that side sent Decline */
	u64 last_rx[2];		/* when that side received anything */
	u64 now;
};

/* Any distinct values will do; the real ones are settings. */
static struct smc_llc_timers lab_timers(void)
{
	return (struct smc_llc_timers) {
		.confirm_link		= 10000,
		.first_reply		= 11000,
		.add_link		= 12000,
		.add_link_deployed	= 2000,
		.reply			= 5000,
		.delete_link		= 9000,
		.terminate		= 3000,
		.test_link		= 4000,
		.rkey_retry		= 100,
		.add_link_retry		= 0,
	};
}

static void lab_end(struct smc_llc_end *end, u8 id, u32 qpn)
{
	memset(end, 0, sizeof(*end));
	end->mac[0] = 0x02;
	end->mac[5] = id;
	end->gid[0] = 0xfe;
	end->gid[15] = id;
	end->qpn = qpn;
	end->psn = 0x1000 + qpn;
	end->mtu = SMC_MTU_4096;
}

static struct smc_llc_params lab_params(bool is_server, bool wants_deployed)
{
	struct smc_llc_params params = {
		.is_server = is_server,
		.wants_deployed = wants_deployed,
		.max_links = 2,
		.link_uid_base = LAB_LINK_UID,
		.test_link_idle_ms = 30000,
		.test_link_tries = 3,
		.timers = lab_timers(),
	};

	return params;
}

static struct lab *lab_new(struct kunit *test, bool server_deployed, bool client_deployed)
{
	struct lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	struct smc_llc_params params;

	KUNIT_ASSERT_NOT_NULL(test, lab);
	lab->test = test;
	lab->now = 1000000;
	params = lab_params(true, server_deployed);
	smc_llc_flow_init(&lab->side[SERVER].flow, &params);
	lab_end(&lab->side[SERVER].end, 1, 0x11);
	params = lab_params(false, client_deployed);
	smc_llc_flow_init(&lab->side[CLIENT].flow, &params);
	lab_end(&lab->side[CLIENT].end, 2, 0x22);
	return lab;
}

static void lab_result(struct lab_side *side, enum smc_llc_event_type type, u8 link, bool ok)
{
	struct smc_llc_event *ev = &side->todo[side->nr_todo++];

	memset(ev, 0, sizeof(*ev));
	ev->type = type;
	ev->link = link;
	ev->ok = ok;
}

static void lab_send(struct lab *lab, int who, const struct smc_llc_action *act)
{
	struct lab_side *side = &lab->side[who];
	struct lab_msg *out = &side->out[side->nr_out];
	bool ok = side->fails_to_send != act->msg.type;

	KUNIT_ASSERT_LT(lab->test, side->nr_out, LAB_QUEUE);
	KUNIT_ASSERT_LT(lab->test, side->nr_todo, LAB_QUEUE);
	if (ok && !lab->loses[who]) {
		out->link = act->link;
		out->cookie = act->cookie;
		out->msg = act->msg;
		KUNIT_ASSERT_EQ(lab->test, smc_llc_encode(&act->msg, side->flow.dialect,
							  out->bytes, SMC_LLC_LEN), SMC_LLC_LEN);
		side->nr_out++;
	}
	lab_result(side, SMC_LLC_EV_SENT, act->link, ok);
	side->todo[side->nr_todo - 1].cookie = act->cookie;
}

static void lab_perform(struct lab *lab, int who, const struct smc_llc_action *act)
{
	struct lab_side *side = &lab->side[who];

	switch (act->type) {
	case SMC_LLC_ACT_SEND:
		lab_send(lab, who, act);
		break;
	case SMC_LLC_ACT_COMMIT_DIALECT:
		side->nr_commits++;
		side->dialect = act->dialect;
		side->ext = act->ext;
		break;
	case SMC_LLC_ACT_PREPARE_LINK:
		lab_result(side, SMC_LLC_EV_LINK_PREPARED, act->link, !side->prepare_fails);
		break;
	case SMC_LLC_ACT_CREATE_LINK:
		lab_result(side, SMC_LLC_EV_LINK_CREATED, act->link, !side->spare_fails);
		side->todo[side->nr_todo - 1].created.end = side->end;
		side->todo[side->nr_todo - 1].created.end.qpn = 0x99;
		side->nr_created += !side->spare_fails;
		side->not_created |= side->spare_fails ? BIT(act->link) : 0;
		break;
	case SMC_LLC_ACT_DESTROY_LINK:
		side->nr_dropped += !(side->not_created & BIT(act->link));
		side->not_created &= ~BIT(act->link);
		lab_result(side, SMC_LLC_EV_LINK_DESTROYED, act->link, true);
		break;
	case SMC_LLC_ACT_GROUP_UP:
		side->nr_up++;
		break;
	case SMC_LLC_ACT_GROUP_FAILED:
		side->nr_failed++;
		side->fail = act->fail;
		side->why = act->why;
		side->diagnosis = act->diagnosis;
		lab->tcp_decline[who] = act->fail == SMC_LLC_FAIL_DECLINE;
		break;
	case SMC_LLC_ACT_STORE_RTOKEN:
		side->nr_stored += !side->store_fails;
		side->stored_rkey = act->rkeys->rtoken[0].rkey;
		lab_result(side, SMC_LLC_EV_RTOKEN_STORED, act->link, !side->store_fails);
		break;
	case SMC_LLC_ACT_DELETE_RTOKENS:
		side->nr_deleted++;
		lab_result(side, SMC_LLC_EV_RTOKENS_DELETED, act->link, true);
		side->todo[side->nr_todo - 1].error_mask = side->unknown_keys;
		break;
	case SMC_LLC_ACT_RKEY_DONE:
		side->nr_rkey_done++;
		side->rkey_result = act->result;
		side->rkey_cookie = act->cookie;
		break;
	case SMC_LLC_ACT_STORE_PAIRS:
		lab_result(side, SMC_LLC_EV_PAIRS_STORED, act->target, true);
		break;
	case SMC_LLC_ACT_ROUND_TRIP:
		side->nr_round_trips++;
		break;
	case SMC_LLC_ACT_LINK_UP:
	case SMC_LLC_ACT_LINK_CLEAR:
	case SMC_LLC_ACT_STALE:
	case SMC_LLC_ACT_KEEP_PAIRS:
	case SMC_LLC_ACT_KEEP_RKEYS:
		break;
	case SMC_LLC_ACT_LINK_DOWN:
		side->nr_down++;
		side->why = act->why;
		side->down_why = act->why;
		break;
	case SMC_LLC_ACT_TERMINATE:
		side->nr_terminated++;
		side->why = act->why;
		break;
	}
}

static void lab_feed(struct lab *lab, int who, const struct smc_llc_event *ev)
{
	struct lab_side *side = &lab->side[who];
	unsigned int i;

	smc_llc_flow_event(&side->flow, ev, lab->now, &side->acts);
	KUNIT_ASSERT_LT(lab->test, side->acts.nr, SMC_LLC_ACTIONS);
	for (i = 0; i < side->acts.nr; i++)
		lab_perform(lab, who, &side->acts.act[i]);
}

static void lab_event(struct lab *lab, int who, enum smc_llc_event_type type)
{
	struct smc_llc_event ev = { .type = type };

	lab_feed(lab, who, &ev);
}

/* Another link is wanted, as after a retry timer, and an event arrives. */
static void lab_want_link(struct lab *lab, int who)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_SENT, .ok = true };

	if (lab->side[who].flow.phase == SMC_LLC_UP)
		smc_llc_want_link(&lab->side[who].flow);
	lab_feed(lab, who, &ev);
}

/* The RNIC of the side is on the LAN of the group. */
static void lab_tell_rnic(struct lab *lab, int who)
{
	const struct smc_llc_end *end = &lab->side[who].end;
	struct smc_llc_event ev = { .type = SMC_LLC_EV_RNICS };

	ev.rnics.count = 1;
	memcpy(ev.rnics.rnic[0].mac, end->mac, sizeof(end->mac));
	memcpy(ev.rnics.rnic[0].gid, end->gid, sizeof(end->gid));
	lab_feed(lab, who, &ev);
}

/* Return the oldest result to the machine. */
static bool lab_work(struct lab *lab, int who)
{
	struct lab_side *side = &lab->side[who];
	struct smc_llc_event ev;

	if (!side->nr_todo || side->keeps_results)
		return false;
	ev = side->todo[0];
	side->nr_todo--;
	memmove(side->todo, side->todo + 1, side->nr_todo * sizeof(ev));
	lab_feed(lab, who, &ev);
	return true;
}

static bool lab_take(struct lab_side *side, struct lab_msg *msg)
{
	if (!side->nr_out)
		return false;
	*msg = side->out[0];
	side->nr_out--;
	memmove(side->out, side->out + 1, side->nr_out * sizeof(*msg));
	return true;
}

/* Deliver the oldest message of @from. */
static bool lab_deliver(struct lab *lab, int from)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	struct lab_msg msg;

	if (lab->is_played[!from] || !lab_take(&lab->side[from], &msg))
		return false;
	ev.link = msg.link;
	lab->last_rx[!from] = lab->now;
	KUNIT_ASSERT_EQ(lab->test, smc_llc_decode(msg.bytes, SMC_LLC_LEN,
						  lab->side[!from].flow.dialect, &ev.msg),
			SMC_LLC_OK);
	lab_feed(lab, !from, &ev);
	return true;
}

/* Run until no step is possible without the clock. */
static void lab_pump(struct lab *lab)
{
	bool moved;

	do {
		moved = lab_work(lab, SERVER);
		moved |= lab_work(lab, CLIENT);
		moved |= lab_deliver(lab, SERVER);
		moved |= lab_deliver(lab, CLIENT);
	} while (moved);
}

static void lab_tick(struct lab *lab, int who, u64 last_rx)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_TIMER };

	ev.timer.last_rx = last_rx;
	memset(ev.timer.user_data, 0x5a, sizeof(ev.timer.user_data));
	lab_feed(lab, who, &ev);
}

/* Let time pass. */
static void lab_wait(struct lab *lab, u64 ms)
{
	u64 until = lab->now + ms;
	u64 due[2];
	int who;

	for (;;) {
		for (who = SERVER; who <= CLIENT; who++)
			due[who] = lab->is_played[who] ? SMC_LLC_NO_DEADLINE :
				   smc_llc_flow_deadline(&lab->side[who].flow);
		who = due[CLIENT] < due[SERVER] ? CLIENT : SERVER;
		if (due[who] > until)
			break;
		lab->now = max(lab->now, due[who]);
		lab_tick(lab, who, lab->last_rx[who]);
		KUNIT_ASSERT_GT(lab->test, smc_llc_flow_deadline(&lab->side[who].flow), lab->now);
		lab_pump(lab);
	}
	lab->now = until;
}

static void lab_start_side(struct lab *lab, int who)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_START };

	ev.start.local = lab->side[who].end;
	ev.start.peer = lab->side[!who].end;
	lab_feed(lab, who, &ev);
}

static void lab_start(struct lab *lab)
{
	lab_start_side(lab, CLIENT);
	lab_start_side(lab, SERVER);
}

/* Two sides, both up. */
static struct lab *lab_up(struct kunit *test, bool is_deployed)
{
	struct lab *lab = lab_new(test, is_deployed, is_deployed);

	lab_start(lab);
	lab_pump(lab);
	KUNIT_ASSERT_EQ(test, lab->side[SERVER].nr_up, 1);
	KUNIT_ASSERT_EQ(test, lab->side[CLIENT].nr_up, 1);
	return lab;
}

/* One side is up; the test plays the other one from now on. */
static struct lab *lab_up_facing(struct kunit *test, int who, bool is_deployed)
{
	struct lab *lab = lab_up(test, is_deployed);

	lab->is_played[!who] = true;
	return lab;
}

/* A message of the side that the test plays. */
static void lab_say(struct lab *lab, int to, const struct smc_llc_msg *msg)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG, .msg = *msg };

	lab->last_rx[to] = lab->now;
	lab_feed(lab, to, &ev);
	lab_pump(lab);
}

/* The next message to the side that the test plays. */
static struct smc_llc_msg lab_hear(struct lab *lab, int from, u8 type, bool is_reply)
{
	struct lab_msg msg = {};

	KUNIT_ASSERT_TRUE(lab->test, lab_take(&lab->side[from], &msg));
	KUNIT_EXPECT_EQ(lab->test, msg.msg.type, type);
	KUNIT_EXPECT_EQ(lab->test, msg.msg.is_reply, is_reply);
	return msg.msg;
}

static void lab_expect_silence(struct lab *lab, int from)
{
	KUNIT_EXPECT_EQ(lab->test, lab->side[from].nr_out, 0);
}

/* The group is gone, and no event is pending. */
static void lab_expect_dead(struct lab *lab, int who)
{
	struct lab_side *side = &lab->side[who];

	KUNIT_EXPECT_EQ(lab->test, side->flow.phase, SMC_LLC_DEAD);
	KUNIT_EXPECT_EQ(lab->test, side->nr_created, side->nr_dropped);
	KUNIT_EXPECT_EQ(lab->test, smc_llc_flow_deadline(&side->flow), SMC_LLC_NO_DEADLINE);
	KUNIT_EXPECT_EQ(lab->test, side->flow.commitment, SMC_LLC_COMMIT_FINAL);
	KUNIT_EXPECT_EQ(lab->test, side->flow.remote.state, SMC_LLC_REMOTE_NONE);
}

static void lab_expect_failed(struct lab *lab, int who, enum smc_llc_fail fail,
			      enum smc_llc_why why)
{
	KUNIT_EXPECT_EQ(lab->test, lab->side[who].nr_failed, 1);
	KUNIT_EXPECT_EQ(lab->test, lab->side[who].nr_up, 0);
	KUNIT_EXPECT_EQ(lab->test, lab->side[who].fail, fail);
	KUNIT_EXPECT_EQ(lab->test, lab->side[who].why, why);
	KUNIT_EXPECT_EQ(lab->test, !lab->side[who].diagnosis, fail != SMC_LLC_FAIL_DECLINE);
	lab_expect_dead(lab, who);
}

static void lab_expect_terminated(struct lab *lab, int who, enum smc_llc_why why)
{
	KUNIT_EXPECT_EQ(lab->test, lab->side[who].nr_terminated, 1);
	KUNIT_EXPECT_EQ(lab->test, lab->side[who].why, why);
	/* the log names the reason for the link as well */
	if (lab->side[who].nr_down)
		KUNIT_EXPECT_NE(lab->test, lab->side[who].down_why, SMC_LLC_WHY_NONE);
	lab_expect_dead(lab, who);
}

static void lab_expect_alive(struct lab *lab, int who)
{
	KUNIT_EXPECT_EQ(lab->test, lab->side[who].flow.phase, SMC_LLC_UP);
	KUNIT_EXPECT_EQ(lab->test, lab->side[who].nr_down, 0);
	KUNIT_EXPECT_EQ(lab->test, lab->side[who].nr_terminated, 0);
}

static void lab_rkey(struct lab *lab, int who, bool is_delete, u32 rkey, u64 cookie)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_RKEY, .cookie = cookie };
	u8 i;

	memset(&ev.rkey, 0, sizeof(ev.rkey));
	ev.rkey.is_delete = is_delete;
	ev.rkey.rtoken[0].rkey = rkey;
	ev.rkey.rtoken[0].vaddr = 0x100000;
	ev.rkey.count = 1;
	for (i = 1; i < SMC_LLC_LINKS && !is_delete; i++) {
		if (!smc_llc_is_in_use(&lab->side[who].flow.link[i]))
			continue;
		ev.rkey.rtoken[ev.rkey.count].link_num = i;
		ev.rkey.rtoken[ev.rkey.count].rkey = rkey + i;
		ev.rkey.count++;
	}
	lab_feed(lab, who, &ev);
}

/* Add a link, as after its exchange. */
static void lab_more_links(struct lab *lab, int who, u8 index, u8 num)
{
	struct smc_llc_link *lnk = &lab->side[who].flow.link[index];

	*lnk = lab->side[who].flow.link[0];
	lnk->num = num;
	lnk->age = index;
	lnk->local.mac[5] += 16 * index;
	lnk->peer.mac[5] += 16 * index;
}

static void lab_terminate(struct lab *lab, int who)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_TERMINATE };

	ev.terminate.reason = SMC_LLC_DELETE_PROGRAM;
	ev.terminate.is_orderly = true;
	lab_feed(lab, who, &ev);
}

/* Messages of the side that the test plays. */
static struct smc_llc_msg say_confirm_link(struct lab *lab, int from, u8 link_num)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_LINK, .is_reply = from == CLIENT };

	msg.confirm_link.end = lab->side[from].end;
	msg.confirm_link.link_num = link_num;
	msg.confirm_link.max_links = 2;
	msg.confirm_link.no_eye_catcher = lab->side[from].flow.params.wants_deployed;
	return msg;
}

static struct smc_llc_msg say_add_link(u8 id, u8 link_num, u8 mtu, bool is_reply)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK, .is_reply = is_reply };

	lab_end(&msg.add_link.end, id, 0x77);
	msg.add_link.end.mtu = mtu;
	msg.add_link.link_num = link_num;
	return msg;
}

static struct smc_llc_msg say_reject(u8 link_num)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK, .is_reply = true };

	msg.add_link.link_num = link_num;
	msg.add_link.is_rejected = true;
	msg.add_link.reason = SMC_LLC_ADD_LINK_NO_PATH;
	return msg;
}

static struct smc_llc_msg say_delete(u8 link_num, bool is_all, bool is_reply)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_LINK, .is_reply = is_reply };

	msg.delete_link.link_num = link_num;
	msg.delete_link.is_all = is_all;
	msg.delete_link.is_orderly = true;
	msg.delete_link.reason = SMC_LLC_DELETE_OPERATOR;
	return msg;
}

static struct smc_llc_msg say_confirm_rkey(u32 rkey, u8 nr_other, bool is_reply)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_RKEY, .is_reply = is_reply };
	u8 i;

	msg.confirm_rkey.here.rkey = rkey;
	msg.confirm_rkey.here.vaddr = 0x100000;
	msg.confirm_rkey.nr_rtokens = nr_other;
	for (i = 0; i < nr_other && i < SMC_LLC_RKEY_SPECS; i++)
		msg.confirm_rkey.other[i].link_num = 200 + i;
	return msg;
}

static struct smc_llc_msg say_delete_rkey(u32 rkey, bool is_reply)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_RKEY, .is_reply = is_reply };

	msg.delete_rkey.count = 1;
	msg.delete_rkey.rkey[0] = rkey;
	return msg;
}

static struct smc_llc_msg say_test_link(u8 byte, bool is_reply)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_TEST_LINK, .is_reply = is_reply };

	memset(msg.test_link.user_data, byte, sizeof(msg.test_link.user_data));
	return msg;
}

/* A server that has sent CONFIRM LINK to the test. */
static struct lab *lab_server_waits_confirm(struct kunit *test, bool is_deployed)
{
	struct lab *lab = lab_new(test, is_deployed, is_deployed);

	lab->is_played[CLIENT] = true;
	lab_start_side(lab, SERVER);
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_CONFIRM_LINK, false);
	return lab;
}

/* A server that has sent ADD LINK to the test. */
static struct lab *lab_server_waits_add(struct kunit *test, bool is_deployed)
{
	struct lab *lab = lab_server_waits_confirm(test, is_deployed);
	struct smc_llc_msg msg = say_confirm_link(lab, CLIENT, 1);

	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	KUNIT_EXPECT_EQ(test, msg.add_link.link_num, 2);
	KUNIT_EXPECT_EQ(test, msg.add_link.end.qpn, 0x99);
	KUNIT_EXPECT_MEMEQ(test, msg.add_link.end.gid, lab->side[SERVER].end.gid, SMC_GID_LEN);
	return lab;
}

/* A client that waits for CONFIRM LINK from the test. */
static struct lab *lab_client_waits_confirm(struct kunit *test, bool is_deployed)
{
	struct lab *lab = lab_new(test, is_deployed, is_deployed);

	lab->is_played[SERVER] = true;
	lab_start_side(lab, CLIENT);
	return lab;
}

/* A client that waits for ADD LINK from the test. */
static struct lab *lab_client_waits_add(struct kunit *test, bool is_deployed)
{
	struct lab *lab = lab_client_waits_confirm(test, is_deployed);
	struct smc_llc_msg msg = say_confirm_link(lab, SERVER, 1);

	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_LINK, true);
	return lab;
}

/* A server that is up and in an ADD LINK exchange with the test. */
static struct lab *lab_up_server_adding(struct kunit *test, bool is_deployed)
{
	struct lab *lab = lab_up_facing(test, SERVER, is_deployed);

	lab_want_link(lab, SERVER);
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	return lab;
}

/* The same, but the client accepted and the server withdraws the offer. */
static struct lab *lab_up_server_deleting(struct kunit *test, bool is_deployed)
{
	struct lab *lab = lab_up_server_adding(test, is_deployed);
	struct smc_llc_msg msg = say_add_link(7, 3, SMC_MTU_1024, true);

	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 3);
	return lab;
}

/* A client has accepted the offer of link @num, index 1, and waits for ADD LINK CONTINUATION. */
static void lab_accept(struct lab *lab, u8 num)
{
	struct smc_llc_msg msg = say_add_link(7, num, SMC_MTU_1024, false);

	lab_tell_rnic(lab, CLIENT);
	lab->side[CLIENT].nr_out = 0;
	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	KUNIT_ASSERT_EQ(lab->test, lab->side[CLIENT].flow.config, SMC_LLC_CONFIG_ADD_CONT);
}

/* The next message for the link that the test offers as number @num, index 1. */
static void lab_say_on_offered(struct lab *lab, u8 type, u8 num, u8 nr_rtokens)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG, .link = 1 };
	struct smc_llc_msg cont = { .type = SMC_LLC_ADD_LINK_CONT };

	ev.msg = say_confirm_link(lab, SERVER, num);
	ev.msg.confirm_link.end = say_add_link(7, num, SMC_MTU_1024, false).add_link.end;
	cont.add_link_cont.link_num = num;
	cont.add_link_cont.nr_rtokens = nr_rtokens;
	if (type == SMC_LLC_CONFIRM_LINK)
		lab_feed(lab, CLIENT, &ev);
	else
		lab_say(lab, CLIENT, &cont);
}

static const struct dialect_param {
	const char *name;
	bool server;
	bool client;
	enum smc_dialect result;
} dialect_params[] = {
	{ "both would speak deployed: deployed", true, true, SMC_DIALECT_DEPLOYED },
	{ "only the server would: RFC", true, false, SMC_DIALECT_RFC },
	{ "only the client would: RFC", false, true, SMC_DIALECT_RFC },
	{ "neither would: RFC", false, false, SMC_DIALECT_RFC },
};

static void dialect_name(const struct dialect_param *param, char *desc)
{
	strscpy(desc, param->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(dialect, dialect_params, dialect_name);

/* First contact from Confirm to data, both sides. */
static void first_contact_fc_10_fc_11_sl_01_sl_02_sl_12(struct kunit *test)
{
	const struct dialect_param *param = test->param_value;
	struct lab *lab = lab_new(test, param->server, param->client);
	int who;

	lab_start(lab);
	lab_pump(lab);
	for (who = SERVER; who <= CLIENT; who++) {
		struct lab_side *side = &lab->side[who];

		KUNIT_EXPECT_EQ(test, side->nr_up, 1);
		KUNIT_EXPECT_EQ(test, side->nr_failed, 0);
		KUNIT_EXPECT_EQ(test, side->nr_commits, 1);
		KUNIT_EXPECT_EQ(test, side->dialect, param->result);
		KUNIT_EXPECT_EQ(test, side->flow.phase, SMC_LLC_UP);
		KUNIT_EXPECT_EQ(test, side->flow.max_links, 2);
		KUNIT_EXPECT_EQ(test, side->flow.link[0].num, 1);
		KUNIT_EXPECT_EQ(test, side->flow.link[0].local_uid, LAB_LINK_UID | 1);
		KUNIT_EXPECT_EQ(test, side->flow.link[0].peer_uid, LAB_LINK_UID | 1);
		KUNIT_EXPECT_EQ(test, side->flow.commitment, SMC_LLC_COMMIT_FINAL);
		KUNIT_EXPECT_EQ(test, smc_llc_nr_in(&side->flow, SMC_LLC_LINK_ACTIVE), 1);
	}
	/* A queue pair was created for the second link, and given up. */
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_created, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 1);
}

/* The dialect is settled before any message that lets the peer send. */
static void dialect_is_committed_before_the_peer_may_send(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);
	struct smc_llc_msg msg = say_confirm_link(lab, SERVER, 1);
	struct lab_side *client = &lab->side[CLIENT];
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG, .msg = msg };

	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_EQ(test, client->nr_commits, 0);
	lab_event(lab, CLIENT, SMC_LLC_EV_LINK_PREPARED);
	KUNIT_EXPECT_EQ(test, client->nr_failed, 1);

	lab = lab_client_waits_confirm(test, true);
	client = &lab->side[CLIENT];
	lab_feed(lab, CLIENT, &ev);
	lab_work(lab, CLIENT);
	KUNIT_ASSERT_EQ(test, client->acts.nr, 2);
	KUNIT_EXPECT_EQ(test, client->acts.act[0].type, SMC_LLC_ACT_COMMIT_DIALECT);
	KUNIT_EXPECT_EQ(test, client->acts.act[1].type, SMC_LLC_ACT_SEND);

	lab = lab_server_waits_confirm(test, true);
	msg = say_confirm_link(lab, CLIENT, 1);
	ev.msg = msg;
	lab_feed(lab, SERVER, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_commits, 1);
	lab_expect_silence(lab, SERVER);
}

static void flags_of_confirm_link(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);
	struct smc_llc_msg msg = say_confirm_link(lab, SERVER, 1);

	/* The client sets the flags in its answer only if the request had them. */
	msg.confirm_link.no_eye_catcher = false;
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_LINK, true);
	KUNIT_EXPECT_FALSE(test, msg.confirm_link.no_eye_catcher);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].dialect, SMC_DIALECT_RFC);
}

/* Both sides have to offer an extension. A stranger's bytes are zero. */
static void an_extension_is_agreed_on_by_both(struct kunit *test)
{
	int i, who;

	for (i = 0; i < 16; i++) {
		const u8 offers[] = { [SERVER] = i & SMC_LLC_EXT_ALL, [CLIENT] = i >> 2 };
		struct lab *lab = lab_new(test, true, true);

		for (who = SERVER; who <= CLIENT; who++)
			lab->side[who].flow.params.offers = offers[who];
		lab_start(lab);
		lab_pump(lab);
		for (who = SERVER; who <= CLIENT; who++) {
			KUNIT_EXPECT_EQ(test, lab->side[who].nr_up, 1);
			KUNIT_EXPECT_EQ(test, lab->side[who].ext, offers[SERVER] & offers[CLIENT]);
		}
	}
}

static void an_extension_needs_the_strangers_reply(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);
	struct smc_llc_msg msg = say_confirm_link(lab, SERVER, 1);

	lab->side[CLIENT].flow.params.offers = SMC_LLC_EXT_ALL;
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.ext, 0);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].ext, 0);

	lab = lab_server_waits_confirm(test, true);
	lab->side[SERVER].flow.params.offers = SMC_LLC_EXT_ALL;
	msg = say_confirm_link(lab, CLIENT, 1);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_commits, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].ext, 0);
}

static void link_number_and_uid_lid_01_lid_02_lid_04_lid_05(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, false);
	struct smc_llc_msg msg = say_confirm_link(lab, SERVER, 0xc8);

	msg.confirm_link.link_uid = 0xcafe;
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.link_num, 0xc8);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.link_uid, LAB_LINK_UID | 0xc8);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[0].peer_uid, 0xcafe);
}

static void data_is_held_back_fc_12(struct kunit *test)
{
	struct lab *lab = lab_server_waits_add(test, true);
	struct smc_llc_msg msg = say_reject(2);

	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 0);
	lab_wait(lab, 500);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 0);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 1);

	lab = lab_client_waits_add(test, true);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 0);
	msg = say_add_link(1, 2, SMC_MTU_1024, false);
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 1);
}

/* Only an acceptance has to repeat the link number. */
static void rejection_without_a_link_number_sl_12_amb_40(struct kunit *test)
{
	struct lab *lab = lab_server_waits_add(test, true);
	struct smc_llc_msg msg = say_reject(0);

	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.link[0].state, SMC_LLC_LINK_ACTIVE);

	/* it refuses the RNIC as one with a number does */
	lab = lab_up_facing(test, SERVER, true);
	lab_tell_rnic(lab, SERVER);
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.candidate[0].last, SMC_LLC_OFFER_REFUSED);
	lab_expect_alive(lab, SERVER);

	/* an acceptance needs the number */
	lab = lab_up_server_adding(test, false);
	msg = say_add_link(7, 0, SMC_MTU_1024, true);
	lab_say(lab, SERVER, &msg);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_OUT_OF_SYNC);
}

static void client_says_no_path_sl_06_sl_11(struct kunit *test)
{
	struct lab *lab = lab_client_waits_add(test, true);
	struct smc_llc_msg msg = say_add_link(1, 2, SMC_MTU_1024, false);

	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	KUNIT_EXPECT_TRUE(test, msg.add_link.is_rejected);
	KUNIT_EXPECT_EQ(test, msg.add_link.reason, SMC_LLC_ADD_LINK_NO_PATH);
	/* AMB-40 */
	KUNIT_EXPECT_EQ(test, msg.add_link.link_num, 2);
	KUNIT_EXPECT_EQ(test, msg.add_link.end.qpn, 0);
}

static void client_refuses_bad_mtu_err_44(struct kunit *test)
{
	static const u8 mtus[] = { 0, 6, 15 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mtus); i++) {
		struct lab *lab = lab_client_waits_add(test, false);
		struct smc_llc_msg msg = say_add_link(1, 2, mtus[i], false);

		lab_say(lab, CLIENT, &msg);
		msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
		KUNIT_EXPECT_TRUE(test, msg.add_link.is_rejected);
		KUNIT_EXPECT_EQ(test, msg.add_link.reason, SMC_LLC_ADD_LINK_BAD_MTU);
		KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 1);
	}
}

/* A new RNIC that hangs does not affect the working link. */
static void client_declines_what_takes_too_long_err_56(struct kunit *test)
{
	struct lab *lab = lab_client_waits_add(test, false);
	struct smc_llc_msg msg = say_add_link(7, 2, SMC_MTU_1024, false);
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;
	struct smc_llc_event ev = { .type = SMC_LLC_EV_RNICS };
	u32 reply = flow->params.timers.first_reply;
	struct smc_llc_end other;

	lab_end(&other, 5, 0);
	ev.rnics.count = 2;
	memcpy(ev.rnics.rnic[0].mac, flow->link[0].local.mac, sizeof(other.mac));
	memcpy(ev.rnics.rnic[0].gid, flow->link[0].local.gid, sizeof(other.gid));
	memcpy(ev.rnics.rnic[1].mac, other.mac, sizeof(other.mac));
	memcpy(ev.rnics.rnic[1].gid, other.gid, sizeof(other.gid));
	lab_feed(lab, CLIENT, &ev);
	lab->side[CLIENT].keeps_results = true;
	lab_say(lab, CLIENT, &msg);
	lab_wait(lab, reply / 2);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 0);
	lab_wait(lab, reply / 3);
	msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	KUNIT_EXPECT_TRUE(test, msg.add_link.is_rejected);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 1);
	/* The queue pair is ready at last, but is not needed any more. */
	lab->side[CLIENT].keeps_results = false;
	while (lab_work(lab, CLIENT))
		;
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[1].state, SMC_LLC_LINK_FREE);
	lab_expect_silence(lab, CLIENT);
	lab_expect_alive(lab, CLIENT);
}

/* Version 2.1 may agree on one link: then no side offers or awaits another. */
static void one_link_agreed_needs_no_add_link(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);
	int who;

	for (who = SERVER; who <= CLIENT; who++) {
		struct smc_llc_params params = lab_params(who == SERVER, true);

		params.max_links = 1;
		params.max_links_is_fixed = true;
		smc_llc_flow_init(&lab->side[who].flow, &params);
	}
	lab_start(lab);
	lab->side[CLIENT].keeps_results = true;
	lab_pump(lab);
	lab->side[CLIENT].keeps_results = false;
	lab_work(lab, CLIENT);
	lab_pump(lab);
	lab->side[CLIENT].keeps_results = true;
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_created, 0);
}

static void one_link_agreed_reply_not_sent_err_22(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);
	struct smc_llc_params params = lab_params(false, true);

	params.max_links = 1;
	params.max_links_is_fixed = true;
	smc_llc_flow_init(&lab->side[CLIENT].flow, &params);
	lab->side[CLIENT].fails_to_send = SMC_LLC_CONFIRM_LINK;
	lab_start(lab);
	lab_pump(lab);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_CONFIRM_LINK_SEND);
}

static void one_link_agreed_no_completion_declines_err_22(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);
	struct smc_llc_params params = lab_params(false, true);
	struct smc_llc_msg msg;

	params.max_links = 1;
	params.max_links_is_fixed = true;
	smc_llc_flow_init(&lab->side[CLIENT].flow, &params);
	lab->is_played[SERVER] = true;
	lab_start_side(lab, CLIENT);
	msg = say_confirm_link(lab, SERVER, 1);
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 1);

	/* The same without a completion of the reply. */
	smc_llc_flow_init(&lab->side[CLIENT].flow, &params);
	lab->side[CLIENT].nr_up = 0;
	lab_start_side(lab, CLIENT);
	lab_feed(lab, CLIENT, &(struct smc_llc_event) { .type = SMC_LLC_EV_MSG, .msg = msg });
	lab_work(lab, CLIENT);
	lab->side[CLIENT].keeps_results = true;
	/* the server has the reply already */
	msg = say_confirm_rkey(5, 0, false);
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_stored, 1);
	lab_wait(lab, lab_timers().first_reply);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_CONFIRM_LINK_SEND);
}

/* A peer that posts no receives acknowledges nothing: the send neither fails nor completes. */
static void no_completion_is_a_failed_send_err_19_err_21_err_22(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	struct lab *lab;
	int is_deployed;

	for (is_deployed = 0; is_deployed < 2; is_deployed++) {
		/* a client's CONFIRM LINK reply */
		lab = lab_client_waits_confirm(test, is_deployed);
		ev.msg = say_confirm_link(lab, SERVER, 1);
		lab_feed(lab, CLIENT, &ev);
		lab_work(lab, CLIENT);
		lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_LINK, true);
		lab->side[CLIENT].keeps_results = true;
		lab_wait(lab, lab_timers().add_link);
		KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 0);
		lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE,
				  SMC_LLC_WHY_CONFIRM_LINK_SEND);

		/* a server's request */
		lab = lab_new(test, is_deployed, is_deployed);
		lab->is_played[CLIENT] = true;
		lab_start_side(lab, SERVER);
		lab_work(lab, SERVER);
		lab_hear(lab, SERVER, SMC_LLC_CONFIRM_LINK, false);
		lab->side[SERVER].keeps_results = true;
		lab_wait(lab, lab_timers().first_reply);
		lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_DECLINE,
				  SMC_LLC_WHY_CONFIRM_LINK_SEND);

		/* its ADD LINK, before its point of no return */
		lab = lab_server_waits_confirm(test, is_deployed);
		ev.msg = say_confirm_link(lab, CLIENT, 1);
		lab_feed(lab, SERVER, &ev);
		lab_work(lab, SERVER);
		lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
		lab->side[SERVER].keeps_results = true;
		lab_wait(lab, lab_timers().first_reply);
		lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_ADD_LINK_SEND);
	}
}

static void client_no_confirm_link_resets_err_20_tmr_03(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);

	lab_wait(lab, lab_timers().confirm_link - 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_failed, 0);
	lab_wait(lab, 1);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_CONFIRM_LINK_TIMEOUT);
}

static void server_cannot_send_confirm_link_declines_err_21_err_09(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);

	lab->is_played[CLIENT] = true;
	lab->side[SERVER].fails_to_send = SMC_LLC_CONFIRM_LINK;
	lab_start_side(lab, SERVER);
	lab_pump(lab);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_CONFIRM_LINK_SEND);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].diagnosis, SMC_DECLINE_TIMEOUT_CL);
}

static void client_cannot_send_reply_declines_err_22_err_09(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);
	struct smc_llc_msg msg = say_confirm_link(lab, SERVER, 1);

	lab->side[CLIENT].fails_to_send = SMC_LLC_CONFIRM_LINK;
	lab_say(lab, CLIENT, &msg);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_CONFIRM_LINK_SEND);
}

/* A Decline stops every timer of first contact. It leads to TCP, not to RST. */
static void decline_during_llc_falls_back_err_23_dcln_06(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);

	lab_event(lab, CLIENT, SMC_LLC_EV_DECLINED);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINED, SMC_LLC_WHY_PEER_DECLINED);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[CLIENT].flow),
			SMC_LLC_NO_DEADLINE);

	lab = lab_client_waits_add(test, false);
	lab_event(lab, CLIENT, SMC_LLC_EV_DECLINED);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINED, SMC_LLC_WHY_PEER_DECLINED);

	lab = lab_server_waits_confirm(test, true);
	lab_event(lab, SERVER, SMC_LLC_EV_DECLINED);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_DECLINED, SMC_LLC_WHY_PEER_DECLINED);
}

/* A FIN of a server that has sent no CONFIRM LINK ends the wait, and no other one. */
static void fin_instead_of_confirm_link_resets_err_20(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);

	lab_event(lab, CLIENT, SMC_LLC_EV_TCP_ENDED);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_CLOSED);
	KUNIT_EXPECT_FALSE(test, smc_llc_why_is_path(SMC_LLC_WHY_PEER_CLOSED));

	lab = lab_client_waits_add(test, true);
	lab_event(lab, CLIENT, SMC_LLC_EV_TCP_ENDED);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_failed, 0);
	lab = lab_server_waits_confirm(test, true);
	lab_event(lab, SERVER, SMC_LLC_EV_TCP_ENDED);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_failed, 0);
	lab = lab_up_facing(test, CLIENT, true);
	lab_event(lab, CLIENT, SMC_LLC_EV_TCP_ENDED);
	lab_expect_alive(lab, CLIENT);
}

static void server_no_confirm_reply_resets_err_24_tmr_04(struct kunit *test)
{
	struct lab *lab = lab_server_waits_confirm(test, true);

	lab_wait(lab, lab_timers().first_reply - 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_failed, 0);
	lab_wait(lab, 1);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_RESET,
			  SMC_LLC_WHY_CONFIRM_LINK_REPLY_TIMEOUT);
}

static void client_no_add_link_resets_err_27(struct kunit *test)
{
	struct lab *lab = lab_client_waits_add(test, false);

	lab_wait(lab, lab_timers().add_link - 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_failed, 0);
	lab_wait(lab, 1);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_ADD_LINK_TIMEOUT);
}

/* Deviation 11: a deployed server may never send ADD LINK. */
static void client_no_add_link_deployed_goes_on(struct kunit *test)
{
	struct lab *lab = lab_client_waits_add(test, true);
	struct smc_llc_msg msg = say_add_link(1, 2, SMC_MTU_1024, false);

	lab_wait(lab, lab_timers().add_link_deployed - 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 0);
	lab_wait(lab, 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 1);
	lab_expect_silence(lab, CLIENT);
	/* A late ADD LINK still gets its answer. */
	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	lab_expect_alive(lab, CLIENT);
}

static void server_no_add_link_reply_resets_err_28(struct kunit *test)
{
	struct lab *lab = lab_server_waits_add(test, false);

	lab_wait(lab, lab_timers().first_reply);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 1);
}

/* As its client does without ADD LINK. The answer may be late, and so may its refusal. */
static void server_no_add_link_reply_deployed_goes_on_amb_66(struct kunit *test)
{
	struct lab *lab = lab_server_waits_add(test, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;
	struct smc_llc_msg late[] = {
		say_add_link(7, 2, SMC_MTU_1024, true), say_reject(2), say_reject(0),
	};
	unsigned int i;

	lab_wait(lab, lab_timers().first_reply - 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 0);
	lab_wait(lab, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 1);
	/* a busy client would drop the next request */
	KUNIT_EXPECT_FALSE(test, smc_llc_flow_may_request(flow, lab->now));
	for (i = 0; i < ARRAY_SIZE(late); i++) {
		flow->add_pause = lab->now + lab_timers().reply;
		lab_say(lab, SERVER, &late[i]);
		KUNIT_EXPECT_EQ_MSG(test, flow->add_pause == SMC_LLC_NO_DEADLINE, !!i, "%u", i);
	}
	lab_expect_silence(lab, SERVER);
	lab_expect_alive(lab, SERVER);

	/* the same for a later offer; the next one waits for the pause */
	lab_tell_rnic(lab, SERVER);
	lab_want_link(lab, SERVER);
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	lab_wait(lab, lab_timers().reply);
	/* that is no refusal of the RNIC */
	KUNIT_EXPECT_EQ(test, flow->candidate[0].last, SMC_LLC_OFFER_OPEN);
	lab_want_link(lab, SERVER);
	lab_pump(lab);
	lab_expect_silence(lab, SERVER);
	lab_wait(lab, lab_timers().reply);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	lab_expect_alive(lab, SERVER);
}

/* An answer with another number than that of the offer, and not of a link that has ended. */
static void answer_with_another_number_sl_12_err_45_err_54(struct kunit *test)
{
	static const u8 nums[] = { 1, 3, 77, 255 };
	unsigned int i, how;

	for (i = 0; i < ARRAY_SIZE(nums); i++) {
		for (how = 0; how < 4; how++) {
			bool is_deployed = how & 1, is_rejected = how & 2;
			struct lab *lab = lab_server_waits_add(test, is_deployed);
			struct smc_llc_msg msg = say_add_link(7, nums[i], SMC_MTU_1024, true);

			if (is_rejected)
				msg = say_reject(nums[i]);
			lab_say(lab, SERVER, &msg);
			if (!is_deployed) {
				lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_RESET,
						  SMC_LLC_WHY_OUT_OF_SYNC);
				continue;
			}
			if (!is_rejected) {
				msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
				KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 2);
				KUNIT_EXPECT_EQ(test, msg.delete_link.reason,
						SMC_LLC_DELETE_PROTOCOL);
				msg = say_delete(2, false, true);
				lab_say(lab, SERVER, &msg);
			}
			KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 1);
			KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 1);
			lab_expect_silence(lab, SERVER);
			lab_expect_alive(lab, SERVER);
		}
	}
}

static void server_cannot_send_add_link_declines_err_19(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);

	lab->side[SERVER].fails_to_send = SMC_LLC_ADD_LINK;
	lab_start(lab);
	lab_pump(lab);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_ADD_LINK_SEND);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].diagnosis, SMC_DECLINE_TIMEOUT_AL);
}

/* The server's point of no return: completion or reply, whichever comes first. */
static void server_point_of_no_return_err_10_err_12(struct kunit *test)
{
	struct lab *lab = lab_server_waits_confirm(test, true);
	struct smc_llc_msg msg = say_confirm_link(lab, CLIENT, 1);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_SENT, .ok = true,
				    .cookie = SMC_LLC_SENT_ADD_LINK };
	struct lab_side *server = &lab->side[SERVER];

	lab_say(lab, SERVER, &msg);
	lab_event(lab, SERVER, SMC_LLC_EV_LINK_BROKEN);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_LINK_BROKEN);

	/* Before the completion of ADD LINK it may still decline. */
	lab = lab_server_waits_confirm(test, true);
	server = &lab->side[SERVER];
	lab_say(lab, SERVER, &msg);
	lab = lab_server_waits_confirm(test, true);
	server = &lab->side[SERVER];
	ev.type = SMC_LLC_EV_MSG;
	ev.msg = msg;
	lab_feed(lab, SERVER, &ev);
	lab_work(lab, SERVER);
	KUNIT_ASSERT_EQ(test, server->flow.config, SMC_LLC_CONFIG_ADD_LINK);
	KUNIT_EXPECT_EQ(test, server->flow.commitment, SMC_LLC_COMMIT_CONFIRM_LINK);
	lab_work(lab, SERVER);
	KUNIT_EXPECT_EQ(test, server->flow.commitment, SMC_LLC_COMMIT_FINAL);

	/* The reply may be faster than the completion. */
	lab = lab_server_waits_confirm(test, true);
	server = &lab->side[SERVER];
	lab_feed(lab, SERVER, &ev);
	lab_work(lab, SERVER);
	msg = say_add_link(7, 2, SMC_MTU_1024, true);
	ev.msg = msg;
	KUNIT_EXPECT_EQ(test, server->flow.commitment, SMC_LLC_COMMIT_CONFIRM_LINK);
	lab_feed(lab, SERVER, &ev);
	KUNIT_EXPECT_EQ(test, server->flow.commitment, SMC_LLC_COMMIT_FINAL);
	/* Now even a Decline of the client leads to RST. */
	lab_event(lab, SERVER, SMC_LLC_EV_DECLINED);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DECLINED);
}

static void client_point_of_no_return_err_11_err_12(struct kunit *test)
{
	struct lab *lab = lab_client_waits_add(test, true);
	struct smc_llc_msg msg = say_add_link(1, 2, SMC_MTU_1024, false);

	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.commitment, SMC_LLC_COMMIT_CONFIRM_LINK);
	lab_event(lab, CLIENT, SMC_LLC_EV_LINK_BROKEN);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_LINK_BROKEN);

	/* A negative reply counts when it is sent. */
	lab = lab_client_waits_add(test, true);
	lab->side[CLIENT].keeps_results = true;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.commitment, SMC_LLC_COMMIT_FINAL);
	lab_event(lab, CLIENT, SMC_LLC_EV_LINK_BROKEN);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_LINK_BROKEN);
}

/* An acceptance counts when it has completed, or when the server has gone on with it. */
static void client_is_committed_by_an_acceptance_err_11(struct kunit *test)
{
	struct smc_llc_msg msg = say_add_link(7, 2, SMC_MTU_1024, false);
	int completes;

	for (completes = 0; completes < 2; completes++) {
		struct lab *lab = lab_client_waits_add(test, false);
		struct lab_side *client = &lab->side[CLIENT];
		struct smc_llc_event late;

		lab_tell_rnic(lab, CLIENT);
		client->nr_out = 0;
		client->keeps_results = true;
		lab_say(lab, CLIENT, &msg);
		client->keeps_results = false;
		while (!client->nr_out && lab_work(lab, CLIENT))
			;
		lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
		late = client->todo[--client->nr_todo];
		KUNIT_ASSERT_EQ(test, late.type, SMC_LLC_EV_SENT);
		KUNIT_ASSERT_EQ(test, late.cookie, SMC_LLC_SENT_ADD_LINK);
		lab_pump(lab);
		lab_say_on_offered(lab, SMC_LLC_ADD_LINK_CONT, 2, 0);
		KUNIT_EXPECT_EQ(test, client->flow.commitment, SMC_LLC_COMMIT_CONFIRM_LINK);
		if (completes)
			lab_feed(lab, CLIENT, &late);
		else
			lab_say_on_offered(lab, SMC_LLC_CONFIRM_LINK, 2, 0);
		KUNIT_EXPECT_EQ(test, client->flow.commitment, SMC_LLC_COMMIT_FINAL);
		lab_event(lab, CLIENT, SMC_LLC_EV_DECLINED);
		KUNIT_EXPECT_EQ(test, client->nr_failed, 1);
		KUNIT_EXPECT_EQ(test, client->fail, SMC_LLC_FAIL_RESET);
	}
}

/* The owner records a peer whose path is lost, and no other peer. */
static void peer_03_a_lost_path_differs_from_other_ends(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN, .ok = true };
	struct lab *lab = lab_up(test, true);

	lab_feed(lab, CLIENT, &ev);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_PATH);
	KUNIT_EXPECT_TRUE(test, smc_llc_why_is_path(SMC_LLC_WHY_PATH));
	KUNIT_EXPECT_TRUE(test, smc_llc_why_is_path(SMC_LLC_WHY_TEST_LINK_TIMEOUT));
	KUNIT_EXPECT_TRUE(test, smc_llc_why_is_path(SMC_LLC_WHY_SEND_FAILED));
	KUNIT_EXPECT_TRUE(test, smc_llc_why_is_path(SMC_LLC_WHY_RKEY_TIMEOUT));
	KUNIT_EXPECT_FALSE(test, smc_llc_why_is_path(SMC_LLC_WHY_NONE));
	KUNIT_EXPECT_FALSE(test, smc_llc_why_is_path(SMC_LLC_WHY_LINK_BROKEN));
	KUNIT_EXPECT_FALSE(test, smc_llc_why_is_path(SMC_LLC_WHY_OUT_OF_SYNC));
	KUNIT_EXPECT_FALSE(test, smc_llc_why_is_path(SMC_LLC_WHY_PEER_DELETED));
	KUNIT_EXPECT_FALSE(test, smc_llc_why_is_path(SMC_LLC_WHY_DELETED));
}

/* Each expired wait is counted once, and nothing else is. */
static void each_timeout_has_its_reason(struct kunit *test)
{
	enum smc_llc_why why;

	for (why = 0; why < SMC_LLC_WHY_NR; why++) {
		const char *name = smc_llc_why_name(why);

		KUNIT_EXPECT_EQ_MSG(test, smc_llc_why_fault(why) == SMC_LLC_FAULT_TIMEOUT,
				    !!strstr(name, "in time"), "%s", name);
	}
	KUNIT_EXPECT_EQ(test, smc_llc_why_fault(SMC_LLC_WHY_OUT_OF_SYNC), SMC_LLC_FAULT_BAD);
	KUNIT_EXPECT_EQ(test, smc_llc_why_fault(SMC_LLC_WHY_ADD_LINK_CONT_DATA),
			SMC_LLC_FAULT_BAD);
	KUNIT_EXPECT_EQ(test, smc_llc_why_fault(SMC_LLC_WHY_NR), SMC_LLC_FAULT_OTHER);
}

/* Row m, column n: state m may be followed by state n. */
static void illegal_moves_of_a_link_are_refused(struct kunit *test)
{
	static const char * const rows[SMC_LLC_LINK_NR_STATES] = {
		[SMC_LLC_LINK_FREE]	= " x       ",
		[SMC_LLC_LINK_FORMING]	= "x x x   x",
		[SMC_LLC_LINK_ACTIVE]	= "x  xx x  ",
		[SMC_LLC_LINK_DELETE_WANTED]	= "x   x x  ",
		[SMC_LLC_LINK_FAILED]	= "x    xx x",
		[SMC_LLC_LINK_REPORTED]	= "x     x x",
		[SMC_LLC_LINK_DELETING]	= "x   x  xx",
		[SMC_LLC_LINK_DELETE_REPLYING]	= "x   x x x",
		[SMC_LLC_LINK_GOING]	= "x        ",
	};
	struct smc_llc_link lnk;
	int from, to;

	for (from = 0; from < SMC_LLC_LINK_NR_STATES; from++) {
		for (to = 0; to <= SMC_LLC_LINK_NR_STATES; to++) {
			bool is_legal = rows[from][to] == 'x';
			bool stays_in_use = !is_legal || to == SMC_LLC_LINK_ACTIVE ||
					    to == SMC_LLC_LINK_DELETE_WANTED;

			lnk = (struct smc_llc_link){ .state = from, .tries = 3, .deadline = 5 };
			KUNIT_EXPECT_EQ_MSG(test, smc_llc_link_move(&lnk, to), is_legal,
					    "%d to %d", from, to);
			KUNIT_EXPECT_EQ_MSG(test, (int)lnk.state, is_legal ? to : from,
					    "%d to %d", from, to);
			/* only a link in use is probed */
			KUNIT_EXPECT_EQ(test, lnk.tries, stays_in_use ? 3 : 0);
			KUNIT_EXPECT_EQ(test, lnk.deadline,
					stays_in_use ? 5 : SMC_LLC_NO_DEADLINE);
		}
	}
}

/* A quiesced link never carries data again. A link without data cannot be quiesced. */
static void illegal_moves_of_data_are_refused(struct kunit *test)
{
	static const char * const rows[SMC_LLC_DATA_NR_STATES] = {
		[SMC_LLC_DATA_NONE]	= " x ",
		[SMC_LLC_DATA_UP]	= "x x",
		[SMC_LLC_DATA_CLEARING]	= "x  ",
	};
	struct smc_llc_link lnk;
	int from, to;

	for (from = 0; from < SMC_LLC_DATA_NR_STATES; from++) {
		for (to = 0; to <= SMC_LLC_DATA_NR_STATES; to++) {
			bool is_legal = rows[from][to] == 'x';

			lnk = (struct smc_llc_link){ .data = from };
			KUNIT_EXPECT_EQ_MSG(test, smc_llc_data_move(&lnk, to), is_legal,
					    "%d to %d", from, to);
			KUNIT_EXPECT_EQ_MSG(test, (int)lnk.data, is_legal ? to : from,
					    "%d to %d", from, to);
		}
	}
}

static void no_decline_once_committed_err_10_err_11_amb_04(struct kunit *test)
{
	struct smc_llc_flow *flow = kunit_kzalloc(test, sizeof(*flow), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, flow);
	KUNIT_EXPECT_FALSE(test, smc_llc_commit(flow, SMC_LLC_COMMIT_NONE));
	KUNIT_EXPECT_TRUE(test, smc_llc_commit(flow, SMC_LLC_COMMIT_CONFIRM_LINK));
	KUNIT_EXPECT_FALSE(test, smc_llc_commit(flow, SMC_LLC_COMMIT_CONFIRM_LINK));
	KUNIT_EXPECT_FALSE(test, smc_llc_commit(flow, SMC_LLC_COMMIT_NONE));
	KUNIT_EXPECT_EQ(test, flow->commitment, SMC_LLC_COMMIT_CONFIRM_LINK);
	KUNIT_EXPECT_TRUE(test, smc_llc_commit(flow, SMC_LLC_COMMIT_FINAL));
	KUNIT_EXPECT_FALSE(test, smc_llc_commit(flow, SMC_LLC_COMMIT_CONFIRM_LINK));
	KUNIT_EXPECT_EQ(test, flow->commitment, SMC_LLC_COMMIT_FINAL);
}

static void bringing_up_a_link_takes_its_time(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);
	struct smc_llc_msg msg = say_confirm_link(lab, SERVER, 1);

	lab->side[CLIENT].keeps_results = true;
	lab_say(lab, CLIENT, &msg);
	lab_wait(lab, 60000);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_failed, 0);

	lab = lab_server_waits_confirm(test, true);
	msg = say_confirm_link(lab, CLIENT, 1);
	lab->side[SERVER].keeps_results = true;
	lab_say(lab, SERVER, &msg);
	lab_wait(lab, 60000);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_failed, 0);
	/* The reply proves, as a completion does, that the request was sent. */
	lab->side[SERVER].flow.commitment = SMC_LLC_COMMIT_NONE;
	lab = lab_new(test, true, true);
	lab->is_played[CLIENT] = true;
	lab_start_side(lab, SERVER);
	lab_work(lab, SERVER);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.commitment, SMC_LLC_COMMIT_NONE);
	lab->side[SERVER].keeps_results = true;
	lab_say(lab, SERVER, &msg);
	lab_event(lab, SERVER, SMC_LLC_EV_BAD_MSG);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].fail, SMC_LLC_FAIL_RESET);
}

/* The phases of a side, for the tables below. */
enum stand {
	S_WAITS_CONFIRM, S_WAITS_ADD, S_UP, S_ADDING, S_DELETING,
	C_WAITS_CONFIRM, C_WAITS_ADD, C_UP, STANDS
};

static struct lab *lab_at(struct kunit *test, enum stand stand)
{
	switch (stand) {
	case S_WAITS_CONFIRM:
		return lab_server_waits_confirm(test, true);
	case S_WAITS_ADD:
		return lab_server_waits_add(test, true);
	case S_UP:
		return lab_up_facing(test, SERVER, true);
	case S_ADDING:
		return lab_up_server_adding(test, true);
	case S_DELETING:
		return lab_up_server_deleting(test, true);
	case C_WAITS_CONFIRM:
		return lab_client_waits_confirm(test, true);
	case C_WAITS_ADD:
		return lab_client_waits_add(test, true);
	default:
		return lab_up_facing(test, CLIENT, true);
	}
}

/* One letter for each stand, in order: x is out of sync, . is not. */
static const struct sync_param {
	u8 type;
	bool is_reply;
	bool is_all;
	const char *verdict;
} sync_params[] = {
	{ SMC_LLC_CONFIRM_LINK, false, false, "xxxxx.xx" },
	{ SMC_LLC_CONFIRM_LINK, true, false, ".xxxxxxx" },
	{ SMC_LLC_ADD_LINK, false, false, "x....x.." },
	{ SMC_LLC_ADD_LINK, true, false, "x....xxx" },
	{ SMC_LLC_REQ_ADD_LINK, false, false, "x....xxx" },
	{ SMC_LLC_REQ_ADD_LINK, true, false, "xxxxxx.." },
	{ SMC_LLC_ADD_LINK_CONT, false, false, "xxxxxxxx" },
	{ SMC_LLC_ADD_LINK_CONT, true, false, "xxxxxxxx" },
	{ SMC_LLC_DELETE_LINK, false, false, "x....x.." },
	{ SMC_LLC_DELETE_LINK, true, false, "xxxx.xxx" },
	{ SMC_LLC_DELETE_LINK, true, true, "xxxxxxxx" },
	{ SMC_LLC_CONFIRM_RKEY, false, false, "x....x.." },
	{ SMC_LLC_CONFIRM_RKEY, true, false, "xxxxxxxx" },
	{ SMC_LLC_CONFIRM_RKEY_CONT, false, false, "xxxxxxxx" },
	{ SMC_LLC_CONFIRM_RKEY_CONT, true, false, "xxxxxxxx" },
	{ SMC_LLC_DELETE_RKEY, false, false, "x....x.." },
	{ SMC_LLC_DELETE_RKEY, true, false, "xxxxxxxx" },
	{ SMC_LLC_TEST_LINK, false, false, "........" },
	{ SMC_LLC_TEST_LINK, true, false, "xxxxxxxx" },
};

static void sync_name(const struct sync_param *param, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "type %u%s%s", param->type,
		 param->is_reply ? " reply" : "", param->is_all ? " all" : "");
}

KUNIT_ARRAY_PARAM(sync, sync_params, sync_name);

static struct smc_llc_msg say_for(struct lab *lab, int from, const struct sync_param *param)
{
	u8 offer = lab->side[!from].flow.link[1].num;
	struct smc_llc_msg msg = { .type = param->type, .is_reply = param->is_reply };

	switch (param->type) {
	case SMC_LLC_CONFIRM_LINK:
		msg = say_confirm_link(lab, from, 1);
		break;
	case SMC_LLC_ADD_LINK:
		msg = say_reject(offer);
		break;
	case SMC_LLC_DELETE_LINK:
		/* A number that is unknown except in the reply that is due. */
		msg = say_delete(param->is_reply ? offer : 77, param->is_all, false);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		msg = say_confirm_rkey(5, 0, false);
		break;
	case SMC_LLC_DELETE_RKEY:
		msg = say_delete_rkey(5, false);
		break;
	default:
		break;
	}
	msg.is_reply = param->is_reply;
	/* an offer has a new number */
	if (!param->is_reply && param->type == SMC_LLC_ADD_LINK)
		msg.add_link = (struct smc_llc_add_link){ .link_num = 77 };
	return msg;
}

static void every_message_at_every_time_err_54_llc_12_ser_03(struct kunit *test)
{
	const struct sync_param *param = test->param_value;
	enum stand stand;

	for (stand = 0; stand < STANDS; stand++) {
		struct lab *lab = lab_at(test, stand);
		int who = stand < C_WAITS_CONFIRM ? SERVER : CLIENT;
		struct smc_llc_msg msg = say_for(lab, !who, param);
		bool is_out;

		lab_say(lab, who, &msg);
		is_out = lab->side[who].flow.phase == SMC_LLC_DEAD &&
			 lab->side[who].why == SMC_LLC_WHY_OUT_OF_SYNC;
		KUNIT_EXPECT_EQ_MSG(test, is_out, param->verdict[stand] == 'x',
				    "stand %d", stand);
		if (is_out)
			lab_expect_dead(lab, who);
		else
			KUNIT_EXPECT_NE_MSG(test, lab->side[who].flow.phase, SMC_LLC_DEAD,
					    "stand %d", stand);
	}
}

/* Until this side confirms the link it may still fall back, AMB-04. */
static void nonsense_during_first_contact_err_54(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);
	struct smc_llc_msg msg = say_confirm_rkey(5, 0, false);

	lab_say(lab, CLIENT, &msg);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_OUT_OF_SYNC);

	lab = lab_client_waits_add(test, true);
	lab_event(lab, CLIENT, SMC_LLC_EV_BAD_MSG);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_OUT_OF_SYNC);

	lab = lab_server_waits_confirm(test, true);
	lab_event(lab, SERVER, SMC_LLC_EV_BAD_MSG);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_OUT_OF_SYNC);
}

static void confirm_link_with_wrong_data_declines_err_43(struct kunit *test)
{
	struct lab *lab;
	struct smc_llc_msg msg;
	int wrong;

	for (wrong = 0; wrong < 3; wrong++) {
		lab = lab_client_waits_confirm(test, true);
		msg = say_confirm_link(lab, SERVER, 1);
		msg.confirm_link.end.mac[5] ^= wrong == 0;
		msg.confirm_link.end.gid[15] ^= wrong == 1;
		msg.confirm_link.end.qpn ^= wrong == 2;
		lab_say(lab, CLIENT, &msg);
		lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE,
				  SMC_LLC_WHY_CONFIRM_LINK_DATA);
		lab_expect_silence(lab, CLIENT);
	}
}

/* AMB-57 */
static void confirm_link_reply_with_wrong_data_declines(struct kunit *test)
{
	struct lab *lab;
	struct smc_llc_msg msg;
	int wrong;

	for (wrong = 0; wrong < 4; wrong++) {
		lab = lab_server_waits_confirm(test, true);
		msg = say_confirm_link(lab, CLIENT, wrong == 3 ? 9 : 1);
		msg.confirm_link.end.mac[5] ^= wrong == 0;
		msg.confirm_link.end.gid[15] ^= wrong == 1;
		msg.confirm_link.end.qpn ^= wrong == 2;
		lab_say(lab, SERVER, &msg);
		lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_DECLINE,
				  SMC_LLC_WHY_CONFIRM_LINK_DATA);
	}
}

static void link_that_cannot_be_prepared_declines(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);

	lab->side[SERVER].prepare_fails = true;
	lab_start(lab);
	lab_pump(lab);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_NOT_PREPARED);

	lab = lab_new(test, true, true);
	lab->side[CLIENT].prepare_fails = true;
	lab_start(lab);
	lab_pump(lab);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_NOT_PREPARED);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].diagnosis, SMC_DECLINE_ERR_RDYLNK);
}

/* AMB-28 */
static void server_without_a_spare_queue_pair_declines(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, false);

	lab->side[SERVER].spare_fails = true;
	lab_start(lab);
	lab_pump(lab);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_NO_SPARE);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].diagnosis, SMC_DECLINE_MEM);
}

/* AMB-28, deviation 11: a deployed client goes on without an offer. */
static void deployed_server_without_a_spare_queue_pair_goes_on(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);

	lab->side[SERVER].spare_fails = true;
	lab_start(lab);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 0);
	/* the client accepts an RMB that the server announces meanwhile */
	lab_rkey(lab, SERVER, false, 0x99, 1);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_rkey_done, 1);
	lab_wait(lab, lab_timers().add_link_deployed);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 1);
	lab_expect_alive(lab, SERVER);
	lab_expect_alive(lab, CLIENT);
}

/* RFC 7609 A.3.2: ADD LINK uses the existing link, and describes the new one. */
static void offer_names_the_new_end_sl_04(struct kunit *test)
{
	struct lab *lab = lab_server_waits_confirm(test, true);
	struct smc_llc_msg msg = say_confirm_link(lab, CLIENT, 1);
	struct lab_side *server = &lab->side[SERVER];
	struct lab_msg out = {};

	lab_say(lab, SERVER, &msg);
	KUNIT_ASSERT_TRUE(test, lab_take(server, &out));
	KUNIT_ASSERT_EQ(test, out.msg.type, SMC_LLC_ADD_LINK);
	KUNIT_EXPECT_FALSE(test, out.msg.is_reply);
	KUNIT_EXPECT_EQ(test, out.link, 0);
	KUNIT_EXPECT_EQ(test, out.msg.add_link.link_num, 2);
	KUNIT_EXPECT_EQ(test, out.msg.add_link.end.qpn, 0x99);
	KUNIT_EXPECT_EQ(test, out.msg.add_link.end.mtu, server->end.mtu);
	KUNIT_EXPECT_EQ(test, out.msg.add_link.end.psn, server->end.psn);
	KUNIT_EXPECT_MEMEQ(test, out.msg.add_link.end.mac, server->end.mac, SMC_MAC_LEN);
	KUNIT_EXPECT_MEMEQ(test, out.msg.add_link.end.gid, server->end.gid, SMC_GID_LEN);
}

static void accepted_offer_is_taken_back_sl_17_sl_18_err_56_dell_04(struct kunit *test)
{
	struct lab *lab = lab_server_waits_add(test, true);
	struct smc_llc_msg msg = say_add_link(7, 2, SMC_MTU_1024, true);

	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 0);
	msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	KUNIT_EXPECT_FALSE(test, msg.delete_link.is_all);
	KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 2);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_LOST_PATH);
	KUNIT_EXPECT_FALSE(test, msg.delete_link.is_orderly);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.link[1].state, SMC_LLC_LINK_DELETING);
	/* Resources stay until the reply, DELL-04. */
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 0);
	msg = say_delete(2, false, true);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 1);
}

static void taken_back_and_no_answer_resets_err_25_err_38(struct kunit *test)
{
	struct lab *lab = lab_server_waits_add(test, true);
	struct smc_llc_msg msg = say_add_link(7, 2, SMC_MTU_1024, true);

	lab_say(lab, SERVER, &msg);
	lab_wait(lab, lab_timers().delete_link);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_DELETE_LINK_TIMEOUT);
}

static void parallel_link_is_deleted_err_45_lg_10(struct kunit *test)
{
	struct lab *lab = lab_server_waits_add(test, true);
	struct smc_llc_msg msg = say_add_link(2, 2, SMC_MTU_4096, true);

	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 2);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_PROTOCOL);
}

/* Every message that expects an answer has a time limit. */
static void waiting_is_bounded_tmr_05_tmr_08_llc_15_err_18(struct kunit *test)
{
	struct smc_llc_msg msg;
	struct lab *lab;

	lab = lab_client_waits_confirm(test, true);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[CLIENT].flow),
			lab->now + lab_timers().confirm_link);
	lab = lab_server_waits_confirm(test, true);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[SERVER].flow),
			lab->now + lab_timers().first_reply);
	lab = lab_server_waits_add(test, true);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[SERVER].flow),
			lab->now + lab_timers().first_reply);
	msg = say_reject(2);
	lab_say(lab, SERVER, &msg);
	/* The answer stopped it; the remaining timer is that of the next probe. */
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[SERVER].flow),
			lab->now + 30000);
	lab_rkey(lab, SERVER, false, 5, 1);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[SERVER].flow),
			lab->now + lab_timers().reply);
	msg = say_confirm_rkey(5, 0, true);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[SERVER].flow),
			lab->now + 30000);
	lab_terminate(lab, SERVER);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.config_deadline,
			lab->now + lab_timers().terminate);

	lab = lab_client_waits_add(test, false);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[CLIENT].flow),
			lab->now + lab_timers().add_link);
	msg = say_add_link(1, 2, SMC_MTU_1024, false);
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[CLIENT].flow),
			lab->now + 30000);
}

static void max_links_maxl_01_maxl_02_maxl_05_maxl_07(struct kunit *test)
{
	u8 own, peer, got;

	for (own = 2; own <= 8; own++) {
		for (peer = 0; peer <= 9; peer++) {
			got = smc_llc_max_links(own, peer);
			KUNIT_EXPECT_GE(test, got, 2);
			KUNIT_EXPECT_LE(test, got, 8);
			if (!peer)
				KUNIT_EXPECT_EQ(test, got, own);
			else
				KUNIT_EXPECT_EQ(test, got, max_t(u8, 2, min(own, peer)));
		}
	}
	KUNIT_EXPECT_EQ(test, smc_llc_max_links(255, 255), 8);
}

static void client_offers_no_more_than_the_server_maxl_03_maxl_04_maxl_06(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);
	struct smc_llc_params params = lab_params(false, true);
	struct smc_llc_msg msg;

	lab->is_played[SERVER] = true;
	params.max_links = 8;
	smc_llc_flow_init(&lab->side[CLIENT].flow, &params);
	lab_start_side(lab, CLIENT);
	msg = say_confirm_link(lab, SERVER, 1);
	msg.confirm_link.max_links = 3;
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.max_links, 3);

	lab = lab_new(test, true, true);
	params = lab_params(true, true);
	params.max_links = 99;
	smc_llc_flow_init(&lab->side[SERVER].flow, &params);
	lab->is_played[CLIENT] = true;
	lab_start_side(lab, SERVER);
	lab_pump(lab);
	msg = lab_hear(lab, SERVER, SMC_LLC_CONFIRM_LINK, false);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.max_links, 8);
}

/* The first CONFIRM LINK fixes the limit; a second one is an error. */
static void second_confirm_link_is_out_of_sync_maxl_08_llc_12(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_confirm_link(lab, SERVER, 1);

	msg.confirm_link.max_links = 7;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.max_links, 2);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_OUT_OF_SYNC);

	/* Only the server sends it first. */
	lab = lab_up_facing(test, SERVER, true);
	msg = say_confirm_link(lab, CLIENT, 1);
	msg.is_reply = false;
	lab_say(lab, SERVER, &msg);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_OUT_OF_SYNC);
}

static void link_numbers_go_round_lid_03(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;
	unsigned int i;
	u8 num;

	/* The first link always has number 1. */
	flow->link[0].state = SMC_LLC_LINK_ACTIVE;
	flow->link[0].num = 1;
	flow->last_num = 1;
	for (i = 0; i < 3 * 254; i++) {
		num = smc_llc_next_link_num(flow);
		KUNIT_ASSERT_EQ(test, num, 2 + i % 254);
		flow->last_num = num;
	}
}

static void new_offer_has_a_new_number_lid_03(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_msg msg;
	u8 num;

	for (num = 3; num < 8; num++) {
		lab_want_link(lab, SERVER);
		lab_pump(lab);
		msg = lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
		KUNIT_EXPECT_EQ(test, msg.add_link.link_num, num);
		msg = say_reject(num);
		lab_say(lab, SERVER, &msg);
	}
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_created, 6);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 6);
}

static void confirm_rkey_both_roles_rkey_04_rkey_10(struct kunit *test)
{
	struct lab *lab = lab_up(test, false);
	int who;

	for (who = SERVER; who <= CLIENT; who++) {
		lab_rkey(lab, who, false, 0x700 + who, 40 + who);
		KUNIT_EXPECT_FALSE(test, smc_llc_flow_may_request(&lab->side[who].flow, lab->now));
		lab_pump(lab);
		KUNIT_EXPECT_EQ(test, lab->side[who].nr_rkey_done, 1);
		KUNIT_EXPECT_EQ(test, lab->side[who].rkey_result, 0);
		KUNIT_EXPECT_EQ(test, lab->side[who].rkey_cookie, 40 + who);
		KUNIT_EXPECT_EQ(test, lab->side[!who].stored_rkey, 0x700 + who);
		KUNIT_EXPECT_TRUE(test, smc_llc_flow_may_request(&lab->side[who].flow, lab->now));
	}
}

static void confirm_rkey_reply_is_an_echo_rkey_10(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_confirm_rkey(0x55, 0, false);
	struct smc_llc_msg reply;

	lab_say(lab, CLIENT, &msg);
	reply = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, true);
	KUNIT_EXPECT_MEMEQ(test, &reply.confirm_rkey, &msg.confirm_rkey,
			   sizeof(msg.confirm_rkey));
}

static void key_that_cannot_be_stored_is_refused(struct kunit *test)
{
	struct lab *lab = lab_up(test, false);

	lab->side[SERVER].store_fails = true;
	lab_rkey(lab, CLIENT, false, 5, 1);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, -EREMOTEIO);
	lab_expect_alive(lab, CLIENT);
	lab_expect_alive(lab, SERVER);
}

static void negative_reply_with_retry_rkey_11_rkey_12(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_msg msg = say_confirm_rkey(5, 0, true);
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;

	lab_rkey(lab, CLIENT, false, 5, 1);
	lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, false);
	msg.confirm_rkey.is_negative = true;
	msg.confirm_rkey.may_retry = true;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, -EAGAIN);
	/* A little later it starts again. */
	KUNIT_EXPECT_FALSE(test, smc_llc_flow_may_request(flow, lab->now));
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(flow), lab->now + lab_timers().rkey_retry);
	lab_rkey(lab, CLIENT, false, 5, 2);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, -EBUSY);
	lab_wait(lab, lab_timers().rkey_retry);
	KUNIT_EXPECT_TRUE(test, smc_llc_flow_may_request(flow, lab->now));
	lab_rkey(lab, CLIENT, false, 5, 3);
	lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, false);
	lab_say(lab, CLIENT, &msg);
	lab_event(lab, CLIENT, SMC_LLC_EV_LINK_BROKEN);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_LINK_BROKEN);
}

static void negative_reply_without_retry_rkey_13(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_msg msg = say_confirm_rkey(5, 0, true);

	lab_rkey(lab, CLIENT, false, 5, 1);
	lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, false);
	msg.confirm_rkey.is_negative = true;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, -EREMOTEIO);
	lab_wait(lab, 20000);
	lab_expect_silence(lab, CLIENT);
	/* The next request may start at once. */
	KUNIT_EXPECT_TRUE(test, smc_llc_flow_may_request(&lab->side[CLIENT].flow, lab->now));
}

static void rkey_exchanges_cross_rkey_14_ser_05_ser_22(struct kunit *test)
{
	struct lab *lab = lab_up(test, false);

	lab_rkey(lab, CLIENT, false, 0xc, 1);
	lab_rkey(lab, SERVER, true, 0xd, 2);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_rkey_done, 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, 0);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_rkey_done, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].rkey_result, 0);

	/* Two CONFIRM RKEY cross: neither waits for the other, AMB-19. */
	lab_rkey(lab, CLIENT, false, 0xe, 3);
	lab_rkey(lab, SERVER, false, 0xf, 4);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_rkey_done, 2);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_rkey_done, 2);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].stored_rkey, 0xe);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].stored_rkey, 0xf);
}

static void delete_rkey_rkey_16_rkey_17(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_RKEY, .cookie = 9 };
	struct smc_llc_msg msg;
	u8 i;

	memset(&ev.rkey, 0, sizeof(ev.rkey));
	ev.rkey.is_delete = true;
	ev.rkey.count = SMC_LLC_DELETE_RKEYS;
	for (i = 0; i < SMC_LLC_DELETE_RKEYS; i++)
		ev.rkey.rtoken[i].rkey = 0x10 + i;
	lab_feed(lab, SERVER, &ev);
	msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_RKEY, false);
	KUNIT_EXPECT_EQ(test, msg.delete_rkey.count, SMC_LLC_DELETE_RKEYS);
	KUNIT_EXPECT_EQ(test, msg.delete_rkey.rkey[7], 0x17);
	msg.is_reply = true;
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_rkey_done, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].rkey_result, 0);

	ev.rkey.count = SMC_LLC_DELETE_RKEYS + 1;
	lab_feed(lab, SERVER, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].rkey_result, -EINVAL);
	ev.rkey.count = 0;
	lab_feed(lab, SERVER, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].rkey_result, -EINVAL);
	lab_expect_silence(lab, SERVER);
}

static void unknown_rkey_gets_negative_reply_err_51_rkey_18(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_delete_rkey(0x99, false);

	lab->side[CLIENT].unknown_keys = 0x80;
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_DELETE_RKEY, true);
	KUNIT_EXPECT_TRUE(test, msg.delete_rkey.is_negative);
	KUNIT_EXPECT_EQ(test, msg.delete_rkey.error_mask, 0x80);
	KUNIT_EXPECT_EQ(test, msg.delete_rkey.rkey[0], 0x99);
	lab_expect_alive(lab, CLIENT);
}

static void negative_delete_rkey_reply_is_no_failure_rkey_19(struct kunit *test)
{
	struct lab *lab = lab_up(test, true);

	lab->side[SERVER].unknown_keys = 0x80;
	lab_rkey(lab, CLIENT, true, 5, 1);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, 0);
	lab_expect_alive(lab, CLIENT);
}

static void no_rkey_reply_is_link_failure_err_39_err_40(struct kunit *test)
{
	int who, is_delete;

	for (who = SERVER; who <= CLIENT; who++) {
		/* AMB-58 for DELETE RKEY */
		for (is_delete = 0; is_delete < 2; is_delete++) {
			struct lab *lab = lab_up_facing(test, who, true);

			lab_rkey(lab, who, is_delete, 5, 1);
			lab_wait(lab, lab_timers().reply - 1);
			lab_expect_alive(lab, who);
			lab_wait(lab, 1);
			KUNIT_EXPECT_EQ(test, lab->side[who].rkey_result, -ECONNABORTED);
			KUNIT_EXPECT_EQ(test, lab->side[who].nr_rkey_done, 1);
			lab_expect_terminated(lab, who, SMC_LLC_WHY_RKEY_TIMEOUT);
		}
	}
}

/* A failed send counts as no answer, and the message is not repeated on another link. */
static void send_failure_is_link_failure_err_19_llc_14(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);

	lab->side[CLIENT].fails_to_send = SMC_LLC_CONFIRM_RKEY;
	lab_rkey(lab, CLIENT, false, 5, 1);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, -ECONNABORTED);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 1);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_SEND_FAILED);
	lab_expect_silence(lab, CLIENT);
}

static void request_on_a_dead_link_is_aborted(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);

	lab_event(lab, CLIENT, SMC_LLC_EV_LINK_BROKEN);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_LINK_BROKEN);
	lab_rkey(lab, CLIENT, false, 5, 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, -ECONNABORTED);
}

static void rkey_reply_out_of_nowhere_err_54(struct kunit *test)
{
	struct smc_llc_msg msgs[] = {
		say_confirm_rkey(5, 0, true), say_delete_rkey(5, true), say_test_link(1, true),
		say_delete(1, false, true), say_add_link(7, 3, SMC_MTU_1024, true),
	};
	unsigned int i;
	int who;

	for (who = SERVER; who <= CLIENT; who++) {
		for (i = 0; i < ARRAY_SIZE(msgs); i++) {
			struct lab *lab = lab_up_facing(test, who, true);

			lab_say(lab, who, &msgs[i]);
			KUNIT_EXPECT_EQ(test, lab->side[who].nr_down, 1);
			lab_expect_terminated(lab, who, SMC_LLC_WHY_OUT_OF_SYNC);
		}
	}
}

static void rkey_reply_for_another_key_err_54(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_confirm_rkey(6, 0, true);

	lab_rkey(lab, CLIENT, false, 5, 1);
	lab_say(lab, CLIENT, &msg);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_OUT_OF_SYNC);

	lab = lab_up_facing(test, CLIENT, true);
	msg = say_delete_rkey(6, true);
	lab_rkey(lab, CLIENT, true, 5, 1);
	lab_say(lab, CLIENT, &msg);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_OUT_OF_SYNC);
}

/* A second request before the first is answered: one exchange at a time. */
static void second_request_before_the_answer_err_54_ser_02(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_confirm_rkey(5, 0, false);

	lab->side[CLIENT].keeps_results = true;
	lab_say(lab, CLIENT, &msg);
	lab_say(lab, CLIENT, &msg);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_OUT_OF_SYNC);
}

static void continuations_are_out_of_sync_err_47_err_54(struct kunit *test)
{
	static const u8 types[] = { SMC_LLC_ADD_LINK_CONT, SMC_LLC_CONFIRM_RKEY_CONT };
	unsigned int i;
	int is_reply;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		for (is_reply = 0; is_reply < 2; is_reply++) {
			struct lab *lab = lab_up_facing(test, CLIENT, true);
			struct smc_llc_msg msg = { .type = types[i], .is_reply = is_reply };

			lab_say(lab, CLIENT, &msg);
			lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_OUT_OF_SYNC);
		}
	}
}

static void keys_for_links_that_are_not_there_err_54(struct kunit *test)
{
	u8 nr;

	for (nr = 1; nr < 9; nr++) {
		struct lab *lab = lab_up_facing(test, CLIENT, true);
		struct smc_llc_msg msg = say_confirm_rkey(5, nr, false);

		lab_say(lab, CLIENT, &msg);
		KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_stored, 0);
		lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_OUT_OF_SYNC);
	}
}

static void keys_for_links_that_have_gone(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_msg msg = say_confirm_rkey(5, 1, false);

	/* Number 2 was offered and withdrawn: the client may not know yet. */
	msg.confirm_rkey.other[0].link_num = 2;
	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_CONFIRM_RKEY, true);
	KUNIT_EXPECT_FALSE(test, msg.confirm_rkey.is_negative);

	/* There are never more than nine links. */
	msg = say_confirm_rkey(6, 9, false);
	msg.confirm_rkey.other[0].link_num = 2;
	msg.confirm_rkey.other[1].link_num = 2;
	lab_say(lab, SERVER, &msg);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_OUT_OF_SYNC);

	/* Before any link is gone, number 0 names none. */
	lab = lab_client_waits_add(test, true);
	msg = say_confirm_rkey(8, 1, false);
	msg.confirm_rkey.other[0].link_num = 0;
	lab_say(lab, CLIENT, &msg);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_OUT_OF_SYNC);
}

/* Two keys for one link, the carrying one or another: the exchange is refused. */
static void two_keys_for_a_link_are_refused_rkey_11_rkey_13_amb_39(struct kunit *test)
{
	static const struct {
		const char *what;
		u8 num[5];
		u8 nr;
		bool is_continued;
	} rows[] = {
		{ "the carrying link", { 1 }, 1 },
		{ "the carrying link, second", { 9, 1 }, 2 },
		{ "another link", { 9, 9 }, 2 },
		{ "the carrying link, continued", { 9, 10, 1 }, 3, true },
		{ "another link, continued", { 9, 10, 11, 10 }, 4, true },
	};
	struct smc_llc_msg msg, cont;
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lab *lab = lab_up_facing(test, SERVER, false);
		struct smc_llc_flow *flow = &lab->side[SERVER].flow;
		bool is_negative;

		lab_more_links(lab, SERVER, 2, 9);
		lab_more_links(lab, SERVER, 3, 10);
		lab_more_links(lab, SERVER, 4, 11);
		msg = say_confirm_rkey(5, rows[i].nr, false);
		for (k = 0; k < rows[i].nr && k < SMC_LLC_RKEY_SPECS; k++)
			msg.confirm_rkey.other[k].link_num = rows[i].num[k];
		lab_say(lab, SERVER, &msg);
		msg = lab_hear(lab, SERVER, SMC_LLC_CONFIRM_RKEY, true);
		is_negative = msg.confirm_rkey.is_negative;
		KUNIT_EXPECT_FALSE_MSG(test, msg.confirm_rkey.may_retry, "%s", rows[i].what);
		KUNIT_EXPECT_EQ_MSG(test, is_negative, !rows[i].is_continued, "%s", rows[i].what);
		if (rows[i].is_continued) {
			cont = (struct smc_llc_msg){ .type = SMC_LLC_CONFIRM_RKEY_CONT };
			cont.confirm_rkey_cont.nr_left = rows[i].nr - SMC_LLC_RKEY_SPECS;
			for (k = SMC_LLC_RKEY_SPECS; k < rows[i].nr; k++)
				cont.confirm_rkey_cont.other[k - SMC_LLC_RKEY_SPECS].link_num =
					rows[i].num[k];
			lab_say(lab, SERVER, &cont);
			cont = lab_hear(lab, SERVER, SMC_LLC_CONFIRM_RKEY_CONT, true);
			is_negative = cont.confirm_rkey_cont.is_negative;
		}
		KUNIT_EXPECT_TRUE_MSG(test, is_negative, "%s", rows[i].what);
		KUNIT_EXPECT_EQ(test, flow->remote.state, SMC_LLC_REMOTE_NONE);
		KUNIT_EXPECT_EQ(test, flow->remote.deadline, SMC_LLC_NO_DEADLINE);
		KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_stored, 0);
		lab_expect_alive(lab, SERVER);
		/* the next one is taken */
		msg = say_confirm_rkey(6, 2, false);
		msg.confirm_rkey.nr_rtokens = 2;
		msg.confirm_rkey.other[0].link_num = 9;
		msg.confirm_rkey.other[1].link_num = 10;
		flow->link[4].state = SMC_LLC_LINK_FREE;
		lab_say(lab, SERVER, &msg);
		msg = lab_hear(lab, SERVER, SMC_LLC_CONFIRM_RKEY, true);
		KUNIT_EXPECT_FALSE_MSG(test, msg.confirm_rkey.is_negative, "%s", rows[i].what);
		KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_stored, 1);
	}
}

/* With a second link, a missing key fails that link. */
static void missing_key_fails_that_link_err_50(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_confirm_rkey(5, 0, false);
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;

	/* A complete list fails no link. */
	lab_more_links(lab, CLIENT, 1, 2);
	lab_more_links(lab, CLIENT, 2, 3);
	msg = say_confirm_rkey(6, 2, false);
	msg.confirm_rkey.other[0].link_num = 2;
	msg.confirm_rkey.other[1].link_num = 3;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 0);
	lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, true);

	/* Only the link without a key. */
	msg = say_confirm_rkey(7, 1, false);
	msg.confirm_rkey.other[0].link_num = 3;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].why, SMC_LLC_WHY_RKEY_MISSING);
	KUNIT_EXPECT_EQ(test, flow->link[0].state, SMC_LLC_LINK_ACTIVE);
	KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_REPORTED);
	KUNIT_EXPECT_EQ(test, flow->link[2].state, SMC_LLC_LINK_ACTIVE);
	msg = lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, false);
	KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 2);
	msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, true);
	KUNIT_EXPECT_FALSE(test, msg.confirm_rkey.is_negative);
}

/* One link is lost while another one continues. */
static void one_of_two_links_fails_llc_14(struct kunit *test)
{
	struct lab *lab;
	struct smc_llc_flow *flow;
	struct smc_llc_event ev;
	int dead;

	for (dead = 0; dead < 2; dead++) {
		lab = lab_up_facing(test, CLIENT, true);
		flow = &lab->side[CLIENT].flow;
		lab_more_links(lab, CLIENT, 1, 2);
		lab->side[CLIENT].keeps_results = true;
		lab_rkey(lab, CLIENT, true, 5, 1);
		ev = (struct smc_llc_event) { .type = SMC_LLC_EV_MSG };
		ev.msg = say_delete_rkey(6, false);
		lab_feed(lab, CLIENT, &ev);
		lab->side[CLIENT].nr_out = 0;
		ev = (struct smc_llc_event) { .type = SMC_LLC_EV_LINK_BROKEN, .link = dead };
		lab_feed(lab, CLIENT, &ev);

		KUNIT_EXPECT_EQ(test, flow->phase, SMC_LLC_UP);
		KUNIT_EXPECT_EQ(test, flow->link[dead].state, SMC_LLC_LINK_REPORTED);
		KUNIT_EXPECT_EQ(test, flow->link[!dead].state, SMC_LLC_LINK_ACTIVE);
		KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 1);
		lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, false);
		/* Only exchanges on the dead link end with it, and start over. */
		KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_rkey_done, !dead);
		if (!dead)
			KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, -EAGAIN);
		KUNIT_EXPECT_EQ(test, flow->own.is_busy, dead);
		lab->side[CLIENT].keeps_results = false;
		lab_pump(lab);
		/* A reply that cannot arrive is not sent. */
		if (dead)
			lab_hear(lab, CLIENT, SMC_LLC_DELETE_RKEY, true);
		lab_expect_silence(lab, CLIENT);
		/* A second report changes nothing. */
		lab_feed(lab, CLIENT, &ev);
		KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 1);
	}
}

/* The peer lost the link of its exchange, and starts over before we see the loss. */
static void repeated_on_another_link_llc_14(struct kunit *test)
{
	struct smc_llc_event ev;
	struct smc_llc_flow *flow;
	struct smc_llc_msg msg;
	struct lab *lab;
	int is_delete;

	for (is_delete = 0; is_delete < 2; is_delete++) {
		lab = lab_up_facing(test, CLIENT, true);
		flow = &lab->side[CLIENT].flow;
		lab_more_links(lab, CLIENT, 1, 2);
		lab->side[CLIENT].keeps_results = true;
		ev = (struct smc_llc_event) { .type = SMC_LLC_EV_MSG };
		ev.msg = say_confirm_rkey(6, 1, false);
		ev.msg.confirm_rkey.other[0].link_num = 2;
		if (is_delete)
			ev.msg = say_delete_rkey(6, false);
		lab_feed(lab, CLIENT, &ev);
		KUNIT_EXPECT_NE(test, flow->remote.state, SMC_LLC_REMOTE_NONE);
		lab_expect_silence(lab, CLIENT);

		ev.link = 1;
		if (!is_delete)
			ev.msg.confirm_rkey.other[0].link_num = 1;
		lab_feed(lab, CLIENT, &ev);
		KUNIT_EXPECT_EQ(test, flow->link[0].state, SMC_LLC_LINK_ACTIVE);
		KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_ACTIVE);
		if (is_delete) {
			lab_expect_silence(lab, CLIENT);
		} else {
			msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, true);
			KUNIT_EXPECT_TRUE(test, msg.confirm_rkey.is_negative);
			KUNIT_EXPECT_TRUE(test, msg.confirm_rkey.may_retry);
		}

		/* Each is answered on its own link, as far as we know. */
		lab->side[CLIENT].keeps_results = false;
		lab_pump(lab);
		lab_hear(lab, CLIENT, ev.msg.type, true);
		if (is_delete)
			lab_hear(lab, CLIENT, SMC_LLC_DELETE_RKEY, true);
		lab_expect_silence(lab, CLIENT);
		KUNIT_EXPECT_EQ(test, flow->remote.state, SMC_LLC_REMOTE_NONE);
		KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 0);
	}
}

/* An exchange that changes links ends with the link that carries it. */
static void carrier_of_an_exchange_fails(struct kunit *test)
{
	struct smc_llc_msg rkey = say_delete_rkey(6, false);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN };
	struct lab *lab;
	struct smc_llc_flow *flow;
	int is_created, dead;

	for (is_created = 0; is_created < 2; is_created++) {
		for (dead = 0; dead < 3; dead += 2) {
			lab = lab_up_facing(test, SERVER, false);
			flow = &lab->side[SERVER].flow;
			flow->max_links = 3;
			lab_want_link(lab, SERVER);
			if (is_created)
				lab_pump(lab);
			/* Index 1 is the offer, index 2 continues. */
			lab_more_links(lab, SERVER, 2, 9);
			lab_say(lab, SERVER, &rkey);
			KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_ADD_LINK);
			ev.link = dead;
			lab_feed(lab, SERVER, &ev);
			KUNIT_EXPECT_EQ(test, flow->phase, SMC_LLC_UP);
			KUNIT_EXPECT_EQ(test, flow->config, dead ? SMC_LLC_CONFIG_ADD_LINK :
								   SMC_LLC_CONFIG_DELETE_LINK);
			/* messages from before the offer were answered then */
			KUNIT_EXPECT_EQ(test, flow->remote.is_put_off, dead && is_created);
			lab_pump(lab);
			KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, dead ? 1 : 2);
			KUNIT_EXPECT_EQ(test, flow->link[1].state,
					dead ? SMC_LLC_LINK_FORMING : SMC_LLC_LINK_FREE);
		}
	}
}

/* A message on a link that is only offered counts for nothing. */
static void messages_on_an_offered_link_are_ignored(struct kunit *test)
{
	struct lab *lab = lab_up_server_adding(test, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_BAD_MSG, .link = 1 };

	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.link[1].state, SMC_LLC_LINK_FORMING);
	lab_feed(lab, SERVER, &ev);
	ev.type = SMC_LLC_EV_LINK_BROKEN;
	lab_feed(lab, SERVER, &ev);
	ev.type = SMC_LLC_EV_MSG;
	ev.msg = say_delete(0, true, false);
	lab_feed(lab, SERVER, &ev);
	lab_expect_silence(lab, SERVER);
	lab_expect_alive(lab, SERVER);
}

static void own_confirm_rkey_covers_all_links_rkey_03_rkey_08(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_RKEY };
	struct smc_llc_msg msg;

	lab_more_links(lab, CLIENT, 1, 200);
	memset(&ev.rkey, 0, sizeof(ev.rkey));
	ev.rkey.count = 2;
	ev.rkey.rtoken[0].rkey = 0x10;
	ev.rkey.rtoken[1].link_num = 1;
	ev.rkey.rtoken[1].rkey = 0x11;
	lab_feed(lab, CLIENT, &ev);
	msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, false);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.nr_rtokens, 1);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.here.rkey, 0x10);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.other[0].link_num, 200);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.other[0].rkey, 0x11);
}

static void test_link_probe_ka_03_ka_04_tmr_15(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg;

	lab_wait(lab, 29999);
	lab_expect_silence(lab, CLIENT);
	lab_wait(lab, 1);
	msg = lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	KUNIT_EXPECT_EQ(test, msg.test_link.user_data[0], 0x5a);
	msg.is_reply = true;
	lab_say(lab, CLIENT, &msg);
	lab_wait(lab, 29999);
	lab_expect_silence(lab, CLIENT);
	lab_wait(lab, 1);
	lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	lab_expect_alive(lab, CLIENT);
}

/* A link with traffic needs no probe. */
static void busy_link_is_not_probed_ka_02_ka_07(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	u64 last_rx;

	lab->now += 30000;
	last_rx = lab->now - 100;
	lab_tick(lab, CLIENT, last_rx);
	lab_expect_silence(lab, CLIENT);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[CLIENT].flow), last_rx + 30000);
}

static void probing_can_be_switched_off(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);
	int who;

	for (who = SERVER; who <= CLIENT; who++)
		lab->side[who].flow.params.test_link_idle_ms = 0;
	lab_start(lab);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[SERVER].flow),
			SMC_LLC_NO_DEADLINE);
	/* A probe on request is still sent, but only once. */
	lab_event(lab, SERVER, SMC_LLC_EV_REQ_TEST_LINK);
	lab_event(lab, SERVER, SMC_LLC_EV_REQ_TEST_LINK);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_out, 1);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[SERVER].flow),
			lab->now + lab_timers().test_link);
}

static void no_test_link_reply_is_link_failure_err_41_err_42_ka_05_ka_06(struct kunit *test)
{
	int who, try;

	for (who = SERVER; who <= CLIENT; who++) {
		struct lab *lab = lab_up_facing(test, who, true);

		lab_event(lab, who, SMC_LLC_EV_REQ_TEST_LINK);
		for (try = 0; try < 3; try++) {
			lab_hear(lab, who, SMC_LLC_TEST_LINK, false);
			lab_wait(lab, lab_timers().test_link - 1);
			lab_expect_silence(lab, who);
			lab_expect_alive(lab, who);
			lab_wait(lab, 1);
		}
		KUNIT_EXPECT_EQ(test, lab->side[who].nr_down, 1);
		lab_expect_terminated(lab, who, SMC_LLC_WHY_TEST_LINK_TIMEOUT);
	}
}

/* TCP lives through an outage of all that two hosts have; a claim must be proved in time. */
static void a_patient_group_keeps_its_silent_link_ka_05(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_TEST_LINK };
	u32 ms = lab_timers().test_link;
	unsigned int try;

	lab->side[CLIENT].flow.params.is_patient = true;
	lab_feed(lab, CLIENT, &ev);
	for (try = 0; try < 3; try++) {
		lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
		lab_wait(lab, ms);
	}
	for (try = 0; try < 300; try++)
		lab_wait(lab, ms);
	lab_expect_silence(lab, CLIENT);
	lab_expect_alive(lab, CLIENT);

	/* the peer is back */
	lab->last_rx[CLIENT] = lab->now + 1;
	lab_wait(lab, ms);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[0].tries, 0);

	ev.ok = true;
	lab_feed(lab, CLIENT, &ev);
	for (try = 0; try < 3; try++) {
		lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
		lab_wait(lab, ms);
	}
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_TEST_LINK_TIMEOUT);
}

/* The connections go on in TCP, there is nothing to wait for. */
static void a_group_that_lands_gives_its_only_link_up_ka_05(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	unsigned int try;

	lab->side[CLIENT].flow.params.is_patient = true;
	lab->side[CLIENT].flow.ext = SMC_LLC_EXT_LANDING;
	lab_event(lab, CLIENT, SMC_LLC_EV_REQ_TEST_LINK);
	for (try = 0; try < 3; try++) {
		lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
		lab_wait(lab, lab_timers().test_link);
	}
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_TEST_LINK_TIMEOUT);
}

static void lab_stall(struct lab *lab, u8 link, u64 since, u64 other_rx)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_STALLED, .link = link };

	ev.stall.since = since;
	ev.stall.other_rx = other_rx;
	lab_feed(lab, CLIENT, &ev);
}

static void a_link_is_lost_only_while_another_answers_ka_05(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;
	u64 since = lab->now;

	/* the only one */
	lab->now += 3000;
	lab_stall(lab, 0, since, 0);
	lab_expect_silence(lab, CLIENT);

	lab_more_links(lab, CLIENT, 1, 2);
	/* the other is idle: is the peer there? once */
	lab_stall(lab, 0, since, since - 1);
	lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	lab_stall(lab, 0, since, since - 1);
	lab_expect_silence(lab, CLIENT);
	KUNIT_EXPECT_EQ(test, flow->link[1].tries, 1);
	KUNIT_EXPECT_EQ(test, flow->link[0].tries, 0);

	/* it is; the first link may recover now as well */
	lab_stall(lab, 0, since, lab->now);
	lab->now += SMC_LLC_DOUBT_MS - 1;
	lab_stall(lab, 0, since, lab->now);
	KUNIT_EXPECT_EQ(test, flow->link[0].state, SMC_LLC_LINK_ACTIVE);

	/* the other one is silent as well: that was the beginning of an outage of both */
	lab->now += SMC_LLC_DOUBT_MS;
	lab_stall(lab, 0, since, lab->now - SMC_LLC_DOUBT_MS);
	KUNIT_EXPECT_EQ(test, flow->link[0].state, SMC_LLC_LINK_ACTIVE);
	lab_stall(lab, 0, since, lab->now);
	KUNIT_EXPECT_EQ(test, flow->link[0].state, SMC_LLC_LINK_ACTIVE);

	/* it did, and stalls once more: the pause starts over */
	since = lab->now;
	lab->now += 300;
	lab_stall(lab, 0, since, lab->now);
	KUNIT_EXPECT_EQ(test, flow->link[0].state, SMC_LLC_LINK_ACTIVE);
	lab->now += SMC_LLC_DOUBT_MS;
	lab_stall(lab, 0, since, lab->now);
	KUNIT_EXPECT_NE(test, flow->link[0].state, SMC_LLC_LINK_ACTIVE);
	KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_ACTIVE);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 1);
}

static void a_port_without_carrier_is_left_at_once(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_STALLED };

	ev.stall.since = lab->now;
	ev.stall.is_down = true;
	lab_feed(lab, CLIENT, &ev);
	lab_expect_alive(lab, CLIENT);
	lab_more_links(lab, CLIENT, 1, 2);
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 1);
}

/* A peer that was suspended answers all probes later, or some. */
static void late_test_link_replies_are_answers_ka_04_ka_05(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg;

	lab_event(lab, CLIENT, SMC_LLC_EV_REQ_TEST_LINK);
	msg = lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	lab_wait(lab, lab_timers().test_link);
	lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	lab_wait(lab, lab_timers().test_link);
	lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	lab_wait(lab, lab_timers().test_link - 1);

	msg.is_reply = true;
	lab_say(lab, CLIENT, &msg);
	lab_say(lab, CLIENT, &msg);
	lab_expect_alive(lab, CLIENT);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[CLIENT].flow), lab->now + 30000);

	/* The third answer crosses the next probe, then that probe's own answer arrives. */
	lab_wait(lab, 30000);
	msg = lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	msg.is_reply = true;
	lab_say(lab, CLIENT, &msg);
	lab_say(lab, CLIENT, &msg);
	lab_expect_alive(lab, CLIENT);
	/* But there may be no more answers than probes. */
	lab_say(lab, CLIENT, &msg);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_OUT_OF_SYNC);
}

static void test_link_reply_with_other_data_err_52(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg;

	lab_event(lab, CLIENT, SMC_LLC_EV_REQ_TEST_LINK);
	msg = lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	msg.is_reply = true;
	msg.test_link.user_data[15] ^= 1;
	lab_say(lab, CLIENT, &msg);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_TEST_LINK_DATA);
}

/* The answer proves that the peer has processed everything sent before the probe. */
static void a_round_trip_tells_what_the_peer_has_seen_lb_04_fail_19(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg;

	lab_event(lab, CLIENT, SMC_LLC_EV_REQ_ROUND_TRIP);
	msg = lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	msg.is_reply = true;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_round_trips, 1);

	/* the answer to a probe before it does not cover what was sent since */
	lab_event(lab, CLIENT, SMC_LLC_EV_REQ_TEST_LINK);
	lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	lab_event(lab, CLIENT, SMC_LLC_EV_REQ_ROUND_TRIP);
	msg = lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	msg.is_reply = true;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_round_trips, 1);
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_round_trips, 2);
	lab_expect_alive(lab, CLIENT);
}

/* Connections wait for the answer: without one the link is lost, as with any probe. */
static void a_round_trip_ends_with_the_link_lb_04(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	unsigned int tries = lab->side[SERVER].flow.params.test_link_tries;

	lab_event(lab, SERVER, SMC_LLC_EV_REQ_ROUND_TRIP);
	while (tries--) {
		lab_hear(lab, SERVER, SMC_LLC_TEST_LINK, false);
		lab_wait(lab, smc_llc_flow_deadline(&lab->side[SERVER].flow) - lab->now);
	}
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_TEST_LINK_TIMEOUT);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_round_trips, 0);
}

/* The completion handler answers; the machine is not involved, SER-01. */
static void test_link_request_disturbs_nothing_ser_01(struct kunit *test)
{
	struct lab *lab = lab_up_server_adding(test, false);
	struct smc_llc_msg msg = say_test_link(3, false);

	lab_say(lab, SERVER, &msg);
	lab_expect_silence(lab, SERVER);
	lab_expect_alive(lab, SERVER);
}

static void server_ends_the_group_lgt_01_lgt_04_dell_13_dell_14(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_msg msg;

	lab->side[SERVER].keeps_results = true;
	lab_terminate(lab, SERVER);
	msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	KUNIT_EXPECT_TRUE(test, msg.delete_link.is_all);
	KUNIT_EXPECT_TRUE(test, msg.delete_link.is_orderly);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_PROGRAM);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_terminated, 0);
	/* Later messages are neither processed nor answered. */
	msg = say_delete(0, true, false);
	lab_say(lab, SERVER, &msg);
	msg = say_delete(1, false, false);
	lab_say(lab, SERVER, &msg);
	msg.is_reply = true;
	lab_say(lab, SERVER, &msg);
	msg = say_add_link(7, 0, 0, false);
	lab_say(lab, SERVER, &msg);
	lab_expect_silence(lab, SERVER);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_terminated, 0);
	/* After the completion, without an answer. */
	lab->side[SERVER].keeps_results = false;
	lab_pump(lab);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_DELETED);
}

static void server_end_without_completion_err_37(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);

	/* The group ends with all its links. */
	lab_more_links(lab, SERVER, 1, 2);
	lab->side[SERVER].keeps_results = true;
	lab_terminate(lab, SERVER);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	lab_wait(lab, lab_timers().terminate - 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_terminated, 0);
	lab_wait(lab, 1);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_DELETED);
	lab_expect_silence(lab, SERVER);

	lab = lab_up_facing(test, SERVER, true);
	lab->side[SERVER].fails_to_send = SMC_LLC_DELETE_LINK;
	lab_terminate(lab, SERVER);
	lab_pump(lab);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_DELETED);
}

static void client_cleans_up_at_once_lgt_05(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_delete(0, true, false);

	lab_say(lab, CLIENT, &msg);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_PEER_DELETED);
	lab_expect_silence(lab, CLIENT);
}

static void client_asks_server_answers_lgt_03_lgt_06(struct kunit *test)
{
	struct lab *lab = lab_up(test, true);

	lab_terminate(lab, CLIENT);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_terminated, 0);
	lab_pump(lab);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_DELETED);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_PEER_DELETED);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].down_why, SMC_LLC_WHY_DELETED);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].down_why, SMC_LLC_WHY_PEER_DELETED);
}

static void a_client_gets_no_answer_err_36(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);

	lab_terminate(lab, CLIENT);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_terminated, 0);
	lab_wait(lab, lab_timers().terminate);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_DELETED);
}

static void both_end_the_group_at_a_time(struct kunit *test)
{
	struct lab *lab = lab_up(test, true);

	lab_terminate(lab, CLIENT);
	lab_terminate(lab, SERVER);
	lab_pump(lab);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_DELETED);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_DELETED);
}

static void ending_client_ignores_commands_err_46(struct kunit *test)
{
	struct smc_llc_msg msgs[] = {
		say_confirm_rkey(5, 0, false), say_delete_rkey(5, false),
		say_add_link(1, 2, SMC_MTU_1024, false), say_delete(1, false, false),
		say_confirm_rkey(5, 9, false), say_test_link(1, true),
	};
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg;
	unsigned int i;

	lab_terminate(lab, CLIENT);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, false);
	for (i = 0; i < ARRAY_SIZE(msgs); i++)
		lab_say(lab, CLIENT, &msgs[i]);
	lab_event(lab, CLIENT, SMC_LLC_EV_BAD_MSG);
	lab_expect_silence(lab, CLIENT);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_terminated, 0);
	msg = say_delete(0, true, false);
	lab_say(lab, CLIENT, &msg);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_DELETED);
}

/* The end of the group overrides every exchange. */
static void delete_all_during_exchanges_ser_09_ser_14_ser_21(struct kunit *test)
{
	struct smc_llc_msg msg = say_delete(0, true, false);
	struct lab *labs[3];
	unsigned int i;

	labs[0] = lab_up_server_adding(test, false);
	labs[1] = lab_up_server_deleting(test, false);
	labs[2] = lab_up_facing(test, SERVER, false);
	lab_rkey(labs[2], SERVER, false, 5, 1);
	lab_hear(labs[2], SERVER, SMC_LLC_CONFIRM_RKEY, false);
	for (i = 0; i < ARRAY_SIZE(labs); i++) {
		lab_say(labs[i], SERVER, &msg);
		/* AMB-67 */
		msg = lab_hear(labs[i], SERVER, SMC_LLC_DELETE_LINK, false);
		KUNIT_EXPECT_TRUE(test, msg.delete_link.is_all);
		KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_OPERATOR);
		lab_expect_terminated(labs[i], SERVER, SMC_LLC_WHY_PEER_DELETED);
		KUNIT_EXPECT_EQ(test, labs[i]->side[SERVER].nr_created,
				labs[i]->side[SERVER].nr_dropped);
	}
	KUNIT_EXPECT_EQ(test, labs[2]->side[SERVER].rkey_result, -ECONNABORTED);
}

static void delete_all_during_first_contact_ser_09(struct kunit *test)
{
	struct lab *lab = lab_server_waits_add(test, true);
	struct smc_llc_msg msg = say_delete(0, true, false);

	lab_say(lab, SERVER, &msg);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DELETED);

	lab = lab_client_waits_add(test, true);
	lab_say(lab, CLIENT, &msg);
	lab_expect_silence(lab, CLIENT);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DELETED);

	/* Deleting the only link equals deleting all. */
	lab = lab_client_waits_add(test, true);
	msg = say_delete(1, false, false);
	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_RESET, SMC_LLC_WHY_PEER_DELETED);
}

/* The only link: reply first, clean up after the reply is sent. */
static void server_deletes_the_only_link_dell_05_dell_06(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_delete(1, false, false);

	lab->side[CLIENT].keeps_results = true;
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 1);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, 0);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_terminated, 0);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[CLIENT].flow),
			SMC_LLC_NO_DEADLINE);
	/* A repeated request is answered once. */
	msg = say_delete(1, false, false);
	lab_say(lab, CLIENT, &msg);
	lab_expect_silence(lab, CLIENT);
	lab->side[CLIENT].keeps_results = false;
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 1);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_PEER_DELETED);
}

static void server_deletes_an_unknown_link_err_49(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_delete(77, false, false);

	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 77);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_UNKNOWN_LINK);
	lab_expect_alive(lab, CLIENT);
}

/* The client only notifies; the server runs the exchange. */
static void client_deletes_the_only_link_dell_08_dell_09_dell_10(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_msg msg = say_delete(1, false, false);

	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 1);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_OPERATOR);
	KUNIT_EXPECT_TRUE(test, msg.delete_link.is_orderly);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.link[0].state, SMC_LLC_LINK_DELETE_WANTED);
	lab_expect_alive(lab, SERVER);
	msg = say_delete(1, false, true);
	lab_say(lab, SERVER, &msg);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_PEER_DELETED);
}

static void client_deletes_and_does_not_answer_err_38(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_msg msg = say_delete(1, false, false);

	lab_say(lab, SERVER, &msg);
	lab_wait(lab, lab_timers().delete_link);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_DELETE_LINK_TIMEOUT);
}

static void client_deletes_an_unknown_link_err_48(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_msg msg = say_delete(77, false, false);

	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_UNKNOWN_LINK);

	/* Number 2 was the withdrawn offer. The client may still have the link. */
	msg = say_delete(2, false, false);
	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_UNKNOWN_LINK);

	/* Number 3 is being deleted right now. */
	lab = lab_up_server_deleting(test, true);
	msg = say_delete(3, false, false);
	lab_say(lab, SERVER, &msg);
	lab_expect_silence(lab, SERVER);
	KUNIT_EXPECT_NE(test, lab->side[SERVER].flow.next_add, 0);
	lab_expect_alive(lab, SERVER);

	/* Before any link is gone no late message is possible, not even for number 0. */
	lab = lab_server_waits_add(test, true);
	msg = say_delete(0, false, false);
	lab_say(lab, SERVER, &msg);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, true);
}

/* A DELETE LINK that cannot be processed now is processed later. */
static void client_delete_waits_ser_08_ser_13_ser_19_ser_04(struct kunit *test)
{
	struct smc_llc_msg del = say_delete(1, false, false);
	struct smc_llc_msg end[3] = {
		say_reject(3), say_delete(3, false, true), say_confirm_rkey(5, 0, true),
	};
	struct lab *labs[3];
	unsigned int i;

	labs[0] = lab_up_server_adding(test, false);
	labs[1] = lab_up_server_deleting(test, false);
	labs[2] = lab_up_facing(test, SERVER, false);
	lab_rkey(labs[2], SERVER, false, 5, 1);
	lab_hear(labs[2], SERVER, SMC_LLC_CONFIRM_RKEY, false);
	for (i = 0; i < ARRAY_SIZE(labs); i++) {
		struct smc_llc_msg msg;

		lab_say(labs[i], SERVER, &del);
		lab_expect_silence(labs[i], SERVER);
		lab_say(labs[i], SERVER, &end[i]);
		msg = lab_hear(labs[i], SERVER, SMC_LLC_DELETE_LINK, false);
		KUNIT_EXPECT_EQ(test, msg.delete_link.link_num, 1);
	}
	/* During first contact as well. */
	labs[0] = lab_server_waits_add(test, true);
	lab_say(labs[0], SERVER, &del);
	lab_expect_silence(labs[0], SERVER);
	end[0] = say_reject(2);
	lab_say(labs[0], SERVER, &end[0]);
	lab_hear(labs[0], SERVER, SMC_LLC_DELETE_LINK, false);
}

static void client_add_link_starts_an_attempt_err_59_addl_06_addl_07(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_msg msg = say_add_link(7, 0, 0, false);

	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	KUNIT_EXPECT_EQ(test, msg.add_link.link_num, 3);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_created, 2);
}

/* The client has asked for a link, but an offer leads to none. */
static void lab_waste_offer(struct lab *lab, bool accepts)
{
	struct smc_llc_msg msg;
	u8 num;

	if (!lab->side[SERVER].nr_out)
		return;
	num = lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false).add_link.link_num;
	msg = accepts ? say_add_link(7, num, SMC_MTU_1024, true) : say_reject(num);
	lab_say(lab, SERVER, &msg);
	if (!accepts)
		return;
	/* the server knows of no RNICs, and withdraws the link */
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	msg = say_delete(num, false, true);
	lab_say(lab, SERVER, &msg);
}

/* Each offer creates a queue pair: a client must not trigger them at its own rate. */
static void offers_on_demand_are_limited_err_59_addl_07_sl_12(struct kunit *test)
{
	unsigned int i, created, offers;
	struct smc_llc_msg notice;
	struct lab *lab;
	int how, round;

	for (how = 0; how < 4; how++) {
		lab = lab_up_facing(test, SERVER, how & 1);
		notice = say_add_link(7, 0, 0, false);
		/* the limit of first contact is over */
		lab->now += lab_timers().reply;
		for (round = 0; round < 3; round++) {
			created = lab->side[SERVER].nr_created;
			for (i = 0; i < 10 * SMC_LLC_ATTEMPTS; i++) {
				lab->now++;
				lab_say(lab, SERVER, &notice);
				lab_waste_offer(lab, how & 2);
			}
			offers = lab->side[SERVER].nr_created - created;
			KUNIT_EXPECT_LE(test, offers, SMC_LLC_ATTEMPTS);
			/* a server with many RNICs may offer each of them at once */
			KUNIT_EXPECT_GE(test, offers, SMC_LLC_RNICS);
			lab_expect_silence(lab, SERVER);
			/* the request of the client stays pending */
			lab_wait(lab, lab_timers().reply);
			KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_out, 1);
			lab_waste_offer(lab, how & 2);
			lab->now += lab_timers().reply;
		}
		lab_expect_alive(lab, SERVER);
		KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped,
				lab->side[SERVER].nr_created);
	}
}

/* A server must not trigger queue pairs at the client by offers that it withdraws or replaces. */
static void answers_on_demand_are_limited_err_29_dell_05(struct kunit *test)
{
	struct smc_llc_msg msg;
	unsigned int i, made;
	struct lab *lab;
	int how;
	u8 num;

	for (how = 0; how < 2; how++) {
		lab = lab_up_facing(test, CLIENT, false);
		lab_tell_rnic(lab, CLIENT);
		lab->side[CLIENT].nr_out = 0;
		lab->now += lab_timers().reply;
		for (i = 0; i < 10 * SMC_LLC_ATTEMPTS; i++) {
			num = 10 + i;
			lab->now++;
			msg = say_add_link(7, num, SMC_MTU_1024, false);
			lab_say(lab, CLIENT, &msg);
			msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
			if (how || msg.add_link.is_rejected)
				continue;
			msg = say_delete(num, false, false);
			lab_say(lab, CLIENT, &msg);
			lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
		}
		made = lab->side[CLIENT].nr_created;
		KUNIT_EXPECT_LE(test, made, SMC_LLC_ATTEMPTS);
		KUNIT_EXPECT_GE(test, made, SMC_LLC_RNICS);
		KUNIT_EXPECT_TRUE(test, msg.add_link.is_rejected);
		lab_expect_silence(lab, CLIENT);
		/* the client reports when it would accept again, and does */
		lab_wait(lab, lab_timers().reply);
		lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, false);
		msg = say_add_link(7, 9, SMC_MTU_1024, false);
		lab_say(lab, CLIENT, &msg);
		msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
		KUNIT_EXPECT_FALSE(test, msg.add_link.is_rejected);
		lab_expect_alive(lab, CLIENT);
	}
}

static void client_add_link_crosses_ser_07(struct kunit *test)
{
	struct lab *lab = lab_up_server_adding(test, false);
	struct smc_llc_msg msg = say_add_link(7, 0, 0, false);

	lab_say(lab, SERVER, &msg);
	msg = say_reject(3);
	lab_say(lab, SERVER, &msg);
	lab_expect_silence(lab, SERVER);
	lab_expect_alive(lab, SERVER);

	/* In first contact too. */
	lab = lab_server_waits_add(test, false);
	msg = say_add_link(7, 0, 0, false);
	lab_say(lab, SERVER, &msg);
	msg = say_reject(2);
	lab_say(lab, SERVER, &msg);
	lab_expect_silence(lab, SERVER);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 1);

	/* And while the queue pair is still being created. */
	lab = lab_up_facing(test, SERVER, false);
	lab->side[SERVER].keeps_results = true;
	lab_want_link(lab, SERVER);
	msg = say_add_link(7, 0, 0, false);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_NE(test, lab->side[SERVER].flow.next_add, 0);
}

static void client_add_link_waits_ser_12_ser_17(struct kunit *test)
{
	struct lab *lab = lab_up_server_deleting(test, false);
	struct smc_llc_event give_up = { .type = SMC_LLC_EV_REQ_DELETE_LINK, .link = 1 };
	struct smc_llc_msg add = say_add_link(7, 0, 0, false);
	struct smc_llc_msg msg;

	lab_say(lab, SERVER, &add);
	lab_expect_silence(lab, SERVER);
	msg = say_delete(3, false, true);
	lab_say(lab, SERVER, &msg);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);

	lab = lab_up_facing(test, SERVER, false);
	lab_rkey(lab, SERVER, false, 5, 1);
	lab_hear(lab, SERVER, SMC_LLC_CONFIRM_RKEY, false);
	lab_say(lab, SERVER, &add);
	lab_expect_silence(lab, SERVER);
	msg = say_confirm_rkey(5, 0, true);
	lab_say(lab, SERVER, &msg);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);

	/* until another link is clear and deleted */
	lab = lab_up_facing(test, SERVER, false);
	lab_more_links(lab, SERVER, 1, 9);
	give_up.terminate.is_orderly = true;
	lab_feed(lab, SERVER, &give_up);
	KUNIT_ASSERT_EQ(test, lab->side[SERVER].flow.config, SMC_LLC_CONFIG_CLEAR_LINK);
	lab_say(lab, SERVER, &add);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.next_add, 0);
}

static void client_add_link_at_the_maximum_addl_05_addl_09_maxl_10(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;
	struct smc_llc_msg msg = say_add_link(7, 0, 0, false);

	lab_more_links(lab, SERVER, 1, 2);
	lab_rkey(lab, SERVER, false, 5, 1);
	lab_hear(lab, SERVER, SMC_LLC_CONFIRM_RKEY, false);
	lab_say(lab, SERVER, &msg);
	msg = say_confirm_rkey(5, 0, true);
	lab_say(lab, SERVER, &msg);
	lab_want_link(lab, SERVER);
	lab_expect_silence(lab, SERVER);
	KUNIT_EXPECT_NE(test, flow->next_add, 0);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_created, 1);
}

/* A client never starts an ADD LINK exchange, here or beyond the limit. */
static void client_starts_no_add_link_maxl_09_lg_08(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);

	lab_want_link(lab, CLIENT);
	lab_expect_silence(lab, CLIENT);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_created, 0);
}

static void second_link_is_tried_again_err_57_tmr_12(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);
	struct smc_llc_msg msg;

	lab->side[SERVER].flow.params.timers.add_link_retry = 5000;
	lab_start(lab);
	lab_tell_rnic(lab, SERVER);
	lab_pump(lab);
	lab->is_played[CLIENT] = true;
	lab_wait(lab, 4999);
	lab_expect_silence(lab, SERVER);
	lab_wait(lab, 1);
	msg = lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	KUNIT_EXPECT_EQ(test, msg.add_link.link_num, 3);
	/* And again after the next rejection, when twice the time has passed. */
	msg = say_reject(3);
	lab_say(lab, SERVER, &msg);
	lab_wait(lab, 9999);
	lab_expect_silence(lab, SERVER);
	lab_wait(lab, 1);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	msg = say_reject(4);
	lab_say(lab, SERVER, &msg);
	lab_event(lab, SERVER, SMC_LLC_EV_LINK_BROKEN);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_LINK_BROKEN);
}

/* A group up whose server has one port and has just been refused a second link. */
static struct lab *lab_up_refused(struct kunit *test, u32 retry_ms)
{
	struct lab *lab = lab_new(test, true, true);

	lab->side[SERVER].flow.params.timers.add_link_retry = retry_ms;
	lab->side[SERVER].flow.params.test_link_idle_ms = 0;
	lab_start(lab);
	lab_tell_rnic(lab, SERVER);
	lab_pump(lab);
	lab->is_played[CLIENT] = true;
	return lab;
}

static void lab_refuse_offer_now(struct lab *lab)
{
	struct smc_llc_msg msg = lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);

	msg = say_reject(msg.add_link.link_num);
	lab_say(lab, SERVER, &msg);
}

/* The next offer comes after @ms, and is refused. */
static void lab_refuse_offer_after(struct lab *lab, u32 ms)
{
	lab_wait(lab, ms - 1);
	lab_expect_silence(lab, SERVER);
	lab_wait(lab, 1);
	lab_refuse_offer_now(lab);
}

/* Hosts with one port: an attempt costs an RNIC commands, in each of thousands of groups. */
static void retries_back_off_tmr_12(struct kunit *test)
{
	struct lab *lab = lab_up_refused(test, 30000);
	unsigned int i, created;

	for (i = 0; i < 7; i++)
		lab_refuse_offer_after(lab, 30000 << i);
	lab_refuse_offer_after(lab, SMC_LLC_RETRY_MAX_MS);
	lab_refuse_offer_after(lab, SMC_LLC_RETRY_MAX_MS);
	/* one queue pair for each hour */
	created = lab->side[SERVER].nr_created;
	lab_refuse_offer_after(lab, SMC_LLC_RETRY_MAX_MS);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_created, created + 1);
	lab_expect_alive(lab, SERVER);

	/* a longer pause that was asked for is neither shortened nor overrun */
	lab = lab_up_refused(test, SMC_LLC_RETRY_MAX_MS);
	lab_refuse_offer_after(lab, SMC_LLC_RETRY_MAX_MS);
	lab_refuse_offer_after(lab, SMC_LLC_RETRY_MAX_MS);
}

/* The pauses start over when an attempt may succeed that did not before. */
static void retries_start_over_err_58_err_59(struct kunit *test)
{
	struct smc_llc_msg ask = say_add_link(7, 0, 0, false);
	struct lab *lab = lab_up_refused(test, 5000);

	lab_refuse_offer_after(lab, 5000);
	lab_refuse_offer_after(lab, 10000);
	/* the client asks */
	lab_say(lab, SERVER, &ask);
	lab_refuse_offer_now(lab);
	lab_refuse_offer_after(lab, 5000);
	lab_refuse_offer_after(lab, 10000);
	/* the port of this side is another one, or has another GID or MTU */
	lab->side[SERVER].end.gid[15]++;
	lab_tell_rnic(lab, SERVER);
	lab_pump(lab);
	lab_refuse_offer_now(lab);
	lab_refuse_offer_after(lab, 5000);
	lab_refuse_offer_after(lab, 10000);
	/* the port was away, as after its carrier */
	lab_event(lab, SERVER, SMC_LLC_EV_RNICS);
	lab_tell_rnic(lab, SERVER);
	lab_pump(lab);
	lab_refuse_offer_now(lab);
	lab_refuse_offer_after(lab, 5000);

	/* the client asks while an offer is under way */
	lab_wait(lab, 10000);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	lab_say(lab, SERVER, &ask);
	ask = say_reject(lab->side[SERVER].flow.last_num);
	lab_say(lab, SERVER, &ask);
	lab_refuse_offer_after(lab, 5000);
	lab_expect_alive(lab, SERVER);
}

static void later_add_link_without_reply_err_29(struct kunit *test)
{
	struct lab *lab = lab_up_server_adding(test, false);

	lab_wait(lab, lab_timers().reply - 1);
	lab_expect_alive(lab, SERVER);
	lab_wait(lab, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 2);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_ADD_LINK_REPLY_TIMEOUT);
}

static void later_spare_fails_and_nothing_else(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);

	lab->side[SERVER].spare_fails = true;
	lab_want_link(lab, SERVER);
	/* later no bare queue pair takes its place */
	lab->side[SERVER].spare_fails = false;
	lab_pump(lab);
	lab->side[SERVER].spare_fails = true;
	lab_expect_silence(lab, SERVER);
	lab_expect_alive(lab, SERVER);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.link[1].state, SMC_LLC_LINK_FREE);
	KUNIT_EXPECT_TRUE(test, smc_llc_flow_may_request(&lab->side[SERVER].flow, lab->now));

	/* With a retry timer the server tries again. */
	lab->side[SERVER].flow.params.timers.add_link_retry = 5000;
	lab_tell_rnic(lab, SERVER);
	lab_pump(lab);
	lab->side[SERVER].spare_fails = false;
	lab_wait(lab, 5000);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
}

static void later_add_link_crosses_the_wire_sl_12(struct kunit *test)
{
	struct lab *lab = lab_up(test, false);

	lab_want_link(lab, SERVER);
	lab_pump(lab);
	lab_expect_alive(lab, SERVER);
	lab_expect_alive(lab, CLIENT);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_created, 2);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 2);
}

/* No RKEY exchange of our own starts while links change. */
static void rkeys_wait_for_links_ser_02_ser_05_rkey_15(struct kunit *test)
{
	struct lab *lab = lab_up_server_adding(test, true);
	struct smc_llc_msg msg = say_reject(3);

	KUNIT_EXPECT_FALSE(test, smc_llc_flow_may_request(&lab->side[SERVER].flow, lab->now));
	lab_rkey(lab, SERVER, false, 5, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].rkey_result, -EBUSY);
	lab_expect_silence(lab, SERVER);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_TRUE(test, smc_llc_flow_may_request(&lab->side[SERVER].flow, lab->now));

	/* Nor the other way round. */
	lab = lab_up_facing(test, SERVER, true);
	lab_rkey(lab, SERVER, false, 5, 1);
	lab_hear(lab, SERVER, SMC_LLC_CONFIRM_RKEY, false);
	lab_want_link(lab, SERVER);
	lab_pump(lab);
	lab_expect_silence(lab, SERVER);
	msg = say_confirm_rkey(5, 0, true);
	lab_say(lab, SERVER, &msg);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
}

static void client_confirm_rkey_is_refused_ser_10_ser_15(struct kunit *test)
{
	struct smc_llc_msg rkey = say_confirm_rkey(5, 0, false);
	struct lab *labs[3];
	unsigned int i;

	labs[0] = lab_up_server_adding(test, false);
	labs[1] = lab_up_server_deleting(test, false);
	labs[2] = lab_server_waits_add(test, false);
	for (i = 0; i < ARRAY_SIZE(labs); i++) {
		struct smc_llc_msg msg;

		lab_say(labs[i], SERVER, &rkey);
		msg = lab_hear(labs[i], SERVER, SMC_LLC_CONFIRM_RKEY, true);
		KUNIT_EXPECT_TRUE(test, msg.confirm_rkey.is_negative);
		KUNIT_EXPECT_TRUE(test, msg.confirm_rkey.may_retry);
		KUNIT_EXPECT_EQ(test, msg.confirm_rkey.here.rkey, 5);
		KUNIT_EXPECT_EQ(test, labs[i]->side[SERVER].nr_stored, 0);
	}
}

/* Deviation 15: a deployed client would give up its connection. */
static void client_confirm_rkey_is_taken_deployed(struct kunit *test)
{
	struct lab *lab = lab_up_server_adding(test, true);
	struct smc_llc_msg msg = say_confirm_rkey(5, 0, false);

	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_CONFIRM_RKEY, true);
	KUNIT_EXPECT_FALSE(test, msg.confirm_rkey.is_negative);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_stored, 1);

	/* With a key for a link that is being deleted. */
	lab = lab_up_server_deleting(test, true);
	msg = say_confirm_rkey(6, 1, false);
	msg.confirm_rkey.other[0].link_num = 3;
	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_CONFIRM_RKEY, true);
	KUNIT_EXPECT_FALSE(test, msg.confirm_rkey.is_negative);
	lab_expect_alive(lab, SERVER);
}

/* AMB-21: DELETE RKEY has no code for "retry later", so it waits. */
static void client_delete_rkey_waits_for_links(struct kunit *test)
{
	struct lab *lab = lab_up_server_adding(test, false);
	struct smc_llc_msg msg = say_delete_rkey(5, false);

	lab_say(lab, SERVER, &msg);
	lab_expect_silence(lab, SERVER);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_deleted, 0);
	msg = say_reject(3);
	lab_say(lab, SERVER, &msg);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_RKEY, true);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_deleted, 1);

	/* Meanwhile its sender waits as well. */
	lab = lab_up_facing(test, CLIENT, false);
	lab_rkey(lab, CLIENT, true, 5, 1);
	lab_wait(lab, lab_timers().reply - 1);
	msg = say_add_link(1, 3, SMC_MTU_1024, false);
	lab_say(lab, CLIENT, &msg);
	lab_wait(lab, lab_timers().reply - 1);
	lab_expect_alive(lab, CLIENT);
	msg = say_delete(77, false, false);
	lab_say(lab, CLIENT, &msg);
	lab_wait(lab, lab_timers().reply - 1);
	lab_expect_alive(lab, CLIENT);
	lab_wait(lab, 1);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_RKEY_TIMEOUT);
}

/* The client answers ADD LINK while it waits for its own reply. */
static void confirm_rkey_crosses_add_link_ser_18(struct kunit *test)
{
	struct lab *lab = lab_up(test, false);

	lab_rkey(lab, CLIENT, false, 5, 1);
	lab_want_link(lab, SERVER);
	lab_work(lab, SERVER);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_rkey_done, 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, -EAGAIN);
	lab_expect_alive(lab, SERVER);
	lab_wait(lab, lab_timers().rkey_retry);
	lab_rkey(lab, CLIENT, false, 5, 2);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, 0);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].stored_rkey, 5);
}

static void confirm_rkey_crosses_delete_link_ser_20(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_msg msg = say_delete(3, false, false);

	lab_rkey(lab, CLIENT, false, 5, 1);
	lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, false);
	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
	msg = say_confirm_rkey(5, 0, true);
	msg.confirm_rkey.is_negative = true;
	msg.confirm_rkey.may_retry = true;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].rkey_result, -EAGAIN);
	lab_expect_alive(lab, CLIENT);
}

/* Requests are answered, notices are not. */
static void what_is_answered_llc_03_addl_10(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_confirm_rkey(1, 0, false);

	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, true);
	msg = say_delete_rkey(1, false);
	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_RKEY, true);
	msg = say_add_link(1, 2, SMC_MTU_4096, false);
	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	msg = say_delete(9, false, false);
	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
	lab_expect_silence(lab, CLIENT);
}

static void end_before_the_beginning(struct kunit *test)
{
	struct lab *lab = lab_new(test, true, true);

	lab_terminate(lab, SERVER);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_DELETED);
	lab_start_side(lab, SERVER);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.phase, SMC_LLC_DEAD);

	/* During first contact the caller learns whether TCP can continue. */
	lab = lab_client_waits_confirm(test, true);
	lab_terminate(lab, CLIENT);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_DELETED);
}

/* A queue pair that is created after the end is not leaked. */
static void spare_that_comes_too_late_is_dropped(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);

	lab_want_link(lab, SERVER);
	lab_event(lab, SERVER, SMC_LLC_EV_LINK_BROKEN);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_terminated, 1);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_dropped, 2);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_created, 2);
	lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_LINK_BROKEN);
}

static void dead_machine_says_nothing(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_msg msg = say_confirm_rkey(5, 0, false);
	struct smc_llc_event ev = {};
	int type;

	lab_event(lab, SERVER, SMC_LLC_EV_LINK_BROKEN);
	lab->side[SERVER].nr_todo = 0;
	for (type = 0; type <= SMC_LLC_EV_REQ_TERMINATE; type++) {
		memset(&ev, 0, sizeof(ev));
		ev.type = type;
		if (type == SMC_LLC_EV_MSG)
			ev.msg = msg;
		smc_llc_flow_event(&lab->side[SERVER].flow, &ev, lab->now,
				   &lab->side[SERVER].acts);
		/* A request gets an answer, everything else is ignored. */
		KUNIT_EXPECT_EQ_MSG(test, lab->side[SERVER].acts.nr,
				    type == SMC_LLC_EV_REQ_RKEY, "event %d", type);
	}
	ev.type = SMC_LLC_EV_MSG;
	ev.link = SMC_LLC_LINKS;
	smc_llc_flow_event(&lab->side[SERVER].flow, &ev, lab->now, &lab->side[SERVER].acts);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].acts.nr, 0);
	KUNIT_EXPECT_EQ(test, smc_llc_flow_deadline(&lab->side[SERVER].flow),
			SMC_LLC_NO_DEADLINE);
}

static void reasons_have_texts(struct kunit *test)
{
	enum smc_llc_why why;

	for (why = 0; why < SMC_LLC_WHY_NR; why++) {
		KUNIT_ASSERT_NOT_NULL(test, smc_llc_why_name(why));
		KUNIT_EXPECT_STRNEQ(test, smc_llc_why_name(why), "unknown");
	}
	KUNIT_EXPECT_STREQ(test, smc_llc_why_name(SMC_LLC_WHY_NR), "unknown");
}

/* DELETE RKEY is answered one at a time on each link, also while one is put off. */
static void second_delete_rkey_on_a_link_llc_12_ser_02(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG, .msg = say_delete_rkey(5, false) };
	struct lab *lab;
	int is_put_off;

	for (is_put_off = 0; is_put_off < 2; is_put_off++) {
		lab = is_put_off ? lab_up_server_adding(test, false) :
				   lab_up_facing(test, SERVER, false);
		lab->side[SERVER].keeps_results = true;
		lab_feed(lab, SERVER, &ev);
		KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.remote.is_put_off, is_put_off);
		KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_terminated, 0);
		lab_feed(lab, SERVER, &ev);
		lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_OUT_OF_SYNC);
	}
}

static void rkey_reply_of_another_type_llc_12_err_54(struct kunit *test)
{
	struct smc_llc_msg reply[] = { say_delete_rkey(5, true), say_confirm_rkey(5, 0, true) };
	int is_delete;

	for (is_delete = 0; is_delete < 2; is_delete++) {
		struct lab *lab = lab_up_facing(test, CLIENT, true);

		/* one that would end either exchange */
		reply[0].delete_rkey.is_negative = true;
		reply[1].confirm_rkey.is_negative = true;
		lab_rkey(lab, CLIENT, is_delete, 5, 1);
		lab_say(lab, CLIENT, &reply[is_delete]);
		lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_OUT_OF_SYNC);
	}
}

/* The server answers on the link of the request. */
static void delete_link_reply_on_another_link_err_46(struct kunit *test)
{
	struct lab *lab = lab_up_server_deleting(test, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG, .link = 2 };

	lab_more_links(lab, SERVER, 2, 9);
	ev.msg = say_delete(3, false, true);
	lab_feed(lab, SERVER, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.config, SMC_LLC_CONFIG_DELETE_LINK);
	lab_expect_alive(lab, SERVER);
	ev.link = 0;
	lab_feed(lab, SERVER, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.config, SMC_LLC_CONFIG_NONE);
	lab_expect_alive(lab, SERVER);
}

/* The server lost the carrier of its request before the reply, and repeats it. */
static void delete_link_is_repeated_on_another_link_dell_05(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	struct lab_msg reply;

	lab_more_links(lab, CLIENT, 1, 2);
	lab_more_links(lab, CLIENT, 2, 3);
	lab->side[CLIENT].keeps_results = true;
	ev.msg = say_delete(2, false, false);
	ev.msg.delete_link.is_orderly = false;
	lab_feed(lab, CLIENT, &ev);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
	/* on the same link it is still being answered */
	lab_feed(lab, CLIENT, &ev);
	lab_expect_silence(lab, CLIENT);
	ev.link = 2;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_ASSERT_TRUE(test, lab_take(&lab->side[CLIENT], &reply));
	KUNIT_EXPECT_EQ(test, reply.msg.type, SMC_LLC_DELETE_LINK);
	KUNIT_EXPECT_TRUE(test, reply.msg.is_reply);
	KUNIT_EXPECT_EQ(test, reply.link, 2);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_terminated, 0);
}

/* A client of version 2 that creates its end of an offered link. */
static struct lab *lab_up_client_offered(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_add_link(7, 3, SMC_MTU_1024, false);

	lab_tell_rnic(lab, CLIENT);
	lab_pump(lab);
	lab->side[CLIENT].nr_out = 0;
	lab->side[CLIENT].flow.params.has_long_add_link = true;
	msg.add_link.nr_pairs = 1;
	lab->side[CLIENT].keeps_results = true;
	lab_say(lab, CLIENT, &msg);
	KUNIT_ASSERT_EQ(test, lab->side[CLIENT].flow.config, SMC_LLC_CONFIG_CREATE);
	return lab;
}

/* A server that gets no answer would lose the carrier (ERR-29). */
static void offer_is_refused_if_its_link_breaks_sl_11_sl_12(struct kunit *test)
{
	static const enum smc_llc_config at[] = {
		SMC_LLC_CONFIG_CREATE, SMC_LLC_CONFIG_PREPARE, SMC_LLC_CONFIG_STORE,
	};
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN };
	struct smc_llc_flow *flow;
	struct smc_llc_msg msg;
	unsigned int i, k;
	struct lab *lab;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		lab = lab_up_client_offered(test);
		flow = &lab->side[CLIENT].flow;
		ev.link = flow->config_target;
		for (k = 0; k < 4 && flow->config != at[i]; k++) {
			lab->side[CLIENT].keeps_results = false;
			lab_work(lab, CLIENT);
			lab->side[CLIENT].keeps_results = true;
		}
		KUNIT_ASSERT_EQ(test, flow->config, at[i]);
		lab_feed(lab, CLIENT, &ev);
		msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
		KUNIT_EXPECT_TRUE(test, msg.add_link.is_rejected);
		KUNIT_EXPECT_EQ(test, msg.add_link.link_num, 3);
		KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_NONE);
		lab_expect_silence(lab, CLIENT);
		lab_expect_alive(lab, CLIENT);
	}
}

/* AMB-21: the server may answer DELETE RKEY only after the exchange that the client ends. */
static void rejection_extends_delete_rkey_amb_21(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_msg msg = say_add_link(7, 3, SMC_MTU_1024, false);
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;

	lab_tell_rnic(lab, CLIENT);
	lab_pump(lab);
	lab->side[CLIENT].nr_out = 0;
	lab_rkey(lab, CLIENT, true, 5, 1);
	lab->side[CLIENT].keeps_results = true;
	lab_say(lab, CLIENT, &msg);
	KUNIT_ASSERT_EQ(test, flow->config, SMC_LLC_CONFIG_CREATE);
	lab_wait(lab, lab_timers().reply - 1);
	KUNIT_ASSERT_EQ(test, flow->config, SMC_LLC_CONFIG_NONE);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_RKEY, false);
	msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	KUNIT_EXPECT_TRUE(test, msg.add_link.is_rejected);
	/* rejected at three quarters of the reply time */
	KUNIT_EXPECT_EQ(test, flow->own.deadline,
			lab->now + 1 + lab_timers().reply / 4 * 3);
}

static void unknown_link_of_the_server_amb_64(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN, .link = 1 };
	struct smc_llc_msg msg = say_delete(2, false, true);

	/* it ends the link that this side has reported */
	msg.delete_link.reason = SMC_LLC_DELETE_UNKNOWN_LINK;
	lab_more_links(lab, CLIENT, 1, 2);
	lab_feed(lab, CLIENT, &ev);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, false);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[1].state, SMC_LLC_LINK_REPORTED);
	/* no other reply does, nor the completion of an earlier one of this side */
	msg.delete_link.reason = 0;
	lab_say(lab, CLIENT, &msg);
	ev = (struct smc_llc_event){ .type = SMC_LLC_EV_SENT, .ok = true };
	ev.cookie = SMC_LLC_SENT_DELETE_REPLY | 1 << SMC_LLC_SENT_SHIFT;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[1].state, SMC_LLC_LINK_REPORTED);
	msg.delete_link.reason = SMC_LLC_DELETE_UNKNOWN_LINK;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[1].state, SMC_LLC_LINK_FREE);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_terminated, 0);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[0].state, SMC_LLC_LINK_ACTIVE);

	/* and is out of sync about one in use */
	lab = lab_up_facing(test, CLIENT, true);
	lab_more_links(lab, CLIENT, 1, 2);
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].down_why, SMC_LLC_WHY_OUT_OF_SYNC);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[1].state, SMC_LLC_LINK_ACTIVE);
	KUNIT_EXPECT_NE(test, lab->side[CLIENT].flow.link[0].state, SMC_LLC_LINK_ACTIVE);
}

/* The RNIC of the first link is removed during first contact. */
static void rnic_goes_in_first_contact_err_56_lgt_03(struct kunit *test)
{
	struct lab *lab = lab_client_waits_add(test, false);

	lab_event(lab, CLIENT, SMC_LLC_EV_LINK_GOING);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_failed, 1);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].why, SMC_LLC_WHY_LINK_BROKEN);
	lab_expect_silence(lab, CLIENT);
	lab_expect_dead(lab, CLIENT);
}

/* The RNIC of a link that has failed already: the other link stays. */
static void rnic_of_a_lost_link_goes_lgt_03(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN, .link = 1 };

	lab_more_links(lab, CLIENT, 1, 2);
	lab_feed(lab, CLIENT, &ev);
	ev.type = SMC_LLC_EV_LINK_GOING;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.phase, SMC_LLC_UP);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_down, 1);
}

/* A departing link carries exchanges until it breaks. */
static void departing_link_breaks_ser_19_lgt_05(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_DELETE_LINK, .link = 1 };
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;

	lab_more_links(lab, CLIENT, 1, 2);
	ev.terminate.reason = SMC_LLC_DELETE_OPERATOR;
	ev.terminate.is_orderly = true;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_TRUE(test, smc_llc_is_deleting(flow, 1));
	ev.type = SMC_LLC_EV_LINK_BROKEN;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_FALSE(test, smc_llc_is_deleting(flow, 1));
	/* and the reason for its end stays */
	KUNIT_EXPECT_EQ(test, flow->link[1].why, SMC_LLC_WHY_DELETED);
}

/* The client begins no RKEY exchange from the request to delete a link to its end. */
static void no_rkey_exchange_while_a_link_ends_ser_05(struct kunit *test)
{
	static const bool may_request[SMC_LLC_LINK_NR_STATES] = {
		[SMC_LLC_LINK_FREE] = true, [SMC_LLC_LINK_FORMING] = true,
		[SMC_LLC_LINK_ACTIVE] = true, [SMC_LLC_LINK_GOING] = true,
	};
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	enum smc_llc_link_state state;

	lab_more_links(lab, CLIENT, 1, 2);
	for (state = 0; state < SMC_LLC_LINK_NR_STATES; state++) {
		lab->side[CLIENT].flow.link[1].state = state;
		KUNIT_EXPECT_EQ_MSG(test, smc_llc_flow_may_request(&lab->side[CLIENT].flow,
								   lab->now),
				    may_request[state], "state %u", state);
	}
}

/* SER-07: an offer answers the notice that this side could not send yet. */
static void offer_replaces_a_pending_notice_ser_07(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_msg msg = say_add_link(7, 3, SMC_MTU_1024, false);

	lab_rkey(lab, CLIENT, false, 5, 1);
	lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, false);
	lab_tell_rnic(lab, CLIENT);
	lab_expect_silence(lab, CLIENT);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.next_add, 0);
	lab->side[CLIENT].spare_fails = true;
	lab_say(lab, CLIENT, &msg);
	msg = say_confirm_rkey(5, 0, true);
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	KUNIT_EXPECT_TRUE(test, msg.add_link.is_rejected);
	lab_expect_silence(lab, CLIENT);
}

/* Any exchange on a link delays its end, and none on another link. */
static void link_is_given_up_after_its_exchanges_ser_19(struct kunit *test)
{
	struct smc_llc_event give_up = { .type = SMC_LLC_EV_REQ_DELETE_LINK };
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	enum { OWN, REMOTE, CONFIG, EXCHANGES } kind;
	struct lab *lab;
	int idx;

	give_up.terminate.reason = SMC_LLC_DELETE_OPERATOR;
	give_up.terminate.is_orderly = true;
	for (kind = 0; kind < EXCHANGES; kind++) {
		for (idx = 0; idx <= 2; idx += 2) {
			lab = lab_up_facing(test, CLIENT, true);
			if (kind == CONFIG)
				lab_accept(lab, 3);
			lab_more_links(lab, CLIENT, 2, 9);
			lab->side[CLIENT].keeps_results = true;
			ev.msg = say_delete_rkey(5, false);
			if (kind == OWN)
				lab_rkey(lab, CLIENT, true, 5, 1);
			else if (kind == REMOTE)
				lab_feed(lab, CLIENT, &ev);
			/* the exchange is on link 0 */
			give_up.link = idx;
			lab_feed(lab, CLIENT, &give_up);
			KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[idx].state,
					idx ? SMC_LLC_LINK_FAILED : SMC_LLC_LINK_DELETE_WANTED);
			/* one that breaks before carries nothing more */
			give_up.type = SMC_LLC_EV_LINK_BROKEN;
			lab_feed(lab, CLIENT, &give_up);
			give_up.type = SMC_LLC_EV_REQ_DELETE_LINK;
			KUNIT_EXPECT_FALSE(test, smc_llc_is_deleting(&lab->side[CLIENT].flow,
								     idx));
		}
	}
}

static void a_pause_lasts_until_its_time_err_59(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;

	flow->backoff_end = lab->now + 100;
	lab_tick(lab, SERVER, lab->now);
	KUNIT_EXPECT_EQ(test, flow->backoff_end, lab->now + 100);
	lab->now += 100;
	lab_tick(lab, SERVER, lab->now);
	KUNIT_EXPECT_EQ(test, flow->backoff_end, 0);
}

/* Only a deployed client declines late what it had accepted. */
static void pause_after_a_withdrawn_link_is_deployed_amb_40(struct kunit *test)
{
	int deployed;

	for (deployed = 0; deployed < 2; deployed++) {
		struct lab *lab = lab_up_server_deleting(test, deployed);
		struct smc_llc_msg msg = say_delete(3, false, true);

		msg.delete_link.is_orderly = false;
		lab_say(lab, SERVER, &msg);
		KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.add_pause,
				deployed ? lab->now + lab_timers().reply : SMC_LLC_NO_DEADLINE);
	}
}

/* It may omit the number (AMB-40), but not name a link that was never offered. */
static void late_rejection_ends_the_pause_once_err_54(struct kunit *test)
{
	static const u8 nums[] = { 0, 77 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nums); i++) {
		struct lab *lab = lab_up_server_deleting(test, true);
		struct smc_llc_msg msg = say_delete(3, false, true);

		msg.delete_link.is_orderly = false;
		lab_say(lab, SERVER, &msg);
		msg = say_reject(nums[i]);
		lab_say(lab, SERVER, &msg);
		if (!nums[i]) {
			KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.add_pause,
					SMC_LLC_NO_DEADLINE);
			lab_say(lab, SERVER, &msg);
			/* it may also come after the pause, if the offer was the last one */
			lab_expect_alive(lab, SERVER);
			lab->side[SERVER].flow.last_num = 1;
			lab_say(lab, SERVER, &msg);
		}
		lab_expect_terminated(lab, SERVER, SMC_LLC_WHY_OUT_OF_SYNC);
	}
}

/* It ends the deletion of the link it names, and of no other. */
static void late_rejection_ends_its_own_exchange_ser_02(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN, .link = 1 };
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;
	struct smc_llc_msg msg;

	lab_more_links(lab, SERVER, 1, 9);
	flow->max_links = 3;
	lab_want_link(lab, SERVER);
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	lab_feed(lab, SERVER, &ev);
	msg = say_add_link(7, 3, SMC_MTU_1024, true);
	lab_say(lab, SERVER, &msg);
	msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	KUNIT_ASSERT_EQ(test, msg.delete_link.link_num, 9);
	KUNIT_ASSERT_EQ(test, flow->link[2].state, SMC_LLC_LINK_FAILED);
	msg = say_reject(3);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, flow->link[2].state, SMC_LLC_LINK_FREE);
	KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_DELETE_LINK);
	lab_expect_silence(lab, SERVER);
}

/* An acceptance counts once, and on the link of the offer. */
static void acceptance_that_is_not_due_err_46_err_54(struct kunit *test)
{
	struct smc_llc_event ev = {
		.type = SMC_LLC_EV_MSG, .link = 2, .msg = say_add_link(7, 3, SMC_MTU_1024, true),
	};
	struct lab *lab = lab_up_server_adding(test, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;

	lab_more_links(lab, SERVER, 2, 9);
	lab_feed(lab, SERVER, &ev);
	KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_ADD_LINK);
	KUNIT_EXPECT_EQ(test, flow->link[2].why, SMC_LLC_WHY_OUT_OF_SYNC);

	lab = lab_up_server_deleting(test, true);
	flow = &lab->side[SERVER].flow;
	lab_say(lab, SERVER, &ev.msg);
	KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_DELETE_LINK);
	KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_DELETING);
	lab_expect_alive(lab, SERVER);
}

/* An offer that cannot be accepted is declined, whatever its number. */
static void offer_that_cannot_be_used_sl_11_err_44(struct kunit *test)
{
	static const struct {
		const char *what;
		u8 num, mtu;
		u32 qpn;
		u8 reason;
	} rows[] = {
		{ "no queue pair", 3, SMC_MTU_1024, 0, SMC_LLC_ADD_LINK_NO_PATH },
		{ "a link in use", 1, SMC_MTU_1024, 0x77, SMC_LLC_ADD_LINK_NO_PATH },
		{ "both", 1, SMC_MTU_1024, 0, SMC_LLC_ADD_LINK_NO_PATH },
		{ "no MTU, a link in use", 1, 0, 0x77, SMC_LLC_ADD_LINK_BAD_MTU },
		{ "nothing", 0, 0, 0, SMC_LLC_ADD_LINK_BAD_MTU },
	};
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_msg msg;
	unsigned int i;

	lab_tell_rnic(lab, CLIENT);
	lab->side[CLIENT].nr_out = 0;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		msg = say_add_link(7, rows[i].num, rows[i].mtu, false);
		msg.add_link.end.qpn = rows[i].qpn;
		lab_say(lab, CLIENT, &msg);
		msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
		KUNIT_EXPECT_TRUE_MSG(test, msg.add_link.is_rejected, "%s", rows[i].what);
		KUNIT_EXPECT_EQ_MSG(test, msg.add_link.reason, rows[i].reason, "%s",
				    rows[i].what);
		KUNIT_EXPECT_EQ_MSG(test, msg.add_link.link_num, rows[i].num, "%s",
				    rows[i].what);
		lab_expect_silence(lab, CLIENT);
	}
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_created, 0);
	lab_expect_alive(lab, CLIENT);
}

/*
 * The only link of a server of Linux 4.17 to 5.7 has number 0, as has its offer of nothing, in
 * first contact and in answer to a notice.
 */
static void old_server_offers_nothing_sl_11_err_44_amb_27(struct kunit *test)
{
	struct lab *lab = lab_client_waits_confirm(test, true);
	struct smc_llc_msg offer = say_add_link(1, 0, 0, false);
	struct smc_llc_msg msg = say_confirm_link(lab, SERVER, 0);

	offer.add_link.end.qpn = 0;
	offer.add_link.end.psn = 0;
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.confirm_link.link_num, 0);
	lab_say(lab, CLIENT, &offer);
	msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	KUNIT_EXPECT_TRUE(test, msg.add_link.is_rejected);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 1);

	lab_tell_rnic(lab, CLIENT);
	lab_pump(lab);
	lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, false);
	lab_say(lab, CLIENT, &offer);
	msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	KUNIT_EXPECT_TRUE(test, msg.add_link.is_rejected);
	lab_expect_silence(lab, CLIENT);
	lab_expect_alive(lab, CLIENT);

	/* the link can be named: DELETE LINK for it ends the group */
	msg = say_delete(0, false, false);
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.delete_link.reason, 0);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_PEER_DELETED);
}

/* The first offer has not been answered yet, so it leaves nothing. */
static void offer_replaces_one_that_waits_err_29_ser_18(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_msg msg = say_add_link(7, 3, SMC_MTU_1024, false);

	lab_tell_rnic(lab, CLIENT);
	lab->side[CLIENT].nr_out = 0;
	lab_rkey(lab, CLIENT, false, 5, 1);
	lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, false);
	lab->now++;
	lab_say(lab, CLIENT, &msg);
	KUNIT_ASSERT_EQ(test, lab->side[CLIENT].flow.config, SMC_LLC_CONFIG_HELD);
	/* nor does the offer extend the time limit of CONFIRM RKEY */
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.own.deadline,
			lab->now - 1 + lab_timers().reply);
	msg.add_link.link_num = 4;
	lab_say(lab, CLIENT, &msg);
	lab_expect_silence(lab, CLIENT);
	msg = say_confirm_rkey(5, 0, true);
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true);
	KUNIT_EXPECT_EQ(test, msg.add_link.link_num, 4);
	KUNIT_EXPECT_FALSE(test, msg.add_link.is_rejected);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_dropped, 0);
	lab_expect_alive(lab, CLIENT);
}

/* First contact: the second link is confirmed, and the reply is being sent. */
static struct lab *lab_client_confirmed(struct kunit *test)
{
	struct lab *lab = lab_client_waits_add(test, false);

	lab_accept(lab, 2);
	lab_say_on_offered(lab, SMC_LLC_ADD_LINK_CONT, 2, 0);
	lab->side[CLIENT].keeps_results = true;
	lab_say_on_offered(lab, SMC_LLC_CONFIRM_LINK, 2, 0);
	lab->side[CLIENT].nr_out = 0;
	KUNIT_ASSERT_EQ(test, lab->side[CLIENT].flow.config, SMC_LLC_CONFIG_CONFIRMED);
	return lab;
}

static void confirmed_link_stays_sl_16_sl_17(struct kunit *test)
{
	struct smc_llc_msg says[] = {
		say_add_link(8, 3, SMC_MTU_1024, false), say_delete(2, false, false),
	};
	struct smc_llc_event sent = {
		.type = SMC_LLC_EV_SENT, .ok = true, .link = 2, .cookie = SMC_LLC_SENT_CONFIRM_LINK,
	};
	struct smc_llc_flow *flow;
	struct lab *lab;
	unsigned int i;

	/* an offer does not end it, and its deletion not the group */
	for (i = 0; i < ARRAY_SIZE(says); i++) {
		lab = lab_client_confirmed(test);
		flow = &lab->side[CLIENT].flow;
		lab_say(lab, CLIENT, &says[i]);
		KUNIT_EXPECT_EQ(test, flow->link[1].state,
				i ? SMC_LLC_LINK_DELETE_REPLYING : SMC_LLC_LINK_ACTIVE);
		KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_dropped, 0);
		KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_failed, 0);
	}
	/* data waits for its own reply, and that needs no other link */
	lab = lab_client_confirmed(test);
	flow = &lab->side[CLIENT].flow;
	flow->config_link = 2;
	lab_feed(lab, CLIENT, &sent);
	KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_CONFIRMED);
	sent.link = 1;
	lab_feed(lab, CLIENT, &sent);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_up, 1);
}

/* A message about another link than the new one, or on another, does not continue it. */
static void new_link_is_the_one_that_was_offered_err_43_err_47_err_54(struct kunit *test)
{
	static const struct {
		const char *what;
		bool is_stored;		/* its keys are */
		u8 type, link, num, victim;
		enum smc_llc_why why;
	} rows[] = {
		{ "keys for another link", false, SMC_LLC_ADD_LINK_CONT, 0, 77, 0,
		  SMC_LLC_WHY_OUT_OF_SYNC },
		{ "keys on another link", false, SMC_LLC_ADD_LINK_CONT, 2, 3, 2,
		  SMC_LLC_WHY_OUT_OF_SYNC },
		{ "confirmed before the keys", false, SMC_LLC_CONFIRM_LINK, 1, 3, 1,
		  SMC_LLC_WHY_OUT_OF_SYNC },
		{ "confirmed on another link", true, SMC_LLC_CONFIRM_LINK, 2, 3, 2,
		  SMC_LLC_WHY_OUT_OF_SYNC },
		{ "confirmed as another link", true, SMC_LLC_CONFIRM_LINK, 1, 4, 1,
		  SMC_LLC_WHY_CONFIRM_LINK_DATA },
	};
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lab *lab = lab_up_facing(test, CLIENT, false);

		lab_accept(lab, 3);
		lab_more_links(lab, CLIENT, 2, 9);
		if (rows[i].is_stored)
			lab_say_on_offered(lab, SMC_LLC_ADD_LINK_CONT, 3, 0);
		ev.link = rows[i].link;
		ev.msg = (struct smc_llc_msg){ .type = rows[i].type };
		ev.msg.add_link_cont.link_num = rows[i].num;
		if (rows[i].type == SMC_LLC_CONFIRM_LINK) {
			ev.msg = say_confirm_link(lab, SERVER, rows[i].num);
			ev.msg.confirm_link.end = lab->side[CLIENT].flow.link[1].peer;
		}
		lab_feed(lab, CLIENT, &ev);
		KUNIT_EXPECT_EQ_MSG(test, lab->side[CLIENT].flow.link[rows[i].victim].why,
				    rows[i].why, "%s", rows[i].what);
	}
}

/* Late results of a link that was dropped do not count for the next one. */
static void results_count_for_their_own_link(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_PREPARED, .ok = true, .link = 2 };
	struct smc_llc_msg msg = say_add_link(7, 3, SMC_MTU_1024, false);

	lab_tell_rnic(lab, CLIENT);
	lab->side[CLIENT].nr_out = 0;
	lab_pump(lab);
	lab->side[CLIENT].keeps_results = true;
	lab_say(lab, CLIENT, &msg);
	lab->side[CLIENT].keeps_results = false;
	lab_work(lab, CLIENT);
	KUNIT_ASSERT_EQ(test, flow->config, SMC_LLC_CONFIG_PREPARE);
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_PREPARE);
	lab_pump(lab);
	lab->side[CLIENT].keeps_results = true;
	lab_say_on_offered(lab, SMC_LLC_ADD_LINK_CONT, 3, 1);
	KUNIT_ASSERT_EQ(test, flow->config, SMC_LLC_CONFIG_STORE);
	ev.type = SMC_LLC_EV_PAIRS_STORED;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_STORE);
}

/* The server deletes a link while the client still creates its end: that is the answer. */
static void offer_that_is_deleted_needs_no_answer_dell_05(struct kunit *test)
{
	struct lab *lab = lab_up_client_offered(test);
	struct smc_llc_msg msg = say_delete(3, false, false);

	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
	lab_expect_silence(lab, CLIENT);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.config, SMC_LLC_CONFIG_NONE);
	lab_expect_alive(lab, CLIENT);
}

/* RNICs that still free the links of earlier offers leave no index: a peer can cause that. */
static void offer_without_a_free_index_is_declined_sl_11(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_msg msg = say_add_link(7, 3, SMC_MTU_1024, false);
	u8 i;

	lab_tell_rnic(lab, CLIENT);
	lab->side[CLIENT].nr_out = 0;
	for (i = 1; i < SMC_LLC_LINKS; i++)
		lab->side[CLIENT].flow.link[i].state = SMC_LLC_LINK_GOING;
	lab_say(lab, CLIENT, &msg);
	KUNIT_EXPECT_TRUE(test, lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, true).add_link.is_rejected);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_created, 0);
	lab_expect_alive(lab, CLIENT);
}

/* No further RNIC: the server does not try the same one again at once. */
static void rnic_that_hangs_is_not_tried_again_at_once_err_56(struct kunit *test)
{
	int has_rnics;

	for (has_rnics = 0; has_rnics < 2; has_rnics++) {
		struct lab *lab = lab_up_facing(test, SERVER, true);
		struct smc_llc_flow *flow = &lab->side[SERVER].flow;

		lab->side[SERVER].keeps_results = true;
		if (has_rnics)
			lab_tell_rnic(lab, SERVER);
		else
			lab_want_link(lab, SERVER);
		KUNIT_ASSERT_EQ(test, flow->config, SMC_LLC_CONFIG_CREATE);
		lab->now += lab_timers().reply;
		lab_tick(lab, SERVER, lab->now);
		KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_NONE);
		KUNIT_EXPECT_EQ(test, flow->next_add, SMC_LLC_NO_DEADLINE);
	}
}

/* An RNIC that appears while the bare queue pair is created does not turn it into a link. */
static void bare_offer_is_the_last_attempt_amb_28(struct kunit *test)
{
	struct lab *lab = lab_server_waits_confirm(test, false);
	struct lab_side *server = &lab->side[SERVER];
	struct smc_llc_msg msg = say_confirm_link(lab, CLIENT, 1);
	struct smc_llc_event rnics = { .type = SMC_LLC_EV_RNICS, .rnics.count = 1 };

	server->spare_fails = true;
	server->keeps_results = true;
	lab_say(lab, SERVER, &msg);
	server->keeps_results = false;
	while (!server->flow.link[2].is_bare)
		KUNIT_ASSERT_TRUE(test, lab_work(lab, SERVER));
	server->spare_fails = false;
	rnics.rnics.rnic[0].mac[5] = 99;
	lab_feed(lab, SERVER, &rnics);
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, server->nr_created, 0);
	lab_expect_failed(lab, SERVER, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_NO_SPARE);
}

/* No notice without an RNIC, and none before a link that ends is deleted. */
static void notice_needs_an_rnic_and_its_turn_addl_06_ser_02(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_RNICS };
	struct smc_llc_msg msg;

	lab_feed(lab, CLIENT, &ev);
	lab_want_link(lab, CLIENT);
	lab_expect_silence(lab, CLIENT);

	lab_more_links(lab, CLIENT, 1, 9);
	lab->side[CLIENT].flow.max_links = 3;
	ev = (struct smc_llc_event){ .type = SMC_LLC_EV_LINK_BROKEN, .link = 1 };
	lab_feed(lab, CLIENT, &ev);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, false);
	lab_tell_rnic(lab, CLIENT);
	lab_expect_silence(lab, CLIENT);
	msg = say_delete(9, false, false);
	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
	lab_hear(lab, CLIENT, SMC_LLC_ADD_LINK, false);
}

/* DELETE LINK about one link leaves another that is reported, and the time of its own. */
static void delete_link_is_about_one_link_dell_05(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN, .link = 1 };
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;
	u64 deadline;

	lab_more_links(lab, CLIENT, 1, 9);
	lab_more_links(lab, CLIENT, 2, 10);
	lab->side[CLIENT].keeps_results = true;
	/* the last link that was added */
	flow->config_target = 1;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_ASSERT_EQ(test, flow->link[1].state, SMC_LLC_LINK_REPORTED);
	ev = (struct smc_llc_event){ .type = SMC_LLC_EV_MSG, .msg = say_delete(10, false, false) };
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_REPORTED);
	/* again, while it is cleared: the time is that of the first request */
	KUNIT_ASSERT_EQ(test, flow->link[2].data, SMC_LLC_DATA_CLEARING);
	deadline = flow->link[2].deadline;
	lab->now++;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_EQ(test, flow->link[2].deadline, deadline);
}

/* A link that carries the request about itself is not cleared: nothing else may be left. */
static void delete_link_on_the_link_itself_dell_06(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg = say_delete(1, false, false);

	lab_more_links(lab, CLIENT, 1, 9);
	lab->side[CLIENT].keeps_results = true;
	lab_say(lab, CLIENT, &msg);
	lab_hear(lab, CLIENT, SMC_LLC_TEST_LINK, false);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, true);
}

/* The client's reply has to name the link of the request. */
static void delete_link_reply_about_another_link_err_54(struct kunit *test)
{
	struct lab *lab = lab_up_server_deleting(test, true);
	struct smc_llc_msg msg = say_delete(9, false, true);

	lab_more_links(lab, SERVER, 2, 9);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.link[0].why, SMC_LLC_WHY_OUT_OF_SYNC);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.link[2].state, SMC_LLC_LINK_ACTIVE);
}

/* A server without SMC_LLC_EV_RNICS does not replace a link. */
static void link_without_rnics_is_not_replaced_addl_02(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN, .link = 1 };
	struct smc_llc_msg msg = say_delete(9, false, true);

	lab_more_links(lab, SERVER, 1, 9);
	lab->now += lab_timers().reply;
	lab_feed(lab, SERVER, &ev);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.link[1].state, SMC_LLC_LINK_FREE);
	lab_expect_silence(lab, SERVER);
}

/* Version 2: the link that carried REQ ADD LINK fails before the reply. */
static void request_whose_link_fails_gets_no_reply_addl_06(struct kunit *test)
{
	struct smc_llc_event broken = { .type = SMC_LLC_EV_LINK_BROKEN, .link = 1 };
	struct smc_llc_event req = {
		.type = SMC_LLC_EV_MSG, .link = 1, .msg.type = SMC_LLC_REQ_ADD_LINK,
	};
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;
	struct smc_llc_msg msg;

	lab_more_links(lab, SERVER, 1, 9);
	flow->max_links = 3;
	flow->params.has_long_add_link = true;
	lab->side[SERVER].spare_fails = true;
	lab->side[SERVER].keeps_results = true;
	lab_want_link(lab, SERVER);
	lab_feed(lab, SERVER, &req);
	KUNIT_ASSERT_EQ(test, flow->req_link, 1);
	lab_feed(lab, SERVER, &broken);
	lab->side[SERVER].keeps_results = false;
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	msg = say_delete(9, false, true);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, flow->req_link, SMC_LLC_NO_LINK);
	KUNIT_EXPECT_EQ(test, flow->config, SMC_LLC_CONFIG_NONE);
	lab_expect_silence(lab, SERVER);
}

/* An acceptance without a queue pair or a valid MTU. */
static void acceptance_without_a_queue_pair_err_45(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct lab *lab = lab_up_server_adding(test, true);
		struct smc_llc_msg msg = say_add_link(7, 3, i ? SMC_MTU_1024 : 0, true);

		if (i)
			msg.add_link.end.qpn = 0;
		lab_say(lab, SERVER, &msg);
		msg = lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
		KUNIT_EXPECT_EQ(test, msg.delete_link.reason, SMC_LLC_DELETE_PROTOCOL);
	}
}

/* Version 2: ADD LINK says whether there is no gateway on the path. */
static void offer_says_whether_the_path_is_direct_sl_04(struct kunit *test)
{
	int is_direct;

	for (is_direct = 0; is_direct < 2; is_direct++) {
		struct lab *lab = lab_up_facing(test, SERVER, true);

		lab_want_link(lab, SERVER);
		KUNIT_ASSERT_EQ(test, lab->side[SERVER].nr_todo, 1);
		KUNIT_ASSERT_EQ(test, lab->side[SERVER].todo[0].type, SMC_LLC_EV_LINK_CREATED);
		lab->side[SERVER].todo[0].created.is_direct = is_direct;
		lab_pump(lab);
		KUNIT_EXPECT_EQ(test, lab_hear(lab, SERVER, SMC_LLC_ADD_LINK,
					       false).add_link.is_direct, is_direct);
	}
}

static void each_link_number_is_gone_by_itself_lid_03(struct kunit *test)
{
	struct smc_llc_flow *flow = &lab_new(test, true, true)->side[SERVER].flow;
	unsigned int num, other;
	int is_gone;

	for (is_gone = 1; is_gone >= 0; is_gone--) {
		for (num = 0; num <= U8_MAX; num++) {
			smc_llc_set_deleted(flow, num, is_gone);
			for (other = 0; other <= U8_MAX; other++)
				KUNIT_ASSERT_EQ(test, smc_llc_is_deleted(flow, other),
						other <= num ? is_gone : !is_gone);
		}
	}
}

/* An ADD LINK exchange delays the time limit of a reported link, but not for ever (SER-08). */
static void reported_link_has_a_last_deadline_err_36(struct kunit *test)
{
	int is_over;

	for (is_over = 0; is_over < 2; is_over++) {
		struct lab *lab = lab_up_facing(test, CLIENT, false);
		struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN, .link = 2 };
		struct smc_llc_flow *flow = &lab->side[CLIENT].flow;

		lab_accept(lab, 3);
		lab_more_links(lab, CLIENT, 2, 9);
		lab_feed(lab, CLIENT, &ev);
		KUNIT_ASSERT_EQ(test, flow->link[2].state, SMC_LLC_LINK_REPORTED);
		flow->link[2].deadline = lab->now;
		flow->link[2].notice_end = lab->now + !is_over;
		flow->params.timers.delete_link = 0;
		lab->side[CLIENT].nr_out = 0;
		ev.type = SMC_LLC_EV_TIMER;
		lab_feed(lab, CLIENT, &ev);
		KUNIT_EXPECT_EQ(test, flow->end_why, is_over ? SMC_LLC_WHY_DELETE_LINK_TIMEOUT :
						     SMC_LLC_WHY_LINK_BROKEN);
		/* nor is such a link probed */
		lab_expect_silence(lab, CLIENT);
	}
}

/* The link to delete is clear, but an RKEY exchange of the client comes first. */
static void delete_link_waits_for_the_clients_exchange_ser_13(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_DELETE_LINK, .link = 1 };
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;
	struct smc_llc_msg probe;

	lab_more_links(lab, SERVER, 1, 9);
	lab->side[SERVER].keeps_results = true;
	ev.terminate.is_orderly = true;
	lab_feed(lab, SERVER, &ev);
	probe = lab_hear(lab, SERVER, SMC_LLC_TEST_LINK, false);
	ev = (struct smc_llc_event){ .type = SMC_LLC_EV_MSG, .msg = say_delete_rkey(5, false) };
	lab_feed(lab, SERVER, &ev);
	ev.link = 1;
	ev.msg = probe;
	ev.msg.is_reply = true;
	lab_feed(lab, SERVER, &ev);
	KUNIT_ASSERT_EQ(test, flow->link[1].data, SMC_LLC_DATA_NONE);
	lab_expect_silence(lab, SERVER);
	lab->side[SERVER].keeps_results = false;
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_RKEY, true);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
}

/* The link that carried the request fails: the server will hear no reply, and repeats it. */
static void deletion_whose_carrier_fails_is_over_dell_05(struct kunit *test)
{
	int is_orderly;

	for (is_orderly = 0; is_orderly < 2; is_orderly++) {
		struct lab *lab = lab_up_facing(test, CLIENT, true);
		struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN };
		struct smc_llc_flow *flow = &lab->side[CLIENT].flow;
		struct smc_llc_msg msg = say_delete(9, false, false);

		lab_more_links(lab, CLIENT, 1, 9);
		lab_more_links(lab, CLIENT, 2, 10);
		lab->side[CLIENT].keeps_results = true;
		msg.delete_link.is_orderly = is_orderly;
		lab_say(lab, CLIENT, &msg);
		KUNIT_ASSERT_EQ(test, flow->link[1].state,
				is_orderly ? SMC_LLC_LINK_DELETING : SMC_LLC_LINK_DELETE_REPLYING);
		lab_feed(lab, CLIENT, &ev);
		KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_GOING);
	}
}

/* A link whose port has another MTU goes when no other change is under way. */
static void links_with_another_mtu_go_one_by_one_ser_02(struct kunit *test)
{
	static const struct {
		const char *what;
		bool is_busy;		/* an RKEY exchange on link 0 */
		bool is_leaving;	/* so is link 0, when that is over */
		bool is_broken;		/* link 0 */
		bool is_unknown;	/* the MTU of the port of link 1 */
		enum smc_llc_why why;	/* of link 1, whose port has another MTU */
	} rows[] = {
		{ "nothing", .why = SMC_LLC_WHY_MTU },
		{ "an RKEY exchange", .is_busy = true },
		{ "another link is leaving", .is_busy = true, .is_leaving = true },
		{ "another link is lost", .is_broken = true },
		{ "which is not known", .is_unknown = true },
	};
	struct smc_llc_msg reply = say_delete_rkey(5, true);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct smc_llc_event give_up = { .type = SMC_LLC_EV_REQ_DELETE_LINK };
		struct smc_llc_event rnics = { .type = SMC_LLC_EV_RNICS, .rnics.count = 1 };
		struct lab *lab = lab_up_facing(test, CLIENT, true);
		struct smc_llc_flow *flow = &lab->side[CLIENT].flow;

		lab_more_links(lab, CLIENT, 1, 9);
		lab_more_links(lab, CLIENT, 2, 10);
		if (rows[i].is_busy)
			lab_rkey(lab, CLIENT, true, 5, 1);
		if (rows[i].is_broken)
			lab_event(lab, CLIENT, SMC_LLC_EV_LINK_BROKEN);
		memcpy(rnics.rnics.rnic[0].mac, flow->link[1].local.mac, SMC_MAC_LEN);
		memcpy(rnics.rnics.rnic[0].gid, flow->link[1].local.gid, SMC_GID_LEN);
		rnics.rnics.rnic[0].mtu = rows[i].is_unknown ? 0 : SMC_MTU_1024;
		lab_feed(lab, CLIENT, &rnics);
		give_up.terminate.is_orderly = true;
		if (rows[i].is_leaving) {
			lab_feed(lab, CLIENT, &give_up);
			lab_say(lab, CLIENT, &reply);
			KUNIT_EXPECT_EQ(test, flow->link[0].why, SMC_LLC_WHY_DELETED);
		}
		KUNIT_EXPECT_EQ_MSG(test, flow->link[1].why, rows[i].why, "%s", rows[i].what);
	}
}

/* In first contact the client waits for an offer, even if it gives up the first link. */
static void first_offer_is_not_dropped_amb_28(struct kunit *test)
{
	struct lab *lab = lab_server_waits_confirm(test, false);
	struct smc_llc_msg msg = say_confirm_link(lab, CLIENT, 1);

	lab->side[SERVER].keeps_results = true;
	lab_say(lab, SERVER, &msg);
	msg = say_delete(1, false, false);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.config, SMC_LLC_CONFIG_CREATE);
	/* afterwards it is deleted at once */
	lab->side[SERVER].keeps_results = false;
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	msg = say_reject(2);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 1);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
}

/* What becomes of a link that its owner gives up depends on its state. */
static void owner_gives_up_a_link_at_any_time_lgt_03(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_DELETE_LINK };
	struct lab *lab = lab_client_waits_add(test, true);

	ev.terminate.is_orderly = true;
	lab_feed(lab, CLIENT, &ev);
	lab_expect_failed(lab, CLIENT, SMC_LLC_FAIL_DECLINE, SMC_LLC_WHY_DELETED);

	/* one that is being added */
	lab = lab_up_facing(test, CLIENT, false);
	lab_accept(lab, 3);
	ev.link = 1;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[1].why, SMC_LLC_WHY_DELETED);
	/* one that is lost already */
	lab->side[CLIENT].nr_out = 0;
	lab_feed(lab, CLIENT, &ev);
	lab_expect_silence(lab, CLIENT);
	lab_expect_alive(lab, CLIENT);
	/* the last one, while the group ends */
	lab_terminate(lab, CLIENT);
	lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, false);
	ev.link = 0;
	lab_feed(lab, CLIENT, &ev);
	lab_expect_silence(lab, CLIENT);
}

/* The end of the group is repeated on a link in use rather than on one that is given up. */
static void end_prefers_a_link_in_use_lgt_04(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_DELETE_LINK, .link = 1 };
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct lab_msg msg;

	lab_more_links(lab, CLIENT, 1, 9);
	lab_more_links(lab, CLIENT, 2, 10);
	ev.terminate.is_orderly = true;
	lab_feed(lab, CLIENT, &ev);
	KUNIT_ASSERT_TRUE(test, smc_llc_is_deleting(&lab->side[CLIENT].flow, 1));
	lab_terminate(lab, CLIENT);
	lab->side[CLIENT].nr_out = 0;
	lab_event(lab, CLIENT, SMC_LLC_EV_LINK_BROKEN);
	KUNIT_ASSERT_TRUE(test, lab_take(&lab->side[CLIENT], &msg));
	KUNIT_EXPECT_TRUE(test, msg.msg.delete_link.is_all);
	KUNIT_EXPECT_EQ(test, msg.link, 2);
}

/* Where a link is lost or being deleted, only what ends it and earlier messages count. */
static void messages_on_a_link_that_ends_err_46(struct kunit *test)
{
	enum how { LOST, CLEARING, DELETING };
	const struct {
		const char *what;
		enum how how;
		struct smc_llc_msg msg;
		bool counts;
	} rows[] = {
		{ "RKEY on a lost link", LOST, say_confirm_rkey(5, 0, false) },
		{ "late reply on a lost link", LOST, say_delete(9, false, true) },
		{ "end of the group on a lost link", LOST, say_delete(0, true, false), true },
		{ "RKEY while it is cleared", CLEARING, say_confirm_rkey(5, 0, false), true },
		{ "withdrawn RMB while it is cleared", CLEARING, say_delete_rkey(5, false), true },
		{ "continuation while it is cleared", CLEARING,
		  { .type = SMC_LLC_CONFIRM_RKEY_CONT }, true },
		{ "answer while it is cleared", CLEARING, say_add_link(7, 77, 3, true) },
		{ "reply while it is cleared", CLEARING, say_test_link(0, true), true },
		{ "reply behind its end", DELETING, say_test_link(0, true) },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lab *lab = rows[i].how == LOST ? lab_up_server_adding(test, true) :
							lab_up_facing(test, SERVER, true);
		struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN, .link = 2 };
		struct smc_llc_link *lnk = &lab->side[SERVER].flow.link[2];

		lab_more_links(lab, SERVER, 2, 9);
		memset(lnk->probe, 0, sizeof(lnk->probe));
		lnk->nr_unanswered = 1;
		lnk->wants_round_trip = true;
		if (rows[i].how == CLEARING)
			ev.type = SMC_LLC_EV_REQ_DELETE_LINK;
		ev.terminate.is_orderly = true;
		lab_feed(lab, SERVER, &ev);
		KUNIT_ASSERT_EQ(test, lnk->state, rows[i].how == LOST ? SMC_LLC_LINK_FAILED :
								      SMC_LLC_LINK_DELETING);
		lnk->nr_unanswered = 1;
		ev = (struct smc_llc_event){
			.type = SMC_LLC_EV_MSG, .link = 2, .msg = rows[i].msg,
		};
		lab_feed(lab, SERVER, &ev);
		KUNIT_EXPECT_EQ_MSG(test, lab->side[SERVER].acts.nr > 0, rows[i].counts, "%s",
				    rows[i].what);
	}
}

/* The server hears on a lost link that the client gives up another one; a client does not. */
static void request_on_a_lost_link_err_46(struct kunit *test)
{
	struct smc_llc_event ev = { .type = SMC_LLC_EV_LINK_BROKEN, .link = 2 };
	int who;

	for (who = SERVER; who <= CLIENT; who++) {
		struct lab *lab = who == SERVER ? lab_up_server_adding(test, true) :
						  lab_up_facing(test, CLIENT, true);
		struct smc_llc_event req = {
			.type = SMC_LLC_EV_MSG, .link = 2, .msg = say_delete(1, false, false),
		};

		lab_more_links(lab, who, 2, 9);
		lab_feed(lab, who, &ev);
		lab_feed(lab, who, &req);
		KUNIT_EXPECT_EQ(test, lab->side[who].flow.link[0].state,
				who == SERVER ? SMC_LLC_LINK_DELETE_WANTED : SMC_LLC_LINK_ACTIVE);
	}
}

/* Before the group is up and while it ends there is nothing to probe. */
static void no_probe_before_and_after_the_group_ka_02(struct kunit *test)
{
	static const enum smc_llc_event_type probes[] = {
		SMC_LLC_EV_REQ_TEST_LINK, SMC_LLC_EV_REQ_ROUND_TRIP,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		struct lab *lab = lab_client_waits_add(test, true);

		lab_event(lab, CLIENT, probes[i]);
		lab_expect_silence(lab, CLIENT);
		lab = lab_up_facing(test, CLIENT, true);
		lab_terminate(lab, CLIENT);
		lab_hear(lab, CLIENT, SMC_LLC_DELETE_LINK, false);
		lab_event(lab, CLIENT, probes[i]);
		lab_expect_silence(lab, CLIENT);
	}
}

/* Only news about RNICs makes the server try, and in first contact only a second report. */
static void rnics_are_news_once_addl_06_err_58(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_msg msg = say_reject(3);

	lab_tell_rnic(lab, SERVER);
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_ADD_LINK, false);
	lab_say(lab, SERVER, &msg);
	lab_tell_rnic(lab, SERVER);
	lab_pump(lab);
	lab_expect_silence(lab, SERVER);

	lab = lab_server_waits_add(test, true);
	lab_tell_rnic(lab, SERVER);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.next_add, SMC_LLC_NO_DEADLINE);
	lab->side[SERVER].end.mac[5]++;
	lab_tell_rnic(lab, SERVER);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.next_add, 0);
}

/* First contact lasts until the second link that failed is deleted, here after an exchange. */
static void group_is_up_without_the_failed_link_sl_17(struct kunit *test)
{
	struct lab *lab = lab_server_waits_add(test, true);
	struct smc_llc_msg msg = say_delete_rkey(5, false);

	lab->side[SERVER].keeps_results = true;
	lab_say(lab, SERVER, &msg);
	msg = say_add_link(7, 2, SMC_MTU_1024, true);
	lab_say(lab, SERVER, &msg);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.phase, SMC_LLC_SECOND_LINK);
	lab->side[SERVER].keeps_results = false;
	lab_pump(lab);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_RKEY, true);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_up, 0);
}

/* A client whose links change takes keys: the server knows what changes. */
static void client_refuses_no_keys_ser_10(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, false);
	struct smc_llc_msg msg = say_confirm_rkey(5, 0, false);

	lab_accept(lab, 3);
	lab_say(lab, CLIENT, &msg);
	msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, true);
	KUNIT_EXPECT_FALSE(test, msg.confirm_rkey.is_negative);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_stored, 1);
}

/* Keys for a link that is not offered yet, or is withdrawn, are not stored. */
static void keys_for_an_unused_link_are_ignored_rkey_03(struct kunit *test)
{
	int is_offered;

	for (is_offered = 0; is_offered < 2; is_offered++) {
		struct lab *lab = is_offered ? lab_up_server_deleting(test, true) :
					       lab_up_facing(test, SERVER, true);
		struct smc_llc_msg msg = say_confirm_rkey(5, 1, false);

		lab->side[SERVER].keeps_results = true;
		if (!is_offered)
			lab_want_link(lab, SERVER);
		msg.confirm_rkey.other[0].link_num = 3;
		lab_say(lab, SERVER, &msg);
		KUNIT_EXPECT_EQ(test, lab->side[SERVER].nr_stored, 1);
		KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.remote.keys.count, 1);
		lab_expect_alive(lab, SERVER);
	}
}

/* What follows a CONFIRM RKEY that is not complete; link number 2 is gone, so it is no error. */
static void confirm_rkey_is_continued_where_it_began_err_47_llc_14(struct kunit *test)
{
	static const struct {
		const char *what;
		u8 type, link, nr_left;
		bool is_out;
	} rows[] = {
		{ "the rest", SMC_LLC_CONFIRM_RKEY_CONT, 0, 1 },
		{ "another rest", SMC_LLC_CONFIRM_RKEY_CONT, 0, 2, true },
		{ "the rest on another link", SMC_LLC_CONFIRM_RKEY_CONT, 2, 1, true },
		{ "another RMB", SMC_LLC_CONFIRM_RKEY, 0, 0, true },
		{ "a withdrawn RMB", SMC_LLC_DELETE_RKEY, 0, 0, true },
		{ "the RMB again on another link", SMC_LLC_CONFIRM_RKEY, 2, 0 },
		{ "a withdrawn RMB on another link", SMC_LLC_DELETE_RKEY, 2, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lab *lab = lab_up_facing(test, SERVER, true);
		struct smc_llc_flow *flow = &lab->side[SERVER].flow;
		struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
		struct smc_llc_msg msg = say_confirm_rkey(5, 3, false);

		lab_more_links(lab, SERVER, 2, 9);
		lab->side[SERVER].keeps_results = true;
		msg.confirm_rkey.other[0].link_num = 2;
		msg.confirm_rkey.other[1].link_num = 2;
		lab_say(lab, SERVER, &msg);
		KUNIT_ASSERT_EQ(test, flow->remote.state, SMC_LLC_REMOTE_CONFIRM_CONT);
		ev.link = rows[i].link;
		if (rows[i].type == SMC_LLC_CONFIRM_RKEY_CONT) {
			ev.msg.type = rows[i].type;
			ev.msg.confirm_rkey_cont.nr_left = rows[i].nr_left;
			ev.msg.confirm_rkey_cont.other[0].link_num = 2;
			ev.msg.confirm_rkey_cont.other[1].link_num = 2;
		} else {
			ev.msg = rows[i].type == SMC_LLC_CONFIRM_RKEY ?
				 say_confirm_rkey(6, 0, false) : say_delete_rkey(5, false);
		}
		lab_feed(lab, SERVER, &ev);
		KUNIT_EXPECT_EQ_MSG(test, flow->link[rows[i].link].why == SMC_LLC_WHY_OUT_OF_SYNC,
				    rows[i].is_out, "%s", rows[i].what);
		KUNIT_EXPECT_EQ_MSG(test, lab->side[SERVER].nr_stored +
				    lab->side[SERVER].nr_deleted, !rows[i].is_out, "%s",
				    rows[i].what);
	}
}

/* DELETE RKEY that was put off on one link may begin again on another, when that has failed. */
static void put_off_delete_rkey_moves_to_another_link_llc_14(struct kunit *test)
{
	struct lab *lab = lab_up_server_adding(test, false);
	struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG, .msg = say_delete_rkey(5, false) };
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;

	lab_more_links(lab, SERVER, 2, 9);
	lab_feed(lab, SERVER, &ev);
	KUNIT_ASSERT_TRUE(test, flow->remote.is_put_off);
	ev.link = 2;
	lab_feed(lab, SERVER, &ev);
	KUNIT_EXPECT_TRUE(test, flow->remote.is_put_off);
	KUNIT_EXPECT_EQ(test, flow->remote.put_off_link, 2);
	lab_expect_alive(lab, SERVER);
}

/* A reply comes on the link of the request and repeats it. Nothing is sent but the keys. */
static void rkey_reply_repeats_the_request_err_54(struct kunit *test)
{
	static const struct {
		const char *what;
		u8 link, nr_left;
		u32 rkey;
		bool is_out;
	} rows[] = {
		{ "the same", 0, 1, 9 },
		{ "on another link", 2, 1, 9, true },
		{ "another number", 0, 0, 9, true },
		{ "another key", 0, 1, 10, true },
	};
	struct smc_llc_event ev = { .type = SMC_LLC_EV_REQ_RKEY };
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_msg msg;
	unsigned int i;

	ev.rkey.count = 1;
	ev.rkey.rtoken[0].rkey = 5;
	ev.rkey.rtoken[1].rkey = 6;
	lab_feed(lab, CLIENT, &ev);
	msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, false);
	KUNIT_EXPECT_EQ(test, msg.confirm_rkey.other[0].rkey, 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		lab = lab_up_facing(test, CLIENT, true);
		lab_more_links(lab, CLIENT, 2, 9);
		lab_more_links(lab, CLIENT, 3, 10);
		lab_more_links(lab, CLIENT, 4, 11);
		lab_rkey(lab, CLIENT, false, 5, 1);
		lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY, false);
		msg = say_confirm_rkey(5, 3, true);
		lab_say(lab, CLIENT, &msg);
		ev = (struct smc_llc_event){ .type = SMC_LLC_EV_MSG, .link = rows[i].link };
		ev.msg = lab_hear(lab, CLIENT, SMC_LLC_CONFIRM_RKEY_CONT, false);
		KUNIT_ASSERT_EQ(test, ev.msg.confirm_rkey_cont.other[0].rkey, 9);
		ev.msg.is_reply = true;
		ev.msg.confirm_rkey_cont.nr_left = rows[i].nr_left;
		ev.msg.confirm_rkey_cont.other[0].rkey = rows[i].rkey;
		lab_feed(lab, CLIENT, &ev);
		KUNIT_EXPECT_EQ_MSG(test, lab->side[CLIENT].flow.link[rows[i].link].why ==
				    SMC_LLC_WHY_OUT_OF_SYNC, rows[i].is_out, "%s", rows[i].what);
		KUNIT_EXPECT_EQ_MSG(test, lab->side[CLIENT].rkey_result == -EAGAIN ||
				    lab->side[CLIENT].flow.own.is_busy, rows[i].is_out, "%s",
				    rows[i].what);
	}
}

/* The link of the client's exchange fails while the owner works for it: there is no reply. */
static void exchange_of_the_owner_outlives_its_link_llc_14(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_event ev = {
		.type = SMC_LLC_EV_MSG, .link = 2, .msg = say_delete_rkey(5, false),
	};

	lab_more_links(lab, SERVER, 2, 9);
	lab->side[SERVER].keeps_results = true;
	lab_feed(lab, SERVER, &ev);
	ev.type = SMC_LLC_EV_LINK_BROKEN;
	lab_feed(lab, SERVER, &ev);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.remote.state, SMC_LLC_REMOTE_DELETE_RKEY);
	lab->side[SERVER].keeps_results = false;
	lab_pump(lab);
	KUNIT_EXPECT_EQ(test, lab->side[SERVER].flow.remote.state, SMC_LLC_REMOTE_NONE);
	lab_hear(lab, SERVER, SMC_LLC_DELETE_LINK, false);
	lab_expect_silence(lab, SERVER);
}

static struct smc_llc_rnic lab_rnic(const struct smc_llc_end *end)
{
	struct smc_llc_rnic rnic = { .mtu = SMC_MTU_1024 };

	memcpy(rnic.mac, end->mac, sizeof(rnic.mac));
	memcpy(rnic.gid, end->gid, sizeof(rnic.gid));
	return rnic;
}

/* A link that is lost takes no RNIC, replaces none, and is not given up. */
static void only_links_in_use_count_lg_10_lg_16(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;
	struct smc_llc_link *lnk = &flow->link[3];
	struct smc_llc_end unknown;
	int is_used;

	flow->max_links = 5;
	lab_more_links(lab, CLIENT, 3, 9);
	flow->rnics.count = 1;
	flow->rnics.rnic[0] = lab_rnic(&lnk->local);
	unknown = lnk->local;
	unknown.mtu = 0;
	for (is_used = 0; is_used < 2; is_used++) {
		lnk->state = is_used ? SMC_LLC_LINK_ACTIVE : SMC_LLC_LINK_FAILED;
		KUNIT_EXPECT_EQ(test, smc_llc_is_parallel(flow, &lnk->local, &lnk->peer), is_used);
		KUNIT_EXPECT_EQ(test, smc_llc_is_parallel(flow, &unknown, &lnk->peer), is_used);
		KUNIT_EXPECT_EQ(test, smc_llc_has_unused_rnic(flow), !is_used);
		/* two others are in use */
		lab_more_links(lab, CLIENT, 1, 10);
		KUNIT_EXPECT_EQ(test, smc_llc_outdated(flow), is_used ? 3 : SMC_LLC_LINKS);
		/* the younger one joins the same RNICs */
		flow->link[1].local = lnk->local;
		flow->link[1].peer = lnk->peer;
		flow->link[1].age = 9;
		KUNIT_EXPECT_EQ(test, smc_llc_superfluous(flow), is_used ? 3 : SMC_LLC_LINKS);
		flow->link[1].state = SMC_LLC_LINK_FREE;
		KUNIT_EXPECT_EQ(test, smc_llc_next_link_num(flow), 2);
		flow->link[1].num = 2;
		KUNIT_EXPECT_EQ(test, smc_llc_next_link_num(flow), 2);
	}
	/* an asymmetric link, and a lost one of the same RNIC */
	lnk->peer = flow->link[0].peer;
	flow->link[1] = *lnk;
	flow->link[1].state = SMC_LLC_LINK_FAILED;
	KUNIT_EXPECT_EQ(test, smc_llc_flow_type(flow), SMC_LGR_TYPE_ASYMMETRIC_PEER);
}

/* Of several asymmetric links the youngest goes first. */
static void youngest_asymmetric_link_goes_lg_16(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;
	u8 youngest;

	lab_more_links(lab, SERVER, 1, 9);
	lab_more_links(lab, SERVER, 2, 10);
	lab_more_links(lab, SERVER, 3, 11);
	flow->rnics.count = 2;
	flow->rnics.rnic[0] = lab_rnic(&flow->link[1].local);
	flow->rnics.rnic[1] = lab_rnic(&flow->link[2].local);
	for (youngest = 1; youngest <= 2; youngest++) {
		flow->link[1].age = 10 - youngest;
		flow->link[2].age = 7 + youngest;
		/* of those with another MTU the oldest */
		KUNIT_EXPECT_EQ(test, smc_llc_outdated(flow), 3 - youngest);
	}
	flow->link[1].local = flow->link[0].local;
	flow->link[2].local = flow->link[0].local;
	for (youngest = 1; youngest <= 2; youngest++) {
		flow->link[1].age = 10 - youngest;
		flow->link[2].age = 7 + youngest;
		KUNIT_EXPECT_EQ(test, smc_llc_superfluous(flow), youngest);
		KUNIT_EXPECT_EQ(test, smc_llc_flow_type(flow), SMC_LGR_TYPE_SYMMETRIC);
	}
}

/* An unused RNIC before that of an asymmetric link, in the order of their quality. */
static void unused_rnic_comes_first_addl_06_sl_07(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, CLIENT, true);
	struct smc_llc_flow *flow = &lab->side[CLIENT].flow;
	struct smc_llc_end end, first, second, server;

	flow->max_links = 3;
	lab_more_links(lab, CLIENT, 1, 9);
	flow->link[1].peer = flow->link[0].peer;
	lab_end(&first, 71, 0);
	lab_end(&second, 72, 0);
	lab_end(&server, 73, 1);
	flow->rnics.count = 3;
	flow->rnics.rnic[0] = lab_rnic(&flow->link[1].local);
	flow->rnics.rnic[1] = lab_rnic(&first);
	flow->rnics.rnic[2] = lab_rnic(&second);
	KUNIT_ASSERT_TRUE(test, smc_llc_pick_notice(flow, &end));
	KUNIT_EXPECT_TRUE(test, smc_llc_same_rnic(&end, &first));

	/* an answer takes them in turns, also when the last one led to a link */
	flow->rnics.count = 2;
	flow->add.offer.end = server;
	smc_llc_candidate(flow, &server)->last = SMC_LLC_OFFER_LINKED;
	smc_llc_candidate(flow, &server)->nr_offers = 1;
	KUNIT_ASSERT_TRUE(test, smc_llc_pick_answer(flow, &end));
	KUNIT_EXPECT_TRUE(test, smc_llc_same_rnic(&end, &flow->link[1].local));
}

/* One letter for each state of a link: d is departing if orderly, x has ended, . is neither. */
static void states_in_which_a_link_has_ended_ser_19(struct kunit *test)
{
	static const char states[] = {
		[SMC_LLC_LINK_FREE] = 'x', [SMC_LLC_LINK_FORMING] = '.',
		[SMC_LLC_LINK_ACTIVE] = '.', [SMC_LLC_LINK_DELETE_WANTED] = '.',
		[SMC_LLC_LINK_FAILED] = 'd', [SMC_LLC_LINK_REPORTED] = 'd',
		[SMC_LLC_LINK_DELETING] = '.', [SMC_LLC_LINK_DELETE_REPLYING] = '.',
		[SMC_LLC_LINK_GOING] = 'x',
	};
	struct lab *lab = lab_up(test, true);
	int who, is_orderly;
	u8 state;

	for (who = SERVER; who <= CLIENT; who++) {
		struct smc_llc_flow *flow = &lab->side[who].flow;

		for (state = 0; state < SMC_LLC_LINK_NR_STATES; state++) {
			for (is_orderly = 0; is_orderly < 2; is_orderly++) {
				bool departs = who == CLIENT && is_orderly &&
					       states[state] == 'd';

				flow->link[1].state = state;
				flow->link[1].is_orderly = is_orderly;
				flow->link[1].num = 77;
				KUNIT_EXPECT_EQ(test, smc_llc_link_by_num(flow, 77),
						states[state] == 'x' ? SMC_LLC_NO_LINK : 1);
				KUNIT_EXPECT_EQ_MSG(test, smc_llc_is_deleting(flow, 1), departs,
						    "state %u", state);
				KUNIT_EXPECT_EQ_MSG(test, smc_llc_is_unusable(flow, 1),
						    states[state] != '.' && !departs, "state %u",
						    state);
			}
		}
	}
}

/* The reason of the first loss stays. A reply that is being sent is not lost with its link. */
static void second_loss_of_a_link_dell_05_lgt_05(struct kunit *test)
{
	struct smc_llc_event broken = { .type = SMC_LLC_EV_LINK_BROKEN };
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;
	struct smc_llc_msg msg = say_delete(9, false, false);

	lab_more_links(lab, SERVER, 1, 9);
	lab_feed(lab, SERVER, &broken);
	broken.ok = true;
	lab_feed(lab, SERVER, &broken);
	KUNIT_EXPECT_EQ(test, flow->link[0].state, SMC_LLC_LINK_DELETING);
	KUNIT_EXPECT_EQ(test, flow->link[0].why, SMC_LLC_WHY_LINK_BROKEN);

	lab = lab_up_facing(test, CLIENT, true);
	flow = &lab->side[CLIENT].flow;
	lab_more_links(lab, CLIENT, 1, 9);
	lab->side[CLIENT].keeps_results = true;
	msg.delete_link.is_orderly = false;
	lab_say(lab, CLIENT, &msg);
	broken.link = 1;
	lab_feed(lab, CLIENT, &broken);
	KUNIT_EXPECT_EQ(test, flow->link[1].state, SMC_LLC_LINK_DELETE_REPLYING);
	KUNIT_EXPECT_EQ(test, flow->link[1].why, SMC_LLC_WHY_PEER_DELETED);

	/* but with the only link */
	lab = lab_up_facing(test, CLIENT, true);
	lab->side[CLIENT].keeps_results = true;
	msg.delete_link.link_num = 1;
	lab_say(lab, CLIENT, &msg);
	KUNIT_ASSERT_EQ(test, lab->side[CLIENT].nr_terminated, 0);
	broken.link = 0;
	lab_feed(lab, CLIENT, &broken);
	lab_expect_terminated(lab, CLIENT, SMC_LLC_WHY_PATH);
}

/* In first contact a bad message on the second link costs that link only. */
static void second_link_out_of_sync_in_first_contact_err_54(struct kunit *test)
{
	struct lab *lab = lab_client_waits_add(test, false);

	lab_accept(lab, 2);
	lab_say_on_offered(lab, SMC_LLC_CONFIRM_LINK, 2, 0);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].flow.link[1].why, SMC_LLC_WHY_OUT_OF_SYNC);
	KUNIT_EXPECT_EQ(test, lab->side[CLIENT].nr_failed, 0);
}

/* A group with all its links needs no other attempt. */
static void failed_attempt_is_repeated_below_the_limit_tmr_12(struct kunit *test)
{
	struct lab *lab = lab_up_facing(test, SERVER, true);
	struct smc_llc_flow *flow = &lab->side[SERVER].flow;
	struct smc_llc_run run = { .flow = flow, .out = &lab->side[SERVER].acts, .now = lab->now };

	flow->params.timers.add_link_retry = 100;
	flow->has_rnics = true;
	lab_more_links(lab, SERVER, 1, 9);
	smc_llc_arm_retry(&run, true);
	KUNIT_EXPECT_EQ(test, flow->next_add, SMC_LLC_NO_DEADLINE);
	flow->max_links = 3;
	smc_llc_arm_retry(&run, true);
	KUNIT_EXPECT_EQ(test, flow->next_add, lab->now + 100);
}

/* The events of a random run besides deliveries. */
struct run_limits {
	bool may_lose;
	bool may_break;
	bool may_end;
	unsigned int steps;
};

static u32 roll(struct rnd_state *rnd, u32 sides)
{
	return prandom_u32_state(rnd) % sides;
}

/* One random step; @asked counts outstanding requests. */
static void random_step(struct lab *lab, struct rnd_state *rnd, const struct run_limits *may,
			unsigned int asked[2])
{
	int who = roll(rnd, 2);
	struct lab_side *side = &lab->side[who];
	u64 due;

	switch (roll(rnd, 16)) {
	case 0 ... 4:
		lab_deliver(lab, who);
		break;
	case 5 ... 9:
		lab_work(lab, who);
		break;
	case 10:
		if (side->nr_out < LAB_QUEUE / 2 && side->nr_todo < LAB_QUEUE / 2) {
			asked[who]++;
			lab_rkey(lab, who, roll(rnd, 2), roll(rnd, 1000), asked[who]);
		}
		break;
	case 11:
		if (who == SERVER && side->nr_todo < LAB_QUEUE / 2)
			lab_want_link(lab, who);
		break;
	case 12:
		if (side->nr_out < LAB_QUEUE / 2)
			lab_event(lab, who, SMC_LLC_EV_REQ_TEST_LINK);
		break;
	case 13:
		due = smc_llc_flow_deadline(&side->flow);
		if (may->may_lose && due != SMC_LLC_NO_DEADLINE && !roll(rnd, 8)) {
			lab->now = max(lab->now, due);
			lab_tick(lab, who, lab->now - roll(rnd, 60000));
		} else {
			lab->now += roll(rnd, 5);
		}
		break;
	case 14:
		if (may->may_lose)
			lab->loses[who] = !roll(rnd, 20);
		break;
	default:
		if (may->may_break && !roll(rnd, 60))
			lab_event(lab, who, SMC_LLC_EV_LINK_BROKEN);
		else if (may->may_end && !roll(rnd, 60))
			lab_terminate(lab, who);
		break;
	}
	if (lab->tcp_decline[who]) {
		lab->tcp_decline[who] = false;
		lab->side[!who].nr_declined_late = lab->side[!who].flow.phase >= SMC_LLC_UP;
		lab_event(lab, !who, SMC_LLC_EV_DECLINED);
	}
}

/* TEST LINK is answered outside of the machine; here the lab does it. */
static void answer_probes(struct lab *lab, int who)
{
	struct smc_llc_link *lnk = &lab->side[who].flow.link[0];
	struct smc_llc_msg msg;

	if (!lnk->tries || lab->side[!who].flow.phase == SMC_LLC_DEAD)
		return;
	msg = say_test_link(0, true);
	memcpy(msg.test_link.user_data, lnk->probe, sizeof(lnk->probe));
	lab_say(lab, who, &msg);
}

/* Run until everything pending is done. */
static void lab_settle(struct lab *lab)
{
	int round, who;

	for (who = SERVER; who <= CLIENT; who++)
		lab->loses[who] = false;
	for (round = 0; round < 40; round++) {
		lab_pump(lab);
		for (who = SERVER; who <= CLIENT; who++) {
			answer_probes(lab, who);
			if (lab->tcp_decline[who]) {
				lab->tcp_decline[who] = false;
				lab->side[!who].nr_declined_late =
					lab->side[!who].flow.phase >= SMC_LLC_UP;
				lab_event(lab, !who, SMC_LLC_EV_DECLINED);
			}
		}
		/* Less than the idle time, so that only waits expire. */
		lab->now += 2500;
		for (who = SERVER; who <= CLIENT; who++)
			lab_tick(lab, who, lab->now);
	}
}

static void expect_settled(struct lab *lab, int who, unsigned int asked)
{
	struct lab_side *side = &lab->side[who];
	struct smc_llc_flow *flow = &side->flow;

	KUNIT_EXPECT_TRUE(lab->test, flow->phase == SMC_LLC_UP || flow->phase == SMC_LLC_DEAD);
	/* A machine ends at most once, and exactly once if it is dead. */
	KUNIT_EXPECT_EQ(lab->test, side->nr_failed + side->nr_terminated,
			flow->phase == SMC_LLC_DEAD);
	KUNIT_EXPECT_LE(lab->test, side->nr_up, 1);
	KUNIT_EXPECT_FALSE(lab->test, side->nr_up && side->nr_failed);
	KUNIT_EXPECT_EQ(lab->test, side->nr_rkey_done, asked);
	KUNIT_EXPECT_EQ(lab->test, side->nr_created, side->nr_dropped);
	KUNIT_EXPECT_FALSE(lab->test, flow->own.is_busy);
	KUNIT_EXPECT_EQ(lab->test, flow->config, SMC_LLC_CONFIG_NONE);
	KUNIT_EXPECT_EQ(lab->test, flow->remote.state, SMC_LLC_REMOTE_NONE);
	KUNIT_EXPECT_NE(lab->test, flow->next_add, 0);
}

/* No side uses TCP for data while the other one uses RDMA. */
static void expect_agreement(struct lab *lab)
{
	struct lab_side *server = &lab->side[SERVER];
	struct lab_side *client = &lab->side[CLIENT];
	bool is_reset;

	is_reset = (server->nr_failed && server->fail == SMC_LLC_FAIL_RESET) ||
		   (client->nr_failed && client->fail == SMC_LLC_FAIL_RESET) ||
		   server->nr_terminated || client->nr_terminated ||
		   server->nr_declined_late || client->nr_declined_late;
	if (!is_reset)
		KUNIT_EXPECT_EQ(lab->test, server->nr_up, client->nr_up);
	if (server->nr_up && client->nr_up) {
		KUNIT_EXPECT_EQ(lab->test, server->dialect, client->dialect);
		KUNIT_EXPECT_EQ(lab->test, server->flow.max_links, client->flow.max_links);
	}
}

static void random_runs(struct kunit *test, const struct run_limits *may, u32 seed,
			unsigned int runs)
{
	struct rnd_state rnd;
	struct lab *lab;
	unsigned int run, step;

	prandom_seed_state(&rnd, seed);
	for (run = 0; run < runs; run++) {
		unsigned int asked[2] = {};

		lab = lab_new(test, roll(&rnd, 2), roll(&rnd, 2));
		lab_start(lab);
		for (step = 0; step < may->steps; step++)
			random_step(lab, &rnd, may, asked);
		lab_settle(lab);
		expect_settled(lab, SERVER, asked[SERVER]);
		expect_settled(lab, CLIENT, asked[CLIENT]);
		expect_agreement(lab);
		if (!may->may_lose && !may->may_break && !may->may_end) {
			lab_expect_alive(lab, SERVER);
			lab_expect_alive(lab, CLIENT);
		}
		kunit_kfree(test, lab);
		if (test->status == KUNIT_FAILURE) {
			kunit_err(test, "run %u of seed %u", run, seed);
			return;
		}
	}
}

/* On a good wire both sides stay up in any order of events. */
static void random_order_on_a_good_wire(struct kunit *test)
{
	static const struct run_limits may = { .steps = 300 };

	random_runs(test, &may, 1, 300);
}

static void random_order_with_ends(struct kunit *test)
{
	static const struct run_limits may = { .steps = 300, .may_end = true };

	random_runs(test, &may, 2, 300);
}

static void random_losses_and_breaks(struct kunit *test)
{
	static const struct run_limits may = {
		.steps = 300, .may_end = true, .may_break = true, .may_lose = true,
	};

	random_runs(test, &may, 3, 600);
}

/* A peer that sends anything at any time: the machine ends the group, or continues. */
static void random_nonsense(struct kunit *test)
{
	struct rnd_state rnd;
	unsigned int run, step;

	prandom_seed_state(&rnd, 4);
	for (run = 0; run < 400; run++) {
		int who = roll(&rnd, 2);
		bool is_up = roll(&rnd, 2);
		struct lab *lab = is_up ? lab_up_facing(test, who, roll(&rnd, 2)) :
				  who == SERVER ? lab_server_waits_confirm(test, roll(&rnd, 2)) :
						  lab_client_waits_confirm(test, roll(&rnd, 2));
		struct lab_side *side = &lab->side[who];

		for (step = 0; step < 40; step++) {
			struct smc_llc_event ev = { .type = SMC_LLC_EV_MSG };
			u8 bytes[SMC_LLC_LEN];

			prandom_bytes_state(&rnd, bytes, sizeof(bytes));
			bytes[0] = roll(&rnd, 10);
			bytes[1] = SMC_LLC_LEN;
			bytes[4] = roll(&rnd, 4);
			if (smc_llc_decode(bytes, sizeof(bytes), side->flow.dialect, &ev.msg))
				continue;
			lab_feed(lab, who, &ev);
			lab_work(lab, who);
			side->nr_out = 0;
		}
		side->nr_todo = min(side->nr_todo, 1U);
		KUNIT_EXPECT_LE(test, side->nr_failed + side->nr_terminated, 1);
		lab_wait(lab, 40000);
		KUNIT_EXPECT_EQ(test, side->flow.phase == SMC_LLC_DEAD,
				side->nr_failed + side->nr_terminated);
		kunit_kfree(test, lab);
	}
}

static struct kunit_case llc_flow_cases[] = {
	KUNIT_CASE_PARAM(first_contact_fc_10_fc_11_sl_01_sl_02_sl_12, dialect_gen_params),
	KUNIT_CASE(dialect_is_committed_before_the_peer_may_send),
	KUNIT_CASE(flags_of_confirm_link),
	KUNIT_CASE(an_extension_is_agreed_on_by_both),
	KUNIT_CASE(an_extension_needs_the_strangers_reply),
	KUNIT_CASE(link_number_and_uid_lid_01_lid_02_lid_04_lid_05),
	KUNIT_CASE(data_is_held_back_fc_12),
	KUNIT_CASE(rejection_without_a_link_number_sl_12_amb_40),
	KUNIT_CASE(client_declines_what_takes_too_long_err_56),
	KUNIT_CASE(client_says_no_path_sl_06_sl_11),
	KUNIT_CASE(client_refuses_bad_mtu_err_44),
	KUNIT_CASE(one_link_agreed_needs_no_add_link),
	KUNIT_CASE(one_link_agreed_reply_not_sent_err_22),
	KUNIT_CASE(one_link_agreed_no_completion_declines_err_22),
	KUNIT_CASE(no_completion_is_a_failed_send_err_19_err_21_err_22),
	KUNIT_CASE(client_no_confirm_link_resets_err_20_tmr_03),
	KUNIT_CASE(server_cannot_send_confirm_link_declines_err_21_err_09),
	KUNIT_CASE(client_cannot_send_reply_declines_err_22_err_09),
	KUNIT_CASE(decline_during_llc_falls_back_err_23_dcln_06),
	KUNIT_CASE(fin_instead_of_confirm_link_resets_err_20),
	KUNIT_CASE(server_no_confirm_reply_resets_err_24_tmr_04),
	KUNIT_CASE(client_no_add_link_resets_err_27),
	KUNIT_CASE(client_no_add_link_deployed_goes_on),
	KUNIT_CASE(server_no_add_link_reply_resets_err_28),
	KUNIT_CASE(server_no_add_link_reply_deployed_goes_on_amb_66),
	KUNIT_CASE(answer_with_another_number_sl_12_err_45_err_54),
	KUNIT_CASE(server_cannot_send_add_link_declines_err_19),
	KUNIT_CASE(server_point_of_no_return_err_10_err_12),
	KUNIT_CASE(client_point_of_no_return_err_11_err_12),
	KUNIT_CASE(client_is_committed_by_an_acceptance_err_11),
	KUNIT_CASE(peer_03_a_lost_path_differs_from_other_ends),
	KUNIT_CASE(each_timeout_has_its_reason),
	KUNIT_CASE(illegal_moves_of_a_link_are_refused),
	KUNIT_CASE(illegal_moves_of_data_are_refused),
	KUNIT_CASE(no_decline_once_committed_err_10_err_11_amb_04),
	KUNIT_CASE(bringing_up_a_link_takes_its_time),
	KUNIT_CASE_PARAM(every_message_at_every_time_err_54_llc_12_ser_03, sync_gen_params),
	KUNIT_CASE(nonsense_during_first_contact_err_54),
	KUNIT_CASE(confirm_link_with_wrong_data_declines_err_43),
	KUNIT_CASE(confirm_link_reply_with_wrong_data_declines),
	KUNIT_CASE(link_that_cannot_be_prepared_declines),
	KUNIT_CASE(server_without_a_spare_queue_pair_declines),
	KUNIT_CASE(deployed_server_without_a_spare_queue_pair_goes_on),
	KUNIT_CASE(offer_names_the_new_end_sl_04),
	KUNIT_CASE(accepted_offer_is_taken_back_sl_17_sl_18_err_56_dell_04),
	KUNIT_CASE(taken_back_and_no_answer_resets_err_25_err_38),
	KUNIT_CASE(parallel_link_is_deleted_err_45_lg_10),
	KUNIT_CASE(waiting_is_bounded_tmr_05_tmr_08_llc_15_err_18),
	KUNIT_CASE(max_links_maxl_01_maxl_02_maxl_05_maxl_07),
	KUNIT_CASE(client_offers_no_more_than_the_server_maxl_03_maxl_04_maxl_06),
	KUNIT_CASE(second_confirm_link_is_out_of_sync_maxl_08_llc_12),
	KUNIT_CASE(link_numbers_go_round_lid_03),
	KUNIT_CASE(new_offer_has_a_new_number_lid_03),
	KUNIT_CASE(confirm_rkey_both_roles_rkey_04_rkey_10),
	KUNIT_CASE(confirm_rkey_reply_is_an_echo_rkey_10),
	KUNIT_CASE(key_that_cannot_be_stored_is_refused),
	KUNIT_CASE(negative_reply_with_retry_rkey_11_rkey_12),
	KUNIT_CASE(negative_reply_without_retry_rkey_13),
	KUNIT_CASE(rkey_exchanges_cross_rkey_14_ser_05_ser_22),
	KUNIT_CASE(delete_rkey_rkey_16_rkey_17),
	KUNIT_CASE(unknown_rkey_gets_negative_reply_err_51_rkey_18),
	KUNIT_CASE(negative_delete_rkey_reply_is_no_failure_rkey_19),
	KUNIT_CASE(no_rkey_reply_is_link_failure_err_39_err_40),
	KUNIT_CASE(send_failure_is_link_failure_err_19_llc_14),
	KUNIT_CASE(request_on_a_dead_link_is_aborted),
	KUNIT_CASE(rkey_reply_out_of_nowhere_err_54),
	KUNIT_CASE(rkey_reply_for_another_key_err_54),
	KUNIT_CASE(second_request_before_the_answer_err_54_ser_02),
	KUNIT_CASE(continuations_are_out_of_sync_err_47_err_54),
	KUNIT_CASE(keys_for_links_that_are_not_there_err_54),
	KUNIT_CASE(keys_for_links_that_have_gone),
	KUNIT_CASE(two_keys_for_a_link_are_refused_rkey_11_rkey_13_amb_39),
	KUNIT_CASE(missing_key_fails_that_link_err_50),
	KUNIT_CASE(one_of_two_links_fails_llc_14),
	KUNIT_CASE(repeated_on_another_link_llc_14),
	KUNIT_CASE(carrier_of_an_exchange_fails),
	KUNIT_CASE(messages_on_an_offered_link_are_ignored),
	KUNIT_CASE(own_confirm_rkey_covers_all_links_rkey_03_rkey_08),
	KUNIT_CASE(test_link_probe_ka_03_ka_04_tmr_15),
	KUNIT_CASE(a_patient_group_keeps_its_silent_link_ka_05),
	KUNIT_CASE(a_group_that_lands_gives_its_only_link_up_ka_05),
	KUNIT_CASE(a_link_is_lost_only_while_another_answers_ka_05),
	KUNIT_CASE(a_port_without_carrier_is_left_at_once),
	KUNIT_CASE(busy_link_is_not_probed_ka_02_ka_07),
	KUNIT_CASE(probing_can_be_switched_off),
	KUNIT_CASE(no_test_link_reply_is_link_failure_err_41_err_42_ka_05_ka_06),
	KUNIT_CASE(late_test_link_replies_are_answers_ka_04_ka_05),
	KUNIT_CASE(test_link_reply_with_other_data_err_52),
	KUNIT_CASE(a_round_trip_tells_what_the_peer_has_seen_lb_04_fail_19),
	KUNIT_CASE(a_round_trip_ends_with_the_link_lb_04),
	KUNIT_CASE(test_link_request_disturbs_nothing_ser_01),
	KUNIT_CASE(server_ends_the_group_lgt_01_lgt_04_dell_13_dell_14),
	KUNIT_CASE(server_end_without_completion_err_37),
	KUNIT_CASE(client_cleans_up_at_once_lgt_05),
	KUNIT_CASE(client_asks_server_answers_lgt_03_lgt_06),
	KUNIT_CASE(a_client_gets_no_answer_err_36),
	KUNIT_CASE(both_end_the_group_at_a_time),
	KUNIT_CASE(ending_client_ignores_commands_err_46),
	KUNIT_CASE(delete_all_during_exchanges_ser_09_ser_14_ser_21),
	KUNIT_CASE(delete_all_during_first_contact_ser_09),
	KUNIT_CASE(server_deletes_the_only_link_dell_05_dell_06),
	KUNIT_CASE(server_deletes_an_unknown_link_err_49),
	KUNIT_CASE(client_deletes_the_only_link_dell_08_dell_09_dell_10),
	KUNIT_CASE(client_deletes_and_does_not_answer_err_38),
	KUNIT_CASE(client_deletes_an_unknown_link_err_48),
	KUNIT_CASE(client_delete_waits_ser_08_ser_13_ser_19_ser_04),
	KUNIT_CASE(client_add_link_starts_an_attempt_err_59_addl_06_addl_07),
	KUNIT_CASE(offers_on_demand_are_limited_err_59_addl_07_sl_12),
	KUNIT_CASE(answers_on_demand_are_limited_err_29_dell_05),
	KUNIT_CASE(client_add_link_crosses_ser_07),
	KUNIT_CASE(client_add_link_waits_ser_12_ser_17),
	KUNIT_CASE(client_add_link_at_the_maximum_addl_05_addl_09_maxl_10),
	KUNIT_CASE(client_starts_no_add_link_maxl_09_lg_08),
	KUNIT_CASE(second_link_is_tried_again_err_57_tmr_12),
	KUNIT_CASE(retries_back_off_tmr_12),
	KUNIT_CASE(retries_start_over_err_58_err_59),
	KUNIT_CASE(later_add_link_without_reply_err_29),
	KUNIT_CASE(later_spare_fails_and_nothing_else),
	KUNIT_CASE(later_add_link_crosses_the_wire_sl_12),
	KUNIT_CASE(rkeys_wait_for_links_ser_02_ser_05_rkey_15),
	KUNIT_CASE(client_confirm_rkey_is_refused_ser_10_ser_15),
	KUNIT_CASE(client_confirm_rkey_is_taken_deployed),
	KUNIT_CASE(client_delete_rkey_waits_for_links),
	KUNIT_CASE(confirm_rkey_crosses_add_link_ser_18),
	KUNIT_CASE(confirm_rkey_crosses_delete_link_ser_20),
	KUNIT_CASE(what_is_answered_llc_03_addl_10),
	KUNIT_CASE(end_before_the_beginning),
	KUNIT_CASE(spare_that_comes_too_late_is_dropped),
	KUNIT_CASE(dead_machine_says_nothing),
	KUNIT_CASE(reasons_have_texts),
	KUNIT_CASE(second_delete_rkey_on_a_link_llc_12_ser_02),
	KUNIT_CASE(rkey_reply_of_another_type_llc_12_err_54),
	KUNIT_CASE(delete_link_reply_on_another_link_err_46),
	KUNIT_CASE(delete_link_is_repeated_on_another_link_dell_05),
	KUNIT_CASE(offer_is_refused_if_its_link_breaks_sl_11_sl_12),
	KUNIT_CASE(rejection_extends_delete_rkey_amb_21),
	KUNIT_CASE(unknown_link_of_the_server_amb_64),
	KUNIT_CASE(rnic_goes_in_first_contact_err_56_lgt_03),
	KUNIT_CASE(rnic_of_a_lost_link_goes_lgt_03),
	KUNIT_CASE(departing_link_breaks_ser_19_lgt_05),
	KUNIT_CASE(no_rkey_exchange_while_a_link_ends_ser_05),
	KUNIT_CASE(offer_replaces_a_pending_notice_ser_07),
	KUNIT_CASE(link_is_given_up_after_its_exchanges_ser_19),
	KUNIT_CASE(a_pause_lasts_until_its_time_err_59),
	KUNIT_CASE(pause_after_a_withdrawn_link_is_deployed_amb_40),
	KUNIT_CASE(late_rejection_ends_the_pause_once_err_54),
	KUNIT_CASE(late_rejection_ends_its_own_exchange_ser_02),
	KUNIT_CASE(acceptance_that_is_not_due_err_46_err_54),
	KUNIT_CASE(offer_that_cannot_be_used_sl_11_err_44),
	KUNIT_CASE(old_server_offers_nothing_sl_11_err_44_amb_27),
	KUNIT_CASE(offer_replaces_one_that_waits_err_29_ser_18),
	KUNIT_CASE(confirmed_link_stays_sl_16_sl_17),
	KUNIT_CASE(new_link_is_the_one_that_was_offered_err_43_err_47_err_54),
	KUNIT_CASE(results_count_for_their_own_link),
	KUNIT_CASE(offer_that_is_deleted_needs_no_answer_dell_05),
	KUNIT_CASE(offer_without_a_free_index_is_declined_sl_11),
	KUNIT_CASE(rnic_that_hangs_is_not_tried_again_at_once_err_56),
	KUNIT_CASE(bare_offer_is_the_last_attempt_amb_28),
	KUNIT_CASE(notice_needs_an_rnic_and_its_turn_addl_06_ser_02),
	KUNIT_CASE(delete_link_is_about_one_link_dell_05),
	KUNIT_CASE(delete_link_on_the_link_itself_dell_06),
	KUNIT_CASE(delete_link_reply_about_another_link_err_54),
	KUNIT_CASE(link_without_rnics_is_not_replaced_addl_02),
	KUNIT_CASE(reported_link_has_a_last_deadline_err_36),
	KUNIT_CASE(delete_link_waits_for_the_clients_exchange_ser_13),
	KUNIT_CASE(deletion_whose_carrier_fails_is_over_dell_05),
	KUNIT_CASE(links_with_another_mtu_go_one_by_one_ser_02),
	KUNIT_CASE(first_offer_is_not_dropped_amb_28),
	KUNIT_CASE(owner_gives_up_a_link_at_any_time_lgt_03),
	KUNIT_CASE(end_prefers_a_link_in_use_lgt_04),
	KUNIT_CASE(messages_on_a_link_that_ends_err_46),
	KUNIT_CASE(request_on_a_lost_link_err_46),
	KUNIT_CASE(no_probe_before_and_after_the_group_ka_02),
	KUNIT_CASE(rnics_are_news_once_addl_06_err_58),
	KUNIT_CASE(group_is_up_without_the_failed_link_sl_17),
	KUNIT_CASE(client_refuses_no_keys_ser_10),
	KUNIT_CASE(keys_for_an_unused_link_are_ignored_rkey_03),
	KUNIT_CASE(confirm_rkey_is_continued_where_it_began_err_47_llc_14),
	KUNIT_CASE(put_off_delete_rkey_moves_to_another_link_llc_14),
	KUNIT_CASE(rkey_reply_repeats_the_request_err_54),
	KUNIT_CASE(exchange_of_the_owner_outlives_its_link_llc_14),
	KUNIT_CASE(only_links_in_use_count_lg_10_lg_16),
	KUNIT_CASE(youngest_asymmetric_link_goes_lg_16),
	KUNIT_CASE(unused_rnic_comes_first_addl_06_sl_07),
	KUNIT_CASE(states_in_which_a_link_has_ended_ser_19),
	KUNIT_CASE(second_loss_of_a_link_dell_05_lgt_05),
	KUNIT_CASE(second_link_out_of_sync_in_first_contact_err_54),
	KUNIT_CASE(failed_attempt_is_repeated_below_the_limit_tmr_12),
	KUNIT_CASE(request_whose_link_fails_gets_no_reply_addl_06),
	KUNIT_CASE(acceptance_without_a_queue_pair_err_45),
	KUNIT_CASE(offer_says_whether_the_path_is_direct_sl_04),
	KUNIT_CASE(each_link_number_is_gone_by_itself_lid_03),
	KUNIT_CASE(random_order_on_a_good_wire),
	KUNIT_CASE(random_order_with_ends),
	KUNIT_CASE(random_losses_and_breaks),
	KUNIT_CASE(random_nonsense),
	{}
};

static struct kunit_suite llc_flow_suite = {
	.name = "smc_llc_flow",
	.test_cases = llc_flow_cases,
};

kunit_test_suite(llc_flow_suite);
