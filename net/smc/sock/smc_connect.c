// SPDX-License-Identifier: GPL-2.0
/*
 * connect().
 *
 * TCP connects, and offers SMC with its SYN unless there is a reason against it. The work item of
 * the handshake does the rest. The call, like those that find the socket not yet connected, waits
 * for the outcome.
 */
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "group/smc_peer.h"
#include "sock/smc_close.h"
#include "sock/smc_connect.h"
#include "sock/smc_listen.h"
#include "sock/smc_option.h"
#include "sock/smc_path.h"
#include "sock/smc_policy.h"
#include "sock/smc_tcp.h"
#include "sock/smc_wake.h"

static bool connect_is_pending(const struct smc_sock *smc)
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

/**
 * smc_connect_wait() - sleep until connect() has an outcome
 * @smc: the socket
 * @timeo: the time limit in jiffies, updated
 * @err: 0; -EAGAIN after that time; the error of a signal; -EPIPE if another attempt has begun
 *
 * Context: Process context, may sleep. Expects the socket lock held, which is released meanwhile.
 * Return: the state, or NULL if the sock is plain TCP.
 */
struct smc_sock *smc_connect_wait(struct smc_sock *smc, long *timeo, int *err)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	unsigned int attempts = smc->attempts;
	struct sock *sk = smc->sk;
	wait_queue_head_t *wq;

	sock_owned_by_me(sk);
	*err = 0;
	if (!connect_is_pending(smc))
		return smc;
	wq = sk_sleep(sk);
	smc_sock_get(smc);
	add_wait_queue(wq, &wait);
	while (connect_is_pending(smc) && smc->attempts == attempts) {
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

/* Return: false for an address that TCP will refuse. */
static bool connect_read_addr(const struct sockaddr *addr, int addr_len, struct in6_addr *peer,
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

/*
 * A Decline costs more than TCP does. So nothing is offered without an RDMA device on the route, to
 * a peer whose path failed lately, or to a service that declined several times in a row.
 */
static enum smc_decline connect_check_offer(struct smc_sock *smc, const struct sockaddr *addr,
					    int addr_len)
{
	struct net *net = sock_net(smc->sk);
	struct smc_peer_entry entry;
	enum smc_decline reason;
	struct in6_addr peer;
	u16 port;

	/* an option that SMC does not support was set on the listener */
	if (smc->fallback == SMC_DECLINE_OPTUNSUPP)
		return smc->fallback;
	if (!connect_read_addr(addr, addr_len, &peer, &port))
		return SMC_DECLINE_NONE;
	reason = smc_policy_apply(smc->sk, SMC_POLICY_CONNECT, &peer, port) ?:
		 smc_path_reach(smc->sk, addr);
	if (reason != SMC_DECLINE_NONE)
		return reason;
	reason = smc_peer_recall(net, SMC_PEER_HAS_WORKED, &peer, 0, &entry) ?:
		 smc_peer_recall(net, SMC_PEER_DECLINED, &peer, port, &entry);
	if (reason != SMC_DECLINE_NONE) {
		smc->peer_diagnosis = entry.diagnosis;
		smc->memory_age_ms = entry.age_ms;
	}
	return reason;
}

static void connect_choose_offer(struct smc_sock *smc, const struct sockaddr *addr, int addr_len)
{
	smc->peer_diagnosis = 0;
	smc->memory_age_ms = 0;
	smc->is_withdrawn = false;
	smc->fallback = connect_check_offer(smc, addr, addr_len);
	smc_option_offer(smc, smc->fallback == SMC_DECLINE_NONE);
	smc->attempts++;
}

/**
 * smc_connect_tcp() - TCP's connect() in struct proto
 * @sk: the sock
 * @addr: the address, which a BPF program of the control group may have chosen
 * @addr_len: its length
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: 0 or a negative errno of TCP.
 */
int smc_connect_tcp(struct sock *sk, SMC_SOCKADDR *addr, int addr_len)
{
	struct smc_sock *smc = smc_sk(sk);
	int rc;

	sock_owned_by_me(sk);
	connect_choose_offer(smc, (const struct sockaddr *)addr, addr_len);
	smc_tcp_follow_connect(smc);
	rc = smc_tcp_prot(sk)->connect(sk, addr, addr_len);
	smc_tcp_follow_connect(smc);
	return rc;
}

/**
 * smc_connect_stop() - end an attempt to connect, for connect() and shutdown()
 * @smc: the socket, in its handshake
 *
 * The work item ends the handshake and TCP's connection; its wait for the peer is bounded.
 *
 * Context: Process context, may sleep. Expects the socket lock held, which is released meanwhile.
 * Return: false if the handshake completed first.
 */
bool smc_connect_stop(struct smc_sock *smc)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = smc->sk;
	wait_queue_head_t *wq = sk_sleep(sk);

	sock_owned_by_me(sk);
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
static int connect_dissolve(struct smc_sock *smc, struct socket *sock, SMC_SOCKADDR *addr,
			    int addr_len, int flags)
{
	struct sock *sk = smc->sk;
	int rc = 0;

	smc->attempts++;
	if (smc->phase == SMC_PHASE_SMC)
		rc = smc_close_dissolve(smc);
	else if (smc->phase != SMC_PHASE_IDLE && !smc_connect_stop(smc))
		return -EAGAIN;
	else if (smc_sock_listener(smc))
		smc_listen_stop(smc);
	else
		return __inet_stream_connect(sock, addr, addr_len, flags, 0);
	sock->state = rc ? SS_DISCONNECTING : SS_UNCONNECTED;
	smc_wake_state(sk);
	return rc;
}

/**
 * smc_connect_has_failed() - check the outcome of connect()
 * @smc: the socket, on SMC
 *
 * Context: Process context. Expects the socket lock held.
 * Return: true if the attempt failed, or its connection was aborted since.
 */
bool smc_connect_has_failed(const struct smc_sock *smc)
{
	sock_owned_by_me(smc->sk);
	switch (smc->close.state) {
	case SMC_STATE_CLOSED:
	case SMC_STATE_PEERABORTWAIT:
	case SMC_STATE_PROCESSABORT:
		return true;
	default:
		return false;
	}
}

/* Report the outcome on SMC once, as inet_stream_connect() does. */
static int connect_result(struct smc_sock *smc, struct socket *sock)
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
static int connect_failed(struct smc_sock *smc, struct socket *sock, SMC_SOCKADDR *addr,
			  int addr_len)
{
	if (sock->state == SS_CONNECTING)
		return __inet_stream_connect(sock, addr, addr_len, O_NONBLOCK, 0);
	return sock_error(smc->sk) ?: -ECONNABORTED;
}

/**
 * smc_connect() - connect() of a socket
 * @sock: the socket
 * @addr: the address; AF_UNSPEC ends the connection, the attempt or the listening
 * @addr_len: its length
 * @flags: O_NONBLOCK
 *
 * Context: Process context, may sleep.
 * Return: 0 or a negative errno, as TCP's connect().
 */
int smc_connect(struct socket *sock, SMC_SOCKADDR *addr, int addr_len, int flags)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	long timeo;
	int rc, err;

	guard(smc_call)(sk);
	smc_option_prepare_connect(sk, addr, addr_len);
again:
	smc = smc_call_lock(sk);
	if (!smc)
		return smc_tcp_ops(sock)->connect(sock, addr, addr_len, flags);
	if (addr_len < (int)sizeof(addr->sa_family)) {
		rc = -EINVAL;
		goto out;
	}
	if (addr->sa_family == AF_UNSPEC) {
		rc = connect_dissolve(smc, sock, addr, addr_len, flags);
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
		smc = smc_connect_wait(smc, &timeo, &err);
		if (!smc) {
			/* TCP is connected and reports it */
			release_sock(sk);
			return smc_tcp_ops(sock)->connect(sock, addr, addr_len, flags);
		}
		if (err == -EAGAIN)
			goto out;
		rc = err;
		if (!err && smc->phase == SMC_PHASE_IDLE)
			rc = connect_failed(smc, sock, addr, addr_len);
	}
	if (!rc && smc->phase == SMC_PHASE_SMC)
		rc = connect_result(smc, sock);
out:
	smc_call_unlock(sk);
	return rc;
}
