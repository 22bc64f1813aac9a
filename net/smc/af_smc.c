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
#include <net/inet_common.h>
#include <net/tcp.h>

#include <asm/ioctls.h>

#include "smc_compat.h"
#include "rdma/smc_event.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "rdma/smc_pnet.h"
#include "rdma/smc_port.h"
#include "group/smc_cdc.h"
#include "group/smc_core.h"
#include "group/smc_link.h"
#include "group/smc_llc.h"
#include "group/smc_llc_msg.h"
#include "group/smc_peer.h"
#include "group/smc_pool.h"
#include "sock/smc_close.h"
#include "sock/smc_connect.h"
#include "sock/smc_history.h"
#include "sock/smc_hs.h"
#include "sock/smc_hs_ring.h"
#include "sock/smc_keepalive.h"
#include "sock/smc_listen.h"
#include "sock/smc_option.h"
#include "sock/smc_path.h"
#include "sock/smc_policy.h"
#include "sock/smc_poll.h"
#include "sock/smc_rx.h"
#include "sock/smc_sockopt.h"
#include "sock/smc_tcp.h"
#include "sock/smc_tx.h"
#include "sock/smc_wake.h"
#include "control/smc_hs_ctrl.h"
#include "control/smc_netlink.h"
#include "control/smc_netlink_event.h"
#include "control/smc_pnetid.h"
#include "control/smc_sysctl.h"

static void smc_close(struct sock *sk, long timeout)
{
	struct smc_sock *smc;

	guard(smc_call)(sk);
	smc = smc_call_lock(sk);
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
		if (!smc_sk(sk)) {
			/* it landed while it lingered */
			release_sock(sk);
			smc_tcp_prot(sk)->close(sk, timeout);
			return;
		}
	} else {
		/* the work item of the handshake finds the socket closed */
		smc_tcp_shutdown(sk, SHUTDOWN_MASK);
		smc_sock_queue(smc);
	}
	smc_close_release(smc);
	smc_call_unlock(sk);
}

SMC_COMPAT_ACCEPT(smc_accept, smc_tcp_ops)

static int smc_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct smc_sock *smc;
	bool has_peer = true;

	guard(smc_call)(sock->sk);
	smc = smc_call_lock(sock->sk);
	if (!smc)
		return smc_tcp_ops(sock)->getname(sock, addr, peer);
	/* TCP may be connected before connect() has an outcome, and end before or after SMC */
	if (peer == 1 && smc->phase != SMC_PHASE_IDLE) {
		has_peer = !(BIT(smc_sockopt_tcp_state(smc)) & (TCPF_CLOSE | TCPF_SYN_SENT));
		/* as accept() asks: the address in any state */
		peer = 2;
	}
	smc_call_unlock(sock->sk);
	return has_peer ? smc_tcp_ops(sock)->getname(sock, addr, peer) : -ENOTCONN;
}

static int smc_inspect(struct smc_sock *smc, int cmd)
{
	struct smc_conn *conn = smc->conn;

	/* unread data may outlive the link group */
	if (!conn->token && cmd != SIOCINQ)
		return 0;
	switch (cmd) {
	case SIOCINQ:
		return smc_rx_inq(conn);
	case SIOCOUTQ:
		smc_tx_poll(conn, NULL, NULL);
		/* as with TCP, nothing counts after an abort */
		return smc_state_is_open(&smc->close) ? smc_conn_unacked(conn) : 0;
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
		smc = smc_call_lock(sk);
		break;
	default:
		smc = NULL;
	}
	if (!smc)
		return false;
	is_ours = smc->phase != SMC_PHASE_IDLE;
	/* before that, bytes on TCP belong to the handshake */
	*answ = smc->phase == SMC_PHASE_SMC ? smc_inspect(smc, cmd) : 0;
	smc_call_unlock(sk);
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
	smc = smc_call_lock(sk);
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
			smc_call_unlock(sk);
			return smc_tcp_ops(sock)->shutdown(sock, how);
		}
		smc_listen_stop(smc);
		smc_wake_state(sk);
		break;
	default:
		if (!smc_connect_stop(smc)) {
			release_sock(sk);
			goto again;
		}
		sock->state = SS_UNCONNECTED;
	}
	smc_call_unlock(sk);
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
	return unlikely(!conn->ctl.tx_prep) && smc_wake_is_taken(conn->sk) && !conn->ctl.rx_cons;
}

