// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA port of a connection, and its route.
 *
 * A routed path is a candidate if a route leads to the peer. No event reports that the next
 * hop's MAC address was resolved, and the peer waits meanwhile, so time limits are short.
 */
#include "rdma/smc_eid.h"
#include "rdma/smc_net.h"
#include "group/smc_peer.h"
#include "sock/smc_hs_path.h"
#include "sock/smc_path.h"

/*
 * True if the next first contact may find a path by RoCE v2: this one was of version 1, where RoCE
 * v1 goes first. A server without RoCE v1 may have a client that has it, and changes; a client
 * without it would only try the same again.
 */
static bool smc_hs_may_try_v2(const struct smc_hs *hs)
{
	return !hs->params.is_routed &&
	       READ_ONCE(smc_net(hs->net)->set.roce) == SMC_GID_V1_FIRST &&
	       (hs->role == SMC_ROLE_SERVER || !hs->end.is_v2);
}

/**
 * smc_hs_note_path() - cache a path that failed first contact
 * @hs: the handshake
 * @reason: the reason of the fallback of later connections; SMC_DECLINE_NONE if it was too late for
 *	a Decline: the first messages had arrived, so the version of RoCE was not the cause
 *
 * Later connections use TCP at once, or RoCE v2 if this one may have failed by RoCE v1.
 *
 * Context: The handshake's work item.
 */
void smc_hs_note_path(const struct smc_hs *hs, enum smc_decline reason)
{
	struct in6_addr peer;

	smc_path_peer_addr(hs->smc->sk, &peer);
	if (reason != SMC_DECLINE_NONE && smc_hs_may_try_v2(hs) &&
	    smc_peer_try_v2(hs->net, &peer))
		return;
	smc_peer_failed(hs->net, SMC_PEER_FIRST_CONTACT, &peer, 0,
			reason ?: SMC_DECLINE_TIMEOUT_CL, 0);
}

/**
 * smc_hs_put_port() - undo: put the ports
 * @hs: the handshake, which may have no port
 *
 * Context: Process context.
 */
void smc_hs_put_port(struct smc_hs *hs)
{
	smc_ib_end_put(&hs->end);
	smc_ib_end_put(&hs->routed);
}

/*
 * True if the default EID counts for a connection. @is_near: the peer is in a subnet of this host,
 * as far as this side knows. Without an EID of the operator, hosts in one subnet so use RoCE v2,
 * which adapters and networks handle better than the RoCE v1 of version 1. Through routers it would
 * be a guess: where they drop RDMA packets, first contact costs seconds.
 */
static bool hs_has_default_eid(const struct net *net, bool is_near)
{
	const struct smc_settings *set = &smc_net(net)->set;

	switch (READ_ONCE(set->default_eid)) {
	case SMC_EID_DEFAULT_ALWAYS:
		return true;
	case SMC_EID_DEFAULT_NEAR:
		return is_near && smc_nego_suits_v2(READ_ONCE(set->dialect),
						    READ_ONCE(set->max_links),
						    READ_ONCE(set->max_conns_per_lgr));
	default:
		return false;
	}
}

/* True if the path is known and has a gateway, and the EID is the default one for subnets only. */
static bool smc_hs_is_too_far(const struct smc_hs *hs, const u8 eid[SMC_EID_LEN])
{
	return hs->route.hop_limit && !hs->route.is_direct &&
	       READ_ONCE(smc_net(hs->net)->set.default_eid) == SMC_EID_DEFAULT_NEAR &&
	       !memcmp(eid, SMC_EID_DEFAULT, SMC_EID_LEN) && !smc_eid_is_added(eid);
}

static bool smc_hs_uses_default_eid(const struct smc_hs *hs)
{
	return hs_has_default_eid(hs->net, hs->is_near) &&
	       !smc_hs_is_too_far(hs, SMC_EID_DEFAULT);
}

/* Find the port for a path that may cross subnets, if this host has an EID. */
static void smc_hs_find_routed(struct smc_hs *hs, const u8 *peer_gid)
{
	if (!smc_eid_any(smc_hs_uses_default_eid(hs)) ||
	    !smc_path_find_routed(hs->smc->sk, peer_gid, &hs->end, &hs->routed))
		hs->routed.dev = NULL;
}

static enum smc_decline smc_hs_server_port(struct smc_hs *hs)
{
	enum smc_decline reason;

	reason = smc_path_find_server(hs->smc->sk, &hs->proposal, &hs->end, &hs->is_near);
	if (reason == SMC_DECLINE_NONE && hs->proposal.offers_v2)
		smc_hs_find_routed(hs, hs->proposal.v2.gid);
	return reason;
}

