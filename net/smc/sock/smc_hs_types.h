/* SPDX-License-Identifier: GPL-2.0 */
/* A handshake in progress and the outcomes of its steps; private to the smc_hs files. */
#ifndef SMC_HS_TYPES_H
#define SMC_HS_TYPES_H

#include "rdma/smc_route.h"
#include "group/smc_core.h"
#include "sock/smc_clc.h"
#include "sock/smc_sock.h"
#include "control/smc_trace.h"

/* Values of smc_hs.growth; a negative errno is the error of a failed growth. */
enum smc_hs_growth {
	SMC_HS_GROW_NONE,
	SMC_HS_GROW_BEGUN,	/* grow_work owns the members that it needs */
	SMC_HS_GROW_DONE,
};

/**
 * struct smc_hs - a handshake in progress
 *
 * A NULL pointer, and an end without a device, need no undo.
 *
 * @smc: the socket
 * @net: its namespace
 * @memcg: control group that pays for what it allocates, a reference, or NULL
 * @role: our role
 * @step: current row, an index into the table of @role
 * @since: start of the handshake or end of the last row that waits, in jiffies
 * @waitq: where @watch is queued, or NULL
 * @watch: queues the work item
 * @watched: the group that another handshake forms, a reference, or NULL; owner of @waitq
 * @end: the local RDMA port
 * @routed: the local RDMA port for a path that may cross subnets
 * @route: that path; hop_limit is 0 until it is found
 * @is_near: server: @end shares a LAN with the client; client: TCP's route may stay in the subnet
 * @peer: IP address of the other end, IPv4 mapped; TCP's may be gone at the end
 * @server_port: client only: of @peer
 * @peer_id: our peer ID
 * @lgr: the group, with a reservation until the connection joins it; NULL again once
 *	the connection is open
 * @link: of @lgr: the link that the peer's message names; on a server, a candidate
 *	until then
 * @is_first: first contact
 * @out_of_sync: our Decline carries the S bit
 * @growth: enum smc_hs_growth or a negative errno; acquire and release between the
 *	work items
 * @grow_pool: of @lgr: the pool that grows
 * @grow_size: bytes of an element of the region that is added; charged
 * @ended_after: jiffies from @since until the end of TCP was noticed, 0 before
 * @outcome: SMC_HS_GO_ON while the handshake lasts
 * @reason: of a fallback to TCP
 * @err: negative errno of a failed handshake
 * @proposal: the client's Proposal, received or our own
 * @peer_gid: server only: of the RNIC that the client would use
 * @params: negotiated parameters
 * @is_declining: a Decline is due instead of the row
 * @is_locked_out: the last step did not run, because a call owned the socket lock
 * @half: message that has not arrived completely
 * @tx: our last message
 * @rx: last message received
 */
struct smc_hs {
	struct smc_sock *smc;
	struct net *net;
	struct mem_cgroup *memcg;
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
	struct in6_addr peer;
	u16 server_port;
	u8 peer_id[SMC_PEER_ID_LEN];
	struct smc_link_group *lgr;
	struct smc_link *link;
	bool is_first;
	bool out_of_sync;
	int growth;
	struct smc_buf_pool *grow_pool;
	u32 grow_size;
	unsigned long ended_after;
	enum smc_hs_outcome outcome;
	enum smc_decline reason;
	int err;
	struct smc_clc_proposal proposal;
	u8 peer_gid[SMC_GID_LEN];
	struct smc_params params;
	bool is_declining;
	bool is_locked_out;
	struct smc_clc_rx half;
	struct smc_clc_tx tx;
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

/* True if TCP has an error or no more input; an unread Decline may be queued. */
static inline bool smc_hs_tcp_has_ended(const struct sock *tsk)
{
	return READ_ONCE(tsk->sk_err) || READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN;
}

/* True if there are bytes, an error or the end of the stream. */
static inline bool smc_hs_tcp_has_input(const struct sock *tsk)
{
	return !skb_queue_empty_lockless(&tsk->sk_receive_queue) || smc_hs_tcp_has_ended(tsk);
}

#endif /* SMC_HS_TYPES_H */
