// SPDX-License-Identifier: GPL-2.0
/*
 * The rendezvous, RFC 7609 section 3.5.1 and 3.5.2.
 *
 * Operation: smc_hs_server_steps and smc_hs_client_steps are the RFC's steps in
 * order. A step that cannot go on yet asks for what it waits for (bytes on
 * TCP, news of a link group, the passing of time; smc_hs_wait.c) and ends with
 * SMC_HS_WAIT; the handshake's work item is queued by any of those and runs the same
 * step once more. So waiting occupies no worker, and a peer that falls silent at
 * whichever step delays nobody else.
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
 */
#include <linux/utsname.h>
#include <net/tcp.h>

#include "smc_child.h"
#include "smc_close.h"
#include "smc_hs.h"
#include "smc_hs_connect.h"
#include "smc_hs_first.h"
#include "smc_hs_msg.h"
#include "smc_hs_outcome.h"
#include "smc_hs_ring.h"
#include "smc_hs_wait.h"
#include "smc_hs_way.h"
#include "smc_life.h"
#include "smc_link.h"
#include "smc_llc.h"
#include "smc_llc_sweep.h"
#include "smc_member.h"
#include "smc_net.h"
#include "smc_peer.h"
#include "smc_pnet.h"
#include "smc_service.h"
#include "smc_tcp.h"
#include "smc_trace.h"
#include "smc_tx.h"

/* What a child costs besides rings and links. */
#define SMC_HS_CHILD_BYTES	(sizeof(struct smc_sock) + sizeof(struct smc_conn) +	\
				 sizeof(struct tcp6_sock) + sizeof(struct socket_alloc) + \
				 sizeof(struct smc_child) + sizeof(struct smc_hs))
/* What the first link of a group costs: queues, receives, tables; on soft-RoCE. */
#define SMC_HS_LINK_BYTES	(128UL << 10)

typedef enum smc_hs_outcome (*smc_hs_step)(struct smc_hs *hs);

/* Between the two ends on this host somebody has changed a message, SEC-08. */
static enum smc_hs_outcome smc_hs_forged(struct smc_hs *hs)
{
	smc_stat_inc(hs->net, SMC_STAT_CLC_BAD);
	return smc_hs_fail(hs, -ECONNRESET);
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

/* From here on completion handlers know the connection by its token. */
static enum smc_hs_outcome smc_hs_join(struct smc_hs *hs)
{
	struct smc_link *link = hs->link;
	int rc;

	/* others have come while areas were waited for: the choice is made now, LB-03 */
	if (hs->is_server && !hs->is_first)
		link = NULL;
	rc = smc_conn_join(hs->smc->conn, hs->lgr, link);
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
	const struct smc_conn *conn = hs->smc->conn;

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
	link = smc_conn_told_link(hs->smc->conn);
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
	/* zeros where no route was looked for: packets go to peer->mac and stay in the subnet */
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

/* Data may flow. */
static enum smc_hs_outcome smc_hs_open(struct smc_hs *hs)
{
	smc_conn_open(hs->smc->conn);
	/* the peer's first message may have asked for an answer before */
	smc_tx_push(hs->smc->conn);
	return SMC_HS_SMC;
}

/*
 * Another handshake's first contact decides where this connection belongs.
 * SMC_HS_GO_ON: it has been settled, look again.
 */
static enum smc_hs_outcome smc_hs_await_group(struct smc_hs *hs, struct smc_link_group *lgr,
					      unsigned long patience)
{
	smc_hs_watch(hs, lgr);
	smc_lgr_put(lgr);
	if (READ_ONCE(lgr->state) != SMC_LGR_FORMING)
		return SMC_HS_GO_ON;
	if (smc_hs_is_left(hs->smc->tcp->sk))
		return smc_hs_fail(hs, -ECONNRESET);
	if (smc_hs_is_late(hs, patience))
		return smc_hs_to_tcp(hs, SMC_DECLINE_TIMEOUT_CL);
	return SMC_HS_WAIT;
}

/* One failed first contact is enough for all who waited for it. */
static bool smc_hs_awaited_in_vain(const struct smc_hs *hs)
{
	const struct smc_link_group *lgr = hs->watched;

	return lgr && smc_lgr_is_down(lgr) &&
	       (lgr->fail_decline != SMC_DECLINE_NONE || lgr->fail_is_path);
}

static enum smc_hs_outcome smc_hs_server_first(struct smc_hs *hs)
{
	enum smc_hs_outcome out = smc_hs_first_link(hs);

