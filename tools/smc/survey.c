// SPDX-License-Identifier: GPL-2.0
/*
 * smc survey: how much of the TCP of this network namespace SMC would carry. Dumps of sock_diag at
 * the start and at the end show the connections that last, notifications of their end the others.
 * The module need not be there.
 */
#include <errno.h>
#include <poll.h>
#include <search.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sys/socket.h>

#include "check.h"
#include "survey.h"

#define SECONDS_MAX	86400
#define QUEUE_BYTES	(32 << 20)	/* for ends that wait to be read */

/* States of TCP, as sock_diag numbers them */
#define STATE_SYN_RECV	3
#define STATE_TIME_WAIT	6
#define STATE_LISTEN	10
#define STATES		(0xfff & ~(1 << STATE_SYN_RECV | 1 << STATE_TIME_WAIT))

static const struct {
	const char *name, *title;
} reaches[REACH_MAX] = {
	[REACH_HOST] = { "host", "within this host: memory" },
	[REACH_SUBNET] = { "subnet", "subnet of an RDMA device: SMC-R" },
	[REACH_ROUTED] = { "routed", "routed, RDMA device: SMC-Rv2, perhaps" },
	[REACH_NONE] = { "none", "no RDMA device: TCP" },
};

static const char * const sides[SIDE_MAX] = {
	[SIDE_SERVER] = "server", [SIDE_CLIENT] = "client", [SIDE_BOTH] = "both",
};

static const char * const worths[] = {
	[WORTH_UNKNOWN] = "unknown", [WORTH_NO] = "no", [WORTH_PARTLY] = "partly",
	[WORTH_YES] = "yes",
};

/* A connection that is known by its cookie */
struct known {
	struct flow flow;
	bool was_there;		/* at the start; its counts then are in the flow */
	bool is_counted;
};

/* The way to a peer */
struct way {
	struct in6_addr peer;
	unsigned int scope;
	enum reach reach;
};

struct survey {
	void *known, *ways;	/* trees */
	bool is_end;		/* of the time */
	bool has_missed;	/* ends of connections */
	struct tally tally;
};

static struct survey survey;
static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

static struct in6_addr address_of(int family, const __be32 *words)
{
	struct in6_addr addr = { .s6_addr = { [10] = 0xff, [11] = 0xff } };

	if (family == AF_INET)
		memcpy(addr.s6_addr + 12, words, 4);
	else
		memcpy(&addr, words, sizeof(addr));
	return addr;
}

/**
 * flow_parse() - read a message of sock_diag about a TCP socket
 * @nlh: the message: of a dump, or of the end of a socket
 * @flow: filled
 *
 * Return: false if it is no such message.
 */
bool flow_parse(struct nlmsghdr *nlh, struct flow *flow)
{
	struct nlattr *tb[INET_DIAG_MAX + 1];
	const struct inet_diag_msg *msg = nlmsg_data(nlh);

	if (nlh->nlmsg_type != SOCK_DIAG_BY_FAMILY || !nlmsg_valid_hdr(nlh, sizeof(*msg)) ||
	    nlmsg_parse(nlh, sizeof(*msg), tb, INET_DIAG_MAX, NULL) < 0 ||
	    (msg->idiag_family != AF_INET && msg->idiag_family != AF_INET6))
		return false;
	*flow = (struct flow){
		.cookie = msg->id.idiag_cookie[0] | (uint64_t)msg->id.idiag_cookie[1] << 32,
		.inode = msg->idiag_inode,
		.local = address_of(msg->idiag_family, msg->id.idiag_src),
		.peer = address_of(msg->idiag_family, msg->id.idiag_dst),
		.local_port = ntohs(msg->id.idiag_sport),
		.peer_port = ntohs(msg->id.idiag_dport),
		.scope = msg->id.idiag_if,
		.is_listener = msg->idiag_state == STATE_LISTEN,
	};
	if (tb[INET_DIAG_INFO])
		flow_count(flow, nla_data(tb[INET_DIAG_INFO]), nla_len(tb[INET_DIAG_INFO]));
	return true;
}

static int compare_known(const void *a, const void *b)
{
	const struct known *one = a, *other = b;

	return (one->flow.cookie > other->flow.cookie) - (one->flow.cookie < other->flow.cookie);
}

