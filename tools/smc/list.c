// SPDX-License-Identifier: GPL-2.0
/*
 * smc list: the transport of each SMC socket, and the reason if it is TCP.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netlink/errno.h>

#include "smc.h"

struct printer {
	struct output out;
	bool verbose;
	bool has_mode;	/* only sockets of one mode are wanted */
};

/* The columns, and how wide they are where lines come one by one */
#define COLUMNS 6

static const struct {
	const char *title;
	int width;
} columns[COLUMNS] = {
	{ "STATE", 16 }, { "MODE", 6 }, { "LOCAL", 28 }, { "PEER", 28 }, { "PROCESS", 22 },
	{ "DETAILS", 0 },
};

struct line {
	char cell[COLUMNS][512];
};

static_assert(INET6_ADDRSTRLEN + sizeof("[]:65535") <= ADDR_TEXT, "room for an address");

/* IPv4 addresses fill the first word only; the wildcard address of either family is zero. */
static bool is_v4(const struct diag_sock *sock)
{
	const struct inet_diag_sockid *id = &sock->msg.id;

	if (sock->has_queue)
		return sock->queue.family == AF_INET;
	return !(id->idiag_src[1] | id->idiag_src[2] | id->idiag_src[3] |
		 id->idiag_dst[1] | id->idiag_dst[2] | id->idiag_dst[3]);
}

static void endpoint(char *text, const struct diag_sock *sock,
		     const __be32 *addr, __be16 port)
{
	char host[INET6_ADDRSTRLEN];
	bool v4 = is_v4(sock);

	inet_ntop(v4 ? AF_INET : AF_INET6, addr, host, sizeof(host));
	snprintf(text, ADDR_TEXT, v4 ? "%s:%u" : "[%s]:%u", host, ntohs(port));
}

/**
 * list_endpoints() - write the addresses and ports of a socket as text
 * @sock: the socket
 * @local: filled
 * @peer: filled
 */
void list_endpoints(const struct diag_sock *sock, char local[ADDR_TEXT], char peer[ADDR_TEXT])
{
	const struct inet_diag_sockid *id = &sock->msg.id;

	endpoint(local, sock, id->idiag_src, id->idiag_sport);
	endpoint(peer, sock, id->idiag_dst, id->idiag_dport);
}

/* The transport is undecided until the socket is connected. */
static const char *mode_of(const struct diag_sock *sock)
{
	const struct smc_diag_msg *msg = &sock->msg;

	if (msg->mode == SMC_DIAG_MODE_SMCR && !sock->has_conn &&
	    (msg->state == SMC_DIAG_ST_INIT || msg->state == SMC_DIAG_ST_LISTEN))
		return "-";
	return diag_mode_name(msg->mode);
}

static const char *role_of(const struct diag_sock *sock)
{
	return (sock->has_pair ? sock->pair.role : sock->link.role) ? "server" : "client";
}

static bool is_peer_gone(const struct diag_sock *sock)
{
	return !sock->pair.peer_token;
}

static bool is_peer_elsewhere(const struct diag_sock *sock)
{
	return sock->dmb.peer_gid && sock->dmb.peer_gid != sock->dmb.my_gid;
}

/**
 * list_other_end() - name the processes at the other end of a connection in memory
 * @sock: the connection
 * @text: filled
 * @size: of @text
 */
void list_other_end(const struct diag_sock *sock, char *text, size_t size)
{
	const struct process *process;
	size_t nr, i, len = 0;

	process = process_find(sock->pair.peer_inode, &nr);
	text[0] = '\0';
	for (i = 0; i < nr && len < size; i++)
		len += snprintf(text + len, size - len, "%s%s[%d]", i ? ", " : "",
				process[i].command, process[i].pid);
	if (!nr)
		len = snprintf(text, size, "%s", is_peer_gone(sock) ? "nobody any more" :
			       sock->pair.peer_inode ? "a process that is not shown" :
			       "no process");
	if (is_peer_elsewhere(sock) && len < size)
		snprintf(text + len, size - len, ", in another network namespace");
}

static void cursor_text(const char *name, const struct smc_diag_cursor *at)
{
	printf(" %s %u+%u", name, at->wrap, at->count);
}

/* The first process that has the socket open, and how many more */
static void put_process(char *text, size_t size, uint64_t inode)
{
	const struct process *process;
	size_t nr, len;

	process = process_find(inode, &nr);
	if (!nr)
		return;
	len = snprintf(text, size, "%s[%d]", process->command, process->pid);
	if (nr > 1 && len < size)
		snprintf(text + len, size - len, " +%zu", nr - 1);
}

