// SPDX-License-Identifier: GPL-2.0
/*
 * The rendezvous, RFC 7609 section 3.5.1 and 3.5.2.
 *
 * Operation: smc_hs_server_steps and smc_hs_client_steps are the RFC's steps in
 * order. A step that cannot go on yet asks for what it waits for (bytes on
 * TCP, news of a link group, the passing of time) and ends with SMC_HS_WAIT;
 * the handshake's work item is queued by any of those and runs the same step
 * once more. So waiting occupies no worker, and a peer that falls silent at
 * whichever step delays nobody else. The one wait inside a step, for the
 * peer's answer to CONFIRM RKEY, has a work item and a queue of its own.
 *
 * Outcome: a handshake ends on SMC, on TCP with a reason, or with an errno.
 * What it had taken (a reservation in a link group, the RDMA port) is given
 * back in one place, smc_hs_cleanup().
 *
 * Same host: where both ends are sockets of this host, they find each other by
 * smc_host.c and use one RDMA port, whatever their routes and namespaces.
 *
 * Ownership: struct smc_hs belongs to the work item, which never runs twice at
 * a time. It holds a reference on the socket, and it owns the RDMA end and a
 * reference on the link group while the handshake lasts. A connection that
 * joined the group has a reference of its own.
 *
 * Memory: a listener adds up what its handshakes cost. Above SMC_HS_MAX_BYTES
 * the oldest is reset for each that comes, so that peers that say nothing are
 * replaced by those that do.
 */
#include <linux/utsname.h>
#include <net/tcp.h>

#include "smc_child.h"
#include "smc_clc.h"
#include "smc_close.h"
#include "smc_compat.h"
#include "smc_eid.h"
#include "smc_fallback.h"
#include "smc_grow.h"
#include "smc_host.h"
#include "smc_hs.h"
#include "smc_life.h"
#include "smc_link.h"
#include "smc_llc.h"
#include "smc_llc_msg.h"
#include "smc_llc_rmb.h"
#include "smc_llc_sweep.h"
#include "smc_net.h"
#include "smc_peer.h"
#include "smc_pnet.h"
#include "smc_route.h"
#include "smc_tcp.h"
#include "smc_trace.h"

/* Children under way may cost a listener so much, in bytes. */
#define SMC_HS_MAX_BYTES	(64UL << 20)
/* Of that, the sockets of a child that has said nothing yet. */
#define SMC_HS_CHILD_BYTES	(sizeof(struct smc_sock) + sizeof(struct tcp6_sock) +	\
				 sizeof(struct socket_alloc) + sizeof(struct smc_hs))
/* And the first link of a group: queues, receives, tables; on soft-RoCE. */
#define SMC_HS_LINK_BYTES	(128UL << 10)

/*
 * How often to look where nobody says that there is news: with SO_RCVLOWAT set
 * by BPF, TCP keeps silent about a short message; a neighbour is found silently.
 */
#define SMC_HS_SLICE	max(HZ / 50, 1)

enum smc_hs_outcome {
	SMC_HS_GO_ON,
	SMC_HS_SMC,
	SMC_HS_TCP,		/* hs->reason says why */
	SMC_HS_FAILED,		/* hs->err says how */
	SMC_HS_WAIT,		/* run the step again when there is news */
};

/* smc_trace.h shows these numbers as text */
static_assert(SMC_HS_SMC == 1 && SMC_HS_TCP == 2 && SMC_HS_FAILED == 3);

struct smc_hs;

typedef enum smc_hs_outcome (*smc_hs_step)(struct smc_hs *hs);

/* Where an area that this handshake adds to its group stands. */
enum smc_hs_growth {
	SMC_HS_GROW_NONE,
	SMC_HS_GROW_BEGUN,	/* grow_work owns the members it needs */
	SMC_HS_GROW_DONE,	/* hs->grow_rc says how it went */
};

/**
 * struct smc_hs - a handshake under way
 * @smc: the socket
 * @net: its namespace
 * @step: what to do next, in the steps of the role
 * @is_server: the role
 * @has_deadline: @deadline is set; for the present step only
 * @deadline: when the present step gives up, jiffies
 * @watched: group whose news queue the work item, with a reference; or NULL
 * @watch: in its wait queue
 * @has_end: @end is filled
 * @is_near: of a server: @end is on a LAN of the client's
 * @end: the local RDMA port
 * @routed: the same for a way that may cross subnets; empty if there is none
 * @route: that way
 * @is_routing: it is being looked for
 * @name: of the connection, should its other end be on this host
 * @pair: with the handshake at the other end, which a client may still wait for;
 *	or NULL
 * @is_local_only: @end serves nothing but such a connection, client only
 * @peer_net: namespace of the other end, once that is known to be on this host
 * @peer_id: our peer ID
 * @subnets: what a client proposes
 * @lgr: the link group, with a reservation until @is_joined
 * @link: of @lgr: the one that the peer's message names; before that, of a server,
 *	  one that would do
 * @is_link_gone: the one that the peer's message names is no more, client only
 * @growth: enum smc_hs_growth; with acquire and release between the work items
 * @grow_pool: of @lgr, to add an area to
 * @grow_elem: receives its first element
 * @grow_size: of an element
 * @grow_rc: outcome
 * @is_first: first contact
 * @is_joined: the connection is a member of @lgr
 * @is_told: the peer has our element in Accept or Confirm and may write to it
 * @is_declined: the peer's Decline came during first contact
 * @out_of_sync: the Decline carries the S bit
 * @may_decline: a Decline may be sent now in place of a message (CLC-09)
 * @is_path_bad: the RDMA path failed, later connections shall not pay again
 * @is_parting: our Decline has ended first contact, the peer's may be under way
 * @outcome: of the handshake, once it is over
 * @reason: why TCP
 * @err: negative errno, why not at all
 * @proposal: the client's: of the peer, or our own
 * @peer_gid: of the RNIC that the client would use, server only
 * @params: what has been settled
 * @half: message that has not come completely
 * @rx: last message received
 * @tx: message to send
 */
struct smc_hs {
	struct smc_sock *smc;
	struct net *net;
	const smc_hs_step *step;
	bool is_server;
	bool has_deadline;
	unsigned long deadline;
	struct smc_link_group *watched;
	struct wait_queue_entry watch;
	bool has_end;
	bool is_near;
	struct smc_ib_end end;
	struct smc_ib_end routed;
	struct smc_route route;
	bool is_routing;
	struct smc_host_name name;
	struct smc_host_pair *pair;
	bool is_local_only;
	u64 peer_net;
	u8 peer_id[8];
	struct smc_nego_subnets subnets;
	struct smc_link_group *lgr;
	struct smc_link *link;
	bool is_link_gone;
	int growth;
	struct smc_buf_pool *grow_pool;
	struct smc_buf_elem *grow_elem;
	u32 grow_size;
	int grow_rc;
	bool is_first;
	bool is_joined;
	bool is_told;
	bool is_declined;
	bool out_of_sync;
	bool may_decline;
	bool is_path_bad;
	bool is_parting;
	enum smc_hs_outcome outcome;
	enum smc_decline reason;
	int err;
	struct smc_clc_proposal proposal;
	u8 peer_gid[SMC_GID_LEN];
	struct smc_params params;
	struct smc_clc_rx half;
	struct smc_clc_msg rx;
	struct smc_clc_msg tx;
};

static enum smc_hs_outcome smc_hs_to_tcp(struct smc_hs *hs, enum smc_decline reason)
{
	hs->reason = reason;
	return SMC_HS_TCP;
}

static enum smc_hs_outcome smc_hs_fail(struct smc_hs *hs, int err)
{
	hs->err = err;
	return SMC_HS_FAILED;
}

static unsigned long smc_hs_patience(struct smc_hs *hs)
{
	return msecs_to_jiffies(READ_ONCE(smc_net(hs->net)->set.clc_timeout_ms));
}

/* Is time up for this step, which was @patience when it began? */
static bool smc_hs_is_late(struct smc_hs *hs, unsigned long patience)
{
	if (!hs->has_deadline)
		hs->deadline = jiffies + patience;
	hs->has_deadline = true;
	return time_after_eq(jiffies, hs->deadline);
}

