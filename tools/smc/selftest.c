// SPDX-License-Identifier: GPL-2.0
/*
 * smc selftest: tries SMC with another host, on which `smc selftest --serve` runs, or with this
 * one, and prints what to write into Documentation/adapters.md. Each test has a connection of its
 * own and a limit of time. Nothing that the peer sends is trusted.
 */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <net/if.h>
#include <netlink/errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "selftest.h"

#define LIMIT_MAX	3600
#define RATE_NS		2000000000ULL
#define ROUNDS_NS	1000000000ULL
#define ROUNDS_MAX	500000
#define ROUND_BYTES	64		/* of a round trip whose time counts */
#define ECHO_BYTES	16384		/* while something else happens */
#define ECHO_ROUNDS	20		/* between two looks, before and after it */
#define HALF_BYTES	3000017
#define SEED		0x5eed

enum outcome { PASSED, FAILED, NOT_RUN, NOTE };

static const char * const outcomes[] = { "passed", "FAILED", "not run", "" };

#define ROWS_MAX 16

struct selftest {
	struct sockaddr_storage addr;
	socklen_t addr_len;
	long limit;
	bool has_smc;			/* this host; otherwise all sockets are TCP's */
	bool has_failed;
	struct diag_sock first;		/* the first connection, or TCP if it is not shown */
	char adapter[ADAPTER_TEXT];
	char peer_adapter[ADAPTER_TEXT];
	uint32_t peer_landing;		/* its setting */
	size_t nr_rows;
	struct {
		const char *name;
		enum outcome outcome;
		char text[512];
	} rows[ROWS_MAX];
};

/* Prints what a test has found. Return: true if it has passed */
__attribute__((format(printf, 4, 5)))
static bool report(struct selftest *test, enum outcome outcome, const char *name,
		   const char *format, ...)
{
	char *text = test->rows[test->nr_rows].text;
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(test->rows[0].text), format, values);
	va_end(values);
	printf("%-8s %-14s %s\n", outcomes[outcome], name, text);
	fflush(stdout);
	test->has_failed |= outcome == FAILED;
	test->rows[test->nr_rows].name = name;
	test->rows[test->nr_rows].outcome = outcome;
	if (test->nr_rows < ROWS_MAX - 1)
		test->nr_rows++;
	return outcome == PASSED;
}

/* Makes a connection, and asks for a test. Return: false after a fault, with a socket or without */
static bool open_wire(const struct selftest *test, struct wire *wire, bool is_smc,
		      enum selftest_kind kind, size_t size)
{
	const struct selftest_request request = {
		.magic = htobe64(SELFTEST_MAGIC), .kind = htonl(kind), .size = htonl(size),
		.seed = htobe64(SEED),
	};

	memset(wire, 0, sizeof(*wire));
	limit_start(test->limit);
	wire->fd = socket(test->addr.ss_family, SOCK_STREAM,
			  is_smc && test->has_smc ? IPPROTO_SMC : IPPROTO_TCP);
	if (wire->fd < 0)
		return wire_fault(wire, "socket: %s", strerror(errno));
	if (connect(wire->fd, (const struct sockaddr *)&test->addr, test->addr_len))
		return wire_fault(wire, "connect: %s", errno == EINTR ? "not done in time" :
				  strerror(errno));
	return wire_send(wire, &request, sizeof(request));
}

/* Text of a peer goes to a terminal and into a table. */
static void clean(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if (!isascii(*text) || !isprint(*text) || strchr("|`<\\", *text))
			*text = '?';
}

/* Receives the answer, and the end of the connection. Return: false after a fault */
static bool recv_answer(struct wire *wire, struct selftest_answer *answer)
{
	uint64_t bytes = wire->bytes;

	if (!wire_recv(wire, answer, sizeof(*answer)) || !wire_recv_end(wire))
		return wire_fault(wire, "the peer has closed the connection");
	wire->bytes = bytes;
	if (be64toh(answer->magic) != SELFTEST_MAGIC)
		return wire_fault(wire, "the peer is no smc selftest of this version");
	clean(answer->host, sizeof(answer->host));
	clean(answer->adapter, sizeof(answer->adapter));
	clean(answer->text, sizeof(answer->text));
	if (answer->is_wrong)
		return wire_fault(wire, "the peer: %s", answer->text);
	return !*wire->text;
}

