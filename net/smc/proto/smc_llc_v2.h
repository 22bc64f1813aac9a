/* SPDX-License-Identifier: GPL-2.0 */
/* The two wire forms of LLC messages: RFC 7609, and SMC-R version 2 with long messages. */
#ifndef _SMC_LLC_V2_H
#define _SMC_LLC_V2_H

#include "proto/smc_llc_wire.h"

/* Form that a link group sends; follows from the negotiated version. */
enum smc_llc_form {
	SMC_LLC_FORM_V1,	/* RFC 7609, 44 bytes */
	SMC_LLC_FORM_V2,	/* other header, 44 bytes or more */
};

/**
 * struct smc_llc_more - list of a long message
 * @nr: entries, at most SMC_LLC_LONG_KEYS, or SMC_LLC_LONG_GIDS for GIDs
 * @pair: RMBs on the new link; ADD LINK
 * @gid: GIDs that a link could use; REQ ADD LINK
 * @rkey: RMBs to delete, if &struct smc_llc_delete_rkey has too little room
 */
struct smc_llc_more {
	unsigned int nr;
	const struct smc_llc_pair *pair;
	const u8 (*gid)[SMC_GID_LEN];
	const u32 *rkey;
};

enum smc_llc_verdict smc_llc_form_decode(enum smc_llc_form form, const u8 *buf, u32 len,
					 enum smc_dialect dialect, struct smc_llc_msg *msg);
int smc_llc_form_encode(enum smc_llc_form form, const struct smc_llc_msg *msg,
			const struct smc_llc_more *more, enum smc_dialect dialect, u8 *buf,
			u32 size);
bool smc_llc_form_has_long(enum smc_llc_form form);
bool smc_llc_form_answer_test_link(enum smc_llc_form form, const u8 *buf, u32 len, u8 *reply);

void smc_llc_form_pair(const u8 *buf, unsigned int i, struct smc_llc_pair *pair);
u32 smc_llc_form_rkey(const u8 *buf, unsigned int i);

#endif /* _SMC_LLC_V2_H */
