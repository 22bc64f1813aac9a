// SPDX-License-Identifier: GPL-2.0
/*
 * smc stats: the counters of the module for this network namespace.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "smc.h"

#define STATS_FILE "/proc/net/smc_stats"

int cmd_stats(const struct args *args)
{
	struct json json = { .file = stdout };
	bool as_json = args->option['j'];
	bool all = args->option['a'];
	char name[64];
	uint64_t value;
	FILE *file;
	int n;

	file = fopen(STATS_FILE, "r");
	if (!file) {
		fprintf(stderr, "smc: %s: %s%s\n", STATS_FILE, strerror(errno),
			errno == ENOENT ? " (is the module smc loaded?)" : "");
		return EXIT_FAILURE;
	}
	if (as_json) {
		json_begin(&json);
		json_open(&json, "counters", '{');
	}
	while ((n = fscanf(file, "%63s %" SCNu64, name, &value)) == 2) {
		if (as_json)
			json_number(&json, name, value);
		else if (value || all)
			printf("%-24s %" PRIu64 "\n", name, value);
	}
	if (as_json) {
		json_close(&json, '}');
		json_close(&json, '}');
	}
	fclose(file);
	if (n != EOF) {
		fprintf(stderr, "smc: %s is not a list of names and numbers\n",
			STATS_FILE);
		return EXIT_FAILURE;
	}
	return 0;
}
