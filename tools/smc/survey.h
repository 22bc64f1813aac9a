/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of `smc survey`. */
#ifndef TOOLS_SMC_SURVEY_H
#define TOOLS_SMC_SURVEY_H

#include "smc.h"

/* Which link SMC would have for a connection */
enum reach {
	REACH_HOST,		/* memory: the peer is an address of this host */
	REACH_SUBNET,		/* SMC-R: the route has no router, and an RDMA device */
	REACH_ROUTED,		/* SMC-R version 2, perhaps: a router is between */
	REACH_NONE,		/* the interface has no RDMA device */
	REACH_MAX,
};

/* A TCP connection, as one of its ends has counted it */
struct flow {
	uint64_t cookie;
	uint64_t inode;		/* 0: the socket has no process any more */
	uint64_t bytes;		/* in both directions */
	uint64_t requests;	/* data segments, of the direction with fewer */
	struct in6_addr local, peer;	/* IPv4 as mapped address */
	uint16_t local_port, peer_port;
	unsigned int scope;	/* interface of a link-local address */
	uint32_t rtt_us;	/* the least */
	bool is_listener;
};

/* What one kind of connections moved */
struct amount {
	uint64_t open, new;	/* connections: at the end, and made meanwhile */
	uint64_t bytes, requests;
	uint64_t kept_bytes, kept_requests;	/* by connections worth their set-up */
	uint64_t rtt_us;	/* sum over the requests */
};

enum side { SIDE_SERVER, SIDE_CLIENT, SIDE_BOTH, SIDE_MAX };

/* All connections with one service */
struct service {
	uint64_t inode;		/* a socket of its program, or 0 */
	uint64_t connections, bytes, requests;
	uint64_t served_bytes;	/* that SMC would carry */
};

#define PORTS 65536
#define TOP 5

struct tally {
	struct amount amounts[REACH_MAX];
	struct service services[SIDE_MAX][PORTS];
	uint64_t listeners[PORTS];	/* inodes */
};

enum worth { WORTH_UNKNOWN, WORTH_NO, WORTH_PARTLY, WORTH_YES };

#define WORTH_TEXT 512

/* tally.c */
void flow_count(struct flow *flow, const void *info, size_t len);
void tally_listener(struct tally *tally, const struct flow *flow);
void tally_add(struct tally *tally, enum reach reach, const struct flow *flow,
	       const struct flow *before, bool is_open);
unsigned int tally_percent(uint64_t part, uint64_t whole);
size_t tally_top(const struct tally *tally, const struct service *top[TOP]);
enum worth tally_verdict(const struct tally *tally, unsigned int seconds, char text[WORTH_TEXT]);

/* survey.c */
struct nlmsghdr;

bool flow_parse(struct nlmsghdr *nlh, struct flow *flow);

#endif /* TOOLS_SMC_SURVEY_H */
