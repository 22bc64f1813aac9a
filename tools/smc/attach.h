/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF program of `smc attach` and the tool agree on. */
#ifndef TOOLS_SMC_ATTACH_H
#define TOOLS_SMC_ATTACH_H

#define ATTACH_MAX	4096	/* control groups */
#define ATTACH_LEVELS	64	/* depth of an attached control group */

#define ATTACH_MAP	"smc_cgroups"	/* the name of the map there */

#endif /* TOOLS_SMC_ATTACH_H */
