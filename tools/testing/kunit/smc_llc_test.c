// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC engine and the bytes of a peer: a whole link group with faked queues. A case feeds
 * smc_llc_rx() and reads what smc_wr_post() gets. The peer is hostile: no message may do more
 * than end the group, nor make the kernel complain.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/prandom.h>

#include "smc_kunit.h"

/* another suite tests routes */
#define smc_route_find eng_route_find
#define smc_ib_end_ifindex eng_end_ifindex

#include "rdma/smc_mem.h"
#include "group/smc_core.h"

/* nothing is posted */
#define smc_wr_await(...) ((void)0)

/* no traces */
#define SMC_TRACE_H

static void trace_smc_llc_rx(struct smc_link *link, const u8 *msg, u32 len)
{
}

static void trace_smc_llc_tx(struct smc_link *link, const u8 *msg, u32 len)
{
}

static void trace_smcr_link_down(struct smc_link *link, enum smc_llc_why why, void *where)
{
}

#include "../../../net/smc/group/smc_llc_msg.c"
#include "../../../net/smc/group/smc_llc.c"

#define ENG_RKEY	0x1000
#define ENG_VADDR	0x7f0000000000ULL

/**
 * struct eng_way - a route to the peer's second RNIC
 * @what: in words
 * @rc: the result of the route lookup, after @nr_again times -EAGAIN
 * @nr_again: see there
 * @is_direct: no gateway on our route
 * @peer_is_direct: the same by the peer's account, which does not count
 * @is_elsewhere: our interface is of another namespace
 * @is_far: and the peer in another subnet
 * @is_taken: a link is made of it
 */
struct eng_way {
	const char *what;
	int rc;
	unsigned int nr_again;
	bool is_direct;
	bool peer_is_direct;
	bool is_elsewhere;
	bool is_far;
	bool is_taken;
};

/**
 * struct eng_lab - a link group and its last message
 * @way: of a routed group; NULL for one that is not
 * @nr_asked: how often it was asked for
 * @lgr: the group; a reservation is held
 * @link: its first link
 * @sent: the last message, as far as it fits
 * @sent_len: its length
 * @nr_sent: messages so far
 * @room: the engine's input is copied from here
 * @has_one_end: this host has one RNIC, not two
 * @has_no_end: and no RNIC is known to be on the LAN
 * @is_end_down: its port has failed
 * @mtu: of the port now; 0: that of its links
 * @has_rmb: an RMB of first contact
 * @has_no_slot: all slots that were made for LLC are in use
 * @holds_sent: what is sent in these slots completes by eng_complete()
 * @held: the completions that are due
 * @nr_held: their number
 * @nr_data_slots: slots that were taken from the data path
 * @nr_writes: RDMA WRITEs that were posted before messages
 */
struct eng_lab {
	const struct eng_way *way;
	unsigned int nr_asked;
	struct smc_link_group *lgr;
	struct smc_link *link;
	u8 sent[8192];
	u32 sent_len;
	unsigned int nr_sent;
	u8 room[SMC_WR_RECV_MAX];
	bool has_one_end;
	bool has_no_end;
	bool is_end_down;
	enum ib_mtu mtu;
	bool has_rmb;
	bool has_no_slot;
	bool holds_sent;
	struct smc_wr_tag held[SMC_WR_CTRL_SLOTS];
	unsigned int nr_held;
	unsigned int nr_data_slots;
	unsigned int nr_writes;
};

static struct eng_lab *eng_lab;
static struct smc_ib_dev eng_dev[2];
static const struct smc_wr_ops eng_ops = { .rx_llc = smc_llc_rx, .broken = smc_llc_broken };

/* The RNIC nearest to the peer, and another one. */
static void eng_end(struct smc_ib_end *end, unsigned int i)
{
	memset(end, 0, sizeof(*end));
	end->dev = &eng_dev[i];
	end->port = 1;
	end->is_v2 = true;
	end->mtu = IB_MTU_1024;
	end->gid.raw[10] = 0xff;
	end->gid.raw[11] = 0xff;
	end->gid.raw[12] = 10;
	end->gid.raw[15] = 1 + i;
	end->mac[0] = 2;
	end->mac[5] = 1 + i;
}

void smc_ib_end_put(struct smc_ib_end *end)
{
	end->dev = NULL;
}

bool smc_ib_end_is_dead(const struct smc_ib_end *end)
{
	return false;
}

bool smc_ib_end_is_up(const struct smc_ib_end *end)
{
	return !eng_lab->is_end_down;
}

enum ib_mtu smc_ib_end_mtu(const struct smc_ib_end *end)
{
	return eng_lab->mtu ?: end->mtu;
}

bool smc_ib_end_reaches(const struct smc_ib_end *end, const u8 peer_gid[16])
{
	return !eng_lab->way || !eng_lab->way->is_far;
}

int eng_end_ifindex(const struct smc_ib_end *end, const struct net *net)
{
	return eng_lab->way && eng_lab->way->is_elsewhere ? 0 : 7;
}

int eng_route_find(struct net *net, const struct smc_route_rules *like,
		   const struct smc_ib_end *end, const u8 gid[16], struct smc_route *route)
{
	const struct eng_way *way = eng_lab->way;

	if (like->oif != 7 || way->rc == -EHOSTUNREACH)
		return -EHOSTUNREACH;
	memset(route, 0, sizeof(*route));
	route->is_direct = way->is_direct;
	route->hop_limit = way->is_direct ? 1 : 64;
	if (eng_lab->nr_asked++ < way->nr_again)
		return -EAGAIN;
	route->mac[0] = 2;
	route->mac[5] = 0x77;
	return way->rc;
}

void smc_ib_lan_of(const struct net *net, const struct smc_ib_end *end, struct smc_ib_lan *lan)
{
}

unsigned int smc_ib_lan_ends(struct net *net, const struct smc_ib_lan *lan,
			     struct smc_ib_end *ends, unsigned int max)
{
	if (eng_lab->has_no_end)
		return 0;
	eng_end(&ends[0], 0);
	if (eng_lab->has_one_end)
		return 1;
	eng_end(&ends[1], 1);
	return 2;
}

void smc_ib_listen(struct work_struct *work)
{
}

unsigned int smc_wr_nr_free(struct smc_wr *wr, enum smc_wr_class class)
{
	if (class == SMC_WR_CTRL && eng_lab->has_no_slot)
		return 0;
	return SMC_WR_CTRL_SLOTS - (class == SMC_WR_CTRL ? eng_lab->nr_held : 0);
}

struct smc_wr_slot *smc_wr_slot_get(struct smc_wr *wr, enum smc_wr_class class)
{
	u32 room = class == SMC_WR_DATA ? SMC_WR_MSG_LEN : SMC_WR_LONG_LEN;
	struct smc_wr_slot *slot;

	eng_lab->nr_data_slots += class == SMC_WR_DATA;
	if (class == SMC_WR_CTRL && !smc_wr_nr_free(wr, class))
		return NULL;
	slot = kzalloc(sizeof(*slot), GFP_ATOMIC);
	if (!slot)
		return NULL;
	slot->msg = kzalloc(room, GFP_ATOMIC);
	if (!slot->msg) {
		kfree(slot);
		return NULL;
	}
	slot->wr = wr;
	slot->class = class;
	slot->len = SMC_WR_MSG_LEN;
	slot->room = room;
	return slot;
}

