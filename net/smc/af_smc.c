// SPDX-License-Identifier: GPL-2.0
/*
 * The socket family AF_SMC: the calls of applications, and the module's setup.
 *
 * Operation: the sock is TCP's. A call takes the socket lock and reads the socket state
 * (smc_sock.h); without a state the sock is plain TCP, and the call is forwarded. A call that slept
 * checks the state again. Each call that may sleep begins with guard(smc_call), which holds the
 * module, or with guard(smc_entry). Calls without a function here are TCP's.
 */
#include <linux/module.h>
#include <linux/reboot.h>
#include <linux/smc.h>
#include <linux/sockios.h>
#include <net/busy_poll.h>
#include <net/inet_common.h>
#include <net/tcp.h>

#include <asm/ioctls.h>

#include "smc_compat.h"
#include "rdma/smc_event.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_mtu.h"
#include "rdma/smc_net.h"
#include "rdma/smc_pnet.h"
#include "rdma/smc_unfit.h"
#include "group/smc_cdc.h"
#include "group/smc_core.h"
#include "group/smc_link.h"
#include "group/smc_llc.h"
#include "group/smc_llc_msg.h"
#include "group/smc_peer.h"
#include "group/smc_pool.h"
#include "group/smc_terminate.h"
#include "sock/smc_close.h"
#include "sock/smc_history.h"
#include "sock/smc_hs.h"
#include "sock/smc_hs_path.h"
#include "sock/smc_hs_ring.h"
#include "sock/smc_keepalive.h"
#include "sock/smc_listen.h"
#include "sock/smc_option.h"
#include "sock/smc_path.h"
#include "sock/smc_policy.h"
#include "sock/smc_rx.h"
#include "sock/smc_sockopt.h"
#include "sock/smc_tcp.h"
#include "sock/smc_tx.h"
#include "sock/smc_wake.h"
#include "control/smc_netlink.h"
#include "control/smc_netlink_event.h"
#include "control/smc_pnetid.h"
#include "control/smc_sysctl.h"

/* Return: the state, with the socket lock held; NULL, without it, for a sock that is plain TCP. */
static struct smc_sock *smc_lock(struct sock *sk)
{
	struct smc_sock *smc;

	lock_sock(sk);
	smc = smc_sk(sk);
	if (!smc) {
		release_sock(sk);
		return NULL;
	}
	/* input of the peer is processed first, as TCP does with its backlog */
	if (smc->phase == SMC_PHASE_SMC && smc_close_has_input(smc->conn))
		smc_close_run(smc->conn);
	return smc;
}

/* Runs a pending close machine first. After a sleep the sock may have another state, or none. */
static void smc_unlock(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (!smc) {
		release_sock(sk);
		return;
	}
	if (unlikely(!hlist_empty(&smc->missed_conns)) && smc->phase == SMC_PHASE_SMC)
		smc_close_run(smc->conn);
	smc_close_unlock(smc);
}

static bool smc_is_connecting(const struct smc_sock *smc)
{
	switch (smc->phase) {
	case SMC_PHASE_IDLE:
		return (1 << inet_sk_state_load(smc->sk)) & (TCPF_SYN_SENT | TCPF_SYN_RECV);
	case SMC_PHASE_HANDSHAKE:
	case SMC_PHASE_STOPPING:
		return true;
	default:
		return false;
	}
}

/*
 * Sleep until connect() has an outcome. @timeo: the time limit in jiffies, updated. Returns the
 * state, or NULL if the sock is plain TCP.
 */
static struct smc_sock *smc_wait_connect(struct smc_sock *smc, long *timeo, int *err)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	unsigned int attempts = smc->attempts;
	struct sock *sk = smc->sk;
	wait_queue_head_t *wq;

	*err = 0;
	if (!smc_is_connecting(smc))
		return smc;
	wq = sk_sleep(sk);
	smc_sock_get(smc);
	add_wait_queue(wq, &wait);
	while (smc_is_connecting(smc) && smc->attempts == attempts) {
		*err = *timeo ? sock_intr_errno(*timeo) : -EAGAIN;
		if (!*timeo || signal_pending(current))
			break;
		*err = 0;
		release_sock(sk);
		*timeo = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeo);
		lock_sock(sk);
	}
	remove_wait_queue(wq, &wait);
	if (smc->attempts != attempts)
		*err = -EPIPE;
	smc_sock_put(smc);
	return smc_sk(sk);
}

static void smc_close(struct sock *sk, long timeout)
{
	struct smc_sock *smc;

	guard(smc_call)(sk);
	smc = smc_lock(sk);
	if (smc && smc_sock_listener(smc))
		smc_listen_stop(smc);
	if (!smc || smc->phase == SMC_PHASE_IDLE) {
		if (smc) {
			/* a SYN-ACK must not begin a handshake on a sock that TCP orphans */
			smc_tcp_leave(smc);
			release_sock(sk);
		}
		smc_tcp_prot(sk)->close(sk, timeout);
		return;
	}
	if (smc->phase == SMC_PHASE_SMC) {
		smc_close_by_app(smc, timeout);
	} else {
		/* the work item of the handshake finds the socket closed */
		smc_tcp_shutdown(sk, SHUTDOWN_MASK);
		smc_sock_queue(smc);
	}
	smc_close_release(smc);
	smc_unlock(sk);
}

