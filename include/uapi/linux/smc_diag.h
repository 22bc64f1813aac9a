/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Listing AF_SMC sockets: requests and answers of netlink's sock_diag for
 * family 43. Everything is in host byte order, except addresses, ports and
 * GIDs. Any user may ask, and sees the sockets of his network namespace.
 */
#ifndef _UAPI_LINUX_SMC_DIAG_H_
#define _UAPI_LINUX_SMC_DIAG_H_

#include <linux/inet_diag.h>
#include <linux/types.h>

/* Body of a request of type SOCK_DIAG_BY_FAMILY; 52 bytes. Attributes may follow. */
struct smc_diag_req {
	__u8	family;			/* AF_SMC */
	__u8	pad[2];
	__u8	ext;			/* SMC_DIAG_WANT() of the attributes */
	struct inet_diag_sockid	id;	/* ignored */
};

/* Attributes of a request */
enum smc_diag_req_attr {
	SMC_DIAG_REQ_NONE	= 0,
	SMC_DIAG_REQ_FILTER	= 64,	/* struct smc_diag_filter */
};

/*
 * Which sockets are wanted, 28 bytes; one of all zeros matches none. Messages that were
 * filtered say so by NLM_F_DUMP_FILTERED.
 */
struct smc_diag_filter {
	__u32	states;			/* bits 1 << enum smc_diag_state */
	__u8	modes;			/* bits 1 << enum smc_diag_mode */
	__u8	prefix;			/* bits of the peer's address that count */
	__u8	pad[2];
	__u16	port_first, port_last;	/* of either end */
	__u8	peer[16];		/* IPv6, or IPv4 mapped into it */
};

/* Attributes of an answer; those with WANT come only on request */
enum smc_diag_attr {
	SMC_DIAG_NONE		= 0,
	SMC_DIAG_CONNINFO	= 1,	/* WANT: struct smc_diag_conninfo */
	SMC_DIAG_LGRINFO	= 2,	/* WANT: struct smc_diag_lgrinfo */
	SMC_DIAG_SHUTDOWN	= 3,	/* u8, 1 receive, 2 send */
	SMC_DIAG_DMBINFO	= 4,	/* WANT: struct smc_diag_dmbinfo */
	SMC_DIAG_FALLBACK	= 5,	/* struct smc_diag_fallback */
	SMC_DIAG_MAX		= 5,
	/* of this module, far from numbers that other modules may add */
	SMC_DIAG_LINKINFO	= 64,	/* with LGRINFO: struct smc_diag_linkinfo */
	SMC_DIAG_LISTENINFO	= 65,	/* of a listener: struct smc_diag_listeninfo */
	SMC_DIAG_MEMORY_AGE	= 66,	/* u32, ms: age of what was remembered */
	SMC_DIAG_PAIRINFO	= 67,	/* with DMBINFO: struct smc_diag_pairinfo */
	SMC_DIAG_LANDING	= 68,	/* flag: on its way to TCP */
	SMC_DIAG_TCP_LOST	= 69,	/* flag: goes on without its TCP connection */
};

#define SMC_DIAG_WANT(attr)	(1 << ((attr) - 1))

enum smc_diag_mode {
	SMC_DIAG_MODE_SMCR		= 0,	/* also while undecided */
	SMC_DIAG_MODE_FALLBACK_TCP	= 1,
	SMC_DIAG_MODE_SMCD		= 2,	/* in memory: both ends on this host */
};

enum smc_diag_state {
	SMC_DIAG_ST_ACTIVE		= 1,
	SMC_DIAG_ST_INIT		= 2,
	SMC_DIAG_ST_CLOSED		= 7,
	SMC_DIAG_ST_LISTEN		= 10,
	SMC_DIAG_ST_PEERCLOSEWAIT1	= 20,
	SMC_DIAG_ST_PEERCLOSEWAIT2	= 21,
	SMC_DIAG_ST_APPCLOSEWAIT1	= 22,
	SMC_DIAG_ST_APPCLOSEWAIT2	= 23,
	SMC_DIAG_ST_APPFINCLOSEWAIT	= 24,
	SMC_DIAG_ST_PEERFINCLOSEWAIT	= 25,
	SMC_DIAG_ST_PEERABORTWAIT	= 26,
	SMC_DIAG_ST_PROCESSABORT	= 27,
};

