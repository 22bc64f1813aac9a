// SPDX-License-Identifier: GPL-2.0
/*
 * Random calls on AF_SMC sockets.
 *
 * usage: fuzz SEED OWN-ADDRESS PEER-ADDRESS
 *
 * Operation: WORKERS processes of THREADS threads each. The threads of a
 * process share a table of descriptors, and half of their calls use the same
 * one, so that calls race on one socket. Each process tries to listen on a port of
 * its own and connects to those of all processes here and at the peer, so that many
 * connections use RDMA. A ticker interrupts calls that last and chooses another
 * descriptor. Each thread has an io_uring, whose requests run in parallel. Some
 * buffers are in pages that come late, by userfaultfd.
 *
 * A thread has its last calls in memory that the parent reads. The run fails if
 * a call sleeps for STILL seconds, if a process does not end within
 * STILL seconds after its kill, or if the kernel logs a fault. Then the parent
 * prints the last calls of all threads, and where in the kernel those sleep that
 * do not go on. A call that uses the CPU is only slow: new network namespaces of a debug kernel
 * take minutes on a busy host, and the kernel itself reports a loop without end. The same seed
 * gives each thread the same sequence of choices, but not the same interleaving.
 *
 * SIGTERM ends the run: clocks of emulated machines are slow on a busy host. At the
 * end it prints one line for each kind of call: calls, successes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tls.h>
#include <linux/userfaultfd.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define SOL_SMC		286
#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif
#define WORKERS		4
#define THREADS		2
#define SLOTS		32
#define PORT		7700
#define STILL		90
#define TICK_US		10000
#define CONNECT_TICKS	300
#define BUF_LEN		(96 * 1024)
#define RING_LEN	16
#define RING_WAITING	48
#define LOG_LEN		24
#define LOG_FDS		2
#define LATE_PAGES	8
#define LATE_PAGE	4096
#define LATE_TICKS	50
#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

/* One call of a thread. */
struct entry {
	double at;		/* seconds; 0: none */
	int call;
	int nr_fds;
	int fds[LOG_FDS];	/* its first descriptors */
	int about[2];		/* level and name of an option, or flags */
	bool has_ended;
	long rc;
	int err;
};

struct thread {
	uint64_t rnd;
	struct entry *now;	/* the present call */
	int worker;
	struct io_uring ring;
	int nr_waiting;		/* requests of the ring under way */
};

typedef long (*call_fn)(struct thread *t);

struct call {
	const char *name;
	call_fn fn;
	int weight;
};

/* The state of a thread that the parent reads. */
struct seen {
	uint64_t nr_calls;
	pid_t tid;
	struct entry log[LOG_LEN];
};

static struct shared {
	struct seen seen[WORKERS][THREADS];
	pid_t pids[WORKERS];
	double end;		/* when the run ended */
	uint64_t tried[64];
	uint64_t worked[64];
} *shared;

static int slots[SLOTS];
static int hot;		/* the slot that half of the calls use */
static char *buf;	/* ends at an inaccessible page */
static char *late;	/* pages that come late */
static int late_fd;	/* their userfaultfd */
static int file_fd;
static int epoll_fd;	/* one for all threads */
static int home_fd;	/* the network namespace that all begin in */
static struct in_addr own, peer;
static pthread_t threads[THREADS];

static uint32_t rnd(struct thread *t)
{
	t->rnd ^= t->rnd << 13;
	t->rnd ^= t->rnd >> 7;
	t->rnd ^= t->rnd << 17;
	return t->rnd >> 16;
}

static uint32_t below(struct thread *t, uint32_t n)
{
	return rnd(t) % n;
}

static bool one_in(struct thread *t, uint32_t n)
{
	return !below(t, n);
}

/* A descriptor of the table, usually an open one; another thread may be closing it. */
static int any_fd(struct thread *t)
{
	int at, fd = -1, i;

	for (i = 0; fd < 0 && i < 3; i++) {
		at = one_in(t, 2) ? __atomic_load_n(&hot, __ATOMIC_RELAXED) : (int)below(t, SLOTS);
		fd = __atomic_load_n(&slots[at], __ATOMIC_RELAXED);
	}
	if (t->now->nr_fds < LOG_FDS)
		t->now->fds[t->now->nr_fds++] = fd;
	return fd;
}

/* Adds numbers to the log of a call. */
static void about(struct thread *t, int first, int second)
{
	t->now->about[0] = first;
	t->now->about[1] = second;
}

/* Replaces an old descriptor of the table by a new one. */
static long keep(struct thread *t, int fd)
{
	int old;

	if (fd < 0)
		return fd;
	old = __atomic_exchange_n(&slots[below(t, SLOTS)], fd, __ATOMIC_RELAXED);
	if (old >= 0)
		close(old);
	return fd;
}

/* LEN bytes, the last of which may be in the inaccessible page. */
static char *some_buf(struct thread *t, size_t *len)
{
	static const size_t likely[] = { 0, 1, 44, 100, 4096, 16384, 65536 };

	*len = one_in(t, 3) ? below(t, BUF_LEN) : likely[below(t, ARRAY_LEN(likely))];
	if (one_in(t, 20))
		return buf + BUF_LEN - *len / 2;
	if (one_in(t, 20))
		return late + below(t, LATE_PAGES) * LATE_PAGE - below(t, 8);
	if (one_in(t, 200))
		return (char *)(uintptr_t)rnd(t);
	return buf + BUF_LEN - *len;
}

