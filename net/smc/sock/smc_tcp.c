// SPDX-License-Identifier: GPL-2.0
/*
 * Socks of TCP that may use SMC.
 *
 * Operation: such a sock has a copy of TCP's struct proto with some functions replaced, and
 * callbacks that interpret TCP's events. The state is in the slot of TCP's upper protocol (ULP),
 * which also provides callbacks for a new child and for destruction. The ULP is not registered, so
 * it cannot be requested by name. Fallback restores TCP's pointers under the socket lock.
 *
 * Ownership: the core takes a module reference for each sock of our struct proto, and puts it by
 * way of sk_prot_creator. That is TCP's from the start, so the reference belongs to the slot.
 * Otherwise a sock after fallback, or in TIME_WAIT, would pin the module.
 */
#include <linux/file.h>
#include <linux/kallsyms.h>
#include <linux/local_lock.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/task_work.h>
#include <net/protocol.h>
#include <net/tcp.h>
#include <net/transp_v6.h>

#include "smc_compat.h"
#include "rdma/smc_mem.h"
#include "rdma/smc_net.h"
#include "group/smc_peer.h"
#include "sock/smc_history.h"
#include "sock/smc_listener.h"
#include "sock/smc_meet.h"
#include "sock/smc_option.h"
#include "sock/smc_path.h"
#include "sock/smc_tcp.h"
#include "sock/smc_wake.h"
#include "control/smc_trace.h"

/* TCP over IPv4 and over IPv6: TCP's tables and our copies. */
static struct smc_tcp_kind {
	struct proto *prot;		/* NULL without IPv6 */
	const struct proto_ops *ops;
	struct smc_tcp_calls our;
	struct smc_option_af af;	/* while it listens or connects */
	struct inet_protosw protosw;
} smc_tcp_kinds[2];

/* See smc_tcp_answered_syn(). @task: NULL while no SYN is answered */
struct smc_tcp_answer {
	local_lock_t lock;
	const struct sk_buff *syn;
	const struct task_struct *task;
};

/* A socket of TCP, for smc_tcp_label(). */
static struct socket *smc_tcp_model;

/* A socket of IPv6 that connects to IPv4 has a table that TCP shows nowhere else. */
static struct smc_option_af smc_tcp_mapped;
static DEFINE_MUTEX(smc_tcp_mapped_mutex);

/* Of a request; the field has seven bits */
#define SMC_TCP_TIMEOUTS_MAX	((u8)127)

/* SYNs with the option and without an answer, after which the offer is withdrawn */
#define SMC_TCP_OFFERS	2

/* Not by sk_prot: a listener that is closed meanwhile has TCP's. */
static struct smc_tcp_kind *smc_tcp_kind_of(const struct sock *sk)
{
	return &smc_tcp_kinds[sk->sk_family == AF_INET6];
}

static void smc_tcp_init_child(const struct request_sock *req, struct sock *sk,
			       const gfp_t priority);
static void smc_tcp_restore_af(struct sock *sk);
static int smc_tcp_conn_request(struct sock *sk, struct sk_buff *skb);
static int smc_tcp_rebuild_header(struct sock *sk);
static void smc_tcp_rx_dst_set(struct sock *sk, const struct sk_buff *skb);
static void smc_tcp_released(struct sock *sk);
static void smc_tcp_child_released(struct sock *sk);

static void smc_tcp_copy_af(struct smc_option_af *af,
			    const struct inet_connection_sock_af_ops *tcp)
{
	af->our = *tcp;
	af->our.conn_request = smc_tcp_conn_request;
	af->our.rebuild_header = smc_tcp_rebuild_header;
	af->our.sk_rx_dst_set = smc_tcp_rx_dst_set;
	smc_option_take_over(&af->our);
	/* pairs with smp_load_acquire() of smc_tcp_mapped.tcp */
	smp_store_release(&af->tcp, tcp);
}

static void smc_tcp_release_cb(struct sock *sk)
{
	const struct smc_sock *smc;

	smc_tcp_kind_of(sk)->prot->release_cb(sk);
	smc = smc_sk(sk);
	if (unlikely(smc && smc->missed))
		smc_wake_missed(sk, smc_sock_release_missed(sk));
}

/* TCP's end by an operator or a BPF program, which may hold the socket lock. */
static int smc_tcp_diag_destroy(struct sock *sk, int err)
{
	struct smc_listener *listener = NULL;
	const struct smc_sock *smc;

	guard(smc_call)(sk);
	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc)
		listener = rcu_dereference(smc->listener);
	if (listener)
		smc_listener_leave_backlog(listener);
	rcu_read_unlock();
	return smc_tcp_kind_of(sk)->prot->diag_destroy(sk, err);
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
	smc_tcp_watch(sock->sk);
	smc_wake_save_our(sock->sk);
	kind->prot = sock->sk->sk_prot;
	kind->ops = sock->ops;
	smc_tcp_copy_af(&kind->af, inet_csk(sock->sk)->icsk_af_ops);
	sock_release(sock);

	kind->our.prot = *kind->prot;
	kind->our.prot.owner = THIS_MODULE;
	kind->our.prot.init = smc_tcp_begin;
	kind->our.prot.release_cb = smc_tcp_release_cb;
	kind->our.prot.diag_destroy = smc_tcp_diag_destroy;
