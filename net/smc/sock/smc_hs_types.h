/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A handshake in progress, and how its steps end; for the files of the handshake only.
 */
#ifndef SMC_HS_TYPES_H
#define SMC_HS_TYPES_H

#include "sock/smc_clc.h"
#include "sock/smc_same_host.h"
#include "rdma/smc_route.h"
#include "sock/smc_sock.h"
#include "observe/smc_trace.h"

/* Values of smc_hs.growth; a negative errno says how the growth failed. */
enum smc_hs_growth {
	SMC_HS_GROW_NONE,
	SMC_HS_GROW_BEGUN,	/* grow_work owns the members it needs */
	SMC_HS_GROW_DONE,
};

/**
 * struct smc_hs - a handshake in progress
 *
 * A pointer that is NULL, and an end without a device, need no undoing.
 *
 * @smc: the socket
 * @net: its namespace
 * @role: ours
 * @step: the row that the handshake has reached, an index into the table of @role
 * @since: when the last row that waits has ended, or the handshake began, jiffies
 * @waitq: where @watch is queued, or NULL
 * @watch: queues the work item
 * @watched: the group that another handshake forms, with a reference, or NULL; @waitq is its
 * @end: the local RDMA port
 * @routed: the same for a path that may cross subnets
 * @route: that path; hop_limit is 0 until it is found
 * @is_near: of a server: @end is on a LAN of the client's
 * @is_local_only: of a client: @end can only reach a server on this host
 * @server: where a client has connected to
 * @name: of the connection, should its other end be on this host
 * @pair: with the handshake at the other end, which a client may still wait for, as a
 *	server does for the end of the client's; or NULL
 * @peer_id: our peer ID
 * @lgr: the group, with a reservation until the connection joins it; NULL again once
 *	the connection is open
 * @link: of @lgr: the link that the peer's message names; before that, of a server,
 *	a candidate
 * @is_first: first contact
 * @out_of_sync: our Decline carries the S bit
 * @growth: enum smc_hs_growth or a negative errno; with acquire and release between the
 *	work items
 * @grow_pool: of @lgr, to which an area is added
 * @left_after: jiffies from @since until the peer was seen to have ended TCP; 0: it has not
 * @outcome: of the handshake; SMC_HS_GO_ON while it lasts
 * @reason: why TCP
 * @err: negative errno, why not at all
 * @proposal: the client's: of the peer, or our own
 * @peer_gid: of the RNIC that the client would use, server only
 * @params: what has been settled
 * @half: message that has not arrived completely
 * @rx: last message received
 */
struct smc_hs {
	struct smc_sock *smc;
	struct net *net;
	enum smc_role role;
	unsigned int step;
	unsigned long since;
	wait_queue_head_t *waitq;
	struct wait_queue_entry watch;
	struct smc_link_group *watched;
	struct smc_ib_end end;
	struct smc_ib_end routed;
	struct smc_route route;
	bool is_near;
	bool is_local_only;
	struct sockaddr_storage server;
	struct smc_same_host_key name;
	struct smc_same_host_pair *pair;
	u8 peer_id[SMC_PEER_ID_LEN];
	struct smc_link_group *lgr;
	struct smc_link *link;
	bool is_first;
	bool out_of_sync;
	int growth;
	struct smc_buf_pool *grow_pool;
	unsigned long left_after;
	enum smc_hs_outcome outcome;
	enum smc_decline reason;
	int err;
	struct smc_clc_proposal proposal;
	u8 peer_gid[SMC_GID_LEN];
	struct smc_params params;
	struct smc_clc_rx half;
	struct smc_clc_msg rx;
};

static inline enum smc_hs_outcome smc_hs_to_tcp(struct smc_hs *hs, enum smc_decline reason)
{
	hs->reason = reason;
	return SMC_HS_TCP;
}

static inline enum smc_hs_outcome smc_hs_decline(struct smc_hs *hs, enum smc_decline reason)
{
	hs->reason = reason;
	return SMC_HS_DECLINE;
}

static inline enum smc_hs_outcome smc_hs_fail(struct smc_hs *hs, int err)
{
	hs->err = err;
	return SMC_HS_FAILED;
}

/* Has the peer closed or reset TCP, or this side shut it down? Its Decline may be unread. */
static inline bool smc_hs_is_left(const struct sock *tsk)
{
	return READ_ONCE(tsk->sk_err) || READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN;
}

/* Are there bytes, an error or the end of the stream? */
static inline bool smc_hs_tcp_has_input(const struct sock *tsk)
{
	return !skb_queue_empty_lockless(&tsk->sk_receive_queue) || smc_hs_is_left(tsk);
}

#endif /* SMC_HS_TYPES_H */
