// SPDX-License-Identifier: GPL-2.0
/*
 * Small messages and short connections, for the benchmark.
 *
 *   small server PORT [SIZE]     answer each message until killed
 *   small pingpong HOST PORT MS  one connection, one message at a time
 *   small connect HOST PORT MS   connect, request, answer, close, again
 *   small turns HOST PORT N      the same N times
 *   small versus HOST PORT KIND PORT KIND MS
 *                                the same to both ports by sockets of both KINDs,
 *                                tcp or smc, blocks of connections in turns
 *   small both PORT PORT         server of kind tcp on the first port, smc on the other
 *   small hold PORT              as server, for many connections at a time
 *   small burst HOST PORT CONNS  CONNS connections begun at once, a message and an
 *                                answer on each
 *   small polls HOST PORT N      as turns, with connect() that does not wait
 *   small rounds HOST PORT N [SIZE]
 *                                one connection, N messages and answers
 *   small idle HOST PORT N       N connections, one message on each, then none
 *   small beside HOST PORT N CONNS
 *                                as turns, beside CONNS connections that are idle
 *   small sink PORT              read what a stream announces, then answer
 *   small stream HOST PORT N SIZE [delay|zerocopy]
 *                                one connection, N writes of SIZE bytes, an answer;
 *                                by Nagle's algorithm with "delay", by MSG_ZEROCOPY
 *                                with "zerocopy"
 *   small crowd HOST PORT N CONNS
 *                                N messages and answers over CONNS connections,
 *                                one under way on each
 *   small waves HOST PORT N CONNS
 *                                as turns, CONNS connections at a time
 *   small broker PORT READERS    pass what one connection sends to READERS others
 *   small fan HOST PORT MS READERS
 *                                send to a broker, and read as all of its READERS
 *
 * PORT may be "@NAME", an abstract address of AF_UNIX, or a path with a "/": two named
 * pipes, PATH.0 to the server and PATH.1 from it. HOST has no meaning then. Pipes carry
 * what has one connection and no epoll: server and rounds, sink and stream.
 *
 * The clients with MS print one line: rounds, microseconds, then the median and the
 * 99th percentile of a round in nanoseconds. "burst" prints the microseconds until half
 * of its connections and all of them were connected. Those with N do as many for each
 * line of input, too, and print the total; the idle one keeps its connections
 * until its input ends. "fan" prints the bytes that the readers received and the
 * microseconds. "versus" prints connections, both rates in 1/s, and the
 * median of the second rate in thousandths of the first. It compares
 * neighbouring blocks, so that changes of the host's load affect both. Without
 * a KIND the sockets are plain TCP; a preload library changes them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <linux/errqueue.h>

#define SIZE		64	/* bytes of a message, unless SIZE is given */
#define READ		65536	/* bytes of a read in a stream */
#define BIG		1048576	/* bytes of the largest message */
#define MAX_LENT	16	/* sends without a copy before a notice is awaited */
#define WARM_UP		50	/* rounds that do not count */
#define BLOCK		20	/* connections of one kind in a row */
#define MAX_BLOCKS	10000
#define MAX_ROUNDS	1000000
#define MAX_CONNS	1000
#define MAX_IDLE	20000
#define MAX_FILES	65536
#define RECORDS		16384	/* bytes that a writer sends to a broker at once */
#define BATCH		64	/* events of a poll */

#ifndef AF_SMC
#define AF_SMC		43
#endif

static uint32_t round_ns[MAX_ROUNDS];
static char data[BIG];
static size_t message_size = SIZE;
static int family = AF_INET;
static int nodelay = 1;
static int pipe_out = -1;	/* where to write, if the connection is two pipes */

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_un un;	/* the path of two pipes, too */
};

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

static int is_unix(const union address *addr)
{
	return addr->any.sa_family == AF_UNIX;
}

static int is_pipe(const union address *addr)
{
	return is_unix(addr) && addr->un.sun_path[0];
}

static socklen_t length(const union address *addr)
{
	return is_unix(addr) ? sizeof(addr->un) : sizeof(addr->in);
}

