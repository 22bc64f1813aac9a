// SPDX-License-Identifier: GPL-2.0
/*
 * Two ends of this host find each other in the table, and no third one finds them. Either may
 * leave at any time. The pair and the work item of the handshake are faked.
 */
#include "smc_kunit.h"

#include <net/tcp.h>

#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/group/smc_pair.h"
#include "../../../net/smc/sock/smc_sock.h"

/* Two namespaces with a setting each. */
static struct net *meet_nets[2];
static struct smc_pernet meet_settings[2];

static struct smc_pernet *meet_net(const struct net *net)
{
	return &meet_settings[net == meet_nets[1]];
}

static unsigned int meet_nr_put;
static struct smc_sock *meet_queued;

static void meet_put(struct smc_pair *pair)
{
	meet_nr_put++;
}

static void meet_queue(struct smc_sock *smc)
{
	meet_queued = smc;
}

#define smc_net			meet_net
#define smc_pair_put		meet_put
#define smc_sock_queue		meet_queue

#include "../../../net/smc/sock/smc_meet.c"

/* Never dereferenced. */
#define MEET_PAIR ((struct smc_pair *)&meet_nr_put)

struct meet_end {
	struct smc_sock smc;
	struct tcp_sock tp;
};

/* A client, its server's child, the request of that child, and a stranger. */
struct meet_lab {
	struct meet_end client;
	struct meet_end server;
	struct meet_end other;
	struct tcp_request_sock req;
	struct net nets[2];
};

static struct smc_sock *meet_client(struct kunit *test)
{
	return &((struct meet_lab *)test->priv)->client.smc;
}

static struct smc_sock *meet_server(struct kunit *test)
{
	return &((struct meet_lab *)test->priv)->server.smc;
}

static void meet_number(struct meet_end *end, u32 own, u32 peers)
{
	end->smc.sk = (struct sock *)&end->tp;
	end->tp.write_seq = own;
	end->tp.copied_seq = peers;
	sock_net_set(end->smc.sk, meet_nets[0]);
}

static int meet_init(struct kunit *test)
{
	struct meet_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	if (!lab)
		return -ENOMEM;
	test->priv = lab;
	meet_nets[0] = &lab->nets[0];
	meet_nets[1] = &lab->nets[1];
	meet_settings[0].set = (struct smc_settings){ .memory = SMC_MEMORY_NET, .rmem = 262144 };
	meet_settings[1].set = meet_settings[0].set;
	/* the first number of the stream follows that of the SYN, and wraps */
	lab->req.rcv_isn = 0xffffffff;
	lab->req.snt_isn = 0x11112222;
	meet_number(&lab->client, 0, 0x11112223);
	meet_number(&lab->server, 0x11112223, 0);
	meet_number(&lab->other, 0, 0x11112223);
	meet_nr_put = 0;
	meet_queued = NULL;
	return 0;
}

static void meet_exit(struct kunit *test)
{
	struct meet_lab *lab = test->priv;

	smc_meet_leave(&lab->server.smc);
	smc_meet_leave(&lab->client.smc);
	smc_meet_leave(&lab->other.smc);
	KUNIT_EXPECT_EQ(test, smc_meet_nr, 0);
	KUNIT_EXPECT_TRUE(test, hash_empty(smc_meet_table));
}

static void meet_bear(struct kunit *test, const struct net *net)
{
	smc_meet_birth((struct request_sock *)&((struct meet_lab *)test->priv)->req, net);
}

/* Lead both ends to a state of the client. */
static void meet_reach(struct kunit *test, enum smc_meet_state state)
{
	struct smc_sock *client = meet_client(test), *server = meet_server(test);

	KUNIT_ASSERT_TRUE(test, smc_meet_enter(client));
	if (state >= SMC_MEET_MET)
		meet_bear(test, meet_nets[0]);
	if (state >= SMC_MEET_TAKEN) {
		KUNIT_ASSERT_TRUE(test, smc_meet_expect(server));
		KUNIT_ASSERT_TRUE(test, smc_meet_take(server, MEET_PAIR));
	}
	if (state >= SMC_MEET_JOINED) {
		KUNIT_ASSERT_PTR_EQ(test, smc_meet_fetch(client), MEET_PAIR);
		KUNIT_ASSERT_TRUE(test, smc_meet_confirm(client));
	}
	KUNIT_ASSERT_EQ(test, smc_meet_get_state(client), state);
	meet_queued = NULL;
}