static int compare_ways(const void *a, const void *b)
{
	const struct way *one = a, *other = b;
	int order = memcmp(&one->peer, &other->peer, sizeof(one->peer));

	return order ? order : (one->scope > other->scope) - (one->scope < other->scope);
}

/* Finds an entry in a tree, or adds a copy of KEY. */
static void *find(void **tree, const void *key, size_t size,
		  int (*compare)(const void *a, const void *b), bool *is_new)
{
	void **node = tsearch(key, tree, compare), *copy;

	if (!node || *node != key) {
		*is_new = false;
		return node ? *node : NULL;
	}
	*is_new = true;
	copy = malloc(size);
	if (!copy) {
		tdelete(key, tree, compare);
		return NULL;
	}
	*node = memcpy(copy, key, size);
	return copy;
}

/* Many peers share few interfaces. */
static bool has_rdma(unsigned int interface)
{
	static enum { UNKNOWN, NO, YES } known[256];
	char name[IF_NAMESIZE];
	bool has;

	if (interface < ARRAY_SIZE(known) && known[interface])
		return known[interface] == YES;
	has = if_indextoname(interface, name) && rdma_is_at(name);
	if (interface < ARRAY_SIZE(known))
		known[interface] = has ? YES : NO;
	return has;
}

static enum reach find_reach(const struct way *way, uint16_t port)
{
	struct route route;

	if (route_find(&way->peer, way->scope, port, &route))
		return REACH_NONE;
	if (route.is_same_host)
		return REACH_HOST;
	if (!has_rdma(route.interface))
		return REACH_NONE;
	return route.has_gateway ? REACH_ROUTED : REACH_SUBNET;
}

static enum reach reach_of(const struct flow *flow)
{
	struct way key = { .peer = flow->peer, .scope = flow->scope }, *way;
	bool is_new;

	way = find(&survey.ways, &key, sizeof(key), compare_ways, &is_new);
	if (!way)
		return find_reach(&key, flow->peer_port);
	if (is_new)
		way->reach = find_reach(way, flow->peer_port);
	return way->reach;
}

/* A socket of a dump, or one that has ended */
static void see(const struct flow *flow, bool is_open)
{
	struct known key = { .flow = *flow, .was_there = !survey.is_end }, *known;
	bool is_new = false;

	if (flow->is_listener) {
		tally_listener(&survey.tally, flow);
		return;
	}
	known = is_open ? find(&survey.known, &key, sizeof(key), compare_known, &is_new) : NULL;
	if (!is_open) {
		void **node = tfind(&key, &survey.known, compare_known);

		known = node ? *node : NULL;
	}
	if ((is_open && !survey.is_end) || (known && known->is_counted))
		return;
	tally_add(&survey.tally, reach_of(flow), flow,
		  known && known->was_there ? &known->flow : NULL, is_open);
	if (known)
		known->is_counted = true;
}

static int see_open(struct nl_msg *msg, void *arg)
{
	struct flow flow;

	(void)arg;
	if (flow_parse(nlmsg_hdr(msg), &flow))
		see(&flow, true);
	return NL_OK;
}

static int see_ended(struct nl_msg *msg, void *arg)
{
	struct flow flow;

	(void)arg;
	if (flow_parse(nlmsg_hdr(msg), &flow))
		see(&flow, false);
	return NL_OK;
}

/* Return: 0 or a negative NLE code */
static int dump_family(int family)
{
	struct inet_diag_req_v2 request = {
		.sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = STATES,
		.idiag_ext = 1 << (INET_DIAG_INFO - 1),
	};
	struct nl_sock *sock = nl_socket_alloc();
	int err;

	if (!sock)
		return -NLE_NOMEM;
	nl_socket_disable_auto_ack(sock);
	nl_socket_set_msg_buf_size(sock, 65536);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, see_open, NULL);
	err = nl_connect(sock, NETLINK_SOCK_DIAG);
	if (err >= 0)
		err = nl_send_simple(sock, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP,
				     &request, sizeof(request));
	if (err >= 0)
		err = nl_recvmsgs_default(sock);
	nl_socket_free(sock);
	return err < 0 ? err : 0;
}

static int dump(void)
{
	int err = dump_family(AF_INET);

	return err ? err : dump_family(AF_INET6);
}

/* Return: a socket that hears of each end, or NULL */
static struct nl_sock *watch_ends(void)
{
	struct nl_sock *sock = nl_socket_alloc();
	int size = QUEUE_BYTES, fd;

