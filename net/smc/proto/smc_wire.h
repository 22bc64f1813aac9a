/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layouts of CLC, LLC and CDC messages, RFC 7609 Appendix A.
 *
 * A _wire struct is laid over message bytes at any alignment: all are packed, and integers are
 * big-endian unless noted. Only the codecs (smc_clc_wire.c, smc_llc_wire.c, smc_llc_v2.c,
 * smc_cdc_wire.c with smc_cursor.h) access them. "deployed" in a name marks a layout of deployed
 * peers that differs from the RFC; "v2" marks version 2.
 */
#ifndef _SMC_WIRE_H
#define _SMC_WIRE_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#define SMC_WIRE_SIZE(type, size) \
	static_assert(sizeof(struct type) == (size))

/* "SMCR" in EBCDIC (IBM-1047) */
#define SMC_EYE_SMCR		0xe2d4c3d9U
/* An eye catcher occupies the first bytes of an element, RMB-12. */
#define SMC_EYE_CATCHER_LEN	4

enum smc_wire_limit {
	SMC_PEER_ID_LEN		= 8,
	SMC_GID_LEN		= 16,
	SMC_MAC_LEN		= 6,
	SMC_CLC_HDR_LEN		= 8,
	SMC_CLC_TRL_LEN		= 4,
	SMC_CLC_PREFIXES_MAX	= 8,
	SMC_CLC_PREFIX_BITS_MAX	= 128,
	SMC_CLC_MASK_BITS_MAX	= 32,
	SMC_CLC_PROPOSAL_MIN_LEN = 52,
	SMC_CLC_ACCEPT_LEN	= 68,
	SMC_CLC_DECLINE_LEN	= 28,
	SMC_CLC_DECLINE_V2_LEN	= 44,
	SMC_CLC_ACCEPT_V2_LEN	= 108,
	SMC_CLC_EIDS_MAX	= 8,
	SMC_CLC_GIDS_MAX	= 8,
	SMC_CLC_HOST_LEN	= 32,
	SMC_EID_LEN		= 32,
	SMC_LLC_LEN		= 44,
	SMC_LLC_USER_DATA_LEN	= 16,
	SMC_LLC_CONT_PAIRS	= 2,
	SMC_LLC_RKEY_SPECS	= 2,
	SMC_LLC_RKEY_CONT_SPECS	= 3,
	SMC_LLC_DELETE_RKEYS	= 8,
	/* Version 2 fits one more key into the same 44 bytes. */
	SMC_LLC_SHORT_RKEYS	= 9,
	SMC_LLC_LONG_KEYS	= 255,
	SMC_LLC_LONG_GIDS	= 8,
	SMC_CDC_LEN		= 44,
	/* Deployed receivers read only this many bytes of a CDC. */
	SMC_CDC_USED_LEN	= 26,
};

/* The first byte of a message on a link; other values are LLC types. */
#define SMC_CDC_TYPE		0xfe

/* W2 Peer ID, A.2.1 */
struct smc_peer_id_wire {
	u8	instance[2];
	u8	mac[SMC_MAC_LEN];
} __packed;
SMC_WIRE_SIZE(smc_peer_id_wire, SMC_PEER_ID_LEN);

/* Flags and fields of one byte are enums of masks; _SHIFT is a field's lowest bit. */
enum smc_clc_type {
	SMC_CLC_PROPOSAL	= 1,
	SMC_CLC_ACCEPT		= 2,
	SMC_CLC_CONFIRM		= 3,
	SMC_CLC_DECLINE		= 4,
};

/* Byte 7 of every CLC message. */
enum smc_clc_flag {
	SMC_CLC_VERSION_MASK	= 0xf0,
	SMC_CLC_VERSION_SHIFT	= 4,
	SMC_CLC_FIRST_CONTACT	= 0x08,	/* Accept; deployed: Confirm too */
	SMC_CLC_OUT_OF_SYNC	= 0x08,	/* Decline */
	SMC_CLC_TYPEV2_MASK	= 0x0c,	/* deployed; reserved in the RFC */
	SMC_CLC_TYPEV2_SHIFT	= 2,
	SMC_CLC_TYPEV1_MASK	= 0x03,	/* deployed; reserved in the RFC */
	SMC_CLC_TYPEV1_SHIFT	= 0,
};