static void both_ends_meet_and_connect_ends_first(struct kunit *test)
{
	struct smc_sock *client = meet_client(test), *server = meet_server(test);
	u32 size = 0;

	KUNIT_ASSERT_TRUE(test, smc_meet_enter(client));
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(client), SMC_MEET_OFFERED);
	meet_bear(test, meet_nets[0]);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(client), SMC_MEET_MET);
	KUNIT_EXPECT_NULL(test, meet_queued);

	KUNIT_EXPECT_TRUE(test, smc_meet_expect(server));
	KUNIT_EXPECT_TRUE(test, smc_meet_find(server, &size));
	KUNIT_EXPECT_EQ(test, size, SZ_1M);
	meet_queued = NULL;
	KUNIT_EXPECT_TRUE(test, smc_meet_take(server, MEET_PAIR));
	KUNIT_EXPECT_PTR_EQ(test, meet_queued, client);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(client), SMC_MEET_TAKEN);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(server), SMC_MEET_TAKEN);
	KUNIT_EXPECT_FALSE(test, smc_meet_find(server, &size));

	KUNIT_EXPECT_PTR_EQ(test, smc_meet_fetch(client), MEET_PAIR);
	meet_queued = NULL;
	KUNIT_EXPECT_TRUE(test, smc_meet_confirm(client));
	/* connect() has no outcome yet */
	KUNIT_EXPECT_NULL(test, meet_queued);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(server), SMC_MEET_JOINED);
	smc_meet_leave(client);
	KUNIT_EXPECT_PTR_EQ(test, meet_queued, server);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(server), SMC_MEET_DONE);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(client), SMC_MEET_NONE);
	smc_meet_leave(server);
	/* the client's reference is the caller's */
	KUNIT_EXPECT_EQ(test, meet_nr_put, 0);
}

/* TCP's work item of the child may be faster than the mark. */
static void a_child_may_take_a_client_before_the_mark(struct kunit *test)
{
	struct smc_sock *client = meet_client(test), *server = meet_server(test);

	KUNIT_ASSERT_TRUE(test, smc_meet_enter(client));
	KUNIT_EXPECT_TRUE(test, smc_meet_expect(server));
	KUNIT_EXPECT_TRUE(test, smc_meet_take(server, MEET_PAIR));
	meet_bear(test, meet_nets[0]);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(client), SMC_MEET_TAKEN);
}

static void a_child_born_before_has_no_effect(struct kunit *test)
{
	meet_bear(test, meet_nets[0]);
	KUNIT_EXPECT_FALSE(test, smc_meet_expect(meet_server(test)));
	KUNIT_ASSERT_TRUE(test, smc_meet_enter(meet_client(test)));
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(meet_client(test)), SMC_MEET_OFFERED);
	KUNIT_EXPECT_NULL(test, meet_queued);
}

static void a_key_belongs_to_the_first(struct kunit *test)
{
	struct meet_lab *lab = test->priv;

	KUNIT_ASSERT_TRUE(test, smc_meet_enter(&lab->client.smc));
	KUNIT_EXPECT_FALSE(test, smc_meet_enter(&lab->other.smc));
	/* nor twice, while the end of the last attempt is under way */
	KUNIT_EXPECT_FALSE(test, smc_meet_enter(&lab->client.smc));
	smc_meet_leave(&lab->client.smc);
	KUNIT_EXPECT_TRUE(test, smc_meet_enter(&lab->other.smc));
}

static void a_stranger_finds_nobody(struct kunit *test)
{
	struct meet_lab *lab = test->priv;
	u32 size;

	KUNIT_ASSERT_TRUE(test, smc_meet_enter(&lab->client.smc));
	lab->req.snt_isn++;
	meet_bear(test, meet_nets[0]);
	lab->req.snt_isn--;
	lab->req.rcv_isn++;
	meet_bear(test, meet_nets[0]);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(&lab->client.smc), SMC_MEET_OFFERED);
	meet_number(&lab->server, 0x11112224, 0);
	KUNIT_EXPECT_FALSE(test, smc_meet_expect(&lab->server.smc));
	KUNIT_EXPECT_FALSE(test, smc_meet_find(&lab->server.smc, &size));
	KUNIT_EXPECT_FALSE(test, smc_meet_take(&lab->server.smc, MEET_PAIR));
	smc_meet_refuse(&lab->server.smc);
	meet_number(&lab->server, 0x11112223, 1);
	KUNIT_EXPECT_FALSE(test, smc_meet_expect(&lab->server.smc));
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(&lab->client.smc), SMC_MEET_OFFERED);
	KUNIT_EXPECT_NULL(test, meet_queued);
}

