/* SPDX-License-Identifier: GPL-2.0 */
/* Children of a listener between their handshake and accept(). */
#ifndef SMC_CHILD_H
#define SMC_CHILD_H

#include "smc_sock.h"

void smc_child_prepare(struct smc_sock *listener, struct smc_sock *child);
void smc_child_done(struct smc_sock *child, bool is_good);
void smc_child_look(struct smc_sock *child);
void smc_child_drop(struct smc_sock *child);

#endif /* SMC_CHILD_H */