/* Return: false for an address that TCP will refuse. */
static bool smc_read_peer(const struct sockaddr *addr, int addr_len, struct in6_addr *peer,
			  u16 *port)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	if (addr->sa_family == AF_INET6 && addr_len >= SIN6_LEN_RFC2133)
		*peer = in6->sin6_addr;
	else if (addr->sa_family == AF_INET && addr_len >= sizeof(struct sockaddr_in))
		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, peer);
	else
		return false;
	/* at one place in both families */
	*port = ntohs(in->sin_port);
	return true;
}

static enum smc_decline smc_check_offer(struct smc_sock *smc, const struct sockaddr *addr,
					int addr_len)
{
	enum smc_decline reason;
	struct in6_addr peer;
	u16 port;

	/* an option that SMC does not support was set on the listener */
	if (smc->fallback == SMC_DECLINE_OPTUNSUPP)
		return smc->fallback;
	if (!smc_read_peer(addr, addr_len, &peer, &port))
		return SMC_DECLINE_NONE;
	reason = smc_policy_apply(smc->sk, SMC_POLICY_CONNECT, &peer, port);
	return reason != SMC_DECLINE_NONE ? reason : smc_hs_may_offer(smc, addr, &peer, port);
}

static void smc_choose_offer(struct smc_sock *smc, const struct sockaddr *addr, int addr_len)
{
	smc->peer_diagnosis = 0;
	smc->memory_age_ms = 0;
	smc->is_withdrawn = false;
	smc->fallback = smc_check_offer(smc, addr, addr_len);
	smc_option_offer(smc, smc->fallback == SMC_DECLINE_NONE);
	smc->attempts++;
}

/* TCP's connect() in struct proto: a BPF program of the control group has chosen the address. */
static int smc_connect_tcp(struct sock *sk, SMC_SOCKADDR *addr, int addr_len)
{
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	sock_owned_by_me(sk);
	smc_choose_offer(smc, (const struct sockaddr *)addr, addr_len);
	smc_tcp_follow_connect(smc);
	rc = smc_tcp_prot(sk)->connect(sk, addr, addr_len);
	smc_tcp_follow_connect(smc);
	return rc;
}

/*
 * For connect() and shutdown(). The work item ends the handshake and TCP's connection; its wait for
 * the peer is bounded. Return: false if the handshake completed first.
 */
static bool smc_stop_handshake(struct smc_sock *smc)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = smc->sk;
	wait_queue_head_t *wq = sk_sleep(sk);

	if (smc->phase == SMC_PHASE_HANDSHAKE)
		smc_sock_set_phase(smc, SMC_PHASE_STOPPING);
	smc_sock_queue(smc);
	add_wait_queue(wq, &wait);
	while (smc->phase == SMC_PHASE_STOPPING) {
		release_sock(sk);
		wait_woken(&wait, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT);
		lock_sock(sk);
	}
	remove_wait_queue(wq, &wait);
	return smc_sk(sk) && smc->phase == SMC_PHASE_IDLE;
}

/*
 * connect() to AF_UNSPEC. As with TCP, a listener is stopped, an attempt ends, a connection is
 * aborted, and the socket can be used again.
 */
static int smc_disconnect(struct smc_sock *smc, struct socket *sock, SMC_SOCKADDR *addr,
			  int addr_len, int flags)
{
	struct sock *sk = smc->sk;
	int rc = 0;

	smc->attempts++;
	if (smc->phase == SMC_PHASE_SMC)
		rc = smc_close_dissolve(smc);
	else if (smc->phase != SMC_PHASE_IDLE && !smc_stop_handshake(smc))
		return -EAGAIN;
	else if (smc_sock_listener(smc))
		smc_listen_stop(smc);
	else
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	sock->state = rc ? SS_DISCONNECTING : SS_UNCONNECTED;
	smc_wake_state(sk);
	return rc;
}

/* The attempt has ended; it failed, or its connection was aborted since. */
static bool smc_connect_has_failed(const struct smc_sock *smc)
{
	switch (smc->conn->close.state) {
	case SMC_STATE_CLOSED:
	case SMC_STATE_PEERABORTWAIT:
	case SMC_STATE_PROCESSABORT:
		return true;
	default:
		return false;
	}
}

/* Report the outcome on SMC once, as inet_stream_connect() does. */
static int smc_connect_result(struct smc_sock *smc, struct socket *sock)
{
	int rc;

	if (sock->state != SS_CONNECTING)
		return sock->state == SS_CONNECTED ? -EISCONN : -EINVAL;
	if (!smc_connect_has_failed(smc)) {
		sock->state = SS_CONNECTED;
		return 0;
	}
	rc = smc_sock_take_err(smc);
	smc_close_dissolve(smc);
	sock->state = SS_UNCONNECTED;
	WRITE_ONCE(smc->sk->sk_err, 0);
	return rc ? rc : -ECONNABORTED;
}

