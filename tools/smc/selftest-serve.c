// SPDX-License-Identifier: GPL-2.0
/*
 * smc selftest --serve: the other end of the tests. A process for each connection does what the
 * client asks, within its limits, and ends in time.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "selftest.h"

#define CHILDREN_MAX	16
#define IDLE_MS		600000	/* without a client */

static const char * const names[] = {
	[SELFTEST_FACTS] = "first contact", [SELFTEST_SIZES] = "sizes",
	[SELFTEST_HALF] = "half close", [SELFTEST_RATE] = "rate", [SELFTEST_ECHO] = "round trips",
};

static void get_facts(const struct wire *wire, struct selftest_answer *answer)
{
	uint16_t local, peer;
	struct diag_sock sock;

	selftest_host(answer->host);
	wire_ports(wire, &local, &peer);
	if (!diag_find(local, peer, &sock) && sock.has_link)
		rdma_describe(sock.link.ibname, sock.link.ibport, sock.link.gid, answer->adapter);
	answer->landing = htonl(read_setting("landing"));
}

static bool serve_sizes(struct wire *wire)
{
	unsigned int number;
	uint64_t seed;
	size_t size;

	for (number = 0; selftest_size(number, &size, &seed); number++)
		if (!wire_recv_pattern(wire, size, seed) ||
		    !wire_send_pattern(wire, size, selftest_back(seed)))
			return false;
	return true;
}

static bool serve_rate(struct wire *wire)
{
	static char data[SELFTEST_CHUNK];
	ssize_t n;

	do {
		n = wire_recv_some(wire, data, sizeof(data));
	} while (n > 0);
	return !n;
}

static bool serve_echo(struct wire *wire, size_t size, uint64_t seed)
{
	while (wire_recv_pattern(wire, size, seed))
		if (!wire_send_pattern(wire, size, selftest_back(seed++)))
			return false;
	return wire->is_end;
}

static bool serve_half(struct wire *wire, size_t size, uint64_t seed)
{
	return wire_recv_pattern(wire, size, seed) && wire_recv_end(wire) &&
	       wire_send_pattern(wire, size, selftest_back(seed));
}

/* Return: false if the connection is of no use any more */
static bool serve_request(struct wire *wire, const struct selftest_request *request,
			  struct selftest_answer *answer)
{
	uint64_t seed = be64toh(request->seed);
	size_t size = ntohl(request->size);

	switch (ntohl(request->kind)) {
	case SELFTEST_FACTS:
		get_facts(wire, answer);
		return true;
	case SELFTEST_SIZES:
		return serve_sizes(wire);
	case SELFTEST_HALF:
		return serve_half(wire, size, seed);
	case SELFTEST_RATE:
		return serve_rate(wire);
	case SELFTEST_ECHO:
		return serve_echo(wire, size, seed);
	}
	return false;
}

static bool is_request(const struct selftest_request *request)
{
	uint32_t kind = ntohl(request->kind), size = ntohl(request->size);

	return be64toh(request->magic) == SELFTEST_MAGIC && kind && kind < ARRAY_SIZE(names) &&
	       size && size <= SELFTEST_MAX;
}

static void serve(struct wire *wire, const char *peer)
{
	struct selftest_answer answer = { .magic = htobe64(SELFTEST_MAGIC) };
	struct selftest_request request;
	const char *name = "-";
	uint64_t cpu = cpu_ns();
	bool is_done;

	is_done = wire_recv(wire, &request, sizeof(request));
	if (is_done && !is_request(&request))
		is_done = wire_fault(wire, "this is no request of smc selftest");
	if (is_done) {
		name = names[ntohl(request.kind)];
		wire->bytes = 0;
		is_done = serve_request(wire, &request, &answer);
	}
	if (is_done) {
		answer.bytes = htobe64(wire->bytes);
		answer.cpu_ns = htobe64(cpu_ns() - cpu);
		answer.is_wrong = htonl(!!*wire->text);
		memcpy(answer.text, wire->text, sizeof(answer.text));
		wire_send(wire, &answer, sizeof(answer));
	}
	if (!is_done)
		wire_fault(wire, "the client has closed the connection");
	printf("%s %s: %s\n", peer, name, *wire->text ? wire->text : "done");
}

static void start(int listener, int fd, long limit)
{
	struct sockaddr_in6 addr = { 0 };
	struct in6_addr peer = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
	struct wire wire = { .fd = fd };
	socklen_t len = sizeof(addr);
	char text[ADDR_TEXT];

	close(listener);
	/* without the server nobody waits for it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit_start(limit);
	getpeername(fd, (struct sockaddr *)&addr, &len);
	if (addr.sin6_family == AF_INET)
		memcpy(peer.s6_addr + 12, &((struct sockaddr_in *)&addr)->sin_addr, 4);
	else
		peer = addr.sin6_addr;
	addr_text(text, &peer, ntohs(addr.sin6_port));
	serve(&wire, text);
	close(fd);
	fflush(stdout);
	_exit(0);
}

/* Serves both families, or IPv4 where the host has no IPv6. Return: the listener or -1 */
static int listen_on(uint16_t port, int protocol)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int on = 1, off = 0, fd = socket(AF_INET6, SOCK_STREAM, protocol);
	bool is_v6 = fd >= 0;

	if (!is_v6)
		fd = socket(AF_INET, SOCK_STREAM, protocol);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (is_v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (!bind(fd, is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4,
		  is_v6 ? sizeof(v6) : sizeof(v4)) && !listen(fd, CHILDREN_MAX))
		return fd;
	close(fd);
	return -1;
}

/**
 * selftest_serve() - serve the tests of other hosts until interrupted, or for lack of clients
 * @port: to listen on
 * @limit: how many seconds a test may take
 *
 * Return: exit status.
 */
int selftest_serve(uint16_t port, long limit)
{
	int listener = listen_on(port, IPPROTO_SMC), children = 0, fd, ready;
	struct pollfd poll_fd = { .events = POLLIN };
	pid_t pid;

	if (listener < 0 && errno != EADDRINUSE) {
		fprintf(stderr, "smc: no socket of SMC, TCP only: %s\n", strerror(errno));
		listener = listen_on(port, IPPROTO_TCP);
	}
	if (listener < 0) {
		fprintf(stderr, "smc: port %u: %s\n", port, strerror(errno));
		return EXIT_FAILURE;
	}
	printf("serving on port %u, until interrupted or without a client for %d s\n", port,
	       IDLE_MS / 1000);
	fflush(stdout);
	poll_fd.fd = listener;
	while ((ready = poll(&poll_fd, 1, IDLE_MS))) {
		while (children && waitpid(-1, NULL, WNOHANG) > 0)
			children--;
		fd = ready > 0 ? accept(listener, NULL, NULL) : -1;
		if (fd < 0)
			continue;
		/* a client makes one connection at a time */
		pid = children < CHILDREN_MAX ? fork() : -1;
		if (!pid)
			start(listener, fd, limit);
		children += pid > 0;
		close(fd);
	}
	close(listener);
	return 0;
}
