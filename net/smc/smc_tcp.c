// SPDX-License-Identifier: GPL-2.0
/*
 * The inner TCP socket.
 *
 * Its callbacks are ours while smc_tcp_watch() is in force. They only set
 * bits and queue work; what the news mean is decided there. sk_user_data
 * points to our socket and is flagged so that children of a listener do not
 * inherit it.
 *
 * Children of a listener have nothing of ours from their birth on
 * (smc_tcp_born()): TCP may move a child to another listener of the port, which
 * need not be ours, and the child may outlive the module. So a listener keeps our
 * functions until TCP listens no more. TCP adds no child to the queue of such a
 * listener: a child that is copied too late to be cleaned never leaves TCP.
 *
 * A BPF program may put a child in a sockmap, which wants sk_user_data and
 * perhaps sk_data_ready for itself. It keeps both: the child becomes a TCP
 * socket. A socket that is ours is refused to a sockmap (EBUSY).
 */
#include <linux/net.h>
#include <linux/security.h>
#include <linux/skmsg.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "smc_mem.h"
#include "smc_tcp.h"

/* How long one for SMC may wait for another look at TCP's queue, in ms. */
#define SMC_TCP_MIND_MS		20

/* What a fresh TCP socket comes with; the same for all. */
static struct {
	const struct proto_ops *ops;
	const struct proto_ops *ops6;
	void (*state_change)(struct sock *sk);
	void (*data_ready)(struct sock *sk);
} smc_tcp_own;

/* What TCP does with IPv4 and with IPv6, and the same with our part in it for a listener. */
static struct smc_tcp_af {
	const struct inet_connection_sock_af_ops *own;
	struct inet_connection_sock_af_ops listener;
} smc_tcp_af[2];

static int smc_tcp_conn_request(struct sock *sk, struct sk_buff *skb);
static struct sock *smc_tcp_syn_recv_sock SMC_SYN_RECV_PARAMS;

static struct smc_tcp_af *smc_tcp_af_of(const struct sock *sk)
{
	return &smc_tcp_af[sk->sk_family == AF_INET6];
}

static const struct proto_ops *smc_tcp_sample(int family)
{
	const struct proto_ops *ops;
	struct smc_tcp_af *af;
	struct socket *sock;

	if (sock_create_kern(&init_net, family, SOCK_STREAM, IPPROTO_TCP, &sock))
		return NULL;
	ops = sock->ops;
	smc_tcp_own.state_change = sock->sk->sk_state_change;
	smc_tcp_own.data_ready = sock->sk->sk_data_ready;
	af = smc_tcp_af_of(sock->sk);
	af->own = inet_csk(sock->sk)->icsk_af_ops;
	af->listener = *af->own;
	af->listener.conn_request = smc_tcp_conn_request;
	af->listener.syn_recv_sock = smc_tcp_syn_recv_sock;
	sock_release(sock);
	return ops;
}

/**
 * smc_tcp_init() - learn what TCP sockets look like, switch the option on
 *
 * Context: Process context, module load.
 * Return: 0, or -EAFNOSUPPORT when not even IPv4 sockets can be made.
 */