static void get_line(struct line *line, const struct diag_sock *sock)
{
	char *details = line->cell[5], other[256];
	size_t size = sizeof(line->cell[5]), len;

	memset(line, 0, sizeof(*line));
	snprintf(line->cell[0], size, "%s", diag_state_name(sock->msg.state));
	snprintf(line->cell[1], size, "%s", mode_of(sock));
	list_endpoints(sock, line->cell[2], line->cell[3]);
	put_process(line->cell[4], size, sock->msg.inode);
	if (sock->fallback.reason) {
		reason_words(details, sock->fallback.reason, sock->memory_age,
			     sock->fallback.peer_diagnosis);
	} else if (sock->has_link) {
		snprintf(details, size, "link %u on %s port %u", sock->link.link_id,
			 sock->link.ibname, sock->link.ibport);
	} else if (sock->has_pair) {
		list_other_end(sock, other, sizeof(other));
		snprintf(details, size, "with %s", other);
	}
	len = strlen(details);
	if (sock->is_landing || sock->has_lost_tcp)
		snprintf(details + len, size - len, "%s%s", len ? ", " : "",
			 sock->is_landing ? "landing on TCP" : "TCP is lost");
}

static void print_verbose(const struct diag_sock *sock)
{
	const struct smc_diag_conninfo *conn = &sock->conn;
	struct line line;
	int i;

	get_line(&line, sock);
	for (i = 0; i < COLUMNS; i++)
		printf("%-*s%c", columns[i].width, *line.cell[i] ? line.cell[i] : "-",
		       i + 1 < COLUMNS ? ' ' : '\n');
	printf("\tuid %u inode %llu shutdown %u\n", sock->msg.uid,
	       (unsigned long long)sock->msg.inode, sock->shutdown);
	if (sock->has_link)
		printf("\t%s, gid %s, peer gid %s\n", role_of(sock),
		       sock->link.gid, sock->link.peer_gid);
	if (sock->has_pair)
		printf("\t%s, network namespace %llu; other end: %llu, inode %llu, token %08x\n",
		       role_of(sock), (unsigned long long)sock->dmb.my_gid,
		       (unsigned long long)sock->dmb.peer_gid,
		       (unsigned long long)sock->pair.peer_inode, sock->pair.peer_token);
	if (sock->has_group)
		printf("\tlink user ID %08x, of the peer %08x, links in the group: %u%s\n",
		       sock->group.user_id, sock->group.peer_user_id,
		       sock->group.nr_links,
		       sock->group.nr_links < 2 ? ", no redundancy" : "");
	if (sock->has_queue)
		printf("\tfor accept: %u, at most %u, in handshakes: %u, silent: %u\n",
		       sock->queue.queue, sock->queue.queue_max,
		       sock->queue.handshakes, sock->queue.deferred);
	if (!sock->has_conn)
		return;
	printf("\ttoken %08x, rings: send %u, receive %u, peer %u\n",
	       conn->token, conn->sndbuf_size, conn->rmbe_size,
	       conn->peer_rmbe_size);
	printf("\tsent:");
	cursor_text("written", &conn->tx_prep);
	cursor_text("posted", &conn->tx_sent);
	cursor_text("completed", &conn->tx_fin);
	cursor_text("announced", &conn->tx_prod);
	cursor_text("read by peer", &conn->tx_cons);
	printf(", flags %02x %02x\n\treceived:", conn->tx_flags.prod,
	       conn->tx_flags.conn_state);
	cursor_text("written", &conn->rx_prod);
	cursor_text("read", &conn->rx_cons);
	printf(", flags %02x %02x\n", conn->rx_flags.prod,
	       conn->rx_flags.conn_state);
}

static void cursor_json(struct json *json, const char *name,
			const struct smc_diag_cursor *at)
{
	json_open(json, name, '{');
	json_number(json, "wrap", at->wrap);
	json_number(json, "count", at->count);
	json_close(json, '}');
}

static void conn_json(struct json *json, const struct smc_diag_conninfo *conn)
{
	json_open(json, "connection", '{');
	json_number(json, "token", conn->token);
	json_number(json, "sndbuf_size", conn->sndbuf_size);
	json_number(json, "rmbe_size", conn->rmbe_size);
	json_number(json, "peer_rmbe_size", conn->peer_rmbe_size);
	json_number(json, "tx_prod_flags", conn->tx_flags.prod);
	json_number(json, "tx_conn_state_flags", conn->tx_flags.conn_state);
	json_number(json, "rx_prod_flags", conn->rx_flags.prod);
	json_number(json, "rx_conn_state_flags", conn->rx_flags.conn_state);
	cursor_json(json, "tx_prep", &conn->tx_prep);
	cursor_json(json, "tx_sent", &conn->tx_sent);
	cursor_json(json, "tx_fin", &conn->tx_fin);
	cursor_json(json, "tx_prod", &conn->tx_prod);
	cursor_json(json, "tx_cons", &conn->tx_cons);
	cursor_json(json, "rx_prod", &conn->rx_prod);
	cursor_json(json, "rx_cons", &conn->rx_cons);
	json_close(json, '}');
}

static void link_json(struct json *json, const struct diag_sock *sock)
{
	json_open(json, "link", '{');
	json_number(json, "id", sock->link.link_id);
	json_string(json, "role", role_of(sock));
	json_string(json, "device", sock->link.ibname);
	json_number(json, "port", sock->link.ibport);
	json_string(json, "gid", sock->link.gid);
	json_string(json, "peer_gid", sock->link.peer_gid);
	if (sock->has_group) {
		json_number(json, "user_id", sock->group.user_id);
		json_number(json, "peer_user_id", sock->group.peer_user_id);
		json_number(json, "links", sock->group.nr_links);
	}
	json_close(json, '}');
}

