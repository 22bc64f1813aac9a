/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The socket object: allocation, references, sleeping and waking. What a socket
 * does lives on the floors above.
 */
#ifndef SMC_SOCK_H
#define SMC_SOCK_H

#include <linux/ipv6.h>
#include <linux/smc.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>

#include "smc_conn.h"
#include "smc_idle.h"
#include "smc_listener.h"
#include "smc_state.h"

/* What the callbacks of the inner TCP socket mean at the moment. */
enum smc_tcp_phase {
	SMC_TCP_QUIET,		/* nobody here wants to know */
	SMC_TCP_LISTENING,	/* children to take */
	SMC_TCP_CONNECTING,	/* client: the three-way handshake is under way */
	SMC_TCP_PLAIN,		/* client: it is done, without SMC; the next call falls back */
	SMC_TCP_HANDSHAKE,	/* CLC messages may come */
	SMC_TCP_CARRIER,	/* on SMC: only FIN, RST and keepalives may come */
};

struct smc_hs;

/* Bits of smc_sock.pending: news for the close machine that are nowhere else, in its order. */
enum smc_pending {
	SMC_PENDING_FAULT,	/* this side must abort: cursors, loss, eye catcher */
	SMC_PENDING_RESET,	/* the TCP connection was reset */
	SMC_PENDING_SILENCE,	/* the peer was silent for longer than is allowed */
	SMC_PENDING_LINK_LOST,
	SMC_PENDING_TIMER,
};

/* Bits of smc_sock.missed: what a work item could not do, for a call has the lock. */
enum smc_missed {
	SMC_MISSED_HANDSHAKE,
	SMC_MISSED_LISTEN,
	SMC_MISSED_CLOSE,
};

/* Fields of struct sock by which smc_opt_settle() finds what has changed; 0 in a new one. */
struct smc_opt_seen {
	unsigned long flags;
	unsigned long max_pacing_rate;
	u32 priority;
	u32 mark;
	int bound_dev_if;
	int sndbuf;
	int rcvbuf;
	u8 userlocks;
	u8 reuse;
	u8 reuseport;
	u8 txrehash;
};

