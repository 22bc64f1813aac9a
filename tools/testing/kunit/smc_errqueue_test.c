// SPDX-License-Identifier: GPL-2.0
/*
 * Timestamps and zerocopy notices for sent data, on a ring that only counts.
 */
#include "smc_kunit.h"

#include "../../../net/smc/sock/smc_errqueue.c"

#define NOTICE_RING	16384
#define NOTICE_FLAGS	(SOF_TIMESTAMPING_TX_ACK | SOF_TIMESTAMPING_SOFTWARE | \
			 SOF_TIMESTAMPING_OPT_ID)
#define NOTICE_OTHERS	(SOF_TIMESTAMPING_TX_SCHED | SOF_TIMESTAMPING_TX_SOFTWARE | \
			 SOF_TIMESTAMPING_TX_HARDWARE)

static struct proto notice_proto = {
	.name = "smc_errqueue_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct sock),
};

static int notice_test_init(struct kunit *test)
{
	struct smc_conn *conn;
	struct sock *sk;

	sk = sk_alloc(&init_net, PF_SMC, GFP_KERNEL, &notice_proto, 1);
	if (!sk)
		return -ENOMEM;
	sock_init_data(NULL, sk);
	sk->sk_tsflags = NOTICE_FLAGS;
	conn = kunit_kzalloc(test, sizeof(*conn), GFP_KERNEL);
	if (!conn) {
		sock_put(sk);
		return -ENOMEM;
	}
	conn->sk = sk;
	spin_lock_init(&conn->lock);
	conn->ctl.snd_size = NOTICE_RING;
	test->priv = conn;
	return 0;
}

static void notice_test_exit(struct kunit *test)
{
	struct smc_conn *conn = test->priv;

	if (!conn)
		return;
	skb_queue_purge(&conn->sk->sk_error_queue);
	kfree(conn->stamps);
	sock_put(conn->sk);
}

/* A send() of @len bytes with a timestamp. */
static void notice_send(struct smc_conn *conn, u32 len, u32 tsflags)
{
	lock_sock(conn->sk);
	smc_errqueue_prepare(conn, tsflags);
	spin_lock_bh(&conn->lock);
	conn->ctl.tx_prep += len;
	smc_errqueue_request(conn, tsflags);
	spin_unlock_bh(&conn->lock);
	smc_errqueue_report(conn);
	release_sock(conn->sk);
}

static void notice_complete(struct smc_conn *conn, u32 len)
{
	conn->ctl.tx_fin += len;
	smc_errqueue_report(conn);
}

/* The next notice is for byte @byte. */
static void notice_expect(struct kunit *test, u32 byte)
{
	struct smc_conn *conn = test->priv;
	struct sk_buff *skb = sock_dequeue_err_skb(conn->sk);
	struct sock_exterr_skb *serr;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	serr = SKB_EXT_ERR(skb);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_errno, ENOMSG);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_origin, SO_EE_ORIGIN_TIMESTAMPING);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_info, SCM_TSTAMP_ACK);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_data, byte);
	KUNIT_EXPECT_NE(test, skb->tstamp, 0);
	KUNIT_EXPECT_EQ(test, skb->len, 0);
	kfree_skb(skb);
}

static void notice_expect_none(struct kunit *test)
{
	struct smc_conn *conn = test->priv;

	KUNIT_EXPECT_EQ(test, skb_queue_len(&conn->sk->sk_error_queue), 0);
}

static void a_stamp_comes_when_it_is_due(struct kunit *test)
{
	struct smc_conn *conn = test->priv;

	notice_send(conn, 1000, NOTICE_FLAGS);
	notice_expect_none(test);
	/* all but the last byte */
	notice_complete(conn, 999);
	notice_expect_none(test);
	notice_complete(conn, 1);
	notice_expect(test, 999);
	notice_complete(conn, 0);
	notice_expect_none(test);
}

static struct smc_conn *notice_interrupted;

/* The rest completes while the first notice is queued. */
static void notice_interrupts(struct sock *sk)
{
	struct smc_conn *conn = notice_interrupted;
	u32 was = skb_queue_len(&sk->sk_error_queue);

	if (was > 1)
		return;
	notice_complete(conn, 500);
	/* the task that queues the first notice also queues this one */
	if (skb_queue_len(&sk->sk_error_queue) != was)
		sk->sk_err = EBUSY;
}