/* A relay may copy the numbers: the second child with them comes too late. */
static void a_client_is_taken_once(struct kunit *test)
{
	struct meet_lab *lab = test->priv;

	meet_reach(test, SMC_MEET_TAKEN);
	meet_number(&lab->other, 0x11112223, 0);
	KUNIT_EXPECT_FALSE(test, smc_meet_expect(&lab->other.smc));
	KUNIT_EXPECT_FALSE(test, smc_meet_take(&lab->other.smc, MEET_PAIR));
	smc_meet_refuse(&lab->other.smc);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(&lab->client.smc), SMC_MEET_TAKEN);
}

struct meet_setting {
	const char *what;
	int client;
	int server;
	bool is_other;		/* the server has a namespace of its own */
	bool is_met;
};

static const struct meet_setting meet_rows[] = {
	{ "one namespace, off", SMC_MEMORY_OFF, SMC_MEMORY_OFF, false, false },
	{ "one namespace, inside", SMC_MEMORY_NET, SMC_MEMORY_NET, false, true },
	{ "one namespace, host", SMC_MEMORY_HOST, SMC_MEMORY_HOST, false, true },
	{ "two namespaces, 1 and 1", SMC_MEMORY_NET, SMC_MEMORY_NET, true, false },
	{ "two namespaces, 2 and 1", SMC_MEMORY_HOST, SMC_MEMORY_NET, true, false },
	{ "two namespaces, 1 and 2", SMC_MEMORY_NET, SMC_MEMORY_HOST, true, false },
	{ "two namespaces, 2 and 0", SMC_MEMORY_HOST, SMC_MEMORY_OFF, true, false },
	{ "two namespaces, 2 and 2", SMC_MEMORY_HOST, SMC_MEMORY_HOST, true, true },
};

static void meet_setting_desc(const struct meet_setting *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(meet_setting, meet_rows, meet_setting_desc);

static void both_namespaces_have_a_say(struct kunit *test)
{
	const struct meet_setting *row = test->param_value;
	struct smc_sock *client = meet_client(test), *server = meet_server(test);
	u32 size;

	meet_settings[0].set.memory = row->client;
	meet_settings[row->is_other].set.memory = row->server;
	sock_net_set(server->sk, meet_nets[row->is_other]);
	KUNIT_ASSERT_TRUE(test, smc_meet_enter(client));
	/* the child may come to its handshake before the mark */
	KUNIT_EXPECT_EQ(test, smc_meet_expect(server), row->is_met);
	meet_bear(test, sock_net(server->sk));
	KUNIT_EXPECT_PTR_EQ(test, meet_queued, row->is_met ? NULL : client);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(client),
			row->is_met ? SMC_MEET_MET : SMC_MEET_REFUSED);
	KUNIT_EXPECT_EQ(test, smc_meet_find(server, &size), row->is_met);
	KUNIT_EXPECT_EQ(test, smc_meet_take(server, MEET_PAIR), row->is_met);
}

/* A setting that changes meanwhile counts until the server has taken the client. */
static void a_setting_counts_until_the_end(struct kunit *test)
{
	meet_reach(test, SMC_MEET_MET);
	KUNIT_EXPECT_TRUE(test, smc_meet_expect(meet_server(test)));
	meet_settings[0].set.memory = SMC_MEMORY_OFF;
	KUNIT_EXPECT_FALSE(test, smc_meet_take(meet_server(test), MEET_PAIR));
}

static void a_server_may_refuse(struct kunit *test)
{
	struct smc_sock *client = meet_client(test), *server = meet_server(test);

	meet_reach(test, SMC_MEET_MET);
	KUNIT_EXPECT_TRUE(test, smc_meet_expect(server));
	smc_meet_refuse(server);
	KUNIT_EXPECT_PTR_EQ(test, meet_queued, client);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(client), SMC_MEET_REFUSED);
	KUNIT_EXPECT_FALSE(test, smc_meet_expect(server));
	/* and nothing changes afterwards */
	smc_meet_refuse(server);
	KUNIT_EXPECT_FALSE(test, smc_meet_take(server, MEET_PAIR));
	KUNIT_EXPECT_TRUE(test, smc_meet_withdraw(client));
}

struct meet_parting {
	const char *what;
	enum smc_meet_state at;
	bool is_server;			/* it leaves */
	bool may_withdraw;
	enum smc_meet_state then;	/* the other end sees */
	unsigned int nr_put;
};

static const struct meet_parting meet_partings[] = {
	{ "client, offered", SMC_MEET_OFFERED, false, true, SMC_MEET_NONE, 0 },
	{ "client, met", SMC_MEET_MET, false, true, SMC_MEET_NONE, 0 },
	{ "client, taken", SMC_MEET_TAKEN, false, false, SMC_MEET_REFUSED, 1 },
	{ "client, joined", SMC_MEET_JOINED, false, false, SMC_MEET_DONE, 0 },
	{ "server, met", SMC_MEET_MET, true, true, SMC_MEET_MET, 0 },
	{ "server, taken", SMC_MEET_TAKEN, true, true, SMC_MEET_REFUSED, 1 },
	{ "server, joined", SMC_MEET_JOINED, true, false, SMC_MEET_JOINED, 0 },
};