/* The port of the route, else one for routed paths. */
static enum smc_decline smc_hs_client_port(struct smc_hs *hs, struct smc_nego_subnets *subnets)
{
	struct sock *tsk = hs->smc->sk;
	enum smc_decline reason;

	reason = smc_path_find(tsk, &hs->end, subnets);
	hs->is_near = reason == SMC_DECLINE_NONE && smc_path_is_direct(tsk);
	smc_hs_find_routed(hs, NULL);
	if (reason != SMC_DECLINE_CNFERR || !hs->routed.dev)
		return reason;
	smc_ib_end_copy(&hs->end, &hs->routed);
	return SMC_DECLINE_NONE;
}

/**
 * smc_hs_find_port() - find the RDMA port, if this connection may use RDMA at all
 * @hs: the handshake; on a server with the Proposal. Receives @hs->end, @hs->routed if a
 *	path may cross subnets
 * @subnets: receives the subnets that a client proposes; NULL on a server
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON or SMC_HS_DECLINE.
 */
enum smc_hs_outcome smc_hs_find_port(struct smc_hs *hs, struct smc_nego_subnets *subnets)
{
	struct sock *tsk = hs->smc->sk;
	struct smc_peer_entry entry;
	enum smc_decline reason;
	struct in6_addr peer;

	if (smc_path_needs_ipsec(tsk))
		return smc_hs_decline(hs, SMC_DECLINE_IPSEC);
	smc_path_peer_addr(tsk, &peer);
	reason = smc_peer_recall(hs->net, subnets ? SMC_PEER_HAS_WORKED : SMC_PEER_FIRST_CONTACT,
				 &peer, 0, &entry);
	if (reason != SMC_DECLINE_NONE)
		hs->smc->memory_age_ms = entry.age_ms;
	else
		reason = subnets ? smc_hs_client_port(hs, subnets) : smc_hs_server_port(hs);
	if (reason != SMC_DECLINE_NONE)
		return smc_hs_decline(hs, reason);
	smc_path_local_id(hs->net, &hs->end, hs->peer_id);
	return SMC_HS_GO_ON;
}

/**
 * smc_hs_local() - collect the data that this side may offer
 * @hs: the handshake, with its ports
 * @local: receives it, without subnets
 *
 * Context: Process context.
 */
void smc_hs_local(struct smc_hs *hs, struct smc_nego_local *local)
{
	const struct smc_settings *set = &smc_net(hs->net)->set;
	struct smc_clc_v2_offer *v2 = &local->v2;

	memset(local, 0, sizeof(*local));
	memcpy(local->peer_id, hs->peer_id, sizeof(local->peer_id));
	memcpy(local->gid, hs->end.gid.raw, sizeof(local->gid));
	memcpy(local->mac, hs->end.mac, sizeof(local->mac));
	local->has_v2 = hs->routed.dev;
	if (!local->has_v2)
		return;
	memcpy(v2->gid, hs->routed.gid.raw, sizeof(v2->gid));
	v2->release = SMC_NEGO_RELEASE;
	v2->max_conns = max(READ_ONCE(set->max_conns_per_lgr), SMC_NEGO_V21_MIN_CONNS);
	/* with one link, first contact does not wait for a second */
	v2->max_links = min(READ_ONCE(set->max_links), SMC_NEGO_V21_MAX_LINKS);
	v2->nr_eids = smc_eid_list(smc_hs_uses_default_eid(hs), v2->eid);
}

/**
 * smc_hs_build_proposal() - find the ports of a client and build its Proposal
 * @hs: the handshake; receives @hs->end and @hs->routed
 * @msg: filled on success
 *
 * Context: Process context, may sleep.
 * Return: SMC_HS_GO_ON or SMC_HS_DECLINE.
 */
enum smc_hs_outcome smc_hs_build_proposal(struct smc_hs *hs, struct smc_clc_msg *msg)
{
	struct smc_nego_subnets subnets;
	struct smc_nego_local local;
	enum smc_hs_outcome out;
	enum smc_decline reason;

	out = smc_hs_find_port(hs, &subnets);
	if (out != SMC_HS_GO_ON)
		return out;
	smc_hs_local(hs, &local);
	local.subnets = subnets;
	reason = smc_nego_propose(&local, msg);
	return reason == SMC_DECLINE_NONE ? SMC_HS_GO_ON : smc_hs_decline(hs, reason);
}

/**
 * smc_hs_go_routed() - move the connection to the port of the routed path
 * @hs: the handshake, with @hs->routed
 *
 * Context: Process context.
 */
