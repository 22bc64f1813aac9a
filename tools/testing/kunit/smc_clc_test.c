// SPDX-License-Identifier: GPL-2.0
/*
 * CLC messages over a TCP connection through loopback. The code under test runs at one of its
 * ends.
 */
#include "smc_kunit.h"
#include <linux/inet.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "../../../net/smc/sock/smc_clc.c"
#include "smc_kunit_clc.h"

/* Longer than any step takes; a case that waits until then has failed. */
#define CLC_LONG	(20 * HZ)
#define CLC_ANY		0x1e

struct clc_pair {
	struct socket *near;
	struct socket *far;
};

static const u8 clc_decline_bytes[] = {
	0xe2, 0xd4, 0xc3, 0xd9, 0x04, 0x00, 0x1c, 0x18,
	0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc,
	0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0xe2, 0xd4, 0xc3, 0xd9,
};

static int clc_act_close(struct clc_pair *pair)
{
	return kernel_sock_shutdown(pair->far, SHUT_WR);
}

static void clc_act_reset(struct clc_pair *pair)
{
	struct socket *far = pair->far;

	pair->far = NULL;
	sock_no_linger(far->sk);
	sock_release(far);
}

static int clc_recv_now(struct clc_pair *pair, struct smc_clc_rx *rx, struct smc_clc_msg *msg,
			u8 expected, enum smc_decline *refused)
{
	struct sock *sk = pair->near->sk;
	int ret;

	lock_sock(sk);
	ret = smc_clc_recv(sk, rx, msg, expected, refused);
	release_sock(sk);
	return ret;
}

static int clc_take_decline(struct clc_pair *pair, struct smc_clc_rx *rx, const u8 *peer_id)
{
	struct sock *sk = pair->near->sk;
	int ret;

	lock_sock(sk);
	ret = smc_clc_take_decline(sk, rx, peer_id);
	release_sock(sk);
	return ret;
}

/*
 * Calls the code under test on each event of TCP until it returns something other than
 * -EAGAIN or has gathered @enough bytes. Loopback is fast; a case that waits longer fails.
 */
static int clc_recv_until(struct clc_pair *pair, struct smc_clc_rx *rx,
			  struct smc_clc_msg *msg, u8 expected,
			  enum smc_decline *refused, u16 enough)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	wait_queue_head_t *wq = sk_sleep(pair->near->sk);
	long timeout = CLC_LONG;
	int ret;

	add_wait_queue(wq, &wait);
	for (;;) {
		ret = clc_recv_now(pair, rx, msg, expected, refused);
		if (ret != -EAGAIN || rx->done >= enough || !timeout)
			break;
		timeout = wait_woken(&wait, TASK_INTERRUPTIBLE, timeout);
	}
	remove_wait_queue(wq, &wait);
	return ret;
}

static int clc_recv_soon(struct clc_pair *pair, struct smc_clc_rx *rx,
			 struct smc_clc_msg *msg, u8 expected,
			 enum smc_decline *refused)
{
	return clc_recv_until(pair, rx, msg, expected, refused, U16_MAX);
}

/* The number of bytes gathered when @len bytes of a message have come. */
static int clc_gather(struct clc_pair *pair, struct smc_clc_rx *rx,
		      struct smc_clc_msg *msg, u16 len)
{
	enum smc_decline refused;
	int ret;

	ret = clc_recv_until(pair, rx, msg, CLC_ANY, &refused, len);
	if (ret == -EAGAIN)
		return rx->done;
	return ret ?: 28;
}

static const u8 clc_peer_id[SMC_PEER_ID_LEN] = {
	0x12, 0x34, 0x52, 0x54, 0x00, 0xaa, 0xbb, 0xcc
};

static int clc_far_send(struct clc_pair *pair, const void *bytes, size_t len)
{
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL };
	struct kvec vec = { .iov_base = (void *)bytes, .iov_len = len };

	return kernel_sendmsg(pair->far, &msg, &vec, 1, len);
}

/* Waits for @len bytes at one end, for at most a few seconds. */
static int clc_read_all(struct socket *sock, void *bytes, size_t len)
{
	struct kvec vec = { .iov_base = bytes, .iov_len = len };
	struct msghdr msg = {};

	sock->sk->sk_rcvtimeo = 5 * HZ;
	return kernel_recvmsg(sock, &msg, &vec, 1, len, MSG_WAITALL);
}

