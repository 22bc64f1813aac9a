/* SPDX-License-Identifier: GPL-2.0 */
/* Children of a listener until accept() takes them. */
#ifndef SMC_CHILD_H
#define SMC_CHILD_H

#include "sock/smc_sock.h"

void smc_child_make_room(struct smc_listener *listener, const struct smc_child *except);
void smc_child_count(struct smc_sock *smc, unsigned long bytes);
void smc_child_done(struct smc_sock *smc, bool is_good);
void smc_child_check(struct smc_sock *smc);
void smc_child_drop(struct sock *sk);
void smc_child_drop_all(struct smc_listener *listener);

#endif /* SMC_CHILD_H */
