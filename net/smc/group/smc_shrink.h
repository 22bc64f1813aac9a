/* SPDX-License-Identifier: GPL-2.0 */
/* Shrinker: unused rings go back when memory is short. */
#ifndef SMC_SHRINK_H
#define SMC_SHRINK_H

int smc_shrink_init(void);
void smc_shrink_exit(void);

#endif /* SMC_SHRINK_H */
