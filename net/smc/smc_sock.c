// SPDX-License-Identifier: GPL-2.0
/*
 * Socket objects: of AF_SMC, and of AF_INET and AF_INET6 with IPPROTO_SMC.
 *
 * Lifetime: a socket has one reference from its file (or from the listener's
 * lists before accept()), one from each work item or timer that is queued,
 * one from a handshake under way, one from its connection as long as somebody uses
 * that (smc_member.c), and one from the close machine while there
 * is a connection to be ended (smc_state_is_alive()). It is freed after an RCU grace
 * period, so that calls which found it through sock->sk may still try to get a
 * reference.
 */
#include <linux/bpf-cgroup.h>
#include <linux/cgroup.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/security.h>
#include <net/protocol.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "smc_compat.h"
#include "smc_mem.h"
#include "smc_member.h"
#include "smc_net.h"
#include "smc_sock.h"

#define SMC_SOCK_BUCKETS	64

struct smc_sock_bucket {
	spinlock_t lock;		/* guards @head and what it lists */
	struct hlist_head head;
};

static struct smc_sock_bucket smc_sock_buckets[SMC_SOCK_BUCKETS];
static const struct smc_sock_works *smc_works;
static struct workqueue_struct *smc_hs_wq;
static struct workqueue_struct *smc_grow_wq;
static struct workqueue_struct *smc_close_wq;

/*
 * The core zeroes what it takes from the cache of a protocol. A kernel that has every object
 * zeroed when it is allocated (init_on_alloc) would do it a second time, but for a cache
 * whose objects keep their type until a grace period is over, as TCP's do. Ours are freed
 * after one anyway (SOCK_RCU_FREE). KASAN would look at such a cache less closely.
 */
#define SMC_SOCK_SLAB	(SLAB_ACCOUNT | (IS_ENABLED(CONFIG_KASAN) ? 0 : SLAB_TYPESAFE_BY_RCU))

/*
 * TCP's set_rcvlowat() reads members of struct tcp_sock also of an orphan of ours
 * (smc_fallback_graft()). Older kernels have the IPv6 part at the end.
 */
#define SMC_SOCK_SIZE	(sizeof(struct smc_sock) > sizeof(struct tcp_sock) ?	\
			 sizeof(struct smc_sock) : sizeof(struct tcp_sock))

/* What all kinds have in common; a connection pays for its rings, smc_mem.c. */
#define SMC_SOCK_PROTO						\
	.owner		  = THIS_MODULE,			\
	.release_cb	  = smc_sock_release_cb,		\
	.obj_size	  = SMC_SOCK_SIZE,			\
	.slab_flags	  = SMC_SOCK_SLAB,			\
	.memory_allocated = &smc_mem_allocated,			\
	.per_cpu_fw_alloc = &smc_mem_per_cpu_fw_alloc,		\
	.sysctl_mem	  = smc_mem_limits,			\
	.sysctl_rmem	  = &smc_mem_least,			\
	.sysctl_wmem	  = &smc_mem_least,

static void smc_sock_release_cb(struct sock *sk);
static void smc_sock_proto_unhash(struct sock *sk);

/* What socket() may be asked for, as /proc/net/protocols names it. */
enum smc_sock_kind {
	SMC_SOCK_SMC,
	SMC_SOCK_SMC6,
	SMC_SOCK_INET,
	SMC_SOCK_INET6,
	SMC_SOCK_KINDS
};

/* The core makes those of AF_INET and AF_INET6, and gives them up, by our functions. */
static struct proto smc_protos[SMC_SOCK_KINDS] = {
	[SMC_SOCK_SMC] = {
		.name		= "SMC",
		SMC_SOCK_PROTO
	},
	[SMC_SOCK_SMC6] = {
		.name		= "SMC6",
		SMC_SOCK_PROTO
	},
	[SMC_SOCK_INET] = {
		.name		= "INET_SMC",
		.unhash		= smc_sock_proto_unhash,
		SMC_SOCK_PROTO
	},
	[SMC_SOCK_INET6] = {
		.name		= "INET6_SMC",
		.unhash		= smc_sock_proto_unhash,
		SMC_SOCK_PROTO
		SMC_PROTO_IPV6_PINFO(struct smc_sock, inet6)
	},
};

