// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups of the unified hierarchy: paths and IDs.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <mntent.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include "smc.h"

/**
 * cgroup_find_mount() - find the mount of the unified hierarchy
 * @path: filled
 *
 * Return: false after a message if there is none.
 */
bool cgroup_find_mount(char path[PATH_MAX])
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *mount = NULL;

	if (mounts) {
		do
			mount = getmntent(mounts);
		while (mount && strcmp(mount->mnt_type, "cgroup2"));
		if (mount)
			snprintf(path, PATH_MAX, "%s", mount->mnt_dir);
		endmntent(mounts);
	}
	if (!mount)
		fprintf(stderr, "smc: no cgroup2 is mounted\n");
	return mount;
}

/* The control group of this process, below the mount */
static bool find_self(char name[PATH_MAX])
{
	FILE *file = fopen("/proc/self/cgroup", "r");
	bool found = false;

	while (file && !found && fgets(name, PATH_MAX, file))
		found = !strncmp(name, "0::/", 4);
	if (file)
		fclose(file);
	if (found) {
		memmove(name, name + 4, strlen(name) - 3);
		name[strcspn(name, "\n")] = '\0';
	}
	return found;
}

/**
 * cgroup_id() - the ID of a control group, which is the inode number of its directory
 * @mount: of the unified hierarchy
 * @name: its path, also relative to @mount, or "self"
 * @id: filled
 *
 * Return: exit status, after a message unless 0.
 */
int cgroup_id(const char *mount, const char *name, uint64_t *id)
{
	char path[2 * PATH_MAX], self[PATH_MAX];
	struct statfs fs;
	struct stat st;

	if (!strcmp(name, "self")) {
		if (!find_self(self)) {
			fprintf(stderr, "smc: this process is in no group of cgroup2\n");
			return EXIT_FAILURE;
		}
		name = self;
	}
	snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : mount,
		 *name == '/' ? "" : "/", name);
	if (stat(path, &st) || statfs(path, &fs)) {
		fprintf(stderr, "smc: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	if (fs.f_type != CGROUP2_SUPER_MAGIC || !S_ISDIR(st.st_mode)) {
		fprintf(stderr, "smc: %s is no control group of cgroup2\n", path);
		return EXIT_FAILURE;
	}
	*id = st.st_ino;
	return 0;
}

/**
 * cgroup_path() - find the directory of a control group
 * @mount: of the unified hierarchy
 * @id: of the group; IDs are file handles of cgroup2
 * @path: filled, below @mount if possible
 *
 * Return: false if the group is gone, or without permission to look.
 */
bool cgroup_path(const char *mount, uint64_t id, char path[PATH_MAX])
{
	union {
		struct file_handle head;
		char space[sizeof(struct file_handle) + sizeof(id)];
	} handle = { .head = { .handle_bytes = sizeof(id), .handle_type = 0xfe } };
	size_t mount_len = strlen(mount);
	char link[64];
	ssize_t len;
	int root, fd;

	memcpy(handle.space + sizeof(struct file_handle), &id, sizeof(id));
	root = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = open_by_handle_at(root, &handle.head, O_PATH | O_CLOEXEC);
	if (root >= 0)
		close(root);
	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX - 1);
	close(fd);
	if (len < 0)
		return false;
	path[len] = '\0';
	if (!strncmp(path, mount, mount_len) && path[mount_len] == '/')
		memmove(path, path + mount_len + 1, len - mount_len);
	return true;
}

/**
 * cgroup_own() - the IDs of the control group of this process and of those above it
 * @ids: filled
 * @max: room in @ids
 *
 * Return: their number, 0 without cgroup2.
 */
int cgroup_own(uint64_t *ids, int max)
{
	char path[PATH_MAX], name[PATH_MAX], full[2 * PATH_MAX];
	struct stat st;
	char *slash;
	int nr = 0;

	if (!cgroup_find_mount(path) || !find_self(name))
		return 0;
	while (nr < max) {
		snprintf(full, sizeof(full), "%s/%s", path, name);
		if (!stat(full, &st))
			ids[nr++] = st.st_ino;
		if (!*name)
			break;
		slash = strrchr(name, '/');
		*(slash ? slash : name) = '\0';
	}
	return nr;
}

#define LOOK_MS	10000	/* between two looks at the directories, where nothing happens */

/* Where new control groups are looked for, and the pattern of their names */
struct place {
	int watch;
	const char *name;
	ino_t inode;		/* of the directory */
	char dir[PATH_MAX];
};

