// SPDX-License-Identifier: GPL-2.0
/*
 * Socks of TCP that may use SMC.
 *
 * Operation: such a sock has a struct proto that is a copy of TCP's with some functions of
 * ours in it, and callbacks that ask what TCP's news mean while it is not plain TCP. The
 * state hangs where TCP keeps the data of an upper protocol (ULP). That slot also brings
 * the two calls that are needed: one for each child that is born, and one when the sock is
 * destroyed. Nobody can ask for this upper protocol by name.
 *
 * Fallback: struct proto and callbacks become TCP's again, and the slot is free: under the
 * lock that TCP itself holds when it finds that the peer did not offer SMC. It is the same
 * sock, and what happens next on it is TCP's.
 *
 * Ownership: the core takes a module reference for each sock of our struct proto, and gives
 * it back by way of sk_prot_creator when the sock is freed. That is TCP's from the
 * beginning, so the reference is that of the slot, and goes with it. Otherwise a sock
 * that has fallen back, or is in TIME_WAIT, would keep the module.
 */
#include <linux/module.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include <net/transp_v6.h>

#include "smc_compat.h"
#include "sock/smc_fallback.h"
#include "sock/smc_listener.h"
#include "rdma/smc_net.h"
#include "sock/smc_tcp.h"
#include "observe/smc_trace.h"
#include "sock/smc_wake.h"

/* TCP over IPv4 and over IPv6: what is TCP's, and what is ours in its place. */
static struct smc_tcp_kind {
	struct proto *prot;		/* NULL: there is no such TCP */
	const struct proto_ops *ops;
	struct smc_tcp_calls our;
	const struct inet_connection_sock_af_ops *af;
	struct inet_connection_sock_af_ops our_af;	/* while it listens */
	struct inet_protosw protosw;
} smc_tcp_kinds[2];

static struct smc_tcp_kind *smc_tcp_kind_of(const struct sock *sk)
{
	return &smc_tcp_kinds[READ_ONCE(sk->sk_prot) == &smc_tcp_kinds[1].our.prot];
}

static void smc_tcp_born(const struct request_sock *req, struct sock *sk, const gfp_t priority);
static void smc_tcp_restore_af(struct sock *sk);
static int smc_tcp_conn_request(struct sock *sk, struct sk_buff *skb);
static void smc_tcp_released(struct sock *sk);
static void smc_tcp_child_released(struct sock *sk);

static void smc_tcp_release_cb(struct sock *sk)
{
	smc_tcp_kind_of(sk)->prot->release_cb(sk);
	smc_sock_release_missed(sk);
}