static void close_wire(struct wire *wire)
{
	limit_end();
	if (wire->fd >= 0)
		close(wire->fd);
}

static const char *reason_of(const struct diag_sock *sock)
{
	static char text[REASON_WORDS];

	reason_words(text, sock->fallback.reason, sock->memory_age,
		     sock->fallback.peer_diagnosis);
	return text;
}

/* Return: 0 or a negative NLE code */
static int find_sock(const struct wire *wire, struct diag_sock *sock)
{
	uint16_t local, peer;

	wire_ports(wire, &local, &peer);
	return diag_find(local, peer, sock);
}

static bool is_smc(const struct diag_sock *sock)
{
	return sock->msg.mode == SMC_DIAG_MODE_SMCR || sock->msg.mode == SMC_DIAG_MODE_SMCD;
}

/* All SMC connections use what the first one has used. */
static bool has_same_mode(const struct selftest *test, struct wire *wire)
{
	struct diag_sock sock;

	if (!is_smc(&test->first))
		return true;
	if (find_sock(wire, &sock))
		return wire_fault(wire, "sock_diag does not show the connection");
	if (sock.msg.mode == test->first.msg.mode)
		return true;
	return wire_fault(wire, "this connection uses %s: %s", diag_mode_name(sock.msg.mode),
			  reason_of(&sock));
}

static const struct link *find_link(const struct links *links, const struct diag_sock *sock)
{
	size_t i;

	for (i = 0; sock->has_group && i < links->nr; i++)
		if (links->link[i].user_id == sock->group.user_id)
			return &links->link[i];
	return NULL;
}

static void report_mode(struct selftest *test, const struct links *before, uint64_t connect_ns,
			int err)
{
	const struct diag_sock *sock = &test->first;
	double ms = connect_ns / 1e6;

	if (!test->has_smc)
		report(test, FAILED, "first contact", "TCP: this host has no sockets of SMC");
	else if (err && err != -NLE_NOATTR)
		report(test, FAILED, "first contact", "unknown: modprobe smc_diag");
	else if (err)
		report(test, FAILED, "first contact", "sock_diag does not show the connection");
	else if (!is_smc(sock))
		report(test, FAILED, "first contact", "TCP in %.2f ms: %s", ms, reason_of(sock));
	else
		report(test, PASSED, "first contact", "%s in %.2f ms%s",
		       diag_mode_name(sock->msg.mode), ms, !sock->has_link ? "" :
		       find_link(before, sock) ? ", in a link group that was there" :
		       ", with a new link group");
}

static void report_adapters(struct selftest *test, const struct selftest_answer *answer)
{
	static struct links links;
	char host[96], interface[IF_NAMESIZE] = "?";
	const struct link *link;
	struct route route;
	struct ifreq request = { 0 };
	struct in6_addr peer;
	uint16_t port;
	char text[ADDR_TEXT], local[ADDR_TEXT];
	int fd;

	selftest_host(host);
	report(test, NOTE, "this host", "%s", host);
	report(test, NOTE, "peer", "%s", answer->host);
	if (!test->first.has_link)
		return;
	rdma_describe(test->first.link.ibname, test->first.link.ibport, test->first.link.gid,
		      test->adapter);
	snprintf(test->peer_adapter, sizeof(test->peer_adapter), "%s",
		 *answer->adapter ? answer->adapter : "unknown");
	report(test, NOTE, "adapter", "%s", test->adapter);
	report(test, NOTE, "its peer", "%s", test->peer_adapter);
	link = links_read(&links) ? NULL : find_link(&links, &test->first);
	list_endpoints(&test->first, local, text);
	if (!link || !addr_read_service(text, &peer, &port) ||
	    route_find(&peer, 0, port, &route) || !if_indextoname(route.interface, interface))
		return;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (!ioctl(fd, SIOCGIFMTU, &request))
		report(test, NOTE, "MTU", "%u on the link, %d on the interface", link->mtu,
		       request.ifr_mtu);
	close(fd);
}