void smc_wr_slot_put(struct smc_wr_slot *slot)
{
	kfree(slot->msg);
	kfree(slot);
}

int smc_wr_slot_fill(struct smc_wr_slot *slot, const u8 *msg, u32 len, u8 **page)
{
	slot->len = len;
	kfree(slot->msg);
	slot->msg = kmemdup(msg, len, GFP_ATOMIC);
	return slot->msg ? 0 : -ENOMEM;
}

int smc_wr_post(struct smc_wr_slot *slot)
{
	struct smc_wr_tag tag = slot->tag;
	struct smc_wr *wr = slot->wr;
	bool is_held;

	eng_lab->sent_len = slot->len;
	memcpy(eng_lab->sent, slot->msg, min_t(u32, slot->len, sizeof(eng_lab->sent)));
	eng_lab->nr_sent++;
	eng_lab->nr_writes += slot->nr_writes;
	is_held = eng_lab->holds_sent && slot->class == SMC_WR_CTRL;
	smc_wr_slot_put(slot);
	if (is_held)
		eng_lab->held[eng_lab->nr_held++] = tag;
	else if (tag.done)
		tag.done(wr, &tag, true);
	return 0;
}

static int eng_net_init(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);
	struct smc_settings *set = &sn->set;

	sn->stats = alloc_percpu(struct smc_stats_cpu);
	set->max_conns_per_lgr = SMC_NEGO_MAX_CONNS;
	set->max_links = 2;
	set->rmb_idle_ms = 3600 * MSEC_PER_SEC;
	set->lgr_idle_ms = 3600000;
	set->llc.confirm_link = 60000;
	set->llc.first_reply = 60000;
	set->max_lgrs_per_peer = 64;
	set->llc.add_link = 60000;
	set->llc.add_link_deployed = 60000;
	set->llc.reply = 60000;
	set->llc.delete_link = 60000;
	set->llc.terminate = 60000;
	set->llc.test_link = 60000;
	set->llc.rkey_retry = 60000;
	if (!sn->stats)
		return -ENOMEM;
	smc_peer_prepare(net);
	return smc_net_init(net);
}

static void eng_net_exit(struct net *net)
{
	smc_peer_exit_net(net);
	free_percpu(smc_net(net)->stats);
}

static struct pernet_operations eng_net_ops = {
	.init = eng_net_init,
	.exit = eng_net_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int eng_suite_init(struct kunit_suite *suite)
{
	int rc;

	rc = register_pernet_subsys(&eng_net_ops);
	if (rc)
		return rc;
	smc_link_init(&eng_ops);
	rc = smc_mem_init();
	if (rc)
		goto unregister;
	rc = smc_core_init();
	if (rc)
		goto uncharge;
	rc = smc_llc_init_module();
	if (rc)
		goto exit;
	return 0;
exit:
	smc_core_exit();
uncharge:
	smc_mem_exit();
unregister:
	unregister_pernet_subsys(&eng_net_ops);
	return rc;
}

static void eng_suite_exit(struct kunit_suite *suite)
{
	smc_core_exit();
	smc_llc_exit_module();
	smc_mem_exit();
	unregister_pernet_subsys(&eng_net_ops);
}

/* Run until no work is left. */
static void eng_settle(struct smc_link_group *lgr)
{
	int i, k;

	/* each message passes between the work items a few times */
	for (k = 0; k < 4; k++) {
		flush_workqueue(llc_wq);
		for (i = 0; i < SMC_LLC_LINKS; i++)
			flush_work(&lgr->llc.task[i].work);
	}
}

static void eng_hear(struct smc_link *link, const u8 *msg, u32 len)
{
	smc_llc_rx(&link->wr, msg, len);
	eng_settle(link->lgr);
}

/* A well-formed message of the peer. */
static void eng_say(struct kunit *test, struct smc_link *link, const struct smc_llc_msg *msg,
		    const struct smc_llc_more *more)
{
	int len = smc_llc_form_encode(SMC_LLC_FORM_V2, msg, more, SMC_DIALECT_DEPLOYED,
				      eng_lab->room, sizeof(eng_lab->room));

	KUNIT_ASSERT_GT(test, len, 0);
	eng_hear(link, eng_lab->room, len);
}

/* The last message of the engine, which must be of @type. */
static struct smc_llc_msg eng_sent(struct kunit *test, u8 type)
{
	struct smc_llc_msg msg = {};

	KUNIT_ASSERT_GT(test, eng_lab->nr_sent, 0);
	KUNIT_ASSERT_EQ(test, smc_llc_form_decode(SMC_LLC_FORM_V2, eng_lab->sent,
						  eng_lab->sent_len, SMC_DIALECT_DEPLOYED, &msg),
			SMC_LLC_OK);
	KUNIT_ASSERT_EQ(test, msg.type, type);
	return msg;
}

static void eng_peer_end(struct smc_llc_end *end, unsigned int i)
{
	memset(end, 0, sizeof(*end));
	end->mac[0] = 2;
	end->mac[5] = 0x11 + i;
	end->gid[10] = 0xff;
	end->gid[11] = 0xff;
	end->gid[12] = 10;
	end->gid[15] = 0x11 + i;
	end->qpn = 0x4711 + i;
	end->mtu = IB_MTU_1024;
}

static void eng_confirm_link(struct kunit *test, struct smc_link *link, bool is_server)
{
	struct smc_llc_msg msg = { .type = SMC_LLC_CONFIRM_LINK, .is_reply = is_server };
	struct smc_llc_confirm_link *cl = &msg.confirm_link;

	eng_peer_end(&cl->end, link->index);
	cl->end.psn = 0;
	cl->end.mtu = 0;
	cl->link_num = is_server ? eng_sent(test, SMC_LLC_CONFIRM_LINK).confirm_link.link_num : 1;
	cl->max_links = link->lgr->params.max_links;
	cl->max_conns = 255;
	cl->no_eye_catcher = true;
	eng_say(test, link, &msg, NULL);
}

/* The present group ends, if it has not, and releases everything. */
static void eng_down(struct kunit *test)
{
	struct smc_link_group *lgr = eng_lab->lgr;

	if (!lgr)
		return;
	eng_lab->lgr = NULL;
	smc_lgr_terminate(lgr, "test");
	/* as smc_wr_report() would */
	smc_llc_broken(&eng_lab->link->wr, SMC_WR_FAULT_PROTOCOL);
	smc_lgr_unreserve(lgr);
	smc_lgr_wait_none(NULL);
}

/* A client with one RNIC rejects both of the server's links. */
static void eng_reject_links(struct kunit *test)
{
	struct smc_llc_msg msg;
	unsigned int i, before;

	for (i = 0; i < 2; i++) {
		msg = eng_sent(test, SMC_LLC_ADD_LINK);
		KUNIT_ASSERT_FALSE(test, msg.is_reply);
		msg.is_reply = true;
		msg.add_link.is_rejected = true;
		before = eng_lab->nr_sent;
		eng_say(test, eng_lab->link, &msg, NULL);
		if (eng_lab->nr_sent == before)
			return;
	}
}

/* An unused RMB. It has no key, as on a link that was just stopped. */
static void eng_idle_rmb(struct kunit *test, struct smc_link_group *lgr)
{
	struct smc_buf *buf = smc_buf_alloc(&lgr->rmbs, SMC_BUF_MIN_SIZE, 512, SMC_BUF_MAX_ELEMS);
	struct smc_buf_elem elem = {};

	KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(buf));
	KUNIT_ASSERT_EQ(test, smc_buf_add(&lgr->rmbs, buf, &elem), 0);
	smc_buf_set_ready(&lgr->rmbs, buf);
	smc_buf_put(&lgr->rmbs, &elem);
}

