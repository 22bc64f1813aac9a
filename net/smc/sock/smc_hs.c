// SPDX-License-Identifier: GPL-2.0
/*
 * The rendezvous, RFC 7609 section 3.5.1 and 3.5.2.
 *
 * Operation: hs_server and hs_client are tables of the RFC's steps in order. A step that
 * cannot proceed returns SMC_HS_WAIT. An event (bytes on TCP, a change of a link group, the
 * timer) queues the handshake's work item, which runs the same step again. Waiting occupies
 * no worker, so a silent peer delays no other handshake. The handshake ends on SMC, on TCP
 * with a reason, or with an errno. Then hs_unwind() undoes the rows; on success the
 * connection owns what the last step handed over to it.
 *
 * A step that reads or writes on TCP needs the socket lock. While a call owns it, which may be for
 * any time, the step waits. The time limit of its row runs meanwhile, so the devices and the place
 * in the link group are given back in time.
 *
 * Ownership: struct smc_hs belongs to the work item, which never runs twice at a time. It
 * owns a reference on the socket, the RDMA ports, and the reservation in the link group. A
 * connection that joined the group has a reference of its own.
 */
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "group/smc_core.h"
#include "group/smc_link.h"
#include "group/smc_llc.h"
#include "group/smc_llc_msg.h"
#include "group/smc_peer.h"
#include "group/smc_pool.h"
#include "sock/smc_child.h"
#include "sock/smc_close.h"
#include "sock/smc_hs.h"
#include "sock/smc_hs_meet.h"
#include "sock/smc_hs_outcome.h"
#include "sock/smc_hs_path.h"
#include "sock/smc_hs_ring.h"
#include "sock/smc_option.h"
#include "sock/smc_path.h"
#include "sock/smc_tcp.h"
#include "sock/smc_tx.h"
#include "control/smc_trace.h"

/* Memory of a child besides rings and links, and besides its connection, which is charged. */
#define SMC_HS_CHILD_BYTES	(sizeof(struct smc_sock) + sizeof(struct tcp6_sock) +	\
				 sizeof(struct smc_child) + sizeof(struct smc_hs))
/* Memory of a group's first link on soft-RoCE: queues, receives, tables. */
#define SMC_HS_LINK_BYTES	(128UL << 10)

/* Polling interval where no event comes: ARP, TCP's ACK, input under sockmap or SO_RCVLOWAT. */
#define SMC_HS_SLICE		max(HZ / 50, 1)

/* Event that a step waits for. TCP's callbacks queue the work item in any case. */
enum hs_event {
	HS_NONE,	/* does not wait */
	HS_PEER,	/* a message on TCP */
	HS_LGR,		/* its link group, or the one that another handshake forms */
	HS_SENDS,	/* an element for the send ring */
	HS_RMBS,	/* an RMB element */
	HS_MEET,	/* the other end on this host, which queues the work item */
	HS_POLL,	/* not reported: poll */
};

enum hs_limit {
	HS_UNTIMED,	/* does not wait, or the timers of LLC bound it */
	HS_FULL,	/* the time of a CLC message, TMR-01 */
	HS_HALF,	/* half of it: the peer waits as long for our message */
	HS_PROPOSAL,	/* the same, but longer with a slow or unknown round trip */
	HS_ROUTE,	/* for a neighbour; brief if the handshake can do without */
	HS_BIRTH,	/* of the server's child on this host; brief if it may be elsewhere */
};

/* Whether a step may answer the peer with a Decline. Otherwise it resets TCP. */
enum hs_decline_rule {
	HS_NO,		/* CLC-09, ERR-08 */
	HS_YES,		/* in place of our message, ERR-02 to ERR-06 */
	HS_FIRST,	/* on first contact only, ERR-07 */
	HS_QUIET,	/* after LLC failed, unless the peer sent a message, ERR-21, ERR-22 */
};

/**
 * struct hs_row - one step of a handshake
 * @step: the step; runs again after SMC_HS_WAIT
 * @decline: whether SMC_HS_DECLINE sends a Decline
 * @undo: releases what the step took, if anything
 * @event: event that it waits for
 * @limit: time limit
 * @late: action on timeout
 */
struct hs_row {
	enum smc_hs_outcome (*step)(struct smc_hs *hs);
	enum hs_decline_rule decline;
	void (*undo)(struct smc_hs *hs);
	enum hs_event event;
	enum hs_limit limit;
	enum smc_hs_outcome (*late)(struct smc_hs *hs);
};

static const struct hs_row *hs_current_row(const struct smc_hs *hs);

/* If a call owns the socket lock, its release queues the work item, and the step runs again. */
static bool hs_lock(struct smc_hs *hs)
{
	hs->is_locked_out = !smc_sock_lock_work(hs->smc->sk, SMC_MISSED_HANDSHAKE);
	return !hs->is_locked_out;
}

/* Retransmission timeouts of TCP for a Proposal; one second each while no round trip is known. */
#define SMC_HS_PROPOSAL_RTOS	8

/* For a child that is born on this host, in jiffies */
#define SMC_HS_BIRTH_JIFFIES	2

/* Time limit of the current step in jiffies, 0 for none. */
static unsigned long hs_limit_jiffies(const struct smc_hs *hs, enum hs_limit limit)
{
	unsigned long full, time;

	/* most steps */
	if (limit == HS_UNTIMED)
		return 0;
	full = msecs_to_jiffies(READ_ONCE(smc_net(hs->net)->set.clc_timeout_ms));
	switch (limit) {
	case HS_FULL:
		return full;
	case HS_HALF:
		return full / 2;
	case HS_PROPOSAL:
		time = READ_ONCE(inet_csk(hs->smc->sk)->icsk_rto);
		return clamp(time * SMC_HS_PROPOSAL_RTOS, full / 2, full);
	case HS_BIRTH:
		return hs->smc->place == SMC_PATH_INSIDE ? full / 2 : SMC_HS_BIRTH_JIFFIES;
	default:
		if (!smc_hs_can_do_without(hs))
			return full / 2;
		return min(full / 2, msecs_to_jiffies(SMC_ROUTE_NEIGHBOUR_MS));
	}
}

static int hs_wake(struct wait_queue_entry *watch, unsigned int mode, int sync, void *key)
{
	struct smc_hs *hs = container_of(watch, struct smc_hs, watch);

	smc_sock_queue(hs->smc);
	if (!(watch->flags & WQ_FLAG_EXCLUSIVE))
		return 0;
	/* the next wake-up is another one's */
	list_del_init(&watch->entry);
	return 1;
}

static void hs_unwatch(struct smc_hs *hs)
{
	if (hs->waitq)
		remove_wait_queue(hs->waitq, &hs->watch);
	/* there may be another element, also if this one was woken and then gives up */
	if (hs->waitq && hs->watch.flags & WQ_FLAG_EXCLUSIVE)
		wake_up(hs->waitq);
	hs->waitq = NULL;
	if (hs->watched)
		smc_lgr_put(hs->watched);
	hs->watched = NULL;
}

static void hs_watch(struct smc_hs *hs, wait_queue_head_t *waitq)
{
	hs->waitq = waitq;
	init_waitqueue_func_entry(&hs->watch, hs_wake);
	add_wait_queue(waitq, &hs->watch);
}

