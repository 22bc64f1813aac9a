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
#define UID_LEN		36

/* A network namespace that was visited, or that is a pod's */
struct netns {
	ino_t inode;
	bool is_visited;
	char pod[UID_LEN + 1];	/* its UID, or "" */
};

struct walk {
	netns_visit visit;
	void *arg;
	struct netns *found;
	size_t nr_found;
};

/* Return: NULL after a message if there is no memory. The next call may move it. */
static struct netns *find(struct walk *walk, ino_t inode)
{
	struct netns *more;
	size_t i = 0;

	while (i < walk->nr_found && walk->found[i].inode != inode)
		i++;
	if (i < walk->nr_found)
		return &walk->found[i];
	more = realloc(walk->found, (i + 1) * sizeof(*more));
	if (!more) {
		fprintf(stderr, "smc: out of memory\n");
		return NULL;
	}
	walk->found = more;
	more[walk->nr_found++] = (struct netns){ .inode = inode };
	return &more[i];
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
	struct netns *netns = NULL;
	char number[24];
	struct statfs fs;
	struct stat st;

	if (fd < 0)
		return err == ENOENT || lstat(path, &st) ? 0 : failed(path, err);
	/* a file without a mount is left of a name that `ip netns` deleted */
	if (!fstat(fd, &st) && !fstatfs(fd, &fs) && fs.f_type == NSFS_MAGIC) {
		netns = find(walk, st.st_ino);
		status = netns ? 0 : EXIT_FAILURE;
	}
	if (netns && !netns->is_visited && setns(fd, CLONE_NEWNET))
		status = failed(path, errno);
	close(fd);
	if (status || !netns || netns->is_visited)
		return status;
	netns->is_visited = true;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)st.st_ino);
	return walk->visit(name ? name : number, netns->pod, walk->arg);
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

static int visit_process(struct walk *walk, const char *pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/ns/net", pid);
	return visit_path(walk, path, NULL);
}

/* The kubelet names a pod's group below kubepods; in the names of systemd's slices "_" is a "-". */
static bool read_uid(const char *group, char uid[UID_LEN + 1])
{
	const char *pod = strstr(group, "kubepods");
	size_t i;

	while (pod && strspn(pod + 3, "0123456789abcdef_-") != UID_LEN)
		pod = strstr(pod + 3, "pod");
	for (i = 0; pod && i < UID_LEN; i++)
		uid[i] = pod[3 + i] == '_' ? '-' : pod[3 + i];
	return pod;
}

/* /proc has processes by number: those of another pod that enter a namespace come later. */
static int read_pod(struct walk *walk, const char *pid)
{
	char path[64], group[PATH_MAX], uid[UID_LEN + 1] = "";
	struct netns *netns;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%.20s/cgroup", pid);
	if (!read_line(path, group, sizeof(group)) || !read_uid(group, uid))
		return 0;
	snprintf(path, sizeof(path), "/proc/%.20s/ns/net", pid);
	if (stat(path, &st))
		return 0;
	netns = find(walk, st.st_ino);
	if (!netns)
		return EXIT_FAILURE;
	if (!*netns->pod)
		memcpy(netns->pod, uid, sizeof(uid));
	return 0;
}

static int each_process(struct walk *walk, int (*visit)(struct walk *walk, const char *pid))
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int status = 0;

	if (!dir)
		return failed("/proc", errno);
	while (!status && (errno = 0, entry = readdir(dir)))
		if (isdigit((unsigned char)*entry->d_name))
			status = visit(walk, entry->d_name);
	if (!status && errno)
		status = failed("/proc", errno);
	closedir(dir);
	return status;
}

/**
 * netns_each() - enter each network namespace of this host, once
 * @visit: called inside, until it returns non-zero; its name is NETNS_HOST for that of process 1,
 *	   which is the first one, that in /run/netns, or else the inode as a number; pod is the
 *	   UID of the pod of Kubernetes that has it, or ""
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

	/* before pods are known: those with hostNetwork do not have it */
	status = visit_path(&walk, "/proc/1/ns/net", NETNS_HOST);
	if (!status)
		status = each_process(&walk, read_pod);
	if (!status)
		status = visit_names(&walk);
	if (!status)
		status = each_process(&walk, visit_process);
	free(walk.found);
	return status;
}
