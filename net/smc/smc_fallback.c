// SPDX-License-Identifier: GPL-2.0
/*
 * Fallback has one mechanism: the inner TCP sock moves into the application's
 * struct socket, together with TCP's own operations. The wait queue, inode,
 * fasync list and epoll items belong to that struct socket and stay, so
 * sleepers and pollers need no forwarding; they are woken once and look again.
 *
 * Operation: smc_fallback_graft() runs under our socket lock with the file
 * open, and changes the sock alone: a worker has no reference on the file, which
 * may be about to be closed. The first call on the file that finds TCP's sock
 * behind our operations replaces them, too (smc_fallback_forward()).
 * smc_fallback_adopt() runs inside accept(), before anybody has the descriptor.
 *
 * Ownership: afterwards our sock is an orphan (smc_orphan.c), which holds a module
 * reference of its own through its proto until it is freed. That which the struct
 * socket holds through its operations goes with them: __sock_release() drops one for
 * the owner it finds there, and on older kernels looks again for release() afterwards,
 * so the two must not change while it runs.
 *
 * What an operator may still want to know of the connection is kept in a
 * bounded log of plain values, checked against TCP's tables by who reads it.
 */
#include <linux/module.h>
#include <linux/sock_diag.h>
#include <net/inet_hashtables.h>
#include <net/inet6_hashtables.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "smc_fallback.h"
#include "smc_ib.h"
#include "smc_net.h"
#include "smc_orphan.h"
#include "smc_tcp.h"
#include "smc_trace.h"

#define SMC_FALLBACK_RECORDS	1024

struct smc_fallback_log {
	spinlock_t lock;		/* guards all that follows */
	unsigned int next;		/* slot that is written next */
	unsigned int nr;		/* slots in use */
	struct smc_fallback_record rec[SMC_FALLBACK_RECORDS];
};

/* Documentation/operations.md says so. */
static_assert(sizeof(struct smc_fallback_log) < 80 << 10);

/* The log of a namespace, made when it is first needed; NULL without memory. */
static struct smc_fallback_log *smc_fallback_log(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	struct smc_fallback_log *log;

	/* pairs with cmpxchg() below */
	log = smp_load_acquire(&sn->fallback_log);
	if (log)
		return log;
	log = kvzalloc(sizeof(*log), GFP_KERNEL);
	if (!log)
		return NULL;
	spin_lock_init(&log->lock);
	if (!cmpxchg(&sn->fallback_log, NULL, log))
		return log;
	/* somebody else was faster */
	kvfree(log);
	/* pairs with cmpxchg() above, at the other one */
	return smp_load_acquire(&sn->fallback_log);
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

static void smc_fallback_fill(struct smc_fallback_record *rec, struct smc_sock *smc,
			      struct sock *tsk, struct socket *sock)
{
	const struct inet_sock *inet = inet_sk(tsk);
	u32 cookie[2];

	memset(rec, 0, sizeof(*rec));
	sock_diag_save_cookie(tsk, cookie);
	rec->cookie = (u64)cookie[1] << 32 | cookie[0];
	rec->family = AF_INET;
#if IS_ENABLED(CONFIG_IPV6)
	if (tsk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&tsk->sk_v6_daddr)) {
		rec->family = AF_INET6;
		rec->saddr = tsk->sk_v6_rcv_saddr;
		rec->daddr = tsk->sk_v6_daddr;
	}
#endif
	if (rec->family == AF_INET) {
		rec->saddr.s6_addr32[0] = inet->inet_rcv_saddr;
		rec->daddr.s6_addr32[0] = inet->inet_daddr;
	}
	rec->sport = inet->inet_sport;
	rec->dport = inet->inet_dport;
	rec->dif = tsk->sk_bound_dev_if;
	rec->uid = SOCK_INODE(sock)->i_uid;
	rec->inode = SOCK_INODE(sock)->i_ino;
	rec->reason = smc->fallback;
	/* a listener took it from TCP, without the option */
	if (rec->reason == SMC_DECLINE_NONE)
		rec->reason = smc_ib_has_device() ? SMC_DECLINE_PEERNOSMC : SMC_DECLINE_NOSMCRDEV;
	rec->peer_diagnosis = smc->peer_diagnosis;
}

