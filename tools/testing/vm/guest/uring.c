// SPDX-License-Identifier: GPL-2.0
/*
 * Socket calls by io_uring, one script for two ends.
 *
 * usage: uring server|client FAMILY IP-VERSION ADDRESS PORT NOBODY
 *
 * FAMILY is tcp or smc; ADDRESS is that of the server. PORT is used for the
 * connections, the next port for a plain TCP connection that keeps both ends in
 * step; the port after that is unused. The address NOBODY does not answer. Each
 * end prints the result of each call on a line; the runner compares the lines of
 * one family with those of another. A call that does not complete within a
 * minute ends the program.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Values that the distribution's header lacks. */
enum { OP_BIND = 56, OP_LISTEN = 57, OP_SENDMSG_ZC = 48, OP_URING_CMD = 46 };
enum { CMD_SIOCINQ, CMD_SIOCOUTQ, CMD_GETSOCKOPT, CMD_SETSOCKOPT };

#define BIG	1048576
#define LARGE		20000	/* bytes of a send that is worth not to copy */
#define PATIENCE 60

static struct io_uring ring;
static bool is_server;
static bool is_v6;
static int family, protocol;
static const char *peer;
static const char *nobody;
static int port;
static int ctl;
static char big[BIG];

static void die(const char *what, int err)
{
	printf("%s: %s\n", what, strerror(err));
	fprintf(stderr, "%s: %s\n", what, strerror(err));
	exit(1);
}

__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* Waits until both ends have reached this call. */
static void meet(void)
{
	char c = '.';

	if (write(ctl, &c, 1) != 1 || read(ctl, &c, 1) != 1)
		die("the other end", errno);
}

/* Fills in a socket address; returns its length. */
static socklen_t address(struct sockaddr_storage *ss, const char *host, int to)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (is_v6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(to);
		if (host)
			inet_pton(AF_INET6, host, &in6->sin6_addr);
		return sizeof(*in6);
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(to);
	if (host)
		inet_pton(AF_INET, host, &in->sin_addr);
	return sizeof(*in);
}

/* Sets up the control connection, with plain calls. */
static void meet_first(void)
{
	int inet = is_v6 ? AF_INET6 : AF_INET, one = 1, s = socket(inet, SOCK_STREAM, 0);
	struct sockaddr_storage ss;
	socklen_t len = address(&ss, is_server ? NULL : peer, port + 1);

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!is_server) {
		for (int i = 0; connect(s, (void *)&ss, len); i++) {
			/* the server does not listen yet */
			if (errno != ECONNREFUSED || i == 10 * PATIENCE)
				die("control", errno);
			usleep(100000);
		}
		ctl = s;
		return;
	}
	if (bind(s, (void *)&ss, len) || listen(s, 1))
		die("control", errno);
	ctl = accept(s, NULL, NULL);
	close(s);
}

/* Requests */

static struct io_uring_sqe *request(uint64_t id)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe)
		die("no entry", ENOMEM);
	memset(sqe, 0, sizeof(*sqe));
	sqe->user_data = id;
	return sqe;
}

/* Sets the number of an entry, which liburing's prepare functions clear. */
static void number(struct io_uring_sqe *sqe, uint64_t id)
{
	sqe->user_data = id;
}

static void submit(void)
{
	int rc = io_uring_submit(&ring);

	if (rc < 0)
		die("submit", -rc);
}

struct done {
	uint64_t user_data;
	int res;
	unsigned int flags;
};

/* The next completion of any request. */
static struct done next(void)
{
	struct __kernel_timespec ts = { .tv_sec = PATIENCE };
	struct io_uring_cqe *cqe;
	struct done copy;
	int rc;

	do {
		rc = io_uring_wait_cqe_timeout(&ring, &cqe, &ts);
	} while (rc == -EINTR);
	if (rc)
		die("no completion", -rc);
	copy = (struct done){ cqe->user_data, cqe->res, cqe->flags };
	io_uring_cqe_seen(&ring, cqe);
	return copy;
}