/* A new group of version 2 after its first contact, with one link. */
static struct smc_link *eng_up(struct kunit *test, bool is_server, u8 max_links)
{
	struct smc_lgr_key key = {
		.net = &init_net, .role = is_server ? SMC_ROLE_SERVER : SMC_ROLE_CLIENT,
		.version = 2,
	};
	struct smc_params params = {
		.version = 2, .release = 1, .max_links = max_links, .max_links_is_fixed = true,
		.max_conns = 255, .announced_max_conns = 255, .has_dialect = true,
		.llc_form = SMC_LLC_FORM_V2, .mtu = IB_MTU_1024, .is_routed = eng_lab->way,
	};
	struct smc_llc_probe probe = { .raddr = ENG_VADDR, .len = 1024 };
	struct smc_ib_peer peer = {};
	struct smc_llc_end peer_end;
	struct smc_ib_end end;

	eng_down(test);
	eng_lab->nr_sent = 0;
	eng_lab->nr_writes = 0;
	eng_lab->lgr = smc_lgr_form(&key);
	KUNIT_ASSERT_FALSE(test, IS_ERR(eng_lab->lgr));
	eng_lab->lgr->params = params;
	smc_llc_init(eng_lab->lgr);
	eng_end(&end, 0);
	eng_lab->link = smc_link_create(eng_lab->lgr, &end);
	KUNIT_ASSERT_FALSE(test, IS_ERR(eng_lab->link));
	eng_peer_end(&peer_end, 0);
	peer.qpn = peer_end.qpn;
	peer.mtu = IB_MTU_1024;
	memcpy(peer.gid, peer_end.gid, sizeof(peer.gid));
	memcpy(peer.mac, peer_end.mac, sizeof(peer.mac));
	KUNIT_ASSERT_EQ(test, smc_link_connect(eng_lab->link, &peer), 0);
	smc_llc_set_probe(eng_lab->lgr, &probe);
	smc_llc_start_group(eng_lab->lgr, eng_lab->link);
	eng_settle(eng_lab->lgr);
	if (eng_lab->has_rmb)
		eng_idle_rmb(test, eng_lab->lgr);
	eng_confirm_link(test, eng_lab->link, is_server);
	if (max_links > 1 && is_server) {
		eng_reject_links(test);
	} else if (max_links > 1) {
		struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK };

		/* no second link for now */
		eng_peer_end(&msg.add_link.end, 0);
		msg.add_link.link_num = 2;
		msg.add_link.end.qpn = 0;
		eng_say(test, eng_lab->link, &msg, NULL);
	}
	KUNIT_ASSERT_EQ(test, eng_lab->lgr->state, SMC_LGR_ACTIVE);
	return eng_lab->link;
}

static int eng_test_init(struct kunit *test)
{
	eng_lab = kunit_kzalloc(test, sizeof(*eng_lab), GFP_KERNEL);
	return eng_lab ? 0 : -ENOMEM;
}

static void eng_test_exit(struct kunit *test)
{
	if (eng_lab)
		eng_down(test);
}

static bool eng_knows(struct smc_link *link, u32 rkey)
{
	bool knows;

	mutex_lock(&link->lgr->lock);
	knows = smc_rtoken_find_rkey(link->lgr->rtokens, link->index, rkey) >= 0;
	mutex_unlock(&link->lgr->lock);
	return knows;
}

static void eng_know(struct kunit *test, struct smc_link *link, u32 rkey)
{
	int idx;

	mutex_lock(&link->lgr->lock);
	idx = smc_rtoken_add(link->lgr->rtokens, link->index, rkey, ENG_VADDR);
	mutex_unlock(&link->lgr->lock);
	KUNIT_ASSERT_GE(test, idx, 0);
}

/*
 * Any number of keys is deleted, and unknown ones are counted. A message of version 1 has no
 * room for nine, but this one has no extension.
 */
static void rkey_16_rkey_18_any_number_of_keys_is_deleted(struct kunit *test)
{
	static const unsigned int counts[] = { 1, 7, 8, 9, 10, 11, 29, 30, 254, 255 };
	struct smc_link *link = eng_up(test, true, 1);
	struct smc_llc_msg msg = { .type = SMC_LLC_DELETE_RKEY };
	struct smc_llc_more more = {};
	struct smc_llc_msg reply;
	unsigned int i, k;
	u32 *rkey;

	rkey = kunit_kcalloc(test, SMC_LLC_LONG_KEYS, sizeof(*rkey), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rkey);
	more.rkey = rkey;
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		more.nr = counts[i];
		for (k = 0; k < more.nr; k++) {
			rkey[k] = ENG_RKEY + 256 * k + i;
			/* but not in the last message */
			if (k + 1 < more.nr)
				eng_know(test, link, rkey[k]);
		}
		eng_know(test, link, 0xbeef);
		eng_say(test, link, &msg, &more);
		KUNIT_ASSERT_EQ(test, link->lgr->state, SMC_LGR_ACTIVE);
		reply = eng_sent(test, SMC_LLC_DELETE_RKEY);
		KUNIT_EXPECT_TRUE(test, reply.is_reply);
		KUNIT_EXPECT_EQ(test, reply.delete_rkey.count, counts[i]);
		KUNIT_EXPECT_TRUE(test, reply.delete_rkey.is_negative);
		KUNIT_EXPECT_EQ(test, reply.delete_rkey.nr_unknown, 1);
		for (k = 0; k < more.nr; k++)
			KUNIT_EXPECT_FALSE_MSG(test, eng_knows(link, rkey[k]), "key %u of %u", k,
					       more.nr);
		KUNIT_EXPECT_TRUE(test, eng_knows(link, 0xbeef));
		KUNIT_EXPECT_NULL(test, link->lgr->llc.kept_rkeys);
	}
}

/* A client's second link, with all keys of the server. */
static void rkey_22_addl_12_keys_of_a_long_add_link(struct kunit *test)
{
	static const unsigned int counts[] = { 0, 1, 2, 255 };
	struct smc_llc_more more = {};
	struct smc_llc_msg msg, reply;
	struct smc_llc_pair *pair;
	struct smc_link *link;
	unsigned int i, k;

	pair = kunit_kcalloc(test, SMC_LLC_LONG_KEYS, sizeof(*pair), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pair);
	more.pair = pair;
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		link = eng_up(test, false, 2);
		more.nr = counts[i];
		for (k = 0; k < more.nr; k++) {
			eng_know(test, link, ENG_RKEY + k);
			pair[k].ref_rkey = ENG_RKEY + k;
			pair[k].rkey = 2 * ENG_RKEY + k;
			pair[k].vaddr = ENG_VADDR;
		}
		memset(&msg, 0, sizeof(msg));
		msg.type = SMC_LLC_ADD_LINK;
		msg.add_link.link_num = 3;
		eng_peer_end(&msg.add_link.end, 1);
		eng_say(test, link, &msg, &more);
		reply = eng_sent(test, SMC_LLC_ADD_LINK);
		KUNIT_ASSERT_TRUE(test, reply.is_reply);
		KUNIT_ASSERT_FALSE(test, reply.add_link.is_rejected);
		link = READ_ONCE(link->lgr->links[1]);
		KUNIT_ASSERT_NOT_NULL(test, link);
		for (k = 0; k < more.nr; k++)
			KUNIT_ASSERT_TRUE(test, eng_knows(link, 2 * ENG_RKEY + k));
		KUNIT_EXPECT_NULL(test, link->lgr->llc.kept);
	}
}

