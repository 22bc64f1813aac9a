// SPDX-License-Identifier: GPL-2.0
/*
 * Link groups and their connections: which group a handshake finds, which connection has
 * which element. The queues of a link are faked, everything above them is real.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "smc_kunit.h"
#include "../../../net/smc/group/smc_carrier.h"
#include "../../../net/smc/rdma/smc_buf.h"
#include "../../../net/smc/rdma/smc_wr_mem.h"
#include "../../../net/smc/rdma/smc_mem.h"
#include "../../../net/smc/group/smc_llc_msg.h"

static int core_map(struct smc_buf *buf, struct smc_wr *wr, unsigned int link);
static void core_unmap(struct smc_buf *buf, struct smc_wr *wr, unsigned int link);

#define smc_buf_map_link	core_map
#define smc_buf_unmap	core_unmap

/* no traces */
#define SMC_TRACE_H
#define trace_smc_lgr_up(...)	((void)0)
#define trace_smc_lgr_down(...)	((void)0)
#define trace_smc_link_up(...)	((void)0)

/* What a link costs, on whatever device. */
#define CORE_LINK_BYTES	(300 << 10)
#define smc_wr_mem_cost(...)	CORE_LINK_BYTES

/* Groups have no engine. */
#define smc_llc_queue_work(lgr)	((void)(lgr))

/* The RNICs of the host: core_dev[], or none */
static struct smc_ib_dev *core_next_dev(struct smc_ib_dev *prev);

#define smc_ib_next_dev	core_next_dev

#include "../../../net/smc/proto/smc_clc_nego.h"

/* Groups that searches compare with their key, and steps of walks */
static unsigned int core_nr_compared, core_nr_steps;

#define smc_nego_same_peer(...)	(core_nr_compared++, smc_nego_same_peer(__VA_ARGS__))
#define xa_find_after(...)	(core_nr_steps++, xa_find_after(__VA_ARGS__))

#include "../../../net/smc/group/smc_core.c"
#include "../../../net/smc/group/smc_link.c"
#include "../../../net/smc/group/smc_pool.c"
#include "../../../net/smc/group/smc_failover.c"
#include "../../../net/smc/group/smc_conn.c"

#define CORE_SIZE	SMC_BUF_MIN_SIZE
#define CORE_CONNS	8
#define CORE_HELD	256
#define CORE_LONG	(20 * HZ)

static struct ib_qp core_qp;
static struct mem_cgroup *core_payer;	/* of the last link's queues */
static u32 core_max_pages = 512;	/* of the next link's RNIC */
static struct ib_mr core_mr;
static bool core_has_copies;		/* do RNICs need copies of regions? */
static unsigned int core_map_elems = UINT_MAX;	/* of the largest region that one maps */
static unsigned int core_nr_maps;

static int core_map(struct smc_buf *buf, struct smc_wr *wr, unsigned int link)
{
	core_nr_maps++;
	if (buf->nr_elems > core_map_elems)
		return -ENOMEM;
	if (core_has_copies && buf->map[!link].mr)
		return -EOPNOTSUPP;
	buf->map[link].mr = &core_mr;
	return 0;
}

static void core_unmap(struct smc_buf *buf, struct smc_wr *wr, unsigned int link)
{
	buf->map[link].mr = NULL;
}

int smc_wr_create(struct smc_wr *wr, const struct smc_ib_end *end, const struct smc_wr_depth *depth,
		  const struct smc_wr_ops *ops)
{
#ifdef CONFIG_MEMCG
	core_payer = current->active_memcg;
#endif
	wr->ops = ops;
	wr->qp = &core_qp;
	wr->end = *end;
	wr->max_pages = core_max_pages;
	return 0;
}

int smc_wr_connect(struct smc_wr *wr, const struct smc_ib_peer *peer,
		   const struct smc_ib_class *class)
{
	return 0;
}

int smc_wr_activate(struct smc_wr *wr, u32 psn, u8 timeout, u8 retries)
{
	return 0;
}

void smc_wr_stop(struct smc_wr *wr)
{
	set_bit(SMC_WR_IS_STOPPED, &wr->flags);
}

void smc_wr_destroy(struct smc_wr *wr)
{
}

void smc_wr_report(struct smc_wr *wr, enum smc_wr_fault fault)
{
	set_bit(SMC_WR_IS_REPORTED, &wr->flags);
}

/* A connection with a socket that only counts. */
struct core_conn {
	struct sock sk;
	struct smc_conn *conn;
	unsigned int nr_lost;
	unsigned int nr_final;
	unsigned int nr_moved;
	unsigned int nr_missing;
	unsigned int nr_closed;
	unsigned int nr_free;
};

/* What a case holds; the suite's exit releases it. */
struct core_lab {
	struct core_conn *conn[CORE_CONNS];
	unsigned int nr_conns;
	struct smc_link_group *held[CORE_HELD];
	unsigned int nr_held;
};

static struct proto core_proto = {
	.name = "smc_core_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct core_conn),
};

static struct smc_ib_dev core_dev[2];
static unsigned int core_nr_devs;	/* of those that the host knows */

static struct smc_ib_dev *core_next_dev(struct smc_ib_dev *prev)
{
	unsigned int i = prev ? prev - core_dev + 1 : 0;

	return i < core_nr_devs ? &core_dev[i] : NULL;
}

static const struct smc_ib_end core_end = { .dev = &core_dev[0], .port = 1 };
static const struct smc_wr_ops core_ops;

static int core_net_init(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);

	sn->stats = alloc_percpu(struct smc_stats_cpu);
	sn->set.max_conns_per_lgr = SMC_NEGO_MAX_CONNS;
	sn->set.max_lgrs_per_peer = CORE_HELD;
	return sn->stats ? smc_net_init(net) : -ENOMEM;
}

static void core_net_exit(struct net *net)
{
	free_percpu(smc_net(net)->stats);
}

static struct pernet_operations core_net_ops = {
	.init = core_net_init,
	.exit = core_net_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int core_suite_init(struct kunit_suite *suite)
{
	int rc;

	rc = register_pernet_subsys(&core_net_ops);
	if (rc)
		return rc;
	smc_link_init(&core_ops);
	rc = smc_mem_init();
	if (rc)
		goto out_net;
	rc = smc_core_init();
	if (!rc)
		return 0;
	smc_mem_exit();
out_net:
	unregister_pernet_subsys(&core_net_ops);
	return rc;
}

static void core_suite_exit(struct kunit_suite *suite)
{
	smc_core_exit();
	smc_mem_exit();
	unregister_pernet_subsys(&core_net_ops);
}

static int core_test_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct core_lab), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

/* As the socket does. */
static void core_drop_conn(struct core_conn *cc)
{
	smc_conn_put(cc->conn);
	cc->conn = NULL;
}

static void core_test_exit(struct kunit *test)
{
	struct core_lab *lab = test->priv;
	unsigned int i;

	if (!lab)
		return;
	for (i = 0; i < lab->nr_conns; i++) {
		if (lab->conn[i]->conn) {
			smc_conn_leave(lab->conn[i]->conn, true);
			smc_conn_forget_unread(lab->conn[i]->conn);
			core_drop_conn(lab->conn[i]);
		}
		rcu_barrier();
		/* no other reference is left */
		KUNIT_EXPECT_EQ(test, refcount_read(&lab->conn[i]->sk.sk_refcnt), 1);
		sock_put(&lab->conn[i]->sk);
	}
	for (i = 0; i < lab->nr_held; i++)
		smc_lgr_unreserve(lab->held[i]);
	smc_lgr_for_each(NULL, lgr_terminate_one, NULL);
	/* a leaked reference is found here */
	KUNIT_EXPECT_TRUE(test, wait_event_timeout(smc_lgr_freed_waitq,
						   !atomic_read(&smc_lgr_count), CORE_LONG));
	KUNIT_EXPECT_EQ(test, atomic_read(&smc_net(&init_net)->nr_lgrs), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&smc_lgrs));
	KUNIT_EXPECT_TRUE(test, hash_empty(smc_lgr_hash));
	smc_net(&init_net)->set.max_conns_per_lgr = SMC_NEGO_MAX_CONNS;
}

static struct smc_lgr_key core_key(enum smc_role role)
{
	struct smc_lgr_key key = {
		.net = &init_net,
		.role = role,
		.peer_id = { 0x12, 0x34, 0x02, 0, 0, 0, 0, 0x01 },
		.peer_gid = { [0] = 0xfe, [15] = 1 },
		.peer_mac = { 0x02, 0, 0, 0, 0, 1 },
		.peer_addr.s6_addr = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
	};

	return key;
}

static struct smc_ib_peer core_peer(u32 qpn)
{
	struct smc_ib_peer peer = {
		.gid = { [0] = 0xfe, [15] = 1 },
		.mac = { 0x02, 0, 0, 0, 0, 1 },
		.qpn = qpn,
		.mtu = IB_MTU_1024,
	};

	return peer;
}

/* Keeps a reservation until the end of the case. */
static struct smc_link_group *core_hold(struct kunit *test, struct smc_link_group *lgr)
{
	struct core_lab *lab = test->priv;

	KUNIT_ASSERT_FALSE(test, IS_ERR(lgr));
	KUNIT_ASSERT_LT(test, lab->nr_held, CORE_HELD);
	lab->held[lab->nr_held++] = lgr;
	return lgr;
}

/* A reservation at a server; @is_first if that created a group. */
static struct smc_link_group *core_reserve(struct kunit *test, const struct smc_lgr_key *key,
					   const struct smc_ib_end *end, bool *is_first)
{
	struct smc_link_group *forming;

	return core_hold(test, smc_lgr_reserve(key, end, is_first, &forming));
}

/* First contact of a group succeeds. */
static struct smc_link *core_raise(struct kunit *test, struct smc_link_group *lgr,
				   const struct smc_ib_end *end, u32 qpn, bool is_deployed)
{
	struct smc_ib_peer peer = core_peer(qpn);
	struct smc_link *link;

	link = smc_link_create(lgr, end);
	KUNIT_ASSERT_FALSE(test, IS_ERR(link));
	KUNIT_ASSERT_EQ(test, smc_link_connect(link, &peer), 0);
	smc_failover_init(lgr);
	mutex_lock(&lgr->lock);
	smc_lgr_commit_dialect(lgr, is_deployed ? SMC_DIALECT_DEPLOYED : SMC_DIALECT_RFC);
	smc_lgr_activate(lgr);
	mutex_unlock(&lgr->lock);
	KUNIT_ASSERT_EQ(test, lgr->state, SMC_LGR_ACTIVE);
	return link;
}

/* A server's group with one reservation that is held. */
static struct smc_link *core_server_up_for(struct kunit *test, const struct smc_lgr_key *key)
{
	struct smc_link_group *lgr;
	bool is_first = false;

	lgr = core_reserve(test, key, &core_end, &is_first);
	KUNIT_ASSERT_TRUE(test, is_first);
	return core_raise(test, lgr, &core_end, 0x11, true);
}

static struct smc_link *core_server_up(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);

	return core_server_up_for(test, &key);
}

/* A client's group with one reservation that is held. */
static struct smc_link *core_client_up(struct kunit *test, u32 qpn)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_link_group *lgr = core_hold(test, smc_lgr_form(&key));

	return core_raise(test, lgr, &core_end, qpn, true);
}

static void core_event(struct smc_conn *conn, u32 events)
{
	struct core_conn *cc = container_of(conn->sk, struct core_conn, sk);

	if (events & SMC_EV_LINK_LOST)
		cc->nr_lost++;
	if (events & SMC_EV_FINAL_DONE)
		cc->nr_final++;
	if (events & SMC_EV_MOVED)
		cc->nr_moved++;
	if (events & SMC_EV_LOST)
		cc->nr_missing++;
	if (events & SMC_EV_CLOSED)
		cc->nr_closed++;
	if (events & SMC_EV_RINGS_FREE)
		cc->nr_free++;
}

static const struct smc_conn_ops core_conn_ops = { .event = core_event };

/* As a message that is posted, and its completion. */
static void core_post(struct core_conn *cc)
{
	cc->conn->tx_inflight++;
}

static u32 core_tx_done(struct smc_conn *conn, u16 seq, u32 len, bool ok)
{
	guard(spinlock_bh)(&conn->lock);
	return smc_conn_tx_done(conn, seq, len, ok);
}

static void core_complete(struct smc_conn *conn, u16 seq, bool ok)
{
	guard(rcu)();
	core_tx_done(conn, seq, 0, ok);
	smc_conn_return_rings(conn);
}

static void core_take_element(struct kunit *test, struct smc_buf_pool *pool,
			      struct smc_buf_elem *elem)
{
	struct smc_buf *buf;

	if (!smc_buf_get(pool, CORE_SIZE, elem))
		return;
	buf = smc_buf_alloc(pool, CORE_SIZE, 512, SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, smc_buf_add(pool, buf, elem), 0);
	smc_buf_set_ready(pool, buf);
}

/* A connection with both rings, not yet in a group. */
static struct core_conn *core_new_conn(struct kunit *test, struct smc_link_group *lgr)
{
	struct core_lab *lab = test->priv;
	struct core_conn *cc;
	struct sock *sk;

	KUNIT_ASSERT_LT(test, lab->nr_conns, CORE_CONNS);
	sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, &core_proto, 1);
	KUNIT_ASSERT_NOT_NULL(test, sk);
	sock_init_data(NULL, sk);
	cc = container_of(sk, struct core_conn, sk);
	lab->conn[lab->nr_conns++] = cc;
	cc->conn = smc_conn_alloc(sk, &core_conn_ops, &smc_carrier_rdma);
	KUNIT_ASSERT_NOT_NULL(test, cc->conn);
	core_take_element(test, &lgr->rmbs, &cc->conn->rmbe);
	core_take_element(test, &lgr->sends, &cc->conn->sndbuf);
	return cc;
}

/* A connection that has joined the group of a link. */
static struct core_conn *core_join(struct kunit *test, struct smc_link *link)
{
	struct core_conn *cc = core_new_conn(test, link->lgr);

	/* another reservation */
	smc_lgr_get(link->lgr);
	spin_lock_bh(&link->lgr->state_lock);
	link->lgr->nr_conns++;
	spin_unlock_bh(&link->lgr->state_lock);
	KUNIT_ASSERT_EQ(test, smc_conn_join(cc->conn, link->lgr, link), 0);
	return cc;
}

static void core_know_rmb(struct kunit *test, struct smc_link *link, u32 rkey, u64 addr)
{
	mutex_lock(&link->lgr->lock);
	KUNIT_EXPECT_GE(test, smc_rtoken_add(link->lgr->rtokens, link->index, rkey, addr), 0);
	mutex_unlock(&link->lgr->lock);
}

static int core_set_peer(struct core_conn *cc, u32 rkey, u64 addr, u8 index)
{
	struct smc_clc_accept acc = {
		.rkey = rkey,
		.rmb_addr = addr,
		.rmbe_index = index,
		.token = 0x4711,
	};

	return smc_conn_set_peer(cc->conn, rcu_access_pointer(cc->conn->link), &acc);
}

static bool core_has_link(struct core_conn *cc)
{
	return rcu_access_pointer(cc->conn->link);
}

static void fc_01_first_contact_where_no_group_is_usable(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link_group *first, *next, *forming = NULL;
	bool is_first = false;

	first = core_reserve(test, &key, &core_end, &is_first);
	KUNIT_EXPECT_TRUE(test, is_first);
	KUNIT_EXPECT_EQ(test, first->state, SMC_LGR_FORMING);
	/* a second handshake gets the group to wait for, and creates none */
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_reserve(&key, &core_end, &is_first, &forming),
			    ERR_PTR(-EAGAIN));
	KUNIT_ASSERT_PTR_EQ(test, forming, first);
	smc_lgr_put(forming);

	core_raise(test, first, &core_end, 0x11, true);
	next = core_reserve(test, &key, &core_end, &is_first);
	KUNIT_EXPECT_FALSE(test, is_first);
	KUNIT_EXPECT_PTR_EQ(test, next, first);

	smc_lgr_terminate(first, "test");
	next = core_reserve(test, &key, &core_end, &is_first);
	KUNIT_EXPECT_TRUE(test, is_first);
	KUNIT_EXPECT_PTR_NE(test, next, first);
}

