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
static void keep_want(const struct smc_conn *conn, struct smc_keepalive_times *want)
{
	struct sock *sk = conn->sk;
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
 * @conn: the connection
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_keepalive_update(struct smc_conn *conn)
{
	struct smc_keepalive_times want;

	sock_owned_by_me(conn->sk);
	if (!smc_state_is_usable(&conn->close))
		return;
	keep_want(conn, &want);
	spin_lock_bh(&conn->lock);
	conn->keep_want = want;
	conn->probed_link = NULL;
	spin_unlock_bh(&conn->lock);
	/* from now on completions are awaited */
	if (want.stall)
		smc_tx_push(conn);
	if (want.idle || want.stall)
		smc_conn_arm(conn, &conn->keep_timer, jiffies + 1);
	else
		smc_conn_disarm(conn, &conn->keep_timer);
}

/**
 * smc_keepalive_stop() - stop keepalive when the connection has ended
 * @conn: the connection
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_keepalive_stop(struct smc_conn *conn)
{
	sock_owned_by_me(conn->sk);
	spin_lock_bh(&conn->lock);
	memset(&conn->keep_want, 0, sizeof(conn->keep_want));
	spin_unlock_bh(&conn->lock);
	smc_conn_disarm(conn, &conn->keep_timer);
}

static u32 keep_ago(unsigned long then)
{
	return min_t(u32, jiffies_to_msecs(max_t(long, jiffies - then, 0)), INT_MAX);
}

static void keep_facts(const struct smc_conn *conn, struct smc_link *link,
		       struct smc_keepalive_facts *facts)
{
	lockdep_assert_held(&conn->lock);
	memset(facts, 0, sizeof(*facts));
	facts->conn_active = min3(keep_ago(conn->tx_jiffies), keep_ago(conn->rx_jiffies),
				  keep_ago(conn->ack_jiffies));
	facts->link_active = keep_ago(atomic_long_read(&link->wr.rx_jiffies));
	facts->progress = keep_ago(conn->progress_jiffies);
	facts->has_data = smc_cursor_distance(conn->snd_geom, conn->tx_fin, conn->tx_prep) > 0;
	/* a probe of a former link does not count for this one */
	facts->is_probing = conn->probed_link == link;
	facts->probed = keep_ago(conn->probe_jiffies);
}

/*
 * conn->lock pins the connection to its link. Without a link the connection is about to
 * end anyway. Arm the timer in the hold that decided, so that later changes override it.
 */
static enum smc_keepalive_verdict keep_look(struct smc_conn *conn)
{
	struct smc_keepalive_step step = {};
	struct smc_keepalive_facts facts;
	struct smc_link *link;

	spin_lock_bh(&conn->lock);
	link = smc_conn_link(conn);
	if (link && conn->phase != SMC_CONN_SETUP) {
		keep_facts(conn, link, &facts);
		step = smc_keepalive_plan(&conn->keep_want, &facts);
		if (!step.is_probing)
			conn->probed_link = NULL;
	}
	if (step.verdict == SMC_KEEPALIVE_PROBE) {
		conn->probe_jiffies = jiffies;
		conn->probed_link = link;
		smc_llc_probe_link(link);
	}
	if (step.wait && step.verdict != SMC_KEEPALIVE_DEAD)
		smc_conn_arm(conn, &conn->keep_timer,
			     jiffies + max(msecs_to_jiffies(step.wait), 1UL));
	spin_unlock_bh(&conn->lock);
	return step.verdict;
}

/**
 * smc_keepalive_timer() - check a connection that may be silent
 * @timer: &smc_conn.keep_timer; drops the reference taken when it was armed
 *
 * KA-01, KA-03, TMR-15.
 *
 * Context: Softirq. Takes conn->lock.
 */
void smc_keepalive_timer(struct timer_list *timer)
{
	struct smc_conn *conn = smc_compat_timer_of(conn, timer, keep_timer);

	if (keep_look(conn) == SMC_KEEPALIVE_DEAD)
		smc_sock_pend(conn, SMC_PENDING_SILENCE);
	smc_conn_put(conn);
}
