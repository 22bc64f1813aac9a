// SPDX-License-Identifier: GPL-2.0
/*
 * Handshakes that wait for rings. The suite fakes a group without memory and the queue of the
 * tasks that add some.
 */
#include "smc_kunit.h"
#include "smc_kunit_sock.h"

#include "../../../net/smc/sock/smc_child.h"
#include "../../../net/smc/group/smc_pool.h"
#include "../../../net/smc/rdma/smc_net.h"

static struct proto ring_proto = SMC_KUNIT_PROTO("smc_hs_ring_test");

static unsigned int ring_nr_queued;
static bool ring_is_growing;

static void ring_grow_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, grow_work);

	smc_sock_put(smc);
}

static void ring_hs_work(struct work_struct *work)
{
	smc_sock_put(container_of(to_delayed_work(work), struct smc_sock, hs_work));
}

/* Keeps the queue busy until the case releases it. */
static struct workqueue_struct *ring_wq;
static struct completion ring_go_on;

static void ring_hold_work(struct work_struct *work)
{
	wait_for_completion(&ring_go_on);
}

static void ring_queue(struct smc_sock *smc)
{
	ring_nr_queued++;
	smc_sock_get(smc);
	queue_delayed_work(ring_wq, &smc->hs_work, 0);
}

static void ring_queue_grow(struct smc_sock *smc)
{
	ring_nr_queued++;
	smc_sock_get(smc);
	queue_work(ring_wq, &smc->grow_work);
}

static int ring_begin_grow(struct smc_link_group *lgr)
{
	if (ring_is_growing)
		return -EBUSY;
	ring_is_growing = true;
	return 0;
}

static void ring_end_grow(struct smc_link_group *lgr)
{
	ring_is_growing = false;
}

/* What a region that is added is charged to, and the answer */
static struct mem_cgroup *ring_payer;
static int ring_grow_result;

static int ring_grow(struct smc_link_group *lgr, struct smc_buf_pool *pool, u32 size, bool is_up,
		     struct smc_buf_elem *elem)
{
#ifdef CONFIG_MEMCG
	ring_payer = current->active_memcg;
#endif
	return ring_grow_result;
}

/* The size of the free element, if there is one. */
static u32 ring_free;

static int ring_get(struct smc_buf_pool *pool, u32 size, struct smc_buf_elem *elem)
{
	if (!ring_free)
		return -EAGAIN;
	elem->size = ring_free;
	return 0;
}

/* The namespace */
static struct smc_pernet ring_net;

#define smc_net(net)		((void)(net), &ring_net)
#define smc_sock_queue		ring_queue
#define smc_sock_queue_grow	ring_queue_grow
#define smc_pool_begin_grow	ring_begin_grow
#define smc_pool_end_grow	ring_end_grow
#define smc_pool_grow		ring_grow
#define smc_child_count(...)	((void)0)
#define smc_buf_get		ring_get
#define smc_stat_inc(net, id)	((void)(net), (void)(id))
#define smc_sock_make_conn(...)	0

#include "../../../net/smc/sock/smc_hs_ring.c"

struct ring_lab {
	struct smc_link_group lgr;
	struct smc_conn conn;
	struct smc_hs hs;
	struct work_struct hold;
};

static int ring_refs(const struct smc_hs *hs)
{
	return refcount_read(&hs->smc->refs);
}

static int ring_init(struct kunit *test)
{
	struct ring_lab *lab = kunit_kzalloc(test, sizeof(*lab), GFP_KERNEL);
	struct smc_sock *smc;

	test->priv = lab;
	ring_wq = alloc_workqueue("smc_hs_ring_test", WQ_UNBOUND, 1);
	smc = smc_kunit_new(&ring_proto);
	if (!lab || !ring_wq || !smc)
		return -ENOMEM;
	smc->conn = &lab->conn;
	ring_nr_queued = 0;
	ring_is_growing = false;
	ring_payer = NULL;
	ring_grow_result = 0;
	ring_free = 0;
	init_completion(&ring_go_on);
	lab->lgr.max_pages = 512;
	lab->hs.smc = smc;
	lab->hs.lgr = &lab->lgr;
	lab->hs.role = SMC_ROLE_SERVER;
	INIT_WORK(&lab->hs.smc->grow_work, ring_grow_work);
	INIT_DELAYED_WORK(&lab->hs.smc->hs_work, ring_hs_work);
	INIT_WORK(&lab->hold, ring_hold_work);
	return 0;
}

static void ring_exit(struct kunit *test)
{
	struct ring_lab *lab = test->priv;

	if (!lab || !ring_wq || !lab->hs.smc)
		return;
	complete_all(&ring_go_on);
	destroy_workqueue(ring_wq);
	KUNIT_EXPECT_EQ(test, ring_refs(&lab->hs), 1);
	smc_kunit_free(lab->hs.smc);
}

