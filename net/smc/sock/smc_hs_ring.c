// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of a connection: elements of its group, to which an area is added if need be.
 *
 * Operation: one handshake at a time adds an area to a group, the others watch the group
 * and look again. On subsequent contact the peer has to answer CONFIRM RKEY before an
 * element of a new RMB can be used. That is the one wait inside a step; it has a work
 * item and a queue of its own.
 *
 * Ownership: while that is in progress, its work item owns what it needs of the handshake.
 */
#include "sock/smc_child.h"
#include "group/smc_grow.h"
#include "sock/smc_hs_ring.h"
#include "group/smc_llc_rmb.h"
#include "group/smc_llc_sweep.h"
#include "rdma/smc_net.h"

static struct smc_buf_elem *smc_hs_ring(struct smc_hs *hs, const struct smc_buf_pool *pool)
{
	struct smc_conn *conn = hs->smc->conn;

	return pool->kind == SMC_BUF_RMB ? &conn->rmbe : &conn->sndbuf;
}

/* SO_SNDBUF and SO_RCVBUF count twice what was asked for; others are TCP's own affair. */
static int smc_hs_ring_wish(struct smc_hs *hs, const struct smc_buf_pool *pool)
{
	const struct smc_settings *set = &smc_net(hs->net)->set;
	const struct sock *sk = hs->smc->sk;

	if (pool->kind == SMC_BUF_RMB)
		return sk->sk_userlocks & SOCK_RCVBUF_LOCK ? READ_ONCE(sk->sk_rcvbuf) / 2 :
							     READ_ONCE(set->rmem);
	return sk->sk_userlocks & SOCK_SNDBUF_LOCK ? READ_ONCE(sk->sk_sndbuf) / 2 :
						     READ_ONCE(set->wmem);
}

/* The wish of the application as an element size this group may use, RMB-09. */
static u32 smc_hs_ring_size(struct smc_hs *hs, const struct smc_buf_pool *pool)
{
	u64 most = (u64)rounddown_pow_of_two(READ_ONCE(hs->lgr->max_pages)) << PAGE_SHIFT;
	u8 max_code = SMC_BSIZE_RFC_MAX;
	u32 size;

	if (!hs->is_first)
		max_code = hs->lgr->params.max_size_code;
	size = smc_nego_size_bytes(smc_nego_size_code(smc_hs_ring_wish(hs, pool), max_code));
	/* what an RNIC cannot register in one piece is clamped */
	return max_t(u64, min_t(u64, size, most), SMC_BUF_MIN_SIZE);
}

/* Make an area known to our RNIC and (an RMB) to the peer. */
static int smc_hs_publish_area(struct smc_hs *hs, struct smc_buf *buf)
{
	int rc;

	/* on first contact it is registered and announced with the link */
	if (hs->is_first)
		return 0;
	rc = smc_lgr_register_buf(hs->lgr, buf);
	/* RMB-23, RKEY-05, SC-04, SC-08: before Accept or Confirm */
	if (!rc && buf->kind == SMC_BUF_RMB)
		rc = smc_llc_rmb_announce(hs->lgr, buf);
	return rc;
}

static int smc_hs_add_area(struct smc_hs *hs)
{
	struct smc_buf_pool *pool = hs->grow_pool;
	struct smc_link_group *lgr = hs->lgr;
	struct smc_buf *buf;
	int rc;

	buf = smc_buf_alloc(pool, smc_hs_ring_size(hs, pool), READ_ONCE(lgr->max_pages));
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	rc = smc_lgr_add_buf(lgr, pool, buf, smc_hs_ring(hs, pool));
	if (rc)
		return rc;
	rc = smc_hs_publish_area(hs, buf);
	if (rc) {
		smc_lgr_drop_buf(lgr, pool, buf, smc_hs_ring(hs, pool));
		return rc;
	}
	/* nobody else finds a forming group, so this is not too early there */
	smc_buf_set_ready(pool, buf);
	if (pool->kind == SMC_BUF_RMB)
		smc_stat_inc(hs->net, SMC_STAT_RMB_NEW);
	return 0;
}

