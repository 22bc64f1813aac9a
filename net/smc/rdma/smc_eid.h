/* SPDX-License-Identifier: GPL-2.0 */
/* EIDs of this host: names of host groups. Two hosts use SMC-R version 2 if they share an EID. */
#ifndef SMC_EID_H
#define SMC_EID_H

#include <linux/types.h>

#include "proto/smc_wire.h"

/* Limit of deployed kernels; the default EID is extra. */
#define SMC_EIDS_USER_MAX	4

/* Of net.smc.default_eid */
enum smc_eid_default {
	SMC_EID_DEFAULT_NEVER,
	SMC_EID_DEFAULT_ALWAYS,
	SMC_EID_DEFAULT_NEAR,	/* towards hosts in a subnet of this one */
};

/* Added by net.smc.default_eid; every EID is blank padded. */
#define SMC_EID_DEFAULT		"SMC-R.DEFAULT-EID               "

static_assert(sizeof(SMC_EID_DEFAULT) - 1 == SMC_EID_LEN);

int smc_eid_add(const u8 eid[SMC_EID_LEN]);
int smc_eid_remove(const u8 eid[SMC_EID_LEN]);
void smc_eid_flush(void);
bool smc_eid_any(bool has_default);
bool smc_eid_is_added(const u8 eid[SMC_EID_LEN]);
bool smc_eid_get(unsigned int i, u8 eid[SMC_EID_LEN]);
unsigned int smc_eid_list(bool has_default, u8 eid[SMC_CLC_EIDS_MAX][SMC_EID_LEN]);

#endif /* SMC_EID_H */