	if (!sock)
		return NULL;
	nl_socket_disable_seq_check(sock);
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, see_ended, NULL);
	if (nl_connect(sock, NETLINK_SOCK_DIAG) < 0 ||
	    nl_socket_add_memberships(sock, SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY,
				      0) < 0 ||
	    nl_socket_set_nonblocking(sock) < 0) {
		nl_socket_free(sock);
		return NULL;
	}
	fd = nl_socket_get_fd(sock);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return sock;
}

/* Reads the ends that are queued. Return: 0 or a negative NLE code */
static int read_ends(struct nl_sock *sock)
{
	int err;

	do {
		err = nl_recvmsgs_default(sock);
		/* the queue was too short */
		if (err == -NLE_NOMEM) {
			survey.has_missed = true;
			err = 0;
		}
	} while (err >= 0);
	return err == -NLE_AGAIN ? 0 : err;
}

static int64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/* Return: 0 or a negative NLE code */
static int look(struct nl_sock *ends, int64_t end_ms)
{
	struct pollfd poll_fd = { .fd = nl_socket_get_fd(ends), .events = POLLIN };
	int err = dump();

	while (!err && !is_interrupted && now_ms() < end_ms) {
		poll(&poll_fd, 1, end_ms - now_ms());
		err = read_ends(ends);
	}
	survey.is_end = true;
	if (!err)
		err = dump();
	/* what has ended since then is known from the dump */
	return err ? err : read_ends(ends);
}

static const char *program_of(const struct service *service)
{
	size_t nr;
	const struct process *process = process_find(service->inode, &nr);

	return nr ? process->command : "";
}

static void get_place(const struct service *service, unsigned int *port, const char **side)
{
	size_t at = service - &survey.tally.services[0][0];

	*port = at % PORTS;
	*side = sides[at / PORTS];
}

static void sum(uint64_t *bytes, uint64_t *requests)
{
	int i;

	*bytes = 0;
	*requests = 0;
	for (i = 0; i < REACH_MAX; i++) {
		*bytes += survey.tally.amounts[i].bytes;
		*requests += survey.tally.amounts[i].requests;
	}
}

static void number_cell(struct table *table, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	table_cell(table, text);
}

static void bytes_cell(struct table *table, uint64_t bytes, bool is_human)
{
	char text[16];

	if (!is_human) {
		number_cell(table, bytes);
		return;
	}
	bytes_human(bytes, text);
	table_cell(table, text);
}

static void print_reaches(bool is_human)
{
	static const char * const titles[] = {
		"OPEN", "NEW", "BYTES", "REQUESTS", "BYTES-%", "REQUESTS-%", "MIN-RTT-US",
	};
	uint64_t bytes, requests;
	struct table table = { 0 };
	size_t i;

	sum(&bytes, &requests);
	table_title(&table, "CONNECTIONS", false);
	for (i = 0; i < ARRAY_SIZE(titles); i++)
		table_title(&table, titles[i], true);
	for (i = 0; i < REACH_MAX; i++) {
		const struct amount *amount = &survey.tally.amounts[i];

		table_cell(&table, reaches[i].title);
		number_cell(&table, amount->open);
		number_cell(&table, amount->new);
		bytes_cell(&table, amount->bytes, is_human);
		number_cell(&table, amount->requests);
		number_cell(&table, tally_percent(amount->bytes, bytes));
		number_cell(&table, tally_percent(amount->requests, requests));
		if (amount->requests)
			number_cell(&table, amount->rtt_us / amount->requests);
		else
			table_cell(&table, "");
	}
	table_end(&table, 0);
}

static void print_services(bool is_human)
{
	static const char * const titles[] = {
		"PORT", "SIDE", "PROGRAM", "CONNS", "BYTES", "REQUESTS", "SMC-%",
	};
	const struct service *top[TOP];
	struct table table = { 0 };
	unsigned int port;
	const char *side;
	size_t nr, i;

	for (i = 0; i < ARRAY_SIZE(titles); i++)
		table_title(&table, titles[i], !i || i > 2);
	nr = tally_top(&survey.tally, top);
	for (i = 0; i < nr; i++) {
		get_place(top[i], &port, &side);
		number_cell(&table, port);
		table_cell(&table, side);
		table_cell(&table, program_of(top[i]));
		number_cell(&table, top[i]->connections);
		bytes_cell(&table, top[i]->bytes, is_human);
		number_cell(&table, top[i]->requests);
		number_cell(&table, tally_percent(top[i]->served_bytes, top[i]->bytes));
	}
	table_end(&table, 0);
}

