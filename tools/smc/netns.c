// SPDX-License-Identifier: GPL-2.0
/*
 * The network namespaces of this host: those of processes and those with a name.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include "smc.h"

#define NAMES_DIR	"/run/netns"	/* of `ip netns`, and of container runtimes */

struct walk {
	netns_visit visit;
	void *arg;
	ino_t *seen;
	size_t nr_seen;
};

/* Return: false after a message if there is no memory */
static bool is_new(struct walk *walk, ino_t inode, bool *is)
{
	ino_t *more;
	size_t i;

	*is = true;
	for (i = 0; *is && i < walk->nr_seen; i++)
		*is = walk->seen[i] != inode;
	if (!*is)
		return true;
	more = realloc(walk->seen, (walk->nr_seen + 1) * sizeof(*more));
	if (!more) {
		fprintf(stderr, "smc: out of memory\n");
		return false;
	}
	more[walk->nr_seen++] = inode;
	walk->seen = more;
	return true;
}

/* A name needs no quotes, and is neither that of the first namespace nor a number. */
static bool is_plain(const char *name)
{
	const char *c = name;

	while (isalnum((unsigned char)*c) || (*c && strchr("._:@-", *c)))
		c++;
	return !*c && name[strspn(name, "0123456789")] && strcmp(name, NETNS_HOST);
}

static int failed(const char *path, int err)
{
	fprintf(stderr, "smc: %s: %s%s\n", path, strerror(err),
		err == EACCES || err == EPERM ?
		" (only root may enter all network namespaces)" : "");
	return EXIT_FAILURE;
}

/* A process or a name may go meanwhile; its namespace may have others. */
static int visit_path(struct walk *walk, const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = errno, status = 0;
	char number[24];
	struct statfs fs;
	struct stat st;
	bool is = false;

	if (fd < 0)
		return err == ENOENT || lstat(path, &st) ? 0 : failed(path, err);
	/* a file without a mount is left of a name that `ip netns` deleted */
	if (!fstat(fd, &st) && !fstatfs(fd, &fs) && fs.f_type == NSFS_MAGIC &&
	    !is_new(walk, st.st_ino, &is))
		status = EXIT_FAILURE;
	if (!status && is && setns(fd, CLONE_NEWNET))
		status = failed(path, errno);
	close(fd);
	if (status || !is)
		return status;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)st.st_ino);
	return walk->visit(name ? name : number, walk->arg);
}

static int visit_names(struct walk *walk)
{
	DIR *dir = opendir(NAMES_DIR);
	struct dirent *entry;
	char path[PATH_MAX];
	int status = 0;

	if (!dir)
		return errno == ENOENT ? 0 : failed(NAMES_DIR, errno);
	while (!status && (errno = 0, entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), NAMES_DIR "/%s", entry->d_name);
		status = visit_path(walk, path, is_plain(entry->d_name) ? entry->d_name : NULL);
	}
	if (!status && errno)
		status = failed(NAMES_DIR, errno);
	closedir(dir);
	return status;
}

static int visit_processes(struct walk *walk)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	char path[PATH_MAX];
	int status = 0;

	if (!dir)
		return failed("/proc", errno);
	while (!status && (errno = 0, entry = readdir(dir))) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/ns/net", entry->d_name);
		status = visit_path(walk, path, NULL);
	}
	if (!status && errno)
		status = failed("/proc", errno);
	closedir(dir);
	return status;
}

/**
 * netns_each() - enter each network namespace of this host, once
 * @visit: called inside, until it returns non-zero; its name is NETNS_HOST for that of process 1,
 *	   which is the first one, that in /run/netns, or else the inode as a number
 * @arg: for @visit
 *
 * A namespace without process and name, such as one that only a socket holds, is not found. The
 * process stays in the last one.
 *
 * Return: 0, what @visit has returned, or an exit status after a message.
 */
int netns_each(netns_visit visit, void *arg)
{
	struct walk walk = { .visit = visit, .arg = arg };
	int status;

	status = visit_path(&walk, "/proc/1/ns/net", NETNS_HOST);
	if (!status)
		status = visit_names(&walk);
	if (!status)
		status = visit_processes(&walk);
	free(walk.seen);
	return status;
}
