// SPDX-License-Identifier: GPL-2.0
/*
 * listen() and accept().
 *
 * TCP listens. A connection that agreed on SMC is taken from TCP's queue at once, with those
 * ahead of it, and runs its handshake. accept() gets it when that has ended. Connections
 * without the option are plain TCP from the start (smc_tcp.c) and stay in TCP's queue. Those
 * for SMC are counted when TCP creates them, so the queue is never searched.
 */
#include <net/tcp.h>

#include "smc_compat.h"
#include "rdma/smc_ib.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "group/smc_peer.h"
#include "sock/smc_child.h"
#include "sock/smc_close.h"
#include "sock/smc_history.h"
#include "sock/smc_hs.h"
#include "sock/smc_listen.h"
#include "sock/smc_option.h"
#include "sock/smc_path.h"
#include "sock/smc_policy.h"
#include "sock/smc_tcp.h"
#include "sock/smc_wake.h"

/* Concurrent handshakes of one listener above which SMC is not offered. */
#define SMC_LISTEN_CONGESTED	128

/* Children that wait for their first byte cause no work, so they do not count. */
static bool smc_listen_is_congested(const struct smc_sock *smc,
				    const struct smc_listener *listener)
{
	return READ_ONCE(smc->limits_handshakes) &&
	       READ_ONCE(listener->nr[SMC_CHILD_HANDSHAKE]) > SMC_LISTEN_CONGESTED;
}

/* A client that can use neither RDMA nor memory would only get a Decline. */
static bool smc_listen_serves(const struct sock *sk)
{
	return smc_ib_has_device() || smc_tcp_syn_is_near(sock_net(sk));
}

/*
 * Called for each SYN with the option, and the SYN-ACK carries it or not. The client relies on
 * that answer, so it stays while the socket listens: a client that was offered SMC sends a CLC
 * message, whatever has changed meanwhile. OPT-08.
 */
static bool smc_listen_withholds_smc(const struct sock *sk)
{
	const struct smc_listener *listener = NULL;
	const struct smc_sock *smc;
	struct smc_peer_entry entry;
	struct in6_addr peer;
	bool withholds;

	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc)
		listener = rcu_dereference(smc->listener);
	/* without a listener it has just ceased to listen */
	withholds = !listener || READ_ONCE(smc->fallback) != SMC_DECLINE_NONE ||
		      !smc_listen_serves(sk) || smc_listen_is_congested(smc, listener);
	rcu_read_unlock();
	if (withholds || !smc_tcp_syn_peer(&peer))
		return withholds;
	return smc_peer_recall(sock_net(sk), SMC_PEER_CLIENT, &peer, 0, &entry) ||
	       smc_policy_apply(sk, SMC_POLICY_LISTEN, &peer, inet_sk(sk)->inet_num);
}

/* Why a connection without the option is TCP. @sk: the connection, from TCP's queue */
static enum smc_decline smc_listen_plain_reason(const struct sock *lsk, struct sock *sk)
{
	enum smc_decline reason;
	struct in6_addr peer;

	smc_path_peer_addr(sk, &peer);
	reason = smc_policy_peek(lsk, SMC_POLICY_LISTEN, &peer, inet_sk(lsk)->inet_num, NULL);
	if (reason != SMC_DECLINE_NONE)
		return reason;
	return smc_ib_has_device() || smc_path_is_inside(sk) ? SMC_DECLINE_PEERNOSMC :
							       smc_path_lack(NULL);
}

/* TCP_DEFER_ACCEPT in jiffies; TCP stores it as a number of its timeouts. */
static unsigned long smc_listen_defer_time(const struct sock *sk)
{
	u8 timeouts = READ_ONCE(inet_csk(sk)->icsk_accept_queue.rskq_defer_accept);
	unsigned long timeout = TCP_TIMEOUT_INIT, time = 0;

	while (timeouts--) {
		time += timeout;
		timeout = min_t(unsigned long, 2 * timeout, TCP_RTO_MAX);
	}
	return time;
}

/* Return: false without memory. Expects the child's socket lock held. */
static bool smc_listen_adopt(struct smc_child *child, const struct sock *lsk)
{
	struct smc_sock *smc = smc_tcp_adopt_child(child->sk);
	const struct smc_sock *lsmc;

	if (!smc)
		return false;
	rcu_read_lock();
	/* an option may have excluded SMC after the listener offered it */
	lsmc = smc_sk(lsk);
	if (lsmc)
		smc->fallback = READ_ONCE(lsmc->fallback);
	rcu_read_unlock();
	return smc_hs_begin_server(smc, child, lsk);
}

