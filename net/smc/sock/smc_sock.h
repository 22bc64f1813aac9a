/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a socket. The sock itself is TCP's.
 */
#ifndef SMC_SOCK_H
#define SMC_SOCK_H

#include <linux/refcount.h>
#include <linux/smc.h>
#include <linux/workqueue.h>
#include <net/inet_connection_sock.h>

#include "group/smc_conn.h"
#include "sock/smc_listener.h"
#include "proto/smc_state.h"

/* What a socket is; only smc_sock_set_phase() changes it. */
enum smc_phase {
	SMC_PHASE_IDLE,		/* what TCP says: new, connecting, listening or closed */
	SMC_PHASE_HANDSHAKE,	/* TCP is connected and carries CLC messages */
	SMC_PHASE_STOPPING,	/* the same, and the application wants no outcome */
	SMC_PHASE_SMC,		/* the connection is, or was, on a link group */
	SMC_PHASE_TCP,		/* the sock is TCP's alone, and has forgotten this state */
	SMC_PHASES
};

/* How a step of a handshake ends; the tracepoint tells the three that end it. */
enum smc_hs_outcome {
	SMC_HS_GO_ON,
	SMC_HS_SMC,
	SMC_HS_TCP,		/* hs->reason says why; no Decline, or no further one */
	SMC_HS_FAILED,		/* hs->err says how */
	SMC_HS_WAIT,		/* run the step again when there is news */
	SMC_HS_DECLINE,		/* SMC_HS_TCP after a Decline, where the row allows one */
};

/* TCP's connection under one on SMC. */
enum smc_tcp_end {
	SMC_TCP_UP,		/* how it ends is news for the close machine */
	SMC_TCP_RESET_DUE,	/* to be reset when the socket lock is released */
	SMC_TCP_ENDED,		/* the close machine has ended it */
};

struct smc_hs;

/* Bits of smc_sock.missed: who found the socket lock taken. */
enum smc_missed {
	SMC_MISSED_HANDSHAKE,
	SMC_MISSED_LISTEN,
};

/**
 * struct smc_sock - what a TCP socket has while it may use SMC
 *
 * It hangs on the sock as data of TCP's upper protocol (ULP), and has a reference on the
 * module. Guarded by the socket lock unless a member says otherwise.
 *
 * @sk: TCP's sock; const
 * @refs: the sock, and whoever uses the state for longer than the socket lock is held:
 *	  each of those has a reference on @sk, too
 * @rcu: poll() and sock_diag look under RCU
 * @phase: what it is
 * @conn: the connection on a link group; NULL without one. Written under the socket lock,
 *	  or by the one handshake worker; read under RCU without either
 * @tcp_end: how far TCP's connection has ended
 * @err: error of SMC that is pending in @sk, where TCP's may overwrite it
 * @tcp_err: with what error TCP has ended under a connection on SMC
 * @shutdown: RCV_SHUTDOWN and SEND_SHUTDOWN of a connection on SMC; those in @sk are TCP's
 * @is_done: the end of what the peer has sent was told, and stays told
 * @is_released: no file has the socket any more; TCP is closed when SMC's part has ended
 * @limits_handshakes: SMC_LIMIT_HS
 * @hash_node: in the list that sock_diag walks
 * @hs_work: the handshake of either role, now or when a step has waited long enough; holds
 *	     a reference while queued
 * @grow_work: the part of it that may wait for the peer for long; as above
 * @missed: enum smc_missed; changed under the spinlock of the socket lock
 * @missed_conns: connections whose close machine has news; each a user, same
 * @hs: the handshake under way; set and cleared under the socket lock, its content is that
 *	of @hs_work alone
 * @listener: while it listens; written under the socket lock, with a reference; read under
 *	      that or RCU
 * @child: until accept() may have it; written by the one handshake worker, others may ask
 *	   whether there is one
 * @fallback: why it is, or is to be, TCP
 * @peer_diagnosis: what the peer's Decline said
 * @attempts: how often connect() has begun or ended one; who sleeps compares
 */
