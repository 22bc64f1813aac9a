// SPDX-License-Identifier: GPL-2.0
/* The outcome of a handshake becomes the result of connect() or accept(). */
#include <net/tcp.h>

#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "sock/smc_child.h"
#include "sock/smc_close.h"
#include "sock/smc_hs_outcome.h"
#include "sock/smc_hs_path.h"
#include "sock/smc_tcp.h"
#include "sock/smc_wake.h"

/* getsockopt() reports the sizes of the rings. */
static void smc_hs_announce_sizes(struct sock *sk, const struct smc_conn *conn)
{
	WRITE_ONCE(sk->sk_sndbuf, 2 * conn->sndbuf.size);
	WRITE_ONCE(sk->sk_rcvbuf, 2 * conn->rmbe.size);
}

static void smc_hs_count_smc(const struct smc_hs *hs)
{
	bool is_server = hs->role == SMC_ROLE_SERVER;

	smc_stat_inc(hs->net, is_server ? SMC_STAT_SERVER_SMC : SMC_STAT_CLIENT_SMC);
	if (hs->smc->conn->pair) {
		smc_stat_inc(hs->net, is_server ? SMC_STAT_SERVER_MEMORY :
						  SMC_STAT_CLIENT_MEMORY);
		return;
	}
	/* versions count from 1 */
	smc_stat_inc(hs->net, (is_server ? SMC_STAT_SERVER_SMC_V1 : SMC_STAT_CLIENT_SMC_V1) +
		     hs->smc->conn->lgr->params.version - 1);
}

/* The connection is on SMC. Handle the TCP events that came before. */
static void smc_hs_finish_smc(struct smc_hs *hs)
{
	struct smc_sock *smc = hs->smc;
	struct smc_conn *conn = smc->conn;
	struct sock *sk = smc->sk;

	smc_hs_count_smc(hs);
	smc->is_server = hs->role == SMC_ROLE_SERVER;
	smc->begin_jiffies = jiffies ?: 1;
	smc->err = 0;
	smc->tcp_err = 0;
	smc->is_done = false;
	smc->shutdown = 0;
	smc_sock_set_phase(smc, SMC_PHASE_SMC);
	smc_hs_announce_sizes(sk, conn);
	smc_tcp_take_err(smc);
	smc_close_establish(smc);
	if (smc->has_tcp_ended)
		return;
	if (sk->sk_state == TCP_CLOSE)
		smc_sock_pend(conn, SMC_PENDING_RESET);
	else if (smc_tcp_holds_payload(sk))
		smc_sock_pend(conn, SMC_PENDING_PAYLOAD);
}

/**
 * smc_hs_back_to_idle() - end an abandoned handshake
 * @smc: the socket, in the phase of a handshake
 *
 * Disconnects TCP after connect() to AF_UNSPEC or shutdown(). After close()
 * smc_close_unlock() closes it.
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

/**
 * smc_hs_finish_failed() - end a client's connection before the application could use it
 * @smc: the socket, in the phase of a handshake
 * @err: positive errno for connect()
 *
 * Context: The handshake's work item, may sleep. Expects the socket lock held.
 */
void smc_hs_finish_failed(struct smc_sock *smc, int err)
{
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	smc_stat_inc(sock_net(sk), SMC_STAT_CLIENT_FAILED);
	smc_sock_set_phase(smc, SMC_PHASE_IDLE);
	smc_tcp_disconnect(sk);
	/* TCP's state after a failure, until connect() returns the error */
	WRITE_ONCE(sk->sk_err, err);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	smc_wake_state(sk);
	smc_wake_error(sk);
}

/* Expects the socket lock held. */
static void smc_hs_finish_client(struct smc_hs *hs)
{
	enum smc_hs_outcome out = hs->outcome;
	struct smc_sock *smc = hs->smc;
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	if (smc->phase == SMC_PHASE_STOPPING || smc->is_released) {
		if (out == SMC_HS_SMC) {
			smc_close_establish(smc);
			smc_close_give_up(smc);
		}
		smc_hs_back_to_idle(smc);
		return;
	}
	if (out == SMC_HS_SMC) {
		smc_hs_finish_smc(hs);
	} else if (out == SMC_HS_TCP) {
		smc_stat_inc(hs->net, SMC_STAT_CLIENT_TCP);
		smc_tcp_become(smc, hs->reason);
	} else {
		smc_hs_finish_failed(smc, -hs->err);
		return;
	}
	smc_wake_state(sk);
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
	/* for input that TCP could not signal meanwhile */
	if (out == SMC_HS_TCP && (!skb_queue_empty_lockless(&sk->sk_receive_queue) ||
				  sk->sk_shutdown & RCV_SHUTDOWN))
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
}

/* Return: true if the child goes to accept(). */
static bool smc_hs_finish_server(struct smc_hs *hs)
{
	enum smc_hs_outcome out = hs->outcome;
	struct smc_sock *smc = hs->smc;

	if (out == SMC_HS_SMC)
		smc_hs_finish_smc(hs);
	else if (out == SMC_HS_TCP)
		smc->fallback = hs->reason;
	else
		smc_stat_inc(hs->net, SMC_STAT_SERVER_FAILED);
	return out != SMC_HS_FAILED;
}

/**
 * smc_hs_finish() - publish the outcome and free the handshake
 * @hs: the handshake, with @hs->outcome; freed, and with it its reference on the socket
 *
 * If a call owns the socket lock, that call queues the work item again on release.
 *
 * Context: The handshake's work item, may sleep. Takes the socket lock, but does not wait
 * for a call that owns it.
 */
void smc_hs_finish(struct smc_hs *hs)
{
	struct smc_sock *smc = hs->smc;
	bool is_good = false;

	if (!smc_sock_lock_work(smc->sk, SMC_MISSED_HANDSHAKE))
		return;
	/* before another handshake can begin */
	smc->hs = NULL;
	if (hs->role == SMC_ROLE_SERVER)
		is_good = smc_hs_finish_server(hs);
	else
		smc_hs_finish_client(hs);
	smc_close_unlock(smc);
	/* not earlier: a server on this host waits until the client has finished */
	smc_meet_leave(smc);
	if (hs->role == SMC_ROLE_SERVER)
		smc_child_done(smc, is_good);
	mem_cgroup_put(hs->memcg);
	kfree(hs);
	/* the caller has another reference */
	smc_sock_put(smc);
}
