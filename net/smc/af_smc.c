// SPDX-License-Identifier: GPL-2.0
/*
 * The socket family AF_SMC: what applications call, and the one place where
 * the floors below are plugged together.
 *
 * Operation: every call on a socket begins with smc_lock() or
 * smc_sock_enter(). Where they find that the connection fell back, the call
 * is TCP's and goes to smc_fallback_forward(). A call that has slept looks again when it
 * wakes: the handshake may have ended in a fallback (is_grafted), or connect() to
 * AF_UNSPEC may have given the socket a new sock (smc_renew.c).
 */
#include <linux/module.h>
#include <linux/reboot.h>
#include <linux/smc.h>
#include <linux/sockios.h>
#include <net/tcp.h>

#include <asm/ioctls.h>

#include "smc_cdc.h"
#include "smc_close.h"
#include "smc_compat.h"
#include "smc_fallback.h"
#include "smc_hs.h"
#include "smc_hs_connect.h"
#include "smc_hs_ring.h"
#include "smc_ib.h"
#include "smc_keep.h"
#include "smc_life.h"
#include "smc_link.h"
#include "smc_listen.h"
#include "smc_llc.h"
#include "smc_llc_msg.h"
#include "smc_llc_sweep.h"
#include "smc_net.h"
#include "smc_netlink.h"
#include "smc_notice.h"
#include "smc_oper.h"
#include "smc_opt.h"
#include "smc_orphan.h"
#include "smc_peer.h"
#include "smc_pnet.h"
#include "smc_renew.h"
#include "smc_rx.h"
#include "smc_service.h"
#include "smc_shrink.h"
#include "smc_stats.h"
#include "smc_sysctl.h"
#include "smc_tcp.h"
#include "smc_tx.h"

static const struct proto_ops smc_sock_ops;

/* What the close machine could not do meanwhile is done by who had the lock. */
static void smc_release_lock(struct smc_sock *smc)
{
	if (smc_sock_take_missed(smc, SMC_MISSED_CLOSE))
		smc_close_run(smc);
	release_sock(&smc->sk);
}

static void smc_unlock(struct smc_sock *smc)
{
	smc_release_lock(smc);
	sock_put(&smc->sk);
}

/* Our socket, locked and with a reference, or NULL when it is TCP's now. */
static struct smc_sock *smc_lock(struct socket *sock)
{
	struct smc_sock *smc;

	while ((smc = smc_sock_enter(sock))) {
		lock_sock(&smc->sk);
		/* TCP is connected, without SMC: so this call is TCP's */
		if (READ_ONCE(smc->tcp_phase) == SMC_TCP_PLAIN)
			smc_hs_look(smc);
		/* it may have left the file to TCP or to another of ours */
		if (READ_ONCE(sock->sk) == &smc->sk)
			break;
		smc_unlock(smc);
	}
	/* what the peer has said counts for this call, as what TCP has in its backlog */
	if (smc && smc_close_has_news(smc))
		smc_close_run(smc);
	return smc;
}

/*
 * Calls that are TCP's by now. They may sleep there until long after our sock
 * is gone, and return through this module.
 */
static int smc_forward_connect(struct socket *sock, struct sockaddr *addr, int addr_len, int flags)
{
	bool is_held = try_module_get(THIS_MODULE);
	int rc;

	rc = smc_fallback_forward(sock)->connect(sock, addr, addr_len, flags);
	if (is_held)
		module_put(THIS_MODULE);
	return rc;
}

static int smc_forward_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	bool is_held = try_module_get(THIS_MODULE);
	int rc;

	rc = smc_fallback_forward(sock)->sendmsg(sock, msg, len);
	if (is_held)
		module_put(THIS_MODULE);
	return rc;
}

static int smc_forward_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	bool is_held = try_module_get(THIS_MODULE);
	int rc;

	rc = smc_fallback_forward(sock)->recvmsg(sock, msg, len, flags);
	if (is_held)
		module_put(THIS_MODULE);
	return rc;
}

static int smc_forward_accept SMC_ACCEPT_PARAMS
{
	const struct proto_ops *ops = smc_fallback_forward(sock);
	int rc;

	rc = ops->accept SMC_ACCEPT_ARGS_FOR(sock);
	/*
	 * The core took the new socket for ours, with a reference on this module,
	 * which the orphan of @sock holds as long as its file is used.
	 */
	if (!rc && newsock->ops == &smc_sock_ops) {
		__module_get(ops->owner);
		newsock->ops = ops;
		module_put(THIS_MODULE);
	}
	return rc;
}

/*
 * Sleep until connect() has an outcome, which may be found here. The wait queue
 * is that of the struct socket and outlives our sock in it. @timeo: jiffies that
 * the call may wait, what is left of them afterwards.
 */
static int smc_wait_connect(struct smc_sock *smc, long *timeo)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	unsigned int disconnects = smc->disconnects;
	struct sock *sk = &smc->sk;
	wait_queue_head_t *wq = sk_sleep(sk);
	int rc = 0;

	if (!smc->is_connecting)
		return 0;
	smc_hs_attend(smc);
	add_wait_queue(wq, &wait);
	/* pairs with skwq_has_sleeper() in smc_sock_wake_sleepers(), smc_sock_wake_attending() */
	smp_mb();
	for (smc_hs_look(smc); smc->is_connecting && smc->disconnects == disconnects &&
	     !sock_flag(sk, SOCK_DEAD); smc_hs_look(smc)) {
		rc = *timeo ? sock_intr_errno(*timeo) : -EAGAIN;
		if (!*timeo || signal_pending(current))
			break;
		rc = 0;
		release_sock(sk);
		*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
		lock_sock(sk);
	}
	remove_wait_queue(wq, &wait);
	smc_hs_unattend(smc);
	return smc->disconnects == disconnects ? rc : -EPIPE;
}