/*
 * Wait for one of few elements. Of hundreds that wait, each event wakes one, which passes it on.
 * One that was woken too early stays the first.
 */
static void hs_watch_pool(struct smc_hs *hs, wait_queue_head_t *waitq)
{
	bool is_first = hs->waitq;

	hs->waitq = waitq;
	init_waitqueue_func_entry(&hs->watch, hs_wake);
	guard(spinlock_irqsave)(&waitq->lock);
	if (is_first)
		__add_wait_queue_exclusive(waitq, &hs->watch);
	else
		__add_wait_queue_entry_tail_exclusive(waitq, &hs->watch);
}

/* Return: true if a watch was added, so that the step must run once more. */
static bool hs_begin_watch(struct smc_hs *hs, enum hs_event event)
{
	if (hs->waitq && !list_empty_careful(&hs->watch.entry))
		return false;
	if (event == HS_LGR)
		hs_watch(hs, &hs->lgr->waitq);
	else if (event == HS_SENDS)
		hs_watch_pool(hs, &hs->lgr->sends.waitq);
	else if (event == HS_RMBS)
		hs_watch_pool(hs, &hs->lgr->rmbs.waitq);
	return hs->waitq;
}

static void hs_count_rx(struct smc_hs *hs, int rc)
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

/* Receive the expected message, or a Decline in its place; DCLN-02, ERR-01. */
static enum smc_hs_outcome hs_recv(struct smc_hs *hs, enum smc_clc_type type)
{
	enum smc_decline refused = SMC_DECLINE_NONE;
	int rc;

	if (!hs_lock(hs))
		return SMC_HS_WAIT;
	rc = smc_clc_recv(hs->smc->sk, &hs->half, &hs->rx,
			  SMC_CLC_EXPECT(type) | SMC_CLC_EXPECT(SMC_CLC_DECLINE), &refused);
	release_sock(hs->smc->sk);
	if (rc == -EAGAIN)
		return SMC_HS_WAIT;
	/* the client is TCP, and we sent nothing that it could take for payload; protocol.md */
	if (rc == -ENOMSG && type == SMC_CLC_PROPOSAL)
		return smc_hs_to_tcp(hs, SMC_DECLINE_PEERNOSMC);
	if (rc == -ENOMSG)
		rc = -EPROTO;
	hs_count_rx(hs, rc);
	/* the application sees a malformed message as a reset, SEC-08 */
	if (rc)
		return smc_hs_fail(hs, rc == -EPROTO ? -ECONNRESET : rc);
	if (hs->rx.type == SMC_CLC_DECLINE) {
		smc_stat_inc(hs->net, SMC_STAT_DECLINE_RX);
		hs->smc->peer_diagnosis = hs->rx.decline.diagnosis;
		return smc_hs_to_tcp(hs, SMC_DECLINE_PEERDECL);
	}
	return refused == SMC_DECLINE_NONE ? SMC_HS_GO_ON : smc_hs_decline(hs, refused);
}

/* One deadline for the whole message, TMR-01, ERR-14. */
static enum smc_hs_outcome hs_late_message(struct smc_hs *hs)
{
	hs_count_rx(hs, -ETIMEDOUT);
	return smc_hs_fail(hs, -ETIMEDOUT);
}

/* The row behind sends it. */
static enum smc_hs_outcome hs_prepare(struct smc_hs *hs, const struct smc_clc_msg *msg)
{
	int rc = smc_clc_prepare(&hs->tx, msg);

	if (rc)
		return smc_hs_fail(hs, rc);
	trace_smc_clc_tx(hs->smc, msg);
	return SMC_HS_GO_ON;
}

/* Return: 0; -EAGAIN to try again; or the errno of smc_clc_send(). */
static int hs_send(struct smc_hs *hs, bool if_quiet)
{
	int rc;

	if (!hs_lock(hs))
		return -EAGAIN;
	rc = smc_clc_send(hs->smc->sk, &hs->tx, if_quiet);
	release_sock(hs->smc->sk);
	return rc;
}

/* Step: send the message of the row before. */
static enum smc_hs_outcome hs_transmit(struct smc_hs *hs)
{
	int rc = hs_send(hs, false);

	if (rc == -EAGAIN)
		return SMC_HS_WAIT;
	if (rc)
		return smc_hs_fail(hs, rc);
	smc_stat_inc(hs->net, SMC_STAT_CLC_TX);
	return SMC_HS_GO_ON;
}

/* TCP lacks memory, or a call owns the socket. */
static enum smc_hs_outcome hs_late_transmit(struct smc_hs *hs)
{
	return smc_hs_fail(hs, -ENOBUFS);
}

/*
 * Return: 0; -ECONNRESET if the row allows no Decline; -EAGAIN to try again; -EEXIST if the peer
 * was first; or TCP's errno.
 */
static int hs_send_decline(struct smc_hs *hs)
{
	enum hs_decline_rule rule = hs_current_row(hs)->decline;
	struct smc_clc_msg msg;
	int rc;

	if (rule == HS_NO || (rule == HS_FIRST && !hs->is_first))
		return -ECONNRESET;
	if (!smc_clc_is_pending(&hs->tx)) {
		smc_path_local_id(hs->net, hs->end.dev ? &hs->end : NULL, hs->peer_id);
		smc_nego_build_decline(&msg, hs->peer_id, hs->reason, hs->out_of_sync,
				       hs->rx.version);
		rc = smc_clc_prepare(&hs->tx, &msg);
		if (rc)
			return rc;
	}
	rc = hs_send(hs, rule == HS_QUIET);
	if (!rc)
		smc_stat_inc(hs->net, SMC_STAT_DECLINE_TX);
	return rc;
}

/* Step, in place of the row that wants a Decline. */
static enum smc_hs_outcome hs_decline(struct smc_hs *hs)
{
	int rc = hs_send_decline(hs);

	if (rc == -EAGAIN)
		return SMC_HS_WAIT;
	return rc ? smc_hs_fail(hs, rc) : SMC_HS_TCP;
}

/* No correct peer sends such a message, or it was modified on this host, SEC-08. */
static enum smc_hs_outcome hs_bad_message(struct smc_hs *hs)
{
	smc_stat_inc(hs->net, SMC_STAT_CLC_BAD);
	return smc_hs_fail(hs, -ECONNRESET);
}

static void hs_key(struct smc_hs *hs, struct smc_lgr_key *key, u8 version, const u8 *peer_id,
		   const u8 *peer_gid, const u8 *peer_mac)
{
	memset(key, 0, sizeof(*key));
	key->net = hs->net;
	key->role = hs->role;
	key->vlan = hs->end.vlan;
	key->version = version;
	memcpy(key->peer_id, peer_id, sizeof(key->peer_id));
	memcpy(key->peer_gid, peer_gid, sizeof(key->peer_gid));
	memcpy(key->peer_mac, peer_mac, sizeof(key->peer_mac));
	smc_path_peer_addr(hs->smc->sk, &key->peer_addr);
	if (hs->role == SMC_ROLE_CLIENT)
		return;
	memcpy(key->hop_mac, hs->route.mac, sizeof(key->hop_mac));
	key->hop_limit = hs->route.hop_limit;
}