struct watch {
	int fd;
	struct place *places;
	int nr;
	cgroup_visit visit;
	void *arg;
};

/* Splits a pattern into its directory, which is watched from now on, and the name. */
static int add_place(struct watch *watch, const char *mount, const char *pattern)
{
	struct place *place = &watch->places[watch->nr++];
	const char *slash = strrchr(pattern, '/');
	const size_t room = sizeof(place->dir);
	struct stat st;
	size_t len;

	place->name = slash ? slash + 1 : pattern;
	len = snprintf(place->dir, room, "%s%s%.*s", *pattern == '/' ? "" : mount,
		       *pattern == '/' ? "" : "/", slash ? (int)(slash - pattern) : 0, pattern);
	errno = ENAMETOOLONG;
	place->watch = len < room ? inotify_add_watch(watch->fd, place->dir,
						      IN_CREATE | IN_ONLYDIR) : -1;
	if (place->watch >= 0 && !stat(place->dir, &st)) {
		place->inode = st.st_ino;
		return 0;
	}
	fprintf(stderr, "smc: %s: %s\n", place->dir, strerror(errno));
	return EXIT_FAILURE;
}

static int visit_event(struct watch *watch, const struct inotify_event *event)
{
	char path[2 * PATH_MAX];
	int status = 0, i;
	struct stat st;

	if (event->mask & IN_Q_OVERFLOW) {
		fprintf(stderr, "smc: control groups were missed: they came too fast\n");
		return EXIT_FAILURE;
	}
	for (i = 0; !status && i < watch->nr; i++) {
		const struct place *place = &watch->places[i];

		if (place->watch != event->wd || fnmatch(place->name, event->name, FNM_PERIOD))
			continue;
		/* one that is gone again is left out */
		snprintf(path, sizeof(path), "%s/%s", place->dir, event->name);
		if (!stat(path, &st) && S_ISDIR(st.st_mode))
			status = watch->visit(path, watch->arg);
	}
	return status;
}

/* A control group that ends tells no watch of itself. */
static int look_for_places(const struct watch *watch)
{
	struct stat st;
	int i;

	for (i = 0; i < watch->nr; i++)
		if (stat(watch->places[i].dir, &st) || st.st_ino != watch->places[i].inode) {
			fprintf(stderr, "smc: %s is gone\n", watch->places[i].dir);
			return EXIT_FAILURE;
		}
	return 0;
}

static int read_events(struct watch *watch)
{
	char buffer[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *event;
	int status = 0;
	struct pollfd poll_fd = { .fd = watch->fd, .events = POLLIN };
	ssize_t len;
	char *at;

	if (!poll(&poll_fd, 1, LOOK_MS))
		return look_for_places(watch);
	len = read(watch->fd, buffer, sizeof(buffer));
	if (len < 0) {
		fprintf(stderr, "smc: inotify: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	for (at = buffer; !status && at < buffer + len; at += sizeof(*event) + event->len) {
		event = (const struct inotify_event *)at;
		status = visit_event(watch, event);
	}
	return status;
}

/**
 * cgroup_watch() - visit new control groups whose paths match patterns
 * @patterns: paths, as cgroup_id() takes them, whose last part is a pattern of the shell
 * @nr: their number
 * @visit: called with NULL when no new group is missed any more, then with the path of each, until
 *	   it returns non-zero
 * @arg: for @visit
 *
 * The directories must exist; it is an error when one goes.
 *
 * Return: what @visit has returned, or an exit status after a message.
 */
int cgroup_watch(char * const *patterns, int nr, cgroup_visit visit, void *arg)
{
	struct watch watch = { .visit = visit, .arg = arg };
	char mount[PATH_MAX];
	int status = 0;

	if (!cgroup_find_mount(mount))
		return EXIT_FAILURE;
	watch.fd = inotify_init1(IN_CLOEXEC);
	watch.places = calloc(nr, sizeof(*watch.places));
	if (watch.fd < 0 || !watch.places) {
		fprintf(stderr, "smc: inotify: %s\n", strerror(errno));
		status = EXIT_FAILURE;
	}
	while (!status && watch.nr < nr)
		status = add_place(&watch, mount, patterns[watch.nr]);
	if (!status)
		status = visit(NULL, arg);
	while (!status)
		status = read_events(&watch);
	free(watch.places);
	if (watch.fd >= 0)
		close(watch.fd);
	return status;
}
