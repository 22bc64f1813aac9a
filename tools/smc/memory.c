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
	{ SMC_NLA_EVENT_PEER_ADDR, "peer_address", "PEER", FIELD_ADDRESS },
	{ SMC_NLA_EVENT_PEER_PORT, "peer_port", "PORT" },
	{ SMC_NLA_EVENT_FAILURE, "failure", "WHAT", FIELD_NAME, failures, ARRAY_SIZE(failures) },
	{ SMC_NLA_EVENT_AGE_MS, "age_ms", "AGE-MS" },
	{ SMC_NLA_EVENT_MS, "left_ms", "LEFT-MS" },
	{ SMC_NLA_EVENT_REASON, "reason", "REASON", FIELD_REASON },
	{ SMC_NLA_EVENT_PEER_DIAGNOSIS, "peer_diagnosis", "PEER-SAYS", FIELD_REASON },
	{ SMC_NLA_EVENT_TEXT, "text", "TEXT", FIELD_TEXT },
	{ }
};

static const struct dump peers = {
	"peers", SMC_NETLINK_DUMP_PEERS, SMC_GEN_EVENT, peer_fields
};

static int print_record(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *in[FIELD_MAX + 1];
	struct output *out = arg;

	(void)cmd;
	if (!tb[SMC_GEN_EVENT] ||
	    nla_parse_nested(in, FIELD_MAX, tb[SMC_GEN_EVENT], NULL) < 0)
		return 0;
	if (out->is_json)
		output_add(out, event_fields, in);
	else
		event_row(&out->table, SMC_NETLINK_EVENT_TCP, tb);
	return 0;
}

/**
 * cmd_history() - show the connections of this network namespace that became TCP
 * @args: option j for JSON
 *
 * Return: exit status.
 */
int cmd_history(const struct args *args)
{
	struct output out;

	output_begin(&out, args, "history", NULL);
	if (!out.is_json)
		event_head(&out.table);
	return output_end(&out, genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_HISTORY, NULL,
					 print_record, &out, NULL));
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

	if (!strcmp(what, "forget"))
		return args->nr_words < 2 ? wrong("forget which peer?") : forget(args->words[1]);
	if (strcmp(what, "show") && strcmp(what, "flush"))
		return wrong("\"%s\" is none of show, forget and flush", what);
	if (args->nr_words > 1)
		return wrong("%s takes no argument \"%s\"", what, args->words[1]);
	if (*what == 'f')
		return genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_FLUSH_PEERS, NULL, NULL, NULL,
				NULL) ? EXIT_FAILURE : 0;
	return dump_print(&peers, args);
}