static bool is_quiet(void)
{
	struct io_uring_cqe *cqe;

	return io_uring_peek_cqe(&ring, &cqe);
}

static const char *result(int res)
{
	static char buf[4][40];
	static int at;
	char *s = buf[at++ % 4];

	if (res >= 0)
		snprintf(s, sizeof(buf[0]), "%d", res);
	else
		snprintf(s, sizeof(buf[0]), "-%s", strerrorname_np(-res));
	return s;
}

/* Waits for a completion by its number and stores others, because completions
 * that come together have no order.
 */
static struct done aside[32];
static int nr_aside;

static struct done done(uint64_t id)
{
	struct done cqe;

	for (int i = 0; i < nr_aside; i++) {
		if (aside[i].user_data != id)
			continue;
		cqe = aside[i];
		memmove(aside + i, aside + i + 1, (--nr_aside - i) * sizeof(cqe));
		return cqe;
	}
	for (;;) {
		cqe = next();
		if (cqe.user_data == id)
			return cqe;
		if (nr_aside == 32)
			die("too many completions", EOVERFLOW);
		aside[nr_aside++] = cqe;
	}
}

static int finish(const char *what, uint64_t id)
{
	struct done cqe = done(id);

	say("%s: %s", what, result(cqe.res));
	return cqe.res;
}

/* Sockets */

static int new_socket(void)
{
	struct io_uring_sqe *sqe = request(1);

	io_uring_prep_socket(sqe, family, SOCK_STREAM, protocol, 0);
	number(sqe, 1);
	submit();

	int fd = done(1).res;

	if (fd < 0)
		die("socket", -fd);
	return fd;
}

static int listener(void)
{
	int s = new_socket(), one = 1;
	struct sockaddr_storage ss;
	struct io_uring_sqe *sqe;
	socklen_t len = address(&ss, NULL, port);

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	sqe = request(1);
	sqe->opcode = OP_BIND;
	sqe->fd = s;
	sqe->addr = (uintptr_t)&ss;
	sqe->addr2 = len;
	submit();
	if (finish("bind", 1) < 0 && bind(s, (void *)&ss, len))
		die("bind", errno);
	sqe = request(2);
	sqe->opcode = OP_LISTEN;
	sqe->fd = s;
	sqe->len = 8;
	submit();
	if (finish("listen", 2) < 0 && listen(s, 8))
		die("listen", errno);
	return s;
}

static void start_connect(int s, const char *host, int to, uint64_t id)
{
	static struct sockaddr_storage ss[8];
	static int at;
	struct sockaddr_storage *to_addr = &ss[at++ % 8];
	struct io_uring_sqe *sqe = request(id);
	socklen_t len = address(to_addr, host, to);

	io_uring_prep_connect(sqe, s, (void *)to_addr, len);
	number(sqe, id);
	submit();
}

static int start_accept(int s, int flags, uint64_t id)
{
	struct io_uring_sqe *sqe = request(id);

	io_uring_prep_accept(sqe, s, NULL, NULL, flags);
	number(sqe, id);
	submit();
	return 0;
}

static void start_recv(int s, void *buf, size_t len, int flags, int sqe_flags, uint64_t id)
{
	struct io_uring_sqe *sqe = request(id);

	io_uring_prep_recv(sqe, s, buf, len, flags);
	sqe->flags |= sqe_flags;
	number(sqe, id);
	submit();
}

static void start_send(int s, const void *buf, size_t len, int flags, int sqe_flags, uint64_t id)
{
	struct io_uring_sqe *sqe = request(id);

	io_uring_prep_send(sqe, s, buf, len, flags | MSG_NOSIGNAL);
	sqe->flags |= sqe_flags;
	number(sqe, id);
	if (!(sqe_flags & IOSQE_IO_LINK))
		submit();
}