static int smc_release(struct socket *sock)
{
	struct smc_sock *smc = smc_lock(sock);
	struct sock *sk;

	if (!smc) {
		if (!sock->sk)
			return 0;
		/* a worker's graft left our operations in place, and what our caller
		 * is about to drop is for those
		 */
		return smc_tcp_ops(sock)->release(sock);
	}
	sk = &smc->sk;
	if (sk->sk_state == SMC_STATE_LISTEN)
		smc_listen_stop(smc);
	smc_close_release(smc);
	smc_tcp_lend_file(smc, NULL);
	smc_sock_leave_file(sk);
	sock_orphan(sk);
	sock->sk = NULL;
	if (smc->is_connecting) {
		/* the handshake worker finds the socket dead and cleans up */
		smc_tcp_shutdown(smc, SHUT_RDWR);
		smc_sock_queue(smc, &smc->hs_work);
	} else if (!smc_state_is_alive(&smc->close)) {
		smc_close_let_go(smc);
	}
	smc_unlock(smc);
	sock_put(sk);
	return 0;
}

/* What was changed on our sock alone counts for what TCP is about to do. */
static void smc_settle(struct smc_sock *smc, struct socket *sock)
{
	smc_opt_settle(smc);
	/* fchown() of the file */
	if (!uid_eq(READ_ONCE(smc->sk.sk_uid), smc->tcp->sk->sk_uid))
		smc_tcp_set_owner(smc, sock);
}

static int smc_bind(struct socket *sock, struct sockaddr *addr, int addr_len)
{
	struct smc_sock *smc = smc_lock(sock);
	int rc;

	if (!smc)
		return smc_fallback_forward(sock)->bind(sock, addr, addr_len);
	rc = -EINVAL;
	if (smc->tcp && !smc->is_connecting &&
	    (smc->sk.sk_state == SMC_STATE_INIT || smc->sk.sk_state == SMC_STATE_CLOSED)) {
		smc_settle(smc, sock);
		rc = smc->tcp->ops->bind(smc->tcp, addr, addr_len);
		/* the address may choose a device */
		smc_opt_settle(smc);
	}
	smc_unlock(smc);
	return rc;
}

static enum smc_decline smc_why_not_offer(struct smc_sock *smc)
{
	const struct sockaddr *addr = (struct sockaddr *)&smc->addr;
	struct net *net = sock_net(&smc->sk);
	enum smc_decline reason;
	struct in6_addr peer;

	if (!smc_ib_has_device())
		return SMC_DECLINE_NOSMCRDEV;
	if (addr->sa_family == AF_INET6)
		peer = ((struct sockaddr_in6 *)addr)->sin6_addr;
	else
		ipv6_addr_set_v4mapped(((struct sockaddr_in *)addr)->sin_addr.s_addr, &peer);
	if (!smc_pnet_may_reach(net, &peer))
		return SMC_DECLINE_NOSMCRDEV;
	reason = smc_peer_recall(net, &peer, true);
	if (reason != SMC_DECLINE_NONE)
		return reason;
	return smc_service_recall(smc->tcp->sk, addr, &smc->peer_diagnosis);
}

/*
 * Offer SMC on this SYN? Not without an RDMA device, nor where none is on the way, nor to a
 * peer whose path failed lately, nor to a service that has declined several in a row: a
 * Decline would cost both ends more than TCP does.
 */
static void smc_choose_offer(struct smc_sock *smc)
{
	enum smc_decline reason;

	smc->peer_diagnosis = 0;
	/* of an option that was set while it listened */
	if (smc->is_tcp_by_option) {
		smc_tcp_offer(smc, false);
		return;
	}
	reason = smc_why_not_offer(smc);
	smc->is_eager_tcp = reason != SMC_DECLINE_NONE;
	smc->fallback = reason;
	smc_tcp_offer(smc, !smc->is_eager_tcp);
}

static int smc_connect_start(struct smc_sock *smc, struct socket *sock, struct sockaddr *addr,
			     int addr_len)
{
	int rc;

	if (smc->sk.sk_state != SMC_STATE_INIT)
		return -EISCONN;
	if (addr_len > (int)sizeof(smc->addr))
		return -EINVAL;
	memset(&smc->addr, 0, sizeof(smc->addr));
	memcpy(&smc->addr, addr, addr_len);
	smc->addr_len = addr_len;
	/* the way there is chosen by what the inner socket is bound to */
	smc_settle(smc, sock);
	smc_choose_offer(smc);
	smc_tcp_lend_file(smc, sock->file);
	/* on loopback the peer has answered by the time this returns */
	smc_hs_attend(smc);
	rc = smc_hs_begin_client(smc);
	if (rc == -EINPROGRESS)
		sock->state = SS_CONNECTING;
	smc_hs_unattend(smc);
	return rc;
}

/* The socket gets a new sock, with the error @err pending. Negative errno. */
static int smc_start_over(struct smc_sock *smc, struct socket *sock, int err)
{
	int rc = smc_renew(smc, sock, err);

	if (!rc)
		smc_orphan_settle(smc, sock);
	return rc;
}

/* An attempt that is over has come to nothing, or to what was aborted since. */
static bool smc_connect_has_failed(const struct smc_sock *smc)
{
	switch (smc->sk.sk_state) {
	case SMC_STATE_INIT:
	case SMC_STATE_CLOSED:
	case SMC_STATE_PEERABORTWAIT:
	case SMC_STATE_PROCESSABORT:
		return true;
	default:
		return false;
	}
}

/* The outcome, told once as inet_stream_connect() tells it. */
static int smc_connect_result(struct smc_sock *smc, struct socket *sock)
{
	int rc;

	if (!smc_connect_has_failed(smc)) {
		sock->state = SS_CONNECTED;
		return 0;
	}
	rc = sock_error(&smc->sk);
	sock->state = SS_UNCONNECTED;
	/* ready for the next attempt; without memory that one tries again */
	if (smc->sk.sk_state == SMC_STATE_INIT)
		smc->sk.sk_shutdown = 0;
	else
		smc_start_over(smc, sock, 0);
	return rc ? rc : -ECONNABORTED;
}

