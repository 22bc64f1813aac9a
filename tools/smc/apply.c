// SPDX-License-Identifier: GPL-2.0
/*
 * smc apply: gives the module the EIDs, PNETIDs and rules of files in /etc/smc.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "smc.h"

#define WORDS_MAX 16	/* more than any line may have */

/* Each line of a file is the words of `COMMAND add`. */
static const struct {
	const char *name;
	int (*add)(const char *words[], int nr, bool dry);
} files[] = {
	{ "/etc/smc/eids", ueid_add },
	{ "/etc/smc/pnetids", pnet_add },
	{ "/etc/smc/policy", policy_add },
};

static int split(char *line, const char *words[WORDS_MAX])
{
	char *word;
	int nr = 0;

	line[strcspn(line, "#\n")] = '\0';
	for (word = strtok(line, " \t"); word && nr < WORDS_MAX; word = strtok(NULL, " \t"))
		words[nr++] = word;
	return nr;
}

/* Returns 0, or the exit status after a message. A missing file is an empty one. */
static int apply_file(const char *path, int (*add)(const char *words[], int nr, bool dry), bool dry)
{
	const char *words[WORDS_MAX];
	int nr, line_nr = 0, status = 0;
	FILE *file = fopen(path, "r");
	char line[512];

	if (!file) {
		if (errno == ENOENT)
			return 0;
		fprintf(stderr, "smc: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	while (!status && fgets(line, sizeof(line), file)) {
		line_nr++;
		nr = split(line, words);
		status = nr ? add(words, nr, dry) : 0;
	}
	fclose(file);
	if (status)
		fprintf(stderr, "smc: %s: line %d\n", path, line_nr);
	return status ? EXIT_FAILURE : 0;
}

/**
 * cmd_apply() - add the EIDs, PNETIDs and rules of the files in /etc/smc
 * @args: option r, the directory above etc/smc
 *
 * All lines are checked before the first is applied; what exists already stays.
 *
 * Return: exit status.
 */
int cmd_apply(const struct args *args)
{
	const char *root = args->option['r'] ? args->option['r'] : "";
	char path[PATH_MAX];
	int status = 0;
	size_t i;

	for (i = 0; !status && i < 2 * ARRAY_SIZE(files); i++) {
		bool dry = i < ARRAY_SIZE(files);

		snprintf(path, sizeof(path), "%s%s", root, files[i % ARRAY_SIZE(files)].name);
		status = apply_file(path, files[i % ARRAY_SIZE(files)].add, dry);
	}
	return status;
}
