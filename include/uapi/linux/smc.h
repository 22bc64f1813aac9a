/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * User-space interface of AF_SMC sockets: their creation, their options, and
 * the generic netlink families that tools use.
 *
 * All numbers are explicit: they are the interface, and must not change when
 * a line is added. Numbers from 64 on are of this module, far from numbers that
 * others may add; programs that do not know them ignore them.
 */
#ifndef _UAPI_LINUX_SMC_H_
#define _UAPI_LINUX_SMC_H_

#include <linux/types.h>

/* Third argument of socket(AF_SMC, SOCK_STREAM, ...) */
#define SMCPROTO_SMC	0	/* over IPv4 */
#define SMCPROTO_SMC6	1	/* over IPv6, or IPv4 through mapped addresses */

/* Level SOL_SMC (286) of getsockopt() and setsockopt() */
#define SMC_LIMIT_HS	1	/* int, non-zero: on; takes effect at once */

/*
 * Generic netlink family for PNETIDs, names of physical networks. Each network
 * namespace has a table of its own. An entry belongs to a network device or to
 * a port of an RDMA device; each has one at most. A connection that is routed
 * by a network device may use the RDMA ports with the same PNETID.
 */
#define SMCR_GENL_FAMILY_NAME		"SMC_PNETID"
#define SMCR_GENL_FAMILY_VERSION	1

/*
 * A '*' at the end of ETHNAME or IBNAME matches any rest. The device need not
 * exist. Changes need CAP_NET_ADMIN in the user namespace of the network
 * namespace, those that add IBNAME in the first user namespace.
 */
#define SMC_MAX_PNETID_LEN	16	/* without the final NUL */

/* From Documentation/netlink/smc_pnetid.yaml, by scripts/gen-netlink */
enum smc_pnetid_cmd {
	SMC_PNETID_GET		= 1,	/* dump; or the entries of name, as a dump */
	SMC_PNETID_ADD		= 2,	/* name with ethname, ibname or both */
	SMC_PNETID_DEL		= 3,	/* all entries of name */
	SMC_PNETID_FLUSH	= 4,	/* all entries */
};

/*
 * An answer has all four attributes; what an entry does not have is "n/a", or
 * 255 for the port
 */
enum smc_pnetid_attr {
	SMC_PNETID_UNSPEC	= 0,
	SMC_PNETID_NAME		= 1,	/* string, 1 to 16 letters and digits */
	SMC_PNETID_ETHNAME	= 2,	/* string, at most 15 characters */
	SMC_PNETID_IBNAME	= 3,	/* string, at most 63; or the parent's name */
	SMC_PNETID_IBPORT	= 4,	/* u8, 1 (the default) or 2 */

	SMC_PNETID_MAX		= 4,
};

/* end of Documentation/netlink/smc_pnetid.yaml */

/* Generic netlink family for everything else */
#define SMC_GENL_FAMILY_NAME	"SMC_GEN_NETLINK"
#define SMC_GENL_FAMILY_VERSION	1

#define SMC_GENL_EVENTS		"events"	/* multicast group */
#define SMC_GENL_ENDS		"ends"		/* that of SMC_NETLINK_EVENT_CONN_END */
#define SMC_LGR_BUF_VIRTUAL	1	/* rings are virtually contiguous */
#define SMC_MAX_EID_LEN		32	/* padded with blanks, without the final NUL */
#define SMC_MAX_UEID		4	/* ids a host can have */