/* What the core gives its own socks of AF_INET and of AF_INET6 as destructor. */
static void (*smc_sock_core_destruct[2])(struct sock *sk);

static struct inet_protosw smc_protosw[] = {
	{ .type = SOCK_STREAM, .protocol = IPPROTO_SMC, .prot = &smc_protos[SMC_SOCK_INET] },
	{ .type = SOCK_STREAM, .protocol = IPPROTO_SMC, .prot = &smc_protos[SMC_SOCK_INET6] },
};

/**
 * smc_sock_init() - register the socket objects
 * @works: what the work items and callbacks of each socket run; kept
 *
 * Context: Process context, module load.
 * Return: 0 or a negative errno of proto_register() or alloc_workqueue().
 */
int smc_sock_init(const struct smc_sock_works *works)
{
	int i, rc;

	smc_works = works;
	for (i = 0; i < SMC_SOCK_KINDS; i++) {
		smc_protos[i].keepalive = works->keepalive;
		smc_compat_proto_set_ioctl(&smc_protos[i], works->ioctl);
		if (i < SMC_SOCK_INET)
			continue;
		smc_protos[i].init = works->init;
		smc_protos[i].destroy = works->destroy;
	}
	smc_mem_init();
	for (i = 0; i < SMC_SOCK_BUCKETS; i++)
		spin_lock_init(&smc_sock_buckets[i].lock);

	smc_hs_wq = alloc_workqueue("smc_hs", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!smc_hs_wq)
		return -ENOMEM;
	/* one that waits for an answer of its peer must not hold up the others */
	smc_grow_wq = alloc_workqueue("smc_grow", WQ_UNBOUND, WQ_MAX_ACTIVE);
	rc = -ENOMEM;
	if (!smc_grow_wq)
		goto out_hs_wq;
	smc_close_wq = alloc_workqueue("smc_close", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!smc_close_wq)
		goto out_grow_wq;
	for (i = 0; i < SMC_SOCK_KINDS; i++) {
		rc = proto_register(&smc_protos[i], 1);
		if (rc)
			goto out_protos;
	}
	return 0;

out_protos:
	while (i--)
		proto_unregister(&smc_protos[i]);
	destroy_workqueue(smc_close_wq);
out_grow_wq:
	destroy_workqueue(smc_grow_wq);
out_hs_wq:
	destroy_workqueue(smc_hs_wq);
	return rc;
}

/**
 * smc_sock_exit() - undo smc_sock_init()
 *
 * No socket is left: each holds a module reference.
 *
 * Context: Process context, module unload.
 */
void smc_sock_exit(void)
{
	int i;

	destroy_workqueue(smc_close_wq);
	destroy_workqueue(smc_grow_wq);
	destroy_workqueue(smc_hs_wq);
	/* objects are freed by RCU callbacks */
	rcu_barrier();
	for (i = SMC_SOCK_KINDS - 1; i >= 0; i--)
		proto_unregister(&smc_protos[i]);
}

/**
 * smc_sock_offer() - let AF_INET and AF_INET6 make sockets of IPPROTO_SMC
 * @ops: their operations; kept
 *
 * Where the kernel has no IPv6 there are those of IPv4 only.
 *
 * Context: Process context, module load.
 */
void smc_sock_offer(const struct proto_ops *ops)
{
	smc_protosw[0].ops = ops;
	smc_protosw[1].ops = ops;
	inet_register_protosw(&smc_protosw[0]);
#if IS_ENABLED(CONFIG_IPV6)
	inet6_register_protosw(&smc_protosw[1]);
#endif
}

/**
 * smc_sock_withdraw() - undo smc_sock_offer()
 *
 * Nobody begins to make one any more when this returns. A task that has found the
 * protocol before may still be at it: it finds the module going, but the core asks for
 * that only when it has allocated from the protocol's cache (inet_create()). So it is
 * with every protocol in a module, and there is nothing here to wait for.
 *
 * Context: Process context, module unload, sleeps.
 */
