// SPDX-License-Identifier: GPL-2.0
/*
 * A program under test: requests one socket, DOMAIN TYPE PROTOCOL. Prints the
 * error, or the domain, the protocol and the flags of the socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include <sys/socket.h>

static int get_option(int fd, int name)
{
	socklen_t len = sizeof(int);
	int value = -1;

	getsockopt(fd, SOL_SOCKET, name, &value, &len);
	return value;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 4)
		return 2;
	errno = 0;
	fd = socket(strtol(argv[1], NULL, 0), strtol(argv[2], NULL, 0),
		    strtol(argv[3], NULL, 0));
	if (fd < 0) {
		printf("error %d\n", errno);
		return 0;
	}
	printf("socket domain %d protocol %d nonblock %d cloexec %d errno %d\n",
	       get_option(fd, SO_DOMAIN), get_option(fd, SO_PROTOCOL),
	       !!(fcntl(fd, F_GETFL) & O_NONBLOCK),
	       !!(fcntl(fd, F_GETFD) & FD_CLOEXEC), errno);
	return 0;
}