/* Our data by a link that works now; that of joining may be lost. Return: the link or NULL. */
static struct smc_link *hs_own_data(struct smc_hs *hs, struct smc_nego_end *end,
				    struct smc_nego_rmbe *rmbe)
{
	const struct smc_conn *conn = hs->smc->conn;
	struct smc_link *link;

	memcpy(end->peer_id, hs->peer_id, sizeof(end->peer_id));
	end->is_direct = hs->route.is_direct;
	smc_path_local_host(hs->net, end->host);
	rmbe->addr = conn->rmbe.buf->iova;
	rmbe->token = conn->token;
	rmbe->index = conn->rmbe.index;
	rmbe->size_code = smc_nego_size_code(conn->rmbe.size, SMC_BSIZE_DEPLOYED_MAX);
	/* the keys stay on the link under the lock */
	mutex_lock(&hs->lgr->lock);
	link = smc_conn_announced_link(hs->smc->conn);
	if (link) {
		memcpy(end->gid, link->wr.end.gid.raw, sizeof(end->gid));
		memcpy(end->mac, link->wr.end.mac, sizeof(end->mac));
		end->qpn = link->wr.qpn;
		end->psn = link->psn;
		rmbe->rkey = smc_buf_rkey(conn->rmbe.buf, link->index);
	}
	mutex_unlock(&hs->lgr->lock);
	return link;
}

static void hs_peer_end(const struct smc_hs *hs, const struct smc_clc_accept *acc,
			struct smc_ib_peer *peer)
{
	/* zeros without a route: packets go to peer->mac and stay in the subnet */
	memcpy(peer->hop_mac, hs->route.mac, sizeof(peer->hop_mac));
	peer->hop_limit = hs->route.hop_limit;
	memcpy(peer->gid, acc->gid, sizeof(peer->gid));
	memcpy(peer->mac, acc->mac, sizeof(peer->mac));
	peer->qpn = acc->qpn;
	peer->psn = acc->psn;
	peer->mtu = acc->mtu;
}

static bool hs_knows_rtoken(struct smc_hs *hs, const struct smc_clc_accept *acc)
{
	bool knows;

	mutex_lock(&hs->lgr->lock);
	/* a lost link has no keys, and another link may have its index */
	knows = hs->lgr->links[hs->link->index] == hs->link &&
		smc_rtoken_find(hs->lgr->rtokens, hs->link->index, acc->rkey,
				acc->rmb_addr) >= 0;
	mutex_unlock(&hs->lgr->lock);
	return knows;
}

static void hs_known(struct smc_hs *hs, const struct smc_clc_accept *acc,
		     struct smc_nego_known *known)
{
	memset(known, 0, sizeof(*known));
	known->max_size_code = SMC_BSIZE_RFC_MAX;
	if (!hs->lgr || hs->is_first)
		return;
	known->has_link = true;
	known->has_rtoken = hs_knows_rtoken(hs, acc);
	/* after the lookup, because the link may be lost meanwhile */
	known->is_left = !smc_link_is_used(hs->link);
	known->max_size_code = hs->lgr->params.max_size_code;
	/* written before the group became active */
	memcpy(known->peer_id, hs->lgr->peer_name, sizeof(known->peer_id));
}

/*
 * Must precede the leave: a group that LLC has activated meanwhile has its idle time. A message on
 * TCP never ends a group that is up: other users of the peer's address can send it, too. The links
 * are probed, which ends the group if the peer has lost it.
 */
static void hs_fail_group(struct smc_hs *hs)
{
	if (hs->is_first)
		smc_lgr_fail(hs->lgr, hs->outcome == SMC_HS_TCP ? hs->reason : SMC_DECLINE_NONE);
	else if (hs->rx.type == SMC_CLC_DECLINE && hs->rx.decline.out_of_sync)
		smc_llc_probe_group(hs->lgr);		/* AMB-33, DCLN-04 */
}

static void hs_undo_group(struct smc_hs *hs)
{
	struct smc_link_group *lgr = hs->lgr;

	if (!lgr)
		return;
	hs_fail_group(hs);
	hs->lgr = NULL;
	smc_lgr_get(lgr);
	if (smc_lgr_unreserve(lgr))
		smc_llc_arm_idle(lgr);
	smc_pool_trim(lgr);
	smc_lgr_put(lgr);
}

/* The connection has joined the group and owns the rings and the reservation. */
static void hs_leave_group(struct smc_hs *hs, bool is_peer_done)
{
	if (!hs->lgr || !hs->smc->conn->lgr)
		return;
	hs_fail_group(hs);
	hs->lgr = NULL;
	smc_close_leave(hs->smc->conn, is_peer_done);
}

static void hs_undo_join(struct smc_hs *hs)
{
	hs_leave_group(hs, true);
}

/* The peer knows our element from Accept or Confirm. A peer on TCP does not write to it. */
static void hs_undo_announce(struct smc_hs *hs)
{
	hs_leave_group(hs, hs->outcome == SMC_HS_TCP);
}

/* Wait for another first contact; consumes the reference. SMC_HS_GO_ON: search again. */
static enum smc_hs_outcome hs_await_group(struct smc_hs *hs, struct smc_link_group *lgr)
{
	if (hs->watched == lgr) {
		smc_lgr_put(lgr);
	} else {
		hs_unwatch(hs);
		hs->watched = lgr;
		hs_watch(hs, &lgr->waitq);
	}
	if (READ_ONCE(lgr->state) != SMC_LGR_FORMING)
		return SMC_HS_GO_ON;
	if (smc_hs_tcp_has_ended(hs->smc->sk))
		return smc_hs_fail(hs, -ECONNRESET);
	return SMC_HS_WAIT;
}

static enum smc_hs_outcome hs_late_group(struct smc_hs *hs)
{
	return smc_hs_decline(hs, SMC_DECLINE_TIMEOUT_CL);
}

/* One failed first contact fails all handshakes that waited for it. */
static bool hs_watched_failed(const struct smc_hs *hs)
{
	const struct smc_link_group *lgr = hs->watched;

	return lgr && smc_lgr_is_down(lgr) &&
	       (lgr->fail_decline != SMC_DECLINE_NONE || lgr->fail_is_path);
}

/* About what a group with two links counts in the limit of the host. */
#define HS_GROUP_BYTES	SZ_1M

/* No group was formed; at a limit an idle one ends, for later connections. */
static enum smc_hs_outcome hs_no_group(struct smc_hs *hs, const struct smc_lgr_key *key, long rc)
{
	if (rc != -EDQUOT) {
		smc_pool_make_room(HS_GROUP_BYTES);
		return smc_hs_decline(hs, SMC_DECLINE_MEM);
	}
	smc_pool_end_idle(key);
	return smc_hs_decline(hs, SMC_DECLINE_LGRLIMIT);
}

/* Get a link: on first contact a new one, otherwise one that Accept can name. */
static enum smc_hs_outcome hs_get_link(struct smc_hs *hs)
{
	struct smc_link *link;