/* Values of TYPEV1 and TYPEV2 */
enum smc_clc_path {
	SMC_CLC_PATH_R		= 0,
	SMC_CLC_PATH_D		= 1,
	SMC_CLC_PATH_NONE	= 2,
	SMC_CLC_PATH_BOTH	= 3,
};

enum smc_clc_version {
	SMC_CLC_V1		= 1,
	SMC_CLC_V2		= 2,
};

/* Byte 50 of Accept and Confirm. */
enum smc_clc_size_mtu {
	SMC_CLC_BSIZE_MASK	= 0xf0,
	SMC_CLC_BSIZE_SHIFT	= 4,
	SMC_CLC_MTU_MASK	= 0x0f,
};

/* Bsize x means an element of 2^(x + 14) bytes. */
enum smc_bsize {
	SMC_BSIZE_MIN		= 0,
	SMC_BSIZE_RFC_MAX	= 5,
	SMC_BSIZE_DEPLOYED_MAX	= 15,
	SMC_BSIZE_LOG2_BASE	= 14,
};

/* Path MTUs, numbered as in the verbs */
enum smc_mtu {
	SMC_MTU_256		= 1,
	SMC_MTU_512		= 2,
	SMC_MTU_1024		= 3,
	SMC_MTU_2048		= 4,
	SMC_MTU_4096		= 5,
};

struct smc_clc_hdr_wire {
	__be32	eye;
	u8	type;
	__be16	length;
	u8	flags;
} __packed;
SMC_WIRE_SIZE(smc_clc_hdr_wire, SMC_CLC_HDR_LEN);

struct smc_clc_trl_wire {
	__be32	eye;
} __packed;
SMC_WIRE_SIZE(smc_clc_trl_wire, SMC_CLC_TRL_LEN);

/*
 * W3 Proposal, A.2.2: followed by a growth area of ip_area_offset bytes, the IP area, its IPv6
 * prefixes and the trailer.
 */
struct smc_clc_proposal_wire {
	struct smc_clc_hdr_wire	hdr;
	struct smc_peer_id_wire	peer_id;
	u8			gid[SMC_GID_LEN];
	u8			mac[SMC_MAC_LEN];
	__be16			ip_area_offset;
} __packed;
SMC_WIRE_SIZE(smc_clc_proposal_wire, 40);

/* The growth area of deployed peers, always 40 bytes */
struct smc_clc_growth_deployed_wire {
	u8	ism_gid[8];
	__be16	ism_chid;
	__be16	v2_offset;	/* from the end of this field */
	u8	vendor_oui[3];
	u8	vendor_options[5];
	u8	rsvd[20];
} __packed;
SMC_WIRE_SIZE(smc_clc_growth_deployed_wire, 40);

struct smc_clc_ip_area_wire {
	__be32	subnet;
	u8	mask_len;
	u8	rsvd[2];
	u8	nr_prefixes;
} __packed;
SMC_WIRE_SIZE(smc_clc_ip_area_wire, 8);

/* W4 IPv6 prefix element, Figure 27 */
struct smc_clc_prefix_wire {
	u8	prefix[16];
	u8	len;
} __packed;
SMC_WIRE_SIZE(smc_clc_prefix_wire, 17);

/* W5 Accept and W6 Confirm, A.2.3 and A.2.4 */
struct smc_clc_accept_wire {
	struct smc_clc_hdr_wire	hdr;
	struct smc_peer_id_wire	peer_id;
	u8			gid[SMC_GID_LEN];
	u8			mac[SMC_MAC_LEN];
	u8			qpn[3];
	__be32			rkey;
	u8			rmbe_index;	/* the first is 1 */
	__be32			token;
	u8			size_mtu;
	u8			rsvd1;
	__be64			rmb_addr;
	u8			rsvd2;
	u8			psn[3];
	struct smc_clc_trl_wire	trl;
} __packed;
SMC_WIRE_SIZE(smc_clc_accept_wire, SMC_CLC_ACCEPT_LEN);

