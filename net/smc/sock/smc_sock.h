/* SPDX-License-Identifier: GPL-2.0 */
/* The SMC state of a TCP sock. */
#ifndef SMC_SOCK_H
#define SMC_SOCK_H

#include <linux/refcount.h>
#include <linux/smc.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/inet_connection_sock.h>

#include "proto/smc_keepalive_plan.h"
#include "proto/smc_state.h"
#include "group/smc_conn.h"
#include "sock/smc_listener.h"
#include "sock/smc_meet.h"

/* The phase of a socket; only smc_sock_set_phase() changes it. */
enum smc_phase {
	SMC_PHASE_IDLE,		/* as TCP's state: new, connecting, listening or closed */
	SMC_PHASE_HANDSHAKE,	/* TCP is connected and carries CLC messages */
	SMC_PHASE_STOPPING,	/* the same, but the application ended the attempt */
	SMC_PHASE_SMC,		/* the connection is, or was, on a link group */
	SMC_PHASE_TCP,		/* plain TCP; the sock no longer has this state */
	SMC_PHASES
};

/* Outcome of a handshake step; the tracepoint shows the three final ones. */
enum smc_hs_outcome {
	SMC_HS_GO_ON,
	SMC_HS_SMC,
	SMC_HS_TCP,		/* reason in hs->reason; no Decline, or no further one */
	SMC_HS_FAILED,		/* errno in hs->err */
	SMC_HS_WAIT,		/* run the step again on the next event */
	SMC_HS_DECLINE,		/* SMC_HS_TCP after a Decline, where the row allows one */
};

struct smc_hs;
struct smc_land;

/* Bits of smc_sock.missed: work items, and callbacks of kernel users, that found the lock taken. */
enum smc_missed {
	SMC_MISSED_HANDSHAKE,
	SMC_MISSED_LISTEN,
	SMC_MISSED_CLOSE,
	SMC_MISSED_STATE,
	SMC_MISSED_READERS,
	SMC_MISSED_ERROR,
	SMC_MISSED_WRITERS,
};

/**
 * struct smc_sock - state of a TCP socket that may use SMC
 *
 * Attached to the sock as data of TCP's upper protocol (ULP); holds a module reference. Protected
 * by the socket lock unless a member says otherwise.
 *
 * @sk: TCP's sock; const
 * @refs: one of the sock, others of users beyond the socket lock, which hold @sk, too
 * @rcu: poll() and sock_diag read the state under RCU; at first work of the task that calls
 *	socket(), which has a reference
 * @phase: the phase
 * @conn: the connection on a link group, or NULL; written under the socket lock or by the one
 *	handshake worker; also read under RCU
 * @err: pending error of SMC in @sk, which TCP may overwrite
 * @tcp_err: error that ended TCP under a connection on SMC
 * @tcp_end_jiffies: when it ended
 * @shutdown: RCV_SHUTDOWN and SEND_SHUTDOWN of SMC; those in @sk are TCP's
 * @has_tcp_ended: the close machine has ended TCP, whose events are ignored from here on
 * @is_server: it comes from a listener; this and the next for the record of its end
 * @begin_jiffies: when its connection was established on SMC; 0 when it has ended
 * @is_done: the end of the stream was reported to the reader, and stays reported
 * @is_released: the file is closed; TCP is closed when SMC's part has ended
 * @limits_handshakes: SMC_LIMIT_HS
 * @is_withdrawn: SYNs with the option had no answer, so the next ones are without
 * @option: of smc_option.c
 * @place: client: enum smc_path_place of the server, as its SYN-ACK tells
 * @pos: in the list of sockets of its namespace, for dumps; const
 * @hs_work: the handshake of either role; holds a reference while queued
 * @grow_work: the part of it that may wait long for the peer; as above
 * @missed: enum smc_missed; protected by the spinlock of the socket lock
 * @close: the close machine of @conn; also read without a lock
 * @close_work: runs it on the events of @conn; holds a reference while queued
 * @close_timer: bounds each wait of the close machine, TMR-16, TMR-17; as above while armed. This
 *		 and the next three run only while there is @conn
 * @cork_timer: bounds how long conn->tx_cork holds data back, TX-07; as above; set up when first
 *		armed
 * @keep_timer: detects silence of the peer, KA-01; as above
 * @tcp_timer: keeps firewalls from forgetting TCP; as above
 * @keep_want: intended state of @keep_timer; this and the next two are guarded by conn->lock
 * @probe_jiffies: time of the probe that is not answered yet
 * @probed_link: its link, to be compared only; NULL: there is none
 * @land: a landing of @conn, from its first sign on, or NULL
 * @hs: the handshake under way; set and cleared under the socket lock, its content belongs to
 *	@hs_work
 * @listener: while the socket listens; written under the socket lock, with a reference; read
 *	under that or RCU
 * @child: until accept() may return it; written by the one handshake worker; others only test
 *	it for NULL
 * @meet: shared with an end on this host during the handshake; see there for its lock
 * @fallback: why the socket is, or becomes, plain TCP
 * @peer_diagnosis: peer diagnosis of the received Decline
 * @memory_age_ms: age of the entry of the negative cache that gave @fallback, 0 for none
 * @attempts: counts starts and ends of connect(), compared after a sleep
 */