static int make_socket(const union address *addr)
{
	int fd;

	fd = socket(is_unix(addr) ? AF_UNIX : family, SOCK_STREAM, 0);
	if (fd < 0)
		die("socket");
	if (is_unix(addr))
		return fd;
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, sizeof(nodelay)))
		die("TCP_NODELAY");
	return fd;
}

static union address address(const char *host, const char *port)
{
	union address addr = { .un.sun_family = AF_UNIX };

	if (*port == '@' || strchr(port, '/')) {
		snprintf(addr.un.sun_path, sizeof(addr.un.sun_path), "%s", port);
		if (*port == '@')
			addr.un.sun_path[0] = '\0';
		return addr;
	}
	addr.in.sin_family = AF_INET;
	addr.in.sin_port = htons(atoi(port));
	if (inet_pton(AF_INET, host, &addr.in.sin_addr) != 1) {
		errno = EINVAL;
		die(host);
	}
	return addr;
}

static int open_end(const union address *addr, int nr, int flags)
{
	char path[sizeof(addr->un.sun_path) + 3];
	int fd;

	snprintf(path, sizeof(path), "%s.%d", addr->un.sun_path, nr);
	fd = open(path, flags);
	if (fd < 0)
		die(path);
	return fd;
}

/* Waits for the other end, which opens the pipes in the same order. */
static int open_pipes(const union address *addr, int is_server)
{
	int fd;

	if (is_server) {
		fd = open_end(addr, 0, O_RDONLY);
		pipe_out = open_end(addr, 1, O_WRONLY);
	} else {
		pipe_out = open_end(addr, 0, O_WRONLY);
		fd = open_end(addr, 1, O_RDONLY);
	}
	return fd;
}

static void make_pipes(const union address *addr)
{
	char path[sizeof(addr->un.sun_path) + 3];
	int nr;

	for (nr = 0; nr < 2; nr++) {
		snprintf(path, sizeof(path), "%s.%d", addr->un.sun_path, nr);
		if (mkfifo(path, 0600) && errno != EEXIST)
			die(path);
	}
}

static ssize_t get_some(int fd, char *buf, size_t len)
{
	return pipe_out < 0 ? recv(fd, buf, len, 0) : read(fd, buf, len);
}

static ssize_t put_some(int fd, const char *buf, size_t len)
{
	return pipe_out < 0 ? send(fd, buf, len, MSG_NOSIGNAL) : write(pipe_out, buf, len);
}

/* False at the end of the stream. */
static int get_bytes(int fd, char *buf, size_t len)
{
	size_t have = 0;

	while (have < len) {
		ssize_t n = get_some(fd, buf + have, len - have);

		if (n < 0)
			die("recv");
		if (!n)
			return 0;
		have += n;
	}
	return 1;
}

static int get_message(int fd, char *buf)
{
	return get_bytes(fd, buf, SIZE);
}

static void put_bytes(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = put_some(fd, buf, len);

		if (n < 0)
			die("send");
		buf += n;
		len -= n;
	}
}

static void put_message(int fd, const char *buf)
{
	put_bytes(fd, buf, SIZE);
}

static int make_listener(const char *port)
{
	union address addr = address("0.0.0.0", port);
	int ls = make_socket(&addr);
	int one = 1;

	setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(ls, &addr.any, length(&addr)) || listen(ls, MAX_CONNS))
		die("listen");
	return ls;
}

static void answer_all(int fd)
{
	while (get_bytes(fd, data, message_size))
		put_bytes(fd, data, message_size);
}

/* A message has the number of bytes that follow. */
static void sink(int fd)
{
	char buf[SIZE];
	size_t left;
	ssize_t n;

	while (get_message(fd, buf)) {
		for (left = strtoul(buf, NULL, 10); left; left -= n) {
			n = get_some(fd, data, left < READ ? left : READ);
			if (n <= 0)
				die("recv");
		}
		put_message(fd, buf);
	}
}

static int wait_accept(int ls)
{
	int fd = accept(ls, NULL, NULL);

	if (fd < 0)
		die("accept");
	return fd;
}

static void serve_pipes(const union address *addr, void (*one)(int fd))
{
	int fd;

	make_pipes(addr);
	for (;;) {
		fd = open_pipes(addr, 1);
		one(fd);
		close(fd);
		close(pipe_out);
	}
}