static int cancel(uint64_t victim)
{
	struct io_uring_sqe *sqe = request(99);

	io_uring_prep_cancel64(sqe, victim, 0);
	number(sqe, 99);
	submit();
	return done(99).res;
}

static void send_text(int s, const char *text)
{
	start_send(s, text, strlen(text), 0, 0, 5);
	say("send %s: %s", text, result(done(5).res));
}

/* Prints received data as text. */
static void got(const char *what, const struct done *cqe, const char *buf)
{
	if (cqe->res > 0)
		say("%s: %d %.*s%s", what, cqe->res, cqe->res, buf,
		    cqe->flags & IORING_CQE_F_SOCK_NONEMPTY ? " and more" : "");
	else
		say("%s: %s", what, result(cqe->res));
}

static void recv_text(const char *what, int s, int flags, size_t len)
{
	char buf[64] = "";
	struct done cqe;

	start_recv(s, buf, len, flags, 0, 6);
	cqe = done(6);
	got(what, &cqe, buf);
}

static int connection(int ls)
{
	int s;

	if (is_server) {
		start_accept(ls, 0, 7);
		meet();
		s = done(7).res;
	} else {
		meet();
		s = new_socket();
		start_connect(s, peer, port, 7);
		finish("connect", 7);
	}
	if (s < 0)
		die("connection", -s);
	meet();
	return s;
}

/* The cases. Each gets a connection and leaves it usable, except for the last. */

static void case_recv(int s)
{
	char buf[64] = "", more[64] = "";
	struct done cqe;

	if (!is_server) {
		meet();
		send_text(s, "first");
		meet();
		send_text(s, "abc");
		meet();
		send_text(s, "def");
		meet();
		send_text(s, "0123456789");
		meet();
		return;
	}
	start_recv(s, buf, sizeof(buf), 0, 0, 10);
	say("pending: %d", is_quiet());
	meet();
	cqe = done(10);
	got("recv that waited", &cqe, buf);
	recv_text("nothing there", s, MSG_DONTWAIT, 10);
	memset(buf, 0, sizeof(buf));
	start_recv(s, buf, 6, MSG_WAITALL, 0, 11);
	meet();
	meet();
	cqe = done(11);
	got("recv of all", &cqe, buf);
	/* the worker of io_uring sleeps in the call */
	start_recv(s, more, sizeof(more), 0, IOSQE_ASYNC, 12);
	meet();
	cqe = done(12);
	got("recv of a worker", &cqe, more);
	meet();
}

static void case_msg(int s)
{
	char a[4] = "", b[8] = "";
	struct iovec in[2] = { { a, 3 }, { b, 7 } };
	struct iovec out[2] = { { "one", 3 }, { "and two", 7 } };
	struct msghdr msg = { .msg_iov = is_server ? in : out, .msg_iovlen = 2 };
	struct io_uring_sqe *sqe = request(10);

	if (is_server)
		io_uring_prep_recvmsg(sqe, s, &msg, MSG_WAITALL);
	else
		io_uring_prep_sendmsg(sqe, s, &msg, MSG_NOSIGNAL);
	number(sqe, 10);
	submit();
	finish(is_server ? "recvmsg" : "sendmsg", 10);
	if (is_server)
		say("parts: %s, %s, flags %#x", a, b, msg.msg_flags);
	meet();
}

