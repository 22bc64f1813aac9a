/* SPDX-License-Identifier: GPL-2.0 */
/* CLC messages on TCP's sock. */
#ifndef _SMC_CLC_H
#define _SMC_CLC_H

#include <linux/bits.h>
#include <linux/net.h>
#include <linux/types.h>

#include "proto/smc_clc_nego.h"
#include "proto/smc_clc_wire.h"

/* Sets of message types, for smc_clc_recv(). */
#define SMC_CLC_EXPECT(type)	BIT(type)

/**
 * struct smc_clc_rx - a message that has not arrived completely
 * @done: number of bytes that have arrived; 0 between messages
 * @bytes: those bytes
 */
struct smc_clc_rx {
	u16 done;
	u8 bytes[SMC_CLC_MSG_MAX_LEN];
};

/**
 * struct smc_clc_tx - a message to be sent
 * @len: its length
 * @done: number of bytes that TCP has taken
 * @bytes: the message
 */
struct smc_clc_tx {
	u16 len;
	u16 done;
	u8 bytes[SMC_CLC_MSG_MAX_LEN];
};

static inline bool smc_clc_is_pending(const struct smc_clc_tx *tx)
{
	return tx->done < tx->len;
}

int smc_clc_read(struct sock *sk, u8 *buf, size_t len);
int smc_clc_write(struct sock *sk, const u8 *buf, size_t len, int flags, u32 tsflags);
int smc_clc_recv(struct sock *sk, struct smc_clc_rx *rx,
		 struct smc_clc_msg *msg, u8 expected,
		 enum smc_decline *refused);
int smc_clc_prepare(struct smc_clc_tx *tx, const struct smc_clc_msg *msg);
int smc_clc_send(struct sock *sk, struct smc_clc_tx *tx, bool if_quiet);
bool smc_clc_is_acked(struct sock *sk);
int smc_clc_take_decline(struct sock *sk, struct smc_clc_rx *rx,
			 const u8 peer_id[SMC_PEER_ID_LEN]);

#endif /* _SMC_CLC_H */
