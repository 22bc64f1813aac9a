// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of a connection: elements of its group's pools, which grow on demand.
 *
 * Operation: one handshake at a time adds a region to a group, which is charged to the control
 * group of its socket; the others wait in the queue of the pool, and are woken one by one. On
 * subsequent contact the peer must answer CONFIRM RKEY before an element of a new RMB can be used.
 * That wait inside a step has a work item and a queue of its own, which owns the members of the
 * handshake that it needs.
 */
#include "smc_compat.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "group/smc_pool.h"
#include "sock/smc_child.h"
#include "sock/smc_hs_ring.h"

static struct smc_buf_elem *smc_hs_ring(struct smc_hs *hs, const struct smc_buf_pool *pool)
{
	struct smc_conn *conn = hs->smc->conn;

	return pool->kind == SMC_BUF_RMB ? &conn->rmbe : &conn->sndbuf;
}

/* SO_SNDBUF and SO_RCVBUF store twice the requested size; autotuned sizes are TCP's. */
static int smc_hs_ring_request(struct smc_hs *hs, const struct smc_buf_pool *pool)
{
	const struct smc_settings *set = &smc_net(hs->net)->set;
	const struct sock *sk = hs->smc->sk;

	if (pool->kind == SMC_BUF_RMB)
		return sk->sk_userlocks & SOCK_RCVBUF_LOCK ? READ_ONCE(sk->sk_rcvbuf) / 2 :
			smc_mem_fit(hs->memcg, READ_ONCE(set->rmem));
	return sk->sk_userlocks & SOCK_SNDBUF_LOCK ? READ_ONCE(sk->sk_sndbuf) / 2 :
		smc_mem_fit(hs->memcg, READ_ONCE(set->wmem));
}

/* Element size for the application's request in this group, RMB-09. */
static u32 smc_hs_ring_size(struct smc_hs *hs, const struct smc_buf_pool *pool)
{
	u64 most = (u64)rounddown_pow_of_two(READ_ONCE(hs->lgr->max_pages)) << PAGE_SHIFT;
	u8 max_code = SMC_BSIZE_RFC_MAX;
	u32 size;

	if (!hs->is_first)
		max_code = hs->lgr->params.max_size_code;
	size = smc_nego_size_bytes(smc_nego_size_code(smc_hs_ring_request(hs, pool), max_code));
	/* an RNIC cannot register more in one piece */
	return max_t(u64, min_t(u64, size, most), SMC_BUF_MIN_SIZE);
}

static int smc_hs_add_buf(struct smc_hs *hs)
{
	struct mem_cgroup *was = set_active_memcg(hs->memcg);
	struct smc_buf_pool *pool = hs->grow_pool;
	int rc;

	/* first contact registers and announces it with the link */
	rc = smc_pool_grow(hs->lgr, pool, hs->grow_size, !hs->is_first, smc_hs_ring(hs, pool));
	set_active_memcg(was);
	return rc;
}

/**
 * smc_hs_grow_work() - add a region to a group for a handshake
 * @work: &smc_sock.grow_work; drops the reference taken when it was queued
 *
 * Waits for the peer on subsequent contact, bounded by the timers of LLC. A peer can occupy
 * one such item per group, and only after it proved an RDMA path.
 *
 * Context: Process context (work item), sleeps.
 */
void smc_hs_grow_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, grow_work);
	struct smc_hs *hs = smc->hs;
	int rc = smc_hs_add_buf(hs);

	smc_pool_end_grow(hs->lgr);
	/* no other handshake would wake this one for a retry */
	if (rc == -EAGAIN)
		rc = -EIO;
	/* pairs with smp_load_acquire() in smc_hs_try_ring(); hs may be freed after it */
	smp_store_release(&hs->growth, rc ?: SMC_HS_GROW_DONE);
	smc_sock_queue(smc);
	smc_sock_put(smc);
}

/* Grow the pool, or wait for the growth of another handshake: 0, -EAGAIN or an error. */
static int smc_hs_grow(struct smc_hs *hs, struct smc_buf_pool *pool, u32 size)
{
	int rc = smc_pool_begin_grow(hs->lgr);

	if (rc)
		return rc == -EBUSY ? -EAGAIN : rc;
	hs->grow_pool = pool;
	hs->grow_size = size;
	if (hs->is_first) {
		/* a forming group is private, and its first RMB is announced with the link */
		rc = smc_hs_add_buf(hs);
		smc_pool_end_grow(hs->lgr);
		return rc;
	}
	hs->growth = SMC_HS_GROW_BEGUN;
	smc_sock_queue_grow(hs->smc);
	return -EAGAIN;
}