static void serve(int ls, void (*one)(int fd))
{
	int fd;

	for (;;) {
		fd = wait_accept(ls);
		one(fd);
		close(fd);
	}
}

static void serve_port(const char *port, void (*one)(int fd))
{
	union address addr = address("0.0.0.0", port);

	if (is_pipe(&addr))
		serve_pipes(&addr, one);
	serve(make_listener(port), one);
}

static void use_kind(const char *kind)
{
	family = strcmp(kind, "smc") ? AF_INET : AF_SMC;
}

/* The second server listens before the first does, and ends with it. */
static void serve_both(const char *tcp_port, const char *smc_port)
{
	int tcp, smc;
	pid_t pid;

	use_kind("smc");
	smc = make_listener(smc_port);
	use_kind("tcp");
	tcp = make_listener(tcp_port);
	pid = fork();
	if (pid < 0 || (!pid && prctl(PR_SET_PDEATHSIG, SIGTERM)))
		die("fork");
	serve(pid ? tcp : smc, answer_all);
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("watch");
}

/* Answers one message, or drops a connection that has ended. */
static void hold_one(int fd)
{
	char buf[SIZE];

	if (get_message(fd, buf))
		put_message(fd, buf);
	else
		close(fd);
}

static void hold(const char *port)
{
	int listener = make_listener(port), epoll = epoll_create1(0);
	struct epoll_event events[BATCH];
	int n, i;

	watch(epoll, listener);
	for (;;) {
		n = epoll_wait(epoll, events, BATCH, -1);
		if (n < 0)
			die("epoll");
		for (i = 0; i < n; i++)
			if (events[i].data.fd == listener)
				watch(epoll, accept(listener, NULL, NULL));
			else
				hold_one(events[i].data.fd);
	}
}

/* What the clients with N do it with. */
struct load {
	union address addr;
	int fd;
	size_t size;
	int is_zerocopy;
};

static void wait_answer(int fd)
{
	char buf[SIZE];

	if (!get_message(fd, buf)) {
		errno = ECONNRESET;
		die("answer");
	}
}

static void exchange(int fd)
{
	char buf[SIZE] = "ping";

	put_message(fd, buf);
	wait_answer(fd);
}

static int open_connection(const union address *addr)
{
	int fd;

	if (is_pipe(addr))
		return open_pipes(addr, 0);
	fd = make_socket(addr);
	if (connect(fd, &addr->any, length(addr)))
		die("connect");
	return fd;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int run(const union address *addr, uint64_t ms, int is_pingpong)
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

static uint32_t block_us(const union address *addr)
{
	uint64_t began = now_ns();
	int i;

	for (i = 0; i < BLOCK; i++) {
		int fd = open_connection(addr);

		exchange(fd);
		close(fd);
	}
	return (now_ns() - began) / 1000;
}

static int versus(char **argv)
{
	static uint32_t us[2][MAX_BLOCKS], ratio[MAX_BLOCKS];
	uint64_t ms = strtoul(argv[5], NULL, 10);
	uint64_t began = 0;
	int n, k, i;

	for (n = -1; n < MAX_BLOCKS; n++) {
		if (!n)
			began = now_ns();
		for (k = 0; k < 2; k++) {
			/* the kinds alternate as the first */
			int kind = k ^ (n & 1);
			union address addr = address(argv[0], argv[1 + 2 * kind]);

			use_kind(argv[2 + 2 * kind]);
			us[kind][n < 0 ? 0 : n] = block_us(&addr);
		}
		if (n > 0 && now_ns() - began >= ms * 1000000)
			break;
	}
	n = n < MAX_BLOCKS ? n + 1 : n;
	for (i = 0; i < n; i++)
		ratio[i] = 1000ULL * us[0][i] / us[1][i];
	qsort(ratio, n, sizeof(*ratio), compare);
	for (k = 0; k < 2; k++)
		qsort(us[k], n, sizeof(*us[k]), compare);
	printf("%d %u %u %u\n", 2 * n * BLOCK, BLOCK * 1000000 / us[0][n / 2],
	       BLOCK * 1000000 / us[1][n / 2], ratio[n / 2]);
	return 0;
}

static int start_connection(const union address *addr)
{
	int fd = make_socket(addr);

	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		die("O_NONBLOCK");
	if (connect(fd, &addr->any, length(addr)) && errno != EINPROGRESS)
		die("connect");
	return fd;
}

static void wait_connection(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0;

	if (poll(&pfd, 1, -1) < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) || err) {
		errno = err ? err : errno;
		die("connect");
	}
	if (fcntl(fd, F_SETFL, 0))
		die("blocking");
}

