// SPDX-License-Identifier: GPL-2.0
/*
 * The outcome of a handshake becomes that of connect() or accept().
 */
#include <net/tcp.h>

#include "smc_child.h"
#include "smc_close.h"
#include "smc_fallback.h"
#include "smc_hs_outcome.h"
#include "smc_hs_way.h"
#include "smc_net.h"
#include "smc_tcp.h"

static void smc_hs_finish_failed(struct smc_sock *smc, int err)
{
	const struct smc_close_facts none = {};

	/* there was never a connection, so of its actions none is due */
	smc_state_close(&smc->close, SMC_CLOSE_FAULT, &none);
	smc->sk.sk_state = smc->close.state;
	smc->sk.sk_shutdown = SHUTDOWN_MASK;
	smc_tcp_reset(smc);
	smc_sock_set_err(smc, err);
}

static void smc_hs_finish_smc(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	sk->sk_sndbuf = 2 * smc->conn->sndbuf.size;
	sk->sk_rcvbuf = 2 * smc->conn->rmbe.size;
	smc_tcp_watch(smc, SMC_TCP_CARRIER);
	smc_close_establish(smc);
	/* what happened on TCP before the watch was set */
	if (smc->tcp->sk->sk_state == TCP_CLOSE)
		smc_sock_pend(smc, SMC_PENDING_RESET);
	else if (smc_tcp_has_payload(smc))
		smc_sock_pend(smc, SMC_PENDING_FAULT);
}

/**
 * smc_hs_finish_tcp() - a client's connection goes on as TCP
 * @smc: the socket, with a file
 * @reason: why
 *
 * This ends connect().
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_hs_finish_tcp(struct smc_sock *smc, enum smc_decline reason)
{
	smc->fallback = reason;
	smc_fallback_graft(smc, smc->sk.sk_socket);
	/* not earlier: poll() must not see a socket that is nothing yet */
	smp_store_release(&smc->is_connecting, false);
}

/**
 * smc_hs_finish_orphan() - close() came before the outcome of connect()
 * @smc: the socket, without a file
 * @out: the outcome
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_hs_finish_orphan(struct smc_sock *smc, enum smc_hs_outcome out)
{
	if (out == SMC_HS_SMC) {
		smc_hs_finish_smc(smc);
		smc_close_release(smc);
	} else {
		smc_sock_unhash(smc);
		smc_tcp_release(smc);
	}
}

static void smc_hs_free(struct smc_hs *hs)
{
	struct smc_sock *smc = hs->smc;

	/* not earlier: a server on this host waits for a client until it is through */
	smc_hs_leave_pair(hs);
	smc->hs = NULL;
	smc->has_outcome = false;
	kfree(hs);
	/* who calls has another reference */
	__sock_put(&smc->sk);
}

/* The outcome becomes that of connect(), as soon as no call has the lock. */
static void smc_hs_finish_client(struct smc_hs *hs)
{
	enum smc_hs_outcome out = hs->outcome;
	struct smc_sock *smc = hs->smc;
	struct sock *sk = &smc->sk;

	if (!smc_sock_trylock(smc, SMC_MISSED_HANDSHAKE))
		return;
	if (sock_flag(sk, SOCK_DEAD)) {
		smc_hs_finish_orphan(smc, out);
	} else if (out == SMC_HS_SMC) {
		smc_stat_inc(hs->net, SMC_STAT_CLIENT_SMC);
		smc_hs_finish_smc(smc);
	} else if (out == SMC_HS_TCP) {
		smc_hs_finish_tcp(smc, hs->reason);
	} else {
		smc_stat_inc(hs->net, SMC_STAT_CLIENT_FAILED);
		smc_hs_finish_failed(smc, -hs->err);
	}
	/* not earlier: poll() must not see a socket that is nothing yet */
	smp_store_release(&smc->is_connecting, false);
	if (!smc->is_grafted)
		smc_sock_wake_sleepers(smc);
	/* a failure has been reported */
	if (!smc->is_grafted && out == SMC_HS_SMC)
		sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
	smc_hs_free(hs);
	release_sock(sk);
}

/* The child goes to accept(), or away. */
static void smc_hs_finish_server(struct smc_hs *hs)
{
	enum smc_hs_outcome out = hs->outcome;
	struct smc_sock *smc = hs->smc;
	struct sock *sk = &smc->sk;

	/* nobody has it for long, but who waits here could not be waited for */
	if (!smc_sock_trylock(smc, SMC_MISSED_HANDSHAKE))
		return;
	if (out == SMC_HS_SMC) {
		smc_stat_inc(hs->net, SMC_STAT_SERVER_SMC);
		smc_hs_finish_smc(smc);
	} else if (out == SMC_HS_TCP) {
		smc->fallback = hs->reason;
	} else {
		smc_stat_inc(hs->net, SMC_STAT_SERVER_FAILED);
		smc_hs_finish_failed(smc, -hs->err);
	}
	release_sock(sk);
	smc_hs_free(hs);
	smc_child_done(smc, out != SMC_HS_FAILED);
}

/**
 * smc_hs_finish() - tell the outcome, and be done with the handshake
 * @hs: the handshake, with @hs->outcome; freed, and with it its reference on the socket
 *
 * If a call has the socket lock nothing happens, and the work item is queued again when the
 * call releases it.
 *
 * Context: The handshake's work item, may sleep. Takes the socket lock, but does not wait
 * for it.
 */
void smc_hs_finish(struct smc_hs *hs)
{
	if (hs->is_server)
		smc_hs_finish_server(hs);
	else
		smc_hs_finish_client(hs);
}