static socklen_t some_addr(struct thread *t, struct sockaddr_storage *addr, bool is_local)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	uint16_t port = PORT + below(t, WORKERS);
	struct in_addr ip;

	memset(addr, 0, sizeof(*addr));
	if (is_local)
		port = one_in(t, 4) ? 0 : PORT + t->worker;
	ip = is_local || one_in(t, 4) ? own : peer;
	if (one_in(t, 8))
		ip.s_addr = htonl(is_local ? INADDR_ANY : INADDR_LOOPBACK);
	if (one_in(t, 16))
		port = 1 + below(t, 3);
	if (one_in(t, 6)) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		in6->sin6_addr.s6_addr16[5] = 0xffff;
		memcpy(&in6->sin6_addr.s6_addr[12], &ip, sizeof(ip));
		if (is_local)
			in6->sin6_addr = in6addr_any;
		return one_in(t, 20) ? below(t, 128) : sizeof(*in6);
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	in->sin_addr = ip;
	if (one_in(t, 40))
		in->sin_family = one_in(t, 2) ? AF_UNSPEC : below(t, 50);
	return one_in(t, 40) ? below(t, 140) : sizeof(*in);
}

static int send_flags(struct thread *t)
{
	static const int flags[] = { MSG_DONTWAIT, MSG_MORE, MSG_OOB, MSG_EOR, MSG_CONFIRM,
				     MSG_DONTROUTE, MSG_ZEROCOPY, MSG_FASTOPEN };
	int f = MSG_NOSIGNAL;

	while (one_in(t, 2))
		f |= one_in(t, 8) ? flags[below(t, ARRAY_LEN(flags))] : flags[below(t, 3)];
	if (one_in(t, 100))
		f = rnd(t);
	about(t, 0, f);
	return f;
}

static int recv_flags(struct thread *t)
{
	static const int flags[] = { MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, MSG_TRUNC, MSG_OOB,
				     MSG_ERRQUEUE, MSG_CMSG_CLOEXEC };
	int f = 0;

	while (one_in(t, 2))
		f |= flags[below(t, ARRAY_LEN(flags))];
	if (one_in(t, 100))
		f = rnd(t);
	about(t, 0, f);
	return f;
}

/* Making and ending */

static long call_socket(struct thread *t)
{
	int type = SOCK_STREAM;

	if (one_in(t, 3))
		type |= SOCK_NONBLOCK;
	if (one_in(t, 50))
		type = below(t, 12);
	if (one_in(t, 8))
		return keep(t, socket(one_in(t, 2) ? AF_INET : AF_INET6, type,
				      one_in(t, 2) ? IPPROTO_SMC : 0));
	return keep(t, socket(AF_SMC, type, one_in(t, 50) ? below(t, 300) : one_in(t, 4)));
}

static long call_close(struct thread *t)
{
	int fd = __atomic_exchange_n(&slots[below(t, SLOTS)], -1, __ATOMIC_RELAXED);

	return fd < 0 ? -1 : close(fd);
}

static long call_reset(struct thread *t)
{
	struct linger linger = { .l_onoff = one_in(t, 2), .l_linger = below(t, 2) };

	return setsockopt(any_fd(t), SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static long call_shutdown(struct thread *t)
{
	return shutdown(any_fd(t), one_in(t, 30) ? (int)rnd(t) : (int)below(t, 3));
}

static long call_dup(struct thread *t)
{
	/* the new descriptor replaces one that others use */
	if (one_in(t, 4))
		return dup2(any_fd(t), any_fd(t));
	return keep(t, one_in(t, 2) ? dup(any_fd(t)) : fcntl(any_fd(t), F_DUPFD_CLOEXEC, 5));
}

/* Naming and connecting */

static long call_bind(struct thread *t)
{
	struct sockaddr_storage addr;
	socklen_t len = some_addr(t, &addr, true);

	return bind(any_fd(t), (struct sockaddr *)&addr, len);
}

static long call_listen(struct thread *t)
{
	return listen(any_fd(t), one_in(t, 10) ? (int)rnd(t) : (int)below(t, 20));
}

/* Makes a listener: socket(), bind() and listen(). */
static long call_server(struct thread *t)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT + t->worker),
	};
	int fd = socket(AF_SMC, SOCK_STREAM | (one_in(t, 2) ? SOCK_NONBLOCK : 0), 0);
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 8)) {
		close(fd);
		return -1;
	}
	return keep(t, fd);
}

static long call_connect(struct thread *t)
{
	struct sockaddr_storage addr;
	socklen_t len = some_addr(t, &addr, false);

	return connect(any_fd(t), (struct sockaddr *)&addr, len);
}

static long call_disconnect(struct thread *t)
{
	struct sockaddr_in addr = { .sin_family = AF_UNSPEC };

	return connect(any_fd(t), (struct sockaddr *)&addr, sizeof(addr));
}

/* Data with the SYN: the socket becomes TCP's. */
static long call_fastopen(struct thread *t)
{
	struct sockaddr_storage addr;
	int fd = any_fd(t), one = 1;
	socklen_t len;

	if (one_in(t, 2))
		return setsockopt(fd, SOL_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof(one));
	len = some_addr(t, &addr, false);
	return sendto(fd, buf, below(t, 100), MSG_FASTOPEN | MSG_NOSIGNAL | MSG_DONTWAIT,
		      (struct sockaddr *)&addr, len);
}