/* Connections that wait do not delay the time of another one. */
static int burst(const union address *addr, int n)
{
	static uint32_t us[MAX_CONNS];
	static int conns[MAX_CONNS];
	struct epoll_event events[BATCH], event = { .events = EPOLLOUT | EPOLLET };
	int epoll = epoll_create1(0), done = 0, got, i;
	uint64_t began = now_ns(), now;

	for (i = 0; i < n; i++) {
		conns[i] = start_connection(addr);
		event.data.fd = conns[i];
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, conns[i], &event))
			die("epoll");
	}
	while (done < n) {
		got = epoll_wait(epoll, events, BATCH, -1);
		if (got < 0)
			die("epoll");
		now = now_ns();
		for (i = 0; i < got; i++) {
			wait_connection(events[i].data.fd);
			epoll_ctl(epoll, EPOLL_CTL_DEL, events[i].data.fd, NULL);
			us[done++] = (now - began) / 1000;
		}
	}
	for (i = 0; i < n; i++)
		put_message(conns[i], data);
	for (i = 0; i < n; i++) {
		wait_answer(conns[i]);
		close(conns[i]);
	}
	printf("%u %u\n", us[n / 2], us[n - 1]);
	return 0;
}

static int open_by_poll(const union address *addr)
{
	int fd = start_connection(addr);

	wait_connection(fd);
	return fd;
}

static void end_turn(int fd)
{
	exchange(fd);
	close(fd);
}

static void turns(const struct load *load, long n)
{
	while (n--)
		end_turn(open_connection(&load->addr));
}

static void polls(const struct load *load, long n)
{
	while (n--)
		end_turn(open_by_poll(&load->addr));
}

/* The size is the number of connections. */
static void waves(const struct load *load, long n)
{
	int conns[MAX_CONNS], i;

	for (; n > 0; n -= load->size) {
		for (i = 0; i < (int)load->size; i++)
			conns[i] = start_connection(&load->addr);
		for (i = 0; i < (int)load->size; i++) {
			wait_connection(conns[i]);
			put_message(conns[i], data);
		}
		for (i = 0; i < (int)load->size; i++) {
			wait_answer(conns[i]);
			close(conns[i]);
		}
	}
}

static void idle(const struct load *load, long n)
{
	while (n--)
		exchange(open_connection(&load->addr));
}

/* The size is the number of idle connections. */
static void beside(const struct load *load, long n)
{
	static size_t nr;

	for (; nr < load->size; nr++)
		exchange(open_connection(&load->addr));
	turns(load, n);
}

static void rounds(const struct load *load, long n)
{
	while (n--) {
		put_bytes(load->fd, data, load->size);
		if (!get_bytes(load->fd, data, load->size)) {
			errno = ECONNRESET;
			die("answer");
		}
	}
}

/* Sends whose pages the kernel still uses. */
static uint32_t nr_lent;

/* Waits until the kernel has returned the pages of some sends. */
static void get_notice(int fd)
{
	char control[CMSG_SPACE(sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in))];
	struct msghdr msg = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct pollfd wait = { .fd = fd };
	const struct sock_extended_err *err;

	if (poll(&wait, 1, -1) < 0)
		die("poll");
	if (recvmsg(fd, &msg, MSG_ERRQUEUE) < 0)
		die("notice");
	err = (const void *)CMSG_DATA(CMSG_FIRSTHDR(&msg));
	if (err->ee_errno || err->ee_origin != SO_EE_ORIGIN_ZEROCOPY) {
		errno = EPROTO;
		die("notice");
	}
	nr_lent -= err->ee_data - err->ee_info + 1;
}