static int smc_hs_lgr_news(struct wait_queue_entry *watch, unsigned int mode, int sync, void *key)
{
	struct smc_hs *hs = container_of(watch, struct smc_hs, watch);

	smc_sock_queue(hs->smc, &hs->smc->hs_work);
	return 0;
}

static void smc_hs_unwatch(struct smc_hs *hs)
{
	if (!hs->watched)
		return;
	remove_wait_queue(&hs->watched->waitq, &hs->watch);
	smc_lgr_put(hs->watched);
	hs->watched = NULL;
}

/* From here to the end of the step, run it again whenever @lgr has news. */
static void smc_hs_watch(struct smc_hs *hs, struct smc_link_group *lgr)
{
	if (hs->watched == lgr)
		return;
	smc_hs_unwatch(hs);
	hs->watched = smc_lgr_get(lgr);
	init_waitqueue_func_entry(&hs->watch, smc_hs_lgr_news);
	add_wait_queue(&lgr->waitq, &hs->watch);
}

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

/* The message due now, or a Decline in its place (DCLN-02, ERR-01). */
static enum smc_hs_outcome smc_hs_recv(struct smc_hs *hs, enum smc_clc_type type)
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

static enum smc_hs_outcome smc_hs_send(struct smc_hs *hs)
{
	int rc = smc_clc_send(hs->smc->tcp, &hs->tx);

	hs->may_decline = false;
	if (rc)
		return smc_hs_fail(hs, rc);
	smc_stat_inc(hs->net, SMC_STAT_CLC_TX);
	trace_smc_clc_tx(hs->smc, &hs->tx);
	return SMC_HS_GO_ON;
}

static enum smc_role smc_hs_role(const struct smc_hs *hs)
{
	return hs->is_server ? SMC_ROLE_SERVER : SMC_ROLE_CLIENT;
}

static void smc_hs_leave_pair(struct smc_hs *hs)
{
	if (hs->pair)
		smc_host_leave(hs->pair, smc_hs_role(hs));
	hs->pair = NULL;
}

/* Between the two ends on this host somebody has changed a message, SEC-08. */
static enum smc_hs_outcome smc_hs_forged(struct smc_hs *hs)
{
	smc_stat_inc(hs->net, SMC_STAT_CLC_BAD);
	return smc_hs_fail(hs, -ECONNRESET);
}

/* A client may be a neighbour: then it has chosen the port for both. */
static enum smc_decline smc_hs_server_port(struct smc_hs *hs)
{
	if (smc_pnet_may_be_local(hs->net))
		hs->pair = smc_host_take(&hs->name, hs->net, &hs->proposal, &hs->end);
	if (!hs->pair)
		return smc_pnet_find_server(hs->smc->tcp->sk, &hs->proposal, &hs->end,
					    &hs->is_near);
	/* a neighbour is nearer than any subnet */
	hs->is_near = true;
	hs->peer_net = smc_host_net(hs->pair, SMC_ROLE_CLIENT);
	return SMC_DECLINE_NONE;
}

/* The port for a way that may cross subnets, where a host can have use for it. */
static void smc_hs_find_routed(struct smc_hs *hs)
{
	const u8 *peer_gid = hs->is_server ? hs->proposal.v2.gid : NULL;

	if (hs->pair || (hs->is_server && !hs->proposal.offers_v2) ||
	    !smc_eid_any(READ_ONCE(smc_net(hs->net)->set.default_eid)) ||
	    !smc_pnet_find_routed(hs->smc->tcp->sk, peer_gid, &hs->routed))
		hs->routed.dev = NULL;
}

/*
 * The port of the route, which needs no subnet where the way does not; without
 * one, any for a server that is a neighbour.
 */
static enum smc_decline smc_hs_client_port(struct smc_hs *hs)
{
	struct sock *tsk = hs->smc->tcp->sk;
	enum smc_decline reason;

	reason = smc_pnet_find(tsk, &hs->end, &hs->subnets);
	if (reason == SMC_DECLINE_CNFERR && hs->routed.dev) {
		smc_ib_end_copy(&hs->end, &hs->routed);
		if (smc_pnet_may_be_local(hs->net))
			smc_pnet_name_host(tsk, &hs->subnets);
		return SMC_DECLINE_NONE;
	}
	if (reason == SMC_DECLINE_NONE || !smc_pnet_may_be_local(hs->net) ||
	    smc_pnet_find_local(tsk, &hs->end, &hs->subnets) != SMC_DECLINE_NONE)
		return reason;
	smc_ib_end_put(&hs->routed);
	hs->is_local_only = true;
	return SMC_DECLINE_NONE;
}

/* Which RDMA port, and may this connection use RDMA at all? */
static enum smc_hs_outcome smc_hs_find_end(struct smc_hs *hs)
{
	struct sock *tsk = hs->smc->tcp->sk;
	enum smc_decline reason;
	struct in6_addr peer;

	if (smc_pnet_needs_ipsec(tsk))
		return smc_hs_to_tcp(hs, SMC_DECLINE_IPSEC);
	smc_peer_addr(tsk, &peer);
	reason = smc_peer_recall(hs->net, &peer, !hs->is_server);
	if (reason != SMC_DECLINE_NONE)
		return smc_hs_to_tcp(hs, reason);
	if (!hs->is_server)
		smc_hs_find_routed(hs);
	reason = hs->is_server ? smc_hs_server_port(hs) : smc_hs_client_port(hs);
	if (reason != SMC_DECLINE_NONE)
		return smc_hs_to_tcp(hs, reason);
	hs->has_end = true;
	if (hs->is_server)
		smc_hs_find_routed(hs);
	smc_pnet_local_id(hs->net, &hs->end, hs->peer_id);
	return SMC_HS_GO_ON;
}

static void smc_hs_local(struct smc_hs *hs, struct smc_nego_local *local)
{
	const struct smc_settings *set = &smc_net(hs->net)->set;
	struct smc_clc_v2_offer *v2 = &local->v2;
	int conns, links;

	memset(local, 0, sizeof(*local));
	local->subnets = hs->subnets;
	memcpy(local->peer_id, hs->peer_id, sizeof(local->peer_id));
	memcpy(local->gid, hs->end.gid.raw, sizeof(local->gid));
	memcpy(local->mac, hs->end.mac, sizeof(local->mac));
	local->has_v2 = hs->routed.dev;
	if (!local->has_v2)
		return;
	memcpy(v2->gid, hs->routed.gid.raw, sizeof(v2->gid));
	v2->release = SMC_NEGO_RELEASE;
	conns = min(READ_ONCE(set->max_conns_per_lgr), READ_ONCE(set->v21_max_conns));
	v2->max_conns = max(conns, SMC_NEGO_V21_MIN_CONNS);
	/* with one there is nothing to wait for on first contact */
	links = min(READ_ONCE(set->max_links), READ_ONCE(set->v21_max_links));
	v2->max_links = min(links, SMC_NEGO_V21_MAX_LINKS);
	v2->nr_eids = smc_eid_list(READ_ONCE(set->default_eid), v2->eid);
}

/* From here on the connection belongs to the port of the routed way. */
static void smc_hs_go_routed(struct smc_hs *hs)
{
	if (!hs->routed.dev)
		return;
	smc_ib_end_put(&hs->end);
	hs->end = hs->routed;
	hs->routed.dev = NULL;
}

/*
 * The way to a GID of the peer's. Its next hop may have to be asked for; the
 * peer waits for a message meanwhile, so not for long: for @patience at most, in
 * jiffies. SMC_HS_TCP: there is none.
 */
static enum smc_hs_outcome smc_hs_find_route(struct smc_hs *hs, const struct smc_ib_end *end,
					     const u8 *gid, unsigned long patience)
{
	struct smc_route_like like;
	int rc;

	smc_route_like(hs->smc->tcp->sk, &like);
	rc = smc_route_find(hs->net, &like, end, gid, &hs->route);
	hs->is_routing = rc == -EAGAIN && !smc_hs_is_late(hs, patience);
	if (hs->is_routing)
		return SMC_HS_WAIT;
	/* nobody answers there: connections that follow shall not wait for that again */
	hs->is_path_bad = rc == -EAGAIN;
	return rc ? smc_hs_to_tcp(hs, SMC_DECLINE_NOROUTE) : SMC_HS_GO_ON;
}