	if (!hs->is_first) {
		if (!hs->link)
			hs->link = smc_lgr_pick_link(hs->lgr);
		return hs->link ? SMC_HS_GO_ON : smc_hs_decline(hs, SMC_DECLINE_NOACTLINK);
	}
	hs->lgr->params = hs->params;
	smc_path_class(hs->smc->sk, &hs->lgr->class);
	/* of an Accept; at a server the Confirm brings it */
	hs->lgr->peer_host = hs->rx.accept.fce;
	smc_llc_init(hs->lgr);
	hs->lgr->memcg = smc_compat_memcg_hold(hs->memcg);
	link = smc_link_create(hs->lgr, &hs->end);
	if (IS_ERR(link))
		return hs_no_group(hs, NULL, PTR_ERR(link));
	hs->link = link;
	if (hs->role == SMC_ROLE_SERVER)
		smc_child_count(hs->smc, sizeof(*hs->lgr) + sizeof(*hs->lgr->rtokens) +
				SMC_HS_LINK_BYTES);
	return SMC_HS_GO_ON;
}

static enum smc_hs_outcome hs_make_conn(struct smc_hs *hs)
{
	return smc_sock_make_conn(hs->smc) ? smc_hs_decline(hs, SMC_DECLINE_MEM) : SMC_HS_GO_ON;
}

/* The connection has left its group, or returned the rings before it joined. */
static void hs_undo_conn(struct smc_hs *hs)
{
	struct smc_conn *conn = hs->smc->conn;

	if (!conn || hs->outcome == SMC_HS_SMC)
		return;
	smc_conn_forget_unread(conn);
	smc_sock_drop_conn(hs->smc);
}

static void hs_undo_sndbuf(struct smc_hs *hs)
{
	if (hs->lgr)
		smc_buf_put(&hs->lgr->sends, &hs->smc->conn->sndbuf);
}

static void hs_undo_rmbe(struct smc_hs *hs)
{
	if (hs->lgr)
		smc_buf_put(&hs->lgr->rmbs, &hs->smc->conn->rmbe);
}

/* From here on completion handlers find the connection by its token. */
static enum smc_hs_outcome hs_join(struct smc_hs *hs)
{
	struct smc_link *link = hs->link;
	int rc;

	/* the load may have changed since the reservation: choose the link now, LB-03 */
	if (hs->role == SMC_ROLE_SERVER && !hs->is_first)
		link = NULL;
	rc = smc_conn_join(hs->smc->conn, hs->lgr, link);
	if (rc)
		return smc_hs_decline(hs, rc == -ECONNABORTED ? SMC_DECLINE_NOACTLINK :
				      SMC_DECLINE_MEM);
	smc_stat_inc(hs->net, hs->is_first ? SMC_STAT_FIRST_CONTACT :
		     SMC_STAT_SUBSEQUENT_CONTACT);
	return SMC_HS_GO_ON;
}

static enum smc_hs_outcome hs_take_peer(struct smc_hs *hs)
{
	const struct smc_clc_accept *acc = &hs->rx.accept;
	struct smc_ib_peer peer;

	if (hs->is_first) {
		hs_peer_end(hs, acc, &peer);
		if (smc_link_connect(hs->link, &peer)) {
			smc_hs_note_path(hs, SMC_DECLINE_ERR_RDYLNK);
			return smc_hs_decline(hs, SMC_DECLINE_ERR_RDYLNK);
		}
	}
	return smc_conn_set_peer(hs->smc->conn, hs->link, acc) ?
	       smc_hs_decline(hs, SMC_DECLINE_ERR_RTOK) : SMC_HS_GO_ON;
}

/* First contact: LLC proves the data path. It may finish before the Confirm. */
static enum smc_hs_outcome hs_start_llc(struct smc_hs *hs)
{
	const struct smc_conn *conn = hs->smc->conn;
	struct smc_llc_probe probe;

	if (!hs->is_first)
		return SMC_HS_GO_ON;
	probe = (struct smc_llc_probe){
		.raddr = conn->peer_addr + SMC_EYE_CATCHER_LEN,
		.rkey = conn->peer_rkey,
		.laddr = smc_buf_elem_iova(&conn->sndbuf),
		.lkey = smc_buf_lkey(conn->sndbuf.buf, hs->link->index),
		.len = ib_mtu_enum_to_int(min(hs->link->wr.end.mtu, hs->link->peer.mtu)),
	};
	smc_llc_set_probe(hs->lgr, &probe);
	smc_llc_start_group(hs->lgr, hs->link);
	return SMC_HS_GO_ON;
}

/* Build Accept or Confirm. From here on the peer may know our element. */
static enum smc_hs_outcome hs_announce(struct smc_hs *hs)
{
	struct smc_nego_rmbe rmbe;
	struct smc_nego_end end;
	const struct smc_link *link;
	struct smc_clc_msg msg;
	u8 mtu;

	link = hs_own_data(hs, &end, &rmbe);
	if (!link)
		return smc_hs_decline(hs, SMC_DECLINE_NOACTLINK);
	mtu = link->wr.end.mtu;
	if (hs->role == SMC_ROLE_CLIENT && hs->is_first)
		mtu = min_t(u8, mtu, link->peer.mtu);
	smc_nego_build_data(&msg, hs->role == SMC_ROLE_SERVER ? SMC_CLC_ACCEPT : SMC_CLC_CONFIRM,
			    &end, &rmbe, mtu, &hs->params, hs->is_first);
	return hs_prepare(hs, &msg);
}

/*
 * True if a Decline may arrive while LLC forms the group. A FIN alone is none: a deployed
 * peer that closes at once sends it ahead of its last RDMA messages (protocol.md). LLC
 * knows whether it is early, and detects a peer that disappeared. Our own close() counts as
 * input.
 */
static bool hs_may_be_declined(const struct smc_hs *hs)
{
	const struct sock *tsk = hs->smc->sk;

	if (!smc_hs_tcp_has_input(tsk))
		return false;
	return READ_ONCE(tsk->sk_err) || smc_tcp_holds_payload(hs->smc->sk) ||
	       READ_ONCE(hs->smc->is_released);
}

static bool hs_is_declined(const struct smc_hs *hs)
{
	return hs->rx.type == SMC_CLC_DECLINE;
}

static enum smc_hs_outcome hs_first_active(struct smc_hs *hs)
{
	u8 max = hs->lgr->params.max_size_code;

	/* the dialect, and with it the largest element, is known only now, AMB-35 */
	if (!hs_is_declined(hs) && !hs->half.done &&
	    hs->smc->conn->peer_size <= smc_nego_size_bytes(max))
		return SMC_HS_GO_ON;
	/* the peer may have no such group; others may have joined it here */
	smc_llc_probe_group(hs->lgr);
	return smc_hs_fail(hs, -ECONNRESET);
}

/*
 * Lack of memory does not condemn a path. Nor does silence of a peer that closed early, as
 * its queue pair is gone. One that closed late had waited without success, too.
 */
static bool hs_is_path_bad(const struct smc_hs *hs)
{
	if (hs_is_declined(hs))
		return hs->smc->peer_diagnosis != SMC_DECLINE_MEM;
	if (hs->ended_after && hs->ended_after < (jiffies - hs->since) / 4)
		return false;
	return hs->lgr->fail_decline != SMC_DECLINE_MEM;
}