/* As put_bytes(), from the pages of data. */
static void put_pages(int fd, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n;

		if (nr_lent == MAX_LENT)
			get_notice(fd);
		n = send(fd, data + done, len - done, MSG_NOSIGNAL | MSG_ZEROCOPY);
		if (n < 0)
			die("send");
		nr_lent++;
		done += n;
	}
}

static void stream(const struct load *load, long n)
{
	char buf[SIZE] = "";

	snprintf(buf, sizeof(buf), "%zu", n * load->size);
	put_message(load->fd, buf);
	while (n--) {
		if (load->is_zerocopy)
			put_pages(load->fd, load->size);
		else
			put_bytes(load->fd, data, load->size);
	}
	wait_answer(load->fd);
	while (nr_lent)
		get_notice(load->fd);
}

/* The size is the number of connections. */
static void crowd(const struct load *load, long n)
{
	static int conns[MAX_CONNS], nr, epoll = -1;
	struct epoll_event events[BATCH];
	long sent = 0, left = n;
	int got, i;

	if (epoll < 0)
		epoll = epoll_create1(0);
	for (; nr < (int)load->size; nr++) {
		conns[nr] = open_connection(&load->addr);
		watch(epoll, conns[nr]);
	}
	for (i = 0; i < nr && sent < n; i++, sent++)
		put_message(conns[i], data);
	while (left > 0) {
		got = epoll_wait(epoll, events, BATCH, -1);
		if (got < 0)
			die("epoll");
		left -= got;
		for (i = 0; i < got; i++) {
			wait_answer(events[i].data.fd);
			if (sent++ < n)
				put_message(events[i].data.fd, data);
		}
	}
}

/* The first connections are those of the readers. */
static void broker(const char *port, int readers)
{
	int ls = make_listener(port), to[MAX_CONNS], from, i;
	ssize_t n;

	for (;;) {
		for (i = 0; i < readers; i++)
			to[i] = wait_accept(ls);
		from = wait_accept(ls);
		while ((n = recv(from, data, READ, 0)) > 0)
			for (i = 0; i < readers; i++)
				put_bytes(to[i], data, n);
		if (n < 0)
			die("recv");
		for (i = 0; i < readers; i++)
			close(to[i]);
		close(from);
	}
}

/* Reads all connections to their ends; returns the number of bytes. */
static uint64_t read_all(const int *conns, int n)
{
	struct epoll_event events[BATCH];
	int epoll = epoll_create1(0), got, i;
	uint64_t total = 0;
	ssize_t len;

	for (i = 0; i < n; i++)
		watch(epoll, conns[i]);
	while (n) {
		got = epoll_wait(epoll, events, BATCH, -1);
		if (got < 0)
			die("epoll");
		for (i = 0; i < got; i++) {
			len = recv(events[i].data.fd, data, READ, 0);
			if (len < 0)
				die("recv");
			total += len;
			if (!len) {
				close(events[i].data.fd);
				n--;
			}
		}
	}
	return total;
}

static int fan(const union address *addr, uint64_t ms, int readers)
{
	int conns[MAX_CONNS], result[2], fd, i;
	uint64_t began, total;
	pid_t pid;

	for (i = 0; i < readers; i++)
		conns[i] = open_connection(addr);
	if (pipe(result))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		total = read_all(conns, readers);
		exit(write(result[1], &total, sizeof(total)) != sizeof(total));
	}
	for (i = 0; i < readers; i++)
		close(conns[i]);
	fd = open_connection(addr);
	began = now_ns();
	while (now_ns() - began < ms * 1000000)
		put_bytes(fd, data, RECORDS);
	close(fd);
	if (read(result[0], &total, sizeof(total)) != sizeof(total))
		die("readers");
	printf("%llu %llu\n", (unsigned long long)total,
	       (unsigned long long)(now_ns() - began) / 1000);
	return 0;
}

static const struct way {
	const char *name;
	void (*run)(const struct load *load, long n);
	int is_connected;
	size_t most;
} ways[] = {
	{ "turns", turns, 0, 0 },
	{ "polls", polls, 0, 0 },
	{ "idle", idle, 0, 0 },
	{ "beside", beside, 0, MAX_IDLE },
	{ "rounds", rounds, 1, BIG },
	{ "stream", stream, 1, BIG },
	{ "crowd", crowd, 0, MAX_CONNS },
	{ "waves", waves, 0, MAX_CONNS },
	{ }
};