#ifdef CONFIG_BPF_SYSCALL
	/* sockmaps must not change the struct proto */
	kind->our.prot.psock_update_sk_prot = NULL;
#endif
	kind->our.ops = *kind->ops;
	kind->our.ops.owner = THIS_MODULE;
	take_over(&kind->our);
	kind->protosw = (struct inet_protosw){
		.type = SOCK_STREAM,
		.protocol = IPPROTO_SMC,
		.prot = &kind->our.prot,
		.ops = &kind->our.ops,
		.flags = INET_PROTOSW_ICSK,
	};
	return 0;
}

/* The pointers in our copies that may be TCP's: none of these functions moves payload by itself. */
#define KEEP(table, member) (offsetof(typeof(smc_tcp_kinds->our.table), member) / sizeof(long))
static const u16 smc_tcp_keeps_prot[] = {
	KEEP(prot, pre_connect),
	KEEP(prot, disconnect),
	KEEP(prot, accept),
	KEEP(prot, destroy),
	KEEP(prot, shutdown),
	KEEP(prot, bpf_bypass_getsockopt),
	KEEP(prot, backlog_rcv),
	KEEP(prot, hash),
	KEEP(prot, unhash),
	KEEP(prot, get_port),
	KEEP(prot, put_port),
	KEEP(prot, enter_memory_pressure),
	KEEP(prot, leave_memory_pressure),
	KEEP(prot, stream_memory_free),
	KEEP(prot, memory_allocated),
	KEEP(prot, per_cpu_fw_alloc),
	KEEP(prot, sockets_allocated),
#ifdef SMC_HAVE_ORPHAN_COUNT
	KEEP(prot, orphan_count),
#endif
	KEEP(prot, memory_pressure),
	KEEP(prot, sysctl_mem),
	KEEP(prot, rsk_prot),
	KEEP(prot, twsk_prot),
	KEEP(prot, h),
	KEEP(prot, node.next),
	KEEP(prot, node.prev),
};

static const u16 smc_tcp_keeps_ops[] = {
	KEEP(ops, release),
	KEEP(ops, bind),
	KEEP(ops, socketpair),
	/* these four continue in the struct proto */
	KEEP(ops, sendmsg),
	KEEP(ops, recvmsg),
	KEEP(ops, ioctl),
	KEEP(ops, getsockopt),
#ifdef SMC_HAVE_PROTO_SPLICE_EOF
	/* the same */
	KEEP(ops, splice_eof),
#endif
#ifdef CONFIG_COMPAT
	KEEP(ops, compat_ioctl),
#endif
	KEEP(ops, gettstamp),
	/* the pages of TCP_ZEROCOPY_RECEIVE, which has a getsockopt() */
	KEEP(ops, mmap),
	KEEP(ops, set_peek_off),
#ifdef SMC_HAVE_SET_RCVBUF
	KEEP(ops, set_rcvbuf),
#endif
};

/* A function unknown here may bypass ours, and payload would go out on TCP. */
static bool smc_tcp_knows(const char *table, const void *our, const void *tcp, size_t size,
			  const u16 *keeps, size_t nr_keeps)
{
	const unsigned long *ours = our, *theirs = tcp;
	char name[KSYM_SYMBOL_LEN];
	size_t i, n;

	for (i = 0; i < size / sizeof(long); i++) {
		if (!theirs[i] || ours[i] != theirs[i])
			continue;
		for (n = 0; n < nr_keeps && keeps[n] != i; n++)
			;
		/* a number or text has no symbol */
		if (n == nr_keeps && sprint_symbol_no_offset(name, theirs[i]) > 0 &&
		    strncmp(name, "0x", 2)) {
			pr_err("smc: cannot replace TCP: unknown %s() in struct %s\n", name, table);
			return false;
		}
	}
	return true;
}

static bool smc_tcp_knows_all(const struct smc_tcp_kind *kind)
{
	return smc_tcp_knows("proto", &kind->our.prot, kind->prot, sizeof(*kind->prot),
			     smc_tcp_keeps_prot, ARRAY_SIZE(smc_tcp_keeps_prot)) &&
	       smc_tcp_knows("proto_ops", &kind->our.ops, kind->ops, sizeof(*kind->ops),
			     smc_tcp_keeps_ops, ARRAY_SIZE(smc_tcp_keeps_ops));
}

/**
 * smc_tcp_check() - check that all functions of TCP in our copies are known
 *
 * Context: Process context, module load, after smc_tcp_init().
 * Return: 0, or -EOPNOTSUPP.
 */
int smc_tcp_check(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(smc_tcp_kinds); i++)
		if (smc_tcp_kinds[i].prot && !smc_tcp_knows_all(&smc_tcp_kinds[i]))
			return -EOPNOTSUPP;
	return 0;
}

/**
 * smc_tcp_init() - copy TCP's tables and enable the TCP option
 * @take_over: replaces some of TCP's functions
 *
 * Context: Process context, module load.
 * Return: 0, or the negative errno of making a socket of IPv4.
 */
