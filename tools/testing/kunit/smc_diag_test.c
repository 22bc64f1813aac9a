// SPDX-License-Identifier: GPL-2.0
/*
 * The report of sock_diag about a connection's link, which has no queues here, about its other end
 * in memory, or about its TCP connection.
 */
#include <linux/module.h>
#include <linux/net.h>

#include "smc_kunit.h"
#include "smc_kunit_sock.h"

/* smc_diag is a module of its own; here it is part of another. */
#undef __init
#undef __exit
#undef module_init
#undef module_exit
#undef MODULE_DESCRIPTION
#undef MODULE_LICENSE
#undef MODULE_VERSION
#undef MODULE_ALIAS_NET_PF_PROTO_TYPE
#define __init __maybe_unused
#define __exit __maybe_unused
#define module_init(...)
#define module_exit(...)
#define MODULE_DESCRIPTION(...)
#define MODULE_LICENSE(...)
#define MODULE_VERSION(...)
#define MODULE_ALIAS_NET_PF_PROTO_TYPE(...)

#include "../../../net/smc/control/smc_diag.c"

#include "../../../net/smc/group/smc_carrier.h"

#define DIAG_RING	(4 * PAGE_SIZE)

struct diag_end {
	struct tcp_sock tp;
	struct smc_conn conn;
};

static struct proto diag_proto = SMC_KUNIT_PROTO("smc_diag_test");

struct diag_lab {
	struct smc_link_group lgr;
	struct smc_link link;
	struct smc_conn conn;
};

/* A work item takes a connection off its link, perhaps after the queues are gone. */
static void lid_06_a_link_without_queues_still_has_its_names(struct kunit *test)
{
	struct smc_diag_linkinfo more;
	struct smc_diag_lgrinfo info;
	struct diag_lab *lab;

	lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, lab);
	spin_lock_init(&lab->conn.lock);
	KUNIT_EXPECT_FALSE(test, smc_diag_fill_link(&info, &more, &lab->conn));

	lab->lgr.key.role = SMC_ROLE_SERVER;
	lab->link.lgr = &lab->lgr;
	lab->link.num = 7;
	lab->link.uid = 8;
	lab->link.peer_uid = 9;
	lab->link.wr.end.port = 2;
	lab->link.wr.end.gid.raw[15] = 1;
	lab->link.peer.gid[15] = 2;
	strscpy(lab->link.wr.dev_name, "rdma7", sizeof(lab->link.wr.dev_name));
	rcu_assign_pointer(lab->conn.link, &lab->link);
	KUNIT_ASSERT_TRUE(test, smc_diag_fill_link(&info, &more, &lab->conn));
	KUNIT_EXPECT_EQ(test, info.link_id, 7);
	KUNIT_EXPECT_EQ(test, info.ibport, 2);
	KUNIT_EXPECT_EQ(test, more.user_id, 8);
	KUNIT_EXPECT_EQ(test, more.peer_user_id, 9);
	KUNIT_EXPECT_EQ(test, more.nr_links, 0);
	KUNIT_EXPECT_EQ(test, info.role, SMC_ROLE_SERVER);
	KUNIT_EXPECT_STREQ(test, (char *)info.ibname, "rdma7");
	KUNIT_EXPECT_STREQ(test, (char *)info.gid,
			   "0000:0000:0000:0000:0000:0000:0000:0001");
	KUNIT_EXPECT_STREQ(test, (char *)info.peer_gid,
			   "0000:0000:0000:0000:0000:0000:0000:0002");
}

/* A connection of a first contact has a token before the dialect is known, which sets sizes. */
static void a_stream_that_has_not_begun_is_at_0(struct kunit *test)
{
	struct smc_diag_conninfo is, zero = {};
	struct sk_buff *skb = alloc_skb(512, GFP_KERNEL);
	struct diag_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_NOT_NULL(test, lab);
	spin_lock_init(&lab->conn.lock);
	lab->conn.token = 7;
	KUNIT_EXPECT_EQ(test, smc_diag_put_conninfo(skb, &lab->conn), 0);
	KUNIT_ASSERT_EQ(test, skb->len, nla_total_size(sizeof(is)));
	nla_memcpy(&is, (struct nlattr *)skb->data, sizeof(is));
	kfree_skb(skb);
	zero.token = 7;
	KUNIT_EXPECT_MEMEQ(test, &is, &zero, sizeof(is));

	/* a lap of 4092 bytes behind an eye catcher, and a ring of 4096 */
	smc_cdc_ctl_init(&lab->conn.ctl, SMC_EYE_CATCHER_LEN, 4096, 4096, 4096);
	lab->conn.ctl.tx_sent = 4095;
	skb = alloc_skb(512, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, smc_diag_put_conninfo(skb, &lab->conn), 0);
	nla_memcpy(&is, (struct nlattr *)skb->data, sizeof(is));
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, is.rx_prod.count, SMC_EYE_CATCHER_LEN);
	KUNIT_EXPECT_EQ(test, is.tx_prod.wrap, 1);
	KUNIT_EXPECT_EQ(test, is.tx_prod.count, SMC_EYE_CATCHER_LEN + 3);
	KUNIT_EXPECT_EQ(test, is.tx_sent.wrap, 0);
	KUNIT_EXPECT_EQ(test, is.tx_sent.count, 4095);
}