static void smc_fallback_remember(struct smc_sock *smc, struct sock *tsk, struct socket *sock)
{
	struct smc_fallback_log *log = smc_fallback_log(sock_net(tsk));

	/* only the operator would miss it */
	if (!log)
		return;
	spin_lock(&log->lock);
	smc_fallback_fill(&log->rec[log->next], smc, tsk, sock);
	log->next = (log->next + 1) % SMC_FALLBACK_RECORDS;
	if (log->nr < SMC_FALLBACK_RECORDS)
		log->nr++;
	spin_unlock(&log->lock);
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

	/* pairs with cmpxchg() in smc_fallback_log() */
	log = smp_load_acquire(&smc_net(net)->fallback_log);
	if (!log)
		return false;
	do {
		spin_lock(&log->lock);
		found = *pos < log->nr;
		if (found)
			*rec = log->rec[(*pos)++];
		spin_unlock(&log->lock);
		if (!found)
			return false;
		local_bh_disable();
		found = smc_fallback_lives(net, rec);
		local_bh_enable();
	} while (!found);
	return true;
}
EXPORT_SYMBOL_GPL(smc_fallback_next);

/*
 * What @sk of ours kept from TCP's till now: three options; of the same struct
 * socket also what fasync() was told, and a shutdown() before connect().
 */
static void smc_fallback_carry(const struct sock *sk, struct sock *tsk,
			       const struct proto_ops *ops, bool is_same_file)
{
	bool is_async = is_same_file && sock_flag(sk, SOCK_FASYNC);
	u8 shutdown = is_same_file ? sk->sk_shutdown : 0;

	/* of an attempt that has failed, and that nobody has been told yet */
	if (is_same_file && sk->sk_err && !READ_ONCE(tsk->sk_err))
		WRITE_ONCE(tsk->sk_err, sk->sk_err);
	tsk->sk_lingertime = sk->sk_lingertime;
	WRITE_ONCE(tsk->sk_peek_off, READ_ONCE(sk->sk_peek_off));
	/* stamps count bytes of the application, not those of CLC */
	if (tsk->sk_tsflags & SOF_TIMESTAMPING_OPT_ID)
		atomic_set(&tsk->sk_tskey, tcp_sk(tsk)->write_seq);
	if (!is_async && !shutdown && !sock_flag(sk, SOCK_LINGER) && sk->sk_rcvlowat <= 1)
		return;
	/* TCP may be at work on the same words */
	lock_sock(tsk);
	if (is_async)
		sock_set_flag(tsk, SOCK_FASYNC);
	if (sock_flag(sk, SOCK_LINGER))
		sock_set_flag(tsk, SOCK_LINGER);
	if (sk->sk_rcvlowat > 1 && ops->set_rcvlowat)
		ops->set_rcvlowat(tsk, sk->sk_rcvlowat);
	tsk->sk_shutdown |= shutdown;
	release_sock(tsk);
}

/*
 * The signals of a connection that TCP could not send while the file was ours. It has
 * sent SIGURG: for that it asks for the file, which it was lent.
 */
static void smc_fallback_signal(struct sock *tsk)
{
	/* the application may be closing the file */
	read_lock_bh(&tsk->sk_callback_lock);
	sk_wake_async(tsk, SOCK_WAKE_IO, POLL_OUT);
	if (!skb_queue_empty_lockless(&tsk->sk_receive_queue) ||
	    READ_ONCE(tsk->sk_shutdown) & RCV_SHUTDOWN)
		sk_wake_async(tsk, SOCK_WAKE_WAITD, POLL_IN);
	read_unlock_bh(&tsk->sk_callback_lock);
}

/**
 * smc_fallback_graft() - turn the application's open socket into a TCP socket
 * @smc: our socket, whose connection (if any) is established on TCP; it has
 *	 left its link group
 * @sock: the application's socket, now @smc's
 *
 * Every byte that TCP has received and CLC did not consume is still there and
 * is the application's (CLC-11, DCLN-03). Waiters are woken, unless they were when
 * TCP had its connection (SMC_TCP_PLAIN): to an edge-triggered poller that would
 * be a second event. On return @smc is orphaned and its file reference is gone; the
 * caller needs one of its own.
 *
 * Context: Process context, may sleep. Expects the socket lock of @smc held
 * and @smc->fallback set.
 */