/*
 * connect() or shutdown() ends an attempt. Negative errno; -EAGAIN if it has
 * an outcome, or the socket another sock.
 */
static int smc_connect_stop(struct smc_sock *smc, struct socket *sock)
{
	if (READ_ONCE(smc->tcp_phase) == SMC_TCP_CONNECTING) {
		smc->is_connecting = false;
		smc_tcp_unwatch(smc);
		smc_tcp_disconnect(smc);
		smc_sock_set_err(smc, ECONNRESET);
		smc_sock_wake_all(smc);
		sock->state = SS_UNCONNECTED;
		return 0;
	}
	if (READ_ONCE(smc->tcp_phase) == SMC_TCP_PLAIN || !smc_renew_take_handshake(smc, sock))
		return -EAGAIN;
	/* without memory it ends with that error, and the next attempt fails */
	return smc_start_over(smc, sock, ECONNRESET);
}

/* shutdown() before there is a connection; -EAGAIN as smc_connect_stop(). */
static int smc_shutdown_early(struct smc_sock *smc, struct socket *sock, int how)
{
	struct sock *sk = &smc->sk;

	if (smc->is_connecting)
		return smc_connect_stop(smc, sock);
	if (sk->sk_state == SMC_STATE_LISTEN) {
		if (how != SHUT_WR) {
			smc_listen_stop(smc);
			sk->sk_shutdown = 0;
			smc_sock_wake_all(smc);
		}
		return 0;
	}
	/* As TCP, which refuses and does it all the same. The inner socket is
	 * told after a fallback: it may have CLC to carry.
	 */
	sk->sk_shutdown |= how + 1;
	smc_sock_wake_all(smc);
	return -ENOTCONN;
}

/*
 * connect() to AF_UNSPEC. As with TCP, a listener listens no more, an attempt
 * ends, a connection is aborted, and then the socket is as new. -EAGAIN as
 * smc_connect_stop().
 */
static int smc_disconnect(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = &smc->sk;
	int rc = 0;

	if (sk->sk_state == SMC_STATE_LISTEN) {
		smc_listen_stop(smc);
		smc_sock_wake_all(smc);
	} else if (smc->is_connecting) {
		rc = smc_connect_stop(smc, sock);
	} else if (sk->sk_state != SMC_STATE_INIT) {
		rc = smc_start_over(smc, sock, smc_close_dissolve(smc));
	}
	if (rc)
		return rc;
	smc->disconnects++;
	/* the new sock is another call's by now, and with it the state */
	if (sock->sk != sk)
		return 0;
	sock->state = SS_UNCONNECTED;
	sk->sk_shutdown = 0;
	sk_set_peek_off(sk, -1);
	return smc_tcp_disconnect(smc);
}

/*
 * shutdown() ended the attempt, and gave the socket a new sock: what error is pending there?
 * The next attempt may have begun on that, and its outcome is not for us.
 */
static int smc_connect_ended(struct socket *sock)
{
	struct smc_sock *smc = smc_lock(sock);
	int rc = -ECONNABORTED;

	if (!smc)
		return rc;
	if (!smc->is_connecting)
		rc = smc_connect_result(smc, sock);
	smc_unlock(smc);
	return rc;
}

static int smc_connect(struct socket *sock, struct sockaddr *addr, int addr_len, int flags)
{
	struct smc_sock *smc;
	bool was_connecting;
	long timeo;
	int rc;

again:
	smc = smc_lock(sock);
	if (!smc)
		return smc_forward_connect(sock, addr, addr_len, flags);

	rc = -EINVAL;
	if (addr_len < (int)sizeof(addr->sa_family))
		goto out;
	if (addr->sa_family == AF_UNSPEC) {
		rc = smc_disconnect(smc, sock);
		if (rc != -EAGAIN)
			goto out;
		smc_unlock(smc);
		goto again;
	}
	rc = -EISCONN;
	if (sock->state == SS_CONNECTED || smc->sk.sk_state == SMC_STATE_LISTEN)
		goto out;
	/* there was no memory for a new sock when the last attempt failed */
	if (smc->sk.sk_state == SMC_STATE_CLOSED && sock->state == SS_UNCONNECTED) {
		rc = smc_start_over(smc, sock, 0);
		if (rc)
			goto out;
		smc_unlock(smc);
		goto again;
	}
	rc = -EINVAL;
	if (!smc->tcp || sock->state == SS_DISCONNECTING)
		goto out;
	timeo = sock_sndtimeo(&smc->sk, flags & O_NONBLOCK);
	was_connecting = sock->state == SS_CONNECTING;
	if (!was_connecting) {
		rc = smc_connect_start(smc, sock, addr, addr_len);
		/* the outcome is for the next call, even if it is known */
		if (rc != -EINPROGRESS || !timeo)
			goto out;
	}
	rc = smc_wait_connect(smc, &timeo);
	if (smc->is_grafted) {
		if (!(flags & O_NONBLOCK))
			smc_orphan_settle(smc, sock);
		/* our sock may go, and was the last that kept the module */
		__module_get(THIS_MODULE);
		smc_unlock(smc);
		/* TCP is connected and tells it in its own words */
		rc = smc_fallback_forward(sock)->connect(sock, addr, addr_len, flags);
		module_put(THIS_MODULE);
		return rc;
	}
	if (!rc && sock->sk != &smc->sk) {
		smc_unlock(smc);
		return smc_connect_ended(sock);
	}
	if (rc == -EAGAIN)
		rc = was_connecting ? -EALREADY : -EINPROGRESS;
	else if (!rc)
		rc = smc_connect_result(smc, sock);
out:
	smc_unlock(smc);
	return rc;
}

