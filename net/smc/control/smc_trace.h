/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of system "smc": CLC, LLC and CDC messages, link failures, close steps,
 * handshakes and fallbacks.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM smc

#if !defined(SMC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SMC_TRACE_H

#include <linux/tracepoint.h>
#include <net/sock.h>

#include "smc_compat.h"
#include "proto/smc_clc_wire.h"
#include "sock/smc_sock.h"

DECLARE_EVENT_CLASS(smc_clc,
	TP_PROTO(const struct smc_sock *smc, const struct smc_clc_msg *msg),
	TP_ARGS(smc, msg),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u8, type)
		__field(u8, version)
		__field(u32, qpn)
		__field(u32, diagnosis)
		__field(bool, flag)
	),
	TP_fast_assign(
		__entry->sk = smc->sk;
		__entry->type = msg->type;
		__entry->version = msg->version;
		__entry->qpn = 0;
		__entry->diagnosis = 0;
		__entry->flag = false;
		if (msg->type == SMC_CLC_ACCEPT || msg->type == SMC_CLC_CONFIRM) {
			__entry->qpn = msg->accept.qpn;
			__entry->flag = msg->accept.first_contact;
		} else if (msg->type == SMC_CLC_DECLINE) {
			__entry->diagnosis = msg->decline.diagnosis;
			__entry->flag = msg->decline.out_of_sync;
		}
	),
	TP_printk("sk=%p %s v%u qpn=%#x diagnosis=%#x %s", __entry->sk,
		  __print_symbolic(__entry->type,
				   { SMC_CLC_PROPOSAL, "proposal" },
				   { SMC_CLC_ACCEPT, "accept" },
				   { SMC_CLC_CONFIRM, "confirm" },
				   { SMC_CLC_DECLINE, "decline" }),
		  __entry->version, __entry->qpn, __entry->diagnosis,
		  __entry->flag ? "F/S" : "-")
);

DEFINE_EVENT(smc_clc, smc_clc_rx,
	TP_PROTO(const struct smc_sock *smc, const struct smc_clc_msg *msg),
	TP_ARGS(smc, msg));

DEFINE_EVENT(smc_clc, smc_clc_tx,
	TP_PROTO(const struct smc_sock *smc, const struct smc_clc_msg *msg),
	TP_ARGS(smc, msg));

TRACE_EVENT(smc_clc_error,
	TP_PROTO(const struct smc_sock *smc, int err),
	TP_ARGS(smc, err),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->sk = smc->sk;
		__entry->err = err;
	),
	TP_printk("sk=%p err=%d", __entry->sk, __entry->err)
);

/* 44 bytes as on the wire: LLC and CDC. */
DECLARE_EVENT_CLASS(smc_msg,
	TP_PROTO(const struct smc_link *link, const u8 *msg, u32 len),
	TP_ARGS(link, msg, len),
	TP_STRUCT__entry(
		__field(u32, lgr)
		__field(u8, link)
		__field(u32, len)
		__array(u8, msg, SMC_WR_MSG_LEN)
	),
	TP_fast_assign(
		__entry->lgr = link->lgr->id;
		__entry->link = link->num;
		__entry->len = len;
		memset(__entry->msg, 0, SMC_WR_MSG_LEN);
		memcpy(__entry->msg, msg, min_t(u32, len, SMC_WR_MSG_LEN));
	),
	TP_printk("lgr=%#x link=%u len=%u %s", __entry->lgr, __entry->link, __entry->len,
		  __print_hex(__entry->msg, SMC_WR_MSG_LEN))
);

#define SMC_DEFINE_MSG_EVENT(name)					\
DEFINE_EVENT(smc_msg, name,						\
	TP_PROTO(const struct smc_link *link, const u8 *msg, u32 len),	\
	TP_ARGS(link, msg, len))

SMC_DEFINE_MSG_EVENT(smc_llc_rx);
SMC_DEFINE_MSG_EVENT(smc_llc_tx);
SMC_DEFINE_MSG_EVENT(smc_cdc_rx);
SMC_DEFINE_MSG_EVENT(smc_cdc_tx);

/* Immediate data in place of a CDC */
DECLARE_EVENT_CLASS(smc_imm,
	TP_PROTO(const struct smc_link *link, u32 imm),
	TP_ARGS(link, imm),
	TP_STRUCT__entry(
		__field(u32, lgr)
		__field(u8, link)
		__field(u32, imm)
	),
	TP_fast_assign(
		__entry->lgr = link->lgr->id;
		__entry->link = link->num;
		__entry->imm = imm;
	),
	TP_printk("lgr=%#x link=%u name=%#x step=%u", __entry->lgr, __entry->link,
		  __entry->imm >> 16, __entry->imm & 0xffff)
);