/* Each tick interrupts poll(); a handshake may take many ticks. */
static int wait_connected(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int i, err = EINPROGRESS;

	for (i = 0; i < CONNECT_TICKS; i++)
		if (poll(&p, 1, TICK_US / 1000) > 0)
			break;
	if (p.revents && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) && !err)
		return 0;
	errno = err;
	return -1;
}

/* Makes most connections: waits until one is established. */
static long call_client(struct thread *t)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT + below(t, WORKERS)),
		.sin_addr = peer,
	};
	int fd = socket(AF_SMC, SOCK_STREAM | (one_in(t, 2) ? SOCK_NONBLOCK : 0), 0);
	int rc;

	if (fd < 0)
		return -1;
	rc = connect(fd, (struct sockaddr *)&addr, sizeof(addr));
	if (rc && (errno == EINPROGRESS || errno == EINTR) && !one_in(t, 4))
		rc = wait_connected(fd);
	if (rc && one_in(t, 2)) {
		close(fd);
		return -1;
	}
	keep(t, fd);
	return rc;
}

static long call_accept(struct thread *t)
{
	struct sockaddr_storage addr;
	socklen_t len = below(t, 40);

	return keep(t, accept4(any_fd(t), one_in(t, 2) ? NULL : (struct sockaddr *)&addr, &len,
			       one_in(t, 40) ? (int)rnd(t) : one_in(t, 2) ? SOCK_NONBLOCK : 0));
}

static long call_names(struct thread *t)
{
	struct sockaddr_storage addr;
	socklen_t len = one_in(t, 10) ? rnd(t) : below(t, 140);

	if (one_in(t, 2))
		return getsockname(any_fd(t), (struct sockaddr *)&addr, &len);
	return getpeername(any_fd(t), (struct sockaddr *)&addr, &len);
}

/* Ends a connection or listener from outside, as "ss -K" does. */
static long call_destroy(struct thread *t)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_req_v2 req;
	} ask = {
		.head = {
			.nlmsg_len = sizeof(ask),
			.nlmsg_type = SOCK_DESTROY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.req = {
			.sdiag_family = AF_INET,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = -1,
			.id.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE },
		},
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[256];
	} answer;
	struct inet_diag_sockid *id = &ask.req.id;
	struct sockaddr_in name = { }, peer_name = { };
	socklen_t len = sizeof(name);
	int fd = any_fd(t), nl;
	long rc = -1;

	if (getsockname(fd, (struct sockaddr *)&name, &len))
		return -1;
	len = sizeof(peer_name);
	getpeername(fd, (struct sockaddr *)&peer_name, &len);
	id->idiag_sport = name.sin_port;
	id->idiag_dport = peer_name.sin_port;
	id->idiag_src[0] = name.sin_addr.s_addr;
	id->idiag_dst[0] = peer_name.sin_addr.s_addr;
	nl = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (nl < 0)
		return -1;
	if (send(nl, &ask, sizeof(ask), 0) == sizeof(ask) &&
	    recv(nl, &answer, sizeof(answer), 0) > (ssize_t)sizeof(answer.head) &&
	    answer.head.nlmsg_type == NLMSG_ERROR)
		rc = answer.err.error;
	close(nl);
	return rc;
}

/* Sockets of a namespace that exists only as long as they do. */
static long call_namespace(struct thread *t)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int server, client, child;
	long rc = -1;

	if (unshare(CLONE_NEWNET))
		return -1;
	server = socket(AF_SMC, SOCK_STREAM, 0);
	client = socket(AF_SMC, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ioctl(server, SIOCSIFFLAGS, &lo);
	if (!bind(server, (struct sockaddr *)&addr, sizeof(addr)) && !listen(server, 2))
		rc = connect(client, (struct sockaddr *)&addr, sizeof(addr));
	if (rc && errno == EINPROGRESS)
		rc = 0;
	if (setns(home_fd, CLONE_NEWNET))
		abort();
	child = !rc && one_in(t, 2) ? accept4(server, NULL, NULL, SOCK_NONBLOCK) : -1;
	if (one_in(t, 2))
		keep(t, server);
	else
		close(server);
	keep(t, client);
	keep(t, child);
	return rc;
}

/* Data */

static long call_send(struct thread *t)
{
	size_t len;
	char *p = some_buf(t, &len);

	return send(any_fd(t), p, len, send_flags(t));
}

static long call_recv(struct thread *t)
{
	size_t len;
	char *p = some_buf(t, &len);

	return recv(any_fd(t), p, len, recv_flags(t));
}

static void fill_msg(struct thread *t, struct msghdr *msg, struct iovec *iov, int nr, char *ctl)
{
	int i;

	memset(msg, 0, sizeof(*msg));
	for (i = 0; i < nr; i++)
		iov[i].iov_base = some_buf(t, &iov[i].iov_len);
	msg->msg_iov = iov;
	msg->msg_iovlen = nr;
	if (one_in(t, 8)) {
		msg->msg_control = ctl;
		msg->msg_controllen = below(t, 64);
	}
	if (one_in(t, 8)) {
		msg->msg_name = ctl;
		msg->msg_namelen = below(t, 64);
	}
}

static long call_sendmsg(struct thread *t)
{
	struct mmsghdr msg[3];
	struct iovec iov[3][4];
	char ctl[64];
	int i;

	for (i = 0; i < (int)sizeof(ctl); i++)
		ctl[i] = rnd(t);
	for (i = 0; i < 3; i++)
		fill_msg(t, &msg[i].msg_hdr, iov[i], below(t, 5), ctl);
	if (one_in(t, 2))
		return sendmsg(any_fd(t), &msg[0].msg_hdr, send_flags(t));
	return sendmmsg(any_fd(t), msg, 3, send_flags(t));
}

