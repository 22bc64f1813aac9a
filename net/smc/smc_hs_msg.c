// SPDX-License-Identifier: GPL-2.0
/*
 * The CLC messages of a handshake: one is received or sent, or a Decline in its place.
 */
#include "smc_hs_msg.h"
#include "smc_hs_wait.h"
#include "smc_net.h"
#include "smc_peer.h"
#include "smc_pnet.h"
#include "smc_trace.h"

static void smc_hs_count_rx(struct smc_hs *hs, int rc)
{
	if (!rc) {
		smc_stat_inc(hs->net, SMC_STAT_CLC_RX);
		trace_smc_clc_rx(hs->smc, &hs->rx);
	} else if (rc == -EPROTO) {
		smc_stat_inc(hs->net, SMC_STAT_CLC_BAD);
	} else if (rc == -ETIMEDOUT) {
		smc_stat_inc(hs->net, SMC_STAT_CLC_TIMEOUT);
	}
	if (rc)
		trace_smc_clc_error(hs->smc, rc);
}

/**
 * smc_hs_recv() - the message due now, or a Decline in its place
 * @hs: the handshake; @hs->rx receives it
 * @type: which is due
 *
 * DCLN-02, ERR-01.
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON; SMC_HS_WAIT if it has not come completely; SMC_HS_TCP if the peer
 * declines or what it says is to be declined; SMC_HS_FAILED.
 */
enum smc_hs_outcome smc_hs_recv(struct smc_hs *hs, enum smc_clc_type type)
{
	enum smc_decline refused = SMC_DECLINE_NONE;
	int rc;

	rc = smc_clc_recv(hs->smc->tcp, &hs->half, &hs->rx,
			  SMC_CLC_EXPECT(type) | SMC_CLC_EXPECT(SMC_CLC_DECLINE), &refused);
	/* one deadline for the message as a whole, TMR-01 */
	if (rc == -EAGAIN) {
		if (!smc_hs_is_late(hs, smc_hs_patience(hs)))
			return SMC_HS_WAIT;
		rc = -ETIMEDOUT;
	}
	smc_hs_count_rx(hs, rc);
	/* to the application nonsense looks as if the peer had reset, SEC-08 */
	if (rc)
		return smc_hs_fail(hs, rc == -EPROTO ? -ECONNRESET : rc);
	if (hs->rx.type == SMC_CLC_DECLINE) {
		smc_stat_inc(hs->net, SMC_STAT_DECLINE_RX);
		hs->may_decline = false;
		hs->smc->peer_diagnosis = hs->rx.decline.diagnosis;
		return smc_hs_to_tcp(hs, SMC_DECLINE_PEERDECL);
	}
	/* it is our turn now (ERR-06), but not past Accept on an old group (ERR-07) */
	hs->may_decline = type != SMC_CLC_CONFIRM || hs->is_first;
	if (refused != SMC_DECLINE_NONE && !hs->may_decline)
		return smc_hs_fail(hs, -ECONNRESET);
	if (refused != SMC_DECLINE_NONE)
		return smc_hs_to_tcp(hs, refused);
	return SMC_HS_GO_ON;
}

/**
 * smc_hs_send() - send a message
 * @hs: the handshake, with @hs->tx
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON or SMC_HS_FAILED.
 */
enum smc_hs_outcome smc_hs_send(struct smc_hs *hs)
{
	int rc = smc_clc_send(hs->smc->tcp, &hs->tx);

	hs->may_decline = false;
	if (rc)
		return smc_hs_fail(hs, rc);
	smc_stat_inc(hs->net, SMC_STAT_CLC_TX);
	trace_smc_clc_tx(hs->smc, &hs->tx);
	return SMC_HS_GO_ON;
}

/**
 * smc_hs_note_path() - later connections to this peer shall not pay again, if the path failed
 * @hs: the handshake
 * @reason: why theirs will be TCP
 *
 * Context: The handshake's work item.
 */
void smc_hs_note_path(const struct smc_hs *hs, enum smc_decline reason)
{
	struct in6_addr peer;

	if (!hs->is_path_bad)
		return;
	smc_peer_addr(hs->smc->tcp->sk, &peer);
	smc_peer_remember(hs->net, &peer, reason, false);
}

/**
 * smc_hs_say_decline() - tell the peer that the connection goes to TCP, if it is our turn
 * @hs: the handshake, with @hs->reason
 *
 * Remembers a path that failed.
 *
 * Context: The handshake's work item, may sleep.
 * Return: 0, or a negative errno if TCP can be used no further, neither for CLC nor for
 * what comes after it.
 */
int smc_hs_say_decline(struct smc_hs *hs)
{
	int rc;

	smc_hs_note_path(hs, hs->reason);
	if (!hs->may_decline)
		return 0;
	smc_pnet_local_id(hs->net, hs->has_end ? &hs->end : NULL, hs->peer_id);
	rc = smc_clc_decline(hs->smc->tcp, hs->peer_id, hs->reason, hs->out_of_sync,
			     hs->rx.version, hs->is_declining);
	if (!rc)
		smc_stat_inc(hs->net, SMC_STAT_DECLINE_TX);
	/* not sent, and still ours to send, where the peer has said something */
	hs->may_decline = rc == -EEXIST;
	return rc == -EEXIST ? 0 : rc;
}