/* W7 Decline, A.2.5 */
struct smc_clc_decline_wire {
	struct smc_clc_hdr_wire	hdr;
	struct smc_peer_id_wire	peer_id;
	__be32			diagnosis;
	u8			rsvd[4];
	struct smc_clc_trl_wire	trl;
} __packed;
SMC_WIRE_SIZE(smc_clc_decline_wire, SMC_CLC_DECLINE_LEN);

/*
 * Deployed servers answer every Proposal of header version 2 with this Decline, so a version 1
 * client must decode it, too.
 */
struct smc_clc_decline_v2_wire {
	struct smc_clc_hdr_wire	hdr;
	struct smc_peer_id_wire	peer_id;
	__be32			diagnosis;
	u8			os;		/* 0xf0: operating system */
	u8			rsvd[3];
	__be32			more_diagnosis[4];
	struct smc_clc_trl_wire	trl;
} __packed;
SMC_WIRE_SIZE(smc_clc_decline_v2_wire, SMC_CLC_DECLINE_V2_LEN);

/* Byte 3 of the version 2 extension of a Proposal. */
enum smc_clc_v2_flag {
	SMC_CLC_RELEASE_MASK	= 0xf0,
	SMC_CLC_RELEASE_SHIFT	= 4,
	SMC_CLC_SEID_OFFERED	= 0x01,
};

/* The EIDs follow. */
struct smc_clc_v2_ext_wire {
	u8	nr_eids;
	u8	nr_ism_gids;
	u8	rsvd1;
	u8	flags;
	u8	rsvd2[2];
	__be16	ism_offset;	/* from the end of this field */
	u8	gid[SMC_GID_LEN];
	u8	max_conns;	/* release 1, as are the next two */
	u8	max_links;
	__be16	features;
	u8	rsvd3[12];
} __packed;
SMC_WIRE_SIZE(smc_clc_v2_ext_wire, 40);

/* SMC-D only, not decoded; the GIDs follow. */
struct smc_clc_ism_ext_wire {
	u8	seid[SMC_EID_LEN];
	u8	rsvd[16];
} __packed;
SMC_WIRE_SIZE(smc_clc_ism_ext_wire, 48);

struct smc_clc_ism_gid_wire {
	u8	gid[8];
	__be16	chid;
} __packed;
SMC_WIRE_SIZE(smc_clc_ism_gid_wire, 10);

/* Replaces the trailer in Accept and Confirm of version 2. */
struct smc_clc_v2_tail_wire {
	u8	eid[SMC_EID_LEN];
	u8	rsvd[8];
} __packed;
SMC_WIRE_SIZE(smc_clc_v2_tail_wire, 40);

/* The first-contact extension follows that; older peers end it before max_conns. */
enum smc_clc_fce_flag {
	SMC_CLC_FCE_DIRECT		= 0x80,	/* first byte */
	SMC_CLC_FCE_OS_SHIFT		= 4,	/* second byte */
	SMC_CLC_FCE_RELEASE_MASK	= 0x0f,
};

enum smc_clc_os {
	SMC_CLC_OS_ZOS		= 1,
	SMC_CLC_OS_LINUX	= 2,
	SMC_CLC_OS_AIX		= 3,
};

struct smc_clc_fce_wire {
	u8	flags;
	u8	os_release;
	u8	rsvd1[2];
	u8	host[SMC_CLC_HOST_LEN];	/* ASCII, blank padded */
	u8	max_conns;
	u8	max_links;
	__be16	features;
	__be32	vendor;
	u8	rsvd2[8];
} __packed;
SMC_WIRE_SIZE(smc_clc_fce_wire, 52);