/* The attempt failed on TCP, which has the error, or shutdown() ended it. */
static int smc_connect_failed(struct smc_sock *smc, struct socket *sock, SMC_SOCKADDR *addr,
			      int addr_len)
{
	if (sock->state == SS_CONNECTING)
		return __inet_stream_connect(sock, addr, addr_len, O_NONBLOCK, 0);
	return sock_error(smc->sk) ?: -ECONNABORTED;
}

static int smc_connect(struct socket *sock, SMC_SOCKADDR *addr, int addr_len, int flags)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	long timeo;
	int rc, err;

	guard(smc_call)(sk);
	smc_option_prepare_connect(sk, addr, addr_len);
again:
	smc = smc_lock(sk);
	if (!smc)
		return smc_tcp_ops(sock)->connect(sock, addr, addr_len, flags);
	if (addr_len < (int)sizeof(addr->sa_family)) {
		rc = -EINVAL;
		goto out;
	}
	if (addr->sa_family == AF_UNSPEC) {
		rc = smc_disconnect(smc, sock, addr, addr_len, flags);
		if (rc != -EAGAIN)
			goto out;
		release_sock(sk);
		goto again;
	}
	rc = -EALREADY;
	if (smc_sock_listener(smc)) {
		/* also while listen() is under way */
		rc = -EISCONN;
	} else if (smc->phase == SMC_PHASE_IDLE) {
		/* without waiting; or the status of an attempt that is under way */
		rc = __inet_stream_connect(sock, addr, addr_len, flags | O_NONBLOCK, 0);
	}
	timeo = sock_sndtimeo(sk, flags & O_NONBLOCK);
	if (rc == -EALREADY || rc == -EINPROGRESS) {
		smc = smc_wait_connect(smc, &timeo, &err);
		if (!smc) {
			/* TCP is connected and reports it */
			release_sock(sk);
			return smc_tcp_ops(sock)->connect(sock, addr, addr_len, flags);
		}
		if (err == -EAGAIN)
			goto out;
		rc = err;
		if (!err && smc->phase == SMC_PHASE_IDLE)
			rc = smc_connect_failed(smc, sock, addr, addr_len);
	}
	if (!rc && smc->phase == SMC_PHASE_SMC)
		rc = smc_connect_result(smc, sock);
out:
	smc_unlock(sk);
	return rc;
}

/* From accept() on, TCP's memory is charged to the caller. */
static void smc_accept_child(struct sock *sk, struct socket *newsock)
{
	struct smc_sock *smc;

	lock_sock(sk);
	local_bh_disable();
	smc_mem_adopt(sk);
	local_bh_enable();
	smc = smc_sk(sk);
	sock_graft(sk, newsock);
	smc_tcp_label(sk);
	/* the core gave the new socket our operations */
	if (!smc)
		smc_tcp_give_ops(sk);
	newsock->state = SS_CONNECTED;
	set_bit(SOCK_SUPPORT_ZC, &newsock->flags);
	release_sock(sk);
}

static int smc_accept(struct socket *sock, struct socket *newsock, int flags, int *is_empty)
{
	struct smc_accepted child;
	int rc;

	guard(smc_call)(sock->sk);
	rc = smc_listen_accept(sock, flags, &child);
	if (rc)
		return rc;
	*is_empty = child.is_last;
	smc_accept_child(child.sk, newsock);
	if (child.fallback == SMC_DECLINE_NONE)
		return 0;
	smc_stat_inc(sock_net(child.sk), SMC_STAT_SERVER_TCP);
	smc_history_add(child.sk, true, child.fallback, child.peer_diagnosis,
			child.memory_age_ms);
	return 0;
}

SMC_COMPAT_ACCEPT(smc_accept)

static int smc_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	int rc = -EINVAL;

	guard(smc_call)(sk);
	smc_option_prepare_listen(sk);
	smc = smc_lock(sk);
	if (!smc)
		return smc_tcp_ops(sock)->listen(sock, backlog);
	if (smc->phase == SMC_PHASE_IDLE && sock->state == SS_UNCONNECTED &&
	    (1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN))
		rc = smc_listen_begin(smc);
	smc_unlock(sk);
	if (rc)
		return rc;
	rc = smc_tcp_ops(sock)->listen(sock, backlog);
	smc = smc_lock(sk);
	if (smc) {
		smc_listen_begun(smc);
		smc_unlock(sk);
	}
	return rc;
}

static int smc_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct smc_sock *smc;
	bool has_peer = true;

	guard(smc_call)(sock->sk);
	smc = smc_lock(sock->sk);
	if (!smc)
		return smc_tcp_ops(sock)->getname(sock, addr, peer);
	/* TCP may be connected before connect() has an outcome, and after both ends closed */
	if (smc->phase == SMC_PHASE_SMC)
		has_peer = !smc_close_is_over(smc) &&
			   smc->conn->close.state != SMC_STATE_CLOSED;
	else if (smc->phase != SMC_PHASE_IDLE)
		has_peer = false;
	smc_unlock(sock->sk);
	if (peer == 1 && !has_peer)
		return -ENOTCONN;
	return smc_tcp_ops(sock)->getname(sock, addr, peer);
}

