// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive on the SMC level, RFC 7609 4.5.3.
 *
 * Operation: each connection with keepalive has a timer. When it fires smc_keepalive_plan.c
 * decides to wait, to test the link, or to end the connection. An answer to TEST LINK counts
 * for all connections of the link, and a missing one ends the link (smc_llc_flow.c).
 *
 * TCP sends its own keepalives (KA-08), which load balancers may need.
 */
#include <linux/tcp.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "proto/smc_keepalive_plan.h"
#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "group/smc_llc.h"
#include "sock/smc_keepalive.h"
#include "sock/smc_sock.h"
#include "sock/smc_tx.h"

static u32 keep_ms(int ticks)
{
	return min_t(u64, (u64)(ticks / HZ) * MSEC_PER_SEC, INT_MAX);
}

/* The times that the application has set. */
static void keep_want(const struct sock *sk, struct smc_keepalive_times *want)
{
	u32 intvl = keep_ms(keepalive_intvl_when(tcp_sk(sk)));

	memset(want, 0, sizeof(*want));
	want->stall = READ_ONCE(inet_csk(sk)->icsk_user_timeout);
	if (!sock_flag(sk, SOCK_KEEPOPEN))
		return;
	want->idle = keep_ms(keepalive_time_when(tcp_sk(sk)));
	want->dead = min_t(u64, (u64)intvl * keepalive_probes(tcp_sk(sk)), INT_MAX);
	/* TCP_USER_TIMEOUT replaces the number of probes, as with TCP */
	if (want->stall)
		want->dead = max_t(int, intvl, want->stall - want->idle);
}

/**
 * smc_keepalive_update() - apply the options after the connection opened or one changed
 * @smc: the socket, with a connection
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_keepalive_update(struct smc_sock *smc)
{
	struct smc_keepalive_times want;
	struct smc_conn *conn = smc->conn;

	sock_owned_by_me(smc->sk);
	if (!smc_state_is_usable(&smc->close))
		return;
	keep_want(smc->sk, &want);
	spin_lock_bh(&conn->lock);
	smc->keep_want = want;
	smc->probed_link = NULL;
	conn->tx_is_timed = want.stall;
	smc_conn_unlock(conn);
	/* from now on completions are awaited */
	if (want.stall)
		smc_tx_push(conn);
	if (want.idle || want.stall)
		smc_sock_arm(smc, &smc->keep_timer, jiffies + 1);
	else
		smc_sock_disarm(smc, &smc->keep_timer);
}

/**
 * smc_keepalive_stop() - stop keepalive when the connection has ended
 * @smc: the socket, with a connection
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_keepalive_stop(struct smc_sock *smc)
{
	sock_owned_by_me(smc->sk);
	scoped_guard(spinlock_bh, &smc->conn->lock)
		memset(&smc->keep_want, 0, sizeof(smc->keep_want));
	smc_sock_disarm(smc, &smc->keep_timer);
}

static u32 keep_ago(unsigned long then)
{
	return min_t(u32, jiffies_to_msecs(max_t(long, jiffies - then, 0)), INT_MAX);
}

static void keep_facts(const struct smc_sock *smc, const struct smc_link *link,
		       struct smc_keepalive_facts *facts)
{
	const struct smc_conn *conn = smc->conn;

	lockdep_assert_held(&conn->lock);
	memset(facts, 0, sizeof(*facts));
	facts->conn_active = min3(keep_ago(conn->tx_jiffies), keep_ago(conn->rx_jiffies),
				  keep_ago(conn->ack_jiffies));
	facts->link_active = keep_ago(atomic_long_read(&link->wr.rx_jiffies));
	facts->progress = keep_ago(conn->progress_jiffies);
	facts->has_data = smc_cdc_unacked(&conn->ctl);
	/* a probe of a former link does not count for this one */
	facts->is_probing = smc->probed_link == link;
	facts->probed = keep_ago(smc->probe_jiffies);
}

/*
 * conn->lock pins the connection to its link. Without a link the connection is about to
 * end anyway. Arm the timer in the hold that decided, so that later changes override it.
 */
static enum smc_keepalive_verdict keep_look(struct smc_sock *smc)
{
	struct smc_keepalive_step step = {};
	struct smc_conn *conn = smc->conn;
	struct smc_keepalive_facts facts;
	struct smc_link *link;

	spin_lock_bh(&conn->lock);
	link = smc_conn_link(conn);
	if (link && conn->phase != SMC_CONN_SETUP) {
		keep_facts(smc, link, &facts);
		step = smc_keepalive_plan(&smc->keep_want, &facts);
		if (!step.is_probing)
			smc->probed_link = NULL;
	}
	if (step.verdict == SMC_KEEPALIVE_PROBE) {
		smc->probe_jiffies = jiffies;
		smc->probed_link = link;
		smc_llc_probe_link(link);
	}
	if (step.wait && step.verdict != SMC_KEEPALIVE_DEAD)
		smc_sock_arm(smc, &smc->keep_timer,
			     jiffies + max(msecs_to_jiffies(step.wait), 1UL));
	spin_unlock_bh(&conn->lock);
	return step.verdict;
}

/**
 * smc_keepalive_timer() - check a connection that may be silent
 * @timer: &smc_sock.keep_timer; drops the reference taken when it was armed
 *
 * KA-01, KA-03, TMR-15.
 *
 * Context: Softirq. Takes conn->lock.
 */
void smc_keepalive_timer(struct timer_list *timer)
{
	struct smc_sock *smc = smc_compat_timer_of(smc, timer, keep_timer);

	if (keep_look(smc) == SMC_KEEPALIVE_DEAD)
		smc_sock_pend(smc->conn, SMC_PENDING_SILENCE);
	smc_sock_put(smc);
}