struct smc_sock {
	struct sock *sk;
	refcount_t refs;
	struct rcu_head rcu;
	enum smc_phase phase;
	struct smc_conn *conn;
	int err;
	int tcp_err;
	unsigned long tcp_end_jiffies;
	unsigned long begin_jiffies;
	u8 shutdown;
	bool has_tcp_ended;
	bool is_server;
	bool is_done;
	bool is_released;
	bool limits_handshakes;
	bool is_withdrawn;
	u8 option;
	u8 place;
	u32 pos;
	struct delayed_work hs_work;
	struct work_struct grow_work;
	unsigned int missed;
	struct smc_close_ctl close;
	struct work_struct close_work;
	struct timer_list close_timer;
	struct timer_list cork_timer;
	struct timer_list keep_timer;
	struct timer_list tcp_timer;
	struct smc_keepalive_times keep_want;
	unsigned long probe_jiffies;
	const struct smc_link *probed_link;
	struct smc_land *land;
	struct smc_hs *hs;
	struct smc_listener __rcu *listener;
	struct smc_child *child;
	struct smc_meet meet;
	enum smc_decline fallback;
	u32 peer_diagnosis;
	u32 memory_age_ms;
	unsigned int attempts;
};

/* ULP tags: a sock with a state, and a child before it has one. */
extern struct tcp_ulp_ops smc_ulp_sock;
extern struct tcp_ulp_ops smc_ulp_child;

/**
 * smc_sk() - the state of a sock
 * @sk: a TCP sock of any kind
 *
 * Context: Any context. Expects the socket lock held, or an RCU read section.
 * Return: NULL for plain TCP.
 */
static inline struct smc_sock *smc_sk(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	void *data = rcu_dereference_check(icsk->icsk_ulp_data, lockdep_sock_is_held(sk));

	/* pairs with smp_wmb() in smc_sock_detach(): a tag read after the data belongs to it */
	smp_rmb();
	return READ_ONCE(icsk->icsk_ulp_ops) == &smc_ulp_sock ? data : NULL;
}

/* Under RCU or the socket lock. Return: NULL if the socket dropped the connection. */
static inline struct smc_sock *smc_conn_sock(const struct smc_conn *conn)
{
	struct smc_sock *smc = smc_sk(conn->sk);

	return smc && READ_ONCE(smc->conn) == conn ? smc : NULL;
}

static inline bool smc_sock_is_usable(const struct smc_sock *smc)
{
	return smc->phase == SMC_PHASE_SMC && smc_state_is_usable(&smc->close);
}