/* From Documentation/netlink/smc.yaml, by scripts/gen-netlink */
/* Reasons to use TCP */
enum smc_decline_reason {
	SMC_CLC_DECL_MEM	= 0x01010000,
	SMC_CLC_DECL_TIMEOUT_CL	= 0x02010000,
	SMC_CLC_DECL_TIMEOUT_AL	= 0x02020000,
	SMC_CLC_DECL_CNFERR	= 0x03000000,
	SMC_CLC_DECL_PEERNOSMC	= 0x03010000,
	SMC_CLC_DECL_IPSEC	= 0x03020000,
	SMC_CLC_DECL_NOSMCDEV	= 0x03030000,
	SMC_CLC_DECL_NOSMCDDEV	= 0x03030001,
	SMC_CLC_DECL_NOSMCRDEV	= 0x03030002,
	SMC_CLC_DECL_NOISM2SUPP	= 0x03030003,
	SMC_CLC_DECL_NOV2EXT	= 0x03030004,
	SMC_CLC_DECL_NOV2DEXT	= 0x03030005,
	SMC_CLC_DECL_NOSEID	= 0x03030006,
	SMC_CLC_DECL_NOSMCD2DEV	= 0x03030007,
	SMC_CLC_DECL_NOUEID	= 0x03030008,
	SMC_CLC_DECL_RELEASEERR	= 0x03030009,
	SMC_CLC_DECL_MAXCONNERR	= 0x0303000a,
	SMC_CLC_DECL_MAXLINKERR	= 0x0303000b,
	SMC_CLC_DECL_MODEUNSUPP	= 0x03040000,
	SMC_CLC_DECL_RMBE_EC	= 0x03050000,
	SMC_CLC_DECL_OPTUNSUPP	= 0x03060000,
	SMC_CLC_DECL_DIFFPREFIX	= 0x03070000,
	SMC_CLC_DECL_GETVLANERR	= 0x03080000,
	SMC_CLC_DECL_ISMVLANERR	= 0x03090000,
	SMC_CLC_DECL_NOACTLINK	= 0x030a0000,
	SMC_CLC_DECL_NOSRVLINK	= 0x030b0000,
	SMC_CLC_DECL_VERSMISMAT	= 0x030c0000,
	SMC_CLC_DECL_MAX_DMB	= 0x030d0000,
	SMC_CLC_DECL_NOROUTE	= 0x030e0000,
	SMC_CLC_DECL_NOINDIRECT	= 0x030f0000,
	SMC_CLC_DECL_POLICY	= 0x03f00000,	/* of this module; in no Decline */
	SMC_CLC_DECL_DRAIN	= 0x03f10000,	/* of this module; in no Decline */
	SMC_CLC_DECL_LGRLIMIT	= 0x03f20000,	/* of this module */
	SMC_CLC_DECL_UNFIT	= 0x03f30000,	/* of this module */
	SMC_CLC_DECL_SYNCERR	= 0x04000000,
	SMC_CLC_DECL_PEERDECL	= 0x05000000,
	SMC_CLC_DECL_INTERR	= 0x09990000,
	SMC_CLC_DECL_ERR_RTOK	= 0x09990001,
	SMC_CLC_DECL_ERR_RDYLNK	= 0x09990002,
	SMC_CLC_DECL_ERR_REGBUF	= 0x09990003,
};

/* Types of link groups */
enum smc_lgr_kind {
	SMC_LGR_NONE			= 0,
	SMC_LGR_SINGLE			= 1,
	SMC_LGR_SYMMETRIC		= 2,
	SMC_LGR_ASYMMETRIC_PEER		= 3,	/* we have two ports */
	SMC_LGR_ASYMMETRIC_LOCAL	= 4,	/* we have one port */
};

/* States of links */
enum smc_link_condition {
	SMC_LINK_IS_UNUSED	= 0,
	SMC_LINK_IS_INACTIVE	= 1,
	SMC_LINK_IS_ACTIVATING	= 2,
	SMC_LINK_IS_ACTIVE	= 3,
};

/* How the path to a host failed */
enum smc_peer_condition {
	SMC_PEER_NO_PATH	= 0,	/* not known to have worked */
	SMC_PEER_LOST_PATH	= 1,	/* it carried a link group */
	SMC_PEER_NO_ROUTE	= 2,	/* only the routed path; another one is in use */
	SMC_PEER_NO_PROPOSAL	= 3,	/* as a client it sends none after the TCP option */
};