/* A link without a key in use is no redundancy, and is refused. */
static void rkey_20_addl_13_a_link_has_every_key_in_use(struct kunit *test)
{
	static const struct {
		const char *what;
		unsigned int first, nr;	/* keys that the peer announces */
		u32 used;
		u8 flags;	/* that the peer sent on the connection */
		bool is_refused;
	} rows[] = {
		{ "both keys", 0, 2, 0, 0, false },
		{ "the key in use", 0, 1, 0, 0, false },
		{ "another key", 1, 1, 0, 0, true },
		{ "no key", 0, 0, 0, 0, true },
		{ "no key, the peer shut down writing", 0, 0, 0, SMC_CDC_DONE, true },
		{ "no key, the peer has closed", 0, 0, 0, SMC_CDC_CLOSED, false },
		{ "no key, the peer has aborted", 0, 0, 0, SMC_CDC_ABORT, false },
		{ "no key is in use", 0, 0, 2, 0, false },
	};
	struct smc_llc_msg msg = { .type = SMC_LLC_ADD_LINK }, reply;
	struct smc_llc_pair pair[2] = {};
	struct smc_llc_more more = {};
	struct smc_link_group *lgr;
	struct smc_conn *conn;
	struct smc_link *link;
	unsigned int i, k;

	msg.add_link.link_num = 3;
	eng_peer_end(&msg.add_link.end, 1);
	conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, conn);
	refcount_set(&conn->refs, 1);
	spin_lock_init(&conn->lock);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		link = eng_up(test, false, 2);
		lgr = link->lgr;
		eng_know(test, link, ENG_RKEY);
		eng_know(test, link, ENG_RKEY + 1);
		conn->lgr = lgr;
		conn->rtoken = smc_rtoken_find_rkey(lgr->rtokens, link->index,
						    ENG_RKEY + rows[i].used);
		conn->ctl.rx_conn_flags = rows[i].flags;
		KUNIT_ASSERT_EQ(test, xa_err(xa_store(&lgr->conns, 0x77, conn, GFP_KERNEL)), 0);
		for (k = 0; k < rows[i].nr; k++) {
			pair[k].ref_rkey = ENG_RKEY + rows[i].first + k;
			pair[k].rkey = 2 * ENG_RKEY + rows[i].first + k;
			pair[k].vaddr = ENG_VADDR;
		}
		more.pair = pair;
		more.nr = rows[i].nr;
		eng_say(test, link, &msg, &more);
		xa_erase(&lgr->conns, 0x77);
		reply = eng_sent(test, SMC_LLC_ADD_LINK);
		KUNIT_EXPECT_TRUE(test, reply.is_reply);
		KUNIT_EXPECT_EQ_MSG(test, reply.add_link.is_rejected, rows[i].is_refused, "%s",
				    rows[i].what);
	}
	KUNIT_EXPECT_EQ(test, refcount_read(&conn->refs), 1);
}

/*
 * A queue pair is created late, for a link that has been given up. The RMBs announced for
 * the next link are counted already, and one of them may be gone.
 */
static void rkey_20_addl_12_a_late_message_changes_no_count(struct kunit *test)
{
	struct smc_link *link = eng_up(test, false, 2);
	struct smc_llc *llc = &link->lgr->llc;
	struct smc_buf gone = {};

	mutex_lock(&link->lgr->lock);
	llc->announced[0] = NULL;
	llc->announced[1] = &gone;
	llc->nr_announced = 2;
	mutex_unlock(&link->lgr->lock);
	smc_llc_report(link->lgr, SMC_LLC_EV_LINK_CREATED, link->index, true, 0);
	eng_settle(link->lgr);
	mutex_lock(&link->lgr->lock);
	KUNIT_EXPECT_EQ(test, llc->nr_announced, 2);
	KUNIT_EXPECT_NULL(test, llc->announced[0]);
	KUNIT_EXPECT_PTR_EQ(test, llc->announced[1], &gone);
	llc->nr_announced = 0;
	mutex_unlock(&link->lgr->lock);
	KUNIT_EXPECT_EQ(test, link->lgr->state, SMC_LGR_ACTIVE);
}

static const struct eng_way eng_ways[] = {
	{ "neighbours", .is_direct = true, .peer_is_direct = true, .is_taken = true },
	{ "a gateway on both ways", .is_taken = true },
	{ "a gateway on our way only", .peer_is_direct = true, .is_taken = true },
	{ "a gateway on the peer's way only", .is_direct = true, .is_taken = true },
	{ "a neighbour that has to be asked", .is_direct = true, .peer_is_direct = true,
	  .nr_again = 1, .is_taken = true },
	{ "a neighbour that does not answer", .is_direct = true, .peer_is_direct = true,
	  .nr_again = UINT_MAX },
	{ "no route, though a subnet", .rc = -EHOSTUNREACH, .peer_is_direct = true },
	{ "a subnet of another namespace", .rc = -EHOSTUNREACH, .is_elsewhere = true,
	  .is_direct = true, .peer_is_direct = true, .is_taken = true },
	{ "another subnet of another namespace", .is_elsewhere = true, .is_far = true,
	  .is_direct = true, .peer_is_direct = true },
};