static void smc_hs_key(struct smc_hs *hs, struct smc_lgr_key *key, u8 version, const u8 *peer_id,
		       const u8 *peer_gid, const u8 *peer_mac)
{
	memset(key, 0, sizeof(*key));
	key->net = hs->net;
	key->role = smc_hs_role(hs);
	key->vlan = hs->end.vlan;
	key->version = version;
	key->peer_net = hs->peer_net;
	memcpy(key->peer_id, peer_id, sizeof(key->peer_id));
	memcpy(key->peer_gid, peer_gid, sizeof(key->peer_gid));
	memcpy(key->peer_mac, peer_mac, sizeof(key->peer_mac));
	smc_peer_addr(hs->smc->tcp->sk, &key->peer_addr);
	memcpy(key->hop_mac, hs->route.mac, sizeof(key->hop_mac));
	key->hop_limit = hs->route.hop_limit;
}

/* Make an area known to our RNIC and (an RMB) to the peer. */
static int smc_hs_publish_area(struct smc_hs *hs, struct smc_buf *buf)
{
	int rc;

	/* on first contact it is registered and announced with the link */
	if (hs->is_first)
		return 0;
	rc = smc_lgr_register_buf(hs->lgr, buf);
	/* RMB-23, RKEY-05, SC-04, SC-08: before Accept or Confirm */
	if (!rc && buf->kind == SMC_BUF_RMB)
		rc = smc_llc_announce_rmb(hs->lgr, buf);
	return rc;
}

static int smc_hs_add_area(struct smc_hs *hs)
{
	struct smc_buf_pool *pool = hs->grow_pool;
	struct smc_link_group *lgr = hs->lgr;
	struct smc_buf *buf;
	int rc;

	buf = smc_buf_alloc(pool, hs->grow_size, READ_ONCE(lgr->max_pages));
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	rc = smc_lgr_add_buf(lgr, pool, buf, hs->grow_elem);
	if (rc)
		return rc;
	rc = smc_hs_publish_area(hs, buf);
	if (rc) {
		smc_lgr_drop_buf(lgr, pool, buf, hs->grow_elem);
		return rc;
	}
	/* nobody else finds a forming group, so this is not too early there */
	smc_buf_set_ready(pool, buf);
	if (pool->kind == SMC_BUF_RMB)
		smc_stat_inc(hs->net, SMC_STAT_RMB_NEW);
	return 0;
}

/**
 * smc_hs_grow_work() - add an area to a group for a handshake
 * @work: &smc_sock.grow_work; drops the reference taken when it was queued
 *
 * On subsequent contact this waits for the peer, so the time it takes is not
 * that of the handshakes' queue. A peer can make at most one such item wait
 * for each group it has, in which it has proved an RDMA path, and the timers
 * of LLC end that.
 *
 * Context: Process context (work item), sleeps.
 */
void smc_hs_grow_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, grow_work);
	struct smc_hs *hs = smc->hs;

	hs->grow_rc = smc_hs_add_area(hs);
	smc_llc_end_grow(hs->lgr);
	/* pairs with smp_load_acquire() in smc_hs_try_ring(); hs may go then */
	smp_store_release(&hs->growth, SMC_HS_GROW_DONE);
	smc_sock_queue(smc, &smc->hs_work);
	sock_put(&smc->sk);
}

/* One adds an area, the others look again when it has; 0, -EAGAIN or failed. */
static int smc_hs_grow(struct smc_hs *hs, struct smc_buf_pool *pool, u32 size,
		       struct smc_buf_elem *elem)
{
	int rc;

	smc_hs_watch(hs, hs->lgr);
	rc = smc_lgr_begin_grow(hs->lgr);
	if (rc)
		return rc == -EBUSY ? -EAGAIN : rc;
	hs->grow_pool = pool;
	hs->grow_elem = elem;
	hs->grow_size = size;
	if (hs->is_first) {
		/* known to nobody, and the peer is told with the link */
		rc = smc_hs_add_area(hs);
		smc_llc_end_grow(hs->lgr);
		return rc;
	}
	hs->growth = SMC_HS_GROW_BEGUN;
	smc_sock_queue(hs->smc, &hs->smc->grow_work);
	return -EAGAIN;
}

static int smc_hs_try_ring(struct smc_hs *hs, struct smc_buf_pool *pool, u32 size,
			   struct smc_buf_elem *elem)
{
	int rc;

	/* pairs with smp_store_release() in smc_hs_grow_work() */
	switch (smp_load_acquire(&hs->growth)) {
	case SMC_HS_GROW_BEGUN:
		return -EAGAIN;
	case SMC_HS_GROW_DONE:
		hs->growth = SMC_HS_GROW_NONE;
		/* nobody would wake us again */
		return hs->grow_rc == -EAGAIN ? -EIO : hs->grow_rc;
	default:
		break;
	}
	rc = smc_buf_get(pool, size, elem);
	if (!rc && pool->kind == SMC_BUF_RMB)
		smc_stat_inc(hs->net, SMC_STAT_RMBE_REUSE);
	return rc == -EAGAIN ? smc_hs_grow(hs, pool, size, elem) : rc;
}

/* The wish of the application as an element size this group may use, RMB-09. */
static u32 smc_hs_ring_size(struct smc_hs *hs, int sk_buf)
{
	u64 most = (u64)rounddown_pow_of_two(READ_ONCE(hs->lgr->max_pages)) << PAGE_SHIFT;
	u8 max_code = SMC_BSIZE_RFC_MAX;
	u32 size;

	if (!hs->is_first)
		max_code = hs->lgr->params.max_size_code;
	size = smc_nego_size_bytes(smc_nego_size_code(sk_buf / 2, max_code));
	/* what an RNIC cannot register in one piece is clamped */
	return max_t(u64, min_t(u64, size, most), SMC_BUF_MIN_SIZE);
}

/*
 * Reset a child that is no longer listed; its work item finds that out and
 * closes it. The lock keeps the inner socket from going with it meanwhile.
 */
static void smc_hs_abandon(struct smc_sock *child)
{
	lock_sock_nested(&child->sk, SINGLE_DEPTH_NESTING);
	smc_tcp_reset(child);
	release_sock(&child->sk);
	smc_sock_queue(child, &child->hs_work);
}

/* Take this child's memory from its listener's, and make room if need be. */
static void smc_hs_charge(struct smc_sock *child, unsigned long bytes)
{
	struct smc_sock *oldest;

	smc_sock_charge_handshake(child, bytes);
	while ((oldest = smc_sock_evict_handshake(child, SMC_HS_MAX_BYTES))) {
		smc_stat_inc(sock_net(&child->sk), SMC_STAT_SERVER_DROPPED);
		smc_hs_abandon(oldest);
		sock_put(&oldest->sk);
	}
}

static enum smc_hs_outcome smc_hs_get_ring(struct smc_hs *hs, struct smc_buf_pool *pool,
					   int sk_buf, struct smc_buf_elem *elem)
{
	int rc = smc_hs_try_ring(hs, pool, smc_hs_ring_size(hs, sk_buf), elem);

	if (rc == -EAGAIN)
		return SMC_HS_WAIT;
	if (rc)
		return smc_hs_to_tcp(hs, rc == -ENOMEM || rc == -ENOSPC ? SMC_DECLINE_MEM :
				     SMC_DECLINE_ERR_REGBUF);
	if (hs->is_server)
		smc_hs_charge(hs->smc, elem->size);
	return SMC_HS_GO_ON;
}

static enum smc_hs_outcome smc_hs_get_sndbuf(struct smc_hs *hs)
{
	return smc_hs_get_ring(hs, &hs->lgr->sends, READ_ONCE(hs->smc->sk.sk_sndbuf),
			       &hs->smc->conn.sndbuf);
}

/* Known to the peer's RNIC when this is through: ACPT-04, SC-04, SC-08. */
static enum smc_hs_outcome smc_hs_get_rmbe(struct smc_hs *hs)
{
	return smc_hs_get_ring(hs, &hs->lgr->rmbs, READ_ONCE(hs->smc->sk.sk_rcvbuf),
			       &hs->smc->conn.rmbe);
}

/* From here on completion handlers know the connection by its token. */
static enum smc_hs_outcome smc_hs_join(struct smc_hs *hs)
{
	struct smc_link *link = hs->link;
	int rc;