static long call_recvmsg(struct thread *t)
{
	struct timespec limit = { .tv_nsec = 1000000 };
	struct mmsghdr msg[3];
	struct iovec iov[3][4];
	char ctl[64];
	int i;

	for (i = 0; i < 3; i++)
		fill_msg(t, &msg[i].msg_hdr, iov[i], below(t, 5), ctl);
	if (one_in(t, 2))
		return recvmsg(any_fd(t), &msg[0].msg_hdr, recv_flags(t));
	return recvmmsg(any_fd(t), msg, 3, recv_flags(t), &limit);
}

static long call_vec(struct thread *t)
{
	struct iovec iov[3];
	int i;

	for (i = 0; i < 3; i++)
		iov[i].iov_base = some_buf(t, &iov[i].iov_len);
	return one_in(t, 2) ? writev(any_fd(t), iov, 3) : readv(any_fd(t), iov, 3);
}

static long call_splice(struct thread *t)
{
	unsigned int flags = below(t, 8);
	int fd = any_fd(t);
	long rc, rc2;
	int pipes[2];

	if (pipe2(pipes, one_in(t, 2) ? O_NONBLOCK : 0))
		return -1;
	if (one_in(t, 2)) {
		rc = splice(fd, NULL, pipes[1], NULL, below(t, BUF_LEN), flags);
	} else {
		/* at most the capacity of the pipe */
		rc = write(pipes[1], buf, 1 + below(t, 65536));
		rc = splice(pipes[0], NULL, fd, NULL, below(t, BUF_LEN), flags);
	}
	rc2 = rc > 0 && one_in(t, 2) ?
		splice(pipes[0], NULL, any_fd(t), NULL, rc, SPLICE_F_NONBLOCK) : 0;
	close(pipes[0]);
	close(pipes[1]);
	return rc < 0 || rc2 < 0 ? -1 : rc;
}

/* Sends received data on two sockets. */
static long call_tee(struct thread *t)
{
	int from[2], copy[2];
	long rc, rc2;

	if (pipe2(from, O_NONBLOCK))
		return -1;
	if (pipe2(copy, O_NONBLOCK)) {
		close(from[0]);
		close(from[1]);
		return -1;
	}
	rc = splice(any_fd(t), NULL, from[1], NULL, below(t, BUF_LEN), SPLICE_F_NONBLOCK);
	if (rc > 0)
		rc = tee(from[0], copy[1], 1 + below(t, rc), SPLICE_F_NONBLOCK);
	rc2 = rc > 0 ? splice(copy[0], NULL, any_fd(t), NULL, rc, SPLICE_F_NONBLOCK) : 0;
	if (rc > 0 && one_in(t, 2))
		splice(from[0], NULL, any_fd(t), NULL, rc, SPLICE_F_NONBLOCK | SPLICE_F_MORE);
	close(from[0]);
	close(from[1]);
	close(copy[0]);
	close(copy[1]);
	return rc2 < 0 ? -1 : rc;
}

static long call_sendfile(struct thread *t)
{
	off_t at = below(t, BUF_LEN);

	return sendfile(any_fd(t), file_fd, &at, below(t, BUF_LEN));
}

/* Requests of io_uring. They may end at any time, so their buffers must stay valid. */

enum ring_op { RING_SEND, RING_RECV, RING_SEND_ZC, RING_SENDMSG, RING_RECVMSG, RING_READ,
	       RING_ACCEPT, RING_CONNECT, RING_POLL, RING_SHUTDOWN, RING_CANCEL, RING_NR };

/* The user data of an accept(): its result is a descriptor. */
#define RING_IS_ACCEPT	1

static void fill_lasting_msg(struct thread *t, struct msghdr *msg, struct iovec *iov)
{
	memset(msg, 0, sizeof(*msg));
	iov->iov_base = some_buf(t, &iov->iov_len);
	msg->msg_iov = iov;
	msg->msg_iovlen = 1;
}

static void fill_request(struct thread *t, struct io_uring_sqe *sqe, enum ring_op op)
{
	static __thread struct iovec iov_out, iov_in;
	static __thread struct msghdr msg_out, msg_in;
	static __thread struct sockaddr_storage addr;
	int fd = any_fd(t);
	size_t len;
	char *p = some_buf(t, &len);

	switch (op) {
	case RING_SEND:
		io_uring_prep_send(sqe, fd, p, len, send_flags(t));
		break;
	case RING_RECV:
		io_uring_prep_recv(sqe, fd, p, len, recv_flags(t));
		break;
	case RING_SEND_ZC:
		io_uring_prep_send_zc(sqe, fd, p, len, send_flags(t), 0);
		break;
	case RING_SENDMSG:
		fill_lasting_msg(t, &msg_out, &iov_out);
		io_uring_prep_sendmsg(sqe, fd, &msg_out, send_flags(t));
		break;
	case RING_RECVMSG:
		fill_lasting_msg(t, &msg_in, &iov_in);
		io_uring_prep_recvmsg(sqe, fd, &msg_in, recv_flags(t));
		break;
	case RING_READ:
		io_uring_prep_read(sqe, fd, p, len, 0);
		break;
	case RING_ACCEPT:
		io_uring_prep_accept(sqe, fd, NULL, NULL, one_in(t, 2) ? SOCK_NONBLOCK : 0);
		break;
	case RING_CONNECT:
		len = some_addr(t, &addr, false);
		io_uring_prep_connect(sqe, fd, (struct sockaddr *)&addr, len);
		break;
	case RING_POLL:
		io_uring_prep_poll_add(sqe, fd, rnd(t));
		break;
	case RING_SHUTDOWN:
		io_uring_prep_shutdown(sqe, fd, below(t, 3));
		break;
	default:
		io_uring_prep_cancel_fd(sqe, fd, IORING_ASYNC_CANCEL_ALL);
		break;
	}
	sqe->user_data = op == RING_ACCEPT ? RING_IS_ACCEPT : 0;
}