static __poll_t smc_poll_data(struct smc_sock *smc, struct smc_conn *conn, struct socket *sock)
{
	u8 peer = READ_ONCE(conn->ctl.rx_conn_flags);
	u8 shutdown = READ_ONCE(smc->shutdown);
	__poll_t mask = 0;

	/* an abort is an error, which the close machine raises */
	if (peer && !(peer & SMC_CDC_ABORT))
		shutdown |= RCV_SHUTDOWN;
	if (shutdown == SHUTDOWN_MASK || READ_ONCE(conn->close.state) == SMC_STATE_CLOSED)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (!smc_state_is_usable(&conn->close))
		return mask | (shutdown & SEND_SHUTDOWN ? EPOLLOUT | EPOLLWRNORM : 0);

	if (smc_rx_is_readable(conn))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (smc_rx_has_urgent(conn))
		mask |= EPOLLPRI;
	if (shutdown & SEND_SHUTDOWN || smc_tx_is_writable(conn)) {
		mask |= EPOLLOUT | EPOLLWRNORM;
	} else {
		if (sock_flag(smc->sk, SOCK_FASYNC))
			set_bit(SOCKWQ_ASYNC_NOSPACE, &sock->wq.flags);
		set_bit(SOCK_NOSPACE, &sock->flags);
		/* pairs with smp_mb() in smc_event_space(): set the bit, then read the ring */
		smp_mb__after_atomic();
		if (smc_tx_is_writable(conn))
			mask |= EPOLLOUT | EPOLLWRNORM;
	}
	return mask;
}

/*
 * Whether a connected socket is SMC's is still undecided. TCP is asked before the state is read: it
 * may become connected in between, and an early EPOLLOUT makes io_uring call connect() again.
 */
static __poll_t smc_poll_idle(struct smc_sock *smc, struct file *file, struct socket *sock)
{
	const struct smc_listener *listener = rcu_dereference(smc->listener);
	__poll_t mask;

	if (listener && inet_sk_state_load(smc->sk) == TCP_LISTEN)
		return smc_listen_is_ready(listener, smc->sk) ? EPOLLIN | EPOLLRDNORM : 0;
	mask = tcp_poll(file, sock, NULL);
	return (1 << inet_sk_state_load(smc->sk)) & (TCPF_CLOSE | TCPF_SYN_SENT | TCPF_LISTEN) ?
	       mask : 0;
}

/* Expects an RCU read section. */
static __poll_t smc_poll_sock(struct smc_sock *smc, struct file *file, struct socket *sock,
			      bool is_spinning)
{
	struct smc_conn *conn;
	__poll_t mask = 0;

	/* pairs with smp_store_release() in smc_sock_set_phase() */
	switch (smp_load_acquire(&smc->phase)) {
	case SMC_PHASE_IDLE:
		return smc_poll_idle(smc, file, sock);
	case SMC_PHASE_SMC:
		conn = READ_ONCE(smc->conn);
		if (!conn)
			break;
		if (is_spinning)
			smc_tx_poll(conn, NULL, NULL);
		mask = smc_poll_data(smc, conn, sock);
		break;
	default:
		break;
	}
	/* last, as in tcp_poll(): an error is set before the state that follows from it */
	smp_rmb();
	if ((READ_ONCE(smc->err) && READ_ONCE(smc->sk->sk_err)) ||
	    !skb_queue_empty_lockless(&smc->sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

static __poll_t smc_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	/* net.core.busy_poll */
	bool is_spinning = poll_requested_events(wait) & POLL_BUSY_LOOP &&
			   sk_can_busy_loop(sock->sk);
	struct smc_sock *smc;
	__poll_t mask = 0;

	guard(smc_entry)();
	/* first: a sock that becomes plain TCP wakes only the entries already queued */
	sock_poll_wait(file, sock, wait);
	rcu_read_lock();
	smc = smc_sk(sock->sk);
	if (smc)
		mask = smc_poll_sock(smc, file, sock, is_spinning);
	rcu_read_unlock();
	return smc ? mask : tcp_poll(file, sock, NULL);
}

static int smc_inspect(struct smc_conn *conn, int cmd)
{
	/* unread data may outlive the link group */
	if (!conn->token && cmd != SIOCINQ)
		return 0;
	switch (cmd) {
	case SIOCINQ:
		return smc_rx_inq(conn);
	case SIOCOUTQ:
		smc_tx_poll(conn, NULL, NULL);
		/* as with TCP, nothing counts after an abort */
		return smc_state_is_open(&conn->close) ? smc_conn_unacked(conn) : 0;
	case SIOCOUTQNSD:
		return smc_conn_unsent(conn);
	default:
		return smc_rx_is_at_mark(conn);
	}
}

/* False: the call is TCP's. */
static bool smc_ioctl(struct sock *sk, int cmd, int *answ)
{
	struct smc_sock *smc;
	bool is_ours;

	switch (cmd) {
	case SIOCINQ:
	case SIOCOUTQ:
	case SIOCOUTQNSD:
	case SIOCATMARK:
		smc = smc_lock(sk);
		break;
	default:
		smc = NULL;
	}
	if (!smc)
		return false;
	is_ours = smc->phase != SMC_PHASE_IDLE;
	/* before that, bytes on TCP belong to the handshake */
	*answ = smc->phase == SMC_PHASE_SMC ? smc_inspect(smc->conn, cmd) : 0;
	smc_unlock(sk);
	return is_ours;
}

SMC_COMPAT_IOCTL(smc_ioctl, smc_tcp_prot)

static int smc_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	int rc = 0;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	guard(smc_call)(sk);
again:
	smc = smc_lock(sk);
	if (!smc)
		return smc_tcp_ops(sock)->shutdown(sock, how);
	switch (smc->phase) {
	case SMC_PHASE_SMC:
		/* the outcome of a nonblocking connect() is known */
		if (sock->state == SS_CONNECTING)
			sock->state = smc_connect_has_failed(smc) ? SS_DISCONNECTING :
								    SS_CONNECTED;
		rc = smc_close_shutdown(smc, how + 1);
		break;
	case SMC_PHASE_IDLE:
		if (!smc_sock_listener(smc) || how == SHUT_WR) {
			smc_unlock(sk);
			return smc_tcp_ops(sock)->shutdown(sock, how);
		}
		smc_listen_stop(smc);
		smc_wake_state(sk);
		break;
	default:
		if (!smc_stop_handshake(smc)) {
			release_sock(sk);
			goto again;
		}
		sock->state = SS_UNCONNECTED;
	}
	smc_unlock(sk);
	return rc;
}

static int smc_setsockopt(struct socket *sock, int level, int optname, sockptr_t optval,
			  unsigned int optlen)
{
	struct sock *sk = sock->sk;

	guard(smc_call)(sk);
	/*
	 * kTLS copies the operations of a sock that is plain TCP. They may still be ours if the
	 * sock was that before it had this socket, and stay ours while a kernel user has it.
	 */
	lock_sock(sk);
	if (!smc_sk(sk))
		smc_tcp_give_ops(sk);
	release_sock(sk);
	if (level == SOL_TCP && optname == TCP_ULP && smc_tcp_is_ours(sock))
		return -EOPNOTSUPP;
	return sock_common_setsockopt(sock, level, optname, optval, optlen);
}

/*
 * Kernel users that replace the callbacks either serve what recvmsg() returns, as sunrpc does, or
 * send first and read TCP's queue themselves (iSCSI's initiator), where nothing comes.
 */
static bool smc_reads_tcp_queue(const struct smc_conn *conn)
{
	return unlikely(!conn->tx_total) && smc_wake_is_taken(conn->sk) && !conn->rx_total;
}

static int smc_forward_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	guard(smc_call)(sk);
	return smc_tcp_prot(sk)->sendmsg(sk, msg, len);
}