	/* others have come while areas were waited for: the choice is made now, LB-03 */
	if (hs->is_server && !hs->is_first)
		link = NULL;
	rc = smc_conn_join(&hs->smc->conn, hs->lgr, link);
	if (rc)
		return smc_hs_to_tcp(hs, rc == -ECONNABORTED ? SMC_DECLINE_NOACTLINK :
				     SMC_DECLINE_MEM);
	hs->is_joined = true;
	smc_stat_inc(hs->net, hs->is_first ? SMC_STAT_FIRST_CONTACT :
		     SMC_STAT_SUBSEQUENT_CONTACT);
	return SMC_HS_GO_ON;
}

/* The name of this host as CLC has it: blank padded. */
static void smc_hs_host(u8 host[SMC_CLC_HOST_LEN])
{
	const char *name = init_utsname()->nodename;

	memset(host, ' ', SMC_CLC_HOST_LEN);
	memcpy(host, name, strnlen(name, SMC_CLC_HOST_LEN));
}

static void smc_hs_own_end(struct smc_hs *hs, const struct smc_link *link,
			   struct smc_nego_end *end)
{
	memcpy(end->peer_id, hs->peer_id, sizeof(end->peer_id));
	memcpy(end->gid, link->wr.end.gid.raw, sizeof(end->gid));
	memcpy(end->mac, link->wr.end.mac, sizeof(end->mac));
	end->qpn = link->wr.qpn;
	end->psn = link->psn;
	end->is_direct = hs->route.is_direct;
	smc_hs_host(end->host);
}

static void smc_hs_own_rmbe(struct smc_hs *hs, const struct smc_link *link,
			    struct smc_nego_rmbe *rmbe)
{
	const struct smc_conn *conn = &hs->smc->conn;

	rmbe->rkey = smc_buf_rkey(conn->rmbe.buf, link->index);
	rmbe->addr = conn->rmbe.buf->iova;
	rmbe->token = conn->token;
	rmbe->index = conn->rmbe.index;
	rmbe->size_code = smc_nego_size_code(conn->rmbe.size, SMC_BSIZE_DEPLOYED_MAX);
}

/*
 * What Accept or Confirm tells of us, by a link that works at this moment; that of
 * joining may have been lost. Returns the link, or NULL if the group has none.
 */
static struct smc_link *smc_hs_own_data(struct smc_hs *hs, struct smc_nego_end *end,
					struct smc_nego_rmbe *rmbe)
{
	struct smc_link *link;

	/* keeps the keys on the link */
	mutex_lock(&hs->lgr->lock);
	link = smc_conn_told_link(&hs->smc->conn);
	if (link) {
		smc_hs_own_end(hs, link, end);
		smc_hs_own_rmbe(hs, link, rmbe);
	}
	mutex_unlock(&hs->lgr->lock);
	return link;
}

static void smc_hs_peer_end(const struct smc_hs *hs, const struct smc_clc_accept *acc,
			    struct smc_ib_peer *peer)
{
	/* as zeros they say that there is no gateway, and nothing to find */
	memcpy(peer->hop_mac, hs->route.mac, sizeof(peer->hop_mac));
	peer->hop_limit = hs->route.hop_limit;
	memcpy(peer->gid, acc->gid, sizeof(peer->gid));
	memcpy(peer->mac, acc->mac, sizeof(peer->mac));
	peer->qpn = acc->qpn;
	peer->psn = acc->psn;
	peer->mtu = acc->mtu;
}

static bool smc_hs_knows_rtoken(struct smc_hs *hs, const struct smc_clc_accept *acc)
{
	bool knows;

	mutex_lock(&hs->lgr->lock);
	/* with the link its keys are gone, and its place may be another one's */
	knows = hs->lgr->links[hs->link->index] == hs->link &&
		smc_rtoken_find(hs->lgr->rtokens, hs->link->index, acc->rkey,
				acc->rmb_addr) >= 0;
	mutex_unlock(&hs->lgr->lock);
	return knows;
}

static void smc_hs_known(struct smc_hs *hs, const struct smc_clc_accept *acc,
			 struct smc_nego_known *known)
{
	memset(known, 0, sizeof(*known));
	known->max_size_code = SMC_BSIZE_RFC_MAX;
	known->is_left = hs->is_link_gone;
	if (!hs->lgr || hs->is_first)
		return;
	known->has_link = true;
	known->has_rtoken = smc_hs_knows_rtoken(hs, acc);
	/* behind that, for it may go meanwhile */
	known->is_left = !smc_link_is_used(hs->link);
	known->max_size_code = hs->lgr->params.max_size_code;
	/* written before the group became active */
	memcpy(known->peer_id, hs->lgr->peer_name, sizeof(known->peer_id));
}

/* The machine of the group begins; it proves the path where data will go. */
static void smc_hs_start_llc(struct smc_hs *hs)
{
	const struct smc_conn *conn = &hs->smc->conn;
	struct smc_llc_probe probe = {
		.raddr = conn->peer_addr + SMC_EYE_CATCHER_LEN,
		.rkey = conn->peer_rkey,
		.laddr = smc_buf_elem_iova(&conn->sndbuf),
		.lkey = smc_buf_lkey(conn->sndbuf.buf, hs->link->index),
		.len = smc_nego_mtu_bytes(min(hs->link->wr.end.mtu, hs->link->peer.mtu)),
	};

	smc_llc_set_probe(hs->lgr, &probe);
	smc_llc_start(hs->lgr, hs->link);
}

static bool smc_hs_tcp_has_news(const struct sock *tsk)
{
	return !skb_queue_empty_lockless(&tsk->sk_receive_queue) ||
	       READ_ONCE(tsk->sk_err) || READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN;
}

/*
 * May there be a Decline while LLC forms the group? A FIN alone is none: that of a
 * deployed peer that closes at once overtakes its last LLC message, or the RNIC's
 * acknowledgment of ours, as it goes ahead of all it has to say by RDMA (linux-abi 3.8).
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

	return hs->smc->conn.peer_size <= smc_nego_size_bytes(max);
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
 * Tell the peer if it is our turn; remember a path that failed. An error if TCP can be
 * used no further, neither for CLC nor for what comes after it.
 */