static void eng_way_desc(const struct eng_way *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(eng_way, eng_ways, eng_way_desc);

/* Further links find their route as the first one does, protocol.md. */
static void a_further_link_is_routed(struct kunit *test)
{
	struct smc_llc_msg reply, msg = { .type = SMC_LLC_ADD_LINK };
	const struct eng_way *way = test->param_value;
	struct smc_llc_more more = {};
	struct smc_link *link;

	eng_lab->way = way;
	link = eng_up(test, false, 2);
	eng_lab->nr_asked = 0;
	msg.add_link.link_num = 3;
	msg.add_link.is_direct = way->peer_is_direct;
	eng_peer_end(&msg.add_link.end, 1);
	eng_say(test, link, &msg, &more);
	reply = eng_sent(test, SMC_LLC_ADD_LINK);
	KUNIT_EXPECT_TRUE(test, reply.is_reply);
	KUNIT_EXPECT_EQ(test, reply.add_link.is_rejected, !way->is_taken);
	KUNIT_EXPECT_GE(test, eng_lab->nr_asked, way->nr_again == 1 ? 2 : 0);
	KUNIT_EXPECT_EQ(test, link->lgr->state, SMC_LGR_ACTIVE);
	if (!way->is_taken)
		return;
	KUNIT_EXPECT_EQ(test, reply.add_link.is_direct, way->is_direct);
	link = READ_ONCE(link->lgr->links[1]);
	KUNIT_ASSERT_NOT_NULL(test, link);
	if (way->is_elsewhere) {
		KUNIT_EXPECT_EQ(test, eng_lab->nr_asked, 0);
		KUNIT_EXPECT_EQ(test, link->peer.hop_limit, 0);
		KUNIT_EXPECT_EQ(test, link->peer.hop_mac[5], 0);
		return;
	}
	KUNIT_EXPECT_EQ(test, link->peer.hop_limit, way->is_direct ? 1 : 64);
	KUNIT_EXPECT_EQ(test, link->peer.hop_mac[5], 0x77);
}

/*
 * A peer may name a deleted link as often as it likes, without harm. A continuation could not
 * be answered: a message that announces one is refused, and so is the continuation, in
 * either form.
 */
static void err_54_confirm_rkey_is_not_continued(struct kunit *test)
{
	static const u8 forms[] = { 0, SMC_LLC_V2_TYPE };
	struct smc_link *link;
	struct smc_llc_msg msg;
	u8 gone, buf[44];
	unsigned int i;
	u8 nr;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		for (nr = 2; nr <= 8; nr++) {
			link = eng_up(test, true, 2);
			gone = eng_sent(test, SMC_LLC_ADD_LINK).add_link.link_num;
			memset(&msg, 0, sizeof(msg));
			msg.type = SMC_LLC_CONFIRM_RKEY;
			msg.confirm_rkey.nr_rtokens = 2;
			msg.confirm_rkey.here.rkey = ENG_RKEY;
			msg.confirm_rkey.here.vaddr = ENG_VADDR;
			msg.confirm_rkey.other[0].link_num = gone;
			msg.confirm_rkey.other[1].link_num = gone;
			smc_llc_form_encode(SMC_LLC_FORM_V2, &msg, NULL, SMC_DIALECT_DEPLOYED,
					    buf, sizeof(buf));
			buf[0] = SMC_LLC_CONFIRM_RKEY | forms[i];
			buf[4] = nr;
			eng_hear(link, buf, sizeof(buf));
			KUNIT_EXPECT_EQ(test, eng_knows(link, ENG_RKEY), nr == 2);
			KUNIT_EXPECT_EQ_MSG(test, link->lgr->state == SMC_LGR_ACTIVE, nr == 2,
					    "%u other links", nr);
			if (nr == 2) {
				msg = eng_sent(test, SMC_LLC_CONFIRM_RKEY);
				KUNIT_EXPECT_TRUE(test, msg.is_reply);
				KUNIT_EXPECT_FALSE(test, msg.confirm_rkey.is_negative);
			}
			memset(buf, 0, sizeof(buf));
			buf[0] = SMC_LLC_CONFIRM_RKEY_CONT;
			buf[1] = sizeof(buf);
			buf[4] = nr - 2;
			buf[5] = gone;
			buf[18] = gone;
			buf[31] = gone;
			eng_hear(link, buf, sizeof(buf));
			KUNIT_EXPECT_NE(test, link->lgr->state, SMC_LGR_ACTIVE);
		}
	}
}

/* The port of a link can be offered, even if it is not known to be on the LAN. */
static void sl_02_a_port_that_has_a_link_counts(struct kunit *test)
{
	struct smc_llc_rnics *rnics;
	struct smc_link *link;
	struct smc_ib_end end;

	eng_lab->has_no_end = true;
	link = eng_up(test, true, 2);
	rnics = &link->lgr->llc.flow.rnics;
	eng_end(&end, 0);
	KUNIT_EXPECT_EQ(test, rnics->count, 1);
	KUNIT_EXPECT_MEMEQ(test, rnics->rnic[0].gid, end.gid.raw, sizeof(end.gid.raw));
	eng_lab->has_no_end = false;
	llc_ports_update(link->lgr);
	eng_settle(link->lgr);
	KUNIT_EXPECT_EQ(test, rnics->count, 2);
	eng_lab->has_no_end = true;
	eng_lab->is_end_down = true;
	llc_ports_update(link->lgr);
	eng_settle(link->lgr);
	KUNIT_EXPECT_EQ(test, rnics->count, 0);
}

/* LLC borrows a short slot of the data path: only one GID fits, and no link is lost. */
static void addl_06_a_short_slot_takes_one_gid(struct kunit *test)
{
	struct smc_llc_msg msg;
	struct smc_ib_end end;
	struct smc_link *link;
	int is_short;

	eng_end(&end, 1);
	for (is_short = 0; is_short < 2; is_short++) {
		eng_lab->has_one_end = true;
		eng_lab->has_no_slot = false;
		link = eng_up(test, false, 2);
		eng_lab->has_one_end = false;
		eng_lab->has_no_slot = is_short;
		llc_ports_work(NULL);
		eng_settle(link->lgr);
		KUNIT_EXPECT_EQ(test, link->lgr->state, SMC_LGR_ACTIVE);
		msg = eng_sent(test, SMC_LLC_REQ_ADD_LINK);
		KUNIT_EXPECT_FALSE(test, msg.is_reply);
		/* how many GIDs, and the first of them */
		KUNIT_EXPECT_EQ(test, eng_lab->sent[24], is_short ? 1 : 2);
		KUNIT_EXPECT_EQ(test, eng_lab->sent_len, is_short ? 44 : 60);
		KUNIT_EXPECT_MEMEQ(test, eng_lab->sent + 28, end.gid.raw, sizeof(end.gid.raw));
	}
}

/* Once data may flow the path probe writes nothing into the element any more. */
static void err_22_the_path_is_proved_before_there_are_data(struct kunit *test)
{
	int is_server;

	for (is_server = 0; is_server < 2; is_server++) {
		eng_up(test, is_server, 2);
		KUNIT_EXPECT_EQ(test, eng_lab->nr_writes, 1);
		KUNIT_EXPECT_EQ(test, eng_lab->lgr->llc.probe.len, 0);
		/* with one link there is no ADD LINK that the server's probe could precede */
		eng_up(test, is_server, 1);
		KUNIT_EXPECT_EQ(test, eng_lab->nr_writes, is_server ? 0 : 1);
		KUNIT_EXPECT_EQ(test, eng_lab->lgr->llc.probe.len, 0);
	}
}