/* Return: SMC_HS_GO_ON if a Decline with hs->reason is due. */
static enum smc_hs_outcome hs_first_failed(struct smc_hs *hs)
{
	enum smc_decline reason = hs->lgr->fail_decline;

	if (hs_is_declined(hs))
		reason = SMC_DECLINE_PEERDECL;
	if ((reason != SMC_DECLINE_NONE || hs->lgr->fail_is_path) && hs_is_path_bad(hs))
		smc_hs_note_path(hs, reason);
	if (hs_is_declined(hs))
		return smc_hs_to_tcp(hs, reason);
	if (reason == SMC_DECLINE_NONE)
		return smc_hs_fail(hs, -ECONNRESET);
	hs->reason = reason;
	return SMC_HS_GO_ON;
}

/* LLC's timers bound this. Only a Decline may arrive on TCP meanwhile (DCLN-06, ERR-23). */
static enum smc_hs_outcome hs_first_contact(struct smc_hs *hs)
{
	enum smc_hs_outcome out;

	if (!hs->is_first)
		return SMC_HS_GO_ON;
	if (!hs->ended_after && smc_hs_tcp_has_ended(hs->smc->sk)) {
		hs->ended_after = max(jiffies - hs->since, 1UL);
		smc_llc_tcp_ended(hs->lgr);
	}
	if (!hs_is_declined(hs) && READ_ONCE(hs->lgr->state) == SMC_LGR_FORMING &&
	    hs_may_be_declined(hs)) {
		out = hs_recv(hs, SMC_CLC_DECLINE);
		if (out != SMC_HS_TCP)
			return out;
		smc_llc_declined(hs->lgr);
	}
	/* pairs with lgr_set_state(): the failure or the parameters are visible */
	switch (smp_load_acquire(&hs->lgr->state)) {
	case SMC_LGR_FORMING:
		return SMC_HS_WAIT;
	case SMC_LGR_ACTIVE:
		return hs_first_active(hs);
	default:
		return hs_first_failed(hs);
	}
}

/* After a failed first contact send our Decline, unless the peer's came first. */
static enum smc_hs_outcome hs_back_out(struct smc_hs *hs)
{
	int rc;

	if (hs->reason == SMC_DECLINE_NONE)
		return SMC_HS_GO_ON;
	rc = hs->half.done ? -EEXIST : hs_send_decline(hs);
	if (!rc)
		return SMC_HS_GO_ON;
	if (rc == -EAGAIN)
		return SMC_HS_WAIT;
	return rc == -EEXIST ? hs_recv(hs, SMC_CLC_DECLINE) : smc_hs_fail(hs, rc);
}

/*
 * Declines cross if both sides find a path bad at the same time. The application must not
 * see the peer's, which arrives before its acknowledgment of ours or never.
 */
static enum smc_hs_outcome hs_cross(struct smc_hs *hs)
{
	bool is_acked;
	int rc;

	if (hs->reason == SMC_DECLINE_NONE)
		return SMC_HS_GO_ON;
	if (!hs_lock(hs))
		return SMC_HS_WAIT;
	is_acked = smc_clc_is_acked(hs->smc->sk);
	/* the last message was its Accept or Confirm */
	rc = smc_clc_take_decline(hs->smc->sk, &hs->half, hs->rx.accept.peer_id);
	release_sock(hs->smc->sk);
	if (rc == -EAGAIN || (rc == -ENODATA && !is_acked))
		return SMC_HS_WAIT;
	if (!rc)
		smc_stat_inc(hs->net, SMC_STAT_DECLINE_RX);
	return smc_hs_to_tcp(hs, hs->reason);
}

static enum smc_hs_outcome hs_late_cross(struct smc_hs *hs)
{
	return smc_hs_to_tcp(hs, hs->reason);
}

/* Data may flow. From here on the group is the connection's. */
static enum smc_hs_outcome hs_open(struct smc_hs *hs)
{
	smc_conn_open(hs->smc->conn);
	/* an earlier message of the peer may have requested an answer */
	smc_tx_push(hs->smc->conn);
	hs->lgr = NULL;
	return SMC_HS_SMC;
}

static enum smc_hs_outcome hs_server_proposal(struct smc_hs *hs)
{
	return hs_recv(hs, SMC_CLC_PROPOSAL);
}

static enum smc_hs_outcome hs_server_port(struct smc_hs *hs)
{
	/* TCP agreed on SMC although an option excludes it */
	if (hs->smc->fallback != SMC_DECLINE_NONE)
		return smc_hs_decline(hs, hs->smc->fallback);
	hs->proposal = hs->rx.proposal;
	return smc_hs_find_port(hs, NULL);
}

/* Choose the group of this connection; FC-02, LG-06. */
static enum smc_hs_outcome hs_server_group(struct smc_hs *hs)
{
	struct smc_link_group *lgr, *forming;
	enum smc_hs_outcome out;
	struct smc_lgr_key key;

	/* a RoCE v2 packet has one IP version: follow the client's choice */
	if (smc_ib_end_follow(&hs->end, hs->peer_gid))
		return smc_hs_decline(hs, SMC_DECLINE_NOSMCRDEV);
	hs_key(hs, &key, hs->params.version, hs->proposal.peer_id, hs->peer_gid,
	       hs->proposal.mac);
	for (;;) {
		if (hs_watched_failed(hs))
			return smc_hs_decline(hs, SMC_DECLINE_TIMEOUT_CL);
		lgr = smc_lgr_reserve(&key, &hs->end, &hs->is_first, &forming);
		if (PTR_ERR(lgr) != -EAGAIN)
			break;
		out = hs_await_group(hs, forming);
		if (out != SMC_HS_GO_ON)
			return out;
	}
	if (IS_ERR(lgr))
		return hs_no_group(hs, &key, PTR_ERR(lgr));
	hs->lgr = lgr;
	return SMC_HS_GO_ON;
}

static enum smc_hs_outcome hs_server_confirm(struct smc_hs *hs)
{
	return hs_recv(hs, SMC_CLC_CONFIRM);
}

/* Validate the Confirm; SC-10, SC-11, ERR-17, AMB-56. */
static enum smc_hs_outcome hs_server_check(struct smc_hs *hs)
{
	struct smc_nego_confirmed decision;
	struct smc_nego_known known;
	enum smc_decline reason;
	struct smc_ib_peer peer;
	struct smc_link *link;

	/* any link of the group, SC-09, even a lost one: its keys locate the data (ERR-07) */
	hs_peer_end(hs, &hs->rx.accept, &peer);
	link = hs->is_first ? NULL : smc_lgr_link_by_peer(hs->lgr, &peer);
	if (link)
		hs->link = link;
	hs_known(hs, &hs->rx.accept, &known);
	known.has_link = link;
	reason = smc_nego_check_confirm(&hs->rx, &hs->proposal, &hs->params,
					hs->is_first ? NULL : &known, hs->end.mtu, &decision);
	if (reason != SMC_DECLINE_NONE)
		return decision.must_reset ? hs_bad_message(hs) : smc_hs_decline(hs, reason);
	if (hs->is_first) {
		hs->lgr->params = decision.params;
		/* clients that offer only version 2 announce their peer ID here first */
		memcpy(hs->lgr->peer_name, hs->rx.accept.peer_id, sizeof(hs->lgr->peer_name));
		hs->lgr->peer_host = hs->rx.accept.fce;
	}
	return SMC_HS_GO_ON;
}