static int smc_tcp_sample(int family, struct smc_tcp_kind *kind,
			  void (*take_over)(struct smc_tcp_calls *calls))
{
	struct socket *sock;
	int rc;

	rc = sock_create_kern(&init_net, family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (rc)
		return rc;
	smc_wake_save(sock->sk);
	kind->prot = sock->sk->sk_prot;
	kind->ops = sock->ops;
	kind->af = inet_csk(sock->sk)->icsk_af_ops;
	sock_release(sock);

	kind->our.prot = *kind->prot;
	kind->our.prot.owner = THIS_MODULE;
	kind->our.prot.init = smc_tcp_begin;
	kind->our.prot.release_cb = smc_tcp_release_cb;
#ifdef CONFIG_BPF_SYSCALL
	/* sockmaps want to be the one who changes the struct proto */
	kind->our.prot.psock_update_sk_prot = NULL;
#endif
	kind->our.ops = *kind->ops;
	kind->our.ops.owner = THIS_MODULE;
	take_over(&kind->our);
	kind->our_af = *kind->af;
	kind->our_af.conn_request = smc_tcp_conn_request;
	kind->protosw = (struct inet_protosw){
		.type = SOCK_STREAM,
		.protocol = IPPROTO_SMC,
		.prot = &kind->our.prot,
		.ops = &kind->our.ops,
		.flags = INET_PROTOSW_ICSK,
	};
	return 0;
}

/**
 * smc_tcp_init() - learn what TCP sockets look like, switch the option on
 * @take_over: puts our functions in place of TCP's
 *
 * Context: Process context, module load.
 * Return: 0, or the negative errno of making a socket of IPv4.
 */
int smc_tcp_init(void (*take_over)(struct smc_tcp_calls *calls))
{
	int rc = smc_tcp_sample(PF_INET, &smc_tcp_kinds[0], take_over);

	if (rc)
		return rc;
	/* IPv6 may be disabled; then nobody gets a socket of it from us either */
	smc_tcp_sample(PF_INET6, &smc_tcp_kinds[1], take_over);
	smc_ulp_sock.clone = smc_tcp_born;
	smc_ulp_sock.release = smc_tcp_released;
	smc_ulp_child.release = smc_tcp_child_released;
	static_branch_enable(&tcp_have_smc);
	return 0;
}

/**
 * smc_tcp_exit() - stop TCP from sending and looking for the option
 *
 * Context: Process context, module unload.
 */
void smc_tcp_exit(void)
{
	static_branch_disable(&tcp_have_smc);
}

/**
 * smc_tcp_offer_sockets() - let AF_INET and AF_INET6 make sockets of IPPROTO_SMC
 *
 * Context: Process context, module load.
 */
void smc_tcp_offer_sockets(void)
{
	inet_register_protosw(&smc_tcp_kinds[0].protosw);
#if IS_ENABLED(CONFIG_IPV6)
	if (smc_tcp_kinds[1].prot)
		inet6_register_protosw(&smc_tcp_kinds[1].protosw);
#endif
}

/**
 * smc_tcp_withdraw_sockets() - undo smc_tcp_offer_sockets()
 *
 * Nobody begins to make one any more when this returns. A task that has found the
 * protocol before may still be at it: it finds the module going, but the core asks for
 * that only when it has allocated from the protocol's cache (inet_create()). So it is
 * with every protocol in a module, and there is nothing here to wait for.
 *
 * Context: Process context, module unload, sleeps.
 */
void smc_tcp_withdraw_sockets(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (smc_tcp_kinds[1].prot)
		inet6_unregister_protosw(&smc_tcp_kinds[1].protosw);
#endif
	inet_unregister_protosw(&smc_tcp_kinds[0].protosw);
}

/**
 * smc_tcp_begin() - TCP's sock is new, and may use SMC
 * @sk: of our struct proto
 *
 * The init() of that. What the core, security modules and BPF programs see from here on
 * is a socket of TCP.
 *
 * Context: Process context, may sleep.
 * Return: 0, -ENOMEM, or the negative errno of TCP's init().
 */
int smc_tcp_begin(struct sock *sk)
{
	struct smc_tcp_kind *kind = smc_tcp_kind_of(sk);
	struct smc_sock *smc;
	int rc;

	rc = kind->prot->init(sk);
	if (rc)
		return rc;
	sk->sk_protocol = IPPROTO_TCP;
	smc_fallback_prepare(sock_net(sk));
	smc = smc_sock_attach(sk, GFP_KERNEL_ACCOUNT);
	/* the core destroys the sock, and gives the module reference back */
	if (!smc)
		return -ENOMEM;
	sk->sk_prot_creator = kind->prot;
	tcp_sk(sk)->syn_smc = 1;
	smc_tcp_watch(sk);
	return 0;
}

/**
 * smc_tcp_prot() - the struct proto of TCP, or of what has taken its place
 * @sk: a sock that may be TCP's alone by now
 *
 * Context: Any context.
 * Return: never ours.
 */
const struct proto *smc_tcp_prot(const struct sock *sk)
{
	struct proto *prot = READ_ONCE(sk->sk_prot);
	int i;

	for (i = 0; i < ARRAY_SIZE(smc_tcp_kinds); i++)
		if (prot == &smc_tcp_kinds[i].our.prot)
			return smc_tcp_kinds[i].prot;
	return prot;
}

/**
 * smc_tcp_is_ours() - are the operations of a socket ours
 * @sock: the socket
 *
 * Context: Any context.
 * Return: true if so, also of one that is TCP's by now.
 */
bool smc_tcp_is_ours(const struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);

	return ops == &smc_tcp_kinds[0].our.ops || ops == &smc_tcp_kinds[1].our.ops;
}

