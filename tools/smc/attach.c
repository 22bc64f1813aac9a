// SPDX-License-Identifier: GPL-2.0
/*
 * smc attach, detach and status: a BPF program turns the stream sockets of chosen
 * control groups into SMC sockets.
 *
 * The program and its map of groups stay in the BPF file system when the tool ends, and
 * go with the last group. A lock on their directory serializes changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include "attach.h"
#include "smc.h"

#define BPF_DIR		"/sys/fs/bpf"
#define PIN_DIR		BPF_DIR "/smc"
#define PIN_MAP		PIN_DIR "/" ATTACH_MAP
#define PIN_LINK	PIN_DIR "/link"

/* The object file of the program */
extern const char attach_object[], attach_object_end[];
__asm__(".pushsection .rodata\n.balign 8\n"
	".global attach_object, attach_object_end\n"
	"attach_object: .incbin \"" ATTACH_OBJECT "\"\n"
	"attach_object_end:\n.popsection");

static int failed(const char *what)
{
	fprintf(stderr, "smc: %s: %s\n", what, strerror(errno));
	return EXIT_FAILURE;
}

/* Resolves all words before anything is changed. The caller frees the IDs. */
static uint64_t *group_ids(const struct args *args)
{
	uint64_t *ids = calloc(args->nr_words + 1, sizeof(*ids));
	char mount[PATH_MAX];
	int i;

	if (ids && cgroup_find_mount(mount)) {
		for (i = 0; i < args->nr_words; i++)
			if (cgroup_id(mount, args->words[i], &ids[i]))
				break;
		if (i == args->nr_words)
			return ids;
	}
	free(ids);
	return NULL;
}

/* Opens and locks the directory of the pins; -1 after a message. */
static int lock_pins(void)
{
	struct statfs fs;
	int dir;

	if (statfs(BPF_DIR, &fs) || fs.f_type != BPF_FS_MAGIC) {
		if (mount("bpf", BPF_DIR, "bpf", 0, NULL)) {
			failed("mount of " BPF_DIR);
			return -1;
		}
	}
	if (mkdir(PIN_DIR, 0700) && errno != EEXIST) {
		failed(PIN_DIR);
		return -1;
	}
	dir = open(PIN_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || flock(dir, LOCK_EX)) {
		failed(PIN_DIR);
		if (dir >= 0)
			close(dir);
		return -1;
	}
	return dir;
}

/* The sockets of attached groups have no way back: the kernel must know the protocol. */
static bool has_smc(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC);

	if (fd < 0)
		fprintf(stderr,
			"smc: the kernel has no IPPROTO_SMC: %s (is the module installed?)\n",
			strerror(errno));
	else
		close(fd);
	return fd >= 0;
}

static const char *load_error(int err)
{
	switch (err) {
	case ESRCH:
	case ENOENT:
	case EINVAL:
		return "no update_socket_protocol for BPF: needs a kernel from 6.6 on, with BTF";
	case EPERM:
	case EACCES:
		return "only root (CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN) may do that";
	}
	return strerror(err);
}

static int quiet(enum libbpf_print_level level, const char *format, va_list values)
{
	return level == LIBBPF_WARN && getenv("SMC_DEBUG") ? vfprintf(stderr, format, values) : 0;
}

/* Loads and pins the program, with the map that is pinned or a new one. */
static int load_program(void)
{
	DECLARE_LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "smc_attach",
			    .pin_root_path = PIN_DIR);
	struct bpf_program *program;
	struct bpf_link *link = NULL;
	struct bpf_object *object;
	int err = 0;

	libbpf_set_print(quiet);
	object = bpf_object__open_mem(attach_object, attach_object_end - attach_object, &opts);
	if (!object)
		err = errno;
	if (!err)
		err = -bpf_object__load(object);
	if (!err) {
		program = bpf_object__next_program(object, NULL);
		link = bpf_program__attach_trace(program);
		if (!link)
			err = errno;
	}
	if (!err)
		err = -bpf_link__pin(link, PIN_LINK);
	bpf_link__destroy(link);
	bpf_object__close(object);
	if (!err)
		return 0;
	fprintf(stderr, "smc: %s\n", load_error(err));
	return EXIT_FAILURE;
}

static void forget_gone_groups(int map)
{
	uint64_t id, next, *at = NULL;
	char mount[PATH_MAX], path[PATH_MAX];

	if (!cgroup_find_mount(mount))
		return;
	while (!bpf_map_get_next_key(map, at, &next)) {
		if (cgroup_path(mount, next, path)) {
			id = next;
			at = &id;
		} else {
			bpf_map_delete_elem(map, &next);
		}
	}
}

static void remove_if_empty(int map)
{
	uint64_t id;

	if (map >= 0 && !bpf_map_get_next_key(map, NULL, &id))
		return;
	unlink(PIN_LINK);
	unlink(PIN_MAP);
	rmdir(PIN_DIR);
}