static void meet_parting_desc(const struct meet_parting *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(meet_parting, meet_partings, meet_parting_desc);

static void either_end_may_leave_in_each_state(struct kunit *test)
{
	const struct meet_parting *row = test->param_value;
	struct smc_sock *client = meet_client(test), *server = meet_server(test);
	struct smc_sock *one = row->is_server ? server : client;
	struct smc_sock *other = row->is_server ? client : server;

	meet_reach(test, row->at);
	smc_meet_leave(one);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(one), SMC_MEET_NONE);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(other), row->then);
	KUNIT_EXPECT_PTR_EQ(test, meet_queued, row->at < SMC_MEET_TAKEN ? NULL : other);
	/* a pair that nobody fetched */
	KUNIT_EXPECT_EQ(test, meet_nr_put, row->nr_put);
	/* what is left has nobody to tell */
	meet_queued = NULL;
	KUNIT_EXPECT_EQ(test, smc_meet_confirm(client), false);
	smc_meet_leave(one);
	smc_meet_leave(other);
	KUNIT_EXPECT_NULL(test, meet_queued);
	KUNIT_EXPECT_EQ(test, meet_nr_put, row->nr_put);
}

static void an_end_that_is_counted_on_stays(struct kunit *test)
{
	const struct meet_parting *row = test->param_value;
	struct smc_sock *one = row->is_server ? meet_server(test) : meet_client(test);

	meet_reach(test, row->at);
	KUNIT_EXPECT_EQ(test, smc_meet_withdraw(one), row->may_withdraw);
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(one), row->may_withdraw ? SMC_MEET_NONE : row->at);
}

/* Of a client that has fetched the pair and then finds its server gone. */
static void a_server_that_leaves_meanwhile_is_noticed(struct kunit *test)
{
	struct smc_sock *client = meet_client(test);

	meet_reach(test, SMC_MEET_TAKEN);
	KUNIT_EXPECT_PTR_EQ(test, smc_meet_fetch(client), MEET_PAIR);
	smc_meet_leave(meet_server(test));
	KUNIT_EXPECT_FALSE(test, smc_meet_confirm(client));
	KUNIT_EXPECT_EQ(test, smc_meet_get_state(client), SMC_MEET_REFUSED);
	KUNIT_EXPECT_EQ(test, meet_nr_put, 0);
	KUNIT_EXPECT_NULL(test, smc_meet_fetch(client));
}

static void a_ring_has_the_size_of_the_reader(struct kunit *test)
{
	struct sock *sk = meet_client(test)->sk;

	KUNIT_EXPECT_EQ(test, smc_meet_ring_size(sk), SZ_1M);
	sk->sk_userlocks = SOCK_RCVBUF_LOCK;
	sk->sk_rcvbuf = 2 * 131072;
	KUNIT_EXPECT_EQ(test, smc_meet_ring_size(sk), 131072);
	sk->sk_rcvbuf = 2 * 300000;
	KUNIT_EXPECT_EQ(test, smc_meet_ring_size(sk), 524288);
	sk->sk_rcvbuf = 2304;
	KUNIT_EXPECT_EQ(test, smc_meet_ring_size(sk), 65536);
}

static struct kunit_case meet_cases[] = {
	KUNIT_CASE(both_ends_meet_and_connect_ends_first),
	KUNIT_CASE(a_child_may_take_a_client_before_the_mark),
	KUNIT_CASE(a_child_born_before_has_no_effect),
	KUNIT_CASE(a_key_belongs_to_the_first),
	KUNIT_CASE(a_stranger_finds_nobody),
	KUNIT_CASE(a_client_is_taken_once),
	KUNIT_CASE_PARAM(both_namespaces_have_a_say, meet_setting_gen_params),
	KUNIT_CASE(a_setting_counts_until_the_end),
	KUNIT_CASE(a_server_may_refuse),
	KUNIT_CASE_PARAM(either_end_may_leave_in_each_state, meet_parting_gen_params),
	KUNIT_CASE_PARAM(an_end_that_is_counted_on_stays, meet_parting_gen_params),
	KUNIT_CASE(a_server_that_leaves_meanwhile_is_noticed),
	KUNIT_CASE(a_ring_has_the_size_of_the_reader),
	{}
};

static struct kunit_suite meet_suite = {
	.name = "smc_meet",
	.init = meet_init,
	.exit = meet_exit,
	.test_cases = meet_cases,
};

kunit_test_suite(meet_suite);
