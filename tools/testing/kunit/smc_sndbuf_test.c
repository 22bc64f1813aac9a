// SPDX-License-Identifier: GPL-2.0
/*
 * The send ring of a connection: when it becomes larger, and when it returns to the small one. The
 * suite fakes the pool and the account.
 */
#include "smc_kunit.h"

#include "../../../net/smc/group/smc_llc_msg.h"
#include "../../../net/smc/group/smc_mem.h"
#include "../../../net/smc/group/smc_pool.h"

#define RING_SMALL	SMC_BUF_MIN_SIZE
#define RING_LARGE	(16 * SMC_BUF_MIN_SIZE)

static struct smc_buf ring_region;
static unsigned int ring_nr_free, ring_nr_grown, ring_nr_woken;
static u32 ring_charged, ring_limit;
static struct smc_conn *ring_member;

static int ring_get(struct smc_buf_pool *pool, u32 size, struct smc_buf_elem *elem)
{
	if (!ring_nr_free)
		return -EAGAIN;
	ring_nr_free--;
	*elem = (struct smc_buf_elem){ .buf = &ring_region, .size = size, .index = 1 };
	return 0;
}

static void ring_put(struct smc_buf_pool *pool, struct smc_buf_elem *elem)
{
	if (elem->buf)
		ring_nr_free++;
	memset(elem, 0, sizeof(*elem));
}

static int ring_charge(struct smc_account *account, u32 bytes)
{
	if (ring_charged + bytes > ring_limit)
		return -ENOMEM;
	ring_charged += bytes;
	return 0;
}

static void ring_uncharge(struct smc_account *account, u32 bytes)
{
	ring_charged -= bytes;
}

static struct smc_conn *ring_next_conn(struct smc_link_group *lgr, unsigned long *pos)
{
	return (*pos)++ ? NULL : ring_member;
}

#define smc_buf_get		ring_get
#define smc_buf_put		ring_put
#define smc_mem_charge		ring_charge
#define smc_mem_uncharge	ring_uncharge
#define smc_core_queue_patient(...)	((void)ring_nr_grown++)
#define smc_llc_queue_work(...)	((void)ring_nr_woken++)
#define smc_lgr_next_conn	ring_next_conn
#define smc_conn_put(...)	((void)0)
#define smc_pool_trim(...)	((void)0)

#include "../../../net/smc/group/smc_sndbuf.c"

static struct proto ring_proto = {
	.name = "smc_sndbuf_test",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct sock),
};

struct ring_lab {
	struct smc_link_group lgr;
	struct smc_conn conn;
	struct sock *sk;
};

static int ring_init(struct kunit *test)
{
	struct ring_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	struct smc_conn *conn;

	test->priv = lab;
	if (!lab)
		return -ENOMEM;
	lab->sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, &ring_proto, 1);
	if (!lab->sk)
		return -ENOMEM;
	sock_init_data(NULL, lab->sk);
	mutex_init(&lab->lgr.lock);
	conn = &lab->conn;
	conn->sk = lab->sk;
	conn->lgr = &lab->lgr;
	spin_lock_init(&conn->lock);
	conn->sndbuf = (struct smc_buf_elem){ .buf = &ring_region, .size = RING_SMALL };
	conn->sndbuf_most = RING_LARGE;
	conn->sndbuf_jiffies = jiffies;
	conn->snd_geom.size = RING_SMALL;
	conn->tx_jiffies = jiffies;
	ring_member = conn;
	ring_nr_free = 1;
	ring_nr_grown = 0;
	ring_nr_woken = 0;
	ring_charged = 0;
	ring_limit = RING_LARGE;
	return 0;
}

static void ring_exit(struct kunit *test)
{
	struct ring_lab *lab = test->priv;

	if (lab && lab->sk)
		sock_put(lab->sk);
}