static int smc_accept SMC_ACCEPT_PARAMS
{
	struct smc_sock *smc = smc_lock(sock);
	struct smc_sock *child;
	long timeo;
	int rc;

	if (!smc)
		return smc_forward_accept SMC_ACCEPT_ARGS_FOR(sock);
	timeo = sock_rcvtimeo(&smc->sk, SMC_ACCEPT_FLAGS & O_NONBLOCK);
	child = smc_listen_wait(smc, timeo, &rc);
	if (!child && !rc) {
		/* the next one never meant to be SMC */
		rc = smc->tcp->ops->accept SMC_ACCEPT_ARGS_FOR(smc->tcp);
		if (!rc)
			smc_fallback_accepted(smc, newsock);
		smc_listen_go_on(smc);
	}
	SMC_ACCEPT_SET_EMPTY(smc->sk.sk_state != SMC_STATE_LISTEN || !smc_listen_is_ready(smc));
	smc_unlock(smc);
	if (!child)
		return rc;

	smc_tcp_adopt(child, newsock);
	if (child->fallback != SMC_DECLINE_NONE) {
		smc_fallback_adopt(child, newsock);
		return 0;
	}
	lock_sock(&child->sk);
	smc_conn_adopt(child->conn);
	sock_graft(&child->sk, newsock);
	newsock->state = SS_CONNECTED;
	set_bit(SOCK_CUSTOM_SOCKOPT, &newsock->flags);
	set_bit(SOCK_SUPPORT_ZC, &newsock->flags);
	release_sock(&child->sk);
	return 0;
}

static int smc_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct smc_sock *smc = smc_lock(sock);
	int rc;

	if (!smc)
		return smc_fallback_forward(sock)->getname(sock, addr, peer);
	if (!smc->tcp)
		rc = -EBADF;
	else if (peer == 1 && (smc->is_connecting || smc->sk.sk_state == SMC_STATE_CLOSED ||
			       smc_close_is_over(smc)))
		/* TCP may be connected: before connect() has an outcome, after both ends */
		rc = -ENOTCONN;
	else
		rc = smc->tcp->ops->getname(smc->tcp, addr, peer);
	smc_unlock(smc);
	return rc;
}

static __poll_t smc_poll_data(struct smc_sock *smc, struct smc_conn *conn, struct socket *sock)
{
	u8 peer = conn ? READ_ONCE(conn->ctl.rx_conn_flags) : 0;
	u8 shutdown = READ_ONCE(smc->sk.sk_shutdown);
	struct sock *sk = &smc->sk;
	__poll_t mask = 0;

	/* an abort is an error, which the close machine is about to raise */
	if (peer && !(peer & SMC_CDC_ABORT))
		shutdown |= RCV_SHUTDOWN;
	if (shutdown == SHUTDOWN_MASK || READ_ONCE(sk->sk_state) == SMC_STATE_CLOSED)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (!smc_state_is_usable(&smc->close) || !conn)
		return mask | (shutdown & SEND_SHUTDOWN ? EPOLLOUT | EPOLLWRNORM : 0);

	if (smc_rx_is_readable(conn))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (smc_rx_has_urgent(conn))
		mask |= EPOLLPRI;
	if (shutdown & SEND_SHUTDOWN || smc_tx_is_writable(conn)) {
		mask |= EPOLLOUT | EPOLLWRNORM;
	} else {
		/* not by sk_set_bit(): without the lock the sock may lose its file */
		if (sock_flag(sk, SOCK_FASYNC))
			set_bit(SOCKWQ_ASYNC_NOSPACE, &sock->wq.flags);
		set_bit(SOCK_NOSPACE, &sock->flags);
		/* pairs with the completion that frees ring space, then looks */
		smp_mb__after_atomic();
		if (smc_tx_is_writable(conn))
			mask |= EPOLLOUT | EPOLLWRNORM;
	}
	return mask;
}