/* Loopback is fast; a longer wait is a failure. */
static bool clc_has_come(struct sock *sk, int len)
{
	unsigned long end = jiffies + CLC_LONG;

	while (tcp_inq(sk) < len && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	return tcp_inq(sk) >= len;
}

static int clc_loopback_up(void)
{
	int err;

	rtnl_lock();
	err = dev_change_flags(init_net.loopback_dev,
			       init_net.loopback_dev->flags | IFF_UP, NULL);
	rtnl_unlock();
	return err;
}

static int clc_connect(struct clc_pair *pair, struct socket *listener)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int err;

	err = kernel_bind(listener, (struct sockaddr *)&addr, sizeof(addr));
	if (err)
		return err;
	err = kernel_listen(listener, 1);
	if (err)
		return err;
	err = kernel_getsockname(listener, (struct sockaddr *)&addr);
	if (err < 0)
		return err;
	err = kernel_connect(pair->near, (struct sockaddr *)&addr, sizeof(addr),
			     0);
	if (err)
		return err;
	return kernel_accept(listener, &pair->far, 0);
}

static int clc_test_init(struct kunit *test)
{
	struct socket *listener;
	struct clc_pair *pair;
	int err;

	pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);
	if (!pair)
		return -ENOMEM;
	test->priv = pair;
	err = clc_loopback_up();
	if (err)
		return err;
	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			       &pair->near);
	if (err)
		return err;
	err = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			       &listener);
	if (err)
		return err;
	err = clc_connect(pair, listener);
	sock_release(listener);
	return err;
}

static void clc_test_exit(struct kunit *test)
{
	struct clc_pair *pair = test->priv;

	if (pair && pair->far)
		sock_release(pair->far);
	if (pair && pair->near)
		sock_release(pair->near);
}

static void clc_02_message_is_received(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused = 1;
	struct smc_clc_msg msg;

	KUNIT_ASSERT_EQ(test, 28, clc_far_send(pair, clc_decline_bytes, 28));
	KUNIT_ASSERT_EQ(test, 0,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY,
				      &refused));
	KUNIT_EXPECT_EQ(test, refused, SMC_DECLINE_NONE);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_CLC_DECLINE);
	KUNIT_EXPECT_EQ(test, msg.decline.diagnosis, 0x04000000);
	KUNIT_EXPECT_TRUE(test, msg.decline.out_of_sync);
}

static void clc_11_dcln_03_data_behind_a_message_stays(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;
	u8 bytes[28 + 28 + 5];
	char rest[6] = {};

	/* Even where it looks like another message (CLC-10) */
	memcpy(bytes, clc_decline_bytes, 28);
	memcpy(bytes + 28, clc_decline_bytes, 28);
	memcpy(bytes + 56, "hello", 5);
	KUNIT_ASSERT_EQ(test, sizeof(bytes),
			clc_far_send(pair, bytes, sizeof(bytes)));
	KUNIT_ASSERT_EQ(test, 0,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY,
				      &refused));
	KUNIT_ASSERT_EQ(test, 28, clc_read_all(pair->near, bytes, 28));
	KUNIT_EXPECT_MEMEQ(test, bytes, clc_decline_bytes, 28);
	KUNIT_ASSERT_EQ(test, 5, clc_read_all(pair->near, rest, 5));
	KUNIT_EXPECT_STREQ(test, rest, "hello");
}

static void clc_07_err_15_unexpected_type(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;

	KUNIT_ASSERT_EQ(test, 28, clc_far_send(pair, clc_decline_bytes, 28));
	KUNIT_EXPECT_EQ(test, -EPROTO,
			clc_recv_soon(pair, &rx, &msg, SMC_CLC_EXPECT(SMC_CLC_ACCEPT),
				      &refused));
}

static void err_15_application_data_is_refused(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;

	KUNIT_ASSERT_EQ(test, 8, clc_far_send(pair, "GET / HT", 8));
	KUNIT_EXPECT_EQ(test, -ENOMSG,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY, &refused));
}

