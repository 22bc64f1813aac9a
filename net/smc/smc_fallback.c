// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that are TCP: what an operator may want to know of them.
 *
 * A bounded log of plain values for each namespace, checked against TCP's tables by who
 * reads it. The sock has nothing of ours any more.
 */
#include <linux/sock_diag.h>
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "smc_fallback.h"
#include "smc_ib.h"
#include "smc_net.h"

#define SMC_FALLBACK_RECORDS	1024

struct smc_fallback_log {
	spinlock_t lock;		/* guards all that follows */
	unsigned int next;		/* slot that is written next */
	unsigned int nr;		/* slots in use */
	struct smc_fallback_record rec[SMC_FALLBACK_RECORDS];
};

/* Documentation/operations.md says so. */
static_assert(sizeof(struct smc_fallback_log) < 80 << 10);

/**
 * smc_fallback_prepare() - a namespace has a socket that may become TCP
 * @net: the namespace
 *
 * Makes its log. Without memory it has none, which only an operator would miss.
 *
 * Context: Process context, may sleep.
 */
void smc_fallback_prepare(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	struct smc_fallback_log *log;

	if (READ_ONCE(sn->fallback_log))
		return;
	log = kvzalloc(sizeof(*log), GFP_KERNEL);
	if (!log)
		return;
	spin_lock_init(&log->lock);
	/* pairs with smp_load_acquire() of who uses it */
	if (cmpxchg(&sn->fallback_log, NULL, log))
		kvfree(log);
}

/**
 * smc_fallback_exit_net() - free the log of a namespace
 * @net: the namespace; no socket is left in it
 *
 * Context: Process context, may sleep.
 */
void smc_fallback_exit_net(struct net *net)
{
	kvfree(smc_net(net)->fallback_log);
}

static void smc_fallback_fill(struct smc_fallback_record *rec, struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);
	u32 cookie[2];

	memset(rec, 0, sizeof(*rec));
	sock_diag_save_cookie(sk, cookie);
	rec->cookie = (u64)cookie[1] << 32 | cookie[0];
	rec->family = AF_INET;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		rec->family = AF_INET6;
		rec->saddr = sk->sk_v6_rcv_saddr;
		rec->daddr = sk->sk_v6_daddr;
	}
#endif
	if (rec->family == AF_INET) {
		rec->saddr.s6_addr32[0] = inet->inet_rcv_saddr;
		rec->daddr.s6_addr32[0] = inet->inet_daddr;
	}
	rec->sport = inet->inet_sport;
	rec->dport = inet->inet_dport;
	rec->dif = sk->sk_bound_dev_if;
	rec->uid = smc_compat_sk_uid(sk);
	rec->inode = sock_i_ino(sk);
}

/**
 * smc_fallback_remember() - a connection is TCP from here on
 * @sk: the sock; nothing happens if it has no connection
 * @reason: why
 * @peer_diagnosis: what the peer's Decline said
 *
 * Context: Any context but hard interrupt.
 */
void smc_fallback_remember(struct sock *sk, enum smc_decline reason, u32 peer_diagnosis)
{
	struct smc_fallback_record *rec;
	struct smc_fallback_log *log;

	/* pairs with cmpxchg() in smc_fallback_prepare() */
	log = smp_load_acquire(&smc_net(sock_net(sk))->fallback_log);
	if (!log || !inet_sk(sk)->inet_dport)
		return;
	spin_lock_bh(&log->lock);
	rec = &log->rec[log->next];
	smc_fallback_fill(rec, sk);
	rec->reason = reason;
	rec->peer_diagnosis = peer_diagnosis;
	log->next = (log->next + 1) % SMC_FALLBACK_RECORDS;
	if (log->nr < SMC_FALLBACK_RECORDS)
		log->nr++;
	spin_unlock_bh(&log->lock);
}

/* Is the connection of this record still there, the same one, and somebody's? */
static bool smc_fallback_lives(struct net *net, const struct smc_fallback_record *rec)
{
	struct inet_hashinfo *tcp_tables = net->ipv4.tcp_death_row.hashinfo;
	struct sock *sk = NULL;
	bool lives;

	if (rec->family == AF_INET)
		sk = __inet_lookup_established(net, tcp_tables,
					       rec->daddr.s6_addr32[0], rec->dport,
					       rec->saddr.s6_addr32[0], ntohs(rec->sport),
					       rec->dif, 0);
#if IS_ENABLED(CONFIG_IPV6)
	else
		sk = __inet6_lookup_established(net, tcp_tables,
						&rec->daddr, rec->dport,
						&rec->saddr, ntohs(rec->sport), rec->dif, 0);
#endif
	if (!sk)
		return false;
	lives = sk_fullsock(sk) && atomic64_read(&sk->sk_cookie) == rec->cookie &&
		!sock_flag(sk, SOCK_DEAD);
	sock_gen_put(sk);
	return lives;
}

/**
 * smc_fallback_next() - read the log
 * @net: the namespace
 * @pos: where to go on, 0 at first; updated
 * @rec: filled with a record whose connection is still there
 *
 * For smc_diag.ko. Connections that ended are passed over, and those of which
 * only TCP still knows: their file has been closed.
 *
 * Context: Process context.
 * Return: false at the end.
 */
bool smc_fallback_next(struct net *net, unsigned int *pos, struct smc_fallback_record *rec)
{
	struct smc_fallback_log *log;
	bool found;

	/* pairs with cmpxchg() in smc_fallback_prepare() */
	log = smp_load_acquire(&smc_net(net)->fallback_log);
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
		found = smc_fallback_lives(net, rec);
		local_bh_enable();
	} while (!found);
	return true;
}
EXPORT_SYMBOL_GPL(smc_fallback_next);