enum smc_genl_cmd {
	SMC_NETLINK_GET_SYS_INFO		= 1,	/* Facts about the module */
	SMC_NETLINK_GET_LGR_SMCR		= 2,	/* Active link groups, a message each */
	/*
	 * Links in use; a message with their group, which has the number of
	 * get-lgr-smcr, precedes those of each group
	 */
	SMC_NETLINK_GET_LINK_SMCR		= 3,
	/* Link groups of SMC-D; the answer is empty */
	SMC_NETLINK_GET_LGR_SMCD		= 4,
	SMC_NETLINK_GET_DEV_SMCD		= 5,	/* Devices of SMC-D; the answer is empty */
	/*
	 * RDMA devices that the namespace may use; counters only where the device
	 * belongs to it
	 */
	SMC_NETLINK_GET_DEV_SMCR		= 6,
	SMC_NETLINK_GET_STATS			= 7,	/* Counters of the namespace */
	/*
	 * Connections that became TCP, a message for each side and reason; the
	 * first one has the sums, too
	 */
	SMC_NETLINK_GET_FBACK_STATS		= 8,
	SMC_NETLINK_DUMP_UEID			= 9,	/* EIDs of the user, a message each */
	SMC_NETLINK_ADD_UEID			= 10,	/* Add an EID */
	SMC_NETLINK_REMOVE_UEID			= 11,	/* Remove an EID */
	SMC_NETLINK_FLUSH_UEID			= 12,	/* Remove all EIDs */
	/* The EID of the system; one message, empty without SMC-D */
	SMC_NETLINK_DUMP_SEID			= 13,
	SMC_NETLINK_ENABLE_SEID			= 14,	/* Not supported */
	SMC_NETLINK_DISABLE_SEID		= 15,	/* Not supported */
	SMC_NETLINK_DUMP_HS_LIMITATION		= 16,	/* Whether new listeners limit handshakes */
	SMC_NETLINK_ENABLE_HS_LIMITATION	= 17,	/* New listeners limit handshakes */
	SMC_NETLINK_DISABLE_HS_LIMITATION	= 18,	/* New listeners do not limit handshakes */
	SMC_NETLINK_EVENT_LGR_UP		= 64,	/* A link group is up */
	SMC_NETLINK_EVENT_LGR_DOWN		= 65,	/* A link group has ended */
	SMC_NETLINK_EVENT_LINK_UP		= 66,	/* A link is up */
	SMC_NETLINK_EVENT_LINK_DOWN		= 67,	/* A link was lost or given up */
	SMC_NETLINK_EVENT_TCP			= 68,	/* A connection became TCP */
	/* The RDMA path to a host failed; connections to it use TCP for a time */
	SMC_NETLINK_EVENT_PEER			= 69,
	/*
	 * A service declined several connections in a row; it is not offered SMC
	 * for a time
	 */
	SMC_NETLINK_EVENT_SERVICE		= 70,
	/* A connection left SMC; its record, made only while somebody listens */
	SMC_NETLINK_EVENT_CONN_END		= 71,
	/*
	 * The policy of the network namespace, a message for each rule, in their
	 * order
	 */
	SMC_NETLINK_DUMP_POLICY			= 96,
	/* Add a rule; the cookie of the extended acknowledgment is its id, u64 */
	SMC_NETLINK_ADD_POLICY			= 97,
	SMC_NETLINK_DEL_POLICY			= 98,	/* Remove a rule */
	SMC_NETLINK_FLUSH_POLICY		= 99,	/* Remove all rules */
	/* Connections that became TCP, the oldest first, also those that are gone */
	SMC_NETLINK_DUMP_HISTORY		= 100,
	/* Hosts and services to which connections use TCP for some time */
	SMC_NETLINK_DUMP_PEERS			= 101,
	/* Forget a service, or without port a host with its services */
	SMC_NETLINK_FORGET_PEER			= 102,
	SMC_NETLINK_FLUSH_PEERS			= 103,	/* Forget all hosts and services */
	/* RDMA devices that cannot carry SMC, or are stopped, and the reason */
	SMC_NETLINK_DUMP_UNFIT			= 105,
	/* Counters of the network namespace, a message for each */
	SMC_NETLINK_DUMP_COUNTERS		= 106,
	/* End a link in order; without id the whole group */
	SMC_NETLINK_END_LINK			= 107,
	/*
	 * Take an RDMA device out of use; its links end in order. dump-unfit
	 * shows it
	 */
	SMC_NETLINK_STOP_DEV			= 108,
	/* Use an RDMA device again that was stopped */
	SMC_NETLINK_START_DEV			= 109,
};

/* One nest for each kind of answer */
enum smc_genl_attr {
	SMC_GEN_UNSPEC		= 0,
	SMC_GEN_SYS_INFO	= 1,	/* nest, enum smc_sys_info_attr */
	SMC_GEN_LGR_SMCR	= 2,	/* nest, enum smc_lgr_r_attr */
	SMC_GEN_LINK_SMCR	= 3,	/* nest, enum smc_link_attr */
	SMC_GEN_LGR_SMCD	= 4,	/* nest, enum smc_lgr_d_attr */
	SMC_GEN_DEV_SMCD	= 5,	/* nest, enum smc_dev_attr */
	SMC_GEN_DEV_SMCR	= 6,	/* nest, enum smc_dev_attr */
	SMC_GEN_STATS		= 7,	/* nest, enum smc_stats_attr */
	SMC_GEN_FBACK_STATS	= 8,	/* nest, enum smc_fback_attr */