void smc_fallback_graft(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = &smc->sk;
	const struct proto_ops *ops = smc->tcp->ops;
	struct sock *tsk;

	/* sock_diag looks at the inner socket of what it finds */
	smc_sock_unhash(smc);
	/* the next connection of this sock, if there is one, is TCP's alone */
	smc_tcp_offer(smc, false);
	tsk = smc_tcp_give(smc, sock);
	smc_fallback_carry(sk, tsk, ops, true);
	if (inet_sk(tsk)->inet_dport)
		smc_fallback_remember(smc, tsk, sock);
	smc_stat_inc(sock_net(tsk), SMC_STAT_CLIENT_TCP);
	trace_smc_switch_to_fallback(smc, tsk, smc->fallback);

	smc_sock_leave_file(sk);
	/* The core may have found our sock, and call TCP's set_rcvlowat() on it when
	 * it gets the lock. That keeps to struct sock where this is set.
	 */
	sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
	smc_orphan_keep(smc, tsk);
	/* Whoever sees TCP's sock can close the file without us: then @tsk goes
	 * with the last reference, and @sock after a grace period.
	 */
	sock_hold(tsk);
	rcu_read_lock();
	/* Pairs with the acquire in smc_sock_enter(): who sees TCP's sock
	 * forwards to TCP's operations, whichever of the two are in place.
	 */
	smp_store_release(&sock->sk, tsk);
	smc->is_grafted = true;

	/* pairs with smc_hs_poll() */
	smp_mb();
	if (!READ_ONCE(smc->was_told) || READ_ONCE(smc->has_missed))
		wake_up_interruptible_all(&sock->wq.wait);
	if (inet_sk(tsk)->inet_dport)
		smc_fallback_signal(tsk);
	rcu_read_unlock();
	smc_orphan_depart(smc);
	sock_put(tsk);
}

/**
 * smc_fallback_forward() - a call finds that the socket is TCP's
 * @sock: the application's socket, after smc_fallback_graft(); the caller came by a
 *	  call on its file
 *
 * Puts TCP's operations in place if ours are there still. The module reference that
 * the socket had for ours goes with them, so if smc_orphan_settle() may have let go of
 * the orphan the caller holds one of its own.
 *
 * Context: Any context in which the file cannot be closed: not smc_release(), no worker.
 * Return: what to go on with; never ours.
 */
const struct proto_ops *smc_fallback_forward(struct socket *sock)
{
	const struct proto_ops *had = READ_ONCE(sock->ops);
	const struct proto_ops *ops = smc_tcp_ops(sock);

	if (had->family != PF_SMC)
		return ops;
	/* In this order, which cmpxchg() keeps: the core may set options by itself when it
	 * finds TCP's sock, and has to when it finds TCP's operations, which do not.
	 */
	clear_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
	__module_get(ops->owner);
	/* one of several calls gives back what was held for ours */
	if (cmpxchg(&sock->ops, had, ops) == had)
		module_put(THIS_MODULE);
	else
		module_put(ops->owner);
	return ops;
}

/**
 * smc_fallback_accepted() - TCP's accept() has made a socket for one of ours
 * @listener: the listening socket
 * @sock: new, nobody has its descriptor yet, still with our operations
 *
 * The peer did not offer SMC, or the listener did not: that is all there is to
 * remember.
 *
 * Context: Process context, may sleep. Expects the socket lock of @listener
 * held.
 */
void smc_fallback_accepted(struct smc_sock *listener, struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(listener->tcp->ops);
	struct sock *tsk = sock->sk;

	smc_fallback_carry(&listener->sk, tsk, ops, false);
	smc_fallback_remember(listener, tsk, sock);
	smc_stat_inc(sock_net(tsk), SMC_STAT_SERVER_TCP);
	__module_get(ops->owner);
	sock->ops = ops;
	/* accept() took this for the listener's operations */
	module_put(THIS_MODULE);
}

/**
 * smc_fallback_adopt() - give a child that fell back to accept()'s socket
 * @child: off the accept queue, on TCP
 * @sock: new, without a sock; nobody has its descriptor yet
 *
 * Consumes the caller's reference on @child.
 *
 * Context: Process context, may sleep.
 */
void smc_fallback_adopt(struct smc_sock *child, struct socket *sock)
{
	const struct proto_ops *ops = child->tcp->ops;
	struct sock *tsk;

	smc_sock_unhash(child);
	smc_tcp_offer(child, false);
	tsk = smc_tcp_give(child, sock);
	smc_fallback_carry(&child->sk, tsk, ops, false);
	smc_fallback_remember(child, tsk, sock);
	smc_stat_inc(sock_net(tsk), SMC_STAT_SERVER_TCP);
	trace_smc_switch_to_fallback(child, tsk, child->fallback);
	child->is_grafted = true;
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
	clear_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
	sock->sk = tsk;
	__module_get(ops->owner);
	sock->ops = ops;
	sock->state = SS_CONNECTED;
	/* accept() took this for the listener's operations */
	module_put(THIS_MODULE);
	sock_put(&child->sk);
}
