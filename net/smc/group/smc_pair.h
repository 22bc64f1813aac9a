/* SPDX-License-Identifier: GPL-2.0 */
/* Both ends of a connection on one host: memory that they share. */
#ifndef SMC_PAIR_H
#define SMC_PAIR_H

#include "group/smc_core.h"

struct smc_diag_pairinfo;
struct smc_pair;

struct smc_pair *smc_pair_alloc(u32 client_size, u32 server_size);
void smc_pair_put(struct smc_pair *pair);
u32 smc_pair_get_count(void);
void smc_pair_join(struct smc_conn *conn, struct smc_pair *pair, enum smc_role role);
bool smc_pair_cut(struct smc_conn *conn);
void smc_pair_describe(const struct smc_conn *conn, struct smc_diag_pairinfo *info);

#endif /* SMC_PAIR_H */