static int run_way(const struct way *way, struct load *load, long n)
{
	long total = 0;
	int one = 1;
	char c;

	if (way->is_connected)
		load->fd = open_connection(&load->addr);
	if (load->is_zerocopy &&
	    setsockopt(load->fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		die("SO_ZEROCOPY");
	do {
		way->run(load, n);
		printf("%ld\n", total += n);
		fflush(stdout);
	} while (read(0, &c, 1) > 0);
	return 0;
}

/* The rest of the command line of a client with N: HOST PORT N [SIZE [HOW]] */
static int start_way(const struct way *way, int argc, char **argv)
{
	struct load load = { .addr = address(argv[0], argv[1]), .size = SIZE };

	if (argc > 3)
		load.size = strtoul(argv[3], NULL, 10);
	nodelay = argc < 5 || strcmp(argv[4], "delay");
	load.is_zerocopy = argc > 4 && !strcmp(argv[4], "zerocopy");
	if (argc > 3 && (!load.size || load.size > way->most)) {
		errno = EINVAL;
		die(argv[3]);
	}
	return run_way(way, &load, strtol(argv[2], NULL, 10));
}

static int is_count(const char *word)
{
	int n = atoi(word);

	return n > 0 && n <= MAX_CONNS;
}

static int refuse(void)
{
	fputs("usage: small server PORT [SIZE]\n"
	      "       small hold|sink PORT\n"
	      "       small pingpong|connect HOST PORT MS\n"
	      "       small burst HOST PORT CONNS\n"
	      "       small both PORT PORT\n"
	      "       small versus HOST PORT tcp|smc PORT tcp|smc MS\n"
	      "       small turns|polls|idle HOST PORT N\n"
	      "       small rounds HOST PORT N [SIZE]\n"
	      "       small stream HOST PORT N SIZE [delay|zerocopy]\n"
	      "       small beside|crowd|waves HOST PORT N CONNS\n"
	      "       small broker PORT READERS\n"
	      "       small fan HOST PORT MS READERS\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct rlimit files = { MAX_FILES, MAX_FILES };
	const struct way *way;
	union address addr;

	/* as root; otherwise what the user may have is enough for most */
	setrlimit(RLIMIT_NOFILE, &files);
	if (argc == 4 && !strcmp(argv[1], "server"))
		message_size = strtoul(argv[3], NULL, 10);
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "server") && message_size <= BIG)
		serve_port(argv[2], answer_all);	/* does not return */
	if (argc == 3 && !strcmp(argv[1], "sink"))
		serve_port(argv[2], sink);	/* does not return */
	if (argc == 4 && !strcmp(argv[1], "both"))
		serve_both(argv[2], argv[3]);	/* does not return */
	if (argc == 8 && !strcmp(argv[1], "versus"))
		return versus(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "hold"))
		hold(argv[2]);	/* does not return */
	if (argc == 5 && (!strcmp(argv[1], "pingpong") || !strcmp(argv[1], "connect"))) {
		addr = address(argv[2], argv[3]);
		return run(&addr, strtoul(argv[4], NULL, 10), argv[1][0] == 'p');
	}
	if (argc == 5 && !strcmp(argv[1], "burst")) {
		addr = address(argv[2], argv[3]);
		return is_count(argv[4]) ? burst(&addr, atoi(argv[4])) : refuse();
	}
	if (argc == 4 && !strcmp(argv[1], "broker") && is_count(argv[3]))
		broker(argv[2], atoi(argv[3]));	/* does not return */
	if (argc == 6 && !strcmp(argv[1], "fan") && is_count(argv[5])) {
		addr = address(argv[2], argv[3]);
		return fan(&addr, strtoul(argv[4], NULL, 10), atoi(argv[5]));
	}
	for (way = ways; argc > 4 && way->name; way++)
		if (!strcmp(argv[1], way->name))
			return start_way(way, argc - 2, argv + 2);
	return refuse();
}
