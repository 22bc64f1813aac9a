// SPDX-License-Identifier: GPL-2.0
/*
 * smc events: what happens to groups, links and connections, as it happens.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <netlink/attr.h>

#include "smc.h"

static const char * const names[] = {
	"group-up", "group-down", "link-up", "link-down", "tcp", "peer-remembered",
	"service-remembered",
};

static const char * const roles[] = { "client", "server" };

const struct field event_fields[] = {
	{ SMC_NLA_EVENT_TIME, "time_ns" },
	{ SMC_NLA_EVENT_ROLE, "role", "", 0, FIELD_NAME, roles, ARRAY_SIZE(roles) },
	{ SMC_NLA_EVENT_ADDR, "local_address", .kind = FIELD_ADDRESS },
	{ SMC_NLA_EVENT_PORT, "local_port" },
	{ SMC_NLA_EVENT_PEER_ADDR, "peer_address", "peer", 0, FIELD_ADDRESS },
	{ SMC_NLA_EVENT_PEER_PORT, "peer_port", "port", 0 },
	{ SMC_NLA_EVENT_COOKIE, "cookie" },
	{ SMC_NLA_EVENT_MS, "remembered_ms", "for ms", 0 },
	{ SMC_NLA_EVENT_REASON, "reason" },
	{ SMC_NLA_EVENT_PEER_DIAGNOSIS, "peer_diagnosis" },
	{ SMC_NLA_EVENT_AGE_MS, "age_ms", "remembered for ms", 0 },
	{ SMC_NLA_EVENT_TEXT, "text", ":", 0, FIELD_TEXT },
	{ }
};

static const struct field event_group[] = {
	{ SMC_NLA_LGR_R_ID, "id", "group", 0, FIELD_HEX },
	{ SMC_NLA_LGR_R_PEER_ADDR, "peer", "peer", 0, FIELD_ADDRESS },
	{ }
};

static const struct field event_link[] = {
	{ SMC_NLA_LINK_ID, "id", "link", 0 },
	{ SMC_NLA_LINK_IB_DEV, "device", "on", 0, FIELD_TEXT },
	{ }
};

static const char *name_of(int cmd)
{
	size_t i = cmd - SMC_NETLINK_EVENT_LGR_UP;

	return i < ARRAY_SIZE(names) ? names[i] : "unknown";
}

static void print_time(const struct nlattr *event)
{
	struct nlattr *tb[SMC_NLA_EVENT_MAX + 1];
	char text[32] = "-";
	uint64_t ns = 0;
	time_t seconds;

	if (event && nla_parse_nested(tb, SMC_NLA_EVENT_MAX, (struct nlattr *)event, NULL) >= 0 &&
	    tb[SMC_NLA_EVENT_TIME])
		ns = nla_get_u64(tb[SMC_NLA_EVENT_TIME]);
	seconds = ns / 1000000000;
	strftime(text, sizeof(text), "%F %T", localtime(&seconds));
	printf("%s.%03u", text, (unsigned int)(ns / 1000000 % 1000));
}

/**
 * event_print() - print a line with what concerns a connection
 * @event: the nest of its attributes, or NULL
 */
void event_print(const struct nlattr *event)
{
	print_time(event);
	fields_words(event_fields, event);
	putchar('\n');
}

static int print_event(int cmd, struct nlattr **tb, void *arg)
{
	const bool *as_json = arg;
	struct json json = { .file = stdout, .is_line = true };

	if (!tb[SMC_GEN_EVENT])
		return 0;
	if (!*as_json) {
		print_time(tb[SMC_GEN_EVENT]);
		printf(" %s", name_of(cmd));
		fields_words(event_group, tb[SMC_GEN_LGR_SMCR]);
		fields_words(event_link, tb[SMC_GEN_LINK_SMCR]);
		fields_words(event_fields, tb[SMC_GEN_EVENT]);
		putchar('\n');
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
	json_close(&json, '}');
	return fflush(stdout);
}

/**
 * cmd_events() - print events until the tool is interrupted
 * @args: option j for an object of JSON on each line
 *
 * Return: exit status.
 */
int cmd_events(const struct args *args)
{
	bool as_json = args->option['j'];

	return genl_watch(SMC_GENL_FAMILY_NAME, SMC_GENL_EVENTS, print_event, &as_json) ?
	       EXIT_FAILURE : 0;
}