/* Shorter than a header, and it stays for the application. */
static void err_15_the_first_wrong_byte_is_refused(struct kunit *test)
{
	static const struct {
		u8 bytes[6];
		u8 len;
		int rc;
	} rows[] = {
		{ "G", 1, -ENOMSG },
		{ "GET /", 5, -ENOMSG },
		{ { 0xe2, 0xd4, 0xc3, 'x' }, 4, -ENOMSG },
		{ { 0xe2, 0xd4, 0xc3, 0xd9, SMC_CLC_PROPOSAL }, 5, -EPROTO },
		{ { 0xe2, 0xd4, 0xc3, 0xd9, 0 }, 5, -EPROTO },
		{ { 0xe2, 0xd4, 0xc3, 0xd9, 0xff }, 5, -EPROTO },
		{ { 0xe2 }, 1, -EAGAIN },
		{ { 0xe2, 0xd4, 0xc3, 0xd9, SMC_CLC_ACCEPT, 0 }, 6, -EAGAIN },
	};
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;
	u8 bytes[6];
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_ASSERT_EQ(test, rows[i].len,
				clc_far_send(pair, rows[i].bytes, rows[i].len));
		KUNIT_EXPECT_TRUE(test, clc_has_come(pair->near->sk, rows[i].len));
		KUNIT_EXPECT_EQ_MSG(test, rows[i].rc,
				    clc_recv_now(pair, &rx, &msg, SMC_CLC_EXPECT(SMC_CLC_ACCEPT),
						 &refused), "row %d", i);
		KUNIT_EXPECT_EQ(test, 0, rx.done);
		KUNIT_ASSERT_EQ(test, rows[i].len, clc_read_all(pair->near, bytes, rows[i].len));
		KUNIT_EXPECT_MEMEQ(test, bytes, rows[i].bytes, rows[i].len);
	}
}

static void err_16_bad_trailer(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;
	u8 bytes[28];

	memcpy(bytes, clc_decline_bytes, 28);
	bytes[27] = 0;
	KUNIT_ASSERT_EQ(test, 28, clc_far_send(pair, bytes, 28));
	KUNIT_EXPECT_EQ(test, -EPROTO,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY,
				      &refused));
}

static void err_17_unknown_version_is_a_reason_not_an_error(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	struct smc_clc_msg msg = { .type = SMC_CLC_ACCEPT, .version = 1 };
	enum smc_decline refused = SMC_DECLINE_NONE;
	u8 bytes[68];

	msg.accept.gid[0] = 0xfe;
	msg.accept.mac[0] = 0x52;
	msg.accept.rmbe_index = 1;
	KUNIT_ASSERT_EQ(test, 68, smc_kunit_clc_encode(&msg, bytes, sizeof(bytes)));
	bytes[7] = 0;
	KUNIT_ASSERT_EQ(test, 68, clc_far_send(pair, bytes, 68));
	KUNIT_EXPECT_EQ(test, 0,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY,
				      &refused));
	KUNIT_EXPECT_EQ(test, refused, SMC_DECLINE_VERSMISMAT);
	KUNIT_EXPECT_EQ(test, msg.type, SMC_CLC_ACCEPT);
}

static void err_14_a_silent_peer_delays_no_other_handshake(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;

	KUNIT_EXPECT_EQ(test, -EAGAIN,
			clc_recv_now(pair, &rx, &msg, CLC_ANY, &refused));
	KUNIT_EXPECT_EQ(test, 0, rx.done);
}

/* However the message is split: not before its last byte, and no byte behind it. */
static void clc_02_message_in_pieces(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;
	size_t i;

	for (i = 0; i < 27; i++) {
		KUNIT_ASSERT_EQ(test, 1, clc_far_send(pair, clc_decline_bytes + i, 1));
		/* the header stays in TCP's queue until it is complete */
		if (i < 7) {
			KUNIT_ASSERT_TRUE(test, clc_has_come(pair->near->sk, i + 1));
			KUNIT_ASSERT_EQ(test, 0, clc_gather(pair, &rx, &msg, 0));
			continue;
		}
		KUNIT_ASSERT_EQ(test, i + 1, clc_gather(pair, &rx, &msg, i + 1));
	}
	KUNIT_ASSERT_EQ(test, 1, clc_far_send(pair, clc_decline_bytes + i, 1));
	KUNIT_EXPECT_EQ(test, 0,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY, &refused));
	KUNIT_EXPECT_EQ(test, msg.type, SMC_CLC_DECLINE);
	KUNIT_EXPECT_EQ(test, 0, rx.done);
}