#define SMC_DEFINE_IMM_EVENT(name)			\
DEFINE_EVENT(smc_imm, name,				\
	TP_PROTO(const struct smc_link *link, u32 imm),	\
	TP_ARGS(link, imm))

SMC_DEFINE_IMM_EVENT(smc_imm_rx);
SMC_DEFINE_IMM_EVENT(smc_imm_tx);

TRACE_EVENT(smc_close,
	TP_PROTO(const struct sock *sk, int event, int state, u32 actions),
	TP_ARGS(sk, event, state, actions),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__string(event, smc_state_event_name(event))
		__string(state, smc_state_conn_name(state))
		__field(u32, actions)
	),
	TP_fast_assign(
		__entry->sk = sk;
		smc_compat_assign_str(event, smc_state_event_name(event));
		smc_compat_assign_str(state, smc_state_conn_name(state));
		__entry->actions = actions;
	),
	TP_printk("sk=%p %s -> %s actions=%#x", __entry->sk, __get_str(event),
		  __get_str(state), __entry->actions)
);

TRACE_EVENT(smc_handshake,
	TP_PROTO(const struct smc_sock *smc, bool is_server, int outcome, u32 reason, int err),
	TP_ARGS(smc, is_server, outcome, reason, err),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(bool, is_server)
		__field(int, outcome)
		__field(u32, reason)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->sk = smc->sk;
		__entry->is_server = is_server;
		__entry->outcome = outcome;
		__entry->reason = reason;
		__entry->err = err;
	),
	TP_printk("sk=%p %s %s reason=%#x err=%d", __entry->sk,
		  __entry->is_server ? "server" : "client",
		  __print_symbolic(__entry->outcome, { SMC_HS_SMC, "smc" },
				   { SMC_HS_TCP, "tcp" }, { SMC_HS_FAILED, "failed" }),
		  __entry->reason, __entry->err)
);

/* Group and link for operators, who know them by number. */
DECLARE_EVENT_CLASS(smc_lgr,
	TP_PROTO(const struct smc_link_group *lgr, const char *why),
	TP_ARGS(lgr, why),
	TP_STRUCT__entry(
		__field(u32, lgr)
		__field(u64, net_cookie)
		__string(why, why)
	),
	TP_fast_assign(
		__entry->lgr = lgr->id;
		__entry->net_cookie = lgr->key.net->net_cookie;
		smc_compat_assign_str(why, why);
	),
	TP_printk("lgr=%#x net=%llu %s", __entry->lgr, __entry->net_cookie, __get_str(why))
);

DEFINE_EVENT(smc_lgr, smc_lgr_up,
	TP_PROTO(const struct smc_link_group *lgr, const char *why),
	TP_ARGS(lgr, why));

DEFINE_EVENT(smc_lgr, smc_lgr_down,
	TP_PROTO(const struct smc_link_group *lgr, const char *why),
	TP_ARGS(lgr, why));

TRACE_EVENT(smc_link_up,
	TP_PROTO(const struct smc_link *link),
	TP_ARGS(link),
	TP_STRUCT__entry(
		__field(u32, lgr)
		__field(u8, link)
		__field(u64, net_cookie)
		__string(name, link->wr.dev_name)
	),
	TP_fast_assign(
		__entry->lgr = link->lgr->id;
		__entry->link = link->num;
		__entry->net_cookie = link->lgr->key.net->net_cookie;
		smc_compat_assign_str(name, link->wr.dev_name);
	),
	TP_printk("lgr=%#x link=%u dev=%s net=%llu", __entry->lgr, __entry->link,
		  __get_str(name), __entry->net_cookie)
);

/* A connection is TCP: smc_switch_to_fallback, and what a listener never offered SMC. */
TRACE_EVENT(smc_fallback,
	TP_PROTO(const struct sock *sk, bool is_server, u32 reason, u32 diagnosis),
	TP_ARGS(sk, is_server, reason, diagnosis),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(bool, is_server)
		__field(u32, reason)
		__field(u32, diagnosis)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->is_server = is_server;
		__entry->reason = reason;
		__entry->diagnosis = diagnosis;
	),
	TP_printk("sk=%p %s reason=%#x diagnosis=%#x", __entry->sk,
		  __entry->is_server ? "server" : "client", __entry->reason,
		  __entry->diagnosis)
);

