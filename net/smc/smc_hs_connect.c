// SPDX-License-Identifier: GPL-2.0
/*
 * A client until TCP has its connection: who looks after the three-way handshake of
 * connect(), and whether there is one of SMC after it.
 *
 * Operation: a call that waits on the socket attends: news of TCP wake it and no worker,
 * and it looks for itself. If nobody is there the worker looks. Who finds that the peer
 * did not offer SMC falls back at once; most who answer no are hosts without SMC, and
 * they cost neither a handshake object nor a worker.
 */
#include <net/tcp.h>

#include "smc_hs_connect.h"
#include "smc_hs_outcome.h"
#include "smc_tcp.h"
#include "smc_trace.h"

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
