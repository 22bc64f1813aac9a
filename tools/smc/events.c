// SPDX-License-Identifier: GPL-2.0
/*
 * smc events: what happens to groups, links and connections, as it happens.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <netlink/attr.h>

#include "smc.h"

static const char * const names[] = {
	"group-up", "group-down", "link-up", "link-down", "tcp", "peer-remembered",
	"service-remembered", "connection-end",
};

static const char * const roles[] = { "client", "server" };
static const char * const modes[] = { "SMC-R", "TCP", "memory" };

const struct field event_fields[] = {
	{ SMC_NLA_EVENT_TIME, "time_ns" },
	{ SMC_NLA_EVENT_ROLE, "role", NULL, FIELD_NAME, roles, ARRAY_SIZE(roles) },
	{ SMC_NLA_EVENT_ADDR, "local_address", .kind = FIELD_ADDRESS },
	{ SMC_NLA_EVENT_PORT, "local_port" },
	{ SMC_NLA_EVENT_PEER_ADDR, "peer_address", .kind = FIELD_ADDRESS },
	{ SMC_NLA_EVENT_PEER_PORT, "peer_port" },
	{ SMC_NLA_EVENT_COOKIE, "cookie" },
	{ SMC_NLA_EVENT_MS, "remembered_ms" },
	{ SMC_NLA_EVENT_REASON, "reason", .kind = FIELD_REASON },
	{ SMC_NLA_EVENT_PEER_DIAGNOSIS, "peer_diagnosis", .kind = FIELD_REASON },
	{ SMC_NLA_EVENT_AGE_MS, "age_ms" },
	{ SMC_NLA_EVENT_TEXT, "text", .kind = FIELD_TEXT },
	{ SMC_NLA_EVENT_MODE, "mode", NULL, FIELD_NAME, modes, ARRAY_SIZE(modes) },
	{ SMC_NLA_EVENT_TX_BYTES, "tx_bytes" },
	{ SMC_NLA_EVENT_RX_BYTES, "rx_bytes" },
	{ SMC_NLA_EVENT_DURATION_MS, "duration_ms" },
	{ SMC_NLA_EVENT_CGROUP, "cgroup" },
	{ }
};

/* The line of an event; that of a connection that became TCP is also a row of the history. */
#define COLUMNS 6

static const struct {
	const char *title;
	int width;		/* where lines come one by one */
} columns[COLUMNS] = {
	{ "TIME", 23 }, { "EVENT", 18 }, { "ROLE", 6 }, { "LOCAL", 21 }, { "PEER", 21 },
	{ "DETAILS", 0 },
};

struct line {
	char cell[COLUMNS][512];
};

static const char *name_of(int cmd)
{
	size_t i = cmd - SMC_NETLINK_EVENT_LGR_UP;

	return i < ARRAY_SIZE(names) ? names[i] : "unknown";
}

static void put_time(char *text, uint64_t ns)
{
	time_t seconds = ns / 1000000000;
	size_t len = strftime(text, 32, "%F %T", localtime(&seconds));

	snprintf(text + len, 32 - len, ".%03u", (unsigned int)(ns / 1000000 % 1000));
}

/* An address with its port, if any, or an empty text */
static void put_end(char *text, const struct nlattr *addr, const struct nlattr *port)
{
	if (addr && nla_len(addr) == sizeof(struct in6_addr))
		addr_text(text, nla_data(addr), port ? nla_get_u16(port) : 0);
}

static void append(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char *text, const char *format, ...)
{
	size_t len = strlen(text), size = sizeof(((struct line *)0)->cell[0]);
	va_list values;

	va_start(values, format);
	vsnprintf(text + len, size - len, format, values);
	va_end(values);
}

static uint64_t number_of(const struct nlattr *attr)
{
	return attr && nla_len(attr) == sizeof(uint64_t) ? nla_get_u64(attr) : 0;
}

/* Of a connection that has left SMC */
static void put_record(char *text, struct nlattr **event)
{
	uint64_t ms = number_of(event[SMC_NLA_EVENT_DURATION_MS]);
	uint64_t cgroup = number_of(event[SMC_NLA_EVENT_CGROUP]);
	char mount[PATH_MAX], path[PATH_MAX];

	append(text, "%s, sent %" PRIu64 ", received %" PRIu64 " bytes in %" PRIu64 ".%03u s",
	       diag_mode_name(nla_get_u8(event[SMC_NLA_EVENT_MODE])),
	       number_of(event[SMC_NLA_EVENT_TX_BYTES]), number_of(event[SMC_NLA_EVENT_RX_BYTES]),
	       ms / 1000, (unsigned int)(ms % 1000));
	if (cgroup && cgroup_find_mount(mount) && cgroup_path(mount, cgroup, path))
		append(text, ", cgroup %s", path);
}