/* A stranger that is silent at first contact must not delay other hosts. */
static void pid_05_no_attempt_waits_for_another_peer(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link_group *first;
	struct smc_lgr_key other;
	bool is_first = false;

	first = core_reserve(test, &key, &core_end, &is_first);
	other = key;
	other.peer_addr.s6_addr[15]++;
	KUNIT_EXPECT_PTR_NE(test, core_reserve(test, &other, &core_end, &is_first), first);
	KUNIT_EXPECT_TRUE(test, is_first);
	other = key;
	other.peer_gid[15]++;
	KUNIT_EXPECT_PTR_NE(test, core_reserve(test, &other, &core_end, &is_first), first);
	KUNIT_EXPECT_TRUE(test, is_first);
	other = key;
	other.peer_mac[5]++;
	KUNIT_EXPECT_PTR_NE(test, core_reserve(test, &other, &core_end, &is_first), first);
	KUNIT_EXPECT_TRUE(test, is_first);
}

struct core_watch {
	struct wait_queue_entry entry;
	unsigned int nr_news;
};

static int core_news(struct wait_queue_entry *entry, unsigned int mode, int sync, void *key)
{
	container_of(entry, struct core_watch, entry)->nr_news++;
	return 0;
}

static void waiters_learn_that_first_contact_failed(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link_group *lgr;
	struct core_watch watch = {};
	bool is_first = false;

	lgr = core_reserve(test, &key, &core_end, &is_first);
	init_waitqueue_func_entry(&watch.entry, core_news);
	add_wait_queue(&lgr->waitq, &watch.entry);
	smc_lgr_fail(lgr, SMC_DECLINE_ERR_RDYLNK);
	remove_wait_queue(&lgr->waitq, &watch.entry);
	KUNIT_EXPECT_GE(test, watch.nr_news, 1);
	KUNIT_EXPECT_TRUE(test, smc_lgr_is_down(lgr));
	KUNIT_EXPECT_EQ(test, lgr->fail_decline, SMC_DECLINE_ERR_RDYLNK);
	/* the first reason stays */
	smc_lgr_fail(lgr, SMC_DECLINE_MEM);
	KUNIT_EXPECT_EQ(test, lgr->fail_decline, SMC_DECLINE_ERR_RDYLNK);
}

/* The creator's handshake may end late: others may use the group by then. */
static void a_group_that_is_up_does_not_fail(struct kunit *test)
{
	struct smc_link_group *lgr = core_server_up(test)->lgr;

	smc_lgr_fail(lgr, SMC_DECLINE_MEM);
	KUNIT_EXPECT_EQ(test, lgr->state, SMC_LGR_ACTIVE);
	KUNIT_EXPECT_EQ(test, lgr->fail_decline, SMC_DECLINE_NONE);
	smc_lgr_terminate(lgr, "test");
	KUNIT_EXPECT_TRUE(test, smc_lgr_is_down(lgr));
}

struct core_match {
	const char *what;
	bool is_client;
	bool is_nameless;	/* a client of version 2 alone: no peer ID, no MAC address */
	u16 vlan;
	u8 version;
	u8 instance;
	u8 host;
	u8 gid;
	u8 mac;
	u8 addr;
	bool is_other_dev;
	u8 port;
	bool is_same;
};

static const struct core_match core_matches[] = {
	{ .what = "the same", .is_same = true },
	{ .what = "the same by another IP address", .addr = 7, .is_same = true },
	{ .what = "another RNIC of the host, or a borrowed peer ID", .gid = 7, .mac = 7 },
	{ .what = "a GID that no link ends at", .gid = 7 },
	{ .what = "a MAC address that no link ends at", .mac = 7 },
	{ .what = "the opposite role", .is_client = true },
	{ .what = "another VLAN", .vlan = 100 },
	{ .what = "another host", .host = 1 },
	{ .what = "the same host, started again", .instance = 1 },
	{ .what = "another port of our RNIC", .port = 1 },
	{ .what = "another of our RNICs", .is_other_dev = true },
	{ .what = "another version", .version = 1 },
	{ .what = "no MAC address told", .mac = 0xff, .is_same = true },
	{ .what = "a client without a name", .is_nameless = true, .is_same = true },
	{ .what = "another client without a name", .is_nameless = true, .gid = 7 },
	{ .what = "one with a name in place of one without", .is_nameless = true, .host = 1 },
};

static void core_match_desc(const struct core_match *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(core_match, core_matches, core_match_desc);

/* Connections share a group, and so its RMBs, only if all of this is equal. */
static void lg_03_rmb_05_one_peer_role_and_vlan(struct kunit *test)
{
	const struct core_match *row = test->param_value;
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link_group *lgr, *first;
	struct smc_ib_end end = core_end;
	bool is_first = false;

	if (row->is_nameless) {
		memset(key.peer_id, 0, sizeof(key.peer_id));
		memset(key.peer_mac, 0, sizeof(key.peer_mac));
	}
	first = core_server_up_for(test, &key)->lgr;
	key.version += row->version;
	key.role = row->is_client ? SMC_ROLE_CLIENT : SMC_ROLE_SERVER;
	key.vlan += row->vlan;
	key.peer_id[0] += row->instance;
	key.peer_id[7] += row->host;
	key.peer_gid[15] += row->gid;
	if (row->mac == 0xff)
		memset(key.peer_mac, 0, sizeof(key.peer_mac));
	else
		key.peer_mac[5] += row->mac;
	key.peer_addr.s6_addr[15] += row->addr;
	end.port += row->port;
	if (row->is_other_dev) {
		end.dev = &core_dev[1];
		end.mac[5]++;
	}
	lgr = core_reserve(test, &key, &end, &is_first);
	KUNIT_EXPECT_EQ(test, lgr == first, row->is_same);
	KUNIT_EXPECT_EQ(test, is_first, !row->is_same);
}

struct core_way {
	const char *what;
	u8 had_limit, limit;	/* hop limits of the link and of the route found */
	u8 hop;			/* another next hop */
	u8 gid;			/* another GID of ours */
	bool is_same;
};

static const struct core_way core_ways[] = {
	{ "as the link goes", 64, 64, .is_same = true },
	{ "by another gateway", 64, 64, .hop = 7 },
	{ "without a gateway now", 64, 1 },
	{ "by a gateway now", 1, 64 },
	{ "to a neighbour", 1, 1, .is_same = true },
	{ "to a neighbour with another MAC address", 1, 1, .hop = 7 },
	{ "from another address of ours", 64, 64, .gid = 7 },
	{ "to a neighbour from another address of ours", 1, 1, .gid = 7 },
	{ "on a further link by the interface of another namespace", 0, 1, .is_same = true },
	{ "by a gateway past such a link", 0, 64 },
	{ "inside a subnet from another address of ours", 0, 0, .gid = 7 },
};

static void core_way_desc(const struct core_way *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(core_way, core_ways, core_way_desc);

/* A link serves connections with the same route and source address. */
static void lg_04_fc_02_a_routed_link_has_its_own_way(struct kunit *test)
{
	const struct core_way *row = test->param_value;
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_ib_end end = core_end;
	struct smc_link *link;
	bool is_first = false;

	key.hop_mac[5] = 0xfe;
	key.hop_limit = row->had_limit;
	link = core_server_up_for(test, &key);
	link->peer.hop_limit = row->had_limit;
	if (row->had_limit)
		memcpy(link->peer.hop_mac, key.hop_mac, sizeof(key.hop_mac));
	key.hop_limit = row->limit;
	key.hop_mac[5] += row->hop;
	end.gid.raw[15] += row->gid;
	KUNIT_EXPECT_EQ(test, core_reserve(test, &key, &end, &is_first) == link->lgr,
			row->is_same);
	KUNIT_EXPECT_EQ(test, is_first, !row->is_same);
}

static void lg_06_pg_01_a_client_goes_where_the_server_says(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_ib_peer here = core_peer(0x11);
	struct smc_ib_peer nowhere = core_peer(0x33);
	struct smc_link *one, *two, *link = NULL;
	struct smc_link_group *lgr, *forming;
	unsigned int nr = 0;

	one = core_client_up(test, 0x11);
	two = core_client_up(test, 0x22);
	/* a group over our limit is left to the server to decide on */
	smc_net(&init_net)->set.max_conns_per_lgr = 1;
	lgr = core_hold(test, smc_lgr_reserve_link(&key, &here, &link, &forming));
	KUNIT_EXPECT_PTR_EQ(test, lgr, one->lgr);
	KUNIT_EXPECT_PTR_EQ(test, link, one);
	KUNIT_EXPECT_EQ(test, two->lgr->nr_conns, 1);

	/* a link that does not exist makes neither a group nor a first contact */
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_reserve_link(&key, &nowhere, &link, &forming),
			    ERR_PTR(-ENOENT));
	for (lgr = NULL; (lgr = smc_lgr_next(&init_net, lgr, 0)); )
		nr++;
	KUNIT_EXPECT_EQ(test, nr, 2);
}

/* protocol.md: the limit agreed on with this peer, if it is less than ours */
static void lg_23_maxl_02_no_more_connections_than_the_peer_has_agreed_to(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link_group *lgr;
	bool is_first = false;
	unsigned int i;

	lgr = core_server_up(test)->lgr;
	lgr->params.max_conns = 16;
	for (i = 1; i < 16; i++)
		KUNIT_ASSERT_PTR_EQ(test, core_reserve(test, &key, &core_end, &is_first), lgr);
	KUNIT_EXPECT_PTR_NE(test, core_reserve(test, &key, &core_end, &is_first), lgr);
	KUNIT_EXPECT_TRUE(test, is_first);
	/* the smaller one of the two counts */
	KUNIT_EXPECT_EQ(test, lgr_max_conns(lgr), 16);
	smc_net(&init_net)->set.max_conns_per_lgr = 12;
	KUNIT_EXPECT_EQ(test, lgr_max_conns(lgr), 12);
}

/* As many connections as there may be RMBs, so 255 RMBs are always enough. */
static void rmb_19_lg_23_pg_06_only_a_full_group_gets_a_parallel_one(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link *link = core_server_up(test);
	struct smc_link_group *lgr, *forming;
	bool is_first = true;
	int i;

	for (i = 1; i < SMC_BUF_MAX_REGIONS; i++) {
		lgr = smc_lgr_reserve(&key, &core_end, &is_first, &forming);
		KUNIT_ASSERT_PTR_EQ(test, core_hold(test, lgr), link->lgr);
		KUNIT_ASSERT_FALSE(test, is_first);
	}
	lgr = core_reserve(test, &key, &core_end, &is_first);
	KUNIT_EXPECT_TRUE(test, is_first);
	KUNIT_EXPECT_PTR_NE(test, lgr, link->lgr);
	KUNIT_EXPECT_EQ(test, link->lgr->nr_conns, 255);
}

static void pg_04_rmb_05_groups_share_no_rmbs(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_client_up(test, 0x22);
	struct smc_buf_elem mine = {}, yours = {};
	struct core_conn *cc;

	/* ours: a free element of one is not found in the other */
	core_take_element(test, &one->lgr->rmbs, &mine);
	smc_buf_put(&one->lgr->rmbs, &mine);
	KUNIT_EXPECT_EQ(test, smc_buf_get(&two->lgr->rmbs, CORE_SIZE, &yours), -EAGAIN);

	/* the peer's: a key of one group means nothing in the other */
	core_know_rmb(test, one, 0x77, 0x10000);
	cc = core_join(test, two);
	KUNIT_EXPECT_EQ(test, core_set_peer(cc, 0x77, 0x10000, 1), -ENOKEY);
	cc = core_join(test, one);
	KUNIT_EXPECT_EQ(test, core_set_peer(cc, 0x77, 0x10000, 1), 0);
}

static void lg_02_a_link_is_known_by_gid_mac_and_qpn(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct smc_ib_peer peer = core_peer(0x11);
	struct smc_link_group *lgr = link->lgr;

	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_link_by_peer(lgr, &peer), link);
	/* the other parameters of the queue pair do not identify it */
	peer.psn = 0x123456;
	peer.mtu = IB_MTU_4096;
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_link_by_peer(lgr, &peer), link);

	peer.gid[15] ^= 1;
	KUNIT_EXPECT_NULL(test, smc_lgr_link_by_peer(lgr, &peer));
	peer.gid[15] ^= 1;
	peer.mac[5] ^= 1;
	KUNIT_EXPECT_NULL(test, smc_lgr_link_by_peer(lgr, &peer));
	peer.mac[5] ^= 1;
	peer.qpn ^= 0x800000;
	KUNIT_EXPECT_NULL(test, smc_lgr_link_by_peer(lgr, &peer));
}

static void lid_03_a_link_never_connected_can_be_given_up(struct kunit *test)
{
	struct smc_link_group *lgr = core_server_up(test)->lgr;
	struct smc_link *link;

	link = smc_link_create_at(lgr, &core_end, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(link));
	KUNIT_EXPECT_EQ(test, link->state, SMC_LINK_UNUSED);
	KUNIT_EXPECT_PTR_EQ(test, smc_link_create_at(lgr, &core_end, 1), ERR_PTR(-EBUSY));
	smc_link_destroy(link);
	/* its index is free */
	KUNIT_EXPECT_NULL(test, lgr->links[1]);
	link = smc_link_create_at(lgr, &core_end, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(link));
	KUNIT_EXPECT_EQ(test, link->index, 1);
}

/* A peer can have any number of them, each under another peer ID. */
static void lgt_02_of_too_many_empty_groups_the_oldest_end(struct kunit *test)
{
	struct core_lab *lab = test->priv;
	struct smc_link_group *lgr[3];
	struct smc_lgr_key key;
	bool is_first;
	int i;

	for (i = 0; i < ARRAY_SIZE(lgr); i++) {
		key = core_key(SMC_ROLE_SERVER);
		key.peer_id[7] = 0x40 + i;
		/* the last one is of another address */
		key.peer_addr.s6_addr[15] += i == 2;
		lgr[i] = core_server_up_for(test, &key)->lgr;
	}
	lab->nr_held = 0;
	KUNIT_EXPECT_NULL(test, smc_lgr_pop_idle(NULL));
	KUNIT_EXPECT_TRUE(test, smc_lgr_unreserve(lgr[2]));
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_TRUE(test, smc_lgr_unreserve(lgr[i]));

	/* a group with a connection again is not the oldest idle one any more */
	key = core_key(SMC_ROLE_SERVER);
	key.peer_id[7] = 0x40;
	KUNIT_EXPECT_PTR_EQ(test, core_reserve(test, &key, &core_end, &is_first), lgr[0]);
	lab->nr_held = 0;
	KUNIT_EXPECT_TRUE(test, smc_lgr_unreserve(lgr[0]));
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_pop_idle(&key), lgr[1]);
	smc_lgr_put(lgr[1]);
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_pop_idle(NULL), lgr[2]);
	smc_lgr_put(lgr[2]);
	/* a group that ends is not idle */
	smc_lgr_shut(lgr[0]);
	KUNIT_EXPECT_NULL(test, smc_lgr_pop_idle(NULL));
}

/* Idle or not: a peer chooses its IDs, and leaves connections when it likes. */
static void a_peer_has_a_limited_number_of_groups(struct kunit *test)
{
	struct smc_pernet *net = smc_net(&init_net);
	struct smc_link_group *forming, *lgr, *idle;
	struct core_lab *lab = test->priv;
	struct smc_lgr_key key;
	bool is_first;
	int i;

	net->set.max_lgrs_per_peer = 3;
	for (i = 0; i < 3; i++) {
		key = core_key(i ? SMC_ROLE_SERVER : SMC_ROLE_CLIENT);
		key.peer_id[7] = 0x40 + i;
		lgr = i ? core_reserve(test, &key, &core_end, &is_first) :
			  core_hold(test, smc_lgr_form(&key));
		core_raise(test, lgr, &core_end, 0x11, true);
	}
	/* whatever it calls itself, and in whatever role */
	key.peer_id[7] = 0x50;
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_lgr_reserve(&key, &core_end, &is_first, &forming)),
			-EDQUOT);
	key.role = SMC_ROLE_CLIENT;
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_lgr_form(&key)), -EDQUOT);
	/* its groups take connections as before */
	key = core_key(SMC_ROLE_SERVER);
	key.peer_id[7] = 0x42;
	KUNIT_EXPECT_PTR_EQ(test, core_reserve(test, &key, &core_end, &is_first), lgr);
	/* another address */
	key.peer_addr.s6_addr[15] = 2;
	key.peer_id[7] = 0x50;
	core_hold(test, smc_lgr_form(&key));
	/* a group without connections makes room once it is gone */
	idle = lab->held[0];
	KUNIT_EXPECT_TRUE(test, smc_lgr_unreserve(idle));
	lab->held[0] = lab->held[--lab->nr_held];
	key = core_key(SMC_ROLE_CLIENT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_lgr_form(&key)), -EDQUOT);
	KUNIT_ASSERT_PTR_EQ(test, smc_lgr_pop_idle(&key), idle);
	smc_lgr_put(idle);
	smc_lgr_terminate(idle, "surplus");
	KUNIT_EXPECT_TRUE(test, wait_event_timeout(smc_lgr_freed_waitq,
						   atomic_read(&smc_lgr_count) == 3, CORE_LONG));
	core_hold(test, smc_lgr_form(&key));
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_lgr_form(&key)), -EDQUOT);
	net->set.max_lgrs_per_peer = CORE_HELD;
}

