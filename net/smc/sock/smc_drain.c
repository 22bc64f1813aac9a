// SPDX-License-Identifier: GPL-2.0
/*
 * The sockets of the host leave the module on request, so that it can be replaced under running
 * programs: connections land (smc_land.c), listeners and sockets without a connection become plain
 * TCP. Only while the module is drained (smc_policy.c), or new ones would follow.
 */
#include <linux/module.h>
#include <linux/rwsem.h>
#include <net/sock.h>

#include "rdma/smc_net.h"
#include "group/smc_carrier.h"
#include "group/smc_core.h"
#include "group/smc_llc.h"
#include "group/smc_pair.h"
#include "sock/smc_listen.h"
#include "sock/smc_policy.h"
#include "sock/smc_sock.h"
#include "sock/smc_tcp.h"

static int drain_visit(struct smc_sock *smc, void *arg)
{
	struct smc_conn *conn = READ_ONCE(smc->conn);
	struct smc_sock **idle = arg;

	if (conn && READ_ONCE(conn->pair))
		smc_pair_cut(conn);
	if (READ_ONCE(smc->phase) != SMC_PHASE_IDLE || !refcount_inc_not_zero(&smc->refs))
		return 0;
	sock_hold(smc->sk);
	*idle = smc;
	return 1;
}

/* A socket that has no connection, or listens, holds the module as well. */
static void drain_idle(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	/* a call may own the lock for long, and namespaces wait for us: the next request has it */
	if (!smc_sock_lock_work(sk, SMC_MISSED_CLOSE))
		return;
	if (smc_sk(sk) == smc && smc->phase == SMC_PHASE_IDLE && !smc->is_released) {
		if (smc_sock_listener(smc))
			smc_listen_land(smc);
		else if (sk->sk_state == TCP_CLOSE)
			smc_tcp_become(smc, SMC_DECLINE_DRAIN);
	}
	release_sock(sk);
}

static void drain_net(struct net *net)
{
	unsigned long pos = 0;
	struct smc_sock *smc;

	while (smc_sock_for_each(net, &pos, drain_visit, &smc)) {
		drain_idle(smc);
		smc_sock_put(smc);
		pos++;
	}
}

/* The peer is informed, and its ends land, too. */
static void drain_group(struct smc_link_group *lgr, void *arg)
{
	if (READ_ONCE(lgr->ext) & SMC_LLC_EXT_LANDING)
		smc_llc_end_group(lgr, SMC_LLC_DELETE_OPERATOR, true);
}

/* Have all sockets of the host go on in TCP that can. What is under way is for the next call. */
static void drain_all(void)
{
	struct net *net;

	smc_lgr_for_each(NULL, drain_group, NULL);
	down_read(&net_rwsem);
	for_each_net(net)
		drain_net(net);
	up_read(&net_rwsem);
}

static int drain_set(const char *val, const struct kernel_param *kp)
{
	bool is_wanted;
	int rc = kstrtobool(val, &is_wanted);

	/* not when the module is loaded: there is nothing to land */
	if (rc || !is_wanted || THIS_MODULE->state != MODULE_STATE_LIVE)
		return rc;
	if (!smc_policy_is_draining())
		return -EBUSY;
	drain_all();
	return 0;
}

static const struct kernel_param_ops drain_ops = { .set = drain_set };
module_param_cb(land, &drain_ops, NULL, 0200);
MODULE_PARM_DESC(land, "1: sockets of all network namespaces go on in TCP, where the peer can");
