// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of generic netlink: attributes that deployed tools need, answers in small pieces, groups
 * that come and go meanwhile. Groups are real, their links have no queues.
 */
#include <net/genetlink.h>

#include "smc_kunit.h"

#include "../../../net/smc/group/smc_core.h"

/* there are no devices */
#define smc_ib_end_ifindex(...)	7
#define smc_ib_next_view(...)		false

#include "../../../net/smc/control/smc_netlink_dump.c"

#define NL_GROUPS	20
#define NL_LINKS	2
#define NL_ROOM		65536
#define NL_SMALL	800	/* one message with a group, or a few reasons */
#define NL_LONG		(20 * HZ)
#define NL_KNOWN_LGR	(GENMASK(6, 1) | BIT(9) | BIT(11) | BIT(12) | BIT(13))
#define NL_KNOWN_LINK	GENMASK(10, 1)

/**
 * struct nl_lab - groups, and a dump
 * @sk: socket of the dump
 * @request: its request
 * @cb: the dump
 * @lgr: groups, with a reservation, or NULL
 * @link: their links
 * @size: of the buffer for a part of the answer
 * @nr_parts: parts so far
 * @nr_lgrs: messages with a group so far
 * @nr_links: messages with a link so far
 * @ids: numbers of the groups in the answer
 */
struct nl_lab {
	struct sock sk;
	struct {
		struct nlmsghdr nlh;
		struct genlmsghdr genl;
	} request;
	struct netlink_callback cb;
	struct smc_link_group *lgr[NL_GROUPS];
	struct smc_link *link[NL_GROUPS][NL_LINKS];
	unsigned int size;
	unsigned int nr_parts;
	unsigned int nr_lgrs;
	unsigned int nr_links;
	u32 ids[2 * NL_GROUPS];
};

static int nl_net_init(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);

	sn->stats = alloc_percpu(struct smc_stats_cpu);
	sn->set.max_lgrs_per_peer = 2 * NL_GROUPS;
	return sn->stats ? smc_net_init(net) : -ENOMEM;
}

static void nl_net_exit(struct net *net)
{
	free_percpu(smc_net(net)->stats);
}

static struct pernet_operations nl_net_ops = {
	.init = nl_net_init,
	.exit = nl_net_exit,
	.id = &smc_net_id,
	.size = sizeof(struct smc_pernet),
};

static int nl_suite_init(struct kunit_suite *suite)
{
	int rc = register_pernet_subsys(&nl_net_ops);

	if (rc)
		return rc;
	rc = smc_core_init();
	if (rc)
		unregister_pernet_subsys(&nl_net_ops);
	return rc;
}

static void nl_suite_exit(struct kunit_suite *suite)
{
	smc_core_exit();
	unregister_pernet_subsys(&nl_net_ops);
}

static void nl_restart(struct nl_lab *lab, unsigned int size)
{
	memset(&lab->cb, 0, sizeof(lab->cb));
	lab->cb.nlh = &lab->request.nlh;
	lab->size = size;
	lab->nr_parts = 0;
	lab->nr_lgrs = 0;
	lab->nr_links = 0;
}

static int nl_init(struct kunit *test)
{
	struct nl_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	test->priv = lab;
	if (!lab)
		return -ENOMEM;
	sock_net_set(&lab->sk, &init_net);
	lab->request.nlh.nlmsg_type = 0x20;
	nl_restart(lab, NL_ROOM);
	return 0;
}

static void nl_end(struct nl_lab *lab, unsigned int i)
{
	struct smc_link_group *lgr = lab->lgr[i];
	int k;

	if (!lgr)
		return;
	lab->lgr[i] = NULL;
	scoped_guard(mutex, &lgr->lock)
		for (k = 0; k < NL_LINKS; k++) {
			lgr->links[k] = NULL;
			list_del_rcu(&lab->link[i][k]->node);
		}
	smc_lgr_terminate(lgr, "test");
	smc_lgr_unreserve(lgr);
	for (k = 0; k < NL_LINKS; k++)
		kfree(lab->link[i][k]);
}