void smc_sock_withdraw(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	inet6_unregister_protosw(&smc_protosw[1]);
#endif
	inet_unregister_protosw(&smc_protosw[0]);
}

static void smc_sock_destruct(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	void (*core_destruct)(struct sock *sk);

	WARN_ON_ONCE(smc->tcp);
	WARN_ON_ONCE(smc->hs);
	WARN_ON_ONCE(rcu_access_pointer(smc->listener));
	WARN_ON_ONCE(smc->child);
	WARN_ON_ONCE(!hlist_unhashed(&smc->hash_node));
	WARN_ON_ONCE(!list_empty(&smc->late_node));
	__skb_queue_purge(&sk->sk_error_queue);
	if (smc->conn)
		smc_conn_drop(smc->conn);
	/* an older core takes SO_RESERVE_MEM without asking us */
	sk_mem_reclaim_final(sk);
	if (sk->sk_family == PF_SMC)
		return;
	/* what the core's own would complain about: a child never had a file */
	sock_set_flag(sk, SOCK_DEAD);
	sk->sk_state = TCP_CLOSE;
	core_destruct = READ_ONCE(smc_sock_core_destruct[smc_sock_is_v6(sk)]);
	core_destruct(sk);
}

/**
 * smc_sock_is_ours() - is this one of our sockets
 * @sk: any socket, alive at least until the end of the RCU read section
 *
 * Context: Any context.
 * Return: true if so, of whichever family.
 */
bool smc_sock_is_ours(const struct sock *sk)
{
	return sk->sk_destruct == smc_sock_destruct;
}

/*
 * Its lock is held while that of its inner socket is taken, which is of the same
 * family: lockdep has to know them apart.
 */
static void smc_sock_set_lock_class(struct sock *sk)
{
	static struct lock_class_key slock_key, lock_key, callback_key;

	sock_lock_init_class_and_name(sk, "slock-INET_SMC", &slock_key,
				      "sk_lock-INET_SMC", &lock_key);
	lockdep_set_class_and_name(&sk->sk_callback_lock, &callback_key, "clock-INET_SMC");
}

/**
 * smc_sock_set_up() - what a new sock is besides what the core made it
 * @sk: new, of one of our protocols, its family and protocol set
 *
 * One that AF_INET or AF_INET6 has made still has their destructor.
 *
 * Context: Process context.
 */
void smc_sock_set_up(struct sock *sk)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_sock *smc = smc_sk(sk);

	if (sk->sk_family != PF_SMC) {
		/* the same each time */
		WRITE_ONCE(smc_sock_core_destruct[smc_sock_is_v6(sk)], sk->sk_destruct);
		smc_sock_set_lock_class(sk);
	}
	sk->sk_type = SOCK_STREAM;
	sk->sk_destruct = smc_sock_destruct;
	sk->sk_sndbuf = 2 * READ_ONCE(sn->set.wmem);
	sk->sk_rcvbuf = 2 * READ_ONCE(sn->set.rmem);
	sock_set_flag(sk, SOCK_RCU_FREE);

	smc_state_close_init(&smc->close);
	sk->sk_state = smc->close.state;
	INIT_WORK(&smc->hs_work, smc_works->handshake);
	INIT_WORK(&smc->grow_work, smc_works->handshake_grow);
	INIT_DELAYED_WORK(&smc->hs_timer, smc_works->handshake_timer);
	INIT_WORK(&smc->close_work, smc_works->close);
	timer_setup(&smc->close_timer, smc_works->close_timer, 0);
	timer_setup(&smc->keep_timer, smc_works->keep_timer, 0);
	INIT_HLIST_NODE(&smc->hash_node);
	INIT_LIST_HEAD(&smc->late_node);
}

/**
 * smc_sock_make_conn() - a handshake needs a connection
 * @smc: the socket
 *
 * Context: The handshake's work item, may sleep.
 * Return: 0, also if there is one; -ENOMEM.
 */
