// SPDX-License-Identifier: GPL-2.0
/*
 * Children until accept() returns them. The listener and its lists are real; the layers below
 * are faked.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

#include "../../../net/smc/sock/smc_close.h"
#include "../../../net/smc/sock/smc_listener.h"
#include "../../../net/smc/rdma/smc_net.h"
#include "../../../net/smc/sock/smc_rx.h"
#include "../../../net/smc/sock/smc_tcp.h"
#include "../../../net/smc/sock/smc_wake.h"

static struct proto child_proto = SMC_KUNIT_PROTO("smc_child_test");

static unsigned int child_nr_resets, child_nr_released, child_nr_queued, child_nr_armed;
static unsigned int child_nr_dropped, child_nr_woken, child_nr_become;
static u32 child_readable;
static bool child_has_urgent;

static int child_abort(struct sock *sk, int err)
{
	child_nr_resets++;
	return 0;
}

static void child_close(struct sock *sk, long timeout)
{
	child_nr_released++;
	sock_put(sk);
}

/* The close machine ends at once. */
static void child_unlock(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	release_sock(sk);
	child_close(sk, 0);
}

static void child_become(struct smc_sock *smc, enum smc_decline reason)
{
	child_nr_become++;
	smc->phase = SMC_PHASE_TCP;
	smc_kunit_take_off(smc->sk);
}

static void child_queue(struct smc_sock *smc)
{
	child_nr_queued++;
}

static void child_queue_delayed(struct smc_sock *smc, unsigned long delay)
{
	child_nr_armed += delay > 0;
}

static void child_stat(const struct net *net, enum smc_stat what)
{
	child_nr_dropped += what == SMC_STAT_SERVER_DROPPED;
}

#define smc_sock_queue			child_queue
#define smc_sock_queue_delayed		child_queue_delayed
#define smc_conn_readable(...)		child_readable
#define smc_rx_has_urgent(...)		child_has_urgent
#define smc_tcp_become			child_become
#define smc_close_handle_event(...)		((void)0)
#define smc_close_release(...)		((void)0)
#define smc_close_unlock		child_unlock
#define smc_stat_inc			child_stat
#define tcp_abort			child_abort
#define tcp_close			child_close

#include "../../../net/smc/sock/smc_child.c"

static void child_wake(struct sock *sk)
{
	child_nr_woken++;
}

static void child_take(struct work_struct *work)
{
}

/* A socket that listens. */
struct child_lab {
	struct smc_sock *smc;
	struct smc_listener *listener;
	struct smc_conn conn;		/* of any child */
};

static void child_lab_free(void *ctx)
{
	struct child_lab *lab = ctx;

	if (lab->smc)
		smc_kunit_free(lab->smc);
}

/* The case has a second reference on the listener. */
static struct child_lab *child_begin(struct kunit *test)
{
	struct child_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, lab);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, child_lab_free, lab), 0);
	lab->smc = smc_kunit_new(&child_proto);
	KUNIT_ASSERT_NOT_NULL(test, lab->smc);
	lab->smc->sk->sk_data_ready = child_wake;
	smc_wake_save(lab->smc->sk);
	lab->listener = smc_listener_new(lab->smc->sk, child_take);
	KUNIT_ASSERT_NOT_NULL(test, lab->listener);
	refcount_inc(&lab->listener->refs);
	child_nr_resets = 0;
	child_nr_released = 0;
	child_nr_queued = 0;
	child_nr_armed = 0;
	child_nr_dropped = 0;
	child_nr_woken = 0;
	child_nr_become = 0;
	child_readable = 0;
	child_has_urgent = false;
	return lab;
}

/*
 * A child in its handshake, or just on SMC. accept() waits @patience jiffies for its first
 * byte. The case has a second reference.
 */
static struct smc_sock *child_add(struct kunit *test, struct child_lab *lab,
				  enum smc_phase phase, unsigned long patience)
{
	struct smc_sock *smc = smc_kunit_new(&child_proto);

	KUNIT_ASSERT_NOT_NULL(test, smc);
	INIT_DELAYED_WORK(&smc->hs_work, NULL);
	smc->sk->sk_state = TCP_ESTABLISHED;
	smc->phase = phase;
	if (phase == SMC_PHASE_SMC)
		smc->conn = &lab->conn;
	smc->close.state = SMC_STATE_ACTIVE;
	smc->child = smc_listener_add(lab->listener, smc->sk, jiffies + patience);
	KUNIT_ASSERT_NOT_NULL(test, smc->child);
	sock_hold(smc->sk);
	return smc;
}