static void nl_exit(struct kunit *test)
{
	struct nl_lab *lab = test->priv;
	int i;

	for (i = 0; lab && i < NL_GROUPS; i++)
		nl_end(lab, i);
	smc_lgr_wait_none(NULL);
}

static void nl_form(struct kunit *test, unsigned int i)
{
	struct smc_lgr_key key = { .net = &init_net, .role = SMC_ROLE_SERVER, .vlan = 0x123 };
	struct nl_lab *lab = test->priv;
	struct smc_link_group *lgr;
	struct smc_link *link;
	int k;

	lgr = smc_lgr_form(&key);
	KUNIT_ASSERT_FALSE(test, IS_ERR(lgr));
	lab->lgr[i] = lgr;
	lgr->params.version = 1;
	for (k = 0; k < NL_LINKS; k++) {
		link = kzalloc(sizeof(*link), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, link);
		lab->link[i][k] = link;
		link->lgr = lgr;
		link->index = k;
		link->num = k + 1;
		link->uid = 0x01020304;
		link->state = SMC_LINK_ACTIVE;
		link->wr.end.port = 1;
		smc_ib_count(&link->wr.counts, SMC_IB_RX_BYTES, 1000);
		lgr->links[k] = link;
		list_add_rcu(&link->node, &lgr->all_links);
	}
	WRITE_ONCE(lgr->state, SMC_LGR_ACTIVE);
}

/* Types of the attributes as a set; each may be there once. Types from 64 on do not count. */
static u64 nl_types(struct kunit *test, const struct nlattr *nest)
{
	const struct nlattr *attr;
	u64 types = 0;
	int left;

	nla_for_each_nested(attr, nest, left) {
		if (nla_type(attr) >= 64)
			continue;
		KUNIT_EXPECT_FALSE(test, types & BIT_ULL(nla_type(attr)));
		types |= BIT_ULL(nla_type(attr));
	}
	KUNIT_EXPECT_EQ(test, left, 0);
	return types;
}

static u64 nl_value(const struct nlattr *nest, int type)
{
	const struct nlattr *attr = nla_find_nested(nest, type);

	switch (attr ? nla_len(attr) : 0) {
	case sizeof(u8):
		return nla_get_u8(attr);
	case sizeof(u16):
		return nla_get_u16(attr);
	case sizeof(u32):
		return nla_get_u32(attr);
	case sizeof(u64):
		return nla_get_u64(attr);
	}
	return 0;
}

static void nl_note(struct kunit *test, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = nlmsg_data(nlh);
	const struct nlattr *nest = (void *)genl + GENL_HDRLEN;
	struct nl_lab *lab = test->priv;

	KUNIT_EXPECT_TRUE(test, nlh->nlmsg_flags & NLM_F_MULTI);
	if (genl->cmd == SMC_NETLINK_GET_LGR_SMCR) {
		KUNIT_EXPECT_EQ(test, nla_type(nest), SMC_GEN_LGR_SMCR);
		KUNIT_EXPECT_EQ(test, nl_types(test, nest) & NL_KNOWN_LGR, NL_KNOWN_LGR);
		KUNIT_ASSERT_LT(test, lab->nr_lgrs, (unsigned int)ARRAY_SIZE(lab->ids));
		lab->ids[lab->nr_lgrs++] = nl_value(nest, SMC_NLA_LGR_R_ID);
		return;
	}
	KUNIT_EXPECT_EQ(test, nla_type(nest), SMC_GEN_LINK_SMCR);
	KUNIT_EXPECT_EQ(test, nl_types(test, nest) & NL_KNOWN_LINK, NL_KNOWN_LINK);
	KUNIT_ASSERT_GT(test, lab->nr_lgrs, 0);
	/* behind the message with its group, even in another part */
	KUNIT_EXPECT_EQ(test, nl_value(nest, SMC_NLA_LINK_LGR_ID), lab->ids[lab->nr_lgrs - 1]);
	lab->nr_links++;
}

