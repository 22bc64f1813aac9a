// SPDX-License-Identifier: GPL-2.0
/*
 * The two ends of a handshake at its socket: a client until TCP has its connection, and
 * the outcome, which becomes that of connect() or accept().
 *
 * Operation: a call that waits on the socket attends: news of TCP wake it and no worker,
 * and it looks for itself. If nobody is there the worker looks. Who finds that the peer
 * did not offer SMC falls back at once; most who answer no are hosts without SMC, and
 * they cost neither a handshake object nor a worker.
 */
#include <net/tcp.h>

#include "smc_child.h"
#include "smc_close.h"
#include "smc_fallback.h"
#include "smc_hs_connect.h"
#include "smc_hs_way.h"
#include "smc_net.h"
#include "smc_tcp.h"
#include "smc_trace.h"

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

/* A client's connection goes on as TCP, and connect() ends. */
static void smc_hs_finish_tcp(struct smc_sock *smc, enum smc_decline reason)
{
	smc->fallback = reason;
	smc_fallback_graft(smc, smc->sk.sk_socket);
	/* not earlier: poll() must not see a socket that is nothing yet */
	smp_store_release(&smc->is_connecting, false);
}

/* close() came before the outcome of connect(). */
static void smc_hs_finish_orphan(struct smc_sock *smc, enum smc_hs_outcome out)
{
	if (out == SMC_HS_SMC) {
		smc_hs_finish_smc(smc);
		smc_close_release(smc);
	} else {
		smc_sock_unhash(smc);
		smc_tcp_release(smc);
	}
}

/*
 * How does the three-way handshake stand? Negative errno, or 0 when it is done.
 * A second connect() tells the outcome of the first, with TCP's errno.
 */
static int smc_hs_ask_tcp(struct smc_sock *smc)
{
	int rc;

	sock_owned_by_me(&smc->sk);
	rc = kernel_connect(smc->tcp, (struct sockaddr *)&smc->addr, smc->addr_len, O_NONBLOCK);
	/* from here on the inner socket's news are of messages */
	if (!rc)
		WRITE_ONCE(smc->tcp_phase, SMC_TCP_HANDSHAKE);
	if (!rc || rc == -EALREADY || rc == -EINPROGRESS)
		return rc;
	smc_tcp_unwatch(smc);
	/* as tcp_done() leaves it, until connect() tells the outcome */
	WRITE_ONCE(smc->sk.sk_shutdown, SHUTDOWN_MASK);
	WRITE_ONCE(smc->sk.sk_err, -rc);
	/* pairs with the acquire in smc_poll(): who sees the end sees how it came */
	smp_store_release(&smc->is_connecting, false);
	sk_error_report(&smc->sk);
	smc_sock_wake_sleepers(smc);
	return rc;
}

/*
 * Step 1 of a client: did both sides offer SMC-R? 3.5.1.1, OPT-10. It needs no
 * handshake object, since most who answer no are hosts without SMC.
 * 0 if the handshake begins; the outcome is known already otherwise, or TCP is
 * not connected yet (-EALREADY).
 */
static int smc_hs_client_agreed(struct smc_sock *smc)
{
	enum smc_decline reason = SMC_DECLINE_PEERNOSMC;

	/* a connection that was there counts, even if it has ended since */
	if (READ_ONCE(smc->tcp_phase) != SMC_TCP_PLAIN &&
	    (!smc_tcp_is_connected(smc) || smc_tcp_is_agreed(smc))) {
		int rc = smc_hs_ask_tcp(smc);

		/* it may have come this moment, and without SMC */
		if (rc || smc_tcp_is_agreed(smc))
			return rc;
	}
	if (smc->is_eager_tcp)
		reason = smc->fallback;
	trace_smc_handshake(smc, false, SMC_HS_TCP, reason, 0);
	smc_hs_finish_tcp(smc, reason);
	return -EISCONN;
}

/**
 * smc_hs_connect_step() - go on with connect() in the worker
 * @smc: the socket, without a handshake
 *
 * Context: The handshake's work item, may sleep. Takes the socket lock, but does not wait
 * for it.
 * Return: 0 if the handshake is to begin, a negative errno otherwise.
 */