struct smc_sock {
	struct sock *sk;
	refcount_t refs;
	struct rcu_head rcu;
	enum smc_phase phase;
	struct smc_conn *conn;
	enum smc_tcp_end tcp_end;
	int err;
	int tcp_err;
	u8 shutdown;
	bool is_done;
	bool is_released;
	bool limits_handshakes;
	struct hlist_node hash_node;
	struct delayed_work hs_work;
	struct work_struct grow_work;
	unsigned int missed;
	struct hlist_head missed_conns;
	struct smc_hs *hs;
	struct smc_listener __rcu *listener;
	struct smc_child *child;
	enum smc_decline fallback;
	u32 peer_diagnosis;
	unsigned int attempts;
};

/* The type tags of what hangs on a sock: a state, or what a child has until it gets one. */
extern struct tcp_ulp_ops smc_ulp_sock;
extern struct tcp_ulp_ops smc_ulp_child;

/**
 * smc_sk() - the state of a sock
 * @sk: a TCP sock of any kind
 *
 * Context: Any context. Expects the socket lock held, or an RCU read section.
 * Return: NULL if the sock is TCP's alone.
 */
static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	void *data = rcu_dereference_check(icsk->icsk_ulp_data, lockdep_sock_is_held(sk));

	/* pairs with smc_sock_detach(): a tag that is there yet was there for this data */
	smp_rmb();
	return READ_ONCE(icsk->icsk_ulp_ops) == &smc_ulp_sock ? data : NULL;
}

/* A connection that its socket has not dropped: under RCU or the socket lock. */
static inline struct smc_sock *smc_conn_sock(const struct smc_conn *conn)
{
	struct smc_sock *smc = smc_sk(conn->sk);

	return smc && READ_ONCE(smc->conn) == conn ? smc : NULL;
}

/* Is a connection on SMC usable for data? Under the socket lock. */
static inline bool smc_sock_is_usable(const struct smc_sock *smc)
{
	return smc->phase == SMC_PHASE_SMC && smc_state_is_usable(&smc->conn->close);
}

/* Under the socket lock: NULL if it does not listen. */
static inline struct smc_listener *smc_sock_listener(const struct smc_sock *smc)
{
	return rcu_dereference_protected(smc->listener, lockdep_sock_is_held(smc->sk));
}

/* The works of a socket, given once by the files that have them. */
struct smc_sock_works {
	work_func_t handshake;
	work_func_t handshake_grow;
	work_func_t close;
	void (*close_timer)(struct timer_list *timer);
	void (*keep_timer)(struct timer_list *timer);
	void (*event)(struct smc_conn *conn, u32 events);
};

int smc_sock_init(const struct smc_sock_works *works);
void smc_sock_exit(void);

struct smc_sock *smc_sock_attach(struct sock *sk, gfp_t gfp);
void smc_sock_detach(struct sock *sk);
void smc_sock_get(struct smc_sock *smc);
void smc_sock_put(struct smc_sock *smc);
bool smc_sock_set_phase(struct smc_sock *smc, enum smc_phase phase);
u8 smc_sock_shown_state(const struct smc_sock *smc);

int smc_sock_make_conn(struct smc_sock *smc);
void smc_sock_drop_conn(struct smc_sock *smc);

void smc_sock_queue(struct smc_sock *smc);
void smc_sock_queue_delayed(struct smc_sock *smc, unsigned long delay_jiffies);
void smc_sock_queue_grow(struct smc_sock *smc);
void smc_sock_queue_listen(struct smc_sock *smc);
void smc_sock_queue_close(struct smc_conn *conn);
void smc_sock_pend(struct smc_conn *conn, enum smc_pending what);

bool smc_sock_lock_work(struct sock *sk, enum smc_missed what);
bool smc_sock_lock_close(struct smc_conn *conn);
void smc_sock_release_missed(struct sock *sk);
void smc_sock_set_err(struct smc_sock *smc, int err);
int smc_sock_take_err(struct smc_sock *smc);

typedef int (*smc_sock_visit)(struct smc_sock *smc, void *arg);
int smc_sock_for_each(struct net *net, unsigned int *bucket, unsigned int *skip,
		      smc_sock_visit visit, void *arg);

#endif /* SMC_SOCK_H */
