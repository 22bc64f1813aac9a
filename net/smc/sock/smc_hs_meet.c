// SPDX-License-Identifier: GPL-2.0
/*
 * Both ends on this host: the rows that share memory in place of a link.
 *
 * These rows precede those of CLC, and a connection that ends here on SMC has sent no byte on TCP.
 * In every other case the rows of CLC follow as if these did not exist. Both ends take the same
 * way: an end that leaves changes the state of the other under one lock, and it cannot leave by
 * itself once the other counts on it (smc_meet_withdraw()).
 */
#include "group/smc_pair.h"
#include "sock/smc_close.h"
#include "sock/smc_hs_meet.h"
#include "sock/smc_path.h"

/* The time limits of CLC begin when the wait for the other end is over. */
static enum smc_hs_outcome smc_hs_go_to_clc(struct smc_hs *hs)
{
	hs->since = jiffies;
	return SMC_HS_GO_ON;
}

static void smc_hs_drop_pair(struct smc_hs *hs)
{
	struct smc_conn *conn = hs->smc->conn;

	if (!conn || !conn->pair)
		return;
	smc_close_leave(conn, true);
	smc_conn_forget_unread(conn);
	smc_sock_drop_conn(hs->smc);
}

/**
 * smc_hs_undo_meet() - undo: leave the other end on this host
 * @hs: the handshake, which may have none; on SMC smc_hs_finish() leaves, after connect() has its
 *	outcome
 *
 * Context: The handshake's work item.
 */
void smc_hs_undo_meet(struct smc_hs *hs)
{
	if (hs->outcome == SMC_HS_SMC)
		return;
	/* first: from here on the other end does not count on the pair */
	smc_meet_leave(hs->smc);
	smc_hs_drop_pair(hs);
}

static bool smc_hs_give_pair(struct smc_hs *hs, u32 client_size)
{
	struct smc_sock *smc = hs->smc;
	struct smc_pair *pair;

	pair = smc_pair_alloc(client_size, smc_meet_ring_size(smc->sk));
	if (!pair)
		return false;
	if (smc_sock_make_conn(smc))
		goto out;
	smc_pair_join(smc->conn, pair, SMC_ROLE_SERVER);
	if (smc_meet_take(smc, pair))
		return true;
	smc_hs_drop_pair(hs);
out:
	smc_pair_put(pair);
	return false;
}

/**
 * smc_hs_server_meet() - step: share memory with a client on this host
 * @hs: the handshake
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON.
 */
enum smc_hs_outcome smc_hs_server_meet(struct smc_hs *hs)
{
	struct smc_sock *smc = hs->smc;
	u32 client_size;

	if (!smc_meet_find(smc, &client_size))
		return SMC_HS_GO_ON;
	/* CLC declines with the reason */
	if (smc->fallback != SMC_DECLINE_NONE || smc_path_needs_ipsec(smc->sk) ||
	    !smc_hs_give_pair(hs, client_size))
		smc_meet_refuse(smc);
	return SMC_HS_GO_ON;
}

static enum smc_hs_outcome smc_hs_server_open(struct smc_hs *hs)
{
	smc_meet_leave(hs->smc);
	smc_conn_open(hs->smc->conn);
	return SMC_HS_SMC;
}

/* The client has gone, or goes on with CLC. */
static enum smc_hs_outcome smc_hs_server_alone(struct smc_hs *hs)
{
	smc_hs_drop_pair(hs);
	return smc_hs_go_to_clc(hs);
}

/**
 * smc_hs_server_last() - step: on this host connect() ends first, as with TCP
 * @hs: the handshake
 *
 * Context: The handshake's work item.
 * Return: SMC_HS_SMC; SMC_HS_WAIT; SMC_HS_FAILED if TCP ends before the client has joined; else
 *	   SMC_HS_GO_ON.
 */
enum smc_hs_outcome smc_hs_server_last(struct smc_hs *hs)
{
	switch (smc_meet_get_state(hs->smc)) {
	case SMC_MEET_NONE:
		return SMC_HS_GO_ON;
	case SMC_MEET_TAKEN:
		if (smc_hs_tcp_has_ended(hs->smc->sk))
			return smc_hs_fail(hs, -ECONNRESET);
		return SMC_HS_WAIT;
	case SMC_MEET_JOINED:
		return SMC_HS_WAIT;
	case SMC_MEET_DONE:
		return smc_hs_server_open(hs);
	default:
		smc_meet_leave(hs->smc);
		return smc_hs_server_alone(hs);
	}
}