/* Begin the handshake of a child from TCP's queue. Consumes the reference. */
static void smc_listen_begin_child(struct smc_listener *listener, struct sock *lsk,
				   struct sock *sk)
{
	struct mem_cgroup *was = set_active_memcg(smc_compat_sk_memcg(lsk));
	unsigned long defer_end = jiffies + smc_listen_defer_time(lsk);
	struct smc_child *child;
	bool has_begun;

	lock_sock(sk);
	child = smc_listener_add(listener, sk, defer_end);
	has_begun = child && smc_listen_adopt(child, lsk);
	release_sock(sk);
	set_active_memcg(was);
	if (has_begun) {
		smc_child_make_room(listener, NULL);
		return;
	}
	if (child)
		smc_listener_finish(child, false);
	smc_child_drop(sk);
}

/* For calls, which may wait for the socket lock. */
static struct sock *smc_listen_pop(struct sock *lsk)
{
	return smc_compat_csk_accept(smc_tcp_prot(lsk), lsk);
}

/*
 * A later child queues the work item again, and so does a call that owns the lock. An aborted child
 * does not end the queue.
 */
static void smc_listen_run(struct smc_listener *listener, struct sock *lsk)
{
	struct sock *sk;

	while (smc_listener_has_agreed(listener) &&
	       smc_sock_lock_work(lsk, SMC_MISSED_LISTEN)) {
		sk = smc_tcp_take_child(lsk);
		release_sock(lsk);
		if (!sk)
			return;
		if (smc_tcp_child_is_agreed(sk))
			smc_listen_begin_child(listener, lsk, sk);
		else if (!smc_listener_add_plain(listener, sk, smc_listen_plain_reason(lsk, sk)))
			smc_child_drop(sk);
	}
	smc_listener_wake_plain(listener, lsk);
}

/* TCP does not listen any more. The work item closes the remaining children. */
static void smc_listen_end(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);

	smc_option_unlisten(smc->sk);
	smc_tcp_answer_syns(smc->sk, false);
	smc_listener_end(listener);
	smc_sock_queue_listen(smc);
	rcu_assign_pointer(smc->listener, NULL);
	smc_listener_put(listener);
}

/*
 * With SO_REUSEPORT TCP may move connections to other listeners of the port. Reset those
 * for SMC: to a program without it their CLC messages are payload. Releases the socket lock.
 */
static void smc_listen_reset_children(struct smc_sock *smc, struct smc_listener *listener)
{
	struct sock *lsk = smc->sk, *sk;

	if (!rcu_access_pointer(lsk->sk_reuseport_cb))
		return;
	release_sock(lsk);
	while (smc_listener_has_agreed(listener)) {
		sk = smc_listen_pop(lsk);
		if (!sk)
			break;
		smc_child_drop(sk);
	}
	lock_sock(lsk);
}

/**
 * smc_listen_stop() - stop listening, end handshakes and close waiting children
 * @smc: the socket, listening
 *
 * Context: Process context, may sleep. Expects the socket lock held, which may be released
 * meanwhile.
 */
void smc_listen_stop(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);

	sock_owned_by_me(smc->sk);
	smc_listen_reset_children(smc, listener);
	if (smc_sock_listener(smc) != listener)
		return;
	smc_listener_leave_backlog(listener);
	if (smc->sk->sk_state == TCP_LISTEN)
		smc_tcp_disconnect(smc->sk);
	smc_listen_end(smc);
}

/**
 * smc_listen_land() - have a listener go on in TCP, without a gap
 * @smc: the socket, listening, while the module is drained; invalid if the result is true
 *
 * A client whose SYN was answered with SMC's option must find SMC, and a child that is on SMC is
 * in no queue of TCP. So both must be gone; the caller tries again.
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 * Return: true if it is plain TCP.
 */