/**
 * struct smc_sock - a socket of AF_SMC, or of IPPROTO_SMC
 *
 * Guarded by the socket lock unless a member says otherwise. sk_state follows
 * @close.state, see smc_state_shown().
 *
 * @sk: the generic part
 * @inet: the same with TCP/IP's members; first, so that it can be one of AF_INET
 * @tcp: the inner TCP socket; NULL once the connection was grafted onto TCP,
 *	 once a new sock has it (smc_renew()), and after the last close; also read
 *	 by the one handshake worker
 * @conn: the connection on a link group; NULL unless a handshake has made one, and has
 *	  not failed. Const while there is one; without the socket lock read under RCU
 * @nonagle: TCP_NODELAY and TCP_CORK as @tcp has them, TCP_NAGLE_OFF and TCP_NAGLE_CORK
 * @tx_lowat: TCP_NOTSENT_LOWAT, bytes; 0 for the default of TCP
 * @close: the close machine; it has a reference while smc_state_is_alive()
 * @hash_node: in the list that sock_diag walks
 * @late_node: in the list of those whose file has another sock now, smc_orphan.c
 * @late_heir: the sock that has the file now, a reference, while listed
 * @late_elder: who had the file before and is kept with this one, or as long as this
 *	       one has it, is listed; under the list's lock
 * @tcp_phase: what @tcp's callbacks do; written with WRITE_ONCE()
 * @hs_work: the handshake of either role; holds a reference while queued
 * @grow_work: the part of it that may wait for the peer for long; as above
 * @hs_timer: lets @hs_work see that time is up; reference as above
 * @close_work: runs the close machine on @pending; reference as above
 * @close_timer: bounds each wait of the close machine, TMR-16, TMR-17; reference
 *	       while armed
 * @keep_timer: looks for silence, KA-01; reference while armed
 * @keep_want: what is wanted of it; under conn->lock
 * @keep_idle: TCP_KEEPIDLE as the application knows it where the inner socket has
 *	       been given a longer time, KA-10, seconds; otherwise 0
 * @keep_intvl: same for TCP_KEEPINTVL
 * @is_probing: it has asked for a probe that is not answered; under conn->lock
 * @probe_jiffies: when; under conn->lock
 * @probed_link: on which, to be compared only; under conn->lock
 * @pending: enum smc_pending, atomic bits
 * @missed: enum smc_missed; changed under the spinlock of the socket lock
 * @hs: the handshake under way, that of @hs_work alone
 * @listener: while it listens; written under the socket lock, with a reference; read under
 *	      that or RCU
 * @child: until accept() may have it; written by the one handshake worker, others may ask
 *	   whether there is one
 * @fallback: reason code when the connection continues on TCP
 * @peer_diagnosis: what the peer's Decline said
 * @disconnects: how often connect() to AF_UNSPEC was called; who sleeps compares
 * @addr: where connect() goes, for the second look at the inner socket
 * @addr_len: length of @addr
 * @opt_seen: SOL_SOCKET options of @sk when those of @tcp were compared last
 * @nr_attending: calls that look after connect() by themselves; also read by
 *	@tcp's callbacks
 * @was_told: all who poll were woken in SMC_TCP_PLAIN, and look again; of this connect()
 * @has_missed: one of those found the lock taken: who falls back has to wake it
 * @is_connecting: the handshake owns the outcome
 * @is_grafted: the file belongs to TCP now; every call is forwarded
 * @is_paused: of @is_connecting: a call has the socket lock, and @hs_work does not touch
 *	       @tcp until it is released
 * @is_abandoned: of @is_connecting: its outcome is nobody's any more, and @tcp
 *		 is not touched by @hs_work, which has yet to end it
 * @is_eager_tcp: do not offer SMC, the reason is in @fallback
 * @is_tcp_by_option: of @is_eager_tcp: an option is the reason, and so it stays
 * @limits_handshakes: SMC_LIMIT_HS
 * @inet6: the IPv6 part of one of AF_INET6; last, for there older kernels look for it
 */
struct smc_sock {
	union {
		struct sock sk;
		struct inet_sock inet;
	};
	struct socket *tcp;
	struct smc_conn *conn;
	u8 nonagle;
	u32 tx_lowat;
	struct smc_close_ctl close;
	struct hlist_node hash_node;
	struct list_head late_node;
	struct sock *late_heir;
	struct smc_sock *late_elder;
	enum smc_tcp_phase tcp_phase;
	struct work_struct hs_work;
	struct work_struct grow_work;
	struct delayed_work hs_timer;
	struct work_struct close_work;
	struct timer_list close_timer;
	struct timer_list keep_timer;
	struct smc_idle_want keep_want;
	int keep_idle;
	int keep_intvl;
	bool is_probing;
	unsigned long probe_jiffies;
	const struct smc_link *probed_link;
	unsigned long pending;
	unsigned int missed;
	struct smc_hs *hs;
	struct smc_listener __rcu *listener;
	struct smc_child *child;
	enum smc_decline fallback;
	u32 peer_diagnosis;
	unsigned int disconnects;
	struct sockaddr_storage addr;
	int addr_len;
	struct smc_opt_seen opt_seen;
	unsigned int nr_attending;
	bool is_connecting;
	bool is_grafted;
	bool was_told;
	bool has_missed;
	bool is_paused;
	bool is_abandoned;
	bool is_eager_tcp;
	bool is_tcp_by_option;
	bool limits_handshakes;
	struct ipv6_pinfo inet6;
};

static_assert(offsetofend(struct smc_sock, inet6) == sizeof(struct smc_sock));

static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	return (struct smc_sock *)sk;
}