	SMC_GEN_MAX		= 8,
	SMC_GEN_EVENT		= 64,	/* nest, enum smc_event_attr */
	SMC_GEN_COUNTER		= 65,	/* nest, enum smc_counter_attr */
};

/* A counter of the network namespace */
enum smc_counter_attr {
	SMC_NLA_COUNTER_NAME	= 1,	/* string */
	SMC_NLA_COUNTER_VALUE	= 2,	/* u64, never decreases */
	SMC_NLA_COUNTER_PAD	= 3,

	SMC_NLA_COUNTER_MAX	= 3,
};

/* Facts about the module */
enum smc_sys_info_attr {
	SMC_NLA_SYS_VER		= 1,	/* u8, highest SMC version */
	SMC_NLA_SYS_REL		= 2,	/* u8, release of that version */
	SMC_NLA_SYS_IS_ISM_V2	= 3,	/* u8, bool */
	SMC_NLA_SYS_LOCAL_HOST	= 4,	/* string */
	SMC_NLA_SYS_SEID	= 5,	/* string */
	SMC_NLA_SYS_IS_SMCR_V2	= 6,	/* u8, bool */

	SMC_NLA_SYS_MAX		= 6,
	/*
	 * string, version of the module; deployed tools overrun their table with
	 * numbers 7 to 10
	 */
	SMC_NLA_SYS_MODULE	= 64,
	/*
	 * u8, bool, new connections use TCP; this and the next two for
	 * CAP_NET_ADMIN of the host
	 */
	SMC_NLA_SYS_DRAIN	= 65,
	SMC_NLA_SYS_GROUPS	= 66,	/* u32, link groups of all network namespaces */
	SMC_NLA_SYS_CONNS	= 67,	/* u32, connections in them and in memory, also new ones */
};

/* A link group of SMC-R. A uint is u32, or u64 when the value needs it. */
enum smc_lgr_r_attr {
	SMC_NLA_LGR_R_ID		= 1,	/* u32, bytes as in memory */
	SMC_NLA_LGR_R_ROLE		= 2,	/* u8, 0 client, 1 server */
	SMC_NLA_LGR_R_TYPE		= 3,	/* u8, enum smc_lgr_kind */
	SMC_NLA_LGR_R_PNETID		= 4,	/* string */
	SMC_NLA_LGR_R_VLAN_ID		= 5,	/* u8, low bits of the id */
	SMC_NLA_LGR_R_CONNS_NUM		= 6,	/* u32 */
	SMC_NLA_LGR_R_V2_COMMON		= 7,	/* nest, enum smc_lgr_v2_attr */
	SMC_NLA_LGR_R_V2		= 8,	/* nest, enum smc_lgr_r_v2_attr */
	SMC_NLA_LGR_R_NET_COOKIE	= 9,	/* u64 */
	SMC_NLA_LGR_R_PAD		= 10,
	SMC_NLA_LGR_R_BUF_TYPE		= 11,	/* u8, SMC_LGR_BUF_VIRTUAL */
	SMC_NLA_LGR_R_SNDBUF_ALLOC	= 12,	/* uint, bytes */
	SMC_NLA_LGR_R_RMB_ALLOC		= 13,	/* uint, bytes */

	SMC_NLA_LGR_R_MAX		= 13,
	SMC_NLA_LGR_R_VLAN		= 64,	/* u16, the whole id, 0 for none */
	SMC_NLA_LGR_R_LINKS		= 65,	/* u8, links that carry data */
	SMC_NLA_LGR_R_VERSION		= 66,	/* u8, of SMC-R */
	SMC_NLA_LGR_R_RELEASE		= 67,	/* u8, agreed release of version 2 */
	SMC_NLA_LGR_R_DIALECT		= 68,	/* u8, 0 RFC 7609, 1 deployed */
	SMC_NLA_LGR_R_IMMEDIATE		= 69,	/* u8, bool: immediate data */
	SMC_NLA_LGR_R_CONNS_MAX		= 70,	/* u8 */
	SMC_NLA_LGR_R_LINKS_MAX		= 71,	/* u8 */
	SMC_NLA_LGR_R_PEER_ID		= 72,	/* 8 bytes */
	SMC_NLA_LGR_R_PEER_ADDR		= 73,	/* 16 bytes, IPv4 as mapped address */
	SMC_NLA_LGR_R_SNDBUF_USED	= 74,	/* uint, bytes of connections */
	SMC_NLA_LGR_R_RMB_USED		= 75,	/* uint, bytes of connections */
	SMC_NLA_LGR_R_COUNTS		= 76,	/* nest, enum smc_count_attr, all its links */
};

