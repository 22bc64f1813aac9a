// SPDX-License-Identifier: GPL-2.0
/*
 * Two handshakes of this host find each other, and no third one finds them. RDMA devices are
 * faked.
 */
#include "smc_kunit.h"

#include "../../../net/smc/sock/smc_same_host.c"

static const struct net *host_excluded;
static unsigned int host_nr_ends;

bool smc_ib_end_serves(const struct smc_ib_end *end, const struct net *net)
{
	return net != host_excluded;
}

void smc_ib_end_copy(struct smc_ib_end *to, const struct smc_ib_end *from)
{
	*to = *from;
	host_nr_ends++;
}

static const struct smc_same_host_key host_name = { 0x11112222, 0x33334444 };
static const struct smc_ib_end host_end = {
	.gid.raw = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
	.mac = { 0x02, 0, 0, 0, 0, 1 },
	.port = 2,
	.vlan = 100,
};

static const u8 host_id[8] = { 0x12, 0x34, 0x02, 0, 0, 0, 0, 0x01 };

/* End a handshake at the end of its case. */
static void host_leave_client(void *pair)
{
	smc_same_host_leave(pair, SMC_ROLE_CLIENT);
}

static void host_leave_server(void *pair)
{
	smc_same_host_leave(pair, SMC_ROLE_SERVER);
}

static int host_test_init(struct kunit *test)
{
	struct net *nets;

	/* the table only reads the cookie of a namespace */
	nets = kunit_kcalloc(test, 2, sizeof(*nets), GFP_KERNEL);
	if (!nets)
		return -ENOMEM;
	nets[SMC_ROLE_CLIENT].net_cookie = 71;
	nets[SMC_ROLE_SERVER].net_cookie = 72;
	test->priv = nets;
	host_excluded = NULL;
	host_nr_ends = 0;
	return 0;
}

static struct net *host_net(struct kunit *test, enum smc_role role)
{
	return (struct net *)test->priv + role;
}

static struct smc_same_host_pair *host_offer(struct kunit *test)
{
	struct smc_same_host_pair *pair;

	pair = smc_same_host_offer(&host_name, host_net(test, SMC_ROLE_CLIENT), &host_end, host_id);
	KUNIT_ASSERT_NOT_NULL(test, pair);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, host_leave_client, pair), 0);
	return pair;
}

static struct smc_clc_proposal host_proposal(void)
{
	struct smc_clc_proposal prop = { .offers_v1 = true };

	memcpy(prop.peer_id, host_id, sizeof(prop.peer_id));
	memcpy(prop.gid, host_end.gid.raw, sizeof(prop.gid));
	memcpy(prop.mac, host_end.mac, sizeof(prop.mac));
	return prop;
}

static struct smc_same_host_pair *host_take(struct kunit *test, struct smc_ib_end *end)
{
	struct smc_clc_proposal prop = host_proposal();
	struct smc_same_host_pair *pair;

	pair = smc_same_host_take(&host_name, host_net(test, SMC_ROLE_SERVER), &prop, end);
	if (pair)
		KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, host_leave_server, pair), 0);
	return pair;
}

static struct smc_clc_accept host_accept(void)
{
	struct smc_clc_accept acc = {
		.peer_id = { 0x56, 0x78, 0x02, 0, 0, 0, 0, 0x01 },
		.gid = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
		.mac = { 0x02, 0, 0, 0, 0, 1 },
		.qpn = 0x11,
		.rkey = 0x77,
		.rmb_addr = 0x10000,
		.rmbe_index = 3,
		.token = 0x4711,
		.psn = 0x12345,
		.size_code = 2,
		.mtu = SMC_MTU_1024,
		.first_contact = true,
	};

	return acc;
}

static void both_ends_give_a_connection_the_same_name(struct kunit *test)
{
	struct tcp_sock *client = kunit_kzalloc(test, sizeof(*client), GFP_KERNEL);
	struct tcp_sock *server = kunit_kzalloc(test, sizeof(*server), GFP_KERNEL);
	struct smc_same_host_key one, other;

	KUNIT_ASSERT_NOT_NULL(test, client);
	KUNIT_ASSERT_NOT_NULL(test, server);
	client->write_seq = 0xffffffff;
	server->copied_seq = 0xffffffff;
	server->write_seq = 5;
	client->copied_seq = 5;
	smc_same_host_get_key((struct sock *)client, SMC_ROLE_CLIENT, &one);
	smc_same_host_get_key((struct sock *)server, SMC_ROLE_SERVER, &other);
	KUNIT_EXPECT_EQ(test, one.client_seq, 0xffffffff);
	KUNIT_EXPECT_EQ(test, one.server_seq, 5);
	KUNIT_EXPECT_MEMEQ(test, &one, &other, sizeof(one));
}

