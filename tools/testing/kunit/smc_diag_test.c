// SPDX-License-Identifier: GPL-2.0
/*
 * The report of sock_diag about a connection's link. The link has no queues.
 */
#include <linux/module.h>
#include <linux/net.h>

#include "smc_kunit.h"

/* smc_diag is a module of its own; here it is part of another. */
#undef __init
#undef __exit
#undef module_init
#undef module_exit
#undef MODULE_DESCRIPTION
#undef MODULE_LICENSE
#undef MODULE_ALIAS_NET_PF_PROTO_TYPE
#define __init __maybe_unused
#define __exit __maybe_unused
#define module_init(...)
#define module_exit(...)
#define MODULE_DESCRIPTION(...)
#define MODULE_LICENSE(...)
#define MODULE_ALIAS_NET_PF_PROTO_TYPE(...)

#include "../../../net/smc/control/smc_diag.c"

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

static struct kunit_case cases[] = {
	KUNIT_CASE(a_stream_that_has_not_begun_is_at_0),
	KUNIT_CASE(lid_06_a_link_without_queues_still_has_its_names),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_diag",
	.test_cases = cases,
};

kunit_test_suite(suite);