/* The kernel chooses buffers; one request has many completions. */
static void case_multishot(int s)
{
	static char bufs[8][16];
	struct io_uring_sqe *sqe;
	struct done cqe;

	if (!is_server) {
		meet();
		for (int i = 0; i < 3; i++) {
			send_text(s, "shot");
			meet();
		}
		meet();
		return;
	}
	sqe = request(10);
	io_uring_prep_provide_buffers(sqe, bufs, sizeof(bufs[0]), 8, 1, 0);
	number(sqe, 10);
	submit();
	finish("buffers", 10);
	sqe = request(11);
	io_uring_prep_recv_multishot(sqe, s, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = 1;
	number(sqe, 11);
	submit();
	meet();
	for (int i = 0; i < 3; i++) {
		cqe = done(11);
		say("shot: %d%s %.*s", cqe.res, cqe.flags & IORING_CQE_F_MORE ? "" : " last",
		    cqe.res > 0 ? cqe.res : 0, bufs[cqe.flags >> IORING_CQE_BUFFER_SHIFT]);
		meet();
	}
	say("cancel: %s", result(cancel(11)));
	cqe = done(11);
	say("shot: %s%s", result(cqe.res), cqe.flags & IORING_CQE_F_MORE ? "" : " last");
	sqe = request(12);
	io_uring_prep_remove_buffers(sqe, 8, 1);
	number(sqe, 12);
	submit();
	done(12);
	meet();
}

/* Removes a poll; the kernel refuses that with an error while it wakes the poll. */
static void remove_poll(uint64_t id)
{
	struct io_uring_sqe *sqe;
	int res;

	do {
		sqe = request(13);
		io_uring_prep_poll_remove(sqe, id);
		number(sqe, 13);
		submit();
		res = done(13).res;
	} while (res == -EALREADY);
	say("poll removed: %s", result(res));
}

static void case_poll(int s)
{
	struct io_uring_sqe *sqe;
	struct done cqe;

	if (!is_server) {
		for (int i = 0; i < 3; i++) {
			meet();
			send_text(s, "poll");
			meet();
		}
		return;
	}
	sqe = request(10);
	io_uring_prep_poll_add(sqe, s, POLLOUT | POLLIN);
	number(sqe, 10);
	submit();
	say("writable: %#x", done(10).res);
	sqe = request(11);
	io_uring_prep_poll_add(sqe, s, POLLIN);
	number(sqe, 11);
	submit();
	say("poll waits: %d", is_quiet());
	meet();
	say("readable: %#x", done(11).res);
	recv_text("polled", s, 0, 64);
	meet();
	sqe = request(12);
	io_uring_prep_poll_multishot(sqe, s, POLLIN);
	number(sqe, 12);
	submit();
	for (int i = 0; i < 2; i++) {
		meet();
		cqe = done(12);
		say("readable once more: %#x%s", cqe.res,
		    cqe.flags & IORING_CQE_F_MORE ? "" : " last");
		recv_text("polled", s, 0, 64);
		meet();
	}
	remove_poll(12);
	do {
		cqe = done(12);
	} while (cqe.res > 0);
	say("poll ended: %s", result(cqe.res));
}

/* Read what follows the text of a large send. */
static void recv_rest(int s, ssize_t len)
{
	ssize_t good = 0;

	if (recv(s, big, len, MSG_WAITALL) == len)
		while (good < len && big[good] == 'z')
			good++;
	say("rest: %zd of %zd", good, len);
}

/*
 * Zero copy: the second completion means that the pages are free. The text alone may be copied;
 * of the large sends the first is from a registered buffer.
 */
static void case_zero_copy(int s)
{
	char text[] = "without a copy";
	struct iovec iov = { text, sizeof(text) - 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct iovec fixed = { big, sizeof(big) };
	struct io_uring_sqe *sqe;
	struct done cqe;

	for (int i = 0; i < 5; i++) {
		size_t more = i > 2 ? LARGE : 0;

		if (is_server) {
			recv_text("recv", s, MSG_WAITALL, sizeof(text) - 1);
			if (more)
				recv_rest(s, more);
			meet();
			continue;
		}
		sqe = request(10);
		if (!i) {
			io_uring_prep_send_zc(sqe, s, text, sizeof(text) - 1, MSG_NOSIGNAL, 0);
		} else if (i == 1) {
			io_uring_prep_sendmsg(sqe, s, &msg, MSG_NOSIGNAL);
			sqe->opcode = OP_SENDMSG_ZC;
		} else {
			if (i == 2)
				say("register: %s",
				    result(io_uring_register_buffers(&ring, &fixed, 1)));
			memset(big, 'z', sizeof(text) - 1 + more);
			memcpy(big, text, sizeof(text) - 1);
			io_uring_prep_send_zc(sqe, s, big, sizeof(text) - 1 + more, MSG_NOSIGNAL,
					      i < 4 ? IORING_RECVSEND_FIXED_BUF : 0);
			sqe->buf_index = 0;
		}
		number(sqe, 10);
		submit();
		cqe = done(10);
		say("send_zc: %s%s", result(cqe.res), cqe.flags & IORING_CQE_F_MORE ? " more" : "");
		if (cqe.flags & IORING_CQE_F_MORE) {
			cqe = done(10);
			say("pages: %s", cqe.flags & IORING_CQE_F_NOTIF ? "free" : "not told");
		}
		meet();
	}
	if (!is_server)
		io_uring_unregister_buffers(&ring);
}

/* Requests that wait end by a timeout and by a cancel request, without loss of data. */
static void case_cancel(int s, int ls)
{
	struct __kernel_timespec soon = { .tv_nsec = 100000000 };
	struct io_uring_sqe *sqe;
	char buf[64] = "";

	if (!is_server) {
		for (int i = 0; i < 3; i++) {
			meet();
			send_text(s, "kept");
			meet();
		}
		s = new_socket();
		start_connect(s, nobody, port, 10);
		say("cancel of connect: %s", result(cancel(10)));
		finish("connect", 10);
		start_connect(s, nobody, port, 10);
		finish("connect again", 10);
		close(s);
		return;
	}
	sqe = request(10);
	io_uring_prep_recv(sqe, s, buf, sizeof(buf), 0);
	sqe->flags |= IOSQE_IO_LINK;
	number(sqe, 10);
	sqe = request(11);
	io_uring_prep_link_timeout(sqe, &soon, 0);
	number(sqe, 11);
	submit();
	finish("recv with a limit", 10);
	finish("limit", 11);
	meet();
	recv_text("afterwards", s, 0, sizeof(buf));
	meet();
	start_recv(s, buf, sizeof(buf), 0, 0, 12);
	say("cancel of recv: %s", result(cancel(12)));
	finish("recv", 12);
	meet();
	recv_text("afterwards", s, 0, sizeof(buf));
	meet();
	/* the kernel wakes a worker that sleeps in the call by a signal */
	start_recv(s, buf, sizeof(buf), 0, IOSQE_ASYNC, 13);
	usleep(50000);
	say("cancel of a worker: %s", result(cancel(13)));
	finish("its recv", 13);
	meet();
	recv_text("afterwards", s, 0, sizeof(buf));
	meet();
	start_accept(ls, 0, 14);
	say("cancel of accept: %s", result(cancel(14)));
	finish("accept", 14);
}

/* More data than fits, in order, one request after the other. */
static void case_bulk(int s)
{
	size_t sum = 0;

	if (is_server) {
		size_t left = BIG + 3;

		meet();
		while (left) {
			start_recv(s, big, left < BIG ? left : BIG, 0, 0, 10);

			int n = done(10).res;

			if (n <= 0)
				die("bulk", -n);
			for (int i = 0; i < n; i++)
				sum = sum * 31 + (unsigned char)big[i];
			left -= n;
		}
		say("bulk: sum %zx", sum);
		meet();
		return;
	}
	for (int i = 0; i < BIG; i++)
		big[i] = i * 7 + i / 251;
	start_send(s, big, BIG, MSG_WAITALL, IOSQE_IO_LINK, 10);
	start_send(s, "end", 3, 0, 0, 11);
	meet();
	finish("bulk", 10);
	finish("linked", 11);
	meet();
}

static void case_questions(int s)
{
	struct io_uring_sqe *sqe;
	socklen_t len = sizeof(int);
	char buf[8];
	int val = 0;

	if (!is_server) {
		send_text(s, "seven77");
		meet();
		meet();
		return;
	}
	meet();
	recv_text("look", s, MSG_PEEK | MSG_WAITALL, 7);
	for (int cmd = CMD_SIOCINQ; cmd <= CMD_SETSOCKOPT; cmd++) {
		sqe = request(10);
		sqe->opcode = OP_URING_CMD;
		sqe->fd = s;
		sqe->off = cmd;		/* the command */
		if (cmd >= CMD_GETSOCKOPT) {
			/* level and name; length; value */
			sqe->addr = (uint64_t)SO_KEEPALIVE << 32 | SOL_SOCKET;
			sqe->splice_fd_in = sizeof(val);
			sqe->addr3 = (uintptr_t)&val;
		}
		submit();
		say("question %d: %s, %d", cmd, result(done(10).res), val);
		val = 1;
	}
	val = 0;
	getsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &val, &len);
	say("keepalive: %d", val);
	say("fixed: %s", result(io_uring_register_files(&ring, &s, 1)));
	sqe = request(11);
	io_uring_prep_recv(sqe, 0, buf, 7, 0);
	sqe->flags |= IOSQE_FIXED_FILE;
	number(sqe, 11);
	submit();
	finish("recv by a fixed file", 11);
	io_uring_unregister_files(&ring);
	meet();
}

static void case_end(int s)
{
	struct io_uring_sqe *sqe;
	char buf[8];

	/* one way, by shutdown() */
	if (is_server) {
		start_recv(s, buf, sizeof(buf), 0, 0, 10);
		meet();
		finish("recv at the end", 10);
		send_text(s, "still");
		meet();
	} else {
		meet();
		sqe = request(10);
		io_uring_prep_shutdown(sqe, s, SHUT_WR);
		number(sqe, 10);
		submit();
		finish("shutdown", 10);
		start_send(s, "x", 1, 0, 0, 11);
		finish("send after it", 11);
		recv_text("recv after it", s, 0, 8);
		meet();
	}
	/* the other way, by close() under a waiting recv() that holds the file */
	if (is_server) {
		start_recv(s, buf, sizeof(buf), MSG_OOB, 0, 12);
		finish("recv of nothing urgent", 12);
		sqe = request(13);
		io_uring_prep_close(sqe, s);
		number(sqe, 13);
		submit();
		finish("close", 13);
		meet();
	} else {
		meet();
		recv_text("end", s, 0, 8);
		close(s);
	}
	meet();
}

static void case_close_pending(int s)
{
	struct io_uring_sqe *sqe;
	char buf[8];

	if (is_server) {
		start_recv(s, buf, sizeof(buf), 0, 0, 10);
		sqe = request(11);
		io_uring_prep_close(sqe, s);
		number(sqe, 11);
		submit();
		finish("close under a recv", 11);
		say("recv waits: %d", is_quiet());
		say("cancel: %s", result(cancel(10)));
		finish("recv", 10);
		meet();
	} else {
		meet();
		recv_text("end", s, 0, 8);
		close(s);
	}
	meet();
}

/* Connects after a refused connect(), and after AF_UNSPEC dissolved a connection. */
static void case_again(int ls)
{
	struct sockaddr_storage none = { .ss_family = AF_UNSPEC };
	struct io_uring_sqe *sqe;
	char buf[8];
	int s;

	if (is_server) {
		start_accept(ls, SOCK_NONBLOCK | SOCK_CLOEXEC, 10);
		s = done(10).res;
		say("flags: %d %d", !!(fcntl(s, F_GETFL) & O_NONBLOCK), fcntl(s, F_GETFD));
		start_recv(s, buf, sizeof(buf), 0, 0, 12);
		meet();
		finish("recv of the dissolved", 12);
		close(s);
		start_accept(ls, 0, 13);
		s = done(13).res;
		recv_text("anew", s, 0, 4);
		close(s);
		meet();
		return;
	}
	s = new_socket();
	start_connect(s, peer, port + 2, 10);
	finish("refused", 10);
	start_connect(s, peer, port, 11);
	finish("connect", 11);
	start_connect(s, peer, port, 12);
	finish("connect once more", 12);
	meet();
	sqe = request(13);
	io_uring_prep_connect(sqe, s, (void *)&none, sizeof(none));
	number(sqe, 13);
	submit();
	finish("dissolve", 13);
	start_connect(s, peer, port, 14);
	finish("connect anew", 14);
	send_text(s, "anew");
	meet();
	close(s);
}

static void *read_four(void *s)
{
	static char buf[5];

	return recv(*(int *)s, buf, 4, MSG_WAITALL) == 4 ? buf : NULL;
}

/* connect() on a socket while another thread waits for its data. */
static void case_attended(int ls)
{
	for (int i = 0; i < 20; i++) {
		pthread_t reader;
		void *text;
		int s;

		if (is_server) {
			start_accept(ls, 0, 10);
			s = done(10).res;
			send_text(s, "four");
			meet();
			close(s);
			continue;
		}
		s = new_socket();
		start_connect(s, peer, port, 10);
		if (pthread_create(&reader, NULL, read_four, &s))
			die("thread", errno);
		finish("connect beside a reader", 10);
		pthread_join(reader, &text);
		say("reader: %s", text ? (char *)text : "nothing");
		meet();
		close(s);
	}
}

static void case_accept_many(int ls)
{
	struct io_uring_sqe *sqe;
	struct done cqe;
	int s[3];

	if (!is_server) {
		meet();
		for (int i = 0; i < 3; i++) {
			s[i] = new_socket();
			start_connect(s[i], peer, port, 10);
			finish("connect", 10);
		}
		meet();
		for (int i = 0; i < 3; i++)
			recv_text("greeting", s[i], MSG_WAITALL, 5);
		/* the end must arrive after the data: io_uring reports an earlier end with them */
		meet();
		for (int i = 0; i < 3; i++) {
			recv_text("end", s[i], MSG_WAITALL, 5);
			close(s[i]);
		}
		meet();
		return;
	}
	sqe = request(10);
	io_uring_prep_multishot_accept(sqe, ls, NULL, NULL, 0);
	number(sqe, 10);
	submit();
	meet();
	for (int i = 0; i < 3; i++) {
		cqe = done(10);
		say("accept: %s%s", cqe.res >= 0 ? "a socket" : result(cqe.res),
		    cqe.flags & IORING_CQE_F_MORE ? "" : " last");
		s[i] = cqe.res;
	}
	meet();
	for (int i = 0; i < 3; i++)
		send_text(s[i], "hello");
	meet();
	for (int i = 0; i < 3; i++)
		close(s[i]);
	say("cancel: %s", result(cancel(10)));
	cqe = done(10);
	say("accept: %s%s", result(cqe.res), cqe.flags & IORING_CQE_F_MORE ? "" : " last");
	meet();
}

int main(int argc, char **argv)
{
	int ls = -1, s;

	if (argc != 7)
		return 2;
	is_server = !strcmp(argv[1], "server");
	is_v6 = !strcmp(argv[3], "6");
	family = is_v6 ? AF_INET6 : AF_INET;
	if (!strcmp(argv[2], "smc")) {
		family = 43;
		protocol = is_v6;
	}
	peer = argv[4];
	port = atoi(argv[5]);
	nobody = argv[6];
	s = io_uring_queue_init(64, &ring, 0);
	if (s)
		die("io_uring", -s);
	meet_first();
	if (is_server)
		ls = listener();
	meet();
	s = connection(ls);
	case_recv(s);
	case_msg(s);
	case_multishot(s);
	case_poll(s);
	case_zero_copy(s);
	case_cancel(s, ls);
	meet();
	case_bulk(s);
	case_questions(s);
	meet();
	case_end(s);
	case_close_pending(connection(ls));
	case_again(ls);
	case_attended(ls);
	case_accept_many(ls);
	say("all");
	return 0;
}