/*
 * Return: true if @conn of @smc may go a short way: nothing of @attn (enum smc_attn) is unusual,
 * and no error or end is to be reported. Without the socket lock the answer may be out of date.
 */
static inline bool smc_sock_is_plain(const struct smc_sock *smc, const struct smc_conn *conn,
				     u32 attn)
{
	/* one branch for all */
	return !((READ_ONCE(smc->phase) ^ SMC_PHASE_SMC) | (READ_ONCE(conn->attn) & attn) |
		 READ_ONCE(conn->pending) | READ_ONCE(smc->sk->sk_err) | READ_ONCE(smc->shutdown));
}

static inline struct smc_listener *smc_sock_listener(const struct smc_sock *smc)
{
	return rcu_dereference_protected(smc->listener, lockdep_sock_is_held(smc->sk));
}

/* Work functions of a socket, implemented in other files. */
struct smc_sock_works {
	work_func_t handshake;
	work_func_t handshake_grow;
	work_func_t close;
	work_func_t end;
	void (*close_timer)(struct timer_list *timer);
	void (*keep_timer)(struct timer_list *timer);
	void (*tcp_timer)(struct timer_list *timer);
	struct smc_conn_ops conn;
};

int smc_sock_init(const struct smc_sock_works *works);
void smc_sock_exit(void);

struct smc_sock *smc_sock_attach(struct sock *sk, gfp_t gfp);
void smc_sock_detach(struct sock *sk);
void smc_sock_get(struct smc_sock *smc);
void smc_sock_put(struct smc_sock *smc);
struct smc_sock *smc_sock_begin_call(struct sock *sk);
void smc_sock_end_call(struct smc_sock *smc);
bool smc_sock_restart_call(void);
void smc_sock_await_calls(void);
bool smc_sock_set_phase(struct smc_sock *smc, enum smc_phase phase);
u8 smc_sock_shown_state(const struct smc_sock *smc);
bool smc_sock_has_lost_tcp(const struct smc_sock *smc);

int smc_sock_make_conn(struct smc_sock *smc);
void smc_sock_drop_conn(struct smc_sock *smc);

void smc_sock_queue(struct smc_sock *smc);
void smc_sock_queue_delayed(struct smc_sock *smc, unsigned long delay_jiffies);
void smc_sock_queue_grow(struct smc_sock *smc);
void smc_sock_queue_listen(struct smc_sock *smc);
void smc_sock_arm(struct smc_sock *smc, struct timer_list *timer, unsigned long expires);
void smc_sock_disarm(struct smc_sock *smc, struct timer_list *timer);
void smc_sock_queue_close(struct smc_conn *conn);
void smc_sock_queue_end(struct smc_conn *conn, unsigned long delay_jiffies);
void smc_sock_pend(struct smc_conn *conn, enum smc_pending what);

bool smc_sock_lock_work(struct sock *sk, enum smc_missed what);
unsigned int smc_sock_release_missed(struct sock *sk);
void smc_sock_set_err(struct smc_sock *smc, int err);
int smc_sock_take_err(struct smc_sock *smc);

/* guard(smc_entry)() in calls that move data, guard(smc_call)(sk) in others. */
DECLARE_PER_CPU(int, smc_sock_calls);
DEFINE_LOCK_GUARD_0(smc_entry, this_cpu_inc(smc_sock_calls), this_cpu_dec(smc_sock_calls))
DEFINE_LOCK_GUARD_1(smc_call, struct sock, _T->smc = smc_sock_begin_call(_T->lock),
		    smc_sock_end_call(_T->smc), struct smc_sock *smc)

typedef int (*smc_sock_visit)(struct smc_sock *smc, void *arg);
int smc_sock_for_each(struct net *net, unsigned long *pos, smc_sock_visit visit, void *arg);

#endif /* SMC_SOCK_H */