int smc_tcp_init(void (*take_over)(struct smc_tcp_calls *calls))
{
	int rc = smc_tcp_sample(PF_INET, &smc_tcp_kinds[0], take_over);

	rc = rc ?: sock_create_kern(&init_net, PF_INET, SOCK_STREAM, IPPROTO_TCP, &smc_tcp_model);
	if (rc)
		return rc;
	/* without IPv6 there are no IPv6 sockets of SMC either */
	smc_tcp_sample(PF_INET6, &smc_tcp_kinds[1], take_over);
	smc_ulp_sock.clone = smc_tcp_init_child;
	smc_ulp_sock.release = smc_tcp_released;
	smc_ulp_child.release = smc_tcp_child_released;
	smc_option_init();
	return 0;
}

/**
 * smc_tcp_exit() - disable the TCP option
 *
 * Context: Process context, module unload.
 */
void smc_tcp_exit(void)
{
	smc_option_exit();
	sock_release(smc_tcp_model);
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
 * A call that found the protocol before may still allocate from its cache, since inet_create()
 * checks the module only afterwards. Every protocol in a module has this race.
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
 * smc_tcp_label() - have SELinux treat a sock as one of TCP
 * @sk: the sock, after its socket has been labelled
 *
 * AF_SMC and IPPROTO_SMC have classes in SELinux for which no policy can allow bind(), or which do
 * not limit the ports of connect(). A sock takes its class from the struct socket that it is
 * grafted to; the domain, and what other security modules know of it, stay.
 *
 * Context: Process context.
 */
void smc_tcp_label(struct sock *sk)
{
	security_sock_graft(sk, smc_tcp_model);
}

static void smc_tcp_label_new(struct callback_head *work)
{
	struct smc_sock *smc = container_of(work, struct smc_sock, rcu);

	smc_tcp_label(smc->sk);
	smc_sock_put(smc);
}

/* The core has a new sock labelled after socket() made it, and the program may call bind() next. */
static void smc_tcp_label_later(struct smc_sock *smc)
{
	init_task_work(&smc->rcu, smc_tcp_label_new);
	smc_sock_get(smc);
	/* fails in a task that exits */
	if (task_work_add(current, &smc->rcu, TWA_RESUME))
		smc_sock_put(smc);
}

/**
 * smc_tcp_begin() - init() of our struct proto
 * @sk: a new sock; for the core, security modules and BPF programs it is TCP's from here on
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
	smc_net_prepare(sock_net(sk));
	smc_peer_prepare(sock_net(sk));
	smc_history_prepare(sock_net(sk));
	smc_path_note_host(sock_net(sk));
	smc = smc_sock_attach(sk, GFP_KERNEL_ACCOUNT);
	/* the core destroys the sock and puts the module reference */
	if (!smc)
		return -ENOMEM;
	sk->sk_prot_creator = kind->prot;
	smc_option_offer(smc, true);
	smc_tcp_watch(sk);
	/* the kernel's own sockets may do everything */
	if (!sk->sk_kern_sock)
		smc_tcp_label_later(smc);
	return 0;
}

/**
 * smc_tcp_prot() - the struct proto of TCP, or the one that replaced it
 * @sk: a sock, possibly plain TCP
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
 * smc_tcp_is_ours() - check whether a socket has our operations
 * @sock: the socket
 *
 * Context: Any context.
 * Return: true if so, also for a few socks that are plain TCP, see smc_tcp_give_ops().
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
 * smc_tcp_is_agreed() - check whether both sides sent the TCP option, OPT-08
 * @smc: the socket of a client, three-way handshake completed
 *
 * A socket that is connected to itself would be a client without a server.
 *
 * Context: Any context.
 * Return: true if both did, and the peer is another socket.
 */
bool smc_tcp_is_agreed(const struct smc_sock *smc)
{
	return smc_option_is_agreed(smc) && !smc_tcp_is_self(smc->sk);
}

/**
 * smc_tcp_give_ops() - give the socket of a sock that is TCP's the operations of TCP
 * @sk: the sock; nothing happens without a file, as the socket may be about to be released
 *
 * The core takes a reference of their owner with the operations, and puts it at the release of the
 * socket. It reads the owner first, so the exchange holds the file. A call in the module holds that
 * by itself (smc_sock_begin_call()).
 *
 * A kernel user that replaced our callbacks installs them again when it leaves the socket: there
 * our operations stay, and with them the reference on the module.
 *
 * Context: Any context but hard interrupt. Expects the socket lock held, or a dead sock.
 */
void smc_tcp_give_ops(struct sock *sk)
{
	struct socket *sock = sk->sk_socket;
	const struct proto_ops *ops;
	struct file *file;

	if (!sock || !smc_tcp_is_ours(sock) || smc_wake_is_taken(sk))
		return;
	file = smc_compat_get_file(sock);
	if (!file)
		return;
	ops = smc_tcp_kind_of(sk)->ops;
	__module_get(ops->owner);
	WRITE_ONCE(sock->ops, ops);
	module_put(THIS_MODULE);
	fput(file);
}