/**
 * smc_tcp_ops() - the operations of TCP for a socket
 * @sock: the socket, whose operations may be ours
 *
 * Context: Any context.
 * Return: never ours.
 */
const struct proto_ops *smc_tcp_ops(const struct socket *sock)
{
	if (smc_tcp_is_ours(sock))
		return smc_tcp_kinds[sock->sk->sk_family == AF_INET6].ops;
	return READ_ONCE(sock->ops);
}

/* Connected to its own address and port: TCP's simultaneous open, with itself. */
static bool smc_tcp_is_self(const struct sock *sk)
{
	if (inet_sk(sk)->inet_sport != inet_sk(sk)->inet_dport)
		return false;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		return ipv6_addr_equal(&sk->sk_v6_daddr, &sk->sk_v6_rcv_saddr);
#endif
	return sk->sk_daddr == sk->sk_rcv_saddr;
}

/**
 * smc_tcp_is_agreed() - did both sides send the option, OPT-08
 * @smc: the socket of a client, three-way handshake completed
 *
 * A socket that is connected to itself would be a client without a server. TCP takes
 * back what a client offers when the SYN-ACK does not have the option; where two SYNs
 * cross it leaves that to us.
 *
 * Context: Any context.
 * Return: true if both did, and they are two.
 */
bool smc_tcp_is_agreed(const struct smc_sock *smc)
{
	const struct tcp_sock *tp = tcp_sk(smc->sk);

	return tp->syn_smc && tp->rx_opt.smc_ok && !smc_tcp_is_self(smc->sk);
}

/**
 * smc_tcp_peer() - the address of the peer
 * @sk: the sock, connected or connecting
 * @addr: receives address and port
 *
 * Context: Any context.
 */
void smc_tcp_peer(const struct sock *sk, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *addr6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *addr4 = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	addr->ss_family = sk->sk_family;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		addr6->sin6_port = inet_sk(sk)->inet_dport;
		addr6->sin6_addr = sk->sk_v6_daddr;
		addr6->sin6_scope_id = ipv6_iface_scope_id(&sk->sk_v6_daddr, sk->sk_bound_dev_if);
		return;
	}
#endif
	addr4->sin_port = inet_sk(sk)->inet_dport;
	addr4->sin_addr.s_addr = inet_sk(sk)->inet_daddr;
}

/* Everything that is ours goes, but for the slot. */
static void smc_tcp_unwatch(struct sock *sk)
{
	struct smc_tcp_kind *kind = smc_tcp_kind_of(sk);

	smc_wake_restore(sk);
	tcp_sk(sk)->smc_hs_congested = NULL;
	smc_tcp_restore_af(sk);
	sk->sk_prot_creator = kind->prot;
	WRITE_ONCE(sk->sk_prot, kind->prot);
}

/**
 * smc_tcp_become() - a socket is TCP's alone from here on
 * @smc: the socket, without a handshake; gone for the caller, unless he has a reference
 * @reason: why
 *
 * Every byte that TCP has received and CLC did not consume is still there and is the
 * application's (CLC-11, DCLN-03). Who waits is not woken: where there is a reason to,
 * TCP does it, or the caller.
 *
 * Context: Any context but hard interrupt. Expects the socket lock held.
 */
void smc_tcp_become(struct smc_sock *smc, enum smc_decline reason)
{
	struct sock *sk = smc->sk;

	sock_owned_by_me(smc->sk);
	smc->fallback = reason;
	if (!smc_sock_set_phase(smc, SMC_PHASE_TCP))
		return;
	/* a child's is for accept() to remember, when it has a file */
	if (!smc->child)
		smc_fallback_remember(sk, reason, smc->peer_diagnosis);
	trace_smc_switch_to_fallback(smc, sk, reason);
	/* stamps count bytes of the application, not those of CLC */
	if (READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_OPT_ID)
		atomic_set(&sk->sk_tskey, tcp_sk(sk)->write_seq);
	/* the next connection of this sock, if there is one, is TCP's */
	tcp_sk(sk)->syn_smc = 0;
	smc_tcp_unwatch(sk);
	smc_sock_detach(sk);
}