static int nl_dump_stats(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_each(skb, cb, dump_stats);
}

static int nl_dump_counters(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_each(skb, cb, dump_counter);
}

static int nl_dump_fback(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_each(skb, cb, dump_fback);
}

/* Read the next part. Return: what the dump returned. */
static int nl_read(struct kunit *test, int (*dump)(struct sk_buff *, struct netlink_callback *),
		   void (*note)(struct kunit *, const struct nlmsghdr *))
{
	struct nl_lab *lab = test->priv;
	struct sk_buff *skb = alloc_skb(lab->size, GFP_KERNEL);
	const struct nlmsghdr *nlh;
	int left, rc;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	/* the allocator may give more */
	skb_reserve(skb, skb_tailroom(skb) - lab->size);
	skb->sk = &lab->sk;
	lab->cb.skb = skb;
	rc = dump(skb, &lab->cb);
	skb->sk = NULL;
	left = skb->len;
	for (nlh = (void *)skb->data; nlmsg_ok(nlh, left); nlh = nlmsg_next(nlh, &left))
		note(test, nlh);
	KUNIT_EXPECT_EQ(test, left, 0);
	lab->nr_parts++;
	kfree_skb(skb);
	return rc;
}

/* Read to the end; each part has at least one message. */
static void nl_read_all(struct kunit *test,
			int (*dump)(struct sk_buff *, struct netlink_callback *))
{
	int rc;

	do {
		rc = nl_read(test, dump, nl_note);
		KUNIT_ASSERT_GE(test, rc, 0);
	} while (rc);
}

static void a_dump_has_each_group_and_link_once_in_parts_of_any_size(struct kunit *test)
{
	static const unsigned int sizes[] = { NL_ROOM, 4096, 3000, NL_SMALL };
	struct nl_lab *lab = test->priv;
	unsigned int i, k;

	for (i = 0; i < NL_GROUPS; i++)
		nl_form(test, i);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		nl_restart(lab, sizes[i]);
		nl_read_all(test, dump_lgr);
		KUNIT_EXPECT_EQ(test, lab->nr_lgrs, NL_GROUPS);
		KUNIT_EXPECT_EQ(test, lab->nr_links, 0);
		nl_restart(lab, sizes[i]);
		nl_read_all(test, dump_link);
		KUNIT_EXPECT_EQ(test, lab->nr_lgrs, NL_GROUPS);
		KUNIT_EXPECT_EQ(test, lab->nr_links, NL_GROUPS * NL_LINKS);
		for (k = 0; k < NL_GROUPS; k++)
			KUNIT_EXPECT_EQ(test, lab->ids[k], lab->lgr[k]->id);
	}
	KUNIT_EXPECT_GT(test, lab->nr_parts, NL_GROUPS);
}

static void groups_that_come_and_go_neither_repeat_nor_hide_others(struct kunit *test)
{
	struct nl_lab *lab = test->priv;
	u32 gone, fresh;
	unsigned int i;

	for (i = 0; i < 6; i++)
		nl_form(test, i);
	nl_restart(lab, NL_SMALL);
	/* the first group and perhaps a link; it ends before the rest is read */
	KUNIT_ASSERT_GT(test, nl_read(test, dump_link, nl_note), 0);
	KUNIT_EXPECT_EQ(test, lab->nr_lgrs, 1);
	KUNIT_EXPECT_LT(test, lab->nr_links, NL_LINKS);
	nl_end(lab, 0);
	gone = lab->lgr[3]->id;
	nl_end(lab, 3);
	nl_form(test, 6);
	fresh = lab->lgr[6]->id;
	nl_read_all(test, dump_link);
	KUNIT_EXPECT_EQ(test, lab->nr_lgrs, 6);
	KUNIT_EXPECT_EQ(test, lab->ids[5], fresh);
	for (i = 0; i < lab->nr_lgrs; i++) {
		KUNIT_EXPECT_NE(test, lab->ids[i], gone);
		KUNIT_EXPECT_TRUE(test, !i || lab->ids[i] != lab->ids[i - 1]);
	}
}

