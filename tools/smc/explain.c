// SPDX-License-Identifier: GPL-2.0
/*
 * smc explain: what a connection to a host would use, and why. The module makes its choice
 * without a connection; `smc check` examines this host and the way there from outside.
 */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netlink/attr.h>

#include "smc.h"

#define NAME_MAX_LEN 256

static const struct {
	const char *name;
	const char *mend;
} checks[SMC_EXPLAIN_ID_MAX + 1] = {
	[SMC_EXPLAIN_POLICY] = { "policy", "`smc policy` shows the rules; or `smc drain --undo`" },
	[SMC_EXPLAIN_DEVICES] = { "devices", "`rdma link`; net.smc.same_host for loopback" },
	[SMC_EXPLAIN_MEMORY] = { "memory", "remove the cause, then `smc peers forget`" },
	[SMC_EXPLAIN_ROUTE] = { "route", "`ip route get`" },
	[SMC_EXPLAIN_IPSEC] = { "ipsec", "see `ip xfrm policy`: RDMA would bypass it" },
	[SMC_EXPLAIN_PNETID] = { "pnetid", NULL },
	[SMC_EXPLAIN_PORT_V1] = { "port, v1", "an RDMA port on this interface, or `smc pnet`" },
	[SMC_EXPLAIN_PORT_V2] = { "port, v2", "a RoCE v2 GID of the family of the address" },
	[SMC_EXPLAIN_EID] = { "eid, v2", "`smc ueid add NAME` here and there" },
};

static const struct field check_fields[] = {
	{ SMC_NLA_CHECK_OK, "ok" },
	{ SMC_NLA_CHECK_TEXT, "text", "", 0, FIELD_TEXT },
	{ SMC_NLA_CHECK_NUMBER, "number" },
	{ SMC_NLA_CHECK_REASON, "reason" },
	{ }
};

struct printer {
	struct json *json;	/* NULL: a table */
	bool is_smc;
};

static void print_check(const struct printer *printer, int id, const struct nlattr *nest)
{
	bool is_ok = fields_number(nest, SMC_NLA_CHECK_OK);

	if (printer->json) {
		json_open(printer->json, NULL, '{');
		json_string(printer->json, "check", checks[id].name);
		fields_json(printer->json, check_fields, nest);
		json_string(printer->json, "mend", is_ok ? "" : checks[id].mend);
		json_close(printer->json, '}');
		return;
	}
	printf("%-10s %-4s", checks[id].name, is_ok ? "yes" : "NO");
	fields_words(check_fields, nest);
	putchar('\n');
	if (!is_ok)
		printf("%-15s mend: %s\n", "", checks[id].mend);
}

static void print_verdict(struct printer *printer, struct nlattr **tb)
{
	bool v1 = tb[SMC_NLA_EXPLAIN_V1] && nla_get_u8(tb[SMC_NLA_EXPLAIN_V1]);
	bool v2 = tb[SMC_NLA_EXPLAIN_V2] && nla_get_u8(tb[SMC_NLA_EXPLAIN_V2]);
	const char *text = tb[SMC_NLA_EXPLAIN_TEXT] ? nla_get_string(tb[SMC_NLA_EXPLAIN_TEXT]) :
						      "there is no route";

	printer->is_smc = v1 || v2;
	if (printer->json) {
		json_close(printer->json, ']');
		json_number(printer->json, "offers_v1", v1);
		json_number(printer->json, "offers_v2", v2);
		if (tb[SMC_NLA_EXPLAIN_REASON])
			json_number(printer->json, "reason",
				    nla_get_u32(tb[SMC_NLA_EXPLAIN_REASON]));
		json_string(printer->json, "text", printer->is_smc ? "" : text);
	} else if (printer->is_smc) {
		printf("a connection offers SMC-R version %s; the peer may still decline\n",
		       v1 && v2 ? "1 and 2" : v1 ? "1" : "2");
	} else {
		printf("a connection uses TCP: %s\n", text);
	}
}

static int print_answer(int cmd, struct nlattr **tb, void *arg)
{
	struct nlattr *check[SMC_EXPLAIN_ID_MAX + 1], *nest = tb[SMC_NLA_EXPLAIN_CHECKS];
	struct printer *printer = arg;
	int i;

	(void)cmd;
	if (printer->json)
		json_open(printer->json, "checks", '[');
	if (nest && nla_parse_nested(check, SMC_EXPLAIN_ID_MAX, nest, NULL) >= 0)
		for (i = 1; i <= SMC_EXPLAIN_ID_MAX; i++)
			if (check[i])
				print_check(printer, i, check[i]);
	print_verdict(printer, tb);
	return ferror(stdout);
}

