/* SPDX-License-Identifier: GPL-2.0 */
/* Settings of a namespace, net.smc. */
#ifndef SMC_SYSCTL_H
#define SMC_SYSCTL_H

#define SMC_HOUR_MS	(3600 * 1000)
#define SMC_DEPTH_MAX	2048	/* work requests in a queue */
#define SMC_RING_MEM_MAX	((1 << 30) - 1)
#define SMC_LGRS_MAX	65535

/*
 * All settings with their defaults and limits. Names that deployed tools know
 * keep their meaning; the others are ours and carry their unit.
 *
 * X(file, member, default, minimum, maximum, owner)
 */

/*
 * What the owner of a namespace may set without CAP_NET_ADMIN on the host. With user namespaces
 * that can be any user, and an RNIC, its queue pairs, the memory of the host and the peer belong to
 * others: what costs them more than the default does is not for the owner.
 */
enum smc_sysctl_owner {
	SMC_OWNER_ANY,
	SMC_OWNER_LESS,		/* up to the default */
	SMC_OWNER_MORE,		/* from the default on */
	SMC_OWNER_SOONER,	/* up to the default, of a time of which 0 is for ever */
	SMC_OWNER_NONE,		/* the default */
};

static inline int smc_sysctl_own_min(enum smc_sysctl_owner owner, int initial, int min)
{
	if (owner == SMC_OWNER_MORE || owner == SMC_OWNER_NONE)
		return initial;
	return owner == SMC_OWNER_SOONER ? 1 : min;
}

static inline int smc_sysctl_own_max(enum smc_sysctl_owner owner, int initial, int max)
{
	return owner == SMC_OWNER_ANY || owner == SMC_OWNER_MORE ? max : initial;
}

/* What an operator may want to change. */
#define SMC_SYSCTLS_OPERATOR(X)						\
	X("enable", enable, 1, 0, 1, ANY)				\
	X("wmem", wmem, 262144, 16384, SMC_RING_MEM_MAX, LESS)		\
	X("rmem", rmem, 262144, 16384, SMC_RING_MEM_MAX, LESS)		\
	X("roce", roce, 0, 0, 2, ANY)					\
	X("default_eid", default_eid, 2, 0, 2, ANY)			\
	X("memory", memory, 1, 0, 2, LESS)				\
	X("landing", landing, 1, 0, 1, ANY)				\
	X("limit_smc_hs", limit_smc_hs, 0, 0, 1, ANY)			\
	X("max_lgrs_per_peer", max_lgrs_per_peer, 64, 1, SMC_LGRS_MAX, LESS) \
	X("smcr_max_links_per_lgr", max_links, 2, 1, 8, LESS)		\
	X("smcr_max_conns_per_lgr", max_conns_per_lgr, 255, 1, 255, MORE) \
	X("smcr_testlink_time", testlink_time, 30, 0, INT_MAX, SOONER)	\
	X("tcp_keepalive", tcp_keepalive, 120, 0, 32767, ANY)			\
	X("rdma_tos", rdma_tos, 0, -1, 255, NONE)			\
	X("rdma_sl", rdma_sl, 0, -1, 7, NONE)				\
	X("lgr_idle_ms", lgr_idle_ms, 600000, 0, SMC_HOUR_MS, LESS)	\
	X("peer_memory_ms", peer_memory_ms, 60000, 0, SMC_HOUR_MS, LESS)

/* Correct for nearly every host. */
#define SMC_SYSCTLS_RARE(X)						\
	X("dialect", dialect, 0, 0, 1, ANY)				\
	X("smcr_buf_type", buf_type, 1, 0, 2, ANY)			\
	X("smcr_max_send_wr", max_send_wr, 64, 2, SMC_DEPTH_MAX, LESS)	\
	X("smcr_max_recv_wr", max_recv_wr, 256, 2, SMC_DEPTH_MAX, LESS)

/*
 * What only tests change: visible with the module parameter test_timers. A slow test machine
 * widens timeouts, a test of a timeout shortens them, and one that sends messages of its own wants
 * no immediate data.
 *
 * The waits of first contact (TMR-06) are longer than the time in which the RNIC gives
 * up a write (rdma_ack_exponent, rdma_retries), or without a limit there the link
 * (SMC_WR_PATIENCE_MS), plus three retransmissions of a Decline.
 */
#define SMC_SYSCTLS_TEST(X)						\
	X("immediate_data", immediate_data, 1, 0, 1, ANY)		\
	X("clc_timeout_ms", clc_timeout_ms, 6000, 100, SMC_HOUR_MS, LESS) \
	X("close_timeout_ms", close_timeout_ms, 60000, 100, SMC_HOUR_MS, LESS) \
	X("close_pending_ms", close_pending_ms, 200000, 100, SMC_HOUR_MS, LESS) \
	X("rmb_idle_ms", rmb_idle_ms, 60000, 1, SMC_HOUR_MS, LESS)	\
	X("rdma_ack_exponent", rdma_timeout, 0, 0, 24, LESS)		\
	X("rdma_retries", rdma_retries, 7, 0, 7, LESS)			\
	X("llc_add_link_retry_ms", llc.add_link_retry, 30000, 0, SMC_HOUR_MS, MORE) \
	X("llc_confirm_link_ms", llc.confirm_link, 11000, 100, SMC_HOUR_MS, LESS) \
	X("llc_first_reply_ms", llc.first_reply, 11000, 100, SMC_HOUR_MS, LESS) \
	X("llc_add_link_ms", llc.add_link, 11000, 100, SMC_HOUR_MS, LESS) \
	X("llc_add_link_deployed_ms", llc.add_link_deployed, 2000, 100, SMC_HOUR_MS, LESS) \
	X("llc_reply_ms", llc.reply, 4000, 100, SMC_HOUR_MS, LESS)	\
	X("llc_delete_link_ms", llc.delete_link, 8000, 100, SMC_HOUR_MS, LESS) \
	X("llc_terminate_ms", llc.terminate, 2000, 100, SMC_HOUR_MS, LESS) \
	X("llc_test_link_ms", llc.test_link, 2000, 100, SMC_HOUR_MS, LESS) \
	X("llc_rkey_retry_ms", llc.rkey_retry, 500, 10, SMC_HOUR_MS, LESS)

struct net;

int smc_sysctl_init_net(struct net *net);
void smc_sysctl_exit_net(struct net *net);

#endif /* SMC_SYSCTL_H */