int smc_sock_make_conn(struct smc_sock *smc)
{
	struct smc_conn *conn;

	if (smc->conn)
		return 0;
	conn = smc_conn_alloc(&smc->sk, smc_works->event);
	if (!conn)
		return -ENOMEM;
	/* pairs with READ_ONCE() of those who look without the socket lock */
	smp_store_release(&smc->conn, conn);
	return 0;
}

/**
 * smc_sock_drop_conn() - a socket goes on without its connection
 * @smc: the socket; nothing happens if it has none
 *
 * Who has found it before looks under RCU. It lives on as long as it has users.
 *
 * Context: Process context. Expects the socket lock held, or is the handshake.
 */
void smc_sock_drop_conn(struct smc_sock *smc)
{
	struct smc_conn *conn = smc->conn;

	if (!conn)
		return;
	WRITE_ONCE(smc->conn, NULL);
	smc_conn_drop(conn);
}

/**
 * smc_sock_alloc() - make a socket object of AF_SMC
 * @net: its namespace
 * @sock: the application's socket
 * @protocol: SMCPROTO_SMC or SMCPROTO_SMC6
 * @kern: as for sk_alloc()
 *
 * The inner TCP socket is the caller's business.
 *
 * Context: Process context, may sleep.
 * Return: the object with one reference for the caller, or NULL.
 */
struct smc_sock *smc_sock_alloc(struct net *net, struct socket *sock, int protocol, int kern)
{
	enum smc_sock_kind kind = protocol == SMCPROTO_SMC6 ? SMC_SOCK_SMC6 : SMC_SOCK_SMC;
	struct sock *sk = sk_alloc(net, PF_SMC, GFP_KERNEL, &smc_protos[kind], kern);

	if (!sk)
		return NULL;
	sock_init_data(sock, sk);
	sk->sk_protocol = protocol;
	smc_sock_set_up(sk);
	return smc_sk(sk);
}

/**
 * smc_sock_alloc_like() - make a socket object of the kind of another
 * @like: the listener of a child, or the one whose file it will have
 *
 * It has no file, and the inner TCP socket is the caller's business.
 *
 * Context: Process context, may sleep.
 * Return: the object with one reference for the caller, or NULL.
 */
struct smc_sock *smc_sock_alloc_like(const struct smc_sock *like)
{
	const struct sock *from = &like->sk;
	struct sock *sk = sk_alloc(sock_net(from), from->sk_family, GFP_KERNEL,
				   from->sk_prot_creator, !from->sk_net_refcnt);

	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	sk->sk_protocol = from->sk_protocol;
	if (sk->sk_family != PF_SMC)
		sk->sk_destruct = READ_ONCE(smc_sock_core_destruct[smc_sock_is_v6(sk)]);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == PF_INET6)
		inet_sk(sk)->pinet6 = &smc_sk(sk)->inet6;
#endif
	smc_sock_set_up(sk);
	return smc_sk(sk);
}

/**
 * smc_sock_inherit() - a sock that is made for the owner of another
 * @from: the sock of a listener, or the one that @to replaces
 * @to: new, nobody knows it
 *
 * Its user, its label, and its control groups: their BPF programs look at what is
 * called on it. Who happens to make it, a kernel thread or another process, does not count.
 *
 * Context: Process context.
 */
void smc_sock_inherit(struct sock *from, struct sock *to)
{
#ifdef CONFIG_SOCK_CGROUP_DATA
	struct cgroup *theirs = sock_cgroup_ptr(&from->sk_cgrp_data);
	struct cgroup *had = sock_cgroup_ptr(&to->sk_cgrp_data);

	/* as the core does when it clones a sock, or frees one */
	cgroup_get(theirs);
	cgroup_bpf_get(theirs);
	to->sk_cgrp_data = from->sk_cgrp_data;
	cgroup_bpf_put(had);
	cgroup_put(had);
#endif
	to->sk_uid = from->sk_uid;
	security_sk_clone(from, to);
}