static void diag_join(struct diag_end *end, struct smc_pair *pair, enum smc_role role)
{
	struct sock *sk = (struct sock *)&end->tp;

	sock_net_set(sk, &init_net);
	smc_kunit_init(sk, &diag_proto);
	end->conn.sk = sk;
	spin_lock_init(&end->conn.lock);
	refcount_set(&end->conn.refs, 1);
	smc_pair_join(&end->conn, pair, role);
	scoped_guard(smc_conn, &end->conn)
		smc_conn_set_phase(&end->conn, SMC_CONN_OPEN);
}

/* Return: bytes of attributes; both are zero where there are none. */
static unsigned int diag_get_pair(struct kunit *test, struct smc_conn *conn,
				  struct smc_diag_dmbinfo *dmb, struct smc_diag_pairinfo *info)
{
	struct sk_buff *skb = alloc_skb(512, GFP_KERNEL);
	const struct nlattr *at;
	unsigned int len;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	memset(dmb, 0, sizeof(*dmb));
	memset(info, 0, sizeof(*info));
	scoped_guard(rcu) {
		KUNIT_EXPECT_EQ(test, smc_diag_put_lgrinfo(skb, conn), 0);
		KUNIT_EXPECT_EQ(test, skb->len, 0U);
		KUNIT_EXPECT_EQ(test, smc_diag_put_pair(skb, conn), 0);
	}
	len = skb->len;
	at = nla_find((struct nlattr *)skb->data, len, SMC_DIAG_DMBINFO);
	if (at)
		nla_memcpy(dmb, at, sizeof(*dmb));
	at = nla_find((struct nlattr *)skb->data, len, SMC_DIAG_PAIRINFO);
	if (at)
		nla_memcpy(info, at, sizeof(*info));
	kfree_skb(skb);
	return len;
}

