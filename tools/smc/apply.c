// SPDX-License-Identifier: GPL-2.0
/*
 * smc apply: gives the module the EIDs, PNETIDs and rules of files in /etc/smc.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "smc.h"

/* Each line of a file is the words of `COMMAND add`. */
static const struct kind {
	const char *name;
	int (*add)(const char *words[], int nr, bool dry);
	int (*sync)(const struct lines *lines);
} kinds[] = {
	{ "/etc/smc/eids", ueid_add, ueid_sync },
	{ "/etc/smc/pnetids", pnet_add, pnet_sync },
	{ "/etc/smc/policy", policy_add, policy_sync },
};

static void split(struct file_line *line)
{
	char *word;

	line->text[strcspn(line->text, "#\n")] = '\0';
	for (word = strtok(line->text, " \t"); word && line->nr < WORDS_MAX;
	     word = strtok(NULL, " \t"))
		line->words[line->nr++] = word;
}

/* Returns 0, or the exit status after a message. A missing file is an empty one. */
static int read_lines(struct lines *lines, const char *path)
{
	FILE *file = fopen(path, "r");
	char text[512];
	int line_nr = 0;

	if (!file) {
		if (errno == ENOENT)
			return 0;
		fprintf(stderr, "smc: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	while (fgets(text, sizeof(text), file)) {
		struct file_line *line;

		lines->line = realloc(lines->line, (lines->nr + 1) * sizeof(*line));
		line = &lines->line[lines->nr];
		memset(line, 0, sizeof(*line));
		line->text = strdup(text);
		line->line_nr = ++line_nr;
		split(line);
		lines->nr += line->nr > 0;
	}
	fclose(file);
	return 0;
}

static int add_lines(const struct lines *lines, const struct kind *kind, const char *path, bool dry)
{
	size_t i;

	for (i = 0; i < lines->nr; i++) {
		struct file_line *line = &lines->line[i];

		if (kind->add(line->words, line->nr, dry)) {
			fprintf(stderr, "smc: %s: line %d\n", path, line->line_nr);
			return EXIT_FAILURE;
		}
	}
	return 0;
}

/**
 * cmd_apply() - add the EIDs, PNETIDs and rules of the files in /etc/smc
 * @args: option r, the directory above etc/smc; S to remove what the files do not have
 *
 * All lines are checked before the first is applied; what exists already stays.
 *
 * Return: exit status.
 */
int cmd_apply(const struct args *args)
{
	const char *root = args->option['r'] ? args->option['r'] : "";
	struct lines lines[ARRAY_SIZE(kinds)] = { 0 };
	char path[ARRAY_SIZE(kinds)][PATH_MAX];
	int status = 0;
	size_t i;

	for (i = 0; !status && i < ARRAY_SIZE(kinds); i++) {
		snprintf(path[i], sizeof(path[i]), "%s%s", root, kinds[i].name);
		status = read_lines(&lines[i], path[i]) ?:
			 add_lines(&lines[i], &kinds[i], path[i], true);
	}
	for (i = 0; !status && i < ARRAY_SIZE(kinds); i++) {
		if (args->option['S'] && kinds[i].sync(&lines[i]))
			return EXIT_FAILURE;
		status = add_lines(&lines[i], &kinds[i], path[i], false);
	}
	return status;
}