static void a_group_that_was_shown_is_not_searched_by_its_number(struct kunit *test)
{
	struct nl_lab *lab = test->priv;

	/* numbers have 32 bits and wrap, serials do not */
	nl_form(test, 0);
	lab->lgr[0]->id = 0xffffff00;
	nl_form(test, 1);
	lab->lgr[1]->id = 0;
	nl_restart(lab, NL_SMALL);
	nl_read_all(test, dump_lgr);
	KUNIT_EXPECT_EQ(test, lab->nr_lgrs, 2);
	KUNIT_EXPECT_EQ(test, lab->ids[1], 0);
}

static void without_room_for_one_message_a_dump_fails(struct kunit *test)
{
	struct nl_lab *lab = test->priv;

	nl_form(test, 0);
	nl_restart(lab, 200);
	KUNIT_EXPECT_EQ(test, nl_read(test, dump_lgr, nl_note), -EMSGSIZE);
	nl_restart(lab, 200);
	KUNIT_EXPECT_EQ(test, nl_read(test, nl_dump_stats, nl_note), -EMSGSIZE);
}

/* The nest of a group in a message of its own. */
static const struct nlattr *nl_put_lgr(struct kunit *test, struct sk_buff *skb,
				       struct smc_link_group *lgr)
{
	guard(mutex)(&lgr->lock);
	KUNIT_ASSERT_EQ(test, smc_netlink_put_lgr(skb, lgr, true), 0);
	return (void *)skb->data;
}

static void lg_09_a_group_is_described_in_full(struct kunit *test)
{
	struct sk_buff *skb = alloc_skb(NL_ROOM, GFP_KERNEL);
	const struct nlattr *nest, *v2, *counts;
	struct nl_lab *lab = test->priv;
	struct smc_link_group *lgr;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	nl_form(test, 0);
	lgr = lab->lgr[0];
	lgr->params.version = 2;
	lgr->params.max_conns = 99;
	memset(lgr->params.eid, ' ', sizeof(lgr->params.eid));
	memcpy(lgr->params.eid, "BENCH", 5);
	memset(lgr->peer_host.host, ' ', sizeof(lgr->peer_host.host));
	memcpy(lgr->peer_host.host, "a\033b\377", 4);
	lgr->peer_host.os = 2;
	nest = nl_put_lgr(test, skb, lgr);
	KUNIT_EXPECT_EQ(test, nl_types(test, nest), NL_KNOWN_LGR | BIT(7) | BIT(8));
	/* low bits in the old attribute, all in the new one */
	KUNIT_EXPECT_EQ(test, nl_value(nest, SMC_NLA_LGR_R_VLAN_ID), 0x23);
	KUNIT_EXPECT_EQ(test, nl_value(nest, SMC_NLA_LGR_R_VLAN), 0x123);
	KUNIT_EXPECT_EQ(test, nl_value(nest, SMC_NLA_LGR_R_LINKS), NL_LINKS);
	v2 = nla_find_nested(nest, SMC_NLA_LGR_R_V2_COMMON);
	KUNIT_ASSERT_NOT_NULL(test, v2);
	KUNIT_EXPECT_EQ(test, nl_types(test, v2), GENMASK(4, 0));
	KUNIT_EXPECT_EQ(test, nl_value(v2, SMC_NLA_LGR_V2_VER), 2);
	KUNIT_EXPECT_EQ(test, nl_value(v2, SMC_NLA_LGR_V2_OS), 2);
	KUNIT_EXPECT_STREQ(test, (char *)nla_data(nla_find_nested(v2, SMC_NLA_LGR_V2_PEER_HOST)),
			   "a?b?                            ");
	v2 = nla_find_nested(nest, SMC_NLA_LGR_R_V2);
	KUNIT_EXPECT_EQ(test, nl_types(test, v2), GENMASK(3, 1));
	KUNIT_EXPECT_EQ(test, nl_value(v2, SMC_NLA_LGR_R_V2_MAX_CONNS), 99);
	counts = nla_find_nested(nest, SMC_NLA_LGR_R_COUNTS);
	KUNIT_EXPECT_EQ(test, nl_value(counts, SMC_NLA_COUNT_RX_BYTES), 1000 * NL_LINKS);
	kfree_skb(skb);
}