/* Of a host, or with a port of a service. */
TRACE_EVENT(smc_peer_failed,
	TP_PROTO(const struct net *net, const struct in6_addr *peer, u16 port, u32 reason,
		 u32 diagnosis, u32 ms),
	TP_ARGS(net, peer, port, reason, diagnosis, ms),
	TP_STRUCT__entry(
		__array(u8, peer, 16)
		__field(u64, net_cookie)
		__field(u16, port)
		__field(u32, reason)
		__field(u32, diagnosis)
		__field(u32, ms)
	),
	TP_fast_assign(
		memcpy(__entry->peer, peer, 16);
		__entry->net_cookie = net->net_cookie;
		__entry->port = port;
		__entry->reason = reason;
		__entry->diagnosis = diagnosis;
		__entry->ms = ms;
	),
	TP_printk("peer=%pI6c port=%u net=%llu reason=%#x diagnosis=%#x ms=%u", __entry->peer,
		  __entry->port, __entry->net_cookie, __entry->reason, __entry->diagnosis,
		  __entry->ms)
);

TRACE_EVENT(smc_land,
	TP_PROTO(const struct smc_sock *smc, u64 received, u64 consumed),
	TP_ARGS(smc, received, consumed),
	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(u64, received)
		__field(u64, consumed)
		__field(u64, net_cookie)
	),
	TP_fast_assign(
		__entry->sk = smc->sk;
		__entry->received = received;
		__entry->consumed = consumed;
		__entry->net_cookie = sock_net(smc->sk)->net_cookie;
	),
	TP_printk("sk=%p received=%llu consumed=%llu net=%llu", __entry->sk, __entry->received,
		  __entry->consumed, __entry->net_cookie)
);

/* The next four have the names and fields that deployed tools know. */
TRACE_EVENT(smc_switch_to_fallback,
	TP_PROTO(const struct smc_sock *smc, const struct sock *tsk, int reason),
	TP_ARGS(smc, tsk, reason),
	TP_STRUCT__entry(
		__field(int, fallback_rsn)
		__field(const void *, sk)
		__field(const void *, clcsk)
		__field(u64, net_cookie)
	),
	TP_fast_assign(
		__entry->net_cookie = sock_net(tsk)->net_cookie;
		__entry->clcsk = tsk;
		__entry->sk = smc->sk;
		__entry->fallback_rsn = reason;
	),
	TP_printk("fallback_rsn=%#x clcsk=%p sk=%p net=%llu", __entry->fallback_rsn,
		  __entry->clcsk, __entry->sk, __entry->net_cookie)
);

DECLARE_EVENT_CLASS(smc_data,
	TP_PROTO(const struct sock *sk, size_t len, const char *device),
	TP_ARGS(sk, len, device),
	TP_STRUCT__entry(
		__field(size_t, len)
		__field(u64, net_cookie)
		__field(const void *, smc)
		__string(name, device)
	),
	TP_fast_assign(
		__entry->smc = sk;
		__entry->net_cookie = sock_net(sk)->net_cookie;
		smc_compat_assign_str(name, device);
		__entry->len = len;
	),
	TP_printk("len=%zu dev=%s smc=%p net=%llu", __entry->len, __get_str(name),
		  __entry->smc, __entry->net_cookie)
);

DEFINE_EVENT(smc_data, smc_tx_sendmsg,
	TP_PROTO(const struct sock *sk, size_t len, const char *device),
	TP_ARGS(sk, len, device));

DEFINE_EVENT(smc_data, smc_rx_recvmsg,
	TP_PROTO(const struct sock *sk, size_t len, const char *device),
	TP_ARGS(sk, len, device));

TRACE_EVENT(smcr_link_down,
	TP_PROTO(const struct smc_link *link, int fault, const void *location),
	TP_ARGS(link, fault, location),
	TP_STRUCT__entry(
		__field(const void *, lnk)
		__field(const void *, lgr)
		__field(const void *, location)
		__field(u64, net_cookie)
		__field(int, state)
		__field(int, fault)
		__string(name, link->wr.dev_name)
	),
	TP_fast_assign(
		__entry->fault = fault;
		__entry->state = link->state;
		__entry->net_cookie = link->lgr->key.net->net_cookie;
		__entry->location = location;
		__entry->lgr = link->lgr;
		__entry->lnk = link;
		smc_compat_assign_str(name, link->wr.dev_name);
	),
	TP_printk("lnk=%p lgr=%p state=%d fault=%d dev=%s net=%llu at %pS", __entry->lnk,
		  __entry->lgr, __entry->state, __entry->fault, __get_str(name),
		  __entry->net_cookie, __entry->location)
);

#endif /* SMC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH control
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE smc_trace
#include <trace/define_trace.h>