/* As smc_listen_stop() does, and then the work item. */
static void child_stop_listening(struct child_lab *lab)
{
	smc_listener_end(lab->listener);
	smc_child_drop_all(lab->listener);
	smc_listener_put(lab->listener);
}

static struct sock *child_next(struct child_lab *lab)
{
	struct smc_accepted child;

	return smc_listener_next(lab->listener, &child) ? child.sk : NULL;
}

static void child_expect_accepted(struct kunit *test, struct child_lab *lab,
				  struct smc_sock *smc)
{
	KUNIT_EXPECT_PTR_EQ(test, child_next(lab), smc->sk);
	KUNIT_EXPECT_NULL(test, smc->child);
	KUNIT_EXPECT_EQ(test, child_nr_released, 0);
	sock_put(smc->sk);
}

/* Only the case still references it. */
static void child_expect_alone(struct kunit *test, struct smc_sock *smc)
{
	KUNIT_EXPECT_NULL(test, smc->child);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->sk->sk_refcnt), 1);
	smc_kunit_free(smc);
}

static void a_child_that_does_not_wait_is_ready_at_once(struct kunit *test)
{
	struct child_lab *lab = child_begin(test);
	struct smc_sock *smc = child_add(test, lab, SMC_PHASE_SMC, 0);

	/* the application will see the error */
	smc->err = ECONNRESET;
	smc_child_done(smc, true);
	KUNIT_EXPECT_EQ(test, child_nr_armed, 0);
	KUNIT_EXPECT_EQ(test, child_nr_woken, 1);
	child_expect_accepted(test, lab, smc);
	child_expect_alone(test, smc);

	smc = child_add(test, lab, SMC_PHASE_SMC, 0);
	smc_child_done(smc, false);
	KUNIT_EXPECT_NULL(test, child_next(lab));
	KUNIT_EXPECT_EQ(test, child_nr_released, 1);
	child_expect_alone(test, smc);
	child_stop_listening(lab);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1);
	smc_listener_put(lab->listener);
}

/* accept() returns it as a TCP sock, with the reason of the fallback. */
static void a_child_that_has_fallen_back_is_tcps(struct kunit *test)
{
	struct child_lab *lab = child_begin(test);
	struct smc_sock *smc = child_add(test, lab, SMC_PHASE_HANDSHAKE, 0);
	struct smc_accepted child = {};

	smc->fallback = SMC_DECLINE_PEERDECL;
	smc->peer_diagnosis = SMC_DECLINE_MEM;
	smc_child_done(smc, true);
	KUNIT_EXPECT_EQ(test, child_nr_become, 1);
	KUNIT_EXPECT_EQ(test, child_nr_woken, 1);
	KUNIT_EXPECT_TRUE(test, smc_listener_next(lab->listener, &child));
	KUNIT_EXPECT_PTR_EQ(test, child.sk, smc->sk);
	KUNIT_EXPECT_EQ(test, (u32)child.fallback, (u32)SMC_DECLINE_PEERDECL);
	KUNIT_EXPECT_EQ(test, child.peer_diagnosis, (u32)SMC_DECLINE_MEM);
	sock_put(smc->sk);
	child_expect_alone(test, smc);

	/* a failed child is not queued for accept() */
	smc = child_add(test, lab, SMC_PHASE_HANDSHAKE, 0);
	smc_child_done(smc, false);
	KUNIT_EXPECT_EQ(test, child_nr_become, 1);
	KUNIT_EXPECT_EQ(test, child_nr_resets, 1);
	KUNIT_EXPECT_EQ(test, child_nr_released, 1);
	KUNIT_EXPECT_NULL(test, child_next(lab));
	child_expect_alone(test, smc);

	/* nor is one whose listener is gone */
	smc = child_add(test, lab, SMC_PHASE_HANDSHAKE, 0);
	child_stop_listening(lab);
	smc_child_done(smc, true);
	KUNIT_EXPECT_EQ(test, child_nr_resets, 3);
	KUNIT_EXPECT_EQ(test, child_nr_released, 2);
	child_expect_alone(test, smc);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1);
	smc_listener_put(lab->listener);
}