static int smc_forward_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	guard(smc_call)(sk);
	return smc_tcp_prot(sk)->sendmsg(sk, msg, len);
}

/* Return: true if the task makes a call again that has done nothing yet. */
static bool smc_restarts_call(const struct msghdr *msg, int flags)
{
	/* not for a call that does not sleep; kernel code and aio would get the errno */
	return !(flags & MSG_DONTWAIT) && user_backed_iter(&msg->msg_iter) &&
	       smc_compat_is_sync(msg) && smc_sock_restart_call();
}

/* The sock has become plain TCP. */
static int smc_send_tcp(struct sock *sk, struct msghdr *msg, size_t len)
{
	if (smc_restarts_call(msg, msg->msg_flags))
		return -ERESTARTSYS;
	return smc_forward_sendmsg(sk, msg, len);
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

/*
 * Return: true if a call slept, and connect() to AF_UNSPEC dropped the connection meanwhile; not if
 * it landed.
 */
static bool smc_was_dropped(const struct sock *sk, s64 attempts)
{
	const struct smc_sock *smc;

	if (likely(attempts < 0))
		return false;
	smc = smc_sk(sk);
	return smc && smc->attempts != attempts;
}

/* The connection landed during the call, after @copied bytes or an errno: the rest is for TCP. */
static int smc_send_landed(struct sock *sk, struct msghdr *msg, int copied)
{
	release_sock(sk);
	if (copied <= 0)
		return smc_send_tcp(sk, msg, msg_data_left(msg));
	if (!msg_data_left(msg))
		return copied;
	/* one notice for each call */
	msg->msg_flags &= ~MSG_ZEROCOPY;
	return copied + max(smc_forward_sendmsg(sk, msg, msg_data_left(msg)), 0);
}

static int smc_sendmsg(struct sock *sk, struct msghdr *msg, size_t len)
{
	struct smc_sock *smc;
	s64 attempts = -1;
	long timeo;
	int rc;

	guard(smc_entry)();
	lock_sock(sk);
	rc = smc_tx_send_short(sk, msg, len);
	if (likely(rc > 0)) {
		release_sock(sk);
		return rc;
	}
	timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	if (rc == -ENOBUFS) {
		release_sock(sk);
		timeo = smc_tx_doze(sk, timeo, &attempts);
		lock_sock(sk);
		if (unlikely(smc_was_dropped(sk, attempts))) {
			rc = sk_stream_error(sk, msg->msg_flags, -EPIPE);
			release_sock(sk);
			return rc;
		}
		rc = smc_tx_send_short(sk, msg, len);
		if (rc > 0) {
			release_sock(sk);
			return rc;
		}
	}
	smc = smc_call_locked(sk);
	if (!smc)
		return smc_send_tcp(sk, msg, len);
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
	smc = smc_connect_wait(smc, &timeo, &rc);
	if (!smc) {
		release_sock(sk);
		return smc_send_tcp(sk, msg, len);
	}
	if (!rc && smc->phase == SMC_PHASE_IDLE) {
		rc = smc_send_idle(sk, msg, len);
	} else if (!rc && smc_sock_is_usable(smc)) {
		rc = smc_reads_tcp_queue(smc->conn) ? -EOPNOTSUPP :
						      smc_tx_sendmsg(smc, msg, len, timeo);
		if (unlikely(!smc_sk(sk)))
			return smc_send_landed(sk, msg, rc);
	} else if (!rc) {
		smc->err = 0;
		rc = sk_stream_error(sk, msg->msg_flags, -EPIPE);
	}
out:
	smc_call_unlock(sk);
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
	smc = smc_call_lock(sk);
	if (smc && smc_sock_is_usable(smc)) {
		if (!(tcp_sk(sk)->nonagle & TCP_NAGLE_CORK))
			smc_tx_flush(smc->conn);
		smc_call_unlock(sk);
		return;
	}
	if (smc)
		smc_call_unlock(sk);
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

/* As smc_send_tcp(). */
static int smc_recv_tcp(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len)
{
	if (smc_restarts_call(msg, flags))
		return -ERESTARTSYS;
	return smc_forward_recvmsg(sk, msg, len, flags, addr_len);
}

/* As smc_send_landed(). */
static int smc_recv_landed(struct sock *sk, struct msghdr *msg, size_t len, int flags,
			   int *addr_len, int copied)
{
	release_sock(sk);
	if (copied <= 0)
		return smc_recv_tcp(sk, msg, len, flags, addr_len);
	if ((flags & (MSG_WAITALL | MSG_PEEK)) != MSG_WAITALL)
		return copied;
	return copied + max(smc_forward_recvmsg(sk, msg, len - copied, flags, addr_len), 0);
}

static int smc_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	struct smc_sock *smc;
	s64 attempts = -1;
	int rc;

	guard(smc_entry)();
	/* notices of SMC are in TCP's error queue */
	if (flags & MSG_ERRQUEUE)
		return smc_forward_recvmsg(sk, msg, len, flags, addr_len);
	if (likely(!(flags & ~SMC_RX_SHORT_FLAGS))) {
		timeo = smc_rx_doze(sk, timeo, &attempts);
		lock_sock(sk);
		rc = smc_was_dropped(sk, attempts) ? -EPIPE : smc_rx_recv_short(sk, msg, len);
		if (likely(rc)) {
			release_sock(sk);
			return rc;
		}
	} else {
		lock_sock(sk);
	}
	smc = smc_call_locked(sk);
	if (!smc)
		return smc_recv_tcp(sk, msg, len, flags, addr_len);
	if (flags & MSG_OOB && smc->phase != SMC_PHASE_SMC && sk->sk_state != TCP_LISTEN) {
		rc = -EINVAL;
		goto out;
	}
	smc = smc_connect_wait(smc, &timeo, &rc);
	if (!smc) {
		release_sock(sk);
		return smc_recv_tcp(sk, msg, len, flags, addr_len);
	}
	if (!rc && smc->phase == SMC_PHASE_IDLE)
		rc = smc_recv_idle(sk);
	else if (!rc)
		rc = smc_recv_smc(smc, msg, len, flags, timeo);
	if (unlikely(!smc_sk(sk)))
		return smc_recv_landed(sk, msg, len, flags, addr_len, rc);
out:
	smc_call_unlock(sk);
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

static const struct smc_wr_ops smc_link_ops = {
	.rx_cdc	= smc_cdc_rx,
	.rx_imm	= smc_cdc_rx_imm,
	.rx_llc	= smc_llc_rx,
	.broken	= smc_llc_broken,
	.stalled = smc_llc_stalled,
};

static const struct smc_sock_works smc_works = {
	.handshake	 = smc_hs_work,
	.handshake_grow	 = smc_hs_grow_work,
	.close		 = smc_close_work,
	.end		 = smc_close_end_work,
	.close_timer	 = smc_close_timer,
	.keep_timer	 = smc_keepalive_timer,
	.tcp_timer	 = smc_keepalive_tcp_timer,
	.conn.event	 = smc_conn_event,
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
	rc = smc_port_init();
	if (rc)
		goto out_ib;
	rc = smc_tcp_init(smc_take_over);
	if (rc)
		goto out_port;
	rc = smc_tcp_check() ?: smc_netlink_init();
	if (rc)
		goto out_tcp;
	smc_event_init(&smc_events);
	rc = smc_pnetid_init();
	if (rc)
		goto out_event;
	rc = smc_hs_ctrl_init();
	if (rc)
		goto out_pnetid;
	rc = register_reboot_notifier(&smc_reboot_nb);
	if (rc)
		goto out_hs_ctrl;
	rc = sock_register(&smc_family);
	if (rc)
		goto out_reboot;
	smc_tcp_offer_sockets();
	return 0;

out_reboot:
	unregister_reboot_notifier(&smc_reboot_nb);
out_hs_ctrl:
	smc_hs_ctrl_exit();
out_pnetid:
	smc_pnetid_exit();
out_event:
	smc_event_exit();
	smc_netlink_exit();
out_tcp:
	smc_tcp_exit();
out_port:
	smc_port_exit();
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
	smc_hs_ctrl_exit();
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
	smc_port_exit();
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
MODULE_VERSION(SMC_VERSION);
MODULE_ALIAS_NETPROTO(PF_SMC);
MODULE_ALIAS("net-pf-2-proto-256-type-1");
MODULE_ALIAS("net-pf-10-proto-256-type-1");
MODULE_ALIAS("net-pf-16-proto-16-family-SMC_GEN_NETLINK");