/* The peer of a link group of version 2 */
enum smc_lgr_v2_attr {
	SMC_NLA_LGR_V2_VER		= 0,	/* u8 */
	SMC_NLA_LGR_V2_REL		= 1,	/* u8, release of the peer */
	SMC_NLA_LGR_V2_OS		= 2,	/* u8, 1 z/OS, 2 Linux, 3 AIX */
	SMC_NLA_LGR_V2_NEG_EID		= 3,	/* string */
	SMC_NLA_LGR_V2_PEER_HOST	= 4,	/* string */

	SMC_NLA_LGR_V2_MAX		= 4,
};

/* What a link group of version 2 agreed on */
enum smc_lgr_r_v2_attr {
	SMC_NLA_LGR_R_V2_DIRECT		= 1,	/* u8, bool */
	SMC_NLA_LGR_R_V2_MAX_CONNS	= 2,	/* u8 */
	SMC_NLA_LGR_R_V2_MAX_LINKS	= 3,	/* u8 */

	SMC_NLA_LGR_R_V2_MAX		= 3,
};

/* A link of SMC-R */
enum smc_link_attr {
	SMC_NLA_LINK_ID		= 1,	/* u8 */
	SMC_NLA_LINK_IB_DEV	= 2,	/* string */
	SMC_NLA_LINK_IB_PORT	= 3,	/* u8 */
	SMC_NLA_LINK_GID	= 4,	/* string, 39 characters */
	SMC_NLA_LINK_PEER_GID	= 5,	/* string, 39 characters */
	SMC_NLA_LINK_CONN_CNT	= 6,	/* u32 */
	SMC_NLA_LINK_NET_DEV	= 7,	/* u32, interface index */
	SMC_NLA_LINK_UID	= 8,	/* u32, bytes as on the wire */
	SMC_NLA_LINK_PEER_UID	= 9,	/* u32, bytes as on the wire */
	SMC_NLA_LINK_STATE	= 10,	/* u32, enum smc_link_condition */

	SMC_NLA_LINK_MAX	= 10,
	SMC_NLA_LINK_LGR_ID	= 64,	/* u32, as SMC_NLA_LGR_R_ID */
	SMC_NLA_LINK_QPN	= 65,	/* u32 */
	SMC_NLA_LINK_PEER_QPN	= 66,	/* u32 */
	SMC_NLA_LINK_MTU	= 67,	/* u32, bytes */
	SMC_NLA_LINK_COUNTS	= 68,	/* nest, enum smc_count_attr */
};

/*
 * Counters of a link, of the links of a group, or of a device. A message is a
 * CDC or LLC message, or immediate data. Retries are messages that a connection
 * sent again after it had come from another link; the RNIC's own are in `rdma
 * statistic`.
 */
enum smc_count_attr {
	SMC_NLA_COUNT_TX_BYTES		= 1,	/* u64, written to the peer and completed */
	SMC_NLA_COUNT_RX_BYTES		= 2,	/* u64, that the peer has announced */
	SMC_NLA_COUNT_TX_MSGS		= 3,	/* u64, completed */
	SMC_NLA_COUNT_RX_MSGS		= 4,	/* u64 */
	SMC_NLA_COUNT_RETRIES		= 5,	/* u64 */
	/* u64, messages sent with a full ring of the peer */
	SMC_NLA_COUNT_TX_CLOSED		= 6,
	/* u64, messages received that report our full ring */
	SMC_NLA_COUNT_RX_CLOSED		= 7,
	SMC_NLA_COUNT_SLOT_WAITS	= 8,	/* u64, connections that waited for a send slot */
	/* u64, completions in error, without flushed ones */
	SMC_NLA_COUNT_TX_ERRORS		= 9,
	SMC_NLA_COUNT_RX_ERRORS		= 10,	/* u64, the same of receives */
	SMC_NLA_COUNT_LEAKS		= 11,	/* u64, objects that the device did not give up */
	SMC_NLA_COUNT_PAD		= 12,

	SMC_NLA_COUNT_MAX		= 12,
};

