/* SPDX-License-Identifier: GPL-2.0 */
/* The RDMA port of a connection, and its route. */
#ifndef SMC_HS_PATH_H
#define SMC_HS_PATH_H

#include "sock/smc_hs_types.h"

enum smc_hs_outcome smc_hs_build_proposal(struct smc_hs *hs, struct smc_clc_msg *msg);
enum smc_hs_outcome smc_hs_find_port(struct smc_hs *hs, struct smc_nego_subnets *subnets);
void smc_hs_local(struct smc_hs *hs, struct smc_nego_local *local);
void smc_hs_go_routed(struct smc_hs *hs);
void smc_hs_note_path(const struct smc_hs *hs, enum smc_decline reason);
bool smc_hs_can_do_without(const struct smc_hs *hs);

/* Rows of the table. */
enum smc_hs_outcome smc_hs_server_route(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_take_offer(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_client_route(struct smc_hs *hs);
enum smc_hs_outcome smc_hs_late_route(struct smc_hs *hs);
void smc_hs_put_port(struct smc_hs *hs);

#endif /* SMC_HS_PATH_H */