/* @len bytes come from the application. */
static void ring_fill(struct smc_conn *conn, u32 len)
{
	guard(spinlock_bh)(&conn->lock);
	conn->tx_prep = smc_cursor_advance(conn->snd_geom, conn->tx_prep, len);
	conn->tx_total += len;
}

/* All of it is sent and completed. */
static void ring_drain(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	conn->tx_sent = conn->tx_prep;
	conn->tx_fin = conn->tx_prep;
}

static u32 ring_space(struct smc_conn *conn)
{
	guard(spinlock_bh)(&conn->lock);
	return smc_sndbuf_space(conn);
}

static void ring_enlarge(struct smc_conn *conn)
{
	lock_sock(conn->sk);
	smc_sndbuf_enlarge(conn);
	release_sock(conn->sk);
}

static void ring_switch(struct smc_conn *conn)
{
	lock_sock(conn->sk);
	smc_sndbuf_switch(conn);
	release_sock(conn->sk);
}

static void ring_make_large(struct smc_conn *conn)
{
	ring_enlarge(conn);
	ring_switch(conn);
}

static void ring_sweep(struct ring_lab *lab)
{
	guard(mutex)(&lab->lgr.lock);
	lab->lgr.sndbuf_swept_ms = llc_now() - SNDBUF_IDLE_MS;
	smc_sndbuf_sweep(&lab->lgr);
}

static void ring_age(struct smc_conn *conn)
{
	conn->tx_jiffies = jiffies - msecs_to_jiffies(SNDBUF_IDLE_MS);
}

static void a_full_ring_is_replaced_once_it_is_empty(struct kunit *test)
{
	struct ring_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;

	ring_fill(conn, RING_SMALL);
	KUNIT_EXPECT_EQ(test, ring_space(conn), 0U);
	ring_enlarge(conn);
	KUNIT_EXPECT_EQ(test, ring_charged, RING_LARGE);
	ring_switch(conn);
	KUNIT_EXPECT_EQ(test, conn->sndbuf.size, RING_SMALL);

	/* what has completed makes no space before the rest has */
	scoped_guard(spinlock_bh, &conn->lock)
		conn->tx_fin = smc_cursor_advance(conn->snd_geom, conn->tx_fin, RING_SMALL - 1);
	KUNIT_EXPECT_EQ(test, ring_space(conn), 0U);

	ring_drain(conn);
	KUNIT_EXPECT_EQ(test, ring_space(conn), RING_LARGE);
	ring_switch(conn);
	KUNIT_EXPECT_EQ(test, conn->sndbuf.size, RING_LARGE);
	KUNIT_EXPECT_EQ(test, conn->snd_geom.size, RING_LARGE);
	KUNIT_EXPECT_EQ(test, ring_space(conn), RING_LARGE);
	scoped_guard(spinlock_bh, &conn->lock)
		KUNIT_EXPECT_EQ(test, smc_conn_tx_pos(conn, conn->tx_sent), conn->tx_total);

	/* a further one is not needed */
	ring_nr_free = 1;
	conn->sndbuf_jiffies = jiffies;
	ring_enlarge(conn);
	KUNIT_EXPECT_EQ(test, ring_nr_free, 1);
}

static void without_a_free_one_a_region_is_asked_for(struct kunit *test)
{
	struct ring_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;

	ring_nr_free = 0;
	ring_fill(conn, RING_SMALL);
	ring_enlarge(conn);
	KUNIT_EXPECT_EQ(test, ring_nr_grown, 1);
	KUNIT_EXPECT_EQ(test, lab->lgr.sndbuf_size, RING_LARGE);
	KUNIT_EXPECT_EQ(test, ring_charged, 0U);

	/* not again at once */
	ring_nr_free = 1;
	ring_enlarge(conn);
	KUNIT_EXPECT_EQ(test, ring_nr_free, 1);
	conn->sndbuf_jiffies = jiffies;
	ring_enlarge(conn);
	KUNIT_EXPECT_EQ(test, ring_nr_free, 0);

	/* meanwhile the small one went on */
	ring_drain(conn);
	ring_switch(conn);
	KUNIT_EXPECT_EQ(test, conn->sndbuf.size, RING_LARGE);
}