static long reap(struct thread *t)
{
	struct io_uring_cqe *cqe;
	long best = -1;

	while (!io_uring_peek_cqe(&t->ring, &cqe)) {
		if (cqe->user_data == RING_IS_ACCEPT && cqe->res >= 0)
			keep(t, cqe->res);
		if (cqe->res > best)
			best = cqe->res;
		/* a zero copy send ends only when the kernel has released its memory */
		if (!(cqe->flags & IORING_CQE_F_MORE))
			t->nr_waiting--;
		io_uring_cqe_seen(&t->ring, cqe);
	}
	return best;
}

static long call_ring(struct thread *t)
{
	int i, nr = 1 + below(t, 4);
	struct io_uring_sqe *sqe;

	if (t->ring.ring_fd <= 0 && io_uring_queue_init(RING_LEN, &t->ring, 0)) {
		t->ring.ring_fd = 0;
		return -1;
	}
	reap(t);
	for (i = 0; i < nr && t->nr_waiting < RING_WAITING; i++) {
		sqe = io_uring_get_sqe(&t->ring);
		if (!sqe)
			break;
		fill_request(t, sqe, below(t, RING_NR));
		if (one_in(t, 6))
			sqe->flags |= IOSQE_ASYNC;
		if (one_in(t, 6))
			sqe->flags |= IOSQE_IO_LINK;
		t->nr_waiting++;
	}
	/* cancel requests, because some wait for events that never come */
	sqe = t->nr_waiting >= RING_WAITING ? io_uring_get_sqe(&t->ring) : NULL;
	if (sqe) {
		io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
		sqe->user_data = 0;
		t->nr_waiting++;
	}
	io_uring_submit(&t->ring);
	return reap(t);
}

/* Options, controls, waiting */

static const int levels[] = { SOL_SOCKET, SOL_TCP, SOL_IP, SOL_IPV6, SOL_SMC };

/* Options that would change the machine, or break TCP itself. */
static bool is_barred(int level, int name)
{
	static const int repair[] = { TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ,
				      TCP_REPAIR_OPTIONS, TCP_REPAIR_WINDOW };
	size_t i;

	for (i = 0; level == SOL_TCP && i < ARRAY_LEN(repair); i++)
		if (name == repair[i])
			return true;
	/* reserves memory until the socket is closed */
	if (level == SOL_SOCKET && name == SO_RESERVE_MEM)
		return true;
	/* the numbers of netfilter's tables begin here, among a few of IPv6 */
	if (level == SOL_IPV6 && name >= IPV6_ADDR_PREFERENCES && name <= IPV6_FREEBIND)
		return false;
	return name < 0 || (name >= 64 && level != SOL_SOCKET && level != SOL_TCP);
}

static void some_option(struct thread *t, int *level, int *name)
{
	*level = one_in(t, 50) ? (int)below(t, 300) : levels[below(t, ARRAY_LEN(levels))];
	*name = below(t, *level == SOL_SMC ? 3 : one_in(t, 4) ? 96 : 64);
	about(t, *level, *name);
}

static long call_setsockopt(struct thread *t)
{
	static const int values[] = { 0, 1, 2, -1, 100, 4096, 65536, 1 << 30 };
	int level, name, value[16], i;
	socklen_t len = sizeof(int);

	some_option(t, &level, &name);
	if (is_barred(level, name))
		return -1;
	for (i = 0; i < 16; i++)
		value[i] = one_in(t, 2) ? values[below(t, ARRAY_LEN(values))] : (int)rnd(t);
	if (one_in(t, 4))
		len = below(t, sizeof(value));
	if (one_in(t, 50))
		len = rnd(t);
	if (one_in(t, 50))
		return setsockopt(any_fd(t), level, name, (void *)(uintptr_t)rnd(t), len);
	/* a part of the value may come late */
	if (one_in(t, 10))
		return setsockopt(any_fd(t), level, name,
				  late + (1 + below(t, LATE_PAGES)) * LATE_PAGE - below(t, 9), len);
	return setsockopt(any_fd(t), level, name, value, len);
}

/* kTLS takes a connection over, and its socket operations. */
static long call_ulp(struct thread *t)
{
	struct tls12_crypto_info_aes_gcm_128 keys = {
		.info.version = TLS_1_2_VERSION,
		.info.cipher_type = TLS_CIPHER_AES_GCM_128,
	};
	int fd = any_fd(t);
	long rc;

	if (one_in(t, 4))
		rc = setsockopt(fd, SOL_TCP, TCP_ULP,
				late + (1 + below(t, LATE_PAGES)) * LATE_PAGE - 4, 4);
	else
		rc = setsockopt(fd, SOL_TCP, TCP_ULP, "tls", 4);
	if (one_in(t, 2))
		setsockopt(fd, SOL_TLS, 1 + below(t, 2), &keys, sizeof(keys));
	return rc;
}

