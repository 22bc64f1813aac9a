// SPDX-License-Identifier: GPL-2.0
/* What is unusual on a connection: each cause has its bit, and plain traffic has none. */
#include "smc_kunit.h"

#include "../../../net/smc/group/smc_core.h"
#include "../../../net/smc/group/smc_attn.c"

struct attn_case {
	struct smc_conn conn;
	struct smc_link link;
};

/* An open connection that has sent and received, and has nothing to say. */
static struct smc_conn *attn_new(struct kunit *test)
{
	struct attn_case *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct smc_conn *conn = &c->conn;

	KUNIT_ASSERT_NOT_NULL(test, c);
	spin_lock_init(&conn->lock);
	smc_cdc_ctl_init(&conn->ctl, 0, SZ_64K, SZ_64K, SZ_64K);
	conn->phase = SMC_CONN_OPEN;
	rcu_assign_pointer(conn->link, &c->link);
	conn->ctl.tx_prep = 3000;
	conn->ctl.tx_sent = 2000;
	conn->ctl.tx_urg_sent = 1000;
	conn->ctl.tx_cons = 1000;
	conn->ctl.rx_prod = 500;
	conn->tx_inflight = 1;
	conn->wants_room = true;
	conn->is_awaited = true;
	return conn;
}

/* Return: what is unusual after another change. */
static u32 attn_unlock(struct smc_conn *conn)
{
	spin_lock_bh(&conn->lock);
	smc_conn_unlock(conn);
	return READ_ONCE(conn->attn);
}

static void plain_traffic_has_none(struct kunit *test)
{
	struct smc_conn *conn = attn_new(test);

	conn->attn = ~0U;
	KUNIT_EXPECT_EQ(test, attn_unlock(conn), 0U);
}

#define ATTN_CASE(cause, want)						\
do {									\
	struct smc_conn *conn = attn_new(test);				\
	struct smc_cdc_ctl *ctl __maybe_unused = &conn->ctl;		\
									\
	cause;								\
	KUNIT_EXPECT_EQ_MSG(test, attn_unlock(conn), (u32)(want), "%s", #cause); \
} while (0)

static void each_cause_has_its_bit(struct kunit *test)
{
	static struct smc_stamps *stamps = (void *)1;
	struct sk_buff skb;

	ATTN_CASE(conn->phase = SMC_CONN_SETUP, SMC_ATTN_PHASE);
	ATTN_CASE(conn->phase = SMC_CONN_LEAVING, SMC_ATTN_PHASE);
	ATTN_CASE(conn->phase = SMC_CONN_LEFT, SMC_ATTN_PHASE);
	ATTN_CASE(RCU_INIT_POINTER(conn->link, NULL), SMC_ATTN_PHASE);
	ATTN_CASE(ctl->rx_conn_flags = SMC_CDC_DONE, SMC_ATTN_END);
	ATTN_CASE(ctl->rx_conn_flags = SMC_CDC_ABORT, SMC_ATTN_END);
	ATTN_CASE(ctl->tx_conn_flags = SMC_CDC_DONE, SMC_ATTN_END);
	ATTN_CASE(conn->wants_drain = true, SMC_ATTN_END);
	ATTN_CASE(conn->is_purged = true, SMC_ATTN_END);
	ATTN_CASE(ctl->tx_urg = 2001, SMC_ATTN_URG);
	ATTN_CASE(ctl->tx_urg_sent = 1001, SMC_ATTN_URG);
	ATTN_CASE(ctl->rx_urg = SMC_URG_OUT_OF_LINE, SMC_ATTN_URG);
	ATTN_CASE(ctl->rx_prod_flags = SMC_CDC_URG_PENDING, SMC_ATTN_URG);
	ATTN_CASE(ctl->rx_prod_flags = SMC_CDC_URG_PRESENT, SMC_ATTN_URG);
	ATTN_CASE(conn->tx_cork = true, SMC_ATTN_CORK);
	ATTN_CASE(conn->tx_flush = true, SMC_ATTN_CORK);
	ATTN_CASE(conn->stamps = stamps, SMC_ATTN_NOTICE);
	ATTN_CASE(conn->tx_pages = &skb, SMC_ATTN_NOTICE);
	ATTN_CASE(conn->tx_is_timed = true, SMC_ATTN_NOTICE);
	ATTN_CASE(ctl->rx_is_update_due = true, SMC_ATTN_PEER);
	ATTN_CASE(ctl->rx_prod_flags = SMC_CDC_BLOCKED, SMC_ATTN_PEER);
	ATTN_CASE(ctl->rx_prod_flags = SMC_CDC_UPDATE_REQ, SMC_ATTN_PEER);
	ATTN_CASE(ctl->rx_nr_waits = 1, SMC_ATTN_HELD);
	ATTN_CASE(ctl->rx_is_replayed = true, SMC_ATTN_HELD);
	ATTN_CASE(ctl->tx_is_replaying = true, SMC_ATTN_HELD);
	ATTN_CASE(ctl->rx_edge.base = SMC_EYE_CATCHER_LEN, SMC_ATTN_MEMORY);
	ATTN_CASE(ctl->tx_edge.base = SMC_EYE_CATCHER_LEN, SMC_ATTN_MEMORY);
	ATTN_CASE(conn->needs_sync = true, SMC_ATTN_MEMORY);
}

static struct kunit_case attn_cases[] = {
	KUNIT_CASE(plain_traffic_has_none),
	KUNIT_CASE(each_cause_has_its_bit),
	{}
};

static struct kunit_suite attn_suite = {
	.name = "smc_attn",
	.test_cases = attn_cases,
};

kunit_test_suite(attn_suite);