/* No connection yet; shutdown() may have been called all the same. */
static __poll_t smc_poll_new(const struct sock *sk)
{
	__poll_t mask = EPOLLOUT | EPOLLWRNORM | EPOLLHUP;

	if (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	return mask;
}

static __poll_t smc_poll_sock(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = &smc->sk;
	__poll_t mask = 0;

	if (READ_ONCE(smc->was_told))
		smc_hs_poll(smc);

	/* pairs with smp_store_release() where it ends */
	if (smp_load_acquire(&smc->is_connecting)) {
		;
	} else if (READ_ONCE(sk->sk_state) == SMC_STATE_LISTEN) {
		mask |= smc_listen_is_ready(smc) ? EPOLLIN | EPOLLRDNORM : 0;
	} else if (READ_ONCE(sk->sk_state) == SMC_STATE_INIT) {
		mask |= smc_poll_new(sk);
	} else {
		rcu_read_lock();
		mask |= smc_poll_data(smc, READ_ONCE(smc->conn), sock);
		rcu_read_unlock();
	}
	/* last, as tcp_poll() does it: the error is there before the state that it led to */
	smp_rmb();
	if ((READ_ONCE(sk->sk_err) && READ_ONCE(sk->sk_state) != SMC_STATE_LISTEN) ||
	    !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

static __poll_t smc_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct smc_sock *smc;
	bool has_left;
	__poll_t mask;

	while ((smc = smc_sock_enter(sock))) {
		sock_poll_wait(file, sock, wait);
		mask = smc_poll_sock(smc, sock);
		/*
		 * TCP's or another of ours may have the file by now, and whoever was woken
		 * for that was woken before we waited: smc_fallback_graft(), smc_renew().
		 */
		has_left = READ_ONCE(sock->sk) != &smc->sk;
		sock_put(&smc->sk);
		if (!has_left)
			return mask;
		/* it is the same wait queue */
		wait = NULL;
	}
	return smc_fallback_forward(sock)->poll(file, sock, wait);
}

/* How much is in the queues; -EINVAL at a listener, as with TCP. */
static int smc_inspect(struct smc_sock *smc, unsigned int cmd, int *answ)
{
	struct smc_conn *conn = smc->conn;

	sock_owned_by_me(&smc->sk);
	*answ = 0;
	if (smc->sk.sk_state == SMC_STATE_LISTEN && cmd != SIOCATMARK)
		return -EINVAL;
	/* until it is connected, it is the handshake's */
	if (smc->is_connecting)
		return 0;
	/* what is to be read may be all that is left of the connection */
	if (!conn || (!conn->token && cmd != SIOCINQ))
		return 0;
	switch (cmd) {
	case SIOCINQ:
		*answ = smc_rx_inq(smc);
		break;
	case SIOCOUTQ:
		*answ = conn->sndbuf.size - smc_conn_writable(conn);
		break;
	case SIOCOUTQNSD:
		*answ = smc_conn_unsent(conn);
		break;
	case SIOCATMARK:
		*answ = smc_rx_is_at_mark(smc);
		break;
	}
	return 0;
}

static int smc_ioctl(struct socket *sock, unsigned int cmd, unsigned long arg)
{
	struct smc_sock *smc = smc_lock(sock);
	int answ, rc;

	if (!smc)
		return smc_fallback_forward(sock)->ioctl(sock, cmd, arg);
	switch (cmd) {
	case SIOCINQ:
	case SIOCOUTQ:
	case SIOCOUTQNSD:
	case SIOCATMARK:
		rc = smc_inspect(smc, cmd, &answ);
		if (!rc)
			rc = put_user(answ, (int __user *)arg);
		break;
	default:
		rc = smc->tcp ? smc->tcp->ops->ioctl(smc->tcp, cmd, arg) : -EBADF;
	}
	smc_unlock(smc);
	return rc;
}

/*
 * The same for io_uring, which asks the sock that the file has, or had a moment
 * ago: one that has left it was not connected, or was dissolved, and has nothing to
 * be read.
 */
static int smc_proto_ioctl(struct sock *sk, int cmd, int *answ)
{
	int rc = -ENOIOCTLCMD;

	lock_sock(sk);
	if (cmd == SIOCINQ || cmd == SIOCOUTQ)
		rc = smc_inspect(smc_sk(sk), cmd, answ);
	release_sock(sk);
	return rc;
}

static int smc_listen(struct socket *sock, int backlog)
{
	struct smc_sock *smc = smc_lock(sock);
	int rc;

	if (!smc)
		return smc_fallback_forward(sock)->listen(sock, backlog);
	rc = -EINVAL;
	if (sock->state == SS_UNCONNECTED && smc->tcp && !smc->is_connecting &&
	    (smc->sk.sk_state == SMC_STATE_INIT || smc->sk.sk_state == SMC_STATE_LISTEN)) {
		smc_settle(smc, sock);
		smc_tcp_lend_file(smc, sock->file);
		rc = smc_listen_start(smc, backlog);
	}
	smc_unlock(smc);
	return rc;
}

/* What connect() without waiting came to is settled, as by a second connect(). */
static void smc_shutdown_settle(const struct smc_sock *smc, struct socket *sock)
{
	if (sock->state != SS_CONNECTING || smc->is_connecting)
		return;
	sock->state = smc_connect_has_failed(smc) ? SS_DISCONNECTING : SS_CONNECTED;
}

static int smc_shutdown(struct socket *sock, int how)
{
	struct smc_sock *smc;
	int rc;

again:
	smc = smc_lock(sock);
	if (!smc)
		return smc_fallback_forward(sock)->shutdown(sock, how);
	rc = -EINVAL;
	if (how < SHUT_RD || how > SHUT_RDWR)
		goto out;
	smc_shutdown_settle(smc, sock);
	if (smc->is_connecting || smc->sk.sk_state == SMC_STATE_INIT ||
	    smc->sk.sk_state == SMC_STATE_LISTEN)
		rc = smc_shutdown_early(smc, sock, how);
	else
		rc = smc_close_shutdown(smc, how);
out:
	smc_unlock(smc);
	if (rc == -EAGAIN)
		goto again;
	return rc;
}

/*
 * For calls in which TCP copies: the handshake keeps off the inner socket until
 * smc_hs_resume(). What it could not do in an earlier call goes first, or a program that
 * calls again and again until it is connected never would be.
 */
static struct smc_sock *smc_lock_and_pause(struct socket *sock)
{
	struct smc_sock *smc = smc_lock(sock);

	if (smc && smc->is_connecting && work_busy(&smc->hs_work)) {
		smc_release_lock(smc);
		flush_work(&smc->hs_work);
		sock_put(&smc->sk);
		smc = smc_lock(sock);
	}
	if (smc)
		smc_hs_pause(smc);
	return smc;
}

static int smc_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			  unsigned int optlen)
{
	struct smc_sock *smc = smc_lock_and_pause(sock);
	int rc;

	if (!smc) {
		const struct proto_ops *ops = smc_fallback_forward(sock);

		if (level == SOL_SOCKET)
			return sock_setsockopt(sock, level, optname, optval, optlen);
		return ops->setsockopt(sock, level, optname, optval, optlen);
	}
	rc = smc_opt_set(smc, sock, level, optname, optval, optlen);
	smc_hs_resume(smc);
	smc_release_lock(smc);
	if (!rc && level == SOL_SOCKET)
		smc_opt_mirror(sock, optname, optval, optlen);
	sock_put(&smc->sk);
	return rc;
}

static int smc_getsockopt(struct socket *sock, int level, int optname, char __user *optval,
			  int __user *optlen)
{
	struct smc_sock *smc = smc_lock_and_pause(sock);
	int rc;

	if (!smc)
		return smc_fallback_forward(sock)->getsockopt(sock, level, optname, optval, optlen);
	rc = smc_opt_get(smc, level, optname, optval, optlen);
	smc_hs_resume(smc);
	smc_unlock(smc);
	return rc;
}

static int smc_sendmsg(struct socket *sock, struct msghdr *msg, size_t len)
{
	struct smc_sock *smc = smc_lock(sock);
	struct sock *sk;
	long timeo;
	int rc;

	if (!smc)
		return smc_forward_sendmsg(sock, msg, len);
	sk = &smc->sk;
	if (msg->msg_flags & MSG_FASTOPEN) {
		rc = -EISCONN;
		if (sk->sk_state == SMC_STATE_INIT)
			rc = smc_opt_stay_with_tcp(smc, sock, SMC_DECLINE_OPTUNSUPP);
		smc_unlock(smc);
		if (rc)
			return rc == -EINVAL ? -EALREADY : rc;
		return smc_forward_sendmsg(sock, msg, len);
	}
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	rc = smc_wait_connect(smc, &timeo);
	if (smc->is_grafted) {
		smc_unlock(smc);
		return smc_forward_sendmsg(sock, msg, len);
	}
	if (!rc && smc_state_is_usable(&smc->close))
		rc = smc_tx_sendmsg(smc, msg, len, timeo);
	else if (!rc)
		rc = sk_stream_error(sk, msg->msg_flags, -EPIPE);
	smc_unlock(smc);
	return rc;
}

/*
 * sendfile() was asked for more than the file had, so what it sent last came with
 * MSG_MORE. TCP_CORK still holds.
 */
static void __maybe_unused smc_splice_eof(struct socket *sock)
{
	struct smc_sock *smc = smc_lock(sock);

	if (!smc) {
		smc_compat_splice_eof(smc_fallback_forward(sock), sock);
		return;
	}
	if (smc_state_is_usable(&smc->close) && !(smc->nonagle & TCP_NAGLE_CORK))
		smc_tx_flush(smc->conn);
	smc_unlock(smc);
}

/* recv() with no connection (any more). */
static int smc_recv_closed(struct smc_sock *smc)
{
	int rc;

	if (smc->sk.sk_state == SMC_STATE_LISTEN)
		return -ENOTCONN;
	/* the end of the stream came before whatever else */
	if (sock_flag(&smc->sk, SOCK_DONE))
		return 0;
	rc = sock_error(&smc->sk);
	if (rc)
		return rc;
	return smc->sk.sk_shutdown & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

static int smc_recvmsg(struct socket *sock, struct msghdr *msg, size_t len, int flags)
{
	struct smc_sock *smc = smc_lock(sock);
	struct sock *sk;
	long timeo;
	int rc;

	if (!smc)
		return smc_forward_recvmsg(sock, msg, len, flags);
	sk = &smc->sk;
	if (flags & MSG_ERRQUEUE) {
		msg->msg_namelen = 0;
		rc = smc_notice_recv(smc, msg);
		smc_unlock(smc);
		return rc;
	}
	/* as on TCP: without a connection there is no such byte, whatever the state */
	if (flags & MSG_OOB && !smc_state_is_usable(&smc->close)) {
		msg->msg_namelen = 0;
		rc = sk->sk_state == SMC_STATE_LISTEN ? -ENOTCONN : -EINVAL;
		smc_unlock(smc);
		return rc;
	}
	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	rc = smc_wait_connect(smc, &timeo);
	if (smc->is_grafted) {
		smc_unlock(smc);
		return smc_forward_recvmsg(sock, msg, len, flags);
	}
	msg->msg_namelen = 0;
	/* or has it ended, and left something to be read? */
	if (!rc && (smc_state_is_usable(&smc->close) ||
		    (smc->conn && smc->conn->phase == SMC_CONN_UNREAD)))
		rc = smc_rx_recvmsg(smc, msg, len, flags, timeo);
	else if (!rc)
		rc = smc_recv_closed(smc);
	smc_unlock(smc);
	return rc;
}

/*
 * For TCP_ZEROCOPY_RECEIVE. Without the socket lock: who has that copies, and may take the
 * lock of the address space, which is held here.
 */
static int smc_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma)
{
	struct smc_sock *smc = smc_sock_enter(sock);

	if (!smc)
		return smc_fallback_forward(sock)->mmap(file, sock, vma);
	sock_put(&smc->sk);
	return -ENODEV;
}

/*
 * What a sockmap or another user in the kernel asks of a sock of TCP behind our operations,
 * without a call on the file that would have replaced them (smc_fallback_forward()).
 */
static int smc_peek_len(struct socket *sock)
{
	return smc_sock_is_ours(sock->sk) ? 0 : smc_tcp_ops(sock)->peek_len(sock);
}

static int smc_read_sock(struct sock *sk, read_descriptor_t *desc, sk_read_actor_t recv_actor)
{
	if (smc_sock_is_ours(sk))
		return -EOPNOTSUPP;
	return smc_tcp_ops(sk->sk_socket)->read_sock(sk, desc, recv_actor);
}

static int smc_read_skb(struct sock *sk, skb_read_actor_t recv_actor)
{
	if (smc_sock_is_ours(sk))
		return -EOPNOTSUPP;
	return smc_tcp_ops(sk->sk_socket)->read_skb(sk, recv_actor);
}

static int smc_sendmsg_locked(struct sock *sk, struct msghdr *msg, size_t size)
{
	if (smc_sock_is_ours(sk))
		return -EOPNOTSUPP;
	return smc_tcp_ops(sk->sk_socket)->sendmsg_locked(sk, msg, size);
}

static const struct proto_ops smc_sock_ops = {
	.owner		= THIS_MODULE,
	.family		= PF_SMC,
	/* set-up */
	.bind		= smc_bind,
	.listen		= smc_listen,
	.accept		= smc_accept,
	.connect	= smc_connect,
	/* data */
	.sendmsg	= smc_sendmsg,
	.recvmsg	= smc_recvmsg,
	.poll		= smc_poll,
	SMC_PROTO_SPLICE_EOF(smc_splice_eof)
	/* questions and settings */
	.getname	= smc_getname,
	.getsockopt	= smc_getsockopt,
	.setsockopt	= smc_setsockopt,
	.ioctl		= smc_ioctl,
	.gettstamp	= sock_gettstamp,
	.set_peek_off	= sk_set_peek_off,
	.set_rcvlowat	= smc_opt_rcvlowat,
	/* end */
	.shutdown	= smc_shutdown,
	.release	= smc_release,
	/* of a sock of TCP only */
	.mmap		= smc_mmap,
	.peek_len	= smc_peek_len,
	.read_sock	= smc_read_sock,
	.read_skb	= smc_read_skb,
	.sendmsg_locked	= smc_sendmsg_locked,
	/* never */
	.socketpair	= sock_no_socketpair,
};

/* What a socket has from the beginning, of whichever family. */
static int smc_begin(struct smc_sock *smc, struct socket *sock, int kern)
{
	struct net *net = sock_net(&smc->sk);
	int rc;

	rc = smc_tcp_create(smc, net, kern);
	if (rc)
		return rc;
	set_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
	/* io_uring is told that the pages are free when the call has copied them */
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
	smc_opt_begin(smc);
	smc->limits_handshakes = READ_ONCE(smc_net(net)->set.limit_smc_hs);
	smc_sock_hash(smc);
	return 0;
}

static int smc_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	struct smc_sock *smc;
	int rc;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != SMCPROTO_SMC && protocol != SMCPROTO_SMC6)
		return -EPROTONOSUPPORT;

	sock->ops = &smc_sock_ops;
	sock->state = SS_UNCONNECTED;
	smc = smc_sock_alloc(net, sock, protocol, kern);
	if (!smc)
		return -ENOBUFS;
	rc = smc_begin(smc, sock, kern);
	if (rc) {
		sock_orphan(&smc->sk);
		sock->sk = NULL;
		sock_put(&smc->sk);
	}
	return rc;
}