static u64 nl_srv, nl_clnt, nl_one, nl_capped;
static unsigned int nl_nr_sums, nl_nr_reasons;

static void nl_note_reason(struct kunit *test, const struct nlmsghdr *nlh)
{
	const struct nlattr *nest = (void *)nlmsg_data(nlh) + GENL_HDRLEN;

	nl_nr_reasons++;
	if (nla_find_nested(nest, SMC_NLA_FBACK_STATS_SRV_CNT)) {
		nl_nr_sums++;
		nl_srv = nl_value(nest, SMC_NLA_FBACK_STATS_SRV_CNT);
		nl_clnt = nl_value(nest, SMC_NLA_FBACK_STATS_CLNT_CNT);
	}
	if (nl_value(nest, SMC_NLA_FBACK_STATS_RSN_CODE) == SMC_DECLINE_IPSEC) {
		nl_one = nl_value(nest, SMC_NLA_FBACK_STATS_RSN_TOTAL);
		nl_capped = nl_value(nest, SMC_NLA_FBACK_STATS_RSN_CNT);
	}
}

static void a_namespace_without_sockets_has_no_counters(struct kunit *test)
{
	struct smc_pernet *sn = smc_net(&init_net);
	struct smc_stats_cpu __percpu *had = sn->stats;

	sn->stats = NULL;
	smc_stat_inc(&init_net, SMC_STAT_CLIENT_TCP);
	smc_stat_fallback(&init_net, true, SMC_DECLINE_MEM);
	KUNIT_EXPECT_EQ(test, stats_get(&init_net, SMC_STAT_CLIENT_TCP), 0ULL);
	KUNIT_EXPECT_EQ(test, stats_get_fallback(&init_net, true, SMC_REASON_MEM), 0ULL);
	/* the first socket brings them */
	smc_net_prepare(&init_net);
	KUNIT_EXPECT_NOT_NULL(test, (__force void *)sn->stats);
	smc_stat_inc(&init_net, SMC_STAT_CLIENT_TCP);
	KUNIT_EXPECT_EQ(test, stats_get(&init_net, SMC_STAT_CLIENT_TCP), 1ULL);
	smc_net_release(&init_net);
	sn->stats = had;
}

static unsigned int nl_nr_counters;
static u64 nl_urgent;

static void nl_note_counter(struct kunit *test, const struct nlmsghdr *nlh)
{
	const struct nlattr *nest = (void *)nlmsg_data(nlh) + GENL_HDRLEN;
	const struct nlattr *name = nla_find_nested(nest, SMC_NLA_COUNTER_NAME);

	KUNIT_ASSERT_NOT_NULL(test, name);
	/* in their order, each once */
	KUNIT_EXPECT_STREQ(test, (char *)nla_data(name), stats_names[nl_nr_counters++]);
	if (!strcmp(nla_data(name), "urgent"))
		nl_urgent = nl_value(nest, SMC_NLA_COUNTER_VALUE);
}

