/* SPDX-License-Identifier: GPL-2.0 */
/* Detection of connections whose two ends are on this host. */
#ifndef SMC_SAME_HOST_H
#define SMC_SAME_HOST_H

#include "group/smc_core.h"

struct smc_same_host_pair;

/**
 * struct smc_same_host_key - identifies a TCP connection at both ends
 * @client_seq: number of the first byte that the client sends
 * @server_seq: number of the first byte that the server sends
 *
 * Addresses may be translated on the path, and several namespaces of a host may use the
 * same ones. The numbers derive from secrets of the kernel at each end, so only the two
 * ends and the path between them know both.
 */
struct smc_same_host_key {
	u32 client_seq;
	u32 server_seq;
};

void smc_same_host_get_key(const struct sock *tsk, enum smc_role role,
			   struct smc_same_host_key *key);
struct smc_same_host_pair *
smc_same_host_offer(const struct smc_same_host_key *key, struct net *net,
		    const struct smc_ib_end *end, const u8 peer_id[8]);
struct smc_same_host_pair *
smc_same_host_take(const struct smc_same_host_key *key, struct net *net,
		   const struct smc_clc_proposal *prop, struct smc_ib_end *end);
void smc_same_host_withdraw(struct smc_same_host_pair *pair);
void smc_same_host_leave(struct smc_same_host_pair *pair, enum smc_role role);
wait_queue_head_t *smc_same_host_waitq(struct smc_same_host_pair *pair);
bool smc_same_host_is_over(const struct smc_same_host_pair *pair);

void smc_same_host_publish(struct smc_same_host_pair *pair, enum smc_role role,
			   const struct smc_clc_accept *acc);
int smc_same_host_check(struct smc_same_host_pair *pair, enum smc_role role,
			const struct smc_clc_accept *acc);
u64 smc_same_host_net(const struct smc_same_host_pair *pair, enum smc_role role);

#endif /* SMC_SAME_HOST_H */