static void a_server_finds_the_client_and_uses_its_port(struct kunit *test)
{
	struct smc_same_host_pair *pair = host_offer(test);
	struct smc_ib_end end = {};

	KUNIT_EXPECT_PTR_EQ(test, host_take(test, &end), pair);
	KUNIT_EXPECT_MEMEQ(test, &end, &host_end, sizeof(end));
	KUNIT_EXPECT_EQ(test, host_nr_ends, 1);
	KUNIT_EXPECT_EQ(test, smc_same_host_net(pair, SMC_ROLE_CLIENT), 71);
	KUNIT_EXPECT_EQ(test, smc_same_host_net(pair, SMC_ROLE_SERVER), 72);
}

static void a_client_is_found_once(struct kunit *test)
{
	struct smc_ib_end end = {};

	host_offer(test);
	KUNIT_EXPECT_NOT_NULL(test, host_take(test, &end));
	KUNIT_EXPECT_NULL(test, host_take(test, &end));
	KUNIT_EXPECT_EQ(test, host_nr_ends, 1);
}

static void a_name_belongs_to_the_first(struct kunit *test)
{
	struct smc_same_host_pair *pair = host_offer(test);
	struct smc_ib_end end = {};

	KUNIT_EXPECT_NULL(test, smc_same_host_offer(&host_name, host_net(test, SMC_ROLE_CLIENT),
						    &host_end, host_id));
	KUNIT_EXPECT_PTR_EQ(test, host_take(test, &end), pair);
}

static void a_client_that_has_left_is_not_found(struct kunit *test)
{
	struct smc_same_host_pair *pair = host_offer(test);
	struct smc_ib_end end = {};

	kunit_release_action(test, host_leave_client, pair);
	KUNIT_EXPECT_NULL(test, host_take(test, &end));
}

/* As on subsequent contact, where the client is done after its Confirm. */
static void early_messages_of_a_client_outlive_its_handshake(struct kunit *test)
{
	struct smc_same_host_pair *pair = host_offer(test);
	struct smc_clc_accept acc = host_accept();
	struct smc_ib_end end = {};

	KUNIT_ASSERT_PTR_EQ(test, host_take(test, &end), pair);
	smc_same_host_publish(pair, SMC_ROLE_CLIENT, &acc);
	kunit_release_action(test, host_leave_client, pair);
	KUNIT_EXPECT_EQ(test, smc_same_host_check(pair, SMC_ROLE_CLIENT, &acc), 0);
}

/* connect() returns first, then accept() may. */
static int host_nr_woken;

static int host_count_wakes(struct wait_queue_entry *watch, unsigned int mode, int sync, void *key)
{
	host_nr_woken++;
	return 0;
}

static void a_server_learns_the_end_of_the_clients_handshake(struct kunit *test)
{
	struct smc_same_host_pair *pair = host_offer(test);
	struct wait_queue_entry watch;
	struct smc_ib_end end = {};

	host_nr_woken = 0;
	init_waitqueue_func_entry(&watch, host_count_wakes);
	KUNIT_ASSERT_PTR_EQ(test, host_take(test, &end), pair);
	add_wait_queue(smc_same_host_waitq(pair), &watch);
	KUNIT_EXPECT_FALSE(test, smc_same_host_is_over(pair));
	/* its end is released before its outcome is published */
	smc_same_host_withdraw(pair);
	KUNIT_EXPECT_EQ(test, host_nr_woken, 0);
	kunit_release_action(test, host_leave_client, pair);
	KUNIT_EXPECT_EQ(test, host_nr_woken, 1);
	KUNIT_EXPECT_TRUE(test, smc_same_host_is_over(pair));
	remove_wait_queue(smc_same_host_waitq(pair), &watch);
}

static void a_client_that_has_withdrawn_is_not_found(struct kunit *test)
{
	struct smc_same_host_pair *pair = host_offer(test);
	struct smc_ib_end end = {};

	smc_same_host_withdraw(pair);
	KUNIT_EXPECT_NULL(test, host_take(test, &end));
}

/* The request of a server whose client is another one. */
struct host_stranger {
	const char *what;
	u32 client_seq;
	u32 server_seq;
	u8 id;
	u8 gid;
	u8 mac;
	bool is_excluded;
};

static const struct host_stranger host_strangers[] = {
	{ .what = "another connection of the client", .client_seq = 1 },
	{ .what = "another connection of the server", .server_seq = 1 },
	{ .what = "the right numbers, another peer ID", .id = 1 },
	{ .what = "the right numbers, another GID", .gid = 1 },
	{ .what = "the right numbers, another MAC address", .mac = 1 },
	{ .what = "a device that RDMA keeps from the server", .is_excluded = true },
};

