// SPDX-License-Identifier: GPL-2.0
/*
 * The processes that have a socket open, by its inode.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smc.h"

static struct process *processes;
static size_t nr_processes;

static void add(uint64_t inode, int pid, const char *command)
{
	static size_t room;
	struct process *more;

	if (nr_processes == room) {
		more = realloc(processes, (room * 2 + 64) * sizeof(*processes));
		if (!more)
			return;
		processes = more;
		room = room * 2 + 64;
	}
	processes[nr_processes] = (struct process){ .inode = inode, .pid = pid };
	snprintf(processes[nr_processes++].command, sizeof(processes->command), "%s", command);
}

static void read_process(const char *pid)
{
	char path[64], command[16] = "", link[64];
	unsigned long long inode;
	struct dirent *entry;
	ssize_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return;
	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	read_line(path, command, sizeof(command));
	while ((entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);
		if (len <= 0)
			continue;
		link[len] = '\0';
		if (sscanf(link, "socket:[%llu]", &inode) == 1)
			add(inode, atoi(pid), command);
	}
	closedir(dir);
}

static int compare(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* A process may have several descriptors of one socket. */
static void remove_duplicates(void)
{
	size_t i, nr = 0;

	for (i = 0; i < nr_processes; i++)
		if (!nr || compare(&processes[nr - 1], &processes[i]))
			processes[nr++] = processes[i];
	nr_processes = nr;
}

static void read_processes(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)*entry->d_name))
			read_process(entry->d_name);
	closedir(dir);
	if (nr_processes)
		qsort(processes, nr_processes, sizeof(*processes), compare);
	remove_duplicates();
}

/**
 * process_find() - find the processes that have a socket open
 * @inode: of the socket, 0 for none
 * @nr: filled with how many there are
 *
 * Reads /proc once. The kernel shows the descriptors of other users to root only.
 *
 * Return: the first of them.
 */
const struct process *process_find(uint64_t inode, size_t *nr)
{
	static bool is_read;
	size_t i = 0, end;

	*nr = 0;
	if (!inode)
		return NULL;
	if (!is_read)
		read_processes();
	is_read = true;
	for (end = nr_processes; i < end; ) {
		size_t mid = (i + end) / 2;

		if (processes[mid].inode < inode)
			i = mid + 1;
		else
			end = mid;
	}
	while (i + *nr < nr_processes && processes[i + *nr].inode == inode)
		++*nr;
	return processes + i;
}