/* Last in a Confirm: the GIDs that the client could use */
struct smc_clc_gid_list_wire {
	u8	count;
	u8	rsvd[3];
	u8	gid[][SMC_GID_LEN];
} __packed;
SMC_WIRE_SIZE(smc_clc_gid_list_wire, 4);

/* W8 LLC header, A.3 */
enum smc_llc_type {
	SMC_LLC_CONFIRM_LINK		= 1,
	SMC_LLC_ADD_LINK		= 2,
	SMC_LLC_ADD_LINK_CONT		= 3,
	SMC_LLC_DELETE_LINK		= 4,
	SMC_LLC_REQ_ADD_LINK		= 5,	/* version 2 only */
	SMC_LLC_CONFIRM_RKEY		= 6,
	SMC_LLC_TEST_LINK		= 7,
	SMC_LLC_CONFIRM_RKEY_CONT	= 8,
	SMC_LLC_DELETE_RKEY		= 9,
};

/* The two top bits of an unknown type tell the receiver how to treat it. */
enum smc_llc_type_class {
	SMC_LLC_TYPE_CLASS_MASK		= 0xc0,
	SMC_LLC_TYPE_MAY_IGNORE		= 0x80,
};

/*
 * Version 2 puts its number into the type's high half. A length of two bytes, little endian
 * (smc_llc_v2.c), replaces length and reason.
 */
enum smc_llc_v2_type {
	SMC_LLC_V2_TYPE_MASK		= 0xf0,
	SMC_LLC_V2_TYPE			= 0x20,
};

/* Byte 3 of every LLC message. */
enum smc_llc_flag {
	SMC_LLC_REPLY			= 0x80,
	SMC_LLC_ADD_LINK_REJECT		= 0x40,
	SMC_LLC_DELETE_LINK_ALL		= 0x40,
	SMC_LLC_DELETE_LINK_ORDERLY	= 0x20,
	SMC_LLC_RKEY_NEGATIVE		= 0x20,
	SMC_LLC_RKEY_RETRY		= 0x10,
	/* CONFIRM LINK, deployed: the sender's elements have no eye catcher. */
	SMC_LLC_NO_EYE_CATCHER		= 0x03,
};

struct smc_llc_hdr_wire {
	u8	type;
	u8	length;
	u8	reason;		/* ADD LINK: low nibble; others: reserved */
	u8	flags;
} __packed;
SMC_WIRE_SIZE(smc_llc_hdr_wire, 4);

/*
 * Our extension of CONFIRM LINK, in bytes that the RFC reserves (protocol.md). Request and reply
 * differ, so that a copied request is no reply.
 */
#define SMC_LLC_EXT_OFFER	0x5ae293c7U
#define SMC_LLC_EXT_AGREED	(~SMC_LLC_EXT_OFFER)

enum smc_llc_ext {
	SMC_LLC_EXT_IMMEDIATE		= 0x01,	/* immediate data in place of a CDC */
	SMC_LLC_EXT_LANDING		= 0x02,	/* connections without a link go on in TCP */
	SMC_LLC_EXT_ALL			= 0x03,
};

/* W9 CONFIRM LINK, A.3.1 */
struct smc_llc_confirm_link_wire {
	struct smc_llc_hdr_wire	hdr;
	u8			mac[SMC_MAC_LEN];
	u8			gid[SMC_GID_LEN];
	u8			qpn[3];
	u8			link_num;
	__be32			link_user_id;
	u8			max_links;
	u8			max_conns;	/* reserved in version 1 */
	__be32			ext;		/* reserved in the RFC, as is the next one */
	u8			ext_mask;
	u8			rsvd[3];
} __packed;
SMC_WIRE_SIZE(smc_llc_confirm_link_wire, SMC_LLC_LEN);

/* W10 ADD LINK, A.3.2 */
enum smc_llc_add_link_reason {
	SMC_LLC_ADD_LINK_REASON_MASK	= 0x0f,
	SMC_LLC_ADD_LINK_NO_PATH	= 1,
	SMC_LLC_ADD_LINK_BAD_MTU	= 2,
};

