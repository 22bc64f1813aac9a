// SPDX-License-Identifier: GPL-2.0
/*
 * First contact, as a handshake sees it: a group gets its first link, and LLC forms it.
 *
 * Operation: the group's LLC machine does the work, and its timers bound it. The handshake
 * watches the group, and TCP, on which a Decline may come meanwhile. If first contact
 * fails in a way that allows it, this side declines, and takes what the peer may have said
 * at the same time.
 */
#include "smc_hs_first.h"
#include "smc_hs_msg.h"
#include "smc_hs_wait.h"
#include "smc_life.h"
#include "smc_link.h"
#include "smc_llc.h"
#include "smc_llc_msg.h"
#include "smc_net.h"
#include "smc_tcp.h"

/**
 * smc_hs_first_link() - a group that is being formed gets its first link
 * @hs: the handshake, with the group and what has been settled
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON or SMC_HS_TCP.
 */
enum smc_hs_outcome smc_hs_first_link(struct smc_hs *hs)
{
	hs->lgr->params = hs->params;
	smc_llc_init(hs->lgr);
	hs->link = smc_link_create(hs->lgr, &hs->end);
	if (!IS_ERR(hs->link))
		return SMC_HS_GO_ON;
	hs->link = NULL;
	return smc_hs_to_tcp(hs, SMC_DECLINE_MEM);
}

/**
 * smc_hs_start_llc() - the machine of the group begins
 * @hs: the handshake, with what the peer has told
 *
 * It proves the path where data will go.
 *
 * Context: The handshake's work item, may sleep.
 */
void smc_hs_start_llc(struct smc_hs *hs)
{
	const struct smc_conn *conn = hs->smc->conn;
	struct smc_llc_probe probe = {
		.raddr = conn->peer_addr + SMC_EYE_CATCHER_LEN,
		.rkey = conn->peer_rkey,
		.laddr = smc_buf_elem_iova(&conn->sndbuf),
		.lkey = smc_buf_lkey(conn->sndbuf.buf, hs->link->index),
		.len = smc_nego_mtu_bytes(min(hs->link->wr.end.mtu, hs->link->peer.mtu)),
	};

	smc_llc_set_probe(hs->lgr, &probe);
	hs->llc_since = jiffies;
	smc_llc_start(hs->lgr, hs->link);
}

/*
 * May there be a Decline while LLC forms the group? A FIN alone is none: that of a
 * deployed peer that closes at once overtakes its last LLC message, or the RNIC's
 * acknowledgment of ours, as it goes ahead of all it has to say by RDMA (protocol.md).
 * A peer that went away is LLC's to notice. What our own close() shut down is news.
 */
static bool smc_hs_may_be_declined(const struct smc_hs *hs)
{
	const struct sock *tsk = hs->smc->tcp->sk;

	if (!smc_hs_tcp_has_news(tsk))
		return false;
	return READ_ONCE(tsk->sk_err) || smc_tcp_has_payload(hs->smc) ||
	       sock_flag(&hs->smc->sk, SOCK_DEAD);
}

/* Only now the dialect is known, and with it the largest element, AMB-35. */
static bool smc_hs_peer_size_fits(const struct smc_hs *hs)
{
	u8 max = hs->lgr->params.max_size_code;

	return hs->smc->conn->peer_size <= smc_nego_size_bytes(max);
}

/* A Decline, or what came of it so far; the machine of LLC must hear of it. */
static enum smc_hs_outcome smc_hs_first_declined(struct smc_hs *hs)
{
	enum smc_hs_outcome out = smc_hs_recv(hs, SMC_CLC_DECLINE);

	if (out == SMC_HS_WAIT || out == SMC_HS_FAILED)
		return out;
	smc_llc_declined(hs->lgr);
	hs->is_declined = true;
	return SMC_HS_GO_ON;
}

/*
 * A bad path is found out by both sides, perhaps at the same time, and then
 * Declines cross: the peer's must not reach the application. The peer sends
 * none once it has ours, so there is one before its acknowledgment or never.
 */