static enum smc_hs_outcome hs_client_propose(struct smc_hs *hs)
{
	enum smc_hs_outcome out;
	struct smc_clc_msg msg;

	if (smc_option_has_crossed(hs->smc))
		return smc_hs_fail(hs, -ECONNRESET);
	out = smc_hs_build_proposal(hs, &msg);
	if (out != SMC_HS_GO_ON)
		return out;
	hs->proposal = msg.proposal;
	return hs_prepare(hs, &msg);
}

static enum smc_hs_outcome hs_client_accept(struct smc_hs *hs)
{
	return hs_recv(hs, SMC_CLC_ACCEPT);
}

/* Reserve a place in the Accept's group. It may be forming: Accepts may overtake each other. */
static enum smc_hs_outcome hs_client_reserve(struct smc_hs *hs, const struct smc_lgr_key *key,
					     const struct smc_ib_peer *peer, bool *is_stale)
{
	struct smc_link_group *lgr, *forming;
	enum smc_hs_outcome out;

	for (;;) {
		lgr = smc_lgr_reserve_link(key, peer, &hs->link, &forming);
		if (PTR_ERR(lgr) != -EAGAIN)
			break;
		out = hs_await_group(hs, forming);
		if (out != SMC_HS_GO_ON)
			return out;
	}
	if (!IS_ERR(lgr))
		hs->lgr = lgr;
	*is_stale = PTR_ERR(lgr) == -ESTALE;
	return SMC_HS_GO_ON;
}

static void hs_client_key(struct smc_hs *hs, struct smc_lgr_key *key, struct smc_ib_peer *peer)
{
	const struct smc_clc_accept *acc = &hs->rx.accept;

	hs_key(hs, key, hs->rx.version, acc->peer_id, acc->gid, acc->mac);
	hs_peer_end(hs, acc, peer);
}

/* First or subsequent contact; FC-06, SC-05, ERR-13. */
static enum smc_hs_outcome hs_client_group(struct smc_hs *hs)
{
	const struct smc_clc_accept *acc = &hs->rx.accept;
	struct smc_nego_accepted decision;
	struct smc_nego_known known;
	enum smc_decline reason;
	enum smc_hs_outcome out;
	struct smc_lgr_key key;
	struct smc_ib_peer peer;
	bool is_stale = false;

	if (!acc->first_contact) {
		hs_client_key(hs, &key, &peer);
		out = hs_client_reserve(hs, &key, &peer, &is_stale);
		if (out != SMC_HS_GO_ON)
			return out;
	}
	hs_known(hs, acc, &known);
	known.is_left |= is_stale;
	reason = smc_nego_classify_accept(&hs->rx, &hs->proposal, &known, hs->end.mtu, &decision);
	hs->params = decision.params;
	hs->out_of_sync = decision.out_of_sync;
	return reason == SMC_DECLINE_NONE ? SMC_HS_GO_ON : smc_hs_decline(hs, reason);
}

/* First contact: form a group. The server may have lost an older one with that link (AMB-06). */
static enum smc_hs_outcome hs_client_form(struct smc_hs *hs)
{
	struct smc_link_group *lgr;
	struct smc_lgr_key key;
	struct smc_ib_peer peer;

	if (hs->lgr)
		return SMC_HS_GO_ON;
	hs_client_key(hs, &key, &peer);
	lgr = smc_lgr_find_link(&key, &peer);
	if (lgr) {
		smc_llc_probe_group(lgr);
		smc_lgr_put(lgr);
	}
	lgr = smc_lgr_form(&key);
	if (IS_ERR(lgr))
		return hs_no_group(hs, &key, PTR_ERR(lgr));
	hs->lgr = lgr;
	hs->is_first = true;
	if (hs->params.is_routed)
		smc_hs_go_routed(hs);
	return SMC_HS_GO_ON;
}

static const struct hs_row hs_server[] = {
	/* step		       Decline	 undo		    event    limit    on timeout */
	/* 1. did both sides offer SMC-R? TCP reports it with the child, 3.5.1.1, OPT-10 */
	/* both ends on this host: memory in place of all that follows */
	{ smc_hs_server_meet,  HS_NO,    smc_hs_undo_meet },
	{ smc_hs_server_last,  HS_NO,    NULL,              HS_MEET, HS_HALF, smc_hs_late_last },
	/* 2. Proposal; RDMA port; common subnet, or a route; 3.5.1.2 */
	{ hs_server_proposal,  HS_YES,   NULL,              HS_PEER, HS_PROPOSAL, hs_late_message },
	{ hs_server_port,      HS_YES,   smc_hs_put_port },
	{ smc_hs_server_route, HS_YES,   NULL,              HS_POLL, HS_ROUTE, smc_hs_late_route },
	{ smc_hs_take_offer,   HS_YES },
	/* 3. a link group, or first contact; 3.5.1.2, 3.5.2.1 */
	{ hs_server_group,     HS_YES,   hs_undo_group,     HS_LGR,  HS_HALF, hs_late_group },
	{ hs_get_link,         HS_YES },
	/* 4. the connection and its rings, ready before the Accept, ACPT-04 */
	{ hs_make_conn,        HS_YES,   hs_undo_conn },
	{ smc_hs_get_sndbuf,   HS_YES,   hs_undo_sndbuf,    HS_SENDS, HS_HALF, smc_hs_late_ring },
	{ smc_hs_get_rmbe,     HS_YES,   hs_undo_rmbe,      HS_RMBS, HS_HALF, smc_hs_late_ring },
	/* 5. alert token */
	{ hs_join,             HS_YES,   hs_undo_join },
	/* 6. Accept */
	{ hs_announce,         HS_YES,   hs_undo_announce },
	{ hs_transmit,         HS_NO,    NULL,              HS_POLL, HS_HALF, hs_late_transmit },
	/* 7. Confirm; 3.5.1.3, 3.5.2.3 */
	{ hs_server_confirm,   HS_FIRST, NULL,              HS_PEER, HS_FULL, hs_late_message },
	/* 8. validation, SC-10, SC-11 */
	{ hs_server_check,     HS_FIRST },
	/* 9. the client's data; first contact: queue pair to RTR */
	{ hs_take_peer,        HS_FIRST },
	/* 10. first contact: CONFIRM LINK and the second link; 3.5.1.5, 3.5.1.6 */
	{ hs_start_llc,        HS_NO },
	{ hs_first_contact,    HS_NO,    NULL,              HS_LGR },
	/* after a failure: Declines, which may cross */
	{ hs_back_out,         HS_QUIET, NULL,              HS_PEER, HS_FULL, hs_late_message },
	{ hs_cross,            HS_NO,    NULL,              HS_POLL, HS_FULL, hs_late_cross },
	{ hs_open,             HS_NO },
};

