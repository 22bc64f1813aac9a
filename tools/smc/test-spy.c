// SPDX-License-Identifier: GPL-2.0
/*
 * The next library after the preload library, in tests: prints requests for
 * sockets, and simulates a kernel with or without SMC. SPY_IPPROTO and SPY_SMC
 * are the results of requests for IPPROTO_SMC and for AF_SMC: "yes" is a socket,
 * a number is an errno; unset, the kernel decides. With SPY_NO_MODULE, requests
 * to the module go to a module that no kernel has: the kernel itself answers,
 * and loads no module.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>

#include <linux/netlink.h>

#define SMC_FAMILY	"SMC_GEN_NETLINK"
#define NO_FAMILY	"NO1_GEN_NETLINK"

typedef int (*socket_fn)(int domain, int type, int protocol);
typedef ssize_t (*sendmsg_fn)(int fd, const struct msghdr *msg, int flags);

int socket(int domain, int type, int protocol);
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags);

int socket(int domain, int type, int protocol)
{
	socket_fn next = (socket_fn)dlsym(RTLD_NEXT, "socket");
	const char *answer = NULL;

	dprintf(STDOUT_FILENO, "spy %d %#x %d\n", domain, type, protocol);
	if (domain == 43)
		answer = getenv("SPY_SMC");
	else if (protocol == 256)
		answer = getenv("SPY_IPPROTO");
	if (!answer)
		return next(domain, type, protocol);
	if (strcmp(answer, "yes")) {
		errno = atoi(answer);
		return -1;
	}
	if (domain == 43)
		domain = protocol ? AF_INET6 : AF_INET;
	return next(domain, type, 0);
}

/* A netlink request for a family by its name, or for the sockets of a family. */
ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	sendmsg_fn next = (sendmsg_fn)dlsym(RTLD_NEXT, "sendmsg");

	if (getenv("SPY_NO_MODULE") && msg->msg_iovlen) {
		size_t len = msg->msg_iov[0].iov_len;
		char *data = msg->msg_iov[0].iov_base;
		char *name = memmem(data, len, SMC_FAMILY, sizeof(SMC_FAMILY));

		if (name)
			memcpy(name, NO_FAMILY, sizeof(NO_FAMILY));
		else if (len > NLMSG_HDRLEN && data[NLMSG_HDRLEN] == 43)
			data[NLMSG_HDRLEN] = AF_ASH;
	}
	return next(fd, msg, flags);
}