static int smc_hs_say_decline(struct smc_hs *hs)
{
	struct in6_addr peer;
	int rc;

	if (hs->is_path_bad) {
		smc_peer_addr(hs->smc->tcp->sk, &peer);
		smc_peer_remember(hs->net, &peer, hs->reason, false);
	}
	if (!hs->may_decline)
		return 0;
	smc_pnet_local_id(hs->net, hs->has_end ? &hs->end : NULL, hs->peer_id);
	rc = smc_clc_decline(hs->smc->tcp, hs->peer_id, hs->reason, hs->out_of_sync,
			     hs->rx.version, hs->is_parting);
	if (!rc)
		smc_stat_inc(hs->net, SMC_STAT_DECLINE_TX);
	/* not sent, and still ours to send, where the peer has said something */
	hs->may_decline = rc == -EEXIST;
	return rc == -EEXIST ? 0 : rc;
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

/* Here or at the peer: that says nothing of the path, and may soon be over. */
static bool smc_hs_is_short_of_memory(const struct smc_hs *hs)
{
	if (hs->is_declined)
		return hs->smc->peer_diagnosis == SMC_DECLINE_MEM;
	return hs->lgr->fail_decline == SMC_DECLINE_MEM;
}

/*
 * First contact: LLC confirms the link and tries for a second one, until its
 * own timers end that. All that time a Decline may come on TCP (DCLN-06,
 * ERR-23); nothing else may.
 */
static enum smc_hs_outcome smc_hs_first_contact(struct smc_hs *hs)
{
	enum smc_hs_outcome out;
	int rc;

	if (!hs->is_first)
		return SMC_HS_GO_ON;
	if (hs->is_parting)
		return smc_hs_part(hs);
	smc_hs_watch(hs, hs->lgr);
	if (!hs->is_declined &&
	    (hs->half.done || (READ_ONCE(hs->lgr->state) == SMC_LGR_FORMING &&
			       smc_hs_may_be_declined(hs)))) {
		out = smc_hs_first_declined(hs);
		if (out != SMC_HS_GO_ON)
			return out;
	}
	if (READ_ONCE(hs->lgr->state) == SMC_LGR_FORMING)
		return SMC_HS_WAIT;
	if (READ_ONCE(hs->lgr->state) == SMC_LGR_ACTIVE) {
		if (hs->is_declined || !smc_hs_peer_size_fits(hs))
			return smc_hs_fail(hs, -ECONNRESET);
		return SMC_HS_GO_ON;
	}

	hs->is_path_bad = !smc_hs_is_short_of_memory(hs);
	if (hs->is_declined)
		return smc_hs_to_tcp(hs, SMC_DECLINE_PEERDECL);
	if (hs->lgr->fail_decline == SMC_DECLINE_NONE)
		return smc_hs_fail(hs, -ECONNRESET);
	hs->reason = hs->lgr->fail_decline;
	hs->may_decline = true;
	hs->is_parting = true;
	hs->has_deadline = false;
	rc = smc_hs_say_decline(hs);
	return rc ? smc_hs_fail(hs, rc) : smc_hs_part(hs);
}

/* Data may flow. */
static enum smc_hs_outcome smc_hs_open(struct smc_hs *hs)
{
	smc_conn_open(&hs->smc->conn);
	return SMC_HS_SMC;
}

/*
 * Another handshake's first contact decides where this connection belongs.
 * SMC_HS_GO_ON: it has been settled, look again.
 */
static enum smc_hs_outcome smc_hs_await_group(struct smc_hs *hs, struct smc_link_group *lgr,
					      unsigned long patience)
{
	const struct sock *tsk = hs->smc->tcp->sk;

	smc_hs_watch(hs, lgr);
	smc_lgr_put(lgr);
	if (READ_ONCE(lgr->state) != SMC_LGR_FORMING)
		return SMC_HS_GO_ON;
	if (READ_ONCE(tsk->sk_err) || READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN)
		return smc_hs_fail(hs, -ECONNRESET);
	if (smc_hs_is_late(hs, patience))
		return smc_hs_to_tcp(hs, SMC_DECLINE_TIMEOUT_CL);
	return SMC_HS_WAIT;
}

/* One failed first contact is enough for all who waited for it. */
static bool smc_hs_awaited_in_vain(const struct smc_hs *hs)
{
	return hs->watched && smc_lgr_is_down(hs->watched) &&
	       hs->watched->fail_decline != SMC_DECLINE_NONE;
}

/* A group that is being formed gets its first link. */
static enum smc_hs_outcome smc_hs_first_link(struct smc_hs *hs)
{
	hs->lgr->params = hs->params;
	smc_llc_init(hs->lgr);
	hs->link = smc_link_create(hs->lgr, &hs->end);
	if (!IS_ERR(hs->link))
		return SMC_HS_GO_ON;
	hs->link = NULL;
	return smc_hs_to_tcp(hs, SMC_DECLINE_MEM);
}

static enum smc_hs_outcome smc_hs_server_first(struct smc_hs *hs)
{
	enum smc_hs_outcome out = smc_hs_first_link(hs);

	if (out == SMC_HS_GO_ON)
		smc_hs_charge(hs->smc, sizeof(*hs->lgr) + sizeof(*hs->lgr->rtokens) +
			      SMC_HS_LINK_BYTES);
	return out;
}

/* Step 3: the group the server wants this connection in; FC-02, LG-06. */
static enum smc_hs_outcome smc_hs_server_group(struct smc_hs *hs)
{
	struct smc_link_group *lgr, *forming;
	enum smc_hs_outcome out;
	struct smc_lgr_key key;

	/* a RoCE v2 packet has one IP version: follow the client's choice */
	if (smc_ib_end_follow(&hs->end, hs->peer_gid))
		return smc_hs_to_tcp(hs, SMC_DECLINE_NOSMCRDEV);
	smc_hs_key(hs, &key, hs->params.version, hs->proposal.peer_id, hs->peer_gid,
		   hs->proposal.mac);
	for (;;) {
		if (smc_hs_awaited_in_vain(hs))
			return smc_hs_to_tcp(hs, SMC_DECLINE_TIMEOUT_CL);
		lgr = smc_lgr_reserve(&key, &hs->end, &hs->is_first, &forming);
		if (PTR_ERR(lgr) != -EAGAIN)
			break;
		/* the client waits for the Accept just as long: leave it half of that */
		out = smc_hs_await_group(hs, forming, smc_hs_patience(hs) / 2);
		if (out != SMC_HS_GO_ON)
			return out;
	}
	if (IS_ERR(lgr))
		return smc_hs_to_tcp(hs, SMC_DECLINE_MEM);
	hs->lgr = lgr;
	if (hs->is_first)
		return smc_hs_server_first(hs);
	hs->link = smc_lgr_pick_link(lgr);
	return hs->link ? SMC_HS_GO_ON : smc_hs_to_tcp(hs, SMC_DECLINE_NOACTLINK);
}

static enum smc_hs_outcome smc_hs_server_accept(struct smc_hs *hs)
{
	struct smc_nego_rmbe rmbe;
	struct smc_nego_end end = {};
	const struct smc_link *link;

	link = smc_hs_own_data(hs, &end, &rmbe);
	if (!link)
		return smc_hs_to_tcp(hs, SMC_DECLINE_NOACTLINK);
	smc_nego_build_accept(&hs->tx, &end, &rmbe, link->wr.end.mtu, &hs->params,
			      hs->is_first);
	if (hs->pair)
		smc_host_say(hs->pair, SMC_ROLE_SERVER, &hs->tx.accept);
	hs->is_told = true;
	return smc_hs_send(hs);
}

/* Step 8: does the Confirm fit; SC-10, SC-11, ERR-17, AMB-56. */
static enum smc_hs_outcome smc_hs_server_check(struct smc_hs *hs)
{
	struct smc_nego_confirmed decision;
	struct smc_nego_known known;
	struct smc_ib_peer peer;
	struct smc_link *link;

	if (hs->pair && smc_host_check(hs->pair, SMC_ROLE_CLIENT, &hs->rx.accept))
		return smc_hs_forged(hs);
	/*
	 * The client may name any active link of the group, SC-09, also one that has
	 * been lost since: where its data goes is found by that one's keys (ERR-07).
	 */
	smc_hs_peer_end(hs, &hs->rx.accept, &peer);
	link = hs->is_first ? NULL : smc_lgr_link_by_peer(hs->lgr, &peer);
	if (link)
		hs->link = link;
	smc_hs_known(hs, &hs->rx.accept, &known);
	known.has_link = link;
	smc_nego_check_confirm(&hs->rx, &hs->proposal, &hs->params,
			       hs->is_first ? NULL : &known, hs->end.mtu, &decision);
	switch (decision.verdict) {
	case SMC_CONFIRM_OK:
		break;
	case SMC_CONFIRM_DECLINE:
		return smc_hs_to_tcp(hs, decision.decline);
	default:
		smc_stat_inc(hs->net, SMC_STAT_CLC_BAD);
		return smc_hs_fail(hs, -ECONNRESET);
	}
	if (hs->is_first) {
		hs->lgr->params = decision.params;
		/* clients that offer version 2 alone tell it here for the first time */
		memcpy(hs->lgr->peer_name, hs->rx.accept.peer_id, sizeof(hs->lgr->peer_name));
	}
	return SMC_HS_GO_ON;
}

/* Step 9: what the client told goes into the link and the connection. */
static enum smc_hs_outcome smc_hs_take_peer(struct smc_hs *hs)
{
	const struct smc_clc_accept *acc = &hs->rx.accept;
	struct smc_ib_peer peer;

	if (hs->is_first) {
		smc_hs_peer_end(hs, acc, &peer);
		if (smc_link_connect(hs->link, &peer)) {
			hs->is_path_bad = true;
			return smc_hs_to_tcp(hs, SMC_DECLINE_ERR_RDYLNK);
		}
	}
	if (!smc_conn_set_peer(&hs->smc->conn, hs->link, acc))
		return SMC_HS_GO_ON;
	/* past Accept, a server on subsequent contact may not decline, ERR-07 */
	if (hs->is_server && !hs->is_first)
		return smc_hs_fail(hs, -ECONNRESET);
	return smc_hs_to_tcp(hs, SMC_DECLINE_ERR_RTOK);
}

static enum smc_hs_outcome smc_hs_server_agreed(struct smc_hs *hs)
{
	if (smc_tcp_is_agreed(hs->smc))
		return SMC_HS_GO_ON;
	return smc_hs_to_tcp(hs, hs->smc->is_eager_tcp ? hs->smc->fallback :
				 SMC_DECLINE_PEERNOSMC);
}

static enum smc_hs_outcome smc_hs_server_proposal(struct smc_hs *hs)
{
	enum smc_hs_outcome out;

	/* its time began with the connection */
	hs->deadline = hs->smc->hs_deadline;
	hs->has_deadline = true;
	out = smc_hs_recv(hs, SMC_CLC_PROPOSAL);
	if (out != SMC_HS_GO_ON)
		return out;
	hs->proposal = hs->rx.proposal;
	/* what was agreed on first must be declined */
	if (hs->smc->is_eager_tcp)
		return smc_hs_to_tcp(hs, hs->smc->fallback);
	return smc_hs_find_end(hs);
}

/*
 * Does a routed way lead to the client? SMC_HS_TCP: none that is any good. Where there is
 * another one, a neighbour who does not answer is waited for briefly, and once.
 */
static enum smc_hs_outcome smc_hs_server_route(struct smc_hs *hs, const u8 *gid)
{
	unsigned long patience = smc_hs_patience(hs) / 2;
	enum smc_hs_outcome out;
	struct in6_addr peer;

	if (!smc_nego_has_other_way(&hs->proposal, hs->is_near))
		return smc_hs_find_route(hs, &hs->routed, gid, patience);
	smc_peer_addr(hs->smc->tcp->sk, &peer);
	/* once it is being looked for this one goes on, whatever others have found */
	if (!hs->is_routing && smc_peer_recall_routed(hs->net, &peer))
		return smc_hs_to_tcp(hs, SMC_DECLINE_NOROUTE);
	out = smc_hs_find_route(hs, &hs->routed, gid,
				min(patience, msecs_to_jiffies(SMC_ROUTE_NEIGHBOUR_MS)));
	if (hs->is_path_bad)
		smc_peer_remember_routed(hs->net, &peer);
	/* the other one is as good as ever */
	hs->is_path_bad = false;
	return out;
}

/* Which of the client's offers? A routed way counts if it leads to the client. */
static enum smc_hs_outcome smc_hs_server_choose(struct smc_hs *hs)
{
	struct smc_nego_local local;
	struct smc_nego_taken taken;
	enum smc_decline reason;
	enum smc_hs_outcome out;
	const u8 *gid;

	smc_hs_local(hs, &local);
	gid = smc_nego_routed_gid(&hs->proposal, &local);
	if (gid) {
		out = smc_hs_server_route(hs, gid);
		if (out == SMC_HS_WAIT)
			return out;
		local.has_v2 = out == SMC_HS_GO_ON;
	}
	reason = smc_nego_server(&hs->proposal, &local, hs->is_near, &taken);
	if (reason != SMC_DECLINE_NONE)
		return smc_hs_to_tcp(hs, reason);
	hs->params = taken.params;
	memcpy(hs->peer_gid, taken.peer_gid, sizeof(hs->peer_gid));
	if (hs->params.is_routed)
		smc_hs_go_routed(hs);
	else
		memset(&hs->route, 0, sizeof(hs->route));
	return SMC_HS_GO_ON;
}

static enum smc_hs_outcome smc_hs_server_confirm(struct smc_hs *hs)
{
	return smc_hs_recv(hs, SMC_CLC_CONFIRM);
}

static enum smc_hs_outcome smc_hs_server_llc(struct smc_hs *hs)
{
	if (hs->is_first)
		smc_hs_start_llc(hs);
	return SMC_HS_GO_ON;
}

static const smc_hs_step smc_hs_server_steps[] = {
	smc_hs_server_agreed,	/* 1. did both sides offer SMC-R? 3.5.1.1, OPT-10 */
	smc_hs_server_proposal,	/* 2. Proposal, RDMA port ... */
	smc_hs_server_choose,	/*    common subnet, or a route; 3.5.1.2 */
	smc_hs_server_group,	/* 3. a link group, or first contact; 3.5.1.2, 3.5.2.1 */
	smc_hs_get_sndbuf,	/* 4. send ring ... */
	smc_hs_get_rmbe,	/*    and element, ready before the Accept says so, ACPT-04 */
	smc_hs_join,		/* 5. alert token */
	smc_hs_server_accept,	/* 6. Accept */
	smc_hs_server_confirm,	/* 7. Confirm; 3.5.1.3, 3.5.2.3 */
	smc_hs_server_check,	/* 8. does it fit? SC-10, SC-11 */
	smc_hs_take_peer,	/* 9. the client's data; first contact: connect the QP */
	smc_hs_server_llc,	/* 10. first contact: CONFIRM LINK ... */
	smc_hs_first_contact,	/*     and the second link; 3.5.1.5, 3.5.1.6 */
	smc_hs_open,
};

static enum smc_hs_outcome smc_hs_client_propose(struct smc_hs *hs)
{
	struct smc_nego_local local;
	enum smc_decline reason;
	enum smc_hs_outcome out;

	/* or a Decline in its place, ERR-03 */
	hs->may_decline = true;
	out = smc_hs_find_end(hs);
	if (out != SMC_HS_GO_ON)
		return out;
	smc_hs_local(hs, &local);
	reason = smc_nego_propose(&local, &hs->tx);
	if (reason != SMC_DECLINE_NONE)
		return smc_hs_to_tcp(hs, reason);
	hs->proposal = hs->tx.proposal;
	/* before the server can ask for it */
	if (smc_pnet_may_be_local(hs->net))
		hs->pair = smc_host_offer(&hs->name, hs->net, &hs->end, hs->peer_id);
	if (hs->is_local_only && !hs->pair)
		return smc_hs_to_tcp(hs, SMC_DECLINE_MEM);
	return smc_hs_send(hs);
}

/*
 * The peer says that it has lost this group. At the group's own address it is
 * believed; at another one anybody could say so who has heard of the peer's RNIC,
 * and then the links have to tell.
 */
static void smc_hs_end_stale(struct smc_hs *hs, struct smc_link_group *lgr)
{
	struct in6_addr peer;

	smc_peer_addr(hs->smc->tcp->sk, &peer);
	if (ipv6_addr_equal(&peer, &lgr->key.peer_addr))
		smc_lgr_terminate(lgr);
	else
		smc_llc_doubt(lgr);
}

/* AMB-06: the server has lost the link that its Accept names anew. */
static void smc_hs_client_end_stale(struct smc_hs *hs, const struct smc_lgr_key *key,
				    const struct smc_ib_peer *peer)
{
	struct smc_link_group *lgr = smc_lgr_find_link(key, peer);

	if (!lgr)
		return;
	smc_hs_end_stale(hs, lgr);
	smc_lgr_put(lgr);
}

static enum smc_hs_outcome smc_hs_client_form(struct smc_hs *hs, const struct smc_lgr_key *key)
{
	struct smc_link_group *lgr = smc_lgr_form(key);

	if (IS_ERR(lgr))
		return smc_hs_to_tcp(hs, SMC_DECLINE_MEM);
	hs->lgr = lgr;
	hs->is_first = true;
	return smc_hs_first_link(hs);
}

/*
 * The group that has the link named; hs->lgr stays NULL if there is none.
 * Accepts may overtake each other: the group may still be forming.
 */
static enum smc_hs_outcome smc_hs_client_reserve(struct smc_hs *hs,
						 const struct smc_lgr_key *key,
						 const struct smc_ib_peer *peer)
{
	struct smc_link_group *lgr, *forming;
	enum smc_hs_outcome out;

	for (;;) {
		lgr = smc_lgr_reserve_link(key, peer, &hs->link, &forming);
		if (PTR_ERR(lgr) != -EAGAIN)
			break;
		out = smc_hs_await_group(hs, forming, smc_hs_patience(hs));
		if (out != SMC_HS_GO_ON)
			return out;
	}
	if (!IS_ERR(lgr))
		hs->lgr = lgr;
	hs->is_link_gone = PTR_ERR(lgr) == -ESTALE;
	return SMC_HS_GO_ON;
}

/* First contact, which is not begun before this is done: the way to the server. */
static enum smc_hs_outcome smc_hs_client_route(struct smc_hs *hs, const u8 *gid)
{
	enum smc_decline reason;
	enum smc_hs_outcome out;

	if (!hs->params.is_routed)
		return SMC_HS_GO_ON;
	smc_hs_go_routed(hs);
	out = smc_hs_find_route(hs, &hs->end, gid, smc_hs_patience(hs) / 2);
	if (out != SMC_HS_GO_ON)
		return out;
	reason = smc_nego_check_route(&hs->params, hs->route.is_direct);
	return reason == SMC_DECLINE_NONE ? SMC_HS_GO_ON : smc_hs_to_tcp(hs, reason);
}

/* Step 4: first or subsequent contact; FC-06, SC-05, ERR-13. */
static enum smc_hs_outcome smc_hs_client_group(struct smc_hs *hs)
{
	const struct smc_clc_accept *acc = &hs->rx.accept;
	struct smc_nego_accepted decision;
	struct smc_nego_known known;
	enum smc_hs_outcome out;
	struct smc_lgr_key key;
	struct smc_ib_peer peer;

	smc_hs_key(hs, &key, hs->rx.version, acc->peer_id, acc->gid, acc->mac);
	smc_hs_peer_end(hs, acc, &peer);
	if (!acc->first_contact) {
		out = smc_hs_client_reserve(hs, &key, &peer);
		if (out != SMC_HS_GO_ON)
			return out;
	}
	smc_hs_known(hs, acc, &known);
	smc_nego_classify_accept(&hs->rx, &hs->proposal, &known, hs->end.mtu, &decision);
	hs->params = decision.params;
	switch (decision.contact) {
	case SMC_CONTACT_SUBSEQUENT:
		return SMC_HS_GO_ON;
	case SMC_CONTACT_FIRST:
	case SMC_CONTACT_FIRST_STALE:
		out = smc_hs_client_route(hs, acc->gid);
		if (out != SMC_HS_GO_ON)
			return out;
		smc_hs_client_end_stale(hs, &key, &peer);
		return smc_hs_client_form(hs, &key);
	default:
		hs->out_of_sync = decision.out_of_sync;
		return smc_hs_to_tcp(hs, decision.decline);
	}
}

static enum smc_hs_outcome smc_hs_client_confirm(struct smc_hs *hs)
{
	struct smc_nego_rmbe rmbe;
	struct smc_nego_end end = {};
	const struct smc_link *link;
	u8 mtu;

	link = smc_hs_own_data(hs, &end, &rmbe);
	if (!link)
		return smc_hs_to_tcp(hs, SMC_DECLINE_NOACTLINK);
	/* LLC may be faster than the Confirm */
	if (hs->is_first)
		smc_hs_start_llc(hs);
	mtu = link->wr.end.mtu;
	if (hs->is_first)
		mtu = min_t(u8, mtu, link->peer.mtu);
	smc_nego_build_confirm(&hs->tx, &end, &rmbe, mtu, &hs->params, hs->is_first);
	if (hs->pair)
		smc_host_say(hs->pair, SMC_ROLE_CLIENT, &hs->tx.accept);
	hs->is_told = true;
	return smc_hs_send(hs);
}

/*
 * Has a server of this host found us, and is this its Accept? Otherwise it is
 * another host, which has no use for a port that only serves this one.
 */
static enum smc_hs_outcome smc_hs_client_meet(struct smc_hs *hs)
{
	int rc = smc_host_check(hs->pair, SMC_ROLE_SERVER, &hs->rx.accept);

	if (!rc) {
		hs->peer_net = smc_host_net(hs->pair, SMC_ROLE_SERVER);
		return SMC_HS_GO_ON;
	}
	if (rc == -EBADMSG)
		return smc_hs_forged(hs);
	if (hs->is_local_only)
		return smc_hs_to_tcp(hs, SMC_DECLINE_DIFFPREFIX);
	smc_hs_leave_pair(hs);
	return SMC_HS_GO_ON;
}

static enum smc_hs_outcome smc_hs_client_accept(struct smc_hs *hs)
{
	enum smc_hs_outcome out = smc_hs_recv(hs, SMC_CLC_ACCEPT);

	if (out != SMC_HS_GO_ON || !hs->pair)
		return out;
	return smc_hs_client_meet(hs);
}

/* Step 1 is smc_hs_client_agreed(). */
static const smc_hs_step smc_hs_client_steps[] = {
	smc_hs_client_propose,	/* 2. RDMA port, Proposal; 3.5.1.2 */
	smc_hs_client_accept,	/* 3. Accept; 3.5.1.3 */
	smc_hs_client_group,	/* 4. the link group it names, or a new one */
	smc_hs_get_sndbuf,	/* 5. send ring ... */
	smc_hs_get_rmbe,	/*    element (SC-08) ... */
	smc_hs_join,		/*    and alert token */
	smc_hs_take_peer,	/* 6. the server's data; first contact: QP to RTR */
	smc_hs_client_confirm,	/* 7. Confirm, before any data; CFRM-03, RACE-02 */
	smc_hs_first_contact,	/* 8. CONFIRM LINK and what follows; 3.5.1.5 */
	smc_hs_open,
};

/* The peer's Decline says that its view of the group differs, AMB-33, DCLN-04. */
static bool smc_hs_is_out_of_sync(const struct smc_hs *hs)
{
	return hs->rx.type == SMC_CLC_DECLINE && hs->rx.decline.out_of_sync;
}

/* Give back what an unsuccessful handshake has taken. */
static void smc_hs_cleanup(struct smc_hs *hs, enum smc_hs_outcome out)
{
	struct smc_conn *conn = &hs->smc->conn;
	struct smc_link_group *lgr = hs->lgr;

	/* the pair borrows the end */
	smc_hs_leave_pair(hs);
	if (hs->has_end)
		smc_ib_end_put(&hs->end);
	smc_ib_end_put(&hs->routed);
	if (!lgr || out == SMC_HS_SMC)
		return;
	if (hs->is_first)
		smc_lgr_fail(lgr, hs->reason);
	else if (smc_hs_is_out_of_sync(hs))
		smc_hs_end_stale(hs, lgr);
	if (hs->is_joined) {
		/* who declines does not write */
		smc_close_leave(hs->smc, !hs->is_told || out == SMC_HS_TCP);
		return;
	}
	if (conn->rmbe.buf)
		smc_buf_put(&lgr->rmbs, &conn->rmbe);
	if (conn->sndbuf.buf)
		smc_buf_put(&lgr->sends, &conn->sndbuf);
	smc_lgr_get(lgr);
	if (smc_lgr_unreserve(lgr))
		smc_llc_arm_idle(lgr);
	smc_llc_trim(lgr);
	smc_lgr_put(lgr);
}

static void smc_hs_finish_failed(struct smc_sock *smc, int err)
{
	const struct smc_close_facts none = {};

	/* there was never a connection, so of its actions none is due */
	smc_state_close(&smc->close, SMC_CLOSE_LOCAL_ABORT, &none);
	smc->sk.sk_state = smc->close.state;
	smc->sk.sk_shutdown = SHUTDOWN_MASK;
	smc_tcp_reset(smc);
	smc_sock_set_err(smc, err);
}

static void smc_hs_finish_smc(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	sk->sk_sndbuf = 2 * smc->conn.sndbuf.size;
	sk->sk_rcvbuf = 2 * smc->conn.rmbe.size;
	smc_tcp_watch(smc, SMC_TCP_CARRIER);
	smc_close_establish(smc);
	/* what happened on TCP before the watch was set */
	if (smc->tcp->sk->sk_state == TCP_CLOSE)
		smc_sock_pend(smc, SMC_PENDING_RESET);
	else if (smc_tcp_has_payload(smc))
		smc_sock_pend(smc, SMC_PENDING_FAULT);
}

static void smc_hs_finish_tcp(struct smc_sock *smc, enum smc_decline reason)
{
	smc->fallback = reason;
	smc_fallback_graft(smc, smc->sk.sk_socket);
	/* not earlier: poll() must not see a socket that is nothing yet */
	smp_store_release(&smc->is_connecting, false);
}

/* close() came before the outcome. */
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

static void smc_hs_free(struct smc_hs *hs)
{
	struct smc_sock *smc = hs->smc;

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

static void smc_hs_arm_timer(struct smc_hs *hs)
{
	long left = hs->deadline - jiffies;

	if (!hs->has_deadline)
		return;
	/* an acknowledgment is no news of TCP's, and a sockmap keeps news to itself */
	if (hs->is_parting || hs->is_routing || hs->smc->is_eager_tcp ||
	    READ_ONCE(hs->smc->tcp->sk->sk_rcvlowat) > 1)
		left = min_t(long, left, SMC_HS_SLICE);
	smc_sock_queue_delayed(hs->smc, &hs->smc->hs_timer, max(left, 0L));
}

static void smc_hs_finish(struct smc_hs *hs)
{
	if (hs->is_server)
		smc_hs_finish_server(hs);
	else
		smc_hs_finish_client(hs);
}

static void smc_hs_end(struct smc_hs *hs, enum smc_hs_outcome out)
{
	struct smc_sock *smc = hs->smc;

	smc_hs_unwatch(hs);
	if (cancel_delayed_work(&smc->hs_timer))
		sock_put(&smc->sk);
	if (out == SMC_HS_TCP) {
		hs->err = smc_hs_say_decline(hs);
		if (hs->err)
			out = SMC_HS_FAILED;
	}
	hs->outcome = out;
	trace_smc_handshake(smc, hs->is_server, out, hs->reason, hs->err);
	smc_hs_cleanup(hs, out);
	/* pairs with the lock under which smc_renew_take_handshake() looks */
	WRITE_ONCE(smc->has_outcome, true);
	smc_hs_finish(hs);
}

/*
 * The application wants no outcome any more. What grow_work does for it ends
 * first, and is told.
 */
static void smc_hs_abort(struct smc_hs *hs)
{
	/* pairs with smp_store_release() in smc_hs_grow_work() */
	if (smp_load_acquire(&hs->growth) == SMC_HS_GROW_BEGUN)
		return;
	hs->err = -ECONNRESET;
	smc_hs_end(hs, SMC_HS_FAILED);
}

/* Go as far as there is something to do. */
static void smc_hs_run(struct smc_hs *hs)
{
	enum smc_hs_outcome out;

	while ((out = (*hs->step)(hs)) == SMC_HS_GO_ON) {
		smc_hs_unwatch(hs);
		hs->has_deadline = false;
		hs->step++;
	}
	if (out == SMC_HS_WAIT)
		smc_hs_arm_timer(hs);
	else
		smc_hs_end(hs, out);
}

static void smc_hs_start(struct smc_sock *smc, bool is_server)
{
	struct smc_hs *hs;

	/* small, and without it the connection could not even be refused */
	hs = kzalloc(sizeof(*hs), GFP_KERNEL | __GFP_NOFAIL);
	hs->smc = smc;
	hs->net = sock_net(&smc->sk);
	hs->is_server = is_server;
	hs->step = is_server ? smc_hs_server_steps : smc_hs_client_steps;
	smc_host_name(smc->tcp->sk, smc_hs_role(hs), &hs->name);
	sock_hold(&smc->sk);
	smc->hs = hs;
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
	    (!smc_tcp_is_connected(smc) || smc_tcp_is_agreed(smc)))
		return smc_hs_ask_tcp(smc);
	if (smc->is_eager_tcp)
		reason = smc->fallback;
	trace_smc_handshake(smc, false, SMC_HS_TCP, reason, 0);
	smc_hs_finish_tcp(smc, reason);
	return -EISCONN;
}

/* How a client's worker begins: 0 if it is to go on. */
static int smc_hs_client_begin(struct smc_sock *smc)
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
 * for it. The caller looks at @smc->is_grafted afterwards.
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

/**
 * smc_hs_pause() - keep the work item off the inner socket of a handshake
 * @smc: the socket
 *
 * For a call in which TCP copies from or to the application with the inner socket's lock
 * held: a step of the handshake takes that lock as it comes, and would wait for as long
 * as the owner of the page likes.
 *
 * Context: Process context, sleeps as long as a step takes, which waits for no peer.
 * Expects the socket lock held. smc_hs_resume() ends it.
 */
void smc_hs_pause(struct smc_sock *smc)
{
	if (!smc->is_connecting)
		return;
	WRITE_ONCE(smc->is_paused, true);
	/* one that did not see that; it does not wait for the socket lock */
	flush_work(&smc->hs_work);
}

/**
 * smc_hs_resume() - undo smc_hs_pause()
 * @smc: the socket
 *
 * What the work item has missed follows when the socket lock is released.
 *
 * Context: Process context. Expects the socket lock held since smc_hs_pause().
 */
void smc_hs_resume(struct smc_sock *smc)
{
	WRITE_ONCE(smc->is_paused, false);
}

/**
 * smc_hs_work() - go on with the handshake of a socket
 * @work: &smc_sock.hs_work; drops the reference taken when it was queued
 *
 * Queued by late news, it finds nothing to do.
 *
 * Context: Process context (work item). Takes the socket lock, but does not wait for
 * it.
 */
void smc_hs_work(struct work_struct *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, hs_work);

	if (smc_sock_is_paused(smc))
		goto out;
	if (smc->is_child && !smc->is_hs_begun) {
		smc->is_hs_begun = true;
		smc_hs_start(smc, true);
	} else if (!smc->is_child && !smc->hs && !smc_hs_client_begin(smc)) {
		smc_hs_start(smc, false);
	}
	if (smc->has_outcome)
		smc_hs_finish(smc->hs);
	else if (smc->hs && READ_ONCE(smc->is_abandoned))
		smc_hs_abort(smc->hs);
	else if (smc->hs)
		smc_hs_run(smc->hs);
	else if (smc->is_deferred)
		smc_child_look(smc);
out:
	sock_put(&smc->sk);
}

