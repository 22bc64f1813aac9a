/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A handshake under way, and how its steps end; for the files of the handshake alone.
 */
#ifndef SMC_HS_TYPES_H
#define SMC_HS_TYPES_H

#include "smc_clc.h"
#include "smc_host.h"
#include "smc_route.h"
#include "smc_sock.h"

enum smc_hs_outcome {
	SMC_HS_GO_ON,
	SMC_HS_SMC,
	SMC_HS_TCP,		/* hs->reason says why */
	SMC_HS_FAILED,		/* hs->err says how */
	SMC_HS_WAIT,		/* run the step again when there is news */
};

/* smc_trace.h shows these numbers as text */
static_assert(SMC_HS_SMC == 1 && SMC_HS_TCP == 2 && SMC_HS_FAILED == 3);

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
 * @step: what to do next, a number in the steps of the role
 * @is_server: the role
 * @has_deadline: @deadline is set; for the present step only
 * @deadline: when the present step gives up, jiffies
 * @watched: group whose news queue the work item, with a reference; or NULL
 * @watch: in its wait queue, or in that of @pair
 * @watches_client: the latter
 * @has_end: @end is filled
 * @is_near: of a server: @end is on a LAN of the client's
 * @end: the local RDMA port
 * @routed: the same for a way that may cross subnets; empty if there is none
 * @route: that way
 * @is_routing: it is being looked for
 * @name: of the connection, should its other end be on this host
 * @pair: with the handshake at the other end, which a client may still wait for, as a
 *	server does for the end of the client's; or NULL
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
 * @llc_since: jiffies when LLC began to form the group
 * @left_since: jiffies when the peer was seen to have ended TCP meanwhile, with @has_left
 * @has_left: it has
 * @is_declined: the peer's Decline came during first contact
 * @out_of_sync: the Decline carries the S bit
 * @may_decline: a Decline may be sent now in place of a message (CLC-09)
 * @is_path_bad: the RDMA path failed, later connections shall not pay again
 * @is_declining: our Decline has ended first contact, the peer's may be under way
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
	unsigned int step;
	bool is_server;
	bool has_deadline;
	unsigned long deadline;
	struct smc_link_group *watched;
	struct wait_queue_entry watch;
	bool watches_client;
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
	unsigned long llc_since;
	unsigned long left_since;
	bool has_left;
	bool is_declined;
	bool out_of_sync;
	bool may_decline;
	bool is_path_bad;
	bool is_declining;
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

static inline enum smc_hs_outcome smc_hs_to_tcp(struct smc_hs *hs, enum smc_decline reason)
{
	hs->reason = reason;
	return SMC_HS_TCP;
}

static inline enum smc_hs_outcome smc_hs_fail(struct smc_hs *hs, int err)
{
	hs->err = err;
	return SMC_HS_FAILED;
}

static inline enum smc_role smc_hs_role(const struct smc_hs *hs)
{
	return hs->is_server ? SMC_ROLE_SERVER : SMC_ROLE_CLIENT;
}

#endif /* SMC_HS_TYPES_H */