/* socket() of AF_INET or AF_INET6 with IPPROTO_SMC, the core has made the sock. */
static int smc_proto_init(struct sock *sk)
{
	smc_sock_set_up(sk);
	return smc_begin(smc_sk(sk), sk->sk_socket, !sk->sk_net_refcnt);
}

/*
 * smc_proto_init() failed, or a BPF program of the control group refused the socket.
 * Unhashed first: sock_diag looks at the inner socket of what it finds.
 */
static void smc_proto_destroy(struct sock *sk)
{
	smc_sock_unhash(smc_sk(sk));
	smc_tcp_release(smc_sk(sk));
}

static const struct net_proto_family smc_family = {
	.family	= PF_SMC,
	.owner	= THIS_MODULE,
	.create	= smc_create,
};

/* News of a connection that the close machine must hear. */
static void smc_event_close(struct smc_sock *smc, u32 events)
{
	if (events & SMC_EV_ABORT)
		smc_stat_inc(sock_net(&smc->sk), SMC_STAT_ABORTS_RX);
	if (events & (SMC_EV_INVALID | SMC_EV_LOST))
		smc_sock_pend(smc, SMC_PENDING_FAULT);
	if (events & SMC_EV_LINK_LOST)
		smc_sock_pend(smc, SMC_PENDING_LINK_LOST);
	/* it finds in the connection what they tell of */
	if (events & (SMC_EV_DONE | SMC_EV_CLOSED | SMC_EV_ABORT | SMC_EV_FINAL_DONE) ||
	    (events & SMC_EV_TX_DONE && smc_state_is_draining(&smc->close)))
		smc_sock_queue(smc, &smc->close_work);
}

