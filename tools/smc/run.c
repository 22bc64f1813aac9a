// SPDX-License-Identifier: GPL-2.0
/*
 * smc run: start a program with the preload library before its other ones.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "smc.h"

#define LIBRARY "libsmc-preload.so"

static bool is_library(char *path, size_t size, const char *dir, const char *name)
{
	int n = snprintf(path, size, "%s%s", dir, name);

	return n > 0 && (size_t)n < size && !access(path, R_OK);
}

/**
 * run_find_library() - find the preload library
 * @path: filled with its name
 *
 * The library next to the tool comes first, so that a tool in its build
 * directory uses the library built with it; then that of the tool's prefix.
 *
 * Return: false after a message if there is none.
 */
bool run_find_library(char path[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t len;

	len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len > 0 ? len : 0] = '\0';
	if (len > 0)
		*strrchr(self, '/') = '\0';
	if (!is_library(path, PATH_MAX, self, "/" LIBRARY) &&
	    !is_library(path, PATH_MAX, self, "/../lib/smc/" LIBRARY) &&
	    !is_library(path, PATH_MAX, SMC_LIBRARY, "")) {
		fprintf(stderr, "smc: no %s here, and no %s\n", LIBRARY, SMC_LIBRARY);
		return false;
	}
	/* These characters separate names for the loader, or are special to systemd. */
	if (strpbrk(path, " :%\"\\")) {
		fprintf(stderr, "smc: cannot preload \"%s\": blank, colon or the like in it\n",
			path);
		return false;
	}
	return true;
}

static int set_preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *value;
	int ret;

	if (asprintf(&value, "%s%s%s", library, others && *others ? ":" : "",
		     others ? others : "") < 0)
		return -1;
	ret = setenv("LD_PRELOAD", value, 1);
	free(value);
	return ret;
}

/**
 * run_warn_of_module() - warn where the kernel has no module that knows SMC sockets
 *
 * To ask loads the module, where the kernel may.
 */
void run_warn_of_module(void)
{
	int fd = socket(AF_SMC, SOCK_STREAM, 0);

	if (fd >= 0)
		close(fd);
	else if (errno == EAFNOSUPPORT)
		fprintf(stderr, "smc: warning: " NOT_LOADED "; sockets are TCP\n", "smc", "smc");
}

int cmd_run(const struct args *args)
{
	char library[PATH_MAX], path[PATH_MAX];
	const char *problem;
	int err;

	if (args->option['v'])
		setenv("SMC_DEBUG", "1", 1);
	if (!run_find_library(library))
		return EXIT_FAILURE;
	if (set_preload(library))
		return EXIT_FAILURE;
	problem = reach_problem(args->words[0], path);
	if (problem)
		fprintf(stderr, "smc: warning: %s %s; its sockets are TCP\n", path, problem);
	else
		run_warn_of_module();
	execvp(args->words[0], args->words);
	err = errno;
	fprintf(stderr, "smc: %s: %s\n", args->words[0], strerror(err));
	return err == ENOENT ? 127 : 126;
}