	if (out == SMC_HS_GO_ON)
		smc_child_charge(hs->smc, sizeof(*hs->lgr) + sizeof(*hs->lgr->rtokens) +
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
	if (!smc_conn_set_peer(hs->smc->conn, hs->link, acc))
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

	/* the deadline was set when the connection came */
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
	/* that of a way which is not taken */
	hs->reason = SMC_DECLINE_NONE;
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

/* On this host: connect() ends first, as with TCP. Not if somebody stops it. */
static enum smc_hs_outcome smc_hs_server_last(struct smc_hs *hs)
{
	if (hs->pair && smc_hs_watch_client(hs) && !smc_hs_is_late(hs, smc_hs_patience(hs) / 2))
		return SMC_HS_WAIT;
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
	smc_hs_server_last,	/*     the client on this host is through */
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

/* Step 1 is smc_hs_client_agreed(), smc_hs_connect.c. */
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
	struct smc_conn *conn = hs->smc->conn;
	struct smc_link_group *lgr = hs->lgr;

	/* the pair borrows the end */
	if (hs->pair && !hs->is_server)
		smc_host_withdraw(hs->pair);
	if (hs->has_end)
		smc_ib_end_put(&hs->end);
	smc_ib_end_put(&hs->routed);
	if (!lgr || out == SMC_HS_SMC)
		return;
	/* others may use it by now, and then nothing happens to it */
	if (hs->is_first)
		smc_lgr_fail(lgr, out == SMC_HS_TCP ? hs->reason : SMC_DECLINE_NONE);
	else if (smc_hs_is_out_of_sync(hs))
		smc_hs_end_stale(hs, lgr);
	if (hs->is_joined) {
		/* who declines does not write */
		smc_close_leave(hs->smc, !hs->is_told || out == SMC_HS_TCP);
		smc_conn_forget_unread(conn);
		smc_sock_drop_conn(hs->smc);
		return;
	}
	if (conn) {
		if (conn->rmbe.buf)
			smc_buf_put(&lgr->rmbs, &conn->rmbe);
		if (conn->sndbuf.buf)
			smc_buf_put(&lgr->sends, &conn->sndbuf);
		smc_conn_put(conn);
		smc_sock_drop_conn(hs->smc);
	}
	smc_lgr_get(lgr);
	if (smc_lgr_unreserve(lgr))
		smc_llc_arm_idle(lgr);
	smc_llc_trim(lgr);
	smc_lgr_put(lgr);
}

/* Whether the next connection to this service should be tried. */
static void smc_hs_note_service(struct smc_hs *hs, enum smc_hs_outcome out)
{
	const struct smc_sock *smc = hs->smc;
	const struct sockaddr *addr = (const struct sockaddr *)&smc->addr;

	if (hs->is_server)
		return;
	if (out == SMC_HS_SMC)
		smc_service_agreed(smc->tcp->sk, addr);
	else if (out == SMC_HS_TCP)
		smc_service_declined(smc->tcp->sk, addr, hs->reason, smc->peer_diagnosis);
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
	smc_hs_note_service(hs, out);
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
	const smc_hs_step *steps = hs->is_server ? smc_hs_server_steps : smc_hs_client_steps;
	enum smc_hs_outcome out;

	while ((out = (*steps[hs->step])(hs)) == SMC_HS_GO_ON) {
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
	smc_host_name(smc->tcp->sk, smc_hs_role(hs), &hs->name);
	sock_hold(&smc->sk);
	smc->hs = hs;
}

/**
 * smc_hs_begin_server() - a child was taken off the TCP accept queue
 * @smc: the child, with its inner socket and &smc_sock.child
 *
 * The time for the Proposal begins here.
 *
 * Context: Process context, may sleep. Expects the socket lock of the listener held. Takes
 * that of @smc and those of other children.
 */
void smc_hs_begin_server(struct smc_sock *smc)
{
	unsigned long patience;

	sock_hold(&smc->sk);
	smc_hs_start(smc, true);
	patience = smc_hs_patience(smc->hs);
	smc->hs->deadline = jiffies + patience;
	smc_child_charge(smc, SMC_HS_CHILD_BYTES);
	/* for so long it cannot end, and with it the inner socket */
	lock_sock_nested(&smc->sk, SINGLE_DEPTH_NESTING);
	/* armed first: the worker, which may run as soon as we watch, cancels it */
	smc_sock_queue_delayed(smc, &smc->hs_timer, patience);
	if (!smc_tcp_watch(smc, SMC_TCP_HANDSHAKE)) {
		smc->is_eager_tcp = true;
		smc->fallback = SMC_DECLINE_OPTUNSUPP;
	}
	/* without the option there is nothing to wait for */
	if (!smc_tcp_is_agreed(smc) || smc->is_eager_tcp || smc_hs_tcp_has_news(smc->tcp->sk))
		smc_sock_queue(smc, &smc->hs_work);
	release_sock(&smc->sk);
	sock_put(&smc->sk);
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
	if (!smc->hs && READ_ONCE(smc->is_connecting) && !smc_hs_connect_step(smc))
		smc_hs_start(smc, false);
	if (smc->has_outcome)
		smc_hs_finish(smc->hs);
	else if (smc->hs && READ_ONCE(smc->is_abandoned))
		smc_hs_abort(smc->hs);
	else if (smc->hs)
		smc_hs_run(smc->hs);
	else if (smc->child)
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