static void host_stranger_desc(const struct host_stranger *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(host_stranger, host_strangers, host_stranger_desc);

static void pid_05_a_stranger_is_none_whatever_he_says(struct kunit *test)
{
	const struct host_stranger *row = test->param_value;
	struct smc_clc_proposal prop = host_proposal();
	struct smc_same_host_key name = host_name;
	struct smc_same_host_pair *pair = host_offer(test);
	struct smc_ib_end end = {};

	name.client_seq += row->client_seq;
	name.server_seq += row->server_seq;
	prop.peer_id[7] += row->id;
	prop.gid[15] += row->gid;
	prop.mac[5] += row->mac;
	if (row->is_excluded)
		host_excluded = host_net(test, SMC_ROLE_SERVER);
	KUNIT_EXPECT_NULL(test, smc_same_host_take(&name, host_net(test, SMC_ROLE_SERVER), &prop,
						   &end));
	KUNIT_EXPECT_EQ(test, host_nr_ends, 0);

	/* and the server that is waited for still succeeds */
	host_excluded = NULL;
	KUNIT_EXPECT_PTR_EQ(test, host_take(test, &end), pair);
}

static void a_client_knows_whether_a_neighbour_has_found_it(struct kunit *test)
{
	struct smc_same_host_pair *pair = host_offer(test);
	struct smc_clc_accept acc = host_accept();
	struct smc_ib_end end = {};

	KUNIT_EXPECT_EQ(test, smc_same_host_check(pair, SMC_ROLE_SERVER, &acc), -ENOENT);
	KUNIT_ASSERT_PTR_EQ(test, host_take(test, &end), pair);
	/* an Accept from another server may come first */
	KUNIT_EXPECT_EQ(test, smc_same_host_check(pair, SMC_ROLE_SERVER, &acc), -EBADMSG);
	smc_same_host_publish(pair, SMC_ROLE_SERVER, &acc);
	KUNIT_EXPECT_EQ(test, smc_same_host_check(pair, SMC_ROLE_SERVER, &acc), 0);
	/* the message of one side is not valid for the other */
	KUNIT_EXPECT_EQ(test, smc_same_host_check(pair, SMC_ROLE_CLIENT, &acc), -EBADMSG);
}

/* A byte of each field that determines where an RNIC writes. */
struct host_change {
	const char *what;
	size_t at;
};

#define HOST_CHANGE(field) { #field, offsetof(struct smc_clc_accept, field) }

static const struct host_change host_changes[] = {
	HOST_CHANGE(peer_id[7]),
	HOST_CHANGE(gid[15]),
	HOST_CHANGE(mac[5]),
	HOST_CHANGE(qpn),
	HOST_CHANGE(rkey),
	HOST_CHANGE(rmb_addr),
	HOST_CHANGE(rmbe_index),
	HOST_CHANGE(token),
	HOST_CHANGE(psn),
	HOST_CHANGE(size_code),
	HOST_CHANGE(mtu),
	HOST_CHANGE(first_contact),
};

static void host_change_desc(const struct host_change *row, char *desc)
{
	strscpy(desc, row->what, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(host_change, host_changes, host_change_desc);

static void sec_08_a_changed_message_is_noticed(struct kunit *test)
{
	const struct host_change *row = test->param_value;
	struct smc_same_host_pair *pair = host_offer(test);
	struct smc_clc_accept acc = host_accept();
	struct smc_ib_end end = {};

	KUNIT_ASSERT_PTR_EQ(test, host_take(test, &end), pair);
	smc_same_host_publish(pair, SMC_ROLE_SERVER, &acc);
	smc_same_host_publish(pair, SMC_ROLE_CLIENT, &acc);
	((u8 *)&acc)[row->at] ^= 1;
	KUNIT_EXPECT_EQ(test, smc_same_host_check(pair, SMC_ROLE_SERVER, &acc), -EBADMSG);
	KUNIT_EXPECT_EQ(test, smc_same_host_check(pair, SMC_ROLE_CLIENT, &acc), -EBADMSG);
}

static struct kunit_case host_cases[] = {
	KUNIT_CASE(both_ends_give_a_connection_the_same_name),
	KUNIT_CASE(a_server_finds_the_client_and_uses_its_port),
	KUNIT_CASE(a_client_is_found_once),
	KUNIT_CASE(a_name_belongs_to_the_first),
	KUNIT_CASE(a_client_that_has_left_is_not_found),
	KUNIT_CASE(early_messages_of_a_client_outlive_its_handshake),
	KUNIT_CASE(a_server_learns_the_end_of_the_clients_handshake),
	KUNIT_CASE(a_client_that_has_withdrawn_is_not_found),
	KUNIT_CASE_PARAM(pid_05_a_stranger_is_none_whatever_he_says, host_stranger_gen_params),
	KUNIT_CASE(a_client_knows_whether_a_neighbour_has_found_it),
	KUNIT_CASE_PARAM(sec_08_a_changed_message_is_noticed, host_change_gen_params),
	{}
};

static struct kunit_suite host_suite = {
	.name = "smc_same_host",
	.init = host_test_init,
	.test_cases = host_cases,
};

kunit_test_suite(host_suite);
