// SPDX-License-Identifier: GPL-2.0
/*
 * libsmc-preload: a program that asks for a TCP socket gets an SMC socket.
 *
 * Only socket() is wrapped: an SMC socket takes every other call that a TCP socket
 * takes. The kernel is asked for IPPROTO_SMC, and for AF_SMC if it does not know
 * that protocol. If it refuses both, for any reason, the program gets a TCP
 * socket: filters and security policies that do not know SMC break no program.
 *
 * The next socket() in the loader's order is called, so that other preloaded
 * libraries keep working. SMC_DEBUG in the environment reports each decision
 * on standard error.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <linux/smc.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif

#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

#define TYPE_MASK 0xf	/* the rest are flags, such as SOCK_CLOEXEC */

typedef int (*socket_fn)(int domain, int type, int protocol);

int socket(int domain, int type, int protocol);

static socket_fn next_socket(void)
{
	static socket_fn next;
	socket_fn found;

	/* Two threads in parallel find the same function. */
	found = __atomic_load_n(&next, __ATOMIC_RELAXED);
	if (!found) {
		found = (socket_fn)dlsym(RTLD_NEXT, "socket");
		__atomic_store_n(&next, found, __ATOMIC_RELAXED);
	}
	return found;
}

/* Reads the environment once: it may be long, and there may be many sockets. */
static int wants_debug(void)
{
	static int wants = -1;
	int found = __atomic_load_n(&wants, __ATOMIC_RELAXED);

	if (found < 0) {
		found = !!getenv("SMC_DEBUG");
		__atomic_store_n(&wants, found, __ATOMIC_RELAXED);
	}
	return found;
}

__attribute__((format(printf, 1, 2)))
static void debug(const char *format, ...)
{
	int saved_errno = errno;
	va_list args;

	if (wants_debug()) {
		va_start(args, format);
		vdprintf(STDERR_FILENO, format, args);
		va_end(args);
	}
	errno = saved_errno;
}

static int is_tcp(int domain, int type, int protocol)
{
	return (domain == AF_INET || domain == AF_INET6) &&
	       (type & TYPE_MASK) == SOCK_STREAM &&
	       (protocol == 0 || protocol == IPPROTO_TCP);
}

/*
 * The kernel looks for a module at each request for an unknown protocol. So a kernel
 * with AF_SMC, but without IPPROTO_SMC, gets only one request for IPPROTO_SMC.
 */
static int smc_socket(socket_fn next, int domain, int type)
{
	static int has_family_only;
	int fd;

	if (!__atomic_load_n(&has_family_only, __ATOMIC_RELAXED)) {
		fd = next(domain, type, IPPROTO_SMC);
		if (fd >= 0 || (errno != EPROTONOSUPPORT && errno != EINVAL))
			return fd;
	}
	fd = next(AF_SMC, type, domain == AF_INET ? SMCPROTO_SMC : SMCPROTO_SMC6);
	if (fd >= 0)
		__atomic_store_n(&has_family_only, 1, __ATOMIC_RELAXED);
	return fd;
}

int socket(int domain, int type, int protocol)
{
	socket_fn next = next_socket();
	int saved_errno = errno;
	int fd;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	if (!is_tcp(domain, type, protocol))
		return next(domain, type, protocol);

	fd = smc_socket(next, domain, type);
	if (fd >= 0)
		debug("libsmc-preload: %d is SMC in place of TCP\n", fd);
	else
		debug("libsmc-preload: SMC is refused (%s), TCP is used\n", strerror(errno));
	errno = saved_errno;
	return fd >= 0 ? fd : next(domain, type, protocol);
}