static long call_getsockopt(struct thread *t)
{
	socklen_t len = one_in(t, 20) ? rnd(t) : below(t, 300);
	char *value = buf + BUF_LEN - 300;
	int level, name;

	some_option(t, &level, &name);
	return getsockopt(any_fd(t), level, name, value + (one_in(t, 20) ? 200 : 0), &len);
}

static long call_ioctl(struct thread *t)
{
	static const unsigned long cmds[] = { FIONREAD, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK,
					      SIOCGIFNAME, SIOCGSTAMP, FIOASYNC, SIOCGPGRP };
	unsigned long cmd = cmds[below(t, ARRAY_LEN(cmds))];
	long arg[8] = { one_in(t, 2) };

	/* unassigned numbers; those of network devices may change the machine */
	if (one_in(t, 20))
		cmd = 0xab00 + below(t, 256);
	return ioctl(any_fd(t), cmd, one_in(t, 30) ? NULL : arg);
}

static long call_fcntl(struct thread *t)
{
	int fd = any_fd(t);

	if (one_in(t, 4))
		return fcntl(fd, F_SETOWN, getpid());
	return fcntl(fd, F_SETFL, (one_in(t, 2) ? O_NONBLOCK : 0) | (one_in(t, 4) ? O_ASYNC : 0));
}

static long call_poll(struct thread *t)
{
	struct pollfd fds[8];
	int i;

	for (i = 0; i < 8; i++) {
		fds[i].fd = any_fd(t);
		fds[i].events = rnd(t);
	}
	return poll(fds, 8, below(t, 3));
}

static long call_epoll(struct thread *t)
{
	static const int ops[] = { EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };
	struct epoll_event ev[4];
	bool is_shared = one_in(t, 2);
	int ep = is_shared ? epoll_fd : epoll_create1(0);
	int i;
	long rc;

	for (i = 0; i < 8; i++) {
		ev[0].events = rnd(t);
		epoll_ctl(ep, ops[below(t, 3)], any_fd(t), &ev[0]);
	}
	rc = epoll_wait(ep, ev, 4, below(t, 3));
	if (!is_shared)
		close(ep);
	return rc;
}

/* Forks a process that shares the sockets for a while, and may be killed in a call. */
static long call_fork(struct thread *t)
{
	bool is_killed = one_in(t, 2);
	pid_t pid = fork();
	int i;

	if (pid < 0)
		return -1;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (i = 0; i < 4; i++) {
			close(any_fd(t));
			send(any_fd(t), "fork", 4, MSG_DONTWAIT | MSG_NOSIGNAL);
			recv(any_fd(t), buf, 100, MSG_DONTWAIT);
			shutdown(any_fd(t), below(t, 3));
		}
		while (is_killed && getppid() == shared->pids[t->worker])
			one_in(t, 2) ? call_recv(t) : call_client(t);
		_exit(0);
	}
	if (is_killed) {
		usleep(below(t, TICK_US));
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

static long call_pass(struct thread *t)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} ctl = { .head = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct iovec iov = { .iov_base = "x", .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl,
			      .msg_controllen = sizeof(ctl) };
	int fd = any_fd(t), pair[2];
	long rc;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return -1;
	memcpy(CMSG_DATA(&ctl.head), &fd, sizeof(fd));
	rc = sendmsg(pair[0], &msg, MSG_DONTWAIT);
	if (rc == 1 && one_in(t, 2)) {
		char c;

		iov.iov_base = &c;
		rc = recvmsg(pair[1], &msg, MSG_DONTWAIT);
		if (rc == 1 && ctl.head.cmsg_type == SCM_RIGHTS) {
			memcpy(&fd, CMSG_DATA(&ctl.head), sizeof(fd));
			keep(t, fd);
		}
	}
	close(pair[0]);
	close(pair[1]);
	return rc;
}

static const struct call calls[] = {
	{ "socket", call_socket, 8 },
	{ "server", call_server, 6 },
	{ "client", call_client, 12 },
	{ "accept", call_accept, 14 },
	{ "bind", call_bind, 4 },
	{ "listen", call_listen, 3 },
	{ "connect", call_connect, 6 },
	{ "disconnect", call_disconnect, 2 },
	{ "fastopen", call_fastopen, 2 },
	{ "destroy", call_destroy, 1 },
	{ "namespace", call_namespace, 1 },
	{ "names", call_names, 3 },
	{ "send", call_send, 14 },
	{ "recv", call_recv, 14 },
	{ "sendmsg", call_sendmsg, 6 },
	{ "recvmsg", call_recvmsg, 6 },
	{ "readv/writev", call_vec, 4 },
	{ "splice", call_splice, 6 },
	{ "tee", call_tee, 4 },
	{ "io_uring", call_ring, 10 },
	{ "sendfile", call_sendfile, 4 },
	{ "setsockopt", call_setsockopt, 10 },
	{ "ulp", call_ulp, 2 },
	{ "getsockopt", call_getsockopt, 6 },
	{ "ioctl", call_ioctl, 4 },
	{ "fcntl", call_fcntl, 3 },
	{ "poll", call_poll, 4 },
	{ "epoll", call_epoll, 4 },
	{ "dup", call_dup, 3 },
	{ "pass", call_pass, 2 },
	{ "fork", call_fork, 1 },
	{ "linger", call_reset, 3 },
	{ "shutdown", call_shutdown, 3 },
	{ "close", call_close, 4 },
};

