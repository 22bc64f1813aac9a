/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA ports that could carry links of a group. */
#ifndef _SMC_LLC_PORTS_H
#define _SMC_LLC_PORTS_H

#include "group/smc_core.h"

void smc_llc_ports_init(void);
void smc_llc_ports_exit(void);
void smc_llc_ports_follow(struct smc_link *link, const u8 peer_gid[SMC_GID_LEN]);
void smc_llc_ports_update(struct smc_link_group *lgr);
unsigned int smc_llc_ports_of(struct smc_link_group *lgr, struct smc_ib_end *ends);
void smc_llc_ports_copy(struct smc_llc *llc, struct smc_llc_rnics *rnics);

#endif /* _SMC_LLC_PORTS_H */
