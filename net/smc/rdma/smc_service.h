/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Services that decline every connection: whether to offer SMC to one.
 */
#ifndef SMC_SERVICE_H
#define SMC_SERVICE_H

#include <linux/types.h>

#include "proto/smc_clc_nego.h"

struct net;
struct sock;
struct sockaddr;

int smc_service_init_net(struct net *net);
void smc_service_exit_net(struct net *net);

void smc_service_declined(const struct sock *tsk, const struct sockaddr *addr,
			  enum smc_decline reason, u32 diagnosis);
void smc_service_agreed(const struct sock *tsk, const struct sockaddr *addr);
enum smc_decline smc_service_recall(const struct sock *tsk, const struct sockaddr *addr,
				    u32 *diagnosis);

#endif /* SMC_SERVICE_H */