/**
 * smc_tcp_leave() - a socket without a file has no part of SMC left, and TCP ends it
 * @smc: the socket; gone for the caller, unless he has a reference
 *
 * TCP may need long for its own end, or for ever where it had no memory for a FIN. That is
 * to keep no module.
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_tcp_leave(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	smc_tcp_unwatch(sk);
	smc_sock_detach(sk);
}

/**
 * smc_tcp_take_err() - an error of TCP is not that of a connection on SMC
 * @smc: the socket, on SMC
 *
 * What is pending of SMC stays pending.
 *
 * Context: Any context but hard interrupt. Who has set an error holds the socket lock; who
 * tells of a notice does not, and finds nothing here.
 */
void smc_tcp_take_err(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	if (!sk->sk_err || sk->sk_err == smc->err)
		return;
	smc->tcp_err = sk->sk_err;
	WRITE_ONCE(sk->sk_err, smc->err);
}

/**
 * smc_tcp_holds_payload() - are there bytes to read on TCP
 * @sk: the sock
 *
 * Context: Any context.
 * Return: true if so; an urgent byte may be all there is, and does not count as one to be
 * read.
 */
bool smc_tcp_holds_payload(struct sock *sk)
{
	return tcp_inq(sk) > 0 || READ_ONCE(tcp_sk(sk)->urg_data);
}

/* A client of which TCP says that it is connected. True if the application is to know. */
static bool smc_tcp_opened(struct smc_sock *smc)
{
	enum smc_decline reason = SMC_DECLINE_PEERNOSMC;

	if (smc_tcp_is_agreed(smc)) {
		smc->tcp_end = SMC_TCP_UP;
		smc->err = 0;
		smc_sock_set_phase(smc, SMC_PHASE_HANDSHAKE);
		smc_sock_queue(smc);
		return false;
	}
	/* or did we not offer it? */
	if (smc->fallback != SMC_DECLINE_NONE)
		reason = smc->fallback;
	smc_stat_inc(sock_net(smc->sk), SMC_STAT_CLIENT_TCP);
	trace_smc_handshake(smc, false, SMC_HS_TCP, reason, 0);
	smc_tcp_become(smc, reason);
	return true;
}

/* News of TCP's state. True if they are the application's, too. */
static bool smc_tcp_has_moved(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;
	u8 state = sk->sk_state;

	switch (smc->phase) {
	case SMC_PHASE_IDLE:
		if (rcu_access_pointer(smc->listener)) {
			/* somebody has told TCP to listen no more */
			if (state == TCP_CLOSE)
				smc_sock_queue_listen(smc);
			return true;
		}
		/* a client; a child that nobody will accept has no file */
		if (sk->sk_socket && (1 << state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT))
			return smc_tcp_opened(smc);
		return true;
	case SMC_PHASE_HANDSHAKE:
	case SMC_PHASE_STOPPING:
		smc_sock_queue(smc);
		return false;
	case SMC_PHASE_SMC:
		smc_tcp_take_err(smc);
		/* a FIN is remembered by TCP; deployed peers send it early */
		if (state == TCP_CLOSE && smc->tcp_end == SMC_TCP_UP)
			smc_sock_pend(smc->conn, SMC_PENDING_RESET);
		return false;
	default:
		return true;
	}
}

static void smc_tcp_state_change(struct sock *sk)
{
	struct smc_sock *smc;
	bool is_told;

	rcu_read_lock();
	smc = smc_sk(sk);
	is_told = !smc || smc_tcp_has_moved(smc);
	rcu_read_unlock();
	if (is_told)
		smc_wake_state(sk);
}

/* True if the news are the application's, too. */
static bool smc_tcp_has_data(struct smc_sock *smc)
{
	struct smc_listener *listener;

	switch (READ_ONCE(smc->phase)) {
	case SMC_PHASE_IDLE:
		listener = rcu_dereference(smc->listener);
		if (!listener)
			return true;
		/* one for SMC must not wait until somebody accepts those in front of it */
		if (smc_listener_has_agreed(listener))
			smc_sock_queue_listen(smc);
		return smc_listener_has_plain(listener, smc->sk);
	case SMC_PHASE_HANDSHAKE:
	case SMC_PHASE_STOPPING:
		smc_sock_queue(smc);
		return false;
	case SMC_PHASE_SMC:
		/* payload here is a protocol error, AMB-54 */
		if (smc->tcp_end == SMC_TCP_UP && smc_tcp_holds_payload(smc->sk))
			smc_sock_pend(smc->conn, SMC_PENDING_FAULT);
		return false;
	default:
		return true;
	}
}

