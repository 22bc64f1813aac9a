// SPDX-License-Identifier: GPL-2.0
/*
 * History of connections that became TCP, for diagnosis: a bounded log in each namespace. It
 * holds plain values, not references; a reader checks each entry against TCP's tables.
 */
#include <linux/ktime.h>
#include <linux/sock_diag.h>
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_event.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_net.h"
#include "sock/smc_history.h"
#include "control/smc_trace.h"

#define SMC_HISTORY_RECORDS	1024

struct smc_history {
	spinlock_t lock;		/* protects all members */
	u64 count;			/* records so far */
	unsigned int nr;		/* slots in use */
	struct smc_history_record rec[SMC_HISTORY_RECORDS];
};

/* the limit is in Documentation/operations.md */
static_assert(sizeof(struct smc_history) < 100 << 10);

/**
 * smc_history_prepare() - allocate the log of a namespace
 * @net: the namespace; without memory it has no log, which affects diagnosis only
 *
 * Context: Process context, may sleep.
 */
void smc_history_prepare(struct net *net)
{
	struct smc_pernet *sn = smc_net(net);
	struct smc_history *log;

	if (READ_ONCE(sn->history))
		return;
	log = kvzalloc(sizeof(*log), GFP_KERNEL_ACCOUNT);
	if (!log)
		return;
	spin_lock_init(&log->lock);
	/* pairs with smp_load_acquire() in history_of() */
	if (cmpxchg(&sn->history, NULL, log))
		kvfree(log);
}

/**
 * smc_history_exit_net() - free the log of a namespace
 * @net: the namespace, without sockets
 *
 * Context: Process context, may sleep.
 */
void smc_history_exit_net(struct net *net)
{
	kvfree(smc_net(net)->history);
}

/* NULL in a namespace that never had a socket of ours. */
static struct smc_history *history_of(const struct net *net)
{
	/* pairs with cmpxchg() in smc_history_prepare() */
	return smp_load_acquire(&smc_net(net)->history);
}

/**
 * smc_history_describe() - fill in what sock_diag shows of any socket, also for smc_diag.ko
 * @sk: the sock
 * @msg: zeroed; receives TCP's addresses (API-02), their family, cookie, inode and the owner as
 *       a kuid_t
 *
 * Context: Any context but hard interrupt.
 */
void smc_history_describe(struct sock *sk, struct smc_diag_msg *msg)
{
	const struct inet_sock *inet = inet_sk(sk);

	sock_diag_save_cookie(sk, msg->id.idiag_cookie);
	msg->uid = __kuid_val(smc_compat_sk_uid(sk));
	msg->inode = sock_i_ino(sk);
	msg->id.idiag_sport = inet->inet_sport;
	msg->id.idiag_dport = inet->inet_dport;
	msg->id.idiag_if = sk->sk_bound_dev_if;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		msg->family = AF_INET6;
		memcpy(msg->id.idiag_src, &sk->sk_v6_rcv_saddr, sizeof(msg->id.idiag_src));
		memcpy(msg->id.idiag_dst, &sk->sk_v6_daddr, sizeof(msg->id.idiag_dst));
		return;
	}
#endif
	msg->family = AF_INET;
	msg->id.idiag_src[0] = inet->inet_rcv_saddr;
	msg->id.idiag_dst[0] = inet->inet_daddr;
}
EXPORT_SYMBOL_GPL(smc_history_describe);

/**
 * smc_history_add() - record that a connection is plain TCP
 * @sk: the sock; nothing happens if it has no connection
 * @is_server: it comes from a listener
 * @reason: reason of the fallback, which is counted
 * @peer_diagnosis: peer diagnosis of the received Decline
 * @memory_age_ms: 0, or for how long the reason had been remembered
 *
 * Context: Any context but hard interrupt.
 */
void smc_history_add(struct sock *sk, bool is_server, enum smc_decline reason,
		     u32 peer_diagnosis, u32 memory_age_ms)
{
	struct smc_history *log = history_of(sock_net(sk));
	struct smc_history_record *rec;

	if (!inet_sk(sk)->inet_dport)
		return;
	smc_stat_fallback(sock_net(sk), is_server, reason);
	trace_smc_fallback(sk, is_server, reason, peer_diagnosis);
	smc_event_send(&(struct smc_event){
		.cmd = SMC_NETLINK_EVENT_TCP, .net = sock_net(sk), .sk = sk, .reason = reason,
		.diagnosis = peer_diagnosis, .is_server = is_server });
	if (!log)
		return;
	spin_lock_bh(&log->lock);
	rec = &log->rec[log->count++ % SMC_HISTORY_RECORDS];
	memset(rec, 0, sizeof(*rec));
	smc_history_describe(sk, &rec->msg);
	rec->reason = reason;
	rec->peer_diagnosis = peer_diagnosis;
	rec->memory_age_ms = memory_age_ms;
	rec->is_server = is_server;
	rec->time_ns = ktime_get_real_ns();
	if (log->nr < SMC_HISTORY_RECORDS)
		log->nr++;
	spin_unlock_bh(&log->lock);
}

/**
 * smc_history_read() - read the log, with connections that are gone
 * @net: the namespace
 * @serial: number of the next record, 0 at first; updated. Those that are overwritten are skipped
 * @rec: filled
 *
 * Context: Process context.
 * Return: false at the end.
 */
bool smc_history_read(const struct net *net, u64 *serial, struct smc_history_record *rec)
{
	struct smc_history *log = history_of(net);
	bool found;

	if (!log)
		return false;
	spin_lock_bh(&log->lock);
	*serial = max(*serial, log->count - log->nr);
	found = *serial < log->count;
	if (found)
		*rec = log->rec[(*serial)++ % SMC_HISTORY_RECORDS];
	spin_unlock_bh(&log->lock);
	return found;
}

/* Return: true if the same connection still exists and has a file. */
static bool history_is_current(struct net *net, const struct smc_history_record *rec)
{
	const struct inet_diag_sockid *id = &rec->msg.id;
	struct sock *sk = NULL;
	bool is_current;

	if (rec->msg.family == AF_INET)
		sk = smc_compat_lookup(net, id->idiag_dst[0], id->idiag_dport, id->idiag_src[0],
				       ntohs(id->idiag_sport), id->idiag_if);
#if IS_ENABLED(CONFIG_IPV6)
	else
		sk = smc_compat_lookup6(net, id->idiag_dst, id->idiag_dport, id->idiag_src,
					ntohs(id->idiag_sport), id->idiag_if);
#endif
	if (!sk)
		return false;
	is_current = sk_fullsock(sk) && !sock_diag_check_cookie(sk, id->idiag_cookie) &&
		!sock_flag(sk, SOCK_DEAD);
	sock_gen_put(sk);
	return is_current;
}

/**
 * smc_history_next() - read the log, for smc_diag.ko
 * @net: the namespace
 * @pos: where to continue, 0 at first; updated
 * @rec: filled with a record whose connection still exists and has a file
 *
 * Context: Process context.
 * Return: false at the end.
 */
bool smc_history_next(struct net *net, unsigned int *pos, struct smc_history_record *rec)
{
	struct smc_history *log = history_of(net);
	bool found;

	if (!log)
		return false;
	do {
		spin_lock_bh(&log->lock);
		found = *pos < log->nr;
		if (found)
			*rec = log->rec[(*pos)++];
		spin_unlock_bh(&log->lock);
		if (!found)
			return false;
		local_bh_disable();
		found = history_is_current(net, rec);
		local_bh_enable();
	} while (!found);
	return true;
}
EXPORT_SYMBOL_GPL(smc_history_next);