/**
 * smc_sock_leave_file() - a file is closed, or its socket is TCP's from now on
 * @sk: our sock, which the file had until now
 *
 * BPF programs of the control group that were told when the core made it are told, as by
 * inet_release(). The core makes none of AF_SMC; programs see the inner one of those.
 *
 * Context: Process context.
 */
void smc_sock_leave_file(struct sock *sk)
{
	if (sk->sk_family != PF_SMC && !sk->sk_kern_sock)
		BPF_CGROUP_RUN_PROG_INET_SOCK_RELEASE(sk);
}

/**
 * smc_sock_enter() - begin a socket call
 * @sock: the application's socket, held by its file
 *
 * A connection that fell back has its struct socket handed over to TCP while
 * calls may be under way (smc_fallback_graft()). Each of our operations
 * begins here and forwards to TCP when this returns NULL.
 *
 * Context: Any context.
 * Return: our socket with a reference for the caller, or NULL when @sock is
 * TCP's by now.
 */
struct smc_sock *smc_sock_enter(struct socket *sock)
{
	struct sock *sk;

	rcu_read_lock();
	do {
		/* pairs with smp_store_release() in smc_fallback_graft() */
		sk = smp_load_acquire(&sock->sk);
		if (!sk || !smc_sock_is_ours(sk)) {
			sk = NULL;
			break;
		}
	} while (!refcount_inc_not_zero(&sk->sk_refcnt));
	rcu_read_unlock();
	return sk ? smc_sk(sk) : NULL;
}

static struct smc_sock_bucket *smc_sock_bucket(const struct smc_sock *smc)
{
	return &smc_sock_buckets[hash_ptr(smc, ilog2(SMC_SOCK_BUCKETS))];
}

/**
 * smc_sock_hash() - make a socket visible to sock_diag
 * @smc: the socket
 *
 * Context: Process context.
 */
void smc_sock_hash(struct smc_sock *smc)
{
	struct smc_sock_bucket *b = smc_sock_bucket(smc);

	spin_lock(&b->lock);
	if (hlist_unhashed(&smc->hash_node)) {
		hlist_add_head(&smc->hash_node, &b->head);
		sock_prot_inuse_add(sock_net(&smc->sk), smc->sk.sk_prot, 1);
	}
	spin_unlock(&b->lock);
}

/**
 * smc_sock_unhash() - undo smc_sock_hash(), which need not have happened
 * @smc: the socket
 *
 * Context: Process context.
 */
void smc_sock_unhash(struct smc_sock *smc)
{
	struct smc_sock_bucket *b = smc_sock_bucket(smc);

	spin_lock(&b->lock);
	if (!hlist_unhashed(&smc->hash_node)) {
		hlist_del_init(&smc->hash_node);
		sock_prot_inuse_add(sock_net(&smc->sk), smc->sk.sk_prot, -1);
	}
	spin_unlock(&b->lock);
}

/* The core calls it for what it gives up, behind destroy(), which has done it. */
static void smc_sock_proto_unhash(struct sock *sk)
{
}

/**
 * smc_sock_for_each() - visit the sockets of a namespace
 * @net: the namespace
 * @bucket: where to go on, 0 at first; updated
 * @skip: sockets of that bucket already visited, 0 at first; updated
 * @visit: called with a bucket's lock held, must not sleep; a nonzero value
 *	   ends the walk, which can be resumed at the same socket
 * @arg: passed on
 *
 * For smc_diag.ko.
 *
 * Context: Process context.
 * Return: 0 when all were visited, or what @visit returned.
 */