/* Restores all but the ULP slot. */
static void smc_tcp_unwatch(struct sock *sk)
{
	struct smc_tcp_kind *kind = smc_tcp_kind_of(sk);

	smc_wake_restore(sk);
	smc_option_unlisten(sk);
	smc_tcp_restore_af(sk);
	sk->sk_prot_creator = kind->prot;
	WRITE_ONCE(sk->sk_prot, kind->prot);
	smc_tcp_give_ops(sk);
}

/**
 * smc_tcp_become() - make a socket plain TCP, without a wake-up
 * @smc: the socket, without a handshake; invalid afterwards unless the caller has a reference
 * @reason: reason of the fallback
 *
 * Bytes that TCP received and CLC did not consume stay for the application (CLC-11, DCLN-03).
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
	/* accept() records the reason of a child, which has no file yet */
	if (!smc->child)
		smc_history_add(sk, false, reason, smc->peer_diagnosis, smc->memory_age_ms);
	trace_smc_switch_to_fallback(smc, sk, reason);
	/* stamps count bytes of the application, not those of CLC */
	if (READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_OPT_ID)
		atomic_set(&sk->sk_tskey, tcp_sk(sk)->write_seq);
	/* a later connection of this sock is TCP's, too */
	smc_option_withdraw(sk);
	smc_tcp_unwatch(sk);
	smc_sock_detach(sk);
}

/* A middlebox may drop or refuse SYNs with an option that it does not know. */
static void smc_tcp_refused(struct smc_sock *smc)
{
	bool was_offered = smc->fallback == SMC_DECLINE_NONE && !smc->is_withdrawn;
	u16 port = ntohs(inet_sk(smc->sk)->inet_dport);
	struct net *net = sock_net(smc->sk);
	struct in6_addr peer;

	smc_path_peer_addr(smc->sk, &peer);
	if (was_offered)
		smc_peer_failed(net, SMC_PEER_REFUSED, &peer, port, SMC_DECLINE_PEERNOSMC, 0);
	else
		smc_peer_works_on_tcp(net, &peer, port, false);
}

/* The SYN that got the answer had no option. */
static void smc_tcp_reached(struct smc_sock *smc)
{
	u16 port = ntohs(inet_sk(smc->sk)->inet_dport);
	struct net *net = sock_net(smc->sk);
	struct in6_addr peer;

	smc_path_peer_addr(smc->sk, &peer);
	if (smc->is_withdrawn)
		smc_peer_failed(net, SMC_PEER_UNANSWERED, &peer, port, SMC_DECLINE_PEERNOSMC, 0);
	else if (smc->memory_age_ms)
		smc_peer_works_on_tcp(net, &peer, port, true);
}

/**
 * smc_tcp_leave() - remove SMC from a socket that TCP closes next
 * @smc: the socket, whose SMC part has ended; invalid afterwards unless the caller has a reference
 *
 * TCP's own close may take long, or never end without memory for a FIN. It must not pin the module.
 * TCP destroys a closed sock by itself. So nothing of ours may act on one, and no event of a sock
 * without a state reaches us.
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_tcp_leave(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	sock_owned_by_me(sk);
	/* an application that gives up a SYN after its first retransmit */
	if (sk->sk_state == TCP_SYN_SENT && inet_csk(sk)->icsk_retransmits)
		smc_tcp_refused(smc);
	smc_tcp_unwatch(sk);
	smc_sock_detach(sk);
}

/**
 * smc_tcp_take_err() - move an error of TCP out of sk_err, where one of SMC stays pending
 * @smc: the socket, on SMC
 *
 * Context: Any context but hard interrupt. A caller that set an error holds the socket lock;
 *	 a report from the error queue comes without the lock, but also without an error.
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
 * smc_tcp_holds_payload() - check for unread bytes on TCP
 * @sk: the sock
 *
 * Context: Any context.
 * Return: true if there are any; also for a lone urgent byte, which tcp_inq() does not count.
 */
bool smc_tcp_holds_payload(struct sock *sk)
{
	return tcp_inq(sk) > 0 || READ_ONCE(tcp_sk(sk)->urg_data);
}

/* Jiffies until a client looks by itself whether its server is on this host. */
#define SMC_TCP_BIRTH	1

/* Return: true if a server on this host may find the client from now on. */
static bool smc_tcp_may_meet(struct smc_sock *smc)
{
	return smc->place != SMC_PATH_AWAY && !smc_option_has_crossed(smc) &&
	       !smc_path_needs_ipsec(smc->sk) && smc_meet_enter(smc);
}

static void smc_tcp_begin_handshake(struct smc_sock *smc)
{
	if (smc_tcp_may_meet(smc)) {
		/* TCP acknowledges at once; the work of the child born by that queues us */
		inet_csk_exit_pingpong_mode(smc->sk);
		smc_sock_queue_delayed(smc, SMC_TCP_BIRTH);
		return;
	}
	/* the Proposal follows and carries the acknowledgment */
	inet_csk_enter_pingpong_mode(smc->sk);
	smc_sock_queue(smc);
}

