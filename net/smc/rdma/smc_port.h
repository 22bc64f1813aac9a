/* SPDX-License-Identifier: GPL-2.0 */
/* Changes of the network devices of ports */
#ifndef SMC_PORT_H
#define SMC_PORT_H

int smc_port_init(void);
void smc_port_exit(void);

#endif /* SMC_PORT_H */
