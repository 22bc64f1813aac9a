// SPDX-License-Identifier: GPL-2.0
/*
 * Keepalive on the SMC level, RFC 7609 4.5.3.
 *
 * Operation: each connection with keepalive has a timer. When it fires smc_keepalive_plan.c
 * decides to wait, to test the link, or to end the connection. An answer to TEST LINK counts
 * for all connections of the link, and a missing one ends the link (smc_llc_flow.c).
 *
 * TCP sends its own keepalives (KA-08), which load balancers may need. Where the application wants
 * none, TCP would be idle for as long as RDMA carries the data, and firewalls would forget it. So
 * each side also sends a probe of TCP at intervals. Nothing follows from a missing answer.
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

/* Until TCP is tried again whose socket a call owns, as TCP's own timers do */
#define KEEP_RETRY	max(HZ / 20, 1)

static u32 keep_ms(int ticks)
{
	return min_t(u64, (u64)(ticks / HZ) * MSEC_PER_SEC, INT_MAX);
}

/* The times that the application has set. */
static void keep_want(const struct sock *sk, bool is_in_memory, struct smc_keepalive_times *want)
{
	u32 intvl = keep_ms(keepalive_intvl_when(tcp_sk(sk)));

	memset(want, 0, sizeof(*want));
	want->stall = READ_ONCE(inet_csk(sk)->icsk_user_timeout);
	/* in memory there is nothing to probe that TCP does not */
	if (!sock_flag(sk, SOCK_KEEPOPEN) || is_in_memory)
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
	keep_want(smc->sk, conn->pair, &want);
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

/* Jiffies between two probes of TCP, 0 for none. In memory no firewall is in between. */
static unsigned long keep_tcp_interval(const struct smc_sock *smc)
{
	if (smc->conn->pair)
		return 0;
	return READ_ONCE(smc_net(sock_net(smc->sk))->set.tcp_keepalive) * (unsigned long)HZ;
}

/**
 * smc_keepalive_begin() - start keepalive when the connection has opened
 * @smc: the socket, with a connection
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_keepalive_begin(struct smc_sock *smc)
{
	unsigned long interval = keep_tcp_interval(smc);

	sock_owned_by_me(smc->sk);
	smc_keepalive_update(smc);
	if (interval && smc_state_is_usable(&smc->close))
		smc_sock_arm(smc, &smc->tcp_timer, jiffies + interval);
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
	smc_sock_disarm(smc, &smc->tcp_timer);
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
	/* senders set tx_jiffies and progress_jiffies, the other end in memory rx_jiffies */
	facts->conn_active = min3(keep_ago(READ_ONCE(conn->tx_jiffies)),
				  keep_ago(READ_ONCE(conn->rx_jiffies)),
				  keep_ago(conn->ack_jiffies));
	if (link)
		facts->link_active = keep_ago(atomic_long_read(&link->wr.rx_jiffies));
	facts->progress = keep_ago(READ_ONCE(conn->progress_jiffies));
	/* in memory data waits in the writer, as before a closed window of TCP */
	facts->has_data = link ? smc_cdc_unacked(&conn->ctl) : !smc_conn_room(conn);
	/* a probe of a former link does not count for this one */
	facts->is_probing = smc->probed_link == link;
	facts->probed = keep_ago(smc->probe_jiffies);
}

/*
 * conn->lock pins the connection to its link. Without one, and not in memory, the connection is
 * about to end anyway. Arm the timer in the hold that decided, so that later changes override it.
 */
static enum smc_keepalive_verdict keep_look(struct smc_sock *smc)
{
	struct smc_keepalive_step step = {};
	struct smc_conn *conn = smc->conn;
	struct smc_keepalive_facts facts;
	struct smc_link *link;

	spin_lock_bh(&conn->lock);
	link = smc_conn_link(conn);
	if ((link || conn->pair) && conn->phase != SMC_CONN_SETUP) {
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

/*
 * Probe TCP's connection as its own keepalive does: by a segment with the number of a byte that the
 * peer has acknowledged, which it answers. Expects the spinlock of the socket lock held.
 */
static void keep_probe_tcp(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	WRITE_ONCE(tp->snd_nxt, tp->snd_nxt - 1);
	smc_compat_send_ack(sk, tp->rcv_nxt);
	WRITE_ONCE(tp->snd_nxt, tp->snd_nxt + 1);
	NET_INC_STATS(sock_net(sk), LINUX_MIB_TCPKEEPALIVE);
}

/**
 * smc_keepalive_tcp_timer() - have firewalls see TCP's connection
 * @timer: &smc_sock.tcp_timer; drops the reference taken when it was armed
 *
 * RFC 7609 4.5.3 (KA-08).
 *
 * Context: Softirq. Takes the spinlock of the socket lock.
 */
void smc_keepalive_tcp_timer(struct timer_list *timer)
{
	struct smc_sock *smc = smc_compat_timer_of(smc, timer, tcp_timer);
	unsigned long next = keep_tcp_interval(smc);
	struct sock *sk = smc->sk;

	bh_lock_sock(sk);
	if (!(1 << sk->sk_state & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
		next = 0;
	else if (sock_owned_by_user(sk))
		next = min(next, KEEP_RETRY);
	else if (next)
		keep_probe_tcp(sk);
	if (next)
		smc_sock_arm(smc, &smc->tcp_timer, jiffies + next);
	bh_unlock_sock(sk);
	smc_sock_put(smc);
}

/**
 * smc_keepalive_has_answer() - check whether the peer has been on the link
 * @smc: the socket, with a connection
 * @since: from then on, in jiffies
 *
 * Context: Process context. Takes conn->lock.
 * Return: true if a message has come on the link of the connection; false in memory.
 */
bool smc_keepalive_has_answer(const struct smc_sock *smc, unsigned long since)
{
	const struct smc_link *link;

	guard(spinlock_bh)(&smc->conn->lock);
	link = smc_conn_link(smc->conn);
	return link && !time_before((unsigned long)atomic_long_read(&link->wr.rx_jiffies), since);
}
