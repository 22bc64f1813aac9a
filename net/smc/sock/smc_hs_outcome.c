// SPDX-License-Identifier: GPL-2.0
/*
 * The outcome of a handshake, which becomes that of connect() or accept().
 */
#include <net/tcp.h>

#include "sock/smc_child.h"
#include "sock/smc_close.h"
#include "sock/smc_hs_outcome.h"
#include "sock/smc_hs_path.h"
#include "group/smc_member.h"
#include "rdma/smc_net.h"
#include "sock/smc_tcp.h"
#include "sock/smc_wake.h"

/* The sizes that getsockopt() tells are those of the rings. */
static void smc_hs_announce_sizes(struct sock *sk, const struct smc_conn *conn)
{
	WRITE_ONCE(sk->sk_sndbuf, 2 * conn->sndbuf.size);
	WRITE_ONCE(sk->sk_rcvbuf, 2 * conn->rmbe.size);
}

/* The connection is on SMC. What TCP told before it was is looked for here. */
static void smc_hs_finish_smc(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->conn;
	struct sock *sk = smc->sk;

	smc->err = 0;
	smc->tcp_err = 0;
	smc->is_done = false;
	smc->shutdown = 0;
	smc_sock_set_phase(smc, SMC_PHASE_SMC);
	smc_hs_announce_sizes(sk, conn);
	smc_tcp_take_err(smc);
	smc_close_establish(conn);
	if (sk->sk_state == TCP_CLOSE)
		smc_sock_pend(conn, SMC_PENDING_RESET);
	else if (smc_tcp_holds_payload(sk))
		smc_sock_pend(conn, SMC_PENDING_FAULT);
}

/**
 * smc_hs_back_to_idle() - a handshake that nobody wants any more has ended
 * @smc: the socket, in the phase of a handshake
 *
 * connect() to AF_UNSPEC, shutdown() or close() has ended it. TCP tells it in its own words,
 * unless the file is closed: then smc_close_unlock() closes TCP.
 *
 * Context: The handshake's work item, may sleep. Expects the socket lock held.
 */
void smc_hs_back_to_idle(struct smc_sock *smc)
{
	bool is_stopped = smc->phase == SMC_PHASE_STOPPING;

	sock_owned_by_me(smc->sk);
	smc_sock_set_phase(smc, SMC_PHASE_IDLE);
	if (!is_stopped)
		return;
	smc_tcp_disconnect(smc->sk);
	smc_wake_everybody(smc->sk);
}

/* It came to a connection on SMC, and nobody wants that. */
static void smc_hs_abort_smc(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->conn;

	smc_close_establish(conn);
	smc_close_handle_event(conn, SMC_CLOSE_APP_ABORT);
	smc_sock_drop_conn(smc);
}

/* Before the application could have the connection it was reset, or was never there. */
static void smc_hs_finish_failed(struct smc_sock *smc, int err)
{
	struct sock *sk = smc->sk;

	smc_sock_set_phase(smc, SMC_PHASE_IDLE);
	smc_tcp_disconnect(sk);
	/* as TCP leaves it, until connect() tells the outcome */
	WRITE_ONCE(sk->sk_err, err);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	smc_wake_state(sk);
	smc_wake_error(sk);
}

/* The outcome becomes that of connect(). Expects the socket lock held. */
static void smc_hs_finish_client(struct smc_hs *hs)
{
	enum smc_hs_outcome out = hs->outcome;
	struct smc_sock *smc = hs->smc;
	struct sock *sk = smc->sk;

	if (smc->phase == SMC_PHASE_STOPPING || smc->is_released) {
		if (out == SMC_HS_SMC)
			smc_hs_abort_smc(smc);
		smc_hs_back_to_idle(smc);
		return;
	}
	if (out == SMC_HS_SMC) {
		smc_stat_inc(hs->net, SMC_STAT_CLIENT_SMC);
		smc_hs_finish_smc(smc);
	} else if (out == SMC_HS_TCP) {
		smc_stat_inc(hs->net, SMC_STAT_CLIENT_TCP);
		smc_tcp_become(smc, hs->reason);
	} else {
		smc_stat_inc(hs->net, SMC_STAT_CLIENT_FAILED);
		smc_hs_finish_failed(smc, -hs->err);
		return;
	}
	smc_wake_state(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
	/* of what TCP could not tell meanwhile */
	if (out == SMC_HS_TCP && (!skb_queue_empty_lockless(&sk->sk_receive_queue) ||
				  sk->sk_shutdown & RCV_SHUTDOWN))
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
}

/* The child goes to accept(), or away. */
static bool smc_hs_finish_server(struct smc_hs *hs)
{
	enum smc_hs_outcome out = hs->outcome;
	struct smc_sock *smc = hs->smc;

	if (out == SMC_HS_SMC) {
		smc_stat_inc(hs->net, SMC_STAT_SERVER_SMC);
		smc_hs_finish_smc(smc);
	} else if (out == SMC_HS_TCP) {
		smc->fallback = hs->reason;
	} else {
		smc_stat_inc(hs->net, SMC_STAT_SERVER_FAILED);
	}
	return out != SMC_HS_FAILED;
}

/**
 * smc_hs_finish() - tell the outcome, and be done with the handshake
 * @hs: the handshake, with @hs->outcome; freed, and with it its reference on the socket
 *
 * If a call has the socket lock nothing happens, and the work item is queued again when the
 * call releases it.
 *
 * Context: The handshake's work item, may sleep. Takes the socket lock, but does not wait
 * for a call that has it.
 */
void smc_hs_finish(struct smc_hs *hs)
{
	struct smc_sock *smc = hs->smc;
	bool is_good = false;

	if (!smc_sock_lock_work(smc->sk, SMC_MISSED_HANDSHAKE))
		return;
	/* before anybody can begin another one */
	smc->hs = NULL;
	if (hs->role == SMC_ROLE_SERVER)
		is_good = smc_hs_finish_server(hs);
	else
		smc_hs_finish_client(hs);
	smc_close_unlock(smc);
	/* not earlier: a server on this host waits for a client until it is through */
	smc_hs_leave_pair(hs);
	if (hs->role == SMC_ROLE_SERVER)
		smc_child_done(smc, is_good);
	kfree(hs);
	/* who calls has another reference */
	smc_sock_put(smc);
}
