/* SPDX-License-Identifier: GPL-2.0 */
/* The TCP option by which a SYN or SYN-ACK offers SMC-R. */
#ifndef SMC_TCP_OPTION_H
#define SMC_TCP_OPTION_H

#include <linux/types.h>

enum smc_tcp_option_size {
	SMC_TCP_HDR_LEN		= 20,	/* without options */
	SMC_TCP_HDR_MAX		= 60,
	SMC_TCP_OPTION_ROOM	= 8,	/* of the option, aligned by two NOPs */
};

bool smc_tcp_option_find(const u8 *hdr, unsigned int len);
bool smc_tcp_option_may_add(const u8 *hdr, unsigned int len);
void smc_tcp_option_add(u8 *hdr, bool is_partial);

#endif /* SMC_TCP_OPTION_H */
