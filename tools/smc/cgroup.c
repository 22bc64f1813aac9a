// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups of the unified hierarchy: paths and IDs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
