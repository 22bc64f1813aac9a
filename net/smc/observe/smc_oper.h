/* SPDX-License-Identifier: GPL-2.0 */
/* The operator's hand on link groups and links. */
#ifndef SMC_OPER_H
#define SMC_OPER_H

void smc_oper_init(void);
void smc_oper_exit(void);

#endif /* SMC_OPER_H */