/* A link group of SMC-D; this module has none */
enum smc_lgr_d_attr {
	SMC_NLA_LGR_D_ID		= 1,	/* u32 */
	SMC_NLA_LGR_D_GID		= 2,	/* u64 */
	SMC_NLA_LGR_D_PEER_GID		= 3,	/* u64 */
	SMC_NLA_LGR_D_VLAN_ID		= 4,	/* u8 */
	SMC_NLA_LGR_D_CONNS_NUM		= 5,	/* u32 */
	SMC_NLA_LGR_D_PNETID		= 6,	/* string */
	SMC_NLA_LGR_D_CHID		= 7,	/* u32 */
	SMC_NLA_LGR_D_PAD		= 8,
	SMC_NLA_LGR_D_V2_COMMON		= 9,	/* nest, enum smc_lgr_v2_attr */
	SMC_NLA_LGR_D_EXT_GID		= 10,	/* u64 */
	SMC_NLA_LGR_D_PEER_EXT_GID	= 11,	/* u64 */
	SMC_NLA_LGR_D_SNDBUF_ALLOC	= 12,	/* uint, bytes */
	SMC_NLA_LGR_D_DMB_ALLOC		= 13,	/* uint, bytes */

	SMC_NLA_LGR_D_MAX		= 13,
};

/* A device */
enum smc_dev_attr {
	SMC_NLA_DEV_USE_CNT	= 1,	/* u32, SMC-D only */
	SMC_NLA_DEV_IS_CRIT	= 2,	/* u8, bool */
	SMC_NLA_DEV_PCI_FID	= 3,	/* u32 */
	SMC_NLA_DEV_PCI_CHID	= 4,	/* u16 */
	SMC_NLA_DEV_PCI_VENDOR	= 5,	/* u16 */
	SMC_NLA_DEV_PCI_DEVICE	= 6,	/* u16 */
	SMC_NLA_DEV_PCI_ID	= 7,	/* string */
	SMC_NLA_DEV_PORT	= 8,	/* nest, enum smc_dev_port_attr */
	SMC_NLA_DEV_PORT2	= 9,	/* nest, enum smc_dev_port_attr */
	SMC_NLA_DEV_IB_NAME	= 10,	/* string, SMC-R only */

	SMC_NLA_DEV_MAX		= 10,
	SMC_NLA_DEV_COUNTS	= 64,	/* nest, enum smc_count_attr, all links so far */
	SMC_NLA_DEV_UNFIT	= 65,	/* string, why it cannot carry SMC; dump-unfit only */
};

/* A port of a device */
enum smc_dev_port_attr {
	SMC_NLA_DEV_PORT_PNET_USR	= 1,	/* u8, set by the user */
	SMC_NLA_DEV_PORT_PNETID		= 2,	/* string */
	SMC_NLA_DEV_PORT_NETDEV		= 3,	/* u32, interface index */
	SMC_NLA_DEV_PORT_STATE		= 4,	/* u8, 1 active */
	SMC_NLA_DEV_PORT_VALID		= 5,	/* u8, always 1 */
	SMC_NLA_DEV_PORT_LNK_CNT	= 6,	/* u32 */

	SMC_NLA_DEV_PORT_MAX		= 6,
};

/* Counters of the namespace */
enum smc_stats_attr {
	SMC_NLA_STATS_SMCD_TECH		= 1,	/* nest, enum smc_tech_attr */
	SMC_NLA_STATS_SMCR_TECH		= 2,	/* nest, enum smc_tech_attr */
	SMC_NLA_STATS_CLNT_HS_ERR_CNT	= 3,	/* u64 */
	SMC_NLA_STATS_SRV_HS_ERR_CNT	= 4,	/* u64 */

	SMC_NLA_STATS_MAX		= 4,
};

