// SPDX-License-Identifier: GPL-2.0
/*
 * smc metrics: counters and connections in the format of OpenMetrics 1.0, for the
 * textfile collector of Prometheus' node_exporter or behind a socket unit.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/errno.h>

#include "smc.h"

static const struct {
	int count;
	const char *name;
	const char *help;
} link_counters[] = {
	{ SMC_NLA_COUNT_TX_BYTES, "tx_bytes", "Bytes written to the peer" },
	{ SMC_NLA_COUNT_RX_BYTES, "rx_bytes", "Bytes that the peer has announced" },
	{ SMC_NLA_COUNT_TX_MSGS, "tx_messages", "Messages sent" },
	{ SMC_NLA_COUNT_RX_MSGS, "rx_messages", "Messages received" },
	{ SMC_NLA_COUNT_RETRIES, "retries", "Messages sent again after another link" },
	{ SMC_NLA_COUNT_TX_CLOSED, "tx_windows_closed", "Times the peer's ring was full" },
	{ SMC_NLA_COUNT_RX_CLOSED, "rx_windows_closed", "Times a ring of this host was full" },
	{ SMC_NLA_COUNT_SLOT_WAITS, "slot_waits", "Waits for a send slot" },
	{ SMC_NLA_COUNT_TX_ERRORS, "tx_errors", "Sends completed in error" },
	{ SMC_NLA_COUNT_RX_ERRORS, "rx_errors", "Receives completed in error" },
	{ SMC_NLA_COUNT_LEAKS, "leaks", "Objects that the device did not give up" },
};

#define MODES (SMC_DIAG_MODE_SMCD + 1)

struct connections {
	uint64_t nr[MODES][2];	/* by mode and role */
};

/* The role of a connection that is TCP is not known. */
static int count_socket(const struct diag_sock *sock, void *arg)
{
	struct connections *connections = arg;
	int role = !!(sock->has_pair ? sock->pair.role : sock->link.role);

	if (sock->msg.mode < MODES &&
	    sock->msg.state != SMC_DIAG_ST_LISTEN && sock->msg.state != SMC_DIAG_ST_INIT)
		connections->nr[sock->msg.mode][role]++;
	return 0;
}

static void head(const char *type, const char *name, const char *help)
{
	printf("# TYPE smc_%s %s\n", name, type);
	if (help)
		printf("# HELP smc_%s %s.\n", name, help);
}

static int print_fallback(int cmd, struct nlattr **tb, void *arg)
{
	const char *role, *name;
	uint32_t reason;
	uint64_t count;

	(void)cmd;
	(void)arg;
	if (!tb[SMC_GEN_FBACK_STATS])
		return 0;
	stats_fallback(tb[SMC_GEN_FBACK_STATS], &role, &reason, &count);
	name = reason_name(reason);
	printf("smc_fallback_total{role=\"%s\",code=\"0x%08x\",reason=\"%s\"} %" PRIu64 "\n",
	       role, reason, name ? name : "", count);
	return 0;
}

static void print_links(const struct links *links)
{
	const struct link *end = links->link + links->nr;
	const struct link *link;
	size_t i;

#define LABELS "{lgr=\"%08x\",link=\"%u\",device=\"%s\"} %" PRIu64 "\n"
	head("gauge", "link_active", "Whether the link carries connections");
	for (link = links->link; link < end; link++)
		printf("smc_link_active" LABELS, link->group, link->id, link->device,
		       (uint64_t)link->is_active);
	head("gauge", "link_connections", "Connections on the link");
	for (link = links->link; link < end; link++)
		printf("smc_link_connections" LABELS, link->group, link->id, link->device,
		       link->connections);
	for (i = 0; i < ARRAY_SIZE(link_counters); i++) {
		char name[64];

		snprintf(name, sizeof(name), "link_%s", link_counters[i].name);
		head("counter", name, link_counters[i].help);
		for (link = links->link; link < end; link++)
			printf("smc_%s_total" LABELS, name, link->group, link->id, link->device,
			       link->counts[link_counters[i].count]);
	}
#undef LABELS
}

static int print_connections(void)
{
	struct connections connections = { 0 };
	int err = diag_dump(NULL, count_socket, &connections);
	size_t mode;

	if (err) {
		fprintf(stderr, "smc: sock_diag: %s (is the module smc_diag loaded?)\n",
			nl_geterror(err));
		return EXIT_FAILURE;
	}
	head("gauge", "connections", "Connections of SMC sockets by what moves their data");
	for (mode = 0; mode < MODES; mode++) {
		const uint64_t *nr = connections.nr[mode];

		if (mode == SMC_DIAG_MODE_FALLBACK_TCP)
			printf("smc_connections{mode=\"TCP\",role=\"unknown\"} %" PRIu64 "\n",
			       nr[0] + nr[1]);
		else
			printf("smc_connections{mode=\"%s\",role=\"client\"} %" PRIu64 "\n"
			       "smc_connections{mode=\"%s\",role=\"server\"} %" PRIu64 "\n",
			       diag_mode_name(mode), nr[0], diag_mode_name(mode), nr[1]);
	}
	return 0;
}

/**
 * cmd_metrics() - print counters, connections and links for a monitoring system
 * @args: no options
 *
 * The output ends with "# EOF" only if it is whole.
 *
 * Return: exit status.
 */
int cmd_metrics(const struct args *args)
{
	struct links *links = calloc(1, sizeof(*links));
	struct stats stats;
	size_t i;
	int err;

	(void)args;
	err = links ? stats_read(&stats) : EXIT_FAILURE;
	for (i = 0; !err && i < stats.nr; i++) {
		head("counter", stats.counters[i].name, NULL);
		printf("smc_%s_total %" PRIu64 "\n", stats.counters[i].name,
		       stats.counters[i].value);
	}
	if (!err) {
		head("counter", "fallback", "Connections that became TCP, by reason");
		err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_FBACK_STATS, NULL,
			       print_fallback, NULL, NULL);
	}
	if (!err)
		err = print_connections();
	if (!err)
		err = links_read(links);
	if (!err) {
		print_links(links);
		printf("# EOF\n");
	}
	free(links);
	return err ? EXIT_FAILURE : 0;
}