/* Where no idle region is left, an idle group goes, of whatever peer. */
static void at_the_limit_of_the_host_an_idle_group_ends(struct kunit *test)
{
	struct smc_link_group *lgr = core_client_up(test, 0x11)->lgr;
	struct core_lab *lab = test->priv;
	long limit = smc_mem_limits[2];

	lab->nr_held = 0;
	KUNIT_EXPECT_TRUE(test, smc_lgr_unreserve(lgr));
	smc_pool_make_room(SZ_1M);
	KUNIT_EXPECT_FALSE(test, lgr->llc.is_surplus);
	smc_mem_limits[2] = 0;
	smc_pool_make_room(SZ_1M);
	smc_mem_limits[2] = limit;
	KUNIT_EXPECT_TRUE(test, lgr->llc.is_surplus);
	KUNIT_EXPECT_NULL(test, smc_lgr_pop_idle(NULL));
}

static void a_group_and_its_queues_count_in_the_limit_of_the_host(struct kunit *test)
{
	long before = atomic_long_read(&smc_mem_pages), limit = smc_mem_limits[2];
	struct smc_link *link = core_client_up(test, 0x11), *second;
	struct smc_link_group *lgr = link->lgr;
	struct smc_lgr_key key;
	long with_one;

	with_one = atomic_long_read(&smc_mem_pages);
	KUNIT_EXPECT_EQ(test, with_one - before, DIV_ROUND_UP(SMC_LGR_BYTES, PAGE_SIZE) +
						 DIV_ROUND_UP(CORE_LINK_BYTES, PAGE_SIZE));

	/* without room for it there is neither group nor link */
	smc_mem_limits[2] = with_one;
	key = core_key(SMC_ROLE_CLIENT);
	key.peer_addr.s6_addr[15] = 2;
	KUNIT_EXPECT_EQ(test, PTR_ERR(smc_lgr_form(&key)), -ENOMEM);
	second = smc_link_create_at(lgr, &core_end, 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR(second), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&smc_mem_pages), with_one);
	smc_mem_limits[2] = limit;
	second = smc_link_create_at(lgr, &core_end, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(second));
	KUNIT_EXPECT_GT(test, atomic_long_read(&smc_mem_pages), with_one);

	/* they do until the queues are gone */
	WRITE_ONCE(second->is_kept, true);
	smc_link_destroy(second);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&smc_mem_pages), with_one);
}

/* Also of a link that LLC adds later. */
static void the_payer_of_a_group_pays_for_the_queues_of_its_links(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11), *second;

	KUNIT_EXPECT_NULL(test, core_payer);
	/* the root group, which has no references */
	rcu_read_lock();
	link->lgr->memcg = mem_cgroup_from_task(current);
	rcu_read_unlock();
	second = smc_link_create_at(link->lgr, &core_end, 1);
	KUNIT_EXPECT_FALSE(test, IS_ERR(second));
	KUNIT_EXPECT_PTR_EQ(test, core_payer, link->lgr->memcg);
#ifdef CONFIG_MEMCG
	KUNIT_EXPECT_NOT_NULL(test, core_payer);
	KUNIT_EXPECT_NULL(test, current->active_memcg);
#endif
	link->lgr->memcg = NULL;
}

/* A region has to be mapped on each link, also on a later one. */
static void rkey_02_rmbs_suit_the_least_of_the_rnics(struct kunit *test)
{
	struct smc_link_group *lgr = core_server_up(test)->lgr;
	struct smc_link *link;

	KUNIT_EXPECT_EQ(test, lgr->max_pages, 512);
	core_max_pages = 511;
	link = smc_link_create_at(lgr, &core_end, 1);
	core_max_pages = 512;
	KUNIT_ASSERT_FALSE(test, IS_ERR(link));
	KUNIT_EXPECT_EQ(test, lgr->max_pages, 511);
	smc_link_destroy(link);
	link = smc_link_create_at(lgr, &core_end, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(link));
	KUNIT_EXPECT_EQ(test, lgr->max_pages, 511);
}

/* Elements of the next region, or an error; all of them are in use afterwards. */
static int core_next_region(struct kunit *test, struct smc_link_group *lgr)
{
	struct smc_buf_elem elem = {};
	struct smc_buf *buf;
	int rc;

	KUNIT_ASSERT_EQ(test, smc_pool_begin_grow(lgr), 0);
	rc = smc_pool_grow(lgr, &lgr->sends, CORE_SIZE, false, &elem);
	smc_pool_end_grow(lgr);
	if (rc)
		return rc;
	buf = elem.buf;
	/* nothing is there to be unmapped with the link */
	memset(buf->map, 0, sizeof(buf->map));
	while (!smc_buf_get(&lgr->sends, CORE_SIZE, &elem))
		;
	return buf->nr_elems;
}

/* H6: a page list or a bounce buffer that is not to be had costs elements, and no connection. */
static void rmb_02_a_region_that_cannot_be_mapped_is_halved(struct kunit *test)
{
	static const int want[] = { 1, 2, 4, 4, 4 };
	struct smc_link_group *lgr = core_server_up(test)->lgr;
	unsigned int i;

	core_map_elems = 5;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		KUNIT_EXPECT_EQ(test, core_next_region(test, lgr), want[i]);
	/* one element is the last attempt */
	core_map_elems = 0;
	core_nr_maps = 0;
	KUNIT_EXPECT_EQ(test, core_next_region(test, lgr), -ENOMEM);
	KUNIT_EXPECT_EQ(test, core_nr_maps, 4);
	core_map_elems = UINT_MAX;
	KUNIT_EXPECT_EQ(test, core_next_region(test, lgr), 8);
}

/* H6, H7: a region suits each RNIC of the host, so that any may get a link later. */
static void rkey_02_regions_suit_all_rnics_of_the_host(struct kunit *test)
{
	static const int want[] = { 1, 2, 3, 3 };
	struct smc_link_group *lgr = core_server_up(test)->lgr;
	unsigned int i;

	core_dev[0].cap.region_pages = 511;
	core_dev[1].cap.region_pages = 3 * CORE_SIZE / PAGE_SIZE;
	core_nr_devs = 2;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		KUNIT_EXPECT_EQ(test, core_next_region(test, lgr), want[i]);
	/* one element is not too much for any */
	core_dev[1].cap.region_pages = 1;
	KUNIT_EXPECT_EQ(test, core_next_region(test, lgr), 1);
	core_nr_devs = 0;
}

/* Links that a group keeps after their queues are gone. */
static unsigned int core_nr_old(struct smc_link_group *lgr)
{
	struct smc_link *link;
	unsigned int nr = 0;

	mutex_lock(&lgr->lock);
	list_for_each_entry(link, &lgr->all_links, node)
		nr += lgr->links[link->index] != link;
	mutex_unlock(&lgr->lock);
	return nr;
}

static struct smc_link *core_attempt(struct kunit *test, struct smc_link_group *lgr, u32 qpn)
{
	struct smc_ib_peer peer = core_peer(qpn);
	struct smc_link *link;

	link = smc_link_create_at(lgr, &core_end, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(link));
	if (qpn)
		KUNIT_ASSERT_EQ(test, smc_link_connect(link, &peer), 0);
	return link;
}

/* As often as the retry timer expires while the other path is down for days. */
static void err_57_attempts_that_fail_leave_nothing_behind(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_link *link, *one = core_client_up(test, 0x11);
	struct smc_link_group *forming, *lgr = one->lgr;
	struct smc_ib_peer last = core_peer(0x80 + 3 * SMC_LINKS_MAX - 1);
	unsigned int i;

	/* some before they are connected, some after */
	for (i = 0; i < 3 * SMC_LINKS_MAX; i++) {
		smc_link_destroy(core_attempt(test, lgr, 0));
		smc_link_destroy(core_attempt(test, lgr, 0x80 + i));
		KUNIT_EXPECT_EQ(test, core_nr_old(lgr), 0U);
	}
	/* the server has seen none of them up */
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_reserve_link(&key, &last, &link, &forming),
			    ERR_PTR(-ENOENT));

	/* a link stays readable for as long as the group is referenced */
	link = core_attempt(test, lgr, 0x22);
	last = core_peer(0x22);
	KUNIT_ASSERT_PTR_EQ(test, smc_lgr_link_by_peer(lgr, &last), link);
	smc_link_destroy(link);
	KUNIT_EXPECT_EQ(test, core_nr_old(lgr), 1U);
	KUNIT_EXPECT_EQ(test, link->peer.qpn, 0x22U);
	KUNIT_EXPECT_FALSE(test, smc_link_is_used(link));
	/* a second call does nothing */
	smc_link_destroy(link);
	KUNIT_EXPECT_EQ(test, core_nr_old(lgr), 1U);

	/* a link that was active is kept as well */
	link = core_attempt(test, lgr, 0x23);
	mutex_lock(&lgr->lock);
	KUNIT_EXPECT_TRUE(test, smc_link_set_state(link, SMC_LINK_ACTIVE));
	mutex_unlock(&lgr->lock);
	smc_link_destroy(link);
	KUNIT_EXPECT_EQ(test, core_nr_old(lgr), 2U);
	KUNIT_EXPECT_EQ(test, link->peer.qpn, 0x23U);
}

/* A peer may name each link before it ends it. Each is kept, up to a limit. */
static void core_keep_too_many(struct kunit *test, struct smc_link_group *lgr)
{
	struct smc_ib_peer peer = core_peer(0x24);
	struct smc_link *link;

	/* below the limit nothing changes */
	lgr->nr_kept = SMC_LINKS_KEPT_MAX - 1;
	smc_link_destroy(core_attempt(test, lgr, 0x23));
	KUNIT_EXPECT_EQ(test, core_nr_old(lgr), 0U);
	link = core_attempt(test, lgr, 0x24);
	KUNIT_ASSERT_PTR_EQ(test, smc_lgr_link_by_peer(lgr, &peer), link);
	KUNIT_EXPECT_FALSE(test, lgr->is_retired);
	smc_link_destroy(link);
	KUNIT_EXPECT_EQ(test, core_nr_old(lgr), 1U);
	KUNIT_EXPECT_PTR_EQ(test, smc_link_create_at(lgr, &core_end, 1), ERR_PTR(-ENOSPC));
}

static void err_59_a_group_does_not_keep_links_without_end(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_link *link, *one = core_client_up(test, 0x11);
	struct smc_link_group *fresh, *forming, *lgr = one->lgr;
	struct smc_ib_peer peer = core_peer(0x11);
	bool is_first = false;

	/* the server identifies the group */
	core_keep_too_many(test, lgr);
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_reserve_link(&key, &peer, &link, &forming), lgr);
	smc_lgr_unreserve(lgr);

	/* and creates another one, with a first link */
	lgr = core_server_up(test)->lgr;
	core_keep_too_many(test, lgr);
	key = core_key(SMC_ROLE_SERVER);
	fresh = core_reserve(test, &key, &core_end, &is_first);
	KUNIT_EXPECT_PTR_NE(test, fresh, lgr);
	KUNIT_EXPECT_TRUE(test, is_first);
	KUNIT_EXPECT_FALSE(test, IS_ERR(smc_link_create(fresh, &core_end)));
}

static void lgt_02_an_empty_group_serves_the_next(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link_group *lgr = core_server_up(test)->lgr;
	struct core_lab *lab = test->priv;
	bool is_first = true;

	/* a group with a connection is not idle and does not end */
	KUNIT_EXPECT_FALSE(test, smc_lgr_retire(lgr));
	smc_lgr_get(lgr);
	lab->nr_held--;
	KUNIT_EXPECT_TRUE(test, smc_lgr_unreserve(lgr));
	KUNIT_EXPECT_EQ(test, lgr->state, SMC_LGR_ACTIVE);

	KUNIT_EXPECT_PTR_EQ(test, core_reserve(test, &key, &core_end, &is_first), lgr);
	KUNIT_EXPECT_FALSE(test, is_first);
	lab->nr_held--;
	KUNIT_EXPECT_TRUE(test, smc_lgr_unreserve(lgr));

	/* once its end is decided it takes no connection */
	KUNIT_EXPECT_TRUE(test, smc_lgr_retire(lgr));
	KUNIT_EXPECT_PTR_NE(test, core_reserve(test, &key, &core_end, &is_first), lgr);
	KUNIT_EXPECT_TRUE(test, is_first);
	smc_lgr_put(lgr);
}

static void lgt_04_an_ending_group_takes_no_connection(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link_group *lgr = core_server_up(test)->lgr;
	bool is_first = false;

	smc_lgr_shut(lgr);
	KUNIT_EXPECT_PTR_NE(test, core_reserve(test, &key, &core_end, &is_first), lgr);
	KUNIT_EXPECT_TRUE(test, is_first);
}

static void rmb_32_a_token_names_one_connection(struct kunit *test)
{
	struct smc_link *link = core_server_up(test);
	struct core_conn *cc[CORE_CONNS];
	int i, j;

	for (i = 0; i < CORE_CONNS; i++)
		cc[i] = core_join(test, link);
	for (i = 0; i < CORE_CONNS; i++) {
		KUNIT_EXPECT_NE(test, cc[i]->conn->token, 0);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, cc[i]->conn->token, cc[j]->conn->token);
		KUNIT_EXPECT_PTR_EQ(test, smc_conn_lookup(link->lgr, cc[i]->conn->token),
				    cc[i]->conn);
	}
	KUNIT_EXPECT_NULL(test, smc_conn_lookup(link->lgr, 0));
}

static void rmb_33_a_stale_token_finds_no_connection(struct kunit *test)
{
	struct smc_link *link = core_server_up(test);
	struct core_conn *old = core_join(test, link);
	u32 token = old->conn->token;
	struct core_conn *young;
	u8 index = old->conn->rmbe.index;
	u8 *cpu = old->conn->rmbe.cpu;

	smc_conn_leave(old->conn, true);
	KUNIT_EXPECT_NULL(test, smc_conn_lookup(link->lgr, token));
	/* another connection uses the same element now */
	young = core_join(test, link);
	KUNIT_EXPECT_EQ(test, young->conn->rmbe.index, index);
	KUNIT_EXPECT_PTR_EQ(test, young->conn->rmbe.cpu, cpu);
	KUNIT_EXPECT_NE(test, young->conn->token, token);
	KUNIT_EXPECT_EQ(test, young->conn->token & SMC_TOKEN_INDEX, token & SMC_TOKEN_INDEX);
	KUNIT_EXPECT_NULL(test, smc_conn_lookup(link->lgr, token));
	KUNIT_EXPECT_NULL(test, smc_conn_lookup(link->lgr, token & SMC_TOKEN_INDEX));
}

/*
 * Immediate data names a connection by few bits: an index is used again only if nothing can come
 * for the connection that had it.
 */
static void rmb_33_an_index_of_a_lost_connection_stays_unused(struct kunit *test)
{
	struct smc_link *link = core_server_up(test);
	struct core_conn *old, *young;
	u32 index;
	u16 name;

	link->lgr->ext = SMC_LLC_EXT_IMMEDIATE;
	old = core_join(test, link);
	index = old->conn->token & SMC_TOKEN_INDEX;
	name = smc_imm_name(old->conn->token);
	KUNIT_EXPECT_PTR_EQ(test, smc_conn_lookup_imm(link->lgr, name), old->conn);
	KUNIT_EXPECT_NULL(test, smc_conn_lookup_imm(link->lgr, name ^ 0x100));
	smc_conn_leave(old->conn, true);
	KUNIT_EXPECT_NULL(test, smc_conn_lookup_imm(link->lgr, name));
	old = core_join(test, link);
	KUNIT_EXPECT_EQ(test, old->conn->token & SMC_TOKEN_INDEX, index);
	name = smc_imm_name(old->conn->token);
	smc_conn_leave(old->conn, false);
	young = core_join(test, link);
	KUNIT_EXPECT_NE(test, young->conn->token & SMC_TOKEN_INDEX, index);
	KUNIT_EXPECT_NULL(test, smc_conn_lookup_imm(link->lgr, name));
	KUNIT_EXPECT_NULL(test, smc_conn_lookup_imm(link->lgr, 0));
}