/* Its struct socket, while it has a file (smc_orphan_depart()): under RCU or the socket lock. */
static inline struct socket *smc_sock_socket(const struct sock *sk)
{
	return sock_flag(sk, SOCK_DEAD) ? NULL : READ_ONCE(sk->sk_socket);
}

/* Of either family, AF_SMC or AF_INET and AF_INET6: is its inner socket one of IPv6? */
static inline bool smc_sock_is_v6(const struct sock *sk)
{
	return sk->sk_family == PF_SMC ? sk->sk_protocol == SMCPROTO_SMC6 :
					 sk->sk_family == PF_INET6;
}

/* Under the socket lock: NULL if it does not listen. */
static inline struct smc_listener *smc_sock_listener(const struct smc_sock *smc)
{
	return rcu_dereference_protected(smc->listener, lockdep_sock_is_held(&smc->sk));
}

/* How many children of a listener are in a state; 0 where it listens no more. */
static inline unsigned int smc_sock_nr_children(const struct smc_sock *smc,
						enum smc_child_state state)
{
	const struct smc_listener *listener;
	unsigned int nr;

	rcu_read_lock();
	listener = rcu_dereference(smc->listener);
	nr = listener ? READ_ONCE(listener->nr[state]) : 0;
	rcu_read_unlock();
	return nr;
}

/* The work functions of a socket, given once by the floor that has them. */
struct smc_sock_works {
	work_func_t handshake;
	work_func_t handshake_grow;
	work_func_t handshake_timer;
	work_func_t close;
	void (*close_timer)(struct timer_list *timer);
	void (*keep_timer)(struct timer_list *timer);
	void (*event)(struct smc_conn *conn, u32 events);
	int (*ioctl)(struct sock *sk, int cmd, int *answ);
	void (*keepalive)(struct sock *sk, int is_on);
	int (*init)(struct sock *sk);
	void (*destroy)(struct sock *sk);
};

int smc_sock_init(const struct smc_sock_works *works);
void smc_sock_exit(void);

int smc_sock_make_conn(struct smc_sock *smc);
void smc_sock_drop_conn(struct smc_sock *smc);
struct smc_sock *smc_sock_alloc(struct net *net, struct socket *sock, int protocol, int kern);
struct smc_sock *smc_sock_alloc_like(const struct smc_sock *like);
void smc_sock_set_up(struct sock *sk);
void smc_sock_offer(const struct proto_ops *ops);
void smc_sock_withdraw(void);
void smc_sock_inherit(struct sock *from, struct sock *to);
void smc_sock_leave_file(struct sock *sk);
struct smc_sock *smc_sock_enter(struct socket *sock);
bool smc_sock_is_ours(const struct sock *sk);
void smc_sock_hash(struct smc_sock *smc);
void smc_sock_unhash(struct smc_sock *smc);

bool smc_sock_queue(struct smc_sock *smc, struct work_struct *work);
void smc_sock_queue_delayed(struct smc_sock *smc, struct delayed_work *work,
			    unsigned long delay_jiffies);
void smc_sock_queue_listen(struct smc_sock *smc, unsigned long delay_jiffies);
void smc_sock_pend(struct smc_sock *smc, enum smc_pending what);

bool smc_sock_trylock(struct smc_sock *smc, enum smc_missed what);
bool smc_sock_is_paused(struct smc_sock *smc);
bool smc_sock_take_missed(struct smc_sock *smc, enum smc_missed what);
void smc_sock_set_err(struct smc_sock *smc, int err);
void smc_sock_wake_attending(struct smc_sock *smc);
void smc_sock_wake_sleepers(struct smc_sock *smc);
void smc_sock_wake_all(struct smc_sock *smc);
void smc_sock_wake_writers(struct smc_sock *smc);

typedef int (*smc_sock_visit)(struct sock *sk, void *arg);
int smc_sock_for_each(struct net *net, unsigned int *bucket, unsigned int *skip,
		      smc_sock_visit visit, void *arg);

#endif /* SMC_SOCK_H */
