// SPDX-License-Identifier: GPL-2.0
/*
 * smc metrics: counters and connections in the format of OpenMetrics 1.0, for the
 * textfile collector of Prometheus' node_exporter or behind a socket unit.
 *
 * A family must be in one place, also when it has samples of several network namespaces: its lines
 * are collected until all of them have been visited. Links and groups come and go, so no sample
 * names one: what links have counted is that of their device, which never decreases.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/errno.h>

#include "smc.h"

static const struct {
	int count;
	const char *name;
	const char *help;
} device_counters[] = {
	{ SMC_NLA_COUNT_TX_BYTES, "device_tx_bytes", "Bytes written to peers" },
	{ SMC_NLA_COUNT_RX_BYTES, "device_rx_bytes", "Bytes that peers have announced" },
	{ SMC_NLA_COUNT_TX_MSGS, "device_tx_messages", "Messages sent" },
	{ SMC_NLA_COUNT_RX_MSGS, "device_rx_messages", "Messages received" },
	{ SMC_NLA_COUNT_RETRIES, "device_retries", "Messages sent again after another link" },
	{ SMC_NLA_COUNT_TX_CLOSED, "device_tx_windows_closed", "Times a peer's ring was full" },
	{ SMC_NLA_COUNT_RX_CLOSED, "device_rx_windows_closed",
	  "Times a ring of this host was full" },
	{ SMC_NLA_COUNT_SLOT_WAITS, "device_slot_waits", "Waits for a send slot" },
	{ SMC_NLA_COUNT_TX_ERRORS, "device_tx_errors", "Sends completed in error" },
	{ SMC_NLA_COUNT_RX_ERRORS, "device_rx_errors", "Receives completed in error" },
	{ SMC_NLA_COUNT_LEAKS, "device_leaks", "Objects that the device did not give up" },
};

#define MODES		(SMC_DIAG_MODE_SMCD + 1)
#define FAMILIES_MAX	512
#define LABELS_MAX	512

struct family {
	char name[64];
	const char *type, *help;
	FILE *file;		/* of the lines with samples */
	char *lines;
	size_t len;
};

struct metrics {
	struct family families[FAMILIES_MAX];
	size_t nr_families;
	bool is_labelled;	/* samples say of which network namespace they are */
	const char *netns, *pod;	/* of those that are added */
	const char *error;
};

struct connections {
	uint64_t nr[MODES][2];	/* by mode and role */
	bool has_socket;
};

/* The links of a network namespace on one device */
struct device {
	char name[64];
	uint64_t links[LINK_CONDITIONS], connections;
	struct device *next;
};

struct devices {
	struct metrics *metrics;
	struct device *first;
};

static struct family *find_family(struct metrics *metrics, const char *type, const char *name,
				  const char *help)
{
	struct family *family = metrics->families;
	struct family *end = family + metrics->nr_families;

	while (family < end && strcmp(family->name, name))
		family++;
	if (family < end)
		return family;
	if (metrics->nr_families == FAMILIES_MAX || strlen(name) >= sizeof(family->name)) {
		metrics->error = "the module has more counters than fit";
		return NULL;
	}
	family->file = open_memstream(&family->lines, &family->len);
	if (!family->file) {
		metrics->error = "out of memory";
		return NULL;
	}
	snprintf(family->name, sizeof(family->name), "%s", name);
	family->type = type;
	family->help = help;
	metrics->nr_families++;
	return family;
}

/*
 * Adds a sample. LABELS are those besides the namespace, or "". A family has the same labels
 * everywhere; an empty one counts as none.
 */
static void add(struct metrics *metrics, const char *type, const char *name, const char *help,
		const char *labels, uint64_t value)
{
	struct family *family = find_family(metrics, type, name, help);
	bool has_labels = metrics->is_labelled || *labels;

	if (!family)
		return;
	fprintf(family->file, "smc_%s%s%s", name, strcmp(type, "counter") ? "" : "_total",
		has_labels ? "{" : "");
	if (metrics->is_labelled)
		fprintf(family->file, "netns=\"%s\",uid=\"%s\"%s", metrics->netns, metrics->pod,
			*labels ? "," : "");
	fprintf(family->file, "%s%s %" PRIu64 "\n", labels, has_labels ? "}" : "", value);
}