/* Tools that know SMC-D take it for a connection over a loopback device. */
static void a_connection_in_memory_shows_its_other_end(struct kunit *test)
{
	struct diag_end *end = kunit_kcalloc(test, 2, sizeof(*end), GFP_KERNEL);
	struct smc_pair *pair = smc_pair_alloc(DIAG_RING, DIAG_RING);
	struct smc_diag_pairinfo info;
	struct smc_diag_dmbinfo dmb;
	struct smc_sock smc = {};
	u32 cookie[2];
	int i;

	KUNIT_ASSERT_NOT_NULL(test, end);
	KUNIT_ASSERT_NOT_NULL(test, pair);
	spin_lock_init(&end[0].conn.lock);
	KUNIT_EXPECT_EQ(test, smc_diag_mode(&smc, NULL), SMC_DIAG_MODE_SMCR);
	KUNIT_EXPECT_EQ(test, smc_diag_mode(&smc, &end[0].conn), SMC_DIAG_MODE_SMCR);
	KUNIT_EXPECT_EQ(test, diag_get_pair(test, &end[0].conn, &dmb, &info), 0U);

	diag_join(&end[SMC_ROLE_SERVER], pair, SMC_ROLE_SERVER);
	diag_join(&end[SMC_ROLE_CLIENT], pair, SMC_ROLE_CLIENT);
	for (i = 0; i < 2; i++) {
		struct smc_conn *conn = &end[i].conn, *peer = &end[!i].conn;

		KUNIT_EXPECT_EQ(test, smc_diag_mode(&smc, conn), SMC_DIAG_MODE_SMCD);
		KUNIT_EXPECT_EQ(test, diag_get_pair(test, conn, &dmb, &info),
				(u32)(nla_total_size(sizeof(dmb)) + nla_total_size(sizeof(info))));
		KUNIT_EXPECT_EQ(test, dmb.linkid, (u32)SMC_DIAG_LINKID_LOOPBACK);
		KUNIT_EXPECT_EQ(test, dmb.my_gid, init_net.net_cookie);
		KUNIT_EXPECT_EQ(test, dmb.peer_gid, init_net.net_cookie);
		KUNIT_EXPECT_EQ(test, dmb.token, (u64)conn->token);
		KUNIT_EXPECT_EQ(test, dmb.peer_token, (u64)peer->token);
		KUNIT_EXPECT_EQ(test, info.role, i);
		KUNIT_EXPECT_EQ(test, info.peer_token, peer->token);
		KUNIT_EXPECT_EQ(test, info.peer_net, init_net.net_cookie);
		KUNIT_EXPECT_EQ(test, info.peer_inode, 0ULL);
		sock_diag_save_cookie(peer->sk, cookie);
		KUNIT_EXPECT_MEMEQ(test, info.peer_cookie, cookie, sizeof(cookie));
	}

	/* one end has left */
	end[0].conn.carrier->leave(&end[0].conn, true);
	KUNIT_EXPECT_EQ(test, diag_get_pair(test, &end[0].conn, &dmb, &info), 0U);
	KUNIT_EXPECT_NE(test, diag_get_pair(test, &end[1].conn, &dmb, &info), 0U);
	KUNIT_EXPECT_EQ(test, dmb.peer_gid, 0ULL);
	KUNIT_EXPECT_EQ(test, info.role, 1);
	KUNIT_EXPECT_EQ(test, info.peer_token, 0U);
	end[1].conn.carrier->leave(&end[1].conn, true);
	for (i = 0; i < 2; i++)
		end[i].conn.carrier->free(&end[i].conn);
	smc_pair_put(pair);
}

static void diag_expect_flags(struct kunit *test, struct smc_sock *smc, bool is_landing,
			      bool has_lost_tcp)
{
	struct sk_buff *skb = alloc_skb(512, GFP_KERNEL);
	struct smc_diag_walk w = { .skb = skb };
	const struct nlattr *attrs;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, smc_diag_put_more(&w, smc, NULL, SMC_DIAG_ST_ACTIVE), 0);
	attrs = (struct nlattr *)skb->data;
	KUNIT_EXPECT_EQ(test, !!nla_find(attrs, skb->len, SMC_DIAG_LANDING), is_landing);
	KUNIT_EXPECT_EQ(test, !!nla_find(attrs, skb->len, SMC_DIAG_TCP_LOST), has_lost_tcp);
	kfree_skb(skb);
}

static void flags_show_a_landing_and_the_loss_of_tcp(struct kunit *test)
{
	static const struct smc_close_facts answered = {
		.is_abort_due = true, .is_in_use = true, .has_answer = true,
	};
	struct smc_sock *smc = kunit_kzalloc(test, sizeof(*smc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, smc);
	smc_state_close_init(&smc->close);
	smc_state_close(&smc->close, SMC_CLOSE_ESTABLISHED, &answered);
	diag_expect_flags(test, smc, false, false);
	/* any: its content is that of smc_land.c */
	smc->land = (void *)smc;
	diag_expect_flags(test, smc, true, false);
	smc->land = NULL;

	smc_state_close(&smc->close, SMC_CLOSE_RX_RST, &answered);
	diag_expect_flags(test, smc, false, false);
	smc_state_close(&smc->close, SMC_CLOSE_TIMER, &answered);
	diag_expect_flags(test, smc, false, true);
	smc_state_close(&smc->close, SMC_CLOSE_RX_ABORT, &answered);
	diag_expect_flags(test, smc, false, false);
}

static const struct smc_diag_filter diag_all = {
	.states = U32_MAX, .modes = U8_MAX, .port_last = U16_MAX,
};

/* 10.1.2.3:4000, from port 80 */
static const struct smc_diag_msg diag_v4 = {
	.family = AF_INET, .state = SMC_DIAG_ST_ACTIVE, .mode = SMC_DIAG_MODE_SMCD,
	.id.idiag_sport = cpu_to_be16(80), .id.idiag_dport = cpu_to_be16(4000),
	.id.idiag_dst[0] = cpu_to_be32(0x0a010203),
};

static void a_filter_takes_states_and_modes(struct kunit *test)
{
	struct smc_diag_filter filter = diag_all;

	KUNIT_EXPECT_TRUE(test, smc_diag_is_wanted(NULL, &diag_v4));
	KUNIT_EXPECT_TRUE(test, smc_diag_is_wanted(&filter, &diag_v4));
	filter.states = BIT(SMC_DIAG_ST_ACTIVE);
	filter.modes = BIT(SMC_DIAG_MODE_SMCD);
	KUNIT_EXPECT_TRUE(test, smc_diag_is_wanted(&filter, &diag_v4));
	filter.states = ~filter.states;
	KUNIT_EXPECT_FALSE(test, smc_diag_is_wanted(&filter, &diag_v4));
	filter.states = U32_MAX;
	filter.modes = ~filter.modes;
	KUNIT_EXPECT_FALSE(test, smc_diag_is_wanted(&filter, &diag_v4));
}

static void a_filter_takes_ports_of_either_end(struct kunit *test)
{
	static const struct {
		u16 first, last;
		bool is_wanted;
	} rows[] = {
		{ 80, 80, true }, { 4000, 4000, true }, { 70, 90, true }, { 3999, 4001, true },
		{ 0, 79, false }, { 81, 3999, false }, { 4001, 65535, false }, { 90, 70, false },
	};
	struct smc_diag_filter filter = diag_all;
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		filter.port_first = rows[i].first;
		filter.port_last = rows[i].last;
		KUNIT_EXPECT_EQ_MSG(test, smc_diag_is_wanted(&filter, &diag_v4),
				    rows[i].is_wanted, "%u to %u", rows[i].first, rows[i].last);
	}
}