static void clc_02_second_message_after_the_first(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;
	int i;

	KUNIT_ASSERT_EQ(test, 28, clc_far_send(pair, clc_decline_bytes, 28));
	KUNIT_ASSERT_EQ(test, 28, clc_far_send(pair, clc_decline_bytes, 28));
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, 0,
				clc_recv_soon(pair, &rx, &msg, CLC_ANY, &refused));
}

static void clc_02_receive_low_water_mark_does_not_matter(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;
	u8 bytes[56];

	memcpy(bytes, clc_decline_bytes, 28);
	memcpy(bytes + 28, clc_decline_bytes, 28);
	KUNIT_ASSERT_EQ(test, 56, clc_far_send(pair, bytes, 56));
	KUNIT_ASSERT_EQ(test, 0,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY, &refused));
	pair->near->sk->sk_rcvlowat = 1000;
	KUNIT_EXPECT_EQ(test, 0,
			clc_recv_now(pair, &rx, &msg, CLC_ANY, &refused));
	KUNIT_EXPECT_EQ(test, pair->near->sk->sk_rcvlowat, 1000);
}

/* The offset counts bytes of the application, which has not read any yet. */
static void clc_02_an_offset_for_peeking_does_not_matter(struct kunit *test)
{
	static const int offsets[] = { 0, 5 };
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	struct sock *sk = pair->near->sk;
	enum smc_decline refused;
	struct smc_clc_msg msg;
	int i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		sk->sk_peek_off = offsets[i];
		KUNIT_ASSERT_EQ(test, 28, clc_far_send(pair, clc_decline_bytes, 28));
		KUNIT_EXPECT_EQ(test, 0, clc_recv_soon(pair, &rx, &msg, CLC_ANY, &refused));
		KUNIT_EXPECT_EQ(test, sk->sk_peek_off, offsets[i]);

		KUNIT_ASSERT_EQ(test, 28, clc_far_send(pair, clc_decline_bytes, 28));
		KUNIT_ASSERT_EQ(test, 8, clc_far_send(pair, "payload", 8));
		KUNIT_EXPECT_TRUE(test, clc_has_come(sk, 28 + 8));
		KUNIT_EXPECT_EQ(test, 0, clc_take_decline(pair, &rx, clc_peer_id));
		KUNIT_EXPECT_EQ(test, sk->sk_peek_off, offsets[i]);
		KUNIT_EXPECT_EQ(test, -ENOMSG, clc_take_decline(pair, &rx, clc_peer_id));
		KUNIT_EXPECT_EQ(test, sk->sk_peek_off, offsets[i]);
		sk->sk_peek_off = -1;
		KUNIT_ASSERT_EQ(test, 8, clc_read_all(pair->near, rx.bytes, 8));
	}
}

static void clc_13_peer_closes(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;

	clc_act_close(pair);
	KUNIT_EXPECT_EQ(test, -ECONNRESET,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY, &refused));
}

static void clc_13_peer_closes_within_a_message(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;

	KUNIT_ASSERT_EQ(test, 27, clc_far_send(pair, clc_decline_bytes, 27));
	clc_act_close(pair);
	KUNIT_EXPECT_EQ(test, -ECONNRESET,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY, &refused));
}

static void clc_13_peer_resets(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;

	clc_act_reset(pair);
	KUNIT_EXPECT_EQ(test, -ECONNRESET,
			clc_recv_soon(pair, &rx, &msg, CLC_ANY, &refused));
}

static void clc_13_closed_here(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	enum smc_decline refused;
	struct smc_clc_msg msg;

	kernel_sock_shutdown(pair->near, SHUT_RDWR);
	KUNIT_EXPECT_EQ(test, -ECONNRESET,
			clc_recv_now(pair, &rx, &msg, CLC_ANY, &refused));
}

static struct smc_clc_tx clc_tx;	/* too large for a stack */

static int clc_send_rest(struct sock *sk, bool if_quiet)
{
	int ret;

	lock_sock(sk);
	ret = smc_clc_send(sk, &clc_tx, if_quiet);
	release_sock(sk);
	return ret;
}

static int clc_send(struct sock *sk, const struct smc_clc_msg *msg, bool if_quiet)
{
	return smc_clc_prepare(&clc_tx, msg) ?: clc_send_rest(sk, if_quiet);
}

static int clc_decline(struct sock *sk, enum smc_decline code, bool if_quiet)
{
	struct smc_clc_msg msg;

	smc_nego_build_decline(&msg, clc_peer_id, code, code == SMC_DECLINE_SYNCERR, SMC_CLC_V1);
	return clc_send(sk, &msg, if_quiet);
}