/* Ends attach() and cmd_detach(): without groups nothing stays pinned. */
static int finish(int dir, int map, int status)
{
	if (dir >= 0)
		remove_if_empty(map);
	if (map >= 0)
		close(map);
	if (dir >= 0)
		close(dir);
	return status;
}

/* Attaches groups; the caller has their IDs and frees them. Return: exit status */
static int attach(const uint64_t *ids, char * const *words, int nr)
{
	int dir = -1, map = -1, status = EXIT_FAILURE, i;
	uint64_t none = 0;

	dir = lock_pins();
	if (dir < 0)
		return EXIT_FAILURE;
	if (access(PIN_LINK, F_OK) && load_program())
		goto out;
	map = bpf_obj_get(PIN_MAP);
	if (map < 0) {
		failed(PIN_MAP);
		goto out;
	}
	forget_gone_groups(map);
	for (i = 0; i < nr; i++)
		if (bpf_map_update_elem(map, &ids[i], &none, BPF_NOEXIST) && errno != EEXIST)
			break;
	if (i == nr)
		status = 0;
	else
		failed(words[i]);
out:
	return finish(dir, map, status);
}

/* A new group is attached before its path is printed. One that is gone again is no error. */
static int attach_new(const char *path, void *arg)
{
	uint64_t id;

	(void)arg;
	if (path && cgroup_id("", path, &id))
		return 0;
	if (path && attach(&id, (char * const []){ (char *)path }, 1))
		return EXIT_FAILURE;
	puts(path ? path : "watching");
	return fflush(stdout) ? failed("standard output") : 0;
}

/**
 * cmd_attach() - let the programs of control groups use SMC sockets
 * @args: the groups: paths, also relative to the mount of cgroup2, or "self"; with option W
 *	  patterns of such paths, for new groups
 *
 * Sockets that exist stay what they are. A group that is attached keeps its count.
 *
 * Return: exit status.
 */
int cmd_attach(const struct args *args)
{
	int status = EXIT_FAILURE;
	uint64_t *ids;

	if (args->option['W'])
		return has_smc() ? cgroup_watch(args->words, args->nr_words, attach_new, NULL) :
				   EXIT_FAILURE;
	ids = group_ids(args);
	if (ids && has_smc())
		status = attach(ids, args->words, args->nr_words);
	free(ids);
	return status;
}

/**
 * cmd_detach() - let the programs of control groups use TCP sockets again
 * @args: the groups, or option a for all
 *
 * A group that is not attached is no error.
 *
 * Return: exit status.
 */
int cmd_detach(const struct args *args)
{
	bool all = args->option['a'];
	int map, dir, i, status = 0;
	uint64_t *ids;

	if (all == !!args->nr_words)
		return wrong("detach takes control groups, or -a for all");
	ids = group_ids(args);
	if (!ids)
		return EXIT_FAILURE;
	if (access(PIN_DIR, F_OK)) {
		free(ids);
		return 0;
	}
	dir = lock_pins();
	map = dir < 0 || all ? -1 : bpf_obj_get(PIN_MAP);
	for (i = 0; map >= 0 && i < args->nr_words; i++)
		if (bpf_map_delete_elem(map, &ids[i]) && errno != ENOENT)
			status = failed(args->words[i]);
	free(ids);
	return finish(dir, map, dir < 0 ? EXIT_FAILURE : status);
}

/**
 * cmd_status() - list the attached control groups
 * @args: option j for JSON
 *
 * Return: exit status.
 */
int cmd_status(const struct args *args)
{
	struct output out;
	char mount[PATH_MAX], path[PATH_MAX], number[24];
	uint64_t id, sockets, *at = NULL;
	int map;

	if (!cgroup_find_mount(mount))
		return EXIT_FAILURE;
	map = bpf_obj_get(PIN_MAP);
	if (map < 0 && errno != ENOENT)
		return failed(PIN_MAP);
	if (map < 0 && !args->option['j']) {
		printf("no control group is attached\n");
		return 0;
	}
	output_begin(&out, args, "cgroups", NULL);
	if (!out.is_json) {
		table_title(&out.table, "SOCKETS", true);
		table_title(&out.table, "CONTROL GROUP", false);
	}
	for (; map >= 0 && !bpf_map_get_next_key(map, at, &id); at = &id) {
		bool exists = cgroup_path(mount, id, path);

		if (bpf_map_lookup_elem(map, &id, &sockets))
			continue;
		if (!out.is_json) {
			snprintf(number, sizeof(number), "%llu", (unsigned long long)sockets);
			table_cell(&out.table, number);
			table_cell(&out.table, exists ? path : "(deleted)");
			continue;
		}
		json_open(&out.json, NULL, '{');
		json_number(&out.json, "id", id);
		if (exists)
			json_string(&out.json, "path", path);
		json_number(&out.json, "sockets", sockets);
		json_close(&out.json, '}');
	}
	if (map >= 0)
		close(map);
	return output_end(&out, 0);
}