enum child_fate { CHILD_WAITS, CHILD_IS_READY, CHILD_GOES };

/* The child waits for its first byte. It is checked once, and then the listener ends. */
static void child_look(struct kunit *test, struct child_lab *lab, struct smc_sock *smc,
		       bool is_late, enum child_fate fate, int row)
{
	if (is_late)
		smc->child->defer_end = jiffies;
	smc_child_check(smc);
	KUNIT_EXPECT_EQ_MSG(test, child_nr_armed, 1 + (fate == CHILD_WAITS), "%d", row);
	KUNIT_EXPECT_EQ_MSG(test, child_nr_woken, fate == CHILD_IS_READY, "%d", row);
	KUNIT_EXPECT_EQ_MSG(test, child_nr_released, fate == CHILD_GOES, "%d", row);
	KUNIT_EXPECT_EQ_MSG(test, !smc->child, fate != CHILD_WAITS, "%d", row);

	child_stop_listening(lab);
	if (smc->child)
		smc_child_check(smc);
	KUNIT_EXPECT_EQ(test, child_nr_released, 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1);
	smc_listener_put(lab->listener);
	child_expect_alone(test, smc);
}

static const struct {
	u32 readable;
	bool has_urgent;
	u8 conn_flags;
	int err;
	u8 state;
	bool is_late;
	enum child_fate fate;
} word_rows[] = {
	{ .fate = CHILD_WAITS },
	{ .readable = 1, .fate = CHILD_IS_READY },
	{ .has_urgent = true, .fate = CHILD_IS_READY },
	{ .conn_flags = SMC_CDC_DONE, .fate = CHILD_IS_READY },
	{ .conn_flags = SMC_CDC_CLOSED, .fate = CHILD_IS_READY },
	{ .conn_flags = SMC_CDC_ABORT, .fate = CHILD_WAITS },
	{ .err = ECONNRESET, .fate = CHILD_GOES },
	{ .state = SMC_STATE_CLOSED, .fate = CHILD_GOES },
	/* data that came before counts */
	{ .readable = 1, .err = ECONNRESET, .fate = CHILD_IS_READY },
	{ .is_late = true, .fate = CHILD_IS_READY },
	{ .is_late = true, .err = ECONNRESET, .fate = CHILD_GOES },
};

static void accept_waits_for_the_first_byte(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(word_rows); i++) {
		struct child_lab *lab = child_begin(test);
		struct smc_sock *smc = child_add(test, lab, SMC_PHASE_SMC, 1000 * HZ);

		smc_child_done(smc, true);
		KUNIT_EXPECT_EQ(test, child_nr_armed, 1);
		KUNIT_EXPECT_EQ(test, lab->listener->nr[SMC_CHILD_DEFERRED], 1);

		child_readable = word_rows[i].readable;
		child_has_urgent = word_rows[i].has_urgent;
		lab->conn.ctl.rx_conn_flags = word_rows[i].conn_flags;
		smc->err = word_rows[i].err;
		if (word_rows[i].state)
			smc->close.state = word_rows[i].state;
		child_look(test, lab, smc, word_rows[i].is_late, word_rows[i].fate, i);
	}
}

static const struct {
	bool has_data;
	u8 shutdown;
	u8 state;
	bool is_late;
	enum child_fate fate;
} tcp_rows[] = {
	{ .fate = CHILD_WAITS },
	{ .has_data = true, .fate = CHILD_IS_READY },
	{ .shutdown = RCV_SHUTDOWN, .fate = CHILD_IS_READY },
	/* a reset also shuts down, and counts as no data */
	{ .shutdown = SHUTDOWN_MASK, .state = TCP_CLOSE, .fate = CHILD_GOES },
	/* data that came before counts */
	{ .has_data = true, .state = TCP_CLOSE, .fate = CHILD_IS_READY },
	{ .is_late = true, .fate = CHILD_IS_READY },
	{ .is_late = true, .state = TCP_CLOSE, .fate = CHILD_GOES },
};

