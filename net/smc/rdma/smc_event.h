/* SPDX-License-Identifier: GPL-2.0 */
/* What happened to groups, links and hosts, for the programs of operators. */
#ifndef SMC_EVENT_H
#define SMC_EVENT_H

#include <linux/in6.h>
#include <linux/smc.h>
#include <linux/types.h>

struct net;
struct smc_link;
struct smc_link_group;
struct sock;

/**
 * struct smc_event - a change; all is borrowed, and NULL or 0 if the event has none
 * @net: where it happened
 * @lgr: the group; with @link, or with @cmd SMC_NETLINK_EVENT_LGR_UP, its lock is held
 * @link: the link, of @lgr
 * @sk: TCP's sock of the connection; it still has it with @cmd SMC_NETLINK_EVENT_CONN_END
 * @peer: host, IPv4 mapped
 * @text: why, of @lgr
 * @reason: why TCP is used, of what is no @lgr
 * @diagnosis: the peer's, in a Decline
 * @ms: for how long that is remembered
 * @port: of a service of @peer
 * @cmd: SMC_NETLINK_EVENT_*
 * @is_server: the side of @sk
 */
struct smc_event {
	struct net *net;
	struct smc_link_group *lgr;
	const struct smc_link *link;
	struct sock *sk;
	const struct in6_addr *peer;
	const char *text;
	u32 reason;
	u32 diagnosis;
	u32 ms;
	__be16 port;
	u8 cmd;
	bool is_server;
};

/**
 * struct smc_event_ops - the upcall of events, filled in af_smc.c
 * @send: report it; any context but hard interrupt, in an RCU read section
 */
struct smc_event_ops {
	void (*send)(const struct smc_event *event);
};

void smc_event_send(const struct smc_event *event);
void smc_event_init(const struct smc_event_ops *ops);
void smc_event_exit(void);

#endif /* SMC_EVENT_H */