/* A client is connected on TCP. Return: true if the application is to be woken. */
static bool smc_tcp_opened(struct smc_sock *smc)
{
	enum smc_decline reason = SMC_DECLINE_PEERNOSMC;

	if (smc_tcp_is_agreed(smc)) {
		smc->has_tcp_ended = false;
		smc->err = 0;
		smc_sock_set_phase(smc, SMC_PHASE_HANDSHAKE);
		smc_tcp_begin_handshake(smc);
		return false;
	}
	smc_tcp_reached(smc);
	/* or SMC was not offered */
	if (smc->fallback != SMC_DECLINE_NONE)
		reason = smc->fallback;
	smc_stat_inc(sock_net(smc->sk), SMC_STAT_CLIENT_TCP);
	trace_smc_handshake(smc, false, SMC_HS_TCP, reason, 0);
	smc_tcp_become(smc, reason);
	return true;
}

/* Return: true if the application is to be woken. */
static bool smc_tcp_handle_state(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;
	u8 state = sk->sk_state;

	switch (smc->phase) {
	case SMC_PHASE_IDLE:
		if (rcu_access_pointer(smc->listener)) {
			/* TCP was stopped behind our back, for example by tcp_abort() */
			if (state == TCP_CLOSE)
				smc_sock_queue_listen(smc);
			return true;
		}
		/* a client, not a child: only the client has a file */
		if (sk->sk_socket && (1 << state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT))
			return smc_tcp_opened(smc);
		/* not by disconnect(), which clears the port */
		if (state == TCP_CLOSE && sk->sk_err && inet_sk(sk)->inet_dport)
			smc_tcp_refused(smc);
		return true;
	case SMC_PHASE_HANDSHAKE:
	case SMC_PHASE_STOPPING:
		smc_sock_queue(smc);
		return false;
	case SMC_PHASE_SMC:
		smc_tcp_take_err(smc);
		/* TCP keeps track of a FIN; deployed peers send it early */
		if (state == TCP_CLOSE && !smc->has_tcp_ended)
			smc_sock_pend(smc->conn, SMC_PENDING_RESET);
		else if (smc_state_awaits_fin(&smc->close) || READ_ONCE(smc->land))
			smc_sock_queue_close(smc->conn);
		return false;
	default:
		return true;
	}
}

static void smc_tcp_state_change(struct sock *sk)
{
	struct smc_sock *smc;
	bool is_woken;

	rcu_read_lock();
	smc = smc_sk(sk);
	is_woken = !smc || smc_tcp_handle_state(smc);
	rcu_read_unlock();
	if (is_woken)
		smc_wake_app_state(sk);
}

/* Return: true if the application is to be woken. */
static bool smc_tcp_handle_data(struct smc_sock *smc)
{
	struct smc_listener *listener;

	switch (READ_ONCE(smc->phase)) {
	case SMC_PHASE_IDLE:
		listener = rcu_dereference(smc->listener);
		if (!listener)
			return true;
		/* a child for SMC must not wait behind unaccepted plain ones */
		if (smc_listener_has_agreed(listener))
			smc_sock_queue_listen(smc);
		return READ_ONCE(listener->nr[SMC_CHILD_READY]) ||
		       smc_listener_has_plain(listener, smc->sk);
	case SMC_PHASE_HANDSHAKE:
	case SMC_PHASE_STOPPING:
		smc_sock_queue(smc);
		return false;
	case SMC_PHASE_SMC:
		if (!smc->has_tcp_ended && smc_tcp_holds_payload(smc->sk))
			smc_sock_pend(smc->conn, SMC_PENDING_PAYLOAD);
		return false;
	default:
		return true;
	}
}

static void smc_tcp_data_ready(struct sock *sk)
{
	struct smc_sock *smc;
	bool is_woken;

	rcu_read_lock();
	smc = smc_sk(sk);
	is_woken = !smc || smc_tcp_handle_data(smc);
	rcu_read_unlock();
	if (is_woken)
		smc_wake_app_readers(sk);
}

static void smc_tcp_error_report(struct sock *sk)
{
	struct smc_sock *smc;
	bool is_woken = true;

	rcu_read_lock();
	smc = smc_sk(sk);
	if (smc && smc->phase != SMC_PHASE_IDLE) {
		/* the error queue also has notices of SMC */
		is_woken = !skb_queue_empty_lockless(&sk->sk_error_queue);
		if (smc->phase == SMC_PHASE_SMC)
			smc_tcp_take_err(smc);
		else
			smc_sock_queue(smc);
	}
	rcu_read_unlock();
	if (is_woken)
		smc_wake_app_error(sk);
}

/**
 * smc_tcp_watch() - install the callbacks for TCP's events
 * @sk: a sock with a state, or about to get one
 *
 * Context: Process context. Expects the socket lock held, or an unpublished sock.
 */
void smc_tcp_watch(struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_state_change = smc_tcp_state_change;
	sk->sk_data_ready = smc_tcp_data_ready;
	sk->sk_error_report = smc_tcp_error_report;
	write_unlock_bh(&sk->sk_callback_lock);
}

/*
 * The SYN that TCP answers on this CPU; conn_request() runs without bottom halves. With PREEMPT_RT
 * these are tasks that may preempt each other: the lock admits one of them, and @task tells others.
 */
static DEFINE_PER_CPU(struct smc_tcp_answer, smc_tcp_answer) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