/* Without names the group goes on, by CDC messages; it need not refuse a connection. */
static void rmb_33_indexes_do_not_run_out(struct kunit *test)
{
	struct smc_link *link = core_server_up(test);
	struct smc_link_group *lgr = link->lgr;
	unsigned int i, nr_named = 0;
	struct smc_conn *conn;
	u32 index = 0;

	lgr->ext = SMC_LLC_EXT_IMMEDIATE;
	conn = core_join(test, link)->conn;
	/* more than have a name, each lost by an error */
	for (i = 0; i < 2 * 256; i++) {
		nr_named += !!smc_imm_name(conn->token);
		index = conn->token & SMC_TOKEN_INDEX;
		conn_drop_token(conn, lgr, false);
		KUNIT_ASSERT_EQ_MSG(test, conn_take_token(conn, lgr), 0, "after %u", i);
	}
	KUNIT_EXPECT_EQ(test, nr_named, 255U);
	/* from now on a loss leaves the same index to the next connection */
	KUNIT_EXPECT_EQ(test, conn->token & SMC_TOKEN_INDEX, index);
	KUNIT_EXPECT_EQ(test, smc_imm_name(conn->token), 0);
	KUNIT_EXPECT_NULL(test, smc_conn_lookup_imm(lgr, 0));
	KUNIT_EXPECT_PTR_EQ(test, smc_conn_lookup(lgr, conn->token), conn);
	/* nor is the group closed */
	KUNIT_EXPECT_FALSE(test, lgr->is_retired);
	core_join(test, link);
}

struct core_head {
	const char *what;
	bool is_committed;
	bool is_deployed;
	bool has_eye_catcher;
};

static const struct core_head core_heads[] = {
	{ "first contact, dialect unknown", false, false, true },
	{ "RFC dialect", true, false, true },
	{ "deployed dialect", true, true, false },
};

/* RFC 7609 4.4.1: the owner sets it before the peer knows the element. */
static void rmb_12_rmb_14_an_element_begins_with_the_eye_catcher(struct kunit *test)
{
	static const u8 eye[] = { 0xe2, 0xd4, 0xc3, 0xd9 };
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	const struct core_head *row;
	struct smc_link_group *lgr;
	struct smc_link *link;
	struct core_conn *cc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(core_heads); i++) {
		row = &core_heads[i];
		lgr = core_hold(test, smc_lgr_form(&key));
		link = row->is_committed ?
			core_raise(test, lgr, &core_end, 0x11 + i, row->is_deployed) :
			smc_link_create(lgr, &core_end);
		KUNIT_ASSERT_FALSE(test, IS_ERR(link));
		cc = core_join(test, link);
		KUNIT_EXPECT_EQ_MSG(test, !memcmp(cc->conn->rmbe.cpu, eye, sizeof(eye)),
				    row->has_eye_catcher, "%s", row->what);
		/* and everything behind it is zero */
		KUNIT_EXPECT_NULL_MSG(test, memchr_inv(cc->conn->rmbe.cpu + sizeof(eye), 0,
						       CORE_SIZE - sizeof(eye)), "%s", row->what);
	}
}

/* Cursors and flags of both sides change; only the peer writes to the element. */
static void rmb_15_rmb_20_its_owner_leaves_an_element_alone(struct kunit *test)
{
	struct smc_link *link = core_server_up(test);
	struct core_conn *cc = core_join(test, link);
	struct smc_cdc_msg in = {}, out = {};
	struct smc_conn *conn = cc->conn;
	struct smc_xfer none = {};
	u8 *is = kunit_kmalloc(test, CORE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, is);
	KUNIT_ASSERT_EQ(test, core_set_peer(cc, 0x77, 0x10000, 1), -ENOKEY);
	KUNIT_ASSERT_EQ(test, smc_rtoken_add(link->lgr->rtokens, 0, 0x77, 0x10000), 0);
	KUNIT_ASSERT_EQ(test, core_set_peer(cc, 0x77, 0x10000, 1), 0);
	smc_conn_open(conn);
	/* bytes that only the peer can have written */
	memset(conn->rmbe.cpu, 0x5a, CORE_SIZE);
	memcpy(is, conn->rmbe.cpu, CORE_SIZE);

	in.seq = 1;
	in.prod = smc_edge_cursor(&conn->ctl.rx_edge, 1000);
	in.cons = smc_edge_cursor(&conn->ctl.tx_edge, 0);
	in.prod_flags = SMC_CDC_BLOCKED | SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT;
	in.conn_flags = SMC_CDC_DONE;
	KUNIT_EXPECT_TRUE(test, smc_cdc_apply(&conn->ctl, &in) & SMC_EV_DATA);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(conn), 1000);
	smc_cdc_urg_store(&conn->ctl, 0x5a, false);
	KUNIT_EXPECT_EQ(test, smc_cdc_consume(&conn->ctl, 600), 0);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(conn), 400);
	smc_cdc_set_conn_flags(&conn->ctl, SMC_CDC_CLOSED);
	KUNIT_EXPECT_EQ(test, smc_cdc_build(&conn->ctl, &none, &out), 0);
	KUNIT_EXPECT_EQ(test, out.cons.off, smc_edge_off(&conn->ctl.rx_edge, 600));
	conn->tx_inflight = 1;
	core_tx_done(conn, out.seq, 0, true);

	KUNIT_EXPECT_EQ(test, memcmp(conn->rmbe.cpu, is, CORE_SIZE), 0);
}

/* The ring may be the last user of the pool: its release updates the idle time. */
static void a_ring_with_messages_in_flight_goes_with_the_last(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct smc_link_group *lgr = link->lgr;
	struct core_conn *cc = core_join(test, link);
	unsigned long idle;

	core_post(cc);
	core_post(cc);
	idle = lgr->sends.idle;
	smc_conn_leave(cc->conn, true);
	KUNIT_EXPECT_EQ(test, lgr->sends.idle, idle);
	core_complete(cc->conn, 1, true);
	KUNIT_EXPECT_EQ(test, lgr->sends.idle, idle);
	KUNIT_EXPECT_EQ(test, cc->nr_free, 0);
	/* with success or not */
	core_complete(cc->conn, 2, false);
	KUNIT_EXPECT_GT(test, lgr->sends.idle, idle);
	KUNIT_EXPECT_EQ(test, cc->nr_free, 1);
}

/*
 * A socket may have another connection, or be closed, while messages of the old one are in
 * flight. The old one has its rings until they complete.
 */
static void a_connection_outlives_its_socket(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc = core_join(test, link);
	unsigned long idle = link->lgr->sends.idle;
	struct smc_conn *conn = cc->conn;
	int refs;

	refs = refcount_read(&link->lgr->refs);
	core_post(cc);
	core_drop_conn(cc);
	/* still a member, and found by its token */
	KUNIT_EXPECT_PTR_EQ(test, smc_conn_lookup(link->lgr, conn->token), conn);
	smc_conn_leave(conn, true);
	KUNIT_EXPECT_EQ(test, link->lgr->sends.idle, idle);
	KUNIT_EXPECT_EQ(test, refcount_read(&cc->sk.sk_refcnt), 2);
	KUNIT_EXPECT_EQ(test, refcount_read(&link->lgr->refs), refs);
	/* it is freed with its last message */
	core_complete(conn, 1, true);
	KUNIT_EXPECT_GT(test, link->lgr->sends.idle, idle);
	KUNIT_EXPECT_EQ(test, refcount_read(&link->lgr->refs), refs - 1);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&cc->sk.sk_refcnt), 1);
}

/* Only the socket keeps a connection that has left its group. */
static void a_connection_goes_with_its_socket(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc = core_join(test, link);

	smc_conn_leave(cc->conn, true);
	KUNIT_EXPECT_NULL(test, cc->conn->lgr);
	KUNIT_EXPECT_EQ(test, refcount_read(&cc->conn->refs), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&cc->sk.sk_refcnt), 2);
	core_drop_conn(cc);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, refcount_read(&cc->sk.sk_refcnt), 1);
}

/* A connection with 1000 unread bytes. */
static struct core_conn *core_unread(struct kunit *test, struct smc_link *link)
{
	struct core_conn *cc = core_join(test, link);
	struct smc_conn *conn = cc->conn;
	struct smc_cdc_msg in = { .seq = 1 };

	smc_conn_open(conn);
	in.prod = smc_edge_cursor(&conn->ctl.rx_edge, 1000);
	in.cons = smc_edge_cursor(&conn->ctl.tx_edge, 0);
	KUNIT_EXPECT_TRUE(test, smc_cdc_apply(&conn->ctl, &in) & SMC_EV_DATA);
	return cc;
}

/* The connection leaves the group, which may end; the reader keeps the element. */
static void what_is_unread_stays_until_it_is_read(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct smc_link_group *lgr = link->lgr;
	struct core_conn *cc = core_unread(test, link);
	unsigned long idle = lgr->rmbs.idle;
	int nr_conns = lgr->nr_conns;

	smc_conn_leave(cc->conn, true);
	KUNIT_EXPECT_EQ(test, cc->conn->token, 0);
	KUNIT_EXPECT_EQ(test, lgr->nr_conns, nr_conns - 1);
	KUNIT_EXPECT_EQ(test, lgr->rmbs.idle, idle);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(cc->conn), 1000);
	/* other connections get another element */
	KUNIT_EXPECT_PTR_NE(test, core_join(test, link)->conn->rmbe.cpu, cc->conn->rmbe.cpu);

	idle = lgr->rmbs.idle;
	smc_conn_forget_unread(cc->conn);
	KUNIT_EXPECT_GT(test, lgr->rmbs.idle, idle);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(cc->conn), 0);
	/* a second call does nothing */
	smc_conn_forget_unread(cc->conn);
}

/* The record that the peer may still write to it is kept meanwhile. */
static void abrt_13_an_unread_element_that_is_lost_stays_so(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc = core_unread(test, link);
	u8 *cpu = cc->conn->rmbe.cpu;

	smc_conn_leave(cc->conn, false);
	smc_conn_forget_unread(cc->conn);
	KUNIT_EXPECT_PTR_NE(test, core_join(test, link)->conn->rmbe.cpu, cpu);
}

/* For a handshake that gives up; after close() unread data is dropped, smc_close.c. */
static void unreadable_data_goes_at_once(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc = core_unread(test, link);

	cc->conn->phase = SMC_CONN_SETUP;
	smc_conn_leave(cc->conn, true);
	KUNIT_EXPECT_EQ(test, cc->nr_free, 1);
	KUNIT_EXPECT_EQ(test, smc_conn_readable(cc->conn), 0);
}

struct core_rest {
	const char *what;
	u8 conn_flags;
	u64 prod;
	u32 dirty;
	u16 base;
};

static const struct core_rest core_rests[] = {
	{ "not closed", 0, 1000, CORE_SIZE },
	{ "closed", SMC_CDC_DONE | SMC_CDC_CLOSED, 1000, 1000 },
	{ "behind an eye catcher", SMC_CDC_CLOSED, 1000, 1004, SMC_EYE_CATCHER_LEN },
	{ "closed without data", SMC_CDC_CLOSED, 0, SMC_EYE_CATCHER_LEN },
	{ "more than a ring", SMC_CDC_CLOSED, CORE_SIZE + 10, CORE_SIZE },
	{ "so much that the wrap number is 0 again", SMC_CDC_CLOSED, 1ULL << 40, CORE_SIZE },
	{ "aborted, maybe with data that was not announced", SMC_CDC_ABORT, 1000,
	  CORE_SIZE },
};

static void rmb_13_what_the_peer_wrote_is_zeroed(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct smc_conn *conn = core_join(test, link)->conn;
	unsigned int i;

	guard(spinlock_bh)(&conn->lock);
	for (i = 0; i < ARRAY_SIZE(core_rests); i++) {
		const struct core_rest *row = &core_rests[i];

		conn->ctl.rx_conn_flags = row->conn_flags;
		conn->ctl.rx_prod = row->prod;
		conn->ctl.rx_edge.base = row->base;
		KUNIT_EXPECT_EQ_MSG(test, conn_dirty_bytes(conn), row->dirty, "%s", row->what);
	}
	conn->ctl.rx_prod = conn->ctl.rx_cons;
}

static bool core_check_eyecatcher(struct core_conn *cc)
{
	bool is_there;

	lock_sock(&cc->sk);
	is_there = smc_conn_check_eyecatcher(cc->conn);
	release_sock(&cc->sk);
	return is_there;
}

static void rmb_14_a_reused_element_gets_it_again(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_link_group *lgr = core_hold(test, smc_lgr_form(&key));
	struct smc_link *link = core_raise(test, lgr, &core_end, 0x11, false);
	struct core_conn *cc = core_join(test, link);
	u8 *cpu = cc->conn->rmbe.cpu;

	memset(cpu, 0xaa, CORE_SIZE);
	smc_conn_leave(cc->conn, true);
	cc = core_join(test, link);
	KUNIT_ASSERT_PTR_EQ(test, cc->conn->rmbe.cpu, cpu);
	KUNIT_EXPECT_TRUE(test, core_check_eyecatcher(cc));
}

static void rmb_16_each_damage_of_the_eye_catcher_shows(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_link_group *lgr = core_hold(test, smc_lgr_form(&key));
	struct smc_link *link = core_raise(test, lgr, &core_end, 0x11, false);
	struct core_conn *cc = core_join(test, link);
	int i;

	KUNIT_EXPECT_TRUE(test, core_check_eyecatcher(cc));
	for (i = 0; i < SMC_EYE_CATCHER_LEN; i++) {
		cc->conn->rmbe.cpu[i] ^= 0x01;
		KUNIT_EXPECT_FALSE(test, core_check_eyecatcher(cc));
		cc->conn->rmbe.cpu[i] ^= 0x01;
	}
	/* what follows is data */
	cc->conn->rmbe.cpu[SMC_EYE_CATCHER_LEN] ^= 0x01;
	KUNIT_EXPECT_TRUE(test, core_check_eyecatcher(cc));
}

struct core_claim {
	const char *what;
	u32 rkey;
	u64 addr;
	u8 index;
	bool is_conflict;
};

/* Element 2 of RMB 0x77 is in use. */
static const struct core_claim core_claims[] = {
	{ "same RMB, same element", 0x77, 0x10000, 2, true },
	{ "same RMB, another element", 0x77, 0x10000, 1, false },
	{ "another RMB, same index", 0x78, 0x90000, 2, false },
};

static void rmb_29_sc_07_an_element_in_use_is_noticed(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	const struct core_claim *row;
	struct core_conn *old, *young;
	unsigned int i;

	core_know_rmb(test, link, 0x77, 0x10000);
	core_know_rmb(test, link, 0x78, 0x90000);
	for (i = 0; i < ARRAY_SIZE(core_claims); i++) {
		row = &core_claims[i];
		old = core_join(test, link);
		KUNIT_ASSERT_EQ(test, core_set_peer(old, 0x77, 0x10000, 2), 0);
		young = core_join(test, link);
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    core_set_peer(young, row->rkey, row->addr, row->index),
				    "%s", row->what);
		KUNIT_EXPECT_EQ_MSG(test, old->nr_lost, row->is_conflict, "%s", row->what);
		smc_conn_leave(old->conn, true);
		smc_conn_leave(young->conn, true);
	}
}

static void rmb_30_rmb_31_the_old_connection_goes_the_new_one_proceeds(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *old, *young, *third;

	core_know_rmb(test, link, 0x77, 0x10000);
	old = core_join(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(old, 0x77, 0x10000, 2), 0);
	smc_conn_open(old->conn);
	young = core_join(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(young, 0x77, 0x10000, 2), 0);

	/* reported once; the old connection writes to no element any more */
	KUNIT_EXPECT_EQ(test, old->nr_lost, 1);
	KUNIT_EXPECT_FALSE(test, core_has_link(old));
	KUNIT_EXPECT_EQ(test, young->nr_lost, 0);
	KUNIT_EXPECT_TRUE(test, core_has_link(young));

	/* the element is the new one's, even when the old one leaves */
	smc_conn_leave(old->conn, true);
	third = core_join(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(third, 0x77, 0x10000, 2), 0);
	KUNIT_EXPECT_EQ(test, young->nr_lost, 1);
	/* and is free once its owner has left */
	smc_conn_leave(third->conn, true);
	old = core_join(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(old, 0x77, 0x10000, 2), 0);
	KUNIT_EXPECT_EQ(test, third->nr_lost, 0);
}