static void dcln_01_decline_arrives(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	u8 bytes[28];

	KUNIT_ASSERT_EQ(test, 0, clc_decline(pair->near->sk, SMC_DECLINE_SYNCERR, false));
	KUNIT_ASSERT_EQ(test, 28, clc_read_all(pair->far, bytes, 28));
	KUNIT_EXPECT_MEMEQ(test, bytes, clc_decline_bytes, 28);
}

static void dcln_03_declines_cross(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	u8 bytes[8];

	KUNIT_EXPECT_EQ(test, -ENODATA, clc_take_decline(pair, &rx, clc_peer_id));
	KUNIT_ASSERT_EQ(test, 10, clc_far_send(pair, clc_decline_bytes, 10));
	KUNIT_EXPECT_EQ(test, -EEXIST, clc_decline(pair->near->sk, SMC_DECLINE_SYNCERR, true));
	KUNIT_EXPECT_TRUE(test, smc_clc_is_acked(pair->near->sk));
	KUNIT_EXPECT_EQ(test, -EAGAIN, clc_take_decline(pair, &rx, clc_peer_id));
	KUNIT_ASSERT_EQ(test, 18, clc_far_send(pair, clc_decline_bytes + 10, 18));
	KUNIT_ASSERT_EQ(test, 8, clc_far_send(pair, "payload", 8));
	KUNIT_EXPECT_EQ(test, 0, clc_take_decline(pair, &rx, clc_peer_id));
	KUNIT_EXPECT_EQ(test, 0, rx.done);
	KUNIT_EXPECT_EQ(test, -ENOMSG, clc_take_decline(pair, &rx, clc_peer_id));
	KUNIT_ASSERT_EQ(test, 8, clc_read_all(pair->near, bytes, 8));
	KUNIT_EXPECT_MEMEQ(test, bytes, "payload", 8);
}

static void dcln_03_data_like_a_decline_stays(struct kunit *test)
{
	static const u8 other[SMC_PEER_ID_LEN] = { 0x12, 0x35 };
	struct clc_pair *pair = test->priv;
	static struct smc_clc_rx rx;	/* too large for a stack */
	u8 bytes[28];

	KUNIT_ASSERT_EQ(test, 28, clc_far_send(pair, clc_decline_bytes, 28));
	KUNIT_EXPECT_EQ(test, -ENOMSG, clc_take_decline(pair, &rx, other));
	KUNIT_ASSERT_EQ(test, 28, clc_read_all(pair->near, bytes, 28));
	KUNIT_EXPECT_MEMEQ(test, bytes, clc_decline_bytes, 28);
}

static void prop_04_longest_message_is_sent(struct kunit *test)
{
	struct smc_clc_msg msg = { .type = SMC_CLC_PROPOSAL, .version = 1 };
	struct clc_pair *pair = test->priv;
	u8 bytes[188];

	msg.proposal.nr_prefixes = 8;
	KUNIT_ASSERT_EQ(test, 0, clc_send(pair->near->sk, &msg, false));
	KUNIT_ASSERT_EQ(test, 188, clc_read_all(pair->far, bytes, 188));
	KUNIT_EXPECT_EQ(test, bytes[47], 8);
}

/* The cork option stays set, but the message is sent. */
static void dcln_03_message_leaves_at_once(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	struct tcp_sock *tp = tcp_sk(pair->near->sk);
	unsigned int i;
	u8 bytes[28];

	tcp_sock_set_cork(pair->near->sk, true);
	KUNIT_ASSERT_EQ(test, tp->nonagle + 0, TCP_NAGLE_CORK);
	/* The first message is not acknowledged yet when the second is sent. */
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, 0,
				clc_decline(pair->near->sk, SMC_DECLINE_SYNCERR, false));
		KUNIT_EXPECT_EQ(test, tp->snd_nxt, tp->write_seq);
		KUNIT_EXPECT_EQ(test, tp->nonagle + 0, TCP_NAGLE_CORK);
	}
	KUNIT_ASSERT_EQ(test, 28, clc_read_all(pair->far, bytes, 28));
	KUNIT_ASSERT_EQ(test, 28, clc_read_all(pair->far, bytes, 28));
}

