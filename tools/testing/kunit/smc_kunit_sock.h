/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of sockets without the code that sets them up, for suites that fake it: on a TCP
 * sock, or on a sock without a connection.
 */
#ifndef SMC_KUNIT_SOCK_H
#define SMC_KUNIT_SOCK_H

#include <linux/slab.h>
#include <net/tcp.h>

#include "../../../net/smc/sock/smc_sock.h"

/* For a sock without a connection. */
#define SMC_KUNIT_PROTO(suite) {			\
	.name = suite,					\
	.owner = THIS_MODULE,				\
	.obj_size = sizeof(struct tcp_sock),		\
}

/* The caller created both, and detaches the state before it frees the sock. */
static inline void smc_kunit_hang(struct smc_sock *smc, struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);

	smc->sk = sk;
	refcount_set(&smc->refs, 1);
	rcu_assign_pointer(icsk->icsk_ulp_data, smc);
	icsk->icsk_ulp_ops = &smc_ulp_sock;
}

static inline void smc_kunit_take_off(struct sock *sk)
{
	inet_csk(sk)->icsk_ulp_ops = NULL;
	RCU_INIT_POINTER(inet_csk(sk)->icsk_ulp_data, NULL);
}

/* For a sock that is part of something else, and is never freed by itself. */
static inline void smc_kunit_init(struct sock *sk, struct proto *prot)
{
	static struct lock_class_key key;

	sk->sk_prot = prot;
	sock_init_data(NULL, sk);
	/* sock_lock_init_class_and_name() takes a reference on the module */
	init_waitqueue_head(&sk->sk_lock.wq);
	spin_lock_init(&sk->sk_lock.slock);
	lockdep_init_map(&sk->sk_lock.dep_map, "sk_lock", &key, 0);
}

/* A new sock with a state; NULL without memory. */
static inline struct smc_sock *smc_kunit_new(struct proto *prot)
{
	struct sock *sk = sk_alloc(&init_net, PF_INET, GFP_KERNEL, prot, 1);
	struct smc_sock *smc = kzalloc(sizeof(*smc), GFP_KERNEL);

	if (!sk || !smc) {
		kfree(smc);
		if (sk)
			sk_free(sk);
		return NULL;
	}
	sock_init_data(NULL, sk);
	/* TCP's queue, in whose backlog ready children take places */
	spin_lock_init(&inet_csk(sk)->icsk_accept_queue.rskq_lock);
	smc_kunit_hang(smc, sk);
	return smc;
}

/* The caller has the only reference on the state. */
static inline void smc_kunit_free(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	WARN_ON(refcount_read(&smc->refs) != 1);
	smc_kunit_take_off(sk);
	skb_queue_purge(&sk->sk_receive_queue);
	sock_put(sk);
	kfree(smc);
}

#endif /* SMC_KUNIT_SOCK_H */