/* The work items before ours wait for other peers. */
static void a_queued_request_for_memory_falls_back_in_time(struct kunit *test)
{
	struct ring_lab *lab = test->priv;
	struct smc_hs *hs = &lab->hs;

	queue_work(ring_wq, &lab->hold);
	KUNIT_EXPECT_EQ(test, smc_hs_get_rmbe(hs), SMC_HS_WAIT);
	KUNIT_EXPECT_TRUE(test, ring_is_growing);
	KUNIT_EXPECT_EQ(test, smc_hs_get_rmbe(hs), SMC_HS_WAIT);
	KUNIT_EXPECT_EQ(test, ring_nr_queued, 1);
	KUNIT_EXPECT_GE(test, hs->grow_size, SMC_BUF_MIN_SIZE);
	KUNIT_EXPECT_EQ(test, smc_hs_late_ring(hs), SMC_HS_DECLINE);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_TIMEOUT_CL);
	/* its reservation is released: other tasks may add a region */
	KUNIT_EXPECT_EQ(test, hs->growth, SMC_HS_GROW_NONE);
	KUNIT_EXPECT_FALSE(test, ring_is_growing);
	KUNIT_EXPECT_EQ(test, ring_refs(hs), 1);
}

static void what_has_begun_ends_by_itself(struct kunit *test)
{
	struct ring_lab *lab = test->priv;
	struct smc_hs *hs = &lab->hs;

	KUNIT_EXPECT_EQ(test, smc_hs_get_rmbe(hs), SMC_HS_WAIT);
	flush_workqueue(ring_wq);
	KUNIT_EXPECT_EQ(test, smc_hs_late_ring(hs), SMC_HS_WAIT);
	KUNIT_EXPECT_EQ(test, hs->growth, SMC_HS_GROW_BEGUN);
	KUNIT_EXPECT_TRUE(test, ring_is_growing);
	hs->growth = -ENOMEM;
	KUNIT_EXPECT_EQ(test, smc_hs_get_rmbe(hs), SMC_HS_DECLINE);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_MEM);
	KUNIT_EXPECT_EQ(test, hs->growth, SMC_HS_GROW_NONE);
}

/* In first contact, and in a work item of its own: a kernel thread belongs to no group. */
static void a_region_is_charged_to_the_group_of_the_handshake(struct kunit *test)
{
	struct ring_lab *lab = test->priv;
	struct smc_hs *hs = &lab->hs;

	/* is not dereferenced */
	hs->memcg = IS_ENABLED(CONFIG_MEMCG) ? (struct mem_cgroup *)hs : NULL;
	hs->grow_pool = &lab->lgr.rmbs;
	hs->is_first = true;
	KUNIT_EXPECT_EQ(test, smc_hs_grow(hs, &lab->lgr.rmbs, SMC_BUF_MIN_SIZE), 0);
	KUNIT_EXPECT_PTR_EQ(test, ring_payer, hs->memcg);
	ring_payer = NULL;
	hs->growth = SMC_HS_GROW_BEGUN;
	hs->smc->hs = hs;
	smc_sock_get(hs->smc);
	smc_hs_grow_work(&hs->smc->grow_work);
	KUNIT_EXPECT_PTR_EQ(test, ring_payer, hs->memcg);
	KUNIT_EXPECT_EQ(test, hs->growth, SMC_HS_GROW_DONE);
#ifdef CONFIG_MEMCG
	KUNIT_EXPECT_NULL(test, current->active_memcg);
#endif
	hs->smc->hs = NULL;
	hs->memcg = NULL;
}

static void a_group_without_room_gets_no_ring(struct kunit *test)
{
	struct ring_lab *lab = test->priv;
	struct smc_hs *hs = &lab->hs;

	hs->is_first = true;
	ring_grow_result = -ENOMEM;
	KUNIT_EXPECT_EQ(test, smc_hs_get_sndbuf(hs), SMC_HS_DECLINE);
	KUNIT_EXPECT_EQ(test, hs->reason, SMC_DECLINE_MEM);
	KUNIT_EXPECT_FALSE(test, ring_is_growing);
	/* an element that is free needs none */
	ring_free = SMC_BUF_MIN_SIZE;
	KUNIT_EXPECT_EQ(test, smc_hs_get_sndbuf(hs), SMC_HS_GO_ON);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(a_region_is_charged_to_the_group_of_the_handshake),
	KUNIT_CASE(a_group_without_room_gets_no_ring),
	KUNIT_CASE(a_queued_request_for_memory_falls_back_in_time),
	KUNIT_CASE(what_has_begun_ends_by_itself),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "smc_hs_ring",
	.init = ring_init,
	.exit = ring_exit,
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