/* Counters of SMC-R or SMC-D */
enum smc_tech_attr {
	SMC_NLA_STATS_T_TX_RMB_SIZE	= 1,	/* nest, enum smc_size_attr */
	SMC_NLA_STATS_T_RX_RMB_SIZE	= 2,	/* nest, enum smc_size_attr */
	SMC_NLA_STATS_T_TXPLOAD_SIZE	= 3,	/* nest, enum smc_size_attr */
	SMC_NLA_STATS_T_RXPLOAD_SIZE	= 4,	/* nest, enum smc_size_attr */
	SMC_NLA_STATS_T_TX_RMB_STATS	= 5,	/* nest, enum smc_rmb_stats_attr */
	SMC_NLA_STATS_T_RX_RMB_STATS	= 6,	/* nest, enum smc_rmb_stats_attr */
	SMC_NLA_STATS_T_CLNT_V1_SUCC	= 7,	/* u64 */
	SMC_NLA_STATS_T_CLNT_V2_SUCC	= 8,	/* u64 */
	SMC_NLA_STATS_T_SRV_V1_SUCC	= 9,	/* u64 */
	SMC_NLA_STATS_T_SRV_V2_SUCC	= 10,	/* u64 */
	SMC_NLA_STATS_T_SENDPAGE_CNT	= 11,	/* u64 */
	SMC_NLA_STATS_T_SPLICE_CNT	= 12,	/* u64 */
	SMC_NLA_STATS_T_CORK_CNT	= 13,	/* u64 */
	SMC_NLA_STATS_T_NDLY_CNT	= 14,	/* u64 */
	SMC_NLA_STATS_T_URG_DATA_CNT	= 15,	/* u64 */
	SMC_NLA_STATS_T_RX_BYTES	= 16,	/* u64 */
	SMC_NLA_STATS_T_TX_BYTES	= 17,	/* u64 */
	SMC_NLA_STATS_T_RX_CNT		= 18,	/* u64 */
	SMC_NLA_STATS_T_TX_CNT		= 19,	/* u64 */
	SMC_NLA_STATS_T_RX_RMB_USAGE	= 20,	/* uint */
	SMC_NLA_STATS_T_TX_RMB_USAGE	= 21,	/* uint */

	SMC_NLA_STATS_T_MAX		= 21,
};

/* A histogram of sizes, up to and including the named one */
enum smc_size_attr {
	SMC_NLA_STATS_PLOAD_8K		= 1,	/* u64 */
	SMC_NLA_STATS_PLOAD_16K		= 2,	/* u64 */
	SMC_NLA_STATS_PLOAD_32K		= 3,	/* u64 */
	SMC_NLA_STATS_PLOAD_64K		= 4,	/* u64 */
	SMC_NLA_STATS_PLOAD_128K	= 5,	/* u64 */
	SMC_NLA_STATS_PLOAD_256K	= 6,	/* u64 */
	SMC_NLA_STATS_PLOAD_512K	= 7,	/* u64 */
	SMC_NLA_STATS_PLOAD_1024K	= 8,	/* u64 */
	SMC_NLA_STATS_PLOAD_G_1024K	= 9,	/* u64, larger */

	SMC_NLA_STATS_PLOAD_MAX		= 9,
};

/* Counters of the rings of one direction */
enum smc_rmb_stats_attr {
	SMC_NLA_STATS_RMB_SIZE_SM_PEER_CNT	= 1,	/* u64 */
	SMC_NLA_STATS_RMB_SIZE_SM_CNT		= 2,	/* u64 */
	SMC_NLA_STATS_RMB_FULL_PEER_CNT		= 3,	/* u64 */
	SMC_NLA_STATS_RMB_FULL_CNT		= 4,	/* u64 */
	SMC_NLA_STATS_RMB_REUSE_CNT		= 5,	/* u64 */
	SMC_NLA_STATS_RMB_ALLOC_CNT		= 6,	/* u64 */
	SMC_NLA_STATS_RMB_DGRADE_CNT		= 7,	/* u64 */

	SMC_NLA_STATS_RMB_MAX			= 7,
};

/* Connections that became TCP, one message for each side and reason */
enum smc_fback_attr {
	SMC_NLA_FBACK_STATS_TYPE	= 1,	/* u8, 0 client, 1 server */
	SMC_NLA_FBACK_STATS_SRV_CNT	= 2,	/* u64, first message only */
	SMC_NLA_FBACK_STATS_CLNT_CNT	= 3,	/* u64, first message only */
	SMC_NLA_FBACK_STATS_RSN_CODE	= 4,	/* u32, enum smc_decline_reason */
	SMC_NLA_FBACK_STATS_RSN_CNT	= 5,	/* u16 */

	SMC_NLA_FBACK_STATS_MAX		= 5,
	SMC_NLA_FBACK_STATS_RSN_TOTAL	= 64,	/* u64, rsn-cnt stops at 65535 */
	SMC_NLA_FBACK_STATS_RSN_TEXT	= 65,	/* string */
	SMC_NLA_FBACK_STATS_PAD		= 66,
};

/*
 * What happened. Present is what the event has - a connection has addresses, a
 * host that is remembered an address, a service also a port.
 */