/**
 * smc_hs_late_last() - timeout: the client may be starved of CPU
 * @hs: the handshake
 *
 * Context: The handshake's work item.
 * Return: SMC_HS_SMC if the client has joined the pair, else SMC_HS_GO_ON.
 */
enum smc_hs_outcome smc_hs_late_last(struct smc_hs *hs)
{
	return smc_meet_withdraw(hs->smc) ? smc_hs_server_alone(hs) : smc_hs_server_open(hs);
}

/**
 * smc_hs_client_meet() - step: find out whether the server is on this host
 * @hs: the handshake
 *
 * Context: The handshake's work item.
 * Return: SMC_HS_GO_ON; SMC_HS_WAIT; SMC_HS_FAILED if TCP has ended.
 */
enum smc_hs_outcome smc_hs_client_meet(struct smc_hs *hs)
{
	switch (smc_meet_get_state(hs->smc)) {
	case SMC_MEET_NONE:
		return SMC_HS_GO_ON;
	case SMC_MEET_OFFERED:
		if (smc_hs_tcp_has_ended(hs->smc->sk))
			return smc_hs_fail(hs, -ECONNRESET);
		return SMC_HS_WAIT;
	default:
		hs->since = jiffies;
		return SMC_HS_GO_ON;
	}
}

/**
 * smc_hs_late_meet() - timeout: the server is on another host
 * @hs: the handshake
 *
 * Context: The handshake's work item.
 * Return: SMC_HS_GO_ON.
 */
enum smc_hs_outcome smc_hs_late_meet(struct smc_hs *hs)
{
	if (smc_meet_get_state(hs->smc) == SMC_MEET_OFFERED)
		smc_meet_withdraw(hs->smc);
	return smc_hs_go_to_clc(hs);
}

static enum smc_hs_outcome smc_hs_client_alone(struct smc_hs *hs)
{
	smc_meet_leave(hs->smc);
	return smc_hs_go_to_clc(hs);
}

static enum smc_hs_outcome smc_hs_join_pair(struct smc_hs *hs)
{
	struct smc_sock *smc = hs->smc;
	struct smc_pair *pair = smc_meet_fetch(smc);
	bool has_conn;

	if (!pair)
		return smc_hs_client_alone(hs);
	has_conn = !smc_sock_make_conn(smc);
	if (has_conn)
		smc_pair_join(smc->conn, pair, SMC_ROLE_CLIENT);
	smc_pair_put(pair);
	if (!has_conn)
		return smc_hs_client_alone(hs);
	smc_conn_open(smc->conn);
	if (smc_meet_confirm(smc))
		return SMC_HS_SMC;
	smc_hs_drop_pair(hs);
	return smc_hs_client_alone(hs);
}

/**
 * smc_hs_client_join() - step: share memory with the server on this host
 * @hs: the handshake
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_SMC; SMC_HS_WAIT; SMC_HS_FAILED if TCP has ended before; SMC_HS_GO_ON where the
 *	   server is on another host, or refuses.
 */
enum smc_hs_outcome smc_hs_client_join(struct smc_hs *hs)
{
	switch (smc_meet_get_state(hs->smc)) {
	case SMC_MEET_NONE:
		return SMC_HS_GO_ON;
	case SMC_MEET_OFFERED:
	case SMC_MEET_MET:
		if (smc_hs_tcp_has_ended(hs->smc->sk))
			return smc_hs_fail(hs, -ECONNRESET);
		return SMC_HS_WAIT;
	case SMC_MEET_TAKEN:
		return smc_hs_join_pair(hs);
	default:
		return smc_hs_client_alone(hs);
	}
}

/**
 * smc_hs_late_join() - timeout: the server's handshake has not begun
 * @hs: the handshake
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON; SMC_HS_SMC if the server was there just in time.
 */
enum smc_hs_outcome smc_hs_late_join(struct smc_hs *hs)
{
	return smc_meet_withdraw(hs->smc) ? smc_hs_go_to_clc(hs) : smc_hs_join_pair(hs);
}