static int smc_hs_try_ring(struct smc_hs *hs, struct smc_buf_pool *pool)
{
	/* pairs with smp_store_release() in smc_hs_grow_work() */
	int rc = smp_load_acquire(&hs->growth);
	u32 size;

	if (rc == SMC_HS_GROW_BEGUN)
		return -EAGAIN;
	hs->growth = SMC_HS_GROW_NONE;
	if (rc != SMC_HS_GROW_NONE)
		return rc == SMC_HS_GROW_DONE ? 0 : rc;
	size = smc_hs_ring_size(hs, pool);
	rc = smc_buf_get(pool, size, smc_hs_ring(hs, pool));
	if (rc)
		return smc_hs_grow(hs, pool, size);
	smc_stat_inc(hs->net, pool->kind == SMC_BUF_RMB ? SMC_STAT_RMBE_REUSE :
							  SMC_STAT_SNDBUF_REUSE);
	return 0;
}

static void smc_hs_count_ring(struct smc_hs *hs, const struct smc_buf_pool *pool)
{
	u32 size = smc_hs_ring(hs, pool)->size;
	bool is_rmb = pool->kind == SMC_BUF_RMB;

	smc_stat_inc(hs->net, smc_stat_size(is_rmb ? SMC_STAT_RMB_SIZE_8K :
					    SMC_STAT_SNDBUF_SIZE_8K, size));
	if (size < smc_hs_ring_request(hs, pool))
		smc_stat_inc(hs->net, is_rmb ? SMC_STAT_RMB_LESS : SMC_STAT_SNDBUF_LESS);
}

static enum smc_hs_outcome smc_hs_get_ring(struct smc_hs *hs, struct smc_buf_pool *pool)
{
	int rc = smc_hs_try_ring(hs, pool);

	if (rc == -EAGAIN)
		return SMC_HS_WAIT;
	if (rc)
		return smc_hs_decline(hs, rc == -ENOMEM || rc == -ENOSPC ? SMC_DECLINE_MEM :
				      SMC_DECLINE_ERR_REGBUF);
	smc_hs_count_ring(hs, pool);
	if (hs->role == SMC_ROLE_SERVER)
		smc_child_count(hs->smc, smc_hs_ring(hs, pool)->size);
	return SMC_HS_GO_ON;
}

/**
 * smc_hs_get_sndbuf() - step: get the send ring
 * @hs: the handshake, with its group
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON; SMC_HS_WAIT during a growth; SMC_HS_DECLINE.
 */
enum smc_hs_outcome smc_hs_get_sndbuf(struct smc_hs *hs)
{
	return smc_hs_get_ring(hs, &hs->lgr->sends);
}

/**
 * smc_hs_get_rmbe() - step: get the RMB element
 * @hs: the handshake, with its group
 *
 * On success the peer's RNIC has its key: ACPT-04, SC-04, SC-08.
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON; SMC_HS_WAIT during a growth; SMC_HS_DECLINE.
 */
enum smc_hs_outcome smc_hs_get_rmbe(struct smc_hs *hs)
{
	return smc_hs_get_ring(hs, &hs->lgr->rmbs);
}

/* Cancel the work item that smc_hs_grow() queued; false if it runs already. */
static bool smc_hs_cancel_grow(struct smc_hs *hs)
{
	if (!cancel_work(&hs->smc->grow_work))
		return false;
	hs->growth = SMC_HS_GROW_NONE;
	smc_pool_end_grow(hs->lgr);
	/* the queue's reference; @hs has its own */
	smc_sock_put(hs->smc);
	return true;
}

/**
 * smc_hs_late_ring() - timeout: give up unless our own growth runs
 * @hs: the handshake
 *
 * The handshake must wait for its own growth, which ends by itself. Others may wait for
 * an unreachable peer.
 *
 * Context: The handshake's work item.
 * Return: SMC_HS_DECLINE or SMC_HS_WAIT.
 */
enum smc_hs_outcome smc_hs_late_ring(struct smc_hs *hs)
{
	if (READ_ONCE(hs->growth) == SMC_HS_GROW_NONE || smc_hs_cancel_grow(hs))
		return smc_hs_decline(hs, SMC_DECLINE_TIMEOUT_CL);
	return SMC_HS_WAIT;
}