static void core_delete_rmb(struct smc_link *link, u32 rkey)
{
	struct smc_link_group *lgr = link->lgr;

	mutex_lock(&lgr->lock);
	smc_conn_lose_rmb(lgr, smc_rtoken_find_rkey(lgr->rtokens, link->index, rkey));
	mutex_unlock(&lgr->lock);
}

static void rmb_30_a_writer_to_a_deleted_rmb_is_cut_off(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *writer, *reader, *other;

	core_know_rmb(test, link, 0x77, 0x10000);
	core_know_rmb(test, link, 0x78, 0x90000);
	writer = core_join(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(writer, 0x77, 0x10000, 1), 0);
	reader = core_unread(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(reader, 0x77, 0x10000, 2), 0);
	other = core_join(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(other, 0x78, 0x90000, 2), 0);
	/* a connection whose peer has closed may still read earlier data */
	reader->conn->ctl.rx_conn_flags = SMC_CDC_CLOSED;
	core_delete_rmb(link, 0x77);

	KUNIT_EXPECT_EQ(test, writer->nr_lost, 1);
	KUNIT_EXPECT_FALSE(test, core_has_link(writer));
	KUNIT_EXPECT_EQ(test, reader->nr_lost, 0);
	KUNIT_EXPECT_FALSE(test, core_has_link(reader));
	KUNIT_EXPECT_EQ(test, smc_conn_readable(reader->conn), 1000);
	KUNIT_EXPECT_EQ(test, other->nr_lost, 0);
	KUNIT_EXPECT_TRUE(test, core_has_link(other));
}

/* Flags that we sent, and flags that the peer sent. A deletion may overtake the peer's C. */
static const struct {
	u8 tx_flags;		/* to be carried */
	u8 tx_sent;		/* posted */
	u8 rx_flags;
	unsigned int nr_closed;
	unsigned int nr_lost;
} core_deletions[] = {
	{ SMC_CDC_CLOSED, SMC_CDC_CLOSED, 0, 1, 0 },
	{ SMC_CDC_CLOSED | SMC_CDC_DONE, SMC_CDC_CLOSED | SMC_CDC_DONE, SMC_CDC_DONE, 1, 0 },
	/* it has arrived */
	{ SMC_CDC_CLOSED, SMC_CDC_CLOSED, SMC_CDC_CLOSED, 0, 0 },
	{ SMC_CDC_CLOSED, SMC_CDC_CLOSED, SMC_CDC_ABORT, 0, 0 },
	/* the peer has not received it */
	{ SMC_CDC_CLOSED, 0, 0, 0, 1 },
	{ SMC_CDC_ABORT, SMC_CDC_ABORT, 0, 0, 1 },
	{ SMC_CDC_CLOSED | SMC_CDC_ABORT, SMC_CDC_CLOSED | SMC_CDC_ABORT, 0, 0, 1 },
	{ SMC_CDC_DONE, SMC_CDC_DONE, 0, 0, 1 },
};

static void rmb_24_after_our_close_a_deletion_is_the_peers_close(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct smc_cdc_ctl *ctl;
	struct core_conn *cc;
	int i;

	for (i = 0; i < ARRAY_SIZE(core_deletions); i++) {
		core_know_rmb(test, link, 0x77, 0x10000);
		cc = core_join(test, link);
		KUNIT_ASSERT_EQ(test, core_set_peer(cc, 0x77, 0x10000, 1), 0);
		ctl = &cc->conn->ctl;
		ctl->tx_conn_flags = core_deletions[i].tx_flags;
		ctl->tx_conn_sent = core_deletions[i].tx_sent;
		ctl->rx_conn_flags = core_deletions[i].rx_flags;
		core_delete_rmb(link, 0x77);
		KUNIT_EXPECT_EQ_MSG(test, cc->nr_closed, core_deletions[i].nr_closed, "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, cc->nr_lost, core_deletions[i].nr_lost, "%d", i);
		if (core_deletions[i].nr_closed)
			KUNIT_EXPECT_TRUE(test, ctl->rx_conn_flags & SMC_CDC_CLOSED);
		KUNIT_EXPECT_FALSE(test, core_has_link(cc));
	}
}

static void rmb_29_a_deleted_rmb_takes_no_claim_along(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *old, *young, *third;
	int place;

	core_know_rmb(test, link, 0x77, 0x10000);
	old = core_join(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(old, 0x77, 0x10000, 2), 0);
	place = old->conn->rtoken;
	core_delete_rmb(link, 0x77);

	/* the next RMB has the same place in the table */
	core_know_rmb(test, link, 0x78, 0x90000);
	young = core_join(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(young, 0x78, 0x90000, 2), 0);
	KUNIT_ASSERT_EQ(test, young->conn->rtoken, place);
	smc_conn_leave(old->conn, true);
	third = core_join(test, link);
	KUNIT_ASSERT_EQ(test, core_set_peer(third, 0x78, 0x90000, 2), 0);
	KUNIT_EXPECT_EQ(test, young->nr_lost, 1);
	KUNIT_EXPECT_EQ(test, old->nr_lost, 1);
}

static void rkey_24_an_unannounced_rmb_is_out_of_sync(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc = core_join(test, link);

	core_know_rmb(test, link, 0x77, 0x10000);
	KUNIT_EXPECT_EQ(test, core_set_peer(cc, 0x78, 0x10000, 1), -ENOKEY);
	KUNIT_EXPECT_EQ(test, core_set_peer(cc, 0x77, 0x11000, 1), -ENOKEY);
	KUNIT_EXPECT_EQ(test, cc->conn->peer_size, 0);
	KUNIT_EXPECT_LT(test, cc->conn->rtoken, 0);
	KUNIT_EXPECT_LT(test, smc_rtoken_find_rkey(link->lgr->rtokens, link->index, 0x78), 0);
}

static void an_element_that_cannot_be_is_refused(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc = core_join(test, link);

	core_know_rmb(test, link, 0x77, 0x10000);
	core_know_rmb(test, link, 0x78, U64_MAX - CORE_SIZE);
	KUNIT_EXPECT_EQ(test, core_set_peer(cc, 0x77, 0x10000, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, core_set_peer(cc, 0x78, U64_MAX - CORE_SIZE, 2), -EINVAL);
	KUNIT_EXPECT_LT(test, cc->conn->rtoken, 0);
}

static void peer_03_the_end_of_a_group_cuts_its_connections(struct kunit *test)
{
	struct smc_link *link = core_server_up(test);
	struct core_conn *one = core_join(test, link);
	struct core_conn *two = core_join(test, link);
	struct core_conn *late = core_new_conn(test, link->lgr);
	struct smc_link_group *lgr = link->lgr;

	smc_lgr_terminate(lgr, "test");
	smc_lgr_terminate(lgr, "test");
	KUNIT_ASSERT_TRUE(test, wait_event_timeout(lgr->waitq,
						   READ_ONCE(lgr->state) == SMC_LGR_DEAD,
						   CORE_LONG));
	KUNIT_EXPECT_EQ(test, one->nr_lost, 1);
	KUNIT_EXPECT_EQ(test, two->nr_lost, 1);
	KUNIT_EXPECT_FALSE(test, core_has_link(one));
	KUNIT_EXPECT_EQ(test, smc_conn_join(late->conn, lgr, link), -ECONNABORTED);
	smc_buf_put(&lgr->rmbs, &late->conn->rmbe);
	smc_buf_put(&lgr->sends, &late->conn->sndbuf);
}

static void abrt_13_an_element_the_peer_may_write_to_stays_unused(struct kunit *test)
{
	struct smc_link *link = core_server_up(test);
	struct core_conn *cc = core_join(test, link);
	u8 *cpu = cc->conn->rmbe.cpu;

	smc_conn_leave(cc->conn, false);
	cc = core_join(test, link);
	KUNIT_EXPECT_PTR_NE(test, cc->conn->rmbe.cpu, cpu);
}

/* A further link of a group. */
static struct smc_link *core_link_at(struct kunit *test, struct smc_link_group *lgr,
				     unsigned int index, u32 qpn)
{
	struct smc_ib_peer peer = core_peer(qpn);
	struct smc_link *link;

	link = smc_link_create_at(lgr, &core_end, index);
	KUNIT_ASSERT_FALSE(test, IS_ERR(link));
	KUNIT_ASSERT_EQ(test, smc_link_connect(link, &peer), 0);
	mutex_lock(&lgr->lock);
	KUNIT_EXPECT_TRUE(test, smc_link_set_state(link, SMC_LINK_ACTIVE));
	mutex_unlock(&lgr->lock);
	return link;
}

/* A second link of the group of @one. */
static struct smc_link *core_second(struct kunit *test, struct smc_link *one)
{
	return core_link_at(test, one->lgr, 1, 0x99);
}

/* The link that Accept or Confirm would name. */
static struct smc_link *core_named_link(struct core_conn *cc)
{
	struct smc_link_group *lgr = cc->conn->lgr;
	struct smc_link *link;

	mutex_lock(&lgr->lock);
	link = smc_conn_announced_link(cc->conn);
	mutex_unlock(&lgr->lock);
	return link;
}

static bool core_is_reported(const struct smc_link *link)
{
	return test_bit(SMC_WR_IS_REPORTED, &link->wr.flags);
}

/* A region by which the group has grown, and the result. */
static struct smc_buf *core_grow(struct kunit *test, struct smc_link_group *lgr,
				 struct smc_buf_elem *elem)
{
	struct smc_buf *buf = smc_buf_alloc(&lgr->rmbs, CORE_SIZE, core_max_pages, 255);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, buf);
	KUNIT_EXPECT_EQ(test, smc_pool_add(lgr, &lgr->rmbs, buf, elem), 0);
	return buf;
}

/*
 * Where RNICs need copies a group has one link. A second link that came up before any
 * region ends with the first region, and is not added again while there is one.
 */
static void rkey_02_a_link_that_needs_copies_is_no_second_one(struct kunit *test)
{
	struct smc_link *one = core_server_up(test);
	struct smc_link *two = core_second(test, one);
	struct smc_link_group *lgr = one->lgr;
	struct smc_buf_elem elem = {};
	struct smc_buf *buf;

	KUNIT_EXPECT_EQ(test, smc_link_map(two), 0);
	core_has_copies = true;
	KUNIT_ASSERT_EQ(test, smc_pool_begin_grow(lgr), 0);
	buf = core_grow(test, lgr, &elem);
	KUNIT_EXPECT_TRUE(test, core_is_reported(two));
	KUNIT_EXPECT_FALSE(test, core_is_reported(one));
	KUNIT_EXPECT_NOT_NULL(test, buf->map[0].mr);
	KUNIT_EXPECT_NULL(test, buf->map[1].mr);
	smc_link_destroy(two);
	two = core_second(test, one);
	KUNIT_EXPECT_EQ(test, smc_link_map(two), -EOPNOTSUPP);
	core_has_copies = false;
	smc_pool_drop(lgr, &lgr->rmbs, buf, &elem);

	/* a lost link is not asked */
	smc_wr_report(&two->wr, SMC_WR_FAULT_QP);
	buf = core_grow(test, lgr, &elem);
	KUNIT_EXPECT_NULL(test, buf->map[1].mr);
	smc_pool_drop(lgr, &lgr->rmbs, buf, &elem);
	lgr_end_grow(lgr);
}

/* The link in use stays, even if the new one has the lower index. */
static void rkey_02_a_link_in_use_is_the_one_that_needs_no_copy(struct kunit *test)
{
	struct smc_link *one = core_server_up(test);
	struct smc_link *two = core_second(test, one);
	struct smc_link_group *lgr = one->lgr;
	struct smc_buf_elem elem = {};
	struct smc_buf *buf;

	smc_link_destroy(one);
	one = smc_link_create_at(lgr, &core_end, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(one));
	core_has_copies = true;
	KUNIT_ASSERT_EQ(test, smc_pool_begin_grow(lgr), 0);
	buf = core_grow(test, lgr, &elem);
	KUNIT_EXPECT_FALSE(test, core_is_reported(two));
	KUNIT_EXPECT_TRUE(test, core_is_reported(one));
	KUNIT_EXPECT_NOT_NULL(test, buf->map[1].mr);
	KUNIT_EXPECT_NULL(test, buf->map[0].mr);
	core_has_copies = false;
	smc_pool_drop(lgr, &lgr->rmbs, buf, &elem);
	lgr_end_grow(lgr);
}

/* A region that one link cannot map is not announced: the peer would break that link. */
static void rkey_02_an_rmb_is_known_on_every_link_that_works(struct kunit *test)
{
	struct smc_link *one = core_server_up(test);
	struct smc_link *two = core_second(test, one);
	struct ib_mr mr[2] = { { .lkey = 0x11 }, {} };
	struct smc_buf *buf;

	buf = kunit_kzalloc(test, sizeof(*buf), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	buf->kind = SMC_BUF_RMB;
	buf->map[one->index].mr = &mr[0];
	buf->map[two->index].mr = &mr[1];
	set_bit(SMC_WR_IS_OPEN, &one->wr.flags);
	set_bit(SMC_WR_IS_OPEN, &two->wr.flags);
	KUNIT_EXPECT_EQ(test, smc_pool_register(one->lgr, buf), -ENOMEM);

	/* once the failed link is reported, the other one is enough */
	set_bit(SMC_WR_IS_REPORTED, &two->wr.flags);
	KUNIT_EXPECT_EQ(test, smc_pool_register(one->lgr, buf), 0);
	clear_bit(SMC_WR_IS_REPORTED, &two->wr.flags);

	mr[1].lkey = 0x22;
	KUNIT_EXPECT_EQ(test, smc_pool_register(one->lgr, buf), 0);
	KUNIT_EXPECT_TRUE(test, buf->map[one->index].is_registered);
	KUNIT_EXPECT_TRUE(test, buf->map[two->index].is_registered);
}

/* The region may be mapped for the new link before the link's own task maps all of them. */
static void rkey_02_an_rmb_that_a_new_link_knows_is_no_obstacle(struct kunit *test)
{
	struct smc_link *one = core_server_up(test);
	struct smc_link *two = core_second(test, one);
	struct smc_buf_pool *pool = &one->lgr->rmbs;
	struct ib_mr mr = {};
	struct smc_buf *buf;

	buf = smc_buf_alloc(pool, CORE_SIZE, 1 << 10, SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	KUNIT_ASSERT_EQ(test, smc_buf_add(pool, buf, NULL), 0);
	buf->map[two->index].mr = &mr;
	KUNIT_EXPECT_EQ(test, smc_link_map(two), 0);
	buf->map[two->index].mr = NULL;
}

/* Regions that only a failed link still maps are freed with it, not with the group. */
static void rmb_24_a_link_frees_its_own_regions(struct kunit *test)
{
	struct smc_link *one = core_server_up(test);
	struct smc_link *two = core_second(test, one);
	struct smc_link_group *lgr = one->lgr;
	struct ib_mr mr = {};
	struct smc_buf *here, *there;

	here = smc_buf_alloc(&lgr->rmbs, CORE_SIZE, 1 << 10, SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(here));
	list_add(&here->node, &lgr->dropped);
	there = smc_buf_alloc(&lgr->rmbs, CORE_SIZE, 1 << 10, SMC_BUF_MAX_ELEMS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(there));
	list_add(&there->node, &lgr->dropped);
	there->map[one->index].mr = &mr;
	smc_link_destroy(two);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&lgr->dropped));
	KUNIT_EXPECT_PTR_EQ(test, list_first_entry(&lgr->dropped, struct smc_buf, node), there);
	there->map[one->index].mr = NULL;
}

static void core_lose(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	mutex_lock(&lgr->lock);
	smc_link_set_state(link, SMC_LINK_INACTIVE);
	mutex_unlock(&lgr->lock);
	smc_failover_queue(lgr);
	flush_work(&lgr->move_work);
}

/* An RMB that the peer announced on both links, 0x77 here and 0x88 there. */
static void core_know_both(struct kunit *test, struct smc_link *one, struct smc_link *two)
{
	struct smc_rtokens *rt = one->lgr->rtokens;
	int idx;

	mutex_lock(&one->lgr->lock);
	idx = smc_rtoken_add(rt, one->index, 0x77, 0x10000);
	KUNIT_EXPECT_EQ(test, smc_rtoken_set(rt, idx, two->index, 0x88, 0x50000), 0);
	mutex_unlock(&one->lgr->lock);
}

static void fail_01_fail_16_connections_leave_a_link_that_is_lost(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_second(test, one);
	struct core_conn *open, *fresh;

	core_know_both(test, one, two);
	open = core_join(test, one);
	KUNIT_ASSERT_EQ(test, core_set_peer(open, 0x77, 0x10000, 3), 0);
	KUNIT_EXPECT_EQ(test, open->conn->peer_rkey, 0x77U);
	KUNIT_EXPECT_EQ(test, open->conn->peer_addr, 0x10000ULL + 2 * CORE_SIZE);
	smc_conn_open(open->conn);
	fresh = core_join(test, one);
	core_lose(one);

	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(open->conn->link), two);
	KUNIT_EXPECT_EQ(test, open->conn->peer_rkey, 0x88U);
	KUNIT_EXPECT_EQ(test, open->conn->peer_addr, 0x50000ULL + 2 * CORE_SIZE);
	KUNIT_EXPECT_EQ(test, open->conn->phase, SMC_CONN_VALIDATING);
	KUNIT_EXPECT_EQ(test, open->nr_moved, 1);
	KUNIT_EXPECT_EQ(test, open->nr_lost, 0);
	/* a connection whose handshake is not over has sent nothing */
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(fresh->conn->link), two);
	KUNIT_EXPECT_NE(test, fresh->conn->phase, SMC_CONN_VALIDATING);
	/* the peer may still name its element by keys of the old link */
	KUNIT_EXPECT_EQ(test, atomic_read(&one->nr_conns), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&two->nr_conns), 2);
}

