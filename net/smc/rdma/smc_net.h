/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of a network namespace: settings (registered by smc_sysctl.c), counters (shown by
 * smc_netlink_dump.c), and bounded tables of failed peers and fallback sockets.
 */
#ifndef SMC_NET_H
#define SMC_NET_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "proto/smc_clc_nego.h"
#include "proto/smc_llc_flow.h"
#include "rdma/smc_buf.h"

/* A histogram of sizes in the classes of enum smc_size_attr */
#define SMC_STAT_SIZES(X, ID, name)	\
	X(ID ## _8K, name "_8k")	\
	X(ID ## _16K, name "_16k")	\
	X(ID ## _32K, name "_32k")	\
	X(ID ## _64K, name "_64k")	\
	X(ID ## _128K, name "_128k")	\
	X(ID ## _256K, name "_256k")	\
	X(ID ## _512K, name "_512k")	\
	X(ID ## _1024K, name "_1024k")	\
	X(ID ## _MORE, name "_more")

#define SMC_STAT_NR_SIZES	9

/* Counters with the names that users see. A bad message counts in exactly one "bad" row. */
#define SMC_STATS(X)			\
	X(CLIENT_SMC, "client_smc")	\
	X(CLIENT_TCP, "client_tcp")	\
	X(CLIENT_FAILED, "client_failed") \
	X(SERVER_SMC, "server_smc")	\
	X(SERVER_TCP, "server_tcp")	\
	X(SERVER_FAILED, "server_failed") \
	X(SERVER_DROPPED, "server_dropped") \
	X(FIRST_CONTACT, "first_contact") \
	X(SUBSEQUENT_CONTACT, "subsequent_contact") \
	X(CLC_TX, "clc_tx")		\
	X(CLC_RX, "clc_rx")		\
	X(CLC_BAD, "clc_bad")		\
	X(CLC_TIMEOUT, "clc_timeout")	\
	X(DECLINE_TX, "decline_tx")	\
	X(DECLINE_RX, "decline_rx")	\
	X(LLC_TX, "llc_tx")		\
	X(LLC_RX, "llc_rx")		\
	X(LLC_BAD, "llc_bad")		\
	X(LLC_STALE, "llc_stale")	\
	X(LLC_TIMEOUT, "llc_timeout")	\
	X(CDC_TX, "cdc_tx")		\
	X(CDC_RX, "cdc_rx")		\
	X(CDC_BAD, "cdc_bad")		\
	X(CDC_STALE, "cdc_stale")	\
	X(CDC_NO_CONN, "cdc_no_conn")	\
	X(IMM_TX, "imm_tx")		\
	X(IMM_RX, "imm_rx")		\
	X(RDMA_WRITES, "rdma_writes")	\
	X(TX_BYTES, "tx_bytes")		\
	X(TX_PAGE_BYTES, "tx_page_bytes") \
	X(TX_PAGES_COPIED, "tx_pages_copied") \
	X(RX_BYTES, "rx_bytes")		\
	X(WINDOW_UPDATES, "window_updates") \
	X(TX_BLOCKED, "tx_blocked")	\
	X(ABORTS_TX, "aborts_tx")	\
	X(ABORTS_RX, "aborts_rx")	\
	X(LINK_UP, "link_up")		\
	X(LINK_DOWN, "link_down")	\
	X(CONN_MOVED, "conn_moved")	\
	X(CDC_HELD, "cdc_held")		\
	X(LGR_NEW, "lgr_new")		\
	X(LGR_END, "lgr_end")		\
	X(RMB_NEW, "rmb_new")		\
	X(RMB_FREED, "rmb_freed")	\
	X(RMBE_REUSE, "rmbe_reuse")	\
	X(RMBE_CONFLICT, "rmbe_conflict") \
	X(EYECATCHER_BAD, "eyecatcher_bad") \
	X(PEER_REMEMBERED, "peer_remembered") \
	X(SERVICE_PAUSED, "service_paused") \
	X(CLIENT_SMC_V1, "client_smc_v1") \
	X(CLIENT_SMC_V2, "client_smc_v2") \
	X(SERVER_SMC_V1, "server_smc_v1") \
	X(SERVER_SMC_V2, "server_smc_v2") \
	X(CLIENT_MEMORY, "client_memory") \
	X(SERVER_MEMORY, "server_memory") \
	X(MEMORY_BYTES, "memory_bytes")	\
	X(LANDED, "landed")		\
	X(TCP_LOST, "tcp_lost")		\
	X(TX_CLOSED, "tx_closed")	\
	X(RX_CLOSED, "rx_closed")	\
	X(TX_NONE, "tx_none")		\
	X(RX_NONE, "rx_none")		\
	X(TX_OVER_RING, "tx_over_ring")	\
	X(TX_OVER_PEER, "tx_over_peer")	\
	X(RX_SHORT, "rx_short")		\
	X(RX_FULL, "rx_full")		\
	X(TX_SPLICED, "tx_spliced")	\
	X(URGENT, "urgent")		\
	X(CORK, "cork")			\
	X(NODELAY, "nodelay")		\
	X(SNDBUF_NEW, "sndbuf_new")	\
	X(SNDBUF_REUSE, "sndbuf_reuse")	\
	X(SNDBUF_LESS, "sndbuf_less")	\
	X(RMB_LESS, "rmb_less")		\
	SMC_STAT_SIZES(X, TX_SIZE, "tx_size") \
	SMC_STAT_SIZES(X, RX_SIZE, "rx_size") \
	SMC_STAT_SIZES(X, SNDBUF_SIZE, "sndbuf_size") \
	SMC_STAT_SIZES(X, RMB_SIZE, "rmb_size")

enum smc_stat {
#define SMC_STAT_ENUM(id, ...) SMC_STAT_##id,
	SMC_STATS(SMC_STAT_ENUM)
#undef SMC_STAT_ENUM
	SMC_STAT_NR
};

/* @fallback: connections that became TCP, by role (1 server) and reason */
struct smc_stats_cpu {
	u64 value[SMC_STAT_NR];
	u64 fallback[2][SMC_REASON_NR];
};

/* Which connections inside this host use memory; both ends have a say. */
enum smc_memory {
	SMC_MEMORY_OFF,		/* none */
	SMC_MEMORY_NET,		/* those inside the namespace */
	SMC_MEMORY_HOST,	/* also those with other namespaces that have this */
};

/*
 * Settings, one file each in net.smc. Sysctl writes them at any time; readers use READ_ONCE().
 * Times are in milliseconds unless noted.
 */
struct smc_settings {
	int enable;			/* 0: new connections use TCP; in init_net: all */
	int wmem;			/* largest default size of the send ring, bytes */
	int rmem;			/* largest default size of the receive ring, bytes */
	unsigned int autocorking_size;	/* coalesce smaller sends behind one in flight */
	int dialect;			/* 0 deployed, 1 RFC */
	int immediate_data;		/* new link groups use immediate data if the peer does */
	int roce;			/* 0 RoCE v1 and v2, 1 RoCE v1 only, 2 RoCE v2 only */
	int default_eid;		/* SMC-R.DEFAULT-EID: 0 never, 1 always, 2 within subnets */
	int memory;			/* shared memory: 0 off, 1 in a namespace, 2 on the host */
	int landing;			/* new link groups may give connections back to TCP */
	int limit_smc_hs;		/* new listeners skip SMC handshakes under pressure */
	int max_conns_per_lgr;		/* connections of a link group; version 2.1: 16 or more */
	int max_lgrs_per_peer;		/* limit of link groups with one address */
	int max_links;			/* links of a link group, MAXL-02; version 2.1: up to 2 */
	int buf_type;			/* no effect: files of deployed hosts set it */
	int max_send_wr;		/* messages in flight on a new link, 4 at least */
	int max_recv_wr;		/* receives of a new link */
	int testlink_time;		/* seconds of idle link before TEST LINK, 0 never */
	int tcp_keepalive;		/* seconds between probes of TCP below SMC, 0 never */
	int clc_timeout_ms;		/* time limit of one CLC message, TMR-01 */
	int lgr_idle_ms;		/* lifetime of an empty link group, TMR-10 */
	int close_timeout_ms;		/* limit of the peer's close or abort, TMR-16, TMR-17 */
	int close_pending_ms;		/* time without progress of a close's data, CLOSE-08 */
	int peer_memory_ms;		/* time of immediate TCP fallback after a failed path */
	int rmb_idle_ms;		/* lifetime of an unused memory region, TMR-14 */
	int rdma_timeout;		/* QP ACK timeout exponent, 4.096 us * 2^n; 0: 17 */
	int rdma_tos;			/* DSCP and ECN of new link groups, RoCE v2; -1: IP_TOS */
	int rdma_sl;			/* priority of new link groups, up to 7; -1: SO_PRIORITY */
	int rdma_retries;		/* QP transport retries, 0..6; 7: without limit */
	struct smc_llc_timers llc;	/* LLC exchanges */
};

struct smc_history;
struct smc_peer_memory;
struct smc_pnet_table;
struct smc_policy_table;

struct smc_pernet {
	struct smc_settings set;
	struct ctl_table_header *sysctl;
	struct ctl_table *table;
	struct smc_stats_cpu __percpu *stats;	/* from the first socket on */
	struct xarray socks;			/* smc_sock.c; all sockets with a state */
	atomic_t nr_lgrs;			/* smc_core.c; groups that are not freed */
	bool is_ending;				/* its groups end */
	struct mutex change_lock;		/* serialises changes of option, pnet and policy */
	struct smc_option_net *option;		/* smc_option.c; allocated on first use */
	struct smc_history *history;	/* sock/smc_history.c; allocated on first use */
	struct smc_peer_memory *peer_memory;	/* group/smc_peer.c; allocated on first use */
	struct smc_pnet_table __rcu *pnet;	/* smc_pnet.c; NULL without entries */
	unsigned int pnet_changes;		/* of that table */
	struct smc_policy_table __rcu *policy;	/* smc_policy.c; NULL without rules */
	unsigned int policy_changes;		/* of that table */
	u8 peer_instance[2];		/* PID-02: differs at each start */
	spinlock_t id_lock;		/* protects the next three fields */
	u8 host[SMC_CLC_HOST_LEN];	/* sock/smc_path.c: name of this host, blank padded */
	bool has_peer_id;
	u8 peer_id[8];			/* PID-04: constant once set */
};

extern unsigned int smc_net_id;

int smc_net_init(struct net *net);

static inline struct smc_pernet *smc_net(const struct net *net)
{
	return net_generic(net, smc_net_id);
}

void smc_net_prepare(struct net *net);
void smc_net_release(struct net *net);
unsigned int smc_net_patience_ms(const struct net *net);

/* NULL in a namespace that never had a socket of ours. */
static inline struct smc_stats_cpu __percpu *smc_net_stats(const struct net *net)
{
	/* pairs with cmpxchg() in smc_net_prepare() */
	return READ_ONCE(smc_net(net)->stats);
}

/* For paths that keep the pointer: finding it costs as much as ten additions. */
static inline void smc_stats_add(struct smc_stats_cpu __percpu *stats, enum smc_stat id, u64 n)
{
	if (likely(stats))
		this_cpu_add(stats->value[id], n);
}

static inline void smc_stat_add(const struct net *net, enum smc_stat id, u64 n)
{
	smc_stats_add(smc_net_stats(net), id, n);
}

static inline void smc_stat_inc(const struct net *net, enum smc_stat id)
{
	smc_stat_add(net, id, 1);
}

/* @first: SMC_STAT_..._8K; @len is not 0 */
static inline enum smc_stat smc_stat_size(enum smc_stat first, size_t len)
{
	return first + min_t(unsigned int, fls_long((len - 1) >> 13), SMC_STAT_NR_SIZES - 1);
}

static inline void smc_stat_fallback(const struct net *net, bool is_server, u32 reason)
{
	struct smc_stats_cpu __percpu *stats = smc_net_stats(net);

	if (stats)
		this_cpu_inc(stats->fallback[is_server][smc_nego_reason(reason)]);
}

#endif /* SMC_NET_H */