/* Return: false if there is no peer to test with */
static bool test_contact(struct selftest *test)
{
	static struct links before;
	struct selftest_answer answer;
	int err = -NLE_NOATTR, fd;
	struct wire wire;
	uint64_t start;
	bool is_done;

	fd = socket(test->addr.ss_family, SOCK_STREAM, IPPROTO_SMC);
	test->has_smc = fd >= 0;
	if (test->has_smc) {
		close(fd);
		links_read(&before);
	}
	start = clock_ns();
	is_done = open_wire(test, &wire, true, SELFTEST_FACTS, 1);
	start = clock_ns() - start;
	if (is_done && test->has_smc)
		err = find_sock(&wire, &test->first);
	if (err)
		test->first = (struct diag_sock){ .msg.mode = SMC_DIAG_MODE_FALLBACK_TCP };
	is_done = is_done && recv_answer(&wire, &answer);
	if (is_done) {
		test->peer_landing = ntohl(answer.landing);
		report_mode(test, &before, start, err);
		report_adapters(test, &answer);
	} else {
		report(test, FAILED, "connection", "%s", wire.text);
	}
	close_wire(&wire);
	return is_done;
}

static void report_end(struct selftest *test, struct wire *wire, const char *name, bool is_done,
		       const char *text)
{
	if (is_done && !*wire->text)
		report(test, PASSED, name, "%s", text);
	else
		report(test, FAILED, name, "%s", *wire->text ? wire->text :
		       "the peer has closed the connection");
	close_wire(wire);
}

static bool move_sizes(struct wire *wire, unsigned int *nr)
{
	uint64_t seed;
	size_t size;

	for (*nr = 0; selftest_size(*nr, &size, &seed); ++*nr)
		if (!wire_send_pattern(wire, size, seed) ||
		    !wire_recv_pattern(wire, size, selftest_back(seed)))
			return false;
	return true;
}

/* The peer has received what was sent. */
static bool has_all(struct wire *wire, const struct selftest_answer *answer, uint64_t sent)
{
	uint64_t got = be64toh(answer->bytes);

	return got == sent || wire_fault(wire, "%llu bytes sent, %llu received",
					 (unsigned long long)sent, (unsigned long long)got);
}

static void test_sizes(struct selftest *test)
{
	struct selftest_answer answer;
	struct wire wire;
	char text[96];
	unsigned int nr = 0;
	bool is_done;

	is_done = open_wire(test, &wire, true, SELFTEST_SIZES, 1) && has_same_mode(test, &wire) &&
		  move_sizes(&wire, &nr) && recv_answer(&wire, &answer) &&
		  has_all(&wire, &answer, wire.bytes);
	snprintf(text, sizeof(text), "%u messages of 1 to %u bytes, compared in both directions",
		 nr, SELFTEST_MAX);
	report_end(test, &wire, "sizes", is_done, text);
}

static bool end_data(struct wire *wire)
{
	return !shutdown(wire->fd, SHUT_WR) || wire_fault(wire, "shutdown: %s", strerror(errno));
}

static void test_half_close(struct selftest *test)
{
	struct selftest_answer answer;
	struct wire wire;
	bool is_done;

	is_done = open_wire(test, &wire, true, SELFTEST_HALF, HALF_BYTES) &&
		  has_same_mode(test, &wire) && wire_send_pattern(&wire, HALF_BYTES, SEED) &&
		  end_data(&wire) && wire_recv_pattern(&wire, HALF_BYTES, selftest_back(SEED)) &&
		  recv_answer(&wire, &answer) && has_all(&wire, &answer, HALF_BYTES);
	report_end(test, &wire, "half close", is_done, "the peer answered after our end");
}

/* Of data in one direction, or of round trips */
struct speed {
	uint64_t nr;		/* bytes, or round trips */
	uint64_t ns;
	uint64_t cpu_here, cpu_there;
	uint32_t median_ns, most_ns;	/* of 50 and 99 % */
};

static bool send_for(struct wire *wire, uint64_t ns, uint64_t *bytes)
{
	static const char data[SELFTEST_CHUNK];
	uint64_t end = clock_ns() + ns;

	for (*bytes = 0; clock_ns() < end; *bytes += sizeof(data))
		if (!wire_send(wire, data, sizeof(data)))
			return false;
	return true;
}

