/* SPDX-License-Identifier: GPL-2.0 */
/* The send ring of a connection: small at first, larger while much is sent. */
#ifndef SMC_SNDBUF_H
#define SMC_SNDBUF_H

#include "group/smc_core.h"

u32 smc_sndbuf_space(const struct smc_conn *conn);
void smc_sndbuf_enlarge(struct smc_conn *conn);
void smc_sndbuf_switch(struct smc_conn *conn);

/* of a group: larger rings that are not used go back */
void smc_sndbuf_init(struct smc_link_group *lgr);
u64 smc_sndbuf_due(const struct smc_link_group *lgr);
void smc_sndbuf_sweep(struct smc_link_group *lgr);

#endif /* SMC_SNDBUF_H */
