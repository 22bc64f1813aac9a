// SPDX-License-Identifier: GPL-2.0
/*
 * By which RDMA port, and over which route, a connection could go.
 */
#include "smc_eid.h"
#include "smc_hs_wait.h"
#include "smc_hs_way.h"
#include "smc_net.h"
#include "smc_peer.h"
#include "smc_pnet.h"

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

/**
 * smc_hs_leave_pair() - this handshake and the other end of it go separate ways
 * @hs: the handshake, which may have no pair, or its outcome is told
 *
 * Context: Process context.
 */
void smc_hs_leave_pair(struct smc_hs *hs)
{
	if (hs->pair)
		smc_host_leave(hs->pair, smc_hs_role(hs));
	hs->pair = NULL;
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

/**
 * smc_hs_find_end() - which RDMA port, and may this connection use RDMA at all?
 * @hs: the handshake; of a server with the Proposal. Receives @hs->end, or a pair with
 *	the other end on this host, and @hs->routed if a way may cross subnets
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON or SMC_HS_TCP.
 */
enum smc_hs_outcome smc_hs_find_end(struct smc_hs *hs)
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

/**
 * smc_hs_local() - what this side has to offer
 * @hs: the handshake, after smc_hs_find_end()
 * @local: receives it
 *
 * Context: Process context.
 */
void smc_hs_local(struct smc_hs *hs, struct smc_nego_local *local)
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

/**
 * smc_hs_go_routed() - from here on the connection belongs to the port of the routed way
 * @hs: the handshake; nothing happens if it does already
 *
 * Context: Process context.
 */
void smc_hs_go_routed(struct smc_hs *hs)
{
	if (!hs->routed.dev)
		return;
	smc_ib_end_put(&hs->end);
	hs->end = hs->routed;
	hs->routed.dev = NULL;
}

/**
 * smc_hs_find_route() - the way to a GID of the peer's
 * @hs: the handshake; @hs->route receives it
 * @end: our port
 * @gid: the peer's
 * @patience: how long to wait for the next hop, in jiffies
 *
 * That may have to be asked for; the peer waits for a message meanwhile, so not for long.
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON; SMC_HS_WAIT; SMC_HS_TCP if there is none.
 */
enum smc_hs_outcome smc_hs_find_route(struct smc_hs *hs, const struct smc_ib_end *end,
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