/* TCP's own wait for data ended with the CLC message. */
static void accept_waits_for_the_first_byte_after_a_fallback(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(tcp_rows); i++) {
		struct child_lab *lab = child_begin(test);
		struct smc_sock *smc = child_add(test, lab, SMC_PHASE_HANDSHAKE, 1000 * HZ);

		smc_child_done(smc, true);
		KUNIT_EXPECT_EQ(test, child_nr_armed, 1);
		KUNIT_EXPECT_EQ(test, child_nr_become, 0);

		if (tcp_rows[i].has_data) {
			struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);

			KUNIT_ASSERT_NOT_NULL(test, skb);
			__skb_queue_tail(&smc->sk->sk_receive_queue, skb);
		}
		smc->sk->sk_shutdown = tcp_rows[i].shutdown;
		if (tcp_rows[i].state)
			smc->sk->sk_state = tcp_rows[i].state;
		child_look(test, lab, smc, tcp_rows[i].is_late, tcp_rows[i].fate, i);
		KUNIT_EXPECT_EQ_MSG(test, child_nr_become, tcp_rows[i].fate == CHILD_IS_READY,
				    "%d", i);
	}
}

static void children_are_dropped_with_their_listener(struct kunit *test)
{
	struct child_lab *lab = child_begin(test);
	struct smc_sock *under_way, *waits, *ready;

	ready = child_add(test, lab, SMC_PHASE_SMC, 1000 * HZ);
	waits = child_add(test, lab, SMC_PHASE_SMC, 1000 * HZ);
	under_way = child_add(test, lab, SMC_PHASE_HANDSHAKE, 1000 * HZ);
	child_readable = 1;
	smc_child_done(ready, true);
	child_readable = 0;
	smc_child_done(waits, true);
	KUNIT_EXPECT_EQ(test, child_nr_woken, 1);

	child_stop_listening(lab);
	/* one is closed, two are reset; their work items do the rest */
	KUNIT_EXPECT_EQ(test, child_nr_released, 1);
	KUNIT_EXPECT_EQ(test, child_nr_resets, 2);
	KUNIT_EXPECT_EQ(test, child_nr_queued, 2);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1 + 2);
	KUNIT_EXPECT_EQ(test, child_nr_dropped, 0);
	child_expect_alone(test, ready);

	/* its handshake has succeeded all the same */
	under_way->phase = SMC_PHASE_SMC;
	under_way->conn = &lab->conn;
	child_readable = 1;
	smc_child_done(under_way, true);
	smc_child_check(waits);
	KUNIT_EXPECT_EQ(test, child_nr_released, 3);
	KUNIT_EXPECT_EQ(test, child_nr_woken, 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1);
	smc_listener_put(lab->listener);
	child_expect_alone(test, under_way);
	child_expect_alone(test, waits);
}

static void the_oldest_child_makes_room_for_a_charge(struct kunit *test)
{
	struct child_lab *lab = child_begin(test);
	struct smc_sock **child;
	unsigned int k;

	child = kunit_kcalloc(test, 300, sizeof(*child), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, child);
	for (k = 0; k < 300; k++) {
		child[k] = child_add(test, lab, SMC_PHASE_SMC, 0);
		smc_child_count(child[k], 1UL << 20);
	}
	KUNIT_EXPECT_EQ(test, child_nr_resets, 300 - 256);
	KUNIT_EXPECT_EQ(test, child_nr_queued, 300 - 256);
	KUNIT_EXPECT_EQ(test, child_nr_dropped, 300 - 256);
	for (k = 0; k < 300; k++) {
		smc_child_done(child[k], true);
		KUNIT_EXPECT_EQ(test, refcount_read(&child[k]->sk->sk_refcnt),
				k < 300 - 256 ? 1 : 2);
	}
	KUNIT_EXPECT_EQ(test, child_nr_released, 300 - 256);
	child_stop_listening(lab);
	KUNIT_EXPECT_EQ(test, child_nr_released, 300);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1);
	smc_listener_put(lab->listener);
	for (k = 0; k < 300; k++)
		child_expect_alone(test, child[k]);
}

static struct kunit_case child_cases[] = {
	KUNIT_CASE(a_child_that_does_not_wait_is_ready_at_once),
	KUNIT_CASE(a_child_that_has_fallen_back_is_tcps),
	KUNIT_CASE(accept_waits_for_the_first_byte),
	KUNIT_CASE(accept_waits_for_the_first_byte_after_a_fallback),
	KUNIT_CASE(children_are_dropped_with_their_listener),
	KUNIT_CASE(the_oldest_child_makes_room_for_a_charge),
	{}
};

static struct kunit_suite child_suite = {
	.name = "smc_child",
	.test_cases = child_cases,
};

kunit_test_suite(child_suite);