static void a_filter_takes_peers_of_either_family(struct kunit *test)
{
	struct smc_diag_filter filter = diag_all;
	struct smc_diag_msg v6 = diag_v4;

	v6.family = AF_INET6;
	ipv6_addr_set_v4mapped(cpu_to_be32(0x0a010000), (struct in6_addr *)filter.peer);
	filter.prefix = 96 + 16;
	KUNIT_EXPECT_TRUE(test, smc_diag_is_wanted(&filter, &diag_v4));
	/* 0a01:0203:: is no address of 10.1.0.0/16 */
	KUNIT_EXPECT_FALSE(test, smc_diag_is_wanted(&filter, &v6));
	filter.prefix = 128;
	KUNIT_EXPECT_FALSE(test, smc_diag_is_wanted(&filter, &diag_v4));
	memcpy(filter.peer, v6.id.idiag_dst, sizeof(filter.peer));
	KUNIT_EXPECT_TRUE(test, smc_diag_is_wanted(&filter, &v6));
	KUNIT_EXPECT_FALSE(test, smc_diag_is_wanted(&filter, &diag_v4));
}

static void a_filter_has_its_length_and_a_prefix(struct kunit *test)
{
	static const struct {
		u8 prefix;
		u16 len;
		bool is_valid;
	} rows[] = {
		{ 0, sizeof(diag_all), true }, { 128, sizeof(diag_all), true },
		{ 129, sizeof(diag_all), false }, { 0, sizeof(diag_all) - 1, false },
		{ 0, sizeof(diag_all) + 1, false }, { 0, 0, false },
	};
	struct {
		struct nlattr attr;
		struct smc_diag_filter filter;
	} is = { .filter = diag_all };
	int i;

	KUNIT_EXPECT_TRUE(test, smc_diag_filter_is_valid(NULL));
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		is.attr.nla_len = NLA_HDRLEN + rows[i].len;
		is.filter.prefix = rows[i].prefix;
		KUNIT_EXPECT_EQ_MSG(test, smc_diag_filter_is_valid(&is.attr), rows[i].is_valid,
				    "row %d", i);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_filter_takes_states_and_modes),
	KUNIT_CASE(a_filter_takes_ports_of_either_end),
	KUNIT_CASE(a_filter_takes_peers_of_either_family),
	KUNIT_CASE(a_filter_has_its_length_and_a_prefix),
	KUNIT_CASE(a_connection_in_memory_shows_its_other_end),
	KUNIT_CASE(flags_show_a_landing_and_the_loss_of_tcp),
	KUNIT_CASE(a_stream_that_has_not_begun_is_at_0),
	KUNIT_CASE(lid_06_a_link_without_queues_still_has_its_names),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_diag",
	.test_cases = cases,
};

kunit_test_suite(suite);