static void smc_tcp_data_ready(struct sock *sk)
{
	struct smc_sock *smc;
	bool is_told;

	rcu_read_lock();
	smc = smc_sk(sk);
	is_told = !smc || smc_tcp_has_data(smc);
	rcu_read_unlock();
	if (is_told)
		smc_wake_readers(sk);
}

static void smc_tcp_error_report(struct sock *sk)
{
	struct smc_sock *smc;
	bool is_told = true;

	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc && smc->phase != SMC_PHASE_IDLE) {
		/* notices of SMC wait there, too */
		is_told = !skb_queue_empty_lockless(&sk->sk_error_queue);
		if (smc->phase == SMC_PHASE_SMC)
			smc_tcp_take_err(smc);
		else
			smc_sock_queue(smc);
	}
	rcu_read_unlock();
	if (is_told)
		smc_wake_error(sk);
}

/**
 * smc_tcp_watch() - be told what happens on TCP
 * @sk: a sock with a state, or that is about to get one
 *
 * Context: Process context. Expects the socket lock held, or that nobody knows the sock.
 */
void smc_tcp_watch(struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_state_change = smc_tcp_state_change;
	sk->sk_data_ready = smc_tcp_data_ready;
	sk->sk_error_report = smc_tcp_error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* A SYN: dropped, as TCP drops it, if the accept queue is full. The client tries again. */
static int smc_tcp_conn_request(struct sock *sk, struct sk_buff *skb)
{
	const struct smc_listener *listener = NULL;
	const struct smc_sock *smc;
	bool is_full;

	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc)
		listener = rcu_dereference(smc->listener);
	is_full = listener && smc_listener_is_full(listener, sk);
	rcu_read_unlock();
	if (!is_full)
		return smc_tcp_kind_of(sk)->af->conn_request(sk, skb);
	NET_INC_STATS(sock_net(sk), LINUX_MIB_LISTENOVERFLOWS);
	tcp_listendrop(sk);
	return 0;
}

static void smc_tcp_restore_af(struct sock *sk)
{
	struct smc_tcp_kind *kind = smc_tcp_kind_of(sk);

	if (inet_csk(sk)->icsk_af_ops == &kind->our_af)
		WRITE_ONCE(inet_csk(sk)->icsk_af_ops, kind->af);
}

/**
 * smc_tcp_limit_backlog() - have SYNs dropped when the accept queue is full
 * @sk: a sock that is about to listen, or listens no more
 * @is_listening: which of the two
 *
 * TCP counts those in its own queue only.
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_tcp_limit_backlog(struct sock *sk, bool is_listening)
{
	struct smc_tcp_kind *kind = smc_tcp_kind_of(sk);

	sock_owned_by_me(sk);
	if (!is_listening)
		smc_tcp_restore_af(sk);
	else if (inet_csk(sk)->icsk_af_ops == kind->af)
		WRITE_ONCE(inet_csk(sk)->icsk_af_ops, &kind->our_af);
}

/* Both sides sent the option, and it was our listener that answered the SYN, OPT-08. */
static bool smc_tcp_request_is_agreed(const struct request_sock *req)
{
	return inet_rsk(req)->smc_ok &&
	       (!req->rsk_listener || tcp_sk(req->rsk_listener)->syn_smc);
}

/*
 * A child is born as a copy of its listener, whose lock is not held; nobody knows it yet.
 * Most children are TCP's alone from their first moment on.
 */
