/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the supported kernels, under one spelling.
 *
 * Only this file may test for a kernel feature. The SMC_HAVE_ macros come from scripts/probe,
 * which compiles a test for each one: distributions backport changes, so a version number
 * proves nothing. Everything here has the meaning of the newest kernel.
 */
#ifndef SMC_COMPAT_H
#define SMC_COMPAT_H

#include <linux/fs.h>
#include <linux/kconfig.h>
#include <linux/local_lock.h>
#include <linux/memcontrol.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysctl.h>
#include <linux/tcp.h>
#include <linux/timer.h>
#include <linux/uio.h>
#include <net/dst.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "smc_probe.h"

#ifdef SMC_HAVE_IPV6_STUB
#include <net/ipv6_stubs.h>
#else
#include <net/ipv6.h>
#endif

#if !IS_ENABLED(CONFIG_SMC) && !defined(SMC_OWN_OPTION)
#define SMC_OWN_OPTION
#endif
#if defined(SMC_OWN_OPTION) && !IS_ENABLED(CONFIG_NETFILTER)
#error "this kernel has neither CONFIG_SMC nor CONFIG_NETFILTER: the TCP option needs one of them"
#endif
#if IS_BUILTIN(CONFIG_SMC) && defined(MODULE)
#error "this kernel has SMC built in (CONFIG_SMC=y); a module cannot replace it"
#endif

/* TCP asks BPF programs before it sets the option: smc_hs_ctrl.c registers them. */
#if IS_ENABLED(CONFIG_SMC_HS_CTRL_BPF) && !defined(SMC_OWN_OPTION)
#define SMC_HS_CTRL
#endif

/*
 * Functions with different parameters. The module's own have those of the newest kernel; a macro
 * makes name_compat() of it, for struct proto or proto_ops. accept() reports to io_uring whether
 * the queue is empty.
 */
#ifdef SMC_HAVE_PROTO_ACCEPT_ARG
#define SMC_COMPAT_ACCEPT(fn, ops)						\
	static int fn##_compat(struct socket *sock, struct socket *newsock,	\
			       struct proto_accept_arg *arg)			\
	{									\
		int rc;								\
										\
		guard(smc_call)(sock->sk);					\
		rc = fn(sock, newsock, arg->flags, &arg->is_empty);		\
		return rc > 0 ? ops(sock)->accept(sock, newsock, arg) : rc;	\
	}
#else
#define SMC_COMPAT_ACCEPT(fn, ops)						\
	static int fn##_compat(struct socket *sock, struct socket *newsock,	\
			       int flags, bool kern)				\
	{									\
		int is_empty, rc;						\
										\
		guard(smc_call)(sock->sk);					\
		rc = fn(sock, newsock, flags, &is_empty);			\
		return rc > 0 ? ops(sock)->accept(sock, newsock, flags, kern) : rc; \
	}
#endif

/* TCP's accept() without a struct socket; does not wait, NULL if there is none. */
static inline struct sock *smc_compat_csk_accept(const struct proto *prot, struct sock *sk)
{
#ifdef SMC_HAVE_PROTO_ACCEPT_ARG
	struct proto_accept_arg arg = { .flags = O_NONBLOCK };

	return prot->accept(sk, &arg);
#else
	int err;

	return prot->accept(sk, O_NONBLOCK, &err, false);
#endif
}

/*
 * ioctl() of a struct proto: newer kernels copy the result to user space themselves. @fn sets
 * *answ and returns true, or leaves the call to TCP.
 */
#ifdef SMC_HAVE_PROTO_IOCTL_INT
#define SMC_COMPAT_IOCTL(fn, prot)						\
	static int fn##_compat(struct sock *sk, int cmd, int *answ)		\
	{									\
		bool is_ours;							\
										\
		guard(smc_call)(sk);						\
		is_ours = fn(sk, cmd, answ);					\
		return is_ours ? 0 : prot(sk)->ioctl(sk, cmd, answ);		\
	}
#else
#define SMC_COMPAT_IOCTL(fn, prot)						\
	static int fn##_compat(struct sock *sk, int cmd, unsigned long arg)	\
	{									\
		bool is_ours;							\
		int answ;							\
										\
		guard(smc_call)(sk);						\
		is_ours = fn(sk, cmd, &answ);					\
		return is_ours ? put_user(answ, (int __user *)arg) :		\
				 prot(sk)->ioctl(sk, cmd, arg);			\
	}
#endif