static int some_call(struct thread *t)
{
	int i, sum = 0, at;

	for (i = 0; i < (int)ARRAY_LEN(calls); i++)
		sum += calls[i].weight;
	at = below(t, sum);
	for (i = 0; at >= calls[i].weight; i++)
		at -= calls[i].weight;
	return i;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;
	struct seen *seen = &shared->seen[t->worker][t->rnd & 1];
	struct entry *e;
	int i;

	seen->tid = gettid();
	for (;;) {
		i = some_call(t);
		e = &seen->log[seen->nr_calls % LOG_LEN];
		t->now = e;
		*e = (struct entry){ .at = now(), .call = i };
		__atomic_fetch_add(&shared->tried[i], 1, __ATOMIC_RELAXED);
		e->rc = calls[i].fn(t);
		e->err = errno;
		e->has_ended = true;
		if (e->rc >= 0)
			__atomic_fetch_add(&shared->worked[i], 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&seen->nr_calls, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static bool is_over;

static void stop(int sig)
{
	(void)sig;
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
}

static void ignore(int sig)
{
	(void)sig;
}

static void make_buffers(void)
{
	char name[] = "/tmp/fuzz-XXXXXX";

	/* the second half is inaccessible */
	buf = mmap(NULL, 2 * BUF_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	file_fd = mkstemp(name);
	if (buf == MAP_FAILED || file_fd < 0 || unlink(name) ||
	    mprotect(buf + BUF_LEN, BUF_LEN, PROT_NONE) || ftruncate(file_fd, 2 * BUF_LEN)) {
		perror("fuzz: set-up");
		_exit(1);
	}
}

/* Gives absent pages, each after a pause; then more of them are absent. */
static void *run_late(void *arg)
{
	static const char *const words[] = { "tls", "\1\0\0", "\0\0\0" };
	struct thread *t = arg;
	struct uffdio_copy copy;
	char page[LATE_PAGE];
	struct uffd_msg msg;
	size_t i;

	for (;;) {
		if (read(late_fd, &msg, sizeof(msg)) != sizeof(msg))
			continue;
		usleep(below(t, one_in(t, 50) ? LATE_TICKS * TICK_US : TICK_US));
		for (i = 0; i < LATE_PAGE; i += 4)
			memcpy(page + i, words[below(t, ARRAY_LEN(words))], 4);
		copy = (struct uffdio_copy){
			.dst = msg.arg.pagefault.address & ~(LATE_PAGE - 1ull),
			.src = (uintptr_t)page,
			.len = LATE_PAGE,
		};
		ioctl(late_fd, UFFDIO_COPY, &copy);
		madvise(late + below(t, LATE_PAGES) * LATE_PAGE, LATE_PAGE, MADV_DONTNEED);
	}
	return NULL;
}

/* The pages have a page that is there before and after them. */
static void make_late(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range.len = LATE_PAGES * LATE_PAGE,
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	late = mmap(NULL, BUF_LEN + (LATE_PAGES + 1) * LATE_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	late_fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (late == MAP_FAILED || late_fd < 0 || ioctl(late_fd, UFFDIO_API, &api)) {
		perror("fuzz: userfaultfd");
		_exit(1);
	}
	late += LATE_PAGE;
	reg.range.start = (uintptr_t)late;
	if (ioctl(late_fd, UFFDIO_REGISTER, &reg)) {
		perror("fuzz: late pages");
		_exit(1);
	}
}

static void run_worker(int worker, uint64_t seed)
{
	struct sigaction sa = { .sa_handler = ignore };	/* without SA_RESTART */
	uint64_t nr, last[THREADS] = { };
	struct thread *t;
	pthread_t helper;
	int i;

	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGIO, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	make_buffers();
	make_late();
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	home_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	memset(slots, 0xff, sizeof(slots));
	srandom(seed + worker);
	for (i = 0; i < THREADS; i++) {
		t = calloc(1, sizeof(*t));
		t->worker = worker;
		/* a state for each thread; the lowest bit is its number */
		t->rnd = (seed * WORKERS + worker + 1) * 0x9e3779b97f4a7c15ull;
		t->rnd = (t->rnd & ~1ull) | i;
		pthread_create(&threads[i], NULL, run_thread, t);
	}
	t = calloc(1, sizeof(*t));
	t->rnd = (seed * WORKERS + worker + 1) * 0xd1342543de82ef95ull | 1;
	pthread_create(&helper, NULL, run_late, t);
	for (;;) {
		usleep(TICK_US);
		__atomic_store_n(&hot, random() % SLOTS, __ATOMIC_RELAXED);
		for (i = 0; i < THREADS; i++) {
			nr = __atomic_load_n(&shared->seen[worker][i].nr_calls, __ATOMIC_RELAXED);
			if (nr == last[i])
				pthread_kill(threads[i], SIGUSR1);
			last[i] = nr;
		}
	}
}

/* CPU time that a thread has used, in clock ticks. */
static uint64_t cpu_ticks(pid_t tid)
{
	unsigned long user = 0, system = 0;
	char path[64], text[1024], *at;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n < 0 ? 0 : n] = '\0';
	/* the name, in parentheses, may contain blanks */
	at = strrchr(text, ')');
	if (at)
		sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		       &system);
	return user + system;
}

static void show_stack(pid_t tid)
{
	char path[64], text[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stack", tid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (n > 0)
		fwrite(text, 1, n, stdout);
	if (fd >= 0)
		close(fd);
}

static void show_entry(const struct entry *e, int thread)
{
	int i;

	printf("%11.6f thread %d %s", e->at - shared->end, thread, calls[e->call].name);
	for (i = 0; i < e->nr_fds; i++)
		printf(" %d", e->fds[i]);
	if (e->about[0] || e->about[1])
		printf(" (%d %#x)", e->about[0], e->about[1]);
	if (!e->has_ended)
		printf(" ...\n");
	else if (e->rc < 0)
		printf(" = %s\n", strerrorname_np(e->err) ?: "error");
	else
		printf(" = %ld\n", e->rc);
}

/*
 * Prints the last calls of all threads of a worker, in the order in which they began. Times are
 * seconds before the end of the run.
 */
static void show_log(int worker)
{
	struct seen *seen = shared->seen[worker];
	uint64_t next[THREADS];
	const struct entry *e, *first;
	int i, at;

	printf("worker %d, last calls: time, descriptors, (option or flags), result\n", worker);
	for (i = 0; i < THREADS; i++)
		next[i] = seen[i].nr_calls < LOG_LEN ? 0 : seen[i].nr_calls - LOG_LEN + 1;
	for (;;) {
		first = NULL;
		for (i = 0; i < THREADS; i++) {
			e = &seen[i].log[next[i] % LOG_LEN];
			if (next[i] > seen[i].nr_calls || !e->at || (first && e->at >= first->at))
				continue;
			first = e;
			at = i;
		}
		if (!first)
			return;
		show_entry(first, at);
		next[at]++;
	}
}

/*
 * True if every thread has made progress since the last call: ended a call, or used the CPU.
 * Prints those that have not.
 */
static bool all_move(uint64_t last[WORKERS][THREADS], int still[WORKERS][THREADS])
{
	bool good = true;
	int i, j;

	for (i = 0; i < WORKERS; i++)
		for (j = 0; j < THREADS; j++) {
			struct seen *seen = &shared->seen[i][j];
			uint64_t calls_made = __atomic_load_n(&seen->nr_calls, __ATOMIC_RELAXED);
			uint64_t now = calls_made + cpu_ticks(seen->tid);

			still[i][j] = now == last[i][j] ? still[i][j] + 1 : 0;
			last[i][j] = now;
			if (still[i][j] < STILL)
				continue;
			printf("worker %d thread %d stands still in %s\n", i, j,
			       calls[seen->log[calls_made % LOG_LEN].call].name);
			show_stack(seen->tid);
			good = false;
		}
	return good;
}

/* True if the kernel has logged a fault. Another program filters the reports of KCSAN. */
static bool is_faulty(int kmsg)
{
	static const char *const words[] = { "BUG:", "WARNING:", "cut here", "Oops", "INFO:",
					     "refcount_t:" };
	char line[8192];
	ssize_t n;
	size_t i;

	for (;;) {
		n = read(kmsg, line, sizeof(line) - 1);
		/* EPIPE: messages were lost */
		if (n < 0 && errno != EPIPE)
			return false;
		line[n < 0 ? 0 : n] = '\0';
		for (i = 0; !strstr(line, "KCSAN") && i < ARRAY_LEN(words); i++)
			if (strstr(line, words[i])) {
				printf("the kernel says: %s", line);
				return true;
			}
	}
}

static bool watch(void)
{
	struct pollfd kmsg = { .fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK), .events = POLLIN };
	uint64_t last[WORKERS][THREADS] = { };
	int still[WORKERS][THREADS] = { };
	double look = now() + 1;
	int i, status;

	lseek(kmsg.fd, 0, SEEK_END);
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		poll(&kmsg, 1, 200);
		if (is_faulty(kmsg.fd))
			return false;
		if (now() < look)
			continue;
		look = now() + 1;
		if (!all_move(last, still))
			return false;
		for (i = 0; i < WORKERS; i++)
			if (waitpid(shared->pids[i], &status, WNOHANG) > 0) {
				printf("worker %d ended, status %#x\n", i, status);
				return false;
			}
	}
	return true;
}

/* False if a killed worker does not end. */
static bool end_worker(pid_t pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;
	int i;

	for (i = 0; i < 10 * STILL; i++) {
		if (waitpid(pid, NULL, WNOHANG))
			return true;
		usleep(100000);
	}
	printf("process %d does not end\n", pid);
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		show_stack(atoi(d->d_name));
	if (dir)
		closedir(dir);
	return false;
}

int main(int argc, char **argv)
{
	uint64_t seed;
	bool good;
	size_t c;
	pid_t pid;
	int i;

	if (argc != 4 || !inet_aton(argv[2], &own) || !inet_aton(argv[3], &peer)) {
		fprintf(stderr, "usage: fuzz SEED OWN-ADDRESS PEER-ADDRESS\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	signal(SIGTERM, stop);
	for (i = 0; i < WORKERS; i++) {
		pid = fork();
		if (!pid)
			run_worker(i, seed);
		shared->pids[i] = pid;
	}
	good = watch();
	shared->end = now();
	for (i = 0; i < WORKERS; i++)
		kill(shared->pids[i], SIGKILL);
	for (i = 0; i < WORKERS; i++)
		good = end_worker(shared->pids[i]) && good;
	for (i = 0; !good && i < WORKERS; i++)
		show_log(i);
	for (c = 0; c < ARRAY_LEN(calls); c++)
		printf("%s %llu %llu\n", calls[c].name, (unsigned long long)shared->tried[c],
		       (unsigned long long)shared->worked[c]);
	return !good;
}
