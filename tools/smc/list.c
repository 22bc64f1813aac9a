// SPDX-License-Identifier: GPL-2.0
/*
 * smc list: the transport of each SMC socket, and the reason if it is TCP.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netlink/errno.h>

#include "smc.h"

struct printer {
	struct json *json;	/* NULL: text */
	bool verbose;
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
	return sock->link.role ? "server" : "client";
}

static void cursor_text(const char *name, const struct smc_diag_cursor *at)
{
	printf(" %s %u+%u", name, at->wrap, at->count);
}

static void print_text(const struct diag_sock *sock, bool verbose)
{
	const struct smc_diag_conninfo *conn = &sock->conn;
	char local[ADDR_TEXT], peer[ADDR_TEXT];

	list_endpoints(sock, local, peer);
	printf("%-16s %-6s %-28s %-28s", diag_state_name(sock->msg.state),
	       mode_of(sock), local, peer);
	if (sock->fallback.reason)
		printf(" 0x%08x ", sock->fallback.reason);
	if (sock->memory_age)
		printf("remembered for %u.%u s: ", sock->memory_age / 1000,
		       sock->memory_age / 100 % 10);
	if (sock->fallback.reason)
		fputs(reason_text(sock->fallback.reason), stdout);
	if (sock->fallback.peer_diagnosis)
		printf(": 0x%08x %s", sock->fallback.peer_diagnosis,
		       reason_text(sock->fallback.peer_diagnosis));
	if (sock->has_link)
		printf(" link %u on %s port %u", sock->link.link_id,
		       sock->link.ibname, sock->link.ibport);
	putchar('\n');
	if (!verbose)
		return;

	printf("\tuid %u inode %llu shutdown %u\n", sock->msg.uid,
	       (unsigned long long)sock->msg.inode, sock->shutdown);
	if (sock->has_link)
		printf("\t%s, gid %s, peer gid %s\n", role_of(sock),
		       sock->link.gid, sock->link.peer_gid);
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
	cursor_text("told", &conn->tx_prod);
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
	json_number(json, "uid", sock->msg.uid);
	json_number(json, "inode", sock->msg.inode);
	json_number(json, "shutdown", sock->shutdown);
	json_number(json, "reason", sock->fallback.reason);
	json_string(json, "reason_text", reason_text(sock->fallback.reason));
	json_number(json, "memory_age_ms", sock->memory_age);
	json_number(json, "peer_diagnosis", sock->fallback.peer_diagnosis);
	json_string(json, "peer_diagnosis_text", reason_text(sock->fallback.peer_diagnosis));
	if (sock->has_conn)
		conn_json(json, &sock->conn);
	if (sock->has_link)
		link_json(json, sock);
	if (sock->has_queue)
		queue_json(json, sock);
	json_close(json, '}');
}

static int print_one(const struct diag_sock *sock, void *arg)
{
	struct printer *printer = arg;

	if (printer->json)
		print_json(printer->json, NULL, sock);
	else
		print_text(sock, printer->verbose);
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
		print_text(sock, true);
}

/**
 * list_error() - say that the sockets are unknown
 * @err: what diag_dump() returned
 */
void list_error(int err)
{
	if (err == -NLE_OBJ_NOTFOUND || err == -NLE_INVAL)
		fprintf(stderr, "smc: no answer (are the modules smc and smc_diag loaded?)\n");
	else
		fprintf(stderr, "smc: %s\n", nl_geterror(err));
}

int cmd_list(const struct args *args)
{
	struct json json = { .file = stdout };
	struct printer printer = {
		.json = args->option['j'] ? &json : NULL,
		.verbose = args->option['v'],
	};
	int err;

	if (printer.json) {
		json_begin(&json);
		json_open(&json, "sockets", '[');
	} else {
		printf("%-16s %-6s %-28s %-28s %s\n", "STATE", "MODE", "LOCAL",
		       "PEER", "LINK, OR WHY TCP");
	}
	err = diag_dump(print_one, &printer);
	if (printer.json) {
		json_close(&json, ']');
		json_close(&json, '}');
	}
	if (err)
		list_error(err);
	return err ? EXIT_FAILURE : 0;
}