bool smc_listen_land(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	if (sk->sk_state != TCP_LISTEN ||
	    reqsk_queue_len(&inet_csk(sk)->icsk_accept_queue) ||
	    smc_listener_has_agreed(listener) || !smc_listener_is_empty(listener))
		return false;
	WRITE_ONCE(listener->has_landed, true);
	/* pairs with smp_rmb() in smc_listen_is_over(): why it stopped, then that it did */
	smp_wmb();
	smc_listen_end(smc);
	smc_tcp_become(smc, SMC_DECLINE_DRAIN);
	/* accept() goes on in TCP's queue */
	smc_wake_everybody(sk);
	return true;
}

/* The listener's work item; drops the reference taken when it was queued. */
static void smc_listen_work(struct work_struct *work)
{
	struct smc_listener *listener = container_of(work, struct smc_listener, work);
	struct sock *sk = smc_listener_sock(listener);
	struct smc_sock *smc;

	if (!sk) {
		smc_child_drop_all(listener);
		goto out;
	}
	if (smc_sock_lock_work(sk, SMC_MISSED_LISTEN)) {
		smc = smc_sk(sk);
		/* an operator may have ended TCP's listening (`ss -K`) */
		if (smc && smc_sock_listener(smc) == listener && sk->sk_state == TCP_CLOSE)
			smc_listen_end(smc);
		release_sock(sk);
		smc_listen_run(listener, sk);
	}
	sock_put(sk);
out:
	smc_listener_put(listener);
}

/* Prepare the socket for TCP's listen(), before children can come. */
static int smc_listen_begin(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);
	struct sock *sk = smc->sk;

	sock_owned_by_me(smc->sk);
	if (listener && sk->sk_state == TCP_CLOSE)
		smc_listen_end(smc);
	else if (listener)
		return 0;
	listener = smc_listener_new(sk, smc_listen_work);
	if (!listener)
		return -ENOBUFS;
	/* the reason of an earlier connect() that TCP refused does not apply */
	if (smc->fallback != SMC_DECLINE_OPTUNSUPP)
		smc->fallback = SMC_DECLINE_NONE;
	smc->peer_diagnosis = 0;
	smc_option_listen(sk, smc_listen_withholds_smc);
	smc_tcp_answer_syns(sk, true);
	/* set if an operator ended the last listening: children would inherit it */
	WRITE_ONCE(sk->sk_shutdown, 0);
	rcu_assign_pointer(smc->listener, listener);
	return 0;
}

/* Clean up if TCP refused to listen, or shutdown() came between. */
static void smc_listen_begun(struct smc_sock *smc)
{
	struct smc_listener *listener = smc_sock_listener(smc);
	struct sock *sk = smc->sk;

	sock_owned_by_me(smc->sk);
	if (!listener && sk->sk_state == TCP_LISTEN)
		smc_tcp_disconnect(sk);
	else if (listener && sk->sk_state != TCP_LISTEN)
		smc_listen_end(smc);
}

/**
 * smc_listen() - listen() of a socket
 * @sock: the socket
 * @backlog: as TCP has it
 *
 * Context: Process context, may sleep.
 * Return: 0 or a negative errno.
 */
int smc_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc;
	int rc = -EINVAL;

	guard(smc_call)(sk);
	smc_option_prepare_listen(sk);
	smc = smc_call_lock(sk);
	if (!smc)
		return smc_tcp_ops(sock)->listen(sock, backlog);
	if (smc->phase == SMC_PHASE_IDLE && sock->state == SS_UNCONNECTED &&
	    (1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN))
		rc = smc_listen_begin(smc);
	smc_call_unlock(sk);
	if (rc)
		return rc;
	rc = smc_tcp_ops(sock)->listen(sock, backlog);
	smc = smc_call_lock(sk);
	if (smc) {
		smc_listen_begun(smc);
		smc_call_unlock(sk);
	}
	return rc;
}

/**
 * smc_listen_is_ready() - check whether accept() would find a connection
 * @listener: the listener, held by RCU or a reference
 * @sk: its sock
 *
 * Context: Any context.
 * Return: true if a child is ready, or TCP's queue has one without SMC.
 */
bool smc_listen_is_ready(const struct smc_listener *listener, const struct sock *sk)
{
	return READ_ONCE(listener->nr[SMC_CHILD_READY]) || smc_listener_has_plain(listener, sk);
}

/* Take a child for accept(), without waiting. */
static bool smc_listen_next(struct smc_listener *listener, struct sock *lsk,
			    struct smc_accepted *child)
{
	struct sock *sk;