/* A random message of either version with a length that fits, mostly. */
static u32 eng_noise(struct rnd_state *rnd, u8 *msg)
{
	static const u8 types[] = {
		SMC_LLC_CONFIRM_LINK, SMC_LLC_ADD_LINK, SMC_LLC_ADD_LINK_CONT,
		SMC_LLC_REQ_ADD_LINK, SMC_LLC_CONFIRM_RKEY, SMC_LLC_DELETE_RKEY,
		SMC_LLC_DELETE_RKEY, SMC_LLC_ADD_LINK, SMC_LLC_TEST_LINK,
		SMC_LLC_CONFIRM_RKEY, SMC_LLC_CONFIRM_RKEY_CONT,
	};
	u8 type = types[prandom_u32_state(rnd) % ARRAY_SIZE(types)];
	u32 nr = prandom_u32_state(rnd) % 4 ? prandom_u32_state(rnd) % 20 :
		 prandom_u32_state(rnd) % 256;
	bool fits = prandom_u32_state(rnd) % 4;
	bool is_v2 = prandom_u32_state(rnd) % 3;
	u32 len = SMC_LLC_LEN;

	prandom_bytes_state(rnd, msg, SMC_WR_RECV_MAX);
	/* rarely a reply, or most would be refused at once */
	msg[3] = prandom_u32_state(rnd) % 4 ? 0 : SMC_LLC_REPLY;
	if (type == SMC_LLC_CONFIRM_RKEY || type == SMC_LLC_CONFIRM_RKEY_CONT)
		msg[4] = nr % 4;
	if (!is_v2) {
		/* the length has one byte */
		msg[0] = type;
		msg[1] = SMC_LLC_LEN;
		return fits ? SMC_LLC_LEN : clamp_t(u32, nr, 4, SMC_WR_RECV_MAX);
	}
	if (type == SMC_LLC_DELETE_RKEY) {
		msg[4] = nr;
		len = max_t(u32, len, 8 + 4 * nr);
	} else if (type == SMC_LLC_ADD_LINK) {
		msg[70] = nr;
		msg[71] = 0;
		len = 72 + 16 * nr;
	} else if (type == SMC_LLC_REQ_ADD_LINK) {
		msg[24] = nr % 10;
		len = max_t(u32, len, 28 + 16 * (nr % 10));
	}
	if (!fits)
		len = prandom_u32_state(rnd) % (SMC_WR_RECV_MAX + 1);
	len = clamp_t(u32, len, 4, SMC_WR_RECV_MAX);
	msg[0] = type | SMC_LLC_V2_TYPE;
	msg[1] = len;
	msg[2] = len >> 8;
	return len;
}

/* The worst effect of any message is the end of the group. */
static void err_54_noise_ends_the_group_at_most(struct kunit *test)
{
	unsigned int i, nr_ended[2] = {}, nr_lived[2] = {};
	struct smc_link *link = NULL;
	struct rnd_state rnd;
	u32 len, is_server;

	prandom_seed_state(&rnd, 2205);
	for (is_server = 0; is_server < 2; is_server++) {
		for (i = 0; i < 120; i++) {
			if (!link || READ_ONCE(link->lgr->state) != SMC_LGR_ACTIVE)
				link = eng_up(test, is_server, 2);
			len = eng_noise(&rnd, eng_lab->room);
			eng_hear(link, eng_lab->room, len);
			KUNIT_ASSERT_NULL(test, link->lgr->llc.msg);
			if (READ_ONCE(link->lgr->state) == SMC_LGR_ACTIVE)
				nr_lived[is_server]++;
			else
				nr_ended[is_server]++;
		}
		link = NULL;
		KUNIT_EXPECT_GT(test, nr_ended[is_server], 5);
		KUNIT_EXPECT_GT(test, nr_lived[is_server], 5);
	}
}

/*
 * Hosts may report a lost group as often as they like, and all connections of a link may
 * ask for a probe at the same time.
 */
static void ka_05_probes_that_many_want_are_one(struct kunit *test)
{
	struct smc_link *link = eng_up(test, true, 1);
	struct smc_link_group *lgr = link->lgr;
	unsigned int i, before = eng_lab->nr_sent;

	/* hold up the worker */
	mutex_lock(&lgr->lock);
	for (i = 0; i < 3 * SMC_LLC_QUEUED; i++) {
		smc_llc_probe_group(lgr);
		smc_llc_probe_link(link);
	}
	mutex_unlock(&lgr->lock);
	eng_settle(lgr);
	KUNIT_EXPECT_EQ(test, lgr->state, SMC_LGR_ACTIVE);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, before + 1);
	eng_sent(test, SMC_LLC_TEST_LINK);
}

/* A peer that sends endless requests does not use the slots of the data path. */
static void llc_13_answers_leave_the_slots_of_data_alone(struct kunit *test)
{
	struct smc_link *link = eng_up(test, true, 1);
	static const u8 ask[SMC_WR_MSG_LEN] = { SMC_LLC_TEST_LINK, sizeof(ask) };
	const struct smc_llc_msg forget = {
		.type = SMC_LLC_DELETE_RKEY, .delete_rkey = { .count = 1, .rkey = { 0x77 } },
	};
	unsigned int before = eng_lab->nr_sent;

	set_bit(SMC_WR_IS_OPEN, &link->wr.flags);
	smc_llc_rx(&link->wr, ask, sizeof(ask));
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, before + 1);
	eng_lab->has_no_slot = true;
	smc_llc_rx(&link->wr, ask, sizeof(ask));
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, before + 1);
	eng_settle(link->lgr);
	KUNIT_EXPECT_EQ(test, link->lgr->state, SMC_LGR_ACTIVE);
	/* the machine's own answers */
	eng_say(test, link, &forget, NULL);
	eng_settle(link->lgr);
	KUNIT_EXPECT_EQ(test, link->lgr->state, SMC_LGR_ACTIVE);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, before + 1);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_data_slots, 0);
	/* both are given when there are slots again */
	eng_lab->has_no_slot = false;
	smc_llc_queue_work(link->lgr);
	eng_settle(link->lgr);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, before + 3);
	KUNIT_EXPECT_EQ(test, link->lgr->llc.nr_rx, 0);
	eng_sent(test, SMC_LLC_DELETE_RKEY);
}

/* The oldest message that was sent is acknowledged. */
static void eng_complete(struct smc_link *link)
{
	struct smc_wr_tag tag = eng_lab->held[0];

	eng_lab->nr_held--;
	memmove(eng_lab->held, eng_lab->held + 1, eng_lab->nr_held * sizeof(tag));
	if (tag.done)
		tag.done(&link->wr, &tag, true);
	eng_settle(link->lgr);
}

/* A server whose answers are not acknowledged yet. */
static struct smc_link *eng_unacknowledged(struct kunit *test)
{
	struct smc_link *link;

	eng_lab->holds_sent = false;
	eng_lab->nr_held = 0;
	link = eng_up(test, true, 1);
	set_bit(SMC_WR_IS_OPEN, &link->wr.flags);
	eng_lab->nr_sent = 0;
	eng_lab->holds_sent = true;
	return link;
}

/* Requests that arrive faster than their answers are acknowledged are answered later, in order. */
static void llc_03_llc_13_requests_wait_for_slots(struct kunit *test)
{
	static const u8 ask[SMC_WR_MSG_LEN] = { SMC_LLC_TEST_LINK, sizeof(ask) };
	enum { NR = 30, AT_ONCE = SMC_WR_CTRL_SLOTS - 1 };
	struct smc_llc_msg forget = { .type = SMC_LLC_DELETE_RKEY, .delete_rkey.count = 1 };
	struct smc_link *link = eng_unacknowledged(test);
	unsigned int i;

	for (i = 0; i < NR; i++) {
		forget.delete_rkey.rkey[0] = i + 1;
		eng_say(test, link, &forget, NULL);
	}
	smc_llc_rx(&link->wr, ask, sizeof(ask));
	eng_settle(link->lgr);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, AT_ONCE);
	KUNIT_EXPECT_EQ(test, link->lgr->llc.nr_rx, NR + 1 - AT_ONCE);
	for (i = AT_ONCE; i < NR; i++) {
		eng_complete(link);
		KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, i + 1);
		forget = eng_sent(test, SMC_LLC_DELETE_RKEY);
		KUNIT_EXPECT_TRUE(test, forget.is_reply && forget.delete_rkey.is_negative);
	}
	eng_complete(link);
	eng_sent(test, SMC_LLC_TEST_LINK);
	while (eng_lab->nr_held)
		eng_complete(link);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, NR + 1);
	KUNIT_EXPECT_EQ(test, link->lgr->llc.nr_rx, 0);
	KUNIT_EXPECT_EQ(test, link->lgr->state, SMC_LGR_ACTIVE);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_data_slots, 0);

	/* TEST LINK alone: the completion of one answer lets the worker give the next */
	link = eng_unacknowledged(test);
	for (i = 0; i < NR; i++)
		smc_llc_rx(&link->wr, ask, sizeof(ask));
	eng_settle(link->lgr);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, AT_ONCE);
	while (eng_lab->nr_held)
		eng_complete(link);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, NR);
	KUNIT_EXPECT_EQ(test, link->lgr->state, SMC_LGR_ACTIVE);
}