/* A name with or without a port. Return: false after a message. */
static bool resolve(const char *text, struct in6_addr *addr, uint16_t *port)
{
	const struct addrinfo hints = { .ai_family = AF_INET6, .ai_flags = AI_V4MAPPED,
					.ai_socktype = SOCK_STREAM };
	const char *colon = strchr(text, ':');
	char name[NAME_MAX_LEN];
	uint64_t number = 0;
	struct addrinfo *found;
	int err;

	if (colon && (!number_read(colon + 1, '\0', UINT16_MAX, &number) || !number)) {
		wrong("\"%s\" is no port from 1 to 65535", colon + 1);
		return false;
	}
	snprintf(name, sizeof(name), "%.*s", colon ? (int)(colon - text) : NAME_MAX_LEN, text);
	err = getaddrinfo(name, NULL, &hints, &found);
	if (err) {
		wrong("%s: %s", name, gai_strerror(err));
		return false;
	}
	*addr = ((const struct sockaddr_in6 *)found->ai_addr)->sin6_addr;
	*port = number;
	freeaddrinfo(found);
	return true;
}

struct sought {
	uint64_t inode;
	struct diag_sock sock;
	bool is_found;
};

static int seek_socket(const struct diag_sock *sock, void *arg)
{
	struct sought *sought = arg;

	if (sock->msg.inode == sought->inode) {
		sought->sock = *sock;
		sought->is_found = true;
	}
	return sought->is_found;
}

/* The number of a socket, or the file in /proc of a descriptor. Return: exit status */
static int read_inode(const char *text, uint64_t *inode)
{
	static const char prefix[] = "socket:[";
	char link[sizeof(prefix) + 21];
	ssize_t len;

	if (*text != '/') {
		if (number_read(text, '\0', UINT32_MAX, inode))
			return 0;
		return wrong("\"%s\" is no inode and no path like /proc/1/fd/3", text);
	}
	len = readlink(text, link, sizeof(link) - 1);
	/* EINVAL: no link */
	if (len < 0 && errno != EINVAL) {
		fprintf(stderr, "smc: %s: %s\n", text, strerror(errno));
		return EXIT_FAILURE;
	}
	link[len < 0 ? 0 : len] = '\0';
	if (strncmp(link, prefix, strlen(prefix)) ||
	    !number_read(link + strlen(prefix), ']', UINT32_MAX, inode))
		return wrong("%s is no socket", text);
	return 0;
}

/* Finds a socket and its peer. Return: exit status */
static int socket_peer(const char *text, struct sought *sought, struct in6_addr *addr,
		       uint16_t *port)
{
	char local[ADDR_TEXT], peer[ADDR_TEXT];
	int err = read_inode(text, &sought->inode);

	if (err)
		return err;
	err = diag_dump(seek_socket, sought);
	if (err) {
		list_error(err);
		return EXIT_FAILURE;
	}
	if (!sought->is_found) {
		fprintf(stderr, "smc: no SMC socket here has inode %llu: `smc list -v`\n",
			(unsigned long long)sought->inode);
		return EXIT_FAILURE;
	}
	list_endpoints(&sought->sock, local, peer);
	if (addr_read_service(peer, addr, port))
		return 0;
	fprintf(stderr, "smc: this socket has no peer\n");
	return EXIT_FAILURE;
}

static int destination(const struct args *args, struct sought *sought, struct in6_addr *addr,
		       uint16_t *port)
{
	const char *host = args->words[0];

	if (!host == !args->option['s'])
		return wrong("explain takes either a host or a socket");
	if (!host)
		return socket_peer(args->option['s'], sought, addr, port);
	return addr_read_service(host, addr, port) || resolve(host, addr, port) ? 0 : EXIT_USAGE;
}

/**
 * cmd_explain() - say what a connection to a host would use, and why
 * @args: a host, with a port or without, or option s with a socket, which is listed and whose
 *	peer is the host; option j for JSON
 *
 * Return: exit status, EXIT_FAILURE if it would use TCP.
 */
int cmd_explain(const struct args *args)
{
	struct json json = { .file = stdout };
	struct printer printer = { .json = args->option['j'] ? &json : NULL };
	struct in6_addr addr;
	uint16_t port = 0;
	const struct genl_attr attrs[] = {
		{ .type = SMC_NLA_EXPLAIN_PEER_ADDR, .data = &addr, .len = sizeof(addr) },
		{ .type = SMC_NLA_EXPLAIN_PEER_PORT, .data = &port, .len = sizeof(port) }, { }
	};
	const struct genl_attr host[] = { attrs[0], { } };
	struct sought sought = { 0 };
	int err = destination(args, &sought, &addr, &port);

	if (err)
		return err;
	if (printer.json)
		json_begin(&json);
	if (sought.is_found)
		list_print(&sought.sock, printer.json);
	err = genl_ask(SMC_GENL_FAMILY_NAME, SMC_NETLINK_DUMP_EXPLAIN, port ? attrs : host,
		       print_answer, &printer, NULL);
	if (printer.json)
		json_close(&json, '}');
	return err || !printer.is_smc ? EXIT_FAILURE : 0;
}
