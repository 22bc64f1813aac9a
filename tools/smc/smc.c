// SPDX-License-Identifier: GPL-2.0
/*
 * smc - run programs over SMC sockets and show the state of the sockets
 */
#include <stdbool.h>
#include <stdio.h>
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

static void print_usage_of(FILE *file, const struct command *command)
{
	fprintf(file, "usage: smc %s %s\n", command->name, command->args);
}

static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "-h") || !strcmp(word, "--help");
}

static int run(const struct command *command, int argc, char **argv)
{
	int status;

	if (argc == 2 && *argv[1] == '-' && is_help(argv[1])) {
		print_usage_of(stdout, command);
		return 0;
	}
	status = command->run(argc, argv);
	if (status == EXIT_USAGE)
		print_usage_of(stderr, command);
	return status;
}

/* A failed write of the output is a failure of the command. */
static int written(int status)
{
	if (!status && (fflush(stdout) || ferror(stdout))) {
		perror("smc");
		status = EXIT_FAILURE;
	}
	return status;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (is_help(argv[1])) {
		print_usage(stdout);
		return written(0);
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return written(run(&commands[i], argc - 1, argv + 1));
	fprintf(stderr, "smc: no command \"%s\"\n", argv[1]);
	print_usage(stderr);
	return EXIT_USAGE;
}