void smc_hs_go_routed(struct smc_hs *hs)
{
	smc_ib_end_put(&hs->end);
	hs->end = hs->routed;
	hs->routed.dev = NULL;
}

static int smc_hs_find_route(struct smc_hs *hs, const u8 *gid)
{
	struct smc_route_rules like;

	smc_path_get_rules(hs->smc->sk, &like);
	return smc_route_find(hs->net, &like, &hs->routed, gid, &hs->route);
}

/**
 * smc_hs_can_do_without() - check whether a routed path has an alternative
 * @hs: the handshake, with its ports
 *
 * A link of version 1 is in one subnet; LG-22.
 *
 * Context: Process context.
 * Return: true if an offer of the client fits without a route.
 */
bool smc_hs_can_do_without(const struct smc_hs *hs)
{
	return hs->role == SMC_ROLE_SERVER && hs->proposal.offers_v1 && hs->is_near;
}

/**
 * smc_hs_server_route() - step: find a route to the client
 * @hs: the handshake, with its ports
 *
 * Without a route the routed path is no candidate.
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON or SMC_HS_WAIT.
 */
enum smc_hs_outcome smc_hs_server_route(struct smc_hs *hs)
{
	struct smc_nego_local local;
	struct smc_peer_entry entry;
	struct in6_addr peer;
	const u8 *gid;

	smc_path_peer_addr(hs->smc->sk, &peer);
	if (smc_hs_can_do_without(hs) &&
	    smc_peer_recall(hs->net, SMC_PEER_ROUTED_PATH, &peer, 0, &entry))
		return SMC_HS_GO_ON;
	smc_hs_local(hs, &local);
	gid = smc_nego_routed_gid(&hs->proposal, &local);
	return gid && smc_hs_find_route(hs, gid) == -EAGAIN ? SMC_HS_WAIT : SMC_HS_GO_ON;
}

/**
 * smc_hs_late_route() - timeout: no answer from the next hop
 * @hs: the handshake
 *
 * Context: The handshake's work item.
 * Return: SMC_HS_GO_ON if the client has offered another path, else SMC_HS_DECLINE.
 */
enum smc_hs_outcome smc_hs_late_route(struct smc_hs *hs)
{
	bool is_optional = smc_hs_can_do_without(hs);
	struct in6_addr peer;

	smc_path_peer_addr(hs->smc->sk, &peer);
	smc_peer_failed(hs->net, is_optional ? SMC_PEER_ROUTED_PATH : SMC_PEER_FIRST_CONTACT,
			&peer, 0, SMC_DECLINE_NOROUTE, 0);
	return is_optional ? SMC_HS_GO_ON : smc_hs_decline(hs, SMC_DECLINE_NOROUTE);
}

/**
 * smc_hs_take_offer() - step: choose one of the client's offers
 * @hs: the handshake; receives @hs->params and @hs->peer_gid
 *
 * Context: Process context.
 * Return: SMC_HS_GO_ON or SMC_HS_DECLINE.
 */
enum smc_hs_outcome smc_hs_take_offer(struct smc_hs *hs)
{
	struct smc_nego_local local;
	enum smc_decline reason;

	smc_hs_local(hs, &local);
	local.has_v2 = hs->route.hop_limit;
	reason = smc_nego_server(&hs->proposal, &local, hs->is_near, hs->peer_gid, &hs->params);
	if (reason != SMC_DECLINE_NONE)
		return smc_hs_decline(hs, reason);
	if (hs->params.is_routed)
		smc_hs_go_routed(hs);
	else
		memset(&hs->route, 0, sizeof(hs->route));
	return SMC_HS_GO_ON;
}

/**
 * smc_hs_client_route() - step: find a route to the server, before first contact
 * @hs: the handshake, with the Accept
 *
 * Context: The handshake's work item, may sleep.
 * Return: SMC_HS_GO_ON, SMC_HS_WAIT or SMC_HS_DECLINE.
 */
enum smc_hs_outcome smc_hs_client_route(struct smc_hs *hs)
{
	enum smc_decline reason = SMC_DECLINE_NOROUTE;
	int rc;

	if (hs->lgr || !hs->params.is_routed)
		return SMC_HS_GO_ON;
	rc = smc_hs_find_route(hs, hs->rx.accept.gid);
	if (rc == -EAGAIN)
		return SMC_HS_WAIT;
	if (!rc && !smc_hs_is_too_far(hs, hs->params.eid))
		reason = smc_nego_check_route(&hs->params, hs->route.is_direct);
	return reason == SMC_DECLINE_NONE ? SMC_HS_GO_ON : smc_hs_decline(hs, reason);
}
