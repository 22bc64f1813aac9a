/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link layer control messages in host form. One struct serves requests, replies and every
 * version; only the functions declared here know the layout on the wire.
 */
#ifndef _SMC_LLC_WIRE_H
#define _SMC_LLC_WIRE_H

#include <linux/types.h>

#include "proto/smc_wire.h"

/* Layout of elements and ADD LINK in a link group. */
enum smc_dialect {
	SMC_DIALECT_RFC,	/* eye catcher, cursors from 4 */
	SMC_DIALECT_DEPLOYED,	/* no eye catcher, cursors from 0 */
};

/* Outcome of decoding. */
enum smc_llc_verdict {
	SMC_LLC_OK,		/* decoded */
	SMC_LLC_IGNORE,		/* optional and unknown, ERR-53 */
	SMC_LLC_LINK_DOWN,	/* out of sync, ERR-54, ERR-55 */
};

/* One end of a link. */
struct smc_llc_end {
	u8 mac[SMC_MAC_LEN];
	u8 gid[SMC_GID_LEN];
	u32 qpn;	/* queue pair number, 24 bits */
	u32 psn;	/* first packet sequence number, 24 bits; ADD LINK only */
	u8 mtu;		/* enum smc_mtu, not checked by the codec; ADD LINK only */
};

/* An RMB on one link. */
struct smc_llc_rtoken {
	u8 link_num;	/* number of that link; 0 where the message implies the link */
	u32 rkey;
	u64 vaddr;
};

/* An RMB on the link being added. */
struct smc_llc_pair {
	u32 ref_rkey;	/* its key on the link that carries the message */
	u32 rkey;	/* its key on the new link */
	u64 vaddr;	/* its address on the new link */
};

/* W9, A.3.1 */
struct smc_llc_confirm_link {
	struct smc_llc_end end;
	u32 link_uid;		/* for display only, LID-04 */
	u8 link_num;
	u8 max_links;		/* 0: not supplied, AMB-26 */
	u8 max_conns;		/* version 2.1; 0 in version 1 */
	bool no_eye_catcher;	/* the sender supports the deployed dialect */
	u8 ext;			/* enum smc_llc_ext: offered, or in a reply agreed on */
};

/* W10, A.3.2 */
struct smc_llc_add_link {
	struct smc_llc_end end;
	u8 link_num;
	bool is_rejected;	/* Z; replies only */
	u8 reason;		/* enum smc_llc_add_link_reason, with Z */
	bool is_direct;		/* version 2: the route has no gateway */
	u8 nr_pairs;		/* version 2: keys in the same message */
};

/* W11, A.3.3 */
struct smc_llc_add_link_cont {
	u8 link_num;
	u8 nr_rtokens;		/* still due, these included */
	struct smc_llc_pair pair[SMC_LLC_CONT_PAIRS];
};

/* W13, A.3.4 */
struct smc_llc_delete_link {
	u8 link_num;		/* 0 with is_all */
	bool is_all;
	bool is_orderly;
	u32 reason;		/* enum smc_llc_delete_link_reason */
};

/* W14, A.3.5 */
struct smc_llc_confirm_rkey {
	bool is_negative;	/* Z; replies only */
	bool may_retry;		/* C; replies only */
	u8 nr_rtokens;		/* other links in the whole exchange, AMB-01 */
	struct smc_llc_rtoken here;	/* on the link that carries the message */
	struct smc_llc_rtoken other[SMC_LLC_RKEY_SPECS];
};

/* W16, A.3.6 */
struct smc_llc_confirm_rkey_cont {
	bool is_negative;
	u8 nr_left;		/* still due, these included */
	struct smc_llc_rtoken other[SMC_LLC_RKEY_CONT_SPECS];
};

/* W17, A.3.7 */
struct smc_llc_delete_rkey {
	bool is_negative;
	u8 count;		/* 1..SMC_LLC_DELETE_RKEYS, or more if @is_long */
	u8 error_mask;		/* 0x80 stands for rkey[0]; replies only */
	u8 nr_unknown;		/* version 2, instead of @error_mask */
	bool is_nameless;	/* version 2: the reply lists no keys */
	bool is_long;		/* version 2: a longer message lists the keys */
	u32 rkey[SMC_LLC_SHORT_RKEYS];
};

/* W18, A.3.8 */
struct smc_llc_test_link {
	u8 user_data[SMC_LLC_USER_DATA_LEN];
};

/* Any LLC message; @type selects the member of the union. */
struct smc_llc_msg {
	/* enum smc_llc_type, selects the member of the union; none for SMC_LLC_REQ_ADD_LINK */
	u8 type;
	bool is_reply;	/* the R flag */
	union {
		struct smc_llc_confirm_link confirm_link;
		struct smc_llc_add_link add_link;
		struct smc_llc_add_link_cont add_link_cont;
		struct smc_llc_delete_link delete_link;
		struct smc_llc_confirm_rkey confirm_rkey;
		struct smc_llc_confirm_rkey_cont confirm_rkey_cont;
		struct smc_llc_delete_rkey delete_rkey;
		struct smc_llc_test_link test_link;
	};
};

enum smc_llc_verdict smc_llc_decode(const u8 *buf, u32 len, enum smc_dialect dialect,
				    struct smc_llc_msg *msg);
int smc_llc_encode(const struct smc_llc_msg *msg, enum smc_dialect dialect, u8 *buf,
		   u32 size);
void smc_llc_pair_get(const struct smc_llc_rtoken_pair_wire *wire, struct smc_llc_pair *pair);
void smc_llc_pair_put(const struct smc_llc_pair *pair, struct smc_llc_rtoken_pair_wire *wire);
const char *smc_llc_dialect_name(enum smc_dialect dialect);

#endif /* _SMC_LLC_WIRE_H */
