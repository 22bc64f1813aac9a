// SPDX-License-Identifier: GPL-2.0
/*
 * The library behind the preload library, in tests: reports which sockets it
 * is asked for, and plays a kernel with or without SMC. SPY_SMC says what a
 * request for AF_SMC gets: "yes" a socket, or the number of an error.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>

typedef int (*socket_fn)(int domain, int type, int protocol);

int socket(int domain, int type, int protocol);

int socket(int domain, int type, int protocol)
{
	socket_fn next = (socket_fn)dlsym(RTLD_NEXT, "socket");
	const char *smc = getenv("SPY_SMC");

	dprintf(STDOUT_FILENO, "spy %d %#x %d\n", domain, type, protocol);
	if (domain != 43 || !smc)
		return next(domain, type, protocol);
	if (!strcmp(smc, "yes"))
		return next(protocol ? AF_INET6 : AF_INET, type, 0);
	errno = atoi(smc);
	return -1;
}