/* Step 1 is smc_tcp_opened(), smc_tcp.c. */
static const struct hs_row hs_client[] = {
	/* step		       Decline	 undo		    event    limit    on timeout */
	/* both ends on this host: memory in place of all that follows */
	{ smc_hs_client_meet,  HS_NO,    smc_hs_undo_meet,  HS_MEET, HS_BIRTH, smc_hs_late_meet },
	{ smc_hs_client_join,  HS_NO,    NULL,              HS_MEET, HS_FULL, smc_hs_late_join },
	/* 2. RDMA port, Proposal; 3.5.1.2 */
	{ hs_client_propose,   HS_YES,   smc_hs_put_port },
	{ hs_transmit,         HS_NO,    NULL,              HS_POLL, HS_HALF, hs_late_transmit },
	/* 3. Accept; 3.5.1.3 */
	{ hs_client_accept,    HS_YES,   NULL,              HS_PEER, HS_FULL, hs_late_message },
	/* 4. the link group it names; first contact: a route, and a new one */
	{ hs_client_group,     HS_YES,   hs_undo_group,     HS_LGR,  HS_FULL, hs_late_group },
	{ smc_hs_client_route, HS_YES,   NULL,              HS_POLL, HS_HALF, smc_hs_late_route },
	{ hs_client_form,      HS_YES,   hs_undo_group },
	{ hs_get_link,         HS_YES },
	/* 5. the connection, rings (SC-08), alert token */
	{ hs_make_conn,        HS_YES,   hs_undo_conn },
	{ smc_hs_get_sndbuf,   HS_YES,   hs_undo_sndbuf,    HS_SENDS, HS_HALF, smc_hs_late_ring },
	{ smc_hs_get_rmbe,     HS_YES,   hs_undo_rmbe,      HS_RMBS, HS_HALF, smc_hs_late_ring },
	{ hs_join,             HS_YES,   hs_undo_join },
	/* 6. the server's data; first contact: queue pair to RTR */
	{ hs_take_peer,        HS_YES },
	/* 7. Confirm, before any data; CFRM-03, RACE-02 */
	{ hs_start_llc,        HS_YES },
	{ hs_announce,         HS_YES,   hs_undo_announce },
	{ hs_transmit,         HS_NO,    NULL,              HS_POLL, HS_HALF, hs_late_transmit },
	/* 8. first contact: CONFIRM LINK and what follows; 3.5.1.5 */
	{ hs_first_contact,    HS_NO,    NULL,              HS_LGR },
	/* after a failure: Declines, which may cross */
	{ hs_back_out,         HS_QUIET, NULL,              HS_PEER, HS_FULL, hs_late_message },
	{ hs_cross,            HS_NO,    NULL,              HS_POLL, HS_FULL, hs_late_cross },
	{ hs_open,             HS_NO },
};

static const struct hs_row *hs_current_row(const struct smc_hs *hs)
{
	return &(hs->role == SMC_ROLE_SERVER ? hs_server : hs_client)[hs->step];
}

static const struct hs_row hs_declining = {
	hs_decline,	       HS_NO,    NULL,              HS_POLL, HS_HALF, hs_late_transmit
};

/* The row to run. After hs_declining the handshake ends, and hs_current_row() is what to undo. */
static const struct hs_row *hs_next_row(const struct smc_hs *hs)
{
	return hs->is_declining ? &hs_declining : hs_current_row(hs);
}

static void hs_unwind(struct smc_hs *hs)
{
	const struct hs_row *row = hs_current_row(hs);
	unsigned int nr = hs->step + 1;

	for (; nr; nr--, row--)
		if (row->undo)
			row->undo(hs);
}

static bool hs_is_wanted(const struct smc_sock *smc)
{
	return READ_ONCE(smc->phase) == SMC_PHASE_HANDSHAKE && !READ_ONCE(smc->is_released);
}

/*
 * True if the service sent the TCP option and then no valid CLC message. An application that gives
 * up early proves nothing.
 */
static bool hs_is_unanswered(const struct smc_hs *hs)
{
	const struct hs_row *row = hs_current_row(hs);

	if (row->step == hs_transmit)
		row++;
	if (hs->outcome != SMC_HS_FAILED || hs->is_locked_out ||
	    (row->step != hs_client_propose && row->step != hs_client_accept))
		return false;
	if (!hs_is_wanted(hs->smc) &&
	    jiffies - hs->since < hs_limit_jiffies(hs, HS_HALF))
		return false;
	return hs->err == -ECONNRESET || hs->err == -EPIPE || hs->err == -ETIMEDOUT;
}

static bool hs_is_meeting(const struct smc_hs *hs)
{
	const struct hs_row *row = hs_current_row(hs);

	return row->event == HS_MEET || row->undo == smc_hs_undo_meet;
}

/* A client that closed early, or sent a malformed message, proves nothing. */
static void hs_note_client(struct smc_hs *hs)
{
	bool is_silent = hs->err == -ETIMEDOUT && !hs->half.done;
	bool is_tcp = hs->outcome == SMC_HS_TCP && hs->reason == SMC_DECLINE_PEERNOSMC;

	/* a client on this host has sent nothing, unless it shares memory now */
	if (hs_is_meeting(hs) && hs->outcome != SMC_HS_SMC)
		return;
	if (hs_current_row(hs)->step != hs_server_proposal)
		smc_peer_works(hs->net, SMC_PEER_CLIENT, &hs->peer, 0);
	else if (is_silent || is_tcp)
		smc_peer_failed(hs->net, SMC_PEER_CLIENT, &hs->peer, 0, SMC_DECLINE_PEERNOSMC, 0);
}

static void hs_note_service(struct smc_hs *hs)
{
	if (hs->outcome == SMC_HS_SMC)
		smc_peer_works(hs->net, SMC_PEER_DECLINED, &hs->peer, hs->server_port);
	else if (hs->outcome == SMC_HS_TCP)
		smc_peer_failed(hs->net, SMC_PEER_DECLINED, &hs->peer, hs->server_port,
				hs->reason, hs->smc->peer_diagnosis);
	else if (hs_is_unanswered(hs))
		smc_peer_failed(hs->net, SMC_PEER_UNANSWERED, &hs->peer, hs->server_port,
				SMC_DECLINE_PEERNOSMC, 0);
}

static void hs_end(struct smc_hs *hs, enum smc_hs_outcome out)
{
	hs_unwatch(hs);
	WRITE_ONCE(hs->outcome, out);
	if (hs->role == SMC_ROLE_SERVER)
		hs_note_client(hs);
	else
		hs_note_service(hs);
	trace_smc_handshake(hs->smc, hs->role == SMC_ROLE_SERVER, out, hs->reason, hs->err);
	hs_unwind(hs);
	smc_hs_finish(hs);
}

/* The application gave up. A growth in progress ends first; it queues the work item again. */
static void hs_abort(struct smc_hs *hs)
{
	/* pairs with smp_store_release() in smc_hs_grow_work() */
	if (smp_load_acquire(&hs->growth) == SMC_HS_GROW_BEGUN)
		return;
	hs->err = -ECONNRESET;
	hs_end(hs, SMC_HS_FAILED);
}