	if (READ_ONCE(listener->nr[SMC_CHILD_READY]) && smc_listener_next(listener, child))
		return true;
	while (READ_ONCE(lsk->sk_ack_backlog)) {
		sk = smc_listen_pop(lsk);
		if (!sk)
			return false;
		if (!smc_tcp_child_is_agreed(sk)) {
			child->sk = sk;
			child->fallback = smc_listen_plain_reason(lsk, sk);
			child->peer_diagnosis = 0;
			child->memory_age_ms = 0;
			return true;
		}
		smc_listen_begin_child(listener, lsk, sk);
	}
	return false;
}

/* Return: true if the socket does not listen any more; one that landed does, on TCP. */
static bool smc_listen_is_over(const struct smc_listener *listener, const struct sock *sk)
{
	if (inet_sk_state_load(sk) != TCP_LISTEN)
		return true;
	if (READ_ONCE(listener->sk))
		return false;
	/* pairs with smp_wmb() in smc_listen_land() */
	smp_rmb();
	return !READ_ONCE(listener->has_landed);
}

static int smc_listen_wait(struct socket *sock, struct smc_listener *listener,
			   long *timeo)
{
	wait_queue_head_t *wq = &sock->wq.wait;
	struct sock *sk = sock->sk;
	DEFINE_WAIT(wait);
	int rc = 0;

	for (;;) {
		/* one connection wakes one accept() */
		prepare_to_wait_exclusive(wq, &wait, TASK_INTERRUPTIBLE);
		if (smc_listen_is_over(listener, sk))
			rc = -EINVAL;
		else if (smc_listen_is_ready(listener, sk))
			break;
		else if (!*timeo)
			rc = -EAGAIN;
		else if (READ_ONCE(listener->has_landed) && smc_sock_restart_call())
			rc = -ERESTARTSYS;
		else if (signal_pending(current))
			rc = sock_intr_errno(*timeo);
		if (rc)
			break;
		*timeo = schedule_timeout(*timeo);
	}
	finish_wait(wq, &wait);
	return rc;
}

/* Take the next child for accept(). */
static int smc_listen_accept(struct socket *sock, int flags, struct smc_accepted *child)
{
	struct sock *sk = sock->sk;
	long timeo = sock_rcvtimeo(sk, flags & O_NONBLOCK);
	struct smc_listener *listener;
	struct smc_sock *smc;
	int rc = 0;

	rcu_read_lock();
	smc = smc_sk(sk);
	listener = smc ? rcu_dereference(smc->listener) : NULL;
	if (listener && !refcount_inc_not_zero(&listener->refs))
		listener = NULL;
	rcu_read_unlock();
	if (!listener)
		return smc ? -EINVAL : 1;
	while (!rc && !smc_listen_next(listener, sk, child))
		rc = smc_listen_wait(sock, listener, &timeo);
	child->is_last = !smc_listen_is_ready(listener, sk);
	/* pass on a wake-up that was meant for another caller */
	if (rc && !child->is_last)
		smc_wake_readers(sk);
	smc_listener_put(listener);
	return rc;
}

/* From accept() on, TCP's memory is charged to the caller. */
static void accept_child(struct sock *sk, struct socket *newsock)
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

/**
 * smc_accept() - accept() of a socket
 * @sock: the listening socket
 * @newsock: receives the connection
 * @flags: O_NONBLOCK
 * @is_empty: set if no other connection is ready
 *
 * Context: Process context, may sleep.
 * Return: 0; 1 if it is plain TCP, and the caller has to go on there; -EAGAIN; -EINVAL if not
 * listening; -ERESTARTSYS or -EINTR on a signal; -ERESTARTSYS if it has landed.
 */
int smc_accept(struct socket *sock, struct socket *newsock, int flags, int *is_empty)
{
	struct smc_accepted child;
	int rc;

	rc = smc_listen_accept(sock, flags, &child);
	if (rc)
		return rc;
	*is_empty = child.is_last;
	accept_child(child.sk, newsock);
	if (child.fallback == SMC_DECLINE_NONE)
		return 0;
	smc_stat_inc(sock_net(child.sk), SMC_STAT_SERVER_TCP);
	smc_history_add(child.sk, true, child.fallback, child.peer_diagnosis,
			child.memory_age_ms);
	return 0;
}