enum smc_llc_add_link_mtu {
	SMC_LLC_ADD_LINK_MTU_MASK	= 0x0f,
};

struct smc_llc_add_link_wire {
	struct smc_llc_hdr_wire	hdr;
	u8			mac[SMC_MAC_LEN];
	u8			gid[SMC_GID_LEN];
	u8			qpn[3];
	u8			link_num;
	u8			mtu;
	u8			psn[3];
	u8			rsvd[10];
} __packed;
SMC_WIRE_SIZE(smc_llc_add_link_wire, SMC_LLC_LEN);

/* Deployed peers insert two bytes after the MAC. */
struct smc_llc_add_link_deployed_wire {
	struct smc_llc_hdr_wire	hdr;
	u8			mac[SMC_MAC_LEN];
	u8			pad[2];
	u8			gid[SMC_GID_LEN];
	u8			qpn[3];
	u8			link_num;
	u8			mtu;
	u8			psn[3];
	u8			rsvd[8];
} __packed;
SMC_WIRE_SIZE(smc_llc_add_link_deployed_wire, SMC_LLC_LEN);

/* W12 RKey/RToken pair, Figure 34 */
struct smc_llc_rtoken_pair_wire {
	__be32	ref_rkey;
	__be32	rkey;
	__be64	addr;
} __packed;
SMC_WIRE_SIZE(smc_llc_rtoken_pair_wire, 16);

/* W11 ADD LINK CONTINUATION, A.3.3 */
struct smc_llc_add_link_cont_wire {
	struct smc_llc_hdr_wire		hdr;
	u8				link_num;
	u8				nr_rtokens;
	u8				rsvd1[2];
	struct smc_llc_rtoken_pair_wire	pair[SMC_LLC_CONT_PAIRS];
	u8				rsvd2[4];
} __packed;
SMC_WIRE_SIZE(smc_llc_add_link_cont_wire, SMC_LLC_LEN);

/* ADD LINK of version 2: the deployed form, then the sender's GID again and all keys */
enum smc_llc_add_link_v2_flag {
	SMC_LLC_ADD_LINK_DIRECT	= 0x80,
};

struct smc_llc_add_link_v2_wire {
	struct smc_llc_add_link_deployed_wire	head;
	u8					flags;
	u8					rsvd1;
	u8					gid[SMC_GID_LEN];
	u8					rsvd2[8];
	u8					nr_rtokens[2];	/* little endian */
	struct smc_llc_rtoken_pair_wire		pair[];
} __packed;
SMC_WIRE_SIZE(smc_llc_add_link_v2_wire, 72);

/* REQ ADD LINK, version 2 only: the client asks for another link. */
struct smc_llc_req_add_link_wire {
	u8	type;
	u8	length[2];	/* little endian */
	u8	flags;
	u8	rsvd1[20];
	u8	nr_gids;
	u8	rsvd2[3];
	u8	gid[][SMC_GID_LEN];
} __packed;
SMC_WIRE_SIZE(smc_llc_req_add_link_wire, 28);

/* W13 DELETE LINK, A.3.4 */
enum smc_llc_delete_link_reason {
	SMC_LLC_DELETE_LOST_PATH	= 0x00010000,
	SMC_LLC_DELETE_OPERATOR		= 0x00020000,
	SMC_LLC_DELETE_PROGRAM		= 0x00030000,
	SMC_LLC_DELETE_PROTOCOL		= 0x00040000,
	SMC_LLC_DELETE_ASYMMETRIC	= 0x00050000,
	SMC_LLC_DELETE_UNKNOWN_LINK	= 0x00100000,
};

struct smc_llc_delete_link_wire {
	struct smc_llc_hdr_wire	hdr;
	u8			link_num;
	__be32			reason;
	u8			rsvd[35];
} __packed;
SMC_WIRE_SIZE(smc_llc_delete_link_wire, SMC_LLC_LEN);