static void clc_05_message_of_another_version_is_not_sent(struct kunit *test)
{
	struct smc_clc_msg msg = { .type = SMC_CLC_DECLINE, .version = 3 };
	struct clc_pair *pair = test->priv;

	KUNIT_EXPECT_EQ(test, -EINVAL, clc_send(pair->near->sk, &msg, false));
	KUNIT_EXPECT_EQ(test, tcp_sk(pair->near->sk)->snd_nxt,
			tcp_sk(pair->near->sk)->write_seq);
}

/* TCP records that in struct socket, which a child before accept() lacks. */
static void clc_13_no_memory_and_no_file(struct kunit *test)
{
	struct clc_pair *pair = test->priv;
	struct sock *sk = pair->near->sk;
	int sndbuf = sk->sk_sndbuf;
	u8 got[28];

	WRITE_ONCE(sk->sk_socket, NULL);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
	WRITE_ONCE(sk->sk_sndbuf, 0);
	KUNIT_EXPECT_EQ(test, -EAGAIN, clc_decline(sk, SMC_DECLINE_SYNCERR, false));
	KUNIT_EXPECT_EQ(test, clc_tx.done, 0);
	WRITE_ONCE(sk->sk_sndbuf, sndbuf);
	/* only the rest is sent, and once */
	clc_tx.done = 10;
	KUNIT_EXPECT_EQ(test, 0, clc_send_rest(sk, true));
	KUNIT_EXPECT_EQ(test, 0, clc_send_rest(sk, true));
	KUNIT_EXPECT_FALSE(test, smc_clc_is_pending(&clc_tx));
	KUNIT_EXPECT_NULL(test, sk->sk_socket);
	rcu_assign_pointer(sk->sk_wq, &pair->near->wq);
	WRITE_ONCE(sk->sk_socket, pair->near);
	KUNIT_EXPECT_EQ(test, 18, clc_read_all(pair->far, got, 18));
	KUNIT_EXPECT_MEMEQ(test, got, clc_decline_bytes + 10, 18);
	KUNIT_EXPECT_EQ(test, tcp_inq(pair->far->sk), 0);
}

static void clc_13_send_after_shutdown_fails(struct kunit *test)
{
	struct clc_pair *pair = test->priv;

	kernel_sock_shutdown(pair->near, SHUT_RDWR);
	KUNIT_EXPECT_EQ(test, -EPIPE,
			clc_decline(pair->near->sk, SMC_DECLINE_MEM, false));
}

static struct kunit_case smc_clc_cases[] = {
	KUNIT_CASE(clc_02_message_is_received),
	KUNIT_CASE(clc_11_dcln_03_data_behind_a_message_stays),
	KUNIT_CASE(clc_07_err_15_unexpected_type),
	KUNIT_CASE(err_15_application_data_is_refused),
	KUNIT_CASE(err_15_the_first_wrong_byte_is_refused),
	KUNIT_CASE(err_16_bad_trailer),
	KUNIT_CASE(err_17_unknown_version_is_a_reason_not_an_error),
	KUNIT_CASE(err_14_a_silent_peer_delays_no_other_handshake),
	KUNIT_CASE(clc_02_message_in_pieces),
	KUNIT_CASE(clc_02_second_message_after_the_first),
	KUNIT_CASE(clc_02_receive_low_water_mark_does_not_matter),
	KUNIT_CASE(clc_02_an_offset_for_peeking_does_not_matter),
	KUNIT_CASE(clc_13_peer_closes),
	KUNIT_CASE(clc_13_peer_closes_within_a_message),
	KUNIT_CASE(clc_13_peer_resets),
	KUNIT_CASE(clc_13_closed_here),
	KUNIT_CASE(dcln_01_decline_arrives),
	KUNIT_CASE(prop_04_longest_message_is_sent),
	KUNIT_CASE(dcln_03_message_leaves_at_once),
	KUNIT_CASE(dcln_03_declines_cross),
	KUNIT_CASE(dcln_03_data_like_a_decline_stays),
	KUNIT_CASE(clc_05_message_of_another_version_is_not_sent),
	KUNIT_CASE(clc_13_no_memory_and_no_file),
	KUNIT_CASE(clc_13_send_after_shutdown_fails),
	{}
};

static struct kunit_suite smc_clc_suite = {
	.name = "smc_clc",
	.init = clc_test_init,
	.exit = clc_test_exit,
	.test_cases = smc_clc_cases,
};

kunit_test_suite(smc_clc_suite);
