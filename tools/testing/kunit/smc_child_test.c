// SPDX-License-Identifier: GPL-2.0
/*
 * Children until accept() has them. The listener and its lists are real, and nothing is
 * below them.
 */
#include "smc_kunit.h"

#include "../../../net/smc/smc_close.h"
#include "../../../net/smc/smc_listener.h"
#include "../../../net/smc/smc_net.h"
#include "../../../net/smc/smc_rx.h"
#include "../../../net/smc/smc_tcp.h"

static struct proto child_proto = {
	.name = "smc_child_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct smc_sock),
};

static unsigned int child_nr_resets, child_nr_released, child_nr_queued, child_nr_armed;
static unsigned int child_nr_dropped, child_nr_woken;
static u32 child_readable;
static bool child_has_urgent;

static void child_reset(struct smc_sock *smc)
{
	child_nr_resets++;
}

static void child_release(struct smc_sock *smc)
{
	child_nr_released++;
}

static bool child_queue(struct smc_sock *smc, struct work_struct *work)
{
	child_nr_queued += work == &smc->hs_work;
	return true;
}

static void child_queue_delayed(struct smc_sock *smc, struct delayed_work *work,
				unsigned long delay)
{
	child_nr_armed += work == &smc->hs_timer && delay;
}

static void child_stat(const struct net *net, enum smc_stat what)
{
	child_nr_dropped += what == SMC_STAT_SERVER_DROPPED;
}

static struct smc_sock *child_new_sock(void)
{
	struct sock *sk = sk_alloc(&init_net, PF_SMC, GFP_KERNEL, &child_proto, 1);

	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	smc_state_close_init(&smc_sk(sk)->close);
	sk->sk_state = SMC_STATE_ACTIVE;
	INIT_DELAYED_WORK(&smc_sk(sk)->hs_timer, NULL);
	return smc_sk(sk);
}

#define smc_sock_queue			child_queue
#define smc_sock_queue_delayed		child_queue_delayed
#define smc_conn_readable(...)		child_readable
#define smc_rx_has_urgent(...)		child_has_urgent
#define smc_tcp_reset			child_reset
#define smc_tcp_unwatch(...)		((void)0)
#define smc_close_event(...)		((void)0)
#define smc_close_release		child_release
#define smc_close_let_go(...)		((void)0)
#define smc_stat_inc			child_stat

#include "../../../net/smc/smc_child.c"

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
	struct socket *tcp;
	struct smc_conn conn;		/* of any child */
};

static void child_lab_free(void *ctx)
{
	struct child_lab *lab = ctx;

	if (lab->smc)
		sock_put(&lab->smc->sk);
	if (lab->tcp)
		sock_release(lab->tcp);
}

/* The case has a second reference on the listener. */
static struct child_lab *child_begin(struct kunit *test)
{
	struct child_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, lab);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, child_lab_free, lab), 0);
	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP,
					       &lab->tcp), 0);
	lab->smc = child_new_sock();
	KUNIT_ASSERT_NOT_NULL(test, lab->smc);
	lab->smc->sk.sk_data_ready = child_wake;
	lab->listener = smc_listener_new(&lab->smc->sk, child_take);
	KUNIT_ASSERT_NOT_NULL(test, lab->listener);
	refcount_inc(&lab->listener->refs);
	child_nr_resets = 0;
	child_nr_released = 0;
	child_nr_queued = 0;
	child_nr_armed = 0;
	child_nr_dropped = 0;
	child_nr_woken = 0;
	child_readable = 0;
	child_has_urgent = false;
	return lab;
}

/*
 * Its handshake is under way, and then accept() waits for so long. The case has a second
 * reference.
 */
static struct smc_sock *child_add(struct kunit *test, struct child_lab *lab,
				  unsigned long patience)
{
	struct smc_sock *smc = child_new_sock();

	KUNIT_ASSERT_NOT_NULL(test, smc);
	smc->tcp = lab->tcp;
	smc->conn = &lab->conn;
	smc->child = smc_listener_add(lab->listener, &smc->sk, jiffies + patience);
	KUNIT_ASSERT_NOT_NULL(test, smc->child);
	sock_hold(&smc->sk);
	return smc;
}

/* As smc_listen_stop() does. */
static void child_stop_listening(struct child_lab *lab)
{
	lock_sock(&lab->smc->sk);
	smc_listener_end(lab->listener);
	smc_child_drop_all(lab->listener);
	smc_listener_put(lab->listener);
	release_sock(&lab->smc->sk);
}

static void child_expect_accepted(struct kunit *test, struct child_lab *lab,
				  struct smc_sock *smc)
{
	KUNIT_EXPECT_PTR_EQ(test, smc_listener_next(lab->listener), &smc->sk);
	KUNIT_EXPECT_NULL(test, smc->child);
	KUNIT_EXPECT_EQ(test, child_nr_released, 0);
	sock_put(&smc->sk);
}

static void a_child_that_does_not_wait_is_ready_at_once(struct kunit *test)
{
	struct child_lab *lab = child_begin(test);
	struct smc_sock *smc = child_add(test, lab, 0);

	/* it is for the application to find that out */
	smc->sk.sk_err = ECONNRESET;
	smc_child_done(smc, true);
	KUNIT_EXPECT_EQ(test, child_nr_armed, 0);
	KUNIT_EXPECT_EQ(test, child_nr_woken, 1);
	child_expect_accepted(test, lab, smc);
	sock_put(&smc->sk);

	smc = child_add(test, lab, 0);
	smc_child_done(smc, false);
	KUNIT_EXPECT_NULL(test, smc_listener_next(lab->listener));
	KUNIT_EXPECT_NULL(test, smc->child);
	KUNIT_EXPECT_EQ(test, child_nr_released, 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&smc->sk.sk_refcnt), 1);
	sock_put(&smc->sk);
	child_stop_listening(lab);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1);
	smc_listener_put(lab->listener);
}

