// SPDX-License-Identifier: GPL-2.0
/*
 * smc enable and disable: a drop-in for a systemd service preloads the library.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "smc.h"

#define DROP_INS "/etc/systemd/system"
#define FILE_NAME "smc.conf"
#define FIRST_WORDS "# Written by `smc enable`;"

/* Where systemd looks for units; services of scripts in /etc/init.d are generated. */
static const char * const unit_dirs[] = {
	DROP_INS, "/run/systemd/system", "/run/systemd/generator",
	"/run/systemd/generator.late", "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system", "/lib/systemd/system",
};

struct unit {
	const char *root;		/* "" for this system */
	char name[256];			/* with its suffix */
	char dir[PATH_MAX];		/* of its drop-ins */
	char file[PATH_MAX + sizeof(FILE_NAME)];
};

static bool has_unit(const struct unit *unit, const char *name)
{
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unit_dirs); i++) {
		if (snprintf(path, sizeof(path), "%s%s/%s", unit->root, unit_dirs[i],
			     name) < (int)sizeof(path) && !access(path, F_OK))
			return true;
	}
	return false;
}

/* An instance NAME@x.service has the file of its template, NAME@.service. */
static bool exists(const struct unit *unit)
{
	char template[sizeof(unit->name)];
	const char *at = strchr(unit->name, '@');

	if (has_unit(unit, unit->name))
		return true;
	if (!at)
		return false;
	snprintf(template, sizeof(template), "%.*s%s", (int)(at - unit->name) + 1, unit->name,
		 strrchr(unit->name, '.'));
	return has_unit(unit, template);
}

/* Returns 0, or the exit status after a message. */
static int find_unit(struct unit *unit, const char *root, const char *word)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-_.\\@";
	const char *suffix = strrchr(word, '.');
	bool is_bare = !suffix || strchr(suffix, '@');
	size_t len = strlen(word);

	if (!len || *word == '.' || len > 200 || strspn(word, allowed) != len)
		return wrong("\"%s\" is no name of a unit", word);
	if (!is_bare && !strcmp(suffix, ".socket"))
		return wrong("systemd makes the sockets of %s itself: use `smc attach init.scope`",
			     word);
	snprintf(unit->name, sizeof(unit->name), "%s%s", word,
		 is_bare || strcmp(suffix, ".service") ? ".service" : "");
	unit->root = root ? root : "";
	if (snprintf(unit->dir, sizeof(unit->dir), "%s%s/%s.d", unit->root, DROP_INS,
		     unit->name) >= (int)sizeof(unit->dir))
		return wrong("\"%s\" is too long", unit->root);
	snprintf(unit->file, sizeof(unit->file), "%s/%s", unit->dir, FILE_NAME);
	return 0;
}

static int failed(const char *what)
{
	fprintf(stderr, "smc: %s: %s\n", what, strerror(errno));
	return EXIT_FAILURE;
}

/* systemd reads the drop-in at once; a running service keeps its sockets. */
static int apply(const struct unit *unit, const char *effect)
{
	if (!*unit->root && !access("/run/systemd/system", F_OK) &&
	    system("systemctl daemon-reload"))
		return EXIT_FAILURE;
	printf("%s: %s once it is restarted\n", unit->name, effect);
	return 0;
}

static bool has_content(const char *path, const char *content)
{
	FILE *file = fopen(path, "r");
	char old[2 * PATH_MAX];
	size_t len;

	if (!file)
		return false;
	len = fread(old, 1, sizeof(old) - 1, file);
	fclose(file);
	old[len] = '\0';
	return !strcmp(old, content);
}

/* Writes a file that is either whole or not there. */
static int write_file(const struct unit *unit, const char *content)
{
	char temporary[sizeof(unit->file) + 8];
	bool is_written;
	FILE *file;

	snprintf(temporary, sizeof(temporary), "%s/.smc.tmp", unit->dir);
	file = fopen(temporary, "w");
	if (!file)
		return failed(temporary);
	is_written = fputs(content, file) >= 0 && !fflush(file) && !fsync(fileno(file));
	if (fclose(file) || !is_written || rename(temporary, unit->file)) {
		failed(unit->file);
		unlink(temporary);
		return EXIT_FAILURE;
	}
	return 0;
}