/**
 * smc_hs_timer() - a step has waited long enough (ERR-14)
 * @work: &smc_sock.hs_timer; drops the reference taken when it was queued
 *
 * Context: Process context (work item).
 */
void smc_hs_timer(struct work_struct *work)
{
	struct smc_sock *smc = container_of(to_delayed_work(work), struct smc_sock, hs_timer);

	smc_sock_queue(smc, &smc->hs_work);
	sock_put(&smc->sk);
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
 * smc_hs_begin_server() - a child was taken off the TCP accept queue
 * @listener: its listening socket
 * @child: new, with its inner socket; the caller's reference is consumed
 *
 * Context: Process context, may sleep.
 */
void smc_hs_begin_server(struct smc_sock *listener, struct smc_sock *child)
{
	struct net *net = sock_net(&child->sk);
	unsigned long timeout = msecs_to_jiffies(READ_ONCE(smc_net(net)->set.clc_timeout_ms));

	child->is_child = true;
	smc_child_prepare(listener, child);
	child->hs_deadline = jiffies + timeout;
	if (!smc_sock_add_handshake(listener, child)) {
		smc_child_drop(child);
		return;
	}
	sock_hold(&child->sk);
	smc_hs_charge(child, SMC_HS_CHILD_BYTES);
	/* armed first: the worker, which may run as soon as we watch, cancels it */
	smc_sock_queue_delayed(child, &child->hs_timer, timeout);
	if (!smc_tcp_watch(child, SMC_TCP_HANDSHAKE)) {
		child->is_eager_tcp = true;
		child->fallback = SMC_DECLINE_OPTUNSUPP;
	}
	/* without the option there is nothing to wait for */
	if (!smc_tcp_is_agreed(child) || child->is_eager_tcp ||
	    smc_hs_tcp_has_news(child->tcp->sk))
		smc_sock_queue(child, &child->hs_work);
	sock_put(&child->sk);
}

/**
 * smc_hs_drop_handshakes() - end the handshakes of a listener that closes
 * @listener: the socket, no longer listening
 *
 * Each child's worker finds itself unlisted and closes the child.
 *
 * Context: Process context, may sleep.
 */
void smc_hs_drop_handshakes(struct smc_sock *listener)
{
	struct smc_sock *child;

	while ((child = smc_sock_next_handshake(listener))) {
		smc_hs_abandon(child);
		sock_put(&child->sk);
	}
}