/* The address of connect() and of what it calls. */
#ifdef SMC_HAVE_SOCKADDR_UNSIZED
#define SMC_SOCKADDR struct sockaddr_unsized
#else
#define SMC_SOCKADDR struct sockaddr
#endif

/* recvmsg() of a struct proto: older kernels have a parameter for the address's length. */
#ifdef SMC_HAVE_RECVMSG_ADDR_LEN
#define SMC_COMPAT_RECVMSG(fn)							\
	static int fn##_compat(struct sock *sk, struct msghdr *msg, size_t len,	\
			       int flags, int *addr_len)			\
	{									\
		return fn(sk, msg, len, flags, addr_len);			\
	}
#else
#define SMC_COMPAT_RECVMSG(fn)							\
	static int fn##_compat(struct sock *sk, struct msghdr *msg, size_t len,	\
			       int flags)					\
	{									\
		return fn(sk, msg, len, flags, NULL);				\
	}
#endif

static inline int smc_compat_recvmsg(const struct proto *prot, struct sock *sk,
				     struct msghdr *msg, size_t len, int flags, int *addr_len)
{
#ifdef SMC_HAVE_RECVMSG_ADDR_LEN
	return prot->recvmsg(sk, msg, len, flags, addr_len);
#else
	return prot->recvmsg(sk, msg, len, flags);
#endif
}

/* Look for a connection of TCP: the remote address and port, the local ones, the device. */
static inline struct sock *smc_compat_lookup(struct net *net, __be32 saddr, __be16 sport,
					     __be32 daddr, u16 hnum, int dif)
{
#ifdef SMC_HAVE_LOOKUP_BY_NET
	return __inet_lookup_established(net, saddr, sport, daddr, hnum, dif, 0);
#else
	return __inet_lookup_established(net, net->ipv4.tcp_death_row.hashinfo, saddr, sport,
					 daddr, hnum, dif, 0);
#endif
}

#if IS_ENABLED(CONFIG_IPV6)
static inline struct sock *smc_compat_lookup6(struct net *net, const __be32 *saddr, __be16 sport,
					      const __be32 *daddr, u16 hnum, int dif)
{
	const struct in6_addr *from = (const struct in6_addr *)saddr;
	const struct in6_addr *to = (const struct in6_addr *)daddr;

#ifdef SMC_HAVE_LOOKUP_BY_NET
	return __inet6_lookup_established(net, from, sport, to, hnum, dif, 0);
#else
	return __inet6_lookup_established(net, net->ipv4.tcp_death_row.hashinfo, from, sport, to,
					  hnum, dif, 0);
#endif
}
#endif

/* False for a call of aio, which would get the errno of a call that is to be made again. */
static inline bool smc_compat_is_sync(const struct msghdr *msg)
{
#ifdef SMC_HAVE_MSG_IOCB
	return !msg->msg_iocb || is_sync_kiocb(msg->msg_iocb);
#else
	return true;
#endif
}

/* Send a segment without data that acknowledges what was received. */
#ifdef SMC_HAVE_SEND_ACK_FLAGS
#define smc_compat_send_ack(sk, rcv_nxt) __tcp_send_ack(sk, rcv_nxt, 0)
#else
#define smc_compat_send_ack(sk, rcv_nxt) __tcp_send_ack(sk, rcv_nxt)
#endif

/* A notice for MSG_ZEROCOPY that no other send() shares; NULL without memory. */
#ifdef SMC_HAVE_ZEROCOPY_DEVMEM
#define smc_compat_zerocopy_alloc(sk, len) msg_zerocopy_realloc(sk, len, NULL, false)
#else
#define smc_compat_zerocopy_alloc(sk, len) msg_zerocopy_realloc(sk, len, NULL)
#endif

/* A route for IPv6. Kernels whose IPv6 can be a module have a stub for it. */
#ifdef SMC_HAVE_IPV6_STUB
#define smc_compat_route6(net, sk, fl6) ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, NULL)
#else
#define smc_compat_route6(net, sk, fl6) ip6_dst_lookup_flow(net, sk, fl6, NULL)
#endif

/* On newer kernels sendfile() signals the end of data. */
static inline void smc_compat_set_splice_eof(struct proto *prot, void (*func)(struct socket *sock))
{
#ifdef SMC_HAVE_PROTO_SPLICE_EOF
	prot->splice_eof = func;
#endif
}

static inline void smc_compat_splice_eof(const struct proto *prot, struct socket *sock)
{
#ifdef SMC_HAVE_PROTO_SPLICE_EOF
	prot->splice_eof(sock);
#endif
}

