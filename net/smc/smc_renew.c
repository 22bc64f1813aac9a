// SPDX-License-Identifier: GPL-2.0
/*
 * connect() to AF_UNSPEC, and connect() that fails, leave a socket that may
 * connect or listen anew. TCP uses its sock again. Ours embeds a connection, of
 * which something may be under way for long: the peer still writes to its
 * element, or has yet to say that it writes no more. So the socket gets a new
 * sock, to which the inner TCP socket moves with all its options, and the old
 * one ends by itself, as after close().
 *
 * Ownership: the old sock is an orphan afterwards (smc_orphan.c). It has no
 * inner socket any more, so nothing of its end is told by TCP: what was to be
 * told, a RST, TCP has told before.
 */

#include "smc_compat.h"
#include "smc_hs_types.h"
#include "smc_keep.h"
#include "smc_opt.h"
#include "smc_orphan.h"
#include "smc_renew.h"
#include "smc_tcp.h"

/* What belongs to the file or to the application, not to the connection. */
static void smc_renew_inherit(struct smc_sock *smc, struct smc_sock *fresh)
{
	struct sock *sk = &fresh->sk;

	smc_sock_inherit(&smc->sk, sk);
	smc_opt_inherit(smc, fresh);
	sk->sk_peek_off = -1;
	fresh->limits_handshakes = smc->limits_handshakes;
	/* getsockopt() goes on to tell the same */
	atomic64_set(&sk->sk_cookie, atomic64_read(&smc->sk.sk_cookie));
	if (sock_flag(&smc->sk, SOCK_FASYNC))
		sock_set_flag(sk, SOCK_FASYNC);
	sock_reset_flag(&smc->sk, SOCK_FASYNC);
}

static void smc_renew_move(struct smc_sock *smc, struct smc_sock *fresh, struct socket *sock)
{
	struct sock *sk = &fresh->sk;

	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_pointer(sk->sk_wq, &sock->wq);
	sk_set_socket(sk, sock);
	write_unlock_bh(&sk->sk_callback_lock);
	smc_sock_hash(fresh);
	/* a reader that sleeps finds no way to it any more */
	clear_bit(SOCKWQ_ASYNC_WAITDATA, &sock->wq.flags);
	/* Pairs with the acquire in smc_sock_enter(). */
	smp_store_release(&sock->sk, sk);
}

/**
 * smc_renew() - give the application's socket a new sock
 * @smc: the old one, without a handshake that uses the inner socket; what is
 *	 left of its connection ends by itself
 * @sock: the application's socket, now @smc's
 * @err: positive errno that is to be pending, or 0
 *
 * On success the socket is like new, but for its options, and what TCP keeps
 * of a bind(). Waiters are woken: who holds @smc finds that it is dead, and
 * that sock->sk is another. @smc has lost its file reference, so the caller
 * needs one of its own. On failure the socket is as before.
 *
 * Context: Process context, may sleep. Expects the socket lock of @smc held.
 * Return: 0; -ENOBUFS without memory, or if the file has had too many socks that
 *	   could not be let go of.
 */
int smc_renew(struct smc_sock *smc, struct socket *sock, int err)
{
	struct smc_sock *fresh;

	if (!smc_orphan_may_keep(smc))
		return -ENOBUFS;
	fresh = smc_sock_alloc_like(smc);
	if (!fresh)
		return -ENOBUFS;
	/* nobody reads on */
	if (smc->conn && !smc->is_connecting)
		smc_conn_forget_unread(smc->conn);
	/* sock_diag looks at the inner socket of what it finds */
	smc_sock_unhash(smc);
	smc_tcp_unwatch(smc);
	smc_tcp_disconnect(smc);
	smc_keep_give_back(smc);
	fresh->tcp = smc->tcp;
	WRITE_ONCE(smc->tcp, NULL);
	smc_renew_inherit(smc, fresh);
	WRITE_ONCE(fresh->sk.sk_err, err);
	sock->state = SS_UNCONNECTED;
	smc_orphan_keep(smc, &fresh->sk);
	smc_renew_move(smc, fresh, sock);
	/* O_ASYNC is noted there by now */
	if (err)
		sk_error_report(&fresh->sk);
	smc_sock_wake_all(smc);
	smc_orphan_depart(smc);
	return 0;
}

/**
 * smc_renew_take_handshake() - stop a client's handshake from using TCP
 * @smc: the socket, connecting, its handshake past TCP's
 * @sock: the application's socket
 *
 * When this returns true, the handshake's work item does not touch the inner
 * socket any more, and ends as soon as it can.
 *
 * Context: Process context, sleeps as long as the work item takes, which waits
 * for no peer. Expects the socket lock held; it is released meanwhile.
 * Return: false if the handshake ended first, or the socket has another sock.
 */
bool smc_renew_take_handshake(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = &smc->sk;

	smc->is_abandoned = true;
	do {
		release_sock(sk);
		/* what it began before it could see that; it tries for the socket lock */
		flush_work(&smc->hs_work);
		lock_sock(sk);
		/* and if another call had that then, it tries again */
	} while (smc->is_connecting && sock->sk == sk && smc_hs_is_over(smc));
	if (!smc->is_connecting || sock->sk != sk)
		return false;
	smc_sock_queue(smc, &smc->hs_work);
	return true;
}