/* What waits is bounded, does not hold up other events, and ends with the link. */
static void err_54_requests_do_not_wait_for_ever(struct kunit *test)
{
	static const u8 ask[SMC_WR_MSG_LEN] = { SMC_LLC_TEST_LINK, sizeof(ask) };
	struct smc_link *link = eng_unacknowledged(test);
	unsigned int i;

	for (i = 0; i < SMC_WR_CTRL_SLOTS + SMC_LLC_RX_QUEUED - 1; i++)
		eng_hear(link, ask, sizeof(ask));
	KUNIT_EXPECT_EQ(test, link->lgr->llc.nr_rx, SMC_LLC_RX_QUEUED);
	KUNIT_EXPECT_EQ(test, link->lgr->state, SMC_LGR_ACTIVE);
	eng_hear(link, ask, sizeof(ask));
	KUNIT_EXPECT_NE(test, link->lgr->state, SMC_LGR_ACTIVE);
	KUNIT_EXPECT_EQ(test, link->lgr->llc.nr_rx, 0);

	link = eng_unacknowledged(test);
	for (i = 0; i < 2 * SMC_WR_CTRL_SLOTS; i++)
		eng_hear(link, ask, sizeof(ask));
	KUNIT_EXPECT_GT(test, link->lgr->llc.nr_rx, 0);
	clear_bit(SMC_WR_IS_OPEN, &link->wr.flags);
	smc_llc_broken(&link->wr, SMC_WR_FAULT_SEND);
	eng_settle(link->lgr);
	KUNIT_EXPECT_NE(test, link->lgr->state, SMC_LGR_ACTIVE);
	KUNIT_EXPECT_EQ(test, link->lgr->llc.nr_rx, 0);
	eng_lab->holds_sent = false;
	eng_lab->nr_held = 0;
}

/*
 * The last connection of a group has left. Before its task arms the idle timer, another task
 * needs its memory, and picks this one.
 */
static void lgt_02_a_surplus_group_ends_though_it_is_armed_late(struct kunit *test)
{
	struct smc_link *link = eng_up(test, true, 1);
	struct smc_link_group *lgr = link->lgr;

	/* take over the reservation's reference, and hold up the worker */
	eng_lab->lgr = NULL;
	mutex_lock(&lgr->lock);
	KUNIT_EXPECT_TRUE(test, smc_lgr_drop_conn(lgr));
	smc_pool_end_idle(NULL);
	KUNIT_EXPECT_TRUE(test, list_empty(&lgr->idle_node));
	/* the suites have one smc_pool.c, that of groups without an engine */
	smc_llc_queue_work(lgr);
	smc_llc_arm_idle(lgr);
	mutex_unlock(&lgr->lock);
	eng_settle(lgr);
	KUNIT_EXPECT_TRUE(test, smc_lgr_is_down(lgr));
	smc_lgr_terminate(lgr, "test");
	smc_llc_broken(&link->wr, SMC_WR_FAULT_PROTOCOL);
	smc_lgr_put(lgr);
	smc_lgr_wait_none(NULL);
}

/* A client waits for the server's answer; the worker that ends namespaces does not. */
static void peer_01_a_namespace_that_ends_says_so_without_a_wait(struct kunit *test)
{
	struct smc_link *link = eng_up(test, false, 1);
	struct smc_link_group *lgr = link->lgr;
	unsigned long began = jiffies;
	unsigned int before = eng_lab->nr_sent;

	/* no namespace ends so far */
	smc_llc_await_end(false);
	smc_llc_end_all(&init_net);
	/* not a matter of speed: each wait would take its whole time */
	KUNIT_EXPECT_LT(test, (long)(jiffies - began), (long)msecs_to_jiffies(LLC_END_ALL_MS));
	eng_settle(lgr);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, before + 1);
	KUNIT_EXPECT_TRUE(test, eng_sent(test, SMC_LLC_DELETE_LINK).type == SMC_LLC_DELETE_LINK);
	KUNIT_EXPECT_FALSE(test, smc_lgr_is_down(lgr));
	/* with the time of all namespaces over, the rest ends at once */
	smc_net(&init_net)->is_ending = true;
	smc_llc_await_end(false);
	KUNIT_EXPECT_GE(test, (long)(jiffies - began), (long)msecs_to_jiffies(LLC_END_ALL_MS));
	smc_net(&init_net)->is_ending = false;
	smc_lgr_terminate_all(&init_net);
	KUNIT_EXPECT_TRUE(test, smc_lgr_is_down(lgr));
}

static struct smc_buf *eng_leaving(struct smc_link_group *lgr)
{
	struct smc_buf *buf;

	mutex_lock(&lgr->lock);
	buf = list_first_entry_or_null(&lgr->leaving, struct smc_buf, node);
	mutex_unlock(&lgr->lock);
	return buf;
}

/* As the shrinker does for all idle regions. */
static void eng_reclaim(struct smc_link_group *lgr)
{
	atomic_long_set(&lgr->llc.sweep_want, INT_MAX);
	smc_core_queue_patient(lgr, &lgr->llc.sweep_work);
}

/* A region stays until the peer can be notified, and is announced as soon as it can be. */
static void rmb_24_an_rmb_stays_until_the_peer_deletes_it(struct kunit *test)
{
	struct smc_link *link = eng_up(test, true, 1);
	struct smc_link_group *lgr = link->lgr;
	unsigned int i, before = eng_lab->nr_sent;
	struct smc_llc_msg reply;
	struct smc_buf *buf;

	eng_idle_rmb(test, lgr);
	eng_reclaim(lgr);
	flush_work(&lgr->llc.sweep_work);
	buf = eng_leaving(lgr);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_EXPECT_EQ(test, eng_lab->nr_sent, before);

	mutex_lock(&lgr->lock);
	buf->map[link->index].rkey = ENG_RKEY;
	mutex_unlock(&lgr->lock);
	for (i = 0; i < 3000 && READ_ONCE(eng_lab->nr_sent) == before; i++)
		msleep(20);
	eng_settle(lgr);
	reply = eng_sent(test, SMC_LLC_DELETE_RKEY);
	KUNIT_EXPECT_EQ(test, reply.delete_rkey.rkey[0], ENG_RKEY);
	KUNIT_EXPECT_PTR_EQ(test, eng_leaving(lgr), buf);
	reply.is_reply = true;
	eng_say(test, link, &reply, NULL);
	flush_work(&lgr->llc.sweep_work);
	KUNIT_EXPECT_NULL(test, eng_leaving(lgr));
}