static enum smc_hs_outcome smc_hs_part(struct smc_hs *hs)
{
	bool is_acked = smc_clc_is_acked(hs->smc->tcp);
	int rc;

	/* the last message was its Accept or Confirm */
	rc = smc_clc_take_decline(hs->smc->tcp, &hs->half, hs->rx.accept.peer_id);
	if (!rc) {
		smc_stat_inc(hs->net, SMC_STAT_DECLINE_RX);
		hs->may_decline = false;
	}
	if ((rc == -EAGAIN || (rc == -ENODATA && !is_acked)) &&
	    !smc_hs_is_late(hs, smc_hs_patience(hs)))
		return SMC_HS_WAIT;
	/* without any Decline the peer is not on TCP: what it says is no data */
	if (hs->may_decline)
		return smc_hs_fail(hs, -ECONNRESET);
	return smc_hs_to_tcp(hs, hs->reason);
}

/*
 * First contact has failed. Want of memory, here or at the peer, says nothing of the path,
 * and may soon be over; nor does silence of a peer that has ended its connection early,
 * for its queue pair has gone with it. Late, that is because it has waited in vain, too.
 */
static bool smc_hs_is_path_bad(const struct smc_hs *hs)
{
	if (hs->is_declined)
		return hs->smc->peer_diagnosis != SMC_DECLINE_MEM;
	if (hs->has_left && hs->left_since - hs->llc_since < (jiffies - hs->llc_since) / 4)
		return false;
	return hs->lgr->fail_decline != SMC_DECLINE_MEM;
}

/**
 * smc_hs_first_contact() - step: LLC confirms the link and tries for a second one
 * @hs: the handshake; of subsequent contact it just goes on
 *
 * Until LLC's own timers end that. All that time a Decline may come on TCP (DCLN-06,
 * ERR-23); nothing else may.
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON when the group is up; SMC_HS_WAIT; SMC_HS_TCP, if need be with our
 * Decline already sent; SMC_HS_FAILED.
 */
enum smc_hs_outcome smc_hs_first_contact(struct smc_hs *hs)
{
	enum smc_lgr_state state;
	enum smc_hs_outcome out;
	int rc;

	if (!hs->is_first)
		return SMC_HS_GO_ON;
	if (hs->is_declining)
		return smc_hs_part(hs);
	smc_hs_watch(hs, hs->lgr);
	if (!hs->has_left && smc_hs_is_left(hs->smc->tcp->sk)) {
		hs->has_left = true;
		hs->left_since = jiffies;
	}
	if (!hs->is_declined &&
	    (hs->half.done || (READ_ONCE(hs->lgr->state) == SMC_LGR_FORMING &&
			       smc_hs_may_be_declined(hs)))) {
		out = smc_hs_first_declined(hs);
		if (out != SMC_HS_GO_ON)
			return out;
	}
	/* why it has failed, or what was agreed on, has been written before: lgr_move() */
	state = smp_load_acquire(&hs->lgr->state);
	if (state == SMC_LGR_FORMING)
		return SMC_HS_WAIT;
	if (state == SMC_LGR_ACTIVE) {
		if (!hs->is_declined && smc_hs_peer_size_fits(hs))
			return SMC_HS_GO_ON;
		/* there is none for the peer, or it is no peer */
		smc_lgr_terminate(hs->lgr);
		return smc_hs_fail(hs, -ECONNRESET);
	}

	hs->is_path_bad = smc_hs_is_path_bad(hs);
	if (hs->is_declined)
		return smc_hs_to_tcp(hs, SMC_DECLINE_PEERDECL);
	if (hs->lgr->fail_decline == SMC_DECLINE_NONE) {
		if (hs->lgr->fail_is_path)
			smc_hs_note_path(hs, SMC_DECLINE_TIMEOUT_CL);
		return smc_hs_fail(hs, -ECONNRESET);
	}
	hs->reason = hs->lgr->fail_decline;
	hs->may_decline = true;
	hs->is_declining = true;
	hs->has_deadline = false;
	rc = smc_hs_say_decline(hs);
	return rc ? smc_hs_fail(hs, rc) : smc_hs_part(hs);
}