static void one_task_at_a_time_reports_stamps(struct kunit *test)
{
	struct smc_conn *conn = test->priv;

	notice_interrupted = conn;
	conn->sk->sk_error_report = notice_interrupts;
	notice_send(conn, 1000, NOTICE_FLAGS);
	notice_send(conn, 500, NOTICE_FLAGS);
	notice_complete(conn, 1000);
	KUNIT_EXPECT_EQ(test, conn->sk->sk_err, 0);
	KUNIT_EXPECT_EQ(test, skb_queue_len(&conn->sk->sk_error_queue), 2);
	notice_expect(test, 999);
	notice_expect(test, 1499);
	notice_expect_none(test);
}

static void only_requested_stamps_are_reported(struct kunit *test)
{
	struct smc_conn *conn = test->priv;

	notice_send(conn, 10, SOF_TIMESTAMPING_SOFTWARE | NOTICE_OTHERS);
	KUNIT_EXPECT_NULL(test, conn->stamps);
	notice_send(conn, 10, SOF_TIMESTAMPING_TX_ACK);
	notice_send(conn, 10, NOTICE_OTHERS);
	notice_complete(conn, 30);
	notice_expect(test, 19);
	notice_expect_none(test);
}

/* As on TCP, where they are in one packet. */
static void those_that_find_no_place_share_the_last_one(struct kunit *test)
{
	struct smc_conn *conn = test->priv;
	u32 i;

	for (i = 0; i < NOTICE_STAMPS + 10; i++)
		notice_send(conn, 2, SOF_TIMESTAMPING_TX_ACK);
	notice_complete(conn, 2 * i);
	for (i = 0; i < NOTICE_STAMPS - 1; i++)
		notice_expect(test, 2 * i + 1);
	notice_expect(test, 2 * (NOTICE_STAMPS + 10) - 1);
	notice_expect_none(test);
}

static void discarded_data_gets_no_stamp(struct kunit *test)
{
	struct smc_conn *conn = test->priv;

	notice_send(conn, 10, SOF_TIMESTAMPING_TX_ACK);
	spin_lock_bh(&conn->lock);
	smc_errqueue_discard(conn);
	spin_unlock_bh(&conn->lock);
	notice_complete(conn, 10);
	notice_expect_none(test);
}

static void stamps_go_round_the_ring(struct kunit *test)
{
	struct smc_conn *conn = test->priv;
	u32 byte = U32_MAX;
	int i;

	for (i = 0; i < 100; i++) {
		u32 len = i % 2 ? NOTICE_RING : 777;

		byte += len;
		notice_send(conn, len, SOF_TIMESTAMPING_TX_ACK);
		notice_complete(conn, len - 1);
		notice_expect_none(test);
		notice_complete(conn, 1);
		notice_expect(test, byte);
	}
}

/* TCP does not report when its option was set: the next send() sees it. */
static void bytes_count_from_where_it_was_asked_for(struct kunit *test)
{
	struct smc_conn *conn = test->priv;

	notice_send(conn, 1000, 0);
	notice_complete(conn, 400);
	notice_send(conn, 10, NOTICE_FLAGS);
	notice_complete(conn, 610);
	notice_expect(test, 9);
	/* as long as it is set, with or without a stamp for each send() */
	notice_send(conn, 600, 0);
	notice_send(conn, 10, NOTICE_FLAGS);
	notice_complete(conn, 610);
	notice_expect(test, 10 + 600 + 10 - 1);
	/* without OPT_ID bytes are not counted */
	conn->sk->sk_tsflags &= ~SOF_TIMESTAMPING_OPT_ID;
	notice_send(conn, 10, SOF_TIMESTAMPING_TX_ACK);
	notice_complete(conn, 10);
	notice_expect(test, 0);
	/* set again, it counts from the start */
	conn->sk->sk_tsflags |= SOF_TIMESTAMPING_OPT_ID;
	notice_send(conn, 5, NOTICE_FLAGS);
	notice_complete(conn, 5);
	notice_expect(test, 4);
}