/*
 * Without a connection TCP's function fails. It does so under this hold of the lock: later another
 * thread may have begun to connect, and payload would precede the Proposal.
 */
static int smc_send_idle(struct sock *sk, struct msghdr *msg, size_t len)
{
	/* the attempt that it waited for has failed, and this call begins none */
	if (msg->msg_flags & MSG_FASTOPEN && sk->sk_state == TCP_CLOSE)
		return sock_error(sk) ?: -ECONNABORTED;
	return tcp_sendmsg_locked(sk, msg, len);
}

static int smc_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct smc_sock *smc;
	long timeo;
	int rc;

	guard(smc_entry)();
	smc = smc_lock(sk);
	if (!smc)
		return smc_forward_sendmsg(sk, msg, len);
	if (msg->msg_flags & MSG_FASTOPEN && smc->phase == SMC_PHASE_IDLE &&
	    sk->sk_state == TCP_CLOSE && !smc_sock_listener(smc)) {
		smc_tcp_become(smc, SMC_DECLINE_OPTUNSUPP);
		release_sock(sk);
		return smc_forward_sendmsg(sk, msg, len);
	}
	if (msg->msg_flags & MSG_FASTOPEN && smc->phase != SMC_PHASE_IDLE) {
		rc = smc->phase == SMC_PHASE_SMC ? -EISCONN : -EALREADY;
		goto out;
	}
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	smc = smc_wait_connect(smc, &timeo, &rc);
	if (!smc) {
		release_sock(sk);
		return smc_forward_sendmsg(sk, msg, len);
	}
	if (!rc && smc->phase == SMC_PHASE_IDLE) {
		rc = smc_send_idle(sk, msg, len);
	} else if (!rc && smc_sock_is_usable(smc)) {
		rc = smc_reads_tcp_queue(smc->conn) ? -EOPNOTSUPP :
						      smc_tx_sendmsg(smc, msg, len, timeo);
	} else if (!rc) {
		smc->err = 0;
		rc = sk_stream_error(sk, msg->msg_flags, -EPIPE);
	}
out:
	smc_unlock(sk);
	return rc;
}

/*
 * sendfile() reached the end of the file early, so its last send had MSG_MORE. TCP_CORK still
 * applies.
 */
static void __maybe_unused smc_splice_eof(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;

	guard(smc_call)(sk);
	smc = smc_lock(sk);
	if (smc && smc_sock_is_usable(smc)) {
		if (!(tcp_sk(sk)->nonagle & TCP_NAGLE_CORK))
			smc_tx_flush(smc->conn);
		smc_unlock(sk);
		return;
	}
	if (smc)
		smc_unlock(sk);
	smc_compat_splice_eof(smc_tcp_prot(sk), sock);
}

