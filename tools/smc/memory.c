// SPDX-License-Identifier: GPL-2.0
/*
 * smc history and smc peers: connections that became TCP, and the hosts and services to which
 * connections use TCP for some time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>

#include "smc.h"

static const char * const failures[] = { "host", "host, once up", "route to host", "client" };

static const struct field peer_fields[] = {
	{ SMC_NLA_EVENT_PEER_ADDR, "peer_address", "PEER", 24, FIELD_ADDRESS },
	{ SMC_NLA_EVENT_PEER_PORT, "peer_port", "PORT", 5 },
	{ SMC_NLA_EVENT_FAILURE, "failure", "WHAT", 13, FIELD_NAME, failures,
	  ARRAY_SIZE(failures) },
	{ SMC_NLA_EVENT_AGE_MS, "age_ms", "AGE-MS", 8 },
	{ SMC_NLA_EVENT_MS, "left_ms", "LEFT-MS", 8 },
	{ SMC_NLA_EVENT_REASON, "reason" },
	{ SMC_NLA_EVENT_PEER_DIAGNOSIS, "peer_diagnosis" },
	{ SMC_NLA_EVENT_TEXT, "text", "REASON", 0, FIELD_TEXT },
	{ }
};

static int print_peer(int cmd, struct nlattr **tb, void *arg)
{
	struct json *json = arg;

	(void)cmd;
	if (!json) {
		fields_row(peer_fields, tb[SMC_GEN_EVENT]);
		return ferror(stdout);
	}
	json_open(json, NULL, '{');
	fields_json(json, peer_fields, tb[SMC_GEN_EVENT]);
	json_close(json, '}');
	return ferror(stdout);
}

static int print_record(int cmd, struct nlattr **tb, void *arg)
{
	struct json *json = arg;

	(void)cmd;
	if (!json) {
		event_print(tb[SMC_GEN_EVENT]);
		return ferror(stdout);
	}
	json_open(json, NULL, '{');
	fields_json(json, event_fields, tb[SMC_GEN_EVENT]);
	json_close(json, '}');
	return ferror(stdout);
}

static int show(int cmd, const char *name, genl_visit visit, bool as_json)
{
	struct json json = { .file = stdout };
	int err;

	if (as_json) {
		json_begin(&json);
		json_open(&json, name, '[');
	}
	err = genl_ask(SMC_GENL_FAMILY_NAME, cmd, NULL, visit, as_json ? &json : NULL, NULL);
	if (as_json) {
		json_close(&json, ']');
		json_close(&json, '}');
	}
	return err ? EXIT_FAILURE : 0;
}

/**
 * cmd_history() - show the connections of this network namespace that became TCP
 * @args: option j for JSON
 *
 * Return: exit status.
 */
int cmd_history(const struct args *args)
{
	return show(SMC_NETLINK_DUMP_HISTORY, "history", print_record, args->option['j']);
}

static const char *peers_error(int cmd, int err)
{
	(void)cmd;
	return err == -ENOENT ? "nothing is remembered of that" : NULL;
}

static int forget(const char *text)
{
	struct in6_addr addr;
	uint16_t port = 0;
	const struct genl_attr attrs[] = {
		{ .type = SMC_NLA_EVENT_PEER_ADDR, .data = &addr, .len = sizeof(addr) },
		/* 0 ends the list */
		{ .type = SMC_NLA_EVENT_PEER_PORT, .data = &port, .len = sizeof(port) }, { }
	};
	const struct genl_attr host[] = { attrs[0], { } };

	if (!addr_read_service(text, &addr, &port))
		return wrong("\"%s\" is no IP address, ADDRESS:PORT or [ADDRESS]:PORT", text);
	return genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_FORGET_PEER, port ? attrs : host, NULL,
			NULL, peers_error) ? EXIT_FAILURE : 0;
}

/**
 * cmd_peers() - show or forget the hosts and services to which connections use TCP
 * @args: the words say what; option j for JSON
 *
 * Return: exit status.
 */
int cmd_peers(const struct args *args)
{
	const char *what = args->nr_words ? args->words[0] : "show";
	bool as_json = args->option['j'];

	if (!strcmp(what, "forget"))
		return args->nr_words < 2 ? wrong("forget which peer?") : forget(args->words[1]);
	if (strcmp(what, "show") && strcmp(what, "flush"))
		return wrong("\"%s\" is none of show, forget and flush", what);
	if (args->nr_words > 1)
		return wrong("%s takes no argument \"%s\"", what, args->words[1]);
	if (*what == 'f')
		return genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_FLUSH_PEERS, NULL, NULL, NULL,
				NULL) ? EXIT_FAILURE : 0;
	if (!as_json)
		fields_head(peer_fields);
	return show(SMC_NETLINK_DUMP_PEERS, "peers", print_peer, as_json);
}