static void unread_notices_are_bounded(struct kunit *test)
{
	struct smc_conn *conn = test->priv;
	int i;

	conn->sk->sk_rcvbuf = SOCK_MIN_RCVBUF;
	for (i = 0; i < 1000; i++) {
		notice_send(conn, 1, SOF_TIMESTAMPING_TX_ACK);
		notice_complete(conn, 1);
	}
	KUNIT_EXPECT_GT(test, skb_queue_len(&conn->sk->sk_error_queue), 0);
	KUNIT_EXPECT_LT(test, skb_queue_len(&conn->sk->sk_error_queue), 100);
	KUNIT_EXPECT_LT(test, atomic_read(&conn->sk->sk_rmem_alloc), SOCK_MIN_RCVBUF);
}

/* One send() with MSG_ZEROCOPY that took all or nothing. */
static int notice_zerocopy(struct smc_conn *conn, size_t len, bool was_sent)
{
	struct msghdr msg = { .msg_flags = MSG_ZEROCOPY };
	struct ubuf_info *uarg;
	int rc;

	lock_sock(conn->sk);
	rc = smc_errqueue_zerocopy_begin(conn->sk, &msg, len, 0, &uarg);
	if (!rc)
		smc_errqueue_zerocopy_end(uarg, was_sent, true);
	release_sock(conn->sk);
	return rc;
}

static void copies_are_reported_and_numbered(struct kunit *test)
{
	struct smc_conn *conn = test->priv;
	struct sock_exterr_skb *serr;
	struct sk_buff *skb;

	/* not requested */
	KUNIT_EXPECT_EQ(test, notice_zerocopy(conn, 100, true), 0);
	notice_expect_none(test);
	sock_set_flag(conn->sk, SOCK_ZEROCOPY);
	KUNIT_EXPECT_EQ(test, notice_zerocopy(conn, 0, true), 0);
	notice_expect_none(test);

	KUNIT_EXPECT_EQ(test, notice_zerocopy(conn, 100, true), 0);
	KUNIT_EXPECT_EQ(test, notice_zerocopy(conn, 100, false), 0);
	KUNIT_EXPECT_EQ(test, notice_zerocopy(conn, 100, true), 0);
	/* one notice for a range; a send() that took nothing has no number */
	skb = sock_dequeue_err_skb(conn->sk);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	serr = SKB_EXT_ERR(skb);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_errno, 0);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_origin, SO_EE_ORIGIN_ZEROCOPY);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_code, SO_EE_CODE_ZEROCOPY_COPIED);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_info, 0);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_data, 1);
	kfree_skb(skb);
	notice_expect_none(test);
}

/* A program may never read them, also over many connections of one sock. */
static void unread_notices_of_zerocopy_share_one(struct kunit *test)
{
	struct smc_conn *conn = test->priv;
	struct sock_exterr_skb *serr;
	struct sk_buff *skb;
	int i;

	sock_set_flag(conn->sk, SOCK_ZEROCOPY);
	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, notice_zerocopy(conn, 100, true), 0);
	KUNIT_ASSERT_EQ(test, skb_queue_len(&conn->sk->sk_error_queue), 1);
	skb = sock_dequeue_err_skb(conn->sk);
	serr = SKB_EXT_ERR(skb);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_info, 0);
	KUNIT_EXPECT_EQ(test, serr->ee.ee_data, 999);
	kfree_skb(skb);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_stamp_comes_when_it_is_due),
	KUNIT_CASE(one_task_at_a_time_reports_stamps),
	KUNIT_CASE(only_requested_stamps_are_reported),
	KUNIT_CASE(those_that_find_no_place_share_the_last_one),
	KUNIT_CASE(discarded_data_gets_no_stamp),
	KUNIT_CASE(stamps_go_round_the_ring),
	KUNIT_CASE(bytes_count_from_where_it_was_asked_for),
	KUNIT_CASE(unread_notices_are_bounded),
	KUNIT_CASE(copies_are_reported_and_numbered),
	KUNIT_CASE(unread_notices_of_zerocopy_share_one),
	{}
};

static struct kunit_suite suite = {
	.name = "smc_errqueue",
	.init = notice_test_init,
	.exit = notice_test_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