int smc_hs_connect_step(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	int rc = -EALREADY;

	if (!smc_sock_trylock(smc, SMC_MISSED_HANDSHAKE))
		return rc;
	if (!smc->is_connecting)
		goto out;
	if (sock_flag(sk, SOCK_DEAD)) {
		smc->is_connecting = false;
		smc_hs_finish_orphan(smc, SMC_HS_FAILED);
		goto out;
	}
	rc = smc_hs_client_agreed(smc);
out:
	release_sock(sk);
	return rc;
}

/**
 * smc_hs_begin_client() - begin connect()
 * @smc: the socket; @smc->addr is filled
 *
 * Context: Process context, may sleep. Expects the socket lock held, and that
 * the caller attends (smc_hs_attend()).
 * Return: -EINPROGRESS, or the errno with which TCP refuses at once.
 */
int smc_hs_begin_client(struct smc_sock *smc)
{
	int rc;

	smc_tcp_watch(smc, SMC_TCP_CONNECTING);
	rc = kernel_connect(smc->tcp, (struct sockaddr *)&smc->addr, smc->addr_len, O_NONBLOCK);
	if (rc && rc != -EINPROGRESS) {
		smc_tcp_unwatch(smc);
		return rc;
	}
	/* of whatever there was before */
	WRITE_ONCE(smc->sk.sk_err, 0);
	smc->is_connecting = true;
	return -EINPROGRESS;
}

/**
 * smc_hs_look() - go on with connect() now, in place of the worker
 * @smc: the socket, with a file
 *
 * Where TCP has been refused, or the peer did not offer SMC, this is the end of
 * connect() and costs no worker. Otherwise the worker does what is due.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_hs_look(struct smc_sock *smc)
{
	enum smc_tcp_phase phase = READ_ONCE(smc->tcp_phase);
	bool is_connected;

	if (!smc->is_connecting || (phase != SMC_TCP_CONNECTING && phase != SMC_TCP_PLAIN))
		return;
	is_connected = smc_tcp_is_connected(smc);
	if (is_connected && smc_tcp_is_agreed(smc))
		smc_sock_queue(smc, &smc->hs_work);
	else if (is_connected || smc->tcp->sk->sk_state == TCP_CLOSE || phase == SMC_TCP_PLAIN)
		smc_hs_client_agreed(smc);
}

/**
 * smc_hs_poll() - poll() finds that TCP has a connection, and without SMC
 * @smc: the socket, with @smc->was_told; the caller is in the wait queue of its file
 *
 * The fallback costs no worker if it is done here. Others who poll do the same:
 * all were woken when TCP had the connection, so nobody is woken again. Who holds
 * the lock may keep it for long, or is falling back; then a worker falls back, or
 * it does, and wakes us. RFC 7609 3.5.1.1 (OPT-10).
 *
 * Context: Process context, may sleep. Takes the socket lock, but does not wait
 * for it. The caller looks whose the file is afterwards.
 */
void smc_hs_poll(struct smc_sock *smc)
{
	if (smc_sock_trylock(smc, SMC_MISSED_HANDSHAKE)) {
		smc_hs_look(smc);
		release_sock(&smc->sk);
		return;
	}
	WRITE_ONCE(smc->has_missed, true);
	/* pairs with smc_fallback_graft(): it wakes us, or we see that it has been */
	smp_mb();
}

/**
 * smc_hs_attend() - a call on the socket looks after connect() by itself
 * @smc: the socket
 *
 * Until smc_hs_unattend() news of the three-way handshake wake the sleepers on
 * the socket, and no worker: the caller calls smc_hs_look().
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_hs_attend(struct smc_sock *smc)
{
	WRITE_ONCE(smc->nr_attending, smc->nr_attending + 1);
}

/**
 * smc_hs_unattend() - undo smc_hs_attend()
 * @smc: the socket
 *
 * Looks for news that came for the caller alone.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_hs_unattend(struct smc_sock *smc)
{
	WRITE_ONCE(smc->nr_attending, smc->nr_attending - 1);
	if (smc->nr_attending)
		return;
	/* pairs with smc_tcp_opened(): it queues the worker, or we see its news */
	smp_mb();
	smc_hs_look(smc);
}

static void smc_hs_free(struct smc_hs *hs)
{
	struct smc_sock *smc = hs->smc;

	/* not earlier: a server on this host waits for a client until it is through */
	smc_hs_leave_pair(hs);
	smc->hs = NULL;
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
	if (hs->role == SMC_ROLE_SERVER)
		smc_hs_finish_server(hs);
	else
		smc_hs_finish_client(hs);
}
