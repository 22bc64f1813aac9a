// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's emulation that counts the instructions of a machine.
 *
 *   qemu-system-x86_64 -plugin insns.so,out=FILE
 *
 * FILE has the present count, eight bytes in the order of the host; readers
 * may map it. Times on a busy host are unreliable; this count does not depend
 * on the host's load. It is exact for one processor only, because several
 * processors would add to it without a lock.
 *
 * The declarations are version 1 of QEMU's plugin interface; distributions do
 * not ship the header.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#define EXPORT	__attribute__((visibility("default")))
#define OUT	"out="

struct qemu_plugin_tb;
struct qemu_info_t;

enum qemu_plugin_op {
	QEMU_PLUGIN_INLINE_ADD_U64,
};

typedef void (*tb_trans_cb)(uint64_t id, struct qemu_plugin_tb *tb);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op,
					      void *counter, uint64_t imm);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc, char **argv);

EXPORT int qemu_plugin_version = 1;

static uint64_t *count;

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, count,
						 qemu_plugin_tb_n_insns(tb));
}

static int map_count(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || ftruncate(fd, sizeof(*count))) {
		perror(path);
		return -1;
	}
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (count == MAP_FAILED) {
		perror(path);
		return -1;
	}
	return 0;
}

EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], OUT, strlen(OUT))) {
		fprintf(stderr, "insns: one argument, " OUT "FILE\n");
		return -1;
	}
	if (map_count(argv[0] + strlen(OUT)))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