static void processes_json(struct json *json, const char *name, uint64_t inode)
{
	const struct process *process;
	size_t nr, i;

	process = process_find(inode, &nr);
	json_open(json, name, '[');
	for (i = 0; i < nr; i++) {
		json_open(json, NULL, '{');
		json_number(json, "pid", process[i].pid);
		json_string(json, "command", process[i].command);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void pair_json(struct json *json, const struct diag_sock *sock)
{
	json_open(json, "memory", '{');
	json_string(json, "role", role_of(sock));
	json_number(json, "netns", sock->dmb.my_gid);
	json_number(json, "peer_netns", sock->dmb.peer_gid);
	json_number(json, "peer_inode", sock->pair.peer_inode);
	json_number(json, "peer_token", sock->pair.peer_token);
	processes_json(json, "peer_processes", sock->pair.peer_inode);
	json_close(json, '}');
}

static void queue_json(struct json *json, const struct diag_sock *sock)
{
	json_open(json, "listener", '{');
	json_number(json, "queue", sock->queue.queue);
	json_number(json, "queue_max", sock->queue.queue_max);
	json_number(json, "handshakes", sock->queue.handshakes);
	json_number(json, "deferred", sock->queue.deferred);
	json_close(json, '}');
}

static void print_json(struct json *json, const char *name, const struct diag_sock *sock)
{
	char local[ADDR_TEXT], peer[ADDR_TEXT];

	list_endpoints(sock, local, peer);
	json_open(json, name, '{');
	json_string(json, "state", diag_state_name(sock->msg.state));
	json_string(json, "mode", mode_of(sock));
	json_string(json, "local", local);
	json_string(json, "peer", peer);
	json_bool(json, "landing", sock->is_landing);
	json_bool(json, "tcp_lost", sock->has_lost_tcp);
	json_number(json, "uid", sock->msg.uid);
	json_number(json, "inode", sock->msg.inode);
	json_number(json, "shutdown", sock->shutdown);
	processes_json(json, "processes", sock->msg.inode);
	json_reason(json, "reason", sock->fallback.reason);
	if (sock->memory_age)
		json_number(json, "memory_age_ms", sock->memory_age);
	json_reason(json, "peer_diagnosis", sock->fallback.peer_diagnosis);
	if (sock->has_conn)
		conn_json(json, &sock->conn);
	if (sock->has_link)
		link_json(json, sock);
	if (sock->has_pair)
		pair_json(json, sock);
	if (sock->has_queue)
		queue_json(json, sock);
	json_close(json, '}');
}

static int print_one(const struct diag_sock *sock, void *arg)
{
	struct printer *printer = arg;
	struct line line;
	int i;

	/* the kernel takes a socket whose mode is undecided for one of SMC-R */
	if (printer->has_mode && !strcmp(mode_of(sock), "-"))
		return 0;
	if (printer->out.is_json) {
		print_json(&printer->out.json, NULL, sock);
	} else if (printer->verbose) {
		print_verbose(sock);
	} else {
		get_line(&line, sock);
		for (i = 0; i < COLUMNS; i++)
			table_cell(&printer->out.table, line.cell[i]);
	}
	return ferror(stdout);
}

/**
 * list_print() - print one socket, as `smc list -v`
 * @sock: the socket
 * @json: NULL for text; else the object gets the member "socket"
 */
void list_print(const struct diag_sock *sock, struct json *json)
{
	if (json)
		print_json(json, "socket", sock);
	else
		print_verbose(sock);
}

/**
 * list_error() - say that the sockets are unknown
 * @err: what diag_dump() returned
 */
void list_error(int err)
{
	const char *module = access("/sys/module/smc", F_OK) ? "smc" : "smc_diag";

	if (err == -NLE_OBJ_NOTFOUND || err == -NLE_INVAL)
		fprintf(stderr, "smc: " NOT_LOADED "\n", module, module);
	else if (err == -NLE_OPNOTSUPP)
		fprintf(stderr, "smc: the module smc_diag that is loaded has no filter\n");
	else
		fprintf(stderr, "smc: %s\n", nl_geterror(err));
}

/**
 * cmd_list() - list the sockets of this network namespace
 * @args: option v for more lines, j for JSON; the words are a filter
 *
 * Return: exit status.
 */
int cmd_list(const struct args *args)
{
	struct printer printer = { .verbose = args->option['v'] };
	struct smc_diag_filter filter;
	int i, err;

	if (filter_read(args, &filter))
		return EXIT_USAGE;
	printer.has_mode = filter.modes != UINT8_MAX;
	output_begin(&printer.out, args, "sockets", NULL);
	for (i = 0; !printer.out.is_json && !printer.verbose && i < COLUMNS; i++)
		table_title(&printer.out.table, columns[i].title, false);
	err = diag_dump(args->nr_words ? &filter : NULL, print_one, &printer);
	if (err)
		list_error(err);
	return output_end(&printer.out, err);
}
