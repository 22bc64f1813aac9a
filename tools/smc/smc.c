// SPDX-License-Identifier: GPL-2.0
/*
 * smc - run programs over SMC sockets and see what became of them
 */
#include <stdlib.h>
#include <string.h>

#include "smc.h"

static const struct command {
	const char *name;
	const char *args;
	const char *help;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", "[-v] PROGRAM [ARGUMENT...]",
	  "run a program with SMC sockets in place of TCP sockets", cmd_run },
	{ "list", "[-v] [-j]",
	  "list SMC sockets: what each uses, and if TCP, why", cmd_list },
	{ "stats", "[-a] [-j]",
	  "print the counters of this network namespace", cmd_stats },
	{ "ueid", "[show | add EID | del EID | flush]",
	  "the groups of hosts this one belongs to, for SMC-R version 2", cmd_ueid },
	{ "reasons", "[CODE...]",
	  "explain the reasons for which connections use TCP", cmd_reasons },
};

static void print_usage(FILE *file)
{
	size_t i;

	fprintf(file, "usage: smc COMMAND ...\n\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(file, "  smc %s %s\n        %s\n", commands[i].name,
			commands[i].args, commands[i].help);
}

int main(int argc, char **argv)
{
	int status;
	size_t i;

	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "--help")) {
		print_usage(stdout);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		status = commands[i].run(argc - 1, argv + 1);
		if (status == EXIT_USAGE)
			fprintf(stderr, "usage: smc %s %s\n", commands[i].name,
				commands[i].args);
		return status;
	}
	fprintf(stderr, "smc: no command \"%s\"\n", argv[1]);
	print_usage(stderr);
	return EXIT_USAGE;
}