/*
 * The send ring may have room. Only who has found none is woken: a reader that
 * waits for the answer to what was just sent sleeps on.
 */
static void smc_event_space(struct smc_sock *smc)
{
	struct socket *sock;
	bool is_wanted;

	/* pairs with the setters of the bit, who look at the ring after it */
	smp_mb();
	rcu_read_lock();
	sock = smc_sock_socket(&smc->sk);
	is_wanted = sock && test_bit(SOCK_NOSPACE, &sock->flags);
	rcu_read_unlock();
	if (is_wanted && smc_tx_is_writable(smc->conn))
		smc_sock_wake_writers(smc);
}

/*
 * An urgent byte is here or under way. A reader that is woken looks for the
 * signal first. The lock keeps the file, which close() is about to take away.
 */
static void smc_event_urgent(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;

	read_lock_bh(&sk->sk_callback_lock);
	if (smc_sock_socket(sk))
		sk_send_sigurg(sk);
	read_unlock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready(sk);
}

/* The third upcall: a connection has news. Any context but hard interrupt. */
static void smc_event(struct smc_conn *conn, u32 events)
{
	struct smc_sock *smc = smc_sk(conn->sk);
	struct sock *sk = &smc->sk;

	if (events & SMC_EV_RINGS_FREE)
		smc_llc_trim(conn->lgr);
	/* a socket that has dropped it hears nothing of it; the peer is to be told what is due */
	if (READ_ONCE(smc->conn) != conn)
		events &= SMC_EV_SPACE | SMC_EV_UPDATE_REQ | SMC_EV_BLOCKED | SMC_EV_MOVED;
	/* accept() may wait for it */
	if (READ_ONCE(smc->child) &&
	    events & (SMC_EV_DATA | SMC_EV_URG_PENDING | SMC_EV_DONE | SMC_EV_CLOSED))
		smc_sock_queue(smc, &smc->hs_work);
	if (events & SMC_EV_URG_PENDING)
		smc_event_urgent(smc);
	if (events & SMC_EV_DATA) {
		if (sock_flag(sk, SOCK_DEAD) || READ_ONCE(sk->sk_shutdown) == SHUTDOWN_MASK)
			smc_sock_queue(smc, &smc->close_work);
		sk->sk_data_ready(sk);
	} else if (events & SMC_EV_URG) {
		/* where the byte is that had come before: a reader can step over it */
		sk->sk_data_ready(sk);
	}
	/* the window opened, the peer waits for an update, the link is new: push decides */
	if (events & (SMC_EV_SPACE | SMC_EV_UPDATE_REQ | SMC_EV_BLOCKED | SMC_EV_MOVED))
		smc_tx_push(conn);
	if (events & SMC_EV_TX_DONE)
		smc_event_space(smc);
	smc_event_close(smc, events);
	if (!(events & (SMC_EV_DONE | SMC_EV_CLOSED)))
		return;
	/*
	 * What connect() comes to wakes everybody. Who polls for it is not to be woken before:
	 * io_uring calls connect() once more then, and takes "already" for the outcome.
	 * Pairs with the wake-up behind @is_connecting in smc_hs_finish_client(): it finds
	 * what the message said, or we find that it is over.
	 */
	smp_mb();
	if (!READ_ONCE(smc->is_connecting))
		sk->sk_state_change(sk);
	/* as tcp_fin() */
	if (!sock_flag(sk, SOCK_DEAD))
		sk_wake_async(sk, SOCK_WAKE_WAITD,
			      READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN ? POLL_HUP : POLL_IN);
}