static int smc_recv_closed(struct smc_sock *smc)
{
	int rc;

	/* the end of the stream came before any error */
	if (smc->is_done)
		return 0;
	rc = smc_sock_take_err(smc);
	if (rc)
		return rc;
	return smc->shutdown & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

static int smc_recv_smc(struct smc_sock *smc, struct msghdr *msg, size_t len, int flags,
			long timeo)
{
	bool is_usable = smc_sock_is_usable(smc);

	/* as on TCP: no connection, no urgent byte */
	if (flags & MSG_OOB && !is_usable)
		return -EINVAL;
	/* a connection that ended may have left unread data */
	if (is_usable || smc_conn_readable(smc->conn))
		return smc_rx_recvmsg(smc, msg, len, flags, timeo);
	return smc_recv_closed(smc);
}

/* The result of TCP's recvmsg(), which takes the lock itself and so may read CLC messages. */
static int smc_recv_idle(struct sock *sk)
{
	int rc;

	if (sk->sk_state == TCP_LISTEN)
		return -ENOTCONN;
	rc = sock_error(sk);
	if (rc)
		return rc;
	return sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -ENOTCONN;
}

static int smc_forward_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags,
			       int *addr_len)
{
	guard(smc_call)(sk);
	return smc_compat_recvmsg(smc_tcp_prot(sk), sk, msg, len, flags, addr_len);
}

static int smc_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len)
{
	struct smc_sock *smc;
	long timeo;
	int rc;

	guard(smc_entry)();
	/* notices of SMC are in TCP's error queue */
	smc = flags & MSG_ERRQUEUE ? NULL : smc_lock(sk);
	if (!smc)
		return smc_forward_recvmsg(sk, msg, len, flags, addr_len);
	if (flags & MSG_OOB && smc->phase != SMC_PHASE_SMC && sk->sk_state != TCP_LISTEN) {
		rc = -EINVAL;
		goto out;
	}
	timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	smc = smc_wait_connect(smc, &timeo, &rc);
	if (!smc) {
		release_sock(sk);
		return smc_forward_recvmsg(sk, msg, len, flags, addr_len);
	}
	if (!rc && smc->phase == SMC_PHASE_IDLE)
		rc = smc_recv_idle(sk);
	else if (!rc)
		rc = smc_recv_smc(smc, msg, len, flags, timeo);
out:
	smc_unlock(sk);
	return rc;
}

SMC_COMPAT_RECVMSG(smc_recvmsg)

/* Calls not listed here stay TCP's. */
static void smc_take_over(struct smc_tcp_calls *calls)
{
	calls->prot.close = smc_close;
	calls->prot.connect = smc_connect_tcp;
	calls->prot.sendmsg = smc_sendmsg;
	calls->prot.recvmsg = smc_recvmsg_compat;
	calls->prot.ioctl = smc_ioctl_compat;
	calls->prot.setsockopt = smc_sockopt_set;
	calls->prot.getsockopt = smc_sockopt_get;
	calls->prot.keepalive = smc_sockopt_keepalive;
	smc_compat_set_splice_eof(&calls->prot, smc_splice_eof);

	calls->ops.connect = smc_connect;
	calls->ops.accept = smc_accept_compat;
	calls->ops.listen = smc_listen;
	calls->ops.getname = smc_getname;
	calls->ops.poll = smc_poll;
	calls->ops.shutdown = smc_shutdown;
	calls->ops.setsockopt = smc_setsockopt;
	calls->ops.set_rcvlowat = smc_sockopt_rcvlowat;
	/* the payload is not in TCP's queue; without splice_read the core uses recvmsg() */
	calls->ops.splice_read = NULL;
	calls->ops.sendmsg_locked = NULL;
#ifdef SMC_HAVE_SENDPAGE
	/* of older kernels: they send pages and bypass sendmsg(); the core has others */
	calls->prot.sendpage = NULL;
	calls->ops.sendpage = NULL;
	calls->ops.sendpage_locked = NULL;
#endif
	/* without these KCM, which would replace the callbacks, refuses the socket */
	calls->ops.read_sock = NULL;
	calls->ops.read_skb = NULL;
	calls->ops.peek_len = NULL;
}

/*
 * socket() of AF_SMC: have AF_INET or AF_INET6 make an IPPROTO_SMC sock, then move it into the new
 * struct socket before user space has a descriptor.
 */
static int smc_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	struct socket *inner;
	struct sock *sk;
	int rc;

	if (sock->type != SOCK_STREAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != SMCPROTO_SMC && protocol != SMCPROTO_SMC6)
		return -EPROTONOSUPPORT;
	rc = __sock_create(net, protocol == SMCPROTO_SMC6 ? PF_INET6 : PF_INET, SOCK_STREAM,
			   IPPROTO_SMC, &inner, kern);
	if (rc)
		return rc;
	sk = inner->sk;
	lock_sock(sk);
	inner->sk = NULL;
	sock_graft(sk, sock);
	sock->ops = inner->ops;
	sock->state = SS_UNCONNECTED;
	/* io_uring may reuse the pages once the call has copied them */
	set_bit(SOCK_SUPPORT_ZC, &sock->flags);
	release_sock(sk);
	sock_release(inner);
	return 0;
}

