/* SPDX-License-Identifier: GPL-2.0 */
/* CLC messages in buffers of exactly their length. */
#ifndef SMC_KUNIT_CLC_H
#define SMC_KUNIT_CLC_H

#include "../../../net/smc/proto/smc_clc_wire.h"

/* As smc_clc_encode(), but 0 if the message does not fit into @buf. */
static inline size_t smc_kunit_clc_encode(const struct smc_clc_msg *msg, u8 *buf, size_t size)
{
	static u8 all[SMC_CLC_MSG_MAX_LEN];	/* too large for a stack */
	size_t len = smc_clc_encode(msg, all);

	if (len > size)
		return 0;
	memcpy(buf, all, len);
	return len;
}

#endif /* SMC_KUNIT_CLC_H */