/* The role of a connection that is TCP is not known. */
static int count_socket(const struct diag_sock *sock, void *arg)
{
	struct connections *connections = arg;
	int role = !!(sock->has_pair ? sock->pair.role : sock->link.role);

	connections->has_socket = true;
	if (sock->msg.mode < MODES &&
	    sock->msg.state != SMC_DIAG_ST_LISTEN && sock->msg.state != SMC_DIAG_ST_INIT)
		connections->nr[sock->msg.mode][role]++;
	return 0;
}

static void add_connections(struct metrics *metrics, const struct connections *connections)
{
	static const char * const roles[] = { "client", "server" };
	char labels[LABELS_MAX];
	uint8_t mode, role;

	for (mode = 0; mode < MODES; mode++)
		for (role = 0; role < 2; role++) {
			const uint64_t *nr = connections->nr[mode];
			bool is_tcp = mode == SMC_DIAG_MODE_FALLBACK_TCP;

			if (is_tcp && role)
				continue;
			snprintf(labels, sizeof(labels), "mode=\"%s\",role=\"%s\"",
				 diag_mode_name(mode), is_tcp ? "unknown" : roles[role]);
			add(metrics, "gauge", "connections",
			    "Connections of SMC sockets by what moves their data", labels,
			    is_tcp ? nr[0] + nr[1] : nr[role]);
		}
}

static int add_fallback(int cmd, struct nlattr **tb, void *arg)
{
	struct metrics *metrics = arg;
	const char *role, *name;
	char labels[LABELS_MAX];
	uint32_t reason;
	uint64_t count;

	(void)cmd;
	if (!tb[SMC_GEN_FBACK_STATS])
		return 0;
	stats_fallback(tb[SMC_GEN_FBACK_STATS], &role, &reason, &count);
	name = reason_name(reason);
	snprintf(labels, sizeof(labels), "role=\"%s\",code=\"0x%08x\",reason=\"%s\"", role, reason,
		 name ? name : "");
	add(metrics, "counter", "fallback", "Connections that became TCP, by reason", labels,
	    count);
	return 0;
}

static struct device *find_device(struct devices *devices, const char *name)
{
	struct device *device = devices->first;

	while (device && strcmp(device->name, name))
		device = device->next;
	if (device)
		return device;
	device = calloc(1, sizeof(*device));
	if (!device) {
		devices->metrics->error = "out of memory";
		return NULL;
	}
	snprintf(device->name, sizeof(device->name), "%s", name);
	device->next = devices->first;
	devices->first = device;
	return device;
}

static int count_link(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1], *nest = tb[SMC_GEN_LINK_SMCR];
	uint64_t state = fields_number(nest, SMC_NLA_LINK_STATE);
	struct device *device;

	(void)cmd;
	if (!nest || nla_parse_nested(in, FIELD_MAX, nest, NULL) < 0 || !in[SMC_NLA_LINK_IB_DEV])
		return 0;
	device = find_device(arg, nla_get_string(in[SMC_NLA_LINK_IB_DEV]));
	if (!device)
		return 1;
	device->links[state < LINK_CONDITIONS && state ? state : SMC_LINK_IS_INACTIVE]++;
	device->connections += fields_number(nest, SMC_NLA_LINK_CONN_CNT);
	return 0;
}

static void add_links(struct metrics *metrics, const struct device *device)
{
	char labels[LABELS_MAX];
	int state;

	for (state = SMC_LINK_IS_INACTIVE; state < LINK_CONDITIONS; state++) {
		snprintf(labels, sizeof(labels), "device=\"%s\",state=\"%s\"", device->name,
			 link_conditions[state]);
		add(metrics, "gauge", "links", "Links of all groups", labels,
		    device->links[state]);
	}
	snprintf(labels, sizeof(labels), "device=\"%s\"", device->name);
	add(metrics, "gauge", "link_connections", "Connections on links", labels,
	    device->connections);
}