/* Jiffies until the current step times out, 0 if it has; LONG_MAX for no limit. */
static long hs_time_left(const struct smc_hs *hs)
{
	unsigned long limit = hs_limit_jiffies(hs, hs_next_row(hs)->limit);

	if (!limit)
		return LONG_MAX;
	return max_t(long, hs->since + limit - jiffies, 0);
}

/* Run the current step again on timeout (ERR-14) or at the next poll. */
static void hs_arm_timer(struct smc_hs *hs, long left)
{
	/* the release of the lock is an event */
	if (!hs->is_locked_out && (hs_next_row(hs)->event == HS_POLL ||
				   READ_ONCE(hs->smc->sk->sk_rcvlowat) > 1))
		left = min_t(long, left, SMC_HS_SLICE);
	smc_sock_queue_delayed(hs->smc, left);
}

static enum smc_hs_outcome hs_run_step(struct smc_hs *hs)
{
	struct mem_cgroup *was = set_active_memcg(hs->memcg);
	const struct hs_row *row = hs_next_row(hs);
	enum smc_hs_outcome out;

	hs->is_locked_out = false;
	out = row->step(hs);
	/* the event may have preceded the watch */
	if (out == SMC_HS_WAIT && hs_begin_watch(hs, row->event))
		out = row->step(hs);
	set_active_memcg(was);
	WARN_ON_ONCE(out == SMC_HS_WAIT && row->event == HS_NONE);
	return out;
}

/* The next row, or the Decline that replaces it, has a time limit of its own. */
static void hs_move_on(struct smc_hs *hs, enum smc_hs_outcome out)
{
	const struct hs_row *row = hs_current_row(hs);

	if (hs->waitq || hs->watched)
		hs_unwatch(hs);
	/* the time limit of a Proposal begins with the connection, or behind smc_hs_meet.c */
	if ((row->event && row->event != HS_MEET) || out == SMC_HS_DECLINE)
		hs->since = jiffies;
	if (out == SMC_HS_DECLINE)
		hs->is_declining = true;
	else
		hs->step++;
}

static void hs_run(struct smc_hs *hs)
{
	enum smc_hs_outcome out;
	long left = LONG_MAX;

	for (;;) {
		out = hs_run_step(hs);
		if (out == SMC_HS_WAIT)
			left = hs_time_left(hs);
		if (out == SMC_HS_WAIT && !left)
			out = hs_next_row(hs)->late(hs);
		if (out != SMC_HS_GO_ON && out != SMC_HS_DECLINE)
			break;
		hs_move_on(hs, out);
	}
	if (out != SMC_HS_WAIT)
		hs_end(hs, out);
	else if (left && left < LONG_MAX)
		hs_arm_timer(hs, left);
}

/*
 * The control group of @payer pays for what the handshake allocates. Return: false without memory.
 * Then the connection has sent no CLC message, and ends.
 */
static bool hs_start(struct smc_sock *smc, enum smc_role role, const struct sock *payer)
{
	struct mem_cgroup *memcg = smc_compat_sk_memcg(payer), *was = set_active_memcg(memcg);
	struct smc_hs *hs = kzalloc(sizeof(*hs), SMC_MEM_GFP_FORCE);

	set_active_memcg(was);
	if (!hs)
		return false;
	hs->smc = smc;
	hs->memcg = smc_compat_memcg_hold(memcg);
	hs->net = sock_net(smc->sk);
	hs->role = role;
	hs->since = jiffies;
	smc_path_peer_addr(smc->sk, &hs->peer);
	hs->server_port = ntohs(inet_sk(smc->sk)->inet_dport);
	smc_sock_get(smc);
	/* pairs with smp_load_acquire() in smc_hs_work() */
	smp_store_release(&smc->hs, hs);
	return true;
}

/**
 * smc_hs_begin_server() - begin the handshake of a child from the TCP accept queue
 * @smc: the child's state, in the phase of a handshake
 * @child: the child, which belongs to the handshake on success
 * @lsk: the listening socket; a child belongs to no control group until accept()
 *
 * The time limit of the Proposal begins here. Without memory the state has no handshake and no
 * child, so its work item does nothing.
 *
 * Context: Process context, may sleep. Expects the socket lock held: the work item may run, and
 * end the handshake, as soon as it is released.
 * Return: false without memory.
 */
bool smc_hs_begin_server(struct smc_sock *smc, struct smc_child *child, const struct sock *lsk)
{
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	if (!hs_start(smc, SMC_ROLE_SERVER, lsk)) {
		smc_stat_inc(sock_net(sk), SMC_STAT_SERVER_FAILED);
		smc_sock_set_phase(smc, SMC_PHASE_IDLE);
		return false;
	}
	WRITE_ONCE(smc->child, child);
	smc_sock_queue_delayed(smc, hs_limit_jiffies(smc->hs, HS_PROPOSAL));
	if (smc_meet_expect(smc) || smc_hs_tcp_has_input(sk))
		smc_sock_queue(smc);
	smc_listener_count(child, SMC_HS_CHILD_BYTES + sizeof(struct smc_conn));
	return true;
}

/* The application gave up before the handshake began. Expects the socket lock held. */
static void hs_forget(struct smc_sock *smc)
{
	sock_owned_by_me(smc->sk);
	smc_meet_leave(smc);
	if (smc->phase == SMC_PHASE_HANDSHAKE || smc->phase == SMC_PHASE_STOPPING)
		smc_hs_back_to_idle(smc);
}

/*
 * Begin the handshake of a client, unless the socket has no use for one. Return: false if a call
 * owns the lock, whose release queues the work item.
 */
static bool hs_begin_client(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	if (!smc_sock_lock_work(sk, SMC_MISSED_HANDSHAKE))
		return false;
	if (smc->hs || smc->child || smc_sk(sk) != smc) {
		release_sock(sk);
		return true;
	}
	if (!hs_is_wanted(smc)) {
		hs_forget(smc);
	} else if (!hs_start(smc, SMC_ROLE_CLIENT, sk)) {
		smc_meet_leave(smc);
		smc_hs_finish_failed(smc, ENOBUFS);
	}
	smc_close_unlock(smc);
	return true;
}

/**
 * smc_hs_work() - advance the handshake of a socket
 * @work: &smc_sock.hs_work; drops the reference taken when it was queued
 *
 * A late event may queue it without work to do.
 *
 * Context: Process context (work item). Takes the socket lock, but does not wait for
 * a call that owns it.
 */
void smc_hs_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(to_delayed_work(work), struct smc_sock, hs_work);
	struct smc_hs *hs;

	if (!READ_ONCE(smc->hs) && !hs_begin_client(smc))
		goto out;
	/* pairs with smp_store_release() in hs_start(); only this work item ends it */
	hs = smp_load_acquire(&smc->hs);
	if (hs && hs->outcome)
		smc_hs_finish(hs);
	else if (hs && !hs_is_wanted(smc))
		hs_abort(hs);
	else if (hs)
		hs_run(hs);
	else if (smc->child)
		smc_child_check(smc);
out:
	smc_sock_put(smc);
}
