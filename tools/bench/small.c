// SPDX-License-Identifier: GPL-2.0
/*
 * Small messages and short connections, for the benchmark.
 *
 *   small server PORT            answer each message until killed
 *   small pingpong HOST PORT MS  one connection, one message at a time
 *   small connect HOST PORT MS   connect, request, answer, close, again
 *   small hold PORT              as server, for many connections at a time
 *   small idle HOST PORT N       N connections, one message on each, then none;
 *                                N more for each line of input
 *
 * The clients print one line: rounds, microseconds, then the median and the
 * 99th percentile of a round in nanoseconds. The idle one prints how many there
 * are and keeps them until its input ends. The sockets are plain TCP ones;
 * a preload makes them something else.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define SIZE		64
#define WARM_UP		50	/* rounds that do not count */
#define MAX_ROUNDS	1000000
#define MAX_CONNS	1000

static uint32_t round_ns[MAX_ROUNDS];

static void die(const char *what)
{
	fprintf(stderr, "small: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int make_socket(void)
{
	int one = 1;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket");
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("TCP_NODELAY");
	return fd;
}

static struct sockaddr_in address(const char *host, const char *port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };

	addr.sin_port = htons(atoi(port));
	if (inet_pton(AF_INET, host, &addr.sin_addr) != 1) {
		errno = EINVAL;
		die(host);
	}
	return addr;
}

/* False at the end of the stream. */
static int get_message(int fd, char *buf)
{
	size_t have = 0;

	while (have < SIZE) {
		ssize_t n = recv(fd, buf + have, SIZE - have, 0);

		if (n < 0)
			die("recv");
		if (!n)
			return 0;
		have += n;
	}
	return 1;
}

static void put_message(int fd, const char *buf)
{
	if (send(fd, buf, SIZE, MSG_NOSIGNAL) != SIZE)
		die("send");
}

static int make_listener(const char *port)
{
	struct sockaddr_in addr = address("0.0.0.0", port);
	int ls = make_socket();
	int one = 1;

	setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(ls, (struct sockaddr *)&addr, sizeof(addr)) || listen(ls, 64))
		die("listen");
	return ls;
}

static void serve(const char *port)
{
	int ls = make_listener(port);
	char buf[SIZE];
	int fd;

	for (;;) {
		fd = accept(ls, NULL, NULL);
		if (fd < 0)
			die("accept");
		while (get_message(fd, buf))
			put_message(fd, buf);
		close(fd);
	}
}

/* Answers one message, or drops a connection that has ended. */
static void hold_one(struct pollfd *conn)
{
	char buf[SIZE];

	if (get_message(conn->fd, buf)) {
		put_message(conn->fd, buf);
		return;
	}
	close(conn->fd);
	conn->fd = -1;
}

static void hold(const char *port)
{
	static struct pollfd conn[MAX_CONNS + 1];
	int n = 1, i;

	conn[0] = (struct pollfd) { .fd = make_listener(port), .events = POLLIN };
	for (;;) {
		if (poll(conn, n, -1) < 0)
			die("poll");
		for (i = 1; i < n; i++)
			if (conn[i].revents)
				hold_one(&conn[i]);
		if (!conn[0].revents || n > MAX_CONNS)
			continue;
		conn[n] = (struct pollfd) { .events = POLLIN };
		conn[n].fd = accept(conn[0].fd, NULL, NULL);
		if (conn[n].fd < 0)
			die("accept");
		n++;
	}
}

static void exchange(int fd)
{
	char buf[SIZE] = "ping";

	put_message(fd, buf);
	if (!get_message(fd, buf)) {
		errno = ECONNRESET;
		die("answer");
	}
}

static int open_connection(const struct sockaddr_in *addr)
{
	int fd = make_socket();

	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		die("connect");
	return fd;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int run(const struct sockaddr_in *addr, uint64_t ms, int is_pingpong)
{
	uint64_t began = 0, last, now = 0;
	int fd = -1;
	long n;

	if (is_pingpong)
		fd = open_connection(addr);
	for (n = -WARM_UP; n < MAX_ROUNDS; n++) {
		last = now_ns();
		if (n == 0)
			began = last;
		if (!is_pingpong)
			fd = open_connection(addr);
		exchange(fd);
		if (!is_pingpong)
			close(fd);
		now = now_ns();
		if (n >= 0)
			round_ns[n] = now - last > UINT32_MAX ? UINT32_MAX : now - last;
		if (n > 0 && now - began >= ms * 1000000)
			break;
	}
	n = n < MAX_ROUNDS ? n + 1 : n;
	qsort(round_ns, n, sizeof(*round_ns), compare);
	printf("%ld %llu %u %u\n", n, (unsigned long long)(now - began) / 1000,
	       round_ns[n / 2], round_ns[n * 99 / 100]);
	return 0;
}

static int idle(const struct sockaddr_in *addr, long n)
{
	long i = 0, end = 0;
	char c;

	do {
		for (end += n; i < end; i++)
			exchange(open_connection(addr));
		printf("%ld\n", i);
		fflush(stdout);
	} while (read(0, &c, 1) > 0);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr;

	if (argc == 3 && !strcmp(argv[1], "server"))
		serve(argv[2]);	/* does not return */
	if (argc == 3 && !strcmp(argv[1], "hold"))
		hold(argv[2]);	/* does not return */
	if (argc == 5 && !strcmp(argv[1], "idle")) {
		addr = address(argv[2], argv[3]);
		return idle(&addr, strtol(argv[4], NULL, 10));
	}
	if (argc == 5 && (!strcmp(argv[1], "pingpong") || !strcmp(argv[1], "connect"))) {
		addr = address(argv[2], argv[3]);
		return run(&addr, strtoul(argv[4], NULL, 10), argv[1][0] == 'p');
	}
	fputs("usage: small server|hold PORT\n"
	      "       small pingpong|connect HOST PORT MS\n"
	      "       small idle HOST PORT N\n", stderr);
	return 2;
}