/* Until then it is announced for each new link, that of first contact included. */
static void rkey_20_amb_21_an_rmb_that_leaves_is_announced(struct kunit *test)
{
	struct smc_link_group *lgr;
	int is_server;

	eng_lab->has_rmb = true;
	for (is_server = 0; is_server < 2; is_server++) {
		lgr = eng_up(test, is_server, 1)->lgr;
		eng_reclaim(lgr);
		flush_work(&lgr->llc.sweep_work);
		KUNIT_ASSERT_NOT_NULL(test, eng_leaving(lgr));
		mutex_lock(&lgr->lock);
		KUNIT_EXPECT_EQ(test, smc_pool_select(lgr), 1);
		KUNIT_EXPECT_PTR_EQ(test, lgr->llc.announced[0],
				    list_first_entry(&lgr->leaving, struct smc_buf, node));
		lgr->llc.nr_announced = 0;
		mutex_unlock(&lgr->lock);
	}
}

/*
 * The group goes down before the peer has released a region. The worker may still have to build a
 * message about a link that is being added.
 */
static void amb_21_a_region_that_is_freed_is_named_no_more(struct kunit *test)
{
	struct smc_link *link = eng_up(test, true, 1);
	struct smc_link_group *lgr = link->lgr;
	unsigned int i, before = eng_lab->nr_sent;
	struct smc_buf *buf;

	eng_idle_rmb(test, lgr);
	eng_reclaim(lgr);
	flush_work(&lgr->llc.sweep_work);
	buf = eng_leaving(lgr);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	mutex_lock(&lgr->lock);
	buf->is_announced = true;
	buf->map[link->index].rkey = ENG_RKEY;
	mutex_unlock(&lgr->lock);
	for (i = 0; i < 3000 && READ_ONCE(eng_lab->nr_sent) == before; i++)
		msleep(20);
	eng_settle(lgr);
	mutex_lock(&lgr->lock);
	KUNIT_EXPECT_GE(test, smc_pool_select(lgr), 1);
	KUNIT_EXPECT_PTR_EQ(test, lgr->llc.announced[lgr->llc.nr_announced - 1], buf);
	mutex_unlock(&lgr->lock);

	smc_llc_broken(&link->wr, SMC_WR_FAULT_PROTOCOL);
	eng_settle(lgr);
	KUNIT_EXPECT_TRUE(test, smc_lgr_is_down(lgr));
	flush_work(&lgr->llc.sweep_work);
	/* it stays until the group is freed if the request failed before the group was down */
	buf = eng_leaving(lgr);
	mutex_lock(&lgr->lock);
	for (i = 0; i < lgr->llc.nr_announced; i++)
		KUNIT_EXPECT_PTR_EQ(test, lgr->llc.announced[i], buf);
	lgr->llc.nr_announced = 0;
	mutex_unlock(&lgr->lock);
}

/* A server that has the reply to CONFIRM LINK may name the link, however soon it is lost here. */
static void err_13_a_link_stays_known_from_its_confirmation_on(struct kunit *test)
{
	struct smc_link *link = eng_up(test, false, 1);
	struct smc_llc_action act = {
		.type = SMC_LLC_ACT_SEND, .msg.type = SMC_LLC_CONFIRM_LINK,
	};
	int is_reply;

	for (is_reply = 0; is_reply < 2; is_reply++) {
		act.msg.is_reply = is_reply;
		mutex_lock(&link->lgr->lock);
		link->is_kept = false;
		smc_llc_msg_send(link->lgr, &act);
		KUNIT_EXPECT_EQ(test, link->is_kept, is_reply);
		link->is_kept = true;
		mutex_unlock(&link->lgr->lock);
	}
}

/* The ports of a group are news when their MTU is, whatever their links had. */
static void a_port_with_another_mtu_is_news(struct kunit *test)
{
	struct smc_link *link = eng_up(test, true, 2);
	struct smc_llc *llc = &link->lgr->llc;

	llc_scan_ports(link->lgr);
	KUNIT_ASSERT_NE(test, llc->rnics.count, 0);
	KUNIT_EXPECT_FALSE(test, llc_scan_ports(link->lgr));
	eng_lab->mtu = IB_MTU_512;
	KUNIT_EXPECT_TRUE(test, llc_scan_ports(link->lgr));
	KUNIT_EXPECT_EQ(test, llc->rnics.rnic[0].mtu, IB_MTU_512);
	KUNIT_EXPECT_FALSE(test, llc_scan_ports(link->lgr));
}

/* An existing group uses the new setting of the operator. */
static void rmb_25_a_changed_idle_time_acts_at_once(struct kunit *test)
{
	struct smc_link *link = eng_up(test, true, 1);
	struct smc_link_group *lgr = link->lgr;
	struct smc_settings *set = llc_settings(lgr);
	int usual = set->rmb_idle_ms;
	unsigned int i;

	eng_idle_rmb(test, lgr);
	WRITE_ONCE(set->rmb_idle_ms, 1);
	for (i = 0; i < 1500 && !eng_leaving(lgr); i++)
		msleep(20);
	WRITE_ONCE(set->rmb_idle_ms, usual);
	KUNIT_EXPECT_NOT_NULL(test, eng_leaving(lgr));
}

static struct kunit_case eng_cases[] = {
	KUNIT_CASE(rkey_16_rkey_18_any_number_of_keys_is_deleted),
	KUNIT_CASE(rkey_22_addl_12_keys_of_a_long_add_link),
	KUNIT_CASE(rkey_20_addl_13_a_link_has_every_key_in_use),
	KUNIT_CASE(rkey_20_addl_12_a_late_message_changes_no_count),
	KUNIT_CASE_PARAM(a_further_link_is_routed, eng_way_gen_params),
	KUNIT_CASE(sl_02_a_port_that_has_a_link_counts),
	KUNIT_CASE(addl_06_a_short_slot_takes_one_gid),
	KUNIT_CASE(err_54_confirm_rkey_is_not_continued),
	KUNIT_CASE(err_22_the_path_is_proved_before_there_are_data),
	KUNIT_CASE(err_54_noise_ends_the_group_at_most),
	KUNIT_CASE(ka_05_probes_that_many_want_are_one),
	KUNIT_CASE(llc_13_answers_leave_the_slots_of_data_alone),
	KUNIT_CASE(llc_03_llc_13_requests_wait_for_slots),
	KUNIT_CASE(err_54_requests_do_not_wait_for_ever),
	KUNIT_CASE(rmb_24_an_rmb_stays_until_the_peer_deletes_it),
	KUNIT_CASE(rkey_20_amb_21_an_rmb_that_leaves_is_announced),
	KUNIT_CASE(amb_21_a_region_that_is_freed_is_named_no_more),
	KUNIT_CASE(err_13_a_link_stays_known_from_its_confirmation_on),
	KUNIT_CASE(a_port_with_another_mtu_is_news),
	KUNIT_CASE(rmb_25_a_changed_idle_time_acts_at_once),
	KUNIT_CASE(lgt_02_a_surplus_group_ends_though_it_is_armed_late),
	KUNIT_CASE(peer_01_a_namespace_that_ends_says_so_without_a_wait),
	{}
};

static struct kunit_suite eng_suite = {
	.name = "smc_llc",
	.suite_init = eng_suite_init,
	.suite_exit = eng_suite_exit,
	.init = eng_test_init,
	.exit = eng_test_exit,
	.test_cases = eng_cases,
};

kunit_test_suite(eng_suite);