static void smc_tcp_born(const struct request_sock *req, struct sock *sk, const gfp_t priority)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct smc_listener *listener = NULL;
	const struct smc_sock *smc;

	smc_tcp_restore_af(sk);
	rcu_read_lock();
	smc = rcu_dereference_raw(icsk->icsk_ulp_data);
	if (smc_tcp_request_is_agreed(req))
		listener = rcu_dereference(smc->listener);
	if (!smc_listener_expect(listener))
		listener = NULL;
	rcu_read_unlock();
	if (listener) {
		/* until it is taken from TCP's queue nobody has to be told anything */
		smc_wake_restore(sk);
		tcp_sk(sk)->smc_hs_congested = NULL;
		sk->sk_prot_creator = smc_tcp_kind_of(sk)->prot;
		rcu_assign_pointer(icsk->icsk_ulp_data, listener);
		icsk->icsk_ulp_ops = &smc_ulp_child;
		return;
	}
	icsk->icsk_ulp_ops = NULL;
	rcu_assign_pointer(icsk->icsk_ulp_data, NULL);
	smc_tcp_unwatch(sk);
	tcp_sk(sk)->syn_smc = 0;
	/* of our struct proto; the listener has another one */
	module_put(THIS_MODULE);
}

/* TCP destroys the sock. */
static void smc_tcp_released(struct sock *sk)
{
	smc_tcp_unwatch(sk);
	smc_sock_detach(sk);
	/* whose owner TCP is about to look for, before it clears the slot */
	WRITE_ONCE(inet_csk(sk)->icsk_ulp_ops, &smc_ulp_sock);
}

/* TCP destroys a child that nobody has taken from its queue. */
static void smc_tcp_child_released(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct smc_listener *listener = rcu_dereference_raw(icsk->icsk_ulp_data);
	struct sock *lsk;

	smc_tcp_unwatch(sk);
	rcu_assign_pointer(icsk->icsk_ulp_data, NULL);
	/* the listener has one, too, and gives it back after a grace period */
	module_put(THIS_MODULE);
	rcu_read_lock();
	smc_listener_forget(listener);
	/* one without SMC may have been taken for it, where it never got into the queue */
	lsk = READ_ONCE(listener->sk);
	if (lsk && smc_listener_has_plain(listener, lsk))
		smc_wake_readers(lsk);
	rcu_read_unlock();
}

/**
 * smc_tcp_child_is_agreed() - is this a child that is to be a connection on SMC
 * @sk: of TCP's accept queue
 *
 * Context: Process context. The caller has taken it from the queue.
 * Return: false if it is TCP's alone.
 */
bool smc_tcp_child_is_agreed(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ulp_ops == &smc_ulp_child;
}

/**
 * smc_tcp_adopt_child() - a child gets a state
 * @sk: of TCP's accept queue, agreed
 *
 * Context: Process context, may sleep. Expects the lock of @sk held.
 * Return: the state, in the phase of a handshake; NULL without memory.
 */
struct smc_sock *smc_tcp_adopt_child(struct sock *sk)
{
	struct smc_listener *listener = rcu_dereference_protected(inet_csk(sk)->icsk_ulp_data,
								  true);
	struct smc_sock *smc = smc_sock_attach(sk, GFP_KERNEL);

	if (!smc)
		return NULL;
	smc_listener_forget(listener);
	smc_sock_set_phase(smc, SMC_PHASE_HANDSHAKE);
	smc_tcp_watch(sk);
	return smc;
}

/**
 * smc_tcp_shutdown() - shut directions of TCP's connection down
 * @sk: the sock
 * @how: RCV_SHUTDOWN, SEND_SHUTDOWN or both
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_tcp_shutdown(struct sock *sk, int how)
{
	sock_owned_by_me(sk);
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	if (sk->sk_state != TCP_CLOSE)
		smc_tcp_prot(sk)->shutdown(sk, how);
}

/**
 * smc_tcp_disconnect() - have the sock as if it had never connected
 * @sk: the sock
 *
 * RST where there is a connection. Options and a bind() stay.
 *
 * Context: Process context. Expects the socket lock held.
 * Return: 0 or the negative errno of TCP.
 */
int smc_tcp_disconnect(struct sock *sk)
{
	sock_owned_by_me(sk);
	return smc_tcp_prot(sk)->disconnect(sk, O_NONBLOCK);
}