static int make_dir(const char *dir)
{
	return mkdir(dir, 0755) && errno != EEXIST ? failed(dir) : 0;
}

/* Creates the directory of the drop-ins, with those above it. */
static int make_dirs(struct unit *unit)
{
	char *c = unit->dir + strlen(unit->root) + 1;
	int status = 0;

	for (; !status && (c = strchr(c, '/')); c++) {
		*c = '\0';
		status = make_dir(unit->dir);
		*c = '/';
	}
	return status ? status : make_dir(unit->dir);
}

/**
 * cmd_enable() - preload the library into a systemd service
 * @args: the name of the service; option r, the root of another system
 *
 * Return: exit status.
 */
int cmd_enable(const struct args *args)
{
	char library[PATH_MAX], content[2 * PATH_MAX];
	struct unit unit;
	int status;

	status = find_unit(&unit, args->option['r'], args->words[0]);
	if (status)
		return status;
	if (!exists(&unit)) {
		fprintf(stderr, "smc: no unit %s\n", unit.name);
		return EXIT_FAILURE;
	}
	if (!run_find_library(library))
		return EXIT_FAILURE;
	snprintf(content, sizeof(content),
		 FIRST_WORDS " `smc disable %s` removes it.\n"
		 "[Service]\nEnvironment=\"LD_PRELOAD=%s\"\n", unit.name, library);
	if (!has_content(unit.file, content)) {
		status = make_dirs(&unit);
		if (!status)
			status = write_file(&unit, content);
		if (status)
			return status;
	}
	if (!*unit.root)
		run_warn_of_module();
	return apply(&unit, "uses SMC");
}

static int disable(const char *root, const char *word)
{
	struct unit unit;
	int status;

	status = find_unit(&unit, root, word);
	if (status)
		return status;
	if (unlink(unit.file) && errno != ENOENT)
		return failed(unit.file);
	rmdir(unit.dir);	/* fails while it has other drop-ins */
	return apply(&unit, "uses TCP");
}

/* Has cmd_enable() written it? Another file may have the same name. */
static bool is_ours(const char *path)
{
	FILE *file = fopen(path, "r");
	char start[sizeof(FIRST_WORDS)] = "";
	bool is;

	if (!file)
		return false;
	is = fgets(start, sizeof(start), file) && !strcmp(start, FIRST_WORDS);
	fclose(file);
	return is;
}

static int disable_all(const char *root)
{
	char pattern[PATH_MAX];
	int status = 0;
	glob_t found;
	size_t i;

	if (snprintf(pattern, sizeof(pattern), "%s" DROP_INS "/*.d/" FILE_NAME,
		     root ? root : "") >= (int)sizeof(pattern))
		return wrong("\"%s\" is too long", root);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (i = 0; i < found.gl_pathc; i++) {
		char *path = found.gl_pathv[i], *word;

		if (!is_ours(path))
			continue;
		/* .../UNIT.d/smc.conf */
		path[strlen(path) - strlen(".d/" FILE_NAME)] = '\0';
		word = strrchr(path, '/') + 1;
		if (disable(root, word))
			status = EXIT_FAILURE;
	}
	globfree(&found);
	return status;
}

/**
 * cmd_disable() - undo cmd_enable()
 * @args: as for cmd_enable(); or option a in place of the name, for all services
 *
 * The service need not exist any more.
 *
 * Return: exit status.
 */
int cmd_disable(const struct args *args)
{
	if (!args->option['a'] == !args->nr_words)
		return wrong("disable takes a unit, or -a for all");
	return args->option['a'] ? disable_all(args->option['r']) :
				   disable(args->option['r'], args->words[0]);
}