static const struct net_proto_family smc_family = {
	.family	= PF_SMC,
	.owner	= THIS_MODULE,
	.create	= smc_create,
};

static void smc_event_close(struct smc_conn *conn, u32 events)
{
	if (events & SMC_EV_ABORT)
		smc_stat_inc(sock_net(conn->sk), SMC_STAT_ABORTS_RX);
	if (events & (SMC_EV_INVALID | SMC_EV_LOST))
		smc_sock_pend(conn, SMC_PENDING_FAULT);
	if (events & SMC_EV_LINK_LOST)
		smc_sock_pend(conn, SMC_PENDING_LINK_LOST);
	/* the machine reads the details from the connection */
	if (events & (SMC_EV_DONE | SMC_EV_CLOSED | SMC_EV_ABORT) ||
	    (events & SMC_EV_FINAL_DONE && smc_state_awaits_final(&conn->close) &&
	     !smc_close_awaits_fin(conn)) ||
	    (events & SMC_EV_TX_DONE && smc_state_is_draining(&conn->close)))
		smc_sock_queue_close(conn);
}

/* Wakes only writers that found the ring full, not readers. */
static void smc_event_space(struct smc_conn *conn)
{
	struct socket_wq *wq;
	bool is_wanted;

	/* pairs with smp_mb__after_atomic() of those that set SOCK_NOSPACE, then read the ring */
	smp_mb();
	rcu_read_lock();
	wq = rcu_dereference(conn->sk->sk_wq);
	is_wanted = wq && test_bit(SOCK_NOSPACE, &container_of(wq, struct socket, wq)->flags);
	rcu_read_unlock();
	if (is_wanted && smc_tx_is_writable(conn))
		smc_wake_writers(conn->sk);
}

/* SIGURG precedes the wake-up of a reader. The callback lock protects sk_socket from close(). */
static void smc_event_urgent(struct sock *sk)
{
	read_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_socket)
		sk_send_sigurg(sk);
	read_unlock_bh(&sk->sk_callback_lock);
	smc_wake_readers(sk);
}

/* Forward events to the application. Expects an RCU read section. */
static void smc_event_app(struct smc_sock *smc, struct smc_conn *conn, u32 events)
{
	struct sock *sk = smc->sk;

	/* accept() may wait for this event */
	if (READ_ONCE(smc->child) &&
	    events & (SMC_EV_DATA | SMC_EV_URG_PENDING | SMC_EV_DONE | SMC_EV_CLOSED))
		smc_sock_queue(smc);
	if (events & SMC_EV_URG_PENDING)
		smc_event_urgent(sk);
	if (events & SMC_EV_DATA) {
		if (READ_ONCE(smc->is_released) || READ_ONCE(smc->shutdown) == SHUTDOWN_MASK)
			smc_sock_queue_close(conn);
		smc_wake_readers(sk);
	} else if (events & SMC_EV_URG) {
		/* a reader can now step over the position of an earlier urgent byte */
		smc_wake_readers(sk);
	}
	if (events & SMC_EV_TX_DONE)
		smc_event_space(conn);
	if (!(events & (SMC_EV_DONE | SMC_EV_CLOSED)))
		return;
	/*
	 * Pollers are woken only when connect() has its outcome: io_uring would call connect()
	 * again and take EALREADY for the result. Pairs with the wake-up after the phase change in
	 * smc_hs_finish_client(): either that sees this message, or the new phase is seen here.
	 */
	smp_mb();
	if (READ_ONCE(smc->phase) == SMC_PHASE_SMC)
		smc_wake_state(sk);
	/* as tcp_fin() */
	sk_wake_async(sk, SOCK_WAKE_WAITD,
		      READ_ONCE(smc->shutdown) & SEND_SHUTDOWN ? POLL_HUP : POLL_IN);
}

/* The event upcall of a connection. Any context but hard interrupt. */
static void smc_event(struct smc_conn *conn, u32 events)
{
	struct smc_sock *smc;

	if (events & SMC_EV_RINGS_FREE)
		smc_pool_trim(conn->lgr);
	rcu_read_lock();
	/* a socket that dropped the connection gets no events of it */
	smc = smc_conn_sock(conn);
	if (smc)
		smc_event_app(smc, conn, events);
	rcu_read_unlock();
	/* smc_tx_push() decides what a new window, a request or a new link allows */
	if (events & (SMC_EV_SPACE | SMC_EV_UPDATE_REQ | SMC_EV_BLOCKED | SMC_EV_MOVED))
		smc_tx_push(conn);
	smc_event_close(conn, events);
}

static const struct smc_wr_ops smc_link_ops = {
	.rx_cdc	= smc_cdc_rx,
	.rx_imm	= smc_cdc_rx_imm,
	.rx_llc	= smc_llc_rx,
	.broken	= smc_llc_broken,
};

static const struct smc_sock_works smc_works = {
	.handshake	 = smc_hs_work,
	.handshake_grow	 = smc_hs_grow_work,
	.close		 = smc_close_work,
	.close_timer	 = smc_close_timer,
	.keep_timer	 = smc_keepalive_timer,
	.event		 = smc_event,
};