/* The upcalls from the queues of a link. */
static const struct smc_wr_ops smc_link_ops = {
	.rx_cdc	= smc_cdc_rx,
	.rx_llc	= smc_llc_rx,
	.broken	= smc_llc_broken,
};

static const struct smc_sock_works smc_works = {
	.handshake	 = smc_hs_work,
	.handshake_grow	 = smc_hs_grow_work,
	.handshake_timer = smc_hs_timer,
	.close		 = smc_close_work,
	.close_timer	 = smc_close_timer,
	.keep_timer	 = smc_keep_timer,
	.event		 = smc_event,
	.ioctl		 = smc_proto_ioctl,
	.keepalive	 = smc_opt_keepalive,
	.init		 = smc_proto_init,
	.destroy	 = smc_proto_destroy,
};

static int __net_init smc_init_net(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	int rc;

	sn->spare.max = &sn->set.spare_mem;
	rc = smc_stats_init_net(net);
	if (rc)
		return rc;
	rc = smc_peer_init_net(net);
	if (rc)
		goto out_stats;
	rc = smc_service_init_net(net);
	if (rc)
		goto out_peer;
	smc_pnet_init_net(net);
	rc = smc_sysctl_init_net(net);
	if (rc)
		goto out_service;
	return 0;

out_service:
	smc_service_exit_net(net);
out_peer:
	smc_peer_exit_net(net);
out_stats:
	smc_stats_exit_net(net);
	return rc;
}

static void __net_exit smc_exit_net(struct net *net)
{
	smc_llc_end_all(net);
	smc_lgr_end_all(net);
	smc_sysctl_exit_net(net);
	smc_service_exit_net(net);
	smc_peer_exit_net(net);
	smc_fallback_exit_net(net);
	smc_stats_exit_net(net);
}

static struct pernet_operations smc_net_ops = {
	.init	= smc_init_net,
	.exit	= smc_exit_net,
	.id	= &smc_net_id,
	.size	= sizeof(struct smc_net),
};

/*
 * The host goes down: peers learn it from DELETE LINK rather than from a link
 * that falls silent. Waits for some seconds at most.
 */
static int smc_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	smc_llc_end_all(NULL);
	return NOTIFY_DONE;
}

static struct notifier_block smc_reboot_nb = { .notifier_call = smc_reboot };

static int __init smc_init(void)
{
	int rc;

	rc = register_pernet_subsys(&smc_net_ops);
	if (rc)
		return rc;
	rc = smc_llc_init_module();
	if (rc)
		goto out_net;
	smc_link_init(&smc_link_ops);
	rc = smc_core_init();
	if (rc)
		goto out_llc;
	rc = smc_shrink_init();
	if (rc)
		goto out_core;
	rc = smc_sock_init(&smc_works);
	if (rc)
		goto out_shrink;
	rc = smc_ib_init();
	if (rc)
		goto out_sock;
	rc = smc_tcp_init();
	if (rc)
		goto out_ib;
	rc = smc_netlink_init();
	if (rc)
		goto out_tcp;
	rc = register_reboot_notifier(&smc_reboot_nb);
	if (rc)
		goto out_netlink;
	rc = sock_register(&smc_family);
	if (rc)
		goto out_reboot;
	smc_sock_offer(&smc_sock_ops);
	smc_oper_init();
	return 0;

out_reboot:
	unregister_reboot_notifier(&smc_reboot_nb);
out_netlink:
	smc_netlink_exit();
out_tcp:
	smc_tcp_exit();
out_ib:
	smc_ib_exit();
out_sock:
	smc_sock_exit();
out_shrink:
	smc_shrink_exit();
out_core:
	smc_core_exit();
out_llc:
	smc_llc_exit_module();
out_net:
	unregister_pernet_subsys(&smc_net_ops);
	return rc;
}

/* No socket is left, each holds the module. Groups may linger (TMR-10). */
static void __exit smc_exit(void)
{
	smc_oper_exit();
	smc_sock_withdraw();
	sock_unregister(PF_SMC);
	unregister_reboot_notifier(&smc_reboot_nb);
	smc_netlink_exit();
	smc_tcp_exit();
	smc_orphan_exit();
	/* nothing is given back early any more: it all goes now */
	smc_shrink_exit();
	/* peers are told, PEER-01 */
	smc_llc_end_all(NULL);
	smc_lgr_end_all(NULL);
	smc_core_exit();
	smc_ib_exit();
	smc_sock_exit();
	smc_llc_exit_module();
	unregister_pernet_subsys(&smc_net_ops);
}

module_init(smc_init);
module_exit(smc_exit);

MODULE_DESCRIPTION("SMC-R: stream sockets over RDMA, RFC 7609");
MODULE_LICENSE("GPL");
/* DKMS takes a module without one for the same as the distribution's, and leaves that */
MODULE_VERSION("0.1.0");
MODULE_ALIAS_NETPROTO(PF_SMC);
MODULE_ALIAS("net-pf-2-proto-256-type-1");
MODULE_ALIAS("net-pf-10-proto-256-type-1");
MODULE_ALIAS("net-pf-16-proto-16-family-SMC_GEN_NETLINK");