static void without_memory_the_small_one_stays(struct kunit *test)
{
	struct ring_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;

	ring_limit = RING_LARGE - 1;
	ring_fill(conn, RING_SMALL / 2);
	ring_enlarge(conn);
	KUNIT_EXPECT_EQ(test, ring_nr_free, 1);
	KUNIT_EXPECT_EQ(test, ring_space(conn), RING_SMALL / 2);
	ring_drain(conn);
	ring_switch(conn);
	KUNIT_EXPECT_EQ(test, conn->sndbuf.size, RING_SMALL);
	KUNIT_EXPECT_EQ(test, atomic_read(&lab->lgr.nr_enlarged), 0);
}

static void a_size_set_by_the_application_stays(struct kunit *test)
{
	struct ring_lab *lab = test->priv;

	lab->conn.sndbuf_most = 0;
	ring_enlarge(&lab->conn);
	KUNIT_EXPECT_EQ(test, ring_nr_free, 1);
}

static void an_idle_connection_returns_the_larger_ring(struct kunit *test)
{
	struct ring_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;

	scoped_guard(mutex, &lab->lgr.lock)
		KUNIT_EXPECT_EQ(test, smc_sndbuf_due(&lab->lgr), SMC_LLC_NO_DEADLINE);
	ring_make_large(conn);
	KUNIT_EXPECT_EQ(test, ring_nr_woken, 1);
	scoped_guard(mutex, &lab->lgr.lock)
		KUNIT_EXPECT_NE(test, smc_sndbuf_due(&lab->lgr), SMC_LLC_NO_DEADLINE);

	/* it has just sent */
	ring_sweep(lab);
	KUNIT_EXPECT_EQ(test, conn->sndbuf.size, RING_LARGE);

	/* its data has not completed */
	ring_fill(conn, 1);
	ring_age(conn);
	ring_sweep(lab);
	KUNIT_EXPECT_EQ(test, conn->sndbuf.size, RING_LARGE);
	ring_drain(conn);

	/* a call may be copying */
	lock_sock(conn->sk);
	ring_sweep(lab);
	release_sock(conn->sk);
	KUNIT_EXPECT_EQ(test, conn->sndbuf.size, RING_LARGE);

	ring_sweep(lab);
	KUNIT_EXPECT_EQ(test, conn->sndbuf.size, RING_SMALL);
	KUNIT_EXPECT_EQ(test, conn->snd_geom.size, RING_SMALL);
	KUNIT_EXPECT_EQ(test, ring_space(conn), RING_SMALL);
	KUNIT_EXPECT_EQ(test, ring_charged, 0U);
	KUNIT_EXPECT_EQ(test, ring_nr_free, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&lab->lgr.nr_enlarged), 0);
}

static void one_that_waits_goes_back_as_well(struct kunit *test)
{
	struct ring_lab *lab = test->priv;
	struct smc_conn *conn = &lab->conn;

	ring_enlarge(conn);
	ring_age(conn);
	ring_sweep(lab);
	KUNIT_EXPECT_EQ(test, conn->sndbuf.size, RING_SMALL);
	KUNIT_EXPECT_EQ(test, ring_nr_free, 1);
	KUNIT_EXPECT_EQ(test, ring_space(conn), RING_SMALL);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(a_full_ring_is_replaced_once_it_is_empty),
	KUNIT_CASE(without_a_free_one_a_region_is_asked_for),
	KUNIT_CASE(without_memory_the_small_one_stays),
	KUNIT_CASE(a_size_set_by_the_application_stays),
	KUNIT_CASE(an_idle_connection_returns_the_larger_ring),
	KUNIT_CASE(one_that_waits_goes_back_as_well),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "smc_sndbuf",
	.init = ring_init,
	.exit = ring_exit,
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