static void counters_are_shown_by_name(struct kunit *test)
{
	struct smc_stats_cpu *stats = get_cpu_ptr(smc_net(&init_net)->stats);
	struct nl_lab *lab = test->priv;
	int rc;

	stats->value[SMC_STAT_URGENT] = 5000000000ULL;
	put_cpu_ptr(smc_net(&init_net)->stats);
	nl_nr_counters = 0;
	nl_urgent = 0;
	nl_restart(lab, NL_SMALL);
	do {
		rc = nl_read(test, nl_dump_counters, nl_note_counter);
		KUNIT_ASSERT_GE(test, rc, 0);
	} while (rc);
	KUNIT_EXPECT_GT(test, lab->nr_parts, 2);
	KUNIT_EXPECT_EQ(test, nl_nr_counters, SMC_STAT_NR);
	KUNIT_EXPECT_EQ(test, nl_urgent, 5000000000ULL);
}

static void reasons_are_counted_at_both_sides_and_beyond_16_bits(struct kunit *test)
{
	struct smc_stats_cpu *stats = get_cpu_ptr(smc_net(&init_net)->stats);
	struct nl_lab *lab = test->priv;
	int i, rc;

	memset(stats, 0, sizeof(*stats));
	for (i = 0; i < SMC_REASON_NR; i++)
		stats->fallback[true][i] = 1;
	stats->fallback[false][SMC_REASON_IPSEC] = 70000;
	put_cpu_ptr(smc_net(&init_net)->stats);
	nl_nr_sums = 0;
	nl_nr_reasons = 0;
	nl_restart(lab, NL_SMALL);
	do {
		rc = nl_read(test, nl_dump_fback, nl_note_reason);
		KUNIT_ASSERT_GE(test, rc, 0);
	} while (rc);
	KUNIT_EXPECT_GT(test, lab->nr_parts, 2);
	KUNIT_EXPECT_EQ(test, nl_nr_sums, 1);
	KUNIT_EXPECT_EQ(test, nl_nr_reasons, SMC_REASON_NR + 1);
	KUNIT_EXPECT_EQ(test, nl_srv, SMC_REASON_NR);
	KUNIT_EXPECT_EQ(test, nl_clnt, 70000);
	/* the server's come last */
	KUNIT_EXPECT_EQ(test, nl_one, 1);
	KUNIT_EXPECT_EQ(test, nl_capped, 1);
	nl_restart(lab, 300);
	KUNIT_EXPECT_GT(test, nl_read(test, nl_dump_fback, nl_note_reason), 0);
	KUNIT_EXPECT_EQ(test, nl_one, 70000);
	KUNIT_EXPECT_EQ(test, nl_capped, U16_MAX);
}

static void sizes_are_classed_as_by_deployed_tools(struct kunit *test)
{
	static const struct {
		size_t len;
		int class;
	} rows[] = {
		{ 1, 0 }, { 8192, 0 }, { 8193, 1 }, { 16384, 1 }, { 16385, 2 }, { 32768, 2 },
		{ 65536, 3 }, { 65537, 4 }, { 524288, 6 }, { 1048576, 7 }, { 1048577, 8 },
		{ INT_MAX, 8 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ(test, smc_stat_size(SMC_STAT_TX_SIZE_8K, rows[i].len),
				SMC_STAT_TX_SIZE_8K + rows[i].class);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_dump_has_each_group_and_link_once_in_parts_of_any_size),
	KUNIT_CASE(groups_that_come_and_go_neither_repeat_nor_hide_others),
	KUNIT_CASE(a_group_that_was_shown_is_not_searched_by_its_number),
	KUNIT_CASE(without_room_for_one_message_a_dump_fails),
	KUNIT_CASE(lg_09_a_group_is_described_in_full),
	KUNIT_CASE(a_namespace_without_sockets_has_no_counters),
	KUNIT_CASE(counters_are_shown_by_name),
	KUNIT_CASE(reasons_are_counted_at_both_sides_and_beyond_16_bits),
	KUNIT_CASE(sizes_are_classed_as_by_deployed_tools),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_netlink",
	.suite_init = nl_suite_init,
	.suite_exit = nl_suite_exit,
	.init = nl_init,
	.exit = nl_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
