// SPDX-License-Identifier: GPL-2.0
/*
 * Whether a preload library reaches a program: the loader must load it, and the
 * program must call the C library's socket().
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "smc.h"

#define SCRIPTS 4	/* scripts of scripts, the limit of the kernel */

/* Finds a program as execvp() does. */
static bool find_program(char path[PATH_MAX], const char *name)
{
	const char *dir, *end;
	const char *dirs = getenv("PATH");
	struct stat st;
	int n;

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	for (dir = dirs ? dirs : "/bin:/usr/bin"; dir; dir = *end ? end + 1 : NULL) {
		end = strchrnul(dir, ':');
		n = snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - dir), dir,
			     end > dir ? "/" : "./", name);
		if (n < PATH_MAX && !access(path, X_OK) && !stat(path, &st) &&
		    S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

#define ELF_HEAD	ElfW(Ehdr)
#define ELF_PART	ElfW(Phdr)
#define ELF_NOTE	ElfW(Nhdr)

/* The linker of Go leaves a note of this owner in each program. */
static bool has_go_note(const char *notes, size_t size)
{
	const ELF_NOTE *note;
	size_t len;

	for (; size >= sizeof(*note) + 4; notes += len, size -= len) {
		note = (const void *)notes;
		if (note->n_namesz == 4 && !memcmp(note + 1, "Go\0", 4))
			return true;
		if (note->n_namesz > size || note->n_descsz > size)
			return false;
		len = sizeof(*note) + ((note->n_namesz + 3) & ~3) + ((note->n_descsz + 3) & ~3);
		if (len > size)
			return false;
	}
	return false;
}

/* Returns why the library does not reach an ELF file of SIZE bytes, or NULL. */
static const char *elf_problem(const char *image, size_t size)
{
	const ELF_HEAD *head = (const void *)image;
	bool is_dynamic = false, is_go = false;
	size_t i;

	if (size < sizeof(*head) || memcmp(image, ELFMAG, SELFMAG) ||
	    image[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    head->e_phentsize != sizeof(ELF_PART) || head->e_phoff > size ||
	    head->e_phnum > (size - head->e_phoff) / sizeof(ELF_PART))
		return NULL;
	for (i = 0; i < head->e_phnum; i++) {
		const ELF_PART *part = (const ELF_PART *)(image + head->e_phoff) + i;

		if (part->p_type == PT_INTERP)
			is_dynamic = true;
		else if (part->p_type == PT_NOTE && part->p_offset < size &&
			 part->p_filesz <= size - part->p_offset)
			is_go |= has_go_note(image + part->p_offset, part->p_filesz);
	}
	if (is_go)
		return "is written in Go, which makes system calls without the C library";
	return is_dynamic ? NULL : "is statically linked";
}

/* Returns why the loader ignores preload libraries of this file, or NULL. */
static const char *privilege_problem(int fd, const struct stat *st)
{
	if (st->st_mode & 04000 && st->st_uid != getuid())
		return "is set-user-ID";
	if (st->st_mode & 02000 && st->st_mode & 0010 && st->st_gid != getgid())
		return "is set-group-ID";
	if (getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "has file capabilities";
	return NULL;
}

/* If the file is a script, puts the path of its interpreter into PATH. */
static bool is_script(char path[PATH_MAX], const char *image, size_t size)
{
	size_t at = 2, len = 0;

	if (size < 2 || image[0] != '#' || image[1] != '!')
		return false;
	while (at < size && (image[at] == ' ' || image[at] == '\t'))
		at++;
	while (at + len < size && len < PATH_MAX - 1 && !strchr(" \t\r\n", image[at + len]))
		len++;
	memcpy(path, image + at, len);
	path[len] = '\0';
	return len;
}

static const char *file_problem(char path[PATH_MAX], bool *again)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *problem = NULL;
	struct stat st;
	char *image;

	*again = false;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		image = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (image != MAP_FAILED) {
			*again = is_script(path, image, st.st_size);
			if (!*again)
				problem = privilege_problem(fd, &st);
			if (!*again && !problem)
				problem = elf_problem(image, st.st_size);
			munmap(image, st.st_size);
		}
	}
	close(fd);
	return problem;
}

/**
 * reach_problem() - tell why a preload library does not reach a program
 * @name: as given to execvp()
 * @path: what is meant: the program, or the interpreter of a script
 *
 * Return: the end of a sentence that begins with the path, or NULL if the library
 * probably reaches it, or if it cannot be examined.
 */
const char *reach_problem(const char *name, char path[PATH_MAX])
{
	const char *problem = NULL;
	bool again = find_program(path, name);
	int n;

	for (n = 0; again && !problem && n <= SCRIPTS; n++)
		problem = file_problem(path, &again);
	return problem;
}
