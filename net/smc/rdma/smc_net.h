/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module keeps for each network namespace: the settings an operator
 * turns (smc_sysctl.c registers them), the counters (smc_stats.c shows them),
 * and the bounded memories of failed peers and fallen-back sockets.
 */
#ifndef SMC_NET_H
#define SMC_NET_H

#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "rdma/smc_buf.h"
#include "proto/smc_llc_flow.h"

/*
 * Every counter once: the name here is the name in the stats file.
 * A bad message from a peer always counts in exactly one "bad" row.
 */
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
	X(RDMA_WRITES, "rdma_writes")	\
	X(TX_BYTES, "tx_bytes")		\
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
	X(AREA_BACK, "area_back")	\
	X(RMBE_REUSE, "rmbe_reuse")	\
	X(RMBE_CONFLICT, "rmbe_conflict") \
	X(EYECATCHER_BAD, "eyecatcher_bad") \
	X(PEER_REMEMBERED, "peer_remembered") \
	X(SERVICE_PAUSED, "service_paused")

enum smc_stat {
#define SMC_STAT_ENUM(id, ...) SMC_STAT_##id,
	SMC_STATS(SMC_STAT_ENUM)
#undef SMC_STAT_ENUM
	SMC_STAT_NR
};

struct smc_stats_cpu {
	u64 value[SMC_STAT_NR];
};

/*
 * Settings, one file each in net.smc. Written by sysctl at any time, read
 * with READ_ONCE() where they are used; times are in milliseconds.
 */
struct smc_settings {
	int wmem;			/* default send ring, bytes */
	int rmem;			/* default receive ring, bytes */
	unsigned int autocorking_size;	/* coalesce below this while a CDC is in flight */
	int dialect;			/* 0 deployed, 1 RFC */
	int default_eid;		/* this host has the EID "SMC-R.DEFAULT-EID" */
	int same_host;			/* connections inside this host use an RNIC's loopback */
	int limit_smc_hs;		/* new listeners shed handshakes under pressure */
	int max_conns_per_lgr;		/* 1..255 connections in a group */
	int max_links;			/* 1..8 links in a group, MAXL-02 */
	int v21_max_conns;		/* 16..255 connections in a group of version 2.1 */
	int v21_max_links;		/* 1..2 links in a group of version 2.1 */
	int buf_type;			/* 1 or 2, which mean the same: virtually contiguous */
	int testlink_time;		/* seconds of silence before TEST LINK, 0 never */
	int tcp_keepalive_min;		/* seconds between TCP's own keepalives, at least, KA-10 */
	int clc_timeout_ms;		/* one CLC message, TMR-01 */
	int lgr_idle_ms;		/* how long an empty group is kept, TMR-10 */
	int max_idle_lgrs;		/* empty groups that are kept; beyond, the oldest ends */
	int close_timeout_ms;		/* the peer's part of close or abort, TMR-16, TMR-17 */
	int close_pending_ms;		/* how long data of a close may stand still, CLOSE-08 */
	int abort_purges;		/* a broken connection loses what is unread, ABRT-08 */
	int peer_memory_ms;		/* how long a peer whose path failed gets TCP at once */
	int rmb_idle_ms;		/* how long an unused area is kept, TMR-14 */
	int spare_mem;			/* bytes of unused rings that are kept; more goes at once */
	int rdma_timeout;		/* QP ACK timeout exponent, 4.096 us * 2^n */
	int rdma_retries;		/* QP transport retries, 0..6 */
	struct smc_llc_timers llc;	/* LLC exchanges */
};

struct smc_fallback_log;
struct smc_peer_memory;

struct smc_pernet {
	struct smc_settings set;
	struct ctl_table_header *sysctl;
	struct ctl_table *table;
	struct smc_stats_cpu __percpu *stats;
	struct smc_buf_spare spare;		/* free elements of all link groups */
	int nr_idle_lgrs;			/* smc_core.c; under its list lock */
	struct smc_fallback_log *fallback_log;	/* smc_fallback.c; NULL at first */
	struct smc_peer_memory *peer_memory;	/* smc_peer.c */
	struct smc_service_memory *service_memory;	/* smc_service.c */
	u8 peer_instance[2];		/* PID-02: new with every start */
	spinlock_t id_lock;		/* guards the two that follow */
	bool has_peer_id;
	u8 peer_id[8];			/* PID-04: once told, always the same */
};

extern unsigned int smc_net_id;

static inline struct smc_pernet *smc_net(const struct net *net)
{
	return net_generic(net, smc_net_id);
}

static inline void smc_stat_add(const struct net *net, enum smc_stat id, u64 n)
{
	this_cpu_add(smc_net(net)->stats->value[id], n);
}

static inline void smc_stat_inc(const struct net *net, enum smc_stat id)
{
	smc_stat_add(net, id, 1);
}

#endif /* SMC_NET_H */