static void put_details(char *text, struct nlattr **tb, struct nlattr **event)
{
	uint32_t reason = event[SMC_NLA_EVENT_REASON] ?
			  nla_get_u32(event[SMC_NLA_EVENT_REASON]) : 0;
	struct nlattr *link[FIELD_MAX + 1];
	char words[REASON_WORDS];

	if (event[SMC_NLA_EVENT_MODE])
		put_record(text, event);
	if (tb[SMC_GEN_LGR_SMCR])
		append(text, "group %08x", (uint32_t)fields_number(tb[SMC_GEN_LGR_SMCR],
								   SMC_NLA_LGR_R_ID));
	if (tb[SMC_GEN_LINK_SMCR] &&
	    nla_parse_nested(link, FIELD_MAX, tb[SMC_GEN_LINK_SMCR], NULL) >= 0)
		append(text, " link %u on %s",
		       link[SMC_NLA_LINK_ID] ? nla_get_u8(link[SMC_NLA_LINK_ID]) : 0,
		       link[SMC_NLA_LINK_IB_DEV] ? nla_get_string(link[SMC_NLA_LINK_IB_DEV]) : "?");
	if (event[SMC_NLA_EVENT_MS])
		append(text, "%sfor %u ms", *text ? ", " : "",
		       nla_get_u32(event[SMC_NLA_EVENT_MS]));
	if (reason) {
		reason_words(words, reason, event[SMC_NLA_EVENT_AGE_MS] ?
			     nla_get_u32(event[SMC_NLA_EVENT_AGE_MS]) : 0,
			     event[SMC_NLA_EVENT_PEER_DIAGNOSIS] ?
			     nla_get_u32(event[SMC_NLA_EVENT_PEER_DIAGNOSIS]) : 0);
		append(text, "%s%s", *text ? ": " : "", words);
	} else if (event[SMC_NLA_EVENT_TEXT]) {
		append(text, "%s%s", *text ? ": " : "", nla_get_string(event[SMC_NLA_EVENT_TEXT]));
	}
}

/* Return: false if it is no event */
static bool get_line(struct line *line, int cmd, struct nlattr **tb)
{
	struct nlattr *event[FIELD_MAX + 1], *group[FIELD_MAX + 1] = { 0 }, *role;

	memset(line, 0, sizeof(*line));
	if (!tb[SMC_GEN_EVENT] ||
	    nla_parse_nested(event, FIELD_MAX, tb[SMC_GEN_EVENT], NULL) < 0 ||
	    (tb[SMC_GEN_LGR_SMCR] &&
	     nla_parse_nested(group, FIELD_MAX, tb[SMC_GEN_LGR_SMCR], NULL) < 0))
		return false;
	if (event[SMC_NLA_EVENT_TIME])
		put_time(line->cell[0], nla_get_u64(event[SMC_NLA_EVENT_TIME]));
	snprintf(line->cell[1], sizeof(line->cell[1]), "%s", name_of(cmd));
	role = event[SMC_NLA_EVENT_ROLE] ?: group[SMC_NLA_LGR_R_ROLE];
	if (role)
		snprintf(line->cell[2], sizeof(line->cell[2]), "%s", roles[nla_get_u8(role) & 1]);
	put_end(line->cell[3], event[SMC_NLA_EVENT_ADDR], event[SMC_NLA_EVENT_PORT]);
	put_end(line->cell[4], event[SMC_NLA_EVENT_PEER_ADDR] ?: group[SMC_NLA_LGR_R_PEER_ADDR],
		event[SMC_NLA_EVENT_PEER_PORT]);
	put_details(line->cell[5], tb, event);
	return true;
}

/**
 * event_head() - begin a table of events
 * @table: zeroed
 */
void event_head(struct table *table)
{
	int i;

	for (i = 0; i < COLUMNS; i++)
		table_title(table, columns[i].title, false);
}

/**
 * event_row() - add an event to a table
 * @table: after event_head()
 * @cmd: of the event
 * @tb: its attributes
 */
void event_row(struct table *table, int cmd, struct nlattr **tb)
{
	struct line line;
	int i;

	for (i = 0; get_line(&line, cmd, tb) && i < COLUMNS; i++)
		table_cell(table, line.cell[i]);
}

static void print_line(int cmd, struct nlattr **tb)
{
	struct line line;
	int i;

	if (!get_line(&line, cmd, tb))
		return;
	for (i = 0; i < COLUMNS; i++)
		printf("%-*s%c", columns[i].width, *line.cell[i] ? line.cell[i] : "-",
		       i + 1 < COLUMNS ? ' ' : '\n');
}

static int print_event(int cmd, struct nlattr **tb, void *arg)
{
	const bool *as_json = arg;
	struct json json = { .is_line = true };

	if (!tb[SMC_GEN_EVENT])
		return 0;
	if (!*as_json) {
		print_line(cmd, tb);
		return fflush(stdout);
	}
	json_begin(&json);
	json_string(&json, "event", name_of(cmd));
	fields_json(&json, event_fields, tb[SMC_GEN_EVENT]);
	if (tb[SMC_GEN_LGR_SMCR]) {
		json_open(&json, "group", '{');
		fields_json(&json, group_fields, tb[SMC_GEN_LGR_SMCR]);
		json_close(&json, '}');
	}
	if (tb[SMC_GEN_LINK_SMCR]) {
		json_open(&json, "link", '{');
		fields_json(&json, link_fields, tb[SMC_GEN_LINK_SMCR]);
		json_close(&json, '}');
	}
	json_end(&json, 0);
	return fflush(stdout);
}

/**
 * cmd_events() - print events until the tool is interrupted
 * @args: option e for ends of connections instead, j for an object of JSON on each line
 *
 * Return: exit status.
 */
int cmd_events(const struct args *args)
{
	bool as_json = args->option['j'];

	return genl_watch(SMC_GENL_FAMILY_NAME,
			  args->option['e'] ? SMC_GENL_ENDS : SMC_GENL_EVENTS, print_event,
			  &as_json) ? EXIT_FAILURE : 0;
}