/* The file of a socket, with a reference; NULL without one, or if its release has begun. */
static inline struct file *smc_compat_get_file(struct socket *sock)
{
#ifdef SMC_HAVE_GET_FILE_ACTIVE
	return get_file_active(&sock->file);
#else
	return sock->file && get_file_rcu(sock->file) ? sock->file : NULL;
#endif
}

/* Older headers lack the name; the number is the same. */
#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

static inline kuid_t smc_compat_sk_uid(struct sock *sk)
{
#ifdef SMC_HAVE_SK_UID_FUNCTION
	return sk_uid(sk);
#else
	return sock_i_uid(sk);
#endif
}

/*
 * smc_compat_sk_memcg() returns the memory control group of a socket, smc_compat_memcg_get() that
 * of the current task with a reference. NULL where groups do not account socket memory.
 * smc_compat_memcg_hold() takes a reference on a group, or NULL.
 * smc_compat_memcg_max() returns how many pages a group, or NULL, may use.
 */
#ifdef SMC_HAVE_SK_MEMCG
/* Version 1 control groups account socket memory only if it is enabled for the group. */
static inline bool smc_compat_memcg_counts(const struct mem_cgroup *memcg)
{
	if (cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return true;
#ifdef SMC_HAVE_TCPMEM_ACTIVE
	return memcg->tcpmem_active;
#else
	return false;
#endif
}

static inline struct mem_cgroup *smc_compat_sk_memcg(const struct sock *sk)
{
	return sk->sk_memcg;
}

static inline void smc_compat_sk_set_memcg(struct sock *sk,
					   struct mem_cgroup *memcg)
{
	sk->sk_memcg = memcg;
}

static inline struct mem_cgroup *smc_compat_memcg_get(void)
{
	struct mem_cgroup *memcg;

	if (!mem_cgroup_sockets_enabled)
		return NULL;
	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	/* the root group is not charged for sockets */
	if (!memcg || !parent_mem_cgroup(memcg) || !smc_compat_memcg_counts(memcg) ||
	    !css_tryget(&memcg->css))
		memcg = NULL;
	rcu_read_unlock();
	return memcg;
}

static inline unsigned long smc_compat_memcg_max(struct mem_cgroup *memcg)
{
	unsigned long most = PAGE_COUNTER_MAX;

	for (; memcg; memcg = parent_mem_cgroup(memcg))
		most = min(most, READ_ONCE(memcg->memory.max));
	return most;
}

static inline struct mem_cgroup *smc_compat_memcg_hold(struct mem_cgroup *memcg)
{
	if (memcg)
		css_get(&memcg->css);
	return memcg;
}

#else

static inline unsigned long smc_compat_memcg_max(struct mem_cgroup *memcg)
{
	return LONG_MAX / PAGE_SIZE;
}

static inline struct mem_cgroup *smc_compat_sk_memcg(const struct sock *sk)
{
	return NULL;
}

static inline void smc_compat_sk_set_memcg(struct sock *sk,
					   struct mem_cgroup *memcg)
{
}

static inline struct mem_cgroup *smc_compat_memcg_get(void)
{
	return NULL;
}

static inline struct mem_cgroup *smc_compat_memcg_hold(struct mem_cgroup *memcg)
{
	return NULL;
}

#endif

/* The outgoing device of a route; the caller is in an RCU read section. */
static inline struct net_device *smc_compat_dst_dev(struct dst_entry *dst)
{
#ifdef SMC_HAVE_DST_DEV_RCU
	return dst_dev_rcu(dst);
#else
	return READ_ONCE(dst->dev);
#endif
}

/* Options missing in older headers; the TCP of those kernels rejects them. */
#ifndef TCP_AO_ADD_KEY
#define TCP_AO_ADD_KEY 38
#define TCP_AO_INFO 40
#endif

#ifndef SMC_HAVE_ITER_DEST
#define ITER_DEST READ
#define ITER_SOURCE WRITE
#endif

/* guard(spinlock_bh)(lock) */
#ifndef SMC_HAVE_SPINLOCK_BH_GUARD
DEFINE_LOCK_GUARD_1(spinlock_bh, spinlock_t, spin_lock_bh(_T->lock), spin_unlock_bh(_T->lock))
#endif

/* Older kernels have one lock for all bottom halves of a CPU with PREEMPT_RT. */
#ifndef local_lock_nested_bh
#define local_lock_nested_bh(lock) ((void)(lock))
#define local_unlock_nested_bh(lock) ((void)(lock))
#endif

/* Older kernels copy in sendfile() and splice(). */
/* Linux 6.9 */
#ifndef __uninitialized
#define __uninitialized	__attribute__((__uninitialized__))
#endif

#ifndef MSG_SPLICE_PAGES
#define MSG_SPLICE_PAGES 0
#endif

/*
 * sparse sees the lock of a guard but not the unlock at the end of the scope, which the
 * compiler adds. Under sparse a guard does nothing.
 */
#ifdef __CHECKER__
#undef guard
#define guard(...) smc_compat_guard
#define smc_compat_guard(...) do { } while (0)
#undef scoped_guard
#define scoped_guard(...) for (bool done = false; !done; done = true)
#endif

/*
 * The network device of an RDMA port, with a reference, or NULL. On older kernels the driver
 * may provide it; software devices do not, but their GIDs refer to it.
 */
#ifdef SMC_HAVE_IB_DEVICE_GET_NETDEV
static inline struct net_device *smc_compat_ib_netdev(struct ib_device *ibdev,
						      u32 port)
{
	return ib_device_get_netdev(ibdev, port);
}
#else
static inline struct net_device *smc_compat_ib_netdev(struct ib_device *ibdev,
						      u32 port)
{
	int gids = ibdev->port_data[port].immutable.gid_tbl_len;
	struct net_device *ndev = NULL;
	int i;

	if (ibdev->ops.get_netdev)
		ndev = ibdev->ops.get_netdev(ibdev, port);
	for (i = 0; i < gids && !ndev; i++) {
		const struct ib_gid_attr *attr;

		attr = rdma_get_gid_attr(ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		rcu_read_lock();
		ndev = rdma_read_gid_attr_ndev_rcu(attr);
		if (IS_ERR(ndev))
			ndev = NULL;
		dev_hold(ndev);
		rcu_read_unlock();
		rdma_put_gid_attr(attr);
	}
	return ndev;
}
#endif

/* Argument of a sysctl handler. */
#ifdef SMC_HAVE_CONST_CTL_TABLE
#define SMC_CTL_TABLE const struct ctl_table
#else
#define SMC_CTL_TABLE struct ctl_table
#endif

/* @table has @count entries and one more that is all zero. */
static inline struct ctl_table_header *
smc_compat_register_net_sysctl(struct net *net, const char *path,
			       struct ctl_table *table, size_t count)
{
#ifdef SMC_HAVE_REGISTER_NET_SYSCTL_SZ
	return register_net_sysctl_sz(net, path, table, count);
#else
	return register_net_sysctl(net, path, table);
#endif
}

/* For TP_fast_assign(): @src is the argument of __string() for @dst. */
#ifdef SMC_HAVE_ASSIGN_STR_ONE_ARG
#define smc_compat_assign_str(dst, ...) __assign_str(dst)
#else
#define smc_compat_assign_str(dst, src) __assign_str(dst, src)
#endif

#ifdef SMC_HAVE_TIMER_CONTAINER_OF
#define smc_compat_timer_of(var, timer, member)				\
	timer_container_of(var, timer, member)
#else
#define smc_compat_timer_of(var, timer, member) from_timer(var, timer, member)
#endif

/* Registers a shrinker; NULL without memory. smc_compat_shrinker_del() frees it. */
static inline struct shrinker *
smc_compat_shrinker_add(const char *name,
			unsigned long (*count)(struct shrinker *,
					       struct shrink_control *),
			unsigned long (*scan)(struct shrinker *,
					      struct shrink_control *))
{
	struct shrinker *shrinker;

#ifdef SMC_HAVE_SHRINKER_ALLOC
	shrinker = shrinker_alloc(0, "%s", name);
#else
	shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);
#endif
	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->seeks = DEFAULT_SEEKS;
#ifdef SMC_HAVE_SHRINKER_ALLOC
	shrinker_register(shrinker);
#else
	if (register_shrinker(shrinker, "%s", name)) {
		kfree(shrinker);
		return NULL;
	}
#endif
	return shrinker;
}

static inline void smc_compat_shrinker_del(struct shrinker *shrinker)
{
	if (!shrinker)
		return;
#ifdef SMC_HAVE_SHRINKER_ALLOC
	shrinker_free(shrinker);
#else
	unregister_shrinker(shrinker);
	kfree(shrinker);
#endif
}

#endif /* SMC_COMPAT_H */