static struct sock *smc_tcp_find_request(const struct sock *sk, const struct sk_buff *syn)
{
	const struct tcphdr *th = tcp_hdr(syn);
	int dif = READ_ONCE(sk->sk_bound_dev_if);

	if (syn->protocol == htons(ETH_P_IP))
		return smc_compat_lookup(sock_net(sk), ip_hdr(syn)->saddr, th->source,
					 ip_hdr(syn)->daddr, ntohs(th->dest),
					 dif ?: inet_iif(syn));
#if IS_ENABLED(CONFIG_IPV6)
	return smc_compat_lookup6(sock_net(sk), ipv6_hdr(syn)->saddr.s6_addr32, th->source,
				  ipv6_hdr(syn)->daddr.s6_addr32, ntohs(th->dest),
				  dif ?: tcp_v6_iif(syn));
#else
	return NULL;
#endif
}

/*
 * With TCP_DEFER_ACCEPT no child is born by a bare acknowledgment, and a client on this host waits
 * for the birth. A child for SMC has its own wait for the first byte (smc_child.c), so the wait of
 * TCP is over before it begins.
 */
static void smc_tcp_skip_deferral(struct request_sock *req, u8 timeouts)
{
	if (smc_option_was_asked(req))
		req->num_timeout = min(timeouts, SMC_TCP_TIMEOUTS_MAX);
}

/*
 * Until its last retransmit a request outlives its listener, and perhaps this module. Kernels with
 * DCCP read its struct proto, the listener's, when they drop it.
 */
static void smc_tcp_adapt_request(const struct sock *sk, const struct sk_buff *syn)
{
	u8 timeouts = READ_ONCE(inet_csk(sk)->icsk_accept_queue.rskq_defer_accept);
	bool is_deferred = timeouts && smc_path_sender(sock_net(sk), syn) != SMC_PATH_AWAY;
	struct sock *req = NULL;

	if (is_deferred || IS_ENABLED(CONFIG_IP_DCCP))
		req = smc_tcp_find_request(sk, syn);
	if (!req)
		return;
	if (req->sk_state == TCP_NEW_SYN_RECV) {
		if (IS_ENABLED(CONFIG_IP_DCCP))
			WRITE_ONCE(req->sk_prot, smc_tcp_kind_of(sk)->prot);
		if (is_deferred)
			smc_tcp_skip_deferral(inet_reqsk(req), timeouts);
	}
	sock_gen_put(req);
}

static int smc_tcp_conn_request(struct sock *sk, struct sk_buff *skb)
{
	int rc;

	local_lock_nested_bh(&smc_tcp_answer.lock);
	this_cpu_write(smc_tcp_answer.syn, skb);
	this_cpu_write(smc_tcp_answer.task, current);
	rc = smc_tcp_kind_of(sk)->af.tcp->conn_request(sk, skb);
	this_cpu_write(smc_tcp_answer.task, NULL);
	local_unlock_nested_bh(&smc_tcp_answer.lock);
	smc_tcp_adapt_request(sk, skb);
	return rc;
}

/**
 * smc_tcp_answered_syn() - the SYN to a listener of ours that TCP is about to answer on this CPU
 *
 * RFC 7609 3.5.1.1; OPT-04.
 *
 * Context: TCP's conn_request(), in softirq.
 * Return: the SYN, which TCP owns and frees afterwards, or NULL if there is none.
 */
const struct sk_buff *smc_tcp_answered_syn(void)
{
	if (this_cpu_read(smc_tcp_answer.task) != current)
		return NULL;
	return this_cpu_read(smc_tcp_answer.syn);
}

/**
 * smc_tcp_syn_is_near() - check whether the sender of that SYN may share memory with its server
 * @net: the namespace of the listener
 *
 * Context: As smc_tcp_answered_syn().
 * Return: true if so; false without a SYN.
 */
bool smc_tcp_syn_is_near(const struct net *net)
{
	const struct sk_buff *skb = smc_tcp_answered_syn();

	return skb && smc_path_sender(net, skb) != SMC_PATH_AWAY;
}

/**
 * smc_tcp_syn_peer() - the sender of the SYN that TCP is about to answer
 * @peer: filled; an IPv4 address as mapped address
 *
 * Context: TCP's callback smc_hs_congested, which does not get the SYN.
 * Return: false if there is none.
 */
bool smc_tcp_syn_peer(struct in6_addr *peer)
{
	const struct sk_buff *skb = smc_tcp_answered_syn();

	if (!skb)
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, peer);
	else
		*peer = ipv6_hdr(skb)->saddr;
	return true;
}

/* rebuild_header() of TCP's table, with the socket lock; precedes each retransmit of a SYN */
static int smc_tcp_rebuild_header(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (sk->sk_state == TCP_SYN_SENT && inet_csk(sk)->icsk_retransmits >= SMC_TCP_OFFERS &&
	    smc && smc->fallback == SMC_DECLINE_NONE) {
		smc->is_withdrawn = true;
		smc_option_withdraw(sk);
	}
	return smc_option_tcp_af(sk)->rebuild_header(sk);
}