static void rkey_22_the_peer_may_tell_by_another_link_than_ours(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_second(test, one);
	struct smc_clc_accept acc = {
		.rkey = 0x77, .rmb_addr = 0x10000, .rmbe_index = 1,
	};
	struct core_conn *cc;

	core_know_both(test, one, two);
	cc = core_join(test, two);
	KUNIT_EXPECT_EQ(test, smc_conn_set_peer(cc->conn, two, &acc), -ENOKEY);
	KUNIT_EXPECT_EQ(test, smc_conn_set_peer(cc->conn, one, &acc), 0);
	KUNIT_EXPECT_EQ(test, cc->conn->peer_rkey, 0x88U);
	KUNIT_EXPECT_EQ(test, cc->conn->peer_addr, 0x50000ULL);
	/* an RMB known on one link only is out of reach of the others */
	core_know_rmb(test, one, 0x79, 0x90000);
	acc.rkey = 0x79;
	acc.rmb_addr = 0x90000;
	cc = core_join(test, two);
	KUNIT_EXPECT_EQ(test, smc_conn_set_peer(cc->conn, one, &acc), -ENOKEY);
}

/* @len bytes have been written, and have not completed. */
static void core_send(struct core_conn *cc, u32 len)
{
	struct smc_conn *conn = cc->conn;

	conn->ctl.tx_prep += len;
	conn->ctl.tx_sent = conn->ctl.tx_prep;
}

static void fail_04_what_is_in_flight_ends_first(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_second(test, one);
	struct core_conn *cc;

	core_know_both(test, one, two);
	cc = core_join(test, one);
	KUNIT_ASSERT_EQ(test, core_set_peer(cc, 0x77, 0x10000, 1), 0);
	smc_conn_open(cc->conn);
	core_send(cc, 100);
	cc->conn->tx_inflight = 2;
	cc->conn->ctl.tx_seq = 2;
	core_lose(one);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc->conn->link), one);
	KUNIT_EXPECT_EQ(test, cc->conn->phase, SMC_CONN_LEAVING);
	core_tx_done(cc->conn, 1, 0, true);
	flush_work(&one->lgr->move_work);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc->conn->link), one);
	/* with success or not */
	core_tx_done(cc->conn, 2, 100, false);
	KUNIT_EXPECT_FALSE(test, smc_conn_await_drain(cc->conn));
	KUNIT_EXPECT_TRUE(test, smc_conn_has_inflight(cc->conn));
	flush_work(&one->lgr->move_work);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc->conn->link), two);
	KUNIT_EXPECT_NE(test, cc->conn->phase, SMC_CONN_LEAVING);
	KUNIT_EXPECT_EQ(test, cc->conn->phase, SMC_CONN_VALIDATING);
	KUNIT_EXPECT_EQ(test, cc->nr_moved, 1);
}

static void core_time(struct core_conn *cc, u16 seq, u64 ms)
{
	spin_lock_bh(&cc->conn->lock);
	/* the last one was long ago */
	cc->conn->rtt.jiffies = jiffies - 2 * HZ;
	smc_conn_time_send(cc->conn, seq);
	cc->conn->rtt.began_ns -= ms * NSEC_PER_MSEC;
	cc->conn->tx_inflight++;
	spin_unlock_bh(&cc->conn->lock);
}

static void api_04_a_round_trip_is_measured_by_one_message_at_a_time(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc = core_join(test, link);
	struct smc_conn_rtt *rtt = &cc->conn->rtt;
	unsigned long start;
	u64 began;
	u32 mean;

	smc_conn_open(cc->conn);
	core_time(cc, 1, 5000);
	/* other messages and their completions do not count */
	began = rtt->began_ns;
	core_time(cc, 2, 0);
	KUNIT_EXPECT_EQ(test, rtt->began_ns, began);
	core_tx_done(cc->conn, 2, 0, true);
	KUNIT_EXPECT_EQ(test, rtt->min, 0);
	core_tx_done(cc->conn, 1, 0, true);
	mean = ewma_smc_rtt_read(&rtt->mean);
	KUNIT_EXPECT_GE(test, mean, 5000 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, rtt->min, mean);
	/* it may have been retransmitted */
	core_time(cc, 3, 50000);
	core_tx_done(cc->conn, 3, 0, false);
	KUNIT_EXPECT_EQ(test, ewma_smc_rtt_read(&rtt->mean), mean);
	core_time(cc, 4, 100000);
	core_tx_done(cc->conn, 4, 0, true);
	KUNIT_EXPECT_GT(test, ewma_smc_rtt_read(&rtt->mean), mean);
	KUNIT_EXPECT_GE(test, ewma_smc_rtt_var_read(&rtt->var), 90000 * USEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, rtt->min, mean);
	/* one in a second is enough */
	do {
		rtt->began_ns = 0;
		start = jiffies;
		spin_lock_bh(&cc->conn->lock);
		rtt->jiffies = start;
		smc_conn_time_send(cc->conn, 5);
		spin_unlock_bh(&cc->conn->lock);
		/* this task may have waited for the CPU */
	} while (rtt->began_ns && jiffies - start >= HZ);
	KUNIT_EXPECT_EQ(test, rtt->began_ns, 0);
}

/* A reader that keeps sending window updates does not delay its D. */
static void close_08_data_alone_is_waited_for(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc;

	cc = core_join(test, link);
	smc_conn_open(cc->conn);
	core_send(cc, 100);
	cc->conn->tx_inflight = 2;
	cc->conn->ctl.tx_seq = 2;
	KUNIT_EXPECT_FALSE(test, smc_conn_await_drain(cc->conn));
	KUNIT_EXPECT_TRUE(test, smc_conn_has_inflight(cc->conn));
	core_tx_done(cc->conn, 1, 100, true);
	KUNIT_EXPECT_TRUE(test, smc_conn_await_drain(cc->conn));
	KUNIT_EXPECT_FALSE(test, smc_conn_has_inflight(cc->conn));
	core_tx_done(cc->conn, 2, 0, true);
}

/* C is due until it completes: if the link fails first, another link carries it. */
static void close_02_fail_12_the_last_word_is_owed_until_it_is_there(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct smc_conn *conn;

	conn = core_join(test, link)->conn;
	smc_conn_open(conn);
	KUNIT_EXPECT_FALSE(test, smc_conn_owes_final(conn));
	conn->ctl.tx_conn_flags = SMC_CDC_CLOSED;
	KUNIT_EXPECT_TRUE(test, smc_conn_owes_final(conn));
	conn->ctl.tx_seq = 1;
	conn->ctl.tx_seq_final = 1;
	conn->ctl.tx_conn_sent = SMC_CDC_CLOSED;
	conn->tx_inflight = 1;
	KUNIT_EXPECT_TRUE(test, smc_conn_owes_final(conn));
	core_tx_done(conn, 1, 0, true);
	KUNIT_EXPECT_FALSE(test, smc_conn_owes_final(conn));
	/* an aborted connection sends nothing */
	conn->ctl.tx_conn_sent = 0;
	smc_conn_abort(conn);
	KUNIT_EXPECT_FALSE(test, smc_conn_owes_final(conn));
}

/* Its element at the peer is gone: no message is due, whatever fails now. */
static void rmb_30_close_02_nothing_is_owed_to_a_deleted_rmb(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc;
	int is_sent;

	for (is_sent = 0; is_sent < 2; is_sent++) {
		core_know_rmb(test, link, 0x77 + is_sent, 0x10000);
		cc = core_join(test, link);
		KUNIT_ASSERT_EQ(test, core_set_peer(cc, 0x77 + is_sent, 0x10000, 1), 0);
		smc_conn_open(cc->conn);
		cc->conn->ctl.rx_conn_flags = SMC_CDC_CLOSED;
		cc->conn->ctl.tx_conn_flags = SMC_CDC_CLOSED;
		if (is_sent) {
			cc->conn->ctl.tx_seq = 1;
			cc->conn->ctl.tx_seq_final = 1;
			cc->conn->ctl.tx_conn_sent = SMC_CDC_CLOSED;
		}
		KUNIT_EXPECT_TRUE(test, smc_conn_owes_final(cc->conn));
		KUNIT_EXPECT_EQ(test, cc->nr_final, 0);
		core_delete_rmb(link, 0x77 + is_sent);
		KUNIT_EXPECT_FALSE(test, smc_conn_owes_final(cc->conn));
		/* and the waiter for it is woken */
		KUNIT_EXPECT_EQ(test, cc->nr_final, 1);
	}
}

static void core_wait(struct smc_link *link, struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	smc_link_add_waiter(link, conn);
}

/* A connection without a slot waits once, and only where slots will come back. */
static void no_connection_waits_on_a_stopped_link(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct core_conn *cc = core_join(test, one);
	struct smc_conn *conn = cc->conn;
	int refs = refcount_read(&conn->refs);

	core_wait(one, conn);
	core_wait(one, conn);
	KUNIT_EXPECT_EQ(test, refcount_read(&conn->refs), refs + 1);
	KUNIT_EXPECT_PTR_EQ(test, smc_link_pop_waiter(one), conn);
	KUNIT_EXPECT_NULL(test, smc_link_pop_waiter(one));
	smc_conn_put(conn);

	smc_wr_stop(&one->wr);
	core_wait(one, conn);
	KUNIT_EXPECT_NULL(test, smc_link_pop_waiter(one));
	KUNIT_EXPECT_EQ(test, refcount_read(&conn->refs), refs);
}

/* A lost link may take long to stop. A moving connection waits on the new one. */
static void fail_02_a_moving_connection_waits_on_the_new_link(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_second(test, one);
	struct core_conn *cc = core_join(test, one);
	struct smc_conn *conn = cc->conn;
	int refs = refcount_read(&conn->refs);

	core_know_both(test, one, two);
	core_wait(one, conn);
	core_lose(one);
	KUNIT_ASSERT_PTR_EQ(test, rcu_access_pointer(conn->link), two);
	KUNIT_EXPECT_EQ(test, refcount_read(&conn->refs), refs);
	KUNIT_EXPECT_NULL(test, smc_link_pop_waiter(one));
	core_wait(two, conn);
	KUNIT_EXPECT_PTR_EQ(test, smc_link_pop_waiter(two), conn);
	smc_conn_put(conn);
}

static void lg_21_a_link_without_the_peers_key_is_not_chosen(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_second(test, one);
	struct core_conn *cc;

	core_know_rmb(test, one, 0x77, 0x10000);
	cc = core_join(test, one);
	KUNIT_ASSERT_EQ(test, core_set_peer(cc, 0x77, 0x10000, 1), 0);
	smc_conn_open(cc->conn);
	core_lose(one);
	KUNIT_EXPECT_EQ(test, cc->nr_lost, 1);
	KUNIT_EXPECT_FALSE(test, core_has_link(cc));
	KUNIT_EXPECT_EQ(test, atomic_read(&two->nr_conns), 0);
}

static void core_hold_back(struct core_conn *cc)
{
	spin_lock_bh(&cc->conn->lock);
	cc->conn->ctl.rx_nr_waits = 1;
	smc_conn_hold(cc->conn);
	spin_unlock_bh(&cc->conn->lock);
}

/* The timer expires, with its reference. */
static void core_hold_expires(struct core_conn *cc)
{
	smc_conn_get(cc->conn);
	conn_hold_expired(&cc->conn->hold_timer);
}

/* The peer moves its connection twice within the time limit of one message. */
static void fail_10_each_message_that_is_due_has_its_time(struct kunit *test)
{
	struct smc_link *link = core_client_up(test, 0x11);
	struct core_conn *cc = core_join(test, link);
	struct smc_conn *conn = cc->conn;
	int refs = refcount_read(&conn->refs);
	unsigned long then;

	core_hold_back(cc);
	/* it arrives, and the next is due shortly before the first limit expires */
	conn->ctl.rx_nr_waits = 0;
	sk_reset_timer(&cc->sk, &conn->hold_timer, jiffies + SMC_CONN_HOLD_TIME / 2);
	then = jiffies;
	core_hold_back(cc);
	KUNIT_EXPECT_TRUE(test, time_after_eq(conn->hold_timer.expires,
					      then + SMC_CONN_HOLD_TIME));
	/* an armed timer has a reference */
	KUNIT_EXPECT_EQ(test, refcount_read(&conn->refs), refs + 1);
	/* the timer of the first one may be running by then */
	core_hold_expires(cc);
	KUNIT_EXPECT_EQ(test, cc->nr_missing, 0);
	KUNIT_EXPECT_TRUE(test, timer_pending(&conn->hold_timer));

	conn->hold_jiffies = jiffies;
	core_hold_expires(cc);
	KUNIT_EXPECT_EQ(test, cc->nr_missing, 1);
	/* in time */
	conn->ctl.rx_nr_waits = 0;
	core_hold_expires(cc);
	KUNIT_EXPECT_EQ(test, cc->nr_missing, 1);
}

/* A link may still come up until the end of the group is decided. */
static void fail_01_without_any_link_a_connection_waits(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two;
	struct core_conn *cc = core_join(test, one);

	smc_conn_open(cc->conn);
	core_lose(one);
	KUNIT_EXPECT_EQ(test, cc->nr_lost, 0);
	KUNIT_EXPECT_EQ(test, cc->conn->phase, SMC_CONN_LEAVING);
	two = core_second(test, one);
	smc_failover_queue(one->lgr);
	flush_work(&one->lgr->move_work);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc->conn->link), two);
	KUNIT_EXPECT_NE(test, cc->conn->phase, SMC_CONN_LEAVING);
}

/* The peer was restarted: only the path to its earlier instance was lost. */
static void a_younger_group_shows_that_there_is_a_path(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link_group *old, *young;
	bool is_first = false;

	old = core_server_up(test)->lgr;
	KUNIT_EXPECT_FALSE(test, smc_lgr_has_successor(old));
	key.peer_id[0]++;
	young = core_reserve(test, &key, &core_end, &is_first);
	KUNIT_EXPECT_FALSE(test, smc_lgr_has_successor(old));
	core_raise(test, young, &core_end, 0x22, true);
	KUNIT_EXPECT_TRUE(test, smc_lgr_has_successor(old));
	KUNIT_EXPECT_FALSE(test, smc_lgr_has_successor(young));

	/* not by another RNIC of the same one */
	key.peer_addr.s6_addr[15]++;
	key.peer_mac[5]++;
	key.peer_gid[15]++;
	core_raise(test, core_reserve(test, &key, &core_end, &is_first), &core_end, 0x33, true);
	KUNIT_EXPECT_FALSE(test, smc_lgr_has_successor(young));
	/* nor with another peer */
	key.peer_id[0]++;
	core_raise(test, core_reserve(test, &key, &core_end, &is_first), &core_end, 0x44, true);
	KUNIT_EXPECT_FALSE(test, smc_lgr_has_successor(young));
	/* nor with a container beside it, on the same RNIC */
	key.peer_mac[5]--;
	key.peer_id[0]++;
	core_raise(test, core_reserve(test, &key, &core_end, &is_first), &core_end, 0x66, true);
	KUNIT_EXPECT_FALSE(test, smc_lgr_has_successor(young));
	/* the same host, restarted, now with an address of the other family as well */
	key.peer_addr.s6_addr[0] ^= 0x20;
	key.peer_id[0]++;
	core_raise(test, core_reserve(test, &key, &core_end, &is_first), &core_end, 0x55, true);
	KUNIT_EXPECT_TRUE(test, smc_lgr_has_successor(young));
}