int smc_sock_for_each(struct net *net, unsigned int *bucket, unsigned int *skip,
		      smc_sock_visit visit, void *arg)
{
	int rc = 0;

	for (; *bucket < SMC_SOCK_BUCKETS; (*bucket)++, *skip = 0) {
		struct smc_sock_bucket *b = &smc_sock_buckets[*bucket];
		unsigned int n = 0;
		struct smc_sock *smc;

		spin_lock(&b->lock);
		hlist_for_each_entry(smc, &b->head, hash_node) {
			if (n++ < *skip || !net_eq(sock_net(&smc->sk), net))
				continue;
			rc = visit(&smc->sk, arg);
			if (rc) {
				*skip = n - 1;
				break;
			}
		}
		spin_unlock(&b->lock);
		if (rc)
			return rc;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(smc_sock_for_each);

static struct workqueue_struct *smc_sock_wq(const struct smc_sock *smc,
					    const struct work_struct *work)
{
	if (work == &smc->close_work)
		return smc_close_wq;
	return work == &smc->grow_work ? smc_grow_wq : smc_hs_wq;
}

/**
 * smc_sock_queue() - queue one of the socket's work items
 * @smc: the socket
 * @work: &smc_sock.hs_work, .grow_work or .close_work
 *
 * Takes a reference that the work function drops.
 *
 * Context: Any context.
 * Return: false when it was queued already.
 */
bool smc_sock_queue(struct smc_sock *smc, struct work_struct *work)
{
	sock_hold(&smc->sk);
	if (queue_work(smc_sock_wq(smc, work), work))
		return true;
	sock_put(&smc->sk);
	return false;
}

/**
 * smc_sock_queue_delayed() - arm the socket's delayed work item, or arm it anew
 * @smc: the socket
 * @work: &smc_sock.hs_timer
 * @delay_jiffies: from now
 *
 * Holds a reference while it is armed, which the work function drops, or who
 * cancels it.
 *
 * Context: Any context.
 */
void smc_sock_queue_delayed(struct smc_sock *smc, struct delayed_work *work,
			    unsigned long delay_jiffies)
{
	sock_hold(&smc->sk);
	/* armed already, it has a reference */
	if (mod_delayed_work(smc_hs_wq, work, delay_jiffies))
		sock_put(&smc->sk);
}

/**
 * smc_sock_queue_listen() - have children taken off TCP
 * @smc: a socket that listens; nothing happens if it does no more
 * @delay_jiffies: from now, see smc_listener_queue()
 *
 * Context: Any context. Expects the socket lock or the sk_callback_lock of the inner
 * socket held, either of which keeps the listener.
 */
void smc_sock_queue_listen(struct smc_sock *smc, unsigned long delay_jiffies)
{
	struct smc_listener *listener;

	rcu_read_lock();
	listener = rcu_dereference(smc->listener);
	if (listener)
		smc_listener_queue(listener, smc_hs_wq, delay_jiffies);
	rcu_read_unlock();
}

/**
 * smc_sock_pend() - tell the close machine something
 * @smc: the socket
 * @what: the news; several of the same kind count once
 *
 * Context: Any context.
 */
void smc_sock_pend(struct smc_sock *smc, enum smc_pending what)
{
	/* pairs with smp_rmb() in smc_close_run(): what the peer said before is seen with it */
	smp_mb__before_atomic();
	set_bit(what, &smc->pending);
	smc_sock_queue(smc, &smc->close_work);
}

/**
 * smc_sock_trylock() - take the socket lock if nobody has it
 * @smc: the socket
 * @what: the caller is there for; otherwise who has the lock sees to it
 *
 * For those who must not wait for a call that holds the lock over a page fault, which
 * can take as long as the owner of the page likes: work items, of which a queue runs a
 * limited number at a time for all sockets, and poll(), which looks at many. What was
 * missed is done by the work item, which is queued when the lock is released, unless
 * the call has done it before (smc_sock_take_missed()).
 *
 * Context: Process context.
 * Return: true if it was taken; release_sock() gives it back.
 */
bool smc_sock_trylock(struct smc_sock *smc, enum smc_missed what)
{
	struct sock *sk = &smc->sk;
	bool is_free;

	spin_lock_bh(&sk->sk_lock.slock);
	is_free = !sock_owned_by_user_nocheck(sk);
	if (is_free)
		sk->sk_lock.owned = 1;
	else
		WRITE_ONCE(smc->missed, smc->missed | BIT(what));
	spin_unlock_bh(&sk->sk_lock.slock);
	if (is_free)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return is_free;
}

/**
 * smc_sock_is_paused() - may a work item of the handshake go on
 * @smc: the socket
 *
 * Context: Process context.
 * Return: true if a call keeps it from the inner socket; it is queued when that call
 *	   releases the socket lock.
 */
bool smc_sock_is_paused(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	bool is_paused;

	spin_lock_bh(&sk->sk_lock.slock);
	is_paused = READ_ONCE(smc->is_paused);
	if (is_paused)
		WRITE_ONCE(smc->missed, smc->missed | BIT(SMC_MISSED_HANDSHAKE));
	spin_unlock_bh(&sk->sk_lock.slock);
	return is_paused;
}

/**
 * smc_sock_take_missed() - has a work item not had the lock meanwhile
 * @smc: the socket
 * @what: it was there for
 *
 * Calls that follow each other closely would keep it from the lock for ever. So who is
 * about to release that does the work in its place.
 *
 * Context: Process context. Expects the socket lock held.
 * Return: true if so, and it is the caller's work now.
 */
bool smc_sock_take_missed(struct smc_sock *smc, enum smc_missed what)
{
	if (likely(!(READ_ONCE(smc->missed) & BIT(what))))
		return false;
	spin_lock_bh(&smc->sk.sk_lock.slock);
	WRITE_ONCE(smc->missed, smc->missed & ~BIT(what));
	spin_unlock_bh(&smc->sk.sk_lock.slock);
	return true;
}

/* The socket lock is about to be released: what was missed is queued again. */
static void smc_sock_release_cb(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	unsigned int missed = smc->missed;

	if (likely(!missed))
		return;
	WRITE_ONCE(smc->missed, 0);
	if (missed & BIT(SMC_MISSED_HANDSHAKE))
		smc_sock_queue(smc, &smc->hs_work);
	if (missed & BIT(SMC_MISSED_LISTEN))
		smc_sock_queue_listen(smc, 0);
	if (missed & BIT(SMC_MISSED_CLOSE))
		smc_sock_queue(smc, &smc->close_work);
}

/**
 * smc_sock_set_err() - report an asynchronous error to the application
 * @smc: the socket
 * @err: positive errno
 *
 * Context: Any context.
 */
void smc_sock_set_err(struct smc_sock *smc, int err)
{
	WRITE_ONCE(smc->sk.sk_err, err);
	sk_error_report(&smc->sk);
}

/**
 * smc_sock_wake_sleepers() - let calls that wait look again
 * @smc: the socket
 *
 * No signal is sent: that there is anything to do is not known yet.
 *
 * Context: Any context.
 */
void smc_sock_wake_sleepers(struct smc_sock *smc)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(smc->sk.sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_all(&wq->wait);
	rcu_read_unlock();
}

/**
 * smc_sock_wake_attending() - let calls that wait for connect() look again
 * @smc: the socket
 *
 * But not who polls, for whom there is nothing yet: a poll that is woken for nothing makes
 * io_uring call connect() once more.
 *
 * Context: Any context.
 */
void smc_sock_wake_attending(struct smc_sock *smc)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(smc->sk.sk_wq);
	/* an event for which nobody polls; calls that wait do not look at it */
	if (skwq_has_sleeper(wq))
		__wake_up(&wq->wait, TASK_INTERRUPTIBLE, 0, poll_to_key(EPOLLMSG));
	rcu_read_unlock();
}

/**
 * smc_sock_wake_all() - let every sleeper and poller look again
 * @smc: the socket
 *
 * Context: Any context.
 */
void smc_sock_wake_all(struct smc_sock *smc)
{
	smc_sock_wake_sleepers(smc);
	sk_wake_async(&smc->sk, SOCK_WAKE_WAITD, POLL_IN);
}

/**
 * smc_sock_wake_writers() - the send ring has room
 * @smc: the socket
 *
 * Context: Any context.
 */
void smc_sock_wake_writers(struct smc_sock *smc)
{
	struct sock *sk = &smc->sk;
	struct socket *sock;
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	sock = smc_sock_socket(sk);
	if (sock)
		clear_bit(SOCK_NOSPACE, &sock->flags);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND);
	if (wq && wq->fasync_list && !(READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN))
		sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}