/* sk_rx_dst_set() of TCP's table, with the socket lock; the first segment is the SYN-ACK */
static void smc_tcp_rx_dst_set(struct sock *sk, const struct sk_buff *skb)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc && smc->phase == SMC_PHASE_IDLE && tcp_hdr(skb)->syn && tcp_hdr(skb)->ack) {
		smc->place = smc_path_sender(sock_net(sk), skb);
		smc_option_receive_answer(smc, skb);
	}
	smc_option_tcp_af(sk)->sk_rx_dst_set(sk, skb);
}

static void smc_tcp_restore_af(struct sock *sk)
{
	const struct inet_connection_sock_af_ops *af = inet_csk(sk)->icsk_af_ops;

	if (af->conn_request == smc_tcp_conn_request)
		WRITE_ONCE(inet_csk(sk)->icsk_af_ops,
			   container_of(af, struct smc_option_af, our)->tcp);
}

static void smc_tcp_learn_mapped(const struct inet_connection_sock_af_ops *tcp)
{
	mutex_lock(&smc_tcp_mapped_mutex);
	if (!smc_tcp_mapped.tcp)
		smc_tcp_copy_af(&smc_tcp_mapped, tcp);
	mutex_unlock(&smc_tcp_mapped_mutex);
}

/**
 * smc_tcp_follow_connect() - put our functions into the table of a client that offers SMC
 * @smc: the socket, before TCP's connect() and after it, which may exchange the table
 *
 * Context: Process context, may sleep. Expects the socket lock held.
 */
void smc_tcp_follow_connect(struct smc_sock *smc)
{
	struct inet_connection_sock *icsk = inet_csk(smc->sk);
	struct smc_option_af *af = &smc_tcp_kind_of(smc->sk)->af;

	sock_owned_by_me(smc->sk);
	if (smc->fallback != SMC_DECLINE_NONE ||
	    icsk->icsk_af_ops->conn_request == smc_tcp_conn_request)
		return;
	if (icsk->icsk_af_ops != af->tcp) {
		af = &smc_tcp_mapped;
		/* pairs with smp_store_release() in smc_tcp_copy_af() */
		if (!smp_load_acquire(&af->tcp))
			smc_tcp_learn_mapped(icsk->icsk_af_ops);
	}
	if (icsk->icsk_af_ops == af->tcp)
		WRITE_ONCE(icsk->icsk_af_ops, &af->our);
}

/**
 * smc_tcp_answer_syns() - have our functions answer the SYNs to a listener, or stop doing so
 * @sk: a listener
 * @is_listening: true for a start of listening, false for its end
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_tcp_answer_syns(struct sock *sk, bool is_listening)
{
	struct smc_tcp_kind *kind = smc_tcp_kind_of(sk);

	sock_owned_by_me(sk);
	if (!is_listening)
		smc_tcp_restore_af(sk);
	else if (inet_csk(sk)->icsk_af_ops == kind->af.tcp)
		WRITE_ONCE(inet_csk(sk)->icsk_af_ops, &kind->af.our);
}

/*
 * Initialise a child, an unpublished copy of its listener, whose lock is not held: a listener that
 * ends may have had TCP's struct proto, or no state, when it was copied. Most children are plain
 * TCP from the start.
 */
static void smc_tcp_init_child(const struct request_sock *req, struct sock *sk,
			       const gfp_t priority)
{
	struct smc_tcp_kind *kind = smc_tcp_kind_of(sk);
	struct inet_connection_sock *icsk = inet_csk(sk);
	/* the core took a reference of the owner of this one */
	bool has_module = sk->sk_prot_creator == &kind->our.prot;
	struct smc_listener *listener = NULL;
	const struct smc_sock *smc;

	smc_tcp_restore_af(sk);
	/* a child in TCP's accept queue needs no wake-ups */
	smc_wake_reset(sk);
	rcu_read_lock();
	smc = rcu_dereference_raw(icsk->icsk_ulp_data);
	/* both sides sent the option and a listener of ours answered, OPT-08 */
	if (smc && has_module && smc_option_was_asked(req))
		listener = rcu_dereference(smc->listener);
	if (!smc_listener_expect(listener))
		listener = NULL;
	rcu_read_unlock();
	if (listener) {
		smc_option_unlisten(sk);
		sk->sk_prot_creator = kind->prot;
		WRITE_ONCE(sk->sk_prot, &kind->our.prot);
		/* the Accept, or a Decline, acknowledges the Proposal */
		inet_csk_enter_pingpong_mode(sk);
		rcu_assign_pointer(icsk->icsk_ulp_data, listener);
		icsk->icsk_ulp_ops = &smc_ulp_child;
		smc_meet_birth(req, sock_net(sk));
		return;
	}
	icsk->icsk_ulp_ops = NULL;
	rcu_assign_pointer(icsk->icsk_ulp_data, NULL);
	smc_tcp_unwatch(sk);
	smc_option_withdraw(sk);
	/* not the last one: the listener has another one for a grace period */
	if (has_module)
		module_put(THIS_MODULE);
}

static void smc_tcp_released(struct sock *sk)
{
	smc_tcp_unwatch(sk);
	smc_sock_detach(sk);
	/* TCP reads the owner before it clears the slot */
	WRITE_ONCE(inet_csk(sk)->icsk_ulp_ops, &smc_ulp_sock);
}