enum child_fate { CHILD_WAITS, CHILD_IS_READY, CHILD_GOES };

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
	/* what came before that counts */
	{ .readable = 1, .err = ECONNRESET, .fate = CHILD_IS_READY },
	{ .is_late = true, .fate = CHILD_IS_READY },
	{ .is_late = true, .err = ECONNRESET, .fate = CHILD_GOES },
};

static void accept_waits_for_the_first_byte(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(word_rows); i++) {
		struct child_lab *lab = child_begin(test);
		struct smc_sock *smc = child_add(test, lab, 1000 * HZ);

		smc_child_done(smc, true);
		KUNIT_EXPECT_EQ(test, child_nr_armed, 1);
		KUNIT_EXPECT_EQ(test, lab->listener->nr[SMC_CHILD_DEFERRED], 1);

		child_readable = word_rows[i].readable;
		child_has_urgent = word_rows[i].has_urgent;
		smc->conn->ctl.rx_conn_flags = word_rows[i].conn_flags;
		smc->sk.sk_err = word_rows[i].err;
		if (word_rows[i].state)
			smc->sk.sk_state = word_rows[i].state;
		if (word_rows[i].is_late)
			smc->child->defer_end = jiffies;
		smc_child_look(smc);
		KUNIT_EXPECT_EQ_MSG(test, child_nr_armed,
				    1 + (word_rows[i].fate == CHILD_WAITS), "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, child_nr_woken, word_rows[i].fate == CHILD_IS_READY,
				    "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, child_nr_released, word_rows[i].fate == CHILD_GOES,
				    "%d", i);
		KUNIT_EXPECT_EQ_MSG(test, !smc->child, word_rows[i].fate != CHILD_WAITS, "%d", i);

		child_stop_listening(lab);
		if (smc->child)
			smc_child_look(smc);
		KUNIT_EXPECT_EQ(test, child_nr_released, 1);
		KUNIT_EXPECT_EQ(test, refcount_read(&smc->sk.sk_refcnt), 1);
		KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1);
		smc_listener_put(lab->listener);
		sock_put(&smc->sk);
	}
}

static void children_are_dropped_with_their_listener(struct kunit *test)
{
	struct child_lab *lab = child_begin(test);
	struct smc_sock *under_way, *waits, *ready;

	ready = child_add(test, lab, 1000 * HZ);
	waits = child_add(test, lab, 1000 * HZ);
	under_way = child_add(test, lab, 1000 * HZ);
	child_readable = 1;
	smc_child_done(ready, true);
	child_readable = 0;
	smc_child_done(waits, true);
	KUNIT_EXPECT_EQ(test, child_nr_woken, 1);

	child_stop_listening(lab);
	/* one is closed, two are reset, and their work items see to the rest */
	KUNIT_EXPECT_EQ(test, child_nr_released, 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&ready->sk.sk_refcnt), 1);
	KUNIT_EXPECT_EQ(test, child_nr_queued, 2);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1 + 2);
	KUNIT_EXPECT_EQ(test, child_nr_dropped, 0);

	/* its handshake has ended well all the same */
	child_readable = 1;
	smc_child_done(under_way, true);
	smc_child_look(waits);
	KUNIT_EXPECT_EQ(test, child_nr_released, 3);
	KUNIT_EXPECT_EQ(test, child_nr_woken, 1);
	KUNIT_EXPECT_NULL(test, under_way->child);
	KUNIT_EXPECT_NULL(test, waits->child);
	KUNIT_EXPECT_EQ(test, refcount_read(&under_way->sk.sk_refcnt), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&waits->sk.sk_refcnt), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1);
	smc_listener_put(lab->listener);
	sock_put(&under_way->sk);
	sock_put(&waits->sk);
	sock_put(&ready->sk);
}

static void the_oldest_child_makes_room_for_a_charge(struct kunit *test)
{
	struct child_lab *lab = child_begin(test);
	struct smc_sock **child;
	unsigned int k;

	child = kunit_kcalloc(test, 300, sizeof(*child), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, child);
	for (k = 0; k < 300; k++) {
		child[k] = child_add(test, lab, 0);
		smc_child_charge(child[k], 1UL << 20);
	}
	KUNIT_EXPECT_EQ(test, child_nr_resets, 300 - 256);
	KUNIT_EXPECT_EQ(test, child_nr_queued, 300 - 256);
	KUNIT_EXPECT_EQ(test, child_nr_dropped, 300 - 256);
	for (k = 0; k < 300; k++) {
		smc_child_done(child[k], true);
		KUNIT_EXPECT_EQ(test, refcount_read(&child[k]->sk.sk_refcnt),
				k < 300 - 256 ? 1 : 2);
		sock_put(&child[k]->sk);
	}
	KUNIT_EXPECT_EQ(test, child_nr_released, 300 - 256);
	child_stop_listening(lab);
	KUNIT_EXPECT_EQ(test, child_nr_released, 300);
	KUNIT_EXPECT_EQ(test, refcount_read(&lab->listener->refs), 1);
	smc_listener_put(lab->listener);
}

static struct kunit_case child_cases[] = {
	KUNIT_CASE(a_child_that_does_not_wait_is_ready_at_once),
	KUNIT_CASE(accept_waits_for_the_first_byte),
	KUNIT_CASE(children_are_dropped_with_their_listener),
	KUNIT_CASE(the_oldest_child_makes_room_for_a_charge),
	{}
};

static struct kunit_suite child_suite = {
	.name = "smc_child",
	.test_cases = child_cases,
};

kunit_test_suite(child_suite);