enum smc_event_attr {
	SMC_NLA_EVENT_TIME		= 1,	/* u64, ns since 1970 */
	SMC_NLA_EVENT_TEXT		= 2,	/* string, why; not for groups and links up */
	SMC_NLA_EVENT_REASON		= 3,	/* u32, enum smc_decline_reason */
	SMC_NLA_EVENT_PEER_DIAGNOSIS	= 4,	/* u32, of the peer's Decline, if any */
	SMC_NLA_EVENT_ROLE		= 5,	/* u8, 0 client, 1 server */
	SMC_NLA_EVENT_ADDR		= 6,	/* 16 bytes, ours, IPv4 as mapped address */
	SMC_NLA_EVENT_PORT		= 7,	/* u16, ours, host order */
	SMC_NLA_EVENT_PEER_ADDR		= 8,	/* 16 bytes, IPv4 as mapped address */
	SMC_NLA_EVENT_PEER_PORT		= 9,	/* u16, host order */
	SMC_NLA_EVENT_COOKIE		= 10,	/* u64, of the socket as in sock_diag */
	SMC_NLA_EVENT_MS		= 11,	/* u32, how long it is remembered from now on */
	SMC_NLA_EVENT_PAD		= 12,
	SMC_NLA_EVENT_AGE_MS		= 13,	/* u32, how long the reason had been remembered */
	SMC_NLA_EVENT_FAILURE		= 14,	/* u8, enum smc_peer_condition, of a host */
	/* u8, of a connection that left SMC, enum smc_diag_mode */
	SMC_NLA_EVENT_MODE		= 15,
	SMC_NLA_EVENT_TX_BYTES		= 16,	/* u64, sent by SMC */
	SMC_NLA_EVENT_RX_BYTES		= 17,	/* u64, received by SMC */
	SMC_NLA_EVENT_DURATION_MS	= 18,	/* u64, on SMC */
	SMC_NLA_EVENT_CGROUP		= 19,	/* u64, ID of the control group of the socket */

	SMC_NLA_EVENT_MAX		= 19,
};

/*
 * A rule of the policy, at the top level; it has an action, and matches
 * connections by what else it has
 */
enum smc_policy_attr {
	SMC_NLA_POLICY_ID		= 1,	/* u32, given by the module */
	SMC_NLA_POLICY_ACTION		= 2,	/* u8, 0 SMC, 1 TCP */
	SMC_NLA_POLICY_ROLE		= 3,	/* u8, 0 client, 1 server; both without it */
	SMC_NLA_POLICY_PORT_FIRST	= 4,	/* u16, host order, where the server listens */
	SMC_NLA_POLICY_PORT_LAST	= 5,	/* u16, without it only port-first */
	SMC_NLA_POLICY_PEER_ADDR	= 6,	/* 16 bytes, IPv4 as mapped address */
	SMC_NLA_POLICY_PREFIX		= 7,	/* u8, bits of peer-addr, 128 without it */
	SMC_NLA_POLICY_CGROUP		= 8,	/* u64, id, also for groups below */
	SMC_NLA_POLICY_UID		= 9,	/* u32, owner of the socket */
	SMC_NLA_POLICY_HITS		= 10,	/* u64, how often it decided; answers only */
	SMC_NLA_POLICY_BEFORE		= 11,	/* u32, id; requests only; the end without it */
	SMC_NLA_POLICY_PAD		= 12,

	SMC_NLA_POLICY_MAX		= 12,
};

/* An EID of the user */
enum smc_eid_attr {
	SMC_NLA_EID_TABLE_UNSPEC	= 0,
	SMC_NLA_EID_TABLE_ENTRY		= 1,	/* string, exactly 32 characters */

	SMC_NLA_EID_TABLE_MAX		= 1,
};

/* The EID of the system */
enum smc_seid_attr {
	SMC_NLA_SEID_UNSPEC	= 0,
	SMC_NLA_SEID_ENTRY	= 1,	/* string */
	SMC_NLA_SEID_ENABLED	= 2,	/* u8, bool */

	SMC_NLA_SEID_TABLE_MAX	= 2,
};

/* Whether new listeners limit handshakes */
enum smc_hs_limitation_attr {
	SMC_NLA_HS_LIMITATION_UNSPEC	= 0,
	SMC_NLA_HS_LIMITATION_ENABLED	= 1,	/* u8, bool */

	SMC_NLA_HS_LIMITATION_MAX	= 1,
};

/* end of Documentation/netlink/smc.yaml */

#endif /* _UAPI_LINUX_SMC_H_ */
