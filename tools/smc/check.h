/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of `smc check`. */
#ifndef TOOLS_SMC_CHECK_H
#define TOOLS_SMC_CHECK_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "smc.h"

/* route.c: what routing says of a destination */
struct route {
	unsigned int interface;		/* index */
	struct in6_addr local;		/* IPv4 as mapped address */
	bool is_same_host;
	bool has_gateway;
};

int route_find(const struct in6_addr *peer, unsigned int scope, uint16_t port, struct route *route);
int route_needs_ipsec(const struct route *route, const struct in6_addr *peer, uint16_t port);

struct nl_msg;

int netlink_ask(int protocol, struct nl_msg *msg, int (*visit)(struct nl_msg *msg, void *arg),
		void *arg);

/* check.c */
enum verdict { RIGHT, DOUBTFUL, WRONG };

struct check {
	struct json *json;		/* NULL: text */
	enum verdict worst;
	uint32_t reason;		/* why a connection is TCP, the first that was found */
	bool is_fit;			/* this host can run the module */
	bool is_examined;		/* the module and the address are there */
	bool has_route;
	bool may_v1, may_v2;		/* ports and GIDs for versions of SMC-R */
	bool may_memory;		/* both ends are in this network namespace */
	bool may_be_near;		/* the other end may be in another one of this host */
	char host[HOST_TEXT];
	uint16_t port;			/* 0 for none */
	struct in6_addr peer;		/* IPv4 as mapped address */
	unsigned int scope;
	struct route route;
	char interface[IF_NAMESIZE];
	bool is_same_subnet;
};

__attribute__((format(printf, 5, 6)))
bool verdict(struct check *check, enum verdict verdict, const char *what, const char *mend,
	     const char *format, ...);
bool blocked(struct check *check, uint32_t reason, const char *what, const char *text);
long read_setting(const char *name);
bool check_switches(struct check *check);

/* check-host.c */
void check_host(struct check *check);

/* check-adapter.c */
void check_adapters(struct check *check, bool is_ours);

/* check-path.c */
void check_interface(struct check *check);
void check_filters(struct check *check);

/* check-rdma.c */
#define IB_DIR		"/sys/class/infiniband"
#define MAX_GIDS	256

struct gid {
	struct in6_addr addr;
	char interface[IF_NAMESIZE];
	bool is_roce_v2;
};

bool check_read_gid(const char *device, int port, int index, struct gid *gid);
void check_devices(struct check *check);
void check_eid(struct check *check);
bool rdma_is_at(const char *interface);

#define ADAPTER_TEXT 256

void rdma_describe(const char *device, int port, const char *gid, char text[ADAPTER_TEXT]);

#endif /* TOOLS_SMC_CHECK_H */