/**
 * smc_hs_grow_work() - add an area to a group for a handshake
 * @work: &smc_sock.grow_work; drops the reference taken when it was queued
 *
 * On subsequent contact this waits for the peer, so the time it takes is not
 * that of the handshakes' queue. A peer can make at most one such item wait
 * for each group it has, in which it has proved an RDMA path, and the timers
 * of LLC end that.
 *
 * Context: Process context (work item), sleeps.
 */
void smc_hs_grow_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, grow_work);
	struct smc_hs *hs = smc->hs;
	int rc = smc_hs_add_area(hs);

	smc_llc_sweep_end_grow(hs->lgr);
	/* no other handshake wakes this one to try again */
	if (rc == -EAGAIN)
		rc = -EIO;
	/* pairs with smp_load_acquire() in smc_hs_try_ring(); hs may go then */
	smp_store_release(&hs->growth, rc ?: SMC_HS_GROW_DONE);
	smc_sock_queue(smc);
	smc_sock_put(smc);
}

/* One adds an area, the others look again when it has; 0, -EAGAIN or failed. */
static int smc_hs_grow(struct smc_hs *hs, struct smc_buf_pool *pool)
{
	int rc = smc_lgr_begin_grow(hs->lgr);

	if (rc)
		return rc == -EBUSY ? -EAGAIN : rc;
	hs->grow_pool = pool;
	if (hs->is_first) {
		/* known to nobody, and the peer is told with the link */
		rc = smc_hs_add_area(hs);
		smc_llc_sweep_end_grow(hs->lgr);
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

	if (rc == SMC_HS_GROW_BEGUN)
		return -EAGAIN;
	hs->growth = SMC_HS_GROW_NONE;
	if (rc != SMC_HS_GROW_NONE)
		return rc == SMC_HS_GROW_DONE ? 0 : rc;
	rc = smc_buf_get(pool, smc_hs_ring_size(hs, pool), smc_hs_ring(hs, pool));
	if (!rc && pool->kind == SMC_BUF_RMB)
		smc_stat_inc(hs->net, SMC_STAT_RMBE_REUSE);
	return rc == -EAGAIN ? smc_hs_grow(hs, pool) : rc;
}

static enum smc_hs_outcome smc_hs_get_ring(struct smc_hs *hs, struct smc_buf_pool *pool)
{
	int rc = smc_hs_try_ring(hs, pool);

	if (rc == -EAGAIN)
		return SMC_HS_WAIT;
	if (rc)
		return smc_hs_decline(hs, rc == -ENOMEM || rc == -ENOSPC ? SMC_DECLINE_MEM :
				      SMC_DECLINE_ERR_REGBUF);
	if (hs->role == SMC_ROLE_SERVER)
		smc_child_charge(hs->smc, smc_hs_ring(hs, pool)->size);
	return SMC_HS_GO_ON;
}

/**
 * smc_hs_get_sndbuf() - step: the send ring
 * @hs: the handshake, with its group
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON; SMC_HS_WAIT while an area is added; SMC_HS_DECLINE.
 */
enum smc_hs_outcome smc_hs_get_sndbuf(struct smc_hs *hs)
{
	return smc_hs_get_ring(hs, &hs->lgr->sends);
}

/**
 * smc_hs_get_rmbe() - step: the element
 * @hs: the handshake, with its group
 *
 * Known to the peer's RNIC when this is through: ACPT-04, SC-04, SC-08.
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON; SMC_HS_WAIT while an area is added; SMC_HS_DECLINE.
 */
enum smc_hs_outcome smc_hs_get_rmbe(struct smc_hs *hs)
{
	return smc_hs_get_ring(hs, &hs->lgr->rmbs);
}

/* Take back what smc_hs_grow() has queued; false if it has begun. */
static bool smc_hs_cancel_grow(struct smc_hs *hs)
{
	if (!cancel_work(&hs->smc->grow_work))
		return false;
	hs->growth = SMC_HS_GROW_NONE;
	smc_llc_sweep_end_grow(hs->lgr);
	/* that of the queue; @hs has another one */
	smc_sock_put(hs->smc);
	return true;
}

/**
 * smc_hs_late_ring() - late: no ring in time
 * @hs: the handshake
 *
 * Others that add areas wait for peers that may be out of reach. So may those whose
 * items are before ours in the queue. Once ours has begun, it has an end of its own, for
 * which the handshake must wait.
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