/* TCP destroys a child that was never taken from its queue. */
static void smc_tcp_child_released(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct smc_listener *listener = rcu_dereference_raw(icsk->icsk_ulp_data);
	struct sock *lsk;

	smc_tcp_unwatch(sk);
	rcu_assign_pointer(icsk->icsk_ulp_data, NULL);
	/* not the last one: the listener puts its own after a grace period */
	module_put(THIS_MODULE);
	rcu_read_lock();
	smc_listener_forget(listener);
	/* a plain child may be counted as this one, which never reached the queue */
	lsk = READ_ONCE(listener->sk);
	if (lsk && smc_listener_has_plain(listener, lsk))
		lsk->sk_data_ready(lsk);
	rcu_read_unlock();
}

/**
 * smc_tcp_take_child() - take the oldest child from TCP's accept queue, for a work item
 * @lsk: the listener
 *
 * TCP's accept() takes the lock itself, and so may wait for a call. It also charges the child to
 * the memory control group of the task; a work item has none.
 *
 * Context: Process context. Expects the lock of @lsk held.
 * Return: the child with the queue's reference; NULL if there is none, or TCP does not listen.
 */
struct sock *smc_tcp_take_child(struct sock *lsk)
{
	struct request_sock_queue *queue = &inet_csk(lsk)->icsk_accept_queue;
	struct request_sock *req;
	struct sock *sk;

	sock_owned_by_me(lsk);
	req = lsk->sk_state == TCP_LISTEN ? reqsk_queue_remove(queue, lsk) : NULL;
	if (!req)
		return NULL;
	sk = req->sk;
	spin_lock_bh(&queue->fastopenq.lock);
	if (tcp_rsk(req)->tfo_listener) {
		/* of Fast Open: TCP drops the request after the three-way handshake */
		req->sk = NULL;
		req = NULL;
	}
	spin_unlock_bh(&queue->fastopenq.lock);
	/* reqsk_put() of newer kernels is not for modules */
	if (req)
		sock_gen_put(req_to_sk(req));
	/* copies of the listener's */
	spin_lock_init(&inet_csk(sk)->icsk_accept_queue.rskq_lock);
	spin_lock_init(&inet_csk(sk)->icsk_accept_queue.fastopenq.lock);
	return sk;
}

/**
 * smc_tcp_child_is_agreed() - check whether a child is to use SMC
 * @sk: the child
 *
 * Context: Process context. The caller has taken it from TCP's accept queue.
 * Return: false for plain TCP.
 */
bool smc_tcp_child_is_agreed(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ulp_ops == &smc_ulp_child;
}

/**
 * smc_tcp_adopt_child() - give a child its state
 * @sk: a child of TCP's accept queue, agreed
 *
 * Context: Process context, may sleep. Expects the lock of @sk held.
 * Return: the state, in the phase of a handshake; NULL without memory.
 */
struct smc_sock *smc_tcp_adopt_child(struct sock *sk)
{
	struct smc_listener *listener = rcu_dereference_protected(inet_csk(sk)->icsk_ulp_data,
								  true);
	struct smc_sock *smc = smc_sock_attach(sk, SMC_MEM_GFP_FORCE);

	if (!smc)
		return NULL;
	smc_listener_forget(listener);
	smc_sock_set_phase(smc, SMC_PHASE_HANDSHAKE);
	smc_tcp_watch(sk);
	return smc;
}

/**
 * smc_tcp_shutdown() - shut down directions of TCP's connection
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
 * smc_tcp_disconnect() - return the sock to the unconnected state, by RST if connected
 * @sk: the sock; options and a bind() stay
 *
 * Context: Process context. Expects the socket lock held.
 * Return: 0 or the negative errno of TCP.
 */
int smc_tcp_disconnect(struct sock *sk)
{
	sock_owned_by_me(sk);
	/* TCP would not destroy it any more */
	WARN_ON_ONCE(sock_flag(sk, SOCK_DEAD));
	return smc_tcp_prot(sk)->disconnect(sk, O_NONBLOCK);
}

/**
 * smc_tcp_reset() - reset TCP's connection, without a wait for the socket lock
 * @sk: the sock; its addresses stay, and the place in unread data
 *
 * tcp_abort() takes the lock itself, and so may wait for a call.
 *
 * Context: Process context. Expects the socket lock held.
 */
void smc_tcp_reset(struct sock *sk)
{
	__be16 dport = inet_sk(sk)->inet_dport;
	bool is_bound = sk->sk_userlocks & SOCK_BINDADDR_LOCK;
	int peek_off = READ_ONCE(sk->sk_peek_off);

	sock_owned_by_me(sk);
	/* TCP forgets an address that it chose */
	sk->sk_userlocks |= SOCK_BINDADDR_LOCK;
	smc_tcp_disconnect(sk);
	if (!is_bound)
		sk->sk_userlocks &= ~SOCK_BINDADDR_LOCK;
	inet_sk(sk)->inet_dport = dport;
	WRITE_ONCE(sk->sk_peek_off, peek_off);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
}
