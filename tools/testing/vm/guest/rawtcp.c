// SPDX-License-Identifier: GPL-2.0
/*
 * rawtcp server PORT PROTOCOL | client ADDRESS PORT PROTOCOL
 *
 * A program as the compiler of Go makes them: static, and its sockets come from
 * system calls of its own. The server echoes each connection, one after the other.
 * The client exchanges some bytes and ends with its standard input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define LEN 100000

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int serve(int fd, struct sockaddr_in *addr)
{
	char data[4096];
	ssize_t n;
	int conn;

	addr->sin_addr.s_addr = INADDR_ANY;
	if (bind(fd, (struct sockaddr *)addr, sizeof(*addr)) || listen(fd, 8))
		return fail("listen");
	puts("listening");
	while ((conn = accept(fd, NULL, NULL)) >= 0) {
		while ((n = read(conn, data, sizeof(data))) > 0)
			if (write(conn, data, n) != n)
				return fail("write");
		close(conn);
	}
	return fail("accept");
}

static int ask(int fd, struct sockaddr_in *addr)
{
	static char data[LEN], back[LEN];
	size_t sent, got, n;

	memset(data, 7, sizeof(data));
	if (connect(fd, (struct sockaddr *)addr, sizeof(*addr)))
		return fail("connect");
	for (sent = 0; sent < LEN; sent += n) {
		n = LEN - sent < 4096 ? LEN - sent : 4096;
		if (write(fd, data + sent, n) != (ssize_t)n)
			return fail("write");
		for (got = 0; got < n; got++)
			if (read(fd, back + got, 1) != 1 || back[got] != 7)
				return fail("read");
	}
	puts("moved");
	while (getchar() != EOF)
		;
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int is_server = argc > 1 && !strcmp(argv[1], "server");
	int fd;

	if (argc != 5 - is_server)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	addr.sin_port = htons(atoi(argv[argc - 2]));
	fd = syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, atoi(argv[argc - 1]));
	if (fd < 0)
		return fail("socket");
	if (is_server)
		return serve(fd, &addr);
	if (inet_pton(AF_INET, argv[2], &addr.sin_addr) != 1)
		return 2;
	return ask(fd, &addr);
}