int smc_tcp_init(void)
{
	smc_tcp_own.ops = smc_tcp_sample(PF_INET);
	if (!smc_tcp_own.ops)
		return -EAFNOSUPPORT;
	/* IPv6 may be disabled; then nobody gets a v6 socket from us either */
	smc_tcp_own.ops6 = smc_tcp_sample(PF_INET6);
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
 * smc_tcp_ops() - the operations for a struct socket that TCP has taken over
 * @sock: its sk is a TCP socket
 *
 * sock->ops itself may still be ours for a moment (smc_fallback_graft()), or
 * a table that a TLS or address-form switch has put there since.
 *
 * Context: Any context.
 * Return: never ours, never NULL.
 */
const struct proto_ops *smc_tcp_ops(const struct socket *sock)
{
	const struct proto_ops *ops = READ_ONCE(sock->ops);

	if (ops->family != PF_SMC)
		return ops;
	return sock->sk->sk_family == AF_INET6 ? smc_tcp_own.ops6 : smc_tcp_own.ops;
}

/**
 * smc_tcp_create() - give a socket its inner TCP socket
 * @smc: the socket, new
 * @net: its namespace
 * @kern: as for sk_alloc(); 0 makes the TCP socket an ordinary one that
 *	  belongs to the process, as it would be without us
 *
 * It will carry the SMC option unless smc_tcp_offer() says otherwise.
 *
 * Context: Process context, may sleep.
 * Return: 0 or the negative errno of creating a TCP socket.
 */
int smc_tcp_create(struct smc_sock *smc, struct net *net, int kern)
{
	int family = smc_sock_is_v6(&smc->sk) ? PF_INET6 : PF_INET;
	int rc;

	rc = __sock_create(net, family, SOCK_STREAM, IPPROTO_TCP, &smc->tcp, kern);
	if (!rc)
		tcp_sk(smc->tcp->sk)->syn_smc = 1;
	return rc;
}

/**
 * smc_tcp_end_errno() - how the inner connection has ended
 * @smc: the socket
 *
 * TCP knows whether it was reset, or nobody answered its keepalives. What it says to the
 * writer of data, who has none here, is not passed on.
 *
 * Context: Process context. Expects the socket lock held.
 * Return: positive errno; 0 if it has not ended, or not by an error.
 */
int smc_tcp_end_errno(const struct smc_sock *smc)
{
	int err = 0;

	if (smc->tcp && inet_sk_state_load(smc->tcp->sk) == TCP_CLOSE)
		err = READ_ONCE(smc->tcp->sk->sk_err);
	return err == EPIPE ? 0 : err;
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
 * smc_tcp_is_connected() - has the three-way handshake been completed
 * @smc: the socket, of a client
 *
 * Context: Any context.
 * Return: false before that, and when TCP is closed (again).
 */
bool smc_tcp_is_connected(const struct smc_sock *smc)
{
	return !((1 << inet_sk_state_load(smc->tcp->sk)) &
		 (TCPF_SYN_SENT | TCPF_SYN_RECV | TCPF_CLOSE));
}

/**
 * smc_tcp_is_agreed() - did both sides send the option, OPT-08
 * @smc: the socket, three-way handshake completed
 *
 * A socket that is connected to itself would be a client without a server. TCP takes
 * back what a client offers when the SYN-ACK does not have the option; where two SYNs
 * cross it leaves that to us.
 *
 * Context: Any context.
 * Return: true if both did, and they are two.
 */
bool smc_tcp_is_agreed(struct smc_sock *smc)
{
	const struct tcp_sock *tp = tcp_sk(smc->tcp->sk);

	return tp->syn_smc && (smc->child || tp->rx_opt.smc_ok) &&
	       !smc_tcp_is_self(smc->tcp->sk);
}

/*
 * A peer without SMC: all that is left to do is to fall back, which the next
 * call on the socket does by itself. Who waits for one is woken as TCP wakes
 * pollers, all of them. A signal has no next call.
 */
static bool smc_tcp_leave_plain(struct smc_sock *smc)
{
	if (!smc_tcp_is_connected(smc) || smc_tcp_is_agreed(smc) ||
	    sock_flag(&smc->sk, SOCK_FASYNC))
		return false;
	/* not if the phase is about to end, under the socket lock */
	if (cmpxchg(&smc->tcp_phase, SMC_TCP_CONNECTING, SMC_TCP_PLAIN) != SMC_TCP_CONNECTING)
		return false;
	/* stays when the phase is over: a fallback that is under way tells nobody else */
	WRITE_ONCE(smc->was_told, true);
	smc_sock_wake_sleepers(smc);
	return true;
}

/* Who waits in connect() goes on with it; nobody there, a worker does. */
static void smc_tcp_opened(struct smc_sock *smc)
{
	/* pairs with smc_hs_unattend(): after the state was written */
	smp_mb();
	if (READ_ONCE(smc->nr_attending))
		smc_sock_wake_attending(smc);
	else if (!smc_tcp_leave_plain(smc))
		smc_sock_queue(smc, &smc->hs_work);
}

/* Ours, or NULL where the sock is not watched; under RCU or the sk_callback_lock. */
static struct smc_sock *smc_tcp_user(const struct sock *sk)
{
	/* that of a sockmap is flagged SK_USER_DATA_NOCOPY, too */
	if (__locked_read_sk_user_data_with_flags(sk, SK_USER_DATA_PSOCK))
		return NULL;
	return __locked_read_sk_user_data_with_flags(sk, SK_USER_DATA_NOCOPY);
}

/*
 * Children that are ready and that nobody has accepted take places of the backlog, as those
 * in TCP's queue do, off which they were taken. Handshakes under way do not count, as half
 * open connections do not with TCP: a backlog's worth of silent clients would keep everybody
 * else out. What they cost has a bound of its own, smc_listener.c. TCP's own count stays
 * that of its queue: TCP checks it when the listener ends.
 */
static bool smc_tcp_is_full(const struct sock *sk)
{
	unsigned int nr = READ_ONCE(sk->sk_ack_backlog);
	const struct smc_sock *smc;

	rcu_read_lock();
	smc = smc_tcp_user(sk);
	if (smc)
		nr += smc_sock_nr_children(smc, SMC_CHILD_READY);
	rcu_read_unlock();
	return nr > READ_ONCE(sk->sk_max_ack_backlog);
}

/* Told as TCP tells it. */
static bool smc_tcp_refuses(const struct sock *sk)
{
	if (!smc_tcp_is_full(sk))
		return false;
	NET_INC_STATS(sock_net(sk), LINUX_MIB_LISTENOVERFLOWS);
	tcp_listendrop(sk);
	return true;
}

/* A SYN: dropped if the backlog is full, and the client tries again. */
static int smc_tcp_conn_request(struct sock *sk, struct sk_buff *skb)
{
	return smc_tcp_refuses(sk) ? 0 : smc_tcp_af_of(sk)->own->conn_request(sk, skb);
}

/* A child begins as a copy of its listener. Nobody else can lock it yet. */
static void smc_tcp_born(struct sock *child, const struct request_sock *req)
{
	const struct smc_tcp_af *af = smc_tcp_af_of(child);
	struct tcp_sock *tp = tcp_sk(child);

	child->sk_state_change = smc_tcp_own.state_change;
	child->sk_data_ready = smc_tcp_own.data_ready;
	tp->smc_hs_congested = NULL;
	if (inet_csk(child)->icsk_af_ops == &af->listener)
		inet_csk(child)->icsk_af_ops = af->own;
	/* TCP has moved the request here from a listener whose SYN-ACK had no option, OPT-08 */
	if (req->rsk_listener && !tcp_sk(req->rsk_listener)->syn_smc)
		tp->syn_smc = 0;
}

/* The ACK of a SYN-ACK. */
static struct sock *smc_tcp_syn_recv_sock SMC_SYN_RECV_PARAMS
{
	struct sock *child;

	if (smc_tcp_refuses(sk)) {
		dst_release(dst);
		return NULL;
	}
	child = smc_tcp_af_of(sk)->own->syn_recv_sock SMC_SYN_RECV_ARGS;
	if (child)
		smc_tcp_born(child, req);
	return child;
}

static void smc_tcp_state_change(struct sock *sk)
{
	struct smc_sock *smc;

	read_lock_bh(&sk->sk_callback_lock);
	smc = smc_tcp_user(sk);
	if (smc) {
		switch (READ_ONCE(smc->tcp_phase)) {
		case SMC_TCP_CONNECTING:
			smc_tcp_opened(smc);
			break;
		case SMC_TCP_PLAIN:
			/*
			 * No call has fallen back yet, and until one has TCP can wake
			 * nobody: the worker falls back.
			 */
		case SMC_TCP_HANDSHAKE:
			smc_sock_queue(smc, &smc->hs_work);
			break;
		case SMC_TCP_LISTENING:
			if (sk->sk_state == TCP_CLOSE)
				smc_sock_queue_listen(smc, 0);
			break;
		case SMC_TCP_CARRIER:
			/* a FIN is remembered by TCP; deployed peers send it early */
			if (sk->sk_state == TCP_CLOSE)
				smc_sock_pend(smc, SMC_PENDING_RESET);
			break;
		default:
			break;
		}
	}
	read_unlock_bh(&sk->sk_callback_lock);
	smc_tcp_own.state_change(sk);
}

/* What has not agreed on SMC is accepted as it is, by who asks for it. */
static void smc_tcp_arrived(struct smc_sock *smc)
{
	bool is_agreed;

	if (!smc_tcp_peek(smc, &is_agreed) || is_agreed) {
		smc_sock_queue_listen(smc, 0);
		return;
	}
	smc->sk.sk_data_ready(&smc->sk);
	smc_tcp_mind_others(smc);
}

/* An urgent byte may be all there is, and does not count as one to be read. */
static bool smc_tcp_holds_payload(struct sock *sk)
{
	return tcp_inq(sk) > 0 || READ_ONCE(tcp_sk(sk)->urg_data);
}

static void smc_tcp_data_ready(struct sock *sk)
{
	struct smc_sock *smc;

	read_lock_bh(&sk->sk_callback_lock);
	smc = smc_tcp_user(sk);
	if (smc) {
		switch (READ_ONCE(smc->tcp_phase)) {
		case SMC_TCP_LISTENING:
			smc_tcp_arrived(smc);
			break;
		case SMC_TCP_PLAIN:
		case SMC_TCP_HANDSHAKE:
			smc_sock_queue(smc, &smc->hs_work);
			break;
		case SMC_TCP_CARRIER:
			/* payload here is a protocol error, AMB-54 */
			if (smc_tcp_holds_payload(sk))
				smc_sock_pend(smc, SMC_PENDING_FAULT);
			break;
		default:
			break;
		}
	}
	read_unlock_bh(&sk->sk_callback_lock);
	smc_tcp_own.data_ready(sk);
}

/**
 * smc_tcp_watch() - be told what happens on the inner socket
 * @smc: the socket; stays alive until smc_tcp_unwatch()
 * @phase: what its callbacks mean from now on
 *
 * News from before this call are not reported: the caller looks itself.
 *
 * Context: Process context. Takes sk_callback_lock of the inner socket.
 * Return: false if the socket is in a sockmap: then nothing is ever told. That
 *	   can be so only for one that TCP's accept() has just returned.
 */
bool smc_tcp_watch(struct smc_sock *smc, enum smc_tcp_phase phase)
{
	struct sock *sk = smc->tcp->sk;
	bool is_ours;

	write_lock_bh(&sk->sk_callback_lock);
	/* of an attempt that was broken off when TCP had just told all */
	if (phase == SMC_TCP_CONNECTING) {
		WRITE_ONCE(smc->was_told, false);
		WRITE_ONCE(smc->has_missed, false);
	}
	WRITE_ONCE(smc->tcp_phase, phase);
	is_ours = !__locked_read_sk_user_data_with_flags(sk, SK_USER_DATA_PSOCK);
	if (is_ours) {
		__rcu_assign_sk_user_data_with_flags(sk, smc, SK_USER_DATA_NOCOPY);
		sk->sk_state_change = smc_tcp_state_change;
		sk->sk_data_ready = smc_tcp_data_ready;
		if (phase == SMC_TCP_LISTENING)
			inet_csk(sk)->icsk_af_ops = &smc_tcp_af_of(sk)->listener;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return is_ours;
}

/* What is in a sockmap never was ours. */
static void smc_tcp_restore(struct sock *sk)
{
	const struct smc_tcp_af *af = smc_tcp_af_of(sk);

	lockdep_assert_held(&sk->sk_callback_lock);
	if (__locked_read_sk_user_data_with_flags(sk, SK_USER_DATA_PSOCK))
		return;
	rcu_assign_sk_user_data(sk, NULL);
	sk->sk_state_change = smc_tcp_own.state_change;
	sk->sk_data_ready = smc_tcp_own.data_ready;
	tcp_sk(sk)->smc_hs_congested = NULL;
	if (inet_csk(sk)->icsk_af_ops == &af->listener)
		inet_csk(sk)->icsk_af_ops = af->own;
}

/**
 * smc_tcp_unwatch() - make the inner socket an ordinary one again
 * @smc: the socket; TCP does not listen, or listens no more
 *
 * No callback of ours runs when this returns. What a sockmap has put in place stays.
 *
 * Context: Process context. Takes sk_callback_lock of the inner socket.
 */
void smc_tcp_unwatch(struct smc_sock *smc)
{
	struct sock *sk = smc->tcp->sk;

	WRITE_ONCE(smc->tcp_phase, SMC_TCP_QUIET);
	write_lock_bh(&sk->sk_callback_lock);
	smc_tcp_restore(sk);
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_tcp_lend_file() - packets of the inner socket are those of a file
 * @smc: the socket; nothing happens if it has no inner one
 * @file: the application's, which is open; NULL to take it back
 *
 * Filters ask whose a packet is by way of the file of its socket, under the
 * sk_callback_lock; TCP sends SIGURG to its owner under the socket's own lock alone.
 * No reference is held: release() of the application's socket takes
 * the file back before it is freed, and so does whoever takes the inner sock out
 * of its struct socket. That is freed as one without a file, as it was made.
 *
 * Context: Process context, may sleep. Expects the socket lock held, or a child that
 * nobody else knows. Takes the inner socket's lock, to take the file back, and its
 * sk_callback_lock.
 */
void smc_tcp_lend_file(struct smc_sock *smc, struct file *file)
{
	struct sock *sk;

	if (!smc->tcp || smc->tcp->file == file)
		return;
	sk = smc->tcp->sk;
	if (!file)
		lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	WRITE_ONCE(smc->tcp->file, file);
	write_unlock_bh(&sk->sk_callback_lock);
	if (!file)
		release_sock(sk);
}

/**
 * smc_tcp_give() - let the inner sock go to another struct socket
 * @smc: the socket; it has no inner socket afterwards
 * @sock: of the application; its sk is for the caller to set
 *
 * No callback of ours runs when this returns, and TCP's wake who waits at @sock.
 *
 * Context: Process context, may sleep. Takes sk_callback_lock of the inner sock.
 * Return: the inner sock, with the reference that a struct socket has on it.
 */
struct sock *smc_tcp_give(struct smc_sock *smc, struct socket *sock)
{
	struct socket *tcp = smc->tcp;
	struct sock *sk = tcp->sk;

	WRITE_ONCE(smc->tcp_phase, SMC_TCP_QUIET);
	write_lock_bh(&sk->sk_callback_lock);
	smc_tcp_restore(sk);
	rcu_assign_pointer(sk->sk_wq, &sock->wq);
	sk_set_socket(sk, sock);
	sk->sk_uid = SOCK_INODE(sock)->i_uid;
	security_sock_graft(sk, sock);
	WRITE_ONCE(tcp->file, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	/* pair with smc_tcp_peek(), which poll() calls */
	WRITE_ONCE(tcp->sk, NULL);
	WRITE_ONCE(smc->tcp, NULL);
	/* wakers that found the old wait queue under RCU may still use it: it
	 * is freed with the inode, after a grace period
	 */
	sock_release(tcp);
	return sk;
}

static bool smc_tcp_req_is_agreed(const struct request_sock *req)
{
	return req->sk && tcp_sk(req->sk)->syn_smc;
}

/**
 * smc_tcp_mind_others() - who wants SMC waits for nobody to accept() those in front
 * @smc: a socket that listens; the first connection in TCP's queue is a plain one
 *
 * Has it taken at once if the newest is one for SMC. If it is not there may still
 * be one in between: TCP tells of each when it has queued it, and of two that come at the
 * same time both calls may find the same to be the newest. To look at all of them for each
 * that comes would cost too much, so that is done by and by.
 *
 * Context: Any context but hard interrupt. Takes the lock of TCP's queue.
 */
void smc_tcp_mind_others(struct smc_sock *smc)
{
	struct request_sock_queue *queue = &inet_csk(smc->tcp->sk)->icsk_accept_queue;
	bool is_agreed = false, has_others;

	spin_lock_bh(&queue->rskq_lock);
	has_others = queue->rskq_accept_head && queue->rskq_accept_head->dl_next;
	if (has_others)
		is_agreed = smc_tcp_req_is_agreed(queue->rskq_accept_tail);
	spin_unlock_bh(&queue->rskq_lock);
	if (is_agreed)
		smc_sock_queue_listen(smc, 0);
	else if (has_others)
		smc_sock_queue_listen(smc, msecs_to_jiffies(SMC_TCP_MIND_MS));
}

/**
 * smc_tcp_nr_to_agreed() - how many to accept from TCP until none is for SMC
 * @smc: a socket that listens
 *
 * Context: Any context but hard interrupt. Takes the lock of TCP's queue, for a time
 *	    that grows with its length.
 * Return: the place of the last one where both sides sent the option, OPT-08; 0 if
 *	   there is none.
 */
unsigned int smc_tcp_nr_to_agreed(struct smc_sock *smc)
{
	struct request_sock_queue *queue = &inet_csk(smc->tcp->sk)->icsk_accept_queue;
	const struct request_sock *req;
	unsigned int place = 0, last = 0;

	spin_lock_bh(&queue->rskq_lock);
	for (req = queue->rskq_accept_head; req; req = req->dl_next) {
		place++;
		if (smc_tcp_req_is_agreed(req))
			last = place;
	}
	spin_unlock_bh(&queue->rskq_lock);
	return last;
}

/**
 * smc_tcp_peek() - is there a connection to accept from TCP, and which
 * @smc: a socket that listens, or did when the caller looked
 * @is_agreed: filled if there is one: both sides of the oldest sent the option, OPT-08
 *
 * Without the socket lock the inner socket may be given away meanwhile. What it
 * consists of stays for as long as the caller looks, since a sock that has
 * listened is freed after a grace period, and its queue can be locked.
 *
 * Context: Any context but hard interrupt. Takes the lock of TCP's queue.
 * Return: false if the queue is empty.
 */
bool smc_tcp_peek(struct smc_sock *smc, bool *is_agreed)
{
	const struct request_sock *req = NULL;
	struct request_sock_queue *queue;
	struct socket *tcp;
	struct sock *sk;

	rcu_read_lock();
	tcp = READ_ONCE(smc->tcp);
	sk = tcp ? READ_ONCE(tcp->sk) : NULL;
	queue = sk ? &inet_csk(sk)->icsk_accept_queue : NULL;
	if (queue && !reqsk_queue_empty(queue)) {
		spin_lock_bh(&queue->rskq_lock);
		req = queue->rskq_accept_head;
		*is_agreed = req && smc_tcp_req_is_agreed(req);
		spin_unlock_bh(&queue->rskq_lock);
	}
	rcu_read_unlock();
	return req;
}

/* What is behind @req in TCP's queue, or the first in it. */
static struct request_sock *smc_tcp_next_req(struct request_sock_queue *queue,
					     struct request_sock *req)
{
	spin_lock_bh(&queue->rskq_lock);
	req = req ? req->dl_next : queue->rskq_accept_head;
	spin_unlock_bh(&queue->rskq_lock);
	return req;
}

/*
 * The next child in TCP's queue that has agreed on SMC, for the caller to reset and to put;
 * NULL if there is none. The lock keeps them in the queue: an operator may end the listener
 * at the same time (`ss -K`).
 */
static struct sock *smc_tcp_next_agreed(struct sock *sk)
{
	struct request_sock_queue *queue = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req = NULL;
	struct sock *found = NULL;

	lock_sock(sk);
	while (!found && (req = smc_tcp_next_req(queue, req))) {
		if (smc_tcp_req_is_agreed(req) && inet_sk_state_load(req->sk) != TCP_CLOSE)
			found = req->sk;
	}
	if (found)
		sock_hold(found);
	release_sock(sk);
	return found;
}

/**
 * smc_tcp_leave_children() - what TCP holds for accept() is for another listener
 * @smc: a socket that is about to listen no more
 *
 * Where others listen on the same port (SO_REUSEPORT) TCP may move connections to
 * them when this one is done, and they may be of programs without SMC. So one that
 * has agreed on SMC is reset, for what its client says would be no payload.
 *
 * Context: Process context, may sleep. Expects the socket lock held. Takes the lock
 *	    of the inner socket, and of those in its queue.
 */
void smc_tcp_leave_children(struct smc_sock *smc)
{
	struct sock *sk = smc->tcp->sk;
	struct sock *child;

	if (!rcu_access_pointer(sk->sk_reuseport_cb))
		return;
	while ((child = smc_tcp_next_agreed(sk))) {
		tcp_abort(child, ECONNRESET);
		sock_put(child);
	}
}

/**
 * smc_tcp_release() - close the inner socket
 * @smc: the socket
 *
 * TCP sends FIN, or RST when CLC bytes are unread, as it would for a process.
 *
 * Context: Process context, may sleep.
 */
void smc_tcp_release(struct smc_sock *smc)
{
	struct socket *tcp = smc->tcp;

	if (!tcp)
		return;
	smc_tcp_unwatch(smc);
	smc_tcp_lend_file(smc, NULL);
	WRITE_ONCE(smc->tcp, NULL);
	sock_release(tcp);
}

/**
 * smc_tcp_shutdown() - shut directions of the inner connection down
 * @smc: the socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
 *
 * A handshake under way learns of it.
 *
 * Context: Process context. Takes the inner socket's lock.
 */
void smc_tcp_shutdown(struct smc_sock *smc, int how)
{
	if (smc->tcp)
		kernel_sock_shutdown(smc->tcp, how);
}

/**
 * smc_tcp_reset() - reset the inner connection, RST on IP
 * @smc: the socket
 *
 * Context: Process context. Takes the inner socket's lock.
 */
void smc_tcp_reset(struct smc_sock *smc)
{
	if (smc->tcp)
		tcp_abort(smc->tcp->sk, ECONNRESET);
}

/**
 * smc_tcp_disconnect() - have the inner socket as if it had never connected
 * @smc: the socket
 *
 * RST where there is a connection. Options and a bind() stay.
 *
 * Context: Process context. Takes the inner socket's lock.
 * Return: 0 or the negative errno of TCP's connect() to AF_UNSPEC.
 */
int smc_tcp_disconnect(struct smc_sock *smc)
{
	struct sockaddr_storage none = { .ss_family = AF_UNSPEC };

	return kernel_connect(smc->tcp, (struct sockaddr *)&none, sizeof(none), O_NONBLOCK);
}

/**
 * smc_tcp_offer() - carry the SMC option on SYN or SYN-ACK, or do not
 * @smc: the socket, before connect() or listen()
 * @is_offered: carry it; OPT-02, OPT-03
 *
 * Context: Process context. Expects the socket lock held. Takes the inner
 * socket's lock.
 */
void smc_tcp_offer(struct smc_sock *smc, bool is_offered)
{
	struct sock *sk = smc->tcp->sk;

	/* nobody but us writes it, and TCP while it is connecting */
	if (tcp_sk(sk)->syn_smc == is_offered)
		return;
	lock_sock(sk);
	tcp_sk(sk)->syn_smc = is_offered;
	release_sock(sk);
}

/**
 * smc_tcp_set_owner() - whose the inner socket is
 * @smc: the socket
 * @owner: a socket of the same user
 *
 * For one that a kernel thread took from TCP, which would be root's, or whose file has
 * another owner since.
 *
 * Context: Process context. Takes sk_callback_lock of the inner socket.
 */
void smc_tcp_set_owner(struct smc_sock *smc, struct socket *owner)
{
	struct inode *inode = SOCK_INODE(smc->tcp);
	struct sock *sk = smc->tcp->sk;

	write_lock_bh(&sk->sk_callback_lock);
	inode->i_uid = SOCK_INODE(owner)->i_uid;
	inode->i_gid = SOCK_INODE(owner)->i_gid;
	sk->sk_uid = inode->i_uid;
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_tcp_adopt() - accept() takes the inner socket of a child
 * @smc: the child
 * @sock: new, of the caller, without a sock
 *
 * A kernel thread took it from TCP: only now it has a memory control group, the
 * user who is the caller, and a file.
 *
 * Context: Task that accepts, may sleep. Takes the inner socket's lock.
 */
void smc_tcp_adopt(struct smc_sock *smc, struct socket *sock)
{
	struct sock *sk = smc->tcp->sk;

	smc_tcp_set_owner(smc, sock);
	smc_tcp_lend_file(smc, sock->file);
	lock_sock(sk);
	local_bh_disable();
	smc_mem_adopt(sk, atomic_read(&sk->sk_rmem_alloc) + sk->sk_wmem_queued);
	local_bh_enable();
	release_sock(sk);
}

/**
 * smc_tcp_has_payload() - are there bytes to read on the inner connection
 * @smc: the socket
 *
 * Context: Process context. Takes the inner socket's lock.
 * Return: true if so, be it an urgent byte alone.
 */
bool smc_tcp_has_payload(struct smc_sock *smc)
{
	struct sock *sk = smc->tcp->sk;
	bool has;

	lock_sock(sk);
	has = smc_tcp_holds_payload(sk);
	release_sock(sk);
	return has;
}