/*
 * One socket; 64 bytes. An IPv4 address fills the first word of its field and
 * leaves the others zero.
 */
struct smc_diag_msg {
	__u8	family;
	__u8	state;			/* enum smc_diag_state */
	__u8	mode;			/* enum smc_diag_mode */
	__u8	unused_shutdown;	/* zero: see SMC_DIAG_SHUTDOWN */
	struct inet_diag_sockid	id;
	__u32	uid;
	__aligned_u64	inode;
};

/* Position in a ring: wrap number and offset */
struct smc_diag_cursor {
	__u16	zero;
	__u16	wrap;
	__u32	count;
};

/* The flag bytes of the last CDC in one direction, as on the wire */
struct smc_diag_flags {
	__u8	prod;
	__u8	conn_state;
};

/* A connection that has an alert token; 76 bytes, sizes in bytes */
struct smc_diag_conninfo {
	__u32	token;
	__u32	sndbuf_size;
	__u32	rmbe_size;		/* the peer writes into it */
	__u32	peer_rmbe_size;		/* we write into it */

	struct smc_diag_cursor	rx_prod, rx_cons;	/* received; read */
	struct smc_diag_cursor	tx_prod, tx_cons;	/* announced; read by the peer */
	struct smc_diag_flags	rx_flags, tx_flags;
	/* of our own data: in the ring, posted, completed */
	struct smc_diag_cursor	tx_prep, tx_sent, tx_fin;
};

#define SMC_DIAG_IBNAME_LEN	64
#define SMC_DIAG_GID_LEN	40

/* The link a connection uses; 147 bytes, names and GIDs are text */
struct smc_diag_lgrinfo {
	__u8	link_id;
	char	ibname[SMC_DIAG_IBNAME_LEN];
	__u8	ibport;
	char	gid[SMC_DIAG_GID_LEN];
	char	peer_gid[SMC_DIAG_GID_LEN];
	__u8	role;			/* 0 client, 1 server */
};

/* More about that link and its group; 12 bytes */
struct smc_diag_linkinfo {
	__u32	user_id;		/* our link user id, which the peer shows, too */
	__u32	peer_user_id;
	__u8	nr_links;		/* usable for data; 1: no redundancy */
	__u8	pad[3];
};

/* The children of a listener; 20 bytes */
struct smc_diag_listeninfo {
	__u32	queue;			/* children for accept(), as in TCP_INFO */
	__u32	queue_max;		/* the backlog of listen() */
	__u32	handshakes;		/* SMC handshakes under way */
	__u32	deferred;		/* complete except for the peer's first byte */
	__u32	family;			/* of its address, AF_INET or AF_INET6 */
};

/* Why the socket uses TCP; 8 bytes, both zero if it does not */
struct smc_diag_fallback {
	__u32	reason;			/* enum smc_decline_reason */
	__u32	peer_diagnosis;		/* diagnosis of the peer's Decline */
};

#define SMC_DIAG_LINKID_LOOPBACK	0xffff	/* the CHID of a loopback device */

/* A connection in memory; 56 bytes. The GIDs are the cookies of the network namespaces. */
struct smc_diag_dmbinfo {
	__u32	linkid;			/* SMC_DIAG_LINKID_LOOPBACK */
	__aligned_u64	peer_gid, my_gid;
	__aligned_u64	token, peer_token;
	/* second halves of the GIDs */
	__aligned_u64	peer_gid_ext, my_gid_ext;
};

/*
 * The other end of that connection, whose members are zero when it is gone; 32 bytes. The inode is
 * zero while no process has the socket.
 */
struct smc_diag_pairinfo {
	__aligned_u64	peer_inode;
	__aligned_u64	peer_net;	/* cookie of its network namespace */
	__u32	peer_cookie[2];		/* as idiag_cookie */
	__u32	peer_token;
	__u8	role;			/* of this end: 0 client, 1 server */
	__u8	pad[3];
};

#endif /* _UAPI_LINUX_SMC_DIAG_H_ */