/* A device has counters in the network namespace that has it, for those of all of them. */
static int add_device(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1], *nest = tb[SMC_GEN_DEV_SMCR];
	struct metrics *metrics = arg;
	char labels[LABELS_MAX];
	size_t i;

	(void)cmd;
	if (!nest || nla_parse_nested(in, FIELD_MAX, nest, NULL) < 0 || !in[SMC_NLA_DEV_IB_NAME] ||
	    !in[SMC_NLA_DEV_COUNTS])
		return 0;
	snprintf(labels, sizeof(labels), "device=\"%s\"",
		 nla_get_string(in[SMC_NLA_DEV_IB_NAME]));
	for (i = 0; i < ARRAY_SIZE(device_counters); i++)
		add(metrics, "counter", device_counters[i].name, device_counters[i].help, labels,
		    fields_number(in[SMC_NLA_DEV_COUNTS], device_counters[i].count));
	return 0;
}

static int add_devices(struct metrics *metrics)
{
	struct devices devices = { .metrics = metrics };
	struct device *device;
	int err;

	err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_LINK_SMCR, NULL, count_link, &devices,
		       NULL);
	while ((device = devices.first)) {
		add_links(metrics, device);
		devices.first = device->next;
		free(device);
	}
	return err ? err : genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_DEV_SMCR, NULL,
				    add_device, metrics, NULL);
}

static bool is_used(const struct stats *stats, const struct connections *connections)
{
	size_t i = 0;

	while (i < stats->nr && !stats->counters[i].value)
		i++;
	return i < stats->nr || connections->has_socket;
}

/* The first network namespace is shown in any case: then no family is missing. */
static int add_netns(const char *name, const char *pod, void *arg)
{
	struct connections connections = { 0 };
	struct metrics *metrics = arg;
	struct stats stats;
	size_t i;
	int err;

	metrics->netns = name;
	metrics->pod = pod;
	if (stats_read(&stats))
		return EXIT_FAILURE;
	err = diag_dump(NULL, count_socket, &connections);
	if (err) {
		fprintf(stderr, "smc: sock_diag: %s (is the module smc_diag loaded?)\n",
			nl_geterror(err));
		return EXIT_FAILURE;
	}
	if (metrics->nr_families && !is_used(&stats, &connections))
		return 0;
	for (i = 0; i < stats.nr; i++)
		add(metrics, "counter", stats.counters[i].name, NULL, "", stats.counters[i].value);
	if (genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_FBACK_STATS, NULL, add_fallback, metrics,
		     NULL))
		return EXIT_FAILURE;
	add_connections(metrics, &connections);
	return add_devices(metrics) ? EXIT_FAILURE : 0;
}

static void print_family(struct metrics *metrics, struct family *family, bool is_shown)
{
	bool failed = ferror(family->file);

	if (fclose(family->file) || failed)
		metrics->error = "out of memory";
	if (is_shown && !metrics->error) {
		printf("# TYPE smc_%s %s\n", family->name, family->type);
		if (family->help)
			printf("# HELP smc_%s %s.\n", family->name, family->help);
		fputs(family->lines, stdout);
	}
	free(family->lines);
}

/**
 * cmd_metrics() - print counters, connections and links for a monitoring system
 * @args: option a for all network namespaces of the host
 *
 * The output ends with "# EOF" only if it is whole.
 *
 * Return: exit status.
 */
int cmd_metrics(const struct args *args)
{
	static struct metrics metrics;
	size_t i;
	int err;

	metrics.is_labelled = args->option['a'];
	err = metrics.is_labelled ? netns_each(add_netns, &metrics) :
				    add_netns(NULL, NULL, &metrics);
	for (i = 0; i < metrics.nr_families; i++)
		print_family(&metrics, &metrics.families[i], !err);
	if (metrics.error)
		fprintf(stderr, "smc: %s\n", metrics.error);
	if (err || metrics.error)
		return EXIT_FAILURE;
	printf("# EOF\n");
	return 0;
}
