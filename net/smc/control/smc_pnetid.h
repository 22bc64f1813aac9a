/* SPDX-License-Identifier: GPL-2.0 */
/* Generic netlink: the table of PNETIDs. */
#ifndef SMC_PNETID_H
#define SMC_PNETID_H

int smc_pnetid_init(void);
void smc_pnetid_exit(void);

#endif /* SMC_PNETID_H */
