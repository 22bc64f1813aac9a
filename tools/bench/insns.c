// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's emulation that counts the instructions of a machine, and
 * where in the kernel it executes them.
 *
 *   qemu-system-x86_64 -plugin insns.so,out=FILE[,cpu=N]
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
 * add to them without a lock: with cpu=N only processor N counts.
 *
 * The declarations are of QEMU's plugin interface, since distributions do not
 * ship the header. QEMU adds to a counter by itself in version 1 of it (7.2).
 * Later versions do so in memory of their own only, and call instead.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#define EXPORT	__attribute__((visibility("default")))
#define OUT	"out="
#define CPU	"cpu="
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

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
};

typedef void (*tb_trans_cb)(uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*vcpu_udata_cb)(unsigned int cpu, void *udata);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, tb_trans_cb cb);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op,
					      void *counter, uint64_t imm) __attribute__((weak));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, vcpu_udata_cb cb,
					  enum qemu_plugin_cb_flags flags, void *udata);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc, char **argv);

EXPORT int qemu_plugin_version;

static bool has_inline(void)
{
	return qemu_plugin_register_vcpu_tb_exec_inline;
}

/* before QEMU looks */
static void __attribute__((constructor)) choose_version(void)
{
	qemu_plugin_version = has_inline() ? 1 : 2;
}

/* What a callback has of a block: its instructions, whether it is the kernel's, and where. */
#define N_BITS		16
#define IS_KERNEL	0x10000ULL	/* bit N_BITS */
#define ADDR_SHIFT	(N_BITS + 1)

static struct bucket *bucket;
static unsigned int the_cpu;
static bool is_one;

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

/* As count(), where QEMU does not count, or another processor may execute the block, too. */
static void executed(unsigned int cpu, void *udata)
{
	uint64_t word = (uintptr_t)udata, addr = word >> ADDR_SHIFT, n = word % IS_KERNEL;
	struct bucket *b = bucket + addr / BUCKET;

	if (is_one && cpu != the_cpu)
		return;
	bucket->insns += n;
	if (!(word & IS_KERNEL))
		return;
	b->insns += n;
	if (addr % BUCKET == 0)
		b->entries++;
}

static void translated_for_call(uint64_t id, struct qemu_plugin_tb *tb)
{
	uint64_t addr = qemu_plugin_tb_vaddr(tb), word = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (addr >= TEXT)
		word |= IS_KERNEL | (addr - TEXT) << ADDR_SHIFT;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)word);
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
	const char *path = NULL;

	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], OUT, strlen(OUT))) {
			path = argv[i] + strlen(OUT);
		} else if (!strncmp(argv[i], CPU, strlen(CPU))) {
			the_cpu = strtoul(argv[i] + strlen(CPU), NULL, 10);
			is_one = true;
		} else {
			fprintf(stderr, "insns: what is %s?\n", argv[i]);
			return -1;
		}
	}
	if (!path || map_buckets(path))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, is_one || !has_inline() ? translated_for_call :
									    translated);
	return 0;
}