static bool measure_rate(struct selftest *test, struct wire *wire, bool is_ours,
			 struct speed *speed)
{
	struct selftest_answer answer;
	uint64_t start, cpu;

	memset(speed, 0, sizeof(*speed));
	if (!open_wire(test, wire, is_ours, SELFTEST_RATE, 1) ||
	    (is_ours && !has_same_mode(test, wire)))
		return false;
	start = clock_ns();
	cpu = cpu_ns();
	if (!send_for(wire, RATE_NS, &speed->nr) || !end_data(wire) ||
	    !recv_answer(wire, &answer))
		return false;
	speed->ns = clock_ns() - start;
	speed->cpu_here = cpu_ns() - cpu;
	speed->cpu_there = be64toh(answer.cpu_ns);
	return has_all(wire, &answer, speed->nr);
}

static int compare_ns(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* One round trip, of the message with this number */
static bool make_round(struct wire *wire, size_t size, uint64_t number)
{
	return wire_send_pattern(wire, size, SEED + number) &&
	       wire_recv_pattern(wire, size, selftest_back(SEED + number));
}

static bool end_echo(struct wire *wire, struct selftest_answer *answer, size_t size, uint64_t nr)
{
	return end_data(wire) && recv_answer(wire, answer) && has_all(wire, answer, nr * size);
}

static bool measure_rounds(struct selftest *test, struct wire *wire, bool is_ours,
			   struct speed *speed)
{
	static uint32_t took[ROUNDS_MAX];
	struct selftest_answer answer;
	uint64_t start, last, now, cpu;

	memset(speed, 0, sizeof(*speed));
	if (!open_wire(test, wire, is_ours, SELFTEST_ECHO, ROUND_BYTES) ||
	    (is_ours && !has_same_mode(test, wire)))
		return false;
	cpu = cpu_ns();
	start = clock_ns();
	for (last = start; last < start + ROUNDS_NS && speed->nr < ROUNDS_MAX; last = now) {
		if (!make_round(wire, ROUND_BYTES, speed->nr))
			return false;
		now = clock_ns();
		took[speed->nr++] = now - last < UINT32_MAX ? now - last : UINT32_MAX;
	}
	speed->ns = last - start;
	speed->cpu_here = cpu_ns() - cpu;
	qsort(took, speed->nr, sizeof(took[0]), compare_ns);
	speed->median_ns = took[speed->nr / 2];
	speed->most_ns = took[speed->nr * 99 / 100];
	if (!end_echo(wire, &answer, ROUND_BYTES, speed->nr))
		return false;
	speed->cpu_there = be64toh(answer.cpu_ns);
	return true;
}

static void rate_text(char text[128], const struct speed *speed)
{
	double kib = speed->nr / 1024.0;

	snprintf(text, 128, "%.1f MB/s, processor %.0f + %.0f ns per KiB",
		 1e3 * speed->nr / speed->ns, speed->cpu_here / kib, speed->cpu_there / kib);
}

static void rounds_text(char text[128], const struct speed *speed)
{
	snprintf(text, 128, "%.1f us, 99 %% within %.1f us, processor %.1f + %.1f us",
		 speed->median_ns / 1e3, speed->most_ns / 1e3, speed->cpu_here / 1e3 / speed->nr,
		 speed->cpu_there / 1e3 / speed->nr);
}

/* The same over SMC and over TCP, one after the other */
static void test_speed(struct selftest *test, const char *name,
		       bool (*measure)(struct selftest *test, struct wire *wire, bool is_ours,
				       struct speed *speed),
		       void (*put)(char text[128], const struct speed *speed))
{
	struct speed ours, tcp;
	char one[128], other[128], text[300];
	struct wire wire;

	if (!measure(test, &wire, true, &ours)) {
		report_end(test, &wire, name, false, "");
		return;
	}
	close_wire(&wire);
	if (!measure(test, &wire, false, &tcp)) {
		report_end(test, &wire, name, false, "");
		return;
	}
	put(one, &ours);
	put(other, &tcp);
	snprintf(text, sizeof(text), "%s %s; TCP %s", is_smc(&test->first) ?
		 diag_mode_name(test->first.msg.mode) : "TCP", one, other);
	report_end(test, &wire, name, true, text);
}

/* Round trips while something happens to the connection */
struct echo {
	struct wire wire;
	uint64_t nr;
	uint64_t longest_ns;
};

static bool go_on(struct echo *echo)
{
	int i;

	for (i = 0; i < ECHO_ROUNDS; i++) {
		uint64_t start = clock_ns();

		if (!make_round(&echo->wire, ECHO_BYTES, echo->nr))
			return false;
		echo->nr++;
		if (clock_ns() - start > echo->longest_ns)
			echo->longest_ns = clock_ns() - start;
	}
	return true;
}

static bool start_echo(struct selftest *test, struct echo *echo)
{
	memset(echo, 0, sizeof(*echo));
	return open_wire(test, &echo->wire, true, SELFTEST_ECHO, ECHO_BYTES) &&
	       has_same_mode(test, &echo->wire) && go_on(echo);
}

static void report_echo(struct selftest *test, struct echo *echo, const char *name, bool is_done,
			const char *what)
{
	struct selftest_answer answer;
	char text[128];

	is_done = is_done && go_on(echo) && end_echo(&echo->wire, &answer, ECHO_BYTES, echo->nr);
	snprintf(text, sizeof(text), "%s, the longest pause was %.1f ms", what,
		 echo->longest_ns / 1e6);
	report_end(test, &echo->wire, name, is_done, text);
}

static const char *say_nothing(int cmd, int err)
{
	(void)cmd;
	(void)err;
	return "";
}

/* Rounds go on until the connection is on another link. */
static bool changes_link(struct echo *echo, uint32_t user_id)
{
	struct diag_sock sock;

	do {
		if (!go_on(echo))
			return false;
		if (find_sock(&echo->wire, &sock))
			return wire_fault(&echo->wire, "sock_diag does not show the connection");
		if (sock.msg.mode != SMC_DIAG_MODE_SMCR)
			return wire_fault(&echo->wire, "the connection uses %s: %s",
					  diag_mode_name(sock.msg.mode), reason_of(&sock));
	} while (!sock.has_group || sock.group.user_id == user_id);
	return true;
}

/* Ends the link under a connection; the module makes it again. */
static void test_failover(struct selftest *test)
{
	static const char name[] = "failover";
	static struct links links;
	const struct link *link, *other;
	struct diag_sock sock;
	bool is_done, has_other = false;
	struct echo echo;
	char text[96];
	int err;

	if (!test->first.has_link) {
		report(test, NOT_RUN, name, "the connection has no link of SMC-R");
		return;
	}
	is_done = start_echo(test, &echo) && !find_sock(&echo.wire, &sock) && !links_read(&links);
	link = is_done ? find_link(&links, &sock) : NULL;
	if (!link) {
		wire_fault(&echo.wire, "the link is not shown");
		report_end(test, &echo.wire, name, false, "");
		return;
	}
	for (other = links.link; other < links.link + links.nr; other++)
		has_other |= other->group == link->group && other->id != link->id &&
			     other->is_active;
	err = has_other ? link_end(link->group, link->id, say_nothing) : 0;
	if (!has_other || err == -EPERM || err == -EACCES) {
		report(test, NOT_RUN, name, "%s", has_other ? "only root may end a link" :
		       "the group has one link");
		close_wire(&echo.wire);
		return;
	}
	if (err)
		wire_fault(&echo.wire, "the link does not end: %s", strerror(-err));
	is_done = !err && changes_link(&echo, sock.group.user_id);
	snprintf(text, sizeof(text), "from link %u to another one", link->id);
	report_echo(test, &echo, name, is_done, text);
}

/* Rounds go on until the connection is TCP. */
static bool lands(struct echo *echo)
{
	struct diag_sock sock;

	do {
		if (drain_move())
			return wire_fault(&echo->wire, "the module does not move connections");
		if (!go_on(echo))
			return false;
		if (find_sock(&echo->wire, &sock))
			return wire_fault(&echo->wire, "sock_diag does not show the connection");
	} while (is_smc(&sock));
	return true;
}

/* Drains the module for a time, in which no signal may end this program. */
static void test_landing(struct selftest *test)
{
	static const char name[] = "landing";
	struct echo echo;
	bool is_done;
	sigset_t set, old;

	if (!is_smc(&test->first)) {
		report(test, NOT_RUN, name, "the connection is TCP");
		return;
	}
	if (test->first.has_link && (!read_setting("landing") || !test->peer_landing)) {
		report(test, NOT_RUN, name, "net.smc.landing is 0 %s",
		       test->peer_landing ? "here" : "at the peer");
		return;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	is_done = start_echo(test, &echo);
	sigprocmask(SIG_BLOCK, &set, &old);
	if (is_done && drain_set(true)) {
		is_done = wire_fault(&echo.wire, "the module cannot be drained");
	} else if (is_done) {
		is_done = lands(&echo);
		if (drain_set(false))
			is_done = wire_fault(&echo.wire, "the module is still drained");
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	report_echo(test, &echo, name, is_done, "the connection has gone on in TCP");
}

/* What to write into Documentation/adapters.md; without an adapter there is nothing. */
static void print_block(const struct selftest *test)
{
	char date[16];
	time_t now = time(NULL);
	size_t i, len = strcspn(test->adapter, ",");

	if (!*test->adapter)
		return;
	/* the name and the driver */
	len += 1 + strcspn(test->adapter + len + 1, ",");
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime(&now));
	printf("\nFor Documentation/adapters.md, which says how to add it:\n\n");
	printf("### %.*s, %s\n\n| Test | Result |\n|---|---|\n",
	       (int)len, test->adapter, date);
	for (i = 0; i < test->nr_rows; i++)
		printf("| %s | %s%s%s |\n", test->rows[i].name, outcomes[test->rows[i].outcome],
		       test->rows[i].outcome == NOTE ? "" : ": ", test->rows[i].text);
}

static bool find_peer(struct selftest *test, const char *host, uint16_t port)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	char service[8];
	int err;

	snprintf(service, sizeof(service), "%u", port);
	err = getaddrinfo(host, service, &hints, &found);
	if (err) {
		fprintf(stderr, "smc: %s: %s\n", host, gai_strerror(err));
		return false;
	}
	memcpy(&test->addr, found->ai_addr, found->ai_addrlen);
	test->addr_len = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static int test_with(const char *word, long limit, bool moves)
{
	static struct selftest test;
	uint16_t port = SELFTEST_PORT;
	char host[HOST_TEXT];

	if (!host_read(word, host, &port))
		return EXIT_USAGE;
	if (!find_peer(&test, host, port))
		return EXIT_FAILURE;
	test.limit = limit;
	if (!test_contact(&test))
		return EXIT_FAILURE;
	test_sizes(&test);
	test_half_close(&test);
	test_speed(&test, "rate", measure_rate, rate_text);
	test_speed(&test, "round trips", measure_rounds, rounds_text);
	test_failover(&test);
	if (moves)
		test_landing(&test);
	print_block(&test);
	return test.has_failed ? EXIT_FAILURE : 0;
}

/**
 * cmd_selftest() - try SMC with a peer, or serve such tests
 * @args: the peer; or option S, and maybe a port; option w: how many seconds a test may take;
 *	option l also moves all connections of the host to TCP
 *
 * Return: exit status: 1 if something has failed.
 */
int cmd_selftest(const struct args *args)
{
	const char *word = args->words[0];
	uint64_t port = SELFTEST_PORT;
	long limit = SELFTEST_LIMIT;

	if (!number_option(args, 'w', 1, LIMIT_MAX, &limit))
		return EXIT_USAGE;
	if (!args->option['S'])
		return word ? test_with(word, limit, args->option['l']) : wrong("test with whom?");
	if (args->option['l'])
		return wrong("--landing is for the other end");
	if (word && (!number_read(word, '\0', UINT16_MAX, &port) || !port))
		return wrong("\"%s\" is no port from 1 to 65535", word);
	return selftest_serve(port, limit);
}