/* W15 Link number/RKey spec, Figure 37 */
struct smc_llc_rkey_spec_wire {
	u8	link_num;
	__be32	rkey;
	__be64	addr;
} __packed;
SMC_WIRE_SIZE(smc_llc_rkey_spec_wire, 13);

/* W14 CONFIRM RKEY, A.3.5 */
struct smc_llc_confirm_rkey_wire {
	struct smc_llc_hdr_wire		hdr;
	u8				nr_rtokens;
	__be32				rkey;
	__be64				addr;
	struct smc_llc_rkey_spec_wire	spec[SMC_LLC_RKEY_SPECS];
	u8				rsvd;
} __packed;
SMC_WIRE_SIZE(smc_llc_confirm_rkey_wire, SMC_LLC_LEN);

/* W16 CONFIRM RKEY CONTINUATION, A.3.6 (AMB-02) */
struct smc_llc_confirm_rkey_cont_wire {
	struct smc_llc_hdr_wire		hdr;
	u8				nr_left;
	struct smc_llc_rkey_spec_wire	spec[SMC_LLC_RKEY_CONT_SPECS];
} __packed;
SMC_WIRE_SIZE(smc_llc_confirm_rkey_cont_wire, SMC_LLC_LEN);

/* W17 DELETE RKEY, A.3.7; 0x80 of error_mask is the first key. */
struct smc_llc_delete_rkey_wire {
	struct smc_llc_hdr_wire	hdr;
	u8			count;
	u8			error_mask;
	u8			rsvd1[2];
	__be32			rkey[SMC_LLC_DELETE_RKEYS];
	u8			rsvd2[4];
} __packed;
SMC_WIRE_SIZE(smc_llc_delete_rkey_wire, SMC_LLC_LEN);

/* W18 TEST LINK, A.3.8 */
struct smc_llc_test_link_wire {
	struct smc_llc_hdr_wire	hdr;
	u8			user_data[SMC_LLC_USER_DATA_LEN];
	u8			rsvd[24];
} __packed;
SMC_WIRE_SIZE(smc_llc_test_link_wire, SMC_LLC_LEN);

/* W19 CDC, A.4 */
enum smc_cdc_prod_flag {
	SMC_CDC_BLOCKED		= 0x80,	/* B */
	SMC_CDC_URG_PENDING	= 0x40,	/* P */
	SMC_CDC_URG_PRESENT	= 0x20,	/* U */
	SMC_CDC_UPDATE_REQ	= 0x10,	/* R */
	SMC_CDC_FAILOVER	= 0x08,	/* F */
};

enum smc_cdc_conn_flag {
	SMC_CDC_DONE		= 0x80,	/* D: sending done */
	SMC_CDC_CLOSED		= 0x40,	/* C: connection closed */
	SMC_CDC_ABORT		= 0x20,	/* A: abnormal close */
	SMC_CDC_FINAL		= SMC_CDC_CLOSED | SMC_CDC_ABORT, /* the last message */
};

struct smc_cursor_wire {
	u8	rsvd[2];
	__be16	wrap;
	__be32	off;
} __packed;
SMC_WIRE_SIZE(smc_cursor_wire, 8);

struct smc_cdc_wire {
	u8			type;
	u8			length;
	__be16			seq;
	__be32			token;
	struct smc_cursor_wire	prod;
	struct smc_cursor_wire	cons;
	u8			prod_flags;
	u8			conn_flags;
	u8			rsvd[18];
} __packed;
SMC_WIRE_SIZE(smc_cdc_wire, SMC_CDC_LEN);

/* QP numbers and packet sequence numbers have 24 bits. */
static inline u32 smc_wire_get24(const u8 p[3])
{
	return (u32)p[0] << 16 | (u32)p[1] << 8 | p[2];
}

static inline void smc_wire_put24(u8 p[3], u32 v)
{
	p[0] = v >> 16;
	p[1] = v >> 8;
	p[2] = v;
}

#endif /* _SMC_WIRE_H */
