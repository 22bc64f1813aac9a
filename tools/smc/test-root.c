// SPDX-License-Identifier: GPL-2.0
/*
 * A library that the tests preload into the tool: files of another host. FAKE_ROOT is a directory
 * with the files below /sys, /lib/modules, /boot and some more, FAKE_RELEASE that of the kernel.
 * It also says in which control groups processes are.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/utsname.h>

#define NEXT(function) ((typeof(function) *)dlsym(RTLD_NEXT, #function))

static const char *there(const char *path, char place[PATH_MAX])
{
	static const char * const names[] = {
		"/sys/*", "/lib/modules/*", "/boot/*", "/etc/os-release", "/proc/sys/net/smc/*",
		"/proc/net/ip_tables_names", "/proc/[0-9]*/cgroup",
	};
	const char *root = getenv("FAKE_ROOT");
	size_t i;

	for (i = 0; root && i < sizeof(names) / sizeof(*names); i++)
		if (!fnmatch(names[i], path, 0)) {
			snprintf(place, PATH_MAX, "%s%s", root, path);
			return place;
		}
	return path;
}

FILE *fopen(const char *path, const char *mode)
{
	char place[PATH_MAX];

	return NEXT(fopen)(there(path, place), mode);
}

DIR *opendir(const char *path)
{
	char place[PATH_MAX];

	return NEXT(opendir)(there(path, place));
}

int access(const char *path, int mode)
{
	char place[PATH_MAX];

	return NEXT(access)(there(path, place), mode);
}

ssize_t readlink(const char *path, char *text, size_t size)
{
	char place[PATH_MAX];

	return NEXT(readlink)(there(path, place), text, size);
}

int glob(const char *pattern, int flags, int (*on_error)(const char *path, int err), glob_t *found)
{
	char place[PATH_MAX];

	return NEXT(glob)(there(pattern, place), flags, on_error, found);
}

int uname(struct utsname *uts)
{
	const char *release = getenv("FAKE_RELEASE");
	int err = NEXT(uname)(uts);

	if (release)
		snprintf(uts->release, sizeof(uts->release), "%s", release);
	if (release && getenv("FAKE_MACHINE"))
		snprintf(uts->machine, sizeof(uts->machine), "%s", getenv("FAKE_MACHINE"));
	return err;
}