/* A server that does not know of the loss yet names the link in an Accept. */
static void sc_05_err_13_a_link_that_is_being_left_is_still_known(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_second(test, one);
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_link_group *lgr, *forming;
	struct smc_link *link = NULL;
	struct core_conn *cc;
	struct smc_clc_accept acc = {
		.rkey = 0x88, .rmb_addr = 0x50000, .rmbe_index = 1,
	};

	core_know_both(test, one, two);
	core_lose(two);
	lgr = core_hold(test, smc_lgr_reserve_link(&key, &two->peer, &link, &forming));
	KUNIT_EXPECT_PTR_EQ(test, lgr, one->lgr);
	KUNIT_ASSERT_PTR_EQ(test, link, two);
	KUNIT_EXPECT_FALSE(test, smc_link_is_used(link));

	/* the connection uses the other link, and names it */
	cc = core_join(test, two);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc->conn->link), one);
	KUNIT_EXPECT_EQ(test, smc_conn_set_peer(cc->conn, two, &acc), 0);
	KUNIT_EXPECT_EQ(test, cc->conn->peer_rkey, 0x77U);
	KUNIT_EXPECT_EQ(test, cc->conn->peer_addr, 0x10000ULL);
	KUNIT_EXPECT_PTR_EQ(test, core_named_link(cc), one);
}

/* Only this connection falls back; the group continues. */
static void err_13_amb_33_a_link_gone_lately_is_not_out_of_sync(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_second(test, one);
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_ib_peer gone = two->peer;
	struct smc_ib_peer nowhere = core_peer(0x33);
	struct smc_link_group *forming;
	struct smc_link *link;
	int i;

	core_lose(two);
	smc_link_destroy(two);
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_reserve_link(&key, &gone, &link, &forming),
			    ERR_PTR(-ESTALE));
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_reserve_link(&key, &nowhere, &link, &forming),
			    ERR_PTR(-ENOENT));
	/* nor are all later ones, as long as their group is there */
	for (i = 0; i < SMC_LINKS_MAX; i++) {
		two = core_link_at(test, one->lgr, 1, 0xa0 + i);
		core_lose(two);
		smc_link_destroy(two);
		KUNIT_EXPECT_PTR_EQ(test, smc_lgr_reserve_link(&key, &gone, &link, &forming),
				    ERR_PTR(-ESTALE));
		KUNIT_EXPECT_PTR_EQ(test, smc_lgr_reserve_link(&key, &two->peer, &link, &forming),
				    ERR_PTR(-ESTALE));
	}
	smc_lgr_terminate(one->lgr, "test");
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_reserve_link(&key, &two->peer, &link, &forming),
			    ERR_PTR(-ENOENT));
}

/* The server may have given the queue pair number to a new group. */
static void amb_06_a_link_that_is_being_left_makes_no_group_stale(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_second(test, one);
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_link_group *lgr, *forming;
	struct smc_link *link, *other;

	lgr = smc_lgr_find_link(&key, &two->peer);
	KUNIT_ASSERT_PTR_EQ(test, lgr, one->lgr);
	smc_lgr_put(lgr);
	core_lose(two);
	KUNIT_EXPECT_NULL(test, smc_lgr_find_link(&key, &two->peer));
	/* and the link in use is the one that is found */
	other = core_client_up(test, two->peer.qpn);
	lgr = core_hold(test, smc_lgr_reserve_link(&key, &two->peer, &link, &forming));
	KUNIT_EXPECT_PTR_EQ(test, lgr, other->lgr);
	KUNIT_EXPECT_PTR_EQ(test, link, other);
}

/* Between Accept and Confirm: a reset would come after connect() has succeeded. */
static void err_07_sc_10_a_confirm_may_name_a_link_just_lost(struct kunit *test)
{
	struct smc_link *one = core_server_up(test);
	struct smc_link *two = core_second(test, one);
	struct smc_clc_accept acc = {
		.rkey = 0x88, .rmb_addr = 0x50000, .rmbe_index = 2,
	};
	struct smc_link_group *lgr = one->lgr;
	struct smc_ib_peer peer = two->peer;
	struct core_conn *cc;

	core_know_both(test, one, two);
	cc = core_join(test, two);
	KUNIT_EXPECT_PTR_EQ(test, core_named_link(cc), two);
	core_lose(two);
	KUNIT_EXPECT_PTR_EQ(test, core_named_link(cc), one);
	KUNIT_ASSERT_PTR_EQ(test, smc_lgr_link_by_peer(lgr, &peer), two);
	KUNIT_EXPECT_EQ(test, smc_conn_set_peer(cc->conn, two, &acc), 0);
	KUNIT_EXPECT_EQ(test, cc->conn->peer_rkey, 0x77U);
	KUNIT_EXPECT_EQ(test, cc->conn->peer_addr, 0x10000ULL + CORE_SIZE);

	/* the keys of a link mean nothing on a link that takes its place */
	cc = core_join(test, one);
	smc_link_destroy(two);
	core_link_at(test, lgr, 1, 0xa0);
	core_know_rmb(test, lgr->links[1], 0x88, 0x50000);
	acc.rmbe_index = 3;
	KUNIT_EXPECT_EQ(test, smc_conn_set_peer(cc->conn, two, &acc), -ENOKEY);
	KUNIT_EXPECT_NULL(test, smc_lgr_link_by_peer(lgr, &peer));
}

/* We send on one link, the peer chose another for its direction. */
static void lb_02_sc_09_each_direction_has_a_link_of_its_own(struct kunit *test)
{
	struct smc_link *one = core_server_up(test);
	struct smc_link *two = core_second(test, one);
	struct smc_clc_accept acc = {
		.rkey = 0x88, .rmb_addr = 0x50000, .rmbe_index = 1,
	};
	struct core_conn *cc;

	core_know_both(test, one, two);
	cc = core_join(test, one);
	KUNIT_ASSERT_PTR_EQ(test, smc_lgr_link_by_peer(one->lgr, &two->peer), two);
	KUNIT_EXPECT_EQ(test, smc_conn_set_peer(cc->conn, two, &acc), 0);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc->conn->link), one);
	KUNIT_EXPECT_EQ(test, cc->conn->peer_rkey, 0x77U);
	smc_failover_queue(one->lgr);
	flush_work(&one->lgr->move_work);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc->conn->link), one);
	KUNIT_EXPECT_EQ(test, cc->nr_moved, 0);
}

/* The path between the interfaces of TCP is cut; another path works. */
static void lg_01_sc_03_a_group_is_joined_over_any_link_that_is_left(struct kunit *test)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER), other = key;
	struct smc_ib_end end = { .dev = &core_dev[1], .port = 1, .mac = { 7 } };
	struct smc_ib_peer peer = core_peer(0x99);
	struct smc_link *one = core_server_up(test);
	struct smc_link_group *lgr = one->lgr;
	struct smc_link *two;
	bool is_first = true;

	two = smc_link_create_at(lgr, &end, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(two));
	peer.mac[5] = 7;
	KUNIT_ASSERT_EQ(test, smc_link_connect(two, &peer), 0);
	/* not before RDMA is proved to work there */
	other.peer_mac[5] = 7;
	KUNIT_EXPECT_PTR_NE(test, core_reserve(test, &other, &end, &is_first), lgr);
	mutex_lock(&lgr->lock);
	smc_link_set_state(two, SMC_LINK_ACTIVE);
	mutex_unlock(&lgr->lock);

	core_lose(one);
	KUNIT_EXPECT_PTR_EQ(test, core_reserve(test, &key, &core_end, &is_first), lgr);
	KUNIT_EXPECT_FALSE(test, is_first);
	smc_link_destroy(one);
	KUNIT_EXPECT_PTR_EQ(test, core_reserve(test, &key, &core_end, &is_first), lgr);
	KUNIT_EXPECT_FALSE(test, is_first);
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_pick_link(lgr), two);
	/* two ends without a link between them, though each has a link to another */
	KUNIT_EXPECT_PTR_NE(test, core_reserve(test, &key, &end, &is_first), lgr);
	KUNIT_EXPECT_TRUE(test, is_first);
	/* nor when no link is left */
	core_lose(two);
	other = key;
	other.peer_addr.s6_addr[15]++;
	KUNIT_EXPECT_PTR_NE(test, core_reserve(test, &other, &core_end, &is_first), lgr);
	KUNIT_EXPECT_TRUE(test, is_first);
}

/* After one first contact: each waited for its region with the same link in mind. */
static void lb_03_a_crowd_is_spread(struct kunit *test)
{
	struct smc_link *one = core_server_up(test);
	struct smc_link *two = core_second(test, one);
	struct core_conn *cc[6];
	int i;

	cc[0] = core_join(test, one);
	for (i = 1; i < 6; i++)
		cc[i] = core_new_conn(test, one->lgr);
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_pick_link(one->lgr), two);
	for (i = 1; i < 6; i++) {
		smc_lgr_get(one->lgr);
		spin_lock_bh(&one->lgr->state_lock);
		one->lgr->nr_conns++;
		spin_unlock_bh(&one->lgr->state_lock);
		KUNIT_EXPECT_EQ(test, smc_conn_join(cc[i]->conn, one->lgr, NULL), 0);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&one->nr_conns), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&two->nr_conns), 3);
}

/* A link has come up. */
static unsigned long core_spread(struct smc_link_group *lgr)
{
	unsigned long links;

	mutex_lock(&lgr->lock);
	links = smc_failover_spread(lgr, BIT(SMC_LINKS_MAX) - 1);
	mutex_unlock(&lgr->lock);
	return links;
}

/* The peer has processed all that was sent on the link. */
static void core_drained(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	mutex_lock(&lgr->lock);
	smc_failover_link_drained(link);
	mutex_unlock(&lgr->lock);
	flush_work(&lgr->move_work);
}

static void lb_03_lb_04_links_share_the_load(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link_group *lgr = one->lgr;
	struct core_conn *cc[5];
	struct smc_link *two;
	int i;

	for (i = 0; i < 5; i++)
		cc[i] = core_join(test, one);
	two = core_second(test, one);
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_pick_link(lgr), two);
	/* not for any event */
	smc_failover_queue(lgr);
	flush_work(&lgr->move_work);
	KUNIT_EXPECT_EQ(test, atomic_read(&one->nr_conns), 5);
	/* nor before it is open */
	KUNIT_EXPECT_EQ(test, core_spread(lgr), 0);
	for (i = 0; i < 5; i++)
		smc_conn_open(cc[i]->conn);
	KUNIT_EXPECT_EQ(test, core_spread(lgr), BIT(one->index));
	/* others already do */
	KUNIT_EXPECT_EQ(test, core_spread(lgr), 0);
	core_drained(one);
	KUNIT_EXPECT_EQ(test, atomic_read(&one->nr_conns), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&two->nr_conns), 2);
	KUNIT_EXPECT_PTR_EQ(test, smc_lgr_pick_link(lgr), two);
	KUNIT_EXPECT_EQ(test, core_spread(lgr), 0);
}

/* A message is posted. */
static void core_post_msg(struct core_conn *cc)
{
	spin_lock_bh(&cc->conn->lock);
	cc->conn->tx_inflight++;
	cc->conn->ctl.tx_seq++;
	spin_unlock_bh(&cc->conn->lock);
}

/* The peer's RNIC has acknowledged all of it. */
static void core_complete_msg(struct core_conn *cc)
{
	while (cc->conn->tx_inflight)
		core_tx_done(cc->conn, cc->conn->ctl.tx_seq, 0, true);
}

/* Four connections on one link, all with messages sent, and a second link comes up. */
static struct smc_link *core_crowd(struct kunit *test, struct core_conn *cc[4])
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct smc_link *two = core_second(test, one);
	int i;

	core_know_both(test, one, two);
	for (i = 0; i < 4; i++) {
		cc[i] = core_join(test, one);
		KUNIT_ASSERT_EQ(test, core_set_peer(cc[i], 0x77, 0x10000, i + 1), 0);
		smc_conn_open(cc[i]->conn);
		core_post_msg(cc[i]);
		core_complete_msg(cc[i]);
	}
	return two;
}

static bool core_is_on(const struct core_conn *cc, const struct smc_link *link)
{
	return rcu_access_pointer(cc->conn->link) == link;
}

/* Completed messages are in a queue of the peer, which may process the next link's queue first. */
static void lb_01_fail_10_fail_19_a_share_moves_when_the_peer_has_seen_all(struct kunit *test)
{
	struct core_conn *cc[4];
	struct smc_link *two = core_crowd(test, cc);
	struct smc_link_group *lgr = two->lgr;
	struct smc_link *one = lgr->links[0];
	int i;

	mutex_lock(&lgr->lock);
	KUNIT_EXPECT_EQ(test, smc_failover_spread(lgr, BIT(two->index)), 0);
	mutex_unlock(&lgr->lock);
	KUNIT_EXPECT_EQ(test, core_spread(lgr), BIT(one->index));
	smc_failover_queue(lgr);
	core_drained(two);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, core_is_on(cc[i], one));
		/* the others are not held back */
		KUNIT_EXPECT_EQ(test, cc[i]->conn->phase,
				i < 2 ? SMC_CONN_LEAVING : SMC_CONN_OPEN);
	}
	core_drained(one);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, core_is_on(cc[i], i < 2 ? two : one));
		KUNIT_EXPECT_EQ(test, cc[i]->conn->phase,
				i < 2 ? SMC_CONN_VALIDATING : SMC_CONN_OPEN);
		KUNIT_EXPECT_EQ(test, cc[i]->nr_moved, i < 2);
	}
	KUNIT_EXPECT_EQ(test, core_spread(lgr), 0);
}

/* The peer's answer may arrive before the completion of the messages it covers. */
static void lb_04_fail_04_probed_connection_moves_after_completion(struct kunit *test)
{
	struct core_conn *cc[4];
	struct smc_link *two = core_crowd(test, cc);
	struct smc_link_group *lgr = two->lgr;
	int i;

	for (i = 0; i < 4; i++)
		core_post_msg(cc[i]);
	KUNIT_EXPECT_EQ(test, core_spread(lgr), BIT(0));
	core_drained(lgr->links[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&two->nr_conns), 0);
	for (i = 0; i < 4; i++)
		core_complete_msg(cc[i]);
	flush_work(&lgr->move_work);
	KUNIT_EXPECT_EQ(test, atomic_read(&two->nr_conns), 2);
}

/* The new link is lost before the connections have left the old one. */
static void lb_04_fail_01_connections_go_on_where_they_are(struct kunit *test)
{
	struct core_conn *cc[4];
	struct smc_link *two = core_crowd(test, cc);
	struct smc_link_group *lgr = two->lgr;
	struct smc_link *one = lgr->links[0];

	core_post_msg(cc[0]);
	KUNIT_EXPECT_EQ(test, core_spread(lgr), BIT(0));
	core_lose(two);
	KUNIT_EXPECT_EQ(test, cc[0]->conn->phase, SMC_CONN_LEAVING);
	KUNIT_EXPECT_EQ(test, cc[1]->conn->phase, SMC_CONN_VALIDATING);
	core_complete_msg(cc[0]);
	flush_work(&lgr->move_work);
	KUNIT_EXPECT_EQ(test, cc[0]->conn->phase, SMC_CONN_VALIDATING);
	KUNIT_EXPECT_EQ(test, atomic_read(&one->nr_conns), 4);
}

/* All connections leave a lost link at once, also those that were to wait. */
static void fail_01_fail_04_a_lost_link_is_left_at_once(struct kunit *test)
{
	struct core_conn *cc[4];
	struct smc_link *two = core_crowd(test, cc);
	struct smc_link *one = two->lgr->links[0];
	int i;

	KUNIT_EXPECT_EQ(test, core_spread(two->lgr), BIT(0));
	core_post_msg(cc[0]);
	core_lose(one);
	KUNIT_EXPECT_EQ(test, cc[0]->conn->phase, SMC_CONN_LEAVING);
	for (i = 1; i < 4; i++)
		KUNIT_EXPECT_TRUE(test, core_is_on(cc[i], two));
	core_complete_msg(cc[0]);
	flush_work(&two->lgr->move_work);
	KUNIT_EXPECT_EQ(test, atomic_read(&two->nr_conns), 4);
}