static void print_text(unsigned int seconds, bool is_human)
{
	char text[WORTH_TEXT];

	printf("%u s of TCP, in this network namespace only\n\n", seconds);
	print_reaches(is_human);
	putchar('\n');
	print_services(is_human);
	tally_verdict(&survey.tally, seconds, text);
	if (survey.has_missed)
		printf("\nConnections ended faster than they were read: short ones are missing.\n");
	printf("\n%s\n", text);
}

static void reaches_json(struct json *json)
{
	uint64_t bytes, requests;
	size_t i;

	sum(&bytes, &requests);
	json_open(json, "classes", '[');
	for (i = 0; i < REACH_MAX; i++) {
		const struct amount *amount = &survey.tally.amounts[i];

		json_open(json, NULL, '{');
		json_string(json, "class", reaches[i].name);
		json_number(json, "open", amount->open);
		json_number(json, "new", amount->new);
		json_number(json, "bytes", amount->bytes);
		json_number(json, "requests", amount->requests);
		json_number(json, "bytes_percent", tally_percent(amount->bytes, bytes));
		json_number(json, "requests_percent",
			    tally_percent(amount->requests, requests));
		json_number(json, "kept_bytes", amount->kept_bytes);
		json_number(json, "kept_requests", amount->kept_requests);
		if (amount->requests)
			json_number(json, "min_rtt_us", amount->rtt_us / amount->requests);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void services_json(struct json *json)
{
	const struct service *top[TOP];
	unsigned int port;
	const char *side;
	size_t nr, i;

	json_open(json, "services", '[');
	nr = tally_top(&survey.tally, top);
	for (i = 0; i < nr; i++) {
		get_place(top[i], &port, &side);
		json_open(json, NULL, '{');
		json_number(json, "port", port);
		json_string(json, "side", side);
		if (*program_of(top[i]))
			json_string(json, "program", program_of(top[i]));
		json_number(json, "connections", top[i]->connections);
		json_number(json, "bytes", top[i]->bytes);
		json_number(json, "requests", top[i]->requests);
		json_number(json, "smc_bytes", top[i]->served_bytes);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static int print_json(unsigned int seconds)
{
	char text[WORTH_TEXT];
	struct json json = { 0 };
	enum worth worth;

	json_begin(&json);
	json_open(&json, "survey", '{');
	json_number(&json, "seconds", seconds);
	json_bool(&json, "is_complete", !survey.has_missed);
	reaches_json(&json);
	services_json(&json);
	worth = tally_verdict(&survey.tally, seconds, text);
	json_string(&json, "worth", worths[worth]);
	json_string(&json, "text", text);
	json_close(&json, '}');
	return json_end(&json, 0);
}

/**
 * cmd_survey() - tell how much of the TCP here SMC would carry
 * @args: for how many seconds, 60 without; option j for JSON, h for bytes in units
 *
 * Return: exit status.
 */
int cmd_survey(const struct args *args)
{
	const struct sigaction action = { .sa_handler = interrupt };
	uint64_t seconds = 60;
	int64_t start_ms;
	struct nl_sock *ends;
	int err;

	if (args->nr_words && (!number_read(args->words[0], '\0', SECONDS_MAX, &seconds) ||
			       !seconds))
		return wrong("\"%s\" is no number from 1 to %d", args->words[0], SECONDS_MAX);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ends = watch_ends();
	start_ms = now_ms();
	err = ends ? look(ends, start_ms + 1000 * seconds) : -NLE_OPNOTSUPP;
	nl_socket_free(ends);
	if (err) {
		fprintf(stderr, "smc: the kernel shows no TCP sockets (inet_diag, tcp_diag): %s\n",
			nl_geterror(err));
		return EXIT_FAILURE;
	}
	/* an interrupt ends it early */
	seconds = (now_ms() - start_ms + 500) / 1000;
	if (!seconds)
		seconds = 1;
	if (args->option['j'])
		return print_json(seconds);
	print_text(seconds, args->option['h']);
	return 0;
}