static const struct smc_event_ops smc_events = {
	.send = smc_netlink_event,
};

/* Most namespaces never use SMC: what only sockets need comes with the first one. */
static int __net_init smc_init_net(struct net *net)
{
	int rc;

	rc = smc_net_init(net);
	if (rc)
		return rc;
	smc_path_init_net(net);
	return smc_sysctl_init_net(net);
}

/* One worker of the host ends namespaces, so nothing waits for peers here. */
static void __net_exit smc_pre_exit_net(struct net *net)
{
	WRITE_ONCE(smc_net(net)->is_ending, true);
	smc_llc_end_all(net);
}

/* The peers of all namespaces that end together share one time limit. */
static void __net_exit smc_exit_nets(struct list_head *nets)
{
	struct net *net;

	smc_llc_await_end(false);
	list_for_each_entry(net, nets, exit_list)
		smc_lgr_terminate_all(net);
	list_for_each_entry(net, nets, exit_list) {
		smc_lgr_wait_none(net);
		smc_option_exit_net(net);
		smc_sysctl_exit_net(net);
		smc_policy_flush(net);
		smc_pnet_flush(net);
		smc_peer_exit_net(net);
		smc_history_exit_net(net);
		smc_net_release(net);
	}
}

static struct pernet_operations smc_net_ops = {
	.init		= smc_init_net,
	.pre_exit	= smc_pre_exit_net,
	.exit_batch	= smc_exit_nets,
	.id		= &smc_net_id,
	.size		= sizeof(struct smc_pernet),
};

/*
 * Send DELETE LINK before the host goes down, so that peers need no timeout. Takes some seconds at
 * most.
 */
static int smc_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	smc_llc_end_all(NULL);
	smc_llc_await_end(true);
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
	rc = smc_mem_init();
	if (rc)
		goto out_llc;
	rc = smc_core_init();
	if (rc)
		goto out_mem;
	rc = smc_pool_init();
	if (rc)
		goto out_core;
	rc = smc_sock_init(&smc_works);
	if (rc)
		goto out_shrink;
	rc = smc_ib_init();
	if (rc)
		goto out_sock;
	rc = smc_unfit_init();
	if (rc)
		goto out_ib;
	rc = smc_mtu_init();
	if (rc)
		goto out_unfit;
	rc = smc_tcp_init(smc_take_over);
	if (rc)
		goto out_mtu;
	rc = smc_tcp_check() ?: smc_netlink_init();
	if (rc)
		goto out_tcp;
	smc_event_init(&smc_events);
	rc = smc_pnetid_init();
	if (rc)
		goto out_event;
	rc = register_reboot_notifier(&smc_reboot_nb);
	if (rc)
		goto out_pnetid;
	rc = sock_register(&smc_family);
	if (rc)
		goto out_reboot;
	smc_tcp_offer_sockets();
	return 0;

out_reboot:
	unregister_reboot_notifier(&smc_reboot_nb);
out_pnetid:
	smc_pnetid_exit();
out_event:
	smc_event_exit();
	smc_netlink_exit();
out_tcp:
	smc_tcp_exit();
out_mtu:
	smc_mtu_exit();
out_unfit:
	smc_unfit_exit();
out_ib:
	smc_ib_exit();
out_sock:
	smc_sock_exit();
out_shrink:
	smc_pool_exit();
out_core:
	smc_core_exit();
out_mem:
	smc_mem_exit();
out_llc:
	smc_llc_exit_module();
out_net:
	unregister_pernet_subsys(&smc_net_ops);
	return rc;
}

/* No socket is left, since each holds the module. Groups may still linger (TMR-10). */
static void __exit smc_exit(void)
{
	smc_tcp_withdraw_sockets();
	sock_unregister(PF_SMC);
	smc_sock_await_calls();
	unregister_reboot_notifier(&smc_reboot_nb);
	smc_pnetid_exit();
	smc_event_exit();
	smc_netlink_exit();
	smc_tcp_exit();
	/* no early release of resources from here on; everything is freed now */
	smc_pool_exit();
	/* send DELETE LINK to the peers, PEER-01 */
	smc_llc_end_all(NULL);
	smc_llc_await_end(true);
	smc_lgr_terminate_all(NULL);
	smc_lgr_wait_none(NULL);
	smc_core_exit();
	smc_mtu_exit();
	smc_unfit_exit();
	smc_ib_exit();
	smc_sock_exit();
	smc_mem_exit();
	smc_llc_exit_module();
	unregister_pernet_subsys(&smc_net_ops);
}

module_init(smc_init);
module_exit(smc_exit);

MODULE_DESCRIPTION("SMC-R: stream sockets over RDMA, RFC 7609");
MODULE_LICENSE("GPL");
/* without a version DKMS takes the module for the distribution's and does not install it */
MODULE_VERSION("0.1.0");
MODULE_ALIAS_NETPROTO(PF_SMC);
MODULE_ALIAS("net-pf-2-proto-256-type-1");
MODULE_ALIAS("net-pf-10-proto-256-type-1");
MODULE_ALIAS("net-pf-16-proto-16-family-SMC_GEN_NETLINK");