/* A link is given up in good order: from now on no connection posts there. */
static void core_quiesce(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	mutex_lock(&lgr->lock);
	smc_link_set_state(link, SMC_LINK_DELETING);
	smc_failover_quiesce(link);
	mutex_unlock(&lgr->lock);
}

static void core_clear(struct smc_link *link)
{
	struct smc_link_group *lgr = link->lgr;

	mutex_lock(&lgr->lock);
	smc_link_set_state(link, SMC_LINK_INACTIVE);
	smc_failover_queue(lgr);
	mutex_unlock(&lgr->lock);
	flush_work(&lgr->move_work);
}

/* The link was quiesced during set-up: after it opens, nothing may overtake the TEST LINK. */
static void fc_12_fail_19_opened_connection_leaves_a_quiesced_link(struct kunit *test)
{
	struct smc_link *one = core_client_up(test, 0x11);
	struct core_conn *cc = core_join(test, one);
	struct smc_link *two;

	core_quiesce(one);
	flush_work(&one->lgr->move_work);
	KUNIT_EXPECT_EQ(test, cc->conn->phase, SMC_CONN_SETUP);
	smc_conn_open(cc->conn);
	KUNIT_EXPECT_EQ(test, cc->conn->phase, SMC_CONN_LEAVING);
	two = core_second(test, one);
	core_clear(one);
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc->conn->link), two);
	KUNIT_EXPECT_EQ(test, cc->conn->phase, SMC_CONN_VALIDATING);
}

/* Illegal transitions change nothing. */
static void a_phase_is_followed_by_legal_ones_only(struct kunit *test)
{
	static const u8 illegal[SMC_CONN_NR_PHASES] = {
		/* nothing was posted: it moves at once, and needs no validation */
		[SMC_CONN_SETUP] = BIT(SMC_CONN_LEAVING) | BIT(SMC_CONN_VALIDATING) |
				   BIT(SMC_CONN_REPLAYING),
		[SMC_CONN_OPEN] = BIT(SMC_CONN_SETUP) | BIT(SMC_CONN_REPLAYING),
		/* only F may come first on another link */
		[SMC_CONN_LEAVING] = BIT(SMC_CONN_SETUP) | BIT(SMC_CONN_OPEN) |
				     BIT(SMC_CONN_REPLAYING),
		[SMC_CONN_VALIDATING] = BIT(SMC_CONN_SETUP),
		[SMC_CONN_REPLAYING] = BIT(SMC_CONN_SETUP),
		[SMC_CONN_LEFT] = BIT(SMC_CONN_LEFT) - 1,
	};
	struct core_conn *cc = core_join(test, core_client_up(test, 0x11));
	struct smc_conn *conn = cc->conn;
	unsigned int from, to;

	spin_lock_bh(&conn->lock);
	for (from = 0; from < SMC_CONN_NR_PHASES; from++) {
		for (to = 0; to < SMC_CONN_NR_PHASES; to++) {
			bool may = from != to && !(illegal[from] & BIT(to));

			conn->phase = from;
			KUNIT_EXPECT_EQ_MSG(test, smc_conn_set_phase(conn, to), may,
					    "from %u to %u", from, to);
			KUNIT_EXPECT_EQ(test, conn->phase, may ? to : from);
		}
	}
	conn->phase = SMC_CONN_SETUP;
	spin_unlock_bh(&conn->lock);
}

static void fail_10_fail_19_a_link_given_up_is_left_when_it_is_clear(struct kunit *test)
{
	struct core_conn *cc[4];
	struct smc_link *two = core_crowd(test, cc);
	struct smc_link *one = two->lgr->links[0];
	int i;

	for (i = 0; i < 4; i++)
		core_post_msg(cc[i]);
	for (i = 0; i < 3; i++)
		core_complete_msg(cc[i]);
	core_quiesce(one);
	/* at once, before the next message is posted */
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, cc[i]->conn->phase, SMC_CONN_LEAVING);
	flush_work(&two->lgr->move_work);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc[i]->conn->link), one);
		KUNIT_EXPECT_EQ(test, cc[i]->conn->phase, SMC_CONN_LEAVING);
	}
	/* messages in flight are waited for as well */
	core_clear(one);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc[i]->conn->link), two);
		KUNIT_EXPECT_EQ(test, cc[i]->conn->phase, SMC_CONN_VALIDATING);
	}
	KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(cc[3]->conn->link), one);
	core_complete_msg(cc[3]);
	flush_work(&two->lgr->move_work);
	KUNIT_EXPECT_EQ(test, atomic_read(&two->nr_conns), 4);
}

#define CORE_CROWD	(SMC_KUNIT_CROWD / 10)

/* As much of a group as a search or a walk reads, with a peer of its own. */
static struct smc_link_group *core_enlist_stub(u32 id)
{
	size_t size = offsetof(struct smc_link_group, conns);
	struct smc_link_group *lgr;
	bool is_listed;

	/* the compiler knows the size of the struct */
	OPTIMIZER_HIDE_VAR(size);
	lgr = kzalloc(size, GFP_KERNEL);
	if (!lgr)
		return NULL;
	lgr->key = core_key(SMC_ROLE_SERVER);
	put_unaligned_be32(id, lgr->key.peer_id);
	lgr->key.peer_addr.s6_addr32[2] = cpu_to_be32(id);
	INIT_LIST_HEAD(&lgr->idle_node);
	lgr->state = SMC_LGR_ACTIVE;
	refcount_set(&lgr->refs, 1);
	lgr->serial = atomic64_add_return(SMC_LGR_ID_STEP, &smc_lgr_last_serial);
	if (xa_reserve(&smc_lgrs, lgr_index(lgr->serial), GFP_KERNEL)) {
		kfree(lgr);
		return NULL;
	}
	xa_lock(&smc_lgrs);
	is_listed = lgr_enlist(lgr);
	xa_unlock(&smc_lgrs);
	if (is_listed)
		return lgr;
	xa_release(&smc_lgrs, lgr_index(lgr->serial));
	kfree(lgr);
	return NULL;
}

static void core_delist_stubs(struct smc_link_group **stubs, unsigned int nr)
{
	unsigned int i;

	xa_lock(&smc_lgrs);
	for (i = 0; i < nr; i++) {
		hash_del_rcu(&stubs[i]->node);
		hash_del(&stubs[i]->peer_node);
		__xa_erase(&smc_lgrs, lgr_index(stubs[i]->serial));
		atomic_dec(&smc_net(&init_net)->nr_lgrs);
		atomic_dec(&smc_lgr_count);
	}
	xa_unlock(&smc_lgrs);
	synchronize_rcu();
	for (i = 0; i < nr; i++)
		kfree(stubs[i]);
}

/* The place of one connection, taken and given back: counted, and measured for the log. */
static void core_measure_place(struct kunit *test, unsigned int nr)
{
	struct smc_lgr_key key = core_key(SMC_ROLE_SERVER);
	struct smc_link_group *lgr, *forming;
	unsigned int i, rounds = 50;
	u64 begin = ktime_get_ns();
	bool is_first = true;

	core_nr_compared = 0;
	for (i = 0; i < rounds; i++) {
		lgr = smc_lgr_reserve(&key, &core_end, &is_first, &forming);
		KUNIT_ASSERT_FALSE(test, IS_ERR(lgr));
		smc_lgr_unreserve(lgr);
	}
	kunit_info(test, "%u groups: %llu ns for a place", nr,
		   div_u64(ktime_get_ns() - begin, rounds));
	KUNIT_EXPECT_FALSE(test, is_first);
	/* the group itself, and others in its slot of the hash */
	KUNIT_EXPECT_GE(test, core_nr_compared, rounds);
	KUNIT_EXPECT_LE(test, core_nr_compared, 16 * rounds);
}

static void one_more_connection_costs_the_same_with_any_number_of_groups(struct kunit *test)
{
	static const unsigned int crowds[] = { 1, 100, CORE_CROWD };
	struct smc_ib_peer nowhere = core_peer(0x33);
	struct smc_lgr_key key = core_key(SMC_ROLE_CLIENT);
	struct smc_link_group **stubs;
	unsigned int i, nr = 0;

	stubs = kvcalloc(CORE_CROWD, sizeof(*stubs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stubs);
	core_server_up(test);
	for (i = 0; i < ARRAY_SIZE(crowds); i++) {
		while (nr < crowds[i] - 1) {
			stubs[nr] = core_enlist_stub(nr);
			if (!stubs[nr])
				break;
			nr++;
		}
		KUNIT_EXPECT_EQ(test, nr, crowds[i] - 1);
		core_measure_place(test, crowds[i]);
		/* a search that finds none does not look at all either */
		core_nr_compared = 0;
		KUNIT_EXPECT_NULL(test, smc_lgr_find_link(&key, &nowhere));
		KUNIT_EXPECT_LE(test, core_nr_compared, 16);
	}
	/* a dump continues behind the last group that it has shown */
	core_nr_steps = 0;
	KUNIT_EXPECT_NULL(test, smc_lgr_next(&init_net, NULL, stubs[nr - 1]->serial));
	KUNIT_EXPECT_EQ(test, core_nr_steps, 1);
	core_delist_stubs(stubs, nr);
	kvfree(stubs);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(fc_01_first_contact_where_no_group_is_usable),
	KUNIT_CASE(pid_05_no_attempt_waits_for_another_peer),
	KUNIT_CASE(waiters_learn_that_first_contact_failed),
	KUNIT_CASE(a_group_that_is_up_does_not_fail),
	KUNIT_CASE_PARAM(lg_03_rmb_05_one_peer_role_and_vlan, core_match_gen_params),
	KUNIT_CASE_PARAM(lg_04_fc_02_a_routed_link_has_its_own_way, core_way_gen_params),
	KUNIT_CASE(lg_06_pg_01_a_client_goes_where_the_server_says),
	KUNIT_CASE(lg_23_maxl_02_no_more_connections_than_the_peer_has_agreed_to),
	KUNIT_CASE(rmb_19_lg_23_pg_06_only_a_full_group_gets_a_parallel_one),
	KUNIT_CASE(pg_04_rmb_05_groups_share_no_rmbs),
	KUNIT_CASE(lg_02_a_link_is_known_by_gid_mac_and_qpn),
	KUNIT_CASE(lid_03_a_link_never_connected_can_be_given_up),
	KUNIT_CASE(rkey_02_rmbs_suit_the_least_of_the_rnics),
	KUNIT_CASE(rmb_02_a_region_that_cannot_be_mapped_is_halved),
	KUNIT_CASE(rkey_02_regions_suit_all_rnics_of_the_host),
	KUNIT_CASE(lgt_02_of_too_many_empty_groups_the_oldest_end),
	KUNIT_CASE(a_peer_has_a_limited_number_of_groups),
	KUNIT_CASE(at_the_limit_of_the_host_an_idle_group_ends),
	KUNIT_CASE(a_group_and_its_queues_count_in_the_limit_of_the_host),
	KUNIT_CASE(the_payer_of_a_group_pays_for_the_queues_of_its_links),
	KUNIT_CASE(err_57_attempts_that_fail_leave_nothing_behind),
	KUNIT_CASE(err_59_a_group_does_not_keep_links_without_end),
	KUNIT_CASE(lgt_02_an_empty_group_serves_the_next),
	KUNIT_CASE(lgt_04_an_ending_group_takes_no_connection),
	KUNIT_CASE(rmb_32_a_token_names_one_connection),
	KUNIT_CASE(rmb_33_a_stale_token_finds_no_connection),
	KUNIT_CASE(rmb_33_an_index_of_a_lost_connection_stays_unused),
	KUNIT_CASE(rmb_33_indexes_do_not_run_out),
	KUNIT_CASE(rmb_12_rmb_14_an_element_begins_with_the_eye_catcher),
	KUNIT_CASE(rmb_15_rmb_20_its_owner_leaves_an_element_alone),
	KUNIT_CASE(a_ring_with_messages_in_flight_goes_with_the_last),
	KUNIT_CASE(a_connection_outlives_its_socket),
	KUNIT_CASE(a_connection_goes_with_its_socket),
	KUNIT_CASE(what_is_unread_stays_until_it_is_read),
	KUNIT_CASE(abrt_13_an_unread_element_that_is_lost_stays_so),
	KUNIT_CASE(unreadable_data_goes_at_once),
	KUNIT_CASE(rmb_13_what_the_peer_wrote_is_zeroed),
	KUNIT_CASE(rmb_14_a_reused_element_gets_it_again),
	KUNIT_CASE(rmb_16_each_damage_of_the_eye_catcher_shows),
	KUNIT_CASE(rmb_29_sc_07_an_element_in_use_is_noticed),
	KUNIT_CASE(rmb_30_rmb_31_the_old_connection_goes_the_new_one_proceeds),
	KUNIT_CASE(rmb_30_a_writer_to_a_deleted_rmb_is_cut_off),
	KUNIT_CASE(rmb_24_after_our_close_a_deletion_is_the_peers_close),
	KUNIT_CASE(rmb_29_a_deleted_rmb_takes_no_claim_along),
	KUNIT_CASE(rkey_24_an_unannounced_rmb_is_out_of_sync),
	KUNIT_CASE(an_element_that_cannot_be_is_refused),
	KUNIT_CASE(peer_03_the_end_of_a_group_cuts_its_connections),
	KUNIT_CASE(abrt_13_an_element_the_peer_may_write_to_stays_unused),
	KUNIT_CASE(rkey_02_a_link_that_needs_copies_is_no_second_one),
	KUNIT_CASE(rkey_02_a_link_in_use_is_the_one_that_needs_no_copy),
	KUNIT_CASE(rkey_02_an_rmb_is_known_on_every_link_that_works),
	KUNIT_CASE(rkey_02_an_rmb_that_a_new_link_knows_is_no_obstacle),
	KUNIT_CASE(rmb_24_a_link_frees_its_own_regions),
	KUNIT_CASE(fail_01_fail_16_connections_leave_a_link_that_is_lost),
	KUNIT_CASE(rkey_22_the_peer_may_tell_by_another_link_than_ours),
	KUNIT_CASE(fail_04_what_is_in_flight_ends_first),
	KUNIT_CASE(api_04_a_round_trip_is_measured_by_one_message_at_a_time),
	KUNIT_CASE(close_08_data_alone_is_waited_for),
	KUNIT_CASE(close_02_fail_12_the_last_word_is_owed_until_it_is_there),
	KUNIT_CASE(rmb_30_close_02_nothing_is_owed_to_a_deleted_rmb),
	KUNIT_CASE(no_connection_waits_on_a_stopped_link),
	KUNIT_CASE(fail_02_a_moving_connection_waits_on_the_new_link),
	KUNIT_CASE(lg_21_a_link_without_the_peers_key_is_not_chosen),
	KUNIT_CASE(fail_10_each_message_that_is_due_has_its_time),
	KUNIT_CASE(fail_01_without_any_link_a_connection_waits),
	KUNIT_CASE(a_younger_group_shows_that_there_is_a_path),
	KUNIT_CASE(sc_05_err_13_a_link_that_is_being_left_is_still_known),
	KUNIT_CASE(err_13_amb_33_a_link_gone_lately_is_not_out_of_sync),
	KUNIT_CASE(amb_06_a_link_that_is_being_left_makes_no_group_stale),
	KUNIT_CASE(err_07_sc_10_a_confirm_may_name_a_link_just_lost),
	KUNIT_CASE(lb_02_sc_09_each_direction_has_a_link_of_its_own),
	KUNIT_CASE(lg_01_sc_03_a_group_is_joined_over_any_link_that_is_left),
	KUNIT_CASE(lb_03_a_crowd_is_spread),
	KUNIT_CASE(lb_03_lb_04_links_share_the_load),
	KUNIT_CASE(lb_01_fail_10_fail_19_a_share_moves_when_the_peer_has_seen_all),
	KUNIT_CASE(lb_04_fail_04_probed_connection_moves_after_completion),
	KUNIT_CASE(lb_04_fail_01_connections_go_on_where_they_are),
	KUNIT_CASE(fail_01_fail_04_a_lost_link_is_left_at_once),
	KUNIT_CASE(fail_10_fail_19_a_link_given_up_is_left_when_it_is_clear),
	KUNIT_CASE(fc_12_fail_19_opened_connection_leaves_a_quiesced_link),
	KUNIT_CASE(a_phase_is_followed_by_legal_ones_only),
	KUNIT_CASE_SLOW(one_more_connection_costs_the_same_with_any_number_of_groups),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_core",
	.suite_init = core_suite_init,
	.suite_exit = core_suite_exit,
	.init = core_test_init,
	.exit = core_test_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
