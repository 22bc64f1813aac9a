// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's emulation that counts the instructions of a machine, and
 * where in the kernel it executes them.
 *
 *   qemu-system-x86_64 -plugin insns.so,out=FILE
 *
 * FILE has two counters of eight bytes, in the order of the host, for each 16
 * bytes of the kernel's text and modules: the instructions of the blocks that
 * start there, and how often a block started at the first of these bytes. The
 * kernel aligns functions to 16 bytes and a call starts a block, so the latter
 * is the number of calls. No code is at the lowest address: its first counter
 * has all instructions, those of programs included. The file is sparse and as
 * large as the text's range of addresses; readers may map it.
 *
 * Times on a busy host are unreliable; these counts do not depend on the host's
 * load. They are exact for one processor only, because several processors would
 * add to them without a lock.
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
#define TEXT	0xffffffff80000000ULL	/* the lowest address of kernel code */
#define BUCKET	sizeof(struct bucket)
#define SIZE	(-TEXT)			/* up to the highest address */

struct bucket {
	uint64_t insns;
	uint64_t entries;
};

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
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc, char **argv);

EXPORT int qemu_plugin_version = 1;

static struct bucket *bucket;

static void count(struct qemu_plugin_tb *tb, uint64_t *counter, uint64_t n)
{
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, counter, n);
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	uint64_t addr = qemu_plugin_tb_vaddr(tb);
	size_t n = qemu_plugin_tb_n_insns(tb);
	struct bucket *b = bucket + (addr - TEXT) / BUCKET;

	(void)id;
	count(tb, &bucket->insns, n);
	if (addr < TEXT)
		return;
	count(tb, &b->insns, n);
	if (addr % BUCKET == 0)
		count(tb, &b->entries, 1);
}

static int map_buckets(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || ftruncate(fd, SIZE)) {
		perror(path);
		return -1;
	}
	bucket = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (bucket == MAP_FAILED) {
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
	if (map_buckets(argv[0] + strlen(OUT)))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
